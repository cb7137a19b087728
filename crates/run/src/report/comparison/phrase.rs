//! What terminals, Markdown and annotations say alike.

use evalrig_core::compare::{
    Change, Comparison, ComparisonVerdict, Measure, Side, SuiteChange, TestChange, TrialsNeeded,
};
use evalrig_core::model::MOST_TRIALS;
use evalrig_core::stats::{Interval, SELF_EVIDENT, share_percent};

use crate::text::{self, numbers};

/// Baseline runs that differ by less are not worth a line.
const DRIFTING: f64 = 1.5;
/// With a larger p no drop is called worse (spec 20.2).
const LEVEL: f64 = 0.05;
/// Of an arm's name.
const ARM: usize = 60;

/// `+3` or `-12.5`: points of a hundred. A difference that is not 0 never looks like it.
pub fn points(share: f64) -> String {
    let value = share * 100.0;
    let text = match value.abs() {
        size if size < 1e-9 => return "0".to_owned(),
        size if size < 0.05 => format!("{value:+.3}"),
        _ => format!("{value:+.1}"),
    };
    text.strip_suffix(".0").unwrap_or(&text).to_owned()
}

/// `4 of 5`, or `-` where the test was not run.
pub fn passes(side: Option<Side>) -> String {
    match side {
        Some(side) if side.trials > 0 => format!("{} of {}", side.passes, side.trials),
        _ => "-".to_owned(),
    }
}

/// `5 of 5 → 2 of 5`.
pub fn sides(test: &TestChange) -> String {
    let certain = if test.is_certain { "  beyond chance" } else { "" };
    format!("{} → {}{certain}", passes(test.base), passes(test.candidate))
}

/// `2 regressed, 1 fixed, 17 unchanged`.
pub fn counts(comparison: &Comparison) -> String {
    let parts: Vec<String> = Change::ALL
        .iter()
        .map(|change| (comparison.count(*change), change.word()))
        .filter(|(count, _)| *count > 0)
        .map(|(count, word)| format!("{count} {word}"))
        .collect();
    if parts.is_empty() { "no tests".to_owned() } else { parts.join(", ") }
}

/// `pass rate 94 % (95 % CI 81–98 %) → 81 % (95 % CI 66–91 %): -13 points (95 % CI -25 to -1),
/// p = 0.021`.
pub fn difference(comparison: &Comparison, suite: &SuiteChange) -> String {
    let judged = &suite.judged;
    let what = match comparison.measure {
        Measure::Rate => "pass rate",
        Measure::Score => "mean score",
    };
    let alone = |value: f64, interval: Interval| {
        let shown = level(comparison.measure, value);
        if suite.pairs as u64 >= SELF_EVIDENT {
            shown
        } else {
            format!("{shown} (95 % CI {})", range(comparison.measure, interval))
        }
    };
    format!(
        "{what} {} → {}: {} points (95 % CI {} to {}), {}",
        alone(judged.levels.base, judged.level_intervals.base),
        alone(judged.levels.candidate, judged.level_intervals.candidate),
        points(judged.delta),
        points(judged.interval.low),
        points(judged.interval.high),
        chance_of(suite),
    )
}

/// Rates are percentages, scores have decimals: as everywhere.
fn level(measure: Measure, value: f64) -> String {
    match measure {
        Measure::Rate => format!("{} %", share_percent(value)),
        Measure::Score => numbers::average(value),
    }
}

fn range(measure: Measure, interval: Interval) -> String {
    match measure {
        Measure::Rate => {
            format!("{}–{} %", share_percent(interval.low), share_percent(interval.high))
        }
        Measure::Score => format!("{:.2}–{:.2}", interval.low, interval.high),
    }
}

/// `p = 0.410, so it may be chance`.
fn chance_of(suite: &SuiteChange) -> String {
    let p = chance(suite.judged.p);
    if suite.judged.p > LEVEL { format!("{p}, so it may be chance") } else { p }
}

/// `p = 0.021`.
pub fn chance(p: f64) -> String {
    if p < 0.001 { "p < 0.001".to_owned() } else { format!("p = {p:.3}") }
}

/// `baseline arm `without` is left out`. `None` when every arm takes part.
pub fn left_out(comparison: &Comparison) -> Option<String> {
    let arms: Vec<String> =
        comparison.left_out_arms.iter().map(|arm| format!("`{}`", text::line(arm, ARM))).collect();
    match &arms[..] {
        [] => None,
        [one] => Some(format!("baseline arm {one} is left out")),
        several => Some(format!("baseline arms {} are left out", several.join(", "))),
    }
}

/// `20 tests`, and with several targets or arms how many that makes.
fn tests(suite: &SuiteChange) -> String {
    let tests = numbers::counted(suite.tests as u64, "test", "tests");
    match suite.pairs {
        pairs if pairs == suite.tests => tests,
        pairs => format!("{tests} ({pairs} counting each target and arm)"),
    }
}

/// `20 tests, 5 trials each in both runs`, or against how many trials of how many runs.
pub fn size(suite: &SuiteChange) -> String {
    let judged = &suite.judged;
    let count = |trials: f64| (trials * 10.0).round() / 10.0;
    let (base, candidate) = (count(judged.base_trials), count(judged.candidate_trials));
    let tests = tests(suite);
    let trials = if candidate == 1.0 { "trial" } else { "trials" };
    let size = format!("{tests}, {candidate} {trials} each");
    match judged.drift.runs {
        0 | 1 if base == candidate => format!("{size} in both runs"),
        0 | 1 => format!("{size}, against {base} in the baseline"),
        runs => format!("{size}, against {base} in {runs} baseline runs"),
    }
}

/// `baseline runs differ 1.9× more than chance`, and what to do about it. `None` when they do not.
pub fn drift(suite: &SuiteChange) -> Option<String> {
    let factor = suite.judged.drift.factor();
    (factor > DRIFTING).then(|| {
        format!(
            "baseline runs differ {factor:.1}× more than chance: something else changes between runs; \
             find it, or use more baseline runs"
        )
    })
}

/// What trials that could not be measured could change. `None` when all were measured.
pub fn unmeasured(suite: &SuiteChange) -> Option<String> {
    let bounds = suite.errors?;
    let count = numbers::counted(bounds.base + bounds.candidate, "trial", "trials");
    let where_found = match (bounds.base, bounds.candidate) {
        (_, 0) => " in the baseline".to_owned(),
        (0, _) => String::new(),
        (base, _) => format!(" ({base} in the baseline)"),
    };
    Some(format!(
        "{count} could not be measured{where_found}: {} points if each counts against the candidate, \
         {} if each counts for it",
        points(bounds.worst.delta),
        points(bounds.best.delta),
    ))
}

/// A warning where tests are called regressed or fixed after one trial on each side.
pub fn single_trials(comparison: &Comparison) -> Option<&'static str> {
    let is_single = |side: Option<Side>| side.is_some_and(|side| side.trials == 1);
    let is_told = |test: &TestChange| {
        matches!(test.change, Change::Regressed | Change::Fixed)
            && !test.is_certain
            && is_single(test.base)
            && is_single(test.candidate)
    };
    comparison.tests.iter().any(is_told).then_some(
        "a single trial cannot show whether a test regressed or was unlucky; \
         run with `--trials 3` or more",
    )
}

/// The verdict of a run against its baseline.
pub fn verdict(comparison: &Comparison) -> &'static str {
    match comparison.suite.map(|suite| suite.judged.verdict) {
        Some(ComparisonVerdict::Better) => "better than the baseline",
        Some(ComparisonVerdict::Worse) => "worse than the baseline",
        Some(ComparisonVerdict::Equivalent) => "equivalent to the baseline",
        Some(ComparisonVerdict::NotWorse) => "not worse than the baseline",
        Some(ComparisonVerdict::Inconclusive) => "inconclusive against the baseline",
        None => "no test was measured in both runs",
    }
}

/// What the verdict means, without its word.
pub fn reason(comparison: &Comparison, suite: &SuiteChange) -> String {
    let judged = &suite.judged;
    let margin = (comparison.margin * 1000.0).round() / 10.0;
    let basis = basis(suite).map_or(String::new(), |basis| format!("; {basis}"));
    match judged.verdict {
        ComparisonVerdict::Worse => {
            format!("a drop this large happens by chance in {}{basis}", how_often(judged.p))
        }
        ComparisonVerdict::Better => {
            format!("a gain this large happens by chance in {}{basis}", how_often(judged.p / 5.0))
        }
        ComparisonVerdict::Equivalent => {
            format!("if there is a difference, it is smaller than {margin} points")
        }
        ComparisonVerdict::NotWorse => {
            format!("if there is a drop, it is smaller than {margin} points")
        }
        ComparisonVerdict::Inconclusive => open(suite, margin),
    }
}

/// What `worse` and `better` rest on, where the interval seems to say otherwise. The permutation test is
/// about these tests, the interval about tests like these.
pub fn basis(suite: &SuiteChange) -> Option<&'static str> {
    suite.judged.interval.holds(0.0).then_some(
        "that is a permutation test about these tests, and it decides; the interval includes 0 because \
         it also allows for other tests like these",
    )
}

fn open(suite: &SuiteChange, margin: f64) -> String {
    let mut text = format!("not enough data to rule out a drop of {margin} points");
    if let Some(needed) = suite.judged.trials_needed {
        text += &format!("; {}", settling(needed));
    }
    if let Some(cost) = settling_cost(suite) {
        text += &format!(", for about ${cost:.2}");
    }
    text
}

/// What the trials cost that would settle it, if they can be run.
pub fn settling_cost(suite: &SuiteChange) -> Option<f64> {
    let trials = suite.judged.trials_needed.and_then(TrialsNeeded::trials);
    let can_run = trials.is_none_or(|trials| trials <= MOST_TRIALS);
    suite.cost_needed.filter(|cost| can_run && *cost > 0.0)
}

/// `about 9 trials of each test in both runs would probably settle it`.
pub fn settling(needed: TrialsNeeded) -> String {
    match needed {
        TrialsNeeded::EachRun(trials) | TrialsNeeded::Candidate(trials) if trials > MOST_TRIALS => {
            format!(
                "{MOST_TRIALS} trials of each test would not be enough, so more tests are needed"
            )
        }
        TrialsNeeded::EachRun(trials) => {
            format!("about {trials} trials of each test in both runs would probably settle it")
        }
        TrialsNeeded::Candidate(trials) => {
            format!("about {trials} trials of each test in this run would probably settle it")
        }
        TrialsNeeded::LargerBase => "more baseline runs are needed to settle it".to_owned(),
        TrialsNeeded::MoreTests => {
            "more trials would not settle it, because the tests changed in different ways; use more tests"
                .to_owned()
        }
    }
}

/// `4.5 % of comparisons`: how often something happens by chance.
pub fn how_often(chance: f64) -> String {
    match chance * 100.0 {
        value if value < 0.1 => "fewer than 1 in 1,000 comparisons".to_owned(),
        value => format!("{value:.1} % of comparisons"),
    }
}

/// With a capital letter and a full stop.
pub fn sentence(text: &str) -> String {
    let mut chars = text.chars();
    match chars.next() {
        Some(first) => format!("{}{}.", first.to_uppercase(), chars.as_str()),
        None => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use evalrig_core::compare::{CompareOptions, ComparedCase, compare};
    use evalrig_core::model::Outcome;

    use super::super::testing;
    use super::*;

    #[test]
    fn points_have_a_sign_and_are_never_hidden() {
        assert_eq!(
            [0.0, 0.1, -0.125, 0.00004, -0.16].map(points),
            ["0", "+10", "-12.5", "+0.004", "-16"]
        );
    }

    #[test]
    fn rates_have_intervals_below_two_hundred_tests() {
        let run = |count: usize| -> Vec<_> {
            let test = |at| testing::case(&format!("t{at}"), 1, Outcome::Passed);
            (0..count).map(test).collect()
        };
        let text = |count: usize| {
            let found = compare(&run(count), &run(count), &CompareOptions::default());
            difference(&found, &found.suite.unwrap())
        };
        assert!(text(1).starts_with(
            "pass rate 100 % (95 % CI 21–100 %) → 100 % (95 % CI 21–100 %): 0 points"
        ));
        assert!(text(199).contains("pass rate 100 % (95 % CI 98–100 %)"));
        assert!(text(200).starts_with("pass rate 100 % → 100 %: 0 points (95 % CI "));
    }

    #[test]
    fn the_size_says_what_the_baseline_has() {
        let size = |base: &[ComparedCase], now: &[ComparedCase]| {
            super::size(&compare(base, now, &CompareOptions::default()).suite.unwrap())
        };
        let run = testing::trials("a", 5);
        assert_eq!(size(&run, &run), "1 test, 5 trials each in both runs");
        assert_eq!(size(&run, &run[..1]), "1 test, 1 trial each, against 5 in the baseline");
        let mut second = run.clone();
        second.iter_mut().for_each(|case| case.run = 1);
        let both = [run.clone(), second].concat();
        assert_eq!(size(&both, &run), "1 test, 5 trials each, against 10 in 2 baseline runs");
    }

    #[test]
    fn trials_that_could_not_be_measured_are_counted_both_ways() {
        let base: Vec<_> = (0..10).flat_map(|at| testing::trials(&format!("t{at}"), 5)).collect();
        let mut now = base.clone();
        now[0].outcome = Outcome::Errored;
        now[7].outcome = Outcome::Errored;
        let found = compare(&base, &now, &CompareOptions::default());
        assert_eq!(
            unmeasured(&found.suite.unwrap()).unwrap(),
            "2 trials could not be measured: -4 points if each counts against the candidate, 0 if \
             each counts for it"
        );
        let found = compare(&now, &base, &CompareOptions::default());
        let said = unmeasured(&found.suite.unwrap()).unwrap();
        assert!(said.starts_with("2 trials could not be measured in the baseline: 0 points"));
        let found = compare(&base, &base, &CompareOptions::default());
        assert_eq!(unmeasured(&found.suite.unwrap()), None);
    }

    #[test]
    fn more_trials_than_can_be_run_are_not_advised() {
        for needed in [TrialsNeeded::EachRun(100), TrialsNeeded::Candidate(100)] {
            assert!(settling(needed).starts_with("about 100 trials of each test in "));
        }
        for needed in [TrialsNeeded::EachRun(101), TrialsNeeded::Candidate(118)] {
            let said = "100 trials of each test would not be enough, so more tests are needed";
            assert_eq!(settling(needed), said);
        }
    }

    /// Half of a few tests broke: certain about these tests, not about others.
    #[test]
    fn a_verdict_that_the_interval_does_not_show_says_what_it_rests_on() {
        let run = |broken: usize| -> Vec<_> {
            let passes = |at| if at < broken { 0 } else { 5 };
            (0..4).flat_map(|at| testing::trials(&format!("t{at}"), passes(at))).collect()
        };
        let found = compare(&run(0), &run(1), &CompareOptions::default());
        let suite = found.suite.unwrap();
        assert_eq!(suite.judged.verdict, ComparisonVerdict::Worse);
        assert!(suite.judged.interval.holds(0.0));
        let said = reason(&found, &suite);
        assert!(
            said.contains("about these tests, and it decides; the interval includes 0"),
            "{said}"
        );
        let found = compare(&run(0), &run(4), &CompareOptions::default());
        let said = reason(&found, &found.suite.unwrap());
        assert!(!said.contains("the interval"), "{said}");
    }

    #[test]
    fn a_difference_that_may_be_chance_is_called_so() {
        let run = |passes: u32| testing::trials("a", passes);
        let text = |base: u32, now: u32| {
            let found = compare(&run(base), &run(now), &CompareOptions::default());
            difference(&found, &found.suite.unwrap())
        };
        assert!(text(5, 5).ends_with("p = 1.000, so it may be chance"), "{}", text(5, 5));
        assert!(!text(5, 0).contains("chance"), "{}", text(5, 0));
    }

    #[test]
    fn single_trials_are_not_trusted() {
        let [passed, failed] =
            [Outcome::Passed, Outcome::Failed].map(|outcome| vec![testing::case("a", 1, outcome)]);
        let found = |base: &[ComparedCase], now: &[ComparedCase]| {
            single_trials(&compare(base, now, &CompareOptions::default())).is_some()
        };
        assert!(found(&passed, &failed));
        assert!(!found(&passed, &passed));
        assert!(!found(&testing::trials("a", 5), &testing::trials("a", 0)));
    }

    /// 155 of 200 is 77.5 %, and the mean over 200 tests is a rounding error less.
    #[test]
    fn a_rate_is_rounded_the_same_way_everywhere() {
        let run: Vec<_> = (0..200)
            .map(|at| {
                let outcome = if at < 155 { Outcome::Passed } else { Outcome::Failed };
                testing::case(&format!("t{at}"), 1, outcome)
            })
            .collect();
        let found = compare(&run, &run, &CompareOptions::default());
        let text = difference(&found, &found.suite.unwrap());
        assert!(text.starts_with("pass rate 78 % → 78 %"), "{text}");
        assert_eq!(numbers::share(155, 200, None), "155 of 200 passed (78 %)");
        for below in [155.0 / 200.0, 0.774_999_999_999] {
            assert_eq!(share_percent(below), 78);
            assert_eq!(level(Measure::Rate, below), "78 %");
        }
    }
}
