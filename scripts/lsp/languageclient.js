// Drives a language server through `vscode-languageclient`, the client of VS Code: it starts the program, sends what
// changes in documents, and converts every answer to the types of the editor. usage: node languageclient.js PROGRAM
'use strict';

const assert = require('node:assert/strict');
const { spawnSync } = require('node:child_process');
const fs = require('node:fs');
const os = require('node:os');
const path = require('node:path');
const { Editor } = require('./vscode');

const SUITE = `name: demo
execution: {target: default}
tests:
  - id: hello
    criteria: Greets {{ who }}
    input: Hi
    assert:
      - {type: contains, value: Hello}
      - {type: contains, value: Goodbye}
  - cases.yaml
`;
const TARGETS = 'targets: [{name: default, provider: mock, response: Hello}]\n';
const CASES = '- {id: more, criteria: Greets, input: Hi, assert: [{type: contains, value: Hello}]}\n';
/** The server asks the client to watch these. */
const WATCHED = ['**/*.{yaml,yml,json,jsonl,md}', '**/.env', '**/.evalrig/**'];

const token = { isCancellationRequested: false, onCancellationRequested: () => ({ dispose() {} }) };

function project(program) {
  const root = fs.mkdtempSync(path.join(os.tmpdir(), 'evalrig lsp é-'));
  for (const folder of ['.git', '.evalrig']) fs.mkdirSync(path.join(root, folder));
  fs.writeFileSync(path.join(root, '.evalrig/targets.yaml'), TARGETS);
  fs.writeFileSync(path.join(root, 'cases.yaml'), CASES);
  fs.writeFileSync(path.join(root, 'EVAL.yaml'), SUITE);
  // Lenses and hints show the results of this run, in which a check fails.
  const run = spawnSync(program, ['run', '--no-record'], { cwd: root, encoding: 'utf8' });
  assert.equal(run.status, 1, run.stderr);
  return root;
}

async function main(program) {
  const root = project(program);
  const editor = new Editor(root);
  editor.install();
  const { LanguageClient, TransportKind } = require('vscode-languageclient/node');
  const server = { command: program, args: ['lsp'], transport: TransportKind.stdio };
  const documentSelector = [{ scheme: 'file', language: 'yaml' }];
  const client = new LanguageClient('evalrig', 'evalrig', server, { documentSelector });
  try {
    await client.start();
    const suite = editor.open(path.join(root, 'EVAL.yaml'), 'yaml');
    const cases = editor.open(path.join(root, 'cases.yaml'), 'yaml');
    const ask = questions(editor, suite);
    await names(ask, suite, root);
    await results(ask, suite);
    await typing(editor, ask, suite, cases);
    assert.equal(fs.readFileSync(path.join(root, 'EVAL.yaml'), 'utf8'), SUITE, 'nothing is saved');
    assert.deepEqual(editor.watched, WATCHED);
    await client.stop();
    assert.deepEqual(editor.errors, []);
  } finally {
    fs.rmSync(root, { recursive: true });
  }
}

/** The providers that the client has registered, asked about one document. */
function questions(editor, document) {
  return (provider, method, ...rest) => {
    const registered = editor.providers[`register${provider}Provider`];
    assert.ok(registered, `no provider of ${provider}`);
    const place = (one) => (typeof one === 'string' && one.includes('|') ? document.at(one) : one);
    const given = rest.map(place);
    return registered[method](document, ...given, token);
  };
}

/** Texts about the names of a suite, and where they lead. */
async function names(ask, suite, root) {
  const hover = await ask('Hover', 'provideHover', 'crite|ria');
  assert.match(hover.contents[0].value, /What counts as success/);
  assert.equal(suite.textAt(hover.range), 'criteria');

  const [definition] = await ask('Definition', 'provideDefinition', 'target: def|ault');
  assert.equal(definition.uri.fsPath, path.join(root, '.evalrig/targets.yaml'));
  assert.equal(definition.range.start.character, 17);
  const [imported] = await ask('Definition', 'provideDefinition', 'cases|.yaml');
  assert.equal(imported.uri.fsPath, path.join(root, 'cases.yaml'));

  const references =
    await ask('Reference', 'provideReferences', 'target: def|ault', { includeDeclaration: true });
  assert.deepEqual(references.map((one) => path.basename(one.uri.fsPath)), ['targets.yaml', 'EVAL.yaml']);

  const prepared = await ask('Rename', 'prepareRename', 'id: hel|lo');
  assert.equal(prepared.placeholder, 'hello');
  const renamed = await ask('Rename', 'provideRenameEdits', 'target: def|ault', 'staging');
  const edits = renamed.entries().map(([uri, list]) => [path.basename(uri.fsPath), list[0].newText]);
  assert.deepEqual(edits.sort(), [['EVAL.yaml', 'staging'], ['targets.yaml', 'staging']]);
  await assert.rejects(ask('Rename', 'provideRenameEdits', 'id: hel|lo', 'more'), /another test is named/);

  const symbols = await ask('DocumentSymbol', 'provideDocumentSymbols');
  assert.deepEqual(symbols.map((one) => [one.name, one.detail]), [['hello', 'Greets {{ who }}']]);
  const folds = await ask('FoldingRange', 'provideFoldingRanges', {});
  assert.ok(folds.some((one) => one.start === 2 && one.end === 9));
  const tokens = await ask('DocumentSemanticTokens', 'provideDocumentSemanticTokens');
  // `{{`, the name and `}}`, on the fifth line.
  assert.deepEqual([...tokens.data], [4, 21, 2, 0, 0, 0, 3, 3, 2, 0, 0, 4, 2, 0, 0]);
}

/** What the last run left. */
async function results(ask, suite) {
  const lenses = await ask('CodeLens', 'provideCodeLenses');
  const last = 'run this test · last: 0/1 (95 % CI 0–79 %)';
  assert.deepEqual(lenses.map((one) => one.command.title), ['run this suite', 'open report', last, 'open report']);
  assert.equal(lenses[2].command.command, 'evalrig.run');
  assert.equal(lenses[2].command.arguments[0].filter, 'hello');
  const whole = { start: suite.positionAt(0), end: suite.positionAt(suite.text.length) };
  const hints = await ask('InlayHints', 'provideInlayHints', whole);
  assert.deepEqual(hints.map((one) => [one.position.line, one.label[0]]), [[3, '✗'], [7, '✓'], [8, '✗']]);
}

/** Mistakes that are typed and mended, in texts that are not saved. */
async function typing(editor, ask, suite, cases) {
  editor.replace(suite, 'tests:', 'evalcases:');
  const [old] = await editor.diagnostics(suite, ['deprecated-field']);
  assert.equal(suite.textAt(old.range), 'evalcases');
  assert.equal(old.source, 'evalrig');
  const context = { diagnostics: [old], only: undefined, triggerKind: 1 };
  const [fix] = await ask('CodeActions', 'provideCodeActions', old.range, context);
  assert.equal(fix.kind.value, 'quickfix');
  const [[uri, edits]] = fix.edit.entries();
  assert.equal(uri.toString(), suite.uri.toString());
  editor.edit(suite, edits);
  await editor.diagnostics(suite, []);
  assert.equal(suite.text, SUITE);

  editor.replace(cases, 'id: more', 'id: hello');
  const [taken] = await editor.diagnostics(cases, ['duplicate-id']);
  assert.equal(path.basename(taken.relatedInformation[0].location.uri.fsPath), 'EVAL.yaml');
  editor.replace(cases, 'id: hello', 'id: more');
  await editor.diagnostics(cases, []);

  editor.replace(suite, 'value: Goodbye}', 'value: Goodbye}\n      - type: ');
  const list = await ask('CompletionItem', 'provideCompletionItems', '- type: |', { triggerKind: 0 });
  const item = (list.items ?? list).find((one) => one.label === 'contains');
  assert.equal((item.insertText.value ?? item.insertText).split('\n')[0], 'contains');
}

main(process.argv[2]).then(
  () => console.log('the language server works with the client of VS Code'),
  (error) => {
    console.error(error);
    process.exit(1);
  },
);
