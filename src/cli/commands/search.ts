/** `claudikins search`: finds tools in the registry. Servers are asked only if it has no tools yet. */

import type { App } from "../../app/app.ts";
import { countMark } from "../../app/shell-execution.ts";
import { ClaudikinsError, toClaudikinsError } from "../../base/errors.ts";
import { about, anything, byName, either, list, named, problem, record, text, texts } from "../../base/json-shape.ts";
import { escaped } from "../../base/visible-text.ts";
import { savedProgramsName } from "../../config/saved-programs.ts";
import { statusOf } from "../../daemon/peers.ts";
import { placeOf } from "../../daemon/place.ts";
import { entryMark } from "../../daemon/protocol.ts";
import { stateProblem } from "../../servers/state.ts";
import { heldLines } from "../../tools/search/down-servers.ts";
import {
  type FoundTool,
  foundShape,
  resultKeys,
  type SearchResult,
  search,
  toolKeys,
} from "../../tools/search/search.ts";
import {
  alsoText,
  type Detail,
  details,
  fullTool,
  notCallable,
  overview,
  tellingExample,
} from "../../tools/search/search-answer.ts";
import { command, option, place, several } from "../command.ts";
import { usesDaemon, viewArgs } from "../flags/config-flags.ts";
import { countUpTo, oneWordOf } from "../flags/flags.ts";
import type { Io } from "../io.ts";
import { openApp } from "../open-app.ts";
import { valueText } from "../output/report.ts";
import { wrappedLines } from "../terminal/layout.ts";
import { countingServers } from "../terminal/progress.ts";
import { bold, cyan, dim } from "../terminal/terminal-output.ts";

/** Servers named when nothing was found. */
const maxServersOfNothingFound = 20;

const tools = list(
  either(
    foundShape,
    named("ToolName", about("With --detail names", record(toolKeys))),
    named(
      "FullTool",
      about(
        "With --detail full",
        record({
          ...toolKeys,
          "call?": about("How code calls it, if not by its id", text),
          description: text,
          inputSchema: anything,
          "outputSchema?": anything,
          "result?": about("The type of the result, if no schema declares it", text),
          "example?": text,
          "effects?": about("What the server says about effects", text),
          "also?": texts,
          "accounts?": about("The accounts of these servers, by name", byName(text)),
        }),
      ),
    ),
  ),
);

const problemKeys = {
  "notCallable?": about("Why servers of found tools cannot be called now, by name", byName(text)),
};

const searchShape = either(
  named("Found", record({ ...resultKeys, tools, ...problemKeys })),
  named("Line", about("With -: one per query", record({ query: text, tools, ...problemKeys, "error?": problem }))),
);

export default command({
  description:
    "Find tools by what they do. The search reads the registry. If the registry has no tools yet, claudikins fetches them from the servers first.",
  args: {
    query: place("What the tool should do, in your own words; - reads one query per line", {
      required: true,
      ...several,
    }),
    limit: option("Maximum number of tools to show (default 5)", countUpTo(100)),
    detail: option("What to show of each tool: names, signatures (default) or full (JSON with schemas)", {
      valueHint: "level",
      ...oneWordOf(details),
    }),
    ...viewArgs,
  },
  examples: [
    "claudikins search refund an order",
    `claudikins search "list orders server:demo" --limit 3 --json`,
    "claudikins search refund --limit 1 --detail full",
    "claudikins search --json - < queries.txt",
  ],
  json: searchShape,
  async run(args, io) {
    const { limit = 5, detail = "signatures" } = args;
    const query = args.query.join(" ");
    if (query.trim() === "") throw new ClaudikinsError("USAGE", "The query is empty");
    if (query === "-" && !args.json) {
      throw new ClaudikinsError("USAGE", "Queries from standard input are answered as JSON, so --json is required", {
        hint: "claudikins search --json - < queries.txt",
      });
    }
    await using app = await openApp(io, args, { ownMeanwhile: true });
    countMark(app, query);
    await askFirst(app, io, args.json === true);
    // They may have changed since the last search, and asking takes no process.
    if (app.config.servers.get(savedProgramsName)?.isSavedPrograms) {
      await app.catalog.listMissing(io.interrupted, { only: [savedProgramsName] });
    }
    const known = await knownProblems(app, io);
    if (query === "-") {
      for (const line of (await io.stdin.text()).split("\n")) {
        if (line.trim() === "") continue;
        await io.stdout.write(`${JSON.stringify(answerTo(line.trim(), { limit, detail, known }, app))}\n`);
      }
      return {};
    }
    const result = search(query, limit, app.catalog);
    const tools = detailed(result, detail, app);
    const problems = notCallable(result, app, known);
    const faults = unknownFaults(result, app, known);
    const isJson = detail === "full" && tools.length > 0;
    return {
      json: { ...result, tools, ...problemsJson(problems) },
      text: isJson ? valueText(tools) : foundText(result.tools, detail, io.stdout.columns),
      note:
        nothingText(query, result, app) +
        servicesText(result) +
        problemsText(result, problems, faults) +
        linesText(heldLines(app.catalog.visibleServers)),
    };
  },
});

const linesText = (lines: readonly string[]) => lines.map((line) => `${line}\n`).join("");

/** The tools as JSON, with the chosen detail. */
function detailed({ tools }: SearchResult, detail: Detail, app: App): object[] {
  if (detail === "signatures") return tools;
  return tools.map((found) => {
    const { id, server, name } = found;
    return { id, server, name, ...(detail === "full" ? fullTool(found, app.catalog) : {}) };
  });
}

/** Why the tools of servers are not known or old, if something is wrong with the servers that gen cannot repair. */
function unknownFaults(
  { outdated, notIndexed }: SearchResult,
  { pool }: App,
  known: ReadonlyMap<string, string>,
): Map<string, string> {
  return new Map(
    [...outdated, ...notIndexed].flatMap((name) => {
      const fault = stateProblem(pool.stateOrFailure(name)) ?? known.get(name);
      return fault === undefined ? [] : [[name, fault] as const];
    }),
  );
}

/** Returns each problem with the command that fixes it. */
function problemsText(
  result: SearchResult,
  problems: ReadonlyMap<string, string>,
  faults: ReadonlyMap<string, string>,
): string {
  const run = "(run claudikins gen)";
  const outdated = result.outdated.filter((name) => !faults.has(name));
  const notIndexed = result.notIndexed.filter((name) => !faults.has(name));
  const lines = [...problems].map(([name, problem]) => `Not available now: ${name} (${problem})\n`);
  if (outdated.length > 0) {
    lines.push(`Possibly outdated, because their config has changed: ${outdated.join(", ")} ${run}\n`);
  }
  if (notIndexed.length > 0) {
    lines.push(`Not searched, because their tools are not known yet: ${notIndexed.join(", ")} ${run}\n`);
  }
  for (const [name, fault] of faults) {
    const how = result.outdated.includes(name) ? "Possibly outdated" : "Not searched";
    if (!problems.has(name)) lines.push(`${how}: ${name} (${fault})\n`);
  }
  return lines.join("");
}

function problemsJson(problems: ReadonlyMap<string, string>): { notCallable?: Record<string, string> } {
  return problems.size === 0 ? {} : { notCallable: Object.fromEntries(problems) };
}

/** Why servers cannot be called, as a running daemon knows it from earlier calls. Starts no daemon. */
async function knownProblems({ config: { origin, servers } }: App, { env }: Io): Promise<Map<string, string>> {
  const known = new Map<string, string>();
  if (!usesDaemon({}, env)) return known;
  const { socket } = placeOf(origin.kind === "demo" ? undefined : origin.file, env);
  const status = await statusOf(socket).catch(() => undefined);
  for (const [name, { problem, entry }] of Object.entries(status?.problems ?? {})) {
    const server = servers.get(name);
    // The entry may have been corrected since.
    if (server && entryMark(server) === entry) known.set(name, problem);
  }
  return known;
}

/** Fetches tools before the first search. Throws CANCELLED, or an error if no server answered. */
async function askFirst(app: App, { stderr, interrupted: signal }: Io, json: boolean): Promise<void> {
  const { searched, notIndexed } = search("tools", 1, app.catalog);
  if (searched > 0 || notIndexed.length === 0) return;
  const { generate } = await import("../../tools/generate.ts");
  const report = await countingServers(json ? undefined : stderr, notIndexed.length, (onServer) =>
    generate(app, { only: notIndexed, signal, onServer }),
  );
  if (signal.aborted) throw new ClaudikinsError("CANCELLED", "The search was cancelled");
  const failed = report.servers.flatMap(({ problem }) => problem ?? []);
  const [first] = failed;
  if (!first || failed.length < report.servers.length) return;
  const { code, message, hint } = first;
  if (failed.length === 1) throw new ClaudikinsError(code, message, { hint });
  const none = `None of the ${failed.length} configured servers answered, so there are no tools to search`;
  throw new ClaudikinsError(code, none, {
    hint: `To see why each one failed: claudikins doctor. The first error: ${message.split("\n")[0]}`,
  });
}

interface HowToAnswer {
  limit: number;
  detail: Detail;
  known: ReadonlyMap<string, string>;
}

/** Answers one of several queries. An invalid query does not stop the others. */
function answerTo(query: string, { limit, detail, known }: HowToAnswer, app: App): object {
  try {
    const result = search(query, limit, app.catalog);
    const problems = notCallable(result, app, known);
    return { query, tools: detailed(result, detail, app), ...problemsJson(problems) };
  } catch (thrown) {
    const error = toClaudikinsError(thrown);
    if (error.code !== "SERVER_NOT_FOUND") throw error;
    const { code, message, hint } = error;
    return { query, tools: [], error: { code, message, hint } };
  }
}

/** Lines are wrapped at `width`, the width of the terminal. */
export function foundText(tools: FoundTool[], detail: Detail, width: number | undefined): string {
  return tools.map((tool) => entryText(tool, detail, width)).join(detail === "names" ? "" : "\n");
}

function entryText(found: FoundTool, detail: Detail, width: number | undefined): string {
  const { id, description, signature } = found;
  const below = (text = "", style = (each: string) => each) => {
    if (text === "") return "";
    return `  ${style(wrappedLines(text, width && width - 2, width && width - 4).join("\n    "))}\n`;
  };
  // A line break in a name must not start a new line.
  const name = bold(id.replace(/[\n\r\t]/g, escaped));
  const lines = [`${name}\n`, below(description)];
  if (detail === "signatures") {
    lines.push(below(signature, cyan), below(tellingExample(found), dim), below(alsoText(found), dim));
  }
  return lines.join("");
}

/** Says that the query names a service, and that the tools found belong to other servers. */
function servicesText({ noServerFor, tools }: SearchResult): string {
  if (!noServerFor || tools.length === 0) return "";
  return `No tool is for ${noServerFor.join(" or ")}. To look for a server: claudikins add ${noServerFor[0]}\n`;
}

/** What to tell about a search without results. Empty if there are results. */
function nothingText(query: string, { searched, tools }: SearchResult, { catalog }: App): string {
  if (searched === 0) return "The configured servers have no tools.\n";
  if (tools.length > 0) return "";
  const { near, servers } = overview(query, catalog);
  const shown = servers.slice(0, maxServersOfNothingFound).map(({ server, tools }) => `${server} (${tools})`);
  const more =
    servers.length > maxServersOfNothingFound ? ` and ${servers.length - maxServersOfNothingFound} more` : "";
  const lines = [`None of ${searched} tools matches. Try other words.\n`];
  if (near.length > 0) lines.push(`Similar names: ${near.join(", ")}\n`);
  if (shown.length > 0) lines.push(`Servers with tools: ${shown.join(", ")}${more}\n`);
  return lines.join("");
}
