//! Unsupported providers, and what to use instead.

use evalrig_core::declare_codes;
use evalrig_core::diagnostic::{Diagnostic, did_you_mean};
use evalrig_core::reader::list_words;
use evalrig_core::source::Span;
use evalrig_core::syntax::fields::shorten;

use crate::provider::PROVIDERS;

declare_codes! {
    UNSUPPORTED_PROVIDER = "unsupported-provider", Blocking, Target, r#"A target has a provider that evalrig does not support.

## Example
```yaml .evalrig/targets.yaml
targets:
  - name: default
    provider: openrouter
    model: qwen/qwen3-coder
    api_key: "${{ OPENROUTER_API_KEY }}"
```

## Instead
```yaml .evalrig/targets.yaml
targets:
  - name: default
    provider: openai
    base_url: https://openrouter.ai/api/v1
    model: qwen/qwen3-coder
    api_key: "${{ OPENROUTER_API_KEY }}"
```

## Why
Most services offer the chat completions API of `openai` at another URL, and `cli` can run any program.
Using a different provider instead would measure the wrong thing.
"#;
}

/// Services with a chat completions API.
const CHAT_SERVICES: &[&str] = &[
    "cerebras",
    "deepseek",
    "fireworks",
    "github-models",
    "google",
    "google-gemini",
    "grok",
    "groq",
    "litellm",
    "llamacpp",
    "lmstudio",
    "mistral",
    "moonshot",
    "ollama",
    "openrouter",
    "perplexity",
    "together",
    "togetherai",
    "vllm",
    "xai",
];

/// Names that other tools use for our providers.
const OTHER_NAMES: &[(&str, &str)] = &[
    ("azure-openai", "azure"),
    ("claude", "claude-cli"),
    ("claude-code", "claude-cli"),
    ("claude-sdk", "claude-cli"),
    ("codex", "codex-cli"),
    ("command", "cli"),
    ("copilot-log", "copilot-cli"),
    ("copilot-sdk", "copilot-cli"),
    ("pi-coding-agent", "pi"),
    ("script", "cli"),
];

pub(super) fn unsupported_provider(written: &str, span: Span) -> Diagnostic {
    let message = format!("provider `{}` is not supported", shorten(written));
    Diagnostic::new(&UNSUPPORTED_PROVIDER, span, message).help(help_for(written))
}

/// The provider determines the options of a target, so it must be written out.
pub(super) fn provider_from_variable(span: Span) -> Diagnostic {
    let message = "`provider` cannot come from a variable";
    Diagnostic::new(&UNSUPPORTED_PROVIDER, span, message)
        .help("write one target per provider and choose with `use_target: \"${{ NAME }}\"`")
}

fn help_for(written: &str) -> String {
    let name = written.to_ascii_lowercase().replace('_', "-");
    let names = PROVIDERS.iter().map(|provider| provider.name);
    if names.clone().any(|known| known == name) {
        return format!("write `{name}`");
    }
    if CHAT_SERVICES.contains(&name.as_str()) {
        return "it has a chat completions API: use `provider: openai` with its `base_url`".into();
    }
    if let Some((_, ours)) = OTHER_NAMES.iter().find(|(other, _)| *other == name) {
        return format!("write `{ours}`");
    }
    match did_you_mean(&name, names.clone()) {
        Some(near) => format!("did you mean `{near}`?"),
        None => {
            let names: Vec<_> = names.collect();
            format!("write {}; any program can be run with `cli`", list_words(&names))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::target::testing::read;

    #[test]
    fn each_unsupported_provider_gets_its_help() {
        for (written, help) in [
            ("google", "it has a chat completions API: use `provider: openai` with its `base_url`"),
            ("pi-coding-agent", "write `pi`"),
            ("azure_openai", "write `azure`"),
            ("codex", "write `codex-cli`"),
            ("claude_cli", "write `claude-cli`"),
            ("OpenAI", "write `openai`"),
            ("antropic", "did you mean `anthropic`?"),
        ] {
            assert_eq!(help_for(written), help, "{written}");
        }
        assert!(help_for("vscode").ends_with("; any program can be run with `cli`"));
    }

    #[test]
    fn only_common_options_of_an_unsupported_provider_are_checked() {
        let read = read("targets: [{name: a, provider: vscode, whatever: 1, retries: 99}]\n");
        assert_eq!(read.names(), ["unsupported-provider", "out-of-range"]);
        assert_eq!(read.sources.text_of(read.out[0].span), "vscode");
        let targets = read.targets.unwrap();
        assert_eq!(targets.names().collect::<Vec<_>>(), ["a"]);
        assert!(targets.get("a").is_none());
    }

    #[test]
    fn a_provider_cannot_come_from_a_variable() {
        let read = read("targets: [{name: a, provider: \"${{ PROVIDER }}\"}]\n");
        assert_eq!(read.messages(), ["`provider` cannot come from a variable"]);
    }
}
