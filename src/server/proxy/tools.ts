/** The tools of all servers, each as itself: from the registry where it knows them, and asked for where it does not. */

import type { ToolResult } from "../../clients/result.ts";
import { countedResult } from "../../execution/counted-call.ts";
import type { JsonObject } from "../../json-object.ts";
import { didYouMean } from "../../near-names.ts";
import type { RegistryServer, RegistryTool } from "../../registry/model.ts";
import type { Toolbox } from "../../toolbox/toolbox.ts";
import { invalidParams } from "./answers.ts";
import { usableTool } from "./definitions.ts";
import { ExposedNames, type Original } from "./names.ts";
import type { AskOptions } from "./resources.ts";

export class ProxiedTools {
  readonly #toolbox: Toolbox;
  readonly #names: ExposedNames;
  /** Why some servers' tools are not known, since they were last asked. */
  problems: ReadonlyMap<string, string> = new Map();

  constructor(toolbox: Toolbox) {
    this.#toolbox = toolbox;
    this.#names = new ExposedNames(toolbox.config.prefix);
  }

  /** Servers that nobody knows yet are waited for, for a while. */
  async list(signal: AbortSignal): Promise<JsonObject[]> {
    this.problems = await this.#toolbox.catalog.fetchMissing(signal, { waitForOutdated: true });
    return this.definitions();
  }

  /** As they are known now. */
  definitions(): JsonObject[] {
    const servers = this.#known();
    this.#names.assign(servers.flatMap(({ name: server, tools }) => tools.map(({ name }) => ({ server, name }))));
    const all = servers.flatMap((server) => server.tools.map((tool) => this.#definition(server, tool)));
    return all.filter((each) => each !== undefined);
  }

  /** The tool that a host means. Throws what the protocol says of unknown tools. */
  async find(name: string, signal: AbortSignal): Promise<Original> {
    const original = this.#names.original(name);
    if (original) return original;
    // Names depend on what others have: they are given when all were asked.
    await this.list(signal);
    const found = this.#names.original(name);
    if (found) return found;
    const hint = didYouMean(name, this.#names.all);
    throw invalidParams([`Unknown tool: ${name}.`, hint].filter(Boolean).join(" "));
  }

  /** The result is the server's, unchanged; its arguments are the host's, as they are. */
  async call({ server, name }: Original, args: object | undefined, options: AskOptions): Promise<ToolResult> {
    const { pool, catalog } = this.#toolbox;
    const known = catalog.find(server);
    const tool = known?.tools.find((each) => each.name === name);
    const { readOnlyHint, idempotentHint } = tool?.annotations ?? {};
    const repeatable = readOnlyHint === true || idempotentHint === true;
    const result = await countedResult({ server, tool: name }, { parts: this.#toolbox, signal: options.signal }, () =>
      pool.callTool(server, name, args, { ...options, repeatable }),
    );
    if (known && tool) catalog.observer.see({ server: known, tool, args, result });
    return result;
  }

  /** In the order of the config; without those that cannot be started at all. */
  #known(): RegistryServer[] {
    return [...this.#toolbox.config.servers.values()].flatMap(({ name, needs }) =>
      needs.length === 0 ? (this.#toolbox.catalog.find(name) ?? []) : [],
    );
  }

  #definition({ name: server }: RegistryServer, tool: RegistryTool): JsonObject | undefined {
    const { jsName: _, observed: __, description, ...rest } = tool;
    const name = this.#names.nameOf({ server, name: tool.name });
    return usableTool({ ...rest, ...(description === "" ? {} : { description }), name });
  }
}
