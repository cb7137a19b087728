//! One file per report, with its name, doc and rendering. This file holds the trait
//! and the list. A report needs only rows, comes by them one at a time, and keeps no more of them
//! than it will show.

pub mod arms;
mod case_finding;
mod check_output;
pub mod comparison;
mod disputes;
mod failure_frame;
mod failure_groups;
mod file_finding;
#[cfg(test)]
pub(crate) mod fixture;
mod gap_lines;
pub mod github;
mod held_trials;
pub mod html;
pub mod json;
pub mod jsonl;
pub mod junit;
mod kept_tally;
mod label_parts;
pub mod markdown;
mod other_runs;
mod pass_k;
mod passed_misses;
mod report_options;
mod reported_run;
mod rounds;
pub mod sarif;
pub mod sarif_log;
mod summary_block;
mod tally;
pub mod terminal;
mod test_sample;
mod test_trials;
mod total_lines;
mod xml;

use std::fmt;
use std::io::{self, Write};

use crate::results::Row;

pub use html::EarlierCase;
pub use other_runs::{Compared, PastRuns};
pub use report_options::{Detail, ReportOptions, SuiteText};
pub use reported_run::{GatedArm, ReportedRun, RunLogNews, Stopped};
pub use rounds::{ReportedRounds, look_line};

/// Hears every row once, in any order, and then the end. What it writes is complete after
/// [`Report::finish`].
pub trait Report: fmt::Debug + Send {
    fn row(&mut self, row: &Row, out: &mut dyn Write) -> io::Result<()>;
    fn finish(&mut self, end: &ReportedRun, out: &mut dyn Write) -> io::Result<()>;
}

/// A report that can be asked for by its name.
#[derive(Debug)]
pub struct ReportKind {
    pub name: &'static str,
    /// One line for `--help`.
    pub doc: &'static str,
    /// Whether it tells people what the gate decided.
    pub shows_gate: bool,
    /// Whether it shows earlier runs from the run log.
    pub shows_history: bool,
    pub make: fn(&ReportOptions) -> Box<dyn Report>,
}

/// Every report, in the order of the command line's help.
pub static REPORTS: &[&ReportKind] = &[
    &terminal::REPORT,
    &jsonl::REPORT,
    &json::REPORT,
    &junit::REPORT,
    &markdown::REPORT,
    &html::REPORT,
    &github::REPORT,
    &sarif::REPORT,
];

pub fn report_named(name: &str) -> Option<&'static ReportKind> {
    REPORTS.iter().copied().find(|report| report.name == name)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::fs;
    use std::path::Path;

    use super::comparison::testing;
    use super::fixture::{self, Shown};
    use super::*;
    use crate::results::{DamagedLine, Gaps, MissingCase};
    use crate::text::{self, OutputStyle};

    #[test]
    fn every_file_is_a_module_and_every_report_is_in_the_list() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/report");
        let list = fs::read_to_string(folder.join("mod.rs")).unwrap();
        let mut reports = 0;
        for file in fs::read_dir(&folder).unwrap() {
            let path = file.unwrap().path();
            let name = path.file_stem().unwrap().to_str().unwrap();
            if name == "mod" || path.is_dir() {
                continue;
            }
            assert!(list.contains(&format!("mod {name};")), "`{name}` is not a module");
            let text = fs::read_to_string(&path).unwrap();
            if text.contains("pub static REPORT: ReportKind") {
                let entry = format!("&{name}::REPORT,");
                assert!(list.contains(&entry), "`{name}` is not in REPORTS");
                reports += 1;
            }
        }
        assert_eq!(reports, REPORTS.len());
    }

    #[test]
    fn names_are_unique_and_docs_are_one_line() {
        let names: BTreeSet<_> = REPORTS.iter().map(|report| report.name).collect();
        assert_eq!(names.len(), REPORTS.len());
        for report in REPORTS {
            assert!(!report.doc.contains('\n') && !report.doc.ends_with('.'));
            assert_eq!(report_named(report.name).unwrap().name, report.name);
        }
    }

    /// What an agent writes must not reach the runner of a CI system as a command, nor steer a
    /// terminal, whichever report is printed there.
    #[test]
    fn no_report_lets_an_answer_give_commands() {
        let rows = fixture::hostile_rows();
        let hostile = |passes: u32| testing::trials(fixture::HOSTILE, passes);
        let mut end = ReportedRun {
            compared: Some(testing::beside(&hostile(5), &hostile(1))),
            compare_command: Some(fixture::HOSTILE.to_owned()),
            is_gated: true,
            ..ReportedRun::default()
        };
        if let Some(compared) = &mut end.compared {
            compared.base = fixture::HOSTILE.to_owned();
        }
        for report in REPORTS {
            for look in fixture::looks() {
                let text = Shown::of(report, look)
                    .end(end.clone())
                    .suite(|_, _| Some(fixture::HOSTILE.to_owned()))
                    .rows(&rows);
                assert!(!text.contains("##["), "{}: {text}", report.name);
                assert!(!text.contains("##vso["), "{}: {text}", report.name);
                let harmful = |c: char| text::is_harmful(c) && !matches!(c, '\n' | '\u{1b}');
                assert!(!text.contains(harmful), "{}: {text}", report.name);
                assert!(look.color || !text.contains('\u{1b}'), "{}", report.name);
                let commands = text.lines().filter(|line| line.trim().starts_with("::"));
                match report.name {
                    "github" => assert_eq!(commands.count(), text.lines().count()),
                    _ => assert_eq!(commands.count(), 0, "{}: {text}", report.name),
                }
            }
        }
    }

    #[test]
    fn huge_answers_stay_out_of_reports_for_people() {
        let rows = [fixture::huge_row()];
        for name in ["terminal", "junit", "markdown", "github"] {
            let text = Shown::of(report_named(name).unwrap(), OutputStyle::default()).rows(&rows);
            assert!(text.len() < 20_000, "{name}: {}", text.len());
        }
    }

    /// Each report alone must show that rows are missing.
    #[test]
    fn every_report_names_what_is_missing() {
        let missing = |test: &str| MissingCase {
            suite: "csv".to_owned(),
            file: "evals/csv/EVAL.yaml".to_owned(),
            test: test.to_owned(),
            target: Some("default".to_owned()),
            trial: 1,
        };
        let damaged = DamagedLine {
            file: "out.jsonl".into(),
            line: 7,
            reason: "its checksum is wrong".into(),
        };
        let gaps = Gaps {
            planned: 20,
            missing: vec![missing("lost-one"), missing("lost-two")],
            missing_count: 2,
            shards: vec!["2/4".to_owned()],
            damaged: vec![damaged],
            ..Gaps::default()
        };
        let end = ReportedRun { gaps, exit_code: Some(3), ..ReportedRun::default() };
        let rows = [fixture::row("a", evalrig_core::model::Outcome::Passed, Some(1.0))];
        for report in REPORTS {
            let text = Shown::of(report, OutputStyle::default()).end(end.clone()).rows(&rows);
            for part in ["lost-one", "lost-two", "2/4", "out.jsonl:7"] {
                let is_said = text.contains(part)
                    || (part == "out.jsonl:7" && text.contains("\"line\":7"))
                    || text.contains(&part.replace(':', "%3A"))
                    || text.contains(&part.replace(':', "&#58;"));
                assert!(is_said, "{} does not say {part}: {text}", report.name);
            }
            assert!(!text.contains("1 test passed"), "{}: {text}", report.name);
        }
    }

    #[test]
    fn a_run_without_rows_is_shown_too() {
        for report in REPORTS {
            let text = Shown::of(report, OutputStyle::default()).rows(&[]);
            assert!(report.name == "jsonl" || !text.is_empty(), "{}", report.name);
        }
    }
}
