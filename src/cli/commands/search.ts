/** `claudikins search`: finds tools by words, from the registry alone. */
import { ClaudikinsError, toClaudikinsError } from "../../errors.ts";
import { type SearchResult, search } from "../../flows/search.ts";
import { type Detail, details, fullTool, notCallable, overview } from "../../flows/search-answer.ts";
import type { Toolbox } from "../../flows/toolbox.ts";
import { hasColours } from "../colours.ts";
import { command, commonArgs } from "../command.ts";
import { parseChoice, parseCount } from "../flags.ts";
import { foundText, nothingText, searchShape } from "../found-text.ts";
import type { Output } from "../io.ts";
import { openToolbox } from "../session.ts";
import { countMark } from "../shell-count.ts";
import { trustArgs } from "../trust-prompt.ts";

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
    detail: {
      type: "string",
      valueHint: details.join("|"),
      description: "How much of each tool (default signatures); full is JSON, with schemas",
      choices: details,
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
    const limit = args.limit === undefined ? 5 : parseCount(args.limit, "--limit", 100);
    const detail = args.detail === undefined ? "signatures" : parseChoice(args.detail, "--detail", details);
    if (args.query.trim() === "") throw new ClaudikinsError("USAGE", "The query is empty");
    if (args.query === "-" && !args.json) {
      throw new ClaudikinsError("USAGE", "Several queries are answered as JSON, a line each", {
        hint: "claudikins search --json - < queries.txt",
      });
    }
    await using toolbox = await openToolbox(io, args);
    countMark(toolbox, args.query);
    if (args.query === "-") {
      for (const line of (await io.stdin.text()).split("\n")) {
        if (line.trim() === "") continue;
        await io.stdout.write(`${JSON.stringify(answerTo(line.trim(), { limit, detail }, toolbox))}\n`);
      }
      return 0;
    }
    const result = find(args.query, limit, toolbox);
    if (args.json) {
      await io.stdout.write(`${JSON.stringify({ ...result, tools: detailed(result, detail, toolbox) })}\n`);
      return 0;
    }
    if (result.searched === 0) await io.stderr.write("The configured servers have no tools.\n");
    else if (result.tools.length === 0) {
      await io.stderr.write(nothingText(result.searched, overview(args.query, toolbox)));
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

/** What the tools are shown as in JSON. */
function detailed({ tools }: SearchResult, detail: Detail, toolbox: Toolbox): object[] {
  if (detail === "full") return tools.map((found) => fullTool(found, toolbox));
  return detail === "signatures" ? tools : tools.map(({ id, server, name }) => ({ id, server, name }));
}

/** Each with the command that repairs it. */
async function writeProblems(result: SearchResult, toolbox: Toolbox, stderr: Output): Promise<void> {
  for (const [name, problem] of notCallable(result, toolbox)) {
    await stderr.write(`Not callable now: ${name} (${problem})\n`);
  }
  if (result.outdated.length > 0) {
    await stderr.write(
      `Perhaps outdated, since their config has changed: ${result.outdated.join(", ")} (run claudikins gen)\n`,
    );
  }
  if (result.notIndexed.length > 0) {
    await stderr.write(
      `Not searched, since their tools are not known yet: ${result.notIndexed.join(", ")} (run claudikins gen)\n`,
    );
  }
}

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
function answerTo(query: string, { limit, detail }: { limit: number; detail: Detail }, toolbox: Toolbox): object {
  try {
    return { query, tools: detailed(find(query, limit, toolbox), detail, toolbox) };
  } catch (thrown) {
    const error = toClaudikinsError(thrown);
    if (error.code !== "SERVER_NOT_FOUND") throw error;
    const { code, message, hint } = error;
    return { query, tools: [], error: { code, message, ...(hint === undefined ? {} : { hint }) } };
  }
}
