//! How much may be spent and how much may go wrong before a run stops.

use std::sync::Mutex;

use evalrig_core::model::Outcome;

use crate::record::Row;

/// Which limit ended a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Limit {
    Budget,
    Errors,
}

/// A limit that was reached, in words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReachedLimit {
    pub limit: Limit,
    pub reason: String,
}

/// What has been spent so far.
#[derive(Debug, Default)]
struct RunSpending {
    cost_usd: f64,
    errors: u64,
    reached: Option<ReachedLimit>,
    /// Whether somebody has been told that a cost is not known.
    is_blind: bool,
}

#[derive(Debug)]
pub struct Limits {
    budget_usd: Option<f64>,
    max_errors: Option<u64>,
    spent: Mutex<RunSpending>,
}

impl Limits {
    pub fn new(budget_usd: Option<f64>, max_errors: Option<u64>) -> Self {
        Self {
            budget_usd,
            max_errors,
            spent: Mutex::default(),
        }
    }

    /// Counts a case. The reason to stop, the first time that there is one.
    pub fn count(&self, row: &Row) -> Option<String> {
        let mut spent = self.lock();
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

    /// What people should know about a case whose cost is not known while a budget is to be kept;
    /// once.
    pub fn unknown_cost_warning(&self, row: &Row) -> Option<String> {
        self.budget_usd?;
        let is_judged = row
            .judge_usage
            .is_some_and(|usage| usage.cost_usd.is_none());
        let is_unknown = row.attempts > 0 && (row.cost_usd.is_none() || is_judged);
        let mut spent = self.lock();
        if !is_unknown || std::mem::replace(&mut spent.is_blind, true) {
            return None;
        }
        let who = match row.cost_usd {
            None => format!("target `{}`", row.target),
            Some(_) => "the judge".to_owned(),
        };
        Some(format!(
            "the budget cannot be kept: what {who} costs is not known; give the target a `price`"
        ))
    }

    /// Why no further case is begun.
    pub fn reached(&self) -> Option<ReachedLimit> {
        self.lock().reached.clone()
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
                1 => "a case could not be measured, and no more were allowed".to_owned(),
                _ => format!("{most} cases could not be measured, and no more were allowed"),
            },
        })
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, RunSpending> {
        // A panic elsewhere leaves plain sums, which are as good as they were.
        self.spent
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner)
    }
}
