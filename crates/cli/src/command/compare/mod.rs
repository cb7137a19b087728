//! `compare`: two stored runs, what changed between them, and whether it is more than chance.

mod json;
mod markdown;
mod phrase;
mod source;
mod text;

use evalrig_core::compare::{
    Case, Change, Comparison, Measure, Options, Verdict, compare, selftest,
};

use crate::args::{Compare, ComparisonFormat, MeasureName};
use crate::context::{Context, complain, print};
use crate::exit::Exit;

/// What is shown, and under which names.
struct Shown<'a> {
    base: String,
    candidate: String,
    comparison: &'a Comparison,
}

pub fn run(context: &Context, args: &Compare) -> Result<Exit, Exit> {
    let options = Options {
        measure: match args.measure {
            MeasureName::Pass => Measure::Rate,
            MeasureName::Score => Measure::Score,
        },
        margin: args.margin,
        seed: args.seed,
    };
    match (&args.selftest, &args.base, &args.candidate) {
        (Some(results), _, _) => try_gate(context, args, results, &options),
        (None, Some(base), Some(candidate)) => {
            let base = source::read(context, base)?;
            let candidate = source::read(context, candidate)?;
            show(context, args, [&base, &candidate], &options)
        }
        _ => Err(Exit::CouldNotStart),
    }
}

fn show(
    context: &Context,
    args: &Compare,
    [base, candidate]: [&(String, Vec<Case>); 2],
    options: &Options,
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
    print(&output)?;
    let exit = exit_of(&comparison, args.gate);
    if exit == Exit::NothingSelected {
        complain("no test was measured in both runs");
    }
    Ok(exit)
}

/// Without a gate every regression counts (`FORMAT.md` 13.7); a gate asks only whether the whole
/// is worse by more than chance. What could not be measured leaves both open.
fn exit_of(comparison: &Comparison, is_gate: bool) -> Exit {
    let verdict = comparison.suite.map(|suite| suite.judged.verdict);
    let has_regressed = !is_gate && comparison.count(Change::Regressed) > 0;
    let is_open = is_gate && verdict == Some(Verdict::Inconclusive);
    if verdict == Some(Verdict::Worse) || has_regressed {
        Exit::No
    } else if is_open || comparison.is_incomplete() {
        Exit::Incomplete
    } else if verdict.is_none() {
        Exit::NothingSelected
    } else {
        Exit::Well
    }
}

fn try_gate(
    context: &Context,
    args: &Compare,
    results: &str,
    options: &Options,
) -> Result<Exit, Exit> {
    let (name, cases) = source::read(context, results)?;
    let Some(found) = selftest(&cases, options) else {
        complain("no test has two trials; run with `--trials 2` or more");
        return Err(Exit::NothingSelected);
    };
    print(&match args.format {
        ComparisonFormat::Text => text::selftest(&name, &found),
        ComparisonFormat::Json => json::selftest(&name, &found),
        ComparisonFormat::Markdown => markdown::selftest(&name, &found),
    })?;
    match found.interval.low > 0.05 {
        true => Ok(Exit::No),
        false => Ok(Exit::Well),
    }
}
