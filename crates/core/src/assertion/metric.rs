//! Limits on the numbers that a target reports. A number that it does not report is not measured,
//! which is neither zero nor within a limit.

use crate::model::{Fault, Map, Measurement, Number, Score, Step, Transcript};
use crate::reader::{Options, ReadResult, all_read};

use super::finding::{Finding, FindingList};

/// Rounding error of a sum of costs in dollars (spec 8).
const TOLERANCE: f64 = 1e-9;

/// A number that a target reports and that can be limited.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Metric {
    ToolCalls,
    LlmCalls,
    Tokens,
    InputTokens,
    OutputTokens,
    Duration,
    Cost,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Amount {
    Count(u64),
    Dollars(f64),
}

impl Metric {
    /// In the words of spec 7.19.
    fn name(self) -> &'static str {
        match self {
            Self::ToolCalls => "tool calls",
            Self::LlmCalls => "llm calls",
            Self::Tokens => "tokens",
            Self::InputTokens => "input tokens",
            Self::OutputTokens => "output tokens",
            Self::Duration => "duration",
            Self::Cost => "cost",
        }
    }

    /// The unit after its numbers.
    fn unit(self) -> &'static str {
        match self {
            Self::Duration => " ms",
            Self::Cost => " USD",
            _ => "",
        }
    }

    fn measure(self, transcript: &Transcript) -> Result<Amount, Fault> {
        let tokens = transcript.tokens;
        let count = match self {
            Self::ToolCalls => transcript.calls.as_ref().map(|calls| calls.len() as u64),
            Self::LlmCalls => transcript.session.llm_calls,
            Self::Tokens => tokens.map(|tokens| tokens.total()),
            Self::InputTokens | Self::OutputTokens if transcript.is_token_sum => None,
            Self::InputTokens => tokens.map(|tokens| tokens.input),
            Self::OutputTokens => tokens.map(|tokens| tokens.output),
            Self::Duration => transcript.duration_ms,
            Self::Cost => {
                let cost = transcript.cost_usd.filter(|cost| cost.is_finite());
                let cost = cost.ok_or_else(|| Fault::not_reported(Measurement::Cost))?;
                return Ok(Amount::Dollars(cost));
            }
        };
        count.map(Amount::Count).ok_or_else(|| match self {
            Self::ToolCalls => Fault::not_reported(Measurement::ToolCalls),
            Self::LlmCalls => Fault::not_reported(Measurement::LlmCalls),
            // A target reports all of them or none.
            Self::Tokens | Self::InputTokens | Self::OutputTokens if tokens.is_none() => {
                Fault::not_reported(Measurement::Tokens)
            }
            other => Fault::not_measured(other.name()),
        })
    }

    /// What a target has to report so that it is known.
    pub(super) fn measurement(self) -> Option<Measurement> {
        match self {
            Self::ToolCalls => Some(Measurement::ToolCalls),
            Self::LlmCalls => Some(Measurement::LlmCalls),
            Self::Tokens | Self::InputTokens | Self::OutputTokens => Some(Measurement::Tokens),
            Self::Cost => Some(Measurement::Cost),
            Self::Duration => None,
        }
    }
}

/// Inclusive.
#[derive(Debug)]
pub(super) struct Limit {
    /// The option that sets it.
    pub(super) name: &'static str,
    pub(super) metric: Metric,
    pub(super) most: Number,
}

/// Reads the limits that are present, by a table of options and what each of them limits.
pub(super) fn read_limits(
    options: &mut Options<'_, '_, '_>,
    table: &[(&'static str, Metric)],
) -> ReadResult<Vec<Limit>> {
    let limits = table.iter().map(|&(name, metric)| {
        let most = match metric {
            Metric::Cost => options.amount(name)?,
            _ => options.integer(name, 0, u64::MAX)?.map(Number::from),
        };
        Ok(most.map(|most| Limit { name, metric, most }))
    });
    Ok(all_read(limits)?.into_iter().flatten().collect())
}

/// The limits in canonical form.
pub(super) fn limits_to_map(limits: &[Limit]) -> Map {
    let entries = limits.iter();
    entries.map(|limit| (limit.name.to_owned(), limit.most.clone().into())).collect()
}

impl Limit {
    pub(super) fn check(&self, transcript: &Transcript) -> Result<Finding, Fault> {
        let (holds, shown) = match self.metric.measure(transcript)? {
            Amount::Count(count) => (is_at_most(count, &self.most), count.to_string()),
            Amount::Dollars(cost) => {
                let most = self.most.value();
                let holds = cost <= most + TOLERANCE;
                let agrees = |shown: f64| (shown <= most + TOLERANCE) == holds;
                (holds, rounded(cost, agrees))
            }
        };
        let (name, unit) = (self.metric.name(), self.metric.unit());
        let sign = if holds { "<=" } else { ">" };
        Ok(Finding { holds, text: format!("{name} {shown}{unit} {sign} {}{unit}", self.most) })
    }
}

/// Exact where both are integers.
fn is_at_most(count: u64, most: &Number) -> bool {
    match most.as_u64() {
        Some(most) => count <= most,
        None => count as f64 <= most.value(),
    }
}

/// With two to four decimals; with more if the rounded value would be far off, or would compare
/// differently.
pub(super) fn rounded(value: f64, compares_alike: impl Fn(f64) -> bool) -> String {
    let is_faithful = |text: &str| {
        let shown: f64 = text.parse().unwrap_or(value);
        compares_alike(shown) && (shown - value).abs() <= value.abs() / 20.0
    };
    let mut texts = (4..=12).map(|decimals| format!("{value:.decimals$}"));
    let mut text = texts.find(|text| is_faithful(text)).unwrap_or_else(|| value.to_string());
    if let Some(point) = text.find('.') {
        let kept = text.trim_end_matches('0').len().max(point + 3);
        text.truncate(kept.min(text.len()));
    }
    text
}

/// 1 when every limit holds. A limit whose metric was not reported is a fault, whatever the others
/// say.
pub(super) fn grade_limits(found: impl IntoIterator<Item = Result<Finding, Fault>>) -> Step {
    let mut findings = FindingList::default();
    for finding in found {
        match finding {
            Ok(finding) => findings.add(finding),
            Err(fault) => return fault.into(),
        }
    }
    let score = Score::when(findings.misses.is_empty());
    findings.marks(score).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn money_is_rounded_without_hiding_what_was_compared() {
        let shown = |cost: f64, most: f64| {
            let holds = cost <= most + TOLERANCE;
            rounded(cost, |shown| (shown <= most + TOLERANCE) == holds)
        };
        for (cost, most, text) in [
            (0.12, 0.1, "0.12"),
            (0.03, 0.1, "0.03"),
            (0.1, 0.1, "0.10"),
            (0.1 + 0.2, 0.3, "0.30"),
            (0.034_56, 0.1, "0.0346"),
            (3.0, 2.0, "3.00"),
            (0.0, 0.0, "0.00"),
            (0.100_001, 0.1, "0.100001"),
            (0.100_000_04, 0.1, "0.10000004"),
            (0.000_012_3, 0.1, "0.000012"),
            (1234.5, 1.0, "1234.50"),
        ] {
            assert_eq!(shown(cost, most), text, "{cost} of {most}");
        }
        assert_eq!(shown(1e-15, 0.1), "0.000000000000001");
    }

    #[test]
    fn large_counts_are_compared_exactly() {
        let most = Number::from(u64::MAX - 1);
        assert!(is_at_most(u64::MAX - 1, &most) && !is_at_most(u64::MAX, &most));
        assert!(is_at_most(1, &Number::parse("1.5").unwrap()));
        assert!(!is_at_most(2, &Number::parse("1.5").unwrap()));
    }
}
