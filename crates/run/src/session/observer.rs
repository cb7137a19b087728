//! Collects the rows of a run for reports, totals, the comparison and the exit code.

use crate::execute::{ExecutionEnd, Limit};
use crate::report::arms::ArmTally;
use crate::report::comparison::gate;
use crate::report::{Compared, GatedArm, ReportedRun, Stopped};
use crate::results::{
    ExitRule, ExitTally, Gaps, GateResult, RoundRecord, Row, RunTotals, RunVerdict,
};

use super::baseline::Baseline;
use super::error::{Notice, Notify};
use super::gate::{gate_exit, gate_result};
use super::report_set::ReportSet;
use super::round_decision::SharedRounds;
use super::spec::ArmComparisonSpec;
use super::stored_rounds::StoredRounds;

/// A signal that ended a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StopSignal {
    /// SIGINT, or Ctrl-C.
    Interrupt,
    Terminate,
    /// The terminal was closed.
    Hangup,
    Quit,
}

impl StopSignal {
    /// The convention of shells: 128 plus the signal number.
    pub fn exit_code(self) -> u8 {
        128 + match self {
            Self::Hangup => 1,
            Self::Interrupt => 2,
            Self::Quit => 3,
            Self::Terminate => 15,
        }
    }
}

/// How a run that could start ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SessionExit {
    Run(RunVerdict),
    Signal(StopSignal),
}

impl SessionExit {
    pub fn code(self) -> u8 {
        match self {
            Self::Run(exit) => exit.code(),
            Self::Signal(signal) => signal.exit_code(),
        }
    }
}

/// Gets every row of a run once.
#[derive(Debug)]
pub(super) struct RunObserver {
    reports: ReportSet,
    exit: ExitTally,
    pub(super) totals: RunTotals,
    baseline: Option<Baseline>,
    /// What the results lack, and those that the run is compared with.
    gaps: Gaps,
    rounds: Option<SharedRounds>,
    arms: ArmComparisonSpec,
    /// Of a gate without a baseline.
    gated_arms: Option<ArmTally>,
    /// Of a stored run.
    stored_rounds: Option<StoredRounds>,
    /// Known at the end; `None` without a gate.
    pub(super) gate: Option<GateResult>,
}

impl RunObserver {
    pub(super) fn new(reports: ReportSet, rule: ExitRule, baseline: Option<Baseline>) -> Self {
        let mut gaps = Gaps::default();
        for text in baseline.iter().flat_map(|baseline| &baseline.gaps) {
            gaps.add_fault(text.clone());
        }
        let totals = RunTotals::default();
        Self {
            reports,
            exit: ExitTally::new(rule),
            totals,
            baseline,
            gaps,
            rounds: None,
            arms: ArmComparisonSpec::default(),
            gated_arms: None,
            stored_rounds: None,
            gate: None,
        }
    }

    /// The rows decide how many rounds there are.
    pub(super) fn decide_rounds(&mut self, rounds: SharedRounds) {
        self.rounds = Some(rounds);
    }

    /// How arms are compared; with a gate and without a baseline, they decide.
    pub(super) fn compare_arms(&mut self, arms: ArmComparisonSpec) {
        self.arms = arms;
        self.gated_arms = (arms.is_gated && self.baseline.is_none()).then(ArmTally::default);
    }

    /// The rows are those of a stored run in rounds.
    pub(super) fn know_rounds(&mut self, rounds: Option<StoredRounds>) {
        self.stored_rounds = rounds;
    }

    /// Whether a report shows earlier runs from the run log.
    pub(super) fn shows_history(&self) -> bool {
        self.reports.shows_history
    }

    pub(super) fn has_gaps(&self) -> bool {
        !self.gaps.is_empty()
    }

    /// Results that lack something never pass.
    pub(super) fn add_gaps(&mut self, gaps: Gaps) {
        self.gaps.absorb(gaps);
    }

    pub(super) fn add(&mut self, row: &Row) {
        self.reports.row(row);
        self.exit.add(row);
        self.totals.add(row);
        if let Some(baseline) = &mut self.baseline {
            baseline.add(row);
        }
        if let Some(rounds) = &self.rounds {
            rounds.with(|decision| decision.add(row));
        }
        if let Some(arms) = &mut self.gated_arms {
            arms.add(row);
        }
    }

    /// How the rounds went.
    pub(super) fn round_record(&self) -> Option<RoundRecord> {
        self.rounds.as_ref().map(|rounds| rounds.with(|decision| decision.record()))
    }

    /// Ends the comparison and decides the exit code. With a gate, the comparison decides instead of
    /// the tests.
    pub(super) fn end(
        &mut self,
        ended: &ExecutionEnd,
        signal: Option<StopSignal>,
        notify: &mut Notify<'_>,
    ) -> (SessionExit, ReportedRun) {
        if !self.gaps.is_empty() {
            self.exit.add_incomplete();
        }
        let gate_of_baseline = self.baseline.as_ref().map(|one| one.is_gated);
        let compared = self.compare(ended, notify);
        let gated_arms = if is_compared(ended) { self.gated_arms() } else { Vec::new() };
        let is_gated = gate_of_baseline.unwrap_or(!gated_arms.is_empty());
        let is_incomplete = !self.gaps.is_empty();
        let gates = compared.iter().filter(|_| is_gated).map(|one| &one.comparison);
        let gates = gates.chain(gated_arms.iter().map(|arm| &arm.comparison));
        let gate = gates.map(|found| gate_exit(found, is_incomplete)).max_by_key(gate_rank);
        self.gate = gate.map(gate_result);
        let exit = match (ended, signal, gate) {
            (ExecutionEnd::Cancelled, Some(signal), _) => SessionExit::Signal(signal),
            (ExecutionEnd::Broken(_) | ExecutionEnd::EndedElsewhere(_), ..) => {
                SessionExit::Run(RunVerdict::Incomplete)
            }
            (_, _, Some(gate)) => SessionExit::Run(gate),
            _ => SessionExit::Run(self.exit.exit()),
        };
        let end = ReportedRun {
            exit_code: Some(exit.code()),
            stopped: stopped(ended),
            compared,
            is_gated,
            gated_arms,
            arm_options: self.arms.options(),
            gaps: self.gaps.clone(),
            ..ReportedRun::default()
        };
        (exit, end)
    }

    /// `None` without a baseline, or if the run did not finish.
    fn compare(&mut self, ended: &ExecutionEnd, notify: &mut Notify<'_>) -> Option<Compared> {
        let baseline = self.baseline.take()?;
        if !is_compared(ended) {
            let text = "--baseline: not compared, because the run did not finish";
            notify(Notice::Message(text.to_owned()));
            return None;
        }
        let compared = self.rounds.as_ref().map(|rounds| rounds.with(|one| one.compare()));
        match compared.into_iter().flatten().find(|(arm, _)| arm.is_none()) {
            Some((_, comparison)) => Some(baseline.compared(comparison)),
            None => Some(baseline.compare(self.stored_rounds.as_ref(), notify)),
        }
    }

    /// The comparisons that decide; those of the looks, if the run was in rounds.
    fn gated_arms(&self) -> Vec<GatedArm> {
        let Some(tally) = &self.gated_arms else {
            return Vec::new();
        };
        let gated = |(arm, comparison)| GatedArm { arm, comparison };
        match &self.rounds {
            Some(rounds) => {
                let looks = rounds.with(|one| one.compare()).into_iter();
                looks.filter_map(|(arm, found)| Some((arm?, found))).map(gated).collect()
            }
            None => {
                let arms = tally.findings(None, &self.arms.options()).into_iter();
                arms.filter_map(|arm| Some((arm.name, arm.contrast?))).map(gated).collect()
            }
        }
    }

    /// Completes the reports; returns what could not be written.
    pub(super) fn finish(self, end: &ReportedRun, notify: &mut Notify<'_>) -> Vec<String> {
        let shows_gate = self.reports.shows_gate;
        let errors = self.reports.finish(end);
        if let Some(gate) = gate(end).filter(|_| !shows_gate) {
            notify(Notice::Message(gate.line()));
        }
        // A report that people do not read at once must not be the only one to know.
        for text in end.gaps.sentences().into_iter().filter(|_| !shows_gate) {
            notify(Notice::Message(text));
        }
        errors
    }
}

/// Whether the run got as far as to be compared.
fn is_compared(ended: &ExecutionEnd) -> bool {
    match ended {
        ExecutionEnd::Complete | ExecutionEnd::Settled | ExecutionEnd::Limited(_) => true,
        ExecutionEnd::FailedFast
        | ExecutionEnd::Cancelled
        | ExecutionEnd::Broken(_)
        | ExecutionEnd::EndedElsewhere(_) => false,
    }
}

/// Of several arms the worst decides.
fn gate_rank(verdict: &RunVerdict) -> u8 {
    match verdict {
        RunVerdict::Failed => 3,
        RunVerdict::Incomplete => 2,
        RunVerdict::Nothing => 1,
        RunVerdict::Passed => 0,
    }
}

fn stopped(ended: &ExecutionEnd) -> Option<Stopped> {
    match ended {
        ExecutionEnd::Complete | ExecutionEnd::Settled => None,
        ExecutionEnd::Broken(_) => Some(Stopped::WriteError),
        ExecutionEnd::EndedElsewhere(_) => Some(Stopped::Elsewhere),
        ExecutionEnd::Cancelled => Some(Stopped::Signal),
        ExecutionEnd::FailedFast => Some(Stopped::Failures),
        ExecutionEnd::Limited(reached) => Some(match reached.limit {
            Limit::Budget => Stopped::Budget,
            Limit::Errors => Stopped::Errors,
            Limit::Failures => Stopped::Failures,
        }),
    }
}
