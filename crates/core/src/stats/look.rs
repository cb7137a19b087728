//! Permutation test of growing data: after each round it is decided whether to go on. The levels come
//! from the same arrangements as the p-value: of arrangements that would not have stopped before, no
//! more may look as bad as the limit of a look than the error spending allows it.

use super::exchange::{Effort, FIRST_DRAWS, Permuted, TIE, harmonic_mean};
use super::round_pair::RoundPair;
use super::round_passes::{PassPaths, PathMechanism};
use super::round_scores::ScorePaths;
use super::{Drift, Measure, Pair, SplitMix64};

/// More draws change nothing where the result is this many times above or below what may be spent.
const CLEAR: f64 = 5.0;
/// Kinds of arrangements: [`PathMechanism`] numbers them.
const KINDS: usize = 2;

/// The statistics of an arrangement at one look.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct LookStatistic {
    /// The larger, the more it looks like a drop.
    pub drop: f64,
    /// Sum of the gains of the tests.
    pub gain: f64,
}

/// From which statistics on a look stops, by kind of arrangement: their statistics differ.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Boundary {
    drop: [f64; KINDS],
    gain: [f64; KINDS],
}

impl Boundary {
    /// Of a look without a single test.
    pub const NONE: Self = Self { drop: [f64::INFINITY; KINDS], gain: [f64::INFINITY; KINDS] };
}

/// What a look may use up of the error rates of drops and of gains.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct LookSpending {
    pub drop: f64,
    pub gain: f64,
}

/// The result of a look.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct PermutedLook {
    pub permuted: Permuted,
    /// The highest p-values with which the look stops; 0 if it cannot.
    pub drop_level: f64,
    pub gain_level: f64,
    pub boundary: Boundary,
}

/// Looks at the trials so far. `earlier` are the boundaries of the looks before.
pub(crate) fn look(
    pairs: &[RoundPair],
    measure: Measure,
    earlier: &[Boundary],
    may_spend: LookSpending,
    seed: u64,
) -> PermutedLook {
    let draws = Effort::Full.draws(pairs.len() * (earlier.len() + 1));
    let looks = earlier.len() + 1;
    let plain: Vec<Pair> = pairs.iter().map(|one| one.pair.clone()).collect();
    let drift = Drift::of(&plain);
    let mut looker = LookDraws { earlier, may_spend, drift, draws, tails: Vec::new() };
    match measure {
        Measure::Rate => {
            let mut paths = PassPaths::of(pairs, looks);
            for mechanism in paths.mechanisms() {
                let mut random = mechanism.random(seed);
                let seen = paths.seen(mechanism);
                looker.draw(mechanism, seen, |path| paths.draw(mechanism, path, &mut random));
            }
        }
        Measure::Score => {
            let mut paths = ScorePaths::of(pairs, looks);
            let (mut random, seen) = (SplitMix64::new(seed), paths.seen());
            looker.draw(PathMechanism::Model, seen, |path| paths.draw(path, &mut random));
        }
    }
    looker.result()
}

/// What one kind of arrangement came to, in two directions.
struct LookTails {
    kind: usize,
    seen: LookStatistic,
    drop: DrawTail,
    gain: DrawTail,
}

/// The statistics of all arrangements, and of those that would not have stopped before.
#[derive(Default)]
struct DrawTail {
    all: Vec<f64>,
    open: Vec<f64>,
}

impl DrawTail {
    fn add(&mut self, value: f64, is_open: bool) {
        self.all.push(value);
        if is_open {
            self.open.push(value);
        }
    }

    /// The highest first.
    fn sort(&mut self) {
        for values in [&mut self.all, &mut self.open] {
            values.sort_by(|one, other| other.total_cmp(one));
        }
    }

    /// Share of all arrangements as high as this; the observed one counts as one of them.
    fn share(&self, value: f64) -> f64 {
        self.share_of(&self.all, value)
    }

    /// The same, without those that would have stopped before.
    fn open_share(&self, value: f64) -> f64 {
        self.share_of(&self.open, value)
    }

    fn share_of(&self, sorted: &[f64], value: f64) -> f64 {
        let hits = sorted.partition_point(|one| *one >= value - TIE);
        (hits + 1) as f64 / (self.all.len() + 1) as f64
    }

    /// The lowest statistic that uses up no more than allowed; infinite if there is none.
    fn boundary(&self, may_spend: f64) -> f64 {
        let fits = |value: &f64| self.open_share(*value) <= may_spend;
        let fitting = self.open.partition_point(fits);
        fitting.checked_sub(1).map_or(f64::INFINITY, |at| self.open[at])
    }

    /// The p-value of a boundary.
    fn level(&self, boundary: f64) -> Option<f64> {
        boundary.is_finite().then(|| self.share(boundary))
    }
}

struct LookDraws<'a> {
    earlier: &'a [Boundary],
    may_spend: LookSpending,
    drift: Drift,
    draws: usize,
    tails: Vec<LookTails>,
}

impl LookDraws<'_> {
    /// Draws arrangements with the statistics of all looks so far.
    fn draw(
        &mut self,
        mechanism: PathMechanism,
        seen: LookStatistic,
        mut arrange: impl FnMut(&mut [LookStatistic]),
    ) {
        let mut path = vec![LookStatistic::default(); self.earlier.len() + 1];
        let kind = mechanism as usize;
        let (drop, gain) = (DrawTail::default(), DrawTail::default());
        let mut tails = LookTails { kind, seen, drop, gain };
        for done in 0..self.draws {
            if done == FIRST_DRAWS && self.is_clear(&tails) {
                break;
            }
            arrange(&mut path);
            let (now, before) = path.split_last().expect("one for each look");
            let stops = |crosses: &dyn Fn(&LookStatistic, &Boundary) -> bool| {
                before.iter().zip(self.earlier).any(|(found, limit)| crosses(found, limit))
            };
            let is_worse =
                stops(&|found, limit| found.drop >= limit.drop[kind] - TIE && found.gain < 0.0);
            let is_better = stops(&|found, limit| found.gain >= limit.gain[kind] - TIE);
            tails.drop.add(now.drop, !is_worse);
            tails.gain.add(now.gain, !is_better);
        }
        tails.drop.sort();
        tails.gain.sort();
        self.tails.push(tails);
    }

    fn is_clear(&self, tails: &LookTails) -> bool {
        let is_clear = |tail: &DrawTail, seen: f64, may_spend: f64| {
            let hits = tail.open.iter().filter(|value| **value >= seen - TIE).count();
            let share = (hits + 1) as f64 / (tail.all.len() + 1) as f64;
            // Where runs shift, a share has to be far smaller to be a drop.
            share > CLEAR * may_spend || self.drift.excused(share) * CLEAR < may_spend
        };
        is_clear(&tails.drop, tails.seen.drop, self.may_spend.drop)
            && is_clear(&tails.gain, tails.seen.gain, self.may_spend.gain)
    }

    fn result(&self) -> PermutedLook {
        let mut boundary = Boundary::NONE;
        for tails in &self.tails {
            boundary.drop[tails.kind] = tails.drop.boundary(self.may_spend.drop);
            boundary.gain[tails.kind] = tails.gain.boundary(self.may_spend.gain);
        }
        let drop_levels = self.tails.iter().map(|one| one.drop.level(boundary.drop[one.kind]));
        let gain_levels = self.tails.iter().map(|one| one.gain.level(boundary.gain[one.kind]));
        let down = self.tails.iter().map(|tails| tails.drop.share(tails.seen.drop));
        let up = self.tails.iter().map(|tails| tails.gain.share(tails.seen.gain));
        PermutedLook {
            permuted: Permuted { down: joint(down), up: joint(up), is_exact: false },
            drop_level: joint_level(drop_levels, self.may_spend.drop),
            gain_level: joint_level(gain_levels, self.may_spend.gain),
            boundary,
        }
    }
}

/// Of one kind of arrangement, or of two, as in a comparison without rounds.
fn joint(mut shares: impl Iterator<Item = f64>) -> f64 {
    match (shares.next(), shares.next()) {
        (Some(one), None) => one,
        (Some(one), Some(other)) => harmonic_mean(one, other),
        _ => 1.0,
    }
}

/// Where one kind alone cannot stop, it is as if it used up just what it may: few runs have no
/// arrangement that is rare enough.
fn joint_level(levels: impl Iterator<Item = Option<f64>> + Clone, may_spend: f64) -> f64 {
    if levels.clone().all(|level| level.is_none()) {
        return 0.0;
    }
    joint(levels.map(|level| level.unwrap_or(may_spend)))
}

#[cfg(test)]
mod tests {
    use super::super::exchange::exchange_passes;
    use super::super::spending;
    use super::*;

    const WHOLE: LookSpending = LookSpending { drop: 0.05, gain: 0.01 };

    fn side(passes: usize, trials: usize) -> Vec<f64> {
        (0..trials).map(|at| f64::from(u8::from(at < passes))).collect()
    }

    fn whole(pair: Pair) -> RoundPair {
        let seen = vec![[pair.base_trials(), pair.candidate.len()]];
        RoundPair { pair, seen }
    }

    /// A single look is the comparison without rounds.
    #[test]
    fn one_look_uses_the_whole_level() {
        for runs in [1, 3] {
            let pairs: Vec<Pair> = (0..12)
                .map(|at| {
                    let base = (0..runs).map(|run| side(4 + (at + run) % 2, 5)).collect();
                    Pair::pooled(base, side(2 + at % 4, 5))
                })
                .collect();
            let fixed = exchange_passes(&pairs, 7, Effort::Full);
            let rounds: Vec<RoundPair> = pairs.into_iter().map(whole).collect();
            let found = look(&rounds, Measure::Rate, &[], WHOLE, 7);
            assert!((found.permuted.down - fixed.down).abs() < 0.01, "{found:?} {fixed:?}");
            assert!((found.permuted.up - fixed.up).abs() < 0.02, "{found:?} {fixed:?}");
            assert!((0.04..=0.05).contains(&found.drop_level), "{found:?}");
        }
    }

    fn round(pass: impl Fn(usize, usize) -> bool, rounds: usize) -> Vec<RoundPair> {
        let test = |at: usize| {
            let now = (0..rounds).map(|round| f64::from(u8::from(pass(at, round)))).collect();
            let pair = Pair::new(side(4, 5), now);
            RoundPair { pair, seen: (1..=rounds).map(|count| [5, count]).collect() }
        };
        (0..30).map(test).collect()
    }

    #[test]
    fn later_looks_know_what_earlier_ones_would_have_stopped() {
        let shares: Vec<f64> =
            (1..=4).map(|round| (0.25 + 0.2) / (1.0 / f64::from(round) + 0.2)).collect();
        let (drops, gains) = (spending(0.05, &shares), spending(0.01, &shares));
        let mut earlier = Vec::new();
        let mut levels = Vec::new();
        for looks in 1..=4 {
            let pairs = round(|at, round| (at + round) % 5 != 0, looks);
            let may_spend = LookSpending { drop: drops[looks - 1], gain: gains[looks - 1] };
            let found = look(&pairs, Measure::Rate, &earlier, may_spend, looks as u64);
            assert!(found.permuted.down > found.drop_level, "{found:?}");
            earlier.push(found.boundary);
            levels.push(found.drop_level);
        }
        // About what the normal recursion gives, and less where few values are possible.
        for (level, wanted) in levels.iter().zip([0.011, 0.017, 0.025, 0.034]) {
            assert!((0.5 * wanted..1.3 * wanted).contains(level), "{levels:?}");
        }
    }

    #[test]
    fn scores_have_levels_too() {
        let score = |at: usize, round: usize| 0.5 + 0.04 * ((at * 7 + round * 3) % 11) as f64;
        let pairs = |rounds: usize, drop: f64, runs: usize| -> Vec<RoundPair> {
            let test = |at: usize| {
                let base =
                    (0..runs).map(|run| (0..4).map(|n| score(at, n + 5 * run)).collect()).collect();
                let now = (0..rounds).map(|round| score(at, round + 20) - drop).collect();
                let seen = (1..=rounds).map(|count| [4 * runs, count]).collect();
                RoundPair { pair: Pair::pooled(base, now), seen }
            };
            (0..20).map(test).collect()
        };
        for runs in [1, 4] {
            let mut earlier = Vec::new();
            let may_spend = LookSpending { drop: 0.02, gain: 0.004 };
            for rounds in 1..=3 {
                let same = look(&pairs(rounds, 0.0, runs), Measure::Score, &earlier, may_spend, 3);
                let lost = look(&pairs(rounds, 0.3, runs), Measure::Score, &earlier, may_spend, 3);
                assert!(same.permuted.down > same.drop_level, "{runs}: {same:?}");
                assert!(lost.permuted.down <= lost.drop_level, "{runs}: {lost:?}");
                earlier.push(same.boundary);
            }
        }
    }

    /// The verdict divides what is rare by the shift, so it must be known how rare it is.
    #[test]
    fn runs_that_shift_need_every_draw_to_show_a_drop() {
        let test = |at: usize| {
            let base = [4, 3, 4, 2].map(|passes| side(passes - at % 2, 4)).to_vec();
            whole(Pair::pooled(base, side(0, 4)))
        };
        let pairs: Vec<RoundPair> = (0..30).map(test).collect();
        let found = look(&pairs, Measure::Rate, &[], WHOLE, 1);
        assert!(found.permuted.down < 0.0005, "{found:?}");
    }

    #[test]
    fn too_little_to_spend_never_stops() {
        let pairs = round(|_, _| false, 1);
        let none = LookSpending { drop: 0.0, gain: 0.0 };
        let found = look(&pairs, Measure::Rate, &[], none, 1);
        assert_eq!((found.drop_level, found.boundary), (0.0, Boundary::NONE));
        let still = round(|at, _| at > 40, 1);
        let found = look(&still[..0], Measure::Rate, &[], WHOLE, 1);
        assert_eq!((found.permuted.down, found.permuted.up), (1.0, 1.0));
    }
}
