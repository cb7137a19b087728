//! Conversations: tests with one `conversation_id` go on in one session of the agent, where the agent
//! can (spec 18.6).

use evalrig_core::model::{Fault, FaultKind, Stage, Test, Transcript};

use crate::agent::{ConversationTurn, EarlierTurns};

use super::case::CaseWork;
use super::connected_target::ConnectedTarget;

/// What the turns of a conversation share, beside the workspace and the home.
#[derive(Debug, Default)]
pub(super) struct ConversationState {
    /// `None` until a turn opens a session.
    earlier: Option<EarlierTurns>,
}

impl ConversationState {
    /// The turn that a case is. `None` if it is not part of a conversation, or its agent cannot go on
    /// with a session: then it starts a new one. A turn whose earlier turns are missing is a fault: its
    /// answer would be one to another question.
    pub(super) fn turn(
        &mut self,
        work: &CaseWork<'_>,
        connected: &ConnectedTarget,
    ) -> Result<Option<ConversationTurn>, Fault> {
        if !work.is_turn(connected) {
            return Ok(None);
        }
        if self.earlier.is_none()
            && let Some(first) = work.earlier_turn()
        {
            let message = format!(
                "this test continues the conversation of `{}`, which opened no session in this run",
                first.id
            );
            return Err(Fault::new(Stage::Target, FaultKind::Start, message));
        }
        Ok(Some(ConversationTurn { earlier: self.earlier.clone() }))
    }

    /// Remembers a turn that ended, with what is known of it.
    pub(super) fn remember(&mut self, work: &CaseWork<'_>, transcript: Option<&Transcript>) {
        if work.test().conversation_id.is_none() {
            return;
        }
        let session = transcript.and_then(|transcript| transcript.session.id.as_deref());
        let tokens = transcript.and_then(|transcript| transcript.tokens);
        let cost = transcript.and_then(|transcript| transcript.cost_usd);
        let calls = transcript.and_then(|transcript| transcript.session.llm_calls);
        let earlier = self.earlier.take();
        self.earlier = match (earlier, session) {
            (None, None) => None,
            (None, Some(session)) => Some(EarlierTurns {
                session: session.to_owned(),
                tokens,
                cost_usd: cost,
                llm_calls: calls,
            }),
            (Some(earlier), session) => Some(EarlierTurns {
                session: session.map_or(earlier.session, str::to_owned),
                tokens: earlier.tokens.zip(tokens).map(|(before, now)| before.plus(now)),
                cost_usd: earlier.cost_usd.zip(cost).map(|(before, now)| before + now),
                llm_calls: earlier.llm_calls.zip(calls).map(|(before, now)| before + now),
            }),
        };
    }
}

impl<'a> CaseWork<'a> {
    /// Whether the case goes on in the session of other cases.
    pub(super) fn is_turn(&self, connected: &ConnectedTarget) -> bool {
        self.test().conversation_id.is_some() && connected.continues_sessions()
    }

    /// The first test of the same conversation, if it comes before this one.
    fn earlier_turn(&self) -> Option<&'a Test> {
        let test = self.test();
        let before = &self.suite_job().suite.tests[..self.case.test];
        before.iter().find(|other| {
            other.conversation_id == test.conversation_id
                && other.execution.target == test.execution.target
                && other.skip.is_none()
        })
    }
}
