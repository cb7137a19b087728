//! Replies of judges (spec 10.2). The wording of each fault suits both the judge, to whom it is sent
//! back, and the author.

use std::collections::HashMap;

use crate::model::{Map, Marks, Number, RubricItem, Score, Value};

use super::json::{objects_in, parse};
use super::scored::{as_number, cut, described, non_blank_text, read_scored, text_of};

/// How an item was answered.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Decision {
    Satisfied(bool),
    /// From 0 to 10.
    Points(f64),
}

impl Decision {
    /// All or nothing, or a tenth per point.
    pub fn score(self) -> Score {
        match self {
            Self::Satisfied(holds) => Score::when(holds),
            Self::Points(points) => Score::of_share(points / 10.0),
        }
    }

    /// As the judge replied it.
    pub fn to_value(self) -> Value {
        match self {
            Self::Satisfied(holds) => Value::Bool(holds),
            Self::Points(points) => {
                Number::parse(&points.to_string()).map_or(Value::Null, Value::Number)
            }
        }
    }
}

/// The reply to one item.
#[derive(Debug, Clone, PartialEq)]
pub struct ItemReply {
    pub decision: Decision,
    pub reasoning: Option<String>,
}

/// Score mode: the judge's own score, hits, misses and reasoning.
pub fn read_score_reply(reply: &str) -> Result<Marks, String> {
    let map = last_object(reply, &["score", "assertions"])?;
    for key in ["hits", "misses"] {
        if let Some(value) = map.get(key)
            && !matches!(value, Value::List(_) | Value::Null)
        {
            return Err(format!("`{key}` is {}, not a list", described(value)));
        }
    }
    read_scored(&map)
}

/// Check mode: one reply per item, in the order of the items.
pub fn read_check_reply(reply: &str, items: &[RubricItem]) -> Result<Vec<ItemReply>, String> {
    let map = last_object(reply, &["checks"])?;
    let checks = match map.get("checks") {
        Some(Value::List(checks)) => checks,
        Some(other) => return Err(format!("`checks` is {}, not a list", described(other))),
        None => return Err("it has no `checks`".to_owned()),
    };
    let mut found: HashMap<&str, ItemReply> = HashMap::with_capacity(items.len());
    for (at, check) in checks.iter().enumerate() {
        let Some(check) = check.as_map() else {
            let what = described(check);
            return Err(format!("check {} is {what}, not an object", at + 1));
        };
        // Replies to unknown ids are ignored; missing replies are reported below.
        let id = check.get("id").map(text_of).unwrap_or_default();
        let Some(item) = items.iter().find(|item| item.id == id) else {
            continue;
        };
        let answer = read_item(check, item)?;
        match found.get(item.id.as_str()) {
            Some(earlier) if earlier.decision != answer.decision => {
                let id = cut(&id, 60);
                return Err(format!("check `{id}` is answered twice with different values"));
            }
            Some(_) => {}
            None => drop(found.insert(&item.id, answer)),
        }
    }
    let missing: Vec<String> = items
        .iter()
        .filter(|item| !found.contains_key(item.id.as_str()))
        .map(|item| format!("`{}`", cut(&item.id, 60)))
        .collect();
    if !missing.is_empty() {
        return Err(format!("no answer to check {}", missing.join(", ")));
    }
    let ids = items.iter().map(|item| item.id.as_str());
    Ok(ids.filter_map(|id| found.remove(id)).collect())
}

fn read_item(check: &Map, item: &RubricItem) -> Result<ItemReply, String> {
    let id = cut(&item.id, 60);
    let decision = if item.ranges.is_empty() {
        match check.get("satisfied") {
            Some(Value::Bool(holds)) => Decision::Satisfied(*holds),
            Some(other) => {
                let what = described(other);
                return Err(format!("`satisfied` of check `{id}` is {what}, not a boolean"));
            }
            None => return Err(format!("check `{id}` has no `satisfied`")),
        }
    } else {
        Decision::Points(read_points(check, &id)?)
    };
    Ok(ItemReply { decision, reasoning: check.get("reasoning").and_then(non_blank_text) })
}

fn read_points(check: &Map, id: &str) -> Result<f64, String> {
    let Some(value) = check.get("score") else {
        return Err(format!("check `{id}` has no `score`"));
    };
    let number = as_number("score", value).map_err(|fault| format!("in check `{id}`, {fault}"))?;
    if (0.0..=10.0).contains(&number.value()) {
        Ok(number.value())
    } else {
        Err(format!("`score` of check `{id}` is {number}, which is not in 0..10"))
    }
}

/// The last complete object that has one of the keys. Objects inside other objects do not count:
/// an answer to one check has a `score` too.
fn last_object(reply: &str, keys: &[&str]) -> Result<Map, String> {
    let objects = objects_in(reply);
    let mut fault = match objects.broken {
        Some(start) => parse(&reply[start..]).err(),
        None => None,
    };
    for range in objects.complete.iter().rev() {
        let text = &reply[range.clone()];
        // Avoids parsing thousands of other objects.
        if !keys.iter().any(|key| text.contains(&format!("\"{key}\""))) {
            continue;
        }
        match parse(text) {
            Ok(Value::Map(map)) if keys.iter().any(|key| map.get(key).is_some()) => {
                return Ok(map);
            }
            Ok(_) => {}
            Err(why) => fault = fault.or(Some(why)),
        }
    }
    let expected: Vec<String> = keys.iter().map(|key| format!("`{key}`")).collect();
    let expected = expected.join(" or ");
    Err(match (fault, objects.is_cut) {
        (Some(why), _) => format!("its JSON object is faulty: {why}"),
        (None, true) => "it ends inside a JSON object".to_owned(),
        (None, false) if objects.complete.is_empty() => "it contains no JSON object".to_owned(),
        (None, false) => format!("no JSON object in it has {expected}"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::ScoreRange;

    fn items() -> Vec<RubricItem> {
        let tone = RubricItem {
            id: "tone".to_owned(),
            ranges: vec![ScoreRange { low: 0, high: 10, outcome: "more is better".to_owned() }],
            ..RubricItem::from_text("Is polite", 2)
        };
        vec![RubricItem::from_text("Names November", 1), tone]
    }

    fn check(reply: &str) -> Result<Vec<ItemReply>, String> {
        read_check_reply(reply, &items())
    }

    fn score(reply: &str) -> Result<f64, String> {
        read_score_reply(reply).map(|marks| marks.score.value())
    }

    #[test]
    fn the_replies_of_the_format_are_read() {
        let marks = read_score_reply(
            r#"{"reasoning": "Names November, omits the others.", "hits": ["Finds November"], "misses": ["Two months missing"], "score": 0.4}"#,
        )
        .unwrap();
        assert_eq!(marks.score.value(), 0.4);
        assert_eq!(marks.hits, ["Finds November"]);
        assert_eq!(marks.misses, ["Two months missing"]);
        let reasoning = marks.reasoning.as_deref();
        assert_eq!(reasoning, Some("Names November, omits the others."));
        let replies = check(
            r#"{"checks": [{"id": "rubric-1", "reasoning": "November is named first.", "satisfied": true}, {"id": "tone", "reasoning": "Polite, terse.", "score": 7}]}"#,
        )
        .unwrap();
        assert_eq!(replies[0].decision, Decision::Satisfied(true));
        let reasoning = replies[0].reasoning.as_deref();
        assert_eq!(reasoning, Some("November is named first."));
        assert_eq!(replies[1].decision, Decision::Points(7.0));
        assert_eq!(replies[1].decision.score().value(), 0.7);
    }

    #[test]
    fn fences_prose_and_drafts_do_not_matter() {
        for reply in [
            "{\"score\": 0.4}",
            "Well.\n```json\n{\"score\": 0.4}\n```\nDone {really}.",
            "{\"score\": 1} — no, rather {\"score\": 0.4} {\"note\": {\"score\": 1}}",
            "{\"score\": 0.9, \"score\": 0.4}",
            "{\"score\": 1,} Once more: {\"score\": 0.4}",
            "{\"assertions\": [{\"text\": \"a\", \"passed\": false, \"score\": 1}], \"score\": 0.4}",
        ] {
            assert_eq!(score(reply), Ok(0.4), "{reply}");
        }
        let claims =
            r#"{"assertions": [{"text": "a", "passed": true}, {"text": "b", "passed": false}]}"#;
        assert_eq!(score(claims), Ok(0.5));
    }

    #[test]
    fn every_faulty_score_is_named() {
        for (reply, fault) in [
            ("", "it contains no JSON object"),
            ("Score: 8/10", "it contains no JSON object"),
            ("{\"score\": 0.4", "it ends inside a JSON object"),
            ("{\"details\": {\"score\": 1}, \"x", "it ends inside a JSON object"),
            ("{\"rating\": 1}", "no JSON object in it has `score` or `assertions`"),
            ("{\"score\": 01}", "its JSON object is faulty: "),
            (
                "{\"details\": {\"score\": 1}, \"score\": 0.2,}",
                "its JSON object is faulty: a comma before the closing bracket",
            ),
            ("{\"score\": 8}", "`score` is 8, which is not in 0..1"),
            ("{\"score\": \"high\"}", "`score` is the text \"high\", not a number"),
            ("{\"score\": 1, \"hits\": \"a\"}", "`hits` is the text \"a\", not a list"),
            ("{\"score\": 1, \"misses\": {}}", "`misses` is an object, not a list"),
            ("{\"assertions\": []}", "it has no `score`, and `assertions` is empty"),
        ] {
            let found = score(reply).unwrap_err();
            assert!(found.starts_with(fault), "{reply}: {found}");
        }
    }

    #[test]
    fn every_faulty_check_is_named() {
        let tone = r#"{"id": "tone", "score": 7}"#;
        for (checks, fault) in [
            (tone.to_owned(), "no answer to check `rubric-1`"),
            (String::new(), "no answer to check `rubric-1`, `tone`"),
            ("1".to_owned(), "check 1 is the number 1, not an object"),
            (
                format!(r#"{tone}, {{"id": "rubric-1", "score": 7}}"#),
                "check `rubric-1` has no `satisfied`",
            ),
            (
                format!(r#"{tone}, {{"id": "rubric-1", "satisfied": "yes"}}"#),
                "`satisfied` of check `rubric-1` is the text \"yes\", not a boolean",
            ),
            (r#"{"id": "tone", "satisfied": true}"#.to_owned(), "check `tone` has no `score`"),
            (
                r#"{"id": "tone", "score": 11}"#.to_owned(),
                "`score` of check `tone` is 11, which is not in 0..10",
            ),
            (
                r#"{"id": "tone", "score": -1}"#.to_owned(),
                "`score` of check `tone` is -1, which is not in 0..10",
            ),
            (
                r#"{"id": "tone", "score": null}"#.to_owned(),
                "in check `tone`, `score` is null, not a number",
            ),
            (
                format!(r#"{tone}, {{"id": "tone", "score": 8}}"#),
                "check `tone` is answered twice with different values",
            ),
        ] {
            let reply = format!("{{\"checks\": [{checks}]}}");
            assert_eq!(check(&reply).unwrap_err(), fault, "{checks}");
        }
        for (reply, fault) in [
            ("{\"checks\": {}}", "`checks` is an object, not a list"),
            ("{\"score\": 1}", "no JSON object in it has `checks`"),
        ] {
            assert_eq!(check(reply).unwrap_err(), fault);
        }
    }

    #[test]
    fn unknown_ids_and_equal_repeats_are_ignored() {
        let reply = r#"{"checks": [{"id": "tone", "score": 7}, {"id": "x"}, {},
            {"id": "tone", "score": 7.0, "reasoning": "again"}, {"id": "rubric-1", "satisfied": false}]}"#;
        let replies = check(reply).unwrap();
        assert_eq!(replies[0].decision, Decision::Satisfied(false));
        assert_eq!(replies[1].reasoning, None);
    }

    #[test]
    fn hostile_replies_are_refused_quickly() {
        const SIZE: usize = 1_000_000;
        for piece in ["{", "{}", "{\"score\":", "{\"score\":[", "{\"a\":{\"score\":1},", "[", "\"{"]
        {
            let reply = piece.repeat(SIZE / piece.len());
            assert!(score(&reply).is_err(), "{piece}");
            assert!(check(&reply).is_err(), "{piece}");
        }
    }
    proptest::proptest! {
        #[test]
        fn no_reply_is_too_strange_to_be_read(reply in "([{}\\[\\]\",:\\\\ 0-9é]|\"score\"|\"checks\"|\"id\"|true){0,40}") {
            let _ = read_score_reply(&reply);
            let _ = check(&reply);
        }

        #[test]
        fn an_object_is_found_in_any_prose(
            before in "[^{\"]{0,40}",
            text in "[^\"\\\\\\p{Cc}]{0,20}",
            after in "[^{]{0,40}",
        ) {
            let reply = format!("{before}{{\"reasoning\": \"{text}\", \"score\": 0.25}}{after}");
            proptest::prop_assert_eq!(score(&reply), Ok(0.25));
        }
    }
}
