//! `report`: a stored run, shown again.

use camino::Utf8PathBuf;
use evalrig_run::record::{ExitTally, Rows, SummaryTally};
use evalrig_run::report::{RunEnd, Setting};

use crate::args::ReportRun;
use crate::command::grade::root_of;
use crate::command::run::rule;
use crate::context::{Context, complain};
use crate::exit::Exit;
use crate::reports::{Reports, suite_text};

pub fn run(context: &Context, args: &ReportRun) -> Result<Exit, Exit> {
    let path = context.absolute(&args.results);
    let root: Utf8PathBuf = match &args.root {
        Some(root) => context.absolute(root),
        None => root_of(&path),
    };
    let rows = Rows::open(&path).map_err(|error| unreadable(&error))?;
    let setting = Setting {
        look: context.report_look(),
        detail: context.detail(),
        text: suite_text(context, vec![root]),
    };
    let mut reports = Reports::open(context, &args.reports.list, &setting)?;
    let mut exit = ExitTally::new(rule(args.pass_trials, args.allow_borderline));
    let mut suites: Vec<(String, SummaryTally)> = Vec::new();
    for row in rows {
        let row = row.map_err(|error| unreadable(&error))?;
        reports.row(&row);
        exit.add(&row);
        let known = suites.iter().position(|(name, _)| *name == row.dataset);
        let at = known.unwrap_or_else(|| {
            suites.push((row.dataset.clone(), SummaryTally::new()));
            suites.len() - 1
        });
        suites[at].1.add(&row);
    }
    let exit = Exit::from(exit.exit());
    let end = RunEnd {
        suites: suites.iter().map(|(name, _)| name.clone()).collect(),
        results: Some(context.shown(&path)),
        exit_code: Some(exit.code()),
        ..RunEnd::default()
    };
    match reports.finish(&end) {
        true => Ok(exit),
        false => Err(Exit::CouldNotStart),
    }
}

fn unreadable(error: &dyn std::fmt::Display) -> Exit {
    complain(&error.to_string());
    Exit::CouldNotStart
}
