//! One HTML file that needs nothing else: no network, no server, no second file. What agents wrote
//! is embedded as data only, so it is never read as markup or run as a script.

mod case;
mod comparison;
mod cut_text;
mod history;
mod page_budget;
mod rate;
mod summary;
mod verdict;

use std::fmt::Write as _;
use std::io::{self, Write};

use base64::prelude::{BASE64_STANDARD, Engine as _};
use serde_json::Value;
use sha2::{Digest, Sha256};

use self::page_budget::{PageBudget, PageCase};
use self::summary::SummaryPanel;
use super::{Report, ReportKind, ReportOptions, ReportedRun, SuiteText};
use crate::results::Row;
use crate::text;

pub static REPORT: ReportKind = ReportKind {
    name: "html",
    doc: "one page to open in a browser: summary, plots, every case with its conversation",
    shows_gate: false,
    shows_history: true,
    make: |setting| Box::new(Html::new(setting)),
};

const TEMPLATE: &str = include_str!("html/template.html");
const STYLE: &str = include_str!("html/report.css");
/// One script, in files by subject. Those that others build on come first, and only the last one acts.
const SCRIPT: &str = concat!(
    "\"use strict\";\n(() => {\n",
    include_str!("html/script/node.js"),
    include_str!("html/script/number.js"),
    include_str!("html/script/data.js"),
    include_str!("html/script/theme.js"),
    include_str!("html/script/summary.js"),
    include_str!("html/script/plot.js"),
    include_str!("html/script/history.js"),
    include_str!("html/script/list.js"),
    include_str!("html/script/bar.js"),
    include_str!("html/script/conversation.js"),
    include_str!("html/script/check.js"),
    include_str!("html/script/case.js"),
    include_str!("html/script/cases.js"),
    include_str!("html/script/comparison.js"),
    include_str!("html/script/start.js"),
    "})();\n",
);

/// Cases per block of details. The script reads a block when one of its cases is
/// opened, so that a page with many cases is there at once.
const BLOCK: usize = 50;

#[derive(Debug)]
pub struct Html {
    text: SuiteText,
    summary: SummaryPanel,
    shelf: PageBudget,
}

impl Html {
    pub fn new(setting: &ReportOptions) -> Self {
        Self {
            text: setting.text.clone(),
            summary: SummaryPanel::default(),
            shelf: PageBudget::default(),
        }
    }

    /// Everything the script knows, as blocks of JSON.
    fn write_data(&self, end: &ReportedRun, out: &mut dyn Write) -> io::Result<()> {
        let run = self.summary.document(end, &self.shelf.notes());
        write_block(out, "run", &inert(&run.to_string()))?;
        if let Some(compared) = &end.compared {
            write_block(out, "compared", &comparison::block(compared))?;
        }
        let cases = self.shelf.cases();
        let lines = cases.iter().map(|case| case.line.as_str());
        write_block(out, "cases", &list(lines))?;
        for (number, block) in cases.chunks(BLOCK).enumerate() {
            let cases = block.iter().map(PageCase::document);
            let cases: Vec<String> = cases.collect();
            let text = list(cases.iter().map(String::as_str));
            write_block(out, &format!("details-{number}"), &text)?;
        }
        Ok(())
    }
}

impl Report for Html {
    fn row(&mut self, row: &Row, _: &mut dyn Write) -> io::Result<()> {
        self.summary.add(row);
        self.shelf.put(case::kept(row, &self.text));
        Ok(())
    }

    fn finish(&mut self, end: &ReportedRun, out: &mut dyn Write) -> io::Result<()> {
        let (style, script) = (without_returns(STYLE), without_returns(SCRIPT));
        // The template is taken apart before anything is put in, so that a text that looks like a
        // hole of it is not filled.
        for part in TEMPLATE.split("{{") {
            let (hole, rest) = part.split_once("}}").unwrap_or(("", part));
            match hole {
                "policy" => out.write_all(policy(&style, &script).as_bytes())?,
                "style" => out.write_all(style.as_bytes())?,
                "script" => out.write_all(script.as_bytes())?,
                "data" => self.write_data(end, out)?,
                _ => {}
            }
            out.write_all(rest.as_bytes())?;
        }
        out.flush()
    }
}

/// Nothing may be loaded from anywhere, and of all scripts and styles only ours run: they are known
/// by their digests.
fn policy(style: &str, script: &str) -> String {
    let digest = |text: &str| BASE64_STANDARD.encode(Sha256::digest(text.as_bytes()));
    format!(
        "default-src 'none'; style-src 'sha256-{}'; script-src 'sha256-{}'; base-uri 'none'; \
         form-action 'none'",
        digest(style),
        digest(script)
    )
}

/// Browsers drop them before they compute digests; a checkout on Windows may have them.
fn without_returns(text: &str) -> String {
    text.replace('\r', "")
}

/// JSON in which nothing can end or open an element, whatever the strings in it say. The signs can
/// occur in strings only, so the value stays the same.
fn inert(json: &str) -> String {
    let json = text::json(json);
    let mut out = String::with_capacity(json.len());
    for c in json.chars() {
        match c {
            '<' | '>' | '&' => {
                let _ = write!(out, "\\u{:04x}", u32::from(c));
            }
            c => out.push(c),
        }
    }
    out
}

fn inert_value(value: &Value) -> String {
    inert(&value.to_string())
}

fn list<'a>(texts: impl Iterator<Item = &'a str>) -> String {
    let mut out = "[".to_owned();
    for text in texts {
        if out.len() > 1 {
            out.push_str(",\n");
        }
        out.push_str(text);
    }
    out.push(']');
    out
}

fn write_block(out: &mut dyn Write, id: &str, json: &str) -> io::Result<()> {
    writeln!(out, r#"<script type="application/json" id="{id}">{json}</script>"#)
}

#[cfg(test)]
mod tests {
    use evalrig_core::model::Outcome;

    use super::super::Report as _;
    use super::super::fixture::{self, HOSTILE, Shown};
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
        insta::assert_snapshot!("cases", pretty(&block(&page, "cases")));
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
        assert_eq!(block(&page, "cases")[0]["id"], payload);
        let message = &block(&page, "details-0")[0]["conversation"]["messages"][0];
        assert_eq!(message["content"], payload);
    }

    #[test]
    fn hostile_texts_come_back_as_they_were() {
        let page = shown().rows(&fixture::hostile_rows());
        let details = block(&page, "details-0");
        assert_eq!(details[0]["conversation"]["answer"], HOSTILE);
        assert_eq!(details[0]["checks"][0]["misses"][0], HOSTILE);
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
        assert!(page.contains(&policy(&style, &script)), "{page}");
        assert!(!page.contains("{{"), "a hole was not filled");
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

    /// A script file that is not in the list would silently be missing.
    #[test]
    fn every_file_of_the_script_is_in_it_and_short() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/src/report/html/script");
        let mut rest = SCRIPT.len() - "\"use strict\";\n(() => {\n})();\n".len();
        for file in std::fs::read_dir(folder).unwrap() {
            let path = file.unwrap().path();
            let text = std::fs::read_to_string(&path).unwrap();
            assert!(SCRIPT.contains(&text), "{} is not in SCRIPT", path.display());
            assert!(text.starts_with("// "), "{} says nothing", path.display());
            assert!(text.lines().count() <= 300, "{} is long", path.display());
            rest -= text.len();
        }
        assert_eq!(rest, 0, "a file occurs in the script twice");
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
        let answer = details[0]["conversation"]["answer"].as_str().unwrap();
        assert!(answer.ends_with("more characters are in the results file]"));
    }

    #[test]
    fn blocks_hold_the_cases_in_order() {
        let rows: Vec<_> = (0..120).map(|n| fixture::missing(&format!("t{n}"), "m")).collect();
        let page = shown().rows(&rows);
        assert_eq!(block(&page, "cases").as_array().unwrap().len(), 120);
        assert_eq!(block(&page, "details-2").as_array().unwrap().len(), 20);
        assert!(!page.contains("details-3\""));
    }

    #[test]
    fn rows_are_not_written_before_the_end() {
        let mut report = Html::new(&ReportOptions {
            style: OutputStyle::default(),
            detail: super::super::Detail::Normal,
            text: SuiteText::unknown(),
            borderline: crate::results::Borderline::Fails,
        });
        let mut out = Vec::new();
        report.row(&fixture::missing("a", "b"), &mut out).unwrap();
        assert!(out.is_empty());
    }
}
