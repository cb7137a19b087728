//! Services of promptfoo that are configured by hand: `http` and `azure` → targets of these providers.

use crate::model::{Map, Value};
use crate::syntax::json_value;

use super::super::located::Located;

/// A target, and the options that it has taken over.
pub(super) struct ServiceTarget {
    pub(super) target: Map,
    pub(super) taken: &'static [&'static str],
}

/// `None` for any other provider; an error says why it has no counterpart.
pub(super) fn service_target(
    id: &str,
    config: Option<&Located>,
) -> Option<Result<ServiceTarget, &'static str>> {
    let is_http = matches!(id, "http" | "https");
    if is_http || id.starts_with("http://") || id.starts_with("https://") {
        return Some(http(if is_http { None } else { Some(id) }, config));
    }
    let (service, rest) = id.split_once(':')?;
    matches!(service, "azure" | "azureopenai").then(|| azure(rest, config))
}

fn http(address: Option<&str>, config: Option<&Located>) -> Result<ServiceTarget, &'static str> {
    let option = |key: &str| config.and_then(|config| config.get(key));
    let text = |key: &str| option(key).and_then(Located::text);
    let Some(url) = text("url").or_else(|| address.map(str::to_owned)) else {
        return Err("it has no `url`");
    };
    let Some(written) = option("body") else {
        return Err("it sends no `body`, and the provider `http` sends one");
    };
    let method = text("method").unwrap_or_else(|| "POST".to_owned()).to_ascii_uppercase();
    if !matches!(method.as_str(), "POST" | "PUT" | "PATCH") {
        return Err("the provider `http` sends POST, PUT or PATCH");
    }
    let body = match written.as_str() {
        Some(text) => json_value(text),
        None => Some(written.value()),
    };
    let body = body.filter(|body| body.as_map().is_some()).and_then(|body| with_prompt(&body));
    let Some(body) = body else {
        return Err("its `body` is not a mapping in which only `{{prompt}}` is inserted");
    };
    let parser = text("transformResponse").or_else(|| text("responseParser"));
    let Some(answer) = parser.as_deref().and_then(answer_path) else {
        return Err("its `transformResponse` is not a plain path such as `json.result.text`");
    };
    let mut target = Map::new().with("provider", "http").with("url", env_references(&url));
    if method != "POST" {
        target.insert("method", method);
    }
    let headers = option("headers").map(Located::map).unwrap_or_default();
    let headers = headers.iter().filter_map(|(name, value)| {
        Some((name.to_owned(), Value::from(env_references(value.as_str()?))))
    });
    let headers: Map = headers.collect();
    if !headers.is_empty() {
        target.insert("headers", headers);
    }
    let taken = &["url", "method", "headers", "body", "transformResponse", "responseParser"];
    Ok(ServiceTarget { target: target.with("body", body).with("answer", answer), taken })
}

fn azure(rest: &str, config: Option<&Located>) -> Result<ServiceTarget, &'static str> {
    let text = |key: &str| config.and_then(|config| config.get(key)).and_then(Located::text);
    let (kind, deployment) = rest.split_once(':').unwrap_or(("chat", rest));
    if kind != "chat" || deployment.is_empty() {
        return Err("only deployments of chat models have a counterpart");
    }
    let host = text("apiHost");
    let host = host.map(|host| if host.contains("://") { host } else { format!("https://{host}") });
    let endpoint = host
        .or_else(|| text("apiBaseUrl"))
        .map_or_else(|| "https://${{ AZURE_API_HOST }}".to_owned(), |host| env_references(&host));
    let variable = text("apiKeyEnvar").unwrap_or_else(|| "AZURE_API_KEY".to_owned());
    let target = Map::new()
        .with("provider", "azure")
        .with("endpoint", endpoint)
        .with("deployment", deployment)
        .with_some("api_version", text("apiVersion"))
        .with("api_key", format!("${{{{ {variable} }}}}"));
    Ok(ServiceTarget { target, taken: &["apiHost", "apiBaseUrl", "apiVersion", "apiKeyEnvar"] })
}

/// A text with each `{{ name }}` replaced, where there is something for the name.
fn replaced(text: &str, replace: impl Fn(&str) -> Option<String>) -> String {
    let mut made = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("{{") {
        made += before;
        let Some((inside, behind)) = after.split_once("}}") else {
            return made + "{{" + after;
        };
        let name = inside.trim_matches('-').trim();
        made += &replace(name).unwrap_or_else(|| format!("{{{{{inside}}}}}"));
        rest = behind;
    }
    made + rest
}

/// `{{env.NAME}}` as a targets file refers to a variable.
fn variable(name: &str) -> Option<String> {
    let name = name.strip_prefix("env.").filter(|name| is_name(name))?;
    Some(format!("${{{{ {name} }}}}"))
}

fn env_references(text: &str) -> String {
    replaced(text, variable)
}

/// A body whose only reference is the prompt.
fn with_prompt(value: &Value) -> Option<Value> {
    Some(match value {
        Value::String(text) => {
            let filled = replaced(text, |name| match name {
                "prompt" => Some("{{ prompt }}".to_owned()),
                _ => variable(name),
            });
            let rest = filled.replace("{{ prompt }}", "").replace("${{", "");
            if rest.contains("{{") || rest.contains("{%") {
                return None;
            }
            filled.into()
        }
        Value::List(items) => {
            Value::List(items.iter().map(with_prompt).collect::<Option<Vec<_>>>()?)
        }
        Value::Map(map) => {
            let mut made = Map::new();
            for (key, value) in map.iter() {
                made.insert(key, with_prompt(value)?);
            }
            made.into()
        }
        other => other.clone(),
    })
}

/// `json.a[0].b` as `$.a[0].b`.
fn answer_path(parser: &str) -> Option<String> {
    let path = parser.trim().strip_prefix("json")?.replace("?.[", "[").replace("?.", ".");
    let mut rest = path.as_str();
    while !rest.is_empty() {
        let end = rest.char_indices().skip(1).find(|(_, letter)| matches!(letter, '.' | '['));
        let (step, behind) = rest.split_at(end.map_or(rest.len(), |(at, _)| at));
        let is_step = match step.strip_prefix('.') {
            Some(name) => is_name(name),
            None => {
                let index = step.strip_prefix('[').and_then(|inner| inner.strip_suffix(']'));
                index.is_some_and(|index| index.parse::<u32>().is_ok())
            }
        };
        if !is_step {
            return None;
        }
        rest = behind;
    }
    (!path.is_empty()).then(|| format!("${path}"))
}

fn is_name(text: &str) -> bool {
    let is_part = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
    text.starts_with(|letter: char| letter.is_ascii_alphabetic() || letter == '_')
        && text.chars().all(is_part)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_paths_are_places_in_the_reply() {
        assert_eq!(
            answer_path("json.choices[0].message.content").as_deref(),
            Some("$.choices[0].message.content")
        );
        assert_eq!(answer_path(" json?.a?.[1] ").as_deref(), Some("$.a[1]"));
        for code in ["text", "json", "json.a + json.b", "(json) => json.a", "file://parser.js"] {
            assert_eq!(answer_path(code), None, "{code}");
        }
    }

    #[test]
    fn only_the_prompt_and_variables_of_the_environment_are_inserted() {
        let body = |text: &str| with_prompt(&text.into());
        assert_eq!(body("Ask: {{prompt}}"), Some("Ask: {{ prompt }}".into()));
        assert_eq!(body("{{ env.ORG }}"), Some("${{ ORG }}".into()));
        assert_eq!(body("{{ prompt | dump }}"), None);
        assert_eq!(body("{{ name }}"), None);
    }
}
