/** Counts one session in the ledger: its definitions, searches, executions, and the text that led to us. */
import type { CallToolResult } from "@modelcontextprotocol/server";
import type { App } from "../app/app.ts";
import { charsOfBlocks } from "../base/context-characters.ts";
import { maxContextChars } from "../base/limits.ts";
import { definitionChars } from "../tools/model.ts";
import { type Hook, hookIn, hookKey } from "../tools/registry/hooks.ts";
import { receiptKey } from "./content/bounded-content.ts";

interface ReceiptFigures {
  registry: string;
  /** Characters that the program returned, also if the answer was too long to show. */
  charsReturned: number;
}

export class SessionCount {
  readonly #app: App;
  readonly #instructions: string;
  /** Characters of the servers' definitions that are counted already. */
  #counted: number | undefined;
  #isFound = false;

  constructor(app: App, instructions: string) {
    this.#app = app;
    this.#instructions = instructions;
  }

  /** Call this when the agent lists our tools: only then does its model read anything. */
  listed(tools: readonly object[]): void {
    if (this.#counted !== undefined) return;
    this.#counted = 0;
    const { ledger } = this.#app;
    ledger.later(() => {
      ledger.add({ sessions: 1, surfaceChars: definitionChars(tools) + this.#instructions.length });
      this.#countDefinitions();
    });
  }

  answered(tool: string, args: Record<string, unknown>, { content, _meta }: CallToolResult): void {
    const { ledger } = this.#app;
    // Agents show no more, and direct tool results are counted alike.
    const chars = Math.min(charsOfBlocks(content), maxContextChars);
    if (tool === "search_tools") {
      const query = String(args["query"] ?? "");
      ledger.add({ searches: 1, queryChars: query.length, foundChars: chars });
      this.#found(hookIn(query) ?? "description");
    } else if (tool === "execute_code") {
      const code = String(args["code"] ?? "");
      const { registry, charsReturned = 0 } = (_meta?.[receiptKey] ?? {}) as Partial<ReceiptFigures>;
      // An execution counts once, however often its outcome is asked for.
      const executions = args["resume"] === undefined ? 1 : 0;
      ledger.add({ executions, codeChars: code.length, returnedChars: Math.max(chars, charsReturned) });
      const hook = hookIn(code) ?? (registry === undefined ? undefined : hookOfAccess(registry));
      if (hook) this.#found(hook);
    }
    // More servers may be known since then.
    if (this.#counted !== undefined) ledger.later(() => this.#countDefinitions());
  }

  /** Counts the definitions that the agent would have loaded, each once. */
  #countDefinitions(): void {
    const counted = this.#counted ?? 0;
    const more = Math.max(0, this.#app.catalog.definitionChars - counted);
    this.#counted = counted + more;
    this.#app.ledger.add({ definitionChars: more });
  }

  /** Counts the first access to the registry. */
  #found(hook: Hook): void {
    if (this.#isFound || !this.#app.config.hooks) return;
    this.#isFound = true;
    this.#app.ledger.found(hookKey("serve", hook));
  }
}

/** Code without a mark has called `tools`, or has read a file of the registry. */
function hookOfAccess(registry: string): Hook {
  if (registry.startsWith("tools.")) return "description";
  return registry === "README.md" ? "readme" : "none";
}
