//! Writes the HTML report of a stored run, seen against earlier runs of the same tests:
//!
//! ```sh
//! cargo run -p evalrig-run --example html_report -- PAGE RESULTS [EARLIER…]
//! ```
//!
//! Earlier runs stand oldest first. The newest of them is the baseline, and each is a point of the
//! plot of pass rates. Suites are looked for in the working directory.

use std::error::Error;
use std::fs::{self, File};
use std::io::BufWriter;

use camino::{Utf8Path, Utf8PathBuf};
use evalrig_core::compare::{CompareOptions, ComparedCase, compare};
use evalrig_core::model::Outcome;
use evalrig_run::report::{
    Compared, Detail, EarlierCase, PastRuns, ReportOptions, ReportedRun, SuiteText, report_named,
};
use evalrig_run::results::{ExitRule, ReadError, Row, Rows};

fn main() -> Result<(), Box<dyn Error>> {
    let mut paths = std::env::args().skip(1).map(Utf8PathBuf::from);
    let (Some(page), Some(results)) = (paths.next(), paths.next()) else {
        return Err("give the page to write and a results file".into());
    };
    let earlier: Vec<Utf8PathBuf> = paths.collect();
    write(&page, &results, &earlier)
}

fn write(
    page: &Utf8Path,
    results: &Utf8Path,
    earlier: &[Utf8PathBuf],
) -> Result<(), Box<dyn Error>> {
    let rows = read(results)?;
    let setting = ReportOptions {
        style: evalrig_run::text::OutputStyle::default(),
        detail: Detail::Normal,
        text: SuiteText::new(suite_line),
        exit_rule: ExitRule::default(),
    };
    let kind = report_named("html").ok_or("there is no HTML report")?;
    let mut report = (kind.make)(&setting);
    let mut out = BufWriter::new(File::create(page)?);
    for row in &rows {
        report.row(row, &mut out)?;
    }
    let mut end = ReportedRun { results: Some(results.to_owned()), ..ReportedRun::default() };
    for path in earlier {
        let base = read(path)?;
        end.history.extend(past_runs(&base));
        // The last one stays.
        end.compared = Some(Compared {
            base: path.to_string(),
            base_runs: vec![vec![path.to_string()]],
            comparison: compare(&cases(&base), &cases(&rows), &CompareOptions::default()),
            earlier: base.iter().map(EarlierCase::of).collect(),
        });
    }
    end.history.extend(past_runs(&rows));
    report.finish(&end, &mut out)?;
    Ok(())
}

fn read(results: &Utf8Path) -> Result<Vec<Row>, ReadError> {
    Rows::open(results)?.collect()
}

/// The author's own line, for the case view.
fn suite_line(file: &str, line: u32) -> Option<String> {
    let text = fs::read_to_string(file).ok()?;
    let at = usize::try_from(line).ok()?.checked_sub(1)?;
    text.lines().nth(at).map(str::to_owned)
}

fn cases(rows: &[Row]) -> Vec<ComparedCase> {
    rows.iter().map(ComparedCase::from).collect()
}

/// `None` without rows.
fn past_runs(rows: &[Row]) -> Option<PastRuns> {
    let times = || rows.iter().map(|row| row.timestamp.clone());
    let count = |outcomes: &[Outcome]| {
        let fits = rows.iter().filter(|row| outcomes.contains(&row.outcome));
        fits.count() as u64
    };
    Some(PastRuns {
        first: times().min()?,
        last: times().max()?,
        passes: count(&[Outcome::Passed]),
        trials: count(&[Outcome::Passed, Outcome::Borderline, Outcome::Failed]),
    })
}
