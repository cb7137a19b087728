//! `regex`: a pattern matches the output.

use crate::diagnostic::{Diagnostic, declare_codes};
use crate::model::{Check, CommonOptions, GradingContext, Map, Marks, Step};
use crate::reader::{Options, ReadResult};
use crate::syntax::Node;
use crate::syntax::fields::{Field, INVALID_OPTION, Shape};

use super::excerpt::excerpt;
use super::kind::AssertionKind;
use super::pattern::{Flags, PATTERNS_TOO_LARGE, Pattern, SHORTER_PATTERNS};
use super::place::{character_at, span_in};
use super::subject::FILE;
use super::text_value::read_text_value;

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
A pattern that does not compile can neither match nor fail to match. To match a bracket or a dot
literally, put a backslash before it and quote the pattern with single quotes.
"#;
}

static FIELDS: &[Field] = &[
    Field::new("value", Shape::TextOrScalar, "the pattern to look for")
        .also(&["pattern"])
        .required(),
    Field::new(
        "flags",
        Shape::Text,
        "any of `i` (ignore case), `m` (`^` and `$` match at every line), `s` (`.` matches line \
         breaks), `x` (ignore white space and comments); `g` and `u` have no effect",
    ),
    FILE,
];

pub(super) static KIND: AssertionKind = AssertionKind::new(
    "regex",
    FIELDS,
    |options, _| read(options),
    "The pattern `value` matches anywhere in the output; anchor it with `^` and `$`. The syntax is that of
Rust's `regex`. Look-around and back-references also work, within a limit on steps and time.

```yaml
assert:
  - type: regex
    value: 'total: \\$\\d+'
    flags: i
```
",
);

fn read(options: &mut Options<'_, '_, '_>) -> ReadResult<Box<dyn Check>> {
    let flags = read_flags(options);
    let node = options.require("value")?.value;
    let text = read_text_value(options)?;
    let flags = flags?;
    let budget = options.reader.patterns.compilable();
    match Pattern::new_within(budget, text.as_str(), flags) {
        Ok(pattern) if !options.reader.patterns.has_room(pattern.size()) => {
            let too_large = Diagnostic::new(&INVALID_REGEX, node.span(), PATTERNS_TOO_LARGE);
            Err(options.report(too_large.help(SHORTER_PATTERNS)))
        }
        Ok(pattern) => Ok(Box::new(Regex { pattern })),
        Err(error) => {
            let span = span_in(node, &text, error.at);
            let message = format!("the pattern does not compile: {}", error.reason);
            let help = "correct it; put a backslash before characters that are meant literally";
            Err(options.report(Diagnostic::new(&INVALID_REGEX, span, message).help(help)))
        }
    }
}

fn read_flags(options: &mut Options<'_, '_, '_>) -> ReadResult<Flags> {
    let flags = options.optional("flags", |options, entry| {
        let text = options.text_of("flags", entry.value)?.value;
        Flags::parse(&text).map_err(|at| options.report(unknown_flag(entry.value, &text, at)))
    })?;
    Ok(flags.unwrap_or_default())
}

/// Why a pattern is invalid, in one line; `None` if it is valid. The rules are those of `regex`.
pub fn pattern_fault(text: &str) -> Option<String> {
    Pattern::new(text, Flags::default()).err().map(|error| error.reason)
}

fn unknown_flag(node: Node<'_>, text: &str, at: usize) -> Diagnostic {
    let place = character_at(text, at);
    let message = format!("unknown flag `{}`", &text[place.clone()]);
    Diagnostic::new(&INVALID_OPTION, span_in(node, text, place), message)
        .help("`flags` takes any of `i`, `m`, `s` and `x`")
}

#[derive(Debug)]
struct Regex {
    pattern: Pattern,
}

impl Check for Regex {
    fn options(&self) -> Map {
        let flags = self.pattern.flags().letters();
        Map::new()
            .with("value", self.pattern.text())
            .with_some("flags", (!flags.is_empty()).then_some(flags))
    }

    fn sentences(&self, common: &CommonOptions) -> Vec<String> {
        let subject = common.subject();
        vec![format!("{subject} matches regex: {}", self.pattern.text())]
    }

    fn grade(&self, context: &GradingContext<'_>) -> Step {
        let is_found = match self.pattern.is_in(context.text(), context.options.search_time) {
            Ok(is_found) => is_found,
            Err(fault) => return fault.into(),
        };
        let (subject, pattern) = (context.subject(), excerpt(self.pattern.text()));
        Marks::when(
            is_found,
            || format!("{subject} matches regex: {pattern}"),
            || format!("{subject} does not match regex: {pattern}"),
        )
        .into()
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{Trial, marks, read};
    use crate::model::{FaultKind, Stage, Transcript};

    #[test]
    fn the_examples_of_the_format() {
        for (pattern, score) in
            [("Good (morning|evening)", 1.0), (r"^\d+$", 0.0), (r"(?<!\d)22", 1.0)]
        {
            let found = marks(&format!("{{type: regex, value: '{pattern}'}}"), "Good evening, 22");
            assert_eq!(found.score.value(), score, "{pattern}");
            if score > 0.0 {
                assert_eq!(found.hits, [format!("Output matches regex: {pattern}")])
            } else {
                assert_eq!(found.misses, [format!("Output does not match regex: {pattern}")])
            }
        }
    }

    #[test]
    fn flags_count_and_the_empty_output_is_searched_too() {
        let score = |options: &str, output| {
            marks(&format!("{{type: regex, {options}}}"), output).score.value()
        };
        assert_eq!(score("value: ÉTÉ, flags: i", "un été"), 1.0);
        assert_eq!(score("value: ÉTÉ", "un été"), 0.0);
        assert_eq!(score("value: '^$'", ""), 1.0);
        assert_eq!(score("value: .", ""), 0.0);
    }

    #[test]
    fn endless_backtracking_is_a_fault() {
        let answer = Transcript::of_text(format!("{}b", "a".repeat(60)));
        for negate in ["", ", negate: true"] {
            let yaml = format!(r"- {{type: regex, value: '^(a|aa)+\1$'{negate}}}");
            let fault = Trial::new(&yaml, answer.clone()).fault();
            assert_eq!((fault.stage, fault.kind), (Stage::Measure, FaultKind::Limit));
            assert_eq!(
                fault.message,
                r"the pattern `^(a|aa)+\1$` needs more than 1000000 steps on this text"
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
    fn an_unknown_flag_and_an_invalid_pattern_are_both_reported() {
        let found = read("- {type: regex, flags: iy, value: ''}");
        assert_eq!(found.names(), ["invalid-option", "empty-value"]);
        assert_eq!(found.marked()[0], "y");
        assert_eq!(found.messages()[0], "unknown flag `y`");
    }

    #[test]
    fn look_around_is_accepted() {
        assert_eq!(read(r"- {type: regex, value: '(?<!\d)22'}").names(), [""; 0]);
    }
}
