//! The history of records as points of a plot: runs that were logged close together.

use std::collections::BTreeMap;

use camino::{Utf8Path, Utf8PathBuf};
use jiff::SignedDuration;
use jiff::civil::DateTime;

use super::history_entry::{HistoryEntry, LoggedVerdict};
use super::store::Store;
use super::summary::RecordSummary;

/// A longer gap between the end of a case and the start of the next begins a new point. Judges and
/// retries happen in the gap.
const LONGEST_GAP_SECONDS: i64 = 60;
/// As many as a plot can show.
const MOST_POINTS: usize = 60;

/// Runs that were logged close together in time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PastPoint {
    /// Times as written; equal if there was one run.
    pub first: String,
    pub last: String,
    pub passes: u64,
    /// Runs with a verdict.
    pub trials: u64,
}

/// The points of the records in these files, oldest first. Unreadable files are skipped: the
/// recorder has already reported them.
pub fn past_points<'a>(records: impl IntoIterator<Item = &'a Utf8PathBuf>) -> Vec<PastPoint> {
    let mut names: BTreeMap<&Utf8Path, Vec<String>> = BTreeMap::new();
    for path in records {
        if let (Some(store), Some(name)) = (path.parent(), path.file_name()) {
            names.entry(store).or_default().push(name.to_owned());
        }
    }
    let read = names.into_iter().flat_map(|(store, names)| Store::open(store).read_all(&names));
    let summaries: Vec<RecordSummary> = read.flatten().map(|record| record.summary).collect();
    points_of(&summaries)
}

/// Uses the last turn of each record: the agent answered that one, and it was graded.
fn points_of(summaries: &[RecordSummary]) -> Vec<PastPoint> {
    let turns = summaries.iter().filter_map(|summary| summary.turns.last());
    let entries = turns.flat_map(|turn| turn.entries());
    let mut runs: Vec<GradedRun> = entries.filter_map(GradedRun::of).collect();
    runs.sort_by_key(|run| run.time);
    let points = group_by_time(&runs);
    let mut points = if points.len() > MOST_POINTS { group_by_day(&runs) } else { points };
    let oldest = points.len().saturating_sub(MOST_POINTS);
    points.drain(..oldest);
    points
}

/// A run with a verdict and a time.
struct GradedRun {
    started: DateTime,
    time: DateTime,
    written: String,
    is_pass: bool,
}

impl GradedRun {
    fn of(entry: &HistoryEntry) -> Option<Self> {
        let is_pass = match entry.verdict() {
            LoggedVerdict::Pass => true,
            LoggedVerdict::Borderline | LoggedVerdict::Fail => false,
            LoggedVerdict::Error | LoggedVerdict::Ungraded => return None,
        };
        let meta = entry.meta();
        let written = meta.ts?;
        let time: DateTime = written.trim().parse().ok()?;
        let took = i64::try_from(meta.duration_ms.unwrap_or(0)).ok()?;
        Some(Self {
            started: time.saturating_sub(SignedDuration::from_millis(took)),
            time,
            written,
            is_pass,
        })
    }
}

fn group_by_time(runs: &[GradedRun]) -> Vec<PastPoint> {
    let is_near = |one: &GradedRun, next: &GradedRun| {
        one.time.duration_until(next.started).as_secs() < LONGEST_GAP_SECONDS
    };
    runs.chunk_by(is_near).filter_map(|runs| point_of(&runs.iter().collect::<Vec<_>>())).collect()
}

fn group_by_day(runs: &[GradedRun]) -> Vec<PastPoint> {
    let mut days: BTreeMap<_, Vec<&GradedRun>> = BTreeMap::new();
    for run in runs {
        days.entry(run.time.date()).or_default().push(run);
    }
    days.values().filter_map(|runs| point_of(runs)).collect()
}

fn point_of(runs: &[&GradedRun]) -> Option<PastPoint> {
    Some(PastPoint {
        first: runs.first()?.written.clone(),
        last: runs.last()?.written.clone(),
        passes: runs.iter().filter(|run| run.is_pass).count() as u64,
        trials: runs.len() as u64,
    })
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    /// The points of a record with these runs, newest first.
    fn points(runs: &[(&str, &str)]) -> Vec<PastPoint> {
        let entry = |(evaluation, time): &(&str, &str)| {
            serde_json::json!({"evaluation": evaluation, "ts": time}).to_string()
        };
        let older: Vec<String> = runs.iter().skip(1).map(entry).collect();
        let newest = runs.iter().take(1).map(|(evaluation, time)| {
            format!("    evaluation: \"{evaluation}\"\n    meta: '{{\"ts\": \"{time}\"}}'\n")
        });
        let text = format!(
            "turns:\n  - input: Hello\n    evaluation: pass\n    ts: 2020-01-01 00:00:00\n  \
             - input: Say more\n{}    history: [{}]\n",
            newest.collect::<String>(),
            older.join(", ")
        );
        let folder = tempfile::tempdir().unwrap();
        let folder = Utf8Path::from_path(folder.path()).unwrap();
        fs::write(folder.join("hello.yaml"), text).unwrap();
        fs::write(folder.join("broken.yaml"), "- no summary").unwrap();
        past_points(&["hello", "broken", "gone"].map(|name| folder.join(format!("{name}.yaml"))))
    }

    fn shown(points: &[PastPoint]) -> Vec<String> {
        let shown = |point: &PastPoint| {
            let PastPoint { first, last, passes, trials } = point;
            format!("{first} to {last}: {passes} of {trials}")
        };
        points.iter().map(shown).collect()
    }

    #[test]
    fn runs_close_together_are_one_point() {
        let found = points(&[
            ("pass", "2026-01-02 10:02:58"),
            ("borderline", "2026-01-02 10:01:58"),
            ("fail: no", "2026-01-02 10:00:59"),
            ("pass", "2026-01-02 10:00:00"),
        ]);
        assert_eq!(
            shown(&found),
            [
                "2026-01-02 10:00:00 to 2026-01-02 10:01:58: 1 of 3",
                "2026-01-02 10:02:58 to 2026-01-02 10:02:58: 1 of 1",
            ]
        );
    }

    #[test]
    fn a_slow_case_started_with_the_others() {
        let run = |time: &str, minutes: i64| {
            let time: DateTime = time.parse().unwrap();
            GradedRun {
                started: time - SignedDuration::from_mins(minutes),
                time,
                written: time.to_string(),
                is_pass: true,
            }
        };
        let slow = [
            run("2026-01-02 10:00:00", 1),
            run("2026-01-02 10:30:00", 30),
            run("2026-01-02 10:59:00", 29),
        ];
        assert_eq!(group_by_time(&slow).len(), 1);
        let next = [slow[0].time, slow[1].time].map(|time| run(&time.to_string(), 1));
        assert_eq!(group_by_time(&next).len(), 2);
    }

    #[test]
    fn runs_without_a_verdict_or_time_are_omitted() {
        let found = points(&[
            ("error: down", "2026-01-02 10:00:00"),
            ("", "2026-01-02 11:00:00"),
            ("pass", "yesterday"),
            ("pass", "2026-01-02 12:00:00"),
        ]);
        assert_eq!(shown(&found), ["2026-01-02 12:00:00 to 2026-01-02 12:00:00: 1 of 1"]);
        assert_eq!(past_points(&[]), []);
    }

    #[test]
    fn too_many_points_become_one_per_day_and_the_newest_stay() {
        let times: Vec<String> = (0..62)
            .flat_map(|day| {
                let date = format!("2026-{:02}-{:02}", day / 28 + 1, day % 28 + 1);
                [format!("{date} 09:00:00"), format!("{date} 15:00:00")]
            })
            .collect();
        let runs: Vec<(&str, &str)> = times.iter().map(|time| ("pass", &**time)).collect();
        let found = points(&runs);
        assert_eq!(found.len(), 60);
        assert_eq!(shown(&found)[0], "2026-01-03 09:00:00 to 2026-01-03 15:00:00: 2 of 2");
        assert_eq!(points(&runs[..60]).len(), 60);
        assert_eq!(points(&runs[..60])[0].trials, 1);
    }
}
