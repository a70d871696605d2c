/** `claudikins enable` and `claudikins disable`. */

import { about, list, record, text, yesOrNo } from "../../base/json-shape.ts";
import { configAsText, openConfigFile } from "../../config/config-file.ts";
import { parseJson } from "../../config/edit/json.ts";
import { isAnsweredFor } from "../../config/trust/require.ts";
import {
  checkKnown,
  checkOn,
  entryIn,
  ownSwitch,
  switchedOff,
  switchedOn,
  switchOf,
} from "../../setup/settings/switches.ts";
import { isTrustedFile, saveConfig, untrustedText } from "../../setup/trust/trust-config.ts";
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
      const configFile = openConfigFile(whichConfig(args, io));
      const { file } = configFile;
      const before = await configAsText(configFile, configFile.text, io.env);
      // A registry that an untrusted file names is not read.
      const isUsable = isAnsweredFor({ flag: args.config, env: io.env }) || (await isTrustedFile(configFile, io.env));
      const words = [...new Set(args.names)];
      const wanted = words.map((word) => ownSwitch(switchOf(word, configFile), before, isUsable));
      let edited = configFile.text;
      const switched = wanted.map((one) => {
        const text = edited;
        const entry = entryIn(parseJson(edited, file), one.server);
        edited = isOn ? switchedOn(one, configFile, edited, entry) : switchedOff(one, configFile, edited, entry);
        return { ...one, enabled: isOn, changed: edited !== text };
      });
      const mustWork = ({ tool }: { tool?: string | undefined }) => isOn || tool !== undefined;
      const mustBeRight = (server: string) => wanted.some((one) => one.server === server && mustWork(one));
      const config = await configAsText(configFile, edited, io.env, mustBeRight);
      if (isOn) for (const one of wanted) checkOn(one, config);
      else if (isUsable) for (const one of wanted) checkKnown(one, before);
      await saveConfig(configFile, edited, io.env);
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
