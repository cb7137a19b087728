//! Files that `transpile` wrote (spec 12.6). They repeat a suite, so walking a directory skips them.

use camino::Utf8Path;
use sha2::{Digest, Sha256};

use crate::digest::hex;
use crate::source::{Files, Reach};
use crate::syntax::{FILE_LIMIT, json_value};

/// Written by `transpile` beside its files: the name of each file and the SHA-256 of its content.
pub const TRANSPILE_MANIFEST: &str = ".evalrig-transpile.json";

/// The manifest of `DIR/SKILL/evals/evals.json` is in `DIR`.
const MANIFEST_DISTANCE: usize = 3;

/// More than any manifest of ours.
const MANIFEST_LIMIT: u64 = 16 * 1024 * 1024;

/// Whether `transpile` wrote this `evals.json`, and it has not been edited since.
pub(super) fn is_generated(files: &dyn Files, path: &Utf8Path) -> bool {
    if path.file_name() != Some("evals.json") {
        return false;
    }
    let digest = path.ancestors().skip(1).take(MANIFEST_DISTANCE).find_map(|directory| {
        let manifest = directory.join(TRANSPILE_MANIFEST);
        let text = files.read(&manifest, Reach::Inside(directory), MANIFEST_LIMIT).ok()?;
        let known = json_value(std::str::from_utf8(&text).ok()?)?;
        let name = path.strip_prefix(directory).ok()?.as_str().replace('\\', "/");
        Some(known.as_map()?.get(&name)?.as_str()?.to_owned())
    });
    digest.is_some_and(|digest| {
        let bytes = files.read(path, Reach::Anywhere, FILE_LIMIT);
        bytes.is_ok_and(|bytes| hex(&Sha256::digest(bytes)) == digest)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::MemoryFiles;

    fn manifest(name: &str) -> String {
        format!("{{\"{name}\": \"{}\"}}", hex(&Sha256::digest("[]")))
    }

    #[test]
    fn a_file_is_generated_while_it_is_as_written() {
        let files = |text: &str| {
            MemoryFiles::new()
                .with("/p/.evalrig-transpile.json", manifest("evals.json"))
                .with("/p/evals.json", text)
                .with("/p/q/evals.json", text)
        };
        assert!(is_generated(&files("[]"), "/p/evals.json".into()));
        assert!(!is_generated(&files("[1]"), "/p/evals.json".into()));
        assert!(!is_generated(&files("[]"), "/p/q/evals.json".into()));
    }

    #[test]
    fn the_manifest_of_several_skills_is_above_them() {
        let files = MemoryFiles::new()
            .with("/p/.evalrig-transpile.json", manifest("csv/evals/evals.json"))
            .with("/p/csv/evals/evals.json", "[]");
        assert!(is_generated(&files, "/p/csv/evals/evals.json".into()));
    }

    #[test]
    fn a_damaged_manifest_registers_nothing() {
        for text in ["", "[]", "{\"evals.json\": 1}", "{"] {
            let files = MemoryFiles::new()
                .with("/p/.evalrig-transpile.json", text)
                .with("/p/evals.json", "[]");
            assert!(!is_generated(&files, "/p/evals.json".into()), "{text}");
        }
    }
}
