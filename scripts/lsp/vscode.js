// What `vscode-languageclient` needs of the module `vscode`: the types of `jest-mock-vscode`, documents whose events
// reach the client, and the providers and diagnostics that it registers.
'use strict';

const fs = require('node:fs');
const Module = require('node:module');
const { createVSCodeMock } = require('jest-mock-vscode');
const { CancellationTokenSource } = require('vscode-languageserver-protocol/node');

const disposable = { dispose() {} };
const listen = () => disposable;

/** The mock asks for the functions of a test framework; nothing is recorded here. */
function framework() {
  const fn = (call) => {
    const mocked = (...given) => call?.(...given);
    mocked.mockImplementation = (other) => ((call = other), mocked);
    mocked.mockReturnValue = (value) => ((call = () => value), mocked);
    mocked.mockName = () => mocked;
    return mocked;
  };
  return { fn, spyOn() {}, isMockFunction: () => true };
}

/** Every event that has no emitter never happens. */
function quiet(object) {
  return new Proxy(object, { get: (own, key) => own[key] ?? (/^on[DW]/.test(key) ? listen : undefined) });
}

const types = createVSCodeMock(framework());

/** A document as the editor has it, saved or not. */
class OpenDocument {
  version = 1;
  isClosed = false;
  constructor(file, languageId, text) {
    Object.assign(this, { uri: types.Uri.file(file), fileName: file, languageId, text });
  }
  getText() { return this.text; }
  get lineCount() { return this.text.split('\n').length; }
  positionAt(offset) {
    const lines = this.text.slice(0, offset).split('\n');
    return new types.Position(lines.length - 1, lines.at(-1).length);
  }
  offsetAt({ line, character }) {
    const above = this.text.split('\n').slice(0, line);
    return above.reduce((sum, one) => sum + one.length + 1, 0) + character;
  }
  textAt({ start, end }) { return this.text.slice(this.offsetAt(start), this.offsetAt(end)); }
  /** The position of `|` in a text that occurs once. */
  at(needle) {
    const found = this.text.indexOf(needle.replace('|', ''));
    if (found < 0) throw new Error(`${needle} is not in ${this.fileName}`);
    return this.positionAt(found + Math.max(needle.indexOf('|'), 0));
  }
}

class Editor {
  providers = {};
  errors = [];
  watched = [];
  documents = [];
  published = new Map();
  opened = new types.EventEmitter();
  changed = new types.EventEmitter();
  heard = [];

  constructor(root) {
    const collection = {
      ...disposable,
      set: (uri, list) => this.publish(uri, list ?? []),
      delete: (uri) => this.publish(uri, []),
      clear() {},
    };
    const register = (name) => (selector, provider) => ((this.providers[name] = provider), disposable);
    this.module = {
      ...types,
      ...new.target.missing,
      version: '1.90.0',
      env: { appName: 'VS Code', language: 'en' },
      l10n: { t: (text) => text },
      extensions: { getExtension() {} },
      commands: { registerCommand: listen, executeCommand() {} },
      languages: new Proxy(quiet({
        match: (selector, document) => (selector.some((one) => one.language === document.languageId) ? 10 : 0),
        createDiagnosticCollection: () => collection,
      }), { get: (own, key) => own[key] ?? (/^register/.test(key) ? register(key) : undefined) }),
      window: quiet({
        createOutputChannel: () => ({ ...disposable, append() {}, appendLine() {}, show() {} }),
        showErrorMessage: async (message) => { this.errors.push(message); },
        tabGroups: quiet({ all: [] }),
        visibleTextEditors: [],
      }),
      workspace: quiet({
        workspaceFolders: [{ uri: types.Uri.file(root), name: 'demo', index: 0 }],
        textDocuments: this.documents,
        notebookDocuments: [],
        isTrusted: true,
        getConfiguration: () => ({ get: (key, otherwise) => otherwise }),
        getWorkspaceFolder() {},
        createFileSystemWatcher: (pattern) => (this.watched.push(pattern), quiet({ ...disposable })),
        onDidOpenTextDocument: this.opened.event,
        onDidChangeTextDocument: this.changed.event,
      }),
    };
  }

  static missing = {
    CancellationTokenSource,
    CodeActionTriggerKind: { Invoke: 1, Automatic: 2 },
    RelativePattern: class { constructor(base, pattern) { Object.assign(this, { base, pattern }); } },
    CancellationError: class extends Error {},
    Hover: class { constructor(contents, range) { Object.assign(this, { contents: [contents].flat(), range }); } },
    InlayHint: class { constructor(position, label, kind) { Object.assign(this, { position, label, kind }); } },
    InlayHintLabelPart: class { constructor(value) { this.value = value; } },
  };

  /** From now on `require('vscode')` is this editor. */
  install() {
    const load = Module._load;
    Module._load = (name, ...rest) => (name === 'vscode' ? this.module : load(name, ...rest));
  }

  open(file, languageId, text = fs.readFileSync(file, 'utf8')) {
    const document = new OpenDocument(file, languageId, text);
    this.documents.push(document);
    this.opened.fire(document);
    return document;
  }

  /** Makes edits of the editor's own types, from the last to the first. */
  edit(document, edits) {
    const ordered = [...edits].sort((a, b) => b.range.start.compareTo(a.range.start));
    const contentChanges = ordered.map(({ range, newText }) => {
      const [from, to] = [document.offsetAt(range.start), document.offsetAt(range.end)];
      document.text = document.text.slice(0, from) + newText + document.text.slice(to);
      return { range, rangeOffset: from, rangeLength: to - from, text: newText };
    });
    document.version += 1;
    this.changed.fire({ document, contentChanges });
  }

  replace(document, old, newText) {
    const start = document.at(old);
    const end = document.positionAt(document.offsetAt(start) + old.length);
    this.edit(document, [{ range: new types.Range(start, end), newText }]);
  }

  publish(uri, list) {
    this.published.set(uri.toString(), list);
    this.heard.splice(0).forEach((look) => look());
  }

  /** The diagnostics of a document, once they have these codes. */
  async diagnostics(document, codes) {
    for (;;) {
      const found = this.published.get(document.uri.toString()) ?? [];
      const names = found.map((one) => one.code?.value ?? one.code);
      if (JSON.stringify(names) === JSON.stringify(codes)) return found;
      await new Promise((look) => this.heard.push(look));
    }
  }
}

module.exports = { Editor };
