//! `http`: any service that takes a JSON body and returns JSON, but is not a chat API.

pub(super) mod body;

use std::fmt;

use evalrig_core::diagnostic::Diagnostic;
use evalrig_core::model::{
    FaultKind, JsonStyle, Map, Measurement, Number, Tokens, Transcript, Value,
};
use evalrig_core::reader::{Options, ReadResult, Template};
use evalrig_core::syntax::fields::{Field, Shape};
use evalrig_core::words;

use crate::agent::http::{Endpoint, HttpMethod, address};
use crate::agent::messages_json::chat_messages;
use crate::agent::{Agent, AttemptFault, Pending, Request, Unreported, cut, text};
use crate::format::{json, messages};
use crate::setting::{ConnectContext, FilesMode, Secret, Setting, option, unusable};

use super::{Provider, ProviderSettings};

use body::{filled, read_body};

pub static PROVIDER: Provider = Provider {
    name: "http",
    fields: FIELDS,
    retries: 2,
    files: FilesMode::Inline,
    key_variables: &[],
    doc: r#"Sends the prompt to a service of your own and finds the answer in its reply. In the strings of `body`,
`{{ prompt }}` is replaced by the prompt; a string that is exactly `{{ messages }}` becomes the list of
messages. Spaces in the braces do not matter, and other names in them are errors. Without `body` it is
`{"prompt": "{{ prompt }}"}`.

`answer`, `tool_calls`, `cost` and the `tokens` say where a value is in the reply: a JSON Pointer
(`/output/0/text`) or a JSONPath of names and indexes (`$.output[0].text`). What has no place, or is
not there in a reply, is not measured; `[]` and `null` at the place of `tool_calls` mean that none were made. A tool call is `{tool or name, args, arguments or input, output}`.

```yaml
targets:
  - name: default
    provider: http
    url: http://localhost:8000/ask
    headers: {authorization: "Bearer ${{ SERVICE_TOKEN }}"}
    body: {question: "{{ prompt }}", stream: false}
    answer: $.result.text
    tokens: {input: $.usage.in, output: $.usage.out}
    tool_calls: $.result.calls
```
"#,
    read,
};

static FIELDS: &[Field] = &[
    Field::new("url", Shape::NonEmptyText, "address of the service").required(),
    Field::new("method", Shape::Choice(HttpVerb::WORDS), "method of the request; default `POST`"),
    Field::new("headers", Shape::MapOf(&Shape::Text), "headers added to every request"),
    Field::new("body", Shape::Map, "body of the request; default `{prompt: \"{{ prompt }}\"}`"),
    Field::new("answer", Shape::NonEmptyText, "place of the answer in the reply").required(),
    Field::new("tokens", Shape::Fields(TOKENS), "places of the token counts"),
    Field::new("tool_calls", Shape::NonEmptyText, "place of the list of tool calls"),
    Field::new("cost", Shape::NonEmptyText, "place of the cost in US dollars"),
];

static TOKENS: &[Field] = &[
    Field::new("input", Shape::NonEmptyText, "place of the input tokens").required(),
    Field::new("output", Shape::NonEmptyText, "place of the output tokens").required(),
    Field::new("cached", Shape::NonEmptyText, "place of the cached input tokens"),
];

words! {
    /// The method of a request.
    enum HttpVerb {
        Post = "POST",
        Put = "PUT",
        Patch = "PATCH",
    }
}

#[derive(Debug, Clone, PartialEq)]
struct Http {
    url: Template,
    method: Setting<HttpVerb>,
    headers: Vec<(String, Secret)>,
    /// Strings in it keep their references.
    body: Option<Map>,
    answer: Template,
    tokens: Option<TokenPlaces<Template>>,
    tool_calls: Option<Template>,
    cost: Option<Template>,
}

#[derive(Debug, Clone, PartialEq)]
struct TokenPlaces<T> {
    input: T,
    output: T,
    cached: Option<T>,
}

fn read(options: &mut Options<'_, '_, '_>) -> ReadResult<Box<dyn ProviderSettings>> {
    let url = option::required_template(options, "url");
    let method = option::choice(options, "method");
    let headers = option::secret_map(options, "headers");
    let body = read_body(options);
    let answer = option::required_template(options, "answer");
    let tokens = options.nested("tokens", TOKENS, |options| {
        let input = option::required_template(options, "input");
        let output = option::required_template(options, "output");
        let cached = option::full_template(options, "cached");
        Ok(TokenPlaces { input: input?, output: output?, cached: cached? })
    });
    let tool_calls = option::full_template(options, "tool_calls");
    let cost = option::full_template(options, "cost");
    Ok(Box::new(Http {
        url: url?,
        method: method?.unwrap_or(Setting::Given(HttpVerb::Post)),
        headers: headers?,
        body: body?,
        answer: answer?,
        tokens: tokens?,
        tool_calls: tool_calls?,
        cost: cost?,
    }))
}

impl ProviderSettings for Http {
    fn connect(&self, context: &ConnectContext<'_>) -> Result<Box<dyn Agent>, Diagnostic> {
        let url = address(&context.text(&self.url)?, &[]).map_err(|reason| {
            unusable(self.url.span(), format!("`url` is not an address: {reason}"))
        })?;
        let mut endpoint = Endpoint::new(url);
        endpoint.set_method(match context.choice(&self.method, "a value of `method`")? {
            HttpVerb::Post => HttpMethod::POST,
            HttpVerb::Put => HttpMethod::PUT,
            HttpVerb::Patch => HttpMethod::PATCH,
        });
        for (name, value) in &self.headers {
            let sent = endpoint.secret_header(name, "", &context.text(&value.0)?);
            sent.map_err(|reason| unusable(value.0.span(), format!("header `{name}` {reason}")))?;
        }
        let place = |template: &Template| {
            let text = context.text(template)?;
            JsonPlace::parse(&text).map_err(|reason| unusable(template.span(), reason))
        };
        let optional = |template: &Option<Template>| template.as_ref().map(place).transpose();
        let tokens = match &self.tokens {
            Some(places) => Some(TokenPlaces {
                input: place(&places.input)?,
                output: place(&places.output)?,
                cached: optional(&places.cached)?,
            }),
            None => None,
        };
        Ok(Box::new(ReplyAgent {
            endpoint,
            body: match &self.body {
                Some(body) => context.map(body)?,
                None => Map::new().with("prompt", "{{ prompt }}"),
            },
            answer: place(&self.answer)?,
            tokens,
            tool_calls: optional(&self.tool_calls)?,
            cost: optional(&self.cost)?,
        }))
    }
}

/// Characters shown of a reply that cannot be read.
const EXCERPT: usize = 200;

struct ReplyAgent {
    endpoint: Endpoint,
    body: Map,
    answer: JsonPlace,
    tokens: Option<TokenPlaces<JsonPlace>>,
    tool_calls: Option<JsonPlace>,
    cost: Option<JsonPlace>,
}

impl fmt::Debug for ReplyAgent {
    /// Leaves out `body`, which may contain secrets.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ReplyAgent").field("endpoint", &self.endpoint).finish_non_exhaustive()
    }
}

impl Agent for ReplyAgent {
    fn answer<'a>(&'a self, request: &'a Request<'a>) -> Pending<'a> {
        Box::pin(self.respond(request))
    }

    fn account(&self) -> Option<String> {
        Some(self.endpoint.account())
    }

    fn unreported(&self) -> Vec<Unreported> {
        let missing = |is_missing: bool, what, cause, remedy| {
            is_missing.then_some(Unreported { what, cause, remedy })
        };
        let calls = self.tool_calls.is_none();
        let remedy = "say where the reply has them with `tool_calls`";
        [
            missing(calls, Measurement::ToolCalls, "no `tool_calls`", remedy),
            missing(calls, Measurement::SkillUse, "no `tool_calls`", remedy),
            missing(
                true,
                Measurement::LlmCalls,
                "`http`",
                "limit `max_tool_calls` or `max_tokens` instead",
            ),
            missing(
                self.tokens.is_none(),
                Measurement::Tokens,
                "no `tokens`",
                "say where the reply has them with `tokens`",
            ),
            missing(
                self.cost.is_none(),
                Measurement::Cost,
                "no `cost`",
                "say where the reply has it with `cost`, or add `price`",
            ),
        ]
        .into_iter()
        .flatten()
        .collect()
    }
}

impl ReplyAgent {
    async fn respond(&self, request: &Request<'_>) -> Result<Transcript, AttemptFault> {
        let prompt = text::prompt(request, request.attachments)?;
        let messages = chat_messages(request);
        let body = filled(&Value::Map(self.body.clone()), &prompt, &messages);
        let reply = self.endpoint.send(body.to_json(JsonStyle::Compact), request.timeout).await?;
        let mut transcript = self.read(&reply.body).map_err(|reason| {
            // Redact before cutting: half a key would not be recognized.
            let shown = cut(&self.endpoint.redact(&reply.body), EXCERPT);
            AttemptFault::new(FaultKind::Reply, format!("{reason}: {shown}"))
        })?;
        transcript.duration_ms = u64::try_from(reply.took.as_millis()).ok();
        Ok(transcript)
    }

    fn read(&self, body: &str) -> Result<Transcript, String> {
        let reply = json::parse(body).map_err(|_| "the reply is not JSON".to_owned())?;
        let answer = match self.answer.find(&reply) {
            None | Some(Value::Null) => {
                return Err(format!("the reply has no answer at `{}`", self.answer.text));
            }
            Some(Value::String(text)) => text.clone(),
            Some(other) => other.to_json(JsonStyle::Compact),
        };
        let mut transcript = match self.tool_calls.as_ref().and_then(|place| place.find(&reply)) {
            // A reply that lacks the place does not say that no tool was called.
            None => Transcript::of_text(answer),
            Some(calls) => {
                let calls = calls.clone();
                let said = Map::new().with("role", "assistant").with("content", answer);
                let said = Value::Map(said.with("tool_calls", calls));
                let read = messages::read_value(Value::List(vec![said]));
                read.map_err(|failure| failure.fault.message)?
            }
        };
        transcript.session.llm_calls = None;
        transcript.tokens = match &self.tokens {
            None => None,
            Some(places) => {
                let input = places.input.count(&reply)?;
                let output = places.output.count(&reply)?;
                let cached =
                    places.cached.as_ref().map_or(Ok(None), |place| place.count(&reply))?;
                let both = input.zip(output);
                both.map(|(input, output)| Tokens { input, output, cached: cached.unwrap_or(0) })
            }
        };
        let cost = self.cost.as_ref().map_or(Ok(None), |place| place.number(&reply))?;
        transcript.cost_usd = cost.map(Number::value).filter(|cost| *cost >= 0.0);
        Ok(transcript)
    }
}

/// Where a value is in a reply.
#[derive(Debug, Clone, PartialEq)]
struct JsonPlace {
    /// As written.
    text: String,
    steps: Vec<PlaceStep>,
}

#[derive(Debug, Clone, PartialEq)]
enum PlaceStep {
    Key(String),
    /// From the end if negative.
    Index(i64),
    /// A part of a JSON Pointer that is an index in a list and a key elsewhere.
    Either(String),
}

impl JsonPlace {
    fn parse(text: &str) -> Result<Self, String> {
        let unusable = || {
            format!(
                "`{text}` is neither a JSON Pointer such as `/a/0` nor a JSONPath of names and indexes \
                 such as `$.a[0]`"
            )
        };
        let steps = if let Some(pointer) = text.strip_prefix('/') {
            let part = |part: &str| PlaceStep::Either(part.replace("~1", "/").replace("~0", "~"));
            pointer.split('/').map(part).collect()
        } else if let Some(path) = text.strip_prefix('$') {
            path_steps(path).ok_or_else(unusable)?
        } else {
            return Err(unusable());
        };
        Ok(Self { text: text.to_owned(), steps })
    }

    fn find<'v>(&self, reply: &'v Value) -> Option<&'v Value> {
        self.steps.iter().try_fold(reply, |value, step| match (value, step) {
            (Value::Map(map), PlaceStep::Key(key) | PlaceStep::Either(key)) => map.get(key),
            (Value::List(items), PlaceStep::Index(at)) => item(items, *at),
            (Value::List(items), PlaceStep::Either(part)) => item(items, part.parse().ok()?),
            _ => None,
        })
    }

    fn number<'v>(&self, reply: &'v Value) -> Result<Option<&'v Number>, String> {
        match self.find(reply) {
            None | Some(Value::Null) => Ok(None),
            Some(Value::Number(number)) => Ok(Some(number)),
            Some(_) => Err(format!("the reply has no number at `{}`", self.text)),
        }
    }

    fn count(&self, reply: &Value) -> Result<Option<u64>, String> {
        let Some(number) = self.number(reply)? else {
            return Ok(None);
        };
        let wrong = || format!("the reply has no count at `{}`", self.text);
        number.as_u64().map(Some).ok_or_else(wrong)
    }
}

fn item(items: &[Value], at: i64) -> Option<&Value> {
    let at = if at < 0 { at.checked_add(i64::try_from(items.len()).ok()?)? } else { at };
    items.get(usize::try_from(at).ok()?)
}

/// `.name`, `['name']`, `["name"]`, `[0]`, `[-1]`.
fn path_steps(mut path: &str) -> Option<Vec<PlaceStep>> {
    let mut steps = Vec::new();
    while !path.is_empty() {
        if let Some(rest) = path.strip_prefix('.') {
            let end = rest.find(['.', '[']).unwrap_or(rest.len());
            let (name, after) = rest.split_at(end);
            if name.is_empty() || name.contains('*') {
                return None;
            }
            steps.push(PlaceStep::Key(name.to_owned()));
            path = after;
            continue;
        }
        let rest = path.strip_prefix('[')?;
        if let Some(quote @ ('\'' | '"')) = rest.chars().next() {
            let (name, after) = rest[1..].split_once(quote)?;
            steps.push(PlaceStep::Key(name.to_owned()));
            path = after.strip_prefix(']')?;
        } else {
            let (index, after) = rest.split_once(']')?;
            steps.push(PlaceStep::Index(index.trim().parse().ok()?));
            path = after;
        }
    }
    Some(steps)
}

#[cfg(test)]
mod tests {
    use evalrig_core::syntax::json_value;

    use super::*;
    use crate::target::testing::{faults, settings};

    #[test]
    fn places_are_pointers_or_paths() {
        let reply = json_value(r#"{"a":[{"b c":1},{"b c":2}],"x/y":{"0":"zero"}}"#).unwrap();
        let found = |text: &str| {
            let place = JsonPlace::parse(text).unwrap();
            place.find(&reply).map(|value| value.to_json(JsonStyle::Compact))
        };
        for (text, expected) in [
            ("/a/0/b c", Some("1")),
            ("/x~1y/0", Some("\"zero\"")),
            ("$.a[1]['b c']", Some("2")),
            ("$['a'][-1][\"b c\"]", Some("2")),
            ("$.a[5]", None),
            ("$.a[-3]", None),
            ("/a/first", None),
            ("/none", None),
        ] {
            assert_eq!(found(text).as_deref(), expected, "{text}");
        }
        for text in ["a.b", "$a", "$.", "$[*]", "$..a", "$.a[", "$[0", "$.*", ""] {
            assert!(JsonPlace::parse(text).is_err(), "{text}");
        }
    }

    fn agent(tool_calls: Option<&str>) -> ReplyAgent {
        let place = |text: &str| JsonPlace::parse(text).unwrap();
        ReplyAgent {
            endpoint: Endpoint::new(address("http://localhost:1/x", &[]).unwrap()),
            body: Map::new(),
            answer: place("/out"),
            tokens: Some(TokenPlaces {
                input: place("/use/in"),
                output: place("/use/out"),
                cached: None,
            }),
            tool_calls: tool_calls.map(place),
            cost: Some(place("$.usd")),
        }
    }

    #[test]
    fn what_the_reply_says_is_found() {
        let reply = r#"{"out":"Hello","use":{"in":5,"out":2},"usd":0.5,"calls":[{"tool":"Skill","args":{"skill":"csv"}}]}"#;
        let read = agent(Some("/calls")).read(reply).unwrap();
        assert_eq!(read.answer, "Hello");
        assert_eq!((read.tokens.unwrap().total(), read.cost_usd), (7, Some(0.5)));
        assert_eq!(read.calls.unwrap()[0].tool, "Skill");
        assert_eq!(read.skills.used.unwrap()[0].name, "csv");
        let read = agent(None).read(reply).unwrap();
        assert_eq!((read.calls, read.skills.used), (None, None));
        for (calls, count) in
            [("", None), (r#","calls":null"#, Some(0)), (r#","calls":[]"#, Some(0))]
        {
            let read = agent(Some("/calls")).read(&format!(r#"{{"out":"a"{calls}}}"#)).unwrap();
            assert_eq!(read.calls.map(|calls| calls.len()), count, "{calls}");
            assert_eq!(read.skills.used.is_some(), count.is_some(), "{calls}");
        }
        let data = agent(None).read(r#"{"out":{"a":1}}"#).unwrap();
        assert_eq!((data.answer.as_str(), data.tokens), (r#"{"a":1}"#, None));
    }

    #[test]
    fn a_reply_that_lacks_the_answer_is_refused() {
        for (reply, message) in [
            ("<html>", "the reply is not JSON"),
            ("{}", "the reply has no answer at `/out`"),
            (r#"{"out":"a","use":{"in":"x"}}"#, "the reply has no number at `/use/in`"),
            (r#"{"out":"a","use":{"in":1.5}}"#, "the reply has no count at `/use/in`"),
        ] {
            assert_eq!(agent(None).read(reply).unwrap_err(), message, "{reply}");
        }
    }

    #[test]
    fn options_are_read() {
        let read: Http = settings(
            "provider: http, url: \"http://x\", answer: /a, method: PUT, \
             tokens: {input: /i, output: /o}",
        );
        assert_eq!(read.method, Setting::Given(HttpVerb::Put));
        assert_eq!(read.tokens.unwrap().input.raw(), "/i");
        assert_eq!(faults("provider: http, url: \"http://x\""), ["`http` needs `answer`"]);
        assert_eq!(
            faults("provider: http, url: x, answer: /a, tokens: {input: /i}"),
            ["`tokens` needs `output`"]
        );
    }
}
