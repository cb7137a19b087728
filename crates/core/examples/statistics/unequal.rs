//! Candidates with more or fewer trials than the four baseline runs.

use evalrig_core::compare::{ComparisonVerdict, Measure, Rule, judge};
use evalrig_core::stats::Pair;

use super::StatisticsTable;
use super::cells::{Exits, MARGIN, in_parallel, mean_and_highest, percent};
use super::simulation::{Chance, Change, Loss, SHAPES, Setting, Shape};

/// Tests, trials of each baseline run, trials of the candidate.
type UnequalSize = (usize, usize, usize);

fn name((tests, base, candidate): UnequalSize) -> String {
    format!("{tests} tests, 4 × {base} against {candidate}")
}

fn worse(setting: &Setting, candidate: usize, repeats: usize) -> f64 {
    let pairs =
        |setting: &Setting, random: &mut Chance| setting.pairs_with_candidate(candidate, random);
    Exits::with(setting, repeats, pairs).worse()
}

pub fn passes(repeats: usize) -> StatisticsTable {
    let sizes: [UnequalSize; 6] =
        [(20, 3, 8), (20, 2, 5), (20, 1, 5), (20, 5, 8), (20, 10, 2), (20, 5, 1)];
    let correlations = [0.0, 0.1, 0.3];
    let drops = [
        (Shape::Skilled, Loss::Spread(0.1)),
        (Shape::Skilled, Loss::Spread(0.2)),
        (Shape::Skilled, Loss::Broken(0.1)),
    ];
    let mut jobs = Vec::new();
    for size in sizes {
        let (tests, trials, candidate) = size;
        for correlation in correlations {
            let change = Change::Correlation(correlation);
            let setting = |shape: &Shape| Setting::new(tests, trials, 4, *shape).changing(change);
            jobs.extend(SHAPES.iter().map(|shape| (setting(shape), candidate)));
        }
        let dropped =
            |(shape, loss): (Shape, Loss)| Setting::new(tests, trials, 4, shape).losing(loss);
        jobs.extend(drops.map(|drop| (dropped(drop), candidate)));
    }
    let found = in_parallel(&jobs, |(setting, candidate)| worse(setting, *candidate, repeats));
    let row = |(size, shares): (&UnequalSize, &[f64])| {
        let (alarms, caught) = shares.split_at(correlations.len() * SHAPES.len());
        let alarms = alarms.chunks(SHAPES.len()).map(mean_and_highest);
        let caught = caught.iter().map(|share| percent(*share));
        std::iter::once(name(*size)).chain(alarms).chain(caught).collect()
    };
    let header = [
        "passes",
        "correlation 0",
        "correlation 0.1",
        "correlation 0.3",
        "−10 points",
        "−20 points",
        "−10 points, broken tests",
    ];
    StatisticsTable {
        repeats,
        title: "Called worse, %: equal runs, mean over shapes (highest shape); drops for Beta(4, 1)",
        header: header.map(str::to_owned).to_vec(),
        rows: sizes.iter().zip(found.chunks(jobs.len() / sizes.len())).map(row).collect(),
    }
}

pub fn scores(repeats: usize) -> StatisticsTable {
    let sizes: [UnequalSize; 5] = [(20, 5, 1), (30, 10, 2), (20, 5, 5), (20, 3, 5), (20, 2, 8)];
    let truths = [(0.0, 0.0), (0.3, 0.0), (0.0, 0.1)];
    let mut jobs = Vec::new();
    for size in sizes {
        jobs.extend(truths.map(|(correlation, drop)| (size, NormalScores { correlation, drop })));
    }
    let found = in_parallel(&jobs, |(size, scores)| scores.verdicts(*size, repeats));
    let header = ["scores", "equal", "equal, correlation 0.3", "−10 points"];
    StatisticsTable {
        repeats,
        title: "Scores called worse / better, %",
        header: header.map(str::to_owned).to_vec(),
        rows: sizes
            .iter()
            .zip(found.chunks(truths.len()))
            .map(|(size, cells)| [vec![name(*size)], cells.to_vec()].concat())
            .collect(),
    }
}

/// Scores around a level of the test, with a standard deviation of 0.3.
#[derive(Debug, Clone, Copy)]
struct NormalScores {
    correlation: f64,
    drop: f64,
}

impl NormalScores {
    fn pair(self, (_, base, candidate): UnequalSize, random: &mut Chance) -> Pair {
        let level = 0.3 + 0.6 * random.fraction();
        let mut run = |trials: usize, level: f64| -> Vec<f64> {
            let own = level + random.normal() * 0.3 * self.correlation.sqrt();
            let spread = 0.3 * (1.0 - self.correlation).sqrt();
            (0..trials).map(|_| (own + random.normal() * spread).clamp(0.0, 1.0)).collect()
        };
        let base = (0..4).map(|_| run(base, level)).collect();
        Pair::pooled(base, run(candidate, level - self.drop))
    }

    fn verdicts(self, size: UnequalSize, repeats: usize) -> String {
        let (tests, base, _) = size;
        let mut random = Setting::new(tests, base, 4, Shape::Even).random();
        let (mut worse, mut better) = (0_i32, 0_i32);
        for seed in 0..repeats {
            let pairs: Vec<Pair> = (0..tests).map(|_| self.pair(size, &mut random)).collect();
            let rule = Rule { measure: Measure::Score, margin: MARGIN, seed: seed as u64 };
            match judge(&pairs, &rule).expect("a suite has tests").verdict {
                ComparisonVerdict::Worse => worse += 1,
                ComparisonVerdict::Better => better += 1,
                _ => {}
            }
        }
        let share = |count: i32| percent(f64::from(count) / repeats as f64);
        format!("{} / {}", share(worse), share(better))
    }
}
