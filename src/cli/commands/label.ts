/** `claudikins label`: says in the config what the data of tools is. */

import { ClaudikinsError } from "../../base/errors.ts";
import { about, either, list, nothing, oneOf, record, text, yesOrNo } from "../../base/json-shape.ts";
import { didYouMean } from "../../base/near-names.ts";
import { type Label, labels } from "../../config/policy.ts";
import { changeLabels } from "../../setup/settings/labels.ts";
import { ownTool } from "../../setup/settings/switches.ts";
import { untrustedText } from "../../setup/trust/trust-config.ts";
import { toolId } from "../../tools/model.ts";
import { command, place, several } from "../command.ts";
import { changeArgs, whichConfig } from "../flags/config-flags.ts";

const words = [...labels, "none", "default"];

export default command({
  description:
    "Say what the data of a tool is, instead of the catalog and the rules. The file keeps its comments and formatting. To see the labels and their reasons: claudikins list tools --detailed",
  args: {
    tool: place("The tool as server.tool; * in its name matches any text", { required: true, complete: "tool" }),
    labels: place("untrusted, private, public or several of them; none; or default, which removes what was said", {
      required: true,
      choices: words,
      ...several,
    }),
    ...changeArgs,
  },
  examples: [
    "claudikins label github.create_issue public",
    "claudikins label 'github.get_*' untrusted private",
    "claudikins label github.create_issue none",
    "claudikins label github.create_issue default",
  ],
  json: record({
    config: text,
    server: text,
    tool: text,
    labels: about("null if the catalog and the rules decide", either(list(oneOf(...labels)), nothing)),
    changed: yesOrNo,
  }),
  async run(args, io) {
    const wanted = labelsIn(args.labels);
    const found = await ownTool(args.tool, whichConfig(args, io));
    const { server, tool, configFile, isUsable } = found;
    const isChanged = (await changeLabels(found, wanted, io.env)) !== undefined;
    const { file } = configFile;
    const id = toolId(server, tool);
    const said = wanted === undefined ? "what the catalog and the rules say" : wanted.join(", ") || "none";
    return {
      json: { config: file, server, tool, labels: wanted ?? null, changed: isChanged },
      text: `Labels of ${id}${isChanged ? "" : " are already"}: ${said} (${file})\n`,
      note: isUsable ? "" : `note: ${untrustedText(configFile)}\n`,
    };
  },
});

/** Undefined for `default`. Throws USAGE. */
function labelsIn(given: readonly string[]): Label[] | undefined {
  const all = given.flatMap((each) => each.split(",")).filter(Boolean);
  const unknown = all.find((each) => !words.includes(each));
  if (unknown !== undefined) {
    throw new ClaudikinsError("USAGE", `"${unknown}" is not a label: ${words.join(", ")}`, {
      hint: didYouMean(unknown, words),
    });
  }
  if (all.length === 0) throw new ClaudikinsError("USAGE", `Give at least one label: ${words.join(", ")}`);
  const isAlone = ["none", "default"].find((each) => all.includes(each));
  if (isAlone !== undefined && new Set(all).size > 1) {
    throw new ClaudikinsError("USAGE", `"${isAlone}" cannot be combined with other labels`);
  }
  return isAlone === "default" ? undefined : labels.filter((label) => all.includes(label));
}
