//! Which skill was used in cases that want a certain one, or none: the interference of skills.

use std::collections::{BTreeMap, BTreeSet};

use evalrig_core::stats::percent;

use crate::results::RowSkills;
use crate::text::numbers;

/// Skills that are kept apart.
const MOST_SKILLS: usize = 100;

/// Counts of an arm. Only cases whose test says which skill it wants, or wants unused, and whose agent
/// shows what it used.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SkillMatrix {
    /// Cases, by the skill they want; `None` if they want none.
    wanting: BTreeMap<Option<String>, u64>,
    /// Cases, by the skill they want and one that was used; `None` if none was used.
    used: BTreeMap<(Option<String>, Option<String>), u64>,
    /// As above, where the wanted skill was not used.
    instead: BTreeMap<(Option<String>, String), u64>,
    given: BTreeSet<String>,
    /// Whether a case was given several.
    is_shared: bool,
}

/// Cases that want one skill and use another.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SkillCell<'a> {
    pub wanted: Option<&'a str>,
    pub used: Option<&'a str>,
    pub count: u64,
    /// All cases that want the skill.
    pub of: u64,
}

impl SkillCell<'_> {
    /// `None` without cases that want the skill.
    pub fn rate(&self) -> Option<f64> {
        (self.of > 0).then(|| self.count as f64 / self.of as f64)
    }

    /// `3 (60 %)`; empty for 0.
    pub fn text(&self) -> String {
        match self.count {
            0 => String::new(),
            count => format!("{} ({} %)", numbers::count(count), percent(count, self.of)),
        }
    }
}

impl SkillMatrix {
    pub(super) fn add(&mut self, skills: &RowSkills) {
        self.is_shared |= skills.given.as_ref().is_some_and(|given| given.len() > 1);
        self.given.extend(skills.given.iter().flatten().take(MOST_SKILLS).cloned());
        let Some(uses) = &skills.used else { return };
        if skills.wanted.is_empty() && skills.unwanted.is_empty() {
            return;
        }
        let used: BTreeSet<&str> =
            uses.iter().filter(|one| one.ok).map(|one| one.name.as_str()).collect();
        let wanted: Vec<Option<&str>> = match &skills.wanted[..] {
            [] => vec![None],
            wanted => wanted.iter().map(|name| Some(name.as_str())).collect(),
        };
        for want in wanted {
            if !self.wanting.contains_key(&owned(want)) && self.wanting.len() >= MOST_SKILLS {
                continue;
            }
            *self.wanting.entry(owned(want)).or_default() += 1;
            if used.is_empty() {
                *self.used.entry((owned(want), None)).or_default() += 1;
            }
            for name in used.iter().copied().take(MOST_SKILLS) {
                *self.used.entry((owned(want), owned(Some(name)))).or_default() += 1;
                let is_other = want != Some(name);
                if is_other && want.is_none_or(|wanted| !used.contains(wanted)) {
                    *self.instead.entry((owned(want), name.to_owned())).or_default() += 1;
                }
            }
        }
    }

    /// Whether there is something to tell: several skills, and cases that say which they want.
    pub fn is_shown(&self) -> bool {
        self.is_shared && !self.wanting.is_empty()
    }

    /// The wanted skills, none last.
    pub fn rows(&self) -> Vec<(Option<&str>, u64)> {
        let rows = self.wanting.iter().map(|(name, count)| (name.as_deref(), *count));
        let mut rows: Vec<_> = rows.collect();
        rows.sort_by_key(|(name, _)| (name.is_none(), *name));
        rows
    }

    /// The given skills, and others that were used, none last.
    pub fn columns(&self) -> Vec<Option<&str>> {
        let used = self.used.keys().filter_map(|(_, used)| used.as_deref());
        let names: BTreeSet<&str> = used.chain(self.given.iter().map(String::as_str)).collect();
        names.into_iter().map(Some).chain([None]).collect()
    }

    pub fn cell<'a>(&self, wanted: Option<&'a str>, used: Option<&'a str>) -> SkillCell<'a> {
        let count = self.used.get(&(owned(wanted), owned(used))).copied().unwrap_or(0);
        let of = self.wanting.get(&owned(wanted)).copied().unwrap_or(0);
        SkillCell { wanted, used, count, of }
    }

    /// Pairs in which one skill was used in place of another, or in a case that wants none; the most
    /// frequent first.
    pub fn steals(&self) -> Vec<SkillCell<'_>> {
        let mut found: Vec<SkillCell<'_>> = self
            .instead
            .iter()
            .map(|((wanted, used), count)| SkillCell {
                wanted: wanted.as_deref(),
                used: Some(used),
                count: *count,
                of: self.wanting.get(wanted).copied().unwrap_or(0),
            })
            .collect();
        found.sort_by_key(|cell| std::cmp::Reverse(cell.count));
        found
    }
}

fn owned(name: Option<&str>) -> Option<String> {
    name.map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::super::testing::skill_row;
    use super::*;

    fn matrix(rows: &[(&[&str], &[&str])]) -> SkillMatrix {
        let mut matrix = SkillMatrix::default();
        for (wanted, used) in rows {
            matrix.add(skill_row("t", wanted, used).skills.as_ref().unwrap());
        }
        matrix
    }

    #[test]
    fn a_skill_that_is_used_in_place_of_another_is_named() {
        let found = matrix(&[
            (&["csv"], &["csv"]),
            (&["csv"], &["csv-pro"]),
            (&["csv"], &["csv", "git"]),
            (&["csv"], &[]),
            (&[], &["git"]),
        ]);
        let steals: Vec<_> = found
            .steals()
            .iter()
            .map(|cell| (cell.wanted, cell.used, cell.count, cell.of))
            .collect();
        assert_eq!(steals, [(None, Some("git"), 1, 1), (Some("csv"), Some("csv-pro"), 1, 4)]);
        assert_eq!(found.rows(), [(Some("csv"), 4), (None, 1)]);
        assert_eq!(found.columns(), [Some("csv"), Some("csv-pro"), Some("git"), None]);
        assert_eq!(found.cell(Some("csv"), Some("csv")).count, 2);
        assert_eq!(found.cell(Some("csv"), None).count, 1);
        assert_eq!(found.cell(Some("csv"), Some("csv")).text(), "2 (50 %)");
        assert_eq!(found.cell(None, Some("csv")).text(), "");
        assert_eq!(found.cell(Some("csv"), None).rate(), Some(0.25));
        assert_eq!(found.cell(Some("pdf"), None).rate(), None);
    }

    #[test]
    fn a_case_that_does_not_say_what_it_wants_is_not_counted() {
        let mut row = skill_row("t", &["csv"], &["csv"]).skills.unwrap();
        row.wanted.clear();
        row.unwanted.clear();
        let mut matrix = SkillMatrix::default();
        matrix.add(&row);
        assert!(!matrix.is_shown());
        row.unwanted.push("git".to_owned());
        matrix.add(&row);
        assert!(matrix.is_shown());
    }
}
