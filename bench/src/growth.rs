//! The dimensions of input that `bin/growth.rs` multiplies: what is written, and which command reads
//! it. Sizes are such that starting the program does not hide the growth, in a debug build too.

use std::fmt::Write as _;
use std::fs;
use std::io::Result;
use std::path::Path;

#[derive(Debug)]
pub struct Dimension {
    pub name: &'static str,
    /// The base size; eight times as much is measured beside it.
    pub size: usize,
    /// Writes input of this size into an empty directory.
    pub write: fn(&Path, usize) -> Result<()>,
    /// Commands whose work does not count.
    pub before: &'static [&'static [&'static str]],
    /// The command that is measured, in that directory.
    pub arguments: &'static [&'static str],
    pub exit: &'static str,
}

type WriteInput = fn(&Path, usize) -> Result<()>;

const fn validate(name: &'static str, size: usize, write: WriteInput) -> Dimension {
    Dimension { name, size, write, before: &[], arguments: &["validate", "."], exit: "0" }
}

/// As [`validate`], of input that has errors.
const fn refuse(name: &'static str, size: usize, write: WriteInput) -> Dimension {
    Dimension { exit: "1", ..validate(name, size, write) }
}

const fn command(
    name: &'static str,
    size: usize,
    write: WriteInput,
    arguments: &'static [&'static str],
) -> Dimension {
    Dimension { name, size, write, before: &[], arguments, exit: "0" }
}

/// A command that reads what a run of the suite left behind.
const fn after_run(
    name: &'static str,
    size: usize,
    write: WriteInput,
    before: &'static [&'static [&'static str]],
    arguments: &'static [&'static str],
) -> Dimension {
    Dimension { name, size, write, before, arguments, exit: "0" }
}

const RUN: &[&str] = &["run", "--no-record", "--quiet"];
const RUN_TO_FILE: &[&[&str]] =
    &[&["run", "--no-record", "--quiet", "--output", "r.jsonl", "--force"]];

pub static DIMENSIONS: &[Dimension] = &[
    validate("tests", 500, tests),
    validate("lines of JSONL", 2_000, jsonl),
    refuse("tests of one id", 500, same_id),
    validate("tests of similar ids", 500, similar_ids),
    validate("assertions of a test", 500, assertions),
    validate("rubric items", 2_000, rubric_items),
    validate("keys of metadata", 4_000, metadata_keys),
    validate("keys of an evals.json entry", 4_000, evals_json_keys),
    validate("keys of a JSONL line", 4_000, jsonl_keys),
    validate("tags", 2_000, tags),
    validate("depth of a value", 15, depth),
    validate("aliases", 1_000, aliases),
    validate("variables of a test", 1_000, variables),
    validate("templates of a text", 8_000, templates),
    validate("environment references of a text", 4_000, references),
    validate("open braces of a text", 1_000, open_braces),
    validate("variables of a judge prompt", 4_000, judge_variables),
    validate("unknown fields of a test", 200, unknown_fields),
    validate("imports", 200, imports),
    validate("files of a glob", 200, glob_files),
    validate("globs", 100, globs),
    Dimension { arguments: &["validate", "--fix", "--diff", "."], ..refuse("fixes", 1_500, fixes) },
    validate("warnings of one line", 200, warnings_of_a_line),
    validate("length of one line", 200_000, long_line),
    validate("patterns", 500, patterns),
    validate("large patterns", 100, large_patterns),
    validate("patterns of schemas", 100, schema_patterns),
    validate("references of a schema", 500, schema_references),
    command("validate, targets", 300, targets, &["validate", ".evalrig/targets.yaml"]),
    validate("profiles of evalrig.toml", 300, profiles),
    command("run, backtracking patterns", 60, run_backtracking, RUN),
    command("run, items of an answer with a schema", 8_000, run_schema, RUN),
    command(
        "show, keys of metadata",
        2_000,
        metadata_keys,
        &["show", "--format", "json", "EVAL.yaml"],
    ),
    command("list, tests", 1_000, tests, &["list"]),
    command("transpile, tests", 500, tests, &["transpile", "--stdout", "--quiet", "EVAL.yaml"]),
    command("run, tests", 150, run_tests, RUN),
    command("run, patterns", 100, run_patterns, RUN),
    command("run, assertions of a test", 200, run_assertions, RUN),
    command("run, size of one answer", 400_000, answer, RUN),
    command("run, tool calls of a stream", 1_500, tool_calls, RUN),
    Dimension { exit: "1", ..command("run, misses of a script", 4_000, misses, RUN) },
    command("run, trials", 12, trials, RUN),
    after_run("report, rows", 300, run_tests, RUN_TO_FILE, &["report", "r.jsonl"]),
    after_run(
        "report html, rows",
        300,
        run_tests,
        RUN_TO_FILE,
        &["report", "r.jsonl", "--report", "html=r.html"],
    ),
    after_run("compare, rows", 300, run_tests, RUN_TO_FILE, &["compare", "r.jsonl", "r.jsonl"]),
    after_run(
        "compare --selftest, rows",
        60,
        ten_trials,
        RUN_TO_FILE,
        &["compare", "--selftest", "r.jsonl"],
    ),
    after_run(
        "grade, rows",
        150,
        run_tests,
        RUN_TO_FILE,
        &["grade", "r.jsonl", "--output", "g.jsonl", "--force"],
    ),
    after_run("stats, rows", 300, run_tests, RUN_TO_FILE, &["stats", "r.jsonl"]),
    after_run(
        "judge check, labels",
        300,
        labels,
        RUN_TO_FILE,
        &["judge", "check", "r.jsonl", "--labels", "labels.csv"],
    ),
    after_run("mutate, rows", 60, run_tests, RUN_TO_FILE, &["mutate", "r.jsonl"]),
    command("log diff, runs", 300, store_runs, &["log", "diff", "say_hi"]),
    command("log show, runs", 500, store_runs, &["log", "show", "say_hi"]),
    command("log verify, runs", 200, store_runs, &["log", "verify"]),
    command("log list, records", 150, store_records, &["log", "list"]),
];

fn write(directory: &Path, name: &str, text: impl AsRef<[u8]>) -> Result<()> {
    let path = directory.join(name);
    if let Some(parent) = path.parent() {
        fs::create_dir_all(parent)?;
    }
    fs::write(path, text)
}

/// `count` pieces, each made from its number, in one text.
fn pieces(count: usize, piece: impl Fn(usize) -> String) -> String {
    (0..count).map(piece).collect()
}

fn suite(directory: &Path, tests: &str) -> Result<()> {
    write(directory, "EVAL.yaml", format!("name: growth\ntests:\n{tests}"))
}

fn mock_target(directory: &Path) -> Result<()> {
    let text = "targets:\n  - {name: default, provider: mock, response: The answer is ready}\n";
    write(directory, ".evalrig/targets.yaml", text)
}

fn tests(directory: &Path, count: usize) -> Result<()> {
    let test = |at| {
        format!(
            "  - {{id: t{at}, criteria: Says ready, input: Are you ready?, assert: [{{type: contains, value: ready}}]}}\n"
        )
    };
    suite(directory, &pieces(count, test))
}

fn jsonl(directory: &Path, count: usize) -> Result<()> {
    write(directory, "EVAL.yaml", "name: growth\ntests: cases.jsonl\n")?;
    let line = |at| format!("{{\"id\": \"t{at}\", \"criteria\": \"x\", \"input\": \"y\"}}\n");
    write(directory, "cases.jsonl", pieces(count, line))
}

fn same_id(directory: &Path, count: usize) -> Result<()> {
    suite(directory, &pieces(count, |_| "  - {id: t, criteria: x, input: y}\n".to_owned()))
}

fn similar_ids(directory: &Path, count: usize) -> Result<()> {
    let test = |at| format!("  - {{id: Test-{at}, criteria: x, input: y, conversation_id: c}}\n");
    suite(directory, &pieces(count, test))
}

fn assertions(directory: &Path, count: usize) -> Result<()> {
    let items = pieces(count, |at| format!("      - {{type: contains, value: v{at}}}\n"));
    suite(directory, &format!("  - id: a\n    criteria: x\n    input: y\n    assert:\n{items}"))
}

fn rubric_items(directory: &Path, count: usize) -> Result<()> {
    let items = pieces(count, |at| format!("      - Says number {at}\n"));
    suite(directory, &format!("  - id: a\n    criteria: x\n    input: y\n    rubrics:\n{items}"))
}

fn metadata_keys(directory: &Path, count: usize) -> Result<()> {
    let keys = pieces(count, |at| format!("  key{at}: {at}\n"));
    let text = format!(
        "name: growth\nmetadata:\n{keys}tests:\n  - {{id: a, criteria: x, input: y, metadata: {{own: 1}}}}\n"
    );
    write(directory, "EVAL.yaml", text)
}

fn evals_json_keys(directory: &Path, count: usize) -> Result<()> {
    let keys = pieces(count, |at| format!(", \"key{at}\": {at}"));
    let text = format!(
        "{{\"skill_name\": \"growth\", \"evals\": [{{\"id\": 1, \"prompt\": \"Hi\", \"expected_output\": \"x\"{keys}}}]{keys}}}"
    );
    write(directory, "evals/evals.json", text)?;
    write(directory, "SKILL.md", "---\nname: growth\ndescription: Grows\n---\n")
}

fn jsonl_keys(directory: &Path, count: usize) -> Result<()> {
    write(directory, "EVAL.yaml", "name: growth\ntests: cases.jsonl\n")?;
    let keys = pieces(count, |at| format!(", \"key{at}\": {at}"));
    let line = format!(
        "{{\"id\": \"a\", \"criteria\": \"x\", \"input\": \"y\", \"metadata\": {{\"own\": 1{keys}}}}}\n"
    );
    write(directory, "cases.jsonl", line)
}

fn tags(directory: &Path, count: usize) -> Result<()> {
    let list = |word: &str| pieces(count, |at| format!("{word}{at}, "));
    let text = format!(
        "name: growth\nmetadata: {{tags: [{}]}}\ntests:\n  - {{id: a, criteria: x, input: y, metadata: {{tags: [{}]}}}}\n",
        list("root"),
        list("own")
    );
    write(directory, "EVAL.yaml", text)
}

fn depth(directory: &Path, count: usize) -> Result<()> {
    let test = |at| {
        let (open, close) = ("[".repeat(count), "]".repeat(count));
        format!("  - {{id: t{at}, criteria: x, input: y, metadata: {{k: {open}{close}}}}}\n")
    };
    suite(directory, &pieces(100, test))
}

fn aliases(directory: &Path, count: usize) -> Result<()> {
    let text = format!(
        "name: growth\nx-a: &a [1, 2, 3, 4, 5, 6, 7, 8]\nmetadata: {{k: [{}]}}\ntests:\n  - {{id: a, criteria: x, input: y}}\n",
        pieces(count, |_| "*a, ".to_owned())
    );
    write(directory, "EVAL.yaml", text)
}

fn variables(directory: &Path, count: usize) -> Result<()> {
    let vars = pieces(count, |at| format!("      v{at}: {at}\n"));
    let uses = pieces(count, |at| format!("{{{{ v{at} }}}} "));
    suite(
        directory,
        &format!("  - id: a\n    vars:\n{vars}    criteria: x\n    input: \"{uses}\"\n"),
    )
}

fn templates(directory: &Path, count: usize) -> Result<()> {
    let uses = "{{ v }} ".repeat(count);
    suite(
        directory,
        &format!("  - id: a\n    vars: {{v: hello}}\n    criteria: x\n    input: \"{uses}\"\n"),
    )
}

fn references(directory: &Path, count: usize) -> Result<()> {
    write(directory, ".env", "GROWTH=hello\n")?;
    let uses = "${{ GROWTH }} ".repeat(count);
    suite(directory, &format!("  - {{id: a, criteria: x, input: \"{uses}\"}}\n"))
}

fn open_braces(directory: &Path, count: usize) -> Result<()> {
    let uses = "${{ a ".repeat(count);
    suite(directory, &format!("  - {{id: a, criteria: x, input: \"{uses}\"}}\n"))
}

fn judge_variables(directory: &Path, count: usize) -> Result<()> {
    let uses = "{{ answer }} ".repeat(count);
    suite(
        directory,
        &format!(
            "  - {{id: a, criteria: x, input: y, assert: [{{type: llm-judge, prompt: \"Is it good? {uses}\"}}]}}\n"
        ),
    )
}

fn unknown_fields(directory: &Path, count: usize) -> Result<()> {
    let keys = pieces(count, |at| format!("    inputt{at}: x\n"));
    suite(directory, &format!("  - id: a\n    criteria: x\n    input: y\n{keys}"))
}

fn one_test_file(at: usize) -> String {
    format!("- {{id: t{at}, criteria: x, input: y}}\n")
}

fn imports(directory: &Path, count: usize) -> Result<()> {
    for at in 0..count {
        write(directory, &format!("cases/{at}.yaml"), one_test_file(at))?;
    }
    suite(directory, &pieces(count, |at| format!("  - cases/{at}.yaml\n")))
}

fn glob_files(directory: &Path, count: usize) -> Result<()> {
    for at in 0..count {
        write(directory, &format!("cases/{at}.yaml"), one_test_file(at))?;
    }
    suite(directory, "  - cases/*.yaml\n")
}

fn globs(directory: &Path, count: usize) -> Result<()> {
    for at in 0..count {
        write(directory, &format!("cases/{at}/a.yaml"), one_test_file(at))?;
    }
    suite(directory, &pieces(count, |at| format!("  - cases/{at}/*.yaml\n")))
}

fn fixes(directory: &Path, count: usize) -> Result<()> {
    let test = |at| format!("  - {{id: t{at}, expected_outcome: x, input: y}}\n");
    suite(directory, &pieces(count, test))
}

fn warnings_of_a_line(directory: &Path, count: usize) -> Result<()> {
    let tests = pieces(count, |at| format!("{{id: t{at}, criteria: x, input: y, inputt: 1}}, "));
    write(directory, "EVAL.yaml", format!("{{name: growth, tests: [{tests}]}}\n"))
}

fn long_line(directory: &Path, count: usize) -> Result<()> {
    suite(directory, &format!("  - {{id: a, criteria: x, input: {}}}\n", "ab ".repeat(count)))
}

fn pattern_assertions(count: usize) -> String {
    pieces(count, |at| format!("      - {{type: regex, value: '(ready|done{at})\\b'}}\n"))
}

fn patterns(directory: &Path, count: usize) -> Result<()> {
    let items = pattern_assertions(count);
    suite(directory, &format!("  - id: a\n    criteria: x\n    input: y\n    assert:\n{items}"))
}

fn large_patterns(directory: &Path, count: usize) -> Result<()> {
    let test = |at| {
        format!(
            "  - {{id: t{at}, criteria: x, input: y, assert: [{{type: regex, value: '[\\p{{L}}\\p{{N}}]{{100}}{at}'}}]}}\n"
        )
    };
    suite(directory, &pieces(count, test))
}

/// An assertion with a schema.
fn schema_test(at: usize, schema: &str) -> String {
    format!(
        "  - {{id: t{at}, criteria: x, input: y, assert: [{{type: is-json, schema: {schema}}}]}}\n"
    )
}

fn schema_patterns(directory: &Path, count: usize) -> Result<()> {
    let test = |at| schema_test(at, &format!("{{pattern: '[\\p{{L}}\\p{{N}}]{{100}}{at}'}}"));
    suite(directory, &pieces(count, test))
}

fn schema_references(directory: &Path, count: usize) -> Result<()> {
    let definition = |at| format!("d{}: {{items: {{$ref: '#/$defs/d{at}'}}}}, ", at + 1);
    let definitions = pieces(count, definition);
    let schema =
        format!("{{$defs: {{{definitions}d0: {{type: object}}}}, $ref: '#/$defs/d{count}'}}");
    suite(directory, &schema_test(0, &schema))
}

fn targets(directory: &Path, count: usize) -> Result<()> {
    let target = |at| format!("  - {{name: t{at}, provider: mock, response: ready}}\n");
    write(directory, ".evalrig/targets.yaml", format!("targets:\n{}", pieces(count, target)))
}

fn profiles(directory: &Path, count: usize) -> Result<()> {
    fs::create_dir_all(directory.join(".git"))?;
    write(directory, "evalrig.toml", pieces(count, |at| format!("[profile.p{at}]\ntrials = 2\n")))?;
    tests(directory, 1)
}

fn run_backtracking(directory: &Path, count: usize) -> Result<()> {
    mock_target(directory)?;
    let items =
        pieces(count, |at| format!("      - {{type: regex, value: '(?!done{at})ready'}}\n"));
    suite(directory, &format!("  - id: a\n    criteria: x\n    input: y\n    assert:\n{items}"))
}

fn run_schema(directory: &Path, count: usize) -> Result<()> {
    let items = pieces(count, |at| format!("{{\"v\": [\"{at}\"]}},"));
    file_target(directory, "answer.txt", "text", &format!("[{items}{{}}]"))?;
    let schema = "{$defs: {n: {anyOf: [{type: string}, {type: object}, {items: {$ref: '#/$defs/n'}}]}}, $ref: '#/$defs/n'}";
    suite(directory, &schema_test(0, schema))
}

fn run_tests(directory: &Path, count: usize) -> Result<()> {
    mock_target(directory)?;
    tests(directory, count)
}

/// Three people for each test, who do not always agree.
fn labels(directory: &Path, count: usize) -> Result<()> {
    let targets = r#"targets:
  - {name: default, provider: mock, response: The answer is ready}
  - {name: judge, provider: mock, response: '{"score": 1, "reasoning": "It is."}'}
"#;
    write(directory, ".evalrig/targets.yaml", targets)?;
    let test = |at| {
        format!(
            "  - {{id: t{at}, criteria: Says ready, input: Are you ready?, assert: [{{type: llm-judge, prompt: Is it?, target: judge}}]}}\n"
        )
    };
    suite(directory, &pieces(count, test))?;
    let line = |at: usize| {
        let (test, label) = (at / 3, if at.is_multiple_of(10) { "wrong" } else { "right" });
        format!("growth,t{test},The answer is ready,{label},person {}\n", at % 3)
    };
    let lines = format!("suite,test,answer,label,who\n{}", pieces(3 * count, line));
    write(directory, "labels.csv", lines)
}

fn run_patterns(directory: &Path, count: usize) -> Result<()> {
    mock_target(directory)?;
    patterns(directory, count)
}

fn run_assertions(directory: &Path, count: usize) -> Result<()> {
    mock_target(directory)?;
    let items =
        pieces(count, |at| format!("      - {{type: contains, value: ready, name: n{at}}}\n"));
    suite(directory, &format!("  - id: a\n    criteria: x\n    input: y\n    assert:\n{items}"))
}

/// A program that prints a file.
fn file_target(directory: &Path, name: &str, format: &str, text: &str) -> Result<()> {
    write(directory, name, text)?;
    let target = format!(
        "targets:\n  - {{name: default, provider: cli, command: [cat, {name}], format: {format}}}\n"
    );
    write(directory, ".evalrig/targets.yaml", target)
}

fn answer(directory: &Path, count: usize) -> Result<()> {
    file_target(
        directory,
        "answer.txt",
        "text",
        &format!("{}ready\n", "so `it` \"is\"\n".repeat(count / 10)),
    )?;
    suite(
        directory,
        "  - id: a\n    criteria: x\n    input: y\n    assert:\n      - {type: contains, value: ready}\n      - {type: regex, value: 'read[y]$', flags: m}\n",
    )
}

fn tool_calls(directory: &Path, count: usize) -> Result<()> {
    let mut stream = String::new();
    for at in 0..count {
        let _ = writeln!(
            stream,
            "{{\"role\": \"assistant\", \"content\": \"\", \"tool_calls\": [{{\"id\": \"c{at}\", \"type\": \"function\", \"function\": {{\"name\": \"read\", \"arguments\": \"{{}}\"}}}}]}}\n{{\"role\": \"tool\", \"tool_call_id\": \"c{at}\", \"content\": \"ok\"}}"
        );
    }
    stream.push_str("{\"role\": \"assistant\", \"content\": \"ready\"}\n");
    file_target(directory, "stream.jsonl", "jsonl", &stream)?;
    suite(
        directory,
        "  - id: a\n    criteria: x\n    input: y\n    assert:\n      - {type: contains, value: ready}\n      - {type: tool-trajectory, mode: any_order, minimums: {read: 1}}\n",
    )
}

fn misses(directory: &Path, count: usize) -> Result<()> {
    mock_target(directory)?;
    let list = pieces(count, |at| format!("\"miss {at}\", "));
    let list = list.trim_end_matches(", ");
    write(directory, "grade.json", format!("{{\"score\": 0, \"misses\": [{list}]}}"))?;
    suite(
        directory,
        "  - id: a\n    criteria: x\n    input: y\n    assert:\n      - {type: code-judge, script: [cat, grade.json]}\n",
    )
}

fn trials(directory: &Path, count: usize) -> Result<()> {
    run_tests(directory, 20)?;
    let suite = fs::read_to_string(directory.join("EVAL.yaml"))?;
    write(directory, "EVAL.yaml", format!("trials: {count}\n{suite}"))
}

fn ten_trials(directory: &Path, count: usize) -> Result<()> {
    run_tests(directory, count)?;
    let suite = fs::read_to_string(directory.join("EVAL.yaml"))?;
    write(directory, "EVAL.yaml", format!("trials: 10\n{suite}"))
}

const RUN_OF_A_TURN: &str = r#"    output: The answer is ready
    tools_called: []
    expected: ready
    evaluation: pass
    meta: '{"tokens": null, "cost": null, "duration_ms": 0, "ts": "2026-11-16 16:52:57"}'
"#;

const RUN_FILE: &str = r#"system_prompt: ""
model: "default"
cwd: "/tmp"
tokens: null
cost: null
duration_ms: 0
timestamp: "2026-11-16 16:52:57"
messages: |
  [
    {"role": "user", "content": "say hi"},
    {"role": "assistant", "content": "The answer is ready"}
  ]
"#;

fn record(directory: &Path, name: &str, input: &str, runs: usize) -> Result<()> {
    let now = RUN_OF_A_TURN.replace("    ", "  ");
    let history = (1..runs)
        .rev()
        .fold(String::new(), |text, run| text + &format!("  - run: {run}\n{RUN_OF_A_TURN}"));
    let summary = format!(
        "name: {name}\ncreated: '2026-11-16 16:52:57'\nupdated: '2026-11-16 16:52:57'\nruns: {runs}\nmodel: default\nturns:\n- input: {input}\n  run: {runs}\n{now}  history:\n{history}"
    );
    write(directory, &format!(".co/evals/{name}.yaml"), summary)?;
    for run in 1..=runs {
        write(directory, &format!(".co/evals/{name}/run_{run}.yaml"), RUN_FILE)?;
    }
    Ok(())
}

fn store_runs(directory: &Path, count: usize) -> Result<()> {
    record(directory, "say_hi", "say hi", count)
}

fn store_records(directory: &Path, count: usize) -> Result<()> {
    (0..count)
        .try_for_each(|at| record(directory, &format!("say_hi_{at}"), &format!("say hi {at}"), 2))
}
