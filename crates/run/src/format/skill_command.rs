//! Whether a command that an agent ran reads the `SKILL.md` of a skill, or runs one of its scripts (spec
//! 18.3). Its words say what it was to do, its output what it did. Where neither decides, it is unclear.

use evalrig_core::model::{SkillUseKind, Value};

use super::command_place::{ModulePlaces, new_directory};
use super::shell_variables::with_variables;
use super::shell_words::{ShellCommand, is_assignment, is_too_long, shell_commands};
use super::skill_output::{front_matter_names, reports_failure};
use super::skill_path::{SkillFilePlace, as_relative, path_parts, skill_of_file};
use super::skill_rule::{SkillSign, SkillSigns};
use super::skill_script::{self, RunnerKind, is_near_skills, is_runner, scripts_named};

/// Shells inside shells that are looked into.
const DEEPEST: usize = 3;

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

/// Programs that print lines of files. They read a file whose every line is wanted.
const SEARCHERS: &[&str] = &["grep", "egrep", "fgrep", "rg", "ag", "ack"];
const EVERY_LINE: &[&str] = &["", ".", ".*", "^", "$"];

const SHELLS: &[&str] = &["sh", "bash", "zsh", "dash", "ksh", "pwsh", "powershell"];

/// Programs that run the command after them.
const WRAPPERS: &[&str] = &[
    "command",
    "builtin",
    "exec",
    "env",
    "nohup",
    "sudo",
    "doas",
    "timeout",
    "gtimeout",
    "nice",
    "ionice",
    "stdbuf",
    "setsid",
    "time",
    "unbuffer",
    "caffeinate",
];

/// Programs that do not print the files that they are given.
const NOT_READING: &[&str] = &[
    "ls",
    "dir",
    "tree",
    "find",
    "fd",
    "echo",
    "printf",
    "wc",
    "stat",
    "file",
    "du",
    "test",
    "[",
    "[[",
    "cp",
    "mv",
    "rm",
    "ln",
    "touch",
    "mkdir",
    "chmod",
    "chown",
    "install",
    "tee",
    "tar",
    "zip",
    "basename",
    "dirname",
    "realpath",
    "readlink",
    "which",
    "type",
    "md5sum",
    "sha256sum",
    "shasum",
    "cksum",
    "git",
    "diff",
    "cmp",
    "read",
    "export",
    "apply_patch",
    "Test-Path",
    "Get-ChildItem",
    "gci",
];

/// Flags by which `find` runs programs.
const RUNS_PROGRAMS: &[&str] = &["-exec", "-execdir", "-ok", "-okdir", "-x", "-X"];

/// The skills that a command uses. `command` is a script or a list of words.
pub(super) fn skills_of_command(command: &Value, output: Option<&str>) -> SkillSigns {
    let mut reading = CommandReading::default();
    match command {
        Value::String(script) => reading.add_script(script, 0),
        Value::List(words) => {
            let words = words.iter().filter_map(Value::as_str).map(str::to_owned);
            let command = ShellCommand { words: words.collect(), ..ShellCommand::default() };
            reading.add_command(&command, None, "", 0);
        }
        _ => {}
    }
    reading.judged_by(output)
}

/// What the words of a command say.
#[derive(Debug, Default)]
struct CommandReading {
    found: Vec<CommandSign>,
    /// It names a `SKILL.md` that may be one of a skill.
    is_mentioned: bool,
    /// What it does with that file is not known.
    is_unknown: bool,
    /// It names a `SKILL.md` that is not below a directory of skills, and may read it.
    elsewhere: Option<ElsewhereUse>,
    /// Scripts of skills, as it names them, that it may run.
    may_run: Vec<String>,
    /// The first script of a skill that it names for whatever reason.
    named_script: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum ElsewhereUse {
    Named,
    Read,
}

#[derive(Debug)]
struct CommandSign {
    sign: SkillSign,
    /// The file as the command names it.
    written: String,
}

impl CommandReading {
    fn add_script(&mut self, script: &str, depth: usize) {
        if depth > DEEPEST || is_too_long(script) {
            self.note_unknown(&[script], "");
            self.note_scripts(&[script], "");
            return;
        }
        let mut directory = String::new();
        let commands = with_variables(shell_commands(script));
        for (at, command) in commands.iter().enumerate() {
            match new_directory(&command.words, &directory) {
                Some(changed) => directory = changed,
                None => {
                    let before = at.checked_sub(1).map(|before| &commands[before]);
                    self.add_command(command, before, &directory, depth);
                }
            }
        }
    }

    fn add_command(
        &mut self,
        command: &ShellCommand,
        before: Option<&ShellCommand>,
        directory: &str,
        depth: usize,
    ) {
        let words = without_wrappers(&command.words);
        let Some((program, arguments)) = words.split_first() else {
            return;
        };
        let name = base_name(program);
        let body = command.here_document.as_deref();
        let modules = ModulePlaces { directory, path: command.python_path() };
        if self.add_run_script(name, program, arguments, &modules) {
            return;
        }
        if SHELLS.contains(&name) {
            let code = arguments.iter().position(|word| is_code_flag(word));
            let code = code.and_then(|at| arguments.get(at + 1)).map(String::as_str);
            if let Some(script) = code.or(body) {
                return self.add_script(script, depth + 1);
            }
        }
        match name {
            "eval" => self.add_script(&arguments.join(" "), depth + 1),
            "xargs" => self.add_xargs(arguments, before, directory),
            _ if reads_files(name, arguments) => {
                let files = arguments.iter().chain(&command.input);
                files.for_each(|file| self.add_file(file, directory));
            }
            _ => {
                let mut texts: Vec<&str> = arguments.iter().map(String::as_str).collect();
                texts.extend(command.input.as_deref().into_iter().chain(body));
                self.note(name, &texts, directory);
                let piped = before.filter(|_| command.is_piped);
                self.note_open_script(program, arguments, piped, directory);
            }
        }
    }

    /// A file that a program prints.
    fn add_file(&mut self, file: &str, directory: &str) {
        let is_of_skill = SkillFilePlace::of(directory, file) == SkillFilePlace::Skills;
        match skill_of_file(&path_parts(directory, file)).filter(|_| is_of_skill) {
            Some(name) => {
                self.is_mentioned = true;
                let sign = SkillSign { name, how: SkillUseKind::Read };
                let written = as_relative("", file).1.to_owned();
                self.found.push(CommandSign { sign, written });
            }
            None => {
                self.note_unknown(&[file], directory);
                self.note_left_scripts("", &[file], directory);
            }
        }
    }

    /// Programs that get the names of files from the command before them.
    fn add_xargs(&mut self, arguments: &[String], before: Option<&ShellCommand>, directory: &str) {
        let named = before.map_or(&[][..], |before| &before.words);
        let reader = arguments.iter().position(|word| READERS.contains(&base_name(word)));
        match (reader, named.split_first()) {
            (Some(_), Some((first, files))) if matches!(first.as_str(), "echo" | "printf") => {
                files.iter().for_each(|file| self.add_file(file, directory));
            }
            _ => {
                let texts: Vec<&str> = named.iter().chain(arguments).map(String::as_str).collect();
                self.note_unknown(&texts, directory);
                let is_option = |word: &&String| word.starts_with(['-', '{', '%', '0', '1']);
                let program = arguments.iter().find(|word| !is_option(word));
                if program.is_some_and(|program| !is_harmless(base_name(program))) {
                    self.note_scripts(&texts, directory);
                    self.note_open_scripts();
                }
            }
        }
    }

    /// Whether the command runs a script of a skill, or a module that may be one.
    fn add_run_script(
        &mut self,
        name: &str,
        program: &str,
        arguments: &[String],
        places: &ModulePlaces<'_>,
    ) -> bool {
        let script = if is_runner(name) {
            script_of_runner(name, arguments)
        } else if takes_program(name) {
            skill_script::program_file(arguments).map(str::to_owned)
        } else {
            // A bare name is that of a program on the path.
            Some(program.to_owned()).filter(|program| program.contains(['/', '\\']))
        };
        let Some(script) = script else { return false };
        let is_module = skill_script::is_module(&script, arguments);
        let skill = places.all(is_module).find_map(|one| skill_script::skill_of(&script, &one));
        let Some(name) = skill else { return false };
        let written = as_relative("", &script).1.to_owned();
        if is_module && !skill_script::is_below_scripts(&script) {
            // It may be an installed one.
            self.may_run.push(written);
        } else {
            self.found
                .push(CommandSign { sign: SkillSign { name, how: SkillUseKind::Script }, written });
        }
        true
    }

    /// What runs may be a script of a skill under a name that says nothing: what a loop or a pipe gives.
    fn note_open_script(
        &mut self,
        program: &str,
        arguments: &[String],
        piped: Option<&ShellCommand>,
        directory: &str,
    ) {
        let name = base_name(program);
        let is_run = is_runner(name);
        let script = if is_run { script_of_runner(name, arguments) } else { None };
        let is_open = match &script {
            Some(script) => skill_script::is_open(script),
            None if is_run => arguments.iter().any(|word| skill_script::is_open(word)),
            None => skill_script::is_open(program),
        };
        if is_open {
            self.note_open_scripts();
        } else if is_run && script.is_none() {
            let piped = piped.map_or(&[][..], |piped| &piped.words);
            let piped: Vec<&str> = piped.iter().map(String::as_str).collect();
            self.note_scripts(&piped, directory);
        } else if program.contains('/') && !is_harmless(name) {
            self.note_scripts(&[program], directory);
        }
    }

    /// A command that is not known to print these files.
    fn note(&mut self, name: &str, texts: &[&str], directory: &str) {
        let runs = (name == "find").then(|| program_of_find(texts)).flatten();
        if is_harmless(name) && runs.is_none_or(is_harmless) {
            self.note_left_scripts(name, texts, directory);
        } else {
            self.note_scripts(texts, directory);
            let found = texts.iter().filter(|text| runs.is_some() && is_near_skills(text));
            self.may_run.extend(found.map(|text| (*text).to_owned()));
        }
        if is_harmless(name) && runs.is_none() {
            let places = places(texts, directory);
            self.is_mentioned |= places.contains(&SkillFilePlace::Skills);
            self.note_elsewhere(&places, ElsewhereUse::Named);
        } else {
            self.note_unknown(texts, directory);
        }
    }

    /// A command that does not run the files that it is given, but may tell others their names.
    fn note_left_scripts(&mut self, name: &str, texts: &[&str], directory: &str) {
        if let Some(first) = scripts_named(texts, directory).first() {
            self.named_script = Some((*first).to_owned());
        }
        if skill_script::copies_scripts(name, texts, directory) {
            self.may_run.extend(texts.iter().map(|text| (*text).to_owned()));
        }
    }

    fn note_unknown(&mut self, texts: &[&str], directory: &str) {
        let places = places(texts, directory);
        if places.contains(&SkillFilePlace::Skills) {
            (self.is_mentioned, self.is_unknown) = (true, true);
        }
        self.note_elsewhere(&places, ElsewhereUse::Read);
    }

    /// A command that is not known to leave these scripts alone.
    fn note_scripts(&mut self, texts: &[&str], directory: &str) {
        let named = scripts_named(texts, directory).into_iter().map(str::to_owned);
        self.may_run.extend(named);
    }

    /// A command runs what it does not name: it may be a script that an earlier command named.
    fn note_open_scripts(&mut self) {
        self.may_run.extend(self.named_script.clone());
    }

    fn note_elsewhere(&mut self, places: &[SkillFilePlace], use_of_it: ElsewhereUse) {
        if places.contains(&SkillFilePlace::Elsewhere) {
            self.elsewhere = self.elsewhere.max(Some(use_of_it));
        }
    }

    /// Whether it read a `SKILL.md` of which nothing says whether it is that of a skill.
    fn read_elsewhere(&self, output: &str) -> bool {
        match self.elsewhere {
            Some(ElsewhereUse::Read) => !reports_failure(output, &["SKILL.md"]),
            Some(ElsewhereUse::Named) => !front_matter_names(output).is_empty(),
            None => false,
        }
    }

    /// A file whose front matter is in the output was read, whatever the words say. Without an output, or
    /// with the news that the file is missing, it was not.
    fn judged_by(self, output: Option<&str>) -> SkillSigns {
        let Some(output) = output else {
            let signs = self.found.into_iter().map(|one| one.sign).collect();
            let is_unclear = self.is_unknown
                || self.elsewhere == Some(ElsewhereUse::Read)
                || !self.may_run.is_empty();
            return SkillSigns { signs, is_unclear };
        };
        let names = if self.is_mentioned { front_matter_names(output) } else { Vec::new() };
        let is_silent = output.trim().is_empty();
        let is_elsewhere = !is_silent && self.read_elsewhere(output);
        let may_have_run = self.may_run.iter().any(|one| !reports_failure(output, &[one]));
        let holds = |one: &CommandSign| match one.sign.how {
            SkillUseKind::Read if is_silent => false,
            SkillUseKind::Read => {
                let file = format!("{}/SKILL.md", one.sign.name);
                names.contains(&one.sign.name) || !reports_failure(output, &[&one.written, &file])
            }
            _ => !reports_failure(output, &[&one.written]),
        };
        let found = self.found.into_iter().filter(holds);
        let mut signs: Vec<SkillSign> = found.map(|one| one.sign).collect();
        let is_undecided = self.is_unknown
            && names.is_empty()
            && !is_silent
            && !reports_failure(output, &["SKILL.md"]);
        let is_unclear = is_undecided || is_elsewhere || may_have_run;
        for name in names {
            let is_known = |sign: &SkillSign| sign.name == name && sign.how == SkillUseKind::Read;
            if !signs.iter().any(is_known) {
                signs.push(SkillSign { name, how: SkillUseKind::Read });
            }
        }
        SkillSigns { signs, is_unclear }
    }
}

fn places(texts: &[&str], directory: &str) -> Vec<SkillFilePlace> {
    texts.iter().map(|text| SkillFilePlace::of(directory, text)).collect()
}

fn reads_files(name: &str, arguments: &[String]) -> bool {
    if SEARCHERS.contains(&name) {
        let pattern = arguments.iter().find(|word| !word.starts_with('-'));
        return pattern.is_some_and(|pattern| EVERY_LINE.contains(&pattern.as_str()));
    }
    let edits = name == "sed" && arguments.iter().any(|word| word.starts_with("-i"));
    READERS.contains(&name) && !edits
}

/// Whether it is known what a program does with the files that it is given, and that it does not run them.
fn is_harmless(name: &str) -> bool {
    [NOT_READING, SEARCHERS, READERS].iter().any(|list| list.contains(&name))
}

/// The program that `find` runs for what it finds.
fn program_of_find<'t>(arguments: &[&'t str]) -> Option<&'t str> {
    let at = arguments.iter().position(|text| RUNS_PROGRAMS.contains(text))?;
    Some(arguments.get(at + 1).map_or("", |program| base_name(program)))
}

/// Whether the program may get a program of its own as a file.
fn takes_program(name: &str) -> bool {
    matches!(name, "awk" | "sed")
}

fn script_of_runner(name: &str, arguments: &[String]) -> Option<String> {
    let kind = if SHELLS.contains(&name) { RunnerKind::Shell } else { RunnerKind::Other };
    skill_script::script_of_runner(kind, arguments)
}

/// The program that is really run. Flags of wrappers may have values, so known programs go first.
fn without_wrappers(words: &[String]) -> &[String] {
    let is_program = |word: &String| {
        let lists = [READERS, SEARCHERS, SHELLS, WRAPPERS, NOT_READING, &["xargs"]];
        let name = base_name(word);
        lists.iter().any(|list| list.contains(&name)) || is_runner(name)
    };
    let is_plain = |word: &String| {
        let is_option = word.starts_with(|c: char| c == '-' || c.is_ascii_digit());
        !is_option && !is_assignment(word)
    };
    let mut rest = words;
    while let Some((first, more)) = rest.split_first()
        && WRAPPERS.contains(&base_name(first))
    {
        let at = more.iter().position(is_program).or_else(|| more.iter().position(is_plain));
        rest = at.map_or(&[][..], |at| &more[at..]);
    }
    rest
}

/// `-c`, groups such as `-lc`, and `-Command`.
fn is_code_flag(word: &str) -> bool {
    word.eq_ignore_ascii_case("-command")
        || word.strip_prefix('-').is_some_and(|flags| {
            flags.ends_with('c') && flags.bytes().all(|byte| byte.is_ascii_alphabetic())
        })
}

fn base_name(path: &str) -> &str {
    path.rsplit(['/', '\\']).next().unwrap_or(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "---\nname: csv\ndescription: x\n---\nAdd it up.\n";
    const MISSING: &str = "cat: .agents/skills/csv/SKILL.md: No such file or directory\n";

    fn shown(script: &str, output: Option<&str>) -> String {
        let found = skills_of_command(&script.into(), output);
        let signs = found.signs.iter().map(|sign| format!("{} {}", sign.how.word(), sign.name));
        let unclear = found.is_unclear.then(|| "unclear".to_owned());
        signs.chain(unclear).collect::<Vec<_>>().join(", ")
    }

    #[test]
    fn the_output_says_whether_a_file_was_read() {
        for (script, output, expected) in [
            ("cat .agents/skills/csv/SKILL.md", TEXT, "read csv"),
            ("cat .agents/skills/csv/SKILL.md; ls", "notes.txt\n", "read csv"),
            ("sed -n 5,9p .agents/skills/csv/SKILL.md", "Add it up.\n", "read csv"),
            ("cat .agents/skills/csv/SKILL.md; ls", MISSING, ""),
            ("cat .agents/skills/csv/SKILL.md || true", MISSING, ""),
            (
                "cd .agents/skills/csv; cat SKILL.md; ls",
                "cat: SKILL.md: No such file or directory",
                "",
            ),
            ("cat .agents/skills/csv/SKILL.md 2>/dev/null || true", "", ""),
            ("cat .agents/skills/csv/SKILL.md | head", "\n", ""),
            (
                "cat .agents/skills/csv/SKILL.md .agents/skills/git/SKILL.md; true",
                MISSING,
                "read git",
            ),
            ("python3 .agents/skills/csv/scripts/run.py", "", "script csv"),
            (
                "python3 .agents/skills/csv/scripts/run.py; true",
                "can't open .agents/skills/csv/scripts/run.py: No such file",
                "",
            ),
        ] {
            assert_eq!(shown(script, Some(output)), expected, "{script}");
        }
    }

    #[test]
    fn a_file_is_read_in_many_ways() {
        for script in [
            "echo \"$(cat .agents/skills/csv/SKILL.md)\"",
            "echo \"`cat .agents/skills/csv/SKILL.md`\"",
            "for f in .agents/skills/*/SKILL.md; do cat \"$f\"; done",
            "ls .agents/skills/*/SKILL.md | while read f; do cat \"$f\"; done",
            "find . -name SKILL.md -exec cat {} +",
            "find . -name SKILL.md | xargs cat",
            "cat .agents/skills/*/SKILL.md",
            "cat SKILL.md",
            "python3 -c \"print(open('.agents/skills/csv/SKILL.md').read())\"",
            "python3 - <<'EOF'\nprint(open('.agents/skills/csv/SKILL.md').read())\nEOF",
            "bash <<'EOF'\ncat .agents/skills/csv/SKILL.md\nEOF",
            "git show HEAD:.agents/skills/csv/SKILL.md",
            "grep -n '' .agents/skills/csv/SKILL.md",
        ] {
            assert_eq!(shown(script, Some(TEXT)), "read csv", "{script}");
        }
        for script in [
            "echo \"$(cat .agents/skills/csv/SKILL.md)\"",
            "echo .agents/skills/csv/SKILL.md | xargs cat",
            "timeout 5 cat .agents/skills/csv/SKILL.md",
            "sudo -u me cat .agents/skills/csv/SKILL.md",
            "env FOO=1 cat .agents/skills/csv/SKILL.md",
            "cd -- .agents/skills/csv && cat SKILL.md",
            "cd .agents/skills && cat csv/SKILL.md",
            "grep '' .agents/skills/csv/SKILL.md",
            "eval 'cat .agents/skills/csv/SKILL.md'",
        ] {
            assert_eq!(shown(script, Some("Add it up.")), "read csv", "{script}");
        }
    }

    #[test]
    fn what_is_not_understood_is_unclear() {
        for script in [
            "python3 -c \"print(len(open('.agents/skills/csv/SKILL.md').read()))\"",
            "for f in .agents/skills/*/SKILL.md; do show $f; done",
            "find . -name SKILL.md -exec show {} +",
            "my-viewer .agents/skills/csv/SKILL.md",
            "python3 <<EOF\nshow('.agents/skills/csv/SKILL.md')\nEOF",
        ] {
            assert_eq!(shown(script, Some("Something")), "unclear", "{script}");
            assert_eq!(shown(script, None), "unclear", "{script}");
            assert_eq!(shown(script, Some("")), "", "{script}");
            assert_eq!(shown(script, Some(MISSING)), "", "{script}");
        }
    }

    #[test]
    fn a_file_outside_of_the_directories_of_skills_is_unclear() {
        for (script, output, expected) in [
            ("cat /etc/other/csv/SKILL.md", Some(TEXT), "unclear"),
            ("cat /etc/other/csv/SKILL.md", Some("Add it up."), "unclear"),
            ("cd /etc/other && cat csv/SKILL.md", Some(TEXT), "unclear"),
            ("python3 -c \"print(open('/etc/other/csv/SKILL.md').read())\"", Some(TEXT), "unclear"),
            ("git diff --no-index /dev/null /etc/other/csv/SKILL.md", Some(TEXT), "unclear"),
            ("cat /etc/other/csv/SKILL.md", None, "unclear"),
            ("cat /etc/other/csv/SKILL.md || true", Some(""), ""),
            (
                "cat /etc/other/csv/SKILL.md; true",
                Some("cat: /etc/other/csv/SKILL.md: No such file or directory"),
                "",
            ),
            ("ls /etc/other/csv/SKILL.md", Some("/etc/other/csv/SKILL.md"), ""),
            ("wc -l /etc/other/csv/SKILL.md", Some("7 /etc/other/csv/SKILL.md"), ""),
        ] {
            assert_eq!(shown(script, output), expected, "{script}");
        }
    }

    #[test]
    fn other_files_and_mere_words_are_no_use() {
        for script in [
            "cat drafts/csv/SKILL.md",
            "cd /ws/drafts; cat old/csv/SKILL.md.bak",
            "python3 -c \"open('drafts/csv/SKILL.md')\"",
        ] {
            assert_eq!(shown(script, Some(TEXT)), "", "{script}");
        }
        for script in [
            "cat > notes.sh <<'EOF'\ncat .agents/skills/csv/SKILL.md\nEOF",
            "cat <<-EOF >> notes.sh\n\tcat .agents/skills/csv/SKILL.md\n\tEOF",
            "echo \"cat x; cat .agents/skills/csv/SKILL.md\"",
            "grep -rn total .agents/skills/csv/SKILL.md",
            "ls -la .agents/skills/csv/SKILL.md",
            "test -f .agents/skills/csv/SKILL.md && echo yes",
            "cat <<< .agents/skills/csv/SKILL.md",
        ] {
            assert_eq!(shown(script, Some("Something")), "", "{script}");
        }
    }
}
