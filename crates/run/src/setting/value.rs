//! A value of a targets file that may depend on a variable.

use evalrig_core::reader::Template;

/// A number, boolean or word. `${{ NAME }}` in its place gets its value when a suite is run.
#[derive(Debug, Clone, PartialEq)]
pub enum Setting<T> {
    Given(T),
    Reference(Template),
}

impl<T> Setting<T> {
    pub fn map<U>(self, change: impl FnOnce(T) -> U) -> Setting<U> {
        match self {
            Self::Given(value) => Setting::Given(change(value)),
            Self::Reference(template) => Setting::Reference(template),
        }
    }
}
