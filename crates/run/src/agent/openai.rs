//! Chat completions at any address.

use evalrig_core::diagnostic::Diagnostic;

use crate::provider::openai::{BASE_URL, OpenAi};

use super::Agent;
use super::chat::Chat;
use super::http::Key;
use super::price::Seller;
use super::service::{Door, Service, base_url, endpoint, unlock, unusable};
use crate::setting::ConnectContext;

pub(crate) fn connect(
    settings: &OpenAi,
    connect: &ConnectContext<'_>,
) -> Result<Box<dyn Agent>, Diagnostic> {
    let written = settings.base_url.as_ref();
    let base = base_url(written, BASE_URL, connect)?;
    let mut endpoint = endpoint(&base, &["chat", "completions"], written, connect)?;
    let door = Door {
        header: "authorization",
        prefix: "Bearer ",
        is_locked: written.is_none(),
    };
    unlock(&mut endpoint, door, settings.api_key.as_ref(), connect)?;
    for (name, value) in &settings.headers {
        let sent = endpoint.secret_header(name, "", &Key::new(&connect.text(&value.0)?));
        sent.map_err(|reason| unusable(value.0.span(), format!("header `{name}` {reason}")))?;
    }
    let model = connect.text(&settings.model)?;
    let seller = Seller::at(&base);
    Ok(Box::new(Service::new(
        Chat, endpoint, model, seller, connect,
    )?))
}
