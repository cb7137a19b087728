//! Which directories hold cases of `claude plugin eval` (spec 15.5).

use camino::{Utf8Path, Utf8PathBuf};

use crate::model::{Map, Value};
use crate::source::{EntryKind, Files, Reach, without_dots};
use crate::syntax::json_value;

use super::discover::is_hidden;

/// The directory of cases in a plugin, unless its manifest names another.
pub(super) const EVALS: &str = "evals";
pub(super) const CASE: &str = "case.yaml";
pub(super) const PROMPT: &str = "prompt.md";
const GRADERS: &str = "graders";
/// What `claude plugin eval` writes and reads beside the cases.
const RESULTS: &str = "results";
pub(super) const MOCKS: &str = "mocks";

/// Cases may be grouped in directories, but not deeper than this.
const DEEPEST: usize = 8;
/// How much of a `case.yaml` is searched for its version.
const FIRST_BYTES: u64 = 64 * 1024;
/// More than any manifest of a plugin.
const MANIFEST_LIMIT: u64 = 1024 * 1024;

/// How far below a directory its cases may be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum CaseDepth {
    /// In the directory itself: for a directory of any name.
    Direct,
    Any,
}

/// The files of one case; at least one of the first two is there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct CaseFiles {
    pub(super) directory: Utf8PathBuf,
    pub(super) case: Option<Utf8PathBuf>,
    pub(super) prompt: Option<Utf8PathBuf>,
    /// In byte order.
    pub(super) graders: Vec<Utf8PathBuf>,
}

/// Whether a directory holds at least one case, or is one.
pub(super) fn has_cases(files: &dyn Files, directory: &Utf8Path, depth: CaseDepth) -> bool {
    let mut search = CaseSearch { files, reach: Reach::Anywhere, found: Vec::new(), most: 1 };
    search.from(directory, depth);
    !search.found.is_empty()
}

/// The directory of the case that a `case.yaml` or `prompt.md` belongs to: a suite of one test.
pub fn case_directory(files: &dyn Files, path: &Utf8Path) -> Option<Utf8PathBuf> {
    let directory = path.parent()?;
    let is_part = matches!(path.file_name(), Some(CASE | PROMPT));
    let search = CaseSearch { files, reach: Reach::Anywhere, found: Vec::new(), most: 1 };
    (is_part && search.case_in(directory).is_some()).then(|| directory.to_owned())
}

/// Whether a directory that the user named is a suite of `claude plugin eval`. In one that is not called
/// `evals`, the cases must be direct.
pub fn holds_cases(files: &dyn Files, directory: &Utf8Path) -> bool {
    let is_usual = directory.file_name() == Some(EVALS);
    has_cases(files, directory, if is_usual { CaseDepth::Any } else { CaseDepth::Direct })
}

/// All cases of a directory, in byte order of their paths; the directory itself if it is one.
pub(super) fn find_cases(
    files: &dyn Files,
    directory: &Utf8Path,
    reach: Reach<'_>,
) -> Vec<CaseFiles> {
    let mut search = CaseSearch { files, reach, found: Vec::new(), most: usize::MAX };
    search.from(directory, CaseDepth::Any);
    search.found
}

struct CaseSearch<'a> {
    files: &'a dyn Files,
    reach: Reach<'a>,
    found: Vec<CaseFiles>,
    most: usize,
}

impl CaseSearch<'_> {
    fn from(&mut self, directory: &Utf8Path, depth: CaseDepth) {
        match self.case_in(directory) {
            Some(case) => self.found.push(case),
            None => self.below(directory, depth, 0),
        }
    }

    fn below(&mut self, directory: &Utf8Path, depth: CaseDepth, level: usize) {
        let is_too_deep = level > DEEPEST || (depth == CaseDepth::Direct && level > 0);
        if is_too_deep {
            return;
        }
        for entry in self.files.list(directory, self.reach).unwrap_or_default().entries {
            let is_other = level == 0 && [RESULTS, MOCKS].contains(&entry.name.as_str());
            if entry.kind != EntryKind::Directory
                || entry.is_link
                || is_hidden(&entry.name)
                || is_other
                || self.found.len() >= self.most
            {
                continue;
            }
            let path = directory.join(&entry.name);
            match self.case_in(&path) {
                Some(case) => self.found.push(case),
                None => self.below(&path, depth, level + 1),
            }
        }
    }

    fn case_in(&self, directory: &Utf8Path) -> Option<CaseFiles> {
        let entries = self.files.list(directory, self.reach).ok()?.entries;
        let has = |name: &str, kind: EntryKind| {
            let is_it =
                |entry: &&crate::source::DirectoryEntry| entry.name == name && entry.kind == kind;
            entries.iter().find(is_it).map(|_| directory.join(name))
        };
        let prompt = has(PROMPT, EntryKind::File);
        let graders = has(GRADERS, EntryKind::Directory);
        let case =
            has(CASE, EntryKind::File).filter(|path| prompt.is_some() || self.has_version(path));
        if case.is_none() && (prompt.is_none() || graders.is_none()) {
            return None;
        }
        let graders = graders.map(|path| self.texts_in(&path)).unwrap_or_default();
        Some(CaseFiles { directory: directory.to_owned(), case, prompt, graders })
    }

    /// Other tools have files called `case.yaml`, too.
    fn has_version(&self, path: &Utf8Path) -> bool {
        let text = self.files.read(path, self.reach, FIRST_BYTES).unwrap_or_default();
        let text = String::from_utf8_lossy(&text);
        text.lines().any(|line| line.trim_start_matches('\u{feff}').starts_with("schema_version:"))
    }

    fn texts_in(&self, directory: &Utf8Path) -> Vec<Utf8PathBuf> {
        let entries = self.files.list(directory, self.reach).unwrap_or_default().entries;
        let texts = entries.iter().filter(|entry| {
            entry.kind == EntryKind::File && Utf8Path::new(&entry.name).extension() == Some("md")
        });
        texts.map(|entry| directory.join(&entry.name)).collect()
    }
}

/// A plugin with cases.
#[derive(Debug, PartialEq)]
pub(super) struct Plugin {
    pub(super) directory: Utf8PathBuf,
    /// With its path.
    pub(super) manifest: Option<(Utf8PathBuf, Map)>,
}

impl Plugin {
    /// The plugin above a directory of cases: where the nearest manifest is, else the directory that
    /// contains `evals`, or these cases.
    pub(super) fn above(files: &dyn Files, cases: &Utf8Path, root: &Utf8Path) -> Option<Self> {
        let mut above = cases.ancestors().skip(1).take_while(|path| path.starts_with(root));
        let with_manifest = above.find_map(|directory| {
            let manifest = Some(manifest(files, directory, root)?);
            Some(Self { directory: directory.to_owned(), manifest })
        });
        let usual = cases.ancestors().find(|path| path.file_name() == Some(EVALS)).unwrap_or(cases);
        let bare = || Some(Self { directory: usual.parent()?.to_owned(), manifest: None });
        with_manifest.or_else(bare)
    }

    /// That of the manifest, else that of the directory.
    pub(super) fn name(&self) -> &str {
        let written = self.manifest.as_ref().and_then(|(_, fields)| fields.get("name")?.as_str());
        written.or(self.directory.file_name()).unwrap_or("plugin")
    }

    /// The directories in which it has skills: `skills`, and those that the manifest names.
    pub(super) fn skill_directories(&self) -> Vec<Utf8PathBuf> {
        let written = self.manifest.as_ref().and_then(|(_, fields)| fields.get("skills"));
        let named: Vec<&str> = match written {
            Some(Value::String(path)) => vec![path],
            Some(Value::List(paths)) => paths.iter().filter_map(Value::as_str).collect(),
            _ => Vec::new(),
        };
        let mut found = vec![self.directory.join(SKILLS)];
        for path in named {
            let directory = without_dots(&self.directory.join(path));
            if directory.starts_with(&self.directory) && !found.contains(&directory) {
                found.push(directory);
            }
        }
        found
    }

    /// What else it gives Claude Code, and no other agent understands.
    pub(super) fn other_parts(&self, files: &dyn Files, reach: Reach<'_>) -> Vec<&'static str> {
        let is_there = |(key, path): &&(&str, &str)| {
            let path = self.directory.join(path);
            let written =
                self.manifest.as_ref().is_some_and(|(_, fields)| fields.get(key).is_some());
            let entries = files.list(&path, reach).map(|listing| listing.entries.len());
            written
                || files.kind(&path) == Some(EntryKind::File)
                || entries.is_ok_and(|count| count > 0)
        };
        OTHER_PARTS.iter().filter(is_there).map(|(key, _)| *key).collect()
    }
}

const SKILLS: &str = "skills";

/// Keys of a manifest, and where a plugin has these parts without being told.
const OTHER_PARTS: &[(&str, &str)] = &[
    ("agents", "agents"),
    ("commands", "commands"),
    ("hooks", "hooks"),
    ("lspServers", ".lsp.json"),
    ("mcpServers", ".mcp.json"),
    ("outputStyles", "output-styles"),
];

const MANIFEST: &str = ".claude-plugin/plugin.json";

fn manifest(files: &dyn Files, plugin: &Utf8Path, root: &Utf8Path) -> Option<(Utf8PathBuf, Map)> {
    [MANIFEST, "plugin.json"].iter().find_map(|name| {
        let path = plugin.join(name);
        let bytes = files.read(&path, Reach::Inside(root), MANIFEST_LIMIT).ok()?;
        match json_value(std::str::from_utf8(&bytes).ok()?)? {
            Value::Map(fields)
                if fields.get("name").is_some_and(|name| name.as_str().is_some()) =>
            {
                Some((path, fields))
            }
            _ => None,
        }
    })
}

/// The plugin whose cases are in a directory: without a repository, its files are below it.
pub(super) fn plugin_root(files: &dyn Files, cases: &Utf8Path) -> Option<Utf8PathBuf> {
    if files.kind(cases) != Some(EntryKind::Directory) {
        return None;
    }
    let mut above = cases.ancestors().skip(1).take(DEEPEST + 1);
    let plugin = above.find(|path| files.kind(&path.join(MANIFEST)) == Some(EntryKind::File));
    plugin.map(Utf8Path::to_owned)
}

/// The first file with a mock of a tool, which has no counterpart.
pub(super) fn first_mock(
    files: &dyn Files,
    directory: &Utf8Path,
    reach: Reach<'_>,
) -> Option<Utf8PathBuf> {
    let servers = files.list(&directory.join(MOCKS), reach).ok()?.entries;
    servers.iter().filter(|entry| entry.kind == EntryKind::Directory).find_map(|server| {
        let path = directory.join(MOCKS).join(&server.name);
        let tools = files.list(&path, reach).ok()?.entries;
        let tool = tools.iter().find(|entry| entry.kind == EntryKind::File)?;
        Some(path.join(&tool.name))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::MemoryFiles;

    fn found(files: &MemoryFiles) -> Vec<String> {
        let cases = find_cases(files, "/p/evals".into(), Reach::Anywhere);
        cases.into_iter().map(|case| case.directory.into_string()).collect()
    }

    #[test]
    fn a_case_has_a_prompt_with_graders_or_a_versioned_file() {
        let files = MemoryFiles::new()
            .with("/p/evals/a/prompt.md", "Hi")
            .with("/p/evals/a/graders/x.md", "")
            .with("/p/evals/b/case.yaml", "schema_version: \"1.1\"\n")
            .with("/p/evals/group/c/case.yaml", "name: c\n")
            .with("/p/evals/group/c/prompt.md", "Hi")
            .with("/p/evals/files/prompt.md", "a file for a test")
            .with("/p/evals/other/case.yaml", "id: other tool\n")
            .with("/p/evals/results/d/case.yaml", "schema_version: \"1.1\"\n")
            .with("/p/evals/mocks/d/prompt.md", "")
            .with("/p/evals/.old/case.yaml", "schema_version: \"1.1\"\n");
        assert_eq!(found(&files), ["/p/evals/a", "/p/evals/b", "/p/evals/group/c"]);
        assert!(has_cases(&files, "/p/evals".into(), CaseDepth::Direct));
        assert!(!has_cases(&files, "/p".into(), CaseDepth::Direct));
        assert!(has_cases(&files, "/p/evals/a".into(), CaseDepth::Direct));
        let case = |path: &str| case_directory(&files, path.into()).map(Utf8PathBuf::into_string);
        assert_eq!(case("/p/evals/a/prompt.md").as_deref(), Some("/p/evals/a"));
        assert_eq!(case("/p/evals/files/prompt.md"), None);
        assert_eq!(case("/p/evals/a/graders/x.md"), None);
        assert_eq!(
            first_mock(&files, "/p/evals".into(), Reach::Anywhere).as_deref(),
            Some(Utf8Path::new("/p/evals/mocks/d/prompt.md"))
        );
    }

    #[test]
    fn the_graders_of_a_case_are_texts_in_order() {
        let files = MemoryFiles::new()
            .with("/p/evals/a/prompt.md", "Hi")
            .with("/p/evals/a/graders/z.md", "")
            .with("/p/evals/a/graders/b.md", "")
            .with("/p/evals/a/graders/notes.txt", "");
        let cases = find_cases(&files, "/p/evals".into(), Reach::Anywhere);
        assert_eq!(cases[0].graders, ["/p/evals/a/graders/b.md", "/p/evals/a/graders/z.md"]);
        assert_eq!(cases[0].case, None);
    }

    #[test]
    fn the_name_is_that_of_the_manifest() {
        let files = MemoryFiles::new()
            .with("/p/.claude-plugin/plugin.json", "{\"name\": \"csv-tools\"}")
            .with("/q/plugin.json", "{\"name\": 3}");
        let name_below = |cases: &str, root: &str| {
            Plugin::above(&files, cases.into(), root.into()).unwrap().name().to_owned()
        };
        let name = |cases: &str| name_below(cases, "/");
        assert_eq!(name("/p/evals"), "csv-tools");
        assert_eq!(name("/p/evals/group/a"), "csv-tools");
        assert_eq!(name("/q/evals"), "q");
        assert_eq!(name("/r/evals/a"), "r");
        assert_eq!(name("/r/checks"), "r");
        assert_eq!(name_below("/p/evals", "/p/evals"), "p");
    }

    #[test]
    fn a_plugin_has_skills_and_other_parts() {
        let manifest = r#"{"name": "p", "skills": ["./more", "../outside"], "hooks": {}}"#;
        let files = MemoryFiles::new()
            .with("/p/.claude-plugin/plugin.json", manifest)
            .with("/p/commands/a.md", "")
            .with("/p/.mcp.json", "{}")
            .with("/p/evals/a/prompt.md", "");
        let plugin = Plugin::above(&files, "/p/evals/a".into(), "/".into()).unwrap();
        assert_eq!(plugin.directory, "/p");
        assert_eq!(plugin.skill_directories(), ["/p/skills", "/p/more"]);
        let parts = plugin.other_parts(&files, Reach::Anywhere);
        assert_eq!(parts, ["commands", "hooks", "mcpServers"]);
        assert_eq!(plugin_root(&files, "/p/evals/a".into()).as_deref(), Some(Utf8Path::new("/p")));
        assert_eq!(plugin_root(&files, "/p/evals/a/prompt.md".into()), None);
        assert_eq!(plugin_root(&files, "/p".into()), None);
    }
}
