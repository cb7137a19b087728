//! `validate --fix`: safe edits, round after round, until none is left. Nothing is written before
//! the whole result has been read again and found no worse.

use std::collections::{BTreeMap, HashSet};
use std::fs;
use std::io::{self, Write};

use camino::{Utf8Path, Utf8PathBuf};
use evalrig_core::diagnostic::{Diagnostic, Fix};
use evalrig_core::read::Found;
use evalrig_core::source::{Entry, EntryKind, Files, Sources};
use evalrig_core::syntax::edit;

use crate::args::Validate;
use crate::command::Check;
use crate::context::{Context, complain, print};
use crate::disk::Disk;
use crate::exit::Exit;
use crate::render::patch;

/// Fixes that depend on each other are made one after another; no file needs more rounds.
const MOST_ROUNDS: usize = 100;

/// Edited files laid over the disk.
#[derive(Debug, Default)]
struct Overlay {
    texts: BTreeMap<Utf8PathBuf, Vec<u8>>,
}

/// What the fixes came to.
#[derive(Debug)]
pub struct Repaired {
    overlay: Overlay,
    check: Check,
    pub fixed: usize,
}

/// Makes every fix in memory.
pub fn repair(
    context: &Context,
    args: &Validate,
    found: &[Found],
    first: Check,
) -> Result<Repaired, Exit> {
    let mut state = Repaired {
        overlay: Overlay::default(),
        check: first,
        fixed: 0,
    };
    let mut refused: HashSet<String> = HashSet::new();
    for _ in 0..MOST_ROUNDS {
        let chosen = choose(&state.check, &refused);
        if chosen.is_empty() {
            break;
        }
        match state.attempt(context, args, found, &chosen)? {
            Some(next) => state = next,
            // Together they do harm: each has to show for itself that it does none.
            None => {
                for fix in &chosen {
                    match state.attempt(context, args, found, &[*fix])? {
                        Some(next) => {
                            state = next;
                            break;
                        }
                        None => {
                            refused.insert(key_of(fix));
                        }
                    }
                }
            }
        }
    }
    Ok(state)
}

fn key_of(fix: &Fix) -> String {
    format!("{:?}", fix.edits)
}

/// Fixes that can be made at once: no two touch the same bytes or the same isolated place.
fn choose<'c>(check: &'c Check, refused: &HashSet<String>) -> Vec<&'c Fix> {
    let mut chosen: Vec<&Fix> = Vec::new();
    let mut isolated = HashSet::new();
    let mut taken: BTreeMap<_, Vec<(u32, u32)>> = BTreeMap::new();
    let mut fixes: Vec<&Diagnostic> = check.out.iter().filter(|one| one.fix.is_some()).collect();
    fixes.sort_by_key(|one| one.span);
    for fix in fixes.into_iter().filter_map(|one| one.fix.as_ref()) {
        let is_free = fix.edits.iter().all(|edit| {
            taken.get(&edit.span.source).is_none_or(|ranges| {
                // Sorted by place, so only the latest ranges can be near.
                ranges
                    .iter()
                    .rev()
                    .take(64)
                    .all(|(start, end)| edit.span.end < *start || edit.span.start > *end)
            })
        });
        let is_alone = fix.isolation.is_none_or(|place| isolated.insert(place));
        if !is_free || !is_alone || refused.contains(&key_of(fix)) {
            continue;
        }
        for edit in &fix.edits {
            taken
                .entry(edit.span.source)
                .or_default()
                .push((edit.span.start, edit.span.end));
        }
        chosen.push(fix);
    }
    chosen
}

impl Repaired {
    /// The state after these fixes; `None` when the result would have more errors than before.
    fn attempt(
        &self,
        context: &Context,
        args: &Validate,
        found: &[Found],
        fixes: &[&Fix],
    ) -> Result<Option<Self>, Exit> {
        let Some(overlay) = self.overlay.with(&self.check.sources, fixes) else {
            return Ok(None);
        };
        let check = Check::run_on(context, args, found, &overlay)?;
        let is_better = check.out.errors() <= self.check.out.errors()
            && check.out.len() <= self.check.out.len();
        Ok(is_better.then(|| Self {
            overlay,
            check,
            fixed: self.fixed + fixes.len(),
        }))
    }

    /// Writes every changed file.
    pub fn write(self) -> Result<Check, Exit> {
        for (path, bytes) in &self.overlay.texts {
            if let Err(error) = replace(path, bytes) {
                complain(&format!("cannot write `{path}`: {error}"));
                return Err(Exit::CouldNotStart);
            }
        }
        Ok(self.check)
    }

    /// Prints what would change.
    pub fn show(&self, context: &Context) -> Result<Exit, Exit> {
        for (path, bytes) in &self.overlay.texts {
            let before = Disk.read(path, u64::MAX).unwrap_or_default();
            let shown = path
                .strip_prefix(&context.working_directory)
                .unwrap_or(path);
            let diff = patch::unified(
                shown.as_str(),
                &String::from_utf8_lossy(&before),
                &String::from_utf8_lossy(bytes),
                context.look().color,
            );
            print(&self.check.secrets.redact(&diff))?;
        }
        match self.overlay.texts.is_empty() && self.check.out.errors() == 0 {
            true => Ok(Exit::Well),
            false => Ok(Exit::No),
        }
    }
}

/// By a temporary file and a rename, so that a crash leaves the old file or the new one.
fn replace(path: &Utf8Path, bytes: &[u8]) -> io::Result<()> {
    // A link stays a link: the file behind it is what is replaced.
    let path = path.canonicalize_utf8()?;
    let name = path.file_name().unwrap_or("suite");
    let temporary = path.with_file_name(format!(".{name}.evalrig-{}", std::process::id()));
    let permissions = fs::metadata(&path)?.permissions();
    let written = fs::File::create_new(&temporary).and_then(|mut file| {
        file.write_all(bytes)?;
        file.set_permissions(permissions)?;
        file.sync_all()
    });
    let renamed = written.and_then(|()| fs::rename(&temporary, &path));
    if renamed.is_err() {
        let _ = fs::remove_file(&temporary);
    }
    renamed
}

impl Overlay {
    fn with(&self, sources: &Sources, fixes: &[&Fix]) -> Option<Self> {
        let mut edits: BTreeMap<Utf8PathBuf, Vec<(std::ops::Range<usize>, &str)>> = BTreeMap::new();
        for edit in fixes.iter().flat_map(|fix| &fix.edits) {
            let source = sources.get(edit.span.source);
            let base = usize::try_from(source.offset()).ok()?;
            let range = base + edit.span.start as usize..base + edit.span.end as usize;
            edits
                .entry(source.path().to_owned())
                .or_default()
                .push((range, edit.text.as_str()));
        }
        let mut texts = self.texts.clone();
        for (path, edits) in edits {
            let before = String::from_utf8(self.read(&path, u64::MAX).ok()?).ok()?;
            let after = edit::apply(&before, &edits).ok()?;
            texts.insert(path, after.into_bytes());
        }
        Some(Self { texts })
    }
}

impl Files for Overlay {
    fn kind(&self, path: &Utf8Path) -> Option<EntryKind> {
        Disk.kind(path)
    }

    fn size(&self, path: &Utf8Path) -> io::Result<u64> {
        match self.texts.get(path) {
            Some(text) => Ok(text.len() as u64),
            None => Disk.size(path),
        }
    }

    fn read(&self, path: &Utf8Path, limit: u64) -> io::Result<Vec<u8>> {
        match self.texts.get(path) {
            Some(text) => {
                Ok(text[..text.len().min(usize::try_from(limit).unwrap_or(usize::MAX))].to_vec())
            }
            None => Disk.read(path, limit),
        }
    }

    fn open(&self, path: &Utf8Path) -> io::Result<Box<dyn io::BufRead>> {
        match self.texts.get(path) {
            Some(text) => Ok(Box::new(io::Cursor::new(text.clone()))),
            None => Disk.open(path),
        }
    }

    fn canonicalize(&self, path: &Utf8Path) -> io::Result<Utf8PathBuf> {
        Disk.canonicalize(path)
    }

    fn list(&self, directory: &Utf8Path) -> io::Result<Vec<Entry>> {
        Disk.list(directory)
    }
}
