//! Edits by span: everything that is not named keeps its bytes, comments included.
//!
//! Entries are removed, replaced and moved in block and in flow style. Whatever cannot be done
//! with certainty (values behind aliases, the only key of a list item, a value that would be written
//! anew without the comments inside it) gives no fix at all.

use crate::diagnostic::{Edit, Fix};
use crate::model::{JsonStyle, Value};
use crate::source::Span;

use super::fields::{Bound, Entry};
pub use super::json_value::plain_value as raw_value;
use super::tree::{Node, ScalarStyle};

/// Writes `value` as the value of `keep` and removes the entry `gone`: two keys become one.
pub(crate) fn merge_into(bound: &Bound<'_>, gone: &str, keep: &str, value: &str) -> Option<Fix> {
    let kept = bound.get(keep)?;
    let removed = bound.get(gone)?;
    let is_repeated = bound.is_repeated(kept.field) || bound.is_repeated(removed.field);
    if kept.value.is_alias() || is_repeated || !is_written_in(bound, &kept) {
        return None;
    }
    let edits = vec![Edit::new(kept.value.span(), value), remove_entry(bound, &removed)?];
    Some(Fix::new(format!("write `{keep}: {value}`"), edits))
}

/// Moves the entry `key` of a mapping into the mapping under `home`, which is made if need be.
pub(crate) fn move_into(bound: &Bound<'_>, key: &str, home: &str) -> Option<Fix> {
    let entry = bound.get(key)?;
    // A home without a value is a key all the same.
    if !is_written_in(bound, &entry) || bound.is_repeated(entry.field) || bound.was_null(home) {
        return None;
    }
    let title = format!("move `{key}` into `{home}`");
    let Some(home_entry) = bound.get(home) else {
        let in_flow = bound.node.is_flow();
        let inner = entry_text(&entry, key, in_flow)?;
        let name = same_quotes(entry.key, home);
        let text = if in_flow {
            format!("{name}: {{{inner}}}")
        } else {
            format!("{name}:\n{}{inner}", indent_of(entry.key, 2))
        };
        let edit = Edit::new(entry_span(&entry), text);
        return Some(Fix::new(title, vec![edit]).isolated(bound.span()));
    };
    let mapping = home_entry.value;
    let is_open = mapping.is_mapping() && !mapping.is_alias() && is_written_in(bound, &home_entry);
    // Also a key without a value would be there twice.
    if !is_open || mapping.get(key).is_some() {
        return None;
    }
    let inner = entry_text(&entry, key, mapping.is_flow())?;
    let edits = vec![insert_first(mapping, &inner)?, remove_entry(bound, &entry)?];
    Some(Fix::new(title, edits).isolated(bound.span()))
}

/// Moves the entry `key` of the mapping under `home` out beside it, with a new value.
pub(crate) fn move_out(
    outer: &Bound<'_>,
    home: &str,
    inner: &Bound<'_>,
    key: &str,
    value: &str,
) -> Option<Fix> {
    let entry = inner.get(key)?;
    let home_entry = outer.get(home)?;
    // One key that is written twice would be moved once.
    let is_repeated = inner.is_repeated(entry.field) || outer.is_repeated(home_entry.field);
    let is_written = is_written_in(outer, &home_entry) && is_written_in(inner, &entry);
    if inner.node.is_alias() || is_repeated || !is_written || outer.was_null(key) {
        return None;
    }
    let is_alone = inner.node.written_entries().len() == 1;
    let rewritten = if is_alone { &home_entry } else { &entry };
    if has_comment(text_between(inner.node, entry_span(rewritten))) {
        return None;
    }
    let title = format!("move `{key}` out of `{home}`");
    let text = format!("{}: {value}", same_quotes(home_entry.key, key));
    let already_there = outer.has(key);
    if is_alone {
        let edit = if already_there {
            remove_entry(outer, &home_entry)?
        } else {
            Edit::new(entry_span(&home_entry), text)
        };
        return Some(Fix::new(title, vec![edit]).isolated(outer.span()));
    }
    let mut edits = vec![remove_entry(inner, &entry)?];
    if !already_there {
        let text = if outer.node.is_flow() {
            format!("{text}, ")
        } else {
            format!("{text}\n{}", indent_of(home_entry.key, 0))
        };
        edits.push(Edit::new(home_entry.key.span().at_start(), text));
    }
    Some(Fix::new(title, edits).isolated(outer.span()))
}

/// Replaces a whole entry by another key and value.
pub(crate) fn replace_entry(
    bound: &Bound<'_>,
    entry: &Entry<'_>,
    key: &str,
    value: &str,
) -> Option<Edit> {
    let text = format!("{}: {value}", same_quotes(entry.key, key));
    is_written_in(bound, entry).then(|| Edit::new(entry_span(entry), text))
}

/// Removes an entry with the comma or the line that goes with it.
pub(crate) fn remove_entry(bound: &Bound<'_>, entry: &Entry<'_>) -> Option<Edit> {
    if !is_written_in(bound, entry) {
        return None;
    }
    let span = if bound.node.is_flow() {
        flow_entry(bound.node, entry)?
    } else {
        block_entry(bound.node, entry)?
    };
    Some(Edit::new(span, ""))
}

/// Whether writing the value anew on one line may lose a comment. A `#` inside a text looks the
/// same; then no fix is offered, which does no harm.
pub(crate) fn may_hold_comment(entry: &Entry<'_>) -> bool {
    let is_list_or_mapping = entry.value.scalar_style().is_none();
    has_comment_before(entry) || is_list_or_mapping && has_comment(entry.value.source_text())
}

/// Between the key and its value.
fn has_comment_before(entry: &Entry<'_>) -> bool {
    let key = entry.key.span();
    let gap = Span::new(key.source, key.end, entry.value.span().start.max(key.end));
    has_comment(text_between(entry.key, gap))
}

fn has_comment(text: &str) -> bool {
    text.starts_with('#') || [" #", "\t#", "\n#"].iter().any(|mark| text.contains(mark))
}

fn text_between(node: Node<'_>, span: Span) -> &str {
    &node.tree_text()[span.start as usize..span.end as usize]
}

/// A key in the quotes that its neighbour has.
pub(crate) fn same_quotes(neighbour: Node<'_>, key: &str) -> String {
    match neighbour.scalar_style() {
        Some(ScalarStyle::Quoted) => format!("\"{key}\""),
        _ => key.to_owned(),
    }
}

/// Written in the mapping itself, neither merged into it nor reached through an alias.
fn is_written_in(bound: &Bound<'_>, entry: &Entry<'_>) -> bool {
    !bound.node.is_alias()
        && !entry.key.is_alias()
        && bound.node.written_entries().any(|(key, _)| key.span() == entry.key.span())
}

/// From the key to the end of the value.
fn entry_span(entry: &Entry<'_>) -> Span {
    let key = entry.key.span();
    key.up_to(entry.value.span().end.max(key.end))
}

/// `key: value` on one line.
fn entry_text(entry: &Entry<'_>, key: &str, in_flow: bool) -> Option<String> {
    let name = same_quotes(entry.key, key);
    let node = entry.value;
    let source = node.source_text();
    // A block mapping or list on one line cannot follow a key there.
    let is_compact = node.scalar_style().is_some() || node.is_flow();
    let is_block = node.scalar_style() == Some(ScalarStyle::Block);
    let is_line = is_compact && !is_block && !source.contains('\n');
    if has_comment_before(entry) {
        return None;
    }
    let is_plain = node.scalar_style() == Some(ScalarStyle::Plain);
    let breaks_flow = in_flow && is_plain && source.contains([',', '[', ']', '{', '}']);
    if is_line && !breaks_flow {
        return Some(format!("{name}: {source}"));
    }
    if node.is_alias() || may_hold_comment(entry) {
        return None;
    }
    let value = raw_value(node);
    if has_long_key(&value) {
        return None;
    }
    let value = value.to_json(JsonStyle::Compact);
    Some(format!("{name}: {value}"))
}

/// Puts an entry before the first one of a mapping.
fn insert_first(mapping: Node<'_>, entry: &str) -> Option<Edit> {
    let first = mapping.written_entries().next();
    // A tag or an anchor of the first key would become that of the new one.
    if let Some((key, _)) = first
        && !is_bare_before(key, mapping.is_flow())
    {
        return None;
    }
    let (place, text) = match (mapping.is_flow(), first) {
        (true, Some((key, _))) => (key.span(), format!("{entry}, ")),
        (true, None) => {
            let span = mapping.span();
            (span.starting_at(span.start + 1), entry.to_owned())
        }
        (false, Some((key, _))) => (key.span(), format!("{entry}\n{}", indent_of(key, 0))),
        (false, None) => return None,
    };
    Some(Edit::new(place.at_start(), text))
}

/// Whether a key is preceded by nothing but what makes it the first one of its mapping.
fn is_bare_before(key: Node<'_>, in_flow: bool) -> bool {
    let before = &key.tree_text()[..key.span().start as usize];
    if in_flow {
        return before.trim_end().ends_with('{');
    }
    let line = before.rfind('\n').map_or(0, |at| at + 1);
    before[line..].chars().all(|sign| sign == ' ' || sign == '-')
}

/// Whether a key is too long to be written as `key: value` in YAML.
pub(crate) fn has_long_key(value: &Value) -> bool {
    const LONGEST: usize = 1000;
    match value {
        Value::Map(map) => {
            map.iter().any(|(key, value)| key.len() > LONGEST || has_long_key(value))
        }
        Value::List(items) => items.iter().any(has_long_key),
        _ => false,
    }
}

/// The blanks that bring a new line to the column of this key, and some more.
fn indent_of(key: Node<'_>, more: usize) -> String {
    let start = key.span().start as usize;
    let text = key.tree_text();
    let line = text[..start].rfind('\n').map_or(0, |at| at + 1);
    " ".repeat(text[line..start].chars().count() + more)
}

fn flow_entry(mapping: Node<'_>, entry: &Entry<'_>) -> Option<Span> {
    let own = entry_span(entry);
    let whole = flow_entry_with_comma(mapping, entry, own)?;
    let (before, behind) = (whole.up_to(own.start), whole.starting_at(own.end));
    // Comments, and marks such as tags and anchors of a neighbour, are not ours to remove.
    let is_bare = |span| {
        let mut between = text_between(mapping, span).chars();
        between.all(|sign| sign == ',' || sign.is_whitespace())
    };
    (is_bare(before) && is_bare(behind)).then_some(whole)
}

fn flow_entry_with_comma(mapping: Node<'_>, entry: &Entry<'_>, own: Span) -> Option<Span> {
    let entries: Vec<_> = mapping.written_entries().collect();
    let at = entries.iter().position(|(key, _)| key.span() == entry.key.span())?;
    if let Some((next, _)) = entries.get(at + 1) {
        return Some(own.up_to(next.span().start));
    }
    let before = at.checked_sub(1).map(|before| entries[before].1.span());
    Some(before.map_or(own, |before| own.starting_at(before.end)))
}

/// Whole lines; or, for a key that shares its line with `- `, up to the next line's text. A comment
/// at the end of the line stays.
fn block_entry(mapping: Node<'_>, entry: &Entry<'_>) -> Option<Span> {
    let text = mapping.tree_text();
    let own = entry_span(entry);
    let line = text[..own.start as usize].rfind('\n').map_or(0, |at| at + 1);
    let behind = &text[own.end as usize..];
    let end = own.end as usize + behind.find('\n').map_or(behind.len(), |at| at + 1);
    let has_own_line = text[line..own.start as usize].trim().is_empty();
    if !has_own_line && mapping.written_entries().len() == 1 {
        return None;
    }
    let blanks = behind.len() - behind.trim_start_matches([' ', '\t']).len();
    if behind[blanks..].starts_with('#') {
        return Some(own.up_to(own.end + blanks as u32));
    }
    if has_own_line {
        return Some(Span::new(own.source, line as u32, end as u32));
    }
    let next = &text[end..];
    let blanks = next.len() - next.trim_start_matches([' ', '\n', '\r']).len();
    Some(own.up_to((end + blanks) as u32))
}

/// Why edits cannot be made together.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Overlap;

/// The text with all edits made; positions are those of the text before. Edits must not overlap.
pub fn apply(text: &str, edits: &[(std::ops::Range<usize>, &str)]) -> Result<String, Overlap> {
    let mut sorted: Vec<_> = edits.to_vec();
    sorted.sort_by_key(|(range, _)| (range.start, range.end));
    let mut result = String::with_capacity(text.len());
    let mut at = 0;
    for (range, replacement) in sorted {
        let kept = text.get(at..range.start).ok_or(Overlap)?;
        if range.end > text.len() || !text.is_char_boundary(range.end) {
            return Err(Overlap);
        }
        result.push_str(kept);
        result.push_str(replacement);
        at = range.end;
    }
    result.push_str(&text[at..]);
    Ok(result)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::diagnostic::Diagnostics;
    use crate::source::Sources;
    use crate::syntax::fields::{Field, Shape};
    use crate::syntax::parse_yaml;

    static OUTER: &[Field] = &[
        Field::new("a", Shape::Any, ""),
        Field::new("b", Shape::Any, ""),
        Field::new("home", Shape::Any, ""),
    ];

    /// Makes a fix on the root mapping of a YAML text.
    fn fixed(yaml: &str, make: impl FnOnce(&Bound<'_>) -> Option<Fix>) -> Option<String> {
        let mut sources = Sources::new();
        let source = sources.add_file("/x.yaml".into(), yaml.to_owned(), 0);
        let mut out = Diagnostics::new();
        let tree = parse_yaml(source, Arc::new(yaml.to_owned()), &mut out).unwrap();
        let root = if tree.root().is_sequence() {
            tree.root().items().next().unwrap()
        } else {
            tree.root()
        };
        let bound = Bound::new(root, &[OUTER], &mut out);
        let fix = make(&bound)?;
        let edits: Vec<_> = fix
            .edits
            .iter()
            .map(|edit| (edit.span.start as usize..edit.span.end as usize, edit.text.as_str()))
            .collect();
        Some(apply(yaml, &edits).unwrap())
    }

    fn removed(yaml: &str) -> Option<String> {
        fixed(yaml, |bound| Some(Fix::new("", vec![remove_entry(bound, &bound.get("a")?)?])))
    }

    #[test]
    fn entries_are_removed_with_their_line_or_comma() {
        assert_eq!(removed("a: 1\n# kept\nb: 2\n").unwrap(), "# kept\nb: 2\n");
        assert_eq!(removed("b: 2\na:\n  - x\n  - y\n").unwrap(), "b: 2\n");
        assert_eq!(removed("- a: 1\n  # kept\n  b: 2\n").unwrap(), "- # kept\n  b: 2\n");
        assert_eq!(removed("{a: 1, b: 2}").unwrap(), "{b: 2}");
        assert_eq!(removed("{b: 2, a: [1, 2]}").unwrap(), "{b: 2}");
        assert_eq!(removed("- a: 1\n"), None);
    }

    #[test]
    fn entries_move_into_another_mapping() {
        let moved = |yaml: &str| fixed(yaml, |bound| move_into(bound, "a", "home"));
        assert_eq!(moved("a: 1\nb: 2\n").unwrap(), "home:\n  a: 1\nb: 2\n");
        assert_eq!(moved("home:\n  x: 1\na: [y]\n").unwrap(), "home:\n  a: [y]\n  x: 1\n");
        assert_eq!(
            moved("a:\n  - x\n  - y\nhome: {z: 1}\n").unwrap(),
            "home: {a: [\"x\",\"y\"], z: 1}\n"
        );
        assert_eq!(moved("a: 1\nhome: {}\n").unwrap(), "home: {a: 1}\n");
        let nested = "home:\n  a: {\"x\":null}\n  y: 1\n";
        assert_eq!(moved("a:\n  x:\nhome:\n  y: 1\n").unwrap(), nested);
        let items = "home:\n  a: [null,null] # c\nb: 1\n";
        assert_eq!(moved("a:\n  -\n  - # c\nb: 1\n").unwrap(), items);
        assert_eq!(moved("b: &h {x: 1}\nhome: *h\na: 1\n"), None);
        assert_eq!(moved("a: 1\nhome: {a: }\n"), None);
        assert_eq!(moved("home:\n !!binary x y: 1\na: 1\n"), None);
        assert_eq!(moved("home: {!x y: 1}\na: 1\n"), None);
        let long = "k".repeat(1001);
        assert_eq!(moved(&format!("a:\n  ? {long}\n  : 1\nhome: {{y: 1}}\n")), None);
        assert_eq!(moved("home:\n  &n y: 1\na: 1\n"), None);
    }

    #[test]
    fn comments_stay_or_there_is_no_fix() {
        assert_eq!(removed("a: 1 # why\nb: 2\n").unwrap(), "# why\nb: 2\n");
        assert_eq!(removed("- a: 1 # why\n  b: 2\n").unwrap(), "- # why\n  b: 2\n");
        assert_eq!(removed("{a: 1, # why\n b: 2}"), None);
        assert_eq!(removed("{b: 2, # why\n a: 1}"), None);
        assert_eq!(removed("{a: 1,!y', b: 2}"), None);
        assert_eq!(removed("{a: 1, !x b: 2}"), None);
        assert_eq!(removed("{a: 1 , b: 2}").unwrap(), "{b: 2}");
        let moved = |yaml: &str| fixed(yaml, |bound| move_into(bound, "a", "home"));
        assert_eq!(moved("a: [x] # why\nhome: {y: 1}\n").unwrap(), "# why\nhome: {a: [x], y: 1}\n");
        assert_eq!(moved("a:\n  # why\n  - x\n  - y\nb: 1\n"), None);
        let out = |yaml: &str| {
            fixed(yaml, |bound| {
                let home = bound.get("home")?.value;
                let inner = Bound::new(home, &[OUTER], &mut Diagnostics::new());
                move_out(bound, "home", &inner, "a", "3")
            })
        };
        assert_eq!(out("home:\n  a: {n: 3}\n").unwrap(), "a: 3\n");
        assert_eq!(out("home:\n  # why\n  a: {n: 3}\n"), None);
        assert_eq!(out("home:\n  b: 1\n  a:\n    # why\n    n: 3\n"), None);
    }

    #[test]
    fn edits_that_overlap_are_refused() {
        assert_eq!(apply("abcd", &[(0..2, "x"), (1..3, "y")]), Err(Overlap));
        assert_eq!(apply("abcd", &[(2..3, "y"), (0..1, "x")]).unwrap(), "xbyd");
    }
}
