//! Files that say how suites run and what a skill is: `evalrig.toml`, and the front matter of `SKILL.md`.

use camino::Utf8Path;
use evalrig_core::diagnostic::Diagnostics;
use evalrig_core::read::skill_in;
use evalrig_core::source::{MemoryFiles, Reach, Sources};
use evalrig_core::syntax::decode;
use evalrig_run::config::{ConfigKey, ConfigType, PathForm, RefusedBecause, read_config};

/// One option of every type.
fn keys() -> Vec<ConfigKey> {
    let key = |name: &str, takes, is_list| ConfigKey { name: name.to_owned(), takes, is_list };
    vec![
        key("trials", ConfigType::Number, false),
        key("tag", ConfigType::Text, true),
        key("target", ConfigType::Text, false),
        key("strict", ConfigType::Flag, false),
        key("output", ConfigType::Path(PathForm::Plain), false),
        key("root", ConfigType::Refused(RefusedBecause::Reach), false),
        key("force", ConfigType::Refused(RefusedBecause::OneRun), false),
    ]
}

pub(super) fn config(bytes: &[u8]) {
    let Ok((text, offset)) = decode(bytes.to_vec()) else { return };
    let (mut sources, mut out) = (Sources::new(), Diagnostics::new());
    let source = sources.add_file("/p/evalrig.toml".into(), text.clone(), offset);
    let keys = keys();
    let found = read_config(source, &text, &keys, &mut out);
    let profiles = found.profiles.iter().flat_map(|profile| &profile.values);
    for value in found.values.iter().chain(profiles) {
        let key = keys.iter().find(|key| key.name == value.name).expect("a known key");
        assert!(!matches!(key.takes, ConfigType::Refused(_)), "{} was taken", value.name);
        assert!(key.is_list || value.texts.len() == 1, "{:?}", value.texts);
    }
}

/// The file of a skill, whose name becomes the name of a directory.
pub(super) fn skill(bytes: &[u8]) {
    let files = MemoryFiles::new().with("/p/skills/csv/SKILL.md", bytes);
    let directory = Utf8Path::new("/p/skills/csv");
    let found = skill_in(&files, directory, Reach::Inside("/p".into()));
    assert_eq!(found.map(|skill| skill.directory).as_deref(), Some(directory));
}
