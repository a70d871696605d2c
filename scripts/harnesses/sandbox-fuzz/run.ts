/**
 * `bun run fuzz:sandbox [--seed n] [--executions n] [--first n] [--memory mb] [--timeout ms] [--json]`: runs random
 * programs, and exits with code 1 if the sandbox breaks a rule. `--only n` runs and prints one program.
 */
import { parseArgs } from "node:util";
import { Sandbox } from "../../../src/sandbox/sandbox.ts";
import { megabyte } from "../../../test/sandbox/harness.ts";
import { someLimits } from "../../../test/sandbox/some-limits.ts";
import { type Failure, type FuzzReport, fuzz, roundLength, smallLimits } from "./fuzz.ts";
import { minimised } from "./minimise.ts";
import { programsOf } from "./programs.ts";
import { isLate, looks, makeSetting, nextExecution, runOne } from "./rounds.ts";
import { Surroundings } from "./surroundings.ts";
import type { Progress } from "./watchdog.ts";

const { values } = parseArgs({
  options: {
    seed: { type: "string", default: String(Date.now() % 1_000_000) },
    executions: { type: "string", default: "10000" },
    first: { type: "string", default: "0" },
    only: { type: "string" },
    memory: { type: "string", default: String(smallLimits.memoryBytes / megabyte) },
    timeout: { type: "string", default: String(smallLimits.timeoutMs) },
    json: { type: "boolean", default: false },
  },
});
const seed = wholeNumber("seed");
const limits = someLimits({ timeoutMs: wholeNumber("timeout"), memoryBytes: wholeNumber("memory") * megabyte });
const programs = await programsOf(seed);

/** The maximum number of explained failures: a fault in every program need not be printed a thousand times. */
const explained = 10;

/** Longer texts are cut; `--only` shows them completely. */
const shownChars = 2_000;

process.exitCode = values.only === undefined ? await runAll() : await runOnly(wholeNumber("only"));

// Nothing may keep this process alive: no timer, worker or open call.
setTimeout(() => {
  console.error(`something is left that keeps the process alive: ${process.getActiveResourcesInfo?.()}`);
  process.exit(1);
}, 10_000).unref();

async function runAll(): Promise<number> {
  const startedAt = performance.now();
  const watchdog = new Worker(new URL("./watchdog.ts", import.meta.url).href);
  const progress: Progress = new Int32Array(new SharedArrayBuffer(4));
  watchdog.postMessage(progress);
  const report = await fuzz({
    programs,
    first: wholeNumber("first"),
    executions: wholeNumber("executions"),
    limits,
    onProgress(done) {
      Atomics.store(progress, 0, wholeNumber("first") + done);
      if (done % 1_000 === 0) console.error(`${done} programs`);
    },
    onFailure: ({ index, problem }) => console.error(`seed ${seed}, program ${index}: ${problem}`),
  });
  const seconds = Math.round((performance.now() - startedAt) / 1000);
  const failures: (Failure & { minimal: string })[] = [];
  for (const failure of report.failures.slice(0, explained)) {
    failures.push({ ...failure, minimal: isLate(failure.problem) ? failure.program : await minimal(failure) });
    Atomics.add(progress, 0, 1);
  }
  watchdog.terminate();
  console.log(values.json ? JSON.stringify({ seed, seconds, ...report, failures }) : text(seconds, report, failures));
  return report.failures.length === 0 ? 0 : 1;
}

async function runOnly(index: number): Promise<number> {
  using surroundings = new Surroundings();
  using sandbox = new Sandbox();
  const setting = await makeSetting(programs, limits, surroundings);
  const { problems, outcome, tookMs } = await runOne(sandbox, programs(index), index, setting);
  const after = await looks(sandbox, setting);
  console.log(`${programs(index)}\n\n${JSON.stringify(outcome, undefined, 2)}\n${Math.round(tookMs)} ms`);
  for (const problem of [...problems, ...after]) console.log(problem);
  return problems.length + after.length === 0 ? 0 : 1;
}

/** Minimises in a new sandbox. A program that does not fail there is unchanged, because the cause was elsewhere. */
async function minimal({ index, program, problem }: Failure): Promise<string> {
  const kind = (text: string) => text.split(":")[0];
  using surroundings = new Surroundings();
  const setting = await makeSetting(programs, limits, surroundings);
  const failsAt = (at: number) => async (candidate: string) => {
    using sandbox = new Sandbox();
    const { problems } = await runOne(sandbox, candidate, at, setting);
    const after = await looks(sandbox, setting);
    return [...problems, ...after].some((each) => kind(each) === kind(problem));
  };
  // The cause of what an execution found may be any program of the round before it.
  const suspects = problem.startsWith(nextExecution) ? roundLength : 1;
  for (let at = index; at > index - suspects && at >= 0; at--) {
    if (await failsAt(at)(programs(at))) return minimised(programs(at), failsAt(at));
  }
  return program;
}

function text(seconds: number, report: FuzzReport, failures: (Failure & { minimal: string })[]): string {
  const { executions, ended, slowestMs, resident } = report;
  const shown = failures.map(
    ({ index, problem, minimal }) => `seed ${seed}, program ${index}: ${problem}\n${minimal.slice(0, shownChars)}\n`,
  );
  const endings = Object.entries(ended)
    .sort()
    .map(([how, count]) => `${how} ${count}`);
  return [
    ...shown,
    `seed ${seed}: ${executions} executions in ${seconds} s; ${endings.join(", ")}; the slowest took ${slowestMs} ms`,
    `resident ${resident.beforeMb} MB after the warm-up, ${resident.afterMb} MB at the end`,
    `${report.failures.length} failures; late once, and not when done again: ${report.unconfirmed}`,
  ].join("\n");
}

function wholeNumber(name: "seed" | "executions" | "first" | "only" | "memory" | "timeout"): number {
  const number = Number(values[name]);
  if (!Number.isInteger(number) || number < 0) throw new Error(`--${name} takes a whole number, got ${values[name]}`);
  return number;
}
