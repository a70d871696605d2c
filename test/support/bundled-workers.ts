/**
 * Worker threads of tests run bundles with bytecode, like those of the executable. From source, each start would take 100 ms of CPU in
 * place of 25, and the tests start thousands.
 */
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { cachedBuild, hashOf, root } from "./claudikins.ts";

const source = join(root, "src");

/** The folder of the bundles, whose paths are those in `src`. */
let folder: string | undefined;

let areFromSource = false;

/** Until the result is disposed of, workers run from source: parsers of bundles overflow the stack a little earlier. */
export function workersFromSource(): Disposable {
  areFromSource = true;
  return {
    [Symbol.dispose]() {
      areFromSource = false;
    },
  };
}

/** Replaces `Worker`. Workers of `src` run from their bundles, which are made for the first worker, and all others as usual. */
export function useBundledWorkers(): void {
  const Original = globalThis.Worker;
  globalThis.Worker = class extends Original {
    constructor(url: string | URL, options?: WorkerOptions) {
      super(bundleOf(String(url)) ?? url, options);
    }
  };
}

const prefix = pathToFileURL(`${source}/`).href;

function bundleOf(url: string): string | undefined {
  if (areFromSource || !url.startsWith(prefix)) return undefined;
  folder ??= cachedBuild(
    `workers-${hashOf("src", "scripts", "test/support", "bun.lock", "tsconfig.json")}`,
    (outfolder) => [join(import.meta.dir, "bundle-workers.ts"), outfolder],
  );
  return pathToFileURL(join(folder, url.slice(prefix.length).replace(/\.ts$/, ".js"))).href;
}
