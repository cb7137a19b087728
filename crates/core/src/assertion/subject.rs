//! `file`: the option by which a check looks at a file of the workspace instead of the answer (spec
//! 17.5).

use crate::diagnostic::{Diagnostic, declare_codes};
use crate::model::{
    Assertion, Check, Conclusion, Fault, FaultKind, Gate, Grade, GradingContext, Judging, Marks,
    Score, Stage, Step, TestView,
};
use crate::reader::{Options, ReadResult, Reported};
use crate::source::Span;
use crate::syntax::fields::{Field, Shape, shorten};

declare_codes! {
    NO_WORKSPACE = "no-workspace", BlocksRun, Assertion, r#"A check on files is applied to a test without a workspace.

## Example
```yaml
name: demo
tests:
  - id: a
    criteria: Writes the report
    input: Write the report to report.md
    assert:
      - {type: contains, value: Summary, file: report.md}
```

## Instead
```yaml
name: demo
workspace: {}
tests:
  - id: a
    criteria: Writes the report
    input: Write the report to report.md
    assert:
      - {type: contains, value: Summary, file: report.md}
```

## Why
`file`, `files` and `command` look at the directory that the agent worked in. Without `workspace` there is no
directory of its own, only one that all cases share. `workspace: {}` is an empty one.
"#;
}

pub(super) const FILE: Field = Field::new(
    "file",
    Shape::NonEmptyText,
    "file of the workspace that is checked instead of the output",
);

/// Larger files are not read into memory for a check.
const LARGEST_FILE: u64 = 16 * 1024 * 1024;

/// The `file` of an assertion, if its type takes one.
pub(super) fn read_file_option(options: &mut Options<'_, '_, '_>) -> ReadResult<Option<String>> {
    options.optional("file", |options, entry| {
        let text = options.full_text_of("file", entry.value)?;
        let path = options.reader.path_in_workspace(&text.value, text.span).ok_or(Reported)?;
        if path.is_empty() {
            let message = "`file` names the workspace itself";
            return Err(options.missing(text.span, message, "write the path of a file in it"));
        }
        Ok(path)
    })
}

/// The faults that an assertion has in a test.
pub(crate) fn faults_in_test(
    assertion: &Assertion,
    test: &TestView<'_>,
    place: Span,
) -> Vec<Diagnostic> {
    let mut faults = assertion.check.diagnostics_in(test, place);
    if assertion.common.file.is_some() {
        faults.extend(missing_workspace("`file`", test, place));
    }
    faults
}

/// The fault of a check on files in a test that has no workspace.
pub(super) fn missing_workspace(
    what: &str,
    test: &TestView<'_>,
    place: Span,
) -> Option<Diagnostic> {
    // Named, because an inherited assertion is reported for each test.
    let name =
        test.id.map_or_else(|| "the test".to_owned(), |id| format!("test `{}`", shorten(id)));
    let message = format!("{what} needs a workspace, and {name} has none");
    let fault = Diagnostic::new(&NO_WORKSPACE, place, message)
        .related(test.span, "the test")
        .help("add `workspace` to the suite or to the test; `workspace: {}` is an empty one");
    test.workspace.is_none().then_some(fault)
}

/// Grades a check on the text that it is about.
pub(super) fn grade_subject(check: &dyn Check, context: &GradingContext<'_>) -> Step {
    let is_skipped = context.options.judging == Judging::Skip && check.needs_judge();
    let Some(path) = context.common.file.as_deref().filter(|_| !is_skipped) else {
        return check.grade(context);
    };
    match read_text(context, path) {
        Ok(Some(text)) => check.grade(&context.about_file(&text)),
        Ok(None) => missing_file(check, path),
        Err(fault) => fault.into(),
    }
}

/// `None` if there is no such file.
fn read_text(context: &GradingContext<'_>, path: &str) -> Result<Option<String>, Fault> {
    let Some(workspace) = context.evidence.workspace else {
        return Err(Fault::not_measured("the workspace, which is gone"));
    };
    let Some(bytes) = workspace.read(path, LARGEST_FILE + 1)? else {
        return Ok(None);
    };
    if bytes.len() as u64 > LARGEST_FILE {
        let message = format!("file '{path}' is larger than 16 MiB");
        return Err(Fault::new(Stage::Measure, FaultKind::Limit, message));
    }
    let text = String::from_utf8(bytes).map_err(|_| {
        let message = format!("file '{path}' is not UTF-8");
        Fault::new(Stage::Measure, FaultKind::Io, message)
    })?;
    Ok(Some(match text.strip_prefix('\u{feff}') {
        Some(rest) => rest.to_owned(),
        None => text,
    }))
}

/// Without the file every check fails, also a negated one, and so does every gate inside it.
fn missing_file(check: &dyn Check, path: &str) -> Step {
    let misses = vec![format!("File '{path}' does not exist")];
    let has_gate = check.items().iter().any(|item| item.required.is_gate());
    Step::Done(Conclusion {
        gate: has_gate.then_some(Gate::Missed),
        is_absolute: true,
        ..Grade::Graded(Marks::new(Score::ZERO, Vec::new(), misses)).into()
    })
}

#[cfg(test)]
mod tests {
    use super::super::testing::{MemoryWorkspace, Trial, read};
    use super::*;
    use crate::model::{Answer, AssertionGrade, Question, Transcript};

    fn trial(assertion: &str) -> Trial {
        let workspace = MemoryWorkspace::new()
            .with("report.md", "# Summary\nAll well\n")
            .with("data/a.json", "\u{feff}{\"total\": 3}")
            .with("binary", b"\xff\xfe");
        Trial::new(&format!("- {assertion}"), Transcript::of_text("Done.")).inside(workspace)
    }

    /// The texts that tell what every type found in a file.
    #[test]
    fn every_text_check_looks_at_the_file_and_says_so() {
        for (assertion, score, text) in [
            ("contains, value: Summary", 1.0, "File 'report.md' contains 'Summary'"),
            ("contains, value: Done", 0.0, "File 'report.md' does not contain 'Done'"),
            (
                "icontains, value: summary",
                1.0,
                "File 'report.md' contains 'summary' (ignoring case)",
            ),
            ("contains-any, value: [q, z]", 0.0, "File 'report.md' contains none of: 'q', 'z'"),
            ("contains-all, value: [All]", 1.0, "File 'report.md' contains 'All'"),
            ("starts-with, value: '#'", 1.0, "File 'report.md' starts with '#'"),
            ("ends-with, value: Done.", 0.0, "File 'report.md' does not end with 'Done.'"),
            ("regex, value: 'A\\w+ well'", 1.0, "File 'report.md' matches regex: A\\w+ well"),
            ("equals, value: Done.", 0.0, "File 'report.md' differs from: Done."),
            (
                "is-json",
                0.0,
                "File 'report.md' is not valid JSON: expected a JSON value at line 1, column 1",
            ),
            (
                "field-accuracy, fields: [{path: total, expected: 3}]",
                0.0,
                "File 'report.md' has no JSON value",
            ),
        ] {
            let assertion = format!("{{type: {assertion}, file: ./report.md}}");
            let marks = trial(&assertion).marks();
            assert_eq!(marks.score.value(), score, "{assertion}");
            let found = if score > 0.0 { marks.hits } else { marks.misses };
            assert_eq!(found, [text], "{assertion}");
        }
    }

    #[test]
    fn sentences_name_the_file() {
        for (assertion, sentence) in [
            ("contains, value: a", "File 'f' contains 'a'"),
            ("contains-any, value: [a, b]", "File 'f' contains any of: 'a', 'b'"),
            ("equals, value: a", "File 'f' exactly equals: a"),
            ("regex, value: a", "File 'f' matches regex: a"),
            ("is-json", "File 'f' is valid JSON"),
            (
                "field-accuracy, fields: [{path: a, expected: 1}]",
                "Fields a of file 'f' match expected values",
            ),
            ("llm-judge, prompt: Is it short?", "File 'f': Is it short?"),
            ("rubrics, rubrics: [Is short]", "File 'f': Is short"),
        ] {
            let found = read(&format!("- {{type: {assertion}, file: f}}"));
            assert_eq!(found.names(), [""; 0], "{assertion}");
            assert_eq!(found.sentences(), [sentence]);
        }
    }

    #[test]
    fn json_in_a_file_is_read_without_its_byte_order_mark() {
        let fields = "fields: [{path: total, expected: 3}]";
        let marks =
            trial(&format!("{{type: field-accuracy, file: data/a.json, {fields}}}")).marks();
        assert_eq!(marks.score.value(), 1.0);
        assert_eq!(trial("{type: is-json, file: data/a.json}").marks().score.value(), 1.0);
    }

    #[test]
    fn a_file_that_does_not_exist_fails_every_check_also_a_negated_one() {
        for assertion in [
            "{type: contains, value: x, file: none.md}",
            "{type: not-contains, value: x, file: none.md}",
            "{type: is-json, file: none.md, negate: true}",
            "{type: llm-judge, prompt: Short?, file: none.md}",
        ] {
            let marks = trial(assertion).marks();
            assert_eq!(marks.score.value(), 0.0, "{assertion}");
            assert_eq!(marks.misses, ["File 'none.md' does not exist"], "{assertion}");
            assert!(marks.hits.is_empty());
        }
        let gated = "{type: rubrics, file: none.md, rubrics: [{outcome: a, required: true}]}";
        assert_eq!(trial(gated).only().gate, Some(Gate::Missed));
    }

    #[test]
    fn a_negated_check_on_a_file_is_inverted_as_usual() {
        let marks = trial("{type: not-contains, value: Summary, file: report.md}").marks();
        assert_eq!(marks.score.value(), 0.0);
        assert_eq!(marks.misses, ["File 'report.md' contains 'Summary'"]);
    }

    #[test]
    fn what_cannot_be_read_is_a_fault() {
        let fault = trial("{type: contains, value: x, file: binary}").fault();
        assert_eq!((fault.stage, fault.kind), (Stage::Measure, FaultKind::Io));
        assert_eq!(fault.message, "file 'binary' is not UTF-8");
        let large = MemoryWorkspace::new().with("f", vec![b'a'; LARGEST_FILE as usize + 1]);
        let yaml = "- {type: contains, value: x, file: f}";
        let large = Trial::new(yaml, Transcript::of_text("")).inside(large);
        assert_eq!(large.fault().kind, FaultKind::Limit);
        let gone = Trial::new(yaml, Transcript::of_text("")).fault();
        assert_eq!(gone.kind, FaultKind::NotMeasured);
    }

    #[test]
    fn a_judge_gets_the_file_under_its_own_heading() {
        let ask = |assertion: &str| -> String {
            let mut shown = String::new();
            let grades: Vec<AssertionGrade> = trial(assertion).grades(|ask| {
                let Question::Judge(question) = &ask.question else { panic!("{ask:?}") };
                shown = question.messages[1].text().expect("a text");
                Answer::Judge(
                    r#"{"score": 1, "checks": [{"id": "rubric-1", "satisfied": true}]}"#.into(),
                )
            });
            assert!(matches!(grades[0].grade, Grade::Graded(_)));
            shown
        };
        let shown = ask("{type: rubrics, rubrics: [Is short], file: report.md}");
        assert!(shown.contains("## File report.md\n```\n# Summary\nAll well\n```"), "{shown}");
        assert!(!shown.contains("## Answer") && shown.contains("whether the file satisfies it"));
        let shown = ask("{type: llm-judge, prompt: 'Short? {{ answer }}', file: report.md}");
        assert_eq!(shown, "Short? # Summary\nAll well\n");
    }

    #[test]
    fn a_path_out_of_the_workspace_is_marked() {
        for (path, fault) in [
            ("../a", "path-outside-workspace"),
            ("/etc/passwd", "path-outside-workspace"),
            ("' '", "missing-option"),
            (".", "missing-option"),
        ] {
            let found = read(&format!("- {{type: contains, value: x, file: {path}}}"));
            assert_eq!(found.names(), [fault], "{path}");
        }
        assert_eq!(read("- {type: latency, threshold: 1, file: a}").names(), ["unknown-field"]);
    }

    #[test]
    fn without_judges_a_missing_file_is_not_judged_either() {
        let mut trial = trial("{type: rubrics, rubrics: [a], file: none.md}");
        trial.options.judging = Judging::Skip;
        assert!(matches!(trial.only().grade, Grade::Skipped(_)));
    }
}
