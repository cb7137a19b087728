//! Arbitrary YAML: every fix that is offered, made alone, leaves a file that can still be read. The
//! fix of a warning brings no error of a kind that the file did not have before; behind an error
//! that is repaired another one may come to light.
#![no_main]

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use evalrig_core::diagnostic::{Diagnostic, Family, Fix, Severity};
use evalrig_core::source::{Files, MemoryFiles, Sources};
use evalrig_core::syntax::edit;
use evalrig_fuzz::{check, repository};
use libfuzzer_sys::fuzz_target;

/// A file can be full of faults; the first ones are as good as the last.
const MOST_FIXES: usize = 20;

fuzz_target!(|text: &str| {
    let files = repository().with("/p/EVAL.yaml", text);
    let before = check(&files, "/p/EVAL.yaml");
    let known = errors(&before.diagnostics);
    let fixable = before
        .diagnostics
        .iter()
        .filter_map(|one| Some((one, one.fix.as_ref()?)));
    for (faulty, fix) in fixable.take(MOST_FIXES) {
        let fixed = made(&files, &before.sources, fix);
        let after = check(&fixed, "/p/EVAL.yaml");
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
});

fn errors(diagnostics: &[Diagnostic]) -> BTreeSet<&'static str> {
    diagnostics
        .iter()
        .filter(|one| one.level.severity() == Severity::Error)
        .map(|one| one.code.name)
        .collect()
}

fn made(files: &MemoryFiles, sources: &Sources, fix: &Fix) -> MemoryFiles {
    let mut edits: BTreeMap<_, Vec<(Range<usize>, &str)>> = BTreeMap::new();
    for edit in &fix.edits {
        let source = sources.get(edit.span.source);
        let base = source.offset() as usize;
        let range = base + edit.span.start as usize..base + edit.span.end as usize;
        let text = edit.text.as_str();
        edits.entry(source.path()).or_default().push((range, text));
    }
    let mut fixed = files.clone();
    for (path, edits) in edits {
        let before = files.read(path, u64::MAX).expect("a file that was read");
        let before = String::from_utf8(before).expect("a file that was decoded");
        let after = edit::apply(&before, &edits).expect("edits of one fix do not overlap");
        fixed.insert(path.to_owned(), after.into_bytes());
    }
    fixed
}
