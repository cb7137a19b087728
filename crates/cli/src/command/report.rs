//! `report`: reports a stored run again.

use evalrig_run::session::{LoadOptions, StoredRunSpec, find_all_results, report_stored_run};

use crate::args::ReportRun;
use crate::context::Context;
use crate::error::CommandError;
use crate::exit::Exit;

use super::notice::notify;
use super::run::{arms, baseline, exit_rule, reports};

pub fn run(context: &Context, args: &ReportRun) -> Result<Exit, CommandError> {
    let loading = LoadOptions {
        root: args.root.as_ref().map(|root| context.absolute(root)),
        ..LoadOptions::new(context.working_directory.clone())
    };
    let results = find_all_results(&loading, &args.results)?;
    let spec = StoredRunSpec {
        loading,
        results,
        exit_rule: exit_rule(args.pass_trials, args.allow_borderline),
        baseline_arm: args.baseline_arm.clone(),
        baseline: baseline(&args.against, args.gate),
        // A gate of a stored run is one against a baseline.
        arms: arms(&args.against, false),
        reports: reports(context, &args.reports, None),
    };
    Ok(report_stored_run(&spec, &mut notify(context))?.into())
}
