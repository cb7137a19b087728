//! What a suite file passes down to its tests. Levels form a chain on the stack, from the nearest
//! file to the main one.

use std::sync::Arc;

use camino::Utf8PathBuf;

use crate::model::{Assertion, Execution, Message};
use crate::syntax::Node;

use super::workspace::WorkspaceLayer;

#[derive(Debug)]
pub(super) struct InheritedDefaults<'p> {
    pub(super) parent: Option<&'p InheritedDefaults<'p>>,
    /// Where paths of this level's fields start.
    pub(super) directory: Utf8PathBuf,
    /// `assert`, then `execution.assert`.
    pub(super) assertions: Vec<Arc<Assertion>>,
    /// Some of them are missing because they are wrong, which has been reported.
    pub(super) faulty: bool,
    /// Root `input`, read without test variables.
    pub(super) input: Vec<Message>,
    /// The same, to be read again for a test that has variables.
    pub(super) input_node: Option<Node<'p>>,
    pub(super) input_files: Option<Node<'p>>,
    pub(super) execution: Execution,
    pub(super) workspace: WorkspaceLayer,
}

impl<'p> InheritedDefaults<'p> {
    /// A file that passes nothing down.
    pub(super) fn plain(parent: Option<&'p InheritedDefaults<'p>>, directory: Utf8PathBuf) -> Self {
        Self {
            parent,
            directory,
            assertions: Vec::new(),
            faulty: false,
            input: Vec::new(),
            input_node: None,
            input_files: None,
            execution: Execution::default(),
            workspace: WorkspaceLayer::default(),
        }
    }

    /// This level, then its parents.
    pub(super) fn chain(&self) -> impl Iterator<Item = &InheritedDefaults<'p>> {
        std::iter::successors(Some(self), |level| level.parent)
    }

    /// The settings of the nearest file that has them.
    pub(super) fn execution(&self) -> Execution {
        self.chain()
            .filter(|level| !level.execution.is_empty())
            .fold(Execution::default(), |found, level| found.or(&level.execution))
    }
}
