/** `claudikins config edit`: opens the config file in an editor, and checks it afterwards. */
import { existsSync, mkdirSync } from "node:fs";
import { dirname } from "node:path";
import type { Environment } from "../../../config/environment.ts";
import { isAnsweredFor } from "../../../config/trust/require.ts";
import { ClaudikinsError, messageOf, toClaudikinsError } from "../../../errors.ts";
import { readIfThere, removeFile } from "../../../files.ts";
import { type ConfigText, configAsText, findConfigFile, writeConfigFile } from "../../../settings/config-file.ts";
import { isTrustedFile, keepTrust, untrustedText } from "../../../settings/trust/trust-config.ts";
import { hasColours } from "../../colours.ts";
import { command, commonArgs } from "../../command.ts";
import type { Io } from "../../io.ts";
import { canAsk, confirm } from "../../prompt.ts";
import { errorText } from "../../report.ts";

const empty = '{\n  "mcpServers": {}\n}\n';

export default command({
  description:
    "Open the config file in use in your editor (VISUAL or EDITOR), and check it when the editor closes. A missing file is created.",
  args: {
    user: { type: "boolean", description: "Edit your own config, even inside a project" },
    config: commonArgs.config,
  },
  examples: ["claudikins config edit", "EDITOR='code --wait' claudikins config edit --user"],
  async run(args, io) {
    if (args.user && args.config !== undefined) throw new ClaudikinsError("USAGE", "Use --user or --config, not both");
    const editor = editorOf(io.env, canAsk(io));
    const before = findConfigFile({ flag: args.config, user: args.user, cwd: io.cwd, env: io.env });
    const isTrusted = await isTrustedFile(before, io.env);
    const isNew = !existsSync(before.file);
    if (isNew) {
      mkdirSync(dirname(before.file), { recursive: true, mode: 0o700 });
      writeConfigFile(before, empty);
    }
    for (;;) {
      await openEditor(editor, before.file, io);
      const text = readIfThere(before.file);
      if (text === undefined || text === (isNew ? empty : before.text)) {
        if (isNew) removeFile(before.file);
        await io.stderr.write("Nothing was changed\n");
        return 0;
      }
      const problem = await problemOf(before, text, io.env);
      if (!problem) {
        if (isTrusted) await keepTrust(before, text, io.env);
        else if (!isAnsweredFor({ flag: args.config, env: io.env }))
          await io.stderr.write(`note: ${untrustedText(before)}\n`);
        await io.stdout.write(`Saved ${before.file}\n`);
        return 0;
      }
      await io.stderr.write(errorText(problem, hasColours(io.stderr, io)));
      if (!canAsk(io) || !(await confirm(io, "Edit the file again?"))) return problem.exitCode;
    }
  },
});

async function problemOf(configFile: ConfigText, text: string, env: Environment): Promise<ClaudikinsError | undefined> {
  try {
    await configAsText(configFile, text, env);
    return undefined;
  } catch (thrown) {
    return toClaudikinsError(thrown);
  }
}

/** The words of the editor's command, which runs without a shell. Throws USAGE without an editor and a terminal. */
function editorOf(env: Environment, isTerminal: boolean): string[] {
  const words = (env["VISUAL"] || env["EDITOR"] || "").split(/\s+/).filter(Boolean);
  if (words.length > 0) return words;
  if (!isTerminal) {
    throw new ClaudikinsError("USAGE", "There is no terminal to open an editor in", {
      hint: "Set an editor that needs no terminal, such as EDITOR='code --wait'. To print the path of the file: claudikins config path",
    });
  }
  return [process.platform === "win32" ? "notepad" : "vi"];
}

/** Throws USAGE if the editor does not start or fails. */
async function openEditor([program = "", ...args]: string[], file: string, { cwd, env }: Io): Promise<void> {
  let code: number;
  try {
    code = await Bun.spawn([program, ...args, file], { cwd, env, stdio: ["inherit", "inherit", "inherit"] }).exited;
  } catch (cause) {
    throw new ClaudikinsError("USAGE", `The editor ${program} cannot be started: ${messageOf(cause)}`, {
      hint: "Set EDITOR to another editor.",
    });
  }
  if (code === 0) return;
  throw new ClaudikinsError("USAGE", `The editor ${program} ended with exit code ${code}`, {
    hint: `The file was left as the editor saved it: ${file}`,
  });
}
