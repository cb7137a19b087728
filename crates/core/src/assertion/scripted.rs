//! Asks a script and reads its output (spec 10.1). Shared by the types that run one.

use camino::Utf8PathBuf;

use crate::evidence::{ScriptEnd, read_script, script_stdin};
use crate::model::{
    Answer, Fault, FaultKind, Grade, GradingContext, Question, ScriptQuestion, Stage, Step,
    has_script_extension,
};

use super::script::{Command, Cwd, Language, Script};

/// The key of the only question to a script.
const KEY: &str = "script";

/// `bun` where it is installed, else `npx tsx`; the script is `$0`. The shell decides, because this
/// crate does not look at the system.
const TYPESCRIPT: &str =
    "if command -v bun >/dev/null 2>&1; then exec bun \"$0\"; fi; exec npx tsx \"$0\"";

impl Script {
    pub(super) fn grade(&self, context: &GradingContext<'_>) -> Step {
        match context.answer(KEY) {
            None => self
                .question(context)
                .map_or_else(Step::from, |question| Step::Ask(vec![context.ask(KEY, question)])),
            Some(answer) => read_answer(answer).map_or_else(Step::from, Step::from),
        }
    }

    fn question(&self, context: &GradingContext<'_>) -> Result<Question, Fault> {
        Ok(Question::Script(ScriptQuestion {
            command: self.command.words(),
            cwd: self.directory()?,
            files: self.files(),
            timeout_seconds: self.setup.timeout_seconds,
            stdin: script_stdin(context.evidence, &context.common.config),
        }))
    }

    fn directory(&self) -> Result<Utf8PathBuf, Fault> {
        match &self.setup.cwd {
            Cwd::Own(path) | Cwd::Written { path: Some(path), .. } => Ok(path.clone()),
            Cwd::Written { text, path: None } => {
                let message = format!("the script's `cwd` is not a directory: `{text}`");
                Err(Fault::new(Stage::Script, FaultKind::Start, message))
            }
        }
    }
}

impl Script {
    /// The installed program that runs it. `None` for a file of the repository.
    pub(super) fn program(&self) -> Option<String> {
        match &self.command {
            Command::Direct(words) => {
                let program = words.first().filter(|word| word.path.is_none())?;
                let is_relative =
                    program.written.contains('/') && !program.written.starts_with('/');
                (!is_relative).then(|| program.written.clone())
            }
            Command::Shell(line) => {
                // Other lines may begin with anything that a shell knows.
                let mut words = line.split_whitespace();
                let program = words.next().filter(|word| {
                    word.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"._+-".contains(&byte))
                });
                let runs_script = words.next().is_some_and(has_script_extension);
                let is_program = runs_script && program.is_some_and(|word| !WORDS.contains(&word));
                Some(program.filter(|_| is_program).unwrap_or("sh").to_owned())
            }
            Command::Found { language, .. } => {
                language.interpreter().first().map(|program| (*program).to_owned())
            }
        }
    }
}

/// Words of the shell that may be followed by a script.
const WORDS: &[&str] = &[".", "command", "eval", "exec", "source"];

impl Command {
    /// Program and arguments.
    fn words(&self) -> Vec<String> {
        match self {
            Self::Direct(words) => words
                .iter()
                .map(|word| match &word.path {
                    Some(path) => path.to_string(),
                    None => word.written.clone(),
                })
                .collect(),
            Self::Shell(line) => owned(&["sh", "-c", line]),
            Self::Found { path, language, .. } => {
                let mut words = owned(language.interpreter());
                words.push(path.to_string());
                words
            }
        }
    }
}

impl Language {
    /// The command that runs a file, without the file.
    fn interpreter(self) -> &'static [&'static str] {
        match self {
            Self::Python => &["python3"],
            Self::Shell => &["sh"],
            Self::JavaScript => &["node"],
            Self::TypeScript => &["sh", "-c", TYPESCRIPT],
            Self::Ruby => &["ruby"],
            Self::Perl => &["perl"],
        }
    }
}

fn owned(words: &[&str]) -> Vec<String> {
    words.iter().map(|word| (*word).to_owned()).collect()
}

fn read_answer(answer: &Answer) -> Result<Grade, Fault> {
    match answer {
        Answer::Script(end) => read_script(ScriptEnd {
            stdout: &end.stdout,
            stderr: &end.stderr,
            failure: end.failure.as_deref(),
        })
        .map(Grade::Graded),
        Answer::Failed(fault) => Err(fault.clone()),
        Answer::Judge(_) | Answer::Command(_) | Answer::NoDirectory(_) => {
            let message = "this is not the answer of a script";
            Err(Fault::new(Stage::Script, FaultKind::Reply, message))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::Trial;
    use super::*;
    use crate::evidence::json::parse;
    use crate::model::{Ask, AssertionGrade, JsonStyle, ScriptAnswer, Transcript, Value};
    use crate::source::MemoryFiles;

    const JUDGE: &str = "- {type: code-judge, script: run}";

    fn printed(stdout: &str) -> Answer {
        Answer::Script(ScriptAnswer {
            stdout: stdout.as_bytes().to_vec(),
            stderr: "warned\n".to_owned(),
            failure: None,
        })
    }

    fn graded(yaml: &str, answer: &Answer) -> AssertionGrade {
        let trial = Trial::new(yaml, Transcript::of_text("a"));
        let mut grades = trial.grades(|_| answer.clone());
        assert_eq!(grades.len(), 1);
        grades.remove(0)
    }

    fn score(yaml: &str, stdout: &str) -> f64 {
        match graded(yaml, &printed(stdout)).grade {
            Grade::Graded(marks) => marks.score.rounded(),
            other => panic!("{other:?}"),
        }
    }

    fn fault(answer: &Answer) -> Fault {
        match graded(JUDGE, answer).grade {
            Grade::Errored(fault) => fault,
            other => panic!("{other:?}"),
        }
    }

    /// What the script of the only assertion is asked.
    fn asked(files: MemoryFiles, yaml: &str) -> ScriptQuestion {
        let trial = Trial::with_files(files, yaml, Transcript::of_text("a"));
        let mut found = None;
        trial.grades(|Ask { question, .. }| {
            let Question::Script(question) = question else {
                panic!("{question:?}");
            };
            found = Some(question.clone());
            printed("{\"score\": 1}")
        });
        found.expect("a question")
    }

    #[test]
    fn examples_of_the_format() {
        let half = r#"{"score":0.5,"hits":["a"],"misses":["b"]}"#;
        assert_eq!(score(JUDGE, half), 0.5);
        let claims = r#"{"assertions":[{"text":"a","passed":true},{"text":"b","passed":true},{"text":"c","passed":false}]}"#;
        assert_eq!(score(JUDGE, claims), 0.666_667);
        let message = fault(&printed(r#"{"score":7}"#)).message;
        assert!(message.contains("`score` is 7, which is not in 0..1"));
        assert!(message.ends_with("stderr: warned"));
    }

    #[test]
    fn negation_turns_a_score_round_and_no_fault() {
        let yaml = "- {type: code-judge, script: run, negate: true, required: true}";
        assert_eq!(score(yaml, r#"{"score":0.25}"#), 0.75);
        let grade = graded(yaml, &printed("oops")).grade;
        assert!(matches!(grade, Grade::Errored(_)));
    }

    #[test]
    fn a_script_that_could_not_be_asked_is_a_fault() {
        let failed = Fault::new(Stage::Script, FaultKind::Timeout, "no end after 60 s");
        assert_eq!(fault(&Answer::Failed(failed.clone())), failed);
        let fault = fault(&Answer::Judge("{\"score\": 1}".to_owned()));
        assert_eq!(fault.stage, Stage::Script);
    }

    #[test]
    fn the_script_is_told_where_and_how_long_it_runs() {
        let files = MemoryFiles::new().with("/p/judges/check.py", "").with("/p/work/x", "");
        let yaml = "- {type: code-judge, script: [python3, judges/check.py, --fast], cwd: work, timeout_seconds: 5}";
        let question = asked(files.clone(), yaml);
        assert_eq!(question.command, ["python3", "/p/judges/check.py", "--fast"]);
        assert_eq!(question.cwd, "/p/work");
        assert_eq!(question.timeout_seconds, 5);
        let question = asked(files, "- {type: script, script: 'a | b'}");
        assert_eq!(question.command, ["sh", "-c", "a | b"]);
        assert_eq!(question.cwd, "/p");
        assert_eq!(question.timeout_seconds, 60);
    }

    #[test]
    fn a_working_directory_that_is_not_there_is_a_fault() {
        let yaml = "- {type: code-judge, script: run, cwd: nowhere}";
        let fault = Trial::new(yaml, Transcript::of_text("a")).fault();
        assert_eq!((fault.stage, fault.kind), (Stage::Script, FaultKind::Start));
        assert!(fault.message.contains("`nowhere`"));
    }

    #[test]
    fn a_custom_type_gets_its_keys_as_config() {
        let files = MemoryFiles::new().with("/p/.agentv/judges/word-count.py", "");
        let question = asked(files, "- {type: word-count, max: 50}");
        let script = "/p/.agentv/judges/word-count.py";
        assert_eq!(question.command, ["python3", script]);
        let stdin = parse(&question.stdin).expect("JSON");
        let config = stdin.as_map().and_then(|map| map.get("config"));
        let config = config.map(|config: &Value| config.to_json(JsonStyle::Compact));
        assert_eq!(config.as_deref(), Some(r#"{"max":50}"#));
    }

    #[test]
    fn every_language_has_its_interpreter() {
        for (extension, program) in [
            ("py", "python3"),
            ("sh", "sh"),
            ("js", "node"),
            ("mjs", "node"),
            ("ts", "sh"),
            ("rb", "ruby"),
            ("pl", "perl"),
        ] {
            let path = format!("/p/.evalrig/judges/tone.{extension}");
            let files = MemoryFiles::new().with(&path, "");
            let command = asked(files, "- {type: tone}").command;
            assert_eq!(command[0], program, "{extension}");
            assert_eq!(command.last(), Some(&path), "{extension}");
        }
        let files = MemoryFiles::new().with("/p/.evalrig/judges/tone.ts", "");
        let command = asked(files, "- {type: tone}").command;
        assert!(command[2].contains("bun") && command[2].contains("npx tsx"));
    }
}
