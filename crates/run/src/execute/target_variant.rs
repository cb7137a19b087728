//! A target as an arm uses it: what an arm changes for the agent, and the skills it is given.

use std::collections::HashMap;

use evalrig_core::compare::CaseArm;
use evalrig_core::model::{Arm, Skill, Workspace};
use evalrig_core::source::Span;

use crate::results::variant_name;

/// A target, and what an arm makes of it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct TargetVariant {
    pub(crate) target: String,
    pub(crate) arm: Option<String>,
    /// Other arms are compared with this one.
    pub(crate) is_baseline: bool,
    /// The skills that the agent is given; `None` if the suite is not about skills.
    pub(crate) skills: Option<Vec<Skill>>,
    pub(crate) model: Option<String>,
    pub(crate) args: Vec<String>,
    pub(crate) env: Vec<(String, String)>,
    pub(crate) workspace: Option<Workspace>,
    /// Where the suite has the arm.
    pub(crate) place: Option<Span>,
}

impl TargetVariant {
    /// A target without an arm.
    pub(crate) fn plain(target: &str) -> Self {
        Self { target: target.to_owned(), ..Self::default() }
    }

    pub(crate) fn of_arm(target: &str, arm: &Arm, skills: Option<Vec<Skill>>) -> Self {
        Self {
            target: target.to_owned(),
            arm: Some(arm.name.clone()),
            is_baseline: false,
            skills,
            model: arm.model.clone(),
            args: arm.args.clone(),
            env: arm.env.clone(),
            workspace: arm.workspace.clone(),
            place: arm.span,
        }
    }

    /// Whether its arm changes how the agent is called.
    pub(crate) fn changes_target(&self) -> bool {
        self.model.is_some() || !self.args.is_empty() || !self.env.is_empty()
    }

    /// Its arm in comparisons with other runs.
    pub(crate) fn compared_arm(&self) -> Option<CaseArm> {
        let name = self.arm.clone()?;
        Some(CaseArm { name, is_baseline: self.is_baseline })
    }

    /// By which cases refer to it.
    pub(crate) fn name(&self) -> String {
        variant_name(&self.target, self.arm.as_deref())
    }

    /// Names of the skills that the agent is given; `None` if the suite is not about skills.
    pub(crate) fn skill_names(&self) -> Option<Vec<String>> {
        let skills = self.skills.as_ref()?;
        Some(skills.iter().map(|skill| skill.name.clone()).collect())
    }

    /// Whether the agent is given a skill. Without skills of its own, everything is as before.
    pub(crate) fn has_skill(&self, name: &str) -> bool {
        self.skills.as_ref().is_none_or(|skills| skills.iter().any(|skill| skill.name == name))
    }
}

/// The variants of a suite, by the name that cases use.
pub(crate) type TargetVariants = HashMap<String, TargetVariant>;
