/** Starts the servers that init imports, and asks the user about servers that do not start. */

import type { App } from "../../app/app.ts";
import { durationText } from "../../base/duration.ts";
import type { Problem } from "../../base/errors.ts";
import { estimateTokens } from "../../base/token-estimate.ts";
import { leaveServer } from "../../setup/agents/choices.ts";
import { planSwitch, type SwitchPlan } from "../../setup/agents/switch-over.ts";
import { isTrustedFile } from "../../setup/trust/trust-config.ts";
import { isAnywhere } from "../../tools/catalog/anywhere.ts";
import { askAll } from "../../tools/catalog/ask-all.ts";
import { isSharedAgainstDefault, sessionOf } from "../../tools/catalog/session-of.ts";
import { definitionJson } from "../../tools/model.ts";
import { appOf } from "../open-app.ts";
import { countingServers } from "../terminal/progress.ts";
import { confirm } from "../terminal/prompt.ts";
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
  const limit = () => AbortSignal.any([io.interrupted, AbortSignal.timeout(withinMs)]);
  const ask = async (name: string, signal: AbortSignal) => {
    const { tools } = (await catalog.list(name, { isDry: true, signal })).server;
    return {
      tools: tools.length,
      names: tools.map(({ name }) => name),
      tokens: tools.reduce((sum, tool) => sum + estimateTokens(definitionJson(tool)), 0),
    };
  };
  const round = (of: readonly string[]) =>
    countingServers(isJson ? undefined : io.stderr, of.length, (onServer) => {
      const signal = limit();
      return askAll(of, undefined, (name) => ask(name, signal), { signal, onServer });
    });
  const isLate = (answer: object) =>
    "problem" in answer && (answer.problem as Problem).code === "CANCELLED" && !io.interrupted.aborted;
  const measured = new Map<string, Measured>();
  const note = (answers: Awaited<ReturnType<typeof round>>) => {
    for (const { server, durationMs: _, ...answer } of answers) {
      measured.set(server, isLate(answer) ? { problem: tooSlow(server, withinMs), isSlow: true } : answer);
    }
    return answers.filter(isLate).map(({ server }) => server);
  };
  const late = note(await round(names));
  // Servers that start at once slow each other down. A single one has had all the time.
  if (names.length > 1) for (const name of late) note(await round([name]));
  return measured;
}

function tooSlow(name: string, withinMs: number): Problem {
  const hint = "Some servers take longer on their first start. To give them more time: claudikins init --timeout 2m";
  return { code: "SERVER_UNAVAILABLE", message: `${name} did not answer within ${durationText(withinMs)}`, hint };
}

/**
 * A server that does not start here may still work where it is, so a person who can be asked decides whether it stays there. Without
 * a person it is imported like the others. One that is in the config already does not count. Plans again what changes.
 */
export async function settleFailed(started: readonly StartedPlan[], context: InitContext): Promise<void> {
  if (context.isAgreed || !context.asks) return;
  const declined = new Set<ServerRow>();
  for (const row of started.flatMap(({ rows }) => rows.filter(({ problem, new: isNew }) => problem && isNew))) {
    const why = row.slow ? "is slow" : "did not start";
    const question = `\n${row.server} ${why}. Import it as well? Otherwise it stays in your agents' settings.`;
    if (!(await confirm(context.io, question))) declined.add(row);
  }
  for (const start of started) {
    const { inventory } = start.plan;
    const names = new Set(start.rows.filter((row) => declined.has(row)).map(({ server }) => server));
    if (names.size === 0) continue;
    for (const server of inventory.servers.filter(({ name }) => names.has(name))) {
      const isSlow = start.rows.some((row) => row.server === server.name && row.slow);
      leaveServer(inventory, server, isSlow ? "it is slow to start" : "it did not start");
    }
    // The notes are about servers that the config gets.
    start.rows = start.rows.map((row) => (names.has(row.server) ? { ...row, notes: undefined, left: true } : row));
    start.plan = await planSwitch(inventory, { env: context.io.env, named: context.named });
  }
}
