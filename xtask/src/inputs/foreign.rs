//! Files of other tools, in every format and syntax. What is made of them is YAML.

use evalrig_core::import::{CodeUse, FORMATS, FieldMap, ImportRequest, Opened};
use evalrig_core::secrets::Secrets;
use evalrig_core::source::{MemoryFiles, Reach};
use evalrig_core::syntax::lone_tree;

/// The bytes as JSON and JSONL if they look like that, else as YAML and CSV.
pub(super) fn every_format(bytes: &[u8]) {
    let map = FieldMap::parse("input=q+input,expected_output=a,tags=t,regex=r").ok();
    let names = match bytes.trim_ascii_start().first() {
        Some(b'{' | b'[') => ["x.json", "x.jsonl"],
        _ => ["x.yaml", "x.csv"],
    };
    for name in names {
        let path = camino::Utf8PathBuf::from("/p").join(name);
        let files = MemoryFiles::new()
            .with("/p/prompt.txt", "Say {{ q }}\n---\nAsk {{ q }}\n")
            .with("/p/more.yaml", "- {vars: {q: x}, assert: [{type: contains, value: x}]}\n")
            .with("/p/check.js", "module.exports = () => true;\n")
            .with(path.as_str(), bytes);
        let request = ImportRequest {
            files: &files,
            path: &path,
            others: &[],
            directory: "/p/evals".into(),
            reach: Reach::Inside("/p".into()),
            map: map.as_ref(),
            targets: None,
            code: CodeUse::Written,
        };
        convert(&request);
    }
}

/// A task of Harbor or Terminal-Bench, which is a directory.
pub(super) fn task(bytes: &[u8]) {
    for name in ["task.toml", "task.yaml"] {
        let path = camino::Utf8PathBuf::from("/p/task").join(name);
        let files = MemoryFiles::new()
            .with("/p/task/instruction.md", "Write `a` to /app/out.txt.\n")
            .with("/p/task/environment/Dockerfile", "FROM debian\nWORKDIR /app\n")
            .with("/p/task/tests/test.sh", "grep -q a /app/out.txt\n")
            .with(path.as_str(), bytes);
        convert(&ImportRequest {
            files: &files,
            path: &path,
            others: &[],
            directory: "/p/evals".into(),
            reach: Reach::Inside("/p".into()),
            map: None,
            targets: None,
            code: CodeUse::Written,
        });
    }
}

fn convert(request: &ImportRequest<'_>) {
    for format in FORMATS {
        let Ok(opened) = Opened::new(request) else { return };
        let _ = opened.detect();
        let done = opened.convert(request, format);
        let Some(suite) = done.suite else {
            assert!(!done.diagnostics.is_empty(), "{} gave up without a reason", format.name);
            continue;
        };
        let name = request.path.file_name().unwrap_or_default();
        let text = suite.to_yaml(name, &Secrets::default());
        assert!(lone_tree(text.clone()).is_ok(), "{text}");
    }
}
