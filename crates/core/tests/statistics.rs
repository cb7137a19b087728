//! What the verdicts and marks promise, checked on simulated runs of known truth. Small enough for
//! every `cargo test`: each limit allows three standard errors of the simulation. The published
//! numbers, with more comparisons, are those of `cargo xtask statistics --full`.

#[path = "../examples/statistics/simulation.rs"]
mod simulation;

use evalrig_core::compare::{
    Change as TestWord, CompareOptions, Comparison, ComparisonVerdict, Measure, Rule,
    SelfTestMethod, compare, judge, selftest,
};
use evalrig_core::model::Outcome;
use evalrig_core::stats::{Cluster, Pair, difference};
use simulation::{Chance, Change, Loss, SHAPES, Setting, Shape, Share, cases};

const CORRELATIONS: [f64; 4] = [0.0, 0.05, 0.1, 0.3];

fn verdict(pairs: &[Pair], random: &mut Chance) -> ComparisonVerdict {
    let rule = Rule { measure: Measure::Rate, margin: 0.1, seed: random.0.below(u64::MAX) };
    judge(pairs, &rule).expect("a suite has tests").verdict
}

/// Of comparisons of these settings, each repeated, the share that gets a verdict.
fn share(settings: &[Setting], repeats: usize, is_hit: fn(ComparisonVerdict) -> bool) -> Share {
    let mut hits = 0;
    for setting in settings {
        let mut random = setting.random();
        let verdicts = (0..repeats).map(|_| verdict(&setting.pairs(&mut random), &mut random));
        hits += verdicts.filter(|verdict| is_hit(*verdict)).count();
    }
    Share { hits, of: settings.len() * repeats }
}

fn is_worse(verdict: ComparisonVerdict) -> bool {
    verdict == ComparisonVerdict::Worse
}

fn of_every_shape(make: impl Fn(Shape) -> Setting) -> Vec<Setting> {
    SHAPES.iter().map(|shape| make(*shape)).collect()
}

#[test]
fn equal_runs_are_called_worse_in_at_most_one_of_twenty() {
    for (tests, trials) in [(10, 5), (20, 1), (20, 3)] {
        let settings = of_every_shape(|shape| Setting::new(tests, trials, 1, shape));
        let found = share(&settings, 30, is_worse);
        assert!(found.may_be_at_most(0.05), "{tests} × {trials}: {found:?}");
    }
}

#[test]
fn equal_runs_that_drift_are_called_worse_in_at_most_one_of_twenty() {
    for correlation in CORRELATIONS {
        let settings = of_every_shape(|shape| {
            Setting::new(12, 4, 4, shape).changing(Change::Correlation(correlation))
        });
        let found = share(&settings, 20, is_worse);
        assert!(found.may_be_at_most(0.05), "{correlation}: {found:?}");
    }
}

/// With one baseline run nothing can be known about drift. If this fails, the docs are too modest.
#[test]
fn one_baseline_run_cannot_see_drift() {
    let setting = Setting::new(20, 5, 1, Shape::Skilled).changing(Change::Correlation(0.3));
    let found = share(&[setting], 60, is_worse);
    assert!(found.value() > 0.12, "{found:?}");
}

#[test]
fn tests_that_share_a_fixture_need_their_group() {
    let setting = Setting::new(40, 4, 4, Shape::Skilled).changing(Change::Fixture(0.03));
    let mut random = setting.random();
    let mut worse = 0;
    for _ in 0..60 {
        worse += usize::from(is_worse(verdict(&setting.grouped_pairs(&mut random), &mut random)));
    }
    let found = Share { hits: worse, of: 60 };
    assert!(found.may_be_at_most(0.05), "{found:?}");
}

#[test]
fn a_drop_as_large_as_the_margin_passes_the_gate_in_at_most_one_of_twenty() {
    for base_runs in [1, 4] {
        let shapes = [Shape::Even, Shape::Skilled, Shape::Extremes, Shape::Coin];
        let settings: Vec<Setting> = shapes
            .iter()
            .flat_map(|shape| [(10, 5), (30, 4)].map(|size| (*shape, size)))
            .map(|(shape, (tests, trials))| Setting::new(tests, trials, base_runs, shape))
            .map(|setting| setting.losing(Loss::Spread(0.1)))
            .collect();
        let found = share(&settings, 20, ComparisonVerdict::passes_gate);
        assert!(found.may_be_at_most(0.05), "{base_runs}: {found:?}");
    }
}

/// 30 tests × 4 trials against four baseline runs.
#[test]
fn an_unchanged_candidate_mostly_passes_and_a_drop_is_mostly_caught() {
    for (shape, passed) in [(Shape::Skilled, 0.67), (Shape::Even, 0.78)] {
        let setting = Setting::new(30, 4, 4, shape);
        let found = share(&[setting], 60, ComparisonVerdict::passes_gate);
        assert!(found.may_be_at_least(passed), "{shape:?}: {found:?}");
        assert!(found.value() > 0.5, "{shape:?}: {found:?}");
    }
    for (drop, caught) in [(0.1, 0.69), (0.2, 0.97)] {
        let setting = Setting::new(30, 4, 4, Shape::Skilled).losing(Loss::Spread(drop));
        let found = share(&[setting], 40, is_worse);
        assert!(found.may_be_at_least(caught), "{drop}: {found:?}");
    }
}

#[test]
fn a_few_broken_tests_are_caught() {
    for base_runs in [1, 4] {
        let setting = Setting::new(20, 5, base_runs, Shape::Skilled).losing(Loss::Broken(0.1));
        let found = share(&[setting], 50, is_worse);
        assert!(found.may_be_at_least(0.7), "{base_runs}: {found:?}");
    }
}

fn comparisons(setting: &Setting, repeats: usize) -> Vec<Comparison> {
    let mut random = setting.random();
    let comparison = |_| {
        let [base, candidate] = cases(&setting.pairs(&mut random));
        compare(&base, &candidate, &CompareOptions::default())
    };
    (0..repeats).map(comparison).collect()
}

fn has_mark(comparison: &Comparison) -> bool {
    let is_marked = |test: &evalrig_core::compare::TestChange| {
        test.is_certain && test.change == TestWord::Regressed
    };
    comparison.tests.iter().any(is_marked)
}

#[test]
fn a_broken_test_of_twenty_is_named() {
    for base_runs in [1, 4] {
        let setting = Setting::new(20, 5, base_runs, Shape::Solved).losing(Loss::OneTest);
        let found = comparisons(&setting, 50);
        let hits = found.iter().filter(|comparison| has_mark(comparison)).count();
        let found = Share { hits, of: 50 };
        assert!(found.may_be_at_least(0.9) && found.value() > 0.8, "{base_runs}: {found:?}");
    }
}

#[test]
fn no_test_is_named_in_nineteen_of_twenty_equal_runs() {
    for correlation in [0.0, 0.3] {
        let mut hits = 0;
        for shape in SHAPES {
            let change = Change::Correlation(correlation);
            let setting = Setting::new(12, 5, 4, shape).changing(change);
            hits += comparisons(&setting, 15).iter().filter(|found| has_mark(found)).count();
        }
        let found = Share { hits, of: 15 * SHAPES.len() };
        assert!(found.may_be_at_most(0.05), "{correlation}: {found:?}");
    }
}

/// Three in ten failures of the base could not be measured; nothing has changed.
#[test]
fn errors_that_hide_failures_of_the_base_raise_no_alarm() {
    let (mut alarms, mut naive) = (0, 0);
    let repeats = 80;
    let setting = Setting::new(20, 4, 1, Shape::Skilled);
    let mut random = setting.random();
    for _ in 0..repeats {
        let [mut base, candidate] = cases(&setting.pairs(&mut random));
        for case in base.iter_mut().filter(|case| case.outcome == Outcome::Failed) {
            if random.fraction() < 0.3 {
                case.outcome = Outcome::Errored;
            }
        }
        let suite = compare(&base, &candidate, &CompareOptions::default()).suite.expect("tests");
        let is_worse = suite.judged.verdict == ComparisonVerdict::Worse;
        naive += usize::from(is_worse);
        alarms += usize::from(is_worse && suite.is_certain());
    }
    let found = Share { hits: alarms, of: repeats };
    assert!(found.may_be_at_most(0.05), "{found:?}");
    assert!(naive > alarms, "leaving errors out is worse: {naive} {alarms}");
}

/// Each target of a test has the same rates, so targets add little about other tests.
#[test]
fn intervals_cover_the_difference_with_several_targets() {
    for targets in [1, 3, 5] {
        let mut random = Setting::new(20, 5, targets, Shape::Skilled).random();
        let (mut holds, repeats) = (0, 400);
        for _ in 0..repeats {
            let mut pairs = Vec::new();
            for test in 0..20 {
                let rates = Shape::Skilled.rates(2, &mut random);
                let now = 0.5 * (rates[0] + rates[1]);
                for _ in 0..targets {
                    let base = random.passes(5, rates[0]);
                    let pair = Pair::new(base, random.passes(5, now));
                    pairs.push(Pair { cluster: Cluster::Test(test), ..pair });
                }
            }
            let (_, interval) = difference(&pairs, Measure::Rate, 0.95).expect("tests");
            holds += usize::from(interval.holds(0.0));
        }
        let found = Share { hits: holds, of: repeats };
        assert!(found.may_be_at_least(0.93) && found.may_be_at_most(0.97), "{targets}: {found:?}");
    }
}

#[test]
fn intervals_of_single_trials_cover_from_twenty_tests_on() {
    for tests in [20, 50, 100] {
        let setting = Setting::new(tests, 1, 1, Shape::Coin);
        let mut random = setting.random();
        let repeats = 800;
        let holds = |_: &usize| {
            let pairs = setting.pairs(&mut random);
            let (_, interval) = difference(&pairs, Measure::Rate, 0.95).expect("tests");
            interval.holds(0.0)
        };
        let found = Share { hits: (0..repeats).filter(holds).count(), of: repeats };
        assert!(found.may_be_at_least(0.93) && found.may_be_at_most(0.97), "{tests}: {found:?}");
    }
}

/// Scores of 0.9 ± 0.01; in the candidate one test in nine scores 0.
#[test]
fn scores_that_hardly_vary_do_not_pass_the_gate_on_few_tests() {
    for (tests, trials) in [(2, 1), (5, 1), (5, 5), (10, 1), (10, 5)] {
        let mut random = Setting::new(tests, trials, 1, Shape::Even).random();
        for seed in 0..100 {
            let mut score = || 0.9 + 0.01 * (2.0 * random.fraction() - 1.0);
            let mut pairs: Vec<Pair> = (0..tests)
                .map(|_| {
                    let base = (0..trials).map(|_| score()).collect();
                    Pair::new(base, (0..trials).map(|_| score()).collect())
                })
                .collect();
            for pair in &mut pairs {
                if random.fraction() < 1.0 / 9.0 {
                    pair.candidate.fill(0.0);
                }
            }
            let (_, interval) = difference(&pairs, Measure::Score, 0.95).expect("tests");
            assert!(interval.low <= -0.1, "{tests} × {trials}, {seed}: {interval:?}");
        }
    }
}

/// Stored runs that drift raise alarms when they are compared one with another; halves of one cannot.
#[test]
fn trying_the_gate_on_stored_runs_shows_drift() {
    let setting = Setting::new(30, 5, 5, Shape::Skilled).changing(Change::Correlation(0.3));
    let [stored, _] = cases(&setting.pairs(&mut setting.random()));
    let found = selftest(&stored, &CompareOptions::default()).expect("runs");
    let SelfTestMethod::Runs { runs: 5, single: (20, alarms), drift } = found.method else {
        panic!("{found:?}");
    };
    assert!(alarms >= 2 && drift.factor() > 1.5, "{found:?}");
    assert!(found.alarms <= 2, "{found:?}");
}

#[test]
fn the_same_cases_give_the_same_result() {
    let setting = Setting::new(30, 4, 4, Shape::Skilled).losing(Loss::Spread(0.05));
    let once = comparisons(&setting, 2);
    assert_eq!(once, comparisons(&setting, 2));
    let judged = once[0].suite.expect("tests").judged;
    assert!(!judged.is_exact && judged.drift.runs == 4, "{judged:?}");
}
