// Finds the program: the one of the settings, of the folder, or of PATH. Knows nothing of VS Code.
'use strict';

const fs = require('node:fs');
const path = require('node:path');

const ENVIRONMENTS = ['.venv', 'venv'];

function isFile(file) {
  try {
    fs.accessSync(file, fs.constants.X_OK);
    return fs.statSync(file).isFile();
  } catch {
    return false;
  }
}

/** What depends on the system. Windows starts `.exe` files; a `.cmd` needs a shell, so it is no program here. */
class System {
  constructor({ platform = process.platform, arch = process.arch }) {
    this.isWindows = platform === 'win32';
    this.binary = path.join('@evalrig', `${platform}-${arch}`, 'bin', this.nameOf('evalrig'));
  }

  nameOf(program) {
    return this.isWindows && path.extname(program) !== '.exe' ? `${program}.exe` : program;
  }

  /** The program in a directory; undefined if there is none. */
  in(directory, program = 'evalrig') {
    const file = path.join(directory, this.nameOf(program));
    return isFile(file) ? file : undefined;
  }

  /** The binary that belongs to the npm package `evalrig`: beside it, inside it, or where its link leads. */
  ofPackage(modules) {
    const launcher = path.join(modules, 'evalrig');
    const real = fs.existsSync(launcher) ? fs.realpathSync(launcher) : launcher;
    const places = [modules, path.join(real, 'node_modules'), path.dirname(real)];
    return places.map((place) => path.join(place, this.binary)).find(isFile);
  }

  inFolder(folder) {
    const modules = path.join(folder, 'node_modules');
    const scripts = this.isWindows ? 'Scripts' : 'bin';
    const environments = ENVIRONMENTS.map((name) => path.join(folder, name, scripts));
    const found = this.ofPackage(modules) ?? this.in(path.join(modules, '.bin'));
    return found ?? environments.map((directory) => this.in(directory)).find(Boolean);
  }

  /** A global `npm install` puts `evalrig.cmd` into a directory of PATH, with the packages below. */
  onPath(searchPath, program) {
    const directories = (searchPath ?? '').split(path.delimiter).filter((one) => path.isAbsolute(one));
    for (const directory of directories) {
      const isOurs = this.isWindows && program === 'evalrig';
      const found = this.in(directory, program)
        ?? (isOurs ? this.ofPackage(path.join(directory, 'node_modules')) : undefined);
      if (found) return found;
    }
    return undefined;
  }
}

/**
 * The path of the program; undefined if there is none. A program inside a folder is only used when the
 * folder is trusted. A setting without a slash is a name in PATH; a relative path starts at the first folder.
 */
function findProgram({ setting, folders, isTrusted, searchPath, ...given }) {
  const system = new System(given);
  if (!setting) {
    const inFolders = isTrusted ? folders.map((folder) => system.inFolder(folder)).find(Boolean) : undefined;
    return inFolders ?? system.onPath(searchPath, 'evalrig');
  }
  if (!/[\\/]/.test(setting)) return system.onPath(searchPath, setting);
  if (!path.isAbsolute(setting) && !(isTrusted && folders[0])) return undefined;
  return system.in(path.resolve(folders[0] ?? '', path.dirname(setting)), path.basename(setting));
}

/** The arguments that run one suite, or one test of it. */
function runArguments({ suite, filter }, more) {
  // Joined, because an id may begin with a hyphen.
  const filters = filter ? [`--filter=${filter}`] : [];
  return ['run', suite, ...filters, ...more];
}

/** The arguments that write the report of a results file as a page. */
function reportArguments(results, page) {
  return ['report', results, '--report', `html=${page}`];
}

/** The arguments that list the suites of the working directory as JSON. */
const LIST_ARGUMENTS = ['list', '--format', 'json', '--quiet'];

/** The pattern of `--filter` that only this id matches. `!` is special only in front. */
function literalFilter(id) {
  return id.replace(/[*?[\]{}]|\\|^!/g, (sign) => (/[\\!]/.test(sign) ? `\\${sign}` : `[${sign}]`));
}

module.exports = { findProgram, runArguments, reportArguments, literalFilter, LIST_ARGUMENTS };
