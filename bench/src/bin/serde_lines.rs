//! `serde_lines FILE` parses every line of a JSONL file into a typed value with `serde_json` and
//! does nothing with it: how fast the lines can be read at all.

use std::fs::File;
use std::hint::black_box;
use std::io::{BufRead, BufReader, Error, Result};

use serde::Deserialize;

#[derive(Debug, Deserialize)]
#[expect(dead_code, reason = "the fields are only filled")]
struct Test {
    id: String,
    criteria: String,
    input: Vec<Message>,
    expected_output: String,
    assert: Vec<Assertion>,
    metadata: Metadata,
}

#[derive(Debug, Deserialize)]
#[expect(dead_code, reason = "the fields are only filled")]
struct Message {
    role: String,
    content: String,
}

#[derive(Debug, Deserialize)]
#[expect(dead_code, reason = "the fields are only filled")]
struct Assertion {
    r#type: String,
    value: String,
    weight: f64,
}

#[derive(Debug, Deserialize)]
#[expect(dead_code, reason = "the fields are only filled")]
struct Metadata {
    tags: Vec<String>,
}

fn main() -> Result<()> {
    let Some(file) = std::env::args().nth(1) else {
        return Err(Error::other("usage: serde_lines FILE"));
    };
    let mut input = BufReader::new(File::open(file)?);
    let mut line = String::new();
    while input.read_line(&mut line)? > 0 {
        let test: Test = serde_json::from_str(&line)?;
        black_box(&test);
        line.clear();
    }
    Ok(())
}
