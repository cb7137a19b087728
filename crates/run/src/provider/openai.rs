//! `openai`: every service with a chat completions API.

use evalrig_core::diagnostic::Diagnostic;
use evalrig_core::reader::{Options, ReadResult, Template};
use evalrig_core::syntax::fields::{Field, Shape};

use crate::agent::Agent;
use crate::agent::chat::ChatCompletions;
use crate::agent::http::ApiKey;
use crate::agent::price::PriceSource;
use crate::agent::service::{ApiKeyHeader, HttpAgent, apply_api_key, base_url, endpoint, unusable};
use crate::setting::{ConnectContext, FilesMode, Secret, SettingOptions as _};

use super::{Provider, ProviderSettings};

pub static PROVIDER: Provider = Provider {
    name: "openai",
    fields: FIELDS,
    retries: 2,
    files: FilesMode::Inline,
    key_variables: &[KEY_VARIABLE],
    doc: r#"Sends the messages to `{base_url}/chat/completions`. Set `base_url` to use Gemini, OpenRouter,
Ollama, vLLM or any other compatible service.

```yaml
targets:
  - name: default
    provider: openai
    model: gpt-4o
    config: {temperature: 0}
    price: {input: 2.5, output: 10, cached: 1.25}
```

```yaml
judge_target: judge
targets:
  - name: judge
    provider: openai
    base_url: http://localhost:8080/v1
    api_key: "${{ JUDGE_KEY }}"
    model: qwen3
    headers: {X-Team: evals}
    max_concurrency: 4
```
"#,
    read,
};

/// Default of `base_url`.
pub const BASE_URL: &str = "https://api.openai.com/v1";

/// Holds the key of a target without `api_key`.
pub const KEY_VARIABLE: &str = "OPENAI_API_KEY";

static FIELDS: &[Field] = &[
    Field::new(
        "base_url",
        Shape::NonEmptyText,
        "base URL of the service; default `https://api.openai.com/v1`",
    )
    .also(&["endpoint"]),
    Field::new(
        "api_key",
        Shape::Text,
        "API key; use `${{ VAR }}`. Default: `$OPENAI_API_KEY`",
    ),
    Field::new("model", Shape::NonEmptyText, "model to use").required(),
    Field::new(
        "headers",
        Shape::MapOf(&Shape::Text),
        "headers added to every request",
    ),
];

#[derive(Debug, Clone, PartialEq)]
pub struct OpenAi {
    /// `None` is [`BASE_URL`].
    pub base_url: Option<Template>,
    /// `None` is the value of [`KEY_VARIABLE`].
    pub api_key: Option<Secret>,
    pub model: Template,
    pub headers: Vec<(String, Secret)>,
}

impl ProviderSettings for OpenAi {
    fn model(&self) -> Option<&Template> {
        Some(&self.model)
    }

    fn connect(&self, context: &ConnectContext<'_>) -> Result<Box<dyn Agent>, Diagnostic> {
        let written = self.base_url.as_ref();
        let base = base_url(written, BASE_URL, context)?;
        let mut endpoint = endpoint(&base, &["chat", "completions"], written, context)?;
        let header = ApiKeyHeader {
            name: "authorization",
            prefix: "Bearer ",
            is_required: written.is_none(),
        };
        apply_api_key(&mut endpoint, header, self.api_key.as_ref(), context)?;
        for (name, value) in &self.headers {
            let sent = endpoint.secret_header(name, "", &ApiKey::new(&context.text(&value.0)?));
            sent.map_err(|reason| unusable(value.0.span(), format!("header `{name}` {reason}")))?;
        }
        let model = context.text(&self.model)?;
        let prices = PriceSource::at(&base);
        Ok(Box::new(HttpAgent::new(
            ChatCompletions,
            endpoint,
            model,
            prices,
            context,
        )?))
    }
}

fn read(options: &mut Options<'_, '_, '_>) -> ReadResult<Box<dyn ProviderSettings>> {
    let base_url = options.full_template("base_url");
    let api_key = options.api_key(KEY_VARIABLE);
    let model = options.required_template("model");
    let headers = options.secret_map("headers");
    Ok(Box::new(OpenAi {
        base_url: base_url?,
        api_key: api_key?,
        model: model?,
        headers: headers?,
    }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::target::testing::{faults, settings};

    #[test]
    fn an_endpoint_is_a_base_url() {
        let read: OpenAi = settings("provider: openai, endpoint: \"http://x\", model: m");
        assert_eq!(read.base_url.as_ref().unwrap().raw(), "http://x");
        assert_eq!(ProviderSettings::model(&read).unwrap().raw(), "m");
        assert_eq!(read.api_key, None);
    }

    #[test]
    fn headers_keep_their_order_and_their_references() {
        let read: OpenAi =
            settings("provider: openai, model: m, headers: {B: \"${{ X }}\", A: plain}");
        let headers: Vec<_> = read
            .headers
            .iter()
            .map(|(name, value)| (name.as_str(), value.0.raw()))
            .collect();
        assert_eq!(headers, [("B", "${{ X }}"), ("A", "plain")]);
    }

    #[test]
    fn the_model_is_required() {
        assert_eq!(faults("provider: openai"), ["`openai` needs `model`"]);
        let found = faults("provider: openai, model: m, base_url: \"\"");
        assert_eq!(found, ["`base_url` is empty"]);
    }
}
