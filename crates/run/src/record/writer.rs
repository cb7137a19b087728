//! Writes the record while a run goes on. What a receipt has confirmed survives a crash.
//!
//! One thread owns the files. It takes everything that waits, appends it in one write, syncs once,
//! and only then hands out the receipts: a burst of rows costs few syncs, a lonely row waits for no
//! other. Rows become text where they come from, so that thread does nothing but write.

use std::future::Future;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::task::{Context, Poll};
use std::thread::JoinHandle;

use evalrig_core::access::Secrets;
use evalrig_core::model::Transcript;
use tokio::sync::oneshot;

use super::door;
use super::error::RecordError;
use super::journal::{self, Header};
use super::lines::{Kind, Lines, Medium, sync_directory};
use super::place::Place;
use super::resume::{Interrupted, Kept};
use super::row::{CaseKey, Row};

/// A batch ends here, so that a flood of large rows does not fill the memory twice.
const BATCH_BYTES: usize = 8 * 1024 * 1024;

/// What becomes of results that are there already.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Existing {
    /// They stay, and nothing is written.
    Refuse,
    /// They go.
    Replace,
}

/// How a run ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    /// Every case has a row: nothing is left to resume.
    Complete,
    /// The journal stays.
    Interrupted,
}

/// How much was written, and how often the disk was waited for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Written {
    pub lines: u64,
    pub syncs: u64,
}

#[derive(Debug, Default)]
struct Counts {
    lines: AtomicU64,
    syncs: AtomicU64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Book {
    Results,
    Journal,
}

struct Entry {
    book: Book,
    /// With its line break.
    line: Vec<u8>,
    receipt: oneshot::Sender<Result<(), RecordError>>,
}

/// Resolves when an entry is safe, or cannot be. Whoever does not care may drop it.
#[derive(Debug)]
#[must_use = "an entry is safe only when its receipt says so"]
pub struct Receipt(oneshot::Receiver<Result<(), RecordError>>);

impl Receipt {
    /// For callers outside of async code; panics inside of it.
    pub fn wait(self) -> Result<(), RecordError> {
        self.0.blocking_recv().unwrap_or(Err(RecordError::Stopped))
    }

    fn settled(result: Result<(), RecordError>) -> Self {
        let (sender, receiver) = oneshot::channel();
        // The receiver is right here.
        let _ = sender.send(result);
        Self(receiver)
    }
}

impl Future for Receipt {
    type Output = Result<(), RecordError>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let waiting = Pin::new(&mut self.0).poll(context);
        waiting.map(|result| result.unwrap_or(Err(RecordError::Stopped)))
    }
}

/// Takes what is to be kept, from any thread.
#[derive(Debug)]
pub struct Recorder {
    place: Place,
    secrets: Arc<Secrets>,
    has_journal: bool,
    /// `None` once closed.
    entries: Option<Sender<Entry>>,
    thread: Option<JoinHandle<()>>,
    counts: Arc<Counts>,
}

impl Recorder {
    /// Begins a record. Results that are no file, such as a pipe, have no journal.
    pub fn create(
        place: Place,
        existing: Existing,
        header: &Header,
        secrets: Arc<Secrets>,
    ) -> Result<Self, RecordError> {
        let mut results = Lines::open(place.results())?;
        if results.length() > 0 && existing == Existing::Refuse {
            let path = place.results().to_owned();
            return Err(RecordError::Exists { path });
        }
        // Both files are ours before either is emptied.
        let mut journal = match results.kind() {
            Kind::Regular => Some(Lines::open(&place.journal())?),
            Kind::Stream => None,
        };
        if results.length() > 0 {
            results.cut(0)?;
        }
        if let Some(journal) = &mut journal {
            journal.cut(0)?;
            journal.append(&header.line(&secrets))?;
            keep_name(&place)?;
        }
        Self::start(place, results, journal, secrets)
    }

    /// Goes on with a record that was interrupted: cuts off what is torn, then appends.
    pub fn resume(
        interrupted: &Interrupted,
        header: &Header,
        secrets: Arc<Secrets>,
    ) -> Result<Self, RecordError> {
        let place = interrupted.place.clone();
        let mut results = Lines::open(place.results())?;
        restore(&mut results, &interrupted.results)?;
        let mut journal = Lines::open(&place.journal())?;
        restore(&mut journal, &interrupted.journal)?;
        if journal.length() == 0 {
            journal.append(&header.line(&secrets))?;
        }
        keep_name(&place)?;
        Self::start(place, results, Some(journal), secrets)
    }

    fn start<M: Medium + 'static>(
        place: Place,
        results: Lines<M>,
        journal: Option<Lines<M>>,
        secrets: Arc<Secrets>,
    ) -> Result<Self, RecordError> {
        let (entries, waiting) = channel();
        let counts = Arc::new(Counts::default());
        let has_journal = journal.is_some();
        let mut writer = Writer {
            results,
            journal,
            counts: Arc::clone(&counts),
        };
        let thread = std::thread::Builder::new().name("record".to_owned());
        let thread = thread
            .spawn(move || writer.run(&waiting))
            .map_err(|source| RecordError::io(place.results(), source))?;
        Ok(Self {
            place,
            secrets,
            has_journal,
            entries: Some(entries),
            thread: Some(thread),
            counts,
        })
    }

    pub fn place(&self) -> &Place {
        &self.place
    }

    /// Keeps a finished case. The row comes back as it is kept, without secrets: what is shown of
    /// it is shown from there.
    pub fn row(&self, mut row: Row) -> (Arc<Row>, Receipt) {
        door::admit(&mut row, &self.secrets);
        let mut line = Vec::with_capacity(2048);
        let receipt = match serde_json::to_writer(&mut line, &row) {
            Ok(()) => {
                line.push(b'\n');
                self.send(Book::Results, line)
            }
            Err(error) => {
                let source = io::Error::other(error);
                Receipt::settled(Err(RecordError::io(self.place.results(), source)))
            }
        };
        (Arc::new(row), receipt)
    }

    /// Keeps an answer that is yet to be graded by scripts or judges, so that it need not be paid
    /// for again.
    pub fn answered(
        &self,
        key: &CaseKey,
        test_hash: &str,
        attempts: u32,
        transcript: &Transcript,
    ) -> Receipt {
        if !self.has_journal {
            return Receipt::settled(Ok(()));
        }
        let line = journal::answered_line(key, test_hash, attempts, transcript, &self.secrets);
        self.send(Book::Journal, line)
    }

    pub fn written(&self) -> Written {
        Written {
            lines: self.counts.lines.load(Ordering::Relaxed),
            syncs: self.counts.syncs.load(Ordering::Relaxed),
        }
    }

    /// Waits until everything is written. Nothing is left to resume after a complete run, so its
    /// journal goes.
    pub fn finish(mut self, end: End) -> Result<Written, RecordError> {
        self.close()?;
        if self.has_journal && end == End::Complete {
            let path = self.place.journal();
            let removed = std::fs::remove_file(&path).and_then(|()| sync_directory(&path));
            removed.map_err(|source| RecordError::io(&path, source))?;
        }
        Ok(self.written())
    }

    fn send(&self, book: Book, line: Vec<u8>) -> Receipt {
        let (receipt, promise) = oneshot::channel();
        let entry = Entry {
            book,
            line,
            receipt,
        };
        if let Some(entries) = &self.entries {
            // If nobody listens, the promise is broken and says so.
            let _ = entries.send(entry);
        }
        Receipt(promise)
    }

    fn close(&mut self) -> Result<(), RecordError> {
        self.entries = None;
        match self.thread.take().map(JoinHandle::join) {
            Some(Err(_)) => Err(RecordError::Stopped),
            Some(Ok(())) | None => Ok(()),
        }
    }
}

impl Drop for Recorder {
    fn drop(&mut self) {
        // Entries that are on their way are still written.
        let _ = self.close();
    }
}

/// The names of new files must survive as well.
fn keep_name(place: &Place) -> Result<(), RecordError> {
    let results = place.results();
    sync_directory(results).map_err(|source| RecordError::io(results, source))
}

fn restore<M: Medium>(lines: &mut Lines<M>, kept: &Kept) -> Result<(), RecordError> {
    if lines.length() != kept.seen {
        let path = lines.path().to_owned();
        return Err(RecordError::Changed { path });
    }
    if kept.whole < kept.seen {
        lines.cut(kept.whole)?;
    }
    match kept.lacks_break {
        true => lines.append(b"\n"),
        false => Ok(()),
    }
}

struct Writer<M> {
    results: Lines<M>,
    journal: Option<Lines<M>>,
    counts: Arc<Counts>,
}

impl<M: Medium> Writer<M> {
    fn run(&mut self, waiting: &Receiver<Entry>) {
        while let Ok(first) = waiting.recv() {
            let (journal, results) = take(first, waiting)
                .into_iter()
                .partition(|entry| entry.book == Book::Journal);
            commit(&mut self.results, results, &self.counts);
            if let Some(lines) = &mut self.journal {
                commit(lines, journal, &self.counts);
            }
        }
    }
}

/// Everything that waits, up to a size.
fn take(first: Entry, waiting: &Receiver<Entry>) -> Vec<Entry> {
    let mut size = first.line.len();
    let mut batch = vec![first];
    while size < BATCH_BYTES {
        let Ok(next) = waiting.try_recv() else {
            break;
        };
        size += next.line.len();
        batch.push(next);
    }
    batch
}

fn commit<M: Medium>(lines: &mut Lines<M>, batch: Vec<Entry>, counts: &Counts) {
    if batch.is_empty() {
        return;
    }
    let text = batch.iter().map(|entry| entry.line.as_slice());
    let text = text.collect::<Vec<_>>().concat();
    counts.syncs.fetch_add(1, Ordering::Relaxed);
    match lines.append(&text) {
        Ok(()) => {
            let count = batch.len() as u64;
            counts.lines.fetch_add(count, Ordering::Relaxed);
            for entry in batch {
                // The receipt may have been dropped.
                let _ = entry.receipt.send(Ok(()));
            }
        }
        Err(error) if batch.len() == 1 => {
            for entry in batch {
                let _ = entry.receipt.send(Err(error.clone()));
            }
        }
        // One row too large must not take the others with it.
        Err(_) => {
            for entry in batch {
                commit(lines, vec![entry], counts);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::lines::testing::Fake;
    use super::super::testing::row;
    use super::*;

    fn recorder(fake: &Fake) -> Recorder {
        let place = Place::existing("x.jsonl".into());
        let results = Lines::new(place.results(), fake.clone(), 0);
        Recorder::start(place, results, None, Arc::default()).unwrap()
    }

    fn entry(text: &str) -> (Entry, Receipt) {
        let (receipt, promise) = oneshot::channel();
        let entry = Entry {
            book: Book::Results,
            line: text.as_bytes().to_vec(),
            receipt,
        };
        (entry, Receipt(promise))
    }

    #[test]
    fn a_receipt_comes_after_the_sync() {
        let fake = Fake::default();
        let recorder = recorder(&fake);
        for number in 0..20 {
            let (row, receipt) = recorder.row(row(&format!("t{number}"), 1));
            receipt.wait().unwrap();
            let state = fake.0.lock().unwrap();
            let safe = std::str::from_utf8(&state.bytes[..state.safe]).unwrap();
            assert!(safe.ends_with("}\n"));
            assert!(safe.contains(&format!("\"evalId\":\"{}\"", row.eval_id)));
        }
    }

    #[test]
    fn what_waits_is_written_with_one_sync() {
        let fake = Fake::default();
        let (sender, waiting) = channel();
        let mut receipts = Vec::new();
        for number in 0..1000 {
            let (entry, receipt) = entry(&format!("{{\"n\":{number}}}\n"));
            sender.send(entry).unwrap();
            receipts.push(receipt);
        }
        drop(sender);
        let mut writer = Writer {
            results: Lines::new("x".into(), fake.clone(), 0),
            journal: None,
            counts: Arc::default(),
        };
        writer.run(&waiting);
        assert!(receipts.into_iter().all(|receipt| receipt.wait().is_ok()));
        assert_eq!(fake.0.lock().unwrap().syncs, 1);
    }

    #[test]
    fn one_row_too_large_does_not_take_the_others_with_it() {
        let fake = Fake::default();
        fake.0.lock().unwrap().room = Some(20);
        let mut lines = Lines::new("x".into(), fake.clone(), 0);
        let long = format!("{}\n", "x".repeat(50));
        let (entries, receipts): (Vec<_>, Vec<_>) = ["{\"a\":1}\n", &long, "{\"b\":2}\n"]
            .map(entry)
            .into_iter()
            .unzip();
        commit(&mut lines, entries, &Counts::default());
        let results: Vec<bool> = receipts.into_iter().map(|r| r.wait().is_ok()).collect();
        assert_eq!(results, [true, false, true]);
        assert_eq!(fake.0.lock().unwrap().bytes, b"{\"a\":1}\n{\"b\":2}\n");
    }

    #[test]
    fn a_dropped_receipt_hinders_nobody() {
        let fake = Fake::default();
        let recorder = recorder(&fake);
        for _ in 0..10 {
            drop(recorder.row(row("a", 1)));
        }
        drop(recorder);
        let bytes = &fake.0.lock().unwrap().bytes;
        assert_eq!(bytes.iter().filter(|byte| **byte == b'\n').count(), 10);
    }
}
