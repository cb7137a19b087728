//! Writes the record while a run goes on. What a receipt has confirmed survives a crash.
//!
//! The caller's thread writes a row at once, so that a killed run loses nothing that was handed
//! over. A thread syncs what has been written and only then hands out the receipts: a burst of rows
//! costs few syncs, and workers do not wait for a slow disk.

use std::future::Future;
use std::io;
use std::pin::Pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};
use std::thread::JoinHandle;
use std::time::{Duration, SystemTime};

use camino::Utf8PathBuf;
use evalrig_core::model::Transcript;
use evalrig_core::secrets::Secrets;
use tokio::sync::oneshot;

use super::append_file::{AppendFile, FileKind, Medium, Syncer};
use super::checksum::seal;
use super::error::WriteError;
use super::journal;
use super::judge_reply::{JudgeReply, judged_line};
use super::read::{LINE_LIMIT, ScannedFile};
use super::redact;
use super::results_paths::{ResultsPaths, write_path};
use super::resume::Interrupted;
use super::round_record::RoundRecord;
use super::row::{CaseKey, Row};
use super::row_limit::fit_row;
use super::run_header::{Completion, END, GateResult, RunEnd, RunHeader, sealed_line};
use super::scan::RowTally;
use crate::clock::rfc3339;
use crate::disk::{remove_file, sync_parent};

/// Between two syncs, so that rows which come one by one share them. What is written is not lost by
/// the death of this process in the meantime.
const PAUSE: Duration = Duration::from_millis(2);

/// What becomes of results that are there already.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Existing {
    /// They stay, and nothing is written.
    Refuse,
    /// They go.
    Replace,
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
enum FileRole {
    Results,
    Journal,
}

/// Something that has been written and waits for its sync.
struct Unsynced {
    role: FileRole,
    receipt: oneshot::Sender<Result<(), WriteError>>,
}

/// Resolves when an entry is on disk or could not be written. May be dropped.
#[derive(Debug)]
#[must_use = "an entry is safe only when its receipt says so"]
pub struct Receipt(oneshot::Receiver<Result<(), WriteError>>);

impl Receipt {
    /// For callers outside of async code; panics inside of it.
    pub fn wait(self) -> Result<(), WriteError> {
        self.0.blocking_recv().unwrap_or(Err(WriteError::Stopped))
    }

    fn settled(result: Result<(), WriteError>) -> Self {
        let (sender, receiver) = oneshot::channel();
        // The receiver is right here.
        let _ = sender.send(result);
        Self(receiver)
    }
}

impl Future for Receipt {
    type Output = Result<(), WriteError>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let waiting = Pin::new(&mut self.0).poll(context);
        waiting.map(|result| result.unwrap_or(Err(WriteError::Stopped)))
    }
}

/// A results file with what its last line is to say of the rows.
#[derive(Debug)]
struct ResultLines {
    file: AppendFile<Box<dyn Medium>>,
    tally: RowTally,
    /// Lines that a resumed run found damaged.
    damaged: u64,
}

/// Takes what is to be kept, from any thread.
#[derive(Debug)]
pub struct ResultsWriter {
    place: ResultsPaths,
    secrets: Arc<Secrets>,
    results: Mutex<ResultLines>,
    /// Results that are not a regular file have none.
    journal: Option<Mutex<AppendFile<Box<dyn Medium>>>>,
    /// `None` once closed.
    written: Option<Sender<Unsynced>>,
    thread: Option<JoinHandle<()>>,
    counts: Arc<Counts>,
    rounds: Option<RoundRecord>,
    gate: Option<GateResult>,
}

impl ResultsWriter {
    /// Begins a record. Results that are not a regular file, such as a pipe, have no journal.
    pub fn create(
        place: ResultsPaths,
        existing: Existing,
        header: &RunHeader,
        secrets: Arc<Secrets>,
    ) -> Result<Self, WriteError> {
        let mut results = AppendFile::open(place.results())?;
        if results.length() > 0 && existing == Existing::Refuse {
            let path = place.results().to_owned();
            return Err(WriteError::Exists { path });
        }
        // Both files are ours before either is emptied.
        let mut journal = match results.kind() {
            FileKind::Regular => Some(AppendFile::open(&place.journal())?),
            FileKind::Stream => None,
        };
        if results.length() > 0 {
            results.cut(0)?;
        }
        if let Some(journal) = &mut journal {
            journal.cut(0)?;
            journal.append(&header.journal_line(journal::PLAN, &secrets))?;
            sync_names(&place)?;
        }
        results.append(&header.line(&secrets))?;
        Self::start(place, results, journal, secrets)
    }

    /// Goes on with a record that was interrupted: cuts off what is torn, then appends. A plan that
    /// the results do not begin with is written first.
    pub fn resume(
        interrupted: &Interrupted,
        header: &RunHeader,
        secrets: Arc<Secrets>,
    ) -> Result<Self, WriteError> {
        let place = interrupted.place.clone();
        let mut results = AppendFile::open(place.results())?;
        restore(&mut results, &interrupted.results)?;
        let mut journal = AppendFile::open(&place.journal())?;
        restore(&mut journal, &interrupted.journal)?;
        if journal.length() == 0 {
            journal.append(&header.journal_line(journal::PLAN, &secrets))?;
        }
        let before = interrupted.header.as_ref().filter(|_| interrupted.has_header);
        let is_same = before.is_some_and(|before| before.plan == header.plan);
        if !is_same {
            // Rows of an older version have no plan.
            let plan = before.map(|before| before.plan.clone()).unwrap_or_default();
            let continues = (results.length() > 0).then_some(plan);
            results.append(&RunHeader { continues, ..header.clone() }.line(&secrets))?;
        }
        sync_names(&place)?;
        let mut writer = Self::start(place, results, Some(journal), secrets)?;
        if is_same {
            let results = writer.results.get_mut().unwrap_or_else(PoisonError::into_inner);
            results.tally = interrupted.tally.clone();
            results.damaged = interrupted.damaged_rows;
        }
        Ok(writer)
    }

    fn start<M: Medium + 'static>(
        place: ResultsPaths,
        results: AppendFile<M>,
        journal: Option<AppendFile<M>>,
        secrets: Arc<Secrets>,
    ) -> Result<Self, WriteError> {
        let (written, unsynced) = channel();
        let counts = Arc::new(Counts::default());
        let syncer = |lines: &AppendFile<M>| Ok((lines.path().to_owned(), lines.syncer()?));
        let mut keeper = SyncThread {
            results: syncer(&results)?,
            journal: journal.as_ref().map(syncer).transpose()?,
            counts: Arc::clone(&counts),
        };
        let thread = std::thread::Builder::new().name("record".to_owned());
        let thread = thread
            .spawn(move || keeper.run(&unsynced))
            .map_err(|source| WriteError::io(place.results(), source))?;
        Ok(Self {
            place,
            secrets,
            results: Mutex::new(ResultLines {
                file: results.boxed(),
                tally: RowTally::default(),
                damaged: 0,
            }),
            journal: journal.map(|lines| Mutex::new(lines.boxed())),
            written: Some(written),
            thread: Some(thread),
            counts,
            rounds: None,
            gate: None,
        })
    }

    pub fn place(&self) -> &ResultsPaths {
        &self.place
    }

    /// Keeps a finished case. The row comes back as it is kept, without secrets: what is shown of
    /// it is shown from there.
    pub fn write_row(&self, mut row: Row) -> (Arc<Row>, Receipt) {
        let line = redact::row_line(&mut row, &self.secrets);
        let receipt = match line.and_then(|line| fit_row(&mut row, line)) {
            Ok(mut line) => {
                let crc = seal(&mut line);
                self.append_row(&line, crc)
            }
            Err(error) => {
                let source = io::Error::other(error);
                Receipt::settled(Err(WriteError::io(self.place.results(), source)))
            }
        };
        (Arc::new(row), receipt)
    }

    /// Keeps an answer that is yet to be graded by scripts or judges, so that it need not be paid
    /// for again.
    pub fn write_answer(
        &self,
        key: &CaseKey,
        test_hash: &str,
        attempts: u32,
        transcript: &Transcript,
    ) -> Receipt {
        let line = || journal::answer_line(key, test_hash, attempts, transcript, &self.secrets);
        self.append_to_journal(line)
    }

    /// Keeps what a judge said of an answer in the journal.
    pub fn write_reply(&self, key: &CaseKey, test_hash: &str, reply: &JudgeReply) -> Receipt {
        self.append_to_journal(|| judged_line(key, test_hash, reply, &self.secrets))
    }

    fn append_to_journal(&self, line: impl FnOnce() -> Vec<u8>) -> Receipt {
        let Some(journal) = &self.journal else {
            return Receipt::settled(Ok(()));
        };
        let line = line();
        if line.len() as u64 > LINE_LIMIT {
            // It could not be read back. After a crash it is asked for again.
            return Receipt::settled(Ok(()));
        }
        // A panic elsewhere leaves whole lines: what is not whole is taken back before writing.
        let mut journal = journal.lock().unwrap_or_else(PoisonError::into_inner);
        match journal.write(&line) {
            Ok(()) => self.promise(FileRole::Journal),
            Err(error) => Receipt::settled(Err(error)),
        }
    }

    pub fn written(&self) -> Written {
        Written {
            lines: self.counts.lines.load(Ordering::Relaxed),
            syncs: self.counts.syncs.load(Ordering::Relaxed),
        }
    }

    /// What the last line says about rounds.
    pub fn keep_rounds(&mut self, rounds: RoundRecord) {
        self.rounds = Some(rounds);
    }

    /// What the last line says about the gate.
    pub fn keep_gate(&mut self, gate: GateResult) {
        self.gate = Some(gate);
    }

    /// Waits until everything is written, and adds the last line. Nothing is left to resume after a
    /// complete run, so its journal goes.
    pub fn finish(mut self, end: Completion) -> Result<Written, WriteError> {
        self.close()?;
        let ended = self.write_end(end);
        // The same error has ended the run and was reported.
        if end != Completion::WriteError {
            ended?;
        }
        let is_over =
            matches!(end, Completion::Complete | Completion::Settled | Completion::Incomplete);
        if self.journal.is_some() && is_over {
            let path = self.place.journal();
            let place = write_path(&path);
            let removed = remove_file(place).and_then(|()| sync_parent(place));
            removed.map_err(|source| WriteError::io(&path, source))?;
        }
        Ok(self.written())
    }

    fn write_end(&mut self, completion: Completion) -> Result<(), WriteError> {
        let results = self.results.get_mut().unwrap_or_else(PoisonError::into_inner);
        let end = RunEnd {
            completion,
            timestamp: rfc3339(SystemTime::now()),
            rows: results.tally.count,
            digest: results.tally.digest(),
            damaged: results.damaged,
            rounds: self.rounds.take(),
            gate: self.gate,
        };
        results.file.append(&sealed_line(END, &end))
    }

    /// Writes a row now; it is safe when the receipt says so.
    fn append_row(&self, line: &[u8], crc: u32) -> Receipt {
        let mut results = self.results.lock().unwrap_or_else(PoisonError::into_inner);
        match results.file.write(line) {
            Ok(()) => {
                results.tally.add(crc);
                self.promise(FileRole::Results)
            }
            Err(error) => Receipt::settled(Err(error)),
        }
    }

    /// Resolves when what was written so far has been synced.
    fn promise(&self, role: FileRole) -> Receipt {
        let Some(written) = &self.written else {
            return Receipt::settled(Err(WriteError::Stopped));
        };
        let (receipt, promise) = oneshot::channel();
        // If the sync thread is gone, the receipt resolves to an error.
        let _ = written.send(Unsynced { role, receipt });
        Receipt(promise)
    }

    fn close(&mut self) -> Result<(), WriteError> {
        self.written = None;
        match self.thread.take().map(JoinHandle::join) {
            Some(Err(_)) => Err(WriteError::Stopped),
            Some(Ok(())) | None => Ok(()),
        }
    }
}

impl Drop for ResultsWriter {
    fn drop(&mut self) {
        // Entries that are on their way are still written.
        let _ = self.close();
    }
}

/// The names of new files must survive as well.
fn sync_names(place: &ResultsPaths) -> Result<(), WriteError> {
    let results = place.results();
    sync_parent(write_path(results)).map_err(|source| WriteError::io(results, source))
}

fn restore<M: Medium>(lines: &mut AppendFile<M>, kept: &ScannedFile) -> Result<(), WriteError> {
    if lines.length() != kept.seen {
        let path = lines.path().to_owned();
        return Err(WriteError::Changed { path });
    }
    if kept.whole < kept.seen {
        lines.cut(kept.whole)?;
    }
    if kept.lacks_break { lines.append(b"\n") } else { Ok(()) }
}

/// Makes what was written survive a crash of the machine, and says so.
struct SyncThread {
    results: (Utf8PathBuf, Syncer),
    journal: Option<(Utf8PathBuf, Syncer)>,
    counts: Arc<Counts>,
}

impl SyncThread {
    fn run(&mut self, written: &Receiver<Unsynced>) {
        while let Ok(first) = written.recv() {
            let all = [first].into_iter().chain(written.try_iter());
            let (results, journal): (Vec<Unsynced>, Vec<Unsynced>) =
                all.partition(|one| one.role == FileRole::Results);
            self.settle(FileRole::Results, results);
            self.settle(FileRole::Journal, journal);
            std::thread::sleep(PAUSE);
        }
    }

    fn settle(&mut self, role: FileRole, batch: Vec<Unsynced>) {
        let file = match role {
            FileRole::Results => Some(&mut self.results),
            FileRole::Journal => self.journal.as_mut(),
        };
        let Some((path, sync)) = file.filter(|_| !batch.is_empty()) else {
            return;
        };
        self.counts.syncs.fetch_add(1, Ordering::Relaxed);
        let synced = sync().map_err(|source| WriteError::io(path, source));
        if synced.is_ok() {
            let count = batch.len() as u64;
            self.counts.lines.fetch_add(count, Ordering::Relaxed);
        }
        for one in batch {
            // The receipt may have been dropped.
            let _ = one.receipt.send(synced.clone());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::append_file::testing::Fake;
    use super::super::testing::row;
    use super::*;

    fn writer(fake: &Fake) -> ResultsWriter {
        let place = ResultsPaths::existing("x.jsonl".into());
        let results = AppendFile::new(place.results(), fake.clone(), 0);
        ResultsWriter::start(place, results, None, Arc::default()).unwrap()
    }

    #[test]
    fn a_receipt_comes_after_the_sync() {
        let fake = Fake::default();
        let writer = writer(&fake);
        for number in 0..20 {
            let (row, receipt) = writer.write_row(row(&format!("t{number}"), 1));
            receipt.wait().unwrap();
            let state = fake.0.lock().unwrap();
            let safe = std::str::from_utf8(&state.bytes[..state.safe]).unwrap();
            assert!(safe.ends_with("}\n"));
            assert!(safe.contains(&format!("\"evalId\":\"{}\"", row.eval_id)));
        }
    }

    #[test]
    fn what_waits_is_synced_at_once() {
        let fake = Fake::default();
        let mut lines = AppendFile::new("x".into(), fake.clone(), 0);
        let mut keeper = SyncThread {
            results: ("x".into(), lines.syncer().unwrap()),
            journal: None,
            counts: Arc::default(),
        };
        let (written, unsynced) = channel();
        let mut receipts = Vec::new();
        for number in 0..1000 {
            lines.write(format!("{{\"n\":{number}}}\n").as_bytes()).unwrap();
            let (receipt, promise) = oneshot::channel();
            let role = FileRole::Results;
            written.send(Unsynced { role, receipt }).unwrap();
            receipts.push(Receipt(promise));
        }
        drop(written);
        keeper.run(&unsynced);
        assert!(receipts.into_iter().all(|receipt| receipt.wait().is_ok()));
        assert_eq!(fake.0.lock().unwrap().syncs, 1);
    }

    #[test]
    fn a_row_is_written_before_its_receipt_is_awaited() {
        let fake = Fake::default();
        fake.0.lock().unwrap().cannot_sync = true;
        let writer = writer(&fake);
        let (_, receipt) = writer.write_row(row("a", 1));
        assert!(fake.0.lock().unwrap().bytes.ends_with(b"}\n"));
        assert!(matches!(receipt.wait(), Err(WriteError::Io { .. })));
    }

    #[test]
    fn one_row_too_large_does_not_take_the_others_with_it() {
        let fake = Fake::default();
        let writer = writer(&fake);
        let (_, first) = writer.write_row(row("a", 1));
        fake.0.lock().unwrap().room = Some(20);
        let (_, second) = writer.write_row(row("b", 1));
        fake.0.lock().unwrap().room = None;
        let (_, third) = writer.write_row(row("c", 1));
        assert!(first.wait().is_ok() && second.wait().is_err() && third.wait().is_ok());
        let bytes = &fake.0.lock().unwrap().bytes;
        assert_eq!(bytes.iter().filter(|byte| **byte == b'\n').count(), 2);
    }

    #[test]
    fn a_dropped_receipt_does_not_block_others() {
        let fake = Fake::default();
        let writer = writer(&fake);
        for _ in 0..10 {
            drop(writer.write_row(row("a", 1)));
        }
        drop(writer);
        let bytes = &fake.0.lock().unwrap().bytes;
        assert_eq!(bytes.iter().filter(|byte| **byte == b'\n').count(), 10);
    }
}
