//! `azure`: a deployment of Azure OpenAI.

use evalrig_core::diagnostic::Diagnostic;
use evalrig_core::reader::{Options, ReadResult, Template};
use evalrig_core::syntax::fields::{Field, Shape};

use crate::agent::Agent;
use crate::agent::chat::ChatCompletions;
use crate::agent::price::PriceSource;
use crate::agent::service::ServiceOptions;
use crate::setting::{ConnectContext, FilesMode, option};

use super::{ArmSetting, Provider, ProviderSettings};

pub static PROVIDER: Provider = Provider {
    name: "azure",
    fields: FIELDS,
    retries: 2,
    files: FilesMode::Inline,
    key_variables: &[KEY_VARIABLE],
    doc: r#"Sends the messages to the chat completions API of a deployment, with the key in the `api-key` header.

```yaml
targets:
  - name: default
    provider: azure
    endpoint: "${{ AZURE_OPENAI_ENDPOINT }}"
    api_key: "${{ AZURE_OPENAI_API_KEY }}"
    deployment: gpt-4o
    api_version: 2024-10-21
```
"#,
    read,
};

/// Default of `api_version`.
const API_VERSION: &str = "2024-10-21";

/// Holds the key of a target without `api_key`.
const KEY_VARIABLE: &str = "AZURE_OPENAI_API_KEY";

static FIELDS: &[Field] = &[
    Field::new(
        "endpoint",
        Shape::NonEmptyText,
        "URL of the resource, such as `https://name.openai.azure.com`",
    )
    .required(),
    Field::new(
        "api_key",
        Shape::Text,
        "API key; use `${{ VAR }}`. Default: `$AZURE_OPENAI_API_KEY`",
    ),
    Field::new("deployment", Shape::NonEmptyText, "name of the deployment")
        .also(&["model"])
        .required(),
    Field::new("api_version", Shape::NonEmptyText, "API version; default `2024-10-21`")
        .also(&["version"]),
];

#[derive(Debug, Clone, PartialEq)]
struct Azure {
    /// `endpoint` is its base URL, and `deployment` its model.
    service: ServiceOptions,
    /// `None` is [`API_VERSION`].
    api_version: Option<Template>,
}

impl ProviderSettings for Azure {
    fn model(&self) -> Option<&Template> {
        Some(&self.service.model)
    }

    fn arm_settings(&self) -> &'static [ArmSetting] {
        &[ArmSetting::Model]
    }

    fn connect(&self, context: &ConnectContext<'_>) -> Result<Box<dyn Agent>, Diagnostic> {
        let service = &self.service;
        let base = service.base_url("", context)?;
        let deployment = context.model(Some(&service.model))?.unwrap_or_default();
        let version = context.optional(self.api_version.as_ref())?;
        let segments = ["openai", "deployments", &deployment, "chat", "completions"];
        let mut endpoint = service.endpoint(&base, &segments, context)?;
        endpoint.query("api-version", version.as_deref().unwrap_or(API_VERSION));
        service.add_key(&mut endpoint, "api-key", "", context)?;
        let prices = PriceSource::Named("azure");
        service.agent(ChatCompletions, endpoint, prices, context)
    }
}

fn read(options: &mut Options<'_, '_, '_>) -> ReadResult<Box<dyn ProviderSettings>> {
    let endpoint = option::required_template(options, "endpoint");
    let api_key = option::api_key(options, KEY_VARIABLE);
    let deployment = option::required_template(options, "deployment");
    let api_version = option::full_template(options, "api_version");
    Ok(Box::new(Azure {
        service: ServiceOptions {
            base_url: Some(endpoint?),
            api_key: api_key?,
            is_key_required: true,
            model: deployment?,
        },
        api_version: api_version?,
    }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::target::testing::{faults, settings};

    #[test]
    fn a_model_is_a_deployment_and_a_version_an_api_version() {
        let read: Azure = settings("provider: azure, endpoint: e, model: d, version: v1");
        assert_eq!(read.service.model.raw(), "d");
        assert_eq!(read.api_version.unwrap().raw(), "v1");
    }

    #[test]
    fn both_required_options_are_reported() {
        let expected = ["`azure` needs `endpoint`", "`azure` needs `deployment`"];
        assert_eq!(faults("provider: azure"), expected);
    }
}
