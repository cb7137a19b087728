//! The events of a run that goes on: each row as soon as it is on disk.
//!
//! The length of the results files is looked at ten times a second. That works on every file system,
//! and a row is sent well within half a second.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use axum::body::Body;
use axum::http::StatusCode;
use futures_util::stream;

use super::ServedRepository;
use super::answer::{Answer, answer, failed, not_found, plain};
use super::run_index::ListedRun;
use crate::report::html::{LiveSummary, case_json, workers_json};
use crate::report::{ReportedRun, SuiteText};
use crate::results::{
    FollowedFile, FollowedLine, ReadError, WorkerLines, is_being_written, read_worker_notes,
};
use crate::session::ServedRun;

const PAUSE: Duration = Duration::from_millis(100);
/// How often new files of the run are looked for.
const LOOK_FOR_FILES: Duration = Duration::from_secs(1);
/// An idle connection is told apart from a dead one.
const SIGN_OF_LIFE: Duration = Duration::from_secs(15);
/// Pages that may be open at once.
const MOST_STREAMS: usize = 64;
/// Looks at files that nobody writes before the run is taken to be over: they may just be opened.
const QUIET_LOOKS: u32 = 3;

/// The number of open streams.
static STREAMS: AtomicUsize = AtomicUsize::new(0);

/// How many pages follow a run.
pub(super) fn open_streams() -> usize {
    STREAMS.load(Ordering::Relaxed)
}

/// Counts a stream while it exists.
struct StreamPlace;

impl StreamPlace {
    fn take() -> Option<Self> {
        let taken = STREAMS.fetch_add(1, Ordering::Relaxed);
        let place = Self;
        (taken < MOST_STREAMS).then_some(place)
    }
}

impl Drop for StreamPlace {
    fn drop(&mut self) {
        STREAMS.fetch_sub(1, Ordering::Relaxed);
    }
}

/// What has been sent, and what comes next.
struct LiveRun {
    served: Arc<ServedRepository>,
    id: String,
    run: ServedRun,
    text: SuiteText,
    facts: ReportedRun,
    summary: LiveSummary,
    workers: WorkerLines,
    files: Vec<FollowedFile>,
    looked: Instant,
    quiet: u32,
    is_announced: bool,
    is_over: bool,
    /// What was new before the stream began.
    first: String,
    _place: StreamPlace,
}

/// The event stream of a run; one that is over has only an `end`.
pub(super) fn events(served: Arc<ServedRepository>, id: &str) -> Answer {
    let Some(found) = served.runs.find(id) else {
        return not_found("There is no such run.");
    };
    let Some(place) = StreamPlace::take() else {
        return plain(StatusCode::SERVICE_UNAVAILABLE, "Too many pages are open.");
    };
    let mut live = LiveRun::new(served, found, place);
    // Only an answer that has not begun can be refused.
    match live.look() {
        Ok(first) => live.first = first,
        Err(error) => return failed(&live.served.secrets, &error),
    }
    let chunks = stream::unfold(Some(live), next_chunk);
    answer(StatusCode::OK, "text/event-stream", Body::from_stream(chunks))
}

impl LiveRun {
    fn new(served: Arc<ServedRepository>, found: ListedRun, place: StreamPlace) -> Self {
        let run = served.run(&found, None);
        let text = run.suite_text();
        Self {
            served,
            files: found.followed(),
            id: found.id,
            facts: run.facts_so_far().unwrap_or_default(),
            summary: LiveSummary::default(),
            workers: WorkerLines::default(),
            run,
            text,
            looked: Instant::now(),
            quiet: 0,
            is_announced: false,
            is_over: false,
            first: String::new(),
            _place: place,
        }
    }

    /// Whatever is new; empty if nothing is.
    fn look(&mut self) -> Result<String, ReadError> {
        let mut out = std::mem::take(&mut self.first);
        if !self.is_announced {
            self.is_announced = true;
            self.announce(&mut out);
        }
        if self.looked.elapsed() >= LOOK_FOR_FILES {
            self.looked = Instant::now();
            self.add_new_files(&mut out);
        }
        // Asked before reading: rows that were written until then are seen below.
        let is_written = self.files.iter().any(|file| is_being_written(file.path()));
        let mut has_rows = false;
        for file in &mut self.files {
            for line in added_lines(file)? {
                if let FollowedLine::Row(row) = line {
                    push_event(&mut out, "row", &case_json(&row, &self.text));
                    self.summary.add(&row);
                    has_rows = true;
                }
            }
        }
        if has_rows {
            push_event(&mut out, "run", &self.summary.json(&self.facts));
        }
        if is_written {
            self.tell_workers(&mut out);
        }
        self.quiet = if is_written || !out.is_empty() { 0 } else { self.quiet + 1 };
        if self.quiet >= QUIET_LOOKS {
            self.is_over = true;
            match self.run.end_event() {
                Ok(end) => push_event(&mut out, "end", &end),
                Err(_) => push_event(&mut out, "end", "{}"),
            }
        }
        Ok(out)
    }

    fn announce(&mut self, out: &mut String) {
        if let Ok(facts) = self.run.facts_so_far() {
            self.facts = facts;
        }
        push_event(out, "run", &self.summary.json(&self.facts));
    }

    /// What a run left that was killed is of no interest.
    fn tell_workers(&mut self, out: &mut String) {
        let Some(first) = self.run.results.first() else { return };
        let workers = read_worker_notes(first);
        if workers != self.workers {
            push_event(out, "workers", &workers_json(&workers));
            self.workers = workers;
        }
    }

    fn add_new_files(&mut self, out: &mut String) {
        let known = self.files.len();
        for path in self.served.runs.files_of(&self.id) {
            if !self.run.results.contains(&path) {
                self.files.push(FollowedFile::new(path.clone()));
                self.run.results.push(path);
            }
        }
        if self.files.len() > known {
            self.announce(out);
        }
    }
}

/// A file may be listed before it is written.
fn added_lines(file: &mut FollowedFile) -> Result<Vec<FollowedLine>, ReadError> {
    match file.read_added() {
        Err(error) if error.is_not_found() => Ok(Vec::new()),
        read => read,
    }
}

/// Waits until there is something to send. The first chunk comes at once.
async fn next_chunk(
    live: Option<LiveRun>,
) -> Option<(Result<String, std::io::Error>, Option<LiveRun>)> {
    let mut live = live?;
    let begun = Instant::now();
    loop {
        let looked = tokio::task::spawn_blocking(move || {
            let found = live.look();
            (live, found)
        });
        let (kept, found) = looked.await.ok()?;
        live = kept;
        let found = match found {
            Ok(found) => found,
            // The page asks again, and is told the reason then.
            Err(error) => return Some((Err(std::io::Error::other(error.to_string())), None)),
        };
        if !found.is_empty() {
            let next = (!live.is_over).then_some(live);
            return Some((Ok(found), next));
        }
        if begun.elapsed() >= SIGN_OF_LIFE {
            return Some((Ok(":\n\n".to_owned()), Some(live)));
        }
        tokio::time::sleep(PAUSE).await;
    }
}

/// The data is one line of JSON.
fn push_event(out: &mut String, name: &str, data: &str) {
    out.push_str("event: ");
    out.push_str(name);
    for line in data.split(['\n', '\r']) {
        out.push_str("\ndata: ");
        out.push_str(line);
    }
    out.push_str("\n\n");
}
