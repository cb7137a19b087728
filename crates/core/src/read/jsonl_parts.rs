//! Checks large JSONL files on several threads. Parts are joined in the order of the file, so the
//! result is the same as reading line by line.

use std::borrow::Cow;
use std::io::{self, BufRead, Cursor, Read};
use std::num::NonZero;
use std::sync::Arc;
use std::thread;

use camino::{Utf8Path, Utf8PathBuf};

use crate::diagnostic::Diagnostics;
use crate::model::{TestId, Value};
use crate::reader::{ReadPolicy, Reader, World};
use crate::secrets::Secrets;
use crate::source::{Position, Sources, Span};
use crate::syntax::{JsonLines, LINE_LIMIT, json_value};

use super::identity::{DUPLICATE_ID, IdHasher, IdPlace, LineId, duplicate_id};
use super::inherited_defaults::InheritedDefaults;
use super::load::Origin;
use super::loader::{IdRegistry, Loader, RootDefaults};
use super::sink::DiscardTests;
use super::skills::{PartSkill, SkillLine, SkillPlace, SkillRegistry};

/// Large enough that the cost of a thread does not matter; small in tests.
const PART: usize = if cfg!(test) { 300 } else { 2 * 1024 * 1024 };
/// More threads would only wait for the disk.
const MOST_THREADS: usize = 8;

/// Whole lines of a file.
struct JsonlPart {
    bytes: Vec<u8>,
    /// Lines of the file before this part.
    lines_before: u32,
    offset: u64,
}

impl JsonlPart {
    /// The line that begins at this byte of the file.
    fn line(&self, offset: u64) -> Cow<'_, str> {
        let from = (offset - self.offset) as usize;
        let line = self.bytes[from..].split(|byte| *byte == b'\n').next();
        String::from_utf8_lossy(line.unwrap_or_default())
    }

    /// The place of a skill, in its line.
    fn mark(&self, skill: &SkillLine, path: &Arc<Utf8Path>, sources: &mut Sources) -> Span {
        let first = Position::start_of(skill.line());
        let text = self.line(skill.offset);
        let source = sources.add_excerpt(path.clone(), &text, first, skill.offset);
        Span::new(source, skill.head.0, skill.head.1)
    }
}

/// What was found in a part.
struct CheckedPart {
    part: JsonlPart,
    out: Diagnostics,
    sources: Sources,
    ids: Vec<LineId>,
    skills: Vec<PartSkill>,
    tests: u32,
    import_failed: bool,
    secrets: Secrets,
}

/// Whether a file is worth the threads.
pub(super) fn is_large(size: u64) -> bool {
    size > 2 * PART as u64 && threads() > 1
}

fn threads() -> usize {
    thread::available_parallelism().map_or(1, NonZero::get).min(MOST_THREADS)
}

impl Loader<'_, '_> {
    /// Checks every line; tests are not kept.
    pub(super) fn check_jsonl_parts(
        &mut self,
        mut input: Box<dyn BufRead>,
        level: &InheritedDefaults<'_>,
        path: &Arc<Utf8Path>,
    ) -> io::Result<()> {
        let mut parts = JsonlParts { input: &mut *input, lines: 0, offset: 0 };
        let mut ready = parts.take(threads())?;
        while !ready.is_empty() {
            let worker = PartWorker::of(self, level, path);
            let (checked, next) = thread::scope(|scope| {
                let running: Vec<_> =
                    ready.drain(..).map(|part| scope.spawn(|| worker.check(part))).collect();
                // The next parts are read from disk while the threads work.
                let next = parts.take(threads());
                let checked: Vec<CheckedPart> = running
                    .into_iter()
                    .map(|thread| {
                        thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
                    })
                    .collect();
                (checked, next)
            });
            for part in checked {
                self.take_over(part, path);
            }
            ready = next?;
        }
        Ok(())
    }

    fn take_over(&mut self, checked: CheckedPart, path: &Arc<Utf8Path>) {
        let shift = self.reader.sources.append(checked.sources);
        self.reader.out.take_over(checked.out, self.position, |span| shift.of(span));
        for one in &checked.ids {
            self.register_line_id(one, &checked.part, path);
        }
        let part = &checked.part;
        self.take_over_skills(checked.skills, |place, sources| match place {
            SkillPlace::Span(span) => shift.of(*span),
            SkillPlace::Line(line) => part.mark(line, path, sources),
        });
        self.position += checked.tests;
        self.import_failed |= checked.import_failed;
        self.reader.secrets.absorb(checked.secrets);
    }

    fn register_line_id(&mut self, one: &LineId, part: &JsonlPart, path: &Arc<Utf8Path>) {
        let place = IdPlace::Line { path: path.clone(), position: one.position };
        let IdRegistry::Whole(ids) = &mut self.ids else {
            return;
        };
        let Some(first) = ids.register(one.fingerprint, &place, self.reader.sources) else {
            return;
        };
        if self.reader.out.is_full() {
            self.reader.out.count_unkept(DUPLICATE_ID.level);
            return;
        }
        let text = part.line(one.line_offset);
        let Some(id) = id_in(&text, one.range) else {
            return;
        };
        let first = ids.span_of(first, &id, self.reader.sources);
        let begin = Position::start_of(one.position.line);
        let sources = &mut self.reader.sources;
        let source = sources.add_excerpt(path.clone(), &text, begin, one.line_offset);
        let span = Span::new(source, one.range.0, one.range.1);
        self.reader.out.enter_test(self.position + one.test);
        self.reader.out.report(duplicate_id(&id, first, span));
        self.reader.out.leave_test();
    }
}

/// The id at these bytes of a line, a JSON string or number.
fn id_in(line: &str, range: (u32, u32)) -> Option<TestId> {
    let token = line.get(range.0 as usize..range.1 as usize)?;
    match json_value(token)? {
        Value::String(text) => TestId::new(text),
        _ => TestId::new(token),
    }
}

/// Everything that reading a part needs of the load it belongs to.
struct PartWorker<'a> {
    level: &'a InheritedDefaults<'a>,
    path: &'a Arc<Utf8Path>,
    world: World<'a>,
    policy: &'a ReadPolicy,
    root: Utf8PathBuf,
    main_directory: Utf8PathBuf,
    directory: Utf8PathBuf,
    origin: Origin,
    defaults: RootDefaults,
    sources_before: u32,
    hasher: IdHasher,
}

impl<'a> PartWorker<'a> {
    fn of(
        loader: &Loader<'a, '_>,
        level: &'a InheritedDefaults<'a>,
        path: &'a Arc<Utf8Path>,
    ) -> Self {
        Self {
            level,
            path,
            world: loader.reader.world,
            policy: loader.reader.policy,
            root: loader.reader.root.clone(),
            main_directory: loader.reader.main_directory.clone(),
            directory: loader.reader.directory.clone(),
            origin: loader.origin,
            defaults: loader.defaults.clone(),
            sources_before: loader.reader.sources.count(),
            hasher: match &loader.ids {
                IdRegistry::Whole(ids) => ids.hasher().clone(),
                IdRegistry::Part { hasher, .. } => hasher.clone(),
            },
        }
    }

    fn check(&self, part: JsonlPart) -> CheckedPart {
        // New sources are numbered behind those that the level's own spans may point into.
        let mut sources = Sources::numbered_from(self.sources_before);
        let mut out = Diagnostics::new();
        let mut reader = Reader::new(
            self.world,
            &mut sources,
            &mut out,
            self.policy,
            self.root.clone(),
            self.main_directory.clone(),
        );
        reader.directory = self.directory.clone();
        let mut discard = DiscardTests;
        let mut loader = Loader {
            ids: IdRegistry::Part { ids: Vec::new(), hasher: self.hasher.clone() },
            skills: SkillRegistry::of_part(),
            defaults: self.defaults.clone(),
            ..Loader::new(reader, &mut discard, self.origin)
        };
        let source = loader.reader.sources.reserve(self.path.clone());
        // The lines are moved into the parser and come back afterwards.
        let bytes = Cursor::new(part.bytes);
        let mut lines = JsonLines::resumed(bytes, source, part.lines_before, part.offset);
        // Reading from memory cannot fail.
        let _ = loader.read_lines(&mut lines, self.level, self.path);
        let bytes = lines.into_inner().into_inner();
        let ids = match loader.ids {
            IdRegistry::Part { ids, .. } => ids,
            IdRegistry::Whole(_) => Vec::new(),
        };
        let skills = loader.skills.into_met();
        let (tests, import_failed) = (loader.position, loader.import_failed);
        let secrets = loader.reader.take_secrets();
        let part = JsonlPart { bytes, ..part };
        CheckedPart { part, out, sources, ids, skills, tests, import_failed, secrets }
    }
}

/// Cuts a stream into parts that end with a line.
struct JsonlParts<'i> {
    input: &'i mut dyn BufRead,
    lines: u32,
    offset: u64,
}

impl JsonlParts<'_> {
    fn take(&mut self, count: usize) -> io::Result<Vec<JsonlPart>> {
        let mut parts = Vec::with_capacity(count);
        while parts.len() < count {
            match self.next()? {
                Some(part) => parts.push(part),
                None => break,
            }
        }
        Ok(parts)
    }

    fn next(&mut self) -> io::Result<Option<JsonlPart>> {
        let mut bytes = Vec::with_capacity(PART + PART / 8);
        (&mut *self.input).take(PART as u64).read_to_end(&mut bytes)?;
        if bytes.is_empty() {
            return Ok(None);
        }
        let mut skipped = 0;
        if bytes.last() != Some(&b'\n') {
            let limit = LINE_LIMIT as u64 + 1;
            let more = (&mut *self.input).take(limit).read_until(b'\n', &mut bytes)?;
            if more as u64 == limit && bytes.last() != Some(&b'\n') {
                // The reader of the part sees a line that is too long, and needs no more of it.
                skipped = self.input.skip_until(b'\n')? as u64;
            }
        }
        let part = JsonlPart { lines_before: self.lines, offset: self.offset, bytes };
        self.lines += part.bytes.iter().filter(|byte| **byte == b'\n').count() as u32;
        self.lines += u32::from(skipped > 0);
        self.offset += part.bytes.len() as u64 + skipped;
        Ok(Some(part))
    }
}

#[cfg(test)]
mod tests {
    use crate::read::{CollectTests, DiscardTests, Findings, LoadRequest, Sink, load};
    use crate::reader::{ReadPolicy, World};
    use crate::source::{MemoryFiles, Variables};

    /// Every diagnostic as a line of text, and the number of tests.
    fn found(files: &MemoryFiles, sink: &mut dyn Sink) -> (Vec<String>, usize, usize) {
        let environment = Variables::default();
        let policy = ReadPolicy::default();
        let world = World { files, environment: &environment, working_directory: "/p".into() };
        let request = LoadRequest::new(world, &policy, "/p/d.jsonl".into(), "/p".into());
        let loaded = load(&request, Findings::new(), sink);
        let (sources, out) = (loaded.findings().sources(), loaded.findings().diagnostics());
        let mut lines: Vec<String> = out
            .iter()
            .map(|one| {
                let place = sources.position(one.span);
                let related: Vec<_> = one
                    .related
                    .iter()
                    .map(|related| (sources.position(related.span), sources.text_of(related.span)))
                    .collect();
                let text = sources.text_of(one.span);
                let offset = sources.get(one.span.source).offset();
                format!(
                    "{place:?} {} {} {text} {offset} {:?} {related:?}",
                    one.code.name, one.message, one.test
                )
            })
            .collect();
        lines.sort();
        (lines, loaded.tests(), out.errors())
    }

    #[test]
    fn parts_give_the_same_as_lines() {
        let mut text = String::from("\u{feff}");
        for n in 0..400 {
            let line = match n % 23 {
                3 => "\n".to_owned(),
                5 => "{\"id\": \"again\", \"criteria\": \"c\", \"input\": \"é\"}\n".to_owned(),
                7 => "{\"id\": 1,}\n".to_owned(),
                11 => format!("{{\"input\": \"ü\", \"critera\": \"x\", \"id\": \"t{n}\"}}\r\n"),
                13 => "[1]\n".to_owned(),
                17 => format!(
                    "{{\"id\": \"f{n}\", \"criteria\": \"c\", \"input\": \"i\", \"input_files\": [\"no.md\"]}}\n"
                ),
                19 => format!(
                    "{{\"id\": \"s{n}\", \"criteria\": \"ü\", \"input\": \"i\", \"assert\": [{{\"type\": \"trigger-judge\", \"skill\": \"{}\"}}]}}\n",
                    ["k", "K", "other", "k/", "K_", "ROOT"][n % 6]
                ),
                _ => format!("{{\"id\": \"t{n}\", \"criteria\": \"c\", \"input\": \"i\"}}\n"),
            };
            text.push_str(&line);
        }
        let sidecar =
            "name: d\nassert:\n  - {type: llm-judge}\n  - {type: trigger-judge, skill: root}\n";
        let files = MemoryFiles::new().with("/p/d.jsonl", text).with("/p/d.yaml", sidecar);
        let by_line = found(&files, &mut CollectTests::default());
        assert!(by_line.0.len() > 40 && by_line.1 > 300, "{by_line:#?}");
        let collisions = by_line.0.iter().filter(|line| line.contains("skill-name-collision"));
        assert_eq!(collisions.count(), 3, "{by_line:#?}");
        assert_eq!(found(&files, &mut DiscardTests), by_line);
    }
}
