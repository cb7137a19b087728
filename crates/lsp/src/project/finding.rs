//! A diagnostic at its place in the editor, with the edits of its fix.

use std::collections::HashMap;

use camino::{Utf8Path, Utf8PathBuf};
use evalrig_core::diagnostic::{self, Family, Severity};
use evalrig_core::read::Findings;
use evalrig_core::source::{SourceId, Sources, Span};
use evalrig_run::text::{paragraph, single_line};
use lsp_types::{
    CodeDescription, Diagnostic, DiagnosticRelatedInformation, DiagnosticSeverity, DiagnosticTag,
    Location, Range, TextEdit,
};

use crate::text::{LineMap, PositionEncoding, uri_of};

/// Where the doc of every diagnostic can be read.
const REFERENCE: &str =
    "https://github.com/evalrig/evalrig/blob/main/docs/reference/diagnostics.md";

/// A fix, as edits of files.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct FoundFix {
    pub(crate) title: String,
    /// Whether no other repair is possible.
    pub(crate) is_certain: bool,
    pub(crate) edits: Vec<(Utf8PathBuf, TextEdit)>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Finding {
    pub(crate) path: Utf8PathBuf,
    pub(crate) diagnostic: Diagnostic,
    pub(crate) fix: Option<FoundFix>,
}

/// Spans → positions. The lines of a source are found once.
#[derive(Debug)]
pub(crate) struct PlaceFinder<'s> {
    sources: &'s Sources,
    encoding: PositionEncoding,
    lines: HashMap<SourceId, LineMap>,
}

impl<'s> PlaceFinder<'s> {
    pub(crate) fn new(sources: &'s Sources, encoding: PositionEncoding) -> Self {
        Self { sources, encoding, lines: HashMap::new() }
    }

    pub(crate) fn path(&self, span: Span) -> &'s Utf8Path {
        self.sources.get(span.source).path()
    }

    pub(crate) fn range(&mut self, span: Span) -> Range {
        let source = self.sources.get(span.source);
        let lines = self.lines.entry(span.source).or_insert_with(|| LineMap::new(source.text()));
        let at = |offset: u32| {
            let mut position = lines.position(source.text(), offset as usize, self.encoding);
            position.line += source.first_line() - 1;
            position
        };
        Range { start: at(span.start), end: at(span.end) }
    }

    fn location(&mut self, span: Span) -> Location {
        Location { uri: uri_of(self.path(span)), range: self.range(span) }
    }
}

impl Finding {
    pub(crate) fn all(findings: &Findings, encoding: PositionEncoding) -> Vec<Self> {
        let mut places = PlaceFinder::new(findings.sources(), encoding);
        let redact = |text: &str| findings.secrets().redact(text).to_string();
        let kept = findings.diagnostics().iter();
        kept.map(|one| Self::of(one, &mut places, &redact)).collect()
    }

    fn of(
        one: &diagnostic::Diagnostic,
        places: &mut PlaceFinder<'_>,
        redact: &dyn Fn(&str) -> String,
    ) -> Self {
        let related = one.related.iter().map(|related| DiagnosticRelatedInformation {
            location: places.location(related.span),
            message: single_line(&redact(&related.message)),
        });
        let related: Vec<_> = related.collect();
        let message = match &one.help {
            Some(help) => format!("{}\nhelp: {help}", one.message),
            None => one.message.clone(),
        };
        let fix = one.fix.as_ref().or(one.suggestion.as_deref()).map(|fix| FoundFix {
            title: single_line(&redact(&fix.title)),
            is_certain: one.fix.is_some(),
            edits: fix
                .edits
                .iter()
                .map(|edit| {
                    let (range, new_text) = (places.range(edit.span), edit.text.clone());
                    (places.path(edit.span).to_owned(), TextEdit { range, new_text })
                })
                .collect(),
        });
        let diagnostic = Diagnostic {
            range: places.range(one.span),
            severity: Some(severity(one.level.severity())),
            code: Some(one.code.name.into()),
            code_description: Some(CodeDescription {
                href: format!("{REFERENCE}#{}", one.code.name).into(),
            }),
            source: Some("evalrig".to_owned()),
            message: paragraph(&redact(&message)).into_owned().into(),
            tags: (one.code.family == Family::Deprecated).then(|| vec![DiagnosticTag::Deprecated]),
            related_information: (!related.is_empty()).then_some(related),
            data: None,
        };
        Self { path: places.path(one.span).to_owned(), diagnostic, fix }
    }
}

fn severity(severity: Severity) -> DiagnosticSeverity {
    match severity {
        Severity::Error => DiagnosticSeverity::Error,
        Severity::Warning => DiagnosticSeverity::Warning,
        Severity::Note => DiagnosticSeverity::Information,
    }
}
