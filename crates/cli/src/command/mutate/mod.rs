//! `mutate`: damages the answers of a stored run, and lists the checks that do not notice.

mod json;
mod text;

use std::sync::Arc;

use evalrig_core::model::Judging;
use evalrig_run::session::{
    GradingSpec, LoadOptions, MutationReport, MutationSpec, find_results, mutate,
};
use evalrig_run::text::paint::Paint;

use crate::args::{DocumentFormat, Mutate};
use crate::context::Context;
use crate::error::CommandError;
use crate::exit::Exit;
use crate::output::{print_json, print_painted};
use crate::progress::Progress;

use super::notice::notify;
use super::run::listener;

pub fn run(context: &Context, args: &Mutate) -> Result<Exit, CommandError> {
    let absolute = |path: &String| context.absolute(path);
    let loading = LoadOptions {
        targets_file: args.targets.as_ref().map(absolute),
        ..context.load_options(&args.loading)
    };
    let spec = MutationSpec {
        results: find_results(&loading, &args.results)?,
        loading,
        suite: args.suite.as_ref().map(absolute),
        grading: GradingSpec {
            judge: args.judge.clone(),
            judging: Judging::Skip,
            pass: args.pass,
            ..GradingSpec::default()
        },
        judged_mutants: args.judges,
        budget_usd: args.budget_usd,
        workers: args.workers,
        seed: args.seed,
        handle_signals: true,
    };
    let progress = Arc::new(Progress::new(context.global.quiet));
    let report = mutate(&spec, &mut notify(context), listener(&progress));
    progress.clear();
    let report = report?;
    match args.format {
        DocumentFormat::Json => print_json(&json::report(&report))?,
        DocumentFormat::Text => {
            let paint = Paint::new(context.look());
            let page = text::ReportPage { report: &report, paint, detail: context.detail() };
            print_painted(&page.draw())?;
        }
    }
    Ok(exit(&report, args.deny_weak))
}

fn exit(report: &MutationReport, denies_weak: bool) -> Exit {
    let survey = &report.survey;
    let is_weak = survey.weak_checks().next().is_some() || !survey.unchecked_tests().is_empty();
    let is_unfinished = report.asked.as_ref().is_some_and(|asked| asked.unfinished.is_some());
    if is_weak && denies_weak {
        Exit::Failure
    } else if is_unfinished || !report.gaps.is_empty() {
        Exit::Incomplete
    } else {
        Exit::Success
    }
}
