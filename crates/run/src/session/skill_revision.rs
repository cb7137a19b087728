//! Skills as they were at a git revision, for arms that compare with an earlier version (spec 19.1).
//!
//! Contents are read from git's objects as they are, so that no filter or hook of the repository runs.
//! Their sizes are read first, and nothing is fetched.

use std::cell::OnceCell;
use std::io;
use std::time::Duration;

use camino::{Utf8Path, Utf8PathBuf};
use evalrig_core::diagnostic::Diagnostic;
use evalrig_core::model::SkillSource;
use evalrig_core::read::{Header, repository_root, skill_not_found};
use evalrig_core::source::Span;

#[cfg(unix)]
use crate::disk::set_mode;
use crate::disk::{Access, Disk, create_directories, create_link, create_new};
use crate::local_git::{GitQuestion, GitQuestionError};
use crate::target::{Targets, is_installed};

use super::scratch::RunScratch;

/// A skill is a few files. More than this is a mistake in the path.
const MOST_FILES: usize = 10_000;
const MOST_BYTES: u64 = 256 * 1024 * 1024;
/// The list of so many files with the longest paths that systems take.
const MOST_LIST_BYTES: u64 = 64 * 1024 * 1024;
/// The line before each content.
const MOST_HEAD_BYTES: u64 = 128;
const PATIENCE: Duration = Duration::from_secs(60);
const TOO_LARGE: &str = "it is larger than 256 MiB";

/// Checked out directories of skills. They are removed when it is dropped.
#[derive(Debug, Default)]
pub(super) struct SkillRevisions {
    scratch: OnceCell<RunScratch>,
}

/// One entry of `git ls-tree`.
struct TreeFile {
    object: String,
    size: u64,
    /// Below the directory.
    path: String,
    kind: TreeFileKind,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum TreeFileKind {
    Plain,
    Executable,
    /// Its content is where it leads.
    Link,
}

impl TreeFileKind {
    /// `None` for what is not a file, such as a submodule.
    fn of_mode(mode: &str) -> Option<Self> {
        match mode {
            "100644" | "100664" => Some(Self::Plain),
            "100755" => Some(Self::Executable),
            "120000" => Some(Self::Link),
            _ => None,
        }
    }
}

impl SkillRevisions {
    /// The directory of a source; one at a revision is checked out first.
    pub(super) fn directory(&self, source: &SkillSource) -> Result<Utf8PathBuf, String> {
        let Some(revision) = &source.revision else {
            return Ok(source.directory.clone());
        };
        let written = &source.written;
        let (root, files) = files_at(source, revision)?;
        let place = self.place(revision, &source.directory)?;
        // The name of a skill without front matter is that of its directory.
        let place = place.join(source.directory.file_name().unwrap_or("skill"));
        write_files(&root, &files, &place)
            .map_err(|reason| format!("`{written}` in `skills`: {reason}"))?;
        Ok(place)
    }

    fn place(&self, revision: &str, directory: &Utf8Path) -> Result<Utf8PathBuf, String> {
        if self.scratch.get().is_none() {
            let scratch = RunScratch::new().map_err(|error| error.to_string())?;
            let _ = self.scratch.set(scratch);
        }
        let scratch = self.scratch.get().map(RunScratch::path).unwrap_or(Utf8Path::new(""));
        let mut hash = evalrig_core::stats::Fnv1a::default();
        hash.add_text(revision);
        hash.add_text(directory.as_str());
        Ok(scratch.join(format!("{:016x}", hash.finish())))
    }
}

/// The files of a source at a revision, and the repository that has them.
fn files_at(source: &SkillSource, revision: &str) -> Result<(Utf8PathBuf, Vec<TreeFile>), String> {
    let root = repository_root(&Disk, &source.directory);
    let below = source.directory.strip_prefix(&root).unwrap_or(Utf8Path::new(""));
    let files = list_files(&root, revision, below);
    let files = files.map_err(|reason| format!("`{}` in `skills`: {reason}", source.written))?;
    Ok((root, files))
}

/// One fault for each source of a suite whose revision or directory git does not have.
pub fn missing_revisions(header: &Header) -> Vec<Diagnostic> {
    let of_arms = header.arms.iter().flat_map(|arm| &arm.skills);
    missing_among(header.skills.iter().chain(of_arms).flatten(), Some(header.name_span))
}

/// The same for the sources of all targets.
pub fn missing_revisions_of_targets(targets: &Targets) -> Vec<Diagnostic> {
    missing_among(targets.skills(), None)
}

/// Without git, none is known. A source without a place is reported at `place`.
fn missing_among<'s>(
    sources: impl Iterator<Item = &'s SkillSource>,
    place: Option<Span>,
) -> Vec<Diagnostic> {
    if !is_installed("git") {
        return Vec::new();
    }
    let fault = |source: &SkillSource| {
        let message = files_at(source, source.revision.as_deref()?).err()?;
        Some(skill_not_found(source.span.or(place)?, message))
    };
    sources.filter_map(fault).collect()
}

fn list_files(root: &Utf8Path, revision: &str, below: &Utf8Path) -> Result<Vec<TreeFile>, String> {
    // `--` ends the options, and the revision was checked not to begin with `-`.
    let tree = format!("{revision}:{}", below.as_str().replace('\\', "/"));
    let output = run_git(root, &["ls-tree", "-r", "-l", "-z", &tree], None, MOST_LIST_BYTES)?;
    let mut files = Vec::new();
    for entry in output.split(|byte| *byte == 0).filter(|entry| !entry.is_empty()) {
        let entry = std::str::from_utf8(entry).map_err(|_| "a file name is not UTF-8")?;
        let (facts, path) = entry.split_once('\t').ok_or("git's answer cannot be read")?;
        let mut facts = facts.split_ascii_whitespace();
        let (mode, _, object) = (facts.next(), facts.next(), facts.next());
        let size = facts.next().and_then(|size| size.parse::<u64>().ok());
        let kind = mode.and_then(TreeFileKind::of_mode);
        let is_safe = path.split('/').all(|part| !matches!(part, "" | "." | ".." | ".git"));
        if let (true, Some(kind), Some(object)) = (is_safe, kind, object) {
            let size = size.ok_or_else(|| format!("git has no content for `{path}`"))?;
            files.push(TreeFile { object: object.to_owned(), size, path: path.to_owned(), kind });
        }
        if files.len() > MOST_FILES {
            return Err(format!("it has more than {MOST_FILES} files"));
        }
    }
    if files.is_empty() {
        return Err(format!("`{tree}` has no files"));
    }
    if total_bytes(&files) > MOST_BYTES {
        return Err(TOO_LARGE.to_owned());
    }
    // Links come last, so that nothing is written through them.
    files.sort_by_key(|file| file.kind == TreeFileKind::Link);
    Ok(files)
}

fn total_bytes(files: &[TreeFile]) -> u64 {
    files.iter().fold(0, |total, file| total.saturating_add(file.size))
}

fn write_files(root: &Utf8Path, files: &[TreeFile], place: &Utf8Path) -> Result<(), String> {
    if place.exists() {
        return Ok(());
    }
    let asked: String = files.iter().map(|file| format!("{}\n", file.object)).collect();
    let most = total_bytes(files) + files.len() as u64 * MOST_HEAD_BYTES;
    let output = run_git(root, &["cat-file", "--batch"], Some(asked.into_bytes()), most)?;
    let mut rest = &output[..];
    for file in files {
        let unreadable = || format!("git has no content for `{}`", file.path);
        let end = rest.iter().position(|byte| *byte == b'\n').ok_or_else(unreadable)?;
        let head = std::str::from_utf8(&rest[..end]).map_err(|_| unreadable())?;
        let size = head.rsplit(' ').next().and_then(|size| size.parse::<usize>().ok());
        let size = size.filter(|size| end + 1 + size < rest.len()).ok_or_else(unreadable)?;
        let path = place.join(&file.path);
        write_file(&path, &rest[end + 1..end + 1 + size], file.kind)
            .map_err(|error| format!("cannot write `{path}`: {error}"))?;
        rest = &rest[end + 2 + size..];
    }
    Ok(())
}

/// With the permissions that git knows. Nobody else can enter the directory above.
fn write_file(path: &Utf8Path, content: &[u8], kind: TreeFileKind) -> io::Result<()> {
    create_directories(path.parent().unwrap_or(path), Access::Shared)?;
    match kind {
        TreeFileKind::Link => {
            let target = std::str::from_utf8(content).map_err(io::Error::other)?;
            return create_link(target, path);
        }
        TreeFileKind::Plain | TreeFileKind::Executable => {
            create_new(path, content, Access::Shared)?;
        }
    }
    #[cfg(unix)]
    set_mode(path, if kind == TreeFileKind::Executable { 0o755 } else { 0o644 })?;
    Ok(())
}

fn run_git(
    root: &Utf8Path,
    args: &[&str],
    stdin: Option<Vec<u8>>,
    most_bytes: u64,
) -> Result<Vec<u8>, String> {
    let answer = GitQuestion { root, args, stdin, most_bytes, patience: PATIENCE }.ask();
    answer.map_err(|error| match error {
        GitQuestionError::TooLong => TOO_LARGE.to_owned(),
        error => error.to_string(),
    })
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;
    #[cfg(unix)]
    use crate::local_git::tests::{forget_content, repository};

    #[cfg(unix)]
    #[test]
    fn a_repository_cannot_make_git_run_a_program() {
        let (_kept, root) = repository(&[("skills/csv/SKILL.md", "old")]);
        forget_content(&root, "skills/csv/SKILL.md");
        let source = SkillSource {
            written: "git:HEAD:./skills/csv".to_owned(),
            directory: root.join("skills/csv"),
            is_parent: false,
            revision: Some("HEAD".to_owned()),
            span: None,
        };
        SkillRevisions::default().directory(&source).unwrap_err();
        assert!(!root.join("ran").exists());
    }

    #[cfg(unix)]
    #[test]
    fn a_large_skill_is_refused_before_it_is_read() {
        let (_kept, root) = repository(&[("skills/csv/SKILL.md", "old")]);
        let large = std::fs::File::create(root.join("skills/csv/zeros")).unwrap();
        large.set_len(MOST_BYTES).unwrap();
        git(&root, &["-c", "core.compression=1", "add", "."]);
        git(&root, &["commit", "-qm", "large"]);
        let refused = list_files(&root, "HEAD", "skills/csv".into()).map(|files| files.len());
        assert_eq!(refused, Err(TOO_LARGE.to_owned()));
    }

    fn git(directory: &Utf8Path, args: &[&str]) {
        let done = Command::new("git")
            .args(["-c", "user.name=a", "-c", "user.email=a@b", "-c", "init.defaultBranch=main"])
            .args(args)
            .current_dir(directory)
            .output()
            .unwrap();
        assert!(done.status.success(), "{args:?}: {}", String::from_utf8_lossy(&done.stderr));
    }

    #[test]
    fn a_skill_is_taken_as_it_was() {
        let held = tempfile::tempdir().unwrap();
        let root = Utf8PathBuf::from_path_buf(held.path().canonicalize().unwrap()).unwrap();
        let skill = root.join("skills/csv");
        std::fs::create_dir_all(skill.join("scripts")).unwrap();
        std::fs::write(skill.join("SKILL.md"), "old").unwrap();
        std::fs::write(skill.join("scripts/run.sh"), "echo").unwrap();
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt as _;
            let program = std::fs::Permissions::from_mode(0o755);
            std::fs::set_permissions(skill.join("scripts/run.sh"), program).unwrap();
            std::os::unix::fs::symlink("run.sh", skill.join("scripts/again.sh")).unwrap();
        }
        git(&root, &["init", "-q"]);
        git(&root, &["add", "."]);
        git(&root, &["commit", "-qm", "first"]);
        std::fs::write(skill.join("SKILL.md"), "new").unwrap();
        let revisions = SkillRevisions::default();
        let source = |revision: Option<&str>| SkillSource {
            written: "git:x:./".to_owned(),
            directory: skill.clone(),
            is_parent: false,
            revision: revision.map(str::to_owned),
            span: None,
        };
        let old = revisions.directory(&source(Some("HEAD"))).unwrap();
        assert_eq!(old.file_name(), Some("csv"));
        assert_eq!(std::fs::read_to_string(old.join("SKILL.md")).unwrap(), "old");
        assert_eq!(std::fs::read_to_string(old.join("scripts/run.sh")).unwrap(), "echo");
        assert_eq!(revisions.directory(&source(Some("HEAD"))).unwrap(), old);
        assert_eq!(revisions.directory(&source(None)).unwrap(), skill);
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt as _;
            let mode = |name: &str| old.join(name).metadata().unwrap().permissions().mode() & 0o777;
            assert_eq!((mode("SKILL.md"), mode("scripts/run.sh")), (0o644, 0o755));
            assert_eq!(old.join("scripts/again.sh").read_link_utf8().unwrap(), "run.sh");
        }
        let unknown = revisions.directory(&source(Some("nowhere"))).unwrap_err();
        assert!(unknown.starts_with("`git:x:./` in `skills`: git: "), "{unknown}");
        drop(revisions);
        assert!(!old.exists());
    }
}
