//! Readings of the same answer by the same judge: how often they differ, and whether the first one does.

use std::collections::BTreeMap;

use crate::stats::{Interval, SplitMix64, clustered_mean};

use super::finding::Judged;

/// Draws of the permutation test.
const DRAWS: u64 = 9_999;

/// How often a judge changes its mind about an answer.
#[derive(Debug, Clone, PartialEq)]
pub struct RepeatFinding {
    /// Answers with two readings or more.
    pub answers: u64,
    pub readings: u64,
    /// Answers whose readings differ.
    pub disputed: u64,
    /// The chance that two readings of an answer differ, with its 95 % interval. `None` without repeated
    /// readings.
    pub flip_rate: Option<(f64, Interval)>,
    /// `None` if no answer has votes that differ.
    pub order: Option<ReadingOrder>,
}

/// Whether the first of several votes says something else than the others.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ReadingOrder {
    /// Answers whose votes differ.
    pub answers: u64,
    /// Share of passes among first votes less that among the others.
    pub difference: f64,
    /// The chance of a difference at least as large if the order does not matter.
    pub p: f64,
}

impl RepeatFinding {
    pub(super) fn of(all: &[Judged<'_>], clusters: usize, seed: u64) -> Self {
        let mut by_answer: BTreeMap<(&str, &str), (usize, Vec<bool>)> = BTreeMap::new();
        for one in all {
            let key = (one.answer.test.as_str(), one.answer.hash.as_str());
            let (_, readings) = by_answer.entry(key).or_insert((one.cluster, Vec::new()));
            readings.extend(one.readings);
        }
        by_answer.retain(|_, (_, readings)| readings.len() > 1);
        let mut rates = vec![Vec::new(); clusters];
        for (cluster, readings) in by_answer.values() {
            rates[*cluster].push(flip_rate(readings));
        }
        let differ = |readings: &[bool]| readings.iter().any(|one| *one != readings[0]);
        Self {
            answers: by_answer.len() as u64,
            readings: by_answer.values().map(|(_, readings)| readings.len() as u64).sum(),
            disputed: by_answer.values().filter(|(_, readings)| differ(readings)).count() as u64,
            flip_rate: clustered_mean(&rates, 0.95),
            order: ReadingOrder::of(all, seed),
        }
    }
}

/// The share of pairs of readings that differ.
fn flip_rate(readings: &[bool]) -> f64 {
    let count = readings.len() as f64;
    let passes = readings.iter().filter(|passes| **passes).count() as f64;
    passes * (count - passes) / (count * (count - 1.0) / 2.0)
}

impl ReadingOrder {
    /// Within each set of votes, every vote is the first one equally often if the order does not matter.
    fn of(all: &[Judged<'_>], seed: u64) -> Option<Self> {
        let differ = |readings: &&[bool]| readings.iter().any(|one| *one != readings[0]);
        let sets: Vec<&[bool]> = all.iter().map(|one| one.readings).filter(differ).collect();
        if sets.is_empty() {
            return None;
        }
        let seen = sets.iter().map(|readings| lead(readings, 0)).sum::<f64>();
        let mut random = SplitMix64::new(seed);
        let mut as_far = 1;
        for _ in 0..DRAWS {
            let drawn = sets.iter().map(|readings| {
                let first = random.below(readings.len() as u64) as usize;
                lead(readings, first)
            });
            as_far += u64::from(drawn.sum::<f64>().abs() >= seen.abs() - 1e-9);
        }
        Some(Self {
            answers: sets.len() as u64,
            difference: seen / sets.len() as f64,
            p: as_far as f64 / (DRAWS + 1) as f64,
        })
    }
}

/// The reading at `first` less the mean of the others.
fn lead(readings: &[bool], first: usize) -> f64 {
    let passes = readings.iter().filter(|passes| **passes).count() as f64;
    let own = f64::from(u8::from(readings[first]));
    own - (passes - own) / (readings.len() - 1) as f64
}

#[cfg(test)]
mod tests {
    use super::super::answer::testing::answer;
    use super::super::finding::check_judges;
    use super::*;

    fn read(sets: &[&[bool]]) -> RepeatFinding {
        let answers: Vec<_> = sets
            .iter()
            .enumerate()
            .map(|(at, readings)| {
                let mut one = answer(at, true, None);
                one.judges[0].readings = readings.to_vec();
                one
            })
            .collect();
        check_judges(&answers, 3).remove(0).repeats
    }

    #[test]
    fn two_of_three_readings_differ_in_two_of_three_pairs() {
        let found = read(&[&[true, true, false], &[true, true, true], &[false]]);
        assert_eq!((found.answers, found.readings, found.disputed), (2, 6, 1));
        let (rate, interval) = found.flip_rate.unwrap();
        assert!((rate - 1.0 / 3.0).abs() < 1e-12 && interval.holds(rate), "{rate} {interval:?}");
        assert_eq!(read(&[&[true], &[false]]).flip_rate, None);
    }

    #[test]
    fn equal_answers_of_a_test_are_readings_of_one_answer() {
        let mut twice = vec![answer(0, true, None), answer(0, false, None)];
        twice[1].is_reread = true;
        let found = check_judges(&twice, 3).remove(0);
        assert_eq!((found.judged, found.repeats.answers, found.repeats.disputed), (1, 1, 1));
        assert_eq!(found.repeats.order, None);
    }

    #[test]
    fn a_first_vote_that_is_kinder_is_seen() {
        let kind: Vec<&[bool]> = vec![&[true, false, false]; 12];
        let order = read(&kind).order.unwrap();
        assert_eq!((order.answers, order.difference), (12, 1.0));
        assert!(order.p < 0.001, "{order:?}");
        let mixed: Vec<&[bool]> =
            vec![&[true, false, false], &[false, true, false], &[false, false, true]];
        assert!(read(&mixed).order.unwrap().p > 0.5);
    }
}
