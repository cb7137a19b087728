//! Answers to requests, with the headers that every answer has.

use std::fmt::Display;

use axum::body::Body;
use axum::http::{HeaderName, HeaderValue, Response, StatusCode, header};
use base64::prelude::{BASE64_STANDARD, Engine as _};
use evalrig_core::secrets::Secrets;
use sha2::{Digest, Sha256};

use super::markup::Markup;
use crate::text::paragraph;

/// What every answer says: keep nothing, guess nothing, show it in no frame, send no referrer.
const HEADERS: &[(&str, &str)] = &[
    ("cache-control", "no-store"),
    ("x-content-type-options", "nosniff"),
    ("x-frame-options", "DENY"),
    ("referrer-policy", "no-referrer"),
    ("cross-origin-opener-policy", "same-origin"),
    ("cross-origin-resource-policy", "same-origin"),
];

/// For answers that are not pages.
const NOTHING: &str = "default-src 'none'; base-uri 'none'; form-action 'none'; \
                       frame-ancestors 'none'";

pub(super) type Answer = Response<Body>;

pub(super) fn answer(status: StatusCode, kind: &'static str, body: impl Into<Body>) -> Answer {
    let mut answer = Response::new(body.into());
    *answer.status_mut() = status;
    answer.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static(kind));
    answer
}

/// Adds the headers that are missing.
pub(super) fn with_headers(mut answer: Answer) -> Answer {
    let headers = answer.headers_mut();
    for (name, value) in HEADERS {
        headers.insert(HeaderName::from_static(name), HeaderValue::from_static(value));
    }
    headers.entry(header::CONTENT_SECURITY_POLICY).or_insert(HeaderValue::from_static(NOTHING));
    answer
}

/// A sentence.
pub(super) fn plain(status: StatusCode, text: &str) -> Answer {
    answer(status, "text/plain; charset=utf-8", format!("{text}\n"))
}

pub(super) fn not_found(text: &str) -> Answer {
    plain(StatusCode::NOT_FOUND, text)
}

/// Files are there and cannot be read or written.
pub(super) fn failed(secrets: &Secrets, error: &dyn Display) -> Answer {
    let text = secrets.redact(&error.to_string());
    plain(StatusCode::INTERNAL_SERVER_ERROR, &paragraph(&text))
}

/// Leads to another address of this server.
pub(super) fn redirect(location: &str) -> Answer {
    let mut answer = plain(StatusCode::SEE_OTHER, "");
    match HeaderValue::from_str(location) {
        Ok(location) => {
            answer.headers_mut().insert(header::LOCATION, location);
            answer
        }
        Err(_) => not_found("There is no such page."),
    }
}

/// A page with a policy of its own.
pub(super) fn page(html: Vec<u8>, policy: &str) -> Answer {
    let mut answer = answer(StatusCode::OK, "text/html; charset=utf-8", html);
    let policy = format!("{policy}; frame-ancestors 'none'");
    if let Ok(policy) = HeaderValue::from_str(&policy) {
        answer.headers_mut().insert(header::CONTENT_SECURITY_POLICY, policy);
    }
    answer
}

/// A page without a script, with these styles.
pub(super) fn scriptless(markup: Markup, styles: &[&str]) -> Answer {
    let digests: Vec<String> = styles
        .iter()
        .map(|style| BASE64_STANDARD.encode(Sha256::digest(style.as_bytes())))
        .map(|digest| format!("'sha256-{digest}'"))
        .collect();
    let policy = format!(
        "default-src 'none'; style-src {}; base-uri 'none'; form-action 'self'",
        digests.join(" ")
    );
    page(markup.into_string().into_bytes(), &policy)
}
