//! The options of `lsp`.

use clap::Args;

pub const LSP_HELP: &str = "\
Editors start the server and talk to it on standard input and output. It runs no suites and writes
no files.
Editor settings: https://github.com/evalrig/evalrig/blob/main/docs/guides/editors.md

Exit codes:
  0  the editor sent `shutdown` and `exit`
  1  the editor sent `exit` without `shutdown`, or disconnected";

#[derive(Debug, Args)]
pub struct Lsp {
    /// The only way to talk to it; accepted because editors pass it.
    #[arg(long, hide = true)]
    pub stdio: bool,
}
