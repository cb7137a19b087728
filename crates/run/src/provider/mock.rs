//! `mock`: answers written in the targets file.

use std::time::Duration;

use evalrig_core::assertion::{INVALID_REGEX, Searcher, pattern_fault};
use evalrig_core::diagnostic::{Diagnostic, Level};
use evalrig_core::model::{
    Block, Call, FaultKind, JsonStyle, Map, Measurement, Message, Number, Role, Tokens, ToolCall,
    Transcript, Value,
};
use evalrig_core::reader::{Options, ReadResult, Template};
use evalrig_core::syntax::Node;
use evalrig_core::syntax::fields::{Field, Shape};

use crate::agent::{Agent, AttemptFault, Pending, Quote, Request, Unreported, text};
use crate::format::{assistant_messages, uses_in};
use crate::setting::{ConnectContext, FilesMode, Setting, option};

use super::{Provider, ProviderSettings};

pub static PROVIDER: Provider = Provider {
    name: "mock",
    fields: FIELDS,
    retries: 0,
    files: FilesMode::Inline,
    key_variables: &[],
    doc: r#"Answers from the targets file, without calling anything. Use it to try out and test suites.

`pattern` is searched in the last user message; the first entry that matches answers. If `response` is a
list, each call of a case gets the next item, and the last item repeats.

```yaml
targets:
  - name: default
    provider: mock
    response: Hello!
```

```yaml
targets:
  - name: default
    provider: mock
    responses:
      - pattern: "(?i)csv"
        response: "November was the best month."
        tool_calls: [{tool: Skill, args: {skill: csv-analyzer}, output: done, duration_ms: 40}]
        tokens: {input: 120, output: 35, cached: 20}
        cost_usd: 0.002
        duration_ms: 900
      - {pattern: overload, error: the service is down}
      - {pattern: slow, response: [first, second], delay_ms: 20}
      - response: I don't understand.
```
"#,
    read,
};

const COUNT: Shape = Shape::Integer { min: 0, max: u64::MAX };

const ANSWER: Shape = Shape::OneOf(&[Shape::Text, Shape::NonEmptyList(&Shape::Text)]);

static FIELDS: &[Field] = &[
    Field::new("response", ANSWER, "answer to every prompt"),
    Field::new(
        "responses",
        Shape::NonEmptyList(&Shape::Fields(RESPONSE)),
        "answers by pattern; the first match is used",
    ),
];

static RESPONSE: &[Field] = &[
    Field::new(
        "pattern",
        Shape::Text,
        "regular expression, searched in the last user message; default `.*`",
    ),
    Field::new(
        "response",
        ANSWER,
        "answer, or a list with one answer per call; the last one repeats",
    ),
    Field::new("tool_calls", Shape::List(&Shape::Fields(TOOL_CALL)), "tool calls; default: none"),
    Field::new("tokens", Shape::Fields(TOKENS), "tokens used; default: not reported"),
    Field::new(
        "cost_usd",
        Shape::Number { min: 0.0, max: f64::MAX },
        "cost; default: not reported",
    ),
    Field::new("duration_ms", COUNT, "reported duration; default: `delay_ms`, else 0"),
    Field::new("delay_ms", COUNT, "delay before answering"),
    Field::new("error", Shape::Text, "fail the attempt with this message"),
];

static TOOL_CALL: &[Field] = &[
    Field::new("tool", Shape::NonEmptyText, "name of the tool").required(),
    Field::new("args", Shape::Any, "arguments"),
    Field::new("output", Shape::Any, "output"),
    Field::new("duration_ms", COUNT, "duration"),
];

static TOKENS: &[Field] = &[
    Field::new("input", COUNT, "input tokens").required(),
    Field::new("output", COUNT, "output tokens").required(),
    Field::new("cached", COUNT, "cached input tokens"),
];

/// Has at least one response; the first whose pattern matches answers.
#[derive(Debug, Clone, PartialEq)]
struct Mock {
    responses: Vec<MockResponse>,
}

#[derive(Debug, Clone, PartialEq, Default)]
struct MockResponse {
    /// `None` matches everything.
    pattern: Option<Template>,
    answer: MockAnswer<Template>,
    tool_calls: Vec<MockCall>,
    tokens: Option<MockTokens>,
    cost_usd: Option<Setting<Number>>,
    duration_ms: Option<Setting<u64>>,
    delay_ms: Option<Setting<u64>>,
}

/// `T` is a template, or its text once variables are known.
#[derive(Debug, Clone, PartialEq, Default)]
enum MockAnswer<T> {
    /// Never empty. Each call gets the next one, and the last repeats.
    Texts(Vec<T>),
    /// Only tools were called.
    #[default]
    Nothing,
    Error(T),
}

#[derive(Debug, Clone, PartialEq)]
struct MockCall {
    tool: Template,
    /// Strings in it keep their references, as in `output`.
    args: Option<Value>,
    output: Option<Value>,
    duration_ms: Option<Setting<u64>>,
}

#[derive(Debug, Clone, PartialEq)]
struct MockTokens {
    input: Setting<u64>,
    output: Setting<u64>,
    cached: Option<Setting<u64>>,
}

impl ProviderSettings for Mock {
    fn connect(&self, context: &ConnectContext<'_>) -> Result<Box<dyn Agent>, Diagnostic> {
        let responses = self.responses.iter().map(|one| prepare(one, context));
        Ok(Box::new(MockAgent { responses: responses.collect::<Result<_, _>>()? }))
    }
}

fn read(options: &mut Options<'_, '_, '_>) -> ReadResult<Box<dyn ProviderSettings>> {
    let responses = match (options.get("response"), options.get("responses")) {
        (None, None) => {
            let help = "add `response`, or `responses` with a pattern each";
            let message = "`mock` needs `response` or `responses`";
            return Err(options.missing(options.head(), message, help));
        }
        (Some(first), Some(second)) => {
            let help = "move `response` to the last entry of `responses`";
            return Err(options.conflict(&first, &second, help));
        }
        (Some(only), None) => vec![MockResponse {
            answer: MockAnswer::Texts(read_texts(options, only.value)?),
            ..MockResponse::default()
        }],
        (None, Some(list)) => {
            let responses = options.nested_list("responses", RESPONSE, read_response)?;
            let responses = responses.unwrap_or_default();
            if responses.is_empty() {
                let help = "add an entry such as `- {response: Hello}`";
                return Err(options.missing(list.value.span(), "`responses` is empty", help));
            }
            responses
        }
    };
    Ok(Box::new(Mock { responses }))
}

fn read_response(options: &mut Options<'_, '_, '_>) -> ReadResult<MockResponse> {
    let pattern = read_pattern(options);
    let answer = read_answer(options);
    let tool_calls = options.nested_list("tool_calls", TOOL_CALL, read_call);
    let tokens = options.nested("tokens", TOKENS, read_tokens);
    let cost_usd = option::amount(options, "cost_usd");
    let duration_ms = option::count(options, "duration_ms");
    let delay_ms = option::count(options, "delay_ms");
    Ok(MockResponse {
        pattern: pattern?,
        answer: answer?,
        tool_calls: tool_calls?.unwrap_or_default(),
        tokens: tokens?,
        cost_usd: cost_usd?,
        duration_ms: duration_ms?,
        delay_ms: delay_ms?,
    })
}

fn read_answer(options: &mut Options<'_, '_, '_>) -> ReadResult<MockAnswer<Template>> {
    match (options.get("response"), options.get("error")) {
        (Some(first), Some(second)) => {
            let help = "a failed attempt has no answer: keep one of them";
            Err(options.conflict(&first, &second, help))
        }
        (Some(response), None) => read_texts(options, response.value).map(MockAnswer::Texts),
        (None, Some(error)) => {
            option::template_of(options, "error", error.value).map(MockAnswer::Error)
        }
        (None, None) if options.has("tool_calls") => Ok(MockAnswer::Nothing),
        (None, None) => {
            let message = "an item of `responses` needs `response`, `tool_calls` or `error`";
            let span = options.head();
            Err(options.missing(span, message, "add `response`"))
        }
    }
}

/// One text, or a list of them.
fn read_texts<'t>(options: &mut Options<'_, '_, 't>, node: Node<'t>) -> ReadResult<Vec<Template>> {
    if !node.is_sequence() {
        return Ok(vec![option::template_of(options, "response", node)?]);
    }
    if node.items().len() == 0 {
        let help = "give at least one answer";
        return Err(options.missing(node.span(), "`response` is empty", help));
    }
    option::templates(options, "response")
}

fn read_call(options: &mut Options<'_, '_, '_>) -> ReadResult<MockCall> {
    let tool = option::required_template(options, "tool");
    let duration_ms = option::count(options, "duration_ms");
    let mut value = |name| Some(options.reader.value(name, options.fields.get(name)?.value));
    Ok(MockCall {
        tool: tool?,
        args: value("args"),
        output: value("output"),
        duration_ms: duration_ms?,
    })
}

fn read_tokens(options: &mut Options<'_, '_, '_>) -> ReadResult<MockTokens> {
    let input = option::required(options, "input", option::count);
    let output = option::required(options, "output", option::count);
    let cached = option::count(options, "cached");
    Ok(MockTokens { input: input?, output: output?, cached: cached? })
}

/// A pattern from a variable is checked when the target is used.
fn read_pattern(options: &mut Options<'_, '_, '_>) -> ReadResult<Option<Template>> {
    let pattern = option::template(options, "pattern")?;
    if let Some(template) = &pattern
        && let Some(text) = template.fixed()
        && let Some(reason) = pattern_fault(&text)
    {
        return Err(options.report(invalid_pattern(template, &reason)));
    }
    Ok(pattern)
}

fn invalid_pattern(pattern: &Template, reason: &str) -> Diagnostic {
    let message = format!("the pattern does not compile: {reason}");
    Diagnostic::new(&INVALID_REGEX, pattern.span(), message)
}

/// A response with its variables resolved.
#[derive(Debug)]
struct PreparedResponse {
    /// `None` matches everything.
    pattern: Option<Searcher>,
    answer: MockAnswer<String>,
    calls: Vec<Call>,
    tokens: Option<Tokens>,
    cost_usd: Option<f64>,
    duration_ms: u64,
    delay: Duration,
}

#[derive(Debug)]
struct MockAgent {
    responses: Vec<PreparedResponse>,
}

fn prepare(
    response: &MockResponse,
    context: &ConnectContext<'_>,
) -> Result<PreparedResponse, Diagnostic> {
    let delay = context.count(response.delay_ms.as_ref())?.unwrap_or(0);
    let duration = context.count(response.duration_ms.as_ref())?;
    let cost = response.cost_usd.as_ref();
    Ok(PreparedResponse {
        pattern: pattern(response, context)?,
        answer: match &response.answer {
            MockAnswer::Texts(texts) => MockAnswer::Texts(context.texts(texts)?),
            MockAnswer::Nothing => MockAnswer::Nothing,
            MockAnswer::Error(text) => MockAnswer::Error(context.text(text)?),
        },
        calls: calls(&response.tool_calls, context)?,
        tokens: tokens(response, context)?,
        cost_usd: cost.map(|cost| context.amount(cost)).transpose()?,
        duration_ms: duration.unwrap_or(delay),
        delay: Duration::from_millis(delay),
    })
}

fn pattern(
    response: &MockResponse,
    context: &ConnectContext<'_>,
) -> Result<Option<Searcher>, Diagnostic> {
    let Some(template) = &response.pattern else {
        return Ok(None);
    };
    let searcher = Searcher::new(&context.text(template)?);
    searcher.map(Some).map_err(|reason| invalid_pattern(template, &reason).level(Level::BlocksRun))
}

fn tokens(
    response: &MockResponse,
    context: &ConnectContext<'_>,
) -> Result<Option<Tokens>, Diagnostic> {
    let Some(tokens) = &response.tokens else {
        return Ok(None);
    };
    Ok(Some(Tokens {
        input: context.integer(&tokens.input, 0, u64::MAX)?,
        output: context.integer(&tokens.output, 0, u64::MAX)?,
        cached: context.count(tokens.cached.as_ref())?.unwrap_or(0),
    }))
}

fn calls(written: &[MockCall], context: &ConnectContext<'_>) -> Result<Vec<Call>, Diagnostic> {
    let value = |value: &Option<Value>| value.as_ref().map(|one| context.value(one)).transpose();
    let calls = (1..).zip(written).map(|(number, call)| {
        let args = value(&call.args)?.unwrap_or_else(|| Map::new().into());
        Ok(Call {
            output: value(&call.output)?,
            duration_ms: context.count(call.duration_ms.as_ref())?,
            ..Call::new(format!("call_{number}"), context.text(&call.tool)?, args)
        })
    });
    calls.collect()
}

const NO_TOKENS: Unreported = Unreported {
    what: Measurement::Tokens,
    cause: "no response has `tokens`",
    remedy: "add `tokens` to its responses",
};
const NO_COST: Unreported = Unreported {
    what: Measurement::Cost,
    cause: "no response has `cost_usd`",
    remedy: "add `cost_usd` to its responses",
};

impl Agent for MockAgent {
    fn answer<'a>(&'a self, request: &'a Request<'a>) -> Pending<'a> {
        Box::pin(self.respond(request))
    }

    fn may_be_silent(&self) -> bool {
        true
    }

    fn unreported(&self) -> Vec<Unreported> {
        let without = |known: &dyn Fn(&PreparedResponse) -> bool, missing: Unreported| {
            (!self.responses.iter().any(known)).then_some(missing)
        };
        let tokens = without(&|one| one.tokens.is_some(), NO_TOKENS);
        tokens.into_iter().chain(without(&|one| one.cost_usd.is_some(), NO_COST)).collect()
    }

    /// Without `cost_usd`, a mock costs nothing.
    fn quote(&self) -> Quote {
        let costs = self.responses.iter().map(|one| one.cost_usd.unwrap_or(0.0));
        Quote::Call {
            low: costs.clone().fold(f64::INFINITY, f64::min),
            high: costs.fold(0.0, f64::max),
        }
    }
}

impl MockAgent {
    async fn respond(&self, request: &Request<'_>) -> Result<Transcript, AttemptFault> {
        let response = self.choose(request)?;
        if !response.delay.is_zero() {
            let wait = tokio::time::timeout(request.timeout, tokio::time::sleep(response.delay));
            if wait.await.is_err() {
                let seconds = request.timeout.as_secs();
                let message = format!("no answer after {seconds} s");
                return Err(AttemptFault::new(FaultKind::Timeout, message));
            }
        }
        let text = match &response.answer {
            MockAnswer::Error(text) => return Err(AttemptFault::new(FaultKind::Reply, text)),
            MockAnswer::Nothing => None,
            MockAnswer::Texts(texts) => {
                let at = request.call.min(texts.len() - 1);
                Some(texts[at].as_str())
            }
        };
        let mut transcript = Transcript::of_messages(messages(&response.calls, text));
        transcript.calls = Some(response.calls.clone());
        transcript.skills.used = uses_in(&response.calls);
        transcript.tokens = response.tokens;
        transcript.cost_usd = response.cost_usd;
        transcript.duration_ms = Some(response.duration_ms);
        transcript.session.llm_calls = Some(assistant_messages(&transcript.messages));
        Ok(transcript)
    }

    /// The first response whose pattern matches the question.
    fn choose(&self, request: &Request<'_>) -> Result<&PreparedResponse, AttemptFault> {
        let said = text::asked_text(request)?;
        for response in &self.responses {
            let Some(pattern) = &response.pattern else {
                return Ok(response);
            };
            if pattern.finds(&said)? {
                return Ok(response);
            }
        }
        let message = "no pattern of the mock target matches the prompt";
        Err(AttemptFault::new(FaultKind::NoMatch, message))
    }
}

/// The calls, their results, then the answer.
fn messages(calls: &[Call], text: Option<&str>) -> Vec<Message> {
    let mut messages = Vec::with_capacity(calls.len() + 2);
    if !calls.is_empty() {
        let mut asking = Message::new(Role::Assistant, Vec::new());
        asking.tool_calls = calls.iter().map(tool_call).collect();
        messages.push(asking);
        messages.extend(calls.iter().map(tool_result));
    }
    if let Some(text) = text {
        messages.push(Message::new(Role::Assistant, vec![Block::Text(text.to_owned())]));
    }
    messages
}

fn tool_call(call: &Call) -> ToolCall {
    ToolCall {
        id: call.id.clone(),
        name: call.tool.clone(),
        arguments: call.args.to_json(JsonStyle::Compact),
    }
}

fn tool_result(call: &Call) -> Message {
    let text = match &call.output {
        None => String::new(),
        Some(Value::String(text)) => text.clone(),
        Some(other) => other.to_json(JsonStyle::Compact),
    };
    let mut message = Message::new(Role::Tool, vec![Block::Text(text)]);
    message.tool_call_id = Some(call.id.clone());
    message.name = Some(call.tool.clone());
    message
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::target::testing::{self, faults, settings};

    fn responses(list: &str) -> Vec<MockResponse> {
        settings::<Mock>(&format!("provider: mock, responses: {list}")).responses
    }

    fn texts(answer: &MockAnswer<Template>) -> Vec<&str> {
        match answer {
            MockAnswer::Texts(texts) => texts.iter().map(Template::raw).collect(),
            _ => Vec::new(),
        }
    }

    #[test]
    fn a_single_response_fits_everything() {
        let mock: Mock = settings("provider: mock, response: \"Hi ${{ WHO }}\"");
        assert_eq!(mock.responses.len(), 1);
        assert_eq!(mock.responses[0].pattern, None);
        assert_eq!(texts(&mock.responses[0].answer), ["Hi ${{ WHO }}"]);
    }

    #[test]
    fn an_entry_has_all_that_a_transcript_can_have() {
        let read = responses(
            "[{pattern: a, response: [x, y], tool_calls: [{tool: T, args: {k: 1}, output: [2]}], \
             tokens: {input: 1, output: 2}, cost_usd: 0.1, duration_ms: 5, delay_ms: 0}]",
        );
        let first = &read[0];
        assert_eq!(texts(&first.answer), ["x", "y"]);
        assert_eq!(first.tool_calls[0].output, Some(Value::List(vec![2u64.into()])));
        assert_eq!(first.tool_calls[0].duration_ms, None);
        assert_eq!(first.tokens.as_ref().unwrap().output, Setting::Given(2));
        let cost = first.cost_usd.as_ref().unwrap();
        assert!(matches!(cost, Setting::Given(cost) if cost.text() == "0.1"));
    }

    #[test]
    fn errors_and_calls_alone_are_answers() {
        let read = responses("[{error: down}, {tool_calls: [{tool: T}]}, {response: \"\"}]");
        assert!(matches!(read[0].answer, MockAnswer::Error(_)));
        assert_eq!(read[1].answer, MockAnswer::Nothing);
        assert_eq!(texts(&read[2].answer), [""]);
    }

    #[test]
    fn faults_have_names_and_places() {
        for (options, message) in [
            ("", "`mock` needs `response` or `responses`"),
            (
                ", response: x, responses: [{response: y}]",
                "`response` and `responses` exclude each other",
            ),
            (", responses: []", "`responses` is empty"),
            (", responses: x", "`responses` takes a list of mappings, found a string"),
            (", responses: [x]", "an item of `responses` is a mapping, found a string"),
            (
                ", responses: [{pattern: x}]",
                "an item of `responses` needs `response`, `tool_calls` or `error`",
            ),
            (", responses: [{response: x, error: y}]", "`response` and `error` exclude each other"),
            (", response: []", "`response` is empty"),
            (", response: 3", "`response` takes a string, found a number"),
            (", response: [x, 3]", "an item of `response` is a string, found a number"),
            (
                ", responses: [{response: x, tool_calls: [{args: {}}]}]",
                "an item of `tool_calls` needs `tool`",
            ),
            (", responses: [{response: x, tokens: {input: 1}}]", "`tokens` needs `output`"),
            (
                ", responses: [{response: x, cost_usd: -1}]",
                "`cost_usd` takes a number of at least 0, found -1",
            ),
            (", responses: [{response: x, patern: y}]", "unknown field `patern`"),
        ] {
            assert_eq!(faults(&format!("provider: mock{options}")), [message], "{options}");
        }
    }

    #[test]
    fn a_pattern_must_compile_unless_a_variable_holds_it() {
        let names = |pattern: &str| {
            let entry = format!(", responses: [{{pattern: \"{pattern}\", response: x}}]");
            testing::read(&format!("targets: [{{name: a, provider: mock{entry}}}]")).names()
        };
        assert_eq!(names("a("), ["invalid-regex"]);
        assert_eq!(names("(?<!x)a"), Vec::<&str>::new());
        assert_eq!(names("${{ PATTERN }}("), Vec::<&str>::new());
    }
}
