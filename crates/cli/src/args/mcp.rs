//! The options of `mcp`.

use clap::Args;

pub const MCP_HELP: &str = "\
Example: evalrig mcp
Example: claude mcp add evalrig -- evalrig mcp

Clients start and stop the server. Its tools are validate, list, run, explain, compare and failures.
Paths cannot leave the repository. `run` starts only programs that the suites and their targets file
name, one run at a time.";

#[derive(Debug, Args)]
pub struct Mcp {
    /// The repository, or a directory in it [default: the current directory].
    pub directory: Option<String>,
    /// Offer no tool that runs suites or changes files.
    #[arg(long)]
    pub read_only: bool,
}
