//! A mapping of a targets file, as the code that reads it sees it: one question per type, `${{ }}`
//! kept. Every fault is reported where it is found and leaves only the mark [`Faulty`].

use evalrig_core::diagnostic::{Diagnostic, Level};
use evalrig_core::model::{Map, Number};
use evalrig_core::reader::{Reader, Template, wrong_type};
use evalrig_core::source::Span;
use evalrig_core::syntax::Node;
use evalrig_core::syntax::fields::{Bound, CONFLICTING_FIELDS, Entry, Field, MISSING_OPTION};

use super::secret::{Secret, literal_secret};
use super::value::Setting;

/// Something is wrong, and the reason has been reported.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Faulty;

pub type Read<T> = Result<T, Faulty>;

#[derive(Debug)]
pub struct Options<'a, 'w, 't> {
    pub reader: &'a mut Reader<'w>,
    pub fields: &'a Bound<'t>,
    /// What the mapping is called when it lacks something.
    pub owner: &'static str,
}

impl<'t> Options<'_, '_, 't> {
    pub fn get(&self, name: &str) -> Option<Entry<'t>> {
        self.fields.get(name)
    }

    pub fn has(&self, name: &str) -> bool {
        self.fields.has(name)
    }

    pub fn report(&mut self, diagnostic: Diagnostic) {
        self.reader.report(diagnostic);
    }

    /// The entry of an option that must be there.
    pub fn require(&mut self, name: &str) -> Read<Entry<'t>> {
        match self.get(name) {
            Some(entry) => Ok(entry),
            None => {
                let help = match self.fields.misspelt(name).and_then(Node::scalar_text) {
                    Some(written) => format!("rename `{written}` to `{name}`"),
                    None => format!("add `{name}`"),
                };
                let message = format!("`{}` needs `{name}`", self.owner);
                Err(self.missing(self.fields.head(), message, help))
            }
        }
    }

    pub fn missing(
        &mut self,
        span: Span,
        message: impl Into<String>,
        help: impl Into<String>,
    ) -> Faulty {
        self.report(Diagnostic::new(&MISSING_OPTION, span, message).help(help));
        Faulty
    }

    /// Two fields of which only one can count.
    pub fn conflict(&mut self, first: &Entry<'_>, second: &Entry<'_>, help: &str) -> Faulty {
        let message = format!(
            "`{}` and `{}` exclude each other",
            first.field.name, second.field.name
        );
        self.report(
            Diagnostic::new(&CONFLICTING_FIELDS, second.key.span(), message)
                .related(first.key.span(), "the other one")
                .help(help),
        );
        Faulty
    }

    pub fn text(&mut self, name: &str) -> Read<Option<Template>> {
        let entry = self.get(name);
        entry
            .map(|entry| self.text_of(name, entry.value))
            .transpose()
    }

    pub fn text_of(&mut self, name: &str, node: Node<'t>) -> Read<Template> {
        let text = self.reader.text_of(name, node).ok_or(Faulty)?;
        Ok(Template::new(text, node.span()))
    }

    /// A text that must be there and not be empty.
    pub fn required_text(&mut self, name: &str) -> Read<Template> {
        let entry = self.require(name)?;
        self.full_text(name, entry.value)
    }

    /// A text that may be absent, but not empty.
    pub fn optional_text(&mut self, name: &str) -> Read<Option<Template>> {
        let entry = self.get(name);
        entry
            .map(|entry| self.full_text(name, entry.value))
            .transpose()
    }

    pub fn full_text(&mut self, name: &str, node: Node<'t>) -> Read<Template> {
        let text = self.text_of(name, node)?;
        if text.raw().trim().is_empty() {
            let message = match name.strip_prefix("an item of ") {
                Some(list) => format!("an item of `{list}` is empty"),
                None => format!("`{name}` is empty"),
            };
            return Err(self.missing(node.span(), message, "say what it is, or remove it"));
        }
        Ok(text)
    }

    /// A path in its written form; [`super::PathBase::locate`] says where it leads.
    pub fn path(&mut self, name: &str) -> Read<Option<Template>> {
        let Some(path) = self.text(name)? else {
            return Ok(None);
        };
        if let Some(text) = path.fixed() {
            // Paths of a targets file may lie anywhere, so that only malformed ones are refused.
            self.reader
                .resolve(&text, path.span(), Level::Blocking)
                .ok_or(Faulty)?;
        }
        Ok(Some(path))
    }

    pub fn required_path(&mut self, name: &str) -> Read<Template> {
        self.require(name)?;
        self.path(name)?.ok_or(Faulty)
    }

    /// A list of strings; no list is an empty one.
    pub fn texts(&mut self, name: &str) -> Read<Vec<Template>> {
        let Some(entry) = self.get(name) else {
            return Ok(Vec::new());
        };
        let items = self.reader.text_list(&entry).ok_or(Faulty)?;
        Ok(items
            .into_iter()
            .map(|item| Template::new(item.value, item.span))
            .collect())
    }

    /// A mapping of strings, in the order of writing. Headers and variables often carry keys, so
    /// their values are not shown.
    pub fn named_texts(&mut self, name: &str) -> Read<Vec<(String, Secret)>> {
        let Some(entry) = self.get(name) else {
            return Ok(Vec::new());
        };
        if !entry.value.is_mapping() {
            return Err(self.wrong_type(name, entry.value, "a mapping of strings"));
        }
        let pairs: Vec<_> = entries_of(entry.value)
            .into_iter()
            .filter_map(|(key, value)| Some((key.scalar_text()?, value)))
            .map(|(key, value)| {
                let text = self.text_of(&format!("{name}.{key}"), value)?;
                Ok((key.to_owned(), Secret(text)))
            })
            .collect();
        pairs.into_iter().collect()
    }

    /// A key, which should come from a variable: `variable` is the customary one.
    pub fn api_key(&mut self, variable: &str) -> Read<Option<Secret>> {
        let key = self.text("api_key")?;
        if let Some(warning) = key.as_ref().and_then(|key| literal_secret(key, variable)) {
            self.report(warning);
        }
        Ok(key.map(Secret))
    }

    pub fn integer(&mut self, name: &str, min: u64, max: u64) -> Read<Option<Setting<u64>>> {
        let Some(entry) = self.get(name) else {
            return Ok(None);
        };
        self.integer_of(name, entry.value, min, max).map(Some)
    }

    pub fn integer_of(
        &mut self,
        name: &str,
        node: Node<'t>,
        min: u64,
        max: u64,
    ) -> Read<Setting<u64>> {
        let value = self.reader.integer_of(name, node, min, max);
        self.setting(value, node)
    }

    /// A finite number that is not negative.
    pub fn amount(&mut self, name: &str) -> Read<Option<Setting<Number>>> {
        let Some(entry) = self.get(name) else {
            return Ok(None);
        };
        let value = self.reader.number(&entry, 0.0, f64::INFINITY);
        self.setting(value, entry.value).map(Some)
    }

    pub fn boolean(&mut self, name: &str) -> Read<Option<Setting<bool>>> {
        let Some(entry) = self.get(name) else {
            return Ok(None);
        };
        let value = self.reader.boolean(&entry);
        self.setting(value, entry.value).map(Some)
    }

    fn setting<T>(&mut self, value: Option<T>, node: Node<'t>) -> Read<Setting<T>> {
        match value {
            Some(value) => Ok(Setting::Given(value)),
            None => self
                .reader
                .unresolved(node)
                .map(Setting::Reference)
                .ok_or(Faulty),
        }
    }

    /// One of a few words; `values` has one value per word, in the same order.
    pub fn choice<T: Copy>(
        &mut self,
        name: &str,
        words: &'static [&'static str],
        values: &[T],
    ) -> Read<Option<Setting<T>>> {
        let Some(entry) = self.get(name) else {
            return Ok(None);
        };
        let found = self.reader.choice(&entry, words);
        let value = found.and_then(|found| {
            let at = words.iter().position(|word| *word == found)?;
            values.get(at).copied()
        });
        match (value, entry.value.scalar_text()) {
            (Some(value), _) => Ok(Some(Setting::Given(value))),
            (None, Some(text)) => {
                let template = Template::new(text, entry.value.span());
                if template.has_references() {
                    Ok(Some(Setting::Reference(template)))
                } else {
                    Err(Faulty)
                }
            }
            (None, None) => Err(Faulty),
        }
    }

    /// Free data; strings in it keep their references.
    pub fn map(&mut self, name: &str) -> Read<Map> {
        match self.get(name) {
            Some(entry) => self.reader.map(&entry).ok_or(Faulty),
            None => Ok(Map::new()),
        }
    }

    /// A mapping with fields of its own.
    pub fn nested<T>(
        &mut self,
        name: &'static str,
        fields: &'static [Field],
        read: fn(&mut Options<'_, '_, 't>) -> Read<T>,
    ) -> Read<Option<T>> {
        let Some(entry) = self.get(name) else {
            return Ok(None);
        };
        self.nested_of(name, name, entry.value, fields, read)
            .map(Some)
    }

    /// A list of mappings with fields of their own; no list is an empty one.
    pub fn list<T>(
        &mut self,
        name: &'static str,
        fields: &'static [Field],
        read: fn(&mut Options<'_, '_, 't>) -> Read<T>,
    ) -> Read<Vec<T>> {
        let Some(entry) = self.get(name) else {
            return Ok(Vec::new());
        };
        if !entry.value.is_sequence() {
            return Err(self.wrong_type(name, entry.value, "a list of mappings"));
        }
        let item_name = format!("an item of {name}");
        let items: Vec<_> = entry
            .value
            .items()
            .map(|item| self.nested_of(&item_name, name, item, fields, read))
            .collect();
        items.into_iter().collect()
    }

    fn nested_of<T>(
        &mut self,
        name: &str,
        owner: &'static str,
        node: Node<'t>,
        fields: &'static [Field],
        read: fn(&mut Options<'_, '_, 't>) -> Read<T>,
    ) -> Read<T> {
        if !node.is_mapping() {
            return Err(self.wrong_type(name, node, "a mapping"));
        }
        let bound = Bound::new(node, &[fields], self.reader.out());
        bound.report_unknown(&[fields], self.reader.out());
        read(&mut Options {
            reader: self.reader,
            fields: &bound,
            owner,
        })
    }

    pub fn wrong_type(&mut self, name: &str, node: Node<'_>, wants: &str) -> Faulty {
        self.report(wrong_type(name, node, wants));
        Faulty
    }
}

/// The entries of a mapping, merged ones included. Merging compares each key with each, so it is
/// left to mappings that merge.
pub(crate) fn entries_of(node: Node<'_>) -> Vec<(Node<'_>, Node<'_>)> {
    if node.has_merge() {
        node.entries()
    } else {
        node.written_entries().collect()
    }
}

#[cfg(test)]
mod tests {
    use crate::target::testing::read;

    fn faults(options: &str) -> Vec<String> {
        read(&format!("targets: [{{name: a, {options}}}]\n")).messages()
    }

    #[test]
    fn every_fault_of_a_target_is_reported() {
        let found = faults("provider: cli, cwd: 3, env: [x], stdin: yes, ok_exit_codes: [0, 256]");
        let expected = [
            "`cli` needs `command`",
            "`cwd` takes a string, found a number",
            "`env` takes a mapping of strings, found a list",
            "`stdin` cannot be `yes`",
            "`ok_exit_codes` takes an integer from 0 to 255, found 256",
        ];
        assert_eq!(found, expected);
    }

    #[test]
    fn values_of_mappings_are_named_by_their_key() {
        let found = faults("provider: openai, model: m, headers: {X-Retry: 3, X-A: null}");
        let expected = [
            "`headers.X-Retry` takes a string, found a number",
            "`headers.X-A` takes a string, found null",
        ];
        assert_eq!(found, expected);
    }

    #[test]
    fn an_empty_text_is_as_good_as_none() {
        let found = faults("provider: openai, model: \" \"");
        assert_eq!(found, ["`model` is empty"]);
    }

    #[test]
    fn a_misspelt_option_is_found_again() {
        let read = read("targets: [{name: a, provider: openai, modle: m}]\n");
        assert_eq!(read.names(), ["unknown-field", "missing-option"]);
        let helps: Vec<_> = read
            .out
            .iter()
            .map(|d| d.help.as_deref().unwrap())
            .collect();
        assert_eq!(
            helps,
            ["did you mean `model`?", "rename `modle` to `model`"]
        );
    }

    #[test]
    fn malformed_paths_are_refused_and_paths_out_of_the_repository_are_not() {
        let found = faults("provider: cli, command: x, cwd: \"C:/x\"");
        assert_eq!(found, ["the path begins with a drive letter"]);
        assert_eq!(
            faults("provider: cli, command: x, cwd: ../../.."),
            Vec::<String>::new()
        );
    }

    #[test]
    fn references_stand_for_numbers_booleans_and_words() {
        let found = faults(
            "provider: claude-cli, max_turns: \"${{ N }}\", bypass_permissions: \"${{ B }}\", \
             files: \"${{ F }}\", retries: \"${{ R }}\", cwd: \"${{ HOME }}/x\"",
        );
        assert_eq!(found, Vec::<String>::new());
        let found = faults("provider: claude-cli, max_turns: \"${{ N }}0\"");
        let expected = ["`max_turns` takes an integer of at least 1, found a string"];
        assert_eq!(found, expected);
    }

    #[test]
    fn braces_around_something_else_are_warned_about() {
        let read = read("targets: [{name: a, provider: openai, model: \"${{ vars.MODEL }}\"}]\n");
        assert_eq!(read.names(), ["not-a-variable"]);
    }
}
