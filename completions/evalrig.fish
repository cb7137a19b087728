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

complete -c evalrig -n "__fish_evalrig_needs_command" -l color -d 'When to use colours' -r -f -a "auto\t''
always\t''
never\t''"
complete -c evalrig -n "__fish_evalrig_needs_command" -s q -l quiet -d 'Say less: no report when all is well'
complete -c evalrig -n "__fish_evalrig_needs_command" -s v -l verbose -d 'Say more: notes too'
complete -c evalrig -n "__fish_evalrig_needs_command" -s h -l help -d 'Print help'
complete -c evalrig -n "__fish_evalrig_needs_command" -s V -l version -d 'Print version'
complete -c evalrig -n "__fish_evalrig_needs_command" -f -a "init" -d 'Write a small suite and a mock target that answers it'
complete -c evalrig -n "__fish_evalrig_needs_command" -f -a "validate" -d 'Read suites, imports, targets and evals.json, and report every mistake at its line'
complete -c evalrig -n "__fish_evalrig_needs_command" -f -a "explain" -d 'Print the doc of a diagnostic, an assertion type or a provider; without a name, the index'
complete -c evalrig -n "__fish_evalrig_needs_command" -f -a "schema" -d 'Print a JSON Schema for editors and other tools'
complete -c evalrig -n "__fish_evalrig_needs_command" -f -a "list" -d 'List suites and their tests'
complete -c evalrig -n "__fish_evalrig_needs_command" -f -a "show" -d 'Print a suite, or one test, as it was understood: imports, old spellings, `input_files` and variables resolved'
complete -c evalrig -n "__fish_evalrig_needs_command" -f -a "convert" -d 'Turn evals.json, an eval set, a list of triggers or `.co/evals` records into an EVAL.yaml'
complete -c evalrig -n "__fish_evalrig_needs_command" -f -a "transpile" -d 'Write a suite as the evals.json and eval sets of skill-creator'
complete -c evalrig -n "__fish_evalrig_needs_command" -f -a "run" -d 'Run suites against their targets, grade the answers, keep and report what came of it'
complete -c evalrig -n "__fish_evalrig_needs_command" -f -a "grade" -d 'Grade a stored run again, with the suite\'s assertions of today and without calling the target'
complete -c evalrig -n "__fish_evalrig_needs_command" -f -a "compare" -d 'Say what changed between two runs, and whether it is more than chance'
complete -c evalrig -n "__fish_evalrig_needs_command" -f -a "report" -d 'Show a stored run again'
complete -c evalrig -n "__fish_evalrig_needs_command" -f -a "log" -d 'Look into the `.co/evals` store, where every run is kept, and add to it'
complete -c evalrig -n "__fish_evalrig_needs_command" -f -a "completions" -d 'Print a completion script for a shell'
complete -c evalrig -n "__fish_evalrig_needs_command" -f -a "man" -d 'Write man pages into a directory'
complete -c evalrig -n "__fish_evalrig_needs_command" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c evalrig -n "__fish_evalrig_using_subcommand init" -l color -d 'When to use colours' -r -f -a "auto\t''
always\t''
never\t''"
complete -c evalrig -n "__fish_evalrig_using_subcommand init" -s q -l quiet -d 'Say less: no report when all is well'
complete -c evalrig -n "__fish_evalrig_using_subcommand init" -s v -l verbose -d 'Say more: notes too'
complete -c evalrig -n "__fish_evalrig_using_subcommand init" -s h -l help -d 'Print help'
complete -c evalrig -n "__fish_evalrig_using_subcommand validate" -l format -d 'How to show what was found' -r -f -a "full\t''
concise\t''
json\t''
github\t''
sarif\t''"
complete -c evalrig -n "__fish_evalrig_using_subcommand validate" -l targets -d 'The targets file to check target names against' -r
complete -c evalrig -n "__fish_evalrig_using_subcommand validate" -l root -d 'Repository root: where a leading `/` starts and what no path may leave [default: the nearest directory with `.git`]' -r
complete -c evalrig -n "__fish_evalrig_using_subcommand validate" -l env-file -d 'Take variables from this file instead of searching for `.env` files' -r
complete -c evalrig -n "__fish_evalrig_using_subcommand validate" -l color -d 'When to use colours' -r -f -a "auto\t''
always\t''
never\t''"
complete -c evalrig -n "__fish_evalrig_using_subcommand validate" -l strict -d 'Treat warnings and conformance errors as errors that stop everything'
complete -c evalrig -n "__fish_evalrig_using_subcommand validate" -l fix -d 'Make safe fixes in place; comments and formatting are kept'
complete -c evalrig -n "__fish_evalrig_using_subcommand validate" -l diff -d 'With --fix: only show the changes'
complete -c evalrig -n "__fish_evalrig_using_subcommand validate" -l allow-outside-root -d 'Let paths lead out of the repository root'
complete -c evalrig -n "__fish_evalrig_using_subcommand validate" -l no-env-file -d 'Read no `.env` file'
complete -c evalrig -n "__fish_evalrig_using_subcommand validate" -s q -l quiet -d 'Say less: no report when all is well'
complete -c evalrig -n "__fish_evalrig_using_subcommand validate" -s v -l verbose -d 'Say more: notes too'
complete -c evalrig -n "__fish_evalrig_using_subcommand validate" -s h -l help -d 'Print help'
complete -c evalrig -n "__fish_evalrig_using_subcommand explain" -l format -d 'How to print it' -r -f -a "text\t''
json\t''"
complete -c evalrig -n "__fish_evalrig_using_subcommand explain" -l color -d 'When to use colours' -r -f -a "auto\t''
always\t''
never\t''"
complete -c evalrig -n "__fish_evalrig_using_subcommand explain" -s q -l quiet -d 'Say less: no report when all is well'
complete -c evalrig -n "__fish_evalrig_using_subcommand explain" -s v -l verbose -d 'Say more: notes too'
complete -c evalrig -n "__fish_evalrig_using_subcommand explain" -s h -l help -d 'Print help'
complete -c evalrig -n "__fish_evalrig_using_subcommand schema" -l draft -d 'Draft of JSON Schema' -r -f -a "2020-12\t''
07\t''"
complete -c evalrig -n "__fish_evalrig_using_subcommand schema" -l color -d 'When to use colours' -r -f -a "auto\t''
always\t''
never\t''"
complete -c evalrig -n "__fish_evalrig_using_subcommand schema" -s q -l quiet -d 'Say less: no report when all is well'
complete -c evalrig -n "__fish_evalrig_using_subcommand schema" -s v -l verbose -d 'Say more: notes too'
complete -c evalrig -n "__fish_evalrig_using_subcommand schema" -s h -l help -d 'Print help'
complete -c evalrig -n "__fish_evalrig_using_subcommand list" -l format -d 'How to print it' -r -f -a "text\t''
json\t''"
complete -c evalrig -n "__fish_evalrig_using_subcommand list" -l root -d 'Repository root: where a leading `/` starts and what no path may leave [default: the nearest directory with `.git`]' -r
complete -c evalrig -n "__fish_evalrig_using_subcommand list" -l env-file -d 'Take variables from this file instead of searching for `.env` files' -r
complete -c evalrig -n "__fish_evalrig_using_subcommand list" -l color -d 'When to use colours' -r -f -a "auto\t''
always\t''
never\t''"
complete -c evalrig -n "__fish_evalrig_using_subcommand list" -l allow-outside-root -d 'Let paths lead out of the repository root'
complete -c evalrig -n "__fish_evalrig_using_subcommand list" -l no-env-file -d 'Read no `.env` file'
complete -c evalrig -n "__fish_evalrig_using_subcommand list" -s q -l quiet -d 'Say less: no report when all is well'
complete -c evalrig -n "__fish_evalrig_using_subcommand list" -s v -l verbose -d 'Say more: notes too'
complete -c evalrig -n "__fish_evalrig_using_subcommand list" -s h -l help -d 'Print help'
complete -c evalrig -n "__fish_evalrig_using_subcommand show" -l format -d 'How to print it' -r -f -a "yaml\t''
json\t''"
complete -c evalrig -n "__fish_evalrig_using_subcommand show" -l root -d 'Repository root: where a leading `/` starts and what no path may leave [default: the nearest directory with `.git`]' -r
complete -c evalrig -n "__fish_evalrig_using_subcommand show" -l env-file -d 'Take variables from this file instead of searching for `.env` files' -r
complete -c evalrig -n "__fish_evalrig_using_subcommand show" -l color -d 'When to use colours' -r -f -a "auto\t''
always\t''
never\t''"
complete -c evalrig -n "__fish_evalrig_using_subcommand show" -l allow-outside-root -d 'Let paths lead out of the repository root'
complete -c evalrig -n "__fish_evalrig_using_subcommand show" -l no-env-file -d 'Read no `.env` file'
complete -c evalrig -n "__fish_evalrig_using_subcommand show" -s q -l quiet -d 'Say less: no report when all is well'
complete -c evalrig -n "__fish_evalrig_using_subcommand show" -s v -l verbose -d 'Say more: notes too'
complete -c evalrig -n "__fish_evalrig_using_subcommand show" -s h -l help -d 'Print help'
complete -c evalrig -n "__fish_evalrig_using_subcommand convert" -s o -l output -d 'Where to write the suite; `-` is standard output' -r
complete -c evalrig -n "__fish_evalrig_using_subcommand convert" -l root -d 'Repository root: where a leading `/` starts and what no path may leave [default: the nearest directory with `.git`]' -r
complete -c evalrig -n "__fish_evalrig_using_subcommand convert" -l env-file -d 'Take variables from this file instead of searching for `.env` files' -r
complete -c evalrig -n "__fish_evalrig_using_subcommand convert" -l color -d 'When to use colours' -r -f -a "auto\t''
always\t''
never\t''"
complete -c evalrig -n "__fish_evalrig_using_subcommand convert" -l stdout -d 'Print the suite; its paths are written for a file in the current directory'
complete -c evalrig -n "__fish_evalrig_using_subcommand convert" -l force -d 'Replace a file that exists'
complete -c evalrig -n "__fish_evalrig_using_subcommand convert" -l allow-outside-root -d 'Let paths lead out of the repository root'
complete -c evalrig -n "__fish_evalrig_using_subcommand convert" -l no-env-file -d 'Read no `.env` file'
complete -c evalrig -n "__fish_evalrig_using_subcommand convert" -s q -l quiet -d 'Say less: no report when all is well'
complete -c evalrig -n "__fish_evalrig_using_subcommand convert" -s v -l verbose -d 'Say more: notes too'
complete -c evalrig -n "__fish_evalrig_using_subcommand convert" -s h -l help -d 'Print help'
complete -c evalrig -n "__fish_evalrig_using_subcommand transpile" -l out -d 'Where to write [default: the suite\'s directory]' -r
complete -c evalrig -n "__fish_evalrig_using_subcommand transpile" -l format -d 'Which files to make' -r -f -a "evals\t''
eval-set\t''
both\t''"
complete -c evalrig -n "__fish_evalrig_using_subcommand transpile" -l for -d 'Who will read them; skill-creator calls the assertions `expectations`' -r -f -a "issue-598\t''
agentskills\t''
skill-creator\t''"
complete -c evalrig -n "__fish_evalrig_using_subcommand transpile" -l layout -d 'Files side by side, or one directory per skill' -r -f -a "flat\t''
skill-dirs\t''"
complete -c evalrig -n "__fish_evalrig_using_subcommand transpile" -l no-skill -d 'Where tests without a trigger go: to the skill with most tests, or to a file of their own' -r -f -a "dominant\t''
separate\t''"
complete -c evalrig -n "__fish_evalrig_using_subcommand transpile" -l loss-report -d 'Write what is lost to this file, as JSON' -r
complete -c evalrig -n "__fish_evalrig_using_subcommand transpile" -l root -d 'Repository root: where a leading `/` starts and what no path may leave [default: the nearest directory with `.git`]' -r
complete -c evalrig -n "__fish_evalrig_using_subcommand transpile" -l env-file -d 'Take variables from this file instead of searching for `.env` files' -r
complete -c evalrig -n "__fish_evalrig_using_subcommand transpile" -l color -d 'When to use colours' -r -f -a "auto\t''
always\t''
never\t''"
complete -c evalrig -n "__fish_evalrig_using_subcommand transpile" -l stdout -d 'Print instead of writing; only when there is exactly one file'
complete -c evalrig -n "__fish_evalrig_using_subcommand transpile" -l no-criteria -d 'Leave `criteria` out of the assertions'
complete -c evalrig -n "__fish_evalrig_using_subcommand transpile" -l inline-prompts -d 'Write the text of prompt files in place of their paths'
complete -c evalrig -n "__fish_evalrig_using_subcommand transpile" -l deny-loss -d 'Write nothing, and exit with 1, when something would be lost'
complete -c evalrig -n "__fish_evalrig_using_subcommand transpile" -l force -d 'Replace files that evalrig did not write'
complete -c evalrig -n "__fish_evalrig_using_subcommand transpile" -l check -d 'Write nothing; exit with 1 when a file differs from what would be written'
complete -c evalrig -n "__fish_evalrig_using_subcommand transpile" -l allow-outside-root -d 'Let paths lead out of the repository root'
complete -c evalrig -n "__fish_evalrig_using_subcommand transpile" -l no-env-file -d 'Read no `.env` file'
complete -c evalrig -n "__fish_evalrig_using_subcommand transpile" -s q -l quiet -d 'Say less: no report when all is well'
complete -c evalrig -n "__fish_evalrig_using_subcommand transpile" -s v -l verbose -d 'Say more: notes too'
complete -c evalrig -n "__fish_evalrig_using_subcommand transpile" -s h -l help -d 'Print help'
complete -c evalrig -n "__fish_evalrig_using_subcommand run" -l target -d 'Run against this target, whatever the suite says; repeatable' -r
complete -c evalrig -n "__fish_evalrig_using_subcommand run" -l filter -d 'Only tests whose id fits; `!GLOB` excludes; repeatable' -r
complete -c evalrig -n "__fish_evalrig_using_subcommand run" -l tag -d 'Only tests with this tag; repeatable' -r
complete -c evalrig -n "__fish_evalrig_using_subcommand run" -l failed -d 'Only what did not pass in a results file [default: the latest]' -r
complete -c evalrig -n "__fish_evalrig_using_subcommand run" -l trials -d 'How often each test is run, whatever the suite says' -r
complete -c evalrig -n "__fish_evalrig_using_subcommand run" -l sample -d 'Only so many tests, chosen by the seed' -r
complete -c evalrig -n "__fish_evalrig_using_subcommand run" -l seed -d 'Seed of every choice that is left to chance' -r
complete -c evalrig -n "__fish_evalrig_using_subcommand run" -l shard -d 'Only part I of N; the parts together are the whole' -r
complete -c evalrig -n "__fish_evalrig_using_subcommand run" -l resume -d 'Go on with an interrupted run [default: the latest]' -r
complete -c evalrig -n "__fish_evalrig_using_subcommand run" -l targets -d 'The targets file [default: the nearest `.evalrig/targets.yaml`]' -r
complete -c evalrig -n "__fish_evalrig_using_subcommand run" -l workers -d 'Cases at once [default: cores for processes, four times that for HTTP]' -r
complete -c evalrig -n "__fish_evalrig_using_subcommand run" -l timeout -d 'Seconds that one attempt may take' -r
complete -c evalrig -n "__fish_evalrig_using_subcommand run" -l retries -d 'Further attempts after a transport failure' -r
complete -c evalrig -n "__fish_evalrig_using_subcommand run" -l max-errors -d 'Stop when so many cases could not be measured' -r
complete -c evalrig -n "__fish_evalrig_using_subcommand run" -l budget-usd -d 'Stop when targets and judges have cost this much' -r
complete -c evalrig -n "__fish_evalrig_using_subcommand run" -l judge -d 'The target that judges, where an assertion names none' -r
complete -c evalrig -n "__fish_evalrig_using_subcommand run" -l pass -d 'Score from which a case passes [default: the suite\'s, else 0.8]' -r
complete -c evalrig -n "__fish_evalrig_using_subcommand run" -l borderline -d 'Score from which a case is borderline [default: the suite\'s, else 0.6]' -r
complete -c evalrig -n "__fish_evalrig_using_subcommand run" -l pass-trials -d 'Share of a test\'s trials that must pass' -r
complete -c evalrig -n "__fish_evalrig_using_subcommand run" -l output -d 'Where the rows go [default: `.evalrig/results` in the repository root]' -r
complete -c evalrig -n "__fish_evalrig_using_subcommand run" -l store -d 'Where runs are recorded [default: `.co/evals` in the repository root]' -r
complete -c evalrig -n "__fish_evalrig_using_subcommand run" -l keep-runs -d 'Delete all but the newest N run files of each record that is written' -r
complete -c evalrig -n "__fish_evalrig_using_subcommand run" -l baseline -d 'Compare with an earlier run: a results file, a directory with results, `latest` or `latest~N`' -r
complete -c evalrig -n "__fish_evalrig_using_subcommand run" -l margin -d 'Differences of the rate, or of the mean score, below this do not matter' -r
complete -c evalrig -n "__fish_evalrig_using_subcommand run" -l measure -d 'Compare how many trials pass, or what they score' -r -f -a "pass\t''
score\t''"
complete -c evalrig -n "__fish_evalrig_using_subcommand run" -l report -d 'What to report, and where to; repeatable [default: terminal]' -r
complete -c evalrig -n "__fish_evalrig_using_subcommand run" -l root -d 'Repository root: where a leading `/` starts and what no path may leave [default: the nearest directory with `.git`]' -r
complete -c evalrig -n "__fish_evalrig_using_subcommand run" -l env-file -d 'Take variables from this file instead of searching for `.env` files' -r
complete -c evalrig -n "__fish_evalrig_using_subcommand run" -l color -d 'When to use colours' -r -f -a "auto\t''
always\t''
never\t''"
complete -c evalrig -n "__fish_evalrig_using_subcommand run" -l dry-run -d 'Call nothing; print how many calls there would be and what they may cost'
complete -c evalrig -n "__fish_evalrig_using_subcommand run" -l skip-judges -d 'Leave out what a model has to judge'
complete -c evalrig -n "__fish_evalrig_using_subcommand run" -l judge-criteria -d 'Judge `criteria` too where a test has assertions'
complete -c evalrig -n "__fish_evalrig_using_subcommand run" -l allow-borderline -d 'Exit with 0 when tests are borderline'
complete -c evalrig -n "__fish_evalrig_using_subcommand run" -l messages -d 'Keep the messages of every case, so that tool calls can be graded again'
complete -c evalrig -n "__fish_evalrig_using_subcommand run" -l no-record -d 'Record nothing in `.co/evals`'
complete -c evalrig -n "__fish_evalrig_using_subcommand run" -l gate -d 'Let only the comparison decide: exit with 0 when better or equivalent, with 1 when worse, with 3 when nothing is settled'
complete -c evalrig -n "__fish_evalrig_using_subcommand run" -l allow-outside-root -d 'Let paths lead out of the repository root'
complete -c evalrig -n "__fish_evalrig_using_subcommand run" -l no-env-file -d 'Read no `.env` file'
complete -c evalrig -n "__fish_evalrig_using_subcommand run" -s q -l quiet -d 'Say less: no report when all is well'
complete -c evalrig -n "__fish_evalrig_using_subcommand run" -s v -l verbose -d 'Say more: notes too'
complete -c evalrig -n "__fish_evalrig_using_subcommand run" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c evalrig -n "__fish_evalrig_using_subcommand grade" -l suite -d 'The suite whose assertions grade [default: where the rows say they come from]' -r
complete -c evalrig -n "__fish_evalrig_using_subcommand grade" -l targets -d 'The targets file, for judges [default: the nearest `.evalrig/targets.yaml`]' -r
complete -c evalrig -n "__fish_evalrig_using_subcommand grade" -l workers -d 'Cases at once' -r
complete -c evalrig -n "__fish_evalrig_using_subcommand grade" -l judge -d 'The target that judges, where an assertion names none' -r
complete -c evalrig -n "__fish_evalrig_using_subcommand grade" -l pass -d 'Score from which a case passes [default: the suite\'s, else 0.8]' -r
complete -c evalrig -n "__fish_evalrig_using_subcommand grade" -l borderline -d 'Score from which a case is borderline [default: the suite\'s, else 0.6]' -r
complete -c evalrig -n "__fish_evalrig_using_subcommand grade" -l pass-trials -d 'Share of a test\'s trials that must pass' -r
complete -c evalrig -n "__fish_evalrig_using_subcommand grade" -l output -d 'Where the rows go [default: `.evalrig/results` in the repository root]' -r
complete -c evalrig -n "__fish_evalrig_using_subcommand grade" -l report -d 'What to report, and where to; repeatable [default: terminal]' -r
complete -c evalrig -n "__fish_evalrig_using_subcommand grade" -l root -d 'Repository root: where a leading `/` starts and what no path may leave [default: the nearest directory with `.git`]' -r
complete -c evalrig -n "__fish_evalrig_using_subcommand grade" -l env-file -d 'Take variables from this file instead of searching for `.env` files' -r
complete -c evalrig -n "__fish_evalrig_using_subcommand grade" -l color -d 'When to use colours' -r -f -a "auto\t''
always\t''
never\t''"
complete -c evalrig -n "__fish_evalrig_using_subcommand grade" -l skip-judges -d 'Leave out what a model has to judge'
complete -c evalrig -n "__fish_evalrig_using_subcommand grade" -l judge-criteria -d 'Judge `criteria` too where a test has assertions'
complete -c evalrig -n "__fish_evalrig_using_subcommand grade" -l allow-borderline -d 'Exit with 0 when tests are borderline'
complete -c evalrig -n "__fish_evalrig_using_subcommand grade" -l messages -d 'Keep the messages of every case, so that tool calls can be graded again'
complete -c evalrig -n "__fish_evalrig_using_subcommand grade" -l allow-outside-root -d 'Let paths lead out of the repository root'
complete -c evalrig -n "__fish_evalrig_using_subcommand grade" -l no-env-file -d 'Read no `.env` file'
complete -c evalrig -n "__fish_evalrig_using_subcommand grade" -s q -l quiet -d 'Say less: no report when all is well'
complete -c evalrig -n "__fish_evalrig_using_subcommand grade" -s v -l verbose -d 'Say more: notes too'
complete -c evalrig -n "__fish_evalrig_using_subcommand grade" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c evalrig -n "__fish_evalrig_using_subcommand compare" -l format -d 'How to print it' -r -f -a "text\t''
json\t''
markdown\t''"
complete -c evalrig -n "__fish_evalrig_using_subcommand compare" -l margin -d 'Differences of the rate, or of the mean score, below this do not matter' -r
complete -c evalrig -n "__fish_evalrig_using_subcommand compare" -l measure -d 'Compare how many trials pass, or what they score' -r -f -a "pass\t''
score\t''"
complete -c evalrig -n "__fish_evalrig_using_subcommand compare" -l seed -d 'Seed of what is left to chance [default: made from the runs]' -r
complete -c evalrig -n "__fish_evalrig_using_subcommand compare" -l selftest -d 'Try the gate on the trials of one run: how often it raises a false alarm, and how small a drop it would catch' -r
complete -c evalrig -n "__fish_evalrig_using_subcommand compare" -l color -d 'When to use colours' -r -f -a "auto\t''
always\t''
never\t''"
complete -c evalrig -n "__fish_evalrig_using_subcommand compare" -l gate -d 'Let only the verdict decide: exit with 1 when worse, with 3 when nothing is settled'
complete -c evalrig -n "__fish_evalrig_using_subcommand compare" -s q -l quiet -d 'Say less: no report when all is well'
complete -c evalrig -n "__fish_evalrig_using_subcommand compare" -s v -l verbose -d 'Say more: notes too'
complete -c evalrig -n "__fish_evalrig_using_subcommand compare" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c evalrig -n "__fish_evalrig_using_subcommand report" -l pass-trials -d 'Share of a test\'s trials that must pass' -r
complete -c evalrig -n "__fish_evalrig_using_subcommand report" -l baseline -d 'Compare with an earlier run: a results file, a directory with results, `latest` or `latest~N`' -r
complete -c evalrig -n "__fish_evalrig_using_subcommand report" -l margin -d 'Differences of the rate, or of the mean score, below this do not matter' -r
complete -c evalrig -n "__fish_evalrig_using_subcommand report" -l measure -d 'Compare how many trials pass, or what they score' -r -f -a "pass\t''
score\t''"
complete -c evalrig -n "__fish_evalrig_using_subcommand report" -l report -d 'What to report, and where to; repeatable [default: terminal]' -r
complete -c evalrig -n "__fish_evalrig_using_subcommand report" -l root -d 'Repository root: where the paths of the rows start [default: the nearest directory with `.git`]' -r
complete -c evalrig -n "__fish_evalrig_using_subcommand report" -l color -d 'When to use colours' -r -f -a "auto\t''
always\t''
never\t''"
complete -c evalrig -n "__fish_evalrig_using_subcommand report" -l allow-borderline -d 'Exit with 0 when tests are borderline'
complete -c evalrig -n "__fish_evalrig_using_subcommand report" -l gate -d 'Let only the comparison decide: exit with 0 when better or equivalent, with 1 when worse, with 3 when nothing is settled'
complete -c evalrig -n "__fish_evalrig_using_subcommand report" -s q -l quiet -d 'Say less: no report when all is well'
complete -c evalrig -n "__fish_evalrig_using_subcommand report" -s v -l verbose -d 'Say more: notes too'
complete -c evalrig -n "__fish_evalrig_using_subcommand report" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c evalrig -n "__fish_evalrig_using_subcommand log; and not __fish_seen_subcommand_from list show diff messages expect evaluate record prune verify help" -l store -d 'The store [default: `.co/evals` in the repository root]' -r
complete -c evalrig -n "__fish_evalrig_using_subcommand log; and not __fish_seen_subcommand_from list show diff messages expect evaluate record prune verify help" -l format -d 'How to print it' -r -f -a "text\t''
json\t''"
complete -c evalrig -n "__fish_evalrig_using_subcommand log; and not __fish_seen_subcommand_from list show diff messages expect evaluate record prune verify help" -l color -d 'When to use colours' -r -f -a "auto\t''
always\t''
never\t''"
complete -c evalrig -n "__fish_evalrig_using_subcommand log; and not __fish_seen_subcommand_from list show diff messages expect evaluate record prune verify help" -s q -l quiet -d 'Say less: no report when all is well'
complete -c evalrig -n "__fish_evalrig_using_subcommand log; and not __fish_seen_subcommand_from list show diff messages expect evaluate record prune verify help" -s v -l verbose -d 'Say more: notes too'
complete -c evalrig -n "__fish_evalrig_using_subcommand log; and not __fish_seen_subcommand_from list show diff messages expect evaluate record prune verify help" -s h -l help -d 'Print help'
complete -c evalrig -n "__fish_evalrig_using_subcommand log; and not __fish_seen_subcommand_from list show diff messages expect evaluate record prune verify help" -f -a "list" -d 'List the records'
complete -c evalrig -n "__fish_evalrig_using_subcommand log; and not __fish_seen_subcommand_from list show diff messages expect evaluate record prune verify help" -f -a "show" -d 'Show a record: the newest run of every turn, older ones beneath'
complete -c evalrig -n "__fish_evalrig_using_subcommand log; and not __fish_seen_subcommand_from list show diff messages expect evaluate record prune verify help" -f -a "diff" -d 'Compare two runs of a record; exit with 1 when something passed before and does not now'
complete -c evalrig -n "__fish_evalrig_using_subcommand log; and not __fish_seen_subcommand_from list show diff messages expect evaluate record prune verify help" -f -a "messages" -d 'Print the messages of a run as a JSON array'
complete -c evalrig -n "__fish_evalrig_using_subcommand log; and not __fish_seen_subcommand_from list show diff messages expect evaluate record prune verify help" -f -a "expect" -d 'Write down what is expected of a turn'
complete -c evalrig -n "__fish_evalrig_using_subcommand log; and not __fish_seen_subcommand_from list show diff messages expect evaluate record prune verify help" -f -a "evaluate" -d 'Write down whether the newest answer of a turn is good'
complete -c evalrig -n "__fish_evalrig_using_subcommand log; and not __fish_seen_subcommand_from list show diff messages expect evaluate record prune verify help" -f -a "record" -d 'Record a session from standard input: chat messages, or what Claude Code or Codex wrote'
complete -c evalrig -n "__fish_evalrig_using_subcommand log; and not __fish_seen_subcommand_from list show diff messages expect evaluate record prune verify help" -f -a "prune" -d 'Delete what is old'
complete -c evalrig -n "__fish_evalrig_using_subcommand log; and not __fish_seen_subcommand_from list show diff messages expect evaluate record prune verify help" -f -a "verify" -d 'Check the store: unreadable files, runs that no summary mentions, numbers that do not fit'
complete -c evalrig -n "__fish_evalrig_using_subcommand log; and not __fish_seen_subcommand_from list show diff messages expect evaluate record prune verify help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c evalrig -n "__fish_evalrig_using_subcommand log; and __fish_seen_subcommand_from list" -l store -d 'The store [default: `.co/evals` in the repository root]' -r
complete -c evalrig -n "__fish_evalrig_using_subcommand log; and __fish_seen_subcommand_from list" -l format -d 'How to print it' -r -f -a "text\t''
json\t''"
complete -c evalrig -n "__fish_evalrig_using_subcommand log; and __fish_seen_subcommand_from list" -l color -d 'When to use colours' -r -f -a "auto\t''
always\t''
never\t''"
complete -c evalrig -n "__fish_evalrig_using_subcommand log; and __fish_seen_subcommand_from list" -s q -l quiet -d 'Say less: no report when all is well'
complete -c evalrig -n "__fish_evalrig_using_subcommand log; and __fish_seen_subcommand_from list" -s v -l verbose -d 'Say more: notes too'
complete -c evalrig -n "__fish_evalrig_using_subcommand log; and __fish_seen_subcommand_from list" -s h -l help -d 'Print help'
complete -c evalrig -n "__fish_evalrig_using_subcommand log; and __fish_seen_subcommand_from show" -l store -d 'The store [default: `.co/evals` in the repository root]' -r
complete -c evalrig -n "__fish_evalrig_using_subcommand log; and __fish_seen_subcommand_from show" -l format -d 'How to print it' -r -f -a "text\t''
json\t''"
complete -c evalrig -n "__fish_evalrig_using_subcommand log; and __fish_seen_subcommand_from show" -l color -d 'When to use colours' -r -f -a "auto\t''
always\t''
never\t''"
complete -c evalrig -n "__fish_evalrig_using_subcommand log; and __fish_seen_subcommand_from show" -s q -l quiet -d 'Say less: no report when all is well'
complete -c evalrig -n "__fish_evalrig_using_subcommand log; and __fish_seen_subcommand_from show" -s v -l verbose -d 'Say more: notes too'
complete -c evalrig -n "__fish_evalrig_using_subcommand log; and __fish_seen_subcommand_from show" -s h -l help -d 'Print help'
complete -c evalrig -n "__fish_evalrig_using_subcommand log; and __fish_seen_subcommand_from diff" -l runs -d 'Which runs, before and now [default: the last two]' -r
complete -c evalrig -n "__fish_evalrig_using_subcommand log; and __fish_seen_subcommand_from diff" -l store -d 'The store [default: `.co/evals` in the repository root]' -r
complete -c evalrig -n "__fish_evalrig_using_subcommand log; and __fish_seen_subcommand_from diff" -l format -d 'How to print it' -r -f -a "text\t''
json\t''"
complete -c evalrig -n "__fish_evalrig_using_subcommand log; and __fish_seen_subcommand_from diff" -l color -d 'When to use colours' -r -f -a "auto\t''
always\t''
never\t''"
complete -c evalrig -n "__fish_evalrig_using_subcommand log; and __fish_seen_subcommand_from diff" -s q -l quiet -d 'Say less: no report when all is well'
complete -c evalrig -n "__fish_evalrig_using_subcommand log; and __fish_seen_subcommand_from diff" -s v -l verbose -d 'Say more: notes too'
complete -c evalrig -n "__fish_evalrig_using_subcommand log; and __fish_seen_subcommand_from diff" -s h -l help -d 'Print help'
complete -c evalrig -n "__fish_evalrig_using_subcommand log; and __fish_seen_subcommand_from messages" -l run -d 'Which run [default: the newest]' -r
complete -c evalrig -n "__fish_evalrig_using_subcommand log; and __fish_seen_subcommand_from messages" -l store -d 'The store [default: `.co/evals` in the repository root]' -r
complete -c evalrig -n "__fish_evalrig_using_subcommand log; and __fish_seen_subcommand_from messages" -l format -d 'How to print it' -r -f -a "text\t''
json\t''"
complete -c evalrig -n "__fish_evalrig_using_subcommand log; and __fish_seen_subcommand_from messages" -l color -d 'When to use colours' -r -f -a "auto\t''
always\t''
never\t''"
complete -c evalrig -n "__fish_evalrig_using_subcommand log; and __fish_seen_subcommand_from messages" -s q -l quiet -d 'Say less: no report when all is well'
complete -c evalrig -n "__fish_evalrig_using_subcommand log; and __fish_seen_subcommand_from messages" -s v -l verbose -d 'Say more: notes too'
complete -c evalrig -n "__fish_evalrig_using_subcommand log; and __fish_seen_subcommand_from messages" -s h -l help -d 'Print help'
complete -c evalrig -n "__fish_evalrig_using_subcommand log; and __fish_seen_subcommand_from expect" -l turn -d 'Which turn, from 1 [default: the last]' -r
complete -c evalrig -n "__fish_evalrig_using_subcommand log; and __fish_seen_subcommand_from expect" -l store -d 'The store [default: `.co/evals` in the repository root]' -r
complete -c evalrig -n "__fish_evalrig_using_subcommand log; and __fish_seen_subcommand_from expect" -l format -d 'How to print it' -r -f -a "text\t''
json\t''"
complete -c evalrig -n "__fish_evalrig_using_subcommand log; and __fish_seen_subcommand_from expect" -l color -d 'When to use colours' -r -f -a "auto\t''
always\t''
never\t''"
complete -c evalrig -n "__fish_evalrig_using_subcommand log; and __fish_seen_subcommand_from expect" -s q -l quiet -d 'Say less: no report when all is well'
complete -c evalrig -n "__fish_evalrig_using_subcommand log; and __fish_seen_subcommand_from expect" -s v -l verbose -d 'Say more: notes too'
complete -c evalrig -n "__fish_evalrig_using_subcommand log; and __fish_seen_subcommand_from expect" -s h -l help -d 'Print help'
complete -c evalrig -n "__fish_evalrig_using_subcommand log; and __fish_seen_subcommand_from evaluate" -l turn -d 'Which turn, from 1 [default: the last]' -r
complete -c evalrig -n "__fish_evalrig_using_subcommand log; and __fish_seen_subcommand_from evaluate" -l store -d 'The store [default: `.co/evals` in the repository root]' -r
complete -c evalrig -n "__fish_evalrig_using_subcommand log; and __fish_seen_subcommand_from evaluate" -l format -d 'How to print it' -r -f -a "text\t''
json\t''"
complete -c evalrig -n "__fish_evalrig_using_subcommand log; and __fish_seen_subcommand_from evaluate" -l color -d 'When to use colours' -r -f -a "auto\t''
always\t''
never\t''"
complete -c evalrig -n "__fish_evalrig_using_subcommand log; and __fish_seen_subcommand_from evaluate" -s q -l quiet -d 'Say less: no report when all is well'
complete -c evalrig -n "__fish_evalrig_using_subcommand log; and __fish_seen_subcommand_from evaluate" -s v -l verbose -d 'Say more: notes too'
complete -c evalrig -n "__fish_evalrig_using_subcommand log; and __fish_seen_subcommand_from evaluate" -s h -l help -d 'Print help'
complete -c evalrig -n "__fish_evalrig_using_subcommand log; and __fish_seen_subcommand_from record" -l input -d 'What was asked, for sessions that do not say it themselves' -r
complete -c evalrig -n "__fish_evalrig_using_subcommand log; and __fish_seen_subcommand_from record" -l from -d 'Who wrote the session [default: by its look]' -r -f -a "messages\t'Chat messages: a JSON array, or an object with `messages`'
claude\t'Claude Code: stream-json, or a session file'
codex\t'Codex: `exec --json`, or a session file'"
complete -c evalrig -n "__fish_evalrig_using_subcommand log; and __fish_seen_subcommand_from record" -l model -d 'The model, where the session does not name it' -r
complete -c evalrig -n "__fish_evalrig_using_subcommand log; and __fish_seen_subcommand_from record" -l expected -d 'What is expected of the last answer' -r
complete -c evalrig -n "__fish_evalrig_using_subcommand log; and __fish_seen_subcommand_from record" -l store -d 'The store [default: `.co/evals` in the repository root]' -r
complete -c evalrig -n "__fish_evalrig_using_subcommand log; and __fish_seen_subcommand_from record" -l format -d 'How to print it' -r -f -a "text\t''
json\t''"
complete -c evalrig -n "__fish_evalrig_using_subcommand log; and __fish_seen_subcommand_from record" -l color -d 'When to use colours' -r -f -a "auto\t''
always\t''
never\t''"
complete -c evalrig -n "__fish_evalrig_using_subcommand log; and __fish_seen_subcommand_from record" -s q -l quiet -d 'Say less: no report when all is well'
complete -c evalrig -n "__fish_evalrig_using_subcommand log; and __fish_seen_subcommand_from record" -s v -l verbose -d 'Say more: notes too'
complete -c evalrig -n "__fish_evalrig_using_subcommand log; and __fish_seen_subcommand_from record" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c evalrig -n "__fish_evalrig_using_subcommand log; and __fish_seen_subcommand_from prune" -l keep-runs -d 'Run files to keep of each record' -r
complete -c evalrig -n "__fish_evalrig_using_subcommand log; and __fish_seen_subcommand_from prune" -l keep-history -d 'Older runs to keep in each turn\'s history' -r
complete -c evalrig -n "__fish_evalrig_using_subcommand log; and __fish_seen_subcommand_from prune" -l keep-records -d 'Records to keep, the newest' -r
complete -c evalrig -n "__fish_evalrig_using_subcommand log; and __fish_seen_subcommand_from prune" -l store -d 'The store [default: `.co/evals` in the repository root]' -r
complete -c evalrig -n "__fish_evalrig_using_subcommand log; and __fish_seen_subcommand_from prune" -l format -d 'How to print it' -r -f -a "text\t''
json\t''"
complete -c evalrig -n "__fish_evalrig_using_subcommand log; and __fish_seen_subcommand_from prune" -l color -d 'When to use colours' -r -f -a "auto\t''
always\t''
never\t''"
complete -c evalrig -n "__fish_evalrig_using_subcommand log; and __fish_seen_subcommand_from prune" -l dry-run -d 'Only say what would go'
complete -c evalrig -n "__fish_evalrig_using_subcommand log; and __fish_seen_subcommand_from prune" -s q -l quiet -d 'Say less: no report when all is well'
complete -c evalrig -n "__fish_evalrig_using_subcommand log; and __fish_seen_subcommand_from prune" -s v -l verbose -d 'Say more: notes too'
complete -c evalrig -n "__fish_evalrig_using_subcommand log; and __fish_seen_subcommand_from prune" -s h -l help -d 'Print help'
complete -c evalrig -n "__fish_evalrig_using_subcommand log; and __fish_seen_subcommand_from verify" -l store -d 'The store [default: `.co/evals` in the repository root]' -r
complete -c evalrig -n "__fish_evalrig_using_subcommand log; and __fish_seen_subcommand_from verify" -l format -d 'How to print it' -r -f -a "text\t''
json\t''"
complete -c evalrig -n "__fish_evalrig_using_subcommand log; and __fish_seen_subcommand_from verify" -l color -d 'When to use colours' -r -f -a "auto\t''
always\t''
never\t''"
complete -c evalrig -n "__fish_evalrig_using_subcommand log; and __fish_seen_subcommand_from verify" -l repair -d 'Mend what can be mended; no run is thrown away'
complete -c evalrig -n "__fish_evalrig_using_subcommand log; and __fish_seen_subcommand_from verify" -s q -l quiet -d 'Say less: no report when all is well'
complete -c evalrig -n "__fish_evalrig_using_subcommand log; and __fish_seen_subcommand_from verify" -s v -l verbose -d 'Say more: notes too'
complete -c evalrig -n "__fish_evalrig_using_subcommand log; and __fish_seen_subcommand_from verify" -s h -l help -d 'Print help'
complete -c evalrig -n "__fish_evalrig_using_subcommand log; and __fish_seen_subcommand_from help" -f -a "list" -d 'List the records'
complete -c evalrig -n "__fish_evalrig_using_subcommand log; and __fish_seen_subcommand_from help" -f -a "show" -d 'Show a record: the newest run of every turn, older ones beneath'
complete -c evalrig -n "__fish_evalrig_using_subcommand log; and __fish_seen_subcommand_from help" -f -a "diff" -d 'Compare two runs of a record; exit with 1 when something passed before and does not now'
complete -c evalrig -n "__fish_evalrig_using_subcommand log; and __fish_seen_subcommand_from help" -f -a "messages" -d 'Print the messages of a run as a JSON array'
complete -c evalrig -n "__fish_evalrig_using_subcommand log; and __fish_seen_subcommand_from help" -f -a "expect" -d 'Write down what is expected of a turn'
complete -c evalrig -n "__fish_evalrig_using_subcommand log; and __fish_seen_subcommand_from help" -f -a "evaluate" -d 'Write down whether the newest answer of a turn is good'
complete -c evalrig -n "__fish_evalrig_using_subcommand log; and __fish_seen_subcommand_from help" -f -a "record" -d 'Record a session from standard input: chat messages, or what Claude Code or Codex wrote'
complete -c evalrig -n "__fish_evalrig_using_subcommand log; and __fish_seen_subcommand_from help" -f -a "prune" -d 'Delete what is old'
complete -c evalrig -n "__fish_evalrig_using_subcommand log; and __fish_seen_subcommand_from help" -f -a "verify" -d 'Check the store: unreadable files, runs that no summary mentions, numbers that do not fit'
complete -c evalrig -n "__fish_evalrig_using_subcommand log; and __fish_seen_subcommand_from help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c evalrig -n "__fish_evalrig_using_subcommand completions" -l color -d 'When to use colours' -r -f -a "auto\t''
always\t''
never\t''"
complete -c evalrig -n "__fish_evalrig_using_subcommand completions" -s q -l quiet -d 'Say less: no report when all is well'
complete -c evalrig -n "__fish_evalrig_using_subcommand completions" -s v -l verbose -d 'Say more: notes too'
complete -c evalrig -n "__fish_evalrig_using_subcommand completions" -s h -l help -d 'Print help'
complete -c evalrig -n "__fish_evalrig_using_subcommand man" -l color -d 'When to use colours' -r -f -a "auto\t''
always\t''
never\t''"
complete -c evalrig -n "__fish_evalrig_using_subcommand man" -s q -l quiet -d 'Say less: no report when all is well'
complete -c evalrig -n "__fish_evalrig_using_subcommand man" -s v -l verbose -d 'Say more: notes too'
complete -c evalrig -n "__fish_evalrig_using_subcommand man" -s h -l help -d 'Print help'
complete -c evalrig -n "__fish_evalrig_using_subcommand help; and not __fish_seen_subcommand_from init validate explain schema list show convert transpile run grade compare report log completions man help" -f -a "init" -d 'Write a small suite and a mock target that answers it'
complete -c evalrig -n "__fish_evalrig_using_subcommand help; and not __fish_seen_subcommand_from init validate explain schema list show convert transpile run grade compare report log completions man help" -f -a "validate" -d 'Read suites, imports, targets and evals.json, and report every mistake at its line'
complete -c evalrig -n "__fish_evalrig_using_subcommand help; and not __fish_seen_subcommand_from init validate explain schema list show convert transpile run grade compare report log completions man help" -f -a "explain" -d 'Print the doc of a diagnostic, an assertion type or a provider; without a name, the index'
complete -c evalrig -n "__fish_evalrig_using_subcommand help; and not __fish_seen_subcommand_from init validate explain schema list show convert transpile run grade compare report log completions man help" -f -a "schema" -d 'Print a JSON Schema for editors and other tools'
complete -c evalrig -n "__fish_evalrig_using_subcommand help; and not __fish_seen_subcommand_from init validate explain schema list show convert transpile run grade compare report log completions man help" -f -a "list" -d 'List suites and their tests'
complete -c evalrig -n "__fish_evalrig_using_subcommand help; and not __fish_seen_subcommand_from init validate explain schema list show convert transpile run grade compare report log completions man help" -f -a "show" -d 'Print a suite, or one test, as it was understood: imports, old spellings, `input_files` and variables resolved'
complete -c evalrig -n "__fish_evalrig_using_subcommand help; and not __fish_seen_subcommand_from init validate explain schema list show convert transpile run grade compare report log completions man help" -f -a "convert" -d 'Turn evals.json, an eval set, a list of triggers or `.co/evals` records into an EVAL.yaml'
complete -c evalrig -n "__fish_evalrig_using_subcommand help; and not __fish_seen_subcommand_from init validate explain schema list show convert transpile run grade compare report log completions man help" -f -a "transpile" -d 'Write a suite as the evals.json and eval sets of skill-creator'
complete -c evalrig -n "__fish_evalrig_using_subcommand help; and not __fish_seen_subcommand_from init validate explain schema list show convert transpile run grade compare report log completions man help" -f -a "run" -d 'Run suites against their targets, grade the answers, keep and report what came of it'
complete -c evalrig -n "__fish_evalrig_using_subcommand help; and not __fish_seen_subcommand_from init validate explain schema list show convert transpile run grade compare report log completions man help" -f -a "grade" -d 'Grade a stored run again, with the suite\'s assertions of today and without calling the target'
complete -c evalrig -n "__fish_evalrig_using_subcommand help; and not __fish_seen_subcommand_from init validate explain schema list show convert transpile run grade compare report log completions man help" -f -a "compare" -d 'Say what changed between two runs, and whether it is more than chance'
complete -c evalrig -n "__fish_evalrig_using_subcommand help; and not __fish_seen_subcommand_from init validate explain schema list show convert transpile run grade compare report log completions man help" -f -a "report" -d 'Show a stored run again'
complete -c evalrig -n "__fish_evalrig_using_subcommand help; and not __fish_seen_subcommand_from init validate explain schema list show convert transpile run grade compare report log completions man help" -f -a "log" -d 'Look into the `.co/evals` store, where every run is kept, and add to it'
complete -c evalrig -n "__fish_evalrig_using_subcommand help; and not __fish_seen_subcommand_from init validate explain schema list show convert transpile run grade compare report log completions man help" -f -a "completions" -d 'Print a completion script for a shell'
complete -c evalrig -n "__fish_evalrig_using_subcommand help; and not __fish_seen_subcommand_from init validate explain schema list show convert transpile run grade compare report log completions man help" -f -a "man" -d 'Write man pages into a directory'
complete -c evalrig -n "__fish_evalrig_using_subcommand help; and not __fish_seen_subcommand_from init validate explain schema list show convert transpile run grade compare report log completions man help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c evalrig -n "__fish_evalrig_using_subcommand help; and __fish_seen_subcommand_from log" -f -a "list" -d 'List the records'
complete -c evalrig -n "__fish_evalrig_using_subcommand help; and __fish_seen_subcommand_from log" -f -a "show" -d 'Show a record: the newest run of every turn, older ones beneath'
complete -c evalrig -n "__fish_evalrig_using_subcommand help; and __fish_seen_subcommand_from log" -f -a "diff" -d 'Compare two runs of a record; exit with 1 when something passed before and does not now'
complete -c evalrig -n "__fish_evalrig_using_subcommand help; and __fish_seen_subcommand_from log" -f -a "messages" -d 'Print the messages of a run as a JSON array'
complete -c evalrig -n "__fish_evalrig_using_subcommand help; and __fish_seen_subcommand_from log" -f -a "expect" -d 'Write down what is expected of a turn'
complete -c evalrig -n "__fish_evalrig_using_subcommand help; and __fish_seen_subcommand_from log" -f -a "evaluate" -d 'Write down whether the newest answer of a turn is good'
complete -c evalrig -n "__fish_evalrig_using_subcommand help; and __fish_seen_subcommand_from log" -f -a "record" -d 'Record a session from standard input: chat messages, or what Claude Code or Codex wrote'
complete -c evalrig -n "__fish_evalrig_using_subcommand help; and __fish_seen_subcommand_from log" -f -a "prune" -d 'Delete what is old'
complete -c evalrig -n "__fish_evalrig_using_subcommand help; and __fish_seen_subcommand_from log" -f -a "verify" -d 'Check the store: unreadable files, runs that no summary mentions, numbers that do not fit'
