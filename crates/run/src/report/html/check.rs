//! Assertions of a case as the page needs them. What an assertion demands is the same in every trial of
//! its test, so it is kept once, in [`CheckSpecs`].

use serde_json::{Map, Value, json};

use super::super::SuiteText;
use super::case::{NAME, put};
use super::cut_text::{self, TextBudget};
use super::page::inert_value;
use crate::results::{EvaluatorResult, GradeOutcome, RowError, SourcePlace};

const SENTENCE: usize = 2_000;
const SENTENCES: usize = 50;
const REASONING: usize = 10_000;
const DETAILS: usize = 10_000;
const CHECKS: usize = 200;
/// Deeper composites are not entered.
const DEPTH: usize = 16;
const CODE: usize = 400;

/// Ready to be written, each once.
#[derive(Debug, Default)]
pub struct CheckSpecs(Vec<String>);

impl CheckSpecs {
    pub fn list(&self) -> &[String] {
        &self.0
    }

    fn place_of(&mut self, spec: String) -> usize {
        self.0.iter().position(|known| *known == spec).unwrap_or_else(|| {
            self.0.push(spec);
            self.0.len() - 1
        })
    }
}

pub fn checks(
    results: &[EvaluatorResult],
    text: &SuiteText,
    specs: &mut CheckSpecs,
    depth: usize,
) -> Value {
    let shown = results.iter().take(CHECKS);
    shown.map(|result| check(result, text, specs, depth)).collect()
}

fn check(
    result: &EvaluatorResult,
    text: &SuiteText,
    specs: &mut CheckSpecs,
    depth: usize,
) -> Value {
    let mut map = Map::new();
    map.insert("of".to_owned(), json!(specs.place_of(inert_value(&spec(result, text)))));
    put(&mut map, "score", result.score);
    put(&mut map, "outcome", (result.outcome != GradeOutcome::Graded).then_some(result.outcome));
    let gate = result.gate.as_deref();
    put(&mut map, "gate", gate.map(|gate| cut_text::text(gate, NAME)));
    for (key, list) in [("hits", &result.hits), ("misses", &result.misses)] {
        let sentences = cut_text::texts(list, SENTENCES, SENTENCE);
        put(&mut map, key, (!sentences.is_empty()).then_some(sentences));
    }
    let reasoning = result.reasoning.as_deref();
    put(&mut map, "reasoning", reasoning.map(|text| cut_text::text(text, REASONING)));
    let details = result.details.as_ref();
    put(&mut map, "details", details.map(|value| TextBudget::of(DETAILS).cut(value)));
    put(&mut map, "error", result.error.as_ref().map(trouble));
    put(&mut map, "ms", result.duration_ms);
    if let Some(members) = result.evaluator_results.as_deref().filter(|_| depth < DEPTH) {
        map.insert("members".to_owned(), checks(members, text, specs, depth + 1));
    }
    map.into()
}

/// What is demanded, and where that is written.
fn spec(result: &EvaluatorResult, text: &SuiteText) -> Value {
    let mut map = Map::new();
    map.insert("name".to_owned(), json!(cut_text::text(&result.name, NAME)));
    map.insert("type".to_owned(), json!(cut_text::text(&result.type_name, NAME)));
    map.insert("weight".to_owned(), json!(result.weight));
    // A boolean or a number; what else a file may hold is not worth showing.
    let required = Some(&result.required).filter(|value| value.is_number() || value.is_boolean());
    put(&mut map, "required", required);
    let aggregator = result.aggregator.as_deref();
    put(&mut map, "aggregator", aggregator.map(|name| cut_text::text(name, NAME)));
    let sentence = result.sentence.as_deref();
    put(&mut map, "sentence", sentence.map(|text| cut_text::text(text, SENTENCE)));
    put(&mut map, "source", result.source.as_ref().map(|source| place(source, text)));
    map.into()
}

pub fn trouble(error: &RowError) -> Value {
    json!({
        "stage": cut_text::text(&error.stage, NAME),
        "kind": cut_text::text(&error.kind, NAME),
        "message": cut_text::text(&error.message, SENTENCE),
    })
}

/// With the author's own line, where the suite is still there.
pub fn place(source: &SourcePlace, text: &SuiteText) -> Value {
    let mut map = Map::new();
    map.insert("file".to_owned(), json!(cut_text::text(&source.file, NAME)));
    map.insert("line".to_owned(), json!(source.line));
    let code = text.line(&source.file, source.line);
    put(&mut map, "code", code.map(|code| cut_text::text(code.trim_end(), CODE)));
    map.into()
}

#[cfg(test)]
mod tests {
    use super::super::super::fixture;
    use super::*;

    #[test]
    fn trials_share_what_is_demanded_of_them() {
        let text = SuiteText::unknown();
        let mut specs = CheckSpecs::default();
        let [first, second, third] = [("a", 1.0), ("a", 0.5), ("b", 1.0)]
            .map(|(name, score)| vec![fixture::graded(name, "contains", score)])
            .map(|results| checks(&results, &text, &mut specs, 0)[0]["of"].clone());
        assert_eq!((first, second, third), (json!(0), json!(0), json!(1)));
        assert_eq!(specs.list().len(), 2);
    }
}
