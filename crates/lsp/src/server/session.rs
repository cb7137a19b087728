//! A client that has said who it is: its project, and the answers to its requests.

use camino::{Utf8Path, Utf8PathBuf};
use lsp_server::{ErrorCode, Message, Notification, Request};
use lsp_types::{
    CodeActionKind, CodeActionOptions, CodeActionParams, CodeLensOptions, CompletionList,
    CompletionOptions, InitializeResult, InlayHintParams, Position, PositionEncodingKind,
    ReferenceParams, RenameOptions, RenameParams, Save, SaveOptions, SemanticTokensLegend,
    SemanticTokensOptions, ServerCapabilities, ServerInfo, TextDocumentIdentifier,
    TextDocumentPositionParams, TextDocumentSyncKind, TextDocumentSyncOptions,
};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use std::sync::Arc;

use crate::feature::{
    Spot, TOKEN_TYPES, code_actions, code_lenses, completion, definition, document_symbols,
    folding_ranges, hover, inlay_hints, prepare_rename, references, rename, semantic_tokens,
};
use crate::last_run::{LastRun, LastRuns};
use crate::project::Project;
use crate::text::{PositionEncoding, path_of};

use super::client::Client;
use super::kept_lenses::KeptLenses;

/// An answer, or why there is none.
pub(super) type Answer = Result<Value, (ErrorCode, String)>;

pub(super) struct Session {
    pub(super) client: Client,
    pub(super) project: Project,
    pub(super) runs: LastRuns,
    pub(super) kept_lenses: KeptLenses,
    /// Requests and notifications that wait to be sent.
    pub(super) waiting: Vec<Message>,
}

/// Parameters with nothing but a document.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct OfDocument {
    text_document: TextDocumentIdentifier,
}

impl Session {
    pub(super) fn new(client: Client) -> Self {
        let project = Project::new(client.encoding, client.folders.clone());
        let (runs, kept_lenses) = (LastRuns::default(), KeptLenses::default());
        Self { client, project, runs, kept_lenses, waiting: Vec::new() }
    }

    pub(super) fn initialize_result(&self, version: &str) -> InitializeResult {
        let info = ServerInfo { name: "evalrig".to_owned(), version: Some(version.to_owned()) };
        InitializeResult {
            capabilities: capabilities(self.client.encoding),
            server_info: Some(info),
        }
    }

    /// What is to be sent now.
    pub(super) fn outgoing(&mut self) -> Vec<Message> {
        let mut messages = std::mem::take(&mut self.waiting);
        for params in self.project.take_outbox() {
            let method = "textDocument/publishDiagnostics".to_owned();
            messages.push(Message::Notification(Notification::new(method, params)));
        }
        messages
    }

    pub(super) fn answer(&mut self, request: &Request) -> Answer {
        let params = &request.params;
        match request.method.as_str() {
            "textDocument/hover" => self.hover(params),
            "textDocument/completion" => self.completion(params),
            "textDocument/definition" => self.at(params, |spot| json(&definition(spot))),
            "textDocument/references" => self.references(params),
            "textDocument/prepareRename" => self.at(params, |spot| {
                let found = prepare_rename(spot);
                json(&found.map(|(range, name)| json!({"range": range, "placeholder": name})))
            }),
            "textDocument/rename" => self.rename(params),
            "textDocument/documentSymbol" => {
                self.whole(params, |spot| json(&document_symbols(spot)))
            }
            "textDocument/foldingRange" => self.whole(params, |spot| json(&folding_ranges(spot))),
            "textDocument/semanticTokens/full" => {
                self.whole(params, |spot| json(&semantic_tokens(spot)))
            }
            "textDocument/codeLens" => self.code_lenses(params),
            "textDocument/inlayHint" => self.inlay_hints(params),
            "textDocument/codeAction" => self.code_actions(params),
            method => {
                let method = evalrig_run::text::single_line(method);
                Err((ErrorCode::MethodNotFound, format!("`{method}` is not supported")))
            }
        }
    }

    /// A question about one place.
    fn at(&self, params: &Value, answer: impl Fn(&Spot<'_>) -> Answer) -> Answer {
        let params: TextDocumentPositionParams = read(params)?;
        let path = file(&params.text_document)?;
        match Spot::new(&self.project, path, params.position) {
            Some(spot) => answer(&spot),
            None => Ok(Value::Null),
        }
    }

    /// A question about a whole document.
    fn whole(&self, params: &Value, answer: impl Fn(&Spot<'_>) -> Answer) -> Answer {
        let params: OfDocument = read(params)?;
        let path = file(&params.text_document)?;
        match Spot::new(&self.project, path, Position::default()) {
            Some(spot) => answer(&spot),
            None => Ok(Value::Null),
        }
    }

    fn hover(&mut self, params: &Value) -> Answer {
        self.load_open();
        let run = self.run_of_document(params)?;
        self.at(params, |spot| json(&hover(spot, run.as_deref())))
    }

    fn completion(&self, params: &Value) -> Answer {
        self.at(params, |spot| {
            let items = completion(spot, self.client.knows_snippets);
            json(&CompletionList { items, ..CompletionList::default() })
        })
    }

    fn references(&mut self, params: &Value) -> Answer {
        let request: ReferenceParams = read(params)?;
        self.load_all();
        self.at(params, |spot| json(&references(spot, request.context.include_declaration)))
    }

    fn rename(&mut self, params: &Value) -> Answer {
        let request: RenameParams = read(params)?;
        self.load_all();
        self.at(params, |spot| match rename(spot, &request.new_name) {
            Ok(edit) => json(&edit),
            Err(why) => Err((ErrorCode::RequestFailed, why)),
        })
    }

    fn code_lenses(&mut self, params: &Value) -> Answer {
        self.load_open();
        let run = self.run_of_document(params)?;
        let request: OfDocument = read(params)?;
        let path = file(&request.text_document)?;
        let Some(spot) = Spot::new(&self.project, path, Position::default()) else {
            return Ok(Value::Null);
        };
        let present = code_lenses(&spot, run.as_deref());
        json(&self.kept_lenses.of(&spot, present))
    }

    fn inlay_hints(&mut self, params: &Value) -> Answer {
        let request: InlayHintParams = read(params)?;
        self.load_open();
        let run = self.run_of_document(params)?;
        self.whole(params, |spot| json(&inlay_hints(spot, request.range, run.as_deref())))
    }

    fn code_actions(&mut self, params: &Value) -> Answer {
        let request: CodeActionParams = read(params)?;
        let path = file(&request.text_document)?;
        self.load_open();
        let secrets = self.project.secrets_of(&path);
        let actions = code_actions(&self.project, &path, request.range, &request.context, &secrets);
        json(&actions)
    }

    /// The last run of the suite that a document belongs to.
    fn run_of_document(
        &mut self,
        params: &Value,
    ) -> Result<Option<Arc<LastRun>>, (ErrorCode, String)> {
        let params: OfDocument = read(params)?;
        let path = file(&params.text_document)?;
        let secrets = self.project.secrets_of(&path);
        let Some(spot) = Spot::new(&self.project, path, Position::default()) else {
            return Ok(None);
        };
        let Some((suite, name)) =
            spot.suite().and_then(|suite| Some((suite, suite.name.as_ref()?)))
        else {
            return Ok(None);
        };
        Ok(self.runs.of_suite(&suite.root, name, &secrets))
    }

    /// Answers about results and fixes are about the present text.
    fn load_open(&mut self) {
        while self.project.work_on_open() {}
    }

    /// Names may be in any suite of the workspace.
    fn load_all(&mut self) {
        while self.project.work() {}
    }
}

pub(super) fn read<T: DeserializeOwned>(params: &Value) -> Result<T, (ErrorCode, String)> {
    T::deserialize(params).map_err(|error| (ErrorCode::InvalidParams, error.to_string()))
}

fn file(document: &TextDocumentIdentifier) -> Result<Utf8PathBuf, (ErrorCode, String)> {
    path_of(&document.uri).ok_or_else(|| {
        (ErrorCode::InvalidParams, "only files on this machine are supported".to_owned())
    })
}

fn json<T: serde::Serialize>(value: &T) -> Answer {
    serde_json::to_value(value).map_err(|error| (ErrorCode::InternalError, error.to_string()))
}

fn capabilities(encoding: PositionEncoding) -> ServerCapabilities {
    let legend = SemanticTokensLegend {
        token_types: TOKEN_TYPES.iter().map(|name| (*name).to_owned()).collect(),
        token_modifiers: Vec::new(),
    };
    let triggers = [":", " ", "\"", "/", "-", "{", "[", "."];
    ServerCapabilities {
        position_encoding: Some(match encoding {
            PositionEncoding::Utf8 => PositionEncodingKind::UTF8,
            PositionEncoding::Utf16 => PositionEncodingKind::UTF16,
            PositionEncoding::Utf32 => PositionEncodingKind::UTF32,
        }),
        text_document_sync: Some(
            TextDocumentSyncOptions {
                open_close: Some(true),
                change: Some(TextDocumentSyncKind::Incremental),
                save: Some(Save::SaveOptions(SaveOptions { include_text: Some(false) })),
                ..TextDocumentSyncOptions::default()
            }
            .into(),
        ),
        completion_provider: Some(CompletionOptions {
            trigger_characters: Some(triggers.map(str::to_owned).to_vec()),
            ..CompletionOptions::default()
        }),
        hover_provider: Some(true.into()),
        definition_provider: Some(true.into()),
        references_provider: Some(true.into()),
        document_symbol_provider: Some(true.into()),
        folding_range_provider: Some(true.into()),
        inlay_hint_provider: Some(true.into()),
        code_lens_provider: Some(CodeLensOptions::default()),
        rename_provider: Some(
            RenameOptions { prepare_provider: Some(true), ..RenameOptions::default() }.into(),
        ),
        code_action_provider: Some(
            CodeActionOptions {
                code_action_kinds: Some(vec![
                    CodeActionKind::QuickFix,
                    CodeActionKind::Custom("source.fixAll.evalrig".into()),
                ]),
                ..CodeActionOptions::default()
            }
            .into(),
        ),
        semantic_tokens_provider: Some(
            SemanticTokensOptions {
                legend,
                full: Some(true.into()),
                ..SemanticTokensOptions::default()
            }
            .into(),
        ),
        ..ServerCapabilities::default()
    }
}

/// Whether a change of this file may change lenses and hints.
pub(super) fn is_result(path: &Utf8Path) -> bool {
    path.components().any(|part| part.as_str() == ".evalrig") && path.extension() == Some("jsonl")
}
