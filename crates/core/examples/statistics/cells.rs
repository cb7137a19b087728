//! Many comparisons of one setting, and many settings at once.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use evalrig_core::compare::{
    CompareOptions, Comparison, ComparisonVerdict, Measure, Rule, SuiteVerdict, compare, judge,
};
use evalrig_core::stats::Pair;

use super::simulation::{Chance, Setting, Share, cases};

/// Ten points.
pub const MARGIN: f64 = 0.1;

/// Shares of the exit codes of the gate.
#[derive(Debug, Clone, Copy, Default)]
pub struct Exits {
    pub passed: usize,
    pub worse: usize,
    pub open: usize,
}

impl Exits {
    pub fn of(setting: &Setting, repeats: usize) -> Self {
        Self::with(setting, repeats, Setting::pairs)
    }

    pub fn with(
        setting: &Setting,
        repeats: usize,
        pairs: impl Fn(&Setting, &mut Chance) -> Vec<Pair>,
    ) -> Self {
        let mut random = setting.random();
        let mut found = Self::default();
        for _ in 0..repeats {
            match verdict(&pairs(setting, &mut random), &mut random).verdict {
                ComparisonVerdict::Worse => found.worse += 1,
                ComparisonVerdict::Inconclusive => found.open += 1,
                _ => found.passed += 1,
            }
        }
        found
    }

    fn share(self, hits: usize) -> Share {
        Share { hits, of: self.passed + self.worse + self.open }
    }

    pub fn worse(self) -> f64 {
        self.share(self.worse).value()
    }

    pub fn passed(self) -> f64 {
        self.share(self.passed).value()
    }

    pub fn text(self) -> String {
        let parts = [self.passed, self.worse, self.open];
        parts.map(|part| format!("{:.0}", 100.0 * self.share(part).value())).join(" / ")
    }
}

pub fn verdict(pairs: &[Pair], random: &mut Chance) -> SuiteVerdict {
    let rule = Rule { measure: Measure::Rate, margin: MARGIN, seed: random.0.below(u64::MAX) };
    judge(pairs, &rule).expect("a suite has tests")
}

/// Comparisons with the marks of tests.
pub fn comparisons(
    setting: &Setting,
    repeats: usize,
    pairs: fn(&Setting, &mut Chance) -> Vec<Pair>,
    mut look: impl FnMut(&Comparison),
) {
    let mut random = setting.random();
    for _ in 0..repeats {
        let [base, candidate] = cases(&pairs(setting, &mut random));
        look(&compare(&base, &candidate, &CompareOptions::default()));
    }
}

/// Results in the order of the jobs, computed on all cores.
pub fn in_parallel<T: Sync, R: Send>(jobs: &[T], work: impl Fn(&T) -> R + Sync) -> Vec<R> {
    let next = AtomicUsize::new(0);
    let found: Mutex<Vec<Option<R>>> = Mutex::new(jobs.iter().map(|_| None).collect());
    let threads = thread::available_parallelism().map_or(1, usize::from);
    thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                while let Some((at, job)) = {
                    let at = next.fetch_add(1, Ordering::Relaxed);
                    jobs.get(at).map(|job| (at, job))
                } {
                    let result = work(job);
                    found.lock().expect("no worker panics")[at] = Some(result);
                }
            });
        }
    });
    let found = found.into_inner().expect("no worker panics");
    found.into_iter().map(|result| result.expect("every job was done")).collect()
}

/// `4.1`: percent.
pub fn percent(share: f64) -> String {
    format!("{:.1}", 100.0 * share)
}

/// `4.1 (5.3)`: the mean and the highest.
pub fn mean_and_highest(shares: &[f64]) -> String {
    let mean = shares.iter().sum::<f64>() / shares.len() as f64;
    let highest = shares.iter().copied().fold(0.0, f64::max);
    format!("{} ({})", percent(mean), percent(highest))
}
