//! Faults of HTTP services: their message, and whether a retry may help.

use std::time::{Duration, SystemTime};

use evalrig_core::model::{FaultKind, Value};
use evalrig_core::syntax::json_value;
use reqwest::StatusCode;
use reqwest::header::{HeaderMap, LOCATION, RETRY_AFTER};

use super::request::{AttemptFault, Retry};

/// Characters shown of a reply without a readable message.
const EXCERPT: usize = 500;

/// Headers that hold a request id.
const REQUEST_IDS: &[&str] = &["x-request-id", "request-id", "apim-request-id"];

/// Error codes and types for an exhausted account, compared as a whole.
const SPENT: &[&str] = &[
    "insufficient_quota",
    "insufficient_credits",
    "insufficient_balance",
    "insufficient_funds",
    "exceeded_current_quota_error",
    "quota_exceeded",
    "billing_error",
    "billing_hard_limit_reached",
    "billing_not_active",
    "credit_balance_too_low",
    "payment_required",
    "spend_limit_exceeded",
    "spend_limit_reached",
];

/// Phrases with the same meaning. `billing` or `exceeded` alone is not enough: messages of ordinary
/// rate limits say "add a payment method at …/billing" or "have exceeded token rate limit".
const SPENT_SENTENCES: &[&str] = &[
    "insufficient_quota",
    "insufficient quota",
    "insufficient credit",
    "insufficient balance",
    "insufficient funds",
    "exceeded your current quota",
    "credit balance is too low",
    "out of credits",
    "no credits left",
    "billing hard limit",
    "spend limit",
    "spending limit",
];

/// Ordinary rate limits say when to retry, even if they mention quotas as Gemini does.
const COME_BACK: &[&str] = &["try again in", "retry in", "retry after", "retrydelay"];

/// The fault for a response with an error status.
pub(crate) fn refused(status: StatusCode, headers: &HeaderMap, body: &str) -> AttemptFault {
    let said = ErrorBody::of(body);
    let mut message = format!("HTTP {status}");
    if status.is_redirection() {
        message.push_str(&redirection(headers));
    } else if !said.message.is_empty() {
        message = format!("{message}: {}", said.message);
    }
    if let Some(id) = request_id(headers) {
        message = format!("{message} (request {id})");
    }
    let is_spent = said.is_spent(status, headers);
    if is_spent {
        message.push_str("; not retried: the account has no credit or quota left");
    }
    let retry = if is_spent || !is_passing(status) {
        Retry::Never
    } else {
        retry_after(headers, SystemTime::now()).map_or(Retry::Soon, Retry::After)
    };
    let fault = AttemptFault::new(FaultKind::Http, message).retry(retry);
    AttemptFault { is_rate_limit: status == StatusCode::TOO_MANY_REQUESTS, ..fault }
}

/// spec 9.1.
fn is_passing(status: StatusCode) -> bool {
    matches!(status.as_u16(), 408 | 409 | 429) || status.is_server_error()
}

/// Redirects are not followed: a key must not be sent to another host.
fn redirection(headers: &HeaderMap) -> String {
    let place = headers.get(LOCATION).and_then(|value| value.to_str().ok());
    match place {
        // The query may contain a key.
        Some(place) => {
            let place = place.split(['?', '#']).next().unwrap_or_default();
            format!(": the service has moved to {}", cut(place, EXCERPT))
        }
        None => String::new(),
    }
}

fn request_id(headers: &HeaderMap) -> Option<String> {
    let mut ids = REQUEST_IDS.iter().filter_map(|name| headers.get(*name));
    let id = ids.find_map(|value| value.to_str().ok())?;
    (!id.is_empty()).then(|| cut(id, 100))
}

/// How long the service asks to wait before a retry.
fn retry_after(headers: &HeaderMap, now: SystemTime) -> Option<Duration> {
    let text = |name: &str| headers.get(name)?.to_str().ok().map(str::trim);
    let milliseconds = text("retry-after-ms").and_then(|text| text.parse::<f64>().ok());
    if let Some(milliseconds) = milliseconds {
        return duration(milliseconds / 1000.0);
    }
    let written = text(RETRY_AFTER.as_str())?;
    if let Ok(seconds) = written.parse::<f64>() {
        return duration(seconds);
    }
    let date = httpdate::parse_http_date(written).ok()?;
    // A date in the past means now.
    Some(date.duration_since(now).unwrap_or_default())
}

/// `None` if the number is negative, not finite, or too large.
fn duration(seconds: f64) -> Option<Duration> {
    Duration::try_from_secs_f64(seconds).ok()
}

/// The error that a response body describes.
struct ErrorBody {
    message: String,
    /// Codes and types, in lower case.
    words: Vec<String>,
}

impl ErrorBody {
    fn of(body: &str) -> Self {
        let value = json_value(body);
        // Gemini wraps errors in a list.
        let value = match &value {
            Some(Value::List(items)) => items.first(),
            other => other.as_ref(),
        };
        let message = value.and_then(message_of).map_or_else(|| one_line(body), one_line);
        Self { message: cut(&message, EXCERPT), words: value.map(words_of).unwrap_or_default() }
    }

    /// Whether the account is exhausted, so that waiting does not help.
    fn is_spent(&self, status: StatusCode, headers: &HeaderMap) -> bool {
        if status == StatusCode::PAYMENT_REQUIRED {
            return true;
        }
        if !is_passing(status) {
            return false;
        }
        if self.words.iter().any(|word| SPENT.contains(&word.as_str())) {
            return true;
        }
        let message = self.message.to_lowercase();
        let says = |phrases: &[&str]| phrases.iter().any(|phrase| message.contains(phrase));
        let comes_back = headers.contains_key(RETRY_AFTER) || says(COME_BACK);
        says(SPENT_SENTENCES) && !comes_back
    }
}

/// `{error: {message}}`, `{error: text}`, `{message}` or `{detail}`.
pub(crate) fn message_of(body: &Value) -> Option<&str> {
    let body = body.as_map()?;
    let error = body.get("error");
    let nested = error.and_then(|error| match error {
        Value::Map(error) => error.get("message").and_then(Value::as_str),
        other => other.as_str(),
    });
    let flat = || ["message", "detail"].iter().find_map(|key| body.get(key)?.as_str());
    nested.or_else(flat).filter(|text| !text.trim().is_empty())
}

fn words_of(body: &Value) -> Vec<String> {
    let body = body.as_map();
    let error = body.and_then(|body| body.get("error")?.as_map());
    let places = error.into_iter().chain(body);
    places
        .flat_map(|map| ["code", "type", "status"].map(|key| map.get(key)))
        .filter_map(|word| word?.as_str().map(str::to_lowercase))
        .collect()
}

/// The first characters of a text, on one line.
pub(crate) fn excerpt(text: &str, limit: usize) -> String {
    cut(&one_line(text), limit)
}

fn one_line(text: &str) -> String {
    // An error page may be large, and only its beginning is shown.
    let start: String = text.chars().take(8 * EXCERPT).collect();
    start.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The first characters of a text.
pub(crate) fn cut(text: &str, limit: usize) -> String {
    match text.char_indices().nth(limit) {
        Some((at, _)) => format!("{}…", &text[..at]),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use reqwest::header::{HeaderName, HeaderValue};

    fn headers(pairs: &[(&str, &str)]) -> HeaderMap {
        let pairs = pairs.iter().map(|(name, value)| {
            (
                HeaderName::from_bytes(name.as_bytes()).unwrap(),
                HeaderValue::from_str(value).unwrap(),
            )
        });
        pairs.collect()
    }

    /// Bodies are split into lines here only for readability.
    fn refusal(status: u16, pairs: &[(&str, &str)], body: &str) -> AttemptFault {
        let body = &body.replace('\n', " ");
        refused(StatusCode::from_u16(status).unwrap(), &headers(pairs), body)
    }

    #[test]
    fn only_passing_faults_are_tried_again() {
        for status in [408, 409, 429, 500, 502, 503, 504, 529] {
            assert_eq!(refusal(status, &[], "").retry, Retry::Soon, "{status}");
        }
        for status in [301, 400, 401, 402, 403, 404, 413, 422] {
            assert_eq!(refusal(status, &[], "").retry, Retry::Never, "{status}");
        }
    }

    #[test]
    fn the_message_is_the_services_own() {
        let body = r#"{"error":{"message":"Bad\n  model","type":"x","code":"y"}}"#;
        let fault = refusal(400, &[("x-request-id", "req_1")], body);
        let message = "HTTP 400 Bad Request: Bad model (request req_1)";
        assert_eq!(fault.fault.message, message);
        assert_eq!(fault.fault.kind, FaultKind::Http);
        for (body, said) in [
            (r#"{"error":"down"}"#, ": down"),
            (r#"[{"error":{"message":"in a list"}}]"#, ": in a list"),
            (r#"{"detail":"not here"}"#, ": not here"),
            (r#"{"detail":[{"loc":1}]}"#, r#": {"detail":[{"loc":1}]}"#),
            ("<html>\n oops", ": <html> oops"),
            ("", ""),
        ] {
            let fault = refusal(500, &[], body);
            let expected = format!("HTTP 500 Internal Server Error{said}");
            assert_eq!(fault.fault.message, expected);
        }
        let long = refusal(500, &[], &"x".repeat(9000)).fault.message;
        assert_eq!(long.chars().filter(|c| *c == 'x').count(), 500);
        let strange = refusal(529, &[], "");
        assert!(strange.fault.message.starts_with("HTTP 529"));
    }

    #[test]
    fn redirections_are_named_without_their_query() {
        let fault = refusal(307, &[("location", "https://b.example/x?key=1")], "<html>");
        let message = "HTTP 307 Temporary Redirect: the service has moved to https://b.example/x";
        assert_eq!(fault.fault.message, message);
    }

    #[test]
    fn waits_are_read_in_every_spelling() {
        let now = httpdate::parse_http_date("Sun, 15 Nov 2026 10:00:00 GMT").unwrap();
        let wait = |pairs: &[(&str, &str)]| retry_after(&headers(pairs), now);
        assert_eq!(wait(&[("retry-after", "7")]), Some(Duration::from_secs(7)));
        assert_eq!(wait(&[("retry-after", "0.5")]), Some(Duration::from_millis(500)));
        let both = [("retry-after", "7"), ("retry-after-ms", "250")];
        assert_eq!(wait(&both), Some(Duration::from_millis(250)));
        let later = [("retry-after", "Sun, 15 Nov 2026 10:00:30 GMT")];
        assert_eq!(wait(&later), Some(Duration::from_secs(30)));
        let earlier = [("retry-after", "Sun, 15 Nov 2026 09:00:00 GMT")];
        assert_eq!(wait(&earlier), Some(Duration::ZERO));
        for odd in ["", "soon", "-1", "inf", "nan", "1e300"] {
            assert_eq!(wait(&[("retry-after", odd)]), None, "{odd}");
        }
    }

    #[test]
    fn an_empty_account_is_not_asked_again() {
        let openai = r#"{"error":{"message":"You exceeded your current quota, please check your
            plan and billing details.","type":"insufficient_quota","code":"insufficient_quota"}}"#;
        let anthropic = r#"{"type":"error","error":{"type":"invalid_request_error",
            "message":"Your credit balance is too low to access the Anthropic API."}}"#;
        let spend = r#"{"error":{"message":"Monthly spend limit reached"}}"#;
        for body in [openai, anthropic, spend] {
            let fault = refusal(429, &[], body);
            assert_eq!(fault.retry, Retry::Never, "{body}");
            assert!(fault.fault.message.contains("no credit or quota left"));
        }
        // The code decides, whatever else the reply says.
        let fault = refusal(429, &[("retry-after", "1")], openai);
        assert_eq!(fault.retry, Retry::Never);
        assert_eq!(refusal(402, &[], "").retry, Retry::Never);
    }

    #[test]
    fn ordinary_limits_are_no_empty_accounts() {
        let openai = r#"{"error":{"message":"Rate limit reached for gpt-4o on tokens per min (TPM):
            Limit 30000. Please try again in 1.2s. You can increase your rate limit by adding a
            payment method to your account at https://platform.openai.com/account/billing.",
            "type":"tokens","code":"rate_limit_exceeded"}}"#;
        let azure = r#"{"error":{"code":"429","message":"Requests have exceeded token rate limit of
            your current OpenAI S0 pricing tier. Please retry after 12 seconds."}}"#;
        let gemini = r#"[{"error":{"code":429,"status":"RESOURCE_EXHAUSTED","message":"You exceeded
            your current quota, please check your plan and billing details. Please retry in 17s."}}]"#;
        let anthropic = r#"{"type":"error","error":{"type":"rate_limit_error","message":"This request
            would exceed your organization's rate limit of 50 requests per minute"}}"#;
        for body in [openai, azure, gemini, anthropic] {
            assert_eq!(refusal(429, &[], body).retry, Retry::Soon, "{body}");
        }
        let quota = r#"{"error":{"message":"You exceeded your current quota"}}"#;
        let fault = refusal(429, &[("retry-after", "3")], quota);
        assert_eq!(fault.retry, Retry::After(Duration::from_secs(3)));
    }
}
