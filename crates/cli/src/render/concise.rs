//! One line for each diagnostic, and a last line that counts.

use std::io::{self, Write};

use evalrig_run::text;

use super::{Findings, Render, summary};

#[derive(Debug, Clone, Copy)]
pub struct Concise;

impl Render for Concise {
    fn render(&self, findings: &Findings, out: &mut dyn Write) -> io::Result<()> {
        for diagnostic in findings.diagnostics {
            let position = findings.sources.position(diagnostic.span);
            writeln!(
                out,
                "{}:{}:{}: {}[{}]: {}",
                text::single_line(&findings.path_of(diagnostic.span)),
                position.line,
                position.column,
                diagnostic.level.severity().word(),
                diagnostic.code.name,
                text::single_line(&findings.redact(&diagnostic.message)),
            )?;
        }
        if let Some(dropped) = summary::dropped(findings) {
            writeln!(out, "{dropped}")?;
        }
        writeln!(out, "{}", summary::totals(findings))
    }
}

#[cfg(test)]
mod tests {
    use super::super::fixture::{BROKEN, Fixture, duplicate};
    use super::*;
    use evalrig_core::diagnostic::Diagnostic;
    use evalrig_core::source::Position;

    #[test]
    fn one_line_each_and_a_last_line() {
        assert_eq!(
            duplicate().show(&Concise),
            "evals/EVAL.yaml:5:9: error[duplicate-id]: test id `a` is used twice\n\
             1 error, 0 warnings in 2 files (14 tests)\n"
        );
    }

    #[test]
    fn a_clean_report_has_the_last_line_too() {
        assert_eq!(Fixture::new().show(&Concise), "0 errors, 0 warnings in 2 files (14 tests)\n");
    }

    #[test]
    fn breaks_escapes_and_secrets_do_not_get_through() {
        let mut fixture = Fixture::new();
        fixture.secrets.add("sk-12345678");
        let first = Position { line: 7, column: 3 };
        let line = fixture.excerpt("d.jsonl", "{\"é\": 1}", first, 90);
        let span = fixture.find(line, "1", 0);
        fixture.report(Diagnostic::new(&BROKEN, span, "one\n\u{1b}two sk-12345678"));
        fixture.dropped = 1;
        assert_eq!(
            fixture.show(&Concise),
            "d.jsonl:7:9: warning[broken]: one ␛two ***\n\
             1 more diagnostic is not shown\n\
             0 errors, 1 warning in 2 files (14 tests)\n"
        );
    }
}
