//! Puts chains on the server, each once: also after a coordinator that was killed while it did so, and
//! whatever else is in the stream.

use std::collections::HashSet;

use async_nats::jetstream::message::PublishMessage;
use async_nats::jetstream::stream::RawMessageErrorKind;
use serde::{Deserialize, Serialize};

use super::error::QueueError;
use super::known_answers::EarlierWork;
use super::message::ChainMessage;
use super::names::SENT_KEY;
use super::run_queue::{RunQueue, describe};

/// Chains that are sent before the server has acknowledged the first.
const SENT_AT_ONCE: usize = 256;

const WHAT: &str = "put the cases on the server";

/// How far chains were sent, in the control bucket. Written before each block of chains.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
struct SentChains {
    /// Chains that were sent for certain.
    sent: usize,
    /// Chains that were sent or were being sent.
    begun: usize,
    /// The last sequence of the stream when the block began.
    after: u64,
}

/// Of one run.
#[derive(Debug)]
pub(super) struct ChainSending {
    known: SentChains,
}

impl ChainSending {
    /// Of a run that is new on the server.
    pub(super) fn first() -> Self {
        Self { known: SentChains { sent: 0, begun: 0, after: 0 } }
    }

    /// Of a run that is on the server, with so many chains.
    pub(super) async fn of(queue: &RunQueue, chains: usize) -> Result<Self, QueueError> {
        let found = queue.control.get(SENT_KEY).await;
        let found = found.map_err(|error| QueueError::of(WHAT, describe(&error)))?;
        // Anything may be in the bucket. Without the entry, every chain is looked for.
        let known = found.and_then(|bytes| serde_json::from_slice::<SentChains>(&bytes).ok());
        let known = known.filter(|known| known.sent <= known.begun && known.begun <= chains);
        Ok(Self { known: known.unwrap_or(SentChains { sent: 0, begun: chains, after: 0 }) })
    }

    /// Sends what was not sent of the first chains of a run.
    pub(super) async fn send(
        &mut self,
        queue: &RunQueue,
        chains: &[ChainMessage],
        first: usize,
    ) -> Result<(), QueueError> {
        let before = self.known;
        let SentChains { sent, begun, after } = before;
        if sent < begun {
            self.finish_block(queue, &chains[..begun], sent, after).await?;
        }
        while self.known.sent < first {
            let sent = self.known.sent;
            let end = first.min(sent + SENT_AT_ONCE);
            let after = last_sequence(queue).await?;
            self.note(queue, SentChains { sent, begun: end, after }).await?;
            publish(queue, chains[sent..end].iter().enumerate().map(|(at, one)| (sent + at, one)))
                .await?;
            // Noted with the next block.
            self.known.sent = end;
        }
        if self.known == before { Ok(()) } else { self.note(queue, self.known).await }
    }

    async fn note(&mut self, queue: &RunQueue, known: SentChains) -> Result<(), QueueError> {
        let text = serde_json::to_vec(&known).map_err(|error| QueueError::of(WHAT, error))?;
        let put = queue.control.put(SENT_KEY, text.into()).await;
        put.map_err(|error| QueueError::of(WHAT, describe(&error)))?;
        self.known = known;
        Ok(())
    }

    /// Sends those chains of a block that did not reach the server. A chain leaves the stream only when its
    /// rows are there, so what is neither in the stream nor has rows was not sent.
    async fn finish_block(
        &mut self,
        queue: &RunQueue,
        chains: &[ChainMessage],
        sent: usize,
        after: u64,
    ) -> Result<(), QueueError> {
        let waiting = chains_after(queue, after).await?;
        let mut missing = Vec::new();
        for (number, chain) in chains.iter().enumerate().skip(sent) {
            if waiting.contains(chain) {
                continue;
            }
            let found = EarlierWork::of(queue, &chain.cases).await;
            let found = found.map_err(|error| QueueError::of(WHAT, error))?;
            if !found.finished.iter().all(|is_finished| *is_finished) {
                missing.push((number, chain));
            }
        }
        for block in missing.chunks(SENT_AT_ONCE) {
            publish(queue, block.iter().copied()).await?;
        }
        self.known.sent = self.known.begun;
        Ok(())
    }
}

/// Returns when the server has stored all of them.
async fn publish(
    queue: &RunQueue,
    chains: impl Iterator<Item = (usize, &ChainMessage)>,
) -> Result<(), QueueError> {
    let mut acknowledged = Vec::new();
    for (number, chain) in chains {
        let bytes = serde_json::to_vec(chain).map_err(|error| QueueError::of(WHAT, error))?;
        let message = PublishMessage::build().payload(bytes.into());
        // The server stores one that was sent twice in short time once.
        let message = message.message_id(format!("chain-{number}"));
        let subject = queue.name.class_subject(chain.class);
        let sent = queue.link.stream.send_publish(subject, message).await;
        acknowledged.push(sent.map_err(|error| QueueError::of(WHAT, describe(&error)))?);
    }
    for one in acknowledged {
        one.await.map_err(|error| QueueError::of(WHAT, describe(&error)))?;
    }
    Ok(())
}

async fn last_sequence(queue: &RunQueue) -> Result<u64, QueueError> {
    let info = queue.cases.get_info().await;
    let info = info.map_err(|error| QueueError::of(WHAT, describe(&error)))?;
    Ok(info.state.last_sequence)
}

/// The chains in the stream that were stored after this sequence: those that wait, and those that run.
async fn chains_after(queue: &RunQueue, after: u64) -> Result<HashSet<ChainMessage>, QueueError> {
    let (mut found, mut next) = (HashSet::new(), after + 1);
    let all = queue.name.all_cases();
    loop {
        match queue.cases.get_first_raw_message_by_subject(&all, next).await {
            Ok(message) => {
                next = message.sequence + 1;
                // Anything may be in the stream.
                found.extend(serde_json::from_slice::<ChainMessage>(&message.payload));
            }
            Err(error) if error.kind() == RawMessageErrorKind::NoMessageFound => return Ok(found),
            Err(error) => return Err(QueueError::of(WHAT, describe(&error))),
        }
    }
}
