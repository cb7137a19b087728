//! Chat completions of one deployment.

use evalrig_core::diagnostic::Diagnostic;

use crate::provider::azure::{API_VERSION, Azure};

use super::Agent;
use super::chat::Chat;
use super::price::Seller;
use super::service::{Door, Service, endpoint, unlock};
use crate::setting::ConnectContext;

pub(crate) fn connect(
    settings: &Azure,
    connect: &ConnectContext<'_>,
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
        is_locked: true,
    };
    unlock(&mut endpoint, door, settings.api_key.as_ref(), connect)?;
    let seller = Seller::Named("azure");
    Ok(Box::new(Service::new(
        Chat, endpoint, deployment, seller, connect,
    )?))
}
