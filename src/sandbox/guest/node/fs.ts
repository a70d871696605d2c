/** `node:fs` and `node:fs/promises`. The functions of `node:fs` support promises, callbacks and synchronous calls. */
import { noticed } from "../calls.ts";
import { watch } from "../floating.ts";
import { named } from "../named.ts";
import { Dirent, Stats } from "./fs-entries.ts";
import { constants, operations } from "./fs-operations.ts";

type Operation = (...args: unknown[]) => unknown;
type Operations = Record<string, Operation>;

/** Functions that are missing on purpose, with their replacement. */
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

/**
 * Wraps an operation in a promise. The operation is done when the promise is returned, so its effect does not depend on an `await`.
 */
function promised(operation: Operation, name: string): (...args: unknown[]) => Promise<unknown> {
  return (...args) => noticed((async () => operation(...args))(), `fs.${name}`);
}

/** Calls back if the last argument is a function, and returns a promise otherwise. */
function either(operation: Operation, name: string): Operation {
  const promise = promised(operation, name);
  return (...args) => {
    const callback = args.at(-1);
    if (typeof callback !== "function") return promise(...args);
    const answer = promise(...args.slice(0, -1));
    const done = (value: unknown) => (name === "exists" ? callback(value) : callback(null, value));
    watch(answer.then(done, (error) => callback(error)));
    return undefined;
  };
}

const refusals = Object.fromEntries(Object.entries(missing).map(([name, hint]) => [name, absent(name, hint)]));

function wrapped(wrap: (operation: Operation, name: string) => Operation): Operations {
  return Object.fromEntries(
    Object.entries(operations as Operations).map(([name, operation]) => [name, wrap(operation, name)]),
  );
}

function synchronous(functions: Operations): Operations {
  return Object.fromEntries(Object.entries(functions).map(([name, operation]) => [`${name}Sync`, operation]));
}

/** `node:fs/promises`. */
export const fsPromises: Record<string, unknown> = named({ ...refusals, ...wrapped(promised), constants });

/** `node:fs`, and the global `fs`: `readFile` returns a promise or calls back, `readFileSync` is synchronous. */
export const fsModule: Record<string, unknown> = named({
  ...refusals,
  ...synchronous(refusals),
  ...wrapped(either),
  ...synchronous(operations as Operations),
  promises: fsPromises,
  constants,
  ...constants,
  Stats,
  Dirent,
});
