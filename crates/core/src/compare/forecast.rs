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
    /// By how much the mean drops; a gain is negative.
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
    let matches = pairing::pair(base, planned).matches;
    let compared: Vec<&Match> =
        matches.iter().filter(|found| change::classify(found).change.is_compared()).collect();
    let tests = planned_tests(&compared, plan.measure);
    if tests.is_empty() {
        return Vec::new();
    }
    let cost = cost_per_trial(&compared);
    ForecastModel::of(tests, plan).forecasts(&[0.0, plan.margin, 2.0 * plan.margin], cost)
}

/// What a run with arms would probably say of one of them.
#[derive(Debug, Clone, PartialEq)]
pub struct ArmForecast {
    pub arm: String,
    /// The arm that it is compared with.
    pub against: String,
    /// Tests that are compared, and those of them of which earlier results of the other arm are known.
    pub tests: usize,
    pub known: usize,
    /// For no change, for drops and for gains of the margin and of twice the margin.
    pub forecasts: Vec<Forecast>,
}

/// The cases of two arms that are to be compared.
#[derive(Debug, Clone, Copy)]
pub struct PlannedArms<'a> {
    pub base: &'a [ComparedCase],
    pub candidate: &'a [ComparedCase],
    /// What earlier runs of each had.
    pub base_history: &'a [ComparedCase],
    pub candidate_history: &'a [ComparedCase],
}

/// Forecasts for an arm that is run beside the one it is compared with. A test without earlier results is
/// taken to pass half of the time, which is the hardest to tell from chance. `None` without a test in
/// common.
pub fn forecast_arm(
    (arm, against): (&str, &str),
    planned: &PlannedArms<'_>,
    plan: &RoundPlan,
) -> Option<ArmForecast> {
    let matches = pairing::pair(planned.base, planned.candidate).matches;
    let compared: Vec<&Match> = matches
        .iter()
        .filter(|found| !found.base.is_empty() && change::classify(found).change.is_compared())
        .collect();
    if compared.is_empty() {
        return None;
    }
    let history = pairing::pair(planned.base_history, planned.candidate).matches;
    let known = |found: &&&Match| {
        let same = |one: &&Match| {
            (one.suite, one.test, one.target) == (found.suite, found.test, found.target)
        };
        history.iter().find(same).filter(|one| !one.candidate.is_empty())
    };
    let values = |found: &&Match| -> Option<Vec<Vec<f64>>> {
        let earlier = known(&found)?;
        let rates = earlier.pair(Measure::Rate, ErrorCount::Ignored).map(|pair| pair.base);
        let values = match plan.measure {
            Measure::Rate => rates?,
            Measure::Score => earlier.base_scores(),
        };
        values.iter().any(|run| !run.is_empty()).then_some(values)
    };
    let mut count = 0;
    let tests = compared.iter().zip(clusters_of(&compared)).map(|(found, cluster)| {
        let earlier = values(found);
        count += usize::from(earlier.is_some());
        let base = earlier.unwrap_or_else(|| vec![vec![1.0, 0.0]]);
        let pair = Pair { base, candidate: Vec::new(), cluster };
        ForecastTest { pair, trials: found.candidate.len(), base_trials: Some(found.base.len()) }
    });
    let model = ForecastModel::of(tests.collect(), plan);
    let costs =
        [(planned.base_history, planned.base), (planned.candidate_history, planned.candidate)]
            .map(|(history, planned)| cost_of_arm(history, planned, compared.len()));
    let cost = costs.into_iter().sum::<Option<f64>>();
    let drops = [0.0, 1.0, 2.0, -1.0, -2.0].map(|times| times * plan.margin);
    let forecasts = model.forecasts(&drops, cost);
    let (arm, against) = (arm.to_owned(), against.to_owned());
    Some(ArmForecast { arm, against, tests: compared.len(), known: count, forecasts })
}

/// Of one trial of every test; `None` unless each of them has earlier results with a cost.
fn cost_of_arm(history: &[ComparedCase], planned: &[ComparedCase], tests: usize) -> Option<f64> {
    let matches = pairing::pair(history, planned).matches;
    let known: Vec<&Match> = matches
        .iter()
        .filter(|found| {
            !found.candidate.is_empty() && found.base.iter().any(|one| one.is_measured())
        })
        .collect();
    cost_per_trial(&known).filter(|_| known.len() == tests)
}

/// A test with its base, and how many trials it will have.
struct ForecastTest {
    pair: Pair,
    trials: usize,
    /// Those of the base, if it is run as well; what it has is then only what is likely.
    base_trials: Option<usize>,
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
        is_known.then_some(ForecastTest { pair, trials, base_trials: None })
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
    /// Trials of the base in the same run.
    base_trials: Option<Vec<usize>>,
    rates: LikelyRates,
    drift: Drift,
    limits: Vec<f64>,
    levels: Vec<VerdictLevels>,
}

/// Values of each test's trials.
struct SimulatedRun {
    candidates: Vec<Vec<f64>>,
    /// `None` if the base is stored.
    base: Option<Vec<Vec<f64>>>,
}

impl<'a> ForecastModel<'a> {
    fn of(tests: Vec<ForecastTest>, plan: &'a RoundPlan) -> Self {
        let trials = tests.iter().map(|test| test.trials).collect();
        let base_trials: Option<Vec<usize>> = tests.iter().map(|test| test.base_trials).collect();
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
            // What two arms have in common does not tell them apart.
            drift: if base_trials.is_some() { Drift::NONE } else { Drift::of(&pairs) },
            plan,
            pairs,
            trials,
            base_trials,
        }
    }

    /// `cost` is that of one trial of every test.
    fn forecasts(&self, drops: &[f64], cost: Option<f64>) -> Vec<Forecast> {
        let forecast = |(number, drop): (usize, &f64)| {
            let mut found = self.forecast(*drop, self.plan.seed_of(number as u32 + 101));
            for outlook in [&mut found.whole, &mut found.rounds] {
                outlook.cost = cost.map(|cost| cost * outlook.trials);
            }
            found
        };
        drops.iter().enumerate().map(forecast).collect()
    }

    fn forecast(&self, drop: f64, seed: u64) -> Forecast {
        let mut random = SplitMix64::new(seed);
        let repeats = (WORK / self.pairs.len()).clamp(FEWEST, REPEATS);
        let share = 1.0 / repeats as f64;
        let (mut whole, mut rounds) = (Outlook::default(), Outlook::default());
        for _ in 0..repeats {
            let run = self.run(drop, &mut random);
            let last = self.plan.rounds;
            let most = self.trials.iter().copied().max().unwrap_or(0) as u32;
            let mut stopped = None;
            for round in 1..=last {
                // More trials than there may be rounds all count in the end.
                let count = if round == last { most } else { round };
                let evidence = self.evidence(&run, count);
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

    fn run(&self, drop: f64, random: &mut SplitMix64) -> SimulatedRun {
        let base_trials = self.base_trials.as_deref();
        if self.plan.measure == Measure::Score {
            let base = base_trials.map(|trials| self.scores(0.0, trials, random));
            return SimulatedRun { candidates: self.scores(drop, &self.trials, random), base };
        }
        let rates = self.rates.draw(random);
        let base = base_trials.map(|trials| passes(&rates, trials, random));
        let rates = dropped(&rates, drop);
        // Both arms are of the same run.
        let rates = if base.is_some() { rates } else { self.rates.of_run(&rates, random) };
        SimulatedRun { candidates: passes(&rates, &self.trials, random), base }
    }

    /// Scores like those of the base, each as much nearer to 0, or to 1 for a gain, as lowers their mean by
    /// the drop.
    fn scores(&self, drop: f64, trials: &[usize], random: &mut SplitMix64) -> Vec<Vec<f64>> {
        let level = mean(&self.pairs.iter().map(Pair::base_mean).collect::<Vec<f64>>());
        let moved = |score: f64| match drop {
            0.0 => score,
            drop if drop > 0.0 => score * (1.0 - drop / level).max(0.0),
            gain => 1.0 - (1.0 - score) * (1.0 + gain / (1.0 - level)).max(0.0),
        };
        let mut draw = |pair: &Pair, count: usize| -> Vec<f64> {
            let known: Vec<f64> = pair.base_values().collect();
            let mut one = || known[random.below(known.len() as u64) as usize];
            (0..count).map(|_| moved(one())).collect()
        };
        self.pairs.iter().zip(trials).map(|(pair, count)| draw(pair, *count)).collect()
    }

    fn evidence(&self, run: &SimulatedRun, round: u32) -> LookEvidence {
        let seen =
            |values: &[f64]| -> Vec<f64> { values.iter().take(round as usize).copied().collect() };
        let pair = |(at, pair): (usize, &Pair)| {
            let base = run.base.as_ref().map(|base| vec![seen(&base[at])]);
            let base = base.unwrap_or_else(|| pair.base.clone());
            Pair { base, candidate: seen(&run.candidates[at]), cluster: pair.cluster }
        };
        let pairs: Vec<Pair> = self.pairs.iter().enumerate().map(pair).collect();
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

fn passes(rates: &[f64], trials: &[usize], random: &mut SplitMix64) -> Vec<Vec<f64>> {
    let mut draw = |(rate, count): (&f64, &usize)| -> Vec<f64> {
        (0..*count).map(|_| f64::from(u8::from(random.fraction() < *rate))).collect()
    };
    rates.iter().zip(trials).map(&mut draw).collect()
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

    fn arms(history: &[ComparedCase], measure: Measure) -> ArmForecast {
        let plan = RoundPlan { base: RoundBase::Growing, ..plan(measure) };
        let (base, candidate) = (&planned(), &planned());
        let (base_history, candidate_history) = (history, history);
        let planned = PlannedArms { base, candidate, base_history, candidate_history };
        forecast_arm(("with", "without"), &planned, &plan).unwrap()
    }

    #[test]
    fn a_gain_of_an_arm_is_seen_as_well_as_a_drop() {
        let history: Vec<ComparedCase> =
            (0..30).flat_map(|at| trials(&format!("t{at}"), 4, 1 + at % 3)).collect();
        for measure in [Measure::Rate, Measure::Score] {
            let found = arms(&history, measure);
            assert_eq!((found.tests, found.known), (30, 30));
            let [same, drop, _, gain, more] = &found.forecasts[..] else { panic!("{found:?}") };
            // Rounds stop as soon as an arm is not worse.
            let better = |one: &Forecast| one.whole.chance(ComparisonVerdict::Better);
            assert!(better(same) < 0.1 && better(drop) < 0.1, "{measure:?}: {found:?}");
            assert!(better(gain) > better(same) && better(more) > 0.5, "{measure:?}: {found:?}");
            assert!(more.rounds.trials < same.rounds.trials, "{found:?}");
            // A trial of each arm costs a cent.
            let cost = same.rounds.cost.unwrap();
            assert!((cost - 0.6 * same.rounds.trials).abs() < 1e-9, "{cost}");
            assert_eq!(found, arms(&history, measure));
        }
    }

    #[test]
    fn an_arm_without_earlier_results_has_a_forecast_without_a_cost() {
        let unknown = arms(&[], Measure::Rate);
        assert_eq!((unknown.tests, unknown.known), (30, 0));
        assert!(unknown.forecasts.iter().all(|one| one.whole.cost.is_none()));
        let solved: Vec<ComparedCase> =
            (0..30).flat_map(|at| trials(&format!("t{at}"), 4, 4)).collect();
        let not_told =
            |found: &ArmForecast| found.forecasts[0].whole.chance(ComparisonVerdict::Inconclusive);
        assert!(not_told(&unknown) > not_told(&arms(&solved, Measure::Rate)));
        let some = arms(&trials("t3", 4, 4), Measure::Rate);
        assert_eq!((some.known, some.forecasts[0].whole.cost), (1, None));
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
