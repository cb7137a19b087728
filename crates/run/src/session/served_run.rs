//! A stored run, or one that goes on, as a server shows it.

use std::sync::Arc;

use camino::{Utf8Path, Utf8PathBuf};
use evalrig_core::compare::{DEFAULT_MARGIN, Measure};
use evalrig_core::secrets::Secrets;

use crate::report::html::{PageMode, end_json, page_report};
use crate::report::{ReportedRun, SuiteText};
use crate::results::{ExitRule, Row, Rows};

use super::baseline::Baseline;
use super::error::{Notice, SessionError};
use super::observer::RunObserver;
use super::report_set::{ReportSet, SharedBytes};
use super::spec::{BaselineSpec, LoadOptions};
use super::stored_run::{ObservedRun, ReportedRows};
use super::suite_text::suite_text;

/// The results files of a run, and of the run that it is compared with.
#[derive(Debug, Clone)]
pub struct ServedRun {
    pub loading: LoadOptions,
    pub root: Utf8PathBuf,
    pub secrets: Arc<Secrets>,
    /// At least one; absolute.
    pub results: Vec<Utf8PathBuf>,
    /// Empty without a baseline.
    pub baseline: Vec<Utf8PathBuf>,
}

impl ServedRun {
    /// The page. A live one has no rows: they come as events.
    pub fn page(&self, mode: PageMode) -> Result<Vec<u8>, SessionError> {
        let is_live = mode.is_live;
        let bytes = SharedBytes::default();
        let report = page_report(self.suite_text(), mode);
        let mut reports = ReportSet::in_memory(report, bytes.clone());
        let errors = if is_live {
            reports.shows_history = false;
            let (observer, end) = (self.observer(reports, None), self.facts_so_far()?);
            observer.finish(&end, &mut |_| {})
        } else {
            let ObservedRun { observer, end, .. } = self.observe(reports)?;
            observer.finish(&end, &mut |_| {})
        };
        if errors.is_empty() {
            Ok(bytes.take())
        } else {
            Err(SessionError::Write(errors.join("\n")))
        }
    }

    /// The data of the `end` event.
    pub fn end_event(&self) -> Result<String, SessionError> {
        let ObservedRun { end, .. } = self.observe(ReportSet::none())?;
        Ok(end_json(self.rows()?, &end))
    }

    /// The lines of the suites, for reports that quote them.
    pub fn suite_text(&self) -> SuiteText {
        let roots = vec![self.root.clone()];
        suite_text(&self.loading.working_directory, roots).redacted(Arc::clone(&self.secrets))
    }

    fn rows(&self) -> Result<impl Iterator<Item = Row> + use<>, SessionError> {
        Ok(self.stored_rows()?.map_while(Result::ok))
    }

    fn stored_rows(&self) -> Result<Rows, SessionError> {
        Ok(Rows::open_all(&self.results)?.redacting(Arc::clone(&self.secrets)))
    }

    fn observer(&self, reports: ReportSet, baseline: Option<Baseline>) -> RunObserver {
        RunObserver::new(reports, ExitRule::default(), baseline)
    }

    fn observe(&self, reports: ReportSet) -> Result<ObservedRun, SessionError> {
        let rows = self.stored_rows()?;
        let observer = self.observer(reports, self.read_baseline()?);
        let (loading, results, root) = (&self.loading, &self.results[..], &self.root);
        let stored = ReportedRows { loading, results, root, rows, baseline_arm: None };
        // A page shows what the results lack; there is no terminal.
        stored.observe(observer, &mut |_: Notice<'_>| {})
    }

    fn read_baseline(&self) -> Result<Option<Baseline>, SessionError> {
        if self.baseline.is_empty() {
            return Ok(None);
        }
        let spec = BaselineSpec {
            runs: Vec::new(),
            most_runs: None,
            margin: DEFAULT_MARGIN,
            has_margin: false,
            measure: Measure::Rate,
            is_gated: false,
        };
        Baseline::read_files(&spec, &self.loading, &self.baseline, &mut |_| {}).map(Some)
    }

    /// What is known before the end: cases without a row are still to come.
    pub fn facts_so_far(&self) -> Result<ReportedRun, SessionError> {
        let rows = self.stored_rows()?;
        let mut facts = ReportedRun::default();
        let planned: u64 = rows.headers().map(|header| header.cases).sum();
        facts.planned = (planned > 0).then_some(planned);
        let command = rows.headers().find_map(|header| header.command.as_ref());
        facts.command = command.map(|command| self.secrets.redact(command));
        for suite in rows.headers().flat_map(|header| &header.suites) {
            let name = self.secrets.redact(&suite.name);
            if !facts.suites.contains(&name) {
                facts.suites.push(name);
            }
        }
        facts.results = self.results.first().map(|file| {
            let is_one = self.results.len() == 1;
            let shown = if is_one { file } else { file.parent().unwrap_or(Utf8Path::new("")) };
            self.loading.shown(shown)
        });
        Ok(facts)
    }
}
