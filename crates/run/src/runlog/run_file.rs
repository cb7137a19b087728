//! `run_N.yaml`: one run with all its messages, for replay (spec 13.4).

use evalrig_core::model::{JsonStyle, Map, Number, Value};
use evalrig_core::syntax::edit::raw_value;
use evalrig_core::syntax::{Node, decode, lenient_json_value, lone_tree};

use super::history_entry::{cost_value, number_or_null};

#[derive(Debug, Clone, PartialEq, Default)]
pub struct RunFile {
    pub system_prompt: String,
    pub model: String,
    /// Where the target ran.
    pub cwd: String,
    pub tokens: Option<u64>,
    pub cost: Option<f64>,
    pub duration_ms: Option<u64>,
    /// Local time, as written.
    pub timestamp: String,
    /// The `expected` that evalrig wrote into the summary with this run. Any other text there is a
    /// person's.
    pub expected: Option<String>,
    /// Sent and received, in the shape of chat APIs.
    pub messages: Vec<Value>,
}

impl RunFile {
    /// The content of the file.
    pub fn to_text(&self) -> String {
        let quoted = |text: &str| JsonStyle::Spaced.quote(text);
        let scalar = |value: Value| value.to_json(JsonStyle::Spaced);
        let mut out = String::new();
        for (key, value) in [
            ("system_prompt", quoted(&self.system_prompt)),
            ("model", quoted(&self.model)),
            ("cwd", quoted(&self.cwd)),
            ("tokens", scalar(number_or_null(self.tokens))),
            ("cost", scalar(cost_value(self.cost))),
            ("duration_ms", scalar(number_or_null(self.duration_ms))),
            ("timestamp", quoted(&self.timestamp)),
        ] {
            out += &format!("{key}: {value}\n");
        }
        if let Some(expected) = &self.expected {
            out += &format!("expected: {}\n", quoted(expected));
        }
        out += "messages: |\n";
        if self.messages.is_empty() {
            return out + "  []\n";
        }
        let lines = self.messages.iter().map(|one| one.to_json(JsonStyle::Spaced));
        let lines: Vec<String> = lines.map(|line| format!("    {line}")).collect();
        out + "  [\n" + &lines.join(",\n") + "\n  ]\n"
    }

    /// Fails with a reason for the user.
    pub fn read(bytes: Vec<u8>) -> Result<Self, String> {
        let (text, _) = decode(bytes).map_err(|_| "it is not UTF-8".to_owned())?;
        let tree = lone_tree(text).map_err(|reason| format!("it is not YAML: {reason}"))?;
        let root = tree.root();
        if !root.is_mapping() {
            return Err("it is not a mapping".to_owned());
        }
        let number = |key| match root.get(key).map(raw_value) {
            Some(Value::Number(number)) => Some(number),
            _ => None,
        };
        let whole = |key| number(key).as_ref().and_then(Number::as_u64);
        Ok(Self {
            system_prompt: text_at(root, "system_prompt"),
            model: text_at(root, "model"),
            cwd: text_at(root, "cwd"),
            tokens: whole("tokens"),
            cost: number("cost").map(|cost| cost.value()),
            duration_ms: whole("duration_ms"),
            timestamp: text_at(root, "timestamp"),
            expected: root.get("expected").and_then(Node::scalar_text).map(str::to_owned),
            messages: match root.get("messages") {
                None => Vec::new(),
                Some(node) => parse_messages(raw_value(node))?,
            },
        })
    }

    /// Reads `run_N.jsonl` of older clients: one message per line and nothing else.
    pub fn read_lines(bytes: Vec<u8>) -> Result<Self, String> {
        let (text, _) = decode(bytes).map_err(|_| "it is not UTF-8".to_owned())?;
        let mut messages = Vec::new();
        for (at, line) in text.lines().enumerate() {
            if line.trim().is_empty() {
                continue;
            }
            match lenient_json_value(line) {
                Ok(message) => messages.push(message),
                Err(fault) => return Err(format!("line {}: {}", at + 1, fault.reason)),
            }
        }
        Ok(Self { system_prompt: system_prompt(&messages), messages, ..Self::default() })
    }

    /// The messages received after the first `asked` user messages. Agents that simulate a user
    /// return user messages too.
    pub fn received(&self, asked: usize) -> &[Value] {
        let is = |message: &Value, role: &str| role_of(message) == Some(role);
        let all = self.messages.iter().enumerate();
        let users = all.filter(|(_, one)| is(one, "user")).map(|(at, _)| at);
        let first = match users.take(asked).last() {
            Some(at) => at + 1,
            None => {
                let mut all = self.messages.iter();
                all.position(|one| !is(one, "system")).unwrap_or(0)
            }
        };
        &self.messages[first..]
    }
}

pub(super) fn role_of(message: &Value) -> Option<&str> {
    message.as_map()?.get("role")?.as_str()
}

/// The first system message, or an empty string.
pub(super) fn system_prompt(messages: &[Value]) -> String {
    let first = messages.iter().find(|one| role_of(one) == Some("system"));
    let content = first.and_then(Value::as_map).and_then(|map| map.get("content"));
    match content {
        Some(Value::String(text)) => text.clone(),
        Some(Value::Null) | None => String::new(),
        Some(other) => other.to_json(JsonStyle::Spaced),
    }
}

fn parse_messages(value: Value) -> Result<Vec<Value>, String> {
    let value = match value {
        Value::String(text) => lenient_json_value(&text)
            .map_err(|fault| format!("`messages` are not JSON: {}", fault.reason))?,
        other => other,
    };
    match value {
        Value::List(messages) => Ok(messages),
        Value::Null => Ok(Vec::new()),
        _ => Err("`messages` are not a list".to_owned()),
    }
}

fn text_at(root: Node<'_>, key: &str) -> String {
    let node = root.get(key).filter(|node| !node.is_null());
    let text = node.and_then(Node::scalar_text);
    text.unwrap_or_default().to_owned()
}

/// Rewrites the arguments of every call as JSON with spaces, as chat APIs and Python do.
pub(super) fn with_spaced_arguments(message: Value) -> Value {
    let Value::Map(mut map) = message else {
        return message;
    };
    if let Some(Value::List(calls)) = map.remove("tool_calls") {
        let calls: Vec<Value> = calls.into_iter().map(spaced_call).collect();
        map.insert("tool_calls", calls);
    }
    map.into()
}

fn spaced_call(call: Value) -> Value {
    let Value::Map(mut map) = call else {
        return call;
    };
    let function = match map.get("function") {
        Some(Value::Map(function)) => function.clone(),
        _ => return map.into(),
    };
    map.insert("function", spaced_function(function));
    map.into()
}

fn spaced_function(mut function: Map) -> Map {
    if let Some(Value::String(text)) = function.get("arguments")
        && let Ok(arguments @ Value::Map(_)) = lenient_json_value(text)
    {
        let spaced = arguments.to_json(JsonStyle::Spaced);
        function.insert("arguments", spaced);
    }
    function
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The worked file of spec 13.4.
    const WORKED: &str = include_str!("worked_run.yaml");

    #[test]
    fn the_worked_file_comes_back_byte_for_byte() {
        let run = RunFile::read(WORKED.as_bytes().to_vec()).unwrap();
        assert_eq!(run.messages.len(), 4);
        assert_eq!((run.tokens, run.duration_ms), (Some(155), Some(3595)));
        assert_eq!(run.to_text(), WORKED);
    }

    #[test]
    fn texts_that_could_break_the_file_are_escaped() {
        let nasty = "a\u{2028}b\u{85}\u{feff}\"\\\n\t\u{7f}é: #";
        let mut message = Map::new();
        message.insert("role", "user");
        message.insert("content", nasty);
        let run = RunFile {
            system_prompt: nasty.to_owned(),
            cwd: "C:\\x".to_owned(),
            messages: vec![message.into()],
            ..RunFile::default()
        };
        let text = run.to_text();
        assert!(text.contains("tokens: null\ncost: null\nduration_ms: null\n"));
        assert!(!text.contains(['\u{2028}', '\u{85}', '\u{feff}', '\u{7f}']));
        assert_eq!(RunFile::read(text.into_bytes()).unwrap(), run);
    }

    #[test]
    fn no_messages_are_an_empty_array() {
        let text = RunFile::default().to_text();
        assert!(text.ends_with("messages: |\n  []\n"));
        assert!(RunFile::read(text.into_bytes()).unwrap().messages.is_empty());
    }

    #[test]
    fn reads_files_with_unknown_keys() {
        let text = "agent: \"a.py\"\nsystem_prompt: |\n  You are\n  kind\nmodel: \"m\"\ntokens: 5\ncost: 0.01\nmessages: |\n  [\n    {\"role\": \"user\", \"content\": \"Hi\"}\n  ]\n";
        let run = RunFile::read(text.as_bytes().to_vec()).unwrap();
        assert_eq!(run.system_prompt, "You are\nkind\n");
        assert_eq!((run.model.as_str(), run.cost), ("m", Some(0.01)));
        assert_eq!(role_of(&run.messages[0]), Some("user"));
    }

    #[test]
    fn reads_one_message_per_line() {
        let text =
            "{\"role\":\"system\",\"content\":\"S\"}\n\n{\"role\":\"user\",\"content\":\"Hi\"}\n";
        let run = RunFile::read_lines(text.as_bytes().to_vec()).unwrap();
        assert_eq!((run.messages.len(), run.system_prompt.as_str()), (2, "S"));
        let error = RunFile::read_lines(b"{}\n{".to_vec()).unwrap_err();
        assert!(error.starts_with("line 2: "), "{error}");
    }

    #[test]
    fn other_files_are_refused() {
        for (text, reason) in [
            ("messages: |\n  [oops\n", "`messages` are not JSON"),
            ("messages: 3\n", "`messages` are not a list"),
            ("- 1\n", "it is not a mapping"),
            ("a: [\n", "it is not YAML"),
        ] {
            let error = RunFile::read(text.as_bytes().to_vec()).unwrap_err();
            assert!(error.starts_with(reason), "{error}");
        }
    }

    #[test]
    fn received_messages_follow_the_last_sent_one() {
        let run = RunFile::read(WORKED.as_bytes().to_vec()).unwrap();
        assert_eq!(run.received(1).len(), 3);
        let twice = RunFile {
            messages: [run.messages.clone(), run.messages].concat(),
            ..RunFile::default()
        };
        assert_eq!([1, 2, 3].map(|asked| twice.received(asked).len()), [7, 3, 3]);
        let system = RunFile::read_lines(
            b"{\"role\":\"system\",\"content\":\"S\"}\n{\"role\":\"assistant\",\"content\":\"a\"}"
                .to_vec(),
        );
        assert_eq!(system.unwrap().received(1).len(), 1);
    }
}
