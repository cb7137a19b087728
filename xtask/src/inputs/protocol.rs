//! Messages of others: those from the server of a queue, and those to the language server. Of the latter, every line is the body of one message, and then the bytes are the
//! stream itself. The server answers that a request failed if it panicked, and goes on; here that is a
//! fault.

use std::io::Cursor;

use camino::Utf8Path;
use evalrig_core::source::without_dots;
use evalrig_lsp::serve;
use evalrig_run::queue::check_messages;

const PRELUDE: &[&str] = &[
    r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"capabilities":{}}}"#,
    r#"{"jsonrpc":"2.0","method":"textDocument/didOpen","params":{"textDocument":{"uri":"file:///nowhere/EVAL.yaml","languageId":"yaml","version":1,"text":"name: demo\nexecution: {target: t}\ntests:\n  - id: a\n    criteria: é😀 {{ x }}\n    input: Hi\n    assert:\n      - type: contains\n        value: x\n  - cases.yaml\n"}}}"#,
    r#"{"jsonrpc":"2.0","method":"textDocument/didOpen","params":{"textDocument":{"uri":"file:///nowhere/cases.yaml","languageId":"yaml","version":1,"text":"- {id: b, criteria: c, input: i}\n"}}}"#,
    r#"{"jsonrpc":"2.0","method":"textDocument/didOpen","params":{"textDocument":{"uri":"file:///nowhere/.evalrig/targets.yaml","languageId":"yaml","version":1,"text":"targets:\n  - {name: t, provider: mock, response: x}\n"}}}"#,
    r#"{"jsonrpc":"2.0","method":"textDocument/didOpen","params":{"textDocument":{"uri":"file:///nowhere/d.jsonl","languageId":"jsonl","version":1,"text":"{\"id\": \"l\", \"criteria\": \"c\", \"input\": \"i\"}\n"}}}"#,
];

pub(super) fn lsp(bytes: &[u8]) {
    let mut stream = Vec::new();
    let lines = bytes.split(|byte| *byte == b'\n');
    for body in PRELUDE.iter().map(|body| body.as_bytes()).chain(lines) {
        stream.extend_from_slice(format!("Content-Length: {}\r\n\r\n", body.len()).as_bytes());
        stream.extend_from_slice(body);
    }
    stream.extend_from_slice(bytes);
    let mut output = Vec::new();
    let ended = serve(Cursor::new(stream), &mut output, "0");
    assert!(ended.is_ok(), "writing to memory does not fail");
    let text = String::from_utf8(output).expect("the output is JSON");
    assert!(!text.contains("please report the message"), "a message panicked");
}

/// Whatever the server of a queue has: a worker writes nothing outside of the bundle.
pub(super) fn bundle(bytes: &[u8]) {
    let root = Utf8Path::new("/cache/bundle");
    for path in check_messages(bytes) {
        let written = without_dots(&root.join(&path));
        assert!(written.starts_with(root), "{path:?} leaves the bundle");
    }
}
