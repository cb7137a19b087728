//! What the run log remembers of the tests of a run, for the reports that show it.

use std::collections::BTreeSet;

use camino::{Utf8Path, Utf8PathBuf};
use evalrig_run::record::Row;
use evalrig_run::report::PastRuns;
use evalrig_run::runlog::past_points;

use crate::reports::Reports;

/// The records that rows name.
#[derive(Debug)]
pub(super) struct Past {
    records: BTreeSet<Utf8PathBuf>,
    is_wanted: bool,
}

impl Past {
    /// Nothing is gathered, and no store read, for reports that do not show it.
    pub(super) fn for_reports(reports: &Reports) -> Self {
        Self {
            records: BTreeSet::new(),
            is_wanted: reports.want_history,
        }
    }

    /// Rows name records as seen from the root.
    pub(super) fn row(&mut self, root: &Utf8Path, row: &Row) {
        if let Some(record) = row.record.as_ref().filter(|_| self.is_wanted) {
            self.records.insert(root.join(&record.file));
        }
    }

    /// Oldest first. The run itself is in it.
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
    fn every_record_that_rows_name_is_read_once_and_only_if_it_is_wanted() {
        let folder = tempfile::tempdir().unwrap();
        let root = Utf8Path::from_path(folder.path()).unwrap();
        fs::create_dir_all(root.join(".co/evals")).unwrap();
        let text = "turns: [{input: hi, evaluation: pass, ts: '2026-01-02 03:04:05', \
                    history: [{evaluation: fail, ts: '2026-01-01 03:04:05'}]}]\n";
        fs::write(root.join(".co/evals/hi.yaml"), text).unwrap();
        for is_wanted in [true, false] {
            let mut past = Past {
                records: BTreeSet::new(),
                is_wanted,
            };
            for record in [
                ".co/evals/hi.yaml",
                ".co/evals/hi.yaml",
                ".co/evals/no.yaml",
            ] {
                past.row(root, &row(record));
            }
            let found: Vec<_> = past.read().iter().map(|p| (p.passes, p.trials)).collect();
            let wanted: &[(u64, u64)] = if is_wanted { &[(0, 1), (1, 1)] } else { &[] };
            assert_eq!(found, wanted);
        }
    }
}
