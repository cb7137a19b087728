//! Adds lines to `.evalrig/labels.jsonl`. Several people, or several servers, may do so at once.

use std::io::{self, Read, Seek, SeekFrom};
use std::time::{Duration, Instant};

use camino::Utf8Path;
use evalrig_core::secrets::Secrets;
use evalrig_core::source::Reach;

use super::append_file::AppendFile;
use super::error::WriteError;
use super::labels::{AnswerLabel, FILE, FOLDER, Labels};
use super::results_paths::write_path;
use crate::disk::{create_own_directory, open_regular, sync_parent};

/// How long other writers are waited for.
const LONGEST_WAIT: Duration = Duration::from_secs(10);

/// Adds a label to the file of a repository, and returns when it would survive a power cut. The file is
/// created if it is missing; a link is refused.
pub fn append_label(
    root: &Utf8Path,
    label: &AnswerLabel,
    secrets: &Secrets,
) -> Result<(), WriteError> {
    let path = Labels::path(root);
    let fail = |error| WriteError::io(&path, error);
    if let Some(fault) = label.fault() {
        let message = fault.message(fault.stored_key());
        return Err(fail(io::Error::new(io::ErrorKind::InvalidInput, message)));
    }
    let folder = create_own_directory(root, FOLDER).map_err(fail)?;
    let mut file = open_when_free(&folder.join(FILE))?;
    let is_new = file.length() == 0;
    let mut line = label.line(secrets);
    // An editor or a crash may have left a last line without its line break.
    if file.length() > 0 && !ends_with_break(root, &path).map_err(fail)? {
        line.insert(0, '\n');
    }
    file.append(line.as_bytes())?;
    if is_new { sync_parent(write_path(&path)).map_err(fail) } else { Ok(()) }
}

fn open_when_free(path: &Utf8Path) -> Result<AppendFile<super::append_file::DiskFile>, WriteError> {
    let begun = Instant::now();
    loop {
        match AppendFile::open(path) {
            Err(WriteError::Busy { .. }) if begun.elapsed() < LONGEST_WAIT => {}
            opened => return opened,
        }
    }
}

fn ends_with_break(root: &Utf8Path, path: &Utf8Path) -> io::Result<bool> {
    let mut file = open_regular(path, Reach::Inside(root))?;
    file.seek(SeekFrom::End(-1))?;
    let mut last = [0];
    file.read_exact(&mut last)?;
    Ok(last == *b"\n")
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::thread;

    use super::super::labels::AnswerMark;
    use super::super::labels::testing::label;
    use super::*;

    #[test]
    fn eight_writers_lose_no_line() {
        let folder = tempfile::tempdir().unwrap();
        let root = Utf8Path::from_path(folder.path()).unwrap();
        thread::scope(|scope| {
            for writer in 0..8 {
                scope.spawn(move || {
                    for number in 0..25 {
                        let mut one = label(
                            &format!("t{number}"),
                            Some(AnswerMark::Right),
                            &format!("w{writer}"),
                        );
                        one.note = "n".repeat(500);
                        append_label(root, &one, &Secrets::default()).unwrap();
                    }
                });
            }
        });
        let labels = Labels::read(root).unwrap();
        assert_eq!((labels.iter().count(), labels.damaged().len()), (200, 0));
    }

    #[test]
    fn a_line_without_its_break_does_not_swallow_the_next() {
        let folder = tempfile::tempdir().unwrap();
        let root = Utf8Path::from_path(folder.path()).unwrap();
        fs::create_dir(root.join(".evalrig")).unwrap();
        fs::write(Labels::path(root), "{\"suite\":\"torn").unwrap();
        let one = label("a", Some(AnswerMark::Wrong), "ann");
        append_label(root, &one, &Secrets::default()).unwrap();
        let labels = Labels::read(root).unwrap();
        assert_eq!(labels.iter().collect::<Vec<_>>(), [&one]);
        assert_eq!(labels.damaged()[0].line, 1);
    }

    #[test]
    fn a_label_with_a_fault_is_not_written() {
        let folder = tempfile::tempdir().unwrap();
        let root = Utf8Path::from_path(folder.path()).unwrap();
        let mut one = label("a", None, "ann");
        one.test = String::new();
        assert!(append_label(root, &one, &Secrets::default()).is_err());
        assert!(!Labels::path(root).exists());
    }

    #[cfg(unix)]
    #[test]
    fn a_link_out_of_the_repository_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let root = Utf8Path::from_path(folder.path()).unwrap();
        let elsewhere = root.join("elsewhere");
        fs::create_dir_all(root.join("repo/.evalrig")).unwrap();
        fs::write(&elsewhere, "").unwrap();
        std::os::unix::fs::symlink(&elsewhere, Labels::path(&root.join("repo"))).unwrap();
        let one = label("a", Some(AnswerMark::Right), "ann");
        assert!(append_label(&root.join("repo"), &one, &Secrets::default()).is_err());
        assert_eq!(fs::read_to_string(&elsewhere).unwrap(), "");
        assert!(Labels::read(&root.join("repo")).is_err());
    }
}
