#!/usr/bin/env node
/** The `claudikins` command of the npm package. It runs the executable for this platform, which is in a package of its own. */
"use strict";

const fs = require("node:fs");

const platforms = [
  "linux-x64",
  "linux-arm64",
  "linux-x64-musl",
  "linux-arm64-musl",
  "darwin-x64",
  "darwin-arm64",
  "windows-x64",
];

function ownPlatform() {
  const system = process.platform === "win32" ? "windows" : process.platform;
  const ending = system === "linux" && isMusl() ? "-musl" : "";
  return `${system}-${process.arch}${ending}`;
}

/** Node.js and Bun use the C library of the system, so the loader that they name tells which one that is. */
function isMusl() {
  const loader = loaderOf(process.execPath);
  if (loader) return loader.includes("musl");
  if (!process.report) return false;
  // Otherwise the report looks up the addresses of open connections.
  process.report.excludeNetwork = true;
  return process.report.getReport().header.glibcVersionRuntime === undefined;
}

/** The path of the loader that a dynamically linked program of Linux names in its first bytes. */
function loaderOf(program) {
  try {
    const file = fs.openSync(program, "r");
    const start = Buffer.alloc(4096);
    fs.readSync(file, start, 0, start.length, 0);
    fs.closeSync(file);
    return /\/[\x20-\x7e]*\/ld-[\x20-\x7e]+/.exec(start.toString("latin1"))?.[0];
  } catch {
    return undefined;
  }
}

/** The path of the executable; undefined if the platform's package is not installed. */
function executableFor(platform) {
  const name = platform.startsWith("windows") ? "claudikins.exe" : "claudikins";
  try {
    return require.resolve(`@claudikins/${platform}/bin/${name}`);
  } catch {
    return undefined;
  }
}

function run(executable, args) {
  if (canReplace(executable)) process.execve(executable, [executable, ...args], process.env);

  // A terminal sends its signals to the executable too, which would take a second one as an order to end at once.
  const { isatty } = require("node:tty");
  const hasTerminal = isatty(0) || isatty(1) || isatty(2);
  const { signals } = require("node:os").constants;
  const forwarded = ["SIGTERM", "SIGINT", "SIGHUP", "SIGQUIT", "SIGBREAK"].filter((signal) => signal in signals);
  const forward = (signal) => {
    if (signal === "SIGTERM" || !hasTerminal) child.kill(signal);
  };
  for (const signal of forwarded) process.on(signal, forward);

  const child = require("node:child_process").spawn(executable, args, { stdio: "inherit" });
  child.on("error", (error) =>
    fail(`cannot run ${executable} (${error.code})`, "Install claudikins again: npm install --global claudikins"),
  );
  child.on("exit", (code, signal) => {
    for (const each of forwarded) process.off(each, forward);
    if (signal) process.kill(process.pid, signal);
    else process.exitCode = code;
  });
}

/** Node.js 22.15 and newer can replace themselves, which saves a process. They abort if that fails, so its usual causes are checked. */
function canReplace(executable) {
  if (process.platform === "win32" || !process.execve) return false;
  try {
    fs.accessSync(executable, fs.constants.X_OK);
  } catch {
    return false;
  }
  const loader = process.platform === "linux" ? loaderOf(executable) : undefined;
  return loader === undefined || fs.existsSync(loader);
}

function explainMissing(own) {
  const where = `${process.platform} on ${process.arch}`;
  if (!platforms.includes(own)) {
    return fail(
      `claudikins is not available for ${where}`,
      "claudikins runs on Linux and macOS (x64 and arm64) and on Windows (x64).",
    );
  }
  const again = "npm install --global --include=optional claudikins";
  const other = platforms.find(executableFor);
  if (other === undefined) {
    return fail(
      `the package @claudikins/${own}, which contains the executable, is not installed`,
      `Install claudikins again, without --omit=optional or --no-optional: ${again}`,
    );
  }
  const isOtherMac = other.startsWith("darwin") && own.startsWith("darwin");
  fail(
    `the package @claudikins/${own} is not installed, but @claudikins/${other} is`,
    isOtherMac
      ? `This Node.js is for ${process.arch}, and another Node.js installed claudikins. Use that one, or install claudikins again: ${again}`
      : `node_modules was made on another platform. Install claudikins again on this one: ${again}`,
  );
}

function fail(message, hint) {
  process.stderr.write(`error: ${message}\n\nhint: ${hint}\n`);
  process.exitCode = 1;
}

const own = ownPlatform();
const executable = executableFor(own);
if (executable) run(executable, process.argv.slice(2));
else explainMissing(own);
