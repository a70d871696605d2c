/** `claudikins call` as processes that share a daemon: arguments, results, failures, questions, and no process left. */
import { afterEach, beforeEach, describe, expect, setDefaultTimeout, test } from "bun:test";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Counts } from "../../src/programs/ledger/counts.ts";
import { claudikinsCommand } from "../support/command.ts";
import { type GeneratedProject, generatedProject } from "../support/daemon.ts";
import { eventually } from "../support/eventually.ts";
import { oauthFixture } from "../support/oauth.ts";
import { processesLeft, processesWith, runProgram } from "../support/process.ts";
import { everything, fixture } from "../support/servers.ts";
import { storedCounts } from "../support/stored.ts";
import { atTerminal } from "../support/terminal.ts";

setDefaultTimeout(60_000);

const tools = [
  {
    name: "find-it",
    inputSchema: {
      type: "object",
      properties: { query: { type: "string" }, limit: { type: "integer" } },
      required: ["query"],
    },
  },
  { name: "remove-it", annotations: { destructiveHint: true } },
  { name: "never-it" },
];

let project: GeneratedProject;
let record: string;
let env: Record<string, string>;

beforeEach(async () => {
  project = await generatedProject((folder) => {
    record = join(folder, "got.jsonl");
    const list = join(folder, "tools.json");
    void Bun.write(list, JSON.stringify(tools));
    return {
      rec: { ...fixture("recording", record, list), confirm: { "remove-it": "always" }, deny: ["never-it"] },
    };
  });
  env = { ...project.env, CLAUDIKINS_DAEMON: "on" };
});
afterEach(() => project[Symbol.asyncDispose]());

const cwd = () => join(project.path, "project");
const call = (words: string[], more: { stdin?: string; env?: Record<string, string>; cwd?: string } = {}) =>
  runProgram([...claudikinsCommand, "call", ...words], { cwd: cwd(), ...more, env: { ...env, ...more.env } });

async function value(words: string[]): Promise<unknown> {
  const { exitCode, stdout, stderr } = await call([...words, "--json"]);
  expect([exitCode, stderr]).toEqual([0, ""]);
  return JSON.parse(stdout).value;
}

/** The calls that the recording server received. */
const got = () =>
  existsSync(record)
    ? readFileSync(record, "utf8")
        .trim()
        .split("\n")
        .map((line) => JSON.parse(line).args)
    : [];

const running = async () => (await project.daemons())[0]?.calls.running;

test("ten concurrent first calls share one daemon and one server, which also answers the next call", async () => {
  const seen = await Promise.all(Array.from({ length: 10 }, () => value(["seen.seen"])));
  const pids = new Set(seen.map((each) => (each as { pid: number }).pid));
  expect(pids.size).toBe(1);
  expect(pids).toContain(((await value(["seen", "seen"])) as { pid: number }).pid);
  expect(await project.daemons()).toMatchObject([{ calls: { running: 0, done: 11 }, servers: { seen: "ready" } }]);
});

test("the daemon converts arguments; files and standard input belong to the caller", async () => {
  const folder = join(project.path, "project", "sub");
  await Bun.write(join(folder, "args.json"), '{"query":"file"}');
  await Bun.write(join(folder, "query.txt"), "of a file");
  for (const [words, stdin] of [
    [["query=5", "limit=5"]],
    [["@args.json", "limit=6"]],
    [["query=@query.txt"]],
    [["-", "limit=7"], '{"query":"typed"}'],
    [["--args", '{"query":"given","limit":8}']],
  ] as [string[], string?][]) {
    const ended = await call(["rec.find_it", ...words], { cwd: folder, ...(stdin === undefined ? {} : { stdin }) });
    expect(ended).toEqual({ exitCode: 0, stdout: "did find-it\n", stderr: "" });
  }
  expect(got()).toEqual([
    { query: "5", limit: 5 },
    { query: "file", limit: 6 },
    { query: "of a file" },
    { query: "typed", limit: 7 },
    { query: "given", limit: 8 },
  ]);
});

test("failures and exit codes are the same as without a daemon", async () => {
  for (const words of [
    ["rec.find-it", "limit=many"],
    ["rec.find-it", "quary=x"],
    ["rec.find-itt", "query=x"],
    ["rce.find-it"],
    ["rec"],
    ["seen.refuse"],
    ["seen.wait", "ms=600000", "--timeout", "100ms"],
    ["rec.never-it"],
    ["rec.remove-it"],
  ]) {
    for (const form of [[], ["--json"]]) {
      const ended = await call([...words, ...form]);
      const alone = await call([...words, ...form, "--no-daemon"]);
      // Causes are not moved.
      const stderr = alone.stderr.replace(/^ {2}caused by: .*\n/gm, "");
      expect([words, ended]).toEqual([words, { ...alone, stderr }]);
      expect([words, ended.stdout, [2, 4, 5].includes(ended.exitCode ?? 0)]).toEqual([words, "", true]);
    }
  }
  expect(got()).toEqual([]);
});

test("a missing sign-in exits with code 3", async () => {
  await using server = await oauthFixture();
  await Bun.write(project.config, JSON.stringify({ mcpServers: { far: { type: "http", url: server.url } } }));
  const { exitCode, stdout, stderr } = await call(["far.x"]);
  expect([exitCode, stdout]).toEqual([3, ""]);
  expect(stderr).toContain("claudikins auth login far");
});

test("an image is written relative to the caller's folder", async () => {
  await Bun.write(project.config, JSON.stringify({ mcpServers: { everything: everything() } }));
  const { exitCode, stderr } = await call(["everything.get-tiny-image", "--output", "logo.png"]);
  expect([exitCode, stderr]).toEqual([0, "Wrote logo.png (image/png, 4,033 bytes)\n"]);
  expect(readFileSync(join(cwd(), "logo.png")).subarray(1, 4).toString()).toBe("PNG");
});

describe("Ctrl-C during a call", () => {
  test("cancels the call and keeps the daemon running", async () => {
    const child = Bun.spawn([...claudikinsCommand, "call", "seen.wait", "ms=600000"], {
      cwd: cwd(),
      env,
      stderr: "pipe",
    });
    await eventually(async () => (await running()) === 1);
    child.kill("SIGINT");
    expect(await child.exited).toBe(130);
    expect(await child.stderr.text()).toContain("The call was cancelled");
    await eventually(async () => (await running()) === 0);
    expect(await value(["seen.seen"])).toMatchObject({ cwd: cwd() });
  });

  test("ends the server if there is no daemon", async () => {
    const mark = `seen ${project.path}`;
    const child = Bun.spawn([...claudikinsCommand, "call", "seen.wait", "ms=600000", "--no-daemon"], {
      cwd: cwd(),
      env,
      stderr: "pipe",
    });
    await eventually(() => processesWith(mark).length > 0);
    child.kill("SIGINT");
    expect(await child.exited).toBe(130);
    expect(await processesLeft(mark)).toEqual([]);
  });
});

test("a call fails at once if the daemon is killed, and the next call starts another daemon", async () => {
  const words = ["seen.wait", "ms=600000"];
  await using person = atTerminal([...claudikinsCommand, "call", ...words], { cwd: cwd(), env });
  const calling = call(words);
  await eventually(async () => (await running()) === 2);
  process.kill((await project.daemons())[0]?.pid ?? 0, "SIGKILL");
  const { exitCode, stdout, stderr } = await calling;
  expect([exitCode, stdout]).toEqual([4, ""]);
  expect(stderr).toContain("The daemon ended during the call, so the outcome of the call is unknown");
  await person.see("the claudikins daemon that ran it has ended");
  expect(await person.exited).toBe(4);
  expect(await value(["seen.seen"])).toMatchObject({ cwd: cwd() });
});

test("no daemon is started if it is turned off", async () => {
  await call(["seen.seen", "--no-daemon"]);
  await call(["seen.seen"], { env: { CLAUDIKINS_DAEMON: "off" } });
  expect(await project.daemons()).toEqual([]);
  const { exitCode, stderr } = await call(["seen.seen"], { env: { CLAUDIKINS_DAEMON: "maybe" } });
  expect([exitCode, stderr]).toEqual([2, 'error: CLAUDIKINS_DAEMON must be on or off; it is "maybe"\n']);
});

test("--wire and --verbose take effect in the caller's process, with the servers of the daemon", async () => {
  const seen = (await value(["seen.seen"])) as { pid: number };
  const { exitCode, stdout, stderr } = await call(["seen.seen", "--wire"]);
  expect([exitCode, JSON.parse(stdout).pid]).toEqual([0, seen.pid]);
  expect(stderr).toContain("seen → tools/call #");
  expect((await call(["seen.seen", "--verbose"])).stderr).toContain("seen");
});

test("the daemon counts calls, and the text that led to them", async () => {
  await call(["seen.seen", "via:skill"]);
  await call(["seen.refuse"]);
  await project.claudikins("daemon", "stop");
  const counts: Counts | undefined = [...(await storedCounts(env)).values()][0];
  expect(counts?.tools.get("seen")?.get("seen")).toMatchObject({ calls: 1, failures: 0 });
  expect(counts?.tools.get("seen")?.get("refuse")).toMatchObject({ calls: 1, failures: 1 });
  expect([...(counts?.hooks ?? [])]).toEqual([["shell skill", 1]]);
});

describe.skipIf(process.platform === "win32")("a person at a terminal", () => {
  const at = (words: string[]) => atTerminal([...claudikinsCommand, "call", ...words], { cwd: cwd(), env });

  test("is asked for confirmation, which the daemon cannot do; denied tools stay denied", async () => {
    {
      await using person = at(["rec.remove-it"]);
      await person.see("Allow the call to rec.remove-it?");
      await person.see("Call it?");
      expect(got()).toEqual([]);
      person.type("y\r");
      await person.see("did remove-it");
      expect(await person.exited).toBe(0);
    }
    expect(got()).toEqual([{}]);
    await using other = at(["rec.never-it"]);
    await other.see("rec.never-it is denied in the config");
    expect(await other.exited).toBe(2);
    expect(got()).toHaveLength(1);
  });

  test("is asked for each argument with --interactive", async () => {
    await using person = at(["rec.find-it", "--interactive"]);
    await person.see("query: ");
    person.type("words\r");
    await person.see("limit: ");
    person.type("many\r");
    await person.see("takes a whole number");
    await person.see("limit: ");
    person.type("3\r");
    await person.see("did find-it");
    expect(await person.exited).toBe(0);
    expect(got()).toEqual([{ query: "words", limit: 3 }]);
  });

  test("gets a large result completely", async () => {
    await using person = at(["seen.large", "characters=300000", "--json"]);
    expect(await person.exited).toBe(0);
    expect(JSON.parse(person.text.slice(person.text.indexOf("{"))).value).toHaveLength(150_001);
  });

  test("sees the progress of a long call", async () => {
    await Bun.write(project.config, JSON.stringify({ mcpServers: { everything: everything() } }));
    await using person = at(["everything.trigger-long-running-operation", "duration=4", "steps=2"]);
    await person.see("everything.trigger-long-running-operation: waiting for an answer");
    await person.see("everything.trigger-long-running-operation: 1/2");
    await person.see("Long running operation completed");
    expect(await person.exited).toBe(0);
  });
});

describe("the /call request", () => {
  const ask = (body: object) => {
    const folder = join(project.path, "runtime", "claudikins");
    const socket = readdirSync(folder).find((name) => name.endsWith(".sock")) ?? "none";
    return fetch("http://localhost/call", { unix: join(folder, socket), method: "POST", body: JSON.stringify(body) });
  };
  const given = [{ word: "query=a", key: "query", text: "a" }];

  test("answers with one JSON document", async () => {
    await call(["rec.find-it", "query=x"]);
    const answer = await ask({ target: "rec.find_it", given });
    expect(await answer.json()).toEqual({
      server: "rec",
      tool: "find-it",
      result: { content: [{ type: "text", text: "did find-it" }] },
    });
    for (const wrong of [
      { target: 5, given },
      { target: "rec.find-it" },
      { target: "rec.find-it", given: {} },
      { target: "rec.find-it", given: [null] },
      { target: "rec.find-it", given: [{ word: "x", key: "query" }] },
      { target: "rec.find-it", given: [{ word: "x", object: [] }] },
      { target: "rec.find-it", given, tool: 5 },
      { target: "rec.find-it", given, timeoutMs: "1" },
    ]) {
      const refused = await ask(wrong);
      expect([wrong, refused.status, await refused.json()]).toEqual([
        wrong,
        400,
        expect.objectContaining({ code: "USAGE" }),
      ]);
    }
    expect(got()).toHaveLength(2);
  });
});
