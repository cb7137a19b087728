//! What the client tells: documents that are opened, changed, saved and closed, and files that changed
//! on the disk.

use camino::Utf8PathBuf;
use lsp_server::{Message, Notification, Request};
use lsp_types::{
    DidChangeTextDocumentParams, DidChangeWatchedFilesParams, DidCloseTextDocumentParams,
    DidOpenTextDocumentParams, DidSaveTextDocumentParams,
};
use serde_json::{Value, json};

use crate::text::{Document, path_of};

use super::session::{Session, is_result, read};

/// What the server asks to be told of.
const WATCHED: &[&str] = &["**/*.{yaml,yml,json,jsonl,md}", "**/.env", "**/.evalrig/**"];

impl Session {
    /// Fails with why the message was ignored.
    pub(super) fn hear(&mut self, notification: Notification) -> Result<(), String> {
        let Notification { method, params } = notification;
        match method.as_str() {
            "initialized" => self.watch_files(),
            "textDocument/didOpen" => {
                let item = parsed::<DidOpenTextDocumentParams>(&params)?.text_document;
                if let Some(path) = path_of(&item.uri) {
                    self.project.open(path, Document::new(item.uri, item.version, item.text));
                }
            }
            "textDocument/didChange" => {
                let params: DidChangeTextDocumentParams = parsed(&params)?;
                let document = params.text_document;
                if let Some(path) = path_of(&document.text_document_identifier.uri) {
                    self.project.change(&path, document.version, params.content_changes);
                }
            }
            "textDocument/didClose" => {
                let document = parsed::<DidCloseTextDocumentParams>(&params)?.text_document;
                if let Some(path) = path_of(&document.uri) {
                    self.project.close(&path);
                    self.kept_lenses.forget(&path);
                }
            }
            "textDocument/didSave" => {
                let document = parsed::<DidSaveTextDocumentParams>(&params)?.text_document;
                self.changed(path_of(&document.uri).into_iter().collect());
            }
            "workspace/didChangeWatchedFiles" => {
                let changes = parsed::<DidChangeWatchedFilesParams>(&params)?.changes;
                self.changed(changes.iter().filter_map(|one| path_of(&one.uri)).collect());
            }
            // Others are optional, or say nothing that matters here.
            _ => {}
        }
        Ok(())
    }

    fn changed(&mut self, paths: Vec<Utf8PathBuf>) {
        let (results, others): (Vec<_>, Vec<_>) =
            paths.into_iter().partition(|path| is_result(path));
        self.project.files_changed(&others);
        if !results.is_empty() && self.client.refreshes {
            self.ask("workspace/codeLens/refresh", Value::Null);
            self.ask("workspace/inlayHint/refresh", Value::Null);
        }
    }

    fn watch_files(&mut self) {
        if !self.client.watches_files {
            return;
        }
        let watchers: Vec<Value> =
            WATCHED.iter().map(|pattern| json!({"globPattern": pattern})).collect();
        let registration = json!({
            "id": "files",
            "method": "workspace/didChangeWatchedFiles",
            "registerOptions": {"watchers": watchers},
        });
        self.ask("client/registerCapability", json!({"registrations": [registration]}));
    }

    /// A request whose answer says nothing that matters.
    fn ask(&mut self, method: &str, params: Value) {
        let id = format!("evalrig-{method}").into();
        self.waiting.push(Message::Request(Request { id, method: method.to_owned(), params }));
    }
}

fn parsed<T: serde::de::DeserializeOwned>(params: &Value) -> Result<T, String> {
    read(params).map_err(|(_, why)| why)
}
