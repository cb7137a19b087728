//! Files of other tools, in every format and syntax. What is made of them is YAML.

use evalrig_core::import::{FORMATS, FieldMap, ImportRequest, Opened};
use evalrig_core::secrets::Secrets;
use evalrig_core::source::{MemoryFiles, Reach};
use evalrig_core::syntax::lone_tree;

/// The bytes as YAML, JSON, JSONL and CSV.
pub(super) fn every_format(bytes: &[u8]) {
    let map = FieldMap::parse("input=q+input,expected_output=a,tags=t,regex=r").ok();
    for name in ["x.yaml", "x.json", "x.jsonl", "x.csv"] {
        let path = camino::Utf8PathBuf::from("/p").join(name);
        let files = MemoryFiles::new()
            .with("/p/prompt.txt", "Say {{ q }}\n---\nAsk {{ q }}\n")
            .with("/p/more.yaml", "- {vars: {q: x}, assert: [{type: contains, value: x}]}\n")
            .with("/p/check.js", "module.exports = () => true;\n")
            .with(path.as_str(), bytes);
        let request = ImportRequest {
            files: &files,
            path: &path,
            directory: "/p/evals".into(),
            reach: Reach::Inside("/p".into()),
            map: map.as_ref(),
            targets: None,
        };
        for format in FORMATS {
            let Ok(opened) = Opened::new(&request) else { return };
            let _ = opened.detect();
            let done = opened.convert(&request, format);
            let Some(suite) = done.suite else {
                assert!(!done.diagnostics.is_empty(), "{} gave up without a reason", format.name);
                continue;
            };
            let text = suite.to_yaml(name, &Secrets::default());
            assert!(lone_tree(text.clone()).is_ok(), "{text}");
        }
    }
}
