//! The journal beside the results: what a run set out to do, and answers that are not graded yet.
//!
//! Lines of JSON, each with a `kind`. The first says what was planned. A case whose grading asks
//! scripts or judges leaves its transcript here before they are asked, so a crash while judging
//! loses no answer that was paid for. The replies of judges follow it ([`super::judge_reply`]). When every case has a row, the journal goes.
//!
//! Transcripts are redacted like everything else. Grading after a resume therefore sees `***`
//! where an answer repeated a secret.

use evalrig_core::model::{JsonStyle, Map, Number, Transcript, Value};
use evalrig_core::secrets::Secrets;
use evalrig_core::syntax::json_value;

use super::checksum::{Seal, check_seal, seal};
use super::judge_reply::{JUDGED, JournaledReply, JudgeReply, read_judged};
use super::row::{CaseKey, SCHEMA_VERSION};
use super::run_header::RunHeader;
use super::scan::WRONG_CHECKSUM;
use super::transcript_json::{read_transcript, transcript_value};

pub(super) const PLAN: &str = "plan";
pub(super) const ANSWERED: &str = "answered";

/// An answer that is yet to be graded.
#[derive(Debug, Clone, PartialEq)]
pub struct JournaledAnswer {
    pub key: CaseKey,
    pub test_hash: String,
    pub attempts: u32,
    pub transcript: Transcript,
    /// What judges said of it.
    pub replies: Vec<JudgeReply>,
}

/// With its checksum and line break.
pub(crate) fn answer_line(
    key: &CaseKey,
    test_hash: &str,
    attempts: u32,
    transcript: &Transcript,
    secrets: &Secrets,
) -> Vec<u8> {
    let mut value = transcript_value(transcript);
    secrets.redact_data(&mut value);
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
    seal(&mut line);
    line
}

/// The answer of such a line; `None` if it is not one.
#[cfg(feature = "queue")]
pub(crate) fn read_answer(line: &[u8]) -> Option<JournaledAnswer> {
    match read_line(line) {
        Ok(JournalLine::Answered(answer)) => Some(*answer),
        _ => None,
    }
}

/// One line of a journal.
#[derive(Debug)]
pub(super) enum JournalLine {
    Plan(Box<RunHeader>),
    Answered(Box<JournaledAnswer>),
    Judged(Box<JournaledReply>),
    /// Of a kind that this version does not know.
    Other,
}

/// The error says why the line does not belong to a journal.
pub(super) fn read_line(line: &[u8]) -> Result<JournalLine, String> {
    if check_seal(line) == Seal::Broken {
        return Err(WRONG_CHECKSUM.to_owned());
    }
    let text = std::str::from_utf8(line).map_err(|_| "not UTF-8".to_owned())?;
    let value = json_value(text).ok_or("not JSON")?;
    let map = value.as_map().ok_or("not an object")?;
    match map.get("kind").and_then(Value::as_str) {
        Some(PLAN) => {
            let header: RunHeader =
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
        Some(JUDGED) => {
            let judged = read_judged(map).ok_or("not a judge's reply as evalrig keeps it")?;
            Ok(JournalLine::Judged(Box::new(judged)))
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
        replies: Vec::new(),
    })
}

#[cfg(test)]
mod tests {
    use super::super::planned_suite::{PlannedSuite, fingerprint};
    use super::super::run_header::PlanOptions;
    use super::*;

    fn header() -> RunHeader {
        let cases = [("a", "default", 1), ("b", "default", 1)];
        let print = fingerprint([("a", "00"), ("b", "11")]);
        let suite = PlannedSuite::new("csv", "evals/csv/EVAL.yaml", print, cases);
        let options = PlanOptions {
            shard: Some("1/2".to_owned()),
            filters: vec!["a*".to_owned()],
            ..PlanOptions::default()
        };
        RunHeader::new("2026-01-02T03:04:05Z".to_owned(), vec![suite], options)
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
        let line = header().journal_line(PLAN, &Secrets::default());
        assert!(line.starts_with(b"{\"kind\":\"plan\",\"schemaVersion\":1,"));
        let Ok(JournalLine::Plan(back)) = read_line(&line) else {
            panic!("no header");
        };
        let mut expected = header();
        expected.suites[0].cases.clear();
        assert_eq!(*back, expected);
    }

    #[test]
    fn an_answer_comes_back_as_it_was() {
        let transcript = Transcript::of_text("forty-two");
        let line = answer_line(&key(), "5f2b", 2, &transcript, &Secrets::default());
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
        let line = answer_line(&key(), "5f2b", 2, &transcript, &secrets);
        let text = String::from_utf8(line).unwrap();
        assert!(!text.contains("word") && text.contains("it is ***"), "{text}");
    }

    #[test]
    fn foreign_lines_are_refused_and_later_kinds_are_passed_over() {
        for (line, reason) in [
            ("{\"evalId\": 1}", "not a line of a journal: no `kind`"),
            ("[]", "not an object"),
            ("{", "not JSON"),
            ("{\"kind\": \"answered\"}", "not an answer as evalrig keeps it"),
            ("{\"kind\":\"note\",\"crc\":\"00000000\"}", WRONG_CHECKSUM),
        ] {
            assert_eq!(read_line(line.as_bytes()).unwrap_err(), reason);
        }
        assert!(matches!(read_line(b"{\"kind\":\"note\"}"), Ok(JournalLine::Other)));
    }
}
