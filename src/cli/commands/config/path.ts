/** `claudikins config path`: the path of the config file in use. */
import { existsSync } from "node:fs";
import { findConfigFile } from "../../../settings/config-file.ts";
import { command, commonArgs } from "../../command.ts";
import { about, oneOf, record, text, yesOrNo } from "../../shapes.ts";

export default command({
  description:
    "Print the path of the config file in use. It is the file that --config or CLAUDIKINS_CONFIG names, else the nearest claudikins.json in this folder or above, else your own config.",
  args: {
    user: { type: "boolean", description: "Print the path of your own config, even inside a project" },
    config: commonArgs.config,
    json: commonArgs.json,
  },
  examples: ["claudikins config path", "claudikins config path --user"],
  json: record({
    path: text,
    kind: oneOf("project", "user"),
    exists: about("If false, only the demo server is available", yesOrNo),
  }),
  async run(args, io) {
    const { kind, file } = findConfigFile({ flag: args.config, user: args.user, cwd: io.cwd, env: io.env });
    const exists = existsSync(file);
    if (args.json) await io.stdout.write(`${JSON.stringify({ path: file, kind, exists })}\n`);
    else await io.stdout.write(`${file}\n`);
    if (!exists && !args.json)
      await io.stderr.write("note: the file does not exist yet: claudikins config edit creates it\n");
    return 0;
  },
});
