//! What a gate would probably say before a run is paid for: simulated from the base's own results.

use super::case::ComparedCase;
use super::change;
use super::pairing::{self, ErrorCount, Match};
use super::round_plan::RoundPlan;
use super::suite_change::clusters_of;
use super::verdict::{CONFIDENCE, ComparisonVerdict, FIXED, VerdictLevels, decide, excused};
use crate::stats::{
    Cluster, Drift, Interval, LikelyRates, Measure, Pair, SplitMix64, approximate_exchange,
    difference, dropped, mean, normal_below, normal_quantile,
};

/// Simulated runs of each truth; fewer of large suites.
const REPEATS: usize = 300;
const FEWEST: usize = 40;
/// Tests and repeats together.
const WORK: usize = 20_000;

/// How a run would go if the truth were this.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Forecast {
    /// By how much the mean drops.
    pub drop: f64,
    /// With every trial.
    pub whole: Outlook,
    /// In rounds.
    pub rounds: Outlook,
}

#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Outlook {
    /// Of each verdict, in the order of [`ComparisonVerdict::ALL`].
    pub chances: [f64; 5],
    /// Trials of each test.
    pub trials: f64,
    /// `None` if costs are unknown.
    pub cost: Option<f64>,
}

impl Outlook {
    pub fn chance(&self, verdict: ComparisonVerdict) -> f64 {
        let all = ComparisonVerdict::ALL.iter().zip(self.chances);
        all.filter(|(one, _)| **one == verdict).map(|(_, chance)| chance).sum()
    }

    fn add(&mut self, verdict: ComparisonVerdict, trials: u32, share: f64) {
        let place = ComparisonVerdict::ALL.iter().position(|one| *one == verdict);
        self.chances[place.unwrap_or_default()] += share;
        self.trials += share * f64::from(trials);
    }
}

/// Forecasts for no change, for a drop as large as the margin, and for one twice as large. `planned`
/// are the cases of the run, whatever their results. Empty without a test in common.
pub fn forecast(
    base: &[ComparedCase],
    planned: &[ComparedCase],
    plan: &RoundPlan,
) -> Vec<Forecast> {
    let matches = pairing::pair(base, planned);
    let compared: Vec<&Match> =
        matches.iter().filter(|found| change::classify(found).change.is_compared()).collect();
    let tests = planned_tests(&compared, plan.measure);
    if tests.is_empty() {
        return Vec::new();
    }
    let cost = cost_per_trial(&compared);
    let model = ForecastModel::of(tests, plan);
    [0.0, plan.margin, 2.0 * plan.margin]
        .into_iter()
        .enumerate()
        .map(|(number, drop)| {
            let mut found = model.forecast(drop, plan.seed_of(number as u32 + 101));
            for outlook in [&mut found.whole, &mut found.rounds] {
                outlook.cost = cost.map(|cost| cost * outlook.trials);
            }
            found
        })
        .collect()
}

/// A test with its base, and how many trials it will have.
struct ForecastTest {
    pair: Pair,
    trials: usize,
}

fn planned_tests(compared: &[&Match], measure: Measure) -> Vec<ForecastTest> {
    let test = |(found, cluster): (&&Match, Cluster)| {
        let trials = found.candidate.len();
        // What was planned has no scores.
        let rates = found.pair(Measure::Rate, ErrorCount::Ignored)?;
        let base = match measure {
            Measure::Rate => rates.base,
            Measure::Score => found.base_scores(),
        };
        let is_known = base.iter().any(|run| !run.is_empty());
        let pair = Pair { base, candidate: Vec::new(), cluster };
        is_known.then_some(ForecastTest { pair, trials })
    };
    compared.iter().zip(clusters_of(compared)).filter_map(test).collect()
}

/// Of one trial of every test, as in the base; `None` if it is unknown.
fn cost_per_trial(compared: &[&Match]) -> Option<f64> {
    let mut sum = 0.0;
    for found in compared {
        let measured = found.base.iter().filter(|case| case.is_measured());
        let costs: Vec<f64> = measured.map(|case| case.cost).collect::<Option<_>>()?;
        if !costs.is_empty() {
            sum += mean(&costs);
        }
    }
    Some(sum)
}

struct ForecastModel<'a> {
    plan: &'a RoundPlan,
    pairs: Vec<Pair>,
    trials: Vec<usize>,
    rates: LikelyRates,
    drift: Drift,
    limits: Vec<f64>,
    levels: Vec<VerdictLevels>,
}

impl<'a> ForecastModel<'a> {
    fn of(tests: Vec<ForecastTest>, plan: &'a RoundPlan) -> Self {
        let trials = tests.iter().map(|test| test.trials).collect();
        let pairs: Vec<Pair> = tests.into_iter().map(|test| test.pair).collect();
        let level = |limit: f64| 1.0 - normal_below(limit);
        let limits = plan.drop_limits().into_iter().zip(plan.gain_limits());
        let levels = limits
            .map(|(drop, gain)| VerdictLevels { drop: level(drop), gain: level(gain) })
            .collect();
        Self {
            levels,
            limits: plan.limits(),
            rates: LikelyRates::of(&pairs),
            drift: Drift::of(&pairs),
            plan,
            pairs,
            trials,
        }
    }

    fn forecast(&self, drop: f64, seed: u64) -> Forecast {
        let mut random = SplitMix64::new(seed);
        let repeats = (WORK / self.pairs.len()).clamp(FEWEST, REPEATS);
        let share = 1.0 / repeats as f64;
        let (mut whole, mut rounds) = (Outlook::default(), Outlook::default());
        for _ in 0..repeats {
            let candidates = self.candidates(drop, &mut random);
            let last = self.plan.rounds;
            let most = self.trials.iter().copied().max().unwrap_or(0) as u32;
            let mut stopped = None;
            for round in 1..=last {
                // More trials than there may be rounds all count in the end.
                let count = if round == last { most } else { round };
                let evidence = self.evidence(&candidates, count);
                if stopped.is_none() {
                    let verdict = self.verdict(&evidence, Some(round));
                    let is_settled = verdict != ComparisonVerdict::Inconclusive;
                    stopped = (is_settled || round == last).then_some((verdict, round));
                }
                if round == last {
                    whole.add(self.verdict(&evidence, None), most, share);
                }
            }
            let (verdict, round) = stopped.unwrap_or((ComparisonVerdict::Inconclusive, last));
            rounds.add(verdict, round, share);
        }
        Forecast { drop, whole, rounds }
    }

    /// Values of each test's trials.
    fn candidates(&self, drop: f64, random: &mut SplitMix64) -> Vec<Vec<f64>> {
        if self.plan.measure == Measure::Score {
            return self.scores(drop, random);
        }
        let rates = dropped(&self.rates.draw(random), drop);
        let rates = self.rates.of_run(&rates, random);
        let trials = rates.iter().zip(&self.trials);
        let mut passes = |rate: f64, count: usize| -> Vec<f64> {
            (0..count).map(|_| f64::from(u8::from(random.fraction() < rate))).collect()
        };
        trials.map(|(rate, count)| passes(*rate, *count)).collect()
    }

    /// Scores like those of the base, each lower by the drop.
    fn scores(&self, drop: f64, random: &mut SplitMix64) -> Vec<Vec<f64>> {
        let mut draw = |pair: &Pair, count: usize| -> Vec<f64> {
            let known: Vec<f64> = pair.base_values().collect();
            let mut one = || known[random.below(known.len() as u64) as usize];
            (0..count).map(|_| (one() - drop).max(0.0)).collect()
        };
        self.pairs.iter().zip(&self.trials).map(|(pair, count)| draw(pair, *count)).collect()
    }

    fn evidence(&self, candidates: &[Vec<f64>], round: u32) -> LookEvidence {
        let pair = |(pair, now): (&Pair, &Vec<f64>)| {
            let now = now.iter().take(round as usize).copied().collect();
            Pair { candidate: now, ..pair.clone() }
        };
        let pairs: Vec<Pair> = self.pairs.iter().zip(candidates).map(pair).collect();
        let found = difference(&pairs, self.plan.measure, CONFIDENCE);
        let (delta, interval) = found.unwrap_or((0.0, Interval { low: -1.0, high: 1.0 }));
        let interval = interval.widened(delta, self.drift.shift().sqrt());
        let permuted = excused(approximate_exchange(&pairs), (delta, interval), &self.drift);
        LookEvidence { delta, interval, permuted }
    }

    /// At the end of a round, or with every trial.
    fn verdict(&self, evidence: &LookEvidence, round: Option<u32>) -> ComparisonVerdict {
        let LookEvidence { delta, interval, permuted } = evidence;
        let (interval, levels) = match round {
            Some(round) => {
                let at = round as usize - 1;
                let factor = self.limits[at] / normal_quantile(0.5 + 0.5 * CONFIDENCE);
                (interval.widened(*delta, factor), self.levels[at])
            }
            None => (*interval, FIXED),
        };
        decide(*delta, interval, permuted, self.plan.margin, levels).1
    }
}

struct LookEvidence {
    delta: f64,
    interval: Interval,
    permuted: crate::stats::Permuted,
}

#[cfg(test)]
mod tests {
    use super::super::RoundBase;
    use super::super::case::testing::{of_run, trials};
    use super::*;

    fn plan(measure: Measure) -> RoundPlan {
        let base = RoundBase::Stored { trials: 16.0 };
        RoundPlan { rounds: 4, margin: 0.1, measure, base, seed: 3, stops_futile: false }
    }

    fn base(runs: u32) -> Vec<ComparedCase> {
        let run = |run| -> Vec<ComparedCase> {
            (0..30)
                .flat_map(|at| of_run(run, trials(&format!("t{at}"), 4, 3 + (at + run) % 2)))
                .collect()
        };
        (0..runs).flat_map(run).collect()
    }

    fn planned() -> Vec<ComparedCase> {
        (0..30).flat_map(|at| trials(&format!("t{at}"), 4, 4)).collect()
    }

    #[test]
    fn a_larger_drop_is_seen_more_often_and_sooner() {
        for measure in [Measure::Rate, Measure::Score] {
            let found = forecast(&base(4), &planned(), &plan(measure));
            let [same, margin, twice] = &found[..] else { panic!("{found:?}") };
            let worse = |one: &Forecast| one.rounds.chance(ComparisonVerdict::Worse);
            assert!(worse(same) < 0.1 && worse(twice) > 0.9, "{measure:?}: {found:?}");
            assert!(worse(same) < worse(margin) && worse(margin) <= worse(twice), "{found:?}");
            assert!(twice.rounds.trials < 2.5, "{found:?}");
            for one in &found {
                for outlook in [one.whole, one.rounds] {
                    assert!((outlook.chances.iter().sum::<f64>() - 1.0).abs() < 1e-9);
                }
                assert_eq!(one.whole.trials.round(), 4.0);
                // A trial costs a cent.
                let cost = one.rounds.cost.unwrap();
                assert!((cost - 0.3 * one.rounds.trials).abs() < 1e-9, "{cost}");
            }
            assert_eq!(found, forecast(&base(4), &planned(), &plan(measure)));
        }
    }

    #[test]
    fn without_a_common_test_there_is_nothing_to_tell() {
        assert!(forecast(&trials("other", 3, 3), &planned(), &plan(Measure::Rate)).is_empty());
    }

    #[test]
    fn an_unknown_cost_stays_unknown() {
        let mut base = base(1);
        base[0].cost = None;
        let found = forecast(&base, &planned(), &plan(Measure::Rate));
        assert!(found.iter().all(|one| one.rounds.cost.is_none()));
    }
}
