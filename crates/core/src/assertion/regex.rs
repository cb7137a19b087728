//! `regex`: a pattern is found in the output.

use crate::diagnostic::{Diagnostic, declare_codes};
use crate::model::{Check, CommonOptions, GradingContext, Map, Marks, Step};
use crate::syntax::fields::{Entry, Field, INVALID_OPTION, Shape};

use super::excerpt::excerpt;
use super::kind::{AssertionKind, UnknownKeys};
use super::optional::optional;
use super::options::Options;
use super::pattern::{Flags, Pattern};
use super::place::{character_at, span_in};

declare_codes! {
    INVALID_REGEX = "invalid-regex", Blocking, Assertion, r#"A pattern does not compile.

## Example
```yaml
name: demo
tests:
  - id: a
    criteria: Greets
    input: Hi
    assert:
      - type: regex
        value: Good (morning|evening
```

## Instead
```yaml
name: demo
tests:
  - id: a
    criteria: Greets
    input: Hi
    assert:
      - type: regex
        value: Good (morning|evening)
```

## Why
A pattern that cannot be read can neither be found nor be missing. A bracket or dot that is meant
itself is written with a backslash before it, best inside single quotes.
"#;
}

static FIELDS: &[Field] = &[
    Field::new("value", Shape::TextOrScalar, "the pattern to look for")
        .also(&["pattern"])
        .required(),
    Field::new(
        "flags",
        Shape::Text,
        "any of `i` (ignore case), `m` (`^` and `$` at every line), `s` (`.` takes line breaks), \
         `x` (white space and comments); `g` and `u` change nothing",
    ),
];

pub(super) static KIND: AssertionKind = AssertionKind {
    name: "regex",
    aliases: &[],
    fields: FIELDS,
    unknown_keys: UnknownKeys::Warn,
    takes_config: false,
    doc: "The pattern `value` is found anywhere in the output; `^` and `$` tie it to the ends. The syntax
is that of Rust's `regex`. Look-around and back-references work too, with a limit on the time they
take.

```yaml
assert:
  - type: regex
    value: 'total: \\$\\d+'
    flags: i
```
",
    read,
};

fn read(options: &mut Options<'_, '_, '_>) -> Option<Box<dyn Check>> {
    let flags = optional(options.reader, options.fields, "flags", |reader, entry| {
        let text = reader.text(entry)?;
        let flags = Flags::parse(&text);
        if let Err(at) = flags {
            reader.report(unknown_flag(entry, &text, at));
        }
        flags.ok()
    });
    let entry = options.require("value")?;
    let text = options.value_text("value", entry.value)?.value;
    let flags = flags?.unwrap_or_default();
    match Pattern::new(text.as_str(), flags) {
        Ok(pattern) => Some(Box::new(Regex { pattern })),
        Err(fault) => {
            let span = span_in(entry.value, &text, fault.at);
            let message = format!("the pattern does not compile: {}", fault.reason);
            let help = "correct it; a character that is meant itself takes a backslash before it";
            options.report(Diagnostic::new(&INVALID_REGEX, span, message).help(help));
            None
        }
    }
}

/// Why a text is no pattern, in one line; `None` when it is one. The rules are those of `regex`.
pub fn pattern_fault(text: &str) -> Option<String> {
    Pattern::new(text, Flags::default())
        .err()
        .map(|fault| fault.reason)
}

fn unknown_flag(entry: &Entry<'_>, text: &str, at: usize) -> Diagnostic {
    let place = character_at(text, at);
    let message = format!("`{}` is no flag of a pattern", &text[place.clone()]);
    Diagnostic::new(&INVALID_OPTION, span_in(entry.value, text, place), message)
        .help("`flags` takes any of `i`, `m`, `s` and `x`")
}

#[derive(Debug)]
struct Regex {
    pattern: Pattern,
}

impl Check for Regex {
    fn options(&self) -> Map {
        let mut map = Map::new();
        map.insert("value", self.pattern.text());
        let flags = self.pattern.flags().letters();
        map.insert_some("flags", (!flags.is_empty()).then_some(flags));
        map
    }

    fn sentences(&self, _: &CommonOptions) -> Vec<String> {
        vec![format!("Output matches regex: {}", self.pattern.text())]
    }

    fn grade(&self, context: &GradingContext<'_>) -> Step {
        let is_found = match self.pattern.is_in(&context.evidence.transcript.answer) {
            Ok(is_found) => is_found,
            Err(fault) => return fault.into(),
        };
        let pattern = excerpt(self.pattern.text());
        Marks::when(
            is_found,
            || format!("Output matches regex: {pattern}"),
            || format!("Output does not match regex: {pattern}"),
        )
        .into()
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::read;
    use super::super::trial::{Trial, marks};
    use crate::model::{FaultKind, Stage, Transcript};

    #[test]
    fn the_examples_of_the_format() {
        for (pattern, score) in [
            ("Good (morning|evening)", 1.0),
            (r"^\d+$", 0.0),
            (r"(?<!\d)22", 1.0),
        ] {
            let found = marks(
                &format!("{{type: regex, value: '{pattern}'}}"),
                "Good evening, 22",
            );
            assert_eq!(found.score.value(), score, "{pattern}");
            if score > 0.0 {
                assert_eq!(found.hits, [format!("Output matches regex: {pattern}")])
            } else {
                assert_eq!(
                    found.misses,
                    [format!("Output does not match regex: {pattern}")]
                )
            }
        }
    }

    #[test]
    fn flags_count_and_the_empty_output_is_searched_too() {
        let score = |options: &str, output| {
            marks(&format!("{{type: regex, {options}}}"), output)
                .score
                .value()
        };
        assert_eq!(score("value: ÉTÉ, flags: i", "un été"), 1.0);
        assert_eq!(score("value: ÉTÉ", "un été"), 0.0);
        assert_eq!(score("value: '^$'", ""), 1.0);
        assert_eq!(score("value: .", ""), 0.0);
    }

    #[test]
    fn endless_backtracking_is_no_bad_score() {
        let answer = Transcript::of_text(format!("{}b", "a".repeat(60)));
        for negate in ["", ", negate: true"] {
            let yaml = format!(r"- {{type: regex, value: '^(a|aa)+\1$'{negate}}}");
            let fault = Trial::new(&yaml, answer.clone()).fault();
            assert_eq!(
                (fault.stage, fault.kind),
                (Stage::Measure, FaultKind::Limit)
            );
            assert_eq!(
                fault.message,
                r"the pattern `^(a|aa)+\1$` takes more than 1000000 steps on this text"
            );
        }
    }

    #[test]
    fn the_other_spelling_and_idle_flags_are_read() {
        let found = read(r"- {type: regex, pattern: '^\d+$', flags: gim}");
        assert_eq!(found.names(), [""; 0]);
        assert_eq!(found.options(), r#"{"value":"^\\d+$","flags":"im"}"#);
        assert_eq!(found.sentences(), [r"Output matches regex: ^\d+$"]);
    }

    #[test]
    fn a_fault_is_marked_inside_the_pattern() {
        let found = read("- {type: regex, value: 'a[z-b]'}");
        assert_eq!(found.names(), ["invalid-regex"]);
        assert_eq!(found.marked(), ["z-b"]);
    }

    #[test]
    fn where_the_text_differs_from_the_source_the_whole_value_is_marked() {
        let found = read(r#"- {type: regex, value: "\\d("}"#);
        assert_eq!(found.marked(), [r#""\\d(""#]);
        let found = read("- {type: regex, value: '${{ NAME }}('}");
        assert_eq!(found.names(), ["invalid-regex"]);
        assert_eq!(found.marked(), ["'${{ NAME }}('"]);
    }

    #[test]
    fn a_wrong_flag_is_marked_and_both_faults_are_told() {
        let found = read("- {type: regex, flags: iy, value: ''}");
        assert_eq!(found.names(), ["invalid-option", "empty-value"]);
        assert_eq!(found.marked()[0], "y");
        assert_eq!(found.messages()[0], "`y` is no flag of a pattern");
    }

    #[test]
    fn look_around_is_accepted() {
        assert_eq!(
            read(r"- {type: regex, value: '(?<!\d)22'}").names(),
            [""; 0]
        );
    }
}
