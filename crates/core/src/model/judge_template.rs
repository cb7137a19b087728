//! A judge's prompt with its variables, such as `{{ answer }}` (spec 6.3).

/// What a judge's prompt may insert.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
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
}

impl JudgeVariable {
    pub fn parse(name: &str) -> Option<Self> {
        match name {
            "question" => Some(Self::Question),
            "input" => Some(Self::Input),
            // The second name of each pair is an old or another spelling (section 16, 6.3).
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
            _ => None,
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Part {
    Text(String),
    Variable(JudgeVariable),
}

/// A prompt whose variables are all known.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct JudgeTemplate {
    parts: Vec<Part>,
}

impl JudgeTemplate {
    pub fn parts(&self) -> &[Part] {
        &self.parts
    }

    /// A prompt that does not show the answer is an instruction; the evidence goes with it.
    pub fn shows_answer(&self) -> bool {
        self.parts.iter().any(|part| {
            matches!(
                part,
                Part::Variable(JudgeVariable::Answer | JudgeVariable::OutputMessages)
            )
        })
    }

    pub(crate) fn push_variable(&mut self, variable: JudgeVariable) {
        self.parts.push(Part::Variable(variable));
    }

    pub(crate) fn push_text(&mut self, text: &str) {
        match self.parts.last_mut() {
            Some(Part::Text(before)) => before.push_str(text),
            _ => self.parts.push(Part::Text(text.to_owned())),
        }
    }
}
