//! Reads assert lists from snippets, for the unit tests of this room.

use std::sync::Arc;

use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::model::Assertion;
use crate::reader::{Limits, Reader, World};
use crate::source::{MemoryFiles, Sources, Variables};
use crate::syntax::parse_yaml;

use super::read::read_list;

/// The assertions of a list, and the names of what was reported. One faulty entry leaves none.
pub(crate) fn read(yaml: &str) -> (Vec<Arc<Assertion>>, Vec<&'static str>) {
    read_with(MemoryFiles::new(), yaml)
}

/// As [`read`], with files; the suite lies in `/p`, which is the root too.
pub(crate) fn read_with(
    files: MemoryFiles,
    yaml: &str,
) -> (Vec<Arc<Assertion>>, Vec<&'static str>) {
    let (assertions, faults) = diagnose(files, &Limits::default(), yaml);
    let names = faults.iter().map(|fault| fault.code.name).collect();
    (assertions, names)
}

/// As [`read_with`], with everything that was reported.
pub(crate) fn diagnose(
    files: MemoryFiles,
    limits: &Limits,
    yaml: &str,
) -> (Vec<Arc<Assertion>>, Vec<Diagnostic>) {
    let (mut sources, mut out) = (Sources::new(), Diagnostics::new());
    let source = sources.add_file("/p/EVAL.yaml".into(), yaml.to_owned(), 0);
    let text = sources.get(source).shared_text();
    let tree = parse_yaml(source, text, &mut out).expect("the snippet is YAML");
    let environment = Variables::default();
    let world = World {
        files: &files,
        environment: &environment,
        working_directory: "/p".into(),
    };
    let directory = camino::Utf8PathBuf::from("/p");
    let mut reader = Reader::new(
        world,
        &mut sources,
        &mut out,
        limits,
        directory.clone(),
        directory,
    );
    let assertions = read_list(&mut reader, "assert", tree.root(), 0).unwrap_or_default();
    (assertions, out.into_vec())
}

/// The text that a fault points at.
pub(crate) fn marked<'y>(yaml: &'y str, fault: &Diagnostic) -> &'y str {
    &yaml[fault.span.start as usize..fault.span.end as usize]
}
