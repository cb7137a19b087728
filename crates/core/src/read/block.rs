//! Content blocks of messages (spec 3.4).

use crate::diagnostic::{Diagnostic, declare_codes};
use crate::model::{Block, Image, from_base64};
use crate::reader::interpolate::Vars;
use crate::reader::{Reader, list_words, short_span, wrong_type};
use crate::source::Span;
use crate::syntax::fields::{Bound, Field, Shape, shorten};
use crate::syntax::{Node, Scalar};

use super::input::file_ref;

declare_codes! {
    BARE_STRING_BLOCK = "bare-string-block", Warning, Shape, r#"A list of blocks contains a plain string. It is read as a `text` block.

## Example
```yaml
name: demo
tests:
  - id: a
    criteria: Greets
    input:
      - {role: user, content: [Hi]}
```

## Instead
```yaml
name: demo
tests:
  - id: a
    criteria: Greets
    input:
      - {role: user, content: Hi}
```

## Why
Other tools that read the format reject it.
"#;
    INVALID_BLOCK_TYPE = "invalid-block-type", Blocking, Shape, r#"A content block's type is not `text`, `file`, `image` or `json`.

## Example
```yaml
name: demo
tests:
  - id: a
    criteria: Greets
    input:
      - role: user
        content:
          - {type: txt, value: Hi}
```

## Instead
```yaml
name: demo
tests:
  - id: a
    criteria: Greets
    input:
      - role: user
        content:
          - {type: text, value: Hi}
```

## Why
Leaving the block out would ask the agent something else.
"#;
    MISSING_VALUE = "missing-value", Blocking, Shape, r#"A content block has no `value`.

## Example
```yaml
name: demo
tests:
  - id: a
    criteria: Greets
    input:
      - role: user
        content:
          - {type: text}
```

## Instead
```yaml
name: demo
tests:
  - id: a
    criteria: Greets
    input:
      - role: user
        content:
          - {type: text, value: Hi}
```

## Why
The value is what is sent.
"#;
}

pub static BLOCK_FIELDS: &[Field] = &[
    Field::new("type", Shape::Choice(Block::TYPES), "what the block holds").required(),
    Field::new("value", Shape::Any, "text, path, image or JSON value").required(),
];

pub(super) fn read_block(reader: &mut Reader<'_>, node: Node<'_>) -> Option<Block> {
    if let Some(Scalar::Str(_)) = node.scalar() {
        let message = "a plain string in a list of blocks; it is read as a `text` block";
        let diagnostic = Diagnostic::new(&BARE_STRING_BLOCK, short_span(node), message);
        reader.report(diagnostic.help("write `{type: text, value: …}`"));
        let text = reader.templated_of("content", node)?;
        return Some(Block::Text(text.into_owned()));
    }
    if !node.is_mapping() {
        return reader.refuse(wrong_type(
            "an item of content",
            node,
            "a block: a mapping with `type` and `value`",
        ));
    }
    let bound = Bound::new(node, &[BLOCK_FIELDS], reader.out);
    let kind = block_type(reader, &bound)?;
    bound.report_unknown(&[BLOCK_FIELDS], reader.out);
    let Some(value) = bound.get("value").filter(|entry| kind == "json" || !entry.value.is_null())
    else {
        let message = format!("this `{kind}` block has no `value`");
        let help = match bound.node.get(kind) {
            Some(_) => format!("write `value` instead of `{kind}`"),
            None => "add `value`".to_owned(),
        };
        return reader.refuse(Diagnostic::new(&MISSING_VALUE, bound.head(), message).help(help));
    };
    if kind == "json" {
        let json = reader.value_with("value", value.value, Vars::Test);
        return Some(Block::Json(json));
    }
    let text = reader.templated(&value)?.into_owned();
    let span = value.value.span();
    Some(match kind {
        "file" => Block::File(file_ref(reader, text, span)),
        "image" => Block::Image(read_image(reader, text, span)),
        _ => Block::Text(text),
    })
}

fn block_type(reader: &mut Reader<'_>, bound: &Bound<'_>) -> Option<&'static str> {
    let types = Block::TYPES;
    let help = || format!("it is {}", list_words(types));
    let Some(entry) = bound.get("type") else {
        let message = "this block has no `type`";
        let diagnostic = Diagnostic::new(&INVALID_BLOCK_TYPE, bound.head(), message);
        return reader.refuse(diagnostic.help(help()));
    };
    let word = reader.text(&entry)?;
    let found = types.iter().copied().find(|known| *known == word.as_ref());
    if found.is_none() {
        let message = format!("`{}` is not a block type", shorten(&word));
        let diagnostic = Diagnostic::new(&INVALID_BLOCK_TYPE, entry.value.span(), message);
        reader.report(diagnostic.suggest(&word, types.iter().copied(), help()));
    }
    found
}

fn read_image(reader: &mut Reader<'_>, text: String, span: Span) -> Image {
    if text.starts_with("data:") || is_image_data(&text) {
        return Image::Data(text);
    }
    Image::Path(file_ref(reader, text, span))
}

/// Base64 of a PNG, JPEG, GIF, WebP or BMP (spec 3.4).
fn is_image_data(text: &str) -> bool {
    const SHORTEST: usize = 64;
    let bytes: Vec<u8> = text.bytes().filter(|b| !b.is_ascii_whitespace()).collect();
    let padding = bytes.iter().rev().take_while(|b| **b == b'=').count();
    let body = &bytes[..bytes.len() - padding];
    let is_base64 = |b: &u8| b.is_ascii_alphanumeric() || *b == b'+' || *b == b'/';
    if bytes.len() < SHORTEST
        || !bytes.len().is_multiple_of(4)
        || padding > 2
        || !body.iter().all(is_base64)
    {
        return false;
    }
    let head = from_base64(&body[..16]);
    head.starts_with(b"\x89PNG\r\n\x1a\n")
        || head.starts_with(b"\xff\xd8\xff")
        || head.starts_with(b"GIF87a")
        || head.starts_with(b"GIF89a")
        || head.starts_with(b"BM")
        || (head.starts_with(b"RIFF") && head.get(8..12) == Some(b"WEBP"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base64_of_images_is_told_from_paths() {
        let png = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
        assert!(is_image_data(png));
        assert!(is_image_data(&png.replace("UgAA", "Ug\n AA")));
        assert!(!is_image_data("images/screenshot.png"));
        assert!(!is_image_data(&"a".repeat(64)));
        assert!(!is_image_data(&png[..60]));
    }
}
