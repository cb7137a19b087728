//! What is known after any sequence of edits is what a fresh session knows of the same texts, and every
//! feature answers at any place of any text. `EVALRIG_EDIT_SEQUENCES=10000` tries more of them.

use std::collections::{BTreeMap, HashMap};
use std::fs;

use camino::{Utf8Path, Utf8PathBuf};
use evalrig_core::stats::SplitMix64;
use lsp_types::{
    CodeActionContext, Diagnostic, Position, Range, TextDocumentContentChangeEvent as Change,
    TextDocumentContentChangePartial as Part, TextDocumentContentChangeWholeDocument as Whole,
};
use serde::Serialize;
use serde_json::{Value, json};

use crate::feature::{
    Spot, code_actions, code_lenses, completion, definition, document_symbols, folding_ranges,
    hover, inlay_hints, prepare_rename, references, rename, semantic_tokens,
};
use crate::last_run::{AssertionResult, LastRun, TestResult};
use crate::outline::Survey;
use crate::text::{Document, PositionEncoding, uri_of};

use super::state::Project;

const SUITE: &str = "\
name: demo
execution: {target: production}
tests:
  - id: a
    criteria: \"é😀 {{ x }}\"
    input: Hi
    assert:
      - type: contains
        value: Hello
  - cases.yaml
";
const CASES: &str = "- {id: b, criteria: c, input: i}\n- id: d\n  criteria: c\n  input: i\n";
const TARGETS: &str = "targets:\n  - {name: production, provider: mock, response: x}\n";
const LINES: &str = "{\"id\": \"l\", \"criteria\": \"c\", \"input\": \"i\"}\n";

const EVALS: &str = "{\"skill_name\": \"greeter\", \"evals\": [\n  {\"id\": 1, \"prompt\": \"Hi\", \"files\": [\"a.txt\"], \"assertions\": [\"é😀\"]}]}\n";
const SKILL: &str = "---\nname: greeter\ndescription: d\n---\n";

/// Open in the editor.
const FILES: &[(&str, &str)] = &[
    ("EVAL.yaml", SUITE),
    ("cases.yaml", CASES),
    (".evalrig/targets.yaml", TARGETS),
    ("d.jsonl", LINES),
    ("greeter/evals/evals.json", EVALS),
];

/// What edits put in: parts of the format, and what breaks it.
const PIECES: &[&str] = &[
    "",
    "",
    " ",
    "\n",
    "  ",
    "\r\n",
    "\"",
    "'",
    "{",
    "}",
    "[",
    "]",
    ": ",
    "- ",
    "é",
    "😀",
    "#",
    "&a ",
    "*a",
    "id: a\n",
    "id: b",
    "tests:",
    "targets:",
    "evalcases:",
    "type: ",
    "not-contains",
    "name",
    "cases.yaml",
    "d.jsonl",
    "${{ X }}",
    "{{",
    "\u{0}",
    "|\n",
    "    ",
    "production",
    "<<: ",
    "type: not-",
    "script: python3 cases.yaml\u{a0}x",
    "skill: greeter",
    "skill_name\": \"",
    "\"files\": [\"a.txt\", ",
    "\"evals\": [",
    "{\"input\": \"i\", \"ideal\": \"x\"}\n",
];

/// Edits of one sequence.
const EDITS: i32 = 6;

/// The texts as a model of the editor has them.
type Texts = BTreeMap<Utf8PathBuf, String>;

struct Editor {
    random: SplitMix64,
    texts: Texts,
    encoding: PositionEncoding,
}

impl Editor {
    fn below(&mut self, limit: usize) -> usize {
        self.random.below(limit.max(1) as u64) as usize
    }

    fn document(&mut self) -> Utf8PathBuf {
        let at = self.below(self.texts.len());
        self.texts.keys().nth(at).unwrap().clone()
    }

    /// A place of a document, also inside a line break.
    fn place(&mut self, path: &Utf8Path) -> Position {
        let mut at = self.below(self.texts[path].len() + 1);
        while !self.texts[path].is_char_boundary(at) {
            at -= 1;
        }
        position(&self.texts[path], at, self.encoding)
    }

    /// A change of a document, made in the model as well.
    fn edit(&mut self) -> (Utf8PathBuf, Change) {
        let path = self.document();
        let text = self.texts[&path].clone();
        let places: Vec<usize> = (0..=text.len()).filter(|at| text.is_char_boundary(*at)).collect();
        let places: Vec<usize> =
            places.into_iter().filter(|at| !is_inside_break(&text, *at)).collect();
        let first = self.below(places.len());
        let last = (first + self.below(8)).min(places.len() - 1);
        let piece = PIECES[self.below(PIECES.len())];
        let (start, end) = (places[first], places[last]);
        let range = Range {
            start: position(&text, start, self.encoding),
            end: position(&text, end, self.encoding),
        };
        self.texts.get_mut(&path).unwrap().replace_range(start..end, piece);
        #[expect(deprecated, reason = "the protocol still has the field")]
        let part = Part { range, range_length: None, text: piece.to_owned() };
        (path, Change::TextDocumentContentChangePartial(part))
    }
}

/// Between `\r` and `\n` there is no position.
fn is_inside_break(text: &str, at: usize) -> bool {
    text[..at].ends_with('\r') && text[at..].starts_with('\n')
}

/// Counted anew, without a line map.
fn position(text: &str, offset: usize, encoding: PositionEncoding) -> Position {
    let before = text[..offset].replace("\r\n", "\n").replace('\r', "\n");
    let line = before.matches('\n').count() as u32;
    let column = before.rsplit('\n').next().unwrap_or_default();
    let character = match encoding {
        PositionEncoding::Utf8 => column.len(),
        PositionEncoding::Utf16 => column.encode_utf16().count(),
        PositionEncoding::Utf32 => column.chars().count(),
    };
    Position { line, character: character as u32 }
}

/// The present diagnostics of every file, the empty ones left out.
fn diagnostics(project: &mut Project, known: &mut BTreeMap<String, Vec<Diagnostic>>) {
    while project.work() {}
    for published in project.take_outbox() {
        known.insert(published.uri.as_ref().to_owned(), published.diagnostics);
    }
    known.retain(|_, diagnostics| !diagnostics.is_empty());
}

fn opened(root: &Utf8Path, texts: &Texts, encoding: PositionEncoding) -> Project {
    let mut project = Project::new(encoding, vec![root.to_owned()]);
    for (path, text) in texts {
        project.open(path.clone(), Document::new(uri_of(path), 1, text.clone()));
    }
    project
}

fn survey(project: &Project, path: &Utf8Path) -> Survey {
    let text = project.text_of(path).unwrap();
    (*project.survey(path, &text)).clone()
}

fn sequences() -> u64 {
    let wanted = std::env::var("EVALRIG_EDIT_SEQUENCES").ok();
    wanted.and_then(|count| count.parse().ok()).unwrap_or(150)
}

/// A run of the suite, in which the first test missed a check.
fn last_run() -> LastRun {
    let missed = AssertionResult { met: 0, all: 1, miss: Some("é\n".to_owned()) };
    let assertions = HashMap::from([("contains".to_owned(), missed)]);
    let result = TestResult { passed: 1, all: 2, errored: 1, assertions };
    let tests = ["a", "b", "l", "1"].map(|id| (id.to_owned(), result.clone()));
    LastRun { file: "/results.jsonl".into(), tests: HashMap::from(tests) }
}

/// What the features say about a place. With `which`, one of them.
fn answers(
    project: &Project,
    path: &Utf8Path,
    place: Position,
    which: Option<usize>,
) -> Vec<Value> {
    let spot = Spot::new(project, path.to_owned(), place).unwrap();
    let (spot, run) = (&spot, Some(&last_run()));
    let end = Position { line: u32::MAX, character: 0 };
    let whole = Range { start: Position::default(), end };
    let here = Range { start: place, end: place };
    let context = CodeActionContext::default();
    let secrets = Default::default();
    let features: [&dyn Fn() -> Value; 13] = [
        &|| value(&hover(spot, run)),
        &|| value(&definition(spot)),
        &|| value(&completion(spot, true)),
        &|| value(&completion(spot, false)),
        &|| value(&prepare_rename(spot)),
        &|| value(&rename(spot, "é: x").map_err(Value::from)),
        &|| value(&references(spot, true)),
        &|| value(&document_symbols(spot)),
        &|| value(&folding_ranges(spot)),
        &|| value(&semantic_tokens(spot)),
        &|| value(&code_lenses(spot, run)),
        &|| value(&inlay_hints(spot, whole, run)),
        &|| value(&code_actions(project, path, here, &context, &secrets)),
    ];
    let wanted = |at: usize| which.is_none_or(|which| at == which % features.len());
    let asked = features.iter().enumerate().filter(|(at, _)| wanted(*at));
    asked.map(|(_, feature)| feature()).collect()
}

fn value<T: Serialize>(answer: &T) -> Value {
    serde_json::to_value(answer).unwrap_or_else(|error| json!(error.to_string()))
}

/// A repository with these files and a skill on the disk.
fn write_files(root: &Utf8Path) -> Texts {
    let texts: Texts =
        FILES.iter().map(|(name, text)| (root.join(name), (*text).to_owned())).collect();
    let skill = [("greeter/SKILL.md", SKILL), ("greeter/a.txt", "x")];
    let others = skill.map(|(name, text)| (root.join(name), text.to_owned()));
    fs::create_dir_all(root.join(".git")).unwrap();
    for (path, text) in texts.clone().into_iter().chain(others) {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    texts
}

#[test]
fn any_sequence_of_edits_leads_to_what_a_fresh_session_finds() {
    let folder = tempfile::tempdir().unwrap();
    let root = Utf8Path::from_path(folder.path()).unwrap();
    let texts = write_files(root);
    for seed in 0..sequences() {
        let encodings = [PositionEncoding::Utf8, PositionEncoding::Utf16, PositionEncoding::Utf32];
        let encoding = encodings[seed as usize % 3];
        let mut editor = Editor { random: SplitMix64::new(seed), texts: texts.clone(), encoding };
        let mut project = opened(root, &texts, encoding);
        let mut known = BTreeMap::new();
        for step in 0..EDITS {
            let (path, change) = editor.edit();
            project.change(&path, step + 2, vec![change]);
            // Sometimes several edits come before anything is loaded.
            if editor.below(2) == 0 {
                diagnostics(&mut project, &mut known);
            }
            assert_eq!(project.documents[&path].text(), editor.texts[&path], "seed {seed}");
            let place = editor.place(&path);
            let _ = answers(&project, &path, place, Some(editor.below(100)));
        }
        diagnostics(&mut project, &mut known);
        let mut fresh = opened(root, &editor.texts, encoding);
        let mut expected = BTreeMap::new();
        diagnostics(&mut fresh, &mut expected);
        assert_eq!(known, expected, "seed {seed}: {:#?}", editor.texts);
        for path in editor.texts.keys() {
            assert_eq!(survey(&project, path), survey(&fresh, path), "seed {seed}");
        }
        let path = editor.document();
        let place = editor.place(&path);
        let (found, expected) =
            (answers(&project, &path, place, None), answers(&fresh, &path, place, None));
        assert_eq!(found, expected, "seed {seed}: {path} at {place:?}: {:#?}", editor.texts);
    }
}

/// Files of the events below, on the disk and in the editor. Some are on neither at first.
const GLOB_SUITE: &str = "\
name: globbed
tests: [sub/*.yaml, \"**/more-*.yaml\", cases.yaml]
";
const EVENT_FILES: &[(&str, Option<&str>)] = &[
    ("EVAL.yaml", Some(SUITE)),
    ("cases.yaml", Some(CASES)),
    ("all.eval.yaml", Some(GLOB_SUITE)),
    ("sub/x.yaml", Some("- {id: x, criteria: c, input: i}\n")),
    ("sub/y.yaml", None),
    ("more-1.yaml", Some("- {id: m, criteria: c, input: i}\n")),
    ("new/more-2.yaml", None),
    ("new/EVAL.yaml", None),
    (".evalrig/targets.yaml", Some(TARGETS)),
];

/// What a file may say when it is opened or written anew.
const EVENT_TEXTS: &[&str] = &[
    "- {id: x, criteria: c, input: i}\n",
    "- {id: m, criteria: c, input: i}\n- {id: n, criteria: c}\n",
    "name: other\ntests: [../sub/*.yaml, ../cases.yaml]\n",
    "targets:\n  - {name: staging, provider: mock, response: x}\n",
    "tests: [\n",
    "",
];

/// Events of one sequence.
const EVENTS: usize = 14;

struct Events {
    editor: Editor,
    paths: Vec<Utf8PathBuf>,
    version: i32,
    /// What has happened, for the message of a failure.
    told: Vec<String>,
}

impl Events {
    fn new(root: &Utf8Path, seed: u64) -> Self {
        let paths: Vec<Utf8PathBuf> = EVENT_FILES.iter().map(|(name, _)| root.join(name)).collect();
        fs::create_dir_all(root.join(".git")).unwrap();
        for (path, (_, text)) in paths.iter().zip(EVENT_FILES) {
            write_or_remove(path, *text);
        }
        let _ = fs::remove_dir(root.join("new"));
        let encoding = PositionEncoding::Utf16;
        let random = SplitMix64::new(seed);
        let editor = Editor { random, texts: Texts::new(), encoding };
        Self { editor, paths, version: 1, told: Vec::new() }
    }

    fn path(&mut self) -> Utf8PathBuf {
        let at = self.editor.below(self.paths.len());
        self.paths[at].clone()
    }

    fn text(&mut self) -> &'static str {
        EVENT_TEXTS[self.editor.below(EVENT_TEXTS.len())]
    }

    fn happen(&mut self, project: &mut Project) {
        let path = self.path();
        let is_open = self.editor.texts.contains_key(&path);
        match self.editor.below(6) {
            0 | 1 if !is_open => {
                let saved = fs::read_to_string(&path).ok();
                let is_as_saved = self.editor.below(2) == 0;
                let text = saved.filter(|_| is_as_saved).unwrap_or_else(|| self.text().to_owned());
                self.told.push(format!("open {path}: {text:?}"));
                project.open(path.clone(), Document::new(uri_of(&path), 1, text.clone()));
                self.editor.texts.insert(path, text);
            }
            1 if is_open => {
                self.told.push(format!("close {path}"));
                project.close(&path);
                self.editor.texts.remove(&path);
            }
            2 if is_open => {
                self.told.push(format!("save {path}"));
                write_or_remove(&path, Some(&self.editor.texts[&path]));
                project.files_changed(&[path]);
            }
            3 => {
                let text = if self.editor.below(3) == 0 { None } else { Some(self.text()) };
                self.told.push(format!("write {path}: {text:?}"));
                write_or_remove(&path, text);
                project.files_changed(&[path]);
            }
            _ if !self.editor.texts.is_empty() => {
                self.version += 1;
                let (path, change) = self.editor.edit();
                self.told.push(format!("edit {path}: {:?}", self.editor.texts[&path]));
                project.change(&path, self.version, vec![change]);
            }
            _ => {}
        }
    }
}

fn write_or_remove(path: &Utf8Path, text: Option<&str>) {
    match text {
        Some(text) => {
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        None => {
            let _ = fs::remove_file(path);
        }
    }
}

#[test]
fn any_sequence_of_opened_saved_closed_and_changed_files_leads_to_what_a_fresh_session_finds() {
    let folder = tempfile::tempdir().unwrap();
    let root = Utf8Path::from_path(folder.path()).unwrap();
    for seed in 0..sequences() {
        let mut events = Events::new(root, seed);
        let encoding = events.editor.encoding;
        let mut project = opened(root, &Texts::new(), encoding);
        let mut known = BTreeMap::new();
        for _ in 0..EVENTS {
            events.happen(&mut project);
            if events.editor.below(2) == 0 {
                events.told.push("load".to_owned());
                diagnostics(&mut project, &mut known);
            }
        }
        diagnostics(&mut project, &mut known);
        let mut fresh = opened(root, &events.editor.texts, encoding);
        let mut expected = BTreeMap::new();
        diagnostics(&mut fresh, &mut expected);
        assert_eq!(known, expected, "seed {seed}: {:#?}", events.told);
        if events.editor.texts.is_empty() {
            continue;
        }
        let path = events.editor.document();
        let place = events.editor.place(&path);
        let (found, expected) =
            (answers(&project, &path, place, None), answers(&fresh, &path, place, None));
        assert_eq!(found, expected, "seed {seed}: {path}: {:#?}", events.told);
    }
}

/// A file that no pattern could match before, because it is not saved yet.
#[test]
fn a_duplicate_in_an_unsaved_file_is_found_whenever_the_file_is_opened() {
    let folder = tempfile::tempdir().unwrap();
    let root = Utf8Path::from_path(folder.path()).unwrap();
    let _ = Events::new(root, 0);
    let mut project = opened(root, &Texts::new(), PositionEncoding::Utf16);
    let mut known = BTreeMap::new();
    diagnostics(&mut project, &mut known);
    let path = root.join("sub/y.yaml");
    let text = "- {id: x, criteria: c, input: i}\n".to_owned();
    project.open(path.clone(), Document::new(uri_of(&path), 1, text));
    diagnostics(&mut project, &mut known);
    let codes = |known: &BTreeMap<String, Vec<Diagnostic>>| known[uri_of(&path).as_ref()].len();
    assert_eq!(codes(&known), 1);
    project.close(&path);
    diagnostics(&mut project, &mut known);
    assert!(known.is_empty(), "{known:?}");
}

/// An indented list is one of tests only because a suite imports it.
#[test]
fn a_file_that_is_no_longer_imported_is_looked_at_anew() {
    let folder = tempfile::tempdir().unwrap();
    let root = Utf8Path::from_path(folder.path()).unwrap();
    let mut texts = write_files(root);
    let (suite, cases) = (root.join("EVAL.yaml"), root.join("cases.yaml"));
    texts.insert(cases.clone(), "  - {id: b, criteria: c, input: i}\n".to_owned());
    let mut project = opened(root, &texts, PositionEncoding::Utf16);
    while project.work() {}
    assert_eq!(survey(&project, &cases).tests.len(), 1);
    let text = SUITE.replace("  - cases.yaml\n", "");
    let whole = Change::TextDocumentContentChangeWholeDocument(Whole { text });
    project.change(&suite, 2, vec![whole]);
    while project.work() {}
    assert_eq!(survey(&project, &cases), Survey::default());
}
