//! Addresses of servers, as they are typed.

use std::net::IpAddr;

use super::error::QueueError;

const DEFAULT_PORT: u16 = 4222;

/// `nats://HOST:PORT` or `tls://HOST:PORT`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ServerAddress {
    pub(super) host: String,
    pub(super) port: u16,
    pub(super) demands_tls: bool,
}

impl ServerAddress {
    /// Several are separated by commas.
    pub(super) fn parse_list(text: &str) -> Result<Vec<Self>, QueueError> {
        let parts = text.split(',').map(str::trim).filter(|part| !part.is_empty());
        let found = parts.map(Self::parse).collect::<Result<Vec<_>, _>>()?;
        if found.is_empty() {
            return Err(QueueError::new("--queue: name a server, such as nats://localhost:4222"));
        }
        Ok(found)
    }

    fn parse(text: &str) -> Result<Self, QueueError> {
        // The text may hold a password, so messages do not repeat it.
        if text.contains('@') {
            return Err(QueueError::new(
                "--queue: an address has no user and no password; use --queue-creds, or set \
                 NATS_USER and NATS_PASSWORD",
            ));
        }
        let fail = || {
            let text = crate::text::single_line(text);
            QueueError::new(format!(
                "--queue: `{text}` is not an address; write nats://HOST:PORT or tls://HOST:PORT"
            ))
        };
        let (demands_tls, rest) = match text.split_once("://") {
            Some(("nats", rest)) => (false, rest),
            Some(("tls", rest)) => (true, rest),
            Some(_) => return Err(fail()),
            None => (false, text),
        };
        let rest = rest.strip_suffix('/').unwrap_or(rest);
        let (host, port) = match rest.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
            Some((host, port)) => (host, port.strip_prefix(':').unwrap_or(port)),
            None => rest.split_once(':').unwrap_or((rest, "")),
        };
        let is_host = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_' | ':');
        if host.is_empty() || !host.chars().all(is_host) {
            return Err(fail());
        }
        let port = if port.is_empty() { DEFAULT_PORT } else { port.parse().map_err(|_| fail())? };
        Ok(Self { host: host.to_owned(), port, demands_tls })
    }

    pub(super) fn is_loopback(&self) -> bool {
        let is_name = self.host.eq_ignore_ascii_case("localhost");
        is_name || self.host.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
    }

    pub(super) fn url(&self) -> String {
        let host =
            if self.host.contains(':') { format!("[{}]", self.host) } else { self.host.clone() };
        format!("{}://{host}:{}", if self.demands_tls { "tls" } else { "nats" }, self.port)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn several_servers_are_separated_by_commas() {
        let found = ServerAddress::parse_list("nats://a:1, b ,tls://[::1]:7").unwrap();
        let urls: Vec<String> = found.iter().map(ServerAddress::url).collect();
        assert_eq!(urls, ["nats://a:1", "nats://b:4222", "tls://[::1]:7"]);
    }

    #[test]
    fn only_this_machine_is_loopback() {
        for (text, expected) in [
            ("localhost", true),
            ("nats://127.0.0.9:4222", true),
            ("nats://[::1]", true),
            ("nats://localhost.example.org", false),
            ("nats://10.0.0.1", false),
            ("nats://127.0.0.1.example.org", false),
        ] {
            let found = ServerAddress::parse_list(text).unwrap();
            assert_eq!(found[0].is_loopback(), expected, "{text}");
        }
    }

    #[test]
    fn what_is_not_an_address_is_refused_without_its_password() {
        for text in ["", ",", "http://a", "nats://", "nats://a:b", "nats://a b", "nats://a:99999"] {
            assert!(ServerAddress::parse_list(text).is_err(), "{text}");
        }
        let error = ServerAddress::parse_list("nats://me:hunter2@a").unwrap_err().to_string();
        assert!(error.contains("NATS_PASSWORD") && !error.contains("hunter2"), "{error}");
    }
}
