/** `claudikins label`: says in the config what the data of tools is. */

import { ClaudikinsError } from "../../base/errors.ts";
import { isObject } from "../../base/json-object.ts";
import { about, either, list, nothing, oneOf, record, text, yesOrNo } from "../../base/json-shape.ts";
import { didYouMean } from "../../base/near-names.ts";
import { configAsText, openConfigFile } from "../../config/config-file.ts";
import { parseJson, removeMembers, setMember } from "../../config/edit/json.ts";
import { type Label, labels } from "../../config/policy.ts";
import { isAnsweredFor } from "../../config/trust/require.ts";
import { checkKnown, entryIn, ownSwitch, switchOf } from "../../setup/settings/switches.ts";
import { isTrustedFile, saveConfig, untrustedText } from "../../setup/trust/trust-config.ts";
import { toolId } from "../../tools/model.ts";
import { command, flag, place, several } from "../command.ts";
import { configArgs, whichConfig } from "../config-flags.ts";

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
    user: flag("Change your own config, even inside a project"),
    config: configArgs.config,
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
    const configFile = openConfigFile(whichConfig(args, io));
    const { file } = configFile;
    const before = await configAsText(configFile, configFile.text, io.env);
    // A registry that an untrusted file names is not read.
    const isUsable = isAnsweredFor({ flag: args.config, env: io.env }) || (await isTrustedFile(configFile, io.env));
    const { server, tool } = ownSwitch(switchOf(args.tool, configFile), before, isUsable);
    if (tool === undefined) {
      throw new ClaudikinsError("USAGE", `"${args.tool}" is a server, and labels are about tools`, {
        hint: `For all of its tools: claudikins label '${server}.*' ${args.labels.join(" ")}`,
      });
    }
    if (isUsable) checkKnown({ server, tool }, before);
    const edited = labelled(configFile, { server, tool }, wanted);
    const isChanged = edited !== configFile.text;
    await configAsText(configFile, edited, io.env);
    if (isChanged) await saveConfig(configFile, edited, io.env);
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

/** The text in which the entry of the server has these labels for the tool. */
function labelled(
  { file, text: before }: { file: string; text: string },
  { server, tool }: { server: string; tool: string },
  wanted: Label[] | undefined,
): string {
  const path = ["mcpServers", server, "labels"];
  const { labels: own } = entryIn(parseJson(before, file), server);
  // The tool may be written with the server's name before it.
  const keys = [tool, toolId(server, tool)].filter((key) => isObject(own) && Object.hasOwn(own, key));
  if (wanted === undefined) {
    if (Array.isArray(own) && /^\*+$/.test(tool)) return removeMembers(before, path.slice(0, 2), ["labels"], file);
    if (keys.length === 0) return before;
    const isEmpty = Object.keys(own as object).length === keys.length;
    return isEmpty
      ? removeMembers(before, path.slice(0, 2), ["labels"], file)
      : removeMembers(before, path, keys, file);
  }
  if (!isObject(own)) {
    const all = Array.isArray(own) ? { "*": own, [tool]: wanted } : { [tool]: wanted };
    return JSON.stringify(own) === JSON.stringify(wanted) && tool === "*" ? before : setMember(before, path, all, file);
  }
  return (keys.length > 0 ? keys : [tool]).reduce(
    (edited, key) =>
      JSON.stringify(own[key]) === JSON.stringify(wanted) ? edited : setMember(edited, [...path, key], wanted, file),
    before,
  );
}
