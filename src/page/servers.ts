/** The servers of the config as the page shows them: their state in the daemon, their tools, and their sign-ins. */

import type { Toolbox } from "../app/toolbox.ts";
import type { CredentialStore } from "../servers/auth/credentials.ts";
import { stateProblem, stateText } from "../servers/state.ts";
import { networkServers, standings } from "../setup/sign-in/sign-ins.ts";
import { inventory, type ServerFacts } from "../tools/catalog/inventory.ts";
import type { Server, SignIn } from "./contract.ts";
import { knownTools } from "./tools.ts";

/** What the daemon of the config knows of its servers. */
export interface RunningServers {
  /** The state of each server in words, by name. */
  servers: Record<string, string>;
  /** Why servers cannot be called now, by name. */
  problems: Record<string, { problem: string }>;
  /** The running processes. */
  held: { server: string }[];
}

/** The words of a daemon's status, by state. Other states begin with these words. */
const states = {
  ready: "ready",
  starting: "starting",
  "signed out": "signed out",
  broken: "broken",
  needs: "needs",
} as const;

export function serversOf(
  toolbox: Toolbox,
  credentials: CredentialStore,
  running: RunningServers | undefined,
  signInOf: (server: string) => Pick<SignIn, "running" | "failed">,
): Server[] {
  const signIns = new Map(
    standings(networkServers(toolbox.config), credentials).flatMap(({ server, state }) =>
      state === "signed in" || state === "expired" || state === "signed out" ? [[server, state] as const] : [],
    ),
  );
  return inventory(toolbox).map((facts) => {
    const { server: name, transport, program, host, description, tools, denied, protocol, version } = facts;
    const state = signIns.get(name);
    const count = tools ?? knownTools(name, toolbox.catalog)?.length;
    const policy = JSON.stringify(toolbox.config.servers.get(name)?.policy ?? null);
    return {
      name,
      transport,
      where: program ?? host,
      description,
      ...stateIn(facts, toolbox, running),
      tools: count,
      denied,
      protocol,
      serverVersion: version,
      toolsMark: Bun.hash(`${count} ${policy}`).toString(36),
      signIn: state && { state, ...signInOf(name) },
    };
  });
}

function stateIn(
  { server, state }: ServerFacts,
  { catalog }: Toolbox,
  running: RunningServers | undefined,
): Pick<Server, "state" | "stateText" | "problem"> {
  if (catalog.isClosed(server) || state.state === "denied" || state.state === "disabled") {
    return { state: "denied", stateText: "denied" };
  }
  const isHeld = running?.held.some((each) => each.server === server) === true;
  const words = isHeld ? "ready" : Object.hasOwn(running?.servers ?? {}, server) ? running!.servers[server]! : "";
  const [kind] = Object.entries(states).find(([, word]) => words.startsWith(word)) ?? [];
  if (kind === undefined) {
    return { state: state.state, stateText: stateText(state), problem: stateProblem(state) };
  }
  const { problem } = (Object.hasOwn(running!.problems, server) && running!.problems[server]) || {};
  return { state: kind as Server["state"], stateText: words, problem };
}
