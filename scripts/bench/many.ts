/** Many requests at once, over stdio and HTTP: times, the CPU that claudikins takes for each, and how evenly equal callers are served. */
import { rawSession, resultText } from "../../test/support/http-serve.ts";
import { everything } from "../../test/support/servers.ts";
import { cpuOfExecutable } from "./cpu.ts";
import { connected, startHttp } from "./host.ts";
import { hasProc, median, percentile } from "./measure.ts";
import { startExecutor } from "./peers/executor.ts";
import { type Other, type Row, within } from "./report.ts";
import { absent, type Bench, type Measure, Peers } from "./section.ts";

/** The numbers of requests at once. */
const counts = [1, 4, 8, 20, 64];

/** Requests of one measurement. */
const requests = 200;

/** Requests of each caller before a measurement: workers start, and engines compile code that runs often. */
const warmUpEach = 3;

/** Callers that are equal, and how long they work. */
const equal = { callers: 20, ms: 5_000 };

/** Slowest of a hundred that may be as many times the median. */
const p95Limit = 3;

/** The CPU for one request among twenty, as a multiple of the CPU for one alone. */
const cpuLimit = 1.2;

const fairLimit = 1.3;

interface Work {
  name: string;
  tool: "execute_code" | "search_tools";
  args: Record<string, string>;
  /** The same for peers that run code. */
  code?: string;
}

const echo = 'await everything.echo({ message: "x" });';
const program = (name: string, code: string): Work => ({ name, tool: "execute_code", args: { code }, code });
const works: readonly Work[] = [
  program("return 1", "return 1"),
  program("one call", `${echo} return 1`),
  program("five calls", `${echo.repeat(5)} return 1`),
  { name: "search", tool: "search_tools", args: { query: "add two numbers" } },
];

/** Makes one request, as a caller of its own if the transport has several. */
type Ask = (work: Work, caller: number) => Promise<unknown>;

interface Side extends AsyncDisposable {
  name: string;
  ask: Ask;
}

export const measureMany: Measure = async (bench) => {
  await using peers = await Peers.start(bench, { everything: everything() });
  await peers.leaveOut("node:vm", "deno");
  const { executor } = bench.found;
  if ("missing" in executor) Object.assign(peers.missing, absent({ executor }));
  else peers.running["executor"] = await startExecutor(executor, bench.folder());
  const rows: Row[] = [];
  for (const start of [overStdio, overHttp]) {
    await using side = await start(bench);
    for (const work of works) rows.push(...(await rowsOf(bench, side, work, peers)));
    rows.push(await fairness(side));
  }
  return {
    rows,
    notes: [
      `Each row is ${requests} requests, with as many under way as it says, after a warm-up. The value is the 95th percentile, beside the median of the same requests. Callers over HTTP have a session each; over stdio there is one session.`,
      "CPU is the time of all processes of claudikins on all cores, without the server that is called and without the client, which needs a core, too.",
      `The callers that are equal run "return 1" for ${equal.ms / 1_000} seconds as often as they can: the one that was served most, beside the one that was served least.`,
      "Peers are measured over stdio, and only with programs that they can run.",
    ],
  };
};

async function rowsOf(bench: Bench, side: Side, work: Work, peers: Peers): Promise<Row[]> {
  const rows: Row[] = [];
  const cpuMs = new Map<number, number>();
  for (const count of counts) {
    const { times, cpu } = await measured(count, (caller) => side.ask(work, caller), bench.binary);
    cpuMs.set(count, cpu / requests);
    const others: Record<string, Other> = { p50: ratioTo(percentile(times, 0.95), median(times)) };
    if (side.name === "stdio" && work.code !== undefined) Object.assign(others, await besideOf(peers, work, count));
    const what = `${work.name}, ${count} at once over ${side.name}, p95`;
    const row: Row = { what, unit: "ms", ours: percentile(times, 0.95), others, counted: `${requests} requests` };
    rows.push(count === 8 || count === 20 ? within(row, "p50", p95Limit) : row);
  }
  if (!hasProc) return rows;
  const [alone = 0, many = 0] = [cpuMs.get(1), cpuMs.get(20)];
  const others = { "one at a time": ratioTo(many, alone) };
  const what = `${work.name}, 20 at once over ${side.name}, CPU for each`;
  const cpu: Row = { what, unit: "ms", ours: many, others, counted: `${requests} requests` };
  return [...rows, within(cpu, "one at a time", cpuLimit)];
}

/** Only peers without a server of their own run a program that calls one: executor wants a person's approval for each. */
async function besideOf({ running, missing }: Peers, { name, code = "" }: Work, count: number) {
  const others: Record<string, Other> = { ...missing };
  for (const [peer, { execute }] of Object.entries(running)) {
    if (peer === "executor" && name !== "return 1") continue;
    const { times } = await measured(count, () => execute(code));
    others[peer] = { value: percentile(times, 0.95) };
  }
  return others;
}

async function fairness(side: Side): Promise<Row> {
  const served = new Array<number>(equal.callers).fill(0);
  const deadline = performance.now() + equal.ms;
  const lane = async (_: number, caller: number) => {
    while (performance.now() < deadline) {
      await side.ask(works[0]!, caller);
      served[caller]! += 1;
    }
  };
  await Promise.all(served.map(lane));
  const [most, least] = [Math.max(...served), Math.min(...served)];
  const others = { least: ratioTo(most, least) };
  const what = `programs of the caller served most, of ${equal.callers} over ${side.name}`;
  const row: Row = { what, unit: "executions", ours: most, others, counted: `${equal.ms / 1_000} s` };
  return within(row, "least", fairLimit);
}

function ratioTo(value: number, other: number): Other {
  return { value: other, ratio: value / other };
}

/** Milliseconds of each request, and of CPU of all of them. */
async function measured(count: number, ask: (caller: number) => Promise<unknown>, binary?: string) {
  const times: number[] = [];
  const lanes = async (all: number, note: (ms: number) => void) => {
    let left = all;
    const lane = async (_: unknown, caller: number) => {
      while (left-- > 0) {
        const startedAt = performance.now();
        await ask(caller);
        note(performance.now() - startedAt);
      }
    };
    await Promise.all(Array.from({ length: count }, lane));
  };
  await lanes(count * warmUpEach, () => {});
  const before = binary === undefined ? 0 : cpuOfExecutable(binary);
  await lanes(requests, (ms) => times.push(ms));
  return { times, cpu: binary === undefined ? 0 : cpuOfExecutable(binary) - before };
}

const config = () => ({ everything: everything() });

async function overStdio(bench: Bench): Promise<Side> {
  const { client } = await connected(
    { command: bench.binary, args: ["serve", "--trust"] },
    bench.folder(config(), settings),
  );
  return {
    name: "stdio",
    async ask({ tool, args }) {
      const { isError, content } = await client.callTool({ name: tool, arguments: args });
      if (isError) throw new Error(`${tool} failed: ${JSON.stringify(content)}`);
    },
    [Symbol.asyncDispose]: () => client.close(),
  };
}

/** Nothing else may limit what is measured. */
const settings = { limits: { callsInFlight: 1_000 } };

async function overHttp(bench: Bench): Promise<Side> {
  const serve = await startHttp(bench.binary, bench.folder(config(), settings));
  const sessions = await Promise.all(Array.from({ length: Math.max(...counts) }, () => rawSession(serve.url)));
  let id = 0;
  return {
    name: "HTTP",
    async ask({ tool, args }, caller) {
      id += 1;
      const params = { name: tool, arguments: args };
      const response = await sessions[caller]!.post({ jsonrpc: "2.0", id, method: "tools/call", params });
      const text = await resultText(response);
      if (/^Failed|^\{"code"/.test(text)) throw new Error(`${tool} failed: ${text}`);
    },
    async [Symbol.asyncDispose]() {
      await Promise.all(sessions.map((session) => session.end()));
      await serve[Symbol.asyncDispose]();
    },
  };
}
