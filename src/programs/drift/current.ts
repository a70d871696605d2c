/** The tools of the config as their servers define them now, for the check of saved programs. */
import type { Environment } from "../../config/environment.ts";
import type { Config } from "../../config/load.ts";
import { editedTools } from "../../tools/catalog/edited-tools.ts";
import type { ToolCatalog } from "../../tools/catalog/tool-catalog.ts";
import { heldServers } from "../../tools/definitions/review.ts";
import { toIdentifier } from "../../tools/names.ts";
import { programsServer, type SavedProgram } from "../saved/model.ts";
import type { CurrentServer, CurrentServers, CurrentTool } from "./contract.ts";

export interface ToolsAround {
  config: Config;
  catalog: Pick<ToolCatalog, "find" | "names" | "heldTools">;
  env: Environment;
  /** The working directory of servers that name none. */
  cwd: string;
}

export class CurrentTools {
  readonly #around: Pick<ToolsAround, "catalog">;
  /** Held tools by their servers, as agents would see them. */
  readonly #held: ReadonlyMap<string, CurrentTool[]>;
  /** The only servers that count. Undefined: all. */
  readonly #only: readonly string[] | undefined;

  private constructor(
    around: Pick<ToolsAround, "catalog">,
    held: ReadonlyMap<string, CurrentTool[]>,
    only?: readonly string[],
  ) {
    this.#around = around;
    this.#held = held;
    this.#only = only;
  }

  /** The tools as a call finds them: held ones are not called. */
  static asCalled(around: Pick<ToolsAround, "catalog">): CurrentTools {
    const { catalog } = around;
    const held = catalog.names.map(({ name }) => {
      const tools = catalog.heldTools(name).map((tool) => ({ ...tool, isHeld: true as const }));
      return [name, tools.map(({ name, jsName, isHeld }) => ({ name, jsName, isHeld }))] as const;
    });
    return new CurrentTools(around, new Map(held));
  }

  /** The tools with the held definitions in the place of the accepted ones: a person is to see what accepting them would do. */
  static async of(around: ToolsAround, only?: readonly string[]): Promise<CurrentTools> {
    const { config } = around;
    const held = new Map<string, CurrentTool[]>();
    for (const { server, tools } of heldServers(around)) {
      const entry = config.servers.get(server);
      if (!entry) continue;
      const listed = tools.map(({ tool: name, now }) => ({ ...now, name }));
      const { tools: edited } = await editedTools(entry, listed);
      held.set(
        server,
        edited.map(({ name, inputSchema, outputSchema }) => {
          return { name, jsName: toIdentifier(name), inputSchema, outputSchema };
        }),
      );
    }
    return new CurrentTools(around, held, only);
  }

  /** The servers that a program may call, as far as they are known. Only the tools that it may call have their schemas. */
  serversOf({ calls }: Pick<SavedProgram, "calls">): CurrentServers {
    const { catalog } = this.#around;
    const servers: CurrentServers = {};
    for (const id of calls) {
      const known = catalog.names.filter(({ name }) => id.startsWith(`${name}.`));
      const longest = known.reduce((one, each) => (each.name.length > one.length ? each.name : one), "");
      const name = longest || (id.split(".", 1)[0] ?? "");
      // What a program calls of other programs is pinned.
      if (name === programsServer || Object.hasOwn(servers, name)) continue;
      if (this.#only && !this.#only.includes(name)) continue;
      const server = longest === "" ? null : this.#serverOf(name, calls);
      if (server !== undefined) servers[name] = server;
    }
    return servers;
  }

  #serverOf(name: string, calls: readonly string[]): CurrentServer | undefined {
    const { catalog } = this.#around;
    const found = catalog.find(name);
    if (!found) return undefined;
    const held = this.#held.get(name) ?? [];
    const isHeld = new Set(held.map((tool) => tool.name));
    const shown = found.tools.filter((tool) => !isHeld.has(tool.name));
    const all: CurrentTool[] = [...shown, ...held];
    const tools = all.map(({ name: tool, jsName, isHeld, inputSchema, outputSchema, observed }): CurrentTool => {
      const about = { name: tool, jsName, ...(isHeld ? { isHeld } : {}) };
      if (!calls.includes(`${name}.${tool}`)) return about;
      return { ...about, inputSchema, outputSchema, ...(outputSchema || !observed ? {} : { observed }) };
    });
    return { jsName: catalog.names.find((each) => each.name === name)?.jsName, tools };
  }
}
