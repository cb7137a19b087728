//! Bounds the memory of large answers. Grading, redacting, logging and writing a case copy its answer
//! several times, so only some large answers are worked on at once; the others wait.

use std::sync::Arc;

use evalrig_core::model::{Block, Message, Transcript, Value};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

const MIB: usize = 1024 * 1024;
/// Together, the large answers that are worked on have at most this many bytes.
const MOST: usize = 64 * MIB;
/// Smaller answers never wait.
const LARGE: usize = MIB;

#[derive(Debug)]
pub(super) struct AnswerMemory(Arc<Semaphore>);

impl Default for AnswerMemory {
    fn default() -> Self {
        Self(Arc::new(Semaphore::new(MOST / MIB)))
    }
}

/// A share of the memory, returned when it is dropped.
#[derive(Debug, Default)]
pub(super) struct MemoryShare {
    _permit: Option<OwnedSemaphorePermit>,
}

impl AnswerMemory {
    /// Waits for room. A case holds one share at most and gives it back without waiting for another
    /// case, so that cases cannot wait for each other.
    pub(super) async fn reserve(&self, transcript: &Transcript) -> MemoryShare {
        let bytes = size_of(transcript);
        if bytes < LARGE {
            return MemoryShare::default();
        }
        let share = bytes.div_ceil(MIB).min(MOST / MIB) as u32;
        // The semaphore is never closed.
        MemoryShare { _permit: Arc::clone(&self.0).acquire_many_owned(share).await.ok() }
    }
}

/// Of everything that comes from the agent. The answer and the calls of the messages are parts that are
/// there twice.
fn size_of(transcript: &Transcript) -> usize {
    let messages: usize = transcript.messages.iter().map(size_of_message).sum();
    let calls = transcript
        .calls
        .iter()
        .flatten()
        .map(|call| size_of_value(&call.args) + call.output.as_ref().map_or(0, size_of_value));
    transcript.answer.len().max(messages).max(calls.sum())
}

fn size_of_message(message: &Message) -> usize {
    let blocks = message.content.iter().map(|block| match block {
        Block::Text(text) => text.len(),
        Block::Json(value) => size_of_value(value),
        Block::File(_) | Block::Image(_) => 0,
    });
    let arguments = message.tool_calls.iter().map(|call| call.arguments.len());
    blocks.chain(arguments).sum()
}

/// About the length of its JSON. Values are nested no deeper than their reader allows.
fn size_of_value(value: &Value) -> usize {
    match value {
        Value::Null | Value::Bool(_) => 4,
        Value::Number(number) => number.text().len(),
        Value::String(text) => text.len() + 2,
        Value::List(items) => items.iter().map(|item| size_of_value(item) + 1).sum(),
        Value::Map(map) => {
            map.iter().map(|(key, value)| key.len() + 4 + size_of_value(value)).sum()
        }
    }
}

#[cfg(test)]
mod tests {
    use evalrig_core::model::{Call, Map, Role, ToolCall};

    use super::*;

    #[test]
    fn whatever_an_agent_may_make_large_counts() {
        let large = || "x".repeat(2 * MIB);
        let nested = || Value::from(Map::new().with("k", vec![Value::from(large())]));
        let of_message = |message| Transcript { messages: vec![message], ..Transcript::default() };
        let of_call = |call| Transcript { calls: Some(vec![call]), ..Transcript::default() };
        let asking = |arguments| Message {
            tool_calls: vec![ToolCall { id: "1".into(), name: "read".into(), arguments }],
            ..Message::new(Role::Assistant, Vec::new())
        };
        for transcript in [
            Transcript::of_text(large()),
            of_message(Message::new(Role::Assistant, vec![Block::Json(nested())])),
            of_message(asking(large())),
            of_call(Call::new("1", "read", nested())),
            of_call(Call { output: Some(large().into()), ..Call::new("1", "read", Value::Null) }),
        ] {
            let size = size_of(&transcript);
            assert!((2 * MIB..3 * MIB).contains(&size), "{size}");
        }
    }

    #[tokio::test]
    async fn large_answers_wait_for_each_other_and_small_ones_do_not() {
        let memory = AnswerMemory::default();
        let large = Transcript::of_text("x".repeat(MOST / 2));
        let (first, second) = (memory.reserve(&large).await, memory.reserve(&large).await);
        assert_eq!(memory.0.available_permits(), 0);
        memory.reserve(&Transcript::of_text("small")).await;
        let mut third = std::pin::pin!(memory.reserve(&large));
        tokio::select! {
            biased;
            _ = &mut third => panic!("there is no room"),
            () = std::future::ready(()) => {}
        }
        drop(first);
        third.await;
        drop(second);
    }

    #[tokio::test]
    async fn an_answer_beyond_the_limit_gets_all_of_it() {
        let memory = AnswerMemory::default();
        let share = memory.reserve(&Transcript::of_text("x".repeat(MOST + MIB))).await;
        assert_eq!(memory.0.available_permits(), 0);
        drop(share);
        assert_eq!(memory.0.available_permits(), MOST / MIB);
    }
}
