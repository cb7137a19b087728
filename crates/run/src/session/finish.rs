//! Finishes a run: results files, summaries, reports and the exit code.

use camino::Utf8PathBuf;

use crate::execute::Ended;
use crate::record::{End, RunExit, RunTotals};
use crate::report::RunEnd;

use super::baseline::compare_command;
use super::error::{Notice, Notify};
use super::observer::{RunObserver, SessionExit};
use super::recorders::{FinishedFiles, Recorders};
use super::run_job::JobEnd;
use super::spec::{LoadOptions, RunSpec};

/// The result of a run.
#[derive(Debug)]
pub struct RunOutcome {
    pub exit: SessionExit,
    pub totals: RunTotals,
    /// The results files, absolute.
    pub results: Vec<Utf8PathBuf>,
}

pub(super) fn finish_run(
    spec: &RunSpec,
    end: &JobEnd,
    planned: usize,
    mut observer: RunObserver,
    recorders: Recorders,
    notify: &mut Notify<'_>,
) -> RunOutcome {
    let ended = &end.ended;
    let (exit, mut run_end) = observer.end(ended, end.signal, notify);
    if let Ended::Broken(reason) = ended {
        notify(Notice::Message(reason.clone()));
    }
    run_end.duration_ms = u64::try_from(end.duration.as_millis()).ok();
    run_end.planned = Some(planned as u64);
    run_end.command = spec.rerun.as_ref().map(|rerun| match ended {
        Ended::Cancelled => rerun.interrupted.clone(),
        _ => rerun.complete.clone(),
    });
    run_end.history = recorders.read_history();
    let journal_end = match ended {
        Ended::Complete => End::Complete,
        // Cases that a limit prevented can be resumed.
        Ended::Limited(_) | Ended::Cancelled | Ended::Broken(_) => End::Interrupted,
    };
    let mut files = recorders.finish(journal_end, run_end.duration_ms, exit.code());
    describe_files(&mut files, &spec.loading, &mut run_end);
    run_end.compare_command = compare_command(&run_end);
    let totals = observer.totals;
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
