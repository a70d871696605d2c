/** `claudikins enable` and `claudikins disable`. */

import { about, list, record, text, yesOrNo } from "../../base/json-shape.ts";
import { switchServers } from "../../setup/settings/switch-servers.ts";
import { untrustedText } from "../../setup/trust/trust-config.ts";
import { toolId } from "../../tools/model.ts";
import { type Command, command, place, several } from "../command.ts";
import { changeArgs, whichConfig } from "../flags/config-flags.ts";

export const enable = switchCommand(
  true,
  "Turn servers or single tools back on in claudikins.json. The file keeps its comments and formatting.",
  ["claudikins enable github", "claudikins enable github.delete_repository"],
);

export const disable = switchCommand(
  false,
  "Turn off servers or single tools in claudikins.json. They cannot be called, and agents do not see them. A server keeps its entry.",
  ["claudikins disable github", "claudikins disable github.delete_repository", "claudikins disable 'github.delete_*'"],
);

function switchCommand(isOn: boolean, description: string, examples: string[]): Command {
  const name = isOn ? "enable" : "disable";
  return command({
    description,
    args: {
      names: place("Servers in the config, or tools as server.tool; * in a tool's name matches any text", {
        complete: "switch",
        ...several,
      }),
      ...changeArgs,
    },
    examples,
    json: record({
      config: text,
      switched: list(
        record({
          server: text,
          "tool?": text,
          enabled: yesOrNo,
          changed: about("Whether this command changed it", yesOrNo),
        }),
      ),
    }),
    async run(args, io) {
      const { configFile, config, switched, isUsable } = await switchServers(args.names, isOn, whichConfig(args, io));
      const { file } = configFile;
      const lines = switched.map(({ server, tool, changed }) => {
        const what = tool === undefined ? server : toolId(server, tool);
        return changed
          ? `${isOn ? "Enabled" : "Disabled"} ${what} in ${file}\n`
          : `${what} is already ${name}d in ${file}\n`;
      });
      const off = switched.filter(({ server, tool }) => isOn && tool !== undefined && !config.servers.has(server));
      const notes = off.map(
        ({ server }) => `note: the server ${server} is disabled. To enable it: claudikins enable ${server}\n`,
      );
      if (!isUsable) notes.unshift(`note: ${untrustedText(configFile)}\n`);
      return { json: { config: file, switched }, text: lines.join(""), note: notes.join("") };
    },
  });
}
