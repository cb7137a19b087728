//! `mcp`: tools for coding agents, over the Model Context Protocol on standard input and output.
//!
//! Each call of a tool runs a command of this executable and makes a small answer of its output. So the
//! tools do what the commands do, a crash ends one call, and a cancelled run is stopped by a signal.

mod answer;
mod call;
mod confine;
mod explained;
mod parameter;
mod run_digest;
mod server;
mod tool;

use evalrig_core::read::repository_root;
use evalrig_run::disk::Disk;

use crate::args::Mcp;
use crate::context::Context;
use crate::error::CommandError;
use crate::exit::Exit;

use confine::Workplace;
use server::ToolServer;

pub fn run(context: &Context, args: &Mcp) -> Result<Exit, CommandError> {
    let directory = match &args.directory {
        Some(directory) => context.absolute(directory),
        None => context.working_directory.clone(),
    };
    if !directory.is_dir() {
        let message = format!("`{}` is not a directory", context.shown(&directory));
        return Err(CommandError::CouldNotStart(message));
    }
    let workplace = Workplace { root: repository_root(&Disk, &directory), directory };
    let server = ToolServer::new(workplace, args.read_only);
    let could_not = |error: std::io::Error| CommandError::CouldNotStart(error.to_string());
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(could_not)?;
    let served = runtime.block_on(server::serve(server));
    // A thread may still wait for standard input.
    runtime.shutdown_background();
    served.map_err(CommandError::CouldNotStart)?;
    Ok(Exit::Success)
}
