//! Reports a stored run again.

use std::collections::BTreeSet;

use camino::{Utf8Path, Utf8PathBuf};

use crate::execute::ExecutionEnd;
use crate::results::{ExitRule, Rows, read_finished};

use super::baseline::{Baseline, BaselineSearch, BaselineSuite, compare_command};
use super::error::{Notify, SessionError};
use super::history::TestHistory;
use super::observer::{RunObserver, SessionExit};
use super::report_set::ReportSet;
use super::resume::root_of_results;
use super::spec::{BaselineSpec, LoadOptions, ReportSpec};

/// Which stored run to report, and how.
#[derive(Debug, Clone)]
pub struct StoredRunSpec {
    pub loading: LoadOptions,
    /// A results file, absolute.
    pub results: Utf8PathBuf,
    pub exit_rule: ExitRule,
    pub baseline: Option<BaselineSpec>,
    pub reports: ReportSpec,
}

pub fn report_stored_run(
    spec: &StoredRunSpec,
    notify: &mut Notify<'_>,
) -> Result<SessionExit, SessionError> {
    let root = root_of_results(&spec.loading, &spec.results);
    let baseline = match &spec.baseline {
        Some(wanted) => Some(read_baseline(spec, wanted, &root, notify)?),
        None => None,
    };
    let rows = Rows::open(&spec.results)?;
    let roots = vec![root.clone()];
    let reports = ReportSet::open(&spec.loading, &spec.reports, spec.exit_rule, roots)?;
    let mut history = TestHistory::new(reports.shows_history);
    let mut observer = RunObserver::new(reports, spec.exit_rule, baseline);
    let mut suites: Vec<String> = Vec::new();
    for row in rows {
        let row = row?;
        observer.add(&row);
        history.add(&root, &row);
        if !suites.contains(&row.dataset) {
            suites.push(row.dataset);
        }
    }
    let (exit, mut end) = observer.end(&ExecutionEnd::Complete, None, notify);
    end.suites = suites;
    end.results = Some(spec.loading.shown(&spec.results));
    end.compare_command = compare_command(&end);
    end.history = history.read();
    let errors = observer.finish(&end, notify);
    if errors.is_empty() { Ok(exit) } else { Err(SessionError::Write(errors.join("\n"))) }
}

/// Reads older results of the suites in the results file.
fn read_baseline(
    spec: &StoredRunSpec,
    wanted: &BaselineSpec,
    root: &Utf8Path,
    notify: &mut Notify<'_>,
) -> Result<Baseline, SessionError> {
    let rows = read_finished(&spec.results)?;
    let names: BTreeSet<&str> = rows.keys().map(|key| key.suite.as_str()).collect();
    let search = BaselineSearch {
        loading: &spec.loading,
        suites: names.into_iter().map(|name| BaselineSuite { root, name }).collect(),
        own: vec![spec.results.clone()],
    };
    Baseline::read(wanted, &search, notify)
}
