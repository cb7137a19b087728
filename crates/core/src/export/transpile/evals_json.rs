//! `evals.json`: one skill, its entries, its settings (spec 12.6).

use crate::model::{JsonObject, JsonStyle, Value, write_json_list};

use super::{FileContent, OutFile};

pub(super) fn file(content: &FileContent<'_>) -> OutFile {
    let group = content.group;
    let mut text = String::with_capacity(content.capacity());
    let mut root = JsonObject::open(&mut text, 0);
    root.text("skill_name", &group.skill_name);
    write_json_list(root.key("evals"), 1, group.members.iter(), |out, (at, should_trigger)| {
        let entry = content.entries.view(*at);
        let mut object = JsonObject::open(out, 2);
        object.number("id", content.ids[*at]);
        object.text("prompt", entry.prompt);
        if let Some(expected) = entry.expected_output {
            object.text("expected_output", expected);
        }
        if entry.files.len() > 0 {
            object.row("files", entry.files);
        }
        if let Some(should_trigger) = should_trigger {
            object.boolean("should_trigger", *should_trigger);
        }
        object.lines(content.list_key, entry.assertions);
        object.close();
    });
    if !group.metadata.is_empty() {
        let mut metadata = JsonObject::open(root.key("metadata"), 1);
        for (name, value) in group.metadata.iter() {
            metadata.plain(name, &Value::to_json(value, JsonStyle::Compact));
        }
        metadata.close();
    }
    root.close();
    text.push('\n');
    OutFile { name: group.evals_name.clone(), text }
}
