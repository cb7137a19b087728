//! Whole targets files: the example of the format, faults of the root, and hostile input.

use camino::Utf8Path;
use evalrig_core::diagnostic::{Diagnostic, Diagnostics};
use evalrig_core::reader::World;
use evalrig_core::source::{MemoryFiles, Reach, Sources, Variables};
use evalrig_run::setting::Setting;
use evalrig_run::target::{Targets, read_targets};

fn read(bytes: impl Into<Vec<u8>>) -> (Option<Targets>, Vec<Diagnostic>) {
    let path = Utf8Path::new("/p/.evalrig/targets.yaml");
    let files = MemoryFiles::new().with(path.as_str(), bytes);
    let environment = Variables::default();
    let world = World { files: &files, environment: &environment, working_directory: "/p".into() };
    let (mut sources, mut out) = (Sources::new(), Diagnostics::new());
    let targets = read_targets(world, &mut sources, &mut out, path, "/p".into(), Reach::Anywhere);
    (targets, out.into_vec())
}

fn messages(text: &str) -> Vec<String> {
    let (_, out) = read(text);
    out.into_iter().map(|found| found.message).collect()
}

fn names(bytes: impl Into<Vec<u8>>) -> Vec<&'static str> {
    let (_, out) = read(bytes);
    out.into_iter().map(|found| found.code.name).collect()
}

/// spec 9.1.
const EXAMPLE: &str = r#"
judge_target: judge
targets:
  - name: default
    provider: mock
    responses:
      - pattern: "(?i)csv"
        response: "November ($22,500) was the best month."
        tool_calls: [{tool: Skill, args: {skill: csv-analyzer}}]
        tokens: {input: 120, output: 35}
        cost_usd: 0.002
        duration_ms: 900
      - {pattern: ".*", response: "I don't understand."}
  - {name: local-agent, provider: cli, command: ["python3", "./agent.py", "--test", "{TEST_ID}"], format: jsonl, timeout_seconds: 120}
  - {name: judge, provider: openai, base_url: "http://localhost:8080/v1", api_key: "${{ JUDGE_KEY }}", model: gpt-4o, max_concurrency: 4}
"#;

#[test]
fn the_example_of_the_format_is_clean() {
    let (targets, out) = read(EXAMPLE);
    assert_eq!(out, []);
    let targets = targets.unwrap();
    let names: Vec<_> = targets.names().collect();
    assert_eq!(names, ["default", "local-agent", "judge"]);
    assert_eq!(targets.judge_target().unwrap().raw(), "judge");
    assert_eq!(targets.get("judge").unwrap().model().unwrap().raw(), "gpt-4o");
    assert_eq!(targets.base().directory(), "/p");
}

#[test]
fn the_root_is_a_mapping_with_a_list_of_targets() {
    for (text, message) in [
        ("[]", "`a targets file` takes a mapping with `targets`, found a list"),
        ("judge_target: \"${{ J }}\"", "the file has no `targets`"),
        ("targets: []", "`targets` is empty"),
        ("targets: {a: {provider: mock}}", "`targets` takes a list of targets, found a mapping"),
        ("targets: [a]", "an item of `targets` is a mapping, found a string"),
    ] {
        assert_eq!(messages(text), [message], "{text}");
    }
    let found = names("target: [{name: a, provider: mock, response: x}]");
    assert_eq!(found, ["unknown-field", "missing-targets"]);
    assert_eq!(names("targets:\n"), ["null-field", "missing-targets"]);
}

#[test]
fn a_duplicate_points_at_both_and_the_first_one_counts() {
    let (targets, out) = read(
        "targets:\n- {name: a, provider: mock, response: x}\n- {name: a, provider: claude-cli}\n",
    );
    assert_eq!(out[0].code.name, "duplicate-target");
    assert_eq!(out[0].related.len(), 1);
    assert_eq!(targets.unwrap().get("a").unwrap().provider.name, "mock");
}

#[test]
fn anchors_and_merges_work() {
    let (targets, out) = read(
        "x-common: &common {provider: openai, model: m, retries: 1}\ntargets:\n\
         - {<<: *common, name: a}\n- {<<: *common, name: b, retries: 5}\n",
    );
    assert_eq!(out, []);
    let targets = targets.unwrap();
    assert_eq!(targets.get("b").unwrap().retries(), Setting::Given(5));
}

#[test]
fn what_is_no_text_is_reported_like_a_suite() {
    assert_eq!(names(b"targets: \xff".to_vec()), ["invalid-encoding"]);
    assert_eq!(names(vec![b' '; 32 * 1024 * 1024 + 1]), ["file-too-large"]);
    assert_eq!(names("targets: [\n"), ["yaml-syntax"]);
    assert_eq!(names(""), ["empty-file"]);
    assert_eq!(names("targets: []\n---\na: 1\n"), ["multiple-documents"]);
}

#[test]
fn deep_nesting_is_refused_with_a_place() {
    let deep = 100_000;
    assert_eq!(names("[".repeat(deep)), ["too-deep"]);
    assert_eq!(names(format!("targets: {}", "{a: ".repeat(deep))), ["too-deep"]);
    let lines: String = (0..2000).map(|n| " ".repeat(n) + "a:\n").collect();
    assert_eq!(names(lines), ["too-deep"]);
    let config = "[".repeat(120) + &"]".repeat(120);
    let text = format!("targets: [{{name: a, provider: claude-cli, config: {{x: {config}}}}}]");
    assert_eq!(names(text), Vec::<&str>::new());
}

#[test]
fn many_targets_and_long_circles_are_read_in_no_time() {
    let count = 20_000;
    let mut text = "targets:\n".to_owned();
    for n in 0..count {
        text += &format!("- {{name: n{n}, use_target: n{}}}\n", (n + 1) % count);
        text += &format!("- {{name: u{n}, use_target: missing{n}}}\n");
    }
    let (targets, out) = read(text);
    assert!(!out.is_empty());
    assert!(targets.unwrap().get("n0").is_none());
}

#[test]
fn aliases_that_grow_are_bounded() {
    let mut text = "x-0: &a0 [x, x, x, x, x, x, x, x, x, x]\n".to_owned();
    for n in 1..9 {
        let item = format!("*a{}", n - 1);
        text += &format!("x-{n}: &a{n} [{}]\n", [item.as_str(); 10].join(", "));
    }
    text += "targets: [{name: a, provider: claude-cli, config: {x: *a8}}]\n";
    assert_eq!(names(text), ["alias-limit"]);
}
