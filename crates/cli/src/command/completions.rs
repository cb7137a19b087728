//! `completions`: a script that completes commands and options.

use clap::CommandFactory;

use crate::args::{Cli, Completions};
use crate::error::CommandError;
use crate::exit::Exit;
use crate::output::print_script;

pub fn run(args: &Completions) -> Result<Exit, CommandError> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "evalrig", &mut script);
    print_script(&String::from_utf8_lossy(&script))?;
    Ok(Exit::Success)
}
