//! A file of another tool, parsed by its ending.

use std::sync::Arc;

use camino::{Utf8Path, Utf8PathBuf};

use crate::diagnostic::Diagnostics;
use crate::source::{Files, Position, Reach, SourceId, Sources, Span};
use crate::syntax::{parse_csv, parse_json, parse_yaml, read_source};

use super::located::{Located, LocatedData};
use super::toml_file::located_toml;

/// How the text of a file is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FileSyntax {
    Yaml,
    Json,
    JsonLines,
    Csv,
    Toml,
}

impl FileSyntax {
    /// By the ending of its name.
    pub(super) fn of(path: &Utf8Path) -> Option<Self> {
        match path.extension()?.to_ascii_lowercase().as_str() {
            "yaml" | "yml" => Some(Self::Yaml),
            "json" => Some(Self::Json),
            "jsonl" | "ndjson" => Some(Self::JsonLines),
            "csv" | "tsv" => Some(Self::Csv),
            "toml" => Some(Self::Toml),
            _ => None,
        }
    }
}

/// The endings of files that can be converted, for messages.
pub(super) const ENDINGS: &str = ".yaml, .yml, .json, .jsonl, .csv, .tsv or .toml";

/// Keys under which exports keep their list.
const LIST_KEYS: &[&str] = &[
    "data",
    "items",
    "examples",
    "rows",
    "records",
    "samples",
    "goldens",
    "dataset",
    "events",
    "cases",
    "test_cases",
    "tests",
    "questions",
    "results",
    "evals",
    "queries",
];

/// What a file contains.
#[derive(Debug)]
pub struct ForeignFile {
    pub(super) path: Utf8PathBuf,
    pub(super) syntax: FileSyntax,
    /// Of JSONL and CSV files a list of the rows.
    pub(super) root: Located,
}

impl ForeignFile {
    /// `None` when the file cannot be read; every fault has been reported.
    pub(super) fn open(
        files: &dyn Files,
        sources: &mut Sources,
        out: &mut Diagnostics,
        path: &Utf8Path,
        reach: Reach<'_>,
    ) -> Option<Self> {
        let syntax = FileSyntax::of(path)?;
        let source = read_source(files, sources, out, path, reach)?;
        let text = sources.get(source).shared_text();
        let root = match syntax {
            FileSyntax::Yaml => Located::of(parse_yaml(source, text, out)?.root()),
            FileSyntax::Json => Located::of(parse_json(source, text, out)?.root()),
            FileSyntax::Csv => Located::of(parse_csv(source, text, out)?.root()),
            FileSyntax::Toml => located_toml(source, &text, out)?,
            FileSyntax::JsonLines => lines(sources, out, source, path)?,
        };
        Some(Self { path: path.to_owned(), syntax, root })
    }

    /// The list of records: the file itself, or the only list of mappings under one of the usual keys.
    pub(super) fn rows(&self) -> Option<&Located> {
        let is_table =
            |list: &&Located| !list.items().is_empty() && list.items().iter().all(Located::is_map);
        if self.root.is_list() {
            return Some(&self.root).filter(is_table);
        }
        LIST_KEYS.iter().find_map(|key| self.root.get(key).filter(is_table))
    }

    /// Whether some record has all of these keys.
    pub(super) fn has_row_with(&self, keys: &[&str]) -> bool {
        let has_all = |row: &Located| keys.iter().all(|key| row.mentions(key));
        self.rows().is_some_and(|rows| rows.items().iter().any(has_all))
    }

    /// The first of these keys that some record has.
    pub(super) fn row_key(&self, keys: &[&'static str]) -> Option<&'static str> {
        keys.iter().copied().find(|key| self.has_row_with(&[key]))
    }
}

/// One value per line; a line that is blank is skipped.
fn lines(
    sources: &mut Sources,
    out: &mut Diagnostics,
    source: SourceId,
    path: &Utf8Path,
) -> Option<Located> {
    let text = sources.get(source).shared_text();
    let shared: Arc<Utf8Path> = path.into();
    let mut rows = Vec::new();
    let mut offset = 0;
    let before = out.errors();
    for (number, line) in text.split('\n').enumerate() {
        if !line.trim().is_empty() {
            let first = Position { line: number as u32 + 1, column: 1 };
            let excerpt = sources.add_excerpt(shared.clone(), line, first, offset);
            let text = sources.get(excerpt).shared_text();
            if let Some(tree) = parse_json(excerpt, text, out) {
                rows.push(Located::of(tree.root()));
            }
        }
        offset += line.len() as u64 + 1;
    }
    let span = Span::new(source, 0, 0);
    (out.errors() == before).then_some(Located { span, data: LocatedData::List(rows) })
}

/// A JSON text inside a cell or a string.
pub(super) fn json_in_text(text: &str, span: Span) -> Option<Located> {
    let text = text.trim();
    if !text.starts_with(['{', '[']) {
        return None;
    }
    let value = crate::syntax::json_value(text)?;
    Some(Located::at(&value, span))
}

/// Names that say nothing about what is tested.
const GENERIC: &[&str] = &[
    "promptfooconfig",
    "dataset",
    "data",
    "cases",
    "test-cases",
    "testcases",
    "tests",
    "test",
    "eval",
    "evals",
    "samples",
    "goldens",
    "golden",
    "export",
    "examples",
    "items",
    "config",
];

impl ForeignFile {
    /// The name of the file, or of its directory if that says more.
    pub(super) fn suggested_name(&self) -> String {
        let stem = self.path.file_stem().unwrap_or("").trim_end_matches(".eval");
        let directory = self.path.parent().and_then(Utf8Path::file_name).unwrap_or("");
        let is_generic = GENERIC.contains(&stem.to_ascii_lowercase().replace('_', "-").as_str());
        if is_generic && !directory.is_empty() { directory.to_owned() } else { stem.to_owned() }
    }
}
