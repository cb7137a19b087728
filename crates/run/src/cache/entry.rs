//! One answer as a file: a line of JSON with a checksum, as in results files.

use std::time::SystemTime;

use evalrig_core::model::{JsonStyle, Map, Number, Value};
use evalrig_core::secrets::Secrets;
use evalrig_core::syntax::json_value;

use crate::results::transcript_json::{read_transcript, transcript_value};
use crate::results::{CaseKey, Seal, check_seal, rfc3339, seal};

use super::{AnswerKey, CachedAnswer};

/// Other versions are ignored.
const VERSION: u64 = 1;

/// `suite`, `evalId`, `target` and `created` are for people.
pub(super) fn entry_text(
    key: &AnswerKey,
    case: &CaseKey,
    answer: &CachedAnswer,
    secrets: &Secrets,
) -> Vec<u8> {
    let mut transcript = transcript_value(&answer.transcript);
    secrets.redact_data(&mut transcript);
    let mut map = Map::new();
    map.insert("version", Value::from(VERSION));
    map.insert("key", key.as_str());
    map.insert("suite", secrets.redact(&case.suite));
    map.insert("evalId", secrets.redact(&case.test));
    map.insert("target", secrets.redact(&case.target));
    map.insert("trial", case.trial);
    map.insert("created", rfc3339(SystemTime::now()));
    map.insert("attempts", answer.attempts);
    map.insert("transcript", transcript);
    let mut line = Value::Map(map).to_json(JsonStyle::Compact).into_bytes();
    seal(&mut line);
    line
}

/// `None` unless the file is intact and holds the answer of this key. What has become secret since is
/// redacted.
pub(super) fn read_entry(bytes: &[u8], key: &AnswerKey, secrets: &Secrets) -> Option<CachedAnswer> {
    if !matches!(check_seal(bytes), Seal::Intact(_)) {
        return None;
    }
    let value = json_value(std::str::from_utf8(bytes).ok()?)?;
    let map = value.as_map()?;
    let number = |key| match map.get(key) {
        Some(Value::Number(number)) => Number::as_u64(number),
        _ => None,
    };
    let is_own = map.get("key").and_then(Value::as_str) == Some(key.as_str());
    if !is_own || number("version") != Some(VERSION) {
        return None;
    }
    let mut transcript = map.get("transcript")?.clone();
    secrets.redact_data(&mut transcript);
    Some(CachedAnswer {
        transcript: read_transcript(&transcript)?,
        attempts: u32::try_from(number("attempts")?).ok()?,
    })
}
