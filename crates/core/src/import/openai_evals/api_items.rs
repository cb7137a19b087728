//! The items of an eval of the API, wherever an export keeps them: in the data sources of its runs, beside the answers
//! that a run has recorded (`output_items`), or in files of items.

use std::collections::HashSet;

use crate::model::JsonStyle;

use super::super::located::Located;

/// What is tested, and what a run has sent for it.
#[derive(Debug, Clone, Copy)]
pub(super) struct ApiItem<'l> {
    pub(super) item: &'l Located,
    /// The messages of the recorded answer.
    pub(super) sent: Option<&'l Located>,
}

/// How items are sent.
#[derive(Debug, Clone, Copy)]
pub(super) enum Sending<'l> {
    /// Messages with references to the item.
    Template(&'l Located),
    /// A key of the item that has the messages, such as `input`.
    Key(&'l str),
    /// As a run has sent it; otherwise by the usual keys.
    Recorded,
}

/// Whether some record is an answer that a run has recorded.
pub(super) fn has_output_items(root: &Located) -> bool {
    output_lists(root).any(|list| list.items().iter().any(|row| row.has("datasource_item")))
}

/// Whether it is a run, or a list of runs.
pub(super) fn has_runs(root: &Located) -> bool {
    let is_run = |value: &Located| value.has("data_source") && value.has("eval_id");
    is_run(root) || listed(root).any(is_run)
}

/// The records of a document: of a list, or under `data`.
fn listed(root: &Located) -> impl Iterator<Item = &Located> {
    let rows = if root.is_list() { Some(root) } else { root.get("data") };
    rows.into_iter().flat_map(Located::items)
}

fn output_lists(root: &Located) -> impl Iterator<Item = &Located> {
    let own = if root.is_list() { Some(root) } else { root.get("data") };
    let holders = [Some(root), root.get("eval"), root.get("run")].into_iter().flatten();
    let runs = holders.clone().flat_map(runs_of);
    let below = holders.chain(runs).filter_map(|holder| holder.get("output_items"));
    own.into_iter().chain(below.map(|list| list.get("data").unwrap_or(list)))
}

fn runs_of(holder: &Located) -> impl Iterator<Item = &Located> {
    let runs = holder.get("runs").map(|runs| runs.get("data").unwrap_or(runs));
    runs.into_iter().flat_map(Located::items)
}

/// The data sources of the runs in these documents.
pub(super) fn data_sources<'l>(documents: &[&'l Located]) -> Vec<&'l Located> {
    let mut sources: Vec<&Located> = Vec::new();
    for root in documents {
        let evals = listed(root).chain([*root]).chain(root.get("eval"));
        let holders = evals.flat_map(|holder| {
            [Some(holder), holder.get("run")].into_iter().flatten().chain(runs_of(holder))
        });
        for source in holders.filter_map(|holder| holder.get("data_source")) {
            if sources.iter().all(|known| !std::ptr::eq(*known, source)) {
                sources.push(source);
            }
        }
    }
    sources
}

/// The items of the first place that has some: a run that contains them, recorded answers, files of items.
pub(super) fn items_of<'l>(documents: &[&'l Located], sources: &[&'l Located]) -> Vec<ApiItem<'l>> {
    let plain = |item: &'l Located| ApiItem { item, sent: None };
    for source in sources {
        let content = source.get("source").and_then(|inner| inner.get("content"));
        let rows = content.map(Located::items).unwrap_or_default().iter();
        let items: Vec<ApiItem<'l>> = rows.filter_map(|row| row.get("item")).map(plain).collect();
        if !items.is_empty() {
            return items;
        }
    }
    let recorded = recorded_items(documents);
    if !recorded.is_empty() {
        return recorded;
    }
    let rows = documents.iter().flat_map(|root| listed(root));
    rows.filter_map(|row| row.get("item")).filter(|item| item.is_map()).map(plain).collect()
}

/// Several runs answer the same items.
fn recorded_items<'l>(documents: &[&'l Located]) -> Vec<ApiItem<'l>> {
    let mut known = HashSet::new();
    let mut items = Vec::new();
    let rows = documents.iter().flat_map(|root| output_lists(root)).flat_map(Located::items);
    for row in rows {
        let Some(item) = row.get("datasource_item").filter(|item| item.is_map()) else { continue };
        let item = match item.entries() {
            [only] if only.key == "item" && only.value.is_map() => &only.value,
            _ => item,
        };
        if known.insert(item.value().to_json(JsonStyle::Compact)) {
            let sent = row.at_path("sample.input").filter(|input| input.is_list());
            items.push(ApiItem { item, sent });
        }
    }
    items
}

/// How the first run that says so sends its items.
pub(super) fn sending<'l>(sources: &[&'l Located]) -> Sending<'l> {
    for messages in sources.iter().filter_map(|source| source.get("input_messages")) {
        if let Some(template) = messages.get("template") {
            return Sending::Template(template);
        }
        if let Some(path) = messages.get("item_reference").and_then(Located::as_str) {
            return Sending::Key(path.strip_prefix("item.").unwrap_or(path));
        }
    }
    Sending::Recorded
}
