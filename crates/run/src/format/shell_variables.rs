//! Variables that a shell script sets itself, put in where it uses them.

use std::collections::HashMap;

use super::shell_words::ShellCommand;

/// Commands that set variables. A bare assignment is split into words like `export`.
const SETTERS: &[&str] = &["export", "declare", "local", "readonly", "typeset"];

/// Bytes up to which a word grows: a variable may contain others, again and again.
const LONGEST: usize = 4096;

const PYTHON_PATH: &str = "PYTHONPATH";

impl ShellCommand {
    /// Where Python looks for modules, besides the directory that it runs in.
    pub(super) fn python_path(&self) -> Option<&str> {
        let assigned = self.assigned.iter().chain(&self.words).rev();
        assigned
            .filter_map(|word| word.split_once('='))
            .find_map(|(name, value)| (name == PYTHON_PATH).then_some(value))
    }
}

/// The commands with the variables in their words that earlier ones have set.
pub(super) fn with_variables(commands: Vec<ShellCommand>) -> Vec<ShellCommand> {
    let mut known = HashMap::new();
    let expanded = commands.into_iter().map(|mut command| {
        if !known.is_empty() {
            let words = command.words.iter_mut().chain(&mut command.input);
            words.chain(&mut command.assigned).for_each(|word| *word = expand(word, &known));
        }
        if command.words.first().is_some_and(|first| SETTERS.contains(&first.as_str())) {
            let set = command.words.iter().filter_map(|word| word.split_once('='));
            known.extend(set.map(|(name, value)| (name.to_owned(), value.to_owned())));
        } else if let Some(path) = known.get(PYTHON_PATH) {
            command.assigned.insert(0, format!("{PYTHON_PATH}={path}"));
        }
        command
    });
    expanded.collect()
}

fn expand(word: &str, known: &HashMap<String, String>) -> String {
    let mut expanded = String::with_capacity(word.len());
    let mut rest = word;
    while let Some((before, after)) = rest.split_once('$') {
        expanded.push_str(before);
        let (name, behind) = name_at(after);
        match known.get(name).filter(|value| expanded.len() + value.len() <= LONGEST) {
            Some(value) => {
                expanded.push_str(value);
                rest = behind;
            }
            None => {
                expanded.push('$');
                rest = after;
            }
        }
    }
    expanded + rest
}

/// `NAME…` or `{NAME}…`: the name, and what is behind it.
fn name_at(text: &str) -> (&str, &str) {
    if let Some((name, behind)) = text.strip_prefix('{').and_then(|inner| inner.split_once('}')) {
        return (name, behind);
    }
    let end = text.find(|c: char| !(c.is_ascii_alphanumeric() || c == '_')).unwrap_or(text.len());
    text.split_at(end)
}

#[cfg(test)]
mod tests {
    use super::super::shell_words::shell_commands;
    use super::*;

    fn words(script: &str) -> Vec<String> {
        let commands = with_variables(shell_commands(script));
        commands.iter().map(|command| command.words.join("|")).collect()
    }

    #[test]
    fn a_variable_is_what_it_was_set_to_before() {
        for (script, last) in [
            ("S=a/b; cat $S/c", "cat|a/b/c"),
            ("export S=a; cat \"${S}b\"", "cat|ab"),
            ("S=a; S=$S/b; cat $S", "cat|a/b"),
            ("cat $S; S=a", "export|S=a"),
            ("cat $S", "cat|$S"),
            ("S=a; cat $Sb ${S", "cat|$Sb|${S"),
            ("S=a; cat '$' $", "cat|$|$"),
        ] {
            assert_eq!(words(script).last().map(String::as_str), Some(last), "{script}");
        }
    }

    #[test]
    fn variables_do_not_grow_without_bound() {
        let script = format!("S=abcdefgh; {} cat $S", "S=$S$S;".repeat(60));
        let longest = words(&script).iter().map(String::len).max().unwrap();
        assert!(longest <= LONGEST + 16, "{longest}");
    }
}
