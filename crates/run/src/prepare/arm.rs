//! Which arms of a suite run, with which skills, and which tests run in an arm (spec 19).

use std::collections::HashMap;

use camino::Utf8Path;
use evalrig_core::diagnostic::did_you_mean;
use evalrig_core::model::{Arm, Skill, SkillSource, Suite, Test};
use evalrig_core::read::{enclosing_skill, skill_name_fault, skills_in, skills_of_parent};
use evalrig_core::source::{Files, Reach};

use crate::execute::{SuiteJob, TargetVariant};
use crate::results::{ALL, WITH, WITHOUT};
use crate::target::Targets;

use super::PrepareErrors;

/// Gives the directory in which a skill source is found; a revision has to be checked out first.
pub(crate) type FindDirectory<'a> =
    dyn Fn(&SkillSource) -> Result<camino::Utf8PathBuf, String> + 'a;

/// The chosen arms of a suite, and the skills of each. One entry without an arm if there are none.
#[derive(Debug, Default)]
pub(super) struct ChosenArms {
    /// With the skills of the arm itself.
    entries: Vec<(Option<Arm>, Option<Vec<Skill>>)>,
    /// Skills of the suite.
    own: Option<Vec<Skill>>,
    /// Skills of targets that have their own, by name.
    of_targets: HashMap<String, Vec<Skill>>,
    /// The arm that others are compared with.
    baseline: Option<String>,
}

/// `--arm` and `--baseline-arm`.
#[derive(Debug, Clone, Default)]
pub(crate) struct WantedArms {
    pub(crate) names: Vec<String>,
    pub(crate) baseline: Option<String>,
}

impl ChosenArms {
    pub(super) fn choose(
        job: &SuiteJob,
        targets: &Targets,
        wanted: &WantedArms,
        directory_of: &FindDirectory<'_>,
        errors: &mut PrepareErrors,
    ) -> Self {
        let finder = SkillFinder { job, directory_of };
        let own = finder.suite_skills(errors);
        let mut of_targets = HashMap::new();
        for name in targets.names() {
            if let Some(sources) = targets.get(name).and_then(|one| one.common.skills.as_ref()) {
                of_targets.insert(name.to_owned(), finder.find(sources, errors));
            }
        }
        let built_in = match &own {
            Some(own) => built_in_arms(own),
            None if of_targets.is_empty() => Vec::new(),
            None => built_in_arms(&[]),
        };
        let arms = arms_to_run(&job.suite, &built_in, &wanted.names, errors);
        let baseline = baseline_arm(&job.suite.name, &arms, wanted, errors);
        if arms.is_empty() {
            return Self { entries: vec![(None, None)], own, of_targets, baseline };
        }
        let entries = arms.into_iter().map(|arm| {
            let skills = arm.skills.as_ref().map(|sources| finder.find(sources, errors));
            (Some(arm), skills)
        });
        Self { entries: entries.collect(), own, of_targets, baseline }
    }

    /// The variants of a test's targets, in order. A test that only demands that skills are left alone
    /// is a contract of these skills: it does not run where the agent has none of them.
    pub(super) fn variants(&self, test: &Test, targets: Vec<String>) -> Vec<TargetVariant> {
        let wishes = test.skill_wishes();
        let contract = if wishes.is_contract { &wishes.unused[..] } else { &[] };
        let mut found = Vec::new();
        for (arm, skills) in &self.entries {
            let names = match arm.as_ref().and_then(|arm| arm.target.clone()) {
                Some(target) => vec![target],
                None => targets.clone(),
            };
            for target in names {
                let nearest = skills.as_ref().or_else(|| self.of_targets.get(&target));
                let skills = nearest.or(self.own.as_ref());
                let variant = match arm {
                    Some(arm) => TargetVariant {
                        is_baseline: self.baseline.as_ref() == Some(&arm.name),
                        ..TargetVariant::of_arm(&target, arm, skills.cloned())
                    },
                    None => {
                        TargetVariant { skills: skills.cloned(), ..TargetVariant::plain(&target) }
                    }
                };
                let is_void = variant.arm.is_some()
                    && !contract.is_empty()
                    && !contract.iter().any(|skill| variant.has_skill(skill));
                if !is_void {
                    found.push(variant);
                }
            }
        }
        found
    }
}

struct SkillFinder<'a> {
    job: &'a SuiteJob,
    directory_of: &'a FindDirectory<'a>,
}

impl SkillFinder<'_> {
    /// The skills of the suite: those it names, else the one that it lies in. `None` if it is not
    /// about skills.
    fn suite_skills(&self, errors: &mut PrepareErrors) -> Option<Vec<Skill>> {
        let job = self.job;
        match &job.suite.skills {
            Some(sources) => Some(self.find(sources, errors)),
            None => {
                let reach = Reach::Inside(&job.root);
                let skill = enclosing_skill(&job.files, &job.path, &job.root, reach)?;
                match skill_name_fault(&skill.name) {
                    Some(fault) => errors.add(format!("`{}/SKILL.md`: {fault}", skill.directory)),
                    None => return Some(vec![skill]),
                }
                Some(Vec::new())
            }
        }
    }

    fn find(&self, sources: &[SkillSource], errors: &mut PrepareErrors) -> Vec<Skill> {
        let mut found: Vec<Skill> = Vec::new();
        for source in sources {
            let directory = match (self.directory_of)(source) {
                Ok(directory) => directory,
                Err(message) => {
                    errors.add(message);
                    continue;
                }
            };
            let skills = self.skills_below(&directory, source);
            if skills.is_empty() {
                errors.add(format!("`{}` in `skills` has no SKILL.md", source.written));
            }
            for skill in skills {
                if let Some(fault) = skill_name_fault(&skill.name) {
                    // A copy of it could be anywhere.
                    errors.add(format!("`{}/SKILL.md`: {fault}", skill.directory));
                } else if let Some(first) = found.iter().find(|known| known.name == skill.name) {
                    let (name, one, other) = (&skill.name, &first.directory, &skill.directory);
                    errors.add(format!("two skills are named `{name}`: `{one}` and `{other}`"));
                } else {
                    found.push(skill);
                }
            }
        }
        found
    }

    fn skills_below(&self, directory: &Utf8Path, source: &SkillSource) -> Vec<Skill> {
        let find = if source.is_parent { skills_of_parent } else { skills_in };
        if source.revision.is_some() {
            // Checked out by evalrig, outside the repository.
            return find(&crate::disk::Disk, directory, Reach::Inside(directory));
        }
        let files: &dyn Files = &self.job.files;
        find(files, directory, Reach::Inside(&self.job.root))
    }
}

/// `with`, `without`, and `all`: the skills in the directories that those of the suite lie in.
fn built_in_arms(own: &[Skill]) -> Vec<Arm> {
    let mut arms = vec![Arm::plain(WITH), Arm { skills: Some(Vec::new()), ..Arm::plain(WITHOUT) }];
    let mut sources: Vec<SkillSource> = Vec::new();
    for directory in own.iter().filter_map(|skill| skill.directory.parent()) {
        if sources.iter().all(|source| source.directory != directory) {
            let (written, directory) = (directory.to_string(), directory.to_owned());
            sources.push(SkillSource {
                written,
                directory,
                is_parent: true,
                revision: None,
                span: None,
            });
        }
    }
    if !sources.is_empty() {
        arms.push(Arm { skills: Some(sources), ..Arm::plain(ALL) });
    }
    arms
}

/// Those of `--arm`, else those of the suite. Arms of the suite go before built-in ones.
fn arms_to_run(
    suite: &Suite,
    built_in: &[Arm],
    wanted: &[String],
    errors: &mut PrepareErrors,
) -> Vec<Arm> {
    if wanted.is_empty() {
        return suite.arms.clone();
    }
    let mut arms = Vec::new();
    for name in wanted {
        match suite.arms.iter().chain(built_in).find(|arm| arm.name == *name) {
            Some(arm) => arms.push(arm.clone()),
            None => errors.add(unknown_arm(suite, built_in, name)),
        }
    }
    arms
}

/// The arm of `--baseline-arm`, else `without`, else the first. One arm alone is compared with none.
fn baseline_arm(
    suite: &str,
    arms: &[Arm],
    wanted: &WantedArms,
    errors: &mut PrepareErrors,
) -> Option<String> {
    let has = |name: &str| arms.iter().any(|arm| arm.name == name);
    if let Some(name) = wanted.baseline.as_deref().filter(|name| !has(name)) {
        let names: Vec<&str> = arms.iter().map(|arm| arm.name.as_str()).collect();
        errors.add(match &names[..] {
            [] => {
                format!("--baseline-arm: suite `{suite}` runs without arms; select some with --arm")
            }
            _ => format!("--baseline-arm: `{name}` is not run; the arms are {}", names.join(", ")),
        });
        return None;
    }
    if arms.len() < 2 {
        return None;
    }
    let default = if has(WITHOUT) { WITHOUT } else { &arms[0].name };
    Some(wanted.baseline.as_deref().unwrap_or(default).to_owned())
}

fn unknown_arm(suite: &Suite, built_in: &[Arm], name: &str) -> String {
    let mut known: Vec<&str> = Vec::new();
    // A suite may write a built-in arm of its own.
    for arm in suite.arms.iter().chain(built_in) {
        if !known.contains(&arm.name.as_str()) {
            known.push(&arm.name);
        }
    }
    let hint = match did_you_mean(name, known.iter().copied()) {
        Some(near) => format!("; did you mean `{near}`?"),
        None if known.is_empty() => "; it has no arms and no skills".to_owned(),
        None => format!("; it has {}", known.join(", ")),
    };
    format!("--arm: suite `{}` has no arm `{name}`{hint}", suite.name)
}
