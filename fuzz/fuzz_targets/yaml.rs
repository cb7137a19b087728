//! Arbitrary bytes as a YAML suite.
#![no_main]

use std::sync::Arc;

use evalrig_core::diagnostic::Diagnostics;
use evalrig_core::source::Sources;
use evalrig_core::syntax::{decode, parse_yaml};
use evalrig_fuzz::{check, check_tree, repository};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    if let Ok((text, offset)) = decode(bytes.to_vec()) {
        let (mut sources, mut out) = (Sources::new(), Diagnostics::new());
        let source = sources.add_file("/p/EVAL.yaml".into(), text.clone(), offset);
        match parse_yaml(source, Arc::new(text), &mut out) {
            Some(tree) => check_tree(tree.root()),
            None => assert!(!out.is_empty(), "gave up without a reason"),
        }
    }
    check(&repository().with("/p/EVAL.yaml", bytes), "/p/EVAL.yaml");
});
