//! Judges that vote, and judges that are checked against labels.
#![cfg(unix)]

mod support;

use std::fmt::Write as _;

use serde_json::{Value, json};
use support::Project;

const SUITE: &str = "name: votes\ntests:\n  - {id: a, criteria: c, input: hi, assert: [{type: rubrics, \
                     name: kind, rubrics: [Is kind], votes: 3}]}\n";

fn reply(yes: bool) -> String {
    format!(r#"{{"checks": [{{"id": "rubric-1", "reasoning": "so", "satisfied": {yes}}}]}}"#)
}

/// A mock that answers, and a mock that judges with one reply per call.
fn mocks(replies: &[bool], judge: &str) -> String {
    let replies: Vec<String> = replies.iter().map(|yes| format!("'{}'", reply(*yes))).collect();
    format!(
        "judge_target: judge\ntargets:\n  - {{name: default, provider: mock, response: hello}}\n  \
         - {{name: judge, provider: mock, response: [{}]{judge}}}\n",
        replies.join(", ")
    )
}

#[test]
fn the_majority_counts_and_every_reading_is_paid_for() {
    let project = Project::new(SUITE, &mocks(&[false, true, true], ""));
    project.run(&[]).exits(0).prints("kind: 2 yes, 1 no");
    let row = project.row("a");
    assert_eq!((&row["outcome"], &row["judgeUsage"]["calls"]), (&json!("passed"), &json!(3)));
    let votes = &row["evaluatorResults"][0]["details"]["votes"];
    assert_eq!(votes["scores"], json!([0, 1, 1]));
    project.run(&["--dry-run"]).exits(0).prints("judge calls   3 to 6");
    for report in ["json", "markdown", "html"] {
        project.evalrig(&["report", "latest", "--report", report]).exits(0).prints("2 yes, 1 no");
    }
}

#[test]
fn votes_of_the_judge_hold_where_the_assertion_has_none() {
    let suite = SUITE.replace(", votes: 3", "");
    for (votes, calls) in [("", 1), (", votes: 5", 5), (", judge: {votes: 3}", 3)] {
        let project = Project::new(&suite, &mocks(&[true], votes));
        project.run(&[]).exits(0);
        assert_eq!(project.row("a")["judgeUsage"]["calls"], calls, "{votes}");
    }
    let project = Project::new(&suite, &mocks(&[true], ", votes: 2"));
    project.run(&[]).exits(2).says("`votes` is 2, an even number");
}

/// The judge writes down every call and kills evalrig in its third one.
#[test]
fn a_run_that_is_killed_between_votes_asks_only_what_is_missing() {
    let targets = "judge_target: judge\ntargets:\n  - {name: default, provider: mock, response: hello}\n  \
                   - {name: judge, provider: cli, command: [sh, judge.sh], max_concurrency: 1}\n";
    let project = Project::new(SUITE, targets);
    let script = format!(
        "echo call >> calls\nif [ \"$(wc -l < calls)\" -eq 3 ]; then kill -9 $PPID; sleep 1; fi\n\
         echo '{}'\n",
        reply(true)
    );
    project.write("judge.sh", &script);
    let killed = project.run(&[]);
    assert_eq!(killed.code, None, "{}", killed.err);
    assert_eq!(project.lines("calls").len(), 3);
    project.run(&["--resume"]).exits(0);
    assert_eq!(project.lines("calls").len(), 4, "the first two replies were asked for again");
    let row = project.row("a");
    assert_eq!(row["judgeUsage"]["calls"], 3);
    let votes = &row["evaluatorResults"][0]["details"]["votes"];
    assert_eq!((&votes["measured"], &votes["scores"]), (&json!(3), &json!([1, 1, 1])));
}

/// Thirty answers. The judge fails those of the first four tests, and people those of the first six.
fn judged() -> Project {
    let mut suite = "name: judged\ntests:\n".to_owned();
    for number in 10..40 {
        let _ = writeln!(
            suite,
            "  - {{id: t{number}, criteria: c, input: hi, assert: [{{type: rubrics, rubrics: [Is kind]}}]}}"
        );
    }
    let targets = format!(
        "judge_target: judge\ntargets:\n  \
         - {{name: default, provider: cli, command: [sh, -c, 'echo answer $EVALRIG_TEST_ID']}}\n  \
         - name: judge\n    provider: mock\n    responses:\n      \
         - {{pattern: 'answer t1[0-3]', response: '{}'}}\n      - {{response: '{}'}}\n",
        reply(false),
        reply(true)
    );
    let project = Project::new(&suite, &targets);
    project.run(&["--quiet"]).exits(1);
    project
}

fn table(project: &Project, labels: usize) -> String {
    let mut rows = project.rows();
    rows.sort_by_key(|row| row["evalId"].to_string());
    let mut text = "suite,test,answer,label\n".to_owned();
    for (at, row) in rows.iter().enumerate().take(labels) {
        let label = if at < 6 { "wrong" } else { "right" };
        let (test, answer) =
            (support::text(&row["evalId"]), support::text(&row["candidateAnswer"]));
        let _ = writeln!(text, "judged,{test},\"{answer}\",{label}");
    }
    text
}

fn checked(project: &Project, code: i32, words: &[&str]) -> Value {
    let all = [&["judge", "check", "latest", "--format", "json"], words].concat();
    let ran = project.evalrig(&all);
    ran.exits(code);
    serde_json::from_str(&ran.out).expect("JSON")
}

#[test]
fn a_judge_is_measured_against_a_table_of_labels() {
    let project = judged();
    project.write("labels.csv", &table(&project, 30));
    let found = checked(&project, 0, &["--labels", "labels.csv"]);
    assert_eq!(found["labels"]["used"], 30);
    let judge = &found["judges"][1];
    assert_eq!((&judge["assertion"], &judge["labels"]), (&json!("rubrics"), &json!(30)));
    assert_eq!(judge["sensitivity"]["hits"], 24);
    assert_eq!(judge["specificity"]["rate"], 0.666_667);
    assert_eq!(judge["repeats"]["flipRate"], Value::Null);
    let rate = &found["rates"][0];
    assert_eq!((&rate["passes"], &rate["judged"]), (&json!(26), &json!(30)));
    assert_eq!(rate["corrected"]["value"], 0.8);
    let said = project.evalrig(&["judge", "check", "--labels", "labels.csv"]);
    said.exits(0).prints("4 of 6 (67 %").prints("corrected   80 %");
}

#[test]
fn few_labels_and_stale_ones_are_named() {
    let project = judged();
    let text = table(&project, 12).replace("\"answer t12\"", "\"another answer\"");
    project.write("labels.csv", &(text + "judged,gone,x,right\n"));
    let found = checked(&project, 3, &["--labels", "labels.csv"]);
    assert_eq!((&found["labels"]["used"], &found["labels"]["elsewhere"]), (&json!(11), &json!(1)));
    assert_eq!(found["labels"]["stale"][0]["test"], "t12");
    assert_eq!(found["judges"][1]["agreement"], Value::Null);
    assert_eq!(found["rates"][0]["corrected"], Value::Null);
    let said = project.evalrig(&["judge", "check", "--labels", "labels.csv"]);
    said.exits(3).prints("11 of 20 labelled answers").prints("t12 (");
    project.evalrig(&["judge", "check"]).exits(3).prints("labels.jsonl: 0 for these answers");
}

#[test]
fn a_row_that_is_no_label_has_its_line() {
    let project = judged();
    project.write("labels.csv", "suite,test,answer,label\njudged,t10,x,right\njudged,t11,y,fine\n");
    let ran = project.evalrig(&["judge", "check", "--labels", "labels.csv"]);
    ran.exits(2).says("labels.csv:3: `label` is `fine`; write `right` or `wrong`");
}

#[test]
fn readings_are_priced_and_then_counted() {
    let project = judged();
    let words = ["judge", "check", "latest", "--readings", "3"];
    let price = project.evalrig(&[&words[..], &["--dry-run"]].concat());
    price.exits(0).prints("judge calls   90 to 180").prints("cost          nothing");
    assert_eq!(project.rows().len(), 30, "nothing was graded");
    project.evalrig(&["judge", "check", "--readings", "2"]).exits(2).says("odd number");
    project.write("labels.csv", &table(&project, 30));
    let found = checked(&project, 0, &["--labels", "labels.csv", "--readings", "3"]);
    let repeats = &found["judges"][1]["repeats"];
    assert_eq!((&repeats["answers"], &repeats["disputed"]), (&json!(30), &json!(0)));
    assert_eq!(repeats["flipRate"]["value"], 0.0);
    assert_eq!(
        (&found["rates"][0]["judged"], &found["judgeUsage"]["calls"]),
        (&json!(30), &json!(30))
    );
}

/// The stored answers cost a dollar each, and a reading costs a cent.
#[test]
fn a_budget_for_readings_is_not_spent_on_stored_answers() {
    let mut suite = "name: dear\ntests:\n".to_owned();
    for number in 0..8 {
        let _ = writeln!(
            suite,
            "  - {{id: t{number}, criteria: c, input: hi, assert: [{{type: rubrics, rubrics: [Is kind]}}]}}"
        );
    }
    let targets = format!(
        "judge_target: judge\ntargets:\n  \
         - {{name: default, provider: mock, responses: [{{response: hello, cost_usd: 1}}]}}\n  \
         - {{name: judge, provider: mock, responses: [{{response: '{}', cost_usd: 0.01}}]}}\n",
        reply(true)
    );
    let project = Project::new(&suite, &targets);
    for name in ["one.jsonl", "two.jsonl"] {
        project.run(&["--quiet", "--output", name]).exits(0);
    }
    let check = |budget: &str| {
        let mut words = vec!["judge", "check", "one.jsonl", "two.jsonl", "-j", "1"];
        words.extend(["--readings", "3", "--format", "json", "--budget-usd", budget]);
        let ran = project.evalrig(&words);
        // There are no labels.
        ran.exits(3);
        let found: Value = serde_json::from_str(&ran.out).expect("JSON");
        (found["incomplete"].clone(), found["judges"][1]["repeats"]["readings"].clone())
    };
    // One stored reading of each of sixteen answers, and three more.
    assert_eq!(check("5"), (Value::Null, json!(16 + 48)));
    let cut = json!(["the budget is used up, so not every answer was read again"]);
    // Of both runs together: reading the first one costs 24 cents.
    assert_eq!(check("0.3"), (cut.clone(), json!(16 + 24 + 6)));
    assert_eq!(check("0.1"), (cut, json!(16 + 12)));
    project.evalrig(&["judge", "check", "--budget-usd", "1"]).exits(2).says("--readings");
}

#[test]
fn results_without_a_judge_have_nothing_to_check() {
    let suite = "name: plain\ntests:\n  - {id: a, criteria: c, input: hi, assert: [{type: contains, value: hello}]}\n";
    let project = Project::new(suite, &mocks(&[true], ""));
    project.run(&["--quiet"]).exits(0);
    project.evalrig(&["judge", "check"]).exits(4).says("no answer in the results was graded by");
}

#[test]
fn a_budget_for_mutants_is_not_spent_on_stored_answers() {
    let targets = format!(
        "judge_target: judge\ntargets:\n  \
         - {{name: default, provider: mock, responses: [{{response: hello 42 friends, cost_usd: 1}}]}}\n  \
         - {{name: judge, provider: mock, responses: [{{response: '{}', cost_usd: 0.01}}]}}\n",
        reply(true)
    );
    let project = Project::new(&SUITE.replace(", votes: 3", ""), &targets);
    project.run(&["--quiet"]).exits(0);
    let ran = project.evalrig(&["mutate", "--judges", "4", "--budget-usd", "0.5", "-j", "1"]);
    ran.exits(0).prints("4 judge calls");
    assert!(!ran.out.contains("the budget is used up"), "{}", ran.out);
}
