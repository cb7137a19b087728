//! What the fuzz targets share: a small repository around the fuzzed file, and what must hold for
//! everything that is reported about it.

use camino::Utf8Path;
use evalrig_core::reader::{ReadPolicy, World};
use evalrig_core::diagnostic::Diagnostic;
use evalrig_core::read::{CollectTests, Findings, LoadRequest, load};
use evalrig_core::source::{MemoryFiles, Sources, Span, Variables};
use evalrig_core::syntax::Node;

/// The result of loading one file.
#[derive(Debug)]
pub struct Outcome {
    pub sources: Sources,
    pub diagnostics: Vec<Diagnostic>,
}

/// A repository with files to import, attach and prompt with.
pub fn repository() -> MemoryFiles {
    MemoryFiles::new()
        .with("/p/.git/HEAD", "ref: refs/heads/main\n")
        .with("/p/a.md", "An attached text.\n")
        .with("/p/prompt.md", "Grade {{ answer }} by {{ criteria }}.\n")
        .with("/p/judge.py", "print('{}')\n")
        .with("/p/x.yaml", "- {id: x1, criteria: c, input: i}\n")
        .with(
            "/p/s.yaml",
            "name: s\ntests:\n  - {id: s1, criteria: c, input: i}\n  - EVAL.yaml\n",
        )
        .with(
            "/p/l.jsonl",
            "{\"id\": \"l1\", \"criteria\": \"c\", \"input\": \"i\"}\n",
        )
        .with("/p/.env", "KEY=value\n")
}

/// Loads a file of a repository and checks every place that is reported.
pub fn check(files: &MemoryFiles, path: &str) -> Outcome {
    let environment = Variables::default().with("SECRET", "hidden-value");
    let limits = ReadPolicy::default();
    let root = Utf8Path::new("/p");
    let world = World {
        files,
        environment: &environment,
        working_directory: root,
    };
    let request = LoadRequest::new(world, &limits, Utf8Path::new(path), root);
    let loaded = load(&request, Findings::new(), &mut CollectTests::default());
    let (sources, diagnostics, _) = loaded.into_findings().into_parts();
    for one in &diagnostics {
        check_diagnostic(&sources, one);
    }
    Outcome {
        sources,
        diagnostics,
    }
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
pub fn check_tree(root: Node<'_>) {
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
