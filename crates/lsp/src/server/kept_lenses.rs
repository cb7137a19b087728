//! The code lenses of the last text that could be read. They stay while a line is typed that breaks the file:
//! lenses that go away move every line below them.

use std::collections::HashMap;
use std::sync::Arc;

use camino::{Utf8Path, Utf8PathBuf};
use lsp_types::{CodeLens, Range};

use crate::feature::Spot;

/// By document.
#[derive(Debug, Default)]
pub(super) struct KeptLenses(HashMap<Utf8PathBuf, ReadableLenses>);

#[derive(Debug)]
struct ReadableLenses {
    text: Arc<String>,
    /// The suite that the document belonged to.
    suite: Option<Utf8PathBuf>,
    lenses: Vec<CodeLens>,
}

impl KeptLenses {
    /// The lenses of a text, or of the last one before it that could be read.
    pub(super) fn of(&mut self, spot: &Spot<'_>, present: Vec<CodeLens>) -> Vec<CodeLens> {
        match self.0.get_mut(&spot.path) {
            Some(kept) if !kept.is_readable(spot) => {
                kept.move_to(&spot.text);
                kept.lenses.clone()
            }
            _ => {
                let suite = spot.suite().map(|suite| suite.main.path.clone());
                let text = Arc::clone(&spot.text);
                let kept = ReadableLenses { text, suite, lenses: present.clone() };
                self.0.insert(spot.path.clone(), kept);
                present
            }
        }
    }

    pub(super) fn forget(&mut self, path: &Utf8Path) {
        self.0.remove(path);
    }
}

impl ReadableLenses {
    /// Neither the text nor the suite that imports it is broken.
    fn is_readable(&self, spot: &Spot<'_>) -> bool {
        let suite = self.suite.as_ref();
        let suite =
            suite.and_then(|path| spot.project.analyses().find(|one| one.main.path == *path));
        let is_suite_broken = suite.is_some_and(|suite| suite.name.is_none());
        !spot.parsed().is_cut && (self.lenses.is_empty() || !is_suite_broken)
    }

    /// To the lines where they are now. What has changed is between the first and the last other line; the next
    /// edit, which may be elsewhere, is compared with this text.
    fn move_to(&mut self, text: &Arc<String>) {
        let (old, new): (Vec<&str>, Vec<&str>) =
            (self.text.lines().collect(), text.lines().collect());
        let same_before = old.iter().zip(&new).take_while(|(old, new)| old == new).count();
        let rest = old.len().min(new.len()) - same_before;
        let backwards = old.iter().rev().zip(new.iter().rev()).take(rest);
        let same_behind = backwards.take_while(|(old, new)| old == new).count();
        let line_now = |line: u32| {
            let line = line as usize;
            if line < same_before {
                line
            } else if line >= old.len() - same_behind {
                line + new.len() - old.len()
            } else {
                line.min((new.len() - same_behind).saturating_sub(1))
            }
        };
        // The lenses of the whole suite are at the beginning.
        for lens in self.lenses.iter_mut().filter(|lens| lens.range != Range::default()) {
            for place in [&mut lens.range.start, &mut lens.range.end] {
                place.line = line_now(place.line) as u32;
            }
        }
        self.text = Arc::clone(text);
    }
}
