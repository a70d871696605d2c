/**
 * Imports the servers of all agents into the user's config where nobody can be asked: a plan is shown first, and the same plan is written.
 * Servers of one name that differ stay in their files, as in a dry run of `claudikins init`.
 */
import { ClaudikinsError } from "../../base/errors.ts";
import { digestOf } from "../../config/trust/marks.ts";
import type { Decider } from "../../store/audit/event.ts";
import { saveConfig } from "../trust/trust-config.ts";
import { installLasting, neededExecutable } from "../upgrade/lasting.ts";
import { type Applied, apply } from "./apply.ts";
import { leaveAll } from "./choices.ts";
import { rememberDecision } from "./decisions.ts";
import { diffsOf } from "./planned-diffs.ts";
import { agents } from "./supported/agents.ts";
import type { AgentSurroundings } from "./supported/model.ts";
import { planSwitch, type Survey, type SwitchPlan, takeSurvey } from "./switch-over.ts";

export interface PlannedImport {
  /** The config that gets the servers. */
  file: string;
  servers: { name: string; from: string[] }[];
  /** Servers that stay where they are, and why. */
  left: { name: string; why: string }[];
  /** The change of the config, and of each agent's settings. Secrets are shown as ***. */
  diffs: { config: string; agents: string[] };
  /** The same for the same changes of the same files. */
  mark: string;
}

interface Planned {
  survey: Survey;
  plan: SwitchPlan;
  shown: PlannedImport;
}

/** Throws CONFIG_INVALID and what reading the files throws. */
export async function plannedImport(surroundings: AgentSurroundings): Promise<PlannedImport> {
  return (await planned(surroundings)).shown;
}

async function planned(surroundings: AgentSurroundings): Promise<Planned> {
  const wishes = { order: [], byName: new Map(), both: false };
  const survey = await takeSurvey(agents, { ...surroundings, project: false, wishes });
  const [inventory] = survey.inventories;
  if (!inventory) throw new ClaudikinsError("SERVER_NOT_FOUND", "No agent on this machine has an MCP server");
  const conflicts = inventory.conflicts.splice(0);
  for (const conflict of conflicts) leaveAll(inventory, conflict);
  const plan = await planSwitch(inventory, { env: surroundings.env, named: new Set() });
  const [config = "", ...others] = diffsOf([plan], survey, surroundings);
  const { configFile, servers } = plan.inventory;
  const skipped = survey.found.files.flatMap((each) => each.skipped);
  const shown = {
    file: configFile.file,
    servers: servers.map(({ name, from }) => ({ name, from: [...new Set(from.map(({ host }) => host))] })),
    left: [
      ...conflicts.map(({ name }) => ({ name, why: "agents use this name for different servers" })),
      ...skipped.map(({ name, why }) => ({ name, why })),
    ],
    diffs: { config, agents: others.filter(Boolean) },
    mark: digestOf([plan.configText, plan.plans.map(({ found, after }) => [found.file.path, after])]),
  };
  return { survey, plan, shown };
}

interface ImportOptions {
  surroundings: AgentSurroundings;
  /** Whether claudikins also takes the place of the servers in the agents' settings. */
  withAgents: boolean;
  signal: AbortSignal;
  place: Decider["place"];
}

/**
 * Writes the config, and then the agents' settings. Returns the config and what has become of the settings. Throws POLICY_DENIED if the
 * plan is not the one that was shown, and FILE_NOT_WRITABLE.
 */
export async function importServers(
  mark: string,
  { surroundings, withAgents, signal, place }: ImportOptions,
): Promise<{ file: string; applied: Applied[] }> {
  const { plan, shown } = await planned(surroundings);
  if (shown.mark !== mark) {
    throw new ClaudikinsError("POLICY_DENIED", "The files have changed since the import was shown", {
      hint: "Look at the import again.",
    });
  }
  const { inventory, isNew, configText, plans, command } = plan;
  const { env } = surroundings;
  if (isNew) await saveConfig(inventory.configFile, configText, env, { secrets: true, place });
  rememberDecision([inventory], env);
  if (!withAgents || plans.length === 0) return { file: shown.file, applied: [] };
  const needed = await neededExecutable(env, signal);
  if (needed) installLasting(needed, env);
  return { file: shown.file, applied: await apply(plans, { command, surroundings, signal }) };
}
