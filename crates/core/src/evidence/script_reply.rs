//! Output of scripts (spec 10.1). A broken script is a fault, never a bad score.

use crate::model::{Fault, FaultKind, Marks, Stage, Value};

use super::json::parse;
use super::scored::{cut, described, read_scored};

/// Maximum length of the end of stderr in a fault.
const STDERR_SHOWN: usize = 2000;

/// How a script ended.
#[derive(Debug, Clone, Copy)]
pub struct ScriptEnd<'a> {
    pub stdout: &'a [u8],
    pub stderr: &'a str,
    /// Such as `exit status 1`; `None` if it succeeded.
    pub failure: Option<&'a str>,
}

/// The marks from a script. Its exit status only matters if its output is unusable.
pub fn read_script(end: ScriptEnd<'_>) -> Result<Marks, Fault> {
    read_stdout(end.stdout).map_err(|why| fault(end, &why))
}

fn read_stdout(stdout: &[u8]) -> Result<Marks, String> {
    let Ok(text) = std::str::from_utf8(stdout) else {
        return Err("stdout is not UTF-8".to_owned());
    };
    let text = text.strip_prefix('\u{feff}').unwrap_or(text).trim();
    if text.is_empty() {
        return Err("stdout is empty".to_owned());
    }
    let value = parse(text)
        .map_err(|why| format!("stdout is not one JSON object: {why}: `{}`", cut(text, 200)))?;
    match &value {
        Value::Map(map) => read_scored(map)
            .map_err(|why| format!("stdout cannot be used: {why}: `{}`", cut(text, 200))),
        other => Err(format!("stdout is not one JSON object but {}", described(other))),
    }
}

fn fault(end: ScriptEnd<'_>, why: &str) -> Fault {
    let (kind, mut message) = match end.failure {
        Some(failure) => (FaultKind::Exit, format!("the script ended with {failure}, and {why}")),
        None => (FaultKind::Reply, format!("the script's {why}")),
    };
    let stderr = last_characters(end.stderr.trim_end(), STDERR_SHOWN);
    if !stderr.trim().is_empty() {
        message.push_str("\nstderr: ");
        message.push_str(stderr);
    }
    Fault::new(Stage::Script, kind, message)
}

fn last_characters(text: &str, count: usize) -> &str {
    let start = text.char_indices().rev().nth(count.saturating_sub(1));
    start.map_or(text, |(at, _)| &text[at..])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(stdout: &[u8], failure: Option<&str>) -> Result<Marks, Fault> {
        read_script(ScriptEnd { stdout, stderr: "Traceback\n", failure })
    }

    #[test]
    fn blanks_and_a_byte_order_mark_do_not_matter() {
        let marks = read("\u{feff}\n {\"score\": 1}\r\n".as_bytes(), None).unwrap();
        assert_eq!(marks.score.value(), 1.0);
    }

    #[test]
    fn a_bad_exit_with_valid_json_is_graded() {
        let marks = read(b"{\"score\": 0.25}", Some("exit status 1")).unwrap();
        assert_eq!(marks.score.value(), 0.25);
    }

    #[test]
    fn every_unusable_output_is_a_fault() {
        let printed: &[(&[u8], &str)] = &[
            (b"", "stdout is empty"),
            (b" \n", "stdout is empty"),
            (b"\xff", "stdout is not UTF-8"),
            (b"ok", "stdout is not one JSON object: "),
            (b"log\n{\"score\": 1}", "stdout is not one JSON object: "),
            (
                b"{\"score\": 1}\n{\"score\": 1}",
                "stdout is not one JSON object: unexpected text after the JSON value",
            ),
            (b"[1]", "stdout is not one JSON object but a list"),
            (b"0.5", "stdout is not one JSON object but the number 0.5"),
            (b"{}", "stdout cannot be used: it has neither `score` nor `assertions`"),
            (b"{\"assertions\": []}", "stdout cannot be used: it has no `score`"),
            (b"{\"score\": \"1\"}", "stdout cannot be used: `score` is the text \"1\""),
            (b"{\"score\": 7}", "stdout cannot be used: `score` is 7, which is not in 0..1"),
            (
                b"{\"assertions\": [{\"passed\": 1}]}",
                "stdout cannot be used: `passed` of assertion 1 is the number 1, not a boolean",
            ),
        ];
        for (stdout, why) in printed {
            let fault = read(stdout, None).unwrap_err();
            assert_eq!((fault.stage, fault.kind), (Stage::Script, FaultKind::Reply));
            let start = format!("the script's {why}");
            assert!(fault.message.starts_with(&start), "{}", fault.message);
            assert!(fault.message.ends_with("\nstderr: Traceback"), "{why}");
            let fault = read(stdout, Some("exit status 3")).unwrap_err();
            assert_eq!(fault.kind, FaultKind::Exit);
            let start = format!("the script ended with exit status 3, and {why}");
            assert!(fault.message.starts_with(&start), "{}", fault.message);
        }
    }

    #[test]
    fn of_stderr_the_end_is_shown() {
        let stderr = format!("start{}", "é".repeat(2000));
        let end = ScriptEnd { stdout: b"", stderr: &stderr, failure: None };
        let message = read_script(end).unwrap_err().message;
        assert!(message.ends_with(&format!("stderr: {}", "é".repeat(2000))));
        let quiet = ScriptEnd { stderr: " ", ..end };
        assert_eq!(read_script(quiet).unwrap_err().message, "the script's stdout is empty");
    }
}
