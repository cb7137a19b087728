//! Whole runs in the candidate's place, test by test. Only as many trials change places as both runs
//! have, so the exchange is right whatever runs do.

use super::mixture::{self, MixtureEvidence};
use super::pair::clusters;
use super::pass_split::{PassTotals, candidate_passes, chance_of_sample, count_passes};
use super::split_table::SplitTables;
use super::{Cluster, Pair, SplitMix64};

/// Passes among trials.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct PassCount {
    passes: usize,
    trials: usize,
}

impl PassCount {
    /// Of some of the trials, drawn at random.
    fn sample(self, trials: usize, random: &mut SplitMix64) -> usize {
        let mut left = self.passes;
        for at in 0..trials {
            left -= usize::from((random.below((self.trials - at) as u64) as usize) < left);
        }
        self.passes - left
    }
}

/// The passes of a test in an arrangement.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct ArrangedPasses {
    pub candidate: usize,
    /// Of both sides.
    pub all: usize,
}

/// A test whose runs are exchanged.
pub(super) struct SwapTest {
    /// Trials that change places.
    pub trials: usize,
    candidate: PassCount,
    base: PassCount,
    /// The base runs that have as many trials.
    runs: Vec<Option<PassCount>>,
    /// Places of the tables, by the passes of a sample of the candidate above the fewest.
    tables: Vec<usize>,
}

/// Tests that are exchanged together, and what each exchange gives.
struct ExchangeUnit {
    tests: Vec<usize>,
    choices: Vec<RunChoice>,
}

/// A run in the candidate's place.
struct RunChoice {
    /// `None` is the candidate itself.
    run: Option<usize>,
    /// Unless trials are sampled.
    evidence: Option<MixtureEvidence>,
}

/// The exchange of runs in all tests that can move.
pub(super) struct RunExchange {
    pub tests: Vec<SwapTest>,
    units: Vec<ExchangeUnit>,
    /// The observed evidence, about as many trials as change places.
    pub seen: MixtureEvidence,
}

impl RunExchange {
    pub fn of(pairs: &[Pair], tables: &mut SplitTables) -> Self {
        let mut numbers = vec![None; pairs.len()];
        let mut tests = Vec::new();
        for (at, pair) in pairs.iter().enumerate().filter(|(_, pair)| pair.can_move()) {
            numbers[at] = Some(tests.len());
            tests.push(SwapTest::new(pair, tables));
        }
        let mut found = Self { tests, units: Vec::new(), seen: [0.0; 8] };
        for test in &found.tests {
            test.add_seen(tables, &mut found.seen);
        }
        found.units = found.exchange_units(pairs, &numbers, tables);
        found
    }

    /// Groups are exchanged as a whole, other tests alone.
    fn exchange_units(
        &self,
        pairs: &[Pair],
        numbers: &[Option<usize>],
        tables: &SplitTables,
    ) -> Vec<ExchangeUnit> {
        let mut units = Vec::new();
        for members in clusters(pairs) {
            let is_group = matches!(pairs[members[0]].cluster, Cluster::Group(_));
            let tests: Vec<usize> = members.iter().filter_map(|at| numbers[*at]).collect();
            if is_group && !tests.is_empty() {
                units.push(self.unit(tests, tables));
            } else {
                units.extend(tests.into_iter().map(|test| self.unit(vec![test], tables)));
            }
        }
        units
    }

    fn unit(&self, tests: Vec<usize>, tables: &SplitTables) -> ExchangeUnit {
        let most = tests.iter().map(|at| self.tests[*at].runs.len()).max().unwrap_or(0);
        let has_all = |run: &usize| {
            tests.iter().all(|at| self.tests[*at].runs.get(*run).is_some_and(Option::is_some))
        };
        let runs = (0..most).filter(has_all).map(Some);
        let choice = |run| RunChoice { run, evidence: self.fixed_evidence(&tests, run, tables) };
        let choices = std::iter::once(None).chain(runs).map(choice).collect();
        ExchangeUnit { tests, choices }
    }

    /// Of a run whose trials all change places, in every test.
    fn fixed_evidence(
        &self,
        tests: &[usize],
        run: Option<usize>,
        tables: &SplitTables,
    ) -> Option<MixtureEvidence> {
        let mut sum = [0.0; 8];
        for at in tests {
            let passes = self.tests[*at].fixed(run)?;
            mixture::add(&mut sum, self.tests[*at].evidence(passes, tables));
        }
        Some(sum)
    }

    /// In each test the candidate is exchanged with one of the base runs, or with none.
    pub fn draw(&self, tables: &SplitTables, random: &mut SplitMix64) -> MixtureEvidence {
        let mut sum = [0.0; 8];
        for unit in &self.units {
            let choice = unit.choose(random);
            if let Some(evidence) = choice.and_then(|choice| choice.evidence.as_ref()) {
                mixture::add(&mut sum, evidence);
                continue;
            }
            for at in &unit.tests {
                let passes = self.tests[*at].arranged(choice, tables, random);
                mixture::add(&mut sum, self.tests[*at].evidence(passes, tables));
            }
        }
        sum
    }

    /// The same, as the passes of each test.
    pub fn draw_passes(
        &self,
        tables: &SplitTables,
        random: &mut SplitMix64,
        passes: &mut [ArrangedPasses],
    ) {
        for unit in &self.units {
            let choice = unit.choose(random);
            for at in &unit.tests {
                passes[*at] = self.tests[*at].arranged(choice, tables, random);
            }
        }
    }
}

impl ExchangeUnit {
    /// `None` if no run has all tests of a group.
    fn choose(&self, random: &mut SplitMix64) -> Option<&RunChoice> {
        let count = self.choices.len();
        (count > 1).then(|| &self.choices[random.below(count as u64) as usize])
    }
}

impl SwapTest {
    fn new(pair: &Pair, tables: &mut SplitTables) -> Self {
        let totals = PassTotals::of(pair);
        let passes = candidate_passes(pair);
        let base = PassCount { passes: totals.passes - passes, trials: totals.base_trials };
        let trials = exchanged_trials(pair);
        let run = |run: &Vec<f64>| {
            let passes = count_passes(run.iter().copied());
            (run.len() >= trials).then_some(PassCount { passes, trials: run.len() })
        };
        let mut found = Self {
            trials,
            candidate: PassCount { passes, trials: totals.trials },
            base,
            runs: pair.base.iter().map(run).collect(),
            tables: Vec::new(),
        };
        let samples = found.fewest()..=passes.min(trials);
        let of_sample = |sample| PassTotals { trials, passes: base.passes + sample, ..totals };
        found.tables = samples.map(|sample| tables.place(of_sample(sample))).collect();
        found
    }

    /// Passes that every sample of the candidate has.
    fn fewest(&self) -> usize {
        (self.candidate.passes + self.trials).saturating_sub(self.candidate.trials)
    }

    fn table(&self, all: usize) -> usize {
        self.tables[all - self.base.passes - self.fewest()]
    }

    fn least(&self, all: usize) -> usize {
        all.saturating_sub(self.base.trials)
    }

    pub fn evidence<'a>(
        &self,
        passes: ArrangedPasses,
        tables: &'a SplitTables,
    ) -> &'a MixtureEvidence {
        let table = tables.at(self.table(passes.all));
        &table.evidence[passes.candidate - self.least(passes.all)]
    }

    /// The mean over all samples of the candidate. It varies less than a sample, so that trials beyond
    /// those that change places are not lost.
    fn add_seen(&self, tables: &SplitTables, sum: &mut MixtureEvidence) {
        let PassCount { passes, trials } = self.candidate;
        for at in 0..self.tables.len() {
            let sample = self.fewest() + at;
            let chance = chance_of_sample([passes, trials], [sample, self.trials]);
            let evidence = self.evidence(self.with_candidate(sample), tables);
            sum.iter_mut().zip(evidence).for_each(|(sum, one)| *sum += chance * one);
        }
    }

    fn with_candidate(&self, sample: usize) -> ArrangedPasses {
        ArrangedPasses { candidate: sample, all: self.base.passes + sample }
    }

    /// The passes if a run is in the candidate's place; `None` if trials are sampled.
    fn fixed(&self, run: Option<usize>) -> Option<ArrangedPasses> {
        let observed = self.with_candidate(self.candidate.passes);
        let placed = match run {
            Some(run) => self.runs[run]?,
            None => self.candidate,
        };
        let is_fixed = self.candidate.trials == self.trials && placed.trials == self.trials;
        is_fixed.then_some(ArrangedPasses { candidate: placed.passes, ..observed })
    }

    fn arranged(
        &self,
        choice: Option<&RunChoice>,
        tables: &SplitTables,
        random: &mut SplitMix64,
    ) -> ArrangedPasses {
        let observed = if self.candidate.trials == self.trials {
            self.with_candidate(self.candidate.passes)
        } else {
            self.with_candidate(self.candidate.sample(self.trials, random))
        };
        let candidate = match choice {
            None => {
                let table = tables.at(self.table(observed.all));
                self.least(observed.all) + table.draw_place(random)
            }
            Some(RunChoice { run: Some(run), .. }) => match self.runs[*run] {
                Some(run) => run.sample(self.trials, random),
                None => observed.candidate,
            },
            Some(RunChoice { run: None, .. }) => observed.candidate,
        };
        ArrangedPasses { candidate, ..observed }
    }
}

/// With more trials fewer runs can take the candidate's place; both count.
fn exchanged_trials(pair: &Pair) -> usize {
    let own = pair.candidate.len();
    let sizes = pair.base.iter().map(|run| run.len().min(own)).filter(|size| *size > 0);
    let worth = |size: &usize| {
        let runs = pair.base.iter().filter(|run| run.len() >= *size).count();
        (runs * size, *size)
    };
    sizes.max_by_key(worth).unwrap_or(own)
}
