//! Formats in which agents and programs report (spec 9.3), one file per format. `run` and
//! `log record` share the readers, which are pure. Malformed output is a fault of kind `reply`.

pub(crate) mod acp;
mod blocks;
pub(crate) mod claude;
mod claude_figures;
pub(crate) mod codex;
mod command_place;
mod conversation;
pub(crate) mod copilot;
mod events;
pub(crate) mod gemini;
pub(crate) mod json;
mod jsonl;
mod measure;
pub(crate) mod messages;
pub(crate) mod opencode;
pub(crate) mod pi;
mod shell_variables;
mod shell_words;
mod skill_command;
mod skill_output;
mod skill_path;
mod skill_rule;
mod skill_script;
mod stream_reader;
#[cfg(test)]
mod testing;
mod text;

use std::borrow::Cow;

use evalrig_core::model::{FaultKind, Transcript};
use evalrig_core::words;

use crate::agent::{AttemptFault, Unreported};

pub use acp::read_acp;
pub(crate) use conversation::{assistant_messages, uses_in};
pub use events::{EVENT_FORMATS, EventFormat};
pub(crate) use stream_reader::StreamReader;

words! {
    /// `format` of a target that runs a program (spec 9.3).
    pub enum OutputFormat {
        Text = "text",
        Messages = "messages",
        Jsonl = "jsonl",
        StreamJson = "stream-json",
        ClaudeJson = "claude-json",
        CodexJson = "codex-json",
        GeminiJson = "gemini-json",
        CopilotJson = "copilot-json",
        OpencodeJson = "opencode-json",
        PiJson = "pi-json",
    }
}

impl OutputFormat {
    /// The agent whose events these are.
    pub(crate) fn events(self) -> Option<&'static EventFormat> {
        match self {
            Self::Text | Self::Messages | Self::Jsonl => None,
            Self::StreamJson | Self::ClaudeJson => Some(&claude::FORMAT),
            Self::CodexJson => Some(&codex::FORMAT),
            Self::GeminiJson => Some(&gemini::FORMAT),
            Self::CopilotJson => Some(&copilot::FORMAT),
            Self::OpencodeJson => Some(&opencode::FORMAT),
            Self::PiJson => Some(&pi::FORMAT),
        }
    }
}

/// Reads the output of a program in the format that the targets file names.
pub fn read(format: OutputFormat, output: &[u8]) -> Result<Transcript, AttemptFault> {
    match format {
        OutputFormat::Text => text::read(output),
        OutputFormat::Messages => messages::read(output),
        OutputFormat::Jsonl => jsonl::read(output),
        _ => match format.events() {
            Some(events) => Ok(events.read_transcript(output)?),
            None => text::read(output),
        },
    }
}

/// Reads a stream in pieces and says how much of it is held; for measurements.
#[derive(Debug)]
pub struct StreamMeter(Option<StreamReader>);

impl StreamMeter {
    pub fn new(format: OutputFormat) -> Self {
        Self(format.events().map(StreamReader::new))
    }

    /// Bytes of the stream that are held afterwards, without the transcript.
    pub fn feed(&mut self, piece: &[u8]) -> usize {
        let Some(reader) = &mut self.0 else { return 0 };
        reader.feed(piece);
        reader.held()
    }
}

/// What a program cannot report in this format.
pub(crate) fn unreported(format: OutputFormat) -> &'static [Unreported] {
    match format {
        OutputFormat::Text => text::UNREPORTED,
        OutputFormat::Messages => messages::UNREPORTED,
        OutputFormat::Jsonl => jsonl::UNREPORTED,
        OutputFormat::StreamJson | OutputFormat::ClaudeJson => claude::UNREPORTED,
        OutputFormat::CodexJson => codex::UNREPORTED,
        OutputFormat::GeminiJson => gemini::UNREPORTED,
        OutputFormat::CopilotJson => copilot::UNREPORTED_IN_STREAM,
        OutputFormat::OpencodeJson => opencode::UNREPORTED,
        OutputFormat::PiJson => pi::UNREPORTED,
    }
}

/// Reads `{OUTPUT_FILE}` of a target without `format`: an object with an answer is read as
/// `messages`, anything else as text.
pub(crate) fn read_output_file(output: &[u8]) -> Result<Transcript, AttemptFault> {
    if messages::is_likely(output) { messages::read(output) } else { text::read(output) }
}

fn fault(message: impl Into<String>) -> AttemptFault {
    AttemptFault::new(FaultKind::Reply, message)
}

/// The output of a program in a format of its author's choice, where invalid UTF-8 is a fault.
fn utf8(output: &[u8]) -> Result<&str, AttemptFault> {
    match std::str::from_utf8(output) {
        Ok(text) => Ok(text.trim_start_matches('\u{feff}')),
        Err(error) => {
            let at = error.valid_up_to() + 1;
            Err(fault(format!("the output is not UTF-8 (byte {at})")))
        }
    }
}

/// Non-blank lines of an event stream. Invalid UTF-8 is replaced: it may come from the output of a
/// tool.
fn event_lines(output: &[u8]) -> impl Iterator<Item = Cow<'_, str>> {
    let output = output.strip_prefix("\u{feff}".as_bytes()).unwrap_or(output);
    output
        .split(|byte| *byte == b'\n')
        .filter(|line| !line.trim_ascii().is_empty())
        .map(String::from_utf8_lossy)
}

#[cfg(test)]
mod tests {

    use super::*;

    const STREAM: &str = r#"{"type":"assistant","message":{"id":"a","content":[{"type":"tool_use","id":"t","name":"B","input":{"x":1.5}},{"type":"text","text":"é"}]},"timestamp":"2026-01-02T03:04:05.6Z"}
{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"t","content":[{"text":"\ud83d"}]}]},"timestamp":"2026-01-02T03:04:06Z"}
{"type":"item.completed","item":{"type":"web_search","query":"q"}}
{"type":"turn.completed","usage":{"input_tokens":5,"output_tokens":1}}
{"role":"assistant","content":null,"tool_calls":[{"tool":"b","args":"{","output":[1]}]}
{"role":"tool","name":"b","content":[{"type":"json","value":1},3]}
{"type":"result","result":"hi","usage":{"input_tokens":5,"output_tokens":1},"text":"hi","tokens":{"input":1,"output":2}}
"#;

    /// Runs every reader, whatever the result.
    fn read_all(output: &[u8]) {
        for format in OutputFormat::ALL {
            let _ = read(*format, output);
        }
        let _ = read_output_file(output);
        for format in EVENT_FORMATS {
            let _ = format.read_transcript(output);
            let _ = format.read_session(output);
        }
    }

    #[test]
    fn output_that_is_cut_or_damaged_anywhere_is_survived() {
        let bytes = STREAM.as_bytes();
        for at in 0..bytes.len() {
            read_all(&bytes[..at]);
            for other in [b'"', b'{', b'9', b'-', b'\\', b'\n', 0xff, 0] {
                let mut damaged = bytes.to_owned();
                damaged[at] = other;
                read_all(&damaged);
            }
        }
    }

    /// Streams, each with the format it is of.
    const RECORDED: &[(OutputFormat, &str)] = &[
        (OutputFormat::StreamJson, testing::recorded::CLAUDE_SUB_AGENT),
        (OutputFormat::ClaudeJson, testing::recorded::CLAUDE_BACKGROUND_AGENT),
        (OutputFormat::ClaudeJson, testing::recorded::CLAUDE_DENIED),
        (OutputFormat::ClaudeJson, testing::recorded::CLAUDE_SKILL),
        (OutputFormat::ClaudeJson, testing::recorded::CLAUDE_TOOL_ERROR),
        (OutputFormat::CodexJson, testing::recorded::CODEX_PATCH),
        (OutputFormat::CodexJson, testing::recorded::CODEX_SKILL_MISSING),
        (OutputFormat::CodexJson, testing::recorded::CODEX_SUB_AGENT),
        (OutputFormat::GeminiJson, testing::recorded::GEMINI_SKILL),
        (OutputFormat::GeminiJson, testing::recorded::GEMINI_SUB_AGENT),
        (OutputFormat::GeminiJson, testing::recorded::GEMINI_THOUGHTS),
        (OutputFormat::CopilotJson, testing::recorded::COPILOT_SKILL),
        (OutputFormat::CopilotJson, testing::recorded::COPILOT_SUB_AGENT),
        (OutputFormat::OpencodeJson, testing::recorded::OPENCODE_COMMAND),
        (OutputFormat::OpencodeJson, testing::recorded::OPENCODE_SKILL_ERROR),
        (OutputFormat::OpencodeJson, testing::recorded::OPENCODE_SUB_AGENT),
        (OutputFormat::PiJson, testing::recorded::PI_SKILL),
    ];

    /// The line, from 1, with which a stream could have ended although more follows: the first turn is over,
    /// and every sub-agent has ended.
    fn earlier_end(stream: &str) -> Option<usize> {
        (stream == testing::recorded::CLAUDE_BACKGROUND_AGENT).then_some(16)
    }

    /// Whether a part of a stream is one that ends early.
    fn ends_early(stream: &str, cut: &[u8]) -> bool {
        let lines = String::from_utf8_lossy(cut).lines().count();
        let is_whole = stream.as_bytes().get(cut.len()) == Some(&b'\n') || cut.ends_with(b"\n");
        earlier_end(stream) == Some(lines) && is_whole
    }

    /// Streams of agents that ended with an error, or were stopped.
    const FAILED: &[(OutputFormat, &str)] = &[
        (OutputFormat::ClaudeJson, testing::recorded::CLAUDE_STOPPED),
        (OutputFormat::CodexJson, testing::recorded::CODEX_401),
        (OutputFormat::GeminiJson, testing::recorded::GEMINI_401),
        (OutputFormat::CopilotJson, testing::recorded::COPILOT_401),
        (OutputFormat::OpencodeJson, testing::recorded::OPENCODE_401),
        (OutputFormat::PiJson, testing::recorded::PI_401),
    ];

    /// The ends of lines, the bytes beside them, and many others.
    fn places_to_cut(stream: &str) -> impl Iterator<Item = usize> {
        let ends =
            stream.match_indices('\n').flat_map(|(at, _)| [at.saturating_sub(1), at, at + 1]);
        let last = stream.trim_end().len();
        ends.chain((0..last).step_by(41)).filter(move |at| *at < last)
    }

    #[test]
    fn a_stream_that_is_cut_at_any_line_or_byte_gives_nothing() {
        for (format, stream) in RECORDED {
            assert!(read(*format, stream.as_bytes()).is_ok(), "{format:?}");
            for end in places_to_cut(stream) {
                let cut = &stream.as_bytes()[..end];
                let is_end = ends_early(stream, cut);
                assert_eq!(read(*format, cut).is_ok(), is_end, "{format:?} cut at {end}");
            }
        }
        for (format, stream) in FAILED {
            assert!(read(*format, stream.as_bytes()).is_err(), "{format:?}");
            for end in places_to_cut(stream) {
                let cut = &stream.as_bytes()[..end];
                assert!(read(*format, cut).is_err(), "{format:?} cut at {end}");
            }
        }
    }

    #[test]
    fn a_format_accepts_no_stream_of_another_agent() {
        for (format, _) in RECORDED {
            for (other, stream) in RECORDED {
                let is_own = format.events().unwrap().name == other.events().unwrap().name;
                let result = read(*format, stream.as_bytes());
                assert_eq!(result.is_ok(), is_own, "{format:?} reads {other:?}");
                for own in [OutputFormat::Jsonl, OutputFormat::Messages] {
                    assert!(read(own, stream.as_bytes()).is_err(), "{own:?} reads {other:?}");
                }
            }
        }
    }

    #[test]
    fn a_stream_comes_in_pieces_of_any_size() {
        for (format, stream) in RECORDED {
            let whole = read(*format, stream.as_bytes()).unwrap();
            for size in [1, 7, 1000] {
                let mut reader = StreamReader::new(format.events().unwrap());
                for piece in stream.as_bytes().chunks(size) {
                    reader.feed(piece);
                }
                assert_eq!(reader.into_transcript().unwrap(), whole, "{format:?} by {size}");
            }
        }
    }

    #[test]
    fn a_byte_order_mark_is_skipped() {
        let read = |format, text: &str| read(format, text.as_bytes()).unwrap().answer;
        assert_eq!(read(OutputFormat::Text, "\u{feff}hi\n"), "hi");
        assert_eq!(read(OutputFormat::Messages, "\u{feff}{\"text\":\"hi\"}"), "hi");
        let stream = format!("\u{feff}{}", testing::recorded::CLAUDE_SKILL);
        assert_eq!(read(OutputFormat::StreamJson, &stream), "The total is 42.");
    }
}
