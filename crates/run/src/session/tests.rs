//! Sessions in temporary directories: refusals, runs and the files they write.

use std::sync::Arc;

use camino::Utf8PathBuf;
use evalrig_core::model::Outcome;
use tempfile::TempDir;

use super::*;
use crate::results::Rows;

const SUITE: &str = "\
name: greetings
tests:
  - {id: good, criteria: c, input: hi, assert: [{type: contains, value: hello}]}
  - {id: bad, criteria: c, input: hi, assert: [{type: contains, value: bye}]}
";

const MOCK: &str = "\
targets:
  - {name: default, provider: mock, responses: [{pattern: hi, response: hello}]}
  - {name: keyed, provider: mock, response: '${{ EVALRIG_NEVER_SET }}'}
";

/// A directory with suites and a targets file.
struct Project(TempDir);

impl Project {
    fn new(suite: &str, targets: Option<&str>) -> Self {
        let project = Self(tempfile::tempdir().unwrap());
        project.write("EVAL.yaml", suite);
        if let Some(targets) = targets {
            project.write(".evalrig/targets.yaml", targets);
        }
        project
    }

    fn path(&self, name: &str) -> Utf8PathBuf {
        Utf8PathBuf::from_path_buf(self.0.path().join(name)).unwrap()
    }

    fn write(&self, name: &str, text: &str) {
        let path = self.path(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    fn spec(&self) -> RunSpec {
        let mut spec = RunSpec::new(self.path(""));
        spec.output = Some(self.path("out.jsonl"));
        spec
    }

    /// The error of a session that cannot start.
    fn refusal(&self, change: impl FnOnce(&mut RunSpec)) -> SessionError {
        let mut spec = self.spec();
        change(&mut spec);
        RunSession::prepare(spec, &mut |_| {}).unwrap_err()
    }

    fn run(&self, change: impl FnOnce(&mut RunSpec)) -> Result<FinishedRun, SessionError> {
        let mut spec = self.spec();
        change(&mut spec);
        let session = RunSession::prepare(spec, &mut |_| {})?;
        session.run(&mut |_| {}, Arc::new(|_| {}))
    }

    fn outcomes(&self, results: &str) -> Vec<(String, Outcome)> {
        let rows = Rows::open(&self.path(results)).unwrap();
        let rows = rows.map(|row| row.unwrap());
        rows.map(|row| (row.eval_id, row.outcome)).collect()
    }
}

fn codes(error: &SessionError) -> Vec<&'static str> {
    let SessionError::Refused(suites) = error else {
        panic!("not refused: {error}");
    };
    let found = suites.iter().flat_map(|suite| suite.diagnostics.iter().chain(&suite.missing));
    found.map(|one| one.code.name).collect()
}

#[test]
fn a_suite_without_a_targets_file_is_refused() {
    let project = Project::new(SUITE, None);
    assert_eq!(codes(&project.refusal(|_| {})), ["no-targets-file"]);
}

#[test]
fn a_test_without_a_target_is_refused() {
    let targets = "targets: [{name: other, provider: mock, response: hello}]\n";
    let project = Project::new(SUITE, Some(targets));
    assert_eq!(codes(&project.refusal(|_| {})), ["no-target"]);
}

#[test]
fn an_unknown_target_is_refused_with_a_suggestion() {
    let project = Project::new(SUITE, Some(MOCK));
    let error = project.refusal(|spec| spec.plan.targets = vec!["defualt".to_owned()]);
    let text = error.to_string();
    assert!(text.contains("did you mean `default`?"), "{text}");
}

#[test]
fn a_missing_judge_is_found_before_anything_is_called() {
    let suite = "name: judged\ntests:\n  - {id: a, criteria: c, input: hi, rubrics: [is kind]}\n";
    let project = Project::new(suite, Some(MOCK));
    assert_eq!(codes(&project.refusal(|_| {})), ["judge-target-missing"]);
    assert!(!project.path("out.jsonl").exists());
    let outcome = project.run(|spec| spec.grading.judging = evalrig_core::model::Judging::Skip);
    assert!(outcome.is_ok());
}

#[test]
fn an_unset_variable_matters_only_to_a_target_that_is_used() {
    let project = Project::new(SUITE, Some(MOCK));
    assert!(RunSession::prepare(project.spec(), &mut |_| {}).is_ok());
    let error = project.refusal(|spec| spec.plan.targets = vec!["keyed".to_owned()]);
    assert!(error.to_string().contains("EVALRIG_NEVER_SET"), "{error}");
}

#[test]
fn wrong_thresholds_are_refused() {
    let project = Project::new(SUITE, Some(MOCK));
    let error = project.refusal(|spec| {
        spec.grading.pass = Some(0.5);
        spec.grading.borderline = Some(0.9);
    });
    assert!(error.to_string().contains("0 < borderline ≤ pass ≤ 1"), "{error}");
}

#[test]
fn every_refused_suite_is_in_the_error() {
    let project = Project::new(SUITE, Some(MOCK));
    project.write("b/EVAL.yaml", "name: b\ntests: [{id: a, input: 1, input: 2}]\n");
    project.write("c/EVAL.yaml", "name: c\ntests: [{id: a, input: 1, input: 2}]\n");
    let SessionError::Refused(suites) = project.refusal(|_| {}) else {
        panic!("not refused");
    };
    assert_eq!(suites.len(), 2);
}

#[test]
fn an_empty_selection_has_its_own_error() {
    let project = Project::new(SUITE, Some(MOCK));
    let error = project.run(|spec| spec.plan.filters = vec!["nothing".to_owned()]).unwrap_err();
    assert!(error.is_nothing_selected());
    assert!(matches!(error, SessionError::NoTest));
}

#[test]
fn a_run_totals_its_rows_and_decides_the_exit_code() {
    let project = Project::new(SUITE, Some(MOCK));
    let outcome = project.run(|_| {}).unwrap();
    assert_eq!(outcome.exit.code(), 1);
    assert_eq!(outcome.totals.counts.of(Outcome::Passed), 1);
    assert_eq!(outcome.totals.counts.total(), 2);
    assert_eq!(outcome.results, [project.path("out.jsonl")]);
}

#[test]
fn suites_share_an_output_file_and_its_summary() {
    let project = Project::new(SUITE, Some(MOCK));
    project.write("b/EVAL.yaml", &SUITE.replace("greetings", "others"));
    let outcome = project.run(|_| {}).unwrap();
    assert_eq!(outcome.results.len(), 1);
    assert_eq!(project.outcomes("out.jsonl").len(), 4);
    let summary = std::fs::read_to_string(project.path("out.summary.json")).unwrap();
    assert!(summary.contains("\"total\": 4"), "{summary}");
}

#[test]
fn each_suite_has_its_own_file_without_an_output() {
    let project = Project::new(SUITE, Some(MOCK));
    project.write(".git/HEAD", "");
    project.write("b/EVAL.yaml", &SUITE.replace("greetings", "others"));
    let outcome = project.run(|spec| spec.output = None).unwrap();
    assert_eq!(outcome.results.len(), 2);
}

#[test]
fn only_failed_cases_are_run_again() {
    let project = Project::new(SUITE, Some(MOCK));
    project.run(|_| {}).unwrap();
    let first = project.path("out.jsonl").into_string();
    project
        .run(|spec| {
            spec.failed = Some(first);
            spec.output = Some(project.path("again.jsonl"));
        })
        .unwrap();
    assert_eq!(project.outcomes("again.jsonl"), [("bad".to_owned(), Outcome::Failed)]);
}

/// Three tests, of which the first errors and ends the run.
fn interrupted() -> Project {
    let suite = "name: s\ntests:\n  \
        - {id: boom, criteria: c, input: boom, assert: [{type: contains, value: hello}]}\n  \
        - {id: a, criteria: c, input: hi, assert: [{type: contains, value: hello}]}\n  \
        - {id: b, criteria: c, input: hi, assert: [{type: contains, value: hello}]}\n";
    let project = Project::new(suite, Some(MOCK));
    let outcome = project.run(|spec| {
        spec.max_errors = Some(1);
        spec.workers = Some(1);
    });
    assert_eq!(outcome.unwrap().totals.counts.of(Outcome::Errored), 3);
    project
}

#[test]
fn a_resumed_run_counts_finished_cases_too() {
    let project = interrupted();
    let file = project.path("out.jsonl");
    let outcome = project
        .run(|spec| {
            spec.output = None;
            spec.resume = Some(file.into_string());
        })
        .unwrap();
    assert_eq!(outcome.totals.counts.of(Outcome::Passed), 2);
    assert_eq!(outcome.totals.counts.total(), 3);
    assert_eq!(outcome.results, [project.path("out.jsonl")]);
}

#[test]
fn a_run_is_not_resumed_with_other_options() {
    let project = interrupted();
    let file = project.path("out.jsonl");
    let error = project
        .run(|spec| {
            spec.output = None;
            spec.resume = Some(file.into_string());
            spec.plan.trials = Some(3);
        })
        .unwrap_err();
    assert!(error.to_string().contains("started without `--trials`"), "{error}");
}

#[test]
fn a_stored_run_is_graded_again_with_the_current_assertions() {
    let project = Project::new(SUITE, Some(MOCK));
    project.run(|_| {}).unwrap();
    project.write("EVAL.yaml", &SUITE.replace("bye", "hello"));
    let spec = RegradeSpec {
        loading: LoadOptions::new(project.path("")),
        results: vec![project.path("out.jsonl")],
        suite: None,
        grading: GradingSpec::default(),
        workers: None,
        budget_usd: None,
        output: Some(project.path("graded.jsonl")),
        force: false,
        messages: false,
        reports: ReportSpec::default(),
        command: None,
        handle_signals: false,
    };
    let outcome = regrade(&spec, &mut |_| {}, Arc::new(|_| {})).unwrap();
    assert_eq!(outcome.exit.code(), 0);
    let same = RegradeSpec { output: Some(project.path("out.jsonl")), ..spec };
    let error = regrade(&same, &mut |_| {}, Arc::new(|_| {})).unwrap_err();
    assert!(error.to_string().starts_with("--output: "), "{error}");
}

#[test]
fn a_gate_without_a_common_test_fails_before_anything_is_called() {
    let project = Project::new(SUITE, Some(MOCK));
    project.run(|_| {}).unwrap();
    project.write("EVAL.yaml", &SUITE.replace("id: ", "id: new-"));
    let error = project
        .run(|spec| {
            spec.output = Some(project.path("new.jsonl"));
            spec.baseline = Some(BaselineSpec {
                runs: vec!["out.jsonl".to_owned()],
                most_runs: None,
                margin: 0.1,
                has_margin: false,
                measure: evalrig_core::compare::Measure::Rate,
                is_gated: true,
            });
        })
        .unwrap_err();
    assert!(matches!(error, SessionError::NothingInCommon(_)), "{error}");
    assert!(!project.path("new.jsonl").exists());
}
