//! `log verify`: checks the store; exit code 1 if it has problems.

use evalrig_core::model::{Map, Value};
use evalrig_run::runlog::{RepairStatus, Verified, VerifyMode};
use evalrig_run::text;

use crate::error::CommandError;
use crate::exit::Exit;

use super::{LogContext, counted_noun};
use crate::args::Verify;
use crate::output::{print_json, print_text};

pub(super) fn run(log: &LogContext<'_>, args: &Verify) -> Result<Exit, CommandError> {
    log.check()?;
    let mode = if args.repair { VerifyMode::Repair } else { VerifyMode::Check };
    let found = log.store.verify(mode)?;
    if log.is_json() {
        print_json(&as_json(log, &found))?
    } else {
        print_text(&log.redacted(&as_text(log, &found)))?
    }
    if found.is_sound() { Ok(Exit::Success) } else { Ok(Exit::Failure) }
}

fn word(repair: RepairStatus) -> &'static str {
    match repair {
        RepairStatus::Possible => "repairable",
        RepairStatus::Done => "repaired",
        RepairStatus::Impossible => "left alone",
    }
}

fn as_json(log: &LogContext<'_>, found: &Verified) -> String {
    let problems = found.findings.iter().map(|problem| {
        let mut map = Map::new();
        map.insert("file", log.shown(&problem.path));
        map.insert("message", problem.message.as_str());
        map.insert("remedy", word(problem.repair));
        Value::Map(map)
    });
    let mut document = Map::new();
    document.insert("schemaVersion", 1_u64);
    document.insert("records", found.records as u64);
    document.insert("runs", found.runs as u64);
    document.insert("sound", found.is_sound());
    document.insert("problems", problems.collect::<Vec<Value>>());
    log.json(document)
}

fn as_text(log: &LogContext<'_>, found: &Verified) -> String {
    let mut text = String::new();
    for problem in &found.findings {
        let path = text::single_line(&log.shown(&problem.path));
        let message = text::single_line(&problem.message);
        text += &format!("{path}: {message} ({})\n", word(problem.repair));
    }
    let counts = format!(
        "{}, {}",
        counted_noun(found.records, "record"),
        counted_noun(found.runs, "run file"),
    );
    let is_repairable = |repair| repair == RepairStatus::Possible;
    let verdict = match found.findings.len() {
        0 => "no problems".to_owned(),
        count => counted_noun(count, "problem"),
    };
    text += &format!("{counts}: {verdict}\n");
    if found.findings.iter().any(|one| is_repairable(one.repair)) {
        text += "run `evalrig log verify --repair` to repair these\n";
    }
    text
}
