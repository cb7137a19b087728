//! `init`: writes a small suite and a mock target that answers it.

use camino::Utf8Path;
use evalrig_run::disk::{Access, create_directory_of, create_new};

use crate::args::Init;
use crate::context::Context;
use crate::error::CommandError;
use crate::exit::Exit;
use crate::output::print_text;

const SUITE: &str = include_str!("../../templates/EVAL.yaml");
const TARGETS: &str = include_str!("../../templates/targets.yaml");

pub fn run(context: &Context, args: &Init) -> Result<Exit, CommandError> {
    let shown = args.directory.as_deref().unwrap_or(".");
    let directory = context.absolute(shown);
    if directory.exists() && !directory.is_dir() {
        return Err(CommandError::CouldNotStart(format!("`{shown}` is not a directory")));
    }
    let files = [("EVAL.yaml", SUITE), (".evalrig/targets.yaml", TARGETS)];
    let existing = files.iter().find(|(name, _)| directory.join(name).exists());
    if let Some((name, _)) = existing {
        let file = joined(shown, name);
        return Err(CommandError::CouldNotStart(format!(
            "`{file}` already exists; nothing was written"
        )));
    }
    for (name, content) in files {
        create(&directory.join(name), content)
            .map_err(|error| CommandError::cannot_write(&joined(shown, name), &error))?;
    }
    print_text(&next_steps(shown))?;
    Ok(Exit::Success)
}

fn joined(directory: &str, name: &str) -> String {
    match directory {
        "." => name.to_owned(),
        directory => format!("{}/{name}", directory.trim_end_matches('/')),
    }
}

/// Fails if the file has appeared in the meantime.
fn create(path: &Utf8Path, content: &str) -> std::io::Result<()> {
    create_directory_of(path, Access::Shared)?;
    create_new(path, content.as_bytes(), Access::Shared)
}

fn next_steps(directory: &str) -> String {
    let suite = joined(directory, "EVAL.yaml");
    let targets = joined(directory, ".evalrig/targets.yaml");
    let on = match directory {
        "." => String::new(),
        directory => format!(" {directory}"),
    };
    let run = format!("evalrig run{on}");
    let validate = format!("evalrig validate{on}");
    let (files, commands) = (targets.chars().count(), validate.chars().count());
    format!(
        "wrote {suite:<files$}  three tests to start from\n\
         wrote {targets}  a mock target that answers them\n\n\
         next:\n  {run:<commands$}  run the tests; one fails and shows why\n  {validate}  check the files\n",
    )
}
