//! `mutate [--gate]`: the time per damaged answer with deterministic checks, beside the time of grading
//! the stored answers once, in the same process.

#![expect(clippy::print_stdout, reason = "a table is what this program is for")]

use std::error::Error;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use camino::Utf8Path;
use evalrig_bench::cost::Verdict;
use evalrig_core::assertion::grade;
use evalrig_core::model::{
    Answers, Evidence, GradingOptions, Judging, SearchTime, Step, Suite, Test, Transcript,
};
use evalrig_core::mutation::{Original, OtherAnswer, Survey, mutants, try_case};
use evalrig_core::read::{Findings, LoadRequest, load_suite};
use evalrig_core::reader::{ReadPolicy, World};
use evalrig_core::score::Thresholds;
use evalrig_core::source::{MemoryFiles, Variables};

const TESTS: usize = 400;
const ROUNDS: usize = 5;
/// Microseconds.
const MOST: f64 = 1000.0;

/// Long enough to be an answer of an agent.
const FILLER: &str =
    "The table below lists the sales of every region in the order of their growth. ";

fn main() -> Result<ExitCode, Box<dyn Error>> {
    let is_gated = std::env::args().any(|argument| argument == "--gate");
    let files = MemoryFiles::new().with("/p/EVAL.yaml", suite_text());
    let suite = load(&files)?;
    let transcripts: Vec<Transcript> = suite.tests.iter().map(transcript).collect();
    let others: Vec<OtherAnswer> = suite
        .tests
        .iter()
        .zip(&transcripts)
        .take(200)
        .map(|(test, transcript)| OtherAnswer {
            test: test.id.to_string(),
            answer: transcript.answer.clone(),
        })
        .collect();
    let cases: Vec<Evidence<'_>> = suite
        .tests
        .iter()
        .zip(&transcripts)
        .map(|(test, transcript)| Evidence {
            suite: &suite.name,
            test,
            trial: 1,
            transcript,
            files: &files,
            workspace: None,
            given_skills: None,
            arm: None,
        })
        .collect();
    let (mut graded, mut damaged, mut survey) = (Duration::MAX, Duration::MAX, Survey::default());
    for _ in 0..ROUNDS {
        graded = graded.min(grade_once(&cases)?);
        let begun = Instant::now();
        survey = damage(&cases, &others);
        damaged = damaged.min(begun.elapsed());
    }
    let each = damaged.as_secs_f64() * 1e6 / survey.mutants as f64;
    let mut verdict = Verdict::Within;
    println!("answers                     {}", survey.answers);
    println!("mutants                     {}", survey.mutants);
    println!("grading all answers once    {:.1} ms", graded.as_secs_f64() * 1e3);
    println!("damaging and grading all    {:.1} ms", damaged.as_secs_f64() * 1e3);
    println!("ratio                       {:.1}", damaged.as_secs_f64() / graded.as_secs_f64());
    println!("per mutant                  {each:.1} µs  {}", verdict.judge(each < MOST));
    Ok(if is_gated { verdict.gate() } else { ExitCode::SUCCESS })
}

fn suite_text() -> String {
    let mut text = "name: bench\ntests:\n".to_owned();
    for number in 0..TESTS {
        text += &format!(
            "  - id: t{number}\n    criteria: c\n    input: i\n    assert:\n      \
             - {{type: contains, value: Region {number}}}\n      \
             - {{type: regex, value: 'grew by {number}\\.\\d'}}\n      \
             - {{type: icontains-all, value: [sales, growth]}}\n"
        );
    }
    text
}

fn transcript(test: &Test) -> Transcript {
    let number = &test.id.as_str()[1..];
    Transcript::of_text(format!("{}Region {number} grew by {number}.5 %.", FILLER.repeat(20)))
}

fn load(files: &MemoryFiles) -> Result<Suite, Box<dyn Error>> {
    let environment = Variables::default();
    let world = World { files, environment: &environment, working_directory: "/p".into() };
    let policy = ReadPolicy::default();
    let request =
        LoadRequest::new(world, &policy, Utf8Path::new("/p/EVAL.yaml"), Utf8Path::new("/p"));
    let sound = load_suite(&request, Findings::new()).map_err(|_| "the suite has errors")?;
    Ok(sound.into_parts().0)
}

fn search_time() -> SearchTime {
    SearchTime::new(|| Duration::ZERO)
}

fn grade_once(cases: &[Evidence<'_>]) -> Result<Duration, Box<dyn Error>> {
    let options = GradingOptions {
        pass: 0.8,
        judging: Judging::Skip,
        readings: None,
        search_time: &search_time(),
    };
    let begun = Instant::now();
    for case in cases {
        match grade(case, options, &Answers::default()) {
            Step::Done(grades) if grades.len() == 3 => {}
            _ => return Err("a check asks".into()),
        }
    }
    Ok(begun.elapsed())
}

fn damage(cases: &[Evidence<'_>], others: &[OtherAnswer]) -> Survey {
    let thresholds = Thresholds { pass: 0.8, borderline: 0.6 };
    let mut survey = Survey::default();
    for case in cases {
        let original = Original { test: case.test, transcript: case.transcript, others, seed: 0 };
        let tried = try_case(case, thresholds, &search_time(), mutants(&original));
        survey.add(0, case.test, case.transcript, &tried);
    }
    survey
}
