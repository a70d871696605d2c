/** The process behind generated files is one for all callers, and leaves no process, whatever happens to it or to them. */
import { afterEach, beforeEach, describe, expect, setDefaultTimeout, test } from "bun:test";
import { chownSync, cpSync, mkdirSync, readdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "../support/claudikins.ts";
import { claudikinsCommand } from "../support/command.ts";
import { type GeneratedProject, generatedProject } from "../support/daemon.ts";
import { eventually } from "../support/eventually.ts";
import { processesWith, runProgram } from "../support/process.ts";

setDefaultTimeout(60_000);

let project: GeneratedProject;
beforeEach(async () => {
  project = await generatedProject();
});
afterEach(async () => {
  await project[Symbol.asyncDispose]();
});

interface Seen {
  pid: number;
  cwd: string;
  token: string;
}

const seen = async (env: Record<string, string> = {}) => (await project.value("seen", {}, env)) as Seen;
const runFolder = () => join(project.path, "runtime", "claudikins");
const socket = () => join(runFolder(), readdirSync(runFolder()).find((name) => name.endsWith(".sock")) ?? "none");
const failure = (stderr: string) => JSON.parse(stderr.trim().split("\n").at(-1) ?? "");

/** Sends a request of the daemon's protocol. */
const ask = (path: string, body?: object, headers: Record<string, string> = {}, at = socket()) =>
  fetch(`http://localhost${path}`, {
    unix: at,
    keepalive: false,
    headers,
    ...(body === undefined ? {} : { method: "POST", body: JSON.stringify(body) }),
  });

/** Starts `claudikins daemon run`, and resolves when it listens. */
async function runByHand(args: string[] = [], env = project.env, command: string[] = claudikinsCommand) {
  const child = Bun.spawn([...command, "daemon", "run", "--config", project.config, ...args], {
    env,
    stdio: ["ignore", "ignore", "pipe"],
  });
  const { value } = await child.stderr.getReader().read();
  expect(new TextDecoder().decode(value)).toContain("Listening at");
  return child;
}

async function runningCalls(count: number): Promise<void> {
  await eventually(
    async () => ((await (await ask("/status")).json()) as { calls: { running: number } }).calls.running === count,
  );
}

test("ten concurrent first callers share one daemon and one server", async () => {
  const answers = await Promise.all(Array.from({ length: 10 }, () => seen()));
  expect(new Set(answers.map(({ pid }) => pid)).size).toBe(1);
  expect(answers[0]?.cwd).toBe(join(project.path, "project"));
  expect(await project.daemons()).toMatchObject([
    { config: project.config, calls: { running: 0, done: 10 }, servers: { seen: "ready" } },
  ]);
  await eventually(() => processesWith(`daemon run --config ${project.config}`).length === 1);
});

test("callers with other values of the config's variables get another daemon; other variables do not matter", async () => {
  const [one, same, other] = [
    await seen({ SEEN_TOKEN: "a" }),
    await seen({ SEEN_TOKEN: "a", ELSE: "x" }),
    await seen({ SEEN_TOKEN: "b" }),
  ];
  expect([one.token, same.token, other.token]).toEqual(["a", "a", "b"]);
  expect([same.pid === one.pid, other.pid === one.pid]).toEqual([true, false]);
  const names = readdirSync(runFolder()).join();
  expect(names).not.toContain("SEEN");
});

test("the daemon's folder is private", async () => {
  mkdirSync(runFolder(), { mode: 0o755 });
  await seen();
  const { mode } = await Bun.file(runFolder()).stat();
  expect(mode & 0o777).toBe(0o700);
});

describe("a killed daemon", () => {
  test("fails its callers at once, leaves no server, and is replaced by the next call", async () => {
    const before = await seen();
    const [daemon] = await project.daemons();
    const calls = [project.run("wait", { ms: 600_000 }), project.run("wait", { ms: 600_000 })];
    await runningCalls(2);
    process.kill(daemon?.pid ?? 0, "SIGKILL");
    for (const { exitCode, stderr } of await Promise.all(calls)) {
      expect({ exitCode, ...failure(stderr) }).toEqual({
        exitCode: 4,
        error: "claudikins ended during the call, so the outcome of the call is unknown",
        code: "SERVER_UNAVAILABLE",
        suggestion: "Check whether the call took effect before retrying.",
      });
    }
    // Its socket still exists.
    expect(await Bun.file(socket()).exists()).toBe(false);
    expect(readdirSync(runFolder()).some((name) => name.endsWith(".sock"))).toBe(true);
    const after = await seen();
    expect(after.pid).not.toBe(before.pid);
    await eventually(() => !processesWith(`seen ${project.path}`).includes(before.pid));
  });

  test("is replaced by one daemon for ten concurrent callers", async () => {
    await seen();
    const [daemon] = await project.daemons();
    process.kill(daemon?.pid ?? 0, "SIGKILL");
    const answers = await Promise.all(Array.from({ length: 10 }, () => seen()));
    expect(new Set(answers.map(({ pid }) => pid)).size).toBe(1);
  });
});

test("SIGTERM ends the daemon with its servers, and running calls fail with that reason", async () => {
  await seen();
  const [daemon] = await project.daemons();
  const call = project.run("wait", { ms: 600_000 });
  await runningCalls(1);
  process.kill(daemon?.pid ?? 0, "SIGTERM");
  const { exitCode, stderr } = await call;
  expect({ exitCode, ...failure(stderr) }).toMatchObject({ exitCode: 130, code: "CANCELLED" });
  expect(await project.left()).toEqual([]);
  expect(readdirSync(runFolder()).filter((name) => /sock|tmp/.test(name))).toEqual([]);
});

test("a caller that exits cancels its call", async () => {
  const child = Bun.spawn([process.execPath, project.file("wait"), '{"ms": 600000}'], {
    env: project.env,
    stdio: ["ignore", "ignore", "ignore"],
  });
  await eventually(() => readdirSync(join(project.path, "runtime")).includes("claudikins"));
  await eventually(() => socket().endsWith(".sock"));
  await runningCalls(1);
  child.kill("SIGINT");
  await child.exited;
  await runningCalls(0);
});

test("the daemon and its servers end after the idle time", async () => {
  const daemon = await runByHand(["--idle", "3s"]);
  const { pid } = await seen();
  expect(await daemon.exited).toBe(0);
  expect(await project.left()).toEqual([]);
  expect((await seen()).pid).not.toBe(pid);
});

test("a call that takes longer than the idle time finishes", async () => {
  const daemon = await runByHand(["--idle", "1s"]);
  expect(await project.value("wait", { ms: 2_500 })).toBe("waited");
  expect(await daemon.exited).toBe(0);
});

test("a second daemon for the same config ends, and the first continues", async () => {
  const daemon = await runByHand();
  const { exitCode, stderr } = await project.claudikins("daemon", "run");
  expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: "A daemon is already running for this config.\n" });
  expect(await project.daemons()).toMatchObject([{ pid: daemon.pid }]);
});

describe("a daemon finishes its calls and is replaced", () => {
  /** An older version, in another folder. */
  function olderVersion(): string[] {
    const folder = join(project.path, "older");
    for (const part of ["src", "registry"]) cpSync(join(root, part), join(folder, part), { recursive: true });
    symlinkSync(join(root, "node_modules"), join(folder, "node_modules"));
    project.write("older/package.json", { name: "claudikins", version: "0.0.9", type: "module" });
    return [process.execPath, join(folder, "src", "main.ts")];
  }

  test("if a newer version is started", async () => {
    const older = await runByHand([], project.env, olderVersion());
    const call = ask("/call", { server: "seen", tool: "wait", args: { ms: 3_000 } });
    await runningCalls(1);
    const newer = await runByHand();
    expect(await project.daemons()).toMatchObject([{ pid: newer.pid, version: "0.1.0" }]);
    expect(older.exitCode).toBe(null);
    expect((await (await call).json()) as object).toEqual({ value: "waited" });
    expect(await older.exited).toBe(0);
  });

  test("if the files were written by a newer version", async () => {
    const older = await runByHand([], project.env, olderVersion());
    const call = ask("/call", { server: "seen", tool: "wait", args: { ms: 1_500 } });
    await runningCalls(1);
    await seen();
    // The older one may be listed too, until its call has ended.
    expect(await project.daemons()).toContainEqual(
      expect.objectContaining({ version: "0.1.0", calls: expect.objectContaining({ done: 1 }) }),
    );
    expect((await (await call).json()) as object).toEqual({ value: "waited" });
    expect(await older.exited).toBe(0);
  });

  test.each([
    ["", "${SEEN_TOKEN:-changed}"],
    [", even if callers now look for another socket", "changed"],
  ])("if its config has changed%s", async (_, token) => {
    const before = await seen();
    const call = project.value("wait", { ms: 1_500 });
    await runningCalls(1);
    const config = JSON.parse(await Bun.file(project.config).text());
    config.mcpServers.seen.env = { TOKEN: token };
    writeFileSync(project.config, JSON.stringify(config));
    expect((await seen()).token).toBe("changed");
    expect(await call).toBe("waited");
    await eventually(() => !processesWith(`seen ${project.path}`).includes(before.pid));
  });

  test("but not repeatedly if there is no newer version", async () => {
    const note = JSON.parse(await Bun.file(project.note()).text());
    writeFileSync(project.note(), JSON.stringify({ ...note, version: "99.0.0" }));
    await seen();
    await seen();
    expect(await project.daemons()).toHaveLength(1);
  });
});

describe("files of another user are refused:", () => {
  const isRoot = process.getuid?.() === 0;
  if (!isRoot) console.warn("Only root can make files of other users: what belongs to them is not tested.");

  test.if(isRoot)("a socket", async () => {
    const listening = await runByHand();
    chownSync(socket(), 12_345, 12_345);
    const { exitCode, stderr } = await project.run("seen", {});
    expect({ exitCode, ...failure(stderr) }).toMatchObject({
      exitCode: 4,
      error: `${socket()} does not belong to you, so it is not used`,
    });
    const run = await project.claudikins("daemon", "run");
    expect(run).toMatchObject({ exitCode: 2, stderr: expect.stringContaining("does not belong to you") });
    chownSync(socket(), 0, 0);
    listening.kill();
    await listening.exited;
  });

  test.if(isRoot)("a folder", async () => {
    mkdirSync(runFolder(), { mode: 0o700 });
    chownSync(runFolder(), 12_345, 12_345);
    expect((await project.run("seen", {})).exitCode).toBe(4);
    chownSync(runFolder(), 0, 0);
  });

  test("a link in place of the folder", async () => {
    mkdirSync(join(project.path, "elsewhere"), { mode: 0o700 });
    symlinkSync(join(project.path, "elsewhere"), runFolder());
    expect((await project.run("seen", {})).exitCode).toBe(4);
    expect(readdirSync(join(project.path, "elsewhere"))).toEqual([]);
  });
});

describe("generated files find the daemon", () => {
  const surroundings: [string, (folder: string) => Record<string, string>][] = [
    ["in the runtime folder", () => ({})],
    ["without a runtime folder", () => ({ XDG_RUNTIME_DIR: "" })],
    ["with a missing runtime folder", (folder) => ({ XDG_RUNTIME_DIR: join(folder, "nowhere") })],
    [
      "with a runtime folder whose path is too long for a socket",
      (folder) => ({ XDG_RUNTIME_DIR: join(folder, "x".repeat(90)) }),
    ],
    ["with only a home", () => ({ XDG_RUNTIME_DIR: "", XDG_DATA_HOME: "" })],
    ["with variables of the config", () => ({ SEEN_TOKEN: "secret" })],
  ];
  test.each(surroundings)("%s", async (_, more) => {
    const env = { ...project.env, ...more(project.path) };
    if (env["XDG_RUNTIME_DIR"]?.includes("xxx")) mkdirSync(env["XDG_RUNTIME_DIR"]);
    const daemon = await runByHand([], env);
    await seen(env);
    const { stdout } = await runProgram([...claudikinsCommand, "daemon", "status", "--json"], {
      cwd: project.path,
      env,
    });
    const mine = JSON.parse(stdout).daemons.filter(({ config }: { config: string }) => config === project.config);
    expect(mine).toMatchObject([{ pid: daemon.pid, calls: { done: 1 } }]);
    daemon.kill();
    await daemon.exited;
  });
});

test("the demo's files can be called without a config", async () => {
  const cwd = join(project.path, "nothing");
  mkdirSync(cwd);
  const gen = await runProgram([...claudikinsCommand, "gen"], { cwd, env: project.env });
  const file = join(gen.stdout.trim(), "business", "demo", "get_order.ts");
  const { exitCode, stderr } = await runProgram([process.execPath, file], { cwd, env: project.env });
  expect({ exitCode, ...failure(stderr) }).toMatchObject({ exitCode: 2, code: "INVALID_ARGUMENTS" });
  expect(await project.daemons()).toMatchObject([{ config: null }]);
});

test("a server that does not start is an error with a hint", async () => {
  writeFileSync(project.config, JSON.stringify({ mcpServers: { seen: { command: "no-such-program", args: [] } } }));
  const { exitCode, stderr } = await project.run("seen", {});
  expect({ exitCode, ...failure(stderr) }).toMatchObject({
    exitCode: 4,
    error: expect.stringContaining("no-such-program"),
    code: "SERVER_UNAVAILABLE",
    suggestion: expect.any(String),
  });
});

describe("the daemon's protocol", () => {
  test("answers valid requests, and refuses invalid ones", async () => {
    await seen();
    const answers = [
      await ask("/call", { server: "seen", tool: "structured" }),
      await ask("/call", { server: "sean", tool: "structured" }),
      await ask("/call", { server: "seen", tool: "structure" }),
      await ask("/call", { server: "seen", tool: "wait", args: {} }),
      await ask("/call", { server: "seen", tool: "refuse" }),
      await ask("/call", { server: "", tool: "list" }),
      await ask("/call", { server: "seen", tool: "wait", args: [] }),
      await ask("/else"),
    ];
    const found = await Promise.all(answers.map(async (answer) => [answer.status, await answer.json()]));
    expect(found).toEqual([
      [200, { value: { fine: true } }],
      [404, { error: expect.any(String), code: "SERVER_NOT_FOUND", suggestion: expect.stringContaining("seen") }],
      [404, { error: expect.any(String), code: "TOOL_NOT_FOUND", suggestion: expect.stringContaining("structured") }],
      [400, { error: expect.any(String), code: "INVALID_ARGUMENTS", suggestion: expect.any(String) }],
      [422, { error: "not today", code: "TOOL_FAILED" }],
      [400, { error: expect.stringContaining("Expected a call"), code: "USAGE" }],
      [400, { error: expect.stringContaining("Expected a call"), code: "USAGE" }],
      [400, { error: expect.stringContaining("Unknown route GET /else"), code: "USAGE" }],
    ]);
    expect(await (await ask("/status")).json()).toEqual({
      pid: expect.any(Number),
      version: "0.1.0",
      config: project.config,
      startedAt: expect.any(Number),
      calls: { running: 0, done: 8 },
      servers: { seen: "ready" },
      problems: {},
      held: [{ server: "seen", pid: expect.any(Number), since: expect.any(Number), users: 1, private: false }],
      page: false,
      memoryBytes: expect.any(Number),
    });
  });
});

describe("claudikins daemon", () => {
  test("reports that no daemon runs", async () => {
    expect(await project.claudikins("daemon", "status")).toEqual({
      exitCode: 0,
      stdout: "",
      stderr: "No daemon is running. A daemon starts when a tool is called.\n",
    });
    expect(await project.claudikins("daemon", "status", "--json")).toEqual({
      exitCode: 0,
      stdout: `{"daemons":[],"silent":[]}\n`,
      stderr: "",
    });
    expect(await project.claudikins("daemon", "stop")).toEqual({
      exitCode: 0,
      stdout: "No daemon was running\n",
      stderr: "",
    });
    expect(await project.claudikins("daemon", "stop", "--config", "gone.json")).toEqual({
      exitCode: 0,
      stdout: "No daemon of gone.json was running, and there is no such file\n",
      stderr: "",
    });
    expect(await project.claudikins("daemon", "stop", "--all", "--config", "x")).toMatchObject({ exitCode: 2 });
  });

  test("prints the daemon's log", async () => {
    expect(await project.claudikins("daemon", "logs")).toMatchObject({ exitCode: 0, stdout: "" });
    const { pid } = await seen();
    const { stdout } = await project.claudikins("daemon", "logs");
    expect(stdout).toMatch(
      /^(?:\[info\] )?\[claudikins\](?: \S)? \d{4}-\S+Z version \S+ is listening \(process \d+\)\n/,
    );
    expect(stdout).toContain(`Z seen has started (process ${pid})\n`);
    const { path, lines } = JSON.parse((await project.claudikins("daemon", "logs", "-n", "1", "--json")).stdout);
    expect([path, lines]).toEqual([expect.stringMatching(/\.log$/), [expect.stringContaining("seen has started")]]);
    const following = Bun.spawn([...claudikinsCommand, "daemon", "logs", "--follow"], {
      cwd: join(project.path, "project"),
      env: project.env,
      stdout: "pipe",
    });
    const reader = following.stdout.getReader();
    let heard = "";
    const hears = async (words: string) => {
      while (!heard.includes(words)) heard += new TextDecoder().decode((await reader.read()).value);
    };
    await hears("seen has started");
    await project.claudikins("daemon", "stop");
    await hears("shutting down: it was asked to stop");
    following.kill("SIGINT");
    expect(await following.exited).toBe(130);
  });

  test("stop waits for calls, except with --now", async () => {
    await seen();
    const call = project.value("wait", { ms: 2_500 });
    await runningCalls(1);
    expect(await project.claudikins("daemon", "stop")).toMatchObject({
      exitCode: 0,
      stderr: "Waiting for 1 call to finish (--now cancels them)\n",
    });
    expect(await call).toBe("waited");
    expect(await project.left()).toEqual([]);
    await seen();
    const long = project.run("wait", { ms: 600_000 });
    await runningCalls(1);
    const { stdout } = await project.claudikins("daemon", "stop", "--now", "--json");
    expect(JSON.parse(stdout)).toEqual({ stopped: [{ pid: expect.any(Number), config: project.config }] });
    expect((await long).exitCode).toBe(130);
    expect(await project.left()).toEqual([]);
  });
});
