//! HTTP requests. Clients live as long as the process, so that connections are reused. Keys leave
//! this file only in headers.

use std::error::Error;
use std::fmt;
use std::net::IpAddr;
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use evalrig_core::model::FaultKind;
use evalrig_core::secrets::Secrets;
pub(crate) use reqwest::Method as HttpMethod;
use reqwest::header::{CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};
use reqwest::redirect::Policy;
use reqwest::{Client, Response, Url};
use sha2::{Digest, Sha256};

use crate::descriptor::{self, DescriptorWait};
use crate::text::hex;

use super::http_fault::refused;
use super::request::{AttemptFault, Retry};

/// Services close idle connections after one to five minutes; a shorter timeout avoids the race.
const IDLE: Duration = Duration::from_secs(55);

/// A host that does not answer the first packet will not answer later.
const CONNECT: Duration = Duration::from_secs(30);

/// The largest reply; the same limit as for processes (spec 9.3).
const BODY_LIMIT: usize = 16 << 20;

/// The URL and the headers of every request.
pub(crate) struct Endpoint {
    url: Url,
    method: HttpMethod,
    headers: HeaderMap,
    secrets: Secrets,
}

impl fmt::Debug for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Endpoint").field("host", &self.host()).finish_non_exhaustive()
    }
}

/// Why an exchange gave no answer.
enum ExchangeFault {
    /// There was no free descriptor for a connection.
    NoDescriptor,
    Attempt(AttemptFault),
}

impl From<AttemptFault> for ExchangeFault {
    fn from(fault: AttemptFault) -> Self {
        Self::Attempt(fault)
    }
}

/// The body of a successful response.
#[derive(Debug)]
pub(crate) struct HttpReply {
    pub(crate) body: String,
    pub(crate) took: Duration,
}

/// The URL of `segments` below `base`, with or without a slash at the end of `base`. Fails with the
/// reason why `base` cannot be used.
pub(crate) fn address(base: &str, segments: &[&str]) -> Result<Url, String> {
    let mut url = Url::parse(base.trim()).map_err(|error| error.to_string())?;
    if !matches!(url.scheme(), "http" | "https") || !url.has_host() {
        return Err("it does not start with `http://` or `https://`".to_owned());
    }
    if let Ok(mut path) = url.path_segments_mut() {
        path.pop_if_empty().extend(segments);
    }
    url.set_fragment(None);
    Ok(url)
}

impl Endpoint {
    pub(crate) fn new(url: Url) -> Self {
        let mut secrets = Secrets::default();
        secrets.add_url(url.as_str());
        let mut headers = HeaderMap::new();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        Self { url, method: HttpMethod::POST, headers, secrets }
    }

    pub(crate) fn set_method(&mut self, method: HttpMethod) {
        self.method = method;
    }

    /// Adds a query parameter.
    pub(crate) fn query(&mut self, name: &str, value: &str) {
        self.url.query_pairs_mut().append_pair(name, value);
    }

    /// Sets a header. Its value is redacted in every message, and trimmed: variables that were read
    /// from files often end in a newline.
    pub(crate) fn secret_header(
        &mut self,
        name: &str,
        prefix: &str,
        secret: &str,
    ) -> Result<(), String> {
        let secret = secret.trim();
        let Ok(mut value) = HeaderValue::from_str(&format!("{prefix}{secret}")) else {
            return Err("contains a character that is not allowed in a header".to_owned());
        };
        let Ok(name) = HeaderName::from_bytes(name.as_bytes()) else {
            return Err("is not a valid header name".to_owned());
        };
        value.set_sensitive(true);
        self.headers.insert(name, value);
        self.secrets.add(secret);
        Ok(())
    }

    pub(crate) fn plain_header(&mut self, name: &'static str, value: &'static str) {
        self.headers.insert(name, HeaderValue::from_static(value));
    }

    pub(crate) fn redact(&self, text: &str) -> String {
        self.secrets.redact(text)
    }

    /// A digest of host and keys.
    pub(crate) fn account(&self) -> String {
        let mut digest = Sha256::new();
        digest.update(format!("{} {}\n", self.url.scheme(), self.host()));
        for (name, value) in self.headers.iter().filter(|(_, value)| value.is_sensitive()) {
            digest.update(format!("{name} {}:", value.len()));
            digest.update(value.as_bytes());
        }
        hex(&digest.finalize())
    }

    /// Host and port; not the rest of the URL, which may contain a key.
    fn host(&self) -> String {
        let host = self.url.host_str().unwrap_or_default();
        match self.url.port() {
            Some(port) => format!("{host}:{port}"),
            None => host.to_owned(),
        }
    }

    /// One attempt. The timeout covers everything from connecting to the last byte.
    pub(crate) async fn send(
        &self,
        body: String,
        timeout: Duration,
    ) -> Result<HttpReply, AttemptFault> {
        let started = Instant::now();
        let mut wait = DescriptorWait::new();
        loop {
            let exchange = tokio::time::timeout(timeout, self.exchange(body.clone()));
            let mut fault = match exchange.await {
                Ok(Ok(body)) => return Ok(HttpReply { body, took: started.elapsed() }),
                Ok(Err(ExchangeFault::Attempt(fault))) => fault,
                // The service is not at fault, and has not been asked.
                Ok(Err(ExchangeFault::NoDescriptor)) if wait.wait().await => continue,
                Ok(Err(ExchangeFault::NoDescriptor)) => {
                    descriptor::note_exhaustion();
                    self.unreachable(descriptor::EXHAUSTED)
                }
                Err(_) => AttemptFault::timed_out(timeout),
            };
            fault.fault.message = self.redact(&fault.fault.message);
            return Err(fault);
        }
    }

    async fn exchange(&self, body: String) -> Result<String, ExchangeFault> {
        // A missing local prerequisite will still be missing on a retry.
        let client =
            client(&self.url).map_err(|reason| self.unreachable(&reason).retry(Retry::Never))?;
        let request = client.request(self.method.clone(), self.url.clone());
        let request = request.headers(self.headers.clone()).body(body);
        let response = request.send().await.map_err(|error| self.not_sent(&error))?;
        let (status, headers) = (response.status(), response.headers().clone());
        let body = self.read(response).await?;
        if status.is_success() {
            Ok(body)
        } else {
            Err(refused(status, &headers, &self.redact(&body)).into())
        }
    }

    fn not_sent(&self, error: &reqwest::Error) -> ExchangeFault {
        let (mut cause_of, mut is_missing) = (error.source(), false);
        while let Some(one) = cause_of {
            let found = one.downcast_ref::<std::io::Error>();
            is_missing |= found.is_some_and(descriptor::is_missing_descriptor);
            cause_of = one.source();
        }
        if is_missing {
            ExchangeFault::NoDescriptor
        } else {
            self.unreachable(&cause(error)).into()
        }
    }

    async fn read(&self, mut response: Response) -> Result<String, AttemptFault> {
        let mut body = Vec::new();
        loop {
            match response.chunk().await {
                Ok(Some(chunk)) if body.len() + chunk.len() > BODY_LIMIT => {
                    let message = format!("the reply is larger than {} MiB", BODY_LIMIT >> 20);
                    return Err(AttemptFault::new(FaultKind::Limit, message));
                }
                Ok(Some(chunk)) => body.extend_from_slice(&chunk),
                Ok(None) => break,
                Err(error) => {
                    let message =
                        format!("the reply of {} broke off: {}", self.host(), cause(&error));
                    return Err(AttemptFault::new(FaultKind::Network, message).retry(Retry::Soon));
                }
            }
        }
        // Invalid UTF-8 cannot be JSON, but its excerpt is still shown.
        Ok(String::from_utf8(body)
            .unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned()))
    }

    fn unreachable(&self, reason: &str) -> AttemptFault {
        let message = format!("no reply from {}: {reason}", self.host());
        AttemptFault::new(FaultKind::Network, message).retry(Retry::Soon)
    }
}

/// The innermost cause: the outer ones only say that sending failed, and contain the whole URL.
fn cause(error: &reqwest::Error) -> String {
    let mut innermost = error.source();
    while let Some(deeper) = innermost.and_then(Error::source) {
        innermost = Some(deeper);
    }
    match innermost {
        Some(innermost) => innermost.to_string(),
        None => "the request could not be sent".to_owned(),
    }
}

/// A client, and the reason if it cannot do TLS.
struct SharedClient {
    client: Client,
    no_tls: Option<String>,
}

/// How requests reach a host.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Route {
    /// Through the proxy that the environment names, if any.
    Proxied,
    /// To this machine: a proxy cannot reach its loopback interface.
    Direct,
    /// As `Direct` without TLS, which saves loading the certificate authorities.
    Plain,
}

impl Route {
    fn to(url: &Url) -> Self {
        match (is_loopback(url), url.scheme()) {
            (false, _) => Self::Proxied,
            (true, "http") => Self::Plain,
            (true, _) => Self::Direct,
        }
    }
}

/// The client for a URL.
fn client(url: &Url) -> Result<&'static Client, String> {
    static CLIENTS: [OnceLock<Result<SharedClient, String>>; 3] = [const { OnceLock::new() }; 3];
    let way = Route::to(url);
    match CLIENTS[way as usize].get_or_init(|| build(way)) {
        Err(reason) => Err(reason.clone()),
        Ok(SharedClient { no_tls: Some(reason), .. }) if url.scheme() == "https" => {
            Err(reason.clone())
        }
        Ok(ready) => Ok(&ready.client),
    }
}

/// Without certificate authorities, as in an empty container, plain HTTP still works.
fn build(way: Route) -> Result<SharedClient, String> {
    // Fails if a crypto provider is already installed, which is fine.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let without = || builder(way).tls_certs_only([]).build();
    let (built, no_tls) = match way {
        Route::Plain => (without(), None),
        Route::Proxied | Route::Direct => match builder(way).build() {
            Ok(client) => (Ok(client), None),
            Err(error) => (without(), Some(cause(&error))),
        },
    };
    Ok(SharedClient { client: built.map_err(|error| cause(&error))?, no_tls })
}

fn builder(way: Route) -> reqwest::ClientBuilder {
    let builder = Client::builder()
        .user_agent(concat!("evalrig/", env!("CARGO_PKG_VERSION")))
        .redirect(Policy::none())
        .referer(false)
        // At most one per concurrent case, and each case will need one again.
        .pool_max_idle_per_host(usize::MAX)
        .pool_idle_timeout(IDLE)
        .tcp_keepalive(Duration::from_secs(30))
        .connect_timeout(CONNECT);
    match way {
        Route::Proxied => builder,
        Route::Direct | Route::Plain => builder.no_proxy(),
    }
}

pub(crate) fn is_loopback(url: &Url) -> bool {
    let host = url.host_str().unwrap_or_default();
    let bare = host.trim_start_matches('[').trim_end_matches(']');
    match bare.parse::<IpAddr>() {
        Ok(address) => address.is_loopback(),
        Err(_) => host == "localhost" || host.ends_with(".localhost"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slash_at_the_end_of_an_address_changes_nothing() {
        for base in ["http://h:1/v1", "http://h:1/v1/", " http://h:1/v1 "] {
            let url = address(base, &["chat", "completions"]).unwrap();
            assert_eq!(url.as_str(), "http://h:1/v1/chat/completions");
        }
        let url = address("https://h?a=b#c", &["x y"]).unwrap();
        assert_eq!(url.as_str(), "https://h/x%20y?a=b");
    }

    #[test]
    fn an_address_without_a_host_is_refused() {
        for base in ["", "localhost:8080", "/v1", "ftp://h", "mailto:a@b"] {
            assert!(address(base, &["v1"]).is_err(), "{base}");
        }
    }

    #[test]
    fn loopback_is_recognized_by_name_and_address() {
        let is = |text: &str| is_loopback(&Url::parse(text).unwrap());
        assert!(is("http://localhost:1/") && is("http://127.8.0.1/") && is("http://[::1]:2/"));
        assert!(is("http://a.localhost/") && !is("http://localhost.example/"));
        assert!(!is("http://10.0.0.1/") && !is("https://api.openai.com/"));
    }

    #[test]
    fn keys_are_not_shown() {
        let mut endpoint =
            Endpoint::new(address("http://u:hidden-word@h/v1?key=in-the-query", &[]).unwrap());
        endpoint.secret_header("Authorization", "Bearer ", "sk-very-secret\n").unwrap();
        let shown = format!("{endpoint:?} {:?}", endpoint.headers);
        assert!(!shown.contains("very-secret") && !shown.contains("hidden-word"), "{shown}");
        let text = endpoint.redact("bad key sk-very-secret of hidden-word in-the-query");
        assert_eq!(text, "bad key *** of *** ***");
    }

    #[test]
    fn a_header_that_cannot_be_sent_is_refused_without_its_value() {
        let mut endpoint = Endpoint::new(address("http://h", &[]).unwrap());
        let said = endpoint.secret_header("A", "", "a\nb").unwrap_err();
        assert_eq!(said, "contains a character that is not allowed in a header");
        assert!(endpoint.secret_header("a b", "", "x").is_err());
    }
}
