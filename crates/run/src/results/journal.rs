//! The journal beside the results: what a run set out to do, and answers that are not graded yet.
//!
//! Lines of JSON, each with a `kind`. The first says what was planned. A case whose grading asks
//! scripts or judges leaves its transcript here before they are asked, so a crash while judging
//! loses no answer that was paid for. When every case has a row, the journal goes.
//!
//! Transcripts are redacted like everything else. Grading after a resume therefore sees `***`
//! where an answer repeated a secret.

use evalrig_core::model::{JsonStyle, Map, Number, Transcript, Value};
use evalrig_core::secrets::Secrets;
use evalrig_core::stats::Fnv1a;
use evalrig_core::syntax::json_value;
use serde::{Deserialize, Serialize};

use super::row::{CaseKey, SCHEMA_VERSION};
use super::transcript_json::{read_transcript, transcript_value};
use crate::json;

const PLAN: &str = "plan";
const ANSWERED: &str = "answered";

/// What a run set out to do. Enough to resume it without typing everything again, and to notice
/// that the suite has changed since.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct JournalHeader {
    pub schema_version: u32,
    /// The version of evalrig that wrote it.
    pub evalrig: String,
    /// Start of the run, RFC 3339, UTC.
    pub timestamp: String,
    pub suites: Vec<PlannedSuite>,
    /// How many cases were planned.
    pub cases: u64,
    #[serde(default)]
    pub options: PlanOptions,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PlannedSuite {
    pub name: String,
    /// Relative to the repository root.
    pub file: String,
    /// See [`fingerprint`].
    pub fingerprint: String,
}

/// The options that decide which cases there are.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct PlanOptions {
    pub targets: Vec<String>,
    pub trials: Option<u32>,
    pub seed: Option<u64>,
    pub sample: Option<u64>,
    /// `I/N`.
    pub shard: Option<String>,
    pub filters: Vec<String>,
    pub tags: Vec<String>,
}

impl JournalHeader {
    pub fn new(timestamp: String, suites: Vec<PlannedSuite>, cases: u64) -> Self {
        Self {
            schema_version: SCHEMA_VERSION,
            evalrig: env!("CARGO_PKG_VERSION").to_owned(),
            timestamp,
            suites,
            cases,
            options: PlanOptions::default(),
        }
    }

    /// With its line break.
    pub(super) fn line(&self, secrets: &Secrets) -> Vec<u8> {
        #[derive(Serialize)]
        struct PlanLine<'a> {
            kind: &'a str,
            #[serde(flatten)]
            header: &'a JournalHeader,
        }
        let mut header = self.clone();
        let options = &mut header.options;
        for text in options.filters.iter_mut().chain(&mut options.tags) {
            secrets.redact_in_place(text);
        }
        let line = PlanLine { kind: PLAN, header: &header };
        let mut text = serde_json::to_vec(&line).expect("a header has only texts and numbers");
        text.push(b'\n');
        text
    }
}

/// A short name for the tests of a plan: changes when a test is added, removed, moved, or means
/// something else. Takes pairs of id and `testHash`.
pub fn fingerprint<'a>(tests: impl IntoIterator<Item = (&'a str, &'a str)>) -> String {
    // Not a cryptographic hash: there is nothing to gain by making two plans look alike.
    let mut hash = Fnv1a::default();
    for (id, test_hash) in tests {
        hash.add_text(id);
        hash.add_text(test_hash);
    }
    format!("{:016x}", hash.finish())
}

/// An answer that is yet to be graded.
#[derive(Debug, Clone, PartialEq)]
pub struct JournaledAnswer {
    pub key: CaseKey,
    pub test_hash: String,
    pub attempts: u32,
    pub transcript: Transcript,
}

/// With its line break.
pub(super) fn answered_line(
    key: &CaseKey,
    test_hash: &str,
    attempts: u32,
    transcript: &Transcript,
    secrets: &Secrets,
) -> Vec<u8> {
    let mut value = transcript_value(transcript);
    if !secrets.is_empty() {
        value = json::redacted(value, secrets);
    }
    let mut map = Map::new();
    map.insert("kind", ANSWERED);
    map.insert("suite", key.suite.as_str());
    map.insert("evalId", key.test.as_str());
    map.insert("target", key.target.as_str());
    map.insert("trial", key.trial);
    map.insert("testHash", test_hash);
    map.insert("attempts", attempts);
    map.insert("transcript", value);
    let mut line = Value::Map(map).to_json(JsonStyle::Compact).into_bytes();
    line.push(b'\n');
    line
}

/// One line of a journal.
#[derive(Debug)]
pub(super) enum JournalLine {
    Plan(Box<JournalHeader>),
    Answered(Box<JournaledAnswer>),
    /// Of a kind that this version does not know.
    Other,
}

/// The error says why the line does not belong to a journal.
pub(super) fn read_line(line: &[u8]) -> Result<JournalLine, String> {
    let text = std::str::from_utf8(line).map_err(|_| "not UTF-8".to_owned())?;
    let value = json_value(text).ok_or("not JSON")?;
    let map = value.as_map().ok_or("not an object")?;
    match map.get("kind").and_then(Value::as_str) {
        Some(PLAN) => {
            let header: JournalHeader =
                serde_json::from_str(text).map_err(|error| error.to_string())?;
            if header.schema_version > SCHEMA_VERSION {
                Err("written by a newer version of evalrig".to_owned())
            } else {
                Ok(JournalLine::Plan(Box::new(header)))
            }
        }
        Some(ANSWERED) => {
            let answered = read_answered(map).ok_or("not an answer as evalrig keeps it")?;
            Ok(JournalLine::Answered(Box::new(answered)))
        }
        Some(_) => Ok(JournalLine::Other),
        None => Err("not a line of a journal: no `kind`".to_owned()),
    }
}

fn read_answered(map: &Map) -> Option<JournaledAnswer> {
    let text = |key| map.get(key).and_then(Value::as_str).map(str::to_owned);
    let count = |key| match map.get(key) {
        Some(Value::Number(number)) => Number::as_u64(number).and_then(|n| u32::try_from(n).ok()),
        _ => None,
    };
    Some(JournaledAnswer {
        key: CaseKey {
            suite: text("suite")?,
            test: text("evalId")?,
            target: text("target")?,
            trial: count("trial")?,
        },
        test_hash: text("testHash")?,
        attempts: count("attempts")?,
        transcript: read_transcript(map.get("transcript")?)?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn header() -> JournalHeader {
        let suite = PlannedSuite {
            name: "csv".to_owned(),
            file: "evals/csv/EVAL.yaml".to_owned(),
            fingerprint: fingerprint([("a", "00"), ("b", "11")]),
        };
        let mut header = JournalHeader::new("2026-01-02T03:04:05Z".to_owned(), vec![suite], 2);
        header.options.shard = Some("1/2".to_owned());
        header.options.filters = vec!["a*".to_owned()];
        header
    }

    fn key() -> CaseKey {
        CaseKey {
            suite: "csv".to_owned(),
            test: "a\n\"b\"".to_owned(),
            target: "default".to_owned(),
            trial: 3,
        }
    }

    #[test]
    fn a_header_comes_back_as_it_was() {
        let line = header().line(&Secrets::default());
        assert!(line.starts_with(b"{\"kind\":\"plan\",\"schemaVersion\":1,"));
        let Ok(JournalLine::Plan(back)) = read_line(&line) else {
            panic!("no header");
        };
        assert_eq!(*back, header());
    }

    #[test]
    fn an_answer_comes_back_as_it_was() {
        let transcript = Transcript::of_text("forty-two");
        let line = answered_line(&key(), "5f2b", 2, &transcript, &Secrets::default());
        let Ok(JournalLine::Answered(back)) = read_line(&line) else {
            panic!("no answer");
        };
        assert_eq!(back.key, key());
        assert_eq!((back.attempts, back.test_hash.as_str()), (2, "5f2b"));
        assert_eq!(back.transcript, transcript);
    }

    #[test]
    fn secrets_in_answers_are_not_kept() {
        let mut secrets = Secrets::default();
        secrets.add("pa\"ss\nword");
        let transcript = Transcript::of_text("it is pa\"ss\nword");
        let line = answered_line(&key(), "5f2b", 2, &transcript, &secrets);
        let text = String::from_utf8(line).unwrap();
        assert!(!text.contains("word") && text.contains("it is ***"), "{text}");
    }

    #[test]
    fn the_fingerprint_changes_with_the_tests() {
        let same = fingerprint([("a", "00"), ("b", "11")]);
        assert_eq!(same, fingerprint([("a", "00"), ("b", "11")]));
        assert_eq!(same.len(), 16);
        for other in [
            fingerprint([("a", "00")]),
            fingerprint([("b", "11"), ("a", "00")]),
            fingerprint([("a", "00"), ("b", "12")]),
            fingerprint([("a0", "0"), ("b", "11")]),
        ] {
            assert_ne!(same, other);
        }
    }

    #[test]
    fn foreign_lines_are_refused_and_later_kinds_are_passed_over() {
        for (line, reason) in [
            ("{\"evalId\": 1}", "not a line of a journal: no `kind`"),
            ("[]", "not an object"),
            ("{", "not JSON"),
            ("{\"kind\": \"answered\"}", "not an answer as evalrig keeps it"),
        ] {
            assert_eq!(read_line(line.as_bytes()).unwrap_err(), reason);
        }
        assert!(matches!(read_line(b"{\"kind\":\"note\"}"), Ok(JournalLine::Other)));
    }
}
