/** Bundles the workers for tests: `bun test/support/bundle-workers.ts <folder>`. */
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import wasmFile from "@jitl/quickjs-wasmfile-release-sync/wasm" with { type: "file" };
import { entries } from "../../scripts/entries.ts";

const [outdir = ""] = process.argv.slice(2);
const source = join(import.meta.dir, "..", "..", "src");
const snapshot = join(source, "sandbox", "guest-snapshot.bin");

/** A module whose value is this path. */
const pathModule = (path: string) => ({ contents: `export default ${JSON.stringify(path)};`, loader: "js" as const });

/** In the bundles, paths are those that a run from source has. */
const sourcePaths: Bun.BunPlugin = {
  name: "source-paths",
  setup(build) {
    build.onLoad({ filter: /[\\/]src[\\/].*\.ts$/ }, async ({ path }) => {
      const contents = (await Bun.file(path).text())
        .replaceAll("import.meta.dir", JSON.stringify(dirname(path)))
        .replaceAll("import.meta.url", JSON.stringify(pathToFileURL(path).href));
      return { contents, loader: "ts" };
    });
    build.onResolve({ filter: /\/guest-snapshot\.bin$/ }, () => ({ path: snapshot, namespace: "paths" }));
    build.onResolve({ filter: /^@jitl\/.*\/wasm$/ }, () => ({ path: wasmFile, namespace: "paths" }));
    build.onLoad({ filter: /.*/, namespace: "paths" }, ({ path }) => pathModule(path));
  },
};

await Bun.build({
  entrypoints: entries.filter((path) => path.endsWith("worker.ts")),
  root: source,
  outdir,
  target: "bun",
  format: "cjs",
  bytecode: true,
  plugins: [sourcePaths],
});
