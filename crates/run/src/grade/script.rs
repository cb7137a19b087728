//! Grading scripts, by the contract of spec 10.1.

use std::time::Duration;

use evalrig_core::model::{Answer, Fault, FaultKind, ScriptAnswer, ScriptQuestion, Stage};

use crate::agent::process::{OUTPUT_LIMIT, ProcessSpec, describe, run};

/// Between SIGTERM and SIGKILL for a script that takes too long.
pub const SCRIPT_GRACE: Duration = Duration::from_secs(2);

/// Runs a script. `environment` is added to the inherited one.
pub async fn run_script(
    question: &ScriptQuestion,
    environment: &[(String, String)],
    grace: Duration,
) -> Answer {
    let Some((program, args)) = question.command.split_first() else {
        let message = "the script has an empty command";
        return Answer::Failed(Fault::new(Stage::Script, FaultKind::Start, message));
    };
    let spec = ProcessSpec {
        program,
        args,
        cwd: &question.cwd,
        env: environment,
        without: &[],
        stdin: Some(question.stdin.as_bytes()),
        timeout: Duration::from_secs(question.timeout_seconds),
        grace,
        output_limit: OUTPUT_LIMIT,
    };
    match run(&spec).await {
        Ok(ended) => Answer::Script(ScriptAnswer {
            failure: describe(ended.status),
            stdout: ended.stdout,
            stderr: ended.stderr,
        }),
        Err(attempt) => Answer::Failed(Fault { stage: Stage::Script, ..attempt.fault }),
    }
}
