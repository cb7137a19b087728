//! Targets that are programs, run for real: every clause of spec 9.3.
#![cfg(unix)]

use std::fs;
use std::io::Write as _;
use std::process::{Command, Stdio};
use std::time::Duration;

use camino::Utf8PathBuf;
use evalrig_core::diagnostic::Diagnostics;
use evalrig_core::model::{
    Block, FaultKind, FileRef, Message, Role, Tokens, ToolCall, Transcript, Value,
};
use evalrig_core::reader::World;
use evalrig_core::source::{MemoryFiles, Reach, Sources, Variables};
use evalrig_run::agent::{
    Agent, AttemptFault, ConversationTurn, EarlierTurns, Purpose, Request, Retry,
};
use evalrig_run::disk::Disk;
use evalrig_run::setting::{FilesMode, PathBase};
use evalrig_run::target::read_targets;

/// Quotes of every kind, substitutions, patterns and line breaks.
const HOSTILE: &str = "it's \"x\" `echo no` $(echo no) ${HOME}\\\n; echo no; # * {ATTEMPT}";

struct Place {
    directory: tempfile::TempDir,
    messages: Vec<Message>,
    timeout: Duration,
    conversation: Option<ConversationTurn>,
}

impl Place {
    fn new(prompt: &str) -> Self {
        Self {
            directory: tempfile::tempdir().unwrap(),
            messages: vec![Message::user(prompt)],
            timeout: Duration::from_secs(60),
            conversation: None,
        }
    }

    fn path(&self) -> Utf8PathBuf {
        let path = self.directory.path().canonicalize().unwrap();
        Utf8PathBuf::from_path_buf(path).unwrap()
    }

    /// A program in this place. Another process writes it: while this one has it open for writing,
    /// a program started by a neighbouring test would keep it busy.
    fn install(&self, name: &str, script: &str) {
        let path = self.path().join(name);
        let mut shell = Command::new("sh");
        shell.args(["-c", "cat > \"$1\" && chmod +x \"$1\"", "sh", path.as_str()]);
        let mut child = shell.stdin(Stdio::piped()).spawn().unwrap();
        let mut stdin = child.stdin.take().unwrap();
        stdin.write_all(script.as_bytes()).unwrap();
        drop(stdin);
        assert!(child.wait().unwrap().success());
    }

    fn connect(&self, options: &str) -> Box<dyn Agent> {
        let root = self.path();
        let file = root.join(".evalrig/targets.yaml");
        let text = format!("targets:\n- name: a\n  {}\n", options.replace('\n', "\n  "));
        let files = MemoryFiles::new().with(file.as_str(), text.as_bytes());
        let environment = Variables::default();
        let world = World { files: &files, environment: &environment, working_directory: &root };
        let (mut sources, mut out) = (Sources::new(), Diagnostics::new());
        let targets =
            read_targets(world, &mut sources, &mut out, &file, &root, Reach::Anywhere).unwrap();
        assert_eq!(out.into_vec(), []);
        let target = targets.get("a").unwrap();
        let variable = |name: &str| (name == "WORD").then(|| "word".to_owned());
        let base = PathBase::of(&file, &root);
        let context = target.context(&base, &Disk, &variable);
        target.connect(&context).unwrap()
    }

    async fn ask(&self, options: &str) -> Result<Transcript, AttemptFault> {
        let agent = self.connect(options);
        assert!(agent.working_dir().is_some());
        let scratch = self.path().join("scratch");
        fs::create_dir_all(&scratch).unwrap();
        let request = Request {
            purpose: Purpose::Case,
            suite: "demo",
            test_id: "t'1",
            trial: 3,
            attempt: 2,
            call: 0,
            messages: &self.messages,
            config: None,
            timeout: self.timeout,
            attachments: FilesMode::Inline,
            files: &Disk,
            scratch: &scratch,
            home: None,
            env: &[],
            place: None,
            confinement: None,
            hidden: &[],
            stop: None,
            conversation: self.conversation.as_ref(),
        };
        agent.answer(&request).await
    }

    async fn answer(&self, options: &str) -> String {
        self.ask(options).await.unwrap().answer
    }

    async fn fault(&self, options: &str) -> (FaultKind, Retry, String) {
        let failure = self.ask(options).await.unwrap_err();
        (failure.fault.kind, failure.retry, failure.fault.message)
    }
}

fn never(kind: FaultKind, message: &str) -> (FaultKind, Retry, String) {
    (kind, Retry::Never, message.to_owned())
}

#[tokio::test]
async fn a_list_is_run_directly() {
    let place = Place::new(HOSTILE);
    let answer = place
        .answer(
            "provider: cli\ncommand: [printf, '<%s>', '{PROMPT}', 'id={TEST_ID}', '{EVAL_ID}', '{ATTEMPT}', '', '{x}', '${{ WORD }}', '$(echo no)']",
        )
        .await;
    let expected = format!("<{HOSTILE}><id=t'1><t'1><2><><{{x}}><word><$(echo no)>");
    assert_eq!(answer, expected);
}

#[tokio::test]
async fn a_text_is_run_by_the_shell_and_nothing_in_a_prompt_is() {
    let place = Place::new(HOSTILE);
    for command in [
        "printf '<%s>' {PROMPT} --id={TEST_ID} {ATTEMPT} | cat",
        "printf '<%s>' \"{PROMPT}\" '--id={TEST_ID}' \"{ATTEMPT}\"; true",
    ] {
        let answer = place.answer(&format!("provider: cli\ncommand: |-\n  {command}")).await;
        assert_eq!(answer, format!("<{HOSTILE}><--id=t'1><2>"), "{command}");
    }
}

#[tokio::test]
async fn the_prompt_comes_on_standard_input() {
    let place = Place::new(HOSTILE);
    assert_eq!(place.answer("provider: cli\ncommand: [cat]").await, HOSTILE);
    let none = place.answer("provider: cli\ncommand: [cat]\nstdin: none");
    assert_eq!(none.await, "");
    let deaf = Place::new(&"x".repeat(1_000_000));
    let answer = deaf.answer("provider: cli\ncommand: [echo, fine]");
    assert_eq!(answer.await, "fine");
}

#[tokio::test]
async fn messages_come_as_json() {
    let mut place = Place::new("Hi");
    let file = FileRef { value: "a.txt".to_owned(), path: Some("/p/a.txt".into()) };
    let mut asking = Message::new(Role::Assistant, Vec::new());
    asking.tool_calls.push(ToolCall {
        id: "c".to_owned(),
        name: "Read".to_owned(),
        arguments: "{}".to_owned(),
    });
    let mut result = Message::new(Role::Tool, vec![Block::Text("out".to_owned())]);
    result.tool_call_id = Some("c".to_owned());
    let user = vec![Block::File(file), Block::Text("See.".to_owned())];
    let user = Message::new(Role::User, user);
    place.messages.extend([asking, result, user]);
    let answer = place.answer("provider: cli\ncommand: [cat]\nstdin: messages");
    assert_eq!(
        answer.await,
        r#"{"test_id":"t'1","attempt":2,"messages":[{"role":"user","content":"Hi"},{"role":"assistant","content":null,"tool_calls":[{"id":"c","type":"function","function":{"name":"Read","arguments":"{}"}}]},{"role":"tool","tool_call_id":"c","content":"out"},{"role":"user","content":[{"type":"file","value":"a.txt"},{"type":"text","value":"See."}]}],"files":["/p/a.txt"]}"#
    );
}

#[tokio::test]
async fn files_are_arguments() {
    let mut place = Place::new("Look");
    for name in ["/p/a b", "/p/c'd"] {
        place.messages[0]
            .content
            .push(Block::File(FileRef { value: name.to_owned(), path: Some(name.into()) }));
    }
    let list = place.answer("provider: cli\ncommand: [printf, '<%s>', '{FILES}', '-f={FILES}']");
    assert_eq!(list.await, "</p/a b></p/c'd><-f=/p/a b /p/c'd>");
    let shell = place.answer("provider: cli\ncommand: printf '<%s>' {FILES} x");
    assert_eq!(shell.await, "</p/a b></p/c'd><x>");
    let none = Place::new("Look");
    let shell = none.answer("provider: cli\ncommand: printf '<%s>' {FILES} x");
    assert_eq!(shell.await, "<x>");
}

#[tokio::test]
async fn prompts_and_answers_may_go_through_files() {
    let place = Place::new(HOSTILE);
    let through = place
        .answer("provider: cli\ncommand: cp {PROMPT_FILE} {OUTPUT_FILE}; echo noise\nstdin: none");
    assert_eq!(through.await, HOSTILE);
    let list = place.answer("provider: cli\ncommand: [cp, '{PROMPT_FILE}', '{OUTPUT_FILE}']");
    assert_eq!(list.await, HOSTILE);
    let missing = place.fault("provider: cli\ncommand: 'echo why >&2; : {OUTPUT_FILE}'");
    let message = "the program did not write `{OUTPUT_FILE}`: why";
    assert_eq!(missing.await, never(FaultKind::Reply, message));
    let pipe = place.fault("provider: cli\ncommand: 'mkfifo {OUTPUT_FILE}'");
    let message = "cannot read `{OUTPUT_FILE}`: not a regular file";
    assert_eq!(pipe.await, never(FaultKind::Reply, message));
}

#[tokio::test]
async fn an_output_file_may_hold_an_object() {
    let place = Place::new(r#"{"text": "hi", "cost_usd": 0.5}"#);
    let copy = "provider: cli\ncommand: cat > {OUTPUT_FILE}";
    let read = place.ask(copy).await.unwrap();
    assert_eq!((read.answer.as_str(), read.cost_usd), ("hi", Some(0.5)));
    assert_eq!(read.calls, Some(Vec::new()));
    let read = place.ask(&format!("{copy}\nformat: text")).await.unwrap();
    assert_eq!(read.answer, r#"{"text": "hi", "cost_usd": 0.5}"#);
    assert_eq!(read.calls, None);
    let printed = place.ask("provider: cli\ncommand: [cat]").await.unwrap();
    assert_eq!(printed.calls, None);
    let plain = Place::new(r#"{"a": 1}"#).ask(copy).await.unwrap();
    assert_eq!(plain.answer, r#"{"a": 1}"#);
}

#[tokio::test]
async fn programs_know_their_case_and_have_their_environment_and_directory() {
    let place = Place::new("");
    fs::create_dir(place.path().join("sub")).unwrap();
    let shown = "\"$EVALRIG_TEST_ID\" $EVALRIG_TRIAL $EVALRIG_ATTEMPT \"$MINE\" \"${PATH:+path}\"";
    let options = format!(
        "provider: cli\ncommand: |-\n  printf '<%s>' {shown}\nenv: {{MINE: \"a ${{{{ WORD }}}}\", EVALRIG_TRIAL: \"9\"}}"
    );
    assert_eq!(place.answer(&options).await, "<t'1><3><2><a word><path>");
    let root = place.path().into_string();
    assert_eq!(place.answer("provider: cli\ncommand: [pwd]").await, root);
    let sub = place.answer("provider: cli\ncommand: [pwd]\ncwd: sub");
    assert_eq!(sub.await, format!("{root}/sub"));
    place.install("sub/here", "#!/bin/sh\necho here\n");
    let own = place.answer("provider: cli\ncommand: [./here]\ncwd: sub");
    assert_eq!(own.await, "here");
}

#[tokio::test]
async fn exit_statuses_count() {
    let place = Place::new("");
    let fail = "provider: cli\ncommand: 'echo out; echo why >&2; exit 3'";
    let fault = place.fault(fail).await;
    assert_eq!(fault, never(FaultKind::Exit, "exit status 3: why"));
    let allowed = format!("{fail}\nok_exit_codes: [0, 3]");
    assert_eq!(place.answer(&allowed).await, "out");
    let zero = place.fault("provider: cli\ncommand: [\"true\"]\nok_exit_codes: [1]");
    assert_eq!(zero.await, never(FaultKind::Exit, "exit status 0"));
    let killed = place.fault("provider: cli\ncommand: 'kill -9 $$'");
    assert_eq!(killed.await, never(FaultKind::Exit, "killed by signal 9"));
    let long = "provider: cli\ncommand: 'yes é | head -n 9999 >&2; exit 1'";
    let (_, _, message) = place.fault(long).await;
    // The last of the 2000 characters is a line break, and a mark says that there were more.
    let shown = message.strip_prefix("exit status 1: …").unwrap();
    assert!((1998..2000).contains(&shown.chars().count()));
}

#[tokio::test]
async fn what_cannot_start_is_a_start_failure_and_may_be_tried_again() {
    let soon = |message: &str| (FaultKind::Start, Retry::Soon, message.to_owned());
    let place = Place::new("a\0b");
    assert_eq!(
        place.fault("provider: cli\ncommand: [no-such-agent]").await,
        soon("cannot start `no-such-agent`: no such program")
    );
    assert_eq!(
        place.fault("provider: cli\ncommand: [echo, '{PROMPT}']").await,
        soon("cannot start `echo`: an argument or a variable holds a NUL byte")
    );
    assert_eq!(
        place.fault("provider: cli\ncommand: 'echo {PROMPT}'").await,
        soon("cannot start `sh`: an argument or a variable holds a NUL byte")
    );
    let (kind, _, message) = place.fault("provider: cli\ncommand: [pwd]\ncwd: nowhere").await;
    assert_eq!(kind, FaultKind::Start);
    assert!(message.ends_with("nowhere` does not exist"), "{message}");
    let huge = Place::new(&"x".repeat(8_000_000));
    for command in ["[echo, '{PROMPT}']", "'echo {PROMPT}'"] {
        let (kind, _, message) = huge.fault(&format!("provider: cli\ncommand: {command}")).await;
        assert_eq!(kind, FaultKind::Start);
        let advice = "its arguments are too long; give the prompt on stdin or by `{PROMPT_FILE}`";
        assert!(message.ends_with(advice), "{message}");
    }
    let through = huge.answer("provider: cli\ncommand: wc -c < {PROMPT_FILE} | tr -d ' '");
    assert_eq!(through.await, "8000000");
}

#[tokio::test]
async fn a_timeout_may_be_tried_again() {
    let mut place = Place::new("");
    place.timeout = Duration::from_millis(50);
    let (kind, retry, message) = place.fault("provider: cli\ncommand: [sleep, '100']").await;
    assert_eq!((kind, retry), (FaultKind::Timeout, Retry::Soon));
    assert_eq!(message, "no answer after 0.05 s");
}

/// Works without end, after a first call.
const LOOPING: &str = r#"#!/bin/sh
printf '{"type":"system","subtype":"init","tools":["Bash"],"skills":[]}\n'
printf '{"type":"assistant","message":{"id":"a","content":[{"type":"tool_use","id":"t","name":"Bash","input":{"command":"ls"}}]}}\n'
while true; do :; done
"#;

#[tokio::test]
async fn a_timeout_keeps_what_the_agent_did() {
    let mut place = Place::new("Hi");
    place.install("claude", LOOPING);
    // Long enough for the shell to print its lines.
    place.timeout = Duration::from_secs(3);
    let (own, wrapped) = tokio::join!(
        place.ask("provider: claude-cli\nexecutable: ./claude"),
        place.ask("provider: cli\ncommand: ./claude\nformat: claude-json"),
    );
    for failure in [own, wrapped] {
        let failure = failure.unwrap_err();
        assert_eq!(failure.fault.kind, FaultKind::Timeout);
        let so_far = failure.so_far.unwrap();
        assert!(so_far.partial);
        assert_eq!(so_far.calls.unwrap()[0].tool, "Bash");
        assert_eq!(so_far.skills.used, Some(Vec::new()));
    }
}

#[tokio::test]
async fn formats_are_read_and_what_is_wrong_with_them_is_said() {
    let place = Place::new("{\"role\":\"assistant\",\"content\":\"hi\"}");
    let cat = |format: &str| format!("provider: cli\ncommand: [cat]\nformat: {format}");
    assert_eq!(place.answer(&cat("jsonl")).await, "hi");
    let list = Place::new("[{\"role\":\"assistant\",\"content\":\"hi\"}]");
    assert_eq!(list.answer(&cat("messages")).await, "hi");
    let init = "{\"type\":\"system\",\"subtype\":\"init\",\"tools\":[]}";
    let result = "{\"result\":\"hi\",\"is_error\":false,\"type\":\"result\"}";
    let stream = Place::new(&format!("{init}\n{result}"));
    assert_eq!(stream.answer(&cat("stream-json")).await, "hi");
    assert_eq!(stream.answer(&cat("claude-json")).await, "hi");
    let wrong = Place::new("{\"role\"");
    for (format, message) in [
        ("jsonl", "line 1 of the output: "),
        ("messages", "the output is not JSON: "),
        ("stream-json", "line 1 of the output is not JSON: {\"role\""),
        ("pi-json", "line 1 of the output is not JSON: {\"role\""),
    ] {
        let (kind, retry, said) = wrong.fault(&cat(format)).await;
        assert_eq!((kind, retry), (FaultKind::Reply, Retry::Never));
        assert!(said.starts_with(message), "{said}");
    }
}

/// Prints its arguments, its input and some variables as the answer.
const CLAUDE: &str = r#"#!/bin/sh
printf '{"type":"system","subtype":"init","model":"m-9","tools":["Bash"]}\n'
said="$* | $(cat) | ${CLAUDECODE-unset} ${CLAUDE_CODE_ENTRYPOINT-unset} $DISABLE_AUTOUPDATER $MINE"
printf '{"type":"result","is_error":false,"result":"%s","total_cost_usd":0.5,"usage":{"input_tokens":3,"cache_read_input_tokens":2,"output_tokens":1},"duration_ms":7}\n' "$said"
exit 1
"#;

#[tokio::test]
async fn claude_is_run_with_the_prompt_on_its_input() {
    let place = Place::new("Hi");
    place.install("claude", CLAUDE);
    let read = place
        .ask(
            "provider: claude-cli\nexecutable: ./claude\nmodel: opus\nmax_turns: 4\nbypass_permissions: true\n\
             args: [--add-dir, /x]\nenv: {MINE: mine}",
        )
        .await
        .unwrap();
    assert_eq!(
        read.answer,
        "-p --output-format stream-json --verbose --model opus --max-turns 4 \
         --dangerously-skip-permissions --add-dir /x | Hi | unset unset 1 mine"
    );
    assert_eq!(read.model.as_deref(), Some("m-9"));
    assert_eq!((read.cost_usd, read.duration_ms), (Some(0.5), Some(7)));
    let tokens = read.tokens.unwrap();
    assert_eq!((tokens.input, tokens.output, tokens.cached), (5, 1, 2));
    let bare = place.answer("provider: claude-cli\nexecutable: ./claude");
    let expected = "-p --output-format stream-json --verbose | Hi | unset unset 1 ";
    assert_eq!(bare.await, expected);
}

#[tokio::test]
async fn claude_without_a_result_is_a_failure() {
    let place = Place::new("Hi");
    place.install("no-result", "#!/bin/sh\necho 'Error: no verbose' >&2\nexit 1\n");
    place.install("silent", "#!/bin/sh\n");
    place.install("noisy", "#!/bin/sh\necho Oops\nexit 1\n");
    place.install(
        "error",
        "#!/bin/sh\necho '{\"type\":\"result\",\"is_error\":true,\"result\":\"Invalid API key\"}'\nexit 1\n",
    );
    for (name, kind, message) in [
        ("no-result", FaultKind::Exit, "exit status 1: Error: no verbose"),
        ("silent", FaultKind::Reply, "the program printed no events"),
        ("noisy", FaultKind::Exit, "exit status 1; line 1 of the output is not JSON: Oops"),
        ("error", FaultKind::Reply, "the agent ended with an error: Invalid API key"),
    ] {
        let options = format!("provider: claude-cli\nexecutable: ./{name}");
        assert_eq!(place.fault(&options).await, never(kind, message));
    }
    let (kind, retry, message) =
        place.fault("provider: claude-cli\nexecutable: no-claude-here").await;
    assert_eq!((kind, retry), (FaultKind::Start, Retry::Soon));
    assert_eq!(message, "cannot start `no-claude-here`: no such program");
}

const CODEX: &str = r#"#!/bin/sh
printf '{"type":"thread.started","thread_id":"t"}\n'
printf '{"type":"item.completed","item":{"id":"i1","type":"command_execution","command":"ls","aggregated_output":"a","exit_code":0}}\n'
printf '{"type":"item.completed","item":{"id":"i2","type":"agent_message","text":"%s | %s"}}\n' "$*" "$(cat)"
printf '{"type":"turn.completed","usage":{"input_tokens":30,"cached_input_tokens":6,"output_tokens":4}}\n'
exit ${STATUS-0}
"#;

#[tokio::test]
async fn codex_is_run_with_the_prompt_on_its_input() {
    let place = Place::new("Hi");
    place.install("codex", CODEX);
    let options = "provider: codex-cli\nexecutable: ./codex\nmodel: m\nargs: [-s, read-only]";
    let read = place.ask(options).await.unwrap();
    assert_eq!(read.answer, "exec --json --skip-git-repo-check -m m -s read-only - | Hi");
    assert_eq!(read.model.as_deref(), Some("m"));
    let calls = read.calls.unwrap();
    assert_eq!(calls[0].output, Some(Value::from("a")));
    assert_eq!(calls[0].duration_ms, None);
    assert_eq!((read.tokens.unwrap().input, read.cost_usd), (30, None));
    let options = format!("{options}\nenv: {{STATUS: \"2\"}}");
    assert_eq!(place.fault(&options).await, never(FaultKind::Exit, "exit status 2"));
}

/// The second turn of a conversation whose first one took these figures.
fn second_turn() -> ConversationTurn {
    let tokens = Some(Tokens { input: 4, output: 1, cached: 2 });
    let earlier =
        EarlierTurns { session: "s-1".to_owned(), tokens, cost_usd: Some(0.375), llm_calls: None };
    ConversationTurn { earlier: Some(earlier) }
}

#[tokio::test]
async fn a_later_turn_continues_the_session_and_has_its_own_figures() {
    let mut place = Place::new("Hi");
    place.install("claude", CLAUDE);
    place.install("codex", CODEX);
    place.conversation = Some(second_turn());
    let read = place.ask("provider: claude-cli\nexecutable: ./claude\nmodel: m").await.unwrap();
    let expected = "-p --output-format stream-json --verbose --model m --resume s-1 | Hi";
    assert!(read.answer.starts_with(expected), "{}", read.answer);
    assert_eq!(read.tokens, Some(Tokens { input: 1, output: 0, cached: 0 }));
    assert_eq!(read.cost_usd, Some(0.125));
    let read = place.ask("provider: codex-cli\nexecutable: ./codex\nmodel: m").await.unwrap();
    assert_eq!(read.answer, "exec --json --skip-git-repo-check -m m resume s-1 - | Hi");
    assert_eq!(read.tokens, Some(Tokens { input: 26, output: 3, cached: 4 }));
}

#[tokio::test]
async fn figures_of_a_turn_are_unknown_if_those_of_an_earlier_one_are() {
    let mut place = Place::new("Hi");
    place.install("codex", CODEX);
    let mut turn = second_turn();
    turn.earlier.as_mut().unwrap().tokens = None;
    place.conversation = Some(turn);
    let read = place.ask("provider: codex-cli\nexecutable: ./codex").await.unwrap();
    assert_eq!(read.tokens, None);
}

#[tokio::test]
async fn system_messages_go_to_the_option_of_the_agent() {
    let mut place = Place::new("Hi");
    place.install("claude", CLAUDE);
    place.install("codex", &CODEX.replace("$*", "$(echo \"$*\" | tr '\"' '~')"));
    let said = |text: &str| Message::new(Role::System, vec![Block::Text(text.to_owned())]);
    place.messages.insert(0, said("Be brief."));
    let claude = "provider: claude-cli\nexecutable: ./claude";
    let answer = place.answer(claude).await;
    assert!(answer.contains("--append-system-prompt Be brief. | Hi | "), "{answer}");
    let answer = place.answer("provider: codex-cli\nexecutable: ./codex").await;
    assert!(answer.contains("-c developer_instructions=~Be brief.~ - | Hi"), "{answer}");
    // What is too long for an argument stays in the prompt.
    place.messages[0] = said(&"x".repeat(200_000));
    place.install("claude", &CLAUDE.replace("$(cat)", "-"));
    assert!(!place.answer(claude).await.contains("--append-system-prompt"));
}

#[tokio::test]
async fn agents_that_confine_reading_get_the_directories_of_attached_files() {
    let mut place = Place::new("Hi");
    place.install("claude", &CLAUDE.replace("$(cat)", "-"));
    let elsewhere = place.path().join("elsewhere");
    fs::create_dir_all(place.path().join("cwd/sub")).unwrap();
    fs::create_dir(&elsewhere).unwrap();
    let inside = place.path().join("cwd/sub/c.csv");
    let mut attach = |path: Utf8PathBuf| {
        fs::write(&path, "x").unwrap();
        let value = path.to_string();
        let file = Block::File(FileRef { value, path: Some(path) });
        place.messages[0].content.push(file);
    };
    attach(elsewhere.join("a.csv"));
    attach(elsewhere.join("b.csv"));
    attach(inside);
    let options = "provider: claude-cli\nexecutable: ./claude\ncwd: cwd\nfiles: paths";
    let answer = place.answer(options).await;
    let expected = format!("-p --output-format stream-json --verbose --add-dir {elsewhere} | ");
    assert!(answer.starts_with(&expected), "{answer}");
    assert_eq!(answer.matches("--add-dir").count(), 1, "{answer}");
    let inline = place.answer(&options.replace("paths", "none")).await;
    assert!(!inline.contains("--add-dir"), "{inline}");
}

/// Writes its report where it is told to, and its arguments without that path as the answer.
const COPILOT: &str = r#"#!/bin/sh
said="$(cat) |"
while [ $# -gt 0 ]; do
  if [ "$1" = --usage-output-file ]; then
    printf '{"modelMetrics":{"m":{"requests":{"count":3},"usage":{"inputTokens":30,"outputTokens":4,"cacheReadTokens":6}}}}' > "$2"
    shift
  else said="$said $1"; fi
  shift
done
printf '{"type":"session.skills_loaded","data":{"skills":[{"name":"a","enabled":true}]},"ephemeral":true}\n'
printf '{"type":"assistant.message","data":{"content":"%s","toolRequests":[]}}\n' "$said"
printf '{"type":"result","sessionId":"s","exitCode":0}\n'
"#;

#[tokio::test]
async fn copilot_is_run_with_a_file_for_its_usage() {
    let place = Place::new("Hi");
    place.install("copilot", COPILOT);
    let read = place.ask("provider: copilot-cli\nexecutable: ./copilot\nmodel: m").await.unwrap();
    assert_eq!(
        read.answer,
        "Hi | --output-format json --no-color --no-auto-update --model m --allow-all-tools"
    );
    let tokens = read.tokens.unwrap();
    assert_eq!((tokens.input, tokens.output, tokens.cached), (30, 4, 6));
    assert_eq!(read.session.llm_calls, Some(3));
    assert_eq!(read.skills.offered, Some(vec!["a".to_owned()]));
    let asking = "provider: copilot\nexecutable: ./copilot\nbypass_permissions: false";
    assert!(!place.answer(asking).await.contains("--allow-all-tools"));
}

/// Answers three requests and waits for its input to end.
const ACP: &str = r#"#!/bin/sh
read line; printf '{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":1,"agentInfo":{"name":"x","version":"2"}}}\n'
read line; printf '{"jsonrpc":"2.0","id":2,"result":{"sessionId":"s"}}\n'
read line
printf '{"jsonrpc":"2.0","id":"p","method":"session/request_permission","params":{"options":[{"optionId":"yes","kind":"allow_once"}]}}\n'
read granted
printf '{"jsonrpc":"2.0","method":"session/update","params":{"update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"granted: %s"}}}}\n' "$(printf '%s' "$granted" | tr -d '"{}')"
printf '{"jsonrpc":"2.0","id":3,"result":{"stopReason":"end_turn"}}\n'
cat > /dev/null
"#;

#[tokio::test]
async fn an_agent_of_the_agent_client_protocol_is_talked_with() {
    let place = Place::new("Hi");
    place.install("agent", ACP);
    let read = place.ask("provider: acp\ncommand: [./agent]").await.unwrap();
    assert_eq!(
        read.answer,
        "granted: jsonrpc:2.0,id:p,result:outcome:outcome:selected,optionId:yes"
    );
    assert_eq!(read.session.version.as_deref(), Some("2"));
    place.install("broken", "#!/bin/sh\necho 'no licence' >&2\nexit 7\n");
    let fault = place.fault("provider: acp\ncommand: [./broken]").await;
    assert_eq!(fault, never(FaultKind::Exit, "exit status 7: no licence"));
}

#[tokio::test]
async fn codex_may_fail() {
    let place = Place::new("Hi");
    place.install(
        "failed",
        "#!/bin/sh\necho '{\"type\":\"thread.started\"}'\necho '{\"type\":\"turn.failed\",\"error\":{\"message\":\"401\"}}'\nexit 1\n",
    );
    place.install("usage", "#!/bin/sh\necho 'error: unexpected argument' >&2\nexit 2\n");
    for (name, kind, message) in [
        ("failed", FaultKind::Reply, "the agent ended with an error: 401"),
        ("usage", FaultKind::Exit, "exit status 2: error: unexpected argument"),
    ] {
        let options = format!("provider: codex-cli\nexecutable: ./{name}");
        assert_eq!(place.fault(&options).await, never(kind, message));
    }
}

#[tokio::test]
async fn secrets_are_not_in_debug_output() {
    let place = Place::new("");
    let agent = place.connect("provider: cli\ncommand: [x]\nenv: {API_TOKEN: hidden-value}");
    let shown = format!("{agent:?}");
    assert!(shown.contains("API_TOKEN") && !shown.contains("hidden-value"), "{shown}");
}
