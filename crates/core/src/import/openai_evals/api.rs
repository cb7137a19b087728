//! What the Evals API returns: an eval with `testing_criteria`, whose graders check the items of its runs.

use crate::model::{Map, Number, Value};
use crate::source::Span;

use super::super::assertion_draft::{
    any_answer, exact_text, has_no_weight, negated, rubric, text_check, unique_names,
};
use super::super::chat::messages;
use super::super::field_map::FieldMap;
use super::super::foreign_file::ForeignFile;
use super::super::importer::Importer;
use super::super::located::{Located, LocatedData};
use super::super::row::{RowReader, sendable, settle_criteria};
use super::super::script::{ScriptLanguage, script_check};
use super::super::suite_draft::{SuiteDraft, TestDraft};
use super::super::template::render;
use super::api_items::{
    ApiItem, Sending, data_sources, has_output_items, has_runs, items_of, sending,
};

/// Stands for the answer while a grader's template is filled in.
const ANSWER: &str = "\u{FDD0}answer\u{FDD0}";

/// The eval itself: the root, or under `eval` or `data`.
pub(super) fn eval_of(root: &Located) -> Option<&Located> {
    let is_eval = |value: &&Located| value.get("testing_criteria").is_some_and(Located::is_list);
    let inner =
        root.get("eval").into_iter().chain(root.get("data").into_iter().flat_map(Located::items));
    Some(root).into_iter().chain(inner).find(is_eval)
}

/// Whether it is an eval, a run, or what a run has recorded.
pub(super) fn is_of_api(root: &Located) -> bool {
    eval_of(root).is_some() || has_output_items(root) || has_runs(root)
}

pub(super) fn read(importer: &mut Importer<'_>, file: &ForeignFile) -> Option<SuiteDraft> {
    let place = file.root.span.at_start();
    let paths = importer.request.others.iter();
    let others: Option<Vec<ForeignFile>> = paths.map(|path| importer.open(path, place)).collect();
    let others = others?;
    let documents: Vec<&Located> =
        [&file.root].into_iter().chain(others.iter().map(|other| &other.root)).collect();
    let eval = documents.iter().find_map(|root| eval_of(root));
    let text = |key: &str| eval.and_then(|eval| eval.get(key)).and_then(Located::text);
    let mut draft = SuiteDraft::named(text("name").unwrap_or_else(|| file.suggested_name()));
    draft.metadata.insert_some("eval", text("id"));
    draft.pass = Number::parse("1");
    let sources = data_sources(&documents);
    let items = items_of(&documents, &sources);
    if items.is_empty() {
        let message =
            if sources.is_empty() { "this eval has no runs" } else { "its runs name a file" };
        return importer.refuse(
            place,
            format!("{message}, so there are no items to test"),
            "name more files of the export behind this one: the list of `/output_items` of a run, or the \
             JSONL file of items",
        );
    }
    let reader = ItemReader { sending: sending(&sources), criteria: eval.and_then(criteria_of) };
    if reader.criteria.is_none() {
        let message = "no file has the graders of the eval; name it too";
        importer.loss_once("grader", place, message);
    }
    if matches!(reader.sending, Sending::Recorded) && items.iter().all(|one| one.sent.is_none()) {
        let rows: Vec<&Located> = items.iter().map(|one| one.item).collect();
        importer.check_map_keys(&rows, place)?;
    }
    for item in &items {
        let test = reader.read(importer, &mut draft, item)?;
        draft.tests.push(test);
    }
    Some(draft)
}

fn criteria_of(eval: &Located) -> Option<&Located> {
    eval.get("testing_criteria")
}

/// How items become tests.
struct ItemReader<'l> {
    sending: Sending<'l>,
    /// The graders; `None` if no file has the eval.
    criteria: Option<&'l Located>,
}

impl ItemReader<'_> {
    fn read(
        &self,
        importer: &mut Importer<'_>,
        draft: &mut SuiteDraft,
        one: &ApiItem<'_>,
    ) -> Option<TestDraft> {
        let answer = Map::new().with("output_text", ANSWER).with("output_json", ANSWER);
        let vars = Map::new().with("item", one.item.map()).with("sample", answer);
        let mut test = self.without_checks(importer, draft, one, &vars)?;
        importer.enter_test(&test.id);
        match self.criteria {
            Some(criteria) => {
                let grader = ApiGrader { item: one.item, vars: &vars };
                test.assertions = grader.checks(importer, draft, criteria);
                test.criteria = None;
            }
            None => settle_criteria(importer, &mut test, one.item.span),
        }
        importer.leave_test();
        Some(test)
    }

    fn without_checks(
        &self,
        importer: &mut Importer<'_>,
        draft: &mut SuiteDraft,
        one: &ApiItem<'_>,
        vars: &Map,
    ) -> Option<TestDraft> {
        let list = match self.sending {
            Sending::Template(template) => Some(filled(importer, template, vars)),
            Sending::Key(key) => one.item.at_path(key).filter(|list| list.is_list()).cloned(),
            Sending::Recorded => None,
        };
        if let Some(list) = list.or_else(|| one.sent.cloned()) {
            let id = one.item.get("id").and_then(Located::text);
            let id = draft.given_id(id.as_deref(), draft.tests.len() + 1);
            importer.enter_test(&id);
            let input = sendable(messages(importer, &list).into());
            importer.leave_test();
            let mut test = TestDraft::new(id, input);
            test.metadata = one.item.map();
            test.metadata.remove("id");
            if self.criteria.is_none() {
                let map = FieldMap::proposed(std::slice::from_ref(one.item)).unwrap_or_default();
                let key = map.key_of("expected_output");
                let expected = key.and_then(|key| one.item.at_path(key));
                test.expected_output = expected.and_then(Located::text).map(Value::from);
            }
            return Some(test);
        }
        let map = FieldMap::proposed(std::slice::from_ref(one.item)).unwrap_or_default();
        let map = match self.sending {
            Sending::Key(key) => {
                map.overlaid(Some(&FieldMap::parse(&format!("input={key}")).ok()?))
            }
            _ => map,
        };
        let map = map.overlaid(importer.map());
        RowReader { map: &map, ignored: &[], metadata: &[] }.read(importer, draft, one.item)
    }
}

/// The graders of an eval, for one item.
struct ApiGrader<'a> {
    item: &'a Located,
    /// `item`, and `sample` with [`ANSWER`].
    vars: &'a Map,
}

impl ApiGrader<'_> {
    fn checks(
        &self,
        importer: &mut Importer<'_>,
        draft: &mut SuiteDraft,
        criteria: &Located,
    ) -> Vec<Value> {
        let mut checks: Vec<Map> = Vec::new();
        for grader in criteria.items() {
            checks.extend(self.check(importer, draft, grader));
        }
        if checks.is_empty() {
            let message = "no grader of this eval can be converted, so every answer passes";
            importer.loss_once("nothing-checked", criteria.span, message);
            checks.push(any_answer());
        }
        if checks.iter().all(has_no_weight) && !checks.is_empty() {
            checks.push(any_answer());
        }
        unique_names(&mut checks);
        checks.into_iter().map(Value::from).collect()
    }
    fn check(
        &self,
        importer: &mut Importer<'_>,
        draft: &mut SuiteDraft,
        grader: &Located,
    ) -> Option<Map> {
        let vars = self.vars;
        let kind = grader.get("type").and_then(Located::text).unwrap_or_default();
        let name = grader.get("name").and_then(Located::text);
        let field = |importer: &mut Importer<'_>, key: &str| {
            let value = grader.get(key)?;
            Some(rendered(importer, &value.text()?, vars, value.span))
        };
        let made = match kind.as_str() {
            "string_check" => string_check(importer, grader, &field),
            "text_similarity" => {
                importer.loss_once("judged", grader.span, "a judge decides about similarity");
                let reference = field(importer, "reference")?;
                Some(rubric(format!("Means the same as: {reference}")))
            }
            "label_model" => {
                importer.loss_once(
                    "judged",
                    grader.span,
                    "the judge answers yes or no instead of a label",
                );
                let labels = grader.get("passing_labels").map(Located::texts).unwrap_or_default();
                let text = prompt_text(importer, grader, vars).replace(ANSWER, "the answer");
                Some(rubric(format!("{text}\n\nThe right label is {}.", labels.join(" or "))))
            }
            "score_model" => {
                let text = prompt_text(importer, grader, vars);
                let text = text
                    .replace("{{", "{{{{")
                    .replace("}}", "}}}}")
                    .replace(ANSWER, "{{ answer }}");
                let least = grader.get("pass_threshold").and_then(Located::number);
                let judge = Map::new().with("type", "llm-judge").with("prompt", text);
                // The score has no share: only whether it reaches the threshold counts.
                let least = least.unwrap_or_else(|| Number::from(1));
                Some(judge.with("weight", 0_u64).with("required", least))
            }
            "python" => self.python(importer, draft, grader),
            _ => {
                importer.loss(
                    "grader",
                    grader.span,
                    format!("a grader of type `{kind}` is left out"),
                );
                None
            }
        };
        made.map(|map| map.with_some("name", name))
    }

    /// A function `grade(sample, item)`, which the script beside the suite calls.
    fn python(
        &self,
        importer: &mut Importer<'_>,
        draft: &mut SuiteDraft,
        grader: &Located,
    ) -> Option<Map> {
        let Some(source) = grader.get("source").and_then(Located::text) else {
            importer.loss("grader", grader.span, "a Python grader without `source` is left out");
            return None;
        };
        let least = grader.get("pass_threshold").and_then(Located::number);
        if least.is_none() {
            let message = "the grader has no `pass_threshold`, so only a score of 1 passes";
            importer.loss_once("threshold", grader.span, message);
        }
        let message = "a script decides it, and only a converted suite runs scripts";
        importer.note_code(grader.span, message);
        let config = Map::new()
            .with("type", "grade")
            .with("value", source)
            .with("threshold", least.unwrap_or_else(|| Number::from(1)))
            .with("item", self.item.map());
        Some(script_check(draft, ScriptLanguage::Python, None, config))
    }
}

/// Messages with their references filled in. The content may be a text or a part with one.
fn filled(importer: &mut Importer<'_>, template: &Located, vars: &Map) -> Located {
    let items = template.items().iter().map(|message| {
        let content = message.get("content");
        let text = content.and_then(|content| content.get("text").unwrap_or(content).text());
        let Some(text) = text else { return message.clone() };
        let text = rendered(importer, &text, vars, message.span);
        let role = message.get("role").and_then(Located::text).unwrap_or_else(|| "user".to_owned());
        let map = Map::new().with("role", role).with("content", text);
        Located::at(&map.into(), message.span)
    });
    Located { span: template.span, data: LocatedData::List(items.collect()) }
}

fn rendered(importer: &mut Importer<'_>, text: &str, vars: &Map, span: Span) -> String {
    render(text, vars).unwrap_or_else(|reason| {
        importer.loss("template", span, format!("a template stays as it is: {reason}"));
        text.to_owned()
    })
}

fn string_check(
    importer: &mut Importer<'_>,
    grader: &Located,
    field: &dyn Fn(&mut Importer<'_>, &str) -> Option<String>,
) -> Option<Map> {
    let looked_at = field(importer, "input")?;
    let reference = field(importer, "reference")?;
    if looked_at != ANSWER {
        let message = "a string check on anything but `{{ sample.output_text }}` is left out";
        importer.loss("grader", grader.span, message);
        return None;
    }
    let operation = grader.get("operation").and_then(Located::text).unwrap_or_default();
    if reference.is_empty() && operation != "eq" && operation != "ne" {
        return Some(any_answer());
    }
    if matches!(operation.as_str(), "eq" | "ne") {
        let message = "white space around the answer is ignored; a string check compares exactly";
        importer.loss_once("white-space", grader.span, message);
    }
    Some(match operation.as_str() {
        "ne" => negated(exact_text("equals", &reference)),
        "like" => text_check("contains", reference),
        "ilike" => text_check("icontains", reference),
        _ => exact_text("equals", &reference),
    })
}

/// The instructions of a model that grades.
fn prompt_text(importer: &mut Importer<'_>, grader: &Located, vars: &Map) -> String {
    let Some(input) = grader.get("input") else { return String::new() };
    let filled = filled(importer, input, vars);
    let texts = filled.items().iter().filter_map(|message| message.get("content")?.text());
    texts.collect::<Vec<_>>().join("\n\n")
}
