//! Hover: the docs of fields, assertion types, providers and diagnostics, as `evalrig explain` has
//! them, and the last results of a test.

use evalrig_core::diagnostic::{Code, Doc};
use evalrig_core::syntax::fields::Field;
use evalrig_run::topic::{Topic, every_code, field_text};
use lsp_types::{self as lsp, Contents, Hover, MarkupContent, MarkupKind};

use crate::last_run::LastRun;
use crate::outline::{MappingKind, Mark, MarkKind, Visit, assertion_kind, provider_kind};

use super::spot::Spot;

pub(crate) fn hover(spot: &Spot<'_>, run: Option<&LastRun>) -> Option<Hover> {
    let mut parts = Vec::new();
    let mut range = None;
    let survey = spot.survey();
    if let Some(mark) = survey.mark_at(spot.offset)
        && let Some(text) = about_name(spot, mark, run)
    {
        parts.push(text);
        range = Some(spot.range(&mark.place));
    } else if let Some((text, place)) = about_key(spot) {
        parts.push(text);
        range = Some(place);
    }
    parts.extend(diagnostics_at(spot).into_iter().map(about_code));
    if parts.is_empty() {
        return None;
    }
    let value = parts.join("\n\n---\n\n");
    let contents = Contents::MarkupContent(MarkupContent { kind: MarkupKind::Markdown, value });
    Some(Hover { contents, range })
}

fn about_name(spot: &Spot<'_>, mark: &Mark, run: Option<&LastRun>) -> Option<String> {
    match mark.kind {
        MarkKind::AssertionType => {
            assertion_kind(&mark.name).map(|kind| Topic::Assertion(kind).page())
        }
        MarkKind::Provider => provider_kind(&mark.name).map(|kind| Topic::Provider(kind).page()),
        MarkKind::TestId => {
            let result = run?.tests.get(&mark.name)?;
            Some(format!("last run: {}", result.text()))
        }
        MarkKind::TargetUse => {
            let file = spot.targets_file()?;
            let shown = file.strip_prefix(spot.root()).unwrap_or(file).to_owned();
            Some(format!("a target of `{shown}`"))
        }
        MarkKind::TargetName | MarkKind::Skill | MarkKind::Tag => None,
    }
}

/// The key at the cursor and its doc.
fn about_key(spot: &Spot<'_>) -> Option<(String, lsp::Range)> {
    let mut found = None;
    spot.parsed().visit(&mut |place, start| {
        if let Visit::Entry { key, field: Some(field), tables, .. } = place {
            let span = key.span();
            let bytes = start + span.start as usize..start + span.end as usize;
            if bytes.start <= spot.offset && spot.offset <= bytes.end && !key.is_alias() {
                found = Some((about_field(field, tables.kind), spot.range(&bytes)));
            }
        }
    });
    found
}

/// Also the documentation of the field in completions.
pub(super) fn about_field(field: &Field, inside: MappingKind) -> String {
    let of = match inside {
        MappingKind::Assertion(Some(kind)) => format!(" of `{}`", kind.name),
        MappingKind::Target(Some(provider)) => format!(" of provider `{}`", provider.name),
        _ => String::new(),
    };
    let required = if field.required { ", required" } else { "" };
    format!("**`{}`**{of}{required}\n\n{}", field.name, field_text(field))
}

/// The codes of the diagnostics at the cursor, each once.
fn diagnostics_at(spot: &Spot<'_>) -> Vec<&'static Code> {
    let at = spot.range(&(spot.offset..spot.offset)).start;
    let order = |position: lsp::Position| (position.line, position.character);
    let findings = spot.project.readers_of(&spot.path).flat_map(|analysis| &analysis.findings);
    let here = findings.filter(|one| {
        let range = one.diagnostic.range;
        one.path == spot.path && order(range.start) <= order(at) && order(at) <= order(range.end)
    });
    let names: Vec<String> = here
        .filter_map(|one| match &one.diagnostic.code {
            Some(lsp::Code::String(name)) => Some(name.clone()),
            _ => None,
        })
        .collect();
    every_code().into_iter().filter(|code| names.iter().any(|name| name == code.name)).collect()
}

fn about_code(code: &'static Code) -> String {
    match Doc::parse(code.doc) {
        Some(doc) => format!("**`{}`**\n\n{}\n\n{}", code.name, doc.what, doc.why),
        None => format!("**`{}`**", code.name),
    }
}
