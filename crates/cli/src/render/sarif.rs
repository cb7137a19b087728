//! SARIF 2.1.0, for code scanning. Only the parts of the standard that have something to say.

use std::collections::HashMap;
use std::io::{self, Write};

use evalrig_core::diagnostic::{Code, Diagnostic, Fix};
use evalrig_core::source::Span;
use evalrig_run::report::sarif::uri;
use serde::Serialize;

use super::{Findings, Render, visible};

#[derive(Debug, Clone, Copy)]
pub struct Sarif;

#[derive(Serialize)]
struct Log {
    #[serde(rename = "$schema")]
    schema: &'static str,
    version: &'static str,
    runs: [Run; 1],
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Run {
    tool: Tool,
    column_kind: &'static str,
    results: Vec<Outcome>,
    #[serde(skip_serializing_if = "Option::is_none")]
    properties: Option<Properties>,
}

#[derive(Serialize)]
struct Properties {
    dropped: usize,
}

#[derive(Serialize)]
struct Tool {
    driver: Driver,
}

#[derive(Serialize)]
struct Driver {
    name: &'static str,
    version: &'static str,
    rules: Vec<Rule>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Rule {
    id: &'static str,
    short_description: Text,
    default_configuration: Configuration,
    help: Text,
}

#[derive(Serialize)]
struct Configuration {
    level: &'static str,
}

#[derive(Serialize)]
struct Text {
    text: String,
}

/// A `result`, which is another word in Rust.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Outcome {
    rule_id: &'static str,
    rule_index: usize,
    level: &'static str,
    message: Text,
    locations: [Location; 1],
    #[serde(skip_serializing_if = "Vec::is_empty")]
    related_locations: Vec<Location>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    fixes: Vec<Repair>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Location {
    /// Locations of one list must differ; two related places may be the same, their ids are not.
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<usize>,
    physical_location: PhysicalLocation,
    #[serde(skip_serializing_if = "Option::is_none")]
    message: Option<Text>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct PhysicalLocation {
    artifact_location: ArtifactLocation,
    region: Region,
}

#[derive(Serialize)]
struct ArtifactLocation {
    uri: String,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Region {
    start_line: u32,
    start_column: u32,
    end_line: u32,
    end_column: u32,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Repair {
    description: Text,
    artifact_changes: Vec<ArtifactChange>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ArtifactChange {
    artifact_location: ArtifactLocation,
    replacements: Vec<Replacement>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Replacement {
    deleted_region: Region,
    inserted_content: Text,
}

impl Render for Sarif {
    fn render(&self, findings: &Findings, out: &mut dyn Write) -> io::Result<()> {
        let mut rules = Rules::default();
        let results = findings
            .diagnostics
            .iter()
            .map(|diagnostic| result(findings, diagnostic, &mut rules))
            .collect();
        let log = Log {
            schema: "https://json.schemastore.org/sarif-2.1.0.json",
            version: "2.1.0",
            runs: [Run {
                tool: Tool {
                    driver: Driver {
                        name: "evalrig",
                        version: env!("CARGO_PKG_VERSION"),
                        rules: rules.list,
                    },
                },
                column_kind: "unicodeCodePoints",
                results,
                properties: (findings.dropped > 0).then_some(Properties {
                    dropped: findings.dropped,
                }),
            }],
        };
        let text = serde_json::to_string_pretty(&log)?;
        writeln!(out, "{}", visible::json(&text))
    }
}

/// The codes that occur, in the order of their first diagnostic.
#[derive(Default)]
struct Rules {
    list: Vec<Rule>,
    index: HashMap<&'static str, usize>,
}

impl Rules {
    fn index_of(&mut self, code: &'static Code) -> usize {
        *self.index.entry(code.name).or_insert_with(|| {
            self.list.push(Rule {
                id: code.name,
                short_description: text(first_sentence(code)),
                default_configuration: Configuration {
                    level: code.level.severity().word(),
                },
                help: text(format!("evalrig explain {}", code.name)),
            });
            self.list.len() - 1
        })
    }
}

fn text(text: impl Into<String>) -> Text {
    Text { text: text.into() }
}

fn first_sentence(code: &Code) -> String {
    let what = code.doc.split("\n\n").next().unwrap_or_default();
    let what = what.split_whitespace().collect::<Vec<_>>().join(" ");
    match what.find(". ") {
        Some(end) => what[..=end].to_owned(),
        // The standard asks for a text even where nobody wrote one yet.
        None if what.is_empty() => code.name.to_owned(),
        None => what,
    }
}

fn result(findings: &Findings, diagnostic: &Diagnostic, rules: &mut Rules) -> Outcome {
    let related = diagnostic.related.iter().enumerate();
    Outcome {
        rule_id: diagnostic.code.name,
        rule_index: rules.index_of(diagnostic.code),
        level: diagnostic.level.severity().word(),
        message: text(findings.message_with_help(diagnostic)),
        locations: [Location {
            id: None,
            physical_location: physical(findings, diagnostic.span),
            message: None,
        }],
        related_locations: related
            .map(|(index, related)| Location {
                id: Some(index + 1),
                physical_location: physical(findings, related.span),
                message: Some(text(findings.redact(&related.message))),
            })
            .collect(),
        fixes: findings
            .fix_without_secrets(diagnostic)
            .filter(|fix| !fix.edits.is_empty())
            .map(|fix| repair(findings, fix))
            .into_iter()
            .collect(),
    }
}

fn physical(findings: &Findings, span: Span) -> PhysicalLocation {
    PhysicalLocation {
        artifact_location: artifact(findings, span),
        region: region(findings, span),
    }
}

fn artifact(findings: &Findings, span: Span) -> ArtifactLocation {
    ArtifactLocation {
        uri: uri(&findings.path_of(span)),
    }
}

fn region(findings: &Findings, span: Span) -> Region {
    let start = findings.sources.position(span);
    let end = findings.sources.end_position(span);
    Region {
        start_line: start.line,
        start_column: start.column,
        end_line: end.line,
        end_column: end.column,
    }
}

/// All edits in one file are one change.
fn repair(findings: &Findings, fix: &Fix) -> Repair {
    let mut changes: Vec<ArtifactChange> = Vec::new();
    for edit in &fix.edits {
        let artifact_location = artifact(findings, edit.span);
        let replacement = Replacement {
            deleted_region: region(findings, edit.span),
            inserted_content: text(&edit.text),
        };
        let same =
            |change: &&mut ArtifactChange| change.artifact_location.uri == artifact_location.uri;
        match changes.iter_mut().find(same) {
            Some(change) => change.replacements.push(replacement),
            None => changes.push(ArtifactChange {
                artifact_location,
                replacements: vec![replacement],
            }),
        }
    }
    Repair {
        description: text(findings.redact(&fix.title)),
        artifact_changes: changes,
    }
}

#[cfg(test)]
mod tests {
    use super::super::fixture::{BROKEN, Fixture, REMARK, duplicate};
    use super::*;
    use evalrig_core::diagnostic::Edit;
    use serde_json::{Value, json};

    fn shown(fixture: &Fixture) -> Value {
        serde_json::from_str(&fixture.show(&Sarif)).unwrap()
    }

    #[test]
    fn a_result_has_its_rule_place_related_places_and_fix() {
        let at = |line: u32| {
            json!({
                "artifactLocation": {"uri": "evals/EVAL.yaml"},
                "region": {"startLine": line, "startColumn": 9, "endLine": line, "endColumn": 10}
            })
        };
        let expected = json!({
            "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
            "version": "2.1.0",
            "runs": [{
                "tool": {"driver": {
                    "name": "evalrig",
                    "version": env!("CARGO_PKG_VERSION"),
                    "rules": [{
                        "id": "duplicate-id",
                        "shortDescription": {"text": "Two tests of a suite have the same id."},
                        "defaultConfiguration": {"level": "error"},
                        "help": {"text": "evalrig explain duplicate-id"}
                    }]
                }},
                "columnKind": "unicodeCodePoints",
                "results": [{
                    "ruleId": "duplicate-id",
                    "ruleIndex": 0,
                    "level": "error",
                    "message": {
                        "text": "test id `a` is used twice\nhelp: give one of them another id"
                    },
                    "locations": [{"physicalLocation": at(5)}],
                    "relatedLocations": [{
                        "id": 1,
                        "physicalLocation": at(3),
                        "message": {"text": "first used here"}
                    }],
                    "fixes": [{
                        "description": {"text": "rename it to `b`"},
                        "artifactChanges": [{
                            "artifactLocation": {"uri": "evals/EVAL.yaml"},
                            "replacements": [{
                                "deletedRegion": at(5)["region"],
                                "insertedContent": {"text": "b"}
                            }]
                        }]
                    }]
                }]
            }]
        });
        assert_eq!(shown(&duplicate()), expected);
    }

    #[test]
    fn a_rule_is_listed_once_and_edits_are_grouped_by_file() {
        let mut fixture = Fixture::new();
        let a = fixture.file("a.yaml", "abc");
        let b = fixture.file("b.yaml", "abc");
        let edit = |source, at| Edit {
            span: Span::new(source, at, at + 1),
            text: String::new(),
        };
        let span = Span::new(a, 0, 1);
        let fix = Fix::new("remove", vec![edit(a, 0), edit(b, 1), edit(a, 2)]);
        fixture.report(Diagnostic::new(&BROKEN, span, "m").fix(fix));
        fixture.report(Diagnostic::new(&REMARK, span, "m"));
        fixture.report(Diagnostic::new(&BROKEN, span, "n"));
        fixture.dropped = 4;
        let run = &shown(&fixture)["runs"][0];
        assert_eq!(run["tool"]["driver"]["rules"].as_array().unwrap().len(), 2);
        assert_eq!(run["results"][2]["ruleIndex"], 0);
        assert_eq!(run["results"][1]["level"], "note");
        assert_eq!(run["properties"]["dropped"], 4);
        let changes = &run["results"][0]["fixes"][0]["artifactChanges"];
        assert_eq!(changes[0]["replacements"].as_array().unwrap().len(), 2);
        assert_eq!(changes[1]["replacements"].as_array().unwrap().len(), 1);
    }

    #[test]
    fn nothing_found_is_still_a_run() {
        let run = &shown(&Fixture::new())["runs"][0];
        assert_eq!(run["results"], json!([]));
        assert_eq!(run["tool"]["driver"]["rules"], json!([]));
    }

    #[test]
    fn columns_are_characters_and_secrets_stay_home() {
        let mut fixture = Fixture::new();
        fixture.secrets.add("sk-12345678");
        let file = fixture.file("a.yaml", "é: 😀x\n");
        let span = fixture.find(file, "x", 0);
        fixture.report(Diagnostic::new(&BROKEN, span, "sk-12345678"));
        let result = &shown(&fixture)["runs"][0]["results"][0];
        assert_eq!(result["message"]["text"], "***");
        let region = &result["locations"][0]["physicalLocation"]["region"];
        assert_eq!(region["startColumn"], 5);
        assert_eq!(region["endColumn"], 6);
    }

    #[test]
    fn addresses_are_encoded() {
        assert_eq!(uri("my evals/ä:1.yaml"), "my%20evals/%C3%A4%3A1.yaml");
        assert_eq!(uri("/etc/x#y"), "file:///etc/x%23y");
    }
}
