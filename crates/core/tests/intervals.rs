//! The coverage of the intervals of rates, means and differences, on simulated runs. Seeded, so a
//! failure is a change of the code and not bad luck.

#[path = "../examples/statistics/moving.rs"]
mod moving;
#[path = "../examples/statistics/simulation.rs"]
mod simulation;

use evalrig_core::compare::Measure;
use evalrig_core::stats::{
    Interval, Pair, Passes, SplitMix64, clustered_mean, clustered_rate, difference, rate_text,
    wilson,
};
use moving::Moving;
use simulation::{Setting, Shape};

const TRIALS: [usize; 3] = [1, 3, 5];

fn passes(count: usize, rate: f64, random: &mut SplitMix64) -> Vec<f64> {
    let pass = |random: &mut SplitMix64| f64::from(u8::from(random.fraction() < rate));
    (0..count).map(|_| pass(random)).collect()
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
            let repeats = 60_000 / tests.max(10);
            let mut hits = 0;
            for at in 0..repeats {
                let (before, after) = (random.fraction(), random.fraction());
                let pairs: Vec<Pair> = (0..tests)
                    .map(|_| {
                        let place = random.fraction();
                        let rate = |mean: f64| spread_out(mean, place, at % 3);
                        let base = passes(trials, rate(before), &mut random);
                        Pair::new(base, passes(trials, rate(after), &mut random))
                    })
                    .collect();
                let (_, interval) = difference(&pairs, Measure::Rate, 0.95).expect("tests");
                hits += usize::from(interval.holds(after - before));
            }
            let found = share(hits, repeats);
            report(&format!("difference of rates, {tests} × {trials}: {found:.3}"));
            assert!((0.93..=0.975).contains(&found), "{tests} {trials} {found}");
        }
    }
}

/// Over suites of every kind, as above, and with tests that have fewer trials than others.
#[test]
fn the_interval_of_a_rate_with_several_trials_covers() {
    for tests in [3, 5, 10, 20, 50, 199] {
        for trials in TRIALS {
            let mut random = SplitMix64::new((tests * 10 + trials) as u64);
            let repeats = 100_000 / tests.max(10);
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

/// Wider than Student's on purpose: a test may break that has not done so yet.
#[test]
fn the_interval_of_a_difference_of_scores_covers() {
    for tests in [3, 5, 10, 20, 50, 200] {
        for trials in TRIALS {
            let mut random = SplitMix64::new((tests * 10 + trials) as u64);
            let repeats = 40_000 / tests.max(10);
            let (mut hits, mut widest) = (0, 0.0);
            for _ in 0..repeats {
                let drop = 0.2 * random.fraction();
                let pairs: Vec<Pair> = (0..tests)
                    .map(|_| {
                        let level = 0.4 + 0.4 * random.fraction();
                        let side = |level: f64, random: &mut SplitMix64| {
                            (0..trials).map(|_| score(level, 0.13, random)).collect()
                        };
                        let base = side(level, &mut random);
                        Pair::new(base, side(level - drop, &mut random))
                    })
                    .collect();
                let (_, interval) = difference(&pairs, Measure::Score, 0.95).expect("tests");
                hits += usize::from(interval.holds(-drop));
                widest = f64::max(widest, interval.high - interval.low);
            }
            let found = share(hits, repeats);
            report(&format!("difference of scores, {tests} × {trials}: {found:.3}"));
            assert!(found >= 0.93, "{tests} {trials} {found}");
            assert!(tests < 50 || widest <= 5.0 / tests as f64 + 0.02, "{tests} {trials} {widest}");
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
            // Few tests do not show what they have not met, so their intervals are wide.
            let most = if tests < 10 { 1.0 } else { 0.97 };
            assert!((0.93..=most).contains(&found), "{tests} {trials} {found}");
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

/// So many that three standard errors are half a point; the limits need no allowance.
const COVERED: usize = 10_000;

fn covers(moving: Moving) {
    let found = moving.coverage(COVERED).value();
    assert!((0.93..=0.97).contains(&found), "{moving:?}: {found}");
}

/// Each target of a test has the same rates, so targets add little about other tests.
#[test]
fn intervals_cover_the_difference_with_several_targets() {
    for shape in [Shape::Skilled, Shape::Extremes] {
        for targets in 1..=5 {
            covers(Moving { setting: Setting::new(20, 5, 1, shape), targets, share: 0.5 });
        }
    }
}

#[test]
fn intervals_of_single_trials_cover_from_twenty_tests_on() {
    for shape in [Shape::Coin, Shape::Skilled, Shape::Extremes, Shape::Ramp] {
        for tests in [20, 50, 100] {
            covers(Moving { setting: Setting::new(tests, 1, 1, shape), targets: 1, share: 0.5 });
        }
    }
}

#[test]
fn intervals_cover_the_difference_from_several_runs() {
    for shape in [Shape::Skilled, Shape::Extremes, Shape::Coin] {
        covers(Moving { setting: Setting::new(30, 4, 4, shape), targets: 1, share: 0.5 });
    }
}
