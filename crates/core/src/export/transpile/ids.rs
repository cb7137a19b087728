//! The unique numbers that replace test ids (spec 12.2).

use std::collections::HashMap;
use std::sync::Arc;

use crate::diagnostic::{Diagnostic, declare_codes};
use crate::model::{Test, TestId};
use crate::source::{Sources, Span};

use super::first_line;

declare_codes! {
    ID_MOVED = "id-moved", Warning, Export, r#"The position of a test, which would become its number in evals.json, is the id of another test. The test gets the next free number.

## Example
```yaml
name: demo
tests:
  - {id: greeting, criteria: Greets, input: Hi}
  - {id: 1, criteria: Says goodbye, input: Bye}
```

## Instead
```yaml
name: demo
tests:
  - {id: 1, criteria: Greets, input: Hi}
  - {id: 2, criteria: Says goodbye, input: Bye}
```

## Why
Entries of evals.json are identified by number. A lookup by position finds another test.
"#;
}

/// The ids and locations of the tests so far.
#[derive(Debug, Default)]
pub(super) struct EntryNumbers(Vec<NumberedTest>);

#[derive(Debug)]
struct NumberedTest {
    id: Arc<TestId>,
    position: u32,
    /// The whole test.
    span: Span,
}

impl EntryNumbers {
    pub(super) fn add(&mut self, id: Arc<TestId>, test: &Test) {
        self.0.push(NumberedTest { id, position: test.position, span: test.span });
    }

    /// One number per test, in the order of the suite.
    pub(super) fn assign(self, sources: &Sources, out: &mut Vec<Diagnostic>) -> Vec<u64> {
        let mut taken = TakenNumbers::default();
        for number in self.0.iter().filter_map(|one| one.id.number()) {
            taken.take_from(number);
        }
        let mut ids = Vec::with_capacity(self.0.len());
        for one in &self.0 {
            let position = u64::from(one.position);
            let id = match one.id.number() {
                Some(number) => number,
                None => taken.take_from(position),
            };
            if one.id.number().is_none() && id != position {
                let message =
                    format!("test `{}` becomes number {id}, because {position} is taken", one.id);
                let place = first_line(sources, one.span);
                let help = "give every test a number";
                out.push(Diagnostic::new(&ID_MOVED, place, message).help(help));
            }
            ids.push(id);
        }
        ids
    }
}

/// Numbers in use, each with a candidate for the next free one, so that long runs are skipped.
#[derive(Debug, Default)]
struct TakenNumbers(HashMap<u64, u64>);

impl TakenNumbers {
    /// Takes the first free number from `start` on.
    fn take_from(&mut self, start: u64) -> u64 {
        let mut passed = Vec::new();
        let mut free = start;
        while let Some(next) = self.0.get(&free) {
            passed.push(free);
            free = *next;
        }
        let next = free.saturating_add(1);
        for number in passed {
            self.0.insert(number, next);
        }
        self.0.insert(free, next);
        free
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_in_use_are_passed_over() {
        let mut taken = TakenNumbers::default();
        assert_eq!(taken.take_from(1), 1);
        assert_eq!(taken.take_from(2), 2);
        assert_eq!(taken.take_from(1), 3);
        assert_eq!(taken.take_from(2), 4);
        assert_eq!(taken.take_from(9), 9);
    }
}
