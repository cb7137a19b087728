//! The test script of a task: the checks on files and the commands of a test, with their weights.

use crate::model::{Assertion, CommonOptions, Map, Required, Value};

use super::TaskWriter;

const HEAD: &str = include_str!("head.sh");
const END: &str = include_str!("end.sh");

/// What a task gives its tests if they need no more.
const LEAST_SECONDS: u64 = 300;

pub(super) struct TestScript {
    pub(super) text: String,
    /// For all of its checks together.
    pub(super) timeout_seconds: u64,
}

impl TestScript {
    /// `None` if no check can be expressed, which is reported as a loss.
    pub(super) fn of(writer: &mut TaskWriter<'_>) -> Option<Self> {
        let mut script = Self { text: HEAD.to_owned(), timeout_seconds: 0 };
        let mut count = 0;
        for named in &writer.test.assertions {
            let Some(lines) = script.check(writer, &named.assertion, count + 1) else { continue };
            count += 1;
            script.text += &format!("\n# {}\n", comment(&named.name));
            script.text += &lines;
            script.text += &record(writer, &named.assertion.common);
        }
        if count == 0 {
            let message = "no check is on files, so no task is written";
            writer.loss("test", writer.test.span, message);
            return None;
        }
        script.text += END;
        script.timeout_seconds = script.timeout_seconds.max(LEAST_SECONDS);
        Some(script)
    }

    /// Commands that set `score`.
    fn check(
        &mut self,
        writer: &mut TaskWriter<'_>,
        assertion: &Assertion,
        number: usize,
    ) -> Option<String> {
        let common = &assertion.common;
        let options = assertion.check.options();
        let type_name = &*assertion.type_name;
        let made = match (type_name, &common.file) {
            ("command", _) => self.command(writer, common, &options, number),
            ("files", _) => files(&options),
            ("contains", Some(file)) => contains(file, &options, ""),
            ("icontains", Some(file)) => contains(file, &options, " -i"),
            _ => None,
        };
        if made.is_none() {
            let (kind, message) = if is_about_files(assertion) {
                ("assertion", format!("`{type_name}` with these options cannot be a shell command"))
            } else {
                ("answer", format!("`{type_name}` looks at the answer, which Harbor does not keep"))
            };
            writer.loss(kind, common.head, message);
        }
        made
    }

    fn command(
        &mut self,
        writer: &mut TaskWriter<'_>,
        common: &CommonOptions,
        options: &Map,
        number: usize,
    ) -> Option<String> {
        if options.get("score").is_some() || options.get("junit").is_some() {
            return None;
        }
        let run = match options.get("run")? {
            Value::List(words) => {
                let words: Option<Vec<String>> =
                    words.iter().map(|word| word.as_str().map(quoted)).collect();
                words?.join(" ")
            }
            line => format!("sh -c {}", quoted(line.as_str()?)),
        };
        let mut text = "start_check\n".to_owned();
        if let Some(overlay) = options.get("overlay").and_then(Value::as_str) {
            let directory = writer.directory(overlay, common.span)?;
            writer.copy_tree(&directory, &format!("tests/overlay-{number}"), common.head);
            text += &format!("cp -a /tests/overlay-{number}/. \"$EVALRIG_WORKSPACE\"\n");
        }
        let own = writer.test.workspace.as_ref().and_then(|workspace| workspace.cwd.as_deref());
        let cwd = options.get("cwd").and_then(Value::as_str).or(own).unwrap_or(".");
        let seconds = options.get("timeout_seconds").and_then(number_of).unwrap_or(LEAST_SECONDS);
        self.timeout_seconds += seconds;
        text +=
            &format!("(cd \"$EVALRIG_WORKSPACE\"/{} && timeout {seconds} {run})\n", quoted(cwd));
        let codes = options.get("ok_exit_codes").and_then(Value::as_list);
        let codes: Vec<String> =
            codes.unwrap_or_default().iter().filter_map(number_of).map(|n| n.to_string()).collect();
        let codes = if codes.is_empty() { "0".to_owned() } else { codes.join("|") };
        text += &format!("case $? in {codes}) score=1 ;; *) score=0 ;; esac\n");
        Some(text)
    }
}

/// Whether it looks at nothing but files, which Harbor keeps.
fn is_about_files(assertion: &Assertion) -> bool {
    let members = assertion.check.members();
    matches!(&*assertion.type_name, "command" | "files")
        || assertion.common.file.is_some()
        || (!members.is_empty() && members.iter().all(|one| is_about_files(&one.assertion)))
}

fn number_of(value: &Value) -> Option<u64> {
    match value {
        Value::Number(number) => number.as_u64(),
        _ => None,
    }
}

/// Only what holds at the end: nothing is known of the beginning.
fn files(options: &Map) -> Option<String> {
    let is_expressible = options.iter().all(|(name, _)| name == "exists" || name == "absent");
    if !is_expressible {
        return None;
    }
    let mut text = "start_files\n".to_owned();
    for (name, patterns) in options.iter() {
        for pattern in patterns.as_list()? {
            let pattern = pattern.as_str()?;
            let is_plain = |c: char| c.is_alphanumeric() || "._-/*?[]".contains(c);
            let is_glob = pattern.chars().all(is_plain);
            is_glob.then_some(())?;
            text += &format!("look_for {name} {}\n", quoted(pattern));
        }
    }
    Some(text + "end_files\n")
}

fn contains(file: &str, options: &Map, flag: &str) -> Option<String> {
    let value = options.get("value")?.as_str()?;
    // Each line would be a pattern of its own.
    if value.contains('\n') {
        return None;
    }
    let (value, file) = (quoted(value), quoted(&format!("/app/{file}")));
    // A file that is not there scores 0, negated or not.
    Some(format!(
        "exists=1; [ -f {file} ] || exists=0\nscore=0; grep -qF{flag} -- {value} {file} && score=1\n"
    ))
}

/// Adds the check to the results.
fn record(writer: &TaskWriter<'_>, common: &CommonOptions) -> String {
    let mut text = String::new();
    if common.negate {
        text += "score=$(awk \"BEGIN { print 1 - $score }\")\n";
        if common.file.is_some() {
            text += "[ \"$exists\" = 1 ] || score=0\n";
        }
    }
    let gate = match &common.required {
        Required::No => 0.0,
        Required::Pass => writer.suite.verdicts.pass(),
        Required::AtLeast(number) => number.value(),
    };
    let weight = common.weight.number().text().to_owned();
    text + &format!("record \"$score\" {weight} {gate}\n")
}

/// One word of a shell command.
fn quoted(word: &str) -> String {
    format!("'{}'", word.replace('\'', "'\\''"))
}

fn comment(name: &str) -> String {
    name.chars().map(|c| if c.is_control() { ' ' } else { c }).collect()
}
