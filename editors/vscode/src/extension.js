// The extension: starts the language server, and runs what its lenses and the test explorer ask for.
'use strict';

const { execFile } = require('node:child_process');
const fs = require('node:fs');
const os = require('node:os');
const path = require('node:path');
const vscode = require('vscode');
const { LanguageClient, TransportKind } = require('vscode-languageclient/node');

const { findProgram, runArguments, reportArguments, LIST_ARGUMENTS } = require('./program');
const { TestList } = require('./tests');

const FILES = '**/*.{yaml,yml,jsonl,json}';

/** Bytes of a listing; of more tests than that, those of open documents are shown. */
const LARGEST_LIST = 64 * 1024 * 1024;

let client;
let tests;

function program() {
  return findProgram({
    setting: vscode.workspace.getConfiguration('evalrig').get('path'),
    folders: (vscode.workspace.workspaceFolders ?? []).map((folder) => folder.uri.fsPath),
    isTrusted: vscode.workspace.isTrusted,
    searchPath: process.env.PATH,
  });
}

async function start(context) {
  const command = program();
  if (!command) {
    const choice = await vscode.window.showWarningMessage(
      'evalrig was not found in the folder or in PATH.', 'Open settings');
    if (choice) vscode.commands.executeCommand('workbench.action.openSettings', 'evalrig.path');
    return;
  }
  client = new LanguageClient('evalrig', 'evalrig', {
    command, args: ['lsp'], transport: TransportKind.stdio,
  }, {
    documentSelector: [
      { scheme: 'file', language: 'yaml' },
      { scheme: 'file', pattern: '**/*.jsonl' },
      { scheme: 'file', pattern: '**/evals.json' },
    ],
    synchronize: { fileEvents: vscode.workspace.createFileSystemWatcher(FILES) },
  });
  await client.start();
  context.subscriptions.push(client);
  // Also what was open before the server could be asked.
  await tests.refreshAll();
}

async function restart(context) {
  await client?.stop();
  client = undefined;
  await start(context);
}

/** What `evalrig list` says of a folder. Suites with errors are left out, and the exit code says so. */
function list(folder) {
  const command = program();
  if (!command) return Promise.resolve(undefined);
  return new Promise((done) => {
    execFile(command, LIST_ARGUMENTS, { cwd: folder, maxBuffer: LARGEST_LIST }, (error, output) => {
      try {
        done(JSON.parse(output));
      } catch {
        done(undefined);
      }
    });
  });
}

/** Runs evalrig in a task, so that its output can be seen and its diagnostics are collected. */
function task(name, command, args, folder) {
  const execution = new vscode.ProcessExecution(command, args, { cwd: folder });
  const definition = { type: 'evalrig', command: args[0] };
  return new vscode.Task(
    definition, vscode.TaskScope.Workspace, name, 'evalrig', execution, ['$evalrig']);
}

async function run(place) {
  const command = program();
  if (!command || !vscode.workspace.isTrusted || typeof place?.suite !== 'string') return undefined;
  await vscode.workspace.saveAll(false);
  const more = vscode.workspace.getConfiguration('evalrig').get('runArguments') ?? [];
  const name = place.test ?? path.basename(place.suite);
  return vscode.tasks.executeTask(task(name, command, runArguments(place, more), place.root));
}

/** Writes the report to a file of its own and opens it. */
function openReport(results, folder) {
  const command = program();
  if (!command || typeof results !== 'string') return;
  const page = path.join(fs.mkdtempSync(path.join(os.tmpdir(), 'evalrig-')), 'report.html');
  execFile(command, reportArguments(results, page), { cwd: folder }, () => {
    // The exit code is that of the run; what counts is whether there is a page.
    if (fs.existsSync(page)) {
      vscode.env.openExternal(vscode.Uri.file(page));
    } else {
      vscode.window.showErrorMessage(`evalrig cannot report ${results}.`);
    }
  });
}

function tasks() {
  return {
    provideTasks() {
      const command = program();
      const folder = vscode.workspace.workspaceFolders?.[0]?.uri.fsPath;
      if (!command || !folder || !vscode.workspace.isTrusted) return [];
      return [task('validate', command, ['validate', '--format', 'concise'], folder)];
    },
    resolveTask(given) {
      const command = program();
      if (!command || !vscode.workspace.isTrusted) return undefined;
      const { command: verb, paths = [], arguments: more = [] } = given.definition;
      const format = verb === 'validate' ? ['--format', 'concise'] : [];
      const execution = new vscode.ProcessExecution(command, [verb, ...paths, ...format, ...more]);
      return new vscode.Task(
        given.definition, given.scope ?? vscode.TaskScope.Workspace, given.name, 'evalrig', execution,
        ['$evalrig']);
    },
  };
}

async function activate(context) {
  const register = (name, call) =>
    context.subscriptions.push(vscode.commands.registerCommand(name, call));
  register('evalrig.restart', () => restart(context));
  register('evalrig.run', run);
  register('evalrig.openReport', (place) => openReport(place?.results));
  register('evalrig.openLatestReport', () =>
    openReport('latest', vscode.workspace.workspaceFolders?.[0]?.uri.fsPath));
  context.subscriptions.push(vscode.tasks.registerTaskProvider('evalrig', tasks()));
  tests = new TestList(vscode, { client: () => client, run, list });
  context.subscriptions.push(tests);
  context.subscriptions.push(vscode.workspace.onDidGrantWorkspaceTrust(() => restart(context)));
  context.subscriptions.push(vscode.workspace.onDidChangeConfiguration((change) => {
    if (change.affectsConfiguration('evalrig.path')) restart(context);
  }));
  await start(context);
}

function deactivate() {
  return client?.stop();
}

module.exports = { activate, deactivate };
