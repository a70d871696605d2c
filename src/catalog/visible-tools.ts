/** Leaves out the tools that the config denies: only the others are shown or stored. */
import type { ServerConfig } from "../config/load.ts";
import { closingLine, denialOf } from "../policy/decision.ts";
import type { RegistryServer } from "../registry/model.ts";

export class VisibleTools {
  readonly #configs: ReadonlyMap<string, ServerConfig>;
  #made = new WeakMap<RegistryServer, RegistryServer>();

  constructor(configs: ReadonlyMap<string, ServerConfig>) {
    this.#configs = configs;
  }

  /** Call this after a policy has changed. */
  forget(): void {
    this.#made = new WeakMap();
  }

  /** Whether the config denies everything of the server. */
  isClosed(name: string): boolean {
    const policy = this.#configs.get(name)?.policy;
    return policy !== undefined && closingLine(policy) !== undefined;
  }

  /** The same object if none of its tools is denied, else a copy without the denied tools. */
  of(server: RegistryServer): RegistryServer {
    const policy = this.#configs.get(server.name)?.policy;
    if (!policy) return server;
    let shown = this.#made.get(server);
    if (!shown) {
      const tools = server.tools.filter(({ name }) => denialOf(policy, name) === undefined);
      const denied = (server.denied ?? 0) + server.tools.length - tools.length;
      shown = tools.length === server.tools.length ? server : { ...server, tools, denied };
      this.#made.set(server, shown);
    }
    return shown;
  }
}
