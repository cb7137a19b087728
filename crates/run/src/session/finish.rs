//! Finishes a run: results files, summaries, reports and the exit code.

use camino::Utf8PathBuf;

use crate::execute::ExecutionEnd;
use crate::report::{ReportedRounds, ReportedRun, RunLogNews};
use crate::results::{Completion, Gaps, GateResult, RunTotals, RunVerdict};

use super::baseline::compare_command;
use super::error::{Notice, Notify};
use super::next_command::next_command;
use super::observer::{RunObserver, SessionExit};
use super::results_files::{FileEnd, FinishedFiles, ResultsFiles};
use super::run_job::FinishedJob;
use super::spec::{LoadOptions, RunSpec};

/// The result of a run.
#[derive(Debug)]
pub struct FinishedRun {
    pub exit: SessionExit,
    pub totals: RunTotals,
    /// Whether a limit, such as the budget, left cases out.
    pub is_limited: bool,
    /// The results files, absolute.
    pub results: Vec<Utf8PathBuf>,
}

#[cfg(feature = "queue")]
impl FinishedRun {
    /// Others follow the run.
    pub(super) fn detached() -> Self {
        let exit = SessionExit::Run(RunVerdict::Passed);
        Self { exit, totals: RunTotals::default(), is_limited: false, results: Vec::new() }
    }
}

/// A job that has ended, and what it was part of.
pub(super) struct EndedRun {
    pub(super) end: FinishedJob,
    /// Cases of the plan.
    pub(super) planned: usize,
    /// Whether a stored run was graded again.
    pub(super) is_regrade: bool,
    /// What the gate said of the answers that are graded again.
    pub(super) earlier_gate: Option<GateResult>,
    pub(super) run_log: RunLogNews,
}

pub(super) fn finish_run(
    spec: &RunSpec,
    run: &EndedRun,
    mut observer: RunObserver,
    results_files: ResultsFiles,
    notify: &mut Notify<'_>,
) -> FinishedRun {
    let EndedRun { end, planned, is_regrade, earlier_gate, run_log } = run;
    let ended = &end.ended;
    let completion = completion(ended);
    let rounds = results_files.rounds().zip(observer.round_record());
    let rounds = rounds.map(|(settings, record)| ReportedRounds { settings, record });
    let last = rounds.as_ref().map(|one| one.record.rounds);
    let last = last.filter(|_| *ended == ExecutionEnd::Settled);
    let gaps = results_files.find_gaps(completion, last, &spec.loading);
    let ends: Vec<Completion> = gaps
        .iter()
        .map(|gaps| match completion {
            Completion::Complete | Completion::Settled | Completion::Limited
                if gaps.missing_count > 0 =>
            {
                if *is_regrade {
                    Completion::Incomplete
                } else {
                    Completion::Interrupted
                }
            }
            completion => completion,
        })
        .collect();
    gaps.into_iter().for_each(|gaps| observer.add_gaps(gaps));
    observer.add_gaps(unread_gaps(ended, *planned as u64, &observer));
    let (exit, mut reported) = observer.end(ended, end.signal, notify);
    if let ExecutionEnd::Broken(reason) | ExecutionEnd::EndedElsewhere(reason) = ended {
        notify(Notice::Message(reason.clone()));
    }
    reported.duration_ms = u64::try_from(end.duration.as_millis()).ok();
    reported.planned = Some(match ended {
        // Of later rounds nothing is missing.
        ExecutionEnd::Settled => observer.totals.counts.total(),
        _ => *planned as u64,
    });
    reported.run_log = *run_log;
    reported.command.clone_from(&spec.command);
    reported.history = results_files.read_history();
    let mut files = results_files.finish(
        &ends,
        &FileEnd {
            rounds: rounds.as_ref().map(|rounds| &rounds.record),
            gate: observer.gate.or(*earlier_gate),
            duration_ms: reported.duration_ms,
            exit_code: exit.code(),
        },
    );
    reported.rounds = rounds;
    describe_files(&mut files, &spec.loading, &mut reported);
    let next = |option, more: &str| next_command(&spec.loading, option, &files.results, more);
    reported.failed_command = next("--failed", &spec.rerun.failed);
    reported.resume_command = next("--resume", &spec.rerun.resume);
    reported.compare_command = compare_command(&reported);
    let totals = observer.totals;
    files.errors.extend(observer.finish(&reported, notify));
    let is_written = files.errors.is_empty();
    for error in files.errors {
        notify(Notice::Message(error));
    }
    FinishedRun {
        exit: match exit {
            SessionExit::Run(RunVerdict::Passed) if !is_written => {
                SessionExit::Run(RunVerdict::Incomplete)
            }
            exit => exit,
        },
        totals,
        is_limited: completion == Completion::Limited,
        results: files.results,
    }
}

fn completion(ended: &ExecutionEnd) -> Completion {
    match ended {
        ExecutionEnd::Complete => Completion::Complete,
        ExecutionEnd::Settled => Completion::Settled,
        ExecutionEnd::Limited(_) => Completion::Limited,
        ExecutionEnd::FailedFast | ExecutionEnd::Cancelled | ExecutionEnd::EndedElsewhere(_) => {
            Completion::Interrupted
        }
        ExecutionEnd::Broken(_) => Completion::WriteError,
    }
}

/// Cases without a row in a file that cannot be read back, such as a pipe.
fn unread_gaps(ended: &ExecutionEnd, planned: u64, observer: &RunObserver) -> Gaps {
    let rows = observer.totals.counts.total();
    let is_whole = matches!(ended, ExecutionEnd::Complete | ExecutionEnd::Settled);
    let is_known = observer.has_gaps() || is_whole;
    match planned.saturating_sub(rows) {
        missing_count @ 1.. if !is_known => Gaps { planned, missing_count, ..Gaps::default() },
        _ => Gaps::default(),
    }
}

/// Adds the files to the report: one file, or the folder of several.
fn describe_files(files: &mut FinishedFiles, loading: &LoadOptions, end: &mut ReportedRun) {
    end.suites = std::mem::take(&mut files.suites);
    end.results = match &files.results[..] {
        [] => None,
        [one] => Some(loading.shown(one)),
        [.., last] => last.parent().map(|folder| loading.shown(folder)),
    };
    if let [(path, summary)] = &files.summaries[..] {
        end.summary = path.as_ref().map(|path| loading.shown(path));
        end.summary_document = serde_json::to_value(summary).ok();
    }
}
