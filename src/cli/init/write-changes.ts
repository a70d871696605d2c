/** Writes what init has planned: first the configs, and then the agents' files if the user agrees. */

import { type Applied, apply } from "../../setup/agents/apply.ts";
import { rememberDecision } from "../../setup/agents/decisions.ts";
import { haveSecrets } from "../../setup/agents/secrets.ts";
import type { SwitchPlan } from "../../setup/agents/switch-over.ts";
import { isTrustedFile, saveConfig, untrustedText } from "../../setup/trust/trust-config.ts";
import { installLasting, type Needed } from "../../setup/upgrade/lasting.ts";
import { confirm } from "../terminal/prompt.ts";
import { warningLabel } from "../terminal/terminal-output.ts";
import type { InitContext } from "./context.ts";
import type { StartedPlan } from "./start-servers.ts";

/**
 * Returns the result for each settings file, or an empty list if the user does not agree. `needed` is installed first. Throws
 * FILE_NOT_WRITABLE for a config.
 */
export async function writeChanges(
  started: readonly StartedPlan[],
  needed: Needed | undefined,
  context: InitContext,
): Promise<Applied[]> {
  const { io, say } = context;
  for (const one of started) await writeConfig(one, context);
  rememberDecision(
    started.map(({ plan }) => plan.inventory),
    io.env,
  );
  const changed = started.map(({ plan }) => plan).filter(({ plans }) => plans.length > 0);
  if (changed.length === 0) {
    await say("No agent's settings need to change.\n");
    return [];
  }
  if (!context.isAgreed && !(context.asks && (await agrees(changed, needed, context)))) {
    await say("\nYour agents' settings were not changed. To change them: claudikins init --apply\n");
    return [];
  }
  if (needed) {
    installLasting(needed, io.env);
    await say(`Installed claudikins to ${needed.path}\n`);
  }
  const applied: Applied[] = [];
  for (const { plans, command } of changed) {
    applied.push(
      ...(await apply(plans, {
        command,
        surroundings: context.surroundings,
        signal: io.interrupted,
      })),
    );
  }
  for (const { host, file, error } of applied) {
    await say(error ? `error: ${error.message}\n` : `Changed ${host}: ${file}\n`);
  }
  const isShared = changed.some(({ plans }) => plans.some(({ found }) => found.file.folder !== undefined));
  if (isShared) {
    await say(
      "Commit the project's claudikins.json together with the changed files. Everyone who works on the project needs claudikins and is asked once to trust this config. In this project, agents get the servers of this config and those of your own.\n",
    );
  }
  await say("Restart your agents to use claudikins. To undo this: claudikins restore\n");
  return applied;
}

async function agrees(
  plans: readonly SwitchPlan[],
  needed: Needed | undefined,
  { io, say }: InitContext,
): Promise<boolean> {
  const files = plans.flatMap((plan) =>
    plan.plans.map(({ found: { agent, file } }) => `  ${agent.title}: ${file.path}\n`),
  );
  if (needed) await say(`\nclaudikins will be installed to ${needed.path}: ${needed.why}.\n`);
  await say(`\nclaudikins will take the place of the servers in these files:\n${files.join("")}`);
  return confirm(io, "Change them? claudikins restore brings the originals back.");
}

async function writeConfig({ plan, app, measured }: StartedPlan, { io, say }: InitContext): Promise<void> {
  const { inventory, isNew, configText } = plan;
  const { configFile, servers } = inventory;
  const isTrusted = await isTrustedFile(configFile, io.env);
  if (isNew) await saveConfig(configFile, configText, io.env, { secrets: configFile.kind === "user" });
  if (!isTrusted) await say(`note: ${untrustedText(configFile)}\n`);
  if (isNew) await say(`\nWrote ${configFile.file}\n`);
  if (isNew && configFile.kind === "project" && haveSecrets(servers.map(({ entry }) => entry))) {
    await say(
      `${warningLabel} ${configFile.file} contains secrets: keep it out of git, or replace the secrets with \${VAR}\n`,
    );
  }
  for (const [name, answer] of measured) {
    // The servers are connected already, so this is quick, and the first search finds their tools.
    if (answer.tools !== undefined && !io.interrupted.aborted)
      await app.catalog.tools(name, { signal: io.interrupted }).catch(() => {});
  }
}
