//! `compare`: compares two stored runs, and tells changes from chance.

mod answers;
mod json;
mod markdown;
mod phrase;
mod text;

use evalrig_core::compare::{CompareOptions, ComparedCase, Comparison, Measure, compare, selftest};

use camino::{Utf8Path, Utf8PathBuf};
use evalrig_run::report::Detail;
use evalrig_run::report::comparison::{AnswerPair, AnswerPairs};
use evalrig_run::session::{
    LoadOptions, comparison_exit, find_all_results, gate_exit, read_answers, read_cases,
};
use evalrig_run::text::paint::Paint;

use crate::args::{Compare, ComparisonFormat, MeasureOption};
use crate::context::Context;
use crate::error::CommandError;
use crate::exit::Exit;
use crate::output::{print_json, print_message, print_painted, print_text};

/// A comparison and the names of its runs.
struct Shown<'a> {
    base: String,
    candidate: String,
    comparison: &'a Comparison,
    /// What the runs lack, with their names.
    gaps: Vec<String>,
    /// Of tests that regressed; only for people.
    answers: Vec<AnswerPair>,
}

/// A stored run.
struct StoredSide {
    /// Its files, as they are shown.
    name: String,
    paths: Vec<Utf8PathBuf>,
    cases: Vec<ComparedCase>,
    gaps: Vec<String>,
}

pub fn run(context: &Context, args: &Compare) -> Result<Exit, CommandError> {
    let options =
        CompareOptions { measure: measure(args.measure), margin: args.margin, seed: args.seed };
    if let Some(results) = &args.selftest {
        return try_gate(context, args, results, &options);
    }
    let side = |one: &Option<String>, files: &[String]| -> Vec<String> {
        one.iter().chain(files).cloned().collect()
    };
    let base = read(context, &side(&args.base, &args.base_files))?;
    let candidate = read(context, &side(&args.candidate, &args.candidate_files))?;
    show(context, args, [&base, &candidate], &options)
}

pub(super) fn measure(name: MeasureOption) -> Measure {
    match name {
        MeasureOption::Pass => Measure::Rate,
        MeasureOption::Score => Measure::Score,
    }
}

fn show(
    context: &Context,
    args: &Compare,
    [base, candidate]: [&StoredSide; 2],
    options: &CompareOptions,
) -> Result<Exit, CommandError> {
    let comparison = compare(&base.cases, &candidate.cases, options);
    let gaps = |side: &StoredSide, name: &str| -> Vec<String> {
        side.gaps.iter().map(|text| format!("{name}: {text}")).collect()
    };
    let shown = Shown {
        base: base.name.clone(),
        candidate: candidate.name.clone(),
        comparison: &comparison,
        gaps: [gaps(base, "base"), gaps(candidate, "candidate")].concat(),
        answers: match args.format {
            ComparisonFormat::Text if context.detail() != Detail::Quiet => {
                let wanted = answers::wanted(&comparison, context.detail());
                let pairs = AnswerPairs::of(&comparison, wanted);
                let loading = LoadOptions::new(context.working_directory.clone());
                read_answers(&loading, &base.paths, &candidate.paths, pairs)?
            }
            _ => Vec::new(),
        },
    };
    let is_incomplete = !shown.gaps.is_empty();
    match args.format {
        ComparisonFormat::Text => {
            print_painted(&text::comparison(&shown, context.detail(), &Paint::new(context.look())))?
        }
        ComparisonFormat::Json => print_json(&json::comparison(&shown))?,
        ComparisonFormat::Markdown => print_text(&markdown::comparison(&shown))?,
    }
    let exit = Exit::from(if args.gate {
        gate_exit(&comparison, is_incomplete)
    } else {
        comparison_exit(&comparison)
    });
    let exit = match exit {
        Exit::Success | Exit::NothingSelected if is_incomplete => Exit::Incomplete,
        exit => exit,
    };
    if exit == Exit::NothingSelected {
        let message = "no test was measured in both runs".to_owned();
        return Err(CommandError::NothingSelected(message));
    }
    Ok(exit)
}

/// Reads the run that the arguments name together.
fn read(context: &Context, arguments: &[String]) -> Result<StoredSide, CommandError> {
    if arguments.is_empty() {
        let message = "name two runs, or use `--selftest RESULTS`";
        return Err(CommandError::CouldNotStart(message.to_owned()));
    }
    let options = LoadOptions::new(context.working_directory.clone());
    let paths = find_all_results(&options, arguments)?;
    let found = read_cases(&options, &paths, None)?;
    if let Some(note) = found.note.filter(|_| !context.global.quiet) {
        print_message(&note);
    }
    let name = match &paths[..] {
        [path] => text_shown(context, path),
        _ => arguments.join(", "),
    };
    Ok(StoredSide { name, paths, cases: found.cases, gaps: found.gaps })
}

fn text_shown(context: &Context, path: &Utf8Path) -> String {
    context.shown(path).as_str().replace('\\', "/")
}

fn try_gate(
    context: &Context,
    args: &Compare,
    results: &str,
    options: &CompareOptions,
) -> Result<Exit, CommandError> {
    let StoredSide { name, cases, gaps, .. } = read(context, &[results.to_owned()])?;
    let Some(found) = selftest(&cases, options) else {
        return Err(CommandError::NothingSelected(
            "no test has two trials; run with `--trials 2` or more".to_owned(),
        ));
    };
    match args.format {
        ComparisonFormat::Text => print_text(&text::selftest(&name, &found))?,
        ComparisonFormat::Json => print_json(&json::selftest(&name, &found))?,
        ComparisonFormat::Markdown => print_text(&markdown::selftest(&name, &found))?,
    }
    gaps.iter().for_each(|text| print_message(text));
    Ok(if found.interval.low > 0.05 {
        Exit::Failure
    } else if gaps.is_empty() {
        Exit::Success
    } else {
        Exit::Incomplete
    })
}
