/** `claudikins skill status`: where the skill is, and whether it is that of this version. */
import { type AgentFile, allAgentFiles, stateOf } from "../../../agents/skill-files.ts";
import { command, commonArgs } from "../../command.ts";
import { list, oneOf, record } from "../../shapes.ts";
import { fileShape, surroundingsOf } from "../../skill-files.ts";
import { table } from "../../table.ts";

export default command({
  description:
    "Show where the skill is installed, and the section in CLAUDE.md, AGENTS.md or GEMINI.md, and whether they are up to date.",
  args: {
    json: commonArgs.json,
  },
  examples: ["claudikins skill status", "claudikins skill status --json"],
  json: record({
    files: list(
      record({
        ...fileShape,
        scope: oneOf("user", "project"),
        state: oneOf("current", "older", "changed", "not ours", "absent", "not readable"),
      }),
    ),
  }),
  async run(args, io) {
    const files = allAgentFiles(surroundingsOf(io)).map(({ within: _, ...file }) => ({
      ...file,
      state: stateOrNot(file),
    }));
    if (args.json) {
      await io.stdout.write(`${JSON.stringify({ files })}\n`);
      return 0;
    }
    const there = files.filter(({ state }) => state !== "absent");
    if (there.length === 0) {
      await io.stderr.write("No agent has the skill. To install it: claudikins skill install\n");
      return 0;
    }
    const rows = there.map(({ kind, scope, state, hosts: names, path }) => [
      kind,
      scope,
      words[state] ?? state,
      names.join(", "),
      path,
    ]);
    await io.stdout.write(table(["what", "scope", "state", "agents", "file"], rows, io.stdout.columns));
    return 0;
  },
});

/** States in the words of doctor. */
const words: Partial<Record<ReturnType<typeof stateOrNot>, string>> = {
  older: "from another version",
  changed: "edited by hand",
  "not ours": "not written by claudikins",
};

function stateOrNot(file: AgentFile): ReturnType<typeof stateOf> | "not readable" {
  try {
    return stateOf(file);
  } catch {
    return "not readable";
  }
}
