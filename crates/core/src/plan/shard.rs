//! One part of a suite, for machines that share the work. Every test is in exactly one shard, and
//! so are all its trials and the whole conversation it belongs to.

use std::collections::HashMap;

use crate::model::Test;

/// `index` of `count`, from 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shard {
    index: usize,
    count: usize,
}

/// The text is not `I/N` with 1 ≤ I ≤ N.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ShardError;

impl Shard {
    pub fn parse(text: &str) -> Result<Self, ShardError> {
        let (index, count) = text.split_once('/').ok_or(ShardError)?;
        let number = |text: &str| text.parse::<usize>().map_err(|_| ShardError);
        let (index, count) = (number(index)?, number(count)?);
        if 1 <= index && index <= count { Ok(Self { index, count }) } else { Err(ShardError) }
    }

    pub(super) fn of(self, chosen: &[usize], tests: &[Test]) -> Vec<usize> {
        let mut conversations: HashMap<&str, usize> = HashMap::new();
        let mut units = 0;
        let mut kept = Vec::new();
        for at in chosen {
            let known = tests[*at].conversation_id.as_deref();
            let unit = match known.and_then(|id| conversations.get(id)) {
                Some(unit) => *unit,
                None => {
                    units += 1;
                    if let Some(id) = known {
                        conversations.insert(id, units - 1);
                    }
                    units - 1
                }
            };
            if unit % self.count == self.index - 1 {
                kept.push(*at);
            }
        }
        kept
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::export::testing::load;
    use crate::source::MemoryFiles;

    fn tests(count: usize) -> Vec<Test> {
        let mut text = "name: demo\ntests:\n".to_owned();
        for at in 0..count {
            let conversation = match at % 5 {
                0 => ", conversation_id: x",
                3 => ", conversation_id: y",
                _ => "",
            };
            text += &format!("  - {{id: t{at}, criteria: c, input: i{conversation}}}\n");
        }
        load(MemoryFiles::new().with("/p/EVAL.yaml", text), "/p/EVAL.yaml").suite.tests
    }

    #[test]
    fn every_test_is_in_exactly_one_shard_and_conversations_stay_together() {
        let tests = tests(37);
        let all: Vec<usize> = (0..tests.len()).collect();
        for count in 1..=9 {
            let mut seen = Vec::new();
            let mut homes: HashMap<&str, usize> = HashMap::new();
            for index in 1..=count {
                let part = Shard { index, count }.of(&all, &tests);
                for at in &part {
                    if let Some(id) = tests[*at].conversation_id.as_deref() {
                        assert_eq!(*homes.entry(id).or_insert(index), index);
                    }
                }
                seen.extend(part);
            }
            seen.sort_unstable();
            assert_eq!(seen, all, "{count}");
        }
    }

    #[test]
    fn invalid_shards_are_rejected() {
        for text in ["", "1", "0/3", "4/3", "1/0", "a/b", "-1/2", "1/2/3"] {
            assert_eq!(Shard::parse(text), Err(ShardError), "{text}");
        }
        assert!(Shard::parse("3/3").is_ok());
    }
}
