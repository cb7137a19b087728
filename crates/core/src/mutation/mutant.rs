//! A damaged answer, and the kind of damage.

use crate::model::{EvidencePart, FileChanges, Transcript};

use super::answer_text::same_words;
use super::damaged_files::FileDamage;
use super::original::Original;

/// One way to damage an answer.
pub struct MutationKind {
    pub name: &'static str,
    /// What is wrong with such an answer, without a full stop.
    pub doc: &'static str,
    /// What to write where a check accepts such an answer and demands nothing but a form. `None` where
    /// that takes thought.
    pub advice: Option<&'static str>,
    pub part: EvidencePart,
    pub(super) make: fn(&Original<'_>) -> Vec<Mutant>,
}

impl std::fmt::Debug for MutationKind {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name)
    }
}

/// How much of the answer is left.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Damage {
    /// Everything or a part is missing, or the form is broken: any check of the form fails it.
    Missing,
    /// Complete and well-formed, but wrong.
    Wrong,
}

#[derive(Debug, Clone)]
pub struct Mutant {
    pub kind: &'static MutationKind,
    /// What is wrong with this one, in place of the words of the kind. Empty where those say it all.
    pub note: String,
    pub damage: Damage,
    pub transcript: Transcript,
    /// What became of the files of the workspace.
    pub files: FileDamage,
}

impl Mutant {
    pub(super) fn of_answer(
        original: &Original<'_>,
        kind: &'static MutationKind,
        damage: Damage,
        note: impl Into<String>,
        answer: String,
    ) -> Self {
        let transcript = original.with_answer(answer);
        Self { kind, note: note.into(), damage, transcript, files: FileDamage::default() }
    }

    pub fn part(&self) -> EvidencePart {
        self.kind.part
    }

    /// Whether both are the same for every check.
    pub(super) fn says_the_same(&self, other: &Self) -> bool {
        let (a, b) = (&self.transcript, &other.transcript);
        self.kind.part == other.kind.part
            && a.calls == b.calls
            && lists(a.files.as_ref()) == lists(b.files.as_ref())
            && self.files == other.files
            && same_words(&a.answer, &b.answer)
    }
}

/// What changed, without the diff.
pub(super) fn lists(changes: Option<&FileChanges>) -> Option<[&[String]; 3]> {
    changes.map(|found| [&found.created[..], &found.modified[..], &found.deleted[..]])
}
