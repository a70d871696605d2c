/**
 * A release for this machine, as scripts/release.ts makes it: install.sh installs it from a server, and npm, npx and bunx from a registry,
 * here and in an empty Debian.
 */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import manifest from "../../package.json" with { type: "json" };
import { bundleName, hasBundle } from "../../scripts/plugins/bundle.ts";
import { packageName, platformPackage } from "../../scripts/release/npm-packages.ts";
import { platformOf, platforms } from "../../src/setup/upgrade/platforms.ts";
import { root } from "../support/claudikins.ts";
import { type Ended, runProgram, shellLine } from "../support/process.ts";
import { Container, containerNote } from "./container.ts";
import { Machine, scriptText } from "./harness.ts";
import { Registry } from "./registry.ts";

setDefaultTimeout(120_000);

const { version } = manifest;
const host = platformOf(process)!;
const release = join(root, "scripts", "release.ts");

/** The program that install.sh and these tests run, and what it returns. */
const program = "return (await demo.list_orders()).total";
const total = "2400";

let machine: Machine;
let built: string;
let container: Promise<Container> | undefined;
beforeAll(async () => {
  // It takes as long as everything else, and runs meanwhile.
  container = containerNote === "" ? Container.create("curl") : undefined;
  machine = new Machine("claudikins-release-");
  built = join(machine.root, "dist");
  // Files of an earlier run must not become part of the release.
  machine.write(join(built, "release", "claudikins-plan9-x64.tar.gz"), "");
  machine.write(join(built, "npm", "claudikins-plan9-x64-0.0.1.tgz"), "");
  const { exitCode, stderr } = await runProgram([process.execPath, release, "--platforms", "host", "--outdir", built]);
  if (exitCode !== 0) throw new Error(stderr);
}, 300_000);
afterAll(async () => {
  machine[Symbol.dispose]();
  (await container)?.[Symbol.dispose]();
});

function serveRelease(): Bun.Server<undefined> {
  return Bun.serve({
    port: 0,
    fetch: (request) => new Response(Bun.file(join(built, "release", new URL(request.url).pathname))),
  });
}

describe("a release", () => {
  test("consists of an archive for each platform, the script, an SBOM, its version and the sums of all files", () => {
    const folder = join(built, "release");
    const extensions = ["darwin", "linux", "win32"].map((os) => `${os}.claudikins.tar.gz`);
    const bundles = hasBundle(host) ? [bundleName(host)] : [];
    const files = [
      `claudikins-${host.name}.tar.gz`,
      ...bundles,
      "claudikins.cdx.json",
      "install.sh",
      "release.json",
      ...extensions,
    ].sort();
    expect(readdirSync(folder).sort()).toEqual(["SHA256SUMS", ...files]);
    expect(JSON.parse(readFileSync(join(folder, "release.json"), "utf8"))).toEqual({ version });
    expect(readFileSync(join(folder, "install.sh"), "utf8")).toBe(scriptText);
    const sumOf = (name: string) =>
      new Bun.CryptoHasher("sha256").update(readFileSync(join(folder, name))).digest("hex");
    const sums = files.map((name) => `${sumOf(name)}  ${name}\n`).join("");
    expect(readFileSync(join(folder, "SHA256SUMS"), "utf8")).toBe(sums);
  });

  test("has the licences of everything in the executable beside it", () => {
    const archive = join(built, "release", `claudikins-${host.name}.tar.gz`);
    const { stdout } = Bun.spawnSync(["tar", "-tzf", archive]);
    expect(stdout.toString().trimEnd().split("\n")).toEqual(["LICENSE", "THIRD-PARTY-LICENSES", host.executable]);
  });

  test("has a package for npm for each platform, and the launcher", () => {
    expect(readdirSync(join(built, "npm")).sort()).toEqual([
      `claudikins-${version}.tgz`,
      `claudikins-${host.name}-${version}.tgz`,
    ]);
  });

  test("passes the check that the release workflow runs on each platform", async () => {
    const executable = join(built, "executables", host.name, host.executable);
    const smoke = join(root, "scripts", "release", "smoke.sh");
    const { exitCode, stdout, stderr } = await runProgram(["sh", smoke, executable, version], { cwd: machine.root });
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: expect.not.stringContaining("error") });
    expect(stdout.match(/^ok: /gm)).toHaveLength(3);
  });

  test("can be installed with install.sh, and its demo runs", async () => {
    using server = serveRelease();
    const { code, stdout, stderr } = await machine.run({
      env: { CLAUDIKINS_BASE_URL: `http://127.0.0.1:${server.port}` },
    });
    expect(code, stderr).toBe(0);
    expect(stdout).toContain(`\nclaudikins ${version} is installed: ~/.local/bin/claudikins\n`);
    const [, value = ""] = /\n(\{\n[\s\S]*?\n\})\n/.exec(stdout) ?? [];
    expect(Object.keys(JSON.parse(value))).toEqual(["orders", "best_country", "its_revenue_eur"]);
    expect(stderr).toMatch(/^\[7 calls · /m);
  });
});

test.each([
  ["--platforms", "host,plan9-x64", "unknown platform plan9-x64"],
  ["publish", "--platforms=host", "unknown step publish"],
])("%s %s is refused, and nothing is built", (first, second, message) => {
  const refused = Bun.spawnSync([process.execPath, release, first, second, "--outdir", join(machine.root, "refused")]);
  expect(refused.exitCode).toBe(2);
  expect(refused.stderr.toString()).toStartWith(`error: ${message}\n\nhint: `);
  expect(existsSync(join(machine.root, "refused"))).toBe(false);
});

describe("with a local npm registry", () => {
  let registry: Registry;
  const publish = (home: string, ...options: string[]) =>
    runIn(
      home,
      `${shellLine([process.execPath, join(root, "scripts", "release", "publish-npm.ts"), "--folder", join(built, "npm")])} ${options.join(" ")}`,
    );

  beforeAll(async () => {
    // Without an executable, they show that npm installs only the package of this platform.
    for (const platform of platforms.filter((each) => each !== host)) {
      const { file, content } = await platformPackage(platform, version, Buffer.from("none"), "");
      await Bun.write(join(built, "npm", file), content);
    }
    registry = await Registry.start();
    const { exitCode, stdout, stderr } = await publish("publisher");
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: "" });
    const lines = stdout.trimEnd().split("\n");
    expect(lines.toSorted()).toEqual(
      [...platforms.map(packageName), "claudikins"].map((name) => `published: ${name}@${version}`).sort(),
    );
    expect(lines.at(-1)).toBe(`published: claudikins@${version}`);
  }, 300_000);
  afterAll(() => registry[Symbol.asyncDispose]());

  /** Runs a shell script in a home that has nothing but the address of the registry. */
  function runIn(name: string, script: string, env: Record<string, string> = {}): Promise<Ended> {
    const home = registry.home(name);
    const variables = Object.entries({ ...registry.env(home), ...env }).map(([key, value]) => `${key}=${value}`);
    return runProgram(["env", "-i", ...variables, "sh", "-c", script], { cwd: home });
  }

  test("publishing again changes nothing, and other content of the same version is refused", async () => {
    const launcher = join(built, "npm", `claudikins-${version}.tgz`);
    const content = readFileSync(launcher);
    const again = await publish("publisher");
    expect(again.stdout.trimEnd().split("\n")).toEqual(
      platforms
        .map((_) => expect.stringMatching(/^already published: @claudikins\//))
        .concat([`already published: claudikins@${version}`]),
    );
    await Bun.write(launcher, Bun.gzipSync(Bun.gunzipSync(content), { level: 1 }));
    const changed = await publish("publisher");
    await Bun.write(launcher, content);
    expect(changed.stderr).toContain(`claudikins@${version} is already published with other content`);
    expect(changed.exitCode).toBe(1);
  });

  test("npx claudikins runs a program in an empty home", async () => {
    const { exitCode, stdout, stderr } = await runIn("npx", `npx --yes claudikins exec -e '${program}'`);
    expect({ exitCode, stdout }, stderr).toEqual({ exitCode: 0, stdout: `${total}\n` });
  });

  test("bunx claudikins runs a program in an empty home", async () => {
    const { exitCode, stdout, stderr } = await runIn(
      "bunx",
      `${shellLine([process.execPath])} x claudikins exec -e '${program}'`,
    );
    expect({ exitCode, stdout }, stderr).toEqual({ exitCode: 0, stdout: `${total}\n` });
  });

  test("npm install --global installs the executable of this platform only, and runs no script", async () => {
    const { exitCode, stderr } = await runIn("global", "npm install --global --prefix ./prefix claudikins");
    expect(exitCode, stderr).toBe(0);
    const modules = join(registry.home("global"), "prefix", "lib", "node_modules", "claudikins", "node_modules");
    expect(readdirSync(join(modules, "@claudikins"))).toEqual([host.name]);
    expect(statSync(join(modules, "@claudikins", host.name, "bin", host.executable)).mode & 0o111).toBe(0o111);
    const { stdout } = await runIn("global", "./prefix/bin/claudikins --version");
    expect(stdout).toBe(`${version}\n`);
  });

  test("without its optional dependencies, claudikins names the missing package and the next step", async () => {
    const { exitCode, stderr } = await runIn(
      "omit",
      "npm install --silent --omit=optional claudikins && npx claudikins --version",
    );
    expect({ exitCode, stderr }).toEqual({
      exitCode: 1,
      stderr: `error: the package ${packageName(host)}, which contains the executable, is not installed

hint: Install claudikins again, without --omit=optional or --no-optional: npm install --global --include=optional claudikins
`,
    });
  });

  describe("in an empty Debian", () => {
    test.skipIf(containerNote !== "")(
      `npx claudikins needs only Node.js${containerNote}`,
      async () => {
        const debian = await container!;
        debian.addNode();
        const env = { npm_config_registry: registry.url };
        const script = `! command -v git && ! command -v bun && npx --yes claudikins exec -e '${program}'`;
        const { exitCode, stdout, stderr } = await debian.run("node", script, env);
        expect({ exitCode, stdout }, stderr).toEqual({ exitCode: 0, stdout: `${total}\n` });
        debian.removeNode();
      },
      600_000,
    );

    test.skipIf(containerNote !== "")(
      `curl | sh needs neither Node.js nor git${containerNote}`,
      async () => {
        using server = serveRelease();
        const base = `http://127.0.0.1:${server.port}`;
        const script = `! command -v node && ! command -v git && curl -fsSL ${base}/install.sh | sh && ./.local/bin/claudikins exec -e '${program}'`;
        const { exitCode, stdout, stderr } = await (await container!).run("script", script, {
          CLAUDIKINS_BASE_URL: base,
        });
        expect(exitCode, stderr).toBe(0);
        expect(stdout).toStartWith(`Downloading ${base}/claudikins-${host.name}.tar.gz\n`);
        expect(stdout).toContain('"best_country"');
        expect(stdout).toEndWith(`\n${total}\n`);
      },
      120_000,
    );
  });
});
