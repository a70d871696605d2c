/** Builds the executable: `bun run build [--target bun-linux-arm64] [--outfile path]`. */
import { mkdirSync, readdirSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { createEngine, findEndAddress } from "../src/sandbox/engine/engine.ts";
import { madeFile } from "../src/sandbox/engine/made-files.ts";
import { takeSnapshot } from "../src/sandbox/engine/snapshot.ts";
import { compiledEngine, programBytes } from "../src/sandbox/engine/wasm.ts";
import { guestScript } from "../src/sandbox/guest/bundle.ts";

/** Below src. */
const workers = [
  "sandbox/worker.ts",
  "clients/decoding/worker.ts",
  "registry/work/worker.ts",
  "server/content/worker.ts",
  "cli/signal-guard/worker.ts",
];

const root = join(import.meta.dir, "..");
const { values } = parseArgs({
  options: {
    target: { type: "string" },
    outfile: { type: "string", default: join(root, "dist", "claudikins") },
  },
});
const outfile = resolve(values.outfile);
/** Files that the build generates, and that the executable contains instead of source files. */
const made = { snapshot: `${outfile}.snapshot`, engine: `${outfile}.wasm` };
mkdirSync(dirname(outfile), { recursive: true });

/** Files of builds that are older than this are removed. */
const keptMs = 7 * 24 * 60 * 60 * 1_000;

/** Stores a file for runs from source. Another build may do the same at the same time. */
function keep(path: string | undefined, bytes: Uint8Array): void {
  if (path === undefined) return;
  const folder = dirname(path);
  mkdirSync(folder, { recursive: true });
  const old = (name: string) =>
    Date.now() - (statSync(join(folder, name), { throwIfNoEntry: false })?.mtimeMs ?? 0) > keptMs;
  for (const name of readdirSync(folder).filter(old)) rmSync(join(folder, name), { force: true });
  const temporary = join(folder, `${process.pid}.tmp`);
  writeFileSync(temporary, bytes);
  renameSync(temporary, path);
}

try {
  const program = await programBytes();
  writeFileSync(made.engine, program);
  const engine = await compiledEngine();
  const endAddress = await findEndAddress(engine);
  const guest = guestScript();
  const snapshot = takeSnapshot(await createEngine(engine, 64 * 1_048_576), endAddress, guest);
  writeFileSync(made.snapshot, snapshot);
  keep(madeFile("engine"), program);
  keep(madeFile("guest", guest), snapshot);
  await Bun.build({
    // Workers are separate entries, which the executable starts by their paths.
    entrypoints: ["main.ts", ...workers].map((file) => join(root, "src", file)),
    compile: {
      outfile,
      // Files in the working directory must not run or change the program: see src/config/environment.ts.
      autoloadBunfig: false,
      autoloadDotenv: false,
      autoloadTsconfig: false,
      autoloadPackageJson: false,
      ...(values.target ? { target: values.target as Bun.Build.CompileTarget } : {}),
    },
    // The program must not depend on the environment of the build.
    env: "disable",
    define: { "process.env.NODE_ENV": '"production"' },
    minify: true,
    bytecode: true,
    format: "esm",
    plugins: [
      {
        name: "made-files",
        setup(build) {
          build.onResolve({ filter: /\/guest-snapshot\.bin$/ }, () => ({ path: made.snapshot }));
          build.onResolve({ filter: /^@jitl\/.*\/wasm$/ }, () => ({ path: made.engine }));
        },
      },
      {
        name: "sdk-shims",
        setup(build) {
          const path = join(import.meta.dir, "sdk-shims.ts");
          build.onResolve({ filter: /^@modelcontextprotocol\/(?:client|server)\/_shims$/ }, () => ({ path }));
        },
      },
    ],
  });
} finally {
  for (const file of Object.values(made)) rmSync(file, { force: true });
}
