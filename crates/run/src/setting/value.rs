//! A value that is known now, or will be when variables are.

use evalrig_core::reader::Template;

/// A number, boolean or word. Given as `${{ NAME }}` it has a value only once somebody runs.
#[derive(Debug, Clone, PartialEq)]
pub enum Setting<T> {
    Given(T),
    Reference(Template),
}

impl<T> Setting<T> {
    pub fn given(&self) -> Option<&T> {
        match self {
            Self::Given(value) => Some(value),
            Self::Reference(_) => None,
        }
    }

    pub fn map<U>(self, change: impl FnOnce(T) -> U) -> Setting<U> {
        match self {
            Self::Given(value) => Setting::Given(change(value)),
            Self::Reference(template) => Setting::Reference(template),
        }
    }
}
