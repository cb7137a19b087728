//! `replay`: answers from an earlier run.

mod given_answers;
mod results_file;
mod store;

use camino::Utf8Path;
use evalrig_core::diagnostic::Diagnostic;
use evalrig_core::model::Transcript;
use evalrig_core::reader::{Options, ReadResult, Template, wrong_type};
use evalrig_core::source::EntryKind;
use evalrig_core::syntax::fields::{Field, INVALID_OPTION, Shape, shorten};
use evalrig_core::syntax::{Node, Scalar};

use crate::agent::{Agent, AttemptFault};
use crate::results::{ReadError, Row};
use crate::runlog::{RecordFinder, Store};
use crate::setting::{ConnectContext, FilesMode, Setting, option, unusable};

pub(crate) use given_answers::GivenAnswers;
use results_file::RowAgent;
#[cfg(feature = "queue")]
pub(crate) use results_file::transcript as recorded_transcript;
use store::StoreAgent;

use super::{Provider, ProviderSettings};

pub static PROVIDER: Provider = Provider {
    name: "replay",
    fields: FIELDS,
    retries: 0,
    files: FilesMode::Inline,
    key_variables: &[],
    doc: r#"Replays recorded answers without calling anything, so that you can change assertions and grade again
for free. `from` is a results file, or a `.co/evals` directory; then `run` selects the run.

```yaml
targets:
  - name: last-week
    provider: replay
    from: results/2025-11-03.jsonl
    source_target: claude
```

```yaml
targets:
  - name: default
    provider: replay
    from: .co/evals
    run: 12
```
"#,
    read,
};

const LATEST: &str = "latest";

/// What `run` takes, for messages.
const EXPECTED: &str = "`latest` or a run number";

static FIELDS: &[Field] = &[
    Field::new("from", Shape::NonEmptyText, "results file (JSONL) or `.co/evals` directory")
        .required(),
    Field::new(
        "run",
        Shape::OneOf(&[Shape::Choice(&[LATEST]), Shape::Integer { min: 1, max: u64::MAX }]),
        "run number in a `.co/evals` directory; default `latest`",
    ),
    Field::new(
        "source_target",
        Shape::NonEmptyText,
        "replay only answers of this target; default: any",
    ),
];

#[derive(Debug, Clone, PartialEq)]
struct Replay {
    from: Template,
    run: Setting<RunChoice>,
    source_target: Option<Template>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum RunChoice {
    Latest,
    /// From 1.
    Number(u64),
}

impl ProviderSettings for Replay {
    fn connect(&self, context: &ConnectContext<'_>) -> Result<Box<dyn Agent>, Diagnostic> {
        let path = context.path(&self.from)?;
        let fail = |message: String| unusable(self.from.span(), message);
        match context.files.kind(&path) {
            Some(EntryKind::File) => {
                let source_target = context.optional(self.source_target.as_ref())?;
                let agent = RowAgent::open(path, &context.name.value, source_target);
                Ok(Box::new(agent.map_err(|error| fail(error.to_string()))?))
            }
            Some(EntryKind::Directory) if self.source_target.is_some() => {
                let message = "`source_target` has no effect on a `.co/evals` directory";
                Err(fail(message.to_owned()).help("remove it"))
            }
            Some(EntryKind::Directory) => Ok(Box::new(StoreAgent {
                finder: RecordFinder::new(Store::open(path)),
                run: context.setting(&self.run, EXPECTED, run_named)?,
            })),
            Some(EntryKind::Other | EntryKind::Outside) => {
                Err(fail(format!("`{path}` is not a file")))
            }
            None => Err(fail(format!("results file `{path}` does not exist"))),
        }
    }
}

/// An agent that replays the answers of one target, for grading them again.
pub(crate) fn replay_target(results: &Utf8Path, target: &str) -> Result<Box<dyn Agent>, ReadError> {
    let agent = RowAgent::open(results.to_owned(), target, Some(target.to_owned()))?;
    Ok(Box::new(agent))
}

/// The answer of a stored row, as it is graded again.
pub(crate) fn stored_transcript(row: Row) -> Result<Transcript, AttemptFault> {
    results_file::transcript(row)
}

fn run_named(text: &str) -> Option<RunChoice> {
    match text {
        LATEST => Some(RunChoice::Latest),
        number => {
            let number = number.parse().ok().filter(|run| *run > 0);
            number.map(RunChoice::Number)
        }
    }
}

fn read(options: &mut Options<'_, '_, '_>) -> ReadResult<Box<dyn ProviderSettings>> {
    let from = option::required(options, "from", option::path);
    let run = match options.get("run") {
        Some(entry) => read_run(options, entry.value),
        None => Ok(Setting::Given(RunChoice::Latest)),
    };
    let source_target = option::full_template(options, "source_target");
    Ok(Box::new(Replay { from: from?, run: run?, source_target: source_target? }))
}

fn read_run<'t>(
    options: &mut Options<'_, '_, 't>,
    node: Node<'t>,
) -> ReadResult<Setting<RunChoice>> {
    match node.scalar() {
        Some(Scalar::Str(LATEST)) => Ok(Setting::Given(RunChoice::Latest)),
        Some(Scalar::Int(_) | Scalar::Float(_)) => {
            let number = option::integer_of(options, "run", node, 1, u64::MAX)?;
            Ok(number.map(RunChoice::Number))
        }
        Some(Scalar::Str(text)) => match option::template_of(options, "run", node)? {
            template if template.has_references() => Ok(Setting::Reference(template)),
            _ => {
                let message = format!("`run` cannot be `{}`", shorten(text));
                let help = format!("it takes {EXPECTED}");
                let diagnostic = Diagnostic::new(&INVALID_OPTION, node.span(), message);
                Err(options.report(diagnostic.help(help)))
            }
        },
        _ => Err(options.report(wrong_type("run", node, EXPECTED))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::target::testing::{faults, settings};

    #[test]
    fn a_run_is_the_latest_or_a_number() {
        let run = |text: &str| settings::<Replay>(&format!("provider: replay, from: x{text}")).run;
        assert_eq!(run(""), Setting::Given(RunChoice::Latest));
        assert_eq!(run(", run: latest"), Setting::Given(RunChoice::Latest));
        assert_eq!(run(", run: 7"), Setting::Given(RunChoice::Number(7)));
        assert!(matches!(run(", run: \"${{ RUN }}\""), Setting::Reference(_)));
    }

    #[test]
    fn faults_have_names() {
        for (options, message) in [
            ("run: 1", "`replay` needs `from`"),
            ("from: \"\"", "the path is blank"),
            ("from: x, run: 0", "`run` takes an integer of at least 1, found 0"),
            ("from: x, run: newest", "`run` cannot be `newest`"),
            ("from: x, run: true", "`run` takes `latest` or a run number, found a boolean"),
        ] {
            assert_eq!(faults(&format!("provider: replay, {options}")), [message]);
        }
    }
}
