//! Workflow commands that GitHub shows as annotations beside the lines of the suite.

use std::io::{self, Write};

use evalrig_core::model::Outcome;

use super::arms::{self, ArmFinding};
use super::case_finding::{CaseFinding, CheckFinding, CheckState, SourceLine};
use super::failure_groups::{Group, Groups};
use super::held_trials::HeldTrials;
use super::label_parts::LabelParts;
use super::other_runs::Compared;
use super::tally::Tally;
use super::{Report, ReportKind, ReportOptions, ReportedRun, comparison, gap_lines, total_lines};
use crate::results::Row;
use crate::text::{self, numbers};

pub static REPORT: ReportKind = ReportKind {
    name: "github",
    doc: "annotations for GitHub Actions, at the lines of the suite",
    shows_gate: true,
    shows_history: false,
    make: |setting| Box::new(Github::new(setting)),
};

/// GitHub shows no more of each level per step.
const SHOWN: usize = 10;
/// Of those, kept free for cases that could not be measured.
const FOR_ERRORS: usize = 3;
/// Tests that changed since the baseline.
const CHANGED: usize = 5;
/// A case with many misses must not push all others out.
const PER_CASE: usize = 3;

#[derive(Debug, Default)]
pub struct Github {
    tally: Tally,
    groups: Groups,
    held: HeldTrials,
}

#[derive(Debug)]
struct Annotation {
    place: SourceLine,
    title: String,
    message: String,
}

impl Annotation {
    fn command(&self, level: &str) -> String {
        format!(
            "::{level} file={},line={},title={}::{}",
            property(&self.place.file),
            self.place.line,
            property(&self.title),
            data(&self.message)
        )
    }
}

impl Github {
    pub fn new(setting: &ReportOptions) -> Self {
        Self { tally: Tally::new(setting.exit_rule), ..Self::default() }
    }

    /// Of groups with one outcome, in order.
    fn annotations(&self, outcome: Outcome) -> Vec<Annotation> {
        let label_parts = LabelParts::of(&self.tally);
        let groups = self.groups.in_order();
        let groups = groups.into_iter().filter(|group| group.outcome == outcome);
        groups.flat_map(|group| of_group(group, label_parts)).collect()
    }
}

impl Report for Github {
    fn row(&mut self, row: &Row, _: &mut dyn Write) -> io::Result<()> {
        self.tally.add(row);
        if !matches!(row.outcome, Outcome::Passed | Outcome::Skipped)
            && row.decides()
            && let Some(finding) = self.held.sort(row, &self.tally.verdicts)
        {
            self.groups.add(finding);
        }
        Ok(())
    }

    fn finish(&mut self, end: &ReportedRun, out: &mut dyn Write) -> io::Result<()> {
        let by_share = self.held.settle(&self.tally.verdicts).add_to(&mut self.groups);
        let mut failed = self.annotations(Outcome::Failed);
        let mut errored = self.annotations(Outcome::Errored);
        let mut borderline = self.annotations(Outcome::Borderline);
        let all = failed.len() + errored.len() + borderline.len();
        // The gate goes first: it must not be among what GitHub leaves out.
        let gate = comparison::gate(end).filter(|gate| gate.outcome != Outcome::Passed);
        let missing = gap_lines::sentences(end);
        let room = SHOWN - usize::from(gate.is_some()) - usize::from(!missing.is_empty());
        failed.truncate(room - errored.len().min(FOR_ERRORS));
        errored.truncate(room - failed.len());
        if let Some(gate) = &gate {
            writeln!(out, "::error title=evalrig gate::{}", data(&gate.line()))?;
        }
        if !missing.is_empty() {
            let text = missing.join("\n");
            writeln!(out, "::error title=evalrig incomplete results::{}", data(&text))?;
        }
        borderline.truncate(SHOWN);
        for annotation in failed.iter().chain(&errored) {
            writeln!(out, "{}", annotation.command("error"))?;
        }
        for annotation in &borderline {
            writeln!(out, "{}", annotation.command("warning"))?;
        }
        let (_, mut text) = total_lines::headline(&self.tally, end);
        if let Some(sentence) = self.tally.passed_misses.sentence() {
            text.push_str(&format!("\n{sentence}"));
        }
        let arms = self.tally.arms.findings(end.rounds.as_ref(), &end.arm_options);
        arms.iter().for_each(|arm| text.push_str(&arm_line(arm)));
        for test in by_share.iter().take(CHANGED) {
            let (name, said) = test.parts(LabelParts::of(&self.tally));
            text.push_str(&format!("\n{} {said}", text::line(&name, 120)));
        }
        let left_out = all - failed.len() - errored.len() - borderline.len();
        if left_out > 0 || self.groups.left_out().total() > 0 {
            text.push_str(
                "\nGitHub shows 10 errors and 10 warnings; the results file has them all",
            );
        }
        if let Some(compared) = &end.compared {
            text.push_str(&beside(end, compared));
        }
        if let Some(results) = &end.results {
            let path = total_lines::path_text(results.as_str());
            text.push_str(&format!("\nresults: {path}"));
        }
        writeln!(out, "::notice title=evalrig::{}", data(&text))
    }
}

/// An arm, and how it compares with the baseline arm.
fn arm_line(arm: &ArmFinding) -> String {
    let against = arms::contrast(arm)
        .map(|contrast| format!("; against {}: {contrast}", arm.bases.join(", ")))
        .unwrap_or_default();
    let counts = arms::counts(arm);
    format!("\narm {}: {counts}{}", text::line(&arm.name, 120), text::line(&against, 500))
}

/// What the notice says of the baseline.
fn beside(end: &ReportedRun, compared: &Compared) -> String {
    let found = &compared.comparison;
    let mut lines = vec![match comparison::gate(end) {
        Some(gate) => gate.line(),
        None => comparison::verdict(found).to_owned(),
    }];
    if let Some(suite) = &found.suite {
        let difference = comparison::difference(found, suite);
        lines.push(format!("{}: {difference}", comparison::size(suite)));
    }
    lines.extend(comparison::left_out(found));
    let names = comparison::Names::among(found);
    let (changed, more) = comparison::notable_changes(found, CHANGED);
    for test in changed {
        lines.push(format!(
            "{} {}: {}",
            test.change.word(),
            text::line(&names.case(test), 120),
            comparison::sides(test),
        ));
    }
    if more > 0 {
        lines.push(format!("and {more} more"));
    }
    lines.push(format!("baseline: {}", total_lines::path_text(&compared.base)));
    if let Some(command) = &end.compare_command {
        lines.push(format!("all of it: {}", total_lines::path_text(command)));
    }
    lines.iter().map(|line| format!("\n{line}")).collect()
}

fn of_group(group: &Group, label_parts: LabelParts) -> Vec<Annotation> {
    let mut found: Vec<_> =
        group.shown.iter().flat_map(|finding| of_finding(finding, label_parts)).collect();
    if let (Some(last), Some(others)) = (found.last_mut(), label_parts.others(group)) {
        last.message.push_str(&format!("\n{others}"));
    }
    found
}

fn of_finding(finding: &CaseFinding, label_parts: LabelParts) -> Vec<Annotation> {
    let name = label_parts.name(&finding.label);
    if finding.outcome == Outcome::Errored {
        let errored = |check: &&CheckFinding| matches!(check.state, CheckState::Errored(_));
        let check = finding.checks.iter().find(errored);
        let place = check.and_then(|check| check.place.clone());
        return vec![Annotation {
            place: place.unwrap_or_else(|| finding.label.place.clone()),
            title: format!("{name} could not be measured"),
            message: finding.first_miss(),
        }];
    }
    let title = match finding.score {
        Some(score) => {
            format!("{name} {}, score {}", finding.outcome.word(), numbers::score(score))
        }
        None => format!("{name} {}", finding.outcome.word()),
    };
    // What a composite lost is told by its members.
    let is_told = |check: &&CheckFinding| match check.state {
        CheckState::Scored(_) => !check.misses.shown.is_empty() || check.aggregator.is_none(),
        _ => false,
    };
    let told = finding.checks.iter().filter(is_told).take(PER_CASE);
    let mut found: Vec<_> = told
        .map(|check| Annotation {
            place: check.place.clone().unwrap_or_else(|| finding.label.place.clone()),
            title: title.clone(),
            message: message(check),
        })
        .collect();
    if found.is_empty() {
        found.push(Annotation {
            place: finding.label.place.clone(),
            message: title.clone(),
            title,
        });
    }
    found
}

fn message(check: &CheckFinding) -> String {
    let mut text = format!("{} {}", check.title(), check.sentence());
    for miss in &check.misses.shown {
        text.push_str(&format!("\n✗ {miss}"));
    }
    if let Some(reasoning) = &check.reasoning {
        text.push_str(&format!("\n{reasoning}"));
    }
    text
}

/// The text of a workflow command. `%` goes first, or it would escape the escapes.
pub fn data(text: &str) -> String {
    let text = text::paragraph(text);
    text.replace('%', "%25").replace('\n', "%0A")
}

/// A property of a workflow command.
pub fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}

#[cfg(test)]
mod tests {
    use super::super::comparison::testing;
    use super::super::fixture::{self, Shown};
    use super::*;
    use crate::text::OutputStyle;

    fn shown() -> Shown {
        Shown::of(&REPORT, OutputStyle::default())
    }

    #[test]
    fn snapshot() {
        insta::assert_snapshot!(shown().rows(&fixture::rows()));
    }

    #[test]
    fn everything_that_has_a_meaning_is_escaped() {
        let mut row = fixture::missing("a,b:c%", "100%: a, b\r\n::error::c\rd \u{1b}[0m");
        row.evaluator_results[0].source = None;
        let text = shown().rows(&[row]);
        let first = text.lines().next().unwrap();
        assert_eq!(
            first,
            "::error file=evals/support/EVAL.yaml,line=4,\
             title=a%2Cb%3Ac%25 failed%2C score 0.00::contains scored 0.00%0A\
             ✗ 100%25: a, b ::error::c d ␛[0m"
        );
    }

    #[test]
    fn at_most_ten_of_each_and_errors_keep_their_room() {
        let mut rows: Vec<_> = (0..40)
            .map(|n| {
                let mut row = fixture::missing(&format!("t{n}"), &format!("miss {n}"));
                if n % 2 == 0 {
                    row.outcome = Outcome::Borderline;
                }
                row
            })
            .collect();
        for stage in ["target", "judge"] {
            let mut row = fixture::row(stage, Outcome::Errored, None);
            row.error = Some(fixture::fault(stage, "network", "connection refused"));
            rows.push(row);
        }
        let text = shown().rows(&rows);
        assert_eq!(text.matches("::error ").count(), 10);
        assert_eq!(text.matches("could not be measured::").count(), 2);
        assert_eq!(text.matches("::warning ").count(), 10);
        assert_eq!(text.matches("::notice ").count(), 1);
        assert!(text.contains("the results file has them all"), "{text}");
    }

    #[test]
    fn a_gate_that_stays_shut_is_an_error_of_its_own() {
        let mut end = ReportedRun {
            exit_code: Some(1),
            is_gated: true,
            compared: Some(testing::compared(20, 5, 3)),
            ..ReportedRun::default()
        };
        let rows: Vec<_> =
            (0..40).map(|n| fixture::missing(&format!("t{n}"), &format!("miss {n}"))).collect();
        let text = shown().end(end.clone()).rows(&rows);
        assert!(text.starts_with("::error title=evalrig gate::gate: worse than the baseline; "));
        assert_eq!(text.matches("::error ").count(), 10);
        assert!(text.contains("%0Achanged t0: 5 of 5 → 3 of 5%0A"), "{text}");
        assert!(text.contains("%0Aand 15 more%0Abaseline: main.jsonl"), "{text}");
        end.is_gated = false;
        let text = shown().end(end).rows(&[]);
        assert!(!text.contains("::error ") && text.contains("%0Aworse than the baseline%0A"));
    }
}
