//! `raw_tree raw|core FILE` builds the spanned tree of a YAML file and does nothing with it: with
//! the least that the raw parser needs, or with evalrig's own reader.

use std::io::{Error, Result};
use std::sync::Arc;

use evalrig_bench::raw;
use evalrig_core::diagnostic::Diagnostics;
use evalrig_core::source::Sources;
use evalrig_core::syntax::parse_yaml;

fn main() -> Result<()> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [builder, file] = args.as_slice() else {
        return Err(Error::other("usage: raw_tree raw|core FILE"));
    };
    let text = String::from_utf8(std::fs::read(file)?).map_err(Error::other)?;
    let nodes = match builder.as_str() {
        "raw" => raw::build(&text).map_err(Error::other)?.nodes.len(),
        "core" => core_tree(file, text)?,
        other => return Err(Error::other(format!("`{other}` is not a builder"))),
    };
    match nodes {
        0 => Err(Error::other("the file is empty")),
        _ => Ok(()),
    }
}

fn core_tree(file: &str, text: String) -> Result<usize> {
    let (mut sources, mut out) = (Sources::new(), Diagnostics::new());
    let source = sources.add_file(file.into(), String::new(), 0);
    match parse_yaml(source, Arc::new(text), &mut out) {
        Some(tree) if out.is_empty() => Ok(tree.node_count()),
        _ => Err(Error::other("the file has faults")),
    }
}
