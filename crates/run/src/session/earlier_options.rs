//! The options of an earlier run, for runs that continue it (`--resume`) or repeat its failures
//! (`--failed`). They are in the header of its results, so they need not be typed again.

use std::fmt::Display;
use std::time::Duration;

use camino::{Utf8Component, Utf8Path, Utf8PathBuf};
use evalrig_core::model::Judging;
use evalrig_core::read::{holds_cases, repository_root};

use crate::disk::Disk;
use crate::results::{Borderline, RunHeader, RunSettings};

use super::command_line::quoted;
use super::error::SessionError;
use super::resume::root_of_results;
use super::round_setup::resume_rounds;
use super::spec::RunSpec;

/// What the header of this run keeps of its options.
pub(super) fn settings_of(spec: &RunSpec, root: &Utf8Path) -> RunSettings {
    let grading = &spec.grading;
    let rule = grading.exit_rule;
    RunSettings {
        targets_file: spec.loading.targets_file.as_ref().map(|file| kept_path(file, root)),
        judge: grading.judge.clone(),
        skip_judges: grading.judging == Judging::Skip,
        judge_criteria: grading.judge_criteria,
        pass: grading.pass,
        borderline: grading.borderline,
        allow_borderline: rule.borderline == Borderline::Passes,
        pass_trials: (rule.pass_trials < 1.0).then_some(rule.pass_trials),
        workers: spec.workers,
        timeout_seconds: spec.timeout.map(|timeout| timeout.as_secs()),
        retries: spec.retries,
        no_messages: !spec.messages,
        no_record: spec.run_log.is_none() && !spec.is_run_log_off_in_ci,
        failed: spec.failed.is_some(),
    }
}

fn kept_path(file: &Utf8Path, root: &Utf8Path) -> String {
    let inside = file.strip_prefix(root).unwrap_or(file);
    inside.as_str().replace('\\', "/")
}

/// A path from a results file, which may come from anywhere: only a file inside the root counts.
pub(super) fn path_inside(root: &Utf8Path, kept: &str) -> Option<Utf8PathBuf> {
    let kept = Utf8Path::new(kept);
    let is_plain = kept.components().all(|part| matches!(part, Utf8Component::Normal(_)));
    Some(root.join(kept)).filter(|file| is_plain && is_suite_path(file))
}

/// Whether a suite can be at a path: a file, or a directory of cases.
pub(super) fn is_suite_path(path: &Utf8Path) -> bool {
    path.is_file() || holds_cases(&Disk, path)
}

/// The suite files of an earlier run, as arguments. `None` if one of them is no longer there.
pub(super) fn suites_of<'h>(
    spec: &RunSpec,
    results: &Utf8Path,
    headers: impl Iterator<Item = &'h RunHeader>,
) -> Option<Vec<String>> {
    let roots = roots(spec, results);
    let mut paths: Vec<String> = Vec::new();
    for suite in headers.flat_map(|header| &header.suites) {
        let file = roots.iter().find_map(|root| path_inside(root, &suite.file))?;
        let path = spec.loading.shown(&file).into_string();
        if !paths.contains(&path) {
            paths.push(path);
        }
    }
    (!paths.is_empty()).then_some(paths)
}

/// Where the paths of results may start.
fn roots(spec: &RunSpec, results: &Utf8Path) -> [Utf8PathBuf; 2] {
    let here = repository_root(&Disk, &spec.loading.working_directory);
    [root_of_results(&spec.loading, results), here]
}

/// Options that are given count; the others are those of the earlier run.
pub(super) fn repeat_options(spec: &mut RunSpec, results: &Utf8Path, header: &RunHeader) {
    if spec.plan.targets.is_empty() {
        spec.plan.targets.clone_from(&header.options.targets);
    }
    if spec.plan.arms.is_empty() {
        spec.plan.arms.clone_from(&header.options.arms);
    }
    if spec.plan.baseline_arm.is_none() {
        spec.plan.baseline_arm.clone_from(&header.options.baseline_arm);
    }
    spec.plan.trials = spec.plan.trials.or(header.options.trials);
    let Some(settings) = &header.settings else { return };
    take_targets_file(spec, results, settings);
    let grading = &mut spec.grading;
    if grading.judge.is_none() && !grading.judge_criteria && settings.skip_judges {
        grading.judging = Judging::Skip;
    }
    if grading.judging == Judging::Ask {
        grading.judge = grading.judge.take().or_else(|| settings.judge.clone());
        grading.judge_criteria |= settings.judge_criteria;
    }
    grading.pass = grading.pass.or(settings.pass);
    grading.borderline = grading.borderline.or(settings.borderline);
    take_free_options(spec, settings);
}

/// Takes the options of the resumed run. Fails if others are given: they would select or grade
/// other cases, so that an incomplete run could look complete.
pub(super) fn resume_options(
    spec: &mut RunSpec,
    results: &Utf8Path,
    header: &RunHeader,
) -> Result<(), SessionError> {
    let mut taken = TakenOptions::default();
    let (plan, stored) = (&mut spec.plan, &header.options);
    plan.seed = plan.seed.filter(|seed| *seed != 0);
    taken.list("--target", &mut plan.targets, &stored.targets);
    taken.list("--arm", &mut plan.arms, &stored.arms);
    taken.value("--baseline-arm", &mut plan.baseline_arm, stored.baseline_arm.as_ref());
    taken.list("--filter", &mut plan.filters, &stored.filters);
    taken.list("--tag", &mut plan.tags, &stored.tags);
    taken.value("--trials", &mut plan.trials, stored.trials.as_ref());
    taken.value("--sample", &mut plan.sample, stored.sample.as_ref());
    taken.value("--seed", &mut plan.seed, stored.seed.filter(|seed| *seed != 0).as_ref());
    taken.value("--shard", &mut plan.shard, stored.shard.as_ref());
    // As it was written.
    plan.seed = stored.seed;
    if let Some(settings) = &header.settings {
        let grading = &mut spec.grading;
        let mut skips = grading.judging == Judging::Skip;
        taken.flag("--skip-judges", &mut skips, settings.skip_judges);
        grading.judging = if skips { Judging::Skip } else { Judging::Ask };
        taken.flag("--judge-criteria", &mut grading.judge_criteria, settings.judge_criteria);
        taken.value("--judge", &mut grading.judge, settings.judge.as_ref());
        taken.value("--pass", &mut grading.pass, settings.pass.as_ref());
        taken.value("--borderline", &mut grading.borderline, settings.borderline.as_ref());
        taken.targets_file(spec, results, settings);
        take_free_options(spec, settings);
    }
    resume_rounds(spec, header, &mut taken);
    taken.check(&spec.loading.shown(results))
}

/// Options that change neither which cases there are nor how they are graded.
fn take_free_options(spec: &mut RunSpec, settings: &RunSettings) {
    let rule = &mut spec.grading.exit_rule;
    if settings.allow_borderline {
        rule.borderline = Borderline::Passes;
    }
    if let Some(share) = settings.pass_trials.filter(|_| rule.pass_trials >= 1.0) {
        rule.pass_trials = share;
    }
    spec.workers = spec.workers.or(settings.workers.filter(|workers| *workers > 0));
    spec.timeout = spec.timeout.or(settings.timeout_seconds.map(Duration::from_secs));
    spec.retries = spec.retries.or(settings.retries);
    spec.messages &= !settings.no_messages;
    if settings.no_record {
        spec.run_log = spec.run_log.take().filter(|log| log.is_asked_for);
    }
}

/// The targets file of the earlier run, if none is given and it is inside the repository.
pub(super) fn take_targets_file(spec: &mut RunSpec, results: &Utf8Path, settings: &RunSettings) {
    if spec.loading.targets_file.is_none() {
        spec.loading.targets_file = stored_targets_file(spec, results, settings);
    }
}

fn stored_targets_file(
    spec: &RunSpec,
    results: &Utf8Path,
    settings: &RunSettings,
) -> Option<Utf8PathBuf> {
    let kept = settings.targets_file.as_ref()?;
    roots(spec, results).iter().find_map(|root| path_inside(root, kept))
}

/// Compares the options that are given with those of the resumed run.
#[derive(Debug, Default)]
pub(super) struct TakenOptions {
    /// A sentence for each option that differs.
    differing: Vec<String>,
}

impl TakenOptions {
    fn value<T: Clone + PartialEq + Display>(
        &mut self,
        option: &str,
        given: &mut Option<T>,
        stored: Option<&T>,
    ) {
        if let Some(value) = given.as_ref().filter(|value| Some(*value) != stored) {
            let words = |value: &T| format!("{option} {}", quoted(&value.to_string()));
            self.differs(&words(value), stored.map(words), option);
        }
        *given = stored.cloned();
    }

    fn list(&mut self, option: &str, given: &mut Vec<String>, stored: &[String]) {
        if !given.is_empty() && *given != stored {
            let words = |values: &[String]| {
                let words = values.iter().map(|value| format!("{option} {}", quoted(value)));
                words.collect::<Vec<_>>().join(" ")
            };
            let before = (!stored.is_empty()).then(|| words(stored));
            self.differs(&words(given), before, option);
        }
        *given = stored.to_vec();
    }

    fn flag(&mut self, option: &str, given: &mut bool, stored: bool) {
        if *given && !stored {
            self.differs(option, None, option);
        }
        *given = stored;
    }

    fn targets_file(&mut self, spec: &mut RunSpec, results: &Utf8Path, settings: &RunSettings) {
        let stored = stored_targets_file(spec, results, settings);
        match (&spec.loading.targets_file, &settings.targets_file) {
            (Some(given), _) if stored.as_ref() == Some(given) => {}
            (Some(given), Some(kept)) if given.as_str().replace('\\', "/") == *kept => {}
            (Some(given), kept) => {
                let given = spec.loading.shown(given);
                let words = format!("--targets {}", quoted(given.as_str()));
                let kept = kept.as_ref().map(|kept| format!("--targets {}", quoted(kept)));
                self.differs(&words, kept, "--targets");
            }
            (None, Some(kept)) if stored.is_none() => self.differing.push(format!(
                "it was started with `--targets {}`, which is not in the repository; add the option",
                quoted(kept)
            )),
            (None, _) => spec.loading.targets_file = stored,
        }
    }

    /// `given` and `stored` are options as they are typed; none is stored if `option` was not given then.
    pub(super) fn differs(&mut self, given: &str, stored: Option<String>, option: &str) {
        self.differing.push(match stored {
            Some(stored) => format!("it was started with `{stored}`, not `{given}`; leave it out"),
            None => format!("it was started without `{option}`; leave it out"),
        });
    }

    /// Another reason than an option that is left out.
    pub(super) fn refuse(&mut self, reason: String) {
        self.differing.push(reason);
    }

    fn check(self, results: &Utf8Path) -> Result<(), SessionError> {
        if self.differing.is_empty() {
            return Ok(());
        }
        let reason = format!("cannot continue `{results}`: {}", self.differing.join("; "));
        Err(SessionError::argument("--resume", reason))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::results::PlanOptions;

    fn header(options: PlanOptions, settings: RunSettings) -> RunHeader {
        let mut header = RunHeader::new(String::new(), Vec::new(), options);
        header.settings = Some(settings);
        header
    }

    fn stored() -> RunHeader {
        let options = PlanOptions {
            targets: vec!["a b".to_owned()],
            trials: Some(5),
            seed: Some(0),
            ..PlanOptions::default()
        };
        let settings = RunSettings {
            skip_judges: true,
            pass: Some(0.5),
            workers: Some(3),
            no_record: true,
            ..RunSettings::default()
        };
        header(options, settings)
    }

    #[test]
    fn a_resumed_run_has_the_options_of_its_beginning() {
        let mut spec = RunSpec::new("/");
        resume_options(&mut spec, "/r.jsonl".into(), &stored()).unwrap();
        assert_eq!(spec.plan, stored().options);
        assert_eq!((spec.grading.judging, spec.grading.pass), (Judging::Skip, Some(0.5)));
        assert_eq!(spec.workers, Some(3));
        // Given again, they are the same; those that are free may differ.
        spec.workers = Some(1);
        resume_options(&mut spec, "/r.jsonl".into(), &stored()).unwrap();
        assert_eq!(spec.workers, Some(1));
        assert_eq!(settings_of(&spec, "/".into()).workers, Some(1));
    }

    #[test]
    fn options_that_differ_are_named_with_what_the_run_was_started_with() {
        let mut spec = RunSpec::new("/");
        spec.plan.trials = Some(2);
        spec.plan.tags = vec!["x".to_owned()];
        spec.plan.targets = vec!["b".to_owned()];
        spec.grading.judge_criteria = true;
        let error = resume_options(&mut spec, "/r.jsonl".into(), &stored()).unwrap_err();
        assert_eq!(
            error.to_string(),
            "--resume: cannot continue `r.jsonl`: \
             it was started with `--target 'a b'`, not `--target b`; leave it out; \
             it was started without `--tag`; leave it out; \
             it was started with `--trials 5`, not `--trials 2`; leave it out; \
             it was started without `--judge-criteria`; leave it out"
        );
    }

    #[test]
    fn a_repeated_run_takes_what_is_not_given() {
        let mut spec = RunSpec::new("/");
        spec.plan.trials = Some(2);
        repeat_options(&mut spec, "/r.jsonl".into(), &stored());
        assert_eq!((spec.plan.trials, &spec.plan.targets), (Some(2), &vec!["a b".to_owned()]));
        assert_eq!(spec.grading.judging, Judging::Skip);
        let mut spec = RunSpec::new("/");
        spec.grading.judge = Some("j".to_owned());
        repeat_options(&mut spec, "/r.jsonl".into(), &stored());
        assert_eq!(spec.grading.judging, Judging::Ask, "a judge is given, so it is asked");
    }

    #[test]
    fn paths_in_results_do_not_leave_the_repository() {
        let folder = tempfile::tempdir().unwrap();
        let root = Utf8Path::from_path(folder.path()).unwrap();
        std::fs::create_dir(root.join("in")).unwrap();
        std::fs::write(root.join("x.yaml"), "").unwrap();
        assert!(path_inside(root, "x.yaml").is_some());
        assert_eq!(path_inside(&root.join("in"), "../x.yaml"), None);
        assert_eq!(path_inside(root, root.join("x.yaml").as_str()), None);
    }
}
