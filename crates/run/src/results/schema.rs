//! The JSON Schema of results rows and of the summary (spec 11). The tables of a row are in
//! `row_fields`.

use evalrig_core::model::Value;
use evalrig_core::schema::{
    Document, Draft, ObjectSchema, SchemaBuilder, any_of, list_of, matching, of_type,
};
use evalrig_core::syntax::fields::{Field, Shape};

use super::row_fields::{
    ALWAYS_WRITTEN, AMOUNT, COUNT, GIT_FIELDS, GRADE_FIELDS, JUDGE_FIELDS, ORDINAL, ROW_FIELDS,
    SHARE, TOKEN_FIELDS, VERSION,
};

static SUMMARY_FIELDS: &[Field] = &[
    VERSION,
    Field::new("suite", Shape::Text, "name of the suite").required(),
    Field::new("timestamp", Shape::Text, "end of the run, RFC 3339, UTC").required(),
    Field::new("target", Shape::Any, "name of the target, or a list of names").required(),
    Field::new("summary", Shape::Fields(TOTAL_FIELDS), "counts of cases").required(),
    Field::new(
        "byEvaluator",
        Shape::MapOf(&Shape::Fields(EVALUATOR_FIELDS)),
        "scores by name of the assertion",
    )
    .required(),
    Field::new("topMisses", Shape::List(&Shape::Fields(MISS_FIELDS)), "what was missed most often")
        .required(),
    Field::new("tokens", Shape::Fields(TOKEN_FIELDS), "sums over all cases"),
    Field::new("costUsd", AMOUNT, "sum over all cases"),
    Field::new("judgeUsage", Shape::Fields(JUDGE_FIELDS), "what judging took"),
    Field::new("durationMs", AMOUNT, "duration of the run"),
    Field::new("exitCode", COUNT, "exit code of the run"),
];

static TOTAL_FIELDS: &[Field] = &[
    Field::new("total", COUNT, "all cases").required(),
    Field::new("pass", COUNT, "cases that passed").required(),
    Field::new("borderline", COUNT, "borderline cases").required(),
    Field::new("fail", COUNT, "cases that failed").required(),
    Field::new("errored", COUNT, "cases that could not be measured").required(),
    Field::new("skipped", COUNT, "cases that were not run or not graded").required(),
    Field::new("passRate", SHARE, "share of passes among verdicts"),
    Field::new("averageScore", SHARE, "over cases with a score"),
];

static EVALUATOR_FIELDS: &[Field] = &[
    Field::new("count", COUNT, "grades").required(),
    Field::new("averageScore", SHARE, "mean"),
    Field::new("minScore", SHARE, "lowest"),
    Field::new("maxScore", SHARE, "highest"),
    Field::new("errored", COUNT, "could not be graded"),
    Field::new("skipped", COUNT, "not graded"),
];

static MISS_FIELDS: &[Field] = &[
    Field::new("miss", Shape::Text, "what was missed").required(),
    Field::new("count", ORDINAL, "how often").required(),
];

static HEADER_FIELDS: &[Field] = &[
    Field::new("kind", Shape::Choice(&["run"]), "what the line is").required(),
    VERSION,
    Field::new("evalrig", Shape::Text, "version that wrote the file").required(),
    Field::new("timestamp", Shape::Text, "start of the run, RFC 3339, UTC").required(),
    Field::new("run", Shape::Text, "id of the run"),
    Field::new("git", Shape::Fields(GIT_FIELDS), "the repository when the run started"),
    Field::new("command", Shape::Text, "command line of the run"),
    Field::new("plan", Shape::Text, "hash of all planned cases, those of other shards included")
        .required(),
    Field::new(
        "regraded",
        Shape::Boolean,
        "whether `grade` wrote the rows, from answers of another run",
    ),
    Field::new("continues", Shape::Text, "the plan of a header above that this one replaces"),
    Field::new("cases", COUNT, "planned cases").required(),
    Field::new("options", Shape::Map, "options that select cases").required(),
    Field::new("settings", Shape::Map, "other options of the run, unless they are the default"),
    Field::new("rounds", Shape::Map, "the plan of a run in rounds"),
    Field::new("suites", Shape::List(&Shape::Fields(PLANNED_FIELDS)), "what was planned")
        .required(),
    Field::new("crc", Shape::Text, "checksum of the line").required(),
];

static PLANNED_FIELDS: &[Field] = &[
    Field::new("name", Shape::Text, "name of the suite").required(),
    Field::new("file", Shape::Text, "relative to the repository root").required(),
    Field::new("fingerprint", Shape::Text, "digest of the tests").required(),
    Field::new("plan", Shape::Text, "of a shard: hash of the suite's whole plan"),
    Field::new("cases", Shape::List(&Shape::Fields(GROUP_FIELDS)), "tests on targets"),
    Field::new("otherShards", Shape::List(&Shape::Text), "ids of tests in other shards"),
];

static GROUP_FIELDS: &[Field] = &[
    Field::new("targets", Shape::List(&Shape::Text), "names of targets").required(),
    Field::new("trials", Shape::Any, "a number of trials, or a list of their numbers").required(),
    Field::new("tests", Shape::List(&Shape::Text), "ids of tests").required(),
];

static END_FIELDS: &[Field] = &[
    Field::new("kind", Shape::Choice(&["end"]), "what the line is").required(),
    Field::new(
        "completion",
        Shape::Choice(&[
            "complete",
            "limited",
            "settled",
            "interrupted",
            "write-error",
            "incomplete",
        ]),
        "how the run ended",
    )
    .required(),
    Field::new("timestamp", Shape::Text, "end of the run, RFC 3339, UTC").required(),
    Field::new("rows", COUNT, "rows since the header").required(),
    Field::new("digest", Shape::Text, "digest of their checksums").required(),
    Field::new("damaged", COUNT, "damaged lines since the header that were replaced"),
    Field::new("rounds", Shape::Map, "what was found after each round"),
    Field::new(
        "gate",
        Shape::Choice(&["passed", "worse", "inconclusive"]),
        "what the gate of the run decided; `latest` as a baseline skips runs that it did not pass",
    ),
    Field::new("crc", Shape::Text, "checksum of the line").required(),
];

/// One line of a results file; the summary is the definition `summary`.
pub fn results_schema(draft: Draft) -> Value {
    let writer = SchemaBuilder::for_records(draft);
    let row = ObjectSchema::new(writer, &[ROW_FIELDS])
        .replace("testHash", matching("^[0-9a-f]{16}$"))
        .always(ALWAYS_WRITTEN)
        .finish();
    let header = ObjectSchema::new(writer, &[HEADER_FIELDS]).title("First line: the plan").finish();
    let end = ObjectSchema::new(writer, &[END_FIELDS]).title("Last line: the end").finish();
    let lines = ["row", "run", "end"].map(|name| draft.reference(name));
    let targets = any_of(vec![of_type("string"), list_of(of_type("string"))]);
    Document::new(
        draft,
        "evalrig results",
        "One line of a results file: a row (what became of one case), the first or the last line. The summary: the definition `summary`.",
    )
    .define("row", row)
    .define("run", header)
    .define("end", end)
    .define(
        "evaluator-result",
        ObjectSchema::new(writer, &[GRADE_FIELDS])
            .title("Grade of one assertion")
            .finish(),
    )
    .define(
        "summary",
        ObjectSchema::new(writer, &[SUMMARY_FIELDS])
            .title("Suite summary")
            .replace("target", targets)
            .finish(),
    )
    .finish(&any_of(lines.to_vec()))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use evalrig_core::model::JsonStyle;
    use serde_json::json;

    use super::super::row::Row;
    use super::super::testing::row;
    use super::*;

    fn names(fields: &[Field]) -> BTreeSet<String> {
        fields.iter().map(|field| field.name.to_owned()).collect()
    }

    fn keys(value: &serde_json::Value) -> BTreeSet<String> {
        value.as_object().unwrap().keys().cloned().collect()
    }

    #[test]
    fn the_tables_list_the_keys_that_are_written() {
        let mut row = row("a", 1);
        row.pass_threshold = Some(0.8);
        row.output_messages = Some(Vec::new());
        let more = json!({
            "testName": "n", "tags": ["t"], "group": "g", "input": [], "criteria": "c", "expectedOutput": 1,
            "agent": {}, "cached": true, "run": "r", "worker": "w", "plan": {"hash": "h"}, "evalrig": "1", "git": {"commit": "0"},
            "command": "evalrig run", "workspace": {}, "arm": "with", "baselineArm": true, "reused": true, "setup": "s",
            "skills": {"offered": null, "used": []}, "partial": true,
            "passTrials": {"share": 0.5}
        });
        let mut whole = serde_json::to_value(&row).unwrap();
        whole.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        let row: Row = serde_json::from_value(whole).unwrap();
        let value = serde_json::to_value(&row).unwrap();
        let mut written = keys(&value);
        // Added when the line is written.
        written.insert("crc".to_owned());
        assert_eq!(written, names(ROW_FIELDS));
        let written = keys(&value["evaluatorResults"][0]);
        assert!(written.is_subset(&names(GRADE_FIELDS)), "{written:?}");
    }

    #[test]
    fn every_reference_has_a_definition_and_every_key_a_description() {
        for draft in [Draft::D2020, Draft::D07] {
            let text = results_schema(draft).to_json(JsonStyle::Compact);
            let whole: serde_json::Value = serde_json::from_str(&text).unwrap();
            for part in text.split("\"$ref\":\"#").skip(1) {
                let pointer = part.split('"').next().unwrap();
                assert!(whole.pointer(pointer).is_some(), "{pointer}");
            }
            for field in
                [ROW_FIELDS, GRADE_FIELDS, SUMMARY_FIELDS, HEADER_FIELDS, END_FIELDS].concat()
            {
                assert!(text.contains(field.doc), "{}", field.name);
            }
        }
    }

    #[test]
    fn rows_are_checked() {
        let mut valid = vec![serde_json::to_value(row("a", 1)).unwrap()];
        valid[0]["passThreshold"] = json!(0.9);
        let mistakes = [
            ("schemaVersion", json!(2)),
            ("score", json!(1.5)),
            ("outcome", json!("pass")),
            ("hits", json!(null)),
            ("testHash", json!("xyz")),
            ("evaluatorResults", json!([{"name": "c"}])),
        ];
        let mut invalid: Vec<_> = mistakes
            .into_iter()
            .map(|(key, wrong)| {
                let mut row = valid[0].clone();
                row[key] = wrong;
                row
            })
            .collect();
        let mut short = valid[0].clone();
        short.as_object_mut().unwrap().remove("error");
        invalid.push(short);
        for draft in [Draft::D2020, Draft::D07] {
            let schema = crate::json::to_json(&results_schema(draft));
            let validator = jsonschema::validator_for(&schema).unwrap();
            for (rows, is_valid) in [(&valid, true), (&invalid, false)] {
                for row in rows {
                    assert_eq!(validator.is_valid(row), is_valid, "{row}");
                }
            }
        }
    }
}
