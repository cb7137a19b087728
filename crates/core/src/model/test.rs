//! One test of a suite.

use crate::source::Span;

use super::assertion::{NamedAssertion, Trigger};
use super::execution::Execution;
use super::expected::Expected;
use super::id::TestId;
use super::message::Message;
use super::number::Number;
use super::pass_share::PassShare;
use super::value::{Map, Value};
use super::workspace::Workspace;

/// The test is not run; the text is the author's reason.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Skip {
    pub reason: Option<String>,
}

/// What a test says about skills.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SkillWishes<'a> {
    pub used: Vec<&'a str>,
    pub unused: Vec<&'a str>,
    /// It demands nothing but that skills are left alone.
    pub is_contract: bool,
}

/// The threshold of skill-creator's `run_eval`.
const DEFAULT_THRESHOLD: f64 = 0.5;

#[derive(Debug, Clone)]
pub struct Test {
    pub id: TestId,
    /// 1-based, over the fully loaded suite.
    pub position: u32,
    pub criteria: Option<String>,
    pub description: Option<String>,
    /// The name that `evals.json` gives it beside its id.
    pub name: Option<String>,
    pub conversation_id: Option<String>,
    pub note: Option<String>,
    /// The metadata of the test over those of the root.
    pub metadata: Map,
    /// Root input first. Never empty.
    pub input: Vec<Message>,
    pub expected_output: Option<Expected>,
    /// The full ordered list of spec 3.2, each with its name in this test.
    pub assertions: Vec<NamedAssertion>,
    pub execution: Execution,
    pub trials: u32,
    pub skip: Option<Skip>,
    /// The workspace of the root, with that of the test over it.
    pub workspace: Option<Workspace>,
    /// The mapping of the test.
    pub span: Span,
}

impl Test {
    /// A test in which everything optional is absent; it has no input yet.
    pub fn blank(id: TestId, position: u32, span: Span) -> Self {
        Self {
            id,
            position,
            criteria: None,
            description: None,
            name: None,
            conversation_id: None,
            note: None,
            metadata: Map::new(),
            input: Vec::new(),
            expected_output: None,
            assertions: Vec::new(),
            execution: Execution::default(),
            trials: 1,
            skip: None,
            workspace: None,
            span,
        }
    }

    /// How often it is run, unless the run says otherwise: `trials`, or the `runs_per_query` of a
    /// trigger-judge.
    pub fn planned_trials(&self) -> u32 {
        let written = self.triggers().filter_map(|(trigger, _)| trigger.runs_per_query).max();
        let runs = written.or_else(|| self.trigger_number("runs_per_query")?.as_u64());
        let has_trigger = self.triggers().next().is_some();
        match runs {
            Some(runs) if has_trigger && self.trials == 1 => u32::try_from(runs).unwrap_or(1),
            _ => self.trials,
        }
    }

    /// How many of its trials must pass, if `trigger_threshold` or `runs_per_query` says so
    /// (spec 18.3).
    pub fn pass_share(&self) -> Option<PassShare> {
        let default = self.trigger_number("trigger_threshold").map(Number::value);
        let has_runs = self.trigger_number("runs_per_query").is_some();
        let shares = self.triggers().filter_map(|(trigger, is_negated)| {
            let written = trigger.threshold.as_ref().map(Number::value).or(default);
            let is_repeated = has_runs || trigger.runs_per_query.is_some();
            let threshold = written.or(is_repeated.then_some(DEFAULT_THRESHOLD))?;
            Some(if trigger.should_trigger != is_negated {
                PassShare::at_least(threshold)
            } else {
                PassShare::above(1.0 - threshold)
            })
        });
        shares.reduce(PassShare::and)
    }

    /// The skills that it wants to be used, and those that it wants to be left alone.
    pub fn skill_wishes(&self) -> SkillWishes<'_> {
        let mut wishes =
            SkillWishes { is_contract: !self.assertions.is_empty(), ..SkillWishes::default() };
        wishes.is_contract &= self.triggers().count() == self.assertions.len();
        for (trigger, is_negated) in self.triggers() {
            let is_wanted = trigger.should_trigger != is_negated;
            wishes.is_contract &= !is_wanted;
            let list = if is_wanted { &mut wishes.used } else { &mut wishes.unused };
            list.push(trigger.skill_name());
        }
        wishes
    }

    /// Its own trigger-judges, with whether they are negated.
    fn triggers(&self) -> impl Iterator<Item = (&Trigger, bool)> {
        let assertions = self.assertions.iter().map(|named| &named.assertion);
        assertions.filter_map(|one| Some((one.check.trigger()?, one.common.negate)))
    }

    fn trigger_number(&self, key: &str) -> Option<&Number> {
        match self.metadata.get(key)? {
            Value::Number(number) => Some(number),
            _ => None,
        }
    }

    /// Tests of one group share a fixture: they are not independent evidence when runs are compared.
    pub fn group(&self) -> Option<&str> {
        let group = self.metadata.get("group").and_then(Value::as_str);
        group.filter(|group| !group.is_empty())
    }

    /// Those of the suite included.
    pub fn tags(&self) -> impl Iterator<Item = &str> {
        let list = self.metadata.get("tags").and_then(Value::as_list);
        list.unwrap_or_default().iter().filter_map(Value::as_str)
    }
}
