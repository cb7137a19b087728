//! Semantic tokens: `${{ VARIABLE }}` and `{{ name }}` in texts.

use std::ops::Range;

use lsp_types::{SemanticToken, SemanticTokens};

use super::spot::Spot;

/// The legend: brackets, variables of the environment, values of the test.
pub(crate) const TOKEN_TYPES: &[&str] = &["keyword", "variable", "parameter"];

const BRACKETS: u32 = 0;
const ENVIRONMENT: u32 = 1;
const TEST_VALUE: u32 = 2;

pub(crate) fn semantic_tokens(spot: &Spot<'_>) -> SemanticTokens {
    let survey = spot.survey();
    let mut places = survey.scalars.clone();
    places.sort_by_key(|place| place.start);
    let mut found: Vec<(Range<usize>, u32)> = Vec::new();
    for place in places {
        templates(&spot.text[place.clone()], place.start, &mut found);
    }
    let mut data = Vec::with_capacity(found.len());
    let (mut line, mut column) = (0, 0);
    for (bytes, token_type) in found {
        let range = spot.range(&bytes);
        let delta_line = range.start.line - line;
        let delta_start = range.start.character - if delta_line == 0 { column } else { 0 };
        (line, column) = (range.start.line, range.start.character);
        data.push(SemanticToken {
            delta_line,
            delta_start,
            length: range.end.character - range.start.character,
            token_type,
            token_modifiers_bitset: 0,
        });
    }
    SemanticTokens { result_id: None, data }
}

/// The brackets and names of one text. A template on several lines has no tokens.
fn templates(text: &str, start: usize, found: &mut Vec<(Range<usize>, u32)>) {
    let mut at = 0;
    while let Some(open) = text[at..].find("{{").map(|open| at + open) {
        let Some(close) = text[open..].find("}}").map(|close| open + close) else {
            return;
        };
        let inside = &text[open + 2..close];
        let name = inside.trim();
        let is_variable = text[..open].ends_with('$');
        let is_escaped = text[..open].ends_with("$$");
        at = close + 2;
        if name.is_empty() || inside.contains(['\n', '{']) || is_escaped {
            // The innermost brackets count.
            at = if inside.contains('{') { open + 1 } else { at };
            continue;
        }
        let begin = open - usize::from(is_variable);
        let from = open + 2 + inside.len() - inside.trim_start().len();
        let kind = if is_variable { ENVIRONMENT } else { TEST_VALUE };
        let move_by = |range: Range<usize>| start + range.start..start + range.end;
        found.push((move_by(begin..open + 2), BRACKETS));
        found.push((move_by(from..from + name.len()), kind));
        found.push((move_by(close..close + 2), BRACKETS));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pieces(text: &str) -> Vec<(&str, u32)> {
        let mut found = Vec::new();
        templates(text, 0, &mut found);
        found.into_iter().map(|(range, kind)| (&text[range], kind)).collect()
    }

    #[test]
    fn templates_are_taken_apart() {
        assert_eq!(
            pieces("a {{ name }} ${{KEY}} b"),
            [("{{", 0), ("name", 2), ("}}", 0), ("${{", 0), ("KEY", 1), ("}}", 0)]
        );
        assert_eq!(pieces("$${{ X }} {{ }} {{ a\n }} {{"), []);
        assert_eq!(pieces("{{{é}}"), [("{{", 0), ("é", 2), ("}}", 0)]);
    }
}
