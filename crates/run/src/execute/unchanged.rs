//! Programs of the author are what they were when the suite was loaded (spec 4.4): an agent must not
//! decide what the next case runs. A file that is replaced between a check and the start of its program
//! is not noticed.

use camino::{Utf8Path, Utf8PathBuf};
use evalrig_core::model::{Fault, FaultKind, Hook, Stage, Workspace};
use evalrig_core::source::{Files as _, is_changed};

use crate::disk::{SuiteFiles, is_executable};
use crate::workspace::files_of_hook;

use super::connected_target::ConnectedTarget;

fn hooks_of(workspace: &Workspace) -> [(&'static str, Option<&Hook>); 4] {
    [
        ("before_all", workspace.before_all.as_ref()),
        ("setup", workspace.setup.as_ref()),
        ("teardown", workspace.teardown.as_ref()),
        ("after_all", workspace.after_all.as_ref()),
    ]
}

/// The files of the repository that a target starts or hands to an interpreter. What else its command
/// names, such as a database, may be meant to change.
fn files_of_target(connected: &ConnectedTarget, root: &Utf8Path) -> Vec<Utf8PathBuf> {
    let is_program = |path: &Utf8PathBuf| path.starts_with(root) && is_code(path);
    connected.source_files().into_iter().filter(is_program).collect()
}

fn is_code(path: &Utf8Path) -> bool {
    const SCRIPTS: [&str; 15] = [
        "bash", "cjs", "cts", "exe", "jar", "js", "lua", "mjs", "mts", "php", "pl", "py", "rb",
        "sh", "ts",
    ];
    match path.extension() {
        Some(extension) => SCRIPTS.contains(&extension),
        // Most are what an agent writes: `>> log`.
        None => is_executable(path),
    }
}

/// Remembers the programs before an agent can change them.
pub(crate) fn remember_hooks(workspace: &Workspace, root: &Utf8Path, files: &mut SuiteFiles) {
    for hook in hooks_of(workspace).into_iter().filter_map(|(_, hook)| hook) {
        files_of_hook(hook, root).iter().for_each(|path| files.remember(path));
    }
}

/// As [`remember_hooks`], for a target or a judge.
pub(crate) fn remember_target(
    connected: &ConnectedTarget,
    root: &Utf8Path,
    files: &mut SuiteFiles,
) {
    files_of_target(connected, root).iter().for_each(|path| files.remember(path));
}

/// What the programs of a suite are compared with.
#[derive(Debug, Clone, Copy)]
pub(super) struct LoadedPrograms<'a> {
    pub(super) root: &'a Utf8Path,
    pub(super) files: &'a SuiteFiles,
}

impl LoadedPrograms<'_> {
    /// Every hook of the workspace: what a later one would do is not to be seen either.
    pub(super) fn check_hooks(self, workspace: &Workspace) -> Result<(), Fault> {
        hooks_of(workspace).into_iter().try_for_each(|(name, hook)| self.check_hook(name, hook))
    }

    pub(super) fn check_hook(self, name: &str, hook: Option<&Hook>) -> Result<(), Fault> {
        let files = hook.map(|hook| files_of_hook(hook, self.root)).unwrap_or_default();
        self.check(&files, Stage::Workspace, |shown| format!("`{name}` does not run `{shown}`"))
    }

    pub(super) fn check_target(self, connected: &ConnectedTarget) -> Result<(), Fault> {
        let files = files_of_target(connected, self.root);
        self.check(&files, Stage::Target, |shown| format!("program `{shown}` is not run"))
    }

    /// Scripts of checks.
    pub(super) fn check_scripts(self, files: &[Utf8PathBuf]) -> Result<(), Fault> {
        self.check(files, Stage::Script, |shown| format!("script `{shown}` is not run"))
    }

    fn check(
        self,
        files: &[Utf8PathBuf],
        stage: Stage,
        what: impl Fn(&Utf8Path) -> String,
    ) -> Result<(), Fault> {
        for path in files {
            self.files.check_unchanged(path).map_err(|error| {
                let kind = if is_changed(&error) { FaultKind::ChangedFile } else { FaultKind::Io };
                let shown = path.strip_prefix(self.root).unwrap_or(path);
                Fault::new(stage, kind, format!("{}: {error}", what(shown)))
            })?;
        }
        Ok(())
    }
}
