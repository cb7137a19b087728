//! Parts of a secret that are secret on their own: lines, credentials of a header, parts of a URL.

use std::borrow::Cow;

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, STANDARD_NO_PAD};

use super::{SHORTEST, SHORTEST_VARIABLE, is_secret_name};

/// Schemes of `Authorization` and similar headers, which are followed by the credentials.
const SCHEMES: &[&str] = &[
    "bearer",
    "basic",
    "token",
    "key",
    "apikey",
    "api-key",
    "digest",
    "oauth",
    "negotiate",
    "bot",
];

/// Values that services without authentication take as a key. They occur in ordinary text and protect
/// nothing.
const PLACEHOLDERS: &[&str] = &[
    "changeme",
    "default",
    "disabled",
    "dummy",
    "empty",
    "enabled",
    "example",
    "fake",
    "false",
    "local",
    "localhost",
    "mock",
    "none",
    "null",
    "ollama",
    "password",
    "placeholder",
    "secret",
    "test",
    "testing",
    "token",
    "true",
    "undefined",
    "unused",
];

pub(super) fn is_placeholder(value: &str) -> bool {
    PLACEHOLDERS.iter().any(|word| value.eq_ignore_ascii_case(word))
}

/// The parts of a trimmed secret, without the secret itself.
pub(super) fn parts_of(value: &str) -> Vec<String> {
    let mut parts = lines_of(value);
    parts.extend(credentials_of(value));
    parts.extend(url_parts(value));
    parts
}

/// Lines of a multi-line value: a program may print only some of them. Those that frame a PEM block
/// are the same in every key.
fn lines_of(value: &str) -> Vec<String> {
    if !value.contains(['\n', '\r']) {
        return Vec::new();
    }
    let lines = value.lines().map(str::trim);
    let secret = lines.filter(|line| is_long(line) && !is_word(line) && !line.starts_with("-----"));
    secret.map(str::to_owned).collect()
}

/// What follows `Bearer`, and user and password behind `Basic`.
fn credentials_of(value: &str) -> Vec<String> {
    let Some((scheme, rest)) = value.split_once(char::is_whitespace) else {
        return Vec::new();
    };
    let rest = rest.trim();
    let is_scheme = SCHEMES.iter().any(|known| scheme.eq_ignore_ascii_case(known));
    if !is_scheme || rest.chars().count() < SHORTEST {
        return Vec::new();
    }
    let mut parts = vec![rest.to_owned()];
    if scheme.eq_ignore_ascii_case("basic") {
        let bytes = STANDARD.decode(rest).or_else(|_| STANDARD_NO_PAD.decode(rest));
        let text = bytes.ok().and_then(|bytes| String::from_utf8(bytes).ok());
        parts.extend(text.iter().flat_map(|text| user_and_password(text)));
    }
    parts
}

/// `user:password` as a whole and in parts. A user name that is one word or short is not secret.
fn user_and_password(text: &str) -> Vec<String> {
    let mut parts = Vec::new();
    let (user, password) = text.split_once(':').unwrap_or((text, ""));
    if is_long(user) && !is_word(user) {
        parts.push(user.to_owned());
    }
    if password.chars().count() >= SHORTEST && !is_placeholder(password) {
        parts.push(password.to_owned());
        parts.push(text.to_owned());
    }
    parts
}

/// User, password and query values of a URL, as written and decoded. Values that are one word are not
/// secret, nor is a version, unless the name says so.
pub(super) fn url_parts(url: &str) -> Vec<String> {
    let Some((scheme, rest)) = url.trim().split_once("://") else {
        return Vec::new();
    };
    let is_scheme = |c: char| c.is_ascii_alphanumeric() || "+-.".contains(c);
    if scheme.is_empty() || !scheme.chars().all(is_scheme) {
        return Vec::new();
    }
    let rest = rest.split_once('#').map_or(rest, |(before, _)| before);
    let (address, query) = rest.split_once('?').unwrap_or((rest, ""));
    let authority = address.split_once('/').map_or(address, |(authority, _)| authority);
    let mut parts = Vec::new();
    if let Some((user, _)) = authority.rsplit_once('@') {
        parts.extend(user_and_password(user));
        parts.extend(user_and_password(&percent_decoded(user)));
        // A colon may itself be encoded.
        for half in user.splitn(2, ':').skip(1) {
            parts.extend(secret_value("password", &percent_decoded(half)));
        }
    }
    for pair in query.split('&') {
        let (name, value) = pair.split_once('=').unwrap_or(("", pair));
        parts.extend(secret_value(name, value));
        parts.extend(secret_value(name, &percent_decoded(&value.replace('+', " "))));
        parts.extend(secret_value(name, &percent_decoded(value)));
    }
    parts
}

fn secret_value(name: &str, value: &str) -> Option<String> {
    let is_secret = if is_secret_name(name) {
        value.chars().count() >= SHORTEST && !is_placeholder(value)
    } else {
        is_long(value) && !is_word(value) && !name.to_lowercase().contains("version")
    };
    is_secret.then(|| value.to_owned())
}

fn is_long(text: &str) -> bool {
    text.chars().count() >= SHORTEST_VARIABLE
}

/// One word, which would be redacted in ordinary text.
pub(super) fn is_word(text: &str) -> bool {
    let tail = text.chars().skip(1);
    text.chars().count() < 2 * SHORTEST_VARIABLE
        && text.chars().all(char::is_alphabetic)
        && (tail.clone().all(char::is_lowercase) || text.chars().all(char::is_uppercase))
}

fn percent_decoded(text: &str) -> Cow<'_, str> {
    if !text.contains('%') {
        return Cow::Borrowed(text);
    }
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((&first, behind)) = rest.split_first() {
        let digits = if first == b'%' { behind.get(..2) } else { None };
        let digits = digits.and_then(|digits| std::str::from_utf8(digits).ok());
        match digits.and_then(|digits| u8::from_str_radix(digits, 16).ok()) {
            Some(byte) => {
                bytes.push(byte);
                rest = &behind[2..];
            }
            None => {
                bytes.push(first);
                rest = behind;
            }
        }
    }
    Cow::Owned(String::from_utf8_lossy(&bytes).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_part_of_a_url_that_can_be_a_secret_is_one() {
        let url = "https://robot-7781:p%40ss%2Fword@h:1/v1?key=abcd&sig=a%2Bb%3D12345&api-version=2024-10-01&format=protobuf#x";
        let parts = url_parts(url);
        for part in
            ["robot-7781", "p%40ss%2Fword", "p@ss/word", "abcd", "a%2Bb%3D12345", "a+b=12345"]
        {
            assert!(parts.iter().any(|one| one == part), "{part} in {parts:?}");
        }
        assert!(!parts.iter().any(|one| one == "2024-10-01" || one == "protobuf"), "{parts:?}");
        for plain in
            ["http://localhost:8080/v1", "https://admin@h/", "no url", "://a:bcdefghi@h", ""]
        {
            assert_eq!(url_parts(plain), [""; 0], "{plain}");
        }
    }

    #[test]
    fn credentials_follow_a_scheme_only() {
        assert_eq!(credentials_of("Bearer abc-123"), ["abc-123"]);
        assert_eq!(credentials_of("my tool 1.0"), [""; 0]);
        // user:open sesame
        let basic = credentials_of("basic dXNlcjpvcGVuIHNlc2FtZQ==");
        assert_eq!(basic, ["dXNlcjpvcGVuIHNlc2FtZQ==", "open sesame", "user:open sesame"]);
    }

    #[test]
    fn lines_count_if_they_are_long_and_more_than_a_word() {
        let key = "-----BEGIN KEY-----\r\nMIIEvQIBADANBg\r\nplainword\r\nAw==\r\n-----END KEY-----";
        assert_eq!(lines_of(key), ["MIIEvQIBADANBg"]);
        assert_eq!(lines_of("one line only"), [""; 0]);
    }
}
