//! What a test asserts, in words (`FORMAT.md` 12.5).

use crate::access::Prompt;
use crate::assertion::{Assertion, Placed, assertion_from_criteria};
use crate::diagnostic::{Diagnostic, declare_codes};
use crate::model::{Test, Value};

use super::entry::distinct;
use super::{Criteria, Job, Prompts};

declare_codes! {
    PROMPT_PATH_AS_TEXT = "prompt-path-as-text", Warning, Export, r#"The prompt of an llm-judge is a file, and only its path goes out.

## Example
```yaml
name: demo
tests:
  - id: a
    criteria: Is polite
    input: Hi
    assert: [{type: llm-judge, prompt: judges/tone.md}]
```
```md judges/tone.md
Is the answer polite?
```

## Instead
```yaml
name: demo
tests:
  - id: a
    criteria: Is polite
    input: Hi
    assert: [{type: llm-judge, prompt: Is the answer polite?}]
```

## Why
Whoever grades by evals.json sees the path of a file that they may not have. `--inline-prompts` writes the text.
"#;
}

/// All sentences of a test, repeats dropped.
pub(super) fn sentences_of(job: &mut Job<'_>, test: &Test, expected: Option<&str>) -> Vec<String> {
    let criteria = criteria_of(job, test, expected);
    let mut list = Vec::with_capacity(test.assertions.len() + 1);
    let has_criteria = criteria.is_some();
    list.extend(criteria.map(str::to_owned));
    // The list that stands for criteria alone says what criteria say, and goes with them.
    if has_criteria || !is_derived_from_criteria(test) {
        for placed in &test.assertions {
            add(job, &placed.assertion, &mut list);
        }
    }
    distinct(list)
}

/// What goes out; a text that was made from the expected output does not (`FORMAT.md` 15).
fn criteria_of<'t>(job: &Job<'_>, test: &'t Test, expected: Option<&str>) -> Option<&'t str> {
    let criteria = written_criteria(test)?;
    let is_kept = job.options.criteria == Criteria::Kept && !is_copy(job, test, expected);
    is_kept.then_some(criteria)
}

pub(super) fn written_criteria(test: &Test) -> Option<&str> {
    let criteria = test.criteria.as_deref()?.trim();
    (!criteria.is_empty()).then_some(criteria)
}

/// Whether the criteria were made from the expected output when an evals.json was read.
pub(super) fn is_copy(job: &Job<'_>, test: &Test, expected: Option<&str>) -> bool {
    let source = job.suite.metadata.get("source").and_then(Value::as_str);
    source == Some("evals.json") && expected.is_some() && test.criteria.as_deref() == expected
}

/// As an assertion of the author's own it would say no more.
fn is_derived_from_criteria(test: &Test) -> bool {
    let ([only], Some(criteria)) = (test.assertions.as_slice(), &test.criteria) else {
        return false;
    };
    if only.assertion.type_name != "rubrics" || only.name != "criteria" {
        return false;
    }
    let derived = Placed {
        name: only.name.clone(),
        assertion: assertion_from_criteria(criteria.trim().to_owned(), test.span).into(),
    };
    derived.to_value() == only.to_value()
}

fn add(job: &mut Job<'_>, assertion: &Assertion, list: &mut Vec<String>) {
    let from = list.len();
    let members = assertion.check.members();
    if members.is_empty() {
        list.extend(assertion.check.sentences(&assertion.common));
    }
    for member in members {
        add(job, &member.assertion, list);
    }
    if let Some(Prompt::File { file, .. }) = assertion.check.prompt() {
        match file {
            // The prompt is the first sentence of its judge.
            Some(file) if job.options.prompts == Prompts::Inlined && from < list.len() => {
                list[from] = file.text.trim().to_owned();
            }
            _ => report_path(job, assertion),
        }
    }
    if assertion.common.negate {
        for sentence in &mut list[from..] {
            sentence.insert_str(0, "NOT: ");
        }
    }
}

fn report_path(job: &mut Job<'_>, assertion: &Assertion) {
    let place = assertion.common.head;
    if job.told.insert(place) {
        let message = "the prompt of this judge goes out as the path of its file";
        let help = "pass `--inline-prompts` to write the file's text";
        job.report(Diagnostic::new(&PROMPT_PATH_AS_TEXT, place, message).help(help));
    }
}
