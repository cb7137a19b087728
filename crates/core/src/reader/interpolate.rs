//! `${{ NAME }}` from the environment and `{{ name }}` from a test's variables (spec 6).

use std::borrow::Cow;
use std::ops::Range;

use crate::diagnostic::{Diagnostic, Level, declare_codes};
use crate::model::Value;
use crate::source::Span;
use crate::syntax::Node;

use super::expansion::size_of;
use super::state::Reader;
use super::template::{Reference, ReferencePolicy, TemplatePiece, piece_at, piece_before, pieces};

declare_codes! {
    MISSING_VARIABLE = "missing-variable", Blocking, Reference, r#"`${{ NAME }}` names an environment variable that is not set.

## Example
```yaml
name: demo
tests:
  - {id: a, criteria: Greets, input: "Hi ${{ NOT_SET_ANYWHERE }}"}
```

## Instead
```yaml
name: demo
tests:
  - {id: a, criteria: Greets, input: "Hi ${{ WHO }}"}
```
```env .env
WHO=Alice
```

## Why
An empty string in its place would ask the agent something else. Set the variable in the environment
or in a `.env` file; an empty value is allowed.
"#;
    NOT_A_VARIABLE = "not-a-variable", Warning, Reference, r#"The text between `${{` and `}}` is not a variable name, so it is left unchanged.

## Example
```yaml
name: demo
tests:
  - {id: a, criteria: Greets, input: "Explain ${{ github.sha }}"}
```

## Instead
```yaml
name: demo
tests:
  - {id: a, criteria: Greets, input: "Explain $${{ github.sha }}"}
```

## Why
Only environment variables are replaced. Write `$${{` for literal braces.
"#;
    UNKNOWN_VARIABLE = "unknown-variable", Blocking, Reference, r#"`{{ name }}` names a variable that the test's `vars` do not define.

## Example
```yaml
name: demo
tests:
  - id: a
    vars: {country: France}
    criteria: Names the capital
    input: "What is the capital of {{ contry }}?"
```

## Instead
```yaml
name: demo
tests:
  - id: a
    vars: {country: France}
    criteria: Names the capital
    input: "What is the capital of {{ country }}?"
```

## Why
The agent would receive the braces. In a test without `vars`, braces are plain text.
"#;
    INVALID_TEMPLATE = "invalid-template", Blocking, Reference, r#"In a test with `vars`, the text between `{{` and `}}` is not a variable.

## Example
```yaml
name: demo
tests:
  - id: a
    vars: {country: France}
    criteria: Names the capital
    input: "Capital of {{ country | upper }}?"
```

## Instead
```yaml
name: demo
tests:
  - id: a
    vars: {country: FRANCE}
    criteria: Names the capital
    input: "Capital of {{ country }}?"
```

## Why
There are no filters or expressions. Write `{{{{` and `}}}}` for literal braces.
"#;
}

/// Which variables a text may use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Vars {
    /// `${{ }}` only.
    Environment,
    /// `${{ }}`, and `{{ }}` if the test has `vars`.
    Test,
}

impl Reader<'_> {
    /// The text of a scalar with everything replaced, or as it is where references are kept.
    /// `field` names the place in messages. `None` when something could not be replaced, which has
    /// been reported: an incomplete text would only cause follow-up diagnostics.
    pub(crate) fn interpolate<'t>(
        &mut self,
        field: &str,
        node: Node<'t>,
        text: &'t str,
        vars: Vars,
    ) -> Option<Cow<'t, str>> {
        if self.plain_texts || (self.vars.is_none() && !node.may_have_braces()) {
            return Some(Cow::Borrowed(text));
        }
        let templated = vars == Vars::Test && self.vars.is_some();
        // Few texts have braces, and searching for one byte is faster than for two.
        let has_braces = text.as_bytes().contains(&b'{') && text.contains("{{");
        if !(has_braces || templated && text.contains("}}")) {
            return Some(Cow::Borrowed(text));
        }
        if !templated && !text.contains("${{") {
            return Some(Cow::Borrowed(text));
        }
        if self.keeps_references() {
            self.keep_references_of(field, node, text);
            return Some(Cow::Borrowed(text));
        }
        self.replace(field, node, text, templated).map(Cow::Owned)
    }

    /// Notes the references of a text that stays as it is.
    fn keep_references_of(&mut self, field: &str, node: Node<'_>, text: &str) {
        for (start, piece, length) in pieces(text) {
            let span = node.text_span(start..start + length);
            match piece {
                TemplatePiece::Escape => {}
                TemplatePiece::Stray => self.report(not_a_variable(span)),
                TemplatePiece::Variable(name) => {
                    if let ReferencePolicy::Keep(kept) = &mut self.references {
                        kept.push(Reference::new(name, field, span));
                    }
                }
            }
        }
    }

    fn replace(
        &mut self,
        field: &str,
        node: Node<'_>,
        text: &str,
        templated: bool,
    ) -> Option<String> {
        let mut result = String::with_capacity(text.len());
        let mut complete = true;
        let mut at = 0;
        let last_close = text.rfind("}}");
        while at < text.len() {
            let rest = &text[at..];
            if let Some((_, length)) = piece_before(rest, last_close.is_some_and(|end| at < end)) {
                let reference = &rest[..length];
                complete &= self.environment_reference(field, node, at, reference, &mut result);
                at += length;
            } else if templated && (rest.starts_with("{{{{") || rest.starts_with("}}}}")) {
                result.push_str(&rest[..2]);
                at += 4;
            } else if let (true, Some(inside)) = (templated, rest.strip_prefix("{{")) {
                let Some(end) = inside.find("}}") else {
                    return self.refuse(unclosed(node.text_span(at..text.len())));
                };
                let length = end + 4;
                match self.variable_text(node, at..at + length, &inside[..end]) {
                    Some(value) => result.push_str(&value),
                    None => complete = false,
                }
                at += length;
            } else {
                let next = rest.chars().next().map_or(1, char::len_utf8);
                result.push_str(&rest[..next]);
                at += next;
            }
        }
        complete.then_some(result)
    }

    /// Appends the value of `${{ NAME }}` at byte `at` of the text; false when it is not set.
    pub(super) fn environment_reference(
        &mut self,
        field: &str,
        node: Node<'_>,
        at: usize,
        reference: &str,
        result: &mut String,
    ) -> bool {
        let span = node.text_span(at..at + reference.len());
        match piece_at(reference) {
            Some((TemplatePiece::Escape, _)) => result.push_str("${{"),
            Some((TemplatePiece::Variable(name), _)) => {
                return self.insert_variable(field, name, span, result);
            }
            Some((TemplatePiece::Stray, _)) | None => {
                result.push_str(reference);
                self.report(not_a_variable(span));
            }
        }
        true
    }

    fn insert_variable(
        &mut self,
        field: &str,
        name: &str,
        span: Span,
        result: &mut String,
    ) -> bool {
        let Some(value) = self.variable(name) else {
            self.report(Reference::new(name, field, span).missing(Level::Blocking));
            return false;
        };
        let is_within = self.may_insert(value.len(), span);
        if is_within {
            result.push_str(&value);
        }
        is_within
    }

    /// What `country`, `city.name` or `list.0` is inside a text.
    fn variable_text(
        &mut self,
        node: Node<'_>,
        range: Range<usize>,
        inner: &str,
    ) -> Option<String> {
        let path = self.known_path(node, range.clone(), inner)?;
        if self.expansion.is_exhausted() {
            return None;
        }
        let vars = self.vars.as_ref()?;
        let text = vars.text(path, vars.look_up(path)?);
        self.may_insert(text.len(), node.text_span(range)).then_some(text)
    }

    /// A reference that leads to a value of the test's variables.
    fn known_path<'i>(
        &mut self,
        node: Node<'_>,
        range: Range<usize>,
        inner: &'i str,
    ) -> Option<&'i str> {
        let path = inner.trim();
        let span = node.text_span(range);
        if !is_reference(path) {
            let message = "only a variable name is allowed between `{{` and `}}`";
            let help = "write `{{{{` and `}}}}` for literal braces";
            return self.refuse(Diagnostic::new(&INVALID_TEMPLATE, span, message).help(help));
        }
        let vars = self.vars.as_ref()?;
        if vars.look_up(path).is_some() {
            return Some(path);
        }
        let first = path.split('.').next().unwrap_or(path);
        let message = format!("the test's `vars` have no `{path}`");
        let help = format!("add `{first}` to the test's `vars`");
        let diagnostic = Diagnostic::new(&UNKNOWN_VARIABLE, span, message);
        self.refuse(diagnostic.suggest(first, vars.names(), help))
    }

    /// The value of a text that is exactly one `{{ name }}`, with its type.
    pub(crate) fn whole_reference(&mut self, node: Node<'_>, text: &str) -> Option<Value> {
        self.vars.as_ref()?;
        let inner = text.strip_prefix("{{")?.strip_suffix("}}")?;
        if !is_reference(inner.trim()) {
            return None;
        }
        let path = self.known_path(node, 0..text.len(), inner)?;
        let size = size_of(self.vars.as_ref()?.look_up(path)?);
        if !self.may_insert(size, node.span()) {
            return None;
        }
        self.vars.as_ref()?.look_up(path).cloned()
    }
}

fn unclosed(span: Span) -> Diagnostic {
    Diagnostic::new(&INVALID_TEMPLATE, span, "`{{` is not closed by `}}`")
        .help("write `}}` after the name, or `{{{{` for literal braces")
}

fn not_a_variable(span: Span) -> Diagnostic {
    let message = "this is not a variable name, so the text is left unchanged";
    Diagnostic::new(&NOT_A_VARIABLE, span, message).help("write `$${{` for literal braces")
}

/// `[A-Za-z_][A-Za-z0-9_-]*` with `.key` or `.index` steps.
fn is_reference(path: &str) -> bool {
    let mut steps = path.split('.');
    let first = steps.next().unwrap_or("");
    let begins = first.bytes().next().is_some_and(|b| b.is_ascii_alphabetic() || b == b'_');
    let is_step = |step: &str| {
        !step.is_empty()
            && step.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b'-')
    };
    begins && is_step(first) && steps.all(is_step)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn references_are_names_with_steps() {
        for path in ["a", "_x", "city.name", "list.0.a-b"] {
            assert!(is_reference(path), "{path}");
        }
        for path in ["", "0", "a.", "a b", "a|b", ".a", "-a"] {
            assert!(!is_reference(path), "{path}");
        }
    }
}
