//! Diagnostics that any assertion can have.

use crate::diagnostic::declare_codes;

declare_codes! {
    MISSING_TYPE = "missing-type", Blocking, Assertion, r#"An entry of an assert list has no `type`.

## Example
```yaml
name: demo
tests:
  - id: a
    criteria: Greets
    input: Hi
    assert:
      - value: Hello
```

## Instead
```yaml
name: demo
tests:
  - id: a
    criteria: Greets
    input: Hi
    assert:
      - type: contains
        value: Hello
```

## Why
Skipping a check of unknown type would make the test pass for the wrong reason.
"#;
    VALUE_NOT_STRING = "value-not-string", Warning, Assertion, r#"A number or boolean is given where texts are compared. Its source text is used.

## Example
```yaml
name: demo
tests:
  - id: a
    criteria: Adds up
    input: What is 40 + 2?
    assert:
      - {type: equals, value: 42}
```

## Instead
```yaml
name: demo
tests:
  - id: a
    criteria: Adds up
    input: What is 40 + 2?
    assert:
      - {type: equals, value: "42"}
```

## Why
The output is text. Quotes make clear that `1.0` and `1` are different texts.
"#;
    INVALID_WEIGHT = "invalid-weight", Blocking, Assertion, r#"A weight is negative or not a finite number.

## Example
```yaml
name: demo
tests:
  - id: a
    criteria: Greets
    input: Hi
    assert:
      - {type: contains, value: Hello, weight: -1}
```

## Instead
```yaml
name: demo
tests:
  - id: a
    criteria: Greets
    input: Hi
    assert:
      - {type: contains, value: Hello, negate: true}
```

## Why
The score is a weighted average between 0 and 1. `weight: 0` shows a check without counting it.
"#;
    INVALID_REQUIRED = "invalid-required", Blocking, Assertion, r#"`required` is `true`, `false`, or a number greater than 0 and at most 1.

## Example
```yaml
name: demo
tests:
  - id: a
    criteria: Greets
    input: Hi
    assert:
      - {type: contains, value: Hello, required: 80}
```

## Instead
```yaml
name: demo
tests:
  - id: a
    criteria: Greets
    input: Hi
    assert:
      - {type: contains, value: Hello, required: 0.8}
```

## Why
A gate that no score can reach, or that every score reaches, has no use.
"#;
    MIN_SCORE_WITHOUT_REQUIRED = "min-score-without-required", Warning, Assertion, r#"`min_score` is given, but the check is not `required`, so it has no effect.

## Example
```yaml
name: demo
tests:
  - id: a
    criteria: Greets
    input: Hi
    assert:
      - {type: contains, value: Hello, min_score: 0.7}
```

## Instead
```yaml
name: demo
tests:
  - id: a
    criteria: Greets
    input: Hi
    assert:
      - {type: contains, value: Hello, required: 0.7}
```

## Why
Only a gate has a score that must be reached.
"#;
    GATE_UNDER_NEGATE = "gate-under-negate", Blocking, Assertion, r#"A `required` item is inside a negated `rubrics` or `composite`.

## Example
```yaml
name: demo
tests:
  - id: a
    criteria: Is polite
    input: Hi
    assert:
      - type: rubrics
        negate: true
        rubrics:
          - {outcome: Insults the user, required: true}
```

## Instead
```yaml
name: demo
tests:
  - id: a
    criteria: Is polite
    input: Hi
    assert:
      - type: rubrics
        negate: true
        required: true
        rubrics:
          - {outcome: Insults the user}
```

## Why
It is ambiguous whether such a gate is met when the item is satisfied or when it is not. Put the gate
on the negated check itself.
"#;
    UNUSED_CONFIG = "unused-config", Warning, Assertion, r#"`config` is set on a check that does not use it.

## Example
```yaml
name: demo
tests:
  - id: a
    criteria: Greets
    input: Hi
    assert:
      - {type: contains, value: Hello, config: {ignore_case: true}}
```

## Instead
```yaml
name: demo
tests:
  - id: a
    criteria: Greets
    input: Hi
    assert:
      - {type: icontains, value: Hello}
```

## Why
Only scripts and judges take `config`; here it looks like a setting but has no effect.
"#;
    DUPLICATE_ASSERTION_NAME = "duplicate-assertion-name", Warning, Assertion, r#"Two checks of one test have the same name.

## Example
```yaml
name: demo
tests:
  - id: a
    criteria: Greets
    input: Hi
    assert:
      - {type: contains, name: greeting, value: Hello}
      - {type: contains, name: greeting, value: Alice}
```

## Instead
```yaml
name: demo
tests:
  - id: a
    criteria: Greets
    input: Hi
    assert:
      - {type: contains, name: greeting, value: Hello}
      - {type: contains, name: user-name, value: Alice}
```

## Why
Results are keyed by name, so a report could not distinguish the two.
"#;
    ZERO_WEIGHT = "zero-weight", Blocking, Assertion, r#"Every check of a test, or every item of a rubric, has weight 0.

## Example
```yaml
name: demo
tests:
  - id: a
    criteria: Greets
    input: Hi
    assert:
      - {type: contains, value: Hello, weight: 0}
```

## Instead
```yaml
name: demo
tests:
  - id: a
    criteria: Greets
    input: Hi
    assert:
      - {type: contains, value: Hello}
```

## Why
The test would have no score.
"#;
}
