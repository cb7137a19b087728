//! Answers what assertions ask about a case: runs scripts and commands, and calls judges.

use std::collections::HashMap;

use evalrig_core::model::{
    Answer, Ask, CommandQuestion, Fault, FaultKind, JudgeQuestion, Question, Stage,
};

use crate::agent::{Purpose, Request};
use crate::grade::{SCRIPT_GRACE, run_script};
use crate::results::{JudgeReply, JudgeUsage};
use crate::sandbox::SandboxUse;
use crate::setting::FilesMode;
use crate::workspace::{CaseFacts, CaseWorkspace, JudgingFiles};

use super::case::{CaseSurroundings, CaseWork};
use super::case_judges::question_digest;
use super::case_scratch::CaseScratch;
use super::case_workspace::StoredWorkspace;

impl CaseWork<'_> {
    pub(super) async fn answer(
        &self,
        ask: &Ask,
        call: usize,
        around: CaseSurroundings<'_>,
    ) -> (Answer, Option<JudgeUsage>) {
        match &ask.question {
            Question::Script(question) => {
                if let Err(fault) = self.loaded_programs().check_scripts(&question.files) {
                    return (Answer::Failed(fault), None);
                }
                let environment = self.script_environment(around.workspace);
                let answer = run_script(question, &environment, SCRIPT_GRACE).await;
                (answer, None)
            }
            Question::Judge(question) => self.ask_judge((ask, question), call, around).await,
            Question::Command(question) => (self.run_command(question, around).await, None),
        }
    }

    async fn run_command(
        &self,
        question: &CommandQuestion,
        around: CaseSurroundings<'_>,
    ) -> Answer {
        if let Err(fault) = self.loaded_programs().check_scripts(&question.overlay_files) {
            return Answer::Failed(fault);
        }
        match (around.workspace, around.kept) {
            (Some(workspace), _) => {
                let connected = self.suite_job().target(&self.case.target);
                let confinement = connected.and_then(|connected| connected.confinement());
                let container = workspace.container();
                let hidden = &self.job.options.hidden;
                let view = confinement.and_then(|found| found.view_of_checks(container, hidden));
                let sandbox = confinement
                    .zip(view.as_ref())
                    .map(|(found, view)| SandboxUse { sandbox: found.sandbox, view });
                workspace.run_command(question, sandbox).await
            }
            (None, Some(kept)) => self.run_in_kept(question, kept, around.scratch).await,
            (None, None) => {
                let what = "commands, because the workspace was not kept (`keep: always`)";
                Answer::Failed(Fault::not_measured(what))
            }
        }
    }

    /// In the workspace of a stored answer.
    async fn run_in_kept(
        &self,
        question: &CommandQuestion,
        kept: &StoredWorkspace,
        scratch: &CaseScratch<'_>,
    ) -> Answer {
        let (suite, test) = (self.suite_job(), self.test());
        let facts = CaseFacts {
            root: &suite.root,
            reach: suite.files.reach(),
            suite: &suite.suite.name,
            judging: &JudgingFiles::default(),
            test_id: test.id.as_str(),
            trial: self.case.trial,
            attempt: 1,
            input: &serde_json::Value::Null,
            metadata: &serde_json::Value::Null,
        };
        let workspace = test.workspace.clone().unwrap_or_default();
        let (sandbox, scratch) = (kept.sandbox.as_deref(), scratch.for_command());
        kept.files.run_command(question, (&workspace, &facts), sandbox, &scratch).await
    }

    fn script_environment(&self, workspace: Option<&CaseWorkspace>) -> Vec<(String, String)> {
        let suite = self.suite_job();
        let own = [
            ("EVALRIG_SUITE", suite.suite.name.clone()),
            ("EVALRIG_TEST_ID", self.test().id.to_string()),
            ("EVALRIG_TRIAL", self.case.trial.to_string()),
            ("EVALRIG_ROOT", suite.root.to_string()),
        ]
        .map(|(name, value)| (name.to_owned(), value));
        let mut all = workspace.map_or(Vec::new(), |workspace| workspace.env().to_vec());
        all.extend(own);
        all
    }

    async fn ask_judge(
        &self,
        (ask, question): (&Ask, &JudgeQuestion),
        call: usize,
        around: CaseSurroundings<'_>,
    ) -> (Answer, Option<JudgeUsage>) {
        let suite = self.suite_job();
        let Some(connected) = self.judges().judge(question.target.as_deref()) else {
            let fault = Fault::new(Stage::Judge, FaultKind::Start, "no judge is configured");
            return (Answer::Failed(fault), None);
        };
        let digest = question_digest(connected, question, &self.job.options.secrets);
        let is_known = |known: &&JudgeReply| known.ask == ask.key && known.question == digest;
        if let Some(known) = around.replies.iter().rfind(is_known) {
            return (Answer::Judge(known.reply.clone()), Some(known.usage));
        }
        let request = Request {
            purpose: Purpose::Judge,
            suite: &suite.suite.name,
            test_id: self.test().id.as_str(),
            trial: self.case.trial,
            attempt: 1,
            call,
            messages: &question.messages,
            config: Some(&question.config),
            timeout: connected.timeout(),
            attachments: FilesMode::Inline,
            files: &suite.files,
            scratch: &around.scratch.for_judge(),
            home: None,
            env: &[],
            place: None,
            confinement: None,
            hidden: &self.job.options.hidden,
            stop: None,
            conversation: None,
        };
        let (asked, attempts) = self.ask(connected, &request, None).await;
        match asked {
            Ok(transcript) => {
                let used = JudgeUsage {
                    calls: 1,
                    input: transcript.tokens.map(|tokens| tokens.input),
                    output: transcript.tokens.map(|tokens| tokens.output),
                    cost_usd: transcript.cost_usd,
                };
                let (ask, question) = (ask.key.clone(), digest);
                let reply = JudgeReply { ask, question, reply: transcript.answer, usage: used };
                self.keep_reply(&reply).await;
                (Answer::Judge(reply.reply), Some(used))
            }
            Err(failure) => {
                let unknown = JudgeUsage { calls: 1, ..JudgeUsage::default() };
                (Answer::Failed(failure.fault), (attempts > 0).then_some(unknown))
            }
        }
    }

    /// A reply costs money like an answer, so it is stored before it is used.
    async fn keep_reply(&self, reply: &JudgeReply) {
        let hash = self.suite_job().hash(self.case.test);
        self.shared.wait(self.suite.sink.write_reply(&self.key(), hash, reply)).await;
    }
}

/// The judge calls of a case.
#[derive(Debug, Default)]
pub(super) struct JudgeCalls {
    pub(super) usage: Option<JudgeUsage>,
    /// Number of calls by assertion.
    calls: HashMap<String, usize>,
}

impl JudgeCalls {
    /// Number of earlier calls by the same assertion.
    pub(super) fn call_of(&mut self, ask: &Ask) -> usize {
        let assertion = ask.key.rsplit_once('/').map_or("", |(scope, _)| scope);
        let calls = self.calls.entry(assertion.to_owned()).or_insert(0);
        *calls += 1;
        *calls - 1
    }

    pub(super) fn add(&mut self, used: Option<JudgeUsage>) {
        let Some(used) = used else { return };
        let plus = |a: Option<u64>, b: Option<u64>| Some(a?.saturating_add(b?));
        self.usage = Some(match self.usage {
            None => used,
            Some(before) => JudgeUsage {
                calls: before.calls + used.calls,
                input: plus(before.input, used.input),
                output: plus(before.output, used.output),
                cost_usd: before.cost_usd.zip(used.cost_usd).map(|(a, b)| a + b),
            },
        });
    }
}
