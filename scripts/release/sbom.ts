/** Lists what the executable contains, as a CycloneDX document: Bun, QuickJS and the packages that are really bundled. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Contrib, Enums, Models, Serialize, Spec } from "@cyclonedx/cyclonedx-library";
import { PackageURL } from "packageurl-js";
import { guestParts } from "../../src/sandbox/guest/parts.ts";
import { entries, sdkShims } from "../entries.ts";
import { lockedPackage } from "./runtimes.ts";

const root = join(import.meta.dir, "..", "..");
const engine = "@jitl/quickjs-wasmfile-release-sync";

/** Scripts that are bundled into the program as texts: for Node, and for the sandbox and the browser. */
const scriptEntries = {
  bun: ["cli/bridge.ts"],
  browser: [
    ...guestParts.map((part) => `sandbox/guest/${part}`),
    "page/browser/main.tsx",
    "page/browser/editor/script.ts",
    "page/browser/execution/script.ts",
  ],
};

export interface Manifest {
  name: string;
  version: string;
  license?: string;
  homepage?: string;
  dependencies?: Record<string, string>;
}

/** Returns the JSON text. It depends on the commit only: it has neither a time nor a serial number. */
export async function sbomOf(version: string): Promise<string> {
  const own = componentOf({ ...manifestAt(root), version }, Enums.ComponentType.Application);
  const bom = new Models.Bom({ metadata: new Models.Metadata({ component: own }) });
  const manifests = (await bundledPackages()).map((path) => manifestAt(path));
  const components = new Map(manifests.map((manifest) => [manifest.name, componentOf(manifest)]));
  for (const { name, dependencies } of manifests) {
    for (const dependency of Object.keys(dependencies ?? {})) link(components.get(name), components.get(dependency));
  }
  for (const name of Object.keys(manifestAt(root).dependencies ?? {})) link(own, components.get(name));

  const others = [bun(), quickjs()] as const;
  link(own, others[0]);
  link(components.get(engine), others[1]);
  for (const component of [...components.values(), ...others]) bom.components.add(component);
  const serializer = new Serialize.JsonSerializer(new Serialize.JSON.Normalize.Factory(Spec.Spec1dot6));
  return `${serializer.serialize(bom, { sortLists: true, space: 2 })}\n`;
}

function link(from: Models.Component | undefined, to: Models.Component | undefined): void {
  if (from && to) from.dependencies.add(to.bomRef);
}

/** The folders of all packages that have at least one file in the executable. */
export async function bundledPackages(): Promise<string[]> {
  const made: Bun.BunPlugin = {
    name: "made-files",
    setup(build) {
      build.onResolve({ filter: /\/guest-snapshot\.bin$/ }, ({ path }) => ({ path, external: true }));
    },
  };
  const usual = { metafile: true, minify: true, define: { "process.env.NODE_ENV": '"production"' } };
  const builds = await Promise.all([
    Bun.build({
      ...usual,
      entrypoints: [...entries, ...below(scriptEntries.bun)],
      target: "bun",
      // Without `sourceOnly`: what makes the engine during the build is listed too.
      plugins: [made, sdkShims],
    }),
    Bun.build({ ...usual, entrypoints: below(scriptEntries.browser), target: "browser" }),
  ]);
  const inputs = builds.flatMap(({ metafile }) => Object.keys(metafile?.inputs ?? {}));
  const found = inputs.flatMap((path) => /^.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(path)?.[0] ?? []);
  return [...new Set(found)].sort().map((path) => join(process.cwd(), path));
}

function below(files: readonly string[]): string[] {
  return files.map((file) => join(root, "src", file));
}

export function manifestAt(folder: string): Manifest {
  return JSON.parse(readFileSync(join(folder, "package.json"), "utf8")) as Manifest;
}

const builder = new Contrib.FromNodePackageJson.Builders.ComponentBuilder(
  new Contrib.FromNodePackageJson.Factories.ExternalReferenceFactory(),
  new Contrib.License.Factories.LicenseFactory(() => {}),
);

function componentOf(manifest: Manifest, type = Enums.ComponentType.Library): Models.Component {
  const component = builder.makeComponent(manifest as never, type);
  if (!component) throw new Error(`package.json of ${manifest.name} is incomplete`);
  const { group, name } = component;
  component.purl = new PackageURL("npm", group, name, manifest.version, undefined, undefined).toString();
  component.bomRef.value = component.purl;
  return component;
}

function bun(): Models.Component {
  return fromGithub("oven-sh/bun", lockedPackage("bun").version, (version) => `bun-v${version}`);
}

function quickjs(): Models.Component {
  const { version, commit } = quickjsVersion();
  return fromGithub("bellard/quickjs", version, () => commit);
}

/** The package of the engine says in its README which version of QuickJS it contains. */
export function quickjsVersion(): { version: string; commit: string } {
  const readme = readFileSync(join(root, "node_modules", engine, "README.md"), "utf8");
  const [, version = "", commit = ""] = /\[([-\w.]+)\+\w+\]\(https:\/\/[^)]*\/commit\/(\w{40})\)/.exec(readme) ?? [];
  if (!commit) throw new Error(`${engine} does not say which version of QuickJS it contains`);
  return { version, commit };
}

function fromGithub(repository: string, version: string, tagOf: (version: string) => string): Models.Component {
  const [owner, name = ""] = repository.split("/");
  const purl = new PackageURL("github", owner, name, tagOf(version), undefined, undefined).toString();
  const component = new Models.Component(Enums.ComponentType.Framework, name, { version, purl, bomRef: purl });
  component.licenses.add(new Models.SpdxLicense("MIT"));
  component.externalReferences.add(
    new Models.ExternalReference(`https://github.com/${repository}`, Enums.ExternalReferenceType.VCS),
  );
  return component;
}
