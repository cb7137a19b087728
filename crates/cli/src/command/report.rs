//! `report`: a stored run, shown again.

use std::collections::BTreeSet;

use camino::{Utf8Path, Utf8PathBuf};
use evalrig_run::record::{ExitTally, Rows, SummaryBuilder, read_finished};
use evalrig_run::report::{RunEnd, Setting};

use crate::args::ReportRun;
use crate::command::baseline::{self, Baseline, OfSuite};
use crate::command::compare::gate;
use crate::command::grade::root_of;
use crate::command::past::Past;
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
    let mut baseline = baseline(context, args, &path, &root)?;
    let rows = Rows::open(&path).map_err(|error| unreadable(&error))?;
    let rule = rule(args.pass_trials, args.allow_borderline);
    let setting = Setting {
        style: context.look(),
        detail: context.detail(),
        text: suite_text(context, vec![root.clone()]),
        borderline: rule.borderline,
    };
    let mut reports = Reports::open(context, &args.reports.list, &setting)?;
    let mut exit = ExitTally::new(rule);
    let mut past = Past::for_reports(&reports);
    let mut suites: Vec<(String, SummaryBuilder)> = Vec::new();
    for row in rows {
        let row = row.map_err(|error| unreadable(&error))?;
        reports.row(&row);
        exit.add(&row);
        past.row(&root, &row);
        if let Some(baseline) = &mut baseline {
            baseline.row(&row);
        }
        let known = suites.iter().position(|(name, _)| *name == row.dataset);
        let at = known.unwrap_or_else(|| {
            suites.push((row.dataset.clone(), SummaryBuilder::new()));
            suites.len() - 1
        });
        suites[at].1.add(&row);
    }
    let compared = baseline.map(Baseline::compare);
    let exit = match &compared {
        Some(compared) if args.gate => gate::gated(&compared.comparison, exit.is_incomplete()),
        _ => Exit::from(exit.exit()),
    };
    let shown = context.shown(&path);
    let end = RunEnd {
        suites: suites.iter().map(|(name, _)| name.clone()).collect(),
        compare_command: compared
            .as_ref()
            .and_then(|compared| baseline::command(compared, &shown)),
        results: Some(shown),
        exit_code: Some(exit.code()),
        compared,
        is_gated: args.gate,
        history: past.read(),
        ..RunEnd::default()
    };
    let told = reports.told;
    let is_well = reports.finish(&end);
    baseline::tell(told, &end);
    if is_well {
        Ok(exit)
    } else {
        Err(Exit::CouldNotStart)
    }
}

/// Of the suites that the rows are of, what is older than they are.
fn baseline(
    context: &Context,
    args: &ReportRun,
    path: &Utf8Path,
    root: &Utf8Path,
) -> Result<Option<Baseline>, Exit> {
    if args.against.baseline.is_none() {
        return Ok(None);
    }
    let rows = read_finished(path).map_err(|error| unreadable(&error))?;
    let names: BTreeSet<&str> = rows.keys().map(|key| key.suite.as_str()).collect();
    let of_suite = |name: &str| OfSuite {
        root: root.to_owned(),
        name: name.to_owned(),
    };
    let suites: Vec<OfSuite> = names.into_iter().map(of_suite).collect();
    let own = [path.to_owned()];
    Baseline::read(context, &args.against, args.gate, &suites, &own)
}

fn unreadable(error: &dyn std::fmt::Display) -> Exit {
    complain(&error.to_string());
    Exit::CouldNotStart
}
