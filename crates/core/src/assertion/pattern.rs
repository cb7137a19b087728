//! Regular expressions and the two engines that run them. A `Pattern` is known to compile.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::{Arc, LazyLock, Mutex, PoisonError};

use regex_syntax::ast::ErrorKind;
use regex_syntax::hir::{Class, Hir, HirKind};

use crate::model::{Fault, FaultKind, Stage};

use super::excerpt::excerpt;
use super::place::character_at;

/// Steps after which the backtracking engine gives up (spec 7.10).
const STEP_LIMIT: usize = 1_000_000;

/// Maximum memory of a compiled pattern: the default of `regex`.
const SIZE_LIMIT: u64 = 10 * 1024 * 1024;

/// The letters of `flags`, without those that have no effect.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub(super) struct Flags {
    ignore_case: bool,
    multi_line: bool,
    dot_matches_new_line: bool,
    ignore_white_space: bool,
}

impl Flags {
    /// `Err` is the index of the first letter that is not a flag.
    pub(super) fn parse(text: &str) -> Result<Self, usize> {
        let mut flags = Self::default();
        for (at, letter) in text.char_indices() {
            match letter {
                'i' => flags.ignore_case = true,
                'm' => flags.multi_line = true,
                's' => flags.dot_matches_new_line = true,
                'x' => flags.ignore_white_space = true,
                // Searching is always global and Unicode-aware.
                'g' | 'u' => {}
                _ => return Err(at),
            }
        }
        Ok(flags)
    }

    /// In the order `imsx`.
    pub(super) fn letters(self) -> String {
        [
            (self.ignore_case, 'i'),
            (self.multi_line, 'm'),
            (self.dot_matches_new_line, 's'),
            (self.ignore_white_space, 'x'),
        ]
        .into_iter()
        .filter_map(|(on, letter)| on.then_some(letter))
        .collect()
    }
}

/// Why a pattern does not compile.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct InvalidPattern {
    /// One line, without a period.
    pub(super) reason: String,
    /// Bytes of the pattern; empty if the whole pattern is at fault.
    pub(super) at: Range<usize>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Pattern {
    text: String,
    flags: Flags,
}

impl Pattern {
    /// Large suites have thousands of patterns, and parsing one is far cheaper than compiling it.
    /// Only patterns that parsing cannot clear are compiled here.
    pub(super) fn new(text: impl Into<String>, flags: Flags) -> Result<Self, InvalidPattern> {
        let text = text.into();
        let is_certain = parse(&text, flags).is_ok_and(|read| size_at_most(&read) < SIZE_LIMIT);
        if !is_certain {
            compile(&text, flags)?;
        }
        Ok(Self { text, flags })
    }

    pub(super) fn text(&self) -> &str {
        &self.text
    }

    pub(super) fn flags(&self) -> Flags {
        self.flags
    }

    /// Whether it matches anywhere in a text.
    pub(super) fn is_in(&self, text: &str) -> Result<bool, Fault> {
        let fault = |message: String| Fault::new(Stage::Measure, FaultKind::Limit, message);
        let shown = excerpt(&self.text);
        let engine = self.engine().map_err(|reason| {
            fault(format!("the pattern `{shown}` does not compile: {}", reason.reason))
        })?;
        match &*engine {
            Engine::Linear(engine) => Ok(engine.is_match(text)),
            Engine::Backtracking(engine) => engine.is_match(text).map_err(|_| {
                fault(format!(
                    "the pattern `{shown}` needs more than {STEP_LIMIT} steps on this text"
                ))
            }),
        }
    }

    /// Compiled once for all tests that share the pattern.
    fn engine(&self) -> Result<Arc<Engine>, InvalidPattern> {
        let compiled = || COMPILED.lock().unwrap_or_else(PoisonError::into_inner);
        let key = (self.text.clone(), self.flags);
        if let Some(engine) = compiled().get(&key) {
            return Ok(engine.clone());
        }
        // Without the lock, because large patterns compile slowly.
        let engine = Arc::new(compile(&self.text, self.flags)?);
        let mut compiled = compiled();
        if compiled.len() >= MOST_COMPILED {
            compiled.clear();
        }
        compiled.insert(key, engine.clone());
        Ok(engine)
    }
}

/// Maximum number of cached patterns. A compiled pattern takes many times the memory of its text,
/// so a suite with 100 000 different patterns must not keep them all.
const MOST_COMPILED: usize = 1_000;

type CompiledPatterns = HashMap<(String, Flags), Arc<Engine>>;

/// A cache: results do not depend on it.
static COMPILED: LazyLock<Mutex<CompiledPatterns>> = LazyLock::new(Mutex::default);

/// A compiled pattern.
#[derive(Debug)]
enum Engine {
    /// Linear time.
    Linear(regex::Regex),
    /// For look-around and back-references.
    Backtracking(fancy_regex::Regex),
}

/// The linear engine if it supports the pattern, else the backtracking one.
fn compile(text: &str, flags: Flags) -> Result<Engine, InvalidPattern> {
    let built = regex::RegexBuilder::new(text)
        .case_insensitive(flags.ignore_case)
        .multi_line(flags.multi_line)
        .dot_matches_new_line(flags.dot_matches_new_line)
        .ignore_whitespace(flags.ignore_white_space)
        .size_limit(SIZE_LIMIT as usize)
        .build();
    match built {
        Ok(engine) => Ok(Engine::Linear(engine)),
        Err(regex::Error::CompiledTooBig(limit)) => Err(InvalidPattern {
            reason: format!("it takes more than {limit} bytes of memory"),
            at: 0..0,
        }),
        Err(_) => fancy_regex::RegexBuilder::new(text)
            .case_insensitive(flags.ignore_case)
            .multi_line(flags.multi_line)
            .dot_matches_new_line(flags.dot_matches_new_line)
            .ignore_whitespace(flags.ignore_white_space)
            .backtrack_limit(STEP_LIMIT)
            .build()
            .map(Engine::Backtracking)
            .map_err(|error| explain(text, flags, &error)),
    }
}

fn parse(text: &str, flags: Flags) -> Result<Hir, Box<regex_syntax::Error>> {
    regex_syntax::ParserBuilder::new()
        .case_insensitive(flags.ignore_case)
        .multi_line(flags.multi_line)
        .dot_matches_new_line(flags.dot_matches_new_line)
        .ignore_whitespace(flags.ignore_white_space)
        .build()
        .parse(text)
        .map_err(Box::new)
}

/// An upper bound on the bytes of the compiled pattern. Recursive; the parser limits the depth.
fn size_at_most(pattern: &Hir) -> u64 {
    const STATE: u64 = 64;
    let sum = |parts: &[Hir]| {
        let sizes = parts.iter().map(size_at_most);
        sizes.fold(STATE, |sum, size| sum.saturating_add(size).saturating_add(STATE))
    };
    match pattern.kind() {
        HirKind::Empty | HirKind::Look(_) => STATE,
        HirKind::Literal(literal) => STATE * (literal.0.len() as u64 + 1),
        HirKind::Class(Class::Bytes(class)) => STATE * (class.ranges().len() as u64 + 1),
        // A range of characters becomes several sequences of up to four bytes.
        HirKind::Class(Class::Unicode(class)) => 4 * STATE * (class.ranges().len() as u64 + 8),
        HirKind::Capture(capture) => size_at_most(&capture.sub).saturating_add(2 * STATE),
        HirKind::Repetition(repetition) => {
            let copies = repetition.max.unwrap_or(repetition.min.saturating_add(1));
            let one = size_at_most(&repetition.sub).saturating_add(2 * STATE);
            one.saturating_mul(u64::from(copies.max(1)))
        }
        HirKind::Concat(parts) | HirKind::Alternation(parts) => sum(parts),
    }
}

/// The first engine's reason, which is more exact, unless it only says that the second engine is
/// needed.
fn explain(text: &str, flags: Flags, second: &fancy_regex::Error) -> InvalidPattern {
    match parse(text, flags).map_err(|error| *error) {
        Err(regex_syntax::Error::Parse(error))
            if !matches!(
                error.kind(),
                ErrorKind::UnsupportedLookAround | ErrorKind::UnsupportedBackreference
            ) =>
        {
            located_error(text, error.kind(), error.span())
        }
        Err(regex_syntax::Error::Translate(error)) => {
            located_error(text, error.kind(), error.span())
        }
        _ => match second {
            fancy_regex::Error::ParseError(at, error) => {
                InvalidPattern { reason: one_line(&error.to_string()), at: character_at(text, *at) }
            }
            fancy_regex::Error::CompileError(error) => {
                InvalidPattern { reason: one_line(&error.to_string()), at: 0..0 }
            }
            other => InvalidPattern { reason: one_line(&other.to_string()), at: 0..0 },
        },
    }
}

fn located_error(
    text: &str,
    kind: &impl ToString,
    span: &regex_syntax::ast::Span,
) -> InvalidPattern {
    let at = match span.start.offset..span.end.offset {
        empty if empty.is_empty() => character_at(text, empty.start),
        part => part,
    };
    InvalidPattern { reason: one_line(&kind.to_string()), at }
}

/// The reason as the end of a headline.
fn one_line(reason: &str) -> String {
    let line = reason.lines().next().unwrap_or("").trim_end_matches('.');
    let mut letters = line.chars();
    match letters.next() {
        Some(first) if !line.starts_with("Unicode") => {
            first.to_lowercase().chain(letters).collect()
        }
        _ => line.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn search(pattern: &str, flags: &str, output: &str) -> Result<bool, FaultKind> {
        let pattern = Pattern::new(pattern, Flags::parse(flags).unwrap()).unwrap();
        pattern.is_in(output).map_err(|fault| fault.kind)
    }

    #[test]
    fn the_examples_of_the_format() {
        let output = "Good evening, 22";
        assert_eq!(search("Good (morning|evening)", "", output), Ok(true));
        assert_eq!(search(r"^\d+$", "", output), Ok(false));
        assert_eq!(search(r"(?<!\d)22", "", output), Ok(true));
    }

    #[test]
    fn flags_reach_both_engines() {
        for look_ahead in ["", "(?=)"] {
            let found = |pattern: &str, flags, output| {
                search(&format!("{look_ahead}{pattern}"), flags, output) == Ok(true)
            };
            assert!(found("ABC", "i", "abc") && !found("ABC", "", "abc"));
            assert!(found("^b", "m", "a\nb") && !found("^b", "", "a\nb"));
            assert!(found("a.b", "s", "a\nb") && !found("a.b", "", "a\nb"));
            assert!(found("a b", "x", "ab") && !found("a b", "", "ab"));
        }
    }

    #[test]
    fn unknown_letters_have_a_place_and_idle_ones_are_dropped() {
        assert_eq!(Flags::parse("igy"), Err(2));
        assert_eq!(Flags::parse("xugi").unwrap().letters(), "ix");
    }

    #[test]
    fn the_reason_has_its_place() {
        for (pattern, reason, at) in [
            ("ab(c", "unclosed group", 2..3),
            ("a[z-a]", "invalid character class range, the start must be <= the end", 2..5),
            ("*a", "repetition operator missing expression", 0..1),
            (r"\p{Nope}", "Unicode property not found", 0..8),
            (r"é\", "incomplete escape sequence, reached end of pattern prematurely", 2..3),
        ] {
            let fault = Pattern::new(pattern, Flags::default()).unwrap_err();
            assert_eq!((fault.reason.as_str(), fault.at), (reason, at), "{pattern}");
        }
    }

    #[test]
    fn a_fault_behind_a_look_ahead_is_found_by_the_second_engine() {
        let fault = Pattern::new("(?=a)(b", Flags::default()).unwrap_err();
        assert!(!fault.reason.contains("look-around"), "{}", fault.reason);
        assert!(!fault.reason.contains('\n'));
    }

    #[test]
    fn a_pattern_beyond_the_size_limit_is_refused_at_load() {
        let fault = Pattern::new(r"\w{1000}{1000}", Flags::default()).unwrap_err();
        assert!(fault.reason.contains("bytes of memory"), "{}", fault.reason);
        assert!(Pattern::new(r"\w".repeat(20_000), Flags::default()).is_err());
    }

    #[test]
    fn what_is_taken_for_small_is_small() {
        let parts = [
            "a",
            ".",
            r"\w",
            r"\d",
            r"\s",
            r"\pL",
            r"\PL",
            "[^a]",
            "é",
            "(a)",
            "(ab|cd|)",
            r"\b",
            r"\W",
            "(?i:k)",
            "a?",
            "(?s:.)",
            r"(?-u:\w)",
            "(a|b)*",
            r"\p{Greek}",
        ];
        for part in parts {
            let repeated = |count: u64| format!("(?:{part}){{{count}}}");
            let optional = |count: u64| format!("(?:{part}){{0,{count}}}");
            for pattern in [&repeated as &dyn Fn(u64) -> String, &optional] {
                let size = |count| size_at_most(&parse(&pattern(count), Flags::default()).unwrap());
                // The largest count that is not compiled at load.
                let (mut fits, mut exceeds) = (1, 1_000_000);
                while exceeds - fits > 1 {
                    let middle = (fits + exceeds) / 2;
                    if size(middle) < SIZE_LIMIT { fits = middle } else { exceeds = middle }
                }
                let compiled = compile(&pattern(fits), Flags::default());
                assert!(compiled.is_ok(), "{}", pattern(fits));
            }
        }
    }

    #[test]
    fn a_pattern_is_compiled_once_for_each_set_of_flags() {
        let pattern = |flags| Pattern::new("compiled once", Flags::parse(flags).unwrap()).unwrap();
        let (first, again, other) = (
            pattern("").engine().unwrap(),
            pattern("").engine().unwrap(),
            pattern("i").engine().unwrap(),
        );
        assert!(Arc::ptr_eq(&first, &again) && !Arc::ptr_eq(&first, &other));
    }

    #[test]
    fn endless_backtracking_gives_up() {
        let output = format!("{}b", "a".repeat(60));
        assert_eq!(search(r"^(a|aa)+\1$", "", &output), Err(FaultKind::Limit));
    }
}
