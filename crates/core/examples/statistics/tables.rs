//! The tables of the page about guarantees.

use evalrig_core::compare::{
    Change as TestWord, CompareOptions, ComparedCase, ComparisonVerdict, TestChange, compare,
};
use evalrig_core::model::Outcome;

use super::StatisticsTable;
use super::cells::{Exits, comparisons, in_parallel, mean_and_highest, percent};
use super::simulation::{Chance, Change, Loss, SHAPES, Setting, Shape, cases};
use super::{intervals, judges, rounds, unequal, unseen};
use evalrig_core::stats::Pair;

pub type MakeTable = fn(usize) -> StatisticsTable;
type SettingOfShape = Box<dyn Fn(Shape) -> Setting + Sync>;

/// With their names in the markers of the page.
pub const ALL: [(&str, MakeTable); 21] = [
    ("false-alarms", false_alarms),
    ("one-run", false_alarms_of_one_run),
    ("other-drift", drift_of_other_kinds),
    ("unequal", unequal::passes),
    ("unequal-scores", unequal::scores),
    ("verdicts", verdicts),
    ("margin", at_the_margin),
    ("broken", broken_tests),
    ("broken-margin", broken_at_the_margin),
    ("named", named_tests),
    ("false-marks", false_marks),
    ("fixture-marks", marks_of_a_fixture),
    ("unseen", unseen::shapes),
    ("errors", errors),
    ("rounds-false-alarms", rounds::false_alarms),
    ("rounds-verdicts", rounds::verdicts),
    ("rounds-margin", rounds::margin),
    ("drift-power", rounds::power_under_drift),
    ("coverage", intervals::differences),
    ("scores", intervals::scores),
    ("judges", judges::corrected),
];

/// How many times as many comparisons show the two rates that are promised.
const MORE_FOR_PROMISES: usize = 4;

const CORRELATIONS: [f64; 4] = [0.0, 0.05, 0.1, 0.3];

pub fn words(texts: &[&str]) -> Vec<String> {
    texts.iter().map(|text| (*text).to_owned()).collect()
}

fn size_name((tests, trials): (usize, usize)) -> String {
    format!("{tests} × {trials}")
}

/// Rows of settings; each cell is the mean and the highest over the shapes.
fn over_shapes(
    rows: &[(String, Vec<SettingOfShape>)],
    share: impl Fn(&Setting) -> f64 + Sync,
) -> Vec<Vec<String>> {
    let mut jobs = Vec::new();
    for (_, cells) in rows {
        for cell in cells {
            jobs.extend(SHAPES.iter().map(|shape| cell(*shape)));
        }
    }
    let found = in_parallel(&jobs, share);
    let mut cells = found.chunks(SHAPES.len()).map(mean_and_highest);
    rows.iter()
        .map(|(name, row)| [vec![name.clone()], cells.by_ref().take(row.len()).collect()].concat())
        .collect()
}

fn correlated(size: (usize, usize), base_runs: usize) -> Vec<SettingOfShape> {
    CORRELATIONS
        .iter()
        .map(|correlation| -> SettingOfShape {
            let change = Change::Correlation(*correlation);
            Box::new(move |shape| Setting::new(size.0, size.1, base_runs, shape).changing(change))
        })
        .collect()
}

fn correlation_header(first: &str) -> Vec<String> {
    let columns = CORRELATIONS.iter().map(|correlation| format!("correlation {correlation}"));
    [vec![first.to_owned()], columns.collect()].concat()
}

fn false_alarms(repeats: usize) -> StatisticsTable {
    let repeats = MORE_FOR_PROMISES * repeats;
    let sizes = [(10, 5), (20, 5), (30, 4), (50, 3)];
    let rows = sizes.map(|size| (size_name(size), correlated(size, 4)));
    StatisticsTable {
        repeats,
        title: "Equal runs called worse, four baseline runs, %: mean over shapes (highest shape)",
        header: correlation_header("tests × trials"),
        rows: over_shapes(&rows, |setting| Exits::of(setting, repeats).worse()),
    }
}

fn false_alarms_of_one_run(repeats: usize) -> StatisticsTable {
    let sizes = [(10, 5), (20, 1), (20, 5), (50, 5)];
    let rows = sizes.map(|size| (size_name(size), correlated(size, 1)));
    StatisticsTable {
        repeats,
        title: "Equal runs called worse, one baseline run, %: mean over shapes (highest shape)",
        header: correlation_header("tests × trials"),
        rows: over_shapes(&rows, |setting| Exits::of(setting, repeats).worse()),
    }
}

/// What changes between runs, and whether tests say so with `group`.
const DRIFT: [(&str, Change, bool); 3] = [
    ("runs shift by 3.8 points", Change::Shift(0.038), false),
    ("fixture of 5 tests fails in 3 % of runs", Change::Fixture(0.03), false),
    ("the same, with `group`", Change::Fixture(0.03), true),
];

type DrawPairs = fn(&Setting, &mut Chance) -> Vec<Pair>;

/// Rows of such changes, with suites and baseline runs as columns.
fn of_drift(
    kinds: &[(&str, Change, bool)],
    cell: impl Fn(&Setting, DrawPairs) -> String + Sync,
) -> StatisticsTable {
    let columns = [((20, 5), 1), ((20, 5), 4), ((50, 5), 1), ((50, 5), 4)];
    let mut jobs = Vec::new();
    for (_, change, is_grouped) in kinds {
        for ((tests, trials), base_runs) in columns {
            let setting = Setting::new(tests, trials, base_runs, Shape::Skilled).changing(*change);
            jobs.push((setting, *is_grouped));
        }
    }
    let found = in_parallel(&jobs, |(setting, is_grouped)| {
        cell(setting, if *is_grouped { Setting::grouped_pairs } else { Setting::pairs })
    });
    let header = columns.map(|(size, runs)| format!("{}, {runs} baseline", size_name(size)));
    StatisticsTable {
        repeats: 0,
        title: "",
        header: [words(&["what changes"]), header.to_vec()].concat(),
        rows: kinds
            .iter()
            .zip(found.chunks(columns.len()))
            .map(|((name, ..), cells)| [words(&[name]), cells.to_vec()].concat())
            .collect(),
    }
}

fn drift_of_other_kinds(repeats: usize) -> StatisticsTable {
    let worse =
        |setting: &Setting, pairs: DrawPairs| percent(Exits::with(setting, repeats, pairs).worse());
    StatisticsTable {
        repeats,
        title: "Equal runs called worse when runs change in other ways, Beta(4, 1), %",
        ..of_drift(&DRIFT, worse)
    }
}

fn verdicts(repeats: usize) -> StatisticsTable {
    let shapes = [Shape::Skilled, Shape::Even, Shape::Extremes, Shape::Coin, Shape::Solved];
    let losses = [Loss::Nothing, Loss::Spread(0.1), Loss::Spread(0.2)];
    let mut jobs = Vec::new();
    for shape in shapes {
        for loss in losses {
            for base_runs in [1, 4] {
                jobs.push(Setting::new(30, 4, base_runs, shape).losing(loss));
            }
        }
    }
    let found = in_parallel(&jobs, |setting| Exits::of(setting, repeats).text());
    let rows = shapes.iter().zip(found.chunks(6));
    StatisticsTable {
        repeats,
        title: "Exit 0 / 1 / 3 of the gate, 30 tests × 4 trials, %",
        header: words(&[
            "shape",
            "no change, 1 baseline run",
            "no change, 4",
            "−10 points, 1",
            "−10 points, 4",
            "−20 points, 1",
            "−20 points, 4",
        ]),
        rows: rows
            .map(|(shape, cells)| [words(&[shape.name()]), cells.to_vec()].concat())
            .collect(),
    }
}

fn at_the_margin(repeats: usize) -> StatisticsTable {
    let shapes = [Shape::Even, Shape::Skilled, Shape::Extremes, Shape::Coin, Shape::Solved];
    let sizes = [(10, 5), (20, 5), (30, 4), (50, 5), (100, 3)];
    let mut jobs = Vec::new();
    for shape in shapes {
        for (tests, trials) in sizes {
            for base_runs in [1, 4] {
                let setting = Setting::new(tests, trials, base_runs, shape);
                jobs.push(setting.losing(Loss::Spread(0.1)));
            }
        }
    }
    let found = in_parallel(&jobs, |setting| percent(Exits::of(setting, repeats).passed()));
    let row = |(shape, cells): (&Shape, &[String])| {
        let cells = cells.chunks(2).map(|pair| pair.join(" / "));
        [words(&[shape.name()]), cells.collect()].concat()
    };
    StatisticsTable {
        repeats,
        title: "Exit 0 though every test dropped so that the mean is 10 points lower, %: 1 / 4 baseline \
                runs",
        header: [words(&["shape"]), sizes.map(size_name).to_vec()].concat(),
        rows: shapes.iter().zip(found.chunks(2 * sizes.len())).map(row).collect(),
    }
}

fn broken_tests(repeats: usize) -> StatisticsTable {
    let shapes = [Shape::Skilled, Shape::Solved, Shape::Even, Shape::Lumpy];
    let mut jobs = Vec::new();
    for shape in shapes {
        for base_runs in [1, 4] {
            for loss in [Loss::Broken(0.05), Loss::Broken(0.1)] {
                jobs.push(Setting::new(20, 5, base_runs, shape).losing(loss));
            }
        }
        let drifting = Change::Correlation(0.1);
        let setting = Setting::new(20, 5, 4, shape).changing(drifting);
        jobs.push(setting.losing(Loss::Broken(0.1)));
    }
    let found = in_parallel(&jobs, |setting| percent(Exits::of(setting, repeats).worse()));
    let rows = shapes.iter().zip(found.chunks(5));
    StatisticsTable {
        repeats,
        title: "Called worse when some tests break wholly, 20 × 5, %",
        header: words(&[
            "shape",
            "−5 points, 1 baseline run",
            "−10 points, 1",
            "−5 points, 4",
            "−10 points, 4",
            "−10 points, 4, correlation 0.1",
        ]),
        rows: rows
            .map(|(shape, cells)| [words(&[shape.name()]), cells.to_vec()].concat())
            .collect(),
    }
}

/// Who is meant when the mean drops by as much as the margin.
const DROPPED: [(&str, Loss); 2] =
    [("tests like these", Loss::Broken(0.1)), ("these tests", Loss::BrokenHere(0.1))];

fn broken_at_the_margin(repeats: usize) -> StatisticsTable {
    let shapes = [Shape::Skilled, Shape::Solved, Shape::Even, Shape::Lumpy, Shape::Certain];
    let sizes = [(10, 5), (20, 5), (50, 5)];
    let mut jobs = Vec::new();
    for shape in shapes {
        for (_, loss) in DROPPED {
            for (tests, trials) in sizes {
                jobs.extend(
                    [1, 4].map(|runs| Setting::new(tests, trials, runs, shape).losing(loss)),
                );
            }
        }
    }
    let found = in_parallel(&jobs, |setting| percent(Exits::of(setting, repeats).passed()));
    let mut header = words(&["shape"]);
    for (name, _) in DROPPED {
        header.extend(sizes.map(|size| format!("{name}, {}", size_name(size))));
    }
    let row = |(shape, cells): (&Shape, &[String])| {
        let cells = cells.chunks(2).map(|pair| pair.join(" / "));
        [words(&[shape.name()]), cells.collect()].concat()
    };
    StatisticsTable {
        repeats,
        title: "Exit 0 though some tests broke wholly so that the mean is 10 points lower, %: 1 / 4 \
                baseline runs",
        header,
        rows: shapes.iter().zip(found.chunks(4 * sizes.len())).map(row).collect(),
    }
}

fn named_tests(repeats: usize) -> StatisticsTable {
    let shapes = [Shape::Solved, Shape::Skilled, Shape::Even, Shape::Extremes];
    let sizes = [(20, 3, 1), (20, 5, 1), (50, 5, 1), (20, 3, 4), (20, 5, 4), (50, 5, 4)];
    let mut jobs = Vec::new();
    for shape in shapes {
        for (tests, trials, base_runs) in sizes {
            jobs.push(Setting::new(tests, trials, base_runs, shape).losing(Loss::OneTest));
        }
    }
    let found = in_parallel(&jobs, |setting| {
        let mut named = 0;
        comparisons(setting, repeats, Setting::pairs, |comparison| {
            let is_named =
                |test: &TestChange| is_marked(test, TestWord::Regressed) && passed_never(test);
            named += usize::from(comparison.tests.iter().any(is_named));
        });
        percent(named as f64 / repeats as f64)
    });
    let header = sizes
        .map(|(tests, trials, runs)| format!("{}, {runs} baseline", size_name((tests, trials))));
    StatisticsTable {
        repeats,
        title: "The easiest test breaks wholly and is named beyond chance, %",
        header: [words(&["shape"]), header.to_vec()].concat(),
        rows: shapes
            .iter()
            .zip(found.chunks(sizes.len()))
            .map(|(shape, cells)| [words(&[shape.name()]), cells.to_vec()].concat())
            .collect(),
    }
}

fn is_marked(test: &TestChange, change: TestWord) -> bool {
    test.is_certain && test.change == change
}

fn passed_never(test: &TestChange) -> bool {
    test.candidate.is_some_and(|side| side.passes == 0)
}

fn false_marks(repeats: usize) -> StatisticsTable {
    let repeats = MORE_FOR_PROMISES * repeats;
    let sizes = [((20, 5), 1), ((20, 5), 4), ((3, 10), 4), ((5, 10), 4)];
    let rows = sizes.map(|(size, runs)| {
        (format!("{}, {runs} baseline", size_name(size)), correlated(size, runs))
    });
    StatisticsTable {
        repeats,
        title: "Equal runs with at least one test named as regressed beyond chance, %: mean over shapes \
                (highest shape)",
        header: correlation_header("tests × trials, baseline runs"),
        rows: over_shapes(&rows, |setting| marked(setting, Setting::pairs, repeats)),
    }
}

/// The share of comparisons that name a test as regressed.
pub fn marked(setting: &Setting, pairs: DrawPairs, repeats: usize) -> f64 {
    let mut marked = 0;
    comparisons(setting, repeats, pairs, |comparison| {
        let any = comparison.tests.iter().any(|test| is_marked(test, TestWord::Regressed));
        marked += usize::from(any);
    });
    marked as f64 / repeats as f64
}

fn marks_of_a_fixture(repeats: usize) -> StatisticsTable {
    let table = of_drift(&DRIFT[1..], |setting, pairs| percent(marked(setting, pairs, repeats)));
    StatisticsTable {
        repeats,
        title: "Equal runs with at least one test named as regressed beyond chance, Beta(4, 1), %",
        ..table
    }
}

/// Which trials cannot be measured.
#[derive(Debug, Clone, Copy)]
enum Errors {
    /// One in a hundred, of any run.
    Random,
    /// One in a hundred of the candidate.
    Candidate,
    /// Three in ten failures of the base.
    BaseFailures,
    /// Half of the candidate's failures.
    CandidateFailures,
}

fn errors(repeats: usize) -> StatisticsTable {
    let rows: [(&str, Loss, Errors); 5] = [
        ("no change, 1 % of the candidate's trials", Loss::Nothing, Errors::Candidate),
        ("no change, 1 % of all trials", Loss::Nothing, Errors::Random),
        ("−10 points, 1 % of all trials", Loss::Spread(0.1), Errors::Random),
        ("no change, 30 % of the baseline's failures", Loss::Nothing, Errors::BaseFailures),
        (
            "−20 points, half of the candidate's failures",
            Loss::Spread(0.2),
            Errors::CandidateFailures,
        ),
    ];
    let columns =
        [(Shape::Skilled, 1), (Shape::Skilled, 4), (Shape::Solved, 1), (Shape::Solved, 4)];
    let mut jobs = Vec::new();
    for (_, loss, errors) in rows {
        for (shape, base_runs) in columns {
            jobs.push((Setting::new(30, 4, base_runs, shape).losing(loss), errors));
        }
    }
    let found =
        in_parallel(&jobs, |(setting, errors)| exits_with(setting, *errors, repeats).text());
    let header = columns.map(|(shape, runs)| format!("{}, {runs} baseline", shape.name()));
    StatisticsTable {
        repeats,
        title: "Exit 0 / 1 / 3 when trials cannot be measured, 30 × 4, %",
        header: [words(&["truth, and what errors"]), header.to_vec()].concat(),
        rows: rows
            .iter()
            .zip(found.chunks(columns.len()))
            .map(|((name, ..), cells)| [words(&[name]), cells.to_vec()].concat())
            .collect(),
    }
}

fn exits_with(setting: &Setting, errors: Errors, repeats: usize) -> Exits {
    let mut random = setting.random();
    let mut found = Exits::default();
    for _ in 0..repeats {
        let [mut base, mut candidate] = cases(&setting.pairs(&mut random));
        let is_hit = |case: &ComparedCase, is_base: bool, chance: f64| {
            let is_failure = case.outcome == Outcome::Failed;
            match errors {
                Errors::Random => chance < 0.01,
                Errors::Candidate => !is_base && chance < 0.01,
                Errors::BaseFailures => is_base && is_failure && chance < 0.3,
                Errors::CandidateFailures => !is_base && is_failure && chance < 0.5,
            }
        };
        for (side, is_base) in [(&mut base, true), (&mut candidate, false)] {
            for case in side.iter_mut() {
                if is_hit(case, is_base, random.fraction()) {
                    case.outcome = Outcome::Errored;
                    case.score = None;
                }
            }
        }
        // As `--gate` decides.
        let Some(suite) = compare(&base, &candidate, &CompareOptions::default()).suite else {
            continue;
        };
        let verdict = suite.judged.verdict;
        match verdict {
            _ if !suite.is_certain() => found.open += 1,
            verdict if verdict.passes_gate() => found.passed += 1,
            ComparisonVerdict::Worse => found.worse += 1,
            _ => found.open += 1,
        }
    }
    found
}
