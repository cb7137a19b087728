//! `list`: suites and their tests.

use std::collections::BTreeSet;

use camino::Utf8Path;
use evalrig_core::model::{JsonStyle, Map, NamedAssertion, Suite, Test, Value};
use evalrig_core::read::{FoundSuite, Origin};
use evalrig_core::secrets::Secrets;
use evalrig_core::source::Sources;
use evalrig_run::text::single_line;

use crate::args::{List, TextOrJson};
use crate::command::suite::{LoadedSuite, load};
use crate::context::Context;
use crate::error::CommandError;
use crate::exit::Exit;
use crate::output::{print_json, print_text};

pub fn run(context: &Context, args: &List) -> Result<Exit, CommandError> {
    context.check(&args.loading)?;
    let found = context.discover(&args.paths)?;
    let mut suites = Vec::new();
    let mut exit = Exit::Success;
    for one in &found {
        match load(context, &args.loading, one) {
            Ok(Some(suite)) => suites.push((one, suite)),
            // A file of another tool that was found, not named, is skipped.
            Ok(None) if one.origin == Origin::Found => {}
            Ok(None) | Err(_) => exit = Exit::CouldNotStart,
        }
    }
    if suites.is_empty() && exit == Exit::Success {
        return Err(CommandError::NothingSelected("no suite was found".to_owned()));
    }
    match args.format {
        TextOrJson::Text => {
            for (one, loaded) in &suites {
                print_text(&as_text(context, one, loaded))?;
            }
        }
        TextOrJson::Json => print_json(&as_json(context, &suites))?,
    }
    Ok(exit)
}

fn shown(context: &Context, path: &Utf8Path) -> String {
    evalrig_run::text::shown_path(path, &context.working_directory)
}

fn line_of(sources: &Sources, test: &Test) -> u32 {
    sources.position(test.span).line
}

/// The file that contains a test, if it is not the suite.
fn file_of<'s>(one: &FoundSuite, sources: &'s Sources, test: &Test) -> Option<&'s Utf8Path> {
    let path = sources.get(test.span.source).path();
    (path != one.path).then_some(path)
}

/// `8`, or `cases/more.yaml:8` relative to the suite's directory.
fn place_of(one: &FoundSuite, sources: &Sources, test: &Test) -> String {
    let line = line_of(sources, test);
    let directory = one.path.parent().unwrap_or(&one.path);
    match file_of(one, sources, test) {
        Some(file) => format!("{}:{line}", file.strip_prefix(directory).unwrap_or(file)),
        None => line.to_string(),
    }
}

fn tags(test: &Test) -> Vec<String> {
    let tags = test.metadata.get("tags").and_then(Value::as_list).unwrap_or_default();
    tags.iter().filter_map(Value::as_str).map(str::to_owned).collect()
}

/// The types of all assertions, members of composites included, each once.
fn types(assertions: &[NamedAssertion], found: &mut Vec<String>) {
    for named in assertions {
        let name = named.assertion.type_name.to_string();
        if !found.contains(&name) {
            found.push(name);
        }
        types(named.assertion.check.members(), found);
    }
}

fn skills(assertions: &[NamedAssertion], found: &mut BTreeSet<String>) {
    for named in assertions {
        found.extend(named.assertion.check.trigger().map(|trigger| trigger.skill.clone()));
        skills(named.assertion.check.members(), found);
    }
}

fn as_text(context: &Context, one: &FoundSuite, loaded: &LoadedSuite) -> String {
    let Suite { name, tests, .. } = &loaded.suite;
    let noun = if tests.len() == 1 { "test" } else { "tests" };
    let (path, name) = (single_line(&shown(context, &one.path)), single_line(name));
    let mut text = format!("{path} ({name}, {} {noun})\n", tests.len());
    let widest = tests.iter().map(|test| test.id.as_str().chars().count()).max().unwrap_or(0);
    let places: Vec<String> =
        tests.iter().map(|test| single_line(&place_of(one, &loaded.sources, test))).collect();
    let column = places.iter().map(|place| place.chars().count()).max();
    let column = column.unwrap_or(0).clamp(4, 48) + 2;
    for (test, place) in tests.iter().zip(places) {
        let mut kinds = Vec::new();
        types(&test.assertions, &mut kinds);
        let tags = tags(test);
        let tags = if tags.is_empty() {
            String::new()
        } else {
            format!("  [{}]", single_line(&tags.join(", ")))
        };
        let skip = if test.skip.is_some() { "  (skipped)" } else { "" };
        let id = single_line(test.id.as_str());
        let pad = " ".repeat(widest.min(48).saturating_sub(id.chars().count()));
        text.push_str(&format!(
            "{place:>column$}  {id}{pad}  {}{tags}{skip}\n",
            single_line(&kinds.join(", "))
        ));
    }
    loaded.secrets.redact(&text)
}

fn as_json(context: &Context, suites: &[(&FoundSuite, LoadedSuite)]) -> String {
    let list: Vec<Value> = suites
        .iter()
        .map(|(one, loaded)| {
            let mut map = Map::new();
            map.insert("file", shown(context, &one.path));
            map.insert("name", loaded.suite.name.as_str());
            let tests: Vec<Value> = loaded
                .suite
                .tests
                .iter()
                .map(|test| test_json(context, one, &loaded.sources, test))
                .collect();
            map.insert("tests", tests);
            map.into()
        })
        .collect();
    let mut root = Map::new();
    root.insert("schemaVersion", 1u64);
    root.insert("suites", list);
    let mut secrets = Secrets::default();
    for (_, loaded) in suites {
        secrets.absorb(loaded.secrets.clone());
    }
    let mut document = Value::Map(root);
    secrets.redact_document(&mut document);
    document.to_json(JsonStyle::Pretty) + "\n"
}

fn test_json(context: &Context, one: &FoundSuite, sources: &Sources, test: &Test) -> Value {
    let mut kinds = Vec::new();
    types(&test.assertions, &mut kinds);
    let mut names = BTreeSet::new();
    skills(&test.assertions, &mut names);
    let mut map = Map::new();
    map.insert("id", test.id.as_str());
    if let Some(file) = file_of(one, sources, test) {
        map.insert("file", shown(context, file));
    }
    map.insert("line", line_of(sources, test));
    map.insert("tags", tags(test));
    map.insert("assertions", kinds);
    map.insert("skills", names.into_iter().collect::<Vec<_>>());
    map.into()
}
