//! Assertions that are code, or that only code can decide: the script beside the suite runs them.

use crate::model::{Map, Value};

use super::super::located::Located;
use super::super::script::{ScriptLanguage, script_check};
use super::file_value::{FileKind, FileReference};
use super::foo_check::{CheckWriter, FooAssertion, ScoreUse};

impl CheckWriter<'_, '_> {
    /// The script beside the suite decides.
    pub(super) fn scripted(&mut self, assertion: &FooAssertion<'_>, value: Value) -> Option<Map> {
        let mut config = Map::new().with("type", assertion.base);
        if value != Value::Null {
            config.insert("value", value);
        }
        self.finish_script(assertion, ScriptLanguage::JavaScript, None, config)
    }

    pub(super) fn script(&mut self, assertion: &FooAssertion<'_>) -> Option<Map> {
        let is_python = assertion.base == "python";
        let language = if is_python { ScriptLanguage::Python } else { ScriptLanguage::JavaScript };
        let config = Map::new().with("type", assertion.base);
        let Some(written) = assertion.data.get("value").filter(|value| value.as_str().is_some())
        else {
            self.lost(assertion, "it has no code");
            return None;
        };
        let text = written.as_str().unwrap_or_default();
        // A CSV cell may name a Python file without `file://`.
        let is_path = is_python && !text.contains('\n') && text.contains(".py") && {
            let path = FileReference::of_path(text, self.directory).path;
            self.importer.exists(&path)
        };
        let reference = match FileReference::of(text, self.directory) {
            None if is_path => Some(FileReference::of_path(text, self.directory)),
            reference => reference,
        };
        let Some(reference) = reference else {
            let code = self.filled(text, written.span);
            self.report_context(assertion, &code);
            self.needs_vars |= code.contains("context");
            return self.finish_script(assertion, language, None, config.with("value", code));
        };
        let wanted = if is_python { FileKind::Python } else { FileKind::JavaScript };
        if reference.kind() != wanted || !self.importer.exists(&reference.path) {
            let reason = match reference.kind() {
                FileKind::TypeScript => "TypeScript is not run; name the compiled file",
                kind if kind == wanted => "its file does not exist",
                _ => "its file is of another language",
            };
            self.lost(assertion, reason);
            return None;
        }
        if let Some(code) = self.importer.read_text(&reference.path) {
            self.report_context(assertion, &code);
        }
        self.needs_vars = true;
        let path = self.importer.path_in_suite(&reference.path);
        let config = config.with_some("function", reference.function);
        self.finish_script(assertion, language, Some(path), config)
    }

    /// Parts of the context that evalrig cannot give.
    fn report_context(&mut self, assertion: &FooAssertion<'_>, code: &str) {
        for name in ["logProbs", "context.trace", "context.provider."] {
            if code.contains(name) {
                let message = format!("`{name}` is not known to the script");
                self.importer.loss("context", assertion.span(), message);
            }
        }
    }

    fn finish_script(
        &mut self,
        assertion: &FooAssertion<'_>,
        language: ScriptLanguage,
        path: Option<String>,
        config: Map,
    ) -> Option<Map> {
        let transforms = self.transforms(assertion)?;
        if !transforms.is_empty() && language == ScriptLanguage::Python {
            let message =
                "`python` looks at the answer itself, not at what `transform` makes of it";
            self.importer.loss("transform", assertion.span(), message);
        }
        let mut config = config
            .with_some("threshold", assertion.threshold())
            .with_some("negate", assertion.is_negated.then_some(true))
            .with_some("score", (self.score == ScoreUse::Value).then_some("value"));
        if !transforms.is_empty() && language == ScriptLanguage::JavaScript {
            self.needs_vars |= transforms.iter().any(|code| code.contains("context"));
            config.insert("transform", transforms);
        }
        config.insert_some("config", assertion.data.get("config").map(Located::value));
        let message = "a script decides it, and only a converted suite runs scripts";
        self.importer.note_code(assertion.span(), message);
        let map = script_check(self.draft, language, path, config);
        Some(
            map.with(
                "name",
                assertion.data.get("type").and_then(Located::text).unwrap_or_default(),
            ),
        )
    }

    /// The code that the output passes through, the test's first. `None` if it cannot be run.
    fn transforms(&mut self, assertion: &FooAssertion<'_>) -> Option<Vec<String>> {
        let written = [self.test.transform.clone(), assertion.data.get("transform").cloned()];
        let mut found = Vec::new();
        for one in written.iter().flatten() {
            let Some(text) = one.as_str() else { continue };
            let Some(reference) = FileReference::of(text, self.directory) else {
                found.push(text.to_owned());
                continue;
            };
            if reference.kind() != FileKind::JavaScript || !self.importer.exists(&reference.path) {
                self.lost(assertion, "its `transform` is not a JavaScript file");
                return None;
            }
            let path = self.importer.path_in_suite(&reference.path);
            let name = reference.function.map(|name| format!(":{name}")).unwrap_or_default();
            found.push(format!("file://{path}{name}"));
        }
        Some(found)
    }
}
