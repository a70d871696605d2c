/** `fs` as code finds it: one object for promises, callbacks and answers at once, and `node:fs/promises`. */
import { noticed } from "../calls.ts";
import { watch } from "../floating.ts";
import { named } from "../named.ts";
import { Dirent, Stats } from "./fs-entries.ts";
import * as operations from "./fs-operations.ts";

type Operation = (...args: unknown[]) => unknown;

const { constants, ...functions } = operations;
const byName = Object.entries(functions) as [string, Operation][];

/** What is missing on purpose, and what does the same. */
const missing: Record<string, string> = {
  open: "Use fs.readFile, fs.writeFile or fs.appendFile with a path.",
  opendir: "Use fs.readdir(path, { withFileTypes: true }).",
  createReadStream: "Use fs.readFile(path, 'utf8'), and split the text.",
  createWriteStream: "Use fs.writeFile(path, text), or fs.appendFile(path, text) for each piece.",
  watch: "Files cannot be watched: read the file again when you need it.",
  watchFile: "Files cannot be watched: read the file again when you need it.",
  truncate: "Read the file, cut it, and write it with fs.writeFile.",
  symlink: "Links are not supported: use fs.copyFile.",
  link: "Links are not supported: use fs.copyFile.",
  readlink: "Links are not supported: fs.realpath gives a path without dots.",
  chmod: "Files have no permissions here: leave this out.",
  chown: "Files have no owners here: leave this out.",
  utimes: "Times cannot be set: leave this out.",
  glob: "Use fs.readdir(path, { recursive: true }) and filter the names.",
};

function absent(name: string, hint: string): Operation {
  return () => {
    throw Object.assign(new Error(`fs.${name} is not available in this sandbox`), { code: "ENOSYS", hint });
  };
}

/** It has happened when the promise is there: also what nobody awaits is done, and its failure not lost. */
function promised(operation: Operation): (...args: unknown[]) => Promise<unknown> {
  return (...args) => noticed((async () => operation(...args))(), `fs.${operation.name || "promise"}`);
}

/** With a function as its last argument it answers that. */
function either(name: string, operation: Operation): Operation {
  const promise = promised(operation);
  return (...args) => {
    const callback = args.at(-1);
    if (typeof callback !== "function") return promise(...args);
    const answer = promise(...args.slice(0, -1));
    const done = (value: unknown) => (name === "exists" ? callback(value) : callback(null, value));
    watch(answer.then(done, (error) => callback(error)));
    return undefined;
  };
}

const absentHere = Object.entries(missing).map(([name, hint]) => [name, absent(name, hint)] as const);

/** `node:fs/promises`. */
export const fsPromises: Record<string, unknown> = named({
  ...Object.fromEntries(absentHere),
  ...Object.fromEntries(byName.map(([name, operation]) => [name, promised(operation)])),
  constants,
});

/** `node:fs`: `readFile` gives a promise or calls back, `readFileSync` answers at once. */
export const fsModule: Record<string, unknown> = named({
  ...Object.fromEntries(
    absentHere.flatMap(([name, refuse]) => [
      [name, refuse],
      [`${name}Sync`, refuse],
    ]),
  ),
  ...Object.fromEntries(
    byName.flatMap(([name, operation]) => [
      [name, either(name, operation)],
      [`${name}Sync`, operation],
    ]),
  ),
  promises: fsPromises,
  constants,
  ...constants,
  Stats,
  Dirent,
});

/** The global `fs`. */
export const fsGlobal = fsModule;
