//! When a test passes: promptfoo asks every assertion, or the mean score for a threshold; a suite has one
//! pass score for all tests, and gates.

use crate::model::{Map, Number, Value};
use crate::source::Span;

use super::super::assertion_draft::{any_answer, has_no_weight, name_members, unique_names};
use super::super::importer::Importer;
use super::super::suite_draft::{SuiteDraft, TestDraft};

/// Marks the threshold of an `assert-set` until it is known what becomes of it.
pub(super) const SET_THRESHOLD: &str = "x-threshold";

/// A test whose assertions are not yet joined.
#[derive(Debug)]
pub(super) struct PlannedTest {
    pub(super) test: TestDraft,
    /// From `defaultTest`.
    pub(super) default: Vec<Map>,
    pub(super) own: Vec<Map>,
    /// Some assertion has no counterpart.
    pub(super) is_lost: bool,
    pub(super) threshold: Option<Number>,
    pub(super) span: Span,
}

impl PlannedTest {
    /// Reports a test that checks nothing, which passes with every answer; one that lost all of its checks
    /// is skipped.
    pub(super) fn reported(mut self, importer: &mut Importer<'_>) -> Self {
        if !self.default.is_empty() || !self.own.is_empty() {
            return self;
        }
        if self.is_lost {
            self.test.skip = Some("none of its assertions could be converted".to_owned());
            self.test.criteria = self.test.description.clone();
        } else {
            let message = "promptfoo checks nothing here, so every answer passes; write `criteria`";
            importer.loss("nothing-checked", self.span, message);
        }
        self.own.push(any_answer());
        self
    }

    /// Thresholds of sets and of the test become one of the test, or gates.
    fn settle(&mut self) {
        let count = self.default.len() + self.own.len();
        let all = self.default.iter_mut().chain(&mut self.own);
        for check in all {
            let Some(Value::Number(least)) = check.remove(SET_THRESHOLD) else { continue };
            if self.threshold.is_some() {
                // The mean decides, whatever the set says.
                continue;
            }
            if count == 1 {
                self.threshold = Some(least);
                continue;
            }
            // The set must reach its threshold, and no more than that.
            check.insert("weight", 0_u64);
            if least.value() > 0.0 {
                check.insert("required", at_most_one(&least));
            }
        }
        if self.threshold.as_ref().is_some_and(|least| least.value() <= 0.0) {
            for check in self.default.iter_mut().chain(&mut self.own) {
                check.remove("required");
                check.insert("weight", 0_u64);
            }
            self.threshold = None;
        }
        if self.default.iter().chain(&self.own).all(has_no_weight) {
            self.own.push(any_answer());
        }
    }

    /// 1 where every assertion must pass.
    fn least(&self) -> f64 {
        self.threshold.as_ref().map_or(1.0, |least| least.value().min(1.0))
    }

    /// Gates in place of a pass score that is lower than what the test needs.
    fn gate(&mut self) {
        let least = self.threshold.as_ref().map_or_else(|| Number::from(1), at_most_one);
        let checks =
            std::mem::take(&mut self.default).into_iter().chain(std::mem::take(&mut self.own));
        let mut checks: Vec<Map> = checks.collect();
        if self.threshold.is_none() {
            for check in checks.iter_mut().filter(|check| !has_no_weight(check)) {
                check.insert("required", true_or(&least));
            }
            self.own = checks;
            return;
        }
        if let [only] = checks.as_mut_slice() {
            only.insert("required", true_or(&least));
            self.own = checks;
            return;
        }
        name_members(&mut checks);
        let members: Vec<Value> = checks.into_iter().map(Value::from).collect();
        let map = Map::new().with("type", "composite").with("assert", members);
        self.own = vec![map.with("required", true_or(&least))];
    }
}

fn true_or(least: &Number) -> Value {
    Value::Number(least.clone())
}

fn at_most_one(least: &Number) -> Number {
    if least.value() > 1.0 { Number::from(1) } else { least.clone() }
}

/// The tests with their assertions. The lowest threshold of all tests is the pass score of the suite.
pub(super) fn finish_tests(draft: &mut SuiteDraft, mut planned: Vec<PlannedTest>) {
    for test in &mut planned {
        test.settle();
    }
    let lowest = planned.iter().map(PlannedTest::least).fold(1.0, f64::min);
    let written = planned.iter().filter_map(|test| test.threshold.clone());
    let written = written.min_by(|a, b| a.value().total_cmp(&b.value()));
    let pass = written.filter(|least| least.value() < 1.0).unwrap_or_else(|| Number::from(1));
    draft.pass = Some(pass);
    let mut is_gated = false;
    for test in &mut planned {
        if test.least() > lowest {
            test.gate();
            is_gated = true;
        }
        let (defaults, own) = (test.default.len(), std::mem::take(&mut test.own));
        let mut all: Vec<Map> = std::mem::take(&mut test.default).into_iter().chain(own).collect();
        unique_names(&mut all);
        test.own = all.split_off(defaults.min(all.len()));
        test.default = all;
    }
    let is_shared = planned.len() > 1
        && !is_gated
        && planned.windows(2).all(|two| two[0].default == two[1].default);
    if is_shared && let Some(first) = planned.first() {
        draft.assertions = first.default.iter().cloned().map(Value::from).collect();
    }
    for plan in planned {
        let mut test = plan.test;
        let default = if is_shared { Vec::new() } else { plan.default };
        test.assertions = default.into_iter().chain(plan.own).map(Value::from).collect();
        draft.tests.push(test);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::import::assertion_draft::text_check;
    use crate::model::JsonStyle;
    use crate::source::SourceId;

    fn planned(threshold: Option<&str>, checks: Vec<Map>) -> PlannedTest {
        let span = Span::new(SourceId(0), 0, 0);
        PlannedTest {
            test: TestDraft::new("t".to_owned(), "x".into()),
            default: Vec::new(),
            own: checks,
            is_lost: false,
            threshold: threshold.and_then(Number::parse),
            span,
        }
    }

    fn finished(planned: Vec<PlannedTest>) -> (String, Vec<String>) {
        let mut draft = SuiteDraft::default();
        finish_tests(&mut draft, planned);
        let shown = |list: &[Value]| Value::List(list.to_vec()).to_json(JsonStyle::Compact);
        let pass = draft.pass.map(|pass| pass.text().to_owned()).unwrap_or_default();
        (pass, draft.tests.iter().map(|test| shown(&test.assertions)).collect())
    }

    fn check() -> Map {
        text_check("contains", "a")
    }

    #[test]
    fn without_thresholds_everything_must_hold() {
        let (pass, tests) = finished(vec![planned(None, vec![check()])]);
        assert_eq!(
            (pass.as_str(), tests[0].as_str()),
            ("1", r#"[{"type":"contains","value":"a"}]"#)
        );
    }

    #[test]
    fn tests_that_differ_get_gates() {
        let (pass, tests) = finished(vec![
            planned(Some("0.5"), vec![check(), check()]),
            planned(None, vec![check()]),
            planned(Some("0.75"), vec![check(), check()]),
        ]);
        assert_eq!(pass, "0.5");
        assert!(!tests[0].contains("required"), "{}", tests[0]);
        assert!(tests[1].contains(r#""required":1"#), "{}", tests[1]);
        assert!(tests[2].contains(r#""type":"composite""#), "{}", tests[2]);
        assert!(tests[2].ends_with(r#""required":0.75}]"#), "{}", tests[2]);
    }

    #[test]
    fn a_set_alone_gives_its_threshold_to_the_test() {
        let set = || {
            Map::new().with("type", "composite").with(SET_THRESHOLD, Number::parse("0.5").unwrap())
        };
        let (pass, tests) = finished(vec![planned(None, vec![set()])]);
        assert_eq!((pass.as_str(), tests[0].as_str()), ("0.5", r#"[{"type":"composite"}]"#));
        let (pass, tests) = finished(vec![planned(None, vec![set(), check()])]);
        assert_eq!(pass, "1");
        assert!(tests[0].contains(r#""weight":0,"required":0.5"#), "{}", tests[0]);
    }

    #[test]
    fn a_threshold_of_zero_and_weights_of_zero_pass_always() {
        let (pass, tests) = finished(vec![planned(Some("0"), vec![check()])]);
        assert_eq!(pass, "1");
        assert!(
            tests[0].contains(r#""weight":0"#) && tests[0].contains("any-answer"),
            "{}",
            tests[0]
        );
        let (_, tests) = finished(vec![planned(None, vec![check().with("weight", 0_u64)])]);
        assert!(tests[0].contains("any-answer"), "{}", tests[0]);
    }
}
