//! Providers of promptfoo → targets of a targets file (spec 9).

use crate::model::{Map, Value};
use crate::source::Span;

use super::super::importer::Importer;
use super::super::located::Located;
use super::super::suite_draft::{NamedProvider, SuiteDraft, slug};
use super::agent::{AGENTS, agent_target};
use super::foo_test::FooTest;
use super::service::{ServiceTarget, service_target};

/// Services that speak the API of OpenAI: prefix, address, variable of the key.
const COMPATIBLE: &[(&str, &str, &str)] = &[
    ("openrouter", "https://openrouter.ai/api/v1", "OPENROUTER_API_KEY"),
    ("groq", "https://api.groq.com/openai/v1", "GROQ_API_KEY"),
    ("mistral", "https://api.mistral.ai/v1", "MISTRAL_API_KEY"),
    ("deepseek", "https://api.deepseek.com/v1", "DEEPSEEK_API_KEY"),
    ("togetherai", "https://api.together.xyz/v1", "TOGETHER_API_KEY"),
    // These ask for no key, but a client has to send one: any text will do.
    ("ollama", "http://localhost:11434/v1", "OLLAMA_API_KEY"),
    ("localai", "http://localhost:8080/v1", "LOCALAI_API_KEY"),
];

/// Options that every chat API takes in its requests.
const REQUEST_OPTIONS: &[&str] = &[
    "temperature",
    "max_tokens",
    "max_completion_tokens",
    "top_p",
    "top_k",
    "stop",
    "seed",
    "frequency_penalty",
    "presence_penalty",
    "response_format",
    "reasoning_effort",
];

/// Writes the providers as targets, unless the suite will find a targets file already.
pub(super) fn read_providers(importer: &mut Importer<'_>, root: &Located, draft: &mut SuiteDraft) {
    let Some(providers) = root.first_of(&["providers", "targets"]) else { return };
    for provider in providers.one_or_more() {
        if let Some(name) = add_provider(importer, draft, provider)
            && !draft.answering.contains(&name)
        {
            draft.answering.push(name);
        }
        if let Some(prompts) = provider.get("prompts") {
            let message = "every target gets every prompt; choose tests with `--filter`";
            importer.loss("provider", prompts.span, message);
        }
    }
}

/// A provider as the configuration writes it.
struct WrittenProvider<'l> {
    id: String,
    label: Option<String>,
    config: Option<&'l Located>,
    span: Span,
}

/// The target that a provider becomes, and which of its options are left out.
struct MadeTarget {
    target: Map,
    left_out: Vec<(Span, String)>,
}

impl<'l> WrittenProvider<'l> {
    fn of(provider: &'l Located) -> Option<Self> {
        let (id, config, label) = match provider.entries() {
            [] => (provider.text()?, None, None),
            // `{openai:gpt-4o: {config}}`
            [only] if only.value.is_map() && only.key != "id" => {
                (only.key.clone(), only.value.get("config"), only.value.get("label"))
            }
            _ => (
                provider.get("id").and_then(Located::text)?,
                provider.get("config"),
                provider.get("label"),
            ),
        };
        let label = label.and_then(Located::text);
        Some(Self { id, label, config, span: provider.span })
    }

    /// The name that its target would like to have.
    fn wanted_name(&self) -> String {
        self.label.clone().unwrap_or_else(|| name_of(&self.id))
    }

    /// An error says why there is no counterpart.
    fn made(&self) -> Result<MadeTarget, &'static str> {
        if let Some(agent) = agent_target(&self.id, self.config) {
            return Ok(self.with_options(agent, OtherOptions::LeftOut));
        }
        match service_target(&self.id, self.config) {
            Some(service) => Ok(self.with_options(service?, OtherOptions::OfRequest)),
            None => {
                let service = ServiceTarget { target: target(&self.id)?, taken: &[] };
                Ok(self.with_options(service, OtherOptions::OfRequest))
            }
        }
    }

    fn with_options(&self, service: ServiceTarget, others: OtherOptions) -> MadeTarget {
        let ServiceTarget { mut target, taken } = service;
        let (mut request, mut left_out) = (Map::new(), Vec::new());
        for option in self.config.map(Located::entries).unwrap_or_default() {
            let key = option.key.as_str();
            match key {
                _ if taken.contains(&key) => {}
                "apiKey" => {
                    let message = "the key is left out: evalrig reads it from the environment";
                    left_out.push((option.key_span, message.to_owned()));
                }
                _ if others == OtherOptions::LeftOut => {
                    left_out
                        .push((option.key_span, format!("`{key}` of `{}` is left out", self.id)));
                }
                "apiBaseUrl" | "baseUrl" => target.insert("base_url", option.value.value()),
                "apiKeyEnvar" => {
                    let variable = option.value.text().unwrap_or_default();
                    target.insert("api_key", format!("${{{{ {variable} }}}}"));
                }
                _ if REQUEST_OPTIONS.contains(&key) => request.insert(key, option.value.value()),
                _ => {
                    left_out
                        .push((option.key_span, format!("`{key}` of `{}` is left out", self.id)));
                }
            }
        }
        if !request.is_empty() {
            target.insert("config", request);
        }
        MadeTarget { target, left_out }
    }

    /// What makes it another one than a provider of the same name.
    fn settings(&self, made: &Result<MadeTarget, &'static str>) -> Value {
        match made {
            Ok(made) => made.target.clone().into(),
            Err(_) => {
                let config = self.config.map(Located::value);
                Map::new().with("id", self.id.as_str()).with_some("config", config).into()
            }
        }
    }
}

/// What becomes of options that the target has no key for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum OtherOptions {
    /// Those that every chat API takes are sent along.
    OfRequest,
    LeftOut,
}

/// The name of the target that stands for a provider; `None` if it has no counterpart. Providers that differ
/// have different names, also where the targets file is there already.
fn add_provider(
    importer: &mut Importer<'_>,
    draft: &mut SuiteDraft,
    provider: &Located,
) -> Option<String> {
    let written = WrittenProvider::of(provider)?;
    let made = written.made();
    let (name, is_new) = draft.provider_name(NamedProvider {
        wanted_name: written.wanted_name(),
        id: written.id.clone(),
        label: written.label.clone(),
        settings: written.settings(&made),
    });
    if let Some(known) = importer.request.targets {
        if !known.contains(&name) {
            let message = format!("the targets file has no target `{name}` for `{}`", written.id);
            importer.loss("provider", provider.span, message);
            return None;
        }
        return Some(name);
    }
    let made = match made {
        Ok(made) => made,
        Err(reason) => {
            let id = &written.id;
            let message = format!("`{id}` has no counterpart among the targets: {reason}");
            importer.loss("provider", provider.span, message);
            return None;
        }
    };
    // What tests inherit is read for each of them.
    if draft.reported_providers.insert(written.span) {
        report_made(importer, &written, &made);
    }
    if is_new {
        let mut map = Map::new().with("name", name.as_str());
        for (key, value) in made.target {
            map.insert(key, value);
        }
        draft.targets.push(map.into());
    }
    Some(name)
}

/// What is left out, and whether the target is a program.
fn report_made(importer: &mut Importer<'_>, written: &WrittenProvider<'_>, made: &MadeTarget) {
    let provider = made.target.get("provider").and_then(Value::as_str).unwrap_or_default();
    if written.id.starts_with("exec:") || AGENTS.contains(&provider) {
        let message = "its program is started only from a converted suite";
        importer.note_code(written.span, message);
    }
    if AGENTS.contains(&provider) {
        let id = &written.id;
        let message = format!(
            "`{id}` is run as `{provider}`, with the tools and permissions of that program"
        );
        importer.loss("provider", written.span, message);
    }
    for (span, message) in &made.left_out {
        importer.loss("provider", *span, message.clone());
    }
}

/// The last part of the id, or all of it.
fn name_of(id: &str) -> String {
    let last = id.rsplit([':', '/']).next().unwrap_or(id);
    let named = slug(if last.is_empty() { id } else { last });
    if named.is_empty() { "target".to_owned() } else { named }
}

/// Parts of an id that name an API, not a model.
const OTHER_APIS: &[&str] = &[
    "agents",
    "assistant",
    "chatkit",
    "codex-app-server",
    "completion",
    "embedding",
    "embeddings",
    "image",
    "moderation",
    "realtime",
    "speech",
    "transcription",
    "tts",
    "video",
];

/// APIs of a service in which a chat model answers.
const CHAT_APIS: &[&str] = &["chat", "messages", "responses"];

/// The model that an id such as `openai:chat:gpt-4o` names behind its service.
fn chat_model(rest: &str) -> Result<&str, &'static str> {
    let (api, model) = match rest.split_once(':') {
        Some((api, model)) if CHAT_APIS.contains(&api) => (api, model),
        Some((api, _)) => (api, rest),
        None => (rest, if CHAT_APIS.contains(&rest) { "" } else { rest }),
    };
    if OTHER_APIS.contains(&api) {
        return Err("no provider speaks this API");
    }
    if model.is_empty() { Err("it names no model") } else { Ok(model) }
}

fn target(id: &str) -> Result<Map, &'static str> {
    const NO_PROVIDER: &str = "no provider does the same";
    let made = |provider: &str| Map::new().with("provider", provider);
    if id == "echo" {
        // It answers with the prompt.
        return Ok(made("cli").with("command", vec![Value::from("cat")]));
    }
    let (service, rest) = id.split_once(':').ok_or(NO_PROVIDER)?;
    match service {
        "openai" | "anthropic" => {
            let model = chat_model(rest)?;
            // Models of these services have no colon, except those that were fine-tuned.
            let is_model = !model.contains(':') || model.starts_with("ft:");
            let map = made(service).with("model", model);
            if is_model { Ok(map) } else { Err(NO_PROVIDER) }
        }
        "exec" => {
            let command: Vec<Value> = rest.split_whitespace().map(Value::from).collect();
            let command = command.into_iter().chain([Value::from("{PROMPT}")]).collect::<Vec<_>>();
            Ok(made("cli").with("command", command).with("stdin", "none"))
        }
        _ => {
            let known = COMPATIBLE.iter().find(|(name, ..)| *name == service);
            let (_, address, key) = known.ok_or(NO_PROVIDER)?;
            // Their models answer prompts of either kind.
            let rest = rest.strip_prefix("completion:").unwrap_or(rest);
            let model = chat_model(rest)?;
            let map = made("openai").with("base_url", *address).with("model", model);
            Ok(map.with("api_key", format!("${{{{ {key} }}}}")))
        }
    }
}

/// The provider of one test alone.
pub(super) fn target_of_test(
    importer: &mut Importer<'_>,
    draft: &mut SuiteDraft,
    test: &FooTest,
) -> Option<String> {
    if let Some(provider) = &test.provider {
        return add_provider(importer, draft, provider);
    }
    let filter = test.providers.as_ref()?;
    if let [only] = filter.items()
        && let Some(wanted) = only.as_str().filter(|wanted| !wanted.contains('*'))
    {
        let names = draft.names_of_provider(wanted);
        let is_target = |name: &&String| match importer.request.targets {
            Some(known) => known.contains(name),
            None => draft.targets.iter().any(|one| target_name(one) == Some(name.as_str())),
        };
        // Several with this id are no choice.
        if let [only] = names.as_slice()
            && is_target(&only)
        {
            return Some(only.clone());
        }
    }
    importer.loss(
        "provider",
        filter.span,
        "that this test runs on some providers only is left out",
    );
    None
}

fn target_name(target: &Value) -> Option<&str> {
    target.as_map()?.get("name")?.as_str()
}

/// The model that grades becomes the judge of the targets file.
pub(super) fn use_grader(importer: &mut Importer<'_>, draft: &mut SuiteDraft, grader: &Located) {
    let grader = grader.get("text").unwrap_or(grader);
    if importer.request.targets.is_some() {
        let message = "the grader is left out: the targets file names the judge";
        importer.loss("judge", grader.span, message);
        return;
    }
    let before = (draft.targets.len(), draft.providers.len());
    let Some(name) = add_provider(importer, draft, grader) else { return };
    match &draft.judge {
        None => draft.judge = Some(name),
        Some(known) if *known == name => {}
        Some(known) => {
            let message = format!("`{known}` judges, not `{name}`");
            importer.loss("judge", grader.span, message);
            draft.targets.truncate(before.0);
            draft.providers.truncate(before.1);
        }
    }
}
