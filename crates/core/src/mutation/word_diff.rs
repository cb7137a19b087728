//! The words in which two texts differ.

/// More words on one side are compared as one piece.
const MOST: usize = 400;

/// A run of words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WordChange {
    Same(String),
    Removed(String),
    Added(String),
}

/// By the longest common subsequence of words; spaces are not compared.
pub fn word_diff(before: &str, after: &str) -> Vec<WordChange> {
    let a: Vec<&str> = before.split_whitespace().collect();
    let b: Vec<&str> = after.split_whitespace().collect();
    let start = a.iter().zip(&b).take_while(|(a, b)| a == b).count();
    let rest = a[start..].iter().rev().zip(b[start..].iter().rev());
    let end = rest.take_while(|(a, b)| a == b).count();
    let mut out = Vec::new();
    let mut push = |make: fn(String) -> WordChange, words: &[&str]| {
        if !words.is_empty() {
            out.push(make(words.join(" ")));
        }
    };
    push(WordChange::Same, &a[..start]);
    let (middle_a, middle_b) = (&a[start..a.len() - end], &b[start..b.len() - end]);
    if middle_a.len() > MOST || middle_b.len() > MOST {
        push(WordChange::Removed, middle_a);
        push(WordChange::Added, middle_b);
    } else {
        let (mut at_a, mut at_b) = (0, 0);
        for (next_a, next_b, count) in common_runs(middle_a, middle_b) {
            push(WordChange::Removed, &middle_a[at_a..next_a]);
            push(WordChange::Added, &middle_b[at_b..next_b]);
            push(WordChange::Same, &middle_a[next_a..next_a + count]);
            (at_a, at_b) = (next_a + count, next_b + count);
        }
        push(WordChange::Removed, &middle_a[at_a..]);
        push(WordChange::Added, &middle_b[at_b..]);
    }
    push(WordChange::Same, &a[a.len() - end..]);
    out
}

/// Where runs of common words start in both, and how long they are.
fn common_runs(a: &[&str], b: &[&str]) -> Vec<(usize, usize, usize)> {
    let width = b.len() + 1;
    // Length of the longest common subsequence of the ends from here on.
    let mut length = vec![0_u16; (a.len() + 1) * width];
    for at in (0..a.len()).rev() {
        for bt in (0..b.len()).rev() {
            length[at * width + bt] = if a[at] == b[bt] {
                length[(at + 1) * width + bt + 1] + 1
            } else {
                length[(at + 1) * width + bt].max(length[at * width + bt + 1])
            };
        }
    }
    let mut runs: Vec<(usize, usize, usize)> = Vec::new();
    let (mut at, mut bt) = (0, 0);
    while at < a.len() && bt < b.len() {
        if a[at] == b[bt] {
            match runs.last_mut() {
                Some((ra, rb, count)) if *ra + *count == at && *rb + *count == bt => *count += 1,
                _ => runs.push((at, bt, 1)),
            }
            at += 1;
            bt += 1;
        } else if length[(at + 1) * width + bt] >= length[at * width + bt + 1] {
            at += 1;
        } else {
            bt += 1;
        }
    }
    runs
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(before: &str, after: &str) -> String {
        let parts = word_diff(before, after).into_iter().map(|change| match change {
            WordChange::Same(text) => text,
            WordChange::Removed(text) => format!("[-{text}-]"),
            WordChange::Added(text) => format!("{{+{text}+}}"),
        });
        parts.collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn only_words_that_differ_are_marked() {
        for (before, after, diff) in [
            ("it is fine", "it is not fine", "it is {+not+} fine"),
            ("a b c d", "a x c", "a [-b-] {+x+} c [-d-]"),
            ("", "a", "{+a+}"),
            ("a  b", "a b", "a b"),
            ("a", "", "[-a-]"),
        ] {
            assert_eq!(shown(before, after), diff);
        }
    }

    #[test]
    fn long_texts_are_compared_in_one_piece() {
        let long = |word: &str| vec![word; 2 * MOST].join(" ");
        assert_eq!(word_diff(&long("a"), &long("b")).len(), 2);
    }
}
