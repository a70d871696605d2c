/** `claudikins config`: prints the path of the config file in use, or opens it in an editor and checks it afterwards. */
import { existsSync, mkdirSync } from "node:fs";
import { dirname } from "node:path";
import { ClaudikinsError, messageOf, toClaudikinsError } from "../../base/errors.ts";
import { readIfThere, removeFile } from "../../base/files.ts";
import { about, oneOf, record, text, yesOrNo } from "../../base/json-shape.ts";
import { configAsText, findConfigFile, writeConfigFile } from "../../config/config-file.ts";
import { readConfigFile } from "../../config/discover.ts";
import type { Environment } from "../../config/environment.ts";
import type { Config } from "../../config/load.ts";
import { userConfigFile } from "../../config/locations.ts";
import { parsedConfig } from "../../config/plain-config.ts";
import { isAnsweredFor } from "../../config/trust/require.ts";
import { ownServersBeside } from "../../config/user-config.ts";
import { recordMadeChange } from "../../setup/settings/policy-changes.ts";
import { isTrustedFile, keepTrust, untrustedText } from "../../setup/trust/trust-config.ts";
import { requireLog } from "../../store/audit/record.ts";
import { command, flag } from "../command.ts";
import { configArgs, whichConfig } from "../flags/config-flags.ts";
import type { Io } from "../io.ts";
import { errorText } from "../output/report.ts";
import { canAsk, confirm } from "../terminal/prompt.ts";

export const path = command({
  description:
    "Print the path of the config file in use. It is the file that --config or CLAUDIKINS_CONFIG names, else the nearest claudikins.json in this folder or above, else your own config.",
  args: {
    user: flag("Print the path of your own config, even inside a project"),
    config: configArgs.config,
  },
  examples: ["claudikins config path", "claudikins config path --user"],
  json: record({
    path: text,
    kind: oneOf("project", "user"),
    exists: about("If false, only the demo server is available", yesOrNo),
    "extends?": about("Your own config, if the project's config uses its servers as well", text),
  }),
  async run(args, io) {
    // Here, --user and --config may be given together.
    const { kind, file } = findConfigFile({ flag: args.config, user: args.user, cwd: io.cwd, env: io.env });
    const exists = existsSync(file);
    const own = kind === "project" && exists ? await extendedFile(file, io.env) : undefined;
    const extended = own === undefined ? "" : `note: the servers of your own config are used as well: ${own}\n`;
    const note = exists ? extended : "note: the file does not exist yet: claudikins config edit creates it\n";
    return { json: { path: file, kind, exists, ...(own && { extends: own }) }, text: `${file}\n`, note };
  },
});

/** The user's own config, if it has servers for the project. */
async function extendedFile(file: string, env: Environment): Promise<string | undefined> {
  const parsed = await parsedConfig(readConfigFile(file), file).catch(() => undefined);
  const own = parsed && (await ownServersBeside(parsed, env).catch(() => undefined));
  return own && own.added.length > 0 ? userConfigFile(env) : undefined;
}

const empty = '{\n  "mcpServers": {}\n}\n';

export const edit = command({
  description:
    "Open the config file in use in your editor (VISUAL or EDITOR), and check it when the editor closes. A missing file is created.",
  args: {
    user: flag("Edit your own config, even inside a project"),
    config: configArgs.config,
  },
  examples: ["claudikins config edit", "EDITOR='code --wait' claudikins config edit --user"],
  async run(args, io) {
    const which = whichConfig(args, io);
    const editor = editorOf(io.env, canAsk(io));
    const before = findConfigFile(which);
    const isTrusted = await isTrustedFile(before, io.env);
    const isNew = !existsSync(before.file);
    // The editor writes the file itself, so a log that cannot be written is noticed before.
    await requireLog(io.env);
    if (isNew) {
      mkdirSync(dirname(before.file), { recursive: true, mode: 0o700 });
      writeConfigFile(before, empty);
    }
    for (;;) {
      await openEditor(editor, before.file, io);
      const text = readIfThere(before.file);
      if (text === undefined || text === (isNew ? empty : before.text)) {
        if (isNew) removeFile(before.file);
        return { note: "Nothing was changed\n" };
      }
      const problem = await configAsText(before, text, io.env, () => true).then(ruleError, toClaudikinsError);
      if (!problem) {
        await recordMadeChange({ file: before.file, before: isNew ? empty : before.text, after: text }, io.env);
        if (isTrusted) await keepTrust(before, text, io.env);
        const isKnown = isTrusted || isAnsweredFor({ flag: args.config, env: io.env });
        return { text: `Saved ${before.file}\n`, note: isKnown ? "" : `note: ${untrustedText(before)}\n` };
      }
      await io.stderr.write(errorText(problem, io.stderr));
      if (!canAsk(io) || !(await confirm(io, "Edit the file again?"))) return { exitCode: problem.exitCode };
    }
  },
});

/** The error of rules that name arguments that their tools do not have. */
async function ruleError(config: Config): Promise<ClaudikinsError | undefined> {
  const { ruleProblems } = await import("../../tools/rule-problems.ts");
  const { storedServers } = await import("../../tools/catalog/registries.ts");
  const problems = await ruleProblems(config, storedServers(config).servers);
  if (problems.length === 0) return undefined;
  const lines = problems.map(({ line, problem }) => `  ${line}: ${problem}`);
  return new ClaudikinsError("CONFIG_INVALID", `The config has a rule that cannot be used:\n${lines.join("\n")}`);
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
