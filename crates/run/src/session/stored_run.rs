//! Reports a stored run again.

use std::sync::Arc;

use camino::{Utf8Path, Utf8PathBuf};

use crate::execute::ExecutionEnd;
use crate::report::{ReportedRounds, ReportedRun};
use crate::results::{ExitRule, Rows};

use super::base_runs::{BaselineSearch, BaselineSuite};
use super::baseline::{Baseline, compare_command};
use super::error::{Notice, Notify, SessionError};
use super::history::TestHistory;
use super::known_secrets::known_secrets;
use super::next_command::next_command;
use super::observer::{RunObserver, SessionExit};
use super::report_set::{ReportSet, check_report_paths};
use super::resume::root_of_results;
use super::spec::{ArmComparisonSpec, BaselineSpec, LoadOptions, ReportSpec};
use super::stored_rounds::StoredRounds;

/// Which stored run to report, and how.
#[derive(Debug, Clone)]
pub struct StoredRunSpec {
    pub loading: LoadOptions,
    /// Results files that belong together, such as those of shards; absolute, at least one.
    pub results: Vec<Utf8PathBuf>,
    pub exit_rule: ExitRule,
    /// The arm that others are compared with, if not that of the run.
    pub baseline_arm: Option<String>,
    pub baseline: Option<BaselineSpec>,
    pub arms: ArmComparisonSpec,
    pub reports: ReportSpec,
}

pub fn report_stored_run(
    spec: &StoredRunSpec,
    notify: &mut Notify<'_>,
) -> Result<SessionExit, SessionError> {
    let Some(first) = spec.results.first() else {
        return Err(SessionError::StoredRun("no results file is named".to_owned()));
    };
    check_report_paths(&spec.loading, &spec.reports, &spec.results)?;
    let root = root_of_results(&spec.loading, first);
    let secrets = Arc::new(known_secrets(&spec.loading, &root));
    let rows = Rows::open_all(&spec.results)?.redacting(Arc::clone(&secrets));
    if let Some(arm) = &spec.baseline_arm {
        check_arm(arm, &rows)?;
    }
    let baseline = match &spec.baseline {
        Some(wanted) => Some(read_baseline(spec, wanted, &rows, &root, notify)?),
        None => None,
    };
    let roots = vec![root.clone()];
    let notify = &mut |notice: Notice<'_>| notify(notice.redacted(&secrets));
    let shared = Arc::clone(&secrets);
    let reports = ReportSet::open(&spec.loading, &spec.reports, spec.exit_rule, roots, shared)?;
    let mut observer = RunObserver::new(reports, spec.exit_rule, baseline);
    observer.compare_arms(spec.arms);
    let stored = ReportedRows {
        loading: &spec.loading,
        results: &spec.results,
        root: &root,
        rows,
        baseline_arm: spec.baseline_arm.as_deref(),
    };
    let observed = stored.observe(observer, notify)?;
    let errors = observed.observer.finish(&observed.end, notify);
    if errors.is_empty() { Ok(observed.exit) } else { Err(SessionError::Write(errors.join("\n"))) }
}

fn check_arm(arm: &str, rows: &Rows) -> Result<(), SessionError> {
    let is_of_arm = |target: &str| target.strip_suffix(arm).is_some_and(|rest| rest.ends_with('/'));
    if rows.finished().any(|(key, _)| is_of_arm(&key.target)) {
        return Ok(());
    }
    let reason = format!("the results have no arm `{arm}`");
    Err(SessionError::argument("--baseline-arm", reason))
}

/// The rows of a stored run, and where they are from.
pub(super) struct ReportedRows<'a> {
    pub(super) loading: &'a LoadOptions,
    /// At least one.
    pub(super) results: &'a [Utf8PathBuf],
    pub(super) root: &'a Utf8Path,
    pub(super) rows: Rows,
    /// As [`StoredRunSpec::baseline_arm`].
    pub(super) baseline_arm: Option<&'a str>,
}

/// A stored run whose rows have all been observed.
pub(super) struct ObservedRun {
    pub(super) observer: RunObserver,
    pub(super) exit: SessionExit,
    pub(super) end: ReportedRun,
}

impl ReportedRows<'_> {
    /// Passes every row to the observer, and says how the run ended.
    pub(super) fn observe(
        self,
        mut observer: RunObserver,
        notify: &mut Notify<'_>,
    ) -> Result<ObservedRun, SessionError> {
        let Self { loading, results, root, mut rows, baseline_arm } = self;
        let rounds = StoredRounds::of(&rows);
        observer.know_rounds(rounds.clone());
        let mut history = TestHistory::new(observer.shows_history());
        let mut suites: Vec<String> = Vec::new();
        for row in rows.by_ref() {
            let mut row = row?;
            if let Some(arm) = baseline_arm {
                row.baseline_arm = row.arm.as_deref() == Some(arm);
            }
            observer.add(&row);
            history.add(root, &row);
            if !suites.contains(&row.dataset) {
                suites.push(row.dataset);
            }
        }
        if let count @ 1.. = rows.repeated() {
            let cases = if count == 1 { "case has" } else { "cases have" };
            let text =
                format!("{count} {cases} rows in more than one file; those of the last count");
            notify(Notice::Message(text));
        }
        let gaps = rows.gaps_shown(None, |path| loading.shown(path));
        if let Some(note) = gaps.unknown_note() {
            notify(Notice::Warning(note));
        }
        let planned = gaps.planned;
        observer.add_gaps(gaps);
        let (exit, mut end) = observer.end(&ExecutionEnd::Complete, None, notify);
        end.planned = (planned > 0).then_some(planned);
        end.suites = suites;
        end.rounds = rounds.map(ReportedRounds::from);
        end.results = match results {
            [one] => Some(loading.shown(one)),
            _ => results.first().and_then(|file| file.parent()).map(|path| loading.shown(path)),
        };
        end.compare_command = compare_command(&end);
        end.failed_command = next_command(loading, "--failed", results, "");
        end.history = history.read();
        Ok(ObservedRun { observer, exit, end })
    }
}

/// Reads older results of the suites in the results file.
fn read_baseline(
    spec: &StoredRunSpec,
    wanted: &BaselineSpec,
    rows: &Rows,
    root: &Utf8Path,
    notify: &mut Notify<'_>,
) -> Result<Baseline, SessionError> {
    let names = rows.suites().into_iter();
    let search = BaselineSearch {
        loading: &spec.loading,
        suites: names.map(|name| BaselineSuite { root, name, targets: &[] }).collect(),
        own: spec.results.clone(),
        shard: None,
    };
    Baseline::read(wanted, &search, notify)
}
