//! Reads lines of suite files for reports that quote them. Files are read again when needed, because a
//! stored run is reported without loading its suites.

use std::collections::HashMap;
use std::sync::Mutex;

use camino::{Utf8Path, Utf8PathBuf};
use evalrig_core::source::{EntryKind, Files, LineIndex, Reach};

use crate::disk::{Disk, read_whole};
use crate::lock::locked;
use crate::report::SuiteText;

/// Larger suites are JSONL files; their lines are not quoted.
const TEXT_LIMIT: u64 = 64 * 1024 * 1024;

/// Lines by path from a repository root; each file is read once.
pub(super) fn suite_text(working_directory: &Utf8Path, roots: Vec<Utf8PathBuf>) -> SuiteText {
    let (here, places) = (working_directory.to_owned(), roots.clone());
    let shown = move |file: &str| {
        let is_file = |root: &&Utf8PathBuf| {
            let found = Disk.look(&root.join(file), Reach::Inside(root));
            found.is_ok_and(|found| found.kind == EntryKind::File)
        };
        match places.iter().find(is_file).map(|root| root.join(file)) {
            Some(path) => path.strip_prefix(&here).unwrap_or(&path).to_string(),
            None => file.to_owned(),
        }
    };
    let known: Mutex<HashMap<String, Option<IndexedText>>> = Mutex::default();
    SuiteText::new(move |file, line| {
        let mut known = locked(&known);
        if !known.contains_key(file) {
            // The name comes from a results file, which may say anything.
            let read = |root: &Utf8PathBuf| {
                read_whole(&root.join(file), Reach::Inside(root), TEXT_LIMIT).ok()
            };
            let text = roots.iter().find_map(read).and_then(|bytes| String::from_utf8(bytes).ok());
            known.insert(file.to_owned(), text.map(IndexedText::new));
        }
        known.get(file)?.as_ref()?.line(line)
    })
    .with_paths(shown)
}

/// A text whose lines are found without scanning it again: a suite may have a hundred thousand.
struct IndexedText {
    text: String,
    lines: LineIndex,
}

impl IndexedText {
    fn new(text: String) -> Self {
        let lines = LineIndex::new(&text);
        Self { text, lines }
    }

    /// From 1, without its line break.
    fn line(&self, line: u32) -> Option<String> {
        if line == 0 || line as usize > self.lines.line_count() {
            return None;
        }
        let range = self.lines.line_range(&self.text, line);
        // The last line break does not start another line.
        if range.start == self.text.len() {
            return None;
        }
        let text = &self.text[range];
        Some(text.strip_suffix('\r').unwrap_or(text).to_owned())
    }
}
