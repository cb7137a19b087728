//! Prompts of judges: the text itself, or a file that holds it (spec 4).

use std::ops::Range;
use std::sync::Arc;

use camino::{Utf8Path, Utf8PathBuf};

use crate::diagnostic::{Diagnostic, Level};
use crate::model::{JudgePrompt, JudgeTemplate, JudgeVariable, PromptFile};
use crate::source::{EntryKind, Span};
use crate::syntax::codes::INVALID_ENCODING;
use crate::syntax::fields::Entry;
use crate::syntax::{DecodeError, decode, unreadable};

use super::judge_template::{EnvReferences, PromptPiece, pieces, unclosed, unknown_variable};
use super::path::{FileUse, is_prompt_path};
use super::state::Reader;

const SIZE_LIMIT: u64 = 1024 * 1024;

/// A prompt file as the first judge that named it found it.
#[derive(Debug)]
pub(super) struct PromptOnce {
    file: Option<PromptFile>,
    faults: Vec<Diagnostic>,
}

impl Reader<'_> {
    /// The caller checks that the prompt is not blank.
    pub fn prompt(&mut self, entry: &Entry<'_>) -> Option<JudgePrompt> {
        let text = self.text(entry)?;
        let written = text.trim_end();
        if is_prompt_path(&text) || self.is_a_file(written) {
            return Some(self.prompt_file(written, entry.value.span()));
        }
        let template = self.inline_template(entry);
        Some(JudgePrompt::Inline { text: text.into_owned(), template })
    }

    /// One word that names an existing file.
    fn is_a_file(&mut self, word: &str) -> bool {
        !word.contains(char::is_whitespace)
            && !word.contains("{{")
            && matches!(self.look_up(word), Some((_, EntryKind::File)))
    }

    /// Works on the source text: what `${{ }}` inserts is never searched for variables.
    fn inline_template(&mut self, entry: &Entry<'_>) -> JudgeTemplate {
        let node = entry.value;
        let mut template = JudgeTemplate::default();
        for piece in pieces(node.scalar_text().unwrap_or(""), EnvReferences::Replaced) {
            match piece {
                PromptPiece::Text(text) => template.push_text(text),
                PromptPiece::Environment { at, reference } => {
                    let mut value = String::new();
                    self.environment_reference(entry.field.name, node, at, reference, &mut value);
                    template.push_text(&value);
                }
                PromptPiece::Variable { range, name } => match JudgeVariable::parse(name) {
                    Some(variable) => template.push_variable(variable),
                    None => self.report(unknown_variable(name, node.text_span(range))),
                },
                PromptPiece::Unclosed(range) => self.report(unclosed(node.text_span(range))),
            }
        }
        template
    }

    fn prompt_file(&mut self, written: &str, span: Span) -> JudgePrompt {
        let file = self
            .file(written, span, FileUse::Prompt)
            .and_then(|path| self.read_prompt_file(path, span));
        JudgePrompt::File { written: written.to_owned(), file }
    }

    /// The file is read once. Its faults are reported in the file for the first judge, and at its
    /// `prompt` for every further one, because each affects other tests.
    fn read_prompt_file(&mut self, path: Utf8PathBuf, span: Span) -> Option<PromptFile> {
        if let Some(known) = self.cache.prompts.get(&path) {
            let file = known.file.clone();
            let repeated: Vec<_> = known.faults.iter().map(|fault| repeat(fault, span)).collect();
            repeated.into_iter().for_each(|fault| self.report(fault));
            return file;
        }
        let mut faults = Vec::new();
        let file = self.parse_prompt_file(&path, span, &mut faults);
        for fault in &faults {
            self.report(fault.clone());
        }
        let once = PromptOnce { file: file.clone(), faults };
        self.cache.prompts.insert(path, once);
        file
    }

    fn parse_prompt_file(
        &mut self,
        path: &Utf8Path,
        span: Span,
        faults: &mut Vec<Diagnostic>,
    ) -> Option<PromptFile> {
        let bytes = match self.world.files.read(path, self.reach(), SIZE_LIMIT + 1) {
            Ok(bytes) => bytes,
            Err(error) => {
                faults.push(unreadable(span, path, &error).level(Level::BlocksRun));
                return None;
            }
        };
        // A file that is too large has been reported.
        if bytes.len() as u64 > SIZE_LIMIT {
            return None;
        }
        let (text, offset) = match decode(bytes) {
            Ok(decoded) => decoded,
            Err(error) => {
                faults.push(not_utf8(&self.shown(path), &error, span));
                return None;
            }
        };
        let source = self.sources.add_file(path.to_owned(), text, offset);
        let text = self.sources.get(source).shared_text();
        let place = |range: Range<usize>| Span::new(source, range.start as u32, range.end as u32);
        let mut template = JudgeTemplate::default();
        for piece in pieces(&text, EnvReferences::Plain) {
            match piece {
                PromptPiece::Text(text) => template.push_text(text),
                PromptPiece::Environment { reference, .. } => template.push_text(reference),
                PromptPiece::Variable { range, name } => match JudgeVariable::parse(name) {
                    Some(variable) => template.push_variable(variable),
                    None => faults.push(unknown_variable(name, place(range))),
                },
                PromptPiece::Unclosed(range) => faults.push(unclosed(place(range))),
            }
        }
        Some(PromptFile { path: path.to_owned(), text, template: Arc::new(template) })
    }
}

fn not_utf8(path: &Utf8Path, error: &DecodeError, span: Span) -> Diagnostic {
    let message = match error {
        DecodeError::Encoding { name } => format!("`{path}` is {name}, not UTF-8"),
        DecodeError::InvalidByte { offset, .. } => {
            format!("`{path}` is not UTF-8: the first bad byte is at offset {offset}")
        }
    };
    Diagnostic::new(&INVALID_ENCODING, span, message)
        .level(Level::BlocksRun)
        .help("save the prompt as UTF-8")
}

fn repeat(fault: &Diagnostic, span: Span) -> Diagnostic {
    Diagnostic::new(fault.code, span, fault.message.clone())
        .level(fault.level)
        .related(fault.span, "here")
        .help_if(fault.help.clone())
}
