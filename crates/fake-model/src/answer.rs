//! From a request to its reply: finds the wire format, asks the script, writes what it says.

use std::io;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use http_body_util::BodyExt;
use hyper::body::{Bytes, Incoming};
use hyper::header::{CACHE_CONTROL, CONTENT_ENCODING, CONTENT_TYPE, HeaderName, HeaderValue};
use hyper::http::request::Parts;
use hyper::{Method, Response, StatusCode};
use serde_json::{Value, json};

use crate::body::Canned;
use crate::record::{Record, Request, SECRET};
use crate::reply::{Answer, Kind, Reply};
use crate::script::Play;
use crate::turn::Turn;
use crate::wire::{self, Exchange, Wire};

/// What all connections of one server share.
#[derive(Debug)]
pub(crate) struct Desk {
    play: Play,
    record: Record,
    served: AtomicU64,
    opened: u64,
}

impl Desk {
    pub(crate) fn new(play: Play, record: Record) -> Self {
        // Ids differ between servers: an agent that resumes a session meets the old ones again.
        let opened = u64::try_from(since_epoch().as_micros()).unwrap_or(u64::MAX);
        Self { play, record, served: AtomicU64::new(0), opened }
    }

    pub(crate) fn requests(&self) -> Vec<Request> {
        self.record.requests()
    }

    /// An error closes the connection without an answer.
    pub(crate) async fn serve(
        &self,
        request: hyper::Request<Incoming>,
    ) -> Result<Response<Canned>, io::Error> {
        let (head, body) = request.into_parts();
        let raw = body.collect().await.map_err(io::Error::other)?.to_bytes();
        let text = String::from_utf8_lossy(&raw);
        let body = read_body(&text);
        self.record.add(|| take_down(&head, &body));
        if head.method != Method::POST {
            return Ok(browse(&head));
        }
        let path = head.uri.path();
        if path.ends_with("/count_tokens") {
            return Ok(document(200, &json!({"input_tokens": 100})));
        }
        let Some(wire) = wire::of(path) else {
            let message = format!("there is nothing at {path}");
            return Ok(document(404, &json!({"error": {"message": message}})));
        };
        if head.headers.contains_key(CONTENT_ENCODING) {
            return Ok(document(415, &wire.error(415, "compressed requests are not understood")));
        }
        if self.play.key().is_some_and(|key| !carries(&head, key)) {
            return Ok(document(401, &wire.error(401, "the key is missing or wrong")));
        }
        if !body.is_object() {
            return Ok(document(400, &wire.error(400, "the body is not a JSON object")));
        }
        let turn = Turn::of(wire.entries(&body), &body);
        let reply = self.play.choose(&turn, &text);
        let delay = self.play.delay(reply);
        if !delay.is_zero() {
            tokio::time::sleep(delay).await;
        }
        self.reply(wire, path, &body, &turn, reply)
    }

    fn reply(
        &self,
        wire: &dyn Wire,
        path: &str,
        body: &Value,
        turn: &Turn,
        reply: &Reply,
    ) -> Result<Response<Canned>, io::Error> {
        match &reply.kind {
            Kind::Answer(answer) => {
                let is_streamed = wire.is_streamed(path, body);
                Ok(self.write(wire, is_streamed, body, turn, answer))
            }
            Kind::Status { status, headers, body } => {
                Ok(fault(wire, *status, headers, body.as_ref()))
            }
            Kind::Close => Err(io::Error::other("the script closes this connection")),
            Kind::Garbage => Ok(plain(200, "application/json", "<html>not JSON</html>")),
        }
    }

    fn write(
        &self,
        wire: &dyn Wire,
        is_streamed: bool,
        body: &Value,
        turn: &Turn,
        answer: &Answer,
    ) -> Response<Canned> {
        let result = turn.tool_result.as_deref().unwrap_or_default();
        let number = self.served.fetch_add(1, Ordering::Relaxed);
        let exchange = Exchange {
            body,
            answer,
            text: answer.text.as_ref().map(|text| text.replace("{tool_result}", result)),
            serial: format!("{:014x}{number:06x}", self.opened),
            created: since_epoch().as_secs(),
        };
        let mut response = if is_streamed {
            let mut response = Response::new(Canned::streamed(wire.events(&exchange)));
            let headers = response.headers_mut();
            headers.insert(CONTENT_TYPE, HeaderValue::from_static("text/event-stream"));
            headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-cache"));
            response
        } else {
            document(200, &wire.document(&exchange))
        };
        if let Ok(id) = HeaderValue::from_str(&exchange.id("req_")) {
            response.headers_mut().insert("request-id", id.clone());
            response.headers_mut().insert("x-request-id", id);
        }
        response
    }
}

/// Whether one of the headers for keys holds this one.
fn carries(head: &Parts, key: &str) -> bool {
    let mut values = SECRET.iter().flat_map(|name| head.headers.get_all(*name));
    values.any(|value| value.to_str().is_ok_and(|value| value.contains(key)))
}

fn since_epoch() -> Duration {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default()
}

fn read_body(text: &str) -> Value {
    if text.is_empty() {
        return Value::Null;
    }
    serde_json::from_str(text).unwrap_or_else(|_| Value::String(text.to_owned()))
}

fn take_down(head: &Parts, body: &Value) -> Request {
    let text = |value: &HeaderValue| String::from_utf8_lossy(value.as_bytes()).into_owned();
    Request {
        method: head.method.to_string(),
        path: head.uri.to_string(),
        headers: head.headers.iter().map(|(name, value)| (name.to_string(), text(value))).collect(),
        body: body.clone(),
    }
}

/// The list of models, in the shape of both vendors at once; agents also knock with `HEAD`.
fn browse(head: &Parts) -> Response<Canned> {
    if head.method == Method::HEAD {
        return plain(200, "text/plain", "");
    }
    if head.method != Method::GET || !head.uri.path().ends_with("/models") {
        return document(404, &json!({"error": {"message": "there is nothing here"}}));
    }
    let model = json!({
        "id": "fake-model",
        "object": "model",
        "created": 0,
        "owned_by": "evalrig",
        "type": "model",
        "display_name": "Fake model",
        "created_at": "1970-01-01T00:00:00Z",
    });
    document(200, &json!({"object": "list", "data": [model], "has_more": false}))
}

fn fault(
    wire: &dyn Wire,
    status: u16,
    headers: &[(String, String)],
    body: Option<&Value>,
) -> Response<Canned> {
    let mut response = match body {
        Some(Value::String(text)) => plain(status, "text/plain", text.clone()),
        Some(body) => document(status, body),
        None => document(status, &wire.error(status, &format!("scripted status {status}"))),
    };
    for (name, value) in headers {
        // Both were checked when the reply was made.
        if let (Ok(name), Ok(value)) = (HeaderName::try_from(name), HeaderValue::try_from(value)) {
            response.headers_mut().insert(name, value);
        }
    }
    response
}

fn document(status: u16, body: &Value) -> Response<Canned> {
    plain(status, "application/json", body.to_string())
}

fn plain(status: u16, kind: &'static str, body: impl Into<Bytes>) -> Response<Canned> {
    let mut response = Response::new(Canned::whole(body));
    // The status of a reply was checked when the reply was made.
    *response.status_mut() = StatusCode::from_u16(status).unwrap_or_default();
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(kind));
    response
}
