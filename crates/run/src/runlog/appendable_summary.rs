//! A summary to which a run is added without parsing its history.
//!
//! Adding a run only prepends to the history. If the history is in the form that evalrig writes,
//! its lines are checked and copied as text; any other history is parsed and written again.
//!
//! This second reader of summaries exists for speed. In `bench/runlog.sh`, adding a run to a record
//! with 1,000 runs takes 2.4 times as long as the first run of a record. With a full parse it takes
//! 7.8 times as long; the limit is 3.

use std::borrow::Cow;
use std::ops::Range;

use evalrig_core::syntax::{decode, is_one_line_text};

use super::history_entry::HistoryEntry;
use super::summary::RecordSummary;

/// The line that starts the history of a turn.
const HISTORY: &str = "  history:";
const EMPTY_HISTORY: &str = "  history: []";

#[derive(Debug, Clone, PartialEq)]
pub(super) struct AppendableSummary {
    /// Without the entries in `older`.
    pub(super) summary: RecordSummary,
    /// The content of the file.
    text: String,
    /// The copied history of each turn; empty if all of the file was parsed.
    older: Vec<HistoryLines>,
}

/// The lines below `history:`, with their line breaks.
#[derive(Debug, Clone, PartialEq, Default)]
struct HistoryLines {
    lines: Range<usize>,
    highest_run: u64,
}

impl From<RecordSummary> for AppendableSummary {
    fn from(summary: RecordSummary) -> Self {
        Self { summary, text: String::new(), older: Vec::new() }
    }
}

impl AppendableSummary {
    /// Fails as [`RecordSummary::read`] does.
    pub(super) fn read(bytes: Vec<u8>) -> Result<Self, String> {
        let (text, _) = decode(bytes).map_err(|_| "it is not UTF-8".to_owned())?;
        match read_without_histories(&text) {
            Some((summary, older)) => Ok(Self { summary, text, older }),
            None => RecordSummary::read_text(text).map(Self::from),
        }
    }

    pub(super) fn highest_run(&self) -> u64 {
        let older = self.older.iter().map(|older| older.highest_run).max();
        self.summary.highest_run().max(older.unwrap_or(0))
    }

    /// The new content of the file, in parts. Histories, which are most of it, are borrowed.
    pub(super) fn text_parts(&self) -> Vec<Cow<'_, str>> {
        let head = self.summary.to_yaml();
        let mut older = self.older.iter().map(|older| &self.text[older.lines.clone()]);
        let mut text_parts = Vec::new();
        let mut start = 0;
        for end in history_ends(&head) {
            text_parts.push(head[start..end].to_owned().into());
            text_parts.extend(older.next().map(Cow::from));
            start = end;
        }
        text_parts.push(head[start..].to_owned().into());
        text_parts
    }
}

/// Parses everything except the histories; `None` if they cannot be copied as text.
fn read_without_histories(text: &str) -> Option<(RecordSummary, Vec<HistoryLines>)> {
    let (head, older) = split_off_histories(text)?;
    let summary = RecordSummary::read_text(head).ok()?;
    // Detects lines that only look like a history, such as in a block scalar.
    let can_be_copied = older.len() == summary.turns.len()
        && summary.has_only_known_keys()
        && summary.turns.iter().zip(&older).all(|(turn, older)| {
            turn.has_history_of(0) && (older.lines.is_empty() || !turn.now.is_empty())
        });
    can_be_copied.then_some((summary, older))
}

/// Where the history of each turn ends in text that evalrig has just written.
fn history_ends(head: &str) -> Vec<usize> {
    let mut ends = Vec::new();
    let (mut at, mut is_inside) = (0, false);
    for line in head.split_inclusive('\n') {
        if is_inside && !is_history_line(line) {
            ends.push(at);
            is_inside = false;
        }
        is_inside |= line.starts_with(HISTORY);
        at += line.len();
    }
    if is_inside {
        ends.push(at);
    }
    ends
}

fn is_history_line(line: &str) -> bool {
    line.starts_with("  - ") || line.starts_with("    ")
}

/// Returns the text with empty histories, and the histories, one per turn. `None` if one is not in
/// the form that evalrig writes.
fn split_off_histories(text: &str) -> Option<(String, Vec<HistoryLines>)> {
    let mut head = String::new();
    let mut turns: Vec<Option<HistoryLines>> = Vec::new();
    let mut lines = LineCursor { text, at: 0 };
    while let Some(line) = lines.next() {
        let line = &text[line];
        if line.starts_with("- ") {
            turns.push(None);
        }
        if !line.starts_with(HISTORY) {
            head.push_str(line);
            head.push('\n');
            continue;
        }
        head.push_str(EMPTY_HISTORY);
        head.push('\n');
        let older = match line {
            EMPTY_HISTORY => HistoryLines::default(),
            HISTORY => scan_history(&mut lines)?,
            _ => return None,
        };
        // A parser would use only one of two histories.
        if turns.last_mut()?.replace(older).is_some() {
            return None;
        }
    }
    let turns: Option<Vec<HistoryLines>> = turns.into_iter().collect();
    Some((head, turns?))
}

/// Iterates over the ranges of lines, without their line breaks.
struct LineCursor<'t> {
    text: &'t str,
    at: usize,
}

impl LineCursor<'_> {
    fn next(&mut self) -> Option<Range<usize>> {
        let rest = self.text.get(self.at..).filter(|rest| !rest.is_empty())?;
        let length = rest.find('\n');
        let line = self.at..self.at + length.unwrap_or(rest.len());
        self.at = line.end + 1;
        Some(line)
    }
}

/// Reads lines up to the first that does not belong to the history.
fn scan_history(lines: &mut LineCursor<'_>) -> Option<HistoryLines> {
    let text = lines.text;
    let start = lines.at;
    let mut highest_run = 0;
    let mut end = start;
    let mut keys: Vec<&str> = Vec::new();
    while let Some(place) = lines.next() {
        let line = &text[place.clone()];
        if !is_history_line(line) {
            lines.at = place.start;
            break;
        }
        // A last line without a line break means that the file was truncated.
        end = place.end + 1;
        if let Some(call) = line.strip_prefix("    - ") {
            let is_expected = keys.last() == Some(&"tools_called");
            if !is_expected || !is_one_line_text(call) {
                return None;
            }
            continue;
        }
        if line.starts_with("  - ") {
            keys.clear();
        }
        let (key, run) = scan_field(&line[4..])?;
        if keys.contains(&key) {
            return None;
        }
        keys.push(key);
        highest_run = highest_run.max(run.unwrap_or(0));
    }
    let is_complete = start < end && end <= text.len();
    is_complete.then_some(HistoryLines { lines: start..end, highest_run })
}

/// The key of a line of an entry, and its value if it is the run number. `None` if the value must be
/// parsed.
fn scan_field(line: &str) -> Option<(&str, Option<u64>)> {
    if matches!(line, "tools_called:" | "tools_called: []") {
        return Some(("tools_called", None));
    }
    let (key, value) = line.split_once(':')?;
    let value = value.strip_prefix(' ')?;
    match key {
        "run" => {
            let is_number = value.bytes().all(|byte| byte.is_ascii_digit());
            let is_plain = is_number && !value.starts_with('0');
            Some((key, Some(value.parse().ok().filter(|_| is_plain)?)))
        }
        key if HistoryEntry::is_text(key) && is_one_line_text(value) => Some((key, None)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const CANONICAL: &str = "name: a\nruns: 3\nturns:\n- input: a\n  run: 3\n  output: x\n  \
        tools_called: []\n  history:\n  - run: 2\n    output: 'it''s: b'\n    tools_called:\n    \
        - f(x='1')\n    - '''g'': 2'\n    meta: '{\"tokens\": 1}'\n  - run: 1\n    output: \"a\\nb\"\n  \
        more: 1\n- input: b\n  run: 3\n  history: []\n";

    fn is_copied(text: &str) -> bool {
        let appendable = AppendableSummary::read(text.as_bytes().to_vec()).unwrap();
        !appendable.older.is_empty()
    }

    /// Adds a run, once after parsing everything and once with copied histories.
    fn with_one_more_run(text: &str) -> [String; 2] {
        let all = AppendableSummary::from(RecordSummary::read(text.as_bytes().to_vec()).unwrap());
        let part = AppendableSummary::read(text.as_bytes().to_vec()).unwrap();
        assert_eq!(all.highest_run(), part.highest_run());
        [all, part].map(|mut appendable| {
            for turn in &mut appendable.summary.turns {
                let mut entry = HistoryEntry::default();
                entry.set("run", 4_u64);
                turn.advance(entry);
            }
            appendable.text_parts().concat()
        })
    }

    #[test]
    fn copying_writes_the_same_as_parsing() {
        assert!(is_copied(CANONICAL));
        let [all, part] = with_one_more_run(CANONICAL);
        assert_eq!(all, part);
        assert!(part.contains("- run: 3\n    output: x\n    tools_called: []\n  - run: 2\n"));
        assert_eq!(RecordSummary::read(part.clone().into_bytes()).unwrap().to_yaml(), part);
    }

    #[test]
    fn a_history_of_another_writer_is_parsed() {
        for (from, to) in [
            ("output: 'it''s: b'", "output: yes"),
            ("output: 'it''s: b'", "output: 'it\n      s'"),
            ("output: 'it''s: b'", "output: |\n      a"),
            ("output: 'it''s: b'", "pass: true"),
            ("output: 'it''s: b'", "run: 7"),
            ("called:\n    - f(x='1')\n    - '''g'': 2'", "called:\n      - f(x='1')"),
            ("run: 1\n", "run: '1'\n"),
            ("history: []", "history: '[]'"),
            ("name: a", "name: a\nothers:\n  history: []"),
            ("name: a", "name: a\nothers: {history: 1}"),
            ("  run: 3\n  output: x\n  tools_called: []\n", ""),
        ] {
            let text = CANONICAL.replacen(from, to, 1);
            assert_ne!(text, CANONICAL);
            assert!(!is_copied(&text), "{text}");
            let [all, part] = with_one_more_run(&text);
            assert_eq!(all, part);
        }
    }

    #[test]
    fn a_truncated_history_is_not_copied() {
        for end in ["    meta: '{\"tok", "    tools_called:\n    - \"f(", "    out"] {
            let text = format!("turns:\n- input: a\n  run: 2\n  history:\n  - run: 1\n{end}");
            let read = AppendableSummary::read(text.into_bytes());
            assert!(read.is_err_and(|reason| reason.starts_with("it is not YAML")));
        }
    }

    /// Lines that are out of place almost everywhere.
    const FOREIGN_LINES: &[&str] = &[
        "  history:",
        "  history: []",
        "  history: '[{\"pass\": true}]'",
        "  - run: 5",
        "    output: |",
        "    output: \"a",
        "    tools_called:",
        "    - g()",
        "    - yes",
        "      more: x",
        "    # said",
        "",
        "- input: c",
        "others:",
        "- history:",
        "    ? a",
    ];

    proptest! {
        /// However a file is edited, copying a history means the same as parsing it.
        #[test]
        fn copying_means_the_same_as_parsing(
            edits in prop::collection::vec((0..24_usize, 0..3_u8, 0..FOREIGN_LINES.len()), 1..4)
        ) {
            let mut lines: Vec<&str> = CANONICAL.lines().collect();
            for (at, how, other) in edits {
                let at = at.min(lines.len() - 1);
                match how {
                    0 => lines.insert(at, FOREIGN_LINES[other]),
                    1 => lines[at] = FOREIGN_LINES[other],
                    _ => drop(lines.remove(at)),
                }
            }
            let text = lines.join("\n") + "\n";
            if RecordSummary::read(text.clone().into_bytes()).is_ok() {
                let read = |text: String| RecordSummary::read(text.into_bytes()).unwrap();
                let [all, part] = with_one_more_run(&text);
                prop_assert_eq!(read(all), read(part));
            }
        }
    }
}
