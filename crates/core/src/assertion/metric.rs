//! What a target reports in numbers, and limits on it. What it does not report is not measured,
//! which is neither zero nor within a limit.

use crate::model::{Fault, Marks, Number, Role, Score, Transcript};

/// Costs are sums of floats; this much of a dollar is rounding (spec 8).
const TOLERANCE: f64 = 1e-9;

/// Something that a target reports and that can be limited.
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

    /// What stands behind its numbers.
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
            Self::LlmCalls => llm_calls(transcript),
            Self::Tokens => tokens.map(|tokens| tokens.total()),
            Self::InputTokens | Self::OutputTokens if transcript.is_token_sum => None,
            Self::InputTokens => tokens.map(|tokens| tokens.input),
            Self::OutputTokens => tokens.map(|tokens| tokens.output),
            Self::Duration => transcript.duration_ms,
            Self::Cost => {
                let cost = transcript.cost_usd.filter(|cost| cost.is_finite());
                let cost = cost.ok_or_else(|| Fault::not_measured("cost"))?;
                return Ok(Amount::Dollars(cost));
            }
        };
        let what = match self {
            // A target reports all of them or none.
            Self::InputTokens | Self::OutputTokens if tokens.is_none() => Self::Tokens.name(),
            other => other.name(),
        };
        count
            .map(Amount::Count)
            .ok_or_else(|| Fault::not_measured(what))
    }
}

/// Every assistant message is one call of the model (spec 10.1). A target that does
/// not report tool calls shows only its last message: behind it there may have been any number of
/// calls, so that counting messages would not measure anything.
fn llm_calls(transcript: &Transcript) -> Option<u64> {
    transcript.calls.as_ref()?;
    let messages = transcript.messages.iter();
    let said = messages.filter(|message| message.role == Role::Assistant);
    Some(said.count() as u64)
}

/// Inclusive.
#[derive(Debug)]
pub(super) struct Limit {
    pub(super) metric: Metric,
    pub(super) most: Number,
}

/// What was found, with its sentence.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Finding {
    pub(super) holds: bool,
    pub(super) text: String,
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
        Ok(Finding {
            holds,
            text: format!("{name} {shown}{unit} {sign} {}{unit}", self.most),
        })
    }
}

/// Exact where both are integers.
fn is_at_most(count: u64, most: &Number) -> bool {
    match most.as_u64() {
        Some(most) => count <= most,
        None => count as f64 <= most.value(),
    }
}

/// With two to four decimals; with more where the value would otherwise look like quite another
/// one, or like one that compares differently.
pub(super) fn rounded(value: f64, compares_alike: impl Fn(f64) -> bool) -> String {
    let is_faithful = |text: &str| {
        let shown: f64 = text.parse().unwrap_or(value);
        compares_alike(shown) && (shown - value).abs() <= value.abs() / 20.0
    };
    let mut texts = (4..=12).map(|decimals| format!("{value:.decimals$}"));
    let mut text = texts
        .find(|text| is_faithful(text))
        .unwrap_or_else(|| value.to_string());
    if let Some(point) = text.find('.') {
        let kept = text.trim_end_matches('0').len().max(point + 3);
        text.truncate(kept.min(text.len()));
    }
    text
}

/// 1.0 when everything holds. What one limit needs and was not reported decides, whatever the
/// others say.
pub(super) fn all_within(
    findings: impl IntoIterator<Item = Result<Finding, Fault>>,
) -> Result<Marks, Fault> {
    let (mut hits, mut misses) = (Vec::new(), Vec::new());
    for finding in findings {
        let finding = finding?;
        if finding.holds {
            hits.push(finding.text)
        } else {
            misses.push(finding.text)
        }
    }
    Ok(Marks::new(Score::when(misses.is_empty()), hits, misses))
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
