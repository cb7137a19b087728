//! The protocol itself: beginning and end, encodings, and clients that misbehave.

use serde_json::{Value, json};

use crate::client::Client;
use crate::support::Project;

const SUITE: &str = "name: demo\ntests:\n  - {id: a, criteria: é😀, input: Hi, typo: 1}\n";
const TARGETS: &str = "targets: [{name: default, provider: mock, response: Hello}]\n";

#[test]
fn the_exit_code_says_whether_the_client_said_goodbye() {
    let project = Project::new(SUITE, TARGETS);
    assert_eq!(Client::start(&project).shutdown(), 0);
    assert_eq!(Client::start(&project).hang_up(), 1);
    let mut client = Client::connect(&project);
    client.notify("exit", &Value::Null);
    assert_eq!(client.ended(), 1);
}

#[test]
fn requests_before_the_beginning_and_after_the_end_are_refused() {
    let project = Project::new(SUITE, TARGETS);
    let mut client = Client::connect(&project);
    let early = client.request("textDocument/hover", &json!({})).unwrap_err();
    assert_eq!(early["code"], -32002);
    client.request("initialize", &json!({"capabilities": {}})).unwrap();
    assert_eq!(client.request("initialize", &json!({})).unwrap_err()["code"], -32600);
    assert_eq!(client.request("textDocument/nothing", &json!({})).unwrap_err()["code"], -32601);
    client.request("shutdown", &Value::Null).unwrap();
    assert_eq!(client.request("textDocument/hover", &json!({})).unwrap_err()["code"], -32600);
}

#[test]
fn a_panic_ends_one_message_and_not_the_server() {
    let project = Project::new(SUITE, TARGETS);
    for method in ["textDocument/hover", "textDocument/didOpen"] {
        let mut client = Client::connect_with_panic(&project, method);
        client.request("initialize", &json!({"capabilities": {}})).unwrap();
        client.open("EVAL.yaml");
        let document = json!({"uri": client.uri("EVAL.yaml")});
        let position = json!({"line": 0, "character": 0});
        let hover = json!({"textDocument": document, "position": position});
        let answer = client.request("textDocument/hover", &hover);
        let is_request = method == "textDocument/hover";
        assert_eq!(answer.is_err_and(|error| error["code"] == -32603), is_request, "{method}");
        let logged = client.heard.iter().any(|one| {
            one["params"]["message"].as_str().is_some_and(|text| text.contains("a message failed"))
        });
        assert_eq!(logged, !is_request, "{method}");
        client.request("textDocument/documentSymbol", &json!({"textDocument": document})).unwrap();
        assert_eq!(client.shutdown(), 0, "{method}");
    }
}

#[test]
fn positions_are_in_the_encoding_that_the_client_offers() {
    let project = Project::new(SUITE, TARGETS);
    // Before `typo` are 37 characters, of which one has two bytes and one has four.
    for (offered, column) in [("utf-8", 41), ("utf-16", 38), ("utf-32", 37)] {
        let capabilities = json!({"general": {"positionEncodings": [offered]}});
        let mut client = Client::start_with(&project, &capabilities);
        client.open("EVAL.yaml");
        let range = client.published("EVAL.yaml")["diagnostics"][0]["range"].clone();
        assert_eq!(range["start"], json!({"line": 2, "character": column}), "{offered}");
        assert_eq!(client.at_range("EVAL.yaml", &range), "typo");
        client.replace("EVAL.yaml", ", typo: 1", "");
        assert_eq!(client.published("EVAL.yaml")["diagnostics"], json!([]), "{offered}");
    }
}

#[test]
fn addresses_are_percent_encoded_and_those_of_the_client_are_kept() {
    let project = Project::empty();
    let name = "größe & mehr/a#b %41.eval.yaml";
    project.write(name, SUITE);
    let mut client = Client::start(&project);
    let folder = client.uri("");
    // An encoding that differs from ours but is as good.
    let uri = format!("{folder}/gr%c3%b6%C3%9Fe%20&%20mehr/a%23b%20%2541.eval.yaml");
    let item = json!({"uri": uri, "languageId": "yaml", "version": 1, "text": SUITE});
    client.notify("textDocument/didOpen", &json!({"textDocument": item}));
    let symbols = json!({"textDocument": {"uri": uri}});
    let symbols = client.request("textDocument/documentSymbol", &symbols).unwrap();
    assert_eq!(symbols[0]["name"], "a");
    client.published("");
    let published = client.published(uri.strip_prefix(&(folder + "/")).unwrap());
    assert_eq!(published["uri"], uri);
}

#[test]
fn a_request_that_is_taken_back_is_not_answered() {
    let project = Project::new(SUITE, TARGETS);
    let mut client = Client::start(&project);
    client.open("EVAL.yaml");
    let request = |id: &Value, method: &str| {
        let document = json!({"uri": client.uri("EVAL.yaml")});
        json!({"jsonrpc": "2.0", "id": id, "method": method, "params": {"textDocument": document}})
    };
    let framed = |message: &Value| {
        let body = message.to_string();
        format!("Content-Length: {}\r\n\r\n{body}", body.len())
    };
    // In one write, so that the server has all of them before it comes to the second.
    let first = framed(&request(&json!("first"), "textDocument/codeLens"));
    let second = framed(&request(&json!("second"), "textDocument/documentSymbol"));
    let cancel =
        framed(&json!({"jsonrpc": "2.0", "method": "$/cancelRequest", "params": {"id": "second"}}));
    let third = framed(&request(&json!("third"), "textDocument/documentSymbol"));
    client.send_bytes((first + &second + &cancel + &third).as_bytes());
    client.answer_to(&json!("first")).unwrap();
    let second = client.answer_to(&json!("second"));
    assert!(second.is_ok() || second == Err(json!({"code": -32800, "message": "cancelled"})));
    client.answer_to(&json!("third")).unwrap();
}

#[test]
fn hostile_messages_do_no_harm() {
    let project = Project::new(SUITE, TARGETS);
    let mut client = Client::start(&project);
    client.open("EVAL.yaml");
    let uri = client.uri("EVAL.yaml");
    client
        .send_bytes(b"\x00\xff noise\r\n\r\nContent-Length: x\r\n\r\nContent-Length: 3\r\n\r\n{{{");
    client.send_bytes(b"Content-Length: 2\r\nContent-Length: 4\r\n\r\nnull");
    for body in [
        json!([]),
        json!({"id": 1}),
        json!({"method": 7}),
        json!({"jsonrpc": "2.0", "id": {"a": 1}, "method": "shutdown"}),
        json!({"jsonrpc": "2.0", "method": "textDocument/didOpen", "params": {"textDocument": 3}}),
        json!({"jsonrpc": "2.0", "method": "textDocument/didChange", "params": []}),
        json!({"jsonrpc": "2.0", "method": "textDocument/didClose"}),
        json!({"jsonrpc": "2.0", "method": "$/setTrace", "params": "x"}),
        json!({"jsonrpc": "2.0", "id": "x", "result": null}),
    ] {
        client.send(&body);
    }
    let far = json!({"line": u32::MAX, "character": u32::MAX});
    let change = |start: &Value, end: &Value| {
        json!({
            "textDocument": {"uri": uri, "version": -5},
            "contentChanges": [{"range": {"start": start, "end": end}, "text": "\u{0}é"}],
        })
    };
    client.notify("textDocument/didChange", &change(&far, &json!({"line": 0, "character": 0})));
    client.notify("textDocument/didChange", &change(&json!({"line": 1, "character": 9999}), &far));
    for method in [
        "hover",
        "completion",
        "definition",
        "references",
        "prepareRename",
        "rename",
        "documentSymbol",
        "foldingRange",
        "semanticTokens/full",
        "codeLens",
        "inlayHint",
        "codeAction",
    ] {
        let method = format!("textDocument/{method}");
        for uri in [uri.as_str(), "untitled:1", "file:///nowhere/EVAL.yaml", "%", ""] {
            let params = json!({
                "textDocument": {"uri": uri}, "position": far, "newName": "\n",
                "range": {"start": far, "end": {"line": 0, "character": 0}},
                "context": {"diagnostics": [], "includeDeclaration": true},
            });
            // An answer or an error; in any case something comes back.
            let _ = client.request(&method, &params);
        }
        for params in [json!(null), json!([]), json!({"textDocument": {"uri": 3}}), json!("x")] {
            assert_eq!(client.request(&method, &params).unwrap_err()["code"], -32602, "{method}");
        }
    }
    assert_eq!(client.shutdown(), 0);
}

#[test]
fn a_large_document_is_survived() {
    let project = Project::new(SUITE, TARGETS);
    let mut client = Client::start(&project);
    let text = format!("name: demo\ndescription: {}\ntests: []\n", "x".repeat(20_000_000));
    client.open_as("EVAL.yaml", &text);
    assert!(!client.diagnostics("EVAL.yaml").is_empty());
    assert_eq!(client.shutdown(), 0);
}
