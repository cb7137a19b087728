//! What the row of a case depends on beside its test: the target with its program, the arm, the skills, the
//! workspace, and what grades the answer. Rows of an earlier run may be taken over if it is the same (spec
//! 19.3).

use std::collections::HashMap;
use std::sync::Mutex;

use camino::{Utf8Path, Utf8PathBuf};
use evalrig_core::export::shown_workspace;
use evalrig_core::model::{JsonStyle, JudgePrompt, Judging, Map, NamedAssertion, Value, Workspace};
use evalrig_core::plan::PlannedCase;
use sha2::{Digest, Sha256};

use crate::disk::tree_digest;
use crate::lock::locked;
use crate::results::Row;
use crate::text::hex;
use crate::workspace::belongs_to_evals;

use super::case::CaseWork;
use super::target_variant::TargetVariant;

/// Digests of directories, each found once: at the start of the first case that needs it.
#[derive(Debug, Default)]
pub(crate) struct TreeDigests(Mutex<HashMap<(Utf8PathBuf, TreeUse), Option<String>>>);

/// What of a directory the agent is given.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum TreeUse {
    /// Without its evals and what was recorded.
    Skill,
    Template,
}

impl TreeDigests {
    fn of(&self, directory: &Utf8Path, tree_use: TreeUse) -> Option<String> {
        let mut known = locked(&self.0);
        let found = known.entry((directory.to_owned(), tree_use));
        let digest = || match tree_use {
            TreeUse::Skill => tree_digest(directory, &belongs_to_evals),
            TreeUse::Template => tree_digest(directory, &|_| false),
        };
        found.or_insert_with(digest).clone()
    }
}

impl CaseWork<'_> {
    /// `None` without an arm, and if it is not known.
    pub(super) fn setup(&self) -> Option<String> {
        let suite = self.suite_job();
        let variant = suite.variant(&self.case.target)?;
        variant.arm.as_ref()?;
        let trees = &self.job.options.trees;
        let mut map = Map::new();
        map.insert("target", suite.target(&self.case.target)?.identity()?);
        map.insert("arm", arm_value(variant));
        let mut skills = Map::new();
        for skill in variant.skills.iter().flatten() {
            skills.insert(skill.name.clone(), trees.of(&skill.directory, TreeUse::Skill)?);
        }
        map.insert("skills", Value::Map(skills));
        if let Some(workspace) = variant.workspace.as_ref().or(self.test().workspace.as_ref()) {
            map.insert("workspace", workspace_value(workspace, &suite.root, trees)?);
        }
        map.insert("grading", self.grading_value()?);
        let text = Value::Map(map).to_json(JsonStyle::Sorted);
        Some(hex(&Sha256::digest(text)))
    }

    /// What the grades depend on beside the options of the checks, which the hash of the test covers.
    fn grading_value(&self) -> Option<Value> {
        let suite = self.suite_job();
        let mut graders = Vec::new();
        self.add_graders(&self.test().assertions, &mut graders)?;
        let thresholds = suite.thresholds;
        let map = Map::new()
            .with("graders", Value::List(graders))
            .with("thresholds", format!("{} {}", thresholds.pass, thresholds.borderline))
            .with("judged", self.asks_judges())
            .with_some("readings", suite.readings.map(|readings| readings.count() as u64));
        Some(map.into())
    }

    fn asks_judges(&self) -> bool {
        self.job.options.judging == Judging::Ask
    }

    /// The scripts, prompts and judges of checks. `None` if a judge may answer differently and nothing
    /// shows it.
    fn add_graders(&self, assertions: &[NamedAssertion], graders: &mut Vec<Value>) -> Option<()> {
        for check in assertions.iter().map(|named| &named.assertion.check) {
            let files = &self.suite_job().files;
            let scripts = check.script_files();
            let states = scripts.iter().filter_map(|path| files.known_state(path));
            graders.extend(states.map(Value::from));
            if let Some(JudgePrompt::File { file: Some(file), .. }) = check.prompt() {
                graders.push(file.text.as_str().into());
            }
            if self.asks_judges() && check.members().is_empty() && check.needs_judge() {
                let judge = self.judges().judge(check.judge());
                graders.push(judge.map_or(Some("none"), |judge| judge.identity())?.into());
            }
            self.add_graders(check.members(), graders)?;
        }
        Some(())
    }

    /// Whether all checks are about skills that the arm does not have. The agent need not be asked.
    pub(super) fn measures_nothing(&self) -> bool {
        let Some(variant) = self.suite_job().variant(&self.case.target) else { return false };
        let assertions = &self.test().assertions;
        let is_absent = |named: &NamedAssertion| {
            let trigger = named.assertion.check.trigger();
            trigger.is_some_and(|trigger| !variant.has_skill(trigger.skill_name()))
        };
        variant.arm.is_some() && !assertions.is_empty() && assertions.iter().all(is_absent)
    }

    /// The row of an earlier run whose case was the same, as a row of this run. What a turn of a
    /// conversation answers depends on the others: they are taken over together or not at all.
    pub(super) fn reused_row(&self) -> Option<Row> {
        if self.job.reusable.is_empty() {
            return None;
        }
        let row = self.reusable_row()?;
        let is_whole =
            self.turns().all(|turn| turn.is_not_asked() || turn.reusable_row().is_some());
        let variant = self.suite_job().variant(&self.case.target)?;
        is_whole.then(|| Row {
            reused: true,
            baseline_arm: variant.is_baseline,
            record: None,
            ..row.clone()
        })
    }

    fn reusable_row(&self) -> Option<&Row> {
        let row = self.job.reusable.get(&self.key())?;
        let is_same = row.test_hash == self.suite_job().hash(self.case.test)
            && row.setup.is_some()
            && row.setup == self.setup();
        is_same.then_some(row)
    }

    fn is_not_asked(&self) -> bool {
        self.test().skip.is_some() || self.measures_nothing()
    }

    /// The other turns of the conversation.
    fn turns(&self) -> impl Iterator<Item = CaseWork<'_>> {
        let is_own = |case: &PlannedCase| std::ptr::eq(case, self.case);
        let is_conversation = self.test().conversation_id.is_some();
        let chains = self.suite_job().chains.iter().filter(move |_| is_conversation);
        let own = chains.filter(move |chain| chain.iter().any(is_own)).flatten();
        own.filter(move |case| !is_own(case)).map(|case| CaseWork { case, ..*self })
    }
}

fn arm_value(variant: &TargetVariant) -> Value {
    let texts = |list: &[String]| list.iter().map(|text| text.as_str().into()).collect();
    let pair = |(name, value): &(String, String)| {
        Value::List(vec![name.as_str().into(), value.as_str().into()])
    };
    Map::new()
        .with_some("model", variant.model.as_deref())
        .with("args", Value::List(texts(&variant.args)))
        .with("env", Value::List(variant.env.iter().map(pair).collect()))
        .into()
}

/// `None` if something may change that has no digest, such as a branch.
fn workspace_value(workspace: &Workspace, root: &Utf8Path, trees: &TreeDigests) -> Option<Value> {
    let is_pinned =
        |commit: &str| commit.len() >= 40 && commit.bytes().all(|byte| byte.is_ascii_hexdigit());
    if workspace.repos.iter().any(|repo| !is_pinned(&repo.commit)) {
        return None;
    }
    let mut map = Map::new();
    if let Some(template) = &workspace.template {
        map.insert("template", trees.of(template, TreeUse::Template)?);
    }
    // Where things lie does not matter, and hooks may do anything: their words must be equal.
    let settings = Workspace { template: None, ..workspace.clone() };
    map.insert("settings", shown_workspace(&settings, root));
    Some(map.into())
}
