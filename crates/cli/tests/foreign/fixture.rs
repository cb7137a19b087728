//! The sections of the pages beside this file: files of other tools, and what is said about their conversion.
#![allow(dead_code, reason = "every test file uses another part of this support")]

use std::fs;
use std::path::Path;

/// One section of a page.
#[derive(Debug, Default)]
pub struct Fixture {
    pub title: String,
    pub tests: usize,
    pub options: Vec<String>,
    /// Name and text; the first is converted.
    pub files: Vec<(String, String)>,
    /// `line kind` of the first file, or `name:line kind`.
    pub losses: Vec<String>,
}

pub fn fixtures(page: &str) -> Vec<Fixture> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/foreign").join(page);
    let text = fs::read_to_string(path).expect("the page");
    let mut fixtures: Vec<Fixture> = Vec::new();
    let mut lines = text.lines();
    let mut name: Option<String> = None;
    while let Some(line) = lines.next() {
        if let Some(title) = line.strip_prefix("## ") {
            let count = title.rsplit_once('(').expect("a number of tests").1;
            let tests = count.split(' ').next().and_then(|n| n.parse().ok()).expect("a number");
            fixtures.push(Fixture { title: title.to_owned(), tests, ..Fixture::default() });
        }
        let Some(fixture) = fixtures.last_mut() else { continue };
        if let Some(options) = line.strip_prefix("Options: `") {
            let options = options.trim_end_matches('`').split(' ');
            fixture.options = options.map(str::to_owned).collect();
        } else if let Some(file) = line.strip_prefix('`').and_then(|rest| rest.strip_suffix("`:")) {
            name = Some(file.to_owned());
        } else if let Some(kind) = line.strip_prefix("```") {
            let block: Vec<&str> = lines.by_ref().take_while(|line| *line != "```").collect();
            if kind == "losses" {
                fixture.losses = block.iter().map(|line| (*line).to_owned()).collect();
            } else {
                let name = name.take().expect("a name before a file");
                fixture.files.push((name, block.join("\n") + "\n"));
            }
        }
    }
    fixtures
}
