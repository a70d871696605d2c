/** Builds the files that install.sh downloads: `bun scripts/release.ts [--targets bun-linux-x64,host] [--outdir dist/release]`. */
import { mkdirSync, readdirSync, rmSync } from "node:fs";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";

const root = join(import.meta.dir, "..");
const allTargets = [
  "bun-linux-x64",
  "bun-linux-arm64",
  "bun-linux-x64-musl",
  "bun-linux-arm64-musl",
  "bun-darwin-x64",
  "bun-darwin-arm64",
];

const { values } = parseArgs({
  options: {
    targets: { type: "string", default: allTargets.join(",") },
    outdir: { type: "string", default: join(root, "dist", "release") },
  },
});
const targets = values.targets.split(",");
const unknown = targets.filter((target) => target !== "host" && !allTargets.includes(target));
if (unknown.length > 0) {
  console.error(`error: unknown target ${unknown.join(", ")}\n\nhint: there are ${allTargets.join(", ")} and host`);
  process.exitCode = 2;
} else {
  await release(targets, resolve(values.outdir));
}

/** Writes `claudikins-<os>-<arch>[-musl].gz` for each target, and SHA256SUMS. Throws at the first failure. */
async function release(targets: string[], outdir: string): Promise<void> {
  mkdirSync(outdir, { recursive: true });
  // Everything in this folder is uploaded, so files of an earlier run must go.
  for (const file of readdirSync(outdir)) {
    if (file.startsWith("claudikins-") || file === "SHA256SUMS") rmSync(join(outdir, file));
  }
  const sums: string[] = [];
  for (const target of targets) {
    const name = `claudikins-${(target === "host" ? hostTarget() : target).replace("bun-", "")}`;
    const program = join(outdir, name);
    const chosen = target === "host" ? [] : ["--target", target];
    run(process.execPath, join(root, "scripts", "build.ts"), ...chosen, "--outfile", program);
    if (name.includes("-darwin-")) sign(program);
    const packed = Bun.gzipSync(await Bun.file(program).bytes());
    rmSync(program);
    await Bun.write(join(outdir, `${name}.gz`), packed);
    sums.push(`${new Bun.CryptoHasher("sha256").update(packed).digest("hex")}  ${name}.gz\n`);
    console.log(`${name}.gz  ${(packed.length / 1e6).toFixed(1)} MB`);
  }
  await Bun.write(join(outdir, "SHA256SUMS"), sums.sort().join(""));
}

/**
 * Bun's own signature of a cross-compiled program was invalid in several versions (oven-sh/bun#32159, #39758), and
 * macOS kills such a program at its start. The program is signed again if possible; otherwise a warning is printed.
 */
function sign(program: string): void {
  if (process.platform === "darwin") run("codesign", "--force", "--sign", "-", program);
  else console.error(`warning: ${program} is not signed; only macOS can do that`);
}

function hostTarget(): string {
  const report = process.report.getReport() as { header?: { glibcVersionRuntime?: string } };
  const musl = process.platform === "linux" && report.header?.glibcVersionRuntime === undefined;
  return `bun-${process.platform}-${process.arch}${musl ? "-musl" : ""}`;
}

function run(...command: string[]): void {
  const { exitCode } = Bun.spawnSync(command, { stdio: ["ignore", "inherit", "inherit"] });
  if (exitCode !== 0) throw new Error(`${command.join(" ")} failed with exit code ${exitCode}`);
}
