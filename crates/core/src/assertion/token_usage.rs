//! `token-usage`: the answer took no more tokens than allowed.

use crate::model::{Check, CommonOptions, GradingContext, Map, Number, Step};
use crate::syntax::fields::{Field, Shape};

use super::execution_metrics::no_limits;
use super::kind::{AssertionKind, UnknownKeys};
use super::metric::{Limit, Metric, all_within};
use super::optional::optional;
use super::options::Options;

const COUNT: Shape = Shape::Integer {
    min: 0,
    max: u64::MAX,
};

static FIELDS: &[Field] = &[
    Field::new("max_total", COUNT, "most tokens, input and output together"),
    Field::new(
        "max_input",
        COUNT,
        "most input tokens, cached ones included",
    ),
    Field::new(
        "max_output",
        COUNT,
        "most output tokens, reasoning included",
    ),
];

pub(super) static KIND: AssertionKind = AssertionKind {
    name: "token-usage",
    aliases: &[],
    fields: FIELDS,
    unknown_keys: UnknownKeys::Warn,
    takes_config: false,
    doc: "The answer took at most so many tokens. At least one of the limits is needed, and all that are
given must hold.

```yaml
assert:
  - type: token-usage
    max_total: 2000
    max_output: 500
```
",
    read,
};

/// The options and what each of them limits.
const LIMITS: [(&str, Metric); 3] = [
    ("max_total", Metric::Tokens),
    ("max_input", Metric::InputTokens),
    ("max_output", Metric::OutputTokens),
];

fn read(options: &mut Options<'_, '_, '_>) -> Option<Box<dyn Check>> {
    let limits = LIMITS.map(|(name, metric)| {
        optional(options.reader, options.fields, name, |reader, entry| {
            let most = Number::from(reader.integer(entry, 0, u64::MAX)?);
            Some(Limit { metric, most })
        })
    });
    let limits: Option<Vec<Option<Limit>>> = limits.into_iter().collect();
    let limits: Vec<Limit> = limits?.into_iter().flatten().collect();
    if limits.is_empty() {
        no_limits(options, "`max_total`, `max_input` or `max_output`");
        return None;
    }
    Some(Box::new(TokenUsage { limits }))
}

#[derive(Debug)]
struct TokenUsage {
    /// Never empty; each on one of [`LIMITS`].
    limits: Vec<Limit>,
}

impl Check for TokenUsage {
    fn options(&self) -> Map {
        let mut map = Map::new();
        for (name, metric) in LIMITS {
            let limit = self.limits.iter().find(|limit| limit.metric == metric);
            map.insert_some(name, limit.map(|limit| limit.most.clone()));
        }
        map
    }

    fn sentences(&self, _: &CommonOptions) -> Vec<String> {
        vec!["Token usage within limits".to_owned()]
    }

    fn grade(&self, context: &GradingContext<'_>) -> Step {
        let transcript = context.evidence.transcript;
        let findings = self.limits.iter().map(|limit| limit.check(transcript));
        all_within(findings).map_or_else(Step::from, Step::from)
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::read;
    use super::super::trial::Trial;
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
