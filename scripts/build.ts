/**
 * Builds the executable: `bun run build [--target bun-linux-arm64] [--outfile path] [--runtime path] [--released]
 * [--version 1.2.3] [--format 2]`.
 *
 * The runtime is the Bun that the executable contains; without one, Bun takes itself, or downloads the one of the target.
 * A released executable is one that others download: it must not depend on the folder in which it was built. Any other executable knows
 * the checkout that built it. Tests choose another version than that of package.json, and another
 * format of saved programs.
 */
import { mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { parseArgs } from "node:util";
import manifest from "../package.json" with { type: "json" };
import type { BuiltIn } from "../src/base/built-in.ts";
import { programFormat } from "../src/base/program-format.ts";
import { createEngine, findEndAddress } from "../src/sandbox/engine/engine.ts";
import { madeFile } from "../src/sandbox/engine/made-files.ts";
import { takeSnapshot } from "../src/sandbox/engine/snapshot.ts";
import { compiledEngine, programBytes } from "../src/sandbox/engine/wasm.ts";
import { guestScript } from "../src/sandbox/guest/bundle.ts";
import { type Platform, platformOf, platforms } from "../src/setup/upgrade/platforms.ts";
import { entries, madeScripts, sdkShims, sourceOnly } from "./entries.ts";

const root = join(import.meta.dir, "..");
const { values } = parseArgs({
  options: {
    target: { type: "string" },
    outfile: { type: "string", default: join(root, "dist", "claudikins") },
    runtime: { type: "string" },
    released: { type: "boolean", default: false },
    version: { type: "string", default: manifest.version },
    format: { type: "string", default: String(programFormat) },
  },
});
const outfile = resolve(values.outfile);
const runtime = values.runtime && resolve(values.runtime);
const platform = platformFor(values.target);
const builtIn: BuiltIn = {
  version: values.version,
  platform: platform.name,
  programFormat: Number(values.format),
  checkout: values.released ? null : root,
};
mkdirSync(dirname(outfile), { recursive: true });

function platformFor(wanted: string | undefined): Platform {
  const found = wanted === undefined ? platformOf(process) : platforms.find(({ target }) => target === wanted);
  if (!found) throw new Error(`claudikins is not released for ${wanted ?? `${process.platform}-${process.arch}`}`);
  return found;
}

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

/**
 * The runtime writes its bytecode in the order of addresses. With addresses that are the same in each process, two builds of a commit give
 * the same bytes. Some containers forbid that; the executable then differs in its bytecode only.
 */
function buildWithFixedAddresses(): boolean {
  const fixed = ["setarch", "--addr-no-randomize"];
  if (process.platform !== "linux" || process.env["CLAUDIKINS_FIXED_ADDRESSES"] || !Bun.which("setarch")) return false;
  if (!Bun.spawnSync([...fixed, "true"]).success) return false;
  const { exitCode } = Bun.spawnSync([...fixed, process.execPath, ...process.execArgv, ...process.argv.slice(1)], {
    env: { ...process.env, CLAUDIKINS_FIXED_ADDRESSES: "1" },
    stdio: ["inherit", "inherit", "inherit"],
  });
  process.exitCode = exitCode;
  return true;
}

/** The files that the build generates are in the executable instead of source files. `besides` is a folder on the disk of the outfile. */
async function build(besides: string): Promise<void> {
  const program = await programBytes();
  const engine = await compiledEngine();
  const endAddress = await findEndAddress(engine);
  const guest = guestScript();
  const snapshot = takeSnapshot(await createEngine(engine, 64 * 1_048_576), endAddress, guest);
  keep(madeFile("engine"), program);
  keep(
    madeFile("guest", () => guest),
    snapshot,
  );
  // The names of parts depend on the paths of their files below the working directory.
  process.chdir(root);
  // The executable contains the name that Bun gives it.
  const built = join(besides, platform.executable);
  await Bun.build({
    entrypoints: entries,
    // Workers are started by their paths in it.
    root: join(root, "src"),
    compile: {
      outfile: built,
      // Files in the working directory must not run or change the program: see src/config/environment.ts.
      autoloadBunfig: false,
      autoloadDotenv: false,
      autoloadTsconfig: false,
      autoloadPackageJson: false,
      ...(values.target ? { target: platform.target } : {}),
      ...(runtime ? { executablePath: runtime } : {}),
    },
    // The program must not depend on the environment of the build.
    env: "disable",
    define: { "process.env.NODE_ENV": '"production"', BUILT_IN: JSON.stringify(builtIn), __dirname: '""' },
    // The hash that Bun adds to a name differs from folder to folder.
    naming: { asset: "[name].[ext]" },
    minify: true,
    // A command reads only the parts that it loads.
    splitting: true,
    bytecode: true,
    format: "esm",
    plugins: [
      {
        name: "made-files",
        setup(build) {
          const namespace = "made";
          build.onResolve({ filter: /\/guest-snapshot\.bin$/ }, () => ({ path: "guest.snapshot", namespace }));
          build.onResolve({ filter: /^@jitl\/.*\/wasm$/ }, () => ({ path: "engine.wasm", namespace }));
          build.onLoad({ filter: /./, namespace }, ({ path }) => ({
            contents: path === "engine.wasm" ? program : snapshot,
            loader: "file",
          }));
        },
      },
      madeScripts,
      sdkShims,
      sourceOnly,
    ],
  });
  renameSync(built, outfile);
}

if (!values.released || !buildWithFixedAddresses()) {
  const folder = mkdtempSync(`${outfile}.made-`);
  try {
    await build(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
