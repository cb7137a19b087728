//! The options that every target takes (spec 9.1).

use evalrig_core::diagnostic::Diagnostic;
use evalrig_core::evidence::FilesMode;
use evalrig_core::model::{Map, Number, OnTimeout, SkillSource, Votes};
use evalrig_core::read::read_skills;
use evalrig_core::reader::{Options, ReadResult, Template};
use evalrig_core::syntax::fields::{Field, INVALID_OPTION, MISSING_OPTION, Shape};

use super::confinement::{
    ConfinementOptions, HOME, IMAGE, LOGIN, NETWORK, SANDBOX, read_confinement,
};
use super::option;
use super::value::Setting;

/// Of requests and tokens.
const MOST_PER_MINUTE: u64 = 1_000_000_000;

const AMOUNT: Shape = Shape::Number { min: 0.0, max: f64::MAX };

/// Prices in USD per million tokens.
pub static PRICE: &[Field] = &[
    Field::new("input", AMOUNT, "USD per million input tokens").required(),
    Field::new("output", AMOUNT, "USD per million output tokens").required(),
    Field::new("cached", AMOUNT, "USD per million cached input tokens; default: `input`"),
];

/// How often a service may be called.
pub static RATE: &[Field] = &[
    Field::new(
        "requests_per_minute",
        Shape::Integer { min: 1, max: MOST_PER_MINUTE },
        "requests per minute, of all processes that use the same service and key",
    ),
    Field::new(
        "tokens_per_minute",
        Shape::Integer { min: 1, max: MOST_PER_MINUTE },
        "input and output tokens per minute, likewise",
    ),
];

/// What holds when the target is a judge.
pub static JUDGE: &[Field] = &[Field::new(
    "votes",
    Shape::Integer { min: 1, max: Votes::MOST },
    "how often it reads an answer, an odd number",
)];

/// Options of every target. `Ref("provider")` is one of the names in `PROVIDERS`.
pub static COMMON: &[Field] = &[
    Field::new(
        "name",
        Shape::NonEmptyText,
        "name by which suites refer to it; suites that name no target use `default`",
    )
    .required(),
    Field::new(
        "provider",
        Shape::Ref("provider"),
        "what answers; either this or `use_target` is required",
    ),
    Field::new("judge_target", Shape::NonEmptyText, "target that judges the answers of this one")
        .also(&["grader_target"]),
    Field::new("use_target", Shape::NonEmptyText, "another target of which this is an alias"),
    Field::new(
        "timeout_seconds",
        Shape::Integer { min: 1, max: 3600 },
        "timeout of one attempt; default 300",
    ),
    Field::new(
        "retries",
        Shape::Integer { min: 0, max: 10 },
        "retries after a transport fault; default 2 over HTTP, else 0",
    )
    .also(&["max_retries"]),
    Field::new(
        "max_concurrency",
        Shape::Integer { min: 1, max: u64::MAX },
        "concurrent cases and judge calls on this target; default: no limit",
    )
    .also(&["workers"]),
    Field::new(
        "config",
        Shape::Map,
        "parameters added to the request, such as `temperature` or `max_tokens`",
    ),
    Field::new(
        "price",
        Shape::Fields(PRICE),
        "price in USD per million tokens; overrides the cost that the provider reports",
    ),
    Field::new(
        "rate",
        Shape::Fields(RATE),
        "how often the service may be called, by all processes of this machine together",
    ),
    HOME,
    LOGIN,
    SANDBOX,
    NETWORK,
    IMAGE,
    Field::new(
        "skills",
        Shape::List(&Shape::NonEmptyText),
        "directories of skills that the agent is given, in place of the suite's",
    ),
    Field::new(
        "files",
        Shape::Choice(FilesMode::WORDS),
        "how attached files are passed on; default `inline`, for agent programs `paths`",
    ),
    Field::new(
        "votes",
        Shape::Integer { min: 1, max: Votes::MOST },
        "as a judge: how often it reads an answer, an odd number, unless the assertion says it; default 1",
    ),
    Field::new("judge", Shape::Fields(JUDGE), "`{votes: 3}` is the same as `votes: 3`"),
    Field::new("allow_empty", Shape::Boolean, "grade an empty answer; default false"),
    Field::new(
        "on_timeout",
        Shape::Choice(OnTimeout::WORDS),
        "whether a timeout is an error (default) or a failure",
    ),
    Field::new(
        "stop_on_trigger",
        Shape::Boolean,
        "stop the agent once every trigger-judge is decided and nothing else is graded; default false",
    ),
];

/// USD per million tokens.
#[derive(Debug, Clone, PartialEq)]
pub struct Price {
    pub input: Setting<Number>,
    pub output: Setting<Number>,
    pub cached: Option<Setting<Number>>,
}

/// `rate` as written; at least one is.
#[derive(Debug, Clone, PartialEq)]
pub struct RateOptions {
    pub requests_per_minute: Option<Setting<u64>>,
    pub tokens_per_minute: Option<Setting<u64>>,
}

/// Options as written; the provider or the run has the defaults.
#[derive(Debug, Clone, PartialEq)]
pub struct Common {
    pub judge_target: Option<Template>,
    pub timeout_seconds: Option<Setting<u64>>,
    pub retries: Option<Setting<u64>>,
    pub max_concurrency: Option<Setting<u64>>,
    /// Strings in it keep their references.
    pub config: Map,
    pub price: Option<Price>,
    pub rate: Option<RateOptions>,
    pub confinement: ConfinementOptions,
    pub skills: Option<Vec<SkillSource>>,
    pub files: Option<Setting<FilesMode>>,
    pub votes: Option<Setting<u64>>,
    pub allow_empty: Option<Setting<bool>>,
    pub on_timeout: Option<Setting<OnTimeout>>,
    pub stop_on_trigger: Option<Setting<bool>>,
}

pub(crate) fn read_common(options: &mut Options<'_, '_, '_>) -> ReadResult<Common> {
    let judge_target = option::template(options, "judge_target");
    let timeout_seconds = option::integer(options, "timeout_seconds", 1, 3600);
    let retries = option::integer(options, "retries", 0, 10);
    let max_concurrency = option::integer(options, "max_concurrency", 1, u64::MAX);
    let config = options.map("config");
    let price = options.nested("price", PRICE, read_price);
    let rate = options.nested("rate", RATE, read_rate);
    let confinement = read_confinement(options);
    let skills = options.get("skills");
    let skills = skills.and_then(|entry| read_skills(options.reader, &entry));
    let files = option::choice(options, "files");
    let votes = read_votes(options);
    let allow_empty = option::boolean(options, "allow_empty");
    let on_timeout = option::choice(options, "on_timeout");
    let stop_on_trigger = option::boolean(options, "stop_on_trigger");
    Ok(Common {
        judge_target: judge_target?,
        timeout_seconds: timeout_seconds?,
        retries: retries?,
        max_concurrency: max_concurrency?,
        config: config?.unwrap_or_default(),
        price: price?,
        rate: rate?,
        confinement: confinement?,
        skills,
        files: files?,
        votes: votes?,
        allow_empty: allow_empty?,
        on_timeout: on_timeout?,
        stop_on_trigger: stop_on_trigger?,
    })
}

/// `votes`, or `votes` of `judge`.
fn read_votes(options: &mut Options<'_, '_, '_>) -> ReadResult<Option<Setting<u64>>> {
    let own = read_odd(options);
    let nested = options.nested("judge", JUDGE, read_odd);
    let (own, nested) = (own?, nested?.flatten());
    match (options.get("votes"), options.get("judge")) {
        (Some(votes), Some(judge)) if own.is_some() && nested.is_some() => {
            Err(options.conflict(&votes, &judge, "keep one of them"))
        }
        _ => Ok(own.or(nested)),
    }
}

fn read_odd(options: &mut Options<'_, '_, '_>) -> ReadResult<Option<Setting<u64>>> {
    let number = option::integer(options, "votes", 1, Votes::MOST)?;
    if let (Some(Setting::Given(even)), Some(entry)) = (&number, options.get("votes"))
        && Votes::new(*even).is_none()
    {
        let message = format!("`votes` is {even}, an even number, which can have no majority");
        let span = entry.value.span();
        return Err(options.report(Diagnostic::new(&INVALID_OPTION, span, message)));
    }
    Ok(number)
}

fn read_price(options: &mut Options<'_, '_, '_>) -> ReadResult<Price> {
    // With only one of the two prices, the reported cost would be too low.
    let input = option::required(options, "input", option::amount);
    let output = option::required(options, "output", option::amount);
    let cached = option::amount(options, "cached");
    Ok(Price { input: input?, output: output?, cached: cached? })
}

fn read_rate(options: &mut Options<'_, '_, '_>) -> ReadResult<RateOptions> {
    let most = MOST_PER_MINUTE;
    let requests = option::integer(options, "requests_per_minute", 1, most);
    let tokens = option::integer(options, "tokens_per_minute", 1, most);
    let rate = RateOptions { requests_per_minute: requests?, tokens_per_minute: tokens? };
    if rate.requests_per_minute.is_none() && rate.tokens_per_minute.is_none() {
        let message = "`rate` needs `requests_per_minute` or `tokens_per_minute`";
        return Err(options.report(Diagnostic::new(&MISSING_OPTION, options.head(), message)));
    }
    Ok(rate)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::target::testing::read;

    fn common(options: &str) -> Common {
        let text = format!("targets: [{{name: a, provider: cli, command: x, {options}}}]\n");
        let read = read(&text);
        assert_eq!(read.messages(), Vec::<String>::new());
        read.targets.unwrap().get("a").unwrap().common.clone()
    }

    fn faults(options: &str) -> Vec<String> {
        let text = format!("targets: [{{name: a, provider: cli, command: x, {options}}}]\n");
        read(&text).messages()
    }

    #[test]
    fn aliases_of_options_are_accepted() {
        let read = common("grader_target: a, max_retries: 3, workers: 4");
        assert_eq!(read.judge_target.unwrap().raw(), "a");
        assert_eq!(read.retries, Some(Setting::Given(3)));
        assert_eq!(read.max_concurrency, Some(Setting::Given(4)));
    }

    #[test]
    fn options_become_values() {
        let read = common(
            "timeout_seconds: 3600, files: none, config: {temperature: 0.20, user: \"${{ U }}\"}, \
             price: {input: 2.5, output: 10}",
        );
        assert_eq!(read.timeout_seconds, Some(Setting::Given(3600)));
        assert_eq!(read.files, Some(Setting::Given(FilesMode::None)));
        assert_eq!(read.config.get("user").unwrap().as_str(), Some("${{ U }}"));
        let price = read.price.unwrap();
        assert!(matches!(&price.input, Setting::Given(input) if input.text() == "2.5"));
        assert_eq!(price.cached, None);
    }

    #[test]
    fn values_out_of_range_are_reported() {
        for (options, message) in [
            ("timeout_seconds: 0", "`timeout_seconds` takes an integer from 1 to 3600, found 0"),
            ("retries: 11", "`retries` takes an integer from 0 to 10, found 11"),
            ("workers: 0", "`max_concurrency` takes an integer of at least 1, found 0"),
            ("config: 1", "`config` takes a mapping, found a number"),
            ("files: all", "`files` cannot be `all`"),
            ("on_timeout: pass", "`on_timeout` cannot be `pass`"),
            ("allow_empty: 1", "`allow_empty` takes a boolean, found a number"),
            ("price: 1", "`price` takes a mapping, found a number"),
            ("votes: 2", "`votes` is 2, an even number, which can have no majority"),
            ("judge: {votes: 0}", "`votes` takes an integer from 1 to 99, found 0"),
            ("judge: big", "`judge` takes a mapping, found a string"),
            ("votes: 3, judge: {votes: 3}", "`votes` and `judge` exclude each other"),
            ("rate: {}", "`rate` needs `requests_per_minute` or `tokens_per_minute`"),
            ("rate: 1", "`rate` takes a mapping, found a number"),
            (
                "rate: {requests_per_minute: 0}",
                "`requests_per_minute` takes an integer from 1 to 1000000000, found 0",
            ),
            ("price: {input: 1}", "`price` needs `output`"),
            ("price: {input: -1, output: 1}", "`input` takes a number of at least 0, found -1"),
            (
                "timeout_seconds: 1.5",
                "`timeout_seconds` takes an integer from 1 to 3600, found a number",
            ),
            (
                "retries: 1, max_retries: 1",
                "`retries` and `max_retries` are two spellings of one field",
            ),
            ("files:", "`files` has no value"),
        ] {
            assert_eq!(faults(options), [message], "{options}");
        }
    }
}
