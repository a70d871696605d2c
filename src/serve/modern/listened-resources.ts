/** The resources that the open `subscriptions/listen` requests of one host name together. Each costs its server a request. */
import type { Log } from "../../base/log.ts";
import { maxListenedResources } from "../limits.ts";
import type { DirectAnswers } from "../proxy/direct-answers.ts";

export class ListenedResources {
  readonly #answers: Pick<DirectAnswers, "listen">;
  readonly #log: Pick<Log, "warn">;
  #count = 0;

  constructor(answers: Pick<DirectAnswers, "listen">, log: Pick<Log, "warn">) {
    this.#answers = answers;
    this.#log = log;
  }

  /** Listens to as many as the host may still listen to. Returns a function that ends this. */
  begin(uris: readonly string[]): () => void {
    const taken = uris.slice(0, maxListenedResources - this.#count);
    if (taken.length < uris.length)
      this.#log.warn(`a host listens to ${maxListenedResources} resources, and gets no changes of further ones`);
    this.#count += taken.length;
    const end = this.#answers.listen(taken);
    return () => {
      this.#count -= taken.length;
      end();
    };
  }
}
