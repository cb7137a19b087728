//! Runs in rounds: how often they are right, and how many trials they take.

use evalrig_core::compare::{
    Change as TestWord, ComparisonVerdict, Measure, RoundBase, RoundPlan, RoundSides, Rounds,
    compare_in_rounds,
};

use super::StatisticsTable;
use super::cells::{Exits, MARGIN, in_parallel, mean_and_highest, percent};
use super::simulation::{Change, Loss, SHAPES, Setting, Shape, cases};

/// A look takes as long as a comparison, so there are fewer runs than in other tables.
fn fewer(repeats: usize) -> usize {
    (repeats * 2 / 5).max(1)
}

/// Exits, and the rounds that were run.
#[derive(Debug, Clone, Copy, Default)]
pub struct RoundExits {
    pub exits: Exits,
    rounds: usize,
    marked: usize,
    runs: usize,
}

impl RoundExits {
    /// As many rounds as the baseline has trials.
    pub fn of(setting: &Setting, repeats: usize, stops_futile: bool) -> Self {
        Self::of_rounds(setting, setting.trials, repeats, stops_futile)
    }

    fn of_rounds(setting: &Setting, most: usize, repeats: usize, stops_futile: bool) -> Self {
        let mut random = setting.random();
        let mut found = Self::default();
        for _ in 0..repeats {
            let [base, candidate] = cases(&setting.pairs_with_candidate(most, &mut random));
            let plan = RoundPlan {
                rounds: most as u32,
                margin: MARGIN,
                measure: Measure::Rate,
                base: RoundBase::Stored { trials: (setting.trials * setting.base_runs) as f64 },
                seed: random.0.below(u64::MAX),
                stops_futile,
            };
            let sides = RoundSides { base: &base, candidate: &candidate };
            let mut rounds = Rounds::new(plan);
            rounds.look_up_to(plan.rounds, sides);
            found.runs += 1;
            found.rounds += rounds.looks.len();
            match rounds.looks.last().map(|look| look.verdict()) {
                Some(ComparisonVerdict::Worse) => found.exits.worse += 1,
                None | Some(ComparisonVerdict::Inconclusive) => found.exits.open += 1,
                Some(_) => found.exits.passed += 1,
            }
            let compared = compare_in_rounds(sides, rounds);
            let mut marked = compared.tests.iter().filter(|test| test.is_certain);
            let is_named = marked.any(|test| test.change == TestWord::Regressed);
            found.marked += usize::from(is_named);
        }
        found
    }

    fn text(self) -> String {
        format!("{}, {:.1}", self.exits.text(), self.rounds as f64 / self.runs as f64)
    }

    fn marked(self) -> f64 {
        self.marked as f64 / self.runs as f64
    }
}

const CORRELATIONS: [f64; 4] = [0.0, 0.05, 0.1, 0.3];

pub fn false_alarms(repeats: usize) -> StatisticsTable {
    let rows = [
        ("20 × 5, 1 baseline, called worse", (20, 5, 5, 1)),
        ("30 × 4, 4 baseline, called worse", (30, 4, 4, 4)),
        ("20 × 5, 4 baseline, called worse", (20, 5, 5, 4)),
        ("20 × 6, 4 baseline × 3, called worse", (20, 6, 3, 4)),
    ];
    let mut jobs = Vec::new();
    for (_, (tests, most, trials, runs)) in rows {
        for correlation in CORRELATIONS {
            let change = Change::Correlation(correlation);
            let setting =
                |shape: &Shape| Setting::new(tests, trials, runs, *shape).changing(change);
            // One run cannot show drift.
            let is_skipped = runs == 1 && correlation > 0.0;
            jobs.extend(SHAPES.iter().map(|shape| (setting(shape), most, is_skipped)));
        }
    }
    let found = in_parallel(&jobs, |(setting, most, is_skipped)| {
        if *is_skipped {
            return (0.0, 0.0);
        }
        let found = RoundExits::of_rounds(setting, *most, fewer(repeats), false);
        (found.exits.worse(), found.marked())
    });
    let cells: Vec<[String; 2]> = found
        .chunks(SHAPES.len())
        .map(|cell| {
            let of = |side: fn(&(f64, f64)) -> f64| {
                mean_and_highest(&cell.iter().map(side).collect::<Vec<_>>())
            };
            [of(|one| one.0), of(|one| one.1)]
        })
        .collect();
    let mut table = Vec::new();
    for ((name, (.., runs)), cells) in rows.iter().zip(cells.chunks(CORRELATIONS.len())) {
        let row = |kind: usize| {
            cells.iter().enumerate().map(move |(at, cell)| match (runs, at) {
                (1, 1..) => "not run".to_owned(),
                _ => cell[kind].clone(),
            })
        };
        table.push([vec![(*name).to_owned()], row(0).collect()].concat());
        table.push([vec![name.replace("called worse", "a test named")], row(1).collect()].concat());
    }
    let header = CORRELATIONS.map(|correlation| format!("correlation {correlation}"));
    StatisticsTable {
        repeats: fewer(repeats),
        title: "Equal runs in rounds, %: mean over shapes (highest shape)",
        header: [vec!["tests × rounds".to_owned()], header.to_vec()].concat(),
        rows: table,
    }
}

pub fn verdicts(repeats: usize) -> StatisticsTable {
    let shapes = [Shape::Skilled, Shape::Even, Shape::Extremes, Shape::Coin, Shape::Solved];
    let losses = [Loss::Nothing, Loss::Spread(0.1), Loss::Spread(0.2), Loss::Broken(0.1)];
    let mut jobs = Vec::new();
    for shape in shapes {
        jobs.extend(losses.map(|loss| Setting::new(30, 4, 4, shape).losing(loss)));
    }
    let found = in_parallel(&jobs, |setting| {
        let repeats = fewer(repeats);
        [Exits::of(setting, repeats).text(), RoundExits::of(setting, repeats, false).text()]
    });
    let mut rows = Vec::new();
    for (shape, cells) in shapes.iter().zip(found.chunks(losses.len())) {
        for (at, way) in ["all trials", "rounds"].into_iter().enumerate() {
            let cells = cells.iter().map(|cell| cell[at].clone());
            rows.push([vec![format!("{}, {way}", shape.name())], cells.collect()].concat());
        }
    }
    let header = ["shape", "no change", "−10 points", "−20 points", "−10 points, broken tests"];
    StatisticsTable {
        repeats: fewer(repeats),
        title: "Exit 0 / 1 / 3 with four baseline runs, 30 × 4, %; with rounds also how many were run",
        header: header.map(str::to_owned).to_vec(),
        rows,
    }
}

pub fn margin(repeats: usize) -> StatisticsTable {
    let shapes = [Shape::Skilled, Shape::Even, Shape::Extremes, Shape::Coin, Shape::Solved];
    let jobs: Vec<Setting> = shapes
        .iter()
        .flat_map(|shape| {
            [(20, 5, 1), (30, 4, 4)]
                .map(|(tests, trials, runs)| Setting::new(tests, trials, runs, *shape))
        })
        .collect();
    let found = in_parallel(&jobs, |setting| {
        let at_margin = setting.losing(Loss::Spread(MARGIN));
        let repeats = fewer(repeats);
        let passed = RoundExits::of(&at_margin, repeats, false).exits.passed();
        (percent(passed), RoundExits::of(setting, repeats, true).text())
    });
    let row = |(shape, cells): (&Shape, &[(String, String)])| {
        let cells = cells.iter().flat_map(|(passed, futile)| [passed.clone(), futile.clone()]);
        [vec![shape.name().to_owned()], cells.collect()].concat()
    };
    let header = [
        "shape",
        "20 × 5, 1 baseline, −10 points: exit 0",
        "no change, `--futility`",
        "30 × 4, 4 baseline, −10 points: exit 0",
        "no change, `--futility` ",
    ];
    StatisticsTable {
        repeats: fewer(repeats),
        title: "Rounds: exit 0 at a drop as large as the margin, %; and exits with --futility",
        header: header.map(str::to_owned).to_vec(),
        rows: shapes.iter().zip(found.chunks(2)).map(row).collect(),
    }
}
