//! Prompts of judges and the variables in them (spec 6.3).

use std::sync::Arc;

use camino::Utf8PathBuf;

/// The prompt that an author gave a judge.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum JudgePrompt {
    Inline {
        /// As written, with `${{ }}` replaced.
        text: String,
        template: JudgeTemplate,
    },
    /// `file` is `None` when it could not be read, which has then been reported.
    File { written: String, file: Option<PromptFile> },
}

impl JudgePrompt {
    /// The file that it is in.
    pub fn file(&self) -> Option<&PromptFile> {
        match self {
            Self::Inline { .. } => None,
            Self::File { file, .. } => file.as_ref(),
        }
    }

    /// The text, or the path as written.
    pub fn written(&self) -> &str {
        match self {
            Self::Inline { text, .. } => text,
            Self::File { written, .. } => written,
        }
    }

    /// `None` when the file could not be read.
    pub fn template(&self) -> Option<&JudgeTemplate> {
        match self {
            Self::Inline { template, .. } => Some(template),
            Self::File { file, .. } => file.as_ref().map(|file| file.template.as_ref()),
        }
    }
}

/// A prompt file that was read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PromptFile {
    pub path: Utf8PathBuf,
    pub text: Arc<String>,
    pub template: Arc<JudgeTemplate>,
}

/// A value that a judge prompt may insert.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum JudgeVariable {
    Question,
    Input,
    Criteria,
    Note,
    Answer,
    ReferenceAnswer,
    InputMessages,
    ExpectedMessages,
    OutputMessages,
    Rubrics,
    Metadata,
    ToolCalls,
    Files,
    FileChanges,
}

impl JudgeVariable {
    /// The names that messages suggest; deprecated spellings are left out.
    pub const NAMES: &'static [&'static str] = &[
        "question",
        "input",
        "criteria",
        "note",
        "answer",
        "output",
        "reference_answer",
        "expected_output",
        "input_messages",
        "expected_messages",
        "output_messages",
        "rubrics",
        "metadata",
        "tool_calls",
        "files",
        "file_changes",
    ];

    pub fn parse(name: &str) -> Option<Self> {
        match name {
            "question" => Some(Self::Question),
            "input" => Some(Self::Input),
            // The second name of each pair is an old or alternative spelling (spec 16, 6.3).
            "criteria" | "expected_outcome" => Some(Self::Criteria),
            "note" => Some(Self::Note),
            "answer" | "output" | "candidate_answer" => Some(Self::Answer),
            "reference_answer" | "expected_output" => Some(Self::ReferenceAnswer),
            "input_messages" => Some(Self::InputMessages),
            "expected_messages" => Some(Self::ExpectedMessages),
            "output_messages" => Some(Self::OutputMessages),
            "rubrics" => Some(Self::Rubrics),
            "metadata" => Some(Self::Metadata),
            "tool_calls" => Some(Self::ToolCalls),
            "files" => Some(Self::Files),
            "file_changes" => Some(Self::FileChanges),
            _ => None,
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TemplatePart {
    Text(String),
    Variable(JudgeVariable),
}

/// A prompt in which every variable is known.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct JudgeTemplate {
    parts: Vec<TemplatePart>,
}

impl JudgeTemplate {
    pub fn parts(&self) -> &[TemplatePart] {
        &self.parts
    }

    /// A prompt without the answer is an instruction: the evidence is sent along with it.
    pub fn shows_answer(&self) -> bool {
        self.parts.iter().any(|part| {
            matches!(
                part,
                TemplatePart::Variable(JudgeVariable::Answer | JudgeVariable::OutputMessages)
            )
        })
    }

    pub(crate) fn push_variable(&mut self, variable: JudgeVariable) {
        self.parts.push(TemplatePart::Variable(variable));
    }

    pub(crate) fn push_text(&mut self, text: &str) {
        match self.parts.last_mut() {
            Some(TemplatePart::Text(before)) => before.push_str(text),
            _ => self.parts.push(TemplatePart::Text(text.to_owned())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_suggested_name_is_a_variable() {
        for name in JudgeVariable::NAMES {
            assert!(JudgeVariable::parse(name).is_some(), "{name}");
        }
    }
}
