//! One look at a run in rounds: the verdict so far, and whether it ends the run.

use super::pairing::{ErrorCount, Match};
use super::round_plan::RoundPlan;
use super::suite_change::{SuiteChange, clusters_of};
use super::verdict::{
    ComparisonVerdict, Rule, SuiteVerdict, VerdictEvidence, VerdictLevels, decide, excused,
    shifted_difference,
};
use crate::stats::{
    Boundary, Cluster, Drift, LookSpending, Pair, RoundPair, look, normal_below, normal_quantile,
};
use crate::words;

/// Below this chance of a verdict it is futile to go on.
const FUTILE: f64 = 0.1;

words! {
    /// Why no further round is run.
    pub enum RoundStop {
        /// There is a verdict.
        Settled = "settled",
        /// A verdict has become unlikely.
        Futile = "futile",
        /// There are no more rounds.
        Exhausted = "exhausted",
    }
}

/// What was found after a round. Intervals and levels allow for the looks before and after it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RoundLook {
    /// From 1.
    pub round: u32,
    /// `None` while no test was measured on both sides.
    pub suite: Option<SuiteChange>,
    /// The highest p-values with which this look finds a drop or a gain.
    pub drop_level: f64,
    pub gain_level: f64,
    pub stop: Option<RoundStop>,
}

impl RoundLook {
    pub fn verdict(&self) -> ComparisonVerdict {
        self.suite.map_or(ComparisonVerdict::Inconclusive, |suite| suite.judged.verdict)
    }
}

/// What is known before a look.
pub(super) struct LookPlace<'a> {
    pub plan: &'a RoundPlan,
    pub round: u32,
    /// Multiple of the standard error that the interval has.
    pub limit: f64,
    pub may_spend: LookSpending,
}

/// Looks of each way to count errors, side by side.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct LookHistory {
    ignored: Vec<Boundary>,
    against: Vec<Boundary>,
    for_candidate: Vec<Boundary>,
}

impl LookHistory {
    fn of(&mut self, errors: ErrorCount) -> &mut Vec<Boundary> {
        match errors {
            ErrorCount::Ignored => &mut self.ignored,
            ErrorCount::AgainstCandidate => &mut self.against,
            ErrorCount::ForCandidate => &mut self.for_candidate,
        }
    }

    /// A look without errors is the same however they count.
    fn fill(&mut self, looks: usize) {
        let last = self.ignored.get(looks - 1).copied().unwrap_or(Boundary::NONE);
        for boundaries in [&mut self.ignored, &mut self.against, &mut self.for_candidate] {
            boundaries.resize(looks, last);
        }
    }
}

impl LookPlace<'_> {
    pub fn look(&self, compared: &[&Match], history: &mut LookHistory) -> RoundLook {
        let (mut drop_level, mut gain_level) = (0.0, 0.0);
        let suite = SuiteChange::judged(compared, |errors| {
            let pairs = self.pairs(compared, errors);
            let (judged, levels) = self.judge(&pairs, history.of(errors))?;
            if errors == ErrorCount::Ignored {
                (drop_level, gain_level) = (levels.drop, levels.gain);
            }
            Some((judged, pairs.len()))
        });
        history.fill(self.round as usize);
        let is_last = self.round == self.plan.rounds;
        let is_settled = suite.is_some_and(|suite| {
            suite.judged.verdict != ComparisonVerdict::Inconclusive && suite.is_certain()
        });
        let stop = match &suite {
            _ if is_settled => Some(RoundStop::Settled),
            _ if is_last => Some(RoundStop::Exhausted),
            Some(suite) if self.plan.stops_futile && self.chance(&suite.judged) < FUTILE => {
                Some(RoundStop::Futile)
            }
            _ => None,
        };
        RoundLook { round: self.round, suite, drop_level, gain_level, stop }
    }

    fn judge(
        &self,
        rounds: &[RoundPair],
        boundaries: &mut Vec<Boundary>,
    ) -> Option<(SuiteVerdict, VerdictLevels)> {
        let plan = self.plan;
        let pairs: Vec<Pair> = rounds.iter().map(|one| one.pair.clone()).collect();
        let drift = Drift::of(&pairs);
        let (delta, fixed) = shifted_difference(&pairs, plan.measure, &drift)?;
        let interval = fixed.widened(delta, self.limit / normal_quantile(0.975));
        // Looks before this one at which there was nothing to see.
        let looks = self.round as usize;
        boundaries.resize(looks - 1, Boundary::NONE);
        let seed = plan.seed_of(self.round);
        let found = look(rounds, plan.measure, boundaries, self.may_spend, seed);
        boundaries.push(found.boundary);
        let permuted = excused(found.permuted, (delta, fixed), &drift);
        let levels = VerdictLevels { drop: found.drop_level, gain: found.gain_level };
        let levels = if drift.shift() > 1.0 { levels.reached(self.limit) } else { levels };
        let decided = decide(delta, interval, &permuted, plan.margin, levels);
        let rule = Rule { measure: plan.measure, margin: plan.margin, seed: plan.seed };
        let evidence = VerdictEvidence { delta, interval, permuted };
        Some((SuiteVerdict::of(&pairs, &rule, drift, evidence, decided), levels))
    }

    fn pairs(&self, compared: &[&Match], errors: ErrorCount) -> Vec<RoundPair> {
        let (plan, clusters) = (self.plan, clusters_of(compared));
        let pair = |(found, cluster): (&&Match, Cluster)| {
            let pair = found.pair(plan.measure, errors)?;
            let seen =
                |round| found.seen_after(round, plan.has_growing_base(), plan.measure, errors);
            let seen = (1..=self.round).map(seen).collect();
            Some(RoundPair { pair: Pair { cluster, ..pair }, seen })
        };
        compared.iter().zip(clusters).filter_map(pair).collect()
    }

    /// How likely a verdict is at the end, if the difference stays as it is.
    fn chance(&self, judged: &SuiteVerdict) -> f64 {
        let plan = self.plan;
        let share = plan.shares()[self.round as usize - 1];
        let error = (judged.delta - judged.interval.low).max(1e-9) / self.limit;
        let last = error * share.sqrt();
        let spread = last * (1.0 - share).max(1e-9).sqrt();
        let end = |limits: Vec<f64>| limits[plan.rounds as usize - 1];
        let above = |value: f64| normal_below((judged.delta - value) / spread);
        let not_worse = above(end(plan.limits()) * last - plan.margin);
        let worse = 1.0 - above(-end(plan.drop_limits()) * last);
        let better = above(end(plan.gain_limits()) * last);
        worse + not_worse.max(better)
    }
}
