/** The CPU that a replica with a Postgres takes for twenty callers over HTTP, beside a plain proxy of the same server. */

import { root } from "../../test/support/claudikins.ts";
import { rawSession, resultText } from "../../test/support/http-serve.ts";
import { postgresFixture, postgresNote } from "../../test/support/postgres.ts";
import { everything } from "../../test/support/servers.ts";
import { cpuOf, cpuOfExecutable, cpuOfParent } from "./cpu.ts";
import { startHttp } from "./host.ts";
import { hasProc, median } from "./measure.ts";
import { type Row, within } from "./report.ts";
import type { Bench, Measure } from "./section.ts";

const callers = 20;

/** Requests of one measurement, by all callers together. */
const requests = 400;

/** Requests of each caller before the first measurement: workers start, and engines compile code that runs often. */
const warmUpEach = 20;

/** Measurements of each kind of request, in turn. */
const rounds = 3;

/** By the calls of a program: its CPU, as a multiple of the CPU that the proxy takes for one call in Node. */
const limits = { "one call": 3, "five calls": 5 };

interface Work {
  name: string;
  tool: string;
  args: object;
}

const echo = { tool: "echo", args: { message: "x" } };
const called = 'await everything.echo({ message: "x" });';
const program = (name: string, code: string): Work => ({ name, tool: "execute_code", args: { code } });
const works: readonly Work[] = [
  { name: "search", tool: "search_tools", args: { query: "add two numbers" } },
  program("return 1", "return 1"),
  program("one call", `${called} return 1`),
  program("five calls", `${called.repeat(5)} return 1`),
];

/** Makes one request as a caller that has a session of its own. */
type Ask = (work: Omit<Work, "name">, caller: number) => Promise<void>;

export const measureReplica: Measure = async (bench) => {
  const missing = !hasProc ? "the CPU of a process is read from `/proc`" : postgresNote.trim();
  if (missing !== "") return { rows: [], notes: [`Not measured: ${missing}.`] };
  await using database = await postgresFixture();
  await using onNode = await startProxy("node");
  await using onBun = await startProxy(process.execPath);
  const proxies = { "SDK proxy, node": onNode, "SDK proxy, bun": onBun };
  await using replica = await startReplica(bench, await database.database());
  for (const work of works) await askAll(replica.ask, work, callers * warmUpEach);
  for (const { ask } of Object.values(proxies)) await askAll(ask, echo, callers * warmUpEach);
  const ofProxies = new Map(Object.keys(proxies).map((name): [string, number[]] => [name, []]));
  const ours = new Map(works.map(({ name }): [string, Used[]] => [name, []]));
  for (let round = 0; round < rounds; round++) {
    for (const [name, { pid, ask }] of Object.entries(proxies))
      ofProxies.get(name)!.push(await used(() => cpuOf(pid), ask, echo));
    for (const work of works) {
      const before = cpuOfParent(database.pid);
      const replicaMs = await used(() => cpuOfExecutable(bench.binary), replica.ask, work);
      ours.get(work.name)!.push({ replicaMs, databaseMs: (cpuOfParent(database.pid) - before) / requests });
    }
  }
  return {
    rows: works.map(({ name }) => rowOf(name, ours.get(name)!, ofProxies)),
    notes: [
      `${callers} callers with a session each make ${requests} requests, ${rounds} times in turn. The value is the CPU of one replica for each request, in the median. The replica has a Postgres, which it shares with no other.`,
      "The proxy is made as the documentation of the SDK shows it, and passes one call of `everything.echo` on for each request: it has no sandbox, no policy and no record. Neither the server that is called nor the callers are counted.",
      `The CPU of Postgres is for the same requests: ${works.map(({ name }) => `${median(ours.get(name)!.map(({ databaseMs }) => databaseMs)).toFixed(2)} ms for "${name}"`).join(", ")}.`,
    ],
  };
};

/** Milliseconds of CPU for each request. */
interface Used {
  replicaMs: number;
  databaseMs: number;
}

function rowOf(name: string, used: Used[], ofProxies: ReadonlyMap<string, number[]>): Row {
  const ours = median(used.map(({ replicaMs }) => replicaMs));
  const others = Object.fromEntries(
    [...ofProxies].map(([proxy, all]) => [proxy, { value: median(all), ratio: ours / median(all) }]),
  );
  const what = `${name}, ${callers} callers of a replica, CPU for each`;
  const row: Row = { what, unit: "ms", ours, others, counted: `${rounds} rounds` };
  const limit = limits[name as keyof typeof limits] as number | undefined;
  return limit === undefined ? row : within(row, "SDK proxy, node", limit);
}

/** Milliseconds of CPU for each request. */
async function used(cpu: () => number, ask: Ask, work: Omit<Work, "name">): Promise<number> {
  const before = cpu();
  await askAll(ask, work, requests);
  return (cpu() - before) / requests;
}

async function askAll(ask: Ask, work: Omit<Work, "name">, count: number): Promise<void> {
  let left = count;
  const lane = async (_: unknown, caller: number) => {
    while (left-- > 0) await ask(work, caller);
  };
  await Promise.all(Array.from({ length: callers }, lane));
}

interface Side extends AsyncDisposable {
  pid: number;
  ask: Ask;
}

/** `runtime` is `node` or `bun`. */
async function startProxy(runtime: string): Promise<Side> {
  const { command, args = [] } = everything();
  const child = Bun.spawn([runtime, `${root}/scripts/bench/peers/plain-proxy.mjs`, command, ...args], {
    stdin: "ignore",
    stdout: "pipe",
    stderr: "inherit",
  });
  const { value } = await child.stdout.getReader().read();
  if (!value) throw new Error("the plain proxy did not start");
  const url = `http://127.0.0.1:${new TextDecoder().decode(value).trim()}/mcp`;
  return {
    pid: child.pid,
    ask: await askerOf(url),
    async [Symbol.asyncDispose]() {
      child.kill("SIGTERM");
      await child.exited;
    },
  };
}

async function startReplica(bench: Bench, database: string): Promise<Pick<Side, "ask"> & AsyncDisposable> {
  // Nothing else may limit what is measured.
  const folder = bench.folder({ everything: everything() }, { limits: { callsInFlight: 1_000 } });
  const serve = await startHttp(bench.binary, folder, { CLAUDIKINS_DATABASE: database });
  return { ask: await askerOf(serve.url), [Symbol.asyncDispose]: () => serve[Symbol.asyncDispose]() };
}

async function askerOf(url: string): Promise<Ask> {
  const sessions = await Promise.all(Array.from({ length: callers }, () => rawSession(url)));
  let id = 0;
  return async ({ tool, args }, caller) => {
    id += 1;
    const params = { name: tool, arguments: args };
    const text = await resultText(await sessions[caller]!.post({ jsonrpc: "2.0", id, method: "tools/call", params }));
    if (/^Failed|^\{"code"|^\(no result\)/.test(text)) throw new Error(`${tool} failed: ${text}`);
  };
}
