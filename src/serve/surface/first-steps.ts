/** Leads a user who has connected claudikins, but has not given it any servers, to their own servers. */
import type { App } from "../../app/app.ts";

/** For the instructions. Undefined if claudikins is set up. */
export function firstSteps(app: App): string | undefined {
  const { config } = app;
  const isDemo = config.origin.kind === "demo";
  if (!isDemo && config.servers.size > 0) return undefined;
  const state = isDemo ? "its only server is a demo with made-up data" : "it has no servers";
  return (
    `claudikins is not set up yet: ${state}. Tell the user to run \`${app.shellCommand} init\` in a terminal, ` +
    `which imports the MCP servers of their agents, or \`${app.shellCommand} add NAME\` for a single server, and to restart the agent.`
  );
}

/** The same in short, below what a search finds: not every agent shows its model the instructions. */
export function demoReminder(app: App): string | undefined {
  if (app.config.origin.kind !== "demo") return undefined;
  return `This demo's data is made up. The user imports their own servers with \`${app.shellCommand} init\`.`;
}
