/**
 * Makes everything that a release consists of: `bun scripts/release.ts [build|pack] [--platforms linux-x64,host] [--outdir dist]
 * [--version 1.2.3]`.
 *
 * `build` writes the executables to `executables/<platform>`, and `pack` makes the files of the release and of npm from them. macOS has
 * to sign its executables in between, so the release workflow does the steps on different machines. Without a step, both are done.
 */
import { chmodSync, mkdirSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import manifest from "../package.json" with { type: "json" };
import { type Platform, platformOf, platforms } from "../src/setup/upgrade/platforms.ts";
import { bundleName, bundleOf, hasBundle } from "./plugins/bundle.ts";
import { geminiArchiveName, pluginFiles } from "./plugins/plugin-files.ts";
import { archive } from "./release/archive.ts";
import { licensesFile, thirdPartyLicenses } from "./release/licenses.ts";
import { launcherPackage, type NpmPackage, platformPackage } from "./release/npm-packages.ts";
import { runtimeFor } from "./release/runtimes.ts";
import { sbomOf } from "./release/sbom.ts";

const root = join(import.meta.dir, "..");
const steps = ["build", "pack"];

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    platforms: { type: "string", default: platforms.map(({ name }) => name).join(",") },
    outdir: { type: "string", default: join(root, "dist") },
    version: { type: "string", default: manifest.version },
  },
});
const outdir = resolve(values.outdir);
const executables = join(outdir, "executables");

const unknown = positionals.filter((step) => !steps.includes(step));
const chosen = values.platforms.split(",").map((name) => ({ name, platform: platformNamed(name) }));
const missing = chosen.filter(({ platform }) => !platform).map(({ name }) => name);
if (unknown.length > 0) {
  refuse(`unknown step ${unknown.join(", ")}`, `the steps are ${steps.join(" and ")}`);
} else if (missing.length > 0) {
  refuse(
    `unknown platform ${missing.join(", ")}`,
    `there are ${platforms.map(({ name }) => name).join(", ")} and host`,
  );
} else {
  const has = (step: string) => positionals.length === 0 || positionals.includes(step);
  const wanted = chosen.flatMap(({ platform }) => platform ?? []);
  if (has("build")) for (const platform of wanted) await build(platform);
  if (has("pack")) await pack(wanted);
}

function refuse(message: string, hint: string): void {
  console.error(`error: ${message}\n\nhint: ${hint}`);
  process.exitCode = 2;
}

function platformNamed(name: string): Platform | undefined {
  return name === "host" ? platformOf(process) : platforms.find((platform) => platform.name === name);
}

function executableOf({ name, executable }: Platform): string {
  return join(executables, name, executable);
}

async function build(platform: Platform): Promise<void> {
  const file = executableOf(platform);
  const runtime = await runtimeFor(platform);
  const options = ["--released", "--version", values.version, "--target", platform.target, "--runtime", runtime];
  run(process.execPath, "--no-env-file", join(root, "scripts", "build.ts"), ...options, "--outfile", file);
  if (platform.os === "darwin") sign(file);
}

function sign(file: string): void {
  if (process.platform === "darwin") run("sh", join(root, "scripts", "release", "sign.sh"), file);
  else console.error(`warning: ${file} is not signed; run scripts/release/sign.sh on macOS`);
}

/** Everything in `release` is uploaded, and everything in `npm` is published, so files of an earlier run must go. */
async function pack(wanted: Platform[]): Promise<void> {
  const [release, npm] = [join(outdir, "release"), join(outdir, "npm")];
  for (const folder of [release, npm]) rmSync(folder, { recursive: true, force: true });
  mkdirSync(npm, { recursive: true });
  const license = readFileSync(join(root, "LICENSE"));
  const licenses = await thirdPartyLicenses();
  for (const platform of wanted) {
    const content = await Bun.file(executableOf(platform)).bytes();
    const files = [
      { path: platform.executable, content, isExecutable: true },
      { path: "LICENSE", content: license },
      { path: licensesFile, content: licenses },
    ];
    await write(join(release, `claudikins-${platform.name}.tar.gz`), await archive(files));
    await writePackage(npm, await platformPackage(platform, values.version, content, licenses));
    if (hasBundle(platform)) {
      await write(join(release, bundleName(platform)), bundleOf(platform, content, values.version));
    }
  }
  for (const os of new Set(platforms.map((platform) => platform.os))) {
    await write(join(release, geminiArchiveName(os)), await archive(pluginFiles()));
  }
  await writePackage(npm, await launcherPackage(values.version));
  await write(join(release, "claudikins.cdx.json"), await sbomOf(values.version));
  await write(join(release, "release.json"), `${JSON.stringify({ version: values.version })}\n`);
  await write(join(release, "install.sh"), readFileSync(join(root, "install.sh")));
  chmodSync(join(release, "install.sh"), 0o755);
  await write(join(release, "SHA256SUMS"), sumsOf(release));
}

/** As `sha256sum` prints them. */
function sumsOf(folder: string): string {
  const lineOf = (name: string) =>
    `${new Bun.CryptoHasher("sha256").update(readFileSync(join(folder, name))).digest("hex")}  ${name}\n`;
  return readdirSync(folder).sort().map(lineOf).join("");
}

async function writePackage(folder: string, { file, content }: NpmPackage): Promise<void> {
  await write(join(folder, file), content);
}

async function write(path: string, content: Uint8Array<ArrayBuffer> | string): Promise<void> {
  const bytes = await Bun.write(path, content);
  console.log(`${(bytes / 1e6).toFixed(1).padStart(6)} MB  ${path}`);
}

function run(...command: string[]): void {
  const { exitCode } = Bun.spawnSync(command, { stdio: ["ignore", "inherit", "inherit"] });
  if (exitCode !== 0) throw new Error(`${command.join(" ")} failed with exit code ${exitCode}`);
}
