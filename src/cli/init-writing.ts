/** Writes the configs of `claudikins init`, and the agents' settings if the person agrees. */

import { type Applied, apply } from "../agents/apply.ts";
import type { Measured } from "../agents/measure.ts";
import { haveSecrets } from "../agents/secrets.ts";
import { commandFor, type SwitchPlan } from "../agents/switch-over.ts";
import { writeConfigFile } from "../settings/config-file.ts";
import { isTrustedFile, keepTrust, untrustedText } from "../settings/trust/trust-config.ts";
import type { Toolbox } from "../toolbox/toolbox.ts";
import { appliedLines } from "./init-report.ts";
import type { Io } from "./io.ts";
import { confirm } from "./prompt.ts";

/** A plan and the servers of it that were started. */
export interface Started {
  plan: SwitchPlan;
  toolbox: Toolbox;
  measured: ReadonlyMap<string, Measured>;
}

export interface WriteOptions {
  /** Whether the person can be asked. */
  asks: boolean;
  /** Whether they have agreed already. */
  apply: boolean;
  isQuiet: boolean;
}

/** Returns the result for each settings file, or an empty list if the person does not agree. Throws FILE_NOT_WRITABLE for a config. */
export async function write(started: readonly Started[], options: WriteOptions, io: Io): Promise<Applied[]> {
  const say = async (text: string) => {
    if (!options.isQuiet) await io.stderr.write(text);
  };
  for (const one of started) await writeConfig(one, say, io);
  const changed = started.map(({ plan }) => plan).filter(({ plans }) => plans.length > 0);
  if (changed.length === 0) {
    await say("No agent's settings need to change.\n");
    return [];
  }
  if (!options.apply && !(options.asks && (await agrees(changed, io)))) {
    await say("\nYour agents' settings were not changed. To change them: claudikins init --apply\n");
    return [];
  }
  const applied: Applied[] = [];
  for (const { plans, inventory } of changed) {
    applied.push(
      ...(await apply(plans, {
        command: commandFor(inventory.configFile, io.env),
        surroundings: { env: io.env, platform: process.platform, cwd: io.cwd },
        signal: io.interrupted,
      })),
    );
  }
  await say(appliedLines(applied));
  const isShared = changed.some(({ plans }) => plans.some(({ found }) => found.file.scope === "project"));
  if (isShared) {
    await say(
      "Commit the project's claudikins.json together with the changed files. Everyone who works on the project needs claudikins and is asked once to trust this config. In this project, agents get the servers of this config instead of those in your own.\n",
    );
  }
  await say("Restart your agents to use claudikins. To undo this: claudikins restore\n");
  return applied;
}

async function agrees(plans: readonly SwitchPlan[], io: Io): Promise<boolean> {
  const files = plans.flatMap((plan) =>
    plan.plans.map(({ found: { agent, file } }) => `  ${agent.title}: ${file.path}\n`),
  );
  await io.stderr.write(`\nclaudikins will take the place of the servers in these files:\n${files.join("")}`);
  return confirm(io, "Change them? claudikins restore brings the originals back.");
}

async function writeConfig(
  { plan, toolbox, measured }: Started,
  say: (text: string) => Promise<void>,
  io: Io,
): Promise<void> {
  const { inventory, isNew, configText } = plan;
  const { configFile, servers } = inventory;
  const isTrusted = await isTrustedFile(configFile, io.env);
  if (isNew) writeConfigFile(configFile, configText, { secrets: configFile.kind === "user" });
  if (isNew && isTrusted) await keepTrust(configFile, configText, io.env);
  if (!isTrusted) await say(`note: ${untrustedText(configFile)}\n`);
  if (isNew) await say(`\nWrote ${configFile.file}\n`);
  if (isNew && configFile.kind === "project" && haveSecrets(servers.map(({ entry }) => entry))) {
    await say(
      `warning: ${configFile.file} contains secrets: keep it out of git, or replace the secrets with \${VAR}\n`,
    );
  }
  for (const [name, answer] of measured) {
    // The servers are connected already, so this is quick, and the first search finds their tools.
    if (answer.tools !== undefined && !io.interrupted.aborted)
      await toolbox.catalog.fetch(name, io.interrupted).catch(() => {});
  }
}
