//! `trigger-judge`: a skill was used, or was not used.

use std::borrow::Cow;

use crate::diagnostic::{Diagnostic, declare_codes};
use crate::model::{
    Assertion, Call, Check, CommonOptions, Evidence, EvidencePart, Fault, FaultKind, Grade,
    GradingContext, Map, Measurement, Score, Skill, SkillUse, SkillUseKind, Stage, Step, TestView,
    Trigger, Value,
};
use crate::reader::{Options, ReadResult};
use crate::source::{Span, Spanned};
use crate::syntax::fields::{Field, Shape, shorten};

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
      - {type: trigger-judge, skill: csv-analyzer, detection: any-call, should_trigger: false, negate: true}
```

## Instead
```yaml
name: demo
tests:
  - id: a
    criteria: Analyses the table
    input: What is the mean of column b?
    assert:
      - {type: trigger-judge, skill: csv-analyzer, detection: any-call, should_trigger: true}
```

## Why
The two cancel out: the check expects the skill to be used, although it reads like the opposite.
"#;
    UNKNOWN_SKILL = "unknown-skill", Warning, Assertion, r#"A trigger-judge names a skill that the agent is never given: the suite, its arms and the targets give it
skills, and none of them, nor a skill beside them, has this name.

## Example
```yaml
name: demo
skills: [./skills/csv]
tests:
  - id: a
    criteria: Answers from memory
    input: What is a CSV file?
    assert:
      - {type: not-skill-used, skill: cvs}
```
```markdown skills/csv/SKILL.md
---
name: csv
description: Reads CSV files
---
```

## Instead
```yaml
name: demo
skills: [./skills/csv]
tests:
  - id: a
    criteria: Answers from memory
    input: What is a CSV file?
    assert:
      - {type: not-skill-used, skill: csv}
```
```markdown skills/csv/SKILL.md
---
name: csv
description: Reads CSV files
---
```

## Why
A skill of another name is never used, so that a check with `should_trigger: false` passes whatever the agent
does.
"#;
}

/// Reason of a grade that was skipped because the arm lacks the skill.
pub const NOT_IN_THIS_ARM: &str = "not in this arm";

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
        "how many times the test is run, unless `--trials` is given",
    ),
    Field::new(
        "trigger_threshold",
        Shape::Number { min: 0.0, max: 1.0 },
        "minimum share of trials that use the skill for it to count as used; default 0.5",
    ),
];

pub(super) static KIND: AssertionKind = AssertionKind::new(
    "trigger-judge",
    FIELDS,
    read,
    "The agent used the skill, or with `should_trigger: false` did not use it. What counts as use is the
rule of each agent: its tool for skills, or reading `SKILL.md`. Names are compared as a whole, and a
call that was refused or failed is not a use. With `detection: first-call` the first tool call must be
the use; with `any-call`, and whenever the skill must not be used, every call counts. Written as
`skill-used`, the default of `detection` is `any-call`; `not-skill-used` is the opposite.

With `runs_per_query` the test runs that often, and passes if the share of trials that used the skill
reaches `trigger_threshold` (with `should_trigger: false`: stays below it).

```yaml
assert:
  - type: trigger-judge
    skill: csv-analyzer
    detection: any-call
    runs_per_query: 3
  - type: not-skill-used
    skill: git-commit
```
",
)
.also(&["skill-trigger", ANY_CALL_NAME]);

/// Names of skills in a message.
const MOST_NAMED: usize = 8;

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
    let (skill, should_trigger) = (skill?, should_trigger?.unwrap_or(true));
    let is_any_call = options.owner == ANY_CALL_NAME;
    let default = if is_any_call { Detection::AnyCall } else { Detection::default() };
    if context.common.negate && !should_trigger {
        report_double_negative(options);
    }
    Ok(Box::new(TriggerJudge {
        trigger: Trigger {
            skill: skill.value,
            should_trigger,
            runs_per_query: runs_per_query?,
            threshold: trigger_threshold?,
        },
        skill_span: skill.span,
        detection: detection?.unwrap_or(default),
    }))
}

/// A trigger from another kind of file. What a skill needs first does not make it unused, so any call
/// counts.
pub(crate) fn trigger_assertion(skill: String, should_trigger: bool, span: Span) -> Assertion {
    Assertion {
        type_name: Cow::Borrowed(KIND.name),
        check: Box::new(TriggerJudge {
            trigger: Trigger::new(skill, should_trigger),
            skill_span: span,
            detection: Detection::AnyCall,
        }),
        common: CommonOptions::defaults(span, span),
    }
}

/// A blank name would match nearly every call.
fn read_skill(options: &mut Options<'_, '_, '_>) -> ReadResult<Spanned<String>> {
    let entry = options.require("skill")?;
    let skill = options.text_of("skill", entry.value)?;
    if skill.value.trim().is_empty() {
        return Err(empty_value(options, skill.span, "`skill` is empty", "name the skill"));
    }
    Ok(skill)
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
    skill_span: Span,
    detection: Detection,
}

impl Check for TriggerJudge {
    fn options(&self) -> Map {
        Map::new()
            .with("skill", self.trigger.skill.as_str())
            .with("should_trigger", self.trigger.should_trigger)
            .with("detection", self.detection.word())
            .with_some("runs_per_query", self.trigger.runs_per_query)
            .with_some("trigger_threshold", self.trigger.threshold.clone())
    }

    /// Exported as `should_trigger` of the entry instead.
    fn sentences(&self, _: &CommonOptions) -> Vec<String> {
        Vec::new()
    }

    fn diagnostics_in(&self, test: &TestView<'_>, _: Span) -> Vec<Diagnostic> {
        let given = test.given_skills.filter(|given| !self.is_in(given));
        given.map(|given| self.unknown_skill(given)).into_iter().collect()
    }

    fn trigger(&self) -> Option<&Trigger> {
        Some(&self.trigger)
    }

    fn parts(&self) -> Vec<EvidencePart> {
        if self.trigger.should_trigger { vec![EvidencePart::Calls] } else { Vec::new() }
    }

    fn measures(&self) -> Vec<Measurement> {
        vec![Measurement::SkillUse]
    }

    /// A use decides, whether it is expected or not; without one only the first call can.
    fn is_decided(&self, common: &CommonOptions, calls: &[Call], uses: &[SkillUse]) -> bool {
        let is_expected = self.trigger.should_trigger != common.negate;
        let found = Found::of(self.trigger.skill_name(), uses);
        let is_first_over = calls.first().is_some_and(|call| call.is_error.is_some());
        match self.detection {
            Detection::FirstCall if is_expected => found.first_call || is_first_over,
            _ => found.any_use.is_some(),
        }
    }

    fn grade(&self, context: &GradingContext<'_>) -> Step {
        if self.is_void(context.evidence) {
            return Grade::Skipped(NOT_IN_THIS_ARM.to_owned()).into();
        }
        let transcript = context.evidence.transcript;
        let Some(uses) = transcript.skills.used.as_deref() else {
            return Fault::not_reported(Measurement::SkillUse).into();
        };
        let found = Found::of(self.trigger.skill_name(), uses);
        let is_expected = self.trigger.should_trigger != context.common.negate;
        if found.any_use.is_none()
            && let Some(fault) = self.not_offered(context.evidence, is_expected)
        {
            return fault.into();
        }
        let triggered = match self.detection {
            Detection::FirstCall if is_expected => found.first_call,
            _ => found.any_use.is_some(),
        };
        let calls = transcript.calls.as_deref().unwrap_or_default();
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
        let mut marks = findings.marks(Score::when(holds));
        marks.reasoning = found.explain(calls);
        marks.details = Some(found.details());
        marks.into()
    }
}

impl TriggerJudge {
    fn is_in(&self, names: &[String]) -> bool {
        let own = self.trigger.skill_name();
        names.iter().any(|name| Skill::bare_name(name) == own)
    }

    fn unknown_skill(&self, given: &[String]) -> Diagnostic {
        let name = self.trigger.skill_name();
        let message = format!("no skill that the agent is given is named `{}`", shorten(name));
        let known = format!("the skills are {}", given.join(", "));
        let known = if given.len() > MOST_NAMED { "see `skills`".to_owned() } else { known };
        let diagnostic = Diagnostic::new(&UNKNOWN_SKILL, self.skill_span, message);
        diagnostic.suggest(name, given.iter().map(String::as_str), known)
    }

    /// Whether the case runs in an arm that does not have the skill.
    fn is_void(&self, evidence: &Evidence<'_>) -> bool {
        evidence.arm.is_some() && evidence.given_skills.is_some_and(|given| !self.is_in(given))
    }

    /// A skill that the agent did not know cannot be used, which says nothing about the skill.
    fn not_offered(&self, evidence: &Evidence<'_>, is_expected: bool) -> Option<Fault> {
        let offered = evidence.transcript.skills.offered.as_ref()?;
        let is_offered = self.is_in(offered);
        let was_to_be_offered = match evidence.given_skills {
            Some(given) => self.is_in(given),
            None => is_expected,
        };
        if is_offered || !was_to_be_offered {
            return None;
        }
        let skill = excerpt(&self.trigger.skill);
        let names = excerpt(&offered.join(", ")).into_owned();
        let names = if names.is_empty() { "no skills".to_owned() } else { names };
        let message = format!("the agent was not offered the skill `{skill}`; it knows {names}");
        Some(Fault::new(Stage::Measure, FaultKind::NotOffered, message))
    }
}

/// What a transcript says about one skill.
#[derive(Debug)]
struct Found<'a> {
    /// The first use.
    any_use: Option<&'a SkillUse>,
    /// Whether the first tool call, or the prompt before it, is a use.
    first_call: bool,
    /// The first call that was refused or failed.
    failed: Option<&'a SkillUse>,
    /// The first use of another skill.
    other: Option<&'a SkillUse>,
}

impl<'a> Found<'a> {
    fn of(skill: &str, uses: &'a [SkillUse]) -> Self {
        let own = || uses.iter().filter(|one| Skill::bare_name(&one.name) == skill);
        let is_first = |one: &SkillUse| {
            let is_explicit = one.how == SkillUseKind::Explicit;
            is_explicit || (one.call == Some(0) && !one.subagent)
        };
        Self {
            any_use: own().find(|one| one.ok),
            first_call: own().any(|one| one.ok && is_first(one)),
            failed: own().find(|one| !one.ok),
            other: uses.iter().find(|one| one.ok && Skill::bare_name(&one.name) != skill),
        }
    }

    fn details(&self) -> Map {
        let call = self.any_use.and_then(|one| one.call);
        Map::new()
            .with("firstCall", self.first_call)
            .with("anyCall", self.any_use.is_some())
            .with("call", call.map_or(Value::Null, |at| Value::from(at as u64)))
    }

    /// What the text does not say: that a use came late, by a sub-agent or by the prompt, that the call
    /// failed, or that another skill was used.
    fn explain(&self, calls: &[Call]) -> Option<String> {
        let shown = |one: &SkillUse| {
            let at = one.call?;
            let tool = calls.get(at).map_or("unknown".into(), |call| excerpt(&call.tool));
            Some(format!("call {} ({tool})", at + 1))
        };
        match (self.any_use, self.failed) {
            (Some(one), _) if one.how == SkillUseKind::Explicit => {
                Some("the prompt names the skill".to_owned())
            }
            (Some(one), _) if one.subagent => {
                let started = shown(one).map(|call| format!(", started by {call}"));
                Some(format!("used by a sub-agent{}", started.unwrap_or_default()))
            }
            (Some(one), _) if !self.first_call => Some(format!("used by {}", shown(one)?)),
            (None, Some(one)) => Some(format!("{} was refused or failed", shown(one)?)),
            (None, None) => {
                self.other.map(|one| format!("skill '{}' was used instead", excerpt(&one.name)))
            }
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{Trial, read};
    use super::NOT_IN_THIS_ARM;
    use crate::model::{
        Call, FaultKind, Grade, JsonStyle, Map, SkillEvents, SkillUse, SkillUseKind, Transcript,
        Value,
    };

    /// A call of the tool for skills; no name is another tool.
    fn calls(skills: &[&str]) -> Vec<Call> {
        let tool = |skill: &&str| if skill.is_empty() { "Bash" } else { "Skill" };
        skills.iter().map(|skill| Call::new("", tool(skill), Map::new().into())).collect()
    }

    fn used(name: &str, call: usize) -> SkillUse {
        let how = SkillUseKind::Tool;
        SkillUse { name: name.to_owned(), how, ok: true, call: Some(call), subagent: false }
    }

    fn transcript(skills: &[&str]) -> Transcript {
        let uses = skills.iter().enumerate().filter(|(_, name)| !name.is_empty());
        let uses = uses.map(|(at, name)| used(name, at)).collect();
        Transcript {
            calls: Some(calls(skills)),
            skills: SkillEvents { offered: None, used: Some(uses) },
            ..Transcript::of_text("ok")
        }
    }

    fn trial(options: &str, transcript: Transcript) -> Trial {
        let yaml = format!("- {{type: trigger-judge, skill: csv-analyzer{options}}}");
        Trial::new(&yaml, transcript)
    }

    fn details(trial: &Trial) -> String {
        Value::from(trial.marks().details.unwrap()).to_json(JsonStyle::Compact)
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
        let skill = "csv-analyzer";
        for (options, calls, score, text) in [
            ("", &[skill][..], 1.0, "triggered (first call: Skill)"),
            ("", &["csv-analyzer-pro"], 0.0, "did not trigger (first call: Skill)"),
            ("", &["", skill], 0.0, "did not trigger (first call: Bash)"),
            (", detection: any-call", &["", skill], 1.0, "triggered (first call: Bash)"),
            (", should_trigger: false", &[], 1.0, "did not trigger (first call: none)"),
            (", should_trigger: false", &["", skill], 0.0, "triggered (first call: Bash)"),
            (", negate: true", &["", skill], 0.0, "triggered (first call: Bash)"),
            ("", &[], 0.0, "did not trigger (first call: none)"),
            (", should_trigger: false", &[skill], 0.0, "triggered (first call: Skill)"),
            (", negate: true", &[skill], 0.0, "triggered (first call: Skill)"),
            (", should_trigger: false", &["csv"], 1.0, "did not trigger (first call: Skill)"),
        ] {
            let found = trial(options, transcript(calls)).marks();
            let other = calls.iter().find(|name| !name.is_empty() && **name != skill);
            let is_missing = !calls.contains(&skill);
            let told = other.filter(|_| is_missing);
            let told = told.map(|name| format!("skill '{name}' was used instead"));
            assert!(!is_missing || found.reasoning == told, "{:?}", found.reasoning);
            let text = vec![format!("Skill 'csv-analyzer' {text}")];
            assert_eq!(found.score.value(), score, "{options} {calls:?}");
            if score > 0.0 {
                assert_eq!((found.hits, found.misses), (text, vec![]))
            } else {
                assert_eq!((found.hits, found.misses), (vec![], text))
            }
        }
    }

    #[test]
    fn the_name_of_a_plugin_does_not_matter() {
        let of = |written: &str, transcript: Transcript| {
            let yaml =
                format!("- {{type: trigger-judge, skill: '{written}', should_trigger: false}}");
            Trial::new(&yaml, transcript).marks().score.value()
        };
        for written in ["csv", "data:csv", "other:csv"] {
            assert_eq!(of(written, transcript(&["csv"])), 0.0, "{written}");
        }
        assert_eq!(of("data:csv", transcript(&["data"])), 1.0);
        assert_eq!(of("data:csv", offering(&["csv"])), 1.0, "offered, and not used");
    }

    #[test]
    fn both_detections_are_written() {
        let late = trial("", transcript(&["", "csv-analyzer"]));
        assert_eq!(details(&late), r#"{"firstCall":false,"anyCall":true,"call":1}"#);
        assert_eq!(late.marks().reasoning.as_deref(), Some("used by call 2 (Skill)"));
        let first = trial("", transcript(&["csv-analyzer"]));
        assert_eq!(details(&first), r#"{"firstCall":true,"anyCall":true,"call":0}"#);
        assert_eq!(first.marks().reasoning, None);
        let none = trial("", transcript(&[""]));
        assert_eq!(details(&none), r#"{"firstCall":false,"anyCall":false,"call":null}"#);
    }

    #[test]
    fn a_refused_call_is_not_a_use() {
        let mut refused = transcript(&["csv-analyzer"]);
        refused.skills.used = Some(vec![SkillUse { ok: false, ..used("csv-analyzer", 0) }]);
        let found = trial("", refused.clone()).marks();
        assert_eq!(found.score.value(), 0.0);
        assert_eq!(found.reasoning.as_deref(), Some("call 1 (Skill) was refused or failed"));
        assert_eq!(trial(", should_trigger: false", refused).marks().score.value(), 1.0);
    }

    #[test]
    fn a_use_by_a_sub_agent_or_by_the_prompt_counts() {
        let mut sub = transcript(&[""]);
        sub.skills.used = Some(vec![SkillUse { subagent: true, ..used("csv-analyzer", 0) }]);
        for (options, score) in
            [(", detection: any-call", 1.0), ("", 0.0), (", should_trigger: false", 0.0)]
        {
            let found = trial(options, sub.clone()).marks();
            assert_eq!(found.score.value(), score, "{options}");
            let reason = "used by a sub-agent, started by call 1 (Bash)";
            assert_eq!(found.reasoning.as_deref(), Some(reason));
        }
        let mut named = transcript(&[]);
        let explicit = SkillUseKind::Explicit;
        named.skills.used =
            Some(vec![SkillUse { how: explicit, call: None, ..used("csv-analyzer", 0) }]);
        let found = trial("", named);
        assert_eq!(found.marks().score.value(), 1.0);
        assert_eq!(details(&found), r#"{"firstCall":true,"anyCall":true,"call":null}"#);
    }

    /// Of an agent that names the skills it knows, and uses none.
    fn offering(names: &[&str]) -> Transcript {
        let mut transcript = transcript(&[""]);
        let names = names.iter().map(|name| (*name).to_owned());
        transcript.skills.offered = Some(names.collect());
        transcript
    }

    #[test]
    fn a_skill_that_the_agent_did_not_know_is_not_measured() {
        let fault = trial("", offering(&["pdf", "csv"])).fault();
        assert_eq!(fault.kind, FaultKind::NotOffered);
        let message = "the agent was not offered the skill `csv-analyzer`; it knows pdf, csv";
        assert_eq!(fault.message, message);
        assert!(trial("", offering(&[])).fault().message.ends_with("it knows no skills"));
        let known = trial("", offering(&["csv-analyzer"]));
        assert_eq!(known.marks().score.value(), 0.0);
        let unwanted = || trial(", should_trigger: false", offering(&[]));
        assert_eq!(unwanted().marks().score.value(), 1.0);
        let given = vec!["csv-analyzer".to_owned()];
        let fault = Trial { given_skills: Some(given), ..unwanted() }.fault();
        assert_eq!(fault.kind, FaultKind::NotOffered);
        let not_given = Trial { given_skills: Some(Vec::new()), ..trial("", offering(&[])) };
        assert_eq!(not_given.marks().score.value(), 0.0);
    }

    #[test]
    fn a_skill_that_the_arm_does_not_have_is_not_judged() {
        let without = || Trial { given_skills: Some(Vec::new()), ..trial("", offering(&[])) };
        assert_eq!(without().marks().score.value(), 0.0);
        let grade = Trial { arm: Some("without"), ..without() }.only().grade;
        assert_eq!(grade, Grade::Skipped(NOT_IN_THIS_ARM.to_owned()));
        let given = Some(vec!["csv-analyzer".to_owned()]);
        let with = Trial { arm: Some("with"), given_skills: given, ..trial("", offering(&[])) };
        assert_eq!(with.fault().kind, FaultKind::NotOffered);
    }

    #[test]
    fn a_check_is_decided_as_soon_as_nothing_can_change_it() {
        let over = |skills: &[&str]| {
            let mut calls = calls(skills);
            calls.iter_mut().for_each(|call| call.is_error = Some(false));
            calls
        };
        let decided = |options: &str, calls: &[Call], uses: &[SkillUse]| {
            let found = read(&format!("- {{type: trigger-judge, skill: x{options}}}"));
            found.only().check.is_decided(&found.only().common, calls, uses)
        };
        assert!(!decided("", &[], &[]));
        assert!(!decided("", &calls(&["x"]), &[]), "its result is still to come");
        assert!(decided("", &over(&["x"]), &[used("x", 0)]));
        assert!(decided("", &over(&[""]), &[]), "another call was the first");
        for options in [", detection: any-call", ", should_trigger: false", ", negate: true"] {
            assert!(!decided(options, &over(&["", "y"]), &[used("y", 1)]));
            assert!(decided(options, &over(&["", "x"]), &[used("x", 1)]));
        }
    }

    #[test]
    fn uses_that_are_not_reported_are_not_measured() {
        for options in ["", ", should_trigger: false", ", negate: true"] {
            let mut silent = transcript(&["csv-analyzer"]);
            silent.skills.used = None;
            let fault = trial(options, silent).fault();
            assert_eq!(fault.message, "not measured: skill use");
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
    fn trials_and_threshold_are_kept() {
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
