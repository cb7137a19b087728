//! A client of the language server: sends framed JSON, keeps the diagnostics that are published, and
//! counts positions in the encoding that was agreed on.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use serde_json::{Value, json};

use crate::support::Project;

#[derive(Debug)]
pub struct Client<'p> {
    pub project: &'p Project,
    child: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
    next_id: i32,
    encoding: String,
    texts: BTreeMap<String, (i32, String)>,
    /// By path inside the project.
    published: BTreeMap<String, Value>,
    /// Notifications and requests of the server, without diagnostics.
    pub heard: Vec<Value>,
}

impl<'p> Client<'p> {
    pub fn start(project: &'p Project) -> Self {
        let capabilities = json!({
            "textDocument": {"completion": {"completionItem": {"snippetSupport": true}}},
        });
        Self::start_with(project, &capabilities)
    }

    pub fn start_with(project: &'p Project, capabilities: &Value) -> Self {
        let mut client = Self::connect(project);
        let folder = json!({"uri": client.uri(""), "name": "project"});
        let params = json!({
            "processId": null, "rootUri": null, "workspaceFolders": [folder],
            "capabilities": capabilities,
        });
        let result = client.request("initialize", &params).unwrap();
        client.encoding = result["capabilities"]["positionEncoding"].as_str().unwrap().to_owned();
        client.notify("initialized", &json!({}));
        client
    }

    /// Without `initialize`.
    pub fn connect(project: &'p Project) -> Self {
        Self::connect_to(project, project.command(&["lsp", "--stdio"]))
    }

    /// The server panics at each message with this method.
    pub fn connect_with_panic(project: &'p Project, method: &str) -> Self {
        let mut command = project.command(&["lsp", "--stdio"]);
        command.env("EVALRIG_TEST_PANIC", method);
        Self::connect_to(project, command)
    }

    fn connect_to(project: &'p Project, mut command: Command) -> Self {
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::inherit());
        let mut child = command.spawn().unwrap();
        Self {
            project,
            input: child.stdin.take(),
            output: BufReader::new(child.stdout.take().unwrap()),
            child,
            next_id: 0,
            encoding: "utf-16".to_owned(),
            texts: BTreeMap::new(),
            published: BTreeMap::new(),
            heard: Vec::new(),
        }
    }

    pub fn uri(&self, name: &str) -> String {
        let path = self.project.path(name);
        format!("file://{}", path.to_str().unwrap().trim_end_matches('/'))
    }

    pub fn send_bytes(&mut self, bytes: &[u8]) {
        let input = self.input.as_mut().unwrap();
        input.write_all(bytes).unwrap();
        input.flush().unwrap();
    }

    pub fn send(&mut self, message: &Value) {
        let body = message.to_string();
        self.send_bytes(format!("Content-Length: {}\r\n\r\n{body}", body.len()).as_bytes());
    }

    pub fn notify(&mut self, method: &str, params: &Value) {
        self.send(&json!({"jsonrpc": "2.0", "method": method, "params": params}));
    }

    /// The result, or the error.
    pub fn request(&mut self, method: &str, params: &Value) -> Result<Value, Value> {
        self.next_id += 1;
        let id = self.next_id;
        self.send(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}));
        self.answer_to(&json!(id))
    }

    #[track_caller]
    pub fn answer_to(&mut self, id: &Value) -> Result<Value, Value> {
        loop {
            let message = self.receive().expect("the server ended");
            if message.get("method").is_some() {
                self.hear(message);
            } else if message["id"] == *id {
                return match message.get("error") {
                    Some(error) => Err(error.clone()),
                    None => Ok(message["result"].clone()),
                };
            }
        }
    }

    /// The next message; `None` at the end of the stream.
    pub fn receive(&mut self) -> Option<Value> {
        let mut length = 0;
        loop {
            let mut line = String::new();
            if self.output.read_line(&mut line).unwrap() == 0 {
                return None;
            }
            let line = line.trim();
            if line.is_empty() {
                break;
            }
            if let Some(value) = line.strip_prefix("Content-Length: ") {
                length = value.parse().unwrap();
            }
        }
        let mut body = vec![0; length];
        self.output.read_exact(&mut body).unwrap();
        Some(serde_json::from_slice(&body).unwrap())
    }

    fn hear(&mut self, message: Value) {
        if message["method"] != "textDocument/publishDiagnostics" {
            self.heard.push(message);
            return;
        }
        let uri = message["params"]["uri"].as_str().unwrap();
        let name = uri.strip_prefix(&(self.uri("") + "/")).unwrap_or(uri).to_owned();
        self.published.insert(name, message["params"].clone());
    }

    /// Opens a file of the project as it is on the disk.
    pub fn open(&mut self, name: &str) {
        let text = self.project.read(name);
        self.open_as(name, &text);
    }

    /// Opens a document with a text that is not on the disk.
    pub fn open_as(&mut self, name: &str, text: &str) {
        self.texts.insert(name.to_owned(), (1, text.to_owned()));
        let item = json!({
            "uri": self.uri(name), "languageId": "yaml", "version": 1, "text": text,
        });
        self.notify("textDocument/didOpen", &json!({"textDocument": item}));
    }

    /// Replaces the only place of `old` by `new`, as a change of that range.
    #[track_caller]
    pub fn replace(&mut self, name: &str, old: &str, new: &str) {
        let text = self.text(name);
        assert_eq!(text.matches(old).count(), 1, "`{old}` in {text}");
        let start = text.find(old).unwrap();
        let range = json!({
            "start": self.position(&text, start),
            "end": self.position(&text, start + old.len()),
        });
        let (version, text) = self.texts.get_mut(name).unwrap();
        *version += 1;
        *text = text.replacen(old, new, 1);
        let version = *version;
        let document = json!({"uri": self.uri(name), "version": version});
        let changes = json!([{"range": range, "text": new}]);
        let params = json!({"textDocument": document, "contentChanges": changes});
        self.notify("textDocument/didChange", &params);
    }

    pub fn close(&mut self, name: &str) {
        self.texts.remove(name);
        let document = json!({"uri": self.uri(name)});
        self.notify("textDocument/didClose", &json!({"textDocument": document}));
    }

    pub fn text(&self, name: &str) -> String {
        self.texts.get(name).map_or_else(|| self.project.read(name), |(_, text)| text.clone())
    }

    fn units(&self, text: &str) -> usize {
        match self.encoding.as_str() {
            "utf-8" => text.len(),
            "utf-16" => text.encode_utf16().count(),
            _ => text.chars().count(),
        }
    }

    pub fn position(&self, text: &str, offset: usize) -> Value {
        let line = text[..offset].rfind('\n').map_or(0, |at| at + 1);
        json!({
            "line": text[..offset].matches('\n').count(),
            "character": self.units(&text[line..offset]),
        })
    }

    /// What a range of a file says.
    pub fn at_range(&self, name: &str, range: &Value) -> String {
        let text = self.text(name);
        let offset = |place: &Value| {
            let line = place["line"].as_u64().unwrap() as usize;
            let start: usize = text.split_inclusive('\n').take(line).map(str::len).sum();
            let units = place["character"].as_u64().unwrap() as usize;
            let rest = text[start..].char_indices().map(|(at, _)| at).chain([text.len() - start]);
            let found = rest.into_iter().find(|at| self.units(&text[start..start + at]) == units);
            start + found.expect("a position on a character")
        };
        text[offset(&range["start"])..offset(&range["end"])].to_owned()
    }

    /// The document, and the place of `needle` in it; `|` in the needle is the cursor.
    #[track_caller]
    pub fn place(&self, name: &str, needle: &str) -> Value {
        let text = self.text(name);
        let cursor = needle.find('|').unwrap_or(0);
        let needle = needle.replacen('|', "", 1);
        assert_eq!(text.matches(&needle).count(), 1, "`{needle}` in {text}");
        let offset = text.find(&needle).unwrap() + cursor;
        json!({"textDocument": {"uri": self.uri(name)}, "position": self.position(&text, offset)})
    }

    /// The result of a request about a place.
    #[track_caller]
    pub fn ask(&mut self, method: &str, name: &str, needle: &str) -> Value {
        let params = self.place(name, needle);
        self.request(method, &params).unwrap()
    }

    /// The result of a request about a document.
    pub fn ask_all(&mut self, method: &str, name: &str) -> Value {
        let params = json!({"textDocument": {"uri": self.uri(name)}});
        self.request(method, &params).unwrap()
    }

    pub fn code_actions(&mut self, name: &str, needle: &str, only: &[&str]) -> Value {
        let place = self.place(name, needle);
        let position = &place["position"];
        let mut context = json!({"diagnostics": []});
        if !only.is_empty() {
            context["only"] = json!(only);
        }
        let params = json!({
            "textDocument": place["textDocument"],
            "range": {"start": position, "end": position},
            "context": context,
        });
        self.request("textDocument/codeAction", &params).unwrap()
    }

    /// What is published of a file once the server has nothing left to load, as `line: code`.
    pub fn diagnostics(&mut self, name: &str) -> Vec<String> {
        let found = self.published(name);
        let found = found["diagnostics"].as_array().cloned().unwrap_or_default();
        let line = |one: &Value| one["range"]["start"]["line"].as_u64().unwrap() + 1;
        found
            .iter()
            .map(|one| format!("{}: {}", line(one), one["code"].as_str().unwrap()))
            .collect()
    }

    pub fn published(&mut self, name: &str) -> Value {
        // References are answered when everything is loaded, and what was found comes first.
        let place = json!({
            "textDocument": {"uri": self.uri("nothing")},
            "position": {"line": 0, "character": 0},
            "context": {"includeDeclaration": true},
        });
        let _ = self.request("textDocument/references", &place);
        self.published.get(name).cloned().unwrap_or(Value::Null)
    }

    /// The text of a file after the edits of a workspace edit.
    pub fn edited(&self, name: &str, edit: &Value) -> String {
        let mut text = self.text(name);
        let mut edits = edit["changes"][self.uri(name)].as_array().unwrap().clone();
        edits.sort_by_key(|one| {
            let start = &one["range"]["start"];
            std::cmp::Reverse((start["line"].as_u64(), start["character"].as_u64()))
        });
        for edit in edits {
            let old = self.at_range(name, &edit["range"]);
            let start = &edit["range"]["start"];
            let line = start["line"].as_u64().unwrap() as usize;
            let from: usize = text.split_inclusive('\n').take(line).map(str::len).sum();
            let units = start["character"].as_u64().unwrap() as usize;
            let mut places =
                text[from..].char_indices().map(|(at, _)| at).chain([text.len() - from]);
            let column = places.find(|at| self.units(&text[from..from + at]) == units).unwrap();
            let at = from + column;
            text.replace_range(at..at + old.len(), edit["newText"].as_str().unwrap());
        }
        text
    }

    /// Says goodbye; the exit code.
    pub fn shutdown(mut self) -> i32 {
        assert_eq!(self.request("shutdown", &Value::Null), Ok(Value::Null));
        self.notify("exit", &Value::Null);
        self.child.wait().unwrap().code().unwrap()
    }

    /// Closes the stream; the exit code.
    pub fn hang_up(mut self) -> i32 {
        self.input = None;
        self.child.wait().unwrap().code().unwrap()
    }

    /// Waits for the end.
    pub fn ended(mut self) -> i32 {
        self.child.wait().unwrap().code().unwrap()
    }
}

impl Drop for Client<'_> {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
