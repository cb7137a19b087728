//! What a target is: the settings that decide what it answers, as one digest. Keys are no part of it.

use std::fmt;

use evalrig_core::model::{JsonStyle, Map, Value};
use evalrig_core::reader::{InsertionBudget, Template};
use evalrig_core::secrets::{Secrets, is_secret_name};
use evalrig_core::syntax::Node;
use evalrig_core::syntax::edit::raw_value;
use evalrig_core::syntax::fields::is_free;
use sha2::{Digest, Sha256};

use crate::text::hex;

use super::entry::Target;
use super::hidden::is_secret_option;

/// Options that decide how a target is called, not what it answers, and the key.
const WITHOUT_EFFECT: &[&str] = &[
    "name",
    "judge_target",
    "grader_target",
    "timeout_seconds",
    "retries",
    "max_retries",
    "max_concurrency",
    "workers",
    "price",
    "rate",
    "api_key",
];

/// Addresses, which may hold a password.
const ADDRESSES: &[&str] = &["base_url", "endpoint"];

/// What counts in place of a secret, so that the digest says nothing about it.
const MARK: &str = "***";

/// All options of a target as written. Debug output shows no value: it may be a key.
pub(super) struct WrittenOptions(Map);

impl WrittenOptions {
    pub(super) fn of(target: Node<'_>) -> Self {
        match raw_value(target) {
            Value::Map(map) => Self(map),
            _ => Self(Map::new()),
        }
    }
}

impl fmt::Debug for WrittenOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.0.iter().map(|(key, _)| key)).finish()
    }
}

impl Target {
    /// Equal for targets with the same provider and options once variables are known, whatever their
    /// keys. `None` if a variable is not set or its value is too long.
    pub(crate) fn settings_digest(
        &self,
        variable: &dyn Fn(&str) -> Option<String>,
    ) -> Option<String> {
        let public = |name: &str| {
            let value = variable(name)?;
            Some(if is_secret_name(name) { MARK.to_owned() } else { value })
        };
        let filling =
            Filling { target: self, variable: &public, budget: InsertionBudget::default() };
        let mut counted = Map::new();
        for (key, value) in self.options.0.iter() {
            if !WITHOUT_EFFECT.contains(&key) && !is_free(key) {
                counted.insert(key, filling.value(key, value)?);
            }
        }
        // A default may change with the version of the provider, so it is written out.
        counted.insert("provider", self.provider.name);
        let text = Value::Map(counted).to_json(JsonStyle::Sorted);
        Some(hex(&Sha256::digest(text)))
    }
}

/// Replaces variables in the options of a target.
struct Filling<'a> {
    target: &'a Target,
    variable: &'a dyn Fn(&str) -> Option<String>,
    budget: InsertionBudget,
}

impl Filling<'_> {
    fn value(&self, key: &str, value: &Value) -> Option<Value> {
        Some(match value {
            Value::String(_) if is_secret_option(key) || is_secret_name(key) => MARK.into(),
            Value::String(text) => {
                let template = Template::new(text.as_str(), self.target.name.span);
                let text = template.fill_within(&self.budget, self.variable).ok()?;
                let is_address = ADDRESSES.contains(&key);
                Value::String(if is_address { without_password(&text) } else { text })
            }
            Value::List(items) => {
                let items = items.iter().map(|item| self.value(key, item));
                Value::List(items.collect::<Option<_>>()?)
            }
            Value::Map(map) => {
                let entries = map.iter();
                let entries =
                    entries.map(|(key, value)| Some((key.to_owned(), self.value(key, value)?)));
                Value::Map(entries.collect::<Option<Map>>()?)
            }
            other => other.clone(),
        })
    }
}

fn without_password(url: &str) -> String {
    let mut secrets = Secrets::default();
    secrets.add_url(url);
    secrets.redact(url)
}

#[cfg(test)]
mod tests {
    use crate::target::testing::read;

    /// The digest of a target with these options.
    fn digest(options: &str, values: &[(&str, &str)]) -> Option<String> {
        let read = read(&format!("targets:\n- {{name: a, {options}}}\n"));
        assert_eq!(read.names(), Vec::<&str>::new(), "{options}");
        let variable = |name: &str| {
            let found = values.iter().find(|(known, _)| *known == name);
            found.map(|(_, value)| (*value).to_owned())
        };
        read.targets.unwrap().get("a").unwrap().settings_digest(&variable)
    }

    #[test]
    fn settings_count_once_their_variables_are_known() {
        let options = "provider: openai, model: \"${{ M }}\", config: {temperature: 0}";
        let one = digest(options, &[("M", "x")]);
        assert!(one.is_some());
        assert_eq!(digest("provider: openai, config: {temperature: 0}, model: x", &[]), one);
        for other in [
            "provider: openai, model: y, config: {temperature: 0}",
            "provider: openai, model: x, config: {temperature: 1}",
            "provider: anthropic, model: x, config: {temperature: 0}",
            "provider: openai, model: x, config: {temperature: 0}, headers: {X-Beta: tools}",
        ] {
            assert_ne!(digest(other, &[]), one, "{other}");
        }
        assert_eq!(digest(options, &[]), None, "a variable is not set");
    }

    #[test]
    fn keys_and_limits_do_not_count() {
        let plain = digest("provider: openai, model: x, headers: {Authorization: a}", &[]);
        let other = "provider: openai, model: x, api_key: \"${{ K }}\", retries: 1, x-note: y, \
                     timeout_seconds: 9, max_concurrency: 1, headers: {Authorization: \"${{ K }}\"}";
        assert_eq!(digest(other, &[("K", "k")]), plain);
        let program = |variable: &str, value: &str| {
            let options =
                format!("provider: cli, command: x, env: {{A: \"${{{{ {variable} }}}}\"}}");
            digest(&options, &[(variable, value)])
        };
        assert_eq!(program("MY_TOKEN", "one"), program("MY_TOKEN", "two"));
        assert_ne!(program("MODE", "one"), program("MODE", "two"));
        let url = |user: &str| {
            digest(&format!("provider: openai, model: x, base_url: \"https://u:{user}@h/v1\""), &[])
        };
        assert_eq!(url("password1"), url("password2"));
    }
}
