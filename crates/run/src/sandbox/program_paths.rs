//! What a program needs of places that a sandbox hides: its own file, the installation that the file
//! belongs to, its interpreter, and the files that its arguments name.

use std::io::Read;

use camino::{Utf8Component, Utf8Path, Utf8PathBuf};

use evalrig_core::source::Reach;

use crate::disk::{is_executable, open_regular};

use super::ProgramStart;

/// Interpreters of interpreters.
const DEPTH: u32 = 3;

/// Paths that must be visible besides the system.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct ProgramPaths {
    /// Files and directories.
    pub(super) readable: Vec<Utf8PathBuf>,
    /// Links that lead to them: where, and to what. Programs look for their parts beside what the link
    /// leads to, so it must stay a link.
    pub(super) links: Vec<(Utf8PathBuf, Utf8PathBuf)>,
}

/// Finds them. `hidden` is not shown as a part of something else; `is_visible` says what the sandbox shows
/// anyway. What is in `writable` may be of the agent: its links and first lines would choose what is shown.
pub(super) fn program_paths(
    start: &ProgramStart,
    hidden: &[Utf8PathBuf],
    writable: &[Utf8PathBuf],
    is_visible: &dyn Fn(&Utf8Path) -> bool,
) -> Result<ProgramPaths, String> {
    let paths = ProgramPaths::default();
    let mut found = PathFinder { start, hidden, writable, is_visible, paths };
    if !found.add_program(&start.program, DEPTH) {
        return Err(format!("cannot start `{}`: no such program", start.program));
    }
    for argument in &start.args {
        let path = Utf8Path::new(argument);
        if path.is_absolute() && path.is_file() {
            found.show(path.to_owned());
        }
    }
    Ok(found.paths)
}

/// The files that the program and its arguments name and that `is_visible` does not know. Their paths get no
/// `.` and no `..`: the directories on such a way need not exist where only the files are shown.
pub(super) fn named_files(
    start: &mut ProgramStart,
    is_visible: &dyn Fn(&Utf8Path) -> bool,
) -> Vec<Utf8PathBuf> {
    let mut found = Vec::new();
    for word in std::iter::once(&mut start.program).chain(&mut start.args) {
        let Some(path) = plain_file(Utf8Path::new(word)) else { continue };
        word.clear();
        word.push_str(path.as_str());
        if !is_visible(&path) && !found.contains(&path) {
            found.push(path);
        }
    }
    found
}

/// The way to a file without `.` and `..`. `None` for what is no absolute path of a file.
fn plain_file(path: &Utf8Path) -> Option<Utf8PathBuf> {
    if !path.is_absolute() || !path.is_file() {
        return None;
    }
    let leads_up = path.components().any(|part| part == Utf8Component::ParentDir);
    if leads_up { path.canonicalize_utf8().ok() } else { Some(path.components().collect()) }
}

struct PathFinder<'a> {
    start: &'a ProgramStart,
    hidden: &'a [Utf8PathBuf],
    writable: &'a [Utf8PathBuf],
    is_visible: &'a dyn Fn(&Utf8Path) -> bool,
    paths: ProgramPaths,
}

impl PathFinder<'_> {
    fn show(&mut self, path: Utf8PathBuf) {
        let is_known = self.paths.readable.iter().any(|known| path.starts_with(known));
        if !is_known && !(self.is_visible)(&path) {
            self.paths.readable.push(path);
        }
    }

    /// False if there is no such program.
    fn add_program(&mut self, program: &str, depth: u32) -> bool {
        let Some(path) = self.find(program) else {
            return false;
        };
        let Ok(real) = path.canonicalize_utf8() else {
            return false;
        };
        if self.is_writable(&path) || self.is_writable(&real) {
            return true;
        }
        if real != path && !(self.is_visible)(&path) {
            self.paths.links.push((path, real.clone()));
        }
        if !(self.is_visible)(&real) {
            self.show(self.installation(&real));
        }
        if depth > 1
            && let Some(interpreter) = interpreter(&real)
        {
            self.add_program(&interpreter, depth - 1);
        }
        true
    }

    /// Whether a path leads through a place that the agent can write to, as it is written.
    fn is_writable(&self, path: &Utf8Path) -> bool {
        let mut plain = Utf8PathBuf::new();
        for part in path.components() {
            match part {
                Utf8Component::ParentDir => drop(plain.pop()),
                part => plain.push(part),
            }
            if self.writable.contains(&plain) {
                return true;
            }
        }
        false
    }

    /// The directory that belongs to a program and to nothing else, or the file itself.
    fn installation(&self, program: &Utf8Path) -> Utf8PathBuf {
        let modules =
            program.ancestors().filter(|path| path.file_name() == Some("node_modules")).last();
        if let Some(modules) = modules.filter(|modules| !self.holds_hidden(modules)) {
            return modules.to_owned();
        }
        let bin = program.parent().filter(|parent| parent.file_name() == Some("bin"));
        match bin.and_then(Utf8Path::parent) {
            Some(prefix) if self.is_installation(prefix) => prefix.to_owned(),
            _ => program.to_owned(),
        }
    }

    /// Whether nothing but programs is below the directory above a `bin`.
    fn is_installation(&self, prefix: &Utf8Path) -> bool {
        if self.holds_hidden(prefix) {
            return false;
        }
        if prefix.join("pyvenv.cfg").is_file() {
            return true;
        }
        let home = self.start.variable("HOME").map(Utf8PathBuf::from);
        // These hold what belongs to the user.
        let is_shared = home.is_some_and(|home| *prefix == home || *prefix == home.join(".local"))
            || prefix.parent().is_none();
        // A repository may have a `bin` and a `lib` without being an installation.
        let is_hidden = self.hidden.iter().any(|one| prefix.starts_with(one));
        prefix.join("lib").is_dir() && !is_shared && !is_hidden
    }

    fn holds_hidden(&self, directory: &Utf8Path) -> bool {
        self.hidden.iter().any(|one| one.starts_with(directory))
    }

    fn find(&self, program: &str) -> Option<Utf8PathBuf> {
        if program.contains('/') {
            let path = self.start.cwd.join(program);
            return path.is_file().then_some(path);
        }
        let path = self.start.variable("PATH")?;
        let directories = path.split(':').filter(|directory| directory.starts_with('/'));
        directories
            .map(|directory| Utf8Path::new(directory).join(program))
            .find(|path| is_executable(path))
    }
}

/// The program in the first line of a script.
fn interpreter(script: &Utf8Path) -> Option<String> {
    let mut start = [0; 256];
    let length = open_regular(script, Reach::Anywhere).ok()?.read(&mut start).ok()?;
    let line = start[..length].strip_prefix(b"#!")?;
    let line = line.split(|byte| *byte == b'\n').next()?;
    let mut words = std::str::from_utf8(line).ok()?.split_ascii_whitespace();
    let first = words.next()?;
    if !first.ends_with("/env") {
        return Some(first.to_owned());
    }
    words.find(|word| !word.starts_with('-') && !word.contains('=')).map(str::to_owned)
}

#[cfg(all(test, unix))]
mod tests {
    use std::fs;
    use std::os::unix::fs::{PermissionsExt, symlink};

    use super::*;

    struct Place {
        _folder: tempfile::TempDir,
        home: Utf8PathBuf,
    }

    impl Place {
        fn new() -> Self {
            let folder = tempfile::tempdir().unwrap();
            let home = Utf8PathBuf::from_path_buf(folder.path().canonicalize().unwrap()).unwrap();
            Self { _folder: folder, home }
        }

        fn program(&self, path: &str, text: &str) -> Utf8PathBuf {
            let path = self.home.join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(&path, text).unwrap();
            fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
            path
        }

        fn find(&self, program: &str, path: &str, args: &[&str]) -> Result<ProgramPaths, String> {
            self.find_beside(program, path, args, &[])
        }

        fn find_beside(
            &self,
            program: &str,
            path: &str,
            args: &[&str],
            hidden: &[Utf8PathBuf],
        ) -> Result<ProgramPaths, String> {
            let variable = |name: &str, value: &str| (name.to_owned(), value.to_owned());
            let start = ProgramStart {
                program: program.to_owned(),
                args: args.iter().map(|one| (*one).to_owned()).collect(),
                cwd: self.home.clone(),
                env: vec![variable("HOME", self.home.as_str()), variable("PATH", path)],
            };
            let is_visible = |path: &Utf8Path| path.starts_with("/usr") || path.starts_with("/bin");
            program_paths(&start, hidden, &[], &is_visible)
        }
    }

    #[test]
    fn a_program_that_the_agent_could_write_shows_nothing() {
        let place = Place::new();
        let (work, secret) = (place.home.join("work"), place.home.join("secret"));
        fs::create_dir(&work).unwrap();
        fs::write(&secret, "x").unwrap();
        fs::write(work.join("check.sh"), format!("#!/usr/bin/env -S -u {secret} sh\n")).unwrap();
        symlink(&secret, work.join("link")).unwrap();
        let is_visible = |path: &Utf8Path| path.starts_with("/usr") || path.starts_with(&work);
        for program in ["./work/check.sh", "work/link", "work/../work/link", "work/./check.sh"] {
            let start = ProgramStart {
                program: program.to_owned(),
                args: Vec::new(),
                cwd: place.home.clone(),
                env: Vec::new(),
            };
            let found = program_paths(&start, &[], std::slice::from_ref(&work), &is_visible);
            assert_eq!(found, Ok(ProgramPaths::default()), "{program}");
        }
    }

    #[test]
    fn programs_of_the_system_need_nothing() {
        assert_eq!(
            Place::new().find("sh", "/usr/bin:/bin", &["-c", "x"]),
            Ok(ProgramPaths::default())
        );
        let missing = Place::new().find("no-such-program", "/usr/bin", &[]);
        assert_eq!(missing.unwrap_err(), "cannot start `no-such-program`: no such program");
    }

    #[test]
    fn a_program_of_npm_needs_its_modules_and_node() {
        let place = Place::new();
        let prefix = place.home.join(".nvm/v22");
        let real =
            place.program(".nvm/v22/lib/node_modules/@a/cli/cli.js", "#!/usr/bin/env node\n");
        place.program(".nvm/v22/bin/node", "\x7fELF");
        symlink("../lib/node_modules/@a/cli/cli.js", prefix.join("bin/agent")).unwrap();
        let bin = prefix.join("bin");
        let found = place.find("agent", bin.as_str(), &[]).unwrap();
        assert_eq!(found.links, [(bin.join("agent"), real)]);
        assert_eq!(found.readable, [prefix.join("lib/node_modules"), prefix]);
    }

    #[test]
    fn a_single_program_does_not_show_the_directory_it_is_in() {
        let place = Place::new();
        let real = place.program(".local/share/agent/versions/1", "\x7fELF");
        fs::create_dir_all(place.home.join(".local/bin")).unwrap();
        fs::create_dir_all(place.home.join(".local/lib")).unwrap();
        symlink(&real, place.home.join(".local/bin/agent")).unwrap();
        let tool = place.program(".local/bin/tool", "\x7fELF");
        let bin = place.home.join(".local/bin");
        assert_eq!(place.find("agent", bin.as_str(), &[]).unwrap().readable, [real]);
        assert_eq!(place.find("tool", bin.as_str(), &[]).unwrap().readable, [tool]);
    }

    #[test]
    fn a_virtual_environment_is_needed_as_a_whole() {
        let place = Place::new();
        let venv = place.home.join("venvs/a");
        let script = place.program("venvs/a/bin/agent", &format!("#!{venv}/bin/python\n"));
        fs::write(venv.join("pyvenv.cfg"), "").unwrap();
        symlink("/bin/sh", venv.join("bin/python")).unwrap();
        let found = place.find(script.as_str(), "", &[]).unwrap();
        assert_eq!(found.readable, [venv]);
    }

    #[test]
    fn files_that_arguments_name_are_shown() {
        let place = Place::new();
        let script = place.program("suite/agent.py", "");
        fs::write(place.home.join("suite/EVAL.yaml"), "").unwrap();
        let directory = place.home.join("suite");
        let args = [script.as_str(), directory.as_str(), "suite/EVAL.yaml", "/no/such/file"];
        assert_eq!(place.find("sh", "/bin", &args).unwrap().readable, [script]);
    }

    #[test]
    fn nothing_hidden_is_shown_as_a_part_of_an_installation() {
        let place = Place::new();
        let root = place.home.join("shop");
        let agent = place.program("shop/bin/agent", "\x7fELF");
        let packed = place.program("shop/node_modules/a/cli.js", "\x7fELF");
        let inner = place.program("shop/tools/bin/agent", "\x7fELF");
        fs::create_dir_all(root.join("lib")).unwrap();
        fs::create_dir_all(root.join("tools/lib")).unwrap();
        let shown = |program: &Utf8Path, hidden: &[&Utf8Path]| {
            let hidden: Vec<Utf8PathBuf> = hidden.iter().map(|path| (*path).to_owned()).collect();
            place.find_beside(program.as_str(), "", &[], &hidden).unwrap().readable
        };
        assert_eq!(shown(&agent, &[]), [root.as_path()], "what it looks like");
        for hidden in [root.as_path(), &root.join("evals/EVAL.yaml"), &place.home] {
            assert_eq!(shown(&agent, &[hidden]), [agent.as_path()], "{hidden}");
        }
        assert_eq!(shown(&inner, &[&root]), [inner.as_path()]);
        // Dependencies are known by their names. The suite is not among them.
        let modules = root.join("node_modules");
        assert_eq!(shown(&packed, &[&root]), [modules.as_path()]);
        assert_eq!(shown(&packed, &[&modules.join("evals")]), [packed.as_path()]);
        fs::write(root.join("tools/pyvenv.cfg"), "").unwrap();
        assert_eq!(shown(&inner, &[&root]), [root.join("tools")]);
        assert_eq!(shown(&inner, &[&root.join("tools/results.jsonl")]), [inner.as_path()]);
    }
}
