//! Runs in rounds: how often they are right, and how many trials they take.

use evalrig_core::compare::{
    Change as TestWord, ComparisonVerdict, Measure, RoundBase, RoundPlan, RoundSides, Rounds,
    SuiteVerdict, compare_in_rounds,
};

use super::StatisticsTable;
use super::cells::{Exits, MARGIN, in_parallel, mean_and_highest, percent, verdict};
use super::simulation::{Change, Loss, SHAPES, Setting, Shape, Share, cases};

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
    /// Inconclusive at a look whose interval was wholly below the margin.
    contradicted: usize,
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
            let suites = rounds.looks.iter().filter_map(|look| look.suite);
            found.contradicted += suites.filter(|suite| contradicts(&suite.judged)).count();
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

/// Drops that no shift of the baseline runs explains.
const LARGE_DROPS: [(&str, Loss); 2] =
    [("−20 points", Loss::Spread(0.2)), ("every test breaks", Loss::Broken(1.0))];

/// Large drops against baseline runs that differ among themselves.
pub fn power_under_drift(repeats: usize) -> StatisticsTable {
    let changes = [
        ("no drift", Change::Nothing),
        ("runs shift by 3.8 points", Change::Shift(0.038)),
        ("runs shift by 10 points", Change::Shift(0.1)),
        ("correlation 0.3", Change::Correlation(0.3)),
    ];
    let sizes = [(30, 4), (50, 5)];
    let mut jobs = Vec::new();
    for (_, change) in changes {
        for (tests, trials) in sizes {
            let setting = Setting::new(tests, trials, 4, Shape::Skilled).changing(change);
            jobs.extend(LARGE_DROPS.map(|(_, loss)| setting.losing(loss)));
        }
    }
    let found = in_parallel(&jobs, |setting| {
        let repeats = fewer(repeats);
        let (whole, open) = worse_and_contradicted(setting, repeats);
        let rounds = RoundExits::of(setting, repeats, false);
        let shares = format!("{} / {}", percent(whole.value()), percent(rounds.exits.worse()));
        (shares, open + rounds.contradicted)
    });
    let rows = changes.iter().zip(found.chunks(sizes.len() * LARGE_DROPS.len()));
    let row = |((name, _), cells): (&(&str, Change), &[(String, usize)])| {
        let open: usize = cells.iter().map(|(_, open)| open).sum();
        let shares = cells.iter().map(|(shares, _)| shares.clone());
        [vec![(*name).to_owned()], shares.collect(), vec![open.to_string()]].concat()
    };
    let columns = sizes.iter().flat_map(|(tests, trials)| {
        LARGE_DROPS.map(|(name, _)| format!("{tests} × {trials}, {name}"))
    });
    StatisticsTable {
        repeats: fewer(repeats),
        title: "Called worse with four baseline runs, all trials / rounds, %; and how many of the row were \
                inconclusive though the interval was wholly below the margin",
        header: std::iter::once("what changes".to_owned())
            .chain(columns)
            .chain(["interval below −10 points, inconclusive".to_owned()])
            .collect(),
        rows: rows.map(row).collect(),
    }
}

/// The share called worse, and how often a comparison contradicts its own interval.
fn worse_and_contradicted(setting: &Setting, repeats: usize) -> (Share, usize) {
    let mut random = setting.random();
    let (mut hits, mut contradicted) = (0, 0);
    for _ in 0..repeats {
        let judged = verdict(&setting.pairs(&mut random), &mut random);
        hits += usize::from(judged.verdict == ComparisonVerdict::Worse);
        contradicted += usize::from(contradicts(&judged));
    }
    (Share { hits, of: repeats }, contradicted)
}

fn contradicts(judged: &SuiteVerdict) -> bool {
    judged.verdict == ComparisonVerdict::Inconclusive && judged.interval.high < -MARGIN
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
