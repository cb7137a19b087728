//! The wire formats. Each has one file that reads its requests and writes its replies; here is
//! only the list.

mod anthropic;
mod chat;
mod gemini;
mod responses;

use hyper::body::Bytes;
use serde_json::Value;

use crate::reply::Answer;
use crate::turn::Entry;

/// One wire format of a model server.
pub(crate) trait Wire: Sync {
    /// How the path of a request in this format may end.
    fn paths(&self) -> &'static [&'static str];
    /// Whether the client asks for server-sent events.
    fn is_streamed(&self, _path: &str, body: &Value) -> bool {
        body["stream"] == true
    }
    /// The conversation of a request.
    fn entries(&self, body: &Value) -> Vec<Entry>;
    /// The reply as one JSON document.
    fn document(&self, exchange: &Exchange<'_>) -> Value;
    /// The reply as server-sent events.
    fn events(&self, exchange: &Exchange<'_>) -> Vec<Bytes>;
    /// The body of an error.
    fn error(&self, status: u16, message: &str) -> Value;
}

const ALL: [&dyn Wire; 4] =
    [&chat::Chat, &responses::Responses, &anthropic::Messages, &gemini::GenerateContent];

/// The wire format of this path, behind any prefix.
pub(crate) fn of(path: &str) -> Option<&'static dyn Wire> {
    ALL.into_iter().find(|wire| wire.paths().iter().any(|known| path.ends_with(known)))
}

/// A request and the answer that is to be written for it.
pub(crate) struct Exchange<'a> {
    pub(crate) body: &'a Value,
    pub(crate) answer: &'a Answer,
    /// The answer's text with its placeholders filled in.
    pub(crate) text: Option<String>,
    /// Makes the ids of this exchange unlike those of any other.
    pub(crate) serial: String,
    /// Seconds since 1970.
    pub(crate) created: u64,
}

impl Exchange<'_> {
    pub(crate) fn model(&self) -> &str {
        self.body["model"].as_str().unwrap_or("fake-model")
    }

    pub(crate) fn id(&self, prefix: &str) -> String {
        format!("{prefix}{}", self.serial)
    }

    /// The id of the n-th part of this exchange.
    pub(crate) fn part_id(&self, prefix: &str, n: usize) -> String {
        format!("{prefix}{}{n:02x}", self.serial)
    }
}

/// One server-sent event.
pub(crate) fn event(name: Option<&str>, data: &Value) -> Bytes {
    let name = name.map_or(String::new(), |name| format!("event: {name}\n"));
    Bytes::from(format!("{name}data: {data}\n\n"))
}

/// Cuts a text as a model would send it: a client that keeps only one delta is found out.
pub(crate) fn deltas(text: &str) -> Vec<String> {
    let letters: Vec<char> = text.chars().collect();
    letters.chunks(24).map(|piece| piece.iter().collect()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_format_is_known_behind_any_prefix() {
        let path = |path| of(path).map(|wire| wire.paths()[0]);
        assert_eq!(path("/openai/deployments/d/chat/completions"), Some("/chat/completions"));
        assert_eq!(path("/v1/responses"), Some("/responses"));
        assert_eq!(path("/proxy/v1/messages"), Some("/v1/messages"));
        let streamed = "/v1beta/models/gemini-2.5-pro:streamGenerateContent";
        assert_eq!(path(streamed), Some(":generateContent"));
        assert_eq!(path("/v1/embeddings"), None);
    }

    #[test]
    fn deltas_make_up_the_text_again() {
        let text = "Grüße aus Zürich, dreißig Zeichen und mehr — bis zum Ende.";
        assert!(deltas(text).len() > 1);
        assert_eq!(deltas(text).concat(), text);
        assert!(deltas("").is_empty());
    }

    #[test]
    fn every_file_is_in_the_list() {
        let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("src/wire");
        let files = std::fs::read_dir(folder).unwrap().count();
        assert_eq!(files - 1, ALL.len(), "a file of src/wire is missing in `ALL`");
    }
}
