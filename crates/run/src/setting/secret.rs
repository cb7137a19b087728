//! Secret values of a targets file (spec 9.5).

use std::fmt;

use evalrig_core::declare_codes;
use evalrig_core::diagnostic::Diagnostic;
use evalrig_core::reader::Template;

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
