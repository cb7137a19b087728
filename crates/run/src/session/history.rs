//! Reads earlier results of a run's tests from the run log, for reports that show them.

use std::collections::BTreeSet;

use crate::report::PastRuns;
use crate::results::Row;
use crate::runlog::past_points;
use camino::{Utf8Path, Utf8PathBuf};

/// The run log records that rows refer to.
#[derive(Debug)]
pub(super) struct TestHistory {
    records: BTreeSet<Utf8PathBuf>,
    is_enabled: bool,
}

impl TestHistory {
    /// Stays empty if no report shows the history.
    pub(super) fn new(is_enabled: bool) -> Self {
        Self { records: BTreeSet::new(), is_enabled }
    }

    /// The paths of records are relative to the root.
    pub(super) fn add(&mut self, root: &Utf8Path, row: &Row) {
        if let Some(record) = row.record.as_ref().filter(|_| self.is_enabled) {
            self.records.insert(root.join(&record.file));
        }
    }

    /// Oldest first; the run itself is included.
    pub(super) fn read(&self) -> Vec<PastRuns> {
        let points = past_points(&self.records).into_iter();
        points
            .map(|point| PastRuns {
                first: point.first,
                last: point.last,
                passes: point.passes,
                trials: point.trials,
            })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use serde_json::json;

    use super::*;

    fn row(record: &str) -> Row {
        let row = json!({
            "schemaVersion": 1, "timestamp": "2026-01-02T03:04:05Z", "evalId": "a",
            "dataset": "s", "conversationId": null, "score": 1.0, "verdict": "pass",
            "outcome": "passed", "hits": [], "misses": [], "candidateAnswer": null,
            "target": "t", "trial": 1, "attempts": 1, "durationMs": null, "costUsd": null,
            "tokens": null, "traceSummary": {}, "evaluatorResults": [], "judgeUsage": null,
            "error": null, "testHash": "h", "source": {"file": "EVAL.yaml", "line": 1},
            "record": {"file": record, "run": 2}
        });
        serde_json::from_value(row).unwrap()
    }

    #[test]
    fn every_record_is_read_once_and_only_for_reports_that_show_it() {
        let folder = tempfile::tempdir().unwrap();
        let root = Utf8Path::from_path(folder.path()).unwrap();
        fs::create_dir_all(root.join(".co/evals")).unwrap();
        let text = "turns: [{input: hi, evaluation: pass, ts: '2026-01-02 03:04:05', \
                    history: [{evaluation: fail, ts: '2026-01-01 03:04:05'}]}]\n";
        fs::write(root.join(".co/evals/hi.yaml"), text).unwrap();
        for is_enabled in [true, false] {
            let mut history = TestHistory::new(is_enabled);
            for record in [".co/evals/hi.yaml", ".co/evals/hi.yaml", ".co/evals/no.yaml"] {
                history.add(root, &row(record));
            }
            let found: Vec<_> = history.read().iter().map(|p| (p.passes, p.trials)).collect();
            let expected: &[(u64, u64)] = if is_enabled { &[(0, 1), (1, 1)] } else { &[] };
            assert_eq!(found, expected);
        }
    }
}
