//! `log expect` and `log evaluate`: what people add to a record.

use evalrig_core::model::Map;
use evalrig_run::runlog::{Record, Which, Word};

use crate::context::print;
use crate::exit::Exit;

use super::args::{Evaluate, Expect, WordName};
use super::{Desk, json, refuse};

pub(super) fn expect(desk: &Desk<'_>, args: &Expect) -> Result<Exit, Exit> {
    let which = which(args.turn);
    let record = desk.store.expect(&args.name, which, &args.text);
    tell(desk, &record.map_err(refuse)?, which)
}

pub(super) fn evaluate(desk: &Desk<'_>, args: &Evaluate) -> Result<Exit, Exit> {
    let which = which(args.turn);
    let word = match args.word {
        WordName::Pass => Word::Pass,
        WordName::Fail => Word::Fail,
    };
    let note = args.note.as_deref();
    let record = desk.store.evaluate(&args.name, which, word, note);
    tell(desk, &record.map_err(refuse)?, which)
}

fn which(turn: Option<usize>) -> Which {
    turn.map_or(Which::Last, Which::Number)
}

fn tell(desk: &Desk<'_>, record: &Record, which: Which) -> Result<Exit, Exit> {
    let turns = record.summary.turns.len();
    let number = match which {
        Which::Last => turns,
        Which::Number(number) => number,
    };
    let Some(turn) = number
        .checked_sub(1)
        .and_then(|at| record.summary.turns.get(at))
    else {
        return Ok(Exit::Well);
    };
    if desk.is_json() {
        let mut map = Map::new();
        map.insert("schemaVersion", 1_u64);
        map.insert("name", record.name.as_str());
        map.insert("turn", number as u64);
        map.insert("expected", turn.now.expected());
        map.insert("evaluation", turn.now.evaluation());
        print(&json(map))?;
    } else if !desk.context.global.quiet {
        print(&format!(
            "wrote {}, turn {number}\n",
            desk.shown(&record.file)
        ))?;
    }
    Ok(Exit::Well)
}
