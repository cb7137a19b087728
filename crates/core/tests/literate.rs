//! Runs `check/*.md`: prose, files in fences, and beside each line what it must report.
//!
//! A heading begins a case with files of its own; the first file is the suite. In YAML an
//! expectation is a comment at the end of its line: `# error: [name]`, `# warning: [name] "part of
//! the message"`, several with `;` between them. Where comments are not possible (JSON, JSONL, block
//! texts) a fence ```` ```expect ```` lists `path:line:column level[name]`. The level is the one
//! the code declares; a mark of the specification behind the name (`[file-not-found] E!`) says another.
//! A fence ```` ```settings ```` says how the file is loaded. What is reported and what is expected
//! must be the same, both ways.
#![allow(clippy::print_stdout)]
#![allow(clippy::disallowed_methods, reason = "the test looks into the folder of the checks")]

mod support;

use std::collections::BTreeSet;
use std::sync::Arc;

use evalrig_core::codes::all_codes;
use evalrig_core::diagnostic::{Code, Diagnostics, Level};
use evalrig_core::model::{JsonStyle, Number};
use evalrig_core::read::Origin;
use evalrig_core::reader::TargetNames;
use evalrig_core::schema::{self, Draft};
use evalrig_core::source::Sources;
use evalrig_core::syntax::{Node, Scalar, Tree, parse_yaml};
use support::{Project, Seen};

/// The check files; a test makes sure that none is forgotten.
const CHECKS: &[(&str, &str)] = &[
    ("arms.md", include_str!("check/arms.md")),
    ("assertions.md", include_str!("check/assertions.md")),
    ("dialects.md", include_str!("check/dialects.md")),
    ("evals_json.md", include_str!("check/evals_json.md")),
    ("execution.md", include_str!("check/execution.md")),
    ("fields.md", include_str!("check/fields.md")),
    ("files.md", include_str!("check/files.md")),
    ("input_files.md", include_str!("check/input_files.md")),
    ("interpolation.md", include_str!("check/interpolation.md")),
    ("messages.md", include_str!("check/messages.md")),
    ("noise.md", include_str!("check/noise.md")),
    ("paths.md", include_str!("check/paths.md")),
    ("plugin_eval.md", include_str!("check/plugin_eval.md")),
    ("rubrics.md", include_str!("check/rubrics.md")),
    ("rulings.md", include_str!("check/rulings.md")),
    ("transpile_rules.md", include_str!("check/transpile_rules.md")),
    ("workspaces.md", include_str!("check/workspaces.md")),
];

fn code_named(name: &str) -> Option<&'static Code> {
    all_codes().find(|code| code.name == name)
}

/// What a line must report.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Expected {
    path: String,
    line: u32,
    column: Option<u32>,
    severity: String,
    name: String,
    mark: Option<String>,
    part: Option<String>,
}

#[derive(Debug)]
struct Case {
    /// File, line and heading.
    title: String,
    project: Option<Project>,
    expected: Vec<Expected>,
}

impl Expected {
    /// `error: [name] E! "part"`, or `error[name] …`.
    fn parse(text: &str, path: &str, line: u32, column: Option<u32>) -> Option<Self> {
        let (severity, rest) = text.trim().split_once('[')?;
        let severity = severity.trim().trim_end_matches(':');
        if !["error", "warning", "note"].contains(&severity) {
            return None;
        }
        let (name, rest) = rest.split_once(']')?;
        let (mark, part) = match rest.split_once('"') {
            Some((mark, part)) => (mark, Some(part.trim_end().strip_suffix('"')?.to_owned())),
            None => (rest, None),
        };
        let mark = Some(mark.trim()).filter(|mark| !mark.is_empty());
        Some(Self {
            path: path.to_owned(),
            line,
            column,
            severity: severity.to_owned(),
            name: name.to_owned(),
            mark: mark.map(str::to_owned),
            part,
        })
    }

    fn fits(&self, seen: &Seen) -> bool {
        self.path == seen.path
            && self.line == seen.line
            && self.column.is_none_or(|column| column == seen.column)
            && self.name == seen.code.name
            && self.severity == seen.level.severity().word()
            && seen.level.mark() == self.mark.as_deref().unwrap_or(seen.code.level.mark())
            && self.part.as_deref().is_none_or(|part| seen.message.contains(part))
    }
}

impl std::fmt::Display for Expected {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}:{}", self.path, self.line)?;
        if let Some(column) = self.column {
            write!(f, ":{column}")?;
        }
        write!(f, " {}[{}]", self.severity, self.name)?;
        if let Some(mark) = &self.mark {
            write!(f, " {mark}")?;
        }
        if let Some(part) = &self.part {
            write!(f, " \"{part}\"")?;
        }
        Ok(())
    }
}

/// The comments at the ends of the lines of a YAML file.
fn comments(path: &str, body: &[&str]) -> Vec<Expected> {
    let mut found = Vec::new();
    for (at, line) in body.iter().enumerate() {
        let starts = ["# error: [", "# warning: [", "# note: ["];
        let Some(from) = starts.iter().filter_map(|start| line.find(start)).min() else {
            continue;
        };
        for text in line[from + 1..].split(';') {
            let expected = Expected::parse(text, path, at as u32 + 1, None);
            found.push(expected.unwrap_or_else(|| panic!("not an expectation: {text}")));
        }
    }
    found
}

/// The lines of an `expect` fence.
fn listed(body: &[&str]) -> Vec<Expected> {
    body.iter()
        .filter(|line| !line.trim().is_empty())
        .map(|line| {
            let (place, rest) = line.split_once(' ').expect("a place and a name");
            let mut parts = place.rsplitn(3, ':');
            let column = parts.next().and_then(|text| text.parse().ok());
            let row = parts.next().and_then(|text| text.parse().ok());
            let path = parts.next().unwrap_or("");
            let row = row.unwrap_or_else(|| panic!("no line number: {line}"));
            let expected = Expected::parse(rest, path, row, column);
            expected.unwrap_or_else(|| panic!("not an expectation: {line}"))
        })
        .collect()
}

fn apply(project: &mut Project, setting: &str) {
    let (word, rest) = setting.split_once(' ').unwrap_or((setting, ""));
    match word {
        "found" => project.origin = Origin::Found,
        "no-git" => project.has_git = false,
        "strict" => project.strict = true,
        "outside-root-allowed" => project.limits.allow_outside_root = true,
        "no-targets-file" => project.limits.targets = TargetNames::NoFile,
        "main" => project.main = rest.to_owned(),
        "env" => {
            let (name, value) = rest.split_once('=').expect("NAME=VALUE");
            project.variables = std::mem::take(&mut project.variables).with(name, value);
        }
        _ => panic!("unknown setting: {setting}"),
    }
}

fn cases(file: &str, markdown: &str) -> Vec<Case> {
    let mut cases: Vec<Case> = Vec::new();
    let mut lines = markdown.lines().enumerate();
    while let Some((at, line)) = lines.next() {
        if line.starts_with('#') {
            cases.push(Case {
                title: format!("{file}:{}: {}", at + 1, line.trim_start_matches(['#', ' '])),
                project: None,
                expected: Vec::new(),
            });
        }
        let fence = line.bytes().take_while(|b| *b == b'`').count();
        if fence < 3 {
            continue;
        }
        let info = line[fence..].trim();
        let end = &line[..fence];
        let body: Vec<&str> =
            lines.by_ref().map(|(_, line)| line).take_while(|line| *line != end).collect();
        let case = cases.last_mut().expect("a fence is below a heading");
        add_fence(case, info, &body);
    }
    cases
}

fn add_fence(case: &mut Case, info: &str, body: &[&str]) {
    let mut words = info.split_whitespace();
    let language = words.next().expect("a fence names its language");
    match language {
        "expect" => case.expected.extend(listed(body)),
        "settings" => {
            let project = case.project.as_mut().expect("settings follow the files");
            body.iter().for_each(|line| apply(project, line));
        }
        _ => {
            let path = words.next().unwrap_or("EVAL.yaml");
            if language == "yaml" {
                case.expected.extend(comments(path, body));
            }
            let text = if body.is_empty() { String::new() } else { body.join("\n") + "\n" };
            case.project = Some(match case.project.take() {
                None => Project::named(path, text),
                Some(project) => project.with(path, text),
            });
        }
    }
}

/// What is missing and what was not expected; empty when all is well.
fn difference(case: &Case) -> String {
    let Some(project) = &case.project else {
        return String::new();
    };
    let mut seen = project.clone().with_targets_of_file().load().seen;
    let mut text = String::new();
    for expected in &case.expected {
        match seen.iter().position(|seen| expected.fits(seen)) {
            Some(at) => drop(seen.remove(at)),
            None => text += &format!("  - {expected}\n"),
        }
    }
    for seen in seen {
        text += &format!("  + {seen}\n");
    }
    if text.is_empty() { text } else { format!("{}\n{text}\n", case.title) }
}

#[test]
fn every_case_reports_what_it_says_and_nothing_else() {
    let (mut count, mut faults) = (0, String::new());
    for (file, markdown) in CHECKS {
        for case in cases(file, markdown) {
            count += usize::from(case.project.is_some());
            faults += &difference(&case);
        }
    }
    println!("{count} cases");
    assert!(
        faults.is_empty(),
        r"`-` was expected and not reported, `+` was reported and not expected

{faults}"
    );
}

/// The suite file as a validator of JSON Schema sees it: aliases and `<<` written out.
fn as_json(node: Node<'_>) -> serde_json::Value {
    match node.scalar() {
        Some(Scalar::Null) => serde_json::Value::Null,
        Some(Scalar::Bool(value)) => value.into(),
        Some(Scalar::Int(text) | Scalar::Float(text)) => match Number::parse(text) {
            Some(number) => serde_json::from_str(number.text()).unwrap_or_else(|_| text.into()),
            None => text.into(),
        },
        Some(Scalar::Str(text)) => text.into(),
        None if node.is_sequence() => node.items().map(as_json).collect(),
        None => node
            .entries()
            .into_iter()
            .filter_map(|(key, value)| Some((key.scalar_text()?.to_owned(), as_json(value))))
            .collect(),
    }
}

fn tree_of(text: &str) -> Option<Tree> {
    let source = Sources::new().add_file("/p/EVAL.yaml".into(), text.to_owned(), 0);
    parse_yaml(source, Arc::new(text.to_owned()), &mut Diagnostics::new())
}

#[test]
fn a_suite_without_errors_is_accepted_by_the_schema() {
    let validators = [Draft::D2020, Draft::D07].map(|draft| {
        let text = schema::suite(draft).to_json(JsonStyle::Compact);
        let value = serde_json::from_str(&text).expect("the schema is JSON");
        jsonschema::validator_for(&value).expect("the schema is a schema")
    });
    let (mut count, mut refused) = (0, String::new());
    for (file, markdown) in CHECKS {
        for case in cases(file, markdown) {
            let Some(project) = case.project.filter(|project| project.main.ends_with(".yaml"))
            else {
                continue;
            };
            let has_errors = case.expected.iter().any(|one| one.severity == "error");
            let is_suite = project.clone().with_targets_of_file().load().suite.is_some();
            let text = project.main_text().filter(|_| is_suite && !has_errors);
            let Some(tree) = text.and_then(tree_of) else {
                continue;
            };
            count += 1;
            for error in validators.iter().flat_map(|schema| {
                schema
                    .iter_errors(&as_json(tree.root()))
                    .map(|error| error.to_string())
                    .collect::<Vec<_>>()
            }) {
                refused += &format!("{}: {error}\n", case.title);
            }
        }
    }
    assert!(count > 50, "only {count} suites");
    assert_eq!(refused, "");
}

#[test]
fn a_suite_without_diagnostics_is_accepted_by_the_schema_for_editors() {
    let text = schema::strict_suite(Draft::D07).to_json(JsonStyle::Compact);
    let value = serde_json::from_str(&text).expect("the schema is JSON");
    let validator = jsonschema::validator_for(&value).expect("the schema is a schema");
    let (mut count, mut refused) = (0, String::new());
    for (file, markdown) in CHECKS {
        for case in cases(file, markdown) {
            let project = case.project.filter(|project| project.main.ends_with(".yaml"));
            let Some(project) = project.filter(|_| case.expected.is_empty()) else { continue };
            let loaded = project.clone().with_targets_of_file().load();
            if loaded.suite.is_none() || !loaded.seen.is_empty() {
                continue;
            }
            let Some(tree) = project.main_text().and_then(tree_of) else { continue };
            count += 1;
            for error in validator.iter_errors(&as_json(tree.root())) {
                refused += &format!("{}: {error}\n", case.title);
            }
        }
    }
    assert!(count > 20, "only {count} suites");
    assert_eq!(refused, "");
}

#[test]
fn every_code_occurs_in_a_check_file_or_in_the_tests_of_limits_or_transpile() {
    let expected: BTreeSet<String> = CHECKS
        .iter()
        .flat_map(|(file, markdown)| cases(file, markdown))
        .flat_map(|case| case.expected)
        .map(|expected| expected.name)
        .collect();
    let others = [include_str!("limits.rs"), include_str!("transpile.rs")].concat();
    let missing: Vec<&str> = all_codes()
        .map(|code| code.name)
        .filter(|name| !expected.contains(*name) && !others.contains(&format!("\"{name}\"")))
        .collect();
    println!("{} codes in check files", expected.len());
    assert_eq!(missing, Vec::<&str>::new());
    for name in &expected {
        assert!(code_named(name).is_some(), "unknown code `{name}`");
    }
}

#[test]
fn every_check_file_is_run() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/check");
    let mut found: Vec<String> = std::fs::read_dir(folder)
        .expect("the folder of the checks")
        .map(|entry| entry.expect("an entry").file_name().into_string().expect("UTF-8"))
        .collect();
    found.sort();
    let listed: Vec<&str> = CHECKS.iter().map(|(file, _)| *file).collect();
    assert_eq!(found, listed);
}

/// The levels of the specification, written down once more: a code whose level is changed by accident
/// would change every expectation with it.
#[test]
fn every_code_has_the_level_that_the_format_gives_it() {
    let mut wrong = String::new();
    for line in include_str!("levels.txt").lines() {
        let (name, mark) = line.split_once(' ').expect("a name and a mark");
        let Some(code) = code_named(name) else {
            wrong += &format!("`{name}` does not exist\n");
            continue;
        };
        if code.level.mark() != mark {
            wrong += &format!("`{name}` is {}, not {mark}\n", code.level.mark());
        }
    }
    let listed = include_str!("levels.txt");
    for code in all_codes() {
        let line = format!("{} {}", code.name, code.level.mark());
        if !listed.lines().any(|listed| listed == line) {
            wrong += &format!("`levels.txt` lacks `{line}`\n");
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

#[test]
fn a_wrong_expectation_is_noticed() {
    let text = r"# One
```yaml
tests: [] # error: [no-tests]
```
# Two
```yaml
name: demo
tests:
  - {id: a, criteria: Greets, input: Hi} # note: [no-tests]
```
";
    let cases = cases("x.md", text);
    assert!(difference(&cases[0]).contains("+ EVAL.yaml:1:1 error[missing-name] E"));
    assert!(difference(&cases[1]).contains("- EVAL.yaml:3 note[no-tests]"));
    assert_eq!(Level::Note.mark(), "N");
}
