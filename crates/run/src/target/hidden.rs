//! Every text of a targets file that output must show as `***` (spec 9.5).

use std::cell::RefCell;

use evalrig_core::reader::Template;
use evalrig_core::secrets::{Secrets, is_secret_name};
use evalrig_core::syntax::{Node, Scalar};

use crate::provider::key_variables;
use crate::setting::Secret;

const SECRET_WORDS: &[&str] = &["token", "secret", "password", "authorization"];

/// Secrets of a targets file.
#[derive(Debug, Default)]
pub(super) struct FileSecrets {
    /// Written out in the file.
    pub(super) literal: Secrets,
    /// Taken from variables, whatever their names.
    referring: Vec<Secret>,
    /// Addresses that are taken from variables.
    referring_urls: Vec<Template>,
}

impl FileSecrets {
    /// All secrets, with the values of variables.
    pub(super) fn with(&self, variable: &dyn Fn(&str) -> Option<String>) -> Secrets {
        let mut known = self.literal.clone();
        for value in key_variables().filter_map(variable) {
            known.add(&value);
        }
        let secrets = RefCell::new(known);
        for Secret(template) in &self.referring {
            // A service may repeat only a part of a header, such as the key after `Bearer`.
            let filled = template.fill(&|name| {
                let value = variable(name)?;
                secrets.borrow_mut().add(&value);
                Some(value)
            });
            if let Ok(value) = filled {
                secrets.borrow_mut().add(&value);
            }
        }
        let mut secrets = secrets.into_inner();
        for url in self.referring_urls.iter().filter_map(|url| url.fill(variable).ok()) {
            secrets.add_url(&url);
        }
        secrets
    }
}

/// Includes invalid parts of the file, because diagnostics show its lines. YAML aliases are not
/// followed, so that the time is linear.
pub(super) fn secrets_of(root: Node<'_>) -> FileSecrets {
    let mut secrets = FileSecrets::default();
    let mut open = vec![root];
    while let Some(node) = open.pop() {
        if node.is_alias() {
            continue;
        }
        open.extend(node.items());
        for (key, value) in node.written_entries() {
            notice(&mut secrets, key.scalar_text().unwrap_or(""), value);
            open.push(value);
        }
    }
    secrets
}

fn notice(secrets: &mut FileSecrets, key: &str, value: Node<'_>) {
    match key {
        "api_key" => add(secrets, value),
        "base_url" | "endpoint" | "url" => add_url(secrets, value),
        "command" => add_command(secrets, value),
        "env" => {
            let entries = value.written_entries();
            for (_, variable) in entries.filter(|(name, value)| {
                let name = name.scalar_text().unwrap_or("");
                is_secret_name(name) && matches!(value.scalar(), Some(Scalar::Str(_)))
            }) {
                add(secrets, variable);
            }
        }
        "headers" => {
            for (_, header) in value.written_entries() {
                // `x-debug: true` would redact the word `true` in every text.
                if !matches!(header.scalar(), Some(Scalar::Bool(_))) {
                    add(secrets, header);
                }
            }
        }
        // `max_tokens: 16000000` is a number, not a secret.
        _ if matches!(value.scalar(), Some(Scalar::Str(_))) && is_secret_option(key) => {
            add(secrets, value);
        }
        _ => {}
    }
}

pub(super) fn is_secret_option(key: &str) -> bool {
    let key = key.to_ascii_lowercase();
    SECRET_WORDS.iter().any(|word| key.contains(word))
}

/// Words after an option such as `--api-key`, assignments such as `API_KEY=…`, and addresses.
fn add_command(secrets: &mut FileSecrets, command: Node<'_>) {
    let words = command.items().filter_map(|item| Some((item.scalar_text()?.to_owned(), item)));
    let mut words: Vec<(String, Node<'_>)> = words.collect();
    if let Some(line) = command.scalar_text() {
        // Roughly what the shell makes of it: a secret with a space in it is quoted as a whole.
        let line = line.replace("${{ ", "${{").replace(" }}", "}}");
        let parts = line.split_whitespace();
        words.extend(parts.map(|word| (word.trim_matches(['\'', '"']).to_owned(), command)));
    }
    let mut is_value = false;
    for (word, node) in words {
        let word = word.as_str();
        let is_option = word.starts_with('-');
        let (name, value) = word.split_once('=').unwrap_or((word, ""));
        if !value.is_empty() && names_secret(name) {
            add_text(secrets, value.trim_matches(['\'', '"']), node);
        } else if is_value && !is_option {
            add_text(secrets, word, node);
        } else if word.contains("://") {
            add_url_text(secrets, word, node);
        }
        is_value = is_option && value.is_empty() && names_secret(word);
    }
}

/// `--api-key` and `API_KEY`, but not `--max-tokens` and `--key-file`.
fn names_secret(option: &str) -> bool {
    let name = option.trim_start_matches('-');
    let is_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
    let last = name.rsplit(['-', '_']).next().unwrap_or(name).to_ascii_lowercase();
    name.chars().all(is_name) && last != "tokens" && is_secret_name(&last)
}

fn add(secrets: &mut FileSecrets, value: Node<'_>) {
    if let Some(text) = value.scalar_text() {
        add_text(secrets, text, value);
    }
}

fn add_text(secrets: &mut FileSecrets, text: &str, value: Node<'_>) {
    // The name of a variable is not secret.
    let template = Template::new(text, value.span());
    if template.has_references() {
        secrets.referring.push(Secret(template))
    } else {
        secrets.literal.add(text)
    }
}

fn add_url(secrets: &mut FileSecrets, value: Node<'_>) {
    if let Some(text) = value.scalar_text() {
        add_url_text(secrets, text, value);
    }
}

fn add_url_text(secrets: &mut FileSecrets, text: &str, value: Node<'_>) {
    let template = Template::new(text, value.span());
    if template.has_references() {
        secrets.referring_urls.push(template)
    } else {
        secrets.literal.add_url(text)
    }
}

#[cfg(test)]
mod tests {
    use crate::provider::{PROVIDERS, key_variables};
    use crate::target::testing::read;

    #[test]
    fn every_default_key_is_redacted() {
        let targets = read("targets: [{name: a, provider: mock, response: x}]\n").targets;
        let secrets = targets.unwrap().secrets_with(&|name| Some(format!("value-of-{name}")));
        for variable in key_variables() {
            assert_eq!(secrets.redact(&format!("<value-of-{variable}>")), "<***>");
        }
        let takes_key = |name: &str| {
            let provider = PROVIDERS.iter().find(|one| one.name == name).unwrap();
            provider.fields.iter().any(|field| field.name == "api_key")
        };
        for provider in PROVIDERS {
            let has_default = !provider.key_variables.is_empty();
            assert_eq!(has_default, takes_key(provider.name), "{}", provider.name);
        }
    }

    #[test]
    fn literal_secrets_are_redacted_wherever_they_are() {
        let read = read(
            "x-key: &key key-from-anchor\nx-headers: &headers {X-Any: header-value}\ntargets:\n\
             - {name: a, provider: vscode, api_key: *key, headers: *headers}\n\
             - {name: b, provider: cli, command: x, env: {API_TOKEN: token-value, HOME: /home/me12}}\n\
             - {name: c, provider: openai, model: m, api_key: \"${{ SOME_VARIABLE }}\"}\n",
        );
        let secrets = read.targets.unwrap().secrets().clone();
        let shown = secrets
            .redact("key-from-anchor header-value token-value /home/me12 ${{ SOME_VARIABLE }}");
        assert_eq!(shown, "*** *** *** /home/me12 ${{ SOME_VARIABLE }}");
    }

    #[test]
    fn secrets_in_variables_addresses_and_commands_are_redacted() {
        let read = read(
            "targets:\n\
             - {name: a, provider: cli, command: x, env: {KEY: hidden-01, API_KEY: hidden-02, MAX_KEYS: 16}}\n\
             - {name: b, provider: http, url: 'http://me:hidden-03@h/ask', answer: /a}\n\
             - {name: c, provider: cli, command: [sh, --api-key, hidden-04, --token=hidden-05, --max-tokens, '4000', --key-file, key.pem]}\n\
             - {name: d, provider: cli, command: \"API_KEY='hidden-06' ./agent --password hidden-07 --key --verbose 'http://me:hidden-08@h'\"}\n\
             - {name: e, provider: cli, command: [./agent, --api-key, '${{ SESAME }}']}\n",
        );
        let targets = read.targets.unwrap();
        let secrets = targets.secrets();
        for number in 1..9 {
            let text = format!("hidden-0{number}");
            assert_eq!(secrets.redact(&text), "***", "{text}");
        }
        let plain = "16 4000 key.pem --verbose ./agent sh http://h";
        assert_eq!(secrets.redact(plain), plain);
        let filled = targets.secrets_with(&|name| (name == "SESAME").then(|| "open-it".to_owned()));
        assert_eq!(filled.redact("open-it"), "***");
    }

    #[test]
    fn short_literal_secrets_are_redacted() {
        let read = read(
            "targets:\n\
             - {name: a, provider: openai, model: m, api_key: k123, headers: {x-pin: 9876, x-debug: true}}\n\
             - {name: b, provider: cli, command: x, env: {PASSWORD: hunt2, TOKEN: abc, OTHER: plain}}\n",
        );
        let variable = |name: &str| (name == "ANTHROPIC_API_KEY").then(|| "ant-7".to_owned());
        let secrets = read.targets.unwrap().secrets_with(&variable);
        let shown = secrets.redact("k123 9876 true hunt2 abc plain ant-7");
        assert_eq!(shown, "*** *** true *** abc plain ***");
    }

    #[test]
    fn credentials_in_addresses_and_headers_are_redacted_alone() {
        let read = read(
            "targets:\n\
             - {name: a, provider: openai, model: m, base_url: \"http://u:hidden-1@h/v1?key=hidden-2\"}\n\
             - {name: b, provider: openai, model: m, base_url: \"${{ ADDRESS }}\", headers: {Authorization: Bearer hidden-4}}\n",
        );
        let variable =
            |name: &str| (name == "ADDRESS").then(|| "https://u:hidden-3@h/v1".to_owned());
        let secrets = read.targets.unwrap().secrets_with(&variable);
        let shown = secrets.redact("hidden-1 hidden-2 hidden-3 hidden-4 http://h/v1");
        assert_eq!(shown, "*** *** *** *** http://h/v1");
    }

    #[test]
    fn values_of_variables_are_redacted_whatever_their_names() {
        let read = read(
            "targets:\n- {name: a, provider: openai, model: m, api_key: \"${{ SESAME }}\", \
             headers: {Authorization: \"Bearer ${{ BEARER }}\", x-unset: \"${{ UNSET }}\"}}\n\
             - {name: b, provider: cli, command: x, env: {PLAIN: \"${{ PLAIN }}\"}}\n",
        );
        let variable = |name: &str| (name != "UNSET").then(|| format!("value-of-{name}"));
        let secrets = read.targets.unwrap().secrets_with(&variable);
        let shown = secrets.redact("value-of-SESAME Bearer value-of-BEARER value-of-PLAIN");
        assert_eq!(shown, "*** *** value-of-PLAIN");
        assert_eq!(secrets.redact("<value-of-BEARER>"), "<***>");
    }
}
