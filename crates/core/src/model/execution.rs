//! How tests are run, and the thresholds of their verdicts.

use super::number::Number;
use super::value::{Map, Value};

/// The most trials of one test.
pub const MOST_TRIALS: u64 = 100;

/// Settings of the test itself or of the nearest file.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Execution {
    pub target: Option<String>,
    pub timeout_seconds: Option<u32>,
    /// Whether an empty answer is graded like any other.
    pub allow_empty: Option<bool>,
    pub on_timeout: Option<OnTimeout>,
    /// Whether the agent is stopped once every trigger-judge is decided and nothing else is graded.
    pub stop_on_trigger: Option<bool>,
}

crate::words! {
    /// What a timeout of the agent is.
    #[derive(Default)]
    pub enum OnTimeout {
        /// Nothing was measured.
        #[default]
        Error = "error",
        /// The test failed.
        Fail = "fail",
    }
}

impl Execution {
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// These settings, with those of `other` for what is not set.
    #[must_use]
    pub fn or(&self, other: &Self) -> Self {
        Self {
            target: self.target.clone().or_else(|| other.target.clone()),
            timeout_seconds: self.timeout_seconds.or(other.timeout_seconds),
            allow_empty: self.allow_empty.or(other.allow_empty),
            on_timeout: self.on_timeout.or(other.on_timeout),
            stop_on_trigger: self.stop_on_trigger.or(other.stop_on_trigger),
        }
    }

    pub fn to_value(&self) -> Value {
        let map = Map::new().with_some("target", self.target.as_deref());
        map.with_some("timeoutSeconds", self.timeout_seconds)
            .with_some("allowEmpty", self.allow_empty)
            .with_some("onTimeout", self.on_timeout.map(OnTimeout::word))
            .with_some("stopOnTrigger", self.stop_on_trigger)
            .into()
    }
}

/// Score thresholds: 0 < borderline ≤ pass ≤ 1.
#[derive(Debug, Clone, PartialEq)]
pub struct Verdicts {
    pass: Number,
    borderline: Number,
}

impl Verdicts {
    pub fn new(pass: Number, borderline: Number) -> Option<Self> {
        let fits =
            0.0 < borderline.value() && borderline.value() <= pass.value() && pass.value() <= 1.0;
        fits.then_some(Self { pass, borderline })
    }

    pub fn default_pass() -> Number {
        Number::parse("0.8").expect("0.8 is a number")
    }

    pub fn default_borderline() -> Number {
        Number::parse("0.6").expect("0.6 is a number")
    }

    pub fn pass(&self) -> f64 {
        self.pass.value()
    }

    pub fn borderline(&self) -> f64 {
        self.borderline.value()
    }

    pub fn to_value(&self) -> Value {
        let map = Map::new().with("pass", self.pass.clone());
        map.with("borderline", self.borderline.clone()).into()
    }
}

impl Default for Verdicts {
    fn default() -> Self {
        Self { pass: Self::default_pass(), borderline: Self::default_borderline() }
    }
}
