//! Who may ask for what. A page of another origin, a name that was rebound to 127.0.0.1 and another
//! user of the machine can all reach the port; none of them has the token.

use std::io;
use std::sync::Mutex;

use axum::http::request::Parts;
use axum::http::{HeaderMap, Method, StatusCode, header};
use form_urlencoded::Serializer;
use subtle::ConstantTimeEq;

use crate::lock::locked;
use crate::text::hex;

/// The header in which pages and programs send the token.
pub(super) const TOKEN_HEADER: &str = "x-evalrig-token";
/// The parameter with which a browser gets its cookie.
const TOKEN_PARAMETER: &str = "token";
const TOKEN_BYTES: usize = 32;
/// Tickets that nobody used; more are not needed.
const MOST_TICKETS: usize = 16;

/// Checks every request.
pub(super) struct Guard {
    token: String,
    /// Tokens that are good for one request.
    tickets: Mutex<Vec<String>>,
    /// What `Host` may be.
    hosts: [String; 2],
    /// Cookies are shared by all ports of a host, so each server has a name of its own.
    cookie: String,
}

/// What becomes of a request.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Admission {
    Admitted,
    /// The browser gets a cookie and asks again without the token.
    SignIn {
        cookie: String,
        location: String,
    },
    Refused(StatusCode, &'static str),
}

impl Guard {
    pub(super) fn new(port: u16) -> io::Result<Self> {
        Ok(Self {
            token: random_token()?,
            tickets: Mutex::default(),
            hosts: [format!("127.0.0.1:{port}"), format!("localhost:{port}")],
            cookie: format!("evalrig-{port}"),
        })
    }

    pub(super) fn token(&self) -> &str {
        &self.token
    }

    pub(super) fn new_ticket(&self) -> io::Result<String> {
        let ticket = random_token()?;
        let mut tickets = locked(&self.tickets);
        if tickets.len() == MOST_TICKETS {
            tickets.remove(0);
        }
        tickets.push(ticket.clone());
        Ok(ticket)
    }

    pub(super) fn admit(&self, request: &Parts) -> Admission {
        let forbidden = |why| Admission::Refused(StatusCode::FORBIDDEN, why);
        let Some(host) = self.host(request) else {
            return forbidden("This server answers only to 127.0.0.1 and localhost.");
        };
        if let Some(admission) = self.sign_in(request) {
            return admission;
        }
        if !self.has_token(&request.headers) {
            return forbidden("Open the address that `evalrig view` printed; it has the token.");
        }
        match request.method {
            Method::GET | Method::HEAD => Admission::Admitted,
            Method::POST if request.uri.path().ends_with("/labels") => {
                // A cookie is sent by the browser, whoever asks; this header only by our page.
                if request.headers.get(TOKEN_HEADER).is_none() {
                    forbidden("The header X-Evalrig-Token is missing.")
                } else if !is_same_origin(&request.headers, host) {
                    forbidden("A page of another origin cannot add labels.")
                } else {
                    Admission::Admitted
                }
            }
            _ => Admission::Refused(StatusCode::METHOD_NOT_ALLOWED, "Only GET is possible here."),
        }
    }

    /// The host of the request, if it is ours.
    fn host<'r>(&self, request: &'r Parts) -> Option<&'r str> {
        let is_ours = |host: &str| self.hosts.iter().any(|own| own == host);
        if request.uri.authority().is_some_and(|named| !is_ours(named.as_str())) {
            return None;
        }
        let mut named = request.headers.get_all(header::HOST).iter();
        let host = named.next()?.to_str().ok()?;
        (named.next().is_none() && is_ours(host)).then_some(host)
    }

    /// What to do with a token in the address; `None` if there is none.
    fn sign_in(&self, request: &Parts) -> Option<Admission> {
        if request.method != Method::GET {
            return None;
        }
        let query = request.uri.query()?;
        let pairs = || form_urlencoded::parse(query.as_bytes());
        let (_, given) = pairs().find(|(name, _)| name == TOKEN_PARAMETER)?;
        if !(is_equal(&given, &self.token) || self.use_ticket(&given)) {
            let why = "The token in the address is not the one of this server.";
            return Some(Admission::Refused(StatusCode::FORBIDDEN, why));
        }
        let mut rest = Serializer::new(String::new());
        rest.extend_pairs(pairs().filter(|(name, _)| name != TOKEN_PARAMETER));
        let rest = rest.finish();
        // `//name/` would lead to another host.
        let path = format!("/{}", request.uri.path().trim_start_matches('/'));
        Some(Admission::SignIn {
            cookie: format!("{}={}; Path=/; HttpOnly; SameSite=Strict", self.cookie, self.token),
            location: if rest.is_empty() { path } else { format!("{path}?{rest}") },
        })
    }

    fn use_ticket(&self, given: &str) -> bool {
        let mut tickets = locked(&self.tickets);
        let before = tickets.len();
        tickets.retain(|ticket| !is_equal(ticket, given));
        tickets.len() < before
    }

    /// A token in the header counts, right or wrong; without one, that in the cookie.
    fn has_token(&self, headers: &HeaderMap) -> bool {
        if let Some(given) = headers.get(TOKEN_HEADER) {
            return given.to_str().is_ok_and(|given| is_equal(given, &self.token));
        }
        let lines = headers.get_all(header::COOKIE).iter().filter_map(|line| line.to_str().ok());
        let cookies = lines.flat_map(|line| line.split(';')).filter_map(|one| one.split_once('='));
        let mut own = cookies.filter(|(name, _)| name.trim() == self.cookie);
        own.any(|(_, value)| is_equal(value.trim(), &self.token))
    }
}

/// Browsers say where a POST comes from.
fn is_same_origin(headers: &HeaderMap, host: &str) -> bool {
    let text = |name: &str| headers.get(name).map(|value| value.to_str().unwrap_or("?"));
    let origin = text("origin").is_none_or(|origin| origin == format!("http://{host}"));
    origin && text("sec-fetch-site").is_none_or(|site| site == "same-origin")
}

/// Takes as long for a wrong token as for the right one.
fn is_equal(one: &str, other: &str) -> bool {
    one.as_bytes().ct_eq(other.as_bytes()).into()
}

fn random_token() -> io::Result<String> {
    let mut bytes = [0; TOKEN_BYTES];
    let random = rustls::crypto::ring::default_provider().secure_random;
    random.fill(&mut bytes).map_err(|_| io::Error::other("the system has no random numbers"))?;
    Ok(hex(&bytes))
}

#[cfg(test)]
mod tests {
    use axum::http::Request;

    use super::*;

    fn guard() -> Guard {
        Guard::new(4000).unwrap()
    }

    fn request(method: Method, uri: &str, headers: &[(&str, &str)]) -> Parts {
        let mut builder = Request::builder().method(method).uri(uri);
        for (name, value) in headers {
            builder = builder.header(*name, *value);
        }
        builder.body(()).unwrap().into_parts().0
    }

    fn status(admission: &Admission) -> u16 {
        match admission {
            Admission::Admitted => 200,
            Admission::SignIn { .. } => 303,
            Admission::Refused(status, _) => status.as_u16(),
        }
    }

    const HOST: (&str, &str) = ("host", "127.0.0.1:4000");

    #[test]
    fn only_our_own_names_are_hosts() {
        let guard = guard();
        let token = guard.token().to_owned();
        let asked = |hosts: &[&str]| {
            let mut headers = vec![(TOKEN_HEADER, token.as_str())];
            headers.extend(hosts.iter().map(|host| ("host", *host)));
            status(&guard.admit(&request(Method::GET, "/", &headers)))
        };
        assert_eq!((asked(&["127.0.0.1:4000"]), asked(&["localhost:4000"])), (200, 200));
        for foreign in [
            "evil.example:4000",
            "127.0.0.1",
            "localhost",
            "127.0.0.1:4001",
            "127.0.0.1.evil:4000",
            "LOCALHOST:4000",
            "[::1]:4000",
            "127.0.0.1:4000.evil",
            "",
        ] {
            assert_eq!(asked(&[foreign]), 403, "{foreign}");
        }
        assert_eq!(asked(&[]), 403);
        assert_eq!(asked(&["127.0.0.1:4000", "evil.example"]), 403);
        let absolute =
            request(Method::GET, "http://evil.example/", &[HOST, (TOKEN_HEADER, &token)]);
        assert_eq!(status(&guard.admit(&absolute)), 403);
    }

    #[test]
    fn a_token_in_the_address_becomes_a_cookie() {
        let guard = guard();
        let uri = format!("/compare?base=a%20b&token={}&candidate=c", guard.token());
        let Admission::SignIn { cookie, location } =
            guard.admit(&request(Method::GET, &uri, &[HOST]))
        else {
            panic!("no cookie");
        };
        assert_eq!(location, "/compare?base=a+b&candidate=c");
        assert_eq!(
            cookie,
            format!("evalrig-4000={}; Path=/; HttpOnly; SameSite=Strict", guard.token())
        );
        let value = cookie.split(';').next().unwrap();
        let cookies = format!("other=1; {value}");
        let with_cookie = request(Method::GET, "/", &[HOST, ("cookie", &cookies)]);
        assert_eq!(guard.admit(&with_cookie), Admission::Admitted);
        let away = format!("//evil.example/?token={}", guard.token());
        let Admission::SignIn { location, .. } = guard.admit(&request(Method::GET, &away, &[HOST]))
        else {
            panic!("no cookie");
        };
        assert_eq!(location, "/evil.example/");
    }

    #[test]
    fn wrong_tokens_and_no_tokens_are_refused() {
        let guard = guard();
        let mut wrong = guard.token().to_owned();
        wrong.replace_range(..1, if wrong.starts_with('0') { "1" } else { "0" });
        let right = format!("evalrig-4000={}", guard.token());
        for headers in [
            vec![HOST],
            vec![HOST, (TOKEN_HEADER, "")],
            vec![HOST, (TOKEN_HEADER, &wrong)],
            vec![HOST, (TOKEN_HEADER, &wrong), ("cookie", &right)],
            vec![HOST, ("cookie", "evalrig-4000=")],
            vec![HOST, ("cookie", "evalrig-4001=x")],
            vec![HOST, ("authorization", &right)],
        ] {
            assert_eq!(status(&guard.admit(&request(Method::GET, "/", &headers))), 403);
        }
        let uri = format!("/?token={wrong}");
        assert_eq!(status(&guard.admit(&request(Method::GET, &uri, &[HOST]))), 403);
    }

    #[test]
    fn a_ticket_is_good_once() {
        let guard = guard();
        let uri = format!("/?token={}", guard.new_ticket().unwrap());
        let ask = || status(&guard.admit(&request(Method::GET, &uri, &[HOST])));
        assert_eq!((ask(), ask()), (303, 403));
        let ticket = guard.new_ticket().unwrap();
        let header = request(Method::GET, "/", &[HOST, (TOKEN_HEADER, &ticket)]);
        assert_eq!(status(&guard.admit(&header)), 403);
    }

    #[test]
    fn only_our_own_page_can_post_and_only_labels() {
        let guard = guard();
        let token = guard.token().to_owned();
        let cookie = format!("evalrig-4000={token}");
        let own = ("origin", "http://127.0.0.1:4000");
        let key = (TOKEN_HEADER, token.as_str());
        let asked = |method: Method, path: &str, headers: &[(&str, &str)]| {
            status(&guard.admit(&request(method, path, headers)))
        };
        let post = |headers: &[(&str, &str)]| asked(Method::POST, "/runs/a/labels", headers);
        assert_eq!(post(&[HOST, own, key]), 200);
        assert_eq!(post(&[HOST, key]), 200);
        assert_eq!(post(&[HOST, own, ("cookie", &cookie)]), 403);
        for origin in
            ["null", "http://evil.example", "http://127.0.0.1:4001", "https://127.0.0.1:4000"]
        {
            assert_eq!(post(&[HOST, key, ("origin", origin)]), 403, "{origin}");
        }
        assert_eq!(post(&[HOST, key, ("sec-fetch-site", "cross-site")]), 403);
        assert_eq!(asked(Method::POST, "/runs/a/", &[HOST, own, key]), 405);
        for method in [Method::PUT, Method::DELETE, Method::PATCH, Method::OPTIONS, Method::TRACE] {
            assert_eq!(asked(method, "/runs/a/labels", &[HOST, own, key]), 405);
        }
    }
}
