//! What a run comes to: rows go to reports, summaries and the exit code.

use std::time::{Duration, SystemTime};

use camino::Utf8PathBuf;
use evalrig_run::execute::{Books, Ended, Limit, SuiteJob};
use evalrig_run::record::{
    Borderline, End, ExitRule, ExitTally, Row, RunFacts, SummaryBuilder, rfc3339, write_summary,
};
use evalrig_run::report::{Compared, RunEnd, Setting, Stopped};

use crate::args::{self, Grading};
use crate::command::baseline::{self, Baseline};
use crate::command::compare::gate;
use crate::command::past::Past;
use crate::context::{Context, complain};
use crate::exit::Exit;
use crate::reports::{Reports, suite_text};

use super::Ending;

pub(in super::super) fn rule_of(grading: &Grading) -> ExitRule {
    rule(grading.pass_trials, grading.allow_borderline)
}

pub(in super::super) fn rule(pass_trials: f64, allow_borderline: bool) -> ExitRule {
    ExitRule {
        pass_trials,
        borderline: if allow_borderline {
            Borderline::Passes
        } else {
            Borderline::Fails
        },
    }
}

/// Before any results are begun: a report that cannot be written leaves nothing behind.
pub(in super::super) fn open_reports(
    context: &Context,
    reports: &args::Reports,
    rule: ExitRule,
    suites: &[SuiteJob],
) -> Result<Reports, Exit> {
    let roots: Vec<_> = suites.iter().map(|suite| suite.root.clone()).collect();
    let setting = Setting {
        style: context.look(),
        detail: context.detail(),
        text: suite_text(context, roots),
        borderline: rule.borderline,
    };
    Reports::open(context, &reports.list, &setting)
}

/// Hears every row once.
#[derive(Debug)]
pub(in super::super) struct Account {
    reports: Reports,
    exit: ExitTally,
    /// One for each file of rows.
    tallies: Vec<Tally>,
    /// Which of them a suite has.
    of_suite: Vec<usize>,
    /// Where the paths of a suite's rows start.
    roots: Vec<Utf8PathBuf>,
    past: Past,
    baseline: Option<Baseline>,
}

/// The rows of one file.
#[derive(Debug)]
struct Tally {
    suites: Vec<String>,
    rows: SummaryBuilder,
}

/// What is known at the end.
pub(in super::super) struct Finish<'a> {
    pub(in super::super) context: &'a Context,
    pub(in super::super) ended: Ending,
    pub(in super::super) books: Books,
    pub(in super::super) planned: usize,
    /// What was typed, to be typed again.
    pub(in super::super) command: Option<String>,
    pub(in super::super) duration: Duration,
}

impl Account {
    pub(in super::super) fn open(
        reports: Reports,
        suites: &[SuiteJob],
        books: &Books,
        rule: ExitRule,
        baseline: Option<Baseline>,
    ) -> Self {
        let mut tallies: Vec<Tally> = books.recorders.iter().map(|_| Tally::new()).collect();
        for (suite, at) in suites.iter().zip(&books.of_suite) {
            tallies[*at].suites.push(suite.suite.name.clone());
        }
        Self {
            past: Past::for_reports(&reports),
            reports,
            exit: ExitTally::new(rule),
            tallies,
            of_suite: books.of_suite.clone(),
            roots: suites.iter().map(|suite| suite.root.clone()).collect(),
            baseline,
        }
    }

    /// Suites are told apart by their place: two may have one name.
    pub(in super::super) fn row(&mut self, suite: usize, row: &Row) {
        self.reports.row(row);
        self.exit.add(row);
        self.tallies[self.of_suite[suite]].rows.add(row);
        self.past.row(&self.roots[suite], row);
        if let Some(baseline) = &mut self.baseline {
            baseline.row(row);
        }
    }

    /// A part of a run says nothing of the whole.
    fn compare(&mut self, ended: &Ended) -> Option<Compared> {
        let baseline = self.baseline.take()?;
        match ended {
            Ended::Complete | Ended::Limited(_) => Some(baseline.compare()),
            Ended::Cancelled | Ended::Broken(_) => {
                complain("--baseline: nothing is compared, the run did not come to its end");
                None
            }
        }
    }

    /// Where there is a gate, its comparison decides in place of the tests.
    fn exit(&self, ending: &Ending, gated: Option<&Compared>) -> Exit {
        match (&ending.ended, ending.signal, gated) {
            (Ended::Cancelled, Some(signal), _) => signal,
            (Ended::Broken(reason), ..) => {
                complain(reason);
                Exit::Incomplete
            }
            (_, _, Some(compared)) => gate::gated(&compared.comparison, self.exit.is_incomplete()),
            _ => Exit::from(self.exit.exit()),
        }
    }

    /// Closes everything and decides how the program exits.
    pub(in super::super) fn finish(mut self, finish: Finish<'_>) -> Result<Exit, Exit> {
        let is_gated = self.baseline.as_ref().is_some_and(Baseline::is_gated);
        let compared = self.compare(&finish.ended.ended);
        let exit = self.exit(&finish.ended, compared.as_ref().filter(|_| is_gated));
        let end = match finish.ended.ended {
            Ended::Complete => End::Complete,
            // What a limit left out can be done later.
            Ended::Limited(_) | Ended::Cancelled | Ended::Broken(_) => End::Interrupted,
        };
        let mut run_end = RunEnd {
            suites: self
                .tallies
                .iter()
                .flat_map(|one| one.suites.clone())
                .collect(),
            duration_ms: u64::try_from(finish.duration.as_millis()).ok(),
            exit_code: Some(exit.code()),
            stopped: stopped(&finish.ended.ended),
            planned: Some(finish.planned as u64),
            command: finish.command,
            compared,
            is_gated,
            history: self.past.read(),
            ..RunEnd::default()
        };
        let mut is_well = true;
        for (recorder, tally) in finish.books.recorders.into_iter().zip(&self.tallies) {
            let place = recorder.place().clone();
            let summary = tally.rows.finish(RunFacts {
                suite: tally.suites.join(", "),
                timestamp: rfc3339(SystemTime::now()),
                duration_ms: run_end.duration_ms,
                exit_code: exit.code(),
            });
            is_well &= well(recorder.finish(end).map(drop));
            // Beside a pipe or a device there is no place for files.
            let is_file = place.results().is_file();
            if is_file {
                is_well &= well(write_summary(&place.summary(), &summary));
            }
            let (shown, context) = (place.results(), finish.context);
            // Of several files, the directory they all lie in.
            run_end.results = match &run_end.results {
                None => Some(context.shown(shown)),
                Some(_) => shown.parent().map(|folder| context.shown(folder)),
            };
            run_end.summary = is_file.then(|| context.shown(&place.summary()));
            run_end.summary_document = serde_json::to_value(&summary).ok();
        }
        if self.tallies.len() > 1 {
            run_end.summary_document = None;
            run_end.summary = None;
        }
        let results = run_end.results.as_deref();
        let whole = run_end.compared.as_ref().zip(results);
        run_end.compare_command = whole.and_then(|(one, results)| baseline::command(one, results));
        let told = self.reports.told;
        is_well &= self.reports.finish(&run_end);
        baseline::tell(told, &run_end);
        match is_well {
            true => Ok(exit),
            false if exit == Exit::Well => Ok(Exit::Incomplete),
            false => Ok(exit),
        }
    }
}

impl Tally {
    fn new() -> Self {
        Self {
            suites: Vec::new(),
            rows: SummaryBuilder::new(),
        }
    }
}

fn stopped(ended: &Ended) -> Option<Stopped> {
    match ended {
        Ended::Complete | Ended::Broken(_) => None,
        Ended::Cancelled => Some(Stopped::Signal),
        Ended::Limited(reached) => Some(match reached.limit {
            Limit::Budget => Stopped::Budget,
            Limit::Errors => Stopped::Errors,
        }),
    }
}

fn well<E: std::fmt::Display>(done: Result<(), E>) -> bool {
    if let Err(error) = &done {
        complain(&error.to_string());
    }
    done.is_ok()
}
