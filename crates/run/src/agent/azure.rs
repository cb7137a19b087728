//! Chat completions of one deployment.

use evalrig_core::diagnostic::Diagnostic;

use crate::target::azure::{API_VERSION, Azure, KEY_VARIABLE};

use super::Agent;
use super::chat::Chat;
use super::connect::Connect;
use super::price::Seller;
use super::service::{Door, Service, endpoint, unlock};

pub(crate) fn connect(
    settings: &Azure,
    connect: &Connect<'_>,
) -> Result<Box<dyn Agent>, Diagnostic> {
    let base = connect.text(&settings.endpoint)?;
    let deployment = connect.text(&settings.deployment)?;
    let version = connect.optional(settings.api_version.as_ref())?;
    let segments = ["openai", "deployments", &deployment, "chat", "completions"];
    let mut endpoint = endpoint(&base, &segments, Some(&settings.endpoint), connect)?;
    endpoint.query("api-version", version.as_deref().unwrap_or(API_VERSION));
    let door = Door {
        header: "api-key",
        prefix: "",
        variable: KEY_VARIABLE,
        is_locked: true,
    };
    unlock(&mut endpoint, door, settings.api_key.as_ref(), connect)?;
    let seller = Seller::Named("azure");
    Ok(Box::new(Service::new(
        Chat, endpoint, deployment, seller, connect,
    )?))
}
