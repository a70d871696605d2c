/**
 * Finds data that a tool's definition asks for although it is not the tool's own: the result of another server's tool, or the conversation.
 */
import type { JsonObject } from "../../base/json-object.ts";

import { lettersOf } from "./letters.ts";

export interface AskingTool {
  name: string;
  description?: string | undefined;
  inputSchema: JsonObject;
}

interface ListedServers<Tool> {
  names(): Iterable<string>;
  /** The tools as they were last listed. */
  toolsOf(server: string): readonly Tool[];
}

const wants =
  /\b(?:context|summary|history|transcript|contents?|copy|text|messages?) of (?:the|this|your|our) (?:\w+ )?(?:conversation|chat|session)|\b(?:conversation|chat)(?: history| so far| context| transcript)|[:=] *(?:the )?(?:whole |full |entire |current )?conversation\b|\bsystem prompt\b|\b(?:previous|earlier|other|last) tools?(?: calls?)?(?:['’]s?)? (?:results?|outputs?|answers?|responses?)|\b(?:results?|outputs?|answers?) of (?:the |any |all )?(?:previous|earlier|other|last) (?:tools?|calls?)|\beverything (?:you (?:know|have)|so far)/i;

/** Names of several words, the form of tool names. */
const toolNames = /\b[A-Za-z][A-Za-z0-9]*(?:[_.-][A-Za-z0-9]+)+\b|\b[a-z]+(?:[A-Z][a-z0-9]+)+\b/g;

export class AsksFor<Tool extends AskingTool> {
  readonly #servers: ListedServers<Tool>;
  readonly #found = new WeakMap<Tool, { listed: number; text: string | undefined }>();

  readonly #described = new WeakMap<Tool, string>();

  constructor(servers: ListedServers<Tool>) {
    this.#servers = servers;
  }

  /** The beginning of a sentence about a call of the tool. Undefined if it asks for nothing. */
  of(server: string, tool: Tool): string | undefined {
    const names = [...this.#servers.names()];
    const listed = names.reduce((sum, name) => sum + this.#servers.toolsOf(name).length, 0);
    const known = this.#found.get(tool);
    if (known?.listed === listed) return known.text;
    const text = this.#look(server, tool, names);
    this.#found.set(tool, { listed, text });
    return text;
  }

  /** The tool whose description has the letters, such as an address. */
  describedIn(letters: string): string | undefined {
    for (const server of this.#servers.names())
      for (const tool of this.#servers.toolsOf(server)) {
        const described = this.#described.getOrInsertComputed(tool, () =>
          lettersOf(`${tool.description ?? ""} ${JSON.stringify(tool.inputSchema)}`),
        );
        if (described.includes(letters)) return `${server}.${tool.name}`;
      }
    return undefined;
  }

  #look(server: string, { name, description = "", inputSchema }: Tool, servers: readonly string[]): string | undefined {
    const text = `${description} ${JSON.stringify(inputSchema)}`;
    const [wanted] = wants.exec(text) ?? [];
    if (wanted !== undefined) return `its definition asks for "${wanted.replace(/^[:=] */, "")}"`;
    const own = new Set([name, ...this.#servers.toolsOf(server).map((tool) => tool.name)]);
    for (const mentioned of new Set(text.match(toolNames) ?? [])) {
      if (own.has(mentioned)) continue;
      const of = servers.find((other) => other !== server && this.#has(other, mentioned));
      if (of !== undefined) return `its definition names the tool ${of}.${mentioned.replace(`${of}.`, "")}`;
    }
    return undefined;
  }

  #has(server: string, mentioned: string): boolean {
    return this.#servers
      .toolsOf(server)
      .some(({ name }) => mentioned === name || mentioned === `${server}.${name}` || mentioned === `${server}_${name}`);
  }
}
