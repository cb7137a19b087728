//! `log messages`: prints the messages of a run, for other programs and for replay.

use evalrig_core::model::{JsonStyle, Value};

use crate::error::CommandError;
use crate::exit::Exit;

use super::LogContext;
use crate::args::Messages;
use crate::output::print_json;

/// Prints an array with one message per line, whatever the format.
pub(super) fn run(log: &LogContext<'_>, args: &Messages) -> Result<Exit, CommandError> {
    let record = log.store.read(&log.record_name(&args.name)?)?;
    let run = match args.run {
        Some(run) => run,
        None => log.store.run_count(&record)?,
    };
    let mut messages = log.store.messages(&record.name, run)?;
    messages.iter_mut().for_each(|message| log.secrets.redact_data(message));
    print_json(&array(&messages))?;
    Ok(Exit::Success)
}

fn array(messages: &[Value]) -> String {
    if messages.is_empty() {
        return "[]\n".to_owned();
    }
    let lines = messages.iter().map(|one| one.to_json(JsonStyle::Compact));
    let lines: Vec<String> = lines.map(|line| format!("  {line}")).collect();
    format!("[\n{}\n]\n", lines.join(",\n"))
}
