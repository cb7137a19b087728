//! Stops a run that exceeds its budget or its number of errors.

use std::sync::Mutex;

use evalrig_core::model::Outcome;

use crate::lock::locked;
use crate::results::Row;

/// Which limit ended a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Limit {
    Budget,
    Errors,
}

/// A limit that was reached, and a sentence about it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ReachedLimit {
    pub(crate) limit: Limit,
    pub(crate) reason: String,
}

/// Cost and errors so far.
#[derive(Debug, Default)]
struct RunSpending {
    cost_usd: f64,
    errors: u64,
    reached: Option<ReachedLimit>,
    /// Whether the warning about an unknown cost was given.
    has_warned: bool,
}

#[derive(Debug)]
pub(crate) struct RunLimits {
    budget_usd: Option<f64>,
    max_errors: Option<u64>,
    spent: Mutex<RunSpending>,
}

impl RunLimits {
    pub(crate) fn new(budget_usd: Option<f64>, max_errors: Option<u64>) -> Self {
        Self { budget_usd, max_errors, spent: Mutex::default() }
    }

    /// Counts a case. Returns the reason to stop when this case reaches a limit first.
    pub(crate) fn count(&self, row: &Row) -> Option<String> {
        let mut spent = locked(&self.spent);
        let judged = row.judge_usage.as_ref();
        let costs = [Some(row.cost_usd), judged.map(|usage| usage.cost_usd)];
        spent.cost_usd += costs.into_iter().flatten().flatten().sum::<f64>();
        if row.outcome == Outcome::Errored {
            spent.errors += 1;
        }
        if spent.reached.is_some() {
            return None;
        }
        spent.reached = self.reached_by(&spent);
        spent.reached.as_ref().map(|reached| reached.reason.clone())
    }

    /// With a budget: a warning about the first case whose cost is unknown.
    pub(crate) fn unknown_cost_warning(&self, row: &Row) -> Option<String> {
        self.budget_usd?;
        let is_judged = row.judge_usage.is_some_and(|usage| usage.cost_usd.is_none());
        let is_unknown = row.attempts > 0 && (row.cost_usd.is_none() || is_judged);
        let mut spent = locked(&self.spent);
        if !is_unknown || std::mem::replace(&mut spent.has_warned, true) {
            return None;
        }
        let who = match row.cost_usd {
            None => format!("target `{}`", row.target),
            Some(_) => "the judge".to_owned(),
        };
        Some(format!(
            "the budget cannot be enforced: the cost of {who} is unknown; set `price` on the target"
        ))
    }

    /// The limit that keeps further cases from starting.
    pub(crate) fn reached(&self) -> Option<ReachedLimit> {
        locked(&self.spent).reached.clone()
    }

    fn reached_by(&self, spent: &RunSpending) -> Option<ReachedLimit> {
        if let Some(budget) = self.budget_usd.filter(|budget| spent.cost_usd >= *budget) {
            let cost = spent.cost_usd;
            return Some(ReachedLimit {
                limit: Limit::Budget,
                reason: format!("the budget of {budget} USD is used up: {cost:.4} USD"),
            });
        }
        let most = self.max_errors.filter(|most| spent.errors >= *most)?;
        Some(ReachedLimit {
            limit: Limit::Errors,
            reason: match most {
                1 => "1 case could not be measured, the limit of `--max-errors`".to_owned(),
                _ => format!("{most} cases could not be measured, the limit of `--max-errors`"),
            },
        })
    }
}
