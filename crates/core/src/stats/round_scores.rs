//! Arrangements of scores with their history.

use super::look::LookStatistic;
use super::pair::clusters;
use super::round_pair::RoundPair;
use super::{Cluster, Drift, Pair, SplitMix64, mean};

pub(super) struct ScorePaths {
    tests: Vec<ScoreTest>,
    units: Vec<ScoreUnit>,
    /// Whether whole runs are exchanged; otherwise trials.
    is_by_run: bool,
    seen: LookStatistic,
}

struct ScoreTest {
    /// The candidate first, then the base runs. With a single base run both are shuffled as one.
    runs: Vec<Vec<f64>>,
    total: f64,
    size: usize,
    /// By look, trials of the base and of the candidate.
    looks: Vec<[usize; 2]>,
}

/// Tests that are exchanged together, and the runs that may take the candidate's place.
struct ScoreUnit {
    tests: Vec<usize>,
    runs: Vec<usize>,
}

impl ScorePaths {
    pub(super) fn of(pairs: &[RoundPair], looks: usize) -> Self {
        let plain: Vec<Pair> = pairs.iter().map(|one| one.pair.clone()).collect();
        let gain = pairs.iter().map(|one| one.pair.gain()).sum();
        let test = |one: &RoundPair| {
            let runs: Vec<Vec<f64>> =
                std::iter::once(&one.pair.candidate).chain(&one.pair.base).cloned().collect();
            ScoreTest {
                total: runs.iter().flatten().sum(),
                size: runs.iter().map(Vec::len).sum(),
                runs,
                looks: one.seen[..looks].to_vec(),
            }
        };
        let tests: Vec<ScoreTest> = pairs.iter().map(test).collect();
        Self {
            units: units(&plain, &tests),
            tests,
            is_by_run: Drift::of(&plain).runs > 1,
            seen: of_gain(gain),
        }
    }

    pub(super) fn seen(&self) -> LookStatistic {
        self.seen
    }

    pub(super) fn draw(&mut self, path: &mut [LookStatistic], random: &mut SplitMix64) {
        let mut gains = vec![0.0; path.len()];
        if self.is_by_run {
            for unit in &self.units {
                let run = unit.runs[random.below(unit.runs.len() as u64) as usize];
                for at in &unit.tests {
                    self.tests[*at].add_swapped(run, &mut gains, random);
                }
            }
        } else {
            for test in &mut self.tests {
                test.add_shuffled(&mut gains, random);
            }
        }
        for (found, gain) in path.iter_mut().zip(gains) {
            *found = of_gain(gain);
        }
    }
}

fn of_gain(gain: f64) -> LookStatistic {
    LookStatistic { drop: -gain, gain }
}

fn units(pairs: &[Pair], tests: &[ScoreTest]) -> Vec<ScoreUnit> {
    let unit = |members: Vec<usize>| {
        let most = members.iter().map(|at| tests[*at].runs.len()).max().unwrap_or(1);
        let has = |at: &usize, run: usize| tests[*at].runs.get(run).is_some_and(|r| !r.is_empty());
        let runs = (0..most).filter(|run| members.iter().all(|at| has(at, *run))).collect();
        ScoreUnit { tests: members, runs }
    };
    let mut found = Vec::new();
    for members in clusters(pairs) {
        if matches!(pairs[members[0]].cluster, Cluster::Group(_)) {
            found.push(unit(members));
        } else {
            found.extend(members.into_iter().map(|at| unit(vec![at])));
        }
    }
    found
}

impl ScoreTest {
    /// A run in the candidate's place; its trials come in any order.
    fn add_swapped(&self, run: usize, gains: &mut [f64], random: &mut SplitMix64) {
        let mut values = self.runs[run].clone();
        let sum: f64 = values.iter().sum();
        let rest = (self.total - sum) / (self.size - values.len()) as f64;
        shuffle(&mut values, random);
        for (gain, [_, trials]) in gains.iter_mut().zip(&self.looks) {
            let trials = (*trials).min(values.len());
            if trials > 0 {
                *gain += mean(&values[..trials]) - rest;
            }
        }
    }

    /// The trials of both sides are shuffled.
    fn add_shuffled(&mut self, gains: &mut [f64], random: &mut SplitMix64) {
        let mut values: Vec<f64> = self.runs.iter().flatten().copied().collect();
        shuffle(&mut values, random);
        let (candidate, base) = values.split_at(self.runs[0].len());
        for (gain, [base_trials, trials]) in gains.iter_mut().zip(&self.looks) {
            if *base_trials > 0 && *trials > 0 {
                *gain += mean(&candidate[..*trials]) - mean(&base[..*base_trials]);
            }
        }
    }
}

fn shuffle(values: &mut [f64], random: &mut SplitMix64) {
    for at in (1..values.len()).rev() {
        values.swap(at, random.below(at as u64 + 1) as usize);
    }
}
