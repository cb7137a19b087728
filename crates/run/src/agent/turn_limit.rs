//! How a program is told the greatest number of turns.

use std::io;

use camino::Utf8Path;
use evalrig_core::model::{Fault, FaultKind, Stage};
use evalrig_core::source::{Files as _, Reach};
use serde_json::{Value, json};

use crate::disk::{Access, Disk, Durability, create_directory_of, replace};

/// How a program is told the greatest number of turns, and how it says that it was reached.
#[derive(Debug, Clone, Copy)]
pub(crate) enum TurnLimit {
    /// A flag, which the number follows. The events say that it was reached.
    Flag(&'static str),
    Setting(TurnSetting),
}

/// A setting of a program that has no flag for it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct TurnSetting {
    /// The file with the settings, below the home directory.
    pub(crate) file: &'static str,
    /// The keys that lead to the number.
    pub(crate) keys: &'static [&'static str],
    /// With which the program ends when the number was reached, although the events can be graded.
    pub(crate) exit_code: i32,
}

/// A larger file has more than settings.
const MOST: u64 = 1024 * 1024;

impl TurnSetting {
    /// Adds the number to the settings in a home directory that is not the user's.
    pub(super) fn add(&self, turns: u64, home: Option<&Utf8Path>) -> Result<(), Fault> {
        let failed = |reason: String| {
            let message = format!("cannot set `max_turns`: {reason}");
            Fault::new(Stage::Target, FaultKind::Start, message)
        };
        let home = home.ok_or_else(|| failed("the agent has no home of its own".to_owned()))?;
        self.add_to(&home.join(self.file), home, turns).map_err(|error| failed(error.to_string()))
    }

    fn add_to(&self, path: &Utf8Path, home: &Utf8Path, turns: u64) -> io::Result<()> {
        let mut settings = match Disk.read(path, Reach::Inside(home), MOST) {
            Ok(content) => serde_json::from_slice(&content)?,
            Err(error) if error.kind() == io::ErrorKind::NotFound => json!({}),
            Err(error) => return Err(error),
        };
        let mut place = &mut settings;
        for key in self.keys {
            let Some(inner) = place.as_object_mut() else {
                return Err(io::Error::other(format!("`{}` has no mapping for it", self.file)));
            };
            place = inner.entry(*key).or_insert_with(|| json!({}));
        }
        *place = json!(turns);
        create_directory_of(path, Access::Private)?;
        let content = Value::to_string(&settings);
        replace(path, content.as_bytes(), Access::Private, Durability::Unsynced)
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use camino::Utf8PathBuf;

    use super::*;

    #[test]
    fn the_number_is_added_to_what_the_home_has() {
        let folder = tempfile::tempdir().unwrap();
        let home = Utf8PathBuf::from_path_buf(folder.path().to_owned()).unwrap();
        let setting = TurnSetting { file: "a/s.json", keys: &["model", "most"], exit_code: 1 };
        let read = || fs::read_to_string(home.join("a/s.json")).unwrap();
        setting.add(3, Some(&home)).unwrap();
        assert_eq!(read(), r#"{"model":{"most":3}}"#);
        fs::write(
            home.join("a/s.json"),
            r#"{"auth": {"x": 1}, "model": {"name": "m", "most": 9}}"#,
        )
        .unwrap();
        setting.add(4, Some(&home)).unwrap();
        let expected = json!({"auth": {"x": 1}, "model": {"name": "m", "most": 4}});
        assert_eq!(serde_json::from_str::<Value>(&read()).unwrap(), expected);
        for broken in ["[]", "{\"model\": 1}", "{"] {
            fs::write(home.join("a/s.json"), broken).unwrap();
            let fault = setting.add(5, Some(&home)).unwrap_err();
            assert!(fault.message.starts_with("cannot set `max_turns`"), "{}", fault.message);
            assert_eq!(read(), broken);
        }
        assert!(setting.add(5, None).is_err());
    }
}
