//! Whether an agent finds in its workspace what it is judged by (spec 17.1).

use std::sync::Arc;

use camino::Utf8Path;

use crate::diagnostic::Diagnostic;
use crate::model::{Assertion, Expected, RepoOrigin, WorkspaceRepo};
use crate::source::{Files, Span, Spanned};
use crate::syntax::fields::shorten;

use super::loader::Loader;
use super::workspace_template::{ANSWER_IN_WORKSPACE, TemplateFacts};

/// Where files of a workspace come from.
#[derive(Debug, Clone, Copy)]
pub(super) enum WorkspacePart<'a> {
    Template(&'a TemplateFacts),
    /// A repository on this machine. What is in its commits is not known, but usually what is in its
    /// directory.
    Repo {
        repo: &'a WorkspaceRepo,
        directory: &'a Utf8Path,
        span: Span,
    },
}

impl<'a> WorkspacePart<'a> {
    /// `None` for a repository elsewhere.
    pub(super) fn of_repo(repo: &'a Spanned<WorkspaceRepo>) -> Option<Self> {
        let RepoOrigin::Path(path) = &repo.value.origin else { return None };
        let above = path.parent().filter(|_| path.file_name() == Some(".git"));
        let directory = above.unwrap_or(path);
        Some(Self::Repo { repo: &repo.value, directory, span: repo.span })
    }

    fn directory(self) -> &'a Utf8Path {
        match self {
            Self::Template(template) => &template.path,
            Self::Repo { directory, .. } => directory,
        }
    }

    fn span(self) -> Span {
        match self {
            Self::Template(template) => template.span,
            Self::Repo { span, .. } => span,
        }
    }

    fn noun(self) -> &'static str {
        match self {
            Self::Template(_) => "template",
            Self::Repo { .. } => "repository",
        }
    }

    /// Whether a file, which has an absolute path, gets into the workspace.
    fn holds_file(self, path: &Utf8Path) -> bool {
        let Ok(below) = path.strip_prefix(self.directory()) else { return false };
        match self {
            Self::Template(_) => true,
            Self::Repo { repo, .. } => is_checked_out(below, &repo.sparse),
        }
    }

    /// Whether a file in it has this text and nothing else.
    fn holds_text(self, text: &str, files: &dyn Files) -> bool {
        match self {
            Self::Template(template) => template.holds(text, files),
            Self::Repo { .. } => false,
        }
    }

    fn report(self, place: Span, what: &str) -> Diagnostic {
        let message = format!("the {} contains {what}", self.noun());
        let help = match self {
            Self::Template(_) => "move it out of the template, so that the agent does not find it",
            Self::Repo { .. } => {
                "it is checked out without that and without its history; if the agent needs the \
                 history, keep the suite in another repository"
            }
        };
        let fault = Diagnostic::new(&ANSWER_IN_WORKSPACE, place, message).help(help);
        if place == self.span() {
            fault
        } else {
            fault.related(self.span(), self.noun_with_article())
        }
    }

    fn noun_with_article(self) -> &'static str {
        match self {
            Self::Template(_) => "the template",
            Self::Repo { .. } => "the repository",
        }
    }
}

/// `sparse` of git, in its cone mode: these directories, and the files in the directories above them.
fn is_checked_out(path: &Utf8Path, sparse: &[String]) -> bool {
    let parent = path.parent().unwrap_or(path);
    sparse.is_empty()
        || sparse.iter().any(|one| path.starts_with(one) || Utf8Path::new(one).starts_with(parent))
}

/// Whether a path leads through one of the directories that evalrig keeps its files in.
fn is_own_file(path: &str) -> bool {
    let below = format!("/{path}");
    ["/.evalrig/", "/.agentv/", "/.co/evals/"].iter().any(|own| below.contains(own))
}

impl Loader<'_, '_> {
    pub(super) fn report_suite_in_repos(&mut self, repos: &[Spanned<WorkspaceRepo>]) {
        for part in repos.iter().filter_map(WorkspacePart::of_repo) {
            self.report_suite_in(part);
        }
    }

    /// Whether one of the files that lead to the one being read is in the workspace.
    pub(super) fn report_suite_in(&mut self, part: WorkspacePart<'_>) {
        if let Some(file) = self.chain.iter().find(|file| part.holds_file(file)) {
            let what = format!("the suite: `{}`", self.reader.shown(file));
            self.reader.report(part.report(part.span(), &what));
        }
    }

    /// Whether the template has targets, judges or results of evalrig, of whatever suite.
    pub(super) fn report_own_files(&mut self, template: &TemplateFacts) {
        let part = WorkspacePart::Template(template);
        if let Some(file) = template.files().iter().find(|file| is_own_file(file)) {
            let what = format!("targets, judges or results of evalrig: `{}`", shorten(file));
            self.reader.report(part.report(part.span(), &what));
        }
    }

    /// Whether a part of the workspace holds what the test is judged by.
    pub(super) fn report_answers(
        &mut self,
        part: WorkspacePart<'_>,
        test: Span,
        expected: Option<&Expected>,
        assertions: &[Arc<Assertion>],
    ) {
        let source = self.reader.sources.get(test.source).path();
        if part.holds_file(source) {
            let what = format!("the suite: `{}`", self.reader.shown(source));
            self.reader.report(part.report(part.span(), &what));
        }
        if let Some(expected) = expected {
            let is_inside = expected.files().iter().any(|path| part.holds_file(path));
            let text = expected.text();
            let is_known = |text: &str| part.holds_text(text, self.reader.world.files);
            if is_inside || text.as_deref().is_some_and(is_known) {
                self.reader.report(part.report(test, "the expected output of this test"));
            }
        }
        let mut open: Vec<&Assertion> = assertions.iter().map(|one| &**one).collect();
        while let Some(assertion) = open.pop() {
            open.extend(assertion.check.members().iter().map(|member| &*member.assertion));
            // A directory around it says nothing about which of its files are hidden.
            let (own, directory) = (part.directory(), assertion.check.hidden_directory());
            if directory.is_some_and(|it| it != own && own.starts_with(it)) {
                continue;
            }
            let files = assertion.check.hidden_files();
            if let Some(file) = files.iter().find(|path| part.holds_file(path)) {
                let what = format!("a file of this check: `{}`", self.reader.shown(file));
                self.reader.report(part.report(assertion.common.head, &what));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sparse_checkout_has_the_files_above_its_directories() {
        let sparse = ["src/shop".to_owned()];
        for (path, expected) in [
            ("EVAL.yaml", true),
            ("src/EVAL.yaml", true),
            ("src/shop/EVAL.yaml", true),
            ("src/shop/deep/EVAL.yaml", true),
            ("src/other/EVAL.yaml", false),
            ("evals/EVAL.yaml", false),
        ] {
            assert_eq!(is_checked_out(path.into(), &sparse), expected, "{path}");
            assert!(is_checked_out(path.into(), &[]));
        }
    }
}
