//! Suites, and what is made of them: a small repository around the given file.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::sync::Arc;

use camino::Utf8Path;
use evalrig_core::diagnostic::{Diagnostic, Diagnostics, Family, Fix, Severity};
use evalrig_core::export::{self, TranspileOptions};
use evalrig_core::model::{JsonStyle, Suite};
use evalrig_core::read::{CollectTests, Findings, LoadRequest, load};
use evalrig_core::reader::{ReadPolicy, World};
use evalrig_core::secrets::Secrets;
use evalrig_core::source::{Files, MemoryFiles, Reach, Sources, Span, Variables};
use evalrig_core::syntax::{EmitStyle, Node, decode, edit, json_value, parse_yaml, to_yaml};

/// A file can be full of faults; the first ones are as good as the last.
const MOST_FIXES: usize = 20;

/// What came of loading one file.
#[derive(Debug)]
struct Examined {
    suite: Option<Suite>,
    sources: Sources,
    diagnostics: Vec<Diagnostic>,
    is_blocked: bool,
}

/// A repository with files to import, attach and prompt with.
fn repository() -> MemoryFiles {
    MemoryFiles::new()
        .with("/p/.git/HEAD", "ref: refs/heads/main\n")
        .with("/p/a.md", "An attached text.\n")
        .with("/p/prompt.md", "Grade {{ answer }} by {{ criteria }}.\n")
        .with("/p/judge.py", "print('{}')\n")
        .with("/p/x.yaml", "- {id: x1, criteria: c, input: i}\n")
        .with("/p/s.yaml", "name: s\ntests:\n  - {id: s1, criteria: c, input: i}\n  - EVAL.yaml\n")
        .with("/p/l.jsonl", "{\"id\": \"l1\", \"criteria\": \"c\", \"input\": \"i\"}\n")
        .with("/p/.env", "KEY=value\n")
}

/// A YAML suite, and the tree below it.
pub(super) fn yaml(bytes: &[u8]) {
    if let Ok((text, offset)) = decode(bytes.to_vec()) {
        let (mut sources, mut out) = (Sources::new(), Diagnostics::new());
        let source = sources.add_file("/p/EVAL.yaml".into(), text.clone(), offset);
        match parse_yaml(source, Arc::new(text), &mut out) {
            Some(tree) => check_tree(tree.root()),
            None => assert!(!out.is_empty(), "gave up without a reason"),
        }
    }
    examine(&repository().with("/p/EVAL.yaml", bytes), "/p/EVAL.yaml");
}

/// A JSONL suite, alone and with a sidecar.
pub(super) fn jsonl(bytes: &[u8]) {
    let alone = repository().with("/p/d.jsonl", bytes);
    examine(&alone, "/p/d.jsonl");
    let sidecar = "name: d\nassert:\n  - {type: contains, value: x}\ninput: Be brief.\n";
    examine(&alone.with("/p/d.yaml", sidecar), "/p/d.jsonl");
}

/// An `evals.json`, and the suite that it is converted to.
pub(super) fn evals_json(bytes: &[u8]) {
    let path = "/p/skill/evals/evals.json";
    let files = repository()
        .with("/p/skill/SKILL.md", "---\nname: skill\n---\n")
        .with("/p/skill/evals/files/a.txt", "a\n")
        .with(path, bytes);
    let examined = examine(&files, path);
    if let (Some(suite), false) = (&examined.suite, examined.is_blocked) {
        let context =
            export::Context { files: &files, sources: &examined.sources, root: "/p".into() };
        let text =
            export::converted_yaml(suite, &context, "/p".into(), "evals.json", &Default::default());
        assert!(decode(text.into_bytes()).is_ok());
    }
}

/// A YAML suite that is shown and transpiled. What is shown can be read again.
pub(super) fn export(bytes: &[u8]) {
    let files = repository().with("/p/EVAL.yaml", bytes);
    let examined = examine(&files, "/p/EVAL.yaml");
    let (Some(suite), false) = (&examined.suite, examined.is_blocked) else {
        return;
    };
    let context = export::Context { files: &files, sources: &examined.sources, root: "/p".into() };
    let json = export::suite_value(suite, &context).to_json(JsonStyle::Pretty);
    assert!(json_value(&json).is_some(), "{json}");
    let document = export::suite_document(suite, &context, "/p".into());
    let yaml = to_yaml(&document, &EmitStyle::default());
    let again = examine(&files.with("/p/EVAL.yaml", yaml.as_bytes()), "/p/EVAL.yaml");
    assert!(again.suite.is_some(), "{:?}\n{yaml}", again.diagnostics);
    let options = TranspileOptions::new("/p".into(), "/p".into());
    let done = export::transpile(suite, &examined.sources, &Secrets::default(), &options);
    for file in &done.files {
        assert!(json_value(&file.text).is_some(), "{}", file.text);
    }
}

/// A `.env` file, and a suite that asks for its variables.
pub(super) fn env(bytes: &[u8]) {
    let suite =
        "name: s\ntests:\n  - {id: a, criteria: \"${{ KEY }} ${{ A }}\", input: \"${{ B }}\"}\n";
    examine(&repository().with("/p/.env", bytes).with("/p/EVAL.yaml", suite), "/p/EVAL.yaml");
}

/// Every fix of a YAML suite, made alone, leaves a file that can still be read. The fix of a warning
/// brings no error of a kind that the file did not have before; behind an error that is repaired
/// another one may come to light. Of a key that is there twice only one is renamed, so such files are
/// left out.
pub(super) fn fix(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else {
        return;
    };
    let files = repository().with("/p/EVAL.yaml", text);
    let before = examine(&files, "/p/EVAL.yaml");
    let known = errors(&before.diagnostics);
    if known.contains("duplicate-key") {
        return;
    }
    let fixable = before.diagnostics.iter().filter_map(|one| Some((one, one.fix.as_ref()?)));
    for (faulty, fix) in fixable.take(MOST_FIXES) {
        let after = examine(&fixed(&files, &before.sources, fix), "/p/EVAL.yaml");
        for one in &after.diagnostics {
            let is_new = one.level.severity() == Severity::Error && !known.contains(one.code.name);
            let is_harm = faulty.level.severity() < Severity::Error
                || matches!(one.code.family, Family::Syntax);
            assert!(
                !(is_new && is_harm),
                "`{}` ({:?}) brought {}: {}",
                fix.title,
                fix.edits,
                one.code.name,
                one.message
            );
        }
    }
}

fn errors(diagnostics: &[Diagnostic]) -> BTreeSet<&'static str> {
    let errors = diagnostics.iter().filter(|one| one.level.severity() == Severity::Error);
    errors.map(|one| one.code.name).collect()
}

fn fixed(files: &MemoryFiles, sources: &Sources, fix: &Fix) -> MemoryFiles {
    let mut edits: BTreeMap<_, Vec<(Range<usize>, &str)>> = BTreeMap::new();
    for edit in &fix.edits {
        let source = sources.get(edit.span.source);
        let base = source.offset() as usize;
        let range = base + edit.span.start as usize..base + edit.span.end as usize;
        edits.entry(source.path()).or_default().push((range, edit.text.as_str()));
    }
    let mut fixed = files.clone();
    for (path, edits) in edits {
        let before = files.read(path, Reach::Anywhere, u64::MAX).expect("a file that was read");
        let before = String::from_utf8(before).expect("a file that was decoded");
        let after = edit::apply(&before, &edits).expect("edits of one fix do not overlap");
        fixed.insert(path.to_owned(), after.into_bytes());
    }
    fixed
}

/// Loads a file of a repository and checks every place that is reported.
fn examine(files: &MemoryFiles, path: &str) -> Examined {
    let environment = Variables::default().with("SECRET", "hidden-value");
    let limits = ReadPolicy::default();
    let root = Utf8Path::new("/p");
    let world = World { files, environment: &environment, working_directory: root };
    let request = LoadRequest::new(world, &limits, Utf8Path::new(path), root);
    let mut tests = CollectTests::default();
    let loaded = load(&request, Findings::new(), &mut tests);
    let header = loaded.header().cloned();
    let findings = loaded.into_findings();
    let is_blocked = findings.is_blocked();
    let (sources, diagnostics, _) = findings.into_parts();
    for one in &diagnostics {
        check_diagnostic(&sources, one);
    }
    let suite = header.map(|header| header.with_tests(tests.0));
    Examined { suite, sources, diagnostics, is_blocked }
}

fn check_diagnostic(sources: &Sources, one: &Diagnostic) {
    check_span(sources, one.span);
    for related in &one.related {
        check_span(sources, related.span);
    }
    for edit in one.fix.iter().flat_map(|fix| &fix.edits) {
        check_span(sources, edit.span);
    }
}

fn check_span(sources: &Sources, span: Span) {
    check_range(sources.get(span.source).text(), span);
    // Must not panic either.
    let _ = (sources.position(span), sources.end_position(span));
}

fn check_range(text: &str, span: Span) {
    let range = span.start as usize..span.end as usize;
    assert!(text.get(range).is_some(), "{span:?} is not inside the text");
}

/// Every node of a tree has a place inside the text and inside its parent.
fn check_tree(root: Node<'_>) {
    let mut open = vec![root];
    while let Some(node) = open.pop() {
        check_range(node.tree_text(), node.span());
        let _ = (node.scalar(), node.source_text(), node.is_null());
        if node.is_alias() {
            continue;
        }
        let children: Vec<Node<'_>> = match (node.is_mapping(), node.is_sequence()) {
            (true, _) => node.written_entries().flat_map(|(k, v)| [k, v]).collect(),
            (_, true) => node.items().collect(),
            _ => Vec::new(),
        };
        for child in &children {
            let (inner, outer) = (child.span(), node.span());
            assert!(
                inner.start >= outer.start && inner.end <= outer.end,
                "{inner:?} is not within {outer:?}"
            );
        }
        open.extend(children);
    }
}
