//! `stats`: what causes variance in stored runs, and the effect of more measurements.

mod json;
mod text;

use evalrig_run::session::{LoadOptions, RunSearch, find_runs, measure_noise};
use evalrig_run::text::paint::Paint;

use crate::args::{DocumentFormat, Stats};
use crate::context::Context;
use crate::error::CommandError;
use crate::exit::Exit;
use crate::output::{print_json, print_painted};

use super::compare::measure;

pub fn run(context: &Context, args: &Stats) -> Result<Exit, CommandError> {
    let loading = LoadOptions::new(context.working_directory.clone());
    let mut runs = find_runs(&loading, &args.results, &RunSearch::any(args.runs))?.runs;
    runs.truncate(args.runs);
    if runs.is_empty() {
        return Err(CommandError::CouldNotStart("no run was found".to_owned()));
    }
    let report = measure_noise(&loading, &runs, measure(args.measure))?;
    match args.format {
        DocumentFormat::Json => print_json(&json::report(&report, args.measure))?,
        DocumentFormat::Text => {
            let paint = Paint::new(context.look());
            print_painted(&text::report(&report, args.measure, &paint))?;
        }
    }
    Ok(if report.gaps.is_empty() { Exit::Success } else { Exit::Incomplete })
}
