//! The files that hold the user's login with an agent CLI: which part of them is carried into a clean home
//! (spec 18.2), and the values in them that are shown as `***` (spec 9.5).

use std::borrow::Cow;
use std::fmt;

use camino::Utf8Path;
use evalrig_core::secrets::Secrets;
use evalrig_core::source::{Files as _, Reach};
use evalrig_core::syntax::{Node, lone_tree};
use serde::Deserializer as _;
use serde::de::{IgnoredAny, MapAccess, Visitor};
use serde_json::{Map, Value, json};

use crate::disk::Disk;

/// A login is small. A larger file is something else.
const LOGIN_LIMIT: u64 = 1024 * 1024;
/// A file of which the login is a part may hold the history of every project.
const HISTORY_LIMIT: u64 = 256 * 1024 * 1024;

/// Characters. Shorter values of a login, such as the name of a plan, are no secrets.
const SHORTEST: usize = 8;

/// A file that holds the user's login.
#[derive(Debug)]
pub struct LoginFile {
    /// Below the user's home.
    pub(crate) from: &'static str,
    /// Below the clean home.
    pub(crate) to: &'static str,
    pub(crate) part: LoginPart,
}

/// How much of a file is the login.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LoginPart {
    Whole,
    /// One value of a JSON object, by the keys that lead to it.
    Value(&'static [&'static str]),
    /// These members of a JSON object, as far as it has them.
    Members(&'static [&'static str]),
}

impl LoginFile {
    pub(crate) const fn whole(path: &'static str) -> Self {
        Self { from: path, to: path, part: LoginPart::Whole }
    }

    /// The part of this file that is the login. `None` if it has none.
    pub(crate) fn read(&self, file: &Utf8Path) -> Option<Vec<u8>> {
        let limit = match self.part {
            LoginPart::Whole => LOGIN_LIMIT,
            LoginPart::Value(_) | LoginPart::Members(_) => HISTORY_LIMIT,
        };
        let content = Disk.read(file, Reach::Anywhere, limit + 1).ok()?;
        if content.len() as u64 > limit {
            return None;
        }
        let part = match self.part {
            LoginPart::Whole => return Some(content),
            LoginPart::Members(names) => {
                let found = members(&content, names).filter(|found| !found.is_empty());
                Value::Object(found?)
            }
            LoginPart::Value(keys) => {
                let mut part = Value::Object(members(&content, keys.get(..1)?)?);
                for key in keys {
                    part = part.get_mut(key)?.take();
                }
                keys.iter().rev().fold(part, |part, key| json!({ *key: part }))
            }
        };
        serde_json::to_vec(&part).ok()
    }

    /// Adds the values of the login in this file.
    pub(crate) fn add_secrets(&self, file: &Utf8Path, secrets: &mut Secrets) {
        let content = self.read(file).and_then(|content| String::from_utf8(content).ok());
        if let Some(content) = content {
            add_values(content, secrets);
        }
    }
}

/// The members of a JSON object with these names. The others, which may be large, are skipped.
fn members(content: &[u8], names: &[&str]) -> Option<Map<String, Value>> {
    let text = without_comments(std::str::from_utf8(content).ok()?);
    let mut json = serde_json::Deserializer::from_str(&text);
    json.deserialize_map(MemberVisitor(names)).ok()
}

/// Copilot CLI writes comments above its settings. No string of JSON goes over a line break.
fn without_comments(text: &str) -> Cow<'_, str> {
    let is_comment = |line: &&str| line.trim_start().starts_with("//");
    if text.trim_start().starts_with("//") {
        text.lines().filter(|line| !is_comment(line)).collect::<Vec<_>>().join("\n").into()
    } else {
        text.into()
    }
}

struct MemberVisitor<'n>(&'n [&'n str]);

impl<'de> Visitor<'de> for MemberVisitor<'_> {
    type Value = Map<String, Value>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<M: MapAccess<'de>>(self, mut entries: M) -> Result<Self::Value, M::Error> {
        let mut found = Map::new();
        while let Some(name) = entries.next_key::<String>()? {
            if self.0.contains(&name.as_str()) {
                found.insert(name, entries.next_value()?);
            } else {
                entries.next_value::<IgnoredAny>()?;
            }
        }
        Ok(found)
    }
}

/// JSON, YAML, or lines.
fn add_values(content: String, secrets: &mut Secrets) {
    match serde_json::from_str(&without_comments(&content)) {
        Ok(value) => add_json(&value, secrets),
        Err(_) => match lone_tree(content.clone()) {
            Ok(tree) if tree.root().is_mapping() => add_yaml(tree.root(), secrets),
            _ => secrets.add(&content),
        },
    }
}

fn add_json(root: &Value, secrets: &mut Secrets) {
    let mut open = vec![("", root)];
    while let Some((key, value)) = open.pop() {
        match value {
            Value::String(text) => add_value(key, text, secrets),
            Value::Array(items) => open.extend(items.iter().map(|item| (key, item))),
            Value::Object(entries) => {
                open.extend(entries.iter().map(|(key, value)| (key.as_str(), value)));
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }
}

fn add_yaml(root: Node<'_>, secrets: &mut Secrets) {
    let mut open = vec![("", root)];
    while let Some((key, node)) = open.pop() {
        if node.is_alias() {
            continue;
        }
        open.extend(node.items().map(|item| (key, item)));
        let entries = node.written_entries();
        open.extend(entries.map(|(key, value)| (key.scalar_text().unwrap_or(""), value)));
        if let Some(text) = node.scalar_text() {
            add_value(key, text, secrets);
        }
    }
}

/// The address of a service and an ordinary word, such as the role of a user, would be hidden in texts
/// that have nothing to do with the login.
fn add_value(key: &str, text: &str, secrets: &mut Secrets) {
    let text = text.trim();
    if text.starts_with("https://") || text.starts_with("http://") {
        secrets.add_url(text);
    } else if text.bytes().all(|byte| byte.is_ascii_lowercase()) {
        secrets.notice(key, text);
    } else if text.chars().count() >= SHORTEST {
        secrets.add(text);
    }
}

#[cfg(test)]
mod tests {
    use camino::Utf8PathBuf;

    use super::*;

    fn file(content: &str) -> (tempfile::TempDir, Utf8PathBuf) {
        let held = tempfile::tempdir().unwrap();
        let path = Utf8PathBuf::from_path_buf(held.path().join("login")).unwrap();
        std::fs::write(&path, content).unwrap();
        (held, path)
    }

    fn read(part: LoginPart, content: &str) -> Option<String> {
        let (_held, path) = file(content);
        let found = LoginFile { from: "", to: "", part }.read(&path);
        found.map(|content| String::from_utf8(content).unwrap())
    }

    #[test]
    fn only_the_named_members_are_read() {
        let members = LoginPart::Members(&["tokens", "users"]);
        let content = "// Managed automatically.\n{\"theme\": \"dark\", \"tokens\": {\"a\": \"gho_1\"}, \
                       \"folders\": [{\"tokens\": 1}]}";
        assert_eq!(read(members, content).as_deref(), Some(r#"{"tokens":{"a":"gho_1"}}"#));
        for without in [r#"{"theme": "dark"}"#, "[]", "{\"tokens\": 1", ""] {
            assert_eq!(read(members, without), None, "{without}");
        }
    }

    #[test]
    fn a_part_is_read_from_a_large_file() {
        let history = "x".repeat(2 * LOGIN_LIMIT as usize);
        let content = format!(r#"{{"history": "{history}", "account": {{"id": 1}}}}"#);
        let part = read(LoginPart::Value(&["account"]), &content);
        assert_eq!(part.as_deref(), Some(r#"{"account":{"id":1}}"#));
        assert_eq!(read(LoginPart::Whole, &content), None);
    }

    #[test]
    fn every_value_of_a_login_is_a_secret() {
        let shown = |content: &str, text: &str| {
            let (_held, path) = file(content);
            let mut secrets = Secrets::default();
            LoginFile::whole("").add_secrets(&path, &mut secrets);
            secrets.redact(text)
        };
        let json = r#"{"tokens": {"access": "eyJ-access-1", "list": ["refresh_2"]}, "plan": "max",
            "host": "https://github.com", "role": "developer", "api_key": "abcdefghij", "n": 12345678}"#;
        assert_eq!(
            shown(
                json,
                "eyJ-access-1 refresh_2 abcdefghij max https://github.com developer 12345678"
            ),
            "*** *** *** max https://github.com developer 12345678"
        );
        let yaml = "github.com:\n    users:\n        me:\n            oauth_token: gho_abc123\n    git_protocol: https\n";
        assert_eq!(shown(yaml, "gho_abc123 https"), "*** https");
        assert_eq!(shown("one-token-1\ntwo-token-2\n", "one-token-1 two-token-2"), "*** ***");
    }
}
