//! The cases of a page within its budget. When it runs out, what is missed least goes first:
//! conversations of cases that passed, then those of cases heard later, then details, then cases.

use std::collections::HashMap;

use evalrig_core::model::Outcome;

use super::super::SuiteText;
use super::page_test::PageTest;
use super::{comparison, earlier};
use crate::results::Row;
use crate::text::numbers;

/// In bytes of the finished file. Most of it comes after the script, so the table is there before it is
/// read.
const BUDGET: usize = 80_000_000;

/// A case as text, ready to be written.
#[derive(Debug)]
pub struct PageCase {
    pub outcome: Outcome,
    /// Its part of a line of the table.
    pub line: String,
    pub details: Option<String>,
    pub conversation: Option<String>,
}

impl PageCase {
    fn size(&self) -> usize {
        let of = |text: &Option<String>| text.as_ref().map_or(0, String::len);
        self.line.len() + of(&self.details) + of(&self.conversation)
    }

    /// Details with the conversation in them; null when there was no room for them.
    pub fn document(&self) -> String {
        let Some(details) = self.details.as_deref() else {
            return "null".to_owned();
        };
        match (&self.conversation, details.strip_suffix('}')) {
            (Some(conversation), Some(open)) => {
                format!("{open},\"conversation\":{conversation}}}")
            }
            _ => details.to_owned(),
        }
    }

    fn is_quiet(&self) -> bool {
        matches!(self.outcome, Outcome::Passed | Outcome::Skipped)
    }
}

/// Suite, id and target.
type PageTestKey = (String, String, String);

#[derive(Debug)]
pub struct PageBudget {
    /// Without cases where there was no room for them.
    tests: Vec<PageTest>,
    places: HashMap<PageTestKey, usize>,
    size: usize,
    budget: usize,
    lost: Lost,
}

/// How much was left out, by kind.
#[derive(Debug, Default)]
struct Lost {
    quiet_conversations: u64,
    conversations: u64,
    details: u64,
    cases: u64,
}

impl Default for PageBudget {
    fn default() -> Self {
        // A comparison is heard of when all cases are there, so its room is kept.
        Self::with_budget(BUDGET - comparison::BUDGET - earlier::BUDGET)
    }
}

impl PageBudget {
    fn with_budget(budget: usize) -> Self {
        Self { tests: Vec::new(), places: HashMap::new(), size: 0, budget, lost: Lost::default() }
    }

    /// In the order of their first rows.
    pub fn tests(&self) -> impl Iterator<Item = &PageTest> {
        self.tests.iter().filter(|test| !test.cases.is_empty())
    }

    pub fn put(&mut self, row: &Row, text: &SuiteText) {
        let key = (row.dataset.clone(), row.eval_id.clone(), row.variant().into_owned());
        let at = *self.places.entry(key).or_insert_with(|| {
            self.tests.push(PageTest::of(row, text));
            self.size += self.tests.last().map_or(0, PageTest::own_size);
            self.tests.len() - 1
        });
        let test = &mut self.tests[at];
        let before = test.own_size();
        let case = test.make_case(row, text);
        self.size += test.own_size() - before;
        self.admit(at, case);
    }

    fn admit(&mut self, at: usize, mut case: PageCase) {
        // Once those that passed have lost theirs, all of them do: some with and some without would
        // look like chance.
        if self.lost.quiet_conversations > 0 && case.is_quiet() {
            self.lost.quiet_conversations += u64::from(case.conversation.take().is_some());
        }
        // The last parts of the budget are kept for what is smaller and needed more.
        if self.size + case.size() > self.budget / 10 * 7 {
            self.drop_quiet_conversations(&mut case);
        }
        if self.size + case.size() > self.budget / 10 * 7 {
            self.lost.conversations += u64::from(case.conversation.take().is_some());
        }
        if self.size + case.size() > self.budget / 10 * 9 {
            self.lost.details += u64::from(case.details.take().is_some());
        }
        if self.size + case.size() > self.budget {
            self.lost.cases += 1;
            return;
        }
        self.size += case.size();
        self.tests[at].cases.push(case);
    }

    fn drop_quiet_conversations(&mut self, next: &mut PageCase) {
        if self.lost.quiet_conversations > 0 {
            return;
        }
        let cases = self.tests.iter_mut().flat_map(|test| &mut test.cases).chain([next]);
        for case in cases.filter(|case| case.is_quiet()) {
            self.lost.quiet_conversations += u64::from(case.conversation.take().is_some());
        }
        let size = |test: &PageTest| {
            test.own_size() + test.cases.iter().map(PageCase::size).sum::<usize>()
        };
        self.size = self.tests.iter().map(size).sum();
    }

    /// One sentence for each kind of thing that is not in the page.
    pub fn notes(&self) -> Vec<String> {
        let Lost { quiet_conversations, conversations, details, cases } = self.lost;
        let notes = [
            (quiet_conversations, "the conversations of", "passed case", "passed cases"),
            (conversations, "the conversations of", "case", "cases"),
            (details, "the details of", "case", "cases"),
            (cases, "the rows of", "counted case", "counted cases"),
        ];
        let lost = notes.into_iter().filter(|(count, ..)| *count > 0);
        lost.map(|(count, what, one, many)| {
            let cases = numbers::counted(count, one, many);
            format!("To stay small, this page leaves out {what} {cases}. The results file has all.")
        })
        .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn case(outcome: Outcome) -> PageCase {
        PageCase {
            outcome,
            line: "l".repeat(10),
            details: Some(format!("{{{}}}", "d".repeat(18))),
            conversation: Some("c".repeat(70)),
        }
    }

    /// One test without a size of its own.
    fn filled(budget: usize, outcomes: &[Outcome]) -> PageBudget {
        let mut cases = PageBudget::with_budget(budget);
        cases.tests.push(PageTest::default());
        for outcome in outcomes {
            cases.admit(0, case(*outcome));
        }
        cases
    }

    fn with_conversation(budget: &PageBudget) -> Vec<bool> {
        let cases = budget.tests[0].cases.iter();
        cases.map(|case| case.conversation.is_some()).collect()
    }

    #[test]
    fn a_run_that_fits_is_whole() {
        let page = filled(1_000, &[Outcome::Passed, Outcome::Failed]);
        assert_eq!(with_conversation(&page), [true, true]);
        assert!(page.notes().is_empty());
        assert!(
            page.tests[0].cases[0]
                .document()
                .ends_with(&format!(",\"conversation\":{}}}", "c".repeat(70)))
        );
    }

    #[test]
    fn passed_cases_lose_their_conversations_first() {
        let (passed, failed) = (Outcome::Passed, Outcome::Failed);
        let page = filled(400, &[passed, failed, failed, passed]);
        assert_eq!(with_conversation(&page), [false, true, true, false]);
        assert_eq!(
            page.notes(),
            [
                "To stay small, this page leaves out the conversations of 2 passed cases. The results \
              file has all."
            ]
        );
    }

    #[test]
    fn then_later_conversations_then_details_then_cases_and_never_more_than_the_budget() {
        let page = filled(400, &[Outcome::Failed; 60]);
        assert!(page.size <= 400);
        let Lost { conversations, details, cases, .. } = page.lost;
        assert!(conversations > 0 && details > 0 && cases > 0, "{:?}", page.lost);
        assert_eq!(page.tests[0].cases.len() as u64 + cases, 60);
        assert_eq!(page.tests[0].cases.last().unwrap().document(), "null");
        assert_eq!(page.notes().len(), 3);
    }
}
