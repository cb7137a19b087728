//! The suite that a conversion makes, as data, before it is written. Ids are unique as soon as they are
//! given out, so that losses can name them.

use std::collections::HashSet;

use crate::export::{CRITERIA_PLACEHOLDER, OutFile, STYLE, literal_references};
use crate::model::{Map, Number, Value};
use crate::read::legal_name;
use crate::secrets::Secrets;
use crate::source::Span;
use crate::syntax::{is_harmful, to_yaml, to_yaml_with_anchors};

use super::criteria::criteria_of;
use super::importer::Importer;

/// Characters of an id made from a text.
const LONGEST_ID: usize = 60;

/// Characters of the description of a suite (spec 3.1).
const LONGEST_DESCRIPTION: usize = 2048;

#[derive(Debug, Default)]
pub(super) struct SuiteDraft {
    /// Made legal when the suite is written.
    pub(super) name: String,
    pub(super) description: Option<String>,
    pub(super) metadata: Map,
    /// The score from which on a test passes; there is no borderline.
    pub(super) pass: Option<Number>,
    pub(super) timeout_seconds: Option<u64>,
    pub(super) trials: Option<u64>,
    pub(super) assertions: Vec<Value>,
    pub(super) tests: Vec<TestDraft>,
    /// Scripts beside the suite.
    pub(super) files: Vec<OutFile>,
    /// What the targets file should contain.
    pub(super) targets: Vec<Value>,
    /// The targets that the tests were written for, in the order of the file.
    pub(super) answering: Vec<String>,
    /// Which target stands for which provider of the file.
    pub(super) providers: Vec<(String, NamedProvider)>,
    /// Where providers are whose losses have been reported.
    pub(super) reported_providers: HashSet<Span>,
    /// The name of the target that judges.
    pub(super) judge: Option<String>,
    /// Values that are written once.
    pub(super) anchors: Vec<(String, Value)>,
    ids: HashSet<String>,
}

/// A provider of the file for which there should be a target.
#[derive(Debug, PartialEq)]
pub(super) struct NamedProvider {
    /// The name that the target would like to have.
    pub(super) wanted_name: String,
    pub(super) id: String,
    pub(super) label: Option<String>,
    /// What makes it another one than a provider of the same name.
    pub(super) settings: Value,
}

#[derive(Debug)]
pub(super) struct TestDraft {
    pub(super) id: String,
    pub(super) description: Option<String>,
    pub(super) criteria: Option<String>,
    /// Values of `{{ }}` in the input. Only the input is written as a template.
    pub(super) vars: Option<Map>,
    pub(super) input: Value,
    pub(super) expected_output: Option<Value>,
    pub(super) rubrics: Vec<Value>,
    pub(super) assertions: Vec<Value>,
    pub(super) target: Option<String>,
    pub(super) workspace: Option<Map>,
    pub(super) timeout_seconds: Option<u64>,
    pub(super) trials: Option<u64>,
    pub(super) skip: Option<String>,
    pub(super) note: Option<String>,
    pub(super) tags: Vec<String>,
    pub(super) metadata: Map,
}

impl TestDraft {
    pub(super) fn new(id: String, input: Value) -> Self {
        Self {
            id,
            description: None,
            criteria: None,
            vars: None,
            input,
            expected_output: None,
            rubrics: Vec::new(),
            assertions: Vec::new(),
            target: None,
            workspace: None,
            timeout_seconds: None,
            trials: None,
            skip: None,
            note: None,
            tags: Vec::new(),
            metadata: Map::new(),
        }
    }

    /// Whether a judge or a check decides about it.
    pub(super) fn is_graded(&self) -> bool {
        !(self.rubrics.is_empty() && self.assertions.is_empty())
    }

    fn document(self, inherited: &[Value]) -> Map {
        let has_vars = self.vars.is_some();
        let literal = |text: String| if has_vars { escape_braces(&text) } else { text };
        let all: Vec<&Value> = self.assertions.iter().chain(inherited).collect();
        let criteria = self.criteria.filter(|text| !text.trim().is_empty());
        let criteria = criteria
            .or_else(|| criteria_of(&self.rubrics, &all))
            .unwrap_or_else(|| CRITERIA_PLACEHOLDER.to_owned());
        let mut metadata = legal_metadata(self.metadata);
        if !self.tags.is_empty() {
            metadata.insert("tags", self.tags);
        }
        let execution = execution(self.target, self.timeout_seconds);
        let mut map = Map::new();
        map.insert("id", self.id);
        map.insert_some("description", self.description);
        map.insert("criteria", literal(criteria));
        map.insert_some("vars", self.vars);
        map.insert("input", self.input);
        let expected = self.expected_output.map(|value| match value {
            Value::String(text) => Value::String(literal(text)),
            other => other,
        });
        map.insert_some("expected_output", expected);
        map.insert_some("workspace", self.workspace);
        map.insert_some("rubrics", filled_list(self.rubrics));
        map.insert_some("assert", filled_list(self.assertions));
        map.insert_some("execution", Some(execution).filter(|map| !map.is_empty()));
        map.insert_some("trials", self.trials);
        map.insert_some("skip", self.skip);
        map.insert_some("note", self.note);
        map.insert_some("metadata", Some(metadata).filter(|map| !map.is_empty()));
        map
    }
}

fn filled_list(list: Vec<Value>) -> Option<Vec<Value>> {
    Some(list).filter(|list| !list.is_empty())
}

fn execution(target: Option<String>, timeout_seconds: Option<u64>) -> Map {
    Map::new().with_some("target", target).with_some("timeout_seconds", timeout_seconds)
}

/// Braces that a test with `vars` would read as a reference (spec 6.2).
pub(super) fn escape_braces(text: &str) -> String {
    text.replace("{{", "{{{{").replace("}}", "}}}}")
}

/// Reserved keys of another type than the format wants would be ignored (spec 3.8).
fn legal_metadata(metadata: Map) -> Map {
    let mut legal = Map::new();
    for (key, value) in metadata {
        match (key.as_str(), value) {
            (_, Value::Null) => {}
            ("tags", Value::List(items)) => {
                let tags: Vec<String> = items.iter().filter_map(plain_text).collect();
                legal.insert("tags", tags);
            }
            ("tags", value) => {
                let tag = plain_text(&value).map(Value::from).unwrap_or(value);
                legal.insert("tags", vec![tag]);
            }
            ("author" | "license" | "skill", value) if value.as_str().is_none() => {
                legal.insert(format!("x-{key}"), value);
            }
            ("runs_per_query" | "trigger_threshold", value) => {
                legal.insert(format!("x-{key}"), value);
            }
            (_, value) => legal.insert(key, value),
        }
    }
    legal
}

fn plain_text(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.text().to_owned()),
        Value::Bool(value) => Some(value.to_string()),
        _ => None,
    }
}

/// A converted suite and the files that belong to it.
#[derive(Debug)]
pub struct ImportedSuite {
    pub name: String,
    pub test_count: usize,
    /// Scripts that the suite needs beside it.
    pub files: Vec<OutFile>,
    /// The targets that the foreign file names.
    pub targets: Option<ImportedTargets>,
    /// The targets that the tests were written for; a run asks the first unless it is told otherwise.
    pub answering: Vec<String>,
    /// Whether a test has an image, so that it runs only in a container.
    pub needs_container: bool,
    document: Value,
    anchors: Vec<(String, Value)>,
}

/// What a targets file should contain.
#[derive(Debug)]
pub struct ImportedTargets {
    /// Without the alias `default`.
    pub names: Vec<String>,
    document: Value,
}

impl ImportedSuite {
    /// Whether grading it starts programs.
    pub(super) fn runs_programs(&self) -> bool {
        !self.files.is_empty() || super::direct::runs_programs(&self.document)
    }

    /// The text of the suite file, without secrets, because suites are committed.
    pub fn to_yaml(&self, made_from: &str, secrets: &Secrets) -> String {
        let (mut document, mut anchors) = (self.document.clone(), self.anchors.clone());
        secrets.redact_document(&mut document);
        for (_, value) in &mut anchors {
            secrets.redact_document(value);
        }
        let text = to_yaml_with_anchors(&document, &STYLE, &anchors);
        format!("{}{text}", made_from_line(made_from, secrets))
    }
}

impl ImportedTargets {
    pub fn to_yaml(&self, made_from: &str, secrets: &Secrets) -> String {
        let mut document = self.document.clone();
        secrets.redact_document(&mut document);
        format!("{}{}", made_from_line(made_from, secrets), to_yaml(&document, &STYLE))
    }
}

fn made_from_line(made_from: &str, secrets: &Secrets) -> String {
    let name = secrets.redact(made_from);
    let name: String = name.chars().map(|c| if is_harmful(c) { '?' } else { c }).collect();
    format!("# Made from {name} by `evalrig convert`.\n")
}

impl SuiteDraft {
    pub(super) fn named(name: impl Into<String>) -> Self {
        Self { name: name.into(), ..Self::default() }
    }

    /// An id made from a text, or from the position, that no other test has.
    pub(super) fn new_id(&mut self, text: Option<&str>, position: usize) -> String {
        let slug = text.map(slug).filter(|slug| !slug.is_empty());
        self.unique_id(slug.unwrap_or_else(|| format!("test-{position}")))
    }

    /// The id that the foreign file gives.
    pub(super) fn given_id(&mut self, id: Option<&str>, position: usize) -> String {
        let id = id.map(one_line).filter(|id| !id.is_empty());
        self.unique_id(id.unwrap_or_else(|| format!("test-{position}")))
    }

    fn unique_id(&mut self, wanted: String) -> String {
        let mut id = wanted.clone();
        let mut next = 2;
        while !self.ids.insert(id.clone()) {
            id = format!("{wanted}-{next}");
            next += 1;
        }
        id
    }

    /// The name of the target for a provider, and whether the provider is new. Providers with other settings
    /// never share a name, so that each of them is asked.
    pub(super) fn provider_name(&mut self, provider: NamedProvider) -> (String, bool) {
        let is_same = |one: &NamedProvider| {
            one.wanted_name == provider.wanted_name && one.settings == provider.settings
        };
        if let Some((name, _)) = self.providers.iter().find(|(_, one)| is_same(one)) {
            return (name.clone(), false);
        }
        let is_free = |name: &str| self.providers.iter().all(|(taken, _)| taken != name);
        let wanted = &provider.wanted_name;
        let numbered = (2..).map(|number| format!("{wanted}-{number}"));
        let mut names = std::iter::once(wanted.clone()).chain(numbered);
        let name = names.find(|name| is_free(name)).unwrap_or_else(|| wanted.clone());
        self.providers.push((name.clone(), provider));
        (name, true)
    }

    /// The targets for a provider that is named by its label, its id or the name of the target.
    pub(super) fn names_of_provider(&self, named: &str) -> Vec<String> {
        let all = |fits: &dyn Fn(&String, &NamedProvider) -> bool| {
            let found = self.providers.iter().filter(|(name, one)| fits(name, one));
            found.map(|(name, _)| name.clone()).collect::<Vec<_>>()
        };
        let by_label = all(&|name, one| one.label.as_deref() == Some(named) || name == named);
        if by_label.is_empty() { all(&|_, one| one.id == named) } else { by_label }
    }

    pub(super) fn add_file(&mut self, name: &str, text: &str) {
        if self.files.iter().all(|file| file.name != name) {
            self.files.push(OutFile { name: name.to_owned(), text: text.to_owned() });
        }
    }

    pub(super) fn finish(self, importer: &mut Importer<'_>, whole: Span) -> ImportedSuite {
        let name = legal_name(&self.name);
        let name = if name.is_empty() { "converted".to_owned() } else { name };
        let description = self.description.map(|text| {
            if text.chars().count() <= LONGEST_DESCRIPTION {
                return text;
            }
            let message = "the description is cut after 2,048 characters";
            importer.loss("description", whole, message);
            text.chars().take(LONGEST_DESCRIPTION).collect()
        });
        let targets = imported_targets(self.targets, self.judge);
        let mut map = Map::new();
        map.insert("name", name.as_str());
        map.insert_some("description", description);
        let metadata = legal_metadata(self.metadata);
        map.insert_some("metadata", Some(metadata).filter(|map| !map.is_empty()));
        let execution = execution(None, self.timeout_seconds);
        map.insert_some("execution", Some(execution).filter(|map| !map.is_empty()));
        let verdicts =
            self.pass.map(|pass| Map::new().with("pass", pass.clone()).with("borderline", pass));
        map.insert_some("verdicts", verdicts);
        map.insert_some("trials", self.trials.filter(|trials| *trials > 1));
        map.insert_some("assert", filled_list(self.assertions.clone()));
        let test_count = self.tests.len();
        let has_image = |test: &TestDraft| test.workspace.as_ref()?.get("docker").map(|_| ());
        let needs_container = self.tests.iter().any(|test| has_image(test).is_some());
        let tests = self.tests.into_iter();
        let tests: Vec<Value> = tests.map(|test| test.document(&self.assertions).into()).collect();
        map.insert("tests", tests);
        let anchors = self.anchors.into_iter();
        ImportedSuite {
            name,
            test_count,
            files: self.files,
            targets,
            answering: self.answering,
            needs_container,
            document: literal_references(map.into()),
            anchors: anchors.map(|(name, value)| (name, literal_references(value))).collect(),
        }
    }
}

/// The first target also answers to `default`, which suites without a target use.
fn imported_targets(targets: Vec<Value>, judge: Option<String>) -> Option<ImportedTargets> {
    let name_of = |target: &Value| Some(target.as_map()?.get("name")?.as_str()?.to_owned());
    let names: Vec<String> = targets.iter().filter_map(name_of).collect();
    let first = names.first()?;
    let mut list = targets;
    if first != "default" {
        let alias = Map::new().with("name", "default").with("use_target", first.as_str());
        list.insert(0, alias.into());
    }
    let document = Map::new().with_some("judge_target", judge).with("targets", list);
    Some(ImportedTargets { names, document: document.into() })
}

/// Lower-case letters and digits with hyphens between them.
pub(super) fn slug(text: &str) -> String {
    let mut slug = String::new();
    for character in text.to_lowercase().chars() {
        if character.is_alphanumeric() {
            slug.push(character);
        } else if !slug.ends_with('-') && !slug.is_empty() {
            slug.push('-');
        }
    }
    let cut: String = slug.chars().take(LONGEST_ID).collect();
    cut.trim_end_matches('-').to_owned()
}

/// White space of any kind becomes one space.
pub(super) fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_unique_and_readable() {
        let mut draft = SuiteDraft::default();
        assert_eq!(draft.new_id(Some("Says: \"Hello\"!"), 1), "says-hello");
        assert_eq!(draft.new_id(Some("says hello"), 2), "says-hello-2");
        assert_eq!(draft.new_id(Some("???"), 3), "test-3");
        assert_eq!(draft.new_id(None, 4), "test-4");
        assert_eq!(draft.given_id(Some("q 1\n"), 5), "q 1");
        assert_eq!(draft.given_id(Some(" "), 6), "test-6");
    }

    #[test]
    fn reserved_metadata_of_another_type_is_renamed() {
        let map = Map::new()
            .with("tags", "one")
            .with("author", 5_u64)
            .with("skill", "csv")
            .with("runs_per_query", 3_u64);
        let text = Value::Map(legal_metadata(map)).to_json(crate::model::JsonStyle::Compact);
        let expected = r#"{"tags":["one"],"x-author":5,"skill":"csv","x-runs_per_query":3}"#;
        assert_eq!(text, expected);
    }
}
