//! `token-usage`: the answer used no more tokens than allowed.

use crate::model::{Check, CommonOptions, GradingContext, Map, Step};
use crate::reader::{Options, ReadResult};
use crate::syntax::fields::{Field, Shape};

use super::execution_metrics::report_no_limits;
use super::kind::AssertionKind;
use super::metric::{Limit, Metric, grade_limits, limits_to_map, read_limits};

const COUNT: Shape = Shape::Integer {
    min: 0,
    max: u64::MAX,
};

static FIELDS: &[Field] = &[
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
];

pub(super) static KIND: AssertionKind = AssertionKind::new(
    "token-usage",
    FIELDS,
    |options, _| read(options),
    "The answer used at most this many tokens. At least one limit is required, and all limits that are
given must hold.

```yaml
assert:
  - type: token-usage
    max_total: 2000
    max_output: 500
```
",
);

/// The options and what each of them limits.
const LIMITS: [(&str, Metric); 3] = [
    ("max_total", Metric::Tokens),
    ("max_input", Metric::InputTokens),
    ("max_output", Metric::OutputTokens),
];

fn read(options: &mut Options<'_, '_, '_>) -> ReadResult<Box<dyn Check>> {
    let limits = read_limits(options, &LIMITS)?;
    if limits.is_empty() {
        let help = "add `max_total`, `max_input` or `max_output`";
        return Err(report_no_limits(options, help));
    }
    Ok(Box::new(TokenUsage { limits }))
}

#[derive(Debug)]
struct TokenUsage {
    /// Never empty; each on one of [`LIMITS`].
    limits: Vec<Limit>,
}

impl Check for TokenUsage {
    fn options(&self) -> Map {
        limits_to_map(&self.limits, &LIMITS)
    }

    fn sentences(&self, _: &CommonOptions) -> Vec<String> {
        vec!["Token usage within limits".to_owned()]
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

    fn trial(options: &str, tokens: Option<Tokens>) -> Trial {
        let transcript = Transcript {
            tokens,
            ..Transcript::of_text("ok")
        };
        Trial::new(&format!("- {{type: token-usage, {options}}}"), transcript)
    }

    #[test]
    fn a_sum_alone_says_nothing_of_input_and_output() {
        let used = Tokens {
            input: 20,
            ..Tokens::default()
        };
        let summed = |options: &str| {
            let transcript = Transcript {
                tokens: Some(used),
                is_token_sum: true,
                ..Transcript::of_text("ok")
            };
            Trial::new(&format!("- {{type: token-usage, {options}}}"), transcript)
        };
        assert_eq!(summed("max_total: 20").marks().score.value(), 1.0);
        for (options, what) in [
            ("max_output: 10", "output tokens"),
            ("max_input: 10", "input tokens"),
        ] {
            let fault = summed(options).fault();
            assert!(fault.message.contains(what), "{}", fault.message);
        }
    }

    #[test]
    fn every_limit_is_inclusive_and_has_its_text() {
        let used = Tokens {
            input: 1500,
            output: 500,
            cached: 1000,
        };
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
            let found = trial(options, Some(used)).marks();
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
            let fault = trial(options, None).fault();
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
    fn faults_have_their_names() {
        assert_eq!(read("- {type: token_usage}").names(), ["no-limits"]);
        let found = read("- {type: token-usage, max_total: 1.5, max_input: -1}");
        assert_eq!(found.names(), ["wrong-type", "out-of-range"]);
    }
}
