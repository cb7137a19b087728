//! Why a queue cannot be used.

use std::fmt;

/// What happened, and where that helps what to do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QueueError {
    text: String,
    is_transient: bool,
}

/// What the library and the server say while a server starts, or a cluster has no leader. A cluster that has too few
/// servers says so too, but not that one of them is offline.
const TRANSIENT: [&str; 9] = [
    "timed out",
    "no responders",
    "no stream found for given subject",
    "peer offline",
    "error code 10004)",
    "error code 10008)",
    "error code 10009)",
    "error code 10118)",
    "error code 10119)",
];

impl QueueError {
    pub(crate) fn new(text: impl Into<String>) -> Self {
        Self { text: text.into(), is_transient: false }
    }

    /// `what` could not be done.
    pub(super) fn of(what: &str, error: impl fmt::Display) -> Self {
        let reason = error.to_string();
        let is_transient = TRANSIENT.iter().any(|text| reason.contains(text));
        Self { text: format!("cannot {what}: {reason}"), is_transient }
    }

    /// As [`Self::of`], for what the server will be able to do.
    pub(super) fn for_now(what: &str, error: impl fmt::Display) -> Self {
        Self { is_transient: true, ..Self::of(what, error) }
    }

    /// Whether it may succeed later, because the server could not do it now.
    pub(super) fn is_transient(&self) -> bool {
        self.is_transient
    }
}

impl fmt::Display for QueueError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl std::error::Error for QueueError {}

#[cfg(test)]
mod tests {
    use async_nats::jetstream::Error;
    use async_nats::jetstream::context::{GetStreamError, GetStreamErrorKind};

    use super::*;

    fn of_server(code: usize, err_code: u64, description: &str) -> QueueError {
        let answer = format!(
            r#"{{"code": {code}, "err_code": {err_code}, "description": "{description}"}}"#
        );
        let error: Error = serde_json::from_str(&answer).unwrap();
        QueueError::of("open the run", GetStreamError::new(GetStreamErrorKind::JetStream(error)))
    }

    #[test]
    fn only_what_passes_by_itself_is_transient() {
        assert!(of_server(503, 10008, "JetStream system temporarily unavailable").is_transient());
        assert!(of_server(500, 10118, "stream is offline").is_transient());
        assert!(
            of_server(400, 10005, "no suitable peers for placement, peer offline: 1")
                .is_transient()
        );
        for error in [
            of_server(503, 10039, "JetStream not enabled for account"),
            of_server(503, 10076, "JetStream not enabled"),
            of_server(400, 10005, "no suitable peers for placement"),
            of_server(404, 10059, "stream not found"),
            QueueError::new("timed out"),
        ] {
            assert!(!error.is_transient(), "{error}");
        }
    }
}
