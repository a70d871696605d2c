/**
 * `bun run fuzz:protocol [--seed n] [--runs n] [--first n] [--kind name] [--ping ms] [--term ms] [--memory mb] [--disk mb]
 * [--binary path]`: lets programs, servers, agents and browsers do random and hostile things to claudikins, and watches its processes. It
 * tests the executable, which it builds unless `--binary` is given. A run is determined by the seed and its number. Exits with code 1 if
 * a call was made that no person has allowed, private data or a call of a changed tool reached a server, a ping or the end after SIGTERM took too long, memory or disk exceeded its limit, or a
 * process was left. A run with a slow ping is repeated five times, and counts with the third slowest ping: slowness of the program comes back
 * most of the time, and that of a busy machine does not. Run this on a machine that does nothing else.
 */
import { resolve } from "node:path";
import { parseArgs } from "node:util";
import { executable } from "../../../test/support/claudikins.ts";
import { postgresNote } from "../../../test/support/postgres.ts";
import { Random } from "../random.ts";
import { definitionsKind } from "./kinds/definitions.ts";
import { expiringKind } from "./kinds/expiring.ts";
import { floodsKind } from "./kinds/floods.ts";
import { gatedCallsKind } from "./kinds/gated-calls.ts";
import type { Kind } from "./kinds/kind.ts";
import { leaksKind } from "./kinds/leaks.ts";
import { ownersKind } from "./kinds/owners.ts";
import { pageKind } from "./kinds/page-requests.ts";
import { parkedKind } from "./kinds/parked.ts";
import { programsKind } from "./kinds/programs.ts";
import { questionsKind } from "./kinds/questions.ts";
import { Processes, Site } from "./site.ts";
import { type Look, watching } from "./watch.ts";

const { values } = parseArgs({
  options: {
    seed: { type: "string", default: String(Date.now() % 1_000_000) },
    runs: { type: "string", default: "10000" },
    first: { type: "string", default: "0" },
    /** Only runs of kinds whose names contain this. */
    kind: { type: "string", default: "" },
    ping: { type: "string", default: "100" },
    term: { type: "string", default: "2000" },
    memory: { type: "string", default: "1536" },
    disk: { type: "string", default: "2048" },
    binary: { type: "string" },
  },
});
const seed = Number(values.seed);
const limits = {
  pingMs: Number(values.ping),
  termMs: Number(values.term),
  memoryMb: Number(values.memory),
  diskMb: Number(values.disk),
};

/** The number of runs per process, which is ended by SIGTERM during the last one. */
const runsOfProcess = 200;

/** The number of repetitions of a run with a slow ping. */
const repetitions = 5;

const all: readonly Kind[] = [
  programsKind,
  questionsKind,
  floodsKind,
  gatedCallsKind,
  pageKind,
  parkedKind,
  expiringKind,
  leaksKind,
  definitionsKind,
  ownersKind,
];
if (postgresNote !== "") console.error(`The kind "${ownersKind.name}" is left out${postgresNote}`);
const possible = all.filter((each) => each !== ownersKind || postgresNote === "");
const kinds = possible.filter(({ name }) => name.includes(values.kind));

/** Apart from the numbers that the run itself draws. */
const kindSalt = 0x5eed;

function kindOf(index: number): Kind {
  let left = new Random(seed ^ kindSalt, index).next() * kinds.reduce((sum, { weight }) => sum + weight, 0);
  const found = kinds.find(({ weight }) => {
    left -= weight;
    return left < 0;
  });
  if (!found) throw new Error(`no kind is called ${values.kind}`);
  return found;
}

const problems: string[] = [];
/** Only the repetitions of a repeated run count. */
const most = { pingMs: 0, slowOnceMs: 0, termMs: 0, memoryMb: 0, diskMb: 0 };
const took = new Map<string, { runs: number; seconds: number }>();

function report(index: number, problem: string): void {
  const text = `seed ${seed}, run ${index} (${kindOf(index).name}): ${problem}`;
  problems.push(text);
  console.error(text);
}

function check(index: number, what: string, value: number, limit: number): void {
  if (value > limit) report(index, `${what} ${Math.round(value)}, limit ${limit}`);
}

using site = new Site([values.binary === undefined ? executable() : resolve(values.binary)]);

async function watched(index: number, processes: Processes): Promise<Look> {
  const run = { seed, index, random: new Random(seed, index), processes };
  return await watching(processes.running, kindOf(index).run(run));
}

/** The longest ping of the run. If it is too long, the median of those of its repetitions. */
async function pingOf(index: number, look: Look, processes: Processes): Promise<number> {
  if (look.longestPingMs <= limits.pingMs) return look.longestPingMs;
  const repeated: number[] = [];
  while (repeated.length < repetitions) repeated.push((await watched(index, processes)).longestPingMs);
  const texts = repeated.map(Math.round).join(", ");
  console.error(
    `seed ${seed}, run ${index} (${kindOf(index).name}): a ping to ${look.slowest} took ${Math.round(look.longestPingMs)} ms, then ${texts} ms`,
  );
  most.slowOnceMs = Math.max(most.slowOnceMs, look.longestPingMs);
  return repeated.toSorted((a, b) => a - b)[(repetitions - 1) / 2] ?? 0;
}

async function fullRun(index: number, processes: Processes): Promise<void> {
  const startedAt = performance.now();
  const look = await watched(index, processes);
  const kind = took.get(kindOf(index).name) ?? { runs: 0, seconds: 0 };
  kind.runs += 1;
  kind.seconds += (performance.now() - startedAt) / 1_000;
  took.set(kindOf(index).name, kind);
  most.memoryMb = Math.max(most.memoryMb, look.mostMemoryMb);
  check(index, `MB of memory of ${look.largest}:`, look.mostMemoryMb, limits.memoryMb);
  const pingMs = await pingOf(index, look, processes);
  most.pingMs = Math.max(most.pingMs, pingMs);
  check(index, "milliseconds to answer a ping:", pingMs, limits.pingMs);
  for (const failure of site.oracle.failures()) report(index, failure);
}

/** The last run is interrupted. */
async function lastRun(index: number, processes: Processes): Promise<void> {
  const run = { seed, index, random: new Random(seed, index), processes };
  void kindOf(index)
    .run(run)
    .catch(() => {});
  await Bun.sleep(new Random(seed, index).below(300));
  const { tookMs, left } = await processes.terminate();
  most.termMs = Math.max(most.termMs, tookMs);
  check(index, "milliseconds to obey SIGTERM:", tookMs, limits.termMs);
  for (const line of left) report(index, `this process was left: ${line}`);
  const diskMb = site.diskMb();
  most.diskMb = Math.max(most.diskMb, diskMb);
  check(index, "MB on disk:", diskMb, limits.diskMb);
  for (const failure of site.oracle.failures()) report(index, failure);
}

const startedAt = performance.now();
const begin = Number(values.first);
const end = begin + Number(values.runs);
for (let index = begin; index < end; ) {
  const last = Math.min(index - (index % runsOfProcess) + runsOfProcess, end) - 1;
  await using processes = new Processes(site);
  for (; index < last || (index === last && begin === last); index++) await fullRun(index, processes);
  await lastRun(last, processes);
  index = last + 1;
  const rounded = Object.entries(most).map(([name, value]) => `${name} ${Math.round(value)}`);
  const perSecond = (index - begin) / ((performance.now() - startedAt) / 1_000);
  console.error(`${index - begin} runs, ${perSecond.toFixed(1)} a second: ${rounded.join(", ")}`);
}
console.log(
  JSON.stringify({
    seed,
    runs: Number(values.runs),
    minutes: Number(((performance.now() - startedAt) / 60_000).toFixed(1)),
    problems: problems.length,
    ...Object.fromEntries(Object.entries(most).map(([name, value]) => [name, Math.round(value)])),
    secondsOfRun: Object.fromEntries(
      [...took].map(([name, { runs, seconds }]) => [name, Number((seconds / runs).toFixed(2))]),
    ),
  }),
);
process.exitCode = problems.length === 0 ? 0 : 1;
