//! Environment variables that a program gets in addition to the inherited ones.

use std::fmt;

use evalrig_core::diagnostic::Diagnostic;

use crate::setting::Secret;

use super::request::Request;
use crate::setting::ConnectContext;

/// Names and values. Debug output shows only the names.
#[derive(Clone, Default)]
pub(crate) struct Environment(Vec<(String, String)>);

impl fmt::Debug for Environment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = self.0.iter().map(|(name, _)| name);
        f.debug_set().entries(names).finish()
    }
}

impl Environment {
    /// `defaults` that are not set in the environment, then the variables of the target.
    pub(crate) fn of(
        defaults: &[(&str, &str)],
        written: &[(String, Secret)],
        connect: &ConnectContext<'_>,
    ) -> Result<Self, Diagnostic> {
        let unset = defaults
            .iter()
            .filter(|(name, _)| (connect.variable)(name).is_none());
        let mut all: Vec<_> = unset
            .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
            .collect();
        for (name, value) in written {
            all.push((name.clone(), connect.text(&value.0)?));
        }
        Ok(Self(all))
    }

    pub(crate) fn as_slice(&self) -> &[(String, String)] {
        &self.0
    }

    /// With the variables of the case, which take precedence.
    pub(crate) fn for_case(&self, request: &Request<'_>) -> Vec<(String, String)> {
        let mut all = self.0.clone();
        for (name, value) in [
            ("EVALRIG_TEST_ID", request.test_id.to_owned()),
            ("EVALRIG_TRIAL", request.trial.to_string()),
            ("EVALRIG_ATTEMPT", request.attempt.to_string()),
        ] {
            all.push((name.to_owned(), value));
        }
        all
    }
}
