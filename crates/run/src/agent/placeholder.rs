//! Placeholders such as `{PROMPT}` in commands (spec 9.3).

use camino::Utf8Path;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Placeholder {
    Prompt,
    PromptFile,
    OutputFile,
    Files,
    TestId,
    Attempt,
    /// Without a workspace the command is refused.
    Workspace,
}

impl Placeholder {
    fn named(name: &str) -> Option<Self> {
        match name {
            "PROMPT" => Some(Self::Prompt),
            "PROMPT_FILE" => Some(Self::PromptFile),
            "OUTPUT_FILE" => Some(Self::OutputFile),
            "FILES" => Some(Self::Files),
            "TEST_ID" | "EVAL_ID" => Some(Self::TestId),
            "ATTEMPT" => Some(Self::Attempt),
            "WORKSPACE" => Some(Self::Workspace),
            _ => None,
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum CommandPart {
    Text(String),
    Placeholder(Placeholder),
}

/// What parses the text of a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CommandSyntax {
    Program,
    /// `${PROMPT}` is a shell variable and not a placeholder.
    Shell,
}

/// Splits a text at its placeholders. Placeholders inside inserted values are not replaced, and
/// other braces stay as they are.
pub(crate) fn split_placeholders(text: &str, reader: CommandSyntax) -> Vec<CommandPart> {
    let mut pieces = Vec::new();
    let (mut plain, mut from) = (0, 0);
    while let Some(open) = text[from..].find('{').map(|at| from + at) {
        from = open + 1;
        let Some(length) = text[from..].find('}') else {
            break;
        };
        let is_variable = reader == CommandSyntax::Shell && text[..open].ends_with('$');
        let slot = Placeholder::named(&text[from..from + length]);
        if let Some(slot) = slot.filter(|_| !is_variable) {
            if plain < open {
                pieces.push(CommandPart::Text(text[plain..open].to_owned()));
            }
            pieces.push(CommandPart::Placeholder(slot));
            from += length + 1;
            plain = from;
        }
    }
    if plain < text.len() {
        pieces.push(CommandPart::Text(text[plain..].to_owned()));
    }
    pieces
}

/// A command for another working directory: files that its words name are still those of its own.
pub(crate) fn with_own_files(argv: &[Vec<CommandPart>], own: &Utf8Path) -> Vec<Vec<CommandPart>> {
    let own_file = |parts: &[CommandPart]| match parts {
        [CommandPart::Text(text)] if text.contains(['/', '.']) => {
            let path = own.join(text);
            path.is_file().then(|| vec![CommandPart::Text(path.into_string())])
        }
        _ => None,
    };
    argv.iter().map(|parts| own_file(parts).unwrap_or_else(|| parts.clone())).collect()
}

/// The values of the placeholders of one attempt; those that the command does not use are empty.
#[derive(Debug, Default)]
pub(crate) struct PlaceholderValues {
    pub(crate) prompt: String,
    pub(crate) prompt_file: String,
    pub(crate) output_file: String,
    pub(crate) files: Vec<String>,
    pub(crate) test_id: String,
    pub(crate) attempt: String,
    pub(crate) workspace: String,
}

impl PlaceholderValues {
    pub(crate) fn texts(&self, slot: Placeholder) -> &[String] {
        std::slice::from_ref(match slot {
            Placeholder::Prompt => &self.prompt,
            Placeholder::PromptFile => &self.prompt_file,
            Placeholder::OutputFile => &self.output_file,
            Placeholder::Files => return &self.files,
            Placeholder::TestId => &self.test_id,
            Placeholder::Attempt => &self.attempt,
            Placeholder::Workspace => &self.workspace,
        })
    }

    /// Arguments of a program. An element that is exactly `{FILES}` becomes one argument per file;
    /// inside other text the paths are separated by spaces.
    pub(crate) fn arguments(&self, argv: &[Vec<CommandPart>]) -> Vec<String> {
        let mut arguments = Vec::with_capacity(argv.len());
        for element in argv {
            match element.as_slice() {
                [CommandPart::Placeholder(Placeholder::Files)] => {
                    arguments.extend_from_slice(&self.files)
                }
                pieces => arguments.push(self.fill(pieces)),
            }
        }
        arguments
    }

    fn fill(&self, pieces: &[CommandPart]) -> String {
        let filled = pieces.iter().map(|piece| match piece {
            CommandPart::Text(text) => text.clone(),
            CommandPart::Placeholder(slot) => self.texts(*slot).join(" "),
        });
        filled.collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fill(argv: &[&str]) -> Vec<String> {
        let values = PlaceholderValues {
            prompt: "say {TEST_ID}".to_owned(),
            files: vec!["/a b".to_owned(), "/c".to_owned()],
            test_id: "t{ATTEMPT}".to_owned(),
            attempt: "2".to_owned(),
            ..PlaceholderValues::default()
        };
        let argv: Vec<_> =
            argv.iter().map(|one| split_placeholders(one, CommandSyntax::Program)).collect();
        values.arguments(&argv)
    }

    #[test]
    fn placeholders_are_replaced_inside_elements_and_values_are_not_searched() {
        assert_eq!(
            fill(&["x", "--p={PROMPT}!", "{EVAL_ID}/{TEST_ID}", "{ATTEMPT}"]),
            ["x", "--p=say {TEST_ID}!", "t{ATTEMPT}/t{ATTEMPT}", "2"]
        );
    }

    #[test]
    fn files_alone_are_one_element_each() {
        assert_eq!(fill(&["{FILES}", "-f {FILES}", ""]), ["/a b", "/c", "-f /a b /c", ""]);
    }

    #[test]
    fn other_braces_stay() {
        for text in ["{", "}", "{}", "{prompt}", "{{PROMPT", "é{X}é", "{\"a\":1}"] {
            assert_eq!(fill(&[text]), [text]);
        }
        let nested = ["{{ATTEMPT}}", "{x{ATTEMPT}", "${ATTEMPT}"];
        assert_eq!(fill(&nested), ["{2}", "{x2", "$2"]);
    }
}
