//! Hits and misses while they are being collected.

use crate::model::{Marks, Score};

/// One hit or miss.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Finding {
    pub(super) holds: bool,
    pub(super) text: String,
}

#[derive(Debug, Default)]
pub(super) struct FindingList {
    pub(super) hits: Vec<String>,
    pub(super) misses: Vec<String>,
}

impl FindingList {
    pub(super) fn add(&mut self, finding: Finding) {
        if finding.holds {
            self.hits.push(finding.text);
        } else {
            self.misses.push(finding.text);
        }
    }

    pub(super) fn hit(&mut self, text: impl Into<String>) {
        self.hits.push(text.into());
    }

    pub(super) fn miss(&mut self, text: impl Into<String>) {
        self.misses.push(text.into());
    }

    pub(super) fn marks(self, score: Score) -> Marks {
        Marks::new(score, self.hits, self.misses)
    }
}
