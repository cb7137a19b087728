//! `judge check`: judges against labels.

mod json;
mod text;

use std::sync::Arc;

use camino::Utf8PathBuf;
use evalrig_core::model::Votes;
use evalrig_run::prepare::Estimate;
use evalrig_run::session::{
    GradingSpec, JudgeCheckFinding, JudgeCheckSpec, LoadOptions, RegradeSpec, ReportSpec,
    SessionExit, check_stored_judges, estimate_regrade, find_results, regrade,
};

use crate::args::{Judge, JudgeCheck, JudgeCommand, TextOrJson};
use crate::context::Context;
use crate::error::CommandError;
use crate::exit::Exit;
use crate::output::{print_json, print_status, print_text};
use crate::progress::Progress;

use super::notice::notify;
use super::run::{command_line, cost, listener, whole};

pub fn run(context: &Context, args: &Judge) -> Result<Exit, CommandError> {
    match &args.command {
        JudgeCommand::Check(args) => check(context, args),
    }
}

fn check(context: &Context, args: &JudgeCheck) -> Result<Exit, CommandError> {
    let absolute = |path: &String| context.absolute(path);
    let loading = LoadOptions {
        targets_file: args.targets.as_ref().map(absolute),
        ..context.load_options(&args.loading)
    };
    let runs = args.results.iter().map(|argument| find_results(&loading, argument));
    let runs: Vec<Vec<Utf8PathBuf>> = runs.collect::<Result<_, _>>()?;
    let (mut rereadings, mut is_cut) = (Vec::new(), false);
    if let Some(votes) = args.readings.and_then(Votes::new) {
        match read_again(context, args, &loading, &runs, votes)? {
            Reread::Results { runs, is_limited } => (rereadings, is_cut) = (runs, is_limited),
            Reread::Ended(exit) => return Ok(exit),
        }
    }
    let spec =
        JudgeCheckSpec { loading, runs, rereadings, labels: args.labels.as_ref().map(absolute) };
    let mut found = check_stored_judges(&spec)?;
    if is_cut {
        found.gaps.push("the budget is used up, so not every answer was read again".to_owned());
    }
    match args.format {
        TextOrJson::Text => print_text(&text::finding(&found, &args.results, context.detail()))?,
        TextOrJson::Json => print_json(&json::finding(&found, &args.results))?,
    }
    Ok(exit(&found))
}

fn exit(found: &JudgeCheckFinding) -> Exit {
    let has_labels = found.judges.iter().any(|judge| judge.has_enough_labels());
    if has_labels && found.gaps.is_empty() { Exit::Success } else { Exit::Incomplete }
}

enum Reread {
    /// The results of the new readings of each run. The budget may have left some out.
    Results { runs: Vec<Vec<Utf8PathBuf>>, is_limited: bool },
    /// Nothing more is to be done.
    Ended(Exit),
}

/// Prints the price, then asks the judges about every answer again.
fn read_again(
    context: &Context,
    args: &JudgeCheck,
    loading: &LoadOptions,
    runs: &[Vec<Utf8PathBuf>],
    votes: Votes,
) -> Result<Reread, CommandError> {
    let specs: Vec<RegradeSpec> =
        runs.iter().map(|results| spec(context, args, loading, results.clone(), votes)).collect();
    let mut price = Estimate::default();
    for spec in &specs {
        price.join(&estimate_regrade(spec, &mut notify(context))?);
    }
    let lines =
        format!("judge calls   {}\ncost          {}\n", whole(price.judge_calls), cost(&price));
    if args.dry_run {
        print_text(&lines)?;
        return Ok(Reread::Ended(Exit::Success));
    }
    lines.lines().for_each(print_status);
    let (mut reread, mut is_limited, mut left) = (Vec::new(), false, args.budget_usd);
    for spec in specs {
        // The budget is that of all runs together.
        is_limited |= left.is_some_and(|left| left <= 0.0);
        if is_limited {
            break;
        }
        let spec = RegradeSpec { budget_usd: left, ..spec };
        let progress = Arc::new(Progress::new(context.global.quiet));
        let outcome = regrade(&spec, &mut notify(context), listener(&progress));
        progress.clear();
        let outcome = outcome?;
        if let SessionExit::Signal(_) = outcome.exit {
            return Ok(Reread::Ended(outcome.exit.into()));
        }
        for file in &outcome.results {
            print_status(&format!("readings      {}", context.shown(file)));
        }
        reread.push(outcome.results);
        is_limited |= outcome.is_limited;
        left = left.map(|left| left - outcome.totals.judges.cost.known);
    }
    Ok(Reread::Results { runs: reread, is_limited })
}

fn spec(
    context: &Context,
    args: &JudgeCheck,
    loading: &LoadOptions,
    results: Vec<Utf8PathBuf>,
    votes: Votes,
) -> RegradeSpec {
    RegradeSpec {
        results,
        loading: loading.clone(),
        suite: None,
        grading: GradingSpec {
            judge: args.judge.clone(),
            readings: Some(votes),
            ..GradingSpec::default()
        },
        workers: args.workers,
        budget_usd: None,
        output: None,
        force: false,
        messages: false,
        reports: ReportSpec { list: Vec::new(), style: context.look(), detail: context.detail() },
        command: Some(command_line()),
        handle_signals: true,
    }
}
