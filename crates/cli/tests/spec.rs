//! The specification in `docs/spec` and the program agree: citations lead to headings, diagnostics
//! have the levels that are written there, and the examples load.

mod support;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;
use support::Project;

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The pages of the specification by file name.
fn pages() -> BTreeMap<String, String> {
    let entries = fs::read_dir(repository().join("docs/spec")).expect("the specification exists");
    entries
        .map(|entry| entry.expect("a directory entry"))
        .map(|entry| {
            let name = entry.file_name().into_string().expect("a UTF-8 name");
            let text = fs::read_to_string(entry.path()).expect("a page is UTF-8");
            (name, text)
        })
        .collect()
}

/// A fenced block: what follows the backticks, and its content.
struct Block {
    info: String,
    text: String,
}

impl Block {
    /// The path of a file that the examples of its page need.
    fn path(&self) -> Option<&str> {
        let path = self.info.split_once(' ')?.1;
        path.contains('.').then_some(path)
    }
}

fn blocks(page: &str) -> Vec<Block> {
    let mut blocks = Vec::new();
    let mut lines = page.lines();
    while let Some(line) = lines.next() {
        let Some(info) = line.strip_prefix("```") else {
            continue;
        };
        let content: Vec<&str> = lines.by_ref().take_while(|line| *line != "```").collect();
        blocks.push(Block { info: info.to_owned(), text: content.join("\n") + "\n" });
    }
    blocks
}

/// The text of every heading, without the headings of examples.
fn headings(page: &str) -> Vec<String> {
    let mut is_prose = true;
    let mut found = Vec::new();
    for line in page.lines() {
        if line.starts_with("```") {
            is_prose = !is_prose;
        } else if is_prose && line.starts_with('#') {
            found.push(line.trim_start_matches('#').trim().to_owned());
        }
    }
    found
}

/// The numbers of all chapters and sections.
fn sections() -> BTreeSet<String> {
    let all = pages();
    let headings = all.values().flat_map(|page| headings(page));
    let numbers = headings.filter_map(|heading| Some(heading.split_once(' ')?.0.to_owned()));
    numbers.filter(|number| number_length(number) == number.len()).collect()
}

/// How many bytes at the beginning are a section number such as `7` or `7.17`.
fn number_length(text: &str) -> usize {
    let digits = |text: &str| text.bytes().take_while(u8::is_ascii_digit).count();
    let chapter = digits(text);
    match text[chapter..].strip_prefix('.').map(digits) {
        Some(section) if chapter > 0 && section > 0 => chapter + 1 + section,
        _ => chapter,
    }
}

/// The numbers in `spec 7.17`, `spec 7.16, 8.3`, `spec 3.1 and 3.2` and `spec 2.2–2.5`.
fn citations(text: &str) -> Vec<&str> {
    let mut found = Vec::new();
    for (at, word) in text.match_indices("spec ") {
        if text[..at].ends_with(|before: char| before.is_alphanumeric() || before == '_') {
            continue;
        }
        let mut rest = &text[at + word.len()..];
        loop {
            let length = number_length(rest);
            if length == 0 {
                break;
            }
            found.push(&rest[..length]);
            rest = &rest[length..];
            let next = ["–", ", ", " and "].iter();
            match next.filter_map(|between| rest.strip_prefix(between)).next() {
                Some(more) => rest = more,
                None => break,
            }
        }
    }
    found
}

/// Every text file of the repository, without what builds leave behind.
fn files() -> Vec<(PathBuf, String)> {
    let mut found = Vec::new();
    let mut open = vec![repository()];
    while let Some(directory) = open.pop() {
        for entry in fs::read_dir(&directory).expect("a directory of the repository") {
            let path = entry.expect("a directory entry").path();
            let name = path.file_name().expect("a name").to_string_lossy();
            let is_built = matches!(&*name, "target" | ".git" | "node_modules" | "results");
            if path.is_dir() && !is_built {
                open.push(path);
            } else if let Ok(text) = fs::read_to_string(&path) {
                found.push((path, text));
            }
        }
    }
    found
}

#[test]
fn lists_and_ranges_of_sections_are_citations() {
    assert_eq!(
        citations("(spec 2.2–2.5, 3, 15.1). spec 13.7 and 16.4, and spec 8."),
        ["2.2", "2.5", "3", "15.1", "13.7", "16.4", "8"]
    );
    assert!(citations("RunSpec 3, a spec of 4").is_empty());
}

#[test]
fn every_section_has_a_number_of_its_own() {
    let mut seen: BTreeSet<String> = BTreeSet::new();
    for (name, page) in pages() {
        for heading in headings(&page) {
            let number = heading.split(' ').next().unwrap_or_default();
            if number.contains('.') && number_length(number) == number.len() {
                assert!(seen.insert(number.to_owned()), "{name}: {heading}");
            }
        }
    }
    assert!(seen.len() > 100);
}

#[test]
fn every_citation_leads_to_a_heading() {
    let sections = sections();
    let mut lost = Vec::new();
    for (path, text) in files() {
        let extension = path.extension().and_then(|extension| extension.to_str());
        if !matches!(extension, Some("rs" | "md")) {
            continue;
        }
        let unknown = citations(&text).into_iter().filter(|number| !sections.contains(*number));
        lost.extend(unknown.map(|number| format!("{}: spec {number}", path.display())));
    }
    assert!(lost.is_empty(), "{lost:#?}");
}

#[test]
fn the_specification_is_the_only_description_of_the_format() {
    // Put together, so that this file does not mention it.
    let former = ["FORMAT", ".md"].concat();
    let files = files();
    let mentions = files.iter().filter(|(_, text)| text.contains(&former));
    let paths: Vec<&PathBuf> = mentions.map(|(path, _)| path).collect();
    assert!(paths.is_empty(), "{paths:?} mention {former}");
}

/// `E!` and so on, as the front page of the specification explains it.
fn mark(diagnostic: &Value) -> &'static str {
    let blocks = |command: &str| {
        let blocked = diagnostic["blocks"].as_array().expect("a list");
        blocked.iter().any(|one| one == command)
    };
    match (diagnostic["level"].as_str(), blocks("run"), blocks("transpile")) {
        (Some("error"), true, true) => "E!",
        (Some("error"), true, false) => "Er",
        (Some("error"), false, true) => "Et",
        (Some("error"), false, false) => "E",
        (Some("warning"), false, false) => "W",
        (Some("note"), false, false) => "N",
        other => panic!("no mark for {other:?}"),
    }
}

/// Every code span that is followed by a mark.
fn marked_names(page: &str) -> BTreeSet<(String, String)> {
    const MARKS: &[&str] = &["E!", "Er", "Et", "E", "W", "N"];
    let words: Vec<&str> = page.split_whitespace().collect();
    let pairs = words.windows(2).filter_map(|pair| {
        let name = pair[0].strip_suffix('`')?.rsplit('`').next()?;
        let is_end = |c: char| !c.is_ascii_alphanumeric() && c != '!';
        let mark = pair[1].split(is_end).next()?;
        let is_name = name.bytes().all(|b| b.is_ascii_lowercase() || b == b'-');
        (is_name && MARKS.contains(&mark)).then(|| (name.to_owned(), mark.to_owned()))
    });
    pairs.collect()
}

#[test]
fn every_diagnostic_has_its_level_in_the_specification() {
    let output = Project::empty().evalrig(&["explain", "--format", "json"]);
    let explained: Value = serde_json::from_str(&output.out).expect("a JSON document");
    let topics = explained["topics"].as_array().expect("a list");
    let expected: BTreeSet<(String, String)> = topics
        .iter()
        .filter(|topic| topic["kind"] == "diagnostic")
        .map(|topic| (topic["name"].as_str().expect("a name").to_owned(), mark(topic).to_owned()))
        .collect();
    assert!(expected.len() > 100);
    let written: BTreeSet<(String, String)> =
        pages().values().flat_map(|page| marked_names(page)).collect();
    let missing: Vec<_> = expected.difference(&written).collect();
    assert!(missing.is_empty(), "not in docs/spec: {missing:#?}");
    let wrong: Vec<_> = written.difference(&expected).collect();
    assert!(wrong.is_empty(), "the program disagrees: {wrong:#?}");
}

/// A project with the files that a page shows.
fn project_of(blocks: &[Block]) -> Project {
    let project = Project::empty();
    for block in blocks {
        if let Some(path) = block.path() {
            project.write(path, &block.text);
        }
    }
    project
}

#[test]
fn suites_and_targets_files_in_the_specification_are_clean() {
    let mut count = 0;
    for (name, page) in pages() {
        let blocks = blocks(&page);
        for block in &blocks {
            let file = match block.info.as_str() {
                "yaml suite" => "EVAL.yaml",
                "yaml targets" => ".evalrig/targets.yaml",
                _ => continue,
            };
            count += 1;
            let project = project_of(&blocks);
            project.write(file, &block.text);
            let report =
                project.evalrig(&["validate", file, "--strict", "-v", "--format", "json"]).out;
            let is_clean = report.contains("\"diagnostics\": []");
            assert!(is_clean, "{name}:\n{}{report}", block.text);
        }
    }
    assert!(count >= 10, "only {count} examples are marked");
}

#[test]
fn json_in_the_specification_is_json() {
    for (name, page) in pages() {
        for block in blocks(&page) {
            if block.info.split(' ').next() == Some("json") {
                let value = serde_json::from_str::<Value>(&block.text);
                assert!(value.is_ok(), "{name}: {value:?}\n{}", block.text);
            }
        }
    }
}

#[test]
fn the_worked_example_of_transpile_is_what_transpile_writes() {
    let page = &pages()["12-transpile.md"];
    let blocks = blocks(page);
    let block = |info: &str| blocks.iter().find(|block| block.info == info);
    let project = project_of(&blocks);
    project.write("EVAL.yaml", &block("yaml suite").expect("a suite").text);
    let output = project.evalrig(&["transpile", "EVAL.yaml", "--format", "evals", "--stdout"]);
    assert_eq!(output.out, block("json transpiled").expect("a file").text);
}

/// What a table of the program lists has to be in the chapter that describes it.
#[test]
fn types_providers_fields_and_row_keys_are_in_the_specification() {
    let pages = pages();
    let described = |page: &str, name: &str| pages[page].contains(&format!("`{name}`"));
    let schema = |name: &str| {
        let file = repository().join("schema").join(name);
        let text = fs::read_to_string(file).expect("a schema");
        serde_json::from_str::<Value>(&text).expect("JSON")
    };
    let mut missing = Vec::new();
    for kind in evalrig_core::assertion::KINDS {
        for name in [kind.name].iter().chain(kind.aliases) {
            if !described("07-assertions.md", name) {
                missing.push((*name).to_owned());
            }
        }
    }
    for provider in evalrig_run::provider::PROVIDERS {
        if !headings(&pages["09-targets.md"]).contains(&format!("`{}`", provider.name)) {
            missing.push(provider.name.to_owned());
        }
    }
    for field in evalrig_core::read::TEST_FIELDS {
        if !described("03-fields.md", field.name) {
            missing.push(field.name.to_owned());
        }
    }
    let rows = schema("results.schema.json");
    for key in rows["definitions"]["row"]["properties"].as_object().expect("keys of a row").keys() {
        if !described("11-results.md", key) {
            missing.push(key.clone());
        }
    }
    assert!(missing.is_empty(), "not in docs/spec: {missing:?}");
}
