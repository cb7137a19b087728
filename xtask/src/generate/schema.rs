//! JSON Schemas. draft-07 is what editors and older validators take by default.

use evalrig_core::model::{JsonStyle, Value};
use evalrig_core::schema::{self, Draft};

use super::Generated;

pub(super) fn files() -> Vec<Generated> {
    vec![
        file("eval.schema.json", &schema::suite(Draft::D07)),
        file("eval.2020-12.schema.json", &schema::suite(Draft::D2020)),
        file("eval.strict.schema.json", &schema::strict_suite(Draft::D07)),
        file("targets.strict.schema.json", &evalrig_run::target::strict_schema(Draft::D07)),
        file("targets.schema.json", &evalrig_run::target::schema(Draft::D07)),
        file("results.schema.json", &evalrig_run::results::results_schema(Draft::D07)),
        file("evals-json.schema.json", &schema::evals_json(Draft::D07)),
    ]
}

fn file(name: &str, schema: &Value) -> Generated {
    Generated {
        path: format!("schema/{name}").into(),
        content: (schema.to_json(JsonStyle::Pretty) + "\n").into(),
    }
}
