/** `claudikins confirm`: says in the config when a tool asks before it is called. */
import { ClaudikinsError } from "../../base/errors.ts";
import { either, oneOf, record, text, yesOrNo } from "../../base/json-shape.ts";
import { confirmModes } from "../../config/policy.ts";
import { isAnsweredFor } from "../../config/trust/require.ts";
import type { ToolState } from "../../policy/decision.ts";
import { changePolicy } from "../../setup/settings/change-policy.ts";
import { ownTool } from "../../setup/settings/switches.ts";
import { toolId } from "../../tools/model.ts";
import { command, place } from "../command.ts";
import { changeArgs, whichConfig } from "../flags/config-flags.ts";
import { oneWordOf } from "../flags/flags.ts";
import { previewAnswer, previewArgs, previewShape } from "../output/preview.ts";

const wanted = [...confirmModes, "default"] as const;

/** The states whose effect on a call can be told from the call log. */
const states: Partial<Record<(typeof wanted)[number], ToolState>> = { always: "ask", never: "allow" };

export default command({
  description:
    "Say when you are asked before a tool is called: never, always, or if the tool says that it is destructive. A call that must wait is in claudikins approvals. To turn a tool off: claudikins disable",
  args: {
    tool: place("The tool as server.tool", { required: true, complete: "tool" }),
    when: place("never, destructive or always; or default, which removes what was said", {
      required: true,
      ...oneWordOf(wanted),
    }),
    ...previewArgs,
    ...changeArgs,
  },
  examples: ["claudikins confirm github.create_issue always", "claudikins confirm github.get_issue never --preview"],
  json: either(
    record({ config: text, server: text, tool: text, confirm: oneOf(...wanted), changed: yesOrNo }),
    previewShape,
  ),
  async run(args, io) {
    const which = whichConfig(args, io);
    const { server, tool, configFile } = await ownTool(args.tool, which);
    if (tool.includes("*")) throw new ClaudikinsError("USAGE", "Name one tool: confirm takes no pattern");
    if (args.preview) {
      const state = states[args.when];
      if (state === undefined) throw new ClaudikinsError("USAGE", "--preview is for always and never");
      return previewAnswer([{ server, tool }], state, configFile.file, args, io);
    }
    const isAnswered = isAnsweredFor({ flag: args.config, env: io.env });
    const changed = await changePolicy({ server, tool, confirm: args.when }, which, { isAnswered, place: "command" });
    const { file } = configFile;
    return {
      json: { config: file, server, tool, confirm: args.when, changed },
      text: `${toolId(server, tool)} asks ${changed ? "" : "already "}${args.when === "default" ? "as other rules say" : args.when} (${file})\n`,
    };
  },
});
