//! The weak checks of a run as JSON.

use evalrig_core::mutation::{CheckTally, Survivor, Untried, Weakness};
use evalrig_run::results::SCHEMA_VERSION;
use evalrig_run::session::MutationReport;
use evalrig_run::text::numbers::rounded;
use serde_json::{Value, json};

pub(super) fn report(report: &MutationReport) -> String {
    let survey = &report.survey;
    let checks: Vec<Value> = survey.checks().map(|one| check(report, one)).collect();
    let unchecked: Vec<Value> = survey
        .unchecked_tests()
        .iter()
        .map(|test| {
            let (file, line) = report.place(test.suite, test.span);
            json!({"id": test.id, "file": file, "line": line, "mutants": test.mutants})
        })
        .collect();
    let asked = report.asked.as_ref().map(|asked| {
        json!({
            "mutants": asked.mutants,
            "judgeCalls": asked.judge_calls,
            "costUsd": asked.cost_usd.map(rounded),
            "unfinished": asked.unfinished,
        })
    });
    let document = json!({
        "schemaVersion": SCHEMA_VERSION,
        "answers": survey.answers,
        "mutants": survey.mutants,
        "survived": survey.survived,
        "leftOut": report.left_out,
        "weakChecks": survey.weak_checks().count(),
        "checks": checks,
        "uncheckedTests": unchecked,
        "asked": asked,
        "incomplete": report.gaps,
    });
    format!("{document:#}\n")
}

fn check(report: &MutationReport, one: &CheckTally) -> Value {
    let (file, line) = report.place(one.id.suite, one.id.span);
    let weakness = one.weakness().map(|found| match found {
        Weakness::NeverFailed => "never-failed",
        Weakness::FormOnly => "form-only",
    });
    let untried = one.untried().map(|why| match why {
        Untried::Asks => json!({"reason": "asks"}),
        Untried::NothingToDamage => json!({"reason": "nothing-to-damage"}),
        Untried::NotPassed => json!({"reason": "not-passed"}),
        Untried::NotMeasured(text) => json!({"reason": "not-measured", "text": text}),
    });
    json!({
        "file": file,
        "line": line,
        "name": one.name,
        "type": one.type_name,
        "tests": one.tests,
        "applicable": one.applicable,
        "failed": one.failed,
        "outvoted": one.outvoted,
        "killScore": one.kill_score().map(rounded),
        "unknown": one.unknown,
        "accepted": one.accepted,
        "weakness": weakness,
        "survivor": one.survivor().map(survivor),
        "notTried": untried,
    })
}

fn survivor(found: &Survivor) -> Value {
    json!({
        "kind": found.kind.name,
        "damage": found.damage,
        "test": found.test,
        "before": found.before,
        "after": found.after,
        "advice": found.kind.advice,
    })
}
