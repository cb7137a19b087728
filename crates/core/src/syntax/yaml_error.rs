//! The parser's error kinds in the words of someone who writes YAML.

use granit_parser::{ErrorKind, ScanError};

use crate::diagnostic::Diagnostic;
use crate::source::{SourceId, Span};

use super::codes;

pub(super) fn explain(source: SourceId, text: &str, error: &ScanError) -> Diagnostic {
    let at = offset_of(text, error);
    let span = Span::new(source, at, end_of_character(text, at));
    if matches!(error.kind(), ErrorKind::RecursionLimitExceeded) {
        return codes::too_deep(span);
    }
    let (message, help) = words(error.kind());
    let diagnostic = Diagnostic::new(&codes::YAML_SYNTAX, span, message);
    match help {
        Some(help) => diagnostic.help(help),
        None => diagnostic,
    }
}

fn offset_of(text: &str, error: &ScanError) -> u32 {
    let marker = error.marker();
    let at = marker.byte_offset().unwrap_or_else(|| {
        text.char_indices()
            .nth(marker.index())
            .map_or(text.len(), |(at, _)| at)
    });
    let mut at = at.min(text.len());
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at as u32
}

fn end_of_character(text: &str, at: u32) -> u32 {
    match text[at as usize..].chars().next() {
        Some('\n' | '\r') | None => at,
        Some(character) => at + character.len_utf8() as u32,
    }
}

fn words(kind: &ErrorKind) -> (String, Option<&'static str>) {
    use ErrorKind as K;
    let (message, help) = match kind {
        K::TabNotAllowed | K::TabInBlockIndentation | K::TabInIndentation | K::TabInPlainScalar => {
            ("a tab is used for indentation", Some("indent with spaces"))
        }
        K::TabAtBlockScalarStart => (
            "the block text begins with a tab",
            Some("indent the block with spaces"),
        ),
        K::MappingValueNotAllowed => (
            "a `:` is not allowed here",
            Some(
                "put quotes round a text that contains `: `, and check the indentation of this line",
            ),
        ),
        K::SimpleKeyExpected | K::InvalidSimpleKey => (
            "this line is neither `key: value` nor part of the value above",
            Some("add the missing `:`, or indent the line deeper than the key it belongs to"),
        ),
        K::ExpectedBlockMappingKey => (
            "expected another key of this mapping",
            Some(
                "keys of one mapping stand in the same column; check the indentation and that quotes are closed",
            ),
        ),
        K::ExpectedBlockSequenceEntry => (
            "expected another `- ` item of this list",
            Some(
                "items of one list stand in the same column; indent what belongs to an item deeper than its `-`",
            ),
        ),
        K::BlockSequenceEntryNotAllowed => (
            "a list item is not allowed here",
            Some("put the list on the line below its key, or quote the text"),
        ),
        K::BlockEntryInFlowCollection => (
            "a `- ` item cannot stand inside `[…]` or `{…}`",
            Some("separate the items of `[…]` by commas"),
        ),
        K::InvalidIndentation | K::InvalidFlowScalarIndent | K::InvalidQuotedScalarIndent => (
            "the indentation does not fit",
            Some("indent this line deeper than the key it belongs to"),
        ),
        K::InvalidBlockScalarIndent => (
            "the block text is indented less than its first line",
            Some("give all lines of the block at least the indentation of its first line"),
        ),
        K::UnclosedQuotedScalar => ("this quote is never closed", Some("add the closing quote")),
        K::DocumentIndicatorInQuotedScalar => (
            "a line that begins with `---` or `...` ends the document inside a quoted text",
            Some("close the quote above, or indent the line"),
        ),
        K::UnclosedFlowCollection { open } => {
            return (
                format!("`{open}` is never closed"),
                Some("add the closing bracket"),
            );
        }
        K::UnexpectedEofFlowSequence => ("a `[` is never closed", Some("add the closing `]`")),
        K::UnexpectedEofFlowMapping | K::UnexpectedEofImplicitFlowMapping => {
            ("a `{` is never closed", Some("add the closing `}`"))
        }
        K::MismatchedFlowCollectionEnd { open, close } => {
            return (
                format!("`{open}` is closed by `{close}`"),
                Some("close each bracket by its own kind"),
            );
        }
        K::MisplacedFlowCollectionEnd => (
            "a closing bracket that nothing opened",
            Some("remove it, or put quotes round the text"),
        ),
        K::ExpectedFlowMappingSeparator => (
            "expected `,` or `}`",
            Some(
                "separate entries by commas, and quote texts that contain `{`, `}`, `[`, `]` or `,`",
            ),
        ),
        K::ExpectedFlowSequenceSeparator => (
            "expected `,` or `]`",
            Some(
                "separate items by commas, and quote texts that contain `{`, `}`, `[`, `]` or `,`",
            ),
        ),
        K::UnexpectedCharacter { character } => {
            return (
                format!("a text cannot begin with `{character}`"),
                Some("put quotes round the text"),
            );
        }
        K::UnknownQuotedScalarEscape => (
            "unknown escape in a double-quoted text",
            Some("write `\\\\` for a backslash, or use single quotes, which know no escapes"),
        ),
        K::InvalidTrailingSingleQuotedScalar | K::InvalidTrailingDoubleQuotedScalar => (
            "there is text behind the closing quote",
            Some("quote the whole value; inside single quotes write `''` for one `'`"),
        ),
        K::CommentNotSeparated => ("a comment needs a space before its `#`", None),
        K::MappingKeyNotAllowed => (
            "a key is not allowed here",
            Some("check the indentation of this line"),
        ),
        K::InvalidBlockScalarHeader => (
            "unexpected text behind `|` or `>`",
            Some("begin the block text on the next line"),
        ),
        K::UndeclaredTagHandle => (
            "a text that begins with `!` is a tag, and this one is not declared",
            Some("put quotes round the text"),
        ),
        K::BomInsideDocument => ("a byte order mark inside the text", Some("remove it")),
        other => return (other.to_string(), None),
    };
    (message.to_owned(), help)
}
