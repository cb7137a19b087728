//! Commands that are accepted and refused, and real shells that must not run a value.

use std::path::Path;
use std::process::{Command, Stdio};

use camino::Utf8PathBuf;
use evalrig_core::source::Reach;

use crate::disk::{Access, Durability, open_regular, remove_file, replace};

use super::super::placeholder::PlaceholderValues;
use super::super::shell::script;
use super::*;

/// Commands that are accepted, so no value may run in them.
const SAFE: &[&str] = &[
    "printf %s {PROMPT}",
    "printf %s \"{PROMPT}\"",
    "printf %s '{PROMPT}'",
    "printf %s \"a{PROMPT}b\" x{TEST_ID}y",
    "printf %s --id={TEST_ID} {FILES}",
    "X={PROMPT}; printf %s \"$X\"",
    "X={PROMPT}; printf %s $X",
    "X=\"{PROMPT}\" printf %s x",
    "export X={PROMPT}; printf %s \"$X\"",
    "X=${Y:-{PROMPT}}; printf %s \"$X\"",
    "printf %s \"${Y:-{PROMPT}}\"",
    "printf %s \"$(printf %s {PROMPT})\"",
    "printf %s \"$(printf %s \"{PROMPT}\")\"",
    "printf %s `printf %s {PROMPT}`",
    "printf %s \"`printf %s {PROMPT}`\"",
    "X=$(printf %s {PROMPT}); printf %s \"$X\"",
    "(printf %s {PROMPT})",
    "{ printf %s {PROMPT}; }",
    "printf %s {PROMPT} | cat",
    "printf %s {PROMPT} | sed s/a/b/ | tail -n 1",
    "printf %s {PROMPT} | awk '{ print $1 }'",
    "printf %s {PROMPT} > out; cat out",
    "cat < {PROMPT_FILE}",
    "cat {PROMPT_FILE} | tail -n 1",
    "cat <<EOF\n{PROMPT}\nEOF",
    "cat <<'EOF'\n{PROMPT}\nEOF",
    "cat <<-EOF\n\t\"{PROMPT}\"\n\tEOF",
    "cat <<EOF | cat\n'{PROMPT}'\nEOF",
    "if [ {TEST_ID} = a ]; then printf %s {PROMPT}; fi",
    "if test \"{TEST_ID}\" = a; then :; else printf %s {PROMPT}; fi",
    "case {TEST_ID} in a) printf %s {PROMPT};; *) printf %s b;; esac",
    "for x in {FILES}; do printf %s \"$x\"; done",
    "for x in {PROMPT}; do cat \"$x\" 2>/dev/null; done",
    "# {PROMPT}\nprintf x",
    "printf x # {PROMPT}",
    "true && printf %s {PROMPT} || printf no",
    "printf %s {PROMPT} &\nwait",
    "set -- {PROMPT}; printf %s \"$1\"",
    "f() { printf %s \"$1\"; }; f {PROMPT}",
    "sh -c 'printf %s \"$1\"' sh {PROMPT}",
    "sh -c 'printf %s \"$@\"' sh {FILES}",
    "bash -ec 'printf %s \"$1\" | cat' bash \"{PROMPT}\"",
    "X={PROMPT} sh -c 'printf %s \"$X\"'",
    "env X={PROMPT} sh -c 'printf %s \"$X\"'",
    "env -u HOME printf %s {PROMPT}",
    "timeout 5 printf %s {PROMPT}",
    "printf %s {PROMPT} | sh -c 'cat'",
    "printf %s {PROMPT} | xargs -0 printf %s",
    "printf '%s\\0' {FILES} | xargs -0 -n 1 sh -c 'cat \"$1\"' sh 2>/dev/null",
    "python3 -c 'import sys; print(sys.argv[1])' {PROMPT} 2>/dev/null",
    "perl -e 'print $ARGV[0]' {PROMPT}",
    "awk -v x={TEST_ID} 'BEGIN { print x }'",
    "printf %s \\{PROMPT}",
    "printf %s \"it's {PROMPT}\"",
    "printf %s 'say \"{PROMPT}\"'",
    "printf %s \"\"{PROMPT}''",
    "! printf %s {PROMPT}",
    "S=printf; $S %s {PROMPT}",
    "S='printf %s'; $S {PROMPT}",
    "\"./agent\" -c {PROMPT}",
    "\"$HOME/agent\" -c {PROMPT}",
    "$(echo printf) %s {PROMPT}",
    "env -S 'printf %s' {PROMPT}",
    "env --split-string='printf %s' {PROMPT}",
    "BASH_ENV=/dev/null bash -c 'printf %s \"$1\"' bash {PROMPT}",
    "printf %s {PROMPT} | env BASH_ENV=/dev/null cat",
    "git -c color.ui=never grep --no-index -e {PROMPT} prompt",
    "printf %s {PROMPT} | xargs -I% printf %s %",
    "printf %s {PROMPT} | xargs --replace=Q sh -c 'printf %s \"$1\"' sh Q 2>/dev/null",
    "C=-c; printf %s $C {PROMPT}",
    "timeout -k 2 5 printf %s {PROMPT}",
    "nice -n 5 printf %s {PROMPT}",
    "nohup printf %s {PROMPT} 2>/dev/null",
    "bash -c 'X=$1; printf %s \"${X:0:1}${X#a}${X@Q}\"' bash {PROMPT}",
    "bash -c 'A=(); A[0]=$1; A[1]=$2; printf %s \"${A[0]}\"' bash {PROMPT}",
    "bash -c 'N=$#; printf %s $((N + 1))' bash {PROMPT}",
    "git log --grep {PROMPT} 2>/dev/null",
];

/// Commands in which a value would be run.
const UNSAFE: &[&str] = &[
    "sh -c \"agent {PROMPT}\"",
    "sh -c 'agent {PROMPT}'",
    "sh -c {PROMPT}",
    "sh -c agent\\ {PROMPT}",
    "/bin/sh -c \"agent {PROMPT}\"",
    "bash -lc \"agent {PROMPT}\"",
    "bash -l -c \"agent {PROMPT}\"",
    "bash -o pipefail -c \"agent {PROMPT}\"",
    "bash --norc -c \"agent {PROMPT}\"",
    "zsh -c \"agent '{PROMPT}'\"",
    "fish --command=\"agent {PROMPT}\"",
    "dash -ec 'agent \"{TEST_ID}\"'",
    "busybox sh -c \"agent {PROMPT}\"",
    "cd x && exec sh -c \"agent {PROMPT}\"",
    "env A=b sh -c \"agent {PROMPT}\"",
    "timeout 60 bash -c \"agent {FILES}\"",
    "sudo -u other sh -c \"agent {PROMPT}\"",
    "nohup sh -c \"agent {PROMPT}\" &",
    "docker exec box sh -c \"agent {PROMPT}\"",
    "docker run --rm image bash -lc \"agent {PROMPT}\"",
    "kubectl exec pod -- sh -c \"agent {PROMPT}\"",
    "echo a | xargs sh -c \"agent {PROMPT}\"",
    "printf %s {PROMPT} | xargs -I{} sh -c 'agent {}'",
    "find {FILES} -exec sh -c 'cat {}' \\;",
    "if true; then sh -c \"agent {PROMPT}\"; fi",
    "(sh -c \"agent {PROMPT}\")",
    "X=$(sh -c \"agent {PROMPT}\"); echo \"$X\"",
    "echo \"`sh -c \\\"agent {PROMPT}\\\"`\"",
    "eval agent {PROMPT}",
    "eval \"agent {PROMPT}\"",
    "command eval {PROMPT}",
    "X={PROMPT}; eval \"agent $X\"",
    "X={PROMPT}; Y=\"a $X\"; sh -c \"agent $Y\"",
    "export X={PROMPT}; sh -c 'eval \"$X\"'",
    "X={PROMPT} sh -c 'sh -c \"agent $X\"'",
    "sh -c 'eval \"$1\"' sh {PROMPT}",
    "sh -c 'sh -c \"agent $1\"' sh {PROMPT}",
    "sh -c \"agent $(printf %s {PROMPT})\"",
    "for x in {FILES}; do sh -c \"cat $x\"; done",
    "set -- {PROMPT}; eval \"$1\"",
    "f() { sh -c \"agent $1\"; }; f {PROMPT}",
    "printf %s {PROMPT} | while read -r x; do eval \"$x\"; done",
    "sh <<EOF\nagent {PROMPT}\nEOF",
    "bash -s <<'EOF'\nagent {PROMPT}\nEOF",
    "X={PROMPT}; sh <<EOF\nagent $X\nEOF",
    "bash <<< \"agent {PROMPT}\"",
    "echo {PROMPT} | sh",
    "echo agent {PROMPT} | cat | bash -s",
    "echo {PROMPT} | python3",
    "echo {PROMPT} | python3 -",
    "sh {PROMPT_FILE}",
    "sh < {PROMPT_FILE}",
    ". {PROMPT_FILE}",
    "source <(echo {PROMPT})",
    "bash <(echo {PROMPT})",
    "trap {PROMPT} EXIT",
    "{PROMPT}",
    "X=1 {PROMPT} a",
    "ssh host agent {PROMPT}",
    "ssh host \"agent '{PROMPT}'\"",
    "echo {PROMPT} | ssh host",
    "su -c \"agent {PROMPT}\" other",
    "su - other -c \"agent {PROMPT}\"",
    "script -qc \"agent {PROMPT}\" /dev/null",
    "watch agent {PROMPT}",
    "tmux new-session -d \"agent {PROMPT}\"",
    "powershell -Command \"agent {PROMPT}\"",
    "cmd /c agent {PROMPT}",
    "python3 -c \"print('{PROMPT}')\"",
    "python -c 'print(\"\"\"{PROMPT}\"\"\")'",
    "node -e \"console.log('{PROMPT}')\"",
    "node --eval=\"console.log('{PROMPT}')\"",
    "deno eval \"console.log('{PROMPT}')\"",
    "perl -ne 'print if /{PROMPT}/'",
    "ruby -e 'puts \"{PROMPT}\"'",
    "php -r 'echo \"{PROMPT}\";'",
    "awk 'BEGIN { print \"{PROMPT}\" }'",
    "sed \"s/x/{PROMPT}/\" file",
    "echo $(({ATTEMPT} + 1))",
    "((x = {PROMPT})); echo $x",
    "X={PROMPT}; echo $((X + 1))",
    "echo ${X:{PROMPT}}",
    "echo ${X[{PROMPT}]}",
    "let x={PROMPT}",
    "[[ {PROMPT} -eq 1 ]] && echo yes",
    "declare -i x={PROMPT}",
    "export {PROMPT}",
    "unset {PROMPT}",
    "$SHELL -c \"agent {PROMPT}\"",
    "\"$SHELL\" -c \"agent {PROMPT}\"",
    "${SHELL:-sh} -lc \"agent {PROMPT}\"",
    "$0 -c \"agent {PROMPT}\"",
    "$(command -v sh) -c \"agent {PROMPT}\"",
    "exec $SHELL -c \"agent {PROMPT}\"",
    "S=sh; $S -c \"agent {PROMPT}\"",
    "S='sh -c'; $S \"agent {PROMPT}\"",
    "S=printf; S=sh; $S -c \"agent {PROMPT}\"",
    "env -S \"sh -c 'agent {PROMPT}'\"",
    "env -S 'sh -c' \"agent {PROMPT}\"",
    "env -S'sh -c' \"agent {PROMPT}\"",
    "env -i -vS 'bash -c' \"agent {PROMPT}\"",
    "env --split-string='sh -c' \"agent {PROMPT}\"",
    "env --split-string 'env -S \"sh -c\"' \"agent {PROMPT}\"",
    "BASH_ENV={PROMPT_FILE} bash -c \"agent\"",
    "env BASH_ENV={PROMPT_FILE} bash -c agent",
    "export ENV={PROMPT_FILE}; sh -i",
    "PROMPT_COMMAND={PROMPT} bash -i",
    "PS4={PROMPT} bash -xc agent",
    "LD_PRELOAD={PROMPT_FILE} agent",
    "PYTHONSTARTUP={PROMPT_FILE} python3 -i",
    "PERL5OPT={PROMPT} perl agent.pl",
    "NODE_OPTIONS={PROMPT} node agent.js",
    "npx -c \"agent {PROMPT}\"",
    "npx -p agent -c \"agent {PROMPT}\"",
    "npm exec -c \"agent {PROMPT}\"",
    "npm --silent exec --call=\"agent {PROMPT}\"",
    "nix-shell -p agent --run \"agent {PROMPT}\"",
    "tclsh <<< {PROMPT}",
    "echo {PROMPT} | tclsh",
    "echo {PROMPT} | at now",
    "at -f {PROMPT_FILE} now",
    "julia -e \"println({PROMPT})\"",
    "nu -c \"agent {PROMPT}\"",
    "elvish -c \"agent {PROMPT}\"",
    "xonsh -c \"agent {PROMPT}\"",
    "expect -c \"spawn agent {PROMPT}\"",
    "scala -e \"println({PROMPT})\"",
    "groovy -e \"println {PROMPT}\"",
    "swift -e \"print({PROMPT})\"",
    "emacs --batch --eval \"(princ {PROMPT})\"",
    "emacs --batch --eval='(princ {PROMPT})'",
    "vim -c q -c \"!agent {PROMPT}\"",
    "vim \"+!agent {PROMPT}\"",
    "gdb -batch -ex \"shell agent {PROMPT}\"",
    "git -c alias.x='!agent {PROMPT}' x",
    "git -C . -c a.b=c -c alias.x=\"!agent {PROMPT}\" x",
    "printf %s {PROMPT} | xargs -I% sh -c 'echo %'",
    "printf %s {PROMPT} | xargs -I % sh -c 'echo %'",
    "printf %s {PROMPT} | xargs --replace=Q sh -c 'echo Q'",
    "printf %s {PROMPT} | xargs -i sh -c 'echo {}'",
    "printf %s {PROMPT} | xargs env",
    "printf %s {PROMPT} | xargs -n 1 timeout 5",
    "xargs -a {PROMPT_FILE} -0 sh -c",
    "xargs {PROMPT}",
    "C=-c; sh $C \"echo {PROMPT}\"",
    "env {PROMPT}",
    "env A=b -u X {PROMPT}",
    "nohup {PROMPT}",
    "timeout 5 {PROMPT}",
    "timeout -k 2 5 {PROMPT}",
    "exec {PROMPT}",
    "sudo {PROMPT}",
    "sudo -u other {PROMPT}",
    "env nohup nice {PROMPT}",
    "docker exec x {PROMPT}",
    "docker exec -i -e A=b x {PROMPT}",
    "kubectl exec pod -- {PROMPT}",
    "bash -c 'X=$1; echo \"${X@P}\"' bash {PROMPT}",
    "bash -c 'echo \"${@@P}\"' bash {PROMPT}",
    "bash -c 'X=$1; echo \"${!X}\"' bash {PROMPT}",
    "bash -c 'X=$1; Y=abc; echo \"${Y:X:1}\"' bash {PROMPT}",
    "bash -c 'X=$1; echo \"${Y[X]}\"' bash {PROMPT}",
    "bash -c 'X=$1; A[X]=1' bash {PROMPT}",
    "bash -c 'X=$1; let Y=X+1' bash {PROMPT}",
    "bash -c 'X=$1; [[ X -eq 1 ]]' bash {PROMPT}",
    "bash -c 'declare -n R=$1; echo \"$R\"' bash {PROMPT}",
    "printf 'all:\n\t%s\n' {PROMPT} | make -f -",
    "make -f {PROMPT_FILE}",
    "make X={PROMPT}",
    "printf %s {PROMPT} | parallel",
    "git rebase -x {PROMPT} HEAD~1",
    "git rebase --exec={PROMPT} HEAD~1",
    "git submodule foreach {PROMPT}",
    "git bisect run {PROMPT}",
    "GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=alias.x GIT_CONFIG_VALUE_0={PROMPT} git x",
    "PATH={PROMPT} agent",
    "LD_LIBRARY_PATH={PROMPT} agent",
];

/// Each would create the file `run` if a shell parsed it.
const PAYLOADS: &[&str] = &[
    "$(touch run)",
    "`touch run`",
    "; touch run #",
    "'; touch run; '",
    "\"; touch run; \"",
    "\\\"; touch run #",
    "a\ntouch run\n",
    "a[$(touch run)]",
    "'\"$(touch run)\"'",
    "EOF\ntouch run\nEOF",
];

fn is_run(shell: &str, command: &str, payload: &str, place: &Path) -> bool {
    let values = PlaceholderValues {
        prompt: payload.to_owned(),
        prompt_file: "prompt".to_owned(),
        files: vec![payload.to_owned(), "prompt".to_owned()],
        test_id: payload.to_owned(),
        attempt: "1".to_owned(),
        ..PlaceholderValues::default()
    };
    let place_of = |name: &str| Utf8PathBuf::from_path_buf(place.join(name)).unwrap();
    let prompt = place_of("prompt");
    replace(&prompt, payload.as_bytes(), Access::Private, Durability::Unsynced).unwrap();
    let script = script(&split_placeholders(command, CommandSyntax::Shell), &values);
    let ended = Command::new(shell)
        .args(["-c", &script.text])
        .envs(script.variables)
        .current_dir(place)
        .stdin(open_regular(&prompt, Reach::Anywhere).unwrap())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status();
    ended.unwrap();
    remove_file(place_of("run").as_path()).is_ok()
}

fn shells() -> Vec<&'static str> {
    let is_there = |shell: &&str| {
        let mut found = Command::new(shell);
        found.args(["-c", ":"]).status().is_ok()
    };
    ["dash", "bash"].into_iter().filter(is_there).collect()
}

#[test]
fn no_value_runs_in_an_accepted_command() {
    let is_refused = |command: &&&str| nested_in_line(command, GivenStdin::Prompt).is_some();
    assert_eq!(SAFE.iter().filter(is_refused).collect::<Vec<_>>(), [&""; 0]);
    std::thread::scope(|scope| {
        for shell in shells() {
            scope.spawn(move || {
                let place = tempfile::tempdir().unwrap();
                for (command, payload) in SAFE
                    .iter()
                    .flat_map(|command| PAYLOADS.iter().map(move |payload| (command, payload)))
                {
                    let is_run = is_run(shell, command, payload, place.path());
                    assert!(!is_run, "{shell}: {command} runs {payload}");
                }
            });
        }
    });
}

#[test]
fn commands_that_would_run_a_value_are_refused() {
    let is_accepted = |command: &&&str| nested_in_line(command, GivenStdin::Nothing).is_none();
    assert_eq!(UNSAFE.iter().filter(is_accepted).collect::<Vec<_>>(), [&""; 0]);
}

#[test]
fn lists_are_refused_for_the_same_reasons() {
    for list in [
        &["sh", "-c", "agent {PROMPT}"][..],
        &["/usr/bin/env", "bash", "-lc", "agent '{PROMPT}'"],
        &["env", "-i", "A=b", "sh", "-c", "x {TEST_ID}"],
        &["docker", "exec", "-i", "box", "sh", "-c", "cat {FILES}"],
        &["python3", "-c", "print('{PROMPT}')"],
        &["ssh", "host", "agent", "{PROMPT}"],
        &["sh", "-c", "eval \"$1\"", "sh", "{PROMPT}"],
        &["sh", "{PROMPT_FILE}"],
        &["C:\\Windows\\cmd.exe", "/c", "agent {PROMPT}"],
        &["{PROMPT}"],
        &["/usr/bin/env", "-S", "bash -c 'agent {PROMPT}'"],
        &["/usr/bin/env", "-S", "bash -c", "agent {PROMPT}"],
        &["env", "BASH_ENV={PROMPT_FILE}", "bash", "agent.sh"],
        &["docker", "run", "-e", "LD_PRELOAD={PROMPT_FILE}", "image"],
        &["env", "{PROMPT}"],
        &["timeout", "5", "{PROMPT}"],
        &["xargs", "-I%", "sh", "-c", "echo %"],
        &["docker", "exec", "x", "{PROMPT}"],
    ] {
        assert!(
            nested_in_arguments(list.iter().copied(), GivenStdin::Prompt).is_some(),
            "{list:?}"
        );
    }
    for list in [
        &["sh", "-c", "agent \"$1\"", "sh", "{PROMPT}"][..],
        &["sh", "-c", "agent < \"$0\"", "{PROMPT_FILE}"],
        &["python3", "./agent.py", "-c", "{PROMPT}"],
        &["python3", "-m", "agent", "{PROMPT}"],
        &["node", "agent.js", "-e", "{PROMPT}"],
        &["my-agent", "--shell", "bash", "{PROMPT}"],
        &["my-agent", "--mode", "watch", "{PROMPT}"],
        &["claude", "-p", "{PROMPT}"],
        &["sh", "./agent.sh", "{PROMPT}"],
        &["bash", "-x", "agent.sh", "{FILES}"],
        &["npx", "-y", "@anthropic-ai/claude-code", "-c", "-p", "{PROMPT}"],
        &["npx", "-p", "agent", "agent", "-c", "{PROMPT}"],
        &["npm", "exec", "--", "agent", "-c", "{PROMPT}"],
        &["git", "switch", "-c", "{TEST_ID}"],
        &["git", "-c", "color.ui=never", "commit", "-c", "{TEST_ID}"],
        &["my-agent", "--editor", "vim", "-c", "{PROMPT}"],
        &["env", "-uSHELL", "agent", "{PROMPT}"],
        &["env", "TEST_ID={TEST_ID}", "agent"],
        &["/usr/bin/env", "-S", "agent --quiet", "{PROMPT}"],
        &["docker", "run", "-i", "image", "{PROMPT}"],
        &["docker", "exec", "-i", "box", "agent", "{PROMPT}"],
        &["taskset", "-c", "0", "agent", "{PROMPT}"],
        &["stdbuf", "-oL", "agent", "{PROMPT}"],
        &["sudo", "-n", "agent", "{PROMPT}"],
        &["git", "commit", "-m", "{TEST_ID}"],
        &["xargs", "-a", "list.txt", "agent", "{PROMPT}"],
    ] {
        assert_eq!(nested_in_arguments(list.iter().copied(), GivenStdin::Prompt), None, "{list:?}");
    }
}

#[test]
fn a_command_that_gets_no_value_is_not_looked_at() {
    for line in ["eval \"$(cat)\"", "sh", "sh -c \"agent ${{ X }} ${PROMPT}\""] {
        assert_eq!(nested_in_line(line, GivenStdin::Nothing), None, "{line}");
    }
    assert_eq!(nested_in_arguments(["sh"], GivenStdin::Nothing), None);
    let line = "${{ SHELL }} x; sh -c \"a ${{ X }} {PROMPT}\"";
    assert!(nested_in_line(line, GivenStdin::Nothing).is_some());
}

/// Without a placeholder, the prompt is still on standard input.
#[test]
fn what_runs_its_standard_input_is_refused() {
    let is_accepted = |line: &&str| nested_in_line(line, GivenStdin::Prompt).is_none();
    let refused = [
        "sh",
        "sh -s",
        "exec bash",
        "env A=b sh -x",
        "timeout 5 sh",
        "python3",
        "python3 -",
        "cat | sh",
        "head -n 1 | sed s/a/b/ | bash",
        "eval \"$(cat)\"",
        "x=$(cat); sh -c \"agent $x\"",
        "read -r x; eval \"$x\"",
        "sh -c sh",
        "sh -c 'cat | sh'",
        "xargs -I% sh -c 'echo %'",
        "xargs env",
        "ssh host",
        "docker exec -i box sh",
        "docker run -i --rm image bash -l",
        "kubectl exec -i pod -- sh",
        "make -f -",
        "parallel",
    ];
    assert_eq!(refused.into_iter().filter(is_accepted).collect::<Vec<_>>(), [""; 0]);
    for list in [
        &["sh"][..],
        &["bash", "-s"],
        &["env", "A=b", "sh"],
        &["sh", "-c", "sh"],
        &["sh", "-c", "eval \"$(cat)\""],
        &["xargs", "-I%", "sh", "-c", "echo %"],
        &["docker", "exec", "-i", "box", "sh"],
    ] {
        let found = nested_in_arguments(list.iter().copied(), GivenStdin::Prompt);
        assert!(found.is_some(), "{list:?}");
    }
    let accepted = [
        "agent",
        "make agent",
        "make -f agent.mk run",
        "sh agent.sh",
        "sh < agent.sh",
        "echo ls | sh",
        "python3 -m agent",
        "python3 - <<EOF\nprint(1)\nEOF",
        "find . -name bash",
        "docker run -i --rm image agent",
        "docker exec -i box sh agent.sh",
        "docker exec box sh",
        "x=$(cat); agent \"$x\"",
        "cat > prompt.txt; agent prompt.txt",
        "f() { n=$1; echo $((n + 1)); }; f 2",
        "n=$(wc -l < calls); echo $((n + 1))",
        "eval \"$(direnv export bash)\"; agent",
        "xargs -0 agent",
        "sh -c 'agent | tail -n 1'",
    ];
    let found = accepted.map(|line| nested_in_line(line, GivenStdin::Prompt).map(|_| line));
    assert_eq!(found.into_iter().flatten().collect::<Vec<_>>(), [""; 0]);
}

#[test]
fn what_is_not_closed_is_read_to_its_end() {
    for line in ["echo '{PROMPT}", "echo \"{PROMPT}", "echo $({PROMPT}", "cat <<EOF\n{PROMPT}"] {
        let _ = nested_in_line(line, GivenStdin::Prompt);
    }
    // Also where the value is not in the deepest part.
    for open in ["$(", "\"$(", "$((", "${x:-"] {
        let deep = format!("agent {} {{PROMPT}}", open.repeat(50_000));
        assert!(nested_in_line(&deep, GivenStdin::Prompt).is_some(), "{open}");
    }
}
