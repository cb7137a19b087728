//! What the client says about itself when it begins. Everything is read with care: a client may leave
//! out or misspell anything.

use camino::Utf8PathBuf;
use lsp_types::Uri;
use serde_json::Value;

use crate::text::{PositionEncoding, path_of};

#[derive(Debug, Clone)]
pub(super) struct Client {
    pub(super) encoding: PositionEncoding,
    pub(super) folders: Vec<Utf8PathBuf>,
    pub(super) knows_snippets: bool,
    /// The server may ask to be told of changed files.
    pub(super) watches_files: bool,
    /// The server may ask for lenses and hints to be drawn again.
    pub(super) refreshes: bool,
}

impl Client {
    /// From the parameters of `initialize`.
    pub(super) fn of(params: &Value) -> Self {
        let is_true = |place: &str| params.pointer(place).and_then(Value::as_bool) == Some(true);
        Self {
            encoding: encoding(params),
            folders: folders(params),
            knows_snippets: is_true(
                "/capabilities/textDocument/completion/completionItem/snippetSupport",
            ),
            watches_files: is_true(
                "/capabilities/workspace/didChangeWatchedFiles/dynamicRegistration",
            ),
            refreshes: is_true("/capabilities/workspace/codeLens/refreshSupport"),
        }
    }
}

/// UTF-8 if the client offers it; every client has UTF-16.
fn encoding(params: &Value) -> PositionEncoding {
    let offered = params.pointer("/capabilities/general/positionEncodings");
    let offered = offered.and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
    let has = |name: &str| offered.iter().any(|one| one.as_str() == Some(name));
    match (has("utf-8"), has("utf-16"), has("utf-32")) {
        (true, _, _) => PositionEncoding::Utf8,
        (false, false, true) => PositionEncoding::Utf32,
        _ => PositionEncoding::Utf16,
    }
}

fn folders(params: &Value) -> Vec<Utf8PathBuf> {
    let path = |uri: &Value| path_of(&Uri::from(uri.as_str()?));
    let folders = params.get("workspaceFolders").and_then(Value::as_array);
    match folders {
        Some(folders) => folders.iter().filter_map(|one| path(one.get("uri")?)).collect(),
        None => params.get("rootUri").and_then(path).into_iter().collect(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn encoding_of(offered: Value) -> PositionEncoding {
        encoding(&json!({"capabilities": {"general": {"positionEncodings": offered}}}))
    }

    #[test]
    fn the_encoding_is_one_that_the_client_offers() {
        assert_eq!(encoding_of(json!(["utf-16", "utf-8"])), PositionEncoding::Utf8);
        assert_eq!(encoding_of(json!(["utf-32"])), PositionEncoding::Utf32);
        assert_eq!(encoding_of(json!(["utf-32", "utf-16"])), PositionEncoding::Utf16);
        for nothing in [json!([]), json!(null), json!({"a": 1}), json!([7, null])] {
            assert_eq!(encoding_of(nothing), PositionEncoding::Utf16);
        }
    }

    #[test]
    fn folders_are_those_of_the_workspace_or_the_root() {
        let both =
            json!({"rootUri": "file:///a", "workspaceFolders": [{"uri": "file:///b%20c"}, {}, 3]});
        assert_eq!(folders(&both), ["/b c"]);
        assert_eq!(folders(&json!({"rootUri": "file:///a"})), ["/a"]);
        assert!(folders(&json!({"rootUri": 3, "workspaceFolders": null})).is_empty());
        assert!(folders(&Value::Null).is_empty());
    }
}
