//! The doc of a fault: what it means, an example, what to write instead, and why.

/// A file shown in a doc, so that a test can load it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DocFile {
    pub path: String,
    pub text: String,
}

/// A code's Markdown, taken apart.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Doc {
    pub what: String,
    pub example: Vec<DocFile>,
    pub instead: Vec<DocFile>,
    pub why: String,
}

impl Doc {
    /// `None` when one of the four parts is missing. The first file of a part is its main file;
    /// a fence names its file after the language (```` ```yaml cases.yaml ````), and a fence
    /// without a name is `EVAL.yaml`. Fences marked `text` only illustrate.
    pub fn parse(markdown: &str) -> Option<Self> {
        let (what, rest) = split_heading(markdown, "Example")?;
        let (example, rest) = split_heading(rest, "Instead")?;
        let (instead, why) = split_heading(rest, "Why")?;
        Some(Self {
            what: what.trim().to_owned(),
            example: files(example),
            instead: files(instead),
            why: why.trim().to_owned(),
        })
    }
}

fn split_heading<'a>(text: &'a str, title: &str) -> Option<(&'a str, &'a str)> {
    let heading = format!("\n## {title}\n");
    let at = text.find(&heading)?;
    Some((&text[..at], &text[at + heading.len()..]))
}

fn files(section: &str) -> Vec<DocFile> {
    let mut found = Vec::new();
    let mut lines = section.lines();
    while let Some(line) = lines.next() {
        let Some(info) = line.strip_prefix("```") else {
            continue;
        };
        let body: Vec<&str> = lines.by_ref().take_while(|line| *line != "```").collect();
        let mut words = info.split_whitespace();
        if words.next() == Some("text") {
            continue;
        }
        let path = words.next().unwrap_or("EVAL.yaml").to_owned();
        found.push(DocFile { path, text: body.join("\n") + "\n" });
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_four_parts_are_found() {
        let doc = Doc::parse(
            "What it means.\n\n## Example\n```yaml\na: 1\n```\n```jsonl d.jsonl\n{}\n```\n\n\
             ## Instead\n```yaml\nb: 1\n```\n\n## Why\nBecause.\n",
        )
        .unwrap();
        assert_eq!(doc.what, "What it means.");
        assert_eq!(doc.example[0].path, "EVAL.yaml");
        assert_eq!(doc.example[1].path, "d.jsonl");
        assert_eq!(doc.instead[0].text, "b: 1\n");
        assert_eq!(doc.why, "Because.");
    }

    #[test]
    fn a_missing_part_is_noticed() {
        assert_eq!(Doc::parse("What.\n\n## Example\n"), None);
    }
}
