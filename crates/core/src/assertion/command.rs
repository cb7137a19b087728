//! `command`: a program succeeds in a copy of the workspace, where hidden tests may be laid over what
//! the agent left (spec 17.5).

use camino::{Utf8Path, Utf8PathBuf};

use crate::diagnostic::Diagnostic;
use crate::evidence::{ScriptEnd, read_script};
use crate::model::{
    Answer, Check, CommandAnswer, CommandQuestion, CommonOptions, Conclusion, EvidencePart, Fault,
    FaultKind, Grade, GradingContext, HookCommand, Map, Marks, Question, Score, Stage, Step,
    TestView, Value,
};
use crate::reader::{Options, ReadResult, Reported, all_read};
use crate::source::Span;
use crate::syntax::fields::{Field, Shape};

use super::excerpt::excerpt;
use super::junit::{JunitOutcome, junit_marks, read_junit};
use super::kind::{AssertionKind, EntryContext};
use super::overlay::OverlayDirectory;
use super::subject::missing_workspace;

static FIELDS: &[Field] = &[
    Field::new(
        "run",
        Shape::OneOf(&[Shape::NonEmptyText, Shape::NonEmptyList(&Shape::Text)]),
        "a list is run as it is, a string by the shell",
    )
    .required(),
    Field::new(
        "cwd",
        Shape::NonEmptyText,
        "where it runs, below the workspace; default: the `cwd` of the workspace",
    ),
    Field::new(
        "overlay",
        Shape::NonEmptyText,
        "directory that is copied over the copy of the workspace first, such as hidden tests",
    ),
    Field::new(
        "timeout_seconds",
        Shape::Integer { min: 1, max: 3600 },
        "timeout of the command; default 300",
    ),
    Field::new(
        "ok_exit_codes",
        Shape::NonEmptyList(&Shape::Integer { min: 0, max: 255 }),
        "exit codes that count as success; default `[0]`",
    ),
    Field::new(
        "score",
        Shape::Choice(CommandScore::WORDS),
        "`exit`: by the exit code (default); `json`: by the last line that it prints",
    ),
    Field::new(
        "junit",
        Shape::NonEmptyText,
        "pattern of JUnit reports; the score is the share of test cases that pass",
    ),
];

pub(super) static KIND: AssertionKind = AssertionKind::new(
    "command",
    FIELDS,
    read,
    "A command succeeds in a copy of the workspace. `overlay` is copied over it first, so that hidden tests never
reach the agent. By default the exit code decides. With `score: json` the last line of its output does,
`{\"score\": 0.5}` as for a `code-judge`; with `junit` the share of passing test cases in the reports it writes.

```yaml
workspace: {}
assert:
  - type: command
    run: [python3, -m, pytest, -q]
    timeout_seconds: 60
  - type: command
    name: hidden tests
    run: npm test -- --reporter=junit
    junit: \"reports/*.xml\"
```
",
);

crate::words! {
    /// What decides about the score.
    #[derive(Default)]
    enum CommandScore {
        #[default]
        Exit = "exit",
        Json = "json",
    }
}

const DEFAULT_TIMEOUT: u64 = 300;

/// Longest tail of stdout in the details, in characters.
const STDOUT_SHOWN: usize = 2000;

/// The key of the only question.
const KEY: &str = "command";

fn read(options: &mut Options<'_, '_, '_>, _: &mut EntryContext<'_>) -> ReadResult<Box<dyn Check>> {
    let run = read_run(options);
    let cwd = read_cwd(options);
    let overlay = options.optional("overlay", |options, entry| {
        let text = options.full_text_of("overlay", entry.value)?;
        Ok(OverlayDirectory::find(options, text.value, text.span))
    });
    let timeout = options.integer("timeout_seconds", 1, 3600);
    let exit_codes = read_exit_codes(options);
    let score = options.choice::<CommandScore>("score");
    let junit = options.optional("junit", |options, entry| {
        let text = options.full_text_of("junit", entry.value)?;
        let glob = options.reader.workspace_glob(&text.value, text.span).ok_or(Reported)?;
        Ok(glob.text)
    });
    if let (Some(score), Some(junit)) = (options.get("score"), options.get("junit")) {
        let help = "remove `score`: with `junit` the reports decide";
        return Err(options.conflict(&score, &junit, help));
    }
    let measure = match junit? {
        Some(glob) => CommandMeasure::Junit(glob),
        None => CommandMeasure::Output(score?.unwrap_or_default()),
    };
    Ok(Box::new(CommandCheck {
        run: run?,
        cwd: cwd?,
        overlay: overlay?,
        timeout_seconds: timeout?.unwrap_or(DEFAULT_TIMEOUT),
        exit_codes: exit_codes?,
        measure,
    }))
}

fn read_run(options: &mut Options<'_, '_, '_>) -> ReadResult<HookCommand> {
    let entry = options.require("run")?;
    let help = "write `run: [make, test]`, or a line for the shell";
    if !entry.value.is_sequence() {
        let line = options.text_of("run", entry.value)?;
        if line.value.trim().is_empty() {
            return Err(options.missing(line.span, "`run` does not name a program", help));
        }
        return Ok(HookCommand::Shell(line.value));
    }
    let words = options.texts("run")?.unwrap_or_default();
    if words.first().is_none_or(|first| first.value.trim().is_empty()) {
        let span = entry.value.span();
        return Err(options.missing(span, "`run` does not name a program", help));
    }
    Ok(HookCommand::Argv(words.into_iter().map(|word| word.value).collect()))
}

fn read_cwd(options: &mut Options<'_, '_, '_>) -> ReadResult<Option<String>> {
    options.optional("cwd", |options, entry| {
        let text = options.full_text_of("cwd", entry.value)?;
        options.reader.path_in_workspace(&text.value, text.span).ok_or(Reported)
    })
}

fn read_exit_codes(options: &mut Options<'_, '_, '_>) -> ReadResult<Vec<i32>> {
    let Some(entry) = options.get("ok_exit_codes") else {
        return Ok(vec![0]);
    };
    if !entry.value.is_sequence() || entry.value.items().len() == 0 {
        return Err(options.wrong_type("ok_exit_codes", entry.value, "a list of exit codes"));
    }
    let items = entry.value.items();
    all_read(items.map(|item| {
        let code = options.reader.integer_of("an item of ok_exit_codes", item, 0, 255);
        code.map(|code| code as i32).ok_or(Reported)
    }))
}

/// What decides about the score.
#[derive(Debug, PartialEq, Eq)]
enum CommandMeasure {
    Output(CommandScore),
    /// Pattern of the reports.
    Junit(String),
}

#[derive(Debug)]
struct CommandCheck {
    run: HookCommand,
    cwd: Option<String>,
    overlay: Option<OverlayDirectory>,
    timeout_seconds: u64,
    /// Never empty.
    exit_codes: Vec<i32>,
    measure: CommandMeasure,
}

impl CommandCheck {
    /// The command on one line.
    fn written(&self) -> String {
        match &self.run {
            HookCommand::Argv(words) => words.join(" "),
            HookCommand::Shell(line) => line.trim().to_owned(),
        }
    }

    fn question(&self) -> Result<Question, Fault> {
        let overlay = match &self.overlay {
            Some(OverlayDirectory { path: None, written, .. }) => {
                let message = format!("the overlay is not a directory: `{written}`");
                return Err(Fault::new(Stage::Script, FaultKind::Start, message));
            }
            overlay => overlay.as_ref(),
        };
        Ok(Question::Command(CommandQuestion {
            command: self.run.clone(),
            cwd: self.cwd.clone(),
            overlay: overlay.and_then(|overlay| overlay.path.clone()),
            overlay_files: overlay.map(|overlay| overlay.files.clone()).unwrap_or_default(),
            overlay_others: overlay.map(|overlay| overlay.others.clone()).unwrap_or_default(),
            timeout_seconds: self.timeout_seconds,
            collect: match &self.measure {
                CommandMeasure::Junit(glob) => Some(glob.clone()),
                CommandMeasure::Output(_) => None,
            },
        }))
    }

    fn conclude(&self, end: &CommandAnswer) -> Result<Marks, Fault> {
        let marks = match &self.measure {
            CommandMeasure::Output(CommandScore::Exit) => self.by_exit(end),
            CommandMeasure::Output(CommandScore::Json) => by_last_line(end)?,
            CommandMeasure::Junit(glob) => self.by_reports(end, glob)?,
        };
        let mut details = marks.details.unwrap_or_default();
        for (key, value) in tails(end).iter() {
            if details.get(key).is_none() {
                details.insert(key, value.clone());
            }
        }
        Ok(Marks { details: Some(details), ..marks })
    }

    fn succeeded(&self, end: &CommandAnswer) -> bool {
        end.exit_code.is_some_and(|code| self.exit_codes.contains(&code))
    }

    fn by_exit(&self, end: &CommandAnswer) -> Marks {
        let (written, ending) = (self.written(), ending(end));
        let command = excerpt(&written);
        Marks::when(
            self.succeeded(end),
            || format!("Command succeeds: {command}"),
            || format!("Command ended with {ending}: {command}"),
        )
    }

    fn by_reports(&self, end: &CommandAnswer, glob: &str) -> Result<Marks, Fault> {
        let fault = |kind, why: String| Fault::new(Stage::Script, kind, with_stderr(why, end));
        let mut cases = Vec::new();
        for (path, content) in &end.collected {
            read_junit(content, &mut cases).map_err(|why| {
                fault(FaultKind::Reply, format!("the JUnit report '{path}' cannot be read: {why}"))
            })?;
        }
        if cases.is_empty() {
            let what = if end.collected.is_empty() {
                format!("no JUnit report matches '{glob}'")
            } else {
                format!("the JUnit reports that match '{glob}' have no test case")
            };
            let why = format!("{what}; the command ended with {}", ending(end));
            return Err(fault(FaultKind::Reply, why));
        }
        let passed = cases.iter().filter(|case| case.outcome == JunitOutcome::Passed).count();
        if passed == cases.len() && !self.succeeded(end) {
            let why = format!(
                "all {passed} test cases of the JUnit reports pass, but the command ended with {}",
                ending(end)
            );
            return Err(fault(FaultKind::Exit, why));
        }
        Ok(junit_marks(&cases, passed))
    }
}

/// As for a file that does not exist: otherwise an agent that removes what it was to work on could not be
/// graded, and with `negate` it would pass.
fn missing_directory(path: &str) -> Step {
    let misses = vec![format!("Directory '{path}' does not exist")];
    Step::Done(Conclusion {
        is_absolute: true,
        ..Grade::Graded(Marks::new(Score::ZERO, Vec::new(), misses)).into()
    })
}

/// Read like the output of a code judge.
fn by_last_line(end: &CommandAnswer) -> Result<Marks, Fault> {
    let mut lines = end.stdout.split(|byte| *byte == b'\n');
    let last = lines.rfind(|line| !line.trim_ascii().is_empty()).unwrap_or_default();
    let failure = (end.exit_code != Some(0)).then(|| ending(end));
    let stderr = &end.stderr;
    read_script(ScriptEnd { stdout: last, stderr, failure: failure.as_deref() })
}

fn ending(end: &CommandAnswer) -> String {
    match end.exit_code {
        Some(code) => format!("exit status {code}"),
        None => "a signal".to_owned(),
    }
}

fn with_stderr(mut why: String, end: &CommandAnswer) -> String {
    let stderr = end.stderr.trim();
    if !stderr.is_empty() {
        why.push_str("\nstderr: ");
        why.push_str(stderr);
    }
    why
}

/// The exit code and the ends of both outputs.
fn tails(end: &CommandAnswer) -> Map {
    let stdout = String::from_utf8_lossy(&end.stdout);
    let stdout = stdout.trim_end();
    let start = stdout.char_indices().rev().nth(STDOUT_SHOWN - 1).map_or(0, |(at, _)| at);
    let code = end.exit_code.and_then(|code| u64::try_from(code).ok());
    let mut map = Map::new();
    map.insert("exitCode", code.map_or(Value::Null, Value::from));
    map.insert("stdout", &stdout[start..]);
    map.insert("stderr", end.stderr.trim_end());
    map
}

impl Check for CommandCheck {
    fn options(&self) -> Map {
        let mut map = Map::new();
        match &self.run {
            HookCommand::Argv(words) => map.insert("run", words.clone()),
            HookCommand::Shell(line) => map.insert("run", line.as_str()),
        }
        map.insert_some(
            "cwd",
            self.cwd.as_deref().map(|cwd| if cwd.is_empty() { "." } else { cwd }),
        );
        map.insert_some("overlay", self.overlay.as_ref().map(|overlay| overlay.written.as_str()));
        map.insert("timeout_seconds", self.timeout_seconds);
        if self.exit_codes != [0] {
            let codes = self.exit_codes.iter().map(|code| Value::from(code.unsigned_abs() as u64));
            map.insert("ok_exit_codes", codes.collect::<Vec<_>>());
        }
        match &self.measure {
            CommandMeasure::Output(CommandScore::Exit) => {}
            CommandMeasure::Output(score) => map.insert("score", score.word()),
            CommandMeasure::Junit(glob) => map.insert("junit", glob.as_str()),
        }
        map
    }

    fn sentences(&self, _: &CommonOptions) -> Vec<String> {
        vec![format!("Command succeeds: {}", self.written())]
    }

    fn losses(&self, _: &str) -> Vec<(&'static str, String)> {
        vec![("command", "only the command line is written".to_owned())]
    }

    fn parts(&self) -> Vec<EvidencePart> {
        vec![EvidencePart::Files]
    }

    fn grade(&self, context: &GradingContext<'_>) -> Step {
        match context.answer(KEY) {
            None if context.evidence.workspace.is_none() => {
                Fault::not_measured("the workspace, which is gone").into()
            }
            None => self
                .question()
                .map_or_else(Step::from, |question| Step::Ask(vec![context.ask(KEY, question)])),
            Some(Answer::Command(end)) => self.conclude(end).map_or_else(Step::from, Step::from),
            Some(Answer::NoDirectory(path)) => missing_directory(path),
            Some(Answer::Failed(fault)) => fault.clone().into(),
            Some(Answer::Script(_) | Answer::Judge(_)) => {
                let message = "this is not the answer of a command";
                Fault::new(Stage::Script, FaultKind::Reply, message).into()
            }
        }
    }

    fn diagnostics_in(&self, test: &TestView<'_>, span: Span) -> Vec<Diagnostic> {
        missing_workspace("`command`", test, span).into_iter().collect()
    }

    fn script_files(&self) -> Vec<Utf8PathBuf> {
        self.overlay.as_ref().map(|overlay| overlay.files.clone()).unwrap_or_default()
    }

    fn hidden_directory(&self) -> Option<&Utf8Path> {
        self.overlay.as_ref()?.path.as_deref()
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{MemoryWorkspace, Trial, read, read_with};
    use super::*;
    use crate::model::{Ask, AssertionGrade, JsonStyle, Transcript};
    use crate::source::MemoryFiles;

    fn ended(code: i32, stdout: &str) -> CommandAnswer {
        CommandAnswer {
            exit_code: Some(code),
            stdout: stdout.as_bytes().to_vec(),
            stderr: "warned\n".to_owned(),
            collected: Vec::new(),
        }
    }

    fn graded(options: &str, answer: &Answer) -> AssertionGrade {
        let yaml = format!("- {{type: command, run: [make, test], {options}}}");
        let trial = Trial::new(&yaml, Transcript::of_text("a")).inside(MemoryWorkspace::new());
        trial.grades(|_| answer.clone()).remove(0)
    }

    fn marks(options: &str, end: CommandAnswer) -> Marks {
        match graded(options, &Answer::Command(end)).grade {
            Grade::Graded(marks) => marks,
            other => panic!("{other:?}"),
        }
    }

    fn fault(options: &str, end: CommandAnswer) -> Fault {
        match graded(options, &Answer::Command(end)).grade {
            Grade::Errored(fault) => fault,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn the_exit_code_decides_by_default() {
        let passed = marks("weight: 1", ended(0, "all well\n"));
        assert_eq!(passed.score.value(), 1.0);
        assert_eq!(passed.hits, ["Command succeeds: make test"]);
        assert_eq!(
            Value::from(passed.details.unwrap()).to_json(JsonStyle::Compact),
            r#"{"exitCode":0,"stdout":"all well","stderr":"warned"}"#
        );
        let failed = marks("weight: 1", ended(2, ""));
        assert_eq!(failed.score.value(), 0.0);
        assert_eq!(failed.misses, ["Command ended with exit status 2: make test"]);
        assert_eq!(marks("ok_exit_codes: [0, 2]", ended(2, "")).score.value(), 1.0);
        let killed = CommandAnswer { exit_code: None, ..ended(0, "") };
        assert_eq!(marks("weight: 1", killed).misses, ["Command ended with a signal: make test"]);
    }

    #[test]
    fn long_output_keeps_its_end() {
        let end = ended(0, &format!("start{}", "é".repeat(3000)));
        let details = marks("weight: 1", end).details.unwrap();
        let stdout = details.get("stdout").and_then(Value::as_str).unwrap();
        assert_eq!(stdout, "é".repeat(2000));
    }

    #[test]
    fn the_last_line_may_be_the_score() {
        let out = "log\n{\"score\": 0.25, \"hits\": [\"a\"], \"details\": {\"n\": 1}}\n\n";
        let found = marks("score: json", ended(1, out));
        assert_eq!(found.score.value(), 0.25);
        assert_eq!(found.hits, ["a"]);
        let details = found.details.unwrap();
        assert!(details.get("n").is_some() && details.get("stderr").is_some());
        let fault = fault("score: json", ended(3, "{\"score\": 1}\nbye"));
        assert_eq!((fault.stage, fault.kind), (Stage::Script, FaultKind::Exit));
        assert!(fault.message.contains("exit status 3"), "{}", fault.message);
    }

    fn reported(code: i32, cases: &str) -> CommandAnswer {
        let report = format!("<testsuite>{cases}</testsuite>").into_bytes();
        CommandAnswer { collected: vec![("r/a.xml".to_owned(), report)], ..ended(code, "") }
    }

    #[test]
    fn the_share_of_passing_test_cases_counts() {
        let junit = "junit: r/*.xml";
        let cases = "<testcase classname='c' name='a'/><testcase name='b'><failure message='1 != 2&#10;more'/></testcase>\
                     <testcase name='d'><skipped/></testcase><testcase name='e'/>";
        let found = marks(junit, reported(1, cases));
        assert_eq!(found.score.value(), 0.5);
        assert_eq!(found.hits, ["2 of 4 test cases pass"]);
        assert_eq!(found.misses, ["Test case failed: b: 1 != 2", "Test case skipped: d"]);
        let found = marks(junit, reported(0, "<testcase name='a'/>"));
        assert_eq!((found.score.value(), found.misses.len()), (1.0, 0));
        let many = "<testcase name='x'><error/></testcase>".repeat(30);
        let found = marks(junit, reported(1, &many));
        assert_eq!(found.score.value(), 0.0);
        assert!(found.hits.is_empty());
        assert_eq!(found.misses[20], "10 more test cases do not pass");
    }

    #[test]
    fn reports_that_say_nothing_are_faults() {
        let junit = "junit: r/*.xml";
        for (end, message) in [
            (
                ended(1, ""),
                "no JUnit report matches 'r/*.xml'; the command ended with exit status 1",
            ),
            (reported(1, ""), "the JUnit reports that match 'r/*.xml' have no test case"),
            (reported(1, "<a>"), "the JUnit report 'r/a.xml' cannot be read"),
            (
                reported(3, "<testcase/>"),
                "all 1 test cases of the JUnit reports pass, but the command ended with exit status 3",
            ),
        ] {
            let fault = fault(junit, end);
            assert_eq!(fault.stage, Stage::Script);
            assert!(fault.message.starts_with(message), "{}", fault.message);
            assert!(fault.message.ends_with("\nstderr: warned"), "{}", fault.message);
        }
    }

    #[test]
    fn what_could_not_be_asked_is_a_fault() {
        let failed = Fault::new(Stage::Script, FaultKind::Timeout, "no end after 300 s");
        let grade = graded("negate: true", &Answer::Failed(failed.clone())).grade;
        assert_eq!(grade, Grade::Errored(failed));
        let grade = graded("weight: 1", &Answer::Judge(String::new())).grade;
        assert!(matches!(grade, Grade::Errored(_)));
        let yaml = "- {type: command, run: [make]}";
        let gone = Trial::new(yaml, Transcript::of_text("a")).fault();
        assert_eq!(gone.kind, FaultKind::NotMeasured);
    }

    #[test]
    fn a_directory_that_does_not_exist_is_a_miss_also_with_negate() {
        for options in ["weight: 1", "negate: true", "score: json", "junit: r/*.xml"] {
            let Grade::Graded(marks) = graded(options, &Answer::NoDirectory("app".into())).grade
            else {
                panic!("{options}");
            };
            assert_eq!((marks.score, marks.hits.len()), (Score::ZERO, 0), "{options}");
            assert_eq!(marks.misses, ["Directory 'app' does not exist"], "{options}");
        }
    }

    #[test]
    fn the_question_has_everything_that_running_needs() {
        let files = MemoryFiles::new().with("/p/hidden/t/a.py", "").with("/p/hidden/b.py", "");
        let yaml = "- {type: command, run: 'pytest -q', cwd: ./app/, overlay: hidden, \
                    timeout_seconds: 9, junit: ./out/*.xml}";
        let trial = Trial::with_files(files.clone(), yaml, Transcript::of_text("a"));
        let mut asked = None;
        trial.inside(MemoryWorkspace::new()).grades(|Ask { question, .. }| {
            asked = Some(question.clone());
            Answer::Command(ended(0, ""))
        });
        let overlay_files = vec!["/p/hidden/b.py".into(), "/p/hidden/t/a.py".into()];
        assert_eq!(
            asked,
            Some(Question::Command(CommandQuestion {
                command: HookCommand::Shell("pytest -q".to_owned()),
                cwd: Some("app".to_owned()),
                overlay: Some("/p/hidden".into()),
                overlay_files: overlay_files.clone(),
                overlay_others: vec!["/p/hidden/t".into()],
                timeout_seconds: 9,
                collect: Some("out/*.xml".to_owned()),
            }))
        );
        let found = read_with(files, yaml);
        assert_eq!(found.only().check.script_files(), overlay_files);
        assert_eq!(
            found.options(),
            r#"{"run":"pytest -q","cwd":"app","overlay":"hidden","timeout_seconds":9,"junit":"out/*.xml"}"#
        );
        assert_eq!(found.sentences(), ["Command succeeds: pytest -q"]);
    }

    #[test]
    fn an_overlay_that_does_not_exist_is_marked_and_a_fault() {
        let yaml = "- {type: command, run: [make], overlay: none}";
        assert_eq!(read(yaml).names(), ["not-a-directory"]);
        let trial = Trial::new(yaml, Transcript::of_text("a")).inside(MemoryWorkspace::new());
        assert_eq!(trial.fault().kind, FaultKind::Start);
    }

    #[test]
    fn wrong_options_are_marked() {
        for (options, faults) in [
            ("cwd: a", vec!["missing-option"]),
            ("run: []", vec!["missing-option"]),
            ("run: ' '", vec!["missing-option"]),
            ("run: 3", vec!["wrong-type"]),
            ("run: [make], cwd: ../x", vec!["path-outside-workspace"]),
            ("run: [make], overlay: ../x", vec!["path-outside-root"]),
            ("run: [make], ok_exit_codes: []", vec!["wrong-type"]),
            ("run: [make], ok_exit_codes: [256]", vec!["out-of-range"]),
            ("run: [make], score: junit", vec!["invalid-option"]),
            ("run: [make], junit: out/", vec!["invalid-glob"]),
            ("run: [make], junit: a.xml, score: exit", vec!["conflicting-fields"]),
        ] {
            let found = read(&format!("- {{type: command, {options}}}"));
            assert_eq!(found.names(), faults, "{options}");
        }
    }
}
