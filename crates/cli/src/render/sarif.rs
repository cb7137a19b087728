//! SARIF 2.1.0, for code scanning. Only the parts of the standard that have something to say.

use std::collections::HashMap;
use std::io::{self, Write};

use evalrig_core::diagnostic::{Code, Diagnostic, Fix};
use evalrig_core::source::Span;
use evalrig_run::report::sarif_log::{
    SarifArtifactChange, SarifArtifactLocation, SarifConfiguration, SarifFix, SarifLocation,
    SarifLog, SarifPhysicalLocation, SarifRegion, SarifReplacement, SarifResult, SarifRule,
    SarifText, uri,
};

use evalrig_run::text;

use super::{Findings, Render};

#[derive(Debug, Clone, Copy)]
pub struct Sarif;

impl Render for Sarif {
    fn render(&self, findings: &Findings, out: &mut dyn Write) -> io::Result<()> {
        let mut rules = Rules::default();
        let results = findings
            .diagnostics
            .iter()
            .map(|diagnostic| result(findings, diagnostic, &mut rules))
            .collect::<Vec<_>>();
        let log = SarifLog::new(&rules.list, &results, findings.dropped as u64);
        let text = serde_json::to_string_pretty(&log)?;
        writeln!(out, "{}", text::json(&text))
    }
}

/// The codes that occur, in the order of their first diagnostic.
#[derive(Default)]
struct Rules {
    list: Vec<SarifRule>,
    index: HashMap<&'static str, usize>,
}

impl Rules {
    fn index_of(&mut self, code: &'static Code) -> usize {
        *self.index.entry(code.name).or_insert_with(|| {
            self.list.push(SarifRule {
                id: code.name.into(),
                short_description: text(first_sentence(code)),
                default_configuration: Some(SarifConfiguration {
                    level: code.level.severity().word(),
                }),
                help: text(format!("evalrig explain {}", code.name)),
            });
            self.list.len() - 1
        })
    }
}

fn text(text: impl Into<String>) -> SarifText {
    SarifText::new(text)
}

fn first_sentence(code: &Code) -> String {
    let what = code.doc.split("\n\n").next().unwrap_or_default();
    let what = what.split_whitespace().collect::<Vec<_>>().join(" ");
    match what.find(". ") {
        Some(end) => what[..=end].to_owned(),
        // SARIF requires a text even for a code without a doc.
        None if what.is_empty() => code.name.to_owned(),
        None => what,
    }
}

fn result(findings: &Findings, diagnostic: &Diagnostic, rules: &mut Rules) -> SarifResult {
    let related = diagnostic.related.iter().enumerate();
    SarifResult {
        rule_id: diagnostic.code.name.into(),
        rule_index: rules.index_of(diagnostic.code),
        level: diagnostic.level.severity().word(),
        message: text(findings.message_with_help(diagnostic)),
        locations: [SarifLocation {
            id: None,
            physical_location: physical(findings, diagnostic.span),
            message: None,
        }],
        related_locations: related
            .map(|(index, related)| SarifLocation {
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
        occurrence_count: None,
        partial_fingerprints: None,
        properties: None,
    }
}

fn physical(findings: &Findings, span: Span) -> SarifPhysicalLocation {
    SarifPhysicalLocation {
        artifact_location: artifact(findings, span),
        region: region(findings, span),
    }
}

fn artifact(findings: &Findings, span: Span) -> SarifArtifactLocation {
    SarifArtifactLocation { uri: uri(&findings.path_of(span)), uri_base_id: None }
}

fn region(findings: &Findings, span: Span) -> SarifRegion {
    let start = findings.sources.position(span);
    let end = findings.sources.end_position(span);
    SarifRegion {
        start_line: start.line,
        start_column: Some(start.column),
        end_line: Some(end.line),
        end_column: Some(end.column),
    }
}

/// All edits in one file are one change.
fn repair(findings: &Findings, fix: &Fix) -> SarifFix {
    let mut changes: Vec<SarifArtifactChange> = Vec::new();
    for edit in &fix.edits {
        let artifact_location = artifact(findings, edit.span);
        let replacement = SarifReplacement {
            deleted_region: region(findings, edit.span),
            inserted_content: text(&edit.text),
        };
        let same = |change: &&mut SarifArtifactChange| {
            change.artifact_location.uri == artifact_location.uri
        };
        match changes.iter_mut().find(same) {
            Some(change) => change.replacements.push(replacement),
            None => changes
                .push(SarifArtifactChange { artifact_location, replacements: vec![replacement] }),
        }
    }
    SarifFix { description: text(findings.redact(&fix.title)), artifact_changes: changes }
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
        let edit = |source, at| Edit { span: Span::new(source, at, at + 1), text: String::new() };
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
}
