//! From settings with variables in them to values.

use std::fmt;

use camino::{Utf8Path, Utf8PathBuf};
use evalrig_core::diagnostic::{Diagnostic, Level};
use evalrig_core::model::{Map, Number, Value};
use evalrig_core::reader::{Reference, Template};
use evalrig_core::source::Files;
use evalrig_core::syntax::fields::INVALID_OPTION;

use crate::target::{Base, Setting, Target};

/// What a provider needs to become an agent.
pub struct Connect<'a> {
    pub target: &'a Target,
    /// Where relative paths of the targets file start.
    pub base: &'a Base,
    pub root: &'a Utf8Path,
    pub files: &'a dyn Files,
    pub variable: &'a dyn Fn(&str) -> Option<String>,
}

impl fmt::Debug for Connect<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Connect")
            .field("target", &self.target.name.value)
            .finish_non_exhaustive()
    }
}

impl Connect<'_> {
    pub fn text(&self, template: &Template) -> Result<String, Diagnostic> {
        template.fill(self.variable).map_err(|unset| {
            let reference = Reference {
                name: unset.name,
                field: self.target.name.value.clone(),
                span: template.span(),
            };
            reference.missing(Level::BlocksRun)
        })
    }

    pub fn optional(&self, template: Option<&Template>) -> Result<Option<String>, Diagnostic> {
        template.map(|template| self.text(template)).transpose()
    }

    pub fn texts(&self, templates: &[Template]) -> Result<Vec<String>, Diagnostic> {
        templates.iter().map(|one| self.text(one)).collect()
    }

    /// A path of the targets file, absolute.
    pub fn path(&self, template: &Template) -> Result<Utf8PathBuf, Diagnostic> {
        let written = self.text(template)?;
        Ok(self.base.locate(self.files, &written))
    }

    /// The directory in which processes start when nobody says.
    pub fn directory(&self, cwd: Option<&Template>) -> Result<Utf8PathBuf, Diagnostic> {
        match cwd {
            Some(template) => self.path(template),
            None => Ok(self.base.directory().to_owned()),
        }
    }

    /// A setting whose variable must hold what `parse` understands.
    pub fn setting<T: Clone>(
        &self,
        setting: &Setting<T>,
        wants: &str,
        parse: impl FnOnce(&str) -> Option<T>,
    ) -> Result<T, Diagnostic> {
        let template = match setting {
            Setting::Given(value) => return Ok(value.clone()),
            Setting::Reference(template) => template,
        };
        let text = self.text(template)?;
        parse(text.trim()).ok_or_else(|| {
            let message = format!("the variable holds no {wants}");
            Diagnostic::new(&INVALID_OPTION, template.span(), message).level(Level::BlocksRun)
        })
    }

    pub fn integer(&self, setting: &Setting<u64>, min: u64, max: u64) -> Result<u64, Diagnostic> {
        let wants = format!("integer from {min} to {max}");
        self.setting(setting, &wants, |text| {
            let value = text.parse().ok()?;
            (min..=max).contains(&value).then_some(value)
        })
    }

    /// A number of at least 0.
    pub fn amount(&self, setting: &Setting<Number>) -> Result<f64, Diagnostic> {
        let number = self.setting(setting, "number of at least 0", |text| {
            Number::parse(text).filter(|number| number.value() >= 0.0)
        })?;
        Ok(number.value())
    }

    pub fn boolean(&self, setting: &Setting<bool>) -> Result<bool, Diagnostic> {
        self.setting(setting, "boolean", |text| match text {
            "true" => Some(true),
            "false" => Some(false),
            _ => None,
        })
    }

    /// Free data: references in its strings are replaced.
    pub fn value(&self, value: &Value) -> Result<Value, Diagnostic> {
        Ok(match value {
            Value::String(text) => {
                Value::String(self.text(&Template::new(text.as_str(), self.target.name.span))?)
            }
            Value::List(items) => Value::List(
                items
                    .iter()
                    .map(|item| self.value(item))
                    .collect::<Result<_, _>>()?,
            ),
            Value::Map(map) => Value::Map(self.map(map)?),
            other => other.clone(),
        })
    }

    pub fn map(&self, map: &Map) -> Result<Map, Diagnostic> {
        map.iter()
            .map(|(key, value)| Ok((key.to_owned(), self.value(value)?)))
            .collect()
    }
}
