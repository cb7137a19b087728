//! Replays runs that were logged in a `.co/evals` directory (spec 13.6).
//!
//! A record is found by the user messages, not by the id of the test; every trial gets the same run.
//! Only the total of tokens is logged: it is given as input tokens and marked as a sum, so that limits
//! on input or output are reported as not measured.

use evalrig_core::model::{FaultKind, Tokens, Transcript, Value};

use super::RunChoice;
use crate::runlog::{Record, RecordFinder, RunFile, StoreError, input_sequence};

use crate::agent::{Agent, AttemptFault, Pending, Purpose, Request};
use crate::format;

#[derive(Debug)]
pub(super) struct StoreAgent {
    pub(super) finder: RecordFinder,
    pub(super) run: RunChoice,
}

impl Agent for StoreAgent {
    fn answer<'a>(&'a self, request: &'a Request<'a>) -> Pending<'a> {
        Box::pin(std::future::ready(self.replay(request)))
    }

    fn may_be_silent(&self) -> bool {
        true
    }

    /// The time of the lookup is not the duration of the answer.
    fn elapsed_ms(&self, _: std::time::Instant) -> Option<u64> {
        None
    }

    fn is_stored(&self) -> bool {
        true
    }

    /// Every run adds files.
    fn source_files(&self) -> Option<Vec<camino::Utf8PathBuf>> {
        None
    }
}

impl StoreAgent {
    fn replay(&self, request: &Request<'_>) -> Result<Transcript, AttemptFault> {
        if request.purpose == Purpose::Judge {
            let message = "a replay target cannot judge: judge calls are not recorded";
            return Err(AttemptFault::new(FaultKind::NoMatch, message));
        }
        let record = self.record(request)?;
        let run = match self.run {
            RunChoice::Number(number) => number,
            RunChoice::Latest => {
                let last = record.summary.turns.last();
                let newest = last.and_then(|turn| turn.now.run());
                newest.unwrap_or_else(|| record.summary.highest_run())
            }
        };
        let file = self.finder.store().run_file(&record.name, run).map_err(failure)?;
        transcript(&record, run, file)
    }

    fn record(&self, request: &Request<'_>) -> Result<Record, AttemptFault> {
        let asked = input_sequence(request.messages, request.files);
        let found = self.finder.find(&asked).map_err(failure)?;
        found.ok_or_else(|| {
            let (directory, test) = (self.finder.store().directory(), request.test_id);
            let message = format!("`{directory}` has no record for the input of test `{test}`");
            AttemptFault::new(FaultKind::NoMatch, message)
        })
    }
}

fn failure(error: StoreError) -> AttemptFault {
    let kind = match &error {
        StoreError::NoRun { .. } | StoreError::NoRecord { .. } => FaultKind::NoMatch,
        StoreError::Corrupt { .. } => FaultKind::Reply,
        _ => FaultKind::Io,
    };
    AttemptFault::new(kind, error.to_string())
}

fn transcript(record: &Record, run: u64, file: RunFile) -> Result<Transcript, AttemptFault> {
    let received = file.received(record.summary.turns.len());
    let mut transcript = format::messages::read_value(Value::List(received.to_vec()))?;
    if !file.messages.last().is_some_and(is_answer) {
        let last = record.summary.turns.last();
        let entry = last.and_then(|turn| turn.entry_of(run));
        if let Some(output) = entry.and_then(|entry| entry.output()) {
            transcript.answer = output.to_owned();
        }
    }
    transcript.tokens = file.tokens.map(|total| Tokens { input: total, ..Tokens::default() });
    transcript.is_token_sum = transcript.tokens.is_some();
    // ConnectOnion writes a cost of 0 for a model without a price.
    let is_used = file.tokens.is_some_and(|tokens| tokens > 0);
    transcript.cost_usd = file.cost.filter(|cost| *cost > 0.0 || !is_used);
    transcript.duration_ms = file.duration_ms;
    transcript.model = (!file.model.is_empty()).then_some(file.model);
    Ok(transcript)
}

fn is_answer(message: &Value) -> bool {
    let text = |key| message.as_map()?.get(key);
    let is_said = match text("content") {
        Some(Value::String(said)) => !said.is_empty(),
        Some(Value::List(blocks)) => !blocks.is_empty(),
        _ => false,
    };
    is_said && text("role").and_then(Value::as_str) == Some("assistant")
}

#[cfg(test)]
mod tests {

    use camino::Utf8PathBuf;
    use evalrig_core::model::{Message, Role};
    use evalrig_core::syntax::json_value;

    use crate::disk::Disk;
    use crate::runlog::{NewRun, Store, UserMessage};

    use super::*;

    fn ask(agent: &StoreAgent, text: &str, purpose: Purpose) -> Result<Transcript, AttemptFault> {
        let messages = [Message::new(Role::System, Vec::new()), Message::user(text)];
        agent.replay(&Request {
            purpose,
            test_id: "a",
            trial: 3,
            messages: &messages,
            ..Request::sample(&Disk)
        })
    }

    fn new_run(answer: &str, messages: &str) -> NewRun {
        NewRun {
            asked: vec![UserMessage::new("Hi")],
            output: answer.to_owned(),
            model: "m".to_owned(),
            tokens: Some(12),
            cost_usd: Some(0.5),
            messages: json_value(messages).unwrap().as_list().unwrap().to_vec(),
            ..NewRun::default()
        }
    }

    #[test]
    fn a_cost_of_0_is_unknown_if_tokens_were_used() {
        for (tokens, cost, expected) in [
            (Some(12), Some(0.0), None),
            (Some(12), Some(0.5), Some(0.5)),
            (Some(12), None, None),
            (Some(0), Some(0.0), Some(0.0)),
            (None, Some(0.0), Some(0.0)),
        ] {
            let folder = tempfile::tempdir().unwrap();
            let path = Utf8PathBuf::from_path_buf(folder.path().to_owned()).unwrap();
            let store = Store::of_root(&path);
            let spoken =
                r#"[{"role":"user","content":"Hi"},{"role":"assistant","content":"Hello"}]"#;
            let run = NewRun { tokens, cost_usd: cost, ..new_run("Hello", spoken) };
            store.record(&run).unwrap();
            let agent = StoreAgent { finder: RecordFinder::new(store), run: RunChoice::Latest };
            let replayed = ask(&agent, "Hi", Purpose::Case).unwrap();
            assert_eq!(replayed.cost_usd, expected, "{tokens:?} {cost:?}");
        }
    }

    #[test]
    fn a_logged_run_is_replayed() {
        let folder = tempfile::tempdir().unwrap();
        let path = Utf8PathBuf::from_path_buf(folder.path().to_owned()).unwrap();
        let store = Store::of_root(&path);
        let spoken = r#"[{"role":"user","content":"Hi"},{"role":"assistant","content":null,"tool_calls":[
            {"id":"c","type":"function","function":{"name":"wave","arguments":"{\"n\":1}"}}]},
            {"role":"tool","tool_call_id":"c","name":"wave","content":"ok"},{"role":"assistant","content":"Hello"}]"#;
        store.record(&new_run("Hello", spoken)).unwrap();
        let silent = r#"[{"role":"user","content":"Hi"},{"role":"tool","content":"x"}]"#;
        store.record(&new_run("from the summary", silent)).unwrap();
        let agent = |run| StoreAgent { finder: RecordFinder::new(store.clone()), run };
        let latest = ask(&agent(RunChoice::Latest), "Hi", Purpose::Case).unwrap();
        assert_eq!(latest.answer, "from the summary");
        let first = ask(&agent(RunChoice::Number(1)), "Hi", Purpose::Case).unwrap();
        assert_eq!((first.answer.as_str(), first.messages.len()), ("Hello", 3));
        assert_eq!(first.calls.unwrap()[0].tool, "wave");
        assert_eq!(first.tokens.unwrap().total(), 12);
        assert_eq!((first.cost_usd, first.duration_ms), (Some(0.5), None));
        for result in [
            ask(&agent(RunChoice::Latest), "Other", Purpose::Case),
            ask(&agent(RunChoice::Number(9)), "Hi", Purpose::Case),
            ask(&agent(RunChoice::Latest), "Hi", Purpose::Judge),
        ] {
            assert_eq!(result.unwrap_err().fault.kind, FaultKind::NoMatch);
        }
    }
}
