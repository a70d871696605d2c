/** The tools of all servers on the page: their states and rules, their calls, and what an agent would find. */
import type { App } from "../app/app.ts";
import { ClaudikinsError } from "../base/errors.ts";
import { eventLoopTurn } from "../base/event-loop.ts";
import { dayMs } from "../base/units.ts";
import { isInView, noSuchDoor } from "../config/doors.ts";
import type { ServerPolicy } from "../config/policy.ts";
import { effectOf } from "../policy/decision.ts";
import { Rules } from "../policy/rules.ts";
import { callFigures } from "../programs/call-log/figures.ts";
import { impactDays } from "../programs/call-log/impact.ts";
import { configOwner } from "../servers/logs/place.ts";
import { defaultSearchLimit, maxSearchLimit } from "../tools/limits.ts";
import { type RegistryTool, toolId } from "../tools/model.ts";
import { foundTool, prepareSearch, search } from "../tools/search/search.ts";
import { Cached, storeStamp } from "./cached.ts";
import { RefusedRequest } from "./guard.ts";
import { shownDescription, statePlace, type ToolViews } from "./servers.ts";
import type { PageSearch, PageToolAbout, PageToolRow, PageToolTable, PageToolUse } from "./servers-contract.ts";

/** Tools that are read in one turn of the event loop: some milliseconds. */
const toolsPerTurn = 100;

/** Characters of one search. */
const maxSearchChars = 500;

export class ToolTable {
  readonly #app: App;
  readonly #views: ToolViews;
  readonly #openDoor: (door: string) => Promise<App>;
  /** By the names of doors, with "" for all calls. */
  readonly #uses = new Map<string, Cached<Promise<PageToolUse[]>>>();

  constructor(app: App, views: ToolViews, openDoor: (door: string) => Promise<App>) {
    this.#app = app;
    this.#views = views;
    this.#openDoor = openDoor;
  }

  /** Throws DOOR_NOT_FOUND. */
  async read(door: string | undefined): Promise<PageToolTable> {
    await using seen = door === undefined ? undefined : await this.#openDoor(door);
    const app = seen ?? this.#app;
    const { servers, origin } = app.config;
    const rules = new Rules();
    const tools: PageToolRow[] = [];
    const unlisted: string[] = [];
    for (const [server, { policy, view, isModel, isSavedPrograms }] of servers) {
      // What a door has listed itself may be older, or nothing.
      const known = isModel ? [] : this.#views.known(server, { catalog: this.#app.catalog, config: app.config });
      if (!known && !isSavedPrograms) unlisted.push(server);
      // The labels follow from the definition, which the door gets from the server before its first call.
      const listed = seen && known && (this.#app.catalog.findWithDenied(server) ?? this.#app.catalog.find(server));
      if (listed) seen.catalog.takeListedWithoutDoor(listed);
      await rules.load(policy?.rules ?? []);
      for (const [own, tool] of known ?? []) {
        // A tool that a door hides does not exist for it.
        if (!isInView(view, own)) continue;
        if (tools.length % toolsPerTurn === 0) await eventLoopTurn();
        const labels = await app.pool.explainLabels(server, own);
        const row = rowOf({ server, own, tool, policy, labels: labels.map(({ label }) => label), rules });
        if (door === undefined || row.state !== "deny") tools.push(row);
      }
    }
    return { tools, unlisted, canChange: origin.kind !== "demo" && door === undefined };
  }

  /** Throws RefusedRequest if the tool is not known. */
  async one(server: string, own: string): Promise<PageToolAbout> {
    const { catalog, pool, config } = this.#app;
    const tool = this.#views.known(server, { catalog, config })?.find(([name]) => name === own)?.[1];
    const stored = catalog.findWithDenied(server) ?? catalog.find(server);
    if (!tool || !stored) throw new RefusedRequest(404, "This tool is not known, or is gone");
    const jsName = catalog.names.find(({ name }) => name === server)?.jsName;
    const id = toolId(server, tool.name);
    const { signature, description, example } = foundTool({
      ...{ id, tool, score: 0, also: [] },
      server: { ...stored, jsName },
    });
    return { signature, description, example, labels: await pool.explainLabels(server, own) };
  }

  /** The calls of the config, or of one of its doors, in the days for which changes are judged. Throws DOOR_NOT_FOUND. */
  async uses(door: string | undefined, now = Date.now()): Promise<PageToolUse[]> {
    const { store, config } = this.#app;
    if (door !== undefined && !config.doors.includes(door)) {
      throw noSuchDoor(door, config.doors, configOwner(config.origin) ?? "The demo");
    }
    const cached = this.#uses.getOrInsertComputed(door ?? "", () => new Cached());
    return cached.get(await storeStamp(store, performance.now()), () => this.#readUses(door, now));
  }

  async #readUses(door: string | undefined, now: number): Promise<PageToolUse[]> {
    const { store, config } = this.#app;
    const filter = { since: now - impactDays * dayMs, config: configOwner(config.origin) ?? undefined, door };
    const { tool } = await callFigures(store.callLog, filter, ["tool"]);
    return tool.map(({ server = "", tool: name = "", calls, failures, lastAt }) => ({
      server,
      tool: name,
      calls,
      failures,
      lastAt,
    }));
  }

  /** What an agent would find, by the function of `search_tools`. Throws DOOR_NOT_FOUND, REGISTRY_INVALID. */
  async search(query: string, door: string | undefined): Promise<PageSearch> {
    if (query.length > maxSearchChars) throw new RefusedRequest(400, "The search is too long");
    await using seen = door === undefined ? undefined : await this.#openDoor(door);
    const { catalog } = seen ?? this.#app;
    if (seen && catalog.visibleServers.length === 0) {
      const problem = "The door was not used yet. Its tools are listed when its first agent searches";
      return { found: [], usual: defaultSearchLimit, problem };
    }
    await prepareSearch(catalog);
    try {
      const { tools } = search(query, maxSearchLimit, catalog);
      return {
        found: tools.map(({ kind, id, server, name, signature, description }) => {
          return { kind, id, server, name, signature, description };
        }),
        usual: defaultSearchLimit,
      };
    } catch (error) {
      if (!(error instanceof ClaudikinsError) || error.code !== "SERVER_NOT_FOUND") throw error;
      return { found: [], usual: defaultSearchLimit, problem: error.message };
    }
  }
}

interface RowParts {
  server: string;
  own: string;
  tool: RegistryTool;
  policy: ServerPolicy | undefined;
  labels: PageToolRow["labels"];
  rules: Rules;
}

function rowOf({ server, own, tool, policy, labels, rules }: RowParts): PageToolRow {
  const about = rules.about(policy?.rules ?? [], { tool: toolId(server, own), labels: new Set(labels) });
  return {
    server,
    name: own,
    shownAs: tool.name === own ? undefined : tool.name,
    description: shownDescription(tool),
    effect: effectOf(tool.annotations),
    ...statePlace(policy, own, tool.annotations),
    labels,
    rules: about.map(({ line, effect, condition }) => ({ line, text: `${effect} when ${condition}` })),
    isEdited: tool.edit !== undefined,
  };
}
