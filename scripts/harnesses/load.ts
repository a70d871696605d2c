/**
 * `bun run load [--seconds n] [--rounds n] [--seed n] [--kind name]`: nine agents work at one `serve --http` of the built executable while a
 * tenth floods it behind a door with a quota. For each kind of quota, the time of the nine is measured alone and with the flood, in turns.
 * Exits with code 1 if their 95th percentile with the flood is more than 1.5 times the one alone, or if a call failed.
 */
import { parseArgs } from "node:util";
import { executable } from "../../test/support/claudikins.ts";
import { httpServe, sdkHost } from "../../test/support/http-serve.ts";
import { temporaryFolder } from "../../test/support/temporary.ts";
import { Random } from "./random.ts";

/** Quotas and limits of the door, and the program with which an agent floods it. */
interface Flood {
  door: object;
  code: string;
  /** Programs that the agent sends at once. */
  atOnce: number;
}

const busy = "let sum = 0; for (let n = 0; n < 3e6; n++) sum += n % 7; return sum;";
const manyCalls = (arg: string) =>
  `await Promise.allSettled(Array.from({ length: 100 }, () => demo.list_orders({ ${arg} }))); return 1`;

export const floods: Record<string, Flood> = {
  executionsAtOnce: { door: { quotas: { executionsAtOnce: 1 } }, code: busy, atOnce: 8 },
  callsAtOnce: { door: { quotas: { callsAtOnce: 1, executionsAtOnce: 1 } }, code: manyCalls("limit: 100"), atOnce: 8 },
  callsPerMinute: {
    door: { quotas: { callsPerMinute: 300, executionsAtOnce: 1 } },
    code: manyCalls("limit: 1"),
    atOnce: 8,
  },
  mbPerDay: { door: { quotas: { mbPerDay: 1, executionsAtOnce: 1 } }, code: manyCalls("limit: 100"), atOnce: 8 },
  seconds: { door: { limits: { cpuMs: 50 }, quotas: { executionsAtOnce: 1 } }, code: "for (;;) {}", atOnce: 8 },
  memory: {
    door: { limits: { memoryMb: 32 }, quotas: { executionsAtOnce: 1 } },
    code: "const all = []; for (;;) all.push(new Uint8Array(1e6).fill(1));",
    atOnce: 8,
  },
};

export interface LoadOptions {
  /** The length of each measurement. */
  seconds: number;
  /** Measurements alone and with the flood, for each kind. */
  rounds: number;
  seed: number;
  kinds: string[];
  report?: (line: string) => void;
}

export interface LoadResult {
  kind: string;
  /** Milliseconds: the 95th percentile. */
  alone: number;
  flooded: number;
  /** Programs of the flood that were answered. */
  floods: number;
  errors: string[];
}

const agents = 9;
/** The mean pause of an agent between two programs. */
const pauseMs = 150;

export async function load({ seconds, rounds, seed, kinds, report = () => {} }: LoadOptions): Promise<LoadResult[]> {
  using folder = temporaryFolder();
  const demo = { command: executable(), args: ["demo"] };
  const doors = Object.fromEntries(kinds.map((kind) => [kind.toLowerCase(), floods[kind]!.door]));
  folder.write("claudikins.json", { mcpServers: { demo }, doors });
  await using serve = await httpServe(folder, [], { command: [executable()] });
  const results: LoadResult[] = [];
  for (const kind of kinds) {
    const url = new URL(`/${kind.toLowerCase()}`, serve.url).href;
    const result: LoadResult = { kind, alone: 0, flooded: 0, floods: 0, errors: [] };
    const times = { alone: [] as number[], flooded: [] as number[] };
    await worked(serve.url, 1, seed, result.errors);
    for (let round = 0; round < rounds; round++) {
      times.alone.push(...(await worked(serve.url, seconds, seed + round, result.errors)));
      const ending = new AbortController();
      const flooding = flood(url, floods[kind]!, ending.signal, result);
      await Bun.sleep(500);
      times.flooded.push(...(await worked(serve.url, seconds, seed + round, result.errors)));
      ending.abort();
      await flooding;
    }
    result.alone = percentile(times.alone);
    result.flooded = percentile(times.flooded);
    report(lineOf(result));
    results.push(result);
  }
  return results;
}

/** The times of the programs of all agents, in milliseconds. */
async function worked(url: string, seconds: number, seed: number, errors: string[]): Promise<number[]> {
  const deadline = performance.now() + seconds * 1_000;
  const times: number[] = [];
  await Promise.all(
    Array.from({ length: agents }, async (_, index) => {
      const random = new Random(seed, index);
      await using host = await sdkHost(url);
      while (performance.now() < deadline) {
        await Bun.sleep(2 * pauseMs * random.next());
        const begun = performance.now();
        const text = await host.execute(
          `return (await demo.list_orders({ limit: ${1 + random.below(5)} })).orders.length`,
        );
        times.push(performance.now() - begun);
        if (!/^[1-5]$/.test(text)) errors.push(text.slice(0, 200));
      }
    }),
  );
  return times;
}

async function flood(url: string, { code, atOnce }: Flood, signal: AbortSignal, result: LoadResult): Promise<void> {
  await using host = await sdkHost(url);
  await Promise.all(
    Array.from({ length: atOnce }, async () => {
      while (!signal.aborted) {
        await host.execute(code);
        result.floods += 1;
      }
    }),
  );
}

function percentile(times: number[]): number {
  return times.sort((a, b) => a - b)[Math.floor(times.length * 0.95)] ?? 0;
}

const mostTimes = 1.5;

/** The problems of the results, in words. */
export function problemsOf(results: readonly LoadResult[]): string[] {
  return results.flatMap(({ kind, alone, flooded, floods: answered, errors }) => [
    ...(flooded > mostTimes * alone ? [`${kind}: ${(flooded / alone).toFixed(2)} times as long with the flood`] : []),
    ...(answered === 0 ? [`${kind}: the flood got no answer`] : []),
    ...errors.slice(0, 3).map((error) => `${kind}: ${error}`),
  ]);
}

function lineOf({ kind, alone, flooded, floods: answered }: LoadResult): string {
  const times = `${alone.toFixed(1)} ms alone, ${flooded.toFixed(1)} ms with the flood`;
  return `${kind}: ${times} (${(flooded / alone).toFixed(2)}x), ${answered} programs of the flood`;
}

async function main(): Promise<number> {
  const { values } = parseArgs({
    options: {
      seconds: { type: "string", default: "5" },
      rounds: { type: "string", default: "3" },
      seed: { type: "string", default: String(Date.now() % 1_000_000) },
      kind: { type: "string", multiple: true, default: Object.keys(floods) },
    },
  });
  const { seconds, rounds, seed, kind: kinds } = values;
  console.log(`seed ${seed}, ${agents} agents, 95th percentile of an execution with one call`);
  const options = { seconds: Number(seconds), rounds: Number(rounds), seed: Number(seed), kinds };
  const problems = problemsOf(await load({ ...options, report: (line) => console.log(line) }));
  for (const problem of problems) console.error(problem);
  return problems.length > 0 ? 1 : 0;
}

if (import.meta.main) process.exitCode = await main();
