//! The eval set for `run_eval.py --eval-set` (spec 12.6): an array of the tests with a trigger, the
//! only form that skill-creator reads.

use std::collections::hash_map::Entry as Slot;
use std::collections::{HashMap, HashSet};

use crate::diagnostic::{Diagnostic, declare_codes};
use crate::model::{JsonObject, write_json_list};
use crate::source::{Sources, Span};

use super::{FileContent, OutFile, first_line};

declare_codes! {
    DUPLICATE_QUERY = "duplicate-query", Warning, Export, r#"Two tests of one eval set have the same prompt.

## Example
```yaml
name: demo
tests:
  - id: a
    criteria: Analyses the table
    input: What is the mean of column b?
    assert: [{type: trigger-judge, skill: csv-analyzer, detection: any-call}]
  - id: b
    criteria: Answers in one line
    input: What is the mean of column b?
    assert: [{type: trigger-judge, skill: csv-analyzer, detection: any-call}]
```

## Instead
```yaml
name: demo
tests:
  - id: a
    criteria: Analyses the table
    input: What is the mean of column b?
    assert: [{type: trigger-judge, skill: csv-analyzer, detection: any-call}]
  - id: b
    criteria: Answers in one line
    input: What is the mean of column c?
    assert: [{type: trigger-judge, skill: csv-analyzer, detection: any-call}]
```

## Why
`run_eval.py` counts its runs by the text of the query, so the two would be counted as one.
"#;
}

/// `None` when no test has a trigger.
pub(super) fn file(content: &FileContent<'_>) -> Option<OutFile> {
    let mut members = members(content).peekable();
    members.peek()?;
    let mut text = String::with_capacity(content.capacity());
    write_json_list(&mut text, 0, members, |out, (at, should_trigger)| {
        let entry = content.entries.view(at);
        let mut object = JsonObject::open(out, 1);
        object.text("query", entry.prompt);
        object.boolean("should_trigger", should_trigger);
        object.number("id", content.ids[at]);
        if let Some(expected) = entry.expected_output {
            object.text("expected_output", expected);
        }
        if entry.files.len() > 0 {
            object.row("files", entry.files);
        }
        object.lines(content.list_key, entry.assertions);
        object.close();
    });
    text.push('\n');
    Some(OutFile { name: content.group.set_name.clone(), text })
}

/// The tests with a trigger.
fn members(content: &FileContent<'_>) -> impl Iterator<Item = (usize, bool)> {
    let all = content.group.members.iter();
    all.filter_map(|(at, should_trigger)| Some((*at, (*should_trigger)?)))
}

/// A pair of tests may be in the sets of several skills; it is reported once.
pub(super) fn duplicates(
    content: &FileContent<'_>,
    sources: &Sources,
    told: &mut HashSet<Span>,
) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    let mut seen: HashMap<&str, Span> = HashMap::with_capacity(content.group.members.len());
    for (at, _) in members(content) {
        let entry = content.entries.view(at);
        let first = match seen.entry(entry.prompt) {
            Slot::Vacant(slot) => {
                slot.insert(entry.span);
                continue;
            }
            Slot::Occupied(slot) => *slot.get(),
        };
        let place = first_line(sources, entry.span);
        if told.insert(place) {
            let message = "another test of the eval set has the same prompt";
            let diagnostic = Diagnostic::new(&DUPLICATE_QUERY, place, message)
                .related(first_line(sources, first), "this one")
                .help("ask in other words");
            found.push(diagnostic);
        }
    }
    found
}
