/** One session of a host, as the ledger counts it: what its definitions cost, what was asked and answered, what led to us. */
import type { CallToolResult } from "@modelcontextprotocol/sdk/types.js";
import { definitionChars, knownDefinitionChars } from "../catalog/definitions.ts";
import { charsOfBlocks, shownChars } from "../ledger/characters.ts";
import { type Hook, hookIn, hookKey } from "../registry/hooks.ts";
import type { Toolbox } from "../toolbox/toolbox.ts";
import { receiptKey } from "./figures.ts";

export class SessionCount {
  readonly #toolbox: Toolbox;
  readonly #instructions: string;
  /** Of the servers' definitions, as far as they are counted. */
  #counted: number | undefined;
  #isFound = false;

  constructor(toolbox: Toolbox, instructions: string) {
    this.#toolbox = toolbox;
    this.#instructions = instructions;
  }

  /** The host takes our tools: only now it is a session whose model has something to read. */
  listed(tools: readonly object[]): void {
    if (this.#counted !== undefined) return;
    this.#counted = 0;
    const { ledger } = this.#toolbox;
    ledger.later(() => {
      ledger.add({ sessions: 1, surfaceChars: definitionChars(tools) + this.#instructions.length });
      this.#countDefinitions();
    });
  }

  answered(tool: string, args: Record<string, unknown>, { content, _meta }: CallToolResult): void {
    const { ledger } = this.#toolbox;
    // Hosts show no more, and the results that tools would have given directly are counted in the same way.
    const chars = Math.min(charsOfBlocks(content), shownChars);
    if (tool === "search_tools") {
      const query = String(args["query"] ?? "");
      ledger.add({ searches: 1, queryChars: query.length, foundChars: chars });
      this.#found(hookIn(query) ?? "description");
    } else if (tool === "execute_code") {
      const code = String(args["code"] ?? "");
      ledger.add({ executions: 1, codeChars: code.length, returnedChars: chars });
      const { registry } = (_meta?.[receiptKey] ?? {}) as { registry?: string };
      const hook = hookIn(code) ?? (registry === undefined ? undefined : hookOfAccess(registry));
      if (hook) this.#found(hook);
    }
    // More servers may be known by now.
    if (this.#counted !== undefined) ledger.later(() => this.#countDefinitions());
  }

  /** What the host would have loaded is counted once, however often it is looked at. */
  #countDefinitions(): void {
    const counted = this.#counted ?? 0;
    const more = Math.max(0, knownDefinitionChars(this.#toolbox.catalog) - counted);
    this.#counted = counted + more;
    this.#toolbox.ledger.add({ definitionChars: more });
  }

  /** The first access to the registry. */
  #found(hook: Hook): void {
    if (this.#isFound || !this.#toolbox.config.hooks) return;
    this.#isFound = true;
    this.#toolbox.ledger.found(hookKey("serve", hook));
  }
}

/** Code that carries no mark has asked `tools`, or has read a file of the registry. */
function hookOfAccess(registry: string): Hook {
  if (registry.startsWith("tools.")) return "description";
  return registry === "README.md" ? "readme" : "none";
}
