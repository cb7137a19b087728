//! Estimates the calls and the cost of a run (`--dry-run`). Token counts are derived from the length of
//! texts, so costs are a range; targets without a known price are listed.

use camino::Utf8Path;
use evalrig_core::assertion::grade;
use evalrig_core::model::{
    Answers, Block, Evidence, Fault, GradingOptions, JudgeQuestion, Judging, Message, Question,
    SearchTime, Step, Transcript, WorkspaceFiles,
};
use evalrig_core::plan::PlannedCase;

use crate::agent::Quote;
use crate::clock;
use crate::execute::{CaseJudges, ConnectedTarget, SuiteJob};
use crate::results::CaseKey;

/// Characters per token; a rough average over languages and tokenizers.
const CHARACTERS: usize = 4;

/// Assumed tokens of an answer without a length limit.
const LONG_ANSWER: u64 = 4096;

#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct EstimateRange {
    pub low: f64,
    pub high: f64,
}

impl EstimateRange {
    fn add(&mut self, low: f64, high: f64) {
        self.low += low;
        self.high += high;
    }
}

#[derive(Debug, Clone, Default, PartialEq)]
pub struct Estimate {
    pub cases: usize,
    pub target_calls: EstimateRange,
    pub judge_calls: EstimateRange,
    pub cost_usd: EstimateRange,
    /// Targets and judges without a known price.
    pub unpriced: Vec<String>,
}

impl Estimate {
    /// Adds another one.
    pub fn join(&mut self, other: &Self) {
        self.cases += other.cases;
        for (own, other) in [
            (&mut self.target_calls, other.target_calls),
            (&mut self.judge_calls, other.judge_calls),
            (&mut self.cost_usd, other.cost_usd),
        ] {
            own.add(other.low, other.high);
        }
        let new = other.unpriced.iter().filter(|name| !self.unpriced.contains(name));
        let new: Vec<String> = new.cloned().collect();
        self.unpriced.extend(new);
    }

    /// Adds the cases of a suite.
    pub fn add(&mut self, suite: &SuiteJob, judging: Judging, retries: Option<u32>) {
        for case in suite.chains.iter().flatten() {
            self.cases += 1;
            let test = &suite.suite.tests[case.test];
            if test.skip.is_some() {
                continue;
            }
            if let Some(connected) = suite.target(&case.target) {
                let retries = f64::from(retries.unwrap_or(connected.retries()));
                self.target_calls.add(1.0, 1.0 + retries);
                self.add_cost(connected, tokens(&test.input), 1.0, 1.0 + retries);
            }
            self.add_judges_of(suite, case, (judging, retries), String::new());
        }
    }

    /// Adds the judges of a suite whose answers are known.
    pub(crate) fn add_judges(
        &mut self,
        suite: &SuiteJob,
        judging: Judging,
        retries: Option<u32>,
        answer: &dyn Fn(&CaseKey) -> String,
    ) {
        for case in suite.chains.iter().flatten() {
            self.cases += 1;
            self.add_judges_of(suite, case, (judging, retries), answer(&suite.key(case)));
        }
    }

    fn add_judges_of(
        &mut self,
        suite: &SuiteJob,
        case: &PlannedCase,
        (judging, retries): (Judging, Option<u32>),
        answer: String,
    ) {
        for question in judge_questions(suite, case, judging, answer) {
            let judges = CaseJudges { suite, target: &case.target };
            let Some(connected) = judges.judge(question.target.as_deref()) else {
                continue;
            };
            let retries = f64::from(retries.unwrap_or(connected.retries()));
            // An unreadable reply is asked for once more.
            let most = 2.0 * (1.0 + retries);
            self.judge_calls.add(1.0, most);
            self.add_cost(connected, tokens(&question.messages), 1.0, most);
        }
    }

    fn add_cost(&mut self, connected: &ConnectedTarget, input: u64, fewest: f64, most: f64) {
        match connected.quote() {
            Quote::Unknown => {
                if !self.unpriced.contains(&connected.name) {
                    self.unpriced.push(connected.name.clone());
                }
            }
            Quote::Call { low, high } => self.cost_usd.add(low * fewest, high * most),
            Quote::Tokens { input: per_input, output: per_output, most_output } => {
                let read = input as f64 * per_input;
                let written = most_output.unwrap_or(LONG_ANSWER) as f64 * per_output;
                self.cost_usd.add(read * fewest, (read + written) * most);
            }
        }
    }
}

/// The questions to judges about an answer; about an empty one they are as many as about any other.
fn judge_questions(
    suite: &SuiteJob,
    case: &PlannedCase,
    judging: Judging,
    answer: String,
) -> Vec<JudgeQuestion> {
    let transcript = match answer.as_str() {
        "" => Transcript::default(),
        _ => Transcript::of_text(answer),
    };
    let test = &suite.suite.tests[case.test];
    let evidence = Evidence {
        suite: &suite.suite.name,
        test,
        trial: case.trial,
        transcript: &transcript,
        files: &suite.files,
        workspace: test.workspace.as_ref().map(|_| &AssumedFiles as &dyn WorkspaceFiles),
        given_skills: None,
        arm: None,
    };
    let judges = CaseJudges { suite, target: &case.target };
    let search_time = SearchTime::new(clock::since_first_use);
    let options = GradingOptions {
        pass: suite.thresholds.pass,
        judging,
        readings: Some(&judges),
        search_time: &search_time,
    };
    let asks = match grade(&evidence, options, &Answers::default()) {
        Step::Done(_) => Vec::new(),
        Step::Ask(asks) => asks,
    };
    let questions = asks.into_iter().filter_map(|ask| match ask.question {
        Question::Judge(question) => Some(question),
        Question::Script(_) | Question::Command(_) => None,
    });
    questions.collect()
}

/// A workspace in which every file exists, so that judges of files are asked.
#[derive(Debug)]
struct AssumedFiles;

impl WorkspaceFiles for AssumedFiles {
    fn path(&self) -> &Utf8Path {
        Utf8Path::new("/")
    }

    fn read(&self, _: &str, _: u64) -> Result<Option<Vec<u8>>, Fault> {
        Ok(Some(Vec::new()))
    }

    fn list(&self) -> Result<&[String], Fault> {
        Ok(&[])
    }
}

fn tokens(messages: &[Message]) -> u64 {
    let blocks = messages.iter().flat_map(|message| &message.content);
    let characters: usize = blocks
        .map(|block| match block {
            Block::Text(text) => text.chars().count(),
            Block::File(file) => file_size(file.path.as_deref()),
            Block::Json(_) | Block::Image(_) => 1000,
        })
        .sum();
    (characters / CHARACTERS) as u64
}

fn file_size(path: Option<&Utf8Path>) -> usize {
    let size = path.and_then(|path| std::fs::metadata(path).ok());
    size.map_or(0, |found| usize::try_from(found.len()).unwrap_or(0))
}
