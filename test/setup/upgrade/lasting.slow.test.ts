/** Agents get a path that lasts: out of the cache of npx, init first installs the executable, and restore removes it. */
import { expect, setDefaultTimeout, test } from "bun:test";
import { chmodSync, copyFileSync, existsSync, linkSync, mkdirSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import { ownPlatform } from "../../../src/setup/upgrade/platforms.ts";
import { runProgram, testEnvironment } from "../../support/process.ts";
import { fixture } from "../../support/servers.ts";
import { temporaryFolder } from "../../support/temporary.ts";
import { old, released } from "./machine.ts";

// Building executables takes long on a small machine.
setDefaultTimeout(180_000);

/** A home with an agent, and an executable at a place in it. */
function machine(place: string) {
  const folder = temporaryFolder();
  const home = folder.path;
  const program = join(home, place, "node_modules", "@claudikins", ownPlatform()!.name, "bin", "claudikins");
  mkdirSync(dirname(program), { recursive: true });
  copyFileSync(released(old), program);
  const settings = folder.write(".cursor/mcp.json", { mcpServers: { odd: fixture("odd") } });
  const env = testEnvironment({ HOME: home, XDG_DATA_HOME: join(home, "data"), XDG_CONFIG_HOME: join(home, "config") });
  return {
    folder,
    home,
    program,
    settings,
    original: readFileSync(settings, "utf8"),
    installed: join(home, ".local", "bin", "claudikins"),
    command: () => JSON.parse(readFileSync(settings, "utf8")).mcpServers.claudikins?.command,
    run: (argv: string[], more: Record<string, string> = {}, executable = program) =>
      runProgram([executable, ...argv], { cwd: home, env: { ...env, ...more } }),
    [Symbol.dispose]: () => folder[Symbol.dispose](),
  };
}

test("init out of npx's cache installs the executable, names its path to the agent, and restore undoes both", async () => {
  using npx = machine(".npm/_npx/0a1b2c");
  const dry = await npx.run(["init", "--dry-run", "--no-start"]);
  expect(dry.stdout).toContain(`Would install claudikins to ${npx.installed}: npx may remove its copy\n`);
  expect(dry.stdout).toContain(`"command": "${npx.installed}"`);
  expect(existsSync(npx.installed)).toBe(false);

  const init = await npx.run(["init", "--apply", "--no-start", "--json"]);
  expect([init.exitCode, JSON.parse(init.stdout).executable]).toEqual([0, { path: npx.installed, installed: true }]);
  expect(npx.command()).toBe(npx.installed);
  expect(readdirSync(dirname(npx.installed))).toEqual(["claudikins"]);
  // The cache is removed; the agent's claudikins works, and knows how it can be upgraded.
  rmSync(join(npx.home, ".npm"), { recursive: true });
  expect((await npx.run(["--version"], {}, npx.installed)).stdout).toBe(`${old}\n`);
  const check = await npx.run(["upgrade", "--check", "--json"], release, npx.installed);
  expect(JSON.parse(check.stdout)).toMatchObject({ installed: "script", path: npx.installed });

  const restored = await npx.run(["restore", "--json"], {}, npx.installed);
  expect(JSON.parse(restored.stdout).executable).toBe(npx.installed);
  expect([readFileSync(npx.settings, "utf8"), existsSync(npx.installed)]).toEqual([npx.original, false]);
});

const release = { CLAUDIKINS_BASE_URL: pathToFileURL(join(import.meta.dir, "../../fixtures/release")).href };

test("an installed executable that is not older is used, an older one is replaced, and another program is in the way", async () => {
  using npx = machine(".npm/_npx/0a1b2c");
  const say = (version: string) => {
    npx.folder.write(".local/bin/claudikins", `#!/bin/sh\necho ${version}\n`);
    chmodSync(npx.installed, 0o755);
  };
  say("not a version");
  const refused = await npx.run(["init", "--apply", "--no-start", "--json"]);
  expect(JSON.parse(refused.stderr).error).toMatchObject({
    code: "FILE_NOT_WRITABLE",
    message: expect.stringContaining("exists and is not claudikins"),
  });
  expect(readFileSync(npx.settings, "utf8")).toBe(npx.original);
  say("9.0.0");
  await npx.run(["init", "--apply", "--no-start"]);
  expect([npx.command(), (await npx.run(["--version"], {}, npx.installed)).stdout]).toEqual([npx.installed, "9.0.0\n"]);
  await npx.run(["restore"]);
  say("0.0.1");
  await npx.run(["init", "--apply", "--no-start"]);
  expect((await npx.run(["--version"], {}, npx.installed)).stdout).toBe(`${old}\n`);
  // It was there before, so it stays.
  await npx.run(["restore"]);
  expect(existsSync(npx.installed)).toBe(true);
});

test("init of a global package names the executable of the package, and upgrade of a cache or a project says what to run", async () => {
  using global = machine("lib");
  await global.run(["init", "--apply", "--no-start"]);
  expect([global.command(), existsSync(global.installed)]).toEqual([global.program, false]);
  const cached = join(global.home, ".npm/_npx/1/node_modules/@claudikins/x/bin/claudikins");
  const own = join(global.home, "shop/node_modules/@claudikins/x/bin/claudikins");
  for (const path of [cached, own]) {
    mkdirSync(dirname(path), { recursive: true });
    linkSync(global.program, path);
  }
  global.folder.write("shop/package.json", "{}");
  const how = async (path: string) => JSON.parse((await global.run(["upgrade", "--json"], release, path)).stdout);
  expect(await how(cached)).toMatchObject({ upgraded: false, installed: "cache", command: "npx claudikins@99.0.0" });
  expect(await how(own)).toMatchObject({
    upgraded: false,
    installed: "project",
    command: `cd ${global.home}/shop && npm install claudikins@99.0.0`,
  });
});
