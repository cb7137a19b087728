//! SARIF 2.1.0 for code scanning: assertions that were missed, at their lines in the suite. Only the
//! parts of the standard that have something to say.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::io::{self, Write};

use evalrig_core::digest::hex;
use evalrig_core::model::Outcome;
use sha2::{Digest, Sha256};

use super::case_finding::{
    CaseFault, CaseFinding, CheckFinding, CheckState, GateState, SourceLine,
};
use super::held_trials::HeldTrials;
use super::sarif_log::{
    REPOSITORY_ROOT, SarifArtifactLocation, SarifCaseProperties, SarifFingerprints, SarifLocation,
    SarifLog, SarifPhysicalLocation, SarifRegion, SarifResult, SarifRule, SarifText, uri,
};
use super::{Report, ReportKind, ReportOptions, ReportedRun, gap_lines};
use crate::results::{Row, TestVerdicts};
use crate::text::{self, numbers};

pub static REPORT: ReportKind = ReportKind {
    name: "sarif",
    doc: "SARIF 2.1.0 for code scanning: missed assertions at the lines of the suite",
    shows_gate: false,
    shows_history: false,
    make: |setting| Box::new(Sarif::new(setting)),
};

/// GitHub keeps this many of one upload.
const KEPT: usize = 5_000;
/// The rule of a case that was not measured, or failed with nothing to point to.
const CASE: &str = "case";

#[derive(Debug, Default)]
pub struct Sarif {
    rules: Rules,
    results: Vec<SarifResult>,
    /// By fingerprint: trials that miss the same thing are one result.
    known: HashMap<String, usize>,
    dropped: u64,
    verdicts: TestVerdicts,
    held: HeldTrials,
    /// Cases that passed and lost points. They come last, because failures must not lack room.
    passed: Vec<CaseFinding>,
}

impl Report for Sarif {
    fn row(&mut self, row: &Row, _: &mut dyn Write) -> io::Result<()> {
        self.verdicts.add(row);
        if row.outcome == Outcome::Skipped || !row.decides() {
            return Ok(());
        }
        if row.outcome == Outcome::Passed {
            self.keep_passed(row);
            return Ok(());
        }
        if let Some(finding) = self.held.sort(row, &self.verdicts) {
            self.push_failure(&finding);
        }
        Ok(())
    }

    fn finish(&mut self, end: &ReportedRun, out: &mut dyn Write) -> io::Result<()> {
        let settled = self.held.settle(&self.verdicts);
        settled.failures.iter().for_each(|finding| self.push_failure(finding));
        let passed = std::mem::take(&mut self.passed);
        settled.notes.iter().chain(&passed).for_each(|finding| self.push_note(finding));
        let log = SarifLog::new(&self.rules.list, &self.results, self.dropped);
        let log = log.with_repository_root().with_errors(gap_lines::sentences(end));
        let text = serde_json::to_string(&log)?;
        writeln!(out, "{}", text::json(&text))
    }
}

impl Sarif {
    pub fn new(setting: &ReportOptions) -> Self {
        Self { verdicts: TestVerdicts::new(setting.exit_rule), ..Self::default() }
    }

    fn keep_passed(&mut self, row: &Row) {
        let finding = CaseFinding::of(row);
        if finding.checks.is_empty() {
            return;
        }
        if self.passed.len() < KEPT {
            let finding = CaseFinding { question: None, answer: None, files: None, ..finding };
            self.passed.push(finding);
        } else {
            self.dropped += 1;
        }
    }

    fn push_failure(&mut self, finding: &CaseFinding) {
        let mut is_told = false;
        for check in &finding.checks {
            if let Some(level) = level(finding, check) {
                self.add(finding, Some(check), level);
                is_told |= level != "note";
            }
        }
        // What no assertion says is said of the test.
        if !is_told || finding.unexplained_fault().is_some() {
            let level = match finding.outcome {
                Outcome::Borderline => "warning",
                _ => "error",
            };
            self.add(finding, None, level);
        }
    }

    /// A case that lost points, of a test that passes.
    fn push_note(&mut self, finding: &CaseFinding) {
        let lost = |check: &&CheckFinding| level(finding, check).is_some();
        for check in finding.checks.iter().filter(lost) {
            self.add(finding, Some(check), "note");
        }
    }

    /// Without an assertion it is about the case.
    fn add(&mut self, finding: &CaseFinding, check: Option<&CheckFinding>, level: &'static str) {
        let rule = check.map_or(CASE, rule_of);
        let message = message(finding, check);
        let key = fingerprint(finding, check, &message);
        if let Some(at) = self.known.get(&key) {
            if let Some(count) = &mut self.results[*at].occurrence_count {
                *count += 1;
            }
            return;
        }
        if self.results.len() == KEPT {
            self.dropped += 1;
            return;
        }
        let trouble = match check.map(|check| &check.state) {
            Some(CheckState::Errored(trouble)) => trouble.as_ref(),
            Some(_) => None,
            None => finding.trouble.as_ref(),
        };
        let score = match check.map(|check| &check.state) {
            Some(CheckState::Scored(score)) => Some(*score),
            Some(_) => None,
            None => finding.score,
        };
        self.known.insert(key.clone(), self.results.len());
        self.results.push(SarifResult {
            rule_id: rule.to_owned().into(),
            rule_index: self.rules.index_of(rule),
            level,
            message: text(message),
            locations: [location(place_of(finding, check))],
            related_locations: Vec::new(),
            fixes: Vec::new(),
            occurrence_count: Some(1),
            partial_fingerprints: Some(SarifFingerprints { evalrig: key }),
            properties: Some(SarifCaseProperties {
                suite: finding.label.suite.clone(),
                test: finding.label.test.clone(),
                target: finding.label.target.clone(),
                outcome: finding.outcome.word(),
                score,
                stage: trouble.map(|trouble| trouble.stage.clone()),
                kind: trouble.map(|trouble| trouble.kind.clone()),
            }),
        });
    }
}

/// The types that occur, in the order of their first result.
#[derive(Debug, Default)]
struct Rules {
    list: Vec<SarifRule>,
}

impl Rules {
    fn index_of(&mut self, id: &str) -> usize {
        let known = self.list.iter().position(|rule| rule.id == id);
        known.unwrap_or_else(|| {
            self.list.push(match id {
                CASE => SarifRule {
                    id: id.to_owned().into(),
                    default_configuration: None,
                    short_description: text("A case did not pass or could not be measured"),
                    help: text("evalrig run --failed"),
                },
                id => SarifRule {
                    id: id.to_owned().into(),
                    default_configuration: None,
                    short_description: text(format!("An assertion of type `{id}` was not met")),
                    help: text(format!("evalrig explain {}", text::shell_word(id))),
                },
            });
            self.list.len() - 1
        })
    }
}

/// How much a check says about why its case did not pass; none: nothing that its members do not say.
fn level(finding: &CaseFinding, check: &CheckFinding) -> Option<&'static str> {
    let inner = format!("{} › ", check.name);
    let is_outer = finding.checks.iter().any(|other| other.name.starts_with(&inner));
    if is_outer && check.misses.total == 0 {
        return None;
    }
    let is_counted = check.weight.as_deref() != Some("0");
    match (&check.state, &check.gate, finding.outcome) {
        (CheckState::Errored(_), ..) => Some("error"),
        (CheckState::Skipped, Some(GateState::Unchecked), _) => Some("note"),
        (CheckState::Skipped, ..) => None,
        (_, Some(GateState::Missed(_)), Outcome::Failed) => Some("error"),
        // A case that was not measured has no verdict that this could explain.
        (_, _, Outcome::Errored) => Some("note"),
        _ if !is_counted => Some("note"),
        // An assertion that would have passed alone is not what failed its case. In older rows,
        // which lack the threshold, that is only certain for a full score.
        (CheckState::Scored(score), ..)
            if *score >= finding.pass_threshold.unwrap_or(1.0) - 1e-9 =>
        {
            Some("note")
        }
        (_, _, Outcome::Borderline) => Some("warning"),
        _ => Some("error"),
    }
}

/// The name of an assertion is that of its type where it has none of its own.
fn rule_of(check: &CheckFinding) -> &str {
    let own = check.name.rsplit(" › ").next().unwrap_or(&check.name);
    check.type_name.as_deref().unwrap_or(own)
}

fn place_of<'a>(finding: &'a CaseFinding, check: Option<&'a CheckFinding>) -> &'a SourceLine {
    let own = check.and_then(|check| check.place.as_ref());
    own.unwrap_or(&finding.label.place)
}

/// Without the trial, so that trials that miss alike are one result.
fn message(finding: &CaseFinding, check: Option<&CheckFinding>) -> String {
    let label = &finding.label;
    let mut text = format!("{} ({})", label.test, label.target);
    let Some(check) = check else {
        let _ = match &finding.trouble {
            Some(trouble) => write!(text, " could not be measured: {}", CaseFault::text(trouble)),
            None => write!(text, " {}{}", finding.outcome.word(), scored(finding)),
        };
        return text;
    };
    let _ = write!(text, ": {} {}", check.title(), check.sentence());
    for miss in &check.misses.shown {
        let _ = write!(text, "\n✗ {miss}");
    }
    if let more @ 1.. = check.misses.left_out() {
        let _ = write!(text, "\n… and {more} more");
    }
    if let Some(reasoning) = check.reasoning.as_ref().filter(|_| check.misses.total == 0) {
        let _ = write!(text, "\n{reasoning}");
    }
    text
}

fn scored(finding: &CaseFinding) -> String {
    let score = finding.score.map(numbers::score);
    score.map_or_else(String::new, |score| format!(", score {score}"))
}

/// The same for the same miss in another run, wherever its line has moved to.
fn fingerprint(finding: &CaseFinding, check: Option<&CheckFinding>, message: &str) -> String {
    let label = &finding.label;
    let mut digest = Sha256::new();
    let name = check.map_or("", |check| check.name.as_str());
    // An error has times and addresses in its message; a miss is a sentence of the author.
    let misses = check.map(|check| check.misses.shown.join("\n"));
    let told = misses.filter(|misses| !misses.is_empty());
    let is_alike = told.is_none() && finding.outcome != Outcome::Errored;
    let told = told.unwrap_or_else(|| {
        if is_alike {
            String::new()
        } else {
            message.chars().filter(|c| !c.is_ascii_digit()).collect()
        }
    });
    for part in [&label.place.file, &label.suite, &label.test, &label.target, name, &told] {
        digest.update(part.as_bytes());
        digest.update([0]);
    }
    hex(&digest.finalize()[..16])
}

fn location(place: &SourceLine) -> SarifLocation {
    SarifLocation {
        id: None,
        message: None,
        physical_location: SarifPhysicalLocation {
            artifact_location: SarifArtifactLocation {
                uri: uri(&place.file),
                uri_base_id: Some(REPOSITORY_ROOT),
            },
            region: SarifRegion { start_line: place.line.max(1), ..SarifRegion::default() },
        },
    }
}

fn text(text: impl Into<String>) -> SarifText {
    SarifText::new(text)
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::super::fixture::{self, Shown};
    use super::*;
    use crate::text::OutputStyle;

    fn results(rows: &[Row]) -> Vec<Value> {
        let text = Shown::of(&REPORT, OutputStyle::default()).rows(rows);
        let log: Value = serde_json::from_str(&text).unwrap();
        log["runs"][0]["results"].as_array().unwrap().clone()
    }

    #[test]
    fn trials_that_failed_are_notes_of_a_test_that_passes() {
        let levels = |trials: &str| -> Vec<Value> {
            let found = results(&fixture::by_share("pos", trials));
            found.iter().map(|result| result["level"].clone()).collect()
        };
        assert_eq!(levels("pfpf"), ["note"]);
        assert_eq!(levels("pfff"), ["error"]);
    }

    #[test]
    fn snapshot() {
        let text = Shown::of(&REPORT, OutputStyle::default()).rows(&fixture::rows());
        let log: Value = serde_json::from_str(&text).unwrap();
        let run = &log["runs"][0];
        let shown = json!({"rules": run["tool"]["driver"]["rules"], "results": run["results"]});
        insta::assert_snapshot!(serde_json::to_string_pretty(&shown).unwrap());
    }

    #[test]
    fn every_result_names_its_rule_and_a_place_below_the_root() {
        let text = Shown::of(&REPORT, OutputStyle::default()).rows(&fixture::rows());
        let log: Value = serde_json::from_str(&text).unwrap();
        let run = &log["runs"][0];
        assert!(run["originalUriBaseIds"]["SRCROOT"].is_object());
        for result in run["results"].as_array().unwrap() {
            let rule =
                &run["tool"]["driver"]["rules"][result["ruleIndex"].as_u64().unwrap() as usize];
            assert_eq!(rule["id"], result["ruleId"]);
            let place = &result["locations"][0]["physicalLocation"];
            assert_eq!(place["artifactLocation"]["uriBaseId"], "SRCROOT");
            assert_eq!(place["artifactLocation"]["uri"], "evals/support/EVAL.yaml");
            assert!(place["region"]["startLine"].as_u64().unwrap() > 0);
        }
    }

    #[test]
    fn trials_that_miss_alike_are_one_result() {
        let rows: Vec<Row> = (1..=3)
            .map(|trial| {
                let mut row = fixture::missing("a", "m");
                row.trial = trial;
                row
            })
            .collect();
        let found = results(&rows);
        assert_eq!(found.len(), 1);
        assert_eq!(found[0]["occurrenceCount"], 3);
    }

    #[test]
    fn levels_follow_the_outcome() {
        let mut borderline = fixture::missing("b", "m");
        borderline.outcome = Outcome::Borderline;
        let mut uncounted = fixture::missing("c", "m");
        uncounted.evaluator_results[0].weight = 0.into();
        let mut errored = fixture::row("d", Outcome::Errored, None);
        errored.error = Some(fixture::fault("target", "timeout", "no answer in 30 s"));
        let rows = [fixture::missing("a", "m"), borderline, uncounted, errored];
        let found = results(&rows);
        let levels: Vec<&str> = found.iter().map(|one| one["level"].as_str().unwrap()).collect();
        assert_eq!(levels, ["error", "warning", "note", "error", "error"]);
        assert_eq!(found[3]["ruleId"], "case");
        assert_eq!(found[4]["properties"]["kind"], "timeout");
        assert_eq!(found[4]["properties"]["stage"], "target");
    }

    #[test]
    fn an_assertion_that_lost_little_is_not_what_failed_the_case() {
        let mut row = fixture::missing("a", "m");
        let nearly = fixture::graded("tone", "llm-judge", 0.9);
        row.evaluator_results.push(nearly);
        let found = results(&[row]);
        assert_eq!(found[1]["ruleId"], "llm-judge");
        assert_eq!(found[1]["level"], "note");
    }

    #[test]
    fn more_than_can_be_uploaded_is_counted() {
        let rows: Vec<Row> =
            (0..KEPT + 7).map(|n| fixture::missing(&format!("t{n}"), "m")).collect();
        let text = Shown::of(&REPORT, OutputStyle::default()).rows(&rows);
        let log: Value = serde_json::from_str(&text).unwrap();
        assert_eq!(log["runs"][0]["properties"]["dropped"], 7);
    }

    #[test]
    fn paths_are_addresses() {
        assert_eq!(uri("a b/é:c.yaml"), "a%20b/%C3%A9%3Ac.yaml");
        assert_eq!(uri("/a/b"), "file:///a/b");
    }

    #[test]
    fn the_level_follows_the_threshold_of_the_suite() {
        let level = |threshold: Option<f64>| {
            let mut row = fixture::missing("a", "m");
            row.outcome = Outcome::Failed;
            row.pass_threshold = threshold;
            row.evaluator_results[0].score = Some(0.9);
            let results = results(&[row]);
            let levels: Vec<Value> = results.iter().map(|result| result["level"].clone()).collect();
            levels
        };
        // It failed the case, and one result says all there is to say.
        assert_eq!(level(Some(0.95)), ["error"]);
        assert_eq!(level(None), ["error"]);
        assert_eq!(level(Some(0.8)), ["note", "error"]);
    }
}
