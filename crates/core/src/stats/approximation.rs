//! The exchange of labels by the normal distribution, in time in proportion to the trials.

use super::exchange::Permuted;
use super::score_exchange::{SwappedRun, swapped_runs};
use super::special::normal_below;
use super::{Cluster, Pair, clusters, mean, variance};

/// Close to drawing for some hundreds of trials. It compares mean gains, so it does not see that a
/// few tests broke. With several base runs, whole runs are exchanged, of a group all at once.
pub(crate) fn approximate_exchange(pairs: &[Pair]) -> Permuted {
    let mut sum = GainSum { step: f64::INFINITY, ..GainSum::default() };
    let has_runs = |pair: &Pair| pair.base.iter().filter(|run| !run.is_empty()).count() > 1;
    for members in clusters(pairs) {
        let is_group = matches!(pairs[members[0]].cluster, Cluster::Group(_));
        let members = members.iter().map(|at| &pairs[*at]).filter(|pair| pair.can_move());
        let (pooled, single): (Vec<&Pair>, Vec<&Pair>) = members.partition(|pair| has_runs(pair));
        single.into_iter().for_each(|pair| sum.add_trials(pair));
        if is_group && !pooled.is_empty() {
            sum.add_runs(&pooled);
        } else {
            pooled.into_iter().for_each(|pair| sum.add_runs(&[pair]));
        }
    }
    if sum.variance <= 0.0 {
        return Permuted { down: 1.0, up: 1.0, is_exact: false };
    }
    // Half a step is added, because sums of passes have steps and the observed one counts in full.
    let tail = |gain: f64| normal_below((gain + 0.5 * sum.step) / sum.variance.sqrt());
    Permuted { down: tail(sum.excess), up: tail(-sum.excess), is_exact: false }
}

#[derive(Default)]
struct GainSum {
    /// The gain above its mean over all arrangements.
    excess: f64,
    variance: f64,
    /// The smallest difference between two sums.
    step: f64,
}

impl GainSum {
    fn add_trials(&mut self, pair: &Pair) {
        let (base, candidate) = (pair.base_trials() as f64, pair.candidate.len() as f64);
        let all: Vec<f64> = pair.base_values().chain(pair.candidate.iter().copied()).collect();
        self.excess += pair.gain();
        self.variance += variance(&all) * (base + candidate) / (base * candidate);
        self.step = self.step.min(1.0 / base + 1.0 / candidate);
    }

    /// Of tests that are exchanged together; only runs with all of them are.
    fn add_runs(&mut self, members: &[&Pair]) {
        let swapped: Vec<Vec<Option<SwappedRun>>> =
            members.iter().map(|pair| swapped_runs(pair)).collect();
        let places = swapped.iter().map(Vec::len).max().unwrap_or(0);
        let (mut gains, mut sampling) = (Vec::new(), 0.0);
        for place in 0..places {
            let runs: Option<Vec<&SwappedRun>> =
                swapped.iter().map(|runs| runs.get(place)?.as_ref()).collect();
            let Some(runs) = runs else { continue };
            gains.push(runs.iter().map(|run| run.gain()).sum::<f64>());
            sampling += runs.iter().map(|run| run.sampling_variance()).sum::<f64>();
        }
        let centre = mean(&gains);
        let squares: f64 = gains.iter().map(|gain| (gain - centre).powi(2)).sum();
        self.excess += members.iter().map(|pair| pair.gain()).sum::<f64>() - centre;
        self.variance += (squares + sampling) / gains.len() as f64;
        for pair in members {
            let (base, candidate) = (pair.base_trials() as f64, pair.candidate.len() as f64);
            self.step = self.step.min(1.0 / base + 1.0 / candidate);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::exchange::Effort;
    use super::super::score_exchange::exchange_scores;
    use super::*;

    fn side(passes: usize) -> Vec<f64> {
        (0..5).map(|at| f64::from(u8::from(at < passes))).collect()
    }

    #[test]
    fn the_approximation_is_close_to_drawing() {
        for (runs, lost) in [(1, 0), (1, 5), (1, 20), (4, 0), (4, 5), (4, 20)] {
            let pairs: Vec<Pair> = (0..60)
                .map(|at| {
                    let base = (0..runs).map(|run| side(3 + (at + run) % 3)).collect();
                    Pair::pooled(base, side(4 - usize::from(at < lost)))
                })
                .collect();
            let drawn = exchange_scores(&pairs, 1, Effort::Full);
            let close = approximate_exchange(&pairs);
            assert!((drawn.down - close.down).abs() < 0.02, "{runs} {lost}: {drawn:?} {close:?}");
            assert!((drawn.up - close.up).abs() < 0.02, "{runs} {lost}: {drawn:?} {close:?}");
        }
        // Five tests at a time have the same runs.
        let grouped = |at: usize, lost: usize| {
            let base = (0..4).map(|run| side(3 + (at / 5 + run) % 3)).collect();
            let pair = Pair::pooled(base, side(4 - usize::from(at < lost)));
            Pair { cluster: Cluster::Group(at / 5), ..pair }
        };
        let pairs: Vec<Pair> = (0..100).map(|at| grouped(at, 20)).collect();
        let drawn = exchange_scores(&pairs, 1, Effort::Full);
        let close = approximate_exchange(&pairs);
        // Sums of 20 groups have large steps.
        assert!((drawn.down - close.down).abs() < 0.06, "{drawn:?} {close:?}");
        let alone: Vec<Pair> =
            pairs.iter().map(|pair| Pair { cluster: Cluster::Alone, ..pair.clone() }).collect();
        assert!(approximate_exchange(&alone).down < 0.06 && close.down > 0.15, "{close:?}");
        let still = approximate_exchange(&vec![Pair::new(side(5), side(5)); 5]);
        assert_eq!((still.down, still.up), (1.0, 1.0));
    }
}
