//! The connection to the server, and what it must be like.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_nats::jetstream::Context;
use async_nats::{
    Client, ClientError, ConnectErrorKind, ConnectOptions, Event, ServerError, ServerInfo,
};
use camino::{Utf8Path, Utf8PathBuf};
use evalrig_core::source::Reach;

use crate::disk::read_whole;
use crate::lock::locked;
use crate::text::single_line;

use super::address::ServerAddress;
use super::error::QueueError;
use super::worker::Say;

/// The oldest server that has everything.
const OLDEST: (u64, u64) = (2, 10);

/// Time for one request to the server, and for its answer.
pub(super) const REQUEST_TIMEOUT: Duration = Duration::from_secs(10);

/// A credentials file has two short keys.
const LARGEST_LOGIN: u64 = 64 * 1024;

/// The certificates of a whole system need less.
const LARGEST_AUTHORITIES: u64 = 4 * 1024 * 1024;

/// Longest wait before the next attempt to connect again.
const MOST_DELAY: Duration = Duration::from_secs(2);

/// Where the server is and how to log in.
#[derive(Debug, Clone, Default)]
pub struct QueueServer {
    /// Addresses, separated by commas.
    pub addresses: String,
    /// `--queue-creds`.
    pub credentials: Option<Utf8PathBuf>,
    /// `--queue-ca`.
    pub authorities: Option<Utf8PathBuf>,
    /// `--insecure`.
    pub is_insecure: bool,
}

#[derive(Clone)]
pub(crate) struct QueueLink {
    pub(super) client: Client,
    pub(super) stream: Context,
    addresses: String,
    state: Arc<LinkState>,
}

/// What the library has told of the connection since it was made.
#[derive(Debug, Default)]
struct LinkState {
    is_lost: AtomicBool,
    /// Whether the user knows that the server refuses the login.
    is_refused: AtomicBool,
    /// What the login does not allow.
    denial: Mutex<Option<String>>,
}

impl LinkState {
    /// Returns what the user should know.
    fn hear(&self, event: &Event) -> Option<&'static str> {
        match event {
            Event::Connected => {
                self.is_refused.store(false, Ordering::Relaxed);
                let was_lost = self.is_lost.swap(false, Ordering::Relaxed);
                was_lost.then_some("connected to the server again")
            }
            Event::Disconnected | Event::Closed => {
                let was_lost = self.is_lost.swap(true, Ordering::Relaxed);
                (!was_lost).then_some("lost the connection to the server; trying again")
            }
            Event::ClientError(ClientError::Other(text)) if is_refusal(text) => {
                let was_refused = self.is_refused.swap(true, Ordering::Relaxed);
                (!was_refused).then_some("the server refuses the login now; trying again")
            }
            Event::ServerError(ServerError::Other(text)) if is_denial(text) => {
                *locked(&self.denial) = Some(single_line(text));
                None
            }
            _ => None,
        }
    }
}

/// The server answers nothing to a request that the login does not allow.
fn is_denial(text: &str) -> bool {
    text.to_ascii_lowercase().contains("permissions violation")
}

/// The library gives this reason as a text.
fn is_refusal(text: &str) -> bool {
    let kinds = [ConnectErrorKind::AuthorizationViolation, ConnectErrorKind::Authentication];
    kinds.iter().any(|kind| text == kind.to_string())
}

impl std::fmt::Debug for QueueLink {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("QueueLink")
    }
}

impl QueueLink {
    /// `name` is shown by the tools of the server.
    pub(crate) async fn connect(server: &QueueServer, name: &str) -> Result<Self, QueueError> {
        Self::connect_and_say(server, name, Arc::new(|_| {})).await
    }

    /// As [`Self::connect`]; `say` gets a line when the connection is lost, refused or back.
    pub(crate) async fn connect_and_say(
        server: &QueueServer,
        name: &str,
        say: Say,
    ) -> Result<Self, QueueError> {
        let addresses = ServerAddress::parse_list(&server.addresses)?;
        let is_exposed = !addresses.iter().all(ServerAddress::is_loopback) && !server.is_insecure;
        let demands_tls = is_exposed || addresses.iter().any(|one| one.demands_tls);
        let state = Arc::new(LinkState::default());
        let seen = Arc::clone(&state);
        // reqwest uses the same provider.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let options = login(server)?
            .name(name)
            .require_tls(demands_tls)
            // The addresses that were checked, and no others.
            .ignore_discovered_servers()
            .connection_timeout(REQUEST_TIMEOUT)
            .request_timeout(Some(REQUEST_TIMEOUT))
            .reconnect_delay_callback(|attempts| {
                let step = u32::try_from(attempts).unwrap_or(u32::MAX);
                (Duration::from_millis(50) * step.min(1000)).min(MOST_DELAY)
            })
            .event_callback(move |event| {
                if let Some(text) = seen.hear(&event) {
                    say(text.to_owned());
                }
                std::future::ready(())
            });
        let urls: Vec<String> = addresses.iter().map(ServerAddress::url).collect();
        let client = options.connect(urls.as_slice()).await;
        let client = client.map_err(|error| {
            let kind = if is_no_tls(&error) { ConnectErrorKind::Tls } else { error.kind() };
            connect_error(&urls.join(","), kind, &error.to_string(), demands_tls)
        })?;
        check_server(&client.server_info(), is_exposed)?;
        let stream = async_nats::jetstream::ContextBuilder::new()
            .timeout(REQUEST_TIMEOUT)
            .ack_timeout(REQUEST_TIMEOUT)
            .build(client.clone());
        Ok(Self { client, stream, addresses: urls.join(","), state })
    }

    /// The option that leads to this server, for commands that are suggested.
    pub(crate) fn option(&self) -> String {
        format!("--queue {}", self.addresses)
    }

    pub(super) fn is_connected(&self) -> bool {
        !self.state.is_lost.load(Ordering::Relaxed)
    }

    /// What the login does not allow, if the server has refused something.
    pub(super) fn denial(&self) -> Option<String> {
        locked(&self.state.denial).clone()
    }

    /// Waits until everything is sent.
    pub(crate) async fn flush(&self) {
        let _ = self.client.flush().await;
    }
}

fn login(server: &QueueServer) -> Result<ConnectOptions, QueueError> {
    let mut options = ConnectOptions::new();
    if let Some(file) = &server.authorities {
        check_authorities(file)?;
        options = options.add_root_certificates(file.clone().into_std_path_buf());
    }
    if let Some(file) = &server.credentials {
        let fail = |error: &dyn std::fmt::Display| {
            QueueError::new(format!("--queue-creds: cannot use `{file}`: {error}"))
        };
        let bytes =
            read_whole(file, Reach::Anywhere, LARGEST_LOGIN).map_err(|error| fail(&error))?;
        let text = String::from_utf8(bytes).map_err(|error| fail(&error))?;
        return options.credentials(&text).map_err(|error| fail(&error));
    }
    let variable = |name| std::env::var(name).ok().filter(|value| !value.is_empty());
    match (variable("NATS_USER"), variable("NATS_PASSWORD")) {
        (Some(user), Some(password)) => Ok(options.user_and_password(user, password)),
        (Some(_), None) => Err(QueueError::new("NATS_USER is set, but NATS_PASSWORD is not")),
        (None, Some(_)) => Err(QueueError::new("NATS_PASSWORD is set, but NATS_USER is not")),
        (None, None) => Ok(options),
    }
}

/// The library says of a file that it cannot use neither its name nor the option.
fn check_authorities(file: &Utf8Path) -> Result<(), QueueError> {
    let fail = |reason: &dyn std::fmt::Display| {
        QueueError::new(format!("--queue-ca: cannot use `{file}`: {reason}"))
    };
    let bytes = read_whole(file, Reach::Anywhere, LARGEST_AUTHORITIES);
    let bytes = bytes.map_err(|error| fail(&error))?;
    let text = String::from_utf8_lossy(&bytes);
    if text.contains("-----BEGIN CERTIFICATE-----") {
        Ok(())
    } else {
        Err(fail(&"it has no PEM certificate"))
    }
}

/// A server without TLS answers in plain text, which fails while the connection is read.
fn is_no_tls(error: &(dyn std::error::Error + 'static)) -> bool {
    let causes = std::iter::successors(Some(error), |error| error.source());
    causes.into_iter().any(|cause| {
        let io = cause.downcast_ref::<std::io::Error>();
        let inner = io.and_then(|io| io.get_ref());
        cause.is::<rustls::Error>()
            || inner.is_some_and(|inner| inner.is::<rustls::Error>())
            || io.is_some_and(|io| io.kind() == std::io::ErrorKind::InvalidData)
    })
}

fn connect_error(urls: &str, kind: ConnectErrorKind, text: &str, demands_tls: bool) -> QueueError {
    QueueError::new(match kind {
        ConnectErrorKind::Authentication | ConnectErrorKind::AuthorizationViolation => format!(
            "the server at {urls} refuses the login; use --queue-creds, or set NATS_USER and \
             NATS_PASSWORD"
        ),
        ConnectErrorKind::Tls if demands_tls => format!(
            "no TLS connection to {urls}: {text}; --queue-ca names certificates, and --insecure \
             accepts a server without TLS"
        ),
        _ => format!("cannot connect to {urls}: {text}"),
    })
}

fn check_server(info: &ServerInfo, is_exposed: bool) -> Result<(), QueueError> {
    let version = crate::text::single_line(&info.version);
    let mut numbers = info.version.split(['.', '-']).map_while(|part| part.parse::<u64>().ok());
    let found = (numbers.next().unwrap_or(0), numbers.next().unwrap_or(0));
    if found < OLDEST {
        return Err(QueueError::new(format!(
            "the server is NATS {version}; a queue needs version 2.10 or later"
        )));
    }
    if is_exposed && !info.auth_required {
        return Err(QueueError::new(
            "the server accepts clients without a login, and any client could run programs on \
             workers; `--insecure` accepts such a server",
        ));
    }
    if !info.jetstream {
        return Err(QueueError::new(
            "the server has no JetStream; start it with `nats-server -js`",
        ));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_change_of_the_connection_is_said_once() {
        let state = LinkState::default();
        let refused = || Event::ClientError(ClientError::Other("authorization violation".into()));
        let mut said = Vec::new();
        for event in [
            Event::Connected,
            Event::Disconnected,
            Event::ClientError(ClientError::Other("IO error".to_owned())),
            refused(),
            refused(),
            Event::Closed,
            Event::Connected,
            Event::Disconnected,
        ] {
            said.extend(state.hear(&event));
        }
        let words: Vec<&str> = said.iter().filter_map(|text| text.split(' ').next()).collect();
        assert_eq!(words, ["lost", "the", "connected", "lost"]);
        assert!(said[1].contains("refuses the login"), "{said:?}");
    }

    fn info(version: &str, auth_required: bool) -> ServerInfo {
        ServerInfo {
            version: version.to_owned(),
            auth_required,
            jetstream: true,
            ..ServerInfo::default()
        }
    }

    #[test]
    fn an_old_server_is_refused_with_its_version() {
        for version in ["2.9.25", "1.4.1", "", "new"] {
            let error = check_server(&info(version, true), false).unwrap_err().to_string();
            assert!(error.contains(version) && error.contains("2.10"), "{error}");
        }
        for version in ["2.10.0", "2.15.1-beta", "3.0.0"] {
            assert_eq!(check_server(&info(version, true), true), Ok(()), "{version}");
        }
    }

    #[test]
    fn an_exposed_server_needs_a_login() {
        assert_eq!(check_server(&info("2.12.0", false), false), Ok(()));
        let error = check_server(&info("2.12.0", false), true).unwrap_err().to_string();
        assert!(error.contains("--insecure"), "{error}");
    }
}
