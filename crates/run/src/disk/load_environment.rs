//! The variables that suites are loaded with: those of the process, and on request the names of those
//! that were looked up.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};

use evalrig_core::source::Environment;

use crate::lock::locked;

use super::ProcessEnvironment;

/// Clones share their list.
#[derive(Debug, Clone, Default)]
pub struct LoadEnvironment {
    used: Option<Arc<Mutex<BTreeSet<String>>>>,
}

impl LoadEnvironment {
    /// Remembers every name from now on.
    #[cfg_attr(not(feature = "queue"), allow(dead_code, reason = "for queues"))]
    pub(crate) fn recording() -> Self {
        Self { used: Some(Arc::default()) }
    }

    #[cfg_attr(not(feature = "queue"), allow(dead_code, reason = "for queues"))]
    pub(crate) fn used(&self) -> BTreeSet<String> {
        self.used.as_ref().map(|used| locked(used).clone()).unwrap_or_default()
    }
}

impl Environment for LoadEnvironment {
    fn variable(&self, name: &str) -> Option<String> {
        if let Some(used) = &self.used {
            locked(used).insert(name.to_owned());
        }
        ProcessEnvironment.variable(name)
    }
}
