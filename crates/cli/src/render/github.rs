//! Workflow commands that GitHub shows as annotations beside the changed lines.

use std::io::{self, Write};

use evalrig_core::diagnostic::{Diagnostic, Severity};
use evalrig_run::report::github::{data, property};

use super::{Findings, Render, summary};

#[derive(Debug, Clone, Copy)]
pub struct Github;

impl Render for Github {
    fn render(&self, findings: &Findings, out: &mut dyn Write) -> io::Result<()> {
        for diagnostic in findings.diagnostics {
            writeln!(out, "{}", command(findings, diagnostic))?;
        }
        if let Some(dropped) = summary::dropped(findings) {
            writeln!(out, "::notice title=evalrig::{}", data(&dropped))?;
        }
        Ok(())
    }
}

fn command(findings: &Findings, diagnostic: &Diagnostic) -> String {
    let kind = match diagnostic.level.severity() {
        Severity::Error => "error",
        Severity::Warning => "warning",
        Severity::Note => "notice",
    };
    let start = findings.sources.position(diagnostic.span);
    let end = findings.sources.end_position(diagnostic.span);
    // GitHub throws an annotation's columns away when it has several lines.
    let end_column =
        if start.line == end.line { format!(",endColumn={}", end.column) } else { String::new() };
    format!(
        "::{kind} file={},line={},col={},endLine={}{end_column},title={}::{}",
        property(&findings.path_of(diagnostic.span)),
        start.line,
        start.column,
        end.line,
        property(&format!("evalrig {}", diagnostic.code.name)),
        data(&findings.message_with_help(diagnostic)),
    )
}

#[cfg(test)]
mod tests {
    use super::super::fixture::{BROKEN, Fixture, REMARK, duplicate};
    use super::*;
    use evalrig_core::source::Span;

    #[test]
    fn a_command_carries_place_title_message_and_help() {
        assert_eq!(
            duplicate().show(&Github),
            "::error file=evals/EVAL.yaml,line=5,col=9,endLine=5,endColumn=10,\
             title=evalrig duplicate-id::test id `a` is used twice%0A\
             help: give one of them another id\n"
        );
    }

    #[test]
    fn everything_that_has_a_meaning_is_escaped() {
        let mut fixture = Fixture::new();
        fixture.secrets.add("sk-12345678");
        let file = fixture.file("a,b:c%.yaml", "one\ntwo\n");
        let message = "100%: a, b\r\nc\rd \u{1b}[0m sk-12345678";
        fixture.report(Diagnostic::new(&REMARK, Span::new(file, 1, 5), message));
        assert_eq!(
            fixture.show(&Github),
            "::notice file=a%2Cb%3Ac%25.yaml,line=1,col=2,endLine=2,\
             title=evalrig remark::100%25: a, b%0Ac␍d ␛[0m ***\n"
        );
    }

    #[test]
    fn what_was_dropped_is_said() {
        let mut fixture = Fixture::new();
        fixture.dropped = 2;
        let file = fixture.file("x.yaml", "");
        fixture.report(Diagnostic::new(&BROKEN, Span::new(file, 0, 0), "empty"));
        assert_eq!(
            fixture.show(&Github),
            "::warning file=x.yaml,line=1,col=1,endLine=1,endColumn=1,title=evalrig broken::empty\n\
             ::notice title=evalrig::2 more diagnostics are not shown\n"
        );
    }
}
