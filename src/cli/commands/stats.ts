/** `claudikins stats`: calls, tokens kept out of the context, and what leads agents to claudikins. */

import { counted, grouped } from "../../base/counted.ts";
import { durationText } from "../../base/duration.ts";
import { ClaudikinsError } from "../../base/errors.ts";
import { about, either, exactly, record, texts } from "../../base/json-shape.ts";
import { didYouMean } from "../../base/near-names.ts";
import { countedToolText } from "../../programs/ledger/counts.ts";
import {
  type Figures,
  type PeriodFigures,
  type Statistics,
  statisticsKeys,
  statisticsOf,
  type TokenComparison,
  tokenizer,
} from "../../programs/ledger/statistics.ts";
import { readCounts, resetLedger } from "../../programs/ledger/store.ts";
import { defaultDays, ledgerKeptDays } from "../../programs/limits.ts";
import { openStore } from "../../store/open.ts";
import type { Store } from "../../store/store.ts";
import { type CommandAnswer, command, flag, option } from "../command.ts";
import { configArgs } from "../flags/config-flags.ts";
import { countUpTo } from "../flags/flags.ts";
import { type Canvas, chart, wrappedLines } from "../terminal/layout.ts";
import { table } from "../terminal/table.ts";
import { bold, dim, warningLabel } from "../terminal/terminal-output.ts";

/** Minimum width for all columns of the statistics. */
const minStatisticsChars = 72;

/** Tools in the table. The JSON contains all. */
const maxStatisticsTools = 30;

/** Bars for days or other periods: the latest ones. */
const maxStatisticsBars = 31;

const statsShape = either(
  record({ ...statisticsKeys, problems: texts }),
  about("With --reset", record({ reset: exactly(true) })),
);

export default command({
  description:
    "Show what was called in all your projects, and how many tokens stayed out of the context. The figures are sums from the ledger, which stores no contents.",
  args: {
    days: option(`Number of days to show, including today (default ${defaultDays})`, countUpTo(ledgerKeptDays)),
    all: flag("Show all figures; older ones are summed by month and year"),
    server: option("Show only calls to this server", { valueHint: "name", complete: "server" }),
    hooks: flag("Show which text led agents to the registry, judged by the first access of each session"),
    reset: flag("Delete the ledger and start over"),
    config: configArgs.config,
  },
  examples: ["claudikins stats", "claudikins stats --days 30 --server github", "claudikins stats --hooks --all --json"],
  json: statsShape,
  async run(args, io) {
    await using store = openStore(io.env);
    const { all, server } = args;
    if (args.reset) return await reset(store, args);
    if (all && args.days !== undefined) throw new ClaudikinsError("USAGE", "Use --days or --all, not both");
    if (args.hooks && server !== undefined) {
      const why = "--hooks counts sessions, which have no server: it cannot be used with --server";
      throw new ClaudikinsError("USAGE", why);
    }
    const days = all ? undefined : (args.days ?? defaultDays);
    const now = new Date();
    const { periods, problems } = await readCounts(store);
    const servers = new Set([...periods.values()].flatMap(({ tools }) => [...tools.keys()]));
    if (server !== undefined && !servers.has(server)) throw unknownServer(server, [...servers]);
    const statistics = statisticsOf(periods, { days, server, now });
    const note = problems.map((problem) => `${warningLabel} ${problem}\n`).join("");
    const json = { ...statistics, problems };
    if (periods.size === 0) return { json, note: `${note}Nothing has been counted yet.\n` };
    const text = args.hooks ? hooksText(statistics, io.stdout) : statsText(statistics, server, io.stdout);
    return { json, note, text };
  },
});

async function reset(store: Store, args: Record<string, unknown>): Promise<CommandAnswer> {
  const other = ["days", "all", "server", "hooks"].find((name) => args[name] !== undefined);
  if (other !== undefined) {
    throw new ClaudikinsError("USAGE", `--reset deletes the whole ledger: it cannot be used with --${other}`);
  }
  await resetLedger(store);
  return { json: { reset: true }, note: "The ledger is now empty.\n" };
}

function unknownServer(server: string, servers: string[]): ClaudikinsError {
  return new ClaudikinsError("SERVER_NOT_FOUND", `There are no figures for a server called "${server}"`, {
    hint: didYouMean(server, servers) ?? `Servers with figures: ${servers.sort().join(", ") || "none"}`,
  });
}

function statsText(statistics: Statistics, server: string | undefined, canvas: Canvas): string {
  const { total, periods, tools } = statistics;
  // Without agents there is nothing to compare.
  const isCompared = total.tokens.all.without + total.tokens.all.with > 0;
  const chart = server !== undefined || isCompared ? chartText(periods, server, canvas) : undefined;
  const parts = [
    headline(`${rangeText(periods)}:`, countsText(total, server), canvas),
    ...(server === undefined && isCompared ? [comparisonText(total, canvas)] : []),
    ...(chart === undefined ? [] : [chart]),
    ...(tools.length > 0 ? [toolsText(statistics, canvas)] : []),
    notesText(server, canvas),
  ];
  return parts.join("\n");
}

/** The first words are bold. */
function headline(first: string, rest: string, { columns }: Canvas): string {
  const [line = "", ...others] = wrappedLines(`${first} ${rest}`, columns);
  return `${[bold(first) + line.slice(first.length), ...others].join("\n")}\n`;
}

function rangeText(periods: PeriodFigures[]): string {
  const [first, last] = [periods[0]?.period ?? "", periods.at(-1)?.period ?? ""];
  return first === last ? first : `${first} to ${last}`;
}

function countsText(figures: Figures, server?: string): string {
  const { sessions, executions, shellExecutions, searches, calls, failures, denied, durationMs } = figures;
  const parts = [
    ...(failures > 0 ? [`${grouped(failures)} failed`] : []),
    ...(denied > 0 ? [`${grouped(denied)} denied`] : []),
  ];
  const failed = parts.length > 0 ? ` (${parts.join(", ")})` : "";
  return [
    ...(server === undefined
      ? [
          counted(sessions, "session"),
          counted(executions, "execution"),
          ...(shellExecutions > 0 ? [`${counted(shellExecutions, "execution")} from a shell`] : []),
          counted(searches, "search", "searches"),
        ]
      : [server]),
    `${counted(calls, "call")}${failed}`,
    `${durationText(durationMs)} in tools`,
  ].join(", ");
}

function comparisonText({ tokens }: Figures, { columns }: Canvas): string {
  const row = (name: string, { without, with: had }: TokenComparison) => [name, grouped(without), grouped(had)];
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
    table(["tokens", { number: "without" }, { number: "with claudikins" }], rows, columns),
    `${bold(`${grouped(Math.abs(keptOut))} tokens ${sum}${keptOut >= 0 ? share : ""}`)}\n`,
  ].join("");
}

function chartText(periods: PeriodFigures[], server: string | undefined, canvas: Canvas): string | undefined {
  const bars = periods
    .map(({ period, tokens }) => {
      const value = server === undefined ? tokens.keptOut : tokens.results.without;
      return { name: period, value, text: grouped(value) };
    })
    .filter(({ value }) => value !== 0)
    .slice(-maxStatisticsBars);
  if (bars.length === 0) return undefined;
  const what = server === undefined ? "Kept out of the context" : "Results that went to code";
  return `${what}, in tokens:\n${chart(bars, canvas)}`;
}

type ToolFigures = Statistics["tools"][number];

/** Columns without figures are left out, such as failures, and agents if there are none. */
function toolsText({ tools }: Statistics, { columns }: Canvas): string {
  const isWide = columns === undefined || columns >= minStatisticsChars;
  const shown = tools.slice(0, maxStatisticsTools);
  const counts = [
    { title: "calls", of: ({ calls }: ToolFigures) => calls },
    { title: "failed", of: ({ failures }: ToolFigures) => failures },
    { title: "denied", of: ({ denied }: ToolFigures) => denied },
    { title: "time", of: ({ durationMs }: ToolFigures) => durationMs, text: durationText },
    ...(isWide ? [{ title: "result chars", of: ({ resultChars }: ToolFigures) => resultChars }] : []),
    { title: "tokens to code", of: ({ takenTokens }: ToolFigures) => takenTokens },
  ].filter((column) => shown.some((tool) => column.of(tool) !== 0));
  const rows = shown.map((tool) => [countedToolText(tool), ...counts.map(({ of, text = grouped }) => text(of(tool)))]);
  const head = ["tool", ...counts.map(({ title }) => ({ number: title }))];
  const more =
    tools.length > maxStatisticsTools ? `and ${tools.length - maxStatisticsTools} more tools (--json lists all)\n` : "";
  return `${table(head, rows, columns)}${more}`;
}

function notesText(server: string | undefined, canvas: Canvas): string {
  const { definitionCharsPerToken, otherCharsPerToken } = tokenizer;
  const notes = [
    `Tokens are estimated: ${definitionCharsPerToken} characters of definitions are one token, and ${otherCharsPerToken} of everything else.`,
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
function fineText(notes: string[], { columns }: Canvas): string {
  const lines = notes.flatMap((note) => wrappedLines(note, columns));
  return lines.map((line) => `${dim(line)}\n`).join("");
}

function hooksText({ hooks, total }: Statistics, canvas: Canvas): string {
  const sum = hooks.reduce((all, { serve }) => all + serve, 0);
  const rows = hooks.map(({ hook, serve, files, shell }) => [
    hook,
    grouped(serve),
    sum > 0 ? `${Math.round((100 * serve) / sum)} %` : "-",
    grouped(files),
    grouped(shell),
  ]);
  const head = ["text", ...["sessions", "share", "files", "shell"].map((number) => ({ number }))];
  const notes = [
    "sessions: each session counts for the text whose mark, such as via:skill, is in its first access to the registry.",
    "description: the first access was search_tools without a mark. The agent has read the tool's description; it may also have read a text and left out its mark.",
    "files: runs of generated files, counted again only after a pause. shell: commands with a mark.",
  ];
  return [
    table(head, rows, canvas.columns),
    `${grouped(sum)} of ${grouped(total.sessions)} sessions used the registry.\n`,
    fineText(notes, canvas),
  ].join("\n");
}
