//! Compares two runs of a record turn by turn (spec 13.7).

use super::dialogue::Dialogue;
use super::history_entry::{HistoryEntry, LoggedVerdict, RunMeta};
use super::store::{Record, Store};
use super::store_error::StoreError;
use super::summary::Turn;

#[derive(Debug, Clone, PartialEq)]
pub struct Comparison {
    pub name: String,
    /// The earlier run, then the later one.
    pub runs: [u64; 2],
    pub turns: Vec<TurnChange>,
}

/// Each pair is the earlier and the later run.
#[derive(Debug, Clone, PartialEq)]
pub struct TurnChange {
    pub input: String,
    /// `None` if neither the summary nor the run file has it.
    pub outputs: [Option<String>; 2],
    pub tools_added: Vec<String>,
    pub tools_removed: Vec<String>,
    pub evaluations: [String; 2],
    pub metas: [RunMeta; 2],
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
    /// `None` if one of the outputs is unknown.
    pub fn is_output_same(&self) -> Option<bool> {
        let [before, now] = &self.outputs;
        Some(before.as_ref()? == now.as_ref()?)
    }

    /// Passed before and does not pass now. An ungraded run is not a regression.
    pub fn has_regressed(&self) -> bool {
        let [before, now] = self.verdicts();
        before == LoggedVerdict::Pass
            && matches!(now, LoggedVerdict::Borderline | LoggedVerdict::Fail)
    }

    /// Passed before and could not be measured now.
    pub fn has_errored(&self) -> bool {
        self.verdicts() == [LoggedVerdict::Pass, LoggedVerdict::Error]
    }

    fn verdicts(&self) -> [LoggedVerdict; 2] {
        [0, 1].map(|at| LoggedVerdict::of(&self.evaluations[at]))
    }
}

impl Store {
    /// The output of a turn (from 0) in the run of an entry, from the entry or else the run file.
    pub fn output(&self, record: &Record, turn: usize, entry: &HistoryEntry) -> Option<String> {
        entry.output().map(str::to_owned).or_else(|| {
            let file = self.run_file(&record.name, entry.run()?).ok()?;
            answer_to(Some(&Dialogue::of(&file.messages)), turn)
        })
    }

    /// Compares the last two runs unless `runs` names others.
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
        // Without a readable run file, some outputs stay unknown.
        let files = runs.map(|run| self.run_file(&record.name, run).ok());
        let dialogue = files.map(|file| file.map(|file| Dialogue::of(&file.messages)));
        Ok(Comparison { turns: compare_turns(&record, runs, &dialogue), name: record.name, runs })
    }
}

fn compare_turns(
    record: &Record,
    runs: [u64; 2],
    dialogue: &[Option<Dialogue>; 2],
) -> Vec<TurnChange> {
    let turns = record.summary.turns.iter().enumerate();
    let sides = turns.map(|(at, turn)| {
        let side = |which: usize| TurnSide::of(turn, at, runs[which], dialogue[which].as_ref());
        turn_change(turn, [side(0), side(1)])
    });
    sides.collect()
}

/// What is known of one run of one turn.
#[derive(Default)]
struct TurnSide {
    output: Option<String>,
    tools: Vec<String>,
    evaluation: String,
    meta: RunMeta,
}

impl TurnSide {
    fn of(turn: &Turn, at: usize, run: u64, dialogue: Option<&Dialogue>) -> Self {
        let Some(entry) = turn.entry_of(run) else {
            return Self::default();
        };
        Self {
            output: entry.output().map(str::to_owned).or_else(|| answer_to(dialogue, at)),
            tools: tools_of(entry, at, dialogue),
            evaluation: entry.evaluation(),
            meta: entry.meta(),
        }
    }
}

/// The answer to user message `at`.
fn answer_to(dialogue: Option<&Dialogue>, at: usize) -> Option<String> {
    let dialogue = dialogue?;
    if at + 1 == dialogue.asked.len() {
        dialogue.output.clone()
    } else {
        dialogue.asked.get(at)?.reply.clone()
    }
}

fn tools_of(entry: &HistoryEntry, at: usize, dialogue: Option<&Dialogue>) -> Vec<String> {
    match dialogue {
        Some(dialogue) if !entry.has_tools_called() && at + 1 == dialogue.asked.len() => {
            dialogue.tools_called.clone()
        }
        _ => entry.tools_called().into_iter().map(str::to_owned).collect(),
    }
}

fn turn_change(turn: &Turn, sides: [TurnSide; 2]) -> TurnChange {
    let [before, now] = sides;
    TurnChange {
        input: turn.input.clone(),
        tools_added: multiset_difference(&now.tools, &before.tools),
        tools_removed: multiset_difference(&before.tools, &now.tools),
        outputs: [before.output, now.output],
        evaluations: [before.evaluation, now.evaluation],
        metas: [before.meta, now.meta],
    }
}

/// The items of `first` that are more frequent than in `second`.
fn multiset_difference(first: &[String], second: &[String]) -> Vec<String> {
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
            metas: [RunMeta::default(), RunMeta::default()],
        }
    }

    #[test]
    fn calls_are_counted() {
        let (one, two) = (texts(&["a", "b", "a"]), texts(&["a", "c"]));
        assert_eq!(multiset_difference(&one, &two), ["b", "a"]);
        assert_eq!(multiset_difference(&two, &one), ["c"]);
    }

    #[test]
    fn only_a_pass_can_regress() {
        assert!(judged("pass", "fail: x").has_regressed());
        assert!(judged("pass: fine", "borderline: x").has_regressed());
        for (before, now) in [("", "fail"), ("fail", "fail"), ("pass", ""), ("pass", "pass")] {
            assert!(!judged(before, now).has_regressed(), "{before} {now}");
        }
        assert!(judged("pass", "error: x").has_errored());
        assert!(!judged("pass", "error: x").has_regressed());
    }
}
