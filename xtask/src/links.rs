//! Links of all Markdown pages in the repository: relative paths, anchors, and addresses of this repository's own
//! files. Other addresses are not fetched.

use std::collections::{BTreeMap, BTreeSet};
use std::{fs, io};

use camino::{Utf8Path, Utf8PathBuf};

/// Pages of the book link to files outside `docs/` by address, because the book is published without them.
const OWN_FILES: &str = "https://github.com/evalrig/evalrig/blob/main/";
const OWN_DIRECTORIES: &str = "https://github.com/evalrig/evalrig/tree/main/";

/// The source of the book, and its table of contents.
const BOOK: &str = "docs";
const CONTENTS: &str = "docs/SUMMARY.md";

/// Directories without pages of our own.
const SKIPPED: &[&str] = &["target", "node_modules", "corpus", "artifacts"];

/// The pages of the repository, by path.
#[derive(Debug, Default)]
pub struct Pages {
    pages: BTreeMap<Utf8PathBuf, Page>,
}

#[derive(Debug, Default)]
struct Page {
    /// Line numbers and targets.
    links: Vec<(usize, String)>,
    anchors: BTreeSet<String>,
}

impl Pages {
    /// Reads every `*.md` below the workspace.
    pub fn read(workspace: &Utf8Path) -> io::Result<Self> {
        let mut pages = Self::default();
        pages.read_directory(workspace, Utf8Path::new(""))?;
        Ok(pages)
    }

    fn read_directory(&mut self, workspace: &Utf8Path, directory: &Utf8Path) -> io::Result<()> {
        for entry in workspace.join(directory).read_dir_utf8()? {
            let entry = entry?;
            let path = directory.join(entry.file_name());
            let is_hidden = entry.file_name().starts_with('.') && entry.file_name() != ".github";
            if entry.file_type()?.is_dir() {
                if !is_hidden && !SKIPPED.contains(&entry.file_name()) {
                    self.read_directory(workspace, &path)?;
                }
            } else if path.extension() == Some("md") {
                let text = fs::read_to_string(entry.path())?;
                self.pages.insert(path, Page::parse(&text));
            }
        }
        Ok(())
    }

    pub fn len(&self) -> usize {
        self.pages.len()
    }

    pub fn is_empty(&self) -> bool {
        self.pages.is_empty()
    }

    /// Every link that leads nowhere, as `FILE:LINE: reason`.
    pub fn broken(&self, workspace: &Utf8Path) -> Vec<String> {
        let mut broken = Vec::new();
        for (path, page) in &self.pages {
            for (line, link) in &page.links {
                if let Err(reason) = self.follow(workspace, path, link) {
                    broken.push(format!("{path}:{line}: {reason}"));
                }
            }
        }
        broken.extend(self.missing_from_the_book());
        broken
    }

    fn follow(&self, workspace: &Utf8Path, from: &Utf8Path, link: &str) -> Result<(), String> {
        let own = [OWN_FILES, OWN_DIRECTORIES].iter().find_map(|start| link.strip_prefix(start));
        if own.is_none() && has_scheme(link) {
            return Ok(());
        }
        let (target, anchor) =
            own.unwrap_or(link).split_once('#').unwrap_or((own.unwrap_or(link), ""));
        let path = match (own, target) {
            (Some(_), _) => Utf8PathBuf::from(target),
            (None, "") => from.to_owned(),
            (None, _) => {
                resolved(from, target).ok_or_else(|| format!("`{link}` leaves the repository"))?
            }
        };
        if own.is_none() && from.starts_with(BOOK) && !path.starts_with(BOOK) {
            return Err(format!("`{link}` leaves the book; link to {OWN_FILES}{path}"));
        }
        if !workspace.join(&path).exists() {
            return Err(format!("`{link}`: no such file: {path}"));
        }
        match self.pages.get(&path) {
            Some(page) if !anchor.is_empty() && !page.anchors.contains(anchor) => {
                Err(format!("`{link}`: {path} has no heading `#{anchor}`"))
            }
            _ => Ok(()),
        }
    }

    /// mdBook leaves out pages that its table of contents does not list.
    fn missing_from_the_book(&self) -> Vec<String> {
        let contents = Utf8Path::new(CONTENTS);
        let Some(summary) = self.pages.get(contents) else {
            return Vec::new();
        };
        let listed: BTreeSet<Utf8PathBuf> =
            summary.links.iter().filter_map(|(_, link)| resolved(contents, link)).collect();
        self.pages
            .keys()
            .filter(|path| path.starts_with(BOOK) && *path != contents && !listed.contains(*path))
            .map(|path| format!("{path}: not listed in {CONTENTS}"))
            .collect()
    }
}

fn has_scheme(link: &str) -> bool {
    link.split_once(':')
        .is_some_and(|(scheme, _)| scheme.chars().all(|c| c.is_ascii_alphanumeric()))
}

/// A relative link as a path from the workspace; `None` when it leads out.
fn resolved(from: &Utf8Path, link: &str) -> Option<Utf8PathBuf> {
    let mut path = from.parent()?.to_owned();
    for part in link.split('/') {
        match part {
            "" | "." => {}
            ".." if !path.pop() => return None,
            ".." => {}
            part => path.push(part),
        }
    }
    Some(path)
}

impl Page {
    fn parse(text: &str) -> Self {
        let mut page = Self::default();
        let mut fence: Option<&str> = None;
        for (index, line) in text.lines().enumerate() {
            let mark = fence_mark(line);
            match (fence, mark) {
                (Some(open), Some(mark)) if mark.starts_with(open) => fence = None,
                (Some(_), _) => {}
                (None, Some(mark)) => fence = Some(mark),
                (None, None) => page.read_line(index + 1, line),
            }
        }
        page
    }

    fn read_line(&mut self, number: usize, line: &str) {
        if let Some(title) = heading(line) {
            self.add_anchor(&slug(title));
        }
        let line = without_code(line);
        for mark in ["id=\"", "name=\""] {
            for rest in line.split(mark).skip(1) {
                self.anchors.extend(rest.split('"').next().map(str::to_owned));
            }
        }
        for rest in line.split("](").skip(1) {
            if let Some(link) = rest.split([')', ' ']).next() {
                self.links.push((number, link.to_owned()));
            }
        }
        let definition = line
            .strip_prefix('[')
            .and_then(|rest| rest.split_once(']'))
            .and_then(|(_, rest)| rest.strip_prefix(": "));
        if let Some(link) = definition {
            self.links.push((number, link.trim().to_owned()));
        }
    }

    /// The second heading of the same name is `name-1`.
    fn add_anchor(&mut self, slug: &str) {
        let numbered = (1..).map(|number| format!("{slug}-{number}"));
        let free =
            [slug.to_owned()].into_iter().chain(numbered).find(|name| !self.anchors.contains(name));
        self.anchors.extend(free);
    }
}

/// The backticks or tildes that open or close a fenced block.
fn fence_mark(line: &str) -> Option<&str> {
    let line = line.trim_start();
    ['`', '~'].into_iter().find_map(|sign| {
        let length = line.len() - line.trim_start_matches(sign).len();
        (length >= 3).then(|| &line[..length])
    })
}

fn heading(line: &str) -> Option<&str> {
    let title = line.trim_start_matches('#');
    let depth = line.len() - title.len();
    (1..=6).contains(&depth).then(|| title.strip_prefix(' '))?
}

/// As GitHub and mdBook name a heading.
fn slug(title: &str) -> String {
    title
        .trim()
        .to_lowercase()
        .chars()
        .filter_map(|c| match c {
            ' ' => Some('-'),
            c if c.is_alphanumeric() || c == '-' || c == '_' => Some(c),
            _ => None,
        })
        .collect()
}

/// The line without its code spans.
fn without_code(line: &str) -> String {
    line.split('`').step_by(2).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn broken(files: &[(&str, &str)]) -> Vec<String> {
        let directory = tempfile::tempdir().unwrap();
        let workspace = Utf8Path::from_path(directory.path()).unwrap();
        for (path, text) in files {
            let path = workspace.join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        Pages::read(workspace).unwrap().broken(workspace)
    }

    #[test]
    fn links_to_files_and_headings_are_followed() {
        let page = "# Title\n\n## Two words, a `code`\n\n## Twice\n\n## Twice\n\n[a](other.md#here) [b](#two-words-a-code) \
                    [c](#twice-1)\n[d](../a/other.md) [e](https://example.org/x) [f]: unused\n";
        let other = "## Here\n\n<a id=\"mark\"></a>\n\n[up](page.md#title)\n[mark](#mark)\n";
        assert_eq!(broken(&[("a/page.md", page), ("a/other.md", other)]), [""; 0]);
    }

    #[test]
    fn links_that_lead_nowhere_are_named_with_their_line() {
        let page = "# Title\n\n[a](gone.md)\n[b](#gone) [c](../../x.md)\n\n[d]: other.md\n";
        assert_eq!(
            broken(&[("a/page.md", page)]),
            [
                "a/page.md:3: `gone.md`: no such file: a/gone.md",
                "a/page.md:4: `#gone`: a/page.md has no heading `#gone`",
                "a/page.md:4: `../../x.md` leaves the repository",
                "a/page.md:6: `other.md`: no such file: a/other.md",
            ]
        );
    }

    #[test]
    fn code_has_no_links() {
        let page = "`[a](gone)` and\n\n````\n```\n[b](gone)\n````\n";
        assert_eq!(broken(&[("page.md", page)]), [""; 0]);
    }

    #[test]
    fn the_book_links_out_by_address_and_lists_its_pages() {
        let address = format!("[x]({OWN_FILES}README.md#x) [y]({OWN_FILES}gone.md)");
        let files = [
            ("README.md", "# X"),
            ("docs/SUMMARY.md", "[a](a.md)"),
            ("docs/a.md", &format!("[out](../README.md)\n{address}")),
            ("docs/b.md", ""),
        ];
        assert_eq!(
            broken(&files),
            [
                format!(
                    "docs/a.md:1: `../README.md` leaves the book; link to {OWN_FILES}README.md"
                ),
                format!("docs/a.md:2: `{OWN_FILES}gone.md`: no such file: gone.md"),
                "docs/b.md: not listed in docs/SUMMARY.md".to_owned(),
            ]
        );
    }
}
