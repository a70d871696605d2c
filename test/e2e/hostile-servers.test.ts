/** Servers that try to block the main thread: each becomes an outcome, and other sessions are not affected. */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { readFileSync } from "node:fs";
import { toolOf } from "../fixtures/servers/hostile.ts";
import { hostileLists } from "../hostile/lists.ts";
import { hostileResults } from "../hostile/results.ts";
import { hostileSchemas } from "../hostile/schemas.ts";
import { type HttpServe, httpServe, type SdkHost, sdkHost } from "../support/http-serve.ts";
import { fixture } from "../support/servers.ts";
import { type TemporaryFolder, temporaryFolder } from "../support/temporary.ts";

setDefaultTimeout(120_000);

/** A ping is answered in a millisecond. This is far less than what these cases took. */
const longestPingMs = 1_000;

/** Work that blocks the other session blocks it every time; a busy machine does it now and then. */
const tries = 3;

/** Maximum resident memory of the process, in megabytes. */
const mostMemoryMb = 2_500;

const schemas = Object.keys(hostileSchemas);
const lists = Object.keys(hostileLists);
const results = Object.keys(hostileResults);

let folder: TemporaryFolder;
let serve: HttpServe;
let hostile: SdkHost;
let other: SdkHost;

beforeAll(async () => {
  folder = temporaryFolder();
  const entries = [
    ...schemas.map((name, index) => [`schema${index}`, fixture("hostile", "schema", name)]),
    ...lists.map((name, index) => [`list${index}`, fixture("hostile", "list", name)]),
    ["results", { ...fixture("hostile", "results"), callTimeoutMs: 60_000 }],
  ];
  const file = folder.write("config.json", { mcpServers: Object.fromEntries(entries), limits: { memoryMb: 512 } });
  serve = await httpServe(folder, ["--config", file, "--no-daemon"]);
  hostile = await sdkHost(serve.url);
  other = await sdkHost(serve.url);
});

afterAll(async () => {
  await serve?.[Symbol.asyncDispose]();
  folder?.[Symbol.dispose]();
});

/** Does the work, again if requests of the other session waited meanwhile. */
async function undisturbed<T>(work: () => Promise<T>): Promise<T> {
  let { value, longest } = await besidePings(work);
  for (let left = tries - 1; longest >= longestPingMs && left > 0; left--)
    ({ value, longest } = await besidePings(work));
  expect(longest).toBeLessThan(longestPingMs);
  expect(memoryMb()).toBeLessThan(mostMemoryMb);
  return value;
}

/** Awaits work, and meanwhile sends requests in the other session, one after another. */
async function besidePings<T>(work: () => Promise<T>): Promise<{ value: T; longest: number }> {
  let isOver = false;
  let longest = 0;
  const asking = (async () => {
    while (!isOver) {
      const startedAt = performance.now();
      await other.client.ping();
      longest = Math.max(longest, performance.now() - startedAt);
      await Bun.sleep(20);
    }
  })();
  try {
    const value = await work();
    isOver = true;
    await asking;
    return { value, longest };
  } finally {
    isOver = true;
  }
}

function memoryMb(): number {
  if (process.platform !== "linux") return 0;
  return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${serve.pid}/status`, "utf8"))?.[1]) / 1_024;
}

const outcome = `.then((value) => "answered " + typeof value, (error) => "failed " + (error.code ?? error.name))`;

test.each(schemas)("a hostile schema does not disturb the other session: %s", async (name) => {
  const { args } = hostileSchemas[name]!();
  const code = `return await schema${schemas.indexOf(name)}.call(${args})${outcome}`;
  expect(await undisturbed(() => hostile.execute(code))).toMatch(
    /^(?:answered|failed (?:INVALID_ARGUMENTS|ARGUMENTS_TOO_LARGE))/,
  );
});

test.each(lists)("a hostile list of tools does not disturb the other session: %s", async (name) => {
  const code = `return await servers.list${lists.indexOf(name)}.good({})${outcome}`;
  expect(await undisturbed(() => hostile.execute(code))).toMatch(/^(?:answered|failed|TOOL_NOT_FOUND|.*has no tool)/);
});

test.each(results)("a hostile result does not disturb the other session: %s", async (name) => {
  const code = `return await results.${toolOf(name)}({})${outcome}`;
  expect(await undisturbed(() => hostile.execute(code))).toMatch(/^(?:answered|failed|Failed \((?:memory|stack)\))/);
});

test("the other session can still search after all hostile servers", async () => {
  const found = await undisturbed(() =>
    hostile.client.callTool({ name: "search_tools", arguments: { query: "good" } }),
  );
  expect(JSON.stringify(found.content)).toContain("good");
});
