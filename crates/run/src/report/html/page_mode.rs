//! Where a page is shown: in a file, or by a server that it may ask.

use serde_json::Value;

/// A file by default.
#[derive(Debug, Clone, Default)]
pub struct PageMode {
    /// The run goes on: the page reads the event stream `events` and adds rows as they arrive.
    pub is_live: bool,
    /// Where people may label answers.
    pub labels: Option<PageLabels>,
    /// Address of the list of runs, relative to the page.
    pub home: Option<String>,
}

/// What people said of answers, and the right to say more.
#[derive(Debug, Clone, Default)]
pub struct PageLabels {
    /// Sent back in the header `X-Evalrig-Token`.
    pub token: String,
    /// Whose labels the page changes; it shows those of others beside them.
    pub author: String,
    /// Objects with `suite`, `test`, `answerHash`, `label` (`right` or `wrong`), `note` and `who`; at most
    /// one of each person about the same answer.
    pub stored: Vec<Value>,
}

impl PageMode {
    /// Whether the page may send requests to the server it came from.
    pub fn connects(&self) -> bool {
        self.is_live || self.labels.is_some()
    }

    /// What the script looks for in the head of the page.
    pub(super) fn elements(&self) -> String {
        let mut out = String::new();
        if self.is_live {
            out += &meta("evalrig-live", "events");
        }
        if let Some(labels) = &self.labels {
            out += &meta("evalrig-labels", "labels");
            out += &meta("evalrig-token", &labels.token);
            out += &meta("evalrig-author", &labels.author);
        }
        if let Some(home) = &self.home {
            out += &meta("evalrig-home", home);
        }
        out
    }
}

fn meta(name: &str, content: &str) -> String {
    let mut safe = String::new();
    for c in content.chars() {
        match c {
            '&' => safe.push_str("&amp;"),
            '"' => safe.push_str("&quot;"),
            '<' => safe.push_str("&lt;"),
            c => safe.push(c),
        }
    }
    format!("<meta name=\"{name}\" content=\"{safe}\">\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_asks_for_nothing() {
        assert_eq!(PageMode::default().elements(), "");
        assert!(!PageMode::default().connects());
    }

    #[test]
    fn a_served_page_says_what_its_server_can_do() {
        let mode = PageMode {
            is_live: true,
            labels: Some(PageLabels {
                token: "a\"b<".to_owned(),
                author: "Ann".to_owned(),
                stored: Vec::new(),
            }),
            home: Some("./".to_owned()),
        };
        assert_eq!(
            mode.elements(),
            "<meta name=\"evalrig-live\" content=\"events\">\n\
             <meta name=\"evalrig-labels\" content=\"labels\">\n\
             <meta name=\"evalrig-token\" content=\"a&quot;b&lt;\">\n\
             <meta name=\"evalrig-author\" content=\"Ann\">\n\
             <meta name=\"evalrig-home\" content=\"./\">\n"
        );
        assert!(mode.connects());
    }
}
