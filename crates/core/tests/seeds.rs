//! The examples of the seed documents 000, 001, 003 and 004: the format lives from them, so each
//! must load, and the complete ones must be clean.

mod support;

use evalrig_core::model::{Block, Suite};
use support::{Project, assertion_names, test};

fn indented(fragment: &str, by: usize) -> String {
    fragment.lines().map(|line| format!("{}{line}\n", " ".repeat(by))).collect()
}

/// A fragment of a test, as a suite.
fn with_test(fragment: &str) -> Project {
    Project::new(&format!("name: demo\ntests:\n  - id: a\n{}", indented(fragment, 4)))
}

/// Tests of a list, as a suite.
fn with_tests(list: &str) -> Project {
    Project::new(&format!("name: demo\ntests:\n{}", indented(list, 2)))
}

/// A fragment of a root, as a suite.
fn with_root(fragment: &str) -> Project {
    Project::new(&format!(
        r"{fragment}
tests:
  - {{id: a, criteria: Greets, input: Hi}}
"
    ))
}

// Seed 000.

const TRANSPILER: &str = r#"tests:
  - id: csv-top-months
    criteria: Agent finds the top 3 months by revenue
    input:
      - role: user
        content:
          - type: file
            value: evals/files/sales.csv
          - type: text
            value: "I have a CSV of monthly sales data. Find the top 3 months by revenue."
    expected_output: "The top 3 months by revenue are November ($22,500), September ($20,100), and December ($19,400)."
    assert:
      - type: trigger-judge          # from .agentv/judges/trigger-judge.ts
        skill: csv-analyzer
        should_trigger: true
      - type: rubrics
        criteria: "Output identifies November as the highest revenue month"
      - type: contains
        value: "$22,500"

  - id: irrelevant-query
    criteria: Agent does not invoke csv-analyzer for an unrelated query
    input: "What time is it?"
    assert:
      - type: trigger-judge
        skill: csv-analyzer
        should_trigger: false
"#;

#[test]
fn the_suite_of_seed_000_lacks_only_its_name() {
    let suite = Project::named("csv/EVAL.yaml", TRANSPILER)
        .with("csv/evals/files/sales.csv", "month,revenue\n")
        .with(".agentv/judges/trigger-judge.ts", "export default {}\n")
        .load()
        .with_names(&["missing-name"]);
    assert_eq!(suite.name, "csv");
    assert_eq!(
        assertion_names(test(&suite, "csv-top-months")),
        ["trigger-judge", "rubrics", "contains"]
    );
    let trigger = test(&suite, "irrelevant-query").assertions[0].assertion.check.trigger().unwrap();
    assert_eq!((trigger.skill.as_str(), trigger.should_trigger), ("csv-analyzer", false));
}

#[test]
fn the_evals_json_of_seed_000_is_read() {
    let suite = Project::named(
        "csv/evals/evals.json",
        r#"{
  "skill_name": "csv-analyzer",
  "evals": [
    {
      "id": 1,
      "prompt": "I have a CSV of monthly sales data. Find the top 3 months by revenue.",
      "expected_output": "The top 3 months by revenue are November ($22,500), September ($20,100), and December ($19,400).",
      "files": ["evals/files/sales.csv"],
      "should_trigger": true,
      "assertions": [
        "Output identifies November as the highest revenue month",
        "Output contains '$22,500'"
      ]
    },
    {
      "id": 2,
      "prompt": "What time is it?",
      "should_trigger": false,
      "assertions": []
    }
  ]
}"#,
    )
    .with("csv/evals/files/sales.csv", "month,revenue\n")
    .load()
    .clean();
    assert_eq!(suite.name, "csv-analyzer");
    assert_eq!(suite.tests.len(), 2);
    assert_eq!(assertion_names(&suite.tests[1]), ["trigger-judge"]);
}

#[test]
fn the_eval_set_of_seed_000_is_read() {
    let suite = Project::named(
        "eval-set.json",
        r#"[
  { "query": "I have a CSV of monthly sales data...", "should_trigger": true },
  { "query": "What time is it?", "should_trigger": false }
]"#,
    )
    .load()
    .with_names(&["missing-skill-name"]);
    assert_eq!(suite.tests.len(), 2);
}

#[test]
fn every_assertion_type_of_the_table_of_seed_000_is_known() {
    let suite = with_test(
        "criteria: Fits
input: Hi
expected_output: {total: 1}
assert:
  - {type: rubrics, criteria: Is polite}
  - {type: contains, value: x}
  - {type: regex, value: x}
  - {type: equals, value: x}
  - {type: is-json}
  - {type: llm-judge, prompt: Is it polite?}
  - {type: agent-judge, rubrics: [Is polite, Is brief]}
  - {type: tool-trajectory, expected: [{tool: search}]}
  - {type: code-judge, name: check, script: [check], description: Adds up}
  - {type: field-accuracy, fields: [{path: total}]}
  - {type: latency, threshold: 2000}
  - {type: cost, budget: 0.10}
  - {type: token-usage, max_total: 2000}
  - {type: execution-metrics, max_tool_calls: 10}",
    )
    .load()
    .clean();
    let sentences: Vec<String> =
        suite.tests[0].assertions.iter().flat_map(|placed| placed.assertion.sentences()).collect();
    assert_eq!(
        sentences,
        [
            "Is polite",
            "Output contains 'x'",
            "Output matches regex: x",
            "Output exactly equals: x",
            "Output is valid JSON",
            "Is it polite?",
            "Is polite",
            "Is brief",
            "Agent called tools in order: search",
            "check: Adds up",
            "Fields total match expected values",
            "Response time under 2000ms",
            "Cost under $0.10",
            "Token usage within limits",
            "Execution within metric bounds",
        ]
    );
}

// Seed 001.

const CODE_REVIEW: &str = r#"name: code-review
version: "1.0"
description: |
  Evaluates code review capabilities including bug detection,
  style suggestions, and security analysis.
metadata:
  author: example-org
  license: Apache-2.0
  tags: [coding, review, security]
  skill: code-review
execution:
  target: default
  timeout_seconds: 300
  assert:
    - name: correctness
      type: llm_judge
      prompt: ./prompts/correctness.md
      weight: 2.0
    - name: format_check
      type: code_judge
      script: ["python", "./judges/format.py"]
      weight: 1.0
tests:
  - id: detect-off-by-one
    description: Detect classic off-by-one loop error
    criteria: |
      Identifies the loop condition bug where i < 0 should be i < items.length
    input:
      - role: system
        content: You are an expert code reviewer.
      - role: user
        content: |
          Review this JavaScript function:
          ```javascript
          function getTotal(items) {
            let sum = 0;
            for (let i = 0; i < 0; i++) {
              sum += items[i].value;
            }
            return sum;
          }
          ```
    expected_output:
      - role: assistant
        content: |
          Bug detected: Loop condition `i < 0` is always false.
    rubrics:
      - Identifies the loop never executes
      - Provides correct fix
      - Explains the issue clearly
    assert:
      - name: bug_check
        type: code_judge
        script: ["python", "./judges/bug_check.py"]
"#;

fn code_review() -> Project {
    Project::named("evals/code-review/EVAL.yaml", CODE_REVIEW)
        .with("evals/code-review/prompts/correctness.md", "Is {{ answer }} correct?\n")
        .with("evals/code-review/judges/format.py", "print(1)\n")
        .with("evals/code-review/judges/bug_check.py", "print(1)\n")
}

#[test]
fn the_complete_suite_of_seed_001_is_clean() {
    let suite = code_review().load().clean();
    let only = test(&suite, "detect-off-by-one");
    assert_eq!(assertion_names(only), ["rubrics", "bug_check", "correctness", "format_check"]);
    assert_eq!(only.assertions[2].assertion.type_name, "llm-judge");
    assert_eq!(only.assertions[2].assertion.common.weight.number().text(), "2.0");
    assert_eq!(only.input.len(), 2);
    assert_eq!(
        only.expected_output.as_ref().unwrap().text().as_deref(),
        Some("Bug detected: Loop condition `i < 0` is always false.\n")
    );
}

#[test]
fn without_its_files_the_suite_of_seed_001_can_be_read_but_not_run() {
    let outcome = Project::named("evals/code-review/EVAL.yaml", CODE_REVIEW).load();
    let suite = outcome.with_names(&["file-not-found", "script-not-found", "script-not-found"]);
    assert_eq!(suite.tests.len(), 1);
}

#[test]
fn the_root_fields_of_seed_001_are_clean() {
    for name in ["code-review", "document-extraction", "rag-accuracy"] {
        with_root(&format!("name: {name}")).load().clean();
    }
    with_root("name: demo\nversion: \"1.0\"").load().clean();
    with_root(
        r"name: demo
description: |
  Evaluates code review capabilities including:
  - Bug detection
  - Style suggestions
  - Security analysis",
    )
    .load()
    .clean();
    let suite = with_root(
        r"name: demo
metadata:
  author: my-organization
  license: Apache-2.0
  tags: [coding, review]
  skill: code-review # Links to AgentSkills
  custom_field: custom_value # Any additional data",
    )
    .load()
    .clean();
    assert_eq!(suite.metadata.len(), 5);
    with_root(
        r"name: demo
execution:
  target: default # Target provider name
  timeout_seconds: 300 # Max execution time
  assert: # Default evaluators
    - name: quality
      type: llm_judge
      prompt: ./prompts/quality.md",
    )
    .with("prompts/quality.md", "Is it good?\n")
    .load()
    .clean();
}

#[test]
fn every_form_of_tests_in_seed_001_loads() {
    let files = |suite: &str| {
        Project::new(suite)
            .with("security.yaml", "- {id: s, criteria: Is safe, input: Hi}\n")
            .with("style.yaml", "- {id: t, criteria: Is neat, input: Hi}\n")
            .with("cases.jsonl", "{\"id\": \"c\", \"criteria\": \"Greets\", \"input\": \"Hi\"}\n")
    };
    let count = |suite: &Suite| suite.tests.len();
    let inline = r#"name: demo
tests:
  - id: greeting
    criteria: Agent responds with a greeting
    input: "Hello!"
"#;
    assert_eq!(count(&files(inline).load().clean()), 1);
    let references = "name: demo\ntests:\n  - ./security.yaml\n  - ./style.yaml\n";
    assert_eq!(count(&files(references).load().clean()), 2);
    let external = "name: demo\ntests: ./cases.jsonl\n";
    assert_eq!(count(&files(external).load().clean()), 1);
    let mixed = r#"name: demo
tests:
  - ./security.yaml
  - ./style.yaml
  - id: quick-check
    criteria: Agent responds within constraints
    input: "Hello!"
"#;
    assert_eq!(count(&files(mixed).load().clean()), 3);
}

#[test]
fn the_paths_of_seed_001_resolve_as_it_says() {
    let suite = Project::named(
        "evals/code-review/EVAL.yaml",
        r#"name: demo
assert:
  - name: check
    type: code_judge
    script: ["python", "./judges/check.py"]
tests:
  - id: example
    criteria: Reviews
    input:
      - role: user
        content:
          - type: file
            value: ./fixtures/sample.js
          - type: file
            value: /shared/prompts/system.md
"#,
    )
    .with("evals/code-review/judges/check.py", "print(1)\n")
    .with("evals/code-review/fixtures/sample.js", "1\n")
    .with("shared/prompts/system.md", "x\n")
    .load()
    // The seed shows paths only; nothing is asked about the files.
    .with_names(&["no-prompt"]);
    let paths: Vec<&str> = suite.tests[0].input[0]
        .content
        .iter()
        .filter_map(Block::file)
        .map(|file| file.path.as_deref().unwrap().as_str())
        .collect();
    assert_eq!(paths, ["/p/evals/code-review/fixtures/sample.js", "/p/shared/prompts/system.md"]);
}

#[test]
fn the_dataset_of_seed_001_takes_its_sidecar() {
    let suite = Project::named(
        "dataset.jsonl",
        r#"{"id": "test-1", "criteria": "...", "input": [{"role": "user", "content": "..."}]}
{"id": "test-2", "criteria": "...", "input": [{"role": "user", "content": "..."}]}
"#,
    )
    .with(
        "dataset.yaml",
        r"name: large-eval
assert:
  - name: quality
    type: llm_judge
    prompt: ./prompts/quality.md
",
    )
    .with("prompts/quality.md", "Is it good?\n")
    .load()
    .clean();
    assert_eq!(suite.name, "large-eval");
    assert_eq!(assertion_names(test(&suite, "test-2")), ["quality"]);
}

// Seed 003.

#[test]
fn both_forms_of_seed_003_are_the_same_input() {
    let list = r#"- id: analyze-sales
  criteria: Names the trend
  input:
    - role: user
      content:
        - type: file
          value: evals/files/sales.csv
        - type: text
          value: "Summarize the monthly trends in this CSV."
- id: analyze-sales-short
  criteria: Names the trend
  input_files:
    - evals/files/sales.csv
  input: "Summarize the monthly trends in this CSV.""#;
    let suite = with_tests(list).with("evals/files/sales.csv", "month\n").load().clean();
    assert_eq!(test(&suite, "analyze-sales").input, test(&suite, "analyze-sales-short").input);
}

#[test]
fn as_written_the_examples_of_seed_003_only_lack_something_to_grade() {
    let list = r#"- id: analyze-sales
  input_files:
    - evals/files/sales.csv
  input: "Summarize the monthly trends in this CSV.""#;
    let suite = with_tests(list)
        .with("evals/files/sales.csv", "month\n")
        .load()
        .with_names(&["nothing-to-grade"]);
    assert_eq!(suite.tests.len(), 1);
}

// Seed 004.

#[test]
fn the_inputs_of_seed_004_are_clean() {
    for input in [
        "input: \"Hello, my name is Alice!\"",
        r#"input:
  - role: system
    content: "You are a helpful assistant."
  - role: user
    content: "Hello, my name is Alice!""#,
        r#"input:
  - role: user
    content:
      - type: text
        value: "Review this code:"
      - type: file
        value: ./fixtures/buggy.js"#,
    ] {
        let fragment = format!(
            r"criteria: |
  Agent correctly identifies the off-by-one bug in the loop condition
  and provides an accurate fix with clear explanation.
{input}"
        );
        with_test(&fragment).with("fixtures/buggy.js", "1\n").load().clean();
    }
}

#[test]
fn the_message_and_block_schemas_of_seed_004_are_clean() {
    with_test(
        "criteria: Fits
input:
  - role: user
    content:
      - type: text
        value: string
      - type: file
        value: x.md
      - type: image
        value: x.png
      - type: json
        value: {a: 1}
  - role: assistant
    tool_calls:
      - id: c1
        type: \"function\"
        function:
          name: find
          arguments: '{\"q\": 1}'
  - role: tool
    tool_call_id: c1
    name: find
    content: found",
    )
    .with("x.md", "x")
    .with("x.png", "x")
    .load()
    .clean();
}

#[test]
fn the_expected_outputs_of_seed_004_are_clean() {
    for expected in [
        "expected_output: \"Hello Alice! Nice to meet you.\"",
        r#"expected_output:
  - role: assistant
    content: "Hello Alice! Nice to meet you.""#,
        r#"expected_output:
  name: "Alice"
  age: 30
  verified: true"#,
    ] {
        with_test(&format!("criteria: Fits\ninput: Hi\n{expected}")).load().clean();
    }
}

#[test]
fn the_rubrics_of_seed_004_are_clean() {
    for rubrics in [
        r"rubrics:
  - Mentions the user's name
  - Contains a greeting
  - Maintains friendly tone",
        r#"rubrics:
  - id: name-mention
    outcome: Response includes "Alice"
    weight: 2.0
    required: true

  - id: greeting
    outcome: Contains a greeting phrase
    weight: 1.0
    score_ranges:
      0: No greeting present
      5: Generic greeting
      10: Personalized greeting"#,
    ] {
        with_test(&format!("criteria: Fits\ninput: Hi\n{rubrics}")).load().clean();
    }
}

#[test]
fn the_execution_override_of_seed_004_is_clean() {
    let suite = with_tests(
        r#"- id: slow-task
  criteria: Completes analysis
  input: "Analyze this large dataset..."
  execution:
    timeout_seconds: 600 # Override default timeout
    target: powerful_model # Use different target
    assert:
      - name: custom_check
        type: code_judge
        script: ["python", "./judges/analysis.py"]"#,
    )
    .with("judges/analysis.py", "print(1)\n")
    .load()
    .clean();
    let slow = test(&suite, "slow-task");
    assert_eq!(slow.execution.timeout_seconds, Some(600));
    assert_eq!(slow.execution.target.as_deref(), Some("powerful_model"));
    assert_eq!(assertion_names(slow), ["custom_check"]);
}

#[test]
fn the_conversation_of_seed_004_loads() {
    let suite = with_tests(
        r#"- id: turn-1
  criteria: Asks for the email
  conversation_id: support-flow
  input:
    - role: user
      content: "I need help with my account"

- id: turn-2
  criteria: Resets the password
  conversation_id: support-flow
  input:
    - role: user
      content: "My email is alice@example.com"
    - role: assistant
      content: "I found your account. How can I help?"
    - role: user
      content: "Reset my password please""#,
    )
    .load()
    .clean();
    assert!(suite.tests.iter().all(|test| test.conversation_id.as_deref() == Some("support-flow")));
}

#[test]
fn the_notes_and_descriptions_of_seed_004_are_clean() {
    let suite = with_tests(
        r#"- id: edge-case-null
  description: |
    Tests handling of null input values.
    This edge case should be handled gracefully.
  criteria: Returns appropriate error message
  input: "null"
- id: regional-date
  criteria: Parses date correctly
  note: |
    The date format is DD/MM/YYYY (European format).
    Agent should not assume US format.
  input:
    - role: user
      content: "What day is 05/03/2024?""#,
    )
    .load()
    .clean();
    assert!(test(&suite, "regional-date").note.as_deref().unwrap().contains("European"));
}

#[test]
fn the_complete_examples_of_seed_004_are_clean() {
    let basic = r#"- id: simple-greeting
  criteria: Agent responds with a greeting
  input: "Hello!"
  rubrics:
    - Contains a greeting word"#;
    with_tests(basic).load().clean();
    let complex = r#"- id: code-review-security
  description: Tests security vulnerability detection
  criteria: |
    Agent identifies SQL injection vulnerability
    and suggests parameterized queries as the fix.

  input:
    - role: system
      content:
        - type: file
          value: ./prompts/security-reviewer.md
    - role: user
      content:
        - type: text
          value: "Review this code for security issues:"
        - type: file
          value: ./fixtures/vulnerable.py

  expected_output:
    - role: assistant
      content: |
        Security Issue: SQL Injection vulnerability detected.
        Recommendation: Use parameterized queries.

  rubrics:
    - id: identifies-vuln
      outcome: Identifies SQL injection
      weight: 3.0
      required: true

    - id: suggests-fix
      outcome: Suggests parameterized queries
      weight: 2.0

    - id: explains-risk
      outcome: Explains potential impact
      weight: 1.0

  assert:
    - name: vuln_check
      type: code_judge
      script: ["python", "./judges/security_check.py"]"#;
    let suite = with_tests(complex)
        .with("prompts/security-reviewer.md", "Review.\n")
        .with("fixtures/vulnerable.py", "x\n")
        .with("judges/security_check.py", "print(1)\n")
        .load()
        .clean();
    let only = test(&suite, "code-review-security");
    assert_eq!(assertion_names(only), ["rubrics", "vuln_check"]);
    assert_eq!(only.assertions[0].assertion.sentences().len(), 3);
}
