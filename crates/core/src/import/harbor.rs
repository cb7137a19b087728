//! Tasks of Harbor (`task.toml`) and Terminal-Bench (`task.yaml`): a directory with an instruction, an image
//! and tests that the agent does not see.

mod dockerfile;

use camino::{Utf8Path, Utf8PathBuf};

use crate::model::{Map, Number, Value};
use crate::source::{EntryKind, Files, Reach, Span};

use super::foreign_file::{FileSyntax, ForeignFile};
use super::format::ImportFormat;
use super::importer::Importer;
use super::located::Located;
use super::row::sendable;
use super::suite_draft::{SuiteDraft, TestDraft, one_line};

use dockerfile::{TaskImage, read_dockerfile};

pub(super) static FORMAT: ImportFormat = ImportFormat {
    name: "harbor",
    title: "a Harbor task",
    doc: "Tasks of Harbor and Terminal-Bench: a `task.toml` or `task.yaml`, or a directory of tasks.

| task | EVAL.yaml |
|---|---|
| the directory's name, or `task.name` | `id` |
| `instruction.md`, or `instruction` | `input`; paths below the working directory become relative |
| `tests/test.sh`, or `run-tests.sh` | `command` with the task as `overlay`: the reward, or the exit code, is the score |
| timeouts of agent and verifier | `execution.timeout_seconds`, `timeout_seconds` of the check |
| `FROM`, or `docker_image`; `cpus`, `memory` | `workspace.docker` |
| the directory that is copied to the working directory | `workspace.template` |
| `tags`, `keywords`, `difficulty`, `category` | `tags`, `metadata` |
| other instructions of the Dockerfile, Compose files, steps, MCP servers, network rules | left out |

Tests find `/tests`, `/logs` and the working directory below the copy of the workspace: their texts are changed there.
The score must be 1 for a test to pass.
",
    detect: |file| {
        let keys: &[&'static str] = match file.syntax {
            FileSyntax::Toml => &["verifier", "agent", "environment", "metadata", "task", "steps"],
            FileSyntax::Yaml if file.root.has("instruction") => {
                &["parser_name", "max_agent_timeout_sec", "max_test_timeout_sec", "difficulty"]
            }
            _ => return None,
        };
        let key = keys.iter().copied().find(|key| file.root.has(key))?;
        Some(if file.syntax == FileSyntax::Yaml { vec!["instruction", key] } else { vec![key] })
    },
    read,
};

/// Seconds that a test or a check may take (spec 3.7).
const LONGEST: u64 = 3600;

const PREPARATION: &str = include_str!("harbor/verify.sh");
const BY_REWARD: &str = include_str!("harbor/reward.sh");
const BY_EXIT_CODE: &str = include_str!("harbor/exit_code.sh");

/// The tasks of a directory: its own, or those of the directories in it. Empty if it has none.
pub fn task_files(files: &dyn Files, directory: &Utf8Path) -> Vec<Utf8PathBuf> {
    let task_of = |directory: &Utf8Path| {
        let path = ["task.toml", "task.yaml"].map(|name| directory.join(name));
        path.into_iter().find(|path| {
            let facts = files.look(path, Reach::Anywhere);
            facts.is_ok_and(|facts| facts.kind == EntryKind::File)
        })
    };
    if let Some(own) = task_of(directory) {
        return vec![own];
    }
    let listing = files.list(directory, Reach::Anywhere).unwrap_or_default();
    let names = listing.entries.into_iter().filter(|entry| entry.kind == EntryKind::Directory);
    names.filter_map(|entry| task_of(&directory.join(entry.name))).collect()
}

fn read(importer: &mut Importer<'_>, file: &ForeignFile) -> Option<SuiteDraft> {
    let others = importer.request.others;
    let directory = task_directory(&file.path);
    let named = if others.is_empty() { directory } else { task_directory(directory) };
    let mut draft = SuiteDraft::named(named.file_name().unwrap_or("tasks"));
    draft.pass = Some(Number::from(1));
    add_task(importer, &mut draft, file)?;
    for path in others {
        let opened = importer.open(path, file.root.span.at_start())?;
        add_task(importer, &mut draft, &opened)?;
    }
    share_scripts(&mut draft);
    Some(draft)
}

fn task_directory(path: &Utf8Path) -> &Utf8Path {
    path.parent().unwrap_or(path)
}

fn add_task(importer: &mut Importer<'_>, draft: &mut SuiteDraft, file: &ForeignFile) -> Option<()> {
    let directory = task_directory(&file.path);
    let position = draft.tests.len() + 1;
    let id = draft.given_id(directory.file_name(), position);
    importer.enter_test(&id);
    let task = TaskDirectory {
        settings: &file.root,
        directory,
        kind: if file.syntax == FileSyntax::Toml { TaskKind::Harbor } else { TaskKind::Terminal },
        start: file.root.span.at_start(),
    };
    let test = task.test(importer, id);
    importer.leave_test();
    draft.tests.push(test?);
    Some(())
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum TaskKind {
    Harbor,
    /// Of Terminal-Bench.
    Terminal,
}

struct TaskDirectory<'a> {
    settings: &'a Located,
    directory: &'a Utf8Path,
    kind: TaskKind,
    start: Span,
}

impl TaskDirectory<'_> {
    fn test(&self, importer: &mut Importer<'_>, id: String) -> Option<TestDraft> {
        if let Some(steps) = self.settings.get("steps") {
            return importer.refuse(
                steps.span,
                "a task with several steps cannot become one test",
                "convert each step as a task of its own",
            );
        }
        let (instruction, place) = self.instruction(importer)?;
        let image = self.image(importer);
        let relative = relative_text(instruction.trim_end(), &image.workdir);
        if relative != instruction.trim_end() {
            let workdir = &image.workdir;
            let message = format!("paths below `{workdir}` are relative to the workspace");
            importer.loss("path", place, message);
        }
        let mut test = TestDraft::new(id, sendable(relative.into()));
        let description = self.text(&["task.description", "description"]);
        test.description = description.map(|text| one_line(&text));
        test.criteria = Some("Leaves the files as the tests of the task expect them".to_owned());
        test.timeout_seconds =
            self.seconds(importer, &["agent.timeout_sec", "max_agent_timeout_sec"]);
        test.tags = self.tags();
        for key in ["difficulty", "category"] {
            test.metadata.insert_some(key, self.text(&[&format!("metadata.{key}"), key]));
        }
        let check = self.check(importer, &image)?;
        test.assertions = vec![check.into()];
        test.workspace = Some(self.workspace(importer, image));
        self.report_rest(importer);
        Some(test)
    }

    /// The text, and a place for what is said about it.
    fn instruction(&self, importer: &mut Importer<'_>) -> Option<(String, Span)> {
        let found = match self.kind {
            TaskKind::Harbor => {
                let path = self.directory.join("instruction.md");
                importer.read_text(&path).map(|text| (text, self.start))
            }
            TaskKind::Terminal => {
                let written = self.settings.get("instruction");
                written.and_then(|written| Some((written.text()?, written.span)))
            }
        };
        let found = found.filter(|(text, _)| !text.trim().is_empty());
        found.or_else(|| {
            let name = importer.shown(self.directory);
            importer.refuse(
                self.start,
                format!("the task `{name}` has no instruction"),
                "write it to `instruction.md` beside `task.toml`",
            )
        })
    }

    fn image(&self, importer: &mut Importer<'_>) -> TaskImage {
        let (context, hidden): (Utf8PathBuf, &[&str]) = match self.kind {
            TaskKind::Harbor => (self.directory.join("environment"), &[]),
            TaskKind::Terminal => (self.directory.to_owned(), &["task.yaml"]),
        };
        let mut image = read_dockerfile(importer, &context, hidden);
        for name in ["docker-compose.yaml", "docker-compose.yml", "compose.yaml"] {
            // Every task of Terminal-Bench has one, with nothing in it but its only container.
            if self.kind == TaskKind::Harbor && importer.exists(&context.join(name)) {
                importer.loss("image", self.start, format!("`environment/{name}` is left out"));
            }
        }
        if let Some(given) = self.text(&["environment.docker_image"]) {
            image.base = Some(given);
        }
        if let Some(workdir) = self.text(&["environment.workdir"]) {
            image.workdir = workdir.trim_end_matches('/').to_owned();
        }
        image
    }

    fn workspace(&self, importer: &Importer<'_>, image: TaskImage) -> Map {
        let memory =
            self.number(&["environment.memory_mb"]).map(|size| format!("{}m", size.text()));
        let memory = memory.or_else(|| {
            let written = self.text(&["environment.memory"])?;
            Some(written.trim_end_matches(['i', 'B', 'b']).to_ascii_lowercase())
        });
        let cpus = self.number(&["environment.cpus"]);
        let docker = Map::new()
            .with_some("image", image.base)
            .with_some("memory", memory)
            .with_some("cpus", cpus);
        let template = image.template.map(|path| {
            let path = importer.path_in_suite(&path);
            if path.starts_with("../") { path } else { format!("./{path}") }
        });
        Map::new()
            .with_some("template", template)
            .with_some("docker", Some(docker).filter(|docker| docker.get("image").is_some()))
    }

    /// The tests of the task, laid over a copy of the workspace.
    fn check(&self, importer: &mut Importer<'_>, image: &TaskImage) -> Option<Map> {
        let (script, command, score) = match self.kind {
            TaskKind::Harbor => ("tests/test.sh", BY_REWARD, Some("json")),
            TaskKind::Terminal => ("run-tests.sh", BY_EXIT_CODE, None),
        };
        if !importer.exists(&self.directory.join(script)) {
            let name = importer.shown(self.directory);
            return importer.refuse(
                self.start,
                format!("the task `{name}` has no `{script}`"),
                "name a task whose tests are in its directory",
            );
        }
        let seconds = self.seconds(importer, &["verifier.timeout_sec", "max_test_timeout_sec"]);
        let overlay = importer.path_in_suite(self.directory);
        let run = format!("{}{command}", PREPARATION.replace("@WORKDIR@", &image.workdir));
        let check = Map::new().with("type", "command").with("name", "tests of the task");
        let check = check.with("run", run).with("overlay", overlay);
        Some(check.with_some("timeout_seconds", seconds).with_some("score", score))
    }

    fn report_rest(&self, importer: &mut Importer<'_>) {
        let left_out = [
            ("environment.gpus", "resources", "GPUs are left out"),
            ("environment.mcp_servers", "tools", "MCP servers are left out"),
            ("environment.env", "variables", "variables of the image are left out"),
            ("verifier.env", "variables", "variables of the tests are left out"),
            ("artifacts", "artifacts", "artifacts are left out"),
        ];
        let network = self.settings.at_path("environment.allow_internet");
        if let Some(network) = network.filter(|allowed| allowed.as_bool() == Some(false)) {
            let message = "the network is allowed: set `network: none` on the target";
            importer.loss("network", network.span, message);
        }
        for (path, kind, message) in left_out {
            if let Some(value) = self.settings.at_path(path).filter(|value| !value.is_empty()) {
                importer.loss(kind, value.span, message);
            }
        }
    }

    fn find(&self, paths: &[&str]) -> Option<&Located> {
        paths.iter().find_map(|path| self.settings.at_path(path))
    }

    fn text(&self, paths: &[&str]) -> Option<String> {
        self.find(paths).and_then(Located::text).filter(|text| !text.trim().is_empty())
    }

    fn number(&self, paths: &[&str]) -> Option<Number> {
        self.find(paths).and_then(Located::number).filter(|number| number.value() > 0.0)
    }

    fn seconds(&self, importer: &mut Importer<'_>, paths: &[&str]) -> Option<u64> {
        let place = self.find(paths)?;
        let seconds = place.number()?.value().ceil();
        if seconds > LONGEST as f64 {
            importer.loss("timeout", place.span, "timeouts are at most an hour");
        }
        (seconds >= 1.0).then(|| (seconds as u64).min(LONGEST))
    }

    fn tags(&self) -> Vec<String> {
        let lists = ["metadata.tags", "task.keywords", "tags"];
        let mut tags: Vec<String> = Vec::new();
        for tag in
            lists.iter().filter_map(|path| self.settings.at_path(path)).flat_map(Located::texts)
        {
            if !tags.contains(&tag) {
                tags.push(tag);
            }
        }
        tags
    }
}

/// Absolute paths below the working directory as relative ones.
fn relative_text(text: &str, workdir: &str) -> String {
    if workdir.trim_matches('/').is_empty() {
        return text.to_owned();
    }
    let is_part = |c: char| c.is_alphanumeric() || "_-/".contains(c);
    let mut relative = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(workdir) {
        let (before, from) = rest.split_at(at);
        let behind = &from[workdir.len()..];
        relative.push_str(before);
        let ends = before.chars().next_back().or_else(|| relative.chars().next_back());
        let is_inside =
            behind.starts_with('/') && behind[1..].starts_with(|c| is_part(c) || c == '.');
        if ends.is_some_and(|c| is_part(c) || c == '.')
            || (!is_inside && behind.starts_with(|c: char| is_part(c) && c != '/'))
        {
            relative.push_str(workdir);
        } else {
            relative.push('.');
        }
        rest = behind;
    }
    relative.push_str(rest);
    relative
}

/// A script that several tests have is written once.
fn share_scripts(draft: &mut SuiteDraft) {
    let script = |test: &TestDraft| test.assertions.first()?.as_map()?.get("run").cloned();
    let scripts: Vec<Value> = draft.tests.iter().filter_map(script).collect();
    let mut anchors: Vec<(String, Value)> = Vec::new();
    for (at, script) in scripts.iter().enumerate() {
        let is_known = anchors.iter().any(|(_, known)| known == script);
        if !is_known && scripts[at + 1..].contains(script) {
            anchors.push((format!("run-tests-{}", anchors.len() + 1), script.clone()));
        }
    }
    draft.anchors = anchors;
}

#[cfg(test)]
mod tests {
    use super::relative_text;

    #[test]
    fn only_paths_below_the_working_directory_become_relative() {
        let cases = [
            ("Write /app/hello.txt.", "Write ./hello.txt."),
            ("Look into `/app` and /app/.", "Look into `.` and ./."),
            ("/application /my/app /app-2 x/app/y", "/application /my/app /app-2 x/app/y"),
            ("/app/app/a", "./app/a"),
        ];
        for (text, expected) in cases {
            assert_eq!(relative_text(text, "/app"), expected);
        }
        assert_eq!(relative_text("/a", "/"), "/a");
    }
}
