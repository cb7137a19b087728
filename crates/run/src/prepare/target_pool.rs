//! Connects the targets that a run uses, each once.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use camino::Utf8PathBuf;
use evalrig_core::declare_codes;
use evalrig_core::diagnostic::Diagnostic;
use evalrig_core::source::Files;

use crate::execute::{ConnectedTarget, TargetVariant, UserHomeUse};
use crate::rate::{BucketStores, FileStores};
use crate::setting::SandboxName;
use crate::target::{NotFound, Target, Targets, is_installed};

use super::arm_effect::{refused_settings, settings_of_programs};
use super::target::shown;
use super::{FindDirectory, PrepareErrors};

declare_codes! {
    USER_HOME = "user-home", Warning, Target, r#"An agent runs with the home directory of the user: an agent CLI whose target says `home: user`, or one that
is started by `acp` without `home`.

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
clean home has the login and nothing else. Over `acp` it is not known where an agent keeps its login, so a clean home
has none: give the agent a key by `env`, or accept your own home with `home: user`.
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
pub(crate) struct TargetPool {
    /// `--sandbox`.
    pub(crate) sandbox: Option<SandboxName>,
    /// The buckets of `rate`.
    pub(crate) buckets: Arc<dyn BucketStores>,
    pub(crate) need: TargetNeed,
    /// In place of variables that are not set.
    pub(crate) stand_in: Option<&'static str>,
    /// Why targets are missing that need not be there.
    pub(crate) left_out: Vec<String>,
    known: HashMap<TargetOrigin, Arc<ConnectedTarget>>,
    /// Names of targets of which a warning says that they use the home of the user.
    with_user_home: HashSet<String>,
}

/// Whether a target that cannot be connected is an error.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TargetNeed {
    Required,
    /// Others call it, or other cases are left. It is missing among those that are connected.
    #[cfg_attr(not(feature = "queue"), allow(dead_code, reason = "for queues"))]
    Optional,
}

impl Default for TargetPool {
    fn default() -> Self {
        Self {
            sandbox: None,
            buckets: Arc::new(FileStores),
            need: TargetNeed::Required,
            stand_in: None,
            left_out: Vec::new(),
            known: HashMap::new(),
            with_user_home: HashSet::new(),
        }
    }
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
            let mut missing = PrepareErrors::default();
            let target = self.connect_one(scope, &variant, &mut missing);
            let is_usable = self.need == TargetNeed::Required || missing.is_empty();
            connected.extend(target.filter(|_| is_usable).map(|target| (variant.name(), target)));
            match self.need {
                TargetNeed::Required => errors.absorb(missing),
                TargetNeed::Optional => self.leave_out(&variant.target, missing),
            }
        }
        connected
    }

    /// Keeps only the words of what is missing for a target.
    fn leave_out(&mut self, target: &str, missing: PrepareErrors) {
        let found = missing.diagnostics.into_iter().map(|one| one.message);
        for reason in found.chain(missing.messages) {
            let text = format!("target `{target}`: {reason}");
            if !self.left_out.contains(&text) {
                self.left_out.push(text);
            }
        }
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
        let refused = refused_settings(variant, target);
        if !refused.is_empty() {
            errors.diagnostics.extend(refused);
            return None;
        }
        let connected = self.connect_known(scope, variant, target, errors)?;
        let (refused, warnings) = settings_of_programs(variant, target, &connected);
        errors.diagnostics.extend(refused);
        errors.warnings.extend(warnings);
        Some(connected)
    }

    fn connect_known(
        &mut self,
        scope: TargetScope<'_>,
        variant: &TargetVariant,
        target: &Target,
        errors: &mut PrepareErrors,
    ) -> Option<Arc<ConnectedTarget>> {
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
        match ConnectedTarget::connect(target, &context, self.sandbox, &*self.buckets) {
            Ok(connected) => {
                check_sandbox(&connected, errors);
                if self.need == TargetNeed::Optional && self.stand_in.is_none() {
                    check_program(&connected, errors);
                }
                self.warn_of_user_home(&connected, target, errors);
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

impl TargetPool {
    /// Once in a run for all suites and arms with this target.
    fn warn_of_user_home(
        &mut self,
        connected: &ConnectedTarget,
        target: &Target,
        errors: &mut PrepareErrors,
    ) {
        if let Some(warning) = user_home(connected, target)
            && self.with_user_home.insert(connected.name.clone())
        {
            errors.warnings.push(warning);
        }
    }
}

/// A worker leaves cases to others whose program it lacks.
fn check_program(connected: &ConnectedTarget, errors: &mut PrepareErrors) {
    let Some((program, cwd)) = connected.program().zip(connected.working_dir()) else { return };
    let is_there =
        if program.contains('/') { cwd.join(program).is_file() } else { is_installed(program) };
    if !is_there {
        errors.add(format!("program `{program}` is not installed"));
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
    let name = &connected.name;
    let message = format!("target `{name}` runs with your own settings, memory and skills");
    let written = &target.common.confinement;
    let (place, help) = match connected.uses_user_home()? {
        UserHomeUse::Chosen => (written.place?, "remove `home: user`"),
        UserHomeUse::Default if written.home.is_none() => {
            (target.name.span, "set `home: clean`, or `home: user` if the agent needs your login")
        }
        UserHomeUse::Default => return None,
    };
    Some(Diagnostic::new(&USER_HOME, place, message).help(help))
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
