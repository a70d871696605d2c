/** Servers that try to block the main thread: each becomes an outcome, and other sessions are not affected. */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { readFileSync } from "node:fs";
import { hostileLists } from "../hostile/lists.ts";
import { hostileResults, toolOf } from "../hostile/results.ts";
import { hostileSchemas } from "../hostile/schemas.ts";
import { type HttpServe, httpServe, type SdkHost, sdkHost } from "../support/http-serve.ts";
import { fixture } from "../support/servers.ts";
import { type TemporaryFolder, temporaryFolder } from "../support/temporary.ts";

setDefaultTimeout(120_000);

/** A ping is answered in a millisecond. This is far less than what these cases took. */
const longestPingMs = 1_000;

/** Work that blocks the other session blocks it every time; collecting garbage does it now and then. */
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
  // Each server lists its tools once. Learned in the background, they would be gone when the program's own session lists them.
  const config = { mcpServers: Object.fromEntries(entries), limits: { memoryMb: 512 }, surfaceLearns: false };
  const file = folder.write("config.json", config);
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

/**
 * Awaits work, and meanwhile sends requests in the other session, one after another. `longest` is the most that the main thread
 * computed during one of them, in milliseconds.
 */
async function besidePings<T>(work: () => Promise<T>): Promise<{ value: T; longest: number }> {
  let isOver = false;
  let longest = 0;
  const asking = (async () => {
    while (!isOver) {
      const before = mainThreadMs();
      await other.client.ping();
      longest = Math.max(longest, mainThreadMs() - before);
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

/** Linux counts the time in hundredths of a second. */
const msPerTick = 10;

/** The time that the server's main thread has computed: on a busy machine, requests take longer but compute no more. */
function mainThreadMs(): number {
  if (process.platform !== "linux") return performance.now();
  const stat = readFileSync(`/proc/${serve.pid}/task/${serve.pid}/stat`, "utf8");
  // The name in parentheses may contain spaces. The fields 14 and 15 are the times in the program and in the kernel.
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return (Number(fields[11]) + Number(fields[12])) * msPerTick;
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
