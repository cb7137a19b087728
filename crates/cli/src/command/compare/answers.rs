//! The answers of tests that changed: what was asked, and the old answer beside the new one, word by
//! word.

use std::fmt::Write as _;
use std::time::Duration;

use evalrig_core::compare::{Change, Comparison, TestChange};
use evalrig_run::report::Detail;
use evalrig_run::report::comparison::{AnswerPair, Names, by_importance};
use evalrig_run::text::paint::{Paint, Tone};
use evalrig_run::text::{self, wrap};
use similar::{Algorithm, ChangeTag, TextDiff};

/// Tests whose answers are shown, and with `--verbose`.
const SHOWN: usize = 3;
const SHOWN_VERBOSE: usize = 50;
/// Lines of an answer.
const LINES: usize = 12;
const LABEL: usize = 10;
/// Texts that have nothing in common take the longest.
const DEADLINE: Duration = Duration::from_millis(200);

/// The tests whose answers are worth reading: what regressed; with `--verbose` all that changed.
pub fn wanted(comparison: &Comparison, detail: Detail) -> Vec<&TestChange> {
    let is_wanted = |test: &&TestChange| match test.change {
        Change::Regressed => true,
        Change::Fixed | Change::Changed => detail == Detail::Verbose,
        _ => false,
    };
    let most = if detail == Detail::Verbose { SHOWN_VERBOSE } else { SHOWN };
    by_importance(comparison).into_iter().filter(is_wanted).take(most).collect()
}

pub fn draw(comparison: &Comparison, pairs: &[AnswerPair], paint: &Paint) -> String {
    let names = Names::among(comparison);
    let mut out = String::new();
    for pair in pairs {
        let name = text::single_line(&names.case(&pair.test));
        let _ = writeln!(out, "{}", paint.tone(Tone::Strong, &paint.cut(&name, paint.columns())));
        for (label, lines) in sections(pair, paint) {
            for (at, line) in lines.iter().enumerate() {
                let label = if at == 0 { label } else { "" };
                let label = paint.tone(Tone::Faint, &format!("{label:LABEL$}"));
                let _ = writeln!(out, "  {label}{line}");
            }
        }
        out.push('\n');
    }
    out
}

fn sections(pair: &AnswerPair, paint: &Paint) -> Vec<(&'static str, Vec<String>)> {
    let room = paint.columns().saturating_sub(LABEL + 2);
    let sides = [&pair.base, &pair.candidate].map(Option::as_ref);
    let mut found = Vec::new();
    if let Some(question) = sides.iter().rev().flatten().find_map(|side| side.question.as_ref()) {
        found.push(("question", paint.wrap(&text::line(question, 400), room)));
    }
    match sides.map(|side| side.and_then(|side| side.answer.as_deref())) {
        [Some(before), Some(now)] if before == now => {
            found.push(("answer", vec!["is the same".to_owned()]));
        }
        [Some(before), Some(now)] => {
            found.push(("answer", changed_words(before, now, paint, room)));
        }
        [None, Some(now)] => found.push(("answer now", paint.wrap(&text::line(now, 800), room))),
        [Some(before), None] => {
            found.push(("before", paint.wrap(&text::line(before, 800), room)));
        }
        [None, None] => {}
    }
    if let Some((at, before, now)) = pair.divergence() {
        let call = |name: Option<&str>| name.map_or("none".to_owned(), |name| text::line(name, 60));
        let line = format!("call {at} differs: {} → {}", call(before), call(now));
        found.push(("tools", vec![paint.cut(&line, room)]));
    }
    found
}

/// What is gone as `[-old-]`, what is new as `{+new+}`.
fn changed_words(before: &str, now: &str, paint: &Paint, room: usize) -> Vec<String> {
    let (before, now) = (text::paragraph(before), text::paragraph(now));
    let diff = TextDiff::configure()
        .algorithm(Algorithm::Patience)
        .timeout(DEADLINE)
        .diff_words(before.as_ref(), now.as_ref());
    let mut runs: Vec<(ChangeTag, String)> = Vec::new();
    for change in diff.iter_all_changes() {
        match runs.last_mut() {
            Some((tag, text)) if *tag == change.tag() => text.push_str(change.value()),
            _ => runs.push((change.tag(), change.value().to_owned())),
        }
    }
    let mut layout = WordLayout { paint, room, lines: Vec::new(), width: 0 };
    for (tag, text) in &runs {
        let (open, close, tone) = match tag {
            ChangeTag::Equal => ("", "", None),
            ChangeTag::Delete => ("[-", "-]", Some(Tone::Bad)),
            ChangeTag::Insert => ("{+", "+}", Some(Tone::Good)),
        };
        let body = text.trim_end_matches('\n');
        layout.push(&format!("{open}{body}{close}{}", &text[body.len()..]), tone);
    }
    layout.finish()
}

/// Words of several tones in lines of a width.
struct WordLayout<'a> {
    paint: &'a Paint,
    room: usize,
    lines: Vec<String>,
    width: usize,
}

impl WordLayout<'_> {
    fn push(&mut self, text: &str, tone: Option<Tone>) {
        for word in text.split_inclusive([' ', '\n']) {
            let shown = self.paint.text(word.trim_end_matches('\n')).into_owned();
            let width = wrap::width(&shown);
            if self.lines.is_empty() || (self.width > 0 && self.width + width > self.room) {
                self.lines.push(String::new());
                self.width = 0;
            }
            let shown = wrap::cut(&shown, self.room, self.paint.signs().cut);
            let shown = tone.map_or(shown.clone(), |tone| self.paint.tone(tone, &shown));
            if let Some(line) = self.lines.last_mut() {
                line.push_str(&shown);
            }
            self.width += width;
            if word.ends_with('\n') {
                self.lines.push(String::new());
                self.width = 0;
            }
        }
    }

    fn finish(mut self) -> Vec<String> {
        while self.lines.last().is_some_and(|line| line.trim().is_empty()) {
            self.lines.pop();
        }
        if self.lines.len() > LINES {
            let more = self.lines.len() - LINES;
            self.lines.truncate(LINES);
            self.lines.push(self.paint.tone(Tone::Faint, &format!("{more} more lines")));
        }
        self.lines
    }
}

#[cfg(test)]
mod tests {
    use evalrig_run::text::OutputStyle;

    use super::*;

    fn lines(before: &str, now: &str, room: usize) -> Vec<String> {
        changed_words(before, now, &Paint::new(OutputStyle::default()), room)
    }

    #[test]
    fn words_that_changed_are_marked() {
        assert_eq!(
            lines("The sum is 12 EUR.", "The sum is 14 EUR.", 80),
            ["The sum is [-12-]{+14+} EUR."]
        );
        assert_eq!(lines("one\ntwo", "one\nthree", 80), ["one", "[-two-]{+three+}"]);
    }

    #[test]
    fn lines_fit_and_are_bounded() {
        let long = "word ".repeat(400);
        let shown = lines(&long, &format!("{long}end"), 30);
        assert_eq!(shown.len(), LINES + 1);
        assert!(shown.iter().all(|line| wrap::width(line.trim_end()) <= 30), "{shown:?}");
    }

    #[test]
    fn hostile_answers_stay_on_their_line() {
        let shown = lines("a\u{1b}[2Jb", "a\r::error::x", 80).join("\n");
        assert!(!shown.contains(['\u{1b}', '\r']), "{shown:?}");
    }
}
