//! What a run with arms would probably say of each (`--dry-run`, spec 20.10): from earlier results of the
//! same arms, where there are any.

use evalrig_core::compare::{
    ArmForecast, ComparedCase, MOST_ROUNDS, PlannedArms, RoundBase, RoundPlan, forecast_arm,
};

use crate::execute::{SuiteJob, TargetVariant};

use super::baseline::planned_case;
use super::spec::RunSpec;

/// The planned cases of arms. The arm is what is compared, so it is not part of the target's name.
struct ForecastCases<'a> {
    suites: &'a [&'a SuiteJob],
    history: &'a [ComparedCase],
}

/// One forecast for each arm that is compared with the baseline arm. `history` are cases of earlier runs.
pub(super) fn forecast_arms(
    spec: &RunSpec,
    suites: &[&SuiteJob],
    arms: &[String],
    history: &[ComparedCase],
) -> Vec<ArmForecast> {
    let cases = ForecastCases { suites, history };
    let Some(against) = cases.baseline_arm() else {
        return Vec::new();
    };
    let is_base = |variant: &TargetVariant| variant.is_baseline;
    let (base, base_history) = (cases.planned(is_base), cases.earlier(is_base));
    let forecast = |arm: &String| {
        let is_arm =
            |variant: &TargetVariant| !variant.is_baseline && variant.arm.as_ref() == Some(arm);
        let (candidate, candidate_history) = (cases.planned(is_arm), cases.earlier(is_arm));
        let planned = PlannedArms {
            base: &base,
            candidate: &candidate,
            base_history: &base_history,
            candidate_history: &candidate_history,
        };
        let trials = candidate.iter().map(|case| case.trial).max().unwrap_or(1);
        let plan = RoundPlan {
            rounds: trials.min(MOST_ROUNDS),
            margin: spec.arms.margin,
            measure: spec.arms.measure,
            base: RoundBase::Growing,
            seed: spec.plan.seed.unwrap_or(0),
            stops_futile: false,
        };
        forecast_arm((arm, &against), &planned, &plan)
    };
    arms.iter().filter_map(forecast).collect()
}

impl ForecastCases<'_> {
    fn variants(&self) -> impl Iterator<Item = (&str, &TargetVariant)> {
        self.suites.iter().flat_map(|suite| {
            let names = suite.targets.iter();
            names.filter_map(|name| Some((name.as_str(), suite.variant(name)?)))
        })
    }

    fn baseline_arm(&self) -> Option<String> {
        self.variants().find(|(_, variant)| variant.is_baseline)?.1.arm.clone()
    }

    /// Without tests that only demand that skills are left alone, which compare nothing.
    fn planned(&self, fits: impl Fn(&TargetVariant) -> bool) -> Vec<ComparedCase> {
        let mut found = Vec::new();
        for suite in self.suites {
            for case in suite.chains.iter().flatten() {
                let test = &suite.suite.tests[case.test];
                let variant = suite.variant(&case.target).filter(|variant| fits(variant));
                let Some(variant) = variant.filter(|_| !test.skill_wishes().is_contract) else {
                    continue;
                };
                found.push(ComparedCase {
                    target: variant.target.clone(),
                    group: test.group().map(str::to_owned),
                    ..planned_case(suite.key(case), suite.hash(case.test))
                });
            }
        }
        found
    }

    fn earlier(&self, fits: impl Fn(&TargetVariant) -> bool) -> Vec<ComparedCase> {
        let target_of = |case: &ComparedCase| {
            let mut variants = self.variants();
            let own = variants.find(|(name, variant)| *name == case.target && fits(variant));
            own.map(|(_, variant)| variant.target.clone())
        };
        let found = self.history.iter();
        let found = found.filter_map(|case| {
            Some(ComparedCase { target: target_of(case)?, arm: None, ..case.clone() })
        });
        found.collect()
    }
}
