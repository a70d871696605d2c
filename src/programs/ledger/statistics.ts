/** Turns the ledger into figures: the tokens that contexts would have had without claudikins, and the tokens that they had. */
import { about, list, named, number, record, text, type ValueOf } from "../../base/json-shape.ts";
import { hookKey, hooks, hookWays } from "../../tools/registry/hooks.ts";
import { type CountedUse, Counts } from "./counts.ts";
import { dayOf, type Periods } from "./store.ts";

/** Texts are not kept, so their tokens are estimated. */
const charsPerToken = 4;

/**
 * Definitions of tools have more characters per token: this ratio was measured with o200k on 52 known servers. It is the same for
 * everybody, so that the figures of one ledger are the same in every folder and on every surface.
 */
const definitionCharsPerToken = 4.6;

const tokenizerShape = about(
  "How characters are converted to tokens",
  record({ definitionCharsPerToken: number, otherCharsPerToken: number }),
);
export const tokenizer = { definitionCharsPerToken, otherCharsPerToken: charsPerToken };

const comparisonShape = named(
  "Compared",
  about(
    "Tokens without claudikins, if the model had called the tools itself, and with claudikins",
    record({ without: number, with: number }),
  ),
);
export type TokenComparison = ValueOf<typeof comparisonShape>;

const figures = {
  sessions: number,
  executions: about("Runs of execute_code by agents", number),
  shellExecutions: about("Runs of `claudikins exec`; the comparison of tokens leaves them out", number),
  searches: number,
  calls: number,
  failures: about("Without the denied calls", number),
  denied: about("Calls that the policy or a person denied", number),
  durationMs: number,
  resultChars: number,
  tokens: named(
    "Tokens",
    record({
      definitions: comparisonShape,
      // The arguments of the calls in agents' code, compared with the code.
      code: comparisonShape,
      // The results for agents' code, compared with the answers.
      results: comparisonShape,
      searches: comparisonShape,
      all: comparisonShape,
      keptOut: about("Negative if claudikins cost more than it saved", number),
    }),
  ),
};
const figuresShape = record(figures);
export type Figures = ValueOf<typeof figuresShape>;

const periodShape = record({ period: about("A day; for older figures, a month or a year", text), ...figures });
export type PeriodFigures = ValueOf<typeof periodShape>;

const toolShape = record({
  server: text,
  tool: text,
  calls: number,
  failures: number,
  denied: number,
  durationMs: number,
  resultChars: number,
  takenTokens: about("Tokens of results for agents' code", number),
});

const hookShape = record({
  hook: text,
  serve: about("Sessions of agents whose first use came from the text", number),
  files: about("Series of calls of generated files that began with the text", number),
  shell: about("Commands in a shell", number),
});

/** The keys of the document that `claudikins stats --json` prints. */
export const statisticsKeys = {
  tokenizer: tokenizerShape,
  total: figuresShape,
  periods: about("Oldest first, including days without calls", list(periodShape)),
  tools: about("The most called tools first", list(toolShape)),
  hooks: list(hookShape),
};
const statisticsShape = record(statisticsKeys);
export type Statistics = ValueOf<typeof statisticsShape>;

interface StatisticsOptions {
  /** Number of days including today; undefined means all. */
  days?: number | undefined;
  /** Only the calls of this server. */
  server?: string | undefined;
  now: Date;
}

export function statisticsOf(periods: Periods, { days, server, now }: StatisticsOptions): Statistics {
  const names = days === undefined ? [...periods.keys()].sort() : lastDays(days, now);
  const chosen = names.map((name): [string, Counts] => {
    const found = periods.get(name) ?? new Counts();
    return [name, server === undefined ? found : ofServer(found, server)];
  });
  const all = new Counts();
  for (const [, each] of chosen) all.add(each);
  return {
    tokenizer,
    total: figuresOf(all),
    periods: chosen.map(([period, each]) => ({ period, ...figuresOf(each) })),
    tools: toolFigures(all),
    hooks: hooks.map((hook) => {
      const [serve = 0, files = 0, shell = 0] = hookWays.map((way) => all.hooks.get(hookKey(way, hook)) ?? 0);
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

/** Negative if claudikins cost more than it saved. */
export function tokensKeptOut(counts: Counts): number {
  return figuresOf(counts).tokens.keptOut;
}

function figuresOf(counts: Counts): Figures {
  const { sums } = counts;
  const uses = counts.uses().map(([, , use]) => use);
  const sum = (pick: (use: CountedUse) => number) => uses.reduce((total, use) => total + pick(use), 0);
  const parts = {
    definitions: { without: ofDefinitions(sums.definitionChars), with: ofDefinitions(sums.surfaceChars) },
    code: { without: estimated(sum((use) => use.argumentChars)), with: estimated(sums.codeChars) },
    results: { without: estimated(sum((use) => use.takenChars)), with: estimated(sums.returnedChars) },
    searches: { without: 0, with: estimated(sums.queryChars + sums.foundChars) },
  };
  const all = (side: keyof TokenComparison) => Object.values(parts).reduce((total, part) => total + part[side], 0);
  return {
    sessions: sums.sessions,
    executions: sums.executions,
    shellExecutions: sums.shellExecutions,
    searches: sums.searches,
    calls: sum((use) => use.calls),
    failures: sum((use) => use.failures),
    denied: sum((use) => use.denied),
    durationMs: Math.round(sum((use) => use.durationMs)),
    resultChars: sum((use) => use.resultChars),
    tokens: { ...parts, all: { without: all("without"), with: all("with") }, keptOut: all("without") - all("with") },
  };
}

function toolFigures(counts: Counts): Statistics["tools"] {
  return counts
    .uses()
    .map(([server, tool, { calls, failures, denied, durationMs, resultChars, takenChars }]) => ({
      server,
      tool,
      calls,
      failures,
      denied,
      durationMs: Math.round(durationMs),
      resultChars,
      takenTokens: estimated(takenChars),
    }))
    .sort((a, b) => b.calls - a.calls);
}

function estimated(chars: number): number {
  return Math.round(chars / charsPerToken);
}

function ofDefinitions(chars: number): number {
  return Math.round(chars / definitionCharsPerToken);
}
