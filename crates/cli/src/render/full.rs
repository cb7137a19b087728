//! The report for people: every fault drawn on its author's own line.

use std::borrow::Cow;
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::io::{self, Write};

use annotate_snippets::renderer::{DEFAULT_ERROR_STYLE, DEFAULT_NOTE_STYLE, DEFAULT_WARNING_STYLE};
use annotate_snippets::{Annotation, AnnotationKind, Group, Level, Renderer, Snippet};
use anstyle::Style;
use evalrig_core::diagnostic::{Diagnostic, Severity};
use evalrig_core::source::{Source, SourceId, Span};

use super::window::{Cluster, Spot, Window, cluster};
use super::{Findings, Render, summary};
use evalrig_run::text::numbers::counted_noun;
use evalrig_run::text::{self, INTERNAL_MARK};

/// What files and continuous integration get.
const WIDTH: usize = 140;
/// A narrower drawing is unreadable.
const NARROWEST: usize = 60;
/// More places would bury the fault itself.
const RELATED: usize = 6;

/// From this many on, equal diagnostics are one entry.
const MANY: usize = 3;
/// Places of equal diagnostics that are listed.
const PLACES: usize = 20;

#[derive(Debug, Clone, Copy, Default)]
pub struct Full {
    pub color: bool,
    /// In columns; `None` when it is not a terminal.
    pub width: Option<usize>,
}

impl Render for Full {
    fn render(&self, findings: &Findings, out: &mut dyn Write) -> io::Result<()> {
        let canvas = Canvas::new(*self, findings);
        for repeated in grouped(findings.diagnostics) {
            writeln!(out, "{}\n", canvas.draw(&repeated))?;
        }
        if let Some(dropped) = summary::dropped(findings) {
            writeln!(out, "{dropped}")?;
        }
        writeln!(out, "{}", self.verdict(findings))?;
        match summary::fixable(findings) {
            Some(fixable) => writeln!(out, "{fixable}"),
            None => Ok(()),
        }
    }
}

impl Full {
    fn verdict(self, findings: &Findings) -> String {
        let errors = counted_noun(findings.errors, "error");
        let warnings = counted_noun(findings.warnings, "warning");
        // A suite that could not be read has no number of tests.
        let extent = match findings.tests {
            0 => format!("in {}", counted_noun(findings.files, "file")),
            _ => summary::extent(findings),
        };
        match (findings.errors, findings.warnings) {
            (0, 0) => format!(
                "{}: {}, {}",
                self.paint(DEFAULT_NOTE_STYLE, "all good"),
                counted_noun(findings.files, "file"),
                counted_noun(findings.tests, "test"),
            ),
            (0, _) => {
                let word = self.paint(DEFAULT_WARNING_STYLE, "warning");
                format!("{word}: {warnings} {extent}")
            }
            (_, 0) => {
                let word = self.paint(DEFAULT_ERROR_STYLE, "error");
                format!("{word}: {errors} {extent}")
            }
            _ => {
                let word = self.paint(DEFAULT_ERROR_STYLE, "error");
                format!("{word}: {errors}, {warnings} {extent}")
            }
        }
    }

    fn paint(self, style: Style, word: &str) -> String {
        if self.color { format!("{style}{word}{style:#}") } else { word.to_owned() }
    }
}

/// A diagnostic, and those that differ from it only in their place.
struct Repeated<'a> {
    diagnostic: &'a Diagnostic,
    others: Vec<&'a Diagnostic>,
}

/// In the order of the first of each.
fn grouped(diagnostics: &[Diagnostic]) -> Vec<Repeated<'_>> {
    // Related places belong to one diagnostic alone.
    let alike = |one: &'_ Diagnostic| one.related.is_empty();
    let key = |one: &Diagnostic| {
        let fix = one.fix.as_ref().map(|fix| fix.title.clone());
        let texts = (one.message.clone(), one.label.clone(), one.help.clone(), fix);
        (one.code.name, one.level.severity().word(), texts)
    };
    let mut counts: HashMap<_, usize> = HashMap::new();
    for one in diagnostics.iter().filter(|one| alike(one)) {
        *counts.entry(key(one)).or_default() += 1;
    }
    let mut first: HashMap<_, usize> = HashMap::new();
    let mut found: Vec<Repeated<'_>> = Vec::new();
    for one in diagnostics {
        let is_many = alike(one) && counts.get(&key(one)).is_some_and(|count| *count >= MANY);
        if is_many {
            match first.entry(key(one)) {
                Entry::Occupied(at) => {
                    found[*at.get()].others.push(one);
                    continue;
                }
                Entry::Vacant(free) => {
                    free.insert(found.len());
                }
            }
        }
        found.push(Repeated { diagnostic: one, others: Vec::new() });
    }
    found
}

struct Canvas<'a> {
    findings: &'a Findings<'a>,
    renderer: Renderer,
    width: usize,
    /// The texts that hold a secret, masked. Sought once, because sources can be large.
    masked: HashMap<SourceId, String>,
}

impl<'a> Canvas<'a> {
    fn new(full: Full, findings: &'a Findings<'a>) -> Self {
        let width = full.width.unwrap_or(WIDTH).max(NARROWEST);
        let renderer = if full.color { Renderer::styled() } else { Renderer::plain() };
        Self { findings, renderer: renderer.term_width(width), width, masked: masked(findings) }
    }

    fn draw(&self, Repeated { diagnostic, others }: &Repeated<'_>) -> String {
        let level = match diagnostic.level.severity() {
            Severity::Error => Level::ERROR,
            Severity::Warning => Level::WARNING,
            Severity::Note => Level::NOTE,
        };
        let title =
            level.primary_title(self.paragraph(&diagnostic.message)).id(diagnostic.code.name);
        let mut group = Group::with_title(title);
        let mut places = Vec::new();
        for (source, cluster) in self.clusters(diagnostic) {
            group = group.element(self.snippet(source, &cluster, places.len()));
            places.push(self.place(source, &cluster));
        }
        if diagnostic.related.len() > RELATED {
            let more = counted_noun(diagnostic.related.len() - RELATED, "more place");
            group = group.element(Level::NOTE.message(format!("and {more}")));
        }
        if !others.is_empty() {
            group = group.element(Level::NOTE.message(self.other_places(diagnostic, others)));
        }
        // One help says what to write; a fix that has none speaks for itself.
        let title = diagnostic.fix.as_ref().map(|fix| &fix.title);
        if let Some(help) = diagnostic.help.as_ref().or(title) {
            group = group.element(Level::HELP.message(self.paragraph(help)));
        }
        fill_in(&self.renderer.render(&[group]), &places)
    }

    /// The fault's own place first, then those related places that do not fit beside it.
    fn clusters(&self, diagnostic: &Diagnostic) -> Vec<(SourceId, Cluster)> {
        let primary = self.spot(diagnostic.span, diagnostic.label.as_deref());
        let mut by_source = vec![(diagnostic.span.source, vec![primary.primary()])];
        for related in diagnostic.related.iter().take(RELATED) {
            let source = related.span.source;
            let spot = self.spot(related.span, Some(&related.message));
            match by_source.iter_mut().find(|(known, _)| *known == source) {
                Some((_, spots)) => spots.push(spot),
                None => by_source.push((source, vec![spot])),
            }
        }
        by_source
            .into_iter()
            .flat_map(|(source, spots)| {
                let clusters = cluster(spots, self.width).into_iter();
                clusters.map(move |cluster| (source, cluster))
            })
            .collect()
    }

    fn spot(&self, span: Span, label: Option<&str>) -> Spot {
        let label = label.filter(|label| !label.trim().is_empty());
        let label = label.map(|label| text::single_line(&self.findings.redact(label)));
        Spot::new(self.source(span.source), span, label, self.width)
    }

    fn snippet(
        &self,
        id: SourceId,
        cluster: &Cluster,
        index: usize,
    ) -> Snippet<'static, Annotation<'static>> {
        let source = self.source(id);
        let text = self.masked.get(&id).map_or(source.text(), String::as_str);
        let window = Window::new(source, text, cluster, self.width);
        let marks = cluster.spots.iter().zip(window.marks).map(|(spot, mark)| {
            let kind = if spot.primary { AnnotationKind::Primary } else { AnnotationKind::Context };
            kind.span(mark).label(spot.label.clone())
        });
        let context = window.context.into_iter();
        Snippet::source(window.text)
            .line_start(window.first_line)
            .path(format!("{INTERNAL_MARK}{index}{INTERNAL_MARK}"))
            .annotations(marks)
            .annotations(context.map(|line| AnnotationKind::Visible.span(line)))
    }

    fn place(&self, id: SourceId, cluster: &Cluster) -> String {
        // Every cluster is made of at least one spot; the fault's own place opens its cluster.
        let Some(spot) = cluster.spots.first() else {
            return String::new();
        };
        let path = self.findings.path_of(Span::new(id, 0, 0));
        let place = spot.place;
        format!("{}:{}:{}", text::single_line(&path), place.line, place.column)
    }

    /// `the same in 19 more places: a.yaml:5:3, 9:3, 13:3, b.yaml:2:3`.
    fn other_places(&self, first: &Diagnostic, others: &[&Diagnostic]) -> String {
        let mut last = self.findings.path_of(first.span);
        let mut places = Vec::new();
        for other in others.iter().take(PLACES) {
            let path = self.findings.path_of(other.span);
            let place = self.findings.sources.position(other.span);
            let place = format!("{}:{}", place.line, place.column);
            places.push(if path == last && !places.is_empty() {
                place
            } else {
                format!("{}:{place}", text::single_line(&path))
            });
            last = path;
        }
        let rest = match others.len().saturating_sub(PLACES) {
            0 => String::new(),
            n => format!(" and {n} more"),
        };
        let count = counted_noun(others.len(), "more place");
        format!("the same in {count}: {}{rest}", places.join(", "))
    }

    fn source(&self, id: SourceId) -> &'a Source {
        self.findings.sources.get(id)
    }

    fn paragraph(&self, text: &str) -> String {
        text::paragraph(&self.findings.redact(text)).into_owned()
    }
}

fn masked(findings: &Findings) -> HashMap<SourceId, String> {
    let mut masked = HashMap::new();
    if findings.secrets.is_empty() {
        return masked;
    }
    let mut seen = std::collections::HashSet::new();
    for diagnostic in findings.diagnostics {
        let related = diagnostic.related.iter().map(|related| related.span.source);
        for id in related.chain([diagnostic.span.source]) {
            if !seen.insert(id) {
                continue;
            }
            if let Cow::Owned(text) = findings.secrets.mask(findings.sources.get(id).text()) {
                masked.insert(id, text);
            }
        }
    }
    masked
}

/// Writes the true places where the renderer wrote those of the window: it cannot know that a
/// line was cut, or that an excerpt begins in the middle of one.
fn fill_in(drawn: &str, places: &[String]) -> String {
    let mut out = String::with_capacity(drawn.len() + 80);
    let mut places = places.iter();
    for (turn, part) in drawn.split(INTERNAL_MARK).enumerate() {
        match turn {
            0 => out.push_str(part),
            _ if turn % 2 == 1 => out.extend(places.next().map(String::as_str)),
            _ => out.push_str(part.trim_start_matches(|c: char| c == ':' || c.is_ascii_digit())),
        }
    }
    // Blank lines of a source would leave spaces at the end.
    let lines = out.split('\n').map(|line| line.trim_end_matches(' '));
    let out = lines.collect::<Vec<_>>().join("\n");
    // Only now, because spans point into the source as it is.
    text::defuse_commands(out)
}

#[cfg(test)]
mod tests {
    use super::super::fixture::{BROKEN, DUPLICATE, Fixture, REMARK, duplicate};
    use super::*;
    use evalrig_core::source::Position;

    const PLAIN: Full = Full { color: false, width: Some(80) };

    /// Everything above the last lines.
    fn drawn(fixture: &Fixture) -> String {
        let text = fixture.show(&PLAIN);
        let (drawn, _) = text.rsplit_once("\n\n").unwrap();
        drawn.to_owned()
    }

    #[test]
    fn a_fault_is_drawn_on_its_line_with_its_related_place() {
        let expected = "\
error[duplicate-id]: test id `a` is used twice
 --> evals/EVAL.yaml:5:9
  |
3 |   - id: a
  |         - first used here
4 |     input: Hi
5 |   - id: a
  |         ^ used again here
  |
  = help: give one of them another id

error: 1 error in 2 files (14 tests)
1 fixable with `evalrig validate --fix`
";
        assert_eq!(duplicate().show(&PLAIN), expected);
    }

    #[test]
    fn equal_diagnostics_are_drawn_once_with_their_places() {
        let mut fixture = Fixture::new();
        let here = fixture.file("a.yaml", "- id: x\n- id: y\n- id: z\n");
        let there = fixture.file("b.yaml", "- id: x\n");
        for (file, id) in [(here, "x"), (here, "y"), (here, "z"), (there, "x")] {
            let span = fixture.find(file, id, 0);
            fixture.report(Diagnostic::new(&BROKEN, span, "no `criteria`").help("add them"));
        }
        let expected = "\
warning[broken]: no `criteria`
 --> a.yaml:1:7
  |
1 | - id: x
  |       ^
  |
  = note: the same in 3 more places: a.yaml:2:7, 3:7, b.yaml:1:7
  = help: add them";
        assert_eq!(drawn(&fixture), expected);
    }

    #[test]
    fn two_equal_diagnostics_are_both_drawn() {
        let mut fixture = Fixture::new();
        let file = fixture.file("a.yaml", "- id: x\n- id: y\n");
        for id in ["x", "y"] {
            let span = fixture.find(file, id, 0);
            fixture.report(Diagnostic::new(&BROKEN, span, "no `criteria`"));
        }
        assert_eq!(drawn(&fixture).matches("warning[broken]").count(), 2);
    }

    #[test]
    fn a_related_place_in_another_file_has_a_drawing_of_its_own() {
        let mut fixture = Fixture::new();
        let here = fixture.file("b.yaml", "- id: é😀x\n");
        let there = fixture.file("cases/a.yaml", &("#\n".repeat(99) + "- id: x\n"));
        let x = |source| fixture.find(source, "x", 0);
        let fault = Diagnostic::new(&DUPLICATE, x(here), "test id `x`\nis used twice");
        let fault = fault.related(x(there), "first used\nhere").help("one\ntwo");
        fixture.report(fault);
        let expected = "\
error[duplicate-id]: test id `x`
                     is used twice
   --> b.yaml:1:9
    |
  1 | - id: é😀x
    |          ^
    |
   ::: cases/a.yaml:100:7
    |
100 | - id: x
    |       - first used here
    |
    = help: one
            two";
        assert_eq!(drawn(&fixture), expected);
    }

    #[test]
    fn a_far_related_place_is_drawn_without_what_lies_between() {
        let mut fixture = Fixture::new();
        let file = fixture.file("a.yaml", &"- id: x\n".repeat(1000));
        let fault = Diagnostic::new(&DUPLICATE, fixture.find(file, "x", 899), "m");
        fixture.report(fault.related(fixture.find(file, "x", 1), "first"));
        let expected = "\
error[duplicate-id]: m
   --> a.yaml:900:7
    |
900 | - id: x
    |       ^
    |
   ::: a.yaml:2:7
    |
  2 | - id: x
    |       - first";
        assert_eq!(drawn(&fixture), expected);
    }

    #[test]
    fn two_labels_stand_on_one_line() {
        let mut fixture = Fixture::new();
        let file = fixture.file("a.yaml", "{id: x, id: y}\n");
        let fault = Diagnostic::new(&BROKEN, fixture.find(file, "id", 1), "m").label("again");
        fixture.report(fault.related(fixture.find(file, "id", 0), "first"));
        let expected = "\
warning[broken]: m
 --> a.yaml:1:9
  |
1 | {id: x, id: y}
  |  --     ^^ again
  |  |
  |  first";
        assert_eq!(drawn(&fixture), expected);
    }

    #[test]
    fn the_end_of_a_file_is_shown_below_its_last_line() {
        let mut fixture = Fixture::new();
        let file = fixture.file("a.yaml", "name: demo\n");
        let empty = fixture.file("b.yaml", "");
        let at = |source, offset| Span::new(source, offset, offset);
        fixture.report(Diagnostic::new(&REMARK, at(file, 11), "m").label("no `tests`"));
        fixture.report(Diagnostic::new(&BROKEN, at(empty, 0), "the file is empty"));
        let expected = "\
note[remark]: m
 --> a.yaml:2:1
  |
1 | name: demo
2 |
  | ^ no `tests`

warning[broken]: the file is empty
 --> b.yaml:1:1
  |
1 |
  | ^";
        assert_eq!(drawn(&fixture), expected);
    }

    #[test]
    fn several_lines_and_carriage_returns_and_tabs_are_drawn() {
        let mut fixture = Fixture::new();
        let file = fixture.file("a.yaml", "a: 1\r\nb:\t2\r\nc: 3\r\n");
        let lines = fixture.find(file, "1\r\nb:\t2\r\n", 0);
        fixture.report(Diagnostic::new(&BROKEN, lines, "m").label("all of this"));
        fixture.report(Diagnostic::new(&BROKEN, fixture.find(file, "2", 0), "n"));
        let expected = "\
warning[broken]: m
 --> a.yaml:1:4
  |
1 |   a: 1
  |  ____^
2 | | b:    2
  | |_______^ all of this

warning[broken]: n
 --> a.yaml:2:4
  |
2 | b:    2
  |       ^";
        assert_eq!(drawn(&fixture), expected);
    }

    #[test]
    fn a_long_line_is_cut_around_each_place() {
        let mut fixture = Fixture::new();
        let text =
            format!("{{{}\"here\": {}1}}", "\"key\": 12, ".repeat(10_000), "[1, 2], ".repeat(1000));
        let file = fixture.file("a.json", &text);
        let here = fixture.find(file, "here", 0);
        let fault = Diagnostic::new(&BROKEN, here, "m").label("this");
        fixture.report(fault.related(fixture.find(file, "key", 3), "first"));
        let wide = Span::new(file, here.start, here.start + 4000);
        fixture.report(Diagnostic::new(&BROKEN, wide, "n").label("all of this"));
        let expected = r#"warning[broken]: m
 --> a.json:1:110003
  |
1 | ...": 12, "key": 12, "key": 12, "here": [1, 2], [1, 2], [1, 2], [1, 2], [...
  |                                  ^^^^ this
  |
 ::: a.json:1:36
  |
1 | {"key": 12, "key": 12, "key": 12, "key": 12, "key": 12, "key": 12, "key":...
  |                                    --- first

warning[broken]: n
 --> a.json:1:110003
  |
1 | ... 12, "here": [1, 2], [1, 2], [1, 2], [1, 2], [1, 2], [1, 2], [1, 2], [...
  |          ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ all of this"#;
        assert_eq!(drawn(&fixture), expected);
    }

    #[test]
    fn an_excerpt_has_the_places_of_its_file() {
        let mut fixture = Fixture::new();
        let first = Position { line: 700, column: 3 };
        let line = fixture.excerpt("d.jsonl", "{\"id\": 1}", first, 9000);
        fixture.report(Diagnostic::new(&BROKEN, fixture.find(line, "1", 0), "m"));
        let expected = "\
warning[broken]: m
   --> d.jsonl:700:10
    |
700 | {\"id\": 1}
    |        ^";
        assert_eq!(drawn(&fixture), expected);
    }

    #[test]
    fn escapes_never_reach_the_terminal() {
        let mut fixture = Fixture::new();
        let evil = "\u{1b}[31m\u{9b}2J\u{202e}\u{FDD0}";
        let file = fixture.file(&format!("{evil}.yaml"), &format!("a: {evil} b\n"));
        let b = fixture.find(file, "b", 0);
        let fault = Diagnostic::new(&BROKEN, b, evil)
            .label(evil)
            .related(fixture.find(file, "a", 0), evil)
            .help(evil);
        fixture.report(fault);
        let expected = "\
warning[broken]: ␛[31m�2J��
 --> ␛[31m�2J��.yaml:1:15
  |
1 | a: ␛[31m¿2J�� b
  | -             ^ ␛[31m�2J��
  | |
  | ␛[31m�2J��
  |
  = help: ␛[31m�2J��";
        assert_eq!(drawn(&fixture), expected);
    }

    #[test]
    fn secrets_are_masked_in_the_source_too() {
        let mut fixture = Fixture::new();
        fixture.secrets.add("sk-12345678");
        let file = fixture.file("sk-12345678.yaml", "key: sk-12345678 # x\n");
        let fault = Diagnostic::new(&BROKEN, fixture.find(file, "x", 0), "a sk-12345678");
        fixture.report(fault.label("b sk-12345678").help("c sk-12345678"));
        let expected = "\
warning[broken]: a ***
 --> ***.yaml:1:20
  |
1 | key: *********** # x
  |                    ^ b ***
  |
  = help: c ***";
        assert_eq!(drawn(&fixture), expected);
    }

    #[test]
    fn the_last_lines_count_what_was_found() {
        let mut fixture = Fixture::new();
        assert_eq!(fixture.show(&PLAIN), "all good: 2 files, 14 tests\n");
        let file = fixture.file("a.yaml", "a\n");
        let fault = |code| Diagnostic::new(code, Span::new(file, 0, 1), "m");
        fixture.report(fault(&REMARK));
        assert!(fixture.show(&PLAIN).ends_with("\n\nall good: 2 files, 14 tests\n"));
        fixture.report(fault(&BROKEN));
        let end = "\n\nwarning: 1 warning in 2 files (14 tests)\n";
        assert!(fixture.show(&PLAIN).ends_with(end));
        fixture.report(fault(&BROKEN));
        fixture.report(fault(&DUPLICATE));
        fixture.dropped = 5;
        let end = "\n\n5 more diagnostics are not shown\n\
                   error: 1 error, 2 warnings in 2 files (14 tests)\n";
        assert!(fixture.show(&PLAIN).ends_with(end));
    }

    #[test]
    fn many_related_places_are_counted() {
        let mut fixture = Fixture::new();
        let file = fixture.file("a.yaml", &"x\n".repeat(20));
        let mut fault = Diagnostic::new(&BROKEN, Span::new(file, 0, 1), "m");
        for line in 1..20 {
            fault = fault.related(fixture.find(file, "x", line), "");
        }
        fixture.report(fault);
        assert!(drawn(&fixture).ends_with("\n  = note: and 13 more places"));
    }

    #[test]
    fn colour_is_only_used_when_asked_for() {
        let colored = Full { color: true, width: None };
        let text = duplicate().show(&colored);
        assert!(text.contains("\u{1b}[0m"));
        assert!(text.contains("evals/EVAL.yaml:5:9\n"));
        assert!(!duplicate().show(&PLAIN).contains('\u{1b}'));
    }

    /// The renderer panics on spans that it does not like.
    #[test]
    fn no_text_and_no_span_makes_it_panic() {
        let pieces = [
            "a", "é", "😀", "\t", "\n", "\r\n", "\r", "\u{1b}", "\u{301}", "\u{200d}", "  ", "界",
            "\u{FDD0}", "- id: x", "\n\n",
        ];
        let mut state = 7_u32;
        let mut random = |below: usize| {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (state >> 8) as usize % below
        };
        for _ in 0..3000 {
            let mut fixture = Fixture::new();
            let mut text: String = (0..random(30)).map(|_| pieces[random(15)]).collect();
            if random(10) == 0 {
                text = text.repeat(100);
            }
            let file = fixture.file("a", &text);
            let mut span = || {
                let (a, b) = (random(text.len() + 3), random(text.len() + 3));
                Span::new(file, a.min(b) as u32, a.max(b) as u32)
            };
            let fault = Diagnostic::new(&BROKEN, span(), "m").label("label");
            let fault = fault.related(span(), "one").related(span(), "two");
            fixture.report(fault);
            let shown = fixture.show(&PLAIN);
            assert!(!shown.contains(INTERNAL_MARK) && !shown.contains('\u{1b}'));
        }
    }
}
