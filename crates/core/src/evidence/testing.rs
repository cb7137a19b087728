//! Evidence made up for the unit tests of this room.

use crate::model::{
    Block, Call, Evidence, Expected, FileRef, Message, Role, SessionFacts, Test, TestId, Tokens,
    ToolCall, Transcript, Value,
};
use crate::source::{MemoryFiles, SourceId, Span};

pub(super) struct Sample {
    pub(super) test: Test,
    pub(super) transcript: Transcript,
    pub(super) files: MemoryFiles,
}

impl Sample {
    pub(super) fn new(input: Vec<Message>, transcript: Transcript) -> Self {
        let id = TestId::new("t").expect("a legal id");
        let test = Test { input, ..Test::blank(id, 1, Span::new(SourceId(0), 0, 0)) };
        Self { test, transcript, files: MemoryFiles::new() }
    }

    pub(super) fn evidence(&self) -> Evidence<'_> {
        Evidence {
            suite: "demo",
            test: &self.test,
            trial: 1,
            transcript: &self.transcript,
            files: &self.files,
            workspace: None,
            given_skills: None,
            arm: None,
        }
    }
}

pub(super) fn file(value: &str, path: &str) -> FileRef {
    FileRef { value: value.to_owned(), path: Some(path.into()) }
}

pub(super) fn text(text: &str) -> Block {
    Block::Text(text.to_owned())
}

/// The case of the examples in spec 10.1.
pub(super) fn csv_sample() -> Sample {
    let arguments = r#"{"skill":"csv-analyzer"}"#;
    let asks = "Find the top 3 months by revenue.";
    let sales = file("files/sales.csv", "/project/evals/files/sales.csv");
    let input = Message::new(Role::User, vec![Block::File(sales), text(asks)]);
    let call = Message {
        tool_calls: vec![ToolCall {
            id: "call_1".to_owned(),
            name: "Skill".to_owned(),
            arguments: arguments.to_owned(),
        }],
        ..Message::new(Role::Assistant, Vec::new())
    };
    let result = Message {
        tool_call_id: Some("call_1".to_owned()),
        name: Some("Skill".to_owned()),
        ..Message::new(Role::Tool, vec![text("")])
    };
    let said = "November ($22,500) was the best month.";
    let answer = Message::new(Role::Assistant, vec![text(said)]);
    let transcript = Transcript {
        calls: Some(vec![Call {
            output: Some(Value::from("")),
            ..Call::new("call_1", "Skill", super::json::parse(arguments).expect("JSON"))
        }]),
        tokens: Some(Tokens { input: 120, output: 35, cached: 0 }),
        cost_usd: Some(0.002),
        duration_ms: Some(900),
        session: SessionFacts { llm_calls: Some(2), ..SessionFacts::default() },
        ..Transcript::of_messages(vec![call, result, answer])
    };
    let mut sample = Sample::new(vec![input], transcript);
    sample.files = MemoryFiles::new().with("/project/evals/files/sales.csv", "month,usd\n");
    sample.test.id = TestId::new("csv-top-months").expect("a legal id");
    sample.test.criteria = Some("Agent finds the top 3 months by revenue".to_owned());
    sample.test.expected_output = Some(Expected::Text("November, September, December".to_owned()));
    sample.test.metadata.insert("riskLevel", "low");
    sample
}
