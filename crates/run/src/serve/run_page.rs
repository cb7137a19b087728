//! The page of a run, alone or beside a baseline, with the labels of its answers.

use axum::http::StatusCode;
use serde_json::Value;

use super::ServedRepository;
use super::answer::{Answer, not_found, page, plain, redirect};
use super::markup::encoded;
use super::run_index::ListedRun;
use crate::report::html::{PageLabels, PageMode, page_policy};
use crate::results::Labels;
use crate::session::ServedRun;

/// A run by its id.
pub(super) fn run_page(served: &ServedRepository, token: &str, id: &str) -> Answer {
    match served.runs.find(id) {
        Some(run) => {
            let mode = served.mode(token, run.is_running);
            shown(&served.run(&run, None), mode)
        }
        None => not_found("There is no such run."),
    }
}

/// One run with another as its baseline.
pub(super) fn comparison_page(
    served: &ServedRepository,
    token: &str,
    base: &str,
    candidate: &str,
) -> Answer {
    match (served.runs.find(base), served.runs.find(candidate)) {
        (Some(base), Some(candidate)) => {
            let mode = served.mode(token, false);
            shown(&served.run(&candidate, Some(&base)), mode)
        }
        _ => not_found("There is no such run; choose two from the list of runs."),
    }
}

/// Leads to the newest run.
pub(super) fn latest_page(served: &ServedRepository) -> Answer {
    match served.runs.newest() {
        Some(run) => redirect(&format!("/runs/{}/", encoded(&run.id))),
        None => redirect("/"),
    }
}

fn shown(run: &ServedRun, mode: PageMode) -> Answer {
    let policy = page_policy(&mode);
    match run.page(mode) {
        Ok(html) => page(html, &policy),
        Err(error) => {
            let text = run.secrets.redact(&error.to_string());
            plain(StatusCode::INTERNAL_SERVER_ERROR, &crate::text::paragraph(&text))
        }
    }
}

impl ServedRepository {
    pub(super) fn run(&self, run: &ListedRun, baseline: Option<&ListedRun>) -> ServedRun {
        ServedRun {
            loading: self.loading.clone(),
            root: self.root.clone(),
            secrets: self.secrets.clone(),
            results: run.files.clone(),
            baseline: baseline.map(|run| run.files.clone()).unwrap_or_default(),
        }
    }

    fn mode(&self, token: &str, is_live: bool) -> PageMode {
        let labels = PageLabels {
            token: token.to_owned(),
            author: self.author.clone(),
            stored: self.stored_labels(),
        };
        PageMode { is_live, labels: Some(labels), home: Some("/".to_owned()) }
    }

    fn stored_labels(&self) -> Vec<Value> {
        let labels = Labels::read(&self.root).unwrap_or_default();
        labels.iter().map(serde_json::to_value).filter_map(Result::ok).collect()
    }
}
