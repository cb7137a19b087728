//! What is released together: the packages that are published, and versions outside of Cargo.

use std::fs;

fn read(path: &str) -> String {
    let path = xtask::workspace().join(path);
    fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// The value of `key = "…"` at the beginning of a line.
fn text_of(manifest: &str, key: &str) -> String {
    let start = format!("{key} = \"");
    let found = manifest.lines().find_map(|line| line.strip_prefix(&start)?.strip_suffix('"'));
    found.unwrap_or_else(|| panic!("no `{key}`:\n{manifest}")).to_owned()
}

fn members() -> Vec<String> {
    let manifest = read("Cargo.toml");
    let list =
        manifest.lines().find_map(|line| line.strip_prefix("members = [")?.strip_suffix(']'));
    let list = list.expect("the members").split(',');
    list.map(|member| member.trim().trim_matches('"').to_owned()).collect()
}

/// `.ci/run` compares both lists when it cannot fetch the advisories.
#[test]
fn the_copied_advisories_cover_every_locked_crate() {
    let copied = read(".ci/advisories/crates.txt");
    let copied: Vec<&str> = copied.lines().collect();
    let lock = read("Cargo.lock");
    let locked = lock.lines().filter_map(|line| line.strip_prefix("name = \"")?.strip_suffix('"'));
    let missing: Vec<&str> = locked.filter(|name| !copied.contains(name)).collect();
    assert!(missing.is_empty(), "run scripts/update-advisories for {missing:?}");
}

#[test]
fn the_release_publishes_every_package_that_may_be_published() {
    let workflow = read(".github/workflows/release.yml");
    let command =
        workflow.lines().find(|line| line.contains("cargo publish")).expect("the command");
    let words: Vec<&str> = command.split_whitespace().collect();
    let mut published: Vec<&str> =
        words.windows(2).filter(|two| two[0] == "--package").map(|two| two[1]).collect();
    published.sort_unstable();
    let manifests = members().into_iter().map(|member| read(&format!("{member}/Cargo.toml")));
    let publishable = manifests.filter(|manifest| !manifest.contains("\npublish = false\n"));
    let mut expected: Vec<String> =
        publishable.map(|manifest| text_of(&manifest, "name")).collect();
    expected.sort_unstable();
    assert_eq!(published, expected);
}

#[test]
fn the_extension_of_vs_code_has_the_version_of_the_workspace() {
    let manifest: serde_json::Value =
        serde_json::from_str(&read("editors/vscode/package.json")).expect("JSON");
    assert_eq!(manifest["version"], text_of(&read("Cargo.toml"), "version").as_str());
}
