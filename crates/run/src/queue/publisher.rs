//! Publishes what a worker finds out: answers before they are graded, and rows. Secrets that the
//! worker knows are replaced first.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use evalrig_core::secrets::Secrets;

use crate::execute::{Durable, RowSink, UngradedAnswer, WrittenRow};
use crate::lock::locked;
use crate::results::{CaseKey, JudgeReply, Row, answer_line, row_line};

use super::payload;
use super::run_queue::RunQueue;

/// Of one run.
#[derive(Debug)]
pub(super) struct RunPublisher {
    queue: RunQueue,
    worker: String,
    /// Whether the run is gone, so that nothing more need be stored.
    is_over: AtomicBool,
    /// Why the server did not store the last message.
    trouble: Mutex<Option<String>>,
    warn: WarningSink,
}

/// Where warnings of a worker go.
#[derive(Clone)]
pub(super) struct WarningSink(pub(super) Arc<dyn Fn(String) + Send + Sync>);

impl WarningSink {
    /// Shows what it is given without these secrets.
    pub(super) fn redacting(&self, secrets: Arc<Secrets>) -> Self {
        let inner = Arc::clone(&self.0);
        Self(Arc::new(move |text| inner(secrets.redact(&text))))
    }
}

impl std::fmt::Debug for WarningSink {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("WarningSink")
    }
}

impl RunPublisher {
    pub(super) fn new(queue: RunQueue, worker: String, warn: WarningSink) -> Self {
        Self { queue, worker, is_over: AtomicBool::new(false), trouble: Mutex::default(), warn }
    }

    /// Nothing more need be stored.
    pub(super) fn end(&self) {
        self.is_over.store(true, Ordering::SeqCst);
    }

    async fn publish(&self, subject: String, bytes: Vec<u8>) -> Result<(), String> {
        let is_over = || self.is_over.load(Ordering::SeqCst);
        let RunQueue { link, bundle, .. } = &self.queue;
        let warn = |text: String| {
            *locked(&self.trouble) = Some(text.clone());
            (self.warn.0)(text);
        };
        let published =
            payload::publish(&link.stream, bundle, subject, bytes, &is_over, &warn).await;
        if published.is_ok() {
            locked(&self.trouble).take();
        }
        published
    }

    /// Why messages wait.
    pub(super) fn trouble(&self) -> Option<String> {
        locked(&self.trouble).clone()
    }

    /// Returns once the server has the row.
    pub(super) async fn publish_row(
        &self,
        key: &CaseKey,
        mut row: Row,
        secrets: &Secrets,
    ) -> Result<(), String> {
        row.worker = Some(self.worker.clone());
        row.run = Some(self.queue.name.as_str().to_owned());
        let line = row_line(&mut row, secrets).map_err(|error| error.to_string())?;
        self.publish(self.queue.name.row_subject(key), line).await
    }
}

/// The answers of a suite. Rows take another way, because their cases are known there.
#[derive(Debug)]
pub(super) struct AnswerSink {
    pub(super) publisher: Arc<RunPublisher>,
    pub(super) secrets: Arc<Secrets>,
}

impl RowSink for AnswerSink {
    fn write(&self, row: Row) -> WrittenRow {
        WrittenRow { row: Arc::new(row), durable: Box::pin(std::future::ready(Ok(()))) }
    }

    fn write_answer(&self, key: &CaseKey, test_hash: &str, answer: &UngradedAnswer) -> Durable {
        let UngradedAnswer { transcript, attempts, .. } = answer;
        let line = answer_line(key, test_hash, *attempts, transcript, &self.secrets);
        let subject = self.publisher.queue.name.answer_subject(key);
        let publisher = Arc::clone(&self.publisher);
        // Without a run, the answer is not needed; that its row cannot be stored is noticed later.
        Box::pin(async move {
            let _ = publisher.publish(subject, line).await;
            Ok(())
        })
    }

    /// A worker that takes over asks judges again.
    fn write_reply(&self, _: &CaseKey, _: &str, _: &JudgeReply) -> Durable {
        Box::pin(std::future::ready(Ok(())))
    }

    fn settled(&self, _: &Row) {}
}
