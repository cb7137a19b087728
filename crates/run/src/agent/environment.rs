//! Environment variables that a program gets in addition to the inherited ones.

use std::fmt;

use evalrig_core::diagnostic::Diagnostic;
use evalrig_core::syntax::fields::{Field, Shape};

use crate::setting::{ConnectContext, Secret};

use super::request::Request;

pub(crate) const CWD: Field = Field::new(
    "cwd",
    Shape::NonEmptyText,
    "working directory; default: the directory that paths of this file are relative to",
);

pub(crate) const ENV: Field =
    Field::new("env", Shape::MapOf(&Shape::Text), "environment variables to add");

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
        let unset = defaults.iter().filter(|(name, _)| (connect.variable)(name).is_none());
        let mut all: Vec<_> =
            unset.map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        for (name, value) in written {
            all.push((name.clone(), connect.text(&value.0)?));
        }
        Ok(Self(all))
    }

    /// With the variables of the arm, of the workspace and of the case: the later one takes precedence.
    pub(crate) fn for_case(&self, request: &Request<'_>) -> Vec<(String, String)> {
        let mut all = self.0.clone();
        all.extend_from_slice(request.env);
        if let Some(place) = request.place {
            all.extend_from_slice(place.env);
        }
        all.extend([
            ("EVALRIG_SUITE".to_owned(), request.suite.to_owned()),
            ("EVALRIG_TEST_ID".to_owned(), request.test_id.to_owned()),
            ("EVALRIG_TRIAL".to_owned(), request.trial.to_string()),
            ("EVALRIG_ATTEMPT".to_owned(), request.attempt.to_string()),
        ]);
        all
    }
}
