//! `export harbor`: writes the tests of a suite as task directories.

use std::io;

use evalrig_core::export::{Context as ExportContext, HarborTask, harbor_tasks};
use evalrig_core::read::{FoundSuite, Origin};
use evalrig_core::secrets::{Secrets, is_env_file};
use evalrig_core::source::{Files, Reach};
use evalrig_run::disk::{Access, Disk, Durability, write_named};
use evalrig_run::session::redact_names;
use evalrig_run::text::single_line;

use crate::args::ExportHarbor;
use crate::command::suite::load;
use crate::context::Context;
use crate::error::CommandError;
use crate::exit::Exit;
use crate::export_directory::ExportDirectory;
use crate::loss::Losses;
use crate::output::{print_message, print_text, print_warnings};

/// A larger file is not part of a task.
const LARGEST: u64 = 64 * 1024 * 1024;

pub fn run(context: &Context, args: &ExportHarbor) -> Result<Exit, CommandError> {
    context.check(&args.loading)?;
    let suite = FoundSuite { path: context.absolute(&args.suite), origin: Origin::Named };
    let Some(mut loaded) = load(context, &args.loading, &suite)? else {
        return Err(CommandError::not_a_suite(&args.suite));
    };
    let root = context.root(&args.loading, &suite.path);
    // Names of directories are made from them.
    redact_names(&mut loaded.suite, &loaded.secrets);
    let export = ExportContext { files: &Disk, sources: &loaded.sources, root: &root };
    let made = harbor_tasks(&loaded.suite, &export, &loaded.secrets);
    let losses = Losses {
        list: &made.losses,
        sources: &loaded.sources,
        secrets: &loaded.secrets,
        working_directory: &context.working_directory,
    };
    if args.deny_loss || !context.global.quiet {
        print_warnings(&losses.to_lines());
    }
    if let Some(file) = &args.loss_report {
        let path = context.absolute(file);
        let text = losses.to_json().map_err(io::Error::other);
        let saved = text.and_then(|text| {
            write_named(&path, text.as_bytes(), Access::Shared, Durability::Contents)
        });
        saved.map_err(|error| CommandError::cannot_write(file, &error))?;
    }
    if args.deny_loss && !made.losses.is_empty() {
        print_message("nothing was written: `--deny-loss` is set");
        return Ok(Exit::Failure);
    }
    if made.tasks.is_empty() {
        let message = "no test can be a task: none has a check on files";
        return Err(CommandError::NothingSelected(message.to_owned()));
    }
    let output = args.output.trim_end_matches('/');
    let mut directory = ExportDirectory::open(context.absolute(output), output, args.force)?;
    let policy = context.limits(&args.loading);
    for task in &made.tasks {
        write_task(&mut directory, task, policy.reach(&root), &loaded.secrets)?;
    }
    directory.finish()?;
    if !context.global.quiet {
        let noun = if made.tasks.len() == 1 { "task" } else { "tasks" };
        print_text(&format!("wrote {} ({} {noun})\n", single_line(output), made.tasks.len()))?;
    }
    Ok(Exit::Success)
}

fn write_task(
    directory: &mut ExportDirectory,
    task: &HarborTask,
    reach: Reach<'_>,
    secrets: &Secrets,
) -> Result<(), CommandError> {
    for file in &task.files {
        let text = secrets.redact(&file.text);
        directory.write(&format!("{}/{}", task.name, file.name), text.as_bytes())?;
    }
    for copy in &task.copies {
        let bytes = Disk.read(&copy.from, reach, LARGEST + 1);
        match bytes {
            _ if copy.from.file_name().is_some_and(is_env_file) => {
                print_message(&format!("`{}` is left out: it holds variables", copy.name));
            }
            Ok(bytes) if secrets.is_in(&String::from_utf8_lossy(&bytes)) => {
                print_message(&format!("`{}` is left out: it has a secret in it", copy.name));
            }
            Ok(bytes) if bytes.len() as u64 <= LARGEST => {
                directory.write(&format!("{}/{}", task.name, copy.name), &bytes)?;
            }
            Ok(_) => print_message(&format!("`{}` is left out: it is too large", copy.name)),
            Err(error) => print_message(&format!("`{}` is left out: {error}", copy.name)),
        }
    }
    Ok(())
}
