//! Connects the targets that a run uses, each once.

use std::collections::HashMap;
use std::sync::Arc;

use camino::Utf8PathBuf;
use evalrig_core::declare_codes;
use evalrig_core::diagnostic::Diagnostic;
use evalrig_core::source::Files;

use crate::execute::{ConnectedTarget, TargetVariant};
use crate::setting::SandboxName;
use crate::target::{NotFound, Target, Targets};

use super::target::shown;
use super::{FindDirectory, PrepareErrors};

declare_codes! {
    USER_HOME = "user-home", Warning, Target, r#"An agent CLI runs with the home directory of the user, because its target says `home: user`.

## Example
```text
targets: [{name: default, provider: claude-cli, home: user}]
```

## Instead
```text
targets: [{name: default, provider: claude-cli}]
```

## Why
The settings, memory and skills of the user take part in every test, and the agent leaves its sessions there. A
clean home has the login and nothing else.
"#;
}

/// Identifies a connected target. The values of its variables may differ between suites.
#[derive(PartialEq, Eq, Hash)]
struct TargetOrigin {
    file: Utf8PathBuf,
    name: String,
    values: Vec<Option<String>>,
    model: Option<String>,
    args: Vec<String>,
}

/// The connected targets of a run. Suites with the same targets file share them, and so their limits
/// on concurrent calls.
#[derive(Default)]
pub(crate) struct TargetPool {
    /// `--sandbox`.
    pub(crate) sandbox: Option<SandboxName>,
    known: HashMap<TargetOrigin, Arc<ConnectedTarget>>,
}

/// A targets file, as one suite uses it.
#[derive(Clone, Copy)]
pub(crate) struct TargetScope<'a> {
    pub(crate) targets: &'a Targets,
    pub(crate) files: &'a dyn Files,
    /// Looks up the process environment, then the suite's `.env` files.
    pub(crate) variable: &'a dyn Fn(&str) -> Option<String>,
    /// Where a source of skills is on disk.
    pub(crate) skill_directory: &'a FindDirectory<'a>,
}

impl TargetPool {
    /// Connects these targets, following `use_target`.
    pub(super) fn connect(
        &mut self,
        scope: TargetScope<'_>,
        wanted: impl Iterator<Item = TargetVariant>,
        errors: &mut PrepareErrors,
    ) -> HashMap<String, Arc<ConnectedTarget>> {
        let mut connected = HashMap::new();
        for variant in wanted.filter(|variant| !variant.target.is_empty()) {
            if let Some(target) = self.connect_one(scope, &variant, errors) {
                connected.insert(variant.name(), target);
            }
        }
        connected
    }

    fn connect_one(
        &mut self,
        scope: TargetScope<'_>,
        variant: &TargetVariant,
        errors: &mut PrepareErrors,
    ) -> Option<Arc<ConnectedTarget>> {
        let name = &variant.target;
        let target = match scope.targets.find(name, scope.variable) {
            Ok(target) => target,
            Err(reason) => {
                add_not_found(scope, name, reason, errors);
                return None;
            }
        };
        let unset = target.unset_variables(scope.variable);
        if !unset.is_empty() {
            errors.diagnostics.extend(unset);
            return None;
        }
        let references = target.references.iter();
        let origin = TargetOrigin {
            file: scope.targets.path().to_owned(),
            name: target.name.value.clone(),
            values: references.map(|one| (scope.variable)(&one.name)).collect(),
            model: variant.model.clone(),
            args: variant.args.clone(),
        };
        if let Some(known) = self.known.get(&origin) {
            return Some(Arc::clone(known));
        }
        let mut context = target.context(scope.targets.base(), scope.files, scope.variable);
        context.arm_model = variant.model.as_deref();
        context.arm_args = &variant.args;
        match ConnectedTarget::connect(target, &context, self.sandbox) {
            Ok(connected) => {
                check_sandbox(&connected, errors);
                errors.warnings.extend(user_home(&connected, target));
                let connected = Arc::new(connected);
                self.known.insert(origin, Arc::clone(&connected));
                Some(connected)
            }
            Err(diagnostic) => {
                errors.diagnostics.push(diagnostic);
                None
            }
        }
    }
}

/// A sandbox that is missing is found before anything is called.
fn check_sandbox(connected: &ConnectedTarget, errors: &mut PrepareErrors) {
    if let Some(confinement) = connected.confinement()
        // Images depend on the tests.
        && !confinement.is_container()
        && let Err(reason) = confinement.sandbox.available(&confinement.container)
    {
        errors.add(format!("target `{}`: {reason}", connected.name));
    }
}

fn user_home(connected: &ConnectedTarget, target: &Target) -> Option<Diagnostic> {
    let place = target.common.confinement.place.filter(|_| connected.uses_user_home())?;
    let name = &connected.name;
    let message = format!("target `{name}` runs with your own settings, memory and skills");
    Some(Diagnostic::new(&USER_HOME, place, message).help("remove `home: user`"))
}

fn add_not_found(scope: TargetScope<'_>, name: &str, reason: NotFound, errors: &mut PrepareErrors) {
    let file = shown(scope.targets);
    match reason {
        NotFound::Unset(unset) => errors.diagnostics.extend(unset),
        NotFound::Unknown(name) => errors.add(format!("`{file}` has no target `{name}`")),
        NotFound::Endless => {
            errors.add(format!("`use_target` of `{name}` in `{file}` forms a cycle or is too long"))
        }
        NotFound::Invalid => errors.add(format!("target `{name}` in `{file}` is invalid")),
    }
}
