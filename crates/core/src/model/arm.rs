//! Skills that an agent is given, and arms: variants of the system under test (spec 18.3, 19).

use camino::Utf8PathBuf;

use crate::source::Span;

use super::value::{Map, Value};
use super::workspace::Workspace;

/// A directory of skills, as a suite, a target or an arm names it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SkillSource {
    /// As written.
    pub written: String,
    /// Absolute: a directory with a SKILL.md, or one that holds such directories.
    pub directory: Utf8PathBuf,
    /// Only the directories in it are skills: `DIR/*`.
    pub is_parent: bool,
    /// The git revision at which the directory is taken; as it is on disk if `None`.
    pub revision: Option<String>,
    /// Where it is written.
    pub span: Option<Span>,
}

/// A skill that was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Skill {
    /// By which agents know it.
    pub name: String,
    /// Absolute.
    pub directory: Utf8PathBuf,
}

impl Skill {
    /// A name without that of a plugin: `plugin:skill` is `skill`. No name of a skill has a colon.
    pub fn bare_name(name: &str) -> &str {
        name.rsplit_once(':').map_or(name, |(_, skill)| skill)
    }
}

/// A variant of the system under test. What it does not set is as without arms.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Arm {
    pub name: String,
    pub skills: Option<Vec<SkillSource>>,
    pub target: Option<String>,
    pub model: Option<String>,
    /// Added to those of the target.
    pub args: Vec<String>,
    pub env: Vec<(String, String)>,
    pub workspace: Option<Workspace>,
    /// Its name in the file; `None` for a built-in arm.
    pub span: Option<Span>,
}

impl Arm {
    /// An arm that changes nothing.
    pub fn plain(name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            skills: None,
            target: None,
            model: None,
            args: Vec::new(),
            env: Vec::new(),
            workspace: None,
            span: None,
        }
    }

    /// As it is written in a suite, without its name.
    pub fn to_value(&self) -> Value {
        let texts = |list: &[String]| list.iter().map(|text| text.as_str().into()).collect();
        let mut map = Map::new();
        map.insert_some("skills", self.skills.as_deref().map(skills_to_value));
        map.insert_some("target", self.target.as_deref());
        map.insert_some("model", self.model.as_deref());
        if !self.args.is_empty() {
            map.insert("args", Value::List(texts(&self.args)));
        }
        if !self.env.is_empty() {
            let entries =
                self.env.iter().map(|(name, value)| (name.clone(), value.as_str().into()));
            map.insert("env", Value::Map(entries.collect()));
        }
        map.into()
    }
}

pub fn skills_to_value(skills: &[SkillSource]) -> Value {
    Value::List(skills.iter().map(|source| source.written.as_str().into()).collect())
}
