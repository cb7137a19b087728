//! `rubrics`: a judge answers every item of a list.

use std::borrow::Cow;
use std::sync::Arc;

use crate::model::{Assertion, Check, CommonOptions, NamedAssertion, RubricItem, Test};
use crate::reader::{Options, ReadResult, Reported};
use crate::source::Span;
use crate::syntax::fields::{Entry, Field, Shape};

use super::kind::{AssertionKind, EntryContext};
use super::llm_judge::JudgeCheck;
use super::rubric_items::{ItemList, read_text_or_items};
use super::subject::FILE;
use super::vote_option::{JUDGE, VOTES, read_votes};

/// Name of the assertion made from the criteria of a test.
const CRITERIA: &str = "criteria";

pub(super) static KIND: AssertionKind = AssertionKind::new(
    "rubrics",
    FIELDS,
    read,
    "A judge answers every item of `rubrics`, and the score is the weighted average. An item with
`score_ranges` is scored from 0 to 10; any other item is satisfied or not. An item with `required`
fails the test when it is missed. A string means a list of one; a bare string in an assert list is
short for it.

```yaml
assert:
  - type: rubrics
    rubrics:
      - Names the best month
      - {id: tone, outcome: Is polite, weight: 2, required: true}
      - id: depth
        score_ranges: {0: Says nothing, 5: Names numbers, 10: Explains them}
  - type: rubrics
    criteria: Answers in one sentence
  - Mentions the year
```

With `votes`, the judge reads the answer several times, and the majority counts.

```yaml
assert:
  - type: rubrics
    rubrics: [Names the best month]
    votes: 3
```

With `file`, the judge reads a file that the agent left in its workspace instead of the answer.

```yaml
workspace: {}
assert:
  - type: rubrics
    rubrics: [Names its sources]
    file: report.md
```
",
)
.also(&["rubric"]);

static FIELDS: &[Field] = &[
    Field::new("rubrics", ITEMS, "what the judge checks or scores").also(&["criteria"]).required(),
    TARGET,
    VOTES,
    JUDGE,
    FILE,
];

/// A string, or a list of items.
pub(super) const ITEMS: Shape = Shape::OneOf(&[Shape::NonEmptyText, Shape::Ref("rubric-checks")]);

pub(super) const TARGET: Field = Field::new(
    "target",
    Shape::NonEmptyText,
    "the target that judges; default: the judge of the case's target",
);

fn read(options: &mut Options<'_, '_, '_>, _: &mut EntryContext<'_>) -> ReadResult<Box<dyn Check>> {
    let target = read_judge(options);
    let votes = read_votes(options);
    let entry = options.require("rubrics")?;
    let items = read_some_items(options, &entry)?;
    let check = JudgeCheck::of_items(items, options.head());
    Ok(Box::new(check.judged_by(target?, votes?)))
}

/// The name of the target that judges.
pub(super) fn read_judge(options: &mut Options<'_, '_, '_>) -> ReadResult<Option<String>> {
    options.optional("target", |options, entry| {
        let target = options.reader.target_name(entry).ok_or(Reported)?;
        Ok(target.value)
    })
}

/// At least one item, or a string that is not blank.
pub(super) fn read_some_items(
    options: &mut Options<'_, '_, '_>,
    entry: &Entry<'_>,
) -> ReadResult<ItemList> {
    let name = entry.key.scalar_text().unwrap_or(entry.field.name);
    let items = read_text_or_items(options.reader, name, entry.value)?;
    if items.list.is_empty() {
        let message = format!("`{name}` is empty");
        let help = "write what the judge must check";
        return Err(options.missing(entry.value.span(), message, help));
    }
    Ok(items)
}

/// A bare string in an assert list.
pub(super) fn from_text(text: String, span: Span) -> Assertion {
    assertion_from_items(vec![RubricItem::from_text(text, 1)], span)
}

/// The `rubrics` of a test, which cannot be negated, so the places of their gates are not needed.
pub(crate) fn assertion_from_items(list: Vec<RubricItem>, span: Span) -> Assertion {
    let gates = Vec::new();
    let items = ItemList { list, gates };
    Assertion {
        type_name: Cow::Borrowed(KIND.name),
        check: Box::new(JudgeCheck::of_items(items, span)),
        common: CommonOptions::defaults(span, span),
    }
}

/// The `criteria` of a test without assertions.
pub(crate) fn assertion_from_criteria(text: String, span: Span) -> Assertion {
    let mut assertion = assertion_from_items(vec![criteria_item(text)], span);
    assertion.common.name = Some(CRITERIA.to_owned());
    assertion
}

/// Adds an assertion about the criteria of a test, which are otherwise only context
/// (`--judge-criteria`).
pub fn judge_criteria(test: &mut Test) {
    let Some(criteria) = &test.criteria else {
        return;
    };
    if test.assertions.iter().any(|named| named.name == CRITERIA) {
        return;
    }
    test.assertions.push(NamedAssertion {
        name: Cow::Borrowed(CRITERIA),
        assertion: Arc::new(assertion_from_criteria(criteria.clone(), test.span.at_start())),
    });
}

/// The criteria of a test as the only item of a judge.
pub(super) fn criteria_item(text: String) -> RubricItem {
    RubricItem { id: CRITERIA.to_owned(), ..RubricItem::from_text(text, 1) }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{read, read_within};
    use super::*;
    use crate::diagnostic::Level;
    use crate::model::{JsonStyle, Value};
    use crate::reader::{ReadPolicy, TargetNames};
    use crate::source::MemoryFiles;

    #[test]
    fn every_form_is_a_list_of_items() {
        let yaml = "- Is kind\n- {type: rubric, criteria: Is brief}\n\
                    - {type: rubrics, rubrics: [Is true, {id: b, criteria: Is new}]}";
        let (assertions, faults) = read(yaml).parts();
        assert_eq!(faults, [""; 0]);
        let sentences: Vec<_> = assertions.iter().map(|a| a.sentences()).collect();
        assert_eq!(sentences, [vec!["Is kind"], vec!["Is brief"], vec!["Is true", "Is new"]]);
        assert!(assertions.iter().all(|a| a.type_name == "rubrics"));
        assert!(assertions.iter().all(|a| a.check.needs_judge()));
    }

    #[test]
    fn what_names_no_item_is_refused() {
        for (options, fault) in [
            ("x-a: 1", "missing-option"),
            ("criteria: ' '", "missing-option"),
            ("rubrics: []", "missing-option"),
            ("rubrics: {outcome: a}", "wrong-type"),
            ("rubrics: 3", "wrong-type"),
            ("rubrics: [a], criteria: b", "conflicting-fields"),
        ] {
            let yaml = format!("- {{type: rubrics, {options}}}");
            assert_eq!(read(&yaml).names(), [fault], "{options}");
        }
    }

    #[test]
    fn a_required_item_under_negate_is_marked() {
        let yaml = "- {type: rubrics, negate: true, rubrics: [{outcome: a, required: 0.5}, b]}";
        let found = read(yaml);
        let faults = &found.diagnostics;
        assert_eq!(faults[0].code.name, "gate-under-negate");
        assert_eq!(found.marked()[0], "0.5");
    }

    #[test]
    fn the_judge_must_be_a_known_target() {
        let yaml = "- {type: rubrics, criteria: a, target: jugde}";
        let with = |targets: TargetNames| {
            let limits = ReadPolicy { targets, ..ReadPolicy::default() };
            let found = read_within(&limits, MemoryFiles::new(), yaml);
            assert_eq!(found.assertions.len(), 1);
            found.diagnostics
        };
        let known = TargetNames::Known {
            names: ["judge".to_owned(), "default".to_owned()].into(),
            file: "/p/.evalrig/targets.yaml".into(),
            skills: Vec::new(),
        };
        let faults = with(known);
        assert_eq!(faults[0].level, Level::BlocksRun);
        assert_eq!(
            faults[0].help.as_deref(),
            Some("`.evalrig/targets.yaml` has `judge`: did you mean that?")
        );
        assert_eq!(with(TargetNames::NoFile)[0].level, Level::Warning);
        assert!(with(TargetNames::Unchecked).is_empty());
    }

    #[test]
    fn the_criteria_of_a_test_is_one_item() {
        let span = read("- a").assertions[0].common.span;
        let assertion = assertion_from_criteria("Greets".to_owned(), span);
        assert_eq!(assertion.common.name.as_deref(), Some("criteria"));
        assert_eq!(
            Value::from(assertion.check.options()).to_json(JsonStyle::Compact),
            r#"{"rubrics":[{"id":"criteria","outcome":"Greets","weight":1,"required":false}]}"#
        );
    }
}
