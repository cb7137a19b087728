//! `grade`: grades a stored run again with the suite's current assertions.

use std::sync::Arc;

use evalrig_run::session::{LoadOptions, RegradeSpec, find_results, regrade};

use crate::args::Grade;
use crate::context::Context;
use crate::error::CommandError;
use crate::exit::Exit;
use crate::progress::Progress;

use super::notice::notify;
use super::run::{command_line, grading, listener, reports};

pub fn run(context: &Context, args: &Grade) -> Result<Exit, CommandError> {
    let absolute = |path: &String| context.absolute(path);
    let loading = LoadOptions {
        targets_file: args.targets.as_ref().map(absolute),
        ..context.load_options(&args.loading)
    };
    let spec = RegradeSpec {
        results: find_results(&loading, &args.results)?,
        loading,
        suite: args.suite.as_ref().map(absolute),
        grading: grading(&args.grading),
        workers: args.workers,
        budget_usd: None,
        output: args.keeping.output.as_ref().map(absolute),
        force: args.keeping.force,
        messages: !args.keeping.no_messages,
        reports: reports(context, &args.reports, args.keeping.output.as_deref()),
        command: Some(command_line()),
        handle_signals: true,
    };
    let progress = Arc::new(Progress::new(context.global.quiet));
    let outcome = regrade(&spec, &mut notify(context), listener(&progress));
    progress.clear();
    Ok(outcome?.exit.into())
}
