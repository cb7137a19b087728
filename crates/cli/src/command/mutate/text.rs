//! The weak checks of a run as text.

use std::fmt::Write as _;

use evalrig_core::model::EvidencePart;
use evalrig_core::mutation::{
    CheckFinding, CheckTally, KINDS, Survivor, UncheckedTest, Untried, Weakness, WordChange,
    word_diff,
};
use evalrig_run::report::Detail;
use evalrig_run::session::MutationReport;
use evalrig_run::text::paint::{Paint, Tone};
use evalrig_run::text::{self, numbers, wrap};

/// Rows of the table of kill scores, unless `--verbose` asks for all.
const SCORES: usize = 20;
/// Lines of a damaged answer.
const LINES: usize = 6;
/// Words around a difference.
const AROUND: usize = 4;

pub(super) struct ReportPage<'a> {
    pub(super) report: &'a MutationReport,
    pub(super) paint: Paint,
    pub(super) detail: Detail,
}

impl ReportPage<'_> {
    pub(super) fn draw(&self) -> String {
        let survey = &self.report.survey;
        let mut out = String::new();
        let weak: Vec<CheckFinding<'_>> = survey.weak_checks().collect();
        let unchecked = survey.unchecked_tests();
        for finding in &weak {
            self.weak_check(finding, &mut out);
        }
        for test in &unchecked {
            self.unchecked_test(test, &mut out);
        }
        if self.detail != Detail::Quiet {
            self.scores(&mut out);
            self.outvoted(&mut out);
            self.untried(&mut out);
        }
        self.summary(weak.len() as u64, unchecked.len() as u64, &mut out);
        out
    }

    fn weak_check(&self, finding: &CheckFinding<'_>, out: &mut String) {
        let CheckFinding { check, weakness } = finding;
        let count = numbers::counted(check.applicable, "mutant", "mutants");
        let said = match weakness {
            Weakness::NeverFailed if check.applicable == 1 => "accepts the only mutant".to_owned(),
            Weakness::NeverFailed => format!("accepts all {count}"),
            Weakness::FormOnly => {
                format!("catches missing content, not wrong content: {} of {count}", check.failed)
            }
        };
        let type_name = text::line(&check.type_name, 60);
        self.headline(self.place(check), "weak", &format!("`{type_name}` {said}"), out);
        if !check.sentence.is_empty() {
            self.indented(4, &format!("demands: {}", text::line(&check.sentence, 200)), out);
        }
        let Some(survivor) = check.survivor() else { return };
        let damage = text::line(&survivor.damage, 120);
        let test = text::line(&survivor.test, 60);
        self.indented(4, &format!("passes when {damage} (test `{test}`)"), out);
        self.survivor(survivor, out);
        let advice = match weakness {
            Weakness::FormOnly => survivor.kind.advice,
            Weakness::NeverFailed => None,
        };
        if let Some(advice) = advice {
            let help = self.paint.tone(Tone::Strong, "help:");
            let _ = writeln!(out, "    {help} {}", self.paint.text(advice));
        }
        out.push('\n');
    }

    fn unchecked_test(&self, test: &UncheckedTest, out: &mut String) {
        let place = self.report.place(test.suite, test.span);
        let count = match test.mutants {
            1 => "the only mutant".to_owned(),
            n => format!("all {} mutants", numbers::count(n)),
        };
        let said = format!("test `{}` passes with {count}", text::line(&test.id, 80));
        self.headline(place, "unchecked", &said, out);
        let mut parts: Vec<&str> = Vec::new();
        for check in self.report.survey.checks() {
            if check.id.suite == test.suite && test.checks.contains(&check.id.span) {
                parts.push(&check.type_name);
            }
        }
        let said = format!("no check looks at what was damaged: {}", parts.join(", "));
        self.indented(4, &said, out);
        out.push('\n');
    }

    /// `EVAL.yaml:12: weak: …`
    fn headline(&self, place: (&str, u32), word: &str, said: &str, out: &mut String) {
        let place = format!("{}:{}", text::single_line(place.0), place.1);
        let start = wrap::width(&place) + word.len() + 4;
        let place = self.paint.tone(Tone::Place, &place);
        let word = self.paint.tone(Tone::Bad, word);
        // What does not fit beside the place follows below it.
        let room = self.paint.columns();
        if start + wrap::width(said) <= room {
            let _ = writeln!(out, "{place}: {word}: {}", self.paint.text(said));
        } else {
            let _ = writeln!(out, "{place}: {word}");
            self.indented(4, said, out);
        }
    }

    fn place(&self, check: &CheckTally) -> (&str, u32) {
        self.report.place(check.id.suite, check.id.span)
    }

    fn indented(&self, columns: usize, said: &str, out: &mut String) {
        for line in self.paint.wrap(said, self.paint.columns().saturating_sub(columns)) {
            let _ = writeln!(out, "{:columns$}{line}", "");
        }
    }

    /// What was accepted: in full if it is short or new, otherwise the words that differ.
    fn survivor(&self, survivor: &Survivor, out: &mut String) {
        let lines = match survivor.kind.part {
            _ if survivor.after.trim().is_empty() => Vec::new(),
            EvidencePart::Answer if is_alike(survivor) => self.diff(survivor),
            EvidencePart::Answer => self.excerpt(&survivor.after),
            EvidencePart::Calls | EvidencePart::Files => self.excerpt(&survivor.after),
        };
        let side = self.paint.tone(Tone::Faint, self.paint.signs().side);
        for line in lines {
            let _ = writeln!(out, "    {side} {line}");
        }
    }

    fn excerpt(&self, said: &str) -> Vec<String> {
        let room = self.paint.columns().saturating_sub(6);
        let found = said.lines().filter(|line| !line.trim().is_empty());
        let mut lines: Vec<String> =
            found.flat_map(|line| self.paint.wrap(&text::line(line, 400), room)).collect();
        if lines.len() > LINES {
            lines.truncate(LINES);
            lines.push(self.paint.signs().cut.to_owned());
        }
        lines
    }

    /// Words that differ, with some around them: `was [-November-] {+December+} with`.
    fn diff(&self, survivor: &Survivor) -> Vec<String> {
        let cut = self.paint.signs().cut;
        let changes = word_diff(&survivor.before, &survivor.after);
        let last = changes.len().saturating_sub(1);
        let mut words: Vec<String> = Vec::new();
        for (at, change) in changes.iter().enumerate() {
            match change {
                WordChange::Same(said) => {
                    let all: Vec<&str> = said.split(' ').collect();
                    let (head, tail) = match (at == 0, at == last) {
                        (true, _) => (0, AROUND),
                        (_, true) => (AROUND, 0),
                        _ => (AROUND, AROUND),
                    };
                    if all.len() <= head + tail + 1 {
                        words.extend(all.iter().map(|word| text::line(word, 60)));
                    } else {
                        words.extend(all[..head].iter().map(|word| text::line(word, 60)));
                        words.push(cut.to_owned());
                        let tail = &all[all.len() - tail..];
                        words.extend(tail.iter().map(|word| text::line(word, 60)));
                    }
                }
                WordChange::Removed(said) => {
                    words.push(format!("[-{}-]", text::line(said, 120)));
                }
                WordChange::Added(said) => {
                    words.push(format!("{{+{}+}}", text::line(said, 120)));
                }
            }
        }
        let room = self.paint.columns().saturating_sub(6);
        let mut lines = self.paint.wrap(&words.join(" "), room);
        if lines.len() > LINES {
            lines.truncate(LINES);
            lines.push(cut.to_owned());
        }
        lines
    }

    /// Kill scores, the lowest first.
    fn scores(&self, out: &mut String) {
        let survey = &self.report.survey;
        let is_scored = |check: &&CheckTally| check.applicable > 0 && check.untried().is_none();
        let mut checks: Vec<&CheckTally> = survey.checks().filter(is_scored).collect();
        if checks.is_empty() {
            return;
        }
        // The sort is stable: equal scores stay in the order of the files.
        checks.sort_by(|a, b| {
            a.kill_score().unwrap_or(0.0).total_cmp(&b.kill_score().unwrap_or(0.0))
        });
        let most = if self.detail == Detail::Verbose { checks.len() } else { SCORES };
        let shown = &checks[..checks.len().min(most)];
        let places: Vec<String> = shown
            .iter()
            .map(|check| self.place(check))
            .map(|(file, line)| format!("{}:{line}", text::single_line(file)))
            .collect();
        let widest = places.iter().map(|place| wrap::width(place)).max().unwrap_or(0);
        let most_counts = shown.iter().map(|check| counts_of(check).len()).max().unwrap_or(0);
        let types = shown.iter().map(|check| wrap::width(&check.type_name)).max().unwrap_or(0);
        let _ =
            writeln!(out, "kill scores (damaged answers that the check fails, of those it sees)");
        for (check, place) in shown.iter().zip(&places) {
            let pad = widest - wrap::width(place);
            let type_name = text::line(&check.type_name, 60);
            let type_pad = types.saturating_sub(wrap::width(&type_name));
            let score = evalrig_core::stats::percent(check.failed, check.applicable);
            let counts = counts_of(check);
            let kinds = KINDS.iter().map(|kind| kind.name);
            let accepted: Vec<&str> = kinds.filter(|name| check.accepted.contains(name)).collect();
            let accepted = if accepted.is_empty() {
                String::new()
            } else {
                format!("accepts {}", accepted.join(", "))
            };
            let used = 2 + widest + 2 + types + 2 + most_counts + 2 + 5 + 2;
            let room = self.paint.columns().saturating_sub(used).max(20);
            let accepted = self.paint.tone(Tone::Faint, &self.paint.cut(&accepted, room));
            let line = format!(
                "  {place}{:pad$}  {type_name}{:type_pad$}  {counts:>most_counts$}  {score:>3} %  {accepted}",
                "", ""
            );
            let _ = writeln!(out, "{}", line.trim_end());
        }
        if let left @ 1.. = checks.len() - shown.len() {
            let _ = writeln!(out, "  and {left} more; -v lists all");
        }
        out.push('\n');
    }

    /// Checks that notice, but do not decide.
    fn outvoted(&self, out: &mut String) {
        let survey = &self.report.survey;
        let found: Vec<&CheckTally> = survey.checks().filter(|check| check.outvoted > 0).collect();
        if found.is_empty() {
            return;
        }
        let _ = writeln!(
            out,
            "outvoted (the check fails, but the test passes; `required: true` decides)"
        );
        let most = if self.detail == Detail::Verbose { found.len() } else { SCORES };
        for check in found.iter().take(most) {
            let (file, line) = self.place(check);
            let type_name = text::line(&check.type_name, 60);
            let said = format!(
                "{}:{line} {type_name}: {} of {} that it fails",
                text::single_line(file),
                numbers::count(check.outvoted),
                numbers::counted(check.failed, "mutant", "mutants"),
            );
            self.indented(2, &said, out);
        }
        if let left @ 1.. = found.len().saturating_sub(most) {
            let _ = writeln!(out, "  and {left} more; -v lists all");
        }
        out.push('\n');
    }

    fn untried(&self, out: &mut String) {
        let survey = &self.report.survey;
        let untried: Vec<(&CheckTally, &Untried)> =
            survey.checks().filter_map(|check| Some((check, check.untried()?))).collect();
        if untried.is_empty() {
            return;
        }
        let _ = writeln!(out, "not tried");
        let most = if self.detail == Detail::Verbose { untried.len() } else { SCORES };
        for (check, why) in untried.iter().take(most) {
            let (file, line) = self.place(check);
            let why = match why {
                Untried::Asks if self.report.asked.is_some() => {
                    "it was not in the sample, or needs the files of a workspace".to_owned()
                }
                Untried::Asks => "it asks a judge or runs a program; add `--judges N`".to_owned(),
                Untried::NothingToDamage if check.is_negated => {
                    "no mutant contains what it forbids".to_owned()
                }
                Untried::NothingToDamage => "no mutant changes what it checks".to_owned(),
                Untried::NotPassed => "it does not pass on the stored answer".to_owned(),
                Untried::NotMeasured(why) => text::line(why, 100),
            };
            let place = format!("{}:{line}", text::single_line(file));
            let type_name = text::line(&check.type_name, 60);
            self.indented(2, &format!("{place} {type_name}: {why}"), out);
        }
        if let left @ 1.. = untried.len().saturating_sub(most) {
            let _ = writeln!(out, "  and {left} more; -v lists all");
        }
        out.push('\n');
    }

    fn summary(&self, weak: u64, unchecked: u64, out: &mut String) {
        let survey = &self.report.survey;
        let mut notes: Vec<String> = Vec::new();
        if self.report.left_out > 0 {
            let rows = numbers::counted(self.report.left_out, "row", "rows");
            notes.push(format!("{rows} left out, because the test did not pass or has no answer"));
        }
        notes.extend(self.report.gaps.iter().map(|gap| format!("incomplete: {gap}")));
        if let Some(asked) = &self.report.asked {
            let cost = asked.cost_usd.map_or("unknown cost".to_owned(), numbers::money);
            notes.push(format!(
                "{} shown to judges and scripts: {}, {cost}",
                numbers::counted(asked.mutants, "mutant", "mutants"),
                numbers::counted(asked.judge_calls, "judge call", "judge calls"),
            ));
            notes.extend(asked.unfinished.iter().map(|why| format!("incomplete: {why}")));
        }
        if self.detail != Detail::Quiet || !self.report.gaps.is_empty() {
            notes.iter().for_each(|note| self.indented(0, &text::line(note, 300), out));
        }
        let mut found = Vec::new();
        if weak > 0 {
            found.push(numbers::counted(weak, "weak check", "weak checks"));
        }
        if unchecked > 0 {
            found.push(numbers::counted(unchecked, "unchecked test", "unchecked tests"));
        }
        let sign = self.paint.signs();
        let (tone, sign, found) = if found.is_empty() {
            (Tone::Good, sign.hit, "no weak check".to_owned())
        } else {
            (Tone::Bad, sign.miss, found.join(", "))
        };
        let _ = writeln!(
            out,
            "{} {found}: {} of {}; with {} of them the whole test still passes",
            self.paint.tone(tone, sign),
            numbers::counted(survey.mutants, "mutant", "mutants"),
            numbers::counted(survey.answers, "stored answer", "stored answers"),
            numbers::count(survey.survived),
        );
    }
}

fn counts_of(check: &CheckTally) -> String {
    format!("{} of {}", check.failed, check.applicable)
}

/// Whether most words stayed, so that a difference says more than the text.
fn is_alike(survivor: &Survivor) -> bool {
    let changes = word_diff(&survivor.before, &survivor.after);
    let count = |said: &String| said.split(' ').count();
    let (mut same, mut other) = (0, 0);
    for change in &changes {
        match change {
            WordChange::Same(said) => same += count(said),
            WordChange::Removed(said) | WordChange::Added(said) => other += count(said),
        }
    }
    same * 2 >= other
}
