//! The agent has changed other files.

use crate::model::{EvidencePart, FileChanges};

use super::damaged_files::FileDamage;
use super::mutant::{Damage, Mutant, MutationKind};
use super::original::Original;

pub(super) static KIND: MutationKind = MutationKind {
    name: "files-renamed",
    doc: "the changes were made to files in another directory, with other names",
    advice: Some("name the files instead of a pattern that matches every file"),
    part: EvidencePart::Files,
    make,
};

fn make(original: &Original<'_>) -> Vec<Mutant> {
    let Some(changes) = original.transcript.files.as_ref().filter(|found| !found.is_empty()) else {
        return Vec::new();
    };
    let renamed =
        |paths: &[String]| -> Vec<String> { paths.iter().map(|path| other(path)).collect() };
    let mut transcript = original.transcript.clone();
    transcript.files = Some(FileChanges {
        created: renamed(&changes.created),
        modified: renamed(&changes.modified),
        deleted: renamed(&changes.deleted),
        ..changes.clone()
    });
    let moved = changes.created.iter().chain(&changes.modified);
    let files = FileDamage::renamed(moved.map(|path| (path.clone(), other(path))));
    vec![Mutant { kind: &KIND, note: String::new(), damage: Damage::Wrong, transcript, files }]
}

/// A path that only a pattern for everything matches.
fn other(path: &str) -> String {
    format!("elsewhere/{}.other", path.replace('/', "-"))
}

#[cfg(test)]
mod tests {
    use super::super::testing::changed_files;
    use super::*;

    #[test]
    fn names_and_directories_change() {
        let found = changed_files(&["src/a.txt"], &[], make);
        let files = found[0].transcript.files.as_ref().unwrap();
        assert_eq!(files.created, ["elsewhere/src-a.txt.other"]);
    }
}
