/** Finds the product that a short query names, such as Jira in `a note on a Jira ticket`, among the servers and their tools. */
import { maxPhraseWords, maxServiceQueryChars } from "../limits.ts";
import type { RankableTool } from "./ranking.ts";
import { namesIn, servicesIn } from "./services.ts";
import { synonymsOf, topicsOf } from "./thesaurus.ts";
import { commonWords, stemOf, withKnownCompounds, wordsOf } from "./tokenize.ts";

/**
 * In a longer query, a product is one of several things that a task needs. On the recorded queries, ranking it first makes the results
 * worse.
 */
const maxProductQueryWords = 15;

type IsOfProduct = (tool: RankableTool) => boolean;

/** Words in the names of servers of any product. */
const serverWords = new Set(["mcp", "server", "official", "remote", "api"]);

export class Products {
  /** The numbers of the servers by the stems of their names. */
  readonly #servers: Map<string, number[]>;

  constructor(names: readonly string[]) {
    this.#servers = Map.groupBy(names.keys(), (server) => {
      const words = wordsOf(names[server]!.toLowerCase());
      return words
        .filter((word) => !serverWords.has(word))
        .map(stemOf)
        .join(" ");
    });
  }

  /** Returns a test for tools of the only product that a query names. Undefined if the query is long, or names no product or several. */
  namedIn(query: string, tools: readonly RankableTool[], isKnown: (stem: string) => boolean): IsOfProduct | undefined {
    const text = withKnownCompounds(query.slice(0, maxServiceQueryChars), isKnown);
    const words = wordsOf(text);
    if (words.length > maxProductQueryWords) return undefined;
    const services = new Set(servicesIn(text).map(stemOf));
    const servers = this.#serversIn(words, new Set([...services, ...namesIn(query).map(stemOf)]));
    const products = [...servers.values()].map(
      (numbers): IsOfProduct =>
        (tool) =>
          numbers.includes(tool.server),
    );
    for (const service of services) {
      if (servers.has(service) || !isKnown(service)) continue;
      const isOfService = this.#ofService(service);
      if (tools.some(isOfService)) products.push(isOfService);
    }
    return products.length === 1 ? products[0] : undefined;
  }

  /** The servers whose names are in the query, by these names. A name of one word counts if it is no word with a meaning. */
  #serversIn(words: readonly string[], names: ReadonlySet<string>): Map<string, number[]> {
    const found = new Map<string, number[]>();
    const stems = words.map(stemOf);
    const isName = (at: number) =>
      names.has(stems[at]!) ||
      !(commonWords.has(words[at]!) || synonymsOf(stems[at]!).size > 0 || topicsOf(stems[at]!).length > 0);
    for (let at = 0; at < words.length; at++) {
      for (let end = Math.min(at + maxPhraseWords, words.length); end > at; end--) {
        const name = stems.slice(at, end).join(" ");
        const servers = this.#servers.get(name);
        if (!servers || (end === at + 1 && !isName(at))) continue;
        found.set(name, servers);
        at = end - 1;
        break;
      }
    }
    return found;
  }

  /** Tools with the service in their names, or in the name of their server. */
  #ofService(service: string): IsOfProduct {
    const named = [...this.#servers].flatMap(([name, numbers]) => (name.split(" ").includes(service) ? numbers : []));
    const servers = new Set(named);
    return ({ server, name }) => servers.has(server) || name.includes(service);
  }
}
