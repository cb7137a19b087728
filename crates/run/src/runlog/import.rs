//! Converts records to tests. The expected answer of a record becomes the criteria.

use evalrig_core::declare_codes;

use super::store::Record;
use super::summary::RecordSummary;

declare_codes! {
    IMPORT_NEEDS_CRITERIA = "import-needs-criteria", Warning, Conformance, r#"A test was made from a record without an expected result.

## Example
```text
evalrig convert .co/evals -o EVAL.yaml, and a record whose last turn has `expected: ''`
```

## Instead
```text
evalrig log expect say_hello_to_alice "Greets Alice by name", then convert again
```

## Why
A logged run shows what an agent did, not what it should do. The test gets a placeholder as its
`criteria`; replace it before you rely on the test.
"#;
}

/// A record as a test.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecordTest {
    /// The slug.
    pub id: String,
    /// The user messages in order. All but the last have their answers.
    pub turns: Vec<(String, Option<String>)>,
    /// The expected answer to the last turn.
    pub expected: Option<String>,
}

impl RecordTest {
    /// `None` when the record has no turns.
    pub fn of(record: &Record) -> Option<Self> {
        let summary = &record.summary;
        let (last, before) = summary.turns.split_last()?;
        let mut turns = Vec::with_capacity(summary.turns.len());
        for turn in before {
            let reply = turn.now.output().filter(|text| !text.is_empty());
            turns.push((turn.input.clone(), reply.map(str::to_owned)));
        }
        turns.push((last.input.clone(), None));
        Some(Self { id: record.name.clone(), turns, expected: expected(summary) })
    }
}

/// From the last turn, or from the root of a `co eval` file.
fn expected(summary: &RecordSummary) -> Option<String> {
    let of_turn = summary.turns.last().map(|turn| turn.now.expected());
    let filled = |text: &&str| !text.trim().is_empty();
    let found = of_turn.filter(filled);
    let found = found.or_else(|| summary.expected().filter(filled));
    found.map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn test(text: &str) -> Option<RecordTest> {
        RecordTest::of(&Record {
            name: "a".to_owned(),
            file: "a.yaml".into(),
            summary: RecordSummary::read(text.as_bytes().to_vec()).unwrap(),
        })
    }

    #[test]
    fn the_last_turn_has_the_expected_answer() {
        let read = test(
            "turns:\n- {input: one, output: first, expected: no}\n- {input: two, output: x, expected: yes}\n",
        )
        .unwrap();
        assert_eq!(read.expected.as_deref(), Some("yes"));
        let first = ("one".to_owned(), Some("first".to_owned()));
        assert_eq!(read.turns, [first, ("two".to_owned(), None)]);
    }

    #[test]
    fn a_co_eval_file_may_expect_something_of_the_conversation() {
        let read = test("agent: a.py\nexpected: all well\nturns:\n- input: one\n").unwrap();
        assert_eq!(read.expected.as_deref(), Some("all well"));
        assert_eq!(test("name: a\nturns: []\n"), None);
    }
}
