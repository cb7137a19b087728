//! `man`: one page for the binary and one for each command.

use std::fs;

use clap::CommandFactory;

use crate::args::{Cli, Man};
use crate::context::{Context, report_error};
use crate::exit::Exit;

pub fn run(context: &Context, args: &Man) -> Result<Exit, Exit> {
    let directory = context.absolute(&args.directory);
    let written = fs::create_dir_all(&directory)
        .and_then(|()| clap_mangen::generate_to(Cli::command(), &directory));
    match written {
        Ok(()) => Ok(Exit::Success),
        Err(error) => {
            report_error(&format!(
                "cannot write man pages into `{}`: {error}",
                args.directory
            ));
            Err(Exit::CouldNotStart)
        }
    }
}
