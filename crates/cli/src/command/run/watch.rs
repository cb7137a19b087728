//! `--watch`: runs suites until a signal asks the process to end.

use std::sync::Arc;

use evalrig_run::session::{RunSpec, SessionExit, Waited, WatchSession, WatchStep};

use crate::context::Context;
use crate::error::CommandError;
use crate::exit::Exit;
use crate::progress::Progress;

use super::super::notice::notify;
use super::super::print_error;
use super::listener;

/// The exit code is that of the last run. Suites that cannot be run are waited for.
pub(super) fn watch(context: &Context, spec: RunSpec) -> Result<Exit, CommandError> {
    let mut notify = notify(context);
    let mut session = WatchSession::new(spec);
    let mut exit = None;
    loop {
        let progress = Arc::new(Progress::new(context.global.quiet));
        let outcome = session.run_affected(&mut notify, listener(&progress));
        progress.clear();
        match outcome {
            Ok(WatchStep::Ran(finished)) => {
                exit = Some(finished.exit.into());
                if let SessionExit::Signal(_) = finished.exit {
                    break;
                }
            }
            Ok(WatchStep::Unaffected) => {}
            Err(error) => {
                let error = CommandError::from(error);
                exit = exit.or(Some(error.exit()));
                print_error(context, error);
            }
        }
        if session.wait(&mut notify) == Waited::Stopped {
            break;
        }
    }
    Ok(exit.unwrap_or(Exit::CouldNotStart))
}
