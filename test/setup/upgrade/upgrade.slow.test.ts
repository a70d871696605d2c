/** `claudikins upgrade` with real executables of several versions, a release server, and programs that wait. */
import { beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import {
  chmodSync,
  copyFileSync,
  existsSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { programFormat } from "../../../src/base/program-format.ts";
import { hasEnded } from "../../../src/daemon/peers.ts";
import { Approvals } from "../../../src/policy/approvals/approvals.ts";
import { eventually } from "../../support/eventually.ts";
import { processesLeft, runProgram } from "../../support/process.ts";
import { atTerminal } from "../../support/terminal.ts";
import { type InstalledMachine, installedMachine, old, released } from "./machine.ts";
import { archiveName } from "./release-server.ts";

setDefaultTimeout(240_000);

/** A format of saved programs that only the version 0.3.0 has. */
const otherFormat = programFormat + 1;

// Building executables takes long on a small machine, and nothing else runs in this process meanwhile.
beforeAll(() => [released(old), released("0.2.0"), released("0.3.0", otherFormat)], 240_000);

const code = `const kept = new Map([["before", (await counting.read({ name: "before" })).count]]);
  const { count } = await counting.act({ name: "after" });
  return [...kept.values(), count]`;

/** Runs a program in the daemon until it waits for an approval. Returns the ids of both. */
async function parked(machine: InstalledMachine): Promise<{ id: string; approval: string }> {
  const id = await machine.text("exec", "--detach", "-e", code);
  await using approvals = new Approvals({ env: machine.env });
  const open = await eventually(async () => (await approvals.open({ execution: id }))[0]);
  return { id, approval: open.id };
}

async function approve({ env }: InstalledMachine, approval: string): Promise<void> {
  await using approvals = new Approvals({ env });
  await approvals.decide(approval, { state: "approved", scope: "once", by: "command" });
}

const daemons = async (machine: InstalledMachine) =>
  (JSON.parse(await machine.text("daemon", "status", "--json")).daemons as { version: string }[]).map(
    (each) => each.version,
  );

// The first three wait for daemons that end after a while, and run at the same time.
test.concurrent("the daemon ends when its executable is replaced, and not when a program that waits links to it", async () => {
  await using machine = await installedMachine();
  const daemon = async () => JSON.parse(await machine.text("daemon", "status", "--json")).daemons[0];
  await machine.text("exec", "--detach", "-e", "return await counting.read({ name: 'first' })");
  const { pid } = await daemon();
  // The executable is kept for the program, in the data folder.
  await parked(machine);
  await eventually(() => existsSync(join(machine.data, "executables")));
  linkSync(machine.program, `${machine.program}.link`);
  await machine.text("call", "counting.read", '{"name":"second"}');
  expect((await daemon()).pid).toBe(pid);
  rmSync(machine.program);
  copyFileSync(released("0.2.0"), machine.program);
  await machine.text("call", "counting.read", '{"name":"third"}');
  await hasEnded(pid, AbortSignal.timeout(30_000));
  expect((await daemon()).pid).not.toBe(pid);
});

test.concurrent("a program that waits is continued by the new version, and its call is made once", async () => {
  await using machine = await installedMachine();
  await machine.releases.release("0.2.0", released("0.2.0"));
  const { id, approval } = await parked(machine);
  const [daemon] = JSON.parse(await machine.text("daemon", "status", "--json")).daemons;
  expect(daemon.version).toBe(old);

  const upgraded = await machine.run(["upgrade", "--json"]);
  expect(upgraded.stderr).toBe("");
  expect(JSON.parse(upgraded.stdout)).toMatchObject({
    from: old,
    to: "0.2.0",
    upgraded: true,
    daemons: 1,
    waiting: 1,
    kept: null,
  });
  expect(await machine.version()).toBe("0.2.0");
  expect(machine.beside()).toEqual(["claudikins"]);

  // Otherwise the daemon that is ending could still continue the program itself.
  await hasEnded(daemon.pid, AbortSignal.timeout(30_000));
  await approve(machine, approval);
  expect(JSON.parse(await machine.text("executions", "wait", id))).toEqual([1, 2]);
  expect(readFileSync(machine.calls, "utf8")).toBe('["read","before"]\n["act","after"]\n');
  expect(await daemons(machine)).toEqual(["0.2.0"]);
});

test.concurrent("a program of another format is continued by the old executable, which is kept for it", async () => {
  await using machine = await installedMachine();
  await machine.releases.release("0.3.0", released("0.3.0", otherFormat));
  const { id, approval } = await parked(machine);

  const [{ pid }] = JSON.parse(await machine.text("daemon", "status", "--json")).daemons;

  const { kept, waiting } = JSON.parse((await machine.run(["upgrade", "--json"])).stdout);
  expect(waiting).toBe(1);
  expect(readdirSync(join(machine.data, "executables"))).toHaveLength(1);
  expect(existsSync(kept)).toBe(true);
  expect(await machine.version()).toBe("0.3.0");

  await hasEnded(pid, AbortSignal.timeout(30_000));
  await eventually(async () => (await daemons(machine)).length >= 2, { everyMs: 50 });
  expect((await daemons(machine)).sort()).toEqual([old, "0.3.0"]);
  await approve(machine, approval);
  expect(JSON.parse(await machine.text("executions", "wait", id))).toEqual([1, 2]);
  expect(readFileSync(machine.calls, "utf8")).toBe('["read","before"]\n["act","after"]\n');
});

test("a program is continued after the executable was replaced without `claudikins upgrade`", async () => {
  await using machine = await installedMachine();
  const { id, approval } = await parked(machine);
  const [daemon] = JSON.parse(await machine.text("daemon", "status", "--json")).daemons;
  process.kill(daemon.pid, "SIGKILL");
  await hasEnded(daemon.pid, AbortSignal.timeout(10_000));
  // As npm does it: the old file is removed, and a new one is written.
  rmSync(machine.program);
  copyFileSync(released("0.3.0", otherFormat), machine.program);
  await approve(machine, approval);
  expect(JSON.parse(await machine.text("executions", "wait", id))).toEqual([1, 2]);
  expect(readFileSync(machine.calls, "utf8")).toBe('["read","before"]\n["act","after"]\n');
});

/** An executable that says its version, and whose self-check runs these commands. They see its path as $0. */
const script = (version: string, selfCheck: string) =>
  Buffer.from(`#!/bin/sh
case $1 in
  --version) echo ${version} ;;
  self-check) ${selfCheck} ;;
esac
`);
const passes = (version: string) => `echo '{"version":"${version}","engine":"${version} abc","unreadable":[]}'`;

/** The installed executable is the old one, works, and nothing is beside it. */
async function expectUntouched(machine: InstalledMachine): Promise<void> {
  expect([await machine.version(), machine.beside()]).toEqual([old, ["claudikins"]]);
  expect(existsSync(join(machine.data, "executables")) ? readdirSync(join(machine.data, "executables")) : []).toEqual(
    [],
  );
}

/** The failure of `upgrade`, as JSON. */
async function failure(
  machine: InstalledMachine,
  ...argv: string[]
): Promise<{ code: string; message: string; hint: string }> {
  const { stdout, stderr } = await machine.run(["upgrade", ...argv, "--json"]);
  expect(stdout).toBe("");
  return JSON.parse(stderr).error;
}

const next = "0.2.0";

test("a release that does not work, or is not what it says, is refused, and nothing is changed", async () => {
  await using machine = await installedMachine();
  const { releases } = machine;
  const broken: [string, Uint8Array, string][] = [
    ["is no program", Buffer.from("nonsense"), "ENOEXEC"],
    ["ends at once", Buffer.from("#!/bin/sh\nexit 3\n"), "it ended with exit code 3"],
    ["is another version", script("0.9.9", passes("0.9.9")), "its version is 0.9.9"],
    ["has no version", script("no version", passes(next)), "it does not print its version"],
    ["crashes in its self-check", script(next, "kill -SEGV $$"), "its self-check failed: it ended with SIGSEGV"],
    ["fails its self-check", script(next, "echo 'error: no engine' >&2; exit 1"), "error: no engine"],
    ["has no result", script(next, "echo '{}'"), "its self-check has no result"],
    ["has two results", script(next, "echo '{}'; echo '{}'"), "its self-check has no result"],
  ];
  for (const [, bytes, why] of broken) {
    await releases.release(next, bytes);
    const { code, message, hint } = await failure(machine);
    expect([code, message, hint]).toEqual([
      "UPGRADE_FAILED",
      expect.stringContaining(`claudikins ${next} does not work on this machine: `),
      expect.stringContaining("Nothing was changed."),
    ]);
    expect(message).toContain(why);
  }
  await expectUntouched(machine);

  const works = script(next, passes(next));
  const hostile: [() => Promise<unknown>, string, string][] = [
    [async () => releases.files.delete("release.json"), "SERVER_UNAVAILABLE", "There is no release at"],
    [async () => releases.files.set("release.json", "{}"), "UPGRADE_FAILED", "does not name a version"],
    [
      async () => releases.files.set("release.json", '{"version":"0.2.0\\u001b[2J"}'),
      "UPGRADE_FAILED",
      "does not name a version",
    ],
    [
      async () => releases.files.set("release.json", '{"version":"../../x"}'),
      "UPGRADE_FAILED",
      "does not name a version",
    ],
    [async () => releases.files.set("release.json", "x".repeat(2_000_000)), "UPGRADE_FAILED", "is larger than 1 MB"],
    [async () => releases.files.delete("SHA256SUMS"), "UPGRADE_FAILED", `This release has no ${archiveName}`],
    [
      async () => releases.files.set("SHA256SUMS", `${"0".repeat(64)}  ${archiveName}\n`),
      "UPGRADE_FAILED",
      "its SHA-256 is",
    ],
    [async () => releases.files.delete(archiveName), "UPGRADE_FAILED", "is missing"],
    [() => releases.release(next, works, "../claudikins"), "UPGRADE_FAILED", "The archive has no file claudikins"],
    [() => releases.release(next, works, "evil"), "UPGRADE_FAILED", "The archive has no file claudikins"],
  ];
  for (const [change, code, text] of hostile) {
    await releases.release(next, works);
    await change();
    const error = await failure(machine);
    expect([error.code, error.message]).toEqual([code, expect.stringContaining(text)]);
    expect(error.hint).toContain("Nothing was changed.");
    expect(error.message).not.toContain("\u001b");
  }
  await expectUntouched(machine);
});

test("a new version that works beside the old one, but not in its place, is rolled back", async () => {
  await using machine = await installedMachine();
  const check = `case $0 in */bin/claudikins) exit 7 ;; *) ${passes(next)} ;; esac`;
  await machine.releases.release(next, script(next, check));
  const { code, message } = await failure(machine);
  expect([code, message]).toEqual([
    "UPGRADE_FAILED",
    expect.stringContaining("its self-check failed: it ended with exit code 7"),
  ]);
  await expectUntouched(machine);
});

test("a killed upgrade leaves a whole executable, and the next upgrade removes what it left", async () => {
  await using machine = await installedMachine();
  const { releases } = machine;
  const works = script(next, passes(next));
  const reached = join(machine.folder, "reached");
  const waits = `echo x >> ${reached}; exec sleep 600`;
  /** Starts an upgrade and kills it when it has reached the moment. */
  const killAt = async (isThere: () => boolean) => {
    const child = Bun.spawn([machine.program, "upgrade", "--json"], {
      env: machine.env,
      stdout: "ignore",
      stderr: "ignore",
    });
    await eventually(isThere);
    child.kill("SIGKILL");
    await child.exited;
  };
  // During the download.
  await releases.release(next, works);
  releases.files.set(archiveName, () => new Response(new ReadableStream({ pull: () => new Promise(() => {}) })));
  releases.asked.length = 0;
  await killAt(() => releases.asked.includes(archiveName));
  await expectUntouched(machine);
  // While the new one is tried out beside the old one.
  await releases.release(next, script(next, waits));
  await killAt(() => existsSync(reached));
  expect([await machine.version(), machine.beside().length]).toEqual([old, 2]);
  // When the new one is in its place, and is tried out there.
  writeFileSync(reached, "");
  await releases.release(next, script(next, `case $0 in */bin/claudikins) ${waits} ;; *) ${passes(next)} ;; esac`));
  await killAt(() => readFileSync(reached, "utf8") !== "");
  expect(machine.beside()).toHaveLength(2);
  expect(await machine.version()).toBe(next);
  // The copy of the old executable still works, and so does the next upgrade.
  const [left = ""] = machine.beside().filter((name) => name !== "claudikins");
  const again = Bun.spawnSync([join(machine.bin, left), "--version"], { env: machine.env });
  expect(again.stdout.toString().trim()).toBe(old);
  await Bun.write(machine.program, Bun.file(join(machine.bin, left)));
  chmodSync(machine.program, 0o755);
  await releases.release(next, works);
  expect((await machine.run(["upgrade"])).exitCode).toBe(0);
  expect([await machine.version(), machine.beside()]).toEqual([next, ["claudikins"]]);
});

test("Ctrl-C ends an upgrade with exit code 130, and one upgrade excludes another", async () => {
  await using machine = await installedMachine();
  const { releases } = machine;
  await releases.release(next, script(next, passes(next)));
  releases.files.set(archiveName, () => new Response(new ReadableStream({ pull: () => new Promise(() => {}) })));
  const child = Bun.spawn([machine.program, "upgrade", "--json"], {
    env: machine.env,
    stdout: "ignore",
    stderr: "pipe",
  });
  await eventually(() => releases.asked.includes(archiveName));
  expect(await failure(machine)).toMatchObject({ code: "UPGRADE_FAILED", message: "Another upgrade is running" });
  child.kill("SIGINT");
  expect(await child.exited).toBe(130);
  expect(JSON.parse(await child.stderr.text()).error).toMatchObject({
    code: "CANCELLED",
    message: "Nothing was changed",
  });
  await expectUntouched(machine);
});

test("the version that is there, an older one and an unknown one have clear answers", async () => {
  await using machine = await installedMachine();
  const { releases } = machine;
  await releases.release(old, script(old, ""));
  writeFileSync(join(machine.bin, ".claudikins-upgrade-1.old"), "");
  expect((await machine.run(["upgrade"])).stdout).toBe(`claudikins ${old} is already installed.\n`);
  await releases.release("0.0.9", script("0.0.9", passes("0.0.9")));
  const newest = await machine.run(["upgrade"]);
  expect([newest.exitCode, newest.stdout, newest.stderr]).toEqual([
    0,
    `This is claudikins ${old}, which is newer than the newest release, 0.0.9.\n`,
    "To go back to it: claudikins upgrade --to 0.0.9\n",
  ]);
  expect(await failure(machine, "--to", "0.5.0")).toMatchObject({
    code: "VERSION_NOT_FOUND",
    message: "There is no claudikins 0.5.0",
  });
  expect((await machine.run(["upgrade", "--check", "--to", "0.0.9"])).stdout).toBe(
    `There is an older version: 0.0.9 (this is ${old})\n`,
  );
  await expectUntouched(machine);
  // An older version that cannot read the data is refused.
  const blind = `echo '{"version":"0.0.9","engine":"x abc","unreadable":["the ledger"]}'`;
  await releases.release("0.0.9", script("0.0.9", blind));
  expect(await failure(machine, "--to", "0.0.9")).toMatchObject({
    code: "VERSION_TOO_OLD",
    message: "claudikins 0.0.9 cannot read the ledger",
  });
  await expectUntouched(machine);
  await releases.release("0.0.9", script("0.0.9", passes("0.0.9")));
  expect(JSON.parse(await machine.text("upgrade", "--to", "0.0.9", "--json"))).toMatchObject({
    upgraded: true,
    to: "0.0.9",
  });
  expect(await machine.version()).toBe("0.0.9");
});

test("without a network, the error says that nothing was changed", async () => {
  await using machine = await installedMachine();
  const { stderr, exitCode } = await machine.run(["upgrade", "--json"], { CLAUDIKINS_BASE_URL: "http://127.0.0.1:9" });
  const { message, hint } = JSON.parse(stderr).error;
  expect([exitCode, message, hint]).toEqual([
    4,
    "Cannot download http://127.0.0.1:9/release.json: nothing listens at this address",
    "Nothing was changed. Check the network, and run the command again.",
  ]);
  await expectUntouched(machine);
});

/** A file system of its own, in which root has no more rights than others. */
const canMount = Bun.spawnSync(["unshare", "-rm", "mount", "-t", "tmpfs", "none", "/mnt"]).success;

test.skipIf(!canMount)(
  "a full disk and a folder that cannot be written leave everything as it was (needs user namespaces)",
  async () => {
    await using machine = await installedMachine();
    await machine.releases.release(next, released(next));
    const place = join(machine.folder, "small");
    mkdirSync(place);
    const steps = (
      ...options: string[]
    ) => `mount -t tmpfs -o size=200m none ${place} && cp ${machine.program} ${place} && cd ${place} &&
    ${options.map((option) => `mount -o remount,${option} ${place} &&`).join(" ")}
    { ./claudikins upgrade --json; ls -A; ./claudikins --version; }`;
    const inside = (...options: string[]) =>
      runProgram(["unshare", "-rm", "sh", "-c", steps(...options)], { env: machine.env });
    const full = await inside();
    expect(full.stdout).toBe(`claudikins\n${old}\n`);
    expect(JSON.parse(full.stderr).error).toMatchObject({
      code: "FILE_NOT_WRITABLE",
      message: "There is no space left for the new claudikins",
    });
    const readOnly = await inside("ro");
    expect(readOnly.stdout).toBe(`claudikins\n${old}\n`);
    expect(JSON.parse(readOnly.stderr).error).toMatchObject({
      code: "FILE_NOT_WRITABLE",
      message: `You may not write to ${place}`,
      hint: `Nothing was changed. To replace claudikins there: sudo ${place}/claudikins upgrade`,
    });
  },
);

test("agents that run the old version are counted", async () => {
  await using machine = await installedMachine();
  await machine.releases.release(next, script(next, passes(next)));
  const agents = [1, 2].map(() =>
    Bun.spawn([machine.program, "serve"], { env: machine.env, stdin: "pipe", stdout: "pipe" }),
  );
  for (const { stdin, stdout } of agents) {
    stdin.write(`${JSON.stringify({ jsonrpc: "2.0", id: 1, method: "ping" })}\n`);
    stdin.flush();
    await stdout.getReader().read();
  }
  const { agents: count, notes } = JSON.parse(await machine.text("upgrade", "--json"));
  expect(count).toBe(2);
  expect(notes).toContain(`2 agents still use ${old}: restart them to use ${next}.`);
  for (const { stdin } of agents) stdin.end();
  expect(await processesLeft(machine.program)).toEqual([]);
});

test("a command at a terminal names a newer version once a day, after a check that it did not wait for", async () => {
  await using machine = await installedMachine();
  const { releases, env } = machine;
  await releases.release("0.2.0", script("0.2.0", ""));
  const seen = join(machine.data, "upgrade", "latest.json");
  const quiet = { ...env, CI: "", CLAUDIKINS_DAEMON: "off" };
  const line = "claudikins 0.2.0 is available: claudikins upgrade";
  /** The text at a terminal. */
  const shown = async (argv: string[], more: Record<string, string> = {}) => {
    await using terminal = atTerminal([machine.program, ...argv], { cwd: machine.folder, env: { ...quiet, ...more } });
    expect(await terminal.exited).toBe(0);
    return terminal.text;
  };
  const isChecked = () => existsSync(seen) && readFileSync(seen, "utf8").includes("latest");
  for (const more of [{ CI: "1" }, { NO_UPDATE_NOTIFIER: "1" }]) await shown(["search", "orders"], more);
  await machine.run(["search", "orders"], quiet);
  await shown(["search", "orders", "--json"]);
  const config = join(machine.folder, "config", "claudikins", "claudikins.json");
  mkdirSync(join(config, ".."), { recursive: true });
  writeFileSync(config, '{ "mcpServers": {}, "upgradeHint": false }');
  await shown(["list"]);
  expect([existsSync(seen), releases.asked]).toEqual([false, []]);

  writeFileSync(config, '{ "mcpServers": {} }');
  expect(await shown(["list"])).not.toContain("0.2.0");
  await eventually(isChecked);
  expect(await shown(["list"])).toContain(line);
  expect(await shown(["list"])).not.toContain("0.2.0");
  expect(releases.asked).toEqual(["release.json"]);
  const { findings } = JSON.parse((await machine.run(["doctor", "--no-servers", "--json"])).stdout);
  expect(findings).toContainEqual(expect.objectContaining({ id: "executable.newer", repair: "claudikins upgrade" }));
});
