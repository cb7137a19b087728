//! Strict JSON → the same tree that YAML gives.
//!
//! Our own small parser and not a crate's: it writes straight into the arena (a second tree would
//! halve the speed of large JSONL files), knows every place, sees duplicate keys and keeps the
//! number's source text.

use std::sync::{Arc, LazyLock};

use memchr::memmem;

use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::source::{SourceId, Span};

use super::fields::pack;
use super::tree::{CoreTag, NodeData, NodeId, NodeShape, ScalarStyle, TextIn, Tree};
use super::yaml::{FEW_KEYS, duplicate_keys};
use super::{DEPTH_LIMIT, codes, encoding};

/// Why a text is not JSON, and the byte at which that shows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JsonError {
    pub at: u32,
    pub kind: JsonErrorKind,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum JsonErrorKind {
    Syntax(&'static str),
    TooDeep,
    DuplicateKey { first: (u32, u32), second: (u32, u32) },
}

/// The one fault that shows far behind the byte it is reported at.
pub(super) const UNCLOSED: &str = "this quote is never closed";

/// What may follow the value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Behind {
    Nothing,
    Anything,
}

/// Fills `tree` from its own text; the memory of an earlier parse is used again. Duplicate keys do
/// not stop the reading, so several faults can come back.
pub(super) fn parse_into(tree: &mut Tree) -> Result<(), Vec<JsonError>> {
    tree.has_braces = BRACES.find(tree.text.as_bytes()).is_some();
    parse_from(tree, 0, Behind::Nothing)
}

/// As [`parse_into`], for a value that begins at the byte `from`, whatever follows it.
pub(super) fn parse_prefix(tree: &mut Tree, from: usize) -> Result<(), Vec<JsonError>> {
    parse_from(tree, from, Behind::Anything)
}

fn parse_from(tree: &mut Tree, from: usize, behind: Behind) -> Result<(), Vec<JsonError>> {
    tree.clear_nodes();
    let text = tree.text.clone();
    let mut scratch = std::mem::take(&mut tree.scratch);
    scratch.clear();
    let mut parser = Json {
        text: &text,
        bytes: text.as_bytes(),
        at: from,
        behind,
        tree,
        faults: Vec::new(),
        scratch,
    };
    if let Err(error) = parser.document() {
        parser.faults.push(error);
    }
    let Json { tree, scratch, faults, .. } = parser;
    tree.scratch = scratch;
    if faults.is_empty() { Ok(()) } else { Err(faults) }
}

/// Built once: preparing the search costs more than searching a line.
static BRACES: LazyLock<memmem::Finder<'static>> = LazyLock::new(|| memmem::Finder::new("{{"));

/// A whole JSON file. `None` when it holds no tree; every fault has been reported.
pub fn parse_json(source: SourceId, text: Arc<String>, out: &mut Diagnostics) -> Option<Tree> {
    if let Some((at, character)) = encoding::find_control(&text) {
        out.report(codes::control_character(source, at, character));
        return None;
    }
    if text.trim().is_empty() {
        out.report(codes::empty_file(source));
        return None;
    }
    let mut tree = Tree::new(source, text);
    match parse_into(&mut tree) {
        Ok(()) => Some(tree),
        Err(faults) => {
            let complete =
                faults.iter().all(|fault| matches!(fault.kind, JsonErrorKind::DuplicateKey { .. }));
            for fault in faults {
                out.report(explain(source, &tree.text, &fault));
            }
            complete.then_some(tree)
        }
    }
}

/// The fault as a diagnostic.
pub(crate) fn explain(source: SourceId, text: &str, error: &JsonError) -> Diagnostic {
    let span = |range: (u32, u32)| Span::new(source, range.0, range.1);
    let here = || {
        let length = text[error.at as usize..].chars().next().map_or(0, char::len_utf8);
        span((error.at, error.at + length as u32))
    };
    match error.kind {
        JsonErrorKind::Syntax(message) => Diagnostic::new(&codes::JSON_SYNTAX, here(), message),
        JsonErrorKind::TooDeep => codes::too_deep(here()),
        JsonErrorKind::DuplicateKey { first, second } => {
            let name = text[second.0 as usize..second.1 as usize].trim_matches('"');
            codes::duplicate_key(name, span(first), span(second))
        }
    }
}

struct Json<'a> {
    text: &'a str,
    bytes: &'a [u8],
    at: usize,
    behind: Behind,
    tree: &'a mut Tree,
    faults: Vec<JsonError>,
    scratch: Scratch,
}

/// Lists that parsing needs and that are used again for the next line.
#[derive(Debug, Default)]
pub(super) struct Scratch {
    open: Vec<Open>,
    /// Children of the open collections, innermost last.
    pending: Vec<NodeId>,
    /// The keys of the open mappings, innermost last: packed name and node.
    names: Vec<(u64, NodeId)>,
}

impl Scratch {
    fn clear(&mut self) {
        self.open.clear();
        self.pending.clear();
        self.names.clear();
    }
}

#[derive(Debug, Clone, Copy)]
struct Open {
    node: NodeId,
    pending_from: usize,
    /// Where its keys begin in the list of packed names.
    names_from: usize,
    is_mapping: bool,
}

impl Json<'_> {
    /// Iterative, so that no input can exhaust the stack.
    fn document(&mut self) -> Result<(), JsonError> {
        self.skip_blanks();
        loop {
            // Here a value must begin.
            match self.peek() {
                Some(bracket @ (b'{' | b'[')) => {
                    let is_mapping = bracket == b'{';
                    self.open(is_mapping)?;
                    self.skip_blanks();
                    let end = if is_mapping { b'}' } else { b']' };
                    if self.peek() != Some(end) {
                        if is_mapping {
                            self.key(self.scratch.names.len())?;
                        }
                        continue;
                    }
                }
                _ => {
                    let node = self.scalar()?;
                    if !self.scratch.open.is_empty() {
                        self.scratch.pending.push(node);
                    }
                }
            }
            if self.after_value()? {
                return Ok(());
            }
        }
    }

    fn open(&mut self, is_mapping: bool) -> Result<(), JsonError> {
        if self.scratch.open.len() >= DEPTH_LIMIT {
            return Err(self.error(JsonErrorKind::TooDeep));
        }
        let node = self.begin_collection(is_mapping);
        if !self.scratch.open.is_empty() {
            self.scratch.pending.push(node);
        }
        self.scratch.open.push(Open {
            node,
            pending_from: self.scratch.pending.len(),
            names_from: self.scratch.names.len(),
            is_mapping,
        });
        Ok(())
    }

    /// A value is complete: closes collections and moves on to the next value. True at the end.
    fn after_value(&mut self) -> Result<bool, JsonError> {
        loop {
            self.skip_blanks();
            let Some(inner) = self.scratch.open.last().copied() else {
                return match (self.peek(), self.behind) {
                    (None, _) | (_, Behind::Anything) => Ok(true),
                    (Some(_), Behind::Nothing) => {
                        Err(self.syntax("unexpected text after the JSON value"))
                    }
                };
            };
            match (self.peek(), inner.is_mapping) {
                (Some(b','), is_mapping) => {
                    self.at += 1;
                    self.skip_blanks();
                    if matches!(self.peek(), Some(b'}' | b']')) {
                        return Err(self.syntax("a comma before the closing bracket"));
                    }
                    if is_mapping {
                        self.key(inner.names_from)?;
                    }
                    return Ok(false);
                }
                (Some(b'}'), true) | (Some(b']'), false) => {
                    self.at += 1;
                    self.end_collection(inner);
                }
                (None, true) => return Err(self.syntax("the text ends inside `{…}`")),
                (None, false) => return Err(self.syntax("the text ends inside `[…]`")),
                (Some(_), true) => return Err(self.syntax("expected `,` or `}`")),
                (Some(_), false) => return Err(self.syntax("expected `,` or `]`")),
            }
        }
    }

    fn begin_collection(&mut self, is_mapping: bool) -> NodeId {
        let shape = if is_mapping {
            NodeShape::Mapping { flow: true }
        } else {
            NodeShape::Sequence { flow: true }
        };
        let start = self.at as u32;
        self.at += 1;
        self.add(shape, TextIn::Source, start, 0, 0)
    }

    fn end_collection(&mut self, open: Open) {
        self.scratch.open.pop();
        let first = self.tree.children.len();
        let children = &self.scratch.pending[open.pending_from..];
        self.tree.children.extend_from_slice(children);
        self.scratch.pending.truncate(open.pending_from);
        let count = self.tree.children.len() - first;
        let data = &mut self.tree.nodes[open.node as usize];
        data.first = first as u32;
        data.count = count as u32;
        data.end = self.at as u32;
        if open.is_mapping && count > 2 * FEW_KEYS {
            let entries = &self.tree.children[first..first + count];
            // The first few have been compared as they came; nodes are numbered in order.
            let compared = entries[2 * FEW_KEYS];
            let found = duplicate_keys(self.tree, entries);
            for (earlier, later) in found.into_iter().filter(|(_, later)| *later > compared) {
                self.report_duplicate(earlier, later);
            }
        }
        self.scratch.names.truncate(open.names_from);
    }

    /// A key and its colon. It is compared with the other keys of its mapping, which begin at
    /// `names_from`.
    fn key(&mut self, names_from: usize) -> Result<(), JsonError> {
        if self.peek() != Some(b'"') {
            return Err(self.syntax("expected a key in double quotes"));
        }
        let key = self.string()?;
        let name = pack(self.key_bytes(key));
        let earlier = &self.scratch.names[names_from..];
        // A mapping with very many keys is checked at its end, by hashing.
        if earlier.len() <= FEW_KEYS && earlier.iter().any(|(known, _)| *known == name) {
            self.compare_key(names_from, key);
        }
        self.scratch.names.push((name, key));
        self.scratch.pending.push(key);
        self.skip_blanks();
        if self.peek() != Some(b':') {
            return Err(self.syntax("expected `:` after the key"));
        }
        self.at += 1;
        self.skip_blanks();
        Ok(())
    }

    #[inline]
    fn key_bytes(&self, key: NodeId) -> &[u8] {
        let data = &self.tree.nodes[key as usize];
        let range = data.first as usize..(data.first + data.count) as usize;
        match data.text_in {
            TextIn::Source => &self.bytes[range],
            TextIn::Pool => &self.tree.pool.as_bytes()[range],
        }
    }

    /// Names that begin alike may be equal.
    #[cold]
    fn compare_key(&mut self, names_from: usize, key: NodeId) {
        let is_equal = |known: &&(u64, NodeId)| self.key_bytes(known.1) == self.key_bytes(key);
        let earlier = self.scratch.names[names_from..].iter().find(is_equal).copied();
        if let Some((_, earlier)) = earlier {
            self.report_duplicate(earlier, key);
        }
    }

    fn report_duplicate(&mut self, earlier: NodeId, later: NodeId) {
        let place = |id: NodeId| {
            let data = &self.tree.nodes[id as usize];
            (data.start, data.end)
        };
        let (first, second) = (place(earlier), place(later));
        let kind = JsonErrorKind::DuplicateKey { first, second };
        self.faults.push(JsonError { at: second.0, kind });
    }

    fn scalar(&mut self) -> Result<NodeId, JsonError> {
        match self.peek() {
            Some(b'"') => self.string(),
            Some(b'-' | b'0'..=b'9') => self.number(),
            Some(b't') => self.word("true"),
            Some(b'f') => self.word("false"),
            Some(b'n') => self.word("null"),
            Some(b'}' | b']') => Err(self.syntax("expected a value before the closing bracket")),
            Some(b'\'') => Err(self.syntax("JSON strings need double quotes")),
            Some(_) => Err(self.syntax("expected a JSON value")),
            None => Err(self.syntax("the text ends where a value is expected")),
        }
    }

    fn word(&mut self, word: &'static str) -> Result<NodeId, JsonError> {
        let start = self.at;
        let rest = &self.bytes[start..];
        let ends = rest.get(word.len()).is_none_or(|next| !next.is_ascii_alphanumeric());
        if !rest.starts_with(word.as_bytes()) || !ends {
            return Err(self.syntax("expected a JSON value"));
        }
        self.at += word.len();
        Ok(self.add_plain(start))
    }

    fn number(&mut self) -> Result<NodeId, JsonError> {
        let start = self.at;
        if self.peek() == Some(b'-') {
            self.at += 1;
        }
        match self.peek() {
            Some(b'0') => {
                self.at += 1;
                if matches!(self.peek(), Some(b'0'..=b'9')) {
                    return Err(self.syntax("a JSON number has no leading zeros"));
                }
            }
            _ => self.digits()?,
        }
        if self.peek() == Some(b'.') {
            self.at += 1;
            self.digits()?;
        }
        if matches!(self.peek(), Some(b'e' | b'E')) {
            self.at += 1;
            if matches!(self.peek(), Some(b'+' | b'-')) {
                self.at += 1;
            }
            self.digits()?;
        }
        Ok(self.add_plain(start))
    }

    fn digits(&mut self) -> Result<(), JsonError> {
        let start = self.at;
        while matches!(self.peek(), Some(b'0'..=b'9')) {
            self.at += 1;
        }
        if self.at > start { Ok(()) } else { Err(self.syntax("expected a digit")) }
    }

    fn string(&mut self) -> Result<NodeId, JsonError> {
        let start = self.at;
        self.at += 1;
        let content = self.at;
        self.at += plain_length(&self.bytes[self.at..]);
        match self.peek() {
            Some(b'"') => {}
            Some(b'\\') => return self.escaped_string(start, content),
            Some(_) => return Err(self.syntax("a control character inside a text")),
            None => {
                self.at = start;
                return Err(self.syntax(UNCLOSED));
            }
        }
        let length = self.at - content;
        self.at += 1;
        Ok(self.add(
            NodeShape::Scalar(ScalarStyle::Quoted),
            TextIn::Source,
            start as u32,
            content as u32,
            length as u32,
        ))
    }

    fn escaped_string(&mut self, start: usize, content: usize) -> Result<NodeId, JsonError> {
        let first = self.tree.pool.len();
        let mut copied = content;
        loop {
            self.at += plain_length(&self.bytes[self.at..]);
            match self.peek() {
                Some(b'"') => break,
                Some(b'\\') => {
                    self.tree.pool.push_str(&self.text[copied..self.at]);
                    let character = self.escape()?;
                    self.tree.pool.push(character);
                    copied = self.at;
                }
                Some(_) => return Err(self.syntax("a control character inside a text")),
                None => {
                    self.at = start;
                    return Err(self.syntax(UNCLOSED));
                }
            }
        }
        self.tree.pool.push_str(&self.text[copied..self.at]);
        self.at += 1;
        let length = self.tree.pool.len() - first;
        Ok(self.add(
            NodeShape::Scalar(ScalarStyle::Quoted),
            TextIn::Pool,
            start as u32,
            first as u32,
            length as u32,
        ))
    }

    fn escape(&mut self) -> Result<char, JsonError> {
        let letter = self.bytes.get(self.at + 1).copied();
        let character = match letter {
            Some(b'"') => '"',
            Some(b'\\') => '\\',
            Some(b'/') => '/',
            Some(b'b') => '\u{8}',
            Some(b'f') => '\u{c}',
            Some(b'n') => '\n',
            Some(b'r') => '\r',
            Some(b't') => '\t',
            Some(b'u') => return self.unicode_escape(),
            _ => return Err(self.syntax("unknown escape")),
        };
        self.at += 2;
        Ok(character)
    }

    fn unicode_escape(&mut self) -> Result<char, JsonError> {
        let high = self.four_hex(self.at + 2)?;
        let code = match high {
            0xd800..=0xdbff => {
                let follows = self.bytes.get(self.at + 6..self.at + 8) == Some(b"\\u");
                let low = if follows { self.four_hex(self.at + 8)? } else { 0 };
                if !(0xdc00..=0xdfff).contains(&low) {
                    return Err(self.syntax("half of a surrogate pair"));
                }
                self.at += 6;
                0x10000 + ((high - 0xd800) << 10) + (low - 0xdc00)
            }
            other => other,
        };
        match char::from_u32(code) {
            Some(character) => {
                self.at += 6;
                self.tree.has_braces |= character == '{';
                Ok(character)
            }
            None => Err(self.syntax("half of a surrogate pair")),
        }
    }

    fn four_hex(&self, at: usize) -> Result<u32, JsonError> {
        let digits = self.bytes.get(at..at + 4).unwrap_or_default();
        if digits.len() != 4 || !digits.iter().all(u8::is_ascii_hexdigit) {
            return Err(self.syntax("`\\u` takes four hexadecimal digits"));
        }
        Ok(digits
            .iter()
            .fold(0, |code, digit| code * 16 + char::from(*digit).to_digit(16).unwrap_or(0)))
    }

    fn add_plain(&mut self, start: usize) -> NodeId {
        let shape = NodeShape::Scalar(ScalarStyle::Plain);
        let length = self.at - start;
        self.add(shape, TextIn::Source, start as u32, start as u32, length as u32)
    }

    fn add(
        &mut self,
        shape: NodeShape,
        text_in: TextIn,
        start: u32,
        first: u32,
        count: u32,
    ) -> NodeId {
        let id = self.tree.nodes.len() as NodeId;
        let end = self.at as u32;
        self.tree.nodes.push(NodeData {
            shape,
            tag: CoreTag::None,
            text_in,
            start,
            end,
            first,
            count,
        });
        id
    }

    #[inline]
    fn skip_blanks(&mut self) {
        // Most tokens follow each other directly or after one blank.
        while let Some(b' ' | b'\t' | b'\n' | b'\r') = self.peek() {
            self.at += 1;
        }
    }

    #[inline]
    fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    fn syntax(&self, message: &'static str) -> JsonError {
        self.error(JsonErrorKind::Syntax(message))
    }

    fn error(&self, kind: JsonErrorKind) -> JsonError {
        let mut at = self.at.min(self.text.len());
        while !self.text.is_char_boundary(at) {
            at -= 1;
        }
        JsonError { at: at as u32, kind }
    }
}

/// Bytes up to the next quote, backslash or control character.
fn plain_length(bytes: &[u8]) -> usize {
    // Eight bytes at a time; the classic test for a byte below a bound or equal to one.
    const ONES: u64 = 0x0101_0101_0101_0101;
    const HIGHS: u64 = 0x8080_8080_8080_8080;
    let has_zero = |word: u64| word.wrapping_sub(ONES) & !word & HIGHS;
    let mut at = 0;
    while let Some(chunk) = bytes[at..].first_chunk::<8>() {
        let word = u64::from_le_bytes(*chunk);
        let quote = has_zero(word ^ (ONES * u64::from(b'"')));
        let backslash = has_zero(word ^ (ONES * u64::from(b'\\')));
        let control = word.wrapping_sub(ONES * 0x20) & !word & HIGHS;
        let found = quote | backslash | control;
        if found != 0 {
            return at + (found.trailing_zeros() / 8) as usize;
        }
        at += 8;
    }
    let rest = bytes[at..].iter().position(|byte| matches!(byte, b'"' | b'\\' | 0..0x20));
    rest.map_or(bytes.len(), |found| at + found)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::Sources;
    use crate::syntax::{Node, Scalar};

    fn parse(text: &str) -> Result<Tree, Vec<JsonError>> {
        let source = Sources::new().add_file("/x.json".into(), String::new(), 0);
        let mut tree = Tree::new(source, Arc::new(text.to_owned()));
        parse_into(&mut tree).map(|()| tree)
    }

    fn to_value(node: Node<'_>) -> serde_json::Value {
        match node.scalar() {
            Some(Scalar::Null) => serde_json::Value::Null,
            Some(Scalar::Bool(value)) => value.into(),
            Some(Scalar::Int(text) | Scalar::Float(text)) => serde_json::from_str(text).unwrap(),
            Some(Scalar::Str(text)) => text.into(),
            None if node.is_sequence() => node.items().map(to_value).collect(),
            None => node
                .written_entries()
                .map(|(key, value)| (key.scalar_text().unwrap().to_owned(), to_value(value)))
                .collect(),
        }
    }

    #[test]
    fn values_keep_their_places() {
        let tree = parse(r#"{"a": [1, "x\ny"], "é": null}"#).unwrap();
        let list = tree.root().get("a").unwrap();
        assert_eq!(list.source_text(), r#"[1, "x\ny"]"#);
        assert_eq!(list.items().nth(1).unwrap().scalar_text(), Some("x\ny"));
        assert!(tree.root().get("é").unwrap().is_null());
    }

    #[test]
    fn faults_say_what_and_where() {
        let fault = |text: &str| parse(text).map(|_| ()).unwrap_err().remove(0);
        for (text, at, message) in [
            ("{\"a\": }", 6, "expected a value before the closing bracket"),
            ("[1,]", 3, "a comma before the closing bracket"),
            ("{a: 1}", 1, "expected a key in double quotes"),
            ("[1 2]", 3, "expected `,` or `]`"),
            ("01", 1, "a JSON number has no leading zeros"),
            ("\"ab", 0, "this quote is never closed"),
            ("1 x", 2, "unexpected text after the JSON value"),
            ("\"\\ud800\"", 1, "half of a surrogate pair"),
            ("{\"a\"", 4, "expected `:` after the key"),
            ("NaN", 0, "expected a JSON value"),
            ("", 0, "the text ends where a value is expected"),
        ] {
            let expected = JsonError { at, kind: JsonErrorKind::Syntax(message) };
            assert_eq!(fault(text), expected, "{text}");
        }
        assert_eq!(fault(&"[".repeat(100_000)).kind, JsonErrorKind::TooDeep);
    }

    #[test]
    fn duplicate_keys_are_all_reported() {
        let faults = parse(r#"{"a": 1, "b": {"c": 1, "c": 2}, "a": 3}"#).map(|_| ()).unwrap_err();
        assert_eq!(faults.len(), 2);
        assert!(matches!(faults[0].kind, JsonErrorKind::DuplicateKey { first: (15, 18), .. }));
    }

    #[test]
    fn duplicates_among_many_keys_are_each_reported_once() {
        let keys: Vec<String> = (0..40).map(|n| format!("\"key-{}\": {n}", n % 30)).collect();
        let text = format!("{{{}}}", keys.join(", "));
        let faults = parse(&text).map(|_| ()).unwrap_err();
        assert_eq!(faults.len(), 10);
        let early = format!("{{\"a\": 1, \"a\": 2, {}}}", keys[..30].join(", "));
        assert_eq!(parse(&early).map(|_| ()).unwrap_err().len(), 1);
    }

    proptest::proptest! {
        #[test]
        fn agrees_with_serde_json(text in r#"[\[\]{}:,"0-9eE+. \\nutrfalsé-]{0,24}"#) {
            let ours = parse(&text);
            match serde_json::from_str::<serde_json::Value>(&text) {
                Ok(value) => {
                    if let Ok(tree) = &ours {
                        proptest::prop_assert_eq!(to_value(tree.root()), value);
                    } else {
                        let faults = ours.map(|_| ()).unwrap_err();
                        let duplicate = matches!(faults[0].kind, JsonErrorKind::DuplicateKey { .. });
                        proptest::prop_assert!(duplicate, "{:?}", faults);
                    }
                }
                // Numbers too large for a float are fine here: their text is kept.
                Err(error) => proptest::prop_assert!(
                    ours.is_err() || error.to_string().contains("out of range")
                ),
            }
        }

        #[test]
        fn any_string_survives(text in ".*") {
            let json = serde_json::to_string(&text).unwrap();
            let tree = parse(&json).unwrap();
            proptest::prop_assert_eq!(tree.root().scalar_text(), Some(text.as_str()));
        }
    }
}
