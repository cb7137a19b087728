//! Replies of judges in the journal. Each is written as it arrives, so that a run that goes on asks only
//! what no judge has answered: of three votes, those that are missing.

use evalrig_core::model::{JsonStyle, Map, Number, Value};
use evalrig_core::secrets::Secrets;

use super::checksum::seal;
use super::row::{CaseKey, JudgeUsage};

pub(super) const JUDGED: &str = "judged";

/// A reply that was paid for.
#[derive(Debug, Clone, PartialEq)]
pub struct JudgeReply {
    /// Key of the question within the case.
    pub ask: String,
    /// Digest of the question and of the judge: another question needs another reply.
    pub question: String,
    pub reply: String,
    pub usage: JudgeUsage,
}

/// A reply with the case that it is about.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct JournaledReply {
    pub(super) key: CaseKey,
    pub(super) test_hash: String,
    pub(super) reply: JudgeReply,
}

/// With its checksum and line break.
pub(super) fn judged_line(
    key: &CaseKey,
    test_hash: &str,
    reply: &JudgeReply,
    secrets: &Secrets,
) -> Vec<u8> {
    let mut text = reply.reply.clone();
    secrets.redact_in_place(&mut text);
    let usage = &reply.usage;
    let cost = usage.cost_usd.and_then(|cost| Number::parse(&cost.to_string()));
    let map = Map::new()
        .with("kind", JUDGED)
        .with("suite", key.suite.as_str())
        .with("evalId", key.test.as_str())
        .with("target", key.target.as_str())
        .with("trial", key.trial)
        .with("testHash", test_hash)
        .with("ask", reply.ask.as_str())
        .with("question", reply.question.as_str())
        .with("reply", text)
        .with("calls", usage.calls)
        .with_some("input", usage.input)
        .with_some("output", usage.output)
        .with_some("costUsd", cost);
    let mut line = Value::Map(map).to_json(JsonStyle::Compact).into_bytes();
    seal(&mut line);
    line
}

pub(super) fn read_judged(map: &Map) -> Option<JournaledReply> {
    let text = |key| map.get(key).and_then(Value::as_str).map(str::to_owned);
    let number = |key| match map.get(key) {
        Some(Value::Number(number)) => Some(number),
        _ => None,
    };
    let count = |key| number(key).and_then(Number::as_u64);
    Some(JournaledReply {
        key: CaseKey {
            suite: text("suite")?,
            test: text("evalId")?,
            target: text("target")?,
            trial: u32::try_from(count("trial")?).ok()?,
        },
        test_hash: text("testHash")?,
        reply: JudgeReply {
            ask: text("ask")?,
            question: text("question")?,
            reply: text("reply")?,
            usage: JudgeUsage {
                calls: count("calls")?,
                input: count("input"),
                output: count("output"),
                cost_usd: number("costUsd").map(Number::value),
            },
        },
    })
}

#[cfg(test)]
mod tests {
    use super::super::journal::{JournalLine, read_line};
    use super::*;

    #[test]
    fn a_reply_comes_back_without_secrets() {
        let mut secrets = Secrets::default();
        secrets.add("sk-very-secret");
        let key = CaseKey {
            suite: "csv".to_owned(),
            test: "a".to_owned(),
            target: "default".to_owned(),
            trial: 2,
        };
        let reply = JudgeReply {
            ask: "0/0-vote-2".to_owned(),
            question: "ab".to_owned(),
            reply: "{\"score\": 1, \"reasoning\": \"has sk-very-secret\"}".to_owned(),
            usage: JudgeUsage { calls: 1, input: Some(3), output: None, cost_usd: Some(0.000_1) },
        };
        let line = judged_line(&key, "5f2b", &reply, &secrets);
        let Ok(JournalLine::Judged(back)) = read_line(&line) else { panic!("no reply") };
        assert_eq!((back.key, back.test_hash.as_str()), (key, "5f2b"));
        let kept = "{\"score\": 1, \"reasoning\": \"has ***\"}".to_owned();
        assert_eq!(back.reply, JudgeReply { reply: kept, ..reply });
        assert!(
            matches!(read_line(b"{\"kind\":\"judged\"}"), Err(reason) if reason.contains("reply"))
        );
    }
}
