//! Values of a targets file: what the author wrote, which of it is secret, and what it becomes once
//! variables are known. Knows neither providers nor agents.

mod base;
mod confinement;
mod connect;
mod every_target;
pub(crate) mod option;
mod secret;
mod value;

pub(crate) use base::FOLDERS;
pub use base::PathBase;
pub use confinement::{ConfinementOptions, LoginRule, NetworkRule, SandboxName};
pub(crate) use confinement::{without_own_network, without_process};
pub use connect::ConnectContext;
pub(crate) use connect::unusable;
pub use evalrig_core::evidence::FilesMode;
pub(crate) use every_target::read_common;
pub use every_target::{COMMON as TARGET_FIELDS, Common, PRICE, Price, RATE, RateOptions};
pub(crate) use option::entries_of;
pub use secret::Secret;
pub use value::Setting;

/// The codes of this room, file by file.
pub const CODES: &[&[&evalrig_core::diagnostic::Code]] = &[secret::CODES];
