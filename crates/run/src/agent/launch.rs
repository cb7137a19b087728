//! How a process of a target is started: in which directory, with which home, in which sandbox (spec
//! 17.4, 18.2).

use camino::{Utf8Path, Utf8PathBuf};
use evalrig_core::diagnostic::Diagnostic;
use evalrig_core::model::{ContainerSettings, Fault, FaultKind, Stage};

use crate::disk::{CopyOrigin, CopyRules, copy_tree};
use crate::sandbox::{
    NetworkAccess, NoSandbox, ProgramStart, Sandbox, SandboxView, SandboxedProgram, sandbox_named,
};
use crate::setting::{
    ConnectContext, LoginRule, NetworkRule, SandboxName, without_own_network, without_process,
};

use super::Agent;
use super::clean_home::{
    HomeLayout, Login, UserEnvironment, clean_environment, container_variables, create_clean_home,
    removed_variables,
};
use super::process::{ProcessSpec, TARGET_GRACE};
use super::request::{AttemptFault, Request};

/// Whose home directory an agent uses.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum HomeRule {
    /// The user's, with settings, memory and skills.
    User,
    /// A new one.
    Clean,
    /// A copy of this directory.
    Copy(Utf8PathBuf),
}

/// How the processes of a target are confined.
#[derive(Debug)]
pub struct ProcessConfinement {
    pub(crate) home: HomeRule,
    pub(crate) login: Login,
    pub(crate) sandbox: &'static dyn Sandbox,
    pub(crate) network: NetworkAccess,
    pub(crate) container: ContainerSettings,
}

impl ProcessConfinement {
    /// From the options of a target. `None` if its processes run as evalrig does; fails if the options
    /// cannot be obeyed. `given` is `--sandbox`.
    pub(crate) fn connect(
        agent: &dyn Agent,
        given: Option<SandboxName>,
        context: &ConnectContext<'_>,
    ) -> Result<Option<Self>, Diagnostic> {
        let options = &context.common.confinement;
        if agent.working_dir().is_none() {
            return match options.place {
                Some(place) => Err(without_process(place)),
                None => Ok(None),
            };
        }
        if given.is_none() && options.place.is_none() && !agent.has_clean_home() {
            return Ok(None);
        }
        let written = match (&given, &options.sandbox) {
            (Some(name), _) => Some(*name),
            (None, Some(setting)) => Some(context.choice(setting, "the name of a sandbox")?),
            (None, None) => None,
        };
        let home = match &options.home {
            Some(template) => match context.text(template)?.as_str() {
                "user" => HomeRule::User,
                "clean" => HomeRule::Clean,
                _ => HomeRule::Copy(context.path(template)?),
            },
            None if agent.has_clean_home() => HomeRule::Clean,
            // What a sandbox hides is no home.
            None if written.is_some_and(|name| name != SandboxName::None) => HomeRule::Clean,
            None => HomeRule::User,
        };
        let default = if home == HomeRule::User { SandboxName::None } else { SandboxName::Home };
        let name = written.unwrap_or(default);
        let login = match &options.login {
            Some(setting) => context.choice(setting, "a value of `login`")?,
            None => LoginRule::Carry,
        };
        let network = match &options.network {
            Some(setting) => context.choice(setting, "a value of `network`")?,
            None => NetworkRule::Keep,
        };
        let confinement = Self {
            home,
            login: match login {
                LoginRule::Carry => Login::Carried,
                LoginRule::None => Login::Left,
            },
            sandbox: sandbox_named(name.word()).unwrap_or(&NoSandbox),
            network: match network {
                NetworkRule::Keep => NetworkAccess::Kept,
                NetworkRule::None => NetworkAccess::None,
            },
            container: ContainerSettings {
                image: context.optional(options.image.as_ref())?,
                ..ContainerSettings::default()
            },
        };
        match options.network_place {
            Some(place) if !confinement.obeys_network_rule() => {
                Err(without_own_network(place, confinement.sandbox.name()))
            }
            _ => Ok(Some(confinement)),
        }
    }

    /// Only a sandbox that hides files can take the network away.
    fn obeys_network_rule(&self) -> bool {
        self.network == NetworkAccess::Kept || self.hides_files()
    }

    /// Whether programs see less of the file system than evalrig does.
    pub(crate) fn hides_files(&self) -> bool {
        !matches!(self.sandbox.name(), "none" | "home")
    }

    /// What programs of the author see that may run what the agent wrote: commands of checks and
    /// `teardown`. `None` if they run as evalrig does.
    pub(crate) fn view_of_checks(
        &self,
        container: Option<&ContainerSettings>,
        hidden: &[Utf8PathBuf],
    ) -> Option<SandboxView> {
        self.hides_files().then(|| self.view(Vec::new(), container, hidden))
    }

    /// Whether programs run in a container.
    pub(crate) fn is_container(&self) -> bool {
        self.sandbox.is_container()
    }

    /// The container of a case: what its workspace says, and for the rest the target.
    pub(crate) fn container_for(&self, workspace: Option<&ContainerSettings>) -> ContainerSettings {
        let own = self.container.clone();
        match workspace.cloned() {
            None => own,
            Some(ContainerSettings { image, memory, cpus }) => ContainerSettings {
                image: image.or(own.image),
                memory: memory.or(own.memory),
                cpus: cpus.or(own.cpus),
            },
        }
    }

    /// `container` is that of the workspace.
    pub(crate) fn view(
        &self,
        writable: Vec<Utf8PathBuf>,
        container: Option<&ContainerSettings>,
        hidden: &[Utf8PathBuf],
    ) -> SandboxView {
        SandboxView {
            writable,
            hidden: hidden.to_vec(),
            network: self.network,
            container: self.container_for(container),
            ..SandboxView::default()
        }
    }
}

/// A process that is ready to be started.
#[derive(Debug)]
pub(crate) struct Launch {
    program: SandboxedProgram,
    without: Vec<String>,
    /// Unless the program has that of the user.
    home: Option<Utf8PathBuf>,
}

impl Launch {
    /// `without` are variables that the program must not inherit.
    pub(crate) fn prepare(
        request: &Request<'_>,
        mut start: ProgramStart,
        without: &[&str],
        layout: &HomeLayout,
    ) -> Result<Self, AttemptFault> {
        start.cwd = request.cwd(&start.cwd).to_owned();
        let mut without: Vec<String> = without.iter().map(|name| (*name).to_owned()).collect();
        let Some(confinement) = request.confinement else {
            return Ok(Self { program: start.into(), without, home: None });
        };
        let user = UserEnvironment::current();
        let mut own_home = None;
        let mut writable = vec![request.scratch()?.to_owned()];
        if confinement.home != HomeRule::User {
            let home = match request.home {
                Some(home) => home.to_owned(),
                None => writable[0].join(format!("home-{}-{}", request.attempt, request.call)),
            };
            // A new attempt starts anew, unless it goes on with a session that is in the home.
            let is_kept = request.attempt == 1
                || request.conversation.is_some_and(|turn| turn.earlier.is_some());
            let is_shared = request.home.is_some() && is_kept && home.exists();
            if !is_shared {
                make_home(&home, confinement, layout, &user)?;
            }
            let mut env = clean_environment(&home, layout);
            env.append(&mut start.env);
            start.env = env;
            without.extend(removed_variables(layout, &user));
            writable.push(home.clone());
            own_home = Some(home);
        }
        writable.extend(request.place.map(|place| place.workspace.to_owned()));
        if request.place.is_none() {
            writable.push(start.cwd.clone());
        }
        let container = request.place.and_then(|place| place.container);
        let mut view = confinement.view(writable, container, request.hidden);
        if confinement.is_container() {
            // It inherits nothing, and its client needs the variables of the user.
            view.variables = container_variables(layout, &user);
            without.clear();
        }
        let program = confinement
            .sandbox
            .wrap(start, &view)
            .map_err(|reason| AttemptFault::new(FaultKind::Start, reason))?;
        Ok(Self { program, without, home: own_home })
    }

    pub(crate) fn home(&self) -> Option<&Utf8Path> {
        self.home.as_deref()
    }

    /// Names of keys that the user has, and that the program does not get in its clean home.
    pub(crate) fn missing_keys(&self) -> impl Iterator<Item = &str> {
        let env = &self.program.start.env;
        let is_missing = move |name: &&String| {
            name.ends_with("_API_KEY") && !env.iter().any(|(known, _)| known == *name)
        };
        self.without.iter().filter(is_missing).map(String::as_str)
    }

    pub(crate) fn spec<'p>(
        &'p self,
        request: &Request<'_>,
        stdin: Option<&'p [u8]>,
        output_limit: usize,
    ) -> ProcessSpec<'p> {
        let ProgramStart { program, args, cwd, env } = &self.program.start;
        ProcessSpec {
            program,
            args,
            cwd,
            env,
            without: &self.without,
            stdin,
            timeout: request.timeout,
            grace: TARGET_GRACE,
            output_limit,
        }
    }
}

fn make_home(
    home: &Utf8Path,
    confinement: &ProcessConfinement,
    layout: &HomeLayout,
    user: &UserEnvironment,
) -> Result<(), Fault> {
    if home.exists() {
        // Of an earlier attempt in the same conversation.
        crate::disk::remove_tree(home).map_err(|error| {
            let message = format!("cannot remove the home of the last attempt: {error}");
            Fault::new(Stage::Target, FaultKind::Io, message)
        })?;
    }
    if let HomeRule::Copy(original) = &confinement.home {
        let rules = CopyRules { origin: CopyOrigin::Authored, leaves_out: &|_| false };
        crate::disk::create_directories(home, crate::disk::Access::Private)
            .map_err(|error| error.to_string())
            .and_then(|()| {
                let copied = copy_tree(original.as_path().into(), home.into(), rules);
                copied.map(drop).map_err(|error| error.to_string())
            })
            .map_err(|reason| {
                let message = format!("cannot copy the home `{original}`: {reason}");
                Fault::new(Stage::Target, FaultKind::Io, message)
            })?;
    }
    create_clean_home(home, layout, confinement.login, user)
}
