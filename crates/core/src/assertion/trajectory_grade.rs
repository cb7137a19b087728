//! Grading of `tool-trajectory`: the calls against the expected ones, by mode (spec 7.17).

use std::collections::HashSet;

use crate::model::{Call, Fault, Map, Marks, Score, Value};

use super::excerpt::excerpt;
use super::finding::{Finding, FindingList};
use super::tool_call::ExpectedCall;
use super::tool_names::CalledTools;
use super::tool_trajectory::{ToolTrajectory, TrajectoryMode};
use super::trajectory_match::CallFits;

impl ToolTrajectory {
    pub(super) fn compare(&self, called: &CalledTools<'_>) -> Result<Marks, Fault> {
        match self.mode {
            TrajectoryMode::AnyOrder | TrajectoryMode::Superset => self.in_any_order(called),
            TrajectoryMode::InOrder => self.in_order(called),
            TrajectoryMode::Exact => self.exactly(called),
            TrajectoryMode::Subset => self.only(called),
        }
    }

    fn in_any_order(&self, called: &CalledTools<'_>) -> Result<Marks, Fault> {
        let fits = self.fits(called)?;
        self.refuse_hidden(called, &fits)?;
        let mut findings = FindingList::default();
        let mut nearest = NearestCalls::default();
        for (at, call) in fits.in_any_order().into_iter().enumerate() {
            let entry = &self.expected[at];
            match call {
                Some(_) => findings.hit(entry.hit()),
                None => findings.miss(nearest.miss(at, entry, &fits, called)),
            }
        }
        for minimum in &self.minimums {
            let found = (0..called.calls.len()).filter(|at| called.is_of(*at, &minimum.tool));
            let (tool, count) = (excerpt(&minimum.tool), found.count() as u64);
            let text = format!("Called {tool} {count} times (minimum {})", minimum.calls);
            let holds = count >= minimum.calls;
            if !holds {
                called.refuse_hidden(&minimum.tool, 0..called.calls.len())?;
            }
            findings.add(Finding { holds, text });
        }
        let (met, all) = (findings.hits.len(), findings.hits.len() + findings.misses.len());
        Ok(nearest.add_to(scored(findings, share(met, all))))
    }

    fn in_order(&self, called: &CalledTools<'_>) -> Result<Marks, Fault> {
        let fits = self.fits(called)?;
        self.refuse_hidden(called, &fits)?;
        let run = fits.in_order();
        let length = run.iter().flatten().count();
        let mut findings = FindingList::default();
        if length < self.expected.len() {
            let mut taken: Vec<usize> = fits.in_any_order().into_iter().flatten().collect();
            if taken.len() == self.expected.len() {
                taken.sort_unstable();
                let tools = taken.into_iter().map(|call| &*called.calls[call].tool);
                findings.miss(out_of_order(tools));
                return Ok(scored(findings, Score::ZERO));
            }
        }
        // A tool that was called in another position must not be reported as missing.
        let mut misplaced = Vec::new();
        let mut nearest = NearestCalls::default();
        let in_run: HashSet<usize> = run.iter().flatten().copied().collect();
        let is_spare = |call: &usize| !in_run.contains(call);
        for (at, entry) in self.expected.iter().enumerate() {
            match run[at] {
                Some(_) => findings.hit(entry.hit()),
                None if fits.of(at).iter().any(is_spare) => misplaced.push(&*entry.tool),
                None => findings.miss(nearest.miss(at, entry, &fits, called)),
            }
        }
        if !misplaced.is_empty() {
            findings.miss(out_of_order(misplaced));
        }
        Ok(nearest.add_to(scored(findings, share(length, self.expected.len()))))
    }

    fn exactly(&self, called: &CalledTools<'_>) -> Result<Marks, Fault> {
        let calls = called.calls;
        let mut findings = FindingList::default();
        let mut nearest = NearestCalls::default();
        for (at, entry) in self.expected.iter().enumerate() {
            let call = calls.get(at);
            if call.is_some() && entry.fits(called, at)? {
                findings.hit(entry.hit());
                continue;
            }
            if let Some(call) = call.filter(|_| entry.differs_in_args(called, at)) {
                nearest.add(at, at, call);
                findings.miss(format!("Call {}: {}", at + 1, entry.other_args()));
                continue;
            }
            called.refuse_hidden(&entry.tool, at..calls.len().min(at + 1))?;
            let got = call.map_or("nothing".into(), |call| excerpt(&call.tool));
            let expected = excerpt(&entry.tool);
            let text = format!("Call {}: expected {expected}, got {got}", at + 1);
            findings.miss(text);
        }
        let met = findings.hits.len();
        for call in calls.iter().skip(self.expected.len()) {
            findings.miss(unexpected(call));
        }
        let all = self.expected.len().max(calls.len());
        Ok(nearest.add_to(scored(findings, share(met, all))))
    }

    fn only(&self, called: &CalledTools<'_>) -> Result<Marks, Fault> {
        let fits = self.fits(called)?;
        let calls = called.calls;
        let mut allowed_by: Vec<Option<&ExpectedCall>> = vec![None; calls.len()];
        for (at, entry) in self.expected.iter().enumerate() {
            for call in fits.of(at) {
                allowed_by[*call].get_or_insert(entry);
            }
        }
        let others = || (0..calls.len()).filter(|at| allowed_by[*at].is_none());
        for entry in &self.expected {
            called.refuse_hidden(&entry.tool, others())?;
        }
        let mut findings = FindingList::default();
        for (call, entry) in calls.iter().zip(allowed_by) {
            match entry {
                Some(entry) => findings.hit(entry.hit()),
                None => findings.miss(unexpected(call)),
            }
        }
        let met = findings.hits.len();
        Ok(scored(findings, share(met, calls.len())))
    }

    /// The calls that each expected entry fits.
    fn fits(&self, called: &CalledTools<'_>) -> Result<CallFits, Fault> {
        let mut of_entry = Vec::with_capacity(self.expected.len());
        for entry in &self.expected {
            let mut fitting = Vec::new();
            for at in 0..called.calls.len() {
                if entry.fits(called, at)? {
                    fitting.push(at);
                }
            }
            of_entry.push(fitting);
        }
        Ok(CallFits::new(of_entry, called.calls.len()))
    }

    /// Fails if it is not known whether an entry that no call fits was met after all.
    fn refuse_hidden(&self, called: &CalledTools<'_>, fits: &CallFits) -> Result<(), Fault> {
        let unmet = self.expected.iter().enumerate().filter(|(at, _)| fits.of(*at).is_empty());
        unmet
            .map(|(_, entry)| entry)
            .try_for_each(|entry| called.refuse_hidden(&entry.tool, 0..called.calls.len()))
    }
}

/// Calls of the expected tool with other arguments, for `details`.
#[derive(Debug, Default)]
struct NearestCalls(Vec<Value>);

impl NearestCalls {
    /// The text of an entry that no call fits.
    fn miss(
        &mut self,
        entry_at: usize,
        entry: &ExpectedCall,
        fits: &CallFits,
        called: &CalledTools<'_>,
    ) -> String {
        let calls = called.calls;
        let others = (0..calls.len()).filter(|at| entry.differs_in_args(called, *at));
        // Of equally near calls the first.
        let near = others.rev().max_by_key(|at| entry.equal_args(&calls[*at]));
        match near.filter(|_| fits.of(entry_at).is_empty()) {
            Some(at) => {
                self.add(entry_at, at, &calls[at]);
                entry.other_args()
            }
            None => entry.miss(),
        }
    }

    fn add(&mut self, entry: usize, at: usize, call: &Call) {
        let map = Map::new()
            .with("expected", entry as u64)
            .with("call", at as u64)
            .with("tool", call.tool.as_str())
            .with("args", call.args.clone());
        self.0.push(map.into());
    }

    fn add_to(self, mut marks: Marks) -> Marks {
        if !self.0.is_empty() {
            marks.details = Some(Map::new().with("nearest", Value::List(self.0)));
        }
        marks
    }
}

/// Nothing out of nothing is full marks.
fn share(met: usize, all: usize) -> Score {
    match all {
        0 => Score::ONE,
        all => Score::of_share(met as f64 / all as f64),
    }
}

fn unexpected(call: &Call) -> String {
    format!("Unexpected call {}", excerpt(&call.tool))
}

fn out_of_order<'t>(tools: impl IntoIterator<Item = &'t str>) -> String {
    let tools: Vec<_> = tools.into_iter().map(excerpt).collect();
    format!("Tools called out of order: {}", tools.join(", "))
}

fn scored(mut findings: FindingList, score: Score) -> Marks {
    if findings.hits.is_empty() && findings.misses.is_empty() {
        // No call was expected and none was made, or none was required.
        findings.hit("Called no tools");
    }
    findings.marks(score)
}

#[cfg(test)]
mod tests {
    use super::super::testing::Trial;
    use crate::model::{Call, FaultKind, JsonStyle, Marks, Transcript, Value};
    use crate::syntax::json_value;

    /// `search` or `search{"q":"x"}`.
    fn call(text: &str) -> Call {
        let (tool, args) = text.split_at(text.find('{').unwrap_or(text.len()));
        Call::new("", tool, json_value(args).unwrap_or(Value::Null))
    }

    fn trial(options: &str, calls: Option<Vec<Call>>) -> Trial {
        let transcript = Transcript { calls, ..Transcript::of_text("ok") };
        Trial::new(&format!("- {{type: tool-trajectory, {options}}}"), transcript)
    }

    fn marks(options: &str, calls: &[&str]) -> Marks {
        let calls = calls.iter().map(|text| call(text)).collect();
        trial(options, Some(calls)).marks()
    }

    /// Options, calls, score as a fraction, hits, misses.
    type Row<'a> = (&'a str, &'a [&'a str], (u8, u8), &'a [&'a str], &'a [&'a str]);

    fn check(rows: &[Row<'_>]) {
        for (options, calls, (part, whole), hits, misses) in rows {
            let found = marks(options, calls);
            let score = f64::from(*part) / f64::from(*whole);
            assert_eq!(found.score.value(), score, "{options} {calls:?}");
            assert_eq!(found.hits, *hits, "{options} {calls:?}");
            assert_eq!(found.misses, *misses, "{options} {calls:?}");
        }
    }

    #[test]
    fn the_examples_of_the_format_in_any_order() {
        check(&[
            (
                "expected: [search, read, sum]",
                &["search", "sum"],
                (2, 3),
                &["Called search", "Called sum"],
                &["Did not call read"],
            ),
            (
                "minimums: {search: 2, read: 3}",
                &["search", "search", "read"],
                (1, 2),
                &["Called search 2 times (minimum 2)"],
                &["Called read 1 times (minimum 3)"],
            ),
            (
                "expected: [search, {tool: search, args: {q: x}}]",
                &[r#"search{"q":"x"}"#, r#"search{"q":"y"}"#],
                (1, 1),
                &["Called search", r#"Called search with {"q":"x"}"#],
                &[],
            ),
        ]);
    }

    #[test]
    fn the_examples_of_the_format_in_order() {
        let expected = "mode: in_order, expected: [fetch, process, save]";
        let all = &["Called fetch", "Called process", "Called save"];
        check(&[
            (expected, &["fetch", "log", "process", "save"], (1, 1), all, &[]),
            (
                expected,
                &["process", "fetch", "save"],
                (0, 1),
                &[],
                &["Tools called out of order: process, fetch, save"],
            ),
            (
                expected,
                &["fetch", "save"],
                (2, 3),
                &["Called fetch", "Called save"],
                &["Did not call process"],
            ),
            (
                expected,
                &["save", "fetch"],
                (1, 3),
                &["Called fetch"],
                &["Did not call process", "Tools called out of order: save"],
            ),
            (
                expected,
                &[],
                (0, 1),
                &[],
                &["Did not call fetch", "Did not call process", "Did not call save"],
            ),
        ]);
    }

    #[test]
    fn the_examples_of_the_format_for_exact_and_subset() {
        let exact = "mode: exact, expected: [init, process, cleanup]";
        check(&[
            (
                exact,
                &["init", "process", "process", "cleanup"],
                (2, 4),
                &["Called init", "Called process"],
                &["Call 3: expected cleanup, got process", "Unexpected call cleanup"],
            ),
            (
                exact,
                &["init", "log", "process", "cleanup"],
                (1, 4),
                &["Called init"],
                &[
                    "Call 2: expected process, got log",
                    "Call 3: expected cleanup, got process",
                    "Unexpected call cleanup",
                ],
            ),
            (
                exact,
                &["init", "process"],
                (2, 3),
                &["Called init", "Called process"],
                &["Call 3: expected cleanup, got nothing"],
            ),
            (
                "mode: subset, expected: [read, grep]",
                &["read", "rm"],
                (1, 2),
                &["Called read"],
                &["Unexpected call rm"],
            ),
        ]);
    }

    #[test]
    fn no_calls_are_what_an_empty_list_wants() {
        for mode in ["exact", "subset"] {
            let options = format!("mode: {mode}, expected: []");
            check(&[
                (&options, &[], (1, 1), &["Called no tools"], &[]),
                (&options, &["rm"], (0, 1), &[], &["Unexpected call rm"]),
            ]);
        }
        check(&[("mode: subset, expected: [read]", &[], (1, 1), &["Called no tools"], &[])]);
    }

    #[test]
    fn every_entry_takes_a_call_of_its_own() {
        check(&[
            (
                "mode: superset, expected: [a, a]",
                &["a"],
                (1, 2),
                &["Called a"],
                &["Did not call a"],
            ),
            (
                "expected: [a], minimums: {a: 2}",
                &["a"],
                (1, 2),
                &["Called a"],
                &["Called a 1 times (minimum 2)"],
            ),
            ("mode: subset, expected: [a]", &["a", "a"], (1, 1), &["Called a", "Called a"], &[]),
            ("expected: [A]", &["a"], (0, 1), &[], &["Did not call A"]),
        ]);
    }

    #[test]
    fn arguments_are_compared_as_the_author_says() {
        let score = |options: &str, one: &str| marks(options, &[one]).score.value();
        let expected = "expected: [{tool: a, args: {n: 1, m: x}}]";
        for (how, one, fits) in [
            ("partial", r#"a{"n":1.0,"m":"x","k":0}"#, 1.0),
            ("superset", r#"a{"n":1,"m":"x","k":0}"#, 1.0),
            ("partial", r#"a{"n":1}"#, 0.0),
            ("exact", r#"a{"m":"x","n":1}"#, 1.0),
            ("exact", r#"a{"m":"x","n":1,"k":0}"#, 0.0),
            ("subset", r#"a{"n":1}"#, 1.0),
            ("subset", r#"a{"k":0}"#, 0.0),
            ("ignore", r#"a{"k":0}"#, 1.0),
            ("[n]", r#"a{"n":1,"m":"y"}"#, 1.0),
            ("[m]", r#"a{"n":1,"m":"y"}"#, 0.0),
        ] {
            let options = format!("args_match: {how}, {expected}");
            assert_eq!(score(&options, one), fits, "{how} {one}");
        }
    }

    #[test]
    fn a_call_with_other_arguments_is_not_a_missing_call() {
        let expected = "expected: [{tool: a, args: {n: 1, m: x}}]";
        let text = "Called 'a', but not with the expected arguments";
        for mode in ["any_order", "in_order"] {
            let options = format!("mode: {mode}, {expected}");
            let found = marks(&options, &["b", r#"a{"n":9}"#, r#"a{"n":1,"m":"y"}"#]);
            assert_eq!(found.misses, [text], "{mode}");
            let details = Value::from(found.details.unwrap()).to_json(JsonStyle::Compact);
            assert_eq!(
                details,
                r#"{"nearest":[{"expected":0,"call":2,"tool":"a","args":{"n":1,"m":"y"}}]}"#
            );
        }
        let found = marks(&format!("mode: exact, {expected}"), &[r#"a{"n":9}"#]);
        assert_eq!(found.misses, [format!("Call 1: {text}")]);
        let taken = marks("expected: [a, {tool: a, args: {n: 1}}]", &[r#"a{"n":1}"#]);
        assert_eq!(taken.misses.len(), 1);
        assert_eq!((taken.details, marks("expected: [a]", &["b"]).details), (None, None));
    }

    #[test]
    fn canonical_names_fit_the_tools_of_every_agent() {
        for tool in ["Write", "file_change", "write_file", "create", "write"] {
            let found = marks("mode: exact, expected: [write]", &[tool]);
            assert_eq!(found.score.value(), 1.0, "{tool}");
            let found = marks("minimums: {write: 2}", &[tool, tool]);
            assert_eq!(found.score.value(), 1.0, "{tool}");
        }
        assert_eq!(marks("mode: subset, expected: [run]", &["bash", "rm"]).score.value(), 0.5);
    }

    #[test]
    fn a_command_of_an_agent_without_such_a_tool_is_not_measured() {
        let calls = || Some(vec![call("command_execution")]);
        let why = "not measured: calls of `read`, because Codex has no tool for it and call 1 \
                   (command_execution) may have done it";
        for options in [
            "expected: [read]",
            "mode: in_order, expected: [run, read]",
            "mode: exact, expected: [read]",
            "mode: subset, expected: [read]",
            "minimums: {read: 1}",
            "expected: [read], negate: true",
        ] {
            let fault = trial(options, calls()).fault();
            assert_eq!((fault.kind, &*fault.message), (FaultKind::NotMeasured, why), "{options}");
        }
        for (options, score) in [
            ("mode: subset, expected: [read, run]", 1.0),
            ("mode: exact, expected: [run, read]", 0.5),
            ("expected: [run]", 1.0),
            ("expected: [fetch]", 0.0),
        ] {
            assert_eq!(trial(options, calls()).marks().score.value(), score, "{options}");
        }
        let idle = trial("expected: [read], negate: true", Some(vec![call("file_change")]));
        assert_eq!(idle.marks().score.value(), 1.0);
    }

    #[test]
    fn a_slow_call_does_not_match_and_an_unknown_duration_is_not_measured() {
        let options = "expected: [{tool: a, max_duration_ms: 50}]";
        let timed = |duration_ms| Call { duration_ms, ..call("a") };
        for (duration, score) in [(50, 1.0), (51, 0.0)] {
            let found = trial(options, Some(vec![timed(Some(duration))])).marks();
            assert_eq!(found.score.value(), score, "{duration}");
        }
        for mode in ["any_order", "in_order", "exact", "superset", "subset"] {
            let options = format!("mode: {mode}, {options}");
            let fault = trial(&options, Some(vec![timed(None)])).fault();
            assert_eq!(fault.message, "not measured: duration of the call of a");
            let other = trial(&options, Some(vec![call("b")])).marks();
            assert_eq!(other.score.value(), 0.0);
        }
    }

    #[test]
    fn calls_that_are_not_reported_are_not_measured() {
        for mode in ["any_order", "in_order", "exact", "superset", "subset"] {
            let fault = trial(&format!("mode: {mode}, expected: [a]"), None).fault();
            assert_eq!(fault.kind, FaultKind::NotMeasured);
            assert_eq!(fault.message, "not measured: tool calls");
        }
    }

    #[test]
    fn many_entries_and_calls_are_graded_in_time() {
        let entries: Vec<String> =
            (0..1000).map(|at| format!("{{tool: t, args: {{n: {}}}}}", at / 2)).collect();
        let calls: Vec<Call> =
            (0..1000).rev().map(|at| call(&format!("t{{\"n\":{}}}", at / 3))).collect();
        for mode in ["any_order", "in_order", "exact", "subset"] {
            let options = format!("mode: {mode}, expected: [{}]", entries.join(", "));
            let found = trial(&options, Some(calls.clone())).marks();
            assert!(found.score.value() <= 1.0, "{mode}");
        }
    }
}
