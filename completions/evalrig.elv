
use builtin;
use str;

set edit:completion:arg-completer[evalrig] = {|@words|
    fn spaces {|n|
        builtin:repeat $n ' ' | str:join ''
    }
    fn cand {|text desc|
        edit:complex-candidate $text &display=$text' '(spaces (- 14 (wcswidth $text)))$desc
    }
    var command = 'evalrig'
    for word $words[1..-1] {
        if (str:has-prefix $word '-') {
            break
        }
        set command = $command';'$word
    }
    var completions = [
        &'evalrig'= {
            cand --color 'When to color the output'
            cand -q 'Print less; no report when nothing is wrong'
            cand --quiet 'Print less; no report when nothing is wrong'
            cand -v 'Print more, including notes'
            cand --verbose 'Print more, including notes'
            cand -h 'Print help'
            cand --help 'Print help'
            cand -V 'Print version'
            cand --version 'Print version'
            cand init 'Write the files needed to run suites: a suite, a targets file, a .gitignore, a CI workflow'
            cand validate 'Check suites, imports, targets files and evals.json; report every mistake with its line'
            cand run 'Run suites against their targets, grade the answers, save and report the results'
            cand report 'Report a stored run again, in any format'
            cand compare 'Compare two runs: what changed, and whether it is more than chance'
            cand view 'Show runs, comparisons and records in a browser, served on this machine only'
            cand grade 'Grade a stored run again with the suite''s current assertions, without calling the target'
            cand judge 'Measure how reliable judges are'
            cand mutate 'Damage stored answers that passed, and list the checks that do not notice'
            cand stats 'Show what causes variance in stored runs, and the effect of more trials, tests or votes'
            cand log 'Inspect and edit the `.co/evals` store, which records every run'
            cand explain 'Explain a diagnostic, an assertion type, a provider or a format of `convert`; without a name, list all of them'
            cand list 'List suites and their tests'
            cand show 'Print a suite, or one test, as evalrig understands it: imports, old spellings, `input_files` and variables are resolved'
            cand convert 'Convert a suite of another tool, an evals.json, cases of `claude plugin eval` or `.co/evals` records to an EVAL.yaml, or an iteration of skill-creator to results'
            cand transpile 'Write a suite as the evals.json and eval sets of skill-creator'
            cand export 'Write results in the format of another tool'
            cand config 'Show the settings of `run` and `validate`, and where each comes from'
            cand worker 'Run cases of `run --queue` on this machine until stopped'
            cand queue 'List, cancel and remove the runs on a server'
            cand lsp 'Run the language server (LSP): diagnostics, fixes, completion and more for editors'
            cand mcp 'Run the MCP server: tools for coding agents, on standard input and output'
            cand schema 'Print a JSON Schema for editors and other tools'
            cand completions 'Print a completion script for a shell'
            cand man 'Write man pages to a directory'
            cand help 'Print this message or the help of the given subcommand(s)'
        }
        &'evalrig;init'= {
            cand --target 'Agent to test [default: an installed agent if there are suites or a SKILL.md, else a mock]'
            cand --example 'Write a complete example that runs offline'
            cand --ci 'Write a workflow that runs the suites in CI'
            cand --color 'When to color the output'
            cand --run 'Run the directory''s suites afterwards'
            cand -q 'Print less; no report when nothing is wrong'
            cand --quiet 'Print less; no report when nothing is wrong'
            cand -v 'Print more, including notes'
            cand --verbose 'Print more, including notes'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
        }
        &'evalrig;validate'= {
            cand --format 'Output format'
            cand --targets 'Check target names against this targets file [default: the nearest `.evalrig/targets.yaml`]'
            cand --root 'Repository root: paths with a leading `/` start there, and no path may leave it [default: the nearest directory with `.git`]'
            cand --env-file 'Read variables from this file instead of searching for `.env` files'
            cand --profile 'Use the settings of this profile of `evalrig.toml` [default: `$EVALRIG_PROFILE`]'
            cand --color 'When to color the output'
            cand --fix 'Apply safe fixes in place; comments and formatting are kept'
            cand --diff 'With --fix: print the changes instead of writing them'
            cand --strict 'Treat warnings and conformance errors as blocking errors'
            cand --allow-outside-root 'Allow paths outside the repository root'
            cand --no-env-file 'Do not read `.env` files'
            cand -q 'Print less; no report when nothing is wrong'
            cand --quiet 'Print less; no report when nothing is wrong'
            cand -v 'Print more, including notes'
            cand --verbose 'Print more, including notes'
            cand -h 'Print help'
            cand --help 'Print help'
        }
        &'evalrig;run'= {
            cand -t 'Run against this target instead of the suite''s; repeatable'
            cand --target 'Run against this target instead of the suite''s; repeatable'
            cand --arm 'Run this arm of the suites, such as `with` or `without` their skills; repeatable'
            cand --baseline-arm 'Compare the other arms with this one [default: `without`, else the first]'
            cand --reuse-arm 'Reuse rows of unchanged arms from this run: a results file, a directory, `latest` or `latest~N`'
            cand --sandbox 'Confine the processes of every target: none, home, bwrap, podman or docker'
            cand --keep-workspaces 'Keep the workspaces of cases: never, failed (and errored) or always [default: `keep` of the workspace, else failed]'
            cand -f 'Run tests whose id matches; `!GLOB` excludes; repeatable'
            cand --filter 'Run tests whose id matches; `!GLOB` excludes; repeatable'
            cand --tag 'Run tests with this tag; repeatable'
            cand -n 'Run each test N times, instead of as often as the suite says'
            cand --trials 'Run each test N times, instead of as often as the suite says'
            cand --rounds 'Run in rounds of one trial per test, at most R (2 to 20), and stop as soon as --gate or the arms have a verdict [default: the number of trials]'
            cand -j 'Run N cases at once [default: one per core; four per core for HTTP targets]'
            cand --workers 'Run N cases at once [default: one per core; four per core for HTTP targets]'
            cand --failed 'Run only the tests that did not pass in an earlier run, with its suites and options [default: the latest]'
            cand --resume 'Continue an interrupted run, with its suites and options [default: the latest]'
            cand --cache 'Reuse answers of earlier runs if nothing they depend on has changed, and save new ones; `gate` also with --gate'
            cand --report 'Report format, and the file to write it to; repeatable [default: terminal]'
            cand -o 'The results file to write [default: a new one in `.evalrig/results` of the repository root]'
            cand --output 'The results file to write [default: a new one in `.evalrig/results` of the repository root]'
            cand --store 'The store for records [default: `.co/evals` in the repository root]'
            cand --keep-runs 'Keep the newest N run files of each record that is written; delete the others'
            cand --sample 'Run a random sample of N tests; see --seed'
            cand --shard 'Run shard I of N; together the shards run every test once'
            cand --seed 'Random seed'
            cand --timeout 'Timeout of one attempt'
            cand --retries 'Retries after a transport failure'
            cand --max-errors 'Stop when N cases could not be measured'
            cand --fail-fast 'Start no new case after the first failure, or after N; --resume runs the rest'
            cand --budget-usd 'Stop when targets and judges have cost this much'
            cand --queue 'Run the cases on `evalrig worker` processes, through these NATS servers'
            cand --attach 'Follow a run on the server, with its suites and options. Ctrl-C stops following; the run continues'
            cand --replicas 'Replicas of each stream and bucket, for a cluster'
            cand --lease 'Time without a heartbeat after which a worker''s cases go to another'
            cand --queue-patience 'Longest time that a case waits for a worker that can run it'
            cand --queue-include 'Also send this file or directory to workers, such as modules that a script imports; repeatable'
            cand --queue-creds 'NATS credentials file [default: NATS_USER and NATS_PASSWORD]'
            cand --queue-ca 'PEM file with CA certificates for the server [default: the system''s]'
            cand --judge 'Judge target, unless an assertion names another'
            cand --pass 'Lowest score that passes [default: the suite''s, else 0.8]'
            cand --borderline 'Lowest score that is borderline [default: the suite''s, else 0.6]'
            cand --pass-trials 'Share of a test''s trials that must pass'
            cand --baseline 'Compare with earlier runs: a results file, a pattern, a directory with results, `latest`, `latest~N` or `latest~A..B`; repeatable'
            cand --baseline-runs 'Number of complete runs that `--baseline latest` selects [default: 4]'
            cand --margin 'Ignore differences in pass rate, or mean score, that are smaller than this'
            cand --measure 'Compare pass rates or mean scores'
            cand --targets 'The targets file [default: the nearest `.evalrig/targets.yaml`]'
            cand --root 'Repository root: paths with a leading `/` start there, and no path may leave it [default: the nearest directory with `.git`]'
            cand --env-file 'Read variables from this file instead of searching for `.env` files'
            cand --profile 'Use the settings of this profile of `evalrig.toml` [default: `$EVALRIG_PROFILE`]'
            cand --color 'When to color the output'
            cand --futility 'With --rounds: also stop when a verdict is unlikely'
            cand --dry-run 'Print the number of calls and their estimated cost without making them'
            cand --watch 'Rerun affected tests when files change, until Ctrl-C'
            cand --view 'Show the run live in a browser; on a terminal, the page is served until Ctrl-C'
            cand --no-open 'With --view: do not open a browser'
            cand --force 'Overwrite the results of another run in the --output file'
            cand --no-messages 'Leave the agent''s messages out of the results; `grade` then cannot check tool calls'
            cand --messages 'Messages are saved by default'
            cand --record 'Record the run even if the `CI` variable is set, which by default turns recording off'
            cand --no-record 'Do not record the run in `.co/evals`'
            cand --detach 'Return once every case is on the server; --attach follows the run'
            cand --insecure 'Accept a server on another machine without TLS or without a login'
            cand --skip-judges 'Skip assertions that need a model as a judge'
            cand --judge-criteria 'Judge `criteria` even if a test has assertions'
            cand --allow-borderline 'Exit with 0 even if tests are borderline'
            cand --gate 'Base the exit code on the comparison alone: 0 if equivalent, better or not worse, 1 if worse, 3 if inconclusive'
            cand --allow-outside-root 'Allow paths outside the repository root'
            cand --no-env-file 'Do not read `.env` files'
            cand -q 'Print less; no report when nothing is wrong'
            cand --quiet 'Print less; no report when nothing is wrong'
            cand -v 'Print more, including notes'
            cand --verbose 'Print more, including notes'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
        }
        &'evalrig;report'= {
            cand --report 'Report format, and the file to write it to; repeatable [default: terminal]'
            cand --pass-trials 'Share of a test''s trials that must pass'
            cand --baseline-arm 'Compare the other arms with this one [default: the baseline arm of the run]'
            cand --baseline 'Compare with earlier runs: a results file, a pattern, a directory with results, `latest`, `latest~N` or `latest~A..B`; repeatable'
            cand --baseline-runs 'Number of complete runs that `--baseline latest` selects [default: 4]'
            cand --margin 'Ignore differences in pass rate, or mean score, that are smaller than this'
            cand --measure 'Compare pass rates or mean scores'
            cand --root 'Repository root: paths in the results start there [default: the nearest directory with `.git`]'
            cand --color 'When to color the output'
            cand --allow-borderline 'Exit with 0 even if tests are borderline'
            cand --gate 'Base the exit code on the comparison alone: 0 if equivalent, better or not worse, 1 if worse, 3 if inconclusive'
            cand -q 'Print less; no report when nothing is wrong'
            cand --quiet 'Print less; no report when nothing is wrong'
            cand -v 'Print more, including notes'
            cand --verbose 'Print more, including notes'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
        }
        &'evalrig;compare'= {
            cand --baseline 'An earlier run; repeatable. RUN is then the candidate'
            cand --baseline-runs 'Number of runs that `latest` selects as a baseline [default: 4]'
            cand --base 'Files of the earlier runs, such as those of shards, instead of RUN'
            cand --candidate 'Files of the later run, instead of RUN'
            cand --arm 'Compare only this arm; repeatable [default: all but the baseline arms]'
            cand --margin 'Ignore differences in pass rate, or mean score, that are smaller than this'
            cand --measure 'Compare pass rates or mean scores'
            cand --format 'Output format'
            cand --selftest 'Test the gate on stored runs: its false-alarm rate, and the smallest drop that it would catch. Several runs are compared with each other; one run is split into halves'
            cand --seed 'Random seed [default: derived from the runs]'
            cand --color 'When to color the output'
            cand --gate 'Base the exit code on the verdict alone: 0 if equivalent, better or not worse, 1 if worse, 3 if inconclusive. Of the newest runs, those that their own gate did not pass are no base'
            cand -q 'Print less; no report when nothing is wrong'
            cand --quiet 'Print less; no report when nothing is wrong'
            cand -v 'Print more, including notes'
            cand --verbose 'Print more, including notes'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
        }
        &'evalrig;view'= {
            cand --port 'The port on 127.0.0.1 [default: any free one]'
            cand --color 'When to color the output'
            cand --no-open 'Do not open a browser'
            cand -q 'Print less; no report when nothing is wrong'
            cand --quiet 'Print less; no report when nothing is wrong'
            cand -v 'Print more, including notes'
            cand --verbose 'Print more, including notes'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
        }
        &'evalrig;grade'= {
            cand --suite 'The suite with the assertions [default: the suites named in the results]'
            cand -j 'Grade N cases at once'
            cand --workers 'Grade N cases at once'
            cand --report 'Report format, and the file to write it to; repeatable [default: terminal]'
            cand -o 'The results file to write [default: a new one in `.evalrig/results` of the repository root]'
            cand --output 'The results file to write [default: a new one in `.evalrig/results` of the repository root]'
            cand --judge 'Judge target, unless an assertion names another'
            cand --pass 'Lowest score that passes [default: the suite''s, else 0.8]'
            cand --borderline 'Lowest score that is borderline [default: the suite''s, else 0.6]'
            cand --pass-trials 'Share of a test''s trials that must pass'
            cand --targets 'The targets file, for judges [default: the nearest `.evalrig/targets.yaml`]'
            cand --root 'Repository root: paths with a leading `/` start there, and no path may leave it [default: the nearest directory with `.git`]'
            cand --env-file 'Read variables from this file instead of searching for `.env` files'
            cand --color 'When to color the output'
            cand --force 'Overwrite the results of another run in the --output file'
            cand --no-messages 'Leave the agent''s messages out of the results; `grade` then cannot check tool calls'
            cand --messages 'Messages are saved by default'
            cand --skip-judges 'Skip assertions that need a model as a judge'
            cand --judge-criteria 'Judge `criteria` even if a test has assertions'
            cand --allow-borderline 'Exit with 0 even if tests are borderline'
            cand --allow-outside-root 'Allow paths outside the repository root'
            cand --no-env-file 'Do not read `.env` files'
            cand -q 'Print less; no report when nothing is wrong'
            cand --quiet 'Print less; no report when nothing is wrong'
            cand -v 'Print more, including notes'
            cand --verbose 'Print more, including notes'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
        }
        &'evalrig;judge'= {
            cand --color 'When to color the output'
            cand -q 'Print less; no report when nothing is wrong'
            cand --quiet 'Print less; no report when nothing is wrong'
            cand -v 'Print more, including notes'
            cand --verbose 'Print more, including notes'
            cand -h 'Print help'
            cand --help 'Print help'
            cand check 'Check judges against labels: agreement, consistency, and the corrected pass rate'
            cand help 'Print this message or the help of the given subcommand(s)'
        }
        &'evalrig;judge;check'= {
            cand --labels 'Labels, as CSV or JSONL [default: `.evalrig/labels.jsonl` in the repository root]'
            cand --readings 'Grade every answer N more times (odd) to measure consistency; prints the cost first'
            cand --budget-usd 'With --readings: stop calling judges when this is spent'
            cand --judge 'With --readings: the judge target'
            cand -j 'With --readings: grade N cases at once'
            cand --workers 'With --readings: grade N cases at once'
            cand --format 'Output format'
            cand --targets 'The targets file, for judges [default: the nearest `.evalrig/targets.yaml`]'
            cand --root 'Repository root: paths with a leading `/` start there, and no path may leave it [default: the nearest directory with `.git`]'
            cand --env-file 'Read variables from this file instead of searching for `.env` files'
            cand --color 'When to color the output'
            cand --dry-run 'With --readings: print the cost, and call no judge'
            cand --allow-outside-root 'Allow paths outside the repository root'
            cand --no-env-file 'Do not read `.env` files'
            cand -q 'Print less; no report when nothing is wrong'
            cand --quiet 'Print less; no report when nothing is wrong'
            cand -v 'Print more, including notes'
            cand --verbose 'Print more, including notes'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
        }
        &'evalrig;judge;help'= {
            cand check 'Check judges against labels: agreement, consistency, and the corrected pass rate'
            cand help 'Print this message or the help of the given subcommand(s)'
        }
        &'evalrig;judge;help;check'= {
        }
        &'evalrig;judge;help;help'= {
        }
        &'evalrig;mutate'= {
            cand --suite 'The suite with the assertions [default: the suites named in the results]'
            cand --judges 'Also try checks that call a judge or a script, with N mutants each; prints the cost first'
            cand --budget-usd 'Stop calling judges when this is spent'
            cand --judge 'Judge target [default: the configured ones]'
            cand --pass 'Lowest score that passes [default: the suite''s]'
            cand --format 'Output format'
            cand --seed 'Random seed'
            cand -j 'Grade N mutants at once'
            cand --workers 'Grade N mutants at once'
            cand --targets 'The targets file, for judges [default: the nearest `.evalrig/targets.yaml`]'
            cand --root 'Repository root: paths with a leading `/` start there, and no path may leave it [default: the nearest directory with `.git`]'
            cand --env-file 'Read variables from this file instead of searching for `.env` files'
            cand --color 'When to color the output'
            cand --deny-weak 'Exit with 1 if a check is weak or a test is unchecked'
            cand --allow-outside-root 'Allow paths outside the repository root'
            cand --no-env-file 'Do not read `.env` files'
            cand -q 'Print less; no report when nothing is wrong'
            cand --quiet 'Print less; no report when nothing is wrong'
            cand -v 'Print more, including notes'
            cand --verbose 'Print more, including notes'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
        }
        &'evalrig;stats'= {
            cand --runs 'Use at most the newest N runs'
            cand --measure 'Measure pass rates or mean scores'
            cand --format 'Output format'
            cand --color 'When to color the output'
            cand -q 'Print less; no report when nothing is wrong'
            cand --quiet 'Print less; no report when nothing is wrong'
            cand -v 'Print more, including notes'
            cand --verbose 'Print more, including notes'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
        }
        &'evalrig;log'= {
            cand --store 'The store [default: `.co/evals` in the repository root]'
            cand --format 'Output format'
            cand --color 'When to color the output'
            cand -q 'Print less; no report when nothing is wrong'
            cand --quiet 'Print less; no report when nothing is wrong'
            cand -v 'Print more, including notes'
            cand --verbose 'Print more, including notes'
            cand -h 'Print help'
            cand --help 'Print help'
            cand list 'List the records'
            cand show 'Show a record: the newest run of every turn, then older runs'
            cand diff 'Compare two runs of a record; exit with 1 if a turn no longer passes'
            cand messages 'Print the messages of a run as a JSON array'
            cand expect 'Set the expected answer of a turn'
            cand evaluate 'Mark the newest answer of a turn as pass or fail'
            cand record 'Record a session from standard input: chat messages, or an agent''s output or session file'
            cand prune 'Delete old runs and records'
            cand verify 'Check the store for unreadable files, runs missing from summaries and wrong counts'
            cand help 'Print this message or the help of the given subcommand(s)'
        }
        &'evalrig;log;list'= {
            cand --store 'The store [default: `.co/evals` in the repository root]'
            cand --format 'Output format'
            cand --color 'When to color the output'
            cand -q 'Print less; no report when nothing is wrong'
            cand --quiet 'Print less; no report when nothing is wrong'
            cand -v 'Print more, including notes'
            cand --verbose 'Print more, including notes'
            cand -h 'Print help'
            cand --help 'Print help'
        }
        &'evalrig;log;show'= {
            cand --store 'The store [default: `.co/evals` in the repository root]'
            cand --format 'Output format'
            cand --color 'When to color the output'
            cand -q 'Print less; no report when nothing is wrong'
            cand --quiet 'Print less; no report when nothing is wrong'
            cand -v 'Print more, including notes'
            cand --verbose 'Print more, including notes'
            cand -h 'Print help'
            cand --help 'Print help'
        }
        &'evalrig;log;diff'= {
            cand --runs 'The two runs, older first [default: the last two]'
            cand --store 'The store [default: `.co/evals` in the repository root]'
            cand --format 'Output format'
            cand --color 'When to color the output'
            cand -q 'Print less; no report when nothing is wrong'
            cand --quiet 'Print less; no report when nothing is wrong'
            cand -v 'Print more, including notes'
            cand --verbose 'Print more, including notes'
            cand -h 'Print help'
            cand --help 'Print help'
        }
        &'evalrig;log;messages'= {
            cand --run 'The run [default: the newest]'
            cand --store 'The store [default: `.co/evals` in the repository root]'
            cand --format 'Output format'
            cand --color 'When to color the output'
            cand -q 'Print less; no report when nothing is wrong'
            cand --quiet 'Print less; no report when nothing is wrong'
            cand -v 'Print more, including notes'
            cand --verbose 'Print more, including notes'
            cand -h 'Print help'
            cand --help 'Print help'
        }
        &'evalrig;log;expect'= {
            cand --turn 'The turn, counted from 1 [default: the last]'
            cand --store 'The store [default: `.co/evals` in the repository root]'
            cand --format 'Output format'
            cand --color 'When to color the output'
            cand -q 'Print less; no report when nothing is wrong'
            cand --quiet 'Print less; no report when nothing is wrong'
            cand -v 'Print more, including notes'
            cand --verbose 'Print more, including notes'
            cand -h 'Print help'
            cand --help 'Print help'
        }
        &'evalrig;log;evaluate'= {
            cand --turn 'The turn, counted from 1 [default: the last]'
            cand --store 'The store [default: `.co/evals` in the repository root]'
            cand --format 'Output format'
            cand --color 'When to color the output'
            cand -q 'Print less; no report when nothing is wrong'
            cand --quiet 'Print less; no report when nothing is wrong'
            cand -v 'Print more, including notes'
            cand --verbose 'Print more, including notes'
            cand -h 'Print help'
            cand --help 'Print help'
        }
        &'evalrig;log;record'= {
            cand --input 'The user''s message, if the session does not contain it'
            cand --from 'The format of the session [default: detected]'
            cand --model 'The model, if the session does not name it'
            cand --expected 'The expected last answer'
            cand --store 'The store [default: `.co/evals` in the repository root]'
            cand --format 'Output format'
            cand --color 'When to color the output'
            cand -q 'Print less; no report when nothing is wrong'
            cand --quiet 'Print less; no report when nothing is wrong'
            cand -v 'Print more, including notes'
            cand --verbose 'Print more, including notes'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
        }
        &'evalrig;log;prune'= {
            cand --keep-runs 'Run files to keep per record'
            cand --keep-history 'Older runs to keep in the history of each turn'
            cand --keep-records 'Records to keep; the newest are kept'
            cand --store 'The store [default: `.co/evals` in the repository root]'
            cand --format 'Output format'
            cand --color 'When to color the output'
            cand --dry-run 'Print what would be deleted, and delete nothing'
            cand -q 'Print less; no report when nothing is wrong'
            cand --quiet 'Print less; no report when nothing is wrong'
            cand -v 'Print more, including notes'
            cand --verbose 'Print more, including notes'
            cand -h 'Print help'
            cand --help 'Print help'
        }
        &'evalrig;log;verify'= {
            cand --store 'The store [default: `.co/evals` in the repository root]'
            cand --format 'Output format'
            cand --color 'When to color the output'
            cand --repair 'Repair what can be repaired; no run is deleted'
            cand -q 'Print less; no report when nothing is wrong'
            cand --quiet 'Print less; no report when nothing is wrong'
            cand -v 'Print more, including notes'
            cand --verbose 'Print more, including notes'
            cand -h 'Print help'
            cand --help 'Print help'
        }
        &'evalrig;log;help'= {
            cand list 'List the records'
            cand show 'Show a record: the newest run of every turn, then older runs'
            cand diff 'Compare two runs of a record; exit with 1 if a turn no longer passes'
            cand messages 'Print the messages of a run as a JSON array'
            cand expect 'Set the expected answer of a turn'
            cand evaluate 'Mark the newest answer of a turn as pass or fail'
            cand record 'Record a session from standard input: chat messages, or an agent''s output or session file'
            cand prune 'Delete old runs and records'
            cand verify 'Check the store for unreadable files, runs missing from summaries and wrong counts'
            cand help 'Print this message or the help of the given subcommand(s)'
        }
        &'evalrig;log;help;list'= {
        }
        &'evalrig;log;help;show'= {
        }
        &'evalrig;log;help;diff'= {
        }
        &'evalrig;log;help;messages'= {
        }
        &'evalrig;log;help;expect'= {
        }
        &'evalrig;log;help;evaluate'= {
        }
        &'evalrig;log;help;record'= {
        }
        &'evalrig;log;help;prune'= {
        }
        &'evalrig;log;help;verify'= {
        }
        &'evalrig;log;help;help'= {
        }
        &'evalrig;explain'= {
            cand --format 'Output format'
            cand --color 'When to color the output'
            cand -q 'Print less; no report when nothing is wrong'
            cand --quiet 'Print less; no report when nothing is wrong'
            cand -v 'Print more, including notes'
            cand --verbose 'Print more, including notes'
            cand -h 'Print help'
            cand --help 'Print help'
        }
        &'evalrig;list'= {
            cand --format 'Output format'
            cand --root 'Repository root: paths with a leading `/` start there, and no path may leave it [default: the nearest directory with `.git`]'
            cand --env-file 'Read variables from this file instead of searching for `.env` files'
            cand --color 'When to color the output'
            cand --allow-outside-root 'Allow paths outside the repository root'
            cand --no-env-file 'Do not read `.env` files'
            cand -q 'Print less; no report when nothing is wrong'
            cand --quiet 'Print less; no report when nothing is wrong'
            cand -v 'Print more, including notes'
            cand --verbose 'Print more, including notes'
            cand -h 'Print help'
            cand --help 'Print help'
        }
        &'evalrig;show'= {
            cand --format 'Output format'
            cand --root 'Repository root: paths with a leading `/` start there, and no path may leave it [default: the nearest directory with `.git`]'
            cand --env-file 'Read variables from this file instead of searching for `.env` files'
            cand --color 'When to color the output'
            cand --allow-outside-root 'Allow paths outside the repository root'
            cand --no-env-file 'Do not read `.env` files'
            cand -q 'Print less; no report when nothing is wrong'
            cand --quiet 'Print less; no report when nothing is wrong'
            cand -v 'Print more, including notes'
            cand --verbose 'Print more, including notes'
            cand -h 'Print help'
            cand --help 'Print help'
        }
        &'evalrig;convert'= {
            cand --from 'The format of the file [default: detected from its keys]'
            cand --map 'Map record keys to test fields, such as `input=question,tags=labels`, or name a preset'
            cand -o 'The file to write; `-` is standard output. For several iterations, a directory'
            cand --output 'The file to write; `-` is standard output. For several iterations, a directory'
            cand --loss-report 'Write the list of losses to this file, as JSON'
            cand --root 'Repository root: paths with a leading `/` start there, and no path may leave it [default: the nearest directory with `.git`]'
            cand --env-file 'Read variables from this file instead of searching for `.env` files'
            cand --color 'When to color the output'
            cand --stdout 'Print the suite, with paths relative to the current directory'
            cand --force 'Overwrite an existing file'
            cand --deny-loss 'Write nothing and exit with 1 if anything would be lost'
            cand --allow-outside-root 'Allow paths outside the repository root'
            cand --no-env-file 'Do not read `.env` files'
            cand -q 'Print less; no report when nothing is wrong'
            cand --quiet 'Print less; no report when nothing is wrong'
            cand -v 'Print more, including notes'
            cand --verbose 'Print more, including notes'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
        }
        &'evalrig;transpile'= {
            cand -o 'The directory to write to [default: the suite''s directory]'
            cand --out 'The directory to write to [default: the suite''s directory]'
            cand --loss-report 'Write the list of losses to this file, as JSON'
            cand --format 'Which files to write'
            cand --for 'The tool that reads the files; for skill-creator the assertions are called `expectations`'
            cand --layout 'Write all files side by side, or into one directory per skill'
            cand --no-skill 'Where tests without a trigger go: to the skill with the most tests, or to a separate file'
            cand --root 'Repository root: paths with a leading `/` start there, and no path may leave it [default: the nearest directory with `.git`]'
            cand --env-file 'Read variables from this file instead of searching for `.env` files'
            cand --color 'When to color the output'
            cand --stdout 'Print instead of writing; there must be exactly one file'
            cand --check 'Write nothing; exit with 1 if a file differs from what would be written'
            cand --force 'Overwrite files that evalrig did not write'
            cand --deny-loss 'Write nothing and exit with 1 if anything would be lost'
            cand --no-criteria 'Leave `criteria` out of the assertions'
            cand --inline-prompts 'Write the contents of prompt files instead of their paths'
            cand --allow-outside-root 'Allow paths outside the repository root'
            cand --no-env-file 'Do not read `.env` files'
            cand -q 'Print less; no report when nothing is wrong'
            cand --quiet 'Print less; no report when nothing is wrong'
            cand -v 'Print more, including notes'
            cand --verbose 'Print more, including notes'
            cand -h 'Print help'
            cand --help 'Print help'
        }
        &'evalrig;export'= {
            cand --color 'When to color the output'
            cand -q 'Print less; no report when nothing is wrong'
            cand --quiet 'Print less; no report when nothing is wrong'
            cand -v 'Print more, including notes'
            cand --verbose 'Print more, including notes'
            cand -h 'Print help'
            cand --help 'Print help'
            cand skill-creator 'Write results as a skill-creator iteration: gradings, timings, outputs and the benchmark'
            cand harbor 'Write tests that check files as Harbor task directories'
            cand help 'Print this message or the help of the given subcommand(s)'
        }
        &'evalrig;export;skill-creator'= {
            cand -o 'The directory to write, such as `csv-workspace/iteration-1`; must be empty or not exist'
            cand --output 'The directory to write, such as `csv-workspace/iteration-1`; must be empty or not exist'
            cand --root 'Repository root, below which `latest` is looked up [default: the nearest directory with `.git`]'
            cand --color 'When to color the output'
            cand --force 'Replace what an earlier export wrote to the directory'
            cand -q 'Print less; no report when nothing is wrong'
            cand --quiet 'Print less; no report when nothing is wrong'
            cand -v 'Print more, including notes'
            cand --verbose 'Print more, including notes'
            cand -h 'Print help'
            cand --help 'Print help'
        }
        &'evalrig;export;harbor'= {
            cand -o 'The directory to write, with one directory per test; must be empty or not exist'
            cand --output 'The directory to write, with one directory per test; must be empty or not exist'
            cand --loss-report 'Write the list of losses to this file, as JSON'
            cand --root 'Repository root: paths with a leading `/` start there, and no path may leave it [default: the nearest directory with `.git`]'
            cand --env-file 'Read variables from this file instead of searching for `.env` files'
            cand --color 'When to color the output'
            cand --force 'Replace what an earlier export wrote to the directory'
            cand --deny-loss 'Write nothing and exit with 1 if anything would be lost'
            cand --allow-outside-root 'Allow paths outside the repository root'
            cand --no-env-file 'Do not read `.env` files'
            cand -q 'Print less; no report when nothing is wrong'
            cand --quiet 'Print less; no report when nothing is wrong'
            cand -v 'Print more, including notes'
            cand --verbose 'Print more, including notes'
            cand -h 'Print help'
            cand --help 'Print help'
        }
        &'evalrig;export;help'= {
            cand skill-creator 'Write results as a skill-creator iteration: gradings, timings, outputs and the benchmark'
            cand harbor 'Write tests that check files as Harbor task directories'
            cand help 'Print this message or the help of the given subcommand(s)'
        }
        &'evalrig;export;help;skill-creator'= {
        }
        &'evalrig;export;help;harbor'= {
        }
        &'evalrig;export;help;help'= {
        }
        &'evalrig;config'= {
            cand --root 'Repository root, which contains `evalrig.toml` [default: the nearest directory with `.git`]'
            cand --profile 'Use the settings of this profile of `evalrig.toml` [default: `$EVALRIG_PROFILE`]'
            cand --format 'Output format'
            cand --color 'When to color the output'
            cand -q 'Print less; no report when nothing is wrong'
            cand --quiet 'Print less; no report when nothing is wrong'
            cand -v 'Print more, including notes'
            cand --verbose 'Print more, including notes'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
        }
        &'evalrig;worker'= {
            cand --queue 'The NATS servers to take cases from'
            cand -j 'Run N cases at once [default: four per core]'
            cand --workers 'Run N cases at once [default: four per core]'
            cand --name 'The name in rows and in the progress of runs [default: host name and process id]'
            cand --cache 'Directory for the files of runs [default: the user''s cache directory]'
            cand --health 'Serve /healthz, /readyz and /metrics on this address, such as 127.0.0.1:9090'
            cand --until-idle 'Exit after this long without cases [default: never]'
            cand --env-file 'Also read variables from this file'
            cand --replicas 'Replicas of the buckets that all runs share, for a cluster; never lowered'
            cand --queue-creds 'NATS credentials file [default: NATS_USER and NATS_PASSWORD]'
            cand --queue-ca 'PEM file with CA certificates for the server [default: the system''s]'
            cand --color 'When to color the output'
            cand --insecure 'Accept a server on another machine without TLS or without a login'
            cand -q 'Print less; no report when nothing is wrong'
            cand --quiet 'Print less; no report when nothing is wrong'
            cand -v 'Print more, including notes'
            cand --verbose 'Print more, including notes'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
        }
        &'evalrig;queue'= {
            cand --color 'When to color the output'
            cand -q 'Print less; no report when nothing is wrong'
            cand --quiet 'Print less; no report when nothing is wrong'
            cand -v 'Print more, including notes'
            cand --verbose 'Print more, including notes'
            cand -h 'Print help'
            cand --help 'Print help'
            cand status 'List the runs on the server and their workers'
            cand cancel 'Cancel a run and keep its rows'
            cand remove 'Delete a run and its rows from the server'
            cand help 'Print this message or the help of the given subcommand(s)'
        }
        &'evalrig;queue;status'= {
            cand --format 'Output format'
            cand --queue 'The NATS servers'
            cand --queue-creds 'NATS credentials file [default: NATS_USER and NATS_PASSWORD]'
            cand --queue-ca 'PEM file with CA certificates for the server [default: the system''s]'
            cand --color 'When to color the output'
            cand --insecure 'Accept a server on another machine without TLS or without a login'
            cand -q 'Print less; no report when nothing is wrong'
            cand --quiet 'Print less; no report when nothing is wrong'
            cand -v 'Print more, including notes'
            cand --verbose 'Print more, including notes'
            cand -h 'Print help'
            cand --help 'Print help'
        }
        &'evalrig;queue;cancel'= {
            cand --queue 'The NATS servers'
            cand --queue-creds 'NATS credentials file [default: NATS_USER and NATS_PASSWORD]'
            cand --queue-ca 'PEM file with CA certificates for the server [default: the system''s]'
            cand --color 'When to color the output'
            cand --insecure 'Accept a server on another machine without TLS or without a login'
            cand -q 'Print less; no report when nothing is wrong'
            cand --quiet 'Print less; no report when nothing is wrong'
            cand -v 'Print more, including notes'
            cand --verbose 'Print more, including notes'
            cand -h 'Print help'
            cand --help 'Print help'
        }
        &'evalrig;queue;remove'= {
            cand --queue 'The NATS servers'
            cand --queue-creds 'NATS credentials file [default: NATS_USER and NATS_PASSWORD]'
            cand --queue-ca 'PEM file with CA certificates for the server [default: the system''s]'
            cand --color 'When to color the output'
            cand --insecure 'Accept a server on another machine without TLS or without a login'
            cand -q 'Print less; no report when nothing is wrong'
            cand --quiet 'Print less; no report when nothing is wrong'
            cand -v 'Print more, including notes'
            cand --verbose 'Print more, including notes'
            cand -h 'Print help'
            cand --help 'Print help'
        }
        &'evalrig;queue;help'= {
            cand status 'List the runs on the server and their workers'
            cand cancel 'Cancel a run and keep its rows'
            cand remove 'Delete a run and its rows from the server'
            cand help 'Print this message or the help of the given subcommand(s)'
        }
        &'evalrig;queue;help;status'= {
        }
        &'evalrig;queue;help;cancel'= {
        }
        &'evalrig;queue;help;remove'= {
        }
        &'evalrig;queue;help;help'= {
        }
        &'evalrig;lsp'= {
            cand --color 'When to color the output'
            cand --stdio 'The only way to talk to it; accepted because editors pass it'
            cand -q 'Print less; no report when nothing is wrong'
            cand --quiet 'Print less; no report when nothing is wrong'
            cand -v 'Print more, including notes'
            cand --verbose 'Print more, including notes'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
        }
        &'evalrig;mcp'= {
            cand --color 'When to color the output'
            cand --read-only 'Offer no tool that runs suites or changes files'
            cand -q 'Print less; no report when nothing is wrong'
            cand --quiet 'Print less; no report when nothing is wrong'
            cand -v 'Print more, including notes'
            cand --verbose 'Print more, including notes'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
        }
        &'evalrig;schema'= {
            cand --draft 'JSON Schema draft'
            cand --color 'When to color the output'
            cand --strict 'For editors: flag unknown keys and old spellings; for `suite` and `targets` only'
            cand -q 'Print less; no report when nothing is wrong'
            cand --quiet 'Print less; no report when nothing is wrong'
            cand -v 'Print more, including notes'
            cand --verbose 'Print more, including notes'
            cand -h 'Print help'
            cand --help 'Print help'
        }
        &'evalrig;completions'= {
            cand --color 'When to color the output'
            cand -q 'Print less; no report when nothing is wrong'
            cand --quiet 'Print less; no report when nothing is wrong'
            cand -v 'Print more, including notes'
            cand --verbose 'Print more, including notes'
            cand -h 'Print help'
            cand --help 'Print help'
        }
        &'evalrig;man'= {
            cand --color 'When to color the output'
            cand -q 'Print less; no report when nothing is wrong'
            cand --quiet 'Print less; no report when nothing is wrong'
            cand -v 'Print more, including notes'
            cand --verbose 'Print more, including notes'
            cand -h 'Print help'
            cand --help 'Print help'
        }
        &'evalrig;help'= {
            cand init 'Write the files needed to run suites: a suite, a targets file, a .gitignore, a CI workflow'
            cand validate 'Check suites, imports, targets files and evals.json; report every mistake with its line'
            cand run 'Run suites against their targets, grade the answers, save and report the results'
            cand report 'Report a stored run again, in any format'
            cand compare 'Compare two runs: what changed, and whether it is more than chance'
            cand view 'Show runs, comparisons and records in a browser, served on this machine only'
            cand grade 'Grade a stored run again with the suite''s current assertions, without calling the target'
            cand judge 'Measure how reliable judges are'
            cand mutate 'Damage stored answers that passed, and list the checks that do not notice'
            cand stats 'Show what causes variance in stored runs, and the effect of more trials, tests or votes'
            cand log 'Inspect and edit the `.co/evals` store, which records every run'
            cand explain 'Explain a diagnostic, an assertion type, a provider or a format of `convert`; without a name, list all of them'
            cand list 'List suites and their tests'
            cand show 'Print a suite, or one test, as evalrig understands it: imports, old spellings, `input_files` and variables are resolved'
            cand convert 'Convert a suite of another tool, an evals.json, cases of `claude plugin eval` or `.co/evals` records to an EVAL.yaml, or an iteration of skill-creator to results'
            cand transpile 'Write a suite as the evals.json and eval sets of skill-creator'
            cand export 'Write results in the format of another tool'
            cand config 'Show the settings of `run` and `validate`, and where each comes from'
            cand worker 'Run cases of `run --queue` on this machine until stopped'
            cand queue 'List, cancel and remove the runs on a server'
            cand lsp 'Run the language server (LSP): diagnostics, fixes, completion and more for editors'
            cand mcp 'Run the MCP server: tools for coding agents, on standard input and output'
            cand schema 'Print a JSON Schema for editors and other tools'
            cand completions 'Print a completion script for a shell'
            cand man 'Write man pages to a directory'
            cand help 'Print this message or the help of the given subcommand(s)'
        }
        &'evalrig;help;init'= {
        }
        &'evalrig;help;validate'= {
        }
        &'evalrig;help;run'= {
        }
        &'evalrig;help;report'= {
        }
        &'evalrig;help;compare'= {
        }
        &'evalrig;help;view'= {
        }
        &'evalrig;help;grade'= {
        }
        &'evalrig;help;judge'= {
            cand check 'Check judges against labels: agreement, consistency, and the corrected pass rate'
        }
        &'evalrig;help;judge;check'= {
        }
        &'evalrig;help;mutate'= {
        }
        &'evalrig;help;stats'= {
        }
        &'evalrig;help;log'= {
            cand list 'List the records'
            cand show 'Show a record: the newest run of every turn, then older runs'
            cand diff 'Compare two runs of a record; exit with 1 if a turn no longer passes'
            cand messages 'Print the messages of a run as a JSON array'
            cand expect 'Set the expected answer of a turn'
            cand evaluate 'Mark the newest answer of a turn as pass or fail'
            cand record 'Record a session from standard input: chat messages, or an agent''s output or session file'
            cand prune 'Delete old runs and records'
            cand verify 'Check the store for unreadable files, runs missing from summaries and wrong counts'
        }
        &'evalrig;help;log;list'= {
        }
        &'evalrig;help;log;show'= {
        }
        &'evalrig;help;log;diff'= {
        }
        &'evalrig;help;log;messages'= {
        }
        &'evalrig;help;log;expect'= {
        }
        &'evalrig;help;log;evaluate'= {
        }
        &'evalrig;help;log;record'= {
        }
        &'evalrig;help;log;prune'= {
        }
        &'evalrig;help;log;verify'= {
        }
        &'evalrig;help;explain'= {
        }
        &'evalrig;help;list'= {
        }
        &'evalrig;help;show'= {
        }
        &'evalrig;help;convert'= {
        }
        &'evalrig;help;transpile'= {
        }
        &'evalrig;help;export'= {
            cand skill-creator 'Write results as a skill-creator iteration: gradings, timings, outputs and the benchmark'
            cand harbor 'Write tests that check files as Harbor task directories'
        }
        &'evalrig;help;export;skill-creator'= {
        }
        &'evalrig;help;export;harbor'= {
        }
        &'evalrig;help;config'= {
        }
        &'evalrig;help;worker'= {
        }
        &'evalrig;help;queue'= {
            cand status 'List the runs on the server and their workers'
            cand cancel 'Cancel a run and keep its rows'
            cand remove 'Delete a run and its rows from the server'
        }
        &'evalrig;help;queue;status'= {
        }
        &'evalrig;help;queue;cancel'= {
        }
        &'evalrig;help;queue;remove'= {
        }
        &'evalrig;help;lsp'= {
        }
        &'evalrig;help;mcp'= {
        }
        &'evalrig;help;schema'= {
        }
        &'evalrig;help;completions'= {
        }
        &'evalrig;help;man'= {
        }
        &'evalrig;help;help'= {
        }
    ]
    $completions[$command]
}
