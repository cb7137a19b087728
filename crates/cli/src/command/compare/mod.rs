//! `compare`: compares a stored run with earlier ones, and tells changes from chance.

mod answers;
mod json;
mod markdown;
mod phrase;
mod text;

use evalrig_core::compare::{
    CompareOptions, ComparedCase, Comparison, Measure, compare, join_disjoint_runs, selftest,
};

use camino::{Utf8Path, Utf8PathBuf};
use evalrig_run::report::Detail;
use evalrig_run::report::comparison::{AnswerPair, AnswerPairs};
use evalrig_run::session::{
    BaseRunFiles, DEFAULT_BASELINE_RUNS, LoadOptions, comparison_exit, find_all_results, find_runs,
    gate_exit, read_answers, read_cases,
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

/// A stored run, or the runs of a base.
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
    if !args.selftest.is_empty() {
        return try_gate(context, args, &options);
    }
    let (base, candidate) = sides(args)?;
    let loading = LoadOptions::new(context.working_directory.clone());
    let files = find_all_results(&loading, &candidate)?;
    // A pattern for the base may match the candidate too.
    let default = if args.baseline.is_empty() { 1 } else { DEFAULT_BASELINE_RUNS };
    let most = args.baseline_runs.unwrap_or(default);
    let except = if args.baseline.is_empty() { &[][..] } else { &files[..] };
    let runs = find_runs(&loading, &base, most, except)?;
    if runs.is_empty() {
        let message = "no earlier run was found to compare with";
        return Err(CommandError::CouldNotStart(message.to_owned()));
    }
    let base = read(context, &runs, &base)?;
    let candidate = read(context, &[files], &candidate)?;
    show(context, args, [&base, &candidate], &options)
}

/// The arguments that name the base, and those that name the candidate.
fn sides(args: &Compare) -> Result<(Vec<String>, Vec<String>), CommandError> {
    let refused = |message: &str| Err(CommandError::CouldNotStart(message.to_owned()));
    if !args.base_files.is_empty() {
        return Ok((args.base_files.clone(), args.candidate_files.clone()));
    }
    match (&args.runs[..], &args.baseline[..]) {
        ([base @ .., last], []) if !base.is_empty() => Ok((base.to_vec(), vec![last.clone()])),
        ([candidate], baseline) if !baseline.is_empty() => {
            Ok((baseline.to_vec(), vec![candidate.clone()]))
        }
        (_, []) => refused("name two runs, or use `--selftest RESULTS`"),
        _ => refused("with `--baseline`, name one run: the later one"),
    }
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

/// Reads runs that make up one side.
fn read(
    context: &Context,
    runs: &[BaseRunFiles],
    arguments: &[String],
) -> Result<StoredSide, CommandError> {
    let options = LoadOptions::new(context.working_directory.clone());
    let mut side = StoredSide {
        name: side_name(context, runs, arguments),
        paths: runs.concat(),
        cases: Vec::new(),
        gaps: Vec::new(),
    };
    let mut number = 0;
    for files in runs {
        let mut found = read_cases(&options, files, None)?;
        if let Some(note) = found.note.as_ref().filter(|_| !context.global.quiet) {
            print_message(note);
        }
        let count = found.runs();
        found.cases.iter_mut().for_each(|case| case.run += number);
        number += count;
        side.cases.extend(found.cases);
        side.gaps.extend(found.gaps);
    }
    join_disjoint_runs(&mut side.cases);
    Ok(side)
}

/// The file, the files, or what was typed.
fn side_name(context: &Context, runs: &[BaseRunFiles], arguments: &[String]) -> String {
    let one_file = |files: &BaseRunFiles| match &files[..] {
        [file] => Some(text_shown(context, file)),
        _ => None,
    };
    match runs.iter().map(one_file).collect::<Option<Vec<String>>>() {
        Some(names) => names.join(", "),
        None => arguments.join(", "),
    }
}

fn text_shown(context: &Context, path: &Utf8Path) -> String {
    context.shown(path).as_str().replace('\\', "/")
}

fn try_gate(
    context: &Context,
    args: &Compare,
    options: &CompareOptions,
) -> Result<Exit, CommandError> {
    let loading = LoadOptions::new(context.working_directory.clone());
    let most = args.baseline_runs.unwrap_or(DEFAULT_BASELINE_RUNS);
    let runs = find_runs(&loading, &args.selftest, most, &[])?;
    let StoredSide { name, cases, gaps, .. } = read(context, &runs, &args.selftest)?;
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
