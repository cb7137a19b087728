//! The options that say what the processes of a target can reach: their home and their sandbox (spec
//! 17.4, 18.2).

use evalrig_core::diagnostic::Diagnostic;
use evalrig_core::reader::{Options, ReadResult, Template};
use evalrig_core::source::Span;
use evalrig_core::syntax::fields::{Field, Shape};
use evalrig_core::words;

use super::option;
use super::value::Setting;

words! {
    /// Whether a clean home gets the user's login.
    pub enum LoginRule {
        Carry = "carry",
        None = "none",
    }
}

words! {
    /// Names of sandboxes, from the weakest on.
    pub enum SandboxName {
        None = "none",
        Home = "home",
        Bwrap = "bwrap",
        Podman = "podman",
        Docker = "docker",
    }
}

words! {
    /// Whether a sandbox has a network.
    pub enum NetworkRule {
        Keep = "keep",
        None = "none",
    }
}

pub(super) const HOME: Field = Field::new(
    "home",
    Shape::NonEmptyText,
    "home directory of the process: `clean`, `user` or a directory to copy; default `clean` for agent CLIs, else `user`",
);
pub(super) const LOGIN: Field = Field::new(
    "login",
    Shape::Choice(LoginRule::WORDS),
    "whether a clean home gets the user's login; default `carry`",
);
pub(super) const SANDBOX: Field = Field::new(
    "sandbox",
    Shape::Choice(SandboxName::WORDS),
    "what the process can reach; default `home` for agent CLIs, else `none`",
);
pub(super) const NETWORK: Field = Field::new(
    "network",
    Shape::Choice(NetworkRule::WORDS),
    "whether a sandbox has a network; default `keep`",
);
pub(super) const IMAGE: Field =
    Field::new("image", Shape::NonEmptyText, "container image for `podman` and `docker`");

/// As written.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ConfinementOptions {
    pub home: Option<Template>,
    pub login: Option<Setting<LoginRule>>,
    pub sandbox: Option<Setting<SandboxName>>,
    pub network: Option<Setting<NetworkRule>>,
    pub image: Option<Template>,
    /// Where the first of them is written.
    pub place: Option<Span>,
    /// Where `network` is written.
    pub network_place: Option<Span>,
}

pub(super) fn read_confinement(
    options: &mut Options<'_, '_, '_>,
) -> ReadResult<ConfinementOptions> {
    let names = ["home", "login", "sandbox", "network", "image"];
    let place = names.iter().find_map(|name| options.get(name)).map(|entry| entry.key.span());
    let network_place = options.get("network").map(|entry| entry.key.span());
    let home = option::full_template(options, "home");
    let login = option::choice(options, "login");
    let sandbox = option::choice(options, "sandbox");
    let network = option::choice(options, "network");
    let image = option::full_template(options, "image");
    Ok(ConfinementOptions {
        home: home?,
        login: login?,
        sandbox: sandbox?,
        network: network?,
        image: image?,
        place,
        network_place,
    })
}

/// `network: none` in a sandbox that shares the network of the machine.
pub(crate) fn without_own_network(place: Span, sandbox: &str) -> Diagnostic {
    let message = format!("`network: none` has no effect in sandbox `{sandbox}`");
    super::connect::unusable(place, message)
        .help("use the sandbox `bwrap`, `podman` or `docker`, or remove `network`")
}

/// Options that the target cannot obey, because it starts no process.
pub(crate) fn without_process(place: Span) -> Diagnostic {
    super::connect::unusable(place, "this target starts no process that could be confined")
        .help("remove `home`, `login`, `sandbox`, `network` and `image`")
}
