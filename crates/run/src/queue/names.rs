//! Names of what a run has on the server. They are made from checked parts only.

use sha2::{Digest, Sha256};

use crate::results::CaseKey;
use crate::text::hex;

use super::error::QueueError;

/// One entry per run.
pub(super) const RUNS_BUCKET: &str = "EVALRIG_RUNS";
/// One entry per service and key.
pub(super) const RATE_BUCKET: &str = "EVALRIG_RATE";
/// In the control bucket.
pub(super) const STATE_KEY: &str = "state";
/// Before the names of processes that take rows, in the control bucket.
pub(super) const COORDINATOR_KEYS: &str = "coordinator.";
pub(super) const FOLLOWER_KEYS: &str = "follower.";
/// How far cases were sent, in the control bucket.
pub(super) const SENT_KEY: &str = "sent";
/// Before the names of workers, in the control bucket.
pub(super) const WORKER_KEYS: &str = "worker.";
/// Before the sequences of chains, in the control bucket.
pub(super) const GIVEN_BACK_KEYS: &str = "given-back.";
/// In the object store.
pub(super) const MANIFEST: &str = "manifest";
pub(super) const CHAINS: &str = "chains";

const LONGEST: usize = 64;

/// The id of a run that is part of names.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct RunName(String);

impl RunName {
    pub(crate) fn parse(text: &str) -> Result<Self, QueueError> {
        let is_plain = text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-');
        if text.is_empty() || text.len() > LONGEST || !is_plain {
            let text = crate::text::single_line(text);
            return Err(QueueError::new(format!("`{text}` is not the id of a run")));
        }
        Ok(Self(text.to_owned()))
    }

    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }

    /// The run that a stream belongs to, which may hold a bucket or objects.
    pub(super) fn of_stream(stream: &str) -> Option<Self> {
        let plain = stream.strip_prefix("KV_").or_else(|| stream.strip_prefix("OBJ_"));
        let (run, part) = plain.unwrap_or(stream).strip_prefix("EVALRIG_")?.rsplit_once('_')?;
        let name = Self::parse(run).ok()?;
        let is_part = match part {
            "CASES" | "ANSWERS" | "ROWS" => plain.is_none(),
            "CONTROL" => stream.starts_with("KV_"),
            "BUNDLE" => stream.starts_with("OBJ_"),
            _ => false,
        };
        is_part.then_some(name)
    }

    pub(super) fn cases(&self) -> String {
        format!("EVALRIG_{}_CASES", self.0)
    }

    pub(super) fn answers(&self) -> String {
        format!("EVALRIG_{}_ANSWERS", self.0)
    }

    pub(super) fn rows(&self) -> String {
        format!("EVALRIG_{}_ROWS", self.0)
    }

    pub(super) fn control(&self) -> String {
        format!("EVALRIG_{}_CONTROL", self.0)
    }

    pub(super) fn bundle(&self) -> String {
        format!("EVALRIG_{}_BUNDLE", self.0)
    }

    pub(super) fn all_cases(&self) -> String {
        format!("EVALRIG.{}.CASES.*", self.0)
    }

    pub(super) fn class_subject(&self, class: usize) -> String {
        format!("EVALRIG.{}.CASES.{class}", self.0)
    }

    pub(super) fn all_answers(&self) -> String {
        format!("EVALRIG.{}.ANSWERS.*", self.0)
    }

    pub(super) fn answer_subject(&self, key: &CaseKey) -> String {
        format!("EVALRIG.{}.ANSWERS.{}", self.0, case_token(key))
    }

    pub(super) fn all_rows(&self) -> String {
        format!("EVALRIG.{}.ROWS.*", self.0)
    }

    pub(super) fn row_subject(&self, key: &CaseKey) -> String {
        format!("EVALRIG.{}.ROWS.{}", self.0, case_token(key))
    }
}

/// The consumer from which workers take the chains of a class.
pub(super) fn class_consumer(class: usize) -> String {
    format!("class-{class}")
}

/// A case as part of a subject: names of tests may hold anything.
fn case_token(key: &CaseKey) -> String {
    let CaseKey { suite, test, target, trial } = key;
    let mut digest = Sha256::new();
    for text in [suite, test, target] {
        digest.update((text.len() as u64).to_le_bytes());
        digest.update(text);
    }
    digest.update(trial.to_le_bytes());
    hex(&digest.finalize())[..32].to_owned()
}

/// A text of the user as part of a key.
pub(super) fn key_token(text: &str) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() || c == '-' { c } else { '_' };
    let token: String = text.chars().take(LONGEST).map(plain).collect();
    if token.is_empty() { "_".to_owned() } else { token }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(test: &str, trial: u32) -> CaseKey {
        let (suite, target) = ("a.b".to_owned(), "*".to_owned());
        CaseKey { suite, test: test.to_owned(), target, trial }
    }

    #[test]
    fn only_plain_ids_are_part_of_names() {
        assert!(RunName::parse("20260102T030405-a1b2c3").is_ok());
        for text in ["", "a.b", "a b", "a*", "a>", "ä", "../a", &"a".repeat(65)] {
            assert!(RunName::parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn streams_say_whose_they_are() {
        let run = RunName::parse("20260102T030405-a1b2c3").unwrap();
        let control = format!("KV_{}", run.control());
        let bundle = format!("OBJ_{}", run.bundle());
        for stream in [run.cases(), run.answers(), run.rows(), control, bundle] {
            assert_eq!(RunName::of_stream(&stream).as_ref(), Some(&run), "{stream}");
        }
        for stream in
            ["KV_EVALRIG_RUNS", "KV_EVALRIG_RATE", "EVALRIG_r_OTHER", "OBJ_EVALRIG_r_ROWS", "ROWS"]
        {
            assert_eq!(RunName::of_stream(stream), None, "{stream}");
        }
    }

    #[test]
    fn every_case_has_a_subject_of_its_own_without_wildcards() {
        let run = RunName::parse("r").unwrap();
        let one = run.row_subject(&key("x.> *", 1));
        assert!(one.starts_with("EVALRIG.r.ROWS.") && !one[15..].contains(['.', '*', '>', ' ']));
        assert_ne!(one, run.row_subject(&key("x.> *", 2)));
        assert_ne!(one, run.row_subject(&key("x.>", 1)));
    }
}
