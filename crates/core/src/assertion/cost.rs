//! `cost`: the answer stayed within a limit on cost.

use crate::model::{Check, CommonOptions, GradingContext, Map, Step};
use crate::reader::Reported;
use crate::syntax::fields::{Field, Shape};

use super::kind::AssertionKind;
use super::metric::{Limit, Metric, grade_limits};

static FIELDS: &[Field] = &[Field::new(
    "budget",
    Shape::Number {
        min: 0.0,
        max: f64::MAX,
    },
    "maximum cost of the answer in US dollars",
)
.required()];

pub(super) static KIND: AssertionKind = AssertionKind::new(
    "cost",
    FIELDS,
    |options, _| {
        options.require("budget")?;
        let most = options.amount("budget")?.ok_or(Reported)?;
        let metric = Metric::Cost;
        Ok(Box::new(Cost(Limit { metric, most })))
    },
    "The answer cost at most `budget` US dollars.

```yaml
assert:
  - type: cost
    budget: 0.10
```
",
);

/// In US dollars.
#[derive(Debug)]
struct Cost(Limit);

impl Check for Cost {
    fn options(&self) -> Map {
        let mut map = Map::new();
        map.insert("budget", self.0.most.clone());
        map
    }

    fn sentences(&self, _: &CommonOptions) -> Vec<String> {
        vec![format!("Cost under ${}", self.0.most.source())]
    }

    fn grade(&self, context: &GradingContext<'_>) -> Step {
        grade_limits([self.0.check(context.evidence.transcript)])
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{Trial, read};
    use crate::model::Transcript;

    fn trial(budget: &str, cost_usd: Option<f64>) -> Trial {
        let transcript = Transcript {
            cost_usd,
            ..Transcript::of_text("ok")
        };
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
            let found = trial(budget, Some(cost)).marks();
            assert_eq!(found.score.value(), score, "{text}");
            let texts = [found.hits, found.misses].concat();
            assert_eq!(texts, [text]);
        }
    }

    #[test]
    fn an_unknown_cost_is_not_measured() {
        for cost in [None, Some(f64::NAN), Some(f64::INFINITY)] {
            let fault = trial("0.10", cost).fault();
            assert_eq!(fault.message, "not measured: cost");
        }
    }

    #[test]
    fn the_number_goes_out_as_written() {
        let found = read("- {type: cost, budget: 0.10}");
        assert_eq!(found.sentences(), ["Cost under $0.10"]);
        assert_eq!(found.options(), r#"{"budget":0.10}"#);
        let found = read("- {type: cost, budget: .5}");
        assert_eq!(found.sentences(), ["Cost under $.5"]);
    }

    #[test]
    fn a_budget_is_needed_and_not_negative() {
        assert_eq!(read("- {type: cost}").names(), ["missing-option"]);
        assert_eq!(
            read("- {type: cost, budget: -0.1}").names(),
            ["out-of-range"]
        );
    }
}
