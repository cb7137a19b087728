//! One file per provider: its name, options, settings and doc stand together. This file holds the
//! list, and nothing else knows all providers.

mod alias;
pub mod anthropic;
pub mod azure;
mod base;
pub mod claude_cli;
pub mod cli;
pub mod codex_cli;
mod entry;
mod every_target;
mod file;
pub mod mock;
pub mod openai;
mod options;
mod provider;
pub mod replay;
mod schema;
mod secret;
mod setting;
#[cfg(test)]
mod testing;
mod unsupported;

pub use base::{Base, find_targets_file};
pub use entry::Target;
pub use every_target::{COMMON as TARGET_FIELDS, Common, FilesMode, PRICE, Price};
pub use file::{NotFound, ROOT, Targets, read_targets};
pub use options::{Faulty, Options, Read};
pub use provider::{Provider, Settings};
pub use schema::schema;
pub use secret::Secret;
pub use setting::Setting;

/// Every provider, in the order of spec 9.3.
pub static PROVIDERS: &[&Provider] = &[
    &mock::PROVIDER,
    &cli::PROVIDER,
    &openai::PROVIDER,
    &azure::PROVIDER,
    &anthropic::PROVIDER,
    &claude_cli::PROVIDER,
    &codex_cli::PROVIDER,
    &replay::PROVIDER,
];

/// The codes of this room, file by file.
pub const CODES: &[&[&evalrig_core::diagnostic::Code]] = &[
    alias::CODES,
    entry::CODES,
    file::CODES,
    secret::CODES,
    unsupported::CODES,
];

pub fn provider_named(name: &str) -> Option<&'static Provider> {
    PROVIDERS
        .iter()
        .copied()
        .find(|provider| provider.name == name)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::fs;
    use std::path::Path;

    use super::testing;
    use super::*;

    #[test]
    fn every_file_is_a_module_and_every_provider_is_in_the_list() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/target");
        let list = fs::read_to_string(folder.join("mod.rs")).unwrap();
        let mut providers = 0;
        for file in fs::read_dir(&folder).unwrap() {
            let path = file.unwrap().path();
            let name = path.file_stem().unwrap().to_str().unwrap();
            if name == "mod" {
                continue;
            }
            assert!(
                list.contains(&format!("mod {name};")),
                "`{name}` is no module"
            );
            let text = fs::read_to_string(&path).unwrap();
            if text.contains("pub static PROVIDER: Provider") {
                let entry = format!("&{name}::PROVIDER,");
                assert!(list.contains(&entry), "`{name}` is not in PROVIDERS");
                providers += 1;
            }
        }
        assert_eq!(providers, PROVIDERS.len());
    }

    #[test]
    fn names_are_unique_and_no_option_hides_a_common_one() {
        let names: BTreeSet<_> = PROVIDERS.iter().map(|provider| provider.name).collect();
        assert_eq!(names.len(), PROVIDERS.len());
        for provider in PROVIDERS {
            for field in provider.fields {
                let hides = TARGET_FIELDS.iter().any(|common| common.name == field.name);
                assert!(!hides, "`{}` of `{}`", field.name, provider.name);
            }
        }
    }

    #[test]
    fn every_example_of_a_provider_is_clean() {
        for provider in PROVIDERS {
            let examples = testing::fences(provider.doc);
            assert!(!examples.is_empty(), "`{}` has no example", provider.name);
            for example in examples {
                let read = testing::read(&example);
                assert_eq!(
                    read.names(),
                    Vec::<&str>::new(),
                    "{}: {example}",
                    provider.name
                );
                let used = read.targets.is_some_and(|targets| {
                    let mut names = targets.names();
                    names.any(|name| targets.get(name).unwrap().provider.name == provider.name)
                });
                assert!(used, "an example of `{}` does not use it", provider.name);
            }
        }
    }
}
