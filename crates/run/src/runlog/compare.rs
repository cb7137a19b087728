//! Two runs of one record, turn by turn (spec 13.7).

use super::dialogue::Dialogue;
use super::history_entry::{HistoryEntry, Judgement, Meta};
use super::store::{Record, Store};
use super::store_error::StoreError;
use super::summary::Turn;

#[derive(Debug, Clone, PartialEq)]
pub struct Comparison {
    pub name: String,
    /// Before and now.
    pub runs: [u64; 2],
    pub turns: Vec<TurnChange>,
}

/// Each pair is the run before and the run now.
#[derive(Debug, Clone, PartialEq)]
pub struct TurnChange {
    pub input: String,
    /// `None` where nobody kept it.
    pub outputs: [Option<String>; 2],
    pub tools_added: Vec<String>,
    pub tools_removed: Vec<String>,
    pub evaluations: [String; 2],
    pub metas: [Meta; 2],
}

impl Comparison {
    pub fn has_regressed(&self) -> bool {
        self.turns.iter().any(TurnChange::has_regressed)
    }

    pub fn has_errored(&self) -> bool {
        self.turns.iter().any(TurnChange::has_errored)
    }
}

impl TurnChange {
    /// `None` when one of the two is not known.
    pub fn is_output_same(&self) -> Option<bool> {
        let [before, now] = &self.outputs;
        Some(before.as_ref()? == now.as_ref()?)
    }

    /// Passed before, and does not now. Not graded is no answer.
    pub fn has_regressed(&self) -> bool {
        let [before, now] = self.judgements();
        before == Judgement::Pass && matches!(now, Judgement::Borderline | Judgement::Fail)
    }

    /// Passed before, and could not be measured now.
    pub fn has_errored(&self) -> bool {
        self.judgements() == [Judgement::Pass, Judgement::Error]
    }

    fn judgements(&self) -> [Judgement; 2] {
        [0, 1].map(|at| Judgement::of(&self.evaluations[at]))
    }
}

impl Store {
    /// What was answered to a turn (from 0) in a run: by the summary, else by the run file.
    pub fn output(&self, record: &Record, turn: usize, run: u64) -> Option<String> {
        let entry = record.summary.turns.get(turn)?.entry_of(run)?;
        entry.output().map(str::to_owned).or_else(|| {
            let file = self.run_file(&record.name, run).ok()?;
            said(Some(&Dialogue::of(&file.messages)), turn)
        })
    }

    /// Without numbers, the last two runs.
    pub fn compare(&self, name: &str, runs: Option<[u64; 2]>) -> Result<Comparison, StoreError> {
        let record = self.read(name)?;
        let mentioned = record.summary.mentioned_runs();
        let runs = match (runs, mentioned.as_slice()) {
            (Some(runs), _) => runs,
            (None, [now, before, ..]) => [*before, *now],
            (None, _) => return Err(StoreError::NotEnoughRuns { name: record.name }),
        };
        for run in runs {
            if !mentioned.contains(&run) {
                let name = record.name;
                return Err(StoreError::NoRun { name, run });
            }
        }
        // A run file that is gone, or broken, only leaves outputs unknown.
        let files = runs.map(|run| self.run_file(&record.name, run).ok());
        let spoken = files.map(|file| file.map(|file| Dialogue::of(&file.messages)));
        Ok(Comparison {
            turns: turns(&record, runs, &spoken),
            name: record.name,
            runs,
        })
    }
}

fn turns(record: &Record, runs: [u64; 2], spoken: &[Option<Dialogue>; 2]) -> Vec<TurnChange> {
    let turns = record.summary.turns.iter().enumerate();
    let sides = turns.map(|(at, turn)| {
        let side = |which: usize| Side::of(turn, at, runs[which], spoken[which].as_ref());
        change(turn, [side(0), side(1)])
    });
    sides.collect()
}

/// One run of one turn, as far as it is known.
#[derive(Default)]
struct Side {
    output: Option<String>,
    tools: Vec<String>,
    evaluation: String,
    meta: Meta,
}

impl Side {
    fn of(turn: &Turn, at: usize, run: u64, spoken: Option<&Dialogue>) -> Self {
        let Some(entry) = turn.entry_of(run) else {
            return Self::default();
        };
        Self {
            output: entry
                .output()
                .map(str::to_owned)
                .or_else(|| said(spoken, at)),
            tools: tools(entry, at, spoken),
            evaluation: entry.evaluation(),
            meta: entry.meta(),
        }
    }
}

/// The answer to the n-th user message.
fn said(spoken: Option<&Dialogue>, at: usize) -> Option<String> {
    let spoken = spoken?;
    if at + 1 == spoken.asked.len() {
        spoken.output.clone()
    } else {
        spoken.asked.get(at)?.reply.clone()
    }
}

fn tools(entry: &HistoryEntry, at: usize, spoken: Option<&Dialogue>) -> Vec<String> {
    match spoken {
        Some(spoken) if !entry.has_tools_called() && at + 1 == spoken.asked.len() => {
            spoken.tools_called.clone()
        }
        _ => entry
            .tools_called()
            .into_iter()
            .map(str::to_owned)
            .collect(),
    }
}

fn change(turn: &Turn, sides: [Side; 2]) -> TurnChange {
    let [before, now] = sides;
    TurnChange {
        input: turn.input.clone(),
        tools_added: without(&now.tools, &before.tools),
        tools_removed: without(&before.tools, &now.tools),
        outputs: [before.output, now.output],
        evaluations: [before.evaluation, now.evaluation],
        metas: [before.meta, now.meta],
    }
}

/// What is in the first list more often than in the second.
fn without(first: &[String], second: &[String]) -> Vec<String> {
    let mut left: Vec<&String> = second.iter().collect();
    let mut found = Vec::new();
    for call in first {
        match left.iter().position(|other| *other == call) {
            Some(at) => drop(left.swap_remove(at)),
            None => found.push(call.clone()),
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(items: &[&str]) -> Vec<String> {
        items.iter().map(|&item| item.to_owned()).collect()
    }

    fn judged(before: &str, now: &str) -> TurnChange {
        TurnChange {
            input: String::new(),
            outputs: [None, None],
            tools_added: Vec::new(),
            tools_removed: Vec::new(),
            evaluations: [before.to_owned(), now.to_owned()],
            metas: [Meta::default(), Meta::default()],
        }
    }

    #[test]
    fn calls_are_counted() {
        let (one, two) = (texts(&["a", "b", "a"]), texts(&["a", "c"]));
        assert_eq!(without(&one, &two), ["b", "a"]);
        assert_eq!(without(&two, &one), ["c"]);
    }

    #[test]
    fn only_a_pass_can_regress() {
        assert!(judged("pass", "fail: x").has_regressed());
        assert!(judged("pass: fine", "borderline: x").has_regressed());
        for (before, now) in [
            ("", "fail"),
            ("fail", "fail"),
            ("pass", ""),
            ("pass", "pass"),
        ] {
            assert!(!judged(before, now).has_regressed(), "{before} {now}");
        }
        assert!(judged("pass", "error: x").has_errored());
        assert!(!judged("pass", "error: x").has_regressed());
    }
}
