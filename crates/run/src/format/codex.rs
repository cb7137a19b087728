//! Events of `codex exec --json`.

use evalrig_core::model::{Call, Map, Tokens, Transcript, Value};

use super::conversation::Conversation;
use super::measure::{self, given};
use crate::agent::StreamFault;

use super::{event_lines, fault, json, shorten};

/// Items that are uses of tools, each with the keys that hold what came back. What else an item
/// holds is what the tool was called with.
const TOOLS: &[(&str, &[&str])] = &[
    ("command_execution", &["aggregated_output"]),
    ("file_change", &[]),
    ("mcp_tool_call", &["result", "error"]),
    ("web_search", &["result", "results"]),
];

/// Keys of an item that say how it went.
const STATE: &[&str] = &["id", "type", "status", "exit_code"];

pub(crate) fn read(output: &[u8]) -> Result<Transcript, StreamFault> {
    let mut stream = Stream::default();
    for line in event_lines(output) {
        match json::parse(&line) {
            Ok(Value::Map(event)) => stream.take(&event),
            _ => {
                stream.stray.get_or_insert_with(|| shorten(&line));
            }
        }
    }
    stream.transcript()
}

#[derive(Debug, Default)]
struct Stream {
    said: Conversation,
    calls: usize,
    /// Counts are those of the whole thread, so the last ones hold.
    completed: Option<Option<Map>>,
    failed: Option<String>,
    /// The last complaint. It may be passing, so it only explains a stream that breaks off.
    complaint: Option<String>,
    /// The first line that is no event.
    stray: Option<String>,
}

impl Stream {
    fn take(&mut self, event: &Map) {
        match event.get("type").and_then(Value::as_str) {
            Some("item.completed") => {
                if let Some(Value::Map(item)) = event.get("item") {
                    self.take_item(item);
                }
            }
            Some("turn.completed") => {
                let usage = event.get("usage").and_then(Value::as_map);
                self.completed = Some(usage.cloned());
            }
            Some("turn.failed") => {
                let error = event.get("error").and_then(Value::as_map);
                let message = error.and_then(|error| error.get("message")?.as_str());
                self.failed = Some(message.unwrap_or("no reason given").to_owned());
            }
            Some("error") => {
                let message = event.get("message").and_then(Value::as_str);
                self.complaint = message.map(str::to_owned);
            }
            _ => {}
        }
    }

    fn take_item(&mut self, item: &Map) {
        let kind = item.get("type").and_then(Value::as_str).unwrap_or_default();
        if kind == "agent_message" {
            let text = item.get("text").and_then(Value::as_str);
            self.said.say(text.unwrap_or_default());
        } else if let Some((tool, outputs)) = TOOLS.iter().find(|(tool, _)| *tool == kind) {
            self.take_call(item, tool, outputs);
        }
    }

    fn take_call(&mut self, item: &Map, tool: &str, outputs: &[&str]) {
        self.calls += 1;
        let id = item.get("id").and_then(Value::as_str);
        let id = id.map_or_else(|| format!("call_{}", self.calls), str::to_owned);
        let args = item
            .iter()
            .filter(|(key, _)| !STATE.contains(key) && !outputs.contains(key))
            .map(|(key, value)| (key.to_owned(), value.clone()));
        let call = Call {
            id: id.clone(),
            tool: tool.to_owned(),
            args: Value::Map(args.collect()),
            output: None,
            duration_ms: None,
        };
        let message = self.said.open();
        self.said.add_call(message, call);
        if let Some(output) = outputs.iter().find_map(|key| given(item, key)) {
            self.said.add_result(&id, output.clone());
        }
    }

    fn transcript(self) -> Result<Transcript, StreamFault> {
        if let Some(reason) = &self.failed {
            let message = format!("the agent ended with an error: {reason}");
            return Err(StreamFault::Reported(fault(message)));
        }
        let Some(usage) = &self.completed else {
            let message = "the output has no `turn.completed` event";
            let said = self.complaint.or(self.stray);
            let message = match said {
                Some(said) => format!("{message}: {said}"),
                None => message.to_owned(),
            };
            return Err(StreamFault::Unfinished(fault(message)));
        };
        let tokens = usage.as_ref().map_or(Ok(None), tokens);
        let tokens = tokens.map_err(|why| StreamFault::Reported(fault(why)))?;
        let mut transcript = self.said.transcript();
        transcript.tokens = tokens;
        Ok(transcript)
    }
}

/// Cached tokens are counted as input already, and reasoning as output.
fn tokens(usage: &Map) -> Result<Option<Tokens>, String> {
    let input = measure::count(usage, "input_tokens")?;
    let output = measure::count(usage, "output_tokens")?;
    let cached = measure::count(usage, "cached_input_tokens")?.unwrap_or(0);
    Ok(input.zip(output).map(|(input, output)| Tokens {
        input,
        output,
        cached,
    }))
}

#[cfg(test)]
mod tests {
    use evalrig_core::model::JsonStyle;

    use super::*;

    const END: &str = r#"{"type":"turn.completed","usage":{"input_tokens":50,"cached_input_tokens":20,"output_tokens":7,"reasoning_output_tokens":3}}"#;

    fn item(rest: &str) -> String {
        format!(r#"{{"type":"item.completed","item":{{{rest}}}}}"#)
    }

    fn read_lines(lines: &[String]) -> Result<Transcript, StreamFault> {
        read(lines.join("\n").as_bytes())
    }

    fn failed(lines: &[&str]) -> (bool, String) {
        match read(lines.join("\n").as_bytes()).unwrap_err() {
            StreamFault::Reported(failure) => (true, failure.fault.message),
            StreamFault::Unfinished(failure) => (false, failure.fault.message),
        }
    }

    #[test]
    fn items_become_messages_and_calls() {
        let read = read_lines(&[
            r#"{"type":"thread.started","thread_id":"1"}"#.to_owned(),
            item(r#""id":"i0","type":"error","message":"a warning""#),
            r#"{"type":"error","message":"Reconnecting... 1/5"}"#.to_owned(),
            r#"{"type":"item.started","item":{"id":"i1","type":"command_execution","command":"ls","aggregated_output":"","exit_code":null,"status":"in_progress"}}"#.to_owned(),
            item(r#""id":"i1","type":"command_execution","command":"ls","aggregated_output":"a\n","exit_code":0,"status":"completed""#),
            item(r#""id":"i2","type":"file_change","changes":[{"path":"/w/a","kind":"add"}],"status":"completed""#),
            item(r#""id":"i3","type":"mcp_tool_call","server":"s","tool":"t","arguments":{"q":1},"result":null,"error":{"message":"no"},"status":"failed""#),
            item(r#""type":"web_search","query":"q""#),
            item(r#""id":"i5","type":"reasoning","text":"hm""#),
            item(r#""id":"i6","type":"agent_message","text":"first""#),
            item(r#""id":"i7","type":"agent_message","text":"last""#),
            END.to_owned(),
        ])
        .unwrap();
        assert_eq!(read.answer, "last");
        let shown: Vec<_> = read
            .calls
            .unwrap()
            .iter()
            .map(|call| {
                let json = |value: &Value| value.to_json(JsonStyle::Compact);
                let output = call.output.as_ref().map(json).unwrap_or_default();
                format!("{} {} {} {output}", call.id, call.tool, json(&call.args))
            })
            .collect();
        assert_eq!(
            shown,
            [
                r#"i1 command_execution {"command":"ls"} "a\n""#,
                r#"i2 file_change {"changes":[{"path":"/w/a","kind":"add"}]} "#,
                r#"i3 mcp_tool_call {"server":"s","tool":"t","arguments":{"q":1}} {"message":"no"}"#,
                r#"call_4 web_search {"query":"q"} "#,
            ]
        );
        let tokens = read.tokens.unwrap();
        assert_eq!((tokens.input, tokens.output, tokens.cached), (50, 7, 20));
        assert_eq!(
            (read.cost_usd, read.duration_ms, read.model),
            (None, None, None)
        );
    }

    #[test]
    fn a_failed_turn_is_a_failure() {
        let line = r#"{"type":"turn.failed","error":{"message":"status 401"}}"#;
        assert_eq!(
            failed(&[line, END]),
            (true, "the agent ended with an error: status 401".to_owned())
        );
        let line = r#"{"type":"turn.failed","error":null}"#;
        assert_eq!(
            failed(&[line]).1,
            "the agent ended with an error: no reason given"
        );
    }

    #[test]
    fn a_stream_that_breaks_off_is_unfinished() {
        let none = "the output has no `turn.completed` event";
        assert_eq!(failed(&[]), (false, none.to_owned()));
        let line = r#"{"type":"error","message":"waiting for network"}"#;
        let message = format!("{none}: waiting for network");
        assert_eq!(failed(&[line, &END[..40]]), (false, message));
        assert_eq!(
            failed(&["{\"type\""]),
            (false, format!("{none}: {{\"type\""))
        );
    }

    #[test]
    fn tokens_may_be_missing_but_not_wrong() {
        let read = |usage: &str| {
            let line = format!(r#"{{"type":"turn.completed","usage":{usage}}}"#);
            read(line.as_bytes())
        };
        assert_eq!(read("null").unwrap().tokens, None);
        assert_eq!(read("{}").unwrap().tokens, None);
        assert!(read(r#"{"input_tokens":1.5,"output_tokens":1}"#).is_err());
    }
}
