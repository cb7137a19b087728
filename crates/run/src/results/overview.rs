//! A stored run in a few numbers, for lists of runs. Answers and grades are not read.

use std::collections::{BTreeMap, BTreeSet};

use camino::{Utf8Path, Utf8PathBuf};
use evalrig_core::model::Outcome;

use super::error::ReadError;
use super::follow::{FollowedFile, FollowedLine};
use super::rows::Rows;
use super::run_header::Completion;
use super::totals::{OutcomeCounts, PartialSum};

/// The id of the run that wrote a results file, from its first line. Older files do not say.
pub fn run_of_file(results: &Utf8Path) -> Option<String> {
    match FollowedFile::new(results).read_first().ok()?? {
        FollowedLine::Header(header) => header.run,
        FollowedLine::Row(row) => row.run,
        FollowedLine::End(_) | FollowedLine::Damaged(_) => None,
    }
}

/// What the results files of a run add up to.
#[derive(Debug, Clone, Default)]
pub struct ResultsOverview {
    /// Start of the run, RFC 3339, UTC; older files do not say.
    pub started: Option<String>,
    /// End of the run; `None` while it is going on, and if it was killed.
    pub ended: Option<String>,
    pub completion: Option<Completion>,
    pub suites: BTreeSet<String>,
    pub targets: BTreeSet<String>,
    /// Planned cases; 0 if unknown.
    pub planned: u64,
    pub counts: OutcomeCounts,
    /// Tests with a verdict, each target on its own.
    pub tests: u64,
    /// Tests whose trials disagree.
    pub flaky: u64,
    /// Of targets and judges.
    pub cost: PartialSum,
    /// The shortest text that says what the files lack.
    pub gaps: Option<String>,
}

impl ResultsOverview {
    /// Reads files that belong together.
    pub fn read(files: &[Utf8PathBuf]) -> Result<Self, ReadError> {
        let rows = Rows::open_all(files)?;
        let mut found = Self::default();
        let gaps = rows.gaps();
        (found.planned, found.gaps) = (gaps.planned, gaps.headline());
        found.started = rows.headers().map(|header| header.timestamp.clone()).min();
        if let Some(end) = rows.last_end() {
            (found.ended, found.completion) = (Some(end.timestamp.clone()), Some(end.completion));
        }
        for suite in rows.headers().flat_map(|header| &header.suites) {
            found.suites.insert(suite.name.clone());
            found.targets.extend(suite.cases.iter().flat_map(|group| group.targets.clone()));
        }
        let mut tests: BTreeMap<(&str, &str, &str), (u64, u64)> = BTreeMap::new();
        for (key, case) in rows.finished() {
            found.counts.add(case.outcome);
            let verdict = match case.outcome {
                Outcome::Passed => Some(true),
                Outcome::Borderline | Outcome::Failed => Some(false),
                Outcome::Errored | Outcome::Skipped => None,
            };
            if let Some(is_pass) = verdict {
                let test = (key.suite.as_str(), key.test.as_str(), key.target.as_str());
                let trials = tests.entry(test).or_default();
                *trials = (trials.0 + u64::from(is_pass), trials.1 + 1);
            }
            // A case without an answer has no cost to report.
            if verdict.is_some() || case.cost_usd.is_some() {
                found.cost.add(case.cost_usd);
            }
            if case.judge_cost_usd.is_some() {
                found.cost.add(case.judge_cost_usd);
            }
        }
        found.tests = tests.len() as u64;
        let is_flaky = |trials: &&(u64, u64)| trials.0 > 0 && trials.0 < trials.1;
        found.flaky = tests.values().filter(is_flaky).count() as u64;
        drop(tests);
        found.suites.extend(rows.suites().into_iter().map(str::to_owned));
        found.targets.extend(rows.finished().map(|(key, _)| key.target.clone()));
        Ok(found)
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use camino::Utf8Path;

    use super::super::testing::row;
    use super::*;

    #[test]
    fn trials_that_disagree_make_a_test_flaky() {
        let folder = tempfile::tempdir().unwrap();
        let path = Utf8Path::from_path(folder.path()).unwrap().join("r.jsonl");
        let mut text = String::new();
        for (test, trial, outcome) in [
            ("a", 1, Outcome::Passed),
            ("a", 2, Outcome::Failed),
            ("b", 1, Outcome::Failed),
            ("b", 2, Outcome::Failed),
            ("c", 1, Outcome::Passed),
            ("c", 2, Outcome::Errored),
        ] {
            let mut row = row(test, trial);
            row.outcome = outcome;
            (row.cost_usd, row.judge_usage) = ((test != "b").then_some(0.25), None);
            text += &(serde_json::to_string(&row).unwrap() + "\n");
        }
        fs::write(&path, text).unwrap();
        let found = ResultsOverview::read(&[path]).unwrap();
        assert_eq!((found.tests, found.flaky, found.counts.total()), (3, 1, 6));
        assert_eq!((found.cost.known, found.cost.unreported), (1.0, 2));
        assert_eq!((found.started, found.completion, found.gaps), (None, None, None));
        assert_eq!(found.suites.len(), 1);
    }
}
