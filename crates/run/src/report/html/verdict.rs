//! A comparison in words: what the verdict means, and the numbers it rests on.

use evalrig_core::compare::{Comparison, ComparisonVerdict, Measure, SuiteChange};
use evalrig_core::stats::{Interval, SELF_EVIDENT, between, mean_between, share_percent};
use serde_json::{Value, json};

use super::super::comparison as words;
use crate::text::numbers;

/// The headline of the comparison.
pub fn title(comparison: &Comparison) -> &'static str {
    match comparison.suite.map(|suite| suite.judged.verdict) {
        Some(ComparisonVerdict::Better) => "Better",
        Some(ComparisonVerdict::Worse) => "Worse",
        Some(ComparisonVerdict::Equivalent) => "Equivalent",
        Some(ComparisonVerdict::NotWorse) => "Not worse",
        Some(ComparisonVerdict::Inconclusive) => "Inconclusive",
        None => "No verdict",
    }
}

/// What the verdict means, and against which margin.
pub fn sentences(comparison: &Comparison) -> Vec<String> {
    let Some(suite) = &comparison.suite else {
        return vec!["No test was measured in both runs.".to_owned()];
    };
    let margin = plain(comparison.margin);
    let mut said = match suite.judged.verdict {
        ComparisonVerdict::Worse | ComparisonVerdict::Better => differs(comparison, suite),
        ComparisonVerdict::Equivalent => vec![format!(
            "If there is a difference, it is smaller than the margin of {margin} points."
        )],
        ComparisonVerdict::NotWorse => {
            vec![format!("If there is a drop, it is smaller than the margin of {margin} points.")]
        }
        ComparisonVerdict::Inconclusive => open(suite, &margin),
    };
    let notes = [words::left_out(comparison), words::drift(suite), words::unmeasured(suite)];
    let notes = notes.into_iter().flatten().map(|note| words::sentence(&note).replace('-', "−"));
    said.extend(notes);
    if !suite.is_certain() {
        said.push("The trials that could not be measured may change the verdict.".to_owned());
    }
    said
}

fn differs(comparison: &Comparison, suite: &SuiteChange) -> Vec<String> {
    let (judged, margin) = (&suite.judged, comparison.margin);
    let is_drop = judged.verdict == ComparisonVerdict::Worse;
    // A gain is looked at five times as strictly, and `p` has that in it.
    let (what, chance) = if is_drop { ("drop", judged.p) } else { ("gain", judged.p / 5.0) };
    let is_beyond =
        if is_drop { judged.interval.high < -margin } else { judged.interval.low > margin };
    let margin = plain(margin);
    let mut said =
        vec![format!("A {what} this large happens by chance in {}.", words::how_often(chance))];
    said.push(if is_beyond {
        format!("The {what} is larger than the margin of {margin} points.")
    } else {
        format!("The {what} may be smaller than the margin of {margin} points.")
    });
    said.extend(words::basis(suite).map(words::sentence));
    said
}

fn open(suite: &SuiteChange, margin: &str) -> Vec<String> {
    let mut said = vec![format!(
        "Not enough data to rule out a drop as large as the margin of {margin} points."
    )];
    if let Some(needed) = suite.judged.trials_needed {
        let cost = words::settling_cost(suite);
        let cost = cost.map(|cost| format!(", for about {}", numbers::money(cost)));
        let text = words::settling(needed) + &cost.unwrap_or_default();
        said.push(words::sentence(&text));
    }
    said
}

/// Names and values, in the order in which they are read.
pub fn facts(comparison: &Comparison) -> Vec<[String; 2]> {
    let Some(suite) = &comparison.suite else {
        return Vec::new();
    };
    let judged = &suite.judged;
    let [base, candidate] = [
        (judged.levels.base, judged.level_intervals.base),
        (judged.levels.candidate, judged.level_intervals.candidate),
    ]
    .map(|(level, interval)| {
        let level = share(comparison.measure, level);
        if suite.pairs as u64 >= SELF_EVIDENT {
            level
        } else {
            format!("{level} ({})", spread(comparison.measure, interval))
        }
    });
    let interval = [judged.interval.low, judged.interval.high].map(points);
    let mut facts = vec![
        [
            // Tests of one run alone are not in it, so it may differ from the rate of the whole run.
            format!("{} of compared tests", measured(comparison)),
            format!("{base} → {candidate}"),
        ],
        ["Difference".to_owned(), format!("{} points", points(judged.delta))],
        ["95 % CI".to_owned(), format!("{} to {}", interval[0], interval[1])],
        ["p".to_owned(), chance(judged.p)],
        ["Margin".to_owned(), format!("{} points", plain(comparison.margin))],
        ["Compared".to_owned(), words::size(suite)],
    ];
    // Exchanges that were drawn are drawn again with it.
    if !judged.is_exact {
        facts.push(["Seed".to_owned(), comparison.seed.to_string()]);
    }
    facts
}

/// What the plot draws, in shares, and what it says; null without a verdict.
pub fn drawn(comparison: &Comparison) -> Value {
    let Some(suite) = &comparison.suite else {
        return Value::Null;
    };
    let judged = &suite.judged;
    let rounded = |share: f64| (share * 1e4).round() / 1e4;
    let title = format!("Difference in {}", measured(comparison).to_lowercase());
    let [delta, low, high] = [judged.delta, judged.interval.low, judged.interval.high].map(points);
    let margin = plain(comparison.margin);
    json!({
        "delta": rounded(judged.delta),
        "low": rounded(judged.interval.low),
        "high": rounded(judged.interval.high),
        "margin": rounded(comparison.margin),
        "title": format!("{title}, in points"),
        "note": format!("shaded: the margin of ±{margin} points"),
        "words": format!("{title}: {delta} points (95 % CI {low} to {high}), margin {margin}"),
        "label": delta,
    })
}

fn measured(comparison: &Comparison) -> &'static str {
    match comparison.measure {
        Measure::Rate => "Pass rate",
        Measure::Score => "Mean score",
    }
}

fn share(measure: Measure, level: f64) -> String {
    match measure {
        Measure::Score => numbers::average(level),
        Measure::Rate => format!("{} %", share_percent(level)),
    }
}

fn spread(measure: Measure, interval: Interval) -> String {
    match measure {
        Measure::Rate => between(interval),
        Measure::Score => mean_between(interval),
    }
}

/// Beside its name.
fn chance(p: f64) -> String {
    let text = words::chance(p);
    let text = text.strip_prefix("p ").unwrap_or(&text);
    text.strip_prefix("= ").unwrap_or(text).to_owned()
}

/// With the sign of minus, which a page can show.
fn points(share: f64) -> String {
    words::points(share).replace('-', "−")
}

/// Without a sign.
fn plain(share: f64) -> String {
    points(share).trim_start_matches('+').to_owned()
}

#[cfg(test)]
mod tests {
    use evalrig_core::compare::{CompareOptions, ComparedCase, compare};
    use evalrig_core::model::Outcome;

    use super::*;

    fn suite(tests: usize, trials: u32, passes: u32) -> Vec<ComparedCase> {
        let case = |test: usize, trial: u32| {
            let is_passed = trial <= passes;
            ComparedCase {
                suite: "s".to_owned(),
                test: format!("t{test}"),
                target: "t".to_owned(),
                arm: None,
                group: None,
                run: 0,
                trial,
                outcome: if is_passed { Outcome::Passed } else { Outcome::Failed },
                score: Some(f64::from(u8::from(is_passed))),
                hash: "h".to_owned(),
                cost: Some(0.01),
                tokens: None,
                duration_ms: None,
            }
        };
        let tests = 0..tests;
        tests.flat_map(|test| (1..=trials).map(move |trial| case(test, trial))).collect()
    }

    fn compared(base: &[ComparedCase], candidate: &[ComparedCase], measure: Measure) -> Comparison {
        let options = CompareOptions { measure, ..CompareOptions::default() };
        compare(base, candidate, &options)
    }

    fn told(base: &[ComparedCase], candidate: &[ComparedCase]) -> (&'static str, String) {
        let found = compared(base, candidate, Measure::Rate);
        (title(&found), sentences(&found).join(" "))
    }

    #[test]
    fn every_verdict_names_the_margin() {
        let [half, full, one] = [(5, 2), (5, 5), (1, 1)].map(|(n, passes)| suite(20, n, passes));
        let few = suite(20, 5, 4);
        assert_eq!(
            told(&full, &half),
            (
                "Worse",
                "A drop this large happens by chance in fewer than 1 in 1,000 comparisons. The drop is \
                 larger than the margin of 10 points."
                    .to_owned()
            )
        );
        assert_eq!(
            told(&few, &full),
            (
                "Better",
                "A gain this large happens by chance in fewer than 1 in 1,000 comparisons. The gain is \
                 larger than the margin of 10 points."
                    .to_owned()
            )
        );
        assert_eq!(
            told(&full, &full),
            (
                "Equivalent",
                "If there is a difference, it is smaller than the margin of 10 points.".to_owned()
            )
        );
        let (title, text) = told(&one, &one);
        assert_eq!(title, "Inconclusive");
        let (before, after) = text.split_once("points. About ").unwrap();
        assert!(before.ends_with("a drop as large as the margin of 10 "), "{before}");
        assert!(
            after.contains(
                " trials of each test in both runs would probably settle it, for about $"
            ),
            "{after}"
        );
        let mut risen = suite(20, 5, 4);
        for case in risen.iter_mut().filter(|case| case.trial == 5 && case.test.len() == 2) {
            case.outcome = Outcome::Passed;
        }
        assert_eq!(
            told(&few, &risen),
            (
                "Not worse",
                "If there is a drop, it is smaller than the margin of 10 points.".to_owned()
            )
        );
    }

    #[test]
    fn a_drop_may_or_may_not_be_larger_than_the_margin() {
        let mut slight = suite(20, 5, 5);
        for case in slight.iter_mut().filter(|case| case.trial == 1) {
            case.outcome = match case.test.len() {
                2 => Outcome::Failed,
                _ => Outcome::Passed,
            };
        }
        let (title, text) = told(&suite(20, 5, 5), &slight);
        assert_eq!(title, "Worse");
        assert!(text.contains("The drop may be smaller than the margin of 10 points."));
    }

    #[test]
    fn what_could_not_be_measured_is_told() {
        let mut torn = suite(20, 5, 5);
        torn[0].outcome = Outcome::Errored;
        let (_, text) = told(&suite(20, 5, 5), &torn);
        assert!(text.contains(" 1 trial could not be measured: −1 points if each "), "{text}");
        assert!(!text.contains("may change the verdict"), "{text}");
        torn.iter_mut().step_by(6).for_each(|case| case.outcome = Outcome::Errored);
        let (_, text) = told(&suite(20, 5, 5), &torn);
        assert!(text.ends_with("could not be measured may change the verdict."), "{text}");
        assert_eq!(told(&[], &torn).0, "No verdict");
        let nothing = compared(&[], &torn, Measure::Rate);
        assert_eq!((facts(&nothing).len(), drawn(&nothing)), (0, Value::Null));
    }

    #[test]
    fn the_numbers_behind_it() {
        let found = compared(&suite(20, 5, 5), &suite(20, 5, 4), Measure::Rate);
        let facts = facts(&found).map_lines();
        assert_eq!(
            facts[..2],
            [
                "Pass rate of compared tests: 100 % (95 % CI 84–100 %) → 80 % (95 % CI 71–87 %)",
                "Difference: −20 points"
            ]
        );
        assert_eq!(
            facts[3..6],
            ["p: < 0.001", "Margin: 10 points", "Compared: 20 tests, 5 trials each in both runs"]
        );
        assert_eq!(facts[6..], [format!("Seed: {}", found.seed)]);
        let scores = compared(&suite(20, 1, 1), &suite(20, 1, 0), Measure::Score);
        assert_eq!(
            super::facts(&scores).map_lines()[0],
            "Mean score of compared tests: 1.00 (95 % CI 0.84–1.00) → 0.00 (95 % CI 0.00–0.16)"
        );
    }

    trait Lines {
        fn map_lines(&self) -> Vec<String>;
    }

    impl Lines for Vec<[String; 2]> {
        fn map_lines(&self) -> Vec<String> {
            self.iter().map(|fact| fact.join(": ")).collect()
        }
    }

    #[test]
    fn differences_have_a_sign_and_are_never_hidden() {
        assert_eq!([0.0, 0.1, -0.125, 0.00004].map(points), ["0", "+10", "−12.5", "+0.004"]);
        assert_eq!(plain(0.1), "10");
        assert_eq!(
            [0.999, 1.0, 0.001].map(|level| share(Measure::Rate, level)),
            ["99 %", "100 %", "1 %"]
        );
    }
}
