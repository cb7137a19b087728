//! `init`: a small suite, and a mock target that answers it.

use std::fs;
use std::io::Write;

use camino::Utf8Path;

use crate::args::Init;
use crate::context::{Context, print_text, report_error};
use crate::exit::Exit;

const SUITE: &str = include_str!("../../templates/EVAL.yaml");
const TARGETS: &str = include_str!("../../templates/targets.yaml");

pub fn run(context: &Context, args: &Init) -> Result<Exit, Exit> {
    let shown = args.directory.as_deref().unwrap_or(".");
    let directory = context.absolute(shown);
    if directory.exists() && !directory.is_dir() {
        report_error(&format!("`{shown}` is not a directory"));
        return Err(Exit::CouldNotStart);
    }
    let files = [("EVAL.yaml", SUITE), (".evalrig/targets.yaml", TARGETS)];
    let existing = files.iter().find(|(name, _)| directory.join(name).exists());
    if let Some((name, _)) = existing {
        report_error(&format!(
            "`{}` exists already; nothing was written",
            joined(shown, name)
        ));
        return Err(Exit::CouldNotStart);
    }
    for (name, content) in files {
        if let Err(error) = create(&directory.join(name), content) {
            report_error(&format!("cannot write `{}`: {error}", joined(shown, name)));
            return Err(Exit::CouldNotStart);
        }
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

/// Never writes over a file that appeared in between.
fn create(path: &Utf8Path, content: &str) -> std::io::Result<()> {
    if let Some(parent) = path.parent() {
        fs::create_dir_all(parent)?;
    }
    fs::File::create_new(path)?.write_all(content.as_bytes())
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
        "wrote {suite:<files$}  three tests, ready to be changed\n\
         wrote {targets}  a mock target that answers them\n\n\
         next:\n  {run:<commands$}  runs them; one fails and says why\n  {validate}  checks every line\n",
    )
}
