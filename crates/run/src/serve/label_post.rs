//! Adds the label that a person set in a page.

use axum::http::{HeaderMap, StatusCode, header};
use serde::Deserialize;

use std::time::SystemTime;

use super::ServedRepository;
use super::answer::{Answer, answer, failed, plain};
use crate::results::{AnswerLabel, AnswerMark, LabelFault, append_label, rfc3339};

/// What a page sends. Name and time are the server's.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct SentLabel {
    suite: String,
    test: String,
    answer_hash: String,
    label: Option<AnswerMark>,
    #[serde(default)]
    note: Option<String>,
}

/// As a page names the part of a label.
fn sent_key(fault: LabelFault) -> &'static str {
    match fault {
        LabelFault::Suite => "suite",
        LabelFault::Test => "test",
        other => other.stored_key(),
    }
}

pub(super) fn add_label(served: &ServedRepository, headers: &HeaderMap, body: &[u8]) -> Answer {
    let kind = headers.get(header::CONTENT_TYPE).and_then(|kind| kind.to_str().ok());
    let kind = kind.unwrap_or_default().split(';').next().unwrap_or_default().trim();
    if !kind.eq_ignore_ascii_case("application/json") {
        return plain(StatusCode::UNSUPPORTED_MEDIA_TYPE, "A label is sent as application/json.");
    }
    let Ok(sent) = serde_json::from_slice::<SentLabel>(body) else {
        return plain(StatusCode::BAD_REQUEST, "This is not a label.");
    };
    let label = AnswerLabel {
        suite: sent.suite,
        test: sent.test,
        answer_hash: sent.answer_hash,
        assertion: None,
        item: None,
        label: sent.label,
        note: sent.note.unwrap_or_default(),
        who: served.author.clone(),
        when: rfc3339(SystemTime::now()),
    };
    if let Some(fault) = label.fault() {
        return plain(StatusCode::BAD_REQUEST, &fault.message(sent_key(fault)));
    }
    match append_label(&served.root, &label, &served.secrets) {
        Ok(()) => {
            let stored = serde_json::to_string(&label).unwrap_or_default();
            answer(StatusCode::OK, "application/json", served.secrets.redact(&stored))
        }
        Err(error) => failed(&served.secrets, &error),
    }
}
