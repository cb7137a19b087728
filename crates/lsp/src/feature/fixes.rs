//! Code actions: the fixes of diagnostics, one by one or all of them. They are those of
//! `evalrig validate --fix`, and renamings of misspelt keys, which only a person can choose.

use std::collections::HashMap;
use std::convert::Infallible;

use camino::Utf8Path;
use evalrig_core::read::DiscardTests;
use evalrig_core::repair::repair;
use evalrig_core::secrets::Secrets;
use lsp_types::{
    self as lsp, CodeAction, CodeActionContext, CodeActionKind, TextEdit, Uri, WorkspaceEdit,
};

use crate::project::{Finding, Project};
use crate::text::{LineMap, uri_of};

/// The kind of the action that applies every fix.
const FIX_ALL: &str = "source.fixAll.evalrig";

pub(crate) fn code_actions(
    project: &Project,
    path: &Utf8Path,
    range: lsp::Range,
    context: &CodeActionContext,
    secrets: &Secrets,
) -> Vec<CodeAction> {
    let wants = |kind: &str| {
        context.only.as_ref().is_none_or(|only| {
            let mut only = only.iter().map(|one| String::from(one.clone()));
            only.any(|one| one.is_empty() || kind == one || kind.starts_with(&format!("{one}.")))
        })
    };
    let mut actions: Vec<CodeAction> = Vec::new();
    if wants("quickfix") {
        let findings = project.readers_of(path).flat_map(|analysis| &analysis.findings);
        let near = findings.filter(|one| one.path == path && overlap(one.diagnostic.range, range));
        for action in near.filter_map(|finding| quick_fix(project, finding)) {
            if !actions.contains(&action) {
                actions.push(action);
            }
        }
    }
    // Repairing reads the suite several times, so it is only done when it is asked for.
    if context.only.is_some() && wants(FIX_ALL) {
        actions.extend(fix_all(project, path, secrets));
    }
    actions
}

fn overlap(a: lsp::Range, b: lsp::Range) -> bool {
    let order = |at: lsp::Position| (at.line, at.character);
    order(a.start) <= order(b.end) && order(b.start) <= order(a.end)
}

fn address(project: &Project, path: &Utf8Path) -> Uri {
    project.documents.get(path).map_or_else(|| uri_of(path), |document| document.uri.clone())
}

fn quick_fix(project: &Project, finding: &Finding) -> Option<CodeAction> {
    let fix = finding.fix.as_ref()?;
    let mut changes: HashMap<Uri, Vec<TextEdit>> = HashMap::new();
    for (path, edit) in &fix.edits {
        changes.entry(address(project, path)).or_default().push(edit.clone());
    }
    Some(CodeAction {
        title: fix.title.clone(),
        kind: Some(CodeActionKind::QuickFix),
        diagnostics: Some(vec![finding.diagnostic.clone()]),
        is_preferred: Some(fix.is_certain),
        edit: Some(WorkspaceEdit { changes: Some(changes), ..WorkspaceEdit::default() }),
        ..CodeAction::default()
    })
}

/// Every fix of the suite that the document belongs to.
fn fix_all(project: &Project, path: &Utf8Path, secrets: &Secrets) -> Option<CodeAction> {
    let main = match project.main(path) {
        Some(main) => main,
        None => &project.readers_of(path).next()?.main,
    };
    let files = project.files();
    let read = |files: &dyn evalrig_core::source::Files| {
        Ok::<_, Infallible>(main.load(files, secrets.clone(), &mut DiscardTests))
    };
    let Ok(first) = read(&files);
    let Ok(repaired) = repair(&files, first, read);
    let mut changes = HashMap::new();
    for (path, bytes) in repaired.files.texts() {
        let (before, after) = (project.text_of(path)?, std::str::from_utf8(bytes).ok()?);
        if *before != after {
            let edit = whole_edit(project, &before, after);
            changes.insert(address(project, path), vec![edit]);
        }
    }
    (!changes.is_empty()).then(|| CodeAction {
        title: "apply every certain fix".to_owned(),
        kind: Some(CodeActionKind::Custom(FIX_ALL.into())),
        edit: Some(WorkspaceEdit { changes: Some(changes), ..WorkspaceEdit::default() }),
        ..CodeAction::default()
    })
}

/// One edit from the first to the last line that differ, so that cursors elsewhere stay.
fn whole_edit(project: &Project, before: &str, after: &str) -> TextEdit {
    let shared = |lines: &mut dyn Iterator<Item = (&str, &str)>| -> usize {
        lines.take_while(|(a, b)| a == b).map(|(a, _)| a.len()).sum()
    };
    let (old, new): (Vec<&str>, Vec<&str>) =
        (before.split_inclusive('\n').collect(), after.split_inclusive('\n').collect());
    let head = shared(&mut old.iter().copied().zip(new.iter().copied()));
    let tail = shared(&mut old.iter().rev().copied().zip(new.iter().rev().copied()));
    let tail = tail.min(before.len() - head).min(after.len() - head);
    let lines = LineMap::new(before);
    let at = |offset| lines.position(before, offset, project.encoding);
    TextEdit {
        range: lsp::Range { start: at(head), end: at(before.len() - tail) },
        new_text: after[head..after.len() - tail].to_owned(),
    }
}
