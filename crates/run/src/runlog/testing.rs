//! A store in a temporary directory, and runs to record in it.

use std::fs;

use camino::{Utf8Path, Utf8PathBuf};
use evalrig_core::model::Map;
use evalrig_core::syntax::json_value;

use super::*;

pub(super) struct Folder {
    _folder: tempfile::TempDir,
    pub(super) store: Store,
}

pub(super) fn folder() -> Folder {
    let folder = tempfile::tempdir().unwrap();
    let path = Utf8PathBuf::from_path_buf(folder.path().to_owned()).unwrap();
    Folder { _folder: folder, store: Store::of_root(&path) }
}

pub(super) fn read(path: &Utf8Path) -> String {
    fs::read_to_string(path).unwrap()
}

pub(super) fn run(input: &str, output: &str) -> NewRun {
    let mut message = Map::new();
    message.insert("role", "user");
    message.insert("content", input);
    NewRun {
        asked: vec![UserMessage::new(input)],
        output: output.to_owned(),
        model: "m".to_owned(),
        timestamp: "2025-12-25 11:56:26".to_owned(),
        messages: vec![message.into()],
        ..NewRun::default()
    }
}

/// The run of spec 13.3 and 13.4.
pub(super) fn alice(timestamp: &str, duration_ms: u64) -> NewRun {
    let messages = r#"[
      {"role":"user","content":"Say hello to Alice"},
      {"role":"assistant","content":null,"tool_calls":[{"id":"call_1","type":"function","function":{"name":"greet","arguments":"{\"name\":\"Alice\"}"}}]},
      {"role":"tool","tool_call_id":"call_1","name":"greet","content":"Hello, Alice!"},
      {"role":"assistant","content":"Hello, Alice!"}]"#;
    NewRun {
        asked: vec![UserMessage::new("Say hello to Alice")],
        output: "Hello, Alice!".to_owned(),
        tools_called: vec!["greet(name='Alice')".to_owned()],
        expected: Some("Hello, Alice!".to_owned()),
        evaluation: "pass".to_owned(),
        model: "gemini-2.5-flash".to_owned(),
        cwd: "/path/to/project".to_owned(),
        tokens: Some(155),
        cost_usd: Some(0.0),
        duration_ms: Some(duration_ms),
        timestamp: timestamp.to_owned(),
        messages: json_value(messages).unwrap().as_list().unwrap().to_vec(),
    }
}
