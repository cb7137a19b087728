
using namespace System.Management.Automation
using namespace System.Management.Automation.Language

Register-ArgumentCompleter -Native -CommandName 'evalrig' -ScriptBlock {
    param($wordToComplete, $commandAst, $cursorPosition)

    $commandElements = $commandAst.CommandElements
    $command = @(
        'evalrig'
        for ($i = 1; $i -lt $commandElements.Count; $i++) {
            $element = $commandElements[$i]
            if ($element -isnot [StringConstantExpressionAst] -or
                $element.StringConstantType -ne [StringConstantType]::BareWord -or
                $element.Value.StartsWith('-') -or
                $element.Value -eq $wordToComplete) {
                break
        }
        $element.Value
    }) -join ';'

    $completions = @(switch ($command) {
        'evalrig' {
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to use colours')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Say less: no report when all is well')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Say less: no report when all is well')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Say more: notes too')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Say more: notes too')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('-V', '-V ', [CompletionResultType]::ParameterName, 'Print version')
            [CompletionResult]::new('--version', '--version', [CompletionResultType]::ParameterName, 'Print version')
            [CompletionResult]::new('init', 'init', [CompletionResultType]::ParameterValue, 'Write a small suite and a mock target that answers it')
            [CompletionResult]::new('validate', 'validate', [CompletionResultType]::ParameterValue, 'Read suites, imports, targets and evals.json, and report every mistake at its line')
            [CompletionResult]::new('explain', 'explain', [CompletionResultType]::ParameterValue, 'Print the doc of a diagnostic, an assertion type or a provider; without a name, the index')
            [CompletionResult]::new('schema', 'schema', [CompletionResultType]::ParameterValue, 'Print a JSON Schema for editors and other tools')
            [CompletionResult]::new('list', 'list', [CompletionResultType]::ParameterValue, 'List suites and their tests')
            [CompletionResult]::new('show', 'show', [CompletionResultType]::ParameterValue, 'Print a suite, or one test, as it was understood: imports, old spellings, `input_files` and variables resolved')
            [CompletionResult]::new('convert', 'convert', [CompletionResultType]::ParameterValue, 'Turn evals.json, an eval set, a list of triggers or `.co/evals` records into an EVAL.yaml')
            [CompletionResult]::new('transpile', 'transpile', [CompletionResultType]::ParameterValue, 'Write a suite as the evals.json and eval sets of skill-creator')
            [CompletionResult]::new('run', 'run', [CompletionResultType]::ParameterValue, 'Run suites against their targets, grade the answers, keep and report what came of it')
            [CompletionResult]::new('grade', 'grade', [CompletionResultType]::ParameterValue, 'Grade a stored run again, with the suite''s assertions of today and without calling the target')
            [CompletionResult]::new('compare', 'compare', [CompletionResultType]::ParameterValue, 'Say what changed between two runs, and whether it is more than chance')
            [CompletionResult]::new('report', 'report', [CompletionResultType]::ParameterValue, 'Show a stored run again')
            [CompletionResult]::new('log', 'log', [CompletionResultType]::ParameterValue, 'Look into the `.co/evals` store, where every run is kept, and add to it')
            [CompletionResult]::new('completions', 'completions', [CompletionResultType]::ParameterValue, 'Print a completion script for a shell')
            [CompletionResult]::new('man', 'man', [CompletionResultType]::ParameterValue, 'Write man pages into a directory')
            [CompletionResult]::new('help', 'help', [CompletionResultType]::ParameterValue, 'Print this message or the help of the given subcommand(s)')
            break
        }
        'evalrig;init' {
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to use colours')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Say less: no report when all is well')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Say less: no report when all is well')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Say more: notes too')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Say more: notes too')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            break
        }
        'evalrig;validate' {
            [CompletionResult]::new('--format', '--format', [CompletionResultType]::ParameterName, 'How to show what was found')
            [CompletionResult]::new('--targets', '--targets', [CompletionResultType]::ParameterName, 'The targets file to check target names against')
            [CompletionResult]::new('--root', '--root', [CompletionResultType]::ParameterName, 'Repository root: where a leading `/` starts and what no path may leave [default: the nearest directory with `.git`]')
            [CompletionResult]::new('--env-file', '--env-file', [CompletionResultType]::ParameterName, 'Take variables from this file instead of searching for `.env` files')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to use colours')
            [CompletionResult]::new('--strict', '--strict', [CompletionResultType]::ParameterName, 'Treat warnings and conformance errors as errors that stop everything')
            [CompletionResult]::new('--fix', '--fix', [CompletionResultType]::ParameterName, 'Make safe fixes in place; comments and formatting are kept')
            [CompletionResult]::new('--diff', '--diff', [CompletionResultType]::ParameterName, 'With --fix: only show the changes')
            [CompletionResult]::new('--allow-outside-root', '--allow-outside-root', [CompletionResultType]::ParameterName, 'Let paths lead out of the repository root')
            [CompletionResult]::new('--no-env-file', '--no-env-file', [CompletionResultType]::ParameterName, 'Read no `.env` file')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Say less: no report when all is well')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Say less: no report when all is well')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Say more: notes too')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Say more: notes too')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            break
        }
        'evalrig;explain' {
            [CompletionResult]::new('--format', '--format', [CompletionResultType]::ParameterName, 'How to print it')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to use colours')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Say less: no report when all is well')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Say less: no report when all is well')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Say more: notes too')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Say more: notes too')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            break
        }
        'evalrig;schema' {
            [CompletionResult]::new('--draft', '--draft', [CompletionResultType]::ParameterName, 'Draft of JSON Schema')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to use colours')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Say less: no report when all is well')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Say less: no report when all is well')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Say more: notes too')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Say more: notes too')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            break
        }
        'evalrig;list' {
            [CompletionResult]::new('--format', '--format', [CompletionResultType]::ParameterName, 'How to print it')
            [CompletionResult]::new('--root', '--root', [CompletionResultType]::ParameterName, 'Repository root: where a leading `/` starts and what no path may leave [default: the nearest directory with `.git`]')
            [CompletionResult]::new('--env-file', '--env-file', [CompletionResultType]::ParameterName, 'Take variables from this file instead of searching for `.env` files')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to use colours')
            [CompletionResult]::new('--allow-outside-root', '--allow-outside-root', [CompletionResultType]::ParameterName, 'Let paths lead out of the repository root')
            [CompletionResult]::new('--no-env-file', '--no-env-file', [CompletionResultType]::ParameterName, 'Read no `.env` file')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Say less: no report when all is well')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Say less: no report when all is well')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Say more: notes too')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Say more: notes too')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            break
        }
        'evalrig;show' {
            [CompletionResult]::new('--format', '--format', [CompletionResultType]::ParameterName, 'How to print it')
            [CompletionResult]::new('--root', '--root', [CompletionResultType]::ParameterName, 'Repository root: where a leading `/` starts and what no path may leave [default: the nearest directory with `.git`]')
            [CompletionResult]::new('--env-file', '--env-file', [CompletionResultType]::ParameterName, 'Take variables from this file instead of searching for `.env` files')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to use colours')
            [CompletionResult]::new('--allow-outside-root', '--allow-outside-root', [CompletionResultType]::ParameterName, 'Let paths lead out of the repository root')
            [CompletionResult]::new('--no-env-file', '--no-env-file', [CompletionResultType]::ParameterName, 'Read no `.env` file')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Say less: no report when all is well')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Say less: no report when all is well')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Say more: notes too')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Say more: notes too')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            break
        }
        'evalrig;convert' {
            [CompletionResult]::new('-o', '-o', [CompletionResultType]::ParameterName, 'Where to write the suite; `-` is standard output')
            [CompletionResult]::new('--output', '--output', [CompletionResultType]::ParameterName, 'Where to write the suite; `-` is standard output')
            [CompletionResult]::new('--root', '--root', [CompletionResultType]::ParameterName, 'Repository root: where a leading `/` starts and what no path may leave [default: the nearest directory with `.git`]')
            [CompletionResult]::new('--env-file', '--env-file', [CompletionResultType]::ParameterName, 'Take variables from this file instead of searching for `.env` files')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to use colours')
            [CompletionResult]::new('--stdout', '--stdout', [CompletionResultType]::ParameterName, 'Print the suite; its paths are written for a file in the current directory')
            [CompletionResult]::new('--force', '--force', [CompletionResultType]::ParameterName, 'Replace a file that exists')
            [CompletionResult]::new('--allow-outside-root', '--allow-outside-root', [CompletionResultType]::ParameterName, 'Let paths lead out of the repository root')
            [CompletionResult]::new('--no-env-file', '--no-env-file', [CompletionResultType]::ParameterName, 'Read no `.env` file')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Say less: no report when all is well')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Say less: no report when all is well')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Say more: notes too')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Say more: notes too')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            break
        }
        'evalrig;transpile' {
            [CompletionResult]::new('--out', '--out', [CompletionResultType]::ParameterName, 'Where to write [default: the suite''s directory]')
            [CompletionResult]::new('--format', '--format', [CompletionResultType]::ParameterName, 'Which files to make')
            [CompletionResult]::new('--for', '--for', [CompletionResultType]::ParameterName, 'Who will read them; skill-creator calls the assertions `expectations`')
            [CompletionResult]::new('--layout', '--layout', [CompletionResultType]::ParameterName, 'Files side by side, or one directory per skill')
            [CompletionResult]::new('--no-skill', '--no-skill', [CompletionResultType]::ParameterName, 'Where tests without a trigger go: to the skill with most tests, or to a file of their own')
            [CompletionResult]::new('--loss-report', '--loss-report', [CompletionResultType]::ParameterName, 'Write what is lost to this file, as JSON')
            [CompletionResult]::new('--root', '--root', [CompletionResultType]::ParameterName, 'Repository root: where a leading `/` starts and what no path may leave [default: the nearest directory with `.git`]')
            [CompletionResult]::new('--env-file', '--env-file', [CompletionResultType]::ParameterName, 'Take variables from this file instead of searching for `.env` files')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to use colours')
            [CompletionResult]::new('--stdout', '--stdout', [CompletionResultType]::ParameterName, 'Print instead of writing; only when there is exactly one file')
            [CompletionResult]::new('--no-criteria', '--no-criteria', [CompletionResultType]::ParameterName, 'Leave `criteria` out of the assertions')
            [CompletionResult]::new('--inline-prompts', '--inline-prompts', [CompletionResultType]::ParameterName, 'Write the text of prompt files in place of their paths')
            [CompletionResult]::new('--deny-loss', '--deny-loss', [CompletionResultType]::ParameterName, 'Write nothing, and exit with 1, when something would be lost')
            [CompletionResult]::new('--force', '--force', [CompletionResultType]::ParameterName, 'Replace files that evalrig did not write')
            [CompletionResult]::new('--check', '--check', [CompletionResultType]::ParameterName, 'Write nothing; exit with 1 when a file differs from what would be written')
            [CompletionResult]::new('--allow-outside-root', '--allow-outside-root', [CompletionResultType]::ParameterName, 'Let paths lead out of the repository root')
            [CompletionResult]::new('--no-env-file', '--no-env-file', [CompletionResultType]::ParameterName, 'Read no `.env` file')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Say less: no report when all is well')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Say less: no report when all is well')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Say more: notes too')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Say more: notes too')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            break
        }
        'evalrig;run' {
            [CompletionResult]::new('--target', '--target', [CompletionResultType]::ParameterName, 'Run against this target, whatever the suite says; repeatable')
            [CompletionResult]::new('--filter', '--filter', [CompletionResultType]::ParameterName, 'Only tests whose id fits; `!GLOB` excludes; repeatable')
            [CompletionResult]::new('--tag', '--tag', [CompletionResultType]::ParameterName, 'Only tests with this tag; repeatable')
            [CompletionResult]::new('--failed', '--failed', [CompletionResultType]::ParameterName, 'Only what did not pass in a results file [default: the latest]')
            [CompletionResult]::new('--trials', '--trials', [CompletionResultType]::ParameterName, 'How often each test is run, whatever the suite says')
            [CompletionResult]::new('--sample', '--sample', [CompletionResultType]::ParameterName, 'Only so many tests, chosen by the seed')
            [CompletionResult]::new('--seed', '--seed', [CompletionResultType]::ParameterName, 'Seed of every choice that is left to chance')
            [CompletionResult]::new('--shard', '--shard', [CompletionResultType]::ParameterName, 'Only part I of N; the parts together are the whole')
            [CompletionResult]::new('--resume', '--resume', [CompletionResultType]::ParameterName, 'Go on with an interrupted run [default: the latest]')
            [CompletionResult]::new('--targets', '--targets', [CompletionResultType]::ParameterName, 'The targets file [default: the nearest `.evalrig/targets.yaml`]')
            [CompletionResult]::new('--workers', '--workers', [CompletionResultType]::ParameterName, 'Cases at once [default: cores for processes, four times that for HTTP]')
            [CompletionResult]::new('--timeout', '--timeout', [CompletionResultType]::ParameterName, 'Seconds that one attempt may take')
            [CompletionResult]::new('--retries', '--retries', [CompletionResultType]::ParameterName, 'Further attempts after a transport failure')
            [CompletionResult]::new('--max-errors', '--max-errors', [CompletionResultType]::ParameterName, 'Stop when so many cases could not be measured')
            [CompletionResult]::new('--budget-usd', '--budget-usd', [CompletionResultType]::ParameterName, 'Stop when targets and judges have cost this much')
            [CompletionResult]::new('--judge', '--judge', [CompletionResultType]::ParameterName, 'The target that judges, where an assertion names none')
            [CompletionResult]::new('--pass', '--pass', [CompletionResultType]::ParameterName, 'Score from which a case passes [default: the suite''s, else 0.8]')
            [CompletionResult]::new('--borderline', '--borderline', [CompletionResultType]::ParameterName, 'Score from which a case is borderline [default: the suite''s, else 0.6]')
            [CompletionResult]::new('--pass-trials', '--pass-trials', [CompletionResultType]::ParameterName, 'Share of a test''s trials that must pass')
            [CompletionResult]::new('--output', '--output', [CompletionResultType]::ParameterName, 'Where the rows go [default: `.evalrig/results` in the repository root]')
            [CompletionResult]::new('--store', '--store', [CompletionResultType]::ParameterName, 'Where runs are recorded [default: `.co/evals` in the repository root]')
            [CompletionResult]::new('--keep-runs', '--keep-runs', [CompletionResultType]::ParameterName, 'Delete all but the newest N run files of each record that is written')
            [CompletionResult]::new('--baseline', '--baseline', [CompletionResultType]::ParameterName, 'Compare with an earlier run: a results file, a directory with results, `latest` or `latest~N`')
            [CompletionResult]::new('--margin', '--margin', [CompletionResultType]::ParameterName, 'Differences of the rate, or of the mean score, below this do not matter')
            [CompletionResult]::new('--measure', '--measure', [CompletionResultType]::ParameterName, 'Compare how many trials pass, or what they score')
            [CompletionResult]::new('--report', '--report', [CompletionResultType]::ParameterName, 'What to report, and where to; repeatable [default: terminal]')
            [CompletionResult]::new('--root', '--root', [CompletionResultType]::ParameterName, 'Repository root: where a leading `/` starts and what no path may leave [default: the nearest directory with `.git`]')
            [CompletionResult]::new('--env-file', '--env-file', [CompletionResultType]::ParameterName, 'Take variables from this file instead of searching for `.env` files')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to use colours')
            [CompletionResult]::new('--dry-run', '--dry-run', [CompletionResultType]::ParameterName, 'Call nothing; print how many calls there would be and what they may cost')
            [CompletionResult]::new('--skip-judges', '--skip-judges', [CompletionResultType]::ParameterName, 'Leave out what a model has to judge')
            [CompletionResult]::new('--judge-criteria', '--judge-criteria', [CompletionResultType]::ParameterName, 'Judge `criteria` too where a test has assertions')
            [CompletionResult]::new('--allow-borderline', '--allow-borderline', [CompletionResultType]::ParameterName, 'Exit with 0 when tests are borderline')
            [CompletionResult]::new('--messages', '--messages', [CompletionResultType]::ParameterName, 'Keep the messages of every case, so that tool calls can be graded again')
            [CompletionResult]::new('--no-record', '--no-record', [CompletionResultType]::ParameterName, 'Record nothing in `.co/evals`')
            [CompletionResult]::new('--gate', '--gate', [CompletionResultType]::ParameterName, 'Let only the comparison decide: exit with 0 when better or equivalent, with 1 when worse, with 3 when nothing is settled')
            [CompletionResult]::new('--allow-outside-root', '--allow-outside-root', [CompletionResultType]::ParameterName, 'Let paths lead out of the repository root')
            [CompletionResult]::new('--no-env-file', '--no-env-file', [CompletionResultType]::ParameterName, 'Read no `.env` file')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Say less: no report when all is well')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Say less: no report when all is well')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Say more: notes too')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Say more: notes too')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'evalrig;grade' {
            [CompletionResult]::new('--suite', '--suite', [CompletionResultType]::ParameterName, 'The suite whose assertions grade [default: where the rows say they come from]')
            [CompletionResult]::new('--targets', '--targets', [CompletionResultType]::ParameterName, 'The targets file, for judges [default: the nearest `.evalrig/targets.yaml`]')
            [CompletionResult]::new('--workers', '--workers', [CompletionResultType]::ParameterName, 'Cases at once')
            [CompletionResult]::new('--judge', '--judge', [CompletionResultType]::ParameterName, 'The target that judges, where an assertion names none')
            [CompletionResult]::new('--pass', '--pass', [CompletionResultType]::ParameterName, 'Score from which a case passes [default: the suite''s, else 0.8]')
            [CompletionResult]::new('--borderline', '--borderline', [CompletionResultType]::ParameterName, 'Score from which a case is borderline [default: the suite''s, else 0.6]')
            [CompletionResult]::new('--pass-trials', '--pass-trials', [CompletionResultType]::ParameterName, 'Share of a test''s trials that must pass')
            [CompletionResult]::new('--output', '--output', [CompletionResultType]::ParameterName, 'Where the rows go [default: `.evalrig/results` in the repository root]')
            [CompletionResult]::new('--report', '--report', [CompletionResultType]::ParameterName, 'What to report, and where to; repeatable [default: terminal]')
            [CompletionResult]::new('--root', '--root', [CompletionResultType]::ParameterName, 'Repository root: where a leading `/` starts and what no path may leave [default: the nearest directory with `.git`]')
            [CompletionResult]::new('--env-file', '--env-file', [CompletionResultType]::ParameterName, 'Take variables from this file instead of searching for `.env` files')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to use colours')
            [CompletionResult]::new('--skip-judges', '--skip-judges', [CompletionResultType]::ParameterName, 'Leave out what a model has to judge')
            [CompletionResult]::new('--judge-criteria', '--judge-criteria', [CompletionResultType]::ParameterName, 'Judge `criteria` too where a test has assertions')
            [CompletionResult]::new('--allow-borderline', '--allow-borderline', [CompletionResultType]::ParameterName, 'Exit with 0 when tests are borderline')
            [CompletionResult]::new('--messages', '--messages', [CompletionResultType]::ParameterName, 'Keep the messages of every case, so that tool calls can be graded again')
            [CompletionResult]::new('--allow-outside-root', '--allow-outside-root', [CompletionResultType]::ParameterName, 'Let paths lead out of the repository root')
            [CompletionResult]::new('--no-env-file', '--no-env-file', [CompletionResultType]::ParameterName, 'Read no `.env` file')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Say less: no report when all is well')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Say less: no report when all is well')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Say more: notes too')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Say more: notes too')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'evalrig;compare' {
            [CompletionResult]::new('--format', '--format', [CompletionResultType]::ParameterName, 'How to print it')
            [CompletionResult]::new('--margin', '--margin', [CompletionResultType]::ParameterName, 'Differences of the rate, or of the mean score, below this do not matter')
            [CompletionResult]::new('--measure', '--measure', [CompletionResultType]::ParameterName, 'Compare how many trials pass, or what they score')
            [CompletionResult]::new('--seed', '--seed', [CompletionResultType]::ParameterName, 'Seed of what is left to chance [default: made from the runs]')
            [CompletionResult]::new('--selftest', '--selftest', [CompletionResultType]::ParameterName, 'Try the gate on the trials of one run: how often it raises a false alarm, and how small a drop it would catch')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to use colours')
            [CompletionResult]::new('--gate', '--gate', [CompletionResultType]::ParameterName, 'Let only the verdict decide: exit with 1 when worse, with 3 when nothing is settled')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Say less: no report when all is well')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Say less: no report when all is well')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Say more: notes too')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Say more: notes too')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'evalrig;report' {
            [CompletionResult]::new('--pass-trials', '--pass-trials', [CompletionResultType]::ParameterName, 'Share of a test''s trials that must pass')
            [CompletionResult]::new('--baseline', '--baseline', [CompletionResultType]::ParameterName, 'Compare with an earlier run: a results file, a directory with results, `latest` or `latest~N`')
            [CompletionResult]::new('--margin', '--margin', [CompletionResultType]::ParameterName, 'Differences of the rate, or of the mean score, below this do not matter')
            [CompletionResult]::new('--measure', '--measure', [CompletionResultType]::ParameterName, 'Compare how many trials pass, or what they score')
            [CompletionResult]::new('--report', '--report', [CompletionResultType]::ParameterName, 'What to report, and where to; repeatable [default: terminal]')
            [CompletionResult]::new('--root', '--root', [CompletionResultType]::ParameterName, 'Repository root: where the paths of the rows start [default: the nearest directory with `.git`]')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to use colours')
            [CompletionResult]::new('--allow-borderline', '--allow-borderline', [CompletionResultType]::ParameterName, 'Exit with 0 when tests are borderline')
            [CompletionResult]::new('--gate', '--gate', [CompletionResultType]::ParameterName, 'Let only the comparison decide: exit with 0 when better or equivalent, with 1 when worse, with 3 when nothing is settled')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Say less: no report when all is well')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Say less: no report when all is well')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Say more: notes too')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Say more: notes too')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'evalrig;log' {
            [CompletionResult]::new('--store', '--store', [CompletionResultType]::ParameterName, 'The store [default: `.co/evals` in the repository root]')
            [CompletionResult]::new('--format', '--format', [CompletionResultType]::ParameterName, 'How to print it')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to use colours')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Say less: no report when all is well')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Say less: no report when all is well')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Say more: notes too')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Say more: notes too')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('list', 'list', [CompletionResultType]::ParameterValue, 'List the records')
            [CompletionResult]::new('show', 'show', [CompletionResultType]::ParameterValue, 'Show a record: the newest run of every turn, older ones beneath')
            [CompletionResult]::new('diff', 'diff', [CompletionResultType]::ParameterValue, 'Compare two runs of a record; exit with 1 when something passed before and does not now')
            [CompletionResult]::new('messages', 'messages', [CompletionResultType]::ParameterValue, 'Print the messages of a run as a JSON array')
            [CompletionResult]::new('expect', 'expect', [CompletionResultType]::ParameterValue, 'Write down what is expected of a turn')
            [CompletionResult]::new('evaluate', 'evaluate', [CompletionResultType]::ParameterValue, 'Write down whether the newest answer of a turn is good')
            [CompletionResult]::new('record', 'record', [CompletionResultType]::ParameterValue, 'Record a session from standard input: chat messages, or what Claude Code or Codex wrote')
            [CompletionResult]::new('prune', 'prune', [CompletionResultType]::ParameterValue, 'Delete what is old')
            [CompletionResult]::new('verify', 'verify', [CompletionResultType]::ParameterValue, 'Check the store: unreadable files, runs that no summary mentions, numbers that do not fit')
            [CompletionResult]::new('help', 'help', [CompletionResultType]::ParameterValue, 'Print this message or the help of the given subcommand(s)')
            break
        }
        'evalrig;log;list' {
            [CompletionResult]::new('--store', '--store', [CompletionResultType]::ParameterName, 'The store [default: `.co/evals` in the repository root]')
            [CompletionResult]::new('--format', '--format', [CompletionResultType]::ParameterName, 'How to print it')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to use colours')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Say less: no report when all is well')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Say less: no report when all is well')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Say more: notes too')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Say more: notes too')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            break
        }
        'evalrig;log;show' {
            [CompletionResult]::new('--store', '--store', [CompletionResultType]::ParameterName, 'The store [default: `.co/evals` in the repository root]')
            [CompletionResult]::new('--format', '--format', [CompletionResultType]::ParameterName, 'How to print it')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to use colours')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Say less: no report when all is well')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Say less: no report when all is well')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Say more: notes too')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Say more: notes too')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            break
        }
        'evalrig;log;diff' {
            [CompletionResult]::new('--runs', '--runs', [CompletionResultType]::ParameterName, 'Which runs, before and now [default: the last two]')
            [CompletionResult]::new('--store', '--store', [CompletionResultType]::ParameterName, 'The store [default: `.co/evals` in the repository root]')
            [CompletionResult]::new('--format', '--format', [CompletionResultType]::ParameterName, 'How to print it')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to use colours')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Say less: no report when all is well')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Say less: no report when all is well')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Say more: notes too')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Say more: notes too')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            break
        }
        'evalrig;log;messages' {
            [CompletionResult]::new('--run', '--run', [CompletionResultType]::ParameterName, 'Which run [default: the newest]')
            [CompletionResult]::new('--store', '--store', [CompletionResultType]::ParameterName, 'The store [default: `.co/evals` in the repository root]')
            [CompletionResult]::new('--format', '--format', [CompletionResultType]::ParameterName, 'How to print it')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to use colours')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Say less: no report when all is well')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Say less: no report when all is well')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Say more: notes too')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Say more: notes too')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            break
        }
        'evalrig;log;expect' {
            [CompletionResult]::new('--turn', '--turn', [CompletionResultType]::ParameterName, 'Which turn, from 1 [default: the last]')
            [CompletionResult]::new('--store', '--store', [CompletionResultType]::ParameterName, 'The store [default: `.co/evals` in the repository root]')
            [CompletionResult]::new('--format', '--format', [CompletionResultType]::ParameterName, 'How to print it')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to use colours')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Say less: no report when all is well')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Say less: no report when all is well')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Say more: notes too')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Say more: notes too')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            break
        }
        'evalrig;log;evaluate' {
            [CompletionResult]::new('--turn', '--turn', [CompletionResultType]::ParameterName, 'Which turn, from 1 [default: the last]')
            [CompletionResult]::new('--store', '--store', [CompletionResultType]::ParameterName, 'The store [default: `.co/evals` in the repository root]')
            [CompletionResult]::new('--format', '--format', [CompletionResultType]::ParameterName, 'How to print it')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to use colours')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Say less: no report when all is well')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Say less: no report when all is well')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Say more: notes too')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Say more: notes too')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            break
        }
        'evalrig;log;record' {
            [CompletionResult]::new('--input', '--input', [CompletionResultType]::ParameterName, 'What was asked, for sessions that do not say it themselves')
            [CompletionResult]::new('--from', '--from', [CompletionResultType]::ParameterName, 'Who wrote the session [default: by its look]')
            [CompletionResult]::new('--model', '--model', [CompletionResultType]::ParameterName, 'The model, where the session does not name it')
            [CompletionResult]::new('--expected', '--expected', [CompletionResultType]::ParameterName, 'What is expected of the last answer')
            [CompletionResult]::new('--store', '--store', [CompletionResultType]::ParameterName, 'The store [default: `.co/evals` in the repository root]')
            [CompletionResult]::new('--format', '--format', [CompletionResultType]::ParameterName, 'How to print it')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to use colours')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Say less: no report when all is well')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Say less: no report when all is well')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Say more: notes too')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Say more: notes too')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'evalrig;log;prune' {
            [CompletionResult]::new('--keep-runs', '--keep-runs', [CompletionResultType]::ParameterName, 'Run files to keep of each record')
            [CompletionResult]::new('--keep-history', '--keep-history', [CompletionResultType]::ParameterName, 'Older runs to keep in each turn''s history')
            [CompletionResult]::new('--keep-records', '--keep-records', [CompletionResultType]::ParameterName, 'Records to keep, the newest')
            [CompletionResult]::new('--store', '--store', [CompletionResultType]::ParameterName, 'The store [default: `.co/evals` in the repository root]')
            [CompletionResult]::new('--format', '--format', [CompletionResultType]::ParameterName, 'How to print it')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to use colours')
            [CompletionResult]::new('--dry-run', '--dry-run', [CompletionResultType]::ParameterName, 'Only say what would go')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Say less: no report when all is well')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Say less: no report when all is well')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Say more: notes too')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Say more: notes too')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            break
        }
        'evalrig;log;verify' {
            [CompletionResult]::new('--store', '--store', [CompletionResultType]::ParameterName, 'The store [default: `.co/evals` in the repository root]')
            [CompletionResult]::new('--format', '--format', [CompletionResultType]::ParameterName, 'How to print it')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to use colours')
            [CompletionResult]::new('--repair', '--repair', [CompletionResultType]::ParameterName, 'Mend what can be mended; no run is thrown away')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Say less: no report when all is well')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Say less: no report when all is well')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Say more: notes too')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Say more: notes too')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            break
        }
        'evalrig;log;help' {
            [CompletionResult]::new('list', 'list', [CompletionResultType]::ParameterValue, 'List the records')
            [CompletionResult]::new('show', 'show', [CompletionResultType]::ParameterValue, 'Show a record: the newest run of every turn, older ones beneath')
            [CompletionResult]::new('diff', 'diff', [CompletionResultType]::ParameterValue, 'Compare two runs of a record; exit with 1 when something passed before and does not now')
            [CompletionResult]::new('messages', 'messages', [CompletionResultType]::ParameterValue, 'Print the messages of a run as a JSON array')
            [CompletionResult]::new('expect', 'expect', [CompletionResultType]::ParameterValue, 'Write down what is expected of a turn')
            [CompletionResult]::new('evaluate', 'evaluate', [CompletionResultType]::ParameterValue, 'Write down whether the newest answer of a turn is good')
            [CompletionResult]::new('record', 'record', [CompletionResultType]::ParameterValue, 'Record a session from standard input: chat messages, or what Claude Code or Codex wrote')
            [CompletionResult]::new('prune', 'prune', [CompletionResultType]::ParameterValue, 'Delete what is old')
            [CompletionResult]::new('verify', 'verify', [CompletionResultType]::ParameterValue, 'Check the store: unreadable files, runs that no summary mentions, numbers that do not fit')
            [CompletionResult]::new('help', 'help', [CompletionResultType]::ParameterValue, 'Print this message or the help of the given subcommand(s)')
            break
        }
        'evalrig;log;help;list' {
            break
        }
        'evalrig;log;help;show' {
            break
        }
        'evalrig;log;help;diff' {
            break
        }
        'evalrig;log;help;messages' {
            break
        }
        'evalrig;log;help;expect' {
            break
        }
        'evalrig;log;help;evaluate' {
            break
        }
        'evalrig;log;help;record' {
            break
        }
        'evalrig;log;help;prune' {
            break
        }
        'evalrig;log;help;verify' {
            break
        }
        'evalrig;log;help;help' {
            break
        }
        'evalrig;completions' {
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to use colours')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Say less: no report when all is well')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Say less: no report when all is well')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Say more: notes too')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Say more: notes too')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            break
        }
        'evalrig;man' {
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to use colours')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Say less: no report when all is well')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Say less: no report when all is well')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Say more: notes too')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Say more: notes too')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            break
        }
        'evalrig;help' {
            [CompletionResult]::new('init', 'init', [CompletionResultType]::ParameterValue, 'Write a small suite and a mock target that answers it')
            [CompletionResult]::new('validate', 'validate', [CompletionResultType]::ParameterValue, 'Read suites, imports, targets and evals.json, and report every mistake at its line')
            [CompletionResult]::new('explain', 'explain', [CompletionResultType]::ParameterValue, 'Print the doc of a diagnostic, an assertion type or a provider; without a name, the index')
            [CompletionResult]::new('schema', 'schema', [CompletionResultType]::ParameterValue, 'Print a JSON Schema for editors and other tools')
            [CompletionResult]::new('list', 'list', [CompletionResultType]::ParameterValue, 'List suites and their tests')
            [CompletionResult]::new('show', 'show', [CompletionResultType]::ParameterValue, 'Print a suite, or one test, as it was understood: imports, old spellings, `input_files` and variables resolved')
            [CompletionResult]::new('convert', 'convert', [CompletionResultType]::ParameterValue, 'Turn evals.json, an eval set, a list of triggers or `.co/evals` records into an EVAL.yaml')
            [CompletionResult]::new('transpile', 'transpile', [CompletionResultType]::ParameterValue, 'Write a suite as the evals.json and eval sets of skill-creator')
            [CompletionResult]::new('run', 'run', [CompletionResultType]::ParameterValue, 'Run suites against their targets, grade the answers, keep and report what came of it')
            [CompletionResult]::new('grade', 'grade', [CompletionResultType]::ParameterValue, 'Grade a stored run again, with the suite''s assertions of today and without calling the target')
            [CompletionResult]::new('compare', 'compare', [CompletionResultType]::ParameterValue, 'Say what changed between two runs, and whether it is more than chance')
            [CompletionResult]::new('report', 'report', [CompletionResultType]::ParameterValue, 'Show a stored run again')
            [CompletionResult]::new('log', 'log', [CompletionResultType]::ParameterValue, 'Look into the `.co/evals` store, where every run is kept, and add to it')
            [CompletionResult]::new('completions', 'completions', [CompletionResultType]::ParameterValue, 'Print a completion script for a shell')
            [CompletionResult]::new('man', 'man', [CompletionResultType]::ParameterValue, 'Write man pages into a directory')
            [CompletionResult]::new('help', 'help', [CompletionResultType]::ParameterValue, 'Print this message or the help of the given subcommand(s)')
            break
        }
        'evalrig;help;init' {
            break
        }
        'evalrig;help;validate' {
            break
        }
        'evalrig;help;explain' {
            break
        }
        'evalrig;help;schema' {
            break
        }
        'evalrig;help;list' {
            break
        }
        'evalrig;help;show' {
            break
        }
        'evalrig;help;convert' {
            break
        }
        'evalrig;help;transpile' {
            break
        }
        'evalrig;help;run' {
            break
        }
        'evalrig;help;grade' {
            break
        }
        'evalrig;help;compare' {
            break
        }
        'evalrig;help;report' {
            break
        }
        'evalrig;help;log' {
            [CompletionResult]::new('list', 'list', [CompletionResultType]::ParameterValue, 'List the records')
            [CompletionResult]::new('show', 'show', [CompletionResultType]::ParameterValue, 'Show a record: the newest run of every turn, older ones beneath')
            [CompletionResult]::new('diff', 'diff', [CompletionResultType]::ParameterValue, 'Compare two runs of a record; exit with 1 when something passed before and does not now')
            [CompletionResult]::new('messages', 'messages', [CompletionResultType]::ParameterValue, 'Print the messages of a run as a JSON array')
            [CompletionResult]::new('expect', 'expect', [CompletionResultType]::ParameterValue, 'Write down what is expected of a turn')
            [CompletionResult]::new('evaluate', 'evaluate', [CompletionResultType]::ParameterValue, 'Write down whether the newest answer of a turn is good')
            [CompletionResult]::new('record', 'record', [CompletionResultType]::ParameterValue, 'Record a session from standard input: chat messages, or what Claude Code or Codex wrote')
            [CompletionResult]::new('prune', 'prune', [CompletionResultType]::ParameterValue, 'Delete what is old')
            [CompletionResult]::new('verify', 'verify', [CompletionResultType]::ParameterValue, 'Check the store: unreadable files, runs that no summary mentions, numbers that do not fit')
            break
        }
        'evalrig;help;log;list' {
            break
        }
        'evalrig;help;log;show' {
            break
        }
        'evalrig;help;log;diff' {
            break
        }
        'evalrig;help;log;messages' {
            break
        }
        'evalrig;help;log;expect' {
            break
        }
        'evalrig;help;log;evaluate' {
            break
        }
        'evalrig;help;log;record' {
            break
        }
        'evalrig;help;log;prune' {
            break
        }
        'evalrig;help;log;verify' {
            break
        }
        'evalrig;help;completions' {
            break
        }
        'evalrig;help;man' {
            break
        }
        'evalrig;help;help' {
            break
        }
    })

    $completions.Where{ $_.CompletionText -like "$wordToComplete*" } |
        Sort-Object -Property ListItemText
}
