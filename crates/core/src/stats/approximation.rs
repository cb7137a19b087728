//! The exchange of labels by the normal distribution, in time in proportion to the trials.

use super::exchange::Permuted;
use super::score_exchange::swapped_gains;
use super::special::normal_below;
use super::{Pair, mean, variance};

/// Close to drawing for some hundreds of trials. It compares mean gains, so it does not see that a
/// few tests broke. With several base runs, whole runs are exchanged.
pub(crate) fn approximate_exchange(pairs: &[Pair]) -> Permuted {
    let mut sum = GainSum { step: f64::INFINITY, ..GainSum::default() };
    for pair in pairs.iter().filter(|pair| pair.can_move()) {
        if pair.base.iter().filter(|run| !run.is_empty()).count() > 1 {
            sum.add_runs(pair);
        } else {
            sum.add_trials(pair);
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

    fn add_runs(&mut self, pair: &Pair) {
        let gains: Vec<f64> = swapped_gains(pair).into_iter().flatten().collect();
        let centre = mean(&gains);
        self.excess += pair.gain() - centre;
        let squares = gains.iter().map(|gain| (gain - centre).powi(2));
        self.variance += squares.sum::<f64>() / gains.len() as f64;
        let (base, candidate) = (pair.base_trials() as f64, pair.candidate.len() as f64);
        self.step = self.step.min(1.0 / base + 1.0 / candidate);
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
        let still = approximate_exchange(&vec![Pair::new(side(5), side(5)); 5]);
        assert_eq!((still.down, still.up), (1.0, 1.0));
    }
}
