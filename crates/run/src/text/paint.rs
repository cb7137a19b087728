//! Colours and signs. Everything says the same without colour, and in ASCII.

use std::borrow::Cow;

use anstyle::{AnsiColor, Style};
use evalrig_core::model::Outcome;

use super::{sanitize, wrap};

/// Wider lines are lost in a table, narrower ones impossible to lay out.
const WIDEST: usize = 200;
const NARROWEST: usize = 40;
const USUAL: usize = 100;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tone {
    Good,
    Middling,
    Bad,
    Odd,
    Faint,
    Strong,
    Place,
}

impl Tone {
    pub fn of(outcome: Outcome) -> Self {
        match outcome {
            Outcome::Passed => Self::Good,
            Outcome::Borderline => Self::Middling,
            Outcome::Failed => Self::Bad,
            Outcome::Errored => Self::Odd,
            Outcome::Skipped => Self::Faint,
        }
    }

    fn style(self) -> Style {
        let colour = |colour: AnsiColor| Style::new().fg_color(Some(colour.into()));
        match self {
            Self::Good => colour(AnsiColor::Green),
            Self::Middling => colour(AnsiColor::Yellow),
            Self::Bad => colour(AnsiColor::Red),
            Self::Odd => colour(AnsiColor::Magenta),
            Self::Faint => Style::new().dimmed(),
            Self::Strong => Style::new().bold(),
            Self::Place => colour(AnsiColor::Cyan),
        }
    }
}

/// The signs of a frame and of lists.
#[derive(Debug)]
pub struct Signs {
    pub hit: &'static str,
    pub miss: &'static str,
    pub top: &'static str,
    pub side: &'static str,
    pub branch: &'static str,
    pub bottom: &'static str,
    pub note: &'static str,
    pub dot: &'static str,
    pub cut: &'static str,
    pub quotes: (&'static str, &'static str),
    pub rule: &'static str,
    /// Cells of the bar, in the order of [`Outcome::ALL`]; what failed is the loudest.
    pub cells: [&'static str; 5],
}

static UNICODE: Signs = Signs {
    hit: "✓",
    miss: "✗",
    top: "╭─",
    side: "│",
    branch: "├─",
    bottom: "╰─",
    note: "└",
    dot: "·",
    cut: "…",
    quotes: ("“", "”"),
    rule: "─",
    cells: ["░", "▒", "█", "!", "·"],
};

static ASCII: Signs = Signs {
    hit: "+",
    miss: "x",
    top: ",-",
    side: "|",
    branch: "|-",
    bottom: "`-",
    note: "^",
    dot: "-",
    cut: "...",
    quotes: ("\"", "\""),
    rule: "-",
    cells: ["-", "~", "#", "!", "."],
};

/// What an output can show; formats for machines ignore it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OutputStyle {
    pub color: bool,
    /// In columns; `None` when the output is not a terminal.
    pub width: Option<usize>,
    /// Without it only ASCII is written.
    pub unicode: bool,
}

impl Default for OutputStyle {
    fn default() -> Self {
        Self { color: false, width: None, unicode: true }
    }
}

#[derive(Debug, Clone, Copy)]
pub struct Paint {
    style: OutputStyle,
}

impl Paint {
    pub fn new(style: OutputStyle) -> Self {
        Self { style }
    }

    pub fn columns(&self) -> usize {
        self.style.width.unwrap_or(USUAL).clamp(NARROWEST, WIDEST)
    }

    pub fn signs(&self) -> &'static Signs {
        if self.style.unicode { &UNICODE } else { &ASCII }
    }

    /// Before it is measured: spelling text out in ASCII changes its width.
    pub fn text<'a>(&self, text: &'a str) -> Cow<'a, str> {
        if self.style.unicode { Cow::Borrowed(text) } else { sanitize::ascii(text) }
    }

    pub fn cut(&self, text: &str, columns: usize) -> String {
        wrap::cut(&self.text(text), columns, self.signs().cut)
    }

    pub fn wrap(&self, text: &str, columns: usize) -> Vec<String> {
        wrap::wrap(&self.text(text), columns)
    }

    pub fn tone(&self, tone: Tone, text: &str) -> String {
        if !self.style.color || text.is_empty() {
            return text.to_owned();
        }
        let style = tone.style();
        format!("{style}{text}{style:#}")
    }

    pub fn sign(&self, outcome: Outcome) -> &'static str {
        match (outcome, self.style.unicode) {
            (Outcome::Passed, _) => self.signs().hit,
            (Outcome::Failed, _) => self.signs().miss,
            (Outcome::Borderline, true) => "≈",
            (Outcome::Borderline, false) => "~",
            (Outcome::Errored, _) => "!",
            (Outcome::Skipped, true) => "○",
            (Outcome::Skipped, false) => "-",
        }
    }
}

/// How an outcome is called where there is room for it.
pub fn outcome_phrase(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::Errored => "could not be measured",
        other => other.word(),
    }
}
