//! The examples that `init --example` writes. They are those of the repository.

use camino::Utf8Path;

use crate::args::InitExample;

use super::NewFile;

/// A file of an example: its path, its content, what it is.
type ExampleFile = (&'static str, &'static str, &'static str);

const CODING_AGENT: &[ExampleFile] = &[
    (
        "EVAL.yaml",
        include_str!("../../../templates/examples/coding-agent/EVAL.yaml"),
        "two tests of a coding agent",
    ),
    (
        ".evalrig/targets.yaml",
        include_str!("../../../templates/examples/coding-agent/.evalrig/targets.yaml"),
        "the agent, and a mock as judge",
    ),
    (
        "agent/agent.py",
        include_str!("../../../templates/examples/coding-agent/agent/agent.py"),
        "stands in for the agent; needs python3",
    ),
    (
        "hidden/hidden_test.py",
        include_str!("../../../templates/examples/coding-agent/hidden/hidden_test.py"),
        "tests that the agent does not see",
    ),
    (
        "shop/README.md",
        include_str!("../../../templates/examples/coding-agent/shop/README.md"),
        "the template: each case works in a copy of shop",
    ),
    (
        "shop/src/prices.py",
        include_str!("../../../templates/examples/coding-agent/shop/src/prices.py"),
        "the bug",
    ),
];

impl InitExample {
    fn parts(self) -> &'static [ExampleFile] {
        match self {
            Self::CodingAgent => CODING_AGENT,
        }
    }

    pub(super) fn files(self, directory: &Utf8Path) -> Vec<NewFile> {
        let file = |&(path, content, what): &ExampleFile| NewFile {
            path: directory.join(path),
            content: content.to_owned(),
            what,
        };
        self.parts().iter().map(file).collect()
    }
}
