/** The ledger's figures as text: the comparison, a bar per day and a line per tool. */
import type { Comparison, Figures, PeriodFigures, Statistics } from "../ledger/statistics.ts";
import { grouped } from "../outcome-text.ts";
import { type Canvas, chart } from "./chart.ts";
import { bold, dim, paint } from "./colours.ts";
import { about, either, list, named, number, oneOf, record, text, texts } from "./shapes.ts";
import { table } from "./table.ts";
import { totalTimeText } from "./time-text.ts";
import { wrapped } from "./word-wrap.ts";

const compared = named(
  "Compared",
  about(
    "Tokens without claudikins, if the model had called the tools itself, and with claudikins",
    record({ without: number, with: number }),
  ),
);

const figures = {
  sessions: number,
  executions: number,
  shellExecutions: about("Runs of `claudikins exec`; the comparison of tokens leaves them out", number),
  searches: number,
  calls: number,
  failures: number,
  durationMs: number,
  resultChars: number,
  tokens: named(
    "Tokens",
    record({
      definitions: compared,
      code: compared,
      results: compared,
      searches: compared,
      all: compared,
      keptOut: about("Negative if claudikins cost more than it saved", number),
    }),
  ),
};

const used = { server: text, tool: text, calls: number, failures: number, durationMs: number, resultChars: number };

export const statsShape = either(
  record({
    tokenizer: record({
      definitions: oneOf("o200k", "characters / 4"),
      definitionCharsPerToken: number,
      others: oneOf("characters / 4"),
    }),
    total: record(figures),
    periods: list(record({ period: about("A day; for older figures, a month or a year", text), ...figures })),
    tools: list(record({ ...used, takenTokens: number })),
    hooks: list(record({ hook: text, serve: number, files: number, shell: number })),
    problems: texts,
  }),
  about("With --reset", record({ reset: { const: true } })),
);

/** Maximum number of tools in the table. The JSON contains all. */
const maxTools = 30;

/** Maximum number of bars, the latest ones. */
const maxBars = 31;

/** Minimum width in characters for all columns. */
const wideTable = 72;

export function statsText(statistics: Statistics, server: string | undefined, canvas: Canvas): string {
  const { total, periods, tools } = statistics;
  // Without agents there is nothing to compare.
  const isCompared = total.tokens.all.without + total.tokens.all.with > 0;
  const parts = [
    `${paint(rangeText(periods), bold, canvas.colours)}: ${countsText(total, server)}\n`,
    ...(server === undefined && isCompared ? [comparisonText(total, canvas)] : []),
    ...(server !== undefined || isCompared ? [chartText(periods, server, canvas)] : []),
    ...(tools.length > 0 ? [toolsText(statistics, canvas)] : []),
    notesText(statistics, server, canvas),
  ];
  return parts.join("\n");
}

function rangeText(periods: PeriodFigures[]): string {
  const [first, last] = [periods[0]?.period ?? "", periods.at(-1)?.period ?? ""];
  return first === last ? first : `${first} to ${last}`;
}

function countsText(figures: Figures, server?: string): string {
  const { sessions, executions, shellExecutions, searches, calls, failures, durationMs } = figures;
  const counted = (count: number, noun: string) => `${grouped(count)} ${noun}${count === 1 ? "" : "s"}`;
  const failed = failures > 0 ? ` (${grouped(failures)} failed)` : "";
  return [
    ...(server === undefined
      ? [
          counted(sessions, "session"),
          counted(executions, "execution"),
          ...(shellExecutions > 0 ? [`${counted(shellExecutions, "execution")} from a shell`] : []),
          `${grouped(searches)} search${searches === 1 ? "" : "es"}`,
        ]
      : [server]),
    `${counted(calls, "call")}${failed}`,
    `${totalTimeText(durationMs)} in tools`,
  ].join(", ");
}

function comparisonText({ tokens }: Figures, { width, colours }: Canvas): string {
  const row = (name: string, { without, with: had }: Comparison) => [name, grouped(without), grouped(had)];
  const rows = [
    row("definitions", tokens.definitions),
    row("arguments / code", tokens.code),
    row("results", tokens.results),
    row("searches", tokens.searches),
    row("all", tokens.all),
  ];
  const { keptOut, all } = tokens;
  const share = all.without > 0 ? ` (${Math.floor((100 * keptOut) / all.without)} %)` : "";
  const sum = keptOut >= 0 ? "kept out of the context" : "more than without claudikins: there was little to save";
  return [
    table(["tokens", "without", "with claudikins"], rows, width, [1, 2]),
    `${paint(`${grouped(Math.abs(keptOut))} tokens ${sum}${keptOut >= 0 ? share : ""}`, bold, colours)}\n`,
  ].join("");
}

function chartText(periods: PeriodFigures[], server: string | undefined, canvas: Canvas): string {
  const bars = periods.slice(-maxBars).map(({ period, tokens }) => {
    const value = server === undefined ? tokens.keptOut : tokens.results.without;
    return { name: period, value, text: grouped(value) };
  });
  const what = server === undefined ? "Kept out of the context" : "Results that went to code";
  return `${what}, in tokens:\n${chart(bars, canvas)}`;
}

function toolsText({ tools }: Statistics, { width = Number.POSITIVE_INFINITY }: Canvas): string {
  const isWide = width >= wideTable;
  const rows = tools
    .slice(0, maxTools)
    .map(({ server, tool, calls, failures, durationMs, resultChars, takenTokens }) => [
      `${server}.${tool}`,
      grouped(calls),
      grouped(failures),
      totalTimeText(durationMs),
      ...(isWide ? [grouped(resultChars)] : []),
      grouped(takenTokens),
    ]);
  const head = ["tool", "calls", "failed", "time", ...(isWide ? ["result chars"] : []), "tokens to code"];
  const more = tools.length > maxTools ? `and ${tools.length - maxTools} more tools (--json lists all)\n` : "";
  return `${table(head, rows, width, [1, 2, 3, 4, 5])}${more}`;
}

function notesText({ tokenizer }: Statistics, server: string | undefined, canvas: Canvas): string {
  const { definitions, definitionCharsPerToken } = tokenizer;
  const measured =
    definitions === "o200k"
      ? `Tokens of definitions are measured with the o200k tokenizer on the currently known tools: ${definitionCharsPerToken.toFixed(2)} characters per token. All other tokens are estimated at 4 characters per token.`
      : "Tokens are estimated at 4 characters per token.";
  const notes = [
    measured,
    "At most 100,000 characters of a result are counted, because agents show no more. An image counts as 6,000 characters.",
    ...(server === undefined
      ? [
          'The column "without" assumes that the agent makes the same calls itself and loads all definitions once per session.',
          "Only tokens of agents connected to claudikins serve are counted, not output printed in a shell.",
        ]
      : []),
  ];
  return fineText(notes, canvas);
}

/** Notes in dim text, wrapped to the width of the terminal. */
function fineText(notes: string[], { width, colours }: Canvas): string {
  const lines = notes.flatMap((note) => wrapped(note, width));
  return lines.map((line) => `${paint(line, dim, colours)}\n`).join("");
}

export function hooksText({ hooks, total }: Statistics, canvas: Canvas): string {
  const sum = hooks.reduce((all, { serve }) => all + serve, 0);
  const rows = hooks.map(({ hook, serve, files, shell }) => [
    hook,
    grouped(serve),
    sum > 0 ? `${Math.round((100 * serve) / sum)} %` : "-",
    grouped(files),
    grouped(shell),
  ]);
  const notes = [
    "sessions: each session counts for the text whose mark, such as via:skill, is in its first access to the registry.",
    "description: the first access was search_tools without a mark. The agent has read the tool's description; it may also have read a text and left out its mark.",
    "files: runs of generated files, counted again only after a pause. shell: commands with a mark.",
  ];
  return [
    table(["text", "sessions", "share", "files", "shell"], rows, canvas.width, [1, 2, 3, 4]),
    `${grouped(sum)} of ${grouped(total.sessions)} sessions used the registry.\n`,
    fineText(notes, canvas),
  ].join("\n");
}
