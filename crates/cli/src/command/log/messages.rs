//! `log messages`: what was said in a run, for other programs and for replay.

use evalrig_core::model::{JsonStyle, Value};

use crate::context::print_text;
use crate::exit::Exit;
use evalrig_run::text;

use super::{LogContext, refuse};
use crate::args::Messages;

/// One message per line, in either format: the array is what people and programs want.
pub(super) fn run(log: &LogContext<'_>, args: &Messages) -> Result<Exit, Exit> {
    let record = log.store.read(&args.name).map_err(refuse)?;
    let run = match args.run {
        Some(run) => run,
        None => log.store.run_count(&record).map_err(refuse)?,
    };
    let messages = log.store.messages(&record.name, run).map_err(refuse)?;
    print_text(&text::json(&array(&messages)))?;
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
