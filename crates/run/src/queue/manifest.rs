//! What a run is made of: its files by their hashes, and what to do with them. Workers believe nothing
//! in it: paths are checked before anything is written.

use std::collections::BTreeMap;

use camino::{Utf8Component, Utf8Path};
use serde::{Deserialize, Serialize};

use crate::results::{PlanOptions, PlannedSuite};

use super::error::QueueError;
use super::payload::sha256;

/// More is not a bundle.
const MOST_FILES: usize = 200_000;
const MOST_BYTES: u64 = 4 * 1024 * 1024 * 1024;
const LONGEST_PATH: usize = 1024;

/// Reading a larger description would take gigabytes of memory.
pub(super) const LARGEST_MANIFEST: u64 = 64 * 1024 * 1024;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct BundleManifest {
    pub(crate) version: u32,
    /// The id of the run.
    pub(crate) run: String,
    pub(crate) files: Vec<ManifestFile>,
    /// Directories that may be empty.
    pub(crate) directories: Vec<String>,
    pub(crate) links: Vec<ManifestLink>,
    pub(crate) request: RunRequest,
    /// Every case; the order is that of the suites in the request.
    pub(crate) planned: Vec<PlannedSuite>,
    /// By suite, `testHash` of each test that has a case.
    pub(crate) hashes: Vec<BTreeMap<String, String>>,
    pub(crate) classes: Vec<CaseClass>,
}

/// A path has `/` between its parts, and begins at the directory of the bundle.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ManifestFile {
    pub(crate) path: String,
    pub(crate) sha256: String,
    pub(crate) size: u64,
    #[serde(default)]
    pub(crate) is_executable: bool,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ManifestLink {
    pub(crate) path: String,
    /// Relative to the directory of the link.
    pub(crate) target: String,
}

/// The options that decide what a case is, and how it is asked and graded.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct RunRequest {
    /// The repository root, in the bundle.
    pub(crate) root: String,
    pub(crate) working_directory: String,
    pub(crate) suites: Vec<String>,
    pub(crate) targets_file: Option<String>,
    pub(crate) plan: PlanOptions,
    pub(crate) judge: Option<String>,
    pub(crate) skip_judges: bool,
    pub(crate) judge_criteria: bool,
    pub(crate) pass: Option<f64>,
    pub(crate) borderline: Option<f64>,
    pub(crate) sandbox: Option<String>,
    pub(crate) timeout_seconds: Option<u64>,
    pub(crate) retries: Option<u32>,
    pub(crate) messages: bool,
    /// Limits, which the coordinator decides about, whoever that is.
    #[serde(default)]
    pub(crate) budget_usd: Option<f64>,
    #[serde(default)]
    pub(crate) max_errors: Option<u64>,
    #[serde(default)]
    pub(crate) fail_fast: Option<u64>,
}

/// Cases that need the same targets and judges, so that a worker can run all of them or none.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct CaseClass {
    /// The target and the judges, as shown to users.
    pub(crate) name: String,
    pub(crate) members: Vec<ClassMember>,
}

/// Cases of a suite.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ClassMember {
    /// Index in the request.
    pub(crate) suite: usize,
    /// Names of the target and the judges.
    pub(crate) needed: Vec<String>,
    /// Programs that scripts of checks need.
    #[serde(default)]
    pub(crate) programs: Vec<String>,
}

impl BundleManifest {
    pub(super) fn to_bytes(&self) -> Result<Vec<u8>, QueueError> {
        serde_json::to_vec(self).map_err(|error| QueueError::of("describe the run", error))
    }

    /// Fails unless it has this hash and every path stays inside the bundle.
    pub(super) fn read(bytes: &[u8], hash: &str, run: &str) -> Result<Self, QueueError> {
        if sha256(bytes) != hash {
            return Err(QueueError::new("the description of the run does not match its hash"));
        }
        let manifest: Self = serde_json::from_slice(bytes)
            .map_err(|error| QueueError::of("read the description of the run", error))?;
        if manifest.version != super::message::VERSION {
            let version = manifest.version;
            return Err(QueueError::new(format!(
                "the run has version {version}, which this evalrig does not know"
            )));
        }
        if manifest.run != run {
            return Err(QueueError::new("the description is that of another run"));
        }
        manifest.check().map_err(QueueError::new)?;
        Ok(manifest)
    }

    fn check(&self) -> Result<(), String> {
        let request = &self.request;
        if self.files.len() + self.links.len() + self.directories.len() > MOST_FILES {
            return Err(format!("the bundle has more than {MOST_FILES} files"));
        }
        let bytes = self.files.iter().fold(0u64, |sum, file| sum.saturating_add(file.size));
        if bytes > MOST_BYTES {
            return Err(format!("the bundle has {bytes} bytes, more than {MOST_BYTES}"));
        }
        let paths = self.files.iter().map(|file| &file.path);
        let paths = paths.chain(&self.directories).chain(self.links.iter().map(|link| &link.path));
        for path in paths.chain(&request.suites).chain(&request.targets_file) {
            check_path(path)?;
        }
        for path in [&request.root, &request.working_directory] {
            if !path.is_empty() {
                check_path(path)?;
            }
        }
        for file in &self.files {
            if !is_hash(&file.sha256) {
                return Err(format!("`{}` has no hash", shown(&file.path)));
            }
        }
        self.links.iter().try_for_each(|link| self.check_link(link))?;
        let is_known = |member: &ClassMember| member.suite < request.suites.len();
        let mut members = self.classes.iter().flat_map(|class| &class.members);
        let suites = request.suites.len();
        if self.planned.len() != suites || self.hashes.len() != suites || !members.all(is_known) {
            return Err("the bundle names a suite that it does not have".to_owned());
        }
        Ok(())
    }

    /// A link stays inside, and nothing is written through it.
    fn check_link(&self, link: &ManifestLink) -> Result<(), String> {
        let escapes = || format!("the link `{}` leaves the bundle", shown(&link.path));
        let mut depth = Utf8Path::new(&link.path).components().count() - 1;
        for part in Utf8Path::new(&link.target).components() {
            match part {
                Utf8Component::Normal(_) => depth += 1,
                Utf8Component::CurDir => {}
                Utf8Component::ParentDir => depth = depth.checked_sub(1).ok_or_else(escapes)?,
                Utf8Component::RootDir | Utf8Component::Prefix(_) => return Err(escapes()),
            }
        }
        let below = format!("{}/", link.path);
        let files = self.files.iter().map(|file| &file.path).chain(&self.directories);
        let links = self.links.iter().map(|link| &link.path);
        if files.chain(links).any(|path| path.starts_with(&below)) {
            return Err(format!("the bundle has files below the link `{}`", shown(&link.path)));
        }
        Ok(())
    }
}

/// Whether a text is a SHA-256 as we write it.
pub(super) fn is_hash(text: &str) -> bool {
    let is_digit = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
    text.len() == 64 && text.bytes().all(is_digit)
}

fn shown(path: &str) -> String {
    crate::text::single_line(path)
}

/// Plain names only: nothing that leads up, to the root, or to a device.
pub(super) fn check_path(path: &str) -> Result<(), String> {
    let is_plain = |part: &str| {
        !matches!(part, "" | "." | "..") && !part.contains(['\\', '\0', ':']) && part.len() < 256
    };
    if path.len() <= LONGEST_PATH && path.split('/').all(is_plain) {
        Ok(())
    } else {
        Err(format!("`{}` is not a path of a bundle", shown(path)))
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    pub(in crate::queue) fn manifest() -> BundleManifest {
        let request = RunRequest {
            root: String::new(),
            working_directory: String::new(),
            suites: vec!["EVAL.yaml".to_owned()],
            targets_file: None,
            plan: PlanOptions::default(),
            judge: None,
            skip_judges: false,
            judge_criteria: false,
            pass: None,
            borderline: None,
            sandbox: None,
            timeout_seconds: None,
            retries: None,
            messages: true,
            budget_usd: Some(1.5),
            max_errors: None,
            fail_fast: Some(2),
        };
        BundleManifest {
            version: super::super::message::VERSION,
            run: "r".to_owned(),
            files: vec![file("EVAL.yaml", b"x")],
            directories: Vec::new(),
            links: Vec::new(),
            request,
            planned: vec![PlannedSuite::new(
                "s",
                "EVAL.yaml",
                "f".to_owned(),
                [("a", "default", 1)],
            )],
            hashes: vec![BTreeMap::new()],
            classes: Vec::new(),
        }
    }

    pub(in crate::queue) fn file(path: &str, bytes: &[u8]) -> ManifestFile {
        let size = bytes.len() as u64;
        ManifestFile { path: path.to_owned(), sha256: sha256(bytes), size, is_executable: false }
    }

    fn read(manifest: &BundleManifest) -> Result<BundleManifest, QueueError> {
        let bytes = manifest.to_bytes().unwrap();
        BundleManifest::read(&bytes, &sha256(&bytes), "r")
    }

    #[test]
    fn a_manifest_comes_back_as_it_was() {
        let whole = manifest();
        assert_eq!(read(&whole).unwrap(), whole);
        let bytes = whole.to_bytes().unwrap();
        assert!(BundleManifest::read(&bytes, &sha256(b"other"), "r").is_err());
        assert!(BundleManifest::read(&bytes, &sha256(&bytes), "other").is_err());
        assert!(BundleManifest::read(b"{", &sha256(b"{"), "r").is_err());
    }

    #[test]
    fn paths_cannot_leave_the_bundle() {
        for path in
            ["../a", "a/../../b", "/etc/passwd", "", ".", "a//b", "a/", "c:x", "a\\b", "a\0"]
        {
            for place in 0..4 {
                let mut forged = manifest();
                match place {
                    0 => forged.files.push(file(path, b"x")),
                    1 => forged.directories.push(path.to_owned()),
                    2 => forged.request.suites[0] = path.to_owned(),
                    _ => forged.links.push(link(path, "x")),
                }
                assert!(read(&forged).is_err(), "{path} at {place}");
            }
        }
    }

    fn link(path: &str, target: &str) -> ManifestLink {
        ManifestLink { path: path.to_owned(), target: target.to_owned() }
    }

    #[test]
    fn links_cannot_leave_the_bundle_and_nothing_is_written_through_them() {
        for (target, is_sound) in [
            ("b", true),
            ("../b", true),
            ("../../b", false),
            ("/etc", false),
            ("../a/../../b", false),
        ] {
            let mut forged = manifest();
            forged.links.push(link("d/a", target));
            assert_eq!(read(&forged).is_ok(), is_sound, "{target}");
        }
        let mut forged = manifest();
        forged.links.push(link("d/a", "."));
        forged.files.push(file("d/a/x", b"x"));
        assert!(read(&forged).is_err());
    }

    #[test]
    fn suites_that_are_not_there_are_refused() {
        let mut forged = manifest();
        let needed = vec!["default".to_owned()];
        let member = ClassMember { suite: 1, needed, programs: Vec::new() };
        forged.classes.push(CaseClass { name: "x".to_owned(), members: vec![member] });
        assert!(read(&forged).is_err());
        forged.classes.clear();
        forged.planned.clear();
        assert!(read(&forged).is_err());
    }
}
