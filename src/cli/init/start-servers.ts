/** Starts the servers that init imports, and asks the user about servers that do not start. */

import type { App } from "../../app/app.ts";
import { counted } from "../../base/counted.ts";
import type { Problem } from "../../base/errors.ts";
import { estimateTokens } from "../../base/token-estimate.ts";
import { leaveServer } from "../../setup/agents/choices.ts";
import { planSwitch, type SwitchPlan } from "../../setup/agents/switch-over.ts";
import { isTrustedFile } from "../../setup/trust/trust-config.ts";
import { isAnywhere } from "../../tools/catalog/anywhere.ts";
import { askAll } from "../../tools/catalog/ask-all.ts";
import { isSharedAgainstDefault, sessionOf } from "../../tools/catalog/session-of.ts";
import { definitionText } from "../../tools/model.ts";
import { appOf } from "../open-app.ts";
import { countingServers } from "../progress.ts";
import { confirm } from "../prompt.ts";
import type { InitContext } from "./context.ts";
import { type Measured, rowsOf, type ServerRow, type ServerSessions } from "./report.ts";

/** A plan and the servers of it that were started. */
export interface StartedPlan {
  plan: SwitchPlan;
  app: App;
  measured: ReadonlyMap<string, Measured>;
  rows: ServerRow[];
}

export interface StartServersOptions {
  /** False with `--no-start`. */
  isWanted: boolean;
  /** With `--project`. */
  withProject: boolean;
  /** Time limit for all servers of the plan. */
  withinMs: number;
  /** Gets the app with the connections, which are still used when the config is written. */
  apps: AsyncDisposableStack;
}

/** Servers that a repository shares are not started by a dry run or with an untrusted config. */
export async function startServers(
  plan: SwitchPlan,
  options: StartServersOptions,
  context: InitContext,
): Promise<StartedPlan> {
  const { io, isDry } = context;
  const { configFile } = plan.inventory;
  const settings = { cwd: io.cwd, ...(isDry ? { logs: undefined } : {}) };
  const app = options.apps.use(await appOf(plan.config, io, settings));
  app.catalog.ignoreChanges();
  const isShared = options.withProject && configFile.kind === "project";
  const isStarted = options.isWanted && (!isShared || (!isDry && (await isTrustedFile(configFile, io.env))));
  const measured = isStarted ? await measuredBy(app, plan, options.withinMs, context) : new Map<string, Measured>();
  return { plan, app, measured, rows: rowsOf(plan, measured, await sessionsOf(plan, measured)) };
}

async function sessionsOf(
  { config, inventory }: SwitchPlan,
  measured: ReadonlyMap<string, Measured>,
): Promise<ServerSessions> {
  const servers = [...config.servers].map(async ([name, server]) => {
    const answer = measured.get(name);
    const tools = answer && "names" in answer ? answer.names : [];
    const isMixed = await isSharedAgainstDefault(server, tools);
    const { session } = await sessionOf(server, tools);
    const mayShare = session === "shared" && server.url === undefined && server.cwd === undefined;
    const isPerFolder = mayShare && inventory.configFile.kind === "user" && !(await isAnywhere(server, undefined));
    return [name, { session, isMixed, isPerFolder }] as const;
  });
  return new Map(await Promise.all(servers));
}

/** Starts the servers that miss no variable. Servers that answer stay connected for the next use. */
async function measuredBy(
  { catalog }: App,
  { config, inventory }: SwitchPlan,
  withinMs: number,
  { io, isJson }: InitContext,
): Promise<Map<string, Measured>> {
  const names = inventory.servers.flatMap(({ name }) => (config.servers.get(name)?.needs.length === 0 ? [name] : []));
  const signal = AbortSignal.any([io.interrupted, AbortSignal.timeout(withinMs)]);
  const ask = async (name: string) => {
    const { tools } = (await catalog.list(name, { isDry: true, signal })).server;
    return {
      tools: tools.length,
      names: tools.map(({ name }) => name),
      tokens: tools.reduce((sum, tool) => sum + estimateTokens(definitionText(tool)), 0),
    };
  };
  const answers = await countingServers(isJson ? undefined : io.stderr, names.length, (onServer) =>
    askAll(names, undefined, ask, { signal, onServer }),
  );
  return new Map(
    answers.map(({ server, durationMs: _, ...answer }): [string, Measured] => {
      const isLate = "problem" in answer && answer.problem.code === "CANCELLED" && !io.interrupted.aborted;
      return [server, isLate ? { problem: tooSlow(server) } : answer];
    }),
  );
}

function tooSlow(name: string): Problem {
  const hint = "Some servers take longer on their first start. To give them more time: claudikins init --timeout 2m";
  return { code: "SERVER_UNAVAILABLE", message: `${name} did not answer in time`, hint };
}

/**
 * A server that does not start here may still work where it is, so a person who can be asked decides whether it stays there. Without
 * a person it is imported like the others. One that is in the config already does not count. Plans again what changes.
 */
export async function settleFailed(started: readonly StartedPlan[], context: InitContext): Promise<void> {
  const failed = started.flatMap(({ rows }) => rows.filter((row) => row.problem && row.new));
  if (failed.length === 0 || context.isAgreed || !context.asks) return;
  const failedNames = failed.map(({ server }) => server).join(", ");
  await context.say(`\n${counted(failed.length, "server")} did not start: ${failedNames}\n`);
  const question = "Import what did not start as well? Otherwise it stays in your agents' settings.";
  if (await confirm(context.io, question)) return;
  for (const start of started) {
    const { inventory } = start.plan;
    const names = new Set(start.rows.filter((row) => failed.includes(row)).map(({ server }) => server));
    if (names.size === 0) continue;
    for (const server of inventory.servers.filter(({ name }) => names.has(name))) {
      leaveServer(inventory, server, "it did not start");
    }
    // The notes are about servers that the config gets.
    start.rows = start.rows.map((row) => (names.has(row.server) ? { ...row, notes: undefined, left: true } : row));
    start.plan = await planSwitch(inventory, { env: context.io.env, named: context.named });
  }
}
