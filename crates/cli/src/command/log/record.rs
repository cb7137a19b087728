//! `log record`: a session from standard input becomes a run, without code.

use std::collections::HashMap;
use std::io::Read;
use std::time::SystemTime;

use evalrig_core::diagnostic::Diagnostics;
use evalrig_core::model::Map;
use evalrig_core::read::repository_root;
use evalrig_core::reader::{ReadPolicy, Reader};
use evalrig_core::secrets::Secrets;
use evalrig_core::source::Sources;
use evalrig_run::disk::Disk;
use evalrig_run::runlog::{Recorded, Session, SessionFormat, local_time, read_session};

use crate::context::{Context, print_text, report_error};
use crate::exit::Exit;

use super::{LogContext, json, refuse};
use crate::args::Record;

/// Sessions are long, but not endless.
const LONGEST: u64 = 256 * 1024 * 1024;

pub(super) fn run(log: &LogContext<'_>, args: &Record) -> Result<Exit, Exit> {
    let session = read(args).map_err(|message| {
        report_error(&message);
        Exit::CouldNotStart
    })?;
    let mut new = session.into_run();
    if new.model.is_empty() {
        new.model = args.model.clone().unwrap_or_else(|| "unknown".to_owned());
    }
    if new.cwd.is_empty() {
        new.cwd = log.context.working_directory.to_string();
    }
    new.expected.clone_from(&args.expected);
    new.timestamp = local_time(SystemTime::now());
    new.redact(&secrets(log.context));
    let recorded = log.store.record(&new).map_err(refuse)?;
    for warning in &recorded.warnings {
        report_error(warning);
    }
    print_paragraph(log, &recorded)
}

fn read(args: &Record) -> Result<Session, String> {
    let mut bytes = Vec::new();
    std::io::stdin()
        .lock()
        .take(LONGEST + 1)
        .read_to_end(&mut bytes)
        .map_err(|error| format!("standard input cannot be read: {error}"))?;
    if bytes.len() as u64 > LONGEST {
        return Err("the session is larger than 256 MiB".to_owned());
    }
    let format = match args.from {
        Some(format) => format,
        None => SessionFormat::guess(&bytes).ok_or(
            "this is neither chat messages nor a session of a known agent; name its format with `--from`",
        )?,
    };
    let session = read_session(&bytes, format);
    let session = session.map_err(|reason| format!("the session cannot be read: {reason}"))?;
    match (&args.input, session.has_question()) {
        (None, true) => Ok(session),
        (Some(input), false) => Ok(session.with_question(input)),
        (Some(_), true) => {
            Err("the session says itself what was asked; leave out `--input`".to_owned())
        }
        (None, false) => {
            Err("the session does not say what was asked; say it with `--input TEXT`".to_owned())
        }
    }
}

/// Values of variables whose names say that they are secret, of `.env` files too (spec 9.5).
fn secrets(context: &Context) -> Secrets {
    let mut secrets = Secrets::default();
    for (name, value) in env_file_values(context) {
        secrets.notice(&name, &value);
    }
    for (name, value) in std::env::vars_os() {
        if let (Some(name), Some(value)) = (name.to_str(), value.to_str()) {
            secrets.notice(name, value);
        }
    }
    secrets
}

/// From here up to the repository root.
fn env_file_values(context: &Context) -> HashMap<String, String> {
    let (mut sources, mut out) = (Sources::new(), Diagnostics::new());
    let here = context.working_directory.clone();
    let root = repository_root(&Disk, &here);
    let limits = ReadPolicy::default();
    let world = context.world();
    Reader::new(world, &mut sources, &mut out, &limits, root, here).env_file_values()
}

fn print_paragraph(log: &LogContext<'_>, recorded: &Recorded) -> Result<Exit, Exit> {
    let file = log.shown(&recorded.file);
    if log.is_json() {
        let mut record = Map::new();
        record.insert("file", file);
        record.insert("run", recorded.run);
        let mut map = Map::new();
        map.insert("schemaVersion", 1_u64);
        map.insert("name", recorded.name.as_str());
        map.insert("record", record);
        print_text(&json(map))?;
    } else if !log.context.global.quiet {
        print_text(&format!(
            "recorded run {} of {} ({file})\n",
            recorded.run, recorded.name
        ))?;
    }
    Ok(Exit::Success)
}
