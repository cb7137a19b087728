//! `execution-metrics`: several limits on calls, tokens, time and cost.

use crate::diagnostic::{Diagnostic, declare_codes};
use crate::model::{
    Check, CommonOptions, EvidencePart, Fault, GradingContext, Map, Measurement, Number, Step,
    Transcript,
};
use crate::reader::{Options, ReadResult, Reported};
use crate::syntax::fields::{Field, Shape};

use super::finding::Finding;
use super::kind::AssertionKind;
use super::metric::{Limit, Metric, grade_limits, limits_to_map, read_limits, rounded};
use super::read::{AMOUNT, COUNT};
use super::text_value::empty_value;
use super::tool_names::CalledTools;

declare_codes! {
    NO_LIMITS = "no-limits", Blocking, Assertion, r#"A check of limits does not set any limit.

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

/// Rounding error of a ratio (spec 8).
const TOLERANCE: f64 = 1e-9;

const FRACTION: Shape = Shape::Number { min: 0.0, max: 1.0 };

static FIELDS: &[Field] = &[
    Field::new("max_tool_calls", COUNT, "maximum number of tool calls"),
    Field::new("max_llm_calls", COUNT, "maximum number of model calls"),
    Field::new("max_tokens", COUNT, "maximum number of tokens, input and output together"),
    Field::new("max_input_tokens", COUNT, "maximum number of input tokens"),
    Field::new("max_output_tokens", COUNT, "maximum number of output tokens"),
    Field::new("max_duration_ms", COUNT, "maximum duration in milliseconds"),
    Field::new("max_cost_usd", AMOUNT, "maximum cost in US dollars"),
    Field::new(
        "target_exploration_ratio",
        FRACTION,
        "expected share of tool calls that only explore",
    ),
    Field::new(
        "exploration_tolerance",
        FRACTION,
        "how far the ratio may be from its target; default 0.2",
    ),
    Field::new(
        "exploration_tools",
        Shape::NonEmptyList(&Shape::NonEmptyText),
        "tools that only explore, or canonical names; default read, grep, glob, search, list, \
         websearch and webfetch",
    ),
];

pub(super) static KIND: AssertionKind = AssertionKind::new(
    "execution-metrics",
    FIELDS,
    |options, _| read(options),
    "Calls, tokens, time and cost stayed within limits. At least one limit is required, and all limits
that are given must hold. `target_exploration_ratio` is the expected share of tool calls that only
explore, such as reading and searching.

```yaml
assert:
  - type: execution-metrics
    max_tool_calls: 10
    max_duration_ms: 5000
    max_cost_usd: 0.10
```
",
)
.needs_one_of(&[
    "max_tool_calls",
    "max_llm_calls",
    "max_tokens",
    "max_input_tokens",
    "max_output_tokens",
    "max_duration_ms",
    "max_cost_usd",
    "target_exploration_ratio",
]);

/// The options and what each of them limits, in the order of the format.
const LIMITS: [(&str, Metric); 7] = [
    ("max_tool_calls", Metric::ToolCalls),
    ("max_llm_calls", Metric::LlmCalls),
    ("max_tokens", Metric::Tokens),
    ("max_input_tokens", Metric::InputTokens),
    ("max_output_tokens", Metric::OutputTokens),
    ("max_duration_ms", Metric::Duration),
    ("max_cost_usd", Metric::Cost),
];

fn read(options: &mut Options<'_, '_, '_>) -> ReadResult<Box<dyn Check>> {
    let limits = read_limits(options, &LIMITS);
    let exploration = Exploration::read(options)?;
    let metrics = ExecutionMetrics { limits: limits?, exploration };
    if metrics.limits.is_empty() && metrics.exploration.is_none() {
        let help = "add a limit such as `max_tool_calls`";
        return Err(report_no_limits(options, help));
    }
    Ok(Box::new(metrics))
}

/// The loss of a type whose sentence does not name its limits.
pub(super) fn numbers_left_out(type_name: &str) -> (&'static str, String) {
    ("limits", format!("the numbers of `{type_name}` are left out"))
}

pub(super) fn report_no_limits(options: &mut Options<'_, '_, '_>, help: &str) -> Reported {
    let message = format!("`{}` has no limit", options.owner);
    options.report(Diagnostic::new(&NO_LIMITS, options.head(), message).help(help))
}

/// The expected share of tool calls that only explore.
#[derive(Debug)]
struct Exploration {
    target: Number,
    tolerance: Number,
    /// Compared ignoring case.
    tools: Vec<String>,
}

impl Exploration {
    const TOOLS: [&'static str; 7] =
        ["read", "grep", "glob", "search", "list", "websearch", "webfetch"];

    /// Tolerance and tools have no effect without a target; they are checked nevertheless.
    fn read(options: &mut Options<'_, '_, '_>) -> ReadResult<Option<Self>> {
        let target = options.number("target_exploration_ratio", 0.0, 1.0);
        let tolerance = options.number("exploration_tolerance", 0.0, 1.0);
        let tools = read_tools(options);
        let (target, tolerance, tools) = (target?, tolerance?, tools?);
        Ok(target.map(|target| Self {
            target,
            tolerance: tolerance.unwrap_or_else(|| Number::parse("0.2").expect("0.2 is a number")),
            tools: tools.unwrap_or_else(|| Self::TOOLS.map(str::to_owned).to_vec()),
        }))
    }

    fn check(&self, transcript: &Transcript) -> Result<Finding, Fault> {
        let called = CalledTools::of(transcript)?;
        if called.calls.is_empty() {
            // A ratio needs at least one call.
            return Ok(Finding {
                holds: false,
                text: "exploration ratio: no tool calls".to_owned(),
            });
        }
        let mut exploring: Vec<String> =
            self.tools.iter().map(|tool| tool.to_lowercase()).collect();
        // Reading from the web has names of its own in the default.
        if exploring == Self::TOOLS {
            exploring.push("fetch".to_owned());
        }
        let explores = |at: &usize| {
            exploring.contains(&called.calls[*at].tool.to_lowercase())
                || exploring.iter().any(|tool| called.is_of(*at, tool))
        };
        let (explored, others): (Vec<usize>, Vec<usize>) =
            (0..called.calls.len()).partition(explores);
        for tool in &exploring {
            called.refuse_hidden(tool, others.iter().copied())?;
        }
        let ratio = explored.len() as f64 / called.calls.len() as f64;
        let is_near =
            |ratio: f64| (ratio - self.target.value()).abs() <= self.tolerance.value() + TOLERANCE;
        let holds = is_near(ratio);
        let shown = rounded(ratio, |shown| is_near(shown) == holds);
        let not = if holds { "" } else { "not " };
        Ok(Finding {
            holds,
            text: format!(
                "exploration ratio {shown} {not}within {} of {}",
                self.tolerance, self.target
            ),
        })
    }
}

fn read_tools(options: &mut Options<'_, '_, '_>) -> ReadResult<Option<Vec<String>>> {
    let Some(tools) = options.texts("exploration_tools")? else {
        return Ok(None);
    };
    let blank = tools.iter().find(|tool| tool.value.is_empty());
    let fault = match blank {
        Some(tool) => Some((tool.span, "a tool of `exploration_tools` has no name")),
        None if tools.is_empty() => Some((
            options.require("exploration_tools")?.value.span(),
            "`exploration_tools` is empty",
        )),
        None => None,
    };
    if let Some((span, message)) = fault {
        let help = "name the tools that only explore, or remove the key";
        return Err(empty_value(options, span, message, help));
    }
    Ok(Some(tools.into_iter().map(|tool| tool.value).collect()))
}

/// Has at least one limit, the exploration ratio counted as one.
#[derive(Debug)]
struct ExecutionMetrics {
    limits: Vec<Limit>,
    exploration: Option<Exploration>,
}

impl Check for ExecutionMetrics {
    fn losses(&self, type_name: &str) -> Vec<(&'static str, String)> {
        vec![numbers_left_out(type_name)]
    }

    fn options(&self) -> Map {
        let mut map = limits_to_map(&self.limits);
        if let Some(exploration) = &self.exploration {
            map.insert("target_exploration_ratio", exploration.target.clone());
            map.insert("exploration_tolerance", exploration.tolerance.clone());
            map.insert("exploration_tools", exploration.tools.clone());
        }
        map
    }

    fn sentences(&self, _: &CommonOptions) -> Vec<String> {
        vec!["Execution within metric bounds".to_owned()]
    }

    fn parts(&self) -> Vec<EvidencePart> {
        Vec::new()
    }

    fn measures(&self) -> Vec<Measurement> {
        let limits = self.limits.iter().filter_map(|limit| limit.metric.measurement());
        limits.chain(self.exploration.as_ref().map(|_| Measurement::ToolCalls)).collect()
    }

    fn grade(&self, context: &GradingContext<'_>) -> Step {
        let transcript = context.evidence.transcript;
        let limits = self.limits.iter().map(|limit| limit.check(transcript));
        let exploration = self.exploration.iter();
        let exploration = exploration.map(|exploration| exploration.check(transcript));
        grade_limits(limits.chain(exploration))
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{Trial, read};
    use super::*;
    use crate::model::{Call, SessionFacts, Tokens, Value};

    fn call(tool: &str) -> Call {
        Call::new("", tool, Value::Null)
    }

    /// Eight calls of tools, three of the model, three seconds, 0.12 USD.
    fn measured() -> Transcript {
        Transcript {
            calls: Some(vec![call("Bash"); 8]),
            tokens: Some(Tokens { input: 1500, output: 500, cached: 0 }),
            cost_usd: Some(0.12),
            duration_ms: Some(3000),
            session: SessionFacts { llm_calls: Some(3), ..SessionFacts::default() },
            ..Transcript::of_text("x")
        }
    }

    fn trial(options: &str, transcript: Transcript) -> Trial {
        let yaml = format!("- {{type: execution-metrics, {options}}}");
        Trial::new(&yaml, transcript)
    }

    #[test]
    fn all_limits_must_hold() {
        let found =
            trial("max_tool_calls: 10, max_duration_ms: 5000, max_cost_usd: 0.10", measured())
                .marks();
        assert_eq!(found.score.value(), 0.0);
        assert_eq!(found.hits, ["tool calls 8 <= 10", "duration 3000 ms <= 5000 ms"]);
        assert_eq!(found.misses, ["cost 0.12 USD > 0.10 USD"]);
        let found = trial("max_tool_calls: 10, max_duration_ms: 5000", measured()).marks();
        assert_eq!(found.score.value(), 1.0);
    }

    #[test]
    fn every_metric_has_its_inclusive_limit_and_its_text() {
        for (options, hit) in [
            ("max_tool_calls: 8", "tool calls 8 <= 8"),
            ("max_llm_calls: 3", "llm calls 3 <= 3"),
            ("max_tokens: 2000", "tokens 2000 <= 2000"),
            ("max_input_tokens: 1500", "input tokens 1500 <= 1500"),
            ("max_output_tokens: 500", "output tokens 500 <= 500"),
            ("max_duration_ms: 3000", "duration 3000 ms <= 3000 ms"),
            ("max_cost_usd: 0.120", "cost 0.12 USD <= 0.120 USD"),
        ] {
            let found = trial(options, measured()).marks();
            assert_eq!((found.score.value(), found.hits), (1.0, vec![hit.to_owned()]));
        }
        for (options, miss) in [
            ("max_tool_calls: 7", "tool calls 8 > 7"),
            ("max_llm_calls: 2", "llm calls 3 > 2"),
            ("max_tokens: 0", "tokens 2000 > 0"),
        ] {
            let found = trial(options, measured()).marks();
            assert_eq!((found.score.value(), found.misses), (0.0, vec![miss.to_owned()]));
        }
    }

    #[test]
    fn what_was_not_reported_decides_whatever_the_others_say() {
        for (option, what) in [
            ("max_tool_calls: 9", "tool calls"),
            ("max_llm_calls: 9", "llm calls"),
            ("max_tokens: 9", "tokens"),
            ("max_input_tokens: 9", "tokens"),
            ("max_output_tokens: 9", "tokens"),
            ("max_cost_usd: 9", "cost"),
            ("target_exploration_ratio: 0.5", "tool calls"),
        ] {
            for duration in [1, 9] {
                let transcript = Transcript { duration_ms: Some(5), ..Transcript::of_text("ok") };
                let options = format!("{option}, max_duration_ms: {duration}");
                let fault = trial(&options, transcript).fault();
                assert_eq!(fault.message, format!("not measured: {what}"), "{options}");
            }
        }
        let fault = trial("max_duration_ms: 9", Transcript::of_text("ok")).fault();
        assert_eq!(fault.message, "not measured: duration");
    }

    #[test]
    fn the_ratio_of_exploration_is_near_its_target() {
        let ratio = |options: &str, tools: &[&str]| {
            let transcript = Transcript {
                calls: Some(tools.iter().map(|tool| call(tool)).collect()),
                ..Transcript::of_text("ok")
            };
            let found = trial(options, transcript).marks();
            let texts = [found.hits, found.misses].concat();
            (found.score.value(), texts.join("|"))
        };
        let target = "target_exploration_ratio: 0.6";
        for (options, tools, score, text) in [
            (
                target,
                &["Read", "GREP", "Bash", "Edit"][..],
                1.0,
                "exploration ratio 0.50 within 0.2 of 0.6",
            ),
            (
                target,
                &["Read", "WebFetch", "list", "glob", "Bash"],
                1.0,
                "exploration ratio 0.80 within 0.2 of 0.6",
            ),
            (
                target,
                &["Read", "Edit", "Bash"],
                0.0,
                "exploration ratio 0.3333 not within 0.2 of 0.6",
            ),
            (target, &[], 0.0, "exploration ratio: no tool calls"),
            (
                target,
                &["read_file", "search_file_content", "web_fetch", "run_shell_command", "replace"],
                1.0,
                "exploration ratio 0.60 within 0.2 of 0.6",
            ),
            (
                "target_exploration_ratio: 1, exploration_tolerance: 0, exploration_tools: [Look]",
                &["look", "LOOK"],
                1.0,
                "exploration ratio 1.00 within 0 of 1",
            ),
        ] {
            assert_eq!(ratio(options, tools), (score, text.to_owned()), "{tools:?}");
        }
    }

    #[test]
    fn the_ratio_of_an_agent_that_explores_by_commands_is_not_measured() {
        let transcript = || Transcript {
            calls: Some(vec![call("command_execution"), call("file_change")]),
            ..Transcript::of_text("ok")
        };
        let fault = trial("target_exploration_ratio: 0.5", transcript()).fault();
        assert!(fault.message.contains("Codex has no tool for it"), "{}", fault.message);
        let options = "target_exploration_ratio: 0.5, exploration_tools: [command_execution]";
        assert_eq!(trial(options, transcript()).marks().score.value(), 1.0);
    }

    #[test]
    fn every_limit_is_in_the_table() {
        for (name, _) in LIMITS {
            assert!(FIELDS.iter().any(|field| field.name == name));
        }
    }

    #[test]
    fn limits_come_out_in_the_order_of_the_format() {
        let found = read("- {type: execution-metrics, max_cost_usd: 0.10, max_tool_calls: 8}");
        assert_eq!(found.options(), r#"{"max_tool_calls":8,"max_cost_usd":0.10}"#);
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
        assert_eq!(found.names(), ["wrong-type", "out-of-range", "out-of-range", "empty-value"]);
    }
}
