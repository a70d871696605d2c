/** Advice that can help in its situation: broken servers, missing variables, read-only disks, and folders of others. */
import { expect, setDefaultTimeout, test } from "bun:test";
import { chmodSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { claudikinsCommand } from "../support/command.ts";
import { ownFolder } from "../support/own-folder.ts";
import { runProgram, testEnvironment } from "../support/process.ts";
import { fixture } from "../support/servers.ts";

// Processes start slowly on a small machine.
setDefaultTimeout(60_000);

const folder = ownFolder();

const run = (...argv: string[]) =>
  runProgram([...claudikinsCommand, ...argv], { cwd: folder.path, env: testEnvironment({ HOME: folder.path }) });

const configure = (mcpServers: object) => folder.write("claudikins.json", { mcpServers });

const fine = () => fixture("chatty", folder.path);
const broken = () => fixture("crash-on-start", folder.path);
const needy = { command: "github-mcp", env: { GITHUB_TOKEN: `\${GITHUB_TOKEN}` } };

test("doctor advises gen for no server that it has just called broken, or that needs a variable", async () => {
  configure({ fine: fine(), broken: broken(), github: needy });
  expect((await run("gen", "--server", "fine")).exitCode).toBe(0);
  const { stdout } = await run("doctor");
  expect(stdout).toMatch(/problem +Server "broken" did not start/);
  expect(stdout).not.toContain("claudikins gen");
});

test("doctor advises gen for nobody if no server works, and for those that do work", async () => {
  configure({ broken: broken(), github: needy });
  expect((await run("doctor")).stdout).not.toContain("claudikins gen");
  configure({ broken: broken(), fine: fine(), github: needy });
  expect((await run("doctor")).stdout).toContain("No tools are known yet: the first search fetches them");
  await run("gen");
  configure({ broken: broken(), fine: fine(), github: needy, later: fine() });
  expect((await run("doctor")).stdout).toContain("fix: claudikins gen");
});

test("search names what a server needs in place of gen, which would fail as well", async () => {
  configure({ fine: fine(), github: needy, broken: broken(), fresh: fixture("odd", folder.path) });
  await run("gen", "--server", "fine");
  await run("call", "broken.anything");
  const { stderr } = await run("search", "hold");
  expect(stderr).toContain("Not searched: github (needs GITHUB_TOKEN: set this before starting");
  expect(stderr).toMatch(/Not searched: broken \(did not start: .*claudikins doctor\)\n/);
  expect(stderr).toContain("Not searched, because their tools are not known yet: fresh (run claudikins gen)\n");
});

const isRoot = process.getuid?.() === 0;

test.skipIf(process.platform === "win32" || isRoot)(
  "a folder whose rights are missing is repaired with chmod",
  async () => {
    configure({ fine: fine() });
    const data = join(folder.path, ".local", "share", "claudikins");
    mkdirSync(data, { recursive: true });
    chmodSync(data, 0o500);
    expect((await run("doctor", "--no-servers")).stdout).toContain(`fix: chmod u+rwx ${data}`);
    chmodSync(data, 0o700);
  },
);

/** Runs a command with a folder on a read-only mount, in a mount namespace of its own. Undefined where that is forbidden. */
async function onReadOnly(path: string, ...argv: string[]) {
  const script = 'mount --bind "$0" "$0" && mount -o remount,bind,ro "$0" && exec "$@"';
  const words = [
    "unshare",
    "--mount",
    "--map-root-user",
    "--user",
    "sh",
    "-c",
    script,
    path,
    ...claudikinsCommand,
    ...argv,
  ];
  return runProgram(words, { cwd: folder.path, env: testEnvironment({ HOME: folder.path }) });
}

const canMount =
  process.platform === "linux" &&
  Bun.spawnSync(["unshare", "--mount", "--map-root-user", "--user", "mount", "-t", "tmpfs", "tmpfs", "/mnt"])
    .exitCode === 0;

test.skipIf(!canMount)(
  "on a read-only mount, doctor advises another folder, and errors name neither temporary files nor codes",
  async () => {
    configure({ fine: fine() });
    const registry = join(folder.path, ".claudikins", "registry");
    mkdirSync(registry, { recursive: true });
    const found = await onReadOnly(registry, "doctor", "--no-servers");
    expect(found.stdout).toContain(`The registry is not writable, because its file system is read-only: ${registry}`);
    expect(found.stdout).toContain('fix: Set "registry" in the config to a folder that you can write to.');
    expect(found.stdout).not.toContain(`chmod u+rwx ${registry}`);
    const { stderr, exitCode } = await onReadOnly(registry, "gen");
    expect(exitCode).toBe(2);
    expect(stderr).toContain(`its file system is read-only`);
    expect(stderr).toContain("hint: Choose a folder that you can write to.");
    expect(stderr).not.toMatch(/EROFS|\.tmp|caused by/);
  },
);
