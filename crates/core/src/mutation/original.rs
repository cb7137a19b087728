//! The stored answer that mutants are made of.

use crate::model::{Block, Call, Role, Test, Transcript};
use crate::stats::{Fnv1a, SplitMix64};

use super::answer_text::same_words;
use super::mutant::{Mutant, lists};

/// The answer of another test of the suite.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OtherAnswer {
    pub test: String,
    pub answer: String,
}

#[derive(Debug, Clone, Copy)]
pub struct Original<'a> {
    pub test: &'a Test,
    pub transcript: &'a Transcript,
    /// May contain answers of the test itself, which are not used.
    pub others: &'a [OtherAnswer],
    pub seed: u64,
}

impl Original<'_> {
    pub(super) fn answer(&self) -> &str {
        &self.transcript.answer
    }

    /// The calls, if the target reports them.
    pub(super) fn calls(&self) -> &[Call] {
        self.transcript.calls.as_deref().unwrap_or_default()
    }

    /// Random numbers for one kind of damage.
    pub(super) fn random(&self, purpose: &str) -> SplitMix64 {
        let mut hash = Fnv1a::default();
        hash.add(&self.seed.to_le_bytes());
        hash.add_text(purpose);
        hash.add_text(self.test.id.as_str());
        hash.add_text(self.answer());
        SplitMix64::new(hash.finish())
    }

    /// The transcript with another answer, also in its last message with text.
    pub(super) fn with_answer(&self, answer: String) -> Transcript {
        let mut transcript = self.transcript.clone();
        let mut messages = transcript.messages.iter_mut().rev();
        let last = messages.find(|message| {
            message.role == Role::Assistant && message.texts().any(|text| !text.is_empty())
        });
        if let Some(message) = last {
            message.content.retain(|block| !matches!(block, Block::Text(_)));
            if !answer.is_empty() {
                message.content.insert(0, Block::Text(answer.clone()));
            }
        }
        transcript.answer = answer;
        transcript
    }

    /// The transcript with other calls, also in its messages. `place` says where a call is now.
    pub(super) fn with_calls(
        &self,
        calls: Vec<Call>,
        place: impl Fn(usize) -> Option<usize>,
    ) -> Transcript {
        let mut transcript = self.transcript.clone();
        for message in &mut transcript.messages {
            message
                .tool_calls
                .retain(|made| made.id.is_empty() || calls.iter().any(|call| call.id == made.id));
        }
        if let Some(used) = &mut transcript.skills.used {
            used.retain(|one| one.call.is_none_or(|at| place(at).is_some()));
            used.iter_mut().for_each(|one| one.call = one.call.and_then(&place));
        }
        transcript.calls = Some(calls);
        transcript
    }

    /// Whether the mutant is equivalent for every check.
    pub(super) fn says_the_same(&self, mutant: &Mutant) -> bool {
        let (a, b) = (self.transcript, &mutant.transcript);
        a.calls == b.calls
            && a.skills == b.skills
            && lists(a.files.as_ref()) == lists(b.files.as_ref())
            && same_words(&a.answer, &b.answer)
    }
}
