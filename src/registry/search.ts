/** Finds tools by words: an index over what is known of them, nothing started. */
import { ClaudikinsError } from "../errors.ts";
import { didYouMean } from "../near-names.ts";
import type { RegistryIndex, RegistryServer, RegistryTool } from "./model.ts";
import { type Filters, filtersOf } from "./search/filters.ts";
import { Postings } from "./search/postings.ts";
import { listedTools, type Prepared, prepare } from "./search/prepared.ts";
import { readQuery, type Vocabulary } from "./search/query.ts";
import { type RankedTool, Ranking } from "./search/ranking.ts";
import { Spelling } from "./search/spelling.ts";
import { stemOf, wordsOf } from "./search/words.ts";

export interface Match {
  id: string;
  server: RegistryServer;
  tool: RegistryTool;
  /** For comparing matches of one query; higher is better. */
  score: number;
  /** Ids of the very same tool on other servers, which are not matches of their own. */
  also: string[];
}

interface Entry extends RankedTool {
  id: string;
  of: RegistryServer;
  tool: RegistryTool;
}

export class ToolSearch {
  /** In the order of their ids. */
  readonly #entries: Entry[];
  readonly #postings: Postings;
  readonly #spelling: Spelling;
  /** Tools by the stems of their names. */
  readonly #byName = new Map<string, number[]>();
  readonly #ranking: Ranking;
  readonly #servers: readonly RegistryServer[];

  /** With many tools, `prepared` is made in a worker thread. It has to be of the same tools. */
  constructor({ servers }: RegistryIndex, prepared?: Prepared) {
    this.#servers = servers;
    const listed = listedTools(servers);
    const { names, acts, words, postings } = prepared ?? prepare(listed);
    const numbers = new Map(servers.map((server, number) => [server, number]));
    this.#entries = listed.map((each, index) => ({
      ...each,
      server: numbers.get(each.of)!,
      name: (names[index] ?? "").split(" "),
      act: acts[index] ?? undefined,
    }));
    this.#postings = new Postings(postings);
    this.#spelling = new Spelling(words);
    this.#ranking = new Ranking(this.#entries, servers.length, this.#postings);
    for (const [index, name] of names.entries()) {
      const same = this.#byName.get(name);
      if (same) same.push(index);
      else this.#byName.set(name, [index]);
    }
  }

  /** How many tools can be found. */
  get size(): number {
    return this.#entries.length;
  }

  /**
   * The best matches, best first, ties by id; a tool whose very name is asked for before all others. Throws
   * SERVER_NOT_FOUND where the query has a filter for a server that there is not.
   */
  search(query: string, limit: number): Match[] {
    const filters = filtersOf(query);
    const allowed = this.#allowed(filters);
    const scores = this.#scores(filters, allowed);
    const enough = limit * 10;
    return this.#matches(best(scores, enough).slice(0, enough), scores, limit);
  }

  #scores(filters: Filters, allowed: (entry: Entry) => boolean): Float64Array {
    const scores = this.#ranking.scores(readQuery(filters.rest, this.#vocabulary));
    const most = highest(scores);
    for (const index of this.#named(filters.rest)) scores[index]! += most;
    if (filters.servers.length + filters.categories.length === 0) return scores;
    const onlyFilters = filters.rest.trim() === "";
    for (const [index, entry] of this.#entries.entries()) {
      if (!allowed(entry)) scores[index] = 0;
      else if (onlyFilters) scores[index] = 1;
    }
    return scores;
  }

  /** The tools whose name the query is, with that of the server or without. */
  #named(query: string): number[] {
    const stems = wordsOf(query.slice(0, 200)).map(stemOf);
    return stems.flatMap((_, from) => {
      const found = this.#byName.get(stems.slice(from).join(" ")) ?? [];
      if (from === 0) return found;
      const server = stems.slice(0, from).join(" ");
      return found.filter((index) => wordsOf(this.#entries[index]!.of.name).map(stemOf).join(" ") === server);
    });
  }

  readonly #vocabulary: Vocabulary = {
    has: (term) => this.#postings.has(term),
    near: (word) => this.#spelling.near(word),
  };

  #allowed({ servers, categories }: Filters): (entry: Entry) => boolean {
    const known = this.#servers.flatMap(({ name, jsName }) => [name, jsName ?? name]);
    for (const wanted of servers) {
      if (known.some((name) => name.toLowerCase() === wanted)) continue;
      throw new ClaudikinsError("SERVER_NOT_FOUND", `No tools are known of a server "${wanted}"`, {
        hint: didYouMean(wanted, new Set(known)) ?? "Leave the filter out to search all servers.",
      });
    }
    const fits = (wanted: string[], names: (string | undefined)[]) =>
      wanted.length === 0 || names.some((name) => name !== undefined && wanted.includes(name.toLowerCase()));
    return ({ of }) => fits(servers, [of.name, of.jsName]) && fits(categories, [of.category]);
  }

  #matches(found: number[], scores: Float64Array, limit: number): Match[] {
    const matches: Match[] = [];
    const known = new Map<string, Match[]>();
    for (const index of found) {
      const { id, of: server, tool } = this.#entries[index]!;
      const alike = known.get(`${tool.name}\n${tool.description}`) ?? [];
      const twin = alike.find((match) => isSame(match.tool, tool));
      if (twin) twin.also.push(id);
      else if (matches.length < limit) {
        const match = { id, server, tool, score: Math.round(scores[index]! * 1000) / 1000, also: [] };
        matches.push(match);
        known.set(`${tool.name}\n${tool.description}`, [...alike, match]);
      }
    }
    return matches;
  }
}

/** Of two with the same name and description. Without a description, the same name says too little. */
function isSame(a: RegistryTool, b: RegistryTool): boolean {
  return a.description !== "" && JSON.stringify(a.inputSchema) === JSON.stringify(b.inputSchema);
}

/** Those with the highest scores, highest first: at least `enough` of them, where so many have any. */
function best(scores: Float64Array, enough: number): number[] {
  let floor = highest(scores);
  let found: number[] = [];
  while (found.length < enough && floor > 0) {
    // The last round takes all.
    floor = floor < 0.001 ? 0 : floor / 2;
    found = [];
    for (let index = 0; index < scores.length; index++) {
      if (scores[index]! > 0 && scores[index]! >= floor) found.push(index);
    }
  }
  // Entries are in the order of their ids, and so are those with the same score.
  return found.sort((a, b) => scores[b]! - scores[a]! || a - b);
}

function highest(scores: Float64Array): number {
  let most = 0;
  for (const score of scores) if (score > most) most = score;
  return most;
}
