//! The home directory of an agent CLI: new for every case, with the login of the user and nothing else
//! (spec 18.2). Settings, memory and skills of the user would otherwise take part in every test.

use std::io;

use camino::{Utf8Path, Utf8PathBuf};
use evalrig_core::model::{Fault, FaultKind, Stage};
use evalrig_core::secrets::Secrets;

use crate::disk::{Access, create_directories, create_new};

use super::login::LoginFile;

/// Variables that every agent CLI gets; a name that ends in `*` is a prefix.
const PASSED_ON: &[&str] = &[
    "PATH",
    "LANG",
    "LANGUAGE",
    "LC_*",
    "TERM",
    "TMPDIR",
    "TZ",
    "USER",
    "LOGNAME",
    "SHELL",
    "HTTP_PROXY",
    "HTTPS_PROXY",
    "ALL_PROXY",
    "NO_PROXY",
    "http_proxy",
    "https_proxy",
    "all_proxy",
    "no_proxy",
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
    "NODE_EXTRA_CA_CERTS",
    "REQUESTS_CA_BUNDLE",
    "CURL_CA_BUNDLE",
    "SYSTEMROOT",
    "COMSPEC",
    "PATHEXT",
    // How evalrig finds what its programs leave behind.
    "EVALRIG_*",
];

/// Directories that programs look for by the XDG convention, below the home.
const XDG: &[(&str, &str)] = &[
    ("XDG_CONFIG_HOME", ".config"),
    ("XDG_DATA_HOME", ".local/share"),
    ("XDG_STATE_HOME", ".local/state"),
    ("XDG_CACHE_HOME", ".cache"),
];

/// Temporary files of the agent, below the home. Codex puts the programs of its sandbox below its
/// settings, and refuses to where those are below the temporary directory, as ours are by default.
const TEMPORARY: (&str, &str) = ("TMPDIR", "tmp");

/// What an agent CLI keeps below the home directory.
#[derive(Debug)]
pub struct HomeLayout {
    /// The variable that names its directory of settings, and where that is by default. An empty path is
    /// the home directory itself.
    pub(crate) settings: Option<(&'static str, &'static str)>,
    pub(crate) logins: &'static [LoginFile],
    /// Variables that are passed on: keys, addresses and models. A name that ends in `*` is a prefix; none
    /// may stand for variables that lead to settings, memory or skills of the user.
    pub(crate) variables: &'static [&'static [&'static str]],
}

impl HomeLayout {
    /// Of a program that nothing is known about.
    pub(crate) const PLAIN: Self = Self { settings: None, logins: &[], variables: &[] };

    fn variables(&self) -> impl Iterator<Item = &'static &'static str> {
        self.variables.iter().copied().flatten()
    }
}

/// Whether the user's login is carried over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Login {
    Carried,
    Left,
}

/// The user's side: home directory and variables.
#[derive(Debug)]
pub(crate) struct UserEnvironment {
    home: Option<Utf8PathBuf>,
    variables: Vec<(String, String)>,
}

impl UserEnvironment {
    pub(crate) fn current() -> Self {
        let variables = std::env::vars_os().filter_map(|(name, value)| {
            Some((name.into_string().ok()?, value.into_string().ok()?))
        });
        Self::of(variables.collect())
    }

    fn of(variables: Vec<(String, String)>) -> Self {
        let value = |wanted: &str| {
            let found = variables.iter().find(|(name, value)| name == wanted && !value.is_empty());
            found.map(|(_, value)| value.clone())
        };
        let home = value("HOME").or_else(|| value("USERPROFILE")).map(Utf8PathBuf::from);
        Self { home, variables }
    }

    fn value(&self, wanted: &str) -> Option<&str> {
        let found = self.variables.iter().find(|(name, value)| name == wanted && !value.is_empty());
        found.map(|(_, value)| value.as_str())
    }

    /// Where a file of the agent really is: its directory of settings may be elsewhere, and so may those of
    /// the XDG convention.
    fn source(&self, path: &str, layout: &HomeLayout) -> Option<Utf8PathBuf> {
        if let Some((variable, directory)) = layout.settings
            && let Some(elsewhere) = self.value(variable)
        {
            let inside = Utf8Path::new(path).strip_prefix(directory);
            return Some(Utf8Path::new(elsewhere).join(inside.unwrap_or(path.into())));
        }
        for (variable, directory) in XDG {
            if let (Some(elsewhere), Ok(inside)) =
                (self.value(variable), Utf8Path::new(path).strip_prefix(directory))
            {
                return Some(Utf8Path::new(elsewhere).join(inside));
            }
        }
        Some(self.home.as_ref()?.join(path))
    }
}

fn is_passed_on(name: &str, layout: &HomeLayout) -> bool {
    is_listed(name, PASSED_ON.iter().chain(layout.variables()))
}

fn is_listed<'l>(name: &str, mut list: impl Iterator<Item = &'l &'static str>) -> bool {
    list.any(|listed| match listed.strip_suffix('*') {
        Some(prefix) => name.starts_with(prefix),
        None => *listed == name,
    })
}

/// The variables of the user that a program in a clean home does not inherit.
pub(crate) fn removed_variables(layout: &HomeLayout, user: &UserEnvironment) -> Vec<String> {
    let names = user.variables.iter().map(|(name, _)| name);
    names.filter(|name| !is_passed_on(name, layout)).cloned().collect()
}

/// Variables that a container gets if the user has them; a name that ends in `*` is a prefix.
const IN_CONTAINERS: &[&str] = &[
    "LANG",
    "LANGUAGE",
    "LC_*",
    "TERM",
    "TZ",
    "HTTP_PROXY",
    "HTTPS_PROXY",
    "ALL_PROXY",
    "NO_PROXY",
    "http_proxy",
    "https_proxy",
    "all_proxy",
    "no_proxy",
];

/// Names of the user's variables that a program gets in a container, where paths of the user mean nothing.
pub(crate) fn container_variables(layout: &HomeLayout, user: &UserEnvironment) -> Vec<String> {
    let is_given = |name: &str| is_listed(name, IN_CONTAINERS.iter().chain(layout.variables()));
    let names = user.variables.iter().map(|(name, _)| name);
    names.filter(|name| is_given(name)).cloned().collect()
}

/// The variables that lead a program to its clean home.
pub(crate) fn clean_environment(home: &Utf8Path, layout: &HomeLayout) -> Vec<(String, String)> {
    let mut all = Vec::new();
    all.push(("HOME".to_owned(), home.to_string()));
    if cfg!(windows) {
        all.push(("USERPROFILE".to_owned(), home.to_string()));
    }
    let places = XDG.iter().copied().chain([TEMPORARY]).chain(layout.settings);
    let place = |below: &str| if below.is_empty() { home.to_owned() } else { home.join(below) };
    all.extend(places.map(|(name, below)| (name.to_owned(), place(below).into_string())));
    all
}

/// Creates the home of a case, with the user's login in it.
pub(crate) fn create_clean_home(
    home: &Utf8Path,
    layout: &HomeLayout,
    login: Login,
    user: &UserEnvironment,
) -> Result<(), Fault> {
    let failed = |error: io::Error| {
        let message = format!("cannot create the home directory of the agent: {error}");
        Fault::new(Stage::Target, FaultKind::Io, message)
    };
    create_directories(&home.join(TEMPORARY.1), Access::Private).map_err(failed)?;
    if let Some((_, below)) = layout.settings {
        create_directories(&home.join(below), Access::Private).map_err(failed)?;
    }
    if login == Login::Left {
        return Ok(());
    }
    for file in layout.logins {
        let source = user.source(file.from, layout);
        let Some(content) = source.and_then(|source| file.read(&source)) else { continue };
        let place = home.join(file.to);
        if let Some(parent) = place.parent() {
            create_directories(parent, Access::Private).map_err(failed)?;
        }
        match create_new(&place, &content, Access::Private) {
            // The copied home has a login of its own.
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            written => written.map_err(failed)?,
        }
    }
    Ok(())
}

/// What texts must not show of the user's login: an agent may print the file that it was given, or find
/// the original. `copied` is the home that the agent's begins as a copy of.
pub(crate) fn login_secrets(
    layout: &HomeLayout,
    copied: Option<&Utf8Path>,
    user: &UserEnvironment,
) -> Secrets {
    let mut secrets = Secrets::default();
    for file in layout.logins {
        let own = user.source(file.from, layout);
        let below = copied.into_iter().flat_map(|home| [home.join(file.from), home.join(file.to)]);
        own.into_iter().chain(below).for_each(|path| file.add_secrets(&path, &mut secrets));
    }
    secrets
}

#[cfg(test)]
mod tests {
    use super::super::login::LoginPart;
    use super::*;

    static LAYOUT: HomeLayout = HomeLayout {
        settings: Some(("AGENT_DIR", ".agent")),
        logins: &[
            LoginFile::whole(".agent/auth.json"),
            LoginFile {
                from: ".agent.json",
                to: ".agent/.agent.json",
                part: LoginPart::Value(&["account"]),
            },
            LoginFile {
                from: ".agent/settings.json",
                to: ".agent/settings.json",
                part: LoginPart::Value(&["security", "auth"]),
            },
        ],
        variables: &[&["AGENT_KEY"], &["AGENT_BASE_*"]],
    };

    fn directory() -> (tempfile::TempDir, Utf8PathBuf) {
        let held = tempfile::tempdir().unwrap();
        let path = Utf8PathBuf::from_path_buf(held.path().to_owned()).unwrap();
        (held, path)
    }

    fn user(variables: &[(&str, &str)]) -> UserEnvironment {
        let owned = variables.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
        UserEnvironment::of(owned.collect())
    }

    #[test]
    fn only_listed_variables_are_passed_on() {
        let user = user(&[
            ("PATH", "/bin"),
            ("LC_ALL", "C"),
            ("AGENT_KEY", "k"),
            ("AGENT_BASE_URL", "u"),
            ("OTHER_SECRET", "s"),
            ("HOME", "/users/a"),
            ("XDG_CONFIG_HOME", "/users/a/c"),
        ]);
        let removed = removed_variables(&LAYOUT, &user);
        assert_eq!(removed, ["OTHER_SECRET", "HOME", "XDG_CONFIG_HOME"]);
        let set = clean_environment("/h".into(), &LAYOUT);
        let value = |name: &str| set.iter().find(|(n, _)| n == name).map(|(_, v)| v.as_str());
        assert_eq!(value("HOME"), Some("/h"));
        assert_eq!(value("XDG_CONFIG_HOME"), Some("/h/.config"));
        assert_eq!(value("AGENT_DIR"), Some("/h/.agent"));
    }

    #[test]
    fn the_settings_are_not_below_the_temporary_directory() {
        let (_held, path) = directory();
        let home = path.join("clean");
        create_clean_home(&home, &LAYOUT, Login::Left, &user(&[])).unwrap();
        let set = clean_environment(&home, &LAYOUT);
        let value = |name: &str| set.iter().find(|(n, _)| n == name).map(|(_, v)| v.as_str());
        let temporary = Utf8Path::new(value("TMPDIR").unwrap());
        assert!(temporary.is_dir() && !home.join(".agent").starts_with(temporary));
    }

    #[test]
    fn the_login_and_nothing_else_is_carried_over() {
        let (_held, path) = directory();
        let own = path.join("user");
        std::fs::create_dir_all(own.join(".agent")).unwrap();
        std::fs::write(own.join(".agent/auth.json"), "token").unwrap();
        std::fs::write(own.join(".agent/MEMORY.md"), "private").unwrap();
        std::fs::write(own.join(".agent.json"), r#"{"account": {"id": 1}, "projects": {}}"#)
            .unwrap();
        let settings = r#"{"security": {"auth": {"type": "oauth"}, "trust": 1}, "theme": "dark"}"#;
        std::fs::write(own.join(".agent/settings.json"), settings).unwrap();
        let user = user(&[("HOME", own.as_str())]);
        let home = path.join("clean");
        create_clean_home(&home, &LAYOUT, Login::Carried, &user).unwrap();
        let read = |name: &str| std::fs::read_to_string(home.join(name)).unwrap();
        assert_eq!(read(".agent/auth.json"), "token");
        assert_eq!(read(".agent/.agent.json"), r#"{"account":{"id":1}}"#);
        assert_eq!(read(".agent/settings.json"), r#"{"security":{"auth":{"type":"oauth"}}}"#);
        let mut names: Vec<_> = home.join(".agent").read_dir_utf8().unwrap().flatten().collect();
        names.sort_by(|a, b| a.file_name().cmp(b.file_name()));
        assert_eq!(names.len(), 3);
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            let mode =
                |name: &str| home.join(name).metadata().unwrap().permissions().mode() & 0o777;
            assert_eq!((mode(".agent/auth.json"), mode("")), (0o600, 0o700));
        }
    }

    #[test]
    fn a_login_is_found_where_the_users_settings_are() {
        let (_held, path) = directory();
        let elsewhere = path.join("settings");
        std::fs::create_dir_all(&elsewhere).unwrap();
        std::fs::write(elsewhere.join("auth.json"), "token").unwrap();
        let user = user(&[("HOME", "/none"), ("AGENT_DIR", elsewhere.as_str())]);
        let home = path.join("clean");
        create_clean_home(&home, &LAYOUT, Login::Carried, &user).unwrap();
        assert_eq!(std::fs::read_to_string(home.join(".agent/auth.json")).unwrap(), "token");
    }

    #[test]
    fn a_login_is_found_in_another_home_and_by_the_xdg_convention() {
        static OWN_HOME: HomeLayout = HomeLayout {
            settings: Some(("AGENT_HOME", "")),
            logins: &[LoginFile::whole(".agent/auth.json")],
            variables: &[],
        };
        static XDG_DATA: HomeLayout = HomeLayout {
            settings: None,
            logins: &[LoginFile::whole(".local/share/agent/auth.json")],
            variables: &[],
        };
        let (_held, path) = directory();
        for (layout, variable, file) in [
            (&OWN_HOME, "AGENT_HOME", ".agent/auth.json"),
            (&XDG_DATA, "XDG_DATA_HOME", "agent/auth.json"),
        ] {
            let (elsewhere, home) = (path.join("elsewhere"), path.join(variable));
            std::fs::create_dir_all(elsewhere.join(file).parent().unwrap()).unwrap();
            std::fs::write(elsewhere.join(file), "token").unwrap();
            let user = user(&[("HOME", "/none"), (variable, elsewhere.as_str())]);
            create_clean_home(&home, layout, Login::Carried, &user).unwrap();
            let login = home.join(layout.logins[0].to);
            assert_eq!(std::fs::read_to_string(login).unwrap(), "token", "{variable}");
        }
        let set = clean_environment("/h".into(), &OWN_HOME);
        assert!(set.contains(&("AGENT_HOME".to_owned(), "/h".to_owned())), "{set:?}");
    }

    #[test]
    fn without_a_login_the_home_is_empty() {
        let (_held, path) = directory();
        let user = user(&[("HOME", path.as_str())]);
        std::fs::create_dir_all(path.join(".agent")).unwrap();
        std::fs::write(path.join(".agent/auth.json"), "token").unwrap();
        let home = path.join("clean");
        create_clean_home(&home, &LAYOUT, Login::Left, &user).unwrap();
        assert!(!home.join(".agent/auth.json").exists());
        let none = path.join("other");
        create_clean_home(&none, &LAYOUT, Login::Carried, &UserEnvironment::of(Vec::new()))
            .unwrap();
        assert!(none.join(".agent").is_dir());
    }
}
