/** Runs a few programs side by side, looks whether the promises were kept, and what an execution after them finds. */
import type { Limits, Outcome } from "../../../src/sandbox/contract.ts";
import { type ExecuteOptions, Sandbox } from "../../../src/sandbox/sandbox.ts";
import { brokenPromises } from "./invariants.ts";
import { difference, probe } from "./probe.ts";
import type { Programs } from "./programs.ts";
import { CountedBindings, type Surroundings } from "./surroundings.ts";

/** What is fuzzed: the sandbox, or something in its place that is known to break a promise. */
export type Executor = Pick<Sandbox, "execute">;

export interface Setting {
  programs: Programs;
  limits: Limits;
  surroundings: Surroundings;
  /** What the probe says where nothing has run. */
  world: unknown;
  /** When an outcome is given up. */
  giveUpMs: number;
}

export interface Run {
  problems: string[];
  /** `value`, the reason of the failure, or `rejected`. */
  how: string;
  tookMs: number;
  outcome?: Outcome;
  /** How many calls came when the outcome was there, up to now. */
  lateCalls: () => number;
}

export interface Round {
  runs: Map<number, Run>;
  /** With the index of the program, or of the last one of the round. */
  problems: [index: number, problem: string][];
}

/**
 * Every so many programs one has more time than the probe of the next execution: what goes on when it should be over
 * holds a worker until its own limit, and the probe is late. A probe takes 20 ms, and much longer on a busy machine.
 */
const patient = { every: 100, timeoutMs: 15_000, probeMs: 10_000 };

/** As many as the sandbox keeps workers, so that a look finds each of them. */
const lanes = 2;

/** A setting whose folders are given. */
export async function makeSetting(
  programs: Programs,
  limits: Limits,
  surroundings: Surroundings,
  giveUpMs = 40_000,
): Promise<Setting> {
  using sandbox = new Sandbox();
  const world = await probeValue(sandbox, { ...limits, timeoutMs: 30_000 }, surroundings);
  return { programs, limits, surroundings, world, giveUpMs };
}

export async function runRound(sandbox: Executor, indexes: readonly number[], setting: Setting): Promise<Round> {
  const runs = new Map<number, Run>();
  await inLanes(indexes, async (index) => {
    runs.set(index, await runOne(sandbox, setting.programs(index), index, setting));
  });
  const problems: Round["problems"] = [];
  for (const [index, run] of runs) for (const problem of run.problems) problems.push([index, problem]);
  for (const problem of await looks(sandbox, setting)) problems.push([indexes.at(-1) ?? 0, problem]);
  for (const [index, { lateCalls }] of runs) {
    if (lateCalls() > 0) problems.push([index, `a call after the end: ${lateCalls()}`]);
  }
  return { runs, problems };
}

/** Runs one program with the limits of its index, and says what was wrong. */
export async function runOne(sandbox: Executor, program: string, index: number, setting: Setting): Promise<Run> {
  const { surroundings, giveUpMs } = setting;
  const limits = index % patient.every === 0 ? { ...setting.limits, timeoutMs: patient.timeoutMs } : setting.limits;
  const counted = new CountedBindings();
  const startedAt = performance.now();
  const { bindings } = counted;
  // Calls are checked, and made all the same.
  const options = { bindings, limits, mounts: surroundings.mounts, check: "warn" } as const;
  const outcome = await outcomeOf(sandbox, program, options, giveUpMs);
  const tookMs = performance.now() - startedAt;
  const openCalls = counted.end();
  const lateCalls = () => counted.lateCalls;
  if ("rejected" in outcome) return { problems: [outcome.rejected], how: "rejected", tookMs, lateCalls };
  const problems = brokenPromises({ program, outcome, tookMs, limits, openCalls }, surroundings.secrets);
  return { problems, how: outcome.ok ? "value" : outcome.reason, tookMs, outcome, lateCalls };
}

/** What is wrong in the executions that come next, in every worker that is kept. */
export async function looks(sandbox: Executor, { world, limits, surroundings }: Setting): Promise<string[]> {
  const look = () =>
    probeValue(sandbox, { ...limits, timeoutMs: patient.probeMs }, surroundings).catch((error) => errorText(error));
  const values = await Promise.all(Array.from({ length: lanes }, look));
  return values.flatMap((value) => difference(world, value)?.replace(/^/, `${nextExecution}: `) ?? []);
}

/** How problems begin that were found after a round, by an execution that did nothing to cause them. */
export const nextExecution = "the next execution";

/** Whether a busy machine may be the reason. */
export function isLate(problem: string): boolean {
  return problem.startsWith("late") || problem.includes("timeout: ");
}

export function errorText(error: unknown): string {
  return error instanceof Error ? `${error.name}: ${error.message}` : String(error);
}

/** What never comes is given up. */
async function outcomeOf(
  sandbox: Executor,
  program: string,
  options: ExecuteOptions,
  giveUpMs: number,
): Promise<Outcome | { rejected: string }> {
  const giveUp = Promise.withResolvers<{ rejected: string }>();
  const timer = setTimeout(giveUp.resolve, giveUpMs, { rejected: `hung: no outcome after ${giveUpMs} ms` });
  try {
    const executed = (async () => sandbox.execute(program, options))();
    return await Promise.race([executed, giveUp.promise]);
  } catch (error) {
    return { rejected: `rejected: ${errorText(error)}` };
  } finally {
    clearTimeout(timer);
  }
}

async function probeValue(sandbox: Executor, limits: Limits, { mounts }: Surroundings): Promise<unknown> {
  const { bindings } = new CountedBindings();
  const outcome = await sandbox.execute(probe, { bindings, limits, mounts, check: "off" });
  if (!outcome.ok) return { failed: `${outcome.reason}: ${outcome.error.message}` };
  // What another execution had to say is not said in this one.
  const { value, logs, display, receipt } = outcome;
  return { value, logs, display, calls: receipt.calls };
}

async function inLanes(indexes: readonly number[], work: (index: number) => Promise<void>): Promise<void> {
  const queue = [...indexes];
  const lane = async () => {
    for (let index = queue.shift(); index !== undefined; index = queue.shift()) await work(index);
  };
  await Promise.all(Array.from({ length: lanes }, lane));
}
