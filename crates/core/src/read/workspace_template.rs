//! The template of a workspace: what is in it, and what must not be (spec 17.1).

use std::collections::HashSet;
use std::sync::{Arc, OnceLock};

use camino::{Utf8Path, Utf8PathBuf};
use sha2::{Digest, Sha256};

use crate::diagnostic::{Diagnostic, declare_codes};
use crate::model::IgnoreList;
use crate::source::{Files, Reach, Span, TreeListing, list_tree};
use crate::syntax::fields::shorten;

use super::loader::Loader;
use super::workspace_answers::WorkspacePart;

declare_codes! {
    LINK_OUTSIDE_TEMPLATE = "link-outside-template", BlocksRun, Reference, r#"A symbolic link in the template of a workspace leads out of it, or has an absolute target: then its copy leads to the
template.

## Example
```text
template: ./shop, and in it a link `config -> ../../config`
```

## Instead
```text
a copy of the file in the template
```

## Why
The copy that a case gets must be whole: through the link the agent would see, or change, files that all cases share.
"#;
    SPECIAL_FILE_IN_TEMPLATE = "special-file-in-template", BlocksRun, Reference, r#"The template of a workspace contains a FIFO, a socket or a device.

## Example
```text
template: ./shop, and in it a FIFO `events`
```

## Instead
```text
template: ./shop, setup: mkfifo events
```

## Why
Such a file cannot be copied, so no case would get a workspace.
"#;
    ANSWER_IN_WORKSPACE = "answer-in-workspace", Warning, Reference, r#"The agent finds the answer in its workspace: the template contains the suite, a judge, hidden tests, or a file that is
the expected output. A repository with such files is checked out without them and without its history, so there the
agent finds neither the answer nor what `git log` would show.

## Example
```yaml shop/EVAL.yaml
name: demo
workspace: .
tests:
  - {id: a, criteria: Fixes the bug, input: Fix the bug}
```

## Instead
```yaml EVAL.yaml
name: demo
workspace: ./shop
tests:
  - {id: a, criteria: Fixes the bug, input: Fix the bug}
```
```js shop/cart.js
let total = 0
```

## Why
An agent that looks around finds what it is judged by, and the result says nothing about its work. In a repository it
could also read the files of an earlier commit: if the agent needs the history, keep the suite in a repository of its
own, or check out a commit from before the suite.
"#;
}

/// Names that are looked at; what a larger template contains is not checked.
const MOST_NAMES: usize = 100_000;

/// Files that are compared with expected outputs: how many, and how large they may be.
const MOST_ANSWERS: usize = 2_000;
const LARGEST_ANSWER: u64 = 64 * 1024;
/// Shorter texts, such as `42`, are in files by chance.
const SHORTEST_ANSWER: usize = 16;

/// `.gitignore` files that are read, and how far. Where there are more, none is.
const MOST_GITIGNORES: usize = 100;
const LARGEST_GITIGNORE: u64 = 64 * 1024;

/// What is known of a template.
#[derive(Debug)]
pub(super) struct TemplateFacts {
    /// Absolute.
    pub(super) path: Utf8PathBuf,
    /// Where it is written.
    pub(super) span: Span,
    content: Arc<TemplateContent>,
}

/// The files of a template, looked at once however many tests name it.
#[derive(Debug)]
pub(super) struct TemplateContent {
    tree: TreeListing,
    /// By directory.
    gitignores: Vec<(String, IgnoreList)>,
    /// Of the trimmed texts of its small files; computed when a test has an expected output.
    digests: OnceLock<HashSet<[u8; 32]>>,
}

impl TemplateFacts {
    /// Every file, unless there are too many.
    pub(super) fn complete_files(&self) -> Option<&[String]> {
        let tree = &self.content.tree;
        tree.is_complete.then_some(&tree.files)
    }

    /// As many as were looked at.
    pub(super) fn files(&self) -> &[String] {
        &self.content.tree.files
    }

    pub(super) fn gitignores(&self) -> &[(String, IgnoreList)] {
        &self.content.gitignores
    }

    fn digests(&self, files: &dyn Files) -> &HashSet<[u8; 32]> {
        let content = &self.content;
        content.digests.get_or_init(|| {
            let paths = content.tree.files.iter().take(MOST_ANSWERS);
            let read = |path: &String| {
                let path = self.path.join(path);
                let bytes =
                    files.read(&path, Reach::Inside(&self.path), LARGEST_ANSWER + 1).ok()?;
                let is_small = bytes.len() as u64 <= LARGEST_ANSWER;
                is_small.then(|| Sha256::digest(bytes.trim_ascii()).into())
            };
            paths.filter_map(read).collect()
        })
    }

    pub(super) fn holds(&self, text: &str, files: &dyn Files) -> bool {
        let text = text.trim_matches(|c: char| c.is_ascii_whitespace());
        let digest: [u8; 32] = Sha256::digest(text.as_bytes()).into();
        text.len() >= SHORTEST_ANSWER && self.digests(files).contains(&digest)
    }
}

impl Loader<'_, '_> {
    /// The facts of a template. Its faults are reported where it is written.
    pub(super) fn template_at(&mut self, path: Utf8PathBuf, span: Span) -> Arc<TemplateFacts> {
        let files = self.reader.world.files;
        let content = self.templates.entry(path.clone()).or_insert_with(|| {
            let tree = list_tree(files, &path, MOST_NAMES);
            let gitignores = read_gitignores(files, &path, &tree);
            Arc::new(TemplateContent { tree, gitignores, digests: OnceLock::new() })
        });
        let content = content.clone();
        for link in &content.tree.outside {
            let message = format!("the link `{}` leads out of the template", shorten(link));
            let help = "replace it by a copy of what it leads to";
            let fault = Diagnostic::new(&LINK_OUTSIDE_TEMPLATE, span, message);
            self.reader.report(fault.help(help));
        }
        for link in &content.tree.absolute {
            let message = format!(
                "the link `{}` is absolute, so in a copy of the template it leads out of it",
                shorten(link)
            );
            let fault = Diagnostic::new(&LINK_OUTSIDE_TEMPLATE, span, message);
            self.reader.report(fault.help("make it relative: `ln -sr`"));
        }
        if let Some(special) = content.tree.special.first() {
            let message = format!(
                "`{}` in the template is not a file, a directory or a link",
                shorten(special)
            );
            let fault = Diagnostic::new(&SPECIAL_FILE_IN_TEMPLATE, span, message);
            self.reader
                .report(fault.help("remove it, and make it in `setup` if the agent needs it"));
        }
        let facts = TemplateFacts { path, span, content };
        self.report_suite_in(WorkspacePart::Template(&facts));
        self.report_own_files(&facts);
        Arc::new(facts)
    }
}

fn read_gitignores(
    files: &dyn Files,
    template: &Utf8Path,
    tree: &TreeListing,
) -> Vec<(String, IgnoreList)> {
    let directory = |path: &str| match path.strip_suffix(".gitignore")? {
        "" => Some(String::new()),
        parent => Some(parent.strip_suffix('/')?.to_owned()),
    };
    let found = tree.files.iter().filter_map(|path| Some((directory(path)?, path)));
    let found: Vec<_> = found.take(MOST_GITIGNORES + 1).collect();
    if found.len() > MOST_GITIGNORES {
        return Vec::new();
    }
    let read = found.into_iter().filter_map(|(directory, path)| {
        let bytes =
            files.read(&template.join(path), Reach::Inside(template), LARGEST_GITIGNORE).ok()?;
        let text = String::from_utf8_lossy(&bytes);
        let lines = text.trim_start_matches('\u{feff}').lines().map(str::to_owned).collect();
        Some((directory, IgnoreList::new(lines)))
    });
    read.collect()
}
