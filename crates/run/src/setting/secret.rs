//! Secret values of a targets file (spec 9.5).

use std::fmt;

use evalrig_core::declare_codes;
use evalrig_core::diagnostic::Diagnostic;
use evalrig_core::reader::Template;
use evalrig_core::secrets::is_secret_name;

declare_codes! {
    LITERAL_SECRET = "literal-secret", Warning, Target, r#"A key is written out in the targets file.

## Example
```yaml .evalrig/targets.yaml
targets:
  - name: default
    provider: openai
    model: gpt-4o
    api_key: not-a-real-key
```

## Instead
```yaml .evalrig/targets.yaml
targets:
  - name: default
    provider: openai
    model: gpt-4o
    api_key: "${{ OPENAI_API_KEY }}"
```

## Why
Targets files are committed, and everyone who can read the repository could use the key. Variables come from the
environment or from a `.env` file, which git can ignore.
"#;
    SECRET_IN_ARGUMENTS = "secret-in-arguments", Warning, Target, r#"The value of a secret variable becomes an argument of a program.

## Example
```yaml .evalrig/targets.yaml
targets:
  - name: default
    provider: cli
    command: [my-agent, --key, "${{ MY_API_KEY }}"]
```

## Instead
```yaml .evalrig/targets.yaml
targets:
  - name: default
    provider: cli
    command: [my-agent]
    env: {MY_API_KEY: "${{ MY_API_KEY }}"}
```

## Why
Every user of the machine can list the arguments of running programs, and programs write them into logs. The
environment of a program is seen by its own user alone.
"#;
}

/// A warning for each secret variable in arguments of a program.
pub(super) fn secrets_in_arguments(option: &str, arguments: &[Template]) -> Vec<Diagnostic> {
    let mut found: Vec<Diagnostic> = Vec::new();
    for argument in arguments {
        for name in argument.variables().filter(|name| is_secret_name(name)) {
            let message = format!("`{option}` puts the secret `{name}` into process arguments");
            let help = format!("pass it by `env: {{{name}: \"${{{{ {name} }}}}\"}}`");
            found.push(Diagnostic::new(&SECRET_IN_ARGUMENTS, argument.span(), message).help(help));
        }
    }
    found
}

/// A text that debug output does not show.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(pub Template);

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(***)")
    }
}

/// A warning for a key that is written out. An empty key is not a secret.
pub(super) fn literal_secret(key: &Template, variable: &str) -> Option<Diagnostic> {
    if key.has_references() || key.raw().is_empty() {
        return None;
    }
    let message = "`api_key` is written out in the file";
    let help = format!("set a variable and write `api_key: \"${{{{ {variable} }}}}\"`");
    Some(Diagnostic::new(&LITERAL_SECRET, key.span(), message).help(help))
}

#[cfg(test)]
mod tests {
    use crate::target::testing::read;

    #[test]
    fn secrets_in_arguments_are_warned_about() {
        let read = read(
            "targets:\n- {name: a, provider: claude-cli, args: [--key, \"${{ MY_API_KEY }}\"]}\n\
             - {name: b, provider: cli, command: [x, \"--token=${{ TOKEN }}\", \"${{ MODEL }}\"]}\n\
             - {name: c, provider: cli, command: \"K=${{ AGENT_SECRET }} x\"}\n\
             - {name: d, provider: acp, command: [x, \"${{ ACP_PASSWORD }}\"]}\n\
             - {name: e, provider: codex-cli, args: [-m, \"${{ MODEL }}\"], env: {K: \"${{ MY_KEY }}\"}}\n",
        );
        assert_eq!(read.names(), ["secret-in-arguments"; 4]);
        let texts: Vec<_> = read.out.iter().map(|one| read.sources.text_of(one.span)).collect();
        assert_eq!(texts[0], "\"${{ MY_API_KEY }}\"");
        assert_eq!(
            read.out[0].message,
            "`args` puts the secret `MY_API_KEY` into process arguments"
        );
        let help = read.out[0].help.as_deref();
        assert_eq!(help, Some("pass it by `env: {MY_API_KEY: \"${{ MY_API_KEY }}\"}`"));
    }

    #[test]
    fn literal_keys_are_warned_about_without_being_named() {
        let read = read(
            "targets:\n- {name: a, provider: anthropic, model: m, api_key: sk-ant-12345678}\n\
             - {name: b, provider: azure, deployment: d, endpoint: e, api_key: \"\"}\n\
             - {name: c, provider: openai, model: m, api_key: \"${{ K }}\"}\n",
        );
        assert_eq!(read.names(), ["literal-secret"]);
        let found = &read.out[0];
        assert_eq!(read.sources.text_of(found.span), "sk-ant-12345678");
        assert_eq!(
            found.help.as_deref(),
            Some("set a variable and write `api_key: \"${{ ANTHROPIC_API_KEY }}\"`")
        );
        assert!(!found.message.contains("12345678"));
        assert!(!format!("{:?}", read.targets).contains("12345678"));
    }
}
