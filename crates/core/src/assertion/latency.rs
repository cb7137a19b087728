//! `latency`, `cost` and `token-usage`: the answer stayed within limits.

use crate::model::{Check, CommonOptions, EvidencePart, GradingContext, Map, Measurement, Step};
use crate::reader::{Options, ReadResult, Reported};
use crate::syntax::fields::Field;

use super::execution_metrics::{numbers_left_out, report_no_limits};
use super::kind::AssertionKind;
use super::metric::{Limit, Metric, grade_limits, limits_to_map, read_limits};
use super::read::{AMOUNT, COUNT};

pub(super) static LATENCY: AssertionKind = AssertionKind::new(
    "latency",
    &[Field::new("threshold", AMOUNT, "maximum duration of the answer in milliseconds").required()],
    |options, _| {
        read_one(options, "threshold", Metric::Duration, |limits| {
            format!("Response time under {}ms", limits[0].most.source())
        })
    },
    "The answer took at most `threshold` milliseconds.

```yaml
assert:
  - type: latency
    threshold: 2000
```
",
);

pub(super) static COST: AssertionKind = AssertionKind::new(
    "cost",
    &[Field::new("budget", AMOUNT, "maximum cost of the answer in US dollars").required()],
    |options, _| {
        read_one(options, "budget", Metric::Cost, |limits| {
            format!("Cost under ${}", limits[0].most.source())
        })
    },
    "The answer cost at most `budget` US dollars.

```yaml
assert:
  - type: cost
    budget: 0.10
```
",
);

pub(super) static TOKEN_USAGE: AssertionKind = AssertionKind::new(
    "token-usage",
    &[
        Field::new(
            "max_total",
            COUNT,
            "maximum number of tokens, input and output together",
        ),
        Field::new(
            "max_input",
            COUNT,
            "maximum number of input tokens, cached ones included",
        ),
        Field::new(
            "max_output",
            COUNT,
            "maximum number of output tokens, reasoning included",
        ),
    ],
    |options, _| read_tokens(options),
    "The answer used at most this many tokens. At least one limit is required, and all limits that are
given must hold.

```yaml
assert:
  - type: token-usage
    max_total: 2000
    max_output: 500
```
",
)
.needs_one_of(&["max_total", "max_input", "max_output"]);

fn read_one(
    options: &mut Options<'_, '_, '_>,
    name: &'static str,
    metric: Metric,
    sentence: fn(&[Limit]) -> String,
) -> ReadResult<Box<dyn Check>> {
    options.require(name)?;
    let most = options.amount(name)?.ok_or(Reported)?;
    let limits = vec![Limit { name, metric, most }];
    Ok(Box::new(LimitCheck { limits, sentence, loses_numbers: false }))
}

fn read_tokens(options: &mut Options<'_, '_, '_>) -> ReadResult<Box<dyn Check>> {
    let table = [
        ("max_total", Metric::Tokens),
        ("max_input", Metric::InputTokens),
        ("max_output", Metric::OutputTokens),
    ];
    let limits = read_limits(options, &table)?;
    if limits.is_empty() {
        let help = "add `max_total`, `max_input` or `max_output`";
        return Err(report_no_limits(options, help));
    }
    let sentence = |_: &[Limit]| "Token usage within limits".to_owned();
    Ok(Box::new(LimitCheck { limits, sentence, loses_numbers: true }))
}

#[derive(Debug)]
struct LimitCheck {
    /// Never empty.
    limits: Vec<Limit>,
    sentence: fn(&[Limit]) -> String,
    /// Whether the sentence leaves out the limits.
    loses_numbers: bool,
}

impl Check for LimitCheck {
    fn losses(&self, type_name: &str) -> Vec<(&'static str, String)> {
        (self.loses_numbers).then(|| numbers_left_out(type_name)).into_iter().collect()
    }

    fn options(&self) -> Map {
        limits_to_map(&self.limits)
    }

    fn sentences(&self, _: &CommonOptions) -> Vec<String> {
        vec![(self.sentence)(&self.limits)]
    }

    fn parts(&self) -> Vec<EvidencePart> {
        Vec::new()
    }

    fn measures(&self) -> Vec<Measurement> {
        self.limits.iter().filter_map(|limit| limit.metric.measurement()).collect()
    }

    fn grade(&self, context: &GradingContext<'_>) -> Step {
        let transcript = context.evidence.transcript;
        grade_limits(self.limits.iter().map(|limit| limit.check(transcript)))
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{Trial, read};
    use crate::model::{Tokens, Transcript};

    fn latency_trial(threshold: &str, duration_ms: Option<u64>) -> Trial {
        let transcript = Transcript { duration_ms, ..Transcript::of_text("ok") };
        Trial::new(&format!("- {{type: latency, threshold: {threshold}}}"), transcript)
    }

    #[test]
    fn the_threshold_is_inclusive() {
        for (threshold, duration, score, text) in [
            ("2000", 1800, 1.0, "duration 1800 ms <= 2000 ms"),
            ("2000", 2000, 1.0, "duration 2000 ms <= 2000 ms"),
            ("2000", 2001, 0.0, "duration 2001 ms > 2000 ms"),
            ("1.50e3", 1500, 1.0, "duration 1500 ms <= 1.50e3 ms"),
            ("0.5", 1, 0.0, "duration 1 ms > 0.5 ms"),
            ("0", 0, 1.0, "duration 0 ms <= 0 ms"),
        ] {
            let found = latency_trial(threshold, Some(duration)).marks();
            assert_eq!(found.score.value(), score, "{text}");
            let texts = [found.hits, found.misses].concat();
            assert_eq!(texts, [text]);
        }
    }

    #[test]
    fn an_unknown_duration_is_not_measured() {
        let fault = latency_trial("2000", None).fault();
        assert_eq!(fault.message, "not measured: duration");
    }

    #[test]
    fn a_threshold_is_exported_as_written() {
        let found = read("- {type: latency, threshold: 1.50e3}");
        assert_eq!(found.options(), r#"{"threshold":1.50e3}"#);
        assert_eq!(found.sentences(), ["Response time under 1.50e3ms"]);
        let found = read("- {type: latency, threshold: 0x10}");
        assert_eq!(found.sentences(), ["Response time under 0x10ms"]);
    }

    #[test]
    fn faults_of_a_threshold_have_their_names() {
        assert_eq!(read("- {type: latency}").names(), ["missing-option"]);
        let found = read("- {type: latency, threshold: -1}");
        assert_eq!(found.names(), ["out-of-range"]);
        let found = read("- {type: latency, threshold: 2s}");
        assert_eq!(found.names(), ["wrong-type"]);
        let found = read("- {type: latency, threshold: .inf}");
        assert_eq!(found.names(), ["wrong-type"]);
    }

    fn cost_trial(budget: &str, cost_usd: Option<f64>) -> Trial {
        let transcript = Transcript { cost_usd, ..Transcript::of_text("ok") };
        Trial::new(&format!("- {{type: cost, budget: {budget}}}"), transcript)
    }

    #[test]
    fn the_budget_is_inclusive_and_shown_as_written() {
        for (budget, cost, score, text) in [
            ("0.10", 0.03, 1.0, "cost 0.03 USD <= 0.10 USD"),
            ("0.10", 0.10, 1.0, "cost 0.10 USD <= 0.10 USD"),
            ("0.10", 0.12, 0.0, "cost 0.12 USD > 0.10 USD"),
            ("0.30", 0.1 + 0.2, 1.0, "cost 0.30 USD <= 0.30 USD"),
            ("0.10", 0.100_01, 0.0, "cost 0.10001 USD > 0.10 USD"),
            ("1", 0.000_4, 1.0, "cost 0.0004 USD <= 1 USD"),
            ("0", 0.0, 1.0, "cost 0.00 USD <= 0 USD"),
        ] {
            let found = cost_trial(budget, Some(cost)).marks();
            assert_eq!(found.score.value(), score, "{text}");
            let texts = [found.hits, found.misses].concat();
            assert_eq!(texts, [text]);
        }
    }

    #[test]
    fn an_unknown_cost_is_not_measured() {
        for cost in [None, Some(f64::NAN), Some(f64::INFINITY)] {
            let fault = cost_trial("0.10", cost).fault();
            assert_eq!(fault.message, "not measured: cost");
        }
    }

    #[test]
    fn a_budget_is_exported_as_written() {
        let found = read("- {type: cost, budget: 0.10}");
        assert_eq!(found.sentences(), ["Cost under $0.10"]);
        assert_eq!(found.options(), r#"{"budget":0.10}"#);
        let found = read("- {type: cost, budget: .5}");
        assert_eq!(found.sentences(), ["Cost under $.5"]);
    }

    #[test]
    fn a_budget_is_needed_and_not_negative() {
        assert_eq!(read("- {type: cost}").names(), ["missing-option"]);
        assert_eq!(read("- {type: cost, budget: -0.1}").names(), ["out-of-range"]);
    }

    fn token_trial(options: &str, tokens: Option<Tokens>) -> Trial {
        let transcript = Transcript { tokens, ..Transcript::of_text("ok") };
        Trial::new(&format!("- {{type: token-usage, {options}}}"), transcript)
    }

    #[test]
    fn a_sum_alone_says_nothing_of_input_and_output() {
        let used = Tokens { input: 20, ..Tokens::default() };
        let summed = |options: &str| {
            let transcript =
                Transcript { tokens: Some(used), is_token_sum: true, ..Transcript::of_text("ok") };
            Trial::new(&format!("- {{type: token-usage, {options}}}"), transcript)
        };
        assert_eq!(summed("max_total: 20").marks().score.value(), 1.0);
        for (options, what) in
            [("max_output: 10", "output tokens"), ("max_input: 10", "input tokens")]
        {
            let fault = summed(options).fault();
            assert!(fault.message.contains(what), "{}", fault.message);
        }
    }

    #[test]
    fn every_limit_is_inclusive_and_has_its_text() {
        let used = Tokens { input: 1500, output: 500, cached: 1000 };
        for (options, score, hits, misses) in [
            ("max_total: 2000", 1.0, vec!["tokens 2000 <= 2000"], vec![]),
            ("max_total: 1999", 0.0, vec![], vec!["tokens 2000 > 1999"]),
            (
                "max_output: 499, max_input: 1500",
                0.0,
                vec!["input tokens 1500 <= 1500"],
                vec!["output tokens 500 > 499"],
            ),
        ] {
            let found = token_trial(options, Some(used)).marks();
            assert_eq!(found.score.value(), score, "{options}");
            assert_eq!((found.hits, found.misses), (own(hits), own(misses)));
        }
    }

    fn own(texts: Vec<&str>) -> Vec<String> {
        texts.into_iter().map(str::to_owned).collect()
    }

    #[test]
    fn unknown_tokens_are_not_measured() {
        for options in ["max_total: 1", "max_input: 1", "max_output: 1"] {
            let fault = token_trial(options, None).fault();
            assert_eq!(fault.message, "not measured: tokens");
        }
    }

    #[test]
    fn a_limit_of_zero_is_a_limit() {
        let found = read("- {type: token-usage, max_output: 0}");
        assert_eq!(found.options(), r#"{"max_output":0}"#);
        assert_eq!(found.sentences(), ["Token usage within limits"]);
    }

    #[test]
    fn faults_of_token_limits_have_their_names() {
        assert_eq!(read("- {type: token_usage}").names(), ["no-limits"]);
        let found = read("- {type: token-usage, max_total: 1.5, max_input: -1}");
        assert_eq!(found.names(), ["wrong-type", "out-of-range"]);
    }
}
