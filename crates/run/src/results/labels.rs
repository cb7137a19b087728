//! Labels: what people say of answers (spec 23.1). One line of `.evalrig/labels.jsonl` for each time that
//! a person marks an answer as right or wrong, or withdraws the mark.
//!
//! A label belongs to an answer, not to a run: the same answer in a later run has the same hash, and so
//! the same label.

use std::collections::HashMap;
use std::io;

use camino::{Utf8Path, Utf8PathBuf};
use evalrig_core::secrets::Secrets;
use evalrig_core::source::Reach;
use serde::{Deserialize, Serialize};

use super::error::ReadError;
use super::label_table::parse_table;
use super::read::DamagedLine;
use crate::clock::unix_milliseconds;
use crate::disk::read_whole;
use crate::text;

/// Under the repository root.
pub(super) const FOLDER: &str = ".evalrig";
pub(super) const FILE: &str = "labels.jsonl";

/// A larger file is not read.
const FILE_LIMIT: u64 = 64 * 1024 * 1024;
/// Digits of an answer hash.
const HASH: usize = 16;
/// Bytes of a name.
const NAME_LIMIT: usize = 2_000;
/// Bytes of a note.
const NOTE_LIMIT: usize = 20_000;
/// The name of an author who is unknown.
pub const UNKNOWN_AUTHOR: &str = "unknown";

/// What a person says of an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum AnswerMark {
    #[serde(alias = "pass")]
    Right,
    #[serde(alias = "fail")]
    Wrong,
}

impl AnswerMark {
    /// From a word that a person wrote.
    pub(super) fn of_word(word: &str) -> Option<Self> {
        match word.trim().to_ascii_lowercase().as_str() {
            "right" | "pass" => Some(Self::Right),
            "wrong" | "fail" => Some(Self::Wrong),
            _ => None,
        }
    }

    /// In the file.
    fn stored_word(self) -> &'static str {
        match self {
            Self::Right => "pass",
            Self::Wrong => "fail",
        }
    }
}

/// A line of the file as it is read, under old and new keys, and as pages have it. It is written as
/// `LabelLine`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct AnswerLabel {
    /// Name of the suite.
    #[serde(alias = "dataset")]
    pub suite: String,
    /// Id of the test.
    #[serde(alias = "evalId")]
    pub test: String,
    /// See [`super::Row::answer_hash`].
    pub answer_hash: String,
    /// Name of the assertion that the label is about; `None`: the whole answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub assertion: Option<String>,
    /// Id or text of the rubric item.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub item: Option<String>,
    /// `None` withdraws the label.
    pub label: Option<AnswerMark>,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub note: String,
    #[serde(alias = "by")]
    pub who: String,
    /// RFC 3339, UTC.
    #[serde(alias = "at")]
    pub when: String,
}

/// What is written: the keys of rows.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct LabelLine<'l> {
    schema_version: u32,
    eval_id: &'l str,
    dataset: &'l str,
    answer_hash: &'l str,
    #[serde(skip_serializing_if = "Option::is_none")]
    assertion: Option<&'l str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    item: Option<&'l str>,
    label: Option<&'static str>,
    #[serde(skip_serializing_if = "str::is_empty")]
    note: &'l str,
    by: &'l str,
    at: &'l str,
}

impl<'l> From<&'l AnswerLabel> for LabelLine<'l> {
    fn from(label: &'l AnswerLabel) -> Self {
        Self {
            schema_version: 1,
            eval_id: &label.test,
            dataset: &label.suite,
            answer_hash: &label.answer_hash,
            assertion: label.assertion.as_deref(),
            item: label.item.as_deref(),
            label: label.label.map(AnswerMark::stored_word),
            note: &label.note,
            by: &label.who,
            at: &label.when,
        }
    }
}

/// The part of a label because of which it cannot be kept. Its reader knows the key that the author wrote.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LabelFault {
    Suite,
    Test,
    AnswerHash,
    Note,
    Who,
    Assertion,
    Item,
    When,
}

impl LabelFault {
    /// As lines of the labels file name the part.
    pub fn stored_key(self) -> &'static str {
        match self {
            Self::Suite => "dataset",
            Self::Test => "evalId",
            Self::AnswerHash => "answerHash",
            Self::Note => "note",
            Self::Who => "by",
            Self::Assertion => "assertion",
            Self::Item => "item",
            Self::When => "at",
        }
    }

    /// A message about the part under its key.
    pub fn message(self, key: &str) -> String {
        let reason = match self {
            Self::Suite | Self::Test | Self::Who => "is empty or too long",
            Self::AnswerHash => "is not 16 hexadecimal digits",
            Self::Note | Self::Assertion | Self::Item => "is too long",
            Self::When => "is not a time",
        };
        format!("`{key}` {reason}")
    }
}

impl AnswerLabel {
    /// Why the label cannot be kept.
    pub fn fault(&self) -> Option<LabelFault> {
        let is_timeless = || unix_milliseconds(&self.when).is_none();
        self.fault_but_time().or_else(|| is_timeless().then_some(LabelFault::When))
    }

    /// As [`Self::fault`]; tables need not say when.
    pub(super) fn fault_but_time(&self) -> Option<LabelFault> {
        let is_name = |text: &str| (1..=NAME_LIMIT).contains(&text.len());
        let is_long =
            |text: &Option<String>| text.as_ref().is_some_and(|one| one.len() > NAME_LIMIT);
        let is_hex = |c: char| c.is_ascii_digit() || ('a'..='f').contains(&c);
        let is_hash = self.answer_hash.len() == HASH && self.answer_hash.chars().all(is_hex);
        let faults = [
            (!is_name(&self.suite), LabelFault::Suite),
            (!is_name(&self.test), LabelFault::Test),
            (!is_hash, LabelFault::AnswerHash),
            (self.note.len() > NOTE_LIMIT, LabelFault::Note),
            (!is_name(&self.who), LabelFault::Who),
            (is_long(&self.assertion), LabelFault::Assertion),
            (is_long(&self.item), LabelFault::Item),
        ];
        faults.into_iter().find_map(|(is_fault, fault)| is_fault.then_some(fault))
    }

    /// The line, with its line break and without secrets.
    pub(super) fn line(&self, secrets: &Secrets) -> String {
        let mut label = self.clone();
        for text in [&mut label.suite, &mut label.test, &mut label.note, &mut label.who] {
            secrets.redact_in_place(text);
        }
        for text in [&mut label.assertion, &mut label.item].into_iter().flatten() {
            secrets.redact_in_place(text);
        }
        let line = serde_json::to_string(&LabelLine::from(&label)).expect("only texts");
        text::json(&line).into_owned() + "\n"
    }
}

/// Whose label of which answer.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct LabelKey {
    suite: String,
    test: String,
    answer_hash: String,
    assertion: Option<String>,
    item: Option<String>,
    who: String,
}

/// The labels that count: of each person and answer the last one, unless it was withdrawn.
#[derive(Debug, Default)]
pub struct Labels {
    /// In the order of the file.
    current: Vec<AnswerLabel>,
    damaged: Vec<DamagedLine>,
}

impl Labels {
    /// The file of a repository.
    pub fn path(root: &Utf8Path) -> Utf8PathBuf {
        root.join(FOLDER).join(FILE)
    }

    /// The labels of a repository; without a file there are none.
    pub fn read(root: &Utf8Path) -> Result<Self, ReadError> {
        let path = Self::path(root);
        match read_whole(&path, Reach::Inside(root), FILE_LIMIT) {
            Ok(bytes) => Ok(Self::parse(&path, &bytes)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Self::default()),
            Err(error) => Err(ReadError::io(&path, error)),
        }
    }

    /// Labels from a file that the user names: lines as in [`Self::path`], or a CSV table if its name ends
    /// so.
    pub fn open(path: &Utf8Path) -> Result<Self, ReadError> {
        let bytes = read_whole(path, Reach::Anywhere, FILE_LIMIT)
            .map_err(|error| ReadError::io(path, error))?;
        if !path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("csv")) {
            return Ok(Self::parse(path, &bytes));
        }
        let fault = |(line, reason)| ReadError::Table { path: path.to_owned(), line, reason };
        let bytes = super::read::without_mark(&bytes);
        let text = std::str::from_utf8(bytes).map_err(|_| fault((1, "not UTF-8".to_owned())))?;
        let current = parse_table(text.to_owned()).map_err(fault)?;
        Ok(Self { current, damaged: Vec::new() })
    }

    /// Lines that are not labels are listed and passed over; the path is for messages.
    pub fn parse(path: &Utf8Path, bytes: &[u8]) -> Self {
        let mut last: HashMap<LabelKey, (u64, AnswerLabel)> = HashMap::new();
        let mut damaged = Vec::new();
        for (line, number) in bytes.split(|byte| *byte == b'\n').zip(1..) {
            let line = super::read::without_mark(line);
            if line.trim_ascii().is_empty() {
                continue;
            }
            match parse_line(line) {
                Ok(label) => drop(last.insert(label.key(), (number, label))),
                Err(reason) => {
                    damaged.push(DamagedLine { file: path.to_owned(), line: number, reason });
                }
            }
        }
        let mut last: Vec<_> = last.into_values().filter(|(_, one)| one.label.is_some()).collect();
        last.sort_unstable_by_key(|(line, _)| *line);
        Self { current: last.into_iter().map(|(_, label)| label).collect(), damaged }
    }

    /// Every label that counts.
    pub fn iter(&self) -> impl Iterator<Item = &AnswerLabel> {
        self.current.iter()
    }

    /// The labels of one answer as a whole, by every person.
    pub fn of<'l>(
        &'l self,
        suite: &'l str,
        test: &'l str,
        answer_hash: &'l str,
    ) -> impl Iterator<Item = &'l AnswerLabel> {
        self.current.iter().filter(move |label| {
            let is_whole = label.assertion.is_none() && label.item.is_none();
            is_whole
                && label.answer_hash == answer_hash
                && label.test == test
                && label.suite == suite
        })
    }

    /// Lines that could not be read.
    pub fn damaged(&self) -> &[DamagedLine] {
        &self.damaged
    }
}

impl AnswerLabel {
    fn key(&self) -> LabelKey {
        LabelKey {
            suite: self.suite.clone(),
            test: self.test.clone(),
            answer_hash: self.answer_hash.clone(),
            assertion: self.assertion.clone(),
            item: self.item.clone(),
            who: self.who.clone(),
        }
    }
}

fn parse_line(line: &[u8]) -> Result<AnswerLabel, String> {
    let label: AnswerLabel = serde_json::from_slice(line).map_err(|error| {
        let text = error.to_string();
        let end = text.find(" at line ").unwrap_or(text.len());
        format!("not a label: {} (column {})", &text[..end], error.column())
    })?;
    match label.fault() {
        Some(fault) => Err(format!("not a label: {}", fault.message(fault.stored_key()))),
        None => Ok(label),
    }
}

#[cfg(test)]
pub(super) mod testing {
    //! Labels for the tests of this folder.

    use super::*;

    pub(crate) const HASH_OF_ANSWER: &str = "2cf24dba5fb0a30e";

    pub(crate) fn label(test: &str, mark: Option<AnswerMark>, who: &str) -> AnswerLabel {
        AnswerLabel {
            suite: "support".to_owned(),
            test: test.to_owned(),
            answer_hash: HASH_OF_ANSWER.to_owned(),
            assertion: None,
            item: None,
            label: mark,
            note: String::new(),
            who: who.to_owned(),
            when: "2026-11-16T20:00:00Z".to_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::testing::{HASH_OF_ANSWER, label};
    use super::*;

    fn parsed(labels: &[AnswerLabel]) -> Labels {
        let lines: String = labels.iter().map(|one| one.line(&Secrets::default())).collect();
        Labels::parse("labels.jsonl".into(), lines.as_bytes())
    }

    #[test]
    fn the_last_label_of_a_person_counts_and_null_withdraws_it() {
        let labels = parsed(&[
            label("a", Some(AnswerMark::Right), "ann"),
            label("a", Some(AnswerMark::Wrong), "bob"),
            label("b", Some(AnswerMark::Right), "ann"),
            label("a", Some(AnswerMark::Wrong), "ann"),
            label("b", None, "ann"),
        ]);
        assert!(labels.damaged().is_empty());
        let found: Vec<_> =
            labels.iter().map(|one| (one.test.as_str(), one.who.as_str())).collect();
        assert_eq!(found, [("a", "bob"), ("a", "ann")]);
        let hash = HASH_OF_ANSWER;
        assert!(labels.of("support", "a", hash).all(|one| one.label == Some(AnswerMark::Wrong)));
        assert_eq!(labels.of("support", "b", hash).count(), 0);
        assert_eq!(labels.of("other", "a", hash).count(), 0);
    }

    /// Lines were written with these keys before 2026-11-19.
    #[test]
    fn lines_with_the_keys_of_old_are_the_same_labels() {
        let old = format!(
            "{{\"suite\":\"support\",\"test\":\"a\",\"answerHash\":\"{HASH_OF_ANSWER}\",\"label\":\"right\",\
             \"who\":\"ann\",\"when\":\"2026-11-16T20:00:00Z\"}}\n"
        );
        let old = Labels::parse("labels.jsonl".into(), old.as_bytes());
        let new = parsed(&[label("a", Some(AnswerMark::Right), "ann")]);
        assert!(old.damaged().is_empty() && old.iter().eq(new.iter()), "{old:?} {new:?}");
        // A label under one set of keys withdraws that under the other.
        let withdrawn = label("a", None, "ann").line(&Secrets::default());
        assert!(withdrawn.contains("\"label\":null"), "{withdrawn}");
    }

    #[test]
    fn damaged_lines_are_named_and_the_others_count() {
        let good = label("a", Some(AnswerMark::Right), "ann").line(&Secrets::default());
        let mut bad_hash = label("b", None, "ann");
        bad_hash.answer_hash = "E3B0C44298FC1C14".to_owned();
        let mut bad_time = label("c", None, "ann");
        bad_time.when = "yesterday".to_owned();
        let text = format!(
            "\u{feff}{good}<<<<<<< HEAD\n{}{}\n{{\"suite\":\"s\"",
            bad_hash.line(&Secrets::default()),
            bad_time.line(&Secrets::default()),
        );
        let labels = Labels::parse("labels.jsonl".into(), text.as_bytes());
        assert_eq!(labels.iter().count(), 1);
        let damaged: Vec<u64> = labels.damaged().iter().map(|one| one.line).collect();
        assert_eq!(damaged, [2, 3, 4, 6]);
        let reasons: Vec<&str> = labels.damaged().iter().map(|one| one.reason.as_str()).collect();
        assert_eq!(reasons[0], "not a label: expected value (column 1)");
        assert_eq!(reasons[1], "not a label: `answerHash` is not 16 hexadecimal digits");
        assert_eq!(reasons[2], "not a label: `at` is not a time");
    }

    #[test]
    fn a_line_is_readable_inert_and_without_secrets() {
        let mut secrets = Secrets::default();
        secrets.add("sk-very-secret");
        let mut one = label("a", Some(AnswerMark::Wrong), "ann");
        one.note = "not sk-very-secret\n\u{202e}##[error]".to_owned();
        let line = one.line(&secrets);
        let expected = format!(
            "{{\"schemaVersion\":1,\"evalId\":\"a\",\"dataset\":\"support\",\
             \"answerHash\":\"{HASH_OF_ANSWER}\",\"label\":\"fail\",\
             \"note\":\"not ***\\n\\u202e#\\u0023[error]\",\"by\":\"ann\",\
             \"at\":\"2026-11-16T20:00:00Z\"}}\n"
        );
        assert_eq!(line, expected);
    }

    #[test]
    fn a_repository_without_a_file_has_no_labels() {
        let folder = tempfile::tempdir().unwrap();
        let root = Utf8Path::from_path(folder.path()).unwrap();
        assert_eq!(Labels::read(root).unwrap().iter().count(), 0);
    }
}
