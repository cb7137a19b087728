//! What the Evals API returns: an eval with `testing_criteria`, and the items of its runs.

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
use super::super::row::{RowReader, sendable};
use super::super::suite_draft::{SuiteDraft, TestDraft};
use super::super::template::render;

/// Stands for the answer while a grader's template is filled in.
const ANSWER: &str = "\u{FDD0}answer\u{FDD0}";

/// The eval itself: the root, or under `eval` or `data`.
pub(super) fn eval_of(root: &Located) -> Option<&Located> {
    let is_eval = |value: &&Located| value.get("testing_criteria").is_some_and(Located::is_list);
    let inner =
        root.get("eval").into_iter().chain(root.get("data").into_iter().flat_map(Located::items));
    Some(root).into_iter().chain(inner).find(is_eval)
}

pub(super) fn read(importer: &mut Importer<'_>, file: &ForeignFile) -> Option<SuiteDraft> {
    let eval = eval_of(&file.root)?;
    let name = eval.get("name").and_then(Located::text);
    let mut draft = SuiteDraft::named(name.unwrap_or_else(|| file.suggested_name()));
    draft.metadata.insert_some("eval", eval.get("id").and_then(Located::text));
    draft.pass = Number::parse("1");
    let sources = data_sources(&file.root, eval);
    let (items, template) = items_and_template(&sources);
    if items.is_empty() {
        let message =
            if sources.is_empty() { "this eval has no runs" } else { "its runs name a file" };
        return importer.refuse(
            eval.span.at_start(),
            format!("{message}, so there are no items to test"),
            "add a run with `data_source.source.content`, or convert the file of items with \
             `--from openai-evals`",
        );
    }
    let criteria = eval.get("testing_criteria")?;
    for item in &items {
        let test = read_item(importer, &mut draft, item, template, criteria)?;
        draft.tests.push(test);
    }
    Some(draft)
}

/// The data sources of the runs, wherever the export keeps them.
fn data_sources<'l>(root: &'l Located, eval: &'l Located) -> Vec<&'l Located> {
    let holders = [root, eval].into_iter().flat_map(|holder| {
        let runs = holder.get("runs");
        let runs = runs.map(|runs| runs.get("data").unwrap_or(runs));
        let runs = runs.map(Located::items).unwrap_or_default();
        [Some(holder), holder.get("run")].into_iter().flatten().chain(runs)
    });
    let mut sources: Vec<&Located> = Vec::new();
    for source in holders.filter_map(|holder| holder.get("data_source")) {
        if sources.iter().all(|known| !std::ptr::eq(*known, source)) {
            sources.push(source);
        }
    }
    sources
}

/// The items of the first run that has some, and how they are sent.
fn items_and_template<'l>(sources: &[&'l Located]) -> (Vec<&'l Located>, Option<&'l Located>) {
    for source in sources {
        let content = source.get("source").and_then(|inner| inner.get("content"));
        let items: Vec<&Located> = content
            .map(Located::items)
            .unwrap_or_default()
            .iter()
            .filter_map(|entry| entry.get("item"))
            .collect();
        if !items.is_empty() {
            let messages = source.get("input_messages");
            return (items, messages.and_then(|messages| messages.get("template")));
        }
    }
    (Vec::new(), None)
}

fn read_item(
    importer: &mut Importer<'_>,
    draft: &mut SuiteDraft,
    item: &Located,
    template: Option<&Located>,
    criteria: &Located,
) -> Option<TestDraft> {
    let vars = Map::new()
        .with("item", item.map())
        .with("sample", Map::new().with("output_text", ANSWER).with("output_json", ANSWER));
    let mut test = match template {
        Some(template) => {
            let position = draft.tests.len() + 1;
            let id = item.get("id").and_then(Located::text);
            let id = draft.given_id(id.as_deref(), position);
            importer.enter_test(&id);
            let filled = filled(importer, template, &vars);
            let input = sendable(messages(importer, &filled).into());
            let mut test = TestDraft::new(id, input);
            test.metadata = item.map();
            test.metadata.remove("id");
            test
        }
        None => {
            let rows = [item.clone()];
            let map = FieldMap::proposed(&rows).unwrap_or_default();
            let map = map.overlaid(importer.request.map);
            let reader = RowReader { map: &map, ignored: &[], metadata: &[] };
            let test = reader.read(importer, draft, item)?;
            importer.enter_test(&test.id);
            test
        }
    };
    let mut checks: Vec<Map> = Vec::new();
    for grader in criteria.items() {
        checks.extend(check(importer, grader, &vars));
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
    test.assertions = checks.into_iter().map(Value::from).collect();
    test.criteria = None;
    importer.leave_test();
    Some(test)
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

fn check(importer: &mut Importer<'_>, grader: &Located, vars: &Map) -> Option<Map> {
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
            let text =
                text.replace("{{", "{{{{").replace("}}", "}}}}").replace(ANSWER, "{{ answer }}");
            let least = grader.get("pass_threshold").and_then(Located::number);
            let judge = Map::new().with("type", "llm-judge").with("prompt", text);
            // The score has no share: only whether it reaches the threshold counts.
            let least = least.unwrap_or_else(|| Number::from(1));
            Some(judge.with("weight", 0_u64).with("required", least))
        }
        _ => {
            importer.loss("grader", grader.span, format!("a grader of type `{kind}` is left out"));
            None
        }
    };
    made.map(|map| map.with_some("name", name))
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
