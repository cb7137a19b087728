//! JSONL: the lines alone, and the whole way to checked tests.

use std::io::Cursor;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use evalrig_core::read::{DiscardTests, Findings, LoadRequest, load};
use evalrig_core::reader::{ReadPolicy, World};
use evalrig_core::source::{MemoryFiles, Sources, Variables};
use evalrig_core::syntax::{JsonLines, Line};

#[path = "../../../bench/src/text.rs"]
#[expect(dead_code, reason = "the other formats have their own benchmarks")]
mod text;

const TESTS: usize = 10_000;

fn jsonl(criterion: &mut Criterion) {
    let mut bytes = Vec::new();
    text::jsonl(TESTS, &mut bytes).expect("memory takes everything");
    let mut group = criterion.benchmark_group("jsonl");
    group.throughput(Throughput::Bytes(bytes.len() as u64));

    let source = Sources::new().add_file("/p/d.jsonl".into(), String::new(), 0);
    group.bench_function("lines", |bencher| {
        bencher.iter(|| {
            let mut lines = JsonLines::new(Box::new(Cursor::new(bytes.clone())), source);
            let mut count = 0;
            while let Ok(Some(Line::Value)) = lines.advance() {
                count += 1;
            }
            assert_eq!(count, TESTS);
        });
    });

    let files = MemoryFiles::new().with("/p/d.jsonl", bytes.clone()).with("/p/d.yaml", "name: d\n");
    let environment = Variables::default();
    let limits = ReadPolicy::default();
    let world = World { files: &files, environment: &environment, working_directory: "/p".into() };
    let request = LoadRequest::new(world, &limits, "/p/d.jsonl".into(), "/p".into());
    group.bench_function("validate", |bencher| {
        bencher.iter(|| {
            let loaded = load(&request, Findings::new(), &mut DiscardTests);
            let reported = loaded.findings().diagnostics().len();
            assert_eq!((loaded.tests(), reported), (TESTS, 0));
        });
    });
    group.finish();
}

criterion_group!(benches, jsonl);
criterion_main!(benches);
