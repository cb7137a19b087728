//! Targets become stations when they are used, each once.

use std::collections::HashMap;
use std::sync::Arc;

use camino::Utf8PathBuf;
use evalrig_core::diagnostic::Diagnostic;
use evalrig_core::source::Files;

use crate::execute::Station;
use crate::target::{NotFound, Targets};

use super::Problems;
use super::target::shown;

/// What a station was made from: a target of a file, with the values of its variables, which may
/// differ from suite to suite.
#[derive(PartialEq, Eq, Hash)]
struct Origin {
    file: Utf8PathBuf,
    name: String,
    values: Vec<Option<String>>,
}

/// Stations of all targets files of a run. Two suites with one targets file share them, and so the
/// limits on how many calls run at once.
#[derive(Default)]
pub struct Stations {
    known: HashMap<Origin, Arc<Station>>,
}

impl std::fmt::Debug for Stations {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // Origins hold the values of variables, which may be keys.
        f.debug_struct("Stations").finish_non_exhaustive()
    }
}

/// A targets file, as one suite uses it.
#[derive(Clone, Copy)]
pub struct TargetScope<'a> {
    pub targets: &'a Targets,
    pub files: &'a dyn Files,
    /// The process first, then the suite's `.env` files.
    pub variable: &'a dyn Fn(&str) -> Option<String>,
}

impl std::fmt::Debug for TargetScope<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("TargetScope")
            .field("file", &self.targets.path())
            .finish_non_exhaustive()
    }
}

impl Stations {
    /// The stations behind these names, `use_target` followed.
    pub(super) fn connect<'n>(
        &mut self,
        scope: TargetScope<'_>,
        names: impl Iterator<Item = &'n str>,
        problems: &mut Problems,
    ) -> HashMap<String, Arc<Station>> {
        let mut connected = HashMap::new();
        for name in names.filter(|name| !name.is_empty()) {
            match self.station(scope, name) {
                Ok(station) => {
                    connected.insert(name.to_owned(), station);
                }
                Err(Trouble::Fault(diagnostics)) => problems.diagnostics.extend(diagnostics),
                Err(Trouble::Complaint(complaint)) => problems.complain(complaint),
            }
        }
        connected
    }

    fn station(&mut self, scope: TargetScope<'_>, name: &str) -> Result<Arc<Station>, Trouble> {
        let target = match scope.targets.find(name, scope.variable) {
            Ok(target) => target,
            Err(reason) => return Err(not_found(scope, name, reason)),
        };
        let unset = target.unset_variables(scope.variable);
        if !unset.is_empty() {
            return Err(Trouble::Fault(unset));
        }
        let references = target.references.iter();
        let origin = Origin {
            file: scope.targets.path().to_owned(),
            name: target.name.value.clone(),
            values: references.map(|one| (scope.variable)(&one.name)).collect(),
        };
        if let Some(known) = self.known.get(&origin) {
            return Ok(Arc::clone(known));
        }
        let context = target.context(scope.targets.base(), scope.files, scope.variable);
        let station =
            Station::connect(target, &context).map_err(|fault| Trouble::Fault(vec![fault]))?;
        let station = Arc::new(station);
        self.known.insert(origin, Arc::clone(&station));
        Ok(station)
    }
}

fn not_found(scope: TargetScope<'_>, name: &str, reason: NotFound) -> Trouble {
    let file = shown(scope.targets);
    match reason {
        NotFound::Unset(_) => Trouble::Fault(scope.targets.unset_on_the_way(name, scope.variable)),
        NotFound::Unknown(name) => Trouble::Complaint(format!("`{file}` has no target `{name}`")),
        NotFound::Endless => Trouble::Complaint(format!("`{name}` in `{file}` leads to no target")),
        NotFound::Invalid => Trouble::Complaint(format!("target `{name}` in `{file}` is faulty")),
    }
}

enum Trouble {
    Fault(Vec<Diagnostic>),
    Complaint(String),
}
