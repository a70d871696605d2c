/** `claudikins daemon enable` and `disable`: the daemon as a service that starts when the user logs in. */
import { ClaudikinsError } from "../../base/errors.ts";
import { readIfThere, removeFile, writeWhenChanged } from "../../base/files.ts";
import { about, list, record, text, yesOrNo } from "../../base/json-shape.ts";
import { configName } from "../../config/locations.ts";
import { type Service, serviceCommand, serviceOf } from "../../setup/service.ts";
import { unifiedDiff } from "../../setup/unified-diff.ts";
import { bestCommand } from "../../setup/upgrade/lasting.ts";
import { runFailure, runProgram } from "../../setup/upgrade/run.ts";
import { type ArgumentValues, command, flag } from "../command.ts";
import { configArgs, openConfig } from "../flags/config-flags.ts";
import type { Io } from "../io.ts";
import { requireConsent } from "../terminal/prompt.ts";
import { colouredDiff } from "../terminal/terminal-output.ts";

/** Time for a command that starts or stops a service. */
const serviceCommandMs = 60_000;

const args = {
  yes: flag("Do it without asking", { short: "y" }),
  "dry-run": flag("Show the file and the commands, and do nothing"),
  config: configArgs.config,
} as const;

const shape = record({
  service: text,
  "file?": about("The file that describes the service", text),
  commands: about("The commands for the system", list(text)),
  done: about("False with --dry-run, and if nothing had to be done", yesOrNo),
});

export const enable = command({
  description:
    "Start the daemon of this config whenever you log in, as a service of your own user, so that scheduled programs run. The file and the commands are shown first.",
  args,
  examples: ["claudikins daemon enable", "claudikins daemon enable --dry-run"],
  json: shape,
  async run(flags, io) {
    const { service, variables } = await serviceFor(flags, io);
    const { name, file, enable } = service;
    const before = file && readIfThere(file.path);
    const isUnchanged = file !== undefined && before === file.text;
    const plan = [
      ...(file ? [unifiedDiff(file.path, before ?? "", file.text) || `${file.path} is unchanged\n`] : []),
      `Commands:\n${enable.map((each) => `  ${serviceCommand(each)}\n`).join("")}`,
      variables.length === 0
        ? ""
        : `The service does not have your shell's variables. Servers need these: ${variables.join(", ")}. Set them where your system's services get theirs.\n`,
    ].join("\n");
    const json = { service: name, ...(file ? { file: file.path } : {}), commands: enable.map(serviceCommand) };
    if (flags["dry-run"]) return { json: { ...json, done: false }, text: colouredDiff(plan) };
    await agreed(flags, plan, "Enable the service?", io);
    if (file && !isUnchanged) writeWhenChanged(file.path, file.text);
    await runAll(enable, `The service ${name} was written but not started`, io);
    return { json: { ...json, done: true }, text: `Enabled ${name}. To undo this: claudikins daemon disable\n` };
  },
});

export const disable = command({
  description: "Remove the service that daemon enable has made, and stop it. Nothing else is removed.",
  args,
  examples: ["claudikins daemon disable"],
  json: shape,
  async run(flags, io) {
    const { service } = await serviceFor(flags, io);
    const { name, file, disable } = service;
    const commands = [...disable.before, ...disable.after];
    const json = { service: name, ...(file ? { file: file.path } : {}), commands: commands.map(serviceCommand) };
    if (file && readIfThere(file.path) === undefined) {
      return { json: { ...json, done: false }, note: `There is no service ${name}.\n` };
    }
    const plan = `${file ? `Removes ${file.path}\n` : ""}Commands:\n${commands.map((each) => `  ${serviceCommand(each)}\n`).join("")}`;
    if (flags["dry-run"]) return { json: { ...json, done: false }, text: plan };
    await agreed(flags, plan, "Disable the service?", io);
    await runAll(disable.before, `The service ${name} was not stopped`, io);
    if (file) removeFile(file.path);
    await runAll(disable.after, `The service ${name} was removed`, io);
    return { json: { ...json, done: true }, text: `Disabled ${name}.\n` };
  },
});

type Flags = ArgumentValues<typeof args>;

async function serviceFor(flags: Flags, io: Io): Promise<{ service: Service; variables: string[] }> {
  const { origin, servers } = await openConfig(flags, io);
  const which = origin.kind === "demo" ? ["--demo"] : ["--config", origin.file];
  const owner = configName(origin);
  const service = serviceOf(process.platform, {
    id: origin.kind === "user" ? "claudikins" : `claudikins-${owner.replace(/[^A-Za-z0-9-]+/g, "-")}`,
    description: `claudikins: scheduled programs of ${origin.kind === "demo" ? "the demo" : origin.file}`,
    command: bestCommand(io.env, "daemon", "run", "--service", ...which),
    env: io.env,
    uid: process.getuid?.(),
  });
  const variables = [...servers.values()].flatMap(({ variables = {}, needs }) => [...Object.keys(variables), ...needs]);
  return { service, variables: [...new Set(variables)].filter((name) => name !== "HOME" && name !== "PATH").sort() };
}

/** Throws USAGE and CANCELLED. */
async function agreed({ yes }: Flags, plan: string, question: string, io: Io): Promise<void> {
  await requireConsent(io, yes, {
    question,
    shown: colouredDiff(plan),
    needed: "A service is changed only with your consent",
    hint: "Run the command at a terminal, or add --yes. To see what it does: --dry-run",
    refused: "Nothing was changed",
  });
}

/** Throws UNEXPECTED with what the system says. */
async function runAll(commands: string[][], state: string, { env, interrupted }: Io): Promise<void> {
  for (const each of commands) {
    const ran = await runProgram(each, { env, signal: interrupted, timeoutMs: serviceCommandMs });
    if (ran.exitCode === 0) continue;
    throw new ClaudikinsError("UNEXPECTED", `${state}: ${serviceCommand(each)}: ${runFailure(ran)}`, {
      hint: "Run the command yourself to see more. On Linux, a service needs systemd and a login session.",
    });
  }
}
