//! The root of a configuration: references inside it, and keys that a suite has no place for.

use crate::model::{Map, Value};

use super::super::importer::Importer;
use super::super::located::{Located, LocatedData, LocatedEntry};
use super::super::suite_draft::SuiteDraft;

/// References may lead to references.
const DEEPEST: usize = 16;

/// The data with `$ref: "#/…"` replaced by what it refers to.
pub(super) fn dereferenced(importer: &mut Importer<'_>, root: &Located) -> Located {
    resolve(importer, root, root, 0)
}

fn resolve(importer: &mut Importer<'_>, root: &Located, value: &Located, depth: usize) -> Located {
    let data = match &value.data {
        LocatedData::Map(entries) => {
            let reference = value.get("$ref").and_then(Located::as_str);
            if let Some(reference) = reference.filter(|_| depth < DEEPEST) {
                return match pointed_at(root, reference) {
                    Some(target) => {
                        let target = resolve(importer, root, target, depth + 1);
                        Located { span: value.span, data: target.data }
                    }
                    None => {
                        let message = format!("`{reference}` leads nowhere in this file");
                        importer.loss("reference", value.span, message);
                        value.clone()
                    }
                };
            }
            LocatedData::Map(
                entries
                    .iter()
                    .map(|entry| LocatedEntry {
                        value: resolve(importer, root, &entry.value, depth),
                        ..entry.clone()
                    })
                    .collect(),
            )
        }
        LocatedData::List(items) => LocatedData::List(
            items.iter().map(|item| resolve(importer, root, item, depth)).collect(),
        ),
        scalar => scalar.clone(),
    };
    Located { span: value.span, data }
}

/// `#/a/b` of the root.
fn pointed_at<'l>(root: &'l Located, reference: &str) -> Option<&'l Located> {
    let mut steps = reference.strip_prefix("#/")?.split('/');
    steps.try_fold(root, |inner, step| {
        let step = step.replace("~1", "/").replace("~0", "~");
        match &inner.data {
            LocatedData::List(items) => items.get(step.parse::<usize>().ok()?),
            _ => inner.get(&step),
        }
    })
}

/// Keys of the root that change what is tested or how, and what becomes of them.
const LEFT_OUT: &[(&str, &str, &str)] = &[
    ("extensions", "hook", "extension hooks are left out"),
    ("nunjucksFilters", "template", "filters of your own are left out"),
    ("derivedMetrics", "metric", "derived metrics are left out"),
    ("env", "environment", "`env` is left out: set these variables where evalrig runs"),
    (
        "redteam",
        "redteam",
        "the red team configuration is left out; its generated tests can be converted",
    ),
    ("tracing", "trace", "tracing is left out"),
    ("outputPath", "run-option", "`outputPath` is left out: use `evalrig run --report`"),
    ("scenarios_from", "tests", "`scenarios_from` is left out"),
];

/// Options of a run, and the option of evalrig that does the same.
const RUN_OPTIONS: &[(&str, &str)] = &[
    ("maxConcurrency", "use `evalrig run --workers`"),
    ("delay", "use `max_concurrency` of the target"),
    ("maxEvalTimeMs", "it has no counterpart"),
    ("generateSuggestions", "it has no counterpart"),
];

/// Takes over what a suite can say and reports the rest.
pub(super) fn report_root_keys(
    importer: &mut Importer<'_>,
    root: &Located,
    draft: &mut SuiteDraft,
) {
    for (key, kind, message) in LEFT_OUT {
        if let Some(value) = root.get(key) {
            importer.loss(kind, value.span, *message);
        }
    }
    for options in ["evaluateOptions", "commandLineOptions"] {
        let Some(options) = root.get(options) else { continue };
        for (key, message) in RUN_OPTIONS {
            if let Some(value) = options.get(key) {
                importer.loss("run-option", value.span, format!("`{key}` is left out: {message}"));
            }
        }
        let number = |key: &str| options.get(key).and_then(Located::number)?.as_u64();
        draft.trials = draft.trials.or(number("repeat").filter(|count| (1..=100).contains(count)));
        if let Some(time) = number("timeoutMs").filter(|time| *time > 0) {
            draft.timeout_seconds = Some(time.div_ceil(1000).clamp(1, 3600));
        }
    }
    if let Some(tags) = root.get("tags") {
        let pair = |entry: &LocatedEntry| Some(format!("{}={}", entry.key, entry.value.text()?));
        let tags: Vec<String> = if tags.is_map() {
            tags.entries().iter().filter_map(pair).collect()
        } else {
            tags.texts()
        };
        draft.metadata.insert("tags", tags);
    }
    let metadata: Map = root.get("metadata").map(Located::map).unwrap_or_default();
    for (key, value) in metadata {
        if draft.metadata.get(&key).is_none() && value != Value::Null {
            draft.metadata.insert(key, value);
        }
    }
}
