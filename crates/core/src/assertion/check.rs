//! What every assertion type has in common.

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use crate::diagnostic::Diagnostic;
use crate::model::{Expected, Map, Required, RubricItem, Value, Weight};
use crate::reader::Prompt;
use crate::source::Span;
use crate::syntax::fields::Field;

use super::grading::{Step, Subject};
use super::options::Options;

/// What a type makes of keys that it does not know.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Strays {
    /// `unknown-field`.
    Warn,
    /// They are configuration of the script.
    Config,
}

/// One assertion type.
pub struct Kind {
    pub name: &'static str,
    /// Other names it is read under.
    pub aliases: &'static [&'static str],
    /// Options besides those that every type takes.
    pub fields: &'static [Field],
    pub strays: Strays,
    /// Whether the `config` option means something here.
    pub takes_config: bool,
    /// Markdown: what it checks, then examples that are read by a test.
    pub doc: &'static str,
    /// `None` when the options are wrong; then the reason has been reported.
    pub read: fn(&mut Options<'_, '_, '_>) -> Option<Box<dyn Check>>,
}

impl fmt::Debug for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Kind")
            .field("name", &self.name)
            .finish_non_exhaustive()
    }
}

/// Does a skill have to be used?
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Trigger {
    pub skill: String,
    pub should_trigger: bool,
}

/// What an assertion may know of its test while suites are read.
#[derive(Debug, Clone, Copy)]
pub struct TestView<'a> {
    pub criteria: Option<&'a str>,
    pub expected_output: Option<&'a Expected>,
    /// Where the test stands, for related places.
    pub span: Span,
}

/// A configured check of one type. Pure.
pub trait Check: fmt::Debug + Send + Sync {
    /// The options in canonical form, without those that every type has.
    fn options(&self) -> Map;

    /// What it asserts, in the words of spec 12.5.
    fn sentences(&self, common: &Common) -> Vec<String>;

    /// Looks at the evidence and concludes, or says what it has to ask first. Negation and the
    /// assertion's own gate are not its business.
    fn grade(&self, subject: &Subject<'_>) -> Step;

    /// Faults that show only in the test it is applied to. `span` is the assertion's own place.
    fn faults_in(&self, test: &TestView<'_>, span: Span) -> Vec<Diagnostic> {
        let _ = (test, span);
        Vec::new()
    }

    /// Where gates are written inside it: required items, required members, safety gates. They
    /// mean nothing once the check is negated.
    fn gates(&self) -> Vec<Span> {
        Vec::new()
    }

    /// Members of a composite.
    fn members(&self) -> &[Placed] {
        &[]
    }

    fn trigger(&self) -> Option<&Trigger> {
        None
    }

    /// What a model is asked, where the author wrote it.
    fn prompt(&self) -> Option<&Prompt> {
        None
    }

    /// What a model answers one by one.
    fn items(&self) -> &[RubricItem] {
        &[]
    }

    /// The target that judges, where the author chose one.
    fn judge(&self) -> Option<&str> {
        None
    }

    /// Whether a model has to answer for it.
    fn needs_judge(&self) -> bool {
        self.members()
            .iter()
            .any(|member| member.assertion.check.needs_judge())
    }
}

/// The options of every type.
#[derive(Debug, Clone)]
pub struct Common {
    /// Only if the author wrote one.
    pub name: Option<String>,
    pub weight: Weight,
    pub required: Required,
    /// Where the gate is written; without one, the same as `head`.
    pub required_at: Span,
    pub negate: bool,
    pub description: Option<String>,
    pub config: Map,
    /// The whole entry.
    pub span: Span,
    /// The written name, weight or first line: where faults of the list point.
    pub head: Span,
}

impl Common {
    /// Every default, for an entry that sets none of these options.
    pub fn plain(span: Span, head: Span) -> Self {
        Self {
            name: None,
            weight: Weight::default(),
            required: Required::No,
            required_at: head,
            negate: false,
            description: None,
            config: Map::new(),
            span,
            head,
        }
    }
}

#[derive(Debug)]
pub struct Assertion {
    /// Canonical; for a custom type, its own name.
    pub type_name: Cow<'static, str>,
    pub check: Box<dyn Check>,
    pub common: Common,
}

impl Assertion {
    /// A type of the author's own. Built-in names are borrowed from their kinds.
    pub fn is_custom(&self) -> bool {
        matches!(self.type_name, Cow::Owned(_))
    }

    /// What it asserts, turned round where it is negated (spec 12.5).
    pub fn sentences(&self) -> Vec<String> {
        let mut sentences = self.check.sentences(&self.common);
        if self.common.negate {
            for sentence in &mut sentences {
                sentence.insert_str(0, "NOT: ");
            }
        }
        sentences
    }
}

/// An assertion and the name it has in its list: results are keyed by it.
#[derive(Debug, Clone)]
pub struct Placed {
    pub name: Cow<'static, str>,
    pub assertion: Arc<Assertion>,
}

impl Placed {
    /// The shape of `show --format json`.
    pub fn to_value(&self) -> Value {
        let assertion = &self.assertion;
        let mut map = Map::new();
        map.insert("type", assertion.type_name.as_ref());
        map.insert("name", self.name.as_ref());
        map.insert("weight", assertion.common.weight.number().clone());
        map.insert("required", assertion.common.required.to_value());
        map.insert("negate", assertion.common.negate);
        map.insert_some("description", assertion.common.description.as_deref());
        for (key, value) in assertion.check.options().iter() {
            map.insert(key, value.clone());
        }
        if !assertion.common.config.is_empty() {
            map.insert("config", assertion.common.config.clone());
        }
        map.into()
    }
}
