//! Checks the architecture of the crate against its sources: the arrows between rooms, names, and
//! sizes. `house` reads the sources and has the rules.

use std::collections::BTreeSet;
use std::path::Path;

use house::rules::CrateRules;
use house::{Sources, rules};

/// Rooms that may use only these rooms.
const PROMISES: &[(&str, &[&str])] =
    &[("text", &[]), ("transport", &[]), ("outline", &[]), ("project", &["outline", "text"])];

fn sources() -> Sources {
    let src = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    Sources::read(&src).expect("the sources")
}

#[test]
fn the_rules_of_every_crate_are_kept() {
    let own = CrateRules { promises: PROMISES, ..CrateRules::default() };
    rules::assert_none(&rules::check_crate(&sources(), &own));
}

#[test]
fn no_file_is_changed() {
    rules::assert_none(&rules::file_changes_outside(&sources(), None));
}

/// What is named in a file that is only opened must not run: neither by this crate nor by what it calls. Of
/// `evalrig_run` it may use only what reads files or has the words for them.
#[test]
fn no_program_is_started() {
    const USED: &[&str] = &[
        "disk::Disk",
        "disk::ProcessEnvironment",
        "provider::PROVIDERS",
        "provider::Provider",
        "provider::provider_named",
        "results::EvaluatorResult",
        "results::GradeOutcome",
        "results::ResultsPaths",
        "results::Rows",
        "session::LoadOptions",
        "session::known_secrets",
        "setting::TARGET_FIELDS",
        "target::ROOT",
        "target::find_targets_file",
        "target::is_agentv",
        "target::reach_of_found",
        "target::read_targets",
        "text::paragraph",
        "text::single_line",
        "topic::Topic",
        "topic::choices",
        "topic::every_code",
        "topic::field_text",
    ];
    let mut found = BTreeSet::new();
    for file in sources().shipped() {
        let code = file.code();
        assert!(!code.contains("process::Command"), "{}", file.path);
        for used in code.split("evalrig_run::").skip(1) {
            found.extend(named_items(used).into_iter().map(|item| (item, file.path.clone())));
        }
    }
    let unlisted = found.iter().filter(|(item, _)| !USED.contains(&item.as_str()));
    let unlisted: Vec<_> = unlisted.map(|(item, path)| format!("{path} uses `{item}`")).collect();
    rules::assert_none(&unlisted);
    let unused = USED.iter().filter(|used| !found.iter().any(|(item, _)| item == *used));
    assert_eq!(unused.collect::<Vec<_>>(), [&""; 0], "remove them from the list");
}

/// What a path names: `a::B`, or `a::B` and `a::C` of `a::{B, C}`.
fn named_items(path: &str) -> Vec<String> {
    let is_part = |c: char| c.is_alphanumeric() || matches!(c, '_' | ':');
    let (module, rest) = path.split_at(path.find(|c| !is_part(c)).unwrap_or(path.len()));
    let Some(list) = module.ends_with("::").then(|| rest.strip_prefix('{')).flatten() else {
        // Of a function or type of an item, the item counts.
        return vec![module.split("::").take(2).collect::<Vec<_>>().join("::")];
    };
    let list = list.split('}').next().unwrap_or_default();
    let names = list.split(',').map(str::trim).filter(|name| !name.is_empty());
    names.map(|name| format!("{module}{name}")).collect()
}
