//! How often the corrected rate and the corrected difference hold the truth when a judge is fooled.

use evalrig_core::stats::{CorrectedRate, Interval, LabelledCase, corrected_difference};

use super::StatisticsTable;
use super::cells::{in_parallel, percent};
use super::simulation::{Chance, Setting, Shape};

/// Labels of each run.
const LABELS: usize = 40;
/// What the candidate keeps of each rate.
const KEPT: f64 = 0.875;
/// Repeats per repeat of the other tables: these are cheap.
const MORE: usize = 4;

/// Sensitivity and specificity of the judge towards one side.
const BASE: (f64, f64) = (0.9, 0.85);
const CANDIDATE: (f64, f64) = (0.95, 0.6);

/// How often each interval holds the truth.
#[derive(Debug, Clone, Copy, Default)]
struct Held {
    base: usize,
    candidate: usize,
    difference: usize,
}

pub fn corrected(repeats: usize) -> StatisticsTable {
    let shapes = [Shape::Skilled, Shape::Even, Shape::Extremes, Shape::Solved, Shape::Coin];
    let sizes = [(20, 5), (30, 4), (50, 5), (10, 10)];
    let repeats = repeats * MORE;
    let jobs: Vec<(Shape, (usize, usize))> =
        shapes.iter().flat_map(|shape| sizes.map(|size| (*shape, size))).collect();
    let found = in_parallel(&jobs, |(shape, (tests, trials))| {
        let mut random = Setting::new(*tests, *trials, 1, *shape).random();
        let truth = mean(*shape, &mut random);
        let mut held = Held::default();
        for _ in 0..repeats {
            let rates = shape.rates(*tests, &mut random);
            let lower: Vec<f64> = rates.iter().map(|rate| rate * KEPT).collect();
            let base = judged(&rates, *trials, BASE, &mut random);
            let candidate = judged(&lower, *trials, CANDIDATE, &mut random);
            let (_, between) = corrected_difference(&base, &candidate, 0.95);
            let holds = |interval: Interval, value: f64| usize::from(interval.holds(value));
            held.base += holds(base.interval, truth);
            held.candidate += holds(candidate.interval, truth * KEPT);
            held.difference += holds(between, truth * KEPT - truth);
        }
        let share = |count: usize| percent(count as f64 / repeats as f64);
        [held.base, held.candidate, held.difference].map(share).join(" / ")
    });
    let mut header = vec!["rates".to_owned()];
    header.extend(sizes.map(|(tests, trials)| format!("{tests} × {trials}")));
    StatisticsTable {
        repeats,
        title: "Corrected rates: base, candidate and difference hold the truth, %",
        header,
        rows: shapes
            .iter()
            .zip(found.chunks(sizes.len()))
            .map(|(shape, cells)| [vec![shape.name().to_owned()], cells.to_vec()].concat())
            .collect(),
    }
}

/// The mean rate of all such tests.
fn mean(shape: Shape, random: &mut Chance) -> f64 {
    const DRAWS: usize = 200_000;
    shape.rates(DRAWS, random).iter().sum::<f64>() / DRAWS as f64
}

/// One run with labels at random.
fn judged(
    rates: &[f64],
    trials: usize,
    (sensitivity, specificity): (f64, f64),
    random: &mut Chance,
) -> CorrectedRate {
    let mut cases = Vec::with_capacity(rates.len() * trials);
    for (cluster, rate) in rates.iter().enumerate() {
        for _ in 0..trials {
            let right = random.fraction() < *rate;
            let chance = if right { sensitivity } else { 1.0 - specificity };
            let passes = random.fraction() < chance;
            cases.push((LabelledCase { cluster, passes, label: None }, right));
        }
    }
    let mut left = LABELS;
    while left > 0 {
        let at = random.0.below(cases.len() as u64) as usize;
        let (case, right) = &mut cases[at];
        if case.label.is_none() {
            case.label = Some(*right);
            left -= 1;
        }
    }
    let cases: Vec<LabelledCase> = cases.into_iter().map(|(case, _)| case).collect();
    CorrectedRate::of(&cases, rates.len(), 0.95).expect("labels of two tests")
}
