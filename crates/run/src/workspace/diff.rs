//! Unified diffs as git writes them, within limits on size and time (spec 17.3).

use std::collections::HashMap;
use std::fmt::Write as _;
use std::time::{Duration, Instant};

use similar::{Algorithm, DiffOp, capture_diff_slices_deadline, group_diff_ops};

use crate::text::numbers;

use super::file_name::push_octal;

/// Larger files are named only.
pub(super) const MOST_TEXT: u64 = 1024 * 1024;

/// Of all diffs of a case together.
const MOST_DIFF: usize = 256 * 1024;

/// What the note at a cut may need of it.
const NOTE: usize = 128;

/// Lines around a change.
const CONTEXT: usize = 3;

/// For one file, and for all of them. A diff that takes longer is correct, but not the shortest.
const FILE_PATIENCE: Duration = Duration::from_millis(500);
const PATIENCE: Duration = Duration::from_secs(3);

/// A file before and after; at least one side is there.
#[derive(Debug)]
pub(super) struct FileDiff<'a> {
    pub(super) path: &'a [u8],
    pub(super) old: Option<DiffSide>,
    pub(super) new: Option<DiffSide>,
}

#[derive(Debug)]
pub(super) struct DiffSide {
    /// As git writes it: `0o100644`.
    pub(super) mode: u32,
    pub(super) text: SideText,
}

#[derive(Debug)]
pub(super) enum SideText {
    /// The content of a file, or the target of a link.
    Bytes(Vec<u8>),
    TooLarge(u64),
    Unreadable,
    /// A FIFO, a socket, a device or the root of another file system.
    Special,
    /// What both sides have.
    Same,
}

/// Collects the diffs of the files of a case, in order.
#[derive(Debug)]
pub(super) struct DiffBuilder {
    text: String,
    /// Files that are still to come.
    left: usize,
    is_cut: bool,
    is_any_left_out: bool,
    until: Instant,
}

impl DiffBuilder {
    pub(super) fn new(files: usize) -> Self {
        let until = Instant::now() + PATIENCE;
        Self { text: String::new(), left: files, is_cut: false, is_any_left_out: false, until }
    }

    /// Whether nothing more fits.
    pub(super) fn is_full(&self) -> bool {
        self.is_cut
    }

    pub(super) fn is_truncated(&self) -> bool {
        self.is_cut || self.is_any_left_out
    }

    pub(super) fn finish(self) -> String {
        self.text
    }

    pub(super) fn add(&mut self, file: &FileDiff<'_>) {
        let deadline = self.until.min(Instant::now() + FILE_PATIENCE);
        let mut section = String::new();
        match (&file.old, &file.new) {
            // A file that became a link, or the other way round, is two changes for git.
            (Some(old), Some(new)) if old.mode >> 12 != new.mode >> 12 => {
                self.is_any_left_out |=
                    write_file(&mut section, file.path, Some(old), None, deadline);
                self.is_any_left_out |=
                    write_file(&mut section, file.path, None, Some(new), deadline);
            }
            (old, new) => {
                self.is_any_left_out |=
                    write_file(&mut section, file.path, old.as_ref(), new.as_ref(), deadline);
            }
        }
        self.left = self.left.saturating_sub(1);
        let free = (MOST_DIFF - NOTE).saturating_sub(self.text.len());
        if section.len() <= free {
            self.text.push_str(&section);
            return;
        }
        self.is_cut = true;
        let end = section[..section.floor_char_boundary(free)].rfind('\n').map_or(0, |at| at + 1);
        self.text.push_str(&section[..end]);
        let more = match self.left {
            0 => String::new(),
            left => {
                format!("; {} changed", numbers::counted(left as u64, "more file", "more files"))
            }
        };
        let _ = writeln!(self.text, "[diff cut at 256 KiB{more}]");
    }
}

/// Whether a text was left out.
fn write_file(
    out: &mut String,
    path: &[u8],
    old: Option<&DiffSide>,
    new: Option<&DiffSide>,
    deadline: Instant,
) -> bool {
    let (a, b) = (quoted("a/", path), quoted("b/", path));
    let _ = writeln!(out, "diff --git {a} {b}");
    match (old, new) {
        (None, Some(new)) => drop(writeln!(out, "new file mode {:o}", new.mode)),
        (Some(old), None) => drop(writeln!(out, "deleted file mode {:o}", old.mode)),
        (Some(old), Some(new)) if old.mode != new.mode => {
            let _ = writeln!(out, "old mode {:o}\nnew mode {:o}", old.mode, new.mode);
        }
        _ => {}
    }
    let a = if old.is_some() { a } else { "/dev/null".to_owned() };
    let b = if new.is_some() { b } else { "/dev/null".to_owned() };
    let sides = [old, new].map(|side| side.map_or(Ok(&[] as &[u8]), text_of));
    let (old_text, new_text) = match sides {
        [Ok(old), Ok(new)] => (old, new),
        [Err(reason), _] | [_, Err(reason)] => {
            let _ = writeln!(out, "Files {a} and {b} differ; {reason}");
            // A FIFO has no text.
            return ![old, new].iter().flatten().any(|side| matches!(side.text, SideText::Special));
        }
    };
    if old_text == new_text {
        return false;
    }
    if old_text.contains(&0) || new_text.contains(&0) {
        let _ = writeln!(out, "Binary files {a} and {b} differ");
        return false;
    }
    let _ = writeln!(out, "--- {a}\n+++ {b}");
    write_hunks(out, old_text, new_text, deadline);
    false
}

fn text_of(side: &DiffSide) -> Result<&[u8], String> {
    match &side.text {
        SideText::Bytes(bytes) => Ok(bytes),
        SideText::TooLarge(size) => Err(format!("one has {size} bytes, more than 1 MiB")),
        SideText::Unreadable => Err("one cannot be read".to_owned()),
        SideText::Special => Err("one is not a regular file".to_owned()),
        SideText::Same => Ok(&[]),
    }
}

/// A name in quotes if it could be mistaken for something else, as git does it.
fn quoted(prefix: &str, path: &[u8]) -> String {
    let is_plain = |name: &&str| !name.chars().any(|one| one.is_control() || "\"\\".contains(one));
    if let Some(name) = std::str::from_utf8(path).ok().filter(is_plain) {
        return format!("{prefix}{name}");
    }
    let mut quoted = format!("\"{prefix}");
    for chunk in path.utf8_chunks() {
        push_quoted(&mut quoted, chunk.valid());
        push_octal(&mut quoted, chunk.invalid());
    }
    quoted.push('"');
    quoted
}

fn push_quoted(quoted: &mut String, name: &str) {
    for character in name.chars() {
        match character {
            '"' | '\\' => quoted.extend(['\\', character]),
            '\n' => quoted.push_str("\\n"),
            '\t' => quoted.push_str("\\t"),
            '\r' => quoted.push_str("\\r"),
            _ if character.is_control() => {
                push_octal(quoted, character.encode_utf8(&mut [0; 4]).as_bytes());
            }
            _ => quoted.push(character),
        }
    }
}

fn write_hunks(out: &mut String, old: &[u8], new: &[u8], deadline: Instant) {
    let (old, new) = (lines(old), lines(new));
    // Equal lines have equal numbers, which are faster to compare.
    let mut numbers: HashMap<&[u8], usize> = HashMap::new();
    let mut all = Vec::with_capacity(old.len() + new.len());
    for line in old.iter().chain(&new) {
        let next = numbers.len();
        all.push(*numbers.entry(line).or_insert(next));
    }
    let (old_numbers, new_numbers) = all.split_at(old.len());
    let algorithm = Algorithm::Myers;
    let operations =
        capture_diff_slices_deadline(algorithm, old_numbers, new_numbers, Some(deadline));
    for group in group_diff_ops(operations, CONTEXT) {
        let (Some(first), Some(last)) = (group.first(), group.last()) else { continue };
        let old_range = first.old_range().start..last.old_range().end;
        let new_range = first.new_range().start..last.new_range().end;
        let _ = writeln!(out, "@@ -{} +{} @@", hunk_range(&old_range), hunk_range(&new_range));
        for operation in &group {
            let (removed, added) = match operation {
                DiffOp::Equal { .. } => {
                    for line in &old[operation.old_range()] {
                        write_line(out, ' ', line);
                    }
                    continue;
                }
                _ => (operation.old_range(), operation.new_range()),
            };
            old[removed].iter().for_each(|line| write_line(out, '-', line));
            new[added].iter().for_each(|line| write_line(out, '+', line));
        }
    }
}

/// Lines with their line feeds. A carriage return is part of its line.
fn lines(text: &[u8]) -> Vec<&[u8]> {
    text.split_inclusive(|byte| *byte == b'\n').collect()
}

/// `START,COUNT`; an empty range starts at the line before it.
fn hunk_range(range: &std::ops::Range<usize>) -> String {
    match range.len() {
        0 => format!("{},0", range.start),
        1 => format!("{}", range.start + 1),
        length => format!("{},{length}", range.start + 1),
    }
}

fn write_line(out: &mut String, sign: char, line: &[u8]) {
    out.push(sign);
    out.push_str(&String::from_utf8_lossy(line));
    if !line.ends_with(b"\n") {
        out.push_str("\n\\ No newline at end of file\n");
    }
}
