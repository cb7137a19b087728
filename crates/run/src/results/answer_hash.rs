//! The name of an answer, by which people's labels are kept: the same words again have the same label.

use sha2::{Digest, Sha256};

use super::row::Row;
use crate::text::hex;

const DIGITS: usize = 16;

impl Row {
    /// The first 16 hexadecimal digits of the SHA-256 of the answer. `None` without an answer.
    pub fn answer_hash(&self) -> Option<String> {
        self.candidate_answer.as_deref().map(hash_of_answer)
    }
}

pub(super) fn hash_of_answer(answer: &str) -> String {
    hex(&Sha256::digest(answer.as_bytes())[..DIGITS / 2])
}

#[cfg(test)]
mod tests {
    use super::super::testing;

    #[test]
    fn equal_answers_have_equal_names() {
        let mut row = testing::row("a", 1);
        row.candidate_answer = None;
        assert_eq!(row.answer_hash(), None);
        row.candidate_answer = Some("hello".to_owned());
        assert_eq!(row.answer_hash().as_deref(), Some("2cf24dba5fb0a30e"));
    }
}
