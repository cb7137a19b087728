//! What both runs used for the tests that are compared: cost, tokens and time of a case.

use super::case::ComparedCase;
use super::pairing::Match;
use crate::stats::mean;

/// Means over cases. `None` where one of the cases did not report the number.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct UsageChange {
    pub cost: Option<UsageMeans>,
    pub tokens: Option<UsageMeans>,
    pub duration_ms: Option<UsageMeans>,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub struct UsageMeans {
    pub base: f64,
    pub candidate: f64,
}

impl UsageMeans {
    /// How much more the candidate uses, as a share of the base; `None` from nothing.
    pub fn growth(self) -> Option<f64> {
        (self.base > 0.0).then(|| self.candidate / self.base - 1.0)
    }
}

impl UsageChange {
    pub(super) fn of(matches: &[&Match]) -> Self {
        Self {
            cost: means(matches, |case| case.cost),
            tokens: means(matches, |case| case.tokens.map(|count| count as f64)),
            duration_ms: means(matches, |case| case.duration_ms.map(|ms| ms as f64)),
        }
    }
}

fn means(matches: &[&Match], value: impl Fn(&ComparedCase) -> Option<f64>) -> Option<UsageMeans> {
    let side = |cases: Vec<&ComparedCase>| -> Option<f64> {
        let measured = cases.into_iter().filter(|case| case.is_measured());
        let values = measured.map(&value).collect::<Option<Vec<f64>>>()?;
        (!values.is_empty()).then(|| mean(&values))
    };
    Some(UsageMeans {
        base: side(matches.iter().flat_map(|found| found.base.iter().copied()).collect())?,
        candidate: side(
            matches.iter().flat_map(|found| found.candidate.iter().copied()).collect(),
        )?,
    })
}

#[cfg(test)]
mod tests {
    use super::super::case::testing::trials;
    use super::super::pairing::pair;
    use super::*;

    fn usage(base: &[ComparedCase], candidate: &[ComparedCase]) -> UsageChange {
        UsageChange::of(&pair(base, candidate).matches.iter().collect::<Vec<_>>())
    }

    #[test]
    fn numbers_are_means_of_a_case() {
        let base = trials("a", 2, 2);
        let mut candidate = trials("a", 4, 4);
        candidate.iter_mut().for_each(|case| case.tokens = Some(30));
        candidate[0].tokens = Some(70);
        let tokens = usage(&base, &candidate).tokens.unwrap();
        assert_eq!(tokens, UsageMeans { base: 20.0, candidate: 40.0 });
        assert_eq!(tokens.growth(), Some(1.0));
    }

    #[test]
    fn one_unknown_number_makes_the_mean_unknown() {
        let base = trials("a", 2, 2);
        let mut candidate = base.clone();
        candidate[1].cost = None;
        assert_eq!(usage(&base, &candidate).cost, None);
        assert!(usage(&base, &base).cost.is_some());
    }
}
