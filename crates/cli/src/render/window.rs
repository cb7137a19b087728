//! The part of a source that is drawn: a few lines, cut to the columns that matter. Nothing here
//! costs more than the size of what is shown, however large the source is.

use std::ops::Range;

use evalrig_core::source::{Position, Source, Span};

use evalrig_run::text;

/// A marked text of more lines is marked on its first line only.
const TALLEST_SPOT: u32 = 8;
/// Places further apart are drawn one after the other.
const TALLEST_WINDOW: u32 = 60;
/// What the gutter and the signs for cut lines take from the width.
const FRAME: usize = 24;

/// A place that is marked. Lines count from 1 in the source, columns are bytes from 0.
#[derive(Debug, Clone)]
pub struct Spot {
    pub place: Position,
    pub label: Option<String>,
    pub primary: bool,
    first: u32,
    last: u32,
    from: usize,
    to: usize,
}

impl Spot {
    /// Accepts any span, also one outside of the text or splits a character.
    pub fn new(source: &Source, span: Span, label: Option<String>, width: usize) -> Self {
        let text = source.text();
        let start = floor(text, span.start as usize);
        let end = floor(text, span.end as usize).max(start);
        let place = source.position(start as u32);
        let first = place.line + 1 - source.first_line();
        let range = line_range(source, first);
        let mut spot = Self {
            place,
            label,
            primary: false,
            first,
            last: first,
            from: start.min(range.end) - range.start,
            to: end.min(range.end) - range.start,
        };
        if end > range.end {
            spot.reach(source, end, width);
        }
        spot.shorten(source, width);
        spot
    }

    #[must_use]
    pub fn primary(mut self) -> Self {
        self.primary = true;
        self
    }

    /// Extends the spot over several lines, if the whole of it can be seen at once.
    fn reach(&mut self, source: &Source, end: usize, width: usize) {
        let mut last = source.position(end as u32).line + 1 - source.first_line();
        let mut range = line_range(source, last);
        // A span that ends with a line break does not mean the next line.
        if end <= range.start && last > self.first {
            last -= 1;
            range = line_range(source, last);
        }
        let to = end.min(range.end) - range.start;
        if last - self.first < TALLEST_SPOT && self.from < width && to < width {
            self.last = last;
            self.to = to;
        }
    }

    /// A mark on one line must leave room for the gutter and its label.
    fn shorten(&mut self, source: &Source, width: usize) {
        if self.last > self.first {
            return;
        }
        let label = self.label.as_ref().map_or(0, |l| l.len().min(width / 3));
        let room = width.saturating_sub(FRAME + label).max(1);
        let line = &source.text()[line_range(source, self.first)];
        let mut taken = 0;
        for (at, c) in line[self.from..self.to].char_indices() {
            taken += columns(c);
            if taken > room && at > 0 {
                self.to = self.from + at;
                return;
            }
        }
    }
}

/// Roughly what a terminal uses; too much does no harm.
fn columns(c: char) -> usize {
    match c {
        '\t' => 4,
        '\u{1100}'.. => 2,
        _ => 1,
    }
}

fn floor(text: &str, at: usize) -> usize {
    text.floor_char_boundary(at.min(text.len()))
}

/// Without the line break, also when it is `\r\n`.
fn line_range(source: &Source, line: u32) -> Range<usize> {
    let mut range = source.lines().line_range(source.text(), line);
    if source.text()[range.clone()].ends_with('\r') {
        range.end -= 1;
    }
    range
}

/// Spots that are drawn together: near each other in lines and in columns.
#[derive(Debug)]
pub struct Cluster {
    pub spots: Vec<Spot>,
    lines: Range<u32>,
    columns: Range<usize>,
}

impl Cluster {
    fn new(spot: Spot) -> Self {
        let (lines, columns) = extent(&spot);
        Self { spots: vec![spot], lines, columns }
    }

    fn take(&mut self, spot: Spot, width: usize) -> Result<(), Spot> {
        let (lines, columns) = extent(&spot);
        let lines = lines.start.min(self.lines.start)..lines.end.max(self.lines.end);
        let columns = columns.start.min(self.columns.start)..columns.end.max(self.columns.end);
        if lines.len() > TALLEST_WINDOW as usize || columns.len() > width {
            return Err(spot);
        }
        self.lines = lines;
        self.columns = columns;
        self.spots.push(spot);
        Ok(())
    }
}

fn extent(spot: &Spot) -> (Range<u32>, Range<usize>) {
    let columns = spot.from.min(spot.to)..spot.from.max(spot.to);
    (spot.first..spot.last + 1, columns)
}

/// Puts each spot into the first cluster that has room for it; the first spot opens the first.
pub fn cluster(spots: Vec<Spot>, width: usize) -> Vec<Cluster> {
    let mut clusters: Vec<Cluster> = Vec::new();
    'next: for mut spot in spots {
        for cluster in &mut clusters {
            match cluster.take(spot, width) {
                Ok(()) => continue 'next,
                Err(back) => spot = back,
            }
        }
        clusters.push(Cluster::new(spot));
    }
    clusters
}

/// Text to be drawn, and byte ranges in it.
#[derive(Debug, PartialEq, Eq)]
pub struct Window {
    pub first_line: usize,
    pub text: String,
    /// One for each spot of the cluster, in its order.
    pub marks: Vec<Range<usize>>,
    /// A line that is shown because the marked one alone says nothing.
    pub context: Option<Range<usize>>,
}

impl Window {
    /// `text` is the text of the source, or one of the same length with secrets masked.
    pub fn new(source: &Source, text: &str, cluster: &Cluster, width: usize) -> Self {
        // Enough on both sides, even with the longest characters, that the renderer cuts the
        // line too and draws its `...`.
        let slack = 4 * width;
        let left = cluster.columns.start.saturating_sub(slack);
        let right = cluster.columns.end + slack;
        let blank = text[line_range(source, cluster.lines.start)].trim().is_empty();
        let alone = blank && cluster.lines.start > 1;
        let first = cluster.lines.start - u32::from(alone);

        let mut window = String::new();
        let mut lines = Vec::new();
        for line in first..cluster.lines.end {
            let range = line_range(source, line);
            let line = &text[range];
            let cut = floor(line, left)..floor(line, right);
            if !lines.is_empty() {
                window.push('\n');
            }
            lines.push((window.len(), cut.clone()));
            window.push_str(&line[cut]);
        }
        let place = |line: u32, column: usize| {
            let (at, cut) = &lines[(line - first) as usize];
            at + column.clamp(cut.start, cut.end) - cut.start
        };
        let marks = cluster
            .spots
            .iter()
            .map(|spot| place(spot.first, spot.from)..place(spot.last, spot.to))
            .collect();
        // The renderer does not see an empty last line.
        if window.is_empty() || window.ends_with('\n') {
            window.push(' ');
        }
        Self {
            first_line: (first + source.first_line() - 1) as usize,
            text: text::source(window),
            marks,
            context: alone.then_some(0..0),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::fixture::Fixture;
    use super::*;

    fn window(text: &str, start: u32, end: u32, width: usize) -> Window {
        let mut fixture = Fixture::new();
        let file = fixture.file("x", text);
        let source = fixture.sources.get(file);
        let spot = Spot::new(source, Span::new(file, start, end), None, width);
        let clusters = cluster(vec![spot], width);
        Window::new(source, text, &clusters[0], width)
    }

    #[test]
    fn only_the_marked_lines_are_taken() {
        let found = window("one\ntwo\r\nthree\n", 5, 7, 100);
        assert_eq!((found.first_line, found.text.as_str()), (2, "two"));
        assert_eq!(found.marks, vec![1..3]);
    }

    #[test]
    fn a_span_with_its_line_break_ends_on_its_line() {
        assert_eq!(window("one\r\ntwo\n", 0, 5, 100).marks, vec![0..3]);
        assert_eq!(window("one\ntwo\n", 2, 6, 100).text, "one\ntwo");
    }

    #[test]
    fn the_end_of_a_file_has_a_line_of_its_own() {
        let found = window("one\n", 4, 4, 100);
        assert_eq!((found.first_line, found.text.as_str()), (1, "one\n "));
        assert_eq!((found.marks[0].clone(), found.context), (4..4, Some(0..0)));
        assert_eq!(window("", 0, 0, 100).text, " ");
    }

    #[test]
    fn spans_outside_of_the_text_and_inside_of_a_character_are_moved() {
        assert_eq!(window("ab", 7, 9, 100).marks, vec![2..2]);
        assert_eq!(window("aé", 2, 3, 100).marks, vec![1..3]);
    }

    #[test]
    fn tall_spans_are_marked_on_their_first_line() {
        let text = "line\n".repeat(100);
        let found = window(&text, 7, 400, 100);
        assert_eq!((found.text.as_str(), found.marks[0].clone()), ("line", 2..4));
    }

    #[test]
    fn long_lines_are_cut_on_both_sides() {
        let text = format!("{}HERE{}", "é".repeat(50_000), "z".repeat(50_000));
        let found = window(&text, 100_000, 100_004, 100);
        assert_eq!(found.text.len(), 400 + 4 + 400);
        assert_eq!(&found.text[found.marks[0].clone()], "HERE");
    }

    #[test]
    fn places_that_are_far_apart_are_drawn_apart() {
        let text = format!("a\n{}b\n{}c\n", "\n".repeat(10), "\n".repeat(1000));
        let mut fixture = Fixture::new();
        let file = fixture.file("x", &text);
        let source = fixture.sources.get(file);
        let spot = |needle| Spot::new(source, fixture.find(file, needle, 0), None, 80);
        let clusters = cluster(vec![spot("c"), spot("a"), spot("b")], 80);
        let sizes: Vec<_> = clusters.iter().map(|c| c.spots.len()).collect();
        assert_eq!(sizes, [1, 2]);
    }
}
