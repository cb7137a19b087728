
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
            cand --color 'When to use colours'
            cand -q 'Say less: no report when all is well'
            cand --quiet 'Say less: no report when all is well'
            cand -v 'Say more: notes too'
            cand --verbose 'Say more: notes too'
            cand -h 'Print help'
            cand --help 'Print help'
            cand -V 'Print version'
            cand --version 'Print version'
            cand init 'Write a small suite and a mock target that answers it'
            cand validate 'Read suites, imports, targets and evals.json, and report every mistake at its line'
            cand explain 'Print the doc of a diagnostic, an assertion type or a provider; without a name, the index'
            cand schema 'Print a JSON Schema for editors and other tools'
            cand list 'List suites and their tests'
            cand show 'Print a suite, or one test, as it was understood: imports, old spellings, `input_files` and variables resolved'
            cand convert 'Turn evals.json, an eval set, a list of triggers or `.co/evals` records into an EVAL.yaml'
            cand transpile 'Write a suite as the evals.json and eval sets of skill-creator'
            cand run 'Run suites against their targets, grade the answers, keep and report what came of it'
            cand grade 'Grade a stored run again, with the suite''s assertions of today and without calling the target'
            cand compare 'Say what changed between two runs, and whether it is more than chance'
            cand report 'Show a stored run again'
            cand log 'Look into the `.co/evals` store, where every run is kept, and add to it'
            cand completions 'Print a completion script for a shell'
            cand man 'Write man pages into a directory'
            cand help 'Print this message or the help of the given subcommand(s)'
        }
        &'evalrig;init'= {
            cand --color 'When to use colours'
            cand -q 'Say less: no report when all is well'
            cand --quiet 'Say less: no report when all is well'
            cand -v 'Say more: notes too'
            cand --verbose 'Say more: notes too'
            cand -h 'Print help'
            cand --help 'Print help'
        }
        &'evalrig;validate'= {
            cand --format 'How to show what was found'
            cand --targets 'The targets file to check target names against'
            cand --root 'Repository root: where a leading `/` starts and what no path may leave [default: the nearest directory with `.git`]'
            cand --env-file 'Take variables from this file instead of searching for `.env` files'
            cand --color 'When to use colours'
            cand --strict 'Treat warnings and conformance errors as errors that stop everything'
            cand --fix 'Make safe fixes in place; comments and formatting are kept'
            cand --diff 'With --fix: only show the changes'
            cand --allow-outside-root 'Let paths lead out of the repository root'
            cand --no-env-file 'Read no `.env` file'
            cand -q 'Say less: no report when all is well'
            cand --quiet 'Say less: no report when all is well'
            cand -v 'Say more: notes too'
            cand --verbose 'Say more: notes too'
            cand -h 'Print help'
            cand --help 'Print help'
        }
        &'evalrig;explain'= {
            cand --format 'How to print it'
            cand --color 'When to use colours'
            cand -q 'Say less: no report when all is well'
            cand --quiet 'Say less: no report when all is well'
            cand -v 'Say more: notes too'
            cand --verbose 'Say more: notes too'
            cand -h 'Print help'
            cand --help 'Print help'
        }
        &'evalrig;schema'= {
            cand --draft 'Draft of JSON Schema'
            cand --color 'When to use colours'
            cand -q 'Say less: no report when all is well'
            cand --quiet 'Say less: no report when all is well'
            cand -v 'Say more: notes too'
            cand --verbose 'Say more: notes too'
            cand -h 'Print help'
            cand --help 'Print help'
        }
        &'evalrig;list'= {
            cand --format 'How to print it'
            cand --root 'Repository root: where a leading `/` starts and what no path may leave [default: the nearest directory with `.git`]'
            cand --env-file 'Take variables from this file instead of searching for `.env` files'
            cand --color 'When to use colours'
            cand --allow-outside-root 'Let paths lead out of the repository root'
            cand --no-env-file 'Read no `.env` file'
            cand -q 'Say less: no report when all is well'
            cand --quiet 'Say less: no report when all is well'
            cand -v 'Say more: notes too'
            cand --verbose 'Say more: notes too'
            cand -h 'Print help'
            cand --help 'Print help'
        }
        &'evalrig;show'= {
            cand --format 'How to print it'
            cand --root 'Repository root: where a leading `/` starts and what no path may leave [default: the nearest directory with `.git`]'
            cand --env-file 'Take variables from this file instead of searching for `.env` files'
            cand --color 'When to use colours'
            cand --allow-outside-root 'Let paths lead out of the repository root'
            cand --no-env-file 'Read no `.env` file'
            cand -q 'Say less: no report when all is well'
            cand --quiet 'Say less: no report when all is well'
            cand -v 'Say more: notes too'
            cand --verbose 'Say more: notes too'
            cand -h 'Print help'
            cand --help 'Print help'
        }
        &'evalrig;convert'= {
            cand -o 'Where to write the suite; `-` is standard output'
            cand --output 'Where to write the suite; `-` is standard output'
            cand --root 'Repository root: where a leading `/` starts and what no path may leave [default: the nearest directory with `.git`]'
            cand --env-file 'Take variables from this file instead of searching for `.env` files'
            cand --color 'When to use colours'
            cand --stdout 'Print the suite; its paths are written for a file in the current directory'
            cand --force 'Replace a file that exists'
            cand --allow-outside-root 'Let paths lead out of the repository root'
            cand --no-env-file 'Read no `.env` file'
            cand -q 'Say less: no report when all is well'
            cand --quiet 'Say less: no report when all is well'
            cand -v 'Say more: notes too'
            cand --verbose 'Say more: notes too'
            cand -h 'Print help'
            cand --help 'Print help'
        }
        &'evalrig;transpile'= {
            cand --out 'Where to write [default: the suite''s directory]'
            cand --format 'Which files to make'
            cand --for 'Who will read them; skill-creator calls the assertions `expectations`'
            cand --layout 'Files side by side, or one directory per skill'
            cand --no-skill 'Where tests without a trigger go: to the skill with most tests, or to a file of their own'
            cand --loss-report 'Write what is lost to this file, as JSON'
            cand --root 'Repository root: where a leading `/` starts and what no path may leave [default: the nearest directory with `.git`]'
            cand --env-file 'Take variables from this file instead of searching for `.env` files'
            cand --color 'When to use colours'
            cand --stdout 'Print instead of writing; only when there is exactly one file'
            cand --no-criteria 'Leave `criteria` out of the assertions'
            cand --inline-prompts 'Write the text of prompt files in place of their paths'
            cand --deny-loss 'Write nothing, and exit with 1, when something would be lost'
            cand --force 'Replace files that evalrig did not write'
            cand --check 'Write nothing; exit with 1 when a file differs from what would be written'
            cand --allow-outside-root 'Let paths lead out of the repository root'
            cand --no-env-file 'Read no `.env` file'
            cand -q 'Say less: no report when all is well'
            cand --quiet 'Say less: no report when all is well'
            cand -v 'Say more: notes too'
            cand --verbose 'Say more: notes too'
            cand -h 'Print help'
            cand --help 'Print help'
        }
        &'evalrig;run'= {
            cand --target 'Run against this target, whatever the suite says; repeatable'
            cand --filter 'Only tests whose id fits; `!GLOB` excludes; repeatable'
            cand --tag 'Only tests with this tag; repeatable'
            cand --failed 'Only what did not pass in a results file [default: the latest]'
            cand --trials 'How often each test is run, whatever the suite says'
            cand --sample 'Only so many tests, chosen by the seed'
            cand --seed 'Seed of every choice that is left to chance'
            cand --shard 'Only part I of N; the parts together are the whole'
            cand --resume 'Go on with an interrupted run [default: the latest]'
            cand --targets 'The targets file [default: the nearest `.evalrig/targets.yaml`]'
            cand --workers 'Cases at once [default: cores for processes, four times that for HTTP]'
            cand --timeout 'Seconds that one attempt may take'
            cand --retries 'Further attempts after a transport failure'
            cand --max-errors 'Stop when so many cases could not be measured'
            cand --budget-usd 'Stop when targets and judges have cost this much'
            cand --judge 'The target that judges, where an assertion names none'
            cand --pass 'Score from which a case passes [default: the suite''s, else 0.8]'
            cand --borderline 'Score from which a case is borderline [default: the suite''s, else 0.6]'
            cand --pass-trials 'Share of a test''s trials that must pass'
            cand --output 'Where the rows go [default: `.evalrig/results` in the repository root]'
            cand --store 'Where runs are recorded [default: `.co/evals` in the repository root]'
            cand --keep-runs 'Delete all but the newest N run files of each record that is written'
            cand --baseline 'Compare with an earlier run: a results file, a directory with results, `latest` or `latest~N`'
            cand --margin 'Differences of the rate, or of the mean score, below this do not matter'
            cand --measure 'Compare how many trials pass, or what they score'
            cand --report 'What to report, and where to; repeatable [default: terminal]'
            cand --root 'Repository root: where a leading `/` starts and what no path may leave [default: the nearest directory with `.git`]'
            cand --env-file 'Take variables from this file instead of searching for `.env` files'
            cand --color 'When to use colours'
            cand --dry-run 'Call nothing; print how many calls there would be and what they may cost'
            cand --skip-judges 'Leave out what a model has to judge'
            cand --judge-criteria 'Judge `criteria` too where a test has assertions'
            cand --allow-borderline 'Exit with 0 when tests are borderline'
            cand --messages 'Keep the messages of every case, so that tool calls can be graded again'
            cand --no-record 'Record nothing in `.co/evals`'
            cand --gate 'Let only the comparison decide: exit with 0 when better or equivalent, with 1 when worse, with 3 when nothing is settled'
            cand --allow-outside-root 'Let paths lead out of the repository root'
            cand --no-env-file 'Read no `.env` file'
            cand -q 'Say less: no report when all is well'
            cand --quiet 'Say less: no report when all is well'
            cand -v 'Say more: notes too'
            cand --verbose 'Say more: notes too'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
        }
        &'evalrig;grade'= {
            cand --suite 'The suite whose assertions grade [default: where the rows say they come from]'
            cand --targets 'The targets file, for judges [default: the nearest `.evalrig/targets.yaml`]'
            cand --workers 'Cases at once'
            cand --judge 'The target that judges, where an assertion names none'
            cand --pass 'Score from which a case passes [default: the suite''s, else 0.8]'
            cand --borderline 'Score from which a case is borderline [default: the suite''s, else 0.6]'
            cand --pass-trials 'Share of a test''s trials that must pass'
            cand --output 'Where the rows go [default: `.evalrig/results` in the repository root]'
            cand --report 'What to report, and where to; repeatable [default: terminal]'
            cand --root 'Repository root: where a leading `/` starts and what no path may leave [default: the nearest directory with `.git`]'
            cand --env-file 'Take variables from this file instead of searching for `.env` files'
            cand --color 'When to use colours'
            cand --skip-judges 'Leave out what a model has to judge'
            cand --judge-criteria 'Judge `criteria` too where a test has assertions'
            cand --allow-borderline 'Exit with 0 when tests are borderline'
            cand --messages 'Keep the messages of every case, so that tool calls can be graded again'
            cand --allow-outside-root 'Let paths lead out of the repository root'
            cand --no-env-file 'Read no `.env` file'
            cand -q 'Say less: no report when all is well'
            cand --quiet 'Say less: no report when all is well'
            cand -v 'Say more: notes too'
            cand --verbose 'Say more: notes too'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
        }
        &'evalrig;compare'= {
            cand --format 'How to print it'
            cand --margin 'Differences of the rate, or of the mean score, below this do not matter'
            cand --measure 'Compare how many trials pass, or what they score'
            cand --seed 'Seed of what is left to chance [default: made from the runs]'
            cand --selftest 'Try the gate on the trials of one run: how often it raises a false alarm, and how small a drop it would catch'
            cand --color 'When to use colours'
            cand --gate 'Let only the verdict decide: exit with 1 when worse, with 3 when nothing is settled'
            cand -q 'Say less: no report when all is well'
            cand --quiet 'Say less: no report when all is well'
            cand -v 'Say more: notes too'
            cand --verbose 'Say more: notes too'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
        }
        &'evalrig;report'= {
            cand --pass-trials 'Share of a test''s trials that must pass'
            cand --baseline 'Compare with an earlier run: a results file, a directory with results, `latest` or `latest~N`'
            cand --margin 'Differences of the rate, or of the mean score, below this do not matter'
            cand --measure 'Compare how many trials pass, or what they score'
            cand --report 'What to report, and where to; repeatable [default: terminal]'
            cand --root 'Repository root: where the paths of the rows start [default: the nearest directory with `.git`]'
            cand --color 'When to use colours'
            cand --allow-borderline 'Exit with 0 when tests are borderline'
            cand --gate 'Let only the comparison decide: exit with 0 when better or equivalent, with 1 when worse, with 3 when nothing is settled'
            cand -q 'Say less: no report when all is well'
            cand --quiet 'Say less: no report when all is well'
            cand -v 'Say more: notes too'
            cand --verbose 'Say more: notes too'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
        }
        &'evalrig;log'= {
            cand --store 'The store [default: `.co/evals` in the repository root]'
            cand --format 'How to print it'
            cand --color 'When to use colours'
            cand -q 'Say less: no report when all is well'
            cand --quiet 'Say less: no report when all is well'
            cand -v 'Say more: notes too'
            cand --verbose 'Say more: notes too'
            cand -h 'Print help'
            cand --help 'Print help'
            cand list 'List the records'
            cand show 'Show a record: the newest run of every turn, older ones beneath'
            cand diff 'Compare two runs of a record; exit with 1 when something passed before and does not now'
            cand messages 'Print the messages of a run as a JSON array'
            cand expect 'Write down what is expected of a turn'
            cand evaluate 'Write down whether the newest answer of a turn is good'
            cand record 'Record a session from standard input: chat messages, or what Claude Code or Codex wrote'
            cand prune 'Delete what is old'
            cand verify 'Check the store: unreadable files, runs that no summary mentions, numbers that do not fit'
            cand help 'Print this message or the help of the given subcommand(s)'
        }
        &'evalrig;log;list'= {
            cand --store 'The store [default: `.co/evals` in the repository root]'
            cand --format 'How to print it'
            cand --color 'When to use colours'
            cand -q 'Say less: no report when all is well'
            cand --quiet 'Say less: no report when all is well'
            cand -v 'Say more: notes too'
            cand --verbose 'Say more: notes too'
            cand -h 'Print help'
            cand --help 'Print help'
        }
        &'evalrig;log;show'= {
            cand --store 'The store [default: `.co/evals` in the repository root]'
            cand --format 'How to print it'
            cand --color 'When to use colours'
            cand -q 'Say less: no report when all is well'
            cand --quiet 'Say less: no report when all is well'
            cand -v 'Say more: notes too'
            cand --verbose 'Say more: notes too'
            cand -h 'Print help'
            cand --help 'Print help'
        }
        &'evalrig;log;diff'= {
            cand --runs 'Which runs, before and now [default: the last two]'
            cand --store 'The store [default: `.co/evals` in the repository root]'
            cand --format 'How to print it'
            cand --color 'When to use colours'
            cand -q 'Say less: no report when all is well'
            cand --quiet 'Say less: no report when all is well'
            cand -v 'Say more: notes too'
            cand --verbose 'Say more: notes too'
            cand -h 'Print help'
            cand --help 'Print help'
        }
        &'evalrig;log;messages'= {
            cand --run 'Which run [default: the newest]'
            cand --store 'The store [default: `.co/evals` in the repository root]'
            cand --format 'How to print it'
            cand --color 'When to use colours'
            cand -q 'Say less: no report when all is well'
            cand --quiet 'Say less: no report when all is well'
            cand -v 'Say more: notes too'
            cand --verbose 'Say more: notes too'
            cand -h 'Print help'
            cand --help 'Print help'
        }
        &'evalrig;log;expect'= {
            cand --turn 'Which turn, from 1 [default: the last]'
            cand --store 'The store [default: `.co/evals` in the repository root]'
            cand --format 'How to print it'
            cand --color 'When to use colours'
            cand -q 'Say less: no report when all is well'
            cand --quiet 'Say less: no report when all is well'
            cand -v 'Say more: notes too'
            cand --verbose 'Say more: notes too'
            cand -h 'Print help'
            cand --help 'Print help'
        }
        &'evalrig;log;evaluate'= {
            cand --turn 'Which turn, from 1 [default: the last]'
            cand --store 'The store [default: `.co/evals` in the repository root]'
            cand --format 'How to print it'
            cand --color 'When to use colours'
            cand -q 'Say less: no report when all is well'
            cand --quiet 'Say less: no report when all is well'
            cand -v 'Say more: notes too'
            cand --verbose 'Say more: notes too'
            cand -h 'Print help'
            cand --help 'Print help'
        }
        &'evalrig;log;record'= {
            cand --input 'What was asked, for sessions that do not say it themselves'
            cand --from 'Who wrote the session [default: by its look]'
            cand --model 'The model, where the session does not name it'
            cand --expected 'What is expected of the last answer'
            cand --store 'The store [default: `.co/evals` in the repository root]'
            cand --format 'How to print it'
            cand --color 'When to use colours'
            cand -q 'Say less: no report when all is well'
            cand --quiet 'Say less: no report when all is well'
            cand -v 'Say more: notes too'
            cand --verbose 'Say more: notes too'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
        }
        &'evalrig;log;prune'= {
            cand --keep-runs 'Run files to keep of each record'
            cand --keep-history 'Older runs to keep in each turn''s history'
            cand --keep-records 'Records to keep, the newest'
            cand --store 'The store [default: `.co/evals` in the repository root]'
            cand --format 'How to print it'
            cand --color 'When to use colours'
            cand --dry-run 'Only say what would go'
            cand -q 'Say less: no report when all is well'
            cand --quiet 'Say less: no report when all is well'
            cand -v 'Say more: notes too'
            cand --verbose 'Say more: notes too'
            cand -h 'Print help'
            cand --help 'Print help'
        }
        &'evalrig;log;verify'= {
            cand --store 'The store [default: `.co/evals` in the repository root]'
            cand --format 'How to print it'
            cand --color 'When to use colours'
            cand --repair 'Mend what can be mended; no run is thrown away'
            cand -q 'Say less: no report when all is well'
            cand --quiet 'Say less: no report when all is well'
            cand -v 'Say more: notes too'
            cand --verbose 'Say more: notes too'
            cand -h 'Print help'
            cand --help 'Print help'
        }
        &'evalrig;log;help'= {
            cand list 'List the records'
            cand show 'Show a record: the newest run of every turn, older ones beneath'
            cand diff 'Compare two runs of a record; exit with 1 when something passed before and does not now'
            cand messages 'Print the messages of a run as a JSON array'
            cand expect 'Write down what is expected of a turn'
            cand evaluate 'Write down whether the newest answer of a turn is good'
            cand record 'Record a session from standard input: chat messages, or what Claude Code or Codex wrote'
            cand prune 'Delete what is old'
            cand verify 'Check the store: unreadable files, runs that no summary mentions, numbers that do not fit'
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
        &'evalrig;completions'= {
            cand --color 'When to use colours'
            cand -q 'Say less: no report when all is well'
            cand --quiet 'Say less: no report when all is well'
            cand -v 'Say more: notes too'
            cand --verbose 'Say more: notes too'
            cand -h 'Print help'
            cand --help 'Print help'
        }
        &'evalrig;man'= {
            cand --color 'When to use colours'
            cand -q 'Say less: no report when all is well'
            cand --quiet 'Say less: no report when all is well'
            cand -v 'Say more: notes too'
            cand --verbose 'Say more: notes too'
            cand -h 'Print help'
            cand --help 'Print help'
        }
        &'evalrig;help'= {
            cand init 'Write a small suite and a mock target that answers it'
            cand validate 'Read suites, imports, targets and evals.json, and report every mistake at its line'
            cand explain 'Print the doc of a diagnostic, an assertion type or a provider; without a name, the index'
            cand schema 'Print a JSON Schema for editors and other tools'
            cand list 'List suites and their tests'
            cand show 'Print a suite, or one test, as it was understood: imports, old spellings, `input_files` and variables resolved'
            cand convert 'Turn evals.json, an eval set, a list of triggers or `.co/evals` records into an EVAL.yaml'
            cand transpile 'Write a suite as the evals.json and eval sets of skill-creator'
            cand run 'Run suites against their targets, grade the answers, keep and report what came of it'
            cand grade 'Grade a stored run again, with the suite''s assertions of today and without calling the target'
            cand compare 'Say what changed between two runs, and whether it is more than chance'
            cand report 'Show a stored run again'
            cand log 'Look into the `.co/evals` store, where every run is kept, and add to it'
            cand completions 'Print a completion script for a shell'
            cand man 'Write man pages into a directory'
            cand help 'Print this message or the help of the given subcommand(s)'
        }
        &'evalrig;help;init'= {
        }
        &'evalrig;help;validate'= {
        }
        &'evalrig;help;explain'= {
        }
        &'evalrig;help;schema'= {
        }
        &'evalrig;help;list'= {
        }
        &'evalrig;help;show'= {
        }
        &'evalrig;help;convert'= {
        }
        &'evalrig;help;transpile'= {
        }
        &'evalrig;help;run'= {
        }
        &'evalrig;help;grade'= {
        }
        &'evalrig;help;compare'= {
        }
        &'evalrig;help;report'= {
        }
        &'evalrig;help;log'= {
            cand list 'List the records'
            cand show 'Show a record: the newest run of every turn, older ones beneath'
            cand diff 'Compare two runs of a record; exit with 1 when something passed before and does not now'
            cand messages 'Print the messages of a run as a JSON array'
            cand expect 'Write down what is expected of a turn'
            cand evaluate 'Write down whether the newest answer of a turn is good'
            cand record 'Record a session from standard input: chat messages, or what Claude Code or Codex wrote'
            cand prune 'Delete what is old'
            cand verify 'Check the store: unreadable files, runs that no summary mentions, numbers that do not fit'
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
        &'evalrig;help;completions'= {
        }
        &'evalrig;help;man'= {
        }
        &'evalrig;help;help'= {
        }
    ]
    $completions[$command]
}
