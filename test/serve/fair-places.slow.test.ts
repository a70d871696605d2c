/** Programs of one token do not keep those of another waiting, whatever they wait for and however many there are. */
import { afterEach, beforeEach, describe, expect, setDefaultTimeout, test } from "bun:test";
import { join } from "node:path";
import { issueToken } from "../../src/serve/tokens/manage.ts";
import {
  executeRequest,
  type HttpServe,
  httpServe,
  type RawSession,
  rawSession,
  resultText,
} from "../support/http-serve.ts";
import { fixture } from "../support/servers.ts";
import { type TemporaryFolder, temporaryFolder } from "../support/temporary.ts";

setDefaultTimeout(120_000);

let folder: TemporaryFolder;
let serve: HttpServe;
/** The sessions of the token that takes all that it can get. */
let crowd: RawSession[];
let other: RawSession;

async function start(config: object = {}): Promise<void> {
  folder.write("claudikins.json", {
    mcpServers: { echo: fixture("echo", "well", folder.path) },
    executions: { answerAfterMs: false },
    limits: { timeoutMs: 60_000 },
    ...config,
  });
  serve = await httpServe(folder, [], { token: "kept" });
  const session = async (token: string, name: string) =>
    rawSession(serve.url, "2025-03-26", {}, name, { authorization: `Bearer ${token}` });
  const [greedy, modest] = [await issue(), await issue()];
  crowd = await Promise.all(Array.from({ length: 40 }, (_, number) => session(greedy, `greedy-${number}`)));
  other = await session(modest, "modest");
}

async function issue(): Promise<string> {
  const env = { XDG_DATA_HOME: join(folder.path, "data") };
  return (await issueToken({ config: join(folder.path, "claudikins.json") }, env)).token;
}

beforeEach(() => {
  folder = temporaryFolder();
});
afterEach(async () => {
  await serve[Symbol.asyncDispose]();
  folder[Symbol.dispose]();
});

let id = 0;
async function run(session: RawSession, code: string): Promise<string> {
  id += 1;
  return resultText(await session.post(executeRequest(id, code)));
}

/** Starts programs of the greedy token, in all of its sessions. Batches, because a client opens at most 256 connections. */
function flood(count: number, code: string, signal?: AbortSignal): void {
  const all = Array.from({ length: count }, (_, number) => executeRequest(1_000 + number, code));
  const batches = crowd.map((session, number) => ({
    session,
    all: all.filter((_, each) => each % crowd.length === number),
  }));
  const started = batches.filter(({ all }) => all.length > 0);
  // The answers are read: a request whose client has gone is cancelled.
  const ended = started.map(
    async ({ session, all }) => await (await session.post(all, signal ? { signal } : {})).text(),
  );
  void Promise.allSettled(ended);
}

async function msOf(work: () => Promise<unknown>): Promise<number> {
  const begun = performance.now();
  await work();
  return performance.now() - begun;
}

/** Milliseconds that a program of the other token takes: the longest of some. */
async function longest(code: string, result: string): Promise<number> {
  const all: number[] = [];
  for (let each = 0; each < 4; each++) {
    all.push(await msOf(async () => expect(await run(other, code)).toBe(result)));
    await Bun.sleep(100);
  }
  return Math.max(...all);
}

/** A program beside the crowd takes at most this much longer than alone. Without shares, it takes 19 s and more. */
const patienceMs = 6_000;

describe.each([
  ["16 programs that wait for a slow tool", 16, "await echo.echo({ delayMs: 20_000 })"],
  ["40 programs that wait for a slow tool", 40, "await echo.echo({ delayMs: 20_000 })"],
  [
    "40 programs with many slow calls each",
    40,
    "await Promise.all(Array.from({ length: 8 }, () => echo.echo({ delayMs: 20_000 })))",
  ],
  ["40 programs that sleep", 40, "await sleep(20_000)"],
  ["40 busy loops", 40, "while (true);"],
  ["40 programs that wake up at once and then compute", 40, "await sleep(500); while (true);"],
  ["40 programs that are awake every millisecond", 40, "for (;;) await sleep(1)"],
  ["a flood of 300 programs that wait for a slow tool", 300, "await echo.echo({ delayMs: 20_000 })"],
  ["a flood of 300 programs that compute", 300, "const end = Date.now() + 500; while (Date.now() < end);"],
])("%s of one token", (_, count, code) => {
  test("do not keep another token's programs waiting", async () => {
    await start();
    const alone = await longest("return 1", "1");
    flood(count, code);
    await Bun.sleep(1_000);
    expect(await longest("return 1", "1")).toBeLessThan(alone + patienceMs);
  });
});

test("calls of one token that fill a server, and its quota, do not keep another token's calls waiting", async () => {
  await start({ quotas: { callsAtOnce: 40 } });
  const code = "return (await echo.echo({ text: 'x' })).text";
  const alone = await longest(code, "x");
  flood(40, "await Promise.all(Array.from({ length: 8 }, () => echo.echo({ delayMs: 20_000 })))");
  await Bun.sleep(1_000);
  expect(await longest(code, "x")).toBeLessThan(alone + patienceMs);
});

test("executions of one token that fill the quota do not keep another token's programs waiting", async () => {
  await start({ quotas: { executionsAtOnce: 8 } });
  const alone = await longest("return 1", "1");
  flood(40, "await echo.echo({ delayMs: 20_000 })");
  await Bun.sleep(1_000);
  expect(await longest("return 1", "1")).toBeLessThan(alone + patienceMs);
});

test("programs that wait for approvals, and cancelled ones, leave nothing behind that keeps others waiting", async () => {
  await start({ policy: { confirm: "always" } });
  const alone = await longest("return 1", "1");
  const ending = new AbortController();
  flood(300, "await echo.echo({})", ending.signal);
  await Bun.sleep(1_000);
  expect(await longest("return 1", "1")).toBeLessThan(alone + patienceMs);
  ending.abort();
  flood(300, "await echo.echo({ delayMs: 20_000 })");
  await Bun.sleep(500);
  expect(await longest("return 1", "1")).toBeLessThan(alone + patienceMs);
});

test("a program that has given its place away gets one back when its answer arrives, although others compute", async () => {
  await start();
  const code = "const { text } = await echo.echo({ delayMs: 500, text: 'late' }); return text";
  const answers = Array.from({ length: 5 }, () => run(other, code));
  flood(40, "const end = Date.now() + 3_000; while (Date.now() < end);");
  const begun = performance.now();
  expect(await Promise.all(answers)).toEqual(Array(5).fill("late"));
  expect(performance.now() - begun).toBeLessThan(3_000 + patienceMs);
});
