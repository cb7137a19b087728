//! The workspace of a case: a new one for every attempt. That of the last attempt stays until the case
//! is graded (spec 17.2).

use std::sync::Mutex;
use std::time::Instant;

use camino::{Utf8Path, Utf8PathBuf};
use evalrig_core::evidence::{PlacedFile, messages_to_value, placed_files};
use evalrig_core::model::{KeepRule, Outcome, Transcript, Workspace, WorkspaceFiles as _};
use serde_json::Value;

use crate::agent::{Agent, AttemptFault, CasePlace, Pending, Request};
use crate::event::Event;
use crate::json::{map_to_json, to_json};
use crate::lock::locked;
use crate::results::Row;
use crate::workspace::{CaseFacts, CaseWorkspace, KeptWorkspace, Workspaces};

use super::case::CaseWork;
use super::connected_target::ConnectedTarget;
use super::conversation::ConversationState;

/// What a chain of cases shares: tests of one conversation go on in one workspace, with one home.
#[derive(Debug)]
pub(super) struct ChainState {
    workspace: Option<CaseWorkspace>,
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
        Self { workspace: None, home, conversation: ConversationState::default(), has_next: false }
    }

    pub(super) fn take_workspace(&mut self) -> Option<CaseWorkspace> {
        self.workspace.take()
    }
}

/// Gives every attempt of a case a workspace of its own.
#[derive(Debug)]
pub(super) struct AttemptWorkspaces<'a> {
    workspaces: &'a Workspaces,
    workspace: Workspace,
    root: &'a Utf8Path,
    input: Value,
    metadata: Value,
    placed: Vec<PlacedFile>,
    /// Skills: paths below the workspace, and the directories they are copied from.
    skills: Vec<(String, Utf8PathBuf)>,
    env: &'a [(String, String)],
    /// Of the last attempt; before the first one, that of the conversation.
    current: Mutex<Option<CaseWorkspace>>,
}

impl<'a> AttemptWorkspaces<'a> {
    /// `None` for a case that needs no workspace: a stored answer comes with what the agent did. A process
    /// that is given skills gets an empty one.
    pub(super) fn of(
        work: &CaseWork<'a>,
        connected: &ConnectedTarget,
        chain: &mut ChainState,
    ) -> Option<Self> {
        let test = work.test();
        let suite = work.suite_job();
        let variant = suite.variant(&work.case.target);
        let skills = variant.and_then(|variant| variant.skills.as_deref());
        let skills = skills.filter(|_| connected.is_process());
        let written = variant.and_then(|variant| variant.workspace.as_ref());
        let written = written.or(test.workspace.as_ref());
        if connected.is_stored() || (written.is_none() && skills.is_none()) {
            return None;
        }
        let folder = connected.skill_folder();
        let skills = skills.unwrap_or_default().iter();
        let skills =
            skills.map(|skill| (format!("{folder}/{}", skill.name), skill.directory.clone()));
        Some(Self {
            workspaces: &work.job.options.workspaces,
            workspace: written.cloned().unwrap_or_default(),
            root: &suite.root,
            input: to_json(&messages_to_value(&test.input)),
            metadata: map_to_json(&test.metadata),
            placed: placed_files(&test.input),
            skills: skills.collect(),
            env: variant.map_or(&[], |variant| &variant.env),
            current: Mutex::new(chain.take_workspace()),
        })
    }

    /// The workspace of the last attempt.
    pub(super) fn take(&self) -> Option<CaseWorkspace> {
        locked(&self.current).take()
    }

    pub(super) fn keep_rule(&self) -> KeepRule {
        self.workspace.keep
    }

    /// An agent that makes a workspace before each attempt.
    pub(super) fn around<'s>(&'s self, agent: &'s dyn Agent) -> WorkspaceAgent<'s> {
        WorkspaceAgent { agent, attempts: self }
    }

    async fn prepare(&self, request: &Request<'_>) -> Result<CaseWorkspace, AttemptFault> {
        let facts = CaseFacts {
            root: self.root,
            suite: request.suite,
            test_id: request.test_id,
            trial: request.trial,
            attempt: request.attempt,
            input: &self.input,
            metadata: &self.metadata,
        };
        let earlier = if request.attempt == 1 { self.take() } else { None };
        if let Some(mut workspace) = earlier {
            self.workspaces.go_on(&mut workspace, &facts).await?;
            return Ok(workspace);
        }
        let placed = self.placed.iter().map(|file| (file.path.clone(), file.source.clone()));
        let placed: Vec<_> = placed.collect();
        let prepared = self.workspaces.prepare(&self.workspace, &facts, &placed, &self.skills);
        Ok(prepared.await?)
    }
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
            let workspace = self.attempts.prepare(request).await?;
            let mut env = self.attempts.env.to_vec();
            env.extend_from_slice(workspace.env());
            let place = CasePlace {
                workspace: workspace.path(),
                cwd: workspace.cwd(),
                env: &env,
                placed: &self.attempts.placed,
                container: self.attempts.workspace.container.as_ref(),
            };
            let begun = Instant::now();
            let mut answered =
                self.agent.answer(&Request { place: Some(&place), ..*request }).await;
            let changes = workspace.changes().await;
            if let Ok(transcript) = &mut answered {
                // Preparing the workspace is not part of the answer.
                transcript.duration_ms =
                    transcript.duration_ms.or_else(|| self.agent.elapsed_ms(begun));
                transcript.files = Some(changes?);
            }
            *locked(&self.attempts.current) = Some(workspace);
            answered
        })
    }

    fn elapsed_ms(&self, begun: Instant) -> Option<u64> {
        self.agent.elapsed_ms(begun)
    }
}

impl CaseWork<'_> {
    /// The workspace of a stored answer, if it was kept.
    pub(super) fn kept_workspace(&self, transcript: &Transcript) -> Option<KeptWorkspace> {
        let connected = self.suite_job().target(&self.case.target);
        connected.filter(|connected| connected.is_stored())?;
        let path = transcript.files.as_ref()?.path.as_deref()?;
        KeptWorkspace::open(path, &self.test().workspace.as_ref()?.ignore)
    }

    /// Ends the workspace of a graded case: hooks, then keeping or removing it.
    pub(super) async fn end_workspace(
        &self,
        workspace: CaseWorkspace,
        rule: KeepRule,
        row: &mut Row,
        chain: &mut ChainState,
    ) {
        if chain.has_next {
            chain.workspace = Some(workspace);
            return;
        }
        if let Some(warning) = workspace.teardown().await {
            self.shared.tell(Event::Warning(format!("{}: {warning}", self.label())));
        }
        let is_kept = match rule {
            KeepRule::Never => false,
            KeepRule::Failed => matches!(row.outcome, Outcome::Failed | Outcome::Errored),
            KeepRule::Always => true,
        };
        if !is_kept {
            return workspace.remove().await;
        }
        match workspace.keep().await {
            Ok(path) => row.workspace.get_or_insert_default().path = Some(path.into_string()),
            Err(fault) => {
                self.shared.tell(Event::Warning(format!("{}: {}", self.label(), fault.message)));
            }
        }
    }
}
