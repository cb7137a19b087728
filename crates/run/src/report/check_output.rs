//! What a `command` check printed, where it lost points: the end of it for people, all that the row has
//! for files.

use serde_json::Value;

use crate::results::EvaluatorResult;
use crate::text::{self, Excerpt};

const LINES: usize = 10;
const LINE: usize = 300;
const TYPE: &str = "command";
const STREAMS: [&str; 2] = ["stdout", "stderr"];

/// The end of a stream.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OutputTail {
    pub stream: &'static str,
    pub text: Excerpt,
}

impl OutputTail {
    /// `stderr, last 10 of 25 lines`.
    pub fn title(&self) -> String {
        match (self.text.lines.len(), self.text.total) {
            (shown, total) if shown < total => {
                format!("{}, last {shown} of {total} lines", self.stream)
            }
            _ => self.stream.to_owned(),
        }
    }
}

pub fn tails(result: &EvaluatorResult) -> Vec<OutputTail> {
    let tail = |(stream, said): (&'static str, &str)| OutputTail {
        stream,
        text: text::last_lines(said, LINES, LINE),
    };
    stored(result).map(tail).collect()
}

/// As the row has it, redacted but not made harmless.
pub fn stored(result: &EvaluatorResult) -> impl Iterator<Item = (&'static str, &str)> {
    let has_lost = result.score.is_none_or(|score| score < 1.0 - 1e-9);
    let details = result.details.as_ref().filter(|_| result.type_name == TYPE && has_lost);
    STREAMS.into_iter().filter_map(move |stream| {
        let said = details?.get(stream).and_then(Value::as_str)?;
        (!said.trim().is_empty()).then_some((stream, said))
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::fixture;
    use super::*;

    fn command(score: f64) -> EvaluatorResult {
        let mut result = fixture::graded("hidden tests", "command", score);
        let stderr: String = (1..=12).map(|n| format!("line {n}\u{1b}\n")).collect();
        result.details = Some(json!({"exitCode": 1, "stdout": " ", "stderr": stderr}));
        result
    }

    #[test]
    fn the_end_of_what_a_failed_command_printed_is_shown() {
        let found = tails(&command(0.5));
        let [tail] = &found[..] else {
            panic!("{found:?}");
        };
        assert_eq!(tail.title(), "stderr, last 10 of 12 lines");
        assert_eq!(tail.text.lines.first().unwrap(), "line 3␛");
        assert_eq!(tail.text.lines.last().unwrap(), "line 12␛");
    }

    #[test]
    fn a_command_that_succeeded_and_other_checks_show_no_output() {
        assert_eq!(tails(&command(1.0)), []);
        let mut script = command(0.0);
        script.type_name = "code-judge".to_owned();
        assert_eq!(tails(&script), []);
    }
}
