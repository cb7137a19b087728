//! Resolves settings once variables are known.

use std::fmt;

use camino::Utf8PathBuf;
use evalrig_core::diagnostic::{Diagnostic, Level};
use evalrig_core::model::{Map, Number, Value, Words};
use evalrig_core::reader::{EXPANSION_LIMIT, FillError, InsertionBudget, Reference, Template};
use evalrig_core::source::{Files, Span, Spanned};
use evalrig_core::syntax::fields::INVALID_OPTION;

use super::{Common, FilesMode, PathBase, Setting};

/// A setting that turns out to be invalid once variables are known.
pub(crate) fn unusable(span: Span, message: impl Into<String>) -> Diagnostic {
    Diagnostic::new(&INVALID_OPTION, span, message).level(Level::BlocksRun)
}

/// What a provider needs to make an agent.
pub struct ConnectContext<'a> {
    /// The name of the target.
    pub name: &'a Spanned<String>,
    pub common: &'a Common,
    /// `files` of the target, or the default of its provider.
    pub attachments: Setting<FilesMode>,
    /// Variables that may hold the key of a target without `api_key`; the first that is set counts.
    pub key_variables: &'static [&'static str],
    /// Where relative paths of the targets file start.
    pub base: &'a PathBase,
    pub files: &'a dyn Files,
    pub variable: &'a dyn Fn(&str) -> Option<String>,
    /// The model of the arm, in place of the target's.
    pub arm_model: Option<&'a str>,
    /// Arguments that the arm adds.
    pub arm_args: &'a [String],
    /// What the options of this target may still insert.
    pub insertions: InsertionBudget,
}

impl fmt::Debug for ConnectContext<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ConnectContext").field("target", &self.name.value).finish_non_exhaustive()
    }
}

impl ConnectContext<'_> {
    pub fn text(&self, template: &Template) -> Result<String, Diagnostic> {
        let text = template.fill_within(&self.insertions, self.variable);
        text.map_err(|error| match error {
            FillError::Unset(name) => self.unset(name, template.span()),
            FillError::TooLong => {
                let message = "references insert more text than the options of a target may hold";
                Diagnostic::new(&EXPANSION_LIMIT, template.span(), message).level(Level::BlocksRun)
            }
        })
    }

    /// The model: that of the arm, else that of the target.
    pub fn model(&self, own: Option<&Template>) -> Result<Option<String>, Diagnostic> {
        match self.arm_model {
            Some(model) => Ok(Some(model.to_owned())),
            None => self.optional(own),
        }
    }

    /// A diagnostic for a variable that is not set.
    pub fn unset(&self, variable: impl Into<String>, span: Span) -> Diagnostic {
        let reference = Reference { name: variable.into(), field: self.name.value.clone(), span };
        reference.missing(Level::BlocksRun)
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

    /// The working directory of processes: `cwd`, else where the paths of the targets file start.
    pub fn directory(&self, cwd: Option<&Template>) -> Result<Utf8PathBuf, Diagnostic> {
        match cwd {
            Some(template) => self.path(template),
            None => Ok(self.base.directory().to_owned()),
        }
    }

    /// The value of a setting; a variable must hold a value that `parse` accepts.
    pub fn setting<T: Clone>(
        &self,
        setting: &Setting<T>,
        expected: &str,
        parse: impl FnOnce(&str) -> Option<T>,
    ) -> Result<T, Diagnostic> {
        let template = match setting {
            Setting::Given(value) => return Ok(value.clone()),
            Setting::Reference(template) => template,
        };
        let text = self.text(template)?;
        parse(text.trim()).ok_or_else(|| {
            let message = format!("the variable does not hold {expected}");
            unusable(template.span(), message)
        })
    }

    pub fn integer(&self, setting: &Setting<u64>, min: u64, max: u64) -> Result<u64, Diagnostic> {
        let expected = format!("an integer from {min} to {max}");
        self.setting(setting, &expected, |text| {
            let value = text.parse().ok()?;
            (min..=max).contains(&value).then_some(value)
        })
    }

    pub fn count(&self, setting: Option<&Setting<u64>>) -> Result<Option<u64>, Diagnostic> {
        let count = setting.map(|setting| self.integer(setting, 0, u64::MAX));
        count.transpose()
    }

    /// A number of at least 0.
    pub fn amount(&self, setting: &Setting<Number>) -> Result<f64, Diagnostic> {
        let number = self.setting(setting, "a number of at least 0", |text| {
            Number::parse(text).filter(|number| number.value() >= 0.0)
        })?;
        Ok(number.value())
    }

    pub fn boolean(&self, setting: &Setting<bool>) -> Result<bool, Diagnostic> {
        self.setting(setting, "a boolean", |text| match text {
            "true" => Some(true),
            "false" => Some(false),
            _ => None,
        })
    }

    /// How attached files are shown.
    pub fn files_mode(&self) -> Result<FilesMode, Diagnostic> {
        self.choice(&self.attachments, "a value of `files`")
    }

    pub fn choice<T: Words>(&self, setting: &Setting<T>, expected: &str) -> Result<T, Diagnostic> {
        self.setting(setting, expected, T::parse)
    }

    /// The value of the first key variable that is set and not blank.
    pub fn default_key(&self) -> Option<String> {
        let values = self.key_variables.iter();
        let mut values = values.filter_map(|name| (self.variable)(name));
        values.find(|value| !value.trim().is_empty())
    }

    /// Free data: references in its strings are replaced.
    pub fn value(&self, value: &Value) -> Result<Value, Diagnostic> {
        Ok(match value {
            Value::String(text) => {
                Value::String(self.text(&Template::new(text.as_str(), self.name.span))?)
            }
            Value::List(items) => {
                Value::List(items.iter().map(|item| self.value(item)).collect::<Result<_, _>>()?)
            }
            Value::Map(map) => Value::Map(self.map(map)?),
            other => other.clone(),
        })
    }

    pub fn map(&self, map: &Map) -> Result<Map, Diagnostic> {
        map.iter().map(|(key, value)| Ok((key.to_owned(), self.value(value)?))).collect()
    }
}
