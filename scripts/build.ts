/** Builds the executable: `bun run build [--target bun-linux-arm64] [--outfile path]`. */
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { createEngine } from "../src/sandbox/engine.ts";
import { guestScript } from "../src/sandbox/guest/bundle.ts";
import { takeSnapshot } from "../src/sandbox/snapshot.ts";
import { compiledEngine } from "../src/sandbox/wasm.ts";

const root = join(import.meta.dir, "..");
const { values } = parseArgs({
  options: {
    target: { type: "string" },
    outfile: { type: "string", default: join(root, "dist", "claudikins") },
  },
});
const outfile = resolve(values.outfile);
const snapshot = `${outfile}.snapshot`;
mkdirSync(dirname(outfile), { recursive: true });

try {
  writeFileSync(snapshot, takeSnapshot(await createEngine(await compiledEngine(), 64 * 1_048_576), guestScript()));
  await Bun.build({
    // The worker is an entry of its own: the executable starts it by its path.
    entrypoints: [join(root, "src", "main.ts"), join(root, "src", "sandbox", "worker.ts")],
    compile: { outfile, ...(values.target ? { target: values.target as Bun.Build.CompileTarget } : {}) },
    minify: true,
    bytecode: true,
    format: "esm",
    plugins: [
      {
        name: "guest-snapshot",
        setup: (build) => void build.onResolve({ filter: /guest-snapshot\.bin$/ }, () => ({ path: snapshot })),
      },
    ],
  });
} finally {
  rmSync(snapshot, { force: true });
}
