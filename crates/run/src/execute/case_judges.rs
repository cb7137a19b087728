//! The judges of a case, as far as grading asks about them.

use std::sync::Arc;

use evalrig_core::model::{JsonStyle, JudgeQuestion, JudgeReadings, Map, Value, Votes};
use evalrig_core::secrets::Secrets;
use sha2::{Digest, Sha256};

use crate::text::hex;

use super::connected_target::ConnectedTarget;
use super::job::SuiteJob;

#[derive(Debug, Clone, Copy)]
pub(crate) struct CaseJudges<'a> {
    pub(crate) suite: &'a SuiteJob,
    /// The name of the target that the case runs against.
    pub(crate) target: &'a str,
}

impl<'a> CaseJudges<'a> {
    /// The assertion's own judge, else that of the case.
    pub(crate) fn judge(&self, own: Option<&str>) -> Option<&'a Arc<ConnectedTarget>> {
        let of_case = || self.suite.judges.get(self.target).map(String::as_str);
        self.suite.connected.get(own.or_else(of_case)?)
    }
}

impl JudgeReadings for CaseJudges<'_> {
    /// The first that is set: `--readings`, the assertion, the judge's target.
    fn votes(&self, judge: Option<&str>, written: Option<Votes>) -> Votes {
        let of_target = || self.judge(judge)?.votes();
        self.suite.readings.or(written).or_else(of_target).unwrap_or_default()
    }
}

/// Equal for questions that the same judge would answer alike. A question is stored without secrets, so
/// that it is the same when the run goes on.
pub(super) fn question_digest(
    judge: &ConnectedTarget,
    question: &JudgeQuestion,
    secrets: &Secrets,
) -> String {
    let messages = question.messages.iter().map(|message| {
        let mut shown = message.to_value();
        secrets.redact_data(&mut shown);
        shown
    });
    let map = Map::new()
        .with("judge", judge.name.as_str())
        .with_some("identity", judge.identity())
        .with("messages", messages.collect::<Vec<Value>>())
        .with("config", question.config.clone());
    hex(&Sha256::digest(Value::Map(map).to_json(JsonStyle::Sorted)))
}
