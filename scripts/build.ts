/** Builds the executable: `bun run build [--target bun-linux-arm64] [--outfile path]`. */
import { mkdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { parseArgs } from "node:util";

const root = join(import.meta.dir, "..");
const { values } = parseArgs({
  options: {
    target: { type: "string" },
    outfile: { type: "string", default: join(root, "dist", "claudikins") },
  },
});
const outfile = values.outfile;
mkdirSync(dirname(outfile), { recursive: true });

// The worker is an entry of its own: the executable starts it by its path.
const build = Bun.spawnSync(
  [
    process.execPath,
    "build",
    "--compile",
    "--minify",
    "--bytecode",
    "--format=esm",
    ...(values.target ? [`--target=${values.target}`] : []),
    "--outfile",
    outfile,
    join(root, "src", "main.ts"),
    join(root, "src", "sandbox", "worker.ts"),
  ],
  { cwd: root, stdio: ["ignore", "inherit", "inherit"] },
);
if (!build.success) process.exitCode = build.exitCode || 1;
