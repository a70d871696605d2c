/** Schemas, signatures and suggestions of tools, fetched from the main thread when the check or the advice needs them. */
import type { Bindings, KnownFunction, Namespace, Suggestion } from "./contract.ts";
import type { Answers, Questions, ToolDetails } from "./messages.ts";

type Ask = (questions: Questions) => Promise<Answers>;

/** Maximum number of tools and searches that one execution asks about. Others stay unknown. */
const maxTools = 500;
const maxSearches = 50;

/** Maximum characters of a search. Its words come from the program, and should be a name or two. */
const maxWords = 500;

/** Rounds of questions: an answer may lead to more. */
const maxRounds = 5;

export class KnownTools implements Pick<Bindings, "namespaces" | "suggest"> {
  readonly namespaces: Namespace[];
  readonly #ask: Ask;
  readonly #details = new Map<string, ToolDetails>();
  readonly #found = new Map<string, Suggestion[]>();
  #open: Questions = { tools: [], searches: [] };

  /** The namespaces contain only names. */
  constructor(namespaces: readonly Namespace[], ask: Ask) {
    this.#ask = ask;
    this.namespaces = namespaces.map((namespace) => this.#withDetails(namespace));
  }

  /**
   * Does the work, and repeats it after each round of questions that it needed. It must return the same for the same answers.
   */
  async resolved<T>(work: () => T): Promise<T> {
    for (let round = 0; round < maxRounds; round++) {
      const result = work();
      const questions = this.#open;
      if (questions.tools.length + questions.searches.length === 0) return result;
      this.#open = { tools: [], searches: [] };
      this.#learn(questions, await this.#ask(questions));
    }
    return work();
  }

  readonly suggest = (words: string, limit: number): Suggestion[] => {
    const asked = words.slice(0, maxWords);
    const key = `${limit} ${asked}`;
    const found = this.#found.get(key);
    if (found) return found;
    if (this.#found.size < maxSearches) {
      this.#found.set(key, []);
      this.#open.searches.push({ words: asked, limit });
    }
    return [];
  };

  #learn({ tools, searches }: Questions, answers: Answers): void {
    for (const [at, { namespace, name }] of tools.entries()) {
      this.#details.set(keyOf(namespace, name), answers.tools[at] ?? {});
    }
    for (const [at, { words, limit }] of searches.entries()) {
      this.#found.set(`${limit} ${words}`, answers.searches[at] ?? []);
    }
  }

  #detailsOf(namespace: string, name: string): ToolDetails {
    const key = keyOf(namespace, name);
    const known = this.#details.get(key);
    if (known) return known;
    if (this.#details.size < maxTools) {
      this.#details.set(key, {});
      this.#open.tools.push({ namespace, name });
    }
    return {};
  }

  #withDetails(namespace: Namespace): Namespace {
    const { functions } = namespace;
    if (functions === "any") return namespace;
    const detailsOf = (name: string) => this.#detailsOf(namespace.name, name);
    let made: KnownFunction[] | undefined;
    return {
      ...namespace,
      get functions() {
        made ??= functions.map(({ name, jsName }) => ({
          name,
          jsName,
          get inputSchema() {
            return detailsOf(name).inputSchema;
          },
          get signature() {
            return detailsOf(name).signature;
          },
        }));
        return made;
      },
    };
  }
}

function keyOf(namespace: string, name: string): string {
  return JSON.stringify([namespace, name]);
}

/** Answers the questions from the bindings, on the main thread. */
export function answersTo({ tools, searches }: Questions, { namespaces, suggest }: Bindings): Answers {
  const byName = new Map(namespaces.map((namespace) => [namespace.name, namespace]));
  return {
    tools: tools.slice(0, maxTools).map(({ namespace, name }) => {
      const functions = byName.get(namespace)?.functions ?? "any";
      const found = functions === "any" ? undefined : functions.find((each) => each.name === name);
      return { inputSchema: found?.inputSchema, signature: found?.signature };
    }),
    searches: searches.slice(0, maxSearches).map(({ words, limit }) => suggest?.(words, limit) ?? []),
  };
}
