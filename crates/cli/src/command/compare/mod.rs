//! `compare`: two stored runs, what changed between them, and whether it is more than chance.

pub(super) mod cases;
pub(super) mod gate;
mod json;
mod markdown;
mod phrase;
pub(super) mod source;
mod text;

use evalrig_core::compare::{CompareOptions, ComparedCase, Comparison, Measure, compare, selftest};

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
    let options = CompareOptions {
        measure: measure(args.measure),
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
    print(&output)?;
    let exit = if args.gate {
        gate::gated(&comparison, false)
    } else {
        gate::plain(&comparison)
    };
    if exit == Exit::NothingSelected {
        complain("no test was measured in both runs");
    }
    Ok(exit)
}

fn try_gate(
    context: &Context,
    args: &Compare,
    results: &str,
    options: &CompareOptions,
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
    if found.interval.low > 0.05 {
        Ok(Exit::No)
    } else {
        Ok(Exit::Well)
    }
}
