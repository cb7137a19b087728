//! JSON from scripts and judges. Nothing here trusts its length, depth or form.

use std::ops::Range;

use crate::model::Value;
use crate::source::LineIndex;
use crate::syntax::{DEPTH_LIMIT, lenient_json_value};

/// The value of a JSON text, or why it is not JSON and where.
pub(crate) fn parse(text: &str) -> Result<Value, String> {
    lenient_json_value(text).map_err(|fault| {
        let place = LineIndex::new(text).position(text, fault.at as u32);
        let reason = fault.reason;
        format!("{reason} (line {}, column {})", place.line, place.column)
    })
}

/// The outermost JSON objects of a text.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Objects {
    /// In order.
    pub(crate) complete: Vec<Range<usize>>,
    /// The text ends inside an object, so objects in there are only fragments.
    pub(crate) is_cut: bool,
    /// Where the last object that is not JSON begins.
    pub(crate) broken: Option<usize>,
}

/// Finds JSON objects between other text. A brace in prose is skipped. A truncated object is not
/// searched for smaller ones, since a part of a faulty reply may contradict the whole. The work is
/// linear in the length of the text.
pub(crate) fn objects_in(text: &str) -> Objects {
    let bytes = text.as_bytes();
    let mut found = Objects::default();
    let mut at = 0;
    while let Some(step) = memchr::memchr(b'{', &bytes[at..]) {
        let start = at + step;
        match scan(bytes, start) {
            Scan::Complete(end) => {
                found.complete.push(start..end);
                at = end;
            }
            Scan::Prose => at = start + 1,
            Scan::Broken(place) => {
                found.broken = Some(start);
                at = place.max(start + 1);
            }
            Scan::Cut => {
                found.is_cut = true;
                break;
            }
        }
    }
    found
}

#[derive(Debug, PartialEq, Eq)]
enum Scan {
    /// One byte past the closing brace.
    Complete(usize),
    /// It does not even begin with a key and a colon.
    Prose,
    /// Where it stops being JSON.
    Broken(usize),
    /// Everything up to the end of the text could belong to it.
    Cut,
}

/// What may come next.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Next {
    FirstKey,
    Key,
    Colon,
    FirstItem,
    Value,
    CommaOrEnd,
}

/// Skips one object and checks its structure; the parser checks numbers and escapes. In ASCII a
/// closing bracket is its opening one plus 2.
fn scan(bytes: &[u8], start: usize) -> Scan {
    let mut open = vec![b'{'];
    let mut next = Next::FirstKey;
    let mut at = start + 1;
    let mut has_key = false;
    let broken = |at: usize, has_key: bool| {
        if has_key { Scan::Broken(at) } else { Scan::Prose }
    };
    while let Some(&byte) = bytes.get(at) {
        let inner = open.last().copied();
        match (byte, next) {
            (b' ' | b'\t' | b'\n' | b'\r', _) => at += 1,
            (b'"', Next::FirstKey | Next::Key | Next::FirstItem | Next::Value) => {
                match end_of_string(bytes, at) {
                    Ok(Some(end)) => at = end,
                    Ok(None) => return Scan::Cut,
                    Err(()) => return broken(at + 1, has_key),
                }
                next = match next {
                    Next::FirstKey | Next::Key => Next::Colon,
                    _ => Next::CommaOrEnd,
                };
            }
            (b':', Next::Colon) => (at, next, has_key) = (at + 1, Next::Value, true),
            (b'{' | b'[', Next::FirstItem | Next::Value) if open.len() < DEPTH_LIMIT => {
                open.push(byte);
                at += 1;
                next = match byte {
                    b'{' => Next::FirstKey,
                    _ => Next::FirstItem,
                };
            }
            (b',', Next::CommaOrEnd) => {
                at += 1;
                next = match inner {
                    Some(b'{') => Next::Key,
                    _ => Next::Value,
                };
            }
            // A first key or item is only expected directly after its bracket.
            (b'}' | b']', Next::FirstKey | Next::FirstItem | Next::CommaOrEnd)
                if inner == Some(byte - 2) =>
            {
                open.pop();
                (at, next) = (at + 1, Next::CommaOrEnd);
            }
            (b'-' | b'0'..=b'9' | b't' | b'f' | b'n', Next::FirstItem | Next::Value) => {
                at = end_of_word(bytes, at);
                next = Next::CommaOrEnd;
            }
            _ => return broken(at, has_key),
        }
        if open.is_empty() {
            return Scan::Complete(at);
        }
    }
    Scan::Cut
}

/// One byte past the closing quote; `None` if the text ends first.
fn end_of_string(bytes: &[u8], quote: usize) -> Result<Option<usize>, ()> {
    let mut at = quote + 1;
    while let Some(&byte) = bytes.get(at) {
        match byte {
            b'"' => return Ok(Some(at + 1)),
            b'\\' => at += 2,
            0..0x20 => return Err(()),
            _ => at += 1,
        }
    }
    Ok(None)
}

fn end_of_word(bytes: &[u8], start: usize) -> usize {
    let is_word = |b: &u8| b.is_ascii_alphanumeric() || b"+-.".contains(b);
    let length = bytes[start..].iter().take_while(|b| is_word(b)).count();
    start + length
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::JsonStyle;

    fn compact(text: &str) -> String {
        parse(text).expect("JSON").to_json(JsonStyle::Compact)
    }

    fn found(text: &str) -> Vec<&str> {
        let ranges = objects_in(text).complete.into_iter();
        ranges.map(|range| &text[range]).collect()
    }

    #[test]
    fn json_comes_back_as_it_was() {
        let text = r#"{"b":[1.50,null,true],"a":{"x":"\n"}}"#;
        assert_eq!(compact(text), text);
        assert_eq!(compact("\"\u{7f}\u{9b}\""), "\"\u{7f}\u{9b}\"");
    }

    #[test]
    fn of_equal_keys_the_last_counts() {
        assert_eq!(compact(r#"{"a":1,"b":2,"a":3}"#), r#"{"a":3,"b":2}"#);
        let many: Vec<String> = (0..50_000).map(|n| format!("\"k{n}\":{n}")).collect();
        let text = format!("{{{},\"k7\":true}}", many.join(","));
        let value = parse(&text).expect("JSON");
        let map = value.as_map().expect("an object");
        assert_eq!(map.get("k7"), Some(&Value::Bool(true)));
        assert_eq!(map.len(), 50_000);
    }

    #[test]
    fn faults_name_their_place() {
        assert_eq!(
            parse("{\n  a: 1}"),
            Err("expected a key in double quotes (line 2, column 3)".to_owned())
        );
        assert!(parse(&"[".repeat(100_000)).is_err());
        assert!(parse("").is_err());
        assert!(parse("\0").is_err());
    }

    #[test]
    fn objects_are_found_between_prose() {
        assert_eq!(
            found("Sure! {a} \"{\" ```json\n{\"a\": {\"b\": \"}\"}}\n``` and {\"c\": [1, {}]}."),
            [r#"{"a": {"b": "}"}}"#, r#"{"c": [1, {}]}"#]
        );
        assert_eq!(found("{note: {\"score\": 1}}"), [r#"{"score": 1}"#]);
        assert_eq!(found("{\"a\": \"x\\\"}\"}"), ["{\"a\": \"x\\\"}\"}"]);
        assert_eq!(found("no object"), [""; 0]);
    }

    #[test]
    fn a_piece_of_a_cut_object_is_not_an_object() {
        for text in
            ["{\"details\": {\"score\": 1}, \"hits\": [\"", "{\"details\": {\"score\": 1}", "{"]
        {
            let objects = objects_in(text);
            assert!(objects.is_cut, "{text}");
            assert!(objects.complete.is_empty(), "{text}");
        }
    }

    #[test]
    fn a_part_of_a_faulty_object_is_not_an_object() {
        for text in [
            "{\"details\": {\"score\": 1}, \"score\": 0.2,}",
            "{\"details\": {\"score\": 1} \"score\": 0.2}",
            "{\"a\": {\"score\": 1}, b}",
        ] {
            let objects = objects_in(text);
            assert!(objects.complete.is_empty(), "{text}");
            assert_eq!(objects.broken, Some(0), "{text}");
        }
        assert_eq!(found("{\"a\": ?} {\"b\": 1}"), ["{\"b\": 1}"]);
    }

    #[test]
    fn hostile_texts_are_walked_in_linear_time() {
        const SIZE: usize = 1_000_000;
        let pieces = [
            "{",
            "}",
            "{}",
            "{\"",
            "\"{",
            "{\"a\":",
            "{\"a\":[",
            "{\"{\":\":{",
            "[{",
            "\\{\"",
            "{\"a\":1,",
            "{\"\":\"{\",",
        ];
        for piece in pieces {
            let text = piece.repeat(SIZE / piece.len());
            let objects = objects_in(&text);
            assert!(objects.complete.len() <= SIZE / 2, "{piece}");
        }
        let deep = format!("{}{}", "{\"a\":".repeat(200_000), "}".repeat(200_000));
        assert!(objects_in(&deep).complete.len() <= 1);
    }
}
