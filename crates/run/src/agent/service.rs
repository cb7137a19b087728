//! Agents behind an address: every attempt is one request. What differs between services is how
//! they want to be asked and how they answer, which is their [`Wire`].

use std::fmt;
use std::time::Duration;

use evalrig_core::diagnostic::{Diagnostic, Level};
use evalrig_core::model::{
    Block, Call, FaultKind, JsonStyle, Map, Message, Number, Role, Tokens, ToolCall, Transcript,
    Value,
};
use evalrig_core::reader::{Reference, Template};
use evalrig_core::source::Span;
use evalrig_core::syntax::fields::INVALID_OPTION;
use evalrig_core::syntax::json_value;

use crate::setting::Secret;

use super::http::{ApiKey, Endpoint, HttpReply, address};
use super::http_fault::{excerpt, message_of};
use super::price::{BilledTokens, PriceSource, Rates, cost, expect_table};
use super::request::{AttemptFault, Purpose, Request};
use super::{Agent, Pending, Quote};
use crate::setting::ConnectContext;

/// How much of a reply that cannot be read is shown.
const EXCERPT: usize = 200;

/// The form of requests and replies.
pub(crate) trait Wire: fmt::Debug + Send + Sync {
    /// The body without `model` and the target's own settings.
    fn body(&self, request: &Request<'_>) -> Result<Map, AttemptFault>;

    /// Says what is wrong with a reply that has not the form.
    fn read(&self, reply: &Map) -> Result<WireReply, String>;
}

/// What a service answered.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct WireReply {
    pub(crate) content: Vec<Block>,
    pub(crate) calls: Vec<Call>,
    pub(crate) used: Option<BilledTokens>,
    pub(crate) cost_usd: Option<f64>,
}

/// An agent that is asked over HTTP.
pub(crate) struct HttpAgent<W> {
    wire: W,
    endpoint: Endpoint,
    model: String,
    config: Map,
    rates: Option<Rates>,
    prices: PriceSource,
}

impl<W: Wire> fmt::Debug for HttpAgent<W> {
    /// Variables in `config` may hold secrets.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HttpAgent")
            .field("wire", &self.wire)
            .field("endpoint", &self.endpoint)
            .field("model", &self.model)
            .finish_non_exhaustive()
    }
}

impl<W: Wire> HttpAgent<W> {
    /// A service with the settings that every target has.
    pub(crate) fn new(
        wire: W,
        endpoint: Endpoint,
        model: String,
        prices: PriceSource,
        connect: &ConnectContext<'_>,
    ) -> Result<Self, Diagnostic> {
        let common = connect.common;
        let rates = Rates::of(common.price.as_ref(), connect)?;
        expect_table(rates.as_ref(), &prices);
        Ok(Self {
            wire,
            endpoint,
            model,
            config: connect.map(&common.config)?,
            rates,
            prices,
        })
    }

    async fn respond(&self, request: &Request<'_>) -> Result<Transcript, AttemptFault> {
        let body = Value::Map(self.body(request)?).to_json(JsonStyle::Compact);
        let exchange = self.endpoint.post(body, request.timeout).await?;
        self.read(&exchange).map_err(|reason| {
            // Redacted before it is cut: half a key is no longer recognised.
            let shown = |text: &str| excerpt(&self.endpoint.redact(text), EXCERPT);
            let message = format!("{}: {}", shown(&reason), shown(&exchange.body));
            AttemptFault::new(FaultKind::Reply, message)
        })
    }

    /// `{model, messages, …config}`, where later words win.
    fn body(&self, request: &Request<'_>) -> Result<Map, AttemptFault> {
        let mut body = Map::new();
        body.insert("model", self.model.as_str());
        let asked = self.wire.body(request)?;
        if request.purpose == Purpose::Judge {
            // The same question should get the same verdict, unless somebody says otherwise.
            body.insert("temperature", Number::from(0));
        }
        let layers = [Some(&asked), Some(&self.config), request.config];
        for (key, value) in layers.into_iter().flatten().flat_map(Map::iter) {
            body.insert(key, value.clone());
        }
        // Some models refuse options that others need; null takes one out.
        body.retain(|_, value| *value != Value::Null);
        // A stream says the same in pieces, which nobody here waits for.
        body.remove("stream");
        body.remove("stream_options");
        Ok(body)
    }

    fn read(&self, exchange: &HttpReply) -> Result<Transcript, String> {
        let value = json_value(&exchange.body).ok_or("the reply is no JSON")?;
        let Value::Map(map) = &value else {
            return Err("the reply is no JSON object".to_owned());
        };
        let reply = self
            .wire
            .read(map)
            .map_err(|reason| reported(&value).unwrap_or(reason))?;
        let model = map.get("model").and_then(Value::as_str);
        let model = model.filter(|model| !model.is_empty());
        let cost_usd = reply.cost_usd.or_else(|| self.cost(model, reply.used?));
        let mut transcript = Transcript::of_messages(vec![said(&reply)]);
        transcript.tokens = reply.used.map(|used| used.tokens);
        transcript.calls = Some(reply.calls);
        transcript.cost_usd = cost_usd;
        transcript.duration_ms = Some(milliseconds(exchange.took));
        transcript.model = Some(model.unwrap_or(&self.model).to_owned());
        Ok(transcript)
    }

    /// By the reported model, which is the more exact name, else by the configured one.
    fn cost(&self, reported: Option<&str>, used: BilledTokens) -> Option<f64> {
        let by = |model: &str| cost(self.rates.as_ref(), &self.prices, model, used);
        reported.and_then(by).or_else(|| by(&self.model))
    }
}

impl<W: Wire> Agent for HttpAgent<W> {
    fn answer<'a>(&'a self, request: &'a Request<'a>) -> Pending<'a> {
        Box::pin(self.respond(request))
    }

    fn quote(&self) -> Quote {
        const MANY: u64 = 1_000_000;
        let price = |input, output| {
            let tokens = Tokens {
                input,
                output,
                cached: 0,
            };
            let used = BilledTokens::from(tokens);
            Some(cost(self.rates.as_ref(), &self.prices, &self.model, used)? / MANY as f64)
        };
        match (price(MANY, 0), price(0, MANY)) {
            (Some(input), Some(output)) => Quote::Tokens {
                input,
                output,
                most_output: ["max_completion_tokens", "max_tokens"]
                    .iter()
                    .find_map(|key| count(&self.config, key)),
            },
            _ => Quote::Unknown,
        }
    }
}

/// What the service says of itself under a good status, which tells more than what it lacks.
fn reported(reply: &Value) -> Option<String> {
    let error = reply.as_map()?.get("error")?;
    if *error == Value::Null {
        return None;
    }
    Some(format!("the service reports `{}`", message_of(reply)?))
}

fn milliseconds(took: Duration) -> u64 {
    (took.as_secs_f64() * 1000.0).round() as u64
}

fn said(reply: &WireReply) -> Message {
    let mut message = Message::new(Role::Assistant, reply.content.clone());
    let calls = reply.calls.iter().map(|call| ToolCall {
        id: call.id.clone(),
        name: call.tool.clone(),
        arguments: match &call.args {
            Value::String(raw) => raw.clone(),
            args => args.to_json(JsonStyle::Compact),
        },
    });
    message.tool_calls = calls.collect();
    message
}

/// A count that must be there for the rest to mean anything.
pub(crate) fn count(usage: &Map, key: &str) -> Option<u64> {
    match usage.get(key)? {
        Value::Number(number) => number.as_u64(),
        _ => None,
    }
}

/// Counts in which the cached ones are a part of the input.
pub(crate) fn tokens(input: u64, output: u64, cached: u64) -> Tokens {
    Tokens {
        input,
        output,
        cached: cached.min(input),
    }
}

/// The address that the targets file gives, else the provider's own.
pub(crate) fn base_url(
    written: Option<&Template>,
    default: &str,
    connect: &ConnectContext<'_>,
) -> Result<String, Diagnostic> {
    let written = connect.optional(written)?;
    Ok(written.unwrap_or_else(|| default.to_owned()))
}

/// The endpoint below an address.
pub(crate) fn endpoint(
    base: &str,
    segments: &[&str],
    written: Option<&Template>,
    connect: &ConnectContext<'_>,
) -> Result<Endpoint, Diagnostic> {
    address(base, segments)
        .map(Endpoint::new)
        .map_err(|reason| {
            let place = written.map_or(connect.name.span, Template::span);
            unusable(place, format!("no address of a service: {reason}"))
        })
}

/// How a service expects its key.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ApiKeyHeader {
    pub(crate) name: &'static str,
    pub(crate) prefix: &'static str,
    /// Public services require a key; a server of the user's own often needs none.
    pub(crate) is_required: bool,
}

/// Sends the key with every request.
pub(crate) fn apply_api_key(
    endpoint: &mut Endpoint,
    header: ApiKeyHeader,
    written: Option<&Secret>,
    connect: &ConnectContext<'_>,
) -> Result<(), Diagnostic> {
    let text = match written {
        Some(secret) => Some(connect.text(&secret.0)?),
        None => connect.default_key(),
    };
    let Some(text) = text else {
        return if header.is_required {
            Err(unset_key(connect))
        } else {
            Ok(())
        };
    };
    let key = ApiKey::new(&text);
    if key.is_empty() {
        return Ok(());
    }
    let sent = endpoint.secret_header(header.name, header.prefix, &key);
    sent.map_err(|reason| {
        let place = written.map_or(connect.name.span, |secret| secret.0.span());
        unusable(place, format!("`api_key` {reason}"))
    })
}

fn unset_key(connect: &ConnectContext<'_>) -> Diagnostic {
    let variable = connect.key_variables.first().copied();
    let reference = Reference {
        name: variable.unwrap_or_default().to_owned(),
        field: connect.name.value.clone(),
        span: connect.name.span,
    };
    reference.missing(Level::BlocksRun)
}

pub(crate) fn unusable(place: Span, message: String) -> Diagnostic {
    Diagnostic::new(&INVALID_OPTION, place, message).level(Level::BlocksRun)
}

#[cfg(test)]
pub(crate) mod testing {
    use evalrig_core::source::MemoryFiles;

    use super::*;
    use crate::agent::Purpose;

    /// The body that messages become, as text.
    pub(crate) fn body(wire: &dyn Wire, messages: &[Message]) -> String {
        let files = MemoryFiles::new();
        let request = Request {
            purpose: Purpose::Case,
            suite: "demo",
            test_id: "t",
            trial: 1,
            attempt: 1,
            call: 0,
            messages,
            config: None,
            timeout: Duration::from_secs(1),

            attachments: crate::setting::FilesMode::Inline,
            files: &files,
            scratch: "/tmp".into(),
        };
        Value::Map(wire.body(&request).unwrap()).to_json(JsonStyle::Compact)
    }

    pub(crate) fn read(wire: &dyn Wire, reply: &str) -> Result<WireReply, String> {
        wire.read(json_value(reply).unwrap().as_map().unwrap())
    }

    pub(crate) fn texts(reply: &WireReply) -> Vec<&str> {
        let texts = reply.content.iter().filter_map(|block| match block {
            Block::Text(text) => Some(text.as_str()),
            _ => None,
        });
        texts.collect()
    }

    /// A conversation with two system messages, a call and its result.
    pub(crate) fn conversation() -> Vec<Message> {
        let text = |text: &str| vec![Block::Text(text.to_owned())];
        let mut asking = Message::new(Role::Assistant, Vec::new());
        asking.tool_calls.push(ToolCall {
            id: "call_1".to_owned(),
            name: "Read".to_owned(),
            arguments: r#"{"path":"a"}"#.to_owned(),
        });
        let mut result = Message::new(Role::Tool, text("content of a"));
        result.tool_call_id = Some("call_1".to_owned());
        vec![
            Message::new(Role::System, text("Be brief.")),
            Message::user("Read a"),
            asking,
            result,
            Message::new(Role::System, text("Be kind.")),
            Message::user("and then?"),
        ]
    }
}
