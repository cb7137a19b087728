//! Runs of imagined suites whose true pass rates are known. Seeded: the same number gives the same runs.
//! Used by the tests beside it and by `cargo xtask statistics`.
#![allow(dead_code, reason = "each user needs a part of it")]

use evalrig_core::compare::ComparedCase;
use evalrig_core::model::Outcome;
use evalrig_core::stats::{Cluster, Pair, SplitMix64};

/// How the true pass rates of a suite's tests are distributed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shape {
    /// Each test is a coin.
    Coin,
    /// Beta(0.3, 0.3): most tests nearly always or nearly never pass.
    Extremes,
    /// 85 % of the tests pass in 995 of 1,000 trials, the rest in 30 to 90 %.
    Solved,
    /// Beta(0.5, 4): few tests pass often.
    Failing,
    /// Beta(4, 1): most tests pass often.
    Skilled,
    /// 70 % always pass, the others never.
    Certain,
    /// All tests at 90 %.
    Even,
    /// Five tests each have one rate, from Beta(4, 1).
    Alike,
    /// Evenly from 60 to 100 %.
    Ramp,
    /// 60 % always pass, 20 % are coins, 20 % pass in 5 %.
    Lumpy,
    /// Half of the tests pass in 97 %, half in 55 %.
    Halves,
    /// Beta(2, 2): in the middle.
    Middling,
    /// Beta(12, 1): nearly all tests pass nearly always.
    Strong,
}

pub const SHAPES: [Shape; 10] = [
    Shape::Coin,
    Shape::Extremes,
    Shape::Solved,
    Shape::Failing,
    Shape::Skilled,
    Shape::Certain,
    Shape::Even,
    Shape::Alike,
    Shape::Ramp,
    Shape::Lumpy,
];

/// Shapes that were not used when constants were chosen.
pub const UNSEEN: [Shape; 3] = [Shape::Halves, Shape::Middling, Shape::Strong];

impl Shape {
    pub fn name(self) -> &'static str {
        match self {
            Self::Coin => "coins",
            Self::Extremes => "Beta(0.3, 0.3)",
            Self::Solved => "mostly solved",
            Self::Failing => "Beta(0.5, 4)",
            Self::Skilled => "Beta(4, 1)",
            Self::Certain => "certain",
            Self::Even => "all at 0.9",
            Self::Alike => "groups of five",
            Self::Ramp => "0.6 to 1",
            Self::Lumpy => "lumpy",
            Self::Halves => "0.97 and 0.55",
            Self::Middling => "Beta(2, 2)",
            Self::Strong => "Beta(12, 1)",
        }
    }

    pub fn rates(self, tests: usize, random: &mut Chance) -> Vec<f64> {
        let mut last = 0.0;
        let rate = |at: usize| match self {
            Self::Coin => 0.5,
            Self::Even => 0.9,
            Self::Extremes => random.beta(0.3, 0.3),
            Self::Failing => random.beta(0.5, 4.0),
            Self::Skilled => random.beta(4.0, 1.0),
            Self::Solved if random.fraction() < 0.85 => 0.995,
            Self::Solved => 0.3 + 0.6 * random.fraction(),
            Self::Certain => f64::from(u8::from(random.fraction() < 0.7)),
            Self::Ramp => 0.6 + 0.4 * random.fraction(),
            Self::Alike => {
                if at.is_multiple_of(5) {
                    last = random.beta(4.0, 1.0);
                }
                last
            }
            Self::Lumpy => match random.fraction() {
                chance if chance < 0.6 => 1.0,
                chance if chance < 0.8 => 0.5,
                _ => 0.05,
            },
            Self::Halves => [0.97, 0.55][usize::from(random.fraction() < 0.5)],
            Self::Middling => random.beta(2.0, 2.0),
            Self::Strong => random.beta(12.0, 1.0),
        };
        (0..tests).map(rate).collect()
    }
}

/// What the candidate lost. The mean of the drawn rates falls by the given share.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Loss {
    Nothing,
    /// The same odds ratio for each test.
    Spread(f64),
    /// Some tests break wholly: of all such suites, the mean falls by so much.
    Broken(f64),
    /// The same, but the mean of these tests falls by exactly so much: the last of them breaks in part.
    BrokenHere(f64),
    /// The easiest test breaks wholly.
    OneTest,
}

impl Loss {
    pub fn apply(self, rates: &[f64], random: &mut Chance) -> Vec<f64> {
        let mean = rates.iter().sum::<f64>() / rates.len() as f64;
        match self {
            Self::Nothing => rates.to_vec(),
            Self::Spread(drop) => spread(rates, mean - drop),
            Self::Broken(drop) => {
                let share = (drop / mean).min(1.0);
                let kept = |rate: &f64| if random.fraction() < share { 0.0 } else { *rate };
                rates.iter().map(kept).collect()
            }
            Self::BrokenHere(drop) => broken_here(rates, drop, random),
            Self::OneTest => {
                let mut left = rates.to_vec();
                let best = (0..left.len()).max_by(|one, other| left[*one].total_cmp(&left[*other]));
                left[best.expect("a suite has tests")] = 0.0;
                left
            }
        }
    }
}

fn broken_here(rates: &[f64], drop: f64, random: &mut Chance) -> Vec<f64> {
    let mut left = rates.to_vec();
    let mut rest = drop * rates.len() as f64;
    let mut order: Vec<usize> = (0..rates.len()).collect();
    for at in 0..order.len() {
        let other = at + random.0.below((order.len() - at) as u64) as usize;
        order.swap(at, other);
        let lost = left[order[at]].min(rest);
        left[order[at]] -= lost;
        rest -= lost;
    }
    left
}

fn spread(rates: &[f64], wanted: f64) -> Vec<f64> {
    let with = |log: f64| -> Vec<f64> {
        let rate = |rate: &f64| match *rate {
            rate if rate <= 0.0 || rate >= 1.0 => rate,
            rate => 1.0 / (1.0 + (1.0 - rate) / rate * log.exp()),
        };
        rates.iter().map(rate).collect()
    };
    let (mut low, mut high) = (0.0, 20.0);
    for _ in 0..50 {
        let middle = 0.5 * (low + high);
        if with(middle).iter().sum::<f64>() / rates.len() as f64 > wanted {
            low = middle;
        } else {
            high = middle;
        }
    }
    with(0.5 * (low + high))
}

/// What changes between runs though nothing was changed.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Change {
    Nothing,
    /// The rate of each test in each run varies: the correlation between its trials.
    Correlation(f64),
    /// All rates of a run move together: the standard deviation.
    Shift(f64),
    /// Five tests share a fixture that fails in this share of the runs.
    Fixture(f64),
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Setting {
    pub tests: usize,
    /// Of each test, in each run.
    pub trials: usize,
    pub base_runs: usize,
    pub shape: Shape,
    pub loss: Loss,
    pub change: Change,
}

impl Setting {
    pub fn new(tests: usize, trials: usize, base_runs: usize, shape: Shape) -> Self {
        Self { tests, trials, base_runs, shape, loss: Loss::Nothing, change: Change::Nothing }
    }

    pub fn losing(self, loss: Loss) -> Self {
        Self { loss, ..self }
    }

    pub fn changing(self, change: Change) -> Self {
        Self { change, ..self }
    }

    /// The same setting has the same seed on every machine.
    pub fn seed(&self) -> u64 {
        let text = format!("{self:?}");
        text.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
        })
    }

    pub fn random(&self) -> Chance {
        Chance(SplitMix64::new(self.seed()))
    }

    /// Base runs and a candidate, with tests drawn anew.
    pub fn pairs(&self, random: &mut Chance) -> Vec<Pair> {
        self.pairs_with_candidate(self.trials, random)
    }

    /// The same with another number of the candidate's trials.
    pub fn pairs_with_candidate(&self, trials: usize, random: &mut Chance) -> Vec<Pair> {
        let rates = self.shape.rates(self.tests, random);
        let lost = self.loss.apply(&rates, random);
        let base: Vec<Vec<Vec<f64>>> =
            (0..self.base_runs).map(|_| self.run(&rates, random)).collect();
        let candidate = Self { trials, ..*self }.run(&lost, random);
        let pair = |(at, now): (usize, Vec<f64>)| {
            Pair::pooled(base.iter().map(|run| run[at].clone()).collect(), now)
        };
        candidate.into_iter().enumerate().map(pair).collect()
    }

    /// The same with the tests of a fixture as a group.
    pub fn grouped_pairs(&self, random: &mut Chance) -> Vec<Pair> {
        let mut pairs = self.pairs(random);
        for (at, pair) in pairs.iter_mut().enumerate() {
            pair.cluster = Cluster::Group(at / 5);
        }
        pairs
    }

    fn run(&self, rates: &[f64], random: &mut Chance) -> Vec<Vec<f64>> {
        let shift = match self.change {
            Change::Shift(deviation) => random.normal() * deviation,
            _ => 0.0,
        };
        let mut is_down = false;
        let test = |(at, rate): (usize, &f64)| {
            let mut rate = *rate;
            match self.change {
                Change::Fixture(share) => {
                    if at.is_multiple_of(5) {
                        is_down = random.fraction() < share;
                    }
                    rate = if is_down { 0.0 } else { rate };
                }
                Change::Correlation(correlation)
                    if rate > 0.0 && rate < 1.0 && correlation > 0.0 =>
                {
                    let size = (1.0 - correlation) / correlation;
                    rate = random.beta(rate * size, (1.0 - rate) * size);
                }
                _ => rate = (rate + shift).clamp(0.0, 1.0),
            }
            random.passes(self.trials, rate)
        };
        rates.iter().enumerate().map(test).collect()
    }
}

/// Pairs as cases, for `compare`: base and candidate.
pub fn cases(pairs: &[Pair]) -> [Vec<ComparedCase>; 2] {
    let mut sides = [Vec::new(), Vec::new()];
    for (test, pair) in pairs.iter().enumerate() {
        for (run, values) in pair.base.iter().enumerate() {
            let trials = values.iter().zip(1..);
            let case = |(value, trial): (&f64, u32)| case(test, pair, run as u32, trial, *value);
            sides[0].extend(trials.map(case));
        }
        let trials = pair.candidate.iter().zip(1..);
        sides[1].extend(trials.map(|(value, trial)| case(test, pair, 0, trial, *value)));
    }
    sides
}

fn case(test: usize, pair: &Pair, run: u32, trial: u32, value: f64) -> ComparedCase {
    ComparedCase {
        suite: "s".to_owned(),
        test: format!("t{test}"),
        target: "t".to_owned(),
        arm: None,
        group: match pair.cluster {
            Cluster::Group(number) => Some(format!("g{number}")),
            Cluster::Alone | Cluster::Test(_) => None,
        },
        run,
        trial,
        outcome: if value == 1.0 { Outcome::Passed } else { Outcome::Failed },
        score: Some(value),
        hash: String::new(),
        cost: None,
        tokens: None,
        duration_ms: None,
    }
}

/// Random numbers of several distributions.
#[derive(Debug)]
pub struct Chance(pub SplitMix64);

impl Chance {
    pub fn fraction(&mut self) -> f64 {
        self.0.fraction()
    }

    pub fn passes(&mut self, trials: usize, rate: f64) -> Vec<f64> {
        (0..trials).map(|_| f64::from(u8::from(self.fraction() < rate))).collect()
    }

    pub fn normal(&mut self) -> f64 {
        let radius = (-2.0 * (1.0 - self.fraction()).ln()).sqrt();
        radius * (std::f64::consts::TAU * self.fraction()).cos()
    }

    pub fn beta(&mut self, a: f64, b: f64) -> f64 {
        let (one, other) = (self.gamma(a), self.gamma(b));
        if one + other > 0.0 {
            one / (one + other)
        } else {
            f64::from(u8::from(self.fraction() < a / (a + b)))
        }
    }

    /// Marsaglia and Tsang (2000).
    fn gamma(&mut self, shape: f64) -> f64 {
        if shape < 1.0 {
            let larger = self.gamma(shape + 1.0);
            return larger * (1.0 - self.fraction()).powf(1.0 / shape);
        }
        let d = shape - 1.0 / 3.0;
        let c = 1.0 / (9.0 * d).sqrt();
        loop {
            let x = self.normal();
            let v = (1.0 + c * x).powi(3);
            if v > 0.0 && (1.0 - self.fraction()).ln() < 0.5 * x * x + d - d * v + d * v.ln() {
                return d * v;
            }
        }
    }
}

/// A share and how many comparisons it is of.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Share {
    pub hits: usize,
    pub of: usize,
}

impl Share {
    pub fn value(self) -> f64 {
        self.hits as f64 / self.of as f64
    }

    /// Whether the true share may be at most `limit`: it exceeds it by no more than three standard
    /// errors of the simulation.
    pub fn may_be_at_most(self, limit: f64) -> bool {
        self.value() <= limit + 3.0 * self.error(limit)
    }

    /// The same for at least.
    pub fn may_be_at_least(self, limit: f64) -> bool {
        self.value() >= limit - 3.0 * self.error(limit)
    }

    pub fn error(self, rate: f64) -> f64 {
        (rate * (1.0 - rate) / self.of as f64).sqrt()
    }
}
