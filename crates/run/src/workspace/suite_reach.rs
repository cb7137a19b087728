//! Where the paths of a suite may lead, for work that outlives the suite's own borrow.

use camino::Utf8PathBuf;
use evalrig_core::source::Reach;

/// An owned [`Reach`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct SuiteReach {
    /// `None`: anywhere (`--allow-outside-root`).
    confined_to: Option<Utf8PathBuf>,
}

impl From<Reach<'_>> for SuiteReach {
    fn from(reach: Reach<'_>) -> Self {
        let confined_to = match reach {
            Reach::Anywhere => None,
            Reach::Inside(root) => Some(root.to_owned()),
        };
        Self { confined_to }
    }
}

impl SuiteReach {
    pub(super) fn reach(&self) -> Reach<'_> {
        self.confined_to.as_deref().map_or(Reach::Anywhere, Reach::Inside)
    }
}
