//! `execution-metrics`: several limits on how the answer came about.

use crate::access::Reader;
use crate::diagnostic::{Diagnostic, declare_codes};
use crate::model::{Map, Number};
use crate::syntax::fields::{Bound, Entry, Field, Shape};

use super::check::{Check, Common, Kind, Strays};
use super::needle::EMPTY_VALUE;
use super::optional::optional;
use super::options::Options;

declare_codes! {
    NO_LIMITS = "no-limits", Blocking, Assertion, r#"A check of limits has no limit.

## Example
```yaml
name: demo
tests:
  - id: a
    criteria: Answers briefly
    input: Hi
    assert:
      - type: token-usage
```

## Instead
```yaml
name: demo
tests:
  - id: a
    criteria: Answers briefly
    input: Hi
    assert:
      - type: token-usage
        max_total: 2000
```

## Why
Without a limit nothing can exceed it, so the check would always pass.
"#;
}

const COUNT: Shape = Shape::Integer {
    min: 0,
    max: u64::MAX,
};

const FRACTION: Shape = Shape::Number { min: 0.0, max: 1.0 };

static FIELDS: &[Field] = &[
    Field::new("max_tool_calls", COUNT, "most calls of tools"),
    Field::new("max_llm_calls", COUNT, "most calls of the model"),
    Field::new(
        "max_tokens",
        COUNT,
        "most tokens, input and output together",
    ),
    Field::new("max_input_tokens", COUNT, "most input tokens"),
    Field::new("max_output_tokens", COUNT, "most output tokens"),
    Field::new("max_duration_ms", COUNT, "most milliseconds"),
    Field::new(
        "max_cost_usd",
        Shape::Number {
            min: 0.0,
            max: f64::MAX,
        },
        "most US dollars",
    ),
    Field::new(
        "target_exploration_ratio",
        FRACTION,
        "share of tool calls that only look around",
    ),
    Field::new(
        "exploration_tolerance",
        FRACTION,
        "how far the ratio may be from its target; default 0.2",
    ),
    Field::new(
        "exploration_tools",
        Shape::NonEmptyList(&Shape::NonEmptyText),
        "tools that only look around, in whatever case; default read, grep, glob, search, list, \
         websearch and webfetch",
    ),
];

pub(super) static KIND: Kind = Kind {
    name: "execution-metrics",
    aliases: &[],
    fields: FIELDS,
    strays: Strays::Warn,
    takes_config: false,
    doc: "Calls, tokens, time and money stayed within limits. At least one limit is needed, and all that
are given must hold. `target_exploration_ratio` is the wanted share of tool calls that only look
around.

```yaml
assert:
  - type: execution-metrics
    max_tool_calls: 10
    max_duration_ms: 5000
    max_cost_usd: 0.10
```
",
    read,
};

/// Something that a target reports and that can be limited.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Metric {
    ToolCalls,
    LlmCalls,
    Tokens,
    InputTokens,
    OutputTokens,
    Duration,
    Cost,
}

impl Metric {
    const ALL: [Self; 7] = [
        Self::ToolCalls,
        Self::LlmCalls,
        Self::Tokens,
        Self::InputTokens,
        Self::OutputTokens,
        Self::Duration,
        Self::Cost,
    ];

    /// The option that limits it.
    fn option(self) -> &'static str {
        match self {
            Self::ToolCalls => "max_tool_calls",
            Self::LlmCalls => "max_llm_calls",
            Self::Tokens => "max_tokens",
            Self::InputTokens => "max_input_tokens",
            Self::OutputTokens => "max_output_tokens",
            Self::Duration => "max_duration_ms",
            Self::Cost => "max_cost_usd",
        }
    }

    fn read(self, reader: &mut Reader<'_>, entry: &Entry<'_>) -> Option<Number> {
        match self {
            Self::Cost => reader.number(entry, 0.0, f64::INFINITY),
            _ => reader.integer(entry, 0, u64::MAX).map(Number::from),
        }
    }
}

fn read(options: &mut Options<'_, '_, '_>) -> Option<Box<dyn Check>> {
    let limits: Vec<Option<Option<Limit>>> = Metric::ALL
        .into_iter()
        .map(|metric| {
            optional(
                options.reader,
                options.fields,
                metric.option(),
                |reader, entry| {
                    let most = metric.read(reader, entry)?;
                    Some(Limit { metric, most })
                },
            )
        })
        .collect();
    let exploration = Exploration::read(options.reader, options.fields);
    let limits: Option<Vec<Option<Limit>>> = limits.into_iter().collect();
    let metrics = ExecutionMetrics {
        limits: limits?.into_iter().flatten().collect(),
        exploration: exploration?,
    };
    if metrics.limits.is_empty() && metrics.exploration.is_none() {
        no_limits(options, "a limit such as `max_tool_calls`");
        return None;
    }
    Some(Box::new(metrics))
}

/// Says that the check limits nothing.
pub(super) fn no_limits(options: &mut Options<'_, '_, '_>, wants: &str) {
    let message = format!("`{}` has no limit", options.written_type);
    let diagnostic =
        Diagnostic::new(&NO_LIMITS, options.head(), message).help(format!("add {wants}"));
    options.report(diagnostic);
}

/// Inclusive.
#[derive(Debug)]
struct Limit {
    metric: Metric,
    most: Number,
}

/// The wanted share of calls that only look around.
#[derive(Debug)]
struct Exploration {
    target: Number,
    tolerance: Number,
    /// Compared without case.
    tools: Vec<String>,
}

impl Exploration {
    const TOOLS: [&'static str; 7] = [
        "read",
        "grep",
        "glob",
        "search",
        "list",
        "websearch",
        "webfetch",
    ];

    /// Tolerance and tools mean nothing without a target; they are checked all the same.
    fn read(reader: &mut Reader<'_>, fields: &Bound<'_>) -> Option<Option<Self>> {
        let mut fraction = |name| {
            optional(reader, fields, name, |reader, entry| {
                reader.number(entry, 0.0, 1.0)
            })
        };
        let target = fraction("target_exploration_ratio");
        let tolerance = fraction("exploration_tolerance");
        let tools = optional(reader, fields, "exploration_tools", read_tools);
        let (target, tolerance, tools) = (target?, tolerance?, tools?);
        Some(target.map(|target| Self {
            target,
            tolerance: tolerance.unwrap_or_else(|| Number::parse("0.2").expect("0.2 is a number")),
            tools: tools.unwrap_or_else(|| Self::TOOLS.map(str::to_owned).to_vec()),
        }))
    }
}

fn read_tools(reader: &mut Reader<'_>, entry: &Entry<'_>) -> Option<Vec<String>> {
    let tools = reader.text_list(entry)?;
    let blank = tools.iter().find(|tool| tool.value.is_empty());
    let fault = match blank {
        Some(tool) => Some((tool.span, "a tool of `exploration_tools` has no name")),
        None if tools.is_empty() => Some((entry.value.span(), "`exploration_tools` is empty")),
        None => None,
    };
    if let Some((span, message)) = fault {
        let help = "name the tools that only look around, or remove the key";
        reader.report(Diagnostic::new(&EMPTY_VALUE, span, message).help(help));
        return None;
    }
    Some(tools.into_iter().map(|tool| tool.value).collect())
}

/// Has at least one limit, the exploration ratio counted as one.
#[derive(Debug)]
struct ExecutionMetrics {
    limits: Vec<Limit>,
    exploration: Option<Exploration>,
}

impl Check for ExecutionMetrics {
    fn options(&self) -> Map {
        let mut map = Map::new();
        for limit in &self.limits {
            map.insert(limit.metric.option(), limit.most.clone());
        }
        if let Some(exploration) = &self.exploration {
            map.insert("target_exploration_ratio", exploration.target.clone());
            map.insert("exploration_tolerance", exploration.tolerance.clone());
            map.insert("exploration_tools", exploration.tools.clone());
        }
        map
    }

    fn sentences(&self, _: &Common) -> Vec<String> {
        vec!["Execution within metric bounds".to_owned()]
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::read;
    use super::*;

    #[test]
    fn every_limit_is_in_the_table() {
        for metric in Metric::ALL {
            assert!(FIELDS.iter().any(|field| field.name == metric.option()));
        }
    }

    #[test]
    fn limits_come_out_in_the_order_of_the_format() {
        let found = read("- {type: execution-metrics, max_cost_usd: 0.10, max_tool_calls: 8}");
        assert_eq!(
            found.options(),
            r#"{"max_tool_calls":8,"max_cost_usd":0.10}"#
        );
        assert_eq!(found.sentences(), ["Execution within metric bounds"]);
    }

    #[test]
    fn a_ratio_brings_its_defaults() {
        let found = read("- {type: execution-metrics, target_exploration_ratio: 0.5}");
        assert_eq!(
            found.options(),
            r#"{"target_exploration_ratio":0.5,"exploration_tolerance":0.2,"exploration_tools":["read","grep","glob","search","list","websearch","webfetch"]}"#
        );
    }

    #[test]
    fn a_tolerance_alone_limits_nothing() {
        let found = read("- {type: execution-metrics, exploration_tolerance: 0.1}");
        assert_eq!(found.names(), ["no-limits"]);
    }

    #[test]
    fn all_faults_are_told_at_once() {
        let found = read(
            "- {type: execution-metrics, max_tokens: many, max_cost_usd: -1, \
             target_exploration_ratio: 2, exploration_tools: []}",
        );
        assert_eq!(
            found.names(),
            ["wrong-type", "out-of-range", "out-of-range", "empty-value"]
        );
    }
}
