//! What the verdicts and marks promise, checked on simulated runs of known truth. Small enough for
//! every `cargo test`: each limit allows three standard errors of the simulation. The published
//! numbers, with more comparisons, are those of `cargo xtask statistics --full`.

#[path = "../examples/statistics/simulation.rs"]
mod simulation;

use evalrig_core::compare::{
    Change as TestWord, CompareOptions, Comparison, ComparisonVerdict, Measure, RoundBase,
    RoundPlan, RoundSides, Rounds, Rule, SelfTestMethod, SuiteVerdict, compare, compare_in_rounds,
    judge, selftest,
};
use evalrig_core::model::Outcome;
use evalrig_core::stats::{Pair, difference};
use simulation::{Chance, Change, Loss, SHAPES, Setting, Shape, Share, UNSEEN, cases};

/// A look takes as long as a comparison: runs in rounds are many only with optimisation
/// (`cargo test --release -p evalrig-core --test statistics`).
const ROUND_RUNS: usize = if cfg!(debug_assertions) { 1 } else { 8 };
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

/// Runs of three, two and one trials say less about five or eight trials than about as many. The
/// published numbers are the table `unequal`.
#[test]
fn candidates_with_more_trials_than_the_runs_are_called_worse_in_at_most_one_of_twenty() {
    for (base, candidate) in [(3, 8), (2, 5), (1, 5)] {
        let change = Change::Correlation(0.3);
        let settings = of_every_shape(|shape| Setting::new(12, base, 4, shape).changing(change));
        let (mut hits, repeats) = (0, 25);
        for setting in &settings {
            let mut random = setting.random();
            for _ in 0..repeats {
                let pairs = setting.pairs_with_candidate(candidate, &mut random);
                hits += usize::from(is_worse(verdict(&pairs, &mut random)));
            }
        }
        let found = Share { hits, of: settings.len() * repeats };
        assert!(found.may_be_at_most(0.05), "{base}, {candidate}: {found:?}");
    }
}

#[test]
fn a_drop_is_caught_by_a_candidate_with_more_trials_than_the_runs() {
    let setting = Setting::new(20, 3, 4, Shape::Skilled).losing(Loss::Spread(0.2));
    let mut random = setting.random();
    let caught = |_: &usize| {
        let pairs = setting.pairs_with_candidate(8, &mut random);
        is_worse(verdict(&pairs, &mut random))
    };
    let found = Share { hits: (0..60).filter(caught).count(), of: 60 };
    assert!(found.may_be_at_least(0.95), "{found:?}");
}

/// Four runs that have more, as many and fewer trials than the candidate; nothing changes. The
/// published numbers are the table `unequal-scores`.
#[test]
fn equal_scores_are_called_worse_in_at_most_one_of_twenty_whatever_the_trials() {
    for (base, candidate) in [(5, 1), (10, 2), (4, 4), (2, 5)] {
        let mut random = Setting::new(20, base, 4, Shape::Even).random();
        let (mut down, mut up, repeats) = (0, 0, 150);
        for seed in 0..repeats {
            let mut pair = || {
                let level = 0.3 + 0.6 * random.fraction();
                let mut run = |trials: usize| -> Vec<f64> {
                    (0..trials).map(|_| (level + 0.3 * random.normal()).clamp(0.0, 1.0)).collect()
                };
                Pair::pooled((0..4).map(|_| run(base)).collect(), run(candidate))
            };
            let pairs: Vec<Pair> = (0..20).map(|_| pair()).collect();
            let rule = Rule { measure: Measure::Score, margin: 0.1, seed: seed as u64 };
            let judged = judge(&pairs, &rule).expect("a suite has tests");
            let differs = judged.p <= 0.05;
            down += usize::from(differs && judged.delta < 0.0);
            up += usize::from(differs && judged.delta > 0.0);
        }
        let [down, up] = [down, up].map(|hits| Share { hits, of: repeats });
        assert!(down.may_be_at_most(0.05), "{base}, {candidate}: {down:?}");
        assert!(up.may_be_at_most(0.01), "{base}, {candidate}: {up:?}");
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

/// Shapes on which no constant was chosen. The published numbers are the table `unseen`.
#[test]
fn shapes_that_were_not_chosen_on_keep_what_is_promised() {
    let (mut worse, mut passed, mut named, repeats) = (0, 0, 0, 30);
    for shape in UNSEEN {
        for correlation in CORRELATIONS {
            let change = Change::Correlation(correlation);
            let setting = Setting::new(20, 4, 4, shape).changing(change);
            let mut random = setting.random();
            let verdicts = (0..repeats).map(|_| verdict(&setting.pairs(&mut random), &mut random));
            worse += verdicts.filter(|verdict| is_worse(*verdict)).count();
            let found = comparisons(&setting, repeats / 3);
            named += found.iter().filter(|found| has_mark(found)).count();
        }
        for base_runs in [1, 4] {
            let setting = Setting::new(30, 4, base_runs, shape).losing(Loss::Spread(0.1));
            let found = share(&[setting], repeats, ComparisonVerdict::passes_gate);
            passed += found.hits;
        }
    }
    let settings = UNSEEN.len() * CORRELATIONS.len();
    let found = Share { hits: worse, of: settings * repeats };
    assert!(found.may_be_at_most(0.05), "worse: {found:?}");
    let found = Share { hits: named, of: settings * (repeats / 3) };
    assert!(found.may_be_at_most(0.05), "named: {found:?}");
    let found = Share { hits: passed, of: 2 * UNSEEN.len() * repeats };
    assert!(found.may_be_at_most(0.05), "exit 0: {found:?}");
}

/// Five tests share a fixture that fails in 3 % of the runs. Without groups the marks name them in 15 %
/// of equal runs.
#[test]
fn tests_that_share_a_fixture_are_not_named_with_their_group() {
    for base_runs in [1, 4] {
        let setting =
            Setting::new(20, 5, base_runs, Shape::Skilled).changing(Change::Fixture(0.03));
        let mut random = setting.random();
        let (mut named, mut alone, repeats) = (0, 0, 60);
        for _ in 0..repeats {
            let pairs = setting.grouped_pairs(&mut random);
            let [base, candidate] = cases(&pairs);
            let options = CompareOptions::default();
            named += usize::from(has_mark(&compare(&base, &candidate, &options)));
            let [base, candidate] = [base, candidate].map(|mut cases| {
                cases.iter_mut().for_each(|case| case.group = None);
                cases
            });
            alone += usize::from(has_mark(&compare(&base, &candidate, &options)));
        }
        let found = Share { hits: named, of: repeats };
        assert!(found.may_be_at_most(0.05), "{found:?}");
        assert!(alone > named, "{alone} {named}");
    }
}

/// Scores of 0.9, and of 0.9 ± 0.01; in the candidate one test in nine scores 0.
#[test]
fn scores_that_hardly_vary_do_not_pass_the_gate_on_few_tests() {
    let sizes = [(2, 1), (5, 1), (5, 5), (10, 1), (10, 5)];
    for (&(tests, trials), spread) in sizes.iter().flat_map(|size| [(size, 0.0), (size, 0.01)]) {
        let mut random = Setting::new(tests, trials, 1, Shape::Even).random();
        for seed in 0..100 {
            let mut score = || 0.9 + spread * (2.0 * random.fraction() - 1.0);
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

/// The published numbers are the table `scores`, with five trials; fewer than 50 tests often do not
/// meet a break at all.
#[test]
fn intervals_of_scores_cover_where_a_few_of_fifty_tests_break() {
    let mut random = Setting::new(50, 1, 1, Shape::Even).random();
    let (mut holds, repeats) = (0, 800);
    for _ in 0..repeats {
        let pairs: Vec<Pair> = (0..50)
            .map(|_| {
                let mut score = || 0.9 + 0.01 * (2.0 * random.fraction() - 1.0);
                let (base, now) = (score(), score());
                let is_broken = random.fraction() < 1.0 / 9.0;
                Pair::new(vec![base], vec![if is_broken { 0.0 } else { now }])
            })
            .collect();
        let (_, interval) = difference(&pairs, Measure::Score, 0.95).expect("tests");
        holds += usize::from(interval.holds(-0.1));
    }
    let found = Share { hits: holds, of: repeats };
    // Three standard errors below 93 % would let 91 % pass.
    assert!(found.value() >= 0.94 && found.may_be_at_most(0.97), "{found:?}");
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

/// A run in rounds and the verdict of the same trials without rounds.
struct RoundRun {
    rounds: Rounds,
    /// What is reported after the last look.
    reported: Comparison,
    whole: ComparisonVerdict,
}

impl RoundRun {
    fn of(setting: &Setting, rounds: usize, random: &mut Chance) -> Self {
        let pairs = setting.pairs_with_candidate(rounds, random);
        let [base, candidate] = cases(&pairs);
        let plan = RoundPlan {
            rounds: rounds as u32,
            margin: 0.1,
            measure: Measure::Rate,
            base: RoundBase::Stored { trials: (setting.trials * setting.base_runs) as f64 },
            seed: random.0.below(u64::MAX),
            stops_futile: false,
        };
        let sides = RoundSides { base: &base, candidate: &candidate };
        let mut rounds = Rounds::new(plan);
        rounds.look_up_to(plan.rounds, sides);
        let whole = verdict(&pairs, random);
        Self { reported: compare_in_rounds(sides, rounds.clone()), rounds, whole }
    }

    fn verdict(&self) -> ComparisonVerdict {
        self.rounds.looks.last().expect("a look").verdict()
    }
}

/// Of equal runs, those that are called worse and those in which a test is named. The published
/// numbers are the table `rounds-false-alarms`.
#[test]
fn looking_after_each_round_raises_no_more_false_alarms() {
    let settings = [(1, 3, 0.0), (4, 3, 0.3), (4, 2, 0.3)];
    let (repeats, mut all) = (5 * ROUND_RUNS, [0, 0]);
    for (base_runs, trials, correlation) in settings {
        let (mut worse, mut named) = (0, 0);
        for shape in SHAPES {
            let change = Change::Correlation(correlation);
            let setting = Setting::new(10, trials, base_runs, shape).changing(change);
            let mut random = setting.random();
            for _ in 0..repeats {
                let run = RoundRun::of(&setting, 3, &mut random);
                worse += usize::from(is_worse(run.verdict()));
                named += usize::from(has_mark(&run.reported));
            }
        }
        for (sum, hits) in all.iter_mut().zip([worse, named]) {
            let found = Share { hits, of: repeats * SHAPES.len() };
            assert!(found.may_be_at_most(0.05), "{base_runs}, {correlation}: {worse}, {named}");
            *sum += hits;
        }
    }
    for hits in all {
        let found = Share { hits, of: settings.len() * repeats * SHAPES.len() };
        assert!(found.may_be_at_most(0.05), "{found:?}");
    }
}

/// 30 tests × 4 trials against four baseline runs. The published numbers are the table
/// `rounds-verdicts`.
#[test]
fn a_large_drop_is_caught_within_two_rounds() {
    let setting = Setting::new(30, 4, 4, Shape::Skilled).losing(Loss::Spread(0.2));
    let mut random = setting.random();
    let (mut hits, mut whole, mut looks, repeats) = (0, 0, 0, 40);
    for _ in 0..repeats {
        let run = RoundRun::of(&setting, 4, &mut random);
        hits += usize::from(is_worse(run.verdict()));
        whole += usize::from(is_worse(run.whole));
        looks += run.rounds.looks.len();
    }
    // Nearly as often as with all trials of the same runs: one of 40 may be chance.
    assert!(hits + repeats / 40 >= whole, "{hits} of {whole}");
    assert!(looks <= 2 * repeats, "{looks} looks in {repeats} runs");
}

/// Baseline runs that shift as a whole excuse drops, but not such as these. An interval that is wholly below
/// the margin is never inconclusive. The published numbers are the table `drift-power`.
#[test]
fn large_drops_are_caught_though_the_runs_shift() {
    let is_open = |judged: &SuiteVerdict| {
        judged.verdict == ComparisonVerdict::Inconclusive && judged.interval.high < -0.1
    };
    for (shift, loss, least) in [
        (0.038, Loss::Spread(0.2), 0.9),
        (0.038, Loss::Broken(1.0), 1.0),
        (0.1, Loss::Broken(1.0), 0.98),
    ] {
        let setting = Setting::new(30, 4, 4, Shape::Skilled).losing(loss);
        let setting = setting.changing(Change::Shift(shift));
        let mut random = setting.random();
        let (mut whole, mut early, repeats) = (0, 0, 12 * ROUND_RUNS);
        for at in 0..repeats {
            let pairs = setting.pairs(&mut random);
            let rule = Rule { measure: Measure::Rate, margin: 0.1, seed: at as u64 };
            let judged = judge(&pairs, &rule).expect("a suite has tests");
            assert!(!is_open(&judged), "{shift}, {loss:?}: {judged:?}");
            whole += usize::from(is_worse(judged.verdict));
            let run = RoundRun::of(&setting, 4, &mut random);
            for look in run.rounds.looks.iter().filter_map(|look| look.suite) {
                assert!(!is_open(&look.judged), "{shift}, {loss:?}: {look:?}");
            }
            early += usize::from(is_worse(run.verdict()));
        }
        for hits in [whole, early] {
            let found = Share { hits, of: repeats };
            assert!(found.may_be_at_least(least), "{shift}, {loss:?}: {found:?}");
        }
    }
}

/// The same runs with and without rounds, so that their difference is nearly free of chance.
#[test]
fn rounds_catch_nearly_as_many_drops_as_all_trials_together() {
    for loss in [Loss::Spread(0.1), Loss::Broken(0.1)] {
        let setting = Setting::new(20, 4, 4, Shape::Skilled).losing(loss);
        let mut random = setting.random();
        let (mut early, mut whole, repeats) = (0, 0, 20 * ROUND_RUNS);
        for _ in 0..repeats {
            let run = RoundRun::of(&setting, 4, &mut random);
            early += usize::from(is_worse(run.verdict()));
            whole += usize::from(is_worse(run.whole));
        }
        let limit = whole - repeats / 10;
        assert!(2 * whole >= repeats && early >= limit, "{loss:?}: {early} of {whole}");
    }
}

/// The published numbers are the table `rounds-margin`.
#[test]
fn a_drop_as_large_as_the_margin_passes_rounds_in_at_most_one_of_twenty() {
    let (mut hits, repeats) = (0, 8 * ROUND_RUNS);
    for base_runs in [1, 4] {
        for shape in [Shape::Even, Shape::Skilled, Shape::Extremes, Shape::Coin] {
            let setting = Setting::new(12, 4, base_runs, shape).losing(Loss::Spread(0.1));
            let mut random = setting.random();
            let runs = (0..repeats).map(|_| RoundRun::of(&setting, 4, &mut random));
            hits += runs.filter(|run| run.verdict().passes_gate()).count();
        }
    }
    let found = Share { hits, of: 8 * repeats };
    assert!(found.may_be_at_most(0.05), "{found:?}");
}

#[test]
fn the_same_cases_have_the_same_looks() {
    let setting = Setting::new(10, 3, 4, Shape::Skilled);
    let once = RoundRun::of(&setting, 3, &mut setting.random()).rounds;
    assert_eq!(once, RoundRun::of(&setting, 3, &mut setting.random()).rounds);
}

#[test]
fn the_same_cases_give_the_same_result() {
    let setting = Setting::new(30, 4, 4, Shape::Skilled).losing(Loss::Spread(0.05));
    let once = comparisons(&setting, 2);
    assert_eq!(once, comparisons(&setting, 2));
    let judged = once[0].suite.expect("tests").judged;
    assert!(!judged.is_exact && judged.drift.runs == 4, "{judged:?}");
}
