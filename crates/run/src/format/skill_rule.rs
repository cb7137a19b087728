//! Which calls use a skill, by the rule of each agent (spec 18.3). Names are whole: a skill is never
//! recognized by a part of a name or of a path.

use evalrig_core::model::{Call, Skill, SkillUseKind};

use super::blocks::plain_text;
use super::skill_command::skills_of_command;
use super::skill_path::{SkillFilePlace, skill_in_path};

/// A skill that a call uses if it succeeds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct SkillSign {
    pub(super) name: String,
    pub(super) how: SkillUseKind,
}

/// What a call says of skills.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct SkillSigns {
    pub(super) signs: Vec<SkillSign>,
    /// It may have used a skill, and nothing decides.
    pub(super) is_unclear: bool,
}

impl SkillSigns {
    fn none() -> Self {
        Self::default()
    }

    pub(super) fn one(name: impl Into<String>, how: SkillUseKind) -> Self {
        Self { signs: vec![SkillSign { name: name.into(), how }], is_unclear: false }
    }

    pub(super) fn unclear() -> Self {
        Self { signs: Vec::new(), is_unclear: true }
    }
}

/// The skills that a call uses.
pub(super) type SkillRule = fn(&Call) -> SkillSigns;

/// `Skill {skill}`, or `Read` of a `SKILL.md`.
pub(super) fn claude(call: &Call) -> SkillSigns {
    match call.tool.as_str() {
        "Skill" => by_tool(call, &["skill"]),
        "Read" => by_read(call),
        _ => SkillSigns::none(),
    }
}

/// Codex has no tool for skills: a command reads `SKILL.md`, or runs one of the skill's scripts.
pub(super) fn codex(call: &Call) -> SkillSigns {
    by_command(call)
}

/// `activate_skill {name}`.
pub(super) fn gemini(call: &Call) -> SkillSigns {
    if call.tool == "activate_skill" { by_tool(call, &["name"]) } else { SkillSigns::none() }
}

pub(super) const COPILOT_TOOL: &str = "skill";

/// `skill {skill}`.
pub(super) fn copilot(call: &Call) -> SkillSigns {
    if call.tool == COPILOT_TOOL { by_tool(call, &["skill"]) } else { SkillSigns::none() }
}

/// `skill {name}`.
pub(super) fn opencode(call: &Call) -> SkillSigns {
    if call.tool == "skill" { by_tool(call, &["name"]) } else { SkillSigns::none() }
}

/// Pi has no tool for skills: it reads `SKILL.md`, by `read` or by a command.
pub(super) fn pi(call: &Call) -> SkillSigns {
    match call.tool.as_str() {
        "read" => by_read(call),
        "bash" => by_command(call),
        _ => SkillSigns::none(),
    }
}

/// Of an agent that is not known: the names of all of them.
pub(crate) fn any_agent(call: &Call) -> SkillSigns {
    match call.tool.as_str() {
        "Skill" | "skill" | "activate_skill" => by_tool(call, &["skill", "name"]),
        "Read" | "read" | "read_file" | "view" => by_read(call),
        "command_execution" | "exec_command" | "shell" | "shell_command" | "Bash" | "bash"
        | "run_shell_command" | "run" => by_command(call),
        _ => SkillSigns::none(),
    }
}

fn argument<'c>(call: &'c Call, keys: &[&str]) -> Option<&'c str> {
    let args = call.args.as_map()?;
    keys.iter().find_map(|key| args.get(key)?.as_str())
}

fn by_tool(call: &Call, keys: &[&str]) -> SkillSigns {
    let name = argument(call, keys).map(Skill::bare_name).filter(|name| !name.is_empty());
    name.map_or_else(SkillSigns::none, |name| SkillSigns::one(name, SkillUseKind::Tool))
}

fn by_read(call: &Call) -> SkillSigns {
    let path = argument(call, &["file_path", "path", "filePath"]);
    path.map_or_else(SkillSigns::none, read_of_file)
}

/// What reading a file says of skills.
pub(super) fn read_of_file(path: &str) -> SkillSigns {
    match (SkillFilePlace::of("", path), skill_in_path(path)) {
        (SkillFilePlace::Skills, Some(name)) => SkillSigns::one(name, SkillUseKind::Read),
        (SkillFilePlace::Elsewhere, _) => SkillSigns::unclear(),
        _ => SkillSigns::none(),
    }
}

fn by_command(call: &Call) -> SkillSigns {
    let args = call.args.as_map();
    let command = args.and_then(|args| args.get("command").or_else(|| args.get("cmd")));
    // What a failed command was to read is shown too, as a use that failed.
    let has_failed = call.is_error == Some(true) || call.exit_code.is_some_and(|code| code != 0);
    let output = call.output.as_ref().filter(|_| !has_failed).map(plain_text);
    command.map_or_else(SkillSigns::none, |command| skills_of_command(command, output.as_deref()))
}

#[cfg(test)]
mod tests {
    use evalrig_core::syntax::json_value;

    use super::*;

    fn shown(rule: SkillRule, tool: &str, args: &str) -> String {
        let found = rule(&Call::new("", tool, json_value(args).unwrap()));
        let shown = found.signs.iter().map(|sign| format!("{} {}", sign.how.word(), sign.name));
        let unclear = found.is_unclear.then(|| "unclear".to_owned());
        shown.chain(unclear).collect::<Vec<_>>().join(", ")
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
            (claude, "Read", r#"{"file_path":"/w/.claude/skills/csv/SKILL.md"}"#, "read csv"),
            (claude, "Read", r#"{"file_path":"/s/csv/SKILL.md"}"#, "unclear"),
            (claude, "Read", r#"{"file_path":"/s/csv/notes.md"}"#, ""),
            (claude, "Read", r#"{"file_path":"drafts/csv/SKILL.md"}"#, ""),
            (claude, "Read", r#"{"file_path":"SKILL.md"}"#, ""),
            (claude, "Bash", r#"{"command":"cat s/csv/SKILL.md"}"#, ""),
            (gemini, "activate_skill", r#"{"name":"csv"}"#, "tool csv"),
            (gemini, "read_file", r#"{"file_path":"csv/SKILL.md"}"#, ""),
            (copilot, "skill", r#"{"skill":"csv"}"#, "tool csv"),
            (copilot, "skill", r#"{"name":"csv"}"#, ""),
            (opencode, "skill", r#"{"name":"csv"}"#, "tool csv"),
            (pi, "read", r#"{"path":"/h/.pi/skills/csv/SKILL.md"}"#, "read csv"),
            (pi, "read", r#"{"path":"/etc/other/csv/SKILL.md"}"#, "unclear"),
            (pi, "bash", r#"{"command":"cat /h/skills/csv/SKILL.md"}"#, "read csv"),
            (pi, "bash", r#"{"command":"cat /etc/other/csv/SKILL.md"}"#, "unclear"),
            (pi, "bash", r#"{"command":"ls /h/skills/csv/SKILL.md"}"#, ""),
            (any_agent, "view", r#"{"path":"csv/SKILL.md"}"#, "read csv"),
            (any_agent, "skill", r#"{"name":"csv"}"#, "tool csv"),
            (any_agent, "bash", r#"{"command":"head csv/SKILL.md"}"#, "read csv"),
            // The kind of a tool over the Agent Client Protocol.
            (any_agent, "run", r#"{"command":"head csv/SKILL.md"}"#, "read csv"),
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
            "cat '/w/my project/skills/csv/SKILL.md' | head -20",
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
            "cp csv/SKILL.md other",
            "python3 app/scripts/build.py",
            "cat .agents/skills/csv/scripts/sum.py",
        ] {
            assert_eq!(command(script), "", "{script}");
        }
    }

    #[test]
    fn a_command_that_does_not_name_the_skill_is_unclear() {
        for script in ["cat skills/*/SKILL.md", "cat SKILL.md"] {
            assert_eq!(command(script), "unclear", "{script}");
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
            "uv run --with pandas .agents/skills/csv/scripts/sum.py",
            "uv run python .agents/skills/csv/scripts/sum.py",
            "python3 -W ignore .agents/skills/csv/scripts/sum.py",
            "python3.12 .agents/skills/csv/scripts/sum.py",
            "npx tsx .agents/skills/csv/scripts/sum.ts",
            "node --import tsx .agents/skills/csv/scripts/sum.ts",
            "Rscript .agents/skills/csv/scripts/sum.R",
            "php .agents/skills/csv/scripts/sum.php",
            "poetry run python .agents/skills/csv/scripts/sum.py",
            "time -p python3 .agents/skills/csv/scripts/sum.py",
            "source .agents/skills/csv/scripts/env.sh",
            ". .agents/skills/csv/scripts/env.sh",
            "S=.agents/skills/csv; python3 $S/scripts/sum.py",
            "export S=.agents/skills/csv && \"${S}/scripts/sum.sh\"",
            "cd .agents/skills/csv && python3 -m scripts.sum",
            "cd .agents/skills/csv/scripts && python3 sum.py",
            "awk -f .agents/skills/csv/scripts/sum.awk data.csv",
            "bash .agents/skills/csv/scripts/sum.sh -c 3",
            "cd .agents/skills/csv && python3 \"$PWD/scripts/sum.py\"",
            "cd \"$(git rev-parse --show-toplevel)/.agents/skills/csv\" && python3 scripts/sum.py",
            "cd src && python3 $(git rev-parse --show-toplevel)/.agents/skills/csv/scripts/sum.py",
            "PYTHONPATH=.agents/skills/csv python3 -m scripts.sum data.csv",
            "PYTHONPATH=\"$PYTHONPATH:$PWD/.agents/skills/csv\" python3 -m scripts.sum",
            "export PYTHONPATH=.agents/skills/csv; python3 -m scripts.sum",
            "env PYTHONPATH=.agents/skills/csv python3 -m scripts.sum",
            "bash .agents/skills/csv/scripts/sum.sh <<'EOF'\n1,2\nEOF",
        ] {
            assert_eq!(command(script), "script csv", "{script}");
        }
    }

    #[test]
    fn what_may_run_a_script_of_a_skill_is_unclear() {
        for script in [
            "ls .agents/skills/csv/scripts/*.py | xargs -n1 python3",
            "echo data.csv | xargs -n1 python3 .agents/skills/csv/scripts/sum.py",
            "find .agents/skills/csv/scripts -name '*.py' -exec python3 {} \\;",
            "find .agents -name sum.py -exec python3 {} +",
            "cp -r .agents/skills/csv /tmp/csv && python3 /tmp/csv/scripts/sum.py",
            "cp .agents/skills/csv/scripts/sum.py /tmp",
            "ln -s $PWD/.agents/skills/csv tools",
            "my-runner .agents/skills/csv/scripts/sum.py",
            "docker run -v $PWD:/w image python /w/.agents/skills/csv/scripts/sum.py",
            "python3 $SKILL/scripts/sum.py",
            "cd \"$SKILL\" && python3 scripts/sum.py",
            "python3 -c \"import runpy; runpy.run_path('.agents/skills/csv/scripts/sum.py')\"",
            "python3 - <<'EOF'\nrun(join('.agents/skills/csv', 'scripts', 'sum.py'))\nEOF",
            "for f in .agents/skills/csv/scripts/*.sh; do bash $f; done",
            "ls .agents/skills/csv/scripts/*.sh | while read f; do sh \"$f\"; done",
            "cat .agents/skills/csv/scripts/sum.py | python3 -",
            "eval \"$(cat .agents/skills/csv/scripts/env.sh)\"",
            "python3 lint.py .agents/skills/csv/scripts/sum.py",
            // A module of the skill, or an installed one.
            "PYTHONPATH=.agents/skills/csv/scripts python3 -m sum",
            "cd .agents/skills/csv/scripts && python3 -m http.server",
        ] {
            assert_eq!(command(script), "unclear", "{script}");
        }
    }

    #[test]
    fn looking_at_a_script_is_no_use() {
        for script in [
            "cd .agents/skills/csv/scripts && ls -la && wc -l sum.py",
            "ls .agents/skills/csv/scripts; python3 --version",
            "ls .agents/skills/csv/scripts/*.py | xargs wc -l",
            "find .agents/skills/csv/scripts -name '*.py' -exec grep -n total {} +",
            "grep -rn total .agents/skills/csv/scripts",
            "chmod +x .agents/skills/csv/scripts/sum.sh",
            "cp sum.py .agents/skills/csv/scripts/sum.py",
            "python3 $HOME/scripts/sum.py",
            "cd \"$(git rev-parse --show-toplevel)\" && python3 scripts/sum.py",
            "cd `pwd` && ./scripts/test.sh",
            "PYTHONPATH=src python3 -m pytest",
            "bash scripts/build.sh && ./scripts/test.sh",
            "npm run build",
        ] {
            assert_eq!(command(script), "", "{script}");
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
