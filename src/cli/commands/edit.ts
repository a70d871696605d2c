/** `claudikins edit`: changes in the config how agents see a tool. */
import { ClaudikinsError } from "../../base/errors.ts";
import type { JsonObject } from "../../base/json-object.ts";
import { about, anything, either, nothing, record, text, yesOrNo } from "../../base/json-shape.ts";
import { changeEdit } from "../../setup/settings/edit-tool.ts";
import { ownTool } from "../../setup/settings/switches.ts";
import { untrustedText } from "../../setup/trust/trust-config.ts";
import { toolId } from "../../tools/model.ts";
import { command, flag, option, place, repeatable } from "../command.ts";
import { changeArgs, whichConfig } from "../flags/config-flags.ts";

const pair = { valueHint: "name=value", ...repeatable } as const;

export default command({
  description:
    "Change how agents see a tool: its name, its description and its arguments. Rules still name the tool by its own name. The file keeps its comments and formatting.",
  args: {
    tool: place("The tool as server.tool", { required: true, complete: "tool" }),
    name: option("The name that agents see", { valueHint: "name" }),
    description: option("The description that agents see", { valueHint: "text" }),
    set: option(
      "Always send this value, as name=text or name:=json; agents do not see the argument (repeatable)",
      pair,
    ),
    default: option("Send this value if an agent leaves the argument out (repeatable)", pair),
    hide: option("Do not show this argument to agents (repeatable)", { valueHint: "argument", ...repeatable }),
    reset: flag("Remove the changes that were made before"),
    ...changeArgs,
  },
  examples: [
    "claudikins edit github.create_issue --name file_bug --set owner=shop",
    "claudikins edit github.create_issue --reset",
  ],
  json: record({
    config: text,
    tool: text,
    edit: about("The entry of the tool; null if there is none", either(anything, nothing)),
    changed: yesOrNo,
  }),
  async run(args, io) {
    const found = await ownTool(args.tool, whichConfig(args, io));
    const given: JsonObject = {};
    const add = (name: string, entry: JsonObject) => {
      given[name] = { ...Object(given[name]), ...entry };
    };
    for (const word of args.set) add(...pairIn(word, "value"));
    for (const word of args.default) add(...pairIn(word, "default"));
    for (const name of args.hide) add(name, { hide: true });
    const { name, description, reset } = args;
    const { changed, entry } = await changeEdit(found, { name, description, arguments: given, reset }, io.env);
    const { file } = found.configFile;
    const id = toolId(found.server, found.tool);
    return {
      json: { config: file, tool: id, edit: entry ?? null, changed: changed !== undefined },
      text: `${changed ? "Changed" : "Unchanged:"} ${id} in ${file}\n`,
      note: found.isUsable ? "" : `note: ${untrustedText(found.configFile)}\n`,
    };
  },
});

/** Throws USAGE. */
function pairIn(word: string, key: "value" | "default"): [name: string, entry: JsonObject] {
  const [, name = "", sign, value = ""] = /^([^=]+?)(:?=)([\s\S]*)$/.exec(word) ?? [];
  if (name === "") throw new ClaudikinsError("USAGE", `"${word}" is not name=text or name:=json`);
  if (sign === "=") return [name, { [key]: value }];
  try {
    return [name, { [key]: JSON.parse(value) }];
  } catch {
    throw new ClaudikinsError("USAGE", `The value of ${name} is not JSON: ${value}`);
  }
}
