/** `claudikins search`: finds tools by words, from the registry alone. */
import { ClaudikinsError } from "../../errors.ts";
import { search } from "../../flows/search.ts";
import { command, commonArgs } from "../command.ts";
import { parseCount } from "../flags.ts";
import { openToolbox } from "../session.ts";

export default command({
  name: "search",
  description: "Find tools by what they do. Reads the registry that gen wrote; starts no server.",
  args: {
    query: { type: "positional", required: true, description: "What the tool should do, in your own words" },
    limit: { type: "string", valueHint: "n", description: "At most this many tools (default 5)" },
    ...commonArgs,
  },
  examples: [`claudikins search "refund an order"`, `claudikins search "read a file" --limit 3 --json`],
  async run(args, io) {
    const limit = args.limit === undefined ? 5 : parseCount(args.limit, "--limit", 100);
    if (args.query.trim() === "") throw new ClaudikinsError("USAGE", "The query is empty");
    await using toolbox = await openToolbox(io, args.config);
    const result = search(args.query, limit, toolbox);
    if (result.searched === 0 && result.notIndexed.length > 0) {
      throw new ClaudikinsError("REGISTRY_INVALID", "No tools are known yet", {
        hint: "Ask the servers for them once: claudikins gen",
      });
    }
    if (args.json) {
      await io.stdout.write(`${JSON.stringify(result)}\n`);
      return 0;
    }
    const entries = result.tools.map(({ kind, id, description, signature, example }) =>
      [id, description, signature, kind === "skill" ? example : ""].filter(Boolean).join("\n  ").concat("\n"),
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
