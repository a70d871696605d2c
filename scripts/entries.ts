/** The source files from which the executable is bundled. */
import { join } from "node:path";

const root = join(import.meta.dir, "..");

/** Below src. Workers are separate entries, which the executable starts by their paths. */
const files = [
  "main.ts",
  "sandbox/worker/worker.ts",
  "servers/decoding/worker.ts",
  "sources/graphql/schema-worker.ts",
  "sources/openapi/answer-worker.ts",
  "sources/openapi/worker.ts",
  "tools/work/worker.ts",
  "serve/content/worker.ts",
  "store/sqlite/approvals-worker.ts",
  "store/sqlite/wal-worker.ts",
  "store/sqlite/worker.ts",
  "page/execution/worker.ts",
  "programs/checking/worker.ts",
  "programs/drift/worker.ts",
  "cli/signal-guard/worker.ts",
];

export const entries: string[] = files.map((file) => join(root, "src", file));

/** Modules whose functions make a script while the source is loaded. */
const scriptMakers =
  /[\\/]src[\\/](?:sandbox[\\/]guest[\\/]bundle|page[\\/]bundle|tools[\\/]registry[\\/]bridge-code)\.ts$/;

/** Puts the scripts in the place of the functions that make them. Bun's macros would do it, but not in a folder with a quote in its name. */
export const madeScripts: Bun.BunPlugin = {
  name: "made-scripts",
  setup(build) {
    build.onLoad({ filter: scriptMakers }, async ({ path }) => {
      const makers = Object.entries((await import(path)) as Record<string, () => string>);
      const made = makers.map(([name, make]) => `export const ${name} = () => ${JSON.stringify(make())};`);
      return { contents: made.join("\n"), loader: "js" };
    });
  },
};

/** Leaves out what only runs from source use: each worker would take memory for it. */
export const sourceOnly: Bun.BunPlugin = {
  name: "source-only",
  setup(build) {
    const filter = /[\\/]src[\\/]sandbox[\\/]engine[\\/](?:make-interruptible|share-memory)\.ts$/;
    build.onLoad({ filter }, () => ({
      contents: "export const makeInterruptible = undefined, shareMemory = undefined;",
      loader: "js",
    }));
  },
};

/** Puts sdk-shims.ts in the place of a part of the SDK. */
export const sdkShims: Bun.BunPlugin = {
  name: "sdk-shims",
  setup(build) {
    const path = join(import.meta.dir, "sdk-shims.ts");
    build.onResolve({ filter: /^@modelcontextprotocol\/(?:client|server)\/_shims$/ }, () => ({ path }));
  },
};
