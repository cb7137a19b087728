//! `init`: a small suite that runs at once.

use std::fs;
use std::io::Write;

use camino::Utf8Path;

use crate::args::Init;
use crate::context::{Context, complain, print};
use crate::exit::Exit;

const SUITE: &str = include_str!("../../templates/EVAL.yaml");
const TARGETS: &str = include_str!("../../templates/targets.yaml");

pub fn run(context: &Context, args: &Init) -> Result<Exit, Exit> {
    let shown = args.directory.as_deref().unwrap_or(".");
    let directory = context.absolute(shown);
    let files = [("EVAL.yaml", SUITE), (".evalrig/targets.yaml", TARGETS)];
    let existing = files.iter().find(|(name, _)| directory.join(name).exists());
    if let Some((name, _)) = existing {
        complain(&format!(
            "`{}` exists already; nothing was written",
            joined(shown, name)
        ));
        return Err(Exit::CouldNotStart);
    }
    for (name, content) in files {
        if let Err(error) = create(&directory.join(name), content) {
            complain(&format!("cannot write `{}`: {error}", joined(shown, name)));
            return Err(Exit::CouldNotStart);
        }
    }
    print(&next_steps(shown));
    Ok(Exit::Well)
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
    let here = match directory {
        "." => String::new(),
        directory => format!(" {directory}"),
    };
    format!(
        "wrote {suite}    three tests, ready to be changed\n\
         wrote {targets}    a mock target that answers them\n\n\
         next:\n  evalrig validate{here}    checks every line\n  \
         evalrig show {suite}    prints what was understood\n",
        suite = joined(directory, "EVAL.yaml"),
        targets = joined(directory, ".evalrig/targets.yaml"),
    )
}
