'use strict';

const assert = require('node:assert/strict');
const fs = require('node:fs');
const os = require('node:os');
const path = require('node:path');
const { test } = require('node:test');

const { findProgram, runArguments, reportArguments, literalFilter } = require('../src/program');
const { testsOf, testsOfListing } = require('../src/tests');
const manifest = require('../package.json');

function folderWith(...files) {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'evalrig-vscode-'));
  for (const file of files) {
    fs.mkdirSync(path.dirname(path.join(folder, file)), { recursive: true });
    fs.writeFileSync(path.join(folder, file), '#!/bin/sh\n', { mode: 0o755 });
  }
  return folder;
}

test('a program of the folder comes before the one in PATH', () => {
  const [folder, bin] = [folderWith('.venv/bin/evalrig'), folderWith('evalrig')];
  const found = (more) =>
    findProgram({ setting: '', folders: [folder], isTrusted: true, searchPath: bin, ...more });
  assert.equal(found({}), path.join(folder, '.venv/bin/evalrig'));
  assert.equal(found({ folders: [] }), path.join(bin, 'evalrig'));
  const node = folderWith('node_modules/.bin/evalrig', 'venv/bin/evalrig');
  assert.equal(found({ folders: [node] }), path.join(node, 'node_modules/.bin/evalrig'));
});

test('the binary of the npm package is used, and not its launcher', () => {
  const platform = `${process.platform}-${process.arch}`;
  const binary = `node_modules/@evalrig/${platform}/bin/evalrig`;
  const found = (folder, more) =>
    findProgram({ setting: '', folders: [folder], isTrusted: true, searchPath: '', ...more });
  const flat = folderWith(binary, 'node_modules/.bin/evalrig', 'node_modules/evalrig/bin/evalrig.js');
  assert.equal(found(flat), path.join(flat, binary));
  // pnpm links the package; the binary is beside the place where the link leads.
  const store = 'node_modules/.pnpm/evalrig@0.1.0';
  const linked = folderWith(`${store}/${binary}`, `${store}/node_modules/evalrig/bin/evalrig.js`);
  fs.symlinkSync(path.join(linked, store, 'node_modules/evalrig'), path.join(linked, 'node_modules/evalrig'));
  assert.equal(found(linked), fs.realpathSync(path.join(linked, store, binary)));
});

test('on Windows only what can be started without a shell is a program', () => {
  const windows = { platform: 'win32', arch: 'x64' };
  const find = (folder, searchPath, setting = '') =>
    findProgram({ setting, folders: [folder], isTrusted: true, searchPath, ...windows });
  const binary = 'node_modules/@evalrig/win32-x64/bin/evalrig.exe';
  const folder = folderWith('node_modules/.bin/evalrig.cmd', binary);
  assert.equal(find(folder, ''), path.join(folder, binary));
  const launcher = folderWith('node_modules/.bin/evalrig.cmd', 'node_modules/.bin/evalrig');
  assert.equal(find(launcher, ''), undefined);
  const python = folderWith('.venv/Scripts/evalrig.exe');
  assert.equal(find(python, ''), path.join(python, '.venv/Scripts/evalrig.exe'));
  // A global `npm install`.
  const nested = 'node_modules/evalrig/node_modules/@evalrig/win32-x64/bin/evalrig.exe';
  const global = folderWith('evalrig.cmd', nested);
  assert.equal(find(folderWith('x'), global), path.join(global, nested));
  assert.equal(find(folderWith('x'), folderWith('evalrig.cmd')), undefined);
  const tool = folderWith('tool.exe');
  assert.equal(find(tool, tool, 'tool'), path.join(tool, 'tool.exe'));
  assert.equal(find(folderWith('tool.cmd'), '', './tool.cmd'), undefined);
});

test('nothing inside an untrusted folder is used', () => {
  const [folder, bin] = [folderWith('.venv/bin/evalrig', 'tool'), folderWith('evalrig')];
  const found = (more) =>
    findProgram({ setting: '', folders: [folder], isTrusted: false, searchPath: bin, ...more });
  assert.equal(found({}), path.join(bin, 'evalrig'));
  assert.equal(found({ setting: './tool' }), undefined);
  // A relative directory in PATH would be one of the folder.
  assert.equal(found({ searchPath: '.:bin' }), undefined);
});

test('the setting wins, and a program that is not there is not replaced by another one', () => {
  const [folder, bin] = [folderWith('tool'), folderWith('evalrig')];
  const found = (setting) =>
    findProgram({ setting, folders: [folder], isTrusted: true, searchPath: bin });
  assert.equal(found('./tool'), path.join(folder, 'tool'));
  assert.equal(found('evalrig'), path.join(bin, 'evalrig'), 'a name is looked for in PATH');
  assert.equal(found('tool'), undefined);
  assert.equal(found(path.join(folder, 'tool')), path.join(folder, 'tool'));
  assert.equal(found('missing'), undefined);
});

test('a lens runs one test, and the explorer lists it', () => {
  const place = { suite: '/p/EVAL.yaml', root: '/p', test: 'a*', filter: 'a[*]' };
  assert.deepEqual(runArguments(place, ['--trials', '5']),
    ['run', '/p/EVAL.yaml', '--filter=a[*]', '--trials', '5']);
  assert.deepEqual(runArguments({ suite: '/p/EVAL.yaml' }, []), ['run', '/p/EVAL.yaml']);
  assert.deepEqual(reportArguments('/p/r.jsonl', '/t/x.html'),
    ['report', '/p/r.jsonl', '--report', 'html=/t/x.html']);
  const lens = (title, command, place) => ({ range: {}, command: { title, command, arguments: [place] } });
  const found = testsOf([
    lens('run this suite', 'evalrig.run', { suite: '/p/EVAL.yaml', test: null }),
    lens('run this test · last: 4/5 (95 % CI 38–96 %)', 'evalrig.run', place),
    lens('open report', 'evalrig.openReport', { results: 'x' }),
    { range: {} },
  ]);
  assert.deepEqual(found.map((one) => [one.id, one.last]), [['a*', '4/5 (95 % CI 38–96 %)']]);
});

test('a listing has the tests of every suite by their files', () => {
  const listing = { schemaVersion: 1, suites: [
    { file: 'EVAL.yaml', name: 'a', tests: [{ id: 'x', line: 4 }, { id: 'y', file: 'cases.yaml', line: 1 }] },
    { file: 'sub/EVAL.yaml', name: 'b', tests: [{ id: 'y', file: 'cases.yaml', line: 1 }, { id: '!*', line: 0 }] },
  ] };
  const found = testsOfListing(listing, '/p');
  assert.deepEqual([...found.keys()], ['/p/EVAL.yaml', '/p/cases.yaml', '/p/sub/EVAL.yaml']);
  assert.deepEqual(found.get('/p/cases.yaml'),
    [{ id: 'y', line: 0, place: { suite: '/p/EVAL.yaml', root: '/p', test: 'y', filter: 'y' } }]);
  const [odd] = found.get('/p/sub/EVAL.yaml');
  assert.deepEqual([odd.line, odd.place.filter], [0, '\\![*]']);
  assert.equal(literalFilter('a{b}c?[d]'), 'a[{]b[}]c[?][[]d[]]');
  assert.equal(literalFilter('a!b\\d'), 'a!b\\\\d');
  assert.equal(testsOfListing(undefined, '/p').size, 0);
});

test('the problem matcher understands the concise format', () => {
  const { pattern } = manifest.contributes.problemMatchers[0];
  const line = 'evals/EVAL.yaml:5:3: warning[unknown-field]: unknown field `asert`';
  const found = new RegExp(pattern.regexp).exec(line);
  assert.deepEqual([found[pattern.file], found[pattern.line], found[pattern.column]],
    ['evals/EVAL.yaml', '5', '3']);
  assert.equal(found[pattern.severity], 'warning');
  assert.equal(found[pattern.code], 'unknown-field');
  assert.equal(found[pattern.message], 'unknown field `asert`');
});
