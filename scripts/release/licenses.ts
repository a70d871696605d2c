/** Collects the licences of everything that the executable contains. They accompany each copy of it, as they demand. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { lockedPackage } from "./runtimes.ts";
import { bundledPackages, type Manifest, manifestAt, quickjsVersion } from "./sbom.ts";

/** The name of the file in archives and packages. */
export const licensesFile = "THIRD-PARTY-LICENSES";

export async function thirdPartyLicenses(): Promise<string> {
  const packages = (await bundledPackages()).map((folder) => ({ folder, manifest: manifestAt(folder) }));
  const sorted = packages.toSorted((a, b) => (a.manifest.name < b.manifest.name ? -1 : 1));
  const { version, commit } = quickjsVersion();
  return [
    "claudikins contains the following software.",
    section(
      `Bun ${lockedPackage("bun").version}`,
      `https://github.com/oven-sh/bun/blob/bun-v${lockedPackage("bun").version}/LICENSE.md`,
    ),
    section(`QuickJS ${version}`, `https://github.com/bellard/quickjs/blob/${commit}/LICENSE`),
    ...sorted.map(({ folder, manifest }) => section(`${manifest.name} ${manifest.version}`, textOf(folder, manifest))),
  ].join("\n\n");
}

function section(title: string, text: string): string {
  return `${"-".repeat(80)}\n${title}\n\n${text.replaceAll("\r\n", "\n").trim()}\n`;
}

function textOf(folder: string, { license, homepage }: Manifest): string {
  const files = readdirSync(folder)
    .filter((name) => /^(?:licen[cs]e|notice|copying)/i.test(name))
    .sort();
  if (files.length > 0) return files.map((name) => readFileSync(join(folder, name), "utf8").trim()).join("\n\n");
  return [`License: ${license}`, ...(homepage ? [homepage] : [])].join("\n");
}
