/** The parts of a release: its notes, archives, packages for npm and list of contents. */
import { describe, expect, test } from "bun:test";
import { chmodSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { Spec, Validation } from "@cyclonedx/cyclonedx-library";
import manifest from "../../package.json" with { type: "json" };
import { archive } from "../../scripts/release/archive.ts";
import { thirdPartyLicenses } from "../../scripts/release/licenses.ts";
import { notesOf } from "../../scripts/release/notes.ts";
import { launcherPackage, packageName, platformPackage } from "../../scripts/release/npm-packages.ts";
import { lockedPackage, lockedRuntime } from "../../scripts/release/runtimes.ts";
import { sbomOf } from "../../scripts/release/sbom.ts";
import { platforms } from "../../src/setup/upgrade/platforms.ts";
import { root } from "../support/claudikins.ts";
import { runProgram } from "../support/process.ts";
import { temporaryFolder } from "../support/temporary.ts";

/** What `tar` lists, without users and with the file modes. */
function listed(content: Uint8Array<ArrayBuffer>): string[] {
  const { stdout } = Bun.spawnSync(["tar", "--utc", "--full-time", "-tvzf", "-"], { stdin: content });
  return stdout
    .toString()
    .trimEnd()
    .split("\n")
    .map((line) => line.replaceAll(/ +/g, " "));
}

describe("the notes of a release", () => {
  const changelog = `# Changelog

## Unreleased

## [0.2.0] - 2026-12-01

### Added
- A thing.

### Changed
- Another thing.

## 0.1.10

### Added

## 0.1.1
- The first.
`;

  test.each([
    ["0.2.0", "### Added\n- A thing.\n\n### Changed\n- Another thing.\n"],
    ["0.1.1", "- The first.\n"],
  ])("for %s are the section of the changelog", (version, notes) => {
    expect(notesOf(changelog, version)).toBe(notes);
  });

  test.each([
    ["0.1", 'CHANGELOG.md has no section "## 0.1"'],
    ["0.1.10", 'the section "## 0.1.10" of CHANGELOG.md is empty'],
    ["Unreleased", 'the section "## Unreleased" of CHANGELOG.md is empty'],
  ])("for %s are an error if there are none", (version, message) => {
    expect(() => notesOf(changelog, version)).toThrow(message);
  });

  test("cannot be printed if they are missing, and the error has a next step", async () => {
    const script = join(root, "scripts", "release", "notes.ts");
    expect(await runProgram([process.execPath, script, "0.0.0"])).toEqual({
      exitCode: 1,
      stdout: "",
      stderr:
        'error: CHANGELOG.md has no section "## 0.0.0"\n\nhint: Rename the section "Unreleased" to the version and the date.\n',
    });
  });
});

describe("an archive", () => {
  const files = [
    { path: "b", content: "program", isExecutable: true },
    { path: "a/long", content: Buffer.alloc(70_000, "x") },
  ];

  test("has the files in order, with modes, and without times and users", async () => {
    expect(listed(await archive(files))).toEqual([
      "-rw-r--r-- 0/0 70000 1985-10-26 08:15:00 a/long",
      "-rwxr-xr-x 0/0 7 1985-10-26 08:15:00 b",
    ]);
  });

  test("has the same bytes for the same files", async () => {
    const content = await archive(files);
    expect(Buffer.compare(content, await archive(files.toReversed()))).toBe(0);
    // No name, no time and no system: RFC 1952, section 2.3.
    expect([...content.slice(0, 10)]).toEqual([31, 139, 8, 0, 0, 0, 0, 0, 0, 255]);
  });
});

describe("the packages for npm", () => {
  const manifestOf = async ({ content }: { content: Uint8Array<ArrayBuffer> }) =>
    (await (await new Bun.Archive(content).files()).get("package/package.json")!.json()) as Record<string, unknown>;

  test("depend on each other by exactly the same version, and run no scripts", async () => {
    const launcher = await launcherPackage("1.2.3");
    expect(launcher.file).toBe("claudikins-1.2.3.tgz");
    const fields = await manifestOf(launcher);
    expect(fields).toMatchObject({
      name: "claudikins",
      version: "1.2.3",
      mcpName: "io.github.claudikins/claudikins",
      license: "MIT",
      repository: { url: "git+https://github.com/claudikins/claudikins.git" },
      engines: { node: ">=18" },
      optionalDependencies: Object.fromEntries(platforms.map((platform) => [packageName(platform), "1.2.3"])),
    });
    for (const field of ["scripts", "dependencies", "devDependencies", "private"])
      expect(fields[field]).toBeUndefined();
    expect(listed(launcher.content).map((line) => line.split(" ").at(-1))).toEqual([
      "package/LICENSE",
      "package/README.md",
      "package/bin/claudikins.cjs",
      "package/package.json",
    ]);
  });

  test.each(platforms)("$name has its executable, and is only installed there", async (platform) => {
    const made = await platformPackage(platform, "1.2.3", Buffer.from("executable"), "licences");
    expect(made.file).toBe(`claudikins-${platform.name}-1.2.3.tgz`);
    const { os, cpu, libc } = platform;
    expect(await manifestOf(made)).toEqual({
      name: `@claudikins/${platform.name}`,
      version: "1.2.3",
      description: expect.any(String),
      license: "MIT",
      repository: { type: "git", url: "git+https://github.com/claudikins/claudikins.git" },
      bugs: expect.any(String),
      homepage: expect.any(String),
      engines: { node: ">=18" },
      os: [os],
      cpu: [cpu],
      ...(libc ? { libc: [libc] } : {}),
      preferUnplugged: true,
    });
    expect(listed(made.content)).toContain("-rw-r--r-- 0/0 8 1985-10-26 08:15:00 package/THIRD-PARTY-LICENSES");
    expect(listed(made.content)).toContain(`-rwxr-xr-x 0/0 10 1985-10-26 08:15:00 package/bin/${platform.executable}`);
  });

  test("are made from the checkout, whose own package cannot be published by mistake", () => {
    expect(manifest.private).toBe(true);
  });

  test("know the same platforms as the launcher", () => {
    const launcher = readFileSync(join(root, "scripts", "release", "launcher", "claudikins.cjs"), "utf8");
    const [, list = ""] = /^const platforms = \[([^\]]+)\]/m.exec(launcher) ?? [];
    expect([...list.matchAll(/"([^"]+)"/g)].map(([, name]) => name!)).toEqual(platforms.map(({ name }) => name));
  });
});

test.each(platforms)("bun.lock has the checksum of the runtime for $name", (platform) => {
  const { version, integrity } = lockedRuntime(platform);
  expect(version).toBe(manifest.devDependencies.bun);
  expect(integrity).toMatch(/^sha512-[\w+/]{86}==$/);
});

test("the list of contents is a valid CycloneDX document with Bun, QuickJS and every dependency", async () => {
  const text = await sbomOf("1.2.3");
  expect(await new Validation.JsonStrictValidator(Spec.Version.v1dot6).validate(text)).toBeNull();
  const { metadata, components, dependencies } = JSON.parse(text) as {
    metadata: { component: { purl: string } };
    components: { purl: string; licenses: unknown[] }[];
    dependencies: { ref: string; dependsOn?: string[] }[];
  };
  expect(metadata.component.purl).toBe("pkg:npm/claudikins@1.2.3");
  const purls = components.map(({ purl }) => purl);
  const direct = Object.entries(manifest.dependencies).map(
    ([name, version]) => `pkg:npm/${name.replace("@", "%40")}@${version}`,
  );
  const bun = `pkg:github/oven-sh/bun@bun-v${lockedPackage("bun").version}`;
  expect(purls).toEqual(expect.arrayContaining([...direct, bun]));
  expect(purls).toContainEqual(expect.stringMatching(/^pkg:github\/bellard\/quickjs@[0-9a-f]{40}$/));
  expect(dependencies.find(({ ref }) => ref === metadata.component.purl)?.dependsOn?.toSorted()).toEqual(
    [bun, ...direct].sort(),
  );
  // Packages that only tests and the build use are not in it.
  expect(purls.filter((purl) => /typescript|verdaccio|biome/.test(purl))).toEqual([]);
  for (const { purl, licenses } of components)
    expect({ purl, licenses }).toEqual({ purl, licenses: [expect.anything()] });
  expect(await sbomOf("1.2.3")).toBe(text);
});

test("the licences of Bun, QuickJS and every bundled package accompany the executable", async () => {
  const text = await thirdPartyLicenses();
  const { components } = JSON.parse(await sbomOf("1.2.3")) as {
    components: { group?: string; name: string; version: string }[];
  };
  for (const { group, name, version } of components.filter((each) => !["bun", "quickjs"].includes(each.name))) {
    expect(text).toContain(`\n${group ? `${group}/` : ""}${name} ${version}\n\n`);
  }
  expect(text).toContain(`\nBun ${lockedPackage("bun").version}\n\nhttps://github.com/oven-sh/bun/`);
  expect(text).toMatch(/\nQuickJS [\d-]+\n\nhttps:\/\/github\.com\/bellard\/quickjs\//);
  expect(text).toContain("Apache License");
  expect(await thirdPartyLicenses()).toBe(text);
});

describe("publishing on GitHub", () => {
  const files = "SHA256SUMS claudikins-linux-x64.tar.gz install.sh";

  /** Publishes a release of three files with a gh that answers `release view` like this. Returns the calls of gh. */
  async function publish(view: string, ...args: string[]) {
    using folder = temporaryFolder();
    for (const name of files.split(" ")) folder.write(join("files", name), "");
    const changelog = folder.write(
      "CHANGELOG.md",
      "## Unreleased\n- Soon.\n\n## 1.0.0\n- New.\n\n## 1.0.0-rc.1\n- Try it.\n",
    );
    const calls = folder.write("calls", "");
    chmodSync(folder.write("bin/gh", `#!/bin/sh\necho "$*" >>'${calls}'\n[ "$2" != view ] || ${view}\n`), 0o755);
    const script = join(root, "scripts", "release", "publish-github.ts");
    const options = [...args, "--folder", join(folder.path, "files"), "--changelog", changelog];
    const env = { PATH: `${folder.path}/bin:${process.env["PATH"]}` };
    const ended = await runProgram([process.execPath, script, ...options], { env });
    return { ...ended, calls: readFileSync(calls, "utf8").replaceAll(`${folder.path}/files/`, "") };
  }

  test.each([
    ["v1.0.0", "New.", "--latest"],
    ["v1.0.0-rc.1", "Try it.", "--prerelease"],
  ])("%s uploads all files to a draft first", async (tag, notes, kind) => {
    expect(await publish("exit 1", tag)).toEqual({
      exitCode: 0,
      stdout: `published: ${tag}\n`,
      stderr: "",
      calls: `release view ${tag} --json isDraft
release create ${tag} --draft --verify-tag --title claudikins ${tag.slice(1)} --notes - ${notes}

release upload ${tag} --clobber ${files}
release edit ${tag} --draft=false ${kind}
`,
    });
  });

  test("continues with a draft that an earlier run has left", async () => {
    const { calls } = await publish(`echo '{"isDraft":true}'`, "v1.0.0");
    expect(calls).not.toContain("release create");
    expect(calls).toContain(`release upload v1.0.0 --clobber ${files}\nrelease edit v1.0.0 --draft=false --latest\n`);
  });

  test("changes nothing in a published release", async () => {
    const { stdout, calls } = await publish(`echo '{"isDraft":false}'`, "v1.0.0");
    expect({ stdout, calls }).toEqual({
      stdout: "already published: v1.0.0\n",
      calls: "release view v1.0.0 --json isDraft\n",
    });
  });

  test("needs notes for the version", async () => {
    const { exitCode, stderr, calls } = await publish("exit 1", "v2.0.0");
    expect({ exitCode, calls }).toEqual({ exitCode: 1, calls: "" });
    expect(stderr).toContain('CHANGELOG.md has no section "## 2.0.0"');
  });

  test("is described by a dry run, with the notes of the next version", async () => {
    expect(await publish("exit 1", "v2.0.0", "--dry-run")).toEqual({
      exitCode: 0,
      stdout: "would publish v2.0.0 with 3 files and these notes:\n\n- Soon.\n\n",
      stderr: "",
      calls: "",
    });
  });
});
