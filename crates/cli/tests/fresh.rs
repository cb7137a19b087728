//! Generated files are committed, and no change may leave them behind.

use xtask::generate::{self, Evalrig};

#[test]
fn generated_files_are_fresh() {
    let evalrig = Evalrig::Built(env!("CARGO_BIN_EXE_evalrig").into());
    let files = generate::all(&evalrig).expect("everything can be generated");
    let stale = generate::stale(xtask::workspace(), &files);
    assert!(stale.is_empty(), "{}", generate::complaint(&stale));
}

/// The addresses and file names that are offered to the JSON Schema Store.
#[test]
fn the_entries_for_the_schema_store_are_right() {
    let root = xtask::workspace();
    let page = std::fs::read_to_string(root.join("schema/README.md")).expect("a page");
    let address = "https://raw.githubusercontent.com/evalrig/evalrig/main/";
    for link in page.split(address).skip(1) {
        let path = link.split(['>', '"']).next().expect("a path");
        assert!(root.join(path).is_file(), "{path}");
    }
    let block = page.split("```json\n").nth(1).and_then(|rest| rest.split("```").next());
    let entries: serde_json::Value = serde_json::from_str(block.expect("a block")).expect("JSON");
    let entries = entries.as_array().expect("a list");
    assert_eq!(entries.len(), 3);
    for entry in entries {
        for key in ["name", "description", "url"] {
            assert!(entry[key].is_string(), "{entry}");
        }
    }
    let rules = std::fs::read_to_string(root.join("docs/spec/02-files.md")).expect("a page");
    for pattern in entries[0]["fileMatch"].as_array().expect("a list") {
        let pattern = pattern.as_str().expect("a pattern");
        assert!(rules.contains(&format!("`{pattern}`")), "{pattern}");
    }
}
