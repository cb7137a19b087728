//! Enums that are written as words in files.

/// An enum of which every value has a word. [`words!`](crate::words) implements it.
pub trait Words: Copy + 'static {
    /// In the order of the enum.
    const WORDS: &'static [&'static str];
    const ALL: &'static [Self];

    fn parse(word: &str) -> Option<Self> {
        let at = Self::WORDS.iter().position(|known| *known == word)?;
        Self::ALL.get(at).copied()
    }
}

/// Declares an enum whose values are written as words: `words! { enum Mode { InOrder = "in_order" } }`.
#[macro_export]
macro_rules! words {
    (
        $(#[$of_enum:meta])*
        $visibility:vis enum $name:ident {
            $($(#[$of_value:meta])* $value:ident = $word:literal),+ $(,)?
        }
    ) => {
        $(#[$of_enum])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        $visibility enum $name {
            $($(#[$of_value])* $value),+
        }

        impl $crate::model::Words for $name {
            const WORDS: &'static [&'static str] = &[$($word),+];
            const ALL: &'static [Self] = &[$(Self::$value),+];
        }

        impl $name {
            /// The value as it is written in files.
            pub const fn word(self) -> &'static str {
                match self {
                    $(Self::$value => $word),+
                }
            }
        }
    };
}

#[cfg(test)]
mod tests {
    use super::*;

    crate::words! {
        enum Size {
            Small = "small",
            VeryLarge = "very-large",
        }
    }

    #[test]
    fn every_word_is_read_back() {
        assert_eq!(Size::WORDS, ["small", "very-large"]);
        for size in Size::ALL {
            assert_eq!(Size::parse(size.word()), Some(*size));
        }
        assert_eq!(Size::parse("large"), None);
    }
}
