//! Regular expressions and the two engines that run them. A `Pattern` is known to compile.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::{Arc, LazyLock, Mutex, PoisonError};

use regex_syntax::ast::ErrorKind;
use regex_syntax::hir::{Class, Hir, HirKind};

use crate::model::{Fault, FaultKind, SearchTime, Stage};

use super::backtracking::{self, Stopped};
use super::excerpt::excerpt;
use super::place::character_at;

/// Steps after which the backtracking engine gives up (spec 7.10).
const STEP_LIMIT: usize = 1_000_000;

/// Maximum memory of a compiled pattern, as [`size_at_most`] estimates it (spec 7.10).
const SIZE_LIMIT: u64 = 32 * MIB;
/// The same for the backtracking engine, whose patterns are compiled to be checked.
const BACKTRACKING_SIZE_LIMIT: u64 = 8 * MIB;
const MIB: u64 = 1024 * 1024;

/// What to say about a pattern that the limit of its test leaves no room for.
pub(super) const PATTERNS_TOO_LARGE: &str =
    "the patterns of this test take more than 256 MiB of memory together";
pub(super) const SHORTER_PATTERNS: &str =
    "write shorter repetitions, or `.` in place of large character classes";

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
    size: u64,
}

fn within(size: u64, limit: u64) -> Result<u64, InvalidPattern> {
    if size <= limit {
        return Ok(size);
    }
    let reason = format!("it takes more than {} MiB of memory", limit / MIB);
    Err(InvalidPattern { reason, at: 0..0 })
}

/// The pattern with groups in place of look-around and without references to groups, which the first
/// engine can parse. Its size is about that of the pattern.
fn without_look_around(text: &str) -> String {
    const OPENINGS: [&str; 5] = ["(?=", "(?!", "(?<=", "(?<!", "(?>"];
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let opening = OPENINGS.iter().find(|opening| rest.starts_with(**opening));
        let length = match (opening, first) {
            (Some(opening), _) => {
                out.push_str("(?:");
                opening.len()
            }
            (None, '\\') => {
                let escaped = rest[1..].chars().next();
                let length = 1 + escaped.map_or(0, char::len_utf8);
                if !escaped.is_some_and(|sign| sign.is_ascii_digit()) {
                    out.push_str(&rest[..length]);
                }
                length
            }
            (None, other) => {
                out.push(other);
                other.len_utf8()
            }
        };
        rest = &rest[length..];
    }
    out
}

/// The bytes that a pattern may take when it is compiled, by the engine that it needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum EstimatedSize {
    Linear(u64),
    Backtracking(u64),
}

impl EstimatedSize {
    /// Fails if it is more than a pattern may take.
    pub(super) fn of(text: &str, flags: Flags) -> Result<Self, InvalidPattern> {
        if let Ok(read) = parse(text, flags) {
            return Ok(Self::Linear(within(size_at_most(&read), SIZE_LIMIT)?));
        }
        Ok(Self::Backtracking(match parse(&without_look_around(text), flags) {
            Ok(read) => within(size_at_most(&read), BACKTRACKING_SIZE_LIMIT)?,
            Err(_) => MIB,
        }))
    }
}

impl Pattern {
    pub(super) fn new(text: impl Into<String>, flags: Flags) -> Result<Self, InvalidPattern> {
        Self::new_within(&mut u64::MAX.clone(), text, flags)
    }

    /// Large suites have thousands of patterns, and parsing one is far cheaper than compiling it.
    /// Only those of the backtracking engine are compiled here, as long as `budget` lasts; behind it
    /// such a pattern is compiled when it is used, and the case is errored if that fails.
    pub(super) fn new_within(
        budget: &mut u64,
        text: impl Into<String>,
        flags: Flags,
    ) -> Result<Self, InvalidPattern> {
        let text = text.into();
        let size = match EstimatedSize::of(&text, flags)? {
            EstimatedSize::Linear(size) => size,
            EstimatedSize::Backtracking(size) => {
                if let Some(left) = budget.checked_sub(size) {
                    *budget = left;
                    compile(&text, flags)?;
                }
                size
            }
        };
        Ok(Self { text, flags, size })
    }

    /// An upper bound on the bytes that it takes when it is compiled.
    pub(super) fn size(&self) -> u64 {
        self.size
    }

    pub(super) fn text(&self) -> &str {
        &self.text
    }

    pub(super) fn flags(&self) -> Flags {
        self.flags
    }

    /// Whether it matches anywhere in a text.
    pub(super) fn is_in(&self, text: &str, time: &SearchTime) -> Result<bool, Fault> {
        let fault = |message: String| Fault::new(Stage::Measure, FaultKind::Limit, message);
        let shown = excerpt(&self.text);
        let engine = self.engine().map_err(|reason| {
            fault(format!("the pattern `{shown}` does not compile: {}", reason.reason))
        })?;
        match &*engine {
            Engine::Linear(engine) => Ok(engine.is_match(text)),
            Engine::Backtracking(engine) => {
                backtracking::is_match(engine, text, time).map_err(|stopped| {
                    fault(match stopped {
                        Stopped::Steps => format!(
                            "the pattern `{shown}` needs more than {STEP_LIMIT} steps on this text"
                        ),
                        Stopped::Time => {
                            backtracking::out_of_time(&format!("the pattern `{shown}`"))
                        }
                    })
                })
            }
        }
    }

    /// Compiled once for all tests that share the pattern.
    fn engine(&self) -> Result<Arc<Engine>, InvalidPattern> {
        let compiled = || COMPILED.lock().unwrap_or_else(PoisonError::into_inner);
        let key = (self.text.clone(), self.flags);
        if let Some(engine) = compiled().engines.get(&key) {
            return Ok(engine.clone());
        }
        // Without the lock, because large patterns compile slowly.
        let engine = Arc::new(compile(&self.text, self.flags)?);
        compiled().insert(key, engine.clone(), self.size);
        Ok(engine)
    }
}

/// Maximum number of cached patterns, and of their bytes. A compiled pattern takes many times the
/// memory of its text, so a suite with 100 000 different patterns must not keep them all.
const MOST_COMPILED: usize = 1_000;
const MOST_COMPILED_BYTES: u64 = 128 * MIB;

#[derive(Debug, Default)]
struct CompiledPatterns {
    engines: HashMap<(String, Flags), Arc<Engine>>,
    bytes: u64,
}

impl CompiledPatterns {
    fn insert(&mut self, key: (String, Flags), engine: Arc<Engine>, bytes: u64) {
        if self.engines.len() >= MOST_COMPILED || self.bytes + bytes > MOST_COMPILED_BYTES {
            *self = Self::default();
        }
        self.bytes += bytes;
        self.engines.insert(key, engine);
    }
}

/// A cache: results do not depend on it.
static COMPILED: LazyLock<Mutex<CompiledPatterns>> = LazyLock::new(Mutex::default);

/// A compiled pattern.
#[derive(Debug)]
enum Engine {
    /// Linear time.
    Linear(regex::Regex),
    /// For look-around and back-references.
    Backtracking(Arc<fancy_regex::Regex>),
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
            .delegate_size_limit(BACKTRACKING_SIZE_LIMIT as usize)
            .build()
            .map(|engine| Engine::Backtracking(Arc::new(engine)))
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
        pattern.is_in(output, &SearchTime::of_one_search()).map_err(|fault| fault.kind)
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
        assert_eq!(fault.reason, "it takes more than 32 MiB of memory");
        assert!(Pattern::new(r"\w".repeat(20_000), Flags::default()).is_err());
    }

    #[test]
    fn a_large_pattern_with_look_around_is_refused_at_load() {
        let fault = Pattern::new(r"(?=[\p{L}\p{N}]{100})x", Flags::default()).unwrap_err();
        assert_eq!(fault.reason, "it takes more than 8 MiB of memory");
        assert_eq!(without_look_around(r"(?<=\(?=)(?!é)\1\d(?<!a)"), r"(?:\(?=)(?:é)\d(?:a)");
    }

    #[test]
    fn behind_the_budget_nothing_is_compiled_at_load() {
        let mut budget = 3 * MIB;
        let (look_around, broken) = ("(?=a)b", "(?=a)(b");
        for _ in 0..3 {
            assert!(Pattern::new_within(&mut budget, broken, Flags::default()).is_err());
        }
        assert_eq!(budget, 0);
        let late = Pattern::new_within(&mut budget, broken, Flags::default()).unwrap();
        assert_eq!(
            late.is_in("b", &SearchTime::of_one_search()).unwrap_err().kind,
            FaultKind::Limit
        );
        let fine = Pattern::new_within(&mut budget, look_around, Flags::default()).unwrap();
        assert!(!fine.is_in("b", &SearchTime::of_one_search()).unwrap());
        // The first engine needs no budget.
        assert!(Pattern::new_within(&mut budget, "(b", Flags::default()).is_ok());
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
