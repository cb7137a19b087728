//! Containers, driven through the command line that `podman` and `docker` share.

use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::SystemTime;

use camino::Utf8Path;
use evalrig_core::model::ContainerSettings;

use super::bwrap::is_system;
use super::program_paths::named_files;
use super::{NetworkAccess, ProgramStart, SandboxView, SandboxedProgram, ask, complaint};

/// The label that names the process which started a container.
const OWNER: &str = "evalrig.owner";

/// Variables that the program of the containers reads itself. Their values are in its arguments, those of
/// all others in its environment, where other users do not see them.
const OF_THE_CLIENT: &[&str] = &["HOME", "PATH", "TMPDIR", "LD_PRELOAD", "LD_LIBRARY_PATH"];
const PREFIXES_OF_THE_CLIENT: &[&str] = &["DOCKER_", "CONTAINER", "PODMAN_", "XDG_", "BUILDAH_"];

/// Removes a container when it is dropped. Killing the program that started a container does not end it.
#[derive(Debug)]
pub struct ContainerGuard {
    program: String,
    name: String,
}

impl Drop for ContainerGuard {
    fn drop(&mut self) {
        let mut command = Command::new(&self.program);
        command.args(["rm", "--force", &self.name]);
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        // Usually it is gone already.
        let _ = command.status();
    }
}

/// `podman` or `docker`.
#[derive(Debug, Clone, Copy)]
pub(super) struct ContainerProgram<'a> {
    /// As it is written in `sandbox`.
    pub(super) name: &'static str,
    pub(super) program: &'a str,
    /// Options that make files belong to the user.
    pub(super) user: UserMapping,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum UserMapping {
    /// The same numbers inside.
    SameIds,
    /// Without root: the user keeps its own number.
    KeepId,
}

impl ContainerProgram<'_> {
    pub(super) fn available(&self, container: &ContainerSettings) -> Result<(), String> {
        let image = self.image(container)?;
        let words =
            |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>();
        let name = self.name;
        // Neither the server nor the image can be missing then.
        match ask(self.program, &words(&["image", "inspect", "--format", "{{.Id}}", image])) {
            Ok(ended) if ended.status.success() => {}
            Ok(ended) => {
                let said = complaint(&ended);
                let said = said.trim_start_matches("Error: ");
                let is_missing = ["no such image", "image not known", "no such object"];
                let is_missing =
                    is_missing.iter().any(|phrase| said.to_ascii_lowercase().contains(phrase));
                return Err(if is_missing {
                    format!("sandbox `{name}` has no image `{image}`; run `{name} pull {image}`")
                } else {
                    format!("sandbox `{name}` does not work here: {said}")
                });
            }
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                return Err(format!("sandbox `{name}` needs the program `{name}`"));
            }
            Err(error) => return Err(format!("sandbox `{name}` does not work here: {error}")),
        }
        Ok(())
    }

    fn image<'c>(&self, container: &'c ContainerSettings) -> Result<&'c str, String> {
        match container.image.as_deref() {
            Some(image) if image.is_empty() || image.starts_with('-') => {
                Err(format!("`{image}` is not an image"))
            }
            Some(image) => Ok(image),
            None => Err(format!(
                "sandbox `{}` needs an image; set `docker.image` of the workspace or `image` of the \
                 target",
                self.name
            )),
        }
    }

    pub(super) fn wrap(
        &self,
        mut start: ProgramStart,
        view: &SandboxView,
    ) -> Result<SandboxedProgram, String> {
        let image = self.image(&view.container)?;
        let name = new_name();
        let mut args: Vec<String> = Vec::new();
        let mut add = |words: &[&str]| args.extend(words.iter().map(|word| (*word).to_owned()));
        add(&["run", "--rm", "--interactive", "--init", "--pull=never", "--name", &name]);
        add(&["--label", &format!("{OWNER}={}", own_identity())]);
        add(&[
            "--cap-drop=ALL",
            "--security-opt=no-new-privileges",
            "--security-opt=label=disable",
        ]);
        if view.network == NetworkAccess::None {
            add(&["--network=none"]);
        }
        match self.user {
            UserMapping::SameIds => add(&["--user", &user_and_group()]),
            UserMapping::KeepId => add(&["--userns=keep-id"]),
        }
        if let Some(memory) = &view.container.memory {
            add(&["--memory", memory]);
        }
        if let Some(cpus) = &view.container.cpus {
            add(&["--cpus", cpus]);
        }
        // Of the system directories the container has its own.
        let is_visible = |path: &Utf8Path| {
            let mut mounted = view.readable.iter().chain(&view.writable);
            is_system(path) || mounted.any(|one| path.starts_with(one))
        };
        let named = named_files(&mut start, &is_visible);
        for path in view.readable.iter().chain(&named) {
            add(&["--volume", &format!("{path}:{path}:ro")]);
        }
        for path in &view.writable {
            add(&["--volume", &format!("{path}:{path}")]);
        }
        let mut env = Vec::new();
        for variable in &view.variables {
            add(&["--env", variable]);
        }
        for (variable, value) in start.env {
            if is_of_the_client(&variable) {
                add(&["--env", &format!("{variable}={value}")]);
            } else {
                add(&["--env", &variable]);
                env.push((variable, value));
            }
        }
        add(&["--workdir", start.cwd.as_str(), "--entrypoint", "", image, &start.program]);
        args.extend(start.args);
        let program = self.program.to_owned();
        let guard = ContainerGuard { program: program.clone(), name };
        let start = ProgramStart { program, args, cwd: start.cwd, env };
        Ok(SandboxedProgram { start, guard: Some(guard) })
    }

    /// Removes containers of runs that were killed.
    pub(super) fn remove_stale(&self) {
        let format = format!("{{{{.ID}}}} {{{{.Label \"{OWNER}\"}}}}");
        let words = ["ps", "--all", "--filter", &format!("label={OWNER}"), "--format", &format];
        let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
        let Ok(listed) = ask(self.program, &words) else { return };
        let listed = String::from_utf8_lossy(&listed.stdout).into_owned();
        for line in listed.lines() {
            if let Some((id, owner)) = line.split_once(' ')
                && is_dead(owner.trim())
            {
                drop(ContainerGuard { program: self.program.to_owned(), name: id.to_owned() });
            }
        }
    }
}

fn is_of_the_client(variable: &str) -> bool {
    OF_THE_CLIENT.contains(&variable)
        || PREFIXES_OF_THE_CLIENT.iter().any(|prefix| variable.starts_with(prefix))
}

fn new_name() -> String {
    static COUNT: AtomicUsize = AtomicUsize::new(0);
    let number = COUNT.fetch_add(1, Ordering::Relaxed);
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    let nanos = since.map_or(0, |since| since.as_nanos());
    format!("evalrig-{}-{nanos:x}-{number}", std::process::id())
}

/// This process among all that ever had its number: the number and when it started, in clock ticks.
fn own_identity() -> String {
    let id = std::process::id();
    format!("{id}-{}", started_at(id).unwrap_or(0))
}

fn started_at(id: u32) -> Option<u64> {
    let stat = std::fs::read_to_string(format!("/proc/{id}/stat")).ok()?;
    // The name may hold spaces and parentheses; the time is field 22, the state field 3.
    stat.rsplit_once(')')?.1.split_ascii_whitespace().nth(19)?.parse().ok()
}

/// Whether the owner of a container surely is gone.
fn is_dead(owner: &str) -> bool {
    let Some((id, start)) = owner.split_once('-') else { return false };
    let (Ok(id), Ok(start)) = (id.parse::<u32>(), start.parse::<u64>()) else { return false };
    start > 0 && started_at(std::process::id()).is_some() && started_at(id) != Some(start)
}

#[cfg(unix)]
fn user_and_group() -> String {
    let user = rustix::process::geteuid().as_raw();
    format!("{user}:{}", rustix::process::getegid().as_raw())
}

#[cfg(not(unix))]
fn user_and_group() -> String {
    "1000:1000".to_owned()
}

#[cfg(all(test, unix))]
mod tests {
    use std::fs;
    use std::os::unix::fs::PermissionsExt;

    use camino::Utf8PathBuf;

    use super::*;

    /// A program in place of podman or docker that writes down how it is called.
    struct StandIn {
        _folder: tempfile::TempDir,
        place: Utf8PathBuf,
        program: String,
    }

    impl StandIn {
        /// `answers` is run for every call, with its arguments.
        fn new(answers: &str) -> Self {
            let folder = tempfile::tempdir().unwrap();
            let place = Utf8PathBuf::from_path_buf(folder.path().to_owned()).unwrap();
            let program = place.join("engine");
            let script = format!("#!/bin/sh\necho \"$*\" >> {place}/calls\n{answers}\n");
            fs::write(&program, script).unwrap();
            fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
            Self { _folder: folder, place, program: program.into_string() }
        }

        fn container(&self, user: UserMapping) -> ContainerProgram<'_> {
            ContainerProgram { name: "docker", program: &self.program, user }
        }

        fn calls(&self) -> Vec<String> {
            let calls = fs::read_to_string(self.place.join("calls")).unwrap_or_default();
            calls.lines().map(str::to_owned).collect()
        }
    }

    fn settings(image: Option<&str>) -> ContainerSettings {
        ContainerSettings { image: image.map(str::to_owned), ..ContainerSettings::default() }
    }

    fn start() -> ProgramStart {
        let variable = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        ProgramStart {
            program: "agent".to_owned(),
            args: vec!["-p".to_owned(), "--help me".to_owned()],
            cwd: "/tmp/w/app".into(),
            env: vec![variable("API_KEY", "secret"), variable("HOME", "/tmp/h")],
        }
    }

    #[test]
    fn everything_that_the_program_needs_is_in_the_arguments() {
        let stand_in = StandIn::new("");
        let view = SandboxView {
            writable: vec!["/tmp/w".into(), "/tmp/h".into()],
            readable: vec!["/srv/data".into()],
            hidden: vec!["/srv".into()],
            variables: vec!["OPENAI_API_KEY".to_owned()],
            network: NetworkAccess::None,
            container: ContainerSettings {
                memory: Some("2g".to_owned()),
                cpus: Some("1.5".to_owned()),
                ..settings(Some("node:22"))
            },
        };
        let wrapped = stand_in.container(UserMapping::KeepId).wrap(start(), &view).unwrap();
        let name = wrapped.guard.as_ref().unwrap().name.clone();
        let expected = format!(
            "run --rm --interactive --init --pull=never --name {name} --label evalrig.owner={} \
             --cap-drop=ALL --security-opt=no-new-privileges --security-opt=label=disable \
             --network=none --userns=keep-id --memory 2g --cpus 1.5 --volume /srv/data:/srv/data:ro \
             --volume /tmp/w:/tmp/w --volume /tmp/h:/tmp/h --env OPENAI_API_KEY --env API_KEY \
             --env HOME=/tmp/h --workdir /tmp/w/app --entrypoint  node:22 agent -p --help me",
            own_identity()
        );
        assert_eq!(wrapped.start.args.join(" "), expected);
        assert_eq!(wrapped.start.program, stand_in.program);
        let key = ("API_KEY".to_owned(), "secret".to_owned());
        assert_eq!(wrapped.start.env, [key], "the client keeps its own home");
        drop(wrapped);
        assert_eq!(stand_in.calls(), [format!("rm --force {name}")]);
    }

    #[test]
    fn files_that_the_command_names_are_mounted() {
        let stand_in = StandIn::new("");
        let place = stand_in.place.canonicalize_utf8().unwrap();
        fs::create_dir_all(place.join("w/app")).unwrap();
        for name in ["agent.sh", "beside.sh", "w/own.sh"] {
            fs::write(place.join(name), "").unwrap();
        }
        let args = ["./agent.sh", "w/../beside.sh", "w/own.sh", "gone.sh"];
        let args = args.iter().map(|name| place.join(name).into_string());
        let start = ProgramStart {
            program: "sh".to_owned(),
            args: args.chain(["/etc/passwd".to_owned(), "agent.sh".to_owned()]).collect(),
            cwd: place.join("w"),
            env: Vec::new(),
        };
        let view = SandboxView {
            writable: vec![place.join("w")],
            container: settings(Some("x")),
            ..SandboxView::default()
        };
        let wrapped = stand_in.container(UserMapping::KeepId).wrap(start, &view).unwrap();
        let line = wrapped.start.args.join(" ");
        let mount = |name: &str| format!("--volume {place}/{name}:{place}/{name}:ro");
        let expected = format!(
            "{} {} --volume {place}/w:{place}/w --workdir {place}/w --entrypoint  x sh \
             {place}/agent.sh {place}/beside.sh {place}/w/own.sh {place}/gone.sh /etc/passwd agent.sh",
            mount("agent.sh"),
            mount("beside.sh")
        );
        assert!(line.ends_with(&expected), "{line}");
    }

    #[test]
    fn files_belong_to_the_user() {
        let stand_in = StandIn::new("");
        let view = SandboxView { container: settings(Some("x")), ..SandboxView::default() };
        let wrapped = stand_in.container(UserMapping::SameIds).wrap(start(), &view).unwrap();
        let at = wrapped.start.args.iter().position(|word| word == "--user").unwrap();
        assert_eq!(wrapped.start.args[at + 1], user_and_group());
        assert!(!wrapped.start.args.contains(&"--network=none".to_owned()));
    }

    #[test]
    fn an_image_is_needed_and_must_be_there() {
        let engine = |answers| {
            let stand_in = StandIn::new(answers);
            let container = stand_in.container(UserMapping::SameIds);
            container.available(&settings(Some("x:1"))).err()
        };
        assert_eq!(engine(""), None);
        assert_eq!(
            engine("echo 'Error: No such image: x:1' >&2; exit 1").unwrap(),
            "sandbox `docker` has no image `x:1`; run `docker pull x:1`"
        );
        assert_eq!(
            engine("echo 'Cannot connect to the Docker daemon' >&2; exit 1").unwrap(),
            "sandbox `docker` does not work here: Cannot connect to the Docker daemon"
        );
        let missing =
            ContainerProgram { name: "docker", program: "/no/docker", user: UserMapping::SameIds };
        assert_eq!(
            missing.available(&settings(Some("x"))).unwrap_err(),
            "sandbox `docker` needs the program `docker`"
        );
        assert_eq!(
            missing.available(&settings(None)).unwrap_err(),
            "sandbox `docker` needs an image; set `docker.image` of the workspace or `image` of the \
             target"
        );
        let refused = missing.available(&settings(Some("--privileged"))).unwrap_err();
        assert_eq!(refused, "`--privileged` is not an image");
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn containers_of_dead_runs_are_removed() {
        let own = own_identity();
        let reused = format!("{}-1", std::process::id());
        let listed = format!("aaa {own}\nbbb 2000000000-55\nccc {reused}\nddd odd\neee 7-0");
        let stand_in = StandIn::new(&format!("case $1 in ps) printf '{listed}\n';; esac"));
        let container = stand_in.container(UserMapping::SameIds);
        container.available(&settings(Some("x"))).unwrap();
        assert_eq!(
            stand_in.calls(),
            ["image inspect --format {{.Id}} x"],
            "asking removes nothing"
        );
        container.remove_stale();
        let calls = stand_in.calls();
        assert_eq!(calls[2..], ["rm --force bbb", "rm --force ccc"]);
    }
}
