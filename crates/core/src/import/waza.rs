//! Evals of waza: an `eval.yaml` that names task files.

mod grader_checks;
mod workspace_checks;

use camino::Utf8Path;

use crate::model::{Map, Number, Value};

use super::assertion_draft::{negated, rubric, skill_used, text_check, tools, unique_names};
use super::file_checks::needs_workspace;
use super::foreign_file::ForeignFile;
use super::format::ImportFormat;
use super::importer::Importer;
use super::located::Located;
use super::row::sendable;
use super::schema_keywords::report_keywords;
use super::script::{ScriptLanguage, script_check};
use super::suite_draft::{SuiteDraft, TestDraft};

use grader_checks::{behavior_checks, code_check, constraint_checks, filled_texts, text_checks};
use workspace_checks::{file_checks, program_check};

pub(super) static FORMAT: ImportFormat = ImportFormat {
    name: "waza",
    title: "a waza eval",
    doc: "Evals of waza: an `eval.yaml` with `tasks`, and the task files that it names.

| waza | EVAL.yaml |
|---|---|
| a task: `id`, `name`, `description`, `tags` | a test: `id`, `description`, `tags` |
| `inputs.prompt`, `inputs.files` | `input`, with files and inline content before the prompt |
| `enabled: false` | `skip` |
| `config`: `trials_per_task`, `timeout_seconds` | `trials`, `execution.timeout_seconds` |
| `expected`: `output_contains`, `output_not_contains`, `should_trigger`, `behavior` | `contains-all`, `contains-any` with `negate`, `trigger-judge`, `execution-metrics` and `tool-trajectory` |
| grader `text` | `icontains-all`, `contains-all`, `regex`, with `negate` for the others |
| grader `code` | `code-judge` with a script beside the suite |
| grader `prompt` | `rubrics` |
| grader `behavior`, `action_sequence`, `tool_constraint`, `skill_invocation` | `execution-metrics`, `tool-trajectory`, `trigger-judge` |
| grader `json_schema` | `code-judge` |
| grader `file` | `files`, and `regex` with `file` |
| grader `program` | `code-judge` that runs it with the answer on its input and `WAZA_WORKSPACE_DIR` |
| grader `diff`; hooks, MCP servers, environment | left out |

Every grader must pass, so `verdicts` is `pass: 1`.
",
    detect: |file| {
        let tasks = file.root.get("tasks").filter(|tasks| tasks.is_list())?;
        let is_other = tasks.items().iter().any(|task| {
            ["field_spec", "solvers", "scorers", "instruction"].iter().any(|key| task.has(key))
        });
        let key = ["executor", "config", "metrics", "graders", "skill"];
        let key = key.into_iter().find(|key| file.root.has(key))?;
        (!is_other).then(|| vec!["tasks", key])
    },
    read,
};

fn read(importer: &mut Importer<'_>, file: &ForeignFile) -> Option<SuiteDraft> {
    let root = &file.root;
    let name = root.get("name").and_then(Located::text);
    let mut draft = SuiteDraft::named(name.unwrap_or_else(|| file.suggested_name()));
    draft.description = root.get("description").and_then(Located::text);
    let skill = root.get("skill").and_then(Located::text);
    draft.metadata.insert_some("skill", skill.clone());
    draft.pass = Some(Number::from(1));
    let number = |path: &str| root.at_path(path).and_then(Located::number)?.as_u64();
    draft.trials = number("config.trials_per_task").filter(|count| (1..=100).contains(count));
    draft.timeout_seconds = number("config.timeout_seconds").map(|time| time.clamp(1, 3600));
    for (path, kind) in [
        ("config.model", "target"),
        ("config.judge_model", "target"),
        ("config.mcp_servers", "workspace"),
        ("config.skill_directories", "workspace"),
        ("hooks", "workspace"),
        ("metrics", "metrics"),
    ] {
        if let Some(value) = root.at_path(path) {
            let key = path.rsplit('.').next().unwrap_or(path);
            importer.loss(kind, value.span, format!("`{key}` is left out"));
        }
    }
    let directory = file.path.parent().unwrap_or(&file.path).to_owned();
    let shared = root.get("graders").map(Located::items).unwrap_or_default();
    for entry in root.get("tasks").map(Located::items).unwrap_or_default() {
        if entry.is_map() {
            let task =
                WazaTask { data: entry, directory: &directory, skill: skill.as_deref(), shared };
            task.add(importer, &mut draft)?;
            continue;
        }
        let pattern = entry.text().unwrap_or_default();
        let paths = importer.matching(&directory.join(&pattern));
        if paths.is_empty() {
            let message = format!("no task file matches `{pattern}`");
            return importer.refuse(
                entry.span,
                message,
                "paths start at the directory of this file",
            );
        }
        for path in paths {
            let opened = importer.open(&path, entry.span)?;
            let task = WazaTask {
                data: &opened.root,
                directory: &directory,
                skill: skill.as_deref(),
                shared,
            };
            task.add(importer, &mut draft)?;
        }
    }
    if draft.tests.is_empty() {
        return importer.refuse(
            root.span.at_start(),
            "this eval has no tasks",
            "list them under `tasks`",
        );
    }
    Some(draft)
}

/// One task, and what it inherits.
struct WazaTask<'a> {
    data: &'a Located,
    /// That of the eval.
    directory: &'a Utf8Path,
    skill: Option<&'a str>,
    shared: &'a [Located],
}

impl WazaTask<'_> {
    fn add(&self, importer: &mut Importer<'_>, draft: &mut SuiteDraft) -> Option<()> {
        let data = self.data;
        let text = |key: &str| data.get(key).and_then(Located::text);
        let position = draft.tests.len() + 1;
        let id = draft.given_id(text("id").or_else(|| text("name")).as_deref(), position);
        let Some(prompt) = data.at_path("inputs.prompt").and_then(Located::text) else {
            return importer.refuse(
                data.span.at_start(),
                format!("the task `{id}` has no `inputs.prompt`"),
                "write what the agent is asked",
            );
        };
        importer.enter_test(&id);
        let input = self.input(importer, prompt.trim_end());
        let mut test = TestDraft::new(id, input);
        test.description = text("name").or_else(|| text("description"));
        test.tags = super::vally::tag_pairs(data.get("tags"));
        let timeout = data.get("timeout_seconds").and_then(Located::number);
        test.timeout_seconds =
            timeout.and_then(|time| time.as_u64()).map(|time| time.clamp(1, 3600));
        self.finish(importer, draft, test);
        Some(())
    }

    fn finish(&self, importer: &mut Importer<'_>, draft: &mut SuiteDraft, mut test: TestDraft) {
        let mut checks: Vec<Map> = Vec::new();
        if let Some(expected) = self.data.get("expected") {
            self.expected(importer, expected, &mut checks);
        }
        let own = self.data.get("graders").map(Located::items).unwrap_or_default();
        for grader in own.iter().chain(self.shared) {
            let name = grader.get("name").and_then(Located::text);
            let weight = grader.get("weight").and_then(Located::number);
            let made = self.grader(importer, draft, grader);
            checks.extend(made.into_iter().map(|check| {
                check.with_some("name", name.clone()).with_some("weight", weight.clone())
            }));
        }
        if self.data.get("enabled").and_then(Located::as_bool) == Some(false) {
            test.skip = Some("not enabled in waza".to_owned());
        }
        if checks.is_empty() {
            test.skip.get_or_insert_with(|| "none of its graders could be converted".to_owned());
            let described = self.data.get("description").and_then(Located::text);
            test.criteria = described.or_else(|| test.description.clone());
        }
        unique_names(&mut checks);
        test.workspace = checks.iter().any(needs_workspace).then(Map::new);
        test.assertions = checks.into_iter().map(Value::from).collect();
        importer.leave_test();
        draft.tests.push(test);
    }

    /// Files and inline content, then the prompt.
    fn input(&self, importer: &mut Importer<'_>, prompt: &str) -> Value {
        let files = self.data.at_path("inputs.files").map(Located::items).unwrap_or_default();
        let mut blocks: Vec<Value> = Vec::new();
        for file in files {
            let path = file.get("path").and_then(Located::text);
            match (file.get("content").and_then(Located::text), path) {
                (Some(content), path) => {
                    let name = path.unwrap_or_else(|| "file".to_owned());
                    blocks.push(block("text", format!("{name}:\n{content}")));
                }
                (None, Some(path)) => match self.found(importer, &path) {
                    Some(found) => blocks.push(block("file", found)),
                    None => importer.loss("file", file.span, format!("`{path}` does not exist")),
                },
                (None, None) => {}
            }
        }
        for key in ["environment", "context"] {
            if let Some(value) = self.data.at_path(&format!("inputs.{key}")) {
                importer.loss("workspace", value.span, format!("`{key}` is left out"));
            }
        }
        if blocks.is_empty() {
            return sendable(prompt.into());
        }
        blocks.push(block("text", prompt.to_owned()));
        vec![Value::from(Map::new().with("role", "user").with("content", blocks))].into()
    }

    fn found(&self, importer: &Importer<'_>, path: &str) -> Option<String> {
        let own = self.data.get("context_dir").and_then(Located::text);
        let directories = [own.as_deref().unwrap_or("fixtures"), "", "tasks"];
        let mut paths = directories.iter().map(|inner| self.directory.join(inner).join(path));
        let found = paths.find(|path| importer.exists(path))?;
        Some(importer.path_in_suite(&found))
    }

    fn expected(&self, importer: &mut Importer<'_>, expected: &Located, checks: &mut Vec<Map>) {
        let texts = |key: &str| expected.get(key).map(filled_texts).unwrap_or_default();
        let (all, none) = (texts("output_contains"), texts("output_not_contains"));
        if !all.is_empty() {
            checks.push(text_check("contains-all", all));
        }
        if !none.is_empty() {
            checks.push(negated(text_check("contains-any", none)));
        }
        if let Some(wanted) = expected.get("should_trigger").and_then(Located::as_bool) {
            match self.skill {
                Some(skill) => checks.push(skill_used(skill, wanted)),
                None => importer.loss("trigger", expected.span, "the eval names no `skill`"),
            }
        }
        if let Some(behavior) = expected.get("behavior") {
            checks.extend(behavior_checks(behavior));
        }
        for key in ["outcomes", "tool_calls"] {
            if let Some(value) = expected.get(key) {
                importer.loss("expected", value.span, format!("`expected.{key}` is left out"));
            }
        }
    }

    fn grader(
        &self,
        importer: &mut Importer<'_>,
        draft: &mut SuiteDraft,
        grader: &Located,
    ) -> Vec<Map> {
        let kind = grader.get("type").and_then(Located::text).unwrap_or_default();
        let config = grader.get("config").unwrap_or(grader);
        match kind.as_str() {
            "text" | "regex" | "keyword" => text_checks(importer, config),
            "code" | "" => code_check(importer, draft, config),
            "prompt" | "llm" => {
                let prompt = config.get("prompt").or_else(|| grader.get("rubric"));
                let prompt = prompt.and_then(Located::text).unwrap_or_default();
                if config.get("mode").and_then(Located::as_str) == Some("pairwise") {
                    importer.loss(
                        "grader",
                        grader.span,
                        "the answer is judged alone, not in pairs",
                    );
                }
                Some(prompt.trim())
                    .filter(|text| !text.is_empty())
                    .map(rubric)
                    .into_iter()
                    .collect()
            }
            "behavior" => behavior_checks(config),
            "action_sequence" => {
                let mode = match config.get("matching_mode").and_then(Located::as_str) {
                    Some("exact_match") => "exact",
                    Some("in_order_match") => "in_order",
                    _ => "any_order",
                };
                let actions = config.get("expected_actions").map(filled_texts).unwrap_or_default();
                (!actions.is_empty()).then(|| tools(mode, actions)).into_iter().collect()
            }
            "skill_invocation" => {
                let skills = config.get("required_skills").map(filled_texts).unwrap_or_default();
                if config.get("allow_extra").and_then(Located::as_bool) == Some(false) {
                    let message = "that no other skill may be used is left out";
                    importer.loss("grader", grader.span, message);
                }
                skills.iter().map(|skill| skill_used(skill, true)).collect()
            }
            "tool_constraint" => constraint_checks(importer, config),
            "file" => file_checks(importer, config),
            "program" => program_check(importer, draft, config, self.directory),
            "json_schema" => self.schema_check(importer, draft, grader, config),
            _ => {
                importer.loss("grader", grader.span, format!("the grader `{kind}` is left out"));
                Vec::new()
            }
        }
    }

    fn schema_check(
        &self,
        importer: &mut Importer<'_>,
        draft: &mut SuiteDraft,
        grader: &Located,
        config: &Located,
    ) -> Vec<Map> {
        let schema = match (config.get("schema"), config.get("schema_file").and_then(Located::text))
        {
            (Some(schema), _) => Some(schema.clone()),
            (None, Some(path)) => {
                importer.open(&self.directory.join(path), grader.span).map(|file| file.root)
            }
            (None, None) => None,
        };
        let Some(schema) = schema else { return Vec::new() };
        report_keywords(importer, &schema);
        let config = Map::new().with("type", "is-json").with("value", schema.value());
        vec![script_check(draft, ScriptLanguage::JavaScript, None, config)]
    }
}

fn block(kind: &str, value: String) -> Value {
    Map::new().with("type", kind).with("value", value).into()
}
