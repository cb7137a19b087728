//! Labels in a CSV file, such as a spreadsheet writes. Unlike the lines of `.evalrig/labels.jsonl`, which
//! many hands append to, a table with a fault is refused: its author can fix it.

use evalrig_core::diagnostic::Diagnostics;
use evalrig_core::source::{Sources, Span};
use evalrig_core::syntax::{Node, parse_csv};

use super::answer_hash::hash_of_answer;
use super::labels::{AnswerLabel, AnswerMark, LabelFault, UNKNOWN_AUTHOR};

/// Columns, each with its other names. Those of the first four are needed.
const SUITE: &[&str] = &["suite", "dataset"];
const TEST: &[&str] = &["test", "evalId", "test_id"];
const LABEL: &[&str] = &["label", "verdict"];
const ANSWER: &[&str] = &["answerHash", "answer_hash", "answer", "candidateAnswer", "output"];
const ASSERTION: &[&str] = &["assertion"];
const ITEM: &[&str] = &["item"];
const NOTE: &[&str] = &["note", "comment"];
const WHO: &[&str] = &["who", "by"];
const WHEN: &[&str] = &["when", "at"];

/// How many of the columns name the hash; the others hold the answer itself.
const HASHES: usize = 2;

/// The labels, or the first fault as its line and what is wrong.
pub(super) fn parse_table(text: String) -> Result<Vec<AnswerLabel>, (u64, String)> {
    let mut sources = Sources::new();
    let source = sources.add_file("labels.csv".into(), text, 0);
    let line = |span: Span| u64::from(sources.line(span));
    let mut out = Diagnostics::new();
    let Some(tree) = parse_csv(source, sources.get(source).shared_text(), &mut out) else {
        let fault = out.into_vec().into_iter().next();
        return Err(fault.map_or((1, "the file is not CSV".to_owned()), |fault| {
            (line(fault.span), fault.message)
        }));
    };
    let labels = tree.root().items().map(|row| {
        read_row(row).map_err(|(span, message)| (line(span.unwrap_or(row.span())), message))
    });
    labels.collect()
}

type RowFault = (Option<Span>, String);

fn read_row(row: Node<'_>) -> Result<AnswerLabel, RowFault> {
    let suite = needed(row, SUITE)?;
    let test = needed(row, TEST)?;
    let (at, answer) = found(row, ANSWER).ok_or_else(|| missing(ANSWER))?;
    let answer_hash = match at {
        0..HASHES => answer.0.trim().to_ascii_lowercase(),
        _ => hash_of_answer(answer.0),
    };
    let (_, (word, span)) = found(row, LABEL).ok_or_else(|| missing(LABEL))?;
    let label = AnswerMark::of_word(word).ok_or_else(|| {
        let message = format!("`label` is `{word}`; write `right` or `wrong`");
        (Some(span), message)
    })?;
    let optional = |names| found(row, names).map(|(_, (text, _))| text.to_owned());
    let label = AnswerLabel {
        suite: suite.to_owned(),
        test: test.to_owned(),
        answer_hash,
        assertion: optional(ASSERTION),
        item: optional(ITEM),
        label: Some(label),
        note: optional(NOTE).unwrap_or_default(),
        who: optional(WHO).unwrap_or_else(|| UNKNOWN_AUTHOR.to_owned()),
        when: optional(WHEN).unwrap_or_default(),
    };
    match label.fault_but_time() {
        Some(fault) => Err(column_fault(row, fault)),
        None => Ok(label),
    }
}

/// Under the name that the column has in this table.
fn column_fault(row: Node<'_>, fault: LabelFault) -> RowFault {
    let names = match fault {
        LabelFault::Suite => SUITE,
        LabelFault::Test => TEST,
        LabelFault::AnswerHash => ANSWER,
        LabelFault::Note => NOTE,
        LabelFault::Who => WHO,
        LabelFault::Assertion => ASSERTION,
        LabelFault::Item => ITEM,
        LabelFault::When => WHEN,
    };
    match found(row, names) {
        Some((at, (_, span))) => (Some(span), fault.message(names[at])),
        None => (None, fault.message(names[0])),
    }
}

/// The first of these columns with a text: its place among the names, the text, and where it is.
fn found<'t>(row: Node<'t>, names: &[&str]) -> Option<(usize, (&'t str, Span))> {
    names.iter().enumerate().find_map(|(at, name)| {
        let cell = row.get(name)?;
        let text = cell.scalar_text().filter(|text| !text.trim().is_empty())?;
        Some((at, (text, cell.span())))
    })
}

fn needed<'t>(row: Node<'t>, names: &[&str]) -> Result<&'t str, RowFault> {
    found(row, names).map(|(_, (text, _))| text.trim()).ok_or_else(|| missing(names))
}

fn missing(names: &[&str]) -> RowFault {
    let names: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
    (None, format!("the row has no {}", names.join(" or ")))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Vec<AnswerLabel>, (u64, String)> {
        parse_table(text.to_owned())
    }

    #[test]
    fn answers_and_hashes_name_the_same_answer() {
        let text = "suite,test,answer,label,assertion,by\ns,a,hello,pass,kind,ann\ns,b,\"two\nlines\",wrong,,\n";
        let labels = read(text).unwrap();
        assert_eq!(labels[0].answer_hash, "2cf24dba5fb0a30e");
        assert_eq!((labels[0].assertion.as_deref(), labels[0].who.as_str()), (Some("kind"), "ann"));
        assert_eq!(labels[1].label, Some(AnswerMark::Wrong));
        assert_eq!((labels[1].assertion.as_ref(), labels[1].who.as_str()), (None, "unknown"));
        let hashed = read("dataset;evalId;answerHash;label\ns;a;2CF24DBA5FB0A30E;right\n").unwrap();
        assert_eq!(hashed[0].answer_hash, labels[0].answer_hash);
    }

    #[test]
    fn a_fault_has_its_line() {
        let head = "suite,test,answer,label\n";
        for (rows, line, message) in [
            ("s,a,x,right\ns,b,y,maybe\n", 3, "`label` is `maybe`; write `right` or `wrong`"),
            (
                "s,\"a\nb\",x,right\ns,,y,right\n",
                4,
                "the row has no `test` or `evalId` or `test_id`",
            ),
            ("s,a,x,right,more\n", 2, "this row has 5 cells, but the header has 4"),
            ("s,a,\"x,right\n", 2, "this quote is never closed"),
            ("s,a,x,\n", 2, "the row has no `label` or `verdict`"),
        ] {
            assert_eq!(read(&format!("{head}{rows}")), Err((line, message.to_owned())), "{rows}");
        }
        let (line, message) = read("suite,test,answerHash,label\ns,a,12,right\n").unwrap_err();
        assert_eq!((line, message.as_str()), (2, "`answerHash` is not 16 hexadecimal digits"));
        assert!(read("").is_err());
        assert_eq!(read(head), Ok(Vec::new()));
    }

    #[test]
    fn a_value_that_is_too_long_is_named_by_its_column() {
        let long = "x".repeat(5000);
        for (head, row, column) in [
            ("suite,test,answer,label", format!("{long},a,x,right"), "suite"),
            ("dataset,test,answer,label", format!("{long},a,x,right"), "dataset"),
            ("suite,test_id,answer,label", format!("s,{long},x,right"), "test_id"),
            ("suite,test,answer,label,who", format!("s,a,x,right,{long}"), "who"),
        ] {
            let (line, message) = read(&format!("{head}\n{row}\n")).unwrap_err();
            assert_eq!((line, message), (2, format!("`{column}` is empty or too long")));
        }
        let (_, message) =
            read(&format!("suite,test,answer,label,item\ns,a,x,right,{long}\n")).unwrap_err();
        assert_eq!(message, "`item` is too long");
    }
}
