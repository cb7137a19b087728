//! A mutant that a check accepted, as reports show it.

use crate::model::{EvidencePart, FileChanges, JsonStyle, Transcript};

use super::mutant::{Mutant, MutationKind};

/// Longer texts are cut, in characters.
const LONGEST: usize = 4000;

#[derive(Debug, Clone)]
pub struct Survivor {
    pub kind: &'static MutationKind,
    /// What is wrong with it.
    pub damage: String,
    pub test: String,
    /// The damaged part of the answer before and after, as text.
    pub before: String,
    pub after: String,
    /// Of the whole text after the damage, in characters.
    pub length: usize,
}

impl Survivor {
    pub(super) fn of(test: &str, original: &Transcript, mutant: &Mutant) -> Self {
        let after = part_text(mutant.part(), &mutant.transcript);
        Self {
            kind: mutant.kind,
            damage: match &mutant.note {
                note if note.is_empty() => mutant.kind.doc.to_owned(),
                note => note.clone(),
            },
            test: test.to_owned(),
            before: cut(&part_text(mutant.part(), original)),
            length: after.chars().count(),
            after: cut(&after),
        }
    }

    pub(super) fn rewrite_texts(&mut self, rewrite: &dyn Fn(&str) -> String) {
        for text in [&mut self.damage, &mut self.test, &mut self.before, &mut self.after] {
            *text = rewrite(text);
        }
    }
}

fn cut(text: &str) -> String {
    text.chars().take(LONGEST).collect()
}

fn part_text(part: EvidencePart, transcript: &Transcript) -> String {
    match part {
        EvidencePart::Answer => transcript.answer.clone(),
        EvidencePart::Calls => {
            let calls = transcript.calls.iter().flatten();
            let lines = calls.map(|call| {
                let args = call.args.to_json(JsonStyle::Spaced);
                format!("{} {args}", call.tool)
            });
            lines.collect::<Vec<_>>().join("\n")
        }
        EvidencePart::Files => transcript.files.as_ref().map(file_lines).unwrap_or_default(),
    }
}

fn file_lines(changes: &FileChanges) -> String {
    let lists = [
        ("created", &changes.created),
        ("modified", &changes.modified),
        ("deleted", &changes.deleted),
    ];
    let lines = lists
        .into_iter()
        .flat_map(|(what, paths)| paths.iter().map(move |path| format!("{what} {path}")));
    lines.collect::<Vec<_>>().join("\n")
}
