//! Answers to damage, for the unit tests of this room.

use crate::model::{Call, FileChanges, Map, Test, TestId, Transcript, Value};
use crate::source::{Sources, Span};

use super::mutant::{Mutant, MutationKind};
use super::original::{Original, OtherAnswer};

fn test() -> Test {
    let source = Sources::new().add_file("/p/EVAL.yaml".into(), String::new(), 0);
    Test::blank(TestId::new("a").unwrap(), 0, Span::new(source, 0, 0))
}

fn of<T>(transcript: &Transcript, others: &[OtherAnswer], then: impl Fn(&Original<'_>) -> T) -> T {
    let test = test();
    then(&Original { test: &test, transcript, others, seed: 1 })
}

pub(super) fn answered<T>(text: &str, then: impl Fn(&Original<'_>) -> T) -> T {
    of(&Transcript::of_text(text), &[], then)
}

/// The answers that a kind makes of an answer, without those that say the same.
pub(super) fn answers(kind: &'static MutationKind, text: &str) -> Vec<String> {
    answers_among(kind, text, &[])
}

pub(super) fn answers_among(
    kind: &'static MutationKind,
    text: &str,
    others: &[(&str, &str)],
) -> Vec<String> {
    let others: Vec<OtherAnswer> = others
        .iter()
        .map(|(test, answer)| OtherAnswer { test: (*test).into(), answer: (*answer).into() })
        .collect();
    of(&Transcript::of_text(text), &others, |original| {
        let made = (kind.make)(original);
        let made = made.into_iter().filter(|one| !original.says_the_same(one));
        made.map(|one| one.transcript.answer).collect()
    })
}

/// Calls of these tools with a query; `bare` has no arguments.
pub(super) fn called(tools: &[&str], make: fn(&Original<'_>) -> Vec<Mutant>) -> Vec<Mutant> {
    let call = |(at, tool): (usize, &&str)| {
        let args = match *tool {
            "bare" => Map::new(),
            _ => Map::new().with("query", "weather"),
        };
        Call::new(at.to_string(), *tool, Value::Map(args))
    };
    let mut transcript = Transcript::of_text("done");
    transcript.calls = Some(tools.iter().enumerate().map(call).collect());
    of(&transcript, &[], make)
}

pub(super) fn changed_files(
    created: &[&str],
    modified: &[&str],
    make: fn(&Original<'_>) -> Vec<Mutant>,
) -> Vec<Mutant> {
    let names = |paths: &[&str]| paths.iter().map(|path| (*path).to_owned()).collect();
    let mut transcript = Transcript::of_text("done");
    transcript.files = Some(FileChanges {
        created: names(created),
        modified: names(modified),
        ..FileChanges::default()
    });
    of(&transcript, &[], make)
}
