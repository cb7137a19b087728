//! One case that did not pass, drawn as a compiler draws an error: the author's own lines with
//! their numbers, and under each what became of it.

use std::io::{self, Write};

use evalrig_core::model::Outcome;

use super::SuiteText;
use super::case_finding::{CaseFinding, CheckFinding, CheckState, SentenceList, SourceLine};
use super::file_finding::FileFinding;
use super::label_parts::LabelParts;
use crate::text::{
    self, Excerpt, numbers,
    paint::{Paint, Tone, outcome_phrase},
    wrap,
};

/// Of an answer, after wrapping.
const ANSWER_ROWS: usize = 8;
const AUTHOR_LINE: usize = 300;
/// Notes start no further right, however deep the author's line is.
const DEEPEST_NOTE: usize = 10;
/// Hits beside misses are context; a few of them do.
const HITS: usize = 3;

#[derive(Debug)]
pub struct FailureFrame<'a> {
    pub paint: &'a Paint,
    pub text: &'a SuiteText,
    pub label_parts: LabelParts,
}

impl FailureFrame<'_> {
    /// `last` ends the frame; it is said once for a group.
    pub fn draw(
        &self,
        finding: &CaseFinding,
        last: Option<&str>,
        out: &mut dyn Write,
    ) -> io::Result<()> {
        self.header(finding, out)?;
        let checks: Vec<_> = finding.checks.iter().filter(|c| is_shown(finding, c)).collect();
        let place = &finding.label.place;
        let of_checks = checks.iter().filter_map(|check| check.place.as_ref());
        let places = of_checks.chain([place]);
        let highest = places.clone().map(|place| place.line).max().unwrap_or(0);
        let lines: Vec<_> = places.filter_map(|place| self.author_line(place)).collect();
        let mut gutter = Gutter {
            paint: self.paint,
            width: highest.to_string().len().max(2),
            dedent: lines.iter().map(|line| indent(line)).min().unwrap_or(0),
            last: place.clone(),
        };
        gutter.edge(self.paint.signs().top, &self.place(place), Tone::Place, out)?;
        if let Some(text) = self.author_line(place) {
            gutter.author(place.line, &text, out)?;
        }
        if let Some(fault) = finding.unexplained_fault() {
            gutter.note(2, self.paint.signs().note, &fault.text(), Tone::Odd, out)?;
        }
        for check in &checks {
            self.check(check, &mut gutter, out)?;
        }
        if finding.checks_left_out > 0 {
            let more = numbers::counted(finding.checks_left_out as u64, "assertion", "assertions");
            gutter.faint(&format!("{more} more lost points"), out)?;
        }
        self.said("question", finding.question.as_ref(), &gutter, out)?;
        self.said("answer", finding.answer.as_ref(), &gutter, out)?;
        if let Some(files) = &finding.files {
            self.files(files, &gutter, out)?;
        }
        gutter.edge(self.paint.signs().bottom, last.unwrap_or_default(), Tone::Faint, out)
    }

    fn header(&self, finding: &CaseFinding, out: &mut dyn Write) -> io::Result<()> {
        let paint = self.paint;
        let tone = Tone::of(finding.outcome);
        let dot = format!(" {} ", paint.signs().dot);
        let test = paint.text(&finding.label.title()).into_owned();
        let parts = paint.text(&self.label_parts.parts(&finding.label).join(&dot)).into_owned();
        let phrase = outcome_phrase(finding.outcome);
        let facts: String = facts(finding).iter().map(|fact| format!("{dot}{fact}")).collect();
        let facts = paint.cut(&facts, paint.columns() - 2 - wrap::width(phrase));
        // A name that fills lines does not help to find the test.
        let test = paint.cut(&test, paint.columns() - 2);
        let beside = (paint.columns() - 2).saturating_sub(wrap::width(&test) + 2);
        let parts = if beside < 12 { String::new() } else { paint.cut(&parts, beside) };
        let texts = [&test, &parts, phrase, &facts];
        let used = texts.map(wrap::width).iter().sum::<usize>() + 4;
        let used = used + 2 * usize::from(!parts.is_empty());
        let mut left = format!("{} {}", paint.sign(finding.outcome), test);
        left = paint.tone(tone, &left);
        left = paint.tone(Tone::Strong, &left);
        if !parts.is_empty() {
            left = format!("{left}  {parts}");
        }
        let right = paint.tone(tone, phrase) + &paint.tone(Tone::Faint, &facts);
        match paint.columns().checked_sub(used) {
            Some(space) => writeln!(out, "{left}{:1$}{right}", "", space + 2),
            None => writeln!(out, "{left}\n  {right}"),
        }
    }

    fn check(
        &self,
        check: &CheckFinding,
        gutter: &mut Gutter,
        out: &mut dyn Write,
    ) -> io::Result<()> {
        let mut depth = 0;
        if let Some(place) = check.place.as_ref().filter(|place| **place != gutter.last) {
            if place.file != gutter.last.file {
                gutter.edge(self.paint.signs().branch, &self.place(place), Tone::Place, out)?;
            }
            gutter.last = place.clone();
            match self.author_line(place) {
                Some(text) => {
                    depth = indent(&text).saturating_sub(gutter.dedent);
                    gutter.author(place.line, &text, out)?;
                }
                None => gutter.faint(&self.place(place), out)?,
            }
        }
        let depth = depth.min(DEEPEST_NOTE) + 2;
        let signs = self.paint.signs();
        let tone = match &check.state {
            CheckState::Scored(_) => Tone::Strong,
            CheckState::Skipped => Tone::Faint,
            CheckState::Errored(_) => Tone::Odd,
        };
        let title = format!("{} {}", check.title(), check.sentence());
        gutter.note(depth, signs.note, &title, tone, out)?;
        self.sentences(&check.misses, usize::MAX, (depth + 2, signs.miss, Tone::Bad), gutter, out)?;
        let hits = match check.state {
            CheckState::Scored(_) => HITS,
            _ => 0,
        };
        self.sentences(&check.hits, hits, (depth + 2, signs.hit, Tone::Good), gutter, out)?;
        for tail in &check.output {
            gutter.note(depth + 2, "", &format!("{}:", tail.title()), Tone::Faint, out)?;
            for line in &tail.text.lines {
                gutter.indented(depth + 4, line, out)?;
            }
        }
        if let Some(reasoning) = &check.reasoning {
            let (open, close) = signs.quotes;
            let quoted = format!("{open}{reasoning}{close}");
            gutter.note(depth + 2, "", &quoted, Tone::Faint, out)?;
        }
        Ok(())
    }

    fn sentences(
        &self,
        sentences: &SentenceList,
        limit: usize,
        (depth, sign, tone): (usize, &str, Tone),
        gutter: &Gutter,
        out: &mut dyn Write,
    ) -> io::Result<()> {
        for sentence in sentences.shown.iter().take(limit) {
            gutter.note(depth, sign, sentence, tone, out)?;
        }
        let left_out = sentences.total - sentences.shown.len().min(limit);
        match (left_out, limit) {
            (0, _) | (_, 0) => Ok(()),
            (n, _) => gutter.note(depth, sign, &format!("{n} more"), Tone::Faint, out),
        }
    }

    /// The question or the answer.
    fn said(
        &self,
        what: &str,
        text: Option<&Excerpt>,
        gutter: &Gutter,
        out: &mut dyn Write,
    ) -> io::Result<()> {
        let Some(text) = text else {
            return Ok(());
        };
        let branch = self.paint.signs().branch;
        if text.total == 0 {
            return gutter.edge(branch, &format!("the {what} is empty"), Tone::Faint, out);
        }
        let mut rows = Vec::new();
        let mut used = 0;
        for line in &text.lines {
            let wrapped = gutter.fitted(line);
            if !rows.is_empty() && rows.len() + wrapped.len() > ANSWER_ROWS {
                break;
            }
            rows.extend(wrapped);
            used += 1;
        }
        let is_cut = rows.len() > ANSWER_ROWS;
        rows.truncate(ANSWER_ROWS);
        let title = match (used == text.total, is_cut) {
            (true, false) => what.to_owned(),
            (true, true) => format!("{what}, its beginning"),
            (false, _) => {
                format!("{what}, {used} of {} lines", numbers::count(text.total as u64))
            }
        };
        gutter.edge(branch, &title, Tone::Faint, out)?;
        rows.iter().try_for_each(|row| gutter.side(None, row, out))
    }

    fn files(&self, files: &FileFinding, gutter: &Gutter, out: &mut dyn Write) -> io::Result<()> {
        gutter.edge(self.paint.signs().branch, "files", Tone::Faint, out)?;
        if let Some(summary) = &files.summary {
            gutter.note(0, "", summary, Tone::Strong, out)?;
        }
        for line in files.diff.iter().flat_map(|diff| &diff.lines) {
            let tone = match line.as_bytes().first() {
                Some(b'+') => Tone::Good,
                Some(b'-') => Tone::Bad,
                _ => Tone::Faint,
            };
            let shown = self.paint.cut(line, gutter.room());
            gutter.side(None, &self.paint.tone(tone, &shown), out)?;
        }
        if let Some(diff) = &files.diff
            && diff.total > diff.lines.len()
        {
            let left = numbers::count((diff.total - diff.lines.len()) as u64);
            gutter.faint(&format!("{left} more lines"), out)?;
        }
        // Rows may be older than the workspace, or of another machine.
        match files.enter_command().filter(|_| files.is_there()) {
            Some(command) => gutter.whole(&format!("workspace kept: {command}"), out),
            None => Ok(()),
        }
    }

    fn place(&self, place: &SourceLine) -> String {
        format!("{}:{}", self.text.path(&place.file), place.line)
    }

    fn author_line(&self, place: &SourceLine) -> Option<String> {
        // The brace before an entry of evals.json says nothing.
        let line = self.text.line(&place.file, place.line).filter(|line| line.trim() != "{")?;
        let shown = text::excerpt(&line, 1, AUTHOR_LINE).lines.pop()?;
        Some(self.paint.text(&shown).into_owned())
    }
}

/// In a case that could not be measured, lost points decide nothing.
fn is_shown(finding: &CaseFinding, check: &CheckFinding) -> bool {
    finding.outcome != Outcome::Errored || matches!(check.state, CheckState::Errored(_))
}

fn facts(finding: &CaseFinding) -> Vec<String> {
    let mut facts = Vec::new();
    facts.extend(finding.score.map(|score| format!("score {}", numbers::score(score))));
    facts.extend(finding.cost_usd.map(numbers::money));
    facts.extend(finding.duration_ms.map(numbers::duration));
    if finding.attempts > 1 {
        facts.push(format!("{} attempts", finding.attempts));
    }
    if finding.is_cached {
        facts.push("cached".to_owned());
    }
    facts
}

fn indent(line: &str) -> usize {
    line.len() - line.trim_start().len()
}

/// Writes lines behind a gutter.
struct Gutter<'a> {
    paint: &'a Paint,
    width: usize,
    dedent: usize,
    /// What was drawn last, so that it is not drawn twice.
    last: SourceLine,
}

impl Gutter<'_> {
    fn room(&self) -> usize {
        self.paint.columns().saturating_sub(self.width + 3).max(20)
    }

    fn edge(&self, sign: &str, text: &str, tone: Tone, out: &mut dyn Write) -> io::Result<()> {
        let sign = self.paint.tone(Tone::Faint, sign);
        let text = self.paint.cut(text, self.room() - 1);
        let text = self.paint.tone(tone, &text);
        let line = format!("{:1$} {sign} {text}", "", self.width);
        writeln!(out, "{}", line.trim_end())
    }

    fn side(&self, number: Option<u32>, text: &str, out: &mut dyn Write) -> io::Result<()> {
        let number = number.map(|number| number.to_string()).unwrap_or_default();
        let number = self.paint.tone(Tone::Place, &format!("{number:>0$}", self.width));
        let side = self.paint.tone(Tone::Faint, self.paint.signs().side);
        writeln!(out, "{}", format!("{number} {side} {text}").trim_end())
    }

    fn author(&self, line: u32, text: &str, out: &mut dyn Write) -> io::Result<()> {
        let text = text.get(self.dedent..).unwrap_or(text);
        let text = self.paint.cut(text.trim_end(), self.room());
        self.side(Some(line), &text, out)
    }

    fn faint(&self, text: &str, out: &mut dyn Write) -> io::Result<()> {
        let text = self.paint.cut(text, self.room());
        self.side(None, &self.paint.tone(Tone::Faint, &text), out)
    }

    /// A line of a program's output; its own indentation says something.
    fn indented(&self, depth: usize, line: &str, out: &mut dyn Write) -> io::Result<()> {
        let line = self.paint.cut(line, self.room().saturating_sub(depth));
        self.side(None, &format!("{:depth$}{line}", ""), out)
    }

    /// Not cut, however long it is: it is there to be copied.
    fn whole(&self, text: &str, out: &mut dyn Write) -> io::Result<()> {
        self.side(None, &self.paint.tone(Tone::Faint, &self.paint.text(text)), out)
    }

    /// Wrapped, with a sign before the first line.
    fn note(
        &self,
        depth: usize,
        sign: &str,
        text: &str,
        tone: Tone,
        out: &mut dyn Write,
    ) -> io::Result<()> {
        let hang = match sign {
            "" => 0,
            sign => wrap::width(sign) + 1,
        };
        let lines = self.paint.wrap(text, self.room().saturating_sub(depth + hang));
        for (at, line) in lines.iter().enumerate() {
            let sign = match (at, sign) {
                (_, "") => String::new(),
                (0, sign) => format!("{} ", self.paint.tone(sign_tone(tone), sign)),
                _ => " ".repeat(hang),
            };
            // The sign says enough about hits and misses; coloured sentences tire.
            let line = match tone {
                Tone::Good | Tone::Bad => line.clone(),
                tone => self.paint.tone(tone, line),
            };
            self.side(None, &format!("{:depth$}{sign}{line}", ""), out)?;
        }
        Ok(())
    }

    /// A line of an answer in as many rows as it takes.
    fn fitted(&self, line: &str) -> Vec<String> {
        let line = self.paint.text(line);
        if wrap::width(&line) <= self.room() {
            vec![line.into_owned()]
        } else {
            wrap::wrap(&line, self.room())
        }
    }
}

fn sign_tone(tone: Tone) -> Tone {
    match tone {
        Tone::Strong => Tone::Faint,
        tone => tone,
    }
}
