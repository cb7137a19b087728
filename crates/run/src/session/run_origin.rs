//! What every file and row of a run says about the run: its id, command line and repository.

use std::hash::{BuildHasher, RandomState};
use std::time::SystemTime;

use camino::Utf8Path;

use crate::results::{
    GitState, PlanOptions, PlanPlace, RoundSettings, Row, RunHeader, RunSettings, rfc3339,
};

use super::earlier_options::settings_of;
use super::git_state::read_git_state;
use super::resume::ResumableSuite;
use super::spec::RunSpec;

/// Made once per run.
#[derive(Debug, Clone, Default)]
pub(super) struct RunOrigin {
    pub(super) run: String,
    pub(super) options: PlanOptions,
    git: Option<GitState>,
    command: Option<String>,
    settings: RunSettings,
    pub(super) rounds: Option<RoundSettings>,
    /// Whether answers of another run are graded.
    pub(super) is_regrade: bool,
}

impl RunOrigin {
    /// The repository is that of the first suite.
    pub(super) fn of(spec: &RunSpec, suites: &[ResumableSuite], is_part: bool) -> Self {
        let root = suites.first().map(|suite| suite.job.root.as_path());
        let mut settings = settings_of(spec, root.unwrap_or(Utf8Path::new("")));
        settings.failed |= is_part;
        Self {
            run: new_run_id(SystemTime::now()),
            options: spec.plan.clone(),
            git: root.and_then(read_git_state),
            command: spec.command.clone(),
            settings,
            rounds: None,
            is_regrade: false,
        }
    }

    pub(super) fn fill_header(&self, header: &mut RunHeader) {
        header.run = Some(self.run.clone());
        header.git.clone_from(&self.git);
        header.command.clone_from(&self.command);
        header.settings = Some(self.settings.clone());
        header.rounds.clone_from(&self.rounds);
        header.regraded = self.is_regrade;
    }
}

/// What the rows of one results file repeat of its header.
#[derive(Debug)]
pub(super) struct RowOrigin {
    run: Option<String>,
    plan: PlanPlace,
    evalrig: String,
    git: Option<GitState>,
    command: Option<String>,
}

impl RowOrigin {
    pub(super) fn of(header: &RunHeader) -> Self {
        Self {
            run: header.run.clone(),
            plan: PlanPlace { hash: header.plan.clone(), shard: header.options.shard.clone() },
            evalrig: header.evalrig.clone(),
            git: header.git.clone(),
            command: header.command.clone(),
        }
    }

    pub(super) fn fill_row(&self, row: &mut Row) {
        row.run.clone_from(&self.run);
        row.plan = Some(self.plan.clone());
        row.evalrig = Some(self.evalrig.clone());
        row.git.clone_from(&self.git);
        row.command.clone_from(&self.command);
    }
}

/// Sorts by time; the random end separates runs that start in the same second.
fn new_run_id(now: SystemTime) -> String {
    let time: String = rfc3339(now).chars().filter(|c| !"-:Z".contains(*c)).collect();
    let random = RandomState::new().hash_one(now) & 0xff_ffff;
    format!("{time}-{random:06x}")
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, UNIX_EPOCH};

    use super::*;

    #[test]
    fn run_ids_begin_with_their_time_and_differ() {
        let now = UNIX_EPOCH + Duration::from_secs(1_767_323_045);
        let (one, other) = (new_run_id(now), new_run_id(now));
        assert!(one.starts_with("20260102T030405-"), "{one}");
        assert_eq!(one.len(), "20260102T030405-".len() + 6);
        assert_ne!(one, other);
    }
}
