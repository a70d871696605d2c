/** Turns the ledger into figures: what contexts would have held without claudikins, and what they held. */

import { doors, hookKey, hooks } from "../registry/hooks.ts";
import { Counts, type ToolUse } from "./counts.ts";
import { dayOf, type Periods } from "./store.ts";

/** Estimates tokens, because texts are not kept. */
export const estimatedCharsPerToken = 4;

/** How characters are converted to tokens: for definitions by a measured ratio, if there is one. */
export interface Tokenizer {
  /** How tokens of definitions are counted. */
  definitions: "o200k" | "characters / 4";
  definitionCharsPerToken: number;
  others: "characters / 4";
}

export const estimate: Tokenizer = {
  definitions: "characters / 4",
  definitionCharsPerToken: estimatedCharsPerToken,
  others: "characters / 4",
};

/** Tokens of one kind: if the model had called the tools itself, and with claudikins. */
export interface Comparison {
  without: number;
  with: number;
}

export interface Figures {
  sessions: number;
  /** Runs of execute_code by agents. */
  executions: number;
  /** Runs of `claudikins exec`. */
  shellExecutions: number;
  searches: number;
  calls: number;
  failures: number;
  durationMs: number;
  /** Characters of all results. */
  resultChars: number;
  tokens: {
    definitions: Comparison;
    /** The arguments of the calls in agents' code, compared with the code. */
    code: Comparison;
    /** The results for agents' code, compared with the answers. */
    results: Comparison;
    /** Queries and answers of searches. */
    searches: Comparison;
    all: Comparison;
    /** Negative if claudikins costs more than it saves. */
    keptOut: number;
  };
}

export interface PeriodFigures extends Figures {
  /** A day; for older counts a month or a year. */
  period: string;
}

export interface ToolFigures {
  server: string;
  tool: string;
  calls: number;
  failures: number;
  durationMs: number;
  resultChars: number;
  /** Tokens of results for agents' code. */
  takenTokens: number;
}

export interface HookFigures {
  hook: string;
  /** Sessions of hosts whose first use came from the text. */
  serve: number;
  /** Series of calls of generated files that began with the text. */
  files: number;
  /** Commands in a shell. */
  shell: number;
}

export interface Statistics {
  tokenizer: Tokenizer;
  total: Figures;
  /** The periods, oldest first, including days without calls. */
  periods: PeriodFigures[];
  /** The most called tools first. */
  tools: ToolFigures[];
  hooks: HookFigures[];
}

export interface StatisticsOptions {
  /** Number of days including today; undefined means all. */
  days?: number | undefined;
  /** Only the calls of this server. */
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

/** The counts of one server. Definitions, code and searches belong to no server. */
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
