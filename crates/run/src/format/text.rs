//! `text`: the output is the answer.

use evalrig_core::model::{Measurement, Transcript};

use crate::agent::{AttemptFault, Unreported};

use super::utf8;

/// Plain text is the answer and nothing else.
pub(super) const UNREPORTED: &[Unreported] = &[
    unreported(Measurement::ToolCalls),
    unreported(Measurement::LlmCalls),
    unreported(Measurement::SkillUse),
    unreported(Measurement::Tokens),
    unreported(Measurement::Cost),
];

const fn unreported(what: Measurement) -> Unreported {
    let remedy = "let the program print events and set `format: jsonl`, or `messages`";
    Unreported { what, cause: "`format: text`", remedy }
}

/// Trailing line breaks are dropped. Calls, tokens and cost are not reported.
pub(super) fn read(output: &[u8]) -> Result<Transcript, AttemptFault> {
    let text = utf8(output)?;
    Ok(Transcript::of_text(text.trim_end_matches(['\n', '\r'])))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_line_breaks_at_the_end_are_dropped() {
        let read = read(b"\n a \r\n\n b \n\r\n").unwrap();
        assert_eq!(read.answer, "\n a \r\n\n b ");
        assert_eq!(read.calls, None);
        assert_eq!(read.tokens, None);
    }

    #[test]
    fn no_output_is_an_empty_answer() {
        assert_eq!(read(b"").unwrap().answer, "");
    }

    #[test]
    fn other_encodings_are_refused() {
        let failure = read(b"caf\xe9").unwrap_err();
        assert_eq!(failure.fault.message, "the output is not UTF-8 (byte 4)");
        assert_eq!(failure.fault.kind.word(), "reply");
    }
}
