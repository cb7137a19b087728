//! What a results file says about rounds (spec 20.9): the plan in its first line, the looks in its
//! last.

use evalrig_core::compare::{Measure, RoundBase, RoundLook, RoundPlan, Rounds};
use serde::{Deserialize, Serialize};

use crate::text::numbers::rounded;

/// The spending function of this version.
const SPENDING: &str = "hwang-shih-decani(1.5)";

/// The plan of a run in rounds.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RoundSettings {
    /// At most so many.
    pub rounds: u32,
    pub margin: f64,
    /// `pass` or `score`.
    pub measure: String,
    pub spending: String,
    /// By round, the share of the information.
    pub looks: Vec<f64>,
    #[serde(default)]
    pub futility: bool,
    pub seed: u64,
    /// `None`: the arms of the run are compared.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub base: Option<RoundBaseline>,
}

/// The stored runs that were planned with.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RoundBaseline {
    /// Of their cases.
    pub digest: String,
    /// Trials per test.
    pub trials: f64,
}

/// How the rounds of a run went.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RoundRecord {
    /// Rounds that have a look. Rows of later trials are beyond it and do not count.
    pub rounds: u32,
    /// Whether no further round is needed.
    pub stopped: bool,
    /// Trials that do not count.
    pub beyond: u64,
    pub comparisons: Vec<ComparedRounds>,
}

/// The looks of one comparison.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ComparedRounds {
    /// The arm that is compared with the baseline arm; `None` with a baseline run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub arm: Option<String>,
    /// `settled`, `futile` or `exhausted`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stop: Option<String>,
    pub verdict: String,
    pub looks: Vec<LookRecord>,
}

/// What a look found, and the limits that it had.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct LookRecord {
    pub round: u32,
    /// `None` while nothing was measured on both sides.
    pub delta: Option<f64>,
    pub low: Option<f64>,
    pub high: Option<f64>,
    pub p: Option<f64>,
    /// The highest p with which a drop stops the run.
    pub drop_level: f64,
    /// The same for a gain, whose p is multiplied by five.
    pub gain_level: f64,
    pub verdict: String,
}

impl RoundSettings {
    pub fn of(plan: &RoundPlan, digest: Option<String>) -> Self {
        Self {
            rounds: plan.rounds,
            margin: plan.margin,
            measure: measure_word(plan.measure).to_owned(),
            spending: SPENDING.to_owned(),
            looks: plan.shares().into_iter().map(rounded).collect(),
            futility: plan.stops_futile,
            seed: plan.seed,
            base: match (plan.base, digest) {
                (RoundBase::Stored { trials }, Some(digest)) => {
                    Some(RoundBaseline { digest, trials })
                }
                _ => None,
            },
        }
    }

    /// `None` if the plan is not one of this version.
    pub fn plan(&self) -> Option<RoundPlan> {
        let measure = [Measure::Rate, Measure::Score];
        let measure = measure.into_iter().find(|one| measure_word(*one) == self.measure)?;
        let base = match &self.base {
            Some(base) => RoundBase::Stored { trials: base.trials },
            None => RoundBase::Growing,
        };
        let is_sound = self.spending == SPENDING
            && (1..=evalrig_core::compare::MOST_ROUNDS).contains(&self.rounds)
            && self.margin > 0.0
            && self.margin <= 1.0
            && self.base.as_ref().is_none_or(|base| base.trials > 0.0 && base.trials.is_finite());
        is_sound.then_some(RoundPlan {
            rounds: self.rounds,
            margin: self.margin,
            measure,
            base,
            seed: self.seed,
            stops_futile: self.futility,
        })
    }
}

pub fn measure_word(measure: Measure) -> &'static str {
    match measure {
        Measure::Rate => "pass",
        Measure::Score => "score",
    }
}

impl ComparedRounds {
    pub fn of(arm: Option<&str>, rounds: &Rounds) -> Self {
        let verdict = rounds.looks.last().map_or("inconclusive", |look| look.verdict().word());
        Self {
            arm: arm.map(str::to_owned),
            stop: rounds.stop().map(|stop| stop.word().to_owned()),
            verdict: verdict.to_owned(),
            looks: rounds.looks.iter().map(LookRecord::of).collect(),
        }
    }
}

impl LookRecord {
    fn of(look: &RoundLook) -> Self {
        let judged = look.suite.map(|suite| suite.judged);
        Self {
            round: look.round,
            delta: judged.map(|judged| rounded(judged.delta)),
            low: judged.map(|judged| rounded(judged.interval.low)),
            high: judged.map(|judged| rounded(judged.interval.high)),
            p: judged.map(|judged| rounded(judged.p)),
            drop_level: rounded(look.drop_level),
            gain_level: rounded(5.0 * look.gain_level),
            verdict: look.verdict().word().to_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plan_comes_back_from_its_record() {
        let plan = RoundPlan {
            rounds: 4,
            margin: 0.2,
            measure: Measure::Score,
            base: RoundBase::Stored { trials: 7.5 },
            seed: u64::MAX,
            stops_futile: true,
        };
        let settings = RoundSettings::of(&plan, Some("00ff".to_owned()));
        let text = serde_json::to_string(&settings).unwrap();
        let read: RoundSettings = serde_json::from_str(&text).unwrap();
        assert_eq!((read.plan(), &read), (Some(plan), &settings));
        let arms = RoundPlan { base: RoundBase::Growing, ..plan };
        assert_eq!(RoundSettings::of(&arms, None).plan(), Some(arms));
    }

    #[test]
    fn a_plan_that_makes_no_sense_is_not_believed() {
        let plan = RoundPlan {
            rounds: 4,
            margin: 0.1,
            measure: Measure::Rate,
            base: RoundBase::Growing,
            seed: 1,
            stops_futile: false,
        };
        let good = RoundSettings::of(&plan, None);
        let changes: [fn(&mut RoundSettings); 5] = [
            |one| one.rounds = 4_000_000,
            |one| one.margin = -1.0,
            |one| one.spending = "all at once".to_owned(),
            |one| one.measure = "luck".to_owned(),
            |one| one.base = Some(RoundBaseline { digest: String::new(), trials: 0.0 }),
        ];
        for change in changes {
            let mut bad = good.clone();
            change(&mut bad);
            assert_eq!(bad.plan(), None, "{bad:?}");
        }
    }
}
