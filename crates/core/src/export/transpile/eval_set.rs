//! The eval set: what `run_eval.py --eval-set` takes (`FORMAT.md` 12.6). An array of the tests with a
//! trigger; skill-creator cannot read anything else.

use std::collections::HashMap;
use std::collections::hash_map::Entry as Slot;

use crate::diagnostic::{Diagnostic, declare_codes};

use super::entry::Entry;
use super::json_text::{Object, list};
use super::skills::Group;
use super::{Job, OutFile, first_line};

declare_codes! {
    DUPLICATE_QUERY = "duplicate-query", Warning, Export, r#"Two tests of one eval set ask the same.

## Example
```yaml
name: demo
tests:
  - id: a
    criteria: Analyses the table
    input: What is the mean of column b?
    assert: [{type: trigger-judge, skill: csv-analyzer}]
  - id: b
    criteria: Answers in one line
    input: What is the mean of column b?
    assert: [{type: trigger-judge, skill: csv-analyzer}]
```

## Instead
```yaml
name: demo
tests:
  - id: a
    criteria: Analyses the table
    input: What is the mean of column b?
    assert: [{type: trigger-judge, skill: csv-analyzer}]
  - id: b
    criteria: Answers in one line
    input: What is the mean of column c?
    assert: [{type: trigger-judge, skill: csv-analyzer}]
```

## Why
`run_eval.py` counts its runs by the text of the query, so the two would be counted as one.
"#;
}

/// `None` when no test has a trigger.
pub(super) fn file(job: &mut Job<'_>, group: &Group, entries: &[Entry]) -> Option<OutFile> {
    let members: Vec<(&Entry, bool)> = group
        .members
        .iter()
        .filter_map(|(at, should_trigger)| Some((&entries[*at], (*should_trigger)?)))
        .collect();
    if members.is_empty() {
        return None;
    }
    report_duplicates(job, &members);
    let key = job.options.audience.list_key();
    let mut text = String::new();
    list(
        &mut text,
        0,
        members.into_iter(),
        |out, (entry, should_trigger)| {
            let mut object = Object::open(out, 1);
            object.text("query", &entry.prompt);
            object.boolean("should_trigger", should_trigger);
            object.plain("id", &entry.id.to_string());
            if let Some(expected) = &entry.expected_output {
                object.text("expected_output", expected);
            }
            if !entry.files.is_empty() {
                object.row("files", &entry.files);
            }
            object.lines(key, &entry.assertions);
            object.close();
        },
    );
    text.push('\n');
    Some(OutFile {
        name: group.set_name.clone(),
        text,
    })
}

fn report_duplicates(job: &mut Job<'_>, members: &[(&Entry, bool)]) {
    let mut seen: HashMap<&str, &Entry> = HashMap::with_capacity(members.len());
    for (entry, _) in members {
        let first = match seen.entry(&entry.prompt) {
            Slot::Vacant(slot) => {
                slot.insert(entry);
                continue;
            }
            Slot::Occupied(slot) => *slot.get(),
        };
        let sources = job.context.sources;
        let place = first_line(sources, entry.span);
        // A test may be in the sets of several skills, beside the same other test.
        if job.told.insert(place) {
            let message = "another test of the eval set has the same prompt";
            let diagnostic = Diagnostic::new(&DUPLICATE_QUERY, place, message)
                .related(first_line(sources, first.span), "this one")
                .help("ask in other words");
            job.report(diagnostic);
        }
    }
}
