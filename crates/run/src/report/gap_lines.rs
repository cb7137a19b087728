//! What the results lack, for every report: a run without all its rows has not passed.

use serde_json::{Value, json};

use super::ReportedRun;
use crate::text;

/// Of one sentence; it names at most ten cases.
const LONGEST: usize = 2_000;
/// Cases and lines in a document.
const LISTED: usize = 1_000;

/// One line each, without a period.
pub fn sentences(end: &ReportedRun) -> Vec<String> {
    end.gaps.sentences().iter().map(|sentence| text::line(sentence, LONGEST)).collect()
}

/// For programs; `None` if nothing is missing.
pub fn document(end: &ReportedRun) -> Option<Value> {
    let gaps = &end.gaps;
    if gaps.is_empty() {
        return None;
    }
    let case = |case: &crate::results::MissingCase| {
        let trial = (case.trial > 0).then_some(case.trial);
        json!({"dataset": case.suite, "evalId": case.test, "target": case.target, "trial": trial})
    };
    let line = |line: &crate::results::DamagedLine| json!({"file": line.file.as_str(), "line": line.line, "reason": line.reason});
    Some(json!({
        "planned": gaps.planned,
        "missing": gaps.missing_count,
        "cases": gaps.missing.iter().take(LISTED).map(case).collect::<Vec<_>>(),
        "shards": gaps.shards,
        "damaged": gaps.damaged.iter().take(LISTED).map(line).collect::<Vec<_>>(),
        "messages": gaps.sentences(),
    }))
}
