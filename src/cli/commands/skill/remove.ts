/** `claudikins skill remove`: removes what `skill install` wrote. */
import { remove } from "../../../agents/skill-files.ts";
import { agents } from "../../../agents/supported/agents.ts";
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
  whereArgs,
} from "../../skill-files.ts";

export default command({
  description: "Remove the skill and the sections that skill install wrote, and nothing else.",
  args: {
    ...whereArgs,
    ...changeArgs,
    json: commonArgs.json,
  },
  examples: ["claudikins skill remove", "claudikins skill remove --project --dry-run"],
  json: record({ files: changesShape }),
  jsonFailure: { "files?": changesShape },
  async run(args, io) {
    const surroundings = surroundingsOf(io);
    const chosen = namedAgents(args.host) ?? agents;
    const files = filesFor(chosen, ["skill", "section"], scopeOf(args), { surroundings, named: false });
    const options = { force: args.force === true, dryRun: args["dry-run"] === true };
    const changes = remove(files, options).filter(({ result }) => result !== "unchanged");
    if (changes.length === 0 && !args.json) await io.stderr.write("The skill is not installed.\n");
    return tellOfChanges(changes, args, io);
  },
});
