//! Bounds the memory of large answers. Grading, redacting, logging and writing a case copy its answer
//! several times, so only some large answers are worked on at once; the others wait.

use std::sync::Arc;

use evalrig_core::model::{Block, Transcript};
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

fn size_of(transcript: &Transcript) -> usize {
    let blocks = transcript.messages.iter().flat_map(|message| &message.content);
    let texts = blocks.map(|block| match block {
        Block::Text(text) => text.len(),
        Block::File(_) | Block::Image(_) | Block::Json(_) => 0,
    });
    transcript.answer.len().max(texts.sum())
}

#[cfg(test)]
mod tests {
    use super::*;

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
