//! `show`: a suite or one test, as it was understood.

use evalrig_core::export;
use evalrig_core::model::{JsonStyle, Value};
use evalrig_core::read::{FoundSuite, Origin};
use evalrig_core::secrets::Secrets;
use evalrig_core::source::{EntryKind, Files};
use evalrig_core::syntax::{EmitStyle, to_yaml};
use evalrig_run::disk::Disk;

use crate::args::{Show, YamlOrJson};
use crate::command::suite::load;
use crate::context::{Context, print_text, report_error};
use crate::exit::Exit;

pub fn run(context: &Context, args: &Show) -> Result<Exit, Exit> {
    let (file, id) = split(context, &args.file);
    let path = context.absolute(file);
    let refusal = match Disk.kind(&path) {
        None => Some(format!("`{file}` does not exist")),
        Some(EntryKind::Directory) => Some(format!(
            "`{file}` is a directory; `evalrig list {file}` names the suites in it"
        )),
        Some(_) => None,
    };
    if let Some(refusal) = refusal {
        report_error(&refusal);
        return Err(Exit::CouldNotStart);
    }
    context.check(&args.loading)?;
    let one = FoundSuite {
        path,
        origin: Origin::Named,
    };
    let Some(mut loaded) = load(context, &args.loading, &one)? else {
        report_error(&format!("`{file}` is no suite"));
        return Err(Exit::CouldNotStart);
    };
    if let Some(id) = id {
        let known: Vec<String> = loaded
            .suite
            .tests
            .iter()
            .map(|test| test.id.as_str().to_owned())
            .collect();
        loaded.suite.tests.retain(|test| test.id.as_str() == id);
        if loaded.suite.tests.is_empty() {
            let near = evalrig_core::diagnostic::did_you_mean(id, known.iter().map(String::as_str));
            let hint = near.map_or(String::new(), |near| format!("; did you mean `{near}`?"));
            report_error(&format!("`{file}` has no test `{id}`{hint}"));
            return Err(Exit::NothingSelected);
        }
    }
    let root = context.root(&args.loading, &one.path);
    let export = export::Context {
        files: &Disk,
        sources: &loaded.sources,
        root: &root,
    };
    let directory = one.path.parent().unwrap_or(&one.path);
    let value = match (args.format, id) {
        (YamlOrJson::Yaml, _) => export::suite_document(&loaded.suite, &export, directory),
        (YamlOrJson::Json, None) => export::suite_value(&loaded.suite, &export),
        (YamlOrJson::Json, Some(_)) => export::test_document(&loaded.suite.tests[0], &export),
    };
    // Secrets go before the text is laid out, or a quoted one would slip through.
    let value = redacted(value, &loaded.secrets);
    print_text(&match args.format {
        YamlOrJson::Yaml => to_yaml(&value, &EmitStyle::default()),
        YamlOrJson::Json => value.to_json(JsonStyle::Pretty) + "\n",
    })?;
    Ok(Exit::Success)
}

/// `FILE#ID`; a file whose own name has a `#` wins.
fn split<'a>(context: &Context, argument: &'a str) -> (&'a str, Option<&'a str>) {
    if Disk.kind(&context.absolute(argument)).is_some() {
        return (argument, None);
    }
    match argument.split_once('#') {
        Some((file, id)) => (file, Some(id)),
        None => (argument, None),
    }
}

fn redacted(value: Value, secrets: &Secrets) -> Value {
    match value {
        _ if secrets.is_empty() => value,
        Value::String(text) => Value::String(secrets.redact(&text)),
        Value::List(items) => Value::List(
            items
                .into_iter()
                .map(|item| redacted(item, secrets))
                .collect(),
        ),
        Value::Map(map) => Value::Map(
            map.iter()
                .map(|(key, value)| (secrets.redact(key), redacted(value.clone(), secrets)))
                .collect(),
        ),
        other => other,
    }
}
