//! How an agent is told which model to use: by what it offers when a session is opened.

use evalrig_core::model::{Map, Value};

/// The method and the parameters; `None` if the agent leaves no choice.
pub(super) fn model_request(
    opened: &Map,
    session: &str,
    model: &str,
) -> Option<(&'static str, Map)> {
    let params = Map::new().with("sessionId", session);
    let options = opened.get("configOptions").and_then(Value::as_list).unwrap_or_default();
    let mut options = options.iter().filter_map(Value::as_map);
    let text = |option: &Map, key: &str| option.get(key).and_then(Value::as_str).map(str::to_owned);
    let chosen = options.find(|option| text(option, "category").as_deref() == Some("model"));
    if let Some(id) = chosen.and_then(|option| text(option, "id")) {
        let params = params.with("configId", id).with("value", model);
        return Some(("session/set_config_option", params));
    }
    let has_models = opened.get("models").and_then(Value::as_map).is_some();
    has_models.then(|| ("session/set_model", params.with("modelId", model)))
}

#[cfg(test)]
mod tests {
    use evalrig_core::model::JsonStyle;
    use evalrig_core::syntax::json_value;

    use super::*;

    #[test]
    fn an_agent_is_asked_in_its_own_way() {
        for (opened, expected) in [
            (r#"{"sessionId":"s"}"#, None),
            (r#"{"configOptions":[{"id":"mode","category":"mode"}]}"#, None),
            (
                r#"{"models":{"availableModels":[]}}"#,
                Some(r#"session/set_model {"sessionId":"s","modelId":"m"}"#),
            ),
            (
                r#"{"models":{},"configOptions":[{"id":"mode"},{"id":"which","category":"model"}]}"#,
                Some(
                    r#"session/set_config_option {"sessionId":"s","configId":"which","value":"m"}"#,
                ),
            ),
        ] {
            let opened = json_value(opened).unwrap();
            let found =
                model_request(opened.as_map().unwrap(), "s", "m").map(|(method, params)| {
                    format!("{method} {}", Value::Map(params).to_json(JsonStyle::Compact))
                });
            assert_eq!(found.as_deref(), expected);
        }
    }
}
