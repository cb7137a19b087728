//! The tools, with their parameters, and the commands that they run.

use std::sync::Arc;

use rmcp::model::{Tool, ToolAnnotations};
use serde_json::Value;

use crate::exit::Exit;

use super::answer::{BoundedText, counted};
use super::call::{ToolCall, refusal};
use super::explained::index_text;
use super::parameter::{ParameterShape, ToolArguments, ToolParameter, schema};
use super::run_digest::RunDigest;

/// A tool as clients see it.
#[derive(Debug)]
pub struct ToolKind {
    pub name: &'static str,
    title: &'static str,
    doc: &'static str,
    pub parameters: &'static [ToolParameter],
    effect: ToolEffect,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ToolEffect {
    Reads,
    /// Changes files only if an argument says so.
    MayFix,
    /// Calls agents and models.
    Runs,
}

const fn parameter(name: &'static str, shape: ParameterShape, doc: &'static str) -> ToolParameter {
    ToolParameter { name, shape, doc }
}

const PATHS: ToolParameter = parameter(
    "paths",
    ParameterShape::Texts,
    "Suites, directories or glob patterns inside the repository; `!PATTERN` excludes. Default: all suites.",
);

/// How many failed tests an answer shows by default, and at most.
const SHOWN_FAILURES: usize = 10;
const MOST_FAILURES: u64 = 50;

const LIMIT: ToolParameter = parameter(
    "limit",
    ParameterShape::Count(MOST_FAILURES),
    "Show this many tests that did not pass. Default: 10.",
);

/// For an agent that fixes a suite, this is the end of its work and not a mistake.
const NOTHING_FAILED: &str = "nothing was run: none of these tests failed in the last run; call `run` \
                              without `failed` to run them all";

/// In the order of work.
static TOOLS: [ToolKind; 6] = [
    ToolKind {
        name: "validate",
        title: "Check suites",
        doc: "Check evaluation suites, datasets, imports and targets files. Returns every mistake with its \
              line, and what to write instead. Calls no agent. Use it after every edit.",
        parameters: &[
            PATHS,
            parameter("strict", ParameterShape::Flag, "Treat warnings as errors."),
            parameter(
                "fix",
                ParameterShape::Flag,
                "Apply the safe fixes in place; comments and formatting are kept.",
            ),
        ],
        effect: ToolEffect::MayFix,
    },
    ToolKind {
        name: "list",
        title: "List tests",
        doc: "List suites and their tests: file, line, id, tags and assertion types.",
        parameters: &[PATHS],
        effect: ToolEffect::Reads,
    },
    ToolKind {
        name: "run",
        title: "Run suites",
        doc: "Run suites against their targets, grade the answers and save the results. Returns the \
              counts and the tests that did not pass, with reasons. Calls the agents and models that the \
              targets file names, which may take minutes and cost money: use `dry_run` first, and `filter` \
              to run few tests.",
        parameters: &[
            PATHS,
            parameter("filter", ParameterShape::Texts, "Test ids or globs; `!GLOB` excludes."),
            parameter("tag", ParameterShape::Texts, "Run tests with these tags."),
            parameter("target", ParameterShape::Texts, "Targets, instead of the suite's."),
            parameter("arm", ParameterShape::Texts, "Arms, such as `with` and `without` skills."),
            parameter("trials", ParameterShape::Count(100), "Run each test this often."),
            parameter(
                "failed",
                ParameterShape::Flag,
                "Run only what did not pass in the last run.",
            ),
            parameter(
                "dry_run",
                ParameterShape::Flag,
                "Return the plan and its cost; call nothing.",
            ),
            parameter("skip_judges", ParameterShape::Flag, "Skip assertions that need a model."),
            parameter(
                "budget_usd",
                ParameterShape::Amount,
                "Stop when targets and judges have cost this much.",
            ),
            LIMIT,
        ],
        effect: ToolEffect::Runs,
    },
    ToolKind {
        name: "explain",
        title: "Explain a name",
        doc: "The page of a diagnostic (such as `duplicate-id`), an assertion type (`contains`), a target \
              provider (`claude-cli`), a format or a field (`criteria`). Without a name: all assertion types and providers.",
        parameters: &[parameter("name", ParameterShape::Text, "What to explain.")],
        effect: ToolEffect::Reads,
    },
    ToolKind {
        name: "compare",
        title: "Compare two runs",
        doc: "Compare two stored runs: which tests changed, and whether the difference is more than chance.",
        parameters: &[
            parameter(
                "base",
                ParameterShape::Text,
                "The earlier run: `latest~N` or a results file. Default: `latest~1`.",
            ),
            parameter("candidate", ParameterShape::Text, "The later run. Default: `latest`."),
        ],
        effect: ToolEffect::Reads,
    },
    ToolKind {
        name: "failures",
        title: "Show what did not pass",
        doc: "The tests of a stored run that did not pass or could not be measured: line, reasons, the \
              beginning of question and answer. Calls no agent.",
        parameters: &[
            parameter(
                "results",
                ParameterShape::Text,
                "The run: `latest`, `latest~N` or a results file. Default: `latest`.",
            ),
            parameter(
                "test",
                ParameterShape::Text,
                "Only the test with this id, with more of its answer.",
            ),
            LIMIT,
        ],
        effect: ToolEffect::Reads,
    },
];

/// The tools that a client gets.
pub fn offered(is_read_only: bool) -> impl Iterator<Item = &'static ToolKind> {
    TOOLS.iter().filter(move |kind| !(is_read_only && kind.is_run()))
}

impl ToolKind {
    pub fn is_run(&self) -> bool {
        self.effect == ToolEffect::Runs
    }

    pub fn tool(&self, is_read_only: bool) -> Tool {
        let reads = is_read_only || self.effect == ToolEffect::Reads;
        let annotations = ToolAnnotations::new()
            .read_only(reads)
            .destructive(self.is_run())
            .open_world(self.is_run());
        Tool::new(self.name, self.doc, Arc::new(schema(self.parameters)))
            .with_title(self.title)
            .with_annotations(annotations)
    }

    /// The answer, or why there is none.
    pub async fn call(&self, call: &ToolCall<'_>, given: &ToolArguments) -> Result<String, String> {
        for path in given.texts("paths") {
            call.workplace.check_path(path)?;
        }
        for name in ["base", "candidate", "results"] {
            given.text(name).map_or(Ok(()), |results| call.workplace.check_results(results))?;
        }
        match self.name {
            "validate" => validate(call, given).await,
            "list" => list(call, given).await,
            "run" => run(call, given).await,
            "explain" => explain(call, given).await,
            "compare" => compare(call, given).await,
            _ => failures(call, given).await,
        }
    }
}

/// The words of a command. Values of options are joined to them, so that none is taken for an option.
struct CommandWords(Vec<String>);

impl CommandWords {
    fn new(words: &[&str]) -> Self {
        Self(words.iter().map(|word| (*word).to_owned()).collect())
    }

    fn flag(mut self, is_set: bool, word: &str) -> Self {
        self.0.extend(is_set.then(|| word.to_owned()));
        self
    }

    fn options<T: std::fmt::Display>(
        mut self,
        name: &str,
        values: impl IntoIterator<Item = T>,
    ) -> Self {
        self.0.extend(values.into_iter().map(|value| format!("{name}={value}")));
        self
    }

    /// Behind `--`.
    fn with<'a>(mut self, arguments: impl IntoIterator<Item = &'a str>) -> Vec<String> {
        self.0.push("--".to_owned());
        self.0.extend(arguments.into_iter().map(str::to_owned));
        self.0
    }
}

async fn validate(call: &ToolCall<'_>, given: &ToolArguments) -> Result<String, String> {
    let is_fix = given.is_set("fix");
    if is_fix && call.is_read_only {
        return Err("this server was started with `--read-only`; it changes no file".to_owned());
    }
    let words = CommandWords::new(&["validate", "--format", "json"])
        .flag(given.is_set("strict"), "--strict")
        .flag(is_fix, "--fix");
    let found = call.print_json(&words.with(given.texts("paths")), &[0, 1]).await?;
    let count = |key: &str| found[key].as_u64().unwrap_or(0);
    let mut answer = BoundedText::default();
    answer.push(
        "",
        &format!(
            "{}, {} in {} ({})",
            counted(count("errors"), "error"),
            counted(count("warnings"), "warning"),
            counted(count("files"), "file"),
            counted(count("tests"), "test"),
        ),
    );
    let all = found["diagnostics"].as_array().map_or(&[][..], Vec::as_slice);
    let mut shown = 0;
    for one in all {
        let text = |key: &str| one[key].as_str().unwrap_or_default();
        let place = format!("{}:{}:{}", text("file"), one["line"], one["column"]);
        let line = format!("{place}: {}[{}]: {}", text("level"), text("name"), text("message"));
        if !answer.push("", &line) {
            break;
        }
        if !text("help").is_empty() {
            answer.push("  help: ", text("help"));
        }
        shown += 1;
    }
    if shown < all.len() {
        answer.close(&format!("… {} more", all.len() - shown));
    }
    let fixable = all.iter().filter(|one| one["fix"]["safe"] == Value::Bool(true)).count();
    if fixable > 0 && !call.is_read_only {
        let fixable = counted(fixable as u64, "mistake");
        answer.close(&format!("{fixable} can be fixed: call `validate` with `fix`"));
    }
    Ok(answer.into_text())
}

async fn list(call: &ToolCall<'_>, given: &ToolArguments) -> Result<String, String> {
    let words = CommandWords::new(&["list", "--format", "json"]);
    let found = call.print_json(&words.with(given.texts("paths")), &[0]).await?;
    let list = |value: &Value| value.as_array().cloned().unwrap_or_default();
    let words = |value: &Value| {
        let texts = list(value);
        texts.iter().filter_map(Value::as_str).collect::<Vec<_>>().join(", ")
    };
    let (mut answer, mut left_out) = (BoundedText::default(), 0);
    for suite in list(&found["suites"]) {
        let tests = list(&suite["tests"]);
        let text = |key: &str| suite[key].as_str().unwrap_or_default().to_owned();
        let count = counted(tests.len() as u64, "test");
        let mut has_room = left_out == 0
            && answer.push("", &format!("{} ({}, {count})", text("file"), text("name")));
        for test in &tests {
            let place = match test["file"].as_str() {
                Some(file) => format!("{file}:{}", test["line"]),
                None => test["line"].to_string(),
            };
            let tags = words(&test["tags"]);
            let tags = if tags.is_empty() { tags } else { format!(" [{tags}]") };
            let id = test["id"].as_str().unwrap_or_default();
            let kinds = words(&test["assertions"]);
            has_room = has_room && answer.push("  ", &format!("{place} {id}{tags}: {kinds}"));
            left_out += u64::from(!has_room);
        }
    }
    if left_out > 0 {
        let left_out = counted(left_out, "more test");
        answer.close(&format!("… {left_out}; name suites in `paths`"));
    }
    Ok(answer.into_text())
}

async fn run(call: &ToolCall<'_>, given: &ToolArguments) -> Result<String, String> {
    let is_dry = given.is_set("dry_run");
    let words = CommandWords::new(&["run"])
        .options("--filter", given.texts("filter"))
        .options("--tag", given.texts("tag"))
        .options("--target", given.texts("target"))
        .options("--arm", given.texts("arm"))
        .options("--trials", given.number("trials"))
        .options("--budget-usd", given.number("budget_usd"))
        .flag(given.is_set("failed"), "--failed")
        .flag(given.is_set("skip_judges"), "--skip-judges")
        .flag(is_dry, "--dry-run")
        .options("--report", (!is_dry).then_some("jsonl"))
        .with(given.texts("paths"));
    if is_dry {
        let printed = call.print(&words).await?;
        if printed.end.code != Some(0) {
            return Err(refusal(&printed.end));
        }
        return Ok(page(&printed.text));
    }
    let mut digest = RunDigest::new(None, given.count("limit").unwrap_or(SHOWN_FAILURES));
    let end = call.print_rows(&words, |row| digest.add(row)).await?;
    if given.is_set("failed") && end.code == Some(i32::from(Exit::NothingSelected.code())) {
        return Ok(NOTHING_FAILED.to_owned());
    }
    digest.into_answer(&end)
}

async fn explain(call: &ToolCall<'_>, given: &ToolArguments) -> Result<String, String> {
    let Some(name) = given.text("name") else {
        let words = CommandWords::new(&["explain", "--format", "json"]).with([]);
        return Ok(index_text(&call.print_json(&words, &[0]).await?));
    };
    let printed = call.print(&CommandWords::new(&["explain"]).with([name])).await?;
    if printed.end.code == Some(0) { Ok(page(&printed.text)) } else { Err(refusal(&printed.end)) }
}

async fn compare(call: &ToolCall<'_>, given: &ToolArguments) -> Result<String, String> {
    let base = given.text("base").unwrap_or("latest~1");
    let candidate = given.text("candidate").unwrap_or("latest");
    let printed = call.print(&CommandWords::new(&["compare"]).with([base, candidate])).await?;
    if printed.text.is_empty() { Err(refusal(&printed.end)) } else { Ok(page(&printed.text)) }
}

async fn failures(call: &ToolCall<'_>, given: &ToolArguments) -> Result<String, String> {
    let results = given.text("results").unwrap_or("latest");
    let words = CommandWords::new(&["report", "--report", "jsonl"]).with([results]);
    let test = given.text("test").map(str::to_owned);
    let mut digest = RunDigest::new(test, given.count("limit").unwrap_or(SHOWN_FAILURES));
    let end = call.print_rows(&words, |row| digest.add(row)).await?;
    digest.into_answer(&end)
}

/// The beginning of a page.
fn page(text: &str) -> String {
    let mut answer = BoundedText::default();
    answer.push_page(text.trim_end());
    answer.into_text()
}
