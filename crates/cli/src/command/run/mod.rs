//! `run`: plan, execute, grade, record, report.

mod account;
mod against;
mod dry_run;
mod earlier;
mod suites;
mod typed;
mod wishes;

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Instant, SystemTime};

use camino::Utf8PathBuf;
use evalrig_core::assertion::judge_criteria;
use evalrig_core::secrets::Secrets;
use evalrig_run::disk::Disk;
use evalrig_run::event::Event;
use evalrig_run::execute::{Books, Cancel, Ended, Job, RunOptions, SuiteJob, execute};
use evalrig_run::prepare::{Refused, Runnable, Stations, TargetScope, Wishes, prepare};
use evalrig_run::runlog::Recording;

use crate::args::Run;
use crate::command::suite::show;
use crate::context::{Context, complain};
use crate::exit::Exit;
use crate::progress::Progress;

pub(super) use account::{Account, Finish, open_reports, rule, rule_of};
pub(super) use earlier::output_place;
pub(super) use suites::{Need, Ready, check, load_all};
pub(super) use typed::quoted;
pub(super) use wishes::judging;

use against::baseline;
use earlier::Earlier;
use typed::typed;
use wishes::wishes;

pub fn run(context: &Context, args: &Run) -> Result<Exit, Exit> {
    context.check(&args.loading)?;
    let found = context.discover(&args.paths)?;
    let mut wishes = wishes(context, args)?;
    let ready = load_all(
        context,
        &args.loading,
        args.targets.as_ref(),
        &found,
        Need::Targets,
    )?;
    earlier::narrow_to_failed(context, args, &ready, &mut wishes)?;
    let mut secrets = Secrets::default();
    for one in &ready {
        secrets.absorb(one.secrets.clone());
    }
    let mut suites = prepare_all(context, ready, &wishes, args.grading.judge_criteria)?;
    if args.dry_run {
        let baseline = baseline(context, args, &suites, &[])?;
        return dry_run::print_plan(&suites, args, baseline.as_ref());
    }
    let planned: usize = suites.iter().map(case_count).sum();
    if planned == 0 {
        complain("no test was selected");
        return Err(Exit::NothingSelected);
    }
    let mut earlier = Earlier::find(context, args, &suites)?;
    let baseline = baseline(context, args, &suites, &earlier.results())?;
    let answered = earlier.take_out(&mut suites);
    let scratch = Scratch::new()?;
    let reports = open_reports(context, &args.reports, rule_of(&args.grading), &suites)?;
    let secrets = Arc::new(secrets);
    let books = earlier.books(context, args, &suites, &secrets)?;
    let rule = rule_of(&args.grading);
    let baseline = baseline.map(|(baseline, _)| baseline);
    let mut account = Account::open(reports, &suites, &books, rule, baseline);
    earlier.retell(&suites, &mut account)?;
    let recording = recording(context, args, secrets);
    let job = Job {
        suites,
        options: options(args, scratch.0.clone(), recording.clone()),
        answered,
    };
    let started = Instant::now();
    let finished = planned - job.case_count();
    let (ended, account, books) = carry_out(context, job, books, account, finished);
    drop(scratch);
    for warning in recording.iter().flat_map(|one| one.take_warnings()) {
        complain(&warning);
    }
    let is_over = !matches!(ended.ended, Ended::Cancelled);
    account.finish(Finish {
        context,
        ended,
        books,
        planned,
        command: Some(typed(is_over)),
        duration: started.elapsed(),
    })
}

fn case_count(suite: &SuiteJob) -> usize {
    suite.chains.iter().map(Vec::len).sum()
}

/// Every case is recorded, unless somebody says otherwise.
fn recording(context: &Context, args: &Run, secrets: Arc<Secrets>) -> Option<Arc<Recording>> {
    let wanted = &args.recording;
    let store = wanted.store.as_deref().map(|path| context.absolute(path));
    let recording = Recording::new(store, wanted.keep_runs, secrets);
    (!wanted.no_record).then(|| Arc::new(recording))
}

fn options(args: &Run, scratch: Utf8PathBuf, recording: Option<Arc<Recording>>) -> RunOptions {
    RunOptions {
        workers: args.workers,
        timeout: args.timeout.map(std::time::Duration::from_secs),
        retries: args.retries,
        budget_usd: args.budget_usd,
        max_errors: args.max_errors,
        judging: judging(&args.grading),
        messages: args.keeping.messages,
        scratch,
        recording,
    }
}

/// Suites with their plans, or the way out after everything that is in the way has been shown.
pub(super) fn prepare_all(
    context: &Context,
    ready: Vec<Ready>,
    wishes: &Wishes,
    with_criteria: bool,
) -> Result<Vec<SuiteJob>, Exit> {
    let mut stations = Stations::default();
    let mut jobs = Vec::with_capacity(ready.len());
    let mut is_refused = false;
    for mut one in ready {
        let selected = wishes.select(&one.suite);
        let is_selected = |at: usize| selected.binary_search(&at).is_ok();
        is_refused |= check(context, &one, is_selected).is_err();
        if with_criteria {
            one.suite.tests.iter_mut().for_each(judge_criteria);
        }
        let variable = one.variable();
        let Some(targets) = one.targets.take() else {
            complain(&format!("`{}`: its targets file cannot be used", one.path));
            is_refused = true;
            continue;
        };
        let scope = TargetScope {
            targets: &targets,
            files: &Disk,
            variable: &variable,
        };
        let runnable = Runnable {
            suite: one.suite,
            sources: one.sources,
            path: one.path,
            root: one.root,
        };
        match prepare(runnable, wishes, scope, &mut stations) {
            Ok(job) => jobs.push(job),
            Err(refused) => {
                refuse(context, *refused, &one.secrets);
                is_refused = true;
            }
        }
    }
    if is_refused {
        Err(Exit::CouldNotStart)
    } else {
        Ok(jobs)
    }
}

pub(super) fn refuse(context: &Context, refused: Refused, secrets: &Secrets) {
    for complaint in &refused.complaints {
        complain(&secrets.redact(complaint));
    }
    if !refused.diagnostics.is_empty() {
        let sources = &refused.runnable.sources;
        show(context, sources, refused.diagnostics, secrets);
    }
}

/// Runs the job on a runtime of its own, with an eye on signals.
pub(super) fn carry_out(
    context: &Context,
    job: Job,
    books: Books,
    account: Account,
    finished: usize,
) -> (Ending, Account, Books) {
    let cases = job.case_count() + finished;
    let progress = Arc::new(Progress::new(cases, context.global.quiet));
    progress.hear(&Event::Planned { cases, finished });
    let account = Arc::new(Mutex::new(account));
    let books = Arc::new(books);
    let cancel = Arc::new(Cancel::default());
    let signal = Arc::new(Mutex::new(None));
    let runtime = match tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
    {
        Ok(runtime) => runtime,
        Err(error) => {
            let reason = format!("cannot start workers: {error}");
            let account = take(account);
            return (
                Ending::new(Ended::Broken(reason), None),
                account,
                take_all(books),
            );
        }
    };
    let tell = {
        let (progress, account) = (Arc::clone(&progress), Arc::clone(&account));
        Box::new(move |event: Event| {
            progress.hear(&event);
            if let Event::Finished { suite, row, .. } = &event {
                lock(&account).row(*suite, row);
            }
        })
    };
    let ledger = Arc::clone(&books);
    let ended = runtime.block_on(async {
        let listening = tokio::spawn(listen(Arc::clone(&cancel), Arc::clone(&signal)));
        let ended = execute(Arc::new(job), ledger, cancel, tell).await;
        listening.abort();
        ended
    });
    // Blocking reads of processes that would not end must not hold the program.
    runtime.shutdown_background();
    progress.clear();
    let signal = lock(&signal).take();
    (Ending::new(ended, signal), take(account), take_all(books))
}

/// How a run ended, and which signal asked for it.
#[derive(Debug)]
pub(super) struct Ending {
    pub(super) ended: Ended,
    pub(super) signal: Option<Exit>,
}

impl Ending {
    fn new(ended: Ended, signal: Option<Exit>) -> Self {
        Self { ended, signal }
    }
}

/// The first signal lets what runs finish, the second does not.
async fn listen(cancel: Arc<Cancel>, heard: Arc<Mutex<Option<Exit>>>) {
    loop {
        let exit = next_signal().await;
        if lock(&heard).replace(exit).is_none() {
            complain("stopping after what runs now; once more stops at once");
        }
        cancel.ask();
    }
}

#[cfg(unix)]
async fn next_signal() -> Exit {
    use tokio::signal::unix::{SignalKind, signal};
    let terminated = async {
        match signal(SignalKind::terminate()) {
            Ok(mut signals) => {
                signals.recv().await;
            }
            Err(_) => std::future::pending().await,
        }
    };
    tokio::select! {
        _ = tokio::signal::ctrl_c() => Exit::Interrupted,
        () = terminated => Exit::Terminated,
    }
}

#[cfg(not(unix))]
async fn next_signal() -> Exit {
    let _ = tokio::signal::ctrl_c().await;
    Exit::Interrupted
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Everybody else has let go of it by now.
fn take<T>(shared: Arc<Mutex<T>>) -> T {
    let mutex = Arc::into_inner(shared).expect("execution has ended");
    mutex.into_inner().unwrap_or_else(PoisonError::into_inner)
}

fn take_all<T>(shared: Arc<T>) -> T {
    Arc::into_inner(shared).expect("execution has ended")
}

/// A directory for temporary files that goes with the run.
pub(super) struct Scratch(pub(super) Utf8PathBuf);

impl Scratch {
    pub(super) fn new() -> Result<Self, Exit> {
        let parent = Utf8PathBuf::from_path_buf(std::env::temp_dir());
        let parent = parent.unwrap_or_else(|_| "/tmp".into());
        let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
        let nanos = since.map_or(0, |since| since.as_nanos());
        let path = parent.join(format!("evalrig-{}-{nanos:x}", std::process::id()));
        match std::fs::create_dir(&path) {
            Ok(()) => Ok(Self(path)),
            Err(error) => {
                complain(&format!(
                    "cannot make a directory for temporary files: {error}"
                ));
                Err(Exit::CouldNotStart)
            }
        }
    }
}

impl Scratch {
    /// The path, for somebody who removes it later.
    pub(super) fn keep(self) -> Utf8PathBuf {
        let path = self.0.clone();
        std::mem::forget(self);
        path
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
