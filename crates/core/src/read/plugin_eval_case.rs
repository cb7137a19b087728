//! The settings of one case of `claude plugin eval`: `case.yaml`, and those of `prompt.md` over it
//! (spec 15.5).

use crate::diagnostic::Diagnostic;
use crate::model::{Map, Number, Value};
use crate::reader::{Options, ReadResult, Reader, Reported, wrong_type};
use crate::source::{Span, Spanned};
use crate::syntax::Node;
use crate::syntax::fields::{Bound, Field, Shape};

use super::plugin_eval::{INVALID_PLUGIN_EVAL, report_unknown_keys};
use super::version::UNSUPPORTED_VERSION;

const TEXTS: Shape = Shape::List(&Shape::Text);
const MOST_RUNS: u64 = 50;
const MOST_TURNS: u64 = 200;
const LONGEST_SECONDS: u64 = 3600;

/// Of `case.yaml` and of `prompt.md`.
static TOP: &[Field] = &[
    Field::new("schema_version", Shape::Text, "version of the format"),
    Field::new("name", Shape::NonEmptyText, "name of the case; default: its directory"),
    Field::new("description", Shape::Text, "for readers"),
    Field::new("tags", TEXTS, "for choosing cases"),
    Field::new("plugins", TEXTS, "plugins that are loaded"),
    Field::new("runs", Shape::Integer { min: 1, max: MOST_RUNS }, "how often it runs; default 3"),
    Field::new("expected_outcome", Shape::Text, "what a good answer does"),
];

/// Of `execution` in `case.yaml`, and of `prompt.md`.
static EXECUTION: &[Field] = &[
    Field::new("max_turns", Shape::Integer { min: 1, max: MOST_TURNS }, "most turns of the agent"),
    Field::new(
        "timeout_seconds",
        Shape::Integer { min: 1, max: LONGEST_SECONDS },
        "longest time of one run",
    ),
    Field::new("model", Shape::Text, "model that answers"),
    Field::new("allowed_tools", TEXTS, "tools that the agent may use"),
    Field::new("disallowed_tools", TEXTS, "tools that the agent may not use"),
    Field::new("artifact_publish", Shape::Boolean, "a setting of Claude Code"),
    Field::new("growthbook_overrides", Shape::Map, "a setting of Claude Code"),
    Field::new("append_system_prompt", Shape::Text, "more system prompt"),
    Field::new("env", Shape::MapOf(&Shape::Text), "variables of the agent"),
];
static PROMPT: &[Field] = &[Field::new("prompt", Shape::Text, "what the agent is asked")];
static CASE: &[Field] = &[
    Field::new("context", Shape::Fields(CONTEXT), "what is there before the agent starts"),
    Field::new("execution", Shape::Fields(EXECUTION), "how the agent runs"),
    Field::new("graders", Shape::List(&Shape::Map), "what is checked"),
];
static CONTEXT: &[Field] = &[
    Field::new("scaffold_script", Shape::NonEmptyText, "script that prepares the directory"),
    Field::new("history_file", Shape::NonEmptyText, "earlier messages"),
    Field::new("add_dirs", TEXTS, "further directories"),
];

/// Settings that belong to a target here, with what to write there.
pub(super) const TARGET_SETTINGS: &[&str] = &[
    "max_turns",
    "model",
    "allowed_tools",
    "disallowed_tools",
    "plugins",
    "artifact_publish",
    "growthbook_overrides",
    "add_dirs",
];

/// The settings of a case that a test can have.
#[derive(Debug, Default)]
pub(super) struct CaseSettings {
    pub(super) name: Option<Spanned<String>>,
    pub(super) description: Option<Spanned<String>>,
    pub(super) tags: Option<Spanned<Vec<Value>>>,
    pub(super) runs: Option<Spanned<u64>>,
    pub(super) expected_outcome: Option<Spanned<String>>,
    pub(super) timeout_seconds: Option<Spanned<u64>>,
    pub(super) prompt: Option<Spanned<String>>,
    pub(super) system_prompt: Option<Spanned<String>>,
    pub(super) env: Option<Spanned<Map>>,
    pub(super) scaffold_script: Option<Spanned<String>>,
    pub(super) history_file: Option<Spanned<String>>,
    /// Settings of the target that are written, each with its key.
    pub(super) of_target: Vec<Spanned<&'static str>>,
}

impl CaseSettings {
    /// Reads the root of a `case.yaml`, without its graders.
    pub(super) fn read_case(&mut self, reader: &mut Reader<'_>, root: Node<'_>) -> ReadResult<()> {
        if !root.is_mapping() {
            reader.report(wrong_type("case.yaml", root, "a mapping"));
            return Err(Reported);
        }
        let tables = [TOP, CASE];
        let bound = Bound::new(root, &tables, reader.out());
        report_unknown_keys(&bound, &tables, reader.out());
        check_version(reader, &bound);
        let mut options = Options { reader, fields: &bound, owner: "case.yaml" };
        let top = self.read_top(&mut options);
        let execution = options.optional("execution", |options, entry| {
            let tables: &[&'static [Field]] = &[EXECUTION, PROMPT];
            self.read_part(options, "execution", entry.value, tables, |settings, options| {
                settings.prompt = options.text("prompt")?;
                settings.read_execution(options)
            })
        });
        let context = options.optional("context", |options, entry| {
            self.read_part(options, "context", entry.value, &[CONTEXT], Self::read_context)
        });
        let graders = bound.get("graders").filter(|graders| !graders.value.is_sequence());
        let graders = match graders {
            Some(graders) => Err(options.wrong_type("graders", graders.value, "a list of graders")),
            None => Ok(()),
        };
        top.and(execution.map(|_| ())).and(context.map(|_| ())).and(graders)
    }

    /// Reads the settings of a `prompt.md`, which win over those of `case.yaml`.
    pub(super) fn read_prompt(
        &mut self,
        reader: &mut Reader<'_>,
        root: Node<'_>,
    ) -> ReadResult<()> {
        let tables = [TOP, EXECUTION];
        if !root.is_mapping() {
            reader.report(wrong_type("the settings of prompt.md", root, "a mapping"));
            return Err(Reported);
        }
        let bound = Bound::new(root, &tables, reader.out());
        report_unknown_keys(&bound, &tables, reader.out());
        if bound.has("schema_version") {
            check_version(reader, &bound);
        }
        let mut options = Options { reader, fields: &bound, owner: "prompt.md" };
        let top = self.read_top(&mut options);
        let execution = self.read_execution(&mut options);
        top.and(execution)
    }

    fn read_part(
        &mut self,
        options: &mut Options<'_, '_, '_>,
        name: &str,
        node: Node<'_>,
        tables: &[&'static [Field]],
        read: impl FnOnce(&mut Self, &mut Options<'_, '_, '_>) -> ReadResult<()>,
    ) -> ReadResult<()> {
        if !node.is_mapping() {
            return Err(options.wrong_type(name, node, "a mapping"));
        }
        let bound = Bound::new(node, tables, options.reader.out());
        report_unknown_keys(&bound, tables, options.reader.out());
        let reader = &mut *options.reader;
        read(self, &mut Options { reader, fields: &bound, owner: name })
    }

    fn read_top(&mut self, options: &mut Options<'_, '_, '_>) -> ReadResult<()> {
        let name = options.full_text("name");
        let description = options.text("description");
        let outcome = options.text("expected_outcome");
        let runs = integer(options, "runs", MOST_RUNS);
        let tags = options.optional("tags", |options, entry| {
            let tags = options.reader.text_list(entry).ok_or(Reported)?;
            let tags: Vec<Value> = tags.into_iter().map(|tag| tag.value.into()).collect();
            Ok(Spanned::new(tags, entry.value.span()))
        });
        self.note_target_settings(options);
        set(&mut self.name, name?);
        set(&mut self.description, description?);
        set(&mut self.expected_outcome, outcome?);
        set(&mut self.runs, runs?);
        set(&mut self.tags, tags?);
        Ok(())
    }

    fn read_execution(&mut self, options: &mut Options<'_, '_, '_>) -> ReadResult<()> {
        let seconds = integer(options, "timeout_seconds", LONGEST_SECONDS);
        let turns = integer(options, "max_turns", MOST_TURNS);
        let system = options.text("append_system_prompt");
        let env = options.optional("env", |options, entry| {
            let env = options.reader.map(entry).ok_or(Reported)?;
            Ok(Spanned::new(env, entry.value.span()))
        });
        self.note_target_settings(options);
        turns?;
        set(&mut self.timeout_seconds, seconds?);
        set(&mut self.system_prompt, system?);
        set(&mut self.env, env?);
        Ok(())
    }

    fn read_context(&mut self, options: &mut Options<'_, '_, '_>) -> ReadResult<()> {
        let script = options.full_text("scaffold_script");
        let history = options.full_text("history_file");
        self.note_target_settings(options);
        set(&mut self.scaffold_script, script?);
        set(&mut self.history_file, history?);
        Ok(())
    }

    /// Remembers which settings of the target a mapping has. An empty list says nothing.
    fn note_target_settings(&mut self, options: &Options<'_, '_, '_>) {
        for key in TARGET_SETTINGS {
            let Some(entry) = options.get(key) else { continue };
            let is_empty = entry.value.is_sequence() && entry.value.items().len() == 0;
            let is_known = self.of_target.iter().any(|known| known.value == *key);
            if !is_empty && !is_known {
                self.of_target.push(Spanned::new(*key, entry.key.span()));
            }
        }
    }
}

/// What is written later wins.
fn set<T>(slot: &mut Option<T>, value: Option<T>) {
    if value.is_some() {
        *slot = value;
    }
}

fn integer(
    options: &mut Options<'_, '_, '_>,
    name: &str,
    most: u64,
) -> ReadResult<Option<Spanned<u64>>> {
    let number = options.integer(name, 1, most)?;
    let place = options.get(name).map(|entry| entry.value.span());
    Ok(number.zip(place).map(|(number, span)| Spanned::new(number, span)))
}

/// `schema_version: "1.1"`; other minor versions are read, too.
fn check_version(reader: &mut Reader<'_>, bound: &Bound<'_>) {
    let Some(entry) = bound.get("schema_version") else {
        let message = "the case has no `schema_version`";
        let help = "add `schema_version: \"1.1\"`";
        let place: Span = bound.head();
        reader.report(Diagnostic::new(&INVALID_PLUGIN_EVAL, place, message).help(help));
        return;
    };
    let Some(text) = reader.text(&entry) else {
        return;
    };
    let major = text.split('.').next().and_then(Number::parse).and_then(|major| major.as_u64());
    if !matches!(major, Some(0 | 1)) {
        let message = format!("version {text} of `claude plugin eval` is not supported");
        let help = "evalrig reads version 1";
        let span = entry.value.span();
        reader.report(Diagnostic::new(&UNSUPPORTED_VERSION, span, message).help(help));
    }
}
