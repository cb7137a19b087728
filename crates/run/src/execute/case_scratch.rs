//! The directories for temporary files of a case.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};

use camino::{Utf8Path, Utf8PathBuf};

use super::connected_target::ConnectedTarget;

/// Only process targets get a directory of their own, and every call of a judge, because the agent could
/// have prepared files for it. Dropping it removes them.
pub(super) struct CaseScratch<'a> {
    shared: &'a Utf8Path,
    own: OnceLock<Utf8PathBuf>,
    number: usize,
    judges: AtomicUsize,
    commands: AtomicUsize,
    /// That of the conversation.
    pub(super) home: Option<Utf8PathBuf>,
}

impl<'a> CaseScratch<'a> {
    /// Of the case with this number, below the directory of the run.
    pub(super) fn new(shared: &'a Utf8Path, number: usize, home: Option<Utf8PathBuf>) -> Self {
        let (own, judges, commands) = (OnceLock::new(), AtomicUsize::new(0), AtomicUsize::new(0));
        Self { shared, own, number, judges, commands, home }
    }

    /// A new one for each call.
    pub(super) fn for_judge(&self) -> Utf8PathBuf {
        self.judge_path(self.judges.fetch_add(1, Ordering::Relaxed))
    }

    /// For a command that checks a stored workspace; a new one for each, which the caller removes.
    pub(super) fn for_command(&self) -> Utf8PathBuf {
        let count = self.commands.fetch_add(1, Ordering::Relaxed);
        self.shared.join(format!("{}-command-{count}", self.number))
    }

    fn judge_path(&self, call: usize) -> Utf8PathBuf {
        self.shared.join(format!("{}-judge-{call}", self.number))
    }

    pub(super) fn of(&self, connected: &ConnectedTarget) -> &Utf8Path {
        if connected.is_process() {
            self.own.get_or_init(|| self.shared.join(self.number.to_string()))
        } else {
            self.shared
        }
    }
}

impl Drop for CaseScratch<'_> {
    fn drop(&mut self) {
        let judges = (0..self.judges.load(Ordering::Relaxed)).map(|call| self.judge_path(call));
        for path in judges.chain(self.own.get().cloned()) {
            // Fails when no process has created it.
            let _ = crate::disk::remove_tree(&path);
        }
    }
}
