//! `man`: writes one page for the binary and one per command.

use std::io;

use camino::Utf8Path;
use clap::CommandFactory;
use clap_mangen::Man as Page;
use evalrig_run::disk::{Access, Durability, create_directories, write_named};

use crate::args::{Cli, Man};
use crate::context::Context;
use crate::error::CommandError;
use crate::exit::Exit;

pub fn run(context: &Context, args: &Man) -> Result<Exit, CommandError> {
    let directory = context.absolute(&args.directory);
    let mut command = Cli::command().disable_help_subcommand(true);
    command.build();
    let written = create_directories(&directory, Access::Shared)
        .and_then(|()| write_pages(&command, &directory));
    written.map_err(|error| CommandError::cannot_write(&args.directory, &error))?;
    Ok(Exit::Success)
}

fn write_pages(command: &clap::Command, directory: &Utf8Path) -> io::Result<()> {
    for below in command.get_subcommands().filter(|below| !below.is_hide_set()) {
        write_pages(below, directory)?;
    }
    let page = Page::new(command.clone());
    let mut text = Vec::new();
    page.render(&mut text)?;
    let path = directory.join(page.get_filename());
    write_named(&path, &text, Access::Shared, Durability::Unsynced)
}
