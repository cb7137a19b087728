//! Characters and commands that a text must not carry to a terminal or a CI log.

/// Marks a position in a drawing that is filled in later. Unicode reserves this character for use
/// inside programs, and every sanitized text loses it.
pub const INTERNAL_MARK: char = '\u{FDD0}';

/// Control characters, bidirectional controls, line separators that only some programs honour, and
/// characters without a visible form.
pub fn is_harmful(c: char) -> bool {
    c.is_control()
        || matches!(
            c,
            '\u{061C}'
                | '\u{200B}'
                | '\u{200E}'
                | '\u{200F}'
                | '\u{2060}'
                | '\u{FEFF}'
                | INTERNAL_MARK
        )
        || matches!(c, '\u{2028}'..='\u{202E}' | '\u{2066}'..='\u{2069}' | '\u{E0000}'..='\u{E007F}')
}

/// Whether a CI runner finds a command anywhere in a line of this text.
pub(super) fn has_inner_command(text: &str) -> bool {
    text.contains("##[") || text.contains("##vso[")
}

/// Whether a CI runner takes a line of this text for a command.
pub(super) fn has_command(text: &str) -> bool {
    let mut lines = text.split('\n');
    lines.any(|line| line.trim_start().starts_with("::")) || has_inner_command(text)
}
