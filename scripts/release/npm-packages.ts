/** Makes the packages for npm: one for each platform with its executable, and `claudikins` with the launcher that finds it. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import manifest from "../../package.json" with { type: "json" };
import { type Platform, platforms } from "../../src/setup/upgrade/platforms.ts";
import { registryName } from "../plugins/about.ts";
import { type ArchivedFile, archive } from "./archive.ts";
import { licensesFile } from "./licenses.ts";

const root = join(import.meta.dir, "..", "..");

export interface NpmPackage {
  name: string;
  /** As `npm pack` would call it. */
  file: string;
  content: Uint8Array<ArrayBuffer>;
}

export function packageName({ name }: Platform): string {
  return `@claudikins/${name}`;
}

const { description, license, repository, bugs, homepage, keywords } = manifest;

const common = { license, repository, bugs, homepage, engines: { node: ">=18" } };

/** `licenses` are those of the software in the executable. */
export function platformPackage(
  platform: Platform,
  version: string,
  executable: Uint8Array,
  licenses: string,
): Promise<NpmPackage> {
  const { name, os, cpu, libc } = platform;
  const fields = {
    name: packageName(platform),
    version,
    description: `The executable of claudikins for ${name}.`,
    ...common,
    os: [os],
    cpu: [cpu],
    ...(libc ? { libc: [libc] } : {}),
    // Yarn can keep packages in archives, where no executable can run.
    preferUnplugged: true,
  };
  const readme = `# ${fields.name}

The executable of [claudikins](https://www.npmjs.com/package/claudikins) for ${name}. Install \`claudikins\` instead, which depends on this
package.
`;
  return npmPackage(fields, readme, [
    { path: `bin/${platform.executable}`, content: executable, isExecutable: true },
    { path: licensesFile, content: licenses },
  ]);
}

export function launcherPackage(version: string): Promise<NpmPackage> {
  const fields = {
    name: "claudikins",
    version,
    description,
    keywords,
    ...common,
    mcpName: registryName,
    bin: { claudikins: "bin/claudikins.cjs" },
    optionalDependencies: Object.fromEntries(platforms.map((platform) => [packageName(platform), version])),
  };
  const from = join(import.meta.dir, "launcher");
  const readme = readFileSync(join(from, "README.md"), "utf8");
  const content = readFileSync(join(from, "claudikins.cjs"));
  return npmPackage(fields, readme, [{ path: "bin/claudikins.cjs", content, isExecutable: true }]);
}

/** The same bytes as long as the files are the same, which `npm pack` does not promise between its versions. */
async function npmPackage(
  fields: { name: string; version: string },
  readme: string,
  others: ArchivedFile[],
): Promise<NpmPackage> {
  const files: ArchivedFile[] = [
    { path: "package.json", content: `${JSON.stringify(fields, null, 2)}\n` },
    { path: "README.md", content: readme },
    { path: "LICENSE", content: readFileSync(join(root, "LICENSE")) },
    ...others,
  ];
  const content = await archive(files.map((file) => ({ ...file, path: `package/${file.path}` })));
  const file = `${fields.name.replace("@", "").replace("/", "-")}-${fields.version}.tgz`;
  return { name: fields.name, file, content };
}
