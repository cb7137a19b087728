//! Code lenses: run a test, with its last result, and open the report of that run. The commands are
//! the editor's; the server runs nothing.

use std::collections::HashSet;

use evalrig_core::plan::Filter;
use evalrig_run::text::single_line;
use lsp_types::{CodeLens, Command, Position, Range};
use serde_json::json;

use crate::last_run::{LastRun, TestResult};
use crate::project::Analysis;

use super::spot::Spot;

pub(crate) fn code_lenses(spot: &Spot<'_>, run: Option<&LastRun>) -> Vec<CodeLens> {
    let Some(suite) = spot.suite() else {
        return Vec::new();
    };
    let mut lenses = Vec::new();
    if suite.main.path == spot.path && !suite.tests.is_empty() {
        lenses.push(lens(Range::default(), run_command("run this suite", suite, None)));
        lenses.extend(run.map(|run| lens(Range::default(), report_command(run))));
    }
    for (start, id) in tests_of(spot, suite) {
        let result = run.and_then(|run| run.tests.get(&id));
        let place = Range { start, end: start };
        lenses.push(lens(place, run_command(&title_of(result), suite, Some(&id))));
        if let (Some(run), Some(_)) = (run, result) {
            lenses.push(lens(place, report_command(run)));
        }
    }
    lenses
}

/// The tests of the document, in the order of its lines: those that were read, and those with an id
/// that have an error, so that a lens does not go away while its test is edited.
fn tests_of(spot: &Spot<'_>, suite: &Analysis) -> Vec<(Position, String)> {
    let here = suite.tests.iter().filter(|test| test.path == spot.path);
    let mut found: Vec<(Position, String)> =
        here.map(|test| (test.range.start, test.id.clone())).collect();
    // A file of another tool has no name that was read.
    if suite.name.is_some() && suite.reads.contains(&spot.path) {
        let (places, ids): (HashSet<Position>, HashSet<String>) = found.iter().cloned().unzip();
        let survey = spot.survey();
        let written = survey.tests.iter().filter_map(|test| {
            let (start, id) = (spot.range(&test.whole).start, test.id.clone()?);
            (!places.contains(&start) && !ids.contains(&id)).then_some((start, id))
        });
        found.extend(written);
        found.sort_by_key(|(start, _)| (start.line, start.character));
    }
    found
}

fn title_of(result: Option<&TestResult>) -> String {
    match result.map(TestResult::text).filter(|text| !text.is_empty()) {
        Some(text) => format!("run this test · last: {text}"),
        None => "run this test".to_owned(),
    }
}

fn lens(range: Range, command: Command) -> CodeLens {
    CodeLens { range, command: Some(command), data: None }
}

fn run_command(title: &str, suite: &Analysis, test: Option<&str>) -> Command {
    let arguments = json!({
        "suite": suite.main.path.as_str(),
        "root": suite.root.as_str(),
        "test": test,
        "filter": test.map(Filter::literal),
    });
    Command {
        title: single_line(title),
        command: "evalrig.run".to_owned(),
        arguments: Some(vec![arguments]),
        tooltip: None,
    }
}

fn report_command(run: &LastRun) -> Command {
    Command {
        title: "open report".to_owned(),
        command: "evalrig.openReport".to_owned(),
        arguments: Some(vec![json!({"results": run.file.as_str()})]),
        tooltip: None,
    }
}
