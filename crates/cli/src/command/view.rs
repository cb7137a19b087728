//! `view` and `run --view`: serves runs as pages and opens a browser.

mod browser;

use std::time::Duration;

use camino::Utf8PathBuf;
use evalrig_run::serve::{ViewServer, ViewSpec, label_author, run_name};
use evalrig_run::session::{LATEST, LoadOptions, SessionExit, find_results, wait_for_signal};

use crate::args::{Run, View};
use crate::context::Context;
use crate::error::CommandError;
use crate::exit::Exit;
use crate::output::{print_message, print_text, stderr_kind};

use browser::open_browser;

/// How long open pages may take to hear the end of a run.
const LAST_EVENTS: Duration = Duration::from_secs(2);

pub fn run(context: &Context, args: &View) -> Result<Exit, CommandError> {
    let loading = LoadOptions::new(context.working_directory.clone());
    let (place, page) = match &args.directory {
        Some(argument) if is_run_name(context, argument) => (None, page_of(&loading, argument)?),
        place => (place.as_ref().map(|path| context.absolute(path)), "/".to_owned()),
    };
    let server = start(loading, place, None, args.port.unwrap_or(0))?;
    print_text(&format!("{}\n", server.address(&page)))?;
    if !context.global.quiet {
        print_message("serving until Ctrl-C");
    }
    open(&server, &page, args.no_open);
    wait_for_signal();
    server.stop();
    Ok(Exit::Success)
}

/// `latest` or `latest~N`, unless it is a file.
fn is_run_name(context: &Context, argument: &str) -> bool {
    argument.starts_with(LATEST) && !context.absolute(argument).exists()
}

/// The page of the run that the argument names.
fn page_of(loading: &LoadOptions, argument: &str) -> Result<String, CommandError> {
    let files = find_results(loading, argument)?;
    let first = files.first().map_or("".into(), |file| file.as_path());
    Ok(format!("/runs/{}/", run_name(first)))
}

/// Serves a run that is about to start.
pub(super) fn serve_run(context: &Context, args: &Run) -> Result<ViewServer, CommandError> {
    let loading = context.load_options(&args.loading);
    let output = args.keeping.output.as_ref().map(|path| context.absolute(path));
    let server = start(loading, None, output, 0)?;
    print_message(&format!("the run is shown at {}", server.address("/next")));
    open(&server, "/next", args.no_open);
    Ok(server)
}

/// After the run: on a terminal, a person may still be reading.
pub(super) fn serve_on(server: ViewServer, exit: SessionExit) {
    let was_stopped = matches!(exit, SessionExit::Signal(_));
    if stderr_kind().is_terminal && !was_stopped {
        print_message(&format!("still serving {}; Ctrl-C ends it", server.address("/latest")));
        wait_for_signal();
    } else {
        server.drain(LAST_EVENTS);
    }
    server.stop();
}

fn start(
    loading: LoadOptions,
    place: Option<Utf8PathBuf>,
    also: Option<Utf8PathBuf>,
    port: u16,
) -> Result<ViewServer, CommandError> {
    let shown = place.clone().unwrap_or_else(|| loading.working_directory.clone());
    let author = label_author(&loading.working_directory);
    let spec = ViewSpec { loading, place, also, port, author };
    ViewServer::start(spec).map_err(|error| {
        CommandError::CouldNotStart(if shown.exists() {
            format!("cannot serve on port {port} of 127.0.0.1: {error}")
        } else {
            format!("`{shown}` does not exist")
        })
    })
}

fn open(server: &ViewServer, path: &str, is_unwanted: bool) {
    if is_unwanted || !stderr_kind().is_terminal {
        return;
    }
    if let Ok(address) = server.single_use_address(path) {
        open_browser(&address);
    }
}
