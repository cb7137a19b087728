//! What the `result` event of Claude Code counts: tokens, cost, duration, sub-agents.

use evalrig_core::model::{Map, Tokens, Value};

use super::events::{child, text};
use super::measure::{self, given};

#[derive(Debug, Default)]
pub(super) struct ClaudeFigures {
    pub(super) tokens: Option<Tokens>,
    pub(super) cost_usd: Option<f64>,
    pub(super) duration_ms: Option<u64>,
}

impl ClaudeFigures {
    pub(super) fn of(result: &Map) -> Result<Self, String> {
        let cost = measure::amount(result, "total_cost_usd")?;
        Ok(Self {
            tokens: all_tokens(result)?,
            cost_usd: cost.filter(|_| !has_made_up_cost(result)),
            duration_ms: measure::milliseconds(result, "duration_ms")?,
        })
    }
}

/// `usage` is that of the main thread, and zero after reaching a budget; the counts per model are
/// those of everything.
fn all_tokens(result: &Map) -> Result<Option<Tokens>, String> {
    let mut sum: Option<Tokens> = None;
    for usage in models(result) {
        if let Some(more) = tokens(usage, &MODEL_USAGE)? {
            sum = Some(sum.unwrap_or_default().plus(more));
        }
    }
    match (sum, given(result, "usage")) {
        (None, Some(Value::Map(usage))) => tokens(usage, &USAGE),
        _ => Ok(sum),
    }
}

/// For a model that it does not know, Claude Code reckons with the price of another one.
fn has_made_up_cost(result: &Map) -> bool {
    models(result).any(|usage| text(usage, "costBasis") == Some("unknown"))
}

fn models(result: &Map) -> impl Iterator<Item = &Map> {
    let models = given(result, "modelUsage").and_then(Value::as_map);
    models.into_iter().flat_map(Map::iter).filter_map(|(_, usage)| usage.as_map())
}

/// Keys of fresh input, output, cache reads and cache writes.
type UsageKeys = [&'static str; 4];

const USAGE: UsageKeys =
    ["input_tokens", "output_tokens", "cache_read_input_tokens", "cache_creation_input_tokens"];

const MODEL_USAGE: UsageKeys =
    ["inputTokens", "outputTokens", "cacheReadInputTokens", "cacheCreationInputTokens"];

/// The counts of one message.
pub(super) fn message_tokens(usage: &Map) -> Option<Tokens> {
    tokens(usage, &USAGE).ok().flatten()
}

/// Input tokens include cache reads and writes (spec 9.3).
fn tokens(usage: &Map, keys: &UsageKeys) -> Result<Option<Tokens>, String> {
    let [fresh, output, cached, written] = keys;
    let fresh = measure::count(usage, fresh)?;
    let output = measure::count(usage, output)?;
    let cached = measure::count(usage, cached)?.unwrap_or(0);
    let written = measure::count(usage, written)?.unwrap_or(0);
    Ok(fresh.zip(output).map(|(fresh, output)| Tokens {
        input: fresh.saturating_add(cached).saturating_add(written),
        output,
        cached,
    }))
}

/// How many sub-agents were started.
pub(super) fn spawned_agents(result: &Map) -> u64 {
    child(result, "subagent_stats").map_or(0, |stats| count_of(stats, "spawned"))
}

/// Whether sub-agents were started that did not end before the `result`.
pub(super) fn leaves_agents_running(result: &Map) -> bool {
    let Some(stats) = child(result, "subagent_stats") else { return false };
    let killed = child(stats, "killed").into_iter();
    let killed = killed.flat_map(|by| by.iter().map(|(who, _)| count_of(by, who)));
    let ended = ["completed", "failed"].into_iter().map(|key| count_of(stats, key)).chain(killed);
    spawned_agents(result) > ended.fold(0, u64::saturating_add)
}

fn count_of(map: &Map, key: &str) -> u64 {
    measure::count(map, key).ok().flatten().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use evalrig_core::syntax::json_value;

    use super::*;

    fn figures(rest: &str) -> ClaudeFigures {
        let value = json_value(&format!("{{{rest}}}")).unwrap();
        ClaudeFigures::of(value.as_map().unwrap()).unwrap()
    }

    fn counts(rest: &str) -> (u64, u64, u64) {
        let tokens = figures(rest).tokens.unwrap();
        (tokens.input, tokens.output, tokens.cached)
    }

    #[test]
    fn tokens_of_sub_agents_count() {
        let models = r#""modelUsage":{"a":{"inputTokens":5,"outputTokens":2,"cacheReadInputTokens":1},"b":{"inputTokens":1,"outputTokens":1}}"#;
        for usage in [
            r#""usage":{"input_tokens":4,"output_tokens":3}"#,
            r#""usage":{"input_tokens":0,"output_tokens":0}"#,
            r#""usage":null"#,
        ] {
            assert_eq!(counts(&format!("{usage},{models}")), (7, 3, 1), "{usage}");
        }
        let usage = r#""usage":{"input_tokens":4,"output_tokens":3}"#;
        assert_eq!(counts(&format!("{usage},\"modelUsage\":{{}}")), (4, 3, 0));
        assert_eq!(counts(usage), (4, 3, 0));
    }

    #[test]
    fn a_cost_that_was_made_up_is_unknown() {
        let of = |basis: &str| {
            let usage = r#""inputTokens":1,"outputTokens":1"#;
            figures(&format!(
                r#""total_cost_usd":0.5,"modelUsage":{{"m":{{{usage}{basis}}},"n":{{{usage}}}}}"#
            ))
            .cost_usd
        };
        assert_eq!(of(r#","costBasis":"unknown""#), None);
        assert_eq!(of(r#","costBasis":"list""#), Some(0.5));
        assert_eq!(of(""), Some(0.5));
    }
}
