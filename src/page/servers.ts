/**
 * Shows the servers of the config on the page: their state in the daemon, their sign-ins, and their tools with their settings in the
 * config.
 */

import type { App } from "../app/app.ts";
import { boxEngine } from "../config/box.ts";
import type { ServerConfig } from "../config/load.ts";
import { homeOf } from "../config/locations.ts";
import { matches } from "../config/pattern.ts";
import { pathText, type ServerPolicy } from "../config/policy.ts";
import { ownNameOf } from "../config/tool-edits.ts";
import { confirmationOf, denialOf, effectOf, toolStateOf } from "../policy/decision.ts";
import type { CredentialStore } from "../servers/auth/credentials.ts";
import { stateProblem, stateText } from "../servers/state.ts";
import { redactorOf } from "../servers/values/secrets.ts";
import { networkServers, standings } from "../setup/sign-in/sign-ins.ts";
import { disabledServers, inventory, type ServerFacts } from "../tools/catalog/inventory.ts";
import type { RegistryTool } from "../tools/model.ts";
import { firstSentence } from "../tools/signature.ts";
import { inHome } from "./executions.ts";
import { maxShownDescriptionChars } from "./limits.ts";
import type {
  DeniedPattern,
  PageCatalogServer,
  PageServerEntry,
  PageSignIn,
  PageTool,
  PageTools,
} from "./servers-contract.ts";

/** The servers' state in the daemon of the config. */
export interface RunningServers {
  /** The state of each server in words, by name. */
  servers: Record<string, string>;
  /** Why servers cannot be called now, by name. */
  problems: Record<string, { problem: string; onPage?: string | undefined }>;
  /** The running processes. */
  held: { server: string }[];
}

/** The number of held tools that the page names for a server. It shows the others with the server. */
const maxNamedHeldTools = 3;

/** The words of a daemon's status, by state. Other states begin with these words. */
const states = {
  ready: "ready",
  starting: "starting",
  "signed out": "signed out",
  broken: "broken",
  needs: "needs",
} as const;

export function serversOf(
  app: App,
  credentials: CredentialStore,
  running: RunningServers | undefined,
  {
    signInOf,
    held,
  }: {
    signInOf: (server: string) => Pick<PageSignIn, "running" | "failed">;
    held: ReadonlyMap<string, readonly string[]>;
  },
): PageServerEntry[] {
  const signIns = new Map(
    standings(networkServers(app.config), credentials).flatMap(({ server, state }) =>
      state === "signed in" || state === "expired" || state === "signed out" ? [[server, state] as const] : [],
    ),
  );
  const enabled = inventory(app).map((facts): PageServerEntry => {
    const { server: name, transport, program, host, description, tools, denied, protocol, version } = facts;
    const state = signIns.get(name);
    const count = tools ?? knownTools(name, app.catalog)?.length;
    const entry = app.config.servers.get(name);
    const { policy, edits } = entry ?? {};
    const standing = stateIn(facts, app, running);
    // A web API with a credential in its entry may accept a sign-in, and does not lack one before it says so.
    const isWithout =
      state === "signed out" && entry?.url !== undefined && entry.auth !== undefined && standing.state !== "signed out";
    const rules = JSON.stringify([policy, edits?.tools.map(({ mark }) => mark)]);
    return {
      name,
      transport,
      where: (entry && program !== undefined ? commandOf(entry, app.env) : program) ?? host,
      description,
      ...standing,
      tools: count,
      denied,
      protocol,
      serverVersion: version,
      toolsMark: Bun.hash(`${count} ${rules}`).toString(36),
      signIn: state && !isWithout ? { state, ...signInOf(name) } : undefined,
      sandbox: isConfined(app.config.servers.get(name)) ? boxEngine : undefined,
      held: held.get(name)?.length,
      heldTools: held.get(name)?.slice(0, maxNamedHeldTools),
      ...(entry && entry.needs.length > 0 ? { needs: entry.needs } : {}),
      isOwn: entry?.isSavedPrograms !== true,
    };
  });
  const disabled = disabledServers(app.config).map(
    ({ server: name, transport, program, host, description }): PageServerEntry => {
      const state = { state: "disabled", stateText: "disabled", toolsMark: "", isOwn: true } as const;
      return { name, transport, where: program ?? host, description, ...state };
    },
  );
  return [...enabled, ...disabled];
}

/** The whole path of its command, without secrets. Undefined for servers with an address. */
function commandOf(entry: ServerConfig, env: App["env"]): string | undefined {
  return entry.url === undefined ? inHome(redactorOf(entry)(entry.command), homeOf(env)) : undefined;
}

/** The servers of the catalog. It is loaded when somebody asks. */
export async function catalogOf(): Promise<PageCatalogServer[]> {
  const { catalogServers } = await import("../tools/server-catalog.ts");
  return catalogServers().map(({ name, title, description, variables }) => ({
    name,
    title,
    description,
    variables: variables.map(({ name: variable, what, required }) => ({ name: variable, what, required })),
  }));
}

function isConfined(server: ServerConfig | undefined): boolean {
  return server?.url === undefined && server?.box !== undefined;
}

function stateIn(
  { server, state }: ServerFacts,
  { catalog, config }: App,
  running: RunningServers | undefined,
): Pick<PageServerEntry, "state" | "stateText" | "problem"> {
  if (catalog.isClosed(server) || state.state === "denied" || state.state === "disabled") {
    return { state: "denied", stateText: "denied" };
  }
  const isHeld = running?.held.some((each) => each.server === server) === true;
  const words = isHeld ? "ready" : Object.hasOwn(running?.servers ?? {}, server) ? running!.servers[server]! : "";
  const [kind] = Object.entries(states).find(([, word]) => words.startsWith(word)) ?? [];
  if (kind === undefined) {
    const isPrograms = config.servers.get(server)?.isSavedPrograms === true;
    const idle = isPrograms ? "the saved programs" : idleText(catalog.find(server));
    const words = state.state === "idle" ? idle : stateText(state);
    return { state: state.state, stateText: words, problem: stateProblem(state, true) };
  }
  const { problem, onPage = problem } = (Object.hasOwn(running!.problems, server) && running!.problems[server]) || {};
  return { state: kind as PageServerEntry["state"], stateText: words, problem: onPage };
}

/** Nothing is known to be wrong with the server, and it does not run. */
function idleText(known: object | undefined): string {
  return known ? "starts on its first call" : "not tried yet";
}

export class ToolViews {
  /** Tools whose policy the page has changed, by server. A tool that was denied reappears only when its server is listed again. */
  readonly #touched = new Map<string, Map<string, RegistryTool>>();

  /** Throws SERVER_NOT_FOUND. */
  async of(server: string, { catalog, pool, config }: App): Promise<PageTools> {
    pool.state(server);
    const known = this.known(server, { catalog, config });
    const { policy } = config.servers.get(server) ?? {};
    const tools = await Promise.all(
      (known ?? []).map(async ([name, tool]) => toolOf(name, tool, policy, await pool.explainLabels(server, name))),
    );
    return {
      server,
      tools,
      patterns: (policy ? patternsIn(server, policy) : []).filter(
        ({ pattern }) => !tools.some(({ name }) => matches(pattern, name)),
      ),
      allowLines: policy?.allow.map(({ line }) => line) ?? [],
      isKnown: known !== undefined,
      canChange: config.origin.kind !== "demo",
    };
  }

  /** The tools by their own names, sorted, as they were listed last. Undefined if they were never listed. */
  known(server: string, { catalog, config }: Pick<App, "catalog" | "config">): [string, RegistryTool][] | undefined {
    const known = knownTools(server, catalog);
    const touched = this.#touched.get(server);
    if (!known && !touched) return undefined;
    const { edits } = config.servers.get(server) ?? {};
    const all = new Map([
      ...(touched ?? []),
      ...(known ?? []).map((tool) => [ownNameOf(edits, tool) ?? tool.name, tool] as const),
    ]);
    return [...all].sort(([one], [other]) => (one < other ? -1 : 1));
  }

  /** Remembers a tool whose policy is about to change. */
  touch(server: string, tool: string, { catalog, config }: App): void {
    const { edits } = config.servers.get(server) ?? {};
    const found = knownTools(server, catalog)?.find((each) => (ownNameOf(edits, each) ?? each.name) === tool);
    if (!found) return;
    const touched = this.#touched.get(server) ?? new Map<string, RegistryTool>();
    this.#touched.set(server, touched.set(tool, found));
  }
}

/** The tools as they were listed last, even if the policy has changed since. Undefined if they were never listed. */
function knownTools(server: string, catalog: App["catalog"]): RegistryTool[] | undefined {
  const known = catalog.findWithDenied(server) ?? catalog.visibleServers.find(({ name }) => name === server);
  return known?.tools;
}

/** `name` is the tool's own name. */
function toolOf(
  name: string,
  { name: shown, description, title, annotations }: RegistryTool,
  policy: ServerPolicy | undefined,
  labels: PageTool["labels"],
): PageTool {
  return {
    name,
    shownAs: shown === name ? undefined : shown,
    description: shownDescription({ description, title }),
    effect: effectOf(annotations),
    labels,
    ...statePlace(policy, name, annotations),
  };
}

/** The state of a tool, and the place in the config that decides it. */
export function statePlace(
  policy: ServerPolicy | undefined,
  name: string,
  annotations: RegistryTool["annotations"],
): Pick<PageTool, "state" | "line"> {
  const state = toolStateOf(policy, name, annotations);
  const line = policy && (state === "deny" ? denialOf(policy, name) : confirmationOf(policy, name)?.line);
  return { state, line };
}

export function shownDescription({ description, title }: { description: string; title?: string | undefined }): string {
  return firstSentence(description || title || "").slice(0, maxShownDescriptionChars);
}

/** Tools that the config denies are in no registry, so only its patterns are known. */
function patternsIn(server: string, { deny }: ServerPolicy): DeniedPattern[] {
  const own = pathText(["mcpServers", server, "deny"]);
  const all = deny.flatMap(({ patterns, line }) =>
    // A pattern in the entry may begin with the server's name. It matches with the name and without it.
    patterns
      .filter((each) => !patterns.includes(each.slice(server.length + 1)) || !each.startsWith(`${server}.`))
      .map((pattern) => ({ pattern, line, isOwn: line.startsWith(own) })),
  );
  return [...new Map(all.map((each) => [JSON.stringify([each.pattern, each.isOwn]), each])).values()];
}
