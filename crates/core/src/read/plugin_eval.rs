//! Suites of `claude plugin eval`: a directory whose sub-directories are cases (spec 15.5).

use camino::Utf8Path;

use crate::diagnostic::{Diagnostic, Diagnostics, Level, declare_codes};
use crate::model::{Map, Number, SkillSource, Value, Verdicts};
use crate::reader::Reported;
use crate::source::{Span, Spanned, relative_path};
use crate::syntax::Tree;
use crate::syntax::fields::{Bound, Field, UNKNOWN_FIELD, shorten};

use super::arms::check_skills;
use super::front_matter::FrontMatter;
use super::given_skills::given_skills;
use super::load::Header;
use super::loader::{Loader, NO_TESTS};
use super::name::legal_name;
use super::plugin_eval_case::{CaseSettings, TARGET_SETTINGS};
use super::plugin_eval_files::{CaseFiles, Plugin, find_cases, first_mock};
use super::plugin_eval_grader::{TranslatedGrader, WrittenGrader, read_grader};
use super::skill_file::{skill_in, skills_of_parent};
use super::test::TEST_FIELDS;
use super::translated_test::{AuthorPlaces, TranslatedTest};

declare_codes! {
    INVALID_PLUGIN_EVAL = "invalid-plugin-eval", Blocking, Shape, r#"A case of `claude plugin eval` lacks something that every case needs, or a grader can never pass.

## Example
```md evals/greets/prompt.md
Say hello to Alex.
```
```md evals/greets/graders/writes-no-file.md
---
type: tool_used
tool: Write
max: 0
---
```

## Instead
```md evals/greets/prompt.md
Say hello to Alex.
```
```md evals/greets/graders/writes-no-file.md
---
type: tool_used
tool: Write
min: 0
max: 0
---
```

## Why
Claude Code refuses such a case, or fails it every time: the default of `min` is 1. Reading it differently
here would hide the mistake.
"#;
    PLUGIN_EVAL_LOSS = "plugin-eval-loss", Warning, Shape, r#"Part of a case of `claude plugin eval` has no counterpart in a suite. The test runs without it.

## Example
```md evals/greets/prompt.md
Say hello to Alex.
```
```md evals/greets/graders/kind.md
---
type: llm
---
The answer is friendly.
```
```md evals/greets/graders/once.md
---
type: regex
match: count:1
---
Alex
```

## Instead
```md evals/greets/prompt.md
Say hello to Alex.
```
```md evals/greets/graders/kind.md
---
type: llm
---
The answer is friendly and names Alex once.
```

## Why
A test that is checked by less than its author wrote passes more easily.
"#;
}

/// How often a case runs that does not say it.
const RUNS: u64 = 3;

/// Unknown keys are errors, as they are for Claude Code.
pub(super) fn report_unknown_keys(
    bound: &Bound<'_>,
    tables: &[&'static [Field]],
    out: &mut Diagnostics,
) {
    bound.explain_unknown(out, |key, _| {
        let name = key.scalar_text().unwrap_or("");
        let known = tables.iter().flat_map(|table| table.iter()).map(|field| field.name);
        let message = format!("unknown field `{}`", shorten(name));
        let diagnostic = Diagnostic::new(&UNKNOWN_FIELD, key.span(), message);
        diagnostic.level(Level::Blocking).suggest(name, known, "remove it")
    });
}

/// Whether a test of a suite can have a workspace.
fn has_workspaces() -> bool {
    TEST_FIELDS.iter().any(|field| field.name == "workspace")
}

/// The suite in a directory of cases.
pub(super) fn load(loader: &mut Loader<'_, '_>, directory: &Utf8Path) -> Option<Header> {
    // The format has no variables.
    loader.reader.plain_texts = true;
    let files = loader.reader.world.files;
    let reach = loader.reader.policy.reach(&loader.reader.root);
    let cases = find_cases(files, directory, reach);
    let plugin = Plugin::above(files, directory, &loader.reader.root);
    let mock = first_mock(files, directory, reach);
    let Some(first) = cases.first() else {
        let source = loader.reader.sources.add_file(directory.to_owned(), String::new(), 0);
        let message = "this directory has no cases of `claude plugin eval`";
        let span = Span::new(source, 0, 0);
        return loader.reader.refuse(Diagnostic::new(&NO_TESTS, span, message));
    };
    let mut metadata = Map::new();
    metadata.insert("source", "plugin-eval");
    loader.defaults.metadata = metadata.clone();
    let place = loader.place_of(first);
    let skills = plugin.as_ref().and_then(|plugin| loader.plugin_skills(plugin, directory, place));
    loader.defaults.given_skills = given_skills(&loader.reader, directory, skills.as_deref(), &[]);
    let mut suite = PluginSuite::default();
    for case in &cases {
        loader.within(&case.directory, |loader| loader.read_case(case, &mut suite));
    }
    suite.report_target_settings(loader);
    if let Some(source) = mock.and_then(|mock| loader.read_file(&mock)) {
        let message = "mocks of tools are not read: the agent calls the real ones, or none";
        let place = Span::new(source, 0, 0);
        loader.reader.report(Diagnostic::new(&PLUGIN_EVAL_LOSS, place, message));
    }
    if let Some(plugin) = &plugin {
        loader.report_plugin_parts(plugin, place);
    }
    let name = plugin.map(|plugin| legal_name(plugin.name())).filter(|name| !name.is_empty());
    let name = name.unwrap_or_else(|| "plugin".to_owned());
    // A case fails if any of its graders does.
    let verdicts = Verdicts::new(Number::ONE, Number::ONE).unwrap_or_default();
    Some(Header { metadata, verdicts, skills, ..Header::bare(name, place) })
}

/// What the cases of a suite have in common.
#[derive(Default)]
struct PluginSuite {
    places: AuthorPlaces,
    /// Settings that belong to the target, where they are written.
    of_target: Vec<Spanned<&'static str>>,
}

impl PluginSuite {
    /// Each setting once: most cases have the same.
    fn report_target_settings(&self, loader: &mut Loader<'_, '_>) {
        for key in TARGET_SETTINGS {
            let mut places = self.of_target.iter().filter(|one| one.value == *key);
            let Some(first) = places.next() else { continue };
            let message = match places.count() {
                0 => format!("`{key}` is not read: it is a setting of the target"),
                others => format!(
                    "`{key}` is not read, here and in {others} other case{}: it is a setting of \
                     the target",
                    if others == 1 { "" } else { "s" }
                ),
            };
            let help = "write it in the targets file";
            loader
                .reader
                .report(Diagnostic::new(&PLUGIN_EVAL_LOSS, first.span, message).help(help));
        }
    }
}

/// The files of a case, parsed.
struct ParsedCase {
    case: Option<Tree>,
    prompt: Option<FrontMatter>,
    graders: Vec<(String, FrontMatter)>,
}

impl Loader<'_, '_> {
    /// The beginning of a case.
    fn place_of(&mut self, case: &CaseFiles) -> Span {
        let path = case.case.as_ref().or(case.prompt.as_ref()).unwrap_or(&case.directory);
        let source = self.reader.sources.add_file(path.clone(), String::new(), 0);
        Span::new(source, 0, 0)
    }

    /// The skills of the plugin, which Claude Code gives the agent. `None` if it has none.
    fn plugin_skills(
        &mut self,
        plugin: &Plugin,
        cases: &Utf8Path,
        place: Span,
    ) -> Option<Vec<SkillSource>> {
        let mut sources = Vec::new();
        for directory in plugin.skill_directories() {
            let (files, reach) = (self.reader.world.files, self.reader.reach());
            let is_parent = skill_in(files, &directory, reach).is_none();
            if is_parent && skills_of_parent(files, &directory, reach).is_empty() {
                continue;
            }
            let way = relative_path(cases, &directory);
            let written = if is_parent { format!("{way}/*") } else { way };
            let (revision, span) = (None, Some(place));
            let source = SkillSource { written, directory, is_parent, revision, span };
            check_skills(&mut self.reader, &source, place);
            sources.push(source);
        }
        (!sources.is_empty()).then_some(sources)
    }

    /// What of the plugin the agent does without, at its manifest.
    fn report_plugin_parts(&mut self, plugin: &Plugin, place: Span) {
        let (files, reach) = (self.reader.world.files, self.reader.reach());
        let parts = plugin.other_parts(files, reach);
        if parts.is_empty() {
            return;
        }
        let manifest = plugin.manifest.as_ref().map(|(path, _)| path.clone());
        let source = manifest.and_then(|path| self.read_file(&path));
        let place = source.map_or(place, |source| Span::new(source, 0, 0));
        for part in parts {
            let message =
                format!("`{part}` of the plugin is not read: the agent is given its skills only");
            self.reader.report(Diagnostic::new(&PLUGIN_EVAL_LOSS, place, message));
        }
    }

    fn read_case(&mut self, case: &CaseFiles, suite: &mut PluginSuite) {
        self.position += 1;
        self.reader.out.enter_test(self.position);
        self.reader.patterns.enter_test();
        if let Some(parsed) = self.parse_case(case)
            && let Ok(translated) = self.translate_case(case, &parsed, suite)
        {
            let path = case.case.as_ref().or(case.prompt.as_ref()).unwrap_or(&case.directory);
            self.read_translated(translated, path, &mut suite.places);
        }
        self.reader.out.leave_test();
    }

    /// Every file is read, so that all faults are shown.
    fn parse_case(&mut self, case: &CaseFiles) -> Option<ParsedCase> {
        let all = [case.case.as_ref(), case.prompt.as_ref()];
        let all = all.into_iter().flatten().chain(&case.graders);
        self.imported.extend(all.cloned());
        let settings = case.case.as_ref().map(|path| self.parse_yaml_file(path));
        let prompt = case.prompt.as_ref().map(|path| self.read_front_matter(path));
        let mut graders = Vec::with_capacity(case.graders.len());
        let mut is_complete = true;
        for path in &case.graders {
            match self.read_front_matter(path) {
                // A text without settings is not a grader.
                Some(grader) if grader.has_settings => {
                    graders.push((path.file_stem().unwrap_or_default().to_owned(), grader));
                }
                Some(_) => {}
                None => is_complete = false,
            }
        }
        let case = settings.map_or(Some(None), |found| found.map(|(_, tree)| Some(tree)))?;
        let prompt = prompt.map_or(Some(None), |found| found.map(Some))?;
        is_complete.then_some(ParsedCase { case, prompt, graders })
    }

    fn translate_case(
        &mut self,
        case: &CaseFiles,
        parsed: &ParsedCase,
        suite: &mut PluginSuite,
    ) -> Result<TranslatedTest, Reported> {
        let whole = whole_place(parsed).ok_or(Reported)?;
        let (mut settings, graders) = self.read_settings(parsed)?;
        suite.of_target.append(&mut settings.of_target);
        let mut test = TranslatedTest::new(whole);
        let directory = case.directory.file_name().unwrap_or_default().to_owned();
        let id = settings.name.take().unwrap_or_else(|| Spanned::new(directory, whole));
        test.field("id", id.value, id.span);
        if let Some(criteria) = criteria(&settings, &graders) {
            test.field("criteria", criteria.value, criteria.span);
        }
        if let Some(description) = settings.description.take() {
            test.field("description", description.value, description.span);
        }
        let input = self.translated_input(&settings, whole)?;
        test.field("input", input.value, input.span);
        let runs = settings.runs.take().unwrap_or_else(|| Spanned::new(RUNS, whole));
        test.field("trials", runs.value, runs.span);
        if let Some(tags) = settings.tags.take() {
            test.field("metadata", Map::new().with("tags", tags.value), tags.span);
        }
        if let Some(seconds) = settings.timeout_seconds.take() {
            let execution = Map::new().with("timeout_seconds", seconds.value);
            test.field("execution", execution, seconds.span);
        }
        if let Some(workspace) = self.translated_workspace(&settings) {
            test.field("workspace", workspace, whole);
        }
        test.assertions(graders.into_iter().map(|one| (one.entry, one.span)).collect());
        Ok(test)
    }

    /// The settings and graders, both from all files of the case.
    fn read_settings(
        &mut self,
        parsed: &ParsedCase,
    ) -> Result<(CaseSettings, Vec<TranslatedGrader>), Reported> {
        let mut settings = CaseSettings::default();
        let root = parsed.case.as_ref().map(Tree::root);
        let mut read = root.map_or(Ok(()), |root| settings.read_case(&mut self.reader, root));
        if let Some(prompt) = &parsed.prompt {
            if let Some(tree) = &prompt.settings {
                read = read.and(settings.read_prompt(&mut self.reader, tree.root()));
            }
            if !prompt.body.is_empty() {
                settings.prompt = Some(Spanned::new(prompt.body.clone(), prompt.body_span));
            }
        }
        let own = root.filter(|root| root.is_mapping()).and_then(|root| root.get("graders"));
        let own = own.filter(|graders| graders.is_sequence());
        let own = own.into_iter().flat_map(crate::syntax::Node::items);
        let own = own.map(|node| WrittenGrader { node, stem: None, body: None });
        let in_files = parsed.graders.iter().filter_map(|(stem, grader)| {
            let body = Spanned::new(grader.body.clone(), grader.body_span);
            let node = grader.settings.as_ref()?.root();
            Some(WrittenGrader { node, stem: Some(stem.as_str()), body: Some(body) })
        });
        let written: Vec<WrittenGrader<'_>> = own.chain(in_files).collect();
        if written.is_empty() {
            let place = whole_place(parsed).ok_or(Reported)?;
            let message = "this case has no graders";
            let help = "add a file with `type` to `graders/`";
            self.reader.report(Diagnostic::new(&INVALID_PLUGIN_EVAL, place, message).help(help));
            return Err(Reported);
        }
        let graders = written.iter().map(|grader| read_grader(&mut self.reader, grader));
        let graders = crate::reader::all_read(graders)?;
        read?;
        Ok((settings, graders.into_iter().flatten().collect()))
    }

    /// Earlier messages, the system prompt, and what is asked.
    fn translated_input(
        &mut self,
        settings: &CaseSettings,
        whole: Span,
    ) -> Result<Spanned<Value>, Reported> {
        let prompt = settings.prompt.as_ref().filter(|prompt| !prompt.value.trim().is_empty());
        let Some(prompt) = prompt else {
            let message = "this case has no prompt";
            let help = "write it in `prompt.md`";
            self.reader.report(Diagnostic::new(&INVALID_PLUGIN_EVAL, whole, message).help(help));
            return Err(Reported);
        };
        let mut messages = Vec::new();
        if let Some(system) = &settings.system_prompt {
            messages.push(said("system", &system.value));
        }
        if let Some(history) = &settings.history_file {
            messages.extend(self.history(history)?);
        }
        let span = prompt.span;
        if messages.is_empty() {
            return Ok(Spanned::new(prompt.value.as_str().into(), span));
        }
        messages.push(said("user", &prompt.value));
        Ok(Spanned::new(Value::List(messages), span))
    }

    /// Where the agent works. Every case of `claude plugin eval` has a directory of its own.
    fn translated_workspace(&mut self, settings: &CaseSettings) -> Option<Map> {
        if has_workspaces() {
            let script = settings.scaffold_script.as_ref();
            let script = script.map(|path| vec!["bash".to_owned(), path.value.clone()]);
            let env = settings.env.as_ref().map(|env| env.value.clone());
            return Some(Map::new().with_some("setup", script).with_some("env", env));
        }
        let places = [
            settings.scaffold_script.as_ref().map(|script| ("scaffold_script", script.span)),
            settings.env.as_ref().filter(|env| !env.value.is_empty()).map(|env| ("env", env.span)),
        ];
        for (key, span) in places.into_iter().flatten() {
            let message = format!("`{key}` is not read: tests have no workspace");
            self.reader.report(Diagnostic::new(&PLUGIN_EVAL_LOSS, span, message));
        }
        None
    }
}

/// A message of the input.
pub(super) fn said(role: &str, text: &str) -> Value {
    Map::new().with("role", role).with("content", text).into()
}

/// The first line of `case.yaml`, else of `prompt.md`.
fn whole_place(parsed: &ParsedCase) -> Option<Span> {
    let case = parsed.case.as_ref().map(|tree| tree.root().span().at_start());
    case.or_else(|| parsed.prompt.as_ref().map(|prompt| Span::new(prompt.source, 0, 0)))
}

/// What a good answer does: in the author's words, else what the judges are asked.
fn criteria(settings: &CaseSettings, graders: &[TranslatedGrader]) -> Option<Spanned<String>> {
    let written = settings.expected_outcome.as_ref().or(settings.description.as_ref());
    if let Some(text) = written.filter(|text| !text.value.trim().is_empty()) {
        return Some(text.clone());
    }
    let judged: Vec<&str> = graders.iter().filter_map(|one| one.criteria.as_deref()).collect();
    let first = graders.first()?;
    if judged.is_empty() {
        let names = graders.iter().filter_map(|one| one.entry.get("name")?.as_str());
        let names: Vec<String> = names.map(|name| format!("`{name}`")).collect();
        return Some(Spanned::new(format!("Passes {}", names.join(", ")), first.span));
    }
    Some(Spanned::new(judged.join("\n"), first.span))
}

#[cfg(test)]
mod tests {
    use super::super::load::{Findings, LoadError, LoadRequest, load_suite};
    use crate::model::{JsonStyle, NamedAssertion, Suite, Value};
    use crate::reader::{ReadPolicy, World};
    use crate::source::{MemoryFiles, Variables};

    /// The suite and everything reported, as `path:line: name: message`.
    fn read(files: &MemoryFiles) -> (Option<Suite>, Vec<String>) {
        let world =
            World { files, environment: &Variables::default(), working_directory: "/p".into() };
        let policy = ReadPolicy::default();
        let request = LoadRequest::new(world, &policy, "/p/evals".into(), "/p".into());
        let (suite, findings) = match load_suite(&request, Findings::new()) {
            Ok(sound) => {
                let (suite, findings) = sound.into_parts();
                (Some(suite), findings)
            }
            Err(LoadError::Blocked(findings) | LoadError::NotASuite(findings)) => (None, *findings),
        };
        let (sources, diagnostics, _) = findings.into_parts();
        let shown = diagnostics.iter().map(|one| {
            let path = sources.get(one.span.source).path().strip_prefix("/p/evals").unwrap();
            let line = sources.position(one.span).line;
            format!("{path}:{line}: {}: {}", one.code.name, one.message)
        });
        (suite, shown.collect())
    }

    fn project() -> MemoryFiles {
        MemoryFiles::new().with("/p/.claude-plugin/plugin.json", "{\"name\": \"CSV Tools\"}")
    }

    fn one_case(case: &str) -> (Option<Suite>, Vec<String>) {
        read(&project().with("/p/evals/a/case.yaml", case).with("/p/evals/a/prompt.md", "Hi\n"))
    }

    fn grader(text: &str) -> (Vec<String>, Vec<String>) {
        let text = format!("---\n{text}");
        let files = project()
            .with("/p/evals/a/prompt.md", "Hi")
            .with("/p/evals/a/graders/kept.md", "---\ntype: llm\n---\nIs kind\n")
            .with("/p/evals/a/graders/x.md", text);
        let (suite, found) = read(&files);
        let tests = suite.map(|suite| suite.tests).unwrap_or_default();
        let checks = tests.iter().flat_map(|test| &test.assertions);
        let checks = checks.filter(|named| named.name == "x").map(shown).collect();
        (checks, found)
    }

    fn shown(named: &NamedAssertion) -> String {
        let Value::Map(mut map) = named.to_value() else { panic!("a mapping") };
        for key in ["name", "weight", "required"] {
            map.remove(key);
        }
        Value::from(map).to_json(JsonStyle::Compact)
    }

    #[test]
    fn a_directory_of_cases_is_one_suite() {
        let files = project()
            .with(
                "/p/evals/totals/case.yaml",
                "schema_version: \"1.1\"\nname: monthly-totals\ntags: [smoke]\nruns: 5\n\
                 expected_outcome: Names the best month\nexecution: {timeout_seconds: 60}\n\
                 graders:\n  - {type: regex, name: month, pattern: November, weight: 2}\n",
            )
            .with("/p/evals/totals/prompt.md", "---\nruns: 2\n---\n\nWhich month was best?\n")
            .with("/p/evals/greets/prompt.md", "Say hello to Alex.\n")
            .with("/p/evals/greets/graders/friendly.md", "---\ntype: llm\n---\n\nIs friendly\n");
        let (suite, found) = read(&files);
        assert_eq!(found, [""; 0]);
        let suite = suite.unwrap();
        assert_eq!(suite.name, "csv-tools");
        assert_eq!(suite.verdicts.pass(), 1.0);
        let [greets, totals] = &suite.tests[..] else { panic!("two tests") };
        assert_eq!((greets.id.as_str(), totals.id.as_str()), ("greets", "monthly-totals"));
        assert_eq!((greets.trials, totals.trials), (3, 2));
        assert_eq!(greets.criteria.as_deref(), Some("Is friendly"));
        assert_eq!(totals.criteria.as_deref(), Some("Names the best month"));
        assert_eq!(totals.execution.timeout_seconds, Some(60));
        assert_eq!(totals.tags().collect::<Vec<_>>(), ["smoke"]);
        assert_eq!(totals.input[0].text().as_deref(), Some("Which month was best?"));
        assert_eq!(totals.assertions[0].assertion.common.weight.value(), 2.0);
        assert_eq!(greets.assertions[0].name, "friendly");
    }

    #[test]
    fn graders_become_assertions() {
        for (text, expected) in [
            (
                "type: regex\nflags: gi\nmatch: not_contains\n---\nsorry",
                r#"{"type":"regex","negate":true,"value":"sorry","flags":"i"}"#,
            ),
            (
                "type: regex\nmatch: count:0\npattern: '\\d'\n---\nNo digits",
                r#"{"type":"regex","negate":true,"value":"\\d"}"#,
            ),
            (
                "type: tool_used\ntool: Skill\ninput_match: '\"skill\"\\s*:\\s*\"(?:[\\w-]+:)?map\"'\n---\n",
                r#"{"type":"trigger-judge","negate":false,"skill":"map","should_trigger":true,"detection":"any-call"}"#,
            ),
            (
                "type: tool_used\ntool: Skill\ninput_match: map\nmin: 0\nmax: 0\narm: both\n---\n",
                r#"{"type":"trigger-judge","negate":false,"skill":"map","should_trigger":false,"detection":"any-call"}"#,
            ),
            (
                "type: tool_used\ntool: Bash\nmin: 2\n---\n",
                r#"{"type":"tool-trajectory","negate":false,"mode":"any_order","minimums":{"Bash":2}}"#,
            ),
            (
                "type: tool_used\ntool: Write\nmin: 0\nmax: 0\n---\n",
                r#"{"type":"tool-trajectory","negate":true,"mode":"any_order","expected":[{"tool":"Write"}]}"#,
            ),
            (
                "type: tool_order\nbefore: Read\nafter: {tool: Edit}\n---\n",
                r#"{"type":"tool-trajectory","negate":false,"mode":"in_order","expected":[{"tool":"Read"},{"tool":"Edit"}]}"#,
            ),
        ] {
            let (checks, found) = grader(text);
            assert_eq!(found, [""; 0], "{text}");
            assert_eq!(checks, [expected], "{text}");
        }
        let (checks, _) = grader("type: llm\nfocus: last_message\n---\nGreets by name");
        assert!(checks[0].starts_with(r#"{"type":"llm-judge""#), "{checks:?}");
        assert!(checks[0].contains(r#""outcome":"Greets by name""#), "{checks:?}");
    }

    #[test]
    fn what_has_no_counterpart_is_a_loss_at_its_line() {
        for (text, line, kept) in [
            ("type: baseline\nbaseline_file: good.jsonl\n---\nAs good", 3, 0),
            ("type: regex\nmatch: count:2\n---\nyes", 3, 0),
            ("type: regex\ntarget: trace\n---\nyes", 3, 0),
            ("type: llm\nfocus: files\n---\nyes", 3, 0),
            ("type: tool_used\ntool: Bash\ninput_match: rm\nmin: 0\nmax: 0\n---\n", 4, 0),
            ("type: tool_used\ntool: Bash\ninput_match: cargo\n---\n", 4, 1),
            ("type: tool_used\ntool: Bash\nmax: 3\n---\n", 4, 1),
            ("type: tool_order\nbefore: {tool: Read, input_match: a}\nafter: Edit\n---\n", 3, 1),
            ("type: regex\narm: with-only\n---\nyes", 3, 1),
        ] {
            let (checks, found) = grader(text);
            assert_eq!(checks.len(), kept, "{text}");
            let place = format!("a/graders/x.md:{line}: plugin-eval-loss: grader `x`: ");
            assert!(found.len() == 1 && found[0].starts_with(&place), "{text}: {found:?}");
        }
    }

    #[test]
    fn mistakes_are_errors_at_their_line() {
        for (text, expected) in [
            ("type: regx\n---\nyes", "x.md:2: invalid-option: `regx` is not a type of grader"),
            ("tool: Bash\n---\n", "x.md:2: invalid-plugin-eval: this grader has no `type`"),
            ("type: llm\nprompt: x\n---\nyes", "x.md:3: unknown-field: unknown field `prompt`"),
            (
                "type: tool_used\ntool: Bash\nmax: 0\n---\n",
                "x.md:4: invalid-plugin-eval: no number of calls is at least 1 and at most 0",
            ),
            ("type: llm\n---\n", "x.md:2: invalid-plugin-eval: this grader has no `criteria`"),
            (
                "type: regex\n---\nGood (morning",
                "x.md:2: invalid-regex: the pattern does not compile: unclosed group",
            ),
            (
                "type: llm\nfocus: {source: file, path: a, as: b}\n---\nyes",
                "x.md:3: unknown-field: unknown field `as`",
            ),
            (
                "type: llm\nIs kind",
                "x.md:1: unclosed-front-matter: the settings at the top of this file do not end",
            ),
        ] {
            let (checks, found) = grader(text);
            assert!(checks.is_empty(), "{text}");
            assert!(found.iter().any(|one| *one == format!("a/graders/{expected}")), "{found:?}");
        }
    }

    #[test]
    fn a_case_needs_a_version_a_prompt_and_graders() {
        let (_, found) = one_case("name: a\ngraders: [{type: llm, name: k, criteria: Is kind}]\n");
        assert_eq!(found, ["a/case.yaml:1: invalid-plugin-eval: the case has no `schema_version`"]);
        let (_, found) = one_case("schema_version: \"2.0\"\ngraders: []\n");
        assert!(found[0].starts_with("a/case.yaml:1: unsupported-version: "), "{found:?}");
        let (_, found) = one_case("schema_version: \"1.1\"\nname: a\nrun: 3\n");
        assert_eq!(
            found,
            [
                "a/case.yaml:3: unknown-field: unknown field `run`",
                "a/case.yaml:1: invalid-plugin-eval: this case has no graders",
            ]
        );
        let files = project()
            .with("/p/evals/a/prompt.md", "---\nruns: 1\n---\n")
            .with("/p/evals/a/graders/x.md", "---\ntype: llm\n---\nIs kind");
        let (suite, found) = read(&files);
        assert!(suite.is_none());
        assert_eq!(found, ["a/prompt.md:1: invalid-plugin-eval: this case has no prompt"]);
    }

    #[test]
    fn settings_of_the_target_are_reported_once() {
        let prompt = "---\nmax_turns: 5\nallowed_tools: []\n---\nHi";
        let grader = "---\ntype: llm\n---\nIs kind";
        let files = project()
            .with("/p/evals/a/prompt.md", prompt)
            .with("/p/evals/a/graders/x.md", grader)
            .with("/p/evals/b/prompt.md", prompt)
            .with("/p/evals/b/graders/x.md", grader)
            .with("/p/evals/mocks/tickets/create.md", "created");
        let (suite, found) = read(&files);
        assert_eq!(suite.unwrap().tests.len(), 2);
        assert_eq!(
            found,
            [
                "a/prompt.md:2: plugin-eval-loss: `max_turns` is not read, here and in 1 other case: \
                 it is a setting of the target",
                "mocks/tickets/create.md:1: plugin-eval-loss: mocks of tools are not read: the agent \
                 calls the real ones, or none",
            ]
        );
    }

    /// Both depend on what the tables of assertions and tests have.
    #[test]
    fn what_needs_a_workspace_is_read_where_there_are_workspaces() {
        let (checks, found) = grader("type: file_exists\npath: out/*.csv\nexists: false\n---\n");
        if crate::assertion::kind_named("files").is_some() {
            assert!(checks[0].contains(r#""negate":true,"created":["out/*.csv"]"#), "{checks:?}");
        } else {
            let loss = "a/graders/x.md:3: plugin-eval-loss: grader `x`: files are not checked";
            assert_eq!((checks.len(), found), (0, vec![loss.to_owned()]));
        }
        let (suite, found) = one_case(
            "schema_version: \"1.1\"\ncontext: {scaffold_script: make.sh}\n\
             graders: [{type: llm, name: k, criteria: Is kind}]\n",
        );
        let has_setup = suite.unwrap().tests[0].workspace.as_ref().map(|one| one.setup.is_some());
        if super::has_workspaces() {
            assert_eq!(has_setup, Some(true), "{found:?}");
        } else {
            assert_eq!(has_setup, None);
            assert!(found[0].starts_with("a/case.yaml:2: plugin-eval-loss: "), "{found:?}");
        }
    }

    #[test]
    fn two_cases_of_one_name_are_reported_where_they_are_written() {
        let case =
            "schema_version: \"1.1\"\nname: same\ngraders: [{type: llm, name: k, criteria: c}]\n";
        let files = project()
            .with("/p/evals/a/case.yaml", case)
            .with("/p/evals/a/prompt.md", "Hi")
            .with("/p/evals/b/case.yaml", case)
            .with("/p/evals/b/prompt.md", "Hi");
        let (_, found) = read(&files);
        assert!(found[0].starts_with("b/case.yaml:2: duplicate-id: "), "{found:?}");
    }

    #[test]
    fn history_and_system_prompt_come_before_the_prompt() {
        let case = "schema_version: \"1.1\"\ncontext: {history_file: before.jsonl}\n\
                    execution: {append_system_prompt: Be brief}\n\
                    graders: [{type: llm, name: k, criteria: Is kind}]\n";
        let history = "{\"type\":\"user\",\"message\":{\"role\":\"user\",\"content\":\"Hello\"}}\n\
            {\"type\":\"assistant\",\"message\":{\"role\":\"assistant\",\"content\":\
            [{\"type\":\"text\",\"text\":\"Hi!\"},{\"type\":\"tool_use\",\"name\":\"Read\"}]}}\n";
        let files = project()
            .with("/p/evals/a/case.yaml", case)
            .with("/p/evals/a/prompt.md", "{{ kept }} as it is")
            .with("/p/evals/a/before.jsonl", history);
        let (suite, found) = read(&files);
        assert_eq!(
            found,
            ["a/case.yaml:2: plugin-eval-loss: the tool calls in this file are left out"]
        );
        let input = &suite.unwrap().tests[0].input;
        let said: Vec<String> = input
            .iter()
            .map(|message| format!("{}: {}", message.role.word(), message.text().unwrap()))
            .collect();
        let expected =
            ["system: Be brief", "user: Hello", "assistant: Hi!", "user: {{ kept }} as it is"];
        assert_eq!(said, expected);
    }
}
