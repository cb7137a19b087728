//! evals.json → EVAL.yaml: loading the new suite gives what loading the evals.json gave, byte for
//! byte (spec 15).

use camino::{Utf8Path, Utf8PathBuf};
use evalrig_core::diagnostic::Severity;
use evalrig_core::export::{Context, TranspileOptions, converted_yaml, transpile};
use evalrig_core::model::{Block, Expected, JsonStyle, Suite, Test, Value};
use evalrig_core::read::{CollectTests, Findings, LoadRequest};
use evalrig_core::reader::{ReadPolicy, World};
use evalrig_core::secrets::Secrets;
use evalrig_core::source::{MemoryFiles, Sources, Variables};
use proptest::prelude::*;
use serde_json::{Value as Json, json};

const SOURCE: &str = "/p/skill/evals/evals.json";

/// Everything that reading one file gave.
struct Loaded {
    suite: Option<Suite>,
    sources: Sources,
    /// Names of the errors, in the order of the file.
    errors: Vec<&'static str>,
}

fn load(files: &MemoryFiles, path: &Utf8Path) -> Loaded {
    let environment = Variables::default().with("HOME", "replaced");
    let world = World { files, environment: &environment, working_directory: "/p".into() };
    let limits = ReadPolicy::default();
    let request = LoadRequest::new(world, &limits, path, "/p".into());
    let mut tests = CollectTests::default();
    let loaded = evalrig_core::read::load(&request, Findings::new(), &mut tests);
    let header = loaded.header().cloned();
    let (sources, found, _) = loaded.into_findings().into_parts();
    let errors = found.iter().filter(|one| one.level.severity() == Severity::Error);
    Loaded {
        suite: header.map(|header| header.with_tests(tests.0)),
        errors: errors.map(|one| one.code.name).collect(),
        sources,
    }
}

fn files(evals: &str) -> MemoryFiles {
    MemoryFiles::new()
        .with("/p/.git/HEAD", "x")
        .with(SOURCE, evals)
        .with("/p/skill/a.csv", "1,2\n")
        .with("/p/skill/files/b c.md", "B")
        .with("/p/shared.md", "S")
}

/// The suite of an evals.json, the text it becomes in `directory`, and the suite of that text.
fn convert(evals: &str, directory: &str) -> (Loaded, String, Loaded) {
    let files = files(evals);
    let first = load(&files, SOURCE.into());
    let suite = first.suite.as_ref().expect("the evals.json is read");
    let context = Context { files: &files, sources: &first.sources, root: "/p".into() };
    let made_from = "evals.json";
    let text = converted_yaml(suite, &context, directory.into(), made_from, &Secrets::default());
    let path = Utf8PathBuf::from(directory).join("EVAL.yaml");
    let second = load(&files.with(path.as_str(), text.clone()), &path);
    (first, text, second)
}

fn converted(evals: &Json, directory: &str) -> String {
    convert(&evals.to_string(), directory).1
}

/// What must survive: the texts, the files they lead to, and what is graded.
fn meaning(suite: &Suite) -> Vec<String> {
    let root = format!("{} {:?}", suite.name, suite.metadata);
    let tests = suite.tests.iter().map(meaning_of_test);
    std::iter::once(root).chain(tests).collect()
}

fn meaning_of_test(test: &Test) -> String {
    let blocks: Vec<String> = test.input[0].content.iter().map(meaning_of_block).collect();
    let expected = test.expected_output.as_ref().and_then(Expected::text);
    let assertions: Vec<String> = test
        .assertions
        .iter()
        .map(|placed| placed.to_value().to_json(JsonStyle::Compact))
        .collect();
    format!(
        "{:?} {:?} {} {blocks:?} {expected:?} {:?} {:?} {assertions:?} {}",
        test.id,
        test.position,
        test.input.len(),
        // Those of a test without expected output are made by `convert`.
        test.criteria.as_ref().filter(|text| expected.as_ref() == Some(*text)),
        test.description,
        Value::Map(test.metadata.clone()).to_json(JsonStyle::Compact),
    )
}

/// A file that was found is identified by its path, which does not move with the suite.
fn meaning_of_block(block: &Block) -> String {
    match block {
        Block::File(file) => match &file.path {
            Some(path) => format!("file {path}"),
            None => format!("no file {:?}", file.value),
        },
        other => format!("{other:?}"),
    }
}

/// Of an evals.json it is a warning: its entries may be drafts.
const ASKED_BY_SUITES: &[&str] = &["nothing-to-grade"];

fn check_kept(evals: &Json, directory: &str) -> Result<(), TestCaseError> {
    // Control characters must be escaped in files.
    let evals = &evals.to_string().replace('\u{7f}', "\\u007f");
    let (first, text, second) = convert(evals, directory);
    let after = second.suite.as_ref().map(meaning);
    prop_assert_eq!(after, first.suite.as_ref().map(meaning), "{}\n{}", evals, text);
    let mut errors = second.errors;
    errors.retain(|name| !ASKED_BY_SUITES.contains(name));
    prop_assert_eq!(errors, first.errors, "{}\n{}", evals, text);
    // Elsewhere the texts of paths change, and they are part of what is written.
    if directory == "/p/skill" {
        let again = transpiled(&second.suite, &second.sources);
        prop_assert_eq!(again, transpiled(&first.suite, &first.sources), "{}\n{}", evals, text);
    }
    Ok(())
}

/// The evals.json that a suite becomes.
fn transpiled(suite: &Option<Suite>, sources: &Sources) -> Vec<String> {
    let options = TranspileOptions::new("/p/skill".into(), "/p".into());
    let suite = suite.as_ref().expect("both are suites");
    let done = transpile(suite, sources, &Secrets::default(), &options);
    done.files.into_iter().map(|file| file.text).collect()
}

const PIECES: &[&str] = &[
    "a",
    "Sum up",
    " ",
    "  ",
    "\n",
    "\n\n",
    "\r\n",
    "\t",
    "\u{7f}",
    "\u{1}",
    "\u{85}\u{2028}",
    "\u{feff}",
    "é",
    "😀",
    ": ",
    " #",
    "#",
    "- ",
    "'",
    "\"",
    "\\",
    "\\n",
    "|",
    "{",
    "}",
    "{{ x }}",
    "{{{{",
    "${{ HOME }}",
    "$${{ HOME }}",
    "$",
    "${{",
    "}}",
    "${{ github.sha }}",
    "&a",
    "`",
    "null",
    "yes",
    "1",
    "---",
    "...",
    "<<",
];

fn text() -> impl Strategy<Value = String> {
    prop::collection::vec(prop::sample::select(PIECES), 0..8).prop_map(|pieces| pieces.concat())
}

/// Neither blank nor made blank by trimming.
fn filled() -> impl Strategy<Value = String> {
    text().prop_map(|text| if text.trim().is_empty() { format!("{text}x") } else { text })
}

const PATHS: &[&str] = &["a.csv", "./a.csv", "files/b c.md", "/shared.md", "gone/${{ x }}.md"];

fn file() -> impl Strategy<Value = Json> {
    let path = prop::sample::select(PATHS);
    prop_oneof![
        4 => path.clone().prop_map(|path| json!(path)),
        1 => path.prop_map(|path| json!({ "path": path })),
        1 => (text(), text()).prop_map(|(name, content)| json!({"name": name, "content": content})),
    ]
}

fn assertion() -> impl Strategy<Value = Json> {
    prop_oneof![
        3 => filled().prop_map(Json::from),
        1 => filled().prop_map(|text| json!({ "text": text })),
        1 => (text(), filled()).prop_map(|(id, text)| json!({"id": id, "description": text})),
        1 => (1..4, filled()).prop_map(|(n, text)| json!({"id": format!("rubric-{n}"), "text": text})),
    ]
}

fn expected() -> impl Strategy<Value = Json> {
    prop_oneof![
        4 => text().prop_map(Json::from),
        1 => Just(json!(1.5)),
        1 => text().prop_map(|text| json!({"total": 3, "note": [text, null]})),
        1 => text().prop_map(|text| json!([{"role": "assistant", "content": text}])),
    ]
}

/// An entry, but for its id.
fn entry() -> impl Strategy<Value = Json> {
    let graded = (
        prop::option::of(expected()),
        prop::option::of(prop::collection::vec(assertion(), 0..4)),
        prop::option::of(any::<bool>()),
    );
    let told = (prop::option::of(text()), prop::option::of(text()));
    let files = prop::option::of(prop::collection::vec(file(), 0..3));
    (filled(), files, graded, told).prop_map(
        |(prompt, files, (expected, assertions, trigger), (name, other))| {
            let mut entry = json!({ "prompt": prompt });
            let optional = [
                ("files", files.map(Json::from)),
                ("expected_output", expected),
                ("assertions", assertions.map(Json::from)),
                ("should_trigger", trigger.map(Json::from)),
                ("name", name.map(Json::from)),
                ("category", other.map(Json::from)),
            ];
            for (key, value) in optional {
                if let Some(value) = value {
                    entry[key] = value;
                }
            }
            entry
        },
    )
}

/// Numbers, texts that look like numbers, texts, and none; no two alike.
fn with_id(mut entry: Json, at: usize, kind: u8) -> Json {
    let number = at + 1;
    match kind {
        0 => entry["id"] = json!(number),
        1 => entry["id"] = json!(number.to_string()),
        2 => entry["id"] = json!(format!("0{number}: ${{{{ x }}}}")),
        _ => {}
    }
    entry
}

fn entries() -> impl Strategy<Value = Vec<Json>> {
    prop::collection::vec((entry(), 0..4u8), 1..4).prop_map(|list| {
        let numbered = list.into_iter().enumerate();
        numbered.map(|(at, (entry, kind))| with_id(entry, at, kind)).collect()
    })
}

fn directory() -> impl Strategy<Value = &'static str> {
    prop::sample::select(&["/p/skill", "/p/skill/evals", "/p", "/p/new/deep"][..])
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn nothing_is_lost(list in entries(), skill in filled(), note in text(), to in directory()) {
        let evals = json!({"skill_name": skill, "note": note, "evals": list});
        check_kept(&evals, to)?;
    }

    #[test]
    fn nothing_is_lost_without_a_root(list in entries(), to in directory()) {
        check_kept(&Json::from(list), to)?;
    }

    #[test]
    fn no_query_of_trigger_lists_is_lost(
        yes in prop::collection::vec(filled(), 1..4),
        no in prop::collection::vec(filled(), 0..3),
    ) {
        let evals = json!({"should_trigger": yes, "should_not_trigger": no});
        check_kept(&evals, "/p/skill")?;
    }
}

#[test]
fn the_suite_is_for_people() {
    let evals = json!({
        "skill_name": "CSV Analyzer",
        "metadata": {"runs_per_query": 3},
        "evals": [
            {
                "id": 1,
                "name": "trend",
                "prompt": "Sum up.\nBriefly.",
                "files": ["a.csv", {"path": "files/b c.md"}],
                "expected_output": "It grows",
                "assertions": ["Names the trend", {"id": "tone", "text": "Is polite: always"}],
                "should_trigger": true,
                "priority": 2
            },
            {"id": "2", "prompt": "Costs ${{ HOME }} and {{ x }}", "expected_output": "No"},
            {"prompt": "Hi", "files": [{"name": "n.txt", "content": "one\n"}], "should_trigger": false}
        ]
    });
    let expected = "\
# Made from evals.json by `evalrig convert`.
name: csv-analyzer
version: '1.0'
metadata:
  skill: CSV Analyzer
  source: evals.json
  runs_per_query: 3
tests:
  - id: 1
    description: trend
    criteria: It grows
    input_files:
      - a.csv
      - files/b c.md
    input: |-
      Sum up.
      Briefly.
    expected_output: It grows
    rubrics:
      - Names the trend
      - id: tone
        outcome: 'Is polite: always'
    assert:
      - type: trigger-judge
        skill: CSV Analyzer
        should_trigger: true
        detection: any-call
    metadata:
      priority: 2
  - id: '2'
    criteria: No
    input: Costs $${{ HOME }} and {{ x }}
    expected_output: No
  - id: 3
    criteria: Does not use the skill `CSV Analyzer`
    input:
      - role: user
        content:
          - type: text
            value: |
              n.txt:
              one
          - type: text
            value: Hi
    assert:
      - type: trigger-judge
        skill: CSV Analyzer
        should_trigger: false
        detection: any-call
";
    let found = converted(&evals, "/p/skill");
    assert_eq!(found, expected.replace(": No\n", ": 'No'\n"), "\n{found}");
}

#[test]
fn paths_lead_to_the_same_files_from_elsewhere() {
    let evals = json!([{"prompt": "Hi", "files": ["a.csv", "/shared.md", "gone.md"]}]);
    let text = converted(&evals, "/p/new");
    assert!(
        text.contains("input_files:\n      - /skill/a.csv\n      - /shared.md\n      - gone.md\n"),
        "{text}"
    );
}

#[test]
fn data_that_looks_like_messages_stays_data() {
    let messages = json!([{"role": "assistant", "content": "${{ HOME }}"}]);
    let evals = json!([{"prompt": "Hi", "expected_output": messages}]);
    let (_, _, second) = convert(&evals.to_string(), "/p/skill");
    let suite = second.suite.expect("it is read");
    let expected = suite.tests[0].expected_output.as_ref();
    let Some(Expected::Text(text)) = expected else {
        panic!("{expected:?}");
    };
    assert_eq!(*text, messages.to_string());
}
