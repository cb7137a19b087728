//! Rubric items, weights and gates.

use super::number::Number;
use super::value::{Map, Value};

/// Finite and not negative.
#[derive(Debug, Clone, PartialEq)]
pub struct Weight(Number);

impl Weight {
    pub fn new(number: Number) -> Option<Self> {
        (number.value() >= 0.0).then_some(Self(number))
    }

    pub fn value(&self) -> f64 {
        self.0.value()
    }

    pub fn is_zero(&self) -> bool {
        self.value() == 0.0
    }

    pub fn is_one(&self) -> bool {
        self.value() == 1.0
    }

    pub fn number(&self) -> &Number {
        &self.0
    }
}

impl Default for Weight {
    fn default() -> Self {
        Self(Number::ONE)
    }
}

/// Whether missing it fails the test, whatever the average is (spec 8.2).
#[derive(Debug, Clone, PartialEq, Default)]
pub enum Required {
    #[default]
    No,
    /// The score must reach the pass threshold.
    Pass,
    /// The score must reach this number, in (0, 1].
    AtLeast(Number),
}

impl Required {
    pub fn is_gate(&self) -> bool {
        *self != Self::No
    }

    pub fn to_value(&self) -> Value {
        match self {
            Self::No => false.into(),
            Self::Pass => true.into(),
            Self::AtLeast(number) => number.clone().into(),
        }
    }
}

crate::words! {
    #[derive(Default)]
    pub enum Operator {
        #[default]
        Correctness = "correctness",
        /// Satisfied if the answer does not contradict the outcome.
        Contradiction = "contradiction",
    }
}

/// What a score between `low` and `high`, both 0–10, means.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ScoreRange {
    pub low: u8,
    pub high: u8,
    pub outcome: String,
}

#[derive(Debug, Clone, PartialEq)]
pub struct RubricItem {
    pub id: String,
    /// Whether the author wrote the id.
    pub id_written: bool,
    /// `None` only for scored items, which then show their id.
    pub outcome: Option<String>,
    pub weight: Weight,
    pub required: Required,
    /// If not empty, the item is scored 0–10 instead of checked.
    pub ranges: Vec<ScoreRange>,
    pub operator: Operator,
}

impl RubricItem {
    /// A checked item with this outcome and every default.
    pub fn from_text(text: impl Into<String>, position: usize) -> Self {
        Self {
            id: format!("rubric-{position}"),
            id_written: false,
            outcome: Some(text.into()),
            weight: Weight::default(),
            required: Required::No,
            ranges: Vec::new(),
            operator: Operator::default(),
        }
    }

    /// The outcome, or else the id.
    pub fn sentence(&self) -> &str {
        self.outcome.as_deref().unwrap_or(&self.id)
    }

    pub fn to_value(&self) -> Value {
        let mut map = Map::new();
        map.insert("id", self.id.as_str());
        map.insert_some("outcome", self.outcome.as_deref());
        map.insert("weight", self.weight.number().clone());
        map.insert("required", self.required.to_value());
        if !self.ranges.is_empty() {
            let ranges: Vec<Value> = self.ranges.iter().map(ScoreRange::to_value).collect();
            map.insert("score_ranges", ranges);
        }
        if self.operator != Operator::default() {
            map.insert("operator", self.operator.word());
        }
        map.into()
    }
}

impl ScoreRange {
    fn to_value(&self) -> Value {
        let range = vec![u32::from(self.low), u32::from(self.high)];
        let map = Map::new().with("score_range", range);
        map.with("outcome", self.outcome.as_str()).into()
    }
}
