/** One process of each server for exec, several hosts of serve, and generated files. */
import { afterEach, beforeEach, describe, expect, setDefaultTimeout, test } from "bun:test";
import { chmodSync, chownSync, mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { ElicitRequestSchema, ListRootsRequestSchema } from "@modelcontextprotocol/sdk/types.js";
import { loadConfig } from "../../src/config/load.ts";
import { entryMark } from "../../src/daemon/protocol.ts";
import { connectToDaemon } from "../../src/daemon/transport/connect.ts";
import type { MessageConnection, MessageHandler } from "../../src/daemon/transport/message-connection.ts";
import { claudikinsCommand } from "../support/command.ts";
import { type GeneratedProject, generatedProject } from "../support/daemon.ts";
import { eventually } from "../support/eventually.ts";
import { type HostOptions, openHost, type TestHost } from "../support/host.ts";
import { processesWith, runProgram, shellLine } from "../support/process.ts";
import { filesystem, fixture } from "../support/servers.ts";

setDefaultTimeout(60_000);

let project: GeneratedProject;
let env: Record<string, string>;
beforeEach(async () => {
  project = await generatedProject((folder) => ({
    own: { ...fixture("seen", `${folder}/own`), session: "private" },
    asker: fixture("protocol", "stdio", `${folder}/asker`),
    broken: fixture("crash-on-start", folder),
  }));
  env = { ...project.env, CLAUDIKINS_DAEMON: "on" };
});
afterEach(async () => {
  await project[Symbol.asyncDispose]();
});

const folder = () => join(project.path, "project");
const exec = (code: string, more: Record<string, string> = {}, flags: string[] = [], cwd = folder()) =>
  runProgram([...claudikinsCommand, "exec", ...flags, "-e", code], { cwd, env: { ...env, ...more } });
const host = (options: HostOptions = {}) =>
  openHost({ path: folder() }, { ...options, env: { ...env, ...options.env } });

interface Seen {
  pid: number;
  cwd: string;
}

async function seenBy(run: ReturnType<typeof exec>): Promise<Seen> {
  const { exitCode, stdout, stderr } = await run;
  if (exitCode !== 0) throw new Error(stderr);
  return JSON.parse(stdout);
}

async function execute(of: TestHost, code: string): Promise<string> {
  const result = await of.call("execute_code", { code });
  const [{ text = "" } = {}] = result["content"] as { text?: string }[];
  return text;
}

const seenByHost = async (of: TestHost, server = "seen") =>
  JSON.parse((await execute(of, `return JSON.stringify(await ${server}.seen())`)).split("\n\n")[0] ?? "") as Seen;
const askers = () => processesWith(`protocol stdio ${project.path}`).length;
const daemonPid = async () => (await project.daemons())[0]?.pid ?? 0;

test("the daemon of a project runs the user's own servers for every caller", async () => {
  project.write("config/claudikins/claudikins.json", { mcpServers: { mine: fixture("seen", `${project.path}/mine`) } });
  await using agent = await host();
  const byAgent = await seenByHost(agent, "mine");
  const byShell = await seenBy(exec("return await mine.seen()"));
  expect([byShell.pid, byShell.cwd]).toEqual([byAgent.pid, folder()]);
  expect((await project.daemons()).length).toBe(1);
});

test("ten concurrent executions, two hosts and a generated file share one daemon and one server", async () => {
  const code = "return await seen.seen()";
  const first = await Promise.all(Array.from({ length: 10 }, () => seenBy(exec(code))));
  await using one = await host();
  await using two = await host();
  const pids = [...first, await seenByHost(one), await seenByHost(two), (await project.value("seen")) as Seen];
  expect(new Set(pids.map(({ pid }) => pid)).size).toBe(1);
  expect(await project.daemons()).toMatchObject([
    { calls: { running: 0, done: 13 }, held: [{ server: "seen", private: false }] },
  ]);
});

test("a host that ends does not affect the others", async () => {
  const one = await host();
  await using two = await host();
  const { pid } = await seenByHost(one);
  expect((await seenByHost(two)).pid).toBe(pid);
  await one[Symbol.asyncDispose]();
  expect((await seenByHost(two)).pid).toBe(pid);
});

test("without the daemon, servers belong to a command and end with it", async () => {
  for (const [flags, more] of [
    [["--no-daemon"], {}],
    [[], { CLAUDIKINS_DAEMON: "off" }],
  ] as const) {
    await seenBy(exec("return await seen.seen()", more, [...flags]));
    expect(await project.daemons()).toEqual([]);
    expect(await project.left()).toEqual([]);
  }
  const { exitCode, stderr } = await exec("return 1", { CLAUDIKINS_DAEMON: "perhaps" });
  expect([exitCode, stderr]).toEqual([2, 'error: CLAUDIKINS_DAEMON must be on or off; it is "perhaps"\n']);
});

test("commands that ask every server start no daemon, but use the servers of a running one", async () => {
  expect((await runProgram([...claudikinsCommand, "gen"], { cwd: folder(), env })).exitCode).toBe(4);
  expect(await project.daemons()).toEqual([]);
  const { pid } = await seenBy(exec("return await seen.seen()"));
  const { stderr } = await runProgram([...claudikinsCommand, "list", "--check", "--json"], { cwd: folder(), env });
  const { servers } = JSON.parse(stderr).list;
  expect(servers.find(({ server }: { server: string }) => server === "seen").pid).toBe(pid);
  expect(processesWith(`protocol stdio ${project.path}`)).toEqual([]);
});

describe("a private server", () => {
  test("is one process for each host, keeps its state, and ends with the host", async () => {
    const one = await host();
    await using two = await host();
    const [first, again, other] = [
      await seenByHost(one, "own"),
      await seenByHost(one, "own"),
      await seenByHost(two, "own"),
    ];
    expect([again.pid === first.pid, other.pid === first.pid]).toEqual([true, false]);
    await one[Symbol.asyncDispose]();
    await eventually(() => !processesWith(`${project.path}/own`).includes(first.pid));
    expect((await seenByHost(two, "own")).pid).toBe(other.pid);
  });

  test("is recognised without a setting: a browser is one process for each host, and memory is shared", async () => {
    const program = (name: string) => {
      const { command, args = [] } = fixture("seen", `${project.path}/${name.replaceAll("/", "-")}`);
      const words = shellLine([command, ...args]);
      const file = project.write(`node_modules/${name}/cli.sh`, `#!/bin/sh\nexec ${words} "$@"\n`);
      chmodSync(file, 0o755);
      return { command: file };
    };
    project.write("project/claudikins.json", {
      mcpServers: {
        browser: program("@playwright/mcp"),
        memory: program("@modelcontextprotocol/server-memory"),
      },
    });
    await using one = await host();
    await using two = await host();
    const pids = async (server: string) => [
      (await seenByHost(one, server)).pid,
      (await seenByHost(two, server)).pid,
      (await seenBy(exec(`return await ${server}.seen()`))).pid,
    ];
    expect(new Set(await pids("browser")).size).toBe(3);
    expect(new Set(await pids("memory")).size).toBe(1);
    const list = await runProgram([...claudikinsCommand, "list", "--json"], { cwd: folder(), env });
    const sessions = JSON.parse(list.stdout).servers.map((each: Record<string, string>) => [
      each["server"],
      each["session"],
    ]);
    expect(sessions).toEqual([
      ["browser", "private"],
      ["memory", "shared"],
    ]);
  });

  test("is one process for all shells without a session, and one for each named session", async () => {
    const code = "return await own.seen()";
    const [one, same, a, b] = [
      await seenBy(exec(code)),
      await seenBy(exec(code)),
      await seenBy(exec(code, { CLAUDIKINS_SESSION: "a" })),
      await seenBy(exec(code, { CLAUDIKINS_SESSION: "b" })),
    ];
    expect(one.pid).toBe(same.pid);
    expect(new Set([one.pid, a.pid, b.pid]).size).toBe(3);
    const file = join(folder(), ".claudikins", "registry", "other", "own", "seen.ts");
    const ran = await runProgram([process.execPath, file], { cwd: folder(), env: { ...env, CLAUDIKINS_SESSION: "a" } });
    expect(JSON.parse(ran.stdout).pid).toBe(a.pid);
  });
});

test("servers run in their project's folder; those of the user's config run in the caller's folder, and are shared there", async () => {
  const below = join(folder(), "below");
  mkdirSync(below);
  const code = "return await seen.seen()";
  expect((await seenBy(exec(code, {}, [], below))).cwd).toBe(folder());
  const user = join(project.path, "config", "claudikins");
  mkdirSync(user, { recursive: true });
  writeFileSync(join(user, "claudikins.json"), JSON.stringify({ mcpServers: { seen: fixture("seen", project.path) } }));
  const [one, two] = ["one", "two"].map((name) => join(project.path, name)) as [string, string];
  for (const path of [one, two]) mkdirSync(path);
  const [first, same, other] = [
    await seenBy(exec(code, {}, [], one)),
    await seenBy(exec(code, {}, [], one)),
    await seenBy(exec(code, {}, [], two)),
  ];
  expect([first.cwd, other.cwd]).toEqual([one, two]);
  expect([same.pid === first.pid, other.pid === first.pid]).toEqual([true, false]);
});

describe("two sessions of Claude Code in two folders, and Codex", () => {
  const roots = (path: string): HostOptions => ({
    capabilities: { roots: {}, elicitation: {} },
    prepare: (client) =>
      client.setRequestHandler(ListRootsRequestSchema, () => ({ roots: [{ uri: pathToFileURL(path).href }] })),
  });

  /** A program with the name of a well-known one, which reports its process and its folder. */
  function named(path: string, mark: string): string {
    const { command, args = [] } = fixture("seen", `${project.path}/${mark}`);
    const file = project.write(path, `#!/bin/sh\nexec ${shellLine([command, ...args])} "$@"\n`);
    chmodSync(file, 0o755);
    return file;
  }

  test("share one process of memory, filesystem and git; servers with a state, and unknown ones, stay apart", async () => {
    const [one, two, three, notes] = ["work/one", "work/two", "work/three", "notes"].map((name) => {
      const path = join(project.path, name);
      mkdirSync(path, { recursive: true });
      return path;
    }) as [string, string, string, string];
    mkdirSync(join(project.path, "home"), { recursive: true });
    const program = (name: string) => named(`node_modules/${name}/cli.sh`, name.replaceAll("/", "-"));
    project.write("config/claudikins/claudikins.json", {
      mcpServers: {
        memory: { command: program("@modelcontextprotocol/server-memory") },
        files: { command: program("@modelcontextprotocol/server-filesystem"), args: [notes] },
        git: { command: named("bin/mcp-server-git", "git"), args: ["--repository", notes] },
        browser: { command: program("@playwright/mcp") },
        other: fixture("seen", `${project.path}/other`),
        work: { command: program("@modelcontextprotocol/server-filesystem"), args: [join(project.path, "work")] },
      },
    });
    await using claude = await openHost({ path: one }, { ...roots(one), env });
    await using other = await openHost({ path: two }, { ...roots(two), env });
    await using codex = await openHost({ path: three }, { capabilities: { elicitation: {} }, env });
    const seen = (server: string) => Promise.all([claude, other, codex].map((each) => seenByHost(each, server)));
    const processes = async (server: string) => new Set((await seen(server)).map(({ pid }) => pid)).size;
    for (const server of ["memory", "files", "git"]) expect([server, await processes(server)]).toEqual([server, 1]);
    expect((await seen("memory")).map(({ cwd }) => cwd)).toEqual(Array(3).fill(join(project.path, "home")));
    for (const server of ["browser", "other"]) expect([server, await processes(server)]).toEqual([server, 3]);
    expect((await seen("other")).map(({ cwd }) => cwd)).toEqual([one, two, three]);
    // Both agents of the folder above open less of it than their user has named.
    expect(await processes("work")).toBe(3);
  });
});

describe("hosts with elicitation", () => {
  const capabilities = { elicitation: { form: {} } };
  const form = { message: "Who?", requestedSchema: { type: "object", properties: { name: { type: "string" } } } };
  const asking = `return JSON.stringify(await asker.ask(${JSON.stringify({ method: "elicitation/create", params: form })}))`;
  const person = (name: string, asked: string[]): HostOptions => ({
    capabilities,
    prepare: (client) =>
      client.setRequestHandler(ElicitRequestSchema, () => {
        asked.push(name);
        return { action: "accept", content: { name } };
      }),
  });

  test("share a server until it asks; then it belongs to the host whose call it was", async () => {
    const asked: string[] = [];
    await using one = await host(person("one", asked));
    await using two = await host(person("two", asked));
    await Promise.all([execute(one, "return await asker.seen()"), execute(two, "return await asker.seen()")]);
    expect(askers()).toBe(1);
    expect(await execute(two, asking)).toContain('"name":"two"');
    expect(await execute(one, asking)).toContain('"name":"one"');
    expect(await execute(two, asking)).toContain('"name":"two"');
    expect(asked).toEqual(["two", "one", "two"]);
    expect(askers()).toBe(2);
    const both = await Promise.all([one, two, one, two].map((each) => execute(each, asking)));
    expect(both.map((text) => /"name":"(\w+)"/.exec(text)?.[1])).toEqual(["one", "two", "one", "two"]);
  });

  test("do not share servers with hosts without elicitation", async () => {
    await using one = await host(person("one", []));
    await execute(one, "return await asker.seen()");
    await exec("return await asker.seen()");
    expect(askers()).toBe(2);
    expect(await execute(one, "return JSON.stringify(await asker.capabilities())")).toContain("elicitation");
    expect((await exec("return await asker.capabilities()")).stdout).not.toContain("elicitation");
  });
});

test("concurrent hosts with different roots each use their own, from the first call", async () => {
  const roots = ["one", "two"].map((name) => join(project.path, name));
  for (const path of roots) mkdirSync(path);
  writeFileSync(project.config, JSON.stringify({ mcpServers: { files: filesystem(folder()) } }));
  // A server whose tools are known gets its first request from the call.
  expect(await project.claudikins("gen")).toMatchObject({ exitCode: 0 });
  const hostIn = (path: string) =>
    host({
      capabilities: { roots: {} },
      prepare: (client) =>
        client.setRequestHandler(ListRootsRequestSchema, () => ({ roots: [{ uri: pathToFileURL(path).href }] })),
    });
  await using one = await hostIn(roots[0]!);
  await using two = await hostIn(roots[1]!);
  const write = (path: string) =>
    `await files.write_file({ path: ${JSON.stringify(join(path, "a.txt"))}, content: "x" })`;
  const answers = await Promise.all([
    ...[one, two].map((each) => execute(each, write(folder()))),
    ...[one, two].map((each, index) => execute(each, write(roots[1 - index]!))),
  ]);
  expect(answers.filter((text) => !text.includes("Access denied"))).toEqual([]);
  for (const [index, each] of [one, two].entries()) {
    expect(await execute(each, write(roots[index]!))).toContain("Successfully wrote");
  }
});

test("progress, cancellation and answers of two users are kept apart", async () => {
  const code = (words: string) => `return await asker.progress({ steps: 20, ms: 5, words: "${words}" })`;
  await using one = await host();
  await using two = await host();
  const asked = [one, two].map((of, at) => {
    const words = ["red", "blue"][at] ?? "";
    // Both use the same ids, because agents number their requests.
    const params = { name: "execute_code", arguments: { code: code(words) }, _meta: { progressToken: 1 } };
    return of.request("tools/call", params);
  });
  expect(JSON.stringify(await Promise.all(asked)).match(/reported/g)).toHaveLength(2);
  const heard = [one, two].map(({ told }) => JSON.stringify(told));
  expect(heard.map((text) => [text.includes("red"), text.includes("blue")])).toEqual([
    [true, false],
    [false, true],
  ]);
  const cancel = new AbortController();
  const waiting = one.request(
    "tools/call",
    { name: "execute_code", arguments: { code: "await asker.wait({ ms: 600000 })" } },
    { signal: cancel.signal },
  );
  await eventually(async () => (await project.daemons())[0]?.calls.running === 1);
  const other = execute(two, "return await asker.wait({ ms: 300 })");
  cancel.abort();
  expect(await waiting.catch(() => "cancelled")).toBe("cancelled");
  expect(await other).toContain("waited");
  await eventually(async () => (await project.daemons())[0]?.calls.running === 0);
});

test("updates of a resource reach its subscribers, until the last of them has gone", async () => {
  await using one = await host({ flags: ["--mode", "direct"] });
  await using two = await host({ flags: ["--mode", "direct"] });
  for (const each of [one, two]) await each.request("resources/subscribe", { uri: "file:///a" });
  await two.request("tools/call", { name: "touch-resource", arguments: { uri: "file:///a" } });
  await Promise.all([one, two].map((each) => each.hears("notifications/resources/updated")));
  await one[Symbol.asyncDispose]();
  await two.request("tools/call", { name: "touch-resource", arguments: { uri: "file:///a" } });
  await eventually(() => two.told.filter(({ method }) => method === "notifications/resources/updated").length === 2);
});

test("the output of a failed server is shown as without the daemon", async () => {
  const said = async (code: string, ...flags: string[]) => {
    const { exitCode, stderr } = await exec(code, {}, flags);
    return [exitCode, stderr.replace(/[\d,]+ ms|process \d+/g, "…").replaceAll(/^\[claudikins\].*\n/gm, "")];
  };
  for (const code of ["await broken.anything()", "await asker.exit()"]) {
    expect(await said(code)).toEqual(await said(code, "--no-daemon"));
  }
  // The server is started again.
  expect((await exec("return await asker.seen()")).exitCode).toBe(0);
});

test("a server whose first answer is an error, or that no caller could use, is not kept", async () => {
  const script = (answers: object) =>
    writeFileSync(join(project.path, "moody.json"), JSON.stringify({ capabilities: { tools: {} }, answers }));
  script({ initialize: { $error: { code: -32000, message: "not yet" } } });
  const { mcpServers } = await Bun.file(project.config).json();
  const moody = fixture("scripted", join(project.path, "moody.json"));
  writeFileSync(project.config, JSON.stringify({ mcpServers: { ...mcpServers, moody } }));
  const first = await exec("await moody.anything()");
  expect([first.exitCode, first.stderr]).toEqual([4, expect.stringContaining("its first answer is an error: not yet")]);
  await eventually(() => processesWith("moody.json").length === 0);
  const tools = [{ name: "anything", inputSchema: { type: "object" } }];
  script({ "tools/list": { tools }, "tools/call": { content: [{ type: "text", text: "now" }] } });
  expect((await exec("return await moody.anything({})")).stdout).toBe("now\n");
});

test("a server of 2026-07-28 is one process for all callers, and each answers its own questions", async () => {
  const { mcpServers } = await Bun.file(project.config).json();
  const modern = fixture("modern", "reject", "stdio", project.path);
  writeFileSync(project.config, JSON.stringify({ mcpServers: { ...mcpServers, modern } }));
  const processes = () => processesWith(`modern reject stdio ${project.path}`);
  expect((await exec("return [await modern.era(), await modern.echo({ value: 'a' })]")).stdout).toBe(
    '[\n  "modern",\n  "a"\n]\n',
  );
  const answering = (name: string): HostOptions => ({
    capabilities: { elicitation: {} },
    prepare: (client) => client.setRequestHandler(ElicitRequestSchema, () => ({ action: "accept", content: { name } })),
  });
  await using one = await host(answering("Ada"));
  await using two = await host(answering("Grace"));
  const greeting = "return await modern.greet()";
  const greetings = await Promise.all([execute(one, greeting), execute(two, greeting)]);
  expect(greetings.map((text) => text.split("\n")[0])).toEqual(["hello Ada", "hello Grace"]);
  await execute(one, "return await modern.grow()");
  await eventually(async () => (await execute(two, "return typeof (await modern.ripened())")).startsWith("string"));
  expect((await exec("return await modern.era()")).stdout).toBe("modern\n");
  // Callers without a person have a process of their own.
  expect(processes()).toHaveLength(2);
});

test("results of 50 MB pass through the daemon", async () => {
  const code = "return (await seen.large.raw({ characters: 50_000_000 })).content[0].text.length";
  const { stdout, stderr } = await exec(code, {}, ["--memory", "1024mb"]);
  expect([stdout.trim(), stderr.includes("error")]).toEqual(["50000003", false]);
});

describe("the end of the daemon", () => {
  test("by a signal during an agent's call fails the call at once, and the next call works", async () => {
    await using one = await host();
    const { pid } = await seenByHost(one);
    const running = execute(one, "return await seen.wait({ ms: 600000 })");
    await eventually(async () => (await project.daemons())[0]?.calls.running === 1);
    process.kill(await daemonPid(), "SIGKILL");
    expect(await running).toContain("the claudikins daemon that ran it has ended");
    expect((await seenByHost(one)).pid).not.toBe(pid);
    await eventually(() => !processesWith(`seen ${project.path}`).includes(pid));
  });

  test("for a newer version lets calls finish, and new calls use the newer version", async () => {
    await using one = await host();
    const { pid } = await seenByHost(one);
    const before = await daemonPid();
    const running = execute(one, "return await seen.wait({ ms: 1500 })");
    await eventually(async () => (await project.daemons())[0]?.calls.running === 1);
    expect(await openingAnswer({ version: "99.0.0" })).toMatchObject({ refused: { code: "OUTDATED" } });
    expect(await running).toContain("waited");
    expect((await seenByHost(one)).pid).not.toBe(pid);
    expect(await daemonPid()).not.toBe(before);
    await eventually(() => processesWith(`daemon run --config ${project.config}`).length === 1);
  });

  test("after a change of its config makes the next call of a host use the new entries", async () => {
    await using one = await host();
    await seenByHost(one);
    const { mcpServers } = await Bun.file(project.config).json();
    const args = [...mcpServers.seen.args, "changed"];
    writeFileSync(
      project.config,
      JSON.stringify({ mcpServers: { ...mcpServers, seen: { ...mcpServers.seen, args } } }),
    );
    const { pid } = await seenByHost(one);
    expect(processesWith("changed")).toContain(pid);
    const changed = await seenBy(exec("return await seen.seen()"));
    expect(processesWith("changed")).toContain(changed.pid);
  });

  test("or its silence makes commands start servers themselves", async () => {
    await seenBy(exec("return await seen.seen()"));
    const pid = await daemonPid();
    process.kill(pid, "SIGSTOP");
    try {
      const [{ exitCode, stderr }, called] = await Promise.all([
        exec("return await seen.seen()", { CLAUDIKINS_LOG: "warn" }),
        runProgram([...claudikinsCommand, "call", "seen.seen"], { cwd: folder(), env }),
      ]);
      expect([exitCode, stderr]).toEqual([0, expect.stringContaining("starting servers without the daemon")]);
      expect([called.exitCode, called.stderr]).toEqual([4, expect.stringContaining("The daemon stopped answering")]);
    } finally {
      process.kill(pid, "SIGCONT");
    }
  });
});

const runFolder = () => join(project.path, "runtime", "claudikins");
const socket = () => join(runFolder(), readdirSync(runFolder()).find((name) => name.endsWith(".sock")) ?? "none");

/** The answer to an opening request with these properties, or to the messages after it. */
async function openingAnswer(opening: object, then: object[] = []): Promise<unknown> {
  const { promise, resolve } = Promise.withResolvers<unknown>();
  const whole = { server: "seen", entry: "", cwd: "/", env: {}, capabilities: {}, session: "s", ...opening };
  const handler = (connection: MessageConnection): MessageHandler => ({
    message(bytes) {
      const answer = JSON.parse(String(bytes));
      if (!("opened" in answer) || then.length === 0) resolve(answer);
      else for (const message of then) connection.send(JSON.stringify(message));
    },
    close: () => resolve("closed"),
  });
  const connection = await connectToDaemon(socket(), "/servers", handler, AbortSignal.timeout(10_000));
  connection.send(JSON.stringify({ open: whole }));
  return promise;
}

test("invalid requests to open a server are refused, and affect no others", async () => {
  const { pid } = await seenBy(exec("return await seen.seen()"));
  const refused = (code: string) => ({ refused: expect.objectContaining({ code }) });
  expect(await openingAnswer({ version: 5 })).toEqual(refused("USAGE"));
  expect(await openingAnswer({ version: "0.0.1", env: null })).toEqual(refused("USAGE"));
  expect(await openingAnswer({ version: "0.0.1", server: "nobody" })).toEqual(refused("UNLIKE"));
  expect(await openingAnswer({ version: "0.0.1" })).toEqual(refused("UNLIKE"));
  expect((await seenBy(exec("return await seen.seen()"))).pid).toBe(pid);
});

test("denied tools cannot be called over the socket", async () => {
  const { mcpServers } = await Bun.file(project.config).json();
  const seen = { ...mcpServers.seen, deny: ["wait"] };
  writeFileSync(project.config, JSON.stringify({ mcpServers: { ...mcpServers, seen } }));
  await exec("return await seen.seen()");
  const { servers } = await loadConfig({ flag: project.config, cwd: folder(), env });
  const entry = entryMark(servers.get("seen")!);
  const call = (name: string) => ({
    jsonrpc: "2.0",
    id: 1,
    method: "tools/call",
    params: { name, arguments: { ms: 1 } },
  });
  const opening = { version: "0.0.1", entry };
  expect(await openingAnswer(opening, [call("wait")])).toMatchObject({
    id: 1,
    error: { message: expect.stringContaining("seen.wait is denied in the config by mcpServers.seen.deny") },
  });
  expect(await openingAnswer(opening, [call("seen")])).toMatchObject({ id: 1, result: {} });
});

test("without a folder for a daemon, servers belong to a command", async () => {
  const nowhere = project.write("a-file", "");
  const homeless = { ...env, HOME: nowhere, XDG_RUNTIME_DIR: "", XDG_DATA_HOME: "" };
  const called = await runProgram([...claudikinsCommand, "call", "seen.seen"], { cwd: folder(), env: homeless });
  expect(called).toMatchObject({ exitCode: 0, stdout: expect.stringContaining(folder()) });
  expect((await exec("return await seen.seen()", homeless)).exitCode).toBe(0);
});

test.skipIf(process.getuid?.() !== 0)("a socket of another user is not used", async () => {
  await seenBy(exec("return await seen.seen()"));
  chownSync(socket(), 1, 1);
  const { exitCode, stderr } = await exec("return await seen.seen()", { CLAUDIKINS_LOG: "warn" });
  expect([exitCode, stderr]).toEqual([0, expect.stringContaining("does not belong to you")]);
  const called = await runProgram([...claudikinsCommand, "call", "seen.seen"], { cwd: folder(), env });
  expect([called.exitCode, JSON.parse(called.stdout)]).toEqual([0, expect.objectContaining({ cwd: folder() })]);
  chownSync(socket(), 0, 0);
});
