//! How the durations of calls differ. Every draw is a function of the seed and of what is drawn, so
//! that a case is equally slow however many workers there are.

use std::f64::consts::TAU;
use std::str::FromStr;

use evalrig_core::stats::{Fnv1a, SplitMix64};

/// The form of a distribution; its mean is given apart.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Spread {
    Constant,
    Exponential,
    /// Sigma of the logarithm. At 1, one in a hundred takes 6 times the mean.
    LogNormal(f64),
    /// Exponent of the tail, above 1. At 1.5, one in a hundred takes 7 times the mean, and one in
    /// 10,000 takes 155 times.
    Pareto(f64),
}

impl Spread {
    /// A number with mean 1.
    pub(crate) fn draw(self, random: &mut SplitMix64) -> f64 {
        // Never 0, of which there is no logarithm.
        let mut share = || 1.0 - random.fraction();
        match self {
            Self::Constant => 1.0,
            Self::Exponential => -share().ln(),
            Self::LogNormal(sigma) => {
                let normal = (-2.0 * share().ln()).sqrt() * (TAU * share()).cos();
                (sigma * normal - sigma * sigma / 2.0).exp()
            }
            Self::Pareto(exponent) => (exponent - 1.0) / exponent * share().powf(-1.0 / exponent),
        }
    }
}

impl FromStr for Spread {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || {
            format!(
                "`{text}` is not one of constant, exponential, lognormal:SIGMA, pareto:EXPONENT (above 1)"
            )
        };
        let (name, number) = match text.split_once(':') {
            Some((name, number)) => (name, Some(number.parse::<f64>().map_err(|_| wrong())?)),
            None => (text, None),
        };
        match (name, number) {
            ("constant", None) => Ok(Self::Constant),
            ("exponential", None) => Ok(Self::Exponential),
            ("lognormal", Some(sigma)) if (0.0..=5.0).contains(&sigma) => {
                Ok(Self::LogNormal(sigma))
            }
            ("pareto", Some(exponent)) if exponent > 1.0 && exponent.is_finite() => {
                Ok(Self::Pareto(exponent))
            }
            _ => Err(wrong()),
        }
    }
}

/// What is drawn.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Subject {
    Answer,
    Judgement,
    Tokens,
    Jitter,
    Failures,
}

/// Random numbers for one subject of one case (or worker) in one of its attempts.
pub(crate) fn random_for(seed: u64, subject: Subject, number: u32, attempt: u32) -> SplitMix64 {
    let mut hash = Fnv1a::default();
    hash.add(&seed.to_le_bytes());
    hash.add(&[subject as u8]);
    hash.add(&number.to_le_bytes());
    hash.add(&attempt.to_le_bytes());
    SplitMix64::new(hash.finish())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mean(spread: Spread) -> f64 {
        let draws = 200_000;
        let draw = |number| spread.draw(&mut random_for(1, Subject::Answer, number, 0));
        (0..draws).map(draw).sum::<f64>() / f64::from(draws)
    }

    #[test]
    fn every_spread_has_mean_one() {
        let spreads =
            [Spread::Constant, Spread::Exponential, Spread::LogNormal(1.0), Spread::Pareto(3.0)];
        for spread in spreads {
            assert!((mean(spread) - 1.0).abs() < 0.02, "{spread:?}: {}", mean(spread));
        }
    }

    #[test]
    fn tails_are_as_long_as_documented() {
        let share_above = |spread: Spread, limit: f64| {
            let draw = |number| spread.draw(&mut random_for(2, Subject::Answer, number, 0));
            (0..200_000).filter(|number| draw(*number) > limit).count() as f64 / 200_000.0
        };
        for (spread, limit) in [(Spread::LogNormal(1.0), 6.2), (Spread::Pareto(1.5), 7.2)] {
            let share = share_above(spread, limit);
            assert!((0.009..0.011).contains(&share), "{spread:?}: {share}");
        }
        assert!((5e-5..2e-4).contains(&share_above(Spread::Pareto(1.5), 154.7)));
    }

    #[test]
    fn spreads_are_read_from_text() {
        assert_eq!("lognormal:1".parse(), Ok(Spread::LogNormal(1.0)));
        assert_eq!("pareto:1.5".parse(), Ok(Spread::Pareto(1.5)));
        for text in
            ["", "normal", "lognormal", "lognormal:x", "pareto:1", "constant:1", "pareto:inf"]
        {
            assert!(text.parse::<Spread>().is_err(), "{text}");
        }
    }
}
