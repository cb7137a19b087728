#!/usr/bin/env node
// Starts the evalrig binary of the package for this platform, and ends as it ends.
"use strict";

const { spawn } = require("node:child_process");
const { constants } = require("node:os");

const platform = `${process.platform}-${process.arch}`;
const program = process.platform === "win32" ? "evalrig.exe" : "evalrig";

function findBinary() {
  try {
    return require.resolve(`@evalrig/${platform}/bin/${program}`);
  } catch {
    const supported = Object.keys(require("../package.json").optionalDependencies);
    if (supported.includes(`@evalrig/${platform}`)) {
      console.error(
        `evalrig: the package @evalrig/${platform} is not installed; ` +
          "install again without `--omit=optional`",
      );
    } else {
      console.error(`evalrig: there is no package for ${platform}; install with cargo instead`);
    }
    process.exit(2);
  }
}

const child = spawn(findBinary(), process.argv.slice(2), { stdio: "inherit" });

// Ctrl-C goes to both processes, and evalrig takes a second one as "stop immediately". Whoever ends only the launcher
// uses SIGTERM.
process.on("SIGINT", () => {});
for (const signal of ["SIGTERM", "SIGHUP", "SIGQUIT"]) {
  process.on(signal, () => child.kill(signal));
}

child.on("error", (error) => {
  console.error(`evalrig: ${error.message}`);
  process.exit(2);
});
child.on("exit", (code, signal) => {
  process.exit(signal ? 128 + constants.signals[signal] : code);
});
