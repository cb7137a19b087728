//! `evalrig view`: the runs of a repository as pages, on loopback only.
//!
//! [`ViewServer::start`] binds 127.0.0.1 and serves from a thread of its own until it is stopped:
//!
//! | address | page |
//! |---|---|
//! | `/` | all runs with their trend, and the records of the run log |
//! | `/runs/ID/` | the page of a run; while the run goes on, `/runs/ID/events` sends its rows |
//! | `/compare?base=ID&candidate=ID` | the page of the candidate with the base as baseline |
//! | `/records/NAME` | a record of the run log |
//! | `/latest` | leads to the newest run |
//! | `/next` | the same, and waits for a run that is about to start |
//!
//! `POST labels`, beside a page of a run, adds a label. Nothing else is written. There is no store
//! besides the files: every page and every event is read from disk when it is asked for.
//!
//! `guard` decides who may ask. Ids and names in addresses are looked up in lists of what is there;
//! they are never made part of a path.

mod answer;
mod author;
mod guard;
mod label_post;
mod live;
mod markup;
mod overview_page;
mod record_page;
mod routes;
mod run_index;
mod run_page;
mod trend;

use std::fmt;
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use camino::Utf8PathBuf;
use evalrig_core::read::repository_root;
use evalrig_core::secrets::Secrets;
use tokio::net::TcpListener;
use tokio::sync::oneshot;

use crate::disk::{Disk, directory_of};
use crate::results::ResultsPaths;
use crate::session::{LoadOptions, known_secrets};

use guard::Guard;
use run_index::RunIndex;

pub use author::label_author;
pub use run_index::run_name;

/// How long a label that is being written may keep the server from stopping.
const LAST_WRITES: Duration = Duration::from_secs(5);

/// What to serve, and where.
#[derive(Debug, Clone)]
pub struct ViewSpec {
    pub loading: LoadOptions,
    /// A repository, a directory with results, or a results file; absolute. `None`: the repository of
    /// the working directory.
    pub place: Option<Utf8PathBuf>,
    /// A results file outside of the place that is listed too; it may not exist yet.
    pub also: Option<Utf8PathBuf>,
    /// 0: any free port.
    pub port: u16,
    /// Who labels answers.
    pub author: String,
}

/// What every answer is made from.
#[derive(Debug)]
pub(crate) struct ServedRepository {
    loading: LoadOptions,
    /// Where labels and the run log are.
    root: Utf8PathBuf,
    runs: RunIndex,
    secrets: Arc<Secrets>,
    author: String,
}

/// A server that is running.
pub struct ViewServer {
    address: SocketAddr,
    guard: Arc<Guard>,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl fmt::Debug for ViewServer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Without the token.
        f.debug_struct("ViewServer").field("address", &self.address).finish_non_exhaustive()
    }
}

impl ViewServer {
    /// Fails if the place does not exist or the port is taken.
    pub fn start(spec: ViewSpec) -> io::Result<Self> {
        let served = Arc::new(ServedRepository::open(&spec)?);
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let bind = TcpListener::bind((Ipv4Addr::LOCALHOST, spec.port));
        let listener = runtime.block_on(bind)?;
        let address = listener.local_addr()?;
        let guard = Arc::new(Guard::new(address.port())?);
        let (stop, stopped) = oneshot::channel();
        let router = routes::router(served, Arc::clone(&guard));
        let serve = move || {
            runtime.block_on(async {
                tokio::select! {
                    _ = axum::serve(listener, router) => {}
                    _ = stopped => {}
                }
            });
            runtime.shutdown_timeout(LAST_WRITES);
        };
        let thread = thread::Builder::new().name("view".to_owned()).spawn(serve)?;
        Ok(Self { address, guard, stop: Some(stop), thread: Some(thread) })
    }

    pub fn port(&self) -> u16 {
        self.address.port()
    }

    /// The address of a page, with the token.
    pub fn address(&self, path: &str) -> String {
        self.with_token(path, self.guard.token())
    }

    /// As [`ViewServer::address`], but good for one request only: other users of the machine can see
    /// the arguments with which a browser is started.
    pub fn single_use_address(&self, path: &str) -> io::Result<String> {
        Ok(self.with_token(path, &self.guard.new_ticket()?))
    }

    /// The token, for programs that send it as the header `X-Evalrig-Token`.
    pub fn token(&self) -> &str {
        self.guard.token()
    }

    fn with_token(&self, path: &str, token: &str) -> String {
        let separator = if path.contains('?') { '&' } else { '?' };
        format!("http://{}{path}{separator}token={token}", self.address)
    }

    /// Waits until open pages have heard the end of their run.
    pub fn drain(&self, longest: Duration) {
        let begun = Instant::now();
        while live::open_streams() > 0 && begun.elapsed() < longest {
            thread::sleep(Duration::from_millis(20));
        }
    }

    /// Ends open connections and waits for labels that are being written.
    pub fn stop(mut self) {
        self.end();
    }

    fn end(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

impl Drop for ViewServer {
    fn drop(&mut self) {
        self.end();
    }
}

impl ServedRepository {
    fn open(spec: &ViewSpec) -> io::Result<Self> {
        let loading = spec.loading.clone();
        let place = match &spec.place {
            Some(place) => place.canonicalize_utf8()?,
            None => repository_root(&Disk, &loading.working_directory),
        };
        let is_file = place.is_file();
        let directory = if is_file { directory_of(&place) } else { &place };
        let root = loading.root.clone().unwrap_or_else(|| repository_root(&Disk, directory));
        let (folder, mut files) = if is_file {
            (None, vec![place])
        } else {
            let folder = ResultsPaths::folder(&place);
            // A directory below the repository that has no results folder holds them itself.
            let is_folder = !folder.is_dir() && place != root;
            (Some(if is_folder { place } else { folder }), Vec::new())
        };
        files.extend(spec.also.clone());
        let runs = RunIndex::new(folder, files);
        let secrets = Arc::new(known_secrets(&loading, &root));
        Ok(Self { loading, root, runs, secrets, author: spec.author.clone() })
    }
}
