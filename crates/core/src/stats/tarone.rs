//! Which of many tests changed beyond chance: Tarone's and Holm's correction for their number.

use super::Pair;
use super::pass_split::{PassTotals, SplitModel, candidate_passes};

/// Whether a test changed beyond chance, and how.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mark {
    Dropped,
    Gained,
}

/// In at most a share of `drop_level` of comparisons without any drop is a test marked as dropped,
/// and the same for gains. Values are 0 or 1.
pub(crate) fn mark(pairs: &[Pair], drop_level: f64, gain_level: f64) -> Vec<Option<Mark>> {
    let mut model = SplitModel::estimated(pairs);
    let tails: Vec<[Tail; 2]> = pairs.iter().map(|pair| tails(pair, &mut model)).collect();
    let of = |side: usize| -> Vec<Tail> { tails.iter().map(|tails| tails[side]).collect() };
    let dropped = significant(&of(0), drop_level);
    let gained = significant(&of(1), gain_level);
    let mark = |(dropped, gained)| match (dropped, gained) {
        (true, _) => Some(Mark::Dropped),
        (_, true) => Some(Mark::Gained),
        _ => None,
    };
    dropped.into_iter().zip(gained).map(mark).collect()
}

/// A one-sided p-value of one test.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Tail {
    chance: f64,
    /// The smallest p-value that the test's passes and trials allow.
    least: f64,
}

/// Of few passes, and of many.
fn tails(pair: &Pair, model: &mut SplitModel) -> [Tail; 2] {
    let totals = PassTotals::of(pair);
    let chances = model.chances(totals);
    let seen = candidate_passes(pair) - totals.least();
    let sum = |part: &[f64]| part.iter().sum::<f64>().min(1.0);
    [
        Tail { chance: sum(&chances[..=seen]), least: chances[0] },
        Tail { chance: sum(&chances[seen..]), least: chances[chances.len() - 1] },
    ]
}

/// Tarone (1990), stepwise as in Hommel and Krummenauer (1998): tests that cannot reach the level
/// do not count in the correction, and neither do those already found.
fn significant(tails: &[Tail], level: f64) -> Vec<bool> {
    let mut found = vec![false; tails.len()];
    loop {
        let left: Vec<usize> = (0..tails.len()).filter(|at| !found[*at]).collect();
        let level = level / divisor(&left, tails, level) as f64;
        let hits: Vec<usize> = left.into_iter().filter(|at| tails[*at].chance <= level).collect();
        if hits.is_empty() {
            return found;
        }
        hits.into_iter().for_each(|at| found[at] = true);
    }
}

/// The least k for which at most k tests can reach the level divided by k.
fn divisor(left: &[usize], tails: &[Tail], level: f64) -> usize {
    let mut least: Vec<f64> = left.iter().map(|at| tails[*at].least).collect();
    least.sort_by(f64::total_cmp);
    let reach = |k: usize| least.partition_point(|least| *least <= level / k as f64);
    (1..=left.len().max(1)).find(|k| reach(*k) <= *k).unwrap_or(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn side(passes: usize, trials: usize) -> Vec<f64> {
        (0..trials).map(|at| f64::from(u8::from(at < passes))).collect()
    }

    fn pair(base: usize, candidate: usize, trials: usize) -> Pair {
        Pair::new(side(base, trials), side(candidate, trials))
    }

    #[test]
    fn tests_that_cannot_reach_the_level_do_not_count() {
        let tail = |chance: f64, least: f64| Tail { chance, least };
        let certain = vec![tail(1.0, 1.0); 100];
        let one = [vec![tail(0.04, 0.001)], certain].concat();
        assert_eq!(significant(&one, 0.05).iter().filter(|hit| **hit).count(), 1);
        // Holm would need 0.05 / 3 for the first, then 0.05 / 2.
        let three = [tail(0.016, 0.001), tail(0.024, 0.001), tail(0.06, 0.001)];
        assert_eq!(significant(&three, 0.05), [true, true, false]);
        let three = [tail(0.017, 0.001), tail(0.024, 0.001), tail(0.06, 0.001)];
        assert_eq!(significant(&three, 0.05), [false, false, false]);
        assert!(significant(&[], 0.05).is_empty());
    }

    #[test]
    fn a_broken_test_of_twenty_is_found_with_five_trials() {
        let mut pairs = vec![pair(5, 5, 5); 16];
        pairs.extend([pair(4, 5, 5), pair(3, 4, 5), pair(4, 3, 5)]);
        assert_eq!(mark(&pairs, 0.05, 0.01), vec![None; 19]);
        pairs.push(pair(5, 0, 5));
        let found = mark(&pairs, 0.05, 0.01);
        assert_eq!(found[19], Some(Mark::Dropped));
        assert!(found[..19].iter().all(Option::is_none));
    }

    #[test]
    fn gains_are_held_to_their_own_level() {
        let gained = [pair(0, 5, 5)];
        assert_eq!(mark(&gained, 0.05, 0.01), [Some(Mark::Gained)]);
        assert_eq!(mark(&gained, 0.05, 0.001), [None]);
    }

    /// In this base, runs of a test that fail as a whole are common.
    #[test]
    fn what_base_runs_do_themselves_is_not_beyond_chance() {
        let pooled = |base: [usize; 4], now: usize| {
            Pair::pooled(base.iter().map(|passes| side(*passes, 5)).collect(), side(now, 5))
        };
        let mut pairs = vec![pooled([5, 5, 5, 5], 5); 10];
        pairs.push(pooled([5, 5, 5, 5], 0));
        assert_eq!(mark(&pairs, 0.05, 0.01)[10], Some(Mark::Dropped));
        let torn = [[5, 0, 5, 5], [5, 5, 5, 0], [0, 5, 5, 5], [5, 5, 0, 5]];
        pairs.extend(torn.iter().map(|base| pooled(*base, 5)));
        assert_eq!(mark(&pairs, 0.05, 0.01)[10], None);
    }
}
