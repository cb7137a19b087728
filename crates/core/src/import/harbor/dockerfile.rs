//! The Dockerfile of a task: what of it a workspace can express, and what it cannot, line by line.

use camino::{Utf8Path, Utf8PathBuf};

use crate::source::{EntryKind, SourceId, Span};

use super::super::importer::Importer;

/// Where tasks work if the Dockerfile does not say it.
const USUAL_WORKDIR: &str = "/app";

/// What a workspace takes from a Dockerfile.
#[derive(Debug)]
pub(super) struct TaskImage {
    /// The image that it starts from.
    pub(super) base: Option<String>,
    pub(super) workdir: String,
    /// The directory that becomes the working directory; absolute.
    pub(super) template: Option<Utf8PathBuf>,
}

impl Default for TaskImage {
    fn default() -> Self {
        Self { base: None, workdir: USUAL_WORKDIR.to_owned(), template: None }
    }
}

/// `context` is the directory of the Dockerfile, from which it copies.
pub(super) fn read_dockerfile(
    importer: &mut Importer<'_>,
    context: &Utf8Path,
    hidden: &[&str],
) -> TaskImage {
    let path = context.join("Dockerfile");
    let mut image = TaskImage::default();
    let Some(text) = importer.read_text(&path) else { return image };
    let source = importer.sources.add_file(path, text.clone(), 0);
    let mut build = Build { importer, context, hidden, image: &mut image, has_workdir: false };
    for instruction in instructions(source, &text) {
        build.follow(&instruction);
    }
    image
}

struct Build<'a, 'r> {
    importer: &'a mut Importer<'r>,
    context: &'a Utf8Path,
    /// What is in the context and must not reach the agent.
    hidden: &'a [&'a str],
    image: &'a mut TaskImage,
    has_workdir: bool,
}

impl Build<'_, '_> {
    fn follow(&mut self, instruction: &Instruction<'_>) {
        let words: Vec<&str> = instruction.rest.split_whitespace().collect();
        match instruction.keyword.to_ascii_uppercase().as_str() {
            "FROM" => self.start(instruction, &words),
            "WORKDIR" => {
                let path = self.in_workdir(instruction.rest.trim());
                self.image.workdir = path;
                self.has_workdir = true;
            }
            "COPY" | "ADD" => self.copy(instruction, &words),
            "LABEL" | "MAINTAINER" | "CMD" | "ENTRYPOINT" | "EXPOSE" | "SHELL" | "STOPSIGNAL" => {}
            _ => self.left_out(instruction, "build the image and name it in `workspace.docker`"),
        }
    }

    fn start(&mut self, instruction: &Instruction<'_>, words: &[&str]) {
        if self.image.base.is_some() {
            return self.left_out(instruction, "build the image and name it in `workspace.docker`");
        }
        let image = words.iter().find(|word| !word.starts_with("--"));
        self.image.base = image.map(|image| (*image).to_owned());
    }

    /// Only one whole directory can become the workspace.
    fn copy(&mut self, instruction: &Instruction<'_>, words: &[&str]) {
        let is_option = |word: &&&str| word.starts_with("--") || word.starts_with('[');
        let plain = words.iter().all(|word| !is_option(&word));
        if let [from, to] = words
            && plain
            && self.image.template.is_none()
            && self.in_workdir(to) == self.image.workdir
            && let Some(directory) = self.directory(from)
        {
            self.image.template = Some(directory);
            return;
        }
        self.left_out(instruction, "put these files into the template of the workspace");
    }

    fn directory(&self, from: &str) -> Option<Utf8PathBuf> {
        let path = self.context.join(from.trim_start_matches('/'));
        let is_context = from.trim_matches('/') == "." || from.is_empty();
        let has_hidden =
            is_context && self.hidden.iter().any(|name| self.importer.exists(&path.join(name)));
        let leaves = from.split('/').any(|part| part == "..");
        let files = self.importer.request.files;
        let facts = files.look(&path, self.importer.request.reach).ok()?;
        let is_directory = facts.kind == EntryKind::Directory;
        (is_directory && !has_hidden && !leaves).then_some(path)
    }

    /// An absolute path without a slash at its end.
    fn in_workdir(&self, path: &str) -> String {
        let path = path.trim_matches('"').trim_end_matches("/.").trim_end_matches('/');
        let workdir = &self.image.workdir;
        match path.strip_prefix("./").unwrap_or(path) {
            "" | "." => workdir.clone(),
            absolute if absolute.starts_with('/') => absolute.to_owned(),
            relative if self.has_workdir => format!("{workdir}/{relative}"),
            relative => format!("/{relative}"),
        }
    }

    fn left_out(&mut self, instruction: &Instruction<'_>, remedy: &str) {
        let keyword = instruction.keyword.to_ascii_uppercase();
        let message = format!("`{keyword}` is left out: {remedy}");
        self.importer.loss("image", instruction.span, message);
    }
}

/// One instruction with its continued lines.
#[derive(Debug, PartialEq)]
struct Instruction<'t> {
    keyword: &'t str,
    rest: &'t str,
    /// Of its first line.
    span: Span,
}

fn instructions(source: SourceId, text: &str) -> Vec<Instruction<'_>> {
    let mut found = Vec::new();
    let mut start = 0;
    let mut lines = text.split_inclusive('\n');
    while let Some(line) = lines.next() {
        let mut end = start + line.len();
        let is_comment = line.trim_start().starts_with('#');
        if !is_comment && !line.trim().is_empty() {
            let mut last = line;
            while last.trim_end().ends_with('\\') {
                let Some(next) = lines.next() else { break };
                end += next.len();
                last = if next.trim_start().starts_with('#') { last } else { next };
            }
            let whole = text[start..end].trim();
            let (keyword, rest) = whole.split_once(char::is_whitespace).unwrap_or((whole, ""));
            let indent = line.len() - line.trim_start().len();
            let first_line = (start + indent) as u32..(start + line.trim_end().len()) as u32;
            let span = Span::new(source, first_line.start, first_line.end);
            found.push(Instruction { keyword, rest, span });
        }
        start = end;
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::Sources;

    #[test]
    fn continued_lines_and_comments_belong_to_their_instruction() {
        let text = "# x\nFROM a\n\nRUN b \\\n # c\n  && d\n  workdir /e\nRUN f \\";
        let mut sources = Sources::new();
        let source = sources.add_file("/Dockerfile".into(), text.to_owned(), 0);
        let found = instructions(source, text);
        let lines: Vec<u32> = found.iter().map(|one| sources.line(one.span)).collect();
        let words: Vec<(&str, &str)> = found.iter().map(|one| (one.keyword, one.rest)).collect();
        assert_eq!(lines, [2, 4, 7, 8]);
        assert_eq!(words[0], ("FROM", "a"));
        assert_eq!(words[1], ("RUN", "b \\\n # c\n  && d"));
        assert_eq!(words[2], ("workdir", "/e"));
    }
}
