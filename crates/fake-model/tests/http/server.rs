//! Faults, the record of requests, connections and load.

use std::net::SocketAddr;
use std::time::{Duration, Instant};

use fake_model::{FakeModel, Keep, Options, Reply, Rule, Script};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use crate::client::Client;

const CHAT: &str = "/v1/chat/completions";

fn hello() -> Value {
    json!({"messages": [{"role": "user", "content": "hello"}]})
}

fn always(reply: Reply) -> FakeModel {
    FakeModel::start(Script::new().otherwise(reply))
}

#[test]
fn a_status_carries_headers_and_gives_way_after_its_times() {
    let limit = Reply::status(429).header("Retry-After", "2").body(json!({"error": "slow"}));
    let server = FakeModel::start(Script::new().rule(Rule::new(limit).times(2)));
    let mut client = Client::connect(&server);
    for _ in 0..2 {
        let reply = client.post(CHAT, &hello()).unwrap();
        assert_eq!((reply.status, reply.header("retry-after")), (429, Some("2")));
        assert_eq!(reply.json(), json!({"error": "slow"}));
    }
    assert_eq!(client.post(CHAT, &hello()).unwrap().status, 200);
}

#[test]
fn a_status_without_a_body_speaks_the_format() {
    let server = always(Reply::status(529));
    let mut client = Client::connect(&server);
    let reply = client.post("/v1/messages", &hello()).unwrap().json();
    assert_eq!(reply["error"]["type"], "overloaded_error");
    let reply = client.post(CHAT, &hello()).unwrap().json();
    assert_eq!(reply["error"]["type"], "server_error");
}

#[test]
fn close_ends_the_connection_without_an_answer() {
    let server = FakeModel::start(Script::new().rule(Rule::new(Reply::close()).times(1)));
    assert!(Client::connect(&server).post(CHAT, &hello()).is_err());
    assert_eq!(Client::connect(&server).post(CHAT, &hello()).unwrap().status, 200);
    assert_eq!((server.requests().len(), server.connections()), (2, 2));
}

#[test]
fn garbage_is_not_json() {
    let reply = Client::connect(&always(Reply::garbage())).post(CHAT, &hello()).unwrap();
    assert_eq!(reply.status, 200);
    assert!(serde_json::from_str::<Value>(&reply.body).is_err());
}

#[test]
fn requests_are_recorded_on_one_connection() {
    let server = FakeModel::start(Script::new());
    let mut client = Client::connect(&server);
    client.post("/v1/messages?beta=true", &hello()).unwrap();
    let count = client.post("/v1/messages/count_tokens", &hello()).unwrap().json();
    assert_eq!(count, json!({"input_tokens": 100}));
    let models = client.send("GET", "/v1/models?limit=1", "").unwrap().json();
    assert_eq!(models["data"][0]["id"], "fake-model");
    let requests = server.requests();
    let paths: Vec<_> = requests.iter().map(|request| request.path.as_str()).collect();
    assert_eq!(
        paths,
        ["/v1/messages?beta=true", "/v1/messages/count_tokens", "/v1/models?limit=1"]
    );
    assert_eq!(requests[0].header("x-api-key"), Some("k"));
    assert_eq!((&requests[0].body, &requests[2].body), (&hello(), &Value::Null));
    assert_eq!(server.connections(), 1);
}

#[test]
fn what_is_not_understood_is_refused() {
    let server = FakeModel::start(Script::new());
    let mut client = Client::connect(&server);
    assert_eq!(client.send("POST", CHAT, "no json").unwrap().status, 400);
    assert_eq!(client.post("/v1/embeddings", &hello()).unwrap().status, 404);
    assert_eq!(client.send("GET", "/v1", "").unwrap().status, 404);
    assert_eq!(server.requests()[0].body, json!("no json"));
}

#[test]
fn a_rule_can_look_at_the_whole_body() {
    let rule = Rule::new(Reply::text("skill")).when_body("csv-analyzer");
    let server = FakeModel::start(Script::new().rule(rule));
    let mut body = hello();
    let answer = |body: &Value| {
        let reply = Client::connect(&server).post(CHAT, body).unwrap().json();
        reply["choices"][0]["message"]["content"].clone()
    };
    assert_eq!(answer(&body), "ok");
    body["tools"] = json!([{"type": "function", "function": {"name": "csv-analyzer"}}]);
    assert_eq!(answer(&body), "skill");
}

#[test]
fn a_dropped_server_frees_its_port() {
    let server = always(Reply::text("late").delay(Duration::from_secs(3600)));
    let port = server.address().port();
    let mut client = Client::connect(&server);
    let waiting = std::thread::spawn(move || client.post(CHAT, &hello()).is_err());
    while server.requests().is_empty() {
        std::thread::yield_now();
    }
    drop(server);
    assert!(waiting.join().unwrap(), "a request in flight is cut off");
    let options = Options { port, keep: Keep::Nothing };
    let again = FakeModel::start_with(Script::new(), options).unwrap();
    assert_eq!(again.address().port(), port);
    Client::connect(&again).post(CHAT, &hello()).unwrap();
    assert!(again.requests().is_empty());
}

async fn ask_four_times(address: SocketAddr) {
    let body = hello().to_string();
    let length = body.len();
    let request =
        format!("POST {CHAT} HTTP/1.1\r\nhost: t\r\ncontent-length: {length}\r\n\r\n{body}");
    let mut stream = tokio::net::TcpStream::connect(address).await.unwrap();
    for _ in 0..4 {
        stream.write_all(request.as_bytes()).await.unwrap();
        let mut seen = Vec::new();
        // The usage closes the document and is the only place with three braces.
        while !seen.ends_with(b"}}}") {
            assert_ne!(stream.read_buf(&mut seen).await.unwrap(), 0);
        }
        assert!(seen.starts_with(b"HTTP/1.1 200"));
    }
}

/// One after the other these would take 51 seconds.
#[test]
fn many_connections_wait_at_the_same_time() {
    let server = FakeModel::start(Script::new().delay(Duration::from_millis(50)));
    let address = server.address();
    let started = Instant::now();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let clients: Vec<_> = (0..256).map(|_| tokio::spawn(ask_four_times(address))).collect();
        for client in clients {
            client.await.unwrap();
        }
    });
    assert_eq!((server.connections(), server.requests().len()), (256, 1024));
    assert!(started.elapsed() < Duration::from_secs(20), "{:?}", started.elapsed());
}

#[test]
fn a_request_without_the_key_is_refused() {
    let ask = |key: &str| {
        let server = FakeModel::start(Script::new().key(key));
        let body = json!({"messages": [{"role": "user", "content": "Hi"}]});
        Client::connect(&server).post("/v1/chat/completions", &body).unwrap().status
    };
    // The client sends `k`.
    assert_eq!((ask("k"), ask("other")), (200, 401));
}
