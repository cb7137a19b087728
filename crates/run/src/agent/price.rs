//! Prices of tokens. An unknown price is `None`, never zero.

use std::sync::{LazyLock, Once};

use evalrig_core::diagnostic::Diagnostic;
use evalrig_core::model::Tokens;
use genai_prices::{Calculator, PriceRequest, Usage, UsageKey};
use miniz_oxide::inflate::decompress_to_vec_with_limit;
use reqwest::Url;

use crate::setting::Price;

use super::http::is_loopback;
use crate::setting::ConnectContext;

const MILLION: f64 = 1e6;

/// The table of `genai-prices`, which `cargo xtask bless` takes from the crate.
const DEFLATED_TABLE: &[u8] = include_bytes!("prices.json.deflate");

/// Far above the size of the table.
const MAX_TABLE_SIZE: usize = 16 << 20;

static TABLE: LazyLock<Calculator> = LazyLock::new(|| {
    let json = decompress_to_vec_with_limit(DEFLATED_TABLE, MAX_TABLE_SIZE);
    Calculator::from_json(json.expect("bless deflates the table"))
        .expect("the crate can read its table")
});

/// `price` of a target, in USD per million tokens.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Rates {
    pub(crate) input: f64,
    pub(crate) output: f64,
    pub(crate) cached: f64,
}

impl Rates {
    pub(crate) fn of(
        price: Option<&Price>,
        connect: &ConnectContext<'_>,
    ) -> Result<Option<Self>, Diagnostic> {
        let Some(price) = price else {
            return Ok(None);
        };
        let input = connect.amount(&price.input)?;
        Ok(Some(Self {
            input,
            output: connect.amount(&price.output)?,
            cached: match &price.cached {
                Some(cached) => connect.amount(cached)?,
                None => input,
            },
        }))
    }

    pub(crate) fn cost(&self, tokens: Tokens) -> f64 {
        let cached = tokens.cached.min(tokens.input);
        let fresh = tokens.input - cached;
        let parts = [(fresh, self.input), (cached, self.cached), (tokens.output, self.output)];
        let costs = parts.map(|(tokens, rate)| tokens as f64 * rate);
        costs.iter().sum::<f64>() / MILLION
    }
}

/// Where the price of a model is looked up.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum PriceSource {
    /// A provider of the price table, by name.
    Named(&'static str),
    /// The provider that the table has for this URL. A private server has no entry, so that the
    /// price of its models is unknown even if they are named like public ones.
    At(String),
    /// A server on this machine; the table is not loaded for it.
    Here,
}

impl PriceSource {
    /// Drops the parts of a URL that may contain a key.
    pub(crate) fn at(base_url: &str) -> Self {
        let Ok(mut url) = Url::parse(base_url.trim()) else {
            return Self::At(String::new());
        };
        if is_loopback(&url) {
            return Self::Here;
        }
        // Both fail only for URLs without a host, which have neither.
        let _ = url.set_username("");
        let _ = url.set_password(None);
        url.set_query(None);
        Self::At(url.into())
    }
}

/// Tokens with the details that only affect their price.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct BilledTokens {
    pub(crate) tokens: Tokens,
    /// The part of the input that was written to a cache, which some services charge more for.
    pub(crate) cache_writes: u64,
}

impl From<Tokens> for BilledTokens {
    fn from(tokens: Tokens) -> Self {
        Self { tokens, cache_writes: 0 }
    }
}

/// The cost in USD: by the rates of the target, else by the price table.
pub(crate) fn cost(
    rates: Option<&Rates>,
    prices: &PriceSource,
    model: &str,
    used: impl Into<BilledTokens>,
) -> Option<f64> {
    let used = used.into();
    match rates {
        Some(rates) => Some(rates.cost(used.tokens)),
        None => listed(prices, model, used),
    }
}

/// Loads the price table in the background: it takes tens of milliseconds, which the first answers
/// should not have to wait for.
pub(crate) fn preload_table(rates: Option<&Rates>, prices: &PriceSource) {
    static BEGUN: Once = Once::new();
    if rates.is_none() && *prices != PriceSource::Here {
        // If no thread can be started, the table is loaded with the first price.
        BEGUN.call_once(|| {
            let thread = std::thread::Builder::new().name("prices".to_owned());
            let _ = thread.spawn(|| LazyLock::force(&TABLE));
        });
    }
}

fn listed(prices: &PriceSource, model: &str, used: BilledTokens) -> Option<f64> {
    let BilledTokens { tokens, cache_writes } = used;
    let counts = [
        (UsageKey::INPUT_TOKENS, tokens.input),
        (UsageKey::CACHE_READ_TOKENS, tokens.cached),
        (UsageKey::CACHE_WRITE_TOKENS, cache_writes),
        (UsageKey::OUTPUT_TOKENS, tokens.output),
    ];
    let usage: Usage = counts
        .into_iter()
        .filter(|(_, count)| *count > 0)
        .map(|(key, count)| (key, count as f64))
        .collect();
    let request = PriceRequest::new(model, &usage);
    let request = match prices {
        PriceSource::Named(name) => request.with_provider_id(name),
        PriceSource::At(address) => request.with_provider_api_url(address),
        PriceSource::Here => return None,
    };
    let total = TABLE.calculate(&request).ok()?.total_price;
    // Entries without prices give zero.
    (total > 0.0 && total.is_finite()).then_some(total)
}

#[cfg(test)]
mod tests {
    use super::*;

    const OPENAI: &PriceSource = &PriceSource::Named("openai");

    fn tokens(input: u64, output: u64, cached: u64) -> Tokens {
        Tokens { input, output, cached }
    }

    fn near(cost: Option<f64>, expected: f64) -> bool {
        cost.is_some_and(|cost| (cost - expected).abs() < 1e-12)
    }

    #[test]
    fn the_rates_of_the_target_come_first() {
        let rates = Rates { input: 2.0, output: 10.0, cached: 0.5 };
        let found = cost(Some(&rates), OPENAI, "gpt-4o", tokens(300, 34, 60));
        assert!(near(found, (240.0 * 2.0 + 60.0 * 0.5 + 34.0 * 10.0) / 1e6));
        let none = cost(Some(&rates), OPENAI, "x", tokens(0, 0, 0));
        assert_eq!(none, Some(0.0));
    }

    #[test]
    fn the_table_knows_public_models() {
        let found = cost(None, OPENAI, "gpt-4o", tokens(1000, 100, 400));
        assert!(near(found, (600.0 * 2.5 + 400.0 * 1.25 + 100.0 * 10.0) / 1e6), "{found:?}");
        let dated = cost(None, OPENAI, "gpt-4o-2024-08-06", tokens(1000, 0, 0));
        assert!(near(dated, 0.0025), "{dated:?}");
        let azure = PriceSource::Named("azure");
        assert!(cost(None, &azure, "gpt-4o", tokens(10, 1, 0)).is_some());
        assert!(cost(None, OPENAI, "gpt-5.1-codex", tokens(10, 1, 0)).is_some());
    }

    #[test]
    fn writing_a_cache_costs_more() {
        let prices = PriceSource::at("https://api.anthropic.com/");
        let used = BilledTokens { tokens: tokens(1000, 10, 200), cache_writes: 300 };
        let found = cost(None, &prices, "claude-sonnet-4-5-20250929", used);
        let expected = (500.0 * 3.0 + 200.0 * 0.3 + 300.0 * 3.75 + 10.0 * 15.0) / 1e6;
        assert!(near(found, expected), "{found:?}");
    }

    #[test]
    fn an_unknown_model_has_no_price() {
        let some = tokens(10, 10, 0);
        assert_eq!(cost(None, OPENAI, "no-such-model", some), None);
        for own in ["http://127.0.0.1:8080/v1", "http://localhost:11434/v1", "https://llm.corp/v1"]
        {
            assert_eq!(cost(None, &PriceSource::at(own), "gpt-4o", some), None, "{own}");
        }
        assert_eq!(cost(None, OPENAI, "gpt-4o", tokens(0, 0, 0)), None);
    }

    #[test]
    fn an_address_is_kept_without_its_keys() {
        let prices = PriceSource::at("https://me:word@api.openai.com/v1?key=x");
        assert_eq!(prices, PriceSource::At("https://api.openai.com/v1".to_owned()));
        assert!(cost(None, &prices, "gpt-4o", tokens(1, 1, 0)).is_some());
        assert_eq!(cost(None, &PriceSource::at("?"), "gpt-4o", tokens(1, 1, 0)), None);
    }
}
