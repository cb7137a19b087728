//! Finishes a run: results files, summaries, reports and the exit code.

use std::time::Duration;

use camino::Utf8PathBuf;

use crate::execute::Ended;
use crate::record::{End, RunExit, RunTotals};
use crate::report::RunEnd;

use super::baseline::compare_command;
use super::error::{Notice, Notify};
use super::observer::{RunObserver, SessionExit, stopped};
use super::recorders::{FinishedFiles, Recorders};
use super::run_job::JobEnd;
use super::spec::{LoadOptions, RerunCommands};

/// What is known after the last case.
pub(super) struct RunFinish<'a> {
    pub(super) loading: &'a LoadOptions,
    pub(super) end: JobEnd,
    pub(super) planned: usize,
    pub(super) rerun: Option<&'a RerunCommands>,
    pub(super) duration: Duration,
}

/// The result of a run.
#[derive(Debug)]
pub struct RunOutcome {
    pub exit: SessionExit,
    pub totals: RunTotals,
    /// The results files, absolute.
    pub results: Vec<Utf8PathBuf>,
}

pub(super) fn finish_run(
    finish: RunFinish<'_>,
    mut observer: RunObserver,
    recorders: Recorders,
    notify: &mut Notify<'_>,
) -> RunOutcome {
    let JobEnd { ended, signal } = &finish.end;
    let is_gated = observer.is_gated();
    let compared = observer.compare(ended, notify);
    let gated = compared.as_ref().filter(|_| is_gated);
    let exit = observer.exit(ended, *signal, gated.map(|compared| &compared.comparison));
    if let Ended::Broken(reason) = ended {
        notify(Notice::Message(reason.clone()));
    }
    let duration_ms = u64::try_from(finish.duration.as_millis()).ok();
    let history = recorders.history();
    let end = match ended {
        Ended::Complete => End::Complete,
        // Cases that a limit prevented can be resumed.
        Ended::Limited(_) | Ended::Cancelled | Ended::Broken(_) => End::Interrupted,
    };
    let mut files = recorders.finish(end, duration_ms, exit.code());
    let mut run_end = RunEnd {
        duration_ms,
        exit_code: Some(exit.code()),
        stopped: stopped(ended),
        planned: Some(finish.planned as u64),
        command: finish.rerun.map(|rerun| match ended {
            Ended::Cancelled => rerun.interrupted.clone(),
            _ => rerun.complete.clone(),
        }),
        is_gated,
        history: history
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner)
            .read(),
        ..RunEnd::default()
    };
    describe_files(&mut files, finish.loading, &mut run_end);
    let results = run_end.results.as_deref();
    let whole = compared.as_ref().zip(results);
    run_end.compare_command = whole.and_then(|(one, results)| compare_command(one, results));
    run_end.compared = compared;
    let totals = observer.totals();
    files.errors.extend(observer.finish(&run_end, notify));
    let is_written = files.errors.is_empty();
    for error in files.errors {
        notify(Notice::Message(error));
    }
    RunOutcome {
        exit: match exit {
            SessionExit::Run(RunExit::Passed) if !is_written => {
                SessionExit::Run(RunExit::Incomplete)
            }
            exit => exit,
        },
        totals,
        results: files.results,
    }
}

/// Adds the files to the report: one file, or the folder of several.
fn describe_files(files: &mut FinishedFiles, loading: &LoadOptions, end: &mut RunEnd) {
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
