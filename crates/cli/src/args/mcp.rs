//! The options of `mcp`.

use clap::Args;

pub const MCP_HELP: &str = "\
Example: evalrig mcp
Example: claude mcp add evalrig -- evalrig mcp

Clients start it and end it. Its tools are validate, list, run, explain, compare and failures.
Paths stay inside the repository. `run` starts only what the suites and their targets file name,
one run at a time.";

#[derive(Debug, Args)]
pub struct Mcp {
    /// The repository, or a directory in it [default: the current directory].
    pub directory: Option<String>,
    /// Offer no tool that runs suites or changes files.
    #[arg(long)]
    pub read_only: bool,
}
