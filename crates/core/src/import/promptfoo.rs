//! Configurations of promptfoo: prompts × variables × providers, with assertions.

mod agent;
mod comma_list;
mod file_value;
mod foo_check;
mod foo_config;
mod foo_prompt;
mod foo_script;
mod foo_test;
mod graded;
mod provider;
mod service;
mod test_list;
mod text_check;
mod threshold;
mod tool_check;
mod variables;

use crate::model::{Map, Value};

use super::foreign_file::ForeignFile;
use super::format::ImportFormat;
use super::importer::Importer;
use super::located::Located;
use super::suite_draft::{SuiteDraft, TestDraft, slug};

use foo_check::{CheckWriter, WrittenChecks};
use foo_config::{dereferenced, report_root_keys};
use foo_prompt::FooPrompt;
use foo_test::FooTest;
use threshold::{PlannedTest, finish_tests};

pub(super) static FORMAT: ImportFormat = ImportFormat {
    name: "promptfoo",
    title: "a promptfoo configuration",
    doc: "Configurations of promptfoo (`promptfooconfig.yaml`), with the prompts, tests, variables and scripts
that they name.

| promptfoo | EVAL.yaml |
|---|---|
| `prompts` × `tests` × lists in `vars`; `scenarios` | one test each; a prompt that several tests use is written once, with `vars` |
| `defaultTest` | the same in every test; its assertions at the root if all tests have them |
| `providers`, `targets`, also `https` and `azure` | `.evalrig/targets.yaml`, if there is none yet; names that several would have are numbered |
| `anthropic:claude-agent-sdk`, `openai:codex-sdk` | targets with `claude-cli` and `codex-cli` |
| `threshold`; without it every assertion must pass | `verdicts`, or `required` where tests differ |
| `description`, `metadata`, `options.repeat` | `description`, `metadata`, `trials` |
| `metric` | `name` of the assertion |
| `equals`, `contains`, `icontains`, `contains-any`, …, `starts-with`, `regex`, `is-json`, `latency`, `cost` | the type of that name |
| `not-…` | `negate: true` |
| `assert-set` | `composite`, with its threshold as a gate |
| `word-count` | `regex` |
| `javascript`, `python`; `transform`; `is-json` with a schema, `contains-json`, `is-xml`, `contains-xml`, `levenshtein`, `rouge-n`, `bleu`, `equals` with an object | `code-judge` with a script beside the suite |
| `llm-rubric`, `model-graded-closedqa`, `g-eval`, `factuality`, `answer-relevance`, `context-faithfulness`, `similar`, `is-refusal`, `is-sql`, … | `rubrics`, decided by a judge |
| `trajectory:…`, `tool-call-f1`, `skill-used` | `tool-trajectory`, `execution-metrics`, `trigger-judge` |
| `perplexity`, `classifier`, `moderation`, `guardrails`, `webhook`, `select-best`, `max-score`, `ruby`, traces, red team | left out |
| prompts, tests and variables that are made by code | refused: write them to a file first |

Templates are filled in while converting. A test that promptfoo does not check at all passes with every answer.
",
    detect: |file| {
        let tests = file.root.get("tests").map(Located::items).unwrap_or_default();
        if tests.iter().any(|test| test.has("input") || test.has("input_messages")) {
            return None;
        }
        let own = ["defaultTest", "evaluateOptions", "providers", "targets", "prompts", "redteam"];
        let key = own.into_iter().find(|key| file.root.has(key))?;
        let is_certain = matches!(key, "defaultTest" | "evaluateOptions" | "redteam");
        let others = ["prompts", "tests", "scenarios"];
        let other = others.into_iter().find(|other| *other != key && file.root.has(other));
        match other {
            Some(other) => Some(vec![key, other]),
            None => is_certain.then(|| vec![key]),
        }
    },
    read,
};

/// More tests than any configuration means to have.
const MOST_TESTS: usize = 100_000;

fn read(importer: &mut Importer<'_>, file: &ForeignFile) -> Option<SuiteDraft> {
    let root = dereferenced(importer, &file.root);
    if !root.is_map() {
        return importer.refuse(
            root.span.at_start(),
            format!("expected a mapping with `prompts` and `tests`, found {}", root.type_name()),
            "name the configuration itself",
        );
    }
    let directory = file.path.parent().unwrap_or(&file.path).to_owned();
    let mut draft = SuiteDraft::named(file.suggested_name());
    draft.description = root.get("description").and_then(Located::text);
    report_root_keys(importer, &root, &mut draft);
    provider::read_providers(importer, &root, &mut draft);
    let prompts = FooPrompt::read_all(importer, &root, &directory)?;
    let tests = test_list::read_tests(importer, &root, &directory)?;
    let maker = TestMaker { directory: &directory, prompts: &prompts };
    let mut planned = Vec::new();
    for (at, test) in tests.iter().enumerate() {
        maker.plan(importer, &mut draft, test, at + 1, &mut planned);
        if planned.len() > MOST_TESTS {
            return importer.refuse(
                test.span.at_start(),
                format!("prompts, tests and lists of variables make more than {MOST_TESTS} tests"),
                "convert them in parts",
            );
        }
    }
    if planned.is_empty() {
        return importer.refuse(
            root.span.at_start(),
            "no prompt and test of this configuration belong together",
            "check the `prompts` of its tests",
        );
    }
    finish_tests(&mut draft, planned);
    foo_prompt::share_prompts(&mut draft, &prompts);
    Some(draft)
}

/// What every test is combined with.
struct TestMaker<'a> {
    directory: &'a camino::Utf8Path,
    prompts: &'a [FooPrompt],
}

impl TestMaker<'_> {
    /// One test per combination of variables and prompt.
    fn plan(
        &self,
        importer: &mut Importer<'_>,
        draft: &mut SuiteDraft,
        test: &FooTest,
        position: usize,
        planned: &mut Vec<PlannedTest>,
    ) {
        let prompts: Vec<&FooPrompt> =
            self.prompts.iter().filter(|prompt| test.uses_prompt(prompt)).collect();
        let combinations = variables::combinations(importer, test, self.directory);
        let several = combinations.len() > 1;
        for (number, values) in combinations.iter().enumerate() {
            for prompt in &prompts {
                let mut name = test.description.clone().map(|text| slug(&text)).unwrap_or_default();
                if name.is_empty() {
                    name = format!("test-{position}");
                }
                if several {
                    name = format!("{name}-{}", number + 1);
                }
                if self.prompts.len() > 1 {
                    name = format!("{name}-{}", prompt.anchor);
                }
                let id = draft.new_id(Some(&name), position);
                importer.enter_test(&id);
                let made = self.make(importer, draft, test, prompt, values, id);
                importer.leave_test();
                planned.push(made);
                if planned.len() > MOST_TESTS {
                    return;
                }
            }
        }
    }

    fn make(
        &self,
        importer: &mut Importer<'_>,
        draft: &mut SuiteDraft,
        test: &FooTest,
        prompt: &FooPrompt,
        values: &Map,
        id: String,
    ) -> PlannedTest {
        let input = prompt.input(importer, test, values);
        let mut made = TestDraft::new(id, input.value);
        made.vars = input.vars;
        made.description = test.description.clone();
        made.metadata = test.metadata.clone();
        if self.prompts.len() > 1 {
            made.metadata.insert("prompt", prompt.name());
        }
        made.trials = test.repeat.filter(|count| *count > 1);
        made.target = provider::target_of_test(importer, draft, test);
        let mut writer = CheckWriter::new(importer, draft, test, values, self.directory);
        let default = writer.write_all(&test.default_assertions);
        let own = writer.write_all(&test.own_assertions);
        if default.needs_vars || own.needs_vars {
            made.metadata.insert("vars", Value::Map(values.clone()));
        }
        let WrittenChecks { checks: default, lost: lost_default, .. } = default;
        let WrittenChecks { checks: own, lost: lost_own, .. } = own;
        PlannedTest {
            test: made,
            default,
            own,
            is_lost: lost_default + lost_own > 0,
            threshold: test.threshold.clone(),
            span: test.span,
        }
        .reported(importer)
    }
}
