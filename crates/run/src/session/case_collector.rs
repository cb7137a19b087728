//! Rows as the cases of a comparison.

use std::sync::Arc;

use camino::Utf8PathBuf;
use evalrig_core::compare::ComparedCase;

use crate::results::{Row, Rows, SourcePlace};

use super::error::SessionError;
use super::known_secrets::known_secrets;
use super::spec::LoadOptions;

/// Cases of one run, added in any order.
#[derive(Debug, Default)]
pub(super) struct CaseCollector(Vec<(SourcePlace, ComparedCase)>);

impl CaseCollector {
    pub(super) fn add(&mut self, row: &Row) {
        self.0.push((row.source.clone(), ComparedCase::from(row)));
    }

    /// In the order of the suite; rows are in the order in which cases ended.
    pub(super) fn in_order(mut self) -> Vec<ComparedCase> {
        self.0.sort_by(|one, other| position(one).cmp(&position(other)));
        self.0.into_iter().map(|(_, case)| case).collect()
    }
}

fn position((place, case): &(SourcePlace, ComparedCase)) -> impl Ord {
    let test = (&case.test, &case.target, case.trial);
    (&case.suite, &place.file, place.line, test)
}

/// The cases of stored results, and what the results lack.
#[derive(Debug)]
pub struct StoredCases {
    /// In the order of the suite.
    pub cases: Vec<ComparedCase>,
    /// What is missing or damaged, a sentence each.
    pub gaps: Vec<String>,
    /// What is unknown of them.
    pub note: Option<String>,
}

/// Reads results files that belong together. With `shard`, the cases of other shards do not count as
/// missing.
pub fn read_cases(
    loading: &LoadOptions,
    results: &[Utf8PathBuf],
    shard: Option<&str>,
) -> Result<StoredCases, SessionError> {
    read_cases_with(loading, results, shard, |_| {})
}

/// The same, with another use of each row.
pub(super) fn read_cases_with(
    loading: &LoadOptions,
    results: &[Utf8PathBuf],
    shard: Option<&str>,
    mut keep: impl FnMut(&Row),
) -> Result<StoredCases, SessionError> {
    let mut found = CaseCollector::default();
    let secrets = known_secrets(loading, &loading.working_directory);
    let mut rows = Rows::open_all(results)?.redacting(Arc::new(secrets));
    for row in rows.by_ref() {
        let row = row?;
        keep(&row);
        found.add(&row);
    }
    let gaps = rows.gaps_shown(shard, |path| loading.shown(path));
    Ok(StoredCases { cases: found.in_order(), gaps: gaps.sentences(), note: gaps.unknown_note() })
}
