//! The diagnostics about `evalrig.toml`.

use evalrig_core::declare_codes;

declare_codes! {
    INVALID_CONFIG = "invalid-config", Blocking, Shape, r#"`evalrig.toml` is not valid TOML, not UTF-8, or larger than 1 MiB.

## Example
```toml evalrig.toml
trials = 3
tag = ["smoke"
```

## Instead
```toml evalrig.toml
trials = 3
tag = ["smoke"]
```

## Why
Ignoring the file would run something else than its author configured.
"#;
    UNKNOWN_SETTING = "unknown-setting", Blocking, Shape, r#"`evalrig.toml` has a key that is not an option of `run` or `validate`. Keys are the names of the options
with `_` for `-`; `evalrig config` lists them.

## Example
```toml evalrig.toml
bugdet_usd = 5.0
```

## Instead
```toml evalrig.toml
budget_usd = 5.0
```

## Why
A misspelled limit would have no effect, and nothing would say so.
"#;
    INVALID_SETTING = "invalid-setting", Blocking, Shape, r#"A value of `evalrig.toml` has the wrong type, is one that its option does not accept, leads out of the
repository, conflicts with another value, or belongs to an option that only the command line sets.

## Example
```toml evalrig.toml
trials = "three"
```

## Instead
```toml evalrig.toml
trials = 3
```

## Why
The option refuses such a value on the command line too. A file of a repository may not name paths outside
of it, because the repository may be somebody else's.
"#;
}
