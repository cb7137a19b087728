//! `log record`: records a session from standard input as a run.

use std::io::Read;
use std::time::SystemTime;

use evalrig_core::model::Map;
use evalrig_run::runlog::{Recorded, Session, SessionFormat, local_time, read_session};
use evalrig_run::text;

use crate::error::CommandError;
use crate::exit::Exit;

use super::LogContext;
use crate::args::Record;
use crate::output::{print_json, print_message, print_text};

/// Longer sessions are rejected.
const LONGEST: u64 = 256 * 1024 * 1024;

pub(super) fn run(log: &LogContext<'_>, args: &Record) -> Result<Exit, CommandError> {
    let session = read(args).map_err(CommandError::CouldNotStart)?;
    let mut new = session.into_run();
    if new.model.is_empty() {
        new.model = args.model.clone().unwrap_or_else(|| "unknown".to_owned());
    }
    if new.cwd.is_empty() {
        new.cwd = log.context.working_directory.to_string();
    }
    new.expected.clone_from(&args.expected);
    new.timestamp = local_time(SystemTime::now());
    new.redact(&log.secrets);
    let recorded = log.store.record(&new)?;
    for warning in &recorded.warnings {
        print_message(&log.redacted(warning));
    }
    print_recorded(log, &recorded)
}

fn read(args: &Record) -> Result<Session, String> {
    let mut bytes = Vec::new();
    std::io::stdin()
        .lock()
        .take(LONGEST + 1)
        .read_to_end(&mut bytes)
        .map_err(|error| format!("cannot read standard input: {error}"))?;
    if bytes.len() as u64 > LONGEST {
        return Err("the session is larger than 256 MiB".to_owned());
    }
    let format = match args.from {
        Some(format) => format,
        None => SessionFormat::guess(&bytes)
            .ok_or("the format of the session is unknown; name it with `--from FORMAT`")?,
    };
    let session = read_session(&bytes, format);
    let session = session.map_err(|reason| format!("cannot read the session: {reason}"))?;
    match (&args.input, session.has_question()) {
        (None, true) => Ok(session),
        (Some(input), false) => Ok(session.with_question(input)),
        (Some(_), true) => {
            Err("the session contains the user's message; remove `--input`".to_owned())
        }
        (None, false) => {
            Err("the session does not contain the user's message; add `--input TEXT`".to_owned())
        }
    }
}

fn print_recorded(log: &LogContext<'_>, recorded: &Recorded) -> Result<Exit, CommandError> {
    let file = log.shown(&recorded.file);
    if log.is_json() {
        let mut record = Map::new();
        record.insert("file", file);
        record.insert("run", recorded.run);
        let mut map = Map::new();
        map.insert("schemaVersion", 1_u64);
        map.insert("name", recorded.name.as_str());
        map.insert("record", record);
        print_json(&log.json(map))?;
    } else if !log.context.global.quiet {
        let (file, name) = (text::single_line(&file), text::single_line(&recorded.name));
        let text = format!("recorded run {} of {name} ({file})\n", recorded.run);
        print_text(&log.redacted(&text))?;
    }
    Ok(Exit::Success)
}
