//! Chooses the judges of a suite (spec 9.2) before anything is called (spec 8.4).

use std::collections::HashMap;

use evalrig_core::declare_codes;
use evalrig_core::diagnostic::{Diagnostic, Level};
use evalrig_core::model::{Judging, NamedAssertion, Suite, Test};
use evalrig_core::plan::Chain;
use evalrig_core::reader::FillError;

use super::target::check_given;
use super::target_pool::TargetScope;
use super::{GradingSpec, PrepareErrors};

declare_codes! {
    JUDGE_TARGET_MISSING = "judge-target-missing", BlocksRun, Target, r#"A test has a check that needs a judge, and no judge target is configured.

## Example
```text
a test with `rubrics`, and a targets file without `judge_target`
```

## Instead
```text
judge_target: judge in the targets file, or evalrig run --judge judge, or --skip-judges
```

## Why
A check that was not made cannot pass. The run stops before anything is called, so it does not pay for
answers that cannot be graded. A target judges its own answers only if it is named as judge.
"#;
}

/// The judges of a suite.
#[derive(Debug, Default)]
pub(super) struct ChosenJudges {
    /// By the target under test.
    pub(super) of_targets: HashMap<String, String>,
    /// Every judge that may be called.
    pub(super) names: Vec<String>,
}

impl ChosenJudges {
    fn add(&mut self, name: &str) {
        if !self.names.iter().any(|known| known == name) {
            self.names.push(name.to_owned());
        }
    }
}

pub(super) fn choose(
    suite: &Suite,
    chains: &[Chain],
    spec: &GradingSpec,
    scope: Option<TargetScope<'_>>,
    target_of: &dyn Fn(&str) -> String,
    errors: &mut PrepareErrors,
) -> ChosenJudges {
    let mut judges = ChosenJudges::default();
    if spec.judging == Judging::Skip {
        return judges;
    }
    if let Some(name) = &spec.judge {
        match scope {
            Some(scope) => check_given(name, "--judge", scope.targets, errors),
            None => errors.add(format!("--judge: no targets file found that defines `{name}`")),
        }
    }
    let mut missing: Vec<&Test> = Vec::new();
    for case in chains.iter().flatten() {
        let test = &suite.tests[case.test];
        if test.skip.is_some() {
            continue;
        }
        let mut needs_default = false;
        for named in &test.assertions {
            needs_default |= needs_default_judge(named, &mut judges);
        }
        if !needs_default || judges.of_targets.contains_key(&case.target) {
            continue;
        }
        match scope.and_then(|scope| judge_of(&target_of(&case.target), spec, scope, errors)) {
            Some(name) => {
                judges.add(&name);
                judges.of_targets.insert(case.target.clone(), name);
            }
            None if missing.last().is_none_or(|last| last.id != test.id) => missing.push(test),
            None => {}
        }
    }
    if let Some(first) = missing.first() {
        errors.diagnostics.push(judge_missing(first, &missing));
    }
    judges
}

/// Adds the judges that checks name. Returns whether a check uses the default judge.
fn needs_default_judge(named: &NamedAssertion, judges: &mut ChosenJudges) -> bool {
    let check = &named.assertion.check;
    if !check.needs_judge() {
        return false;
    }
    if !check.members().is_empty() {
        let mut needs = false;
        for member in check.members() {
            needs |= needs_default_judge(member, judges);
        }
        return needs;
    }
    match check.judge() {
        Some(name) => {
            judges.add(name);
            false
        }
        None => true,
    }
}

/// The first that is set: `--judge`, the target's judge, the file's judge.
fn judge_of(
    target: &str,
    spec: &GradingSpec,
    scope: TargetScope<'_>,
    errors: &mut PrepareErrors,
) -> Option<String> {
    if let Some(name) = &spec.judge {
        return Some(name.clone());
    }
    let own = scope.targets.judge_of(target);
    let template = own.or_else(|| scope.targets.judge_target())?;
    match template.fill(scope.variable) {
        Ok(name) => Some(name),
        Err(error) => {
            errors.add(match error {
                FillError::Unset(name) => {
                    format!("variable `{name}`, used by `judge_target`, is not set")
                }
                FillError::TooLong => "the name in `judge_target` is too long".to_owned(),
            });
            // A judge is configured, so it is not reported as missing too.
            Some(String::new())
        }
    }
}

fn judge_missing(first: &Test, all: &[&Test]) -> Diagnostic {
    const NAMED: usize = 5;
    let names: Vec<String> = all.iter().take(NAMED).map(|t| format!("`{}`", t.id)).collect();
    let more = match all.len().saturating_sub(NAMED) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    let noun = if all.len() == 1 { "test needs" } else { "tests need" };
    let message = format!("{noun} a judge, but none is configured: {}{more}", names.join(", "));
    Diagnostic::new(&JUDGE_TARGET_MISSING, first.span.at_start(), message)
        .level(Level::BlocksRun)
        .help("set `judge_target` in the targets file or pass `--judge`; `--skip-judges` skips these checks")
}
