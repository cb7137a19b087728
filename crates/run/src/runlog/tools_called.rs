//! Tool calls as one line each, as in the summary: `greet(name='Alice', n=1)`.

use std::sync::LazyLock;

use evalrig_core::model::{Call, Map, Number, Value};
use regex::Regex;

/// Longer values are cut and end in `...`.
const LONGEST: usize = 50;

/// Characters that Python escapes in `repr`: separators, controls and unassigned code points.
static UNPRINTABLE: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"[\p{C}\p{Z}--\x20]").expect("the pattern is correct"));

/// One line per call, in order.
pub fn tools_called(calls: &[Call]) -> Vec<String> {
    let shown = calls.iter().map(|call| shown_call(&call.tool, &call.args));
    shown.collect()
}

/// One call (spec 13.3). Arguments that are not an object are omitted.
pub fn shown_call(tool: &str, args: &Value) -> String {
    let arguments = match args {
        Value::Map(map) => shown_arguments(map),
        _ => String::new(),
    };
    format!("{tool}({arguments})")
}

fn shown_arguments(map: &Map) -> String {
    let shown = map.iter().map(|(name, value)| match value {
        // Not escaped, for readability.
        Value::String(text) => format!("{name}='{}'", cut_value(text.clone())),
        other => format!("{name}={}", cut_value(python_repr(other))),
    });
    shown.collect::<Vec<_>>().join(", ")
}

fn cut_value(mut text: String) -> String {
    if let Some((end, _)) = text.char_indices().nth(LONGEST) {
        text.truncate(end);
        text.push_str("...");
    }
    text
}

/// A value as `repr` shows it.
fn python_repr(value: &Value) -> String {
    match value {
        Value::Null => "None".to_owned(),
        Value::Bool(true) => "True".to_owned(),
        Value::Bool(false) => "False".to_owned(),
        Value::Number(number) => python_number(number),
        Value::String(text) => python_string(text),
        Value::List(items) => {
            let items: Vec<String> = items.iter().map(python_repr).collect();
            format!("[{}]", items.join(", "))
        }
        Value::Map(map) => {
            let entry = |(key, value)| format!("{}: {}", python_string(key), python_repr(value));
            let entries: Vec<String> = map.iter().map(entry).collect();
            format!("{{{}}}", entries.join(", "))
        }
    }
}

fn python_number(number: &Number) -> String {
    let text = number.text();
    if !text.contains(['.', 'e', 'E']) {
        return if text == "-0" { "0" } else { text }.to_owned();
    }
    let value = number.value();
    let shown = format!("{value:?}");
    // Python writes exponents with a sign and two digits.
    match shown.split_once('e') {
        None if value.abs() < 1e-4 && value != 0.0 => exponent_form(&format!("{value:e}")),
        None => shown,
        Some(_) => exponent_form(&shown),
    }
}

fn exponent_form(shown: &str) -> String {
    let Some((digits, power)) = shown.split_once('e') else {
        return shown.to_owned();
    };
    let digits = digits.trim_end_matches(".0");
    match power.strip_prefix('-') {
        Some(power) => format!("{digits}e-{power:0>2}"),
        None => format!("{digits}e+{power:0>2}"),
    }
}

fn python_string(text: &str) -> String {
    let quote = if text.contains('\'') && !text.contains('"') { '"' } else { '\'' };
    let mut out = String::with_capacity(text.len() + 2);
    out.push(quote);
    for character in text.chars() {
        match character {
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            same if same == quote => {
                out.push('\\');
                out.push(same);
            }
            printable if !is_unprintable(printable) => out.push(printable),
            unprintable => out.push_str(&escaped(u32::from(unprintable))),
        }
    }
    out.push(quote);
    out
}

fn is_unprintable(character: char) -> bool {
    !matches!(character, ' '..='~') && UNPRINTABLE.is_match(character.encode_utf8(&mut [0; 4]))
}

fn escaped(code: u32) -> String {
    match code {
        0..=0xff => format!("\\x{code:02x}"),
        0x100..=0xffff => format!("\\u{code:04x}"),
        _ => format!("\\U{code:08x}"),
    }
}

#[cfg(test)]
mod tests {
    use evalrig_core::syntax::json_value;

    use super::*;

    fn shown(args: &str) -> String {
        shown_call("f", &json_value(args).unwrap())
    }

    #[test]
    fn values_look_as_in_python() {
        for (args, call) in [
            (r#"{"name":"Alice"}"#, "f(name='Alice')"),
            (r#"{"k":"v","n":1}"#, "f(k='v', n=1)"),
            (r#"{"a":true,"b":false,"c":null}"#, "f(a=True, b=False, c=None)"),
            (r#"{"m":{"a":1},"l":[1,"x"]}"#, "f(m={'a': 1}, l=[1, 'x'])"),
            (r#"{"t":"it's\n\"so\""}"#, "f(t='it's\n\"so\"')"),
            (r#"{"l":["it's","a\nb","\"'","\u0001"]}"#, r#"f(l=["it's", 'a\nb', '"\'', '\x01'])"#),
            (
                r#"{"l":["\u00a0\u00ad\u200b\ue000","é写\u2192","\udb40\udc01"]}"#,
                r"f(l=['\xa0\xad\u200b\ue000', 'é写→', '\U000e0001'])",
            ),
            ("{}", "f()"),
            ("[1]", "f()"),
            ("\"text\"", "f()"),
        ] {
            assert_eq!(shown(args), call, "{args}");
        }
    }

    #[test]
    fn numbers_look_as_in_python() {
        for (json, python) in [
            ("1", "1"),
            ("-0", "0"),
            ("1.50", "1.5"),
            ("1.0", "1.0"),
            ("1e3", "1000.0"),
            ("1e16", "1e+16"),
            ("0.00001", "1e-05"),
            ("0.0001", "0.0001"),
            ("1.5e-7", "1.5e-07"),
            ("0.00005", "5e-05"),
            ("12345678901234567890", "12345678901234567890"),
        ] {
            assert_eq!(python_number(&Number::parse(json).unwrap()), python);
        }
    }

    #[test]
    fn long_values_are_cut_after_fifty_characters() {
        let long = "é".repeat(60);
        let cut = format!("f(t='{}...')", "é".repeat(50));
        assert_eq!(shown(&format!(r#"{{"t":"{long}"}}"#)), cut);
        let exact = "a".repeat(50);
        let whole = format!("f(t='{exact}')");
        assert_eq!(shown(&format!(r#"{{"t":"{exact}"}}"#)), whole);
        let list = shown(&format!("{{\"l\":[{}1]}}", "1,".repeat(40)));
        assert_eq!(list, format!("f(l=[{}1...)", "1, ".repeat(16)));
    }
}
