//! `generate [small-]yaml|[small-]jsonl COUNT FILE` writes a suite to measure with.

use std::fs::File;
use std::io::{BufWriter, Error, Result, Write};

use evalrig_bench::text;

fn main() -> Result<()> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [format, count, file] = args.as_slice() else {
        return Err(Error::other("usage: generate [small-]yaml|[small-]jsonl COUNT FILE"));
    };
    let count = count.parse().map_err(Error::other)?;
    let mut out = BufWriter::new(File::create(file)?);
    match format.as_str() {
        "yaml" => text::yaml(count, &mut out)?,
        "jsonl" => text::jsonl(count, &mut out)?,
        "small-yaml" => text::small_yaml(count, &mut out)?,
        "small-jsonl" => text::small_jsonl(count, &mut out)?,
        other => return Err(Error::other(format!("`{other}` is not a format"))),
    }
    out.flush()
}
