//! The parts of SARIF 2.1.0 that evalrig writes, shared by the report of a run and the one of
//! `validate`.

use std::borrow::Cow;
use std::collections::HashMap;
use std::fmt::Write as _;

use serde::Serialize;

/// The name of the base that relative addresses of a run report start from.
pub const REPOSITORY_ROOT: &str = "SRCROOT";

#[derive(Debug, Serialize)]
pub struct SarifLog<'a> {
    #[serde(rename = "$schema")]
    schema: &'static str,
    version: &'static str,
    runs: [SarifRun<'a>; 1],
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct SarifRun<'a> {
    tool: SarifTool<'a>,
    column_kind: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    original_uri_base_ids: Option<HashMap<&'static str, SarifUriBase>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    invocations: Option<[SarifInvocation; 1]>,
    results: &'a [SarifResult],
    #[serde(skip_serializing_if = "Option::is_none")]
    properties: Option<SarifRunProperties>,
}

/// A run that could not do all it was asked to.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct SarifInvocation {
    execution_successful: bool,
    tool_execution_notifications: Vec<SarifNotification>,
}

#[derive(Debug, Serialize)]
struct SarifNotification {
    level: &'static str,
    message: SarifText,
}

#[derive(Debug, Serialize)]
struct SarifTool<'a> {
    driver: SarifDriver<'a>,
}

#[derive(Debug, Serialize)]
struct SarifDriver<'a> {
    name: &'static str,
    version: &'static str,
    rules: &'a [SarifRule],
}

#[derive(Debug, Serialize)]
struct SarifUriBase {
    description: SarifText,
}

#[derive(Debug, Serialize)]
struct SarifRunProperties {
    dropped: u64,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SarifRule {
    pub id: Cow<'static, str>,
    pub short_description: SarifText,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub default_configuration: Option<SarifConfiguration>,
    pub help: SarifText,
}

#[derive(Debug, Serialize)]
pub struct SarifConfiguration {
    pub level: &'static str,
}

#[derive(Debug, Serialize)]
pub struct SarifText {
    pub text: String,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SarifResult {
    pub rule_id: Cow<'static, str>,
    pub rule_index: usize,
    pub level: &'static str,
    pub message: SarifText,
    pub locations: [SarifLocation; 1],
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub related_locations: Vec<SarifLocation>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub fixes: Vec<SarifFix>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub occurrence_count: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub partial_fingerprints: Option<SarifFingerprints>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub properties: Option<SarifCaseProperties>,
}

#[derive(Debug, Serialize)]
pub struct SarifFingerprints {
    #[serde(rename = "evalrig/v1")]
    pub evalrig: String,
}

/// The case that a result of a run is about.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SarifCaseProperties {
    pub suite: String,
    pub test: String,
    pub target: String,
    pub outcome: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub score: Option<f64>,
    /// Stage and kind of a fault (spec 11.1).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stage: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kind: Option<String>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SarifLocation {
    /// Locations of one list must differ; related places may coincide, so they are numbered.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<usize>,
    pub physical_location: SarifPhysicalLocation,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<SarifText>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SarifPhysicalLocation {
    pub artifact_location: SarifArtifactLocation,
    pub region: SarifRegion,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SarifArtifactLocation {
    pub uri: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub uri_base_id: Option<&'static str>,
}

#[derive(Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SarifRegion {
    pub start_line: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub start_column: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub end_line: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub end_column: Option<u32>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SarifFix {
    pub description: SarifText,
    pub artifact_changes: Vec<SarifArtifactChange>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SarifArtifactChange {
    pub artifact_location: SarifArtifactLocation,
    pub replacements: Vec<SarifReplacement>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SarifReplacement {
    pub deleted_region: SarifRegion,
    pub inserted_content: SarifText,
}

impl<'a> SarifLog<'a> {
    /// `dropped` results were counted, but not kept.
    pub fn new(rules: &'a [SarifRule], results: &'a [SarifResult], dropped: u64) -> Self {
        Self {
            schema: "https://json.schemastore.org/sarif-2.1.0.json",
            version: "2.1.0",
            runs: [SarifRun {
                tool: SarifTool {
                    driver: SarifDriver {
                        name: "evalrig",
                        version: env!("CARGO_PKG_VERSION"),
                        rules,
                    },
                },
                column_kind: "unicodeCodePoints",
                original_uri_base_ids: None,
                invocations: None,
                results,
                properties: (dropped > 0).then_some(SarifRunProperties { dropped }),
            }],
        }
    }

    /// Says why the results are not all there are; nothing if they are.
    #[must_use]
    pub fn with_errors(mut self, errors: Vec<String>) -> Self {
        let notification =
            |text: String| SarifNotification { level: "error", message: SarifText::new(text) };
        let notifications: Vec<_> = errors.into_iter().map(notification).collect();
        if !notifications.is_empty() {
            self.runs[0].invocations = Some([SarifInvocation {
                execution_successful: false,
                tool_execution_notifications: notifications,
            }]);
        }
        self
    }

    /// Declares [`REPOSITORY_ROOT`].
    #[must_use]
    pub fn with_repository_root(mut self) -> Self {
        let description = SarifText::new("the root of the repository");
        let base = SarifUriBase { description };
        self.runs[0].original_uri_base_ids = Some(HashMap::from([(REPOSITORY_ROOT, base)]));
        self
    }
}

impl SarifText {
    pub fn new(text: impl Into<String>) -> Self {
        Self { text: text.into() }
    }
}

/// A relative reference for relative paths, a `file:` address for absolute ones.
pub fn uri(path: &str) -> String {
    let is_absolute = camino::Utf8Path::new(path).is_absolute();
    let mut out = if !is_absolute {
        String::new()
    } else if path.starts_with('/') {
        "file://".to_owned()
    } else {
        "file:///".to_owned()
    };
    for byte in path.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' | b'/' => {
                out.push(char::from(byte));
            }
            // The colon of a drive; in a relative path it would look like a scheme.
            b':' if is_absolute => out.push(':'),
            other => {
                let _ = write!(out, "%{other:02X}");
            }
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_percent_encoded() {
        assert_eq!(uri("my evals/ä:1.yaml"), "my%20evals/%C3%A4%3A1.yaml");
        assert_eq!(uri("/etc/x#y"), "file:///etc/x%23y");
    }
}
