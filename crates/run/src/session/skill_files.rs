//! The skill that a suite belongs to: the files below the nearest directory with `SKILL.md`.

use std::collections::HashSet;

use camino::{Utf8Path, Utf8PathBuf};
use evalrig_core::digest::hex;
use evalrig_core::source::{EntryKind, Files, Reach};
use sha2::{Digest, Sha256};

use crate::disk::{Disk, Fingerprint};
use crate::execute::SuiteJob;

/// The file that makes a directory a skill.
const SKILL: &str = "SKILL.md";
/// Of a larger skill, only some files count.
const MOST_FILES: usize = 1000;

/// From that of the suite up to the repository root.
pub(super) fn directories(job: &SuiteJob) -> impl Iterator<Item = &Utf8Path> {
    job.path.ancestors().skip(1).take_while(|directory| directory.starts_with(&job.root))
}

/// Without hidden files, evaluations and what `is_other` names.
pub(super) fn skill_files(
    job: &SuiteJob,
    files: &dyn Files,
    is_other: impl Fn(&Utf8Path) -> bool,
) -> Vec<Utf8PathBuf> {
    let is_skill = |directory: &&Utf8Path| files.kind(&directory.join(SKILL)).is_some();
    let Some(skill) = directories(job).find(is_skill) else {
        return Vec::new();
    };
    let mut found = vec![skill.join(SKILL)];
    let mut open = vec![skill.to_owned()];
    while let Some(directory) = open.pop() {
        // A link may lead anywhere.
        let Ok(listing) = files.list(&directory, Reach::Inside(skill)) else { continue };
        for entry in listing.entries {
            let path = directory.join(&entry.name);
            let is_own = entry.name.starts_with('.') || entry.name == "node_modules";
            match entry.kind {
                EntryKind::Directory if !is_own && !entry.is_link && entry.name != "evals" => {
                    open.push(path);
                }
                EntryKind::File if !is_own && path != found[0] && !is_other(&path) => {
                    found.push(path);
                }
                _ => {}
            }
            if found.len() >= MOST_FILES {
                return found;
            }
        }
    }
    found.sort();
    found
}

/// Of all files of the skill, but those of the suite; `None` if the suite belongs to no skill.
pub(super) fn skill_digest(job: &SuiteJob) -> Option<String> {
    let own: HashSet<&Utf8Path> = job.sources.paths().collect();
    let files = skill_files(job, &Disk, |path| own.contains(path));
    if files.is_empty() {
        return None;
    }
    let mut digest = Sha256::new();
    for file in files {
        let content = Fingerprint::of_path(&file).map(|found| found.text());
        let name = file.strip_prefix(&job.root).unwrap_or(&file);
        digest.update(format!("{name}\0{}\0", content.unwrap_or_default()));
    }
    Some(hex(&digest.finalize()))
}
