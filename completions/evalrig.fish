# Print an optspec for argparse to handle cmd's options that are independent of any subcommand.
function __fish_evalrig_global_optspecs
    string join \n q/quiet v/verbose color= h/help V/version
end

function __fish_evalrig_needs_command
    # Figure out if the current invocation already has a command.
    set -l cmd (commandline -opc)
    set -e cmd[1]
    argparse -s (__fish_evalrig_global_optspecs) -- $cmd 2>/dev/null
    or return
    if set -q argv[1]
        # Also print the command, so this can be used to figure out what it is.
        echo $argv[1]
        return 1
    end
    return 0
end

function __fish_evalrig_using_subcommand
    set -l cmd (__fish_evalrig_needs_command)
    test -z "$cmd"
    and return 1
    contains -- $cmd[1] $argv
end

complete -c evalrig -n "__fish_evalrig_needs_command" -l color -d 'When to color the output' -r -f -a "auto\t''
always\t''
never\t''"
complete -c evalrig -n "__fish_evalrig_needs_command" -s q -l quiet -d 'Print less; no report when nothing is wrong'
complete -c evalrig -n "__fish_evalrig_needs_command" -s v -l verbose -d 'Print more, including notes'
complete -c evalrig -n "__fish_evalrig_needs_command" -s h -l help -d 'Print help'
complete -c evalrig -n "__fish_evalrig_needs_command" -s V -l version -d 'Print version'
complete -c evalrig -n "__fish_evalrig_needs_command" -f -a "init" -d 'Write the files needed to run suites: a suite, a targets file, a .gitignore, a CI workflow'
complete -c evalrig -n "__fish_evalrig_needs_command" -f -a "validate" -d 'Check suites, imports, targets files and evals.json; report every mistake with its line'
complete -c evalrig -n "__fish_evalrig_needs_command" -f -a "run" -d 'Run suites against their targets, grade the answers, save and report the results'
complete -c evalrig -n "__fish_evalrig_needs_command" -f -a "report" -d 'Report a stored run again, in any format'
complete -c evalrig -n "__fish_evalrig_needs_command" -f -a "compare" -d 'Compare two runs: what changed, and whether it is more than chance'
complete -c evalrig -n "__fish_evalrig_needs_command" -f -a "view" -d 'Show runs, comparisons and records in a browser, served on this machine only'
complete -c evalrig -n "__fish_evalrig_needs_command" -f -a "grade" -d 'Grade a stored run again with the suite\'s current assertions, without calling the target'
complete -c evalrig -n "__fish_evalrig_needs_command" -f -a "judge" -d 'Measure how reliable judges are'
complete -c evalrig -n "__fish_evalrig_needs_command" -f -a "mutate" -d 'Damage stored answers that passed, and list the checks that do not notice'
complete -c evalrig -n "__fish_evalrig_needs_command" -f -a "stats" -d 'Show what causes variance in stored runs, and the effect of more trials, tests or votes'
complete -c evalrig -n "__fish_evalrig_needs_command" -f -a "log" -d 'Inspect and edit the `.co/evals` store, which records every run'
complete -c evalrig -n "__fish_evalrig_needs_command" -f -a "explain" -d 'Explain a diagnostic, an assertion type, a provider or a format of `convert`; without a name, list all of them'
complete -c evalrig -n "__fish_evalrig_needs_command" -f -a "list" -d 'List suites and their tests'
complete -c evalrig -n "__fish_evalrig_needs_command" -f -a "show" -d 'Print a suite, or one test, as evalrig understands it: imports, old spellings, `input_files` and variables are resolved'
complete -c evalrig -n "__fish_evalrig_needs_command" -f -a "convert" -d 'Convert a suite of another tool, an evals.json, cases of `claude plugin eval` or `.co/evals` records to an EVAL.yaml, or an iteration of skill-creator to results'
complete -c evalrig -n "__fish_evalrig_needs_command" -f -a "transpile" -d 'Write a suite as the evals.json and eval sets of skill-creator'
complete -c evalrig -n "__fish_evalrig_needs_command" -f -a "export" -d 'Write results in the format of another tool'
complete -c evalrig -n "__fish_evalrig_needs_command" -f -a "config" -d 'Show the settings of `run` and `validate`, and where each comes from'
complete -c evalrig -n "__fish_evalrig_needs_command" -f -a "worker" -d 'Run cases of `run --queue` on this machine until stopped'
complete -c evalrig -n "__fish_evalrig_needs_command" -f -a "queue" -d 'List, cancel and remove the runs on a server'
complete -c evalrig -n "__fish_evalrig_needs_command" -f -a "lsp" -d 'Run the language server (LSP): diagnostics, fixes, completion and more for editors'
complete -c evalrig -n "__fish_evalrig_needs_command" -f -a "mcp" -d 'Run the MCP server: tools for coding agents, on standard input and output'
complete -c evalrig -n "__fish_evalrig_needs_command" -f -a "schema" -d 'Print a JSON Schema for editors and other tools'
complete -c evalrig -n "__fish_evalrig_needs_command" -f -a "completions" -d 'Print a completion script for a shell'
complete -c evalrig -n "__fish_evalrig_needs_command" -f -a "man" -d 'Write man pages to a directory'
complete -c evalrig -n "__fish_evalrig_needs_command" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c evalrig -n "__fish_evalrig_using_subcommand init" -l target -d 'Agent to test [default: an installed agent if there are suites or a SKILL.md, else a mock]' -r -f -a "claude\t'Claude Code'
codex\t'Codex'
gemini\t'Gemini CLI'
copilot\t'GitHub Copilot CLI'
opencode\t'opencode'
pi\t'Pi'
python\t'A Python program'
openai\t'A model behind an OpenAI-compatible API'
http\t'An HTTP service'"
complete -c evalrig -n "__fish_evalrig_using_subcommand init" -l example -d 'Write a complete example that runs offline' -r -f -a "coding-agent\t'A program stands in for a coding agent and fixes a bug in a workspace; hidden tests check it'"
complete -c evalrig -n "__fish_evalrig_using_subcommand init" -l ci -d 'Write a workflow that runs the suites in CI' -r -f -a "github\t'GitHub Actions'"
complete -c evalrig -n "__fish_evalrig_using_subcommand init" -l color -d 'When to color the output' -r -f -a "auto\t''
always\t''
never\t''"
complete -c evalrig -n "__fish_evalrig_using_subcommand init" -l run -d 'Run the directory\'s suites afterwards'
complete -c evalrig -n "__fish_evalrig_using_subcommand init" -s q -l quiet -d 'Print less; no report when nothing is wrong'
complete -c evalrig -n "__fish_evalrig_using_subcommand init" -s v -l verbose -d 'Print more, including notes'
complete -c evalrig -n "__fish_evalrig_using_subcommand init" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c evalrig -n "__fish_evalrig_using_subcommand validate" -l format -d 'Output format' -r -f -a "full\t''
concise\t''
json\t''
github\t''
sarif\t''"
complete -c evalrig -n "__fish_evalrig_using_subcommand validate" -l targets -d 'Check target names against this targets file [default: the nearest `.evalrig/targets.yaml`]' -r
complete -c evalrig -n "__fish_evalrig_using_subcommand validate" -l root -d 'Repository root: paths with a leading `/` start there, and no path may leave it [default: the nearest directory with `.git`]' -r
complete -c evalrig -n "__fish_evalrig_using_subcommand validate" -l env-file -d 'Read variables from this file instead of searching for `.env` files' -r
complete -c evalrig -n "__fish_evalrig_using_subcommand validate" -l profile -d 'Use the settings of this profile of `evalrig.toml` [default: `$EVALRIG_PROFILE`]' -r
complete -c evalrig -n "__fish_evalrig_using_subcommand validate" -l color -d 'When to color the output' -r -f -a "auto\t''
always\t''
never\t''"
complete -c evalrig -n "__fish_evalrig_using_subcommand validate" -l fix -d 'Apply safe fixes in place; comments and formatting are kept'
complete -c evalrig -n "__fish_evalrig_using_subcommand validate" -l diff -d 'With --fix: print the changes instead of writing them'
complete -c evalrig -n "__fish_evalrig_using_subcommand validate" -l strict -d 'Treat warnings and conformance errors as blocking errors'
complete -c evalrig -n "__fish_evalrig_using_subcommand validate" -l allow-outside-root -d 'Allow paths outside the repository root'
complete -c evalrig -n "__fish_evalrig_using_subcommand validate" -l no-env-file -d 'Do not read `.env` files'
complete -c evalrig -n "__fish_evalrig_using_subcommand validate" -s q -l quiet -d 'Print less; no report when nothing is wrong'
complete -c evalrig -n "__fish_evalrig_using_subcommand validate" -s v -l verbose -d 'Print more, including notes'
complete -c evalrig -n "__fish_evalrig_using_subcommand validate" -s h -l help -d 'Print help'
complete -c evalrig -n "__fish_evalrig_using_subcommand run" -s t -l target -d 'Run against this target instead of the suite\'s; repeatable' -r
complete -c evalrig -n "__fish_evalrig_using_subcommand run" -l arm -d 'Run this arm of the suites, such as `with` or `without` their skills; repeatable' -r
complete -c evalrig -n "__fish_evalrig_using_subcommand run" -l baseline-arm -d 'Compare the other arms with this one [default: `without`, else the first]' -r
complete -c evalrig -n "__fish_evalrig_using_subcommand run" -l reuse-arm -d 'Reuse rows of unchanged arms from this run: a results file, a directory, `latest` or `latest~N`' -r
complete -c evalrig -n "__fish_evalrig_using_subcommand run" -l sandbox -d 'Confine the processes of every target: none, home, bwrap, podman or docker' -r -f -a "none\t''
home\t''
bwrap\t''
podman\t''
docker\t''"
complete -c evalrig -n "__fish_evalrig_using_subcommand run" -l keep-workspaces -d 'Keep the workspaces of cases: never, failed (and errored) or always [default: `keep` of the workspace, else failed]' -r -f -a "never\t''
failed\t''
always\t''"
complete -c evalrig -n "__fish_evalrig_using_subcommand run" -s f -l filter -d 'Run tests whose id matches; `!GLOB` excludes; repeatable' -r
complete -c evalrig -n "__fish_evalrig_using_subcommand run" -l tag -d 'Run tests with this tag; repeatable' -r
complete -c evalrig -n "__fish_evalrig_using_subcommand run" -s n -l trials -d 'Run each test N times, instead of as often as the suite says' -r
complete -c evalrig -n "__fish_evalrig_using_subcommand run" -l rounds -d 'Run in rounds of one trial per test, at most R (2 to 20), and stop as soon as --gate or the arms have a verdict [default: the number of trials]' -r
complete -c evalrig -n "__fish_evalrig_using_subcommand run" -s j -l workers -d 'Run N cases at once [default: one per core; four per core for HTTP targets]' -r
complete -c evalrig -n "__fish_evalrig_using_subcommand run" -l failed -d 'Run only the tests that did not pass in an earlier run, with its suites and options [default: the latest]' -r
complete -c evalrig -n "__fish_evalrig_using_subcommand run" -l resume -d 'Continue an interrupted run, with its suites and options [default: the latest]' -r
complete -c evalrig -n "__fish_evalrig_using_subcommand run" -l cache -d 'Reuse answers of earlier runs if nothing they depend on has changed, and save new ones; `gate` also with --gate' -r -f -a "off\t''
on\t''
gate\t''"
complete -c evalrig -n "__fish_evalrig_using_subcommand run" -l report -d 'Report format, and the file to write it to; repeatable [default: terminal]' -r
complete -c evalrig -n "__fish_evalrig_using_subcommand run" -s o -l output -d 'The results file to write [default: a new one in `.evalrig/results` of the repository root]' -r
complete -c evalrig -n "__fish_evalrig_using_subcommand run" -l store -d 'The store for records [default: `.co/evals` in the repository root]' -r
complete -c evalrig -n "__fish_evalrig_using_subcommand run" -l keep-runs -d 'Keep the newest N run files of each record that is written; delete the others' -r
complete -c evalrig -n "__fish_evalrig_using_subcommand run" -l sample -d 'Run a random sample of N tests; see --seed' -r
complete -c evalrig -n "__fish_evalrig_using_subcommand run" -l shard -d 'Run shard I of N; together the shards run every test once' -r
complete -c evalrig -n "__fish_evalrig_using_subcommand run" -l seed -d 'Random seed' -r
complete -c evalrig -n "__fish_evalrig_using_subcommand run" -l timeout -d 'Timeout of one attempt' -r
complete -c evalrig -n "__fish_evalrig_using_subcommand run" -l retries -d 'Retries after a transport failure' -r
complete -c evalrig -n "__fish_evalrig_using_subcommand run" -l max-errors -d 'Stop when N cases could not be measured' -r
complete -c evalrig -n "__fish_evalrig_using_subcommand run" -l fail-fast -d 'Start no new case after the first failure, or after N; --resume runs the rest' -r
complete -c evalrig -n "__fish_evalrig_using_subcommand run" -l budget-usd -d 'Stop when targets and judges have cost this much' -r
complete -c evalrig -n "__fish_evalrig_using_subcommand run" -l queue -d 'Run the cases on `evalrig worker` processes, through these NATS servers' -r
complete -c evalrig -n "__fish_evalrig_using_subcommand run" -l attach -d 'Follow a run on the server, with its suites and options. Ctrl-C stops following; the run continues' -r
complete -c evalrig -n "__fish_evalrig_using_subcommand run" -l replicas -d 'Replicas of each stream and bucket, for a cluster' -r
complete -c evalrig -n "__fish_evalrig_using_subcommand run" -l lease -d 'Time without a heartbeat after which a worker\'s cases go to another' -r
complete -c evalrig -n "__fish_evalrig_using_subcommand run" -l queue-patience -d 'Longest time that a case waits for a worker that can run it' -r
complete -c evalrig -n "__fish_evalrig_using_subcommand run" -l queue-include -d 'Also send this file or directory to workers, such as modules that a script imports; repeatable' -r
complete -c evalrig -n "__fish_evalrig_using_subcommand run" -l queue-creds -d 'NATS credentials file [default: NATS_USER and NATS_PASSWORD]' -r
complete -c evalrig -n "__fish_evalrig_using_subcommand run" -l queue-ca -d 'PEM file with CA certificates for the server [default: the system\'s]' -r
complete -c evalrig -n "__fish_evalrig_using_subcommand run" -l judge -d 'Judge target, unless an assertion names another' -r
complete -c evalrig -n "__fish_evalrig_using_subcommand run" -l pass -d 'Lowest score that passes [default: the suite\'s, else 0.8]' -r
complete -c evalrig -n "__fish_evalrig_using_subcommand run" -l borderline -d 'Lowest score that is borderline [default: the suite\'s, else 0.6]' -r
complete -c evalrig -n "__fish_evalrig_using_subcommand run" -l pass-trials -d 'Share of a test\'s trials that must pass' -r
complete -c evalrig -n "__fish_evalrig_using_subcommand run" -l baseline -d 'Compare with earlier runs: a results file, a pattern, a directory with results, `latest`, `latest~N` or `latest~A..B`; repeatable' -r
complete -c evalrig -n "__fish_evalrig_using_subcommand run" -l baseline-runs -d 'Number of complete runs that `--baseline latest` selects [default: 4]' -r
complete -c evalrig -n "__fish_evalrig_using_subcommand run" -l margin -d 'Ignore differences in pass rate, or mean score, that are smaller than this' -r
complete -c evalrig -n "__fish_evalrig_using_subcommand run" -l measure -d 'Compare pass rates or mean scores' -r -f -a "pass\t''
score\t''"
complete -c evalrig -n "__fish_evalrig_using_subcommand run" -l targets -d 'The targets file [default: the nearest `.evalrig/targets.yaml`]' -r
complete -c evalrig -n "__fish_evalrig_using_subcommand run" -l root -d 'Repository root: paths with a leading `/` start there, and no path may leave it [default: the nearest directory with `.git`]' -r
complete -c evalrig -n "__fish_evalrig_using_subcommand run" -l env-file -d 'Read variables from this file instead of searching for `.env` files' -r
complete -c evalrig -n "__fish_evalrig_using_subcommand run" -l profile -d 'Use the settings of this profile of `evalrig.toml` [default: `$EVALRIG_PROFILE`]' -r
complete -c evalrig -n "__fish_evalrig_using_subcommand run" -l color -d 'When to color the output' -r -f -a "auto\t''
always\t''
never\t''"
complete -c evalrig -n "__fish_evalrig_using_subcommand run" -l futility -d 'With --rounds: also stop when a verdict is unlikely'
complete -c evalrig -n "__fish_evalrig_using_subcommand run" -l dry-run -d 'Print the number of calls and their estimated cost without making them'
complete -c evalrig -n "__fish_evalrig_using_subcommand run" -l watch -d 'Rerun affected tests when files change, until Ctrl-C'
complete -c evalrig -n "__fish_evalrig_using_subcommand run" -l view -d 'Show the run live in a browser; on a terminal, the page is served until Ctrl-C'
complete -c evalrig -n "__fish_evalrig_using_subcommand run" -l no-open -d 'With --view: do not open a browser'
complete -c evalrig -n "__fish_evalrig_using_subcommand run" -l force -d 'Overwrite the results of another run in the --output file'
complete -c evalrig -n "__fish_evalrig_using_subcommand run" -l no-messages -d 'Leave the agent\'s messages out of the results; `grade` then cannot check tool calls'
complete -c evalrig -n "__fish_evalrig_using_subcommand run" -l messages -d 'Messages are saved by default'
complete -c evalrig -n "__fish_evalrig_using_subcommand run" -l record -d 'Record the run even if the `CI` variable is set, which by default turns recording off'
complete -c evalrig -n "__fish_evalrig_using_subcommand run" -l no-record -d 'Do not record the run in `.co/evals`'
complete -c evalrig -n "__fish_evalrig_using_subcommand run" -l detach -d 'Return once every case is on the server; --attach follows the run'
complete -c evalrig -n "__fish_evalrig_using_subcommand run" -l insecure -d 'Accept a server on another machine without TLS or without a login'
complete -c evalrig -n "__fish_evalrig_using_subcommand run" -l skip-judges -d 'Skip assertions that need a model as a judge'
complete -c evalrig -n "__fish_evalrig_using_subcommand run" -l judge-criteria -d 'Judge `criteria` even if a test has assertions'
complete -c evalrig -n "__fish_evalrig_using_subcommand run" -l allow-borderline -d 'Exit with 0 even if tests are borderline'
complete -c evalrig -n "__fish_evalrig_using_subcommand run" -l gate -d 'Base the exit code on the comparison alone: 0 if equivalent, better or not worse, 1 if worse, 3 if inconclusive'
complete -c evalrig -n "__fish_evalrig_using_subcommand run" -l allow-outside-root -d 'Allow paths outside the repository root'
complete -c evalrig -n "__fish_evalrig_using_subcommand run" -l no-env-file -d 'Do not read `.env` files'
complete -c evalrig -n "__fish_evalrig_using_subcommand run" -s q -l quiet -d 'Print less; no report when nothing is wrong'
complete -c evalrig -n "__fish_evalrig_using_subcommand run" -s v -l verbose -d 'Print more, including notes'
complete -c evalrig -n "__fish_evalrig_using_subcommand run" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c evalrig -n "__fish_evalrig_using_subcommand report" -l report -d 'Report format, and the file to write it to; repeatable [default: terminal]' -r
complete -c evalrig -n "__fish_evalrig_using_subcommand report" -l pass-trials -d 'Share of a test\'s trials that must pass' -r
complete -c evalrig -n "__fish_evalrig_using_subcommand report" -l baseline-arm -d 'Compare the other arms with this one [default: the baseline arm of the run]' -r
complete -c evalrig -n "__fish_evalrig_using_subcommand report" -l baseline -d 'Compare with earlier runs: a results file, a pattern, a directory with results, `latest`, `latest~N` or `latest~A..B`; repeatable' -r
complete -c evalrig -n "__fish_evalrig_using_subcommand report" -l baseline-runs -d 'Number of complete runs that `--baseline latest` selects [default: 4]' -r
complete -c evalrig -n "__fish_evalrig_using_subcommand report" -l margin -d 'Ignore differences in pass rate, or mean score, that are smaller than this' -r
complete -c evalrig -n "__fish_evalrig_using_subcommand report" -l measure -d 'Compare pass rates or mean scores' -r -f -a "pass\t''
score\t''"
complete -c evalrig -n "__fish_evalrig_using_subcommand report" -l root -d 'Repository root: paths in the results start there [default: the nearest directory with `.git`]' -r
complete -c evalrig -n "__fish_evalrig_using_subcommand report" -l color -d 'When to color the output' -r -f -a "auto\t''
always\t''
never\t''"
complete -c evalrig -n "__fish_evalrig_using_subcommand report" -l allow-borderline -d 'Exit with 0 even if tests are borderline'
complete -c evalrig -n "__fish_evalrig_using_subcommand report" -l gate -d 'Base the exit code on the comparison alone: 0 if equivalent, better or not worse, 1 if worse, 3 if inconclusive'
complete -c evalrig -n "__fish_evalrig_using_subcommand report" -s q -l quiet -d 'Print less; no report when nothing is wrong'
complete -c evalrig -n "__fish_evalrig_using_subcommand report" -s v -l verbose -d 'Print more, including notes'
complete -c evalrig -n "__fish_evalrig_using_subcommand report" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c evalrig -n "__fish_evalrig_using_subcommand compare" -l baseline -d 'An earlier run; repeatable. RUN is then the candidate' -r
complete -c evalrig -n "__fish_evalrig_using_subcommand compare" -l baseline-runs -d 'Number of runs that `latest` selects as a baseline [default: 4]' -r
complete -c evalrig -n "__fish_evalrig_using_subcommand compare" -l base -d 'Files of the earlier runs, such as those of shards, instead of RUN' -r
complete -c evalrig -n "__fish_evalrig_using_subcommand compare" -l candidate -d 'Files of the later run, instead of RUN' -r
complete -c evalrig -n "__fish_evalrig_using_subcommand compare" -l arm -d 'Compare only this arm; repeatable [default: all but the baseline arms]' -r
complete -c evalrig -n "__fish_evalrig_using_subcommand compare" -l margin -d 'Ignore differences in pass rate, or mean score, that are smaller than this' -r
complete -c evalrig -n "__fish_evalrig_using_subcommand compare" -l measure -d 'Compare pass rates or mean scores' -r -f -a "pass\t''
score\t''"
complete -c evalrig -n "__fish_evalrig_using_subcommand compare" -l format -d 'Output format' -r -f -a "text\t''
json\t''
markdown\t''"
complete -c evalrig -n "__fish_evalrig_using_subcommand compare" -l selftest -d 'Test the gate on stored runs: its false-alarm rate, and the smallest drop that it would catch. Several runs are compared with each other; one run is split into halves' -r
complete -c evalrig -n "__fish_evalrig_using_subcommand compare" -l seed -d 'Random seed [default: derived from the runs]' -r
complete -c evalrig -n "__fish_evalrig_using_subcommand compare" -l color -d 'When to color the output' -r -f -a "auto\t''
always\t''
never\t''"
complete -c evalrig -n "__fish_evalrig_using_subcommand compare" -l gate -d 'Base the exit code on the verdict alone: 0 if equivalent, better or not worse, 1 if worse, 3 if inconclusive. Of the newest runs, those that their own gate did not pass are no base'
complete -c evalrig -n "__fish_evalrig_using_subcommand compare" -s q -l quiet -d 'Print less; no report when nothing is wrong'
complete -c evalrig -n "__fish_evalrig_using_subcommand compare" -s v -l verbose -d 'Print more, including notes'
complete -c evalrig -n "__fish_evalrig_using_subcommand compare" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c evalrig -n "__fish_evalrig_using_subcommand view" -l port -d 'The port on 127.0.0.1 [default: any free one]' -r
complete -c evalrig -n "__fish_evalrig_using_subcommand view" -l color -d 'When to color the output' -r -f -a "auto\t''
always\t''
never\t''"
complete -c evalrig -n "__fish_evalrig_using_subcommand view" -l no-open -d 'Do not open a browser'
complete -c evalrig -n "__fish_evalrig_using_subcommand view" -s q -l quiet -d 'Print less; no report when nothing is wrong'
complete -c evalrig -n "__fish_evalrig_using_subcommand view" -s v -l verbose -d 'Print more, including notes'
complete -c evalrig -n "__fish_evalrig_using_subcommand view" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c evalrig -n "__fish_evalrig_using_subcommand grade" -l suite -d 'The suite with the assertions [default: the suites named in the results]' -r
complete -c evalrig -n "__fish_evalrig_using_subcommand grade" -s j -l workers -d 'Grade N cases at once' -r
complete -c evalrig -n "__fish_evalrig_using_subcommand grade" -l report -d 'Report format, and the file to write it to; repeatable [default: terminal]' -r
complete -c evalrig -n "__fish_evalrig_using_subcommand grade" -s o -l output -d 'The results file to write [default: a new one in `.evalrig/results` of the repository root]' -r
complete -c evalrig -n "__fish_evalrig_using_subcommand grade" -l judge -d 'Judge target, unless an assertion names another' -r
complete -c evalrig -n "__fish_evalrig_using_subcommand grade" -l pass -d 'Lowest score that passes [default: the suite\'s, else 0.8]' -r
complete -c evalrig -n "__fish_evalrig_using_subcommand grade" -l borderline -d 'Lowest score that is borderline [default: the suite\'s, else 0.6]' -r
complete -c evalrig -n "__fish_evalrig_using_subcommand grade" -l pass-trials -d 'Share of a test\'s trials that must pass' -r
complete -c evalrig -n "__fish_evalrig_using_subcommand grade" -l targets -d 'The targets file, for judges [default: the nearest `.evalrig/targets.yaml`]' -r
complete -c evalrig -n "__fish_evalrig_using_subcommand grade" -l root -d 'Repository root: paths with a leading `/` start there, and no path may leave it [default: the nearest directory with `.git`]' -r
complete -c evalrig -n "__fish_evalrig_using_subcommand grade" -l env-file -d 'Read variables from this file instead of searching for `.env` files' -r
complete -c evalrig -n "__fish_evalrig_using_subcommand grade" -l color -d 'When to color the output' -r -f -a "auto\t''
always\t''
never\t''"
complete -c evalrig -n "__fish_evalrig_using_subcommand grade" -l force -d 'Overwrite the results of another run in the --output file'
complete -c evalrig -n "__fish_evalrig_using_subcommand grade" -l no-messages -d 'Leave the agent\'s messages out of the results; `grade` then cannot check tool calls'
complete -c evalrig -n "__fish_evalrig_using_subcommand grade" -l messages -d 'Messages are saved by default'
complete -c evalrig -n "__fish_evalrig_using_subcommand grade" -l skip-judges -d 'Skip assertions that need a model as a judge'
complete -c evalrig -n "__fish_evalrig_using_subcommand grade" -l judge-criteria -d 'Judge `criteria` even if a test has assertions'
complete -c evalrig -n "__fish_evalrig_using_subcommand grade" -l allow-borderline -d 'Exit with 0 even if tests are borderline'
complete -c evalrig -n "__fish_evalrig_using_subcommand grade" -l allow-outside-root -d 'Allow paths outside the repository root'
complete -c evalrig -n "__fish_evalrig_using_subcommand grade" -l no-env-file -d 'Do not read `.env` files'
complete -c evalrig -n "__fish_evalrig_using_subcommand grade" -s q -l quiet -d 'Print less; no report when nothing is wrong'
complete -c evalrig -n "__fish_evalrig_using_subcommand grade" -s v -l verbose -d 'Print more, including notes'
complete -c evalrig -n "__fish_evalrig_using_subcommand grade" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c evalrig -n "__fish_evalrig_using_subcommand judge; and not __fish_seen_subcommand_from check help" -l color -d 'When to color the output' -r -f -a "auto\t''
always\t''
never\t''"
complete -c evalrig -n "__fish_evalrig_using_subcommand judge; and not __fish_seen_subcommand_from check help" -s q -l quiet -d 'Print less; no report when nothing is wrong'
complete -c evalrig -n "__fish_evalrig_using_subcommand judge; and not __fish_seen_subcommand_from check help" -s v -l verbose -d 'Print more, including notes'
complete -c evalrig -n "__fish_evalrig_using_subcommand judge; and not __fish_seen_subcommand_from check help" -s h -l help -d 'Print help'
complete -c evalrig -n "__fish_evalrig_using_subcommand judge; and not __fish_seen_subcommand_from check help" -f -a "check" -d 'Check judges against labels: agreement, consistency, and the corrected pass rate'
complete -c evalrig -n "__fish_evalrig_using_subcommand judge; and not __fish_seen_subcommand_from check help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c evalrig -n "__fish_evalrig_using_subcommand judge; and __fish_seen_subcommand_from check" -l labels -d 'Labels, as CSV or JSONL [default: `.evalrig/labels.jsonl` in the repository root]' -r
complete -c evalrig -n "__fish_evalrig_using_subcommand judge; and __fish_seen_subcommand_from check" -l readings -d 'Grade every answer N more times (odd) to measure consistency; prints the cost first' -r
complete -c evalrig -n "__fish_evalrig_using_subcommand judge; and __fish_seen_subcommand_from check" -l budget-usd -d 'With --readings: stop calling judges when this is spent' -r
complete -c evalrig -n "__fish_evalrig_using_subcommand judge; and __fish_seen_subcommand_from check" -l judge -d 'With --readings: the judge target' -r
complete -c evalrig -n "__fish_evalrig_using_subcommand judge; and __fish_seen_subcommand_from check" -s j -l workers -d 'With --readings: grade N cases at once' -r
complete -c evalrig -n "__fish_evalrig_using_subcommand judge; and __fish_seen_subcommand_from check" -l format -d 'Output format' -r -f -a "text\t''
json\t''"
complete -c evalrig -n "__fish_evalrig_using_subcommand judge; and __fish_seen_subcommand_from check" -l targets -d 'The targets file, for judges [default: the nearest `.evalrig/targets.yaml`]' -r
complete -c evalrig -n "__fish_evalrig_using_subcommand judge; and __fish_seen_subcommand_from check" -l root -d 'Repository root: paths with a leading `/` start there, and no path may leave it [default: the nearest directory with `.git`]' -r
complete -c evalrig -n "__fish_evalrig_using_subcommand judge; and __fish_seen_subcommand_from check" -l env-file -d 'Read variables from this file instead of searching for `.env` files' -r
complete -c evalrig -n "__fish_evalrig_using_subcommand judge; and __fish_seen_subcommand_from check" -l color -d 'When to color the output' -r -f -a "auto\t''
always\t''
never\t''"
complete -c evalrig -n "__fish_evalrig_using_subcommand judge; and __fish_seen_subcommand_from check" -l dry-run -d 'With --readings: print the cost, and call no judge'
complete -c evalrig -n "__fish_evalrig_using_subcommand judge; and __fish_seen_subcommand_from check" -l allow-outside-root -d 'Allow paths outside the repository root'
complete -c evalrig -n "__fish_evalrig_using_subcommand judge; and __fish_seen_subcommand_from check" -l no-env-file -d 'Do not read `.env` files'
complete -c evalrig -n "__fish_evalrig_using_subcommand judge; and __fish_seen_subcommand_from check" -s q -l quiet -d 'Print less; no report when nothing is wrong'
complete -c evalrig -n "__fish_evalrig_using_subcommand judge; and __fish_seen_subcommand_from check" -s v -l verbose -d 'Print more, including notes'
complete -c evalrig -n "__fish_evalrig_using_subcommand judge; and __fish_seen_subcommand_from check" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c evalrig -n "__fish_evalrig_using_subcommand judge; and __fish_seen_subcommand_from help" -f -a "check" -d 'Check judges against labels: agreement, consistency, and the corrected pass rate'
complete -c evalrig -n "__fish_evalrig_using_subcommand judge; and __fish_seen_subcommand_from help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c evalrig -n "__fish_evalrig_using_subcommand mutate" -l suite -d 'The suite with the assertions [default: the suites named in the results]' -r
complete -c evalrig -n "__fish_evalrig_using_subcommand mutate" -l judges -d 'Also try checks that call a judge or a script, with N mutants each; prints the cost first' -r
complete -c evalrig -n "__fish_evalrig_using_subcommand mutate" -l budget-usd -d 'Stop calling judges when this is spent' -r
complete -c evalrig -n "__fish_evalrig_using_subcommand mutate" -l judge -d 'Judge target [default: the configured ones]' -r
complete -c evalrig -n "__fish_evalrig_using_subcommand mutate" -l pass -d 'Lowest score that passes [default: the suite\'s]' -r
complete -c evalrig -n "__fish_evalrig_using_subcommand mutate" -l format -d 'Output format' -r -f -a "text\t''
json\t''"
complete -c evalrig -n "__fish_evalrig_using_subcommand mutate" -l seed -d 'Random seed' -r
complete -c evalrig -n "__fish_evalrig_using_subcommand mutate" -s j -l workers -d 'Grade N mutants at once' -r
complete -c evalrig -n "__fish_evalrig_using_subcommand mutate" -l targets -d 'The targets file, for judges [default: the nearest `.evalrig/targets.yaml`]' -r
complete -c evalrig -n "__fish_evalrig_using_subcommand mutate" -l root -d 'Repository root: paths with a leading `/` start there, and no path may leave it [default: the nearest directory with `.git`]' -r
complete -c evalrig -n "__fish_evalrig_using_subcommand mutate" -l env-file -d 'Read variables from this file instead of searching for `.env` files' -r
complete -c evalrig -n "__fish_evalrig_using_subcommand mutate" -l color -d 'When to color the output' -r -f -a "auto\t''
always\t''
never\t''"
complete -c evalrig -n "__fish_evalrig_using_subcommand mutate" -l deny-weak -d 'Exit with 1 if a check is weak or a test is unchecked'
complete -c evalrig -n "__fish_evalrig_using_subcommand mutate" -l allow-outside-root -d 'Allow paths outside the repository root'
complete -c evalrig -n "__fish_evalrig_using_subcommand mutate" -l no-env-file -d 'Do not read `.env` files'
complete -c evalrig -n "__fish_evalrig_using_subcommand mutate" -s q -l quiet -d 'Print less; no report when nothing is wrong'
complete -c evalrig -n "__fish_evalrig_using_subcommand mutate" -s v -l verbose -d 'Print more, including notes'
complete -c evalrig -n "__fish_evalrig_using_subcommand mutate" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c evalrig -n "__fish_evalrig_using_subcommand stats" -l runs -d 'Use at most the newest N runs' -r
complete -c evalrig -n "__fish_evalrig_using_subcommand stats" -l measure -d 'Measure pass rates or mean scores' -r -f -a "pass\t''
score\t''"
complete -c evalrig -n "__fish_evalrig_using_subcommand stats" -l format -d 'Output format' -r -f -a "text\t''
json\t''"
complete -c evalrig -n "__fish_evalrig_using_subcommand stats" -l color -d 'When to color the output' -r -f -a "auto\t''
always\t''
never\t''"
complete -c evalrig -n "__fish_evalrig_using_subcommand stats" -s q -l quiet -d 'Print less; no report when nothing is wrong'
complete -c evalrig -n "__fish_evalrig_using_subcommand stats" -s v -l verbose -d 'Print more, including notes'
complete -c evalrig -n "__fish_evalrig_using_subcommand stats" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c evalrig -n "__fish_evalrig_using_subcommand log; and not __fish_seen_subcommand_from list show diff messages expect evaluate record prune verify help" -l store -d 'The store [default: `.co/evals` in the repository root]' -r
complete -c evalrig -n "__fish_evalrig_using_subcommand log; and not __fish_seen_subcommand_from list show diff messages expect evaluate record prune verify help" -l format -d 'Output format' -r -f -a "text\t''
json\t''"
complete -c evalrig -n "__fish_evalrig_using_subcommand log; and not __fish_seen_subcommand_from list show diff messages expect evaluate record prune verify help" -l color -d 'When to color the output' -r -f -a "auto\t''
always\t''
never\t''"
complete -c evalrig -n "__fish_evalrig_using_subcommand log; and not __fish_seen_subcommand_from list show diff messages expect evaluate record prune verify help" -s q -l quiet -d 'Print less; no report when nothing is wrong'
complete -c evalrig -n "__fish_evalrig_using_subcommand log; and not __fish_seen_subcommand_from list show diff messages expect evaluate record prune verify help" -s v -l verbose -d 'Print more, including notes'
complete -c evalrig -n "__fish_evalrig_using_subcommand log; and not __fish_seen_subcommand_from list show diff messages expect evaluate record prune verify help" -s h -l help -d 'Print help'
complete -c evalrig -n "__fish_evalrig_using_subcommand log; and not __fish_seen_subcommand_from list show diff messages expect evaluate record prune verify help" -f -a "list" -d 'List the records'
complete -c evalrig -n "__fish_evalrig_using_subcommand log; and not __fish_seen_subcommand_from list show diff messages expect evaluate record prune verify help" -f -a "show" -d 'Show a record: the newest run of every turn, then older runs'
complete -c evalrig -n "__fish_evalrig_using_subcommand log; and not __fish_seen_subcommand_from list show diff messages expect evaluate record prune verify help" -f -a "diff" -d 'Compare two runs of a record; exit with 1 if a turn no longer passes'
complete -c evalrig -n "__fish_evalrig_using_subcommand log; and not __fish_seen_subcommand_from list show diff messages expect evaluate record prune verify help" -f -a "messages" -d 'Print the messages of a run as a JSON array'
complete -c evalrig -n "__fish_evalrig_using_subcommand log; and not __fish_seen_subcommand_from list show diff messages expect evaluate record prune verify help" -f -a "expect" -d 'Set the expected answer of a turn'
complete -c evalrig -n "__fish_evalrig_using_subcommand log; and not __fish_seen_subcommand_from list show diff messages expect evaluate record prune verify help" -f -a "evaluate" -d 'Mark the newest answer of a turn as pass or fail'
complete -c evalrig -n "__fish_evalrig_using_subcommand log; and not __fish_seen_subcommand_from list show diff messages expect evaluate record prune verify help" -f -a "record" -d 'Record a session from standard input: chat messages, or an agent\'s output or session file'
complete -c evalrig -n "__fish_evalrig_using_subcommand log; and not __fish_seen_subcommand_from list show diff messages expect evaluate record prune verify help" -f -a "prune" -d 'Delete old runs and records'
complete -c evalrig -n "__fish_evalrig_using_subcommand log; and not __fish_seen_subcommand_from list show diff messages expect evaluate record prune verify help" -f -a "verify" -d 'Check the store for unreadable files, runs missing from summaries and wrong counts'
complete -c evalrig -n "__fish_evalrig_using_subcommand log; and not __fish_seen_subcommand_from list show diff messages expect evaluate record prune verify help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c evalrig -n "__fish_evalrig_using_subcommand log; and __fish_seen_subcommand_from list" -l store -d 'The store [default: `.co/evals` in the repository root]' -r
complete -c evalrig -n "__fish_evalrig_using_subcommand log; and __fish_seen_subcommand_from list" -l format -d 'Output format' -r -f -a "text\t''
json\t''"
complete -c evalrig -n "__fish_evalrig_using_subcommand log; and __fish_seen_subcommand_from list" -l color -d 'When to color the output' -r -f -a "auto\t''
always\t''
never\t''"
complete -c evalrig -n "__fish_evalrig_using_subcommand log; and __fish_seen_subcommand_from list" -s q -l quiet -d 'Print less; no report when nothing is wrong'
complete -c evalrig -n "__fish_evalrig_using_subcommand log; and __fish_seen_subcommand_from list" -s v -l verbose -d 'Print more, including notes'
complete -c evalrig -n "__fish_evalrig_using_subcommand log; and __fish_seen_subcommand_from list" -s h -l help -d 'Print help'
complete -c evalrig -n "__fish_evalrig_using_subcommand log; and __fish_seen_subcommand_from show" -l store -d 'The store [default: `.co/evals` in the repository root]' -r
complete -c evalrig -n "__fish_evalrig_using_subcommand log; and __fish_seen_subcommand_from show" -l format -d 'Output format' -r -f -a "text\t''
json\t''"
complete -c evalrig -n "__fish_evalrig_using_subcommand log; and __fish_seen_subcommand_from show" -l color -d 'When to color the output' -r -f -a "auto\t''
always\t''
never\t''"
complete -c evalrig -n "__fish_evalrig_using_subcommand log; and __fish_seen_subcommand_from show" -s q -l quiet -d 'Print less; no report when nothing is wrong'
complete -c evalrig -n "__fish_evalrig_using_subcommand log; and __fish_seen_subcommand_from show" -s v -l verbose -d 'Print more, including notes'
complete -c evalrig -n "__fish_evalrig_using_subcommand log; and __fish_seen_subcommand_from show" -s h -l help -d 'Print help'
complete -c evalrig -n "__fish_evalrig_using_subcommand log; and __fish_seen_subcommand_from diff" -l runs -d 'The two runs, older first [default: the last two]' -r
complete -c evalrig -n "__fish_evalrig_using_subcommand log; and __fish_seen_subcommand_from diff" -l store -d 'The store [default: `.co/evals` in the repository root]' -r
complete -c evalrig -n "__fish_evalrig_using_subcommand log; and __fish_seen_subcommand_from diff" -l format -d 'Output format' -r -f -a "text\t''
json\t''"
complete -c evalrig -n "__fish_evalrig_using_subcommand log; and __fish_seen_subcommand_from diff" -l color -d 'When to color the output' -r -f -a "auto\t''
always\t''
never\t''"
complete -c evalrig -n "__fish_evalrig_using_subcommand log; and __fish_seen_subcommand_from diff" -s q -l quiet -d 'Print less; no report when nothing is wrong'
complete -c evalrig -n "__fish_evalrig_using_subcommand log; and __fish_seen_subcommand_from diff" -s v -l verbose -d 'Print more, including notes'
complete -c evalrig -n "__fish_evalrig_using_subcommand log; and __fish_seen_subcommand_from diff" -s h -l help -d 'Print help'
complete -c evalrig -n "__fish_evalrig_using_subcommand log; and __fish_seen_subcommand_from messages" -l run -d 'The run [default: the newest]' -r
complete -c evalrig -n "__fish_evalrig_using_subcommand log; and __fish_seen_subcommand_from messages" -l store -d 'The store [default: `.co/evals` in the repository root]' -r
complete -c evalrig -n "__fish_evalrig_using_subcommand log; and __fish_seen_subcommand_from messages" -l format -d 'Output format' -r -f -a "text\t''
json\t''"
complete -c evalrig -n "__fish_evalrig_using_subcommand log; and __fish_seen_subcommand_from messages" -l color -d 'When to color the output' -r -f -a "auto\t''
always\t''
never\t''"
complete -c evalrig -n "__fish_evalrig_using_subcommand log; and __fish_seen_subcommand_from messages" -s q -l quiet -d 'Print less; no report when nothing is wrong'
complete -c evalrig -n "__fish_evalrig_using_subcommand log; and __fish_seen_subcommand_from messages" -s v -l verbose -d 'Print more, including notes'
complete -c evalrig -n "__fish_evalrig_using_subcommand log; and __fish_seen_subcommand_from messages" -s h -l help -d 'Print help'
complete -c evalrig -n "__fish_evalrig_using_subcommand log; and __fish_seen_subcommand_from expect" -l turn -d 'The turn, counted from 1 [default: the last]' -r
complete -c evalrig -n "__fish_evalrig_using_subcommand log; and __fish_seen_subcommand_from expect" -l store -d 'The store [default: `.co/evals` in the repository root]' -r
complete -c evalrig -n "__fish_evalrig_using_subcommand log; and __fish_seen_subcommand_from expect" -l format -d 'Output format' -r -f -a "text\t''
json\t''"
complete -c evalrig -n "__fish_evalrig_using_subcommand log; and __fish_seen_subcommand_from expect" -l color -d 'When to color the output' -r -f -a "auto\t''
always\t''
never\t''"
complete -c evalrig -n "__fish_evalrig_using_subcommand log; and __fish_seen_subcommand_from expect" -s q -l quiet -d 'Print less; no report when nothing is wrong'
complete -c evalrig -n "__fish_evalrig_using_subcommand log; and __fish_seen_subcommand_from expect" -s v -l verbose -d 'Print more, including notes'
complete -c evalrig -n "__fish_evalrig_using_subcommand log; and __fish_seen_subcommand_from expect" -s h -l help -d 'Print help'
complete -c evalrig -n "__fish_evalrig_using_subcommand log; and __fish_seen_subcommand_from evaluate" -l turn -d 'The turn, counted from 1 [default: the last]' -r
complete -c evalrig -n "__fish_evalrig_using_subcommand log; and __fish_seen_subcommand_from evaluate" -l store -d 'The store [default: `.co/evals` in the repository root]' -r
complete -c evalrig -n "__fish_evalrig_using_subcommand log; and __fish_seen_subcommand_from evaluate" -l format -d 'Output format' -r -f -a "text\t''
json\t''"
complete -c evalrig -n "__fish_evalrig_using_subcommand log; and __fish_seen_subcommand_from evaluate" -l color -d 'When to color the output' -r -f -a "auto\t''
always\t''
never\t''"
complete -c evalrig -n "__fish_evalrig_using_subcommand log; and __fish_seen_subcommand_from evaluate" -s q -l quiet -d 'Print less; no report when nothing is wrong'
complete -c evalrig -n "__fish_evalrig_using_subcommand log; and __fish_seen_subcommand_from evaluate" -s v -l verbose -d 'Print more, including notes'
complete -c evalrig -n "__fish_evalrig_using_subcommand log; and __fish_seen_subcommand_from evaluate" -s h -l help -d 'Print help'
complete -c evalrig -n "__fish_evalrig_using_subcommand log; and __fish_seen_subcommand_from record" -l input -d 'The user\'s message, if the session does not contain it' -r
complete -c evalrig -n "__fish_evalrig_using_subcommand log; and __fish_seen_subcommand_from record" -l from -d 'The format of the session [default: detected]' -r -f -a "messages\t'Chat messages: a JSON array, or an object with `messages`'
claude\t'Claude Code: stream-json, or a session file'
codex\t'Codex: `exec --json`, or a session file'
gemini\t'Gemini CLI: `--output-format stream-json`'
copilot\t'Copilot CLI: `--output-format json`'
opencode\t'opencode: `run --format json`'
pi\t'Pi: `--mode json`'"
complete -c evalrig -n "__fish_evalrig_using_subcommand log; and __fish_seen_subcommand_from record" -l model -d 'The model, if the session does not name it' -r
complete -c evalrig -n "__fish_evalrig_using_subcommand log; and __fish_seen_subcommand_from record" -l expected -d 'The expected last answer' -r
complete -c evalrig -n "__fish_evalrig_using_subcommand log; and __fish_seen_subcommand_from record" -l store -d 'The store [default: `.co/evals` in the repository root]' -r
complete -c evalrig -n "__fish_evalrig_using_subcommand log; and __fish_seen_subcommand_from record" -l format -d 'Output format' -r -f -a "text\t''
json\t''"
complete -c evalrig -n "__fish_evalrig_using_subcommand log; and __fish_seen_subcommand_from record" -l color -d 'When to color the output' -r -f -a "auto\t''
always\t''
never\t''"
complete -c evalrig -n "__fish_evalrig_using_subcommand log; and __fish_seen_subcommand_from record" -s q -l quiet -d 'Print less; no report when nothing is wrong'
complete -c evalrig -n "__fish_evalrig_using_subcommand log; and __fish_seen_subcommand_from record" -s v -l verbose -d 'Print more, including notes'
complete -c evalrig -n "__fish_evalrig_using_subcommand log; and __fish_seen_subcommand_from record" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c evalrig -n "__fish_evalrig_using_subcommand log; and __fish_seen_subcommand_from prune" -l keep-runs -d 'Run files to keep per record' -r
complete -c evalrig -n "__fish_evalrig_using_subcommand log; and __fish_seen_subcommand_from prune" -l keep-history -d 'Older runs to keep in the history of each turn' -r
complete -c evalrig -n "__fish_evalrig_using_subcommand log; and __fish_seen_subcommand_from prune" -l keep-records -d 'Records to keep; the newest are kept' -r
complete -c evalrig -n "__fish_evalrig_using_subcommand log; and __fish_seen_subcommand_from prune" -l store -d 'The store [default: `.co/evals` in the repository root]' -r
complete -c evalrig -n "__fish_evalrig_using_subcommand log; and __fish_seen_subcommand_from prune" -l format -d 'Output format' -r -f -a "text\t''
json\t''"
complete -c evalrig -n "__fish_evalrig_using_subcommand log; and __fish_seen_subcommand_from prune" -l color -d 'When to color the output' -r -f -a "auto\t''
always\t''
never\t''"
complete -c evalrig -n "__fish_evalrig_using_subcommand log; and __fish_seen_subcommand_from prune" -l dry-run -d 'Print what would be deleted, and delete nothing'
complete -c evalrig -n "__fish_evalrig_using_subcommand log; and __fish_seen_subcommand_from prune" -s q -l quiet -d 'Print less; no report when nothing is wrong'
complete -c evalrig -n "__fish_evalrig_using_subcommand log; and __fish_seen_subcommand_from prune" -s v -l verbose -d 'Print more, including notes'
complete -c evalrig -n "__fish_evalrig_using_subcommand log; and __fish_seen_subcommand_from prune" -s h -l help -d 'Print help'
complete -c evalrig -n "__fish_evalrig_using_subcommand log; and __fish_seen_subcommand_from verify" -l store -d 'The store [default: `.co/evals` in the repository root]' -r
complete -c evalrig -n "__fish_evalrig_using_subcommand log; and __fish_seen_subcommand_from verify" -l format -d 'Output format' -r -f -a "text\t''
json\t''"
complete -c evalrig -n "__fish_evalrig_using_subcommand log; and __fish_seen_subcommand_from verify" -l color -d 'When to color the output' -r -f -a "auto\t''
always\t''
never\t''"
complete -c evalrig -n "__fish_evalrig_using_subcommand log; and __fish_seen_subcommand_from verify" -l repair -d 'Repair what can be repaired; no run is deleted'
complete -c evalrig -n "__fish_evalrig_using_subcommand log; and __fish_seen_subcommand_from verify" -s q -l quiet -d 'Print less; no report when nothing is wrong'
complete -c evalrig -n "__fish_evalrig_using_subcommand log; and __fish_seen_subcommand_from verify" -s v -l verbose -d 'Print more, including notes'
complete -c evalrig -n "__fish_evalrig_using_subcommand log; and __fish_seen_subcommand_from verify" -s h -l help -d 'Print help'
complete -c evalrig -n "__fish_evalrig_using_subcommand log; and __fish_seen_subcommand_from help" -f -a "list" -d 'List the records'
complete -c evalrig -n "__fish_evalrig_using_subcommand log; and __fish_seen_subcommand_from help" -f -a "show" -d 'Show a record: the newest run of every turn, then older runs'
complete -c evalrig -n "__fish_evalrig_using_subcommand log; and __fish_seen_subcommand_from help" -f -a "diff" -d 'Compare two runs of a record; exit with 1 if a turn no longer passes'
complete -c evalrig -n "__fish_evalrig_using_subcommand log; and __fish_seen_subcommand_from help" -f -a "messages" -d 'Print the messages of a run as a JSON array'
complete -c evalrig -n "__fish_evalrig_using_subcommand log; and __fish_seen_subcommand_from help" -f -a "expect" -d 'Set the expected answer of a turn'
complete -c evalrig -n "__fish_evalrig_using_subcommand log; and __fish_seen_subcommand_from help" -f -a "evaluate" -d 'Mark the newest answer of a turn as pass or fail'
complete -c evalrig -n "__fish_evalrig_using_subcommand log; and __fish_seen_subcommand_from help" -f -a "record" -d 'Record a session from standard input: chat messages, or an agent\'s output or session file'
complete -c evalrig -n "__fish_evalrig_using_subcommand log; and __fish_seen_subcommand_from help" -f -a "prune" -d 'Delete old runs and records'
complete -c evalrig -n "__fish_evalrig_using_subcommand log; and __fish_seen_subcommand_from help" -f -a "verify" -d 'Check the store for unreadable files, runs missing from summaries and wrong counts'
complete -c evalrig -n "__fish_evalrig_using_subcommand log; and __fish_seen_subcommand_from help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c evalrig -n "__fish_evalrig_using_subcommand explain" -l format -d 'Output format' -r -f -a "text\t''
json\t''"
complete -c evalrig -n "__fish_evalrig_using_subcommand explain" -l color -d 'When to color the output' -r -f -a "auto\t''
always\t''
never\t''"
complete -c evalrig -n "__fish_evalrig_using_subcommand explain" -s q -l quiet -d 'Print less; no report when nothing is wrong'
complete -c evalrig -n "__fish_evalrig_using_subcommand explain" -s v -l verbose -d 'Print more, including notes'
complete -c evalrig -n "__fish_evalrig_using_subcommand explain" -s h -l help -d 'Print help'
complete -c evalrig -n "__fish_evalrig_using_subcommand list" -l format -d 'Output format' -r -f -a "text\t''
json\t''"
complete -c evalrig -n "__fish_evalrig_using_subcommand list" -l root -d 'Repository root: paths with a leading `/` start there, and no path may leave it [default: the nearest directory with `.git`]' -r
complete -c evalrig -n "__fish_evalrig_using_subcommand list" -l env-file -d 'Read variables from this file instead of searching for `.env` files' -r
complete -c evalrig -n "__fish_evalrig_using_subcommand list" -l color -d 'When to color the output' -r -f -a "auto\t''
always\t''
never\t''"
complete -c evalrig -n "__fish_evalrig_using_subcommand list" -l allow-outside-root -d 'Allow paths outside the repository root'
complete -c evalrig -n "__fish_evalrig_using_subcommand list" -l no-env-file -d 'Do not read `.env` files'
complete -c evalrig -n "__fish_evalrig_using_subcommand list" -s q -l quiet -d 'Print less; no report when nothing is wrong'
complete -c evalrig -n "__fish_evalrig_using_subcommand list" -s v -l verbose -d 'Print more, including notes'
complete -c evalrig -n "__fish_evalrig_using_subcommand list" -s h -l help -d 'Print help'
complete -c evalrig -n "__fish_evalrig_using_subcommand show" -l format -d 'Output format' -r -f -a "yaml\t''
json\t''"
complete -c evalrig -n "__fish_evalrig_using_subcommand show" -l root -d 'Repository root: paths with a leading `/` start there, and no path may leave it [default: the nearest directory with `.git`]' -r
complete -c evalrig -n "__fish_evalrig_using_subcommand show" -l env-file -d 'Read variables from this file instead of searching for `.env` files' -r
complete -c evalrig -n "__fish_evalrig_using_subcommand show" -l color -d 'When to color the output' -r -f -a "auto\t''
always\t''
never\t''"
complete -c evalrig -n "__fish_evalrig_using_subcommand show" -l allow-outside-root -d 'Allow paths outside the repository root'
complete -c evalrig -n "__fish_evalrig_using_subcommand show" -l no-env-file -d 'Do not read `.env` files'
complete -c evalrig -n "__fish_evalrig_using_subcommand show" -s q -l quiet -d 'Print less; no report when nothing is wrong'
complete -c evalrig -n "__fish_evalrig_using_subcommand show" -s v -l verbose -d 'Print more, including notes'
complete -c evalrig -n "__fish_evalrig_using_subcommand show" -s h -l help -d 'Print help'
complete -c evalrig -n "__fish_evalrig_using_subcommand convert" -l from -d 'The format of the file [default: detected from its keys]' -r -f -a "promptfoo\t''
openai-evals\t''
deepeval\t''
inspect\t''
waza\t''
vally\t''
harbor\t''
langsmith\t''
langfuse\t''
braintrust\t''
ragas\t''
list\t''
evals-json\t''
co-evals\t''"
complete -c evalrig -n "__fish_evalrig_using_subcommand convert" -l map -d 'Map record keys to test fields, such as `input=question,tags=labels`, or name a preset' -r
complete -c evalrig -n "__fish_evalrig_using_subcommand convert" -s o -l output -d 'The file to write; `-` is standard output. For several iterations, a directory' -r
complete -c evalrig -n "__fish_evalrig_using_subcommand convert" -l loss-report -d 'Write the list of losses to this file, as JSON' -r
complete -c evalrig -n "__fish_evalrig_using_subcommand convert" -l root -d 'Repository root: paths with a leading `/` start there, and no path may leave it [default: the nearest directory with `.git`]' -r
complete -c evalrig -n "__fish_evalrig_using_subcommand convert" -l env-file -d 'Read variables from this file instead of searching for `.env` files' -r
complete -c evalrig -n "__fish_evalrig_using_subcommand convert" -l color -d 'When to color the output' -r -f -a "auto\t''
always\t''
never\t''"
complete -c evalrig -n "__fish_evalrig_using_subcommand convert" -l stdout -d 'Print the suite, with paths relative to the current directory'
complete -c evalrig -n "__fish_evalrig_using_subcommand convert" -l force -d 'Overwrite an existing file'
complete -c evalrig -n "__fish_evalrig_using_subcommand convert" -l deny-loss -d 'Write nothing and exit with 1 if anything would be lost'
complete -c evalrig -n "__fish_evalrig_using_subcommand convert" -l allow-outside-root -d 'Allow paths outside the repository root'
complete -c evalrig -n "__fish_evalrig_using_subcommand convert" -l no-env-file -d 'Do not read `.env` files'
complete -c evalrig -n "__fish_evalrig_using_subcommand convert" -s q -l quiet -d 'Print less; no report when nothing is wrong'
complete -c evalrig -n "__fish_evalrig_using_subcommand convert" -s v -l verbose -d 'Print more, including notes'
complete -c evalrig -n "__fish_evalrig_using_subcommand convert" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c evalrig -n "__fish_evalrig_using_subcommand transpile" -s o -l out -d 'The directory to write to [default: the suite\'s directory]' -r
complete -c evalrig -n "__fish_evalrig_using_subcommand transpile" -l loss-report -d 'Write the list of losses to this file, as JSON' -r
complete -c evalrig -n "__fish_evalrig_using_subcommand transpile" -l format -d 'Which files to write' -r -f -a "evals\t''
eval-set\t''
both\t''"
complete -c evalrig -n "__fish_evalrig_using_subcommand transpile" -l for -d 'The tool that reads the files; for skill-creator the assertions are called `expectations`' -r -f -a "agentevals\t''
agentskills\t''
skill-creator\t''"
complete -c evalrig -n "__fish_evalrig_using_subcommand transpile" -l layout -d 'Write all files side by side, or into one directory per skill' -r -f -a "flat\t''
skill-dirs\t''"
complete -c evalrig -n "__fish_evalrig_using_subcommand transpile" -l no-skill -d 'Where tests without a trigger go: to the skill with the most tests, or to a separate file' -r -f -a "dominant\t''
separate\t''"
complete -c evalrig -n "__fish_evalrig_using_subcommand transpile" -l root -d 'Repository root: paths with a leading `/` start there, and no path may leave it [default: the nearest directory with `.git`]' -r
complete -c evalrig -n "__fish_evalrig_using_subcommand transpile" -l env-file -d 'Read variables from this file instead of searching for `.env` files' -r
complete -c evalrig -n "__fish_evalrig_using_subcommand transpile" -l color -d 'When to color the output' -r -f -a "auto\t''
always\t''
never\t''"
complete -c evalrig -n "__fish_evalrig_using_subcommand transpile" -l stdout -d 'Print instead of writing; there must be exactly one file'
complete -c evalrig -n "__fish_evalrig_using_subcommand transpile" -l check -d 'Write nothing; exit with 1 if a file differs from what would be written'
complete -c evalrig -n "__fish_evalrig_using_subcommand transpile" -l force -d 'Overwrite files that evalrig did not write'
complete -c evalrig -n "__fish_evalrig_using_subcommand transpile" -l deny-loss -d 'Write nothing and exit with 1 if anything would be lost'
complete -c evalrig -n "__fish_evalrig_using_subcommand transpile" -l no-criteria -d 'Leave `criteria` out of the assertions'
complete -c evalrig -n "__fish_evalrig_using_subcommand transpile" -l inline-prompts -d 'Write the contents of prompt files instead of their paths'
complete -c evalrig -n "__fish_evalrig_using_subcommand transpile" -l allow-outside-root -d 'Allow paths outside the repository root'
complete -c evalrig -n "__fish_evalrig_using_subcommand transpile" -l no-env-file -d 'Do not read `.env` files'
complete -c evalrig -n "__fish_evalrig_using_subcommand transpile" -s q -l quiet -d 'Print less; no report when nothing is wrong'
complete -c evalrig -n "__fish_evalrig_using_subcommand transpile" -s v -l verbose -d 'Print more, including notes'
complete -c evalrig -n "__fish_evalrig_using_subcommand transpile" -s h -l help -d 'Print help'
complete -c evalrig -n "__fish_evalrig_using_subcommand export; and not __fish_seen_subcommand_from skill-creator harbor help" -l color -d 'When to color the output' -r -f -a "auto\t''
always\t''
never\t''"
complete -c evalrig -n "__fish_evalrig_using_subcommand export; and not __fish_seen_subcommand_from skill-creator harbor help" -s q -l quiet -d 'Print less; no report when nothing is wrong'
complete -c evalrig -n "__fish_evalrig_using_subcommand export; and not __fish_seen_subcommand_from skill-creator harbor help" -s v -l verbose -d 'Print more, including notes'
complete -c evalrig -n "__fish_evalrig_using_subcommand export; and not __fish_seen_subcommand_from skill-creator harbor help" -s h -l help -d 'Print help'
complete -c evalrig -n "__fish_evalrig_using_subcommand export; and not __fish_seen_subcommand_from skill-creator harbor help" -f -a "skill-creator" -d 'Write results as a skill-creator iteration: gradings, timings, outputs and the benchmark'
complete -c evalrig -n "__fish_evalrig_using_subcommand export; and not __fish_seen_subcommand_from skill-creator harbor help" -f -a "harbor" -d 'Write tests that check files as Harbor task directories'
complete -c evalrig -n "__fish_evalrig_using_subcommand export; and not __fish_seen_subcommand_from skill-creator harbor help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c evalrig -n "__fish_evalrig_using_subcommand export; and __fish_seen_subcommand_from skill-creator" -s o -l output -d 'The directory to write, such as `csv-workspace/iteration-1`; must be empty or not exist' -r
complete -c evalrig -n "__fish_evalrig_using_subcommand export; and __fish_seen_subcommand_from skill-creator" -l root -d 'Repository root, below which `latest` is looked up [default: the nearest directory with `.git`]' -r
complete -c evalrig -n "__fish_evalrig_using_subcommand export; and __fish_seen_subcommand_from skill-creator" -l color -d 'When to color the output' -r -f -a "auto\t''
always\t''
never\t''"
complete -c evalrig -n "__fish_evalrig_using_subcommand export; and __fish_seen_subcommand_from skill-creator" -l force -d 'Replace what an earlier export wrote to the directory'
complete -c evalrig -n "__fish_evalrig_using_subcommand export; and __fish_seen_subcommand_from skill-creator" -s q -l quiet -d 'Print less; no report when nothing is wrong'
complete -c evalrig -n "__fish_evalrig_using_subcommand export; and __fish_seen_subcommand_from skill-creator" -s v -l verbose -d 'Print more, including notes'
complete -c evalrig -n "__fish_evalrig_using_subcommand export; and __fish_seen_subcommand_from skill-creator" -s h -l help -d 'Print help'
complete -c evalrig -n "__fish_evalrig_using_subcommand export; and __fish_seen_subcommand_from harbor" -s o -l output -d 'The directory to write, with one directory per test; must be empty or not exist' -r
complete -c evalrig -n "__fish_evalrig_using_subcommand export; and __fish_seen_subcommand_from harbor" -l loss-report -d 'Write the list of losses to this file, as JSON' -r
complete -c evalrig -n "__fish_evalrig_using_subcommand export; and __fish_seen_subcommand_from harbor" -l root -d 'Repository root: paths with a leading `/` start there, and no path may leave it [default: the nearest directory with `.git`]' -r
complete -c evalrig -n "__fish_evalrig_using_subcommand export; and __fish_seen_subcommand_from harbor" -l env-file -d 'Read variables from this file instead of searching for `.env` files' -r
complete -c evalrig -n "__fish_evalrig_using_subcommand export; and __fish_seen_subcommand_from harbor" -l color -d 'When to color the output' -r -f -a "auto\t''
always\t''
never\t''"
complete -c evalrig -n "__fish_evalrig_using_subcommand export; and __fish_seen_subcommand_from harbor" -l force -d 'Replace what an earlier export wrote to the directory'
complete -c evalrig -n "__fish_evalrig_using_subcommand export; and __fish_seen_subcommand_from harbor" -l deny-loss -d 'Write nothing and exit with 1 if anything would be lost'
complete -c evalrig -n "__fish_evalrig_using_subcommand export; and __fish_seen_subcommand_from harbor" -l allow-outside-root -d 'Allow paths outside the repository root'
complete -c evalrig -n "__fish_evalrig_using_subcommand export; and __fish_seen_subcommand_from harbor" -l no-env-file -d 'Do not read `.env` files'
complete -c evalrig -n "__fish_evalrig_using_subcommand export; and __fish_seen_subcommand_from harbor" -s q -l quiet -d 'Print less; no report when nothing is wrong'
complete -c evalrig -n "__fish_evalrig_using_subcommand export; and __fish_seen_subcommand_from harbor" -s v -l verbose -d 'Print more, including notes'
complete -c evalrig -n "__fish_evalrig_using_subcommand export; and __fish_seen_subcommand_from harbor" -s h -l help -d 'Print help'
complete -c evalrig -n "__fish_evalrig_using_subcommand export; and __fish_seen_subcommand_from help" -f -a "skill-creator" -d 'Write results as a skill-creator iteration: gradings, timings, outputs and the benchmark'
complete -c evalrig -n "__fish_evalrig_using_subcommand export; and __fish_seen_subcommand_from help" -f -a "harbor" -d 'Write tests that check files as Harbor task directories'
complete -c evalrig -n "__fish_evalrig_using_subcommand export; and __fish_seen_subcommand_from help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c evalrig -n "__fish_evalrig_using_subcommand config" -l root -d 'Repository root, which contains `evalrig.toml` [default: the nearest directory with `.git`]' -r
complete -c evalrig -n "__fish_evalrig_using_subcommand config" -l profile -d 'Use the settings of this profile of `evalrig.toml` [default: `$EVALRIG_PROFILE`]' -r
complete -c evalrig -n "__fish_evalrig_using_subcommand config" -l format -d 'Output format' -r -f -a "text\t''
json\t''"
complete -c evalrig -n "__fish_evalrig_using_subcommand config" -l color -d 'When to color the output' -r -f -a "auto\t''
always\t''
never\t''"
complete -c evalrig -n "__fish_evalrig_using_subcommand config" -s q -l quiet -d 'Print less; no report when nothing is wrong'
complete -c evalrig -n "__fish_evalrig_using_subcommand config" -s v -l verbose -d 'Print more, including notes'
complete -c evalrig -n "__fish_evalrig_using_subcommand config" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c evalrig -n "__fish_evalrig_using_subcommand worker" -l queue -d 'The NATS servers to take cases from' -r
complete -c evalrig -n "__fish_evalrig_using_subcommand worker" -s j -l workers -d 'Run N cases at once [default: four per core]' -r
complete -c evalrig -n "__fish_evalrig_using_subcommand worker" -l name -d 'The name in rows and in the progress of runs [default: host name and process id]' -r
complete -c evalrig -n "__fish_evalrig_using_subcommand worker" -l cache -d 'Directory for the files of runs [default: the user\'s cache directory]' -r
complete -c evalrig -n "__fish_evalrig_using_subcommand worker" -l health -d 'Serve /healthz, /readyz and /metrics on this address, such as 127.0.0.1:9090' -r
complete -c evalrig -n "__fish_evalrig_using_subcommand worker" -l until-idle -d 'Exit after this long without cases [default: never]' -r
complete -c evalrig -n "__fish_evalrig_using_subcommand worker" -l env-file -d 'Also read variables from this file' -r
complete -c evalrig -n "__fish_evalrig_using_subcommand worker" -l replicas -d 'Replicas of the buckets that all runs share, for a cluster; never lowered' -r
complete -c evalrig -n "__fish_evalrig_using_subcommand worker" -l queue-creds -d 'NATS credentials file [default: NATS_USER and NATS_PASSWORD]' -r
complete -c evalrig -n "__fish_evalrig_using_subcommand worker" -l queue-ca -d 'PEM file with CA certificates for the server [default: the system\'s]' -r
complete -c evalrig -n "__fish_evalrig_using_subcommand worker" -l color -d 'When to color the output' -r -f -a "auto\t''
always\t''
never\t''"
complete -c evalrig -n "__fish_evalrig_using_subcommand worker" -l insecure -d 'Accept a server on another machine without TLS or without a login'
complete -c evalrig -n "__fish_evalrig_using_subcommand worker" -s q -l quiet -d 'Print less; no report when nothing is wrong'
complete -c evalrig -n "__fish_evalrig_using_subcommand worker" -s v -l verbose -d 'Print more, including notes'
complete -c evalrig -n "__fish_evalrig_using_subcommand worker" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c evalrig -n "__fish_evalrig_using_subcommand queue; and not __fish_seen_subcommand_from status cancel remove help" -l color -d 'When to color the output' -r -f -a "auto\t''
always\t''
never\t''"
complete -c evalrig -n "__fish_evalrig_using_subcommand queue; and not __fish_seen_subcommand_from status cancel remove help" -s q -l quiet -d 'Print less; no report when nothing is wrong'
complete -c evalrig -n "__fish_evalrig_using_subcommand queue; and not __fish_seen_subcommand_from status cancel remove help" -s v -l verbose -d 'Print more, including notes'
complete -c evalrig -n "__fish_evalrig_using_subcommand queue; and not __fish_seen_subcommand_from status cancel remove help" -s h -l help -d 'Print help'
complete -c evalrig -n "__fish_evalrig_using_subcommand queue; and not __fish_seen_subcommand_from status cancel remove help" -f -a "status" -d 'List the runs on the server and their workers'
complete -c evalrig -n "__fish_evalrig_using_subcommand queue; and not __fish_seen_subcommand_from status cancel remove help" -f -a "cancel" -d 'Cancel a run and keep its rows'
complete -c evalrig -n "__fish_evalrig_using_subcommand queue; and not __fish_seen_subcommand_from status cancel remove help" -f -a "remove" -d 'Delete a run and its rows from the server'
complete -c evalrig -n "__fish_evalrig_using_subcommand queue; and not __fish_seen_subcommand_from status cancel remove help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c evalrig -n "__fish_evalrig_using_subcommand queue; and __fish_seen_subcommand_from status" -l format -d 'Output format' -r -f -a "text\t''
json\t''"
complete -c evalrig -n "__fish_evalrig_using_subcommand queue; and __fish_seen_subcommand_from status" -l queue -d 'The NATS servers' -r
complete -c evalrig -n "__fish_evalrig_using_subcommand queue; and __fish_seen_subcommand_from status" -l queue-creds -d 'NATS credentials file [default: NATS_USER and NATS_PASSWORD]' -r
complete -c evalrig -n "__fish_evalrig_using_subcommand queue; and __fish_seen_subcommand_from status" -l queue-ca -d 'PEM file with CA certificates for the server [default: the system\'s]' -r
complete -c evalrig -n "__fish_evalrig_using_subcommand queue; and __fish_seen_subcommand_from status" -l color -d 'When to color the output' -r -f -a "auto\t''
always\t''
never\t''"
complete -c evalrig -n "__fish_evalrig_using_subcommand queue; and __fish_seen_subcommand_from status" -l insecure -d 'Accept a server on another machine without TLS or without a login'
complete -c evalrig -n "__fish_evalrig_using_subcommand queue; and __fish_seen_subcommand_from status" -s q -l quiet -d 'Print less; no report when nothing is wrong'
complete -c evalrig -n "__fish_evalrig_using_subcommand queue; and __fish_seen_subcommand_from status" -s v -l verbose -d 'Print more, including notes'
complete -c evalrig -n "__fish_evalrig_using_subcommand queue; and __fish_seen_subcommand_from status" -s h -l help -d 'Print help'
complete -c evalrig -n "__fish_evalrig_using_subcommand queue; and __fish_seen_subcommand_from cancel" -l queue -d 'The NATS servers' -r
complete -c evalrig -n "__fish_evalrig_using_subcommand queue; and __fish_seen_subcommand_from cancel" -l queue-creds -d 'NATS credentials file [default: NATS_USER and NATS_PASSWORD]' -r
complete -c evalrig -n "__fish_evalrig_using_subcommand queue; and __fish_seen_subcommand_from cancel" -l queue-ca -d 'PEM file with CA certificates for the server [default: the system\'s]' -r
complete -c evalrig -n "__fish_evalrig_using_subcommand queue; and __fish_seen_subcommand_from cancel" -l color -d 'When to color the output' -r -f -a "auto\t''
always\t''
never\t''"
complete -c evalrig -n "__fish_evalrig_using_subcommand queue; and __fish_seen_subcommand_from cancel" -l insecure -d 'Accept a server on another machine without TLS or without a login'
complete -c evalrig -n "__fish_evalrig_using_subcommand queue; and __fish_seen_subcommand_from cancel" -s q -l quiet -d 'Print less; no report when nothing is wrong'
complete -c evalrig -n "__fish_evalrig_using_subcommand queue; and __fish_seen_subcommand_from cancel" -s v -l verbose -d 'Print more, including notes'
complete -c evalrig -n "__fish_evalrig_using_subcommand queue; and __fish_seen_subcommand_from cancel" -s h -l help -d 'Print help'
complete -c evalrig -n "__fish_evalrig_using_subcommand queue; and __fish_seen_subcommand_from remove" -l queue -d 'The NATS servers' -r
complete -c evalrig -n "__fish_evalrig_using_subcommand queue; and __fish_seen_subcommand_from remove" -l queue-creds -d 'NATS credentials file [default: NATS_USER and NATS_PASSWORD]' -r
complete -c evalrig -n "__fish_evalrig_using_subcommand queue; and __fish_seen_subcommand_from remove" -l queue-ca -d 'PEM file with CA certificates for the server [default: the system\'s]' -r
complete -c evalrig -n "__fish_evalrig_using_subcommand queue; and __fish_seen_subcommand_from remove" -l color -d 'When to color the output' -r -f -a "auto\t''
always\t''
never\t''"
complete -c evalrig -n "__fish_evalrig_using_subcommand queue; and __fish_seen_subcommand_from remove" -l insecure -d 'Accept a server on another machine without TLS or without a login'
complete -c evalrig -n "__fish_evalrig_using_subcommand queue; and __fish_seen_subcommand_from remove" -s q -l quiet -d 'Print less; no report when nothing is wrong'
complete -c evalrig -n "__fish_evalrig_using_subcommand queue; and __fish_seen_subcommand_from remove" -s v -l verbose -d 'Print more, including notes'
complete -c evalrig -n "__fish_evalrig_using_subcommand queue; and __fish_seen_subcommand_from remove" -s h -l help -d 'Print help'
complete -c evalrig -n "__fish_evalrig_using_subcommand queue; and __fish_seen_subcommand_from help" -f -a "status" -d 'List the runs on the server and their workers'
complete -c evalrig -n "__fish_evalrig_using_subcommand queue; and __fish_seen_subcommand_from help" -f -a "cancel" -d 'Cancel a run and keep its rows'
complete -c evalrig -n "__fish_evalrig_using_subcommand queue; and __fish_seen_subcommand_from help" -f -a "remove" -d 'Delete a run and its rows from the server'
complete -c evalrig -n "__fish_evalrig_using_subcommand queue; and __fish_seen_subcommand_from help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c evalrig -n "__fish_evalrig_using_subcommand lsp" -l color -d 'When to color the output' -r -f -a "auto\t''
always\t''
never\t''"
complete -c evalrig -n "__fish_evalrig_using_subcommand lsp" -l stdio -d 'The only way to talk to it; accepted because editors pass it'
complete -c evalrig -n "__fish_evalrig_using_subcommand lsp" -s q -l quiet -d 'Print less; no report when nothing is wrong'
complete -c evalrig -n "__fish_evalrig_using_subcommand lsp" -s v -l verbose -d 'Print more, including notes'
complete -c evalrig -n "__fish_evalrig_using_subcommand lsp" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c evalrig -n "__fish_evalrig_using_subcommand mcp" -l color -d 'When to color the output' -r -f -a "auto\t''
always\t''
never\t''"
complete -c evalrig -n "__fish_evalrig_using_subcommand mcp" -l read-only -d 'Offer no tool that runs suites or changes files'
complete -c evalrig -n "__fish_evalrig_using_subcommand mcp" -s q -l quiet -d 'Print less; no report when nothing is wrong'
complete -c evalrig -n "__fish_evalrig_using_subcommand mcp" -s v -l verbose -d 'Print more, including notes'
complete -c evalrig -n "__fish_evalrig_using_subcommand mcp" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c evalrig -n "__fish_evalrig_using_subcommand schema" -l draft -d 'JSON Schema draft' -r -f -a "2020-12\t''
07\t''"
complete -c evalrig -n "__fish_evalrig_using_subcommand schema" -l color -d 'When to color the output' -r -f -a "auto\t''
always\t''
never\t''"
complete -c evalrig -n "__fish_evalrig_using_subcommand schema" -l strict -d 'For editors: flag unknown keys and old spellings; for `suite` and `targets` only'
complete -c evalrig -n "__fish_evalrig_using_subcommand schema" -s q -l quiet -d 'Print less; no report when nothing is wrong'
complete -c evalrig -n "__fish_evalrig_using_subcommand schema" -s v -l verbose -d 'Print more, including notes'
complete -c evalrig -n "__fish_evalrig_using_subcommand schema" -s h -l help -d 'Print help'
complete -c evalrig -n "__fish_evalrig_using_subcommand completions" -l color -d 'When to color the output' -r -f -a "auto\t''
always\t''
never\t''"
complete -c evalrig -n "__fish_evalrig_using_subcommand completions" -s q -l quiet -d 'Print less; no report when nothing is wrong'
complete -c evalrig -n "__fish_evalrig_using_subcommand completions" -s v -l verbose -d 'Print more, including notes'
complete -c evalrig -n "__fish_evalrig_using_subcommand completions" -s h -l help -d 'Print help'
complete -c evalrig -n "__fish_evalrig_using_subcommand man" -l color -d 'When to color the output' -r -f -a "auto\t''
always\t''
never\t''"
complete -c evalrig -n "__fish_evalrig_using_subcommand man" -s q -l quiet -d 'Print less; no report when nothing is wrong'
complete -c evalrig -n "__fish_evalrig_using_subcommand man" -s v -l verbose -d 'Print more, including notes'
complete -c evalrig -n "__fish_evalrig_using_subcommand man" -s h -l help -d 'Print help'
complete -c evalrig -n "__fish_evalrig_using_subcommand help; and not __fish_seen_subcommand_from init validate run report compare view grade judge mutate stats log explain list show convert transpile export config worker queue lsp mcp schema completions man help" -f -a "init" -d 'Write the files needed to run suites: a suite, a targets file, a .gitignore, a CI workflow'
complete -c evalrig -n "__fish_evalrig_using_subcommand help; and not __fish_seen_subcommand_from init validate run report compare view grade judge mutate stats log explain list show convert transpile export config worker queue lsp mcp schema completions man help" -f -a "validate" -d 'Check suites, imports, targets files and evals.json; report every mistake with its line'
complete -c evalrig -n "__fish_evalrig_using_subcommand help; and not __fish_seen_subcommand_from init validate run report compare view grade judge mutate stats log explain list show convert transpile export config worker queue lsp mcp schema completions man help" -f -a "run" -d 'Run suites against their targets, grade the answers, save and report the results'
complete -c evalrig -n "__fish_evalrig_using_subcommand help; and not __fish_seen_subcommand_from init validate run report compare view grade judge mutate stats log explain list show convert transpile export config worker queue lsp mcp schema completions man help" -f -a "report" -d 'Report a stored run again, in any format'
complete -c evalrig -n "__fish_evalrig_using_subcommand help; and not __fish_seen_subcommand_from init validate run report compare view grade judge mutate stats log explain list show convert transpile export config worker queue lsp mcp schema completions man help" -f -a "compare" -d 'Compare two runs: what changed, and whether it is more than chance'
complete -c evalrig -n "__fish_evalrig_using_subcommand help; and not __fish_seen_subcommand_from init validate run report compare view grade judge mutate stats log explain list show convert transpile export config worker queue lsp mcp schema completions man help" -f -a "view" -d 'Show runs, comparisons and records in a browser, served on this machine only'
complete -c evalrig -n "__fish_evalrig_using_subcommand help; and not __fish_seen_subcommand_from init validate run report compare view grade judge mutate stats log explain list show convert transpile export config worker queue lsp mcp schema completions man help" -f -a "grade" -d 'Grade a stored run again with the suite\'s current assertions, without calling the target'
complete -c evalrig -n "__fish_evalrig_using_subcommand help; and not __fish_seen_subcommand_from init validate run report compare view grade judge mutate stats log explain list show convert transpile export config worker queue lsp mcp schema completions man help" -f -a "judge" -d 'Measure how reliable judges are'
complete -c evalrig -n "__fish_evalrig_using_subcommand help; and not __fish_seen_subcommand_from init validate run report compare view grade judge mutate stats log explain list show convert transpile export config worker queue lsp mcp schema completions man help" -f -a "mutate" -d 'Damage stored answers that passed, and list the checks that do not notice'
complete -c evalrig -n "__fish_evalrig_using_subcommand help; and not __fish_seen_subcommand_from init validate run report compare view grade judge mutate stats log explain list show convert transpile export config worker queue lsp mcp schema completions man help" -f -a "stats" -d 'Show what causes variance in stored runs, and the effect of more trials, tests or votes'
complete -c evalrig -n "__fish_evalrig_using_subcommand help; and not __fish_seen_subcommand_from init validate run report compare view grade judge mutate stats log explain list show convert transpile export config worker queue lsp mcp schema completions man help" -f -a "log" -d 'Inspect and edit the `.co/evals` store, which records every run'
complete -c evalrig -n "__fish_evalrig_using_subcommand help; and not __fish_seen_subcommand_from init validate run report compare view grade judge mutate stats log explain list show convert transpile export config worker queue lsp mcp schema completions man help" -f -a "explain" -d 'Explain a diagnostic, an assertion type, a provider or a format of `convert`; without a name, list all of them'
complete -c evalrig -n "__fish_evalrig_using_subcommand help; and not __fish_seen_subcommand_from init validate run report compare view grade judge mutate stats log explain list show convert transpile export config worker queue lsp mcp schema completions man help" -f -a "list" -d 'List suites and their tests'
complete -c evalrig -n "__fish_evalrig_using_subcommand help; and not __fish_seen_subcommand_from init validate run report compare view grade judge mutate stats log explain list show convert transpile export config worker queue lsp mcp schema completions man help" -f -a "show" -d 'Print a suite, or one test, as evalrig understands it: imports, old spellings, `input_files` and variables are resolved'
complete -c evalrig -n "__fish_evalrig_using_subcommand help; and not __fish_seen_subcommand_from init validate run report compare view grade judge mutate stats log explain list show convert transpile export config worker queue lsp mcp schema completions man help" -f -a "convert" -d 'Convert a suite of another tool, an evals.json, cases of `claude plugin eval` or `.co/evals` records to an EVAL.yaml, or an iteration of skill-creator to results'
complete -c evalrig -n "__fish_evalrig_using_subcommand help; and not __fish_seen_subcommand_from init validate run report compare view grade judge mutate stats log explain list show convert transpile export config worker queue lsp mcp schema completions man help" -f -a "transpile" -d 'Write a suite as the evals.json and eval sets of skill-creator'
complete -c evalrig -n "__fish_evalrig_using_subcommand help; and not __fish_seen_subcommand_from init validate run report compare view grade judge mutate stats log explain list show convert transpile export config worker queue lsp mcp schema completions man help" -f -a "export" -d 'Write results in the format of another tool'
complete -c evalrig -n "__fish_evalrig_using_subcommand help; and not __fish_seen_subcommand_from init validate run report compare view grade judge mutate stats log explain list show convert transpile export config worker queue lsp mcp schema completions man help" -f -a "config" -d 'Show the settings of `run` and `validate`, and where each comes from'
complete -c evalrig -n "__fish_evalrig_using_subcommand help; and not __fish_seen_subcommand_from init validate run report compare view grade judge mutate stats log explain list show convert transpile export config worker queue lsp mcp schema completions man help" -f -a "worker" -d 'Run cases of `run --queue` on this machine until stopped'
complete -c evalrig -n "__fish_evalrig_using_subcommand help; and not __fish_seen_subcommand_from init validate run report compare view grade judge mutate stats log explain list show convert transpile export config worker queue lsp mcp schema completions man help" -f -a "queue" -d 'List, cancel and remove the runs on a server'
complete -c evalrig -n "__fish_evalrig_using_subcommand help; and not __fish_seen_subcommand_from init validate run report compare view grade judge mutate stats log explain list show convert transpile export config worker queue lsp mcp schema completions man help" -f -a "lsp" -d 'Run the language server (LSP): diagnostics, fixes, completion and more for editors'
complete -c evalrig -n "__fish_evalrig_using_subcommand help; and not __fish_seen_subcommand_from init validate run report compare view grade judge mutate stats log explain list show convert transpile export config worker queue lsp mcp schema completions man help" -f -a "mcp" -d 'Run the MCP server: tools for coding agents, on standard input and output'
complete -c evalrig -n "__fish_evalrig_using_subcommand help; and not __fish_seen_subcommand_from init validate run report compare view grade judge mutate stats log explain list show convert transpile export config worker queue lsp mcp schema completions man help" -f -a "schema" -d 'Print a JSON Schema for editors and other tools'
complete -c evalrig -n "__fish_evalrig_using_subcommand help; and not __fish_seen_subcommand_from init validate run report compare view grade judge mutate stats log explain list show convert transpile export config worker queue lsp mcp schema completions man help" -f -a "completions" -d 'Print a completion script for a shell'
complete -c evalrig -n "__fish_evalrig_using_subcommand help; and not __fish_seen_subcommand_from init validate run report compare view grade judge mutate stats log explain list show convert transpile export config worker queue lsp mcp schema completions man help" -f -a "man" -d 'Write man pages to a directory'
complete -c evalrig -n "__fish_evalrig_using_subcommand help; and not __fish_seen_subcommand_from init validate run report compare view grade judge mutate stats log explain list show convert transpile export config worker queue lsp mcp schema completions man help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c evalrig -n "__fish_evalrig_using_subcommand help; and __fish_seen_subcommand_from judge" -f -a "check" -d 'Check judges against labels: agreement, consistency, and the corrected pass rate'
complete -c evalrig -n "__fish_evalrig_using_subcommand help; and __fish_seen_subcommand_from log" -f -a "list" -d 'List the records'
complete -c evalrig -n "__fish_evalrig_using_subcommand help; and __fish_seen_subcommand_from log" -f -a "show" -d 'Show a record: the newest run of every turn, then older runs'
complete -c evalrig -n "__fish_evalrig_using_subcommand help; and __fish_seen_subcommand_from log" -f -a "diff" -d 'Compare two runs of a record; exit with 1 if a turn no longer passes'
complete -c evalrig -n "__fish_evalrig_using_subcommand help; and __fish_seen_subcommand_from log" -f -a "messages" -d 'Print the messages of a run as a JSON array'
complete -c evalrig -n "__fish_evalrig_using_subcommand help; and __fish_seen_subcommand_from log" -f -a "expect" -d 'Set the expected answer of a turn'
complete -c evalrig -n "__fish_evalrig_using_subcommand help; and __fish_seen_subcommand_from log" -f -a "evaluate" -d 'Mark the newest answer of a turn as pass or fail'
complete -c evalrig -n "__fish_evalrig_using_subcommand help; and __fish_seen_subcommand_from log" -f -a "record" -d 'Record a session from standard input: chat messages, or an agent\'s output or session file'
complete -c evalrig -n "__fish_evalrig_using_subcommand help; and __fish_seen_subcommand_from log" -f -a "prune" -d 'Delete old runs and records'
complete -c evalrig -n "__fish_evalrig_using_subcommand help; and __fish_seen_subcommand_from log" -f -a "verify" -d 'Check the store for unreadable files, runs missing from summaries and wrong counts'
complete -c evalrig -n "__fish_evalrig_using_subcommand help; and __fish_seen_subcommand_from export" -f -a "skill-creator" -d 'Write results as a skill-creator iteration: gradings, timings, outputs and the benchmark'
complete -c evalrig -n "__fish_evalrig_using_subcommand help; and __fish_seen_subcommand_from export" -f -a "harbor" -d 'Write tests that check files as Harbor task directories'
complete -c evalrig -n "__fish_evalrig_using_subcommand help; and __fish_seen_subcommand_from queue" -f -a "status" -d 'List the runs on the server and their workers'
complete -c evalrig -n "__fish_evalrig_using_subcommand help; and __fish_seen_subcommand_from queue" -f -a "cancel" -d 'Cancel a run and keep its rows'
complete -c evalrig -n "__fish_evalrig_using_subcommand help; and __fish_seen_subcommand_from queue" -f -a "remove" -d 'Delete a run and its rows from the server'
