//! `anthropic`: the Messages interface of Anthropic.

use evalrig_core::diagnostic::Diagnostic;
use evalrig_core::reader::Template;
use evalrig_core::syntax::fields::{Field, Shape};

use crate::agent::Agent;
use crate::setting::ConnectContext;

use super::{Provider, ProviderSettings};
use crate::setting::FilesMode;
use crate::setting::Secret;
use crate::setting::{Options, Read};

pub static PROVIDER: Provider = Provider {
    name: "anthropic",
    fields: FIELDS,
    retries: 2,
    files: FilesMode::Inline,
    key_variables: &[KEY_VARIABLE],
    doc: r#"Sends the messages to `{base_url}/v1/messages`. System messages become `system`; `max_tokens` is
4096 unless `config` says otherwise.

```yaml
targets:
  - name: default
    provider: anthropic
    model: claude-sonnet-4-5
    api_key: "${{ ANTHROPIC_API_KEY }}"
    config: {max_tokens: 1024}
```
"#,
    read,
};

/// Where requests go when nobody says.
pub const BASE_URL: &str = "https://api.anthropic.com";

/// Holds the key when the target has none.
pub const KEY_VARIABLE: &str = "ANTHROPIC_API_KEY";

static FIELDS: &[Field] = &[
    Field::new(
        "base_url",
        Shape::NonEmptyText,
        "address of the service; default `https://api.anthropic.com`",
    ),
    Field::new(
        "api_key",
        Shape::Text,
        "from a variable, please; default: the variable `ANTHROPIC_API_KEY`",
    ),
    Field::new("model", Shape::NonEmptyText, "which model answers").required(),
];

#[derive(Debug, Clone, PartialEq)]
pub struct Anthropic {
    /// `None` is [`BASE_URL`].
    pub base_url: Option<Template>,
    /// `None` is the value of [`KEY_VARIABLE`].
    pub api_key: Option<Secret>,
    pub model: Template,
}

impl ProviderSettings for Anthropic {
    fn model(&self) -> Option<&Template> {
        Some(&self.model)
    }

    fn connect(&self, connect: &ConnectContext<'_>) -> Result<Box<dyn Agent>, Diagnostic> {
        crate::agent::anthropic::connect(self, connect)
    }
}

fn read(options: &mut Options<'_, '_, '_>) -> Read<Box<dyn ProviderSettings>> {
    let base_url = options.optional_text("base_url");
    let api_key = options.api_key(KEY_VARIABLE);
    let model = options.required_text("model");
    Ok(Box::new(Anthropic {
        base_url: base_url?,
        api_key: api_key?,
        model: model?,
    }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::target::testing::{faults, settings};

    #[test]
    fn a_model_is_all_it_needs() {
        let read: Anthropic = settings("provider: anthropic, model: m");
        assert_eq!((read.base_url, read.api_key), (None, None));
        assert_eq!(faults("provider: anthropic"), ["`anthropic` needs `model`"]);
    }
}
