//! Agents behind an HTTP API: every attempt is one request. A [`Wire`] describes the requests and
//! replies of one API.

use std::fmt;
use std::time::Duration;

use evalrig_core::diagnostic::Diagnostic;
use evalrig_core::model::{
    Block, Call, FaultKind, JsonStyle, Map, Measurement, Message, Number, Role, Tokens, ToolCall,
    Transcript, Value,
};
use evalrig_core::reader::{Options, ReadResult, Template};
use evalrig_core::syntax::json_value;

use crate::setting::{ConnectContext, Secret, option, unusable};

use super::http::{Endpoint, HttpReply, address};
use super::http_fault::{excerpt, message_of};
use super::price::{BilledTokens, PriceSource, Rates, cost, preload_table};
use super::request::{AttemptFault, Purpose, Request};
use super::{Agent, Pending, Quote, Unreported};

/// Characters shown of a reply that cannot be read.
const EXCERPT: usize = 200;

/// The form of requests and replies.
pub(crate) trait Wire: fmt::Debug + Send + Sync {
    /// The body without `model` and the target's own settings.
    fn body(&self, request: &Request<'_>) -> Result<Map, AttemptFault>;

    /// Fails with the reason if the reply is malformed.
    fn read(&self, reply: &Map) -> Result<WireReply, String>;
}

/// A reply, read.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct WireReply {
    pub(crate) content: Vec<Block>,
    pub(crate) calls: Vec<Call>,
    pub(crate) used: Option<BilledTokens>,
    pub(crate) cost_usd: Option<f64>,
}

/// An agent that is called over HTTP.
struct HttpAgent<W> {
    wire: W,
    endpoint: Endpoint,
    model: String,
    config: Map,
    rates: Option<Rates>,
    prices: PriceSource,
}

impl<W: Wire> fmt::Debug for HttpAgent<W> {
    /// Leaves out `config`, which may contain secrets.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HttpAgent")
            .field("wire", &self.wire)
            .field("endpoint", &self.endpoint)
            .field("model", &self.model)
            .finish_non_exhaustive()
    }
}

impl<W: Wire> HttpAgent<W> {
    async fn respond(&self, request: &Request<'_>) -> Result<Transcript, AttemptFault> {
        let body = Value::Map(self.body(request)?).to_json(JsonStyle::Compact);
        let exchange = self.endpoint.send(body, request.timeout).await?;
        self.read(&exchange).map_err(|reason| {
            // Redact before cutting: half a key would not be recognized.
            let shown = |text: &str| excerpt(&self.endpoint.redact(text), EXCERPT);
            let message = format!("{}: {}", shown(&reason), shown(&exchange.body));
            AttemptFault::new(FaultKind::Reply, message)
        })
    }

    /// `{model, messages, …config}`; later keys take precedence.
    fn body(&self, request: &Request<'_>) -> Result<Map, AttemptFault> {
        let mut body = Map::new();
        body.insert("model", self.model.as_str());
        let asked = self.wire.body(request)?;
        if request.purpose == Purpose::Judge {
            // Judge deterministically, unless `config` sets a temperature.
            body.insert("temperature", Number::from(0));
        }
        let layers = [Some(&asked), Some(&self.config), request.config];
        for (key, value) in layers.into_iter().flatten().flat_map(Map::iter) {
            body.insert(key, value.clone());
        }
        // Some models reject options that others need; null removes one.
        body.retain(|_, value| *value != Value::Null);
        // Replies are read as a whole, so streaming is never requested.
        body.remove("stream");
        body.remove("stream_options");
        Ok(body)
    }

    fn read(&self, exchange: &HttpReply) -> Result<Transcript, String> {
        let value = json_value(&exchange.body).ok_or("the reply is not JSON")?;
        let Value::Map(map) = &value else {
            return Err("the reply is not a JSON object".to_owned());
        };
        let reply = self.wire.read(map).map_err(|reason| reported(&value).unwrap_or(reason))?;
        let model = map.get("model").and_then(Value::as_str);
        let model = model.filter(|model| !model.is_empty());
        let cost_usd = reply.cost_usd.or_else(|| self.cost(model, reply.used?));
        let mut transcript = Transcript::of_messages(vec![said(&reply)]);
        transcript.session.llm_calls = Some(1);
        transcript.tokens = reply.used.map(|used| used.tokens);
        transcript.calls = Some(reply.calls);
        transcript.cost_usd = cost_usd;
        transcript.duration_ms = Some(milliseconds(exchange.took));
        transcript.model = Some(model.unwrap_or(&self.model).to_owned());
        Ok(transcript)
    }

    /// By the reported model, whose name is more exact, else by the configured one.
    fn cost(&self, reported: Option<&str>, used: BilledTokens) -> Option<f64> {
        let by = |model: &str| cost(self.rates.as_ref(), &self.prices, model, used);
        reported.and_then(by).or_else(|| by(&self.model))
    }
}

impl<W: Wire> Agent for HttpAgent<W> {
    fn answer<'a>(&'a self, request: &'a Request<'a>) -> Pending<'a> {
        Box::pin(self.respond(request))
    }

    fn account(&self) -> Option<String> {
        Some(self.endpoint.account())
    }

    fn unreported(&self) -> Vec<Unreported> {
        vec![Unreported {
            what: Measurement::SkillUse,
            cause: "a chat API",
            remedy: "test skills with an agent, such as `provider: claude-cli`",
        }]
    }

    fn quote(&self) -> Quote {
        const MANY: u64 = 1_000_000;
        let price = |input, output| {
            let tokens = Tokens { input, output, cached: 0 };
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

/// An error that the service reports with a success status.
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

/// A token count.
pub(crate) fn count(usage: &Map, key: &str) -> Option<u64> {
    match usage.get(key)? {
        Value::Number(number) => number.as_u64(),
        _ => None,
    }
}

/// Token counts; cached tokens are part of the input.
pub(crate) fn tokens(input: u64, output: u64, cached: u64) -> Tokens {
    Tokens { input, output, cached: cached.min(input) }
}

/// The options of every service.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct ServiceOptions {
    /// `None` is the default of the provider.
    pub(crate) base_url: Option<Template>,
    /// `None` is the value of a key variable.
    pub(crate) api_key: Option<Secret>,
    /// Public services require a key; a server of the user's own often needs none.
    pub(crate) is_key_required: bool,
    pub(crate) model: Template,
}

impl ServiceOptions {
    pub(crate) fn read(options: &mut Options<'_, '_, '_>, variable: &str) -> ReadResult<Self> {
        let base_url = option::full_template(options, "base_url");
        let api_key = option::api_key(options, variable);
        let model = option::required_template(options, "model");
        let base_url = base_url?;
        Ok(Self { is_key_required: base_url.is_none(), base_url, api_key: api_key?, model: model? })
    }

    pub(crate) fn base_url(
        &self,
        default: &str,
        connect: &ConnectContext<'_>,
    ) -> Result<String, Diagnostic> {
        let written = connect.optional(self.base_url.as_ref())?;
        Ok(written.unwrap_or_else(|| default.to_owned()))
    }

    /// The endpoint at `segments` below `base`.
    pub(crate) fn endpoint(
        &self,
        base: &str,
        segments: &[&str],
        connect: &ConnectContext<'_>,
    ) -> Result<Endpoint, Diagnostic> {
        let url = address(base, segments);
        url.map(Endpoint::new).map_err(|reason| {
            let place = self.base_url.as_ref().map(Template::span);
            let message = format!("invalid URL: {reason}");
            unusable(place.unwrap_or(connect.name.span), message)
        })
    }

    /// Adds the key to every request. An empty key is not sent.
    pub(crate) fn add_key(
        &self,
        endpoint: &mut Endpoint,
        header: &str,
        prefix: &str,
        connect: &ConnectContext<'_>,
    ) -> Result<(), Diagnostic> {
        let key = match &self.api_key {
            Some(secret) => connect.text(&secret.0)?,
            None => match connect.default_key() {
                None if self.is_key_required => {
                    let variable = connect.key_variables.first().copied();
                    return Err(connect.unset(variable.unwrap_or_default(), connect.name.span));
                }
                key => key.unwrap_or_default(),
            },
        };
        if key.trim().is_empty() {
            return Ok(());
        }
        let sent = endpoint.secret_header(header, prefix, &key);
        sent.map_err(|reason| {
            let place = self.api_key.as_ref().map(|secret| secret.0.span());
            let message = format!("`api_key` {reason}");
            unusable(place.unwrap_or(connect.name.span), message)
        })
    }

    /// The agent, with the settings that every target has.
    pub(crate) fn agent(
        &self,
        wire: impl Wire + 'static,
        endpoint: Endpoint,
        prices: PriceSource,
        connect: &ConnectContext<'_>,
    ) -> Result<Box<dyn Agent>, Diagnostic> {
        let model = connect.model(Some(&self.model))?.unwrap_or_default();
        let rates = Rates::of(connect.common.price.as_ref(), connect)?;
        preload_table(rates.as_ref(), &prices);
        Ok(Box::new(HttpAgent {
            wire,
            endpoint,
            model,
            config: connect.map(&connect.common.config)?,
            rates,
            prices,
        }))
    }
}

#[cfg(test)]
pub(crate) mod testing {
    use evalrig_core::source::MemoryFiles;

    use super::*;

    /// The request body for these messages, as text.
    pub(crate) fn body(wire: &dyn Wire, messages: &[Message]) -> String {
        let files = MemoryFiles::new();
        let request = Request { messages, ..Request::sample(&files) };
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
