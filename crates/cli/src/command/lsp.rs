//! `lsp`: the language server on standard input and output.

use std::io::{self, BufReader};

use evalrig_lsp::{ServeEnd, serve};

use crate::args::Lsp;
use crate::error::CommandError;
use crate::exit::Exit;
use crate::output::protocol_output;
use crate::panic::go_on_after_panic;

pub fn run(_: &Lsp) -> Result<Exit, CommandError> {
    go_on_after_panic();
    let input = BufReader::new(io::stdin());
    match serve(input, &mut protocol_output(), env!("CARGO_PKG_VERSION")) {
        Ok(ServeEnd::Regular) => Ok(Exit::Success),
        // An editor that goes away closes both streams.
        Ok(ServeEnd::Abrupt) => Ok(Exit::Failure),
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(Exit::Failure),
        Err(error) => {
            Err(CommandError::CouldNotStart(format!("cannot write to standard output: {error}")))
        }
    }
}
