//! The cases of a page within its budget. When it runs out, what is missed least goes first:
//! conversations of cases that passed, then those of cases heard later, then details, then cases.

use evalrig_core::model::Outcome;

use super::{comparison, earlier};
use crate::text::numbers;

/// In bytes of the finished file. Browsers open such a page within a second or two.
const BUDGET: usize = 50_000_000;

/// A case as text, ready to be written.
#[derive(Debug)]
pub struct PageCase {
    pub outcome: Outcome,
    /// Of the table.
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

#[derive(Debug)]
pub struct PageBudget {
    cases: Vec<PageCase>,
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
        Self { cases: Vec::new(), size: 0, budget, lost: Lost::default() }
    }

    pub fn cases(&self) -> &[PageCase] {
        &self.cases
    }

    pub fn put(&mut self, mut case: PageCase) {
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
        self.cases.push(case);
    }

    fn drop_quiet_conversations(&mut self, next: &mut PageCase) {
        if self.lost.quiet_conversations > 0 {
            return;
        }
        for case in self.cases.iter_mut().chain([next]).filter(|case| case.is_quiet()) {
            self.lost.quiet_conversations += u64::from(case.conversation.take().is_some());
        }
        self.size = self.cases.iter().map(PageCase::size).sum();
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

    fn filled(budget: usize, outcomes: &[Outcome]) -> PageBudget {
        let mut shelf = PageBudget::with_budget(budget);
        for outcome in outcomes {
            shelf.put(case(*outcome));
        }
        shelf
    }

    fn with_conversation(shelf: &PageBudget) -> Vec<bool> {
        let cases = shelf.cases.iter();
        cases.map(|case| case.conversation.is_some()).collect()
    }

    #[test]
    fn a_run_that_fits_is_whole() {
        let shelf = filled(1_000, &[Outcome::Passed, Outcome::Failed]);
        assert_eq!(with_conversation(&shelf), [true, true]);
        assert!(shelf.notes().is_empty());
        assert!(
            shelf.cases[0].document().ends_with(&format!(",\"conversation\":{}}}", "c".repeat(70)))
        );
    }

    #[test]
    fn passed_cases_lose_their_conversations_first() {
        let (passed, failed) = (Outcome::Passed, Outcome::Failed);
        let shelf = filled(400, &[passed, failed, failed, passed]);
        assert_eq!(with_conversation(&shelf), [false, true, true, false]);
        assert_eq!(
            shelf.notes(),
            [
                "To stay small, this page leaves out the conversations of 2 passed cases. The results \
              file has all."
            ]
        );
    }

    #[test]
    fn then_later_conversations_then_details_then_cases_and_never_more_than_the_budget() {
        let shelf = filled(400, &[Outcome::Failed; 60]);
        assert!(shelf.size <= 400);
        let Lost { conversations, details, cases, .. } = shelf.lost;
        assert!(conversations > 0 && details > 0 && cases > 0, "{:?}", shelf.lost);
        assert_eq!(shelf.cases.len() as u64 + cases, 60);
        assert_eq!(shelf.cases.last().unwrap().document(), "null");
        assert_eq!(shelf.notes().len(), 3);
    }
}
