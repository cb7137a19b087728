// The test explorer: every test that `evalrig list` finds in the folders of the workspace. Those of open documents come
// from the lenses of the language server instead, which know unsaved texts and the last results.
'use strict';

const path = require('node:path');
const { pathToFileURL } = require('node:url');

const { literalFilter } = require('./program');

/** One entry per test: its name, its line, what runs it. From the lenses of a document. */
function testsOf(lenses) {
  const runs = (lenses ?? []).filter((lens) => lens.command?.command === 'evalrig.run');
  const placed = runs.map((lens) => ({ lens, place: lens.command.arguments?.[0] }));
  return placed
    .filter(({ place }) => typeof place?.test === 'string')
    .map(({ lens, place }) => ({
      id: place.test,
      range: lens.range,
      last: lens.command.title.split(' · last: ')[1],
      place,
    }));
}

/** The tests of a listing by the file that they are in, each with what runs it. Paths start at the folder. */
function testsOfListing(listing, folder) {
  const files = new Map();
  for (const suite of listing?.suites ?? []) {
    const main = path.resolve(folder, suite.file);
    for (const { id, line, file = suite.file } of suite.tests) {
      const place = { suite: main, root: folder, test: id, filter: literalFilter(id) };
      const where = path.resolve(folder, file);
      if (!files.has(where)) files.set(where, []);
      const tests = files.get(where);
      // A list that several suites import is run in the first.
      if (tests.every((test) => test.id !== id)) tests.push({ id, line: Math.max(line, 1) - 1, place });
    }
  }
  return files;
}

class TestList {
  /** `list` resolves to the output of `evalrig list` in a folder; undefined without a program. */
  constructor(vscode, { client, run, list }) {
    this.vscode = vscode;
    this.client = client;
    this.run = run;
    this.list = list;
    this.places = new Map();
    /** What `evalrig list` found, by the address of the file. */
    this.listed = new Map();
    this.controller = vscode.tests.createTestController('evalrig', 'evalrig');
    this.controller.refreshHandler = () => this.refreshAll();
    this.controller.createRunProfile(
      'Run', vscode.TestRunProfileKind.Run, (request) => this.start(request), true);
    this.listeners = [
      vscode.workspace.onDidOpenTextDocument((document) => this.refresh(document)),
      vscode.workspace.onDidSaveTextDocument(() => this.refreshAll()),
      vscode.workspace.onDidCloseTextDocument((document) => this.show(document.uri)),
    ];
  }

  async refreshAll() {
    const folders = (this.vscode.workspace.workspaceFolders ?? []).map((folder) => folder.uri.fsPath);
    const listings = await Promise.all(folders.map((folder) => this.list(folder)));
    const before = this.listed;
    this.listed = new Map();
    folders.forEach((folder, at) => {
      for (const [file, tests] of testsOfListing(listings[at], folder)) {
        this.listed.set(pathToFileURL(file).href, { uri: this.vscode.Uri.file(file), tests });
      }
    });
    const open = this.vscode.workspace.textDocuments;
    const isOpen = (uri) => open.some((document) => document.uri.toString() === uri.toString());
    for (const { uri } of [...before.values(), ...this.listed.values()]) {
      if (!isOpen(uri)) this.show(uri);
    }
    await Promise.all(open.map((document) => this.refresh(document)));
  }

  /** Shows what is listed of a file that is not open. */
  show(uri) {
    const listed = this.listed.get(pathToFileURL(uri.fsPath).href);
    const range = ({ line }) => new this.vscode.Range(line, 0, line, 0);
    const tests = (listed?.tests ?? []).map((test) => ({ ...test, range: range(test) }));
    this.replace(uri, tests);
  }

  async refresh(document) {
    const client = this.client();
    if (!client || document.uri.scheme !== 'file') return;
    const textDocument = { uri: client.code2ProtocolConverter.asUri(document.uri) };
    const lenses = await client.sendRequest('textDocument/codeLens', { textDocument }).catch(() => []);
    const range = (test) => client.protocol2CodeConverter.asRange(test.range);
    this.replace(document.uri, testsOf(lenses).map((test) => ({ ...test, range: range(test) })));
  }

  /** Puts these tests in the place of those that a file had. */
  replace(uri, tests) {
    const id = uri.toString();
    if (tests.length === 0) {
      this.controller.items.delete(id);
      return;
    }
    const file = this.controller.createTestItem(id, this.vscode.workspace.asRelativePath(uri), uri);
    this.places.set(id, { ...tests[0].place, test: undefined, filter: undefined });
    for (const test of tests) {
      const item = this.controller.createTestItem(`${id}#${test.id}`, test.id, uri);
      item.range = test.range;
      item.description = test.last;
      this.places.set(item.id, test.place);
      file.children.add(item);
    }
    this.controller.items.add(file);
  }

  /** Tests run one after another, each as a task; the exit code is the result. */
  async start(request) {
    const chosen = [...(request.include ?? [])];
    if (!request.include) this.controller.items.forEach((item) => chosen.push(item));
    const run = this.controller.createTestRun(request);
    for (const item of chosen) {
      if (run.token.isCancellationRequested) break;
      run.started(item);
      const code = await this.exitCode(this.places.get(item.id));
      const message = (text) => new this.vscode.TestMessage(text);
      if (code === 0) run.passed(item);
      else if (code === 1) run.failed(item, message('a test did not pass; see the terminal'));
      else run.errored(item, message('not everything could be measured; see the terminal'));
      const document = this.vscode.workspace.textDocuments.find(
        (one) => one.uri.toString() === item.uri.toString());
      if (document) await this.refresh(document);
    }
    run.end();
  }

  async exitCode(place) {
    let ended = () => {};
    let running;
    const early = new Map();
    const code = new Promise((done) => { ended = done; });
    const listener = this.vscode.tasks.onDidEndTaskProcess((event) => {
      if (running) {
        if (event.execution === running) ended(event.exitCode);
      } else {
        early.set(event.execution, event.exitCode);
      }
    });
    try {
      running = await this.run(place);
      if (!running) return undefined;
      if (early.has(running)) return early.get(running);
      return await code;
    } finally {
      listener.dispose();
    }
  }

  dispose() {
    this.listeners.forEach((listener) => listener.dispose());
    this.controller.dispose();
  }
}

module.exports = { TestList, testsOf, testsOfListing };
