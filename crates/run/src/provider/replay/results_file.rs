//! Replays answers from a results file.
//!
//! Without `source_target`, rows of a target with the name of the replaying target are preferred,
//! then the last row in the file. Of several rows of a case the last one counts. Judge calls are not
//! recorded, so a replay target cannot judge.

use std::collections::HashMap;
use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::sync::{Mutex, PoisonError};

use camino::{Utf8Path, Utf8PathBuf};
use evalrig_core::model::{FaultKind, Stage, Transcript};
use evalrig_core::source::Reach;

use crate::agent::{Agent, AttemptFault, Pending, Purpose, Request};
use crate::disk::open_regular;
use crate::results::read::{LineExtent, read_row};
use crate::results::scan::scan_open_results;
use crate::results::transcript_json::read_output_messages;
use crate::results::{ReadError, Row};

/// Location of the row of a case. Answers are read from disk when they are needed.
#[derive(Debug)]
struct RowLocation {
    suite: String,
    target: String,
    extent: LineExtent,
}

/// Rows by test and trial, in the order of the file.
type Index = HashMap<String, HashMap<u32, Vec<RowLocation>>>;

#[derive(Debug)]
pub(super) struct RowAgent {
    /// The name of the replaying target.
    name: String,
    source_target: Option<String>,
    path: Utf8PathBuf,
    /// Kept open, because the file at `path` may be replaced in the meantime.
    file: Mutex<File>,
    index: Index,
}

impl Agent for RowAgent {
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

    fn source_files(&self) -> Option<Vec<Utf8PathBuf>> {
        Some(vec![self.path.clone()])
    }
}

impl RowAgent {
    /// `name` is that of the replaying target.
    pub(super) fn open(
        path: Utf8PathBuf,
        name: &str,
        source_target: Option<String>,
    ) -> Result<Self, ReadError> {
        let (file, index) = index_rows(&path)?;
        Ok(Self { name: name.to_owned(), source_target, path, file: Mutex::new(file), index })
    }

    fn replay(&self, request: &Request<'_>) -> Result<Transcript, AttemptFault> {
        if request.purpose == Purpose::Judge {
            let message = "a replay target cannot judge: judge calls are not recorded";
            return Err(AttemptFault::new(FaultKind::NoMatch, message));
        }
        let recorded = self.find(request);
        let recorded = recorded.ok_or_else(|| self.no_match(request))?;
        replayed(self.row(recorded.extent)?)
    }

    /// Rows of the same suite are preferred, because a file may contain several suites. A renamed
    /// suite still finds its rows.
    fn find(&self, request: &Request<'_>) -> Option<&RowLocation> {
        let rows = self.index.get(request.test_id)?.get(&request.trial)?;
        let own = rows.iter().filter(|row| row.suite == request.suite);
        self.choose(own).or_else(|| self.choose(rows.iter()))
    }

    fn choose<'r>(
        &self,
        rows: impl DoubleEndedIterator<Item = &'r RowLocation> + Clone,
    ) -> Option<&'r RowLocation> {
        let of = |target: &str| rows.clone().rev().find(|row| row.target == target);
        match &self.source_target {
            Some(target) => of(target),
            None => of(&self.name).or(rows.clone().next_back()),
        }
    }

    fn no_match(&self, request: &Request<'_>) -> AttemptFault {
        let (path, test, trial) = (&self.path, request.test_id, request.trial);
        let mut message = format!("`{path}` has no row of test `{test}`, trial {trial}");
        if let Some(target) = &self.source_target {
            message += &format!(", target `{target}`");
        }
        AttemptFault::new(FaultKind::NoMatch, message)
    }

    fn row(&self, extent: LineExtent) -> Result<Row, AttemptFault> {
        let length = usize::try_from(extent.length).unwrap_or(usize::MAX);
        let mut line = vec![0; length];
        let read = {
            let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
            file.seek(SeekFrom::Start(extent.offset)).and_then(|_| file.read_exact(&mut line))
        };
        let path = &self.path;
        read.map_err(|error| {
            AttemptFault::new(FaultKind::Io, format!("`{path}` cannot be read: {error}"))
        })?;
        read_row(&line).map_err(|reason| {
            let message = format!("{path}:{}: {reason}", extent.line);
            AttemptFault::new(FaultKind::Reply, message)
        })
    }
}

fn index_rows(path: &Utf8Path) -> Result<(File, Index), ReadError> {
    let fail = |error| ReadError::io(path, error);
    let file = open_regular(path, Reach::Anywhere).map_err(fail)?;
    let mut index = Index::new();
    let reading = file.try_clone().map_err(fail)?;
    // A damaged row is not replayed: its case has no match.
    scan_open_results(path, reading, |extent, key, _| {
        let trials = index.entry(key.test).or_default();
        let recorded = RowLocation { suite: key.suite, target: key.target, extent };
        trials.entry(key.trial).or_default().push(recorded);
    })?
    .known(path)?;
    Ok((file, index))
}

/// A case that ran out of time is replayed as such, with what the agent did until then.
fn replayed(row: Row) -> Result<Transcript, AttemptFault> {
    let error = row.error.clone().filter(|error| error.stage == Stage::Target.word());
    let Some(error) = error.filter(|_| row.partial) else {
        return transcript(row);
    };
    let kind = FaultKind::parse(&error.kind).unwrap_or(FaultKind::NoMatch);
    let so_far = transcript(row).ok().map(Box::new);
    Err(AttemptFault { so_far, ..AttemptFault::new(kind, error.message) })
}

pub(crate) fn transcript(row: Row) -> Result<Transcript, AttemptFault> {
    let mut transcript = match (row.output_messages, &row.candidate_answer) {
        (Some(values), _) => {
            let Some((messages, calls)) = read_output_messages(&values) else {
                let message = "`outputMessages` of the recorded row is malformed";
                return Err(AttemptFault::new(FaultKind::Reply, message));
            };
            let mut transcript = Transcript::of_messages(messages);
            // Without a count of calls, the target did not report them.
            let is_known = !calls.is_empty() || row.trace_summary.tool_call_count.is_some();
            transcript.calls = is_known.then_some(calls);
            transcript
        }
        (None, Some(answer)) => {
            let no_calls = row.trace_summary.tool_call_count == Some(0);
            Transcript { calls: no_calls.then(Vec::new), ..Transcript::of_text(answer) }
        }
        (None, None) => {
            let message = match row.error {
                Some(error) => format!("the recorded case has no answer: {}", error.message),
                None => "the recorded case has no answer".to_owned(),
            };
            return Err(AttemptFault::new(FaultKind::NoMatch, message));
        }
    };
    if let Some(answer) = row.candidate_answer {
        transcript.answer = answer;
    }
    if let Some(tokens) = row.tokens {
        tokens.restore(&mut transcript);
    }
    transcript.cost_usd = row.cost_usd;
    transcript.duration_ms = row.duration_ms;
    transcript.files = row.workspace.map(Into::into);
    transcript.skills = row.skills.map(|skills| skills.events()).unwrap_or_default();
    transcript.session.llm_calls = row.trace_summary.llm_call_count;
    transcript.partial = row.partial;
    if let Some(agent) = row.agent {
        transcript.model = agent.model;
        transcript.session.agent = agent.provider;
        transcript.session.version = agent.version;
        transcript.session.id = agent.session_id;
        transcript.session.stop_reason = agent.stop_reason;
        transcript.session.permission_denials = agent.permission_denials;
        transcript.session.unknown_events = agent.unknown_events;
        transcript.session.sandbox = agent.sandbox;
    }
    Ok(transcript)
}

#[cfg(test)]
mod tests {

    use evalrig_core::diagnostic::{Diagnostic, Diagnostics};
    use evalrig_core::model::{Block, Call, Message, Role, ToolCall, Value};
    use evalrig_core::reader::World;
    use evalrig_core::source::{MemoryFiles, Sources, Variables};

    use crate::disk::Disk;
    use crate::results::RowError;
    use crate::results::testing::row;
    use crate::results::transcript_json::output_messages;
    use crate::setting::PathBase;
    use crate::target::read_targets;

    use super::*;

    #[allow(clippy::result_large_err, reason = "the signature of every provider")]
    fn agent(from: &Utf8Path, options: &str) -> Result<Box<dyn Agent>, Diagnostic> {
        let path = Utf8Path::new("/p/.evalrig/targets.yaml");
        let text = format!("targets: [{{name: again, provider: replay, from: {from}{options}}}]\n");
        let files = MemoryFiles::new().with(path.as_str(), text.as_bytes());
        let environment = Variables::default();
        let world =
            World { files: &files, environment: &environment, working_directory: "/p".into() };
        let (mut sources, mut out) = (Sources::new(), Diagnostics::new());
        let targets =
            read_targets(world, &mut sources, &mut out, path, "/p".into(), Reach::Anywhere)
                .unwrap();
        let target = targets.get("again").unwrap();
        let base = PathBase::of(path, "/p".into());
        target.connect(&target.context(&base, &Disk, &|_| None))
    }

    fn ask(
        agent: &dyn Agent,
        test: &str,
        trial: u32,
        purpose: Purpose,
    ) -> Result<Transcript, AttemptFault> {
        let request = Request { purpose, test_id: test, trial, ..Request::sample(&Disk) };
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(agent.answer(&request))
    }

    fn answer(agent: &dyn Agent, test: &str, trial: u32) -> Result<Transcript, AttemptFault> {
        ask(agent, test, trial, Purpose::Case)
    }

    fn file(rows: &[Row]) -> (tempfile::TempDir, Utf8PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        let path = Utf8PathBuf::from_path_buf(folder.path().join("old.jsonl")).unwrap();
        let lines = rows.iter().map(|row| serde_json::to_string(row).unwrap() + "\n");
        std::fs::write(&path, lines.collect::<String>()).unwrap();
        (folder, path)
    }

    fn of_target(target: &str, text: &str) -> Row {
        let mut row = row("a", 1);
        row.target = target.to_owned();
        row.candidate_answer = Some(text.to_owned());
        row
    }

    #[test]
    fn recorded_answers_are_replayed() {
        let mut second = row("a", 2);
        second.candidate_answer = Some("second".to_owned());
        second.tokens = None;
        let (_folder, path) = file(&[row("a", 1), second, row("b", 1)]);
        let agent = agent(&path, "").unwrap();
        let first = answer(&*agent, "a", 1).unwrap();
        assert_eq!(first.answer, "November ($22,500) was the best month.");
        assert_eq!((first.cost_usd, first.duration_ms), (Some(0.002), Some(900)));
        assert_eq!(first.tokens.unwrap().total(), 155);
        assert_eq!(first.calls, None);
        let second = answer(&*agent, "a", 2).unwrap();
        assert_eq!((second.answer.as_str(), second.tokens), ("second", None));
    }

    #[test]
    fn a_timeout_is_replayed_with_what_the_agent_did() {
        let mut timed_out = row("a", 1);
        timed_out.candidate_answer = None;
        timed_out.output_messages = Some(output_messages(&Transcript::of_text("Let me see.")));
        timed_out.partial = true;
        timed_out.error = Some(RowError {
            stage: "target".to_owned(),
            kind: "timeout".to_owned(),
            message: "no answer after 9 s".to_owned(),
        });
        let (_folder, path) = file(&[timed_out]);
        let failure = answer(&*agent(&path, "").unwrap(), "a", 1).unwrap_err();
        assert_eq!(failure.fault.kind, FaultKind::Timeout);
        assert_eq!(failure.fault.message, "no answer after 9 s");
        let so_far = failure.so_far.unwrap();
        assert!(so_far.partial && so_far.messages.len() == 1);
    }

    #[test]
    fn no_row_is_no_match() {
        let mut errored = row("e", 1);
        errored.candidate_answer = None;
        let (_folder, path) = file(&[row("a", 1), errored]);
        let any = agent(&path, "").unwrap();
        let other = agent(&path, ", source_target: other").unwrap();
        for result in [
            answer(&*any, "a", 2),
            answer(&*any, "z", 1),
            answer(&*any, "e", 1),
            answer(&*other, "a", 1),
            ask(&*any, "a", 1, Purpose::Judge),
        ] {
            assert_eq!(result.unwrap_err().fault.kind, FaultKind::NoMatch);
        }
        let message = answer(&*other, "a", 1).unwrap_err().fault.message;
        assert!(message.ends_with("has no row of test `a`, trial 1, target `other`"));
    }

    #[test]
    fn the_source_target_goes_before_the_own_name_and_the_last_row_before_earlier_ones() {
        let rows = [
            of_target("x", "x"),
            of_target("again", "own"),
            of_target("y", "old"),
            of_target("y", "new"),
        ];
        let (_folder, path) = file(&rows);
        let said = |options| {
            let agent = agent(&path, options).unwrap();
            answer(&*agent, "a", 1).unwrap().answer
        };
        assert_eq!(said(", source_target: x"), "x");
        assert_eq!(said(", source_target: y"), "new");
        assert_eq!(said(""), "own");
        let (_folder, path) = file(&rows[2..]);
        let agent = agent(&path, "").unwrap();
        assert_eq!(answer(&*agent, "a", 1).unwrap().answer, "new");
    }

    #[test]
    fn calls_are_known_when_the_messages_are() {
        let call = Call {
            id: "call_1".to_owned(),
            tool: "Skill".to_owned(),
            args: evalrig_core::syntax::json_value(r#"{"skill":"csv"}"#).unwrap(),
            output: Some(Value::Null),
            duration_ms: Some(5),
            is_error: Some(false),
            exit_code: Some(0),
        };
        let mut asking = Message::new(Role::Assistant, Vec::new());
        asking.tool_calls = vec![ToolCall {
            id: "call_1".to_owned(),
            name: "Skill".to_owned(),
            arguments: r#"{"skill":"csv"}"#.to_owned(),
        }];
        let said = Message::new(Role::Assistant, vec![Block::Text("done".to_owned())]);
        let mut before = Transcript::of_messages(vec![asking, said]);
        before.calls = Some(vec![call]);
        let mut recorded = row("a", 1);
        recorded.candidate_answer = Some("done".to_owned());
        recorded.output_messages = Some(output_messages(&before));
        let mut silent = row("b", 1);
        silent.trace_summary.tool_call_count = None;
        silent.output_messages = Some(Vec::new());
        let (_folder, path) = file(&[recorded, silent]);
        let agent = agent(&path, "").unwrap();
        let after = answer(&*agent, "a", 1).unwrap();
        assert_eq!(after.calls, before.calls);
        assert_eq!(after.messages, before.messages);
        assert_eq!(answer(&*agent, "b", 1).unwrap().calls, None);
    }

    #[test]
    fn unusable_sources_are_refused_with_a_reason() {
        let (folder, path) = file(&[row("a", 1)]);
        std::fs::write(&path, "{\"evalId\": 1}\n").unwrap();
        let message = agent(&path, "").unwrap_err().message;
        assert!(
            message.contains("old.jsonl` is not a results file: line 1 is not a row"),
            "{message}"
        );
        let folder = Utf8Path::from_path(folder.path()).unwrap();
        assert!(agent(folder, "").is_ok());
        let message = agent(folder, ", source_target: x").unwrap_err().message;
        let wanted = "`source_target` has no effect on a `.co/evals` directory";
        assert_eq!(message, wanted);
        let message = agent(&folder.join("none.jsonl"), "").unwrap_err().message;
        assert!(message.ends_with("does not exist"), "{message}");
    }
}
