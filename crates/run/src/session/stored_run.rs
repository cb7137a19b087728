//! Reports a stored run again.

use std::collections::BTreeSet;

use camino::{Utf8Path, Utf8PathBuf};

use crate::execute::Ended;
use crate::record::{ExitRule, Rows, read_finished};
use crate::report::RunEnd;

use super::baseline::{Baseline, BaselineSuite, compare_command};
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
    let root = match &spec.loading.root {
        Some(root) => root.clone(),
        None => root_of_results(&spec.results),
    };
    let baseline = match &spec.baseline {
        Some(wanted) => Some(read_baseline(spec, wanted, &root, notify)?),
        None => None,
    };
    let rows = Rows::open(&spec.results)?;
    let roots = vec![root.clone()];
    let reports = ReportSet::open(&spec.loading, &spec.reports, spec.exit_rule, roots)?;
    let mut history = TestHistory::for_reports(&reports);
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
    let is_gated = observer.is_gated();
    let compared = observer.compare(&Ended::Complete, notify);
    let gated = compared.as_ref().filter(|_| is_gated);
    let gated = gated.map(|compared| &compared.comparison);
    let exit = observer.exit(&Ended::Complete, None, gated);
    let shown = spec.loading.shown(&spec.results);
    let end = RunEnd {
        suites,
        compare_command: compared
            .as_ref()
            .and_then(|compared| compare_command(compared, &shown)),
        results: Some(shown),
        exit_code: Some(exit.code()),
        compared,
        is_gated,
        history: history.read(),
        ..RunEnd::default()
    };
    let errors = observer.finish(&end, notify);
    if errors.is_empty() {
        Ok(exit)
    } else {
        Err(SessionError::Write(errors.join("\n")))
    }
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
    let of_suite = |name: &str| BaselineSuite {
        root: root.to_owned(),
        name: name.to_owned(),
    };
    let suites: Vec<BaselineSuite> = names.into_iter().map(of_suite).collect();
    let own = [spec.results.clone()];
    Baseline::read(&spec.loading, wanted, &suites, &own, notify)
}
