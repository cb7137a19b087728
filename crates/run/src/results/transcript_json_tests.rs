//! Transcripts come back as they were.

use proptest::prelude::*;
use serde_json::json;

use evalrig_core::model::SkillEvents;

use super::*;

fn number() -> impl Strategy<Value = Number> {
    prop_oneof![
        any::<u64>().prop_map(Number::from),
        any::<i64>().prop_map(|value| Number::parse(&value.to_string()).unwrap()),
        (-1e9..1e9_f64).prop_map(|value| Number::parse(&value.to_string()).unwrap()),
        Just(Number::parse("1.50").unwrap()),
        Just(Number::parse("123456789012345678901234567890").unwrap()),
    ]
}

fn free() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::Bool),
        number().prop_map(Value::Number),
        any::<String>().prop_map(Value::String),
    ];
    leaf.prop_recursive(4, 24, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::List),
            prop::collection::btree_map(any::<String>(), inner, 0..4)
                .prop_map(|map| Value::Map(map.into_iter().collect())),
        ]
    })
}

fn file() -> impl Strategy<Value = FileRef> {
    (any::<String>(), prop::option::of(any::<String>()))
        .prop_map(|(value, path)| FileRef { value, path: path.map(Into::into) })
}

fn block() -> impl Strategy<Value = Block> {
    prop_oneof![
        any::<String>().prop_map(Block::Text),
        file().prop_map(Block::File),
        file().prop_map(|file| Block::Image(Image::Path(file))),
        any::<String>().prop_map(|data| Block::Image(Image::Data(data))),
        free().prop_map(Block::Json),
    ]
}

fn tool_call() -> impl Strategy<Value = ToolCall> {
    (any::<String>(), any::<String>(), any::<String>()).prop_map(|(id, name, arguments)| ToolCall {
        id,
        name,
        arguments,
    })
}

fn role() -> impl Strategy<Value = Role> {
    prop::sample::select(Role::WORDS).prop_map(|name| Role::parse(name).unwrap())
}

fn message() -> impl Strategy<Value = Message> {
    (
        role(),
        prop::collection::vec(block(), 0..3),
        prop::collection::vec(tool_call(), 0..3),
        prop::option::of(any::<String>()),
        prop::option::of(any::<String>()),
    )
        .prop_map(|(role, content, tool_calls, tool_call_id, name)| Message {
            role,
            content,
            tool_calls,
            tool_call_id,
            name,
        })
}

fn call() -> impl Strategy<Value = Call> {
    (
        any::<String>(),
        any::<String>(),
        free(),
        prop::option::of(free()),
        prop::option::of(any::<u64>()),
        prop::option::of(any::<bool>()),
        prop::option::of(any::<i64>()),
    )
        .prop_map(|(id, tool, args, output, duration_ms, is_error, exit_code)| Call {
            id,
            tool,
            args,
            output,
            duration_ms,
            is_error,
            exit_code,
        })
}

fn tokens() -> impl Strategy<Value = Tokens> {
    (any::<u64>(), any::<u64>(), any::<u64>()).prop_map(|(input, output, cached)| Tokens {
        input,
        output,
        cached,
    })
}

fn transcript() -> impl Strategy<Value = Transcript> {
    (
        prop::collection::vec(message(), 0..4),
        any::<String>(),
        prop::option::of(prop::collection::vec(call(), 0..3)),
        prop::option::of(tokens()),
        prop::option::of(0.0..1e6_f64),
        prop::option::of(any::<u64>()),
        prop::option::of(any::<String>()),
    )
        .prop_map(|(messages, answer, calls, tokens, cost_usd, duration_ms, model)| {
            Transcript {
                is_token_sum: tokens.is_some_and(|tokens: Tokens| tokens.output == 0),
                messages,
                answer,
                calls,
                tokens,
                cost_usd,
                duration_ms,
                session: SessionFacts {
                    agent: Some("pi".to_owned()),
                    id: model.clone(),
                    llm_calls: duration_ms,
                    permission_denials: model.clone().map(|tool| vec![tool]),
                    unknown_events: duration_ms.unwrap_or_default(),
                    sandbox: Some("bwrap".to_owned()),
                    ..SessionFacts::default()
                },
                skills: SkillEvents {
                    offered: model.clone().map(|name| vec![name]),
                    ..SkillEvents::default()
                },
                partial: cost_usd.is_none(),
                files: model.clone().map(|path| FileChanges {
                    created: vec![path.clone()],
                    path: Some(path),
                    ..FileChanges::default()
                }),
                model,
            }
        })
}

/// A path that looks like data is told from data by its `path` alone.
fn is_told_apart(block: &Block) -> bool {
    match block {
        Block::Image(Image::Path(file)) => file.path.is_some() || !file.value.starts_with("data:"),
        _ => true,
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn a_transcript_comes_back_as_it_was(transcript in transcript()) {
        let blocks = transcript.messages.iter().flat_map(|message| &message.content);
        prop_assume!(blocks.into_iter().all(is_told_apart));
        let text = transcript_value(&transcript).to_json(JsonStyle::Compact);
        prop_assert!(!text.contains('\n'));
        let value = json_value(&text).expect("JSON");
        prop_assert_eq!(read_transcript(&value), Some(transcript));
    }
}

#[test]
fn deep_data_comes_back_too() {
    let mut deep = Value::from("bottom");
    for _ in 0..120 {
        deep = Value::List(vec![deep]);
    }
    let transcript = Transcript {
        messages: vec![Message::new(Role::Assistant, vec![Block::Json(deep.clone())])],
        calls: Some(vec![Call { output: Some(deep.clone()), ..Call::new("1", "t", deep) }]),
        ..Transcript::default()
    };
    let text = transcript_value(&transcript).to_json(JsonStyle::Compact);
    let back = json_value(&text).as_ref().and_then(read_transcript);
    assert_eq!(back.as_ref(), Some(&transcript));
    let mut row = crate::results::testing::row("a", 1);
    row.output_messages = Some(output_messages(&transcript));
    let before = row.clone();
    crate::results::redact::row_line(&mut row, &Default::default()).unwrap();
    assert_eq!(row, before, "the door need not change it");
    let (messages, _) = read_output_messages(&row.output_messages.unwrap()).unwrap();
    assert_eq!(messages, transcript.messages);
}

#[test]
fn messages_of_a_row_tell_of_the_calls() {
    let call = Call {
        output: json_value(r#"{"found":[1,2]}"#),
        duration_ms: Some(12),
        is_error: Some(true),
        exit_code: Some(-1),
        ..Call::new("call_1", "search", json_value(r#"{"q":1.50}"#).unwrap())
    };
    let mut asking = Message::new(Role::Assistant, Vec::new());
    asking.tool_calls = vec![ToolCall {
        id: "call_1".to_owned(),
        name: "search".to_owned(),
        arguments: r#"{"q":1.50}"#.to_owned(),
    }];
    let mut told = Message::new(Role::Tool, vec![Block::Text("two".to_owned())]);
    told.tool_call_id = Some("call_1".to_owned());
    let said = Message::new(Role::Assistant, vec![Block::Text("done".to_owned())]);
    let mut transcript = Transcript::of_messages(vec![asking, told, said]);
    transcript.calls = Some(vec![call.clone()]);
    let (messages, calls) = read_output_messages(&output_messages(&transcript)).unwrap();
    assert_eq!(messages, transcript.messages);
    assert_eq!(calls, [call]);
}

#[test]
fn messages_of_other_writers_are_understood() {
    let values = [
        json!({"role": "assistant", "content": null, "tool_calls": [
            {"id": "a", "type": "function", "function": {"name": "read", "arguments": "{\"p\":1}"}},
            {"tool": "write", "args": {"p": 2}, "output": "ok", "duration_ms": 7}]}),
        json!({"role": "tool", "tool_call_id": "a", "content": "text of a"}),
        json!({"role": "assistant", "content": "done"}),
    ];
    let (messages, calls) = read_output_messages(&values).unwrap();
    assert_eq!(answer_of(&messages), "done");
    assert_eq!(calls[0].tool, "read");
    assert_eq!(calls[0].output, Some(Value::from("text of a")));
    assert_eq!(calls[1].args, json_value(r#"{"p":2}"#).unwrap());
    assert_eq!(calls[1].duration_ms, Some(7));
    assert_eq!(read_output_messages(&[json!({"role": "robot"})]), None);
}
