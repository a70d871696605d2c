/** `claudikins search`: finds tools in the registry. Servers are asked only if it has no tools yet. */
import { ClaudikinsError, toClaudikinsError } from "../../errors.ts";
import { type SearchResult, search } from "../../search/search.ts";
import { type Detail, details, fullTool, notCallable, overview } from "../../search/search-answer.ts";
import type { Toolbox } from "../../toolbox/toolbox.ts";
import { hasColours } from "../colours.ts";
import { command, commonArgs } from "../command.ts";
import { count, oneWordOf } from "../flags.ts";
import { foundText, nothingText, searchShape } from "../found-text.ts";
import type { Io, Output } from "../io.ts";
import { Progress } from "../progress.ts";
import { openToolbox } from "../session.ts";
import { countMark } from "../shell-count.ts";
import { trustArgs } from "../trust-prompt.ts";

export default command({
  description:
    "Find tools by what they do. The search reads the registry. If the registry has no tools yet, claudikins fetches them from the servers first.",
  args: {
    query: {
      type: "positional",
      required: true,
      description: "What the tool should do, in your own words; - reads one query per line",
    },
    limit: {
      type: "string",
      valueHint: "n",
      description: "Maximum number of tools to show (default 5)",
      parse: count(100),
    },
    detail: {
      type: "string",
      valueHint: "level",
      description: "What to show of each tool: names, signatures (default) or full (JSON with schemas)",
      ...oneWordOf(details),
    },
    ...trustArgs,
    ...commonArgs,
  },
  examples: [
    `claudikins search "refund an order"`,
    `claudikins search "list orders server:demo" --limit 3 --json`,
    "claudikins search refund --limit 1 --detail full",
    "claudikins search --json - < queries.txt",
  ],
  json: searchShape,
  async run(args, io) {
    const { limit = 5, detail = "signatures" } = args;
    if (args.query.trim() === "") throw new ClaudikinsError("USAGE", "The query is empty");
    if (args.query === "-" && !args.json) {
      throw new ClaudikinsError("USAGE", "Queries from standard input are answered as JSON, so --json is required", {
        hint: "claudikins search --json - < queries.txt",
      });
    }
    await using toolbox = await openToolbox(io, args);
    countMark(toolbox, args.query);
    await askFirst(toolbox, io, args.json === true);
    if (args.query === "-") {
      for (const line of (await io.stdin.text()).split("\n")) {
        if (line.trim() === "") continue;
        await io.stdout.write(`${JSON.stringify(answerTo(line.trim(), { limit, detail }, toolbox))}\n`);
      }
      return 0;
    }
    const result = search(args.query, limit, toolbox.catalog);
    if (args.json) {
      await io.stdout.write(`${JSON.stringify({ ...result, tools: detailed(result, detail, toolbox) })}\n`);
      return 0;
    }
    if (result.searched === 0) await io.stderr.write("The configured servers have no tools.\n");
    else if (result.tools.length === 0) {
      await io.stderr.write(nothingText(result.searched, overview(args.query, toolbox.catalog)));
    } else if (detail === "full") {
      await io.stdout.write(`${JSON.stringify(detailed(result, detail, toolbox), null, 2)}\n`);
    } else {
      const page = { colours: hasColours(io.stdout, io), width: io.stdout.columns };
      await io.stdout.write(foundText(result.tools, detail, page));
    }
    await writeProblems(result, toolbox, io.stderr);
    return 0;
  },
});

/** The tools as JSON, with the chosen detail. */
function detailed({ tools }: SearchResult, detail: Detail, toolbox: Toolbox): object[] {
  if (detail === "full") return tools.map((found) => fullTool(found, toolbox.catalog));
  return detail === "signatures" ? tools : tools.map(({ id, server, name }) => ({ id, server, name }));
}

/** Writes each problem with the command that fixes it. */
async function writeProblems(result: SearchResult, toolbox: Toolbox, stderr: Output): Promise<void> {
  for (const [name, problem] of notCallable(result, toolbox)) {
    await stderr.write(`Not available now: ${name} (${problem})\n`);
  }
  if (result.outdated.length > 0) {
    await stderr.write(
      `Possibly outdated, because their config has changed: ${result.outdated.join(", ")} (run claudikins gen)\n`,
    );
  }
  if (result.notIndexed.length > 0) {
    await stderr.write(
      `Not searched, because their tools are not known yet: ${result.notIndexed.join(", ")} (run claudikins gen)\n`,
    );
  }
}

/** Fetches tools before the first search. Throws CANCELLED, or an error if no server answered. */
async function askFirst(toolbox: Toolbox, { stderr, interrupted }: Io, json: boolean): Promise<void> {
  const { searched, notIndexed } = search("tools", 1, toolbox.catalog);
  if (searched > 0 || notIndexed.length === 0) return;
  const { generate } = await import("../../generation/generate.ts");
  const progress = new Progress(json ? undefined : stderr, "servers", notIndexed.length);
  const onServer = (server: string) => progress.advance(server);
  const report = await generate(toolbox, { only: notIndexed, signal: interrupted, onServer }).finally(() =>
    progress.end(),
  );
  if (interrupted.aborted) throw new ClaudikinsError("CANCELLED", "The search was cancelled");
  const failed = report.servers.flatMap(({ server, problem }) => (problem ? [{ server, problem }] : []));
  const [first] = failed;
  if (!first || failed.length < report.servers.length) return;
  const { code, message, hint } = first.problem;
  if (failed.length === 1) throw new ClaudikinsError(code, message, { hint });
  throw new ClaudikinsError(
    code,
    `None of the ${failed.length} configured servers answered, so there are no tools to search`,
    {
      hint: `To see why each one failed: claudikins gen. The first error: ${message.split("\n")[0]}`,
    },
  );
}

/** Answers one of several queries. An invalid query does not stop the others. */
function answerTo(query: string, { limit, detail }: { limit: number; detail: Detail }, toolbox: Toolbox): object {
  try {
    return { query, tools: detailed(search(query, limit, toolbox.catalog), detail, toolbox) };
  } catch (thrown) {
    const error = toClaudikinsError(thrown);
    if (error.code !== "SERVER_NOT_FOUND") throw error;
    const { code, message, hint } = error;
    return { query, tools: [], error: { code, message, ...(hint === undefined ? {} : { hint }) } };
  }
}
