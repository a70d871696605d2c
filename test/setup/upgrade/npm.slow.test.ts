/** Upgrades of global packages with the real npm and Bun, and a registry that has two versions. */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { launcherPackage, platformPackage } from "../../../scripts/release/npm-packages.ts";
import { ownPlatform } from "../../../src/setup/upgrade/platforms.ts";
import { Registry } from "../../install/registry.ts";
import { type Ended, runProgram, shellLine } from "../../support/process.ts";
import { old, released } from "./machine.ts";

// Building executables takes long on a small machine.
setDefaultTimeout(240_000);

const next = "0.2.0";
const platform = ownPlatform()!;
let registry: Registry;

/** Runs a shell script in a home that has nothing but the address of the registry. */
function runIn(name: string, script: string): Promise<Ended> {
  const home = registry.home(name);
  const variables = Object.entries(registry.env(home)).map(([key, value]) => `${key}=${value}`);
  return runProgram(["env", "-i", ...variables, "sh", "-c", script], { cwd: home });
}

beforeAll(async () => {
  registry = await Registry.start();
  const small = `#!/bin/sh
case $1 in
  --version) echo ${next} ;;
  self-check) echo '{"version":"${next}","engine":"${next} abc","unreadable":[]}' ;;
esac
`;
  const executables = { [old]: await Bun.file(released(old)).bytes(), [next]: Buffer.from(small) };
  for (const [version, executable] of Object.entries(executables)) {
    for (const made of [await platformPackage(platform, version, executable, ""), await launcherPackage(version)]) {
      const file = join(registry.folder.path, made.file);
      await Bun.write(file, made.content);
      const { exitCode, stderr } = await runIn("publisher", `npm publish --access public ${file}`);
      expect(exitCode, stderr).toBe(0);
    }
  }
});
afterAll(() => registry[Symbol.asyncDispose]());

test("a global package of npm is upgraded, and the path that agents have stays the same", async () => {
  const run = (script: string) => runIn("npm", script);
  const installed = await run(`npm install --global --prefix ./prefix claudikins@${old}`);
  expect(installed.exitCode, installed.stderr).toBe(0);
  const unknown = await run("./prefix/bin/claudikins upgrade --to 0.7.0 --json");
  expect(JSON.parse(unknown.stderr).error.code).toBe("VERSION_NOT_FOUND");
  const upgraded = await run("./prefix/bin/claudikins upgrade --json");
  expect(upgraded.exitCode, upgraded.stderr).toBe(0);
  const { path, ...answer } = JSON.parse(upgraded.stdout);
  expect(answer).toMatchObject({ from: old, to: next, installed: "package", upgraded: true });
  expect((await run("./prefix/bin/claudikins --version")).stdout).toBe(`${next}\n`);
  expect((await run(`${shellLine([path])} --version`)).stdout).toBe(`${next}\n`);
  expect(readdirSync(join(registry.home("npm"), ".local", "share", "claudikins", "upgrade"))).not.toContain(
    "claudikins.before",
  );
});

test("a global package of Bun is upgraded", async () => {
  const bun = shellLine([process.execPath]);
  const run = (script: string) =>
    runIn("bun", `mkdir -p bin && ln -sf ${bun} bin/bun && export PATH="$PWD/bin:$PATH" && ${script}`);
  const installed = await run(`bun add --global claudikins@${old}`);
  expect(installed.exitCode, installed.stderr).toBe(0);
  const upgraded = await run("./.bun/bin/claudikins upgrade --json");
  expect(upgraded.exitCode, upgraded.stderr).toBe(0);
  expect(JSON.parse(upgraded.stdout)).toMatchObject({ from: old, to: next, installed: "package", upgraded: true });
  expect((await run("./.bun/bin/claudikins --version")).stdout).toBe(`${next}\n`);
});
