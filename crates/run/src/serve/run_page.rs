//! The page of a run, alone or beside a baseline, with the labels of its answers.

use serde_json::Value;

use super::ServedRepository;
use super::answer::{Answer, failed, not_found, page, redirect};
use super::markup::encoded;
use super::run_index::ListedRun;
use crate::report::html::{PageLabels, PageMode, page_policy};
use crate::results::{Labels, ReadError};
use crate::session::ServedRun;

/// A run by its id.
pub(super) fn run_page(served: &ServedRepository, token: &str, id: &str) -> Answer {
    match served.runs.find(id) {
        Some(run) => served.shown(&served.run(&run, None), token, run.is_running),
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
            served.shown(&served.run(&candidate, Some(&base)), token, false)
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

    /// Labels that cannot be read are an error: a page without them looks unlabelled.
    fn shown(&self, run: &ServedRun, token: &str, is_live: bool) -> Answer {
        let stored = match self.stored_labels() {
            Ok(stored) => stored,
            Err(error) => return failed(&self.secrets, &error),
        };
        let labels = PageLabels { token: token.to_owned(), author: self.author.clone(), stored };
        let mode = PageMode { is_live, labels: Some(labels), home: Some("/".to_owned()) };
        let policy = page_policy(&mode);
        match run.page(mode) {
            Ok(html) => page(html, &policy),
            Err(error) => failed(&run.secrets, &error),
        }
    }

    fn stored_labels(&self) -> Result<Vec<Value>, ReadError> {
        let labels = Labels::read(&self.root)?;
        let lines = labels.iter().map(serde_json::to_string).filter_map(Result::ok);
        let redacted = lines.map(|line| self.secrets.redact(&line));
        Ok(redacted.filter_map(|line| serde_json::from_str(&line).ok()).collect())
    }
}
