//! Targets files in memory, for the tests of this folder.

use camino::Utf8Path;
use evalrig_core::diagnostic::{Diagnostic, Diagnostics};
use evalrig_core::reader::World;
use evalrig_core::source::{MemoryFiles, Reach, Sources, Variables};

use super::file::{Targets, read_targets};

/// The result of reading a file.
#[derive(Debug)]
pub(crate) struct Outcome {
    pub(crate) targets: Option<Targets>,
    pub(crate) sources: Sources,
    pub(crate) out: Vec<Diagnostic>,
}

impl Outcome {
    pub(crate) fn names(&self) -> Vec<&'static str> {
        self.out.iter().map(|found| found.code.name).collect()
    }

    pub(crate) fn messages(&self) -> Vec<String> {
        self.out.iter().map(|found| found.message.clone()).collect()
    }
}

pub(crate) fn read(text: &str) -> Outcome {
    read_bytes(text.as_bytes())
}

pub(crate) fn read_bytes(bytes: &[u8]) -> Outcome {
    let path = Utf8Path::new("/p/.evalrig/targets.yaml");
    let files = MemoryFiles::new().with(path.as_str(), bytes);
    let environment = Variables::default();
    let world = World { files: &files, environment: &environment, working_directory: "/p".into() };
    let (mut sources, mut out) = (Sources::new(), Diagnostics::new());
    let targets = read_targets(world, &mut sources, &mut out, path, "/p".into(), Reach::Anywhere);
    Outcome { targets, sources, out: out.into_vec() }
}

/// The settings of the only target in a file that must be clean, as their own type.
pub(crate) fn settings<T: Clone + 'static>(options: &str) -> T {
    let read = read(&format!("targets: [{{name: a, {options}}}]\n"));
    assert_eq!(read.messages(), Vec::<String>::new());
    let targets = read.targets.unwrap();
    let settings: &dyn std::any::Any = &*targets.get("a").unwrap().settings;
    settings.downcast_ref::<T>().unwrap().clone()
}

/// The messages about the options of a single target.
pub(crate) fn faults(options: &str) -> Vec<String> {
    read(&format!("targets: [{{name: a, {options}}}]\n")).messages()
}

/// The YAML blocks of a Markdown text.
pub(crate) fn fences(markdown: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut lines = markdown.lines();
    while let Some(line) = lines.next() {
        if line.starts_with("```yaml") {
            let body: Vec<_> = lines.by_ref().take_while(|line| *line != "```").collect();
            found.push(body.join("\n") + "\n");
        }
    }
    found
}
