//! Completion: keys from the tables of fields, values from their shapes, and names of targets, skills,
//! tags and files.

use evalrig_core::assertion::KINDS;
use evalrig_core::syntax::fields::{Field, Shape};
use evalrig_run::provider::PROVIDERS;
use evalrig_run::topic::choices;
use lsp_types::{
    CompletionItem, CompletionItemKind, CompletionItemTextEdit, Documentation, InsertTextFormat,
    InsertTextMode, MarkupContent, MarkupKind, Range, TextEdit,
};

use crate::outline::{
    Completing, FileKind, MappingKind, MappingTables, Notation, Slot, TARGET_KEYS, complete_at,
    is_begun,
};

use super::completion_names::{conversations, paths, scripted_types, skills, tags, targets};
use super::hover::about_field;
use super::snippet::Writing;
use super::spot::Spot;

/// Items for one cursor.
pub(super) struct Offer<'s, 'p> {
    pub(super) spot: &'s Spot<'p>,
    pub(super) writing: Writing,
    /// What is typed already.
    pub(super) word: String,
    range: Range,
    items: Vec<CompletionItem>,
}

pub(crate) fn completion(spot: &Spot<'_>, knows_snippets: bool) -> Vec<CompletionItem> {
    let kind = match spot.project.kind_of(&spot.path, &spot.text) {
        FileKind::Other if is_begun(&spot.path, &spot.text) => FileKind::Lines,
        kind => kind,
    };
    let Some(found) = complete_at(kind, &spot.text, spot.offset) else {
        return Vec::new();
    };
    let writing = Writing {
        notation: found.notation,
        is_quoted: found.is_quoted,
        has_colon: found.has_colon,
        knows_snippets,
        indent: indent_of(spot, &found),
    };
    let word = spot.text[found.word.start..spot.offset.max(found.word.start)].to_owned();
    let range = spot.range(&found.word);
    let mut offer = Offer { spot, writing, word, range, items: Vec::new() };
    if kind == FileKind::Lines && spot.lines.is_line_start(&spot.text, found.word.start) {
        offer.whole_line();
        return offer.items;
    }
    for slot in &found.slots {
        match slot {
            Slot::Key { tables, present } => offer.keys(tables, present),
            Slot::Value { kind, field, shape, present } => {
                offer.value(*kind, *field, *shape, present);
            }
            Slot::Item { field, shape } => offer.item(*field, *shape),
        }
    }
    offer.items
}

/// From the first character of the line to the column where its keys begin.
fn indent_of(spot: &Spot<'_>, found: &Completing) -> usize {
    let line = spot.text[..found.word.start].rfind('\n').map_or(0, |at| at + 1);
    let before = &spot.text[line..found.word.start];
    let first = before.len() - before.trim_start().len();
    let keys = before.trim_start_matches([' ', '-']);
    before.len() - keys.len() - first
}

impl Offer<'_, '_> {
    /// A test on a line of its own.
    fn whole_line(&mut self) {
        let doc = "A test with the fields that every test needs.".to_owned();
        self.add("test", CompletionItemKind::Snippet, self.writing.line(), "0", Some(doc));
    }

    fn keys(&mut self, tables: &MappingTables, present: &[String]) {
        let is_assertion = matches!(tables.kind, MappingKind::Assertion(_));
        let fields = tables.tables.iter().flat_map(|table| table.iter());
        let is_written = |field: &Field| {
            let mut names = [field.name].into_iter().chain(field.also.iter().copied());
            names.any(|name| present.iter().any(|key| key == name))
        };
        for (at, field) in fields.enumerate() {
            if is_written(field) || field.doc.starts_with("old ") {
                continue;
            }
            // `type` decides what else there may be.
            let rank = match field.name {
                "type" | "provider" => 0,
                _ if field.required => 1,
                _ => 2,
            };
            let text = self.writing.key(field);
            let sort = format!("{rank}{at:03}");
            let doc = about_field(field, tables.kind);
            self.add(field.name, CompletionItemKind::Property, text, &sort, Some(doc));
        }
        if is_assertion && present.is_empty() && !self.writing.has_colon && !self.writing.is_quoted
        {
            self.assertion_types(true, present);
        }
    }

    fn value(
        &mut self,
        kind: MappingKind,
        field: Option<&'static Field>,
        shape: Shape,
        present: &[String],
    ) {
        let name = field.map_or("", |field| field.name);
        match (kind, name) {
            (MappingKind::Assertion(_), "type") => {
                self.assertion_types(false, present);
                for (name, path) in scripted_types(self.spot) {
                    self.name(&name, CompletionItemKind::Function, Some(path));
                }
            }
            (MappingKind::Assertion(_), "skill") | (MappingKind::Evals, "skill_name") => {
                for (name, path) in skills(self.spot) {
                    self.name(&name, CompletionItemKind::Module, Some(path));
                }
            }
            (MappingKind::Target(_), "provider") => {
                for provider in PROVIDERS {
                    self.name(
                        provider.name,
                        CompletionItemKind::EnumMember,
                        Some(provider.doc.to_owned()),
                    );
                }
            }
            (MappingKind::Test, "conversation_id") => {
                for name in conversations(self.spot) {
                    self.name(&name, CompletionItemKind::Reference, None);
                }
            }
            (inside, name)
                if TARGET_KEYS.contains(&name) && !matches!(inside, MappingKind::Free) =>
            {
                for name in targets(self.spot) {
                    self.name(&name, CompletionItemKind::Reference, None);
                }
            }
            _ => self.shape(shape),
        }
        self.files(name);
    }

    fn item(&mut self, field: Option<&'static Field>, shape: Shape) {
        let name = field.map_or("", |field| field.name);
        match name {
            "tags" => {
                for tag in tags(self.spot) {
                    self.name(&tag, CompletionItemKind::Keyword, None);
                }
            }
            _ => self.shape(shape),
        }
        self.files(name);
    }

    fn shape(&mut self, shape: Shape) {
        for word in choices(shape) {
            self.name(word, CompletionItemKind::EnumMember, None);
        }
        if has_boolean(shape) && !self.writing.is_quoted {
            for word in ["true", "false"] {
                self.add(word, CompletionItemKind::Keyword, word.to_owned(), word, None);
            }
        }
    }

    fn assertion_types(&mut self, with_key: bool, present: &[String]) {
        for (at, kind) in KINDS.iter().enumerate() {
            let text = self.writing.assertion(kind, kind.name, with_key, present);
            let label =
                if with_key { format!("type: {}", kind.name) } else { kind.name.to_owned() };
            let sort = format!("{}{at:03}", if with_key { 1 } else { 0 });
            let doc = kind.doc.trim().to_owned();
            self.add(&label, CompletionItemKind::Class, text, &sort, Some(doc));
        }
        // Each type is also read with `not-` in front. These come behind the plain ones.
        for (at, kind) in KINDS.iter().enumerate().filter(|_| !with_key) {
            let name = format!("not-{}", kind.name);
            let text = self.writing.assertion(kind, &name, false, present);
            let doc = format!("Passes where `{}` fails.", kind.name);
            self.add(&name, CompletionItemKind::Class, text, &format!("1{at:03}"), Some(doc));
        }
    }

    /// Files, where a path is expected or begun.
    fn files(&mut self, field: &str) {
        for (path, is_directory) in paths(self.spot, field, &self.word) {
            let kind =
                if is_directory { CompletionItemKind::Folder } else { CompletionItemKind::File };
            self.name(&path, kind, None);
        }
    }

    fn name(&mut self, name: &str, kind: CompletionItemKind, doc: Option<String>) {
        if let Some(text) = self.writing.name(name) {
            // Text of others is not a snippet.
            let text = if self.writing.knows_snippets { escaped(&text) } else { text };
            self.add(name, kind, text, &format!("5{name}"), doc);
        }
    }

    fn add(
        &mut self,
        label: &str,
        kind: CompletionItemKind,
        text: String,
        sort: &str,
        doc: Option<String>,
    ) {
        let format = if self.writing.knows_snippets {
            InsertTextFormat::Snippet
        } else {
            InsertTextFormat::PlainText
        };
        let is_lines = text.contains('\n');
        let documentation = doc.map(|value| {
            Documentation::MarkupContent(MarkupContent { kind: MarkupKind::Markdown, value })
        });
        let edit = TextEdit { range: self.range, new_text: text };
        self.items.push(CompletionItem {
            label: label.to_owned(),
            kind: Some(kind),
            documentation,
            sort_text: Some(sort.to_owned()),
            filter_text: (self.writing.notation == Notation::Json && !self.writing.is_quoted)
                .then(|| label.to_owned()),
            insert_text_format: Some(format),
            insert_text_mode: is_lines.then_some(InsertTextMode::AdjustIndentation),
            text_edit: Some(CompletionItemTextEdit::TextEdit(edit)),
            ..CompletionItem::default()
        });
    }
}

/// `$`, `}` and `\` have a meaning in snippets.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for sign in text.chars() {
        if matches!(sign, '$' | '}' | '\\') {
            out.push('\\');
        }
        out.push(sign);
    }
    out
}

fn has_boolean(shape: Shape) -> bool {
    match shape {
        Shape::Boolean => true,
        Shape::OneOf(shapes) => shapes.iter().any(|shape| has_boolean(*shape)),
        _ => false,
    }
}
