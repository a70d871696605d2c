/**
 * Publishes the packages of a release on npm: `bun scripts/release/publish-npm.ts [--folder dist/npm] [--dry-run]`.
 *
 * It can be run again after a failure: packages that are already published are left as they are. The launcher is last, because npm
 * silently leaves out optional dependencies that it cannot find.
 */
import { readdirSync } from "node:fs";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";

interface Tarball {
  file: string;
  name: string;
  version: string;
  /** As the registry states it: `sha512-` and base64. */
  integrity: string;
  optionalDependencies: Record<string, string>;
}

const { values } = parseArgs({
  options: {
    folder: { type: "string", default: join(import.meta.dir, "..", "..", "dist", "npm") },
    "dry-run": { type: "boolean", default: false },
  },
});

/** The registry needs a moment until it serves what was published. */
const waitMs = 300_000;
const pollMs = 5_000;

const registry = Bun.spawnSync(["npm", "config", "get", "registry"]).stdout.toString().trim();
const tarballs = await Promise.all(
  readdirSync(resolve(values.folder)).map((name) => readTarball(join(resolve(values.folder), name))),
);
const launchers = tarballs.filter(({ optionalDependencies }) => Object.keys(optionalDependencies).length > 0);
await publishAll(tarballs.filter((tarball) => !launchers.includes(tarball)));
if (!values["dry-run"]) await Promise.all(launchers.map(({ optionalDependencies }) => waitFor(optionalDependencies)));
await publishAll(launchers);

async function readTarball(file: string): Promise<Tarball> {
  const content = await Bun.file(file).bytes();
  const manifest = (await new Bun.Archive(content).files()).get("package/package.json");
  if (!manifest) throw new Error(`${file} is not an npm package`);
  const { name, version, optionalDependencies = {} } = (await manifest.json()) as Tarball;
  const integrity = `sha512-${new Bun.CryptoHasher("sha512").update(content).digest("base64")}`;
  return { file, name, version, integrity, optionalDependencies };
}

async function publishAll(some: Tarball[]): Promise<void> {
  const published = await Promise.all(some.map(({ name, version }) => publishedIntegrity(name, version)));
  for (const [place, tarball] of some.entries()) publish(tarball, published[place]);
}

function publish({ file, name, version, integrity }: Tarball, published: string | undefined): void {
  if (published !== undefined && published !== integrity) {
    throw new Error(`${name}@${version} is already published with other content; release another version`);
  }
  if (published !== undefined) {
    console.log(`already published: ${name}@${version}`);
    return;
  }
  // Otherwise a pre-release would become the version that people get by default.
  const tag = version.includes("-") ? "next" : "latest";
  const provenance = process.env["GITHUB_ACTIONS"] === "true" && !values["dry-run"] ? ["--provenance"] : [];
  const dryRun = values["dry-run"] ? ["--dry-run"] : [];
  const options = ["--access", "public", "--tag", tag, "--loglevel", "error", ...provenance, ...dryRun];
  const { exitCode } = Bun.spawnSync(["npm", "publish", file, ...options], { stdio: ["ignore", "ignore", "inherit"] });
  if (exitCode !== 0) throw new Error(`npm cannot publish ${name}@${version}`);
  console.log(`${values["dry-run"] ? "would publish" : "published"}: ${name}@${version}`);
}

/** Undefined if the version is not published. */
async function publishedIntegrity(name: string, version: string): Promise<string | undefined> {
  const address = new URL(name.replace("/", "%2f"), registry);
  // Caches may still have an answer from before the package was published.
  const response = await fetch(address, { headers: { "Cache-Control": "no-cache" } });
  if (response.status === 404) return undefined;
  if (!response.ok) throw new Error(`${address} answers with status ${response.status}`);
  const { versions } = (await response.json()) as { versions: Record<string, { dist: { integrity: string } }> };
  return versions[version]?.dist.integrity;
}

async function waitFor(packages: Record<string, string>): Promise<void> {
  const until = Date.now() + waitMs;
  const wait = async ([name, version]: [string, string]) => {
    while ((await publishedIntegrity(name, version)) === undefined) {
      if (Date.now() > until) throw new Error(`${name}@${version} is not published, and claudikins depends on it`);
      await Bun.sleep(pollMs);
    }
  };
  await Promise.all(Object.entries(packages).map(wait));
}
