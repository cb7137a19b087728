//! Enums that are written as words in files.

/// An enum of which every value has a word, for generic readers. [`words!`](crate::words)
/// implements it.
pub trait Words: Copy + 'static {
    const WORDS: &'static [&'static str];

    fn parse(word: &str) -> Option<Self>;
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

        #[allow(dead_code, reason = "not every enum needs all of them")]
        impl $name {
            /// In the order of the enum.
            pub const WORDS: &'static [&'static str] = &[$($word),+];
            pub const ALL: &'static [Self] = &[$(Self::$value),+];

            /// As it is written in files.
            pub const fn word(self) -> &'static str {
                match self {
                    $(Self::$value => $word),+
                }
            }

            pub fn parse(word: &str) -> Option<Self> {
                match word {
                    $($word => Some(Self::$value),)+
                    _ => None,
                }
            }
        }

        impl $crate::model::Words for $name {
            const WORDS: &'static [&'static str] = Self::WORDS;

            fn parse(word: &str) -> Option<Self> {
                Self::parse(word)
            }
        }
    };
}

#[cfg(test)]
mod tests {
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
