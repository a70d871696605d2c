/** The tools of all servers: the stored ones, and the ones that are listed now. */

import type { App } from "../../app/app.ts";
import type { JsonObject } from "../../base/json-object.ts";
import { isPrivateResult, isRepeatable, singleCall } from "../../programs/call.ts";
import type { ToolResult } from "../../servers/result.ts";
import type { RegistryServer, RegistryTool } from "../../tools/model.ts";
import { pageIn, withPage } from "./apps.ts";
import { usableTool } from "./definitions.ts";
import { ExposedNames, type Original } from "./names.ts";
import type { DirectCall } from "./observed-request.ts";

export class ProxiedTools {
  readonly #app: App;
  readonly #names: ExposedNames;
  /** The definitions of each server, with their names. A server that changes becomes a new object, and names never change. */
  readonly #definitions = new WeakMap<RegistryServer, JsonObject[]>();
  /** Why servers' tools are still not known. */
  problems: ReadonlyMap<string, string> = new Map();

  /** The shown addresses of each server. */
  readonly #shown: () => ReadonlyMap<string, ReadonlyMap<string, string>>;

  constructor(app: App, shown: () => ReadonlyMap<string, ReadonlyMap<string, string>>) {
    this.#app = app;
    this.#shown = shown;
    this.#names = new ExposedNames(app.config.prefix, () => app.config.servers.keys());
  }

  /** Waits a while for servers that are not known. */
  async list(signal: AbortSignal): Promise<JsonObject[]> {
    this.problems = await this.#app.catalog.listMissing(signal, { waitForOutdated: true });
    return this.definitions();
  }

  /** The definitions of all known tools. A definition stays the same object until its server's tools or addresses change. */
  definitions(): JsonObject[] {
    const servers = this.#known();
    if (servers.some((server) => !this.#definitions.has(server))) this.#define(servers);
    let addresses: ReadonlyMap<string, ReadonlyMap<string, string>> | undefined;
    return servers.flatMap((server) => {
      const shown = (page: string) => {
        addresses ??= this.#shown();
        return addresses.get(server.name)?.get(page) ?? page;
      };
      return this.#definitions.get(server)!.map((definition) => withPage(definition, shown));
    });
  }

  /** Names the tools of all servers, and checks the definitions of new servers. Checking takes 20 ms for 1,000 tools. */
  #define(servers: readonly RegistryServer[]): void {
    this.#names.assign(servers.flatMap(({ name: server, tools }) => tools.map(({ name }) => ({ server, name }))));
    for (const server of servers) {
      if (this.#definitions.has(server)) continue;
      const definitions = server.tools.map((tool) => this.#definition(server, tool));
      this.#definitions.set(
        server,
        definitions.filter((each) => each !== undefined),
      );
    }
  }

  /** The pages of apps that the tools of each server name. */
  pages(): Map<string, string[]> {
    return new Map(this.#known().map(({ name, tools }) => [name, tools.flatMap((tool) => pageIn({ ...tool }) ?? [])]));
  }

  /** Finds the tool that the agent names. Names depend on the tools of all servers, so all are asked first. */
  find(name: string, signal: AbortSignal): Promise<Original> {
    return this.#names.find("tool", name, () => this.list(signal));
  }

  /** Calls the tool with the agent's arguments and returns the server's result, both unchanged. */
  async call({ server, name }: Original, args: object | undefined, { app, ...asked }: DirectCall): Promise<ToolResult> {
    const { pool, catalog } = app;
    const known = catalog.find(server);
    const tool = known?.tools.find((each) => each.name === name);
    const request = { namespace: server, group: "tools", name, raw: true } as const;
    const made = { ...asked, queue: app.laterQueue, repeatable: isRepeatable(tool) };
    const { result } = await singleCall(request, app, made, { args }, async (call, { number, listener }) => {
      const result = await pool.callTool(server, name, args, call);
      if (known && tool) {
        const isPrivate = isPrivateResult(server, tool, call.caller, app);
        await listener({ type: "answered", call: number, server: known, tool, args, result, isPrivate });
      }
      return { result };
    });
    return result;
  }

  /** Known servers in the order of the config. Servers that lack variables are left out. */
  #known(): RegistryServer[] {
    // An agent has a model: only programs ask another one.
    return [...this.#app.config.servers.values()].flatMap(({ name, needs, isModel }) =>
      needs.length === 0 && !isModel ? (this.#app.catalog.find(name) ?? []) : [],
    );
  }

  #definition({ name: server }: RegistryServer, tool: RegistryTool): JsonObject | undefined {
    const {
      jsName: _,
      observed: __,
      known: ___,
      usual: ____,
      edit: _____,
      labels: ______,
      more,
      description,
      ...rest
    } = tool;
    const name = this.#names.nameOf({ server, name: tool.name });
    return usableTool({ ...more, ...rest, ...(description === "" ? {} : { description }), name });
  }
}
