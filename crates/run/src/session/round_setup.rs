//! Plans the rounds of a run: how many there are at most, and what they are compared with.

use std::collections::{BTreeMap, BTreeSet};

use evalrig_core::compare::{
    ComparedCase, DEFAULT_MARGIN, Forecast, MOST_ROUNDS, RoundBase, RoundPlan, forecast,
    matched_base, seed_from_cases,
};

use crate::execute::SuiteJob;
use crate::results::{RoundSettings, RunHeader, measure_word};
use crate::text::numbers::rounded;

use super::baseline::{Baseline, planned_cases};
use super::command_line::quoted;
use super::earlier_options::TakenOptions;
use super::error::SessionError;
use super::round_decision::RoundDecision;
use super::spec::{RoundsSpec, RunSpec};

const OPTION: &str = "--rounds";

/// What is known of the rounds before the first one.
#[derive(Debug)]
pub(super) struct RoundSetup {
    pub(super) settings: RoundSettings,
    pub(super) decision: RoundDecision,
}

/// Checks `--rounds` and makes it the number of trials.
pub(super) fn take_rounds(spec: &mut RunSpec) -> Result<(), SessionError> {
    let Some(rounds) = &spec.rounds else {
        return Ok(());
    };
    let refused = |reason: String| Err(SessionError::argument(OPTION, reason));
    if let Some(option) = [
        ("--shard", spec.plan.shard.is_some()),
        ("--failed", spec.failed.is_some()),
        ("--fail-fast", spec.fail_fast.is_some()),
    ]
    .into_iter()
    .find_map(|(option, is_given)| is_given.then_some(option))
    {
        return refused(format!("a look needs every test of a round; leave out `{option}`"));
    }
    match (&spec.baseline, spec.plan.trials, rounds.most) {
        (Some(baseline), ..) if !baseline.is_gated => {
            return refused("rounds stop at a verdict; add `--gate`".to_owned());
        }
        (_, Some(trials), Some(most)) if trials != most => {
            return refused(format!(
                "{most} rounds have {most} trials of each test; leave out `--trials {trials}`"
            ));
        }
        (_, _, Some(most)) => spec.plan.trials = Some(most),
        _ => {}
    }
    Ok(())
}

/// Takes the rounds of the resumed run. Fails if others are given: a plan that changes after
/// results are known raises more false alarms.
pub(super) fn resume_rounds(spec: &mut RunSpec, header: &RunHeader, taken: &mut TakenOptions) {
    let Some(stored) = &header.rounds else {
        if spec.rounds.take().is_some() {
            taken.differs(OPTION, None, OPTION);
        }
        return;
    };
    if let Some(rounds) = &spec.rounds {
        if let Some(most) = rounds.most.filter(|most| *most != stored.rounds) {
            let option = |rounds: u32| format!("{OPTION} {rounds}");
            taken.differs(&option(most), Some(option(stored.rounds)), OPTION);
        }
        if rounds.stops_futile && !stored.futility {
            taken.differs("--futility", None, "--futility");
        }
    }
    let (margin, has_margin, measure) = match &mut spec.baseline {
        Some(baseline) => (&mut baseline.margin, baseline.has_margin, baseline.measure),
        None => (&mut spec.arms.margin, spec.arms.has_margin, spec.arms.measure),
    };
    let is_given = *margin != DEFAULT_MARGIN || has_margin;
    if is_given && *margin != stored.margin {
        let option = |margin: f64| format!("--margin {margin}");
        taken.differs(&option(*margin), Some(option(stored.margin)), "--margin");
    }
    *margin = stored.margin;
    let measure = measure_word(measure);
    if measure != stored.measure {
        // Left out, it would be the default.
        taken.refuse(format!(
            "it was started with `--measure {}`, not `--measure {measure}`",
            stored.measure
        ));
    }
    let lacks_baseline = stored.base.is_some() && spec.baseline.is_none();
    if lacks_baseline {
        taken.refuse(
            "its rounds are compared with a baseline; add the `--baseline` of its first command and \
             `--gate`"
                .to_owned(),
        );
    }
    // Without `--trials`, each test has as many as the suite says.
    let most = header.options.trials.map(|_| stored.rounds);
    spec.rounds = Some(RoundsSpec { most, stops_futile: stored.futility });
}

impl RoundSetup {
    /// `None` without `--rounds`. `stored` is the plan of the resumed run.
    pub(super) fn of(
        spec: &RunSpec,
        suites: &[&SuiteJob],
        baseline: Option<&Baseline>,
        stored: Option<&RoundSettings>,
    ) -> Result<Option<Self>, SessionError> {
        let Some(wanted) = &spec.rounds else {
            return Ok(None);
        };
        let rounds = count_rounds(spec, suites)?;
        let arms = arms(suites);
        let (base, digest, cases) = match baseline {
            Some(baseline) => {
                let cases = baseline.kept_cases();
                let matched = matched_base(&cases, &planned_cases(suites));
                let digest = seed_from_cases(&matched, &[]);
                (RoundBase::Stored { trials: trials_per_test(&matched) }, Some(digest), cases)
            }
            None if arms.is_empty() => {
                let reason = "rounds are compared with a baseline; add `--baseline latest --gate`, or \
                              run two arms";
                return Err(SessionError::argument(OPTION, reason));
            }
            None => (RoundBase::Growing, None, Vec::new()),
        };
        let against = spec.baseline.as_ref();
        let plan = RoundPlan {
            rounds,
            margin: against.map_or(spec.arms.margin, |baseline| baseline.margin),
            measure: against.map_or(spec.arms.measure, |baseline| baseline.measure),
            base,
            seed: digest.unwrap_or_else(|| spec.plan.seed.unwrap_or(0)),
            stops_futile: wanted.stops_futile,
        };
        let settings = RoundSettings::of(&plan, digest.map(|digest| format!("{digest:016x}")));
        if let Some(stored) = stored {
            check_same(stored, &settings)?;
        }
        let keys = suites.iter().flat_map(|suite| suite.keys().map(|(key, _)| key));
        let decision = RoundDecision::new(plan, keys);
        let decision = match baseline {
            Some(_) => decision.against(plan, cases),
            None => decision.of_arms(plan, &arms),
        };
        Ok(Some(Self { settings, decision }))
    }
}

/// What the comparison of a planned run with its baseline would probably say.
pub(super) fn forecast_of(baseline: &Baseline, suites: &[&SuiteJob]) -> Vec<Forecast> {
    let (cases, planned) = (baseline.kept_cases(), planned_cases(suites));
    let matched = matched_base(&cases, &planned);
    let trials = planned.iter().map(|case| case.trial).max().unwrap_or(1);
    let plan = RoundPlan {
        rounds: trials.min(MOST_ROUNDS),
        margin: baseline.margin(),
        measure: baseline.measure(),
        base: RoundBase::Stored { trials: trials_per_test(&matched) },
        seed: seed_from_cases(&matched, &[]),
        stops_futile: false,
    };
    forecast(&cases, &planned, &plan)
}

/// As often as the tests that are run most often.
fn count_rounds(spec: &RunSpec, suites: &[&SuiteJob]) -> Result<u32, SessionError> {
    let cases = suites.iter().flat_map(|suite| suite.chains.iter().flatten());
    let rounds = cases.map(|case| case.trial).max().unwrap_or(1);
    if (2..=MOST_ROUNDS).contains(&rounds) {
        return Ok(rounds);
    }
    let reason = if rounds < 2 {
        "a run with one trial of each test has one round; add `--trials 4`".to_owned()
    } else {
        let trials = spec.plan.trials.map_or(String::new(), |trials| format!(" --trials {trials}"));
        format!("there are at most {MOST_ROUNDS} rounds; found {rounds}{}", quoted_words(&trials))
    };
    Err(SessionError::argument(OPTION, reason))
}

fn quoted_words(words: &str) -> String {
    if words.is_empty() { String::new() } else { format!(" in `{}`", words.trim()) }
}

/// Refuses options of a comparison where there is nothing to compare with.
pub(super) fn check_arms(spec: &RunSpec, suites: &[&SuiteJob]) -> Result<(), SessionError> {
    if spec.baseline.is_some() || !arms(suites).is_empty() {
        return Ok(());
    }
    let option = match &spec.arms {
        rule if rule.needs_arms => "--gate",
        rule if rule.has_margin => "--margin",
        _ => return Ok(()),
    };
    let reason = "there is nothing to compare with; add `--baseline latest`, or run two arms";
    Err(SessionError::argument(option, reason))
}

/// The arms that are compared with the baseline arm.
pub(super) fn arms(suites: &[&SuiteJob]) -> Vec<String> {
    let mut found = BTreeSet::new();
    for suite in suites {
        let targets = suite.targets.iter().filter_map(|name| suite.variant(name));
        let variants: Vec<_> = targets.collect();
        if variants.iter().any(|variant| variant.is_baseline) {
            let others = variants.iter().filter(|variant| !variant.is_baseline);
            found.extend(others.filter_map(|variant| variant.arm.clone()));
        }
    }
    found.into_iter().collect()
}

/// Measured trials per test: the harmonic mean.
pub(super) fn trials_per_test(cases: &[ComparedCase]) -> f64 {
    let mut counts: BTreeMap<(&str, &str, &str), u32> = BTreeMap::new();
    for case in cases.iter().filter(|case| case.is_measured()) {
        *counts.entry((&case.suite, &case.test, &case.target)).or_default() += 1;
    }
    let inverse: f64 = counts.values().map(|count| 1.0 / f64::from(*count)).sum();
    // As it is written to the results, so that a resumed run has the same looks.
    rounded(counts.len() as f64 / inverse.max(1e-9)).max(1e-6)
}

fn check_same(stored: &RoundSettings, now: &RoundSettings) -> Result<(), SessionError> {
    if stored == now {
        return Ok(());
    }
    let reason = match (&stored.base, &now.base) {
        (before, after) if before != after => {
            "it was started against other baseline runs; name those with `--baseline`".to_owned()
        }
        _ => format!(
            "it was started with {} rounds and the margin {}",
            stored.rounds,
            quoted(&stored.margin.to_string())
        ),
    };
    Err(SessionError::argument("--resume", reason))
}
