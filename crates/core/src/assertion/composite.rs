//! `composite`: combines several checks into one score (spec 7.16, 8.3).

use std::sync::Arc;

use crate::diagnostic::{Diagnostic, declare_codes};
use crate::model::{
    Assertion, Check, CommonOptions, GradingContext, Map, NamedAssertion, Required, Step, TestView,
    Value,
};
use crate::reader::{Options, ReadResult, Reported};
use crate::source::Span;
use crate::syntax::fields::{Entry, Field, Shape, unknown_field};

use super::aggregator::{self, Aggregation, read_aggregation};
use super::codes::ZERO_WEIGHT;
use super::composite_grade;
use super::kind::{AssertionKind, EntryContext};
use super::read::{COMMON, name_all, read_fraction, read_list, same_name};
use super::subject::faults_in_test;

declare_codes! {
    DUPLICATE_MEMBER_NAME = "duplicate-member-name", Blocking, Assertion, r#"Two members of a composite have the same name.

## Example
```yaml
name: demo
tests:
  - id: a
    criteria: Greets
    input: Hi
    assert:
      - type: composite
        assert:
          - {type: contains, name: greeting, value: Hello}
          - {type: contains, name: greeting, value: Alice}
```

## Instead
```yaml
name: demo
tests:
  - id: a
    criteria: Greets
    input: Hi
    assert:
      - type: composite
        assert:
          - {type: contains, name: greeting, value: Hello}
          - {type: contains, name: user-name, value: Alice}
```

## Why
Weights and gates of the aggregator name members, and a name must mean one of them.
"#;
    COMPOSITE_DEPTH = "composite-depth", Blocking, Assertion, r#"Composites are nested more than 8 deep.

## Example
```yaml
name: demo
tests:
  - id: a
    criteria: Greets
    input: Hi
    assert:
      - {type: composite, assert: [{type: composite, assert: [{type: composite, assert: [
          {type: composite, assert: [{type: composite, assert: [{type: composite, assert: [
            {type: composite, assert: [{type: composite, assert: [{type: composite, assert: [
              {type: contains, value: Hello}]}]}]}]}]}]}]}]}]}
```

## Instead
```yaml
name: demo
tests:
  - id: a
    criteria: Greets
    input: Hi
    assert:
      - {type: composite, assert: [{type: contains, value: Hello}]}
```

## Why
Such a score is impossible to follow, and a file must not be able to exhaust the reader.
"#;
}

/// Maximum nesting of composites.
const DEPTH_LIMIT: usize = 8;

pub(super) static KIND: AssertionKind = AssertionKind::new(
    "composite",
    FIELDS,
    read,
    "Combines several checks into one score. `aggregator` says how: `weighted_average` (the default),
`minimum`, `maximum`, `safety_gate`, `all_or_nothing` or `threshold`.

```yaml
assert:
  - type: composite
    name: release
    aggregator:
      type: safety_gate
      required: [safety]
      weights: {safety: 1, quality: 3}
    assert:
      - {type: contains, name: safety, value: DENIED, negate: true}
      - {type: rubrics, name: quality, criteria: Explains every step}
```
",
)
.also(&["assert-set"]);

static FIELDS: &[Field] = &[
    Field::new("assert", Shape::Ref("assertion-members"), "the members")
        .also(&["assertions", "evaluators"])
        .required(),
    Field::new(
        "aggregator",
        aggregator::SHAPE,
        "how the scores of the members are combined; default `weighted_average`",
    ),
    Field::new(
        "threshold",
        Shape::PositiveFraction,
        "for `assert-set` only: the same as a number in `required`",
    ),
];

fn read(
    options: &mut Options<'_, '_, '_>,
    context: &mut EntryContext<'_>,
) -> ReadResult<Box<dyn Check>> {
    if context.depth >= DEPTH_LIMIT {
        let message = format!("composites are nested more than {DEPTH_LIMIT} deep");
        let fault = Diagnostic::new(&COMPOSITE_DEPTH, options.head(), message)
            .help("move the inner checks into an outer composite");
        return Err(options.report(fault));
    }
    let threshold = read_set_threshold(options, context);
    let entry = options.require("assert")?;
    let members = read_members(options, &entry, context.depth + 1)?;
    let aggregation = read_aggregation(options, &members)?;
    threshold?;
    report_zero_weight(options, &entry, &members, &aggregation)?;
    Ok(Box::new(Composite { members, aggregation }))
}

/// `threshold` beside `type: assert-set` is a gate on the composite itself.
fn read_set_threshold(
    options: &mut Options<'_, '_, '_>,
    context: &mut EntryContext<'_>,
) -> ReadResult<()> {
    let Some(entry) = options.get("threshold") else {
        return Ok(());
    };
    if options.owner != "assert-set" {
        let fault = unknown_field(entry.key, &[FIELDS, COMMON]);
        options
            .report(fault.help("write `required` for a gate, or `aggregator: {type: threshold}`"));
        return Ok(());
    }
    if let Some(required) = options.get("required") {
        return Err(options.spelled_twice(&required, &entry));
    }
    let least = read_fraction(options, &entry)?;
    context.common.required = Required::AtLeast(least);
    context.common.required_at = entry.value.span();
    Ok(())
}

fn read_members(
    options: &mut Options<'_, '_, '_>,
    entry: &Entry<'_>,
    depth: usize,
) -> ReadResult<Vec<NamedAssertion>> {
    let name = entry.key.scalar_text().unwrap_or("assert");
    let list = read_list(options.reader, name, entry.value, depth)?;
    if list.is_empty() {
        let message = format!("`{name}` has no members");
        let help = "add the checks to combine";
        return Err(options.missing(entry.value.span(), message, help));
    }
    let mut clashes = Vec::new();
    let members = name_all(list, |first, second| {
        let headline = "two members are named";
        clashes.push(same_name(&DUPLICATE_MEMBER_NAME, headline, first, second));
    });
    if clashes.is_empty() {
        return Ok(members);
    }
    for clash in clashes {
        options.report(clash);
    }
    Err(Reported)
}

/// An average needs a member that counts.
fn report_zero_weight(
    options: &mut Options<'_, '_, '_>,
    entry: &Entry<'_>,
    members: &[NamedAssertion],
    aggregation: &Aggregation,
) -> ReadResult<()> {
    let all_zero = (0..members.len()).all(|at| aggregation.weight(members, at).is_zero());
    if !all_zero || !aggregation.is_average() {
        return Ok(());
    }
    let place = aggregation.weights_at.unwrap_or(entry.key.span());
    Err(options.report(
        Diagnostic::new(&ZERO_WEIGHT, place, "every member has weight 0")
            .help("give at least one member a weight"),
    ))
}

/// Has at least one member; their names are unique.
#[derive(Debug)]
struct Composite {
    members: Vec<NamedAssertion>,
    aggregation: Aggregation,
}

impl Composite {
    fn assertions(&self) -> impl Iterator<Item = &Arc<Assertion>> {
        self.members.iter().map(|member| &member.assertion)
    }
}

impl Check for Composite {
    fn options(&self) -> Map {
        let members: Vec<Value> = self.members.iter().map(NamedAssertion::to_value).collect();
        Map::new()
            .with("assert", members)
            .with("aggregator", self.aggregation.to_value(&self.members))
    }

    fn sentences(&self, _: &CommonOptions) -> Vec<String> {
        self.assertions().flat_map(|assertion| assertion.sentences()).collect()
    }

    fn diagnostics_in(&self, test: &TestView<'_>, _: Span) -> Vec<Diagnostic> {
        self.assertions()
            .flat_map(|assertion| faults_in_test(assertion, test, assertion.common.span))
            .collect()
    }

    fn gates(&self) -> Vec<Span> {
        let mut gates = Vec::from_iter(self.aggregation.gate_at);
        for assertion in self.assertions() {
            if assertion.common.required.is_gate() {
                gates.push(assertion.common.required_at);
            }
            gates.extend(assertion.check.gates());
        }
        gates
    }

    fn members(&self) -> &[NamedAssertion] {
        &self.members
    }

    fn grade(&self, context: &GradingContext<'_>) -> Step {
        composite_grade::grade(context, &self.members, &self.aggregation)
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::read;
    use super::*;
    use crate::model::JsonStyle;

    #[test]
    fn members_are_there_and_have_names_of_their_own() {
        assert_eq!(read("- {type: composite}").names(), ["missing-option"]);
        assert_eq!(read("- {type: composite, assert: []}").names(), ["missing-option"]);
        let yaml = "- {type: composite, assertions: [{type: script, name: a, script: x}, \
                    {type: script, name: a, script: y}]}";
        assert_eq!(read(yaml).names(), ["duplicate-member-name"]);
        let yaml = "- {type: composite, assert: [{type: script, script: x, weight: 0}]}";
        assert_eq!(read(yaml).names(), ["zero-weight"]);
    }

    #[test]
    fn the_threshold_of_an_assert_set_is_a_gate() {
        let yaml = "- {type: assert-set, threshold: 0.5, assert: [Is brief]}";
        let (assertions, faults) = read(yaml).parts();
        assert_eq!(faults, [""; 0]);
        assert_eq!(assertions[0].common.required.to_value().to_json(JsonStyle::Compact), "0.5");
        assert!(assertions[0].check.needs_judge());
        let yaml = "- {type: assert-set, threshold: 0.5, required: true, assert: [Is brief]}";
        assert_eq!(read(yaml).names(), ["conflicting-fields"]);
    }

    #[test]
    fn gates_under_negate_are_marked_wherever_they_sit() {
        let yaml = "\
- type: composite
  negate: true
  assert:
    - {type: script, script: x, required: 0.9}
    - type: rubrics
      rubrics: [{outcome: Is kind, required: true}]
    - type: composite
      aggregator: {type: safety_gate, required: [code-judge]}
      assert: [{type: script, script: x}]
    - {type: assert-set, threshold: 0.5, assert: [Is brief]}
";
        let found = read(yaml);
        let faults = &found.diagnostics;
        let places = found.marked();
        assert!(faults.iter().all(|fault| fault.code.name == "gate-under-negate"));
        assert_eq!(places, ["0.9", "true", "safety_gate", "0.5"]);
    }

    #[test]
    fn sentences_are_those_of_the_members() {
        let yaml = "- {type: composite, negate: true, assert: [Is kind, \
                    {type: rubrics, negate: true, criteria: Is rude}]}";
        let (assertions, _) = read(yaml).parts();
        assert_eq!(assertions[0].sentences(), ["NOT: Is kind", "NOT: NOT: Is rude"]);
    }

    #[test]
    fn eight_levels_are_deep_enough() {
        let nested = |levels: usize| {
            let open = "{type: composite, assert: [".repeat(levels);
            format!("- {open}Is kind{}", "]}".repeat(levels))
        };
        assert_eq!(read(&nested(8)).names(), [""; 0]);
        assert_eq!(read(&nested(9)).names(), ["composite-depth"]);
        assert_eq!(read(&nested(60)).names(), ["composite-depth"]);
    }

    #[test]
    fn faults_in_a_test_come_from_members_too() {
        let (assertions, _) = read("- {type: composite, assert: [{type: llm-judge}]}").parts();
        let test = TestView {
            id: None,
            criteria: None,
            expected_output: None,
            workspace: None,
            given_skills: None,
            span: assertions[0].common.span,
        };
        let faults = assertions[0].check.diagnostics_in(&test, test.span);
        assert_eq!(faults[0].code.name, "missing-option");
    }
}
