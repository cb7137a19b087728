//! What was asked of the server, in the order of arrival.

use std::fs::File;
use std::io::{self, Write};
use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError};

use serde_json::{Map, Value, json};

/// One request as it arrived.
#[derive(Debug, Clone, PartialEq)]
pub struct Request {
    /// `POST`, `GET`, …
    pub method: String,
    /// The path with its query.
    pub path: String,
    /// Names in lower case with their values, in the order of arrival.
    pub headers: Vec<(String, String)>,
    /// The body: JSON where it is JSON, a string where it is not, null where there is none.
    pub body: Value,
}

impl Request {
    /// The first value of a header.
    pub fn header(&self, name: &str) -> Option<&str> {
        let mut headers = self.headers.iter();
        headers.find(|(key, _)| key.eq_ignore_ascii_case(name)).map(|(_, value)| value.as_str())
    }
}

/// What becomes of the requests.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Keep {
    /// They can be asked for; memory grows with every request.
    #[default]
    InMemory,
    /// They are written to this file, one JSON object per line, without the values of key headers.
    InFile(PathBuf),
    /// They are dropped, for benches.
    Nothing,
}

/// Headers that carry keys: a log may be shown to others.
pub(crate) const SECRET: [&str; 5] =
    ["authorization", "x-api-key", "x-goog-api-key", "api-key", "cookie"];

#[derive(Debug)]
pub(crate) enum Record {
    Memory(Mutex<Vec<Request>>),
    File(Mutex<File>),
    Nothing,
}

impl Record {
    pub(crate) fn open(keep: &Keep) -> io::Result<Self> {
        Ok(match keep {
            Keep::InMemory => Self::Memory(Mutex::default()),
            Keep::InFile(path) => Self::File(Mutex::new(File::create(path)?)),
            Keep::Nothing => Self::Nothing,
        })
    }

    /// Takes a request down. A log that cannot be written does not stop the server: the reader of
    /// the log sees that lines are missing.
    pub(crate) fn add(&self, request: impl FnOnce() -> Request) {
        match self {
            Self::Memory(requests) => lock(requests).push(request()),
            Self::File(file) => {
                let line = format!("{}\n", line(&request()));
                let _ = lock(file).write_all(line.as_bytes());
            }
            Self::Nothing => {}
        }
    }

    pub(crate) fn requests(&self) -> Vec<Request> {
        match self {
            Self::Memory(requests) => lock(requests).clone(),
            _ => Vec::new(),
        }
    }
}

/// A panic elsewhere leaves the list whole: every change is a single push.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn line(request: &Request) -> Value {
    let headers = request.headers.iter().map(|(name, value)| {
        let value = if SECRET.contains(&name.as_str()) { "…" } else { value };
        (name.clone(), json!(value))
    });
    json!({
        "method": request.method,
        "path": request.path,
        "headers": headers.collect::<Map<_, _>>(),
        "body": request.body,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_log_line_hides_keys() {
        let request = Request {
            method: "POST".into(),
            path: "/v1/messages?beta=true".into(),
            headers: vec![("x-api-key".into(), "sk-1".into()), ("a".into(), "b".into())],
            body: json!({"model": "m"}),
        };
        assert_eq!(request.header("X-Api-Key"), Some("sk-1"));
        let line = line(&request);
        assert_eq!(line["headers"], json!({"x-api-key": "…", "a": "b"}));
        assert_eq!(line["body"]["model"], "m");
    }
}
