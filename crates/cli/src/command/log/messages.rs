//! `log messages`: what was said in a run, for other programs and for replay.

use evalrig_core::model::{JsonStyle, Value};

use crate::context::print;
use crate::exit::Exit;
use evalrig_run::text;

use super::args::Messages;
use super::{Desk, refuse};

/// One message per line, in either format: the array is what people and programs want.
pub(super) fn run(desk: &Desk<'_>, args: &Messages) -> Result<Exit, Exit> {
    let record = desk.store.read(&args.name).map_err(refuse)?;
    let run = match args.run {
        Some(run) => run,
        None => desk.store.run_count(&record).map_err(refuse)?,
    };
    let messages = desk.store.messages(&record.name, run).map_err(refuse)?;
    print(&text::json(&array(&messages)))?;
    Ok(Exit::Well)
}

fn array(messages: &[Value]) -> String {
    if messages.is_empty() {
        return "[]\n".to_owned();
    }
    let lines = messages.iter().map(|one| one.to_json(JsonStyle::Compact));
    let lines: Vec<String> = lines.map(|line| format!("  {line}")).collect();
    format!("[\n{}\n]\n", lines.join(",\n"))
}
