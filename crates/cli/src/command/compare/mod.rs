//! `compare`: compares a stored run with earlier ones, and tells changes from chance.

mod answers;
mod json;
mod markdown;
mod phrase;
mod text;

use std::collections::BTreeSet;

use evalrig_core::compare::{
    CompareOptions, ComparedCase, Comparison, Measure, join_disjoint_runs, selftest, take_arms,
};

use camino::{Utf8Path, Utf8PathBuf};
use evalrig_run::report::comparison::{AnswerPair, AnswerPairs};
use evalrig_run::report::{Detail, ReportedRounds};
use evalrig_run::results::header_of_file;
use evalrig_run::session::{
    BaseRunFiles, DEFAULT_BASELINE_RUNS, FoundRuns, LoadOptions, RunSearch, StoredCases,
    StoredRounds, are_same_results, compare_stored, comparison_exit, find_all_results, find_runs,
    gate_exit, read_answers, read_cases, split_sides,
};
use evalrig_run::text::{paint::Paint, single_line};

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
    /// How the candidate's rounds went.
    rounds: Option<ReportedRounds>,
    /// Whether both sides are the same results.
    is_same: bool,
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
    /// If it is one run in rounds.
    rounds: Option<StoredRounds>,
}

/// Of rounds, a base keeps the trials that were looked at; a candidate is looked at again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum SideRole {
    Base,
    Candidate,
}

pub fn run(context: &Context, args: &Compare) -> Result<Exit, CommandError> {
    let options =
        CompareOptions { measure: measure(args.measure), margin: args.margin, seed: args.seed };
    if !args.selftest.is_empty() {
        return try_gate(context, args, &options);
    }
    let loading = LoadOptions::new(context.working_directory.clone());
    let (base, candidate) = sides(args, &loading)?;
    let files = find_all_results(&loading, &candidate)?;
    // A pattern for the base may match the candidate too.
    let default = if args.baseline.is_empty() { 1 } else { DEFAULT_BASELINE_RUNS };
    let most = args.baseline_runs.unwrap_or(default);
    let search = RunSearch {
        most,
        candidate: &files,
        takes_candidate: args.baseline.is_empty(),
        skips_rejected: args.gate || !args.baseline.is_empty(),
    };
    let FoundRuns { runs, skipped } = find_runs(&loading, &base, &search)?;
    if runs.is_empty() {
        let message = "no earlier run was found to compare with";
        return Err(CommandError::CouldNotStart(message.to_owned()));
    }
    if let Some(text) = skipped.notice().filter(|_| !context.global.quiet) {
        print_message(&text);
    }
    let sides = [runs, vec![files]];
    let mut found = read_cases(&loading, &sides.concat())?;
    let of_candidate = found.split_off(sides[0].len());
    let mut base = side(context, &sides[0], found, &base, SideRole::Base);
    let mut candidate = side(context, &sides[1], of_candidate, &candidate, SideRole::Candidate);
    if !args.arms.is_empty() {
        check_arms(&args.arms, &candidate.cases)?;
        for side in [&mut base, &mut candidate] {
            take_arms(&mut side.cases, &args.arms);
        }
    }
    show(context, args, [&base, &candidate], &options)
}

/// The arguments that name the base, and those that name the candidate.
fn sides(
    args: &Compare,
    loading: &LoadOptions,
) -> Result<(Vec<String>, Vec<String>), CommandError> {
    let refused = |message: &str| Err(CommandError::CouldNotStart(message.to_owned()));
    if !args.base_files.is_empty() {
        return Ok((args.base_files.clone(), args.candidate_files.clone()));
    }
    match (&args.runs[..], &args.baseline[..]) {
        ([_, _, ..], []) => Ok(split_sides(loading, &args.runs)),
        ([candidate], baseline) if !baseline.is_empty() => {
            Ok((baseline.to_vec(), vec![candidate.clone()]))
        }
        (_, []) => refused("name two runs, or use `--selftest RESULTS`"),
        _ => refused("with `--baseline`, name one run: the later one"),
    }
}

fn check_arms(names: &[String], cases: &[ComparedCase]) -> Result<(), CommandError> {
    let found: BTreeSet<&str> =
        cases.iter().filter_map(|case| Some(case.arm.as_ref()?.name.as_str())).collect();
    let Some(unknown) = names.iter().find(|name| !found.contains(name.as_str())) else {
        return Ok(());
    };
    let known = if found.is_empty() {
        "it has no arms".to_owned()
    } else {
        format!("it has {}", found.into_iter().collect::<Vec<_>>().join(", "))
    };
    let message = format!("--arm: the candidate has no arm `{unknown}`; {known}");
    Err(CommandError::CouldNotStart(single_line(&message)))
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
    let rounds = candidate.rounds.as_ref();
    let (comparison, note) = compare_stored(&base.cases, &candidate.cases, rounds, options);
    if let Some(note) = note.filter(|_| !context.global.quiet) {
        print_message(&note);
    }
    let gaps = |side: &StoredSide, name: &str| -> Vec<String> {
        side.gaps.iter().map(|text| format!("{name}: {text}")).collect()
    };
    let shown = Shown {
        base: base.name.clone(),
        candidate: candidate.name.clone(),
        comparison: &comparison,
        gaps: [gaps(base, "base"), gaps(candidate, "candidate")].concat(),
        rounds: candidate.rounds.clone().map(ReportedRounds::from),
        is_same: are_same_results(&base.paths, &candidate.paths),
        answers: match args.format {
            ComparisonFormat::Text if context.detail() != Detail::Quiet => {
                let wanted = answers::wanted(&comparison, context.detail());
                let pairs = AnswerPairs::of(&comparison, wanted).only_arms(&args.arms);
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

/// The runs that make up one side.
fn side(
    context: &Context,
    runs: &[BaseRunFiles],
    found: Vec<StoredCases>,
    arguments: &[String],
    role: SideRole,
) -> StoredSide {
    let mut side = StoredSide {
        name: side_name(context, runs, arguments),
        paths: runs.concat(),
        cases: Vec::new(),
        gaps: Vec::new(),
        rounds: None,
    };
    let mut number = 0;
    for mut found in found {
        if let Some(note) = found.note.as_ref().filter(|_| !context.global.quiet) {
            print_message(note);
        }
        let count = found.runs();
        if role == SideRole::Candidate && count > 1 && !context.global.quiet {
            print_message(&format!(
                "the candidate holds {count} runs; the last row of each case counts"
            ));
        }
        if let (SideRole::Base, Some(rounds)) = (role, &found.rounds) {
            found.cases = rounds.seen(&found.cases);
        }
        side.rounds = found.rounds.take();
        found.cases.iter_mut().for_each(|case| case.run += number);
        number += count;
        side.cases.extend(found.cases);
        side.gaps.extend(found.gaps);
    }
    join_disjoint_runs(&mut side.cases);
    side
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
    let mut runs = find_runs(&loading, &args.selftest, &RunSearch::any(most))?.runs;
    // The newest run, which comes last, says what the tests mean now.
    runs.sort_by_cached_key(|files| {
        files.iter().filter_map(|file| header_of_file(file)).map(|header| header.timestamp).max()
    });
    let found = read_cases(&loading, &runs)?;
    let StoredSide { name, cases, gaps, .. } =
        side(context, &runs, found, &args.selftest, SideRole::Base);
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
