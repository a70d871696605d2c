/** Schemas, signatures and suggestions of tools, fetched from the main thread when the check or the advice needs them. */
import type { Bindings, KnownFunction, Namespace, Suggestion } from "../contract.ts";
import type { LookupAnswer, LookupQuestion } from "../messages.ts";

/** Questions about tools that one execution asks for the check and the advice. The rest stays unknown. */
const maxKnownTools = 500;

/** Searches that one execution makes for the check and the advice. Others find nothing. */
const maxKnownSearches = 50;

/** Characters of such a search. Its words come from the program, and should be a name or two. */
const maxKnownSearchChars = 500;

/** Rounds of questions about tools: an answer may lead to more. */
const maxKnownToolsRounds = 5;

export class KnownTools implements Pick<Bindings, "namespaces" | "suggest"> {
  readonly namespaces: Namespace[];
  readonly #ask: (questions: LookupQuestion[]) => Promise<LookupAnswer[]>;
  /** By the question as JSON. A key without a value has been asked and is not answered yet. */
  readonly #answers = new Map<string, LookupAnswer | undefined>();
  readonly #asked = { tools: 0, searches: 0 };
  #unsent: LookupQuestion[] = [];

  /** The namespaces contain only names. */
  constructor(namespaces: readonly Namespace[], ask: (questions: LookupQuestion[]) => Promise<LookupAnswer[]>) {
    this.#ask = ask;
    this.namespaces = namespaces.map((namespace) => this.#withDetails(namespace));
  }

  /**
   * Runs `work`. Lookups without an answer give undefined and are fetched, and `work` runs again, until nothing is missing or
   * `maxKnownToolsRounds` is reached. `work` must have no side effects.
   */
  async resolved<T>(work: () => T): Promise<T> {
    for (let round = 0; round < maxKnownToolsRounds; round++) {
      const result = work();
      const questions = this.#unsent;
      if (questions.length === 0) return result;
      this.#unsent = [];
      const answers = await this.#ask(questions);
      for (const [at, question] of questions.entries()) this.#answers.set(JSON.stringify(question), answers[at]);
    }
    return work();
  }

  readonly suggest = (words: string, limit: number): Suggestion[] =>
    (this.#answer({ words: words.slice(0, maxKnownSearchChars), limit }) as Suggestion[] | undefined) ?? [];

  /** False if it is not known. */
  readonly refuses = (namespace: string, name: string): boolean =>
    this.#answer({ namespace, name, part: "isRefused" }) === true;

  /** The answer, if it is known; else undefined, and `resolved` asks the question after this run. */
  #answer(question: LookupQuestion): LookupAnswer | undefined {
    const key = JSON.stringify(question);
    if (this.#answers.has(key)) return this.#answers.get(key);
    const isTooMany =
      "words" in question ? ++this.#asked.searches > maxKnownSearches : ++this.#asked.tools > maxKnownTools;
    if (isTooMany) return undefined;
    this.#answers.set(key, undefined);
    this.#unsent.push(question);
    return undefined;
  }

  #withDetails(namespace: Namespace): Namespace {
    const { functions } = namespace;
    if (functions === "any") return namespace;
    const partOf = (name: string, part: "inputSchema" | "signature") =>
      this.#answer({ namespace: namespace.name, name, part });
    let made: KnownFunction[] | undefined;
    return {
      ...namespace,
      get functions() {
        made ??= functions.map(({ name, jsName }) => ({
          name,
          jsName,
          get inputSchema() {
            return partOf(name, "inputSchema");
          },
          get signature() {
            return partOf(name, "signature") as string | undefined;
          },
        }));
        return made;
      },
    };
  }
}

/** Only the names of a namespace. The rest is sent when the worker asks for it. */
export function namesOf(namespace: Namespace): Namespace {
  const { name, jsName, description, functions, hidden = [], mayGrow = false } = namespace;
  if (functions === "any") return { name, jsName, description, functions };
  const named = (each: Pick<KnownFunction, "name" | "jsName">) => ({ name: each.name, jsName: each.jsName });
  return { name, jsName, description, functions: functions.map(named), hidden: hidden.map(named), mayGrow };
}

/** Answers the questions from the bindings, on the main thread. */
export async function answersTo(questions: readonly LookupQuestion[], bindings: Bindings): Promise<LookupAnswer[]> {
  const byName = new Map(bindings.namespaces.map((namespace) => [namespace.name, namespace]));
  const answers = questions.map((question): LookupAnswer | Promise<LookupAnswer> => {
    if ("words" in question) return bindings.suggest?.(question.words, question.limit) ?? [];
    const { namespace, name, part } = question;
    if (part === "isRefused") return bindings.refuses?.(namespace, name).catch(() => false) ?? true;
    const functions = byName.get(namespace)?.functions ?? "any";
    return functions === "any" ? undefined : functions.find((each) => each.name === name)?.[part];
  });
  return Promise.all(answers);
}
