//! The parser's error kinds, explained to authors of YAML files.

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
        text.char_indices().nth(marker.index()).map_or(text.len(), |(at, _)| at)
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

/// The message for an author, and help where there is some.
fn words(kind: &ErrorKind) -> (String, Option<&'static str>) {
    use ErrorKind as K;
    match kind {
        K::UnclosedFlowCollection { open } => {
            (format!("`{open}` is never closed"), Some("add the closing bracket"))
        }
        K::MismatchedFlowCollectionEnd { open, close } => (
            format!("`{open}` is closed by `{close}`"),
            Some("close each bracket with its own kind"),
        ),
        K::UnexpectedCharacter { character } => (
            format!("an unquoted value cannot begin with `{character}`"),
            Some("put quotes around the value"),
        ),
        kind => match block_words(kind).or_else(|| flow_words(kind)).or_else(|| text_words(kind)) {
            Some((message, help)) => (message.to_owned(), help),
            None => (kind.to_string(), None),
        },
    }
}

type YamlErrorText = (&'static str, Option<&'static str>);

/// Indentation, keys and list items.
fn block_words(kind: &ErrorKind) -> Option<YamlErrorText> {
    use ErrorKind as K;
    Some(match kind {
        K::TabNotAllowed | K::TabInBlockIndentation | K::TabInIndentation | K::TabInPlainScalar => {
            ("a tab is used for indentation", Some("indent with spaces"))
        }
        K::TabAtBlockScalarStart => {
            ("the block text begins with a tab", Some("indent the block with spaces"))
        }
        K::MappingValueNotAllowed => (
            "a `:` is not allowed here",
            Some(
                "put quotes around a value that contains `: `, and check the indentation of this line",
            ),
        ),
        K::SimpleKeyExpected | K::InvalidSimpleKey => (
            "this line is neither `key: value` nor part of the value above",
            Some("add the missing `:`, or indent the line deeper than the key it belongs to"),
        ),
        K::ExpectedBlockMappingKey => (
            "expected another key of this mapping",
            Some(
                "keys of one mapping start in the same column; check the indentation and that quotes are closed",
            ),
        ),
        K::ExpectedBlockSequenceEntry => (
            "expected another `- ` item of this list",
            Some(
                "items of one list start in the same column; indent what belongs to an item deeper than its `-`",
            ),
        ),
        K::BlockSequenceEntryNotAllowed => (
            "a list item is not allowed here",
            Some("put the list on the line below its key, or quote the value"),
        ),
        K::InvalidIndentation | K::InvalidFlowScalarIndent | K::InvalidQuotedScalarIndent => (
            "the indentation does not fit",
            Some("indent this line deeper than the key it belongs to"),
        ),
        K::InvalidBlockScalarIndent => (
            "the block text is indented less than its first line",
            Some("give all lines of the block at least the indentation of its first line"),
        ),
        K::MappingKeyNotAllowed => {
            ("a key is not allowed here", Some("check the indentation of this line"))
        }
        K::InvalidBlockScalarHeader => {
            ("unexpected text after `|` or `>`", Some("begin the block text on the next line"))
        }
        _ => return None,
    })
}

/// Lists and mappings in brackets.
fn flow_words(kind: &ErrorKind) -> Option<YamlErrorText> {
    use ErrorKind as K;
    Some(match kind {
        K::BlockEntryInFlowCollection => (
            "a `- ` item is not allowed inside `[…]` or `{…}`",
            Some("separate the items of `[…]` with commas"),
        ),
        K::UnexpectedEofFlowSequence => ("a `[` is never closed", Some("add the closing `]`")),
        K::UnexpectedEofFlowMapping | K::UnexpectedEofImplicitFlowMapping => {
            ("a `{` is never closed", Some("add the closing `}`"))
        }
        K::MisplacedFlowCollectionEnd => (
            "this closing bracket was never opened",
            Some("remove it, or put quotes around the value"),
        ),
        K::ExpectedFlowMappingSeparator => (
            "expected `,` or `}`",
            Some(
                "separate entries with commas, and quote values that contain `{`, `}`, `[`, `]` or `,`",
            ),
        ),
        K::ExpectedFlowSequenceSeparator => (
            "expected `,` or `]`",
            Some(
                "separate items with commas, and quote values that contain `{`, `}`, `[`, `]` or `,`",
            ),
        ),
        _ => return None,
    })
}

/// Quotes, escapes, comments and tags.
fn text_words(kind: &ErrorKind) -> Option<YamlErrorText> {
    use ErrorKind as K;
    Some(match kind {
        K::UnclosedQuotedScalar => ("this quote is never closed", Some("add the closing quote")),
        K::DocumentIndicatorInQuotedScalar => (
            "a line that begins with `---` or `...` ends the document inside a quoted string",
            Some("close the quote above, or indent the line"),
        ),
        K::UnknownQuotedScalarEscape => (
            "unknown escape in a double-quoted string",
            Some("write `\\\\` for a backslash, or use single quotes, which have no escapes"),
        ),
        K::InvalidTrailingSingleQuotedScalar | K::InvalidTrailingDoubleQuotedScalar => (
            "unexpected text after the closing quote",
            Some("quote the whole value; inside single quotes write `''` for one `'`"),
        ),
        K::CommentNotSeparated => ("a comment needs a space before its `#`", None),
        K::UndeclaredTagHandle => (
            "a value that begins with `!` is a tag, and this one is not declared",
            Some("put quotes around the value"),
        ),
        K::BomInsideDocument => ("a byte order mark inside the file", Some("remove it")),
        _ => return None,
    })
}
