/** Runs a few concurrent programs, checks the rules, and checks what the next execution finds. */
import type { Limits, Outcome } from "../../../src/sandbox/contract.ts";
import type { RunOptions } from "../../../src/sandbox/main-thread/program-run.ts";
import { Sandbox } from "../../../src/sandbox/sandbox.ts";
import { brokenPromises } from "./invariants.ts";
import { difference, probe } from "./probe.ts";
import type { Programs } from "./programs.ts";
import { CountedBindings, type Surroundings } from "./surroundings.ts";

/** The fuzzed sandbox, or a stand-in that breaks a rule. */
export type Executor = Pick<Sandbox, "run">;

export interface Setting {
  programs: Programs;
  limits: Limits;
  surroundings: Surroundings;
  /** The value of the probe before anything has run. */
  world: unknown;
  /** The time after which an outcome is no longer awaited. */
  giveUpMs: number;
}

export interface Run {
  problems: string[];
  /** `value`, the reason of the failure, or `rejected`. */
  how: string;
  tookMs: number;
  outcome?: Outcome;
  /** The number of calls after the outcome, so far. */
  lateCalls: () => number;
}

export interface Round {
  runs: Map<number, Run>;
  /** With the index of the program, or of the last one of the round. */
  problems: [index: number, problem: string][];
}

/**
 * Some programs get more time than the probe of the next execution: code that continues after its end keeps a worker
 * busy until its own limit, so the probe is late. A probe takes 20 ms, and much longer on a busy machine.
 */
const patient = { every: 100, timeoutMs: 15_000, probeMs: 10_000 };

/** The number of workers that the sandbox keeps, so that a check reaches each of them. */
const lanes = 2;

/** The setting for given folders. */
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

/** Runs one program with the limits of its index, and returns its problems. */
export async function runOne(sandbox: Executor, program: string, index: number, setting: Setting): Promise<Run> {
  const { surroundings, giveUpMs } = setting;
  const limits = index % patient.every === 0 ? { ...setting.limits, timeoutMs: patient.timeoutMs } : setting.limits;
  const counted = new CountedBindings();
  const startedAt = performance.now();
  const { bindings } = counted;
  // Calls are checked, and made even if they are wrong.
  const options = { bindings, limits, mounts: surroundings.mounts, check: "warn" } as const;
  const outcome = await outcomeOf(sandbox, program, options, giveUpMs);
  const tookMs = performance.now() - startedAt;
  const openCalls = counted.end();
  const lateCalls = () => counted.lateCalls;
  if ("rejected" in outcome) return { problems: [outcome.rejected], how: "rejected", tookMs, lateCalls };
  const problems = brokenPromises({ program, outcome, tookMs, limits, openCalls }, surroundings.secrets);
  return { problems, how: outcome.ok ? "value" : outcome.reason, tookMs, outcome, lateCalls };
}

/** The problems that the next executions find, in every kept worker. */
export async function looks(sandbox: Executor, { world, limits, surroundings }: Setting): Promise<string[]> {
  const look = () =>
    probeValue(sandbox, { ...limits, timeoutMs: patient.probeMs }, surroundings).catch((error) => errorText(error));
  const values = await Promise.all(Array.from({ length: lanes }, look));
  return values.flatMap((value) => difference(world, value)?.replace(/^/, `${nextExecution}: `) ?? []);
}

/** The beginning of problems that an execution finds after a round without having caused them. */
export const nextExecution = "the next execution";

/** Whether a busy machine may be the reason. */
export function isLate(problem: string): boolean {
  return problem.startsWith("late") || problem.includes("timeout: ");
}

export function errorText(error: unknown): string {
  return error instanceof Error ? `${error.name}: ${error.message}` : String(error);
}

/** An outcome that never arrives is not awaited. */
async function outcomeOf(
  sandbox: Executor,
  program: string,
  options: RunOptions,
  giveUpMs: number,
): Promise<Outcome | { rejected: string }> {
  const giveUp = Promise.withResolvers<{ rejected: string }>();
  const timer = setTimeout(giveUp.resolve, giveUpMs, { rejected: `hung: no outcome after ${giveUpMs} ms` });
  try {
    const executed = (async () => sandbox.run(program, options))();
    return await Promise.race([executed, giveUp.promise]);
  } catch (error) {
    return { rejected: `rejected: ${errorText(error)}` };
  } finally {
    clearTimeout(timer);
  }
}

async function probeValue(sandbox: Executor, limits: Limits, { mounts }: Surroundings): Promise<unknown> {
  const { bindings } = new CountedBindings();
  const outcome = await sandbox.run(probe, { bindings, limits, mounts, check: "off" });
  if (!outcome.ok) return { failed: `${outcome.reason}: ${outcome.error.message}` };
  // The texts of another execution must not appear in this one.
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
