//! Answers that stand in the targets file.

use std::time::Duration;

use evalrig_core::assertion::{INVALID_REGEX, Searcher};
use evalrig_core::diagnostic::{Diagnostic, Level};
use evalrig_core::model::{
    Block, Call, FaultKind, JsonStyle, Message, Role, Tokens, ToolCall, Transcript, Value,
};

use crate::provider::mock::{Answer, Mock, MockCall, Response};

use super::request::{Failure, Request};
use super::{Agent, Pending, Quote};
use crate::setting::ConnectContext;

/// A response whose variables are known.
#[derive(Debug)]
struct Ready {
    /// `None` fits everything.
    pattern: Option<Searcher>,
    answer: ReadyAnswer,
    calls: Vec<Call>,
    tokens: Option<Tokens>,
    cost_usd: Option<f64>,
    duration_ms: u64,
    delay: Duration,
}

#[derive(Debug)]
enum ReadyAnswer {
    /// Never empty.
    Texts(Vec<String>),
    Nothing,
    Error(String),
}

#[derive(Debug)]
struct MockAgent {
    responses: Vec<Ready>,
}

pub(crate) fn connect(
    mock: &Mock,
    connect: &ConnectContext<'_>,
) -> Result<Box<dyn Agent>, Diagnostic> {
    let responses = mock.responses.iter();
    let responses = responses.map(|one| ready(one, connect));
    Ok(Box::new(MockAgent {
        responses: responses.collect::<Result<_, _>>()?,
    }))
}

fn ready(response: &Response, connect: &ConnectContext<'_>) -> Result<Ready, Diagnostic> {
    let delay = match &response.delay_ms {
        Some(setting) => connect.integer(setting, 0, u64::MAX)?,
        None => 0,
    };
    Ok(Ready {
        pattern: pattern(response, connect)?,
        answer: match &response.answer {
            Answer::Texts(texts) => ReadyAnswer::Texts(connect.texts(texts)?),
            Answer::Nothing => ReadyAnswer::Nothing,
            Answer::Error(text) => ReadyAnswer::Error(connect.text(text)?),
        },
        calls: calls(&response.tool_calls, connect)?,
        tokens: tokens(response, connect)?,
        cost_usd: match &response.cost_usd {
            Some(setting) => Some(connect.amount(setting)?),
            None => None,
        },
        duration_ms: match &response.duration_ms {
            Some(setting) => connect.integer(setting, 0, u64::MAX)?,
            None => delay,
        },
        delay: Duration::from_millis(delay),
    })
}

fn pattern(
    response: &Response,
    connect: &ConnectContext<'_>,
) -> Result<Option<Searcher>, Diagnostic> {
    let Some(template) = &response.pattern else {
        return Ok(None);
    };
    let text = connect.text(template)?;
    match Searcher::new(&text) {
        Ok(searcher) => Ok(Some(searcher)),
        Err(reason) => {
            let message = format!("the pattern does not compile: {reason}");
            let fault = Diagnostic::new(&INVALID_REGEX, template.span(), message);
            Err(fault.level(Level::BlocksRun))
        }
    }
}

fn tokens(response: &Response, connect: &ConnectContext<'_>) -> Result<Option<Tokens>, Diagnostic> {
    let Some(tokens) = &response.tokens else {
        return Ok(None);
    };
    Ok(Some(Tokens {
        input: connect.integer(&tokens.input, 0, u64::MAX)?,
        output: connect.integer(&tokens.output, 0, u64::MAX)?,
        cached: match &tokens.cached {
            Some(setting) => connect.integer(setting, 0, u64::MAX)?,
            None => 0,
        },
    }))
}

fn calls(written: &[MockCall], connect: &ConnectContext<'_>) -> Result<Vec<Call>, Diagnostic> {
    let numbered = written.iter().enumerate();
    let calls = numbered.map(|(at, call)| {
        Ok(Call {
            id: format!("call_{}", at + 1),
            tool: connect.text(&call.tool)?,
            args: match &call.args {
                Some(args) => connect.value(args)?,
                None => Value::Map(Default::default()),
            },
            output: match &call.output {
                Some(output) => Some(connect.value(output)?),
                None => None,
            },
            duration_ms: match &call.duration_ms {
                Some(setting) => Some(connect.integer(setting, 0, u64::MAX)?),
                None => None,
            },
        })
    });
    calls.collect()
}

impl Agent for MockAgent {
    fn answer<'a>(&'a self, request: &'a Request<'a>) -> Pending<'a> {
        Box::pin(self.respond(request))
    }

    /// A mock that does not say what it costs costs nothing.
    fn quote(&self) -> Quote {
        let costs = self.responses.iter().map(|one| one.cost_usd.unwrap_or(0.0));
        Quote::Call {
            low: costs.clone().fold(f64::INFINITY, f64::min),
            high: costs.fold(0.0, f64::max),
        }
    }
}

impl MockAgent {
    async fn respond(&self, request: &Request<'_>) -> Result<Transcript, Failure> {
        let ready = self.choose(request)?;
        if !ready.delay.is_zero() {
            let wait = tokio::time::timeout(request.timeout, tokio::time::sleep(ready.delay));
            if wait.await.is_err() {
                let seconds = request.timeout.as_secs();
                let message = format!("no answer after {seconds} s");
                return Err(Failure::new(FaultKind::Timeout, message));
            }
        }
        let text = match &ready.answer {
            ReadyAnswer::Error(text) => return Err(Failure::new(FaultKind::Reply, text)),
            ReadyAnswer::Nothing => None,
            ReadyAnswer::Texts(texts) => {
                let at = request.call.min(texts.len() - 1);
                Some(texts[at].as_str())
            }
        };
        let mut transcript = Transcript::of_messages(messages(&ready.calls, text));
        transcript.calls = Some(ready.calls.clone());
        transcript.tokens = ready.tokens;
        transcript.cost_usd = ready.cost_usd;
        transcript.duration_ms = Some(ready.duration_ms);
        Ok(transcript)
    }

    /// The first response whose pattern fits what is asked.
    fn choose(&self, request: &Request<'_>) -> Result<&Ready, Failure> {
        let said = super::text::asked_text(request)?;
        for ready in &self.responses {
            let Some(pattern) = &ready.pattern else {
                return Ok(ready);
            };
            if pattern.finds(&said)? {
                return Ok(ready);
            }
        }
        let message = "no pattern of the mock target fits the prompt";
        Err(Failure::new(FaultKind::NoMatch, message))
    }
}

/// The calls, what they gave back, then the answer.
fn messages(calls: &[Call], text: Option<&str>) -> Vec<Message> {
    let mut messages = Vec::with_capacity(calls.len() + 2);
    if !calls.is_empty() {
        let mut asking = Message::new(Role::Assistant, Vec::new());
        asking.tool_calls = calls.iter().map(tool_call).collect();
        messages.push(asking);
        messages.extend(calls.iter().map(tool_result));
    }
    if let Some(text) = text {
        messages.push(Message::new(
            Role::Assistant,
            vec![Block::Text(text.to_owned())],
        ));
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
