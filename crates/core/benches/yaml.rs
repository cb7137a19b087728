//! YAML: the tree alone, and the whole way to a checked suite.

use std::hint::black_box;
use std::sync::Arc;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use evalrig_core::diagnostic::Diagnostics;
use evalrig_core::read::{DiscardTests, Findings, LoadRequest, load};
use evalrig_core::reader::{ReadPolicy, World};
use evalrig_core::source::{MemoryFiles, Sources, Variables};
use evalrig_core::syntax::parse_yaml;

#[path = "../../../bench/src/text.rs"]
#[expect(dead_code, reason = "the other formats have their own benchmarks")]
mod text;

const TESTS: usize = 1000;

fn yaml(criterion: &mut Criterion) {
    let mut bytes = Vec::new();
    text::yaml(TESTS, &mut bytes).expect("memory takes everything");
    let mut group = criterion.benchmark_group("yaml");
    group.throughput(Throughput::Bytes(bytes.len() as u64));

    let shared = Arc::new(String::from_utf8(bytes.clone()).expect("generated as UTF-8"));
    let source = Sources::new().add_file("/p/EVAL.yaml".into(), String::new(), 0);
    group.bench_function("tree", |bencher| {
        bencher.iter(|| parse_yaml(source, black_box(&shared).clone(), &mut Diagnostics::new()));
    });

    let files = MemoryFiles::new().with("/p/EVAL.yaml", bytes);
    let environment = Variables::default();
    let limits = ReadPolicy::default();
    let world = World { files: &files, environment: &environment, working_directory: "/p".into() };
    let request = LoadRequest::new(world, &limits, "/p/EVAL.yaml".into(), "/p".into());
    group.bench_function("validate", |bencher| {
        bencher.iter(|| {
            let loaded = load(&request, Findings::new(), &mut DiscardTests);
            let reported = loaded.findings().diagnostics().len();
            assert_eq!((loaded.tests(), reported), (TESTS, 0));
        });
    });
    group.finish();
}

criterion_group!(benches, yaml);
criterion_main!(benches);
