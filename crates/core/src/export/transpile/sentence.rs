//! The assertions of a test as sentences (spec 12.5).

use std::borrow::Cow;

use crate::diagnostic::{Diagnostic, declare_codes};
use crate::model::{Assertion, JudgePrompt, Map, Test, Value};

use super::super::convert::criteria_from_assertions;
use super::super::fields::is_derived_from_criteria;
use super::entry::distinct;
use super::{CriteriaMode, PromptMode, Transpiler};

declare_codes! {
    PROMPT_PATH_AS_TEXT = "prompt-path-as-text", Warning, Export, r#"The prompt of an llm-judge is a file, and only its path is written.

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
A grader that reads evals.json sees only the path of a file that it may not have. `--inline-prompts` writes the text.
"#;
}

impl Transpiler<'_> {
    /// All sentences of a test without repeats. Criteria copied from the expected output are omitted
    /// (spec 15).
    pub(super) fn sentences_of<'t>(&mut self, test: &'t Test, is_copy: bool) -> Vec<Cow<'t, str>> {
        let is_kept = self.options.criteria == CriteriaMode::Kept && !is_copy;
        let criteria = written_criteria(test).filter(|_| is_kept);
        let mut list = Vec::with_capacity(test.assertions.len() + 3);
        list.extend(criteria.map(Cow::from));
        // Assertions derived from the criteria repeat them, so they are omitted together.
        if criteria.is_some() || !is_derived_from_criteria(test) {
            for named in &test.assertions {
                self.add_sentences(&named.assertion, &mut list);
            }
        }
        distinct(list)
    }

    fn add_sentences(&mut self, assertion: &Assertion, list: &mut Vec<Cow<'_, str>>) {
        let from = list.len();
        let members = assertion.check.members();
        if members.is_empty() {
            let sentences = assertion.check.sentences(&assertion.common);
            list.extend(sentences.into_iter().map(Cow::from));
        }
        for member in members {
            self.add_sentences(&member.assertion, list);
        }
        if let Some(JudgePrompt::File { file, .. }) = assertion.check.prompt() {
            match file {
                // The prompt is the first sentence of its judge.
                Some(file) if self.options.prompts == PromptMode::Inlined && from < list.len() => {
                    list[from] = assertion.common.about(file.text.trim()).into();
                }
                _ => self.report_path(assertion),
            }
        }
        if assertion.common.negate {
            for sentence in &mut list[from..] {
                sentence.to_mut().insert_str(0, "NOT: ");
            }
        }
    }

    fn report_path(&mut self, assertion: &Assertion) {
        let place = assertion.common.head;
        if self.told.insert(place) {
            let message = "the prompt of this judge is written as the path of its file";
            let help = "pass `--inline-prompts` to write the file's text";
            self.faults.push(Diagnostic::new(&PROMPT_PATH_AS_TEXT, place, message).help(help));
        }
    }
}

pub(super) fn written_criteria(test: &Test) -> Option<&str> {
    let criteria = test.criteria.as_deref()?.trim();
    (!criteria.is_empty()).then_some(criteria)
}

/// Whether the criteria were made from the expected output when an evals.json was read, or by
/// `convert`; `suite` is the suite's metadata.
pub(super) fn is_copy(test: &Test, expected: Option<&str>, suite: &Map) -> bool {
    let is_made = |criteria: &str| {
        expected == Some(criteria) || criteria_from_assertions(test).as_deref() == Some(criteria)
    };
    suite.get("source").and_then(Value::as_str) == Some("evals.json")
        && test.criteria.as_deref().is_some_and(is_made)
}
