//! `latency`: the answer stayed within a limit on time.

use crate::model::{Check, CommonOptions, GradingContext, Map, Step};
use crate::reader::Reported;
use crate::syntax::fields::{Field, Shape};

use super::kind::AssertionKind;
use super::metric::{Limit, Metric, grade_limits};

static FIELDS: &[Field] = &[Field::new(
    "threshold",
    Shape::Number {
        min: 0.0,
        max: f64::MAX,
    },
    "maximum duration of the answer in milliseconds",
)
.required()];

pub(super) static KIND: AssertionKind = AssertionKind::new(
    "latency",
    FIELDS,
    |options, _| {
        options.require("threshold")?;
        let most = options.amount("threshold")?.ok_or(Reported)?;
        let metric = Metric::Duration;
        Ok(Box::new(Latency(Limit { metric, most })))
    },
    "The answer took at most `threshold` milliseconds.

```yaml
assert:
  - type: latency
    threshold: 2000
```
",
);

/// In milliseconds.
#[derive(Debug)]
struct Latency(Limit);

impl Check for Latency {
    fn options(&self) -> Map {
        let mut map = Map::new();
        map.insert("threshold", self.0.most.clone());
        map
    }

    fn sentences(&self, _: &CommonOptions) -> Vec<String> {
        vec![format!("Response time under {}ms", self.0.most.source())]
    }

    fn grade(&self, context: &GradingContext<'_>) -> Step {
        grade_limits([self.0.check(context.evidence.transcript)])
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{Trial, read};
    use crate::model::Transcript;

    fn trial(threshold: &str, duration_ms: Option<u64>) -> Trial {
        let transcript = Transcript {
            duration_ms,
            ..Transcript::of_text("ok")
        };
        Trial::new(
            &format!("- {{type: latency, threshold: {threshold}}}"),
            transcript,
        )
    }

    #[test]
    fn the_limit_is_inclusive() {
        for (threshold, duration, score, text) in [
            ("2000", 1800, 1.0, "duration 1800 ms <= 2000 ms"),
            ("2000", 2000, 1.0, "duration 2000 ms <= 2000 ms"),
            ("2000", 2001, 0.0, "duration 2001 ms > 2000 ms"),
            ("1.50e3", 1500, 1.0, "duration 1500 ms <= 1.50e3 ms"),
            ("0.5", 1, 0.0, "duration 1 ms > 0.5 ms"),
            ("0", 0, 1.0, "duration 0 ms <= 0 ms"),
        ] {
            let found = trial(threshold, Some(duration)).marks();
            assert_eq!(found.score.value(), score, "{text}");
            let texts = [found.hits, found.misses].concat();
            assert_eq!(texts, [text]);
        }
    }

    #[test]
    fn an_unknown_duration_is_not_measured() {
        let fault = trial("2000", None).fault();
        assert_eq!(fault.message, "not measured: duration");
    }

    #[test]
    fn the_number_goes_out_as_written() {
        let found = read("- {type: latency, threshold: 1.50e3}");
        assert_eq!(found.options(), r#"{"threshold":1.50e3}"#);
        assert_eq!(found.sentences(), ["Response time under 1.50e3ms"]);
        let found = read("- {type: latency, threshold: 0x10}");
        assert_eq!(found.sentences(), ["Response time under 0x10ms"]);
    }

    #[test]
    fn faults_have_their_names() {
        assert_eq!(read("- {type: latency}").names(), ["missing-option"]);
        let found = read("- {type: latency, threshold: -1}");
        assert_eq!(found.names(), ["out-of-range"]);
        let found = read("- {type: latency, threshold: 2s}");
        assert_eq!(found.names(), ["wrong-type"]);
        let found = read("- {type: latency, threshold: .inf}");
        assert_eq!(found.names(), ["wrong-type"]);
    }
}
