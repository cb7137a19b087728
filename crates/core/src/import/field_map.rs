//! `--map`: which keys of a list of records are which fields of a test. Also the presets, and what
//! evalrig proposes when there is no map.

use crate::diagnostic::did_you_mean;

use super::located::Located;

/// What a key of a record becomes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum MapTarget {
    /// A field of [`FIELDS`].
    Field(&'static str),
    /// A key of `metadata`.
    Metadata(String),
    /// A check of the answer with the record's text.
    Check(&'static str),
}

/// Pairs of field and key. A key is a path such as `inputs.question`; `a+b` joins two texts.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FieldMap {
    pub(super) pairs: Vec<(MapTarget, String)>,
    /// The keys that were typed; those of a preset may be missing.
    typed: Vec<String>,
}

/// The fields that a map may name, and what they take.
pub const FIELDS: &[(&str, &str)] = &[
    ("id", "the id; without it, the position"),
    ("input", "what is sent: a text or messages"),
    ("system", "a system message before the input"),
    ("expected_output", "the reference answer"),
    ("criteria", "what a good answer does"),
    ("rubrics", "a list of outcomes that a judge checks"),
    ("tags", "a list of tags, or a text with commas"),
    ("description", "a title for people"),
    ("note", "shown to judges, never to the target"),
];

/// Assertion types that a map may name.
pub const CHECKS: &[&str] = &[
    "contains",
    "icontains",
    "contains-any",
    "icontains-any",
    "contains-all",
    "icontains-all",
    "equals",
    "starts-with",
    "ends-with",
    "regex",
];

/// Maps with a name.
pub const PRESETS: &[(&str, &str)] = &[
    ("qa", "input=question,expected_output=answer"),
    ("chat", "input=messages"),
    ("completion", "input=prompt,expected_output=completion"),
    ("alpaca", "input=instruction+input,expected_output=output"),
    ("mmlu", "input=question+choices,expected_output=answer,tags=subject"),
];

/// Names of keys from which a field is guessed, best first.
const GUESSES: &[(&str, &[&str])] = &[
    (
        "input",
        &[
            "input",
            "question",
            "query",
            "prompt",
            "user_input",
            "user_message",
            "messages",
            "instruction",
            "utterance",
            "message",
            "task",
            "problem",
            "text",
            "request",
            "user",
        ],
    ),
    (
        "expected_output",
        &[
            "expected_output",
            "expected",
            "expected_answer",
            "answer",
            "ideal",
            "target",
            "reference",
            "reference_answer",
            "ground_truth",
            "gold",
            "golden",
            "completion",
            "output",
            "response",
            "solution",
            "label",
        ],
    ),
    ("id", &["id", "case_id", "test_id", "uid", "uuid", "key"]),
    ("criteria", &["criteria", "success_criteria", "expected_behavior", "expectation"]),
    ("rubrics", &["rubrics", "rubric", "assertions", "checks"]),
    ("tags", &["tags", "labels", "categories", "category", "topic"]),
    ("description", &["description", "title", "name"]),
    ("system", &["system", "system_prompt", "system_message"]),
    ("note", &["note", "notes", "comment", "comments"]),
];

impl FieldMap {
    /// Reads `field=key,…`; a part without `=` is the name of a preset. Later pairs replace earlier
    /// ones. The error is for people.
    pub fn parse(text: &str) -> Result<Self, String> {
        let mut map = Self::default();
        for part in text.split(',').map(str::trim).filter(|part| !part.is_empty()) {
            match part.split_once('=') {
                Some((field, key)) => {
                    let (field, key) = (field.trim(), key.trim());
                    map.set(
                        map_target(field).map_err(|error| reversed(field, key).unwrap_or(error))?,
                        key,
                    )?;
                    map.typed.push(key.to_owned());
                }
                None => {
                    let preset = PRESETS.iter().find(|(name, _)| *name == part);
                    let (_, pairs) = preset.ok_or_else(|| unknown_preset(part))?;
                    for (target, key) in Self::parse(pairs)?.pairs {
                        map.set(target, &key)?;
                    }
                }
            }
        }
        Ok(map)
    }

    fn set(&mut self, target: MapTarget, key: &str) -> Result<(), String> {
        if key.is_empty() {
            return Err("a pair of `--map` names no key; write `input=question`".to_owned());
        }
        self.pairs.retain(|(known, _)| *known != target);
        self.pairs.push((target, key.to_owned()));
        Ok(())
    }

    /// A map of a format, which is known to be right.
    pub(super) fn known(pairs: &[(&'static str, &str)]) -> Self {
        let pairs = pairs.iter().map(|(field, key)| (MapTarget::Field(field), (*key).to_owned()));
        Self { pairs: pairs.collect(), typed: Vec::new() }
    }

    /// With the pairs of another map over these.
    pub(super) fn overlaid(mut self, other: Option<&Self>) -> Self {
        for (target, key) in other.map(|map| map.pairs.as_slice()).unwrap_or_default() {
            self.pairs.retain(|(known, _)| known != target);
            self.pairs.push((target.clone(), key.clone()));
        }
        self
    }

    /// The keys that must be those of a record.
    pub(super) fn typed_keys(&self) -> impl Iterator<Item = &str> {
        let is_mapped = |key: &&String| self.pairs.iter().any(|(_, known)| known == *key);
        self.typed.iter().filter(is_mapped).map(String::as_str)
    }

    pub(super) fn key_of(&self, field: &str) -> Option<&str> {
        let pair = self.pairs.iter().find(|(target, _)| match target {
            MapTarget::Field(name) => *name == field,
            _ => false,
        })?;
        Some(&pair.1)
    }

    /// Guesses from the names of keys. `None` when no key looks like an input.
    pub(super) fn proposed(rows: &[Located]) -> Option<Self> {
        let keys = keys_of(rows);
        let mut taken: Vec<&str> = Vec::new();
        let mut map = Self::default();
        for (field, names) in GUESSES {
            let is_free = |name: &&&str| !taken.contains(*name);
            let found = names.iter().filter(is_free).find_map(|name| {
                keys.iter().find(|key| key.eq_ignore_ascii_case(name)).map(|key| (*name, key))
            });
            if let Some((name, key)) = found {
                taken.push(name);
                map.pairs.push((MapTarget::Field(field), (*key).to_owned()));
            }
        }
        map.key_of("input").is_some().then_some(map)
    }

    /// As it is typed.
    pub(super) fn to_argument(&self) -> String {
        let pairs = self.pairs.iter().map(|(target, key)| match target {
            MapTarget::Field(name) | MapTarget::Check(name) => format!("{name}={key}"),
            MapTarget::Metadata(name) => format!("metadata.{name}={key}"),
        });
        pairs.collect::<Vec<_>>().join(",")
    }
}

/// The keys of the records, in order of appearance.
pub(super) fn keys_of(rows: &[Located]) -> Vec<&str> {
    /// Exports are regular; later rows rarely have new keys.
    const LOOKED_AT: usize = 100;
    let mut keys: Vec<&str> = Vec::new();
    for entry in rows.iter().take(LOOKED_AT).flat_map(Located::entries) {
        if !keys.contains(&entry.key.as_str()) {
            keys.push(&entry.key);
        }
    }
    keys
}

/// The keys of the records, and the paths of those in mappings.
pub(super) fn key_paths(rows: &[&Located]) -> Vec<String> {
    const LOOKED_AT: usize = 100;
    let mut paths: Vec<String> = Vec::new();
    for entry in rows.iter().take(LOOKED_AT).flat_map(|row| row.entries()) {
        let inner = entry.value.entries().iter();
        let inner = inner.map(|inner| format!("{}.{}", entry.key, inner.key));
        for path in std::iter::once(entry.key.clone()).chain(inner) {
            if !paths.contains(&path) {
                paths.push(path);
            }
        }
    }
    paths
}

fn map_target(written: &str) -> Result<MapTarget, String> {
    if let Some(key) = written.strip_prefix("metadata.").filter(|key| !key.is_empty()) {
        return Ok(MapTarget::Metadata(key.to_owned()));
    }
    if let Some((name, _)) = FIELDS.iter().find(|(name, _)| *name == written) {
        return Ok(MapTarget::Field(name));
    }
    let spelled = written.replace('_', "-");
    if let Some(name) = CHECKS.iter().find(|name| **name == spelled) {
        return Ok(MapTarget::Check(name));
    }
    let fields = FIELDS.iter().map(|(name, _)| *name);
    let known: Vec<&str> = fields.chain(CHECKS.iter().copied()).collect();
    Err(match did_you_mean(written, known.iter().copied()) {
        Some(near) => format!("`--map` knows no field `{written}`; did you mean `{near}`?"),
        None => format!(
            "`--map` knows no field `{written}`; it takes {} and `metadata.NAME`",
            known.join(", ")
        ),
    })
}

/// A hint for a pair that is written the wrong way round.
fn reversed(field: &str, key: &str) -> Option<String> {
    let is_field = map_target(key).is_ok();
    is_field.then(|| format!("`--map {field}={key}` is the wrong way round; write `{key}={field}`"))
}

fn unknown_preset(name: &str) -> String {
    let known: Vec<&str> = PRESETS.iter().map(|(name, _)| *name).collect();
    format!("`--map` knows no preset `{name}`; it takes `field=key` or one of {}", known.join(", "))
}

#[cfg(test)]
mod tests {
    use super::super::located::testing::located;
    use super::*;

    #[test]
    fn pairs_and_presets_are_read() {
        let map =
            FieldMap::parse("qa, tags=labels,contains_any=words, metadata.level=lvl").unwrap();
        assert_eq!(
            map.to_argument(),
            "input=question,expected_output=answer,tags=labels,contains-any=words,metadata.level=lvl"
        );
        let map = FieldMap::parse("qa,input=text").unwrap();
        assert_eq!(map.to_argument(), "expected_output=answer,input=text");
        for (_, pairs) in PRESETS {
            assert!(FieldMap::parse(pairs).is_ok(), "{pairs}");
        }
    }

    #[test]
    fn mistakes_are_explained() {
        for (text, part) in [
            ("inptu=a", "did you mean `input`?"),
            ("colour=a", "knows no field `colour`"),
            ("question=input", "write `input=question`"),
            ("nothing", "knows no preset `nothing`"),
            ("input=", "names no key"),
        ] {
            let error = FieldMap::parse(text).unwrap_err();
            assert!(error.contains(part), "{error}");
        }
    }

    #[test]
    fn a_map_is_proposed_from_the_keys() {
        let rows = located("- {Question: a, answer: b, topic: c, id: 1}\n- {notes: d}\n");
        let map = FieldMap::proposed(rows.items()).unwrap();
        let text = "input=Question,expected_output=answer,id=id,tags=topic,note=notes";
        assert_eq!(map.to_argument(), text);
        assert_eq!(FieldMap::proposed(located("- {a: b}").items()), None);
    }
}
