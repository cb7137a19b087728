//! Real files, links, FIFOs and devices.

use std::fs;
use std::os::unix::fs::symlink;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use camino::{Utf8Path, Utf8PathBuf};
use evalrig_core::source::{EntryKind, Files, Reach, is_outside};
use proptest::collection::vec;
use proptest::prelude::*;
use rustix::fs::{CWD, FileType, Mode, mknodat};
use tempfile::TempDir;

use super::super::{Disk, read_whole};
use super::{FORCE_WALK, outside};

/// A root with a directory beside it that no path may reach.
struct Tree {
    _directory: TempDir,
    root: Utf8PathBuf,
    beside: Utf8PathBuf,
}

const SECRET: &str = "outside";

impl Tree {
    fn new() -> Self {
        let directory = TempDir::new().unwrap();
        let base = Utf8Path::from_path(directory.path()).unwrap().canonicalize_utf8().unwrap();
        let (root, beside) = (base.join("root"), base.join("beside"));
        fs::create_dir_all(root.join("d/e")).unwrap();
        fs::create_dir_all(&beside).unwrap();
        fs::write(beside.join("secret"), SECRET).unwrap();
        fs::write(root.join("a"), "in a").unwrap();
        fs::write(root.join("d/b"), "in b").unwrap();
        Self { _directory: directory, root, beside }
    }

    fn link(&self, name: &str, target: &str) {
        symlink(target, self.root.join(name)).unwrap();
    }

    fn read(&self, name: &str) -> Result<String, String> {
        let read = Disk.read(&self.root.join(name), Reach::Inside(&self.root), 1 << 20);
        match read {
            Ok(bytes) => Ok(String::from_utf8(bytes).unwrap()),
            Err(error) if is_outside(&error) => Err("outside".to_owned()),
            Err(error) => Err(error.kind().to_string()),
        }
    }
}

/// Runs a test with `openat2` and with the walk.
fn both_ways(test: impl Fn()) {
    for walks in [false, true] {
        FORCE_WALK.with(|force| force.set(walks));
        test();
    }
    FORCE_WALK.with(|force| force.set(false));
}

#[test]
fn links_are_followed_inside_the_root_and_nowhere_else() {
    both_ways(|| {
        let tree = Tree::new();
        tree.link("same", "a");
        tree.link("deep", "d/e/../b");
        tree.link("d/e/up", "../../a");
        tree.link("absolute", tree.root.join("d/b").as_str());
        tree.link("directory", "d");
        for (name, content) in [
            ("a", "in a"),
            ("same", "in a"),
            ("deep", "in b"),
            ("d/e/up", "in a"),
            ("absolute", "in b"),
            ("directory/b", "in b"),
            ("directory/e/../b", "in b"),
        ] {
            assert_eq!(tree.read(name), Ok(content.to_owned()), "{name}");
        }
        tree.link("out", "../beside/secret");
        tree.link("out-absolute", tree.beside.join("secret").as_str());
        tree.link("out-directory", "../beside");
        tree.link("d/twice", "../out-directory/secret");
        tree.link("through", "../root/a/../../beside/secret");
        tree.link("dangling-out", "../beside/none");
        tree.link("magic", "/proc/self/root/etc/hostname");
        for name in [
            "out",
            "out-absolute",
            "out-directory/secret",
            "out-directory/none",
            "d/twice",
            "through",
            "dangling-out",
            "magic",
            "../beside/secret",
        ] {
            assert_eq!(tree.read(name), Err("outside".to_owned()), "{name}");
        }
        tree.link("loop", "loop");
        tree.link("dangling", "none");
        for name in ["loop", "dangling", "none", "a/x", "d"] {
            let read = tree.read(name);
            assert!(read.is_err() && read != Err("outside".to_owned()), "{name}: {read:?}");
        }
    });
}

/// A file is not a directory, even where only its own name follows the slash.
#[test]
fn a_link_to_a_file_as_if_it_were_a_directory_leads_nowhere() {
    both_ways(|| {
        let tree = Tree::new();
        for (name, ending) in [("dot", "/."), ("slash", "/"), ("plain", "")] {
            tree.link(name, &format!("d/b{ending}"));
            let absolute = format!("{}{ending}", tree.root.join("d/b"));
            tree.link(&format!("absolute-{name}"), &absolute);
        }
        for name in ["dot", "slash"] {
            for name in [name.to_owned(), format!("absolute-{name}")] {
                assert_eq!(tree.read(&name), Err("not a directory".to_owned()), "{name}");
            }
            tree.link(&format!("d/{name}-directory"), tree.root.join("d/.").as_str());
            assert_eq!(tree.read(&format!("d/{name}-directory/b")), Ok("in b".to_owned()));
        }
        assert_eq!(tree.read("plain"), Ok("in b".to_owned()));
        assert_eq!(tree.read("absolute-plain"), Ok("in b".to_owned()));
    });
}

#[test]
fn a_root_may_be_spelt_through_a_link() {
    both_ways(|| {
        let tree = Tree::new();
        let other = tree.beside.join("link");
        symlink(&tree.root, &other).unwrap();
        let read = |root: &Utf8Path, path: &Utf8Path| Disk.read(path, Reach::Inside(root), 99);
        assert_eq!(read(&other, &other.join("a")).unwrap(), b"in a");
        assert_eq!(read(&other, &tree.root.join("a")).unwrap(), b"in a");
    });
}

#[test]
fn only_regular_files_are_opened_and_nothing_is_waited_for() {
    both_ways(|| {
        let tree = Tree::new();
        mknodat(CWD, tree.root.join("fifo").as_str(), FileType::Fifo, Mode::RUSR, 0).unwrap();
        tree.link("to-fifo", "fifo");
        for name in ["fifo", "to-fifo", "d"] {
            assert_eq!(tree.read(name), Err("invalid input parameter".to_owned()), "{name}");
            let anywhere = Disk.read(&tree.root.join(name), Reach::Anywhere, 9);
            assert!(anywhere.is_err(), "{name}");
        }
        assert!(Disk.read("/dev/zero".into(), Reach::Anywhere, 9).is_err());
        assert!(Disk.read("/dev/zero".into(), Reach::Inside("/dev".into()), 9).is_err());
    });
}

#[test]
fn a_file_without_end_is_not_read_whole() {
    let tree = Tree::new();
    let path = tree.root.join("sparse");
    fs::File::create(&path).unwrap().set_len(1 << 30).unwrap();
    let reach = Reach::Inside(&tree.root);
    assert_eq!(Disk.read(&path, reach, 1000).unwrap().len(), 1000);
    let error = read_whole(&path, reach, 1 << 20).unwrap_err();
    assert_eq!(error.to_string(), "it is larger than 1 MiB");
}

#[test]
fn listings_say_which_links_leave_and_which_names_are_not_utf_8() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;
    both_ways(|| {
        let tree = Tree::new();
        tree.link("in", "a");
        tree.link("out", "../beside/secret");
        tree.link("out-directory", "../beside");
        fs::write(tree.root.join("x").as_std_path().with_file_name(OsStr::from_bytes(b"\xff")), "")
            .unwrap();
        let listing = Disk.list(&tree.root, Reach::Inside(&tree.root)).unwrap();
        let names: Vec<_> =
            listing.entries.iter().map(|entry| (entry.name.as_str(), entry.kind)).collect();
        let expected = [
            ("a", EntryKind::File),
            ("d", EntryKind::Directory),
            ("in", EntryKind::File),
            ("out", EntryKind::Outside),
            ("out-directory", EntryKind::Outside),
        ];
        assert_eq!(names, expected);
        assert_eq!(listing.undecodable, [("\u{fffd}".to_owned(), EntryKind::File)]);
        let outside = Disk.list(&tree.root.join("out-directory"), Reach::Inside(&tree.root));
        assert!(is_outside(&outside.unwrap_err()));
    });
}

/// What is put at a random place.
#[derive(Debug, Clone)]
enum Node {
    File,
    Directory,
    Link(String),
}

fn name() -> impl Strategy<Value = String> {
    prop::sample::select(vec!["a", "b", "c", "d"]).prop_map(str::to_owned)
}

fn path() -> impl Strategy<Value = String> {
    let part = prop_oneof![4 => name(), 1 => Just("..".to_owned()), 1 => Just(".".to_owned())];
    vec(part, 1..5).prop_map(|parts| parts.join("/"))
}

fn node() -> impl Strategy<Value = Node> {
    prop_oneof![
        2 => Just(Node::File),
        2 => Just(Node::Directory),
        3 => (0..4, path()).prop_map(|(kind, path)| Node::Link(match kind {
            0 => format!("ROOT/{path}"),
            1 => format!("BESIDE/{path}"),
            _ => path,
        })),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    /// The opener agrees with the real paths of the system, in both ways.
    #[test]
    fn bytes_come_from_inside_and_everything_inside_can_be_read(
        nodes in vec((vec(name(), 1..4), any::<bool>(), node()), 1..14),
        asked in vec(path(), 1..14),
    ) {
        let tree = Tree::new();
        for (parts, is_beside, node) in &nodes {
            let at = if *is_beside { &tree.beside } else { &tree.root }.join(parts.join("/"));
            // What is in the way of something else fails, and then there is one node less.
            let _ = at.parent().map(fs::create_dir_all);
            let _ = match node {
                Node::File => fs::write(&at, at.as_str()),
                Node::Directory => fs::create_dir(&at),
                Node::Link(target) => {
                    let target = target.replace("ROOT", tree.root.as_str());
                    symlink(target.replace("BESIDE", tree.beside.as_str()), &at)
                }
            };
        }
        for path in &asked {
            let path: Utf8PathBuf = tree.root.join(path).components().collect();
            for walks in [false, true] {
                FORCE_WALK.with(|force| force.set(walks));
                let read = Disk.read(&path, Reach::Inside(&tree.root), 1 << 16);
                FORCE_WALK.with(|force| force.set(false));
                let real = path.canonicalize_utf8();
                match (&read, &real) {
                    (Ok(bytes), Ok(real)) => {
                        prop_assert!(real.starts_with(&tree.root), "{path} is {real}");
                        prop_assert_eq!(bytes, &fs::read(real).unwrap());
                    }
                    (Ok(_), Err(error)) => prop_assert!(false, "{path} was read: {error}"),
                    (Err(error), Ok(real)) if real.is_file() && real.starts_with(&tree.root) => {
                        // A path that leaves the root on its way is refused even if it comes back.
                        prop_assert!(is_outside(error), "{path} is {real}: {error}");
                        prop_assert!(leaves(&tree.root, &path), "{path} is {real}: {error}");
                    }
                    (Err(_), _) => {}
                }
            }
        }
    }
}

/// Whether following a path part by part is ever outside the root: the plain way, without
/// descriptors.
fn leaves(root: &Utf8Path, path: &Utf8Path) -> bool {
    let mut here = root.to_owned();
    let below = path.strip_prefix(root).unwrap();
    let reversed =
        |path: &str| -> Vec<String> { path.split('/').rev().map(str::to_owned).collect() };
    let mut pending = reversed(below.as_str());
    for _ in 0..500 {
        let Some(part) = pending.pop() else { return false };
        match part.as_str() {
            "" | "." => continue,
            ".." => {
                if here == *root {
                    return true;
                }
                here.pop();
                continue;
            }
            _ => {}
        }
        let next = here.join(&part);
        match fs::read_link(&next) {
            Ok(target) => {
                let target = Utf8PathBuf::from_path_buf(target).unwrap();
                if target.is_absolute() {
                    let Ok(below) = target.strip_prefix(root) else { return true };
                    here = root.to_owned();
                    pending.extend(reversed(below.as_str()));
                } else {
                    pending.extend(reversed(target.as_str()));
                }
            }
            Err(_) => here = next,
        }
    }
    false
}

#[test]
fn a_path_that_is_swapped_while_it_is_opened_never_shows_the_outside() {
    both_ways(|| {
        let tree = Tree::new();
        let is_over = AtomicBool::new(false);
        let (mut good, mut refused) = (0, 0);
        thread::scope(|scope| {
            let _end = SetOnDrop(&is_over);
            let swapper = scope.spawn(|| {
                let spare = tree.root.join("spare");
                while !is_over.load(Ordering::Relaxed) {
                    // The file itself, and the directory above another one.
                    fs::write(&spare, "in a").unwrap();
                    fs::rename(&spare, tree.root.join("swapped")).unwrap();
                    symlink("../beside/secret", &spare).unwrap();
                    fs::rename(&spare, tree.root.join("swapped")).unwrap();
                    let directory = tree.root.join("dir");
                    let _ = fs::remove_file(&directory);
                    fs::create_dir(&directory).unwrap();
                    fs::write(directory.join("secret"), "in a").unwrap();
                    fs::rename(&directory, tree.root.join("away")).unwrap();
                    symlink("../beside", &directory).unwrap();
                    fs::remove_dir_all(tree.root.join("away")).unwrap();
                }
            });
            let mut rounds = 0;
            // On a busy machine the other thread may not run for a while.
            while rounds < 20_000 || good == 0 || refused == 0 {
                assert!(!swapper.is_finished(), "nothing is swapped any more");
                rounds += 1;
                for name in ["swapped", "dir/secret"] {
                    match tree.read(name) {
                        Ok(content) => {
                            // A file may be seen before it is written.
                            assert!(matches!(content.as_str(), "in a" | ""), "{content}");
                            good += 1;
                        }
                        Err(_) => refused += 1,
                    }
                }
            }
        });
    });
}

/// Ends the other thread, also if the test fails.
struct SetOnDrop<'a>(&'a AtomicBool);

impl Drop for SetOnDrop<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

#[test]
fn a_refused_path_says_so() {
    assert_eq!(outside().to_string(), "it leads out of the repository root");
}
