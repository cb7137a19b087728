//! Options of targets files: values in which `${{ }}` is kept until variables are known.

use evalrig_core::diagnostic::Level;
use evalrig_core::model::{Number, Words};
use evalrig_core::reader::{Options, ReadResult, Reported, Template, all_read};
use evalrig_core::source::Spanned;
use evalrig_core::syntax::Node;

use super::secret::{Secret, literal_secret, secrets_in_arguments};
use super::value::Setting;

/// An option that must be present.
pub fn required<'t, T>(
    options: &mut Options<'_, '_, 't>,
    name: &str,
    read: impl FnOnce(&mut Options<'_, '_, 't>, &str) -> ReadResult<Option<T>>,
) -> ReadResult<T> {
    options.require(name)?;
    read(options, name)?.ok_or(Reported)
}

pub fn template(options: &mut Options<'_, '_, '_>, name: &str) -> ReadResult<Option<Template>> {
    Ok(options.text(name)?.map(as_template))
}

pub fn template_of<'t>(
    options: &mut Options<'_, '_, 't>,
    name: &str,
    node: Node<'t>,
) -> ReadResult<Template> {
    options.text_of(name, node).map(as_template)
}

/// A text that may be absent, but not blank.
pub fn full_template(
    options: &mut Options<'_, '_, '_>,
    name: &str,
) -> ReadResult<Option<Template>> {
    Ok(options.full_text(name)?.map(as_template))
}

pub fn required_template(options: &mut Options<'_, '_, '_>, name: &str) -> ReadResult<Template> {
    options.required_text(name).map(as_template)
}

/// A list of strings; an absent list is empty.
pub fn templates(options: &mut Options<'_, '_, '_>, name: &str) -> ReadResult<Vec<Template>> {
    let items = options.texts(name)?.unwrap_or_default();
    Ok(items.into_iter().map(as_template).collect())
}

/// Arguments of a program, which others can see.
pub fn arguments(options: &mut Options<'_, '_, '_>, name: &str) -> ReadResult<Vec<Template>> {
    let arguments = templates(options, name)?;
    warn_of_secrets(options, name, &arguments);
    Ok(arguments)
}

/// Warns of secrets in arguments of a program.
pub fn warn_of_secrets(options: &mut Options<'_, '_, '_>, name: &str, arguments: &[Template]) {
    for warning in secrets_in_arguments(name, arguments) {
        options.report(warning);
    }
}

fn as_template(text: Spanned<String>) -> Template {
    Template::new(text.value, text.span)
}

/// A path as written; [`PathBase::locate`](super::PathBase::locate) makes it absolute.
pub fn path(options: &mut Options<'_, '_, '_>, name: &str) -> ReadResult<Option<Template>> {
    let path = template(options, name)?;
    if let Some(path) = &path
        && let Some(text) = path.fixed()
    {
        // Paths of a targets file may lead anywhere, so that only malformed ones are refused.
        let resolved = options.reader.resolve(&text, path.span(), Level::Blocking);
        resolved.ok_or(Reported)?;
    }
    Ok(path)
}

/// A mapping of strings, in the order of the file. Headers and variables often hold keys, so their
/// values are secret.
pub fn secret_map(
    options: &mut Options<'_, '_, '_>,
    name: &str,
) -> ReadResult<Vec<(String, Secret)>> {
    let Some(entry) = options.get(name) else {
        return Ok(Vec::new());
    };
    if !entry.value.is_mapping() {
        return Err(options.wrong_type(name, entry.value, "a mapping of strings"));
    }
    let pairs = entries_of(entry.value).into_iter();
    let pairs = pairs.filter_map(|(key, value)| Some((key.scalar_text()?, value)));
    all_read(pairs.map(|(key, value)| {
        let text = template_of(options, &format!("{name}.{key}"), value)?;
        Ok((key.to_owned(), Secret(text)))
    }))
}

/// `api_key`. A literal key gets a warning that suggests `variable`.
pub fn api_key(options: &mut Options<'_, '_, '_>, variable: &str) -> ReadResult<Option<Secret>> {
    let key = template(options, "api_key")?;
    if let Some(warning) = key.as_ref().and_then(|key| literal_secret(key, variable)) {
        options.report(warning);
    }
    Ok(key.map(Secret))
}

/// An integer of at least 0.
pub fn count(options: &mut Options<'_, '_, '_>, name: &str) -> ReadResult<Option<Setting<u64>>> {
    integer(options, name, 0, u64::MAX)
}

pub fn integer(
    options: &mut Options<'_, '_, '_>,
    name: &str,
    min: u64,
    max: u64,
) -> ReadResult<Option<Setting<u64>>> {
    options.optional(name, |options, entry| integer_of(options, name, entry.value, min, max))
}

pub fn integer_of<'t>(
    options: &mut Options<'_, '_, 't>,
    name: &str,
    node: Node<'t>,
    min: u64,
    max: u64,
) -> ReadResult<Setting<u64>> {
    let value = options.reader.integer_of(name, node, min, max);
    setting(options, value, node)
}

/// A finite number that is not negative.
pub fn amount(
    options: &mut Options<'_, '_, '_>,
    name: &str,
) -> ReadResult<Option<Setting<Number>>> {
    options.optional(name, |options, entry| {
        let value = options.reader.number(entry, 0.0, f64::INFINITY);
        setting(options, value, entry.value)
    })
}

pub fn boolean(options: &mut Options<'_, '_, '_>, name: &str) -> ReadResult<Option<Setting<bool>>> {
    options.optional(name, |options, entry| {
        let value = options.reader.boolean(entry);
        setting(options, value, entry.value)
    })
}

pub fn choice<T: Words>(
    options: &mut Options<'_, '_, '_>,
    name: &str,
) -> ReadResult<Option<Setting<T>>> {
    options.optional(name, |options, entry| {
        let word = options.reader.choice(entry, T::WORDS);
        if let Some(value) = word.and_then(T::parse) {
            return Ok(Setting::Given(value));
        }
        let text = entry.value.scalar_text().ok_or(Reported)?;
        let template = Template::new(text, entry.value.span());
        if template.has_references() { Ok(Setting::Reference(template)) } else { Err(Reported) }
    })
}

/// A value that was read, or the reference in its place.
fn setting<T>(
    options: &Options<'_, '_, '_>,
    value: Option<T>,
    node: Node<'_>,
) -> ReadResult<Setting<T>> {
    let reference = || options.reader.unresolved(node).map(Setting::Reference);
    let setting = value.map(Setting::Given).or_else(reference);
    setting.ok_or(Reported)
}

/// The entries of a mapping, merged ones included. Merging takes quadratic time, so only mappings
/// with a merge key pay for it.
pub(crate) fn entries_of(node: Node<'_>) -> Vec<(Node<'_>, Node<'_>)> {
    if node.has_merge() { node.entries() } else { node.written_entries().collect() }
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
            "`stdin` cannot be `yes`",
            "`cli` needs `command`",
            "`cwd` takes a string, found a number",
            "`env` takes a mapping of strings, found a list",
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
        let helps: Vec<_> = read.out.iter().map(|d| d.help.as_deref().unwrap()).collect();
        assert_eq!(helps, ["did you mean `model`?", "rename `modle` to `model`"]);
    }

    #[test]
    fn malformed_paths_are_refused_and_paths_out_of_the_repository_are_not() {
        let found = faults("provider: cli, command: x, cwd: \"C:/x\"");
        assert_eq!(found, ["the path begins with a drive letter"]);
        assert_eq!(faults("provider: cli, command: x, cwd: ../../.."), Vec::<String>::new());
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
