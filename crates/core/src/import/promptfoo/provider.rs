//! Providers of promptfoo → targets of a targets file (spec 9).

use crate::model::{Map, Value};

use super::super::importer::Importer;
use super::super::located::Located;
use super::super::suite_draft::{SuiteDraft, slug};
use super::foo_test::FooTest;
use super::service::service_target;

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

/// The name of the target that stands for a provider; `None` if it has no counterpart.
fn add_provider(
    importer: &mut Importer<'_>,
    draft: &mut SuiteDraft,
    provider: &Located,
) -> Option<String> {
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
    let name = label.and_then(Located::text).unwrap_or_else(|| name_of(&id));
    if let Some(known) = importer.request.targets {
        if !known.contains(&name) {
            let message = format!("the targets file has no target `{name}` for `{id}`");
            importer.loss("provider", provider.span, message);
            return None;
        }
        return Some(name);
    }
    let is_there = draft.targets.iter().any(|target| {
        target.as_map().and_then(|map| map.get("name")).and_then(Value::as_str)
            == Some(name.as_str())
    });
    if is_there {
        return Some(name);
    }
    let mut taken: &[&str] = &[];
    let made = match service_target(&id, config) {
        Some(made) => made.map(|service| {
            taken = service.taken;
            service.target
        }),
        None => target(&id).ok_or("no provider does the same"),
    };
    let mut target = match made {
        Ok(target) => target,
        Err(reason) => {
            let message = format!("`{id}` has no counterpart among the targets: {reason}");
            importer.loss("provider", provider.span, message);
            return None;
        }
    };
    if id.starts_with("exec:") {
        let message = "its program is started only from a converted suite";
        importer.note_code(provider.span, message);
    }
    let mut map = Map::new().with("name", name.as_str());
    let options = config.map(Located::entries).unwrap_or_default();
    let mut request = Map::new();
    for option in options {
        let key = option.key.as_str();
        match key {
            _ if taken.contains(&key) => {}
            "apiBaseUrl" | "baseUrl" => target.insert("base_url", option.value.value()),
            "apiKeyEnvar" => {
                let variable = option.value.text().unwrap_or_default();
                target.insert("api_key", format!("${{{{ {variable} }}}}"));
            }
            _ if REQUEST_OPTIONS.contains(&key) => request.insert(key, option.value.value()),
            "apiKey" => {
                let message = "the key is left out: evalrig reads it from the environment";
                importer.loss("provider", option.key_span, message);
            }
            _ => {
                let message = format!("`{key}` of `{id}` is left out");
                importer.loss("provider", option.key_span, message);
            }
        }
    }
    for (key, value) in target {
        map.insert(key, value);
    }
    if !request.is_empty() {
        map.insert("config", request);
    }
    draft.targets.push(map.into());
    Some(name)
}

/// The last part of the id, or all of it.
fn name_of(id: &str) -> String {
    let last = id.rsplit([':', '/']).next().unwrap_or(id);
    let named = slug(if last.is_empty() { id } else { last });
    if named.is_empty() { "target".to_owned() } else { named }
}

fn target(id: &str) -> Option<Map> {
    let made = |provider: &str| Map::new().with("provider", provider);
    if id == "echo" {
        // It answers with the prompt.
        return Some(made("cli").with("command", vec![Value::from("cat")]));
    }
    let (service, rest) = id.split_once(':')?;
    let (kind, model) = match rest.split_once(':') {
        Some((kind, model)) => (kind, model),
        None => ("", rest),
    };
    let is_chat = matches!(kind, "" | "chat" | "responses" | "messages" | "completion");
    let model_or_all = if is_chat { model } else { rest };
    match service {
        "openai" if is_chat => Some(made("openai").with("model", model)),
        "anthropic" if is_chat => Some(made("anthropic").with("model", model)),
        "exec" => {
            let command: Vec<Value> = rest.split_whitespace().map(Value::from).collect();
            let command = command.into_iter().chain([Value::from("{PROMPT}")]).collect::<Vec<_>>();
            Some(made("cli").with("command", command).with("stdin", "none"))
        }
        _ => {
            let (_, address, key) = COMPATIBLE.iter().find(|(name, ..)| *name == service)?;
            let map = made("openai").with("base_url", *address).with("model", model_or_all);
            Some(map.with("api_key", format!("${{{{ {key} }}}}")))
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
        let named = name_of(wanted);
        let known: Vec<String> = match importer.request.targets {
            Some(names) => names.to_vec(),
            None => draft.targets.iter().filter_map(target_name).collect(),
        };
        let found = known.iter().find(|name| *name == wanted || **name == named);
        if let Some(found) = found {
            return Some(found.clone());
        }
    }
    importer.loss(
        "provider",
        filter.span,
        "that this test runs on some providers only is left out",
    );
    None
}

fn target_name(target: &Value) -> Option<String> {
    Some(target.as_map()?.get("name")?.as_str()?.to_owned())
}

/// The model that grades becomes the judge of the targets file.
pub(super) fn use_grader(importer: &mut Importer<'_>, draft: &mut SuiteDraft, grader: &Located) {
    let grader = grader.get("text").unwrap_or(grader);
    if importer.request.targets.is_some() {
        let message = "the grader is left out: the targets file names the judge";
        importer.loss("judge", grader.span, message);
        return;
    }
    let before = draft.targets.len();
    let Some(name) = add_provider(importer, draft, grader) else { return };
    match &draft.judge {
        None => draft.judge = Some(name),
        Some(known) if *known == name => {}
        Some(known) => {
            let message = format!("`{known}` judges, not `{name}`");
            importer.loss("judge", grader.span, message);
            draft.targets.truncate(before);
        }
    }
}
