//! `--cache`, and the rule that a gate uses it only if the command line says so: a gate on stored answers
//! measures the earlier run, not the agent.

use crate::args::{CacheOption, Run};
use crate::error::CommandError;

use super::rerun::typed_option;

/// Whether answers of earlier runs are used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum CacheUse {
    Off,
    On,
    /// A file or a variable turns the cache on, and `--gate` turns it off.
    OffForGate,
}

pub(super) const OFF_FOR_GATE: &str =
    "--gate asks the target for every answer; use `--cache=gate` to gate on stored answers";

pub(super) fn use_of_cache(args: &Run) -> Result<CacheUse, CommandError> {
    let typed = typed_option("--cache");
    decide(args.cache, args.gate, typed.as_deref()).map_err(CommandError::CouldNotStart)
}

/// `typed` is the option as it is on the command line.
fn decide(
    option: Option<CacheOption>,
    is_gated: bool,
    typed: Option<&str>,
) -> Result<CacheUse, String> {
    match (option, is_gated, typed) {
        (None | Some(CacheOption::Off), ..) => Ok(CacheUse::Off),
        (Some(_), false, _) | (Some(_), true, Some("--cache=gate")) => Ok(CacheUse::On),
        (Some(_), true, None) => Ok(CacheUse::OffForGate),
        (Some(_), true, Some(_)) => Err(OFF_FOR_GATE.to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_gate_uses_the_cache_only_if_the_command_line_says_so() {
        use CacheOption::{Gate, Off, On};
        let cases = [
            (None, false, None, Ok(CacheUse::Off)),
            (Some(Off), true, Some("--cache=off"), Ok(CacheUse::Off)),
            (Some(On), false, Some("--cache"), Ok(CacheUse::On)),
            (Some(Gate), false, None, Ok(CacheUse::On)),
            (Some(Gate), true, Some("--cache=gate"), Ok(CacheUse::On)),
            // From `evalrig.toml` or a variable.
            (Some(On), true, None, Ok(CacheUse::OffForGate)),
            (Some(Gate), true, None, Ok(CacheUse::OffForGate)),
            (Some(On), true, Some("--cache"), Err(OFF_FOR_GATE.to_owned())),
        ];
        for (option, is_gated, typed, expected) in cases {
            assert_eq!(
                decide(option, is_gated, typed),
                expected,
                "{option:?} {is_gated} {typed:?}"
            );
        }
    }
}
