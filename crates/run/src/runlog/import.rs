//! Records as tests: the log is a suite as soon as somebody says what is expected.

use evalrig_core::declare_codes;

use super::store::Record;
use super::summary::Summary;

declare_codes! {
    IMPORT_NEEDS_CRITERIA = "import-needs-criteria", Warning, Conformance, r#"A test was made from a record of which nobody has said what is expected.

## Example
```text
evalrig convert .co/evals -o EVAL.yaml, and a record whose last turn has `expected: ''`
```

## Instead
```text
evalrig log expect say_hello_to_alice "Greets Alice by name", then convert again
```

## Why
A run that is logged says what an agent did, not what it should do. The test gets a placeholder for
its `criteria`, which nobody should take for a check.
"#;
}

/// What a record says of a test.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecordTest {
    /// The slug.
    pub id: String,
    /// What the user says, in order, each with the answer to it; the last without.
    pub turns: Vec<(String, Option<String>)>,
    /// What somebody expects of the last turn.
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
        Some(Self {
            id: record.name.clone(),
            turns,
            expected: expected(summary),
        })
    }
}

/// Of the last turn; a `co eval` file may say it of the whole conversation.
fn expected(summary: &Summary) -> Option<String> {
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
            summary: Summary::read(text.as_bytes().to_vec()).unwrap(),
        })
    }

    #[test]
    fn the_last_turn_says_what_is_expected() {
        let read = test(
            "turns:\n- {input: one, output: first, expected: no}\n- {input: two, output: x, expected: yes}\n",
        )
        .unwrap();
        assert_eq!(read.expected.as_deref(), Some("yes"));
        let first = ("one".to_owned(), Some("first".to_owned()));
        assert_eq!(read.turns, [first, ("two".to_owned(), None)]);
    }

    #[test]
    fn a_file_of_co_eval_may_expect_something_of_the_whole() {
        let read = test("agent: a.py\nexpected: all well\nturns:\n- input: one\n").unwrap();
        assert_eq!(read.expected.as_deref(), Some("all well"));
        assert_eq!(test("name: a\nturns: []\n"), None);
    }
}
