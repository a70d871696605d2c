/** An agent gets only the executions that it started itself, whatever id it knows; the command line gets all of its config. */
import { afterEach, beforeEach, describe, expect, setDefaultTimeout, test } from "bun:test";
import { join } from "node:path";
import { storeFile } from "../../src/config/locations.ts";
import { openDatabase } from "../../src/store/sqlite/database.ts";
import { claudikinsCommand } from "../support/command.ts";
import { eventually } from "../support/eventually.ts";
import { openHost } from "../support/host.ts";
import { type HttpServe, httpServe, type RawSession, rawSession, resultText } from "../support/http-serve.ts";
import { modernAnswer } from "../support/modern-host.ts";
import { runProgram, testEnvironment } from "../support/process.ts";
import { type TemporaryFolder, temporaryFolder } from "../support/temporary.ts";

setDefaultTimeout(120_000);

let folder: TemporaryFolder;
const serves: HttpServe[] = [];
beforeEach(() => {
  folder = temporaryFolder();
  folder.write("claudikins.json", { mcpServers: {} });
});
afterEach(async () => {
  for (const serve of serves.splice(0)) await serve[Symbol.asyncDispose]();
  folder[Symbol.dispose]();
});

async function serve(): Promise<HttpServe> {
  const started = await httpServe(folder);
  serves.push(started);
  return started;
}

/** Lets a process end as a service does. */
async function end(started: HttpServe): Promise<void> {
  started.signal("SIGTERM");
  expect(await started.exited).toBe(0);
}

type Execute = (args: object) => Promise<string>;

let lastId = 0;

const inSession =
  (session: RawSession): Execute =>
  async (args) => {
    lastId += 1;
    const params = { name: "execute_code", arguments: args };
    return resultText(await session.post({ jsonrpc: "2.0", id: lastId, method: "tools/call", params }));
  };

const session = (url: string, name: string) => rawSession(url, "2025-11-25", {}, name);

/** A client of the revision without sessions. */
const modern =
  (url: string, name: string): Execute =>
  async (args) => {
    const { result } = await modernAnswer(url, "tools/call", { name: "execute_code", arguments: args }, { name });
    return result?.content?.[0]?.text.replace(/\n\n\[[^\n]*\]$/, "") ?? "(no result)";
  };

const secret = "the outcome of another agent";

/** Starts a program in the background, and returns its id. */
async function start(execute: Execute, code = `return ${JSON.stringify(secret)}`): Promise<string> {
  const text = await execute({ code, background: true });
  const [, id] = /\{"resume": "(\w+)"\}/.exec(text) ?? [];
  // A program that ends at once is answered at once.
  if (id === undefined) throw new Error(text);
  expect(id).toMatch(/^[0-9a-z]{28}$/);
  return id;
}

/** It does not end within the time that the answer to a program in the background takes. */
const slow = `await sleep(400); return ${JSON.stringify(secret)}`;

const unknown = "0t80fs9gjc4vk2q7xh9mzc3wd8rn";

/** The answer for an execution that is not the agent's is that for one that does not exist. */
async function expectUnknown(execute: Execute, id: string): Promise<void> {
  const answer = await execute({ resume: id });
  expect(answer).toContain(`There is no execution "${id}"`);
  expect(answer.replaceAll(id, "ID")).toBe((await execute({ resume: unknown })).replaceAll(unknown, "ID"));
}

describe("over HTTP, an execution of a session", () => {
  test("is unknown to clients with another name, in both eras, while it runs and after it has ended", async () => {
    const { url } = await serve();
    const a = inSession(await session(url, "a"));
    const b = inSession(await session(url, "b"));
    const id = await start(a, slow);
    await expectUnknown(b, id);
    await expectUnknown(modern(url, "b"), id);
    expect(await a({ resume: id })).toBe(secret);
    await expectUnknown(b, id);
    await expectUnknown(modern(url, "b"), id);
    expect(await a({ resume: id })).toBe(secret);
  });

  test("belongs to its session while that is open and its client connected, and to sessions and requests of the same client afterwards", async () => {
    const { url } = await serve();
    const [first, second, other] = [await session(url, "a"), await session(url, "a"), await session(url, "b")];
    const id = await start(inSession(first), slow);
    await expectUnknown(inSession(second), id);
    await expectUnknown(modern(url, "a"), id);
    expect(await inSession(first)({ resume: id })).toBe(secret);
    await expectUnknown(inSession(second), id);
    await first.end();
    expect(await inSession(second)({ resume: id })).toBe(secret);
    expect(await modern(url, "a")({ resume: id })).toBe(secret);
    await expectUnknown(inSession(other), id);
  });

  test("belongs to the same client when the connection of its session breaks, even if a request of the session still runs", async () => {
    const { url } = await serve();
    const [broken, next, other] = [await session(url, "a"), await session(url, "a"), await session(url, "b")];
    const [listening, waiting] = [new AbortController(), new AbortController()];
    const stream = await broken.get(undefined, { signal: listening.signal });
    const id = await start(inSession(broken), `await sleep(5_000); return ${JSON.stringify(secret)}`);
    lastId += 1;
    const params = { name: "execute_code", arguments: { resume: id } };
    const request = { jsonrpc: "2.0", id: lastId, method: "tools/call", params };
    const answer = await broken.post(request, { signal: waiting.signal });
    await expectUnknown(inSession(next), id);
    // An agent is killed, and starts again.
    listening.abort();
    waiting.abort();
    await Promise.allSettled([stream.text(), answer.text()]);
    const isKnown = async () => !(await modern(url, "a")({ resume: id, timeout_ms: 1 })).includes("no execution");
    await eventually(isKnown, { withinMs: 4_000 });
    await expectUnknown(inSession(other), id);
    expect(await inSession(next)({ resume: id })).toBe(secret);
  });

  test("belongs to the same client after a restart, and nobody else can continue it", async () => {
    const before = await serve();
    const id = await start(
      inSession(await session(before.url, "a")),
      `await sleep(3_000); return ${JSON.stringify(secret)}`,
    );
    await end(before);
    const { url } = await serve();
    const other = inSession(await session(url, "b"));
    await expectUnknown(other, id);
    await expectUnknown(modern(url, "b"), id);
    expect(await inSession(await session(url, "a"))({ resume: id })).toBe(secret);
    await expectUnknown(other, id);
  });
});

describe("over HTTP, an execution of the revision without sessions", () => {
  test("belongs to its client, in both eras and after a restart", async () => {
    const before = await serve();
    const id = await start(modern(before.url, "a"), slow);
    await expectUnknown(modern(before.url, "b"), id);
    await expectUnknown(modern(before.url, ""), id);
    await expectUnknown(inSession(await session(before.url, "b")), id);
    expect(await modern(before.url, "a")({ resume: id })).toBe(secret);
    await end(before);
    const { url } = await serve();
    await expectUnknown(modern(url, "b"), id);
    expect(await modern(url, "a")({ resume: id })).toBe(secret);
    expect(await inSession(await session(url, "a"))({ resume: id })).toBe(secret);
  });
});

describe("the user's own executions", () => {
  test("are unknown over HTTP; those of HTTP are unknown on stdio; the command line gets both", async () => {
    const { url } = await serve();
    await using host = await openHost(folder);
    const stdio: Execute = async (args) => {
      const { content } = (await host.call("execute_code", args)) as { content: { text: string }[] };
      return content[0]!.text.replace(/\n\n\[[^\n]*\]$/, "");
    };
    const remote = inSession(await session(url, "test"));
    const [own, theirs] = [await start(stdio, slow), await start(remote, slow)];
    await expectUnknown(remote, own);
    await expectUnknown(modern(url, "test"), own);
    await expectUnknown(stdio, theirs);
    expect([await stdio({ resume: own }), await remote({ resume: theirs })]).toEqual([secret, secret]);
    await expectUnknown(remote, own);
    await expectUnknown(stdio, theirs);
    for (const id of [own, theirs]) {
      const { exitCode, stdout } = await runProgram([...claudikinsCommand, "executions", "wait", id], {
        cwd: folder.path,
        env: { XDG_DATA_HOME: join(folder.path, "data") },
      });
      expect([exitCode, stdout]).toEqual([0, `${secret}\n`]);
    }
  });

  test("are unknown to every agent with another config, whose path it does not learn; the command line names it", async () => {
    const before = await serve();
    const id = await start(inSession(await session(before.url, "a")), slow);
    await end(before);
    const env = testEnvironment({ XDG_DATA_HOME: join(folder.path, "data") });
    const database = await openDatabase(storeFile(env));
    database.run("UPDATE executions SET config = '/home/somebody/elsewhere/claudikins.json'");
    database.close();
    const { url } = await serve();
    await using host = await openHost(folder);
    const stdio: Execute = async (args) => {
      const { content } = (await host.call("execute_code", args)) as { content: { text: string }[] };
      return content[0]!.text;
    };
    for (const agent of [inSession(await session(url, "a")), modern(url, "a"), stdio]) {
      await expectUnknown(agent, id);
      expect(await agent({ resume: id })).not.toContain("elsewhere");
    }
    const { exitCode, stderr } = await runProgram([...claudikinsCommand, "executions", "show", id], {
      cwd: folder.path,
      env,
    });
    expect([exitCode, stderr]).toEqual([
      2,
      expect.stringContaining("Add --config /home/somebody/elsewhere/claudikins.json"),
    ]);
  });
});
