//! One test in several base runs and in the candidate.

use super::mean;

/// The values of one test's trials against one target. Where rates are compared, a pass is 1 and
/// anything else 0.
#[derive(Debug, Clone, PartialEq)]
pub struct Pair {
    /// One list for each base run; empty where the run does not have the test. Not all are empty.
    pub base: Vec<Vec<f64>>,
    /// Not empty.
    pub candidate: Vec<f64>,
    pub cluster: Cluster,
}

/// Which pairs resemble each other, so that they are not independent evidence.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Cluster {
    /// Nothing else depends on it.
    #[default]
    Alone,
    /// The same test on several targets.
    Test(usize),
    /// Tests with a shared fixture, which may fail in all of them at once.
    Group(usize),
}

impl Pair {
    /// One base run, and no other pair that resembles it.
    pub fn new(base: Vec<f64>, candidate: Vec<f64>) -> Self {
        Self::pooled(vec![base], candidate)
    }

    /// Several base runs.
    pub fn pooled(base: Vec<Vec<f64>>, candidate: Vec<f64>) -> Self {
        Self { base, candidate, cluster: Cluster::Alone }
    }

    pub fn base_values(&self) -> impl Iterator<Item = f64> + Clone {
        self.base.iter().flatten().copied()
    }

    pub fn base_trials(&self) -> usize {
        self.base.iter().map(Vec::len).sum()
    }

    pub fn base_mean(&self) -> f64 {
        self.base_values().sum::<f64>() / self.base_trials() as f64
    }

    /// How much the test gained.
    pub fn gain(&self) -> f64 {
        mean(&self.candidate) - self.base_mean()
    }

    /// A test whose trials all have the same value is the same in every arrangement.
    pub(super) fn can_move(&self) -> bool {
        let first = self.candidate[0];
        self.base_values().chain(self.candidate.iter().copied()).any(|value| value != first)
    }
}

/// The members of each cluster, in the order of their first members.
pub(crate) fn clusters(pairs: &[Pair]) -> Vec<Vec<usize>> {
    let mut found: Vec<Vec<usize>> = Vec::new();
    let mut places = std::collections::HashMap::new();
    for (at, pair) in pairs.iter().enumerate() {
        let key = match pair.cluster {
            Cluster::Alone => {
                found.push(vec![at]);
                continue;
            }
            Cluster::Test(number) => (false, number),
            Cluster::Group(number) => (true, number),
        };
        let place = *places.entry(key).or_insert_with(|| {
            found.push(Vec::new());
            found.len() - 1
        });
        found[place].push(at);
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_gain_is_against_all_base_trials() {
        let pair = Pair::pooled(vec![vec![1.0, 1.0], Vec::new(), vec![0.0]], vec![1.0, 0.0]);
        assert_eq!(pair.base_trials(), 3);
        assert!((pair.gain() - (0.5 - 2.0 / 3.0)).abs() < 1e-12);
    }

    #[test]
    fn groups_and_tests_with_one_number_are_different_clusters() {
        let pair = |cluster| Pair { cluster, ..Pair::new(vec![1.0], vec![1.0]) };
        let pairs = [
            pair(Cluster::Test(1)),
            pair(Cluster::Alone),
            pair(Cluster::Group(1)),
            pair(Cluster::Test(1)),
            pair(Cluster::Alone),
        ];
        assert_eq!(clusters(&pairs), [vec![0, 3], vec![1], vec![2], vec![4]]);
    }
}
