//! Task directories of Harbor from the tests of a suite. An answer cannot be checked there, only files, so
//! checks on answers are left out; a test without any other check is not written.

mod test_script;

use camino::{Utf8Path, Utf8PathBuf};

use crate::evidence::{FilesMode, PlacedFile, Rendering, placed_files};
use crate::model::{Hook, HookCommand, JsonStyle, Loss, Suite, Test, Value, Workspace};
use crate::secrets::Secrets;
use crate::source::{EntryKind, Reach, Span, list_tree};

use super::{Context, OutFile};
use test_script::TestScript;

/// The image of a workspace that names none.
const USUAL_IMAGE: &str = "debian:bookworm-slim";

/// More files than this are not copied.
const MOST_FILES: usize = 100_000;

/// One task directory. Names have `/` between directories and never leave it.
#[derive(Debug)]
pub struct HarborTask {
    pub name: String,
    pub files: Vec<OutFile>,
    pub copies: Vec<CopiedFile>,
}

/// A file of the author that belongs to a task.
#[derive(Debug, PartialEq, Eq)]
pub struct CopiedFile {
    /// Absolute.
    pub from: Utf8PathBuf,
    pub name: String,
}

#[derive(Debug, Default)]
pub struct HarborTasks {
    pub tasks: Vec<HarborTask>,
    pub losses: Vec<Loss>,
}

/// `context.root` is the reach of templates and overlays. Names have no secrets; texts are those of the suite.
pub fn harbor_tasks(suite: &Suite, context: &Context<'_>, secrets: &Secrets) -> HarborTasks {
    let mut made = HarborTasks::default();
    for test in &suite.tests {
        let mut writer = TaskWriter::new(suite, test, context);
        if let Some(mut task) = writer.task() {
            task.name = task_name(&secrets.redact(test.id.as_str()));
            made.tasks.push(task);
        }
        made.losses.append(&mut writer.losses);
    }
    unique_names(&mut made.tasks);
    made
}

/// What the parts of a task are made from, and what they leave out.
struct TaskWriter<'a> {
    suite: &'a Suite,
    test: &'a Test,
    context: &'a Context<'a>,
    copies: Vec<CopiedFile>,
    losses: Vec<Loss>,
}

impl<'a> TaskWriter<'a> {
    fn new(suite: &'a Suite, test: &'a Test, context: &'a Context<'a>) -> Self {
        Self { suite, test, context, copies: Vec::new(), losses: Vec::new() }
    }

    fn task(&mut self) -> Option<HarborTask> {
        if self.test.skip.is_some() {
            self.loss("test", self.test.span, "the test is skipped, so no task is written");
            return None;
        }
        let script = TestScript::of(self)?;
        let placed = placed_files(&self.test.input);
        let instruction = self.instruction(&placed)?;
        for file in &placed {
            let name = format!("environment/workspace/{}", file.path);
            self.copies.push(CopiedFile { from: file.source.clone(), name });
        }
        let dockerfile = self.dockerfile();
        let file = |name: &str, text: String| OutFile { name: name.to_owned(), text };
        let files = vec![
            file("task.toml", self.settings(script.timeout_seconds)),
            file("instruction.md", instruction),
            file("environment/Dockerfile", dockerfile),
            // An empty directory cannot be copied by its name.
            file("environment/workspace/.gitkeep", String::new()),
            file("tests/test.sh", script.text),
        ];
        let copies = std::mem::take(&mut self.copies);
        Some(HarborTask { name: String::new(), files, copies })
    }

    fn loss(&mut self, kind: &'static str, span: Span, message: impl Into<String>) {
        let test = Some(self.test.id.clone().into());
        self.losses.push(Loss { kind, test, message: message.into().into(), span });
    }

    fn instruction(&mut self, placed: &[PlacedFile]) -> Option<String> {
        let rendering = Rendering {
            attachments: FilesMode::Paths,
            files: self.context.files,
            image_path: &|_| Ok("(image data)".into()),
            placed,
        };
        match rendering.prompt(&self.test.input) {
            Ok(text) => Some(text.trim_end().to_owned() + "\n"),
            Err(fault) => {
                self.loss("test", self.test.span, format!("no task is written: {}", fault.message));
                None
            }
        }
    }

    fn settings(&self, verifier_seconds: u64) -> String {
        let timeout = self.test.execution.timeout_seconds;
        let timeout = timeout.or(self.suite.execution.timeout_seconds).unwrap_or(300);
        let mut text = "version = \"1.0\"\n\n[metadata]\n".to_owned();
        let tags = self.test.metadata.get("tags").and_then(Value::as_list).unwrap_or_default();
        let tags: Vec<String> = tags.iter().filter_map(Value::as_str).map(toml_text).collect();
        for key in ["difficulty", "category"] {
            if let Some(value) = self.test.metadata.get(key).and_then(Value::as_str) {
                text += &format!("{key} = {}\n", toml_text(value));
            }
        }
        text += &format!("tags = [{}]\n\n", tags.join(", "));
        text += &format!("[verifier]\ntimeout_sec = {verifier_seconds}.0\n\n");
        text += &format!("[agent]\ntimeout_sec = {timeout}.0\n\n[environment]\n");
        let container = self.workspace().and_then(|workspace| workspace.container.as_ref());
        if let Some(cpus) = container.and_then(|container| container.cpus.as_deref()) {
            let whole = cpus.parse::<f64>().map_or(1.0, f64::ceil).max(1.0);
            text += &format!("cpus = {whole}\n");
        }
        let memory = container.and_then(|container| container.memory.as_deref());
        if let Some(size) = memory.and_then(megabytes) {
            text += &format!("memory_mb = {size}\n");
        }
        text
    }

    fn workspace(&self) -> Option<&'a Workspace> {
        self.test.workspace.as_ref()
    }

    fn dockerfile(&mut self) -> String {
        let empty = Workspace::default();
        let workspace = self.workspace().unwrap_or(&empty);
        if let Some(template) = &workspace.template {
            self.copy_tree(template, "environment/workspace", self.test.span);
        }
        let span = self.test.span;
        if !workspace.repos.is_empty() {
            self.loss("workspace", span, "repositories are left out: clone them in the Dockerfile");
        }
        for (name, hook) in [
            ("before_all", &workspace.before_all),
            ("teardown", &workspace.teardown),
            ("after_all", &workspace.after_all),
        ] {
            if hook.is_some() {
                self.loss("workspace", span, format!("`{name}` is left out"));
            }
        }
        let container = workspace.container.as_ref();
        let image = container.and_then(|container| container.image.as_deref());
        let mut text = format!("FROM {}\nWORKDIR /app\n", image.unwrap_or(USUAL_IMAGE));
        text += "COPY workspace/ /app/\n";
        for (name, value) in &workspace.env {
            match env_text(value) {
                Some(value) => text += &format!("ENV {name}={value}\n"),
                None => {
                    let message = format!(
                        "`{name}` of `env` is left out: `ENV` of a Dockerfile takes no control characters"
                    );
                    self.loss("workspace", span, message);
                }
            }
        }
        if let Some(hook) = &workspace.setup {
            text += &setup_line(hook);
        }
        if let Some(cwd) = workspace.cwd.as_deref() {
            text += &format!("WORKDIR /app/{cwd}\n");
        }
        text
    }

    /// Everything below a directory.
    fn copy_tree(&mut self, directory: &Utf8Path, to: &str, span: Span) {
        let tree = list_tree(self.context.files, directory, MOST_FILES);
        if !tree.is_complete {
            let message = format!("only some files of `{directory}` are copied");
            self.loss("workspace", span, message);
        }
        for name in tree.files {
            let from = directory.join(&name);
            self.copies.push(CopiedFile { from, name: format!("{to}/{name}") });
        }
    }

    /// The directory that an assertion names, if it is inside the repository.
    fn directory(&self, written: &str, span: Span) -> Option<Utf8PathBuf> {
        let source = self.context.sources.get(span.source).path();
        let path = match written.strip_prefix('/') {
            Some(below) => self.context.root.join(below),
            None => source.parent().unwrap_or(source).join(written),
        };
        let path = crate::source::without_dots(&path);
        let facts = self.context.files.look(&path, Reach::Inside(self.context.root)).ok()?;
        (facts.kind == EntryKind::Directory).then_some(path)
    }
}

fn setup_line(hook: &Hook) -> String {
    let words = match &hook.command {
        HookCommand::Argv(words) => words.clone(),
        HookCommand::Shell(line) => ["sh", "-c", line].map(str::to_owned).to_vec(),
    };
    let words: Vec<String> = words.iter().map(|word| json_text(word)).collect();
    let run = format!("RUN [{}]\n", words.join(", "));
    match hook.cwd.as_deref().filter(|cwd| !cwd.is_empty()) {
        Some(cwd) => format!("WORKDIR /app/{cwd}\n{run}WORKDIR /app\n"),
        None => run,
    }
}

/// In double quotes, where a Dockerfile gives `\` a meaning only before these three. An instruction ends with its
/// line, so no value can have a line break.
fn env_text(value: &str) -> Option<String> {
    if value.chars().any(|c| c.is_control() && c != '\t') {
        return None;
    }
    let escaped = value.chars().flat_map(|c| {
        let mark = matches!(c, '"' | '\\' | '$').then_some('\\');
        mark.into_iter().chain([c])
    });
    Some(format!("\"{}\"", escaped.collect::<String>()))
}

/// As a basic string of TOML, which has the escapes of JSON.
fn toml_text(text: &str) -> String {
    json_text(text)
}

fn json_text(text: &str) -> String {
    Value::from(text).to_json(JsonStyle::Compact)
}

/// `2g` as 2048.
fn megabytes(memory: &str) -> Option<u64> {
    let memory = memory.trim().to_ascii_lowercase();
    let digits = memory.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let amount: f64 = digits.parse().ok()?;
    let factor = match memory[digits.len()..].trim_end_matches(['b', 'i']) {
        "g" => 1024.0,
        "m" => 1.0,
        "k" => 1.0 / 1024.0,
        "" => 1.0 / (1024.0 * 1024.0),
        _ => return None,
    };
    Some((amount * factor).ceil().max(1.0) as u64)
}

/// A directory name: letters, digits, `.`, `_` and `-`.
fn task_name(id: &str) -> String {
    let is_legal = |c: char| c.is_ascii_alphanumeric() || "._-".contains(c);
    let name: String = id.chars().map(|c| if is_legal(c) { c } else { '-' }).collect();
    let name = name.trim_matches(['.', '-']);
    let name: String = name.chars().take(100).collect();
    if name.is_empty() { "task".to_owned() } else { name }
}

fn unique_names(tasks: &mut [HarborTask]) {
    let mut taken = std::collections::HashSet::new();
    for task in tasks {
        let wanted = task.name.clone();
        let mut number = 2;
        // Some file systems ignore case.
        while !taken.insert(task.name.to_ascii_lowercase()) {
            task.name = format!("{wanted}-{number}");
            number += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::load;
    use super::*;
    use crate::source::MemoryFiles;

    fn exported(tests: &str) -> HarborTasks {
        let files = MemoryFiles::new()
            .with("/p/EVAL.yaml", format!("name: s\ntests:\n{tests}"))
            .with("/p/shop/a.txt", "a")
            .with("/p/hidden/t.py", "t");
        let loaded = load(files, "/p/EVAL.yaml");
        harbor_tasks(&loaded.suite, &loaded.context(), &Secrets::default())
    }

    fn text<'t>(task: &'t HarborTask, name: &str) -> &'t str {
        &task.files.iter().find(|file| file.name == name).unwrap().text
    }

    #[test]
    fn a_workspace_becomes_an_image_and_hidden_tests() {
        let made = exported(
            "- id: fix it\n  criteria: c\n  input: Mend the shop\n  workspace: {template: ./shop, \
             setup: [npm, ci], env: {A: 'x$y'}, docker: {image: node:22, memory: 2g, cpus: 1.5}}\n  \
             assert:\n  - {type: command, run: [python3, -m, pytest], overlay: ./hidden}\n  - {type: \
             contains, value: yes}\n",
        );
        let [task] = &made.tasks[..] else { panic!("{made:?}") };
        assert_eq!(task.name, "fix-it");
        assert_eq!(text(task, "instruction.md"), "Mend the shop\n");
        let expected = "FROM node:22\nWORKDIR /app\nCOPY workspace/ /app/\nENV A=\"x\\$y\"\nRUN \
                        [\"npm\", \"ci\"]\n";
        assert_eq!(text(task, "environment/Dockerfile"), expected);
        assert!(text(task, "task.toml").ends_with("[environment]\ncpus = 2\nmemory_mb = 2048\n"));
        let copies: Vec<&str> = task.copies.iter().map(|copy| &*copy.name).collect();
        assert_eq!(copies, ["tests/overlay-1/t.py", "environment/workspace/a.txt"]);
        let losses: Vec<&str> = made.losses.iter().map(|loss| loss.kind).collect();
        assert_eq!(losses, ["answer"]);
    }

    #[test]
    fn a_test_of_answers_is_not_written() {
        let test = "- {id: a, criteria: c, input: i, assert: [{type: contains, value: x}]}\n";
        let made = exported(test);
        assert!(made.tasks.is_empty());
        let losses: Vec<&str> = made.losses.iter().map(|loss| loss.kind).collect();
        assert_eq!(losses, ["answer", "test"]);
    }

    #[test]
    fn variables_keep_their_values_or_are_lost() {
        assert_eq!(env_text("a\t\"é\\n $x").as_deref(), Some("\"a\t\\\"é\\\\n \\$x\""));
        let made = exported(
            "- {id: a, criteria: c, input: i, workspace: {env: {KEY: \"a\\nb\", B: c}}, assert: [{type: files, \
             exists: [x]}]}\n",
        );
        let dockerfile = text(&made.tasks[0], "environment/Dockerfile");
        assert!(
            dockerfile.ends_with("\nENV B=\"c\"\n") && !dockerfile.contains("KEY"),
            "{dockerfile}"
        );
        assert!(made.losses[0].message.starts_with("`KEY` of `env` is left out"), "{made:?}");
    }

    #[test]
    fn a_composite_of_checks_on_files_is_not_about_the_answer() {
        let composite = |member: &str| {
            let made = exported(&format!(
                "- {{id: a, criteria: c, input: i, workspace: {{}}, assert: [{{type: files, exists: [x]}}, \
                 {{type: composite, assertions: [{{type: files, exists: [y]}}, {member}]}}]}}\n"
            ));
            made.losses.iter().map(|loss| (loss.kind, loss.message.to_string())).collect::<Vec<_>>()
        };
        let [(kind, message)] = &composite("{type: files, absent: [z]}")[..] else { panic!() };
        assert_eq!(*kind, "assertion");
        assert_eq!(message, "`composite` with these options cannot be a shell command");
        let losses = composite("{type: contains, value: z}");
        assert_eq!(losses[0].0, "answer", "{losses:?}");
    }

    #[test]
    fn names_are_those_of_directories() {
        assert_eq!(task_name("../x/y z"), "x-y-z");
        assert_eq!(task_name("…"), "task");
        assert_eq!(
            [megabytes("1.5g"), megabytes("512MiB"), megabytes("x")],
            [Some(1536), Some(512), None]
        );
    }
}
