/** What the ledger has, as figures for people and programs: what a context would have held without us, and what it held. */

import { doors, hookKey, hooks } from "../registry/hooks.ts";
import { Counts, type ToolUse } from "./counts.ts";
import { dayOf, type Periods } from "./store.ts";

/** Where texts are not kept, all that is known of their tokens. */
export const estimatedCharsPerToken = 4;

/** How characters become tokens: those of definitions by a measured share, where there is one. */
export interface Tokenizer {
  /** `o200k`, or that it is an estimate. */
  definitions: "o200k" | "characters / 4";
  definitionCharsPerToken: number;
  others: "characters / 4";
}

export const estimate: Tokenizer = {
  definitions: "characters / 4",
  definitionCharsPerToken: estimatedCharsPerToken,
  others: "characters / 4",
};

/** Tokens of one kind: had the model called the tools itself, and as it was. */
export interface Comparison {
  without: number;
  with: number;
}

export interface Figures {
  sessions: number;
  /** Of agents, through execute_code. */
  executions: number;
  /** Of `exec`. */
  shellExecutions: number;
  searches: number;
  calls: number;
  failures: number;
  durationMs: number;
  /** Characters of all results, wherever they went. */
  resultChars: number;
  tokens: {
    definitions: Comparison;
    /** The arguments of the calls that agents' code made, and the code. */
    code: Comparison;
    /** The results that agents' code took, and what it gave back. */
    results: Comparison;
    /** Queries and their answers. */
    searches: Comparison;
    all: Comparison;
    /** Less than nothing where we cost more than we saved. */
    keptOut: number;
  };
}

export interface PeriodFigures extends Figures {
  /** A day; of what is long ago a month or a year. */
  period: string;
}

export interface ToolFigures {
  server: string;
  tool: string;
  calls: number;
  failures: number;
  durationMs: number;
  resultChars: number;
  /** Of results that agents' code took. */
  takenTokens: number;
}

export interface HookFigures {
  hook: string;
  /** Sessions of hosts whose first access it was. */
  serve: number;
  /** Stretches of calls of generated files that began with it. */
  files: number;
  /** Commands of a shell. */
  shell: number;
}

export interface Statistics {
  tokenizer: Tokenizer;
  total: Figures;
  /** Of days every one, also those on which nothing was called; the oldest first. */
  periods: PeriodFigures[];
  /** Those that were called most come first. */
  tools: ToolFigures[];
  hooks: HookFigures[];
}

export interface StatisticsOptions {
  /** So many days, today included; undefined is all there is. */
  days?: number | undefined;
  /** Only the calls of this one. */
  server?: string | undefined;
  tokenizer: Tokenizer;
  now: Date;
}

export function statisticsOf(
  periods: Periods,

  { days, server, tokenizer, now }: StatisticsOptions,
): Statistics {
  const names = days === undefined ? [...periods.keys()].sort() : lastDays(days, now);
  const chosen = names.map((name): [string, Counts] => {
    const found = periods.get(name) ?? new Counts();
    return [name, server === undefined ? found : ofServer(found, server)];
  });
  const all = new Counts();
  for (const [, each] of chosen) all.add(each);
  return {
    tokenizer,
    total: figuresOf(all, tokenizer),
    periods: chosen.map(([period, each]) => ({ period, ...figuresOf(each, tokenizer) })),
    tools: toolFigures(all),
    hooks: hooks.map((hook): HookFigures => {
      const [serve = 0, files = 0, shell = 0] = doors.map((door) => all.hooks.get(hookKey(door, hook)) ?? 0);
      return { hook, serve, files, shell };
    }),
  };
}

function lastDays(days: number, now: Date): string[] {
  return Array.from({ length: days }, (_, index) =>
    dayOf(new Date(now.getFullYear(), now.getMonth(), now.getDate() - (days - 1 - index))),
  );
}

/** Definitions, code and searches are of no server. */
function ofServer({ tools }: Counts, server: string): Counts {
  const own = new Counts();
  for (const [tool, use] of tools.get(server) ?? []) own.addUse(server, tool, use);
  return own;
}

function figuresOf(counts: Counts, tokenizer: Tokenizer): Figures {
  const { sums } = counts;
  const uses = counts.uses().map(([, , use]) => use);
  const sum = (pick: (use: ToolUse) => number) => uses.reduce((total, use) => total + pick(use), 0);
  const ofDefinitions = (chars: number) => Math.round(chars / tokenizer.definitionCharsPerToken);
  const parts = {
    definitions: { without: ofDefinitions(sums.definitionChars), with: ofDefinitions(sums.surfaceChars) },
    code: { without: estimated(sum((use) => use.argumentChars)), with: estimated(sums.codeChars) },
    results: { without: estimated(sum((use) => use.takenChars)), with: estimated(sums.returnedChars) },
    searches: { without: 0, with: estimated(sums.queryChars + sums.foundChars) },
  };
  const all = (side: keyof Comparison) => Object.values(parts).reduce((total, part) => total + part[side], 0);
  return {
    sessions: sums.sessions,
    executions: sums.executions,
    shellExecutions: sums.shellExecutions,
    searches: sums.searches,
    calls: sum((use) => use.calls),
    failures: sum((use) => use.failures),
    durationMs: Math.round(sum((use) => use.durationMs)),
    resultChars: sum((use) => use.resultChars),
    tokens: { ...parts, all: { without: all("without"), with: all("with") }, keptOut: all("without") - all("with") },
  };
}

function toolFigures(counts: Counts): ToolFigures[] {
  return counts
    .uses()
    .map(([server, tool, { calls, failures, durationMs, resultChars, takenChars }]) => ({
      server,
      tool,
      calls,
      failures,
      durationMs: Math.round(durationMs),
      resultChars,
      takenTokens: estimated(takenChars),
    }))
    .sort((a, b) => b.calls - a.calls);
}

function estimated(chars: number): number {
  return Math.round(chars / estimatedCharsPerToken);
}
