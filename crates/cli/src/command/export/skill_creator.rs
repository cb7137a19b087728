//! `export skill-creator`: writes stored results as an iteration of skill-creator.

use std::sync::Arc;

use camino::Utf8PathBuf;
use evalrig_core::secrets::Secrets;
use evalrig_run::results::{ReadError, Rows};
use evalrig_run::session::{LoadOptions, SessionError, find_all_results, known_secrets_and_logins};
use evalrig_run::skill_creator::{ExportedContent, ExportedRun, SkillCreatorExport, read_output};
use evalrig_run::text::single_line;

use crate::args::ExportSkillCreator;
use crate::context::Context;
use crate::error::CommandError;
use crate::exit::Exit;
use crate::export_directory::ExportDirectory;
use crate::output::{print_message, print_text};

pub fn run(context: &Context, args: &ExportSkillCreator) -> Result<Exit, CommandError> {
    let loading = LoadOptions {
        root: args.root.as_ref().map(|root| context.absolute(root)),
        ..LoadOptions::new(context.working_directory.clone())
    };
    let results = find_all_results(&loading, &args.results)?;
    let first = results.first().and_then(|path| path.parent());
    let secrets = known_secrets_and_logins(&loading, first.unwrap_or(&context.working_directory));
    let secrets = Arc::new(secrets);
    let open = || Rows::open_all(&results).map(|rows| rows.redacting(Arc::clone(&secrets)));
    let mut export = SkillCreatorExport::new(temporary_directories());
    let mut count = 0;
    for row in open().map_err(unreadable)? {
        export.survey(&row.map_err(unreadable)?);
        count += 1;
    }
    if count == 0 {
        let message = "the results have no rows, so there is nothing to export";
        return Err(CommandError::NothingSelected(message.to_owned()));
    }
    let output = args.output.trim_end_matches('/');
    let mut directory = ExportDirectory::open(context.absolute(output), output, args.force)?;
    let mut rows = open().map_err(unreadable)?;
    let mut notes = 0;
    for row in rows.by_ref() {
        let made = export.run(&row.map_err(unreadable)?);
        notes += made.notes.len();
        write_run(&mut directory, made, &secrets)?;
    }
    let gaps = rows.gaps_shown(None, |path| context.shown(path)).sentences();
    let (runs, evals) = (export.run_count(), export.eval_count());
    let left_out = count - runs;
    let uncompared = export.uncompared_count();
    for file in export.finish(&gaps) {
        if let ExportedContent::Text(text) = &file.content {
            directory.write(&file.name, text.as_bytes())?;
        }
    }
    directory.finish()?;
    for gap in &gaps {
        print_message(gap);
    }
    if !context.global.quiet {
        print_summary(output, [evals, runs, left_out, notes])?;
        if uncompared > 0 {
            let noun = if uncompared == 1 { "eval is" } else { "evals are" };
            print_message(&format!("{uncompared} {noun} not compared; benchmark.json says why"));
        }
    }
    Ok(if gaps.is_empty() { Exit::Success } else { Exit::Incomplete })
}

fn unreadable(error: ReadError) -> CommandError {
    SessionError::from(error).into()
}

/// Where workspaces are kept.
fn temporary_directories() -> Vec<Utf8PathBuf> {
    let directory = Utf8PathBuf::from_path_buf(std::env::temp_dir()).ok();
    directory.and_then(|path| path.canonicalize_utf8().ok()).into_iter().collect()
}

fn write_run(
    directory: &mut ExportDirectory,
    run: ExportedRun,
    secrets: &Secrets,
) -> Result<(), CommandError> {
    for file in run.files {
        let bytes = match &file.content {
            ExportedContent::Text(text) => text.clone().into_bytes(),
            ExportedContent::Copy(source) => match read_output(source) {
                Ok(bytes) => redacted(bytes, secrets),
                Err(error) => {
                    print_message(&format!("`{}` is left out: {error}", file.name));
                    continue;
                }
            },
        };
        directory.write(&file.name, &bytes)?;
    }
    Ok(())
}

/// Files of agents are not redacted when they are made.
fn redacted(bytes: Vec<u8>, secrets: &Secrets) -> Vec<u8> {
    match String::from_utf8(bytes) {
        Ok(text) if secrets.is_in(&text) => secrets.redact(&text).into_bytes(),
        Ok(text) => text.into_bytes(),
        Err(binary) => binary.into_bytes(),
    }
}

fn print_summary(
    output: &str,
    [evals, runs, left_out, notes]: [usize; 4],
) -> Result<(), CommandError> {
    let plural = |count: usize, noun: &str| match count {
        1 => format!("1 {noun}"),
        count => format!("{count} {noun}s"),
    };
    let (evals, runs) = (plural(evals, "eval"), plural(runs, "run"));
    print_text(&format!("wrote {} ({evals}, {runs})\n", single_line(output)))?;
    if left_out > 0 {
        let cases = plural(left_out, "case");
        print_message(&format!("{cases} without an answer left out; benchmark.json says why"));
    }
    if notes > 0 {
        let notes = plural(notes, "note");
        print_message(&format!("{notes} about files and checks in the grading.json of their runs"));
    }
    Ok(())
}
