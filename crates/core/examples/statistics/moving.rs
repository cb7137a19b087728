//! Suites whose tests change by themselves, up or down, and how often an interval holds that nothing
//! has changed on average. Used by the tests beside it too.

use evalrig_core::compare::Measure;
use evalrig_core::stats::{Cluster, Drift, Pair, difference};

use super::simulation::{Chance, Setting, Share};

/// Tests whose rates change at random, so that the mean over all such tests stays.
#[derive(Debug, Clone, Copy)]
pub struct Moving {
    pub setting: Setting,
    pub targets: usize,
    /// How much of a test's rate is drawn anew for the candidate.
    pub share: f64,
}

impl Moving {
    fn pairs(&self, random: &mut Chance) -> Vec<Pair> {
        let Setting { tests, trials, base_runs, shape, .. } = self.setting;
        let before = shape.rates(tests, random);
        let other = shape.rates(tests, random);
        let mut pairs = Vec::new();
        for (test, (rate, other)) in before.iter().zip(other).enumerate() {
            let now = (1.0 - self.share) * rate + self.share * other;
            for _ in 0..self.targets {
                let base = (0..base_runs).map(|_| random.passes(trials, *rate)).collect();
                let pair = Pair::pooled(base, random.passes(trials, now));
                let cluster = if self.targets > 1 { Cluster::Test(test) } else { Cluster::Alone };
                pairs.push(Pair { cluster, ..pair });
            }
        }
        pairs
    }

    pub fn coverage(&self, repeats: usize) -> Share {
        let mut random = self.setting.random();
        let holds = |_: &usize| holds_nothing(&self.pairs(&mut random));
        Share { hits: (0..repeats).filter(holds).count(), of: repeats }
    }
}

/// Whether the printed interval holds 0. It is wider where base runs shift as a whole.
fn holds_nothing(pairs: &[Pair]) -> bool {
    let (delta, interval) = difference(pairs, Measure::Rate, 0.95).expect("a suite has tests");
    let factor = Drift::of(pairs).shift().sqrt();
    let low = delta - (delta - interval.low) * factor;
    let high = delta + (interval.high - delta) * factor;
    low <= 0.0 && 0.0 <= high
}
