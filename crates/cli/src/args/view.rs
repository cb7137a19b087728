//! The options of `view`.

use clap::Args;

pub const VIEW_HELP: &str = "\
Example: evalrig view

Ctrl-C stops the server with exit code 0. Requests need the token in the printed address. The server
writes only `.evalrig/labels.jsonl`, when you label an answer.";

#[derive(Debug, Args)]
pub struct View {
    /// A repository, a directory with results, a results file, `latest` or `latest~N` [default: the
    /// repository of the current directory].
    pub directory: Option<String>,
    /// The port on 127.0.0.1 [default: any free one].
    #[arg(long, value_name = "N")]
    pub port: Option<u16>,
    /// Do not open a browser.
    #[arg(long)]
    pub no_open: bool,
}
