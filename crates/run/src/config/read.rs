//! TOML → values of options. Every key and type is checked here; what an option accepts is checked
//! by the caller, who has the options.

use std::ops::Range;

use evalrig_core::diagnostic::{Diagnostic, Diagnostics};
use evalrig_core::source::{SourceId, Span};
use evalrig_core::syntax::fields::shorten;
use toml_edit::{Document, Item, TableLike, Value};

use super::codes::{INVALID_CONFIG, INVALID_SETTING, UNKNOWN_SETTING};
use super::{ConfigFile, ConfigKey, ConfigProfile, ConfigType, ConfigValue, RefusedBecause};

/// The key of the table of profiles.
const PROFILES: &str = "profile";

pub fn read_config(
    source: SourceId,
    text: &str,
    keys: &[ConfigKey],
    out: &mut Diagnostics,
) -> ConfigFile {
    let mut reader = ConfigReader { source, text, keys, out };
    match Document::parse(text) {
        Ok(document) => reader.file(document.as_table()),
        Err(error) => {
            let place = reader.place(error.span());
            let message = error.message().lines().next().unwrap_or("invalid TOML").to_owned();
            reader.out.report(Diagnostic::new(&INVALID_CONFIG, place, message));
            ConfigFile::default()
        }
    }
}

struct ConfigReader<'a> {
    source: SourceId,
    text: &'a str,
    keys: &'a [ConfigKey],
    out: &'a mut Diagnostics,
}

impl ConfigReader<'_> {
    fn file(&mut self, table: &dyn TableLike) -> ConfigFile {
        let values = self.values(table);
        let Some(item) = table.get(PROFILES) else {
            return ConfigFile { values, profiles: Vec::new() };
        };
        let profiles = self.profiles(item, self.key_place(table, PROFILES));
        ConfigFile { values, profiles }
    }

    fn profiles(&mut self, item: &Item, place: Span) -> Vec<ConfigProfile> {
        let Some(table) = item.as_table_like() else {
            let message = "`profile` takes tables such as `[profile.ci]`";
            self.out.report(Diagnostic::new(&INVALID_SETTING, place, message));
            return Vec::new();
        };
        let mut profiles = Vec::new();
        for (name, item) in table.iter() {
            match item.as_table_like() {
                Some(inner) => {
                    let values = self.values(inner);
                    profiles.push(ConfigProfile { name: name.to_owned(), values });
                }
                None => {
                    let place = self.key_place(table, name);
                    let message = format!("profile `{}` takes a table", shorten(name));
                    let found = Diagnostic::new(&INVALID_SETTING, place, message);
                    self.out.report(found.help("write `[profile.NAME]` above its settings"));
                }
            }
        }
        profiles
    }

    /// The settings of one table, in the order of the file.
    fn values(&mut self, table: &dyn TableLike) -> Vec<ConfigValue> {
        let is_root = |name: &str| name == PROFILES;
        let entries = table.iter().filter(|(name, _)| !is_root(name));
        let entries: Vec<(String, Span, &Item)> = entries
            .map(|(name, item)| (name.to_owned(), self.key_place(table, name), item))
            .collect();
        entries.into_iter().filter_map(|(name, key, item)| self.value(&name, key, item)).collect()
    }

    fn value(&mut self, name: &str, key: Span, item: &Item) -> Option<ConfigValue> {
        let Some(known) = self.keys.iter().find(|known| known.name == name) else {
            self.report_unknown(name, key);
            return None;
        };
        if let ConfigType::Refused(why) = known.takes {
            let message = match why {
                RefusedBecause::Reach => {
                    format!("`{name}` cannot be set in a file of the repository")
                }
                RefusedBecause::OneRun => {
                    format!("`{name}` is a decision for one run and cannot be set in a file")
                }
            };
            let found = Diagnostic::new(&INVALID_SETTING, key, message);
            let help = format!("give `--{}` on the command line", name.replace('_', "-"));
            self.out.report(found.help(help));
            return None;
        }
        let span = self.place(item.span());
        let Some(texts) = texts_of(known, item) else {
            let message = format!("`{name}` takes {}, found {}", wanted(known), found(item));
            let place = if span.is_empty() { key } else { span };
            self.out.report(Diagnostic::new(&INVALID_SETTING, place, message));
            return None;
        };
        Some(ConfigValue { name: name.to_owned(), texts, key, span })
    }

    fn report_unknown(&mut self, name: &str, key: Span) {
        let message = format!("unknown setting `{}`", shorten(name));
        let names = self.keys.iter().map(|known| known.name.as_str()).chain([PROFILES]);
        let help = "`evalrig config` lists all settings";
        self.out.report(Diagnostic::new(&UNKNOWN_SETTING, key, message).suggest(name, names, help));
    }

    fn key_place(&self, table: &dyn TableLike, name: &str) -> Span {
        self.place(table.key(name).and_then(toml_edit::Key::span))
    }

    fn place(&self, range: Option<Range<usize>>) -> Span {
        let range = range.filter(|range| self.text.get(range.clone()).is_some()).unwrap_or(0..0);
        Span::new(self.source, range.start as u32, range.end as u32)
    }
}

fn texts_of(known: &ConfigKey, item: &Item) -> Option<Vec<String>> {
    match item.as_value()? {
        Value::Array(list) if known.is_list => {
            list.iter().map(|value| text_of(known.takes, value)).collect()
        }
        value => Some(vec![text_of(known.takes, value)?]),
    }
}

fn text_of(takes: ConfigType, value: &Value) -> Option<String> {
    match (takes, value) {
        (ConfigType::Flag, Value::Boolean(flag)) => Some(flag.value().to_string()),
        (ConfigType::Number, Value::Integer(number)) => Some(number.value().to_string()),
        (ConfigType::Number, Value::Float(number)) => Some(number.value().to_string()),
        (ConfigType::Text | ConfigType::Path(_), Value::String(text)) => Some(text.value().clone()),
        _ => None,
    }
}

fn wanted(known: &ConfigKey) -> &'static str {
    match (known.takes, known.is_list) {
        (ConfigType::Flag, _) => "`true` or `false`",
        (ConfigType::Number, false) => "a number",
        (ConfigType::Number, true) => "a list of numbers",
        (_, false) => "a string",
        (_, true) => "a list of strings",
    }
}

fn found(item: &Item) -> &'static str {
    match item {
        Item::None => "nothing",
        Item::Table(_) | Item::ArrayOfTables(_) => "a table",
        Item::Value(value) => match value {
            Value::String(_) => "a string",
            Value::Integer(_) | Value::Float(_) => "a number",
            Value::Boolean(_) => "a boolean",
            Value::Datetime(_) => "a date or time",
            Value::Array(_) => "a list",
            Value::InlineTable(_) => "a table",
        },
    }
}

#[cfg(test)]
mod tests {
    use camino::Utf8PathBuf;
    use evalrig_core::source::Sources;

    use super::*;
    use crate::config::{PathForm, testing_keys};

    fn read(text: &str) -> (ConfigFile, Vec<String>) {
        let mut sources = Sources::new();
        let id = sources.add_file(Utf8PathBuf::from("/p/evalrig.toml"), text.to_owned(), 0);
        let mut out = Diagnostics::new();
        let file = read_config(id, text, &testing_keys(), &mut out);
        let told = out.iter().map(|one| {
            let help = one.help.as_deref().map(|help| format!(" ({help})")).unwrap_or_default();
            let line = sources.position(one.span).line;
            format!("{line}: {}: {}{help}", one.code.name, one.message)
        });
        (file, told.collect())
    }

    #[test]
    fn values_and_profiles_are_read_in_every_form_of_toml() {
        let (file, told) = read(
            "trials = 3\ntag = \"smoke\"\nbudget_usd = 1_000.5\nprofile.dotted.strict = true\n\
             profile.inline = {tag = ['a', \"b\"]}\n[profile.ci]\noutput = \"x.jsonl\"\n",
        );
        assert_eq!(told, [""; 0]);
        let texts: Vec<_> =
            file.values.iter().map(|one| (one.name.as_str(), one.texts.join(","))).collect();
        assert_eq!(
            texts,
            [("trials", "3".into()), ("tag", "smoke".into()), ("budget_usd", "1000.5".into())]
        );
        let profiles: Vec<_> = file
            .profiles
            .iter()
            .map(|one| format!("{} {}", one.name, one.values[0].texts.join("+")))
            .collect();
        assert_eq!(profiles, ["dotted true", "inline a+b", "ci x.jsonl"]);
    }

    #[test]
    fn unknown_keys_and_wrong_types_are_reported_at_their_line() {
        let (file, told) = read(
            "trails = 3\nstrict = \"yes\"\ntrials = true\ntag = [1]\nroot = \"/\"\n\
             [profile.ci]\nbugdet_usd = 1.0\nprofile = 1\n[run]\ntrials = 1\n[[tag]]\n",
        );
        // The parser refuses the second `tag` before any key is looked at.
        assert_eq!(file, ConfigFile::default());
        assert_eq!(told.len(), 1);
        assert!(told[0].starts_with("11: invalid-config"), "{told:?}");
        let (_, told) = read(
            "trails = 3\nstrict = \"yes\"\ntrials = true\ntag = [1]\nroot = \"/\"\n\
             [profile.ci]\nbugdet_usd = 1.0\n[run]\ntrials = 1\n",
        );
        assert_eq!(
            told,
            [
                "1: unknown-setting: unknown setting `trails` (did you mean `trials`?)",
                "2: invalid-setting: `strict` takes `true` or `false`, found a string",
                "3: invalid-setting: `trials` takes a number, found a boolean",
                "4: invalid-setting: `tag` takes a list of strings, found a list",
                "5: invalid-setting: `root` cannot be set in a file of the repository (give `--root` on the command line)",
                "8: unknown-setting: unknown setting `run` (`evalrig config` lists all settings)",
                "7: unknown-setting: unknown setting `bugdet_usd` (did you mean `budget_usd`?)",
            ]
        );
        let (_, told) = read("force = true\n");
        assert_eq!(
            told,
            [
                "1: invalid-setting: `force` is a decision for one run and cannot be set in a file (give `--force` on the command line)"
            ]
        );
        let (_, told) = read("profile = 3\n");
        assert_eq!(told, ["1: invalid-setting: `profile` takes tables such as `[profile.ci]`"]);
        let (_, told) = read("[profile]\nci = 3\n");
        assert_eq!(
            told,
            [
                "2: invalid-setting: profile `ci` takes a table (write `[profile.NAME]` above its settings)"
            ]
        );
    }

    #[test]
    fn hostile_files_are_reported_and_never_crash() {
        let deep = format!("tag = {}{}", "[".repeat(100_000), "]".repeat(100_000));
        let dotted = format!("{}a = 1", "a.".repeat(100_000));
        let long = format!("{} = 1", "k".repeat(100_000));
        for text in
            [&deep, &dotted, &long, "\u{0}", "a = \"\u{1b}[31m\"", "\"\" = 1", "= 1", "[", "é = 1"]
        {
            let (_, told) = read(text);
            assert_eq!(told.len(), 1, "{}", shorten(text));
            assert!(told[0].len() < 300, "{}", told[0].len());
        }
    }

    #[test]
    fn every_prefix_and_every_damaged_byte_is_read() {
        let text =
            "trials = 3\ntag = [\"ä\", 'b']\n[profile.ci]\nstrict = true\nbudget_usd = 1e3\n";
        let places = (0..=text.len()).filter(|at| text.is_char_boundary(*at));
        for at in places {
            read(&text[..at]);
            for damage in ["\"", "[", "]", "=", "\n", "\u{0}", "."] {
                read(&format!("{}{damage}{}", &text[..at], &text[at..]));
            }
        }
    }

    #[test]
    fn paths_are_texts() {
        assert_eq!(ConfigType::Path(PathForm::Plain), testing_keys()[4].takes);
        let (_, told) = read("output = 3");
        assert_eq!(told, ["1: invalid-setting: `output` takes a string, found a number"]);
    }
}
