//! The workspace of a case: a new one for every attempt. That of the last attempt stays until the case
//! is graded (spec 17.2).

use std::sync::Mutex;
use std::time::Instant;

use camino::{Utf8Path, Utf8PathBuf};
use evalrig_core::evidence::{PlacedFile, messages_to_value, placed_files};
use evalrig_core::model::{Fault, KeepRule, Outcome, Transcript, Workspace, WorkspaceFiles as _};
use evalrig_core::source::Reach;
use serde_json::Value;

use crate::agent::launch::ProcessConfinement;
use crate::agent::{Agent, AttemptFault, CasePlace, Pending, Request};
use crate::event::Event;
use crate::json::{map_to_json, to_json};
use crate::lock::locked;
use crate::results::Row;
use crate::sandbox::SandboxUse;
use crate::workspace::{CaseFacts, CaseWorkspace, JudgingFiles, KeptWorkspace, Workspaces};

use super::case::CaseWork;
use super::connected_target::ConnectedTarget;
use super::conversation::ConversationState;
use super::unchanged::LoadedPrograms;

/// What a chain of cases shares: tests of one conversation go on in one workspace, with one home.
#[derive(Debug)]
pub(super) struct ChainState {
    /// With its rule for keeping it.
    workspace: Option<(CaseWorkspace, KeepRule)>,
    /// Whether a case of the chain failed or was errored.
    has_failed: bool,
    /// The home of the agent; `None` for a single case. Removed with the chain.
    pub(super) home: Option<Utf8PathBuf>,
    pub(super) conversation: ConversationState,
    /// Whether a later case of the chain goes on in the workspace.
    pub(super) has_next: bool,
}

impl Drop for ChainState {
    fn drop(&mut self) {
        if let Some(home) = &self.home {
            // Fails if no agent needed it.
            let _ = crate::disk::remove_tree(home);
        }
    }
}

impl ChainState {
    /// Of a chain with this many cases, the first of which has this number.
    pub(super) fn new(scratch: &Utf8Path, first: usize, length: usize) -> Self {
        let home = (length > 1).then(|| scratch.join(format!("home-{first}")));
        Self {
            workspace: None,
            has_failed: false,
            home,
            conversation: ConversationState::default(),
            has_next: false,
        }
    }

    /// Whether other cases used the workspace too.
    fn is_conversation(&self) -> bool {
        self.home.is_some()
    }

    fn note(&mut self, outcome: Outcome) {
        self.has_failed |= matches!(outcome, Outcome::Failed | Outcome::Errored);
    }
}

/// The workspace of a stored answer.
#[derive(Debug)]
pub(super) struct StoredWorkspace {
    pub(super) files: KeptWorkspace,
    /// The sandbox that the agent ran in.
    pub(super) sandbox: Option<String>,
}

/// Gives every attempt of a case a workspace of its own.
#[derive(Debug)]
pub(super) struct AttemptWorkspaces<'a> {
    workspaces: &'a Workspaces,
    workspace: Workspace,
    root: &'a Utf8Path,
    reach: Reach<'a>,
    judging: &'a JudgingFiles,
    input: Value,
    metadata: Value,
    placed: Vec<PlacedFile>,
    /// Skills: paths below the workspace, and the directories they are copied from.
    skills: Vec<(String, Utf8PathBuf)>,
    confinement: Option<&'a ProcessConfinement>,
    /// What the sandbox of the agent does not show.
    hidden: &'a [Utf8PathBuf],
    programs: LoadedPrograms<'a>,
    /// Of the last attempt; before the first one, that of the conversation.
    current: Mutex<Option<CaseWorkspace>>,
    /// Of `teardown` in workspaces of earlier attempts.
    warnings: Mutex<Vec<String>>,
}

impl<'a> AttemptWorkspaces<'a> {
    /// `None` for a case that needs no workspace: a stored answer comes with what the agent did. A process
    /// that is given skills, or that must not see its own directory, gets an empty one.
    pub(super) fn of(
        work: &CaseWork<'a>,
        connected: &'a ConnectedTarget,
        chain: &mut ChainState,
    ) -> Option<Self> {
        let test = work.test();
        let suite = work.suite_job();
        let variant = suite.variant(&work.case.target);
        let skills = variant.and_then(|variant| variant.skills.as_deref());
        let skills = skills.filter(|_| connected.is_process());
        let written = variant.and_then(|variant| variant.workspace.as_ref());
        let written = written.or(test.workspace.as_ref());
        let is_needed = || connected.needs_own_directory(&work.job.options.hidden);
        let has_none = written.is_none() && skills.is_none();
        if connected.is_stored() || (has_none && !is_needed()) {
            return None;
        }
        let mut workspace = written.cloned().unwrap_or_default();
        workspace.keep = work.job.options.keep_workspaces.unwrap_or(workspace.keep);
        let folder = connected.skill_folder();
        let skills = skills.unwrap_or_default().iter();
        let skills =
            skills.map(|skill| (format!("{folder}/{}", skill.name), skill.directory.clone()));
        Some(Self {
            workspaces: &work.job.options.workspaces,
            workspace,
            root: &suite.root,
            reach: suite.files.reach(),
            judging: suite.judging_files(&work.job.options.hidden),
            input: to_json(&messages_to_value(&test.input)),
            metadata: map_to_json(&test.metadata),
            placed: placed_files(&test.input),
            skills: skills.collect(),
            confinement: connected.confinement(),
            hidden: &work.job.options.hidden,
            programs: work.loaded_programs(),
            current: Mutex::new(chain.workspace.take().map(|(workspace, _)| workspace)),
            warnings: Mutex::default(),
        })
    }

    /// The workspace of the last attempt.
    pub(super) fn take(&self) -> Option<CaseWorkspace> {
        locked(&self.current).take()
    }

    /// An agent that makes a workspace before each attempt.
    pub(super) fn around<'s>(&'s self, agent: &'s dyn Agent) -> WorkspaceAgent<'s> {
        WorkspaceAgent { agent, attempts: self }
    }

    /// The workspace of an attempt, made ready or with the reason why it is not: what was made of it is
    /// kept or cleared away like any other.
    async fn prepare(
        &self,
        request: &Request<'_>,
    ) -> Result<(CaseWorkspace, Result<(), Fault>), Fault> {
        let facts = CaseFacts {
            root: self.root,
            reach: self.reach,
            suite: request.suite,
            judging: self.judging,
            test_id: request.test_id,
            trial: request.trial,
            attempt: request.attempt,
            input: &self.input,
            metadata: &self.metadata,
        };
        let placed = self.placed.iter().map(|file| (file.path.clone(), file.source.clone()));
        let placed: Vec<_> = placed.collect();
        let earlier = self.take();
        if let Some(mut workspace) = earlier {
            if request.attempt == 1 {
                let ready = self.workspaces.go_on(&mut workspace, &facts, &placed).await;
                return Ok((workspace, ready));
            }
            self.abandon(workspace).await;
        }
        self.programs.check_hooks(&self.workspace)?;
        let mut workspace = self.workspaces.create(&self.workspace, &facts).await?;
        let ready = self.workspaces.fill(&mut workspace, &facts, &placed, &self.skills).await;
        Ok((workspace, ready))
    }

    /// The attached files as prompts name them: by paths that the agent can use where it starts.
    fn placed_from(&self, workspace: &CaseWorkspace) -> Vec<PlacedFile> {
        let mut placed = self.placed.clone();
        if workspace.cwd() != workspace.path() {
            for file in &mut placed {
                file.path = workspace.path().join(&file.path).into_string();
            }
        }
        placed
    }

    /// Clears away the workspace of an attempt that is repeated.
    async fn abandon(&self, workspace: CaseWorkspace) {
        let warning = run_teardown(&workspace, self.confinement, self.programs, self.hidden).await;
        locked(&self.warnings).extend(warning);
        workspace.remove().await;
    }
}

/// In the sandbox of the agent, because the hook may run what the agent wrote. Returns a warning.
async fn run_teardown(
    workspace: &CaseWorkspace,
    confinement: Option<&ProcessConfinement>,
    programs: LoadedPrograms<'_>,
    hidden: &[Utf8PathBuf],
) -> Option<String> {
    if let Err(fault) = programs.check_hook("teardown", workspace.teardown_hook()) {
        return Some(fault.message);
    }
    let view = confinement.and_then(|found| found.view_of_checks(workspace.container(), hidden));
    let sandbox = confinement.zip(view.as_ref());
    let sandbox = sandbox.map(|(found, view)| SandboxUse { sandbox: found.sandbox, view });
    workspace.teardown(sandbox).await
}

/// An agent whose every attempt runs in a workspace of its own.
#[derive(Debug)]
pub(super) struct WorkspaceAgent<'a> {
    agent: &'a dyn Agent,
    attempts: &'a AttemptWorkspaces<'a>,
}

impl Agent for WorkspaceAgent<'_> {
    fn answer<'a>(&'a self, request: &'a Request<'a>) -> Pending<'a> {
        Box::pin(async move {
            let (workspace, ready) = self.attempts.prepare(request).await?;
            let answered = match ready {
                Ok(()) => self.answer_in(&workspace, request).await,
                Err(fault) => Err(fault.into()),
            };
            *locked(&self.attempts.current) = Some(workspace);
            answered
        })
    }

    fn elapsed_ms(&self, begun: Instant) -> Option<u64> {
        self.agent.elapsed_ms(begun)
    }
}

impl WorkspaceAgent<'_> {
    async fn answer_in(
        &self,
        workspace: &CaseWorkspace,
        request: &Request<'_>,
    ) -> Result<Transcript, AttemptFault> {
        let placed = self.attempts.placed_from(workspace);
        let place = CasePlace {
            workspace: workspace.path(),
            cwd: workspace.cwd(),
            env: workspace.env(),
            placed: &placed,
            container: self.attempts.workspace.container.as_ref(),
        };
        let begun = Instant::now();
        let answered = self.agent.answer(&Request { place: Some(&place), ..*request }).await;
        let changes = workspace.changes().await;
        let mut transcript = answered?;
        // Preparing the workspace is not part of the answer.
        transcript.duration_ms = transcript.duration_ms.or_else(|| self.agent.elapsed_ms(begun));
        transcript.files = Some(changes?);
        Ok(transcript)
    }
}

impl CaseWork<'_> {
    /// The workspace of a stored answer, if it was kept.
    pub(super) fn kept_workspace(&self, transcript: &Transcript) -> Option<StoredWorkspace> {
        let connected = self.suite_job().target(&self.case.target);
        connected.filter(|connected| connected.is_stored())?;
        let path = transcript.files.as_ref()?.path.as_deref()?;
        let files = KeptWorkspace::open(path)?;
        Some(StoredWorkspace { files, sandbox: transcript.session.sandbox.clone() })
    }

    /// Ends the workspace of a case whose checks have run: hooks, then keeping or removing it.
    pub(super) async fn end_workspace(
        &self,
        workspace: Option<CaseWorkspace>,
        attempts: Option<&AttemptWorkspaces<'_>>,
        row: &mut Row,
        chain: &mut ChainState,
    ) {
        chain.note(row.outcome);
        let Some(attempts) = attempts else { return };
        for warning in std::mem::take(&mut *locked(&attempts.warnings)) {
            self.warn(&warning);
        }
        let Some(workspace) = workspace else { return };
        let rule = attempts.workspace.keep;
        if chain.has_next {
            chain.workspace = Some((workspace, rule));
            return;
        }
        let kept = self.clear_away(workspace, rule, attempts.confinement, chain).await;
        if let Some(path) = kept {
            // Their rows were written before, and it has the files of all of them.
            if chain.is_conversation() {
                self.warn(&format!("the workspace of the conversation is kept: {path}"));
            }
            row.workspace.get_or_insert_default().path = Some(path.into_string());
        }
    }

    /// Ends the workspace of a chain that ended before the case that should have been its last.
    pub(super) async fn end_chain(&self, chain: &mut ChainState) {
        let Some((workspace, rule)) = chain.workspace.take() else { return };
        let connected = self.suite_job().target(&self.case.target);
        let confinement = connected.and_then(|connected| connected.confinement());
        // No row can say where it is.
        if let Some(path) = self.clear_away(workspace, rule, confinement, chain).await {
            self.warn(&format!("the workspace of the conversation is kept: {path}"));
        }
    }

    async fn clear_away(
        &self,
        workspace: CaseWorkspace,
        rule: KeepRule,
        confinement: Option<&ProcessConfinement>,
        chain: &ChainState,
    ) -> Option<Utf8PathBuf> {
        let hidden = &self.job.options.hidden;
        let warning = run_teardown(&workspace, confinement, self.loaded_programs(), hidden).await;
        if let Some(warning) = warning {
            self.warn(&warning);
        }
        let is_kept = match rule {
            KeepRule::Never => false,
            KeepRule::Failed => chain.has_failed,
            KeepRule::Always => true,
        };
        if !is_kept || !workspace.is_filled() {
            workspace.remove().await;
            return None;
        }
        match workspace.keep().await {
            Ok(path) => Some(path),
            Err(fault) => {
                self.warn(&fault.message);
                None
            }
        }
    }

    fn warn(&self, message: &str) {
        self.shared.tell(Event::Warning(format!("{}: {message}", self.label())));
    }
}
