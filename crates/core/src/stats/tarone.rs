//! Which of many tests changed beyond chance: Tarone's and Holm's correction for their number.

use super::pass_split::{PassTotals, SplitModel, candidate_passes, count_passes};
use super::{Cluster, Pair};

/// Whether a test changed beyond chance, and how.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mark {
    Dropped,
    Gained,
}

/// In at most a share of `drop_level` of comparisons without any drop is a test marked as dropped,
/// and the same for gains. Values are 0 or 1.
///
/// Tests of a group fail together when their fixture fails, which no model of a test's own trials knows.
/// Their p-values are at least those of exchanging whole runs, so fewer than 19 base runs never mark
/// them at 5 %.
pub(crate) fn mark(pairs: &[Pair], drop_level: f64, gain_level: f64) -> Vec<Option<Mark>> {
    let mut models = SplitModel::estimated(pairs);
    let tails_of = |pair: &Pair| match pair.cluster {
        Cluster::Group(_) => with_runs(tails(pair, &mut models), pair),
        Cluster::Alone | Cluster::Test(_) => tails(pair, &mut models),
    };
    let tails: Vec<[Tail; 2]> = pairs.iter().map(tails_of).collect();
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

/// Of few passes, and of many; by the model that finds them likeliest.
fn tails(pair: &Pair, models: &mut [SplitModel]) -> [Tail; 2] {
    let totals = PassTotals::of(pair);
    let seen = candidate_passes(pair) - totals.least();
    let mut found = [Tail { chance: 0.0, least: 0.0 }; 2];
    for model in models {
        let chances = model.chances(totals);
        let sum = |part: &[f64]| part.iter().sum::<f64>().min(1.0);
        let sides = [
            (sum(&chances[..=seen]), chances[0]),
            (sum(&chances[seen..]), chances[chances.len() - 1]),
        ];
        for (tail, (chance, least)) in found.iter_mut().zip(sides) {
            tail.chance = tail.chance.max(chance);
            tail.least = tail.least.max(least);
        }
    }
    found
}

/// Raised to the share of whole runs, the candidate among them, that have as few passes as the candidate,
/// or as many.
fn with_runs(model: [Tail; 2], pair: &Pair) -> [Tail; 2] {
    let rate = |run: &Vec<f64>| count_passes(run.iter().copied()) as f64 / run.len() as f64;
    let seen = rate(&pair.candidate);
    let rates: Vec<f64> = pair.base.iter().filter(|run| !run.is_empty()).map(rate).collect();
    let all = (rates.len() + 1) as f64;
    let share = |is_as_extreme: fn(f64, f64) -> bool| {
        let count = rates.iter().filter(|rate| is_as_extreme(**rate, seen)).count();
        (count + 1) as f64 / all
    };
    let chances = [share(|rate, seen| rate <= seen), share(|rate, seen| rate >= seen)];
    let raised = |at: usize| Tail {
        chance: model[at].chance.max(chances[at]),
        least: model[at].least.max(1.0 / all),
    };
    [raised(0), raised(1)]
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

    /// A fixture that fails takes all tests of its group with it: one run of five did.
    #[test]
    fn a_group_is_marked_by_whole_runs_alone() {
        let pooled = |runs: usize, now: usize, cluster: Cluster| Pair {
            cluster,
            ..Pair::pooled(vec![side(5, 5); runs], side(now, 5))
        };
        let suite = |runs: usize, cluster: Cluster| -> Vec<Pair> {
            let others = (0..15).map(|_| pooled(runs, 5, Cluster::Alone));
            others.chain((0..5).map(|_| pooled(runs, 0, cluster))).collect()
        };
        let dropped = |pairs: &[Pair]| {
            mark(pairs, 0.05, 0.01).iter().filter(|mark| **mark == Some(Mark::Dropped)).count()
        };
        assert_eq!(dropped(&suite(4, Cluster::Alone)), 5);
        assert_eq!(dropped(&suite(1, Cluster::Group(0))), 0);
        assert_eq!(dropped(&suite(4, Cluster::Group(0))), 0);
        // 1 in 100 runs, which is the level for each of the five.
        assert_eq!(dropped(&suite(98, Cluster::Group(0))), 0);
        assert_eq!(dropped(&suite(99, Cluster::Group(0))), 5);
    }

    /// Grouped tests that cannot be marked cost the others nothing.
    #[test]
    fn a_broken_test_beside_a_group_is_found() {
        let mut pairs = vec![Pair { cluster: Cluster::Group(0), ..pair(2, 3, 5) }; 15];
        pairs.push(pair(5, 0, 5));
        assert_eq!(mark(&pairs, 0.05, 0.01)[15], Some(Mark::Dropped));
        pairs.iter_mut().for_each(|pair| pair.cluster = Cluster::Alone);
        assert_eq!(mark(&pairs, 0.05, 0.01)[15], None);
    }
}
