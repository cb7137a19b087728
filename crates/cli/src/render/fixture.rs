//! Small findings for the tests of this folder. Files are in `/work`.

use camino::Utf8Path;
use evalrig_core::diagnostic::{Code, Diagnostic, Family, Fix, Level, Severity};
use evalrig_core::secrets::Secrets;
use evalrig_core::source::{Position, SourceId, Sources, Span};

use super::{Findings, Render};

pub static DUPLICATE: Code = Code {
    name: "duplicate-id",
    level: Level::Blocking,
    family: Family::Shape,
    doc: "Two tests of a suite have\nthe same id. Ids name results.\n\n## Example\n",
};

pub static BROKEN: Code =
    Code { name: "broken", level: Level::Warning, family: Family::Syntax, doc: "" };

pub static REMARK: Code =
    Code { name: "remark", level: Level::Note, family: Family::Conformance, doc: "" };

#[derive(Debug, Default)]
pub struct Fixture {
    pub sources: Sources,
    pub secrets: Secrets,
    pub diagnostics: Vec<Diagnostic>,
    pub dropped: usize,
}

impl Fixture {
    pub fn new() -> Self {
        Self::default()
    }

    pub fn file(&mut self, path: &str, text: &str) -> SourceId {
        let path = Utf8Path::new("/work").join(path);
        self.sources.add_file(path, text.to_owned(), 0)
    }

    pub fn excerpt(&mut self, path: &str, text: &str, first: Position, offset: u64) -> SourceId {
        let path = Utf8Path::new("/work").join(path);
        self.sources.add_excerpt(path.into(), text, first, offset)
    }

    /// The span of the n-th occurrence of a text, counted from 0.
    pub fn find(&self, source: SourceId, needle: &str, nth: usize) -> Span {
        let text = self.sources.get(source).text();
        let (at, _) = text.match_indices(needle).nth(nth).unwrap();
        Span::new(source, at as u32, (at + needle.len()) as u32)
    }

    pub fn report(&mut self, diagnostic: Diagnostic) {
        self.diagnostics.push(diagnostic);
    }

    pub fn with<T>(&self, look: impl FnOnce(&Findings) -> T) -> T {
        let of = |severity| {
            let found = self.diagnostics.iter();
            found.filter(|d| d.level.severity() == severity).count()
        };
        look(&Findings {
            sources: &self.sources,
            diagnostics: &self.diagnostics,
            errors: of(Severity::Error),
            warnings: of(Severity::Warning),
            dropped: self.dropped,
            files: 2,
            tests: 14,
            working_directory: Utf8Path::new("/work"),
            secrets: &self.secrets,
        })
    }

    pub fn show(&self, renderer: &dyn Render) -> String {
        let mut out = Vec::new();
        self.with(|findings| renderer.render(findings, &mut out)).unwrap();
        String::from_utf8(out).unwrap()
    }
}

/// The documented example: an id used twice, with help, a related place and a fix.
pub fn duplicate() -> Fixture {
    let mut fixture = Fixture::new();
    let text = "name: demo\ntests:\n  - id: a\n    input: Hi\n  - id: a\n    input: Ho\n";
    let file = fixture.file("evals/EVAL.yaml", text);
    let first = fixture.find(file, "id: a", 0);
    let second = fixture.find(file, "id: a", 1);
    let value = |span: Span| Span::new(file, span.start + 4, span.end);
    fixture.report(
        Diagnostic::new(&DUPLICATE, value(second), "test id `a` is used twice")
            .label("used again here")
            .related(value(first), "first used here")
            .help("give one of them another id")
            .fix(Fix::replace("rename it to `b`", value(second), "b")),
    );
    fixture
}
