//! The options of `lsp`.

use clap::Args;

pub const LSP_HELP: &str = "\
An editor starts it and talks to it on standard input and output. It runs no suite and writes no file.
Settings for editors: docs/guides/editors.md

Exit codes:
  0  the editor ended it with `shutdown` and `exit`
  1  the editor ended it without `shutdown`, or went away";

#[derive(Debug, Args)]
pub struct Lsp {
    /// The only way to talk to it; accepted because editors pass it.
    #[arg(long, hide = true)]
    pub stdio: bool,
}
