/** The prompts of all servers. */

import type { App } from "../../app/app.ts";
import type { JsonObject } from "../../base/json-object.ts";
import { usablePrompt } from "./definitions.ts";
import { KnownLists } from "./known-lists.ts";
import { ExposedNames, type Original } from "./names.ts";
import { observedRequest, type ProxyRequestOptions } from "./observed-request.ts";

export class ProxiedPrompts {
  readonly #names: ExposedNames;
  readonly lists: KnownLists;

  constructor(app: App, onLate: () => void) {
    this.#names = new ExposedNames(app.config.prefix, () => app.config.servers.keys());
    const list = (server: string) => app.pool.listPrompts(server);
    this.lists = new KnownLists(app, { offer: "prompts", list, usable: usablePrompt, key: "name" }, onLate);
  }

  async list(signal: AbortSignal): Promise<JsonObject[]> {
    await this.lists.ask(signal);
    return this.#named();
  }

  /** Finds the prompt that the agent names. */
  find(name: string, signal: AbortSignal): Promise<Original> {
    return this.#names.find("prompt", name, async () => {
      await this.lists.askOnce(signal);
      this.#named();
    });
  }

  get({ server, name }: Original, params: JsonObject, options: ProxyRequestOptions): Promise<JsonObject> {
    return observedRequest(server, { method: "prompts/get", params: { ...params, name } }, options);
  }

  #named(): JsonObject[] {
    const all = [...this.lists.known].flatMap(([server, prompts]) =>
      prompts.map((prompt) => ({ prompt, original: { server, name: String(prompt["name"]) } })),
    );
    this.#names.assign(all.map(({ original }) => original));
    return all.map(({ prompt, original }) => ({ ...prompt, name: this.#names.nameOf(original) }));
  }
}
