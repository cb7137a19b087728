//! One HTML page: a file that needs nothing else (no network, no server, no second file), or the
//! same page from `evalrig view`. What agents wrote is embedded as data only, so it is never read as
//! markup or run as a script.
//!
//! A server uses these functions:
//!
//! ```text
//! render_page(rows, &ReportedRun, &SuiteText, &PageMode, &mut dyn Write) -> io::Result<()>
//! case_json(&Row, &SuiteText) -> String           data of a `row` event
//! LiveSummary::json(&ReportedRun) -> String       data of a `run` event
//! workers_json(&WorkerLines) -> String            data of a `workers` event
//! end_json(rows, &ReportedRun) -> String          data of the `end` event
//! ```
//!
//! `rows` is any iterator over rows or references to them. A live page has
//! `<meta name="evalrig-live" content="events">` and reads an event stream at that address, relative
//! to its own. `run` may come again at any time and replaces the facts; a `row` of a case that is
//! known already replaces it, so a stream may begin anew after a reconnect. All of them are one line.
//! With labels the page has `<meta name="evalrig-labels" content="labels">` and
//! `<meta name="evalrig-token">`, shows the labels of others beside those of
//! `<meta name="evalrig-author">`, and posts `{suite, test, answerHash, label, note}` to `labels`.
//! `answerHash` is that of [`Row::answer_hash`].

mod arm;
mod case;
mod check;
mod comparison;
mod cut_text;
mod earlier;
mod history;
mod live;
mod origin;
mod page;
mod page_budget;
mod page_mode;
mod page_test;
mod rate;
mod summary;
mod verdict;

use std::io::{self, Write};

use self::page::Page;
use super::{Report, ReportKind, ReportedRun, SuiteText};
use crate::results::Row;

pub use self::earlier::EarlierCase;
pub use self::live::{LiveSummary, case_json, end_json, run_json, workers_json};
pub use self::page::{page_policy, page_style, render_page};
pub use self::page_mode::{PageLabels, PageMode};

pub static REPORT: ReportKind = ReportKind {
    name: "html",
    doc: "a page for the browser: summary, plots, every case with its conversation",
    shows_gate: false,
    shows_history: true,
    make: |setting| {
        let page = Page::new(setting.text.clone(), PageMode::default());
        Box::new(Html(page.judged_by(setting.exit_rule)))
    },
};

/// The page in another mode than that of a file.
pub fn page_report(text: SuiteText, mode: PageMode) -> Box<dyn Report> {
    Box::new(Html(Page::new(text, mode)))
}

/// The page as a file.
#[derive(Debug)]
struct Html(Page);

impl Report for Html {
    fn row(&mut self, row: &Row, _: &mut dyn Write) -> io::Result<()> {
        self.0.add(row);
        Ok(())
    }

    fn finish(&mut self, end: &ReportedRun, out: &mut dyn Write) -> io::Result<()> {
        self.0.write(end, out)
    }
}

#[cfg(test)]
mod tests {
    use evalrig_core::model::Outcome;
    use serde_json::Value;

    use super::super::ReportOptions;
    use super::super::fixture::{self, HOSTILE, Shown};
    use super::page::*;
    use super::*;
    use crate::text::OutputStyle;

    fn shown() -> Shown {
        Shown::of(&REPORT, OutputStyle::default())
    }

    fn block(page: &str, id: &str) -> Value {
        let open = format!(r#"<script type="application/json" id="{id}">"#);
        let (_, rest) = page.split_once(&open).expect("the block");
        let (json, _) = rest.split_once("</script>").unwrap();
        serde_json::from_str(json).unwrap()
    }

    #[test]
    fn the_data_of_a_run() {
        let page = shown().rows(&fixture::rows());
        let pretty = |value: &Value| serde_json::to_string_pretty(value).unwrap();
        let mut run = block(&page, "run");
        run.as_object_mut().unwrap().remove("generator");
        insta::assert_snapshot!("run", pretty(&run));
        insta::assert_snapshot!("tests", pretty(&block(&page, "tests")));
        insta::assert_snapshot!("details", pretty(&block(&page, "details-0")[1]));
    }

    #[test]
    fn an_answer_cannot_leave_its_block() {
        let payload = "</script><script>alert(1)</script><!-- <script> ]]> \u{2028} & {{script}}";
        let mut row = fixture::missing(payload, payload);
        row.candidate_answer = Some(payload.to_owned());
        row.output_messages = Some(vec![serde_json::json!({"role": payload, "content": payload})]);
        let page = shown().rows(&[row]);
        let plain = shown().rows(&[fixture::missing("a", "b")]);
        for mark in ["<script", "</script", "<!--", "\u{2028}"] {
            assert_eq!(page.matches(mark).count(), plain.matches(mark).count());
        }
        assert_eq!(block(&page, "tests")[0]["id"], payload);
        let case = &block(&page, "details-0")[0]["cases"][0];
        let message = &case["conversation"]["messages"][0];
        assert_eq!(message["content"], payload);
    }

    #[test]
    fn hostile_texts_come_back_as_they_were() {
        let page = shown().rows(&fixture::hostile_rows());
        let details = block(&page, "details-0");
        let case = &details[0]["cases"][0];
        assert_eq!(case["conversation"]["answer"], HOSTILE);
        assert_eq!(case["checks"][0]["misses"][0], HOSTILE);
    }

    #[test]
    fn the_policy_lists_the_scripts_of_the_page() {
        let page = shown().rows(&[]);
        let between = |open: &str, close: &str| {
            let (_, rest) = page.split_once(open).unwrap();
            rest.split_once(close).unwrap().0.to_owned()
        };
        let style = between("<style>", "</style>");
        let script = between("<script>", "</script>");
        assert!(page.contains(&policy(&style, &script, &PageMode::default())), "{page}");
        assert!(!page.contains("{{"), "a hole was not filled");
    }

    #[test]
    fn only_a_served_page_may_ask_its_server() {
        let rendered = |mode: &PageMode| {
            let mut out = Vec::new();
            let text = super::super::SuiteText::unknown();
            let end = ReportedRun::default();
            render_page(fixture::rows(), &end, &text, mode, &mut out).unwrap();
            String::from_utf8(out).unwrap()
        };
        let file = rendered(&PageMode::default());
        assert_eq!(
            file,
            shown().end(ReportedRun::default()).without_suite().rows(&fixture::rows())
        );
        assert!(!file.contains("connect-src"));
        let live = rendered(&PageMode { is_live: true, ..PageMode::default() });
        assert!(live.contains("; connect-src 'self'; base-uri 'none'"));
        assert!(live.contains("<meta name=\"evalrig-live\" content=\"events\">"));
    }

    #[test]
    fn the_page_loads_nothing_and_makes_no_markup_of_data() {
        for text in [TEMPLATE, STYLE, SCRIPT] {
            // The SVG namespace is an address that is never requested.
            let text = text.replace("http://www.w3.org/2000/svg", "");
            for word in ["http:", "https:", "@import", "url(", " src=", "innerHTML", "eval("] {
                assert!(!text.contains(word), "`{word}` in the page");
            }
            assert!(!text.contains("insertAdjacentHTML") && !text.contains("document.write"));
        }
        assert!(!SCRIPT.contains("</") && !SCRIPT.contains("<!--"));
    }

    /// A file that is not in its list would silently be missing.
    fn assert_holds_every_file(whole: &str, around: &str, folder: &str, opening: &str) {
        let folder = format!("{}/src/report/html/{folder}", env!("CARGO_MANIFEST_DIR"));
        let mut rest = whole.len() - around.len();
        for file in std::fs::read_dir(folder).unwrap() {
            let path = file.unwrap().path();
            let text = std::fs::read_to_string(&path).unwrap();
            assert!(whole.contains(&text), "{} is in no list", path.display());
            assert!(text.starts_with(opening), "{} says nothing", path.display());
            assert!(text.lines().count() <= 300, "{} is long", path.display());
            rest -= text.len();
        }
        assert_eq!(rest, 0, "a file occurs twice");
    }

    #[test]
    fn every_file_of_script_and_style_is_in_it_and_short() {
        assert_holds_every_file(SCRIPT, "\"use strict\";\n(() => {\n})();\n", "script", "// ");
        assert_holds_every_file(STYLE, "", "style", "/* ");
    }

    #[test]
    fn a_baseline_has_a_block_of_its_own() {
        let id = r#"id="compared""#;
        assert!(!shown().rows(&fixture::rows()).contains(id));
        let now = [("refund-policy", Outcome::Failed)];
        let end = ReportedRun {
            compared: Some(fixture::compared(
                "main.jsonl",
                &[("refund-policy", Outcome::Passed)],
                &now,
            )),
            ..ReportedRun::default()
        };
        let page = shown().end(end).rows(&fixture::rows());
        let mut found = block(&page, "compared");
        let pretty = serde_json::to_string_pretty(&found.take()).unwrap();
        insta::assert_snapshot!("compared", pretty);
    }

    #[test]
    fn a_huge_answer_is_cut_with_a_note() {
        let page = shown().rows(&[fixture::huge_row()]);
        assert!(page.len() < 400_000, "{}", page.len());
        let details = block(&page, "details-0");
        let answer = details[0]["cases"][0]["conversation"]["answer"].as_str().unwrap();
        assert!(answer.ends_with("more characters are in the results file]"));
    }

    #[test]
    fn blocks_hold_the_tests_in_order() {
        let rows: Vec<_> = (0..120).map(|n| fixture::missing(&format!("t{n}"), "m")).collect();
        let page = shown().rows(&rows);
        assert_eq!(block(&page, "tests").as_array().unwrap().len(), 120);
        assert_eq!(block(&page, "details-2").as_array().unwrap().len(), 20);
        assert!(!page.contains("details-3\""));
    }

    #[test]
    fn trials_of_a_test_are_one_entry_in_the_order_of_their_rows() {
        let mut rows = vec![fixture::missing("a", "m"), fixture::missing("b", "m")];
        rows.push(Row { trial: 2, ..fixture::missing("a", "m") });
        let page = shown().rows(&rows);
        let tests = block(&page, "tests");
        assert_eq!(tests.as_array().unwrap().len(), 2);
        assert_eq!((&tests[0]["cases"][0][0], &tests[0]["cases"][1][0]), (&1.into(), &2.into()));
        let details = block(&page, "details-0");
        assert_eq!(details[0]["cases"].as_array().unwrap().len(), 2);
        assert_eq!(details[0]["common"].as_array().unwrap().len(), 1);
    }

    #[test]
    fn rows_are_not_written_before_the_end() {
        let mut report = (REPORT.make)(&ReportOptions {
            style: OutputStyle::default(),
            detail: super::super::Detail::Normal,
            text: super::super::SuiteText::unknown(),
            exit_rule: crate::results::ExitRule::default(),
        });
        let mut out = Vec::new();
        report.row(&fixture::missing("a", "b"), &mut out).unwrap();
        assert!(out.is_empty());
    }
}
