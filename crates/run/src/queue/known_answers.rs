//! What earlier workers left of a chain: rows, and answers that only have to be graded.

use std::collections::HashMap;
use std::sync::Mutex;

use async_nats::jetstream::stream::{LastRawMessageErrorKind, Stream};
use futures_util::future::BoxFuture;

use crate::execute::{LookElsewhere, UngradedAnswer};
use crate::lock::locked;
use crate::results::{CaseKey, JournaledAnswer, read_answer};

use super::message::CaseMessage;
use super::object_bucket::Unread;
use super::payload;
use super::row_message::row_of_message;
use super::run_queue::RunQueue;

/// By case; read from the server when a chain is delivered again.
#[derive(Debug, Default)]
pub(super) struct EarlierWork {
    pub(super) finished: Vec<bool>,
    pub(super) answered: HashMap<CaseKey, UngradedAnswer>,
}

impl EarlierWork {
    /// Fails if the server cannot be asked: what is there must not be done again.
    pub(super) async fn of(queue: &RunQueue, cases: &[CaseMessage]) -> Result<Self, String> {
        let mut found = Self::default();
        for case in cases {
            let has_row = has_row(queue, case).await?;
            found.finished.push(has_row);
            if !has_row && let Some(answer) = answer_of(queue, case).await? {
                found.answered.insert(case.key(), answer);
            }
        }
        Ok(found)
    }
}

/// What another worker may have published about a case since this one got its chain.
pub(super) struct LaterWork<'a> {
    queue: &'a RunQueue,
    /// Whether an answer without a row is of use: in a session, it is not.
    uses_answers: bool,
    current: Mutex<Option<KnownCase<'a>>>,
}

/// A case that is being run, and what was known of it before.
#[derive(Clone, Copy)]
pub(super) struct KnownCase<'a> {
    pub(super) case: &'a CaseMessage,
    pub(super) has_row: bool,
    pub(super) has_answer: bool,
}

impl<'a> LaterWork<'a> {
    pub(super) fn new(queue: &'a RunQueue, uses_answers: bool) -> Self {
        Self { queue, uses_answers, current: Mutex::default() }
    }

    pub(super) fn begin_case(&self, case: KnownCase<'a>) {
        *locked(&self.current) = Some(case);
    }

    async fn is_there(&self) -> Result<bool, String> {
        let current = *locked(&self.current);
        let Some(KnownCase { case, has_row: had_row, has_answer: had_answer }) = current else {
            return Ok(false);
        };
        if !had_row && has_row(self.queue, case).await? {
            return Ok(true);
        }
        // One that was there is of no use: with it, nothing would be asked.
        Ok(self.uses_answers && !had_answer && answer_of(self.queue, case).await?.is_some())
    }
}

impl LookElsewhere for LaterWork<'_> {
    fn is_done(&self) -> BoxFuture<'_, Result<bool, String>> {
        Box::pin(self.is_there())
    }
}

/// Whether the server has a row of the case that counts.
async fn has_row(queue: &RunQueue, case: &CaseMessage) -> Result<bool, String> {
    let key = case.key();
    let subject = queue.name.row_subject(&key);
    let Some(bytes) = last_payload(queue, &queue.rows, &subject).await? else { return Ok(false) };
    let row = row_of_message(&bytes, &subject, &queue.name);
    Ok(row.is_ok_and(|row| row.key() == key && row.test_hash == case.hash))
}

/// The answer that an earlier worker got.
async fn answer_of(queue: &RunQueue, case: &CaseMessage) -> Result<Option<UngradedAnswer>, String> {
    let key = case.key();
    let subject = queue.name.answer_subject(&key);
    let Some(bytes) = last_payload(queue, &queue.answers, &subject).await? else { return Ok(None) };
    let answer = read_answer(&bytes);
    let answer = answer.filter(|answer| answer.key == key && answer.test_hash == case.hash);
    Ok(answer.map(|JournaledAnswer { transcript, attempts, .. }| {
        UngradedAnswer::new(transcript, attempts)
    }))
}

/// The payload of the last message with a subject. A forged one is none.
async fn last_payload(
    queue: &RunQueue,
    stream: &Stream,
    subject: &str,
) -> Result<Option<Vec<u8>>, String> {
    let Some(message) = last(stream, subject).await? else { return Ok(None) };
    match payload::received(&queue.bundle, Some(&message.headers), &message.payload).await {
        Ok(bytes) => Ok(Some(bytes)),
        Err(Unread::Forged(_)) => Ok(None),
        Err(Unread::Unreachable(reason)) => Err(reason),
    }
}

/// The last message with a subject.
async fn last(
    stream: &Stream,
    subject: &str,
) -> Result<Option<async_nats::jetstream::message::StreamMessage>, String> {
    match stream.get_last_raw_message_by_subject(subject).await {
        Ok(message) => Ok(Some(message)),
        Err(error) if error.kind() == LastRawMessageErrorKind::NoMessageFound => Ok(None),
        Err(error) => Err(error.to_string()),
    }
}
