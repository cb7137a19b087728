//! `run`: maps the options to a session, and runs it or prints its plan.

mod cache;
mod dry_run;
mod rerun;
mod watch;

use std::sync::Arc;

use evalrig_core::model::Judging;
use evalrig_run::disk::is_standard_output;
use evalrig_run::event::Event;
use evalrig_run::results::{Borderline, ExitRule, PlanOptions};
#[cfg(feature = "queue")]
use evalrig_run::session::QueueSpec;
use evalrig_run::session::{
    ArmComparisonSpec, BaselineSpec, EventListener, GradingSpec, LoadOptions, ReportSpec,
    RoundsSpec, RunLogSpec, RunSession, RunSpec,
};

#[cfg(feature = "queue")]
use crate::args::Queueing;
use crate::args::{Against, Grading, Reports, Run, RunLogOptions};
use crate::context::{Context, is_ci};
use crate::error::CommandError;
use crate::exit::Exit;
use crate::output::print_message;
use crate::panic::panic_if_asked;
use crate::progress::Progress;

use super::compare::measure;
use super::notice::notify;
#[cfg(feature = "queue")]
use super::queue::queue_server;

pub(super) use dry_run::{cost, whole};
pub(super) use rerun::command_line;

use cache::CacheUse;

/// The report without `--report`.
const DEFAULT_REPORT: &str = "terminal";

pub fn run(context: &Context, args: &Run) -> Result<Exit, CommandError> {
    let use_of_cache = cache::use_of_cache(args)?;
    let mut spec = spec(context, args);
    spec.cache = use_of_cache == CacheUse::On;
    if args.watch {
        return watch::watch(context, spec);
    }
    if use_of_cache == CacheUse::OffForGate && !context.global.quiet {
        print_message(cache::OFF_FOR_GATE);
    }
    let mut notify = notify(context);
    #[cfg(feature = "queue")]
    let session = match (&args.queueing.attach, spec.queue.clone()) {
        (Some(run), Some(queue)) => RunSession::attach(spec, &queue, run, &mut notify)?,
        _ => RunSession::prepare(spec, &mut notify)?,
    };
    #[cfg(not(feature = "queue"))]
    let session = RunSession::prepare(spec, &mut notify)?;
    if args.dry_run {
        let estimate = session.estimate(&mut notify)?;
        return dry_run::print_plan(session.suites(), &estimate);
    }
    let progress = Arc::new(Progress::new(context.global.quiet));
    panic_if_asked();
    #[cfg(feature = "view")]
    let server = args.view.then(|| super::view::serve_run(context, args)).transpose()?;
    let outcome = session.run(&mut notify, listener_saying(&progress, stop_text(args)));
    progress.clear();
    let exit = outcome?.exit;
    #[cfg(feature = "view")]
    if let Some(server) = server {
        super::view::serve_on(server, exit);
    }
    Ok(exit.into())
}

/// After the first Ctrl-C.
const FINISHING: &str = "finishing running cases; press Ctrl-C again to stop immediately";

fn stop_text(args: &Run) -> &'static str {
    #[cfg(feature = "queue")]
    if args.queueing.attach.is_some() {
        return "no longer following the run";
    }
    let _ = args;
    FINISHING
}

/// Passes events to the progress display.
pub(super) fn listener(progress: &Arc<Progress>) -> EventListener {
    listener_saying(progress, FINISHING)
}

fn listener_saying(progress: &Arc<Progress>, stopping: &'static str) -> EventListener {
    let progress = Arc::clone(progress);
    Arc::new(move |event: &Event| {
        if let Event::StopRequested = event {
            print_message(stopping);
        }
        progress.hear(event);
    })
}

fn spec(context: &Context, args: &Run) -> RunSpec {
    let absolute = |path: &String| context.absolute(path);
    let log = &args.recording;
    RunSpec {
        loading: LoadOptions {
            targets_file: args.targets.as_ref().map(absolute),
            ..context.load_options(&args.loading)
        },
        paths: args.paths.clone(),
        plan: PlanOptions {
            targets: args.target.clone(),
            arms: args.arm.clone(),
            baseline_arm: args.baseline_arm.clone(),
            trials: args.trials,
            seed: Some(args.seed),
            sample: args.sample.map(|count| count as u64),
            shard: args.shard.clone(),
            filters: args.filter.clone(),
            tags: args.tag.clone(),
        },
        grading: grading(&args.grading),
        failed: args.failed.clone(),
        resume: args.resume.clone(),
        reuse_arm: args.reuse_arm.clone(),
        baseline: baseline(&args.against, args.gate),
        arms: arms(&args.against, args.gate),
        rounds: rounds(args),
        output: args.keeping.output.as_ref().map(absolute),
        force: args.keeping.force,
        messages: !args.keeping.no_messages,
        run_log: match run_log_mode(log, is_ci()) {
            RunLogMode::On => Some(RunLogSpec {
                store: log.store.as_ref().map(absolute),
                keep_runs: log.keep_runs,
                is_asked_for: rerun::is_typed("--record") || rerun::is_typed("--store"),
            }),
            RunLogMode::Off | RunLogMode::OffInCi => None,
        },
        is_run_log_off_in_ci: run_log_mode(log, is_ci()) == RunLogMode::OffInCi,
        workers: args.workers,
        sandbox: args.sandbox,
        keep_workspaces: args.keep_workspaces,
        timeout: args.timeout.map(std::time::Duration::from_secs),
        retries: args.retries,
        budget_usd: args.budget_usd,
        max_errors: args.max_errors,
        fail_fast: args.fail_fast,
        cache: false,
        reports: reports(context, &args.reports, args.keeping.output.as_deref()),
        rerun: rerun::rerun_words(),
        command: Some(command_line()),
        handle_signals: true,
        #[cfg(feature = "queue")]
        queue: queue_spec(context, &args.queueing),
    }
}

#[cfg(feature = "queue")]
fn queue_spec(context: &Context, args: &Queueing) -> Option<QueueSpec> {
    Some(QueueSpec {
        server: queue_server(context, args.queue.as_ref()?, &args.login),
        replicas: usize::from(args.replicas),
        lease: args.lease,
        patience: args.queue_patience,
        is_detached: args.detach,
        included: args.queue_include.iter().map(|path| context.absolute(path)).collect(),
    })
}

/// Whether cases are recorded in `.co/evals`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum RunLogMode {
    On,
    Off,
    /// CI, and recording was not requested.
    OffInCi,
}

fn run_log_mode(args: &RunLogOptions, is_ci: bool) -> RunLogMode {
    let is_asked_for = args.record || args.store.is_some();
    match (args.no_record, is_ci && !is_asked_for) {
        (true, _) => RunLogMode::Off,
        (false, true) => RunLogMode::OffInCi,
        (false, false) => RunLogMode::On,
    }
}

pub(super) fn grading(args: &Grading) -> GradingSpec {
    GradingSpec {
        readings: None,
        judge: args.judge.clone(),
        judging: if args.skip_judges { Judging::Skip } else { Judging::Ask },
        judge_criteria: args.judge_criteria,
        pass: args.pass,
        borderline: args.borderline,
        exit_rule: exit_rule(args.pass_trials, args.allow_borderline),
    }
}

pub(super) fn exit_rule(pass_trials: f64, allow_borderline: bool) -> ExitRule {
    ExitRule {
        pass_trials,
        borderline: if allow_borderline { Borderline::Passes } else { Borderline::Fails },
    }
}

pub(super) fn baseline(args: &Against, is_gated: bool) -> Option<BaselineSpec> {
    (!args.baseline.is_empty()).then(|| BaselineSpec {
        runs: args.baseline.clone(),
        most_runs: args.baseline_runs,
        margin: args.margin,
        has_margin: rerun::is_typed("--margin"),
        measure: measure(args.measure),
        is_gated,
    })
}

pub(super) fn arms(args: &Against, is_gated: bool) -> ArmComparisonSpec {
    ArmComparisonSpec {
        margin: args.margin,
        has_margin: rerun::is_typed("--margin"),
        measure: measure(args.measure),
        is_gated,
        needs_arms: rerun::is_typed("--gate"),
    }
}

fn rounds(args: &Run) -> Option<RoundsSpec> {
    let most = args.rounds?;
    Some(RoundsSpec { most: Some(most).filter(|most| *most > 0), stops_futile: args.futility })
}

/// The reports that were asked for. If all of them go to files, the summary is printed too, unless
/// one of the files is standard output by another name.
pub(super) fn reports(context: &Context, args: &Reports, output: Option<&str>) -> ReportSpec {
    let mut list = args.list.clone();
    let paths = list.iter().map(|one| one.split_once('=').map(|(_, path)| path));
    let is_taken = |path: &str| is_standard_output(&context.absolute(path));
    let prints = |path: Option<&str>| path.is_none_or(is_taken);
    if !paths.chain(output.map(Some)).any(prints) || list.is_empty() {
        list.push(DEFAULT_REPORT.to_owned());
    }
    ReportSpec { list, style: context.look(), detail: context.detail() }
}
