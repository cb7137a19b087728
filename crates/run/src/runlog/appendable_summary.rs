//! A summary that gets another run, without parsing its whole history.
//!
//! Reading and rewriting a long history for each run makes a store with 1,000 runs per record about
//! three times slower (`bench/runlog.sh`). So a history in the form that evalrig writes is checked line
//! by line and copied as text. A history in any other form is parsed and written again by `summary`,
//! and a property test keeps both paths equal.

use std::borrow::Cow;
use std::ops::Range;

use evalrig_core::syntax::{decode, is_one_line_text};

use super::history_entry::HistoryEntry;
use super::summary::Summary;

/// The key of a turn's history, in the column of a turn's keys.
const HISTORY: &str = "  history:";
const NOTHING: &str = "  history: []";

#[derive(Debug, Clone, PartialEq)]
pub(super) struct AppendableSummary {
    /// Without the runs in `older`.
    pub(super) summary: Summary,
    /// The file that was read.
    text: String,
    /// The copied history of each turn; empty when all of it was parsed.
    older: Vec<Older>,
}

/// The lines beneath `history:`, each with its line break.
#[derive(Debug, Clone, PartialEq, Default)]
struct Older {
    lines: Range<usize>,
    highest_run: u64,
}

impl From<Summary> for AppendableSummary {
    fn from(summary: Summary) -> Self {
        Self {
            summary,
            text: String::new(),
            older: Vec::new(),
        }
    }
}

impl AppendableSummary {
    /// As [`Summary::read`].
    pub(super) fn read(bytes: Vec<u8>) -> Result<Self, String> {
        let (text, _) = decode(bytes).map_err(|_| "it is not UTF-8".to_owned())?;
        match read_in_part(&text) {
            Some((summary, older)) => Ok(Self {
                summary,
                text,
                older,
            }),
            None => Summary::read_text(text).map(Self::from),
        }
    }

    pub(super) fn highest_run(&self) -> u64 {
        let older = self.older.iter().map(|older| older.highest_run).max();
        self.summary.highest_run().max(older.unwrap_or(0))
    }

    /// The text of the file, in pieces: most of it is there already.
    pub(super) fn pieces(&self) -> Vec<Cow<'_, str>> {
        let head = self.summary.to_yaml();
        let mut older = self
            .older
            .iter()
            .map(|older| &self.text[older.lines.clone()]);
        let mut pieces = Vec::new();
        let mut begin = 0;
        for end in ends_of_histories(&head) {
            pieces.push(head[begin..end].to_owned().into());
            pieces.extend(older.next().map(Cow::from));
            begin = end;
        }
        pieces.push(head[begin..].to_owned().into());
        pieces
    }
}

/// Everything but the histories, which are understood without being read; `None` when they are not.
fn read_in_part(text: &str) -> Option<(Summary, Vec<Older>)> {
    let (head, older) = cut(text)?;
    let summary = Summary::read_text(head).ok()?;
    // A line that only looks like a history, say in a text of many lines, shows here.
    let is_understood = older.len() == summary.turns.len()
        && summary.has_only_known_keys()
        && summary.turns.iter().zip(&older).all(|(turn, older)| {
            turn.has_history_of(0) && (older.lines.is_empty() || !turn.now.is_empty())
        });
    is_understood.then_some((summary, older))
}

/// Where the history of each turn ends, in a text that was just written.
fn ends_of_histories(head: &str) -> Vec<usize> {
    let mut ends = Vec::new();
    let (mut at, mut is_inside) = (0, false);
    for line in head.split_inclusive('\n') {
        if is_inside && !is_of_history(line) {
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

fn is_of_history(line: &str) -> bool {
    line.starts_with("  - ") || line.starts_with("    ")
}

/// The text with every history empty, and the histories, one for each turn; `None` when one is not
/// as evalrig writes it.
fn cut(text: &str) -> Option<(String, Vec<Older>)> {
    let mut head = String::new();
    let mut turns: Vec<Option<Older>> = Vec::new();
    let mut lines = SummaryLines { text, at: 0 };
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
        head.push_str(NOTHING);
        head.push('\n');
        let older = match line {
            NOTHING => Older::default(),
            HISTORY => entries(&mut lines)?,
            _ => return None,
        };
        // Of two histories only one would be read.
        if turns.last_mut()?.replace(older).is_some() {
            return None;
        }
    }
    let turns: Option<Vec<Older>> = turns.into_iter().collect();
    Some((head, turns?))
}

/// Places of lines, without their line breaks.
struct SummaryLines<'t> {
    text: &'t str,
    at: usize,
}

impl SummaryLines<'_> {
    fn next(&mut self) -> Option<Range<usize>> {
        let rest = self.text.get(self.at..).filter(|rest| !rest.is_empty())?;
        let length = rest.find('\n');
        let line = self.at..self.at + length.unwrap_or(rest.len());
        self.at = line.end + 1;
        Some(line)
    }
}

/// Every line up to one that does not belong to the history.
fn entries(lines: &mut SummaryLines<'_>) -> Option<Older> {
    let text = lines.text;
    let begin = lines.at;
    let mut highest_run = 0;
    let mut end = begin;
    let mut keys: Vec<&str> = Vec::new();
    while let Some(place) = lines.next() {
        let line = &text[place.clone()];
        if !is_of_history(line) {
            lines.at = place.start;
            break;
        }
        // The last line of the file has its break too, or something was cut off.
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
        let (key, run) = field(&line[4..])?;
        if keys.contains(&key) {
            return None;
        }
        keys.push(key);
        highest_run = highest_run.max(run.unwrap_or(0));
    }
    let is_whole = begin < end && end <= text.len();
    is_whole.then_some(Older {
        lines: begin..end,
        highest_run,
    })
}

/// The key of an entry's line whose value needs no reading, and the number when it is that of a
/// run.
fn field(line: &str) -> Option<(&str, Option<u64>)> {
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

    fn is_carried_over(text: &str) -> bool {
        let growing = AppendableSummary::read(text.as_bytes().to_vec()).unwrap();
        !growing.older.is_empty()
    }

    /// One more run, by reading everything and by carrying over.
    fn grown(text: &str) -> [String; 2] {
        let all = AppendableSummary::from(Summary::read(text.as_bytes().to_vec()).unwrap());
        let part = AppendableSummary::read(text.as_bytes().to_vec()).unwrap();
        assert_eq!(all.highest_run(), part.highest_run());
        [all, part].map(|mut growing| {
            for turn in &mut growing.summary.turns {
                let mut entry = HistoryEntry::default();
                entry.set("run", 4_u64);
                turn.advance(entry);
            }
            growing.pieces().concat()
        })
    }

    #[test]
    fn carrying_over_writes_what_reading_all_would() {
        assert!(is_carried_over(CANONICAL));
        let [all, part] = grown(CANONICAL);
        assert_eq!(all, part);
        assert!(part.contains("- run: 3\n    output: x\n    tools_called: []\n  - run: 2\n"));
        assert_eq!(
            Summary::read(part.clone().into_bytes()).unwrap().to_yaml(),
            part
        );
    }

    #[test]
    fn a_history_of_another_writer_is_read() {
        for (from, to) in [
            ("output: 'it''s: b'", "output: yes"),
            ("output: 'it''s: b'", "output: 'it\n      s'"),
            ("output: 'it''s: b'", "output: |\n      a"),
            ("output: 'it''s: b'", "pass: true"),
            ("output: 'it''s: b'", "run: 7"),
            (
                "called:\n    - f(x='1')\n    - '''g'': 2'",
                "called:\n      - f(x='1')",
            ),
            ("run: 1\n", "run: '1'\n"),
            ("history: []", "history: '[]'"),
            ("name: a", "name: a\nothers:\n  history: []"),
            ("name: a", "name: a\nothers: {history: 1}"),
            ("  run: 3\n  output: x\n  tools_called: []\n", ""),
        ] {
            let text = CANONICAL.replacen(from, to, 1);
            assert_ne!(text, CANONICAL);
            assert!(!is_carried_over(&text), "{text}");
            let [all, part] = grown(&text);
            assert_eq!(all, part);
        }
    }

    #[test]
    fn a_history_that_was_cut_off_is_not_carried_over() {
        for end in [
            "    meta: '{\"tok",
            "    tools_called:\n    - \"f(",
            "    out",
        ] {
            let text = format!("turns:\n- input: a\n  run: 2\n  history:\n  - run: 1\n{end}");
            let read = AppendableSummary::read(text.into_bytes());
            assert!(read.is_err_and(|reason| reason.starts_with("it is not YAML")));
        }
    }

    /// Lines that belong to another part, or to none.
    const OTHERS: &[&str] = &[
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
        /// Whatever has been done to a file, nothing is carried over that reading would have read
        /// in another way.
        #[test]
        fn carrying_over_means_what_reading_all_means(
            edits in prop::collection::vec((0..24_usize, 0..3_u8, 0..OTHERS.len()), 1..4)
        ) {
            let mut lines: Vec<&str> = CANONICAL.lines().collect();
            for (at, how, other) in edits {
                let at = at.min(lines.len() - 1);
                match how {
                    0 => lines.insert(at, OTHERS[other]),
                    1 => lines[at] = OTHERS[other],
                    _ => drop(lines.remove(at)),
                }
            }
            let text = lines.join("\n") + "\n";
            if Summary::read(text.clone().into_bytes()).is_ok() {
                let read = |text: String| Summary::read(text.into_bytes()).unwrap();
                let [all, part] = grown(&text);
                prop_assert_eq!(read(all), read(part));
            }
        }
    }
}
