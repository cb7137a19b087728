//! `convert` from the folders of skill-creator: each iteration becomes a results file.

use std::sync::Arc;

use camino::{Utf8Path, Utf8PathBuf};
use evalrig_core::secrets::Secrets;
use evalrig_core::source::{EntryKind, Files};
use evalrig_run::disk::Disk;
use evalrig_run::results::{Completion, Existing, ResultsPaths, ResultsWriter, WriteError};
use evalrig_run::session::known_secrets;
use evalrig_run::skill_creator::{SkillHistory, read_history};
use evalrig_run::text::single_line;

use crate::args::Convert;
use crate::context::Context;
use crate::error::CommandError;
use crate::exit::Exit;
use crate::output::print_text;

const ENDING: &str = "jsonl";

pub(super) fn run(
    context: &Context,
    args: &Convert,
    path: &Utf8Path,
) -> Result<Exit, CommandError> {
    let root = context.root(&args.loading, &context.working_directory.join("EVAL.yaml"));
    let found = read_history(path, &root);
    let found = found.map_err(|error| CommandError::CouldNotStart(error.to_string()))?;
    let places = places(context, args, &found).map_err(CommandError::CouldNotStart)?;
    let secrets = known_secrets(&context.load_options(&args.loading), &context.working_directory);
    let secrets = Arc::new(secrets);
    for (history, (place, shown)) in found.into_iter().zip(places) {
        let (name, runs) = (history.header.suites[0].name.clone(), history.rows.len());
        write(history, &place, &shown, args.force, &secrets)?;
        if !context.global.quiet {
            let noun = if runs == 1 { "run" } else { "runs" };
            let (shown, name) = (single_line(&shown), single_line(&secrets.redact(&name)));
            print_text(&format!("wrote {shown} ({name}, {runs} {noun})\n"))?;
        }
    }
    Ok(Exit::Success)
}

/// The file of each iteration, and how it is shown.
fn places(
    context: &Context,
    args: &Convert,
    found: &[SkillHistory],
) -> Result<Vec<(Utf8PathBuf, String)>, String> {
    let Some(output) = args.output.as_deref().filter(|output| *output != "-") else {
        return Err("results of skill-creator become a results file; use `-o FILE.jsonl`".into());
    };
    let path = context.absolute(output);
    let is_directory = output.ends_with('/') || Disk.kind(&path) == Some(EntryKind::Directory);
    if !is_directory && path.extension() == Some(ENDING) {
        return match found {
            [_] => Ok(vec![(path, output.to_owned())]),
            _ => Err(format!(
                "`{}` has {} iterations, each of which becomes a results file; use `-o DIR/`",
                args.file,
                found.len()
            )),
        };
    }
    if !is_directory {
        return Err(format!("`{output}` must end in .{ENDING}, or in / for a directory"));
    }
    let output = output.trim_end_matches('/');
    let named = found.iter().map(|one| {
        let name = format!("{}.{ENDING}", one.name);
        (path.join(&name), format!("{output}/{name}"))
    });
    Ok(named.collect())
}

fn write(
    history: SkillHistory,
    place: &Utf8Path,
    shown: &str,
    force: bool,
    secrets: &Arc<Secrets>,
) -> Result<(), CommandError> {
    let refused = |error: WriteError| match error {
        WriteError::Exists { .. } => CommandError::CouldNotStart(super::exists(shown)),
        error => CommandError::CouldNotStart(error.to_string()),
    };
    let paths =
        ResultsPaths::at(place).map_err(|error| CommandError::cannot_write(shown, &error))?;
    let existing = if force { Existing::Replace } else { Existing::Refuse };
    let writer = ResultsWriter::create(paths, existing, &history.header, Arc::clone(secrets));
    let writer = writer.map_err(refused)?;
    for row in history.rows {
        let (_, receipt) = writer.write_row(row);
        receipt.wait().map_err(refused)?;
    }
    writer.finish(Completion::Complete).map_err(refused)?;
    Ok(())
}
