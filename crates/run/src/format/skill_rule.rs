//! Which calls use a skill, by the rule of each agent (spec 18.3). Names are whole: a skill is never
//! recognized by a part of a name or of a path.

use evalrig_core::model::{Call, SkillUseKind, Value};

use super::shell_words::{ShellCommand, shell_commands};

/// A skill that a call uses if it succeeds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct SkillSign {
    pub(super) name: String,
    pub(super) how: SkillUseKind,
}

/// The skills that a call uses.
pub(super) type SkillRule = fn(&Call) -> Vec<SkillSign>;

/// `Skill {skill}`, or `Read` of a `SKILL.md`.
pub(super) fn claude(call: &Call) -> Vec<SkillSign> {
    match call.tool.as_str() {
        "Skill" => by_tool(call, &["skill"]),
        "Read" => by_read(call),
        _ => Vec::new(),
    }
}

/// Codex has no tool for skills: a command reads `SKILL.md`, or runs one of the skill's scripts.
pub(super) fn codex(call: &Call) -> Vec<SkillSign> {
    by_command(call)
}

/// `activate_skill {name}`.
pub(super) fn gemini(call: &Call) -> Vec<SkillSign> {
    if call.tool == "activate_skill" { by_tool(call, &["name"]) } else { Vec::new() }
}

/// `skill {skill}`.
pub(super) fn copilot(call: &Call) -> Vec<SkillSign> {
    if call.tool == "skill" { by_tool(call, &["skill"]) } else { Vec::new() }
}

/// `skill {name}`.
pub(super) fn opencode(call: &Call) -> Vec<SkillSign> {
    if call.tool == "skill" { by_tool(call, &["name"]) } else { Vec::new() }
}

/// Pi has no tool for skills: it reads `SKILL.md`, by `read` or by a command.
pub(super) fn pi(call: &Call) -> Vec<SkillSign> {
    match call.tool.as_str() {
        "read" => by_read(call),
        "bash" => by_command(call),
        _ => Vec::new(),
    }
}

/// Of an agent that is not known: the names of all of them.
pub(crate) fn any_agent(call: &Call) -> Vec<SkillSign> {
    match call.tool.as_str() {
        "Skill" | "skill" | "activate_skill" => by_tool(call, &["skill", "name"]),
        "Read" | "read" | "read_file" | "view" => by_read(call),
        "command_execution" | "exec_command" | "shell" | "shell_command" | "Bash" | "bash"
        | "run_shell_command" => by_command(call),
        _ => Vec::new(),
    }
}

fn argument<'c>(call: &'c Call, keys: &[&str]) -> Option<&'c str> {
    let args = call.args.as_map()?;
    keys.iter().find_map(|key| args.get(key)?.as_str())
}

/// `plugin:skill` is the skill of a plugin.
pub(super) fn without_plugin(name: &str) -> &str {
    name.rsplit_once(':').map_or(name, |(_, skill)| skill)
}

fn by_tool(call: &Call, keys: &[&str]) -> Vec<SkillSign> {
    let name = argument(call, keys).map(without_plugin).filter(|name| !name.is_empty());
    let sign = |name: &str| SkillSign { name: name.to_owned(), how: SkillUseKind::Tool };
    name.map(sign).into_iter().collect()
}

fn by_read(call: &Call) -> Vec<SkillSign> {
    let path = argument(call, &["file_path", "path", "filePath"]);
    let name = path.and_then(skill_in_path);
    name.map(|name| SkillSign { name, how: SkillUseKind::Read }).into_iter().collect()
}

/// The skill whose `SKILL.md` a path names.
pub(super) fn skill_in_path(path: &str) -> Option<String> {
    skill_of_file(&path_parts("", path))
}

fn by_command(call: &Call) -> Vec<SkillSign> {
    let Some(args) = call.args.as_map() else {
        return Vec::new();
    };
    let mut signs = Vec::new();
    match args.get("command").or_else(|| args.get("cmd")) {
        Some(Value::String(script)) => add_script(script, 0, &mut signs),
        Some(Value::List(words)) => {
            let words = words.iter().filter_map(Value::as_str).map(str::to_owned);
            let command = ShellCommand { words: words.collect(), input: None };
            add_command(&command, "", 0, &mut signs);
        }
        _ => {}
    }
    signs
}

/// Shells inside shells that are looked into.
const DEEPEST: usize = 3;

fn add_script(script: &str, depth: usize, signs: &mut Vec<SkillSign>) {
    let mut directory = String::new();
    for command in shell_commands(script) {
        if let [program, target] = command.words.as_slice()
            && program == "cd"
        {
            directory = path_parts(&directory, target).join("/");
            continue;
        }
        add_command(&command, &directory, depth, signs);
    }
}

/// Programs that print files.
const READERS: &[&str] = &[
    "cat",
    "bat",
    "batcat",
    "head",
    "tail",
    "less",
    "more",
    "nl",
    "sed",
    "awk",
    "tac",
    "Get-Content",
    "gc",
];

/// Programs that run a script.
const RUNNERS: &[&str] = &[
    "sh", "bash", "zsh", "dash", "python", "python3", "node", "deno", "bun", "tsx", "ruby", "perl",
    "pwsh", "uv",
];

const SHELLS: &[&str] = &["sh", "bash", "zsh", "dash"];

/// Programs that run the command after them.
const WRAPPERS: &[&str] = &["command", "exec", "env", "nohup", "sudo"];

fn add_command(command: &ShellCommand, directory: &str, depth: usize, signs: &mut Vec<SkillSign>) {
    let wrappers = command.words.iter().take_while(|word| WRAPPERS.contains(&base_name(word)));
    let words = &command.words[wrappers.count()..];
    let Some((program, arguments)) = words.split_first() else {
        return;
    };
    let name = base_name(program);
    if SHELLS.contains(&name)
        && let Some(at) = arguments.iter().position(|word| is_code_flag(word))
    {
        if let (Some(script), true) = (arguments.get(at + 1), depth < DEEPEST) {
            add_script(script, depth + 1, signs);
        }
        return;
    }
    if READERS.contains(&name) {
        let edits = name == "sed" && arguments.iter().any(|word| word.starts_with("-i"));
        let files = arguments.iter().chain(&command.input).filter(|_| !edits);
        let names = files.filter_map(|file| skill_of_file(&path_parts(directory, file)));
        signs.extend(names.map(|name| SkillSign { name, how: SkillUseKind::Read }));
        return;
    }
    let script = if RUNNERS.contains(&name) {
        arguments.iter().find(|word| !word.starts_with('-') && *word != "run")
    } else {
        Some(program)
    };
    let skill = script.and_then(|script| skill_of_script(&path_parts(directory, script)));
    signs.extend(skill.map(|name| SkillSign { name, how: SkillUseKind::Script }));
}

/// `-c` and groups such as `-lc`.
fn is_code_flag(word: &str) -> bool {
    word.strip_prefix('-').is_some_and(|flags| {
        flags.ends_with('c') && flags.bytes().all(|byte| byte.is_ascii_alphabetic())
    })
}

fn base_name(path: &str) -> &str {
    path.rsplit(['/', '\\']).next().unwrap_or(path)
}

/// The parts of a path below a directory, without `.` and `..` where that is possible.
fn path_parts(directory: &str, path: &str) -> Vec<String> {
    let is_absolute = path.starts_with(['/', '~', '$']);
    let directory = if is_absolute { "" } else { directory };
    let mut parts: Vec<String> = Vec::new();
    for part in directory.split('/').chain(path.split(['/', '\\'])) {
        match part {
            "" | "." => {}
            ".." if parts.last().is_some_and(|last| last != "..") => {
                parts.pop();
            }
            _ => parts.push(part.to_owned()),
        }
    }
    parts
}

/// `…/NAME/SKILL.md`.
fn skill_of_file(parts: &[String]) -> Option<String> {
    match parts {
        [.., name, file] if file == "SKILL.md" => skill_name(name),
        _ => None,
    }
}

/// `…/skills/…/NAME/scripts/…`. Projects have directories named `scripts` too, so it must be below a
/// directory of skills.
fn skill_of_script(parts: &[String]) -> Option<String> {
    let at = parts.iter().position(|part| part == "scripts").filter(|at| at + 1 < parts.len())?;
    let above = &parts[..at.checked_sub(1)?];
    let is_below_skills = above.iter().any(|part| part == "skills");
    if is_below_skills { skill_name(&parts[at - 1]) } else { None }
}

/// A pattern such as `*` does not say which skill it is.
fn skill_name(part: &str) -> Option<String> {
    let is_name = part != ".." && !part.contains(['*', '?', '[', '{', '$']);
    is_name.then(|| part.to_owned())
}

#[cfg(test)]
mod tests {
    use evalrig_core::syntax::json_value;

    use super::*;

    fn shown(rule: SkillRule, tool: &str, args: &str) -> String {
        let signs = rule(&Call::new("", tool, json_value(args).unwrap()));
        let shown = signs.iter().map(|sign| format!("{} {}", sign.how.word(), sign.name));
        shown.collect::<Vec<_>>().join(", ")
    }

    #[test]
    fn every_agent_has_its_own_tool() {
        for (rule, tool, args, expected) in [
            (claude as SkillRule, "Skill", r#"{"skill":"csv"}"#, "tool csv"),
            (claude, "Skill", r#"{"skill":"data:csv"}"#, "tool csv"),
            (claude, "Skill", r#"{"name":"csv"}"#, ""),
            (claude, "Skill", r#""csv""#, ""),
            (claude, "Skill", r#"{"skill":""}"#, ""),
            (claude, "skill", r#"{"skill":"csv"}"#, ""),
            (claude, "Read", r#"{"file_path":"/s/csv/SKILL.md"}"#, "read csv"),
            (claude, "Read", r#"{"file_path":"/s/csv/notes.md"}"#, ""),
            (claude, "Read", r#"{"file_path":"SKILL.md"}"#, ""),
            (claude, "Bash", r#"{"command":"cat s/csv/SKILL.md"}"#, ""),
            (gemini, "activate_skill", r#"{"name":"csv"}"#, "tool csv"),
            (gemini, "read_file", r#"{"file_path":"csv/SKILL.md"}"#, ""),
            (copilot, "skill", r#"{"skill":"csv"}"#, "tool csv"),
            (copilot, "skill", r#"{"name":"csv"}"#, ""),
            (opencode, "skill", r#"{"name":"csv"}"#, "tool csv"),
            (pi, "read", r#"{"path":"/s/csv/SKILL.md"}"#, "read csv"),
            (pi, "bash", r#"{"command":"cat /s/csv/SKILL.md"}"#, "read csv"),
            (pi, "bash", r#"{"command":"ls /s/csv/SKILL.md"}"#, ""),
            (any_agent, "view", r#"{"path":"csv/SKILL.md"}"#, "read csv"),
            (any_agent, "skill", r#"{"name":"csv"}"#, "tool csv"),
            (any_agent, "bash", r#"{"command":"head csv/SKILL.md"}"#, "read csv"),
            (any_agent, "Grep", r#"{"path":"csv/SKILL.md"}"#, ""),
        ] {
            assert_eq!(shown(rule, tool, args), expected, "{tool} {args}");
        }
    }

    fn command(script: &str) -> String {
        let args = serde_json::json!({"command": script}).to_string();
        shown(codex, "command_execution", &args)
    }

    #[test]
    fn a_command_that_reads_the_file_of_a_skill_uses_it() {
        for script in [
            "cat .agents/skills/csv/SKILL.md",
            "/bin/bash -lc 'cat .agents/skills/csv/SKILL.md'",
            "bash -lc \"sed -n '1,200p' /w/.agents/skills/csv/SKILL.md\"",
            "/usr/bin/zsh -lc 'cd .agents/skills/csv && cat SKILL.md'",
            "cat '/w/my skills/csv/SKILL.md' | head -20",
            "ls && tail -n +3 ./csv/../csv/SKILL.md",
            "sudo cat csv/SKILL.md 2>/dev/null",
            "cat < csv/SKILL.md",
            "sh -c \"sh -c 'cat csv/SKILL.md'\"",
            "cat $CODEX_HOME/skills/csv/SKILL.md",
        ] {
            assert_eq!(command(script), "read csv", "{script}");
        }
        assert_eq!(command("cat a/SKILL.md b/SKILL.md"), "read a, read b");
    }

    #[test]
    fn a_command_that_only_mentions_a_skill_does_not_use_it() {
        for script in [
            "ls .agents/skills/csv/SKILL.md",
            "rg total .agents/skills/csv/SKILL.md",
            "find . -name SKILL.md",
            "/bin/bash -lc 'find .agents/skills/csv -name SKILL.md'",
            "wc -l csv/SKILL.md",
            "echo cat csv/SKILL.md",
            "cat notes > csv/SKILL.md",
            "sed -i s/a/b/ csv/SKILL.md",
            "cat csv/SKILL.md.bak",
            "cat skills/*/SKILL.md",
            "cat SKILL.md",
            "cp csv/SKILL.md other",
            "python3 app/scripts/build.py",
            "cat .agents/skills/csv/scripts/sum.py",
        ] {
            assert_eq!(command(script), "", "{script}");
        }
    }

    #[test]
    fn running_a_script_of_a_skill_uses_it() {
        for script in [
            "python3 .agents/skills/csv/scripts/sum.py data.csv",
            "bash -lc 'python -u /w/.agents/skills/csv/scripts/deep/sum.py'",
            ".agents/skills/csv/scripts/sum.sh",
            "cd .agents/skills/csv; uv run scripts/sum.py",
            "bash $CODEX_HOME/skills/.system/csv/scripts/sum.sh",
        ] {
            assert_eq!(command(script), "script csv", "{script}");
        }
    }

    #[test]
    fn a_command_may_be_a_list() {
        let args = r#"{"command":["bash","-lc","cat csv/SKILL.md"]}"#;
        assert_eq!(shown(any_agent, "shell", args), "read csv");
        assert_eq!(shown(any_agent, "shell", r#"{"cmd":["cat","a b/SKILL.md"]}"#), "read a b");
        assert_eq!(shown(any_agent, "shell", r#"{"command":7}"#), "");
    }
}
