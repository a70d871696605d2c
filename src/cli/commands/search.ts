/** `claudikins search`: finds tools by words, from the registry alone. */
import { ClaudikinsError, toClaudikinsError } from "../../errors.ts";
import { type SearchResult, search } from "../../flows/search.ts";
import type { Toolbox } from "../../flows/toolbox.ts";
import { command, commonArgs } from "../command.ts";
import { parseCount } from "../flags.ts";
import { openToolbox } from "../session.ts";

export default command({
  name: "search",
  description: "Find tools by what they do. Reads the registry that gen wrote; starts no server.",
  args: {
    query: {
      type: "positional",
      required: true,
      description: "What the tool should do, in your own words; - reads a query a line",
    },
    limit: { type: "string", valueHint: "n", description: "At most this many tools (default 5)" },
    ...commonArgs,
  },
  examples: [
    `claudikins search "refund an order"`,
    `claudikins search "list orders server:demo" --limit 3 --json`,
    "claudikins search --json - < queries.txt",
  ],
  async run(args, io) {
    const limit = args.limit === undefined ? 5 : parseCount(args.limit, "--limit", 100);
    if (args.query.trim() === "") throw new ClaudikinsError("USAGE", "The query is empty");
    if (args.query === "-" && !args.json) {
      throw new ClaudikinsError("USAGE", "Several queries are answered as JSON, a line each", {
        hint: "claudikins search --json - < queries.txt",
      });
    }
    await using toolbox = await openToolbox(io, args.config);
    if (args.query === "-") {
      for (const line of (await io.stdin.text()).split("\n")) {
        if (line.trim() !== "") await io.stdout.write(`${JSON.stringify(answerTo(line.trim(), limit, toolbox))}\n`);
      }
      return 0;
    }
    const result = find(args.query, limit, toolbox);
    if (args.json) {
      await io.stdout.write(`${JSON.stringify(result)}\n`);
      return 0;
    }
    const entries = result.tools.map(({ kind, id, description, signature, example, also = [] }) =>
      [id, description, signature, kind === "skill" ? example : "", also.length > 0 ? `also: ${also.join(", ")}` : ""]
        .filter(Boolean)
        .join("\n  ")
        .concat("\n"),
    );
    if (result.searched === 0) await io.stderr.write("The configured servers have no tools.\n");
    else if (entries.length === 0) {
      await io.stderr.write(`None of ${result.searched} tools matches. Try other words.\n`);
    }
    await io.stdout.write(entries.join("\n"));
    if (result.outdated.length > 0) {
      await io.stderr.write(
        `Perhaps outdated, since their config has changed: ${result.outdated.join(", ")} (run claudikins gen)\n`,
      );
    }
    if (result.notIndexed.length > 0) {
      await io.stderr.write(
        `Not searched, since their tools are not known yet: ${result.notIndexed.join(", ")} (run claudikins gen)\n`,
      );
    }
    return 0;
  },
});

/** Throws REGISTRY_INVALID where there is nothing to search. */
function find(query: string, limit: number, toolbox: Toolbox): SearchResult {
  const result = search(query, limit, toolbox);
  if (result.searched === 0 && result.notIndexed.length > 0) {
    throw new ClaudikinsError("REGISTRY_INVALID", "No tools are known yet", {
      hint: "Ask the servers for them once: claudikins gen",
    });
  }
  return result;
}

/** One of several: a query that is wrong by itself keeps none of the others from its answer. */
function answerTo(query: string, limit: number, toolbox: Toolbox): object {
  try {
    const { tools } = find(query, limit, toolbox);
    return { query, tools };
  } catch (thrown) {
    const error = toClaudikinsError(thrown);
    if (error.code !== "SERVER_NOT_FOUND") throw error;
    const { code, message, hint } = error;
    return { query, tools: [], error: { code, message, ...(hint === undefined ? {} : { hint }) } };
  }
}
