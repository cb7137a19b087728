//! `trigger-judge`: a skill was used, or was not used.

use std::borrow::Cow;

use crate::diagnostic::{Diagnostic, declare_codes};
use crate::model::{
    Assertion, Call, Check, CommonOptions, Fault, GradingContext, Map, Measurement, Number, Score,
    Step, Trigger,
};
use crate::reader::{Options, ReadResult};
use crate::source::Span;
use crate::syntax::fields::{Field, Shape};

use super::excerpt::excerpt;
use super::finding::{Finding, FindingList};
use super::kind::{AssertionKind, EntryContext};
use super::text_value::empty_value;

declare_codes! {
    DOUBLE_NEGATIVE = "double-negative", Warning, Assertion, r#"A trigger-judge has both `negate: true` and `should_trigger: false`.

## Example
```yaml
name: demo
tests:
  - id: a
    criteria: Analyses the table
    input: What is the mean of column b?
    assert:
      - {type: trigger-judge, skill: csv-analyzer, should_trigger: false, negate: true}
```

## Instead
```yaml
name: demo
tests:
  - id: a
    criteria: Analyses the table
    input: What is the mean of column b?
    assert:
      - {type: trigger-judge, skill: csv-analyzer, should_trigger: true}
```

## Why
The two cancel out: the check expects the skill to be used, although it reads like the opposite.
"#;
}

static FIELDS: &[Field] = &[
    Field::new("skill", Shape::NonEmptyText, "name of the skill").required(),
    Field::new("should_trigger", Shape::Boolean, "whether the skill must be used; default true"),
    Field::new(
        "detection",
        Shape::Choice(Detection::WORDS),
        "which tool calls are checked; default `first-call`",
    ),
    Field::new(
        "runs_per_query",
        Shape::Integer { min: 1, max: u64::MAX },
        "passed on to eval sets",
    ),
    Field::new("trigger_threshold", Shape::Number { min: 0.0, max: 1.0 }, "passed on to eval sets"),
];

pub(super) static KIND: AssertionKind = AssertionKind::new(
    "trigger-judge",
    FIELDS,
    read,
    "The agent used the skill, or with `should_trigger: false` did not use it. A call of `Skill` whose
`skill` argument contains the name counts as use, and so does a call of `Read` whose `file_path` does.
Only the first tool call is checked, unless `detection` is `any-call`. Written as `skill-used`, the
default of `detection` is `any-call`; `not-skill-used` is the opposite.

```yaml
assert:
  - type: trigger-judge
    skill: csv-analyzer
    should_trigger: true
  - type: not-skill-used
    skill: git-commit
```
",
)
.also(&["skill-trigger", ANY_CALL_NAME]);

/// Under this name every tool call is checked by default.
const ANY_CALL_NAME: &str = "skill-used";

crate::words! {
    /// Which tool calls can show that the skill was used.
    #[derive(Default)]
    enum Detection {
        #[default]
        FirstCall = "first-call",
        AnyCall = "any-call",
    }
}

fn read(
    options: &mut Options<'_, '_, '_>,
    context: &mut EntryContext<'_>,
) -> ReadResult<Box<dyn Check>> {
    let skill = read_skill(options);
    let should_trigger = options.boolean("should_trigger");
    let detection = options.choice("detection");
    let runs_per_query = options.integer("runs_per_query", 1, u64::MAX);
    let trigger_threshold = options.number("trigger_threshold", 0.0, 1.0);
    let should_trigger = should_trigger?.unwrap_or(true);
    let is_any_call = options.owner == ANY_CALL_NAME;
    let default = if is_any_call { Detection::AnyCall } else { Detection::default() };
    if context.common.negate && !should_trigger {
        report_double_negative(options);
    }
    Ok(Box::new(TriggerJudge {
        trigger: Trigger { skill: skill?, should_trigger },
        detection: detection?.unwrap_or(default),
        runs_per_query: runs_per_query?,
        trigger_threshold: trigger_threshold?,
    }))
}

/// A trigger from another kind of file, with every default.
pub(crate) fn trigger_assertion(skill: String, should_trigger: bool, span: Span) -> Assertion {
    Assertion {
        type_name: Cow::Borrowed(KIND.name),
        check: Box::new(TriggerJudge {
            trigger: Trigger { skill, should_trigger },
            detection: Detection::default(),
            runs_per_query: None,
            trigger_threshold: None,
        }),
        common: CommonOptions::defaults(span, span),
    }
}

/// A blank name would match nearly every call.
fn read_skill(options: &mut Options<'_, '_, '_>) -> ReadResult<String> {
    let entry = options.require("skill")?;
    let skill = options.text_of("skill", entry.value)?;
    if skill.value.trim().is_empty() {
        return Err(empty_value(options, skill.span, "`skill` is empty", "name the skill"));
    }
    Ok(skill.value)
}

fn report_double_negative(options: &mut Options<'_, '_, '_>) {
    let place = |name: &str| options.get(name).map(|entry| entry.key.span());
    let negate = place("negate").unwrap_or_else(|| options.head());
    let message = "`negate` and `should_trigger: false` cancel out";
    let other = place("should_trigger").unwrap_or(negate);
    options.report(
        Diagnostic::new(&DOUBLE_NEGATIVE, negate, message)
            .related(other, "the other one")
            .help("remove `negate`, and write the `should_trigger` that you mean"),
    );
}

#[derive(Debug)]
struct TriggerJudge {
    /// As written; the caller applies `negate`.
    trigger: Trigger,
    detection: Detection,
    runs_per_query: Option<u64>,
    trigger_threshold: Option<Number>,
}

impl Check for TriggerJudge {
    fn options(&self) -> Map {
        Map::new()
            .with("skill", self.trigger.skill.as_str())
            .with("should_trigger", self.trigger.should_trigger)
            .with("detection", self.detection.word())
            .with_some("runs_per_query", self.runs_per_query)
            .with_some("trigger_threshold", self.trigger_threshold.clone())
    }

    /// Exported as `should_trigger` of the entry instead.
    fn sentences(&self, _: &CommonOptions) -> Vec<String> {
        Vec::new()
    }

    fn trigger(&self) -> Option<&Trigger> {
        Some(&self.trigger)
    }

    fn measures(&self) -> Vec<Measurement> {
        vec![Measurement::ToolCalls]
    }

    fn grade(&self, context: &GradingContext<'_>) -> Step {
        let Some(calls) = context.evidence.transcript.calls.as_deref() else {
            return Fault::not_reported(Measurement::ToolCalls).into();
        };
        let looked_at = match self.detection {
            Detection::FirstCall => &calls[..calls.len().min(1)],
            Detection::AnyCall => calls,
        };
        let triggered = looked_at.iter().any(|call| self.is_shown_by(call));
        let skill = excerpt(&self.trigger.skill);
        let first = calls.first().map_or("none".into(), |call| excerpt(&call.tool));
        let text = if triggered {
            format!("Skill '{skill}' triggered (first call: {first})")
        } else {
            format!("Skill '{skill}' did not trigger (first call: {first})")
        };
        let holds = triggered == self.trigger.should_trigger;
        let mut findings = FindingList::default();
        findings.add(Finding { holds, text });
        findings.marks(Score::when(holds)).into()
    }
}

impl TriggerJudge {
    /// A skill is used through the `Skill` tool, or by reading its file.
    fn is_shown_by(&self, call: &Call) -> bool {
        let argument = match call.tool.as_str() {
            "Skill" => "skill",
            "Read" => "file_path",
            _ => return false,
        };
        let value = call.args.as_map().and_then(|args| args.get(argument));
        value
            .and_then(|value| value.as_str())
            .is_some_and(|text| text.contains(&self.trigger.skill))
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{Trial, read};
    use crate::model::{Call, Map, Transcript};

    fn call(tool: &str, argument: &str, value: &str) -> Call {
        let mut args = Map::new();
        args.insert(argument, value);
        Call::new("", tool, args.into())
    }

    fn trial(options: &str, calls: Option<Vec<Call>>) -> Trial {
        let transcript = Transcript { calls, ..Transcript::of_text("ok") };
        let yaml = format!("- {{type: trigger-judge, skill: csv-analyzer{options}}}");
        Trial::new(&yaml, transcript)
    }

    #[test]
    fn skill_used_looks_at_every_call() {
        let detection = |written: &str| {
            let found = super::super::testing::read(&format!("- {{{written}, skill: x}}"));
            found.options().contains("any-call")
        };
        assert!(detection("type: skill-used"));
        assert!(detection("type: not_skill_used"));
        assert!(!detection("type: skill-used, detection: first-call"));
        assert!(!detection("type: trigger-judge"));
    }

    #[test]
    fn the_examples_of_the_format() {
        let skill = || call("Skill", "skill", "csv-analyzer");
        let read = || call("Read", "file_path", "/s/csv-analyzer/SKILL.md");
        let bash = || call("Bash", "command", "ls");
        for (options, calls, score, text) in [
            ("", vec![skill()], 1.0, "triggered (first call: Skill)"),
            ("", vec![read()], 1.0, "triggered (first call: Read)"),
            ("", vec![bash(), skill()], 0.0, "did not trigger (first call: Bash)"),
            (", detection: any-call", vec![bash(), skill()], 1.0, "triggered (first call: Bash)"),
            (", should_trigger: false", vec![], 1.0, "did not trigger (first call: none)"),
            ("", vec![], 0.0, "did not trigger (first call: none)"),
            (", should_trigger: false", vec![skill()], 0.0, "triggered (first call: Skill)"),
            (", negate: true", vec![skill()], 0.0, "triggered (first call: Skill)"),
        ] {
            let found = trial(options, Some(calls)).marks();
            let text = vec![format!("Skill 'csv-analyzer' {text}")];
            assert_eq!(found.score.value(), score, "{options} {text:?}");
            if score > 0.0 {
                assert_eq!((found.hits, found.misses), (text, vec![]))
            } else {
                assert_eq!((found.hits, found.misses), (vec![], text))
            }
        }
    }

    #[test]
    fn only_the_right_argument_of_the_right_tool_shows_a_skill() {
        for (one, score) in [
            (call("Skill", "skill", "data:csv-analyzer"), 1.0),
            (call("Skill", "skill", "CSV-Analyzer"), 0.0),
            (call("Skill", "name", "csv-analyzer"), 0.0),
            (call("skill", "skill", "csv-analyzer"), 0.0),
            (call("Read", "path", "/s/csv-analyzer/SKILL.md"), 0.0),
            (call("Bash", "skill", "csv-analyzer"), 0.0),
            (Call { args: "csv-analyzer".into(), ..call("Skill", "", "") }, 0.0),
        ] {
            let found = trial(", detection: any-call", Some(vec![one.clone()])).marks();
            assert_eq!(found.score.value(), score, "{one:?}");
        }
    }

    #[test]
    fn calls_that_are_not_reported_are_not_measured() {
        for options in ["", ", should_trigger: false", ", negate: true"] {
            let fault = trial(options, None).fault();
            assert_eq!(fault.message, "not measured: tool calls");
        }
    }

    #[test]
    fn a_skill_must_be_used_by_default() {
        let found = read("- {type: skill-trigger, skill: csv}");
        assert_eq!(
            found.options(),
            r#"{"skill":"csv","should_trigger":true,"detection":"first-call"}"#
        );
        let trigger = found.only().check.trigger().unwrap();
        assert!(trigger.should_trigger && trigger.skill == "csv");
        assert!(found.sentences().is_empty());
    }

    #[test]
    fn what_only_eval_sets_use_is_kept() {
        let found = read(
            "- {type: trigger-judge, skill: csv, detection: any-call, runs_per_query: 3, \
             trigger_threshold: 0.50}",
        );
        assert_eq!(
            found.options(),
            r#"{"skill":"csv","should_trigger":true,"detection":"any-call","runs_per_query":3,"trigger_threshold":0.50}"#
        );
    }

    #[test]
    fn faults_have_their_names() {
        for (options, name) in [
            ("skill: csv, should_trigger: no", "wrong-type"),
            ("skill: csv, detection: last-call", "invalid-option"),
            ("skill: csv, runs_per_query: 0", "out-of-range"),
            ("skill: csv, trigger_threshold: 1.5", "out-of-range"),
            ("skill: ''", "empty-value"),
            ("should_trigger: true", "missing-option"),
        ] {
            let found = read(&format!("- {{type: trigger-judge, {options}}}"));
            assert_eq!(found.names(), [name], "{options}");
        }
    }

    #[test]
    fn two_negatives_are_pointed_out() {
        let found =
            read("- {type: trigger-judge, skill: csv, should_trigger: false, negate: true}");
        assert_eq!(found.names(), ["double-negative"]);
        assert_eq!(found.marked(), ["negate"]);
        let single = read("- {type: trigger-judge, skill: csv, negate: true}");
        assert_eq!(single.names(), [""; 0]);
    }
}
