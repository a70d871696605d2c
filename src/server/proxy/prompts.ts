/** The prompts of all servers. */

import { countedResult } from "../../execution/counted-call.ts";
import type { JsonObject } from "../../json-object.ts";
import { didYouMean } from "../../near-names.ts";
import type { Toolbox } from "../../toolbox/toolbox.ts";
import { invalidParams } from "./answers.ts";
import { usablePrompt } from "./definitions.ts";
import { KnownLists } from "./known-lists.ts";
import { ExposedNames, type Original } from "./names.ts";
import type { AskOptions } from "./resources.ts";

export class ProxiedPrompts {
  readonly #toolbox: Toolbox;
  readonly #names: ExposedNames;
  readonly lists: KnownLists;

  constructor(toolbox: Toolbox, onLate: () => void) {
    this.#toolbox = toolbox;
    this.#names = new ExposedNames(toolbox.config.prefix);
    const list = (server: string) => toolbox.pool.listPrompts(server);
    this.lists = new KnownLists(toolbox, { offer: "prompts", list, usable: usablePrompt, key: "name" }, onLate);
  }

  async list(signal: AbortSignal): Promise<JsonObject[]> {
    await this.lists.ask(signal);
    this.#assign();
    return [...this.lists.known].flatMap(([server, prompts]) =>
      prompts.map((prompt) => ({ ...prompt, name: this.#names.nameOf({ server, name: String(prompt["name"]) }) })),
    );
  }

  /** Finds the prompt that the agent names. */
  async find(name: string, signal: AbortSignal): Promise<Original> {
    let found = this.#names.original(name);
    if (!found) {
      await this.lists.askOnce(signal);
      this.#assign();
      found = this.#names.original(name);
    }
    if (found) return found;
    const hint = didYouMean(name, this.#names.all);
    throw invalidParams([`Unknown prompt: ${name}.`, hint].filter(Boolean).join(" "));
  }

  async get({ server, name }: Original, params: JsonObject, options: AskOptions): Promise<JsonObject> {
    const request = { method: "prompts/get", params: { ...params, name } };
    const around = { parts: this.#toolbox, signal: options.signal };
    return countedResult({ server, tool: "prompts.get" }, around, () =>
      this.#toolbox.pool.request(server, request, options),
    );
  }

  #assign(): void {
    const all = [...this.lists.known].flatMap(([server, prompts]) =>
      prompts.map(({ name }) => ({ server, name: String(name) })),
    );
    this.#names.assign(all);
  }
}
