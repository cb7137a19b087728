//! Chooses the targets of each test (spec 9.2).

use evalrig_core::declare_codes;
use evalrig_core::diagnostic::{Diagnostic, Level, did_you_mean};
use evalrig_core::model::{Suite, Test};

use crate::target::Targets;

use super::{CaseSpec, PrepareErrors};

declare_codes! {
    NO_TARGETS_FILE = "no-targets-file", BlocksRun, Target, r#"A suite cannot run because no targets file was found.

## Example
```text
evalrig run evals, where no directory from `evals` up to the repository root has `.evalrig/targets.yaml`
```

## Instead
```text
evalrig init --target claude, or evalrig run evals --targets my-targets.yaml
```

## Why
A suite defines the questions and the grading. A targets file defines the agents that answer, so that
one suite can be run against many agents.
"#;
    NO_TARGET = "no-target", BlocksRun, Target, r#"A test has no target: neither the test nor its suite names one, and the targets file has none named `default`.

## Example
```text
targets: [{name: claude, provider: claude-cli}], and a test without `execution.target`
```

## Instead
```text
targets: [{name: default, provider: claude-cli}], or evalrig run --target claude
```

## Why
Falling back to the first target of the file could send prompts to the wrong service.
"#;
}

/// The target of tests that do not name one.
const DEFAULT: &str = "default";

/// The first that is set: `--target`, the test, the suite, `default`. Empty if none is.
pub(super) fn targets_of(
    test: &Test,
    suite: &Suite,
    spec: &CaseSpec,
    targets: &Targets,
) -> Vec<String> {
    if !spec.targets.is_empty() {
        return spec.targets.clone();
    }
    let written = test.execution.target.as_ref();
    let default = || targets.has(DEFAULT).then(|| DEFAULT.to_owned());
    let name = written.or(suite.execution.target.as_ref()).cloned();
    name.or_else(default).into_iter().collect()
}

/// Reports unknown names of `--target`, and the first test without a target: the cause is the same
/// for every other one.
pub(super) fn check_targets(
    suite: &Suite,
    selected: &[usize],
    spec: &CaseSpec,
    targets: &Targets,
    errors: &mut PrepareErrors,
) {
    for name in &spec.targets {
        check_given(name, "--target", targets, errors);
    }
    let mut tests = selected.iter().map(|at| &suite.tests[*at]);
    let untargeted = tests.find(|test| targets_of(test, suite, spec, targets).is_empty());
    let missing = untargeted.map(|test| no_target(test, targets));
    errors.diagnostics.extend(missing);
}

fn no_target(test: &Test, targets: &Targets) -> Diagnostic {
    let message = format!("test `{}` has no target", test.id);
    let names: Vec<&str> = targets.names().collect();
    let help = match names.first() {
        Some(first) => format!("name a target `default`, or use `--target {first}`"),
        None => "name a target `default`".to_owned(),
    };
    Diagnostic::new(&NO_TARGET, test.span.at_start(), message).level(Level::BlocksRun).help(help)
}

/// Reports a name from the command line that the targets file does not define.
pub(super) fn check_given(name: &str, option: &str, targets: &Targets, errors: &mut PrepareErrors) {
    if targets.has(name) {
        return;
    }
    let file = shown(targets);
    let near = did_you_mean(name, targets.names());
    let hint = match near {
        Some(near) => format!("; did you mean `{near}`?"),
        None => {
            let names: Vec<&str> = targets.names().collect();
            format!("; it has {}", names.join(", "))
        }
    };
    errors.add(format!("{option}: `{file}` has no target `{name}`{hint}"));
}

/// The path of the targets file, relative to the directory that its own paths start in.
pub(super) fn shown(targets: &Targets) -> String {
    let base = targets.base().directory();
    let file = targets.path();
    file.strip_prefix(base).unwrap_or(file).to_string()
}
