//! Finishes a run: results files, summaries, reports and the exit code.

use camino::Utf8PathBuf;

use crate::execute::ExecutionEnd;
use crate::report::ReportedRun;
use crate::results::{Completion, RunTotals, RunVerdict};

use super::baseline::compare_command;
use super::error::{Notice, Notify};
use super::observer::{RunObserver, SessionExit};
use super::results_files::{FinishedFiles, ResultsFiles};
use super::run_job::FinishedJob;
use super::spec::{LoadOptions, RunSpec};

/// The result of a run.
#[derive(Debug)]
pub struct FinishedRun {
    pub exit: SessionExit,
    pub totals: RunTotals,
    /// The results files, absolute.
    pub results: Vec<Utf8PathBuf>,
}

pub(super) fn finish_run(
    spec: &RunSpec,
    end: &FinishedJob,
    planned: usize,
    mut observer: RunObserver,
    results_files: ResultsFiles,
    notify: &mut Notify<'_>,
) -> FinishedRun {
    let ended = &end.ended;
    let (exit, mut reported) = observer.end(ended, end.signal, notify);
    if let ExecutionEnd::Broken(reason) = ended {
        notify(Notice::Message(reason.clone()));
    }
    reported.duration_ms = u64::try_from(end.duration.as_millis()).ok();
    reported.planned = Some(planned as u64);
    reported.command = spec.rerun.as_ref().map(|rerun| match ended {
        ExecutionEnd::Cancelled => rerun.interrupted.clone(),
        _ => rerun.complete.clone(),
    });
    reported.history = results_files.read_history();
    let journal_end = match ended {
        ExecutionEnd::Complete => Completion::Complete,
        // Cases that a limit prevented can be resumed.
        ExecutionEnd::Limited(_) | ExecutionEnd::Cancelled | ExecutionEnd::Broken(_) => {
            Completion::Interrupted
        }
    };
    let mut files = results_files.finish(journal_end, reported.duration_ms, exit.code());
    describe_files(&mut files, &spec.loading, &mut reported);
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
        results: files.results,
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
