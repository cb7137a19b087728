//! `compare`: two stored runs, what changed between them, and whether it is more than chance.

mod json;
mod markdown;
mod phrase;
mod text;

use evalrig_core::compare::{CompareOptions, ComparedCase, Comparison, Measure, compare, selftest};

use camino::Utf8Path;
use evalrig_run::session::{LoadOptions, comparison_exit, find_results, gate_exit, read_cases};

use crate::args::{Compare, ComparisonFormat, MeasureName};
use crate::context::{Context, print_text, report_error};
use crate::exit::Exit;

use super::refusal::report_session_error;

/// What is shown, and under which names.
struct Shown<'a> {
    base: String,
    candidate: String,
    comparison: &'a Comparison,
}

pub fn run(context: &Context, args: &Compare) -> Result<Exit, Exit> {
    let options = CompareOptions {
        measure: measure(args.measure),
        margin: args.margin,
        seed: args.seed,
    };
    match (&args.selftest, &args.base, &args.candidate) {
        (Some(results), _, _) => try_gate(context, args, results, &options),
        (None, Some(base), Some(candidate)) => {
            let base = read(context, base)?;
            let candidate = read(context, candidate)?;
            show(context, args, [&base, &candidate], &options)
        }
        _ => Err(Exit::CouldNotStart),
    }
}

pub(super) fn measure(name: MeasureName) -> Measure {
    match name {
        MeasureName::Pass => Measure::Rate,
        MeasureName::Score => Measure::Score,
    }
}

fn show(
    context: &Context,
    args: &Compare,
    [base, candidate]: [&(String, Vec<ComparedCase>); 2],
    options: &CompareOptions,
) -> Result<Exit, Exit> {
    let comparison = compare(&base.1, &candidate.1, options);
    let shown = Shown {
        base: base.0.clone(),
        candidate: candidate.0.clone(),
        comparison: &comparison,
    };
    let output = match args.format {
        ComparisonFormat::Text => text::comparison(&shown, context.detail(), context.look()),
        ComparisonFormat::Json => json::comparison(&shown),
        ComparisonFormat::Markdown => markdown::comparison(&shown),
    };
    print_text(&output)?;
    let exit = Exit::from(if args.gate {
        gate_exit(&comparison, false)
    } else {
        comparison_exit(&comparison)
    });
    if exit == Exit::NothingSelected {
        report_error("no test was measured in both runs");
    }
    Ok(exit)
}

/// The results file as the user would write it, and its cases.
fn read(context: &Context, argument: &str) -> Result<(String, Vec<ComparedCase>), Exit> {
    let options = LoadOptions::new(context.working_directory.clone());
    let found = find_results(&options, argument).and_then(|path| {
        let shown = text_shown(context, &path);
        Ok((shown, read_cases(&path)?))
    });
    found.map_err(|error| report_session_error(context, error))
}

fn text_shown(context: &Context, path: &Utf8Path) -> String {
    context.shown(path).as_str().replace('\\', "/")
}

fn try_gate(
    context: &Context,
    args: &Compare,
    results: &str,
    options: &CompareOptions,
) -> Result<Exit, Exit> {
    let (name, cases) = read(context, results)?;
    let Some(found) = selftest(&cases, options) else {
        report_error("no test has two trials; run with `--trials 2` or more");
        return Err(Exit::NothingSelected);
    };
    print_text(&match args.format {
        ComparisonFormat::Text => text::selftest(&name, &found),
        ComparisonFormat::Json => json::selftest(&name, &found),
        ComparisonFormat::Markdown => markdown::selftest(&name, &found),
    })?;
    if found.interval.low > 0.05 {
        Ok(Exit::Failure)
    } else {
        Ok(Exit::Success)
    }
}
