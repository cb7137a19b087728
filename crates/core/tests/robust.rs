//! Loading a file never panics and never loses a test silently, whatever the file contains.

mod support;

use camino::Utf8PathBuf;
use evalrig_core::codes::all_codes;
use evalrig_core::diagnostic::{Doc, DocFile, Level};
use evalrig_core::read::{CollectTests, Findings, LoadRequest, load};
use evalrig_core::reader::{ReadPolicy, World};
use evalrig_core::source::{MemoryFiles, Variables};

/// Every doc example; each "instead" is much the same.
fn examples() -> Vec<(&'static str, Vec<DocFile>)> {
    all_codes()
        .filter_map(|code| Some((code.name, Doc::parse(code.doc)?.example)))
        .filter(|(_, files)| !files.is_empty())
        .collect()
}

/// Loads the files with another text for the main one, and checks what must always hold.
fn check(name: &str, files: &[DocFile], text: &str) {
    let root = Utf8PathBuf::from("/p");
    let mut memory = MemoryFiles::new().with("/p/.git/HEAD", "x");
    for file in files {
        memory.insert(root.join(&file.path), file.text.clone().into_bytes());
    }
    let path = root.join(&files[0].path);
    memory.insert(path.clone(), text.as_bytes().to_vec());
    let environment = Variables::default();
    let limits = ReadPolicy::default();
    let world = World { files: &memory, environment: &environment, working_directory: &root };
    let request = LoadRequest::new(world, &limits, &path, &root);
    let mut kept = CollectTests::default();
    let loaded = load(&request, Findings::new(), &mut kept);
    let (has_header, tests) = (loaded.header().is_some(), loaded.tests());
    let is_targets_file = loaded.is_targets_file();
    let (sources, found, _) = loaded.into_findings().into_parts();
    let is_blocked = found.iter().any(|found| found.level == Level::Blocking);
    for found in &found {
        let source = sources.get(found.span.source).text();
        let (start, end) = (found.span.start as usize, found.span.end as usize);
        assert!(
            start <= end && source.get(start..end).is_some(),
            "{name}: `{}` points at {start}..{end} of {} bytes\n{text}",
            found.code.name,
            source.len()
        );
        assert!(!found.message.is_empty(), "{name}: `{}` says nothing", found.code.name);
        if let Some(fix) = &found.fix {
            assert!(!fix.edits.is_empty(), "{name}: a fix without edits\n{text}");
        }
    }
    if !has_header {
        assert!(
            is_blocked || is_targets_file,
            "{name}: no suite, and no diagnostic says why\n{text}"
        );
    } else if kept.0.len() < tests {
        assert!(is_blocked, "{name}: a test is lost, and no diagnostic says why\n{text}");
    } else if kept.0.is_empty() {
        assert!(is_blocked, "{name}: a suite without tests\n{text}");
    }
    for test in &kept.0 {
        assert!(!test.input.is_empty(), "{name}: a test without input\n{text}");
    }
}

#[test]
fn no_beginning_of_an_example_breaks_the_loader() {
    for (name, files) in examples() {
        let text = &files[0].text;
        for (at, _) in text.char_indices() {
            check(name, &files, &text[..at]);
        }
    }
}

#[test]
fn no_missing_line_of_an_example_breaks_the_loader() {
    for (name, files) in examples() {
        let lines: Vec<&str> = files[0].text.lines().collect();
        for left_out in 0..lines.len() {
            let text: String = lines
                .iter()
                .enumerate()
                .filter(|(at, _)| *at != left_out)
                .map(|(_, line)| format!("{line}\n"))
                .collect();
            check(name, &files, &text);
        }
    }
}

const OTHERS: &[&str] = &["[", "{", "\"", ":", "*", "&", "é", "\n", "- ", "#", "!", "7"];

#[test]
fn no_other_character_in_an_example_breaks_the_loader() {
    for (name, files) in examples() {
        let text = &files[0].text;
        // Each place gets one of them: all at all places would take minutes.
        for (place, (at, old)) in text.char_indices().enumerate() {
            let new = OTHERS[(place + text.len()) % OTHERS.len()];
            let changed = format!("{}{new}{}", &text[..at], &text[at + old.len_utf8()..]);
            check(name, &files, &changed);
        }
    }
}

/// Replaces the value after each `: ` up to the next separator.
#[test]
fn no_value_of_another_type_breaks_the_loader() {
    for (name, files) in examples() {
        let text = &files[0].text;
        for (at, _) in text.match_indices(": ") {
            let rest = &text[at + 2..];
            let end = rest.find([',', '}', '\n']).unwrap_or(rest.len());
            for new in
                ["~", "[]", "{}", "[x]", "{a: b}", "7", "-1", "1.5", "true", "\"\"", "x", ".nan"]
            {
                let changed = format!("{}: {new}{}", &text[..at], &rest[end..]);
                check(name, &files, &changed);
            }
        }
    }
}

/// The same for the values of keys that hold a block.
#[test]
fn no_empty_block_breaks_the_loader() {
    for (name, files) in examples() {
        let lines: Vec<&str> = files[0].text.lines().collect();
        for (at, line) in lines.iter().enumerate() {
            if !line.ends_with(':') {
                continue;
            }
            let depth = line.len() - line.trim_start().len();
            for new in ["", " []", " {}", " x", " 7"] {
                let mut text: String = lines[..at].iter().map(|line| format!("{line}\n")).collect();
                text += &format!("{line}{new}\n");
                let rest = lines[at + 1..].iter().skip_while(|line| {
                    line.len() - line.trim_start().len() > depth
                        || line.trim_start().starts_with('-')
                });
                text.extend(rest.map(|line| format!("{line}\n")));
                check(name, &files, &text);
            }
        }
    }
}
