//! What agents print. Whatever happened to a stream on its way, it is an answer only if it is one from its
//! opening to its end; the rules are written here once more, apart from the readers.

use evalrig_core::model::{self as core, Map, Transcript};
use evalrig_core::syntax::lenient_json_value;
use evalrig_run::format::{self, OutputFormat};
use evalrig_run::provider::read_conversation;
use serde_json::{Value, json};

use super::Mutator;

/// Cuts of one stream at the ends of lines, and as many anywhere.
const MOST_CUTS: usize = 30;

/// The output of a program, in every format that a targets file can name.
pub(super) fn stream(bytes: &[u8]) {
    for format in OutputFormat::ALL {
        let is_read = |part: &[u8]| format::read(*format, part).is_ok();
        if !is_read(bytes) {
            continue;
        }
        for end in cuts(bytes).filter(|end| is_read(&bytes[..*end])) {
            let (part, rest) = bytes.split_at(end);
            let fault = match StreamRules::of(*format) {
                Some(rules) => rules.fault(part),
                None => fault_without_end(*format, part, rest),
            };
            assert!(
                fault.is_none(),
                "{format:?}, cut at byte {end}: {}",
                fault.unwrap_or_default()
            );
        }
    }
}

/// Why a part of an output in a format without an end of its own is not an answer. A text says nothing of its
/// end, and lines of `jsonl` are whole or not; there, only the exit status of the program tells.
fn fault_without_end(format: OutputFormat, part: &[u8], rest: &[u8]) -> Option<String> {
    match format {
        OutputFormat::Messages => {
            let is_whole = String::from_utf8_lossy(rest).trim().is_empty();
            (!is_whole).then(|| "the document has no end".to_owned())
        }
        OutputFormat::Jsonl => {
            let text = String::from_utf8_lossy(part);
            let last = text.rsplit('\n').find(|line| !line.trim().is_empty())?;
            object(last).is_none().then(|| format!("a line is cut: {}", shown(last)))
        }
        _ => None,
    }
}

/// What an agent says in the Agent Client Protocol. It is an answer only once it has replied to the prompt.
pub(super) fn acp(bytes: &[u8]) {
    check_uses(&format::read_acp(bytes));
    let Some(whole) = read_conversation(bytes) else { return };
    check_uses(&whole);
    let replied = end_of_reply(bytes);
    for end in cuts(bytes) {
        if read_conversation(&bytes[..end]).is_some() {
            assert!(
                replied.is_some_and(|replied| end >= replied),
                "cut at byte {end}, and the reply ends at {replied:?}"
            );
        }
    }
}

/// Uses of skills point at calls.
fn check_uses(read: &Transcript) {
    let uses = read.skills.used.as_deref().unwrap_or_default();
    let calls = read.calls.as_deref().unwrap_or_default().len();
    assert!(uses.iter().filter_map(|one| one.call).all(|call| call < calls));
}

/// The whole stream, cuts at the ends of lines, and cuts anywhere; the same for the same bytes.
fn cuts(bytes: &[u8]) -> impl Iterator<Item = usize> {
    let line_ends = bytes.iter().enumerate().filter(|(_, byte)| **byte == b'\n').map(|(at, _)| at);
    let sum =
        bytes.iter().fold(0_u64, |sum, byte| sum.wrapping_mul(31).wrapping_add((*byte).into()));
    let (mut random, length) = (Mutator::new(sum), bytes.len());
    let anywhere = (0..MOST_CUTS).map(move |_| random.below(length + 1));
    [length].into_iter().chain(line_ends.take(MOST_CUTS)).chain(anywhere)
}

/// What the stream of an agent consists of.
struct StreamRules {
    /// Types of the first event, or their beginnings.
    opening: &'static [&'static str],
    /// Whether it ends an answer.
    closes: fn(&Value) -> bool,
    /// Types of events after which another end has to come.
    steps: &'static [&'static str],
}

impl StreamRules {
    /// `None` if it is not the format of an agent.
    fn of(format: OutputFormat) -> Option<Self> {
        let is_result: fn(&Value) -> bool = |event| event["type"] == "result";
        Some(match format {
            OutputFormat::Text | OutputFormat::Messages | OutputFormat::Jsonl => return None,
            OutputFormat::StreamJson | OutputFormat::ClaudeJson => Self {
                opening: &["system", "result"],
                closes: is_result,
                steps: &["assistant", "user"],
            },
            OutputFormat::CodexJson => Self {
                opening: &["thread.started"],
                closes: |event| event["type"] == "turn.completed",
                steps: &["turn.started", "item.started"],
            },
            OutputFormat::GeminiJson => Self {
                opening: &["init"],
                closes: is_result,
                steps: &["message", "tool_use", "tool_result"],
            },
            OutputFormat::CopilotJson => Self {
                opening: &["session.", "user.message", "message"],
                closes: is_result,
                steps: &["message", "tool_use", "tool_result"],
            },
            OutputFormat::OpencodeJson => Self {
                opening: &["step_start", "error"],
                closes: |event| {
                    let reason = event["part"]["reason"].as_str();
                    event["type"] == "step_finish" && reason.is_some_and(|one| one != "tool-calls")
                },
                steps: &["step_start", "text", "tool_use"],
            },
            OutputFormat::PiJson => Self {
                opening: &["session"],
                closes: |event| event["type"] == "agent_end",
                steps: &["turn_start", "message_end", "tool_execution_end"],
            },
        })
    }

    /// Why a stream is not an answer.
    fn fault(&self, stream: &[u8]) -> Option<String> {
        let text = String::from_utf8_lossy(stream);
        let text = text.strip_prefix('\u{feff}').unwrap_or(&text);
        let (mut is_open, mut is_closed) = (false, false);
        // Only a line break ends a line.
        for line in text.split('\n').filter(|line| !line.trim_ascii().is_empty()) {
            let Some(event) = object(line) else {
                return Some(format!("a line is not an event: {}", shown(line)));
            };
            let kind = event["type"].as_str().unwrap_or_default();
            if !is_open && !self.opening.iter().any(|opening| kind.starts_with(opening)) {
                return Some(format!("the first event is {}", shown(line)));
            }
            is_open = true;
            if (self.closes)(&event) {
                is_closed = true;
            } else if self.is_step(line, kind) {
                is_closed = false;
            }
        }
        (!is_closed).then(|| "it has no end".to_owned())
    }

    /// Readers skip some events by the beginning of their line, so the type has to be there.
    fn is_step(&self, line: &str, kind: &str) -> bool {
        self.steps.contains(&kind)
            && line.trim_start().starts_with(&format!("{{\"type\":\"{kind}\""))
    }
}

/// The object on a line. Readers take more than this parser: unpaired surrogates and numbers of any size.
fn object(line: &str) -> Option<Value> {
    let line = line.trim();
    let mended = line.replace("\\ud", "\\u0").replace("\\uD", "\\u0");
    let read = serde_json::from_str(line).or_else(|_| serde_json::from_str(&mended));
    let value = read.ok().or_else(|| {
        let map = lenient_json_value(&mended).ok()?;
        let map = map.as_map()?;
        let text = |map: &Map, name: &str| map.get(name)?.as_str().map(str::to_owned);
        let part = map.get("part").and_then(|part| part.as_map());
        let id = match map.get("id") {
            Some(core::Value::Number(id)) => id.as_u64(),
            _ => None,
        };
        let reason = part.and_then(|part| text(part, "reason"));
        let (kind, method) = (text(map, "type"), text(map, "method"));
        Some(json!({"type": kind, "part": {"reason": reason}, "method": method, "id": id}))
    })?;
    value.is_object().then_some(value)
}

/// Where the reply to `session/prompt` ends: three replies in order, of which this is the last.
fn end_of_reply(bytes: &[u8]) -> Option<usize> {
    let (mut awaited, mut end) = (1_u64, 0);
    for line in bytes.split_inclusive(|byte| *byte == b'\n') {
        end += line.len();
        let text = String::from_utf8_lossy(line);
        if text.trim_ascii().is_empty() {
            continue;
        }
        let message = object(&text)?;
        let is_reply =
            !message["method"].is_string() && message["id"].as_f64() == Some(awaited as f64);
        if is_reply && awaited == 3 {
            // A line counts once it is complete.
            return line.ends_with(b"\n").then_some(end);
        }
        awaited += u64::from(is_reply);
    }
    None
}

fn shown(line: &str) -> String {
    line.chars().take(120).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const OPEN: &str = "{\"type\":\"step_start\",\"sessionID\":\"s\"}\n";

    fn finish(reason: &str) -> String {
        format!("{{\"type\":\"step_finish\",\"part\":{{\"reason\":\"{reason}\"}}}}\n")
    }

    #[test]
    fn a_stream_is_an_answer_only_with_its_end() {
        let rules = StreamRules::of(OutputFormat::OpencodeJson).unwrap();
        let whole = format!("{OPEN}{}", finish("stop"));
        assert_eq!(rules.fault(whole.as_bytes()), None);
        for (stream, why) in [
            (OPEN.to_owned(), "no end"),
            (format!("{OPEN}{}", finish("tool-calls")), "no end"),
            (format!("{whole}{OPEN}"), "no end"),
            (finish("stop"), "first event"),
            (format!("{OPEN}nonsense\n{}", finish("stop")), "not an event"),
            (whole[..whole.len() - 4].to_owned(), "not an event"),
        ] {
            let fault = rules.fault(stream.as_bytes()).unwrap_or_default();
            assert!(fault.contains(why), "{fault}: {stream}");
        }
    }

    #[test]
    fn an_output_without_an_end_of_its_own_is_read_in_whole_lines_or_as_a_whole() {
        let list = "[{\"role\":\"assistant\",\"content\":\"a\"}]";
        let fault = |format, text: &str, end: usize| {
            let (part, rest) = text.as_bytes().split_at(end);
            fault_without_end(format, part, rest).is_some()
        };
        assert!(fault(OutputFormat::Messages, list, list.len() - 1));
        assert!(!fault(OutputFormat::Messages, &format!("{list}\n"), list.len()));
        let lines = "{\"text\":\"a\"}\n{\"cost_usd\":1}\n";
        assert!(fault(OutputFormat::Jsonl, lines, lines.len() - 3));
        assert!(!fault(OutputFormat::Jsonl, lines, 13));
        assert!(!fault(OutputFormat::Text, lines, 3));
        for text in [list, lines] {
            stream(text.as_bytes());
        }
    }

    #[test]
    fn a_conversation_is_an_answer_only_after_the_third_reply() {
        let (first, second) = ("{\"id\":1,\"result\":{}}\n", "{\"id\":2,\"result\":{}}\n");
        let whole = format!("{first}{second}{{\"id\":3,\"result\":{{}}}}\n");
        assert_eq!(end_of_reply(whole.as_bytes()), Some(whole.len()));
        assert_eq!(end_of_reply(whole.trim_end().as_bytes()), None);
        assert_eq!(end_of_reply(format!("{second}{first}").as_bytes()), None);
        let request = whole.replace("\"id\":3,", "\"id\":3,\"method\":\"x\",");
        assert_eq!(end_of_reply(request.as_bytes()), None);
    }

    #[test]
    fn streams_are_cut_inside_of_lines_too() {
        let bytes = [b"a".repeat(1000), b"\n".to_vec(), b"b".repeat(1000)].concat();
        let found: Vec<usize> = cuts(&bytes).collect();
        assert_eq!(found, cuts(&bytes).collect::<Vec<_>>());
        assert!(found.contains(&bytes.len()) && found.contains(&1000));
        assert!(found.iter().filter(|at| **at != 1000 && **at != bytes.len()).count() > 20);
    }
}
