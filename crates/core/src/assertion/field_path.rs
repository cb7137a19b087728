//! Paths such as `a.b[0].c` into a JSON value (spec 7.18).

use std::ops::Range;

use crate::model::Value;

use super::place::character_at;

#[derive(Debug, Clone, PartialEq, Eq)]
enum PathStep {
    /// A key of a mapping; in a list, a key made of digits is an index.
    Key(String),
    Index(usize),
}

/// Has at least one step.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct FieldPath {
    text: String,
    steps: Vec<PathStep>,
}

/// Why a path is invalid, and where.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct PathError {
    pub(super) reason: &'static str,
    pub(super) at: Range<usize>,
}

impl FieldPath {
    pub(super) fn parse(text: &str) -> Result<Self, PathError> {
        let mut parser = FieldPathParser { text, at: root_length(text) };
        let steps = parser
            .steps()
            .map_err(|reason| PathError { reason, at: character_at(text, parser.at) })?;
        Ok(Self { text: text.to_owned(), steps })
    }

    /// As written.
    pub(super) fn text(&self) -> &str {
        &self.text
    }

    pub(super) fn look_up<'v>(&self, value: &'v Value) -> Option<&'v Value> {
        self.steps.iter().try_fold(value, |value, step| match (value, step) {
            (Value::Map(map), PathStep::Key(key)) => map.get(key),
            (Value::List(items), PathStep::Key(key)) => items.get(index(key)?),
            (Value::List(items), PathStep::Index(index)) => items.get(*index),
            _ => None,
        })
    }
}

/// `$` is the whole value in other tools, not a step.
fn root_length(text: &str) -> usize {
    match text.as_bytes() {
        [b'$', b'.', ..] => 2,
        [b'$', b'[', ..] => 1,
        _ => 0,
    }
}

fn index(digits: &str) -> Option<usize> {
    let is_number = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    is_number.then(|| digits.parse().ok()).flatten()
}

struct FieldPathParser<'a> {
    text: &'a str,
    at: usize,
}

impl FieldPathParser<'_> {
    fn rest(&self) -> &str {
        &self.text[self.at..]
    }

    fn steps(&mut self) -> Result<Vec<PathStep>, &'static str> {
        let mut steps = Vec::new();
        // The value itself may be a list.
        if !self.rest().starts_with('[') {
            steps.push(self.key()?);
        }
        loop {
            match self.rest().chars().next() {
                None => return Ok(steps),
                Some('[') => steps.push(self.bracket()?),
                Some('.') => {
                    self.at += 1;
                    steps.push(self.key()?);
                }
                Some(_) => return Err("a dot is missing after `]`"),
            }
        }
    }

    fn key(&mut self) -> Result<PathStep, &'static str> {
        let mut key = String::new();
        while let Some(next) = self.rest().chars().next() {
            match next {
                '.' | '[' => break,
                ']' => return Err("this bracket was never opened"),
                '\\' if self.rest().starts_with("\\.") => {
                    key.push('.');
                    self.at += 2;
                }
                other => {
                    key.push(other);
                    self.at += other.len_utf8();
                }
            }
        }
        if key.is_empty() { Err("a name is missing") } else { Ok(PathStep::Key(key)) }
    }

    fn bracket(&mut self) -> Result<PathStep, &'static str> {
        let inside = &self.rest()[1..];
        let Some(length) = inside.find(']') else {
            return Err("this bracket is never closed");
        };
        match index(&inside[..length]) {
            Some(index) => {
                self.at += length + 2;
                Ok(PathStep::Index(index))
            }
            None => Err("only a number can be in brackets"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::JsonStyle;
    use crate::syntax::json_value;

    fn look_up(path: &str) -> Option<String> {
        let value = json_value(
            r#"{"a":{"b":[{"c":1},{"c":2}],"0":"zero"},"x.y":3,"$":4,"n":null,"l":[[5]]}"#,
        )
        .unwrap();
        let path = FieldPath::parse(path).unwrap();
        path.look_up(&value).map(|found| found.to_json(JsonStyle::Compact))
    }

    #[test]
    fn steps_lead_into_mappings_and_lists() {
        for (path, found) in [
            ("a.b[1].c", Some("2")),
            ("a.b.1.c", Some("2")),
            ("$.a.b[0].c", Some("1")),
            ("a.0", Some("\"zero\"")),
            (r"x\.y", Some("3")),
            ("$", Some("4")),
            ("n", Some("null")),
            ("l[0][0]", Some("5")),
            ("a[0]", None),
            ("a.b[2]", None),
            ("a.b.+1", None),
            ("n.x", None),
            ("missing", None),
        ] {
            assert_eq!(look_up(path).as_deref(), found, "{path}");
        }
    }

    #[test]
    fn the_value_itself_may_be_a_list() {
        let list = json_value("[7]").unwrap();
        for path in ["[0]", "$[0]", "0"] {
            let path = FieldPath::parse(path).unwrap();
            assert!(path.look_up(&list).is_some(), "{path:?}");
        }
    }

    #[test]
    fn faults_have_a_place() {
        for (path, reason, at) in [
            ("", "a name is missing", 0..0),
            ("$.", "a name is missing", 1..2),
            ("a..b", "a name is missing", 2..3),
            (".a", "a name is missing", 0..1),
            ("a.", "a name is missing", 1..2),
            ("a.[0]", "a name is missing", 2..3),
            ("a[0", "this bracket is never closed", 1..2),
            ("a[x]", "only a number can be in brackets", 1..2),
            ("a[-1]", "only a number can be in brackets", 1..2),
            ("a[99999999999999999999999]", "only a number can be in brackets", 1..2),
            ("a[0]b", "a dot is missing after `]`", 4..5),
            ("a]", "this bracket was never opened", 1..2),
        ] {
            let fault = FieldPath::parse(path).unwrap_err();
            assert_eq!((fault.reason, fault.at), (reason, at), "{path}");
        }
    }
}
