//! Targets over HTTP, asked for real: requests as they arrive at a service, replies and faults as
//! they come back. Only loopback is used.

use std::time::Duration;

use camino::Utf8Path;
use evalrig_core::diagnostic::{Diagnostic, Diagnostics};
use evalrig_core::model::{FaultKind, JsonStyle, Map, Message, Number, Role, Tokens, Transcript};
use evalrig_core::reader::World;
use evalrig_core::source::{MemoryFiles, Reach, Sources, Variables};
use evalrig_run::agent::{Agent, AttemptFault, Purpose, Request, Retry};
use evalrig_run::execute::retry::attempts;
use evalrig_run::target::{Targets, read_targets};
use fake_model::{FakeModel, Reply, Rule, Script, Usage};
use serde_json::json;

const KEY: &str = "sk-test-never-shown-0123";

fn targets(entry: &str) -> Targets {
    let path = Utf8Path::new("/p/.evalrig/targets.yaml");
    let text = format!("targets: [{{name: a, {entry}}}]\n");
    let files = MemoryFiles::new().with(path.as_str(), text);
    let environment = Variables::default();
    let world = World { files: &files, environment: &environment, working_directory: "/p".into() };
    let (mut sources, mut out) = (Sources::new(), Diagnostics::new());
    let targets = read_targets(world, &mut sources, &mut out, path, "/p".into(), Reach::Anywhere);
    assert_eq!(out.into_vec(), []);
    targets.unwrap()
}

/// The agent of a target; the variables `KEY` and those of `more` are set.
fn try_agent(entry: &str, more: &[(&str, &str)]) -> Result<Box<dyn Agent>, Diagnostic> {
    let targets = targets(entry);
    let target = targets.get("a").unwrap();
    let variable = |name: &str| {
        let mut set = more.iter().chain([&("KEY", KEY)]);
        let found = set.find(|(known, _)| *known == name);
        found.map(|(_, value)| (*value).to_owned())
    };
    target.connect(&target.context(targets.base(), &MemoryFiles::new(), &variable))
}

fn agent(entry: &str) -> Box<dyn Agent> {
    try_agent(entry, &[]).unwrap()
}

fn openai(server: &FakeModel, more: &str) -> Box<dyn Agent> {
    agent(&format!(
        "provider: openai, base_url: \"{}/v1\", api_key: \"${{{{ KEY }}}}\", model: m1{more}",
        server.url()
    ))
}

fn anthropic(server: &FakeModel, more: &str) -> Box<dyn Agent> {
    agent(&format!(
        "provider: anthropic, base_url: \"{}/\", api_key: \"${{{{ KEY }}}}\", model: m2{more}",
        server.url()
    ))
}

struct Asked<'a> {
    messages: &'a [Message],
    config: Option<&'a Map>,
    timeout: Duration,
}

impl Default for Asked<'_> {
    fn default() -> Self {
        Self { messages: &[], config: None, timeout: Duration::from_secs(20) }
    }
}

fn with_request<T>(asked: &Asked<'_>, ask: impl FnOnce(&Request<'_>) -> T) -> T {
    let files = MemoryFiles::new();
    let hello = [Message::user("hello")];
    ask(&Request {
        purpose: Purpose::Case,
        suite: "demo",
        test_id: "t",
        trial: 1,
        attempt: 1,
        call: 0,
        messages: match asked.messages {
            [] => &hello,
            messages => messages,
        },
        config: asked.config,
        timeout: asked.timeout,

        attachments: evalrig_run::setting::FilesMode::Inline,
        files: &files,
        scratch: "/tmp".into(),
        home: None,
        env: &[],
        place: None,
        confinement: None,
        hidden: &[],
        stop: None,
        conversation: None,
    })
}

fn block_on<T>(future: impl Future<Output = T>) -> T {
    let mut runtime = tokio::runtime::Builder::new_current_thread();
    runtime.enable_all().build().unwrap().block_on(future)
}

fn ask_with(agent: &dyn Agent, asked: &Asked<'_>) -> Result<Transcript, AttemptFault> {
    with_request(asked, |request| block_on(agent.answer(request)))
}

fn ask(agent: &dyn Agent) -> Result<Transcript, AttemptFault> {
    ask_with(agent, &Asked::default())
}

fn serve(reply: Reply) -> FakeModel {
    FakeModel::start(Script::new().otherwise(reply))
}

fn failure(reply: Reply) -> AttemptFault {
    let server = serve(reply);
    let failure = ask(&*openai(&server, "")).unwrap_err();
    let shown = format!("{failure:?}");
    assert!(!shown.contains(KEY), "{shown}");
    failure
}

#[test]
fn chat_completions_are_asked_and_read() {
    let usage = Usage { input: 300, cached: 60, output: 34, reasoning: 5 };
    let server = serve(Reply::text("Paris").usage(usage));
    let agent = openai(
        &server,
        ", config: {temperature: 0.20, seed: 1, stream: true}, headers: {X-Team: evals}, \
         price: {input: 2, output: 10, cached: 1}",
    );
    let mut config = Map::new();
    config.insert("seed", Number::parse("7").unwrap());
    let asked = Asked { config: Some(&config), ..Asked::default() };
    let transcript = ask_with(&*agent, &asked).unwrap();
    assert_eq!(transcript.answer, "Paris");
    assert_eq!(transcript.calls, Some(Vec::new()));
    let tokens = Tokens { input: 300, output: 34, cached: 60 };
    assert_eq!(transcript.tokens, Some(tokens));
    assert_eq!(transcript.model.as_deref(), Some("m1"));
    let cost = (240.0 * 2.0 + 60.0 + 340.0) / 1e6;
    assert!((transcript.cost_usd.unwrap() - cost).abs() < 1e-12);
    assert!(transcript.duration_ms.is_some());

    let requests = server.requests();
    assert_eq!(requests.len(), 1);
    assert_eq!(requests[0].path, "/v1/chat/completions");
    let bearer = format!("Bearer {KEY}");
    assert_eq!(requests[0].header("authorization"), Some(bearer.as_str()));
    assert_eq!(requests[0].header("x-team"), Some("evals"));
    let expected = json!({
        "model": "m1",
        "messages": [{"role": "user", "content": "hello"}],
        "temperature": 0.20,
        "seed": 7,
    });
    assert_eq!(requests[0].body, expected);
}

#[test]
fn azure_is_asked_at_its_deployment() {
    let server = serve(Reply::text("ok"));
    for (slash, version) in [("", "2024-10-21"), ("/", "v 2")] {
        let entry = format!(
            "provider: azure, endpoint: \"{}{slash}\", deployment: my gpt, api_version: \"{version}\"",
            server.url()
        );
        let agent = try_agent(&entry, &[("AZURE_OPENAI_API_KEY", KEY)]).unwrap();
        assert_eq!(ask(&*agent).unwrap().answer, "ok");
    }
    let requests = server.requests();
    let path = "/openai/deployments/my%20gpt/chat/completions?api-version=";
    assert_eq!(requests[0].path, format!("{path}2024-10-21"));
    assert_eq!(requests[1].path, format!("{path}v+2"));
    assert_eq!(requests[0].header("api-key"), Some(KEY));
    assert_eq!(requests[0].header("authorization"), None);
}

#[test]
fn messages_of_anthropic_are_asked_and_read() {
    let usage = Usage { input: 300, cached: 60, output: 34, reasoning: 0 };
    let server = serve(Reply::text("Paris").usage(usage));
    let agent = anthropic(&server, ", config: {max_tokens: 99}");
    let system = Message::new(Role::System, Message::user("Be brief.").content);
    let asked =
        Asked { messages: &[system, Message::user("a"), Message::user("b")], ..Asked::default() };
    let transcript = ask_with(&*agent, &asked).unwrap();
    assert_eq!(transcript.answer, "Paris");
    let tokens = Tokens { input: 300, output: 34, cached: 60 };
    assert_eq!(transcript.tokens, Some(tokens));
    // The price of a private server is unknown.
    assert_eq!(transcript.cost_usd, None);

    let requests = server.requests();
    assert_eq!(requests[0].path, "/v1/messages");
    assert_eq!(requests[0].header("x-api-key"), Some(KEY));
    let version = requests[0].header("anthropic-version");
    assert_eq!(version, Some("2023-06-01"));
    let parts = json!([{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]);
    let expected = json!({
        "model": "m2",
        "max_tokens": 99,
        "system": "Be brief.",
        "messages": [{"role": "user", "content": parts}],
    });
    assert_eq!(requests[0].body, expected);
}

#[test]
fn tool_calls_are_known() {
    let reply = || Reply::tool("Read", json!({"path": "a"})).and_tool("List", json!({}));
    let server = serve(reply());
    for agent in [openai(&server, ""), anthropic(&server, "")] {
        let transcript = ask(&*agent).unwrap();
        let calls = transcript.calls.unwrap();
        let shown = calls.iter().map(|call| {
            let args = call.args.to_json(JsonStyle::Compact);
            format!("{} {args}", call.tool)
        });
        let expected = [r#"Read {"path":"a"}"#, "List {}"];
        assert_eq!(shown.collect::<Vec<_>>(), expected);
        assert!(calls.iter().all(|call| !call.id.is_empty()));
        assert_eq!(transcript.answer, "");
        let [message] = transcript.messages.as_slice() else {
            panic!("{:?}", transcript.messages);
        };
        assert_eq!(message.role, Role::Assistant);
        assert_eq!(message.tool_calls[0].arguments, r#"{"path":"a"}"#);
        assert_eq!(message.tool_calls[1].id, calls[1].id);
    }
}

#[test]
fn an_answer_cut_short_is_an_answer() {
    let choice = json!({"message": {"content": "half"}, "finish_reason": "length"});
    let body = json!({"choices": [choice], "model": "served", "unknown": {}});
    let server = serve(Reply::status(200).body(body));
    let transcript = ask(&*openai(&server, "")).unwrap();
    assert_eq!(transcript.answer, "half");
    assert_eq!(transcript.tokens, None);
    assert_eq!(transcript.cost_usd, None);
    assert_eq!(transcript.model.as_deref(), Some("served"));
}

#[test]
fn connections_are_used_again() {
    let server = serve(Reply::text("ok"));
    let agent = openai(&server, "");
    with_request(&Asked::default(), |request| {
        block_on(async {
            for _ in 0..10 {
                agent.answer(request).await.unwrap();
            }
        });
    });
    assert_eq!((server.requests().len(), server.connections()), (10, 1));
}

#[test]
fn many_at_once_open_no_more_connections_than_they_are() {
    let server = serve(Reply::text("ok").delay(Duration::from_millis(20)));
    let agent = openai(&server, "");
    with_request(&Asked::default(), |request| {
        block_on(async {
            for _ in 0..3 {
                let mut pending: Vec<_> = (0..64).map(|_| agent.answer(request)).collect();
                // All are polled together: the first waits for the others to be sent.
                std::future::poll_fn(|context| {
                    pending.retain_mut(|one| match one.as_mut().poll(context) {
                        std::task::Poll::Ready(result) => {
                            result.unwrap();
                            false
                        }
                        std::task::Poll::Pending => true,
                    });
                    if pending.is_empty() {
                        std::task::Poll::Ready(())
                    } else {
                        std::task::Poll::Pending
                    }
                })
                .await;
            }
        });
    });
    assert_eq!(server.requests().len(), 192);
    assert!(server.connections() <= 70, "{}", server.connections());
}

#[test]
fn passing_faults_of_the_service_may_be_tried_again() {
    for status in [408, 409, 429, 500, 502, 503, 529] {
        let failure = failure(Reply::status(status));
        assert_eq!(failure.fault.kind, FaultKind::Http);
        assert_eq!(failure.retry, Retry::Soon, "{status}");
        let start = format!("HTTP {status}");
        assert!(failure.fault.message.starts_with(&start));
    }
    let busy = failure(Reply::status(429).header("retry-after", "3"));
    assert_eq!(busy.retry, Retry::After(Duration::from_secs(3)));
    let busy = failure(Reply::status(529).header("retry-after-ms", "1500"));
    assert_eq!(busy.retry, Retry::After(Duration::from_millis(1500)));
}

#[test]
fn lasting_faults_of_the_service_are_final() {
    for status in [302, 400, 401, 402, 403, 404, 422] {
        let failure = failure(Reply::status(status).header("location", "/elsewhere"));
        assert_eq!(failure.fault.kind, FaultKind::Http);
        assert_eq!(failure.retry, Retry::Never, "{status}");
    }
    let error = json!({"error": {"message": "gone", "code": "insufficient_quota"}});
    let spent = Reply::status(429).header("retry-after", "1").body(error);
    assert_eq!(failure(spent).retry, Retry::Never);
}

#[test]
fn a_key_that_the_service_repeats_is_not_shown() {
    let said = format!("Incorrect API key provided: {KEY}.");
    let error = json!({"error": {"message": said, "type": "invalid_request_error"}});
    let refused = failure(Reply::status(401).header("x-request-id", "req_9").body(error.clone()));
    let message = "HTTP 401 Unauthorized: Incorrect API key provided: ***. (request req_9)";
    assert_eq!(refused.fault.message, message);
    let odd = failure(Reply::status(200).body(error));
    assert_eq!(odd.fault.kind, FaultKind::Reply);
    let start = "the service reports `Incorrect API key provided: ***.`: {";
    assert!(odd.fault.message.starts_with(start), "{}", odd.fault.message);
    for before in 170..200 {
        let long = format!("{}{KEY}", "x".repeat(before + 300));
        let long = failure(Reply::status(500).body(json!({"error": {"message": long}})));
        assert!(!long.fault.message.contains("sk-"), "{}", long.fault.message);
        let long = format!("{}{KEY}", "x".repeat(before));
        let long = failure(Reply::status(200).body(json!({"error": {"message": long}})));
        assert!(!long.fault.message.contains("sk-"), "{}", long.fault.message);
    }
    let server = serve(Reply::close());
    let agent = openai(&server, ", config: {user: \"${{ KEY }}\"}");
    let shown = format!("{agent:?}");
    assert!(!shown.contains(KEY), "{shown}");
}

#[test]
fn what_is_no_reply_is_named_with_its_beginning() {
    let garbage = failure(Reply::garbage());
    assert_eq!(garbage.fault.kind, FaultKind::Reply);
    assert_eq!(garbage.retry, Retry::Never);
    let message = "the reply is not JSON: <html>not JSON</html>";
    assert_eq!(garbage.fault.message, message);
    let empty = failure(Reply::status(200).body(json!({"choices": []})));
    let message = r#"the reply has no `choices`: {"choices":[]}"#;
    assert_eq!(empty.fault.message, message);
    let list = failure(Reply::status(200).body(json!([])));
    assert_eq!(list.fault.message, "the reply is not a JSON object: []");
}

#[test]
fn broken_connections_may_be_tried_again() {
    let closed = failure(Reply::close());
    assert_eq!(closed.fault.kind, FaultKind::Network);
    assert_eq!(closed.retry, Retry::Soon);
    let address = {
        let server = serve(Reply::close());
        server.url()
    };
    let entry = format!("provider: openai, model: m, base_url: \"{address}/v1?key=in-the-query\"");
    let refused = ask(&*agent(&entry)).unwrap_err();
    assert_eq!(refused.fault.kind, FaultKind::Network);
    assert_eq!(refused.retry, Retry::Soon);
    let host = address.trim_start_matches("http://");
    let start = format!("no reply from {host}: ");
    let message = refused.fault.message;
    assert!(message.starts_with(&start), "{message}");
    assert!(!message.contains("in-the-query"), "{message}");
}

#[test]
fn the_timeout_covers_the_whole_exchange() {
    let server = serve(Reply::text("late").delay(Duration::from_secs(30)));
    let asked = Asked { timeout: Duration::from_millis(200), ..Asked::default() };
    let late = ask_with(&*openai(&server, ""), &asked).unwrap_err();
    assert_eq!(late.fault.kind, FaultKind::Timeout);
    assert_eq!(late.retry, Retry::Soon);
    assert_eq!(late.fault.message, "no answer after 0.2 s");
}

#[test]
fn a_flood_is_cut() {
    let body = json!("x".repeat((16 << 20) + 1));
    let flood = failure(Reply::status(200).body(body));
    assert_eq!(flood.fault.kind, FaultKind::Limit);
    assert_eq!(flood.retry, Retry::Never);
    assert_eq!(flood.fault.message, "the reply is larger than 16 MiB");
}

#[test]
fn attempts_go_on_until_there_is_an_answer() {
    let script = Script::new()
        .rule(Rule::new(Reply::status(503)).times(1))
        .otherwise(Reply::text("at last"));
    let server = FakeModel::start(script);
    let agent = openai(&server, "");
    let mut heard = Vec::new();
    let (result, count) = with_request(&Asked::default(), |request| {
        block_on(attempts(&*agent, request, 2, |retrying| {
            heard.push((retrying.attempt, retrying.wait));
        }))
    });
    assert_eq!(result.unwrap().answer, "at last");
    assert_eq!((count, server.requests().len()), (2, 2));
    assert_eq!(heard.len(), 1);
    assert!(heard[0].1 >= Duration::from_secs(1) && heard[0].1 < Duration::from_secs(2));
}

#[test]
fn an_empty_account_is_asked_once() {
    let error = json!({"error": {"message": "You exceeded your current quota", "type": "insufficient_quota"}});
    let server = serve(Reply::status(429).body(error));
    let agent = openai(&server, "");
    let (result, count) =
        with_request(&Asked::default(), |request| block_on(attempts(&*agent, request, 5, |_| {})));
    assert_eq!(result.unwrap_err().fault.kind, FaultKind::Http);
    assert_eq!((count, server.requests().len()), (1, 1));
}

#[test]
fn public_services_need_a_key_and_own_ones_do_not() {
    for (entry, variable) in [
        ("provider: openai, model: m", "OPENAI_API_KEY"),
        ("provider: anthropic, model: m", "ANTHROPIC_API_KEY"),
        ("provider: azure, deployment: m, endpoint: \"https://h\"", "AZURE_OPENAI_API_KEY"),
    ] {
        let fault = try_agent(entry, &[]).unwrap_err();
        let message = format!("variable `{variable}`, used by `a`, is not set");
        assert_eq!(fault.message, message);
        assert!(try_agent(entry, &[(variable, " ")]).is_err());
        assert!(try_agent(entry, &[(variable, KEY)]).is_ok());
    }
    let server = serve(Reply::text("ok"));
    let entry = format!("provider: openai, model: m, base_url: \"{}/v1\"", server.url());
    ask(&*agent(&entry)).unwrap();
    assert_eq!(server.requests()[0].header("authorization"), None);
}

#[test]
fn settings_that_cannot_be_sent_are_named() {
    for (entry, message) in [
        (
            "provider: openai, model: m, base_url: \"localhost:80\"",
            "invalid URL: it does not start with `http://` or `https://`",
        ),
        (
            "provider: anthropic, model: m, base_url: \"/v1\"",
            "invalid URL: relative URL without a base",
        ),
        (
            "provider: openai, model: m, base_url: \"http://h\", headers: {\"a b\": \"x\"}",
            "header `a b` is not a valid header name",
        ),
        (
            "provider: openai, model: m, base_url: \"http://h\", api_key: \"${{ ODD }}\"",
            "`api_key` contains a character that is not allowed in a header",
        ),
    ] {
        let fault = try_agent(entry, &[("ODD", "a\nb")]).unwrap_err();
        assert_eq!(fault.message, message);
    }
}

#[test]
fn costs_that_the_service_reports_are_taken() {
    let usage = json!({"prompt_tokens": 1, "completion_tokens": 1, "cost": 0.5});
    let body = json!({"choices": [{"message": {"content": "a"}}], "usage": usage});
    let server = serve(Reply::status(200).body(body));
    let agent = openai(&server, ", price: {input: 1, output: 1}");
    assert_eq!(ask(&*agent).unwrap().cost_usd, Some(0.5));
}
