//! `skills` of a row and of a journaled transcript: what the agent was offered, and what it used
//! (spec 18.3).

use evalrig_core::model::{SkillEvents, SkillUse, SkillUseKind, SkillWishes, Value};
use serde::{Deserialize, Serialize};

use crate::json::{from_json, to_json};

/// What is not known is null.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct RowSkills {
    pub offered: Option<Vec<String>>,
    pub used: Option<Vec<RowSkillUse>>,
    /// Skills that evalrig gave the agent; absent if the suite is not about skills.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub given: Option<Vec<String>>,
    /// Skills that the test wants to be used.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub wanted: Vec<String>,
    /// Skills that the test wants to be left alone.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unwanted: Vec<String>,
    /// The test demands nothing but that skills are left alone.
    #[serde(skip_serializing_if = "is_false")]
    pub contract: bool,
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "the signature that serde wants")]
fn is_false(flag: &bool) -> bool {
    !*flag
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RowSkillUse {
    pub name: String,
    /// `tool`, `read`, `script` or `explicit`.
    pub how: String,
    pub ok: bool,
    /// Index of the call, from 0.
    #[serde(default)]
    pub call: Option<usize>,
    #[serde(default)]
    pub subagent: bool,
}

impl RowSkills {
    /// `None` if nothing is known.
    pub(crate) fn of(skills: &SkillEvents) -> Option<Self> {
        if *skills == SkillEvents::default() {
            return None;
        }
        let used = skills.used.as_ref();
        Some(Self {
            offered: skills.offered.clone(),
            used: used.map(|used| used.iter().map(RowSkillUse::of).collect()),
            ..Self::default()
        })
    }

    /// What the agent did, with what it was given and what the test wants. `None` if all of it is
    /// unknown.
    pub(crate) fn of_case(
        events: Option<&SkillEvents>,
        given: Option<Vec<String>>,
        wishes: &SkillWishes<'_>,
    ) -> Option<Self> {
        let owned = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
        let skills = Self {
            given,
            wanted: owned(&wishes.used),
            unwanted: owned(&wishes.unused),
            contract: wishes.is_contract,
            ..events.and_then(Self::of).unwrap_or_default()
        };
        (skills != Self::default()).then_some(skills)
    }

    /// Of a test that wants some of the given skills, or else that none is used.
    #[cfg(test)]
    pub(crate) fn testing(given: &[&str], wanted: &[&str], used: &[&str]) -> Self {
        let owned = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
        let event = |name: &&str| RowSkillUse {
            name: (*name).to_owned(),
            how: "tool".to_owned(),
            ok: true,
            call: None,
            subagent: false,
        };
        Self {
            offered: None,
            used: Some(used.iter().map(event).collect()),
            given: Some(owned(given)),
            wanted: owned(wanted),
            unwanted: if wanted.is_empty() { owned(given) } else { Vec::new() },
            contract: wanted.is_empty(),
        }
    }

    /// Uses of a kind that this version does not know are left out.
    pub(crate) fn events(&self) -> SkillEvents {
        let used = self.used.as_ref();
        SkillEvents {
            offered: self.offered.clone(),
            used: used.map(|used| used.iter().filter_map(RowSkillUse::event).collect()),
        }
    }
}

impl RowSkillUse {
    fn of(used: &SkillUse) -> Self {
        Self {
            name: used.name.clone(),
            how: used.how.word().to_owned(),
            ok: used.ok,
            call: used.call,
            subagent: used.subagent,
        }
    }

    fn event(&self) -> Option<SkillUse> {
        Some(SkillUse {
            name: self.name.clone(),
            how: SkillUseKind::parse(&self.how)?,
            ok: self.ok,
            call: self.call,
            subagent: self.subagent,
        })
    }
}

/// For the journal, in the form of a row.
pub(super) fn skills_value(skills: &SkillEvents) -> Option<Value> {
    let json = serde_json::to_value(RowSkills::of(skills)?).ok()?;
    Some(from_json(&json))
}

pub(super) fn read_skills(value: &Value) -> SkillEvents {
    let read: Result<RowSkills, _> = serde_json::from_value(to_json(value));
    read.map(|row| row.events()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn used(how: SkillUseKind, call: Option<usize>) -> SkillUse {
        SkillUse { name: "csv".to_owned(), how, ok: true, call, subagent: call.is_none() }
    }

    #[test]
    fn events_come_back_as_they_were() {
        let uses: Vec<_> = SkillUseKind::ALL.iter().map(|how| used(*how, Some(3))).collect();
        for skills in [
            SkillEvents { offered: None, used: Some(uses) },
            SkillEvents { offered: Some(Vec::new()), used: None },
            SkillEvents { offered: Some(vec!["a".to_owned()]), used: Some(Vec::new()) },
            SkillEvents {
                offered: None,
                used: Some(vec![SkillUse { ok: false, ..used(SkillUseKind::Read, None) }]),
            },
        ] {
            assert_eq!(read_skills(&skills_value(&skills).unwrap()), skills);
        }
        assert_eq!(skills_value(&SkillEvents::default()), None);
    }

    #[test]
    fn a_use_of_an_unknown_kind_is_left_out() {
        let text =
            r#"{"used":[{"name":"a","how":"wish","ok":true},{"name":"b","how":"tool","ok":true}]}"#;
        let read: RowSkills = serde_json::from_str(text).unwrap();
        let names: Vec<_> = read.events().used.unwrap().into_iter().map(|one| one.name).collect();
        assert_eq!(names, ["b"]);
    }
}
