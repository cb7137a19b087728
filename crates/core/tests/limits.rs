//! Sizes, depths, encodings and unreadable files (spec 2.6), which a check file cannot contain.

mod support;

use std::io;

use camino::{Utf8Path, Utf8PathBuf};
use evalrig_core::diagnostic::Level;
use evalrig_core::import::{CodeUse, ImportRequest, Opened, format_named};
use evalrig_core::read::{DiscardTests, Findings, LoadRequest, duplicate_suite_name, load};
use evalrig_core::reader::{ReadPolicy, World};
use evalrig_core::source::{
    DirectoryEntry, DirectoryListing, EntryKind, FileFacts, Files, MemoryFiles, Reach, Sources,
    Variables,
};
use support::{Project, Seen};

const SUITE: &str = r"name: demo
tests:
  - {id: a, criteria: Greets, input: Hi}
";
const MIB: usize = 1024 * 1024;

#[track_caller]
fn assert_only(project: &Project, name: &str, level: Level, line: u32) -> Seen {
    let outcome = project.load();
    let seen = outcome.only();
    assert_eq!((seen.code.name, seen.level, seen.line), (name, level, line), "{seen}");
    seen.clone()
}

/// A suite whose only test has this assertion.
fn with_assertion(assertion: &str) -> Project {
    Project::new(&format!(
        r"name: demo
tests:
  - id: a
    criteria: Greets
    input: Hi
    assert:
      - {assertion}
"
    ))
}

fn utf16(text: &str, mark: [u8; 2], bytes: fn(u16) -> [u8; 2]) -> Vec<u8> {
    mark.into_iter().chain(text.encode_utf16().flat_map(bytes)).collect()
}

// Encodings.

#[test]
fn one_byte_order_mark_is_dropped() {
    let text = format!("\u{feff}{SUITE}");
    let suite = Project::named("EVAL.yaml", text.as_str()).load().clean();
    assert_eq!(suite.name, "demo");
}

#[test]
fn columns_do_not_count_the_byte_order_mark() {
    let project = Project::named(
        "EVAL.yaml",
        "\u{feff}nam: demo\ntests:\n  - {id: a, criteria: x, input: y}\n",
    );
    let places: Vec<(u32, u32)> = project.load().seen.iter().map(|s| (s.line, s.column)).collect();
    assert!(places.iter().all(|place| *place == (1, 1)), "{places:?}");
}

#[test]
fn utf_16_and_utf_32_are_refused_by_their_marks() {
    let little = utf16(SUITE, [0xff, 0xfe], u16::to_le_bytes);
    let big = utf16(SUITE, [0xfe, 0xff], u16::to_be_bytes);
    let mut wide = vec![0xff, 0xfe, 0, 0];
    wide.extend(SUITE.chars().flat_map(|c| u32::from(c).to_le_bytes()));
    let mut wide_big = vec![0, 0, 0xfe, 0xff];
    wide_big.extend(SUITE.chars().flat_map(|c| u32::from(c).to_be_bytes()));
    for (name, bytes) in
        [("UTF-16", little), ("UTF-16", big), ("UTF-32", wide), ("UTF-32", wide_big)]
    {
        let project = Project::named("EVAL.yaml", bytes);
        let seen = assert_only(&project, "invalid-encoding", Level::Blocking, 1);
        assert!(seen.message.contains(name), "{seen}");
    }
}

#[test]
fn an_invalid_byte_is_named_by_offset_and_line() {
    let mut bytes = SUITE.as_bytes().to_vec();
    let at = SUITE.find("Greets").unwrap();
    bytes[at] = 0xe9;
    let project = Project::named("EVAL.yaml", bytes);
    let seen = assert_only(&project, "invalid-encoding", Level::Blocking, 3);
    assert!(seen.message.contains(&format!("{at}")), "{seen}");
    assert!(seen.message.contains('3'), "{seen}");
}

#[test]
fn an_invalid_byte_of_jsonl_is_named_by_its_offset_in_the_file() {
    let first = "{\"id\": \"a\", \"criteria\": \"Greets\", \"input\": \"Hi\"}\n";
    let mut bytes = first.as_bytes().to_vec();
    bytes.extend(b"{\"id\": \"\xff\"}\n");
    let project = Project::new("name: demo\ntests: cases.jsonl\n").with("cases.jsonl", bytes);
    let seen = assert_only(&project, "invalid-encoding", Level::Blocking, 2);
    let offset = first.len() + 8;
    assert!(seen.message.contains(&offset.to_string()), "{seen}");
}

#[test]
fn a_prompt_that_is_not_utf_8_blocks_only_the_run() {
    let project = with_assertion("{type: llm-judge, prompt: ./judge.md}")
        .with("judge.md", b"caf\xe9".to_vec());
    assert_only(&project, "invalid-encoding", Level::BlocksRun, 7);
}

#[test]
fn carriage_returns_are_fine() {
    let suite = Project::new(&SUITE.replace('\n', "\r\n")).load().clean();
    assert_eq!(suite.tests.len(), 1);
}

#[test]
fn control_characters_are_refused_raw_and_fine_as_escapes() {
    for character in ['\0', '\u{1}', '\u{b}', '\u{c}', '\u{1b}', '\u{7f}', '\u{80}', '\u{9f}'] {
        let project = Project::new(&SUITE.replace("Hi", &format!("\"H{character}i\"")));
        let seen = assert_only(&project, "control-character", Level::Blocking, 3);
        let code = format!("U+{:04X}", u32::from(character));
        assert!(seen.message.contains(&code), "{seen}");
    }
    Project::new(&SUITE.replace("Hi", "\"a\\e\\0\\u007fb\"")).load().clean();
}

#[test]
fn tab_and_next_line_are_allowed() {
    Project::new(&SUITE.replace("Hi", "\"a\tb\u{85}c\"")).load().clean();
}

#[test]
fn control_characters_of_jsonl_are_found_on_their_line() {
    let jsonl = "\n{\"id\": \"a\", \"criteria\": \"x\", \"input\": \"\u{7f}\"}\n";
    let project = Project::new("name: demo\ntests: cases.jsonl\n").with("cases.jsonl", jsonl);
    assert_only(&project, "control-character", Level::Blocking, 2);
}

// Sizes.

#[test]
fn a_yaml_file_may_have_32_mib_and_not_a_byte_more() {
    let filler = 32 * MIB - SUITE.len();
    let mut text = SUITE.to_owned();
    text.push('#');
    text.push_str(&"x".repeat(filler - 1));
    Project::named("EVAL.yaml", text.as_str()).load().clean();
    text.push('x');
    let project = Project::named("EVAL.yaml", text);
    assert_only(&project, "file-too-large", Level::Blocking, 1);
}

#[test]
fn a_jsonl_line_may_have_16_mib_and_not_a_byte_more() {
    let head = "{\"id\": \"a\", \"criteria\": \"x\", \"input\": \"";
    let tail = "\"}";
    let load = |length: usize| {
        let fill = "x".repeat(length - head.len() - tail.len());
        let jsonl = format!(
            r#"{{"id": "b", "criteria": "x", "input": "y"}}
{head}{fill}{tail}
"#
        );
        Project::new("name: demo\ntests: cases.jsonl\n").with("cases.jsonl", jsonl)
    };
    assert_eq!(load(16 * MIB).load().clean().tests.len(), 2);
    let seen = assert_only(&load(16 * MIB + 1), "line-too-long", Level::Blocking, 2);
    assert_eq!(seen.path, "cases.jsonl");
}

#[test]
fn jsonl_goes_on_behind_a_line_that_is_too_long() {
    let jsonl = format!(
        r#"{{"x": "{}"}}
{{"id": "b", "criteria": "x", "input": "y"}}
"#,
        "x".repeat(16 * MIB)
    );
    let project = Project::new("name: demo\ntests: cases.jsonl\n").with("cases.jsonl", jsonl);
    let suite = project.load().with_names(&["line-too-long"]);
    assert_eq!(suite.tests.len(), 1);
}

#[test]
fn attachments_may_have_10_mib_and_prompts_1_mib() {
    let attached = |size: usize| {
        Project::new(
            r"name: demo
tests:
  - {id: a, criteria: x, input: y, input_files: [x.md]}
",
        )
        .with("x.md", vec![b'x'; size])
    };
    attached(10 * MIB).load().clean();
    assert_only(&attached(10 * MIB + 1), "attachment-too-large", Level::BlocksRun, 3);
    let prompt = |size: usize| {
        with_assertion("{type: llm-judge, prompt: ./judge.md}").with("judge.md", vec![b'x'; size])
    };
    prompt(MIB).load().clean();
    assert_only(&prompt(MIB + 1), "attachment-too-large", Level::BlocksRun, 7);
}

#[test]
fn a_description_may_have_2048_characters_however_many_bytes() {
    let suite = |length: usize| {
        Project::new(&format!(
            r"name: demo
description: {}
tests:
  - {{id: a, criteria: x, input: y}}
",
            "é".repeat(length)
        ))
    };
    suite(2048).load().clean();
    assert_only(&suite(2049), "description-too-long", Level::Error, 2);
}

// Depths.

/// A suite with metadata that is nested this deep; the root and `metadata` are two levels.
fn nested(depth: usize) -> Project {
    let inner = depth - 2;
    Project::new(&format!(
        r"name: demo
metadata:
  x: {}{}
tests:
  - {{id: a, criteria: x, input: y}}
",
        "[".repeat(inner),
        "]".repeat(inner)
    ))
}

#[test]
fn values_may_be_nested_128_deep() {
    nested(128).load().clean();
    assert_only(&nested(129), "too-deep", Level::Blocking, 3);
    assert_only(&nested(50_000), "too-deep", Level::Blocking, 3);
}

#[test]
fn json_lines_may_be_nested_128_deep() {
    let load = |depth: usize| {
        let inner = depth - 2;
        let jsonl = format!(
            "{{\"id\": \"a\", \"criteria\": \"x\", \"input\": \"y\", \"metadata\": {{\"x\": {}{}}}}}\n",
            "[".repeat(inner),
            "]".repeat(inner)
        );
        Project::new("name: demo\ntests: cases.jsonl\n").with("cases.jsonl", jsonl)
    };
    load(128).load().clean();
    assert_only(&load(129), "too-deep", Level::Blocking, 1);
    assert_only(&load(50_000), "too-deep", Level::Blocking, 1);
}

#[test]
fn aliases_that_multiply_are_stopped() {
    let mut text = "name: demo\nx-0: &a0 [x, x, x, x, x, x, x, x, x, x]\n".to_owned();
    for level in 1..=7 {
        let aliases = vec![format!("*a{}", level - 1); 10].join(", ");
        text += &format!("x-{level}: &a{level} [{aliases}]\n");
    }
    text += r"metadata: {x: *a7}
tests:
  - {id: a, criteria: x, input: y}
";
    let outcome = Project::new(&text).load();
    let seen = outcome.only();
    assert_eq!((seen.code.name, seen.level), ("alias-limit", Level::Blocking));
}

#[test]
fn aliases_below_the_limit_are_fine() {
    let items = vec!["x"; 1000].join(", ");
    let aliases = vec!["*a"; 100].join(", ");
    let text = format!(
        r"name: demo
metadata: {{a: &a [{items}], b: [{aliases}]}}
tests:
  - {{id: a, criteria: x, input: y}}
"
    );
    Project::new(&text).load().clean();
}

#[test]
fn aliases_of_long_texts_are_stopped_too() {
    let text = format!(
        r"name: demo
x-a: &a {}
metadata: {{b: [{}]}}
tests:
  - {{id: a, criteria: x, input: y}}
",
        "x".repeat(MIB),
        vec!["*a"; 200].join(", ")
    );
    let outcome = Project::new(&text).load();
    assert_eq!(outcome.only().code.name, "alias-limit");
}

/// A test with a variable of 1 MiB, and this `input`.
fn with_long_variable(input: &str) -> Project {
    Project::new(&format!(
        "name: demo\ntests:\n  - id: a\n    vars: {{v: {}}}\n    criteria: x\n    input: {input}\n",
        "x".repeat(MIB)
    ))
}

#[test]
fn references_may_insert_64_mib() {
    let input = |times: usize| format!("\"{}\"", "{{ v }}".repeat(times));
    with_long_variable(&input(64)).load().clean();
    assert_only(&with_long_variable(&input(65)), "expansion-limit", Level::Blocking, 6);
    assert_only(&with_long_variable(&input(3_000)), "expansion-limit", Level::Blocking, 6);
}

#[test]
fn values_that_references_insert_whole_are_counted_too() {
    let expected =
        "  - {id: N, vars: *v, criteria: x, input: y, expected_output: \"{{ list }}\"}\n";
    let tests: String = (0..60).map(|at| expected.replace('N', &format!("t{at}"))).collect();
    let list = "1,".repeat(12_000);
    let text = format!("name: demo\nx-v: &v {{list: [{list}]}}\ntests:\n{tests}");
    assert_only(&Project::new(&text), "expansion-limit", Level::Blocking, 47);
}

#[test]
fn environment_variables_may_insert_64_mib() {
    let suite = |times: usize| {
        let text = format!(
            "name: demo\ntests:\n  - {{id: a, criteria: x, input: \"{}\"}}\n",
            "${{ LONG }}".repeat(times)
        );
        Project::new(&text).variable("LONG", &"x".repeat(MIB))
    };
    suite(64).load().clean();
    assert_only(&suite(3_000), "expansion-limit", Level::Blocking, 3);
}

#[test]
fn the_prompt_of_a_judge_may_insert_64_mib() {
    let prompt = "${{ LONG }}".repeat(3_000);
    let project = with_assertion(&format!("{{type: llm-judge, prompt: \"{prompt}\"}}"));
    let project = project.variable("LONG", &"x".repeat(MIB));
    assert_only(&project, "expansion-limit", Level::Blocking, 7);
}

#[test]
fn a_line_of_jsonl_may_insert_16_times_its_length() {
    let load = |times: usize| {
        let line = |id: &str, times: usize| {
            format!(
                "{{\"id\": \"{id}\", \"criteria\": \"x\", \"vars\": {{\"v\": \"{}\"}}, \"input\": \"{}\"}}\n",
                "x".repeat(MIB),
                "{{ v }}".repeat(times)
            )
        };
        let lines = [line("a", 1), line("b", times), line("c", 16)].concat();
        Project::new("name: demo\ntests: cases.jsonl\n").with("cases.jsonl", lines)
    };
    load(16).load().clean();
    assert_only(&load(17), "expansion-limit", Level::Blocking, 2);
}

#[test]
fn an_alias_that_contains_itself_is_refused() {
    let text = r"name: demo
metadata: &m
  - a
  - [*m]
tests:
  - {id: a, criteria: x, input: y}
";
    assert_only(&Project::new(text), "alias-cycle", Level::Blocking, 4);
}

/// Patterns, each of which takes about 18 MiB when it is compiled.
#[test]
fn the_patterns_of_a_test_may_take_256_mib() {
    let large = |at: usize| format!("{{type: regex, value: '[\\p{{L}}\\p{{N}}]{{100}}{at}'}}");
    let suite = |count: usize| {
        let patterns: Vec<String> = (0..count).map(large).collect();
        with_assertion(&patterns.join("\n      - "))
    };
    suite(10).load().clean();
    let outcome = suite(500).load();
    assert!(outcome.seen.iter().all(|seen| seen.code.name == "invalid-regex"));
    assert!((10..20).contains(&(500 - outcome.seen.len())), "{}", outcome.seen.len());
}

/// Composites around one check.
fn composites(depth: usize) -> Project {
    let mut assertion = "{type: contains, value: x}".to_owned();
    for _ in 0..depth {
        assertion = format!("{{type: composite, assert: [{assertion}]}}");
    }
    with_assertion(&assertion)
}

#[test]
fn composites_may_be_nested_8_deep() {
    composites(8).load().clean();
    assert_only(&composites(9), "composite-depth", Level::Blocking, 7);
    assert_only(&composites(40), "composite-depth", Level::Blocking, 7);
}

/// `EVAL.yaml` and this many files that each import the next.
fn chain(length: usize) -> Project {
    let mut project = Project::new("name: demo\ntests: [f1.yaml]\n");
    for at in 1..length {
        project = project.with(&format!("f{at}.yaml"), format!("tests: [f{}.yaml]\n", at + 1));
    }
    project.with(&format!("f{length}.yaml"), "- {id: a, criteria: x, input: y}\n")
}

#[test]
fn imports_may_be_16_levels_deep() {
    assert_eq!(chain(16).load().clean().tests.len(), 1);
    let seen = assert_only(&chain(17), "import-depth", Level::Blocking, 1);
    assert_eq!(seen.path, "f16.yaml");
}

// Names of suites.

#[test]
fn two_suites_of_one_name_are_noticed() {
    let mut sources = Sources::new();
    let first = sources.add_file("/p/a.yaml".into(), "name: review\n".into(), 0);
    let second = sources.add_file("/p/b.yaml".into(), "name: review\n".into(), 0);
    let span = |source| evalrig_core::source::Span::new(source, 6, 12);
    let found = duplicate_suite_name("review", span(first), span(second));
    assert_eq!((found.code.name, found.level), ("duplicate-suite-name", Level::Warning));
    assert_eq!(found.span.source, second);
    assert_eq!(found.related[0].span.source, first);
}

// Files that cannot be read.

/// Files of which one cannot be opened.
#[derive(Debug)]
struct Locked {
    files: MemoryFiles,
    path: Utf8PathBuf,
}

impl Locked {
    fn check(&self, path: &Utf8Path) -> io::Result<()> {
        if path == self.path {
            Err(io::Error::from(io::ErrorKind::PermissionDenied))
        } else {
            Ok(())
        }
    }
}

impl Files for Locked {
    fn look(&self, path: &Utf8Path, reach: Reach<'_>) -> io::Result<FileFacts> {
        self.files.look(path, reach)
    }

    fn read(&self, path: &Utf8Path, reach: Reach<'_>, limit: u64) -> io::Result<Vec<u8>> {
        self.check(path)?;
        self.files.read(path, reach, limit)
    }

    fn open(&self, path: &Utf8Path, reach: Reach<'_>) -> io::Result<Box<dyn io::BufRead>> {
        self.check(path)?;
        self.files.open(path, reach)
    }

    fn canonicalize(&self, path: &Utf8Path) -> io::Result<Utf8PathBuf> {
        self.files.canonicalize(path)
    }

    fn list(&self, directory: &Utf8Path, reach: Reach<'_>) -> io::Result<DirectoryListing> {
        self.files.list(directory, reach)
    }
}

fn names_with_locked(locked: &str) -> Vec<&'static str> {
    let files = Locked {
        files: MemoryFiles::new()
            .with("/p/EVAL.yaml", "name: demo\ntests: [a.yaml, b.jsonl]\n")
            .with("/p/a.yaml", "- {id: a, criteria: x, input: y}\n")
            .with("/p/b.jsonl", "{\"id\": \"b\", \"criteria\": \"x\", \"input\": \"y\"}\n"),
        path: locked.into(),
    };
    names_in(&files)
}

fn names_in(files: &dyn Files) -> Vec<&'static str> {
    let environment = Variables::default();
    let limits = ReadPolicy::default();
    let world = World { files, environment: &environment, working_directory: "/p".into() };
    let request = LoadRequest::new(world, &limits, "/p/EVAL.yaml".into(), "/p".into());
    let loaded = load(&request, Findings::new(), &mut DiscardTests);
    let diagnostics = loaded.findings().diagnostics().iter();
    diagnostics.map(|found| found.code.name).collect()
}

#[test]
fn a_file_that_cannot_be_read_is_reported_once() {
    for locked in ["/p/EVAL.yaml", "/p/a.yaml", "/p/b.jsonl"] {
        assert_eq!(names_with_locked(locked), ["unreadable-file"], "{locked}");
    }
    assert_eq!(names_with_locked("/p/other"), Vec::<&str>::new());
}

// What is skipped, and why.

#[test]
fn an_env_file_that_is_not_read_is_reported() {
    let suite = SUITE.replace("Hi", "\"Hi ${{ WHO }}\"");
    let project = |env: Vec<u8>| {
        let files = Project::new(&suite).with(".env", env);
        files.load().names()
    };
    let large = [b"WHO=Alice\n".to_vec(), vec![b'#'; MIB]].concat();
    for env in [large, b"WHO=\xff".to_vec()] {
        let names = project(env);
        assert!(names.contains(&"unreadable-env-file"), "{names:?}");
    }
    assert_eq!(project(b"WHO=Alice".to_vec()), Vec::<&str>::new());
}

#[test]
fn a_pattern_that_matches_too_many_files_is_refused() {
    let mut project = Project::new("name: demo\ntests: [\"cases/*.jsonl\"]\n");
    for number in 0..=100_000 {
        project = project.with(&format!("cases/{number}.jsonl"), "");
    }
    let seen = assert_only(&project, "import-limit", Level::Blocking, 2);
    assert_eq!(seen.message, "the pattern matches more than 100,000 files");
}

/// A tree in whose directories there is something that cannot be in memory.
#[derive(Debug)]
struct AlteredTree(MemoryFiles, fn(&Utf8Path, &mut DirectoryListing));

impl Files for AlteredTree {
    fn look(&self, path: &Utf8Path, reach: Reach<'_>) -> io::Result<FileFacts> {
        self.0.look(path, reach)
    }

    fn read(&self, path: &Utf8Path, reach: Reach<'_>, limit: u64) -> io::Result<Vec<u8>> {
        self.0.read(path, reach, limit)
    }

    fn open(&self, path: &Utf8Path, reach: Reach<'_>) -> io::Result<Box<dyn io::BufRead>> {
        self.0.open(path, reach)
    }

    fn canonicalize(&self, path: &Utf8Path) -> io::Result<Utf8PathBuf> {
        self.0.canonicalize(path)
    }

    fn list(&self, directory: &Utf8Path, reach: Reach<'_>) -> io::Result<DirectoryListing> {
        let mut listing = self.0.list(directory, reach)?;
        (self.1)(directory, &mut listing);
        Ok(listing)
    }
}

#[test]
fn a_name_that_no_path_can_name_is_reported() {
    let files = MemoryFiles::new()
        .with("/p/EVAL.yaml", "name: demo\ntests: [\"*.yaml\"]\n")
        .with("/p/a.yaml", "- {id: a, criteria: x, input: y}\n");
    let files = AlteredTree(files, |_, listing| {
        for name in ["\u{fffd}.yaml", "\u{fffd}.txt"] {
            listing.push_undecodable(name.to_owned(), EntryKind::File);
        }
    });
    assert_eq!(names_in(&files), ["undecodable-name"]);
}

// Workspaces.

#[test]
fn a_link_that_leads_out_of_a_template_is_reported() {
    let suite = "name: demo\nworkspace: ./shop\ntests:\n  - {id: a, criteria: x, input: y}\n";
    let files = MemoryFiles::new().with("/p/EVAL.yaml", suite).with("/p/shop/src/a.js", "");
    let link = |directory: &Utf8Path, listing: &mut DirectoryListing| {
        if directory == "/p/shop/src" {
            let (name, kind) = ("config".to_owned(), EntryKind::Outside);
            listing.entries.push(DirectoryEntry {
                name,
                kind,
                is_link: true,
                is_absolute_link: false,
            });
        }
    };
    assert_eq!(names_in(&AlteredTree(files, link)), ["link-outside-template"]);
}

#[test]
fn a_fifo_in_a_template_is_reported_at_the_template() {
    let suite = "name: demo\nworkspace: ./shop\ntests:\n  - {id: a, criteria: x, input: y}\n";
    let files = MemoryFiles::new().with("/p/EVAL.yaml", suite).with("/p/shop/src/a.js", "");
    let fifo = |directory: &Utf8Path, listing: &mut DirectoryListing| {
        if directory == "/p/shop/src" {
            let (name, kind) = ("events".to_owned(), EntryKind::Other);
            listing.entries.push(DirectoryEntry {
                name,
                kind,
                is_link: false,
                is_absolute_link: false,
            });
        }
    };
    assert_eq!(names_in(&AlteredTree(files, fifo)), ["special-file-in-template"]);
}

#[test]
fn an_overlay_with_too_many_files_is_reported() {
    let suite = "name: demo\nworkspace: {}\ntests:\n  - id: a\n    criteria: x\n    input: y\n    \
                 assert: [{type: command, run: [make], overlay: hidden}]\n";
    let with = |count: usize| {
        let files = MemoryFiles::new().with("/p/EVAL.yaml", suite);
        (0..count).fold(files, |files, at| files.with(&format!("/p/hidden/{at}"), ""))
    };
    assert_eq!(names_in(&with(10_000)), [""; 0]);
    assert_eq!(names_in(&with(10_001)), ["overlay-too-large"]);
}

// Many faults.

#[test]
fn a_damaged_file_keeps_a_bounded_number_of_diagnostics() {
    let jsonl = "{\n".repeat(20_000);
    let project = Project::new("name: demo\ntests: cases.jsonl\n").with("cases.jsonl", jsonl);
    let seen = project.load().seen;
    assert_eq!(seen.len(), 10_000);
    assert!(seen.iter().all(|seen| seen.code.name == "json-syntax"));
}

/// What a conversion reports about its only file: name, line and message.
fn conversion_fault(name: &str, text: &str, format: &str) -> (&'static str, u32, String) {
    let path = Utf8Path::new("/p").join(name);
    let files = MemoryFiles::new().with(path.as_str(), text);
    let request = ImportRequest {
        code: CodeUse::Written,
        files: &files,
        path: &path,
        others: &[],
        directory: "/p".into(),
        reach: Reach::Inside("/p".into()),
        map: None,
        targets: None,
    };
    let format = format_named(format).expect("a format");
    let done = Opened::new(&request).expect("a known ending").convert(&request, format);
    assert!(done.suite.is_none());
    let fault = done.diagnostics.iter().next().expect("a reason");
    assert_eq!(fault.level, Level::Blocking);
    (fault.code.name, done.sources.position(fault.span).line, fault.message.clone())
}

#[test]
fn broken_toml_is_refused_where_it_breaks() {
    let (code, line, _) =
        conversion_fault("task.toml", "[agent]\ntimeout_sec = 120 seconds\n", "harbor");
    assert_eq!((code, line), ("toml-syntax", 2));
}

#[test]
fn a_table_that_does_not_fit_its_header_is_refused() {
    let fault = conversion_fault("x.csv", "input,target\na,b\nc,d,e\n", "inspect");
    let message = "this row has 3 cells, but the header has 2".to_owned();
    assert_eq!(fault, ("csv-syntax", 3, message));
}

#[test]
fn what_a_conversion_cannot_do_without_is_refused_at_its_place() {
    for (name, text, format, line, message) in [
        (
            "x.yaml",
            "prompts: [a]\ntests: file://t.js\n",
            "promptfoo",
            2,
            "tests from `file://t.js` are made",
        ),
        ("x.yaml", "prompts:\n  - file://p.py\n", "promptfoo", 2, "no file matches `file://p.py`"),
        (
            "x.yaml",
            "prompts:\n  - exec:./p.sh\n",
            "promptfoo",
            2,
            "the prompt `exec:./p.sh` is made",
        ),
        ("x.yaml", "tests:\n  - file://none.csv\n", "promptfoo", 2, "`none.csv` does not exist"),
        ("x.yaml", "stimuli:\n  - name: a\n", "vally", 2, "the stimulus `a` has no `prompt`"),
        ("x.yaml", "skill: s\ntasks:\n  - tasks/*.yaml\n", "waza", 3, "no task file matches"),
        (
            "x.jsonl",
            "{\"input\": \"a\", \"target\": \"b\"}\n{\"target\": \"b\"}\n",
            "inspect",
            2,
            "this record has no `input`",
        ),
        ("x.json", "{\"testing_criteria\": []}", "openai-evals", 1, "this eval has no runs"),
        ("x.json", "[]", "langfuse", 1, "expected a list of records, found a list"),
        ("x.yaml", "a: 1\n", "list", 1, "expected a list of records, found a mapping"),
    ] {
        let fault = conversion_fault(name, text, format);
        assert_eq!((fault.0, fault.1), ("not-convertible", line), "{fault:?}");
        assert!(fault.2.starts_with(message), "{fault:?}");
    }
}
