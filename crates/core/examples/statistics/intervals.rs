//! How often an interval holds the true difference.

use evalrig_core::compare::{Measure, Rule, judge};
use evalrig_core::stats::{Pair, difference};

use super::StatisticsTable;
use super::cells::{MARGIN, in_parallel, percent};
use super::moving::Moving;
use super::simulation::{Chance, Setting, Shape};

/// Repeats per repeat of the other tables: an interval alone is cheap.
pub const MORE: usize = 40;
/// The same for scores, some of which need the test for gains too.
const MORE_SCORES: usize = 4;

pub fn differences(repeats: usize) -> StatisticsTable {
    let shapes = [Shape::Skilled, Shape::Extremes, Shape::Ramp, Shape::Coin];
    let repeats = repeats * MORE;
    let rows: [(&str, usize, usize, usize, usize); 12] = [
        ("20 × 5, 1 target", 20, 5, 1, 1),
        ("20 × 5, 2 targets", 20, 5, 1, 2),
        ("20 × 5, 3 targets", 20, 5, 1, 3),
        ("20 × 5, 4 targets", 20, 5, 1, 4),
        ("20 × 5, 5 targets", 20, 5, 1, 5),
        ("50 × 5, 1 target", 50, 5, 1, 1),
        ("30 × 4, 4 baseline runs", 30, 4, 4, 1),
        ("20 × 1", 20, 1, 1, 1),
        ("50 × 1", 50, 1, 1, 1),
        ("100 × 1", 100, 1, 1, 1),
        ("1 × 10", 1, 10, 1, 1),
        ("1 × 50", 1, 50, 1, 1),
    ];
    let mut jobs = Vec::new();
    for (_, tests, trials, base_runs, targets) in rows {
        for shape in shapes {
            let setting = Setting::new(tests, trials, base_runs, shape);
            // The interval of a single test is about that test.
            let share = if tests == 1 { 0.0 } else { 0.5 };
            jobs.push(Moving { setting, targets, share });
        }
    }
    let found = in_parallel(&jobs, |moving| percent(moving.coverage(repeats).value()));
    let mut header = vec!["tests × trials".to_owned()];
    header.extend(shapes.map(|shape| shape.name().to_owned()));
    StatisticsTable {
        repeats,
        title: "The 95 % interval of the difference in pass rate holds the truth, %",
        header,
        rows: rows
            .iter()
            .zip(found.chunks(shapes.len()))
            .map(|((name, ..), cells)| [vec![(*name).to_owned()], cells.to_vec()].concat())
            .collect(),
    }
}

/// How scores come about.
#[derive(Debug, Clone, Copy)]
enum Scores {
    /// Always 0.9; in the candidate one test in nine scores 0.
    Equal,
    /// 0.9 ± 0.01; the same.
    Steady,
    /// Fifths, around a level of the test; nothing changes.
    Rubric,
    /// The same, and one test in ten scores 0.
    BrokenRubric,
}

impl Scores {
    fn truth(self) -> f64 {
        match self {
            Self::Equal | Self::Steady => -0.1,
            Self::Rubric => 0.0,
            Self::BrokenRubric => -0.075,
        }
    }

    /// Both sides of one test.
    fn pair(self, trials: usize, random: &mut Chance) -> Pair {
        let is_broken = random.fraction()
            < match self {
                Self::Equal | Self::Steady => 1.0 / 9.0,
                Self::Rubric => 0.0,
                Self::BrokenRubric => 0.1,
            };
        let level = 0.5 + 0.5 * random.fraction();
        let mut side = |is_broken: bool| -> Vec<f64> {
            (0..trials)
                .map(|_| match self {
                    _ if is_broken => 0.0,
                    Self::Equal => 0.9,
                    Self::Steady => 0.9 + 0.01 * (2.0 * random.fraction() - 1.0),
                    _ => {
                        let met = (0..5).filter(|_| random.fraction() < level).count();
                        met as f64 / 5.0
                    }
                })
                .collect()
        };
        let base = side(false);
        Pair::new(base, side(is_broken))
    }
}

fn passes_gate(pairs: &[Pair], seed: u64) -> bool {
    let rule = Rule { measure: Measure::Score, margin: MARGIN, seed };
    judge(pairs, &rule).expect("a suite has tests").verdict.passes_gate()
}

pub fn scores(repeats: usize) -> StatisticsTable {
    let repeats = repeats * MORE_SCORES;
    let kinds = [
        ("always 0.9, 1 in 9 tests collapses", Scores::Equal),
        ("0.9 ± 0.01, 1 in 9 tests collapses", Scores::Steady),
        ("rubrics of five, no change", Scores::Rubric),
        ("rubrics of five, 1 in 10 tests collapses", Scores::BrokenRubric),
    ];
    let sizes = [(5, 1), (5, 5), (10, 5), (20, 1), (20, 5), (50, 5)];
    let mut jobs = Vec::new();
    for (_, scores) in kinds {
        jobs.extend(sizes.iter().map(|size| (scores, *size)));
    }
    let found = in_parallel(&jobs, |(scores, (tests, trials))| {
        let mut random = Setting::new(*tests, *trials, 1, Shape::Even).random();
        let (mut holds, mut passed) = (0, 0);
        for seed in 0..repeats {
            let pairs: Vec<Pair> = (0..*tests).map(|_| scores.pair(*trials, &mut random)).collect();
            let (delta, interval) =
                difference(&pairs, Measure::Score, 0.95).expect("a suite has tests");
            holds += usize::from(interval.holds(scores.truth()));
            // Otherwise only a gain passes, and gains need all permutations.
            passed += usize::from(
                interval.low > -MARGIN || (delta > 0.0 && passes_gate(&pairs, seed as u64)),
            );
        }
        let share = |count: usize| count as f64 / repeats as f64;
        format!("{} / {}", percent(share(holds)), percent(share(passed)))
    });
    let mut header = vec!["scores".to_owned()];
    header.extend(sizes.map(|(tests, trials)| format!("{tests} × {trials}")));
    StatisticsTable {
        repeats,
        title: "Mean scores: the interval holds the truth / exit 0, %",
        header,
        rows: kinds
            .iter()
            .zip(found.chunks(sizes.len()))
            .map(|((name, _), cells)| [vec![(*name).to_owned()], cells.to_vec()].concat())
            .collect(),
    }
}
