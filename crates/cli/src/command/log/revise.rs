//! `log expect` and `log evaluate`: edits of a record by hand.

use evalrig_core::model::Map;
use evalrig_run::runlog::{ManualVerdict, Record, TurnSelector};
use evalrig_run::text;

use crate::error::CommandError;
use crate::exit::Exit;

use super::LogContext;
use crate::args::{Evaluate, Expect, VerdictWord};
use crate::output::{print_json, print_text};

pub(super) fn expect(log: &LogContext<'_>, args: &Expect) -> Result<Exit, CommandError> {
    let which = which(args.turn);
    let text = log.redacted(&args.text);
    let record = log.store.expect(&log.record_name(&args.name)?, which, &text);
    print_turn(log, &record?, which)
}

pub(super) fn evaluate(log: &LogContext<'_>, args: &Evaluate) -> Result<Exit, CommandError> {
    let which = which(args.turn);
    let word = match args.word {
        VerdictWord::Pass => ManualVerdict::Pass,
        VerdictWord::Fail => ManualVerdict::Fail,
    };
    let note = args.note.as_deref().map(|note| log.redacted(note));
    let name = log.record_name(&args.name)?;
    let record = log.store.evaluate(&name, which, word, note.as_deref());
    print_turn(log, &record?, which)
}

fn which(turn: Option<usize>) -> TurnSelector {
    turn.map_or(TurnSelector::Last, TurnSelector::Number)
}

fn print_turn(
    log: &LogContext<'_>,
    record: &Record,
    which: TurnSelector,
) -> Result<Exit, CommandError> {
    let turns = record.summary.turns.len();
    let number = match which {
        TurnSelector::Last => turns,
        TurnSelector::Number(number) => number,
    };
    let Some(turn) = number.checked_sub(1).and_then(|at| record.summary.turns.get(at)) else {
        return Ok(Exit::Success);
    };
    if log.is_json() {
        let mut map = Map::new();
        map.insert("schemaVersion", 1_u64);
        map.insert("name", record.name.as_str());
        map.insert("turn", number as u64);
        map.insert("expected", turn.now.expected());
        map.insert("evaluation", turn.now.evaluation());
        print_json(&log.json(map))?;
    } else if !log.context.global.quiet {
        let file = text::single_line(&log.shown(&record.file));
        print_text(&log.redacted(&format!("wrote {file}, turn {number}\n")))?;
    }
    Ok(Exit::Success)
}
