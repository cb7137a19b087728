//! Stops a run that exceeds its budget, its number of errors or its number of failures.

use std::sync::Mutex;

use evalrig_core::model::Outcome;

use crate::lock::locked;
use crate::results::{Borderline, Row};

use super::job::RunOptions;

/// Whether a run pays for the answers of its cases.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum AnswerPayment {
    Now,
    /// They are stored; another run has paid for them.
    Earlier,
}

/// Which limit ended a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Limit {
    Budget,
    Errors,
    /// `--fail-fast`; unlike the others, cases that were not started have no row.
    Failures,
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
    failures: u64,
    reached: Option<ReachedLimit>,
    /// Whether the warning about an unknown cost was given.
    has_warned: bool,
}

#[derive(Debug)]
pub(crate) struct RunLimits {
    budget_usd: Option<f64>,
    max_errors: Option<u64>,
    fail_fast: Option<FailFast>,
    payment: AnswerPayment,
    spent: Mutex<RunSpending>,
}

/// `--fail-fast`: how many cases may not pass before no other is started.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct FailFast {
    pub(crate) most: u64,
    pub(crate) borderline: Borderline,
}

impl FailFast {
    fn is_failure(self, outcome: Outcome) -> bool {
        match outcome {
            Outcome::Failed | Outcome::Errored => true,
            Outcome::Borderline => self.borderline == Borderline::Fails,
            Outcome::Passed | Outcome::Skipped => false,
        }
    }
}

impl RunLimits {
    pub(crate) fn of(options: &RunOptions) -> Self {
        Self {
            budget_usd: options.budget_usd,
            max_errors: options.max_errors,
            fail_fast: options.fail_fast,
            payment: options.payment,
            spent: Mutex::default(),
        }
    }

    /// Whether the target was asked for this case in this run.
    fn pays_for(&self, row: &Row) -> bool {
        self.payment == AnswerPayment::Now && !row.is_cached()
    }

    /// Counts a case. Returns the reason to stop when this case reaches a limit first.
    pub(crate) fn count(&self, row: &Row) -> Option<String> {
        let mut spent = locked(&self.spent);
        let judged = row.judge_usage.as_ref();
        let own = self.pays_for(row).then_some(row.cost_usd);
        let costs = [own, judged.map(|usage| usage.cost_usd)];
        spent.cost_usd += costs.into_iter().flatten().flatten().sum::<f64>();
        if row.outcome == Outcome::Errored {
            spent.errors += 1;
        }
        if self.fail_fast.is_some_and(|rule| rule.is_failure(row.outcome)) {
            spent.failures += 1;
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
        let is_asked = row.attempts > 0 && self.pays_for(row);
        let is_unknown = is_asked && row.cost_usd.is_none() || row.attempts > 0 && is_judged;
        let mut spent = locked(&self.spent);
        if !is_unknown || std::mem::replace(&mut spent.has_warned, true) {
            return None;
        }
        let who = match row.cost_usd {
            None if is_asked => format!("target `{}`", row.target),
            _ => "the judge".to_owned(),
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
        if let Some(most) = self.max_errors.filter(|most| spent.errors >= *most) {
            return Some(ReachedLimit {
                limit: Limit::Errors,
                reason: match most {
                    1 => "1 case could not be measured, the limit of `--max-errors`".to_owned(),
                    _ => format!("{most} cases could not be measured, the limit of `--max-errors`"),
                },
            });
        }
        let rule = self.fail_fast.filter(|rule| spent.failures >= rule.most)?;
        Some(ReachedLimit {
            limit: Limit::Failures,
            reason: match rule.most {
                1 => "a case did not pass, and `--fail-fast` is set".to_owned(),
                most => format!("{most} cases did not pass, the limit of `--fail-fast`"),
            },
        })
    }
}
