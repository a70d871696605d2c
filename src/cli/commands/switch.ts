/** `claudikins enable` and `claudikins disable`. */

import { about, either, list, record, text, yesOrNo } from "../../base/json-shape.ts";
import { type SwitchedServers, switchServers, wantedSwitches } from "../../setup/settings/switch-servers.ts";
import { untrustedText } from "../../setup/trust/trust-config.ts";
import { toolId } from "../../tools/model.ts";
import { type CommandAnswer, command, place, several } from "../command.ts";
import { changeArgs, whichConfig } from "../flags/config-flags.ts";
import { previewAnswer, previewArgs, previewShape } from "../output/preview.ts";

const nameArgs = {
  names: place("Servers in the config, or tools as server.tool; * in a tool's name matches any text", {
    complete: "switch",
    ...several,
  }),
} as const;

const switchedShape = record({
  config: text,
  switched: list(
    record({
      server: text,
      "tool?": text,
      enabled: yesOrNo,
      changed: about("Whether this command changed it", yesOrNo),
    }),
  ),
});

export const enable = command({
  description: "Turn servers or single tools back on in claudikins.json. The file keeps its comments and formatting.",
  args: { ...nameArgs, ...changeArgs },
  examples: ["claudikins enable github", "claudikins enable github.delete_repository"],
  json: switchedShape,
  run: async (args, io) => answerOf(await switchServers(args.names, true, whichConfig(args, io)), true),
});

export const disable = command({
  description:
    "Turn off servers or single tools in claudikins.json. They cannot be called, and agents do not see them. A server keeps its entry.",
  args: { ...nameArgs, ...previewArgs, ...changeArgs },
  examples: [
    "claudikins disable github",
    "claudikins disable github.delete_repository",
    "claudikins disable 'github.delete_*' --preview",
  ],
  json: either(switchedShape, previewShape),
  async run(args, io) {
    const which = whichConfig(args, io);
    if (!args.preview) return answerOf(await switchServers(args.names, false, which), false);
    const { configFile, wanted } = await wantedSwitches(args.names, which);
    return previewAnswer(wanted, "deny", configFile.file, args, io);
  },
});

function answerOf({ configFile, config, switched, isUsable }: SwitchedServers, isOn: boolean): CommandAnswer {
  const { file } = configFile;
  const lines = switched.map(({ server, tool, changed }) => {
    const what = tool === undefined ? server : toolId(server, tool);
    const state = isOn ? "enabled" : "disabled";
    return changed
      ? `${isOn ? "Enabled" : "Disabled"} ${what} in ${file}\n`
      : `${what} is already ${state} in ${file}\n`;
  });
  const off = switched.filter(({ server, tool }) => isOn && tool !== undefined && !config.servers.has(server));
  const notes = off.map(
    ({ server }) => `note: the server ${server} is disabled. To enable it: claudikins enable ${server}\n`,
  );
  if (!isUsable) notes.unshift(`note: ${untrustedText(configFile)}\n`);
  return { json: { config: file, switched }, text: lines.join(""), note: notes.join("") };
}
