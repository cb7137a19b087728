//! Tests made from what was logged (spec 13.7, import): data in, suite text out. Tests that a
//! suite has already stay as they are; new ones are added behind them.

use crate::model::{Map, Value};
use crate::syntax::{Node, lone_tree, to_yaml};

use super::canonical_yaml::{STYLE, literal_references};

const HEADER: &str = "# Made from `.co/evals` by `evalrig convert`.\n";

/// The criteria of a record without an expectation.
pub(crate) const CRITERIA_PLACEHOLDER: &str = "Not written yet: say what a good answer does";

/// One record as a test.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LoggedTest {
    pub id: String,
    /// What the user says, each with the answer to it; of the last no answer is kept.
    pub turns: Vec<(String, Option<String>)>,
    pub criteria: Option<String>,
}

/// The text of a new suite.
pub fn logged_suite(name: &str, tests: &[LoggedTest]) -> String {
    let mut root = Map::new();
    root.insert("name", name);
    let tests: Vec<Value> = tests.iter().map(test_value).collect();
    root.insert("tests", tests);
    format!("{HEADER}{}", to_yaml(&root.into(), &STYLE))
}

/// The suite with those tests behind its own whose ids it does not have; `None` when it has them
/// all. The reason is for people.
pub fn with_logged_tests(suite: &str, tests: &[LoggedTest]) -> Result<Option<String>, String> {
    let tree = lone_tree(suite.to_owned())?;
    let list = tree.root().get("tests").filter(|list| list.is_sequence());
    let list = list.ok_or("it has no list of `tests`")?;
    let known = ids_in(list);
    let new = tests.iter().filter(|test| !known.contains(&test.id.as_str()));
    let new: Vec<Value> = new.map(test_value).collect();
    if new.is_empty() {
        return Ok(None);
    }
    let last = list.items().last();
    let place = last.filter(|_| !list.is_flow() && !list.is_alias());
    let (at, column) = place
        .and_then(|last| end_of_list(suite, last))
        .ok_or("its `tests` are not written as a list with one `-` for each test")?;
    let added = indented(&to_yaml(&Value::List(new), &STYLE), column);
    let (before, after) = suite.split_at(at);
    let gap = if before.ends_with('\n') { "" } else { "\n" };
    Ok(Some(format!("{before}{gap}{added}{after}")))
}

fn ids_in(list: Node<'_>) -> Vec<&str> {
    let tests = list.items();
    tests.filter_map(|test| test.get("id")?.scalar_text()).collect()
}

/// The ids of the tests in the suite file itself.
pub fn test_ids(suite: &str) -> Vec<String> {
    let Ok(tree) = lone_tree(suite.to_owned()) else {
        return Vec::new();
    };
    let list = tree.root().get("tests").filter(|list| list.is_sequence());
    let ids = list.map(ids_in).unwrap_or_default();
    ids.into_iter().map(str::to_owned).collect()
}

/// Where the line after the last item begins, and the column of its `-`.
fn end_of_list(text: &str, last: Node<'_>) -> Option<(usize, usize)> {
    let span = last.span();
    let (start, end) = (span.start as usize, span.end as usize);
    let line = text[..start].rfind('\n').map_or(0, |at| at + 1);
    let column = text[line..start].rfind('-')?;
    if !text[line..line + column].bytes().all(|byte| byte == b' ') {
        return None;
    }
    let end = text[..end].trim_end().len();
    let next = text[end..].find('\n').map_or(text.len(), |at| end + at + 1);
    Some((next, column))
}

fn indented(yaml: &str, column: usize) -> String {
    let indent = " ".repeat(column);
    let lines = yaml
        .lines()
        .map(|line| if line.is_empty() { "\n".to_owned() } else { format!("{indent}{line}\n") });
    lines.collect()
}

fn test_value(test: &LoggedTest) -> Value {
    let mut map = Map::new();
    map.insert("id", test.id.as_str());
    let criteria = test.criteria.as_deref();
    map.insert("criteria", criteria.unwrap_or(CRITERIA_PLACEHOLDER));
    map.insert("input", input(&test.turns));
    literal_references(map.into())
}

/// A text, or messages that end with the user's last.
fn input(turns: &[(String, Option<String>)]) -> Value {
    if let [(only, _)] = turns {
        return only.as_str().into();
    }
    let mut messages = Vec::new();
    for (asked, reply) in turns {
        messages.push(message("user", asked));
        if let Some(reply) = reply {
            messages.push(message("assistant", reply));
        }
    }
    Value::List(messages)
}

fn message(role: &str, content: &str) -> Value {
    let mut map = Map::new();
    map.insert("role", role);
    map.insert("content", content);
    map.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn test(id: &str, turns: &[(&str, Option<&str>)], criteria: Option<&str>) -> LoggedTest {
        let own = |text: &str| text.to_owned();
        LoggedTest {
            id: own(id),
            turns: turns.iter().map(|(a, b)| (own(a), b.map(own))).collect(),
            criteria: criteria.map(own),
        }
    }

    #[test]
    fn records_become_tests() {
        let tests = [
            test("hi", &[("Hi ${{ X }}", None)], Some("Greets")),
            test("two", &[("one", Some("first")), ("two\nlines", None)], None),
        ];
        let expected = "\
# Made from `.co/evals` by `evalrig convert`.
name: demo
tests:
  - id: hi
    criteria: Greets
    input: Hi $${{ X }}
  - id: two
    criteria: 'Not written yet: say what a good answer does'
    input:
      - role: user
        content: one
      - role: assistant
        content: first
      - role: user
        content: |-
          two
          lines
";
        assert_eq!(logged_suite("demo", &tests), expected);
    }

    #[test]
    fn tests_that_are_there_are_not_touched() {
        let suite = "# mine\nname: demo\ntests:\n- id: hi # keep\n  input: Hi\n  criteria: |\n    Greets\n\n# end\nmetadata: {a: 1}\n";
        let tests =
            [test("hi", &[("other", None)], None), test("new", &[("Hello", None)], Some("Greets"))];
        let expected = "# mine\nname: demo\ntests:\n- id: hi # keep\n  input: Hi\n  criteria: |\n    Greets\n- id: new\n  criteria: Greets\n  input: Hello\n\n# end\nmetadata: {a: 1}\n";
        assert_eq!(with_logged_tests(suite, &tests).unwrap().unwrap(), expected);
        assert_eq!(with_logged_tests(expected, &tests).unwrap(), None);
    }

    #[test]
    fn a_suite_that_cannot_be_added_to_is_refused() {
        let tests = [test("new", &[("Hello", None)], None)];
        for suite in ["name: a\n", "name: a\ntests: cases.yaml\n", "tests: [{id: a}]\n", "a: ["] {
            assert!(with_logged_tests(suite, &tests).is_err(), "{suite}");
        }
        let open = "tests:\n  - id: a\n    input: x";
        let added = with_logged_tests(open, &tests).unwrap().unwrap();
        assert!(added.contains("input: x\n  - id: new\n"), "{added}");
    }
}
