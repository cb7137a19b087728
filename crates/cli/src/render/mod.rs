//! What `validate` found, shown in one of several formats. The centre holds only their list.

mod concise;
#[cfg(test)]
mod fixture;
mod full;
mod github;
mod json;
pub mod patch;
mod sarif;
mod summary;
mod window;

use std::borrow::Cow;
use std::io;

use camino::Utf8Path;
use evalrig_core::diagnostic::{Diagnostic, Fix};
use evalrig_core::secrets::Secrets;
use evalrig_core::source::{Sources, Span};
use evalrig_run::text::{self, OutputStyle};

pub use concise::Concise;
pub use full::Full;
pub use github::Github;
pub use json::Json;
pub use sarif::Sarif;

/// What `validate` found, ready to be shown.
#[derive(Debug)]
pub struct Findings<'a> {
    pub sources: &'a Sources,
    /// Filtered (notes only with `--verbose`) and sorted.
    pub diagnostics: &'a [Diagnostic],
    /// Totals; they count what was dropped too.
    pub errors: usize,
    pub warnings: usize,
    /// Counted, but not kept.
    pub dropped: usize,
    pub files: usize,
    pub tests: usize,
    pub working_directory: &'a Utf8Path,
    pub secrets: &'a Secrets,
}

pub trait Render {
    fn render(&self, findings: &Findings, out: &mut dyn io::Write) -> io::Result<()>;
}

pub type Make = fn(OutputStyle) -> Box<dyn Render>;

/// Every format by its name, the default first.
pub const FORMATS: &[(&str, Make)] = &[
    ("full", |look| Box::new(Full { color: look.color, width: look.width })),
    ("concise", |_| Box::new(Concise)),
    ("json", |_| Box::new(Json)),
    ("github", |_| Box::new(Github)),
    ("sarif", |_| Box::new(Sarif)),
];

/// For the command line.
pub fn format_names() -> Vec<&'static str> {
    FORMATS.iter().map(|(name, _)| *name).collect()
}

pub fn format_named(name: &str, look: OutputStyle) -> Option<Box<dyn Render>> {
    let (_, make) = FORMATS.iter().find(|(known, _)| *known == name)?;
    Some(make(look))
}

/// By file, line, column and name; what is equal stays in the order of its report.
pub fn sort(diagnostics: &mut [Diagnostic], sources: &Sources) {
    diagnostics.sort_by_cached_key(|diagnostic| {
        let path = sources.get(diagnostic.span.source).path().as_str();
        (path, sources.position(diagnostic.span), diagnostic.code.name)
    });
}

impl Findings<'_> {
    fn redact<'t>(&self, text: &'t str) -> Cow<'t, str> {
        if self.secrets.is_empty() {
            return Cow::Borrowed(text);
        }
        Cow::Owned(self.secrets.redact(text))
    }

    /// The file of a span as it is shown: relative below the working directory.
    fn path_of(&self, span: Span) -> String {
        let path = self.sources.get(span.source).path();
        self.redact(&text::shown_path(path, self.working_directory)).into_owned()
    }

    /// The message, and the help on a line of its own: for formats that have one text only.
    fn message_with_help(&self, diagnostic: &Diagnostic) -> String {
        let text = match &diagnostic.help {
            Some(help) => format!("{}\nhelp: {help}", diagnostic.message),
            None => diagnostic.message.clone(),
        };
        text::paragraph(&self.redact(&text)).into_owned()
    }

    /// A fix that would write a blotted-out secret into the file must not be offered.
    fn fix_without_secrets<'d>(&self, diagnostic: &'d Diagnostic) -> Option<&'d Fix> {
        let fix = diagnostic.fix.as_ref()?;
        let clean = |text: &str| self.redact(text) == text;
        fix.edits.iter().all(|edit| clean(&edit.text)).then_some(fix)
    }
}

#[cfg(test)]
mod tests {
    use super::fixture::{BROKEN, DUPLICATE, Fixture};
    use super::*;

    #[test]
    fn every_format_is_found_by_its_name() {
        for (name, _) in FORMATS {
            assert!(format_named(name, OutputStyle::default()).is_some(), "{name}");
        }
        assert!(format_named("xml", OutputStyle::default()).is_none());
    }

    #[test]
    fn every_file_of_a_format_is_in_the_list() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/src/render");
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let text = std::fs::read_to_string(&path).unwrap();
            let name = path.file_stem().unwrap().to_str().unwrap();
            if text.contains("\nimpl Render for ") {
                assert!(FORMATS.iter().any(|(known, _)| *known == name), "{name}");
            }
        }
    }

    #[test]
    fn diagnostics_are_sorted_by_file_line_column_and_name() {
        let mut fixture = Fixture::new();
        let b = fixture.file("b.yaml", "x y\nz\n");
        let a = fixture.file("a.yaml", "x\n");
        for (code, source, at) in [
            (&DUPLICATE, b, 4),
            (&DUPLICATE, b, 2),
            (&DUPLICATE, b, 0),
            (&BROKEN, b, 0),
            (&DUPLICATE, a, 0),
        ] {
            let span = Span::new(source, at, at + 1);
            fixture.report(Diagnostic::new(code, span, "m"));
        }
        sort(&mut fixture.diagnostics, &fixture.sources);
        let order: Vec<_> = fixture
            .diagnostics
            .iter()
            .map(|d| (d.span.source, d.span.start, d.code.name))
            .collect();
        let expected = [
            (a, 0, "duplicate-id"),
            (b, 0, "broken"),
            (b, 0, "duplicate-id"),
            (b, 2, "duplicate-id"),
            (b, 4, "duplicate-id"),
        ];
        assert_eq!(order, expected);
    }

    #[test]
    fn paths_outside_the_working_directory_stay_absolute() {
        let mut fixture = Fixture::new();
        let inside = fixture.file("evals/EVAL.yaml", "");
        let outside = fixture.sources.add_file("/worker/x.yaml".into(), String::new(), 0);
        fixture.with(|findings| {
            assert_eq!(findings.path_of(Span::new(inside, 0, 0)), "evals/EVAL.yaml");
            assert_eq!(findings.path_of(Span::new(outside, 0, 0)), "/worker/x.yaml");
        });
    }
}
