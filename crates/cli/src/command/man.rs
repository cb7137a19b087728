//! `man`: writes one page for the binary and one per command.

use std::fs;

use clap::CommandFactory;

use crate::args::{Cli, Man};
use crate::context::Context;
use crate::error::CommandError;
use crate::exit::Exit;

pub fn run(context: &Context, args: &Man) -> Result<Exit, CommandError> {
    let directory = context.absolute(&args.directory);
    let written = fs::create_dir_all(&directory)
        .and_then(|()| clap_mangen::generate_to(Cli::command(), &directory));
    written.map_err(|error| CommandError::cannot_write(&args.directory, &error))?;
    Ok(Exit::Success)
}
