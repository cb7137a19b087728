//! A share with how sure it is. The only place of the page that knows how intervals are made.

use evalrig_core::model::Outcome;
use evalrig_core::stats::{Interval, SELF_EVIDENT, between, percent, wilson};
use serde_json::{Value, json};

use super::super::test_sample::Sample;
use crate::results::OutcomeCounts;

const CONFIDENCE: f64 = 0.95;

#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Rate {
    pub passes: u64,
    /// Those with a verdict.
    pub trials: u64,
    /// The interval of a sample that knows which cases belong to one test.
    sampled: Option<Interval>,
    /// Of so many tests that people need no interval.
    is_evident: bool,
}

impl Rate {
    /// Of cases that have nothing to do with each other, as far as is known.
    pub const fn plain(passes: u64, trials: u64) -> Self {
        Self { passes, trials, sampled: None, is_evident: trials >= SELF_EVIDENT }
    }

    pub fn of(counts: &OutcomeCounts, sample: Option<&Sample>) -> Self {
        let Some(sample) = sample else { return Self::of_interval(counts, None) };
        let is_evident = sample.shown_rate().is_none();
        Self { is_evident, ..Self::of_interval(counts, sample.rate()) }
    }

    /// With an interval that is known already.
    pub fn of_interval(counts: &OutcomeCounts, sampled: Option<Interval>) -> Self {
        let plain = Self::plain(counts.of(Outcome::Passed), counts.judged());
        Self { sampled, is_evident: plain.is_evident && sampled.is_none(), ..plain }
    }

    /// `None` without verdicts.
    fn interval(self) -> Option<Interval> {
        let wilson = || wilson(self.passes, self.trials, CONFIDENCE);
        (self.trials > 0).then(|| self.sampled.unwrap_or_else(wilson))
    }

    pub fn percent(self) -> Option<String> {
        (self.trials > 0).then(|| format!("{} %", percent(self.passes, self.trials)))
    }

    /// `95 % CI 76–99 %`. `None` from [`SELF_EVIDENT`] tests on.
    pub fn doubt(self) -> Option<String> {
        self.interval().filter(|_| !self.is_evident).map(between)
    }

    /// For drawing, which has room for the narrowest interval too.
    pub fn document(self) -> Value {
        let rounded = |share: f64| (share * 1e4).round() / 1e4;
        let interval = self.interval();
        json!({
            "passed": self.passes,
            "n": self.trials,
            "interval": interval.map(|found| [rounded(found.low), rounded(found.high)]),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn rate(passes: u64, trials: u64) -> Rate {
        Rate::plain(passes, trials)
    }

    #[test]
    fn a_certain_rate_still_has_a_width() {
        assert_eq!(rate(3, 3).percent().unwrap(), "100 %");
        assert_eq!(rate(3, 3).doubt().unwrap(), "95 % CI 44–100 %");
        let drawn = json!({"passed": 3, "n": 3, "interval": [0.4385, 1.0]});
        assert_eq!(rate(3, 3).document(), drawn);
    }

    #[test]
    fn many_trials_are_drawn_with_an_interval_and_told_without() {
        assert_eq!(rate(150, 200).doubt(), None);
        let drawn = json!({"passed": 150, "n": 200, "interval": [0.6857, 0.8049]});
        assert_eq!(rate(150, 200).document(), drawn);
        assert!(rate(150, 199).doubt().is_some());
    }

    #[test]
    fn nothing_has_no_rate() {
        assert_eq!((rate(0, 0).percent(), rate(0, 0).doubt()), (None, None));
        assert_eq!(rate(0, 0).document()["interval"], Value::Null);
    }
}
