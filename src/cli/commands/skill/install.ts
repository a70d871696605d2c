/** `claudikins skill install`: writes the skill where agents look for it. */
import { install } from "../../../agents/skill-files.ts";
import { command, commonArgs } from "../../command.ts";
import { record } from "../../shapes.ts";
import {
  changeArgs,
  changesShape,
  filesFor,
  namedAgents,
  scopeOf,
  surroundingsOf,
  tellOfChanges,
  usualAgents,
  whereArgs,
} from "../../skill-files.ts";

export default command({
  description:
    "Write a skill that tells agents how to search, run code, keep outputs small and save what works. Claude Code reads it from .claude/skills, all other agents from .agents/skills. By default it is written for the agents on this machine.",
  args: {
    ...whereArgs,
    "claude-md": {
      type: "boolean",
      description:
        "Also write a section between markers in CLAUDE.md, AGENTS.md or GEMINI.md; the rest of the file is kept",
    },
    ...changeArgs,
    json: commonArgs.json,
  },
  examples: [
    "claudikins skill install",
    "claudikins skill install --project --host claude --claude-md",
    "claudikins skill install --dry-run",
  ],
  json: record({ files: changesShape }),
  jsonFailure: { "files?": changesShape },
  async run(args, io) {
    const surroundings = surroundingsOf(io);
    const named = namedAgents(args.host);
    const kinds = args["claude-md"] ? (["skill", "section"] as const) : (["skill"] as const);
    const files = filesFor(named ?? usualAgents(surroundings), kinds, scopeOf(args), {
      surroundings,
      named: named !== undefined,
    });
    const options = { force: args.force === true, dryRun: args["dry-run"] === true };
    return tellOfChanges(install(files, options), args, io);
  },
});
