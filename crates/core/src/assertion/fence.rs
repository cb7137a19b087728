//! Markdown fences: lines of three or more backticks or tildes around a text.

use std::ops::Range;

/// A line that opens a fence.
struct Fence {
    mark: char,
    length: usize,
}

impl Fence {
    /// Any indentation is allowed, because models put fences into lists.
    fn opened_by(line: &str) -> Option<Self> {
        let line = line.trim_start();
        let mark = line.chars().next()?;
        let info = line.trim_start_matches(mark);
        let length = line.len() - info.len();
        // With another backtick in the line, it is inline code.
        let is_inline = mark == '`' && info.contains('`');
        (matches!(mark, '`' | '~') && length >= 3 && !is_inline).then_some(Self { mark, length })
    }

    fn is_closed_by(&self, line: &str) -> bool {
        let line = line.trim();
        line.len() >= self.length && line.chars().all(|found| found == self.mark)
    }
}

/// Byte ranges of a fenced block.
struct FencedBlock {
    content: Range<usize>,
    /// The end of the closing line, if there is one.
    end: Option<usize>,
}

fn find(text: &str) -> Option<FencedBlock> {
    let mut open: Option<(Fence, usize)> = None;
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        let next = at + line.len();
        match &open {
            None => open = Fence::opened_by(line).map(|fence| (fence, next)),
            Some((fence, start)) if fence.is_closed_by(line) => {
                return Some(FencedBlock { content: *start..at, end: Some(next) });
            }
            Some(_) => {}
        }
        at = next;
    }
    let (_, start) = open?;
    Some(FencedBlock { content: start..text.len(), end: None })
}

/// The content of the fence around the whole text, which is trimmed.
pub(super) fn surrounding(text: &str) -> Option<Range<usize>> {
    Fence::opened_by(text.lines().next()?)?;
    let found = find(text)?;
    (found.end == Some(text.len())).then_some(found.content)
}

/// The content of the first fence; an unclosed fence extends to the end.
pub(super) fn first(text: &str) -> Option<&str> {
    find(text).map(|found| &text[found.content])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fence_round_the_whole_text_is_found() {
        for (text, content) in [
            ("```json\n{}\n```", Some("{}\n")),
            ("```\n{}\n````", Some("{}\n")),
            ("~~~ json\r\n{}\r\n~~~", Some("{}\r\n")),
            ("````\n```\n````", Some("```\n")),
            ("```\n```", Some("")),
            ("```json\n{}\n``` more", None),
            ("```json\n{}\n```\nmore", None),
            ("see\n```\n{}\n```", None),
            ("```{}```", None),
            ("```json\n{}", None),
            ("````\n{}\n```", None),
            ("``\n{}\n``", None),
            ("", None),
        ] {
            let found = surrounding(text).map(|range| &text[range]);
            assert_eq!(found, content, "{text}");
        }
    }

    #[test]
    fn the_first_fence_inside_a_text_is_found() {
        for (text, content) in [
            ("a\n```\nb\n```\n```\nc\n```", Some("b\n")),
            ("1. a\n   ```json\n   {}\n   ```\n", Some("   {}\n")),
            ("a\n```\nb", Some("b")),
            ("a ```b``` c", None),
        ] {
            assert_eq!(first(text), content, "{text}");
        }
    }
}
