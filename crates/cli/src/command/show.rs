//! `show`: prints a suite or one test as it was read.

use evalrig_core::export;
use evalrig_core::model::JsonStyle;
use evalrig_core::read::{FoundSuite, Origin, case_directory, holds_cases};
use evalrig_core::source::{EntryKind, Files};
use evalrig_core::syntax::{EmitStyle, to_yaml};
use evalrig_run::disk::Disk;

use crate::args::{Show, YamlOrJson};
use crate::command::suite::load;
use crate::context::Context;
use crate::error::CommandError;
use crate::exit::Exit;
use crate::output::{print_json, print_text};

pub fn run(context: &Context, args: &Show) -> Result<Exit, CommandError> {
    let (file, id) = split(context, &args.file);
    let path = context.absolute(file);
    let path = case_directory(&Disk, &path).unwrap_or(path);
    let problem = match Disk.kind(&path) {
        None => Some(format!("`{file}` does not exist")),
        Some(EntryKind::Directory) if !holds_cases(&Disk, &path) => {
            Some(format!("`{file}` is a directory; `evalrig list {file}` lists its suites"))
        }
        Some(_) => None,
    };
    if let Some(problem) = problem {
        return Err(CommandError::CouldNotStart(problem));
    }
    context.check(&args.loading)?;
    let one = FoundSuite { path, origin: Origin::Named };
    let Some(mut loaded) = load(context, &args.loading, &one)? else {
        return Err(CommandError::not_a_suite(file));
    };
    if let Some(id) = id {
        let known: Vec<String> =
            loaded.suite.tests.iter().map(|test| test.id.as_str().to_owned()).collect();
        loaded.suite.tests.retain(|test| test.id.as_str() == id);
        if loaded.suite.tests.is_empty() {
            let near = evalrig_core::diagnostic::did_you_mean(id, known.iter().map(String::as_str));
            let hint = near.map_or(String::new(), |near| format!("; did you mean `{near}`?"));
            return Err(CommandError::NothingSelected(format!(
                "`{file}` has no test `{id}`{hint}"
            )));
        }
    }
    let root = context.root(&args.loading, &one.path);
    let export = export::Context { files: &Disk, sources: &loaded.sources, root: &root };
    let directory = one.path.parent().unwrap_or(&one.path);
    let mut value = match (args.format, id) {
        (YamlOrJson::Yaml, _) => export::suite_document(&loaded.suite, &export, directory),
        (YamlOrJson::Json, None) => export::suite_value(&loaded.suite, &export),
        (YamlOrJson::Json, Some(_)) => export::test_document(&loaded.suite.tests[0], &export),
    };
    // Before the text is laid out: in quotes, a secret may be written differently.
    loaded.secrets.redact_document(&mut value);
    match args.format {
        YamlOrJson::Yaml => print_text(&to_yaml(&value, &EmitStyle::default()))?,
        YamlOrJson::Json => print_json(&(value.to_json(JsonStyle::Pretty) + "\n"))?,
    }
    Ok(Exit::Success)
}

/// Splits `FILE#ID`, unless a file of that whole name exists.
fn split<'a>(context: &Context, argument: &'a str) -> (&'a str, Option<&'a str>) {
    if Disk.kind(&context.absolute(argument)).is_some() {
        return (argument, None);
    }
    match argument.split_once('#') {
        Some((file, id)) => (file, Some(id)),
        None => (argument, None),
    }
}
