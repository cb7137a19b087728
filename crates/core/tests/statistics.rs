//! The guarantees of the statistics, checked on simulated runs. Seeded, so a failure is a change of
//! the code and not bad luck. `docs/explanation/comparing.md` shows the same numbers.

use evalrig_core::compare::{ComparisonVerdict, Measure, Rule, judge};
use evalrig_core::stats::{
    Interval, Pair, Passes, SplitMix64, clustered_mean, clustered_rate, difference, rate_text,
    wilson,
};

const TESTS: [usize; 4] = [10, 20, 50, 100];
const TRIALS: [usize; 3] = [1, 3, 5];

/// How the pass rates of a suite's tests are distributed.
#[derive(Debug, Clone, Copy)]
enum Suite {
    /// All tests alike.
    Even(f64),
    /// Anything from a rate to 1.
    From(f64),
    /// Most tests never fail, some always do, some toss a coin.
    Lumpy,
}

const SUITES: [Suite; 5] =
    [Suite::Even(0.9), Suite::Even(0.5), Suite::From(0.6), Suite::From(0.0), Suite::Lumpy];

impl Suite {
    fn rate(self, random: &mut SplitMix64) -> f64 {
        let chance = random.fraction();
        match self {
            Self::Even(rate) => rate,
            Self::From(least) => least + (1.0 - least) * chance,
            Self::Lumpy if chance < 0.6 => 1.0,
            Self::Lumpy if chance < 0.8 => 0.5,
            Self::Lumpy => 0.05,
        }
    }
}

fn passes(count: usize, rate: f64, random: &mut SplitMix64) -> Vec<f64> {
    let pass = |random: &mut SplitMix64| f64::from(u8::from(random.fraction() < rate));
    (0..count).map(|_| pass(random)).collect()
}

/// Two runs of a suite; in the second every test passes less often.
fn runs(suite: Suite, size: (usize, usize), drop: f64, random: &mut SplitMix64) -> Vec<Pair> {
    let (tests, trials) = size;
    let pair = |random: &mut SplitMix64| {
        let rate = suite.rate(random);
        Pair {
            base: passes(trials, rate, random),
            candidate: passes(trials, (rate - drop).max(0.0), random),
        }
    };
    (0..tests).map(|_| pair(random)).collect()
}

fn rule(measure: Measure) -> Rule {
    Rule { measure, margin: 0.1, seed: 1 }
}

/// Shares of the verdicts `worse` and `better`.
fn alarms(suite: Suite, size: (usize, usize), drop: f64, repeats: usize) -> (f64, f64) {
    let mut random = SplitMix64::new(size.0 as u64 * 1_000 + size.1 as u64);
    let (mut worse, mut better) = (0, 0);
    for _ in 0..repeats {
        let pairs = runs(suite, size, drop, &mut random);
        match judge(&pairs, &rule(Measure::Rate)).expect("tests").verdict {
            ComparisonVerdict::Worse => worse += 1,
            ComparisonVerdict::Better => better += 1,
            ComparisonVerdict::Equivalent | ComparisonVerdict::Inconclusive => {}
        }
    }
    let share = |count: usize| count as f64 / repeats as f64;
    (share(worse), share(better))
}

/// Of every size, over all kinds of suites. An alarm is the verdict `worse`; verdicts `better` are
/// at most one in a hundred beside it.
#[test]
fn equal_runs_raise_at_most_one_false_alarm_in_twenty() {
    for tests in TESTS {
        for trials in TRIALS {
            let repeats = if tests < 100 { 300 } else { 160 };
            let (mut worse, mut better) = (0.0, 0.0);
            for suite in SUITES {
                let found = alarms(suite, (tests, trials), 0.0, repeats);
                worse += found.0 / SUITES.len() as f64;
                better += found.1 / SUITES.len() as f64;
            }
            report(&format!("A/A {tests} × {trials}: worse {worse:.3}, better {better:.3}"));
            assert!(worse <= 0.05, "{tests} {trials}: {worse}");
            assert!(better <= 0.015, "{tests} {trials}: {better}");
        }
    }
}

#[test]
fn a_drop_of_twenty_points_is_caught() {
    for (suite, least) in [
        (Suite::Even(1.0), 0.9),
        (Suite::Even(0.9), 0.9),
        (Suite::Even(0.8), 0.9),
        (Suite::From(0.6), 0.9),
        (Suite::From(0.8), 0.9),
        // The worst there is: every test is a coin, and 90 % are out of reach.
        (Suite::Even(0.6), 0.8),
    ] {
        let (worse, better) = alarms(suite, (20, 5), 0.2, 400);
        report(&format!("power {suite:?}: {worse}"));
        assert!(worse >= least, "{suite:?} {worse}");
        assert_eq!(better, 0.0);
    }
}

/// A drop as large as the margin must not be called equivalent.
#[test]
fn what_matters_is_not_called_equivalent() {
    for suite in [Suite::Even(1.0), Suite::Even(0.9), Suite::From(0.5)] {
        for size in [(10, 1), (20, 1), (20, 5), (50, 3), (100, 5)] {
            let mut random = SplitMix64::new(size.0 as u64);
            let repeats = 200;
            let mut wrong = 0;
            for _ in 0..repeats {
                let pairs = runs(suite, size, 0.1, &mut random);
                let judged = judge(&pairs, &rule(Measure::Rate)).expect("tests");
                wrong += usize::from(judged.verdict == ComparisonVerdict::Equivalent);
            }
            let share = wrong as f64 / repeats as f64;
            report(&format!("equivalent at the margin, {suite:?} {size:?}: {share}"));
            assert!(share <= 0.06, "{suite:?} {size:?} {share}");
        }
    }
}

/// Shown with `--nocapture`, for the docs.
#[allow(clippy::print_stdout, reason = "the numbers of the docs come from here")]
fn report(line: &str) {
    println!("{line}");
}

fn share(hits: usize, repeats: usize) -> f64 {
    hits as f64 / repeats as f64
}

/// Coverage of a rate is exact by summing over all counts; at a single rate it jumps with n, so
/// the promise is about the mean over all rates.
#[test]
fn intervals_of_rates_cover() {
    let (mut least, mut most) = (1.0_f64, 0.0_f64);
    for trials in (3..=20).chain([30, 50, 75, 100, 150, 200]) {
        let intervals: Vec<Interval> =
            (0..=trials).map(|passes| wilson(passes, trials, 0.95)).collect();
        let steps = 200;
        let mean = (0..steps)
            .map(|step| covered(&intervals, (f64::from(step) + 0.5) / f64::from(steps)))
            .sum::<f64>()
            / f64::from(steps);
        least = least.min(mean);
        most = most.max(mean);
    }
    report(&format!("wilson: mean coverage {least:.4} to {most:.4}"));
    assert!(least >= 0.93 && most <= 0.97, "{least} {most}");
}

/// Chance that the interval of the count that comes up holds the rate.
fn covered(intervals: &[Interval], rate: f64) -> f64 {
    let trials = intervals.len() - 1;
    // As a logarithm, because the probability of no pass may underflow.
    let mut chance = trials as f64 * (1.0 - rate).ln();
    let mut sum = 0.0;
    for (passes, interval) in intervals.iter().enumerate() {
        if interval.holds(rate) {
            sum += chance.exp();
        }
        let odds = rate / (1.0 - rate);
        chance += ((trials - passes) as f64 / (passes + 1) as f64 * odds).ln();
    }
    sum
}

/// Over suites of every kind: both rates anywhere, tests alike, spread, or each of them certain.
#[test]
fn the_interval_of_a_difference_covers() {
    for tests in [3, 5, 10, 20, 50, 200] {
        for trials in TRIALS {
            let mut random = SplitMix64::new((tests * 10 + trials) as u64);
            let repeats = 150_000 / tests.max(10);
            let mut hits = 0;
            for at in 0..repeats {
                let (before, after) = (random.fraction(), random.fraction());
                let pairs: Vec<Pair> = (0..tests)
                    .map(|_| {
                        let place = random.fraction();
                        let rate = |mean: f64| spread_out(mean, place, at % 3);
                        Pair {
                            base: passes(trials, rate(before), &mut random),
                            candidate: passes(trials, rate(after), &mut random),
                        }
                    })
                    .collect();
                let (_, interval) = difference(&pairs, Measure::Rate, 0.95).expect("tests");
                hits += usize::from(interval.holds(after - before));
            }
            let found = share(hits, repeats);
            report(&format!("difference of rates, {tests} × {trials}: {found:.3}"));
            assert!((0.93..=0.97).contains(&found), "{tests} {trials} {found}");
        }
    }
}

/// Over suites of every kind, as above, and with tests that have fewer trials than others.
#[test]
fn the_interval_of_a_rate_with_several_trials_covers() {
    for tests in [3, 5, 10, 20, 50, 199] {
        for trials in TRIALS {
            let mut random = SplitMix64::new((tests * 10 + trials) as u64);
            let repeats = 240_000 / tests.max(10);
            let mut hits = 0;
            for at in 0..repeats {
                let mean = random.fraction();
                let groups: Vec<Passes> = (0..tests)
                    .map(|test| {
                        let rate = spread_out(mean, random.fraction(), at % 3);
                        let is_short = at % 2 == 1 && test % 3 == 0;
                        let trials = if is_short { 1 } else { trials };
                        let passed = passes(trials, rate, &mut random);
                        Passes { passes: passed.iter().sum::<f64>() as u64, trials: trials as u64 }
                    })
                    .collect();
                let interval = clustered_rate(&groups, 0.95).expect("trials");
                hits += usize::from(interval.holds(mean));
            }
            let found = share(hits, repeats);
            report(&format!("rate, {tests} × {trials}: {found:.3}"));
            assert!((0.93..=0.97).contains(&found), "{tests} {trials} {found}");
        }
    }
}

/// A rate of one test, so that the mean over all places is `mean`.
fn spread_out(mean: f64, place: f64, kind: usize) -> f64 {
    match kind {
        0 => mean,
        1 => mean + mean.min(1.0 - mean) * (2.0 * place - 1.0),
        _ => f64::from(u8::from(place < mean)),
    }
}

/// A score of a test that scores about `level`, and its trial's deviation.
fn score(level: f64, noise: f64, random: &mut SplitMix64) -> f64 {
    let deviation = random.fraction() + random.fraction() + random.fraction() - 1.5;
    (level + noise * deviation).clamp(0.0, 1.0)
}

#[test]
fn the_interval_of_a_difference_of_scores_covers() {
    for tests in [3, 5, 10, 20, 50, 200] {
        for trials in TRIALS {
            let mut random = SplitMix64::new((tests * 10 + trials) as u64);
            let repeats = 40_000 / tests.max(10);
            let mut hits = 0;
            for _ in 0..repeats {
                let drop = 0.2 * random.fraction();
                let pairs: Vec<Pair> = (0..tests)
                    .map(|_| {
                        let level = 0.4 + 0.4 * random.fraction();
                        let side = |level: f64, random: &mut SplitMix64| {
                            (0..trials).map(|_| score(level, 0.13, random)).collect()
                        };
                        Pair {
                            base: side(level, &mut random),
                            candidate: side(level - drop, &mut random),
                        }
                    })
                    .collect();
                let (_, interval) = difference(&pairs, Measure::Score, 0.95).expect("tests");
                hits += usize::from(interval.holds(-drop));
            }
            let found = share(hits, repeats);
            report(&format!("difference of scores, {tests} × {trials}: {found:.3}"));
            assert!((0.93..=0.97).contains(&found), "{tests} {trials} {found}");
        }
    }
}

/// Levels of tests: bell-shaped, even, or crowded near 1. With the mean of each.
fn level(kind: usize, random: &mut SplitMix64) -> (f64, f64) {
    let chance = random.fraction();
    match kind {
        0 => (score(0.6, 0.25, random), 0.6),
        1 => (0.02 + 0.96 * chance, 0.5),
        _ => (0.98 - 0.96 * chance * chance, 0.66),
    }
}

#[test]
fn the_interval_of_a_mean_score_covers() {
    for tests in [3, 5, 10, 20, 50, 200] {
        for trials in TRIALS {
            let mut random = SplitMix64::new((tests * 10 + trials) as u64);
            let repeats = 60_000 / tests.max(10);
            let mut hits = 0;
            for at in 0..repeats {
                let mut truth = 0.0;
                let groups: Vec<Vec<f64>> = (0..tests)
                    .map(|_| {
                        let (level, mean) = level(at % 3, &mut random);
                        truth = mean;
                        (0..trials).map(|_| score(level, 0.01, &mut random)).collect()
                    })
                    .collect();
                let (_, interval) = clustered_mean(&groups, 0.95).expect("values");
                hits += usize::from(interval.holds(truth));
            }
            let found = share(hits, repeats);
            report(&format!("mean score, {tests} × {trials}: {found:.3}"));
            assert!((0.93..=0.97).contains(&found), "{tests} {trials} {found}");
        }
    }
}

#[test]
fn every_rate_below_two_hundred_has_an_interval() {
    for trials in 1..200 {
        for passes in [0, 1, trials / 2, trials] {
            let text = rate_text(passes.min(trials), trials, "passed");
            assert!(text.contains("95 % CI") && !text.contains('±'), "{text}");
        }
    }
}
