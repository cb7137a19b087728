//! The doc of every code of this crate: its example reports exactly that code, its "instead" nothing.

use camino::Utf8PathBuf;
use evalrig_core::diagnostic::{Diagnostics, Doc, DocFile};
use evalrig_core::reader::World;
use evalrig_core::source::{MemoryFiles, Reach, Sources, Variables};
use evalrig_run::config::{CONFIG_FILE, ConfigKey, ConfigType, read_config};
use evalrig_run::target::read_targets;

/// Codes that only show when a suite is run, or made from records; the tests of the commands have
/// one for each.
const ONLY_RUN: &[&str] = &[
    "arm-without-effect",
    "conversation-workspace",
    "import-needs-criteria",
    "judge-target-missing",
    "new-session-per-turn",
    "no-target",
    "no-targets-file",
    "not-reported",
    "user-home",
];

/// Reads the first file of a part as a targets file, or as `evalrig.toml` if that is its name; the
/// names of what is reported.
fn names(files: &[DocFile]) -> Vec<&'static str> {
    if files[0].path == CONFIG_FILE {
        return names_in_config(&files[0].text);
    }
    let root = Utf8PathBuf::from("/p");
    let mut memory = MemoryFiles::new();
    for file in files {
        memory.insert(root.join(&file.path), file.text.clone().into_bytes());
    }
    let environment = Variables::default();
    let world = World { files: &memory, environment: &environment, working_directory: &root };
    let (mut sources, mut out) = (Sources::new(), Diagnostics::new());
    let path = root.join(&files[0].path);
    read_targets(world, &mut sources, &mut out, &path, &root, Reach::Anywhere);
    out.iter().map(|found| found.code.name).collect()
}

fn names_in_config(text: &str) -> Vec<&'static str> {
    let key =
        |name: &str, takes| ConfigKey { name: name.to_owned(), takes, is_list: name == "tag" };
    let keys = [
        key("trials", ConfigType::Number),
        key("budget_usd", ConfigType::Number),
        key("tag", ConfigType::Text),
    ];
    let (mut sources, mut out) = (Sources::new(), Diagnostics::new());
    let source = sources.add_file(CONFIG_FILE.into(), text.to_owned(), 0);
    read_config(source, text, &keys, &mut out);
    out.iter().map(|found| found.code.name).collect()
}

#[test]
fn every_example_reports_its_code_and_every_instead_is_clean() {
    for code in evalrig_run::codes() {
        let doc = Doc::parse(code.doc).unwrap_or_else(|| panic!("`{}` lacks a part", code.name));
        assert!(!doc.what.is_empty() && !doc.why.is_empty(), "{}", code.name);
        if ONLY_RUN.contains(&code.name) {
            continue;
        }
        for file in doc.example.iter().chain(&doc.instead) {
            let known = [".evalrig/targets.yaml", CONFIG_FILE];
            assert!(known.contains(&file.path.as_str()), "{}", code.name);
        }
        assert_eq!(names(&doc.example), [code.name]);
        assert_eq!(names(&doc.instead), Vec::<&str>::new(), "{}", code.name);
    }
}

#[test]
fn names_are_unique_in_both_crates() {
    let mut seen = std::collections::BTreeSet::new();
    for code in evalrig_run::codes().chain(evalrig_core::codes::all_codes()) {
        assert!(seen.insert(code.name), "`{}` is declared twice", code.name);
    }
}
