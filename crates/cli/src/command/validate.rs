//! `validate`: reads everything and reports every mistake.

mod fix;

use std::collections::{HashMap, HashSet};

use camino::{Utf8Path, Utf8PathBuf};
use evalrig_core::diagnostic::{Diagnostics, Severity};
use evalrig_core::import::DirectReading;
use evalrig_core::read::{self, DiscardTests, Findings as ReadFindings, FoundSuite, LoadRequest};
use evalrig_core::reader::{ReadPolicy, TargetNames};
use evalrig_core::repair::{Reading, repair};
use evalrig_core::source::{EntryKind, Files, Reach, Sources, Span};
use evalrig_run::disk::Disk;
use evalrig_run::session::{
    LoadOptions, known_secrets, missing_revisions, missing_revisions_of_targets,
};
use evalrig_run::target::{find_targets_file, is_agentv, reach_of_found, read_targets};
use evalrig_run::text::single_line;

use crate::args::Validate;
use crate::command::suite::direct_reading;
use crate::context::Context;
use crate::error::CommandError;
use crate::exit::Exit;
use crate::output::{print_findings, print_message};
use crate::render::{self, Findings, format_named};

pub fn run(context: &Context, args: &Validate) -> Result<Exit, CommandError> {
    context.check(&args.loading)?;
    let (found, unchecked) = context.discover_noting(&args.paths)?;
    let mut check = Check::run(context, args, &found)?;
    let mut fixed = 0;
    if args.fix {
        let repaired = repair(&Disk, check, |files| Check::run_on(context, args, &found, files))?;
        if args.diff {
            return fix::show(context, &repaired);
        }
        fixed = repaired.fixed;
        fix::write(context, args, &repaired.files)?;
        check = repaired.reading;
    }
    let out = check.findings.diagnostics();
    let (errors, is_clean) = (out.errors(), out.is_empty());
    if !(context.global.quiet && is_clean) {
        check.show(context, &args.format)?;
    }
    if !context.global.quiet {
        unchecked.iter().for_each(|text| print_message(text));
    }
    if fixed > 0 && !context.global.quiet {
        let noun = if fixed == 1 { "place" } else { "places" };
        print_message(&format!("fixed {fixed} {noun}"));
    }
    Ok(if errors > 0 { Exit::Failure } else { Exit::Success })
}

/// The result of one pass over the files.
#[derive(Debug)]
struct Check {
    pub findings: ReadFindings,
    files: usize,
    tests: usize,
}

impl Reading for Check {
    fn diagnostics(&self) -> &Diagnostics {
        self.findings.diagnostics()
    }

    fn sources(&self) -> &Sources {
        self.findings.sources()
    }
}

impl Check {
    pub fn run(
        context: &Context,
        args: &Validate,
        found: &[FoundSuite],
    ) -> Result<Self, CommandError> {
        Self::run_on(context, args, found, &Disk)
    }

    /// Like [`Check::run`], for files that may not be on disk yet.
    pub fn run_on(
        context: &Context,
        args: &Validate,
        found: &[FoundSuite],
        files: &dyn Files,
    ) -> Result<Self, CommandError> {
        let mut check = Self {
            findings: if args.strict { ReadFindings::strict() } else { ReadFindings::new() },
            files: 0,
            tests: 0,
        };
        let mut targets = TargetFiles::new(context, args)?;
        let mut names: HashMap<String, (Span, Utf8PathBuf)> = HashMap::new();
        let mut directories = HashSet::new();
        for one in found {
            let directory = one.path.parent().unwrap_or(&one.path);
            if directories.insert(directory) {
                let options = LoadOptions {
                    targets_file: args.targets.as_ref().map(|file| context.absolute(file)),
                    ..context.load_options(&args.loading)
                };
                check.findings.add_secrets(known_secrets(&options, directory));
            }
            check.load(context, args, one, &mut targets, &mut names, files);
        }
        check.files += targets.files.len();
        Ok(check)
    }

    fn load(
        &mut self,
        context: &Context,
        args: &Validate,
        one: &FoundSuite,
        targets: &mut TargetFiles,
        names: &mut HashMap<String, (Span, Utf8PathBuf)>,
        files: &dyn Files,
    ) {
        let world = evalrig_core::reader::World { files, ..context.world() };
        let root = context.root(&args.loading, &one.path);
        let known = targets.names_for(self, context, &one.path, &root, files);
        let limits = ReadPolicy { targets: known, ..context.limits(&args.loading) };
        let mut findings = std::mem::take(&mut self.findings);
        let direct = match direct_reading(context, files, one, &root, &limits, &mut findings) {
            DirectReading::Native => None,
            DirectReading::Converted(suite) => Some(suite),
            DirectReading::Refused => {
                self.findings = findings;
                self.files += 1;
                return;
            }
        };
        let request = LoadRequest::new(world, &limits, &one.path, &root)
            .origin(one.origin)
            .converted(direct.as_ref().map(|suite| suite.text.as_str()));
        let loaded = read::load(&request, findings, &mut DiscardTests);
        let is_targets_file = loaded.is_targets_file();
        if !is_targets_file {
            self.files += loaded.files();
            self.tests += loaded.tests();
        }
        let header = loaded.header().cloned();
        self.findings = loaded.into_findings();
        if is_targets_file {
            targets.read(self, context, &one.path, &root, files);
            return;
        }
        if let Some(header) = header {
            for fault in missing_revisions(&header) {
                self.findings.report(fault);
            }
            match names.get(&header.name) {
                Some((first, path)) => {
                    let found = read::duplicate_suite_name(&header.name, *first, header.name_span);
                    let help = help_for_copies(context, path, &one.path);
                    self.findings.report(match help {
                        Some(help) => found.help(help),
                        None => found,
                    });
                }
                None => {
                    names.insert(header.name, (header.name_span, one.path.clone()));
                }
            }
        }
    }

    fn show(self, context: &Context, format: &str) -> Result<(), CommandError> {
        let out = self.findings.diagnostics();
        let (errors, warnings, dropped) = (out.errors(), out.warnings(), out.dropped());
        let (sources, mut diagnostics, secrets) = self.findings.into_parts();
        if !context.global.verbose {
            diagnostics.retain(|one| one.level.severity() > Severity::Note);
        }
        render::sort(&mut diagnostics, &sources);
        let findings = Findings {
            sources: &sources,
            diagnostics: &diagnostics,
            errors,
            warnings,
            dropped,
            files: self.files,
            tests: self.tests,
            working_directory: &context.working_directory,
            secrets: &secrets,
        };
        match format_named(format, context.look()) {
            Some(format) => print_findings(&*format, &findings),
            None => Ok(()),
        }
    }
}

/// An evals.json and the suite that `convert` made of it have one name because they have the same tests.
fn help_for_copies(context: &Context, first: &Utf8Path, second: &Utf8Path) -> Option<String> {
    let is_json = |path: &&Utf8Path| path.extension() == Some("json");
    let (json, suite) = match (is_json(&first), is_json(&second)) {
        (true, false) => (first, second),
        (false, true) => (second, first),
        _ => return None,
    };
    let [json, suite] = [json, suite].map(|path| single_line(context.shown(path).as_str()));
    Some(format!(
        "if `{suite}` was converted from `{json}`, delete one of them, or exclude it with `'!{json}'`"
    ))
}

/// The targets files of all suites, each read once.
struct TargetFiles {
    chosen: Option<Utf8PathBuf>,
    policy: ReadPolicy,
    files: HashMap<Utf8PathBuf, TargetNames>,
    /// Files read for their names only; their diagnostics are dropped.
    quiet: HashMap<Utf8PathBuf, TargetNames>,
}

impl TargetFiles {
    fn new(context: &Context, args: &Validate) -> Result<Self, CommandError> {
        let chosen = args.targets.as_ref().map(|file| context.absolute(file));
        if let Some(file) = &chosen
            && Disk.kind(file) != Some(EntryKind::File)
        {
            let shown = args.targets.as_deref().unwrap_or_default();
            return Err(CommandError::CouldNotStart(format!("`{shown}` is not a file")));
        }
        let policy = context.limits(&args.loading);
        Ok(Self { chosen, policy, files: HashMap::new(), quiet: HashMap::new() })
    }

    /// The target names that a suite may use.
    fn names_for(
        &mut self,
        check: &mut Check,
        context: &Context,
        suite: &Utf8Path,
        root: &Utf8Path,
        files: &dyn Files,
    ) -> TargetNames {
        let directory = suite.parent().unwrap_or(suite);
        let file = match &self.chosen {
            Some(file) => Some(file.clone()),
            None => find_targets_file(files, directory, root, &context.working_directory),
        };
        match file {
            // That file belongs to another tool; only its names matter here.
            Some(file) if self.chosen.is_none() && is_agentv(&file) => {
                self.names_of(context, &file, root, files)
            }
            Some(file) => self.read(check, context, &file, root, files),
            None => TargetNames::NoFile,
        }
    }

    /// Where a targets file may lead.
    fn reach<'r>(&self, context: &'r Context, file: &Utf8Path, root: &'r Utf8Path) -> Reach<'r> {
        match self.chosen {
            Some(_) => Reach::Anywhere,
            None => reach_of_found(&self.policy, file, root, &context.working_directory),
        }
    }

    fn names_of(
        &mut self,
        context: &Context,
        file: &Utf8Path,
        root: &Utf8Path,
        files: &dyn Files,
    ) -> TargetNames {
        if let Some(known) = self.quiet.get(file) {
            return known.clone();
        }
        let world = evalrig_core::reader::World { files, ..context.world() };
        let (mut sources, mut out) = (Sources::new(), Diagnostics::new());
        let targets = read_targets(
            world,
            &mut sources,
            &mut out,
            file,
            root,
            self.reach(context, file, root),
        );
        let names = targets.map_or(TargetNames::Unchecked, |targets| targets.target_names());
        self.quiet.insert(file.to_owned(), names.clone());
        names
    }

    fn read(
        &mut self,
        check: &mut Check,
        context: &Context,
        file: &Utf8Path,
        root: &Utf8Path,
        files: &dyn Files,
    ) -> TargetNames {
        if let Some(known) = self.files.get(file) {
            return known.clone();
        }
        let world = evalrig_core::reader::World { files, ..context.world() };
        let (sources, out) = check.findings.parts_mut();
        let reach = self.reach(context, file, root);
        let targets = read_targets(world, sources, out, file, root, reach);
        let names = match targets {
            Some(targets) => {
                check.findings.add_secrets(targets.secrets().clone());
                for fault in missing_revisions_of_targets(&targets) {
                    check.findings.report(fault);
                }
                targets.target_names()
            }
            // The file's error has been reported; unknown names would only follow from it.
            None => TargetNames::Unchecked,
        };
        self.files.insert(file.to_owned(), names.clone());
        names
    }
}
