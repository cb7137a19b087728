//! Templates of other tools (Nunjucks and its relatives), rendered as JavaScript would: numbers, lists
//! and missing values become the texts that those tools send.

use std::sync::{Arc, LazyLock};

use minijinja::value::{Enumerator, Object, ValueKind};
use minijinja::{Environment, Error, Output, UndefinedBehavior, syntax::SyntaxConfig};

use crate::model::{JsonStyle, Map, Number, Value};

type TemplateValue = minijinja::Value;

/// Bounds the work of a hostile template.
const FUEL: u64 = 1_000_000;

/// Rendered text beyond this is refused.
const LONGEST: usize = 10 * 1024 * 1024;

static ENVIRONMENT: LazyLock<Environment<'static>> = LazyLock::new(|| {
    let mut environment = Environment::new();
    environment.set_undefined_behavior(UndefinedBehavior::Chainable);
    environment.set_fuel(Some(FUEL));
    environment.set_formatter(|out: &mut Output<'_>, _: &mut _, value| {
        out.write_str(&js_text(value)).map_err(Error::from)
    });
    if let Ok(syntax) = SyntaxConfig::builder().keep_trailing_newline(true).build() {
        environment.set_syntax(syntax);
    }
    environment.add_filter("dump", |value: &TemplateValue| {
        from_template(value).to_json(JsonStyle::Compact)
    });
    environment.add_filter("string", |value: &TemplateValue| js_text(value));
    environment.add_filter("load", |text: &str| match crate::syntax::json_value(text) {
        Some(value) => to_template(&value),
        None => TemplateValue::from(text),
    });
    environment
});

/// The parser calls itself for each of them.
const MOST_SIGNS: usize = 400;

/// Renders a template. The error is one line for people.
pub(super) fn render(template: &str, vars: &Map) -> Result<String, String> {
    if !template.contains("{{") && !template.contains("{%") && !template.contains("{#") {
        return Ok(template.to_owned());
    }
    if signs_in_a_row(template) > MOST_SIGNS {
        return Err(format!("more than {MOST_SIGNS} signs follow each other"));
    }
    let context = TemplateValue::from_object(TemplateData(vars.clone()));
    match ENVIRONMENT.render_str(template, context) {
        Ok(text) if text.len() > LONGEST => Err("the text is longer than 10 MiB".to_owned()),
        Ok(text) => Ok(text),
        Err(error) => Err(error.detail().unwrap_or("it cannot be read").to_owned()),
    }
}

/// The longest run of `-` and `not`, in tags or not: where a tag ends is known to the parser alone.
fn signs_in_a_row(template: &str) -> usize {
    let (mut longest, mut run) = (0, 0);
    let mut rest = template;
    while let Some(first) = rest.chars().next() {
        let (width, is_sign) = match first {
            '-' => (1, true),
            'n' if rest.starts_with("not") => (3, true),
            _ => (first.len_utf8(), false),
        };
        run = match (is_sign, first.is_whitespace()) {
            (true, _) => run + 1,
            (false, true) => run,
            (false, false) => 0,
        };
        longest = longest.max(run);
        rest = &rest[width..];
    }
    longest
}

/// The names that a template inserts, if it does nothing else: no filters, conditions or loops.
pub(super) fn plain_references(template: &str) -> Option<Vec<&str>> {
    if template.contains("{%") || template.contains("{#") {
        return None;
    }
    let mut names = Vec::new();
    let mut rest = template;
    while let Some((_, behind)) = rest.split_once("{{") {
        let (inside, after) = behind.split_once("}}")?;
        let name = inside.trim();
        if !is_reference(name) || after.starts_with('}') {
            return None;
        }
        names.push(name);
        rest = after;
    }
    (!rest.contains("}}")).then_some(names)
}

fn is_reference(name: &str) -> bool {
    let mut steps = name.split('.');
    let is_name = |step: &str| {
        let mut letters = step.chars();
        letters.next().is_some_and(|first| first.is_ascii_alphabetic() || first == '_')
            && letters.all(|letter| letter.is_ascii_alphanumeric() || letter == '_')
    };
    let is_index = |step: &str| !step.is_empty() && step.bytes().all(|byte| byte.is_ascii_digit());
    steps.next().is_some_and(is_name) && steps.all(|step| is_name(step) || is_index(step))
}

/// Whether a tag is opened and never closed; Nunjucks would refuse the text, and promptfoo takes it
/// literally.
pub(super) fn has_open_tag(text: &str) -> bool {
    if text.contains("endraw") {
        return false;
    }
    [("{{", "}}"), ("{%", "%}"), ("{#", "#}")].iter().any(|(open, close)| {
        text.rsplit_once(open).is_some_and(|(_, behind)| !behind.contains(close))
    })
}

/// As `String(value)` in JavaScript.
pub(super) fn js_string(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::Bool(value) => value.to_string(),
        Value::Number(number) => js_number(number.value()),
        Value::String(text) => text.clone(),
        Value::List(items) => items.iter().map(js_string).collect::<Vec<_>>().join(","),
        Value::Map(_) => "[object Object]".to_owned(),
    }
}

/// The shortest text of a number; whole numbers have no point.
pub(super) fn js_number(value: f64) -> String {
    if value == 0.0 { "0".to_owned() } else { value.to_string() }
}

fn js_text(value: &TemplateValue) -> String {
    match value.kind() {
        ValueKind::Undefined | ValueKind::None => String::new(),
        _ => js_string(&from_template(value)),
    }
}

fn to_template(value: &Value) -> TemplateValue {
    match value {
        Value::Null => ().into(),
        Value::Bool(value) => (*value).into(),
        Value::Number(number) => match number.text().parse::<i64>() {
            Ok(whole) => whole.into(),
            Err(_) => number.value().into(),
        },
        Value::String(text) => text.as_str().into(),
        Value::List(items) => items.iter().map(to_template).collect(),
        Value::Map(map) => TemplateValue::from_object(TemplateData(map.clone())),
    }
}

fn from_template(value: &TemplateValue) -> Value {
    match value.kind() {
        ValueKind::Undefined | ValueKind::None => Value::Null,
        ValueKind::Bool => Value::Bool(value.is_true()),
        ValueKind::Number => match value.as_i64() {
            Some(whole) => Number::parse(&whole.to_string()),
            None => f64::try_from(value.clone()).ok().and_then(|n| Number::parse(&js_number(n))),
        }
        .map_or(Value::Null, Value::Number),
        ValueKind::String => value.as_str().unwrap_or_default().into(),
        ValueKind::Map => match value.downcast_object_ref::<TemplateData>() {
            Some(data) => Value::Map(data.0.clone()),
            None => {
                let keys = value.try_iter().into_iter().flatten();
                let entries = keys.map(|key| {
                    let inner = value.get_item(&key).unwrap_or_default();
                    (js_text(&key), from_template(&inner))
                });
                Value::Map(entries.collect::<Map>())
            }
        },
        ValueKind::Seq | ValueKind::Iterable => Value::List(
            value.try_iter().into_iter().flatten().map(|one| from_template(&one)).collect(),
        ),
        _ => value.to_string().into(),
    }
}

/// Keeps the order of keys, which a map of the engine would not.
#[derive(Debug)]
struct TemplateData(Map);

impl Object for TemplateData {
    fn get_value(self: &Arc<Self>, key: &TemplateValue) -> Option<TemplateValue> {
        self.0.get(key.as_str()?).map(to_template)
    }

    fn enumerate(self: &Arc<Self>) -> Enumerator {
        let keys = self.0.iter().map(|(key, _)| TemplateValue::from(key));
        Enumerator::Values(keys.collect())
    }
}

#[cfg(test)]
mod tests {
    use super::super::located::testing::located;
    use super::*;

    fn rendered(template: &str, vars: &str) -> String {
        render(template, &located(vars).map()).unwrap()
    }

    #[test]
    fn endless_signs_are_refused() {
        for sign in ["-", "- ", "not "] {
            let text = format!("{{{{ \"}}}}\" ~ {} x }}}}", sign.repeat(100_000));
            let error = render(&text, &Map::new()).unwrap_err();
            assert_eq!(error, "more than 400 signs follow each other");
        }
        assert_eq!(render("{{ - - 1 }} ---", &Map::new()).unwrap(), "1 ---");
    }

    #[test]
    fn values_are_inserted_as_javascript_would() {
        let vars =
            "{a: x, n: 1.50, big: 1e21, yes: true, none: ~, list: [1, b, ~], map: {k: 1, a: [2]}}";
        for (template, text) in [
            ("{{a}} {{ n }} {{yes}}", "x 1.5 true"),
            ("[{{none}}{{missing}}{{missing.deep}}]", "[]"),
            ("{{list}}", "1,b,"),
            ("{{map}}", "[object Object]"),
            ("{{map | dump}}", r#"{"k":1,"a":[2]}"#),
            ("{{map.k}}{{map.a[0]}}{{list[1]}}", "12b"),
            ("{{a | upper}}{{ missing | default('d') }}", "Xd"),
            ("{% if yes %}1{% else %}2{% endif %}\n", "1\n"),
            ("{% for one in list %}<{{ one }}>{% endfor %}", "<1><b><>"),
            ("{% raw %}{{ a }}{% endraw %}{# no #}", "{{ a }}"),
            ("{a} { {a} }", "{a} { {a} }"),
        ] {
            assert_eq!(rendered(template, vars), text, "{template}");
        }
    }

    #[test]
    fn what_cannot_be_rendered_is_an_error() {
        for template in [
            "{{ a | nosuchfilter }}",
            "{{ a",
            "{% if %}",
            "{% for x in range(99999) %}{% for y in range(99999) %}{% endfor %}{% endfor %}",
        ] {
            assert!(render(template, &Map::new()).is_err(), "{template}");
        }
    }

    #[test]
    fn plain_references_are_told_from_templates() {
        assert_eq!(plain_references("Hi {{ a }} {{b.c.0}}"), Some(vec!["a", "b.c.0"]));
        assert_eq!(plain_references("no braces"), Some(vec![]));
        for other in
            ["{{ a | upper }}", "{% if a %}{% endif %}", "{{ a", "{{ 1a }}", "{{{a}}}", "a }}"]
        {
            assert_eq!(plain_references(other), None, "{other}");
        }
    }

    #[test]
    fn numbers_have_their_shortest_text() {
        for (number, text) in [(1.0, "1"), (0.5, "0.5"), (-0.0, "0"), (100.0, "100")] {
            assert_eq!(js_number(number), text);
        }
    }
}
