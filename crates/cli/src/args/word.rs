//! Options whose values are the words of an enum declared elsewhere.

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use evalrig_core::model::Words;

/// Parses the words of an enum. `hidden` lists further spellings, each with the word it is read as;
/// help does not show them.
pub(super) fn word_parser<T: Words + Send + Sync>(
    hidden: &'static [(&'static str, &'static str)],
) -> impl TypedValueParser<Value = T> {
    let values = T::WORDS.iter().map(move |word| {
        let spellings = hidden.iter().filter(move |(_, known)| known == word);
        PossibleValue::new(*word).aliases(spellings.map(|(spelling, _)| *spelling))
    });
    PossibleValuesParser::new(values).try_map(move |typed| {
        let renamed = hidden.iter().find(|(spelling, _)| *spelling == typed);
        let word = renamed.map_or(typed.as_str(), |(_, word)| *word);
        T::parse(word).ok_or_else(|| format!("unknown value `{typed}`"))
    })
}

#[cfg(test)]
mod tests {
    use clap::Parser;
    use evalrig_core::export::Audience;

    use crate::args::{Cli, Command};

    fn audience(word: &str) -> Option<Audience> {
        let typed = ["evalrig", "transpile", "EVAL.yaml", "--for", word];
        match Cli::try_parse_from(typed).ok()?.command {
            Command::Transpile(args) => Some(args.audience),
            _ => None,
        }
    }

    #[test]
    fn every_word_and_the_hidden_spelling_are_parsed() {
        for known in Audience::ALL {
            assert_eq!(audience(known.word()), Some(*known));
        }
        assert_eq!(audience("issue-598"), Some(Audience::AgentEvals));
        assert_eq!(audience("agent-evals"), None);
    }
}
