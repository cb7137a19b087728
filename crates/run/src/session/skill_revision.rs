//! Skills as they were at a git revision, for arms that compare with an earlier version (spec 19.1).
//!
//! Contents are read from git's objects as they are, so that no filter or hook of the repository runs.

use std::cell::OnceCell;
use std::io::Write as _;
use std::process::{Command, Stdio};

use camino::{Utf8Path, Utf8PathBuf};
use evalrig_core::model::SkillSource;
use evalrig_core::read::repository_root;

use crate::disk::{Access, Disk, create_directories, create_new};

use super::git_state::git_command;
use super::scratch::RunScratch;

/// A skill is a few files. More than this is a mistake in the path.
const MOST_FILES: usize = 10_000;
const MOST_BYTES: usize = 256 * 1024 * 1024;

/// Checked out directories of skills. They are removed when it is dropped.
#[derive(Debug, Default)]
pub(super) struct SkillRevisions {
    scratch: OnceCell<RunScratch>,
}

/// One entry of `git ls-tree`.
struct TreeFile {
    object: String,
    /// Below the directory.
    path: String,
}

impl SkillRevisions {
    /// The directory of a source; one at a revision is checked out first.
    pub(super) fn directory(&self, source: &SkillSource) -> Result<Utf8PathBuf, String> {
        let Some(revision) = &source.revision else {
            return Ok(source.directory.clone());
        };
        let written = &source.written;
        let root = repository_root(&Disk, &source.directory);
        let below = source.directory.strip_prefix(&root).unwrap_or(Utf8Path::new(""));
        let files = list_files(&root, revision, below)
            .map_err(|reason| format!("`{written}` in `skills`: {reason}"))?;
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

fn list_files(root: &Utf8Path, revision: &str, below: &Utf8Path) -> Result<Vec<TreeFile>, String> {
    // `--` ends the options, and the revision was checked not to begin with `-`.
    let tree = format!("{revision}:{}", below.as_str().replace('\\', "/"));
    let output = run_git(root, &["ls-tree", "-r", "-z", &tree], None)?;
    let mut files = Vec::new();
    for entry in output.split(|byte| *byte == 0).filter(|entry| !entry.is_empty()) {
        let entry = std::str::from_utf8(entry).map_err(|_| "a file name is not UTF-8")?;
        let (facts, path) = entry.split_once('\t').ok_or("git's answer cannot be read")?;
        let mut facts = facts.split(' ');
        let (mode, _, object) = (facts.next(), facts.next(), facts.next());
        let is_file = matches!(mode, Some("100644" | "100755"));
        let is_safe = path.split('/').all(|part| !matches!(part, "" | "." | ".." | ".git"));
        if let (true, true, Some(object)) = (is_file, is_safe, object) {
            files.push(TreeFile { object: object.to_owned(), path: path.to_owned() });
        }
        if files.len() > MOST_FILES {
            return Err(format!("it has more than {MOST_FILES} files"));
        }
    }
    if files.is_empty() { Err(format!("`{tree}` has no files")) } else { Ok(files) }
}

fn write_files(root: &Utf8Path, files: &[TreeFile], place: &Utf8Path) -> Result<(), String> {
    if place.exists() {
        return Ok(());
    }
    let asked: String = files.iter().map(|file| format!("{}\n", file.object)).collect();
    let output = run_git(root, &["cat-file", "--batch"], Some(asked.into_bytes()))?;
    let mut rest = &output[..];
    for file in files {
        let unreadable = || format!("git has no content for `{}`", file.path);
        let end = rest.iter().position(|byte| *byte == b'\n').ok_or_else(unreadable)?;
        let head = std::str::from_utf8(&rest[..end]).map_err(|_| unreadable())?;
        let size = head.rsplit(' ').next().and_then(|size| size.parse::<usize>().ok());
        let size = size.filter(|size| end + 1 + size < rest.len()).ok_or_else(unreadable)?;
        let path = place.join(&file.path);
        let written = create_directories(path.parent().unwrap_or(place), Access::Private)
            .and_then(|()| create_new(&path, &rest[end + 1..end + 1 + size], Access::Private));
        written.map_err(|error| format!("cannot write `{path}`: {error}"))?;
        rest = &rest[end + 2 + size..];
    }
    Ok(())
}

fn run_git(root: &Utf8Path, args: &[&str], stdin: Option<Vec<u8>>) -> Result<Vec<u8>, String> {
    let mut command: Command = git_command(root);
    command.args(args).stdout(Stdio::piped()).stderr(Stdio::piped());
    command.stdin(if stdin.is_some() { Stdio::piped() } else { Stdio::null() });
    let mut child = command.spawn().map_err(|error| format!("cannot run git: {error}"))?;
    if let (Some(text), Some(mut pipe)) = (stdin, child.stdin.take()) {
        // Written by a thread, because git answers before it has read everything.
        std::thread::spawn(move || {
            let _ = pipe.write_all(&text);
        });
    }
    let output = child.wait_with_output().map_err(|error| format!("cannot run git: {error}"))?;
    if output.stdout.len() > MOST_BYTES {
        return Err("it is larger than 256 MiB".to_owned());
    }
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        let said = said.trim().trim_start_matches("fatal: ");
        return Err(format!("git: {}", crate::text::line(said, 300)));
    }
    Ok(output.stdout)
}

#[cfg(test)]
mod tests {
    use super::*;

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
        git(&root, &["init", "-q"]);
        git(&root, &["add", "."]);
        git(&root, &["commit", "-qm", "first"]);
        std::fs::write(skill.join("SKILL.md"), "new").unwrap();
        let revisions = SkillRevisions::default();
        let source = |revision: Option<&str>| SkillSource {
            written: "git:x:./".to_owned(),
            directory: skill.clone(),
            revision: revision.map(str::to_owned),
        };
        let old = revisions.directory(&source(Some("HEAD"))).unwrap();
        assert_eq!(old.file_name(), Some("csv"));
        assert_eq!(std::fs::read_to_string(old.join("SKILL.md")).unwrap(), "old");
        assert_eq!(std::fs::read_to_string(old.join("scripts/run.sh")).unwrap(), "echo");
        assert_eq!(revisions.directory(&source(Some("HEAD"))).unwrap(), old);
        assert_eq!(revisions.directory(&source(None)).unwrap(), skill);
        let unknown = revisions.directory(&source(Some("nowhere"))).unwrap_err();
        assert!(unknown.starts_with("`git:x:./` in `skills`: git: "), "{unknown}");
        drop(revisions);
        assert!(!old.exists());
    }
}
