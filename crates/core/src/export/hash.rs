//! `testHash`: identifies what a test means (spec 11.1). Tests with the same meaning have the same
//! hash, however they are written.
//!
//! Hashed are the fields marked so in `fields`, as compact JSON with sorted keys. Not hashed:
//! - The path of an attached file or of a template. The agent sees its content, so a digest of it is hashed; the
//!   written path counts only while the file cannot be read.
//! - What happens to a workspace afterwards: `teardown`, `after_all`, `keep`.
//! - Names of assertions: they are keys of results. Inside a composite names count, because its
//!   aggregator refers to members by name.
//! - The judge's `target`: which model grades is a setting of the run.
//! - The spelling of an assertion's weight and gate: `1` and `1.0` are the same number. Other
//!   numbers keep their spelling, which agents, judges and scripts see.
//! - The content of script files: they are code with a history of their own.

use std::io::BufRead;

use camino::Utf8Path;
use sha2::{Digest, Sha256};

use crate::digest::hex;
use crate::model::{
    Block, Expected, JsonStyle, Map, Message, NamedAssertion, Number, Required, Test, Value,
};
use crate::source::{Files, Reach};

use super::fields::{FieldView, canonical_fields};
use super::workspace::TemplateDigests;

/// Bytes of the digest that are kept: 16 hexadecimal digits.
const KEPT: usize = 8;

/// 16 hexadecimal digits that change when the meaning of the test does. For many tests use a
/// [`TestHasher`].
pub fn test_hash(test: &Test, files: &dyn Files) -> String {
    TestHasher::default().hash(test, files)
}

/// Hashes tests. A template that several of them share is read once.
#[derive(Debug, Clone, Default)]
pub struct TestHasher {
    templates: TemplateDigests,
}

impl TestHasher {
    pub fn hash(&mut self, test: &Test, files: &dyn Files) -> String {
        let template = test.workspace.as_ref().and_then(|workspace| workspace.template.as_deref());
        let template = template.map(|path| self.templates.digest(path, files));
        let meaning = Value::from(canonical_fields(test, &FieldView::Hash { files, template }));
        let text = meaning.to_json(JsonStyle::Sorted);
        hex(&Sha256::digest(text.as_bytes())[..KEPT])
    }
}

pub(super) fn messages(list: &[Message], files: &dyn Files) -> Value {
    Value::List(list.iter().map(|m| message(m, files)).collect())
}

fn message(message: &Message, files: &dyn Files) -> Value {
    let shown = message.to_value();
    let Value::Map(mut map) = shown else {
        return shown;
    };
    let blocks: Vec<Value> = map
        .get("content")
        .and_then(Value::as_list)
        .unwrap_or_default()
        .iter()
        .zip(&message.content)
        .map(|(shown, block)| digested(block, files).unwrap_or_else(|| shown.clone()))
        .collect();
    map.insert("content", blocks);
    map.into()
}

/// A block whose file can be read.
fn digested(block: &Block, files: &dyn Files) -> Option<Value> {
    let path = block.file()?.path.as_deref()?;
    let mut map = Map::new();
    map.insert("type", block.type_name());
    map.insert("digest", file_digest(path, files)?);
    Some(map.into())
}

/// Read piece by piece: an attachment may be large.
pub(super) fn file_digest(path: &Utf8Path, files: &dyn Files) -> Option<String> {
    if let Some(known) = files.digest(path) {
        return Some(hex(&known));
    }
    let mut reader = files.open(path, Reach::Anywhere).ok()?;
    let mut digest = Sha256::new();
    loop {
        let piece = reader.fill_buf().ok()?;
        if piece.is_empty() {
            return Some(hex(&digest.finalize()));
        }
        digest.update(piece);
        let length = piece.len();
        reader.consume(length);
    }
}

/// Without the flattened text, which follows from the value.
pub(super) fn expected_value(expected: &Expected, files: &dyn Files) -> Value {
    match expected {
        Expected::Text(text) => one("text", text.as_str().into()),
        Expected::Structured(value) => one("structured", value.clone()),
        Expected::Messages(list) => one("messages", messages(list, files)),
    }
}

fn one(kind: &str, value: Value) -> Value {
    let mut map = Map::new();
    map.insert(kind, value);
    map.into()
}

pub(super) fn assertion(named: &NamedAssertion) -> Map {
    let assertion = &named.assertion;
    let check = &assertion.check;
    let mut options = check.options();
    if check.needs_judge() {
        options.remove("target");
    }
    if !check.members().is_empty() {
        options.insert("assert", members(check.members()));
    }
    let mut map = Map::new();
    map.insert("type", assertion.type_name.as_ref());
    map.insert("weight", by_value(assertion.common.weight.number()));
    map.insert(
        "required",
        match &assertion.common.required {
            Required::AtLeast(number) => by_value(number).into(),
            other => other.to_value(),
        },
    );
    map.insert("negate", assertion.common.negate);
    map.insert("options", options);
    map.insert_some("file", assertion.common.file.as_deref());
    map.insert("config", assertion.common.config.clone());
    map
}

fn members(list: &[NamedAssertion]) -> Vec<Value> {
    list.iter()
        .map(|member| {
            let mut map = assertion(member);
            map.insert("name", member.name.as_ref());
            map.into()
        })
        .collect()
}

/// The number in one spelling, whichever its author chose.
fn by_value(number: &Number) -> Number {
    Number::parse(&number.value().to_string()).unwrap_or_else(|| number.clone())
}

#[cfg(test)]
mod tests {
    use super::super::testing::load;
    use super::*;
    use crate::source::MemoryFiles;

    /// The hashes of all tests of a suite.
    fn hashes(tests: &str, notes: &str) -> Vec<String> {
        let files = MemoryFiles::new()
            .with("/p/EVAL.yaml", format!("name: demo\ntests:\n{tests}"))
            .with("/p/notes.md", notes)
            .with("/p/moved/notes.md", notes)
            .with("/p/evals/files/sales.csv", "month,revenue\n");
        let loaded = load(files, "/p/EVAL.yaml");
        let tests = loaded.suite.tests.iter();
        tests.map(|test| test_hash(test, &loaded.files)).collect()
    }

    fn hash_of(fields: &str) -> String {
        let test = format!("  - {{id: a, input: Hi, {fields}}}\n");
        hashes(&test, "").remove(0)
    }

    const CHECK: &str = "assert: [{type: contains, value: x}]";

    #[test]
    fn both_forms_of_input_files_are_one_test() {
        let tests = r#"
  - id: before
    criteria: Names the trend of each quarter
    input_files: [evals/files/sales.csv, ./notes.md]
    input: "Summarize the monthly trends."
    assert: [{type: contains, value: up}]
  - id: after
    assert: [{value: up, type: contains}]
    input:
      - role: user
        content:
          - {type: file, value: evals/files/sales.csv}
          - {value: ./moved/notes.md, type: file}
          - {type: text, value: "Summarize the monthly trends."}
    criteria: Names the trend of each quarter
"#;
        let found = hashes(tests, "same");
        assert_eq!(found[0], found[1]);
        assert_eq!(found[0].len(), 16);
        assert_ne!(found, hashes(tests, "other"));
    }

    #[test]
    fn only_the_meaning_counts() {
        let plain = hash_of(&format!("criteria: c, {CHECK}"));
        for same in [
            format!("criteria: c, description: d, {CHECK}"),
            format!("criteria: c, metadata: {{k: v}}, trials: 3, skip: true, {CHECK}"),
            format!("criteria: c, execution: {{target: t}}, conversation_id: z, {CHECK}"),
            "criteria: c, assert: [{type: contains, value: x, name: n, weight: 1.0}]".to_owned(),
            "criteria: c, assert: [{type: contains, value: x, description: d}]".to_owned(),
        ] {
            assert_eq!(hash_of(&same), plain, "{same}");
        }
        for other in [
            format!("criteria: d, {CHECK}"),
            format!("criteria: c, note: n, {CHECK}"),
            format!("criteria: c, expected_output: x, {CHECK}"),
            "criteria: c, assert: [{type: contains, value: y}]".to_owned(),
            "criteria: c, assert: [{type: contains, value: x, weight: 2}]".to_owned(),
            "criteria: c, assert: [{type: contains, value: x, required: true}]".to_owned(),
            "criteria: c, assert: [{type: contains, value: x, negate: true}]".to_owned(),
        ] {
            assert_ne!(hash_of(&other), plain, "{other}");
        }
    }

    #[test]
    fn the_order_of_keys_in_data_does_not_count() {
        let one = hash_of(&format!("criteria: c, expected_output: {{a: 1, b: 2}}, {CHECK}"));
        let two = hash_of(&format!("criteria: c, expected_output: {{b: 2, a: 1}}, {CHECK}"));
        assert_eq!(one, two);
    }

    /// Results on disk carry these hashes: a change here makes every stored test a changed one.
    #[test]
    fn hashes_stay_what_they_were() {
        assert_eq!(hash_of(&format!("criteria: c, {CHECK}")), "085925c66d945d58");
    }
}
