//! Connects the targets that a run uses, each once.

use std::collections::HashMap;
use std::sync::Arc;

use camino::Utf8PathBuf;
use evalrig_core::diagnostic::Diagnostic;
use evalrig_core::source::Files;

use crate::execute::ConnectedTarget;
use crate::target::{NotFound, Targets};

use super::PrepareErrors;
use super::target::shown;

/// Identifies a connected target. The values of its variables may differ between suites.
#[derive(PartialEq, Eq, Hash)]
struct TargetOrigin {
    file: Utf8PathBuf,
    name: String,
    values: Vec<Option<String>>,
}

/// The connected targets of a run. Suites with the same targets file share them, and so their limits
/// on concurrent calls.
#[derive(Default)]
pub struct TargetPool {
    known: HashMap<TargetOrigin, Arc<ConnectedTarget>>,
}

impl std::fmt::Debug for TargetPool {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // Origins hold the values of variables, which may be keys.
        f.debug_struct("TargetPool").finish_non_exhaustive()
    }
}

/// A targets file, as one suite uses it.
#[derive(Clone, Copy)]
pub(crate) struct TargetScope<'a> {
    pub(crate) targets: &'a Targets,
    pub(crate) files: &'a dyn Files,
    /// Looks up the process environment, then the suite's `.env` files.
    pub(crate) variable: &'a dyn Fn(&str) -> Option<String>,
}

impl std::fmt::Debug for TargetScope<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("TargetScope")
            .field("file", &self.targets.path())
            .finish_non_exhaustive()
    }
}

impl TargetPool {
    /// Connects these targets, following `use_target`.
    pub(super) fn connect<'n>(
        &mut self,
        scope: TargetScope<'_>,
        names: impl Iterator<Item = &'n str>,
        errors: &mut PrepareErrors,
    ) -> HashMap<String, Arc<ConnectedTarget>> {
        let mut connected = HashMap::new();
        for name in names.filter(|name| !name.is_empty()) {
            match self.connect_one(scope, name) {
                Ok(target) => {
                    connected.insert(name.to_owned(), target);
                }
                Err(ConnectError::Diagnostics(diagnostics)) => {
                    errors.diagnostics.extend(diagnostics)
                }
                Err(ConnectError::Message(message)) => errors.add(message),
            }
        }
        connected
    }

    fn connect_one(
        &mut self,
        scope: TargetScope<'_>,
        name: &str,
    ) -> Result<Arc<ConnectedTarget>, ConnectError> {
        let target = match scope.targets.find(name, scope.variable) {
            Ok(target) => target,
            Err(reason) => return Err(not_found(scope, name, reason)),
        };
        let unset = target.unset_variables(scope.variable);
        if !unset.is_empty() {
            return Err(ConnectError::Diagnostics(unset));
        }
        let references = target.references.iter();
        let origin = TargetOrigin {
            file: scope.targets.path().to_owned(),
            name: target.name.value.clone(),
            values: references.map(|one| (scope.variable)(&one.name)).collect(),
        };
        if let Some(known) = self.known.get(&origin) {
            return Ok(Arc::clone(known));
        }
        let context = target.context(scope.targets.base(), scope.files, scope.variable);
        let connected = ConnectedTarget::connect(target, &context)
            .map_err(|fault| ConnectError::Diagnostics(vec![fault]))?;
        let connected = Arc::new(connected);
        self.known.insert(origin, Arc::clone(&connected));
        Ok(connected)
    }
}

fn not_found(scope: TargetScope<'_>, name: &str, reason: NotFound) -> ConnectError {
    let file = shown(scope.targets);
    match reason {
        NotFound::Unset(diagnostics) => ConnectError::Diagnostics(diagnostics),
        NotFound::Unknown(name) => {
            ConnectError::Message(format!("`{file}` has no target `{name}`"))
        }
        NotFound::Endless => ConnectError::Message(format!(
            "`use_target` of `{name}` in `{file}` forms a cycle or is too long"
        )),
        NotFound::Invalid => {
            ConnectError::Message(format!("target `{name}` in `{file}` is invalid"))
        }
    }
}

enum ConnectError {
    Diagnostics(Vec<Diagnostic>),
    Message(String),
}
