//! The last run of a suite, from the results that `evalrig run` keeps in `.evalrig/`: how often each
//! test passed, and what became of each assertion.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::SystemTime;

use camino::{Utf8Path, Utf8PathBuf};
use evalrig_core::model::Outcome;
use evalrig_core::secrets::Secrets;
use evalrig_core::stats::{between, wilson};
use evalrig_run::results::{EvaluatorResult, GradeOutcome, ResultsPaths, Rows};

/// Of larger results only the verdicts are read.
const LARGEST_IN_FULL: u64 = 64 * 1024 * 1024;

const CONFIDENCE: f64 = 0.95;

/// Trials of one test that got a verdict, over all targets.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct TestResult {
    pub(crate) passed: u64,
    pub(crate) all: u64,
    /// Trials that could not be measured.
    pub(crate) errored: u64,
    pub(crate) assertions: HashMap<String, AssertionResult>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct AssertionResult {
    pub(crate) met: u64,
    pub(crate) all: u64,
    /// What the last trial that missed it says.
    pub(crate) miss: Option<String>,
}

/// One results file.
#[derive(Debug, Clone, Default)]
pub(crate) struct LastRun {
    pub(crate) file: Utf8PathBuf,
    pub(crate) tests: HashMap<String, TestResult>,
}

impl TestResult {
    /// `4/5 (95 % CI 38–96 %)`; what could not be measured is counted apart.
    pub(crate) fn text(&self) -> String {
        let mut parts = Vec::new();
        if self.all > 0 {
            let interval = between(wilson(self.passed, self.all, CONFIDENCE));
            parts.push(format!("{}/{} ({interval})", self.passed, self.all));
        }
        if self.errored > 0 {
            parts.push(format!("{} not measured", self.errored));
        }
        parts.join(", ")
    }
}

/// The runs that were read, by file. A file is read again when it has changed.
#[derive(Debug, Default)]
pub(crate) struct LastRuns {
    known: HashMap<Utf8PathBuf, (SystemTime, u64, Arc<LastRun>)>,
}

impl LastRuns {
    /// The newest results of a suite in its repository.
    pub(crate) fn of_suite(
        &mut self,
        root: &Utf8Path,
        suite: &str,
        secrets: &Secrets,
    ) -> Option<Arc<LastRun>> {
        let file = ResultsPaths::latest_of(root, suite)?;
        let facts = file.metadata().ok()?;
        let (changed, size) = (facts.modified().ok()?, facts.len());
        if let Some((known, length, run)) = self.known.get(&file)
            && (*known, *length) == (changed, size)
        {
            return Some(Arc::clone(run));
        }
        let run = Arc::new(read(&file, suite, size, secrets)?);
        self.known.insert(file, (changed, size, Arc::clone(&run)));
        Some(run)
    }
}

fn read(file: &Utf8Path, suite: &str, size: u64, secrets: &Secrets) -> Option<LastRun> {
    let rows = Rows::open(file).ok()?.redacting(Arc::new(secrets.clone()));
    let mut run = LastRun { file: file.to_owned(), tests: HashMap::new() };
    for (key, finished) in rows.finished() {
        if key.suite != suite || finished.baseline_arm {
            continue;
        }
        let test = run.tests.entry(key.test.clone()).or_default();
        match finished.outcome {
            Outcome::Passed => (test.passed, test.all) = (test.passed + 1, test.all + 1),
            Outcome::Borderline | Outcome::Failed => test.all += 1,
            Outcome::Errored => test.errored += 1,
            Outcome::Skipped => {}
        }
    }
    if size <= LARGEST_IN_FULL {
        for row in rows.filter_map(Result::ok).filter(|row| row.dataset == suite) {
            if let Some(test) = run.tests.get_mut(&row.eval_id)
                && !row.baseline_arm
            {
                add_assertions(&mut test.assertions, &row.evaluator_results, "");
            }
        }
    }
    Some(run)
}

fn add_assertions(
    found: &mut HashMap<String, AssertionResult>,
    results: &[EvaluatorResult],
    above: &str,
) {
    for result in results {
        let name = format!("{above}{}", result.name);
        if result.outcome == GradeOutcome::Graded {
            let one = found.entry(name.clone()).or_default();
            one.all += 1;
            if result.misses.is_empty() {
                one.met += 1;
            } else {
                one.miss = result.misses.first().cloned();
            }
        }
        let members = result.evaluator_results.as_deref().unwrap_or_default();
        add_assertions(found, members, &format!("{name}/"));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_share_has_the_interval_of_the_reports() {
        let result =
            |passed, all, errored| TestResult { passed, all, errored, ..TestResult::default() };
        assert_eq!(result(4, 5, 0).text(), "4/5 (95 % CI 38–96 %)");
        assert_eq!(result(0, 0, 2).text(), "2 not measured");
        assert_eq!(result(1, 1, 1).text(), "1/1 (95 % CI 21–100 %), 1 not measured");
        assert_eq!(result(0, 0, 0).text(), "");
    }
}
