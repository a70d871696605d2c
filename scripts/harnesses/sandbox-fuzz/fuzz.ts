/** Runs random programs in one sandbox, and checks the rules for each outcome and for later executions. */

import type { Limits } from "../../../src/sandbox/contract.ts";
import { Sandbox } from "../../../src/sandbox/sandbox.ts";
import { megabyte } from "../../../test/sandbox/harness.ts";
import { someLimits } from "../../../test/sandbox/some-limits.ts";
import { residentMb } from "../../bench/growth.ts";
import type { Programs } from "./programs.ts";
import { type Executor, errorText, isLate, makeSetting, type Round, runRound, type Setting } from "./rounds.ts";
import { Surroundings } from "./surroundings.ts";

export interface FuzzOptions {
  programs: Programs;
  /** The index of the first program, and the number of programs. */
  first: number;
  executions: number;
  limits?: Limits;
  giveUpMs?: number;
  /** Creates another sandbox, to repeat a round alone. */
  makeSandbox?: () => Executor & Disposable;
  onProgress?: (done: number) => void;
  onFailure?: (failure: Failure) => void;
}

export interface Failure {
  /** The index of the program, or of the last one before the problem was found. */
  index: number;
  program: string;
  problem: string;
}

export interface FuzzReport {
  executions: number;
  /** The number of programs by outcome: `value`, or the reason of the failure. */
  ended: Record<string, number>;
  failures: Failure[];
  /** The number of late outcomes that were not late when repeated. */
  unconfirmed: number;
  slowestMs: number;
  /** After the warm-up, and at the end. */
  resident: { beforeMb: number; afterMb: number };
}

/** More time than almost every program needs, and memory for engines that are restored. */
export const smallLimits: Limits = someLimits({ timeoutMs: 200, memoryBytes: 32 * megabyte });

/** The number of programs between two checks of a next execution. */
export const roundLength = 20;

/** The number of executions after which workers, caches and the collector's heap no longer grow. */
const warmUp = 1_000;

/**
 * The maximum growth of the resident size after the warm-up. A leak of 10 KB per execution is 100 MB in 10,000
 * executions; uncollected garbage of three threads is less than this.
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

/** A program that is late by itself is late every time; a busy machine makes others late now and then. */
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
