//! Applies fixes in memory, round by round, until none is left. Nothing is written to disk, and a
//! round that would leave more faults than before is undone.

mod choose;
mod overlay;

use std::collections::HashSet;

use crate::diagnostic::{Diagnostics, Family, Fix};
use crate::source::{Files, Sources};

pub use overlay::Overlay;

use choose::choose;

/// Fixes that depend on each other are made one after another, and one that does harm is found by
/// halving. Each attempt reads all files again, so their number is limited, not that of fixes.
const MOST_ATTEMPTS: usize = 200;

/// What one reading of the files found.
pub trait Reading {
    fn diagnostics(&self) -> &Diagnostics;

    /// What the diagnostics point into.
    fn sources(&self) -> &Sources;
}

/// The result of applying fixes.
#[derive(Debug)]
pub struct Repaired<'f, R> {
    /// The files with the edits laid over them.
    pub files: Overlay<'f>,
    /// The reading of those.
    pub reading: R,
    /// How many fixes were made.
    pub fixed: usize,
}

/// Makes every fix that `first`, a reading of `files`, suggests, and those that follow from them.
/// `read` reads the same files again with edits laid over them.
pub fn repair<'f, R: Reading, E>(
    files: &'f dyn Files,
    first: R,
    read: impl Fn(&dyn Files) -> Result<R, E>,
) -> Result<Repaired<'f, R>, E> {
    let mut state = Repaired { files: Overlay::new(files), reading: first, fixed: 0 };
    let mut refused: HashSet<Fix> = HashSet::new();
    let mut attempts = 0;
    loop {
        let mut chosen: Vec<Fix> =
            choose(state.reading.diagnostics(), &refused).into_iter().cloned().collect();
        if chosen.is_empty() {
            return Ok(state);
        }
        loop {
            if attempts == MOST_ATTEMPTS {
                return Ok(state);
            }
            attempts += 1;
            if let Some(next) = state.attempt(&chosen, &read)? {
                state = next;
                break;
            }
            // Together they do harm: the one at fault is found by halving.
            match chosen.len() {
                1 => {
                    refused.extend(chosen.pop());
                    break;
                }
                count => chosen.truncate(count.div_ceil(2)),
            }
        }
    }
}

impl<'f, R: Reading> Repaired<'f, R> {
    /// The state after these fixes; `None` when the result would have more faults than before.
    fn attempt<E>(
        &self,
        fixes: &[Fix],
        read: &impl Fn(&dyn Files) -> Result<R, E>,
    ) -> Result<Option<Self>, E> {
        let Some(files) = self.files.with(self.reading.sources(), fixes) else {
            return Ok(None);
        };
        let reading = read(&files)?;
        let (before, after) = (self.reading.diagnostics(), reading.diagnostics());
        // A text that cannot be parsed has few diagnostics, so their number says little.
        let is_better = after.errors() <= before.errors()
            && after.len() <= before.len()
            && broken(after) <= broken(before);
        Ok(is_better.then(|| Self { files, reading, fixed: self.fixed + fixes.len() }))
    }
}

/// Faults that keep a text from being read at all.
fn broken(diagnostics: &Diagnostics) -> usize {
    diagnostics.iter().filter(|one| one.code.family == Family::Syntax).count()
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use super::*;
    use crate::read::{DiscardTests, Findings, LoadRequest, load};
    use crate::reader::{ReadPolicy, World};
    use crate::source::{MemoryFiles, Reach, Variables};

    impl Reading for Findings {
        fn diagnostics(&self) -> &Diagnostics {
            self.diagnostics()
        }

        fn sources(&self) -> &Sources {
            self.sources()
        }
    }

    fn read(files: &dyn Files) -> Result<Findings, Infallible> {
        let world =
            World { files, environment: &Variables::default(), working_directory: "/p".into() };
        let limits = ReadPolicy::default();
        let request = LoadRequest::new(world, &limits, "/p/EVAL.yaml".into(), "/p".into());
        let loaded = load(&request, Findings::new(), &mut DiscardTests);
        Ok(loaded.into_findings())
    }

    fn repaired(text: &str) -> (String, usize) {
        let files = MemoryFiles::new().with("/p/EVAL.yaml", text);
        let Ok(first) = read(&files);
        let Ok(done) = repair(&files, first, read);
        let text = done.files.read("/p/EVAL.yaml".into(), Reach::Anywhere, u64::MAX).unwrap();
        (String::from_utf8(text).unwrap(), done.fixed)
    }

    #[test]
    fn fixes_that_touch_one_mapping_are_made_one_after_another() {
        let (text, fixed) = repaired(
            "name: a\nauthor: Me # kept\ntags: [x]\nevalcases:\n  - {id: a, expected_outcome: Greets, input: Hi}\n",
        );
        assert_eq!(fixed, 4);
        assert!(text.contains("metadata:\n"), "{text}");
        assert!(text.contains("tests:\n  - {id: a, criteria: Greets"), "{text}");
    }

    /// More than the diagnostics that are kept: each reading makes all fixes that it finds.
    #[test]
    fn the_number_of_readings_does_not_grow_with_that_of_fixes() {
        let readings = |tests: usize| {
            let tests: String = (0..tests)
                .map(|at| format!("  - {{id: t{at}, expected_outcome: Greets, input: Hi}}\n"))
                .collect();
            let text = format!("name: a\ntests:\n{tests}");
            let files = MemoryFiles::new().with("/p/EVAL.yaml", text);
            let Ok(first) = read(&files);
            let count = std::cell::Cell::new(0);
            let Ok(done) = repair(&files, first, |files| {
                count.set(count.get() + 1);
                read(files)
            });
            assert_eq!(done.reading.diagnostics().len(), 0);
            count.get()
        };
        assert_eq!((readings(10), readings(25_000)), (1, 1));
    }

    #[test]
    fn a_suite_without_faults_stays_byte_for_byte() {
        let text = "# c\nname: a\ntests: [{id: a, criteria: Greets, input: Hi}]\n";
        assert_eq!(repaired(text), (text.to_owned(), 0));
    }
}
