// The extension in a stand-in for VS Code: one suite was open before it started, another one is only on the disk.
'use strict';

const assert = require('node:assert/strict');
const fs = require('node:fs');
const Module = require('node:module');
const os = require('node:os');
const path = require('node:path');
const { test } = require('node:test');
const { pathToFileURL } = require('node:url');

const disposable = { dispose() {} };
const listen = () => disposable;

const uriOf = (file) => ({ scheme: 'file', fsPath: file, toString: () => pathToFileURL(file).href });

function items() {
  const all = new Map();
  return {
    add: (item) => all.set(item.id, item),
    delete: (id) => all.delete(id),
    forEach: (call) => all.forEach(call),
    labels: () => [...all.values()].map((item) => item.label),
    children: () => [...all.values()].flatMap((item) => item.children.labels()),
  };
}

function standIn(program, documents, folder) {
  const controller = {
    createRunProfile: listen,
    items: items(),
    createTestItem: (id, label) => ({ id, label, children: items() }),
    dispose() {},
  };
  let closed;
  const vscode = {
    commands: { registerCommand: listen, executeCommand() {} },
    tasks: { registerTaskProvider: listen, onDidEndTaskProcess: listen },
    tests: { createTestController: () => controller },
    TestRunProfileKind: { Run: 1 },
    Range: class {},
    Uri: { file: (file) => uriOf(file) },
    window: { showWarningMessage() {} },
    workspace: {
      textDocuments: documents,
      workspaceFolders: [{ uri: uriOf(folder) }],
      isTrusted: true,
      getConfiguration: () => ({ get: (key) => (key === 'path' ? program : undefined) }),
      createFileSystemWatcher: listen,
      onDidOpenTextDocument: listen,
      onDidSaveTextDocument: listen,
      onDidCloseTextDocument: (call) => { closed = call; return disposable; },
      onDidGrantWorkspaceTrust: listen,
      onDidChangeConfiguration: listen,
      asRelativePath: (uri) => path.basename(uri.toString()),
    },
  };
  const close = (document) => {
    documents.splice(documents.indexOf(document), 1);
    closed(document);
  };
  return { vscode, controller, close };
}

/** Answers when it has been started, with a lens for one test. */
class LanguageClient {
  code2ProtocolConverter = { asUri: (uri) => uri.toString() };
  protocol2CodeConverter = { asRange: (range) => range };
  async start() { this.isStarted = true; }
  async stop() {}
  dispose() {}
  async sendRequest() {
    assert.ok(this.isStarted);
    const place = { suite: '/p/EVAL.yaml', test: 'refund', filter: 'refund' };
    return [{ range: {}, command: { command: 'evalrig.run', title: 'run this test', arguments: [place] } }];
  }
}

test('the test explorer has open suites and those that are only on the disk', async () => {
  const folder = fs.realpathSync(fs.mkdtempSync(path.join(os.tmpdir(), 'evalrig-vscode-')));
  const program = path.join(folder, 'evalrig');
  // A suite with errors is left out of the listing, and the exit code is not 0.
  const listed = (file, id) => ({ file, name: id, tests: [{ id, line: 3 }] });
  const listing = { schemaVersion: 1, suites: [listed('EVAL.yaml', 'saved'), listed('sub/EVAL.yaml', 'other')] };
  fs.writeFileSync(path.join(folder, 'listing.json'), JSON.stringify(listing));
  fs.writeFileSync(program, '#!/bin/sh\n[ "$1" = list ] && cat listing.json\nexit 2\n', { mode: 0o755 });
  const document = { uri: uriOf(path.join(folder, 'EVAL.yaml')) };
  const { vscode, controller, close } = standIn(program, [document], folder);
  const load = Module._load;
  Module._load = (name, ...rest) => {
    if (name === 'vscode') return vscode;
    if (name === 'vscode-languageclient/node') return { LanguageClient, TransportKind: { stdio: 0 } };
    return load(name, ...rest);
  };
  try {
    await require('../src/extension').activate({ subscriptions: [] });
  } finally {
    Module._load = load;
  }
  const shown = () => [...controller.items.children()].sort();
  assert.deepEqual(shown(), ['other', 'refund'], 'the lenses of the open document count');
  close(document);
  assert.deepEqual(shown(), ['other', 'saved'], 'and its saved text when it is closed');
  fs.writeFileSync(path.join(folder, 'listing.json'), '{"schemaVersion": 1, "suites": []}');
  await controller.refreshHandler();
  assert.deepEqual(shown(), []);
});
