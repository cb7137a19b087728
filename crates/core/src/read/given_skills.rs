//! The names of the skills that an agent may be given, to find triggers of others (spec 19.1).

use std::collections::BTreeSet;
use std::sync::Arc;

use camino::Utf8Path;

use crate::model::{Arm, Skill, SkillSource};
use crate::reader::{Reader, TargetNames};

use super::skill_file::{enclosing_skill, skills_in, skills_of_parent};

/// Those of the suite, its arms and the targets, and those beside them, which the arm `all` has. `None` if
/// no list of skills is written, or not all of them are known, as at a git revision.
pub(super) fn given_skills(
    reader: &Reader<'_>,
    suite: &Utf8Path,
    own: Option<&[SkillSource]>,
    arms: &[Arm],
) -> Option<Arc<[String]>> {
    let of_targets = match &reader.policy.targets {
        TargetNames::Known { skills, .. } => skills.as_slice(),
        TargetNames::NoFile | TargetNames::Unchecked => &[],
    };
    let of_arms = arms.iter().filter_map(|arm| arm.skills.as_deref()).flatten();
    let mut found = Vec::new();
    for source in own.unwrap_or_default().iter().chain(of_arms).chain(of_targets) {
        let skills = skills_of(reader, source)?;
        found.extend(skills);
    }
    if found.is_empty() {
        return None;
    }
    let (files, reach) = (reader.world.files, reader.reach());
    if own.is_none() {
        found.extend(enclosing_skill(files, suite, &reader.root, reach));
    }
    let parents: BTreeSet<_> = found.iter().filter_map(|one| one.directory.parent()).collect();
    let beside = parents.into_iter().flat_map(|parent| skills_of_parent(files, parent, reach));
    let names: BTreeSet<String> = beside.chain(found.iter().cloned()).map(|one| one.name).collect();
    Some(names.into_iter().collect())
}

/// `None` if they are not known.
fn skills_of(reader: &Reader<'_>, source: &SkillSource) -> Option<Vec<Skill>> {
    let find = if source.is_parent { skills_of_parent } else { skills_in };
    let found = find(reader.world.files, &source.directory, reader.reach());
    (source.revision.is_none() && !found.is_empty()).then_some(found)
}
