/**
 * `bun run fuzz:protocol [--seed n] [--runs n] [--first n] [--ping ms] [--term ms] [--memory mb] [--binary path]`:
 * gives `serve` random and hostile programs, lists, schemas and results, and pings it meanwhile. It tests the
 * executable, which it builds unless `--binary` is given. Exits with code 1 if a ping or the end after SIGTERM took too
 * long, or the process used too much memory. A run with a slow ping is repeated three times, and counts if it is slow
 * again: slowness of the program comes back, and slowness of another process does not.
 */
import { resolve } from "node:path";
import { parseArgs } from "node:util";
import { hostileProgram } from "../sandbox/fuzz/hostile-sources.ts";
import { programsOf } from "../sandbox/fuzz/programs.ts";
import { Random } from "../sandbox/fuzz/random.ts";
import { executable } from "../support/claudikins.ts";
import { temporaryFolder } from "../support/temporary.ts";
import { FuzzedServe } from "./host.ts";
import { hostileSchema } from "./values.ts";

const { values } = parseArgs({
  options: {
    seed: { type: "string", default: String(Date.now() % 1_000_000) },
    runs: { type: "string", default: "10000" },
    first: { type: "string", default: "0" },
    ping: { type: "string", default: "100" },
    term: { type: "string", default: "1000" },
    memory: { type: "string", default: "2000" },
    binary: { type: "string" },
  },
});
const seed = Number(values.seed);
const limits = { pingMs: Number(values.ping), termMs: Number(values.term), memoryMb: Number(values.memory) };

/** The number of runs per process, which is ended by SIGTERM during the last one. */
const runsOfProcess = 200;

/** The number of repetitions of a run with a slow ping. */
const repetitions = 3;

using folder = temporaryFolder();
const config = folder.write("config.json", {
  mcpServers: { fuzz: { command: process.execPath, args: [`${import.meta.dir}/server.ts`], callTimeoutMs: 20_000 } },
  limits: { timeoutMs: 3_000, memoryMb: 128 },
});
const command = [values.binary === undefined ? executable() : resolve(values.binary)];
const programs = await programsOf(seed);

/** The request of one run: a program that uses the server, or a search. */
function requestOf(index: number): object {
  const random = new Random(seed, index);
  const call = (args: object) => `fuzz.answer(${JSON.stringify({ seed, index, ...args })})`;
  const code = (() => {
    switch (random.below(8)) {
      case 0:
        return hostileProgram(random);
      case 1:
        return programs(index);
      case 2:
        return `await ${call({ relist: true })}; return tools.search("name id").then((found) => found.length)`;
      case 3: {
        const { args } = hostileSchema(new Random(seed, index));
        return `await ${call({ relist: true, schema: true })}; await tools.list("fuzz"); return await servers.fuzz["hostile"](${args})`;
      }
      case 4:
        return `return (await Promise.allSettled([${call({})}, ${call({})}, ${call({ relist: true })}, fuzz.answer.raw({ seed: ${seed}, index: ${index} })])).length`;
      case 5:
        return `const value = await ${call({})}; console.log(value); return value`;
      default:
        return `return await ${call({})}`;
    }
  })();
  if (random.chance(0.1))
    return {
      name: "search_tools",
      arguments: { query: "name of an id", limit: 50, detail: random.pick(["full", "signatures"]) },
    };
  return { name: "execute_code", arguments: { code } };
}

const problems: string[] = [];
/** Only the repetitions of a repeated run count. */
let longestPingMs = 0;
let slowOnceMs = 0;
let mostMemoryMb = 0;
let longestTermMs = 0;

function check(index: number, what: string, value: number, limit: number): void {
  if (value <= limit) return;
  const problem = `seed ${seed}, run ${index}: ${what} ${Math.round(value)}, limit ${limit}: ${JSON.stringify(requestOf(index)).slice(0, 200)}`;
  problems.push(problem);
  console.error(problem);
}

const end = Number(values.first) + Number(values.runs);
for (let first = Number(values.first); first < end; first += runsOfProcess) {
  await using serve = new FuzzedServe(command, folder.path, ["--config", config]);
  await serve.start();
  const last = Math.min(first + runsOfProcess, end) - 1;
  for (let index = first; index <= last; index++) {
    const work = serve.request("tools/call", requestOf(index));
    if (index === last) {
      await Bun.sleep(new Random(seed, index).below(300));
      const tookMs = await serve.terminate();
      longestTermMs = Math.max(longestTermMs, tookMs);
      check(index, "milliseconds to obey SIGTERM", tookMs, limits.termMs);
      break;
    }

    const look = await serve.watching(work);
    mostMemoryMb = Math.max(mostMemoryMb, look.mostMemoryMb);
    check(index, "MB of memory", look.mostMemoryMb, limits.memoryMb);
    let pingMs = look.longestPingMs;
    if (pingMs > limits.pingMs) {
      const repeatedMs = [];
      while (repeatedMs.length < repetitions) {
        const again = await serve.watching(serve.request("tools/call", requestOf(index)));
        repeatedMs.push(Math.round(again.longestPingMs));
      }
      console.error(
        `seed ${seed}, run ${index}: a ping took ${Math.round(pingMs)} ms, then ${repeatedMs.join(", ")} ms`,
      );
      slowOnceMs = Math.max(slowOnceMs, pingMs);
      pingMs = Math.max(...repeatedMs);
    }
    longestPingMs = Math.max(longestPingMs, pingMs);
    check(index, "milliseconds to answer a ping", pingMs, limits.pingMs);
  }
  console.error(
    `${last + 1 - Number(values.first)} runs: longest ping ${Math.round(longestPingMs)} ms, SIGTERM ${Math.round(longestTermMs)} ms, ${Math.round(mostMemoryMb)} MB`,
  );
}
console.log(
  JSON.stringify({
    seed,
    runs: Number(values.runs),
    problems: problems.length,
    longestPingMs: Math.round(longestPingMs),
    slowOnceMs: Math.round(slowOnceMs),
    longestTermMs: Math.round(longestTermMs),
    mostMemoryMb: Math.round(mostMemoryMb),
  }),
);
process.exitCode = problems.length === 0 ? 0 : 1;
