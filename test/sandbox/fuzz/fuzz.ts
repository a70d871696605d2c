/** Runs random programs in one sandbox and looks whether everything it promises holds, for each and after all of them. */

import { residentMb } from "../../../scripts/bench/growth.ts";
import type { Limits } from "../../../src/sandbox/contract.ts";
import { Sandbox } from "../../../src/sandbox/sandbox.ts";
import { megabyte } from "../harness.ts";
import { someLimits } from "../some-limits.ts";
import type { Programs } from "./programs.ts";
import { type Executor, errorText, isLate, makeSetting, type Round, runRound, type Setting } from "./rounds.ts";
import { Surroundings } from "./surroundings.ts";

export interface FuzzOptions {
  programs: Programs;
  /** The index of the first program, and how many are run. */
  first: number;
  executions: number;
  limits?: Limits;
  giveUpMs?: number;
  /** Made again for doing a round by itself. */
  makeSandbox?: () => Executor & Disposable;
  onProgress?: (done: number) => void;
  onFailure?: (failure: Failure) => void;
}

export interface Failure {
  /** Of the program, or of the last one before something was found wrong. */
  index: number;
  program: string;
  problem: string;
}

export interface FuzzReport {
  executions: number;
  /** How many ended how: `value`, or the reason of the failure. */
  ended: Record<string, number>;
  failures: Failure[];
  /** What was late, and was not when it was done again. */
  unconfirmed: number;
  slowestMs: number;
  /** At the end of the warm-up, and of everything. */
  resident: { beforeMb: number; afterMb: number };
}

/** More time than almost every program needs; memory for engines that are laid back and not made anew. */
export const smallLimits: Limits = someLimits({ timeoutMs: 200, memoryBytes: 32 * megabyte });

/** Programs between two looks at what a next execution finds. */
export const roundLength = 20;

/** Executions after which workers, caches and the collector's heap have their size. */
const warmUp = 1_000;

/**
 * What the resident size may grow by after the warm-up. A leak of 10 KB with every execution is 100 MB in 10,000; what
 * the collectors of three threads leave lying is less than this.
 */
const maxGrowthMb = 100;

export async function fuzz(options: FuzzOptions): Promise<FuzzReport> {
  const { programs, first, executions, limits = smallLimits, makeSandbox = () => new Sandbox() } = options;
  const failures: Failure[] = [];
  const ended: Record<string, number> = {};
  let [slowestMs, beforeMb, last, unconfirmed] = [0, 0, first, 0];
  const fail = (index: number, problem: string) => {
    const failure = { index, program: programs(index), problem };
    failures.push(failure);
    options.onFailure?.(failure);
  };
  const onStray = (error: unknown) => void fail(last, `an error of the host: ${errorText(error)}`);
  process.on("unhandledRejection", onStray).on("uncaughtException", onStray);
  try {
    using surroundings = new Surroundings();
    using sandbox = makeSandbox();
    const setting = await makeSetting(programs, limits, surroundings, options.giveUpMs);
    for (let done = 0; done < executions; done += roundLength) {
      const indexes = Array.from({ length: Math.min(roundLength, executions - done) }, (_, at) => first + done + at);
      last = indexes.at(-1) ?? last;
      const { runs, problems } = await runRound(sandbox, indexes, setting);
      for (const { how, tookMs } of runs.values()) {
        ended[how] = (ended[how] ?? 0) + 1;
        slowestMs = Math.max(slowestMs, Math.round(tookMs));
      }
      const confirmed = await lateOnlyIfAlways(problems, indexes, setting, makeSandbox);
      unconfirmed += problems.length - confirmed.length;
      for (const [index, problem] of confirmed) fail(index, problem);
      for (const file of surroundings.strangeFiles()) fail(last, `a strange file: ${file}`);
      if (done < warmUp) beforeMb = residentMb();
      options.onProgress?.(done + indexes.length);
    }
    const afterMb = residentMb();
    if (afterMb - beforeMb > maxGrowthMb) fail(last, `the process grew from ${beforeMb} to ${afterMb} MB`);
    return { executions, ended, failures, unconfirmed, slowestMs, resident: { beforeMb, afterMb } };
  } finally {
    process.off("unhandledRejection", onStray).off("uncaughtException", onStray);
  }
}

/** What is late by itself is so every time; a machine that has more to do makes things late now and then. */
const lateTries = 3;

async function lateOnlyIfAlways(
  problems: Round["problems"],
  indexes: readonly number[],
  setting: Setting,
  makeSandbox: () => Executor & Disposable,
): Promise<Round["problems"]> {
  const someLate = (all: Round["problems"]) => all.some(([, problem]) => isLate(problem));
  let late = someLate(problems);
  for (let tries = 1; late && tries < lateTries; tries++) {
    using sandbox = makeSandbox();
    late = someLate((await runRound(sandbox, indexes, setting)).problems);
  }
  return late ? problems : problems.filter(([, problem]) => !isLate(problem));
}
