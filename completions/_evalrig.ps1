
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
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to color the output')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Print less; no report when nothing is wrong')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Print less; no report when nothing is wrong')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Print more, including notes')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Print more, including notes')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('-V', '-V ', [CompletionResultType]::ParameterName, 'Print version')
            [CompletionResult]::new('--version', '--version', [CompletionResultType]::ParameterName, 'Print version')
            [CompletionResult]::new('init', 'init', [CompletionResultType]::ParameterValue, 'Write the files needed to run suites: a suite, a targets file, a .gitignore, a CI workflow')
            [CompletionResult]::new('validate', 'validate', [CompletionResultType]::ParameterValue, 'Check suites, imports, targets files and evals.json; report every mistake with its line')
            [CompletionResult]::new('run', 'run', [CompletionResultType]::ParameterValue, 'Run suites against their targets, grade the answers, save and report the results')
            [CompletionResult]::new('report', 'report', [CompletionResultType]::ParameterValue, 'Report a stored run again, in any format')
            [CompletionResult]::new('compare', 'compare', [CompletionResultType]::ParameterValue, 'Compare two runs: what changed, and whether it is more than chance')
            [CompletionResult]::new('view', 'view', [CompletionResultType]::ParameterValue, 'Show runs, comparisons and records in a browser, served on this machine only')
            [CompletionResult]::new('grade', 'grade', [CompletionResultType]::ParameterValue, 'Grade a stored run again with the suite''s current assertions, without calling the target')
            [CompletionResult]::new('judge', 'judge', [CompletionResultType]::ParameterValue, 'Measure how reliable judges are')
            [CompletionResult]::new('mutate', 'mutate', [CompletionResultType]::ParameterValue, 'Damage stored answers that passed, and list the checks that do not notice')
            [CompletionResult]::new('stats', 'stats', [CompletionResultType]::ParameterValue, 'Show what causes variance in stored runs, and the effect of more trials, tests or votes')
            [CompletionResult]::new('log', 'log', [CompletionResultType]::ParameterValue, 'Inspect and edit the `.co/evals` store, which records every run')
            [CompletionResult]::new('explain', 'explain', [CompletionResultType]::ParameterValue, 'Explain a diagnostic, an assertion type, a provider or a format of `convert`; without a name, list all of them')
            [CompletionResult]::new('list', 'list', [CompletionResultType]::ParameterValue, 'List suites and their tests')
            [CompletionResult]::new('show', 'show', [CompletionResultType]::ParameterValue, 'Print a suite, or one test, as evalrig understands it: imports, old spellings, `input_files` and variables are resolved')
            [CompletionResult]::new('convert', 'convert', [CompletionResultType]::ParameterValue, 'Convert a suite of another tool, an evals.json, cases of `claude plugin eval` or `.co/evals` records to an EVAL.yaml, or an iteration of skill-creator to results')
            [CompletionResult]::new('transpile', 'transpile', [CompletionResultType]::ParameterValue, 'Write a suite as the evals.json and eval sets of skill-creator')
            [CompletionResult]::new('export', 'export', [CompletionResultType]::ParameterValue, 'Write results in the format of another tool')
            [CompletionResult]::new('config', 'config', [CompletionResultType]::ParameterValue, 'Show the settings of `run` and `validate`, and where each comes from')
            [CompletionResult]::new('worker', 'worker', [CompletionResultType]::ParameterValue, 'Run cases of `run --queue` on this machine until stopped')
            [CompletionResult]::new('queue', 'queue', [CompletionResultType]::ParameterValue, 'List, cancel and remove the runs on a server')
            [CompletionResult]::new('lsp', 'lsp', [CompletionResultType]::ParameterValue, 'Run the language server (LSP): diagnostics, fixes, completion and more for editors')
            [CompletionResult]::new('mcp', 'mcp', [CompletionResultType]::ParameterValue, 'Run the MCP server: tools for coding agents, on standard input and output')
            [CompletionResult]::new('schema', 'schema', [CompletionResultType]::ParameterValue, 'Print a JSON Schema for editors and other tools')
            [CompletionResult]::new('completions', 'completions', [CompletionResultType]::ParameterValue, 'Print a completion script for a shell')
            [CompletionResult]::new('man', 'man', [CompletionResultType]::ParameterValue, 'Write man pages to a directory')
            [CompletionResult]::new('help', 'help', [CompletionResultType]::ParameterValue, 'Print this message or the help of the given subcommand(s)')
            break
        }
        'evalrig;init' {
            [CompletionResult]::new('--target', '--target', [CompletionResultType]::ParameterName, 'Agent to test [default: an installed agent if there are suites or a SKILL.md, else a mock]')
            [CompletionResult]::new('--example', '--example', [CompletionResultType]::ParameterName, 'Write a complete example that runs offline')
            [CompletionResult]::new('--ci', '--ci', [CompletionResultType]::ParameterName, 'Write a workflow that runs the suites in CI')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to color the output')
            [CompletionResult]::new('--run', '--run', [CompletionResultType]::ParameterName, 'Run the directory''s suites afterwards')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Print less; no report when nothing is wrong')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Print less; no report when nothing is wrong')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Print more, including notes')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Print more, including notes')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'evalrig;validate' {
            [CompletionResult]::new('--format', '--format', [CompletionResultType]::ParameterName, 'Output format')
            [CompletionResult]::new('--targets', '--targets', [CompletionResultType]::ParameterName, 'Check target names against this targets file [default: the nearest `.evalrig/targets.yaml`]')
            [CompletionResult]::new('--root', '--root', [CompletionResultType]::ParameterName, 'Repository root: paths with a leading `/` start there, and no path may leave it [default: the nearest directory with `.git`]')
            [CompletionResult]::new('--env-file', '--env-file', [CompletionResultType]::ParameterName, 'Read variables from this file instead of searching for `.env` files')
            [CompletionResult]::new('--profile', '--profile', [CompletionResultType]::ParameterName, 'Use the settings of this profile of `evalrig.toml` [default: `$EVALRIG_PROFILE`]')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to color the output')
            [CompletionResult]::new('--fix', '--fix', [CompletionResultType]::ParameterName, 'Apply safe fixes in place; comments and formatting are kept')
            [CompletionResult]::new('--diff', '--diff', [CompletionResultType]::ParameterName, 'With --fix: print the changes instead of writing them')
            [CompletionResult]::new('--strict', '--strict', [CompletionResultType]::ParameterName, 'Treat warnings and conformance errors as blocking errors')
            [CompletionResult]::new('--allow-outside-root', '--allow-outside-root', [CompletionResultType]::ParameterName, 'Allow paths outside the repository root')
            [CompletionResult]::new('--no-env-file', '--no-env-file', [CompletionResultType]::ParameterName, 'Do not read `.env` files')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Print less; no report when nothing is wrong')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Print less; no report when nothing is wrong')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Print more, including notes')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Print more, including notes')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            break
        }
        'evalrig;run' {
            [CompletionResult]::new('-t', '-t', [CompletionResultType]::ParameterName, 'Run against this target instead of the suite''s; repeatable')
            [CompletionResult]::new('--target', '--target', [CompletionResultType]::ParameterName, 'Run against this target instead of the suite''s; repeatable')
            [CompletionResult]::new('--arm', '--arm', [CompletionResultType]::ParameterName, 'Run this arm of the suites, such as `with` or `without` their skills; repeatable')
            [CompletionResult]::new('--baseline-arm', '--baseline-arm', [CompletionResultType]::ParameterName, 'Compare the other arms with this one [default: `without`, else the first]')
            [CompletionResult]::new('--reuse-arm', '--reuse-arm', [CompletionResultType]::ParameterName, 'Reuse rows of unchanged arms from this run: a results file, a directory, `latest` or `latest~N`')
            [CompletionResult]::new('--sandbox', '--sandbox', [CompletionResultType]::ParameterName, 'Confine the processes of every target: none, home, bwrap, podman or docker')
            [CompletionResult]::new('--keep-workspaces', '--keep-workspaces', [CompletionResultType]::ParameterName, 'Keep the workspaces of cases: never, failed (and errored) or always [default: `keep` of the workspace, else failed]')
            [CompletionResult]::new('-f', '-f', [CompletionResultType]::ParameterName, 'Run tests whose id matches; `!GLOB` excludes; repeatable')
            [CompletionResult]::new('--filter', '--filter', [CompletionResultType]::ParameterName, 'Run tests whose id matches; `!GLOB` excludes; repeatable')
            [CompletionResult]::new('--tag', '--tag', [CompletionResultType]::ParameterName, 'Run tests with this tag; repeatable')
            [CompletionResult]::new('-n', '-n', [CompletionResultType]::ParameterName, 'Run each test N times, instead of as often as the suite says')
            [CompletionResult]::new('--trials', '--trials', [CompletionResultType]::ParameterName, 'Run each test N times, instead of as often as the suite says')
            [CompletionResult]::new('--rounds', '--rounds', [CompletionResultType]::ParameterName, 'Run in rounds of one trial per test, at most R (2 to 20), and stop as soon as --gate or the arms have a verdict [default: the number of trials]')
            [CompletionResult]::new('-j', '-j', [CompletionResultType]::ParameterName, 'Run N cases at once [default: one per core; four per core for HTTP targets]')
            [CompletionResult]::new('--workers', '--workers', [CompletionResultType]::ParameterName, 'Run N cases at once [default: one per core; four per core for HTTP targets]')
            [CompletionResult]::new('--failed', '--failed', [CompletionResultType]::ParameterName, 'Run only the tests that did not pass in an earlier run, with its suites and options [default: the latest]')
            [CompletionResult]::new('--resume', '--resume', [CompletionResultType]::ParameterName, 'Continue an interrupted run, with its suites and options [default: the latest]')
            [CompletionResult]::new('--cache', '--cache', [CompletionResultType]::ParameterName, 'Reuse answers of earlier runs if nothing they depend on has changed, and save new ones; `gate` also with --gate')
            [CompletionResult]::new('--report', '--report', [CompletionResultType]::ParameterName, 'Report format, and the file to write it to; repeatable [default: terminal]')
            [CompletionResult]::new('-o', '-o', [CompletionResultType]::ParameterName, 'The results file to write [default: a new one in `.evalrig/results` of the repository root]')
            [CompletionResult]::new('--output', '--output', [CompletionResultType]::ParameterName, 'The results file to write [default: a new one in `.evalrig/results` of the repository root]')
            [CompletionResult]::new('--store', '--store', [CompletionResultType]::ParameterName, 'The store for records [default: `.co/evals` in the repository root]')
            [CompletionResult]::new('--keep-runs', '--keep-runs', [CompletionResultType]::ParameterName, 'Keep the newest N run files of each record that is written; delete the others')
            [CompletionResult]::new('--sample', '--sample', [CompletionResultType]::ParameterName, 'Run a random sample of N tests; see --seed')
            [CompletionResult]::new('--shard', '--shard', [CompletionResultType]::ParameterName, 'Run shard I of N; together the shards run every test once')
            [CompletionResult]::new('--seed', '--seed', [CompletionResultType]::ParameterName, 'Random seed')
            [CompletionResult]::new('--timeout', '--timeout', [CompletionResultType]::ParameterName, 'Timeout of one attempt')
            [CompletionResult]::new('--retries', '--retries', [CompletionResultType]::ParameterName, 'Retries after a transport failure')
            [CompletionResult]::new('--max-errors', '--max-errors', [CompletionResultType]::ParameterName, 'Stop when N cases could not be measured')
            [CompletionResult]::new('--fail-fast', '--fail-fast', [CompletionResultType]::ParameterName, 'Start no new case after the first failure, or after N; --resume runs the rest')
            [CompletionResult]::new('--budget-usd', '--budget-usd', [CompletionResultType]::ParameterName, 'Stop when targets and judges have cost this much')
            [CompletionResult]::new('--queue', '--queue', [CompletionResultType]::ParameterName, 'Run the cases on `evalrig worker` processes, through these NATS servers')
            [CompletionResult]::new('--attach', '--attach', [CompletionResultType]::ParameterName, 'Follow a run on the server, with its suites and options. Ctrl-C stops following; the run continues')
            [CompletionResult]::new('--replicas', '--replicas', [CompletionResultType]::ParameterName, 'Replicas of each stream and bucket, for a cluster')
            [CompletionResult]::new('--lease', '--lease', [CompletionResultType]::ParameterName, 'Time without a heartbeat after which a worker''s cases go to another')
            [CompletionResult]::new('--queue-patience', '--queue-patience', [CompletionResultType]::ParameterName, 'Longest time that a case waits for a worker that can run it')
            [CompletionResult]::new('--queue-include', '--queue-include', [CompletionResultType]::ParameterName, 'Also send this file or directory to workers, such as modules that a script imports; repeatable')
            [CompletionResult]::new('--queue-creds', '--queue-creds', [CompletionResultType]::ParameterName, 'NATS credentials file [default: NATS_USER and NATS_PASSWORD]')
            [CompletionResult]::new('--queue-ca', '--queue-ca', [CompletionResultType]::ParameterName, 'PEM file with CA certificates for the server [default: the system''s]')
            [CompletionResult]::new('--judge', '--judge', [CompletionResultType]::ParameterName, 'Judge target, unless an assertion names another')
            [CompletionResult]::new('--pass', '--pass', [CompletionResultType]::ParameterName, 'Lowest score that passes [default: the suite''s, else 0.8]')
            [CompletionResult]::new('--borderline', '--borderline', [CompletionResultType]::ParameterName, 'Lowest score that is borderline [default: the suite''s, else 0.6]')
            [CompletionResult]::new('--pass-trials', '--pass-trials', [CompletionResultType]::ParameterName, 'Share of a test''s trials that must pass')
            [CompletionResult]::new('--baseline', '--baseline', [CompletionResultType]::ParameterName, 'Compare with earlier runs: a results file, a pattern, a directory with results, `latest`, `latest~N` or `latest~A..B`; repeatable')
            [CompletionResult]::new('--baseline-runs', '--baseline-runs', [CompletionResultType]::ParameterName, 'Number of complete runs that `--baseline latest` selects [default: 4]')
            [CompletionResult]::new('--margin', '--margin', [CompletionResultType]::ParameterName, 'Ignore differences in pass rate, or mean score, that are smaller than this')
            [CompletionResult]::new('--measure', '--measure', [CompletionResultType]::ParameterName, 'Compare pass rates or mean scores')
            [CompletionResult]::new('--targets', '--targets', [CompletionResultType]::ParameterName, 'The targets file [default: the nearest `.evalrig/targets.yaml`]')
            [CompletionResult]::new('--root', '--root', [CompletionResultType]::ParameterName, 'Repository root: paths with a leading `/` start there, and no path may leave it [default: the nearest directory with `.git`]')
            [CompletionResult]::new('--env-file', '--env-file', [CompletionResultType]::ParameterName, 'Read variables from this file instead of searching for `.env` files')
            [CompletionResult]::new('--profile', '--profile', [CompletionResultType]::ParameterName, 'Use the settings of this profile of `evalrig.toml` [default: `$EVALRIG_PROFILE`]')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to color the output')
            [CompletionResult]::new('--futility', '--futility', [CompletionResultType]::ParameterName, 'With --rounds: also stop when a verdict is unlikely')
            [CompletionResult]::new('--dry-run', '--dry-run', [CompletionResultType]::ParameterName, 'Print the number of calls and their estimated cost without making them')
            [CompletionResult]::new('--watch', '--watch', [CompletionResultType]::ParameterName, 'Rerun affected tests when files change, until Ctrl-C')
            [CompletionResult]::new('--view', '--view', [CompletionResultType]::ParameterName, 'Show the run live in a browser; on a terminal, the page is served until Ctrl-C')
            [CompletionResult]::new('--no-open', '--no-open', [CompletionResultType]::ParameterName, 'With --view: do not open a browser')
            [CompletionResult]::new('--force', '--force', [CompletionResultType]::ParameterName, 'Overwrite the results of another run in the --output file')
            [CompletionResult]::new('--no-messages', '--no-messages', [CompletionResultType]::ParameterName, 'Leave the agent''s messages out of the results; `grade` then cannot check tool calls')
            [CompletionResult]::new('--messages', '--messages', [CompletionResultType]::ParameterName, 'Messages are saved by default')
            [CompletionResult]::new('--record', '--record', [CompletionResultType]::ParameterName, 'Record the run even if the `CI` variable is set, which by default turns recording off')
            [CompletionResult]::new('--no-record', '--no-record', [CompletionResultType]::ParameterName, 'Do not record the run in `.co/evals`')
            [CompletionResult]::new('--detach', '--detach', [CompletionResultType]::ParameterName, 'Return once every case is on the server; --attach follows the run')
            [CompletionResult]::new('--insecure', '--insecure', [CompletionResultType]::ParameterName, 'Accept a server on another machine without TLS or without a login')
            [CompletionResult]::new('--skip-judges', '--skip-judges', [CompletionResultType]::ParameterName, 'Skip assertions that need a model as a judge')
            [CompletionResult]::new('--judge-criteria', '--judge-criteria', [CompletionResultType]::ParameterName, 'Judge `criteria` even if a test has assertions')
            [CompletionResult]::new('--allow-borderline', '--allow-borderline', [CompletionResultType]::ParameterName, 'Exit with 0 even if tests are borderline')
            [CompletionResult]::new('--gate', '--gate', [CompletionResultType]::ParameterName, 'Base the exit code on the comparison alone: 0 if equivalent, better or not worse, 1 if worse, 3 if inconclusive')
            [CompletionResult]::new('--allow-outside-root', '--allow-outside-root', [CompletionResultType]::ParameterName, 'Allow paths outside the repository root')
            [CompletionResult]::new('--no-env-file', '--no-env-file', [CompletionResultType]::ParameterName, 'Do not read `.env` files')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Print less; no report when nothing is wrong')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Print less; no report when nothing is wrong')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Print more, including notes')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Print more, including notes')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'evalrig;report' {
            [CompletionResult]::new('--report', '--report', [CompletionResultType]::ParameterName, 'Report format, and the file to write it to; repeatable [default: terminal]')
            [CompletionResult]::new('--pass-trials', '--pass-trials', [CompletionResultType]::ParameterName, 'Share of a test''s trials that must pass')
            [CompletionResult]::new('--baseline-arm', '--baseline-arm', [CompletionResultType]::ParameterName, 'Compare the other arms with this one [default: the baseline arm of the run]')
            [CompletionResult]::new('--baseline', '--baseline', [CompletionResultType]::ParameterName, 'Compare with earlier runs: a results file, a pattern, a directory with results, `latest`, `latest~N` or `latest~A..B`; repeatable')
            [CompletionResult]::new('--baseline-runs', '--baseline-runs', [CompletionResultType]::ParameterName, 'Number of complete runs that `--baseline latest` selects [default: 4]')
            [CompletionResult]::new('--margin', '--margin', [CompletionResultType]::ParameterName, 'Ignore differences in pass rate, or mean score, that are smaller than this')
            [CompletionResult]::new('--measure', '--measure', [CompletionResultType]::ParameterName, 'Compare pass rates or mean scores')
            [CompletionResult]::new('--root', '--root', [CompletionResultType]::ParameterName, 'Repository root: paths in the results start there [default: the nearest directory with `.git`]')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to color the output')
            [CompletionResult]::new('--allow-borderline', '--allow-borderline', [CompletionResultType]::ParameterName, 'Exit with 0 even if tests are borderline')
            [CompletionResult]::new('--gate', '--gate', [CompletionResultType]::ParameterName, 'Base the exit code on the comparison alone: 0 if equivalent, better or not worse, 1 if worse, 3 if inconclusive')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Print less; no report when nothing is wrong')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Print less; no report when nothing is wrong')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Print more, including notes')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Print more, including notes')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'evalrig;compare' {
            [CompletionResult]::new('--baseline', '--baseline', [CompletionResultType]::ParameterName, 'An earlier run; repeatable. RUN is then the candidate')
            [CompletionResult]::new('--baseline-runs', '--baseline-runs', [CompletionResultType]::ParameterName, 'Number of runs that `latest` selects as a baseline [default: 4]')
            [CompletionResult]::new('--base', '--base', [CompletionResultType]::ParameterName, 'Files of the earlier runs, such as those of shards, instead of RUN')
            [CompletionResult]::new('--candidate', '--candidate', [CompletionResultType]::ParameterName, 'Files of the later run, instead of RUN')
            [CompletionResult]::new('--arm', '--arm', [CompletionResultType]::ParameterName, 'Compare only this arm; repeatable [default: all but the baseline arms]')
            [CompletionResult]::new('--margin', '--margin', [CompletionResultType]::ParameterName, 'Ignore differences in pass rate, or mean score, that are smaller than this')
            [CompletionResult]::new('--measure', '--measure', [CompletionResultType]::ParameterName, 'Compare pass rates or mean scores')
            [CompletionResult]::new('--format', '--format', [CompletionResultType]::ParameterName, 'Output format')
            [CompletionResult]::new('--selftest', '--selftest', [CompletionResultType]::ParameterName, 'Test the gate on stored runs: its false-alarm rate, and the smallest drop that it would catch. Several runs are compared with each other; one run is split into halves')
            [CompletionResult]::new('--seed', '--seed', [CompletionResultType]::ParameterName, 'Random seed [default: derived from the runs]')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to color the output')
            [CompletionResult]::new('--gate', '--gate', [CompletionResultType]::ParameterName, 'Base the exit code on the verdict alone: 0 if equivalent, better or not worse, 1 if worse, 3 if inconclusive. Of the newest runs, those that their own gate did not pass are no base')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Print less; no report when nothing is wrong')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Print less; no report when nothing is wrong')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Print more, including notes')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Print more, including notes')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'evalrig;view' {
            [CompletionResult]::new('--port', '--port', [CompletionResultType]::ParameterName, 'The port on 127.0.0.1 [default: any free one]')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to color the output')
            [CompletionResult]::new('--no-open', '--no-open', [CompletionResultType]::ParameterName, 'Do not open a browser')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Print less; no report when nothing is wrong')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Print less; no report when nothing is wrong')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Print more, including notes')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Print more, including notes')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'evalrig;grade' {
            [CompletionResult]::new('--suite', '--suite', [CompletionResultType]::ParameterName, 'The suite with the assertions [default: the suites named in the results]')
            [CompletionResult]::new('-j', '-j', [CompletionResultType]::ParameterName, 'Grade N cases at once')
            [CompletionResult]::new('--workers', '--workers', [CompletionResultType]::ParameterName, 'Grade N cases at once')
            [CompletionResult]::new('--report', '--report', [CompletionResultType]::ParameterName, 'Report format, and the file to write it to; repeatable [default: terminal]')
            [CompletionResult]::new('-o', '-o', [CompletionResultType]::ParameterName, 'The results file to write [default: a new one in `.evalrig/results` of the repository root]')
            [CompletionResult]::new('--output', '--output', [CompletionResultType]::ParameterName, 'The results file to write [default: a new one in `.evalrig/results` of the repository root]')
            [CompletionResult]::new('--judge', '--judge', [CompletionResultType]::ParameterName, 'Judge target, unless an assertion names another')
            [CompletionResult]::new('--pass', '--pass', [CompletionResultType]::ParameterName, 'Lowest score that passes [default: the suite''s, else 0.8]')
            [CompletionResult]::new('--borderline', '--borderline', [CompletionResultType]::ParameterName, 'Lowest score that is borderline [default: the suite''s, else 0.6]')
            [CompletionResult]::new('--pass-trials', '--pass-trials', [CompletionResultType]::ParameterName, 'Share of a test''s trials that must pass')
            [CompletionResult]::new('--targets', '--targets', [CompletionResultType]::ParameterName, 'The targets file, for judges [default: the nearest `.evalrig/targets.yaml`]')
            [CompletionResult]::new('--root', '--root', [CompletionResultType]::ParameterName, 'Repository root: paths with a leading `/` start there, and no path may leave it [default: the nearest directory with `.git`]')
            [CompletionResult]::new('--env-file', '--env-file', [CompletionResultType]::ParameterName, 'Read variables from this file instead of searching for `.env` files')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to color the output')
            [CompletionResult]::new('--force', '--force', [CompletionResultType]::ParameterName, 'Overwrite the results of another run in the --output file')
            [CompletionResult]::new('--no-messages', '--no-messages', [CompletionResultType]::ParameterName, 'Leave the agent''s messages out of the results; `grade` then cannot check tool calls')
            [CompletionResult]::new('--messages', '--messages', [CompletionResultType]::ParameterName, 'Messages are saved by default')
            [CompletionResult]::new('--skip-judges', '--skip-judges', [CompletionResultType]::ParameterName, 'Skip assertions that need a model as a judge')
            [CompletionResult]::new('--judge-criteria', '--judge-criteria', [CompletionResultType]::ParameterName, 'Judge `criteria` even if a test has assertions')
            [CompletionResult]::new('--allow-borderline', '--allow-borderline', [CompletionResultType]::ParameterName, 'Exit with 0 even if tests are borderline')
            [CompletionResult]::new('--allow-outside-root', '--allow-outside-root', [CompletionResultType]::ParameterName, 'Allow paths outside the repository root')
            [CompletionResult]::new('--no-env-file', '--no-env-file', [CompletionResultType]::ParameterName, 'Do not read `.env` files')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Print less; no report when nothing is wrong')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Print less; no report when nothing is wrong')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Print more, including notes')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Print more, including notes')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'evalrig;judge' {
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to color the output')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Print less; no report when nothing is wrong')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Print less; no report when nothing is wrong')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Print more, including notes')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Print more, including notes')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('check', 'check', [CompletionResultType]::ParameterValue, 'Check judges against labels: agreement, consistency, and the corrected pass rate')
            [CompletionResult]::new('help', 'help', [CompletionResultType]::ParameterValue, 'Print this message or the help of the given subcommand(s)')
            break
        }
        'evalrig;judge;check' {
            [CompletionResult]::new('--labels', '--labels', [CompletionResultType]::ParameterName, 'Labels, as CSV or JSONL [default: `.evalrig/labels.jsonl` in the repository root]')
            [CompletionResult]::new('--readings', '--readings', [CompletionResultType]::ParameterName, 'Grade every answer N more times (odd) to measure consistency; prints the cost first')
            [CompletionResult]::new('--budget-usd', '--budget-usd', [CompletionResultType]::ParameterName, 'With --readings: stop calling judges when this is spent')
            [CompletionResult]::new('--judge', '--judge', [CompletionResultType]::ParameterName, 'With --readings: the judge target')
            [CompletionResult]::new('-j', '-j', [CompletionResultType]::ParameterName, 'With --readings: grade N cases at once')
            [CompletionResult]::new('--workers', '--workers', [CompletionResultType]::ParameterName, 'With --readings: grade N cases at once')
            [CompletionResult]::new('--format', '--format', [CompletionResultType]::ParameterName, 'Output format')
            [CompletionResult]::new('--targets', '--targets', [CompletionResultType]::ParameterName, 'The targets file, for judges [default: the nearest `.evalrig/targets.yaml`]')
            [CompletionResult]::new('--root', '--root', [CompletionResultType]::ParameterName, 'Repository root: paths with a leading `/` start there, and no path may leave it [default: the nearest directory with `.git`]')
            [CompletionResult]::new('--env-file', '--env-file', [CompletionResultType]::ParameterName, 'Read variables from this file instead of searching for `.env` files')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to color the output')
            [CompletionResult]::new('--dry-run', '--dry-run', [CompletionResultType]::ParameterName, 'With --readings: print the cost, and call no judge')
            [CompletionResult]::new('--allow-outside-root', '--allow-outside-root', [CompletionResultType]::ParameterName, 'Allow paths outside the repository root')
            [CompletionResult]::new('--no-env-file', '--no-env-file', [CompletionResultType]::ParameterName, 'Do not read `.env` files')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Print less; no report when nothing is wrong')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Print less; no report when nothing is wrong')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Print more, including notes')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Print more, including notes')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'evalrig;judge;help' {
            [CompletionResult]::new('check', 'check', [CompletionResultType]::ParameterValue, 'Check judges against labels: agreement, consistency, and the corrected pass rate')
            [CompletionResult]::new('help', 'help', [CompletionResultType]::ParameterValue, 'Print this message or the help of the given subcommand(s)')
            break
        }
        'evalrig;judge;help;check' {
            break
        }
        'evalrig;judge;help;help' {
            break
        }
        'evalrig;mutate' {
            [CompletionResult]::new('--suite', '--suite', [CompletionResultType]::ParameterName, 'The suite with the assertions [default: the suites named in the results]')
            [CompletionResult]::new('--judges', '--judges', [CompletionResultType]::ParameterName, 'Also try checks that call a judge or a script, with N mutants each; prints the cost first')
            [CompletionResult]::new('--budget-usd', '--budget-usd', [CompletionResultType]::ParameterName, 'Stop calling judges when this is spent')
            [CompletionResult]::new('--judge', '--judge', [CompletionResultType]::ParameterName, 'Judge target [default: the configured ones]')
            [CompletionResult]::new('--pass', '--pass', [CompletionResultType]::ParameterName, 'Lowest score that passes [default: the suite''s]')
            [CompletionResult]::new('--format', '--format', [CompletionResultType]::ParameterName, 'Output format')
            [CompletionResult]::new('--seed', '--seed', [CompletionResultType]::ParameterName, 'Random seed')
            [CompletionResult]::new('-j', '-j', [CompletionResultType]::ParameterName, 'Grade N mutants at once')
            [CompletionResult]::new('--workers', '--workers', [CompletionResultType]::ParameterName, 'Grade N mutants at once')
            [CompletionResult]::new('--targets', '--targets', [CompletionResultType]::ParameterName, 'The targets file, for judges [default: the nearest `.evalrig/targets.yaml`]')
            [CompletionResult]::new('--root', '--root', [CompletionResultType]::ParameterName, 'Repository root: paths with a leading `/` start there, and no path may leave it [default: the nearest directory with `.git`]')
            [CompletionResult]::new('--env-file', '--env-file', [CompletionResultType]::ParameterName, 'Read variables from this file instead of searching for `.env` files')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to color the output')
            [CompletionResult]::new('--deny-weak', '--deny-weak', [CompletionResultType]::ParameterName, 'Exit with 1 if a check is weak or a test is unchecked')
            [CompletionResult]::new('--allow-outside-root', '--allow-outside-root', [CompletionResultType]::ParameterName, 'Allow paths outside the repository root')
            [CompletionResult]::new('--no-env-file', '--no-env-file', [CompletionResultType]::ParameterName, 'Do not read `.env` files')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Print less; no report when nothing is wrong')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Print less; no report when nothing is wrong')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Print more, including notes')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Print more, including notes')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'evalrig;stats' {
            [CompletionResult]::new('--runs', '--runs', [CompletionResultType]::ParameterName, 'Use at most the newest N runs')
            [CompletionResult]::new('--measure', '--measure', [CompletionResultType]::ParameterName, 'Measure pass rates or mean scores')
            [CompletionResult]::new('--format', '--format', [CompletionResultType]::ParameterName, 'Output format')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to color the output')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Print less; no report when nothing is wrong')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Print less; no report when nothing is wrong')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Print more, including notes')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Print more, including notes')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'evalrig;log' {
            [CompletionResult]::new('--store', '--store', [CompletionResultType]::ParameterName, 'The store [default: `.co/evals` in the repository root]')
            [CompletionResult]::new('--format', '--format', [CompletionResultType]::ParameterName, 'Output format')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to color the output')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Print less; no report when nothing is wrong')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Print less; no report when nothing is wrong')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Print more, including notes')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Print more, including notes')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('list', 'list', [CompletionResultType]::ParameterValue, 'List the records')
            [CompletionResult]::new('show', 'show', [CompletionResultType]::ParameterValue, 'Show a record: the newest run of every turn, then older runs')
            [CompletionResult]::new('diff', 'diff', [CompletionResultType]::ParameterValue, 'Compare two runs of a record; exit with 1 if a turn no longer passes')
            [CompletionResult]::new('messages', 'messages', [CompletionResultType]::ParameterValue, 'Print the messages of a run as a JSON array')
            [CompletionResult]::new('expect', 'expect', [CompletionResultType]::ParameterValue, 'Set the expected answer of a turn')
            [CompletionResult]::new('evaluate', 'evaluate', [CompletionResultType]::ParameterValue, 'Mark the newest answer of a turn as pass or fail')
            [CompletionResult]::new('record', 'record', [CompletionResultType]::ParameterValue, 'Record a session from standard input: chat messages, or an agent''s output or session file')
            [CompletionResult]::new('prune', 'prune', [CompletionResultType]::ParameterValue, 'Delete old runs and records')
            [CompletionResult]::new('verify', 'verify', [CompletionResultType]::ParameterValue, 'Check the store for unreadable files, runs missing from summaries and wrong counts')
            [CompletionResult]::new('help', 'help', [CompletionResultType]::ParameterValue, 'Print this message or the help of the given subcommand(s)')
            break
        }
        'evalrig;log;list' {
            [CompletionResult]::new('--store', '--store', [CompletionResultType]::ParameterName, 'The store [default: `.co/evals` in the repository root]')
            [CompletionResult]::new('--format', '--format', [CompletionResultType]::ParameterName, 'Output format')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to color the output')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Print less; no report when nothing is wrong')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Print less; no report when nothing is wrong')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Print more, including notes')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Print more, including notes')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            break
        }
        'evalrig;log;show' {
            [CompletionResult]::new('--store', '--store', [CompletionResultType]::ParameterName, 'The store [default: `.co/evals` in the repository root]')
            [CompletionResult]::new('--format', '--format', [CompletionResultType]::ParameterName, 'Output format')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to color the output')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Print less; no report when nothing is wrong')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Print less; no report when nothing is wrong')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Print more, including notes')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Print more, including notes')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            break
        }
        'evalrig;log;diff' {
            [CompletionResult]::new('--runs', '--runs', [CompletionResultType]::ParameterName, 'The two runs, older first [default: the last two]')
            [CompletionResult]::new('--store', '--store', [CompletionResultType]::ParameterName, 'The store [default: `.co/evals` in the repository root]')
            [CompletionResult]::new('--format', '--format', [CompletionResultType]::ParameterName, 'Output format')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to color the output')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Print less; no report when nothing is wrong')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Print less; no report when nothing is wrong')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Print more, including notes')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Print more, including notes')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            break
        }
        'evalrig;log;messages' {
            [CompletionResult]::new('--run', '--run', [CompletionResultType]::ParameterName, 'The run [default: the newest]')
            [CompletionResult]::new('--store', '--store', [CompletionResultType]::ParameterName, 'The store [default: `.co/evals` in the repository root]')
            [CompletionResult]::new('--format', '--format', [CompletionResultType]::ParameterName, 'Output format')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to color the output')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Print less; no report when nothing is wrong')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Print less; no report when nothing is wrong')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Print more, including notes')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Print more, including notes')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            break
        }
        'evalrig;log;expect' {
            [CompletionResult]::new('--turn', '--turn', [CompletionResultType]::ParameterName, 'The turn, counted from 1 [default: the last]')
            [CompletionResult]::new('--store', '--store', [CompletionResultType]::ParameterName, 'The store [default: `.co/evals` in the repository root]')
            [CompletionResult]::new('--format', '--format', [CompletionResultType]::ParameterName, 'Output format')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to color the output')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Print less; no report when nothing is wrong')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Print less; no report when nothing is wrong')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Print more, including notes')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Print more, including notes')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            break
        }
        'evalrig;log;evaluate' {
            [CompletionResult]::new('--turn', '--turn', [CompletionResultType]::ParameterName, 'The turn, counted from 1 [default: the last]')
            [CompletionResult]::new('--store', '--store', [CompletionResultType]::ParameterName, 'The store [default: `.co/evals` in the repository root]')
            [CompletionResult]::new('--format', '--format', [CompletionResultType]::ParameterName, 'Output format')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to color the output')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Print less; no report when nothing is wrong')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Print less; no report when nothing is wrong')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Print more, including notes')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Print more, including notes')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            break
        }
        'evalrig;log;record' {
            [CompletionResult]::new('--input', '--input', [CompletionResultType]::ParameterName, 'The user''s message, if the session does not contain it')
            [CompletionResult]::new('--from', '--from', [CompletionResultType]::ParameterName, 'The format of the session [default: detected]')
            [CompletionResult]::new('--model', '--model', [CompletionResultType]::ParameterName, 'The model, if the session does not name it')
            [CompletionResult]::new('--expected', '--expected', [CompletionResultType]::ParameterName, 'The expected last answer')
            [CompletionResult]::new('--store', '--store', [CompletionResultType]::ParameterName, 'The store [default: `.co/evals` in the repository root]')
            [CompletionResult]::new('--format', '--format', [CompletionResultType]::ParameterName, 'Output format')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to color the output')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Print less; no report when nothing is wrong')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Print less; no report when nothing is wrong')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Print more, including notes')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Print more, including notes')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'evalrig;log;prune' {
            [CompletionResult]::new('--keep-runs', '--keep-runs', [CompletionResultType]::ParameterName, 'Run files to keep per record')
            [CompletionResult]::new('--keep-history', '--keep-history', [CompletionResultType]::ParameterName, 'Older runs to keep in the history of each turn')
            [CompletionResult]::new('--keep-records', '--keep-records', [CompletionResultType]::ParameterName, 'Records to keep; the newest are kept')
            [CompletionResult]::new('--store', '--store', [CompletionResultType]::ParameterName, 'The store [default: `.co/evals` in the repository root]')
            [CompletionResult]::new('--format', '--format', [CompletionResultType]::ParameterName, 'Output format')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to color the output')
            [CompletionResult]::new('--dry-run', '--dry-run', [CompletionResultType]::ParameterName, 'Print what would be deleted, and delete nothing')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Print less; no report when nothing is wrong')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Print less; no report when nothing is wrong')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Print more, including notes')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Print more, including notes')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            break
        }
        'evalrig;log;verify' {
            [CompletionResult]::new('--store', '--store', [CompletionResultType]::ParameterName, 'The store [default: `.co/evals` in the repository root]')
            [CompletionResult]::new('--format', '--format', [CompletionResultType]::ParameterName, 'Output format')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to color the output')
            [CompletionResult]::new('--repair', '--repair', [CompletionResultType]::ParameterName, 'Repair what can be repaired; no run is deleted')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Print less; no report when nothing is wrong')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Print less; no report when nothing is wrong')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Print more, including notes')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Print more, including notes')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            break
        }
        'evalrig;log;help' {
            [CompletionResult]::new('list', 'list', [CompletionResultType]::ParameterValue, 'List the records')
            [CompletionResult]::new('show', 'show', [CompletionResultType]::ParameterValue, 'Show a record: the newest run of every turn, then older runs')
            [CompletionResult]::new('diff', 'diff', [CompletionResultType]::ParameterValue, 'Compare two runs of a record; exit with 1 if a turn no longer passes')
            [CompletionResult]::new('messages', 'messages', [CompletionResultType]::ParameterValue, 'Print the messages of a run as a JSON array')
            [CompletionResult]::new('expect', 'expect', [CompletionResultType]::ParameterValue, 'Set the expected answer of a turn')
            [CompletionResult]::new('evaluate', 'evaluate', [CompletionResultType]::ParameterValue, 'Mark the newest answer of a turn as pass or fail')
            [CompletionResult]::new('record', 'record', [CompletionResultType]::ParameterValue, 'Record a session from standard input: chat messages, or an agent''s output or session file')
            [CompletionResult]::new('prune', 'prune', [CompletionResultType]::ParameterValue, 'Delete old runs and records')
            [CompletionResult]::new('verify', 'verify', [CompletionResultType]::ParameterValue, 'Check the store for unreadable files, runs missing from summaries and wrong counts')
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
        'evalrig;explain' {
            [CompletionResult]::new('--format', '--format', [CompletionResultType]::ParameterName, 'Output format')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to color the output')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Print less; no report when nothing is wrong')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Print less; no report when nothing is wrong')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Print more, including notes')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Print more, including notes')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            break
        }
        'evalrig;list' {
            [CompletionResult]::new('--format', '--format', [CompletionResultType]::ParameterName, 'Output format')
            [CompletionResult]::new('--root', '--root', [CompletionResultType]::ParameterName, 'Repository root: paths with a leading `/` start there, and no path may leave it [default: the nearest directory with `.git`]')
            [CompletionResult]::new('--env-file', '--env-file', [CompletionResultType]::ParameterName, 'Read variables from this file instead of searching for `.env` files')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to color the output')
            [CompletionResult]::new('--allow-outside-root', '--allow-outside-root', [CompletionResultType]::ParameterName, 'Allow paths outside the repository root')
            [CompletionResult]::new('--no-env-file', '--no-env-file', [CompletionResultType]::ParameterName, 'Do not read `.env` files')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Print less; no report when nothing is wrong')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Print less; no report when nothing is wrong')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Print more, including notes')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Print more, including notes')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            break
        }
        'evalrig;show' {
            [CompletionResult]::new('--format', '--format', [CompletionResultType]::ParameterName, 'Output format')
            [CompletionResult]::new('--root', '--root', [CompletionResultType]::ParameterName, 'Repository root: paths with a leading `/` start there, and no path may leave it [default: the nearest directory with `.git`]')
            [CompletionResult]::new('--env-file', '--env-file', [CompletionResultType]::ParameterName, 'Read variables from this file instead of searching for `.env` files')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to color the output')
            [CompletionResult]::new('--allow-outside-root', '--allow-outside-root', [CompletionResultType]::ParameterName, 'Allow paths outside the repository root')
            [CompletionResult]::new('--no-env-file', '--no-env-file', [CompletionResultType]::ParameterName, 'Do not read `.env` files')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Print less; no report when nothing is wrong')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Print less; no report when nothing is wrong')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Print more, including notes')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Print more, including notes')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            break
        }
        'evalrig;convert' {
            [CompletionResult]::new('--from', '--from', [CompletionResultType]::ParameterName, 'The format of the file [default: detected from its keys]')
            [CompletionResult]::new('--map', '--map', [CompletionResultType]::ParameterName, 'Map record keys to test fields, such as `input=question,tags=labels`, or name a preset')
            [CompletionResult]::new('-o', '-o', [CompletionResultType]::ParameterName, 'The file to write; `-` is standard output. For several iterations, a directory')
            [CompletionResult]::new('--output', '--output', [CompletionResultType]::ParameterName, 'The file to write; `-` is standard output. For several iterations, a directory')
            [CompletionResult]::new('--loss-report', '--loss-report', [CompletionResultType]::ParameterName, 'Write the list of losses to this file, as JSON')
            [CompletionResult]::new('--root', '--root', [CompletionResultType]::ParameterName, 'Repository root: paths with a leading `/` start there, and no path may leave it [default: the nearest directory with `.git`]')
            [CompletionResult]::new('--env-file', '--env-file', [CompletionResultType]::ParameterName, 'Read variables from this file instead of searching for `.env` files')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to color the output')
            [CompletionResult]::new('--stdout', '--stdout', [CompletionResultType]::ParameterName, 'Print the suite, with paths relative to the current directory')
            [CompletionResult]::new('--force', '--force', [CompletionResultType]::ParameterName, 'Overwrite an existing file')
            [CompletionResult]::new('--deny-loss', '--deny-loss', [CompletionResultType]::ParameterName, 'Write nothing and exit with 1 if anything would be lost')
            [CompletionResult]::new('--allow-outside-root', '--allow-outside-root', [CompletionResultType]::ParameterName, 'Allow paths outside the repository root')
            [CompletionResult]::new('--no-env-file', '--no-env-file', [CompletionResultType]::ParameterName, 'Do not read `.env` files')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Print less; no report when nothing is wrong')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Print less; no report when nothing is wrong')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Print more, including notes')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Print more, including notes')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'evalrig;transpile' {
            [CompletionResult]::new('-o', '-o', [CompletionResultType]::ParameterName, 'The directory to write to [default: the suite''s directory]')
            [CompletionResult]::new('--out', '--out', [CompletionResultType]::ParameterName, 'The directory to write to [default: the suite''s directory]')
            [CompletionResult]::new('--loss-report', '--loss-report', [CompletionResultType]::ParameterName, 'Write the list of losses to this file, as JSON')
            [CompletionResult]::new('--format', '--format', [CompletionResultType]::ParameterName, 'Which files to write')
            [CompletionResult]::new('--for', '--for', [CompletionResultType]::ParameterName, 'The tool that reads the files; for skill-creator the assertions are called `expectations`')
            [CompletionResult]::new('--layout', '--layout', [CompletionResultType]::ParameterName, 'Write all files side by side, or into one directory per skill')
            [CompletionResult]::new('--no-skill', '--no-skill', [CompletionResultType]::ParameterName, 'Where tests without a trigger go: to the skill with the most tests, or to a separate file')
            [CompletionResult]::new('--root', '--root', [CompletionResultType]::ParameterName, 'Repository root: paths with a leading `/` start there, and no path may leave it [default: the nearest directory with `.git`]')
            [CompletionResult]::new('--env-file', '--env-file', [CompletionResultType]::ParameterName, 'Read variables from this file instead of searching for `.env` files')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to color the output')
            [CompletionResult]::new('--stdout', '--stdout', [CompletionResultType]::ParameterName, 'Print instead of writing; there must be exactly one file')
            [CompletionResult]::new('--check', '--check', [CompletionResultType]::ParameterName, 'Write nothing; exit with 1 if a file differs from what would be written')
            [CompletionResult]::new('--force', '--force', [CompletionResultType]::ParameterName, 'Overwrite files that evalrig did not write')
            [CompletionResult]::new('--deny-loss', '--deny-loss', [CompletionResultType]::ParameterName, 'Write nothing and exit with 1 if anything would be lost')
            [CompletionResult]::new('--no-criteria', '--no-criteria', [CompletionResultType]::ParameterName, 'Leave `criteria` out of the assertions')
            [CompletionResult]::new('--inline-prompts', '--inline-prompts', [CompletionResultType]::ParameterName, 'Write the contents of prompt files instead of their paths')
            [CompletionResult]::new('--allow-outside-root', '--allow-outside-root', [CompletionResultType]::ParameterName, 'Allow paths outside the repository root')
            [CompletionResult]::new('--no-env-file', '--no-env-file', [CompletionResultType]::ParameterName, 'Do not read `.env` files')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Print less; no report when nothing is wrong')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Print less; no report when nothing is wrong')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Print more, including notes')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Print more, including notes')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            break
        }
        'evalrig;export' {
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to color the output')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Print less; no report when nothing is wrong')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Print less; no report when nothing is wrong')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Print more, including notes')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Print more, including notes')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('skill-creator', 'skill-creator', [CompletionResultType]::ParameterValue, 'Write results as a skill-creator iteration: gradings, timings, outputs and the benchmark')
            [CompletionResult]::new('harbor', 'harbor', [CompletionResultType]::ParameterValue, 'Write tests that check files as Harbor task directories')
            [CompletionResult]::new('help', 'help', [CompletionResultType]::ParameterValue, 'Print this message or the help of the given subcommand(s)')
            break
        }
        'evalrig;export;skill-creator' {
            [CompletionResult]::new('-o', '-o', [CompletionResultType]::ParameterName, 'The directory to write, such as `csv-workspace/iteration-1`; must be empty or not exist')
            [CompletionResult]::new('--output', '--output', [CompletionResultType]::ParameterName, 'The directory to write, such as `csv-workspace/iteration-1`; must be empty or not exist')
            [CompletionResult]::new('--root', '--root', [CompletionResultType]::ParameterName, 'Repository root, below which `latest` is looked up [default: the nearest directory with `.git`]')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to color the output')
            [CompletionResult]::new('--force', '--force', [CompletionResultType]::ParameterName, 'Replace what an earlier export wrote to the directory')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Print less; no report when nothing is wrong')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Print less; no report when nothing is wrong')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Print more, including notes')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Print more, including notes')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            break
        }
        'evalrig;export;harbor' {
            [CompletionResult]::new('-o', '-o', [CompletionResultType]::ParameterName, 'The directory to write, with one directory per test; must be empty or not exist')
            [CompletionResult]::new('--output', '--output', [CompletionResultType]::ParameterName, 'The directory to write, with one directory per test; must be empty or not exist')
            [CompletionResult]::new('--loss-report', '--loss-report', [CompletionResultType]::ParameterName, 'Write the list of losses to this file, as JSON')
            [CompletionResult]::new('--root', '--root', [CompletionResultType]::ParameterName, 'Repository root: paths with a leading `/` start there, and no path may leave it [default: the nearest directory with `.git`]')
            [CompletionResult]::new('--env-file', '--env-file', [CompletionResultType]::ParameterName, 'Read variables from this file instead of searching for `.env` files')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to color the output')
            [CompletionResult]::new('--force', '--force', [CompletionResultType]::ParameterName, 'Replace what an earlier export wrote to the directory')
            [CompletionResult]::new('--deny-loss', '--deny-loss', [CompletionResultType]::ParameterName, 'Write nothing and exit with 1 if anything would be lost')
            [CompletionResult]::new('--allow-outside-root', '--allow-outside-root', [CompletionResultType]::ParameterName, 'Allow paths outside the repository root')
            [CompletionResult]::new('--no-env-file', '--no-env-file', [CompletionResultType]::ParameterName, 'Do not read `.env` files')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Print less; no report when nothing is wrong')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Print less; no report when nothing is wrong')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Print more, including notes')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Print more, including notes')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            break
        }
        'evalrig;export;help' {
            [CompletionResult]::new('skill-creator', 'skill-creator', [CompletionResultType]::ParameterValue, 'Write results as a skill-creator iteration: gradings, timings, outputs and the benchmark')
            [CompletionResult]::new('harbor', 'harbor', [CompletionResultType]::ParameterValue, 'Write tests that check files as Harbor task directories')
            [CompletionResult]::new('help', 'help', [CompletionResultType]::ParameterValue, 'Print this message or the help of the given subcommand(s)')
            break
        }
        'evalrig;export;help;skill-creator' {
            break
        }
        'evalrig;export;help;harbor' {
            break
        }
        'evalrig;export;help;help' {
            break
        }
        'evalrig;config' {
            [CompletionResult]::new('--root', '--root', [CompletionResultType]::ParameterName, 'Repository root, which contains `evalrig.toml` [default: the nearest directory with `.git`]')
            [CompletionResult]::new('--profile', '--profile', [CompletionResultType]::ParameterName, 'Use the settings of this profile of `evalrig.toml` [default: `$EVALRIG_PROFILE`]')
            [CompletionResult]::new('--format', '--format', [CompletionResultType]::ParameterName, 'Output format')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to color the output')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Print less; no report when nothing is wrong')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Print less; no report when nothing is wrong')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Print more, including notes')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Print more, including notes')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'evalrig;worker' {
            [CompletionResult]::new('--queue', '--queue', [CompletionResultType]::ParameterName, 'The NATS servers to take cases from')
            [CompletionResult]::new('-j', '-j', [CompletionResultType]::ParameterName, 'Run N cases at once [default: four per core]')
            [CompletionResult]::new('--workers', '--workers', [CompletionResultType]::ParameterName, 'Run N cases at once [default: four per core]')
            [CompletionResult]::new('--name', '--name', [CompletionResultType]::ParameterName, 'The name in rows and in the progress of runs [default: host name and process id]')
            [CompletionResult]::new('--cache', '--cache', [CompletionResultType]::ParameterName, 'Directory for the files of runs [default: the user''s cache directory]')
            [CompletionResult]::new('--health', '--health', [CompletionResultType]::ParameterName, 'Serve /healthz, /readyz and /metrics on this address, such as 127.0.0.1:9090')
            [CompletionResult]::new('--until-idle', '--until-idle', [CompletionResultType]::ParameterName, 'Exit after this long without cases [default: never]')
            [CompletionResult]::new('--env-file', '--env-file', [CompletionResultType]::ParameterName, 'Also read variables from this file')
            [CompletionResult]::new('--replicas', '--replicas', [CompletionResultType]::ParameterName, 'Replicas of the buckets that all runs share, for a cluster; never lowered')
            [CompletionResult]::new('--queue-creds', '--queue-creds', [CompletionResultType]::ParameterName, 'NATS credentials file [default: NATS_USER and NATS_PASSWORD]')
            [CompletionResult]::new('--queue-ca', '--queue-ca', [CompletionResultType]::ParameterName, 'PEM file with CA certificates for the server [default: the system''s]')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to color the output')
            [CompletionResult]::new('--insecure', '--insecure', [CompletionResultType]::ParameterName, 'Accept a server on another machine without TLS or without a login')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Print less; no report when nothing is wrong')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Print less; no report when nothing is wrong')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Print more, including notes')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Print more, including notes')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'evalrig;queue' {
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to color the output')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Print less; no report when nothing is wrong')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Print less; no report when nothing is wrong')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Print more, including notes')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Print more, including notes')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('status', 'status', [CompletionResultType]::ParameterValue, 'List the runs on the server and their workers')
            [CompletionResult]::new('cancel', 'cancel', [CompletionResultType]::ParameterValue, 'Cancel a run and keep its rows')
            [CompletionResult]::new('remove', 'remove', [CompletionResultType]::ParameterValue, 'Delete a run and its rows from the server')
            [CompletionResult]::new('help', 'help', [CompletionResultType]::ParameterValue, 'Print this message or the help of the given subcommand(s)')
            break
        }
        'evalrig;queue;status' {
            [CompletionResult]::new('--format', '--format', [CompletionResultType]::ParameterName, 'Output format')
            [CompletionResult]::new('--queue', '--queue', [CompletionResultType]::ParameterName, 'The NATS servers')
            [CompletionResult]::new('--queue-creds', '--queue-creds', [CompletionResultType]::ParameterName, 'NATS credentials file [default: NATS_USER and NATS_PASSWORD]')
            [CompletionResult]::new('--queue-ca', '--queue-ca', [CompletionResultType]::ParameterName, 'PEM file with CA certificates for the server [default: the system''s]')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to color the output')
            [CompletionResult]::new('--insecure', '--insecure', [CompletionResultType]::ParameterName, 'Accept a server on another machine without TLS or without a login')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Print less; no report when nothing is wrong')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Print less; no report when nothing is wrong')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Print more, including notes')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Print more, including notes')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            break
        }
        'evalrig;queue;cancel' {
            [CompletionResult]::new('--queue', '--queue', [CompletionResultType]::ParameterName, 'The NATS servers')
            [CompletionResult]::new('--queue-creds', '--queue-creds', [CompletionResultType]::ParameterName, 'NATS credentials file [default: NATS_USER and NATS_PASSWORD]')
            [CompletionResult]::new('--queue-ca', '--queue-ca', [CompletionResultType]::ParameterName, 'PEM file with CA certificates for the server [default: the system''s]')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to color the output')
            [CompletionResult]::new('--insecure', '--insecure', [CompletionResultType]::ParameterName, 'Accept a server on another machine without TLS or without a login')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Print less; no report when nothing is wrong')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Print less; no report when nothing is wrong')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Print more, including notes')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Print more, including notes')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            break
        }
        'evalrig;queue;remove' {
            [CompletionResult]::new('--queue', '--queue', [CompletionResultType]::ParameterName, 'The NATS servers')
            [CompletionResult]::new('--queue-creds', '--queue-creds', [CompletionResultType]::ParameterName, 'NATS credentials file [default: NATS_USER and NATS_PASSWORD]')
            [CompletionResult]::new('--queue-ca', '--queue-ca', [CompletionResultType]::ParameterName, 'PEM file with CA certificates for the server [default: the system''s]')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to color the output')
            [CompletionResult]::new('--insecure', '--insecure', [CompletionResultType]::ParameterName, 'Accept a server on another machine without TLS or without a login')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Print less; no report when nothing is wrong')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Print less; no report when nothing is wrong')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Print more, including notes')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Print more, including notes')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            break
        }
        'evalrig;queue;help' {
            [CompletionResult]::new('status', 'status', [CompletionResultType]::ParameterValue, 'List the runs on the server and their workers')
            [CompletionResult]::new('cancel', 'cancel', [CompletionResultType]::ParameterValue, 'Cancel a run and keep its rows')
            [CompletionResult]::new('remove', 'remove', [CompletionResultType]::ParameterValue, 'Delete a run and its rows from the server')
            [CompletionResult]::new('help', 'help', [CompletionResultType]::ParameterValue, 'Print this message or the help of the given subcommand(s)')
            break
        }
        'evalrig;queue;help;status' {
            break
        }
        'evalrig;queue;help;cancel' {
            break
        }
        'evalrig;queue;help;remove' {
            break
        }
        'evalrig;queue;help;help' {
            break
        }
        'evalrig;lsp' {
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to color the output')
            [CompletionResult]::new('--stdio', '--stdio', [CompletionResultType]::ParameterName, 'The only way to talk to it; accepted because editors pass it')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Print less; no report when nothing is wrong')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Print less; no report when nothing is wrong')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Print more, including notes')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Print more, including notes')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'evalrig;mcp' {
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to color the output')
            [CompletionResult]::new('--read-only', '--read-only', [CompletionResultType]::ParameterName, 'Offer no tool that runs suites or changes files')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Print less; no report when nothing is wrong')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Print less; no report when nothing is wrong')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Print more, including notes')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Print more, including notes')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'evalrig;schema' {
            [CompletionResult]::new('--draft', '--draft', [CompletionResultType]::ParameterName, 'JSON Schema draft')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to color the output')
            [CompletionResult]::new('--strict', '--strict', [CompletionResultType]::ParameterName, 'For editors: flag unknown keys and old spellings; for `suite` and `targets` only')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Print less; no report when nothing is wrong')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Print less; no report when nothing is wrong')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Print more, including notes')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Print more, including notes')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            break
        }
        'evalrig;completions' {
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to color the output')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Print less; no report when nothing is wrong')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Print less; no report when nothing is wrong')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Print more, including notes')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Print more, including notes')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            break
        }
        'evalrig;man' {
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to color the output')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Print less; no report when nothing is wrong')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Print less; no report when nothing is wrong')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Print more, including notes')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Print more, including notes')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            break
        }
        'evalrig;help' {
            [CompletionResult]::new('init', 'init', [CompletionResultType]::ParameterValue, 'Write the files needed to run suites: a suite, a targets file, a .gitignore, a CI workflow')
            [CompletionResult]::new('validate', 'validate', [CompletionResultType]::ParameterValue, 'Check suites, imports, targets files and evals.json; report every mistake with its line')
            [CompletionResult]::new('run', 'run', [CompletionResultType]::ParameterValue, 'Run suites against their targets, grade the answers, save and report the results')
            [CompletionResult]::new('report', 'report', [CompletionResultType]::ParameterValue, 'Report a stored run again, in any format')
            [CompletionResult]::new('compare', 'compare', [CompletionResultType]::ParameterValue, 'Compare two runs: what changed, and whether it is more than chance')
            [CompletionResult]::new('view', 'view', [CompletionResultType]::ParameterValue, 'Show runs, comparisons and records in a browser, served on this machine only')
            [CompletionResult]::new('grade', 'grade', [CompletionResultType]::ParameterValue, 'Grade a stored run again with the suite''s current assertions, without calling the target')
            [CompletionResult]::new('judge', 'judge', [CompletionResultType]::ParameterValue, 'Measure how reliable judges are')
            [CompletionResult]::new('mutate', 'mutate', [CompletionResultType]::ParameterValue, 'Damage stored answers that passed, and list the checks that do not notice')
            [CompletionResult]::new('stats', 'stats', [CompletionResultType]::ParameterValue, 'Show what causes variance in stored runs, and the effect of more trials, tests or votes')
            [CompletionResult]::new('log', 'log', [CompletionResultType]::ParameterValue, 'Inspect and edit the `.co/evals` store, which records every run')
            [CompletionResult]::new('explain', 'explain', [CompletionResultType]::ParameterValue, 'Explain a diagnostic, an assertion type, a provider or a format of `convert`; without a name, list all of them')
            [CompletionResult]::new('list', 'list', [CompletionResultType]::ParameterValue, 'List suites and their tests')
            [CompletionResult]::new('show', 'show', [CompletionResultType]::ParameterValue, 'Print a suite, or one test, as evalrig understands it: imports, old spellings, `input_files` and variables are resolved')
            [CompletionResult]::new('convert', 'convert', [CompletionResultType]::ParameterValue, 'Convert a suite of another tool, an evals.json, cases of `claude plugin eval` or `.co/evals` records to an EVAL.yaml, or an iteration of skill-creator to results')
            [CompletionResult]::new('transpile', 'transpile', [CompletionResultType]::ParameterValue, 'Write a suite as the evals.json and eval sets of skill-creator')
            [CompletionResult]::new('export', 'export', [CompletionResultType]::ParameterValue, 'Write results in the format of another tool')
            [CompletionResult]::new('config', 'config', [CompletionResultType]::ParameterValue, 'Show the settings of `run` and `validate`, and where each comes from')
            [CompletionResult]::new('worker', 'worker', [CompletionResultType]::ParameterValue, 'Run cases of `run --queue` on this machine until stopped')
            [CompletionResult]::new('queue', 'queue', [CompletionResultType]::ParameterValue, 'List, cancel and remove the runs on a server')
            [CompletionResult]::new('lsp', 'lsp', [CompletionResultType]::ParameterValue, 'Run the language server (LSP): diagnostics, fixes, completion and more for editors')
            [CompletionResult]::new('mcp', 'mcp', [CompletionResultType]::ParameterValue, 'Run the MCP server: tools for coding agents, on standard input and output')
            [CompletionResult]::new('schema', 'schema', [CompletionResultType]::ParameterValue, 'Print a JSON Schema for editors and other tools')
            [CompletionResult]::new('completions', 'completions', [CompletionResultType]::ParameterValue, 'Print a completion script for a shell')
            [CompletionResult]::new('man', 'man', [CompletionResultType]::ParameterValue, 'Write man pages to a directory')
            [CompletionResult]::new('help', 'help', [CompletionResultType]::ParameterValue, 'Print this message or the help of the given subcommand(s)')
            break
        }
        'evalrig;help;init' {
            break
        }
        'evalrig;help;validate' {
            break
        }
        'evalrig;help;run' {
            break
        }
        'evalrig;help;report' {
            break
        }
        'evalrig;help;compare' {
            break
        }
        'evalrig;help;view' {
            break
        }
        'evalrig;help;grade' {
            break
        }
        'evalrig;help;judge' {
            [CompletionResult]::new('check', 'check', [CompletionResultType]::ParameterValue, 'Check judges against labels: agreement, consistency, and the corrected pass rate')
            break
        }
        'evalrig;help;judge;check' {
            break
        }
        'evalrig;help;mutate' {
            break
        }
        'evalrig;help;stats' {
            break
        }
        'evalrig;help;log' {
            [CompletionResult]::new('list', 'list', [CompletionResultType]::ParameterValue, 'List the records')
            [CompletionResult]::new('show', 'show', [CompletionResultType]::ParameterValue, 'Show a record: the newest run of every turn, then older runs')
            [CompletionResult]::new('diff', 'diff', [CompletionResultType]::ParameterValue, 'Compare two runs of a record; exit with 1 if a turn no longer passes')
            [CompletionResult]::new('messages', 'messages', [CompletionResultType]::ParameterValue, 'Print the messages of a run as a JSON array')
            [CompletionResult]::new('expect', 'expect', [CompletionResultType]::ParameterValue, 'Set the expected answer of a turn')
            [CompletionResult]::new('evaluate', 'evaluate', [CompletionResultType]::ParameterValue, 'Mark the newest answer of a turn as pass or fail')
            [CompletionResult]::new('record', 'record', [CompletionResultType]::ParameterValue, 'Record a session from standard input: chat messages, or an agent''s output or session file')
            [CompletionResult]::new('prune', 'prune', [CompletionResultType]::ParameterValue, 'Delete old runs and records')
            [CompletionResult]::new('verify', 'verify', [CompletionResultType]::ParameterValue, 'Check the store for unreadable files, runs missing from summaries and wrong counts')
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
        'evalrig;help;explain' {
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
        'evalrig;help;export' {
            [CompletionResult]::new('skill-creator', 'skill-creator', [CompletionResultType]::ParameterValue, 'Write results as a skill-creator iteration: gradings, timings, outputs and the benchmark')
            [CompletionResult]::new('harbor', 'harbor', [CompletionResultType]::ParameterValue, 'Write tests that check files as Harbor task directories')
            break
        }
        'evalrig;help;export;skill-creator' {
            break
        }
        'evalrig;help;export;harbor' {
            break
        }
        'evalrig;help;config' {
            break
        }
        'evalrig;help;worker' {
            break
        }
        'evalrig;help;queue' {
            [CompletionResult]::new('status', 'status', [CompletionResultType]::ParameterValue, 'List the runs on the server and their workers')
            [CompletionResult]::new('cancel', 'cancel', [CompletionResultType]::ParameterValue, 'Cancel a run and keep its rows')
            [CompletionResult]::new('remove', 'remove', [CompletionResultType]::ParameterValue, 'Delete a run and its rows from the server')
            break
        }
        'evalrig;help;queue;status' {
            break
        }
        'evalrig;help;queue;cancel' {
            break
        }
        'evalrig;help;queue;remove' {
            break
        }
        'evalrig;help;lsp' {
            break
        }
        'evalrig;help;mcp' {
            break
        }
        'evalrig;help;schema' {
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
