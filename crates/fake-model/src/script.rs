//! The script: which reply goes to which request. The first rule that matches and is not used up
//! wins, so the order is the meaning.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use serde::Deserialize;

use crate::reply::Reply;
use crate::turn::Turn;

/// An ordered list of rules and the reply for everything else.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Script {
    pub(crate) rules: Vec<Rule>,
    default: Reply,
    delay_ms: u64,
    key: Option<String>,
}

impl Default for Script {
    fn default() -> Self {
        Self { rules: Vec::new(), default: Reply::text("ok"), delay_ms: 0, key: None }
    }
}

impl Script {
    /// A script without rules that answers everything with `ok`.
    pub fn new() -> Self {
        Self::default()
    }

    /// Reads a script: `{"rules": […], "default": {…}, "delay_ms": 0, "key": "…"}`.
    ///
    /// # Errors
    ///
    /// When the text is not JSON, has an unknown field, or a reply contradicts itself.
    pub fn from_json(text: &str) -> Result<Self, serde_json::Error> {
        serde_json::from_str(text)
    }

    /// Adds a rule behind those that are there.
    #[must_use]
    pub fn rule(mut self, rule: Rule) -> Self {
        self.rules.push(rule);
        self
    }

    /// Sets the reply for requests that no rule takes.
    #[must_use]
    pub fn otherwise(mut self, reply: Reply) -> Self {
        self.default = reply;
        self
    }

    /// Answers requests without this key with status 401.
    #[must_use]
    pub fn key(mut self, key: impl Into<String>) -> Self {
        self.key = Some(key.into());
        self
    }

    /// Waits this long before every reply that has no delay of its own.
    #[must_use]
    pub fn delay(mut self, delay: Duration) -> Self {
        self.delay_ms = u64::try_from(delay.as_millis()).unwrap_or(u64::MAX);
        self
    }
}

/// When a reply is given, and how often.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rule {
    when: Option<String>,
    when_tool: Option<String>,
    when_body: Option<String>,
    after_tool: Option<bool>,
    with_tools: Option<bool>,
    times: Option<usize>,
    reply: Reply,
}

impl Rule {
    /// A rule that always fires.
    pub fn new(reply: Reply) -> Self {
        Self {
            when: None,
            when_tool: None,
            when_body: None,
            after_tool: None,
            with_tools: None,
            times: None,
            reply,
        }
    }

    /// Fires only when the user's last words contain this text. Results of tools are not words of
    /// the user, so the rule keeps matching while an agent works on one prompt.
    #[must_use]
    pub fn when(mut self, text: impl Into<String>) -> Self {
        self.when = Some(text.into());
        self
    }

    /// Fires only when the request ends with a tool result that contains this text.
    #[must_use]
    pub fn when_tool(mut self, text: impl Into<String>) -> Self {
        self.when_tool = Some(text.into());
        self
    }

    /// Fires only when the body, as it was sent, contains this text: a model, an offered tool, a
    /// skill in the system prompt.
    #[must_use]
    pub fn when_body(mut self, text: impl Into<String>) -> Self {
        self.when_body = Some(text.into());
        self
    }

    /// Fires only when the request ends with a tool result.
    #[must_use]
    pub fn after_tool(mut self) -> Self {
        self.after_tool = Some(true);
        self
    }

    /// Fires only when the request does not end with a tool result.
    #[must_use]
    pub fn unless_after_tool(mut self) -> Self {
        self.after_tool = Some(false);
        self
    }

    /// Fires only when the request offers no tools.
    #[must_use]
    pub fn without_tools(mut self) -> Self {
        self.with_tools = Some(false);
        self
    }

    /// Fires at most this often; then the next rule that matches is taken.
    #[must_use]
    pub fn times(mut self, times: usize) -> Self {
        self.times = Some(times);
        self
    }

    fn matches(&self, turn: &Turn, body: &str) -> bool {
        let result = turn.tool_result.as_deref();
        self.after_tool.is_none_or(|after| after == result.is_some())
            && self.with_tools.is_none_or(|with| with == turn.has_tools)
            && self.when.as_ref().is_none_or(|text| turn.user_text.contains(text.as_str()))
            && self
                .when_tool
                .as_ref()
                .is_none_or(|text| result.is_some_and(|result| result.contains(text.as_str())))
            && self.when_body.as_ref().is_none_or(|text| body.contains(text.as_str()))
    }
}

/// A script that is being played: it knows how often each rule fired.
#[derive(Debug)]
pub(crate) struct Play {
    script: Script,
    fired: Vec<AtomicUsize>,
}

impl Play {
    pub(crate) fn new(script: Script) -> Self {
        let fired = script.rules.iter().map(|_| AtomicUsize::new(0)).collect();
        Self { script, fired }
    }

    pub(crate) fn choose(&self, turn: &Turn, body: &str) -> &Reply {
        let rules = self.script.rules.iter().zip(&self.fired);
        let mut able = rules.filter(|(rule, _)| rule.matches(turn, body));
        able.find(|(rule, fired)| take(rule.times, fired))
            .map_or(&self.script.default, |(rule, _)| &rule.reply)
    }

    /// The key that requests must carry.
    pub(crate) fn key(&self) -> Option<&str> {
        self.script.key.as_deref()
    }

    pub(crate) fn delay(&self, reply: &Reply) -> Duration {
        reply.delay.unwrap_or(Duration::from_millis(self.script.delay_ms))
    }
}

/// Counts and checks in one step, so that concurrent requests never share the last time.
fn take(times: Option<usize>, fired: &AtomicUsize) -> bool {
    let step = |fired| times.is_none_or(|times| fired < times).then_some(fired + 1);
    fired.fetch_update(Ordering::Relaxed, Ordering::Relaxed, step).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn turn(user: &str, tool: Option<&str>) -> Turn {
        Turn { user_text: user.into(), tool_result: tool.map(Into::into), has_tools: true }
    }

    #[test]
    fn a_used_up_rule_gives_way_to_the_next_one() {
        let play = Play::new(
            Script::new()
                .rule(Rule::new(Reply::close()).when("a").times(2))
                .rule(Rule::new(Reply::text("second")).when("a")),
        );
        let ask = || play.choose(&turn("an a", None), "").clone();
        assert_eq!([ask(), ask()], [Reply::close(), Reply::close()]);
        assert_eq!(ask(), Reply::text("second"));
        assert_eq!(play.choose(&turn("b", None), ""), &Reply::text("ok"));
    }

    #[test]
    fn tool_results_are_no_words_of_the_user() {
        let play = Play::new(
            Script::new()
                .rule(Rule::new(Reply::text("found")).when_tool("xyzzy"))
                .rule(Rule::new(Reply::text("done")).when("word").after_tool())
                .rule(Rule::new(Reply::text("call")).when("word").unless_after_tool())
                .rule(Rule::new(Reply::text("never")).when("xyzzy")),
        );
        let ask = |user, tool| play.choose(&turn(user, tool), "").clone();
        assert_eq!(ask("a word", None), Reply::text("call"));
        assert_eq!(ask("a word", Some("nothing")), Reply::text("done"));
        assert_eq!(ask("", Some("is xyzzy")), Reply::text("found"));
    }

    #[test]
    fn a_rule_may_be_for_requests_without_tools() {
        let play = Play::new(
            Script::new()
                .rule(Rule::new(Reply::text("title")).without_tools())
                .rule(Rule::new(Reply::text("answer")).when("a")),
        );
        let without = Turn { has_tools: false, ..turn("a", None) };
        assert_eq!(play.choose(&without, ""), &Reply::text("title"));
        assert_eq!(play.choose(&turn("a", None), ""), &Reply::text("answer"));
    }

    #[test]
    fn a_script_is_read_from_json() {
        let text = r#"{
            "rules": [{"when": "x", "after_tool": false, "times": 1, "reply": {"close": true}}],
            "default": {"text": "d"}, "delay_ms": 7
        }"#;
        let rule = Rule::new(Reply::close()).when("x").unless_after_tool().times(1);
        let same = Script::new().rule(rule).otherwise(Reply::text("d"));
        let same = same.delay(Duration::from_millis(7));
        assert_eq!(Script::from_json(text).unwrap(), same);
        let error = Script::from_json(r#"{"rule": []}"#).unwrap_err().to_string();
        assert!(error.contains("unknown field `rule`"), "{error}");
    }

    #[test]
    fn a_reply_keeps_its_own_delay() {
        let play = Play::new(Script::new().delay(Duration::from_millis(9)));
        assert_eq!(play.delay(&Reply::close()), Duration::from_millis(9));
        assert_eq!(play.delay(&Reply::close().delay(Duration::ZERO)), Duration::ZERO);
    }
}
