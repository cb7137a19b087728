//! What the rows of a run add up to. The summary, the reports and the progress line all use this
//! one sum, so they cannot disagree.
//!
//! A sum is unknown if any addend is (spec 11.3). Only cases that were answered are addends: a case
//! that was skipped, never started or errored before an answer has no tokens and no cost to add. An
//! answered case whose target does not report its cost makes the sum unknown.

use evalrig_core::model::Outcome;

use super::row::{JudgeUsage, Row, TokenCounts};

/// How many cases had each outcome.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct OutcomeCounts([u64; 5]);

impl OutcomeCounts {
    fn index(outcome: Outcome) -> usize {
        Outcome::ALL.iter().position(|o| *o == outcome).unwrap_or(0)
    }

    pub fn add(&mut self, outcome: Outcome) {
        self.0[Self::index(outcome)] += 1;
    }

    pub fn add_all(&mut self, other: &Self) {
        for (count, more) in self.0.iter_mut().zip(other.0) {
            *count += more;
        }
    }

    pub fn remove(&mut self, outcome: Outcome) {
        let count = &mut self.0[Self::index(outcome)];
        *count = count.saturating_sub(1);
    }

    /// Without those of another count of the same cases.
    #[must_use]
    pub fn without(mut self, other: &Self) -> Self {
        for (count, less) in self.0.iter_mut().zip(other.0) {
            *count = count.saturating_sub(less);
        }
        self
    }

    pub fn of(&self, outcome: Outcome) -> u64 {
        self.0[Self::index(outcome)]
    }

    pub fn total(&self) -> u64 {
        self.0.iter().sum()
    }

    /// Cases with a verdict.
    pub fn judged(&self) -> u64 {
        self.of(Outcome::Passed) + self.of(Outcome::Borderline) + self.of(Outcome::Failed)
    }

    /// Passed cases among those with a verdict.
    pub fn pass_rate(&self) -> Option<f64> {
        let judged = self.judged();
        (judged > 0).then(|| self.of(Outcome::Passed) as f64 / judged as f64)
    }
}

/// A sum that counts its unknown addends.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct PartialSum {
    /// Over the known addends.
    pub known: f64,
    pub reported: u64,
    pub unreported: u64,
}

impl PartialSum {
    pub fn add(&mut self, value: Option<f64>) {
        match value {
            Some(value) => {
                self.known += value;
                self.reported += 1;
            }
            None => self.unreported += 1,
        }
    }

    fn add_count(&mut self, count: Option<u64>) {
        self.add(count.map(|count| count as f64));
    }

    /// `None` if any addend is unknown, or if the sum is too large for a number; the sum of no addends
    /// is 0.
    pub fn whole(&self) -> Option<f64> {
        (self.unreported == 0 && self.known.is_finite()).then_some(self.known)
    }

    fn whole_count(&self) -> Option<u64> {
        self.whole().map(|sum| sum as u64)
    }

    pub fn has_addends(&self) -> bool {
        self.reported + self.unreported > 0
    }
}

/// What the judges of a run used.
#[derive(Debug, Clone, Copy, Default)]
pub struct JudgeTotals {
    pub calls: u64,
    pub input: PartialSum,
    pub output: PartialSum,
    pub cost: PartialSum,
}

impl JudgeTotals {
    fn add(&mut self, usage: &JudgeUsage) {
        self.calls = self.calls.saturating_add(usage.calls);
        self.input.add_count(usage.input);
        self.output.add_count(usage.output);
        self.cost.add(usage.cost_usd);
    }
}

/// Counts and sums over the rows of a run, in any order.
#[derive(Debug, Clone, Copy, Default)]
pub struct RunTotals {
    pub counts: OutcomeCounts,
    pub scores: PartialSum,
    pub input: PartialSum,
    pub output: PartialSum,
    /// As targets report it, which need not be input and output.
    pub all_tokens: PartialSum,
    pub cached: PartialSum,
    /// Spent: an answer from the cache counts 0.
    pub cost: PartialSum,
    pub judges: JudgeTotals,
    /// Answers from the cache, which used no tokens and cost nothing.
    pub reused: u64,
}

impl RunTotals {
    pub fn add(&mut self, row: &Row) {
        self.counts.add(row.outcome);
        if row.score.is_some() {
            self.scores.add(row.score);
        }
        if row.is_cached() {
            self.reused += 1;
            let sums = [&mut self.input, &mut self.output, &mut self.all_tokens, &mut self.cached];
            sums.into_iter().for_each(|sum| sum.add_count(Some(0)));
            self.cost.add(Some(0.0));
        } else if was_answered(row) {
            let tokens = row.tokens;
            self.input.add_count(tokens.and_then(|tokens| tokens.input));
            self.output.add_count(tokens.and_then(|tokens| tokens.output));
            self.all_tokens.add_count(tokens.map(|tokens| tokens.total));
            self.cached.add_count(tokens.and_then(|tokens| tokens.cached));
            self.cost.add(row.cost_usd);
        }
        if let Some(usage) = row.judge_usage.as_ref().filter(|usage| usage.calls > 0) {
            self.judges.add(usage);
        }
    }

    /// Over the cases with a score.
    pub fn average_score(&self) -> Option<f64> {
        (self.scores.reported > 0).then(|| self.scores.known / self.scores.reported as f64)
    }

    pub fn tokens(&self) -> Option<TokenCounts> {
        Some(TokenCounts {
            input: self.input.whole_count(),
            output: self.output.whole_count(),
            total: self.all_tokens.whole_count()?,
            cached: self.cached.whole_count(),
        })
    }

    pub fn cost_usd(&self) -> Option<f64> {
        self.cost.whole().map(rounded_cost)
    }

    /// `None` if no judge was called.
    pub fn judge_usage(&self) -> Option<JudgeUsage> {
        let judges = &self.judges;
        (judges.calls > 0).then(|| JudgeUsage {
            calls: judges.calls,
            input: judges.input.whole_count(),
            output: judges.output.whole_count(),
            cost_usd: judges.cost.whole().map(rounded_cost),
        })
    }

    /// The known cost of targets and judges: a lower bound if something did not report it.
    pub fn known_cost_usd(&self) -> f64 {
        self.cost.known + self.judges.cost.known
    }
}

/// What was scored was answered, even if the row does not hold the answer.
fn was_answered(row: &Row) -> bool {
    let is_measured = row.tokens.is_some() || row.cost_usd.is_some();
    is_measured || row.candidate_answer.is_some() || row.score.is_some()
}

/// Removes floating-point noise; a price per token has fewer than twelve decimals.
fn rounded_cost(cost: f64) -> f64 {
    if cost.abs() < 1e3 { (cost * 1e12).round() / 1e12 } else { (cost * 1e6).round() / 1e6 }
}

#[cfg(test)]
mod tests {
    use super::super::testing::row;
    use super::*;

    fn totals(rows: &[Row]) -> RunTotals {
        let mut totals = RunTotals::default();
        rows.iter().for_each(|row| totals.add(row));
        totals
    }

    fn unanswered(outcome: Outcome) -> Row {
        let mut row = row("b", 1);
        row.outcome = outcome;
        (row.candidate_answer, row.score) = (None, None);
        (row.tokens, row.cost_usd) = (None, None);
        row
    }

    #[test]
    fn an_unknown_addend_makes_the_sum_unknown() {
        let mut sum = PartialSum::default();
        assert_eq!((sum.whole(), sum.has_addends()), (Some(0.0), false));
        sum.add(Some(0.5));
        assert_eq!(sum.whole(), Some(0.5));
        sum.add(None);
        assert_eq!(sum.whole(), None);
        assert_eq!((sum.known, sum.unreported), (0.5, 1));
    }

    #[test]
    fn cases_without_an_answer_are_not_addends() {
        let mut answered = row("a", 1);
        answered.cost_usd = Some(0.5);
        for outcome in [Outcome::Errored, Outcome::Skipped] {
            let totals = totals(&[answered.clone(), unanswered(outcome)]);
            assert_eq!(totals.cost_usd(), Some(0.5));
            assert!(totals.tokens().is_some());
        }
    }

    #[test]
    fn an_answer_from_the_cache_costs_nothing() {
        let mut cached = row("b", 1);
        (cached.cached, cached.tokens) = (Some(true), None);
        let asked = row("a", 1);
        let totals = totals(&[asked.clone(), cached]);
        assert_eq!((totals.reused, totals.cost_usd()), (1, asked.cost_usd));
        assert_eq!(totals.tokens(), asked.tokens);
    }

    #[test]
    fn an_answer_of_unknown_cost_makes_the_cost_unknown() {
        let known = row("a", 1);
        let mut unknown = row("b", 1);
        unknown.cost_usd = None;
        let totals = totals(&[known.clone(), unknown]);
        assert_eq!(totals.cost_usd(), None);
        assert!(totals.tokens().is_some());
        assert_eq!(Some(totals.cost.known), known.cost_usd);
    }
}
