//! What is being typed at a cursor: a key of which mapping, or a value of which field. A word is put
//! where the cursor is, so that the text can be parsed, and looked for in the tree. Several ways to
//! complete an unfinished line are tried; the first that can be parsed counts.

use std::ops::Range;
use std::sync::Arc;

use evalrig_core::syntax::fields::{Field, Shape};
use evalrig_core::syntax::{Node, Tree};

use super::file_kind::FileKind;
use super::grammar::{MappingKind, MappingTables};
use super::parsed::parse;
use super::walk::{Visit, walk};

/// No author writes this.
const MARKER: &str = "evalrig__cursor";

/// Of longer texts only the item around the cursor is parsed.
const LONG: usize = 32 * 1024;

/// Whether fields are on lines of their own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Notation {
    Block,
    /// In `{}` or `[]`.
    Flow,
    Json,
}

#[derive(Debug)]
pub(crate) enum Slot {
    /// A key of a mapping that has these keys already.
    Key { tables: MappingTables, present: Vec<String> },
    /// The value of a field, or of a key that no table has.
    Value { kind: MappingKind, field: Option<&'static Field>, shape: Shape, present: Vec<String> },
    /// An item of a list.
    Item { field: Option<&'static Field>, shape: Shape },
}

#[derive(Debug)]
pub(crate) struct Completing {
    /// What there may be; a new item of a list may be a text or the first key of a mapping.
    pub(crate) slots: Vec<Slot>,
    /// The word around the cursor, without quotes.
    pub(crate) word: Range<usize>,
    pub(crate) is_quoted: bool,
    pub(crate) notation: Notation,
    /// A colon follows the word.
    pub(crate) has_colon: bool,
}

/// The line of the cursor, taken apart.
struct CursorLine<'t> {
    /// From the beginning of the part that is parsed.
    head: &'t str,
    /// On the line, up to the word.
    before: &'t str,
    /// On the line, from the word on.
    after: &'t str,
    below: &'t str,
    quote: Option<char>,
}

/// The offset is on a character boundary of the text.
pub(crate) fn complete_at(kind: FileKind, text: &str, offset: usize) -> Option<Completing> {
    if let Some(part) = enclosing_item(kind, text, offset)
        && let Some(mut found) = complete_in(kind, &part.text, offset - part.start + part.head)
        && !found.slots.is_empty()
    {
        let moved = |at: usize| at - part.head + part.start;
        found.word = moved(found.word.start)..moved(found.word.end);
        return Some(found);
    }
    complete_in(kind, text, offset)
}

fn complete_in(kind: FileKind, text: &str, offset: usize) -> Option<Completing> {
    let line_start = text[..offset].rfind('\n').map_or(0, |at| at + 1);
    let line_end = text[offset..].find('\n').map_or(text.len(), |at| offset + at);
    let word = word_at(text, line_start..line_end, offset);
    let before = &text[line_start..word.start];
    if is_comment(before) {
        return None;
    }
    let is_lines = kind == FileKind::Lines;
    let line = CursorLine {
        head: if is_lines { before } else { &text[..word.start] },
        before,
        after: text[word.end..line_end].trim_end_matches('\r'),
        below: if is_lines { "" } else { &text[line_end..] },
        quote: open_quote(before),
    };
    let notation = match kind {
        FileKind::Lines | FileKind::EvalsJson => Notation::Json,
        _ if open_brackets(before).is_empty() => Notation::Block,
        _ => Notation::Flow,
    };
    let mut slots = Vec::new();
    let (may_be_key, may_be_value) = what_fits(&line);
    if may_be_key {
        slots.extend(find_slot(kind, &line, true));
    }
    if may_be_value {
        // Alone, or in `{}`, a word is a key in both ways.
        let found = find_slot(kind, &line, false);
        slots.extend(found.filter(|slot| !may_be_key || !matches!(slot, Slot::Key { .. })));
    }
    let has_colon = line.after.trim_start_matches(['"', '\'']).trim_start().starts_with(':');
    let is_quoted = line.quote.is_some();
    Some(Completing { slots, word, is_quoted, notation, has_colon })
}

/// One item of `tests` or `targets` with the key above it.
struct EnclosingItem {
    text: String,
    /// The byte of the whole text at which the item begins.
    start: usize,
    /// And that of the part.
    head: usize,
}

/// The item around the cursor, of a text that is too long to be parsed at every key. `None` where the
/// item cannot be told from the indentation alone; then the whole text is parsed.
fn enclosing_item(kind: FileKind, text: &str, offset: usize) -> Option<EnclosingItem> {
    if text.len() < LONG
        || !matches!(kind, FileKind::Suite | FileKind::TestList | FileKind::Targets)
    {
        return None;
    }
    let indent = |line: &str| line.len() - line.trim_start_matches(' ').len();
    let is_item = |line: &str| {
        matches!(line.trim_start_matches(' ').as_bytes(), [b'-', b' ' | b'\r' | b'\n', ..])
    };
    let line_start = text[..offset].rfind('\n').map_or(0, |at| at + 1);
    let line_end = text[offset..].find('\n').map_or(text.len(), |at| offset + at + 1);
    let mut found: Option<(usize, usize)> = None;
    let mut key = "";
    let mut end = line_end;
    while end > 0 {
        let start = text[..end - 1].rfind('\n').map_or(0, |at| at + 1);
        let line = &text[start..end];
        if is_item(line) && found.is_none_or(|(least, _)| indent(line) < least) {
            found = Some((indent(line), start));
        }
        let is_root = !line.starts_with([' ', '#', '-', '\r', '\n', '\t']);
        if is_root && start < line_start {
            key = line;
            break;
        }
        end = start;
    }
    let name = key.split(':').next().unwrap_or_default();
    let is_known = matches!(name, "tests" | "evalcases" | "eval_cases" | "targets");
    if !(is_known || (key.is_empty() && kind == FileKind::TestList)) {
        return None;
    }
    let (least, start) = found?;
    let mut end = line_end;
    for line in text[line_end..].split_inclusive('\n') {
        if !line.trim().is_empty() && indent(line) <= least {
            break;
        }
        end += line.len();
    }
    Some(EnclosingItem { text: format!("{key}{}", &text[start..end]), start, head: key.len() })
}

fn word_at(text: &str, line: Range<usize>, offset: usize) -> Range<usize> {
    let is_part = |sign: &char| sign.is_alphanumeric() || "_-./$@*~".contains(*sign);
    let length = |sign: char| sign.len_utf8();
    let before: usize =
        text[line.start..offset].chars().rev().take_while(is_part).map(length).sum();
    let after: usize = text[offset..line.end].chars().take_while(is_part).map(length).sum();
    // `- ` begins an item; the hyphen is no part of a word.
    let mut start = offset - before;
    while start < offset && (text[start..].starts_with("- ") || &text[start..offset] == "-") {
        start += 1;
    }
    start..offset + after
}

/// Whether the cursor is behind a `#` that begins a comment.
fn is_comment(before: &str) -> bool {
    let at = before.match_indices('#').map(|(at, _)| at);
    let mut begins = at.filter(|at| *at == 0 || before[..*at].ends_with([' ', '\t']));
    begins.any(|at| open_quote(&before[..at]).is_none())
}

/// The quote that is open at the end of a line's beginning.
fn open_quote(before: &str) -> Option<char> {
    let mut open = None;
    let mut is_escaped = false;
    let mut previous = ' ';
    for sign in before.chars() {
        match open {
            None if matches!(sign, '"' | '\'') && " \t{[,:-".contains(previous) => {
                open = Some(sign);
            }
            Some('"') if is_escaped => is_escaped = false,
            Some('"') if sign == '\\' => is_escaped = true,
            Some(quote) if quote == sign => open = None,
            _ => {}
        }
        previous = sign;
    }
    open
}

/// The brackets that a text leaves open, as what closes them, the innermost first.
fn open_brackets(text: &str) -> String {
    let mut open = Vec::new();
    let mut quote: Option<char> = None;
    for sign in text.chars() {
        match (quote, sign) {
            (Some(inside), sign) if inside == sign => quote = None,
            (Some(_), _) => {}
            (None, '"') => quote = Some(sign),
            (None, '{') => open.push('}'),
            (None, '[') => open.push(']'),
            (None, '}' | ']') => {
                open.pop();
            }
            _ => {}
        }
    }
    open.iter().rev().collect()
}

/// Whether a key or a value can be at the cursor.
fn what_fits(line: &CursorLine<'_>) -> (bool, bool) {
    let unquoted = line.before.strip_suffix(|sign| Some(sign) == line.quote);
    let trimmed = unquoted.unwrap_or(line.before).trim_end();
    match trimmed.chars().last() {
        Some(':' | '[') => (false, true),
        Some('{') => (true, false),
        None | Some(',' | '-') => (true, true),
        _ => (false, false),
    }
}

fn find_slot(kind: FileKind, line: &CursorLine<'_>, as_key: bool) -> Option<Slot> {
    let (middle, after) = middle(line, as_key);
    let closers = open_brackets(&format!("{}{middle}{after}", line.before));
    let endings = [
        format!("{after}{}", line.below),
        format!("{after}{closers}"),
        format!("{closers}{}", line.below),
        closers,
    ];
    let tree = endings
        .iter()
        .find_map(|ending| parse(&Arc::new(format!("{}{middle}{ending}", line.head))).ok())?;
    slot_of_marker(kind, &tree)
}

/// The marker with what makes it a key or a value, and what is left of the line.
fn middle<'t>(line: &CursorLine<'t>, as_key: bool) -> (String, &'t str) {
    let (quote, after) = match line.quote {
        Some(quote) => (quote.to_string(), line.after.strip_prefix(quote).unwrap_or(line.after)),
        None => (String::new(), line.after),
    };
    let is_key = after.trim_start().starts_with(':');
    let colon = if as_key && !is_key { ": ~" } else { "" };
    (format!("{MARKER}{quote}{colon}"), after)
}

fn slot_of_marker(kind: FileKind, tree: &Tree) -> Option<Slot> {
    let mut found = None;
    let is_marker = |node: Node<'_>| node.scalar_text() == Some(MARKER);
    walk(kind.shape(), tree.root(), None, &mut |place| match place {
        Visit::Entry { mapping, tables, key, .. } if is_marker(*key) => {
            let tables = (*tables).clone();
            found = Some(Slot::Key { tables, present: keys_of(*mapping) });
        }
        Visit::Entry { mapping, tables, value, field, shape, .. } if is_marker(*value) => {
            let present = keys_of(*mapping);
            found = Some(Slot::Value { kind: tables.kind, field: *field, shape: *shape, present });
        }
        Visit::Item { node, field, shape } if is_marker(*node) => {
            found = Some(Slot::Item { field: *field, shape: *shape });
        }
        _ => {}
    });
    if found.is_none() && is_marker(tree.root()) {
        // An empty file.
        let tables = super::grammar::tables_of(kind.shape(), tree.root());
        found = Some(Slot::Key { tables, present: Vec::new() });
    }
    found
}

fn keys_of(mapping: Node<'_>) -> Vec<String> {
    let keys = mapping.written_entries().filter_map(|(key, _)| key.scalar_text());
    keys.filter(|key| *key != MARKER).map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The slots at `|`, in words.
    fn slots(kind: FileKind, text: &str) -> Vec<String> {
        let offset = text.find('|').unwrap();
        let text = text.replacen('|', "", 1);
        let Some(found) = complete_at(kind, &text, offset) else {
            return Vec::new();
        };
        let describe = |slot: &Slot| match slot {
            Slot::Key { tables, .. } => {
                let first = tables.tables.first().and_then(|table| table.first());
                format!("key beside {}", first.map_or("-", |field| field.name))
            }
            Slot::Value { field, .. } => {
                format!("value of {}", field.map_or("-", |field| field.name))
            }
            Slot::Item { field, .. } => {
                format!("item of {}", field.map_or("-", |field| field.name))
            }
        };
        found.slots.iter().map(describe).collect()
    }

    #[test]
    fn keys_and_values_are_told_from_unfinished_lines() {
        let suite = |text: &str| slots(FileKind::Suite, text);
        assert_eq!(suite("na|"), ["key beside name"]);
        assert_eq!(suite("|"), ["key beside name"]);
        assert_eq!(suite("name: x\nexecution:\n  target: |\n"), ["value of target"]);
        let test = "name: x\ntests:\n  - id: a\n    cri|\n    input: Hi\n";
        assert_eq!(suite(test), ["key beside id"]);
        let item = "name: x\ntests:\n  - |\n";
        assert_eq!(suite(item), ["key beside id", "item of tests"]);
        let list = "tests:\n  - id: a\n    assert:\n      - type: con|\n  - id: b\n";
        assert_eq!(suite(list), ["value of type"]);
        let flow = "tests:\n  - id: a\n    assert:\n      - {type: con|\n  - id: b\n";
        assert_eq!(suite(flow), ["value of type"]);
        let flow = "tests:\n  - id: a\n    assert:\n      - {type: contains, |}\n";
        assert_eq!(suite(flow)[0], "key beside value");
        assert_eq!(suite("metadata:\n  tags: [a, |]\n").last().unwrap(), "item of tags");
        assert_eq!(suite("# na|"), Vec::<String>::new());
        assert_eq!(suite("description: some words an|"), Vec::<String>::new());
    }

    #[test]
    fn lines_and_targets_files_are_completed_too() {
        let lines = "{\"id\": \"a\"}\n{\"id\": \"b\", \"cri|\"}\n{broken\n";
        assert_eq!(slots(FileKind::Lines, lines)[0], "key beside id");
        assert_eq!(slots(FileKind::Lines, "{\"id\": \"b\", \"|"), ["key beside id"]);
        let targets = "targets:\n  - name: a\n    provider: |\n";
        assert_eq!(slots(FileKind::Targets, targets), ["value of provider"]);
        let evals = "{\"evals\": [{\"id\": 1, \"pro|\"}]}";
        assert_eq!(slots(FileKind::EvalsJson, evals)[0], "key beside id");
    }

    #[test]
    fn of_a_long_text_the_item_around_the_cursor_is_enough() {
        let item = "  - id: a\n    criteria: c\n    input: |2\n      - text\n    assert: [x]\n";
        let many = item.replace('|', ">").repeat(1000);
        let head = "name: x\nexecution:\n  assert:\n    - {type: contains, value: x}\ntests:\n";
        for (cursor, expected) in [
            ("  - id: b\n    cri|\n    input: Hi\n", "key beside id"),
            ("  - id: b\n    assert:\n      - type: con|\n", "value of type"),
            ("  - id: b\n    execution:\n      target: |\n", "value of target"),
        ] {
            let text = format!("{head}{many}{cursor}{many}");
            assert!(text.len() > LONG);
            let offset = text.find('|').unwrap();
            let whole = text.replacen('|', "", 1);
            let part = enclosing_item(FileKind::Suite, &whole, offset).unwrap();
            assert!(part.text.len() < 200, "{}", part.text);
            assert_eq!(slots(FileKind::Suite, &text)[0], expected);
            let found = complete_at(FileKind::Suite, &whole, offset).unwrap();
            assert!(found.word.start <= offset && offset <= found.word.end);
            assert_eq!(whole[..offset].rfind(['\n', ' ']).unwrap() + 1, found.word.start);
        }
        let above = format!("name: x\nexecution:\n  target: |\ntests:\n{many}");
        assert_eq!(slots(FileKind::Suite, &above), ["value of target"]);
    }

    #[test]
    fn any_cursor_in_any_text_is_survived() {
        let text = "name: \"é|{[\ntests:\r\n  - {id: 'a\n\t- : ]}}#\n\"\\";
        for offset in (0..=text.len()).filter(|at| text.is_char_boundary(*at)) {
            for kind in [FileKind::Suite, FileKind::Lines, FileKind::Targets] {
                let _ = complete_at(kind, text, offset);
            }
        }
    }
}
