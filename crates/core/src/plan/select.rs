//! Selects tests of a suite by id, tag, sample and shard.

use std::collections::HashSet;

use globset::{GlobBuilder, GlobMatcher};

use super::shard::Shard;
use crate::model::Test;
use crate::stats::SplitMix64;

/// A pattern on test ids; `!` in front excludes.
#[derive(Debug, Clone)]
pub struct Filter {
    matcher: GlobMatcher,
    excludes: bool,
}

/// The text is not a valid glob pattern.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PatternError(pub String);

impl Filter {
    pub fn parse(text: &str) -> Result<Self, PatternError> {
        let (pattern, excludes) = match text.strip_prefix('!') {
            Some(rest) => (rest, true),
            None => (text, false),
        };
        // The same language on every system.
        let glob = GlobBuilder::new(pattern).backslash_escape(true).build();
        let glob = glob.map_err(|_| PatternError(text.to_owned()))?;
        Ok(Self { matcher: glob.compile_matcher(), excludes })
    }

    /// The pattern that only this id matches.
    pub fn literal(id: &str) -> String {
        let mut pattern = String::with_capacity(id.len());
        for (at, sign) in id.chars().enumerate() {
            match sign {
                '*' | '?' | '[' | ']' | '{' | '}' => pattern.extend(['[', sign, ']']),
                '\\' => pattern.push_str("\\\\"),
                // Only in front does it exclude, and in a class it negates.
                '!' if at == 0 => pattern.push_str("\\!"),
                _ => pattern.push(sign),
            }
        }
        pattern
    }

    /// Whether the pattern matches, `!` or not.
    pub fn is_match(&self, text: &str) -> bool {
        self.matcher.is_match(text)
    }
}

/// The filters of a run. The default selects every test.
#[derive(Debug, Clone, Default)]
pub struct Selection {
    pub filters: Vec<Filter>,
    /// A test with any of these tags; none given: every test.
    pub tags: Vec<String>,
    /// Only tests with these ids.
    pub ids: Option<HashSet<String>>,
    /// At most this many, chosen by the seed.
    pub sample: Option<usize>,
    pub seed: u64,
    pub shard: Option<Shard>,
}

impl Selection {
    /// Places in the list, ascending.
    pub fn of(&self, tests: &[Test]) -> Vec<usize> {
        let wanted = |test: &Test| self.passes_filters(test) && self.passes_tags(test);
        let mut chosen: Vec<usize> = (0..tests.len()).filter(|at| wanted(&tests[*at])).collect();
        if let Some(count) = self.sample {
            chosen = sample(chosen, count, self.seed);
        }
        match self.shard {
            Some(shard) => shard.of(&chosen, tests),
            None => chosen,
        }
    }

    fn passes_filters(&self, test: &Test) -> bool {
        let id = test.id.as_str();
        if self.ids.as_ref().is_some_and(|ids| !ids.contains(id)) {
            return false;
        }
        let excluded =
            self.filters.iter().any(|filter| filter.excludes && filter.matcher.is_match(id));
        let mut including = self.filters.iter().filter(|filter| !filter.excludes);
        let is_open = !self.filters.iter().any(|filter| !filter.excludes);
        !excluded && (is_open || including.any(|filter| filter.matcher.is_match(id)))
    }

    fn passes_tags(&self, test: &Test) -> bool {
        self.tags.is_empty() || test.tags().any(|tag| self.tags.iter().any(|one| one == tag))
    }
}

/// Keeps `count` of them in their order: each choice of that size is equally likely.
fn sample(mut places: Vec<usize>, count: usize, seed: u64) -> Vec<usize> {
    if places.len() <= count {
        return places;
    }
    let mut random = SplitMix64::new(seed);
    for at in 0..count {
        let rest = (places.len() - at) as u64;
        let other = at + random.below(rest) as usize;
        places.swap(at, other);
    }
    places.truncate(count);
    places.sort_unstable();
    places
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::export::testing::load;
    use crate::source::MemoryFiles;

    fn tests() -> Vec<Test> {
        let text = "name: demo\nmetadata: {tags: [all]}\ntests:\n\
            \x20 - {id: api/get, criteria: c, input: i, metadata: {tags: [fast]}}\n\
            \x20 - {id: api-put, criteria: c, input: i}\n\
            \x20 - {id: 3, criteria: c, input: i, metadata: {tags: [slow, fast]}}\n";
        load(MemoryFiles::new().with("/p/EVAL.yaml", text), "/p/EVAL.yaml").suite.tests
    }

    fn selected(filters: &[&str], tags: &[&str]) -> Vec<usize> {
        let selection = Selection {
            filters: filters.iter().map(|f| Filter::parse(f).unwrap()).collect(),
            tags: tags.iter().map(|&tag| tag.to_owned()).collect(),
            ..Selection::default()
        };
        selection.of(&tests())
    }

    #[test]
    fn patterns_name_ids_and_exclude_with_a_bang() {
        assert_eq!(selected(&[], &[]), [0, 1, 2]);
        assert_eq!(selected(&["api*"], &[]), [0, 1]);
        assert_eq!(selected(&["api-put", "3"], &[]), [1, 2]);
        assert_eq!(selected(&["!api-*"], &[]), [0, 2]);
        assert_eq!(selected(&["api*", "!*get"], &[]), [1]);
        assert!(Filter::parse("[").is_err());
    }

    #[test]
    fn a_literal_pattern_matches_one_id_whatever_its_letters() {
        let signs = ["!", "*", "?", "[", "]", "{", "}", "\\", "^", "-", ",", "/", "é", ".", "a"];
        let pairs = signs.iter().flat_map(|one| signs.iter().map(move |two| format!("{one}{two}")));
        let ids: Vec<String> = pairs.flat_map(|two| [two.clone(), format!("x{two}y")]).collect();
        for id in &ids {
            let filter = Filter::parse(&Filter::literal(id)).expect(id);
            assert!(!filter.excludes, "{id}");
            let matched: Vec<&String> = ids.iter().filter(|other| filter.is_match(other)).collect();
            assert_eq!(matched, [id], "{}", Filter::literal(id));
        }
    }

    #[test]
    fn a_tag_of_the_suite_is_a_tag_of_every_test() {
        assert_eq!(selected(&[], &["all"]), [0, 1, 2]);
        assert_eq!(selected(&[], &["slow", "none"]), [2]);
        assert_eq!(selected(&["api*"], &["fast"]), [0]);
    }

    #[test]
    fn a_sample_depends_on_the_seed_alone() {
        let all: Vec<usize> = (0..100).collect();
        let one = sample(all.clone(), 10, 7);
        assert_eq!(one.len(), 10);
        assert!(one.is_sorted());
        assert_eq!(one, sample(all.clone(), 10, 7));
        assert_ne!(one, sample(all.clone(), 10, 8));
        assert_eq!(sample(all.clone(), 1000, 7), all);
    }
}
