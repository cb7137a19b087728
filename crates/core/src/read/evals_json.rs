//! `evals.json`, eval sets and trigger lists as suites (spec 15).

use std::sync::Arc;

use camino::{Utf8Path, Utf8PathBuf};

use crate::assertion::{
    assertion_from_criteria, assertion_from_items, name_in_test, trigger_assertion,
};
use crate::diagnostic::{Diagnostic, Diagnostics, Level, declare_codes};
use crate::model::{Assertion, Expected, Map, Message, Test, TestId, Value};
use crate::reader::{short_span, type_of, wrong_type};
use crate::source::{SourceId, Span};
use crate::syntax::fields::shorten;
use crate::syntax::{Node, Scalar, Tree, parse_json};

use super::dialect::foreign_file;
use super::evals_json_entry::{
    other_keys, own_name, read_assertions, read_description, read_expected, read_prompt,
};
use super::identity::{INVALID_ID, IdPlace};
use super::input::EMPTY_INPUT;
use super::load::Header;
use super::loader::Loader;
use super::metadata::merge;
use super::name::{derived_name, legal_name};
use super::skill_file::{check_front_matter, check_skill_name, skill_in};
use super::test::NOTHING_TO_GRADE;

declare_codes! {
    MISSING_SKILL_NAME = "missing-skill-name", Warning, Shape, r#"An evals.json says whether a skill should trigger, but not which skill. The directory's name is used instead.

## Example
```json greeter/evals/evals.json
{"evals": [{"id": 1, "prompt": "Hi", "should_trigger": true}]}
```

## Instead
```json greeter/evals/evals.json
{"skill_name": "greeter", "evals": [{"id": 1, "prompt": "Hi", "should_trigger": true}]}
```

## Why
Triggers are matched by the skill's name.
"#;
}

const LIST_KEYS: &[&str] = &["evals", "cases", "tests", "test_cases", "queries"];
const TRIGGER_LISTS: &[(&str, bool)] = &[("should_trigger", true), ("should_not_trigger", false)];

/// Which of the dialects a root is.
enum EvalsDialect<'t> {
    /// A mapping with a list of entries, under this key.
    Object {
        key: &'static str,
        entries: Node<'t>,
    },
    /// A bare list of entries.
    Array(Node<'t>),
    TriggerLists,
}

fn dialect(root: Node<'_>) -> Option<EvalsDialect<'_>> {
    if root.is_sequence() {
        let fits = root.items().len() > 0
            && root.items().all(|item| {
                item.is_mapping() && (item.get("query").is_some() || item.get("prompt").is_some())
            });
        return fits.then_some(EvalsDialect::Array(root));
    }
    if !root.is_mapping() {
        return None;
    }
    let list = LIST_KEYS.iter().find_map(|key| {
        let entries = root.get(key).filter(|value| value.is_sequence())?;
        Some(EvalsDialect::Object { key, entries })
    });
    list.or_else(|| {
        let is_list = |key: &str| {
            root.get(key).is_some_and(|list| {
                list.is_sequence()
                    && list.items().all(|item| matches!(item.scalar(), Some(Scalar::Str(_))))
            })
        };
        TRIGGER_LISTS.iter().any(|(key, _)| is_list(key)).then_some(EvalsDialect::TriggerLists)
    })
}

/// Whether a JSON text has the shape of an evals.json, an eval set or a trigger list.
pub fn is_evals_json(text: &str) -> bool {
    let mut out = Diagnostics::new();
    let tree = parse_json(SourceId(0), Arc::new(text.to_owned()), &mut out);
    tree.is_some_and(|tree| dialect(tree.root()).is_some())
}

pub(super) fn load(
    loader: &mut Loader<'_, '_>,
    path: &Utf8Path,
    source: SourceId,
    tree: &Tree,
) -> Option<Header> {
    let root = tree.root();
    let Some(dialect) = dialect(root) else {
        let help = format!(
            "an evals.json has a list `evals` of entries with `prompt`, or is such a list; \
             `evalrig convert {}` reads other lists",
            loader.file_of(root)
        );
        let span = Span::new(source, short_span(root).start, short_span(root).start);
        let found = [type_of(root)];
        let mut diagnostic = foreign_file(span, "another tool", &found, &help, loader.origin);
        diagnostic.message = format!(
            "this JSON is neither evals.json nor an eval set nor a list of triggers, found {}",
            type_of(root)
        );
        return loader.reader.refuse(diagnostic);
    };
    // Texts are kept byte for byte (spec 15).
    loader.reader.plain_texts = true;
    let skill_root = skill_root(path);
    let written_skill = root.is_mapping().then(|| root.get("skill_name")).flatten();
    let skill = match written_skill {
        Some(node) if !node.is_null() => {
            Some(loader.reader.text_of("skill_name", node)?.into_owned())
        }
        _ => None,
    };
    let header = header(loader, path, source, root, &dialect, skill.as_deref());
    loader.defaults.metadata = header.metadata.clone();
    let reader = &mut loader.reader;
    let own = skill_in(reader.world.files, &skill_root, reader.reach());
    if let Some(own) = &own {
        check_front_matter(reader, &own.directory, header.name_span);
        if let Some(written) = &skill {
            check_skill_name(reader, written, own, header.name_span);
        }
    }
    // A list has no place for the name; the skill itself says it.
    let skill = EvalsSkill {
        written: skill.or(own.map(|own| own.name)),
        directory: skill_root.file_name().unwrap_or("skill").to_owned(),
        place: header.name_span,
        has_root: root.is_mapping(),
    };
    loader.within(&skill_root, |loader| match dialect {
        EvalsDialect::Object { entries, .. } | EvalsDialect::Array(entries) => {
            for entry in entries.items() {
                loader.read_eval(entry, &skill);
            }
        }
        EvalsDialect::TriggerLists => loader.read_trigger_lists(root, &skill),
    });
    loader.check_count(header.name_span);
    Some(header)
}

struct EvalsSkill {
    written: Option<String>,
    directory: String,
    place: Span,
    /// Whether the file is a mapping, which can say the name.
    has_root: bool,
}

/// The parent of an `evals/` directory that holds the file, else the file's directory.
pub fn skill_root(path: &Utf8Path) -> Utf8PathBuf {
    let directory = path.parent().unwrap_or(path);
    match (directory.file_name(), directory.parent()) {
        (Some("evals"), Some(parent)) => parent.to_owned(),
        _ => directory.to_owned(),
    }
}

fn header(
    loader: &mut Loader<'_, '_>,
    path: &Utf8Path,
    source: SourceId,
    root: Node<'_>,
    dialect: &EvalsDialect<'_>,
    skill: Option<&str>,
) -> Header {
    let mut metadata = Map::new();
    metadata.insert_some("skill", skill);
    metadata.insert("source", "evals.json");
    let list_key = match dialect {
        EvalsDialect::Object { key, .. } => *key,
        _ => "",
    };
    for (key, value) in root.written_entries() {
        let Some(name) = key.scalar_text() else {
            continue;
        };
        let is_ours = name == "skill_name"
            || name == list_key
            || TRIGGER_LISTS.iter().any(|(list, _)| *list == name);
        match loader.reader.value(name, value) {
            _ if is_ours => {}
            Value::Map(inner) if name == "metadata" => {
                for (key, value) in inner.iter() {
                    metadata.insert(key, value.clone());
                }
            }
            value => metadata.insert(name, value),
        }
    }
    let name_span = match root.get("skill_name").filter(|_| root.is_mapping()) {
        Some(node) => node.span(),
        None => Span::new(source, root.span().start, root.span().start),
    };
    let name = match skill.map(legal_name) {
        Some(name) if !name.is_empty() => name,
        _ => name_from_path(path),
    };
    Header { metadata, ..Header::bare(name, name_span) }
}

/// The skill's directory, followed by the file's own name unless that is `evals.json`: a list of
/// triggers beside it is a suite of its own.
fn name_from_path(path: &Utf8Path) -> String {
    let stem = legal_name(&derived_name(path));
    let directory = skill_root(path).file_name().map(legal_name).unwrap_or_default();
    match (directory.is_empty(), stem.is_empty() || stem == "evals") {
        (false, true) => directory,
        (false, false) => legal_name(&format!("{directory}-{stem}")),
        (true, _) if stem.is_empty() => "evals".to_owned(),
        (true, _) => stem,
    }
}

impl Loader<'_, '_> {
    fn read_eval(&mut self, entry: Node<'_>, skill: &EvalsSkill) {
        self.position += 1;
        self.reader.out.enter_test(self.position);
        if entry.is_mapping() {
            if let Some(test) = self.eval_test(entry, skill) {
                self.emit(test);
            }
        } else {
            let diagnostic = wrong_type("an item of evals", entry, "a mapping");
            self.reader.report(diagnostic);
        }
        self.reader.out.leave_test();
    }

    fn eval_test(&mut self, entry: Node<'_>, skill: &EvalsSkill) -> Option<Test> {
        let id = self.eval_id(entry);
        let input = read_prompt(&mut self.reader, entry);
        let expected = read_expected(&mut self.reader, entry);
        let rubrics = read_assertions(&mut self.reader, entry);
        let trigger = self.eval_trigger(entry, skill);
        let description = read_description(entry);
        let own = other_keys(&mut self.reader, entry);
        let criteria =
            expected.as_ref().and_then(Expected::text).filter(|text| !text.trim().is_empty());
        let mut list: Vec<Arc<Assertion>> = Vec::new();
        if let Some(items) = rubrics?.filter(|items| !items.is_empty()) {
            list.push(Arc::new(assertion_from_items(items, entry.span())));
        }
        list.extend(trigger?.map(Arc::new));
        if list.is_empty() {
            match &criteria {
                Some(text) => {
                    list.push(Arc::new(assertion_from_criteria(
                        text.trim().to_owned(),
                        entry.span(),
                    )));
                }
                None => self.reader.report(nothing_to_grade(entry)),
            }
        }
        Some(Test {
            criteria,
            description,
            name: own_name(entry),
            metadata: merge(&self.defaults.metadata, &own),
            input: vec![input?],
            expected_output: expected,
            assertions: name_in_test(&mut self.reader, list),
            ..Test::blank(id?, self.position, entry.span())
        })
    }

    /// An integer or a string; the test's position without an `id`.
    fn eval_id(&mut self, entry: Node<'_>) -> Option<TestId> {
        let node = entry.get("id").filter(|node| !node.is_null());
        let (id, span) = match node {
            None => (TestId::numeric(u64::from(self.position)), entry.span().at_start()),
            Some(node) => (self.written_id(node)?, node.span()),
        };
        self.register_at(&id, &IdPlace::Span(span), span);
        Some(id)
    }

    fn written_id(&mut self, node: Node<'_>) -> Option<TestId> {
        match node.scalar() {
            Some(Scalar::Int(text)) => match text.parse::<u64>() {
                Ok(number) if number < 1 << 53 => Some(TestId::numeric(number)),
                _ => TestId::new(text),
            },
            Some(Scalar::Str(text)) => {
                let id = TestId::new(text);
                if id.is_none() {
                    let message = "the id is blank or has a line break in it";
                    self.reader.report(Diagnostic::new(&INVALID_ID, node.span(), message));
                }
                id
            }
            _ => self.reader.refuse(wrong_type("id", node, "an integer or a string")),
        }
    }

    /// `Some(None)` without a trigger, `None` when it is wrong.
    fn eval_trigger(&mut self, entry: Node<'_>, skill: &EvalsSkill) -> Option<Option<Assertion>> {
        let Some(node) = entry.get("should_trigger") else {
            return Some(None);
        };
        let should_trigger = self.reader.boolean_of("should_trigger", node)?;
        Some(Some(self.trigger(skill, should_trigger, node.span())))
    }

    fn trigger(&mut self, skill: &EvalsSkill, should_trigger: bool, span: Span) -> Assertion {
        let name = match &skill.written {
            Some(name) => name.clone(),
            None => {
                let message = format!(
                    "no `skill_name`: triggers are matched by the directory's name, `{}`",
                    shorten(&skill.directory)
                );
                let help = if skill.has_root {
                    "add `skill_name` at the root"
                } else {
                    "a list has no place for it; put the skill's SKILL.md above `evals/`, or use \
                     `{\"skill_name\": NAME, \"evals\": [...]}`"
                };
                let missing = Diagnostic::new(&MISSING_SKILL_NAME, skill.place, message);
                self.reader.report(missing.help(help));
                skill.directory.clone()
            }
        };
        trigger_assertion(name, should_trigger, span)
    }

    fn read_trigger_lists(&mut self, root: Node<'_>, skill: &EvalsSkill) {
        for (key, should_trigger) in TRIGGER_LISTS {
            let Some(list) = root.get(key) else { continue };
            if !list.is_sequence() {
                let diagnostic = wrong_type(key, list, "a list of strings");
                self.reader.report(diagnostic);
                continue;
            }
            for item in list.items() {
                self.position += 1;
                self.reader.out.enter_test(self.position);
                self.read_trigger_query(item, key, *should_trigger, skill);
                self.reader.out.leave_test();
            }
        }
    }

    fn read_trigger_query(
        &mut self,
        item: Node<'_>,
        key: &str,
        should_trigger: bool,
        skill: &EvalsSkill,
    ) {
        let Some(text) = self.reader.text_of(&format!("an item of {key}"), item) else {
            return;
        };
        if text.trim().is_empty() {
            self.reader.report(Diagnostic::new(&EMPTY_INPUT, item.span(), "the query is blank"));
            return;
        }
        let input = Message::user(text.into_owned());
        let trigger = self.trigger(skill, should_trigger, item.span());
        let id = TestId::numeric(u64::from(self.position));
        let list = vec![Arc::new(trigger)];
        let test = Test {
            metadata: self.defaults.metadata.clone(),
            input: vec![input],
            assertions: name_in_test(&mut self.reader, list),
            ..Test::blank(id, self.position, item.span())
        };
        self.emit(test);
    }
}

fn nothing_to_grade(entry: Node<'_>) -> Diagnostic {
    // skill-creator writes entries without assertions while a skill is being drafted.
    Diagnostic::new(&NOTHING_TO_GRADE, short_span(entry), "this entry has nothing to grade")
        .level(Level::Warning)
        .help("add `expected_output`, `assertions` or `should_trigger`")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_beside_evals_json_has_a_name_of_its_own() {
        for (path, name) in [
            ("/p/xcode/evals/evals.json", "xcode"),
            ("/p/xcode/evals.json", "xcode"),
            ("/p/xcode/evals/trigger-evals.json", "xcode-trigger-evals"),
            ("/p/xcode/Eval Set.json", "xcode-eval-set"),
            ("/evals.json", "evals"),
            ("/triggers.json", "triggers"),
        ] {
            assert_eq!(name_from_path(path.into()), name, "{path}");
        }
    }
}
