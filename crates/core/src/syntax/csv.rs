//! CSV → the same tree as JSON: a list of mappings, one per row, whose keys are the cells of the first
//! row. Every cell is a text with its place.
//!
//! Our own small parser and not a crate's, which would know the line of a record but not of a cell.

use std::collections::HashMap;
use std::sync::Arc;

use crate::diagnostic::{Diagnostic, Diagnostics, declare_codes};
use crate::source::{SourceId, Span};

use super::tree::{NodeData, NodeId, NodeShape, ScalarStyle, TextIn, Tree};
use super::{codes, encoding};

declare_codes! {
    CSV_SYNTAX = "csv-syntax", Blocking, Syntax, r#"A CSV file that is converted has a row that does not fit its header, or a quote that is never closed.

## Example
```text
question,answer
What is 2+2?,4,easy
```

## Instead
```text
question,answer,level
What is 2+2?,4,easy
```

## Why
A cell without a column would be lost, and an open quote swallows the rest of the file.
"#;
}

/// Characters between cells; the most frequent one in the header counts.
const DELIMITERS: [u8; 4] = [b',', b';', b'\t', b'|'];

/// The rows of a CSV file. A column without a name, such as the index that pandas writes, is left out.
/// `None` when there is no tree; every fault has been reported.
pub fn parse_csv(source: SourceId, text: Arc<String>, out: &mut Diagnostics) -> Option<Tree> {
    if let Some((at, character)) = encoding::find_control(&text) {
        out.report(codes::control_character(source, at, character));
        return None;
    }
    if text.trim().is_empty() {
        out.report(codes::empty_file(source));
        return None;
    }
    let mut parser = Csv {
        bytes: text.as_bytes(),
        at: 0,
        delimiter: delimiter(&text),
        tree: Tree::new(source, text.clone()),
    };
    match parser.document() {
        Ok(()) => Some(parser.tree),
        Err(diagnostic) => {
            out.report(*diagnostic);
            None
        }
    }
}

/// Counted outside of quotes in the first line that is not blank.
fn delimiter(text: &str) -> u8 {
    let mut counts = [0_usize; DELIMITERS.len()];
    let mut is_quoted = false;
    for byte in text.trim_start().bytes() {
        match byte {
            b'"' => is_quoted = !is_quoted,
            b'\n' if !is_quoted => break,
            _ if is_quoted => {}
            _ => {
                if let Some(which) = DELIMITERS.iter().position(|one| *one == byte) {
                    counts[which] += 1;
                }
            }
        }
    }
    let most = counts.iter().copied().max().unwrap_or(0);
    let first = counts.iter().position(|count| *count == most).unwrap_or(0);
    DELIMITERS[first]
}

struct Csv<'a> {
    bytes: &'a [u8],
    at: usize,
    delimiter: u8,
    tree: Tree,
}

/// A row as nodes, and whether it has any text.
struct CsvRow {
    cells: Vec<NodeId>,
    start: u32,
    end: u32,
    is_blank: bool,
}

impl Csv<'_> {
    fn document(&mut self) -> Result<(), Box<Diagnostic>> {
        let root = self.add(NodeData::new(NodeShape::Sequence { flow: true }, 0, 0));
        let header = loop {
            let row = self.row()?;
            if !row.is_blank {
                break row;
            }
        };
        self.check_header(&header)?;
        let mut rows = Vec::new();
        while self.at < self.bytes.len() {
            let row = self.row()?;
            if !row.is_blank {
                rows.push(self.mapping(&header, &row)?);
            }
        }
        self.close(root, &rows);
        let end = self.bytes.len() as u32;
        self.tree.nodes[root as usize].end = end;
        self.tree.root = root;
        Ok(())
    }

    /// The rest of the line, which quotes may extend over several lines.
    fn row(&mut self) -> Result<CsvRow, Box<Diagnostic>> {
        let start = self.at as u32;
        let mut cells = Vec::new();
        let mut is_blank = true;
        loop {
            let cell = self.cell()?;
            is_blank &= self.tree.scalar_text(cell).trim().is_empty();
            cells.push(cell);
            match self.bytes.get(self.at) {
                Some(byte) if *byte == self.delimiter => self.at += 1,
                _ => break,
            }
        }
        let end = self.at as u32;
        if self.bytes.get(self.at) == Some(&b'\r') {
            self.at += 1;
        }
        if self.bytes.get(self.at) == Some(&b'\n') {
            self.at += 1;
        }
        Ok(CsvRow { cells, start, end, is_blank })
    }

    fn cell(&mut self) -> Result<NodeId, Box<Diagnostic>> {
        if self.bytes.get(self.at) == Some(&b'"') {
            return self.quoted();
        }
        let start = self.at;
        self.skip_plain();
        Ok(self.scalar(start, start, self.at - start, TextIn::Source))
    }

    /// To the next delimiter or the end of the line.
    fn skip_plain(&mut self) {
        while let Some(byte) = self.bytes.get(self.at) {
            let ends_line =
                *byte == b'\n' || (*byte == b'\r' && self.bytes.get(self.at + 1) == Some(&b'\n'));
            if *byte == self.delimiter || ends_line {
                return;
            }
            self.at += 1;
        }
    }

    fn quoted(&mut self) -> Result<NodeId, Box<Diagnostic>> {
        let start = self.at;
        let mut has_doubled = false;
        self.at += 1;
        loop {
            match self.bytes.get(self.at) {
                None => {
                    let message = "this quote is never closed";
                    return Err(self.fault(start as u32, start as u32 + 1, message));
                }
                Some(b'"') if self.bytes.get(self.at + 1) == Some(&b'"') => {
                    has_doubled = true;
                    self.at += 2;
                }
                Some(b'"') => break,
                Some(_) => self.at += 1,
            }
        }
        let (first, last) = (start + 1, self.at);
        self.at += 1;
        let behind = self.at;
        self.skip_plain();
        let rest = &self.tree.text[behind..self.at];
        if !rest.trim().is_empty() {
            let message = "expected a delimiter or the end of the line after the closing quote";
            return Err(self.fault(behind as u32, self.at as u32, message));
        }
        if !has_doubled {
            return Ok(self.scalar(start, first, last - first, TextIn::Source));
        }
        let text = self.tree.text[first..last].replace("\"\"", "\"");
        let pooled = self.tree.pool.len();
        self.tree.pool.push_str(&text);
        Ok(self.scalar(start, pooled, text.len(), TextIn::Pool))
    }

    fn scalar(&mut self, start: usize, first: usize, count: usize, text_in: TextIn) -> NodeId {
        let shape = NodeShape::Scalar(ScalarStyle::Quoted);
        self.add(NodeData {
            text_in,
            first: first as u32,
            count: count as u32,
            ..NodeData::new(shape, start as u32, self.at as u32)
        })
    }

    fn check_header(&self, header: &CsvRow) -> Result<(), Box<Diagnostic>> {
        let mut known: HashMap<&str, NodeId> = HashMap::new();
        for cell in &header.cells {
            let name = self.tree.scalar_text(*cell).trim();
            if let Some(first) = known.insert(name, *cell).filter(|_| !name.is_empty()) {
                let message = format!("the column `{name}` occurs twice");
                let span = self.tree.span_of(*cell);
                return Err(Box::new(
                    Diagnostic::new(&CSV_SYNTAX, span, message)
                        .related(self.tree.span_of(first), "first here"),
                ));
            }
        }
        Ok(())
    }

    /// A short row lacks its last keys.
    fn mapping(&mut self, header: &CsvRow, row: &CsvRow) -> Result<NodeId, Box<Diagnostic>> {
        if let Some(cell) = row.cells.get(header.cells.len()) {
            let span = self.tree.span_of(*cell);
            let message = format!(
                "this row has {} cells, but the header has {}",
                row.cells.len(),
                header.cells.len()
            );
            return Err(Box::new(
                Diagnostic::new(&CSV_SYNTAX, span, message)
                    .help("put quotes around a cell that contains the delimiter"),
            ));
        }
        let shape = NodeShape::Mapping { flow: true };
        let node = self.add(NodeData::new(shape, row.start, row.end));
        let named = header.cells.iter().zip(&row.cells);
        let named = named.filter(|(key, _)| !self.tree.scalar_text(**key).trim().is_empty());
        let entries: Vec<NodeId> = named.flat_map(|(key, value)| [*key, *value]).collect();
        self.close(node, &entries);
        Ok(node)
    }

    fn close(&mut self, node: NodeId, children: &[NodeId]) {
        let first = self.tree.children.len() as u32;
        self.tree.children.extend_from_slice(children);
        let data = &mut self.tree.nodes[node as usize];
        data.first = first;
        data.count = children.len() as u32;
    }

    fn add(&mut self, data: NodeData) -> NodeId {
        self.tree.nodes.push(data);
        self.tree.nodes.len() as NodeId - 1
    }

    fn fault(&self, start: u32, end: u32, message: &str) -> Box<Diagnostic> {
        Box::new(Diagnostic::new(&CSV_SYNTAX, Span::new(self.tree.source, start, end), message))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::JsonStyle;
    use crate::syntax::json_value::plain_value;

    fn read(text: &str) -> Result<String, (String, String)> {
        let mut out = Diagnostics::new();
        let tree = parse_csv(SourceId(0), Arc::new(text.to_owned()), &mut out);
        match tree {
            Some(tree) => Ok(plain_value(tree.root()).to_json(JsonStyle::Compact)),
            None => {
                let fault = out.into_vec().remove(0);
                let place = text[fault.span.start as usize..fault.span.end as usize].to_owned();
                Err((place, fault.message))
            }
        }
    }

    #[test]
    fn rows_are_mappings_of_texts() {
        let text = "\u{20}\nq,a\r\nWhat?,4\r\n\r\n\"a, \"\"b\"\"\nc\",\n";
        let rows = r#"[{"q":"What?","a":"4"},{"q":"a, \"b\"\nc","a":""}]"#;
        assert_eq!(read(text), Ok(rows.to_owned()));
        assert_eq!(read("q;a\n1,5;x"), Ok(r#"[{"q":"1,5","a":"x"}]"#.to_owned()));
        assert_eq!(read("q\ta\nb\tc"), Ok(r#"[{"q":"b","a":"c"}]"#.to_owned()));
        assert_eq!(read("only\n"), Ok("[]".to_owned()));
    }

    #[test]
    fn a_column_without_a_name_is_left_out_and_a_short_row_lacks_keys() {
        assert_eq!(read(",q,a\n0,x\n1,y,z\n"), Ok(r#"[{"q":"x"},{"q":"y","a":"z"}]"#.to_owned()));
    }

    #[test]
    fn faults_have_a_place() {
        let fault = |place: &str, message: &str| Err((place.to_owned(), message.to_owned()));
        assert_eq!(read("q,a\n1,2,3\n"), fault("3", "this row has 3 cells, but the header has 2"));
        assert_eq!(read("q,a\n\"x,y\n"), fault("\"", "this quote is never closed"));
        assert_eq!(read("q,q\n"), fault("q", "the column `q` occurs twice"));
        let message = "expected a delimiter or the end of the line after the closing quote";
        assert_eq!(read("q\n\"a\"b\n"), fault("b", message));
        assert!(read("").is_err());
    }

    #[test]
    fn every_cell_knows_its_place() {
        let text = "q,a\nx,\"y \"\"z\"\"\"\n";
        let mut out = Diagnostics::new();
        let tree = parse_csv(SourceId(0), Arc::new(text.to_owned()), &mut out).unwrap();
        let row = tree.root().items().next().unwrap();
        let (key, value) = row.written_entries().nth(1).unwrap();
        assert_eq!((key.source_text(), value.source_text()), ("a", "\"y \"\"z\"\"\""));
        assert_eq!(value.scalar_text(), Some("y \"z\""));
        assert_eq!(row.source_text(), "x,\"y \"\"z\"\"\"");
    }
}
