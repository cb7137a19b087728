//! JUnit reports of test runners: which test cases passed. Reports are written by programs that may be
//! hostile: size and counts are bounded, nothing recurses, and entities are not expanded.

use quick_xml::Reader;
use quick_xml::events::{BytesStart, Event};

use crate::model::{Marks, Score};

use super::excerpt::excerpt;

/// Bytes of one report.
const LARGEST: usize = 16 * 1024 * 1024;
/// Test cases of all reports.
const MOST_CASES: usize = 100_000;

/// One `testcase`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct JunitCase {
    /// Class and name.
    pub(super) name: String,
    pub(super) outcome: JunitOutcome,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum JunitOutcome {
    Passed,
    Failed(String),
    Skipped,
}

/// Test cases that are listed as misses.
const MOST_SHOWN: usize = 20;

/// Adds the test cases of a report. The error says what is wrong with it.
pub(super) fn read_junit(report: &[u8], cases: &mut Vec<JunitCase>) -> Result<(), String> {
    if report.len() > LARGEST {
        return Err("it is larger than 16 MiB".to_owned());
    }
    let text = std::str::from_utf8(report).map_err(|_| "it is not UTF-8".to_owned())?;
    let mut reader = Reader::from_str(text.trim_start_matches('\u{feff}'));
    let (mut open, mut depth, mut has_root) = (None::<OpenCase>, 0_usize, false);
    loop {
        match reader.read_event().map_err(|error| error.to_string())? {
            Event::Start(tag) => {
                has_root = true;
                depth += 1;
                begin(&tag, &mut open, depth);
            }
            Event::Empty(tag) => {
                has_root = true;
                begin(&tag, &mut open, depth + 1);
                finish(&mut open, depth + 1, cases)?;
            }
            Event::End(_) => {
                finish(&mut open, depth, cases)?;
                depth = depth.saturating_sub(1);
            }
            Event::Eof if depth > 0 => return Err("it ends before its last tag".to_owned()),
            Event::Eof if !has_root => return Err("it has no element".to_owned()),
            Event::Eof => return Ok(()),
            _ => {}
        }
    }
}

/// The `testcase` that is being read, and its depth.
struct OpenCase {
    case: JunitCase,
    depth: usize,
}

fn begin(tag: &BytesStart<'_>, open: &mut Option<OpenCase>, depth: usize) {
    let name = tag.local_name();
    match (name.as_ref(), open) {
        ("testcase", open @ None) => {
            let class = attribute(tag, "classname").filter(|class| !class.is_empty());
            let own = attribute(tag, "name").unwrap_or_default();
            let name = class.map_or_else(|| own.clone(), |class| format!("{class}.{own}"));
            let case = JunitCase { name, outcome: JunitOutcome::Passed };
            *open = Some(OpenCase { case, depth });
        }
        ("failure" | "error", Some(open)) if depth == open.depth + 1 => {
            let message = attribute(tag, "message").unwrap_or_default();
            open.case.outcome = JunitOutcome::Failed(message);
        }
        ("skipped", Some(open))
            if depth == open.depth + 1 && open.case.outcome == JunitOutcome::Passed =>
        {
            open.case.outcome = JunitOutcome::Skipped;
        }
        _ => {}
    }
}

fn finish(
    open: &mut Option<OpenCase>,
    depth: usize,
    cases: &mut Vec<JunitCase>,
) -> Result<(), String> {
    if let Some(done) = open.take_if(|open| open.depth == depth) {
        if cases.len() == MOST_CASES {
            return Err(format!("there are more than {MOST_CASES} test cases"));
        }
        cases.push(done.case);
    }
    Ok(())
}

fn attribute(tag: &BytesStart<'_>, name: &str) -> Option<String> {
    let found = tag.try_get_attribute(name).ok()??;
    let plain = quick_xml::escape::unescape(&found.value);
    Some(plain.map_or_else(|_| found.value.to_string(), Into::into))
}

/// The share of test cases that pass. A skipped one does not: what is skipped was not shown to work.
pub(super) fn junit_marks(cases: &[JunitCase], passed: usize) -> Marks {
    let (all, others) = (cases.len(), cases.len() - passed);
    let hits = if passed > 0 { vec![format!("{passed} of {all} test cases pass")] } else { vec![] };
    let mut misses: Vec<String> = cases
        .iter()
        .filter_map(|case| match &case.outcome {
            JunitOutcome::Passed => None,
            JunitOutcome::Skipped => Some(format!("Test case skipped: {}", excerpt(&case.name))),
            JunitOutcome::Failed(message) => {
                let message = message.lines().next().unwrap_or_default();
                let separator = if message.is_empty() { "" } else { ": " };
                let (name, message) = (excerpt(&case.name), excerpt(message));
                Some(format!("Test case failed: {name}{separator}{message}"))
            }
        })
        .take(MOST_SHOWN)
        .collect();
    if others > MOST_SHOWN {
        misses.push(format!("{} more test cases do not pass", others - MOST_SHOWN));
    }
    Marks::new(Score::of_share(passed as f64 / all as f64), hits, misses)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(report: &str) -> Result<Vec<JunitCase>, String> {
        let mut cases = Vec::new();
        read_junit(report.as_bytes(), &mut cases)?;
        Ok(cases)
    }

    fn outcomes(report: &str) -> Vec<(String, JunitOutcome)> {
        let cases = read(report).unwrap().into_iter();
        cases.map(|case| (case.name, case.outcome)).collect()
    }

    #[test]
    fn a_report_of_pytest() {
        let report = r#"<?xml version="1.0" encoding="utf-8"?><testsuites><testsuite name="pytest" tests="4">
<testcase classname="tests.test_cart" name="test_sum" time="0.001"/>
<testcase classname="tests.test_cart" name="test_tax[&lt;0&gt;]"><failure message="assert 1 == 2">E   assert <![CDATA[1 < 2]]></failure><system-out>x</system-out></testcase>
<testcase classname="" name="test_broken"><error message="ImportError"/></testcase>
<testcase name="test_later"><skipped type="pytest.skip" message="later"/></testcase>
</testsuite></testsuites>"#;
        let failed = |message: &str| JunitOutcome::Failed(message.to_owned());
        assert_eq!(
            outcomes(report),
            [
                ("tests.test_cart.test_sum".to_owned(), JunitOutcome::Passed),
                ("tests.test_cart.test_tax[<0>]".to_owned(), failed("assert 1 == 2")),
                ("test_broken".to_owned(), failed("ImportError")),
                ("test_later".to_owned(), JunitOutcome::Skipped),
            ]
        );
    }

    #[test]
    fn only_children_of_the_case_decide() {
        let report = "<testsuite><testcase name='a'><properties><failure/></properties></testcase>\
                      <failure/><testcase name='b'><testcase name='c'/></testcase></testsuite>";
        let found = outcomes(report);
        assert_eq!(found.len(), 2);
        assert!(found.iter().all(|(_, outcome)| *outcome == JunitOutcome::Passed));
    }

    #[test]
    fn rerun_elements_do_not_fail_a_case() {
        let report = "<s><testcase name='a'><flakyFailure/></testcase>\
                      <testcase name='b'><skipped/><failure/></testcase></s>";
        let found = outcomes(report);
        assert_eq!(found[0].1, JunitOutcome::Passed);
        assert_eq!(found[1].1, JunitOutcome::Failed(String::new()));
    }

    #[test]
    fn what_is_not_a_report_is_refused() {
        for report in ["", "oops", "<a>", "<a></b>", "<a", "<a b='", "\u{0}"] {
            assert!(read(report).is_err(), "{report}");
        }
        assert_eq!(read("<testsuite/>").unwrap(), []);
        let mut cases = Vec::new();
        assert!(read_junit(b"<a>\xff</a>", &mut cases).is_err());
        assert!(read_junit(&vec![b' '; LARGEST + 1], &mut cases).is_err());
    }

    #[test]
    fn hostile_reports_are_bounded() {
        let deep = "<a>".repeat(100_000) + &"</a>".repeat(100_000);
        assert_eq!(read(&deep).unwrap(), []);
        let bomb = r#"<!DOCTYPE a [<!ENTITY x "xxxxxxxxxx"><!ENTITY y "&x;&x;&x;&x;">]><s><testcase name="&y;&y;"/></s>"#;
        assert_eq!(outcomes(bomb)[0].0, "&y;&y;");
        let many = format!("<s>{}</s>", "<testcase/>".repeat(MOST_CASES + 1));
        assert!(read(&many).is_err());
    }
}
