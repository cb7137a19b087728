//! The worker's side of a run with a queue (spec 22): from the bundle of a run to a job, and the commands
//! that need no suites.

use std::collections::BTreeSet;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use camino::{Utf8Path, Utf8PathBuf};
use evalrig_core::model::{Judging, KeepRule};
use evalrig_core::secrets::Secrets;

use crate::agent::{adopt_orphans, end_all};
use crate::descriptor::{DescriptorBudget, raise_limit};
use crate::disk::{Access, create_directories, user_cache};
use crate::execute::{
    AnswerPayment, Cancel, Job, RunOptions, SuiteJob, SuiteRun, TreeDigests,
    remove_stale_containers,
};
use crate::prepare::{TargetNeed, TargetPool};
use crate::queue::{
    self, BundleLoader, BundleManifest, BundleToLoad, LoadedBundle, QueueError, QueueLink,
    QueueServer, QueueWorker, RunRequest, RunStatus, Say, ServerPatience, WorkerSettings,
};
use crate::setting::SandboxName;
use crate::target::is_installed;
use crate::workspace::Workspaces;

use super::error::{Notice, SessionError};
use super::hidden_paths::hidden_paths;
use super::known_secrets::known_secrets;
use super::load::{TargetsFile, load_suites};
use super::queued_run::start_runtime;
use super::scratch::RunScratch;
use super::signals::stop_on_signals;
use super::skill_revision::SkillRevisions;
use super::spec::{LoadOptions, RunSpec};

/// Cases at the same time, per core.
const PER_CORE: usize = 4;

/// How long `queue` waits for a server that cannot answer now.
const COMMAND_PATIENCE: Duration = Duration::from_secs(60);

/// A worker waits for work anyhow.
const WORKER_PATIENCE: Duration = Duration::from_secs(365 * 24 * 60 * 60);

/// The options of `evalrig worker`.
#[derive(Debug, Clone)]
pub struct WorkerSpec {
    pub server: QueueServer,
    /// Cases at the same time.
    pub workers: Option<usize>,
    /// `None`: the user's cache directory.
    pub cache: Option<Utf8PathBuf>,
    /// `None`: host name and process id.
    pub name: Option<String>,
    pub health: Option<SocketAddr>,
    /// Ends when there were no cases for so long.
    pub until_idle: Option<Duration>,
    /// Copies of the buckets that the worker makes, if it is the first to need them.
    pub replicas: usize,
    /// Variables besides those of the environment.
    pub loading: LoadOptions,
}

/// Serves until it is asked to end. Blocks the thread; `say` gets lines for the user.
pub fn run_worker(spec: WorkerSpec, say: Say) -> Result<(), SessionError> {
    raise_limit();
    let say = redacted(say, known_secrets(&spec.loading, &spec.loading.working_directory));
    let cache = match &spec.cache {
        Some(cache) => cache.clone(),
        None => user_cache()
            .map(|cache| cache.join("bundles"))
            .ok_or_else(|| QueueError::new("there is no cache directory; name one with --cache"))?,
    };
    create_directories(&cache, Access::Private)
        .map_err(|error| QueueError::new(format!("--cache: cannot write `{cache}`: {error}")))?;
    // Rows name paths below it, which have to be those that programs see.
    let cache = cache
        .canonicalize_utf8()
        .map_err(|error| QueueError::new(format!("--cache: cannot use `{cache}`: {error}")))?;
    // A worker writes nowhere else.
    let scratch = RunScratch::below(&cache)?;
    let runtime = start_runtime()?;
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let name = spec.name.clone().unwrap_or_else(own_name);
    let settings = WorkerSettings {
        name: name.clone(),
        slots: spec.workers.unwrap_or(cores * PER_CORE),
        cache,
        health: spec.health,
        until_idle: spec.until_idle,
        replicas: spec.replicas,
    };
    let loader = SuiteLoader {
        loading: spec.loading.clone(),
        scratch: scratch.path().to_owned(),
        loaded: AtomicUsize::new(0),
        say: Arc::clone(&say),
    };
    let cancel = Arc::new(Cancel::default());
    adopt_orphans();
    stop_on_signals(Arc::clone(&cancel), Arc::new(|_| {}));
    let served = runtime.block_on(async {
        let shown = format!("evalrig worker {name}");
        let link = QueueLink::connect_and_say(&spec.server, &shown, Arc::clone(&say)).await?;
        let mut tell = |text| say(text);
        let mut patience = ServerPatience::new(WORKER_PATIENCE, &mut tell);
        let loader: Arc<dyn BundleLoader> = Arc::new(loader);
        let make = async || {
            let (loader, say) = (Arc::clone(&loader), Arc::clone(&say));
            QueueWorker::new(link.clone(), settings.clone(), loader, say).await
        };
        let worker = tokio::select! {
            worker = patience.attempt(&link, make) => worker?,
            () = cancel.wait_for_first() => return Ok(()),
        };
        say(format!("worker {name} is waiting for runs"));
        worker.run(&cancel).await
    });
    runtime.shutdown_background();
    end_all();
    drop(scratch);
    Ok(served?)
}

/// For what is said before the secrets of a run are known.
fn redacted(say: Say, secrets: Secrets) -> Say {
    Arc::new(move |text| say(secrets.redact(&text)))
}

fn own_name() -> String {
    let host = host_name().filter(|host| !host.is_empty());
    format!("{}-{}", host.as_deref().unwrap_or("worker"), std::process::id())
}

#[cfg(unix)]
fn host_name() -> Option<String> {
    let system = rustix::system::uname();
    Some(system.nodename().to_string_lossy().trim().to_owned())
}

#[cfg(not(unix))]
fn host_name() -> Option<String> {
    std::env::var("COMPUTERNAME").ok()
}

/// The options of a run, as its bundle has them; `directory` holds its files.
pub(super) fn spec_of_request(
    request: &RunRequest,
    directory: &Utf8Path,
    own: &LoadOptions,
) -> RunSpec {
    let path = |path: &String| {
        if path.is_empty() { directory.to_owned() } else { directory.join(path) }
    };
    let mut spec = RunSpec::new(path(&request.working_directory));
    spec.loading.root = Some(path(&request.root));
    spec.loading.env_files = own.env_files.clone();
    spec.loading.targets_file = request.targets_file.as_ref().map(path);
    spec.paths = request.suites.iter().map(|suite| path(suite).into_string()).collect();
    spec.plan = request.plan.clone();
    spec.grading.judge.clone_from(&request.judge);
    spec.grading.judging = if request.skip_judges { Judging::Skip } else { Judging::Ask };
    spec.grading.judge_criteria = request.judge_criteria;
    spec.grading.pass = request.pass;
    spec.grading.borderline = request.borderline;
    spec.sandbox = request.sandbox.as_deref().and_then(SandboxName::parse);
    spec.timeout = request.timeout_seconds.map(Duration::from_secs);
    spec.retries = request.retries;
    spec.messages = request.messages;
    spec
}

/// Makes jobs from bundles, as a local run does from suites.
struct SuiteLoader {
    loading: LoadOptions,
    scratch: Utf8PathBuf,
    /// How many bundles were loaded.
    loaded: AtomicUsize,
    say: Say,
}

impl BundleLoader for SuiteLoader {
    fn load(&self, bundle: BundleToLoad<'_>) -> Result<LoadedBundle, String> {
        let BundleToLoad { manifest, directory, buckets, sink } = bundle;
        let request = &manifest.request;
        let spec = spec_of_request(request, directory, &self.loading);
        let (jobs, secrets, left_out) =
            self.jobs(&spec, buckets).map_err(|error| error.to_string())?;
        if jobs.len() != request.suites.len() {
            return Err("its files are not the suites that it names".to_owned());
        }
        let secrets = Arc::new(secrets);
        remove_stale_containers(jobs.iter());
        let mut left_out: Vec<String> = left_out.iter().map(|text| secrets.redact(text)).collect();
        let mut usable = Vec::with_capacity(jobs.len());
        for (job, hashes) in jobs.iter().zip(&manifest.hashes) {
            let other = changed_test(job, hashes);
            if let Some(test) = &other {
                left_out.push(format!(
                    "test `{test}` of suite `{}` is not the same here: variables that the suite \
                     uses have other values",
                    job.suite.name
                ));
            }
            usable.push(other.is_none());
        }
        let missing_programs = missing_programs(manifest);
        for program in &missing_programs {
            left_out.push(format!("program `{program}`, which checks need, is not installed"));
        }
        // A run that was removed may come back while what it left is being removed.
        let number = self.loaded.fetch_add(1, Ordering::Relaxed);
        let scratch = self.scratch.join(format!("{}-{number}", manifest.run));
        create_directories(&scratch, Access::Private).map_err(|error| error.to_string())?;
        let suites = jobs.into_iter();
        let suites = suites.map(|job| SuiteRun { job, sink: sink(Arc::clone(&secrets)) });
        let suites: Vec<_> = suites.collect();
        let options = RunOptions {
            workers: None,
            descriptors: DescriptorBudget::now(),
            timeout: spec.timeout,
            retries: spec.retries,
            budget_usd: None,
            payment: AnswerPayment::Now,
            max_errors: None,
            fail_fast: None,
            judging: spec.grading.judging,
            messages: spec.messages,
            workspaces: Arc::new(Workspaces::new(&scratch)),
            hidden: hidden_paths(&spec, suites.iter().map(|suite| &suite.job), &scratch),
            scratch,
            // A path on a worker says nothing elsewhere.
            keep_workspaces: Some(KeepRule::Never),
            recording: None,
            secrets,
            cache: None,
            trees: TreeDigests::default(),
            rounds: None,
        };
        let job = Job {
            suites,
            options,
            answered: std::collections::HashMap::new(),
            reusable: std::collections::HashMap::new(),
        };
        Ok(LoadedBundle { job, usable, left_out, missing_programs })
    }
}

impl SuiteLoader {
    /// The suites of a request, in its order, with the targets that can be used here.
    fn jobs(
        &self,
        spec: &RunSpec,
        buckets: Arc<dyn crate::rate::BucketStores>,
    ) -> Result<(Vec<SuiteJob>, Secrets, Vec<String>), SessionError> {
        let say = Arc::clone(&self.say);
        let notify = &mut |notice: Notice<'_>| match notice {
            Notice::Message(text) => say(text),
            // The coordinator shows them.
            Notice::Warning(_) | Notice::Diagnostics { .. } => {}
        };
        let cases = spec.cases()?;
        let found = spec.loading.discover(&spec.paths, notify)?;
        let mut loaded = load_suites(&spec.loading, &found, TargetsFile::Required, notify)?;
        let mut secrets = Secrets::default();
        for suite in &loaded {
            secrets.absorb(suite.secrets.clone());
        }
        for suite in &mut loaded {
            suite.redact_names(&secrets);
        }
        let mut pool = TargetPool::default();
        (pool.sandbox, pool.need, pool.buckets) = (spec.sandbox, TargetNeed::Optional, buckets);
        let revisions = SkillRevisions::default();
        let (mut jobs, mut refusals) = (Vec::with_capacity(loaded.len()), Vec::new());
        for mut suite in loaded {
            if spec.grading.judge_criteria {
                suite.judge_criteria();
            }
            match suite.into_job(&cases, &mut pool, &revisions, notify) {
                Ok(job) => jobs.push(job),
                Err(refusal) => refusals.push(*refusal),
            }
        }
        if !refusals.is_empty() {
            return Err(SessionError::Refused(refusals));
        }
        jobs.iter().for_each(|job| job.add_login_secrets(&mut secrets));
        let place = |job: &SuiteJob| spec.paths.iter().position(|path| *path == job.path);
        jobs.sort_by_key(place);
        Ok((jobs, secrets, pool.left_out))
    }
}

/// The programs that checks of a run need and this machine lacks.
fn missing_programs(manifest: &BundleManifest) -> BTreeSet<String> {
    let members = manifest.classes.iter().flat_map(|class| &class.members);
    let is_missing = |program: &&String| {
        let is_path = program.starts_with('/');
        let is_there =
            if is_path { Utf8Path::new(program).is_file() } else { is_installed(program) };
        !is_there
    };
    members.flat_map(|member| &member.programs).filter(is_missing).cloned().collect()
}

/// A test that is another one than on the coordinator.
fn changed_test(
    job: &SuiteJob,
    hashes: &std::collections::BTreeMap<String, String>,
) -> Option<String> {
    let own: std::collections::HashMap<&str, &String> =
        job.suite.tests.iter().map(|test| test.id.as_str()).zip(&job.hashes).collect();
    let mut other = hashes.iter().filter(|(test, hash)| own.get(test.as_str()) != Some(hash));
    other.next().map(|(test, _)| test.clone())
}

/// Every run on the server, or one.
pub fn queued_runs(
    server: &QueueServer,
    run: Option<&str>,
    say: &mut dyn FnMut(String),
) -> Result<Vec<RunStatus>, SessionError> {
    on_server(server, say, async |link| queue::list(link, run).await)
}

/// Starts no further case of a run.
pub fn cancel_queued_run(
    server: &QueueServer,
    run: &str,
    say: &mut dyn FnMut(String),
) -> Result<(), SessionError> {
    on_server(server, say, async |link| queue::cancel(link, run).await)
}

/// Deletes a run and its rows.
pub fn remove_queued_run(
    server: &QueueServer,
    run: &str,
    say: &mut dyn FnMut(String),
) -> Result<(), SessionError> {
    on_server(server, say, async |link| queue::remove(link, run).await)
}

/// For commands that end at once.
fn on_server<T>(
    server: &QueueServer,
    say: &mut dyn FnMut(String),
    act: impl AsyncFn(&QueueLink) -> Result<T, QueueError>,
) -> Result<T, SessionError> {
    let mut patience = ServerPatience::new(COMMAND_PATIENCE, say);
    start_runtime()?.block_on(async {
        let link = QueueLink::connect(server, "evalrig queue").await?;
        let done = patience.attempt(&link, async || act(&link).await).await?;
        link.flush().await;
        Ok(done)
    })
}
