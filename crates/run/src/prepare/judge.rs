//! Which judge answers for an assertion (spec 9.2), found before anything is spent (8.4).

use std::collections::HashMap;

use evalrig_core::declare_codes;
use evalrig_core::diagnostic::{Diagnostic, Level};
use evalrig_core::model::{Judging, NamedAssertion, Suite, Test};
use evalrig_core::plan::Chain;

use super::target::check_given;
use super::target_pool::TargetScope;
use super::{CaseSpec, PrepareErrors};

declare_codes! {
    JUDGE_TARGET_MISSING = "judge-target-missing", BlocksRun, Target, r#"A test has a check that a model must judge, and no target is named to do it.

## Example
```text
a test with `rubrics`, and a targets file without `judge_target`
```

## Instead
```text
judge_target: judge in the targets file, or evalrig run --judge judge, or --skip-judges
```

## Why
A check that nobody makes is no pass. The run stops before anything is called, so nothing is paid for
answers that could not be graded. The target under test never judges itself unless it is named.
"#;
}

/// ChosenJudges of a run.
#[derive(Debug, Default)]
pub(super) struct ChosenJudges {
    /// By the target under test.
    pub(super) of_targets: HashMap<String, String>,
    /// Every judge that may be asked.
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
    spec: &CaseSpec,
    scope: Option<TargetScope<'_>>,
    errors: &mut PrepareErrors,
) -> ChosenJudges {
    let mut judges = ChosenJudges::default();
    if spec.judging == Judging::Skip {
        return judges;
    }
    if let Some(name) = &spec.judge {
        match scope {
            Some(scope) => check_given(name, "--judge", scope.targets, errors),
            None => errors.add(format!("--judge: no targets file has `{name}`")),
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
        match scope.and_then(|scope| judge_of(&case.target, spec, scope, errors)) {
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

/// Notes the judges that checks name themselves. Whether any check leaves it to the case.
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

/// `--judge`, the target's own judge, the file's.
fn judge_of(
    target: &str,
    spec: &CaseSpec,
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
        Err(unset) => {
            let name = unset.name;
            errors.add(format!(
                "variable `{name}`, used by `judge_target`, is not set"
            ));
            // There is a judge; it is only not known which.
            Some(String::new())
        }
    }
}

fn judge_missing(first: &Test, all: &[&Test]) -> Diagnostic {
    const NAMED: usize = 5;
    let names: Vec<String> = all
        .iter()
        .take(NAMED)
        .map(|t| format!("`{}`", t.id))
        .collect();
    let more = match all.len().saturating_sub(NAMED) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    let noun = if all.len() == 1 {
        "test needs"
    } else {
        "tests need"
    };
    let message = format!(
        "{noun} a judge, and there is none: {}{more}",
        names.join(", ")
    );
    Diagnostic::new(&JUDGE_TARGET_MISSING, first.span.at_start(), message)
        .level(Level::BlocksRun)
        .help("name one as `judge_target` in the targets file or with `--judge`; `--skip-judges` leaves these checks out")
}
