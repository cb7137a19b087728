// Written by `evalrig convert`: runs JavaScript checks of another tool as a judge script of evalrig.
//
// It reads the test and the answer from standard input and prints `{"score": …}`. `config` says what to
// check: `type`, `value`, and sometimes `threshold`, `negate`, `transform` and `function`. Every check is
// decided as in promptfoo. With `score: value` the score of the check is printed, otherwise 1 or 0.

import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { isDeepStrictEqual } from 'node:util';

const payload = JSON.parse(readFileSync(0, 'utf8'));
const check = payload.config;
const vars = payload.metadata?.vars ?? {};
const context = {
  prompt: payload.question,
  vars,
  test: { vars, metadata: payload.metadata ?? {} },
  config: check.config,
  metadata: {},
  providerResponse: {
    output: payload.answer,
    cost: payload.cost_usd ?? undefined,
    latencyMs: payload.duration_ms ?? undefined,
    tokenUsage: payload.token_usage ?? undefined,
  },
};

/** `process` with the `mainModule.require` that inline code of promptfoo may use. */
const shim = Object.create(process, {
  mainModule: { value: { require: createRequire(resolve(process.cwd(), 'eval.js')) } },
});

/** Code of one line is an expression, perhaps behind declarations; other code returns by itself. */
function functionBody(code) {
  const text = code.trimEnd();
  if (text.includes('\n')) return text;
  const line = text.trim().replace(/;+\s*$/, '');
  if (!/^(const|let|var)\s/.test(line)) return `return ${line}`;
  const at = lastSemicolon(line);
  const last = line.slice(at + 1).trim();
  return at < 0 || !last ? line : `${line.slice(0, at + 1)} return ${last}`;
}

/** Outside of quotes. */
function lastSemicolon(line) {
  let quote = null;
  let found = -1;
  for (let at = 0; at < line.length; at++) {
    const letter = line[at];
    if (letter === '\\') at++;
    else if (quote) quote = letter === quote ? null : quote;
    else if (letter === '"' || letter === "'" || letter === '`') quote = letter;
    else if (letter === ';') found = at;
  }
  return found;
}

async function callFile(path, name, args) {
  const loaded = await import(pathToFileURL(resolve(path)).href);
  const candidates = name
    ? [loaded[name], loaded.default?.[name]]
    : [loaded.default, loaded.default?.default, loaded];
  const found = candidates.find((one) => typeof one === 'function');
  if (!found) throw new Error(`${path} exports no function${name ? ` ${name}` : ''}`);
  return found(...args);
}

async function transformed(output) {
  for (const code of check.transform ?? []) {
    if (code.startsWith('file://')) {
      const [path, name] = code.slice('file://'.length).split(/:(?=[^/\\]*$)/);
      output = await callFile(path, name, [output, context]);
    } else {
      const body = code.includes('\n') ? code : `return ${code}`;
      output = await new Function('output', 'context', 'process', body)(output, context, shim);
    }
  }
  return output;
}

/** The objects in a text: from each brace to the one that closes it. */
function jsonObjects(text) {
  const found = [];
  for (let at = text.indexOf('{'); at >= 0; at = text.indexOf('{', at + 1)) {
    let depth = 0;
    for (let end = at; end < text.length; end++) {
      if (text[end] === '{') depth++;
      if (text[end] === '}' && --depth === 0) {
        try {
          found.push(JSON.parse(text.slice(at, end + 1)));
          at = end;
        } catch {
          // Not JSON; the next brace may begin some.
        }
        break;
      }
    }
  }
  return found;
}

function parsed(text) {
  try {
    return { value: JSON.parse(text) };
  } catch {
    return null;
  }
}

/** The usual keywords of JSON Schema; `evalrig convert` reports others. */
function fits(value, schema, root = schema) {
  if (typeof schema === 'boolean') return schema;
  const is = (type) => {
    switch (type) {
      case 'null': return value === null;
      case 'array': return Array.isArray(value);
      case 'object': return typeof value === 'object' && value !== null && !Array.isArray(value);
      case 'integer': return Number.isInteger(value);
      default: return typeof value === type;
    }
  };
  const every = (list, test) => list === undefined || list.every(test);
  if (schema.$ref !== undefined) {
    const steps = schema.$ref.replace(/^#\/?/, '').split('/').filter(Boolean);
    const target = steps.reduce((inner, step) => inner?.[step.replace(/~1/g, '/').replace(/~0/g, '~')], root);
    if (target === undefined || !fits(value, target, root)) return false;
  }
  if (schema.type !== undefined && ![schema.type].flat().some(is)) return false;
  if (schema.const !== undefined && !isDeepStrictEqual(value, schema.const)) return false;
  if (schema.enum !== undefined && !schema.enum.some((one) => isDeepStrictEqual(value, one))) return false;
  if (!every(schema.allOf, (one) => fits(value, one, root))) return false;
  if (schema.anyOf && !schema.anyOf.some((one) => fits(value, one, root))) return false;
  if (schema.oneOf && schema.oneOf.filter((one) => fits(value, one, root)).length !== 1) return false;
  if (schema.not !== undefined && fits(value, schema.not, root)) return false;
  if (typeof value === 'number') {
    if (value < schema.minimum || value > schema.maximum) return false;
    if (value <= schema.exclusiveMinimum || value >= schema.exclusiveMaximum) return false;
    if (schema.multipleOf !== undefined && !Number.isInteger(value / schema.multipleOf)) return false;
  }
  if (typeof value === 'string') {
    const length = [...value].length;
    if (length < schema.minLength || length > schema.maxLength) return false;
    if (schema.pattern !== undefined && !new RegExp(schema.pattern, 'u').test(value)) return false;
  }
  if (Array.isArray(value)) {
    if (value.length < schema.minItems || value.length > schema.maxItems) return false;
    if (schema.items !== undefined && !value.every((one) => fits(one, schema.items, root))) return false;
    const repeats = (one, at) => value.findIndex((other) => isDeepStrictEqual(one, other)) !== at;
    if (schema.uniqueItems && value.some(repeats)) return false;
  } else if (is('object')) {
    const keys = Object.keys(value);
    if (keys.length < schema.minProperties || keys.length > schema.maxProperties) return false;
    if (!every(schema.required, (key) => key in value)) return false;
    const known = schema.properties ?? {};
    for (const key of keys) {
      const inner = Object.hasOwn(known, key) ? known[key] : schema.additionalProperties;
      if (inner !== undefined && !fits(value[key], inner, root)) return false;
    }
  }
  return true;
}

function distance(a, b) {
  let row = Array.from({ length: b.length + 1 }, (_, at) => at);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      const replaced = row[j - 1] + (a[i - 1] === b[j - 1] ? 0 : 1);
      next.push(Math.min(replaced, row[j] + 1, next[j - 1] + 1));
    }
    row = next;
  }
  return row[b.length];
}

/** As OpenAI Evals normalizes before it compares. */
function normalized(text) {
  const bare = text.toLowerCase().replace(/[!-/:-@[-`{-~]/g, '');
  return bare.replace(/\b(a|an|the)\b/g, ' ').split(/\s+/).filter(Boolean).join(' ');
}

function isPartOfOther(text, other) {
  const [a, b] = [normalized(text), normalized(other)];
  return a === '' || b === '' ? a === b : a.includes(b) || b.includes(a);
}

/** As OpenAI Evals compares JSON: null is never right. */
function isSameJson(found, wanted) {
  if (found === null || wanted === null || found === undefined || wanted === undefined) return false;
  if (typeof found !== 'object' || typeof wanted !== 'object') return found === wanted;
  if (Array.isArray(found) !== Array.isArray(wanted)) return false;
  if (Array.isArray(found) && found.length !== wanted.length) return false;
  const keys = new Set([...Object.keys(found), ...Object.keys(wanted)]);
  return [...keys].every((key) => isSameJson(found[key], wanted[key]));
}

/** Whether every `&` in a text of XML begins a reference. */
const hasReferences = (text) => !/&(?!(?:amp|lt|gt|quot|apos|#\d+|#x[\da-fA-F]+);)/.test(text);

/** The attributes of a start tag as `@_name`; undefined if one is not well-formed. */
function xmlAttributes(written, prefixes) {
  const found = {};
  const known = new Set(prefixes);
  for (const [, name, quoted] of written.matchAll(/([^\s=]+)\s*=\s*("[^"]*"|'[^']*')/g)) {
    const value = quoted.slice(1, -1);
    if (`@_${name}` in found || !hasReferences(value)) return undefined;
    if (name.startsWith('xmlns:')) known.add(name.slice('xmlns:'.length));
    found[`@_${name}`] = value;
  }
  const isKnown = (name) => !name.includes(':') || known.has(name.split(':')[0]);
  return Object.keys(found).every((name) => isKnown(name.slice(2))) ? { found, known, isKnown } : undefined;
}

/** One element of XML that begins at `at`, as `{name, value, end}`; undefined if it is not well-formed. */
function xmlElement(text, at, prefixes = new Set(['xml', 'xmlns'])) {
  const name = '[\\p{L}_:][\\p{L}\\p{N}\\p{M}_:.\u00b7-]*';
  const attribute = `\\s+${name}\\s*=\\s*(?:"[^"<]*"|'[^'<]*')`;
  const start = new RegExp(`<(${name})((?:${attribute})*)\\s*(/?)>`, 'uy');
  start.lastIndex = at;
  const tag = start.exec(text);
  const attributes = tag && xmlAttributes(tag[2], prefixes);
  if (!attributes?.isKnown(tag[1])) return undefined;
  const value = { ...attributes.found };
  const whole = (content) => (Object.keys(value).length ? value : content.trim());
  if (tag[3]) return { name: tag[1], value: whole(''), end: start.lastIndex };
  let content = '';
  for (let from = start.lastIndex; ; ) {
    const next = text.indexOf('<', from);
    const data = text.slice(from, next);
    if (next < 0 || data.includes(']]>') || !hasReferences(data)) return undefined;
    content += data;
    const skipped = xmlSkipped(text, next);
    if (skipped !== undefined) {
      from = skipped;
      continue;
    }
    const end = /<\/([^\s>]+)\s*>/y;
    end.lastIndex = next;
    const close = end.exec(text);
    if (close) return close[1] === tag[1] ? { name: tag[1], value: whole(content), end: end.lastIndex } : undefined;
    const child = xmlElement(text, next, attributes.known);
    if (!child) return undefined;
    const before = value[child.name];
    value[child.name] = before === undefined ? child.value : [before, child.value].flat();
    from = child.end;
  }
}

/** The end of a comment, a section of characters or an instruction at `at`; undefined if there is none. */
function xmlSkipped(text, at) {
  for (const [begin, end] of [['<!--', '-->'], ['<![CDATA[', ']]>'], ['<?', '?>']]) {
    if (!text.startsWith(begin, at)) continue;
    const until = text.indexOf(end, at + begin.length);
    const inside = text.slice(at + begin.length, until);
    const isWhole = until >= 0 && !(begin === '<!--' && inside.includes('--'));
    return isWhole && !/^xml\s/i.test(begin === '<?' ? inside : '') ? until + end.length : undefined;
  }
  return undefined;
}

/** The root of a document that is nothing but XML. */
function xmlDocument(text) {
  let at = (/^\uFEFF?(?:<\?xml\s[^?]*\?>)?/.exec(text) ?? [''])[0].length;
  let root;
  while (at < text.length) {
    const doctype = /\s+|<!DOCTYPE\s[^[<>]*>/y;
    doctype.lastIndex = at;
    const skipped = doctype.test(text) ? doctype.lastIndex : xmlSkipped(text, at);
    if (skipped !== undefined) {
      at = skipped;
      continue;
    }
    const element = root ? undefined : xmlElement(text, at);
    if (!element) return undefined;
    root = element;
    at = element.end;
  }
  return root;
}

/** Whether the elements that are asked for are there, each as a path such as `root.item.name`. */
function hasElements(root, value) {
  const wanted = value?.requiredElements ?? value ?? [];
  const paths = typeof wanted === 'string' ? wanted.split(',').map((path) => path.trim()) : wanted.map(String);
  const has = (path) => {
    let inner = { [root.name]: root.value };
    for (const key of path.split('.')) {
      if (typeof inner !== 'object' || !Object.hasOwn(inner, key)) return false;
      inner = inner[key];
    }
    return true;
  };
  return paths.every(has);
}

function containsXml(text, value) {
  for (let at = text.indexOf('<'); at >= 0; at = text.indexOf('<', at + 1)) {
    const element = xmlElement(text, at);
    if (element && hasElements(element, value)) return true;
    if (element) at = element.end - 1;
  }
  return false;
}

/** How often each run of `size` words occurs. */
function runsOf(words, size) {
  const counts = new Map();
  for (let at = 0; at + size <= words.length; at++) {
    const run = words.slice(at, at + size).join(' ');
    counts.set(run, (counts.get(run) ?? 0) + 1);
  }
  return counts;
}

/** How many runs of one text are in the other, each as often as it is there. */
const shared = (runs, others) =>
  [...runs].reduce((sum, [run, count]) => sum + Math.min(count, others.get(run) ?? 0), 0);

/** BLEU with runs of up to four words, as many as the answer has. */
function bleu(text, references) {
  const wordsOf = (one) => one.toLowerCase().trim().split(/\s+/);
  if (!text.trim()) return 0;
  const words = wordsOf(text);
  const others = references.map(wordsOf);
  const far = (length) => Math.abs(length - words.length);
  const [closest] = others.map((one) => one.length).sort((a, b) => far(a) - far(b) || a - b);
  const logs = [];
  for (let size = 1; size <= Math.min(4, words.length); size++) {
    const runs = runsOf(words, size);
    const most = Math.max(...others.map((other) => shared(runs, runsOf(other, size))));
    logs.push(Math.log(most === 0 ? 1e-7 : most / (words.length - size + 1)));
  }
  const brevity = words.length > closest ? 1 : Math.exp(1 - closest / words.length);
  return brevity * Math.exp(logs.reduce((a, b) => a + b) / logs.length);
}

/** ROUGE-1: how many words two texts share, with marks and endings such as `'s` as words of their own. */
function rouge(text, reference) {
  const wordsOf = (one) =>
    one
      .toLowerCase()
      .replace(/\.{3}|[;@#$%&?!()[\]{}<>"]|--|[:,](?!\d)/g, ' $& ')
      .replace(/([^.])\.([\])}>'\s]*)$/, '$1 . $2')
      .replace(/([^'\s])('(?:s|m|d|ll|re|ve)|n't)(?=\s|$)/g, '$1 $2')
      .replace(/(\S)'(?=\s|$)/g, "$1 '")
      .replace(/\bcannot\b/g, 'can not')
      .split(/\s+/)
      .filter(Boolean);
  const [words, others] = [wordsOf(text), wordsOf(reference)];
  const both = shared(runsOf(words, 1), runsOf(others, 1));
  return both === 0 ? 0 : (2 * both) / (words.length + others.length);
}

/** A check whose score counts: `value` in place of 1. */
function scored(score, least) {
  return { pass: score >= (check.threshold ?? least), score: check.negate ? 1 - score : score };
}

const lower = (text) => String(text).toLowerCase();
const list = (value) => [value].flat().map(String);

/** Checks of a text. Each says whether it holds, or with which score. */
const checks = {
  equals: (text, value) =>
    typeof value === 'object' ? isDeepStrictEqual(parsed(text)?.value, value) : text === String(value),
  contains: (text, value) => text.includes(String(value)),
  icontains: (text, value) => lower(text).includes(lower(value)),
  'contains-any': (text, value) => list(value).some((one) => text.includes(one)),
  'contains-all': (text, value) => list(value).every((one) => text.includes(one)),
  'icontains-any': (text, value) => list(value).some((one) => lower(text).includes(lower(one))),
  'icontains-all': (text, value) => list(value).every((one) => lower(text).includes(lower(one))),
  'starts-with': (text, value) => text.startsWith(String(value)),
  regex: (text, value) => new RegExp(value).test(text),
  'is-json': (text, value) => {
    const found = parsed(text);
    return found !== null && (value == null || fits(found.value, value));
  },
  'contains-json': (text, value) => {
    const found = jsonObjects(text);
    return found.length > 0 && (value == null || found.some((one) => fits(one, value)));
  },
  'fuzzy-match': (text, value) => list(value).some((one) => isPartOfOther(text, one)),
  'json-match': (text, value) => list(value).some((one) => isSameJson(parsed(text)?.value, JSON.parse(one))),
  levenshtein: (text, value) => distance(text, String(value)) <= (check.threshold ?? 5),
  'is-xml': (text, value) => {
    const root = xmlDocument(text);
    return root !== undefined && hasElements(root, value);
  },
  'contains-xml': containsXml,
  bleu: (text, value) => scored(bleu(text, list(value)), 0.5),
  'rouge-n': (text, value) => scored(rouge(text, String(value)), 0.75),
  'word-count': (text, value) => {
    const count = text.trim().split(/\s+/).filter(Boolean).length;
    if (typeof value !== 'object') return count === Number(value);
    return count >= (value.min ?? 0) && count <= (value.max ?? Infinity);
  },
};

/** What a function returned, as `{pass, score, reason}`; without `score` it is 1 or 0. */
function outcome(result) {
  if (typeof result === 'boolean') return { pass: result };
  if (typeof result === 'number') {
    const pass = check.threshold === undefined ? result > 0 : result >= check.threshold;
    return { pass, score: result };
  }
  const { pass, score, reason } = result ?? {};
  if (typeof pass === 'boolean' && typeof score === 'number' && typeof reason === 'string') {
    return { pass, score, reason };
  }
  throw new Error(`the function returned ${JSON.stringify(result)}`);
}

async function judge() {
  const output = await transformed(payload.answer);
  const text = typeof output === 'string' ? output : JSON.stringify(output);
  if (check.type === 'expressions') {
    const { outputMessages, duration_ms } = payload;
    const calls = outputMessages.flatMap((message) => message.tool_calls ?? []);
    const tool_calls = calls.map((call) => ({ name: call.function.name, args: call.function.arguments }));
    const holds = check.value.map((code) =>
      Boolean(new Function('output', 'tool_calls', 'duration_ms', `return ${code}`)(text, tool_calls, duration_ms)),
    );
    const score = holds.filter(Boolean).length / holds.length;
    return { pass: score === 1, score, reason: check.value.filter((_, at) => !holds[at]).join('; ') };
  }
  if (check.type === 'program') {
    const [command, ...more] = check.value;
    const env = { ...process.env, WAZA_WORKSPACE_DIR: payload.workspace_path ?? '' };
    const timeout = (check.timeout_seconds ?? 30) * 1000;
    const ran = spawnSync(command, more, { input: text, env, timeout, encoding: 'utf8' });
    const reason = ran.error?.message ?? (ran.status === 0 ? ran.stdout : ran.stderr || ran.stdout).trim();
    return { pass: ran.status === 0, reason: reason || `${command} ends with ${ran.status ?? ran.signal}` };
  }
  if (check.type !== 'javascript') {
    const found = checks[check.type](text, check.value);
    return typeof found === 'object' ? found : { pass: found };
  }
  const [, , path] = process.argv;
  if (path) {
    return outcome(await callFile(path, check.function, [output, context]));
  }
  const code = new Function('output', 'context', 'process', functionBody(check.value));
  return outcome(await code(output, context, shim));
}

let found;
try {
  found = await judge();
  found.pass = found.pass !== (check.negate ?? false);
} catch (error) {
  found = { pass: false, reason: `${error?.message ?? error}` };
}
const holds = found.pass ? 1 : 0;
const score = check.score === 'value' ? Math.min(1, Math.max(0, Number(found.score ?? holds))) : holds;
const told = found.reason ? [found.reason] : [];
const result = {
  score,
  hits: found.pass ? told : [],
  misses: found.pass ? [] : told.length ? told : [`${check.type} does not hold`],
  details: { pass: found.pass, score: found.score ?? holds },
};
// Whatever the check left open must not keep the script alive.
process.stdout.write(`${JSON.stringify(result)}\n`, () => process.exit(0));
