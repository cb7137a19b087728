//! `openai`: every service with a chat completions API.

use evalrig_core::diagnostic::Diagnostic;
use evalrig_core::reader::{Options, ReadResult, Template};
use evalrig_core::syntax::fields::{Field, Shape};

use crate::agent::Agent;
use crate::agent::chat::ChatCompletions;
use crate::agent::price::PriceSource;
use crate::agent::service::ServiceOptions;
use crate::setting::{ConnectContext, FilesMode, Secret, option, unusable};

use super::{ArmSetting, MODEL, Provider, ProviderSettings};

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
const BASE_URL: &str = "https://api.openai.com/v1";

/// Holds the key of a target without `api_key`.
const KEY_VARIABLE: &str = "OPENAI_API_KEY";

static FIELDS: &[Field] = &[
    Field::new(
        "base_url",
        Shape::NonEmptyText,
        "base URL of the service; default `https://api.openai.com/v1`",
    )
    .also(&["endpoint"]),
    Field::new("api_key", Shape::Text, "API key; use `${{ VAR }}`. Default: `$OPENAI_API_KEY`"),
    MODEL.required(),
    Field::new("headers", Shape::MapOf(&Shape::Text), "headers added to every request"),
];

#[derive(Debug, Clone, PartialEq)]
struct OpenAi {
    service: ServiceOptions,
    headers: Vec<(String, Secret)>,
}

impl ProviderSettings for OpenAi {
    fn model(&self) -> Option<&Template> {
        Some(&self.service.model)
    }

    fn arm_settings(&self) -> &'static [ArmSetting] {
        &[ArmSetting::Model]
    }

    fn connect(&self, context: &ConnectContext<'_>) -> Result<Box<dyn Agent>, Diagnostic> {
        let service = &self.service;
        let base = service.base_url(BASE_URL, context)?;
        let mut endpoint = service.endpoint(&base, &["chat", "completions"], context)?;
        service.add_key(&mut endpoint, "authorization", "Bearer ", context)?;
        for (name, value) in &self.headers {
            let sent = endpoint.secret_header(name, "", &context.text(&value.0)?);
            sent.map_err(|reason| unusable(value.0.span(), format!("header `{name}` {reason}")))?;
        }
        service.agent(ChatCompletions, endpoint, PriceSource::at(&base), context)
    }
}

fn read(options: &mut Options<'_, '_, '_>) -> ReadResult<Box<dyn ProviderSettings>> {
    let service = ServiceOptions::read(options, KEY_VARIABLE);
    let headers = option::secret_map(options, "headers");
    Ok(Box::new(OpenAi { service: service?, headers: headers? }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::target::testing::{faults, settings};

    #[test]
    fn an_endpoint_is_a_base_url() {
        let read: OpenAi = settings("provider: openai, endpoint: \"http://x\", model: m");
        assert_eq!(read.service.base_url.as_ref().unwrap().raw(), "http://x");
        assert_eq!(ProviderSettings::model(&read).unwrap().raw(), "m");
        assert_eq!(read.service.api_key, None);
    }

    #[test]
    fn headers_keep_their_order_and_their_references() {
        let read: OpenAi =
            settings("provider: openai, model: m, headers: {B: \"${{ X }}\", A: plain}");
        let headers: Vec<_> =
            read.headers.iter().map(|(name, value)| (name.as_str(), value.0.raw())).collect();
        assert_eq!(headers, [("B", "${{ X }}"), ("A", "plain")]);
    }

    #[test]
    fn the_model_is_required() {
        assert_eq!(faults("provider: openai"), ["`openai` needs `model`"]);
        let found = faults("provider: openai, model: m, base_url: \"\"");
        assert_eq!(found, ["`base_url` is empty"]);
    }
}
