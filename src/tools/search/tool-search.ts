/** Finds tools by words, with an index in memory. No server is started. */
import { ClaudikinsError } from "../../base/errors.ts";
import { didYouMean } from "../../base/near-names.ts";
import type { RegistryIndex, RegistryServer, RegistryTool } from "../model.ts";
import { tellingWords } from "./document.ts";
import { Postings } from "./postings.ts";
import { listedTools, type NumberedTool, type Prepared, prepare } from "./prepared-index.ts";
import { Products, servicesWithout } from "./products.ts";
import { type Filters, filtersOf, readQuery, type Vocabulary } from "./query.ts";
import { highest, type RankableTool, Ranking } from "./ranking.ts";
import { keysOf, nameKey, Spelling, writtenNames } from "./spelling.ts";
import { actOf, changesSomething, endsSomething } from "./thesaurus.ts";
import { stemOf, wordsOf } from "./tokenize.ts";

/** Only this much of queries and descriptions is read for filters and similar tools. */
const maxSearchTextChars = 4_000;

/**
 * A match is left out if its score is below this share of the best score. On the recorded queries that were used to choose the shares, a
 * search for 20 tools returns 6 to 14 and loses one right tool in forty; a search for 5 loses none.
 */
const minShareOfFirst = 0.3;

/** The same share for matches after the first few. */
const minShareOfLater = 0.45;

/** Number of these first matches. */
const firstMatches = 5;

/** For a request to read, tools that read rank first if they have at least this share of the score of the best tool that writes. */
const minShareOfReader = 0.6;

/** The share of its score that a tool that writes keeps for a request to read. */
const writerShare = 0.9;

/** The share of its score that a deprecated tool keeps, if its successor is not known. */
const deprecatedShare = 0.8;

export interface Match {
  id: string;
  server: RegistryServer;
  tool: RegistryTool;
  /** Higher is better. Comparable only within one query. */
  score: number;
  /** Ids of the same tool on other servers, which are not separate matches. */
  also: string[];
}

interface SearchEntry extends RankableTool {
  id: string;
  of: RegistryServer;
  tool: RegistryTool;
}

export class ToolSearch {
  /** Sorted by id. */
  readonly #entries: SearchEntry[];
  readonly #postings: Postings;
  readonly #spelling: Spelling;
  /** The tools by the stems of their names. */
  readonly #byName: Map<string, number[]>;
  /** The tools by the keys of their names. */
  #byKey: Map<string, number[]> | undefined;
  readonly #ranking: Ranking;
  readonly #servers: readonly RegistryServer[];
  readonly #products: Products;
  /** Groups of tools with the same name and description. */
  #alike: Map<string, number[]> | undefined;
  /** The words of each server's name and description. */
  readonly #serverWords: Set<string>[] = [];

  /** With many tools, `prepared` is made in a worker thread. It must be of the same tools. */
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
    this.#products = new Products(servers.map(({ name }) => name));
    this.#byName = Map.groupBy(names.keys(), (index) => names[index]!);
  }

  /** Number of indexed tools. */
  get size(): number {
    return this.#entries.length;
  }

  /**
   * The best matches first, ties sorted by id, without matches that are far worse. A tool whose exact name is the query comes
   * first. `servers` are filters besides those in the query. Throws SERVER_NOT_FOUND for a filter with an unknown server.
   */
  search(query: string, limit: number, servers: readonly string[] = []): Match[] {
    const filters = this.#filtersIn(query);
    filters.servers.push(...servers.map((name) => name.toLowerCase()));
    const enough = limit * 10;
    const matches = this.#ranked(filters, enough, limit);
    const most = matches[0]?.score ?? 0;
    const end = matches.findIndex(
      ({ score }, at) => score < most * (at < firstMatches ? minShareOfFirst : minShareOfLater),
    );
    return end === -1 ? matches : matches.slice(0, end);
  }

  /** The services that a query names and no tool or server does. A query for certain servers names none. */
  missingServices(query: string): string[] {
    const { servers, rest } = this.#filtersIn(query);
    return servers.length > 0 ? [] : servicesWithout(rest, this.#vocabulary.has);
  }

  /** All matches, the best first. Filters are words like all others. */
  rank(words: string): Match[] {
    return this.#ranked({ servers: [], categories: [], rest: words.replaceAll(":", " ") }, this.size, this.size);
  }

  #ranked(filters: Filters, enough: number, limit: number): Match[] {
    const written = this.#written(filters.rest);
    const scores = this.#scores(filters, this.#allowed(filters), written);
    const found = this.#successorsFirst(best(scores, enough).slice(0, enough), scores, written);
    return this.#matches(found, scores, limit, filters.rest.slice(0, maxSearchTextChars));
  }

  /** The filters in a query. One such as `github: open issues` searches only that server. */
  #filtersIn(query: string): Filters {
    const filters = filtersOf(query);
    const [, name = "", rest = ""] = /^\s*([^\s:]+):(?!\/\/)(.*)$/su.exec(filters.rest) ?? [];
    const isServer = this.#servers.some(({ name: each, jsName }) => isSameWord(name, each) || isSameWord(name, jsName));
    if (!isServer) return filters;
    return { ...filters, servers: [...filters.servers, name.toLowerCase()], rest };
  }

  #scores(filters: Filters, allowed: (entry: SearchEntry) => boolean, written: ReadonlySet<number>): Float64Array {
    const query = readQuery(filters.rest, this.#vocabulary);
    const scores = this.#ranking.scores(query);
    if (filters.servers.length + filters.categories.length > 0) {
      const onlyFilters = filters.rest.trim() === "";
      for (const [index, entry] of this.#entries.entries()) {
        if (!allowed(entry)) scores[index] = 0;
        else if (onlyFilters) scores[index] = 1;
      }
    }
    if (!query.destroys) {
      if (query.reads) this.#behind(this.#isWriter, scores, minShareOfReader, writerShare);
      this.#behind(isDestroyer, scores, 0);
    }
    const boost = (indexes: Iterable<number>, boosted: (score: number, most: number) => number) => {
      const most = highest(scores);
      for (const index of indexes) {
        if (allowed(this.#entries[index]!)) scores[index] = boosted(scores[index]!, most);
      }
    };
    this.#productFirst(filters.rest, scores);
    boost(this.#named(filters.rest), (score, most) => score + most);
    // Just ahead of the others: a request that names one tool may want others too.
    boost(written, (score, most) => most + 0.05 * score);
    return scores;
  }

  /** Ranks the best tool of the product that a query names before all others. */
  #productFirst(query: string, scores: Float64Array): void {
    const isOfProduct = this.#products.namedIn(query, this.#entries, this.#vocabulary.has);
    if (!isOfProduct) return;
    let most = 0;
    for (const [index, entry] of this.#entries.entries()) {
      if (scores[index]! > most && isOfProduct(entry)) most = scores[index]!;
    }
    if (most === 0) return;
    const factor = (1.01 * highest(scores)) / most;
    for (const [index, entry] of this.#entries.entries()) if (isOfProduct(entry)) scores[index]! *= factor;
  }

  /** Reading the names of 10,000 tools takes 5 ms. */
  readonly #writers = new Map<SearchEntry, boolean>();
  readonly #isWriter = (entry: SearchEntry) => this.#writers.getOrInsertComputed(entry, isWriter);

  /** Ranks tools of a kind below the best of the others, if that one has at least this share of the best score. */
  #behind(isOfKind: (entry: SearchEntry) => boolean, scores: Float64Array, minShare: number, share = 1): void {
    let most = 0;
    let mostOther = 0;
    for (const [index, entry] of this.#entries.entries()) {
      if (scores[index] === 0) continue;
      if (!isOfKind(entry)) {
        mostOther = Math.max(mostOther, scores[index]!);
        continue;
      }
      scores[index]! *= share;
      most = Math.max(most, scores[index]!);
    }
    if (mostOther === 0 || most < mostOther || mostOther < minShare * most) return;
    for (const [index, entry] of this.#entries.entries()) {
      if (scores[index]! >= mostOther && isOfKind(entry)) scores[index]! *= (0.999 * mostOther) / most;
    }
  }

  /** Sorts again: each deprecated tool is below the tools that replace it, unless the query has its exact name. */
  #successorsFirst(found: number[], scores: Float64Array, written: ReadonlySet<number>): number[] {
    const all = new Set(found);
    for (const index of found) {
      const { of, tool } = this.#entries[index]!;
      const names = written.has(index) ? undefined : successorsOf(tool);
      if (!names) continue;
      const better = names.flatMap((name) => this.#withKey(nameKey(`${of.name} ${name}`))).filter((at) => at !== index);
      if (better.length === 0) scores[index]! *= deprecatedShare;
      for (const at of better) {
        scores[at] = Math.max(scores[at]!, scores[index]!);
        scores[index] = Math.min(scores[index]!, 0.999 * scores[at]!);
        all.add(at);
      }
    }
    return [...all].sort((a, b) => scores[b]! - scores[a]! || a - b);
  }

  /** The tools whose exact names are in the query, as a program writes them. */
  #written(query: string): Set<number> {
    const found = writtenNames(query).map((keys) =>
      keys.map((key) => this.#withKey(key)).find(({ length }) => length > 0),
    );
    return new Set(found.flatMap((indexes) => indexes ?? []));
  }

  /** The tools with this name, or with this name behind their server's. */
  #withKey(key: string): readonly number[] {
    this.#byKey ??= keysOf(this.#entries);
    return this.#byKey.get(key) ?? [];
  }

  /** The tools whose name is the query, with or without the server's name. */
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

  #allowed({ servers, categories }: Filters): (entry: SearchEntry) => boolean {
    const known = this.#servers.flatMap(({ name, jsName }) => [name, jsName ?? name]);
    for (const wanted of servers) {
      if (known.some((name) => name.toLowerCase() === wanted)) continue;
      throw new ClaudikinsError("SERVER_NOT_FOUND", `No tools are known for server "${wanted}"`, {
        hint: didYouMean(wanted, new Set(known)) ?? "Remove the filter to search all servers.",
      });
    }
    const fits = (wanted: string[], names: (string | undefined)[]) =>
      wanted.length === 0 || names.some((name) => name !== undefined && wanted.includes(name.toLowerCase()));
    return ({ of }) => fits(servers, [of.name, of.jsName]) && fits(categories, [of.category]);
  }

  #matches(found: number[], scores: Float64Array, limit: number, query: string): Match[] {
    const matches: Match[] = [];
    const asked: QueryWords = { words: wordsOf(query).map(stemOf), telling: new Set(tellingWords(query)) };
    const taken = new Set<number>();
    for (const index of found) {
      if (taken.has(index)) continue;
      if (matches.length === limit) break;
      const twins = this.#twinsOf(index).filter((twin) => scores[twin]! > 0);
      for (const twin of twins) taken.add(twin);
      const [first, ...others] = twins.sort((a, b) => this.#byServer(a, b, asked));
      const { id, of: server, tool } = this.#entries[first!]!;
      const score = Math.round(scores[index]! * 1000) / 1000;
      matches.push({ id, server, tool, score, also: others.map((twin) => this.#entries[twin]!.id) });
    }
    return matches;
  }

  /** The same tool on all servers that have it. */
  #twinsOf(index: number): number[] {
    const { tool } = this.#entries[index]!;
    const keyOf = ({ name, description }: RegistryTool) => `${name}\n${description}`;
    this.#alike ??= Map.groupBy(this.#entries.keys(), (at) => keyOf(this.#entries[at]!.tool));
    const alike = this.#alike.get(keyOf(tool)) ?? [];
    return alike.filter((at) => at === index || isSame(this.#entries[at]!.tool, tool));
  }

  /**
   * A server that the query names comes first, then the one whose words appear in it most often. Other servers keep the
   * order of the config, whatever is searched for.
   */
  #byServer(a: number, b: number, { words, telling }: QueryWords): number {
    const [one, other] = [this.#entries[a]!, this.#entries[b]!];
    return (
      namedAt(words, one.of.name) - namedAt(words, other.of.name) ||
      this.#wordsOfServer(other, telling) - this.#wordsOfServer(one, telling) ||
      one.server - other.server
    );
  }

  #wordsOfServer({ of, server }: SearchEntry, asked: ReadonlySet<string>): number {
    this.#serverWords[server] ??= new Set(
      tellingWords(`${of.name} ${of.category} ${of.description.slice(0, maxSearchTextChars)}`),
    );
    const words = this.#serverWords[server];
    return [...asked].filter((stem) => words.has(stem)).length;
  }
}

/** The stems of a query: all of them in order, and the ones that carry meaning. */
interface QueryWords {
  words: readonly string[];
  telling: ReadonlySet<string>;
}

const isSameWord = (a: string, b: string | undefined) => a !== "" && a.toLowerCase() === b?.toLowerCase();

/** The position of the first word of `name` in a query that contains all of its words in a row; else the query's length. */
function namedAt(query: readonly string[], name: string): number {
  const stems = wordsOf(name).map(stemOf);
  const at = query.findIndex((_, start) => stems.every((stem, offset) => query[start + offset] === stem));
  return at === -1 || stems.length === 0 ? query.length : at;
}

/** Whether two tools with the same name and description are the same. Without a description, they are not. */
function isSame(a: RegistryTool, b: RegistryTool): boolean {
  return a.description !== "" && JSON.stringify(a.inputSchema) === JSON.stringify(b.inputSchema);
}

/** The tools with the highest scores, sorted: at least `enough`, if there are that many. Sorting 80,000 takes 40 ms. */
function best(scores: Float64Array, enough: number): number[] {
  let floor = highest(scores);
  let found: number[] = [];
  while (found.length < enough && floor > 0) {
    // The last round takes all tools with a score.
    floor = floor < 0.001 ? 0 : floor / 2;
    found = [];
    for (let index = 0; index < scores.length; index++) {
      if (scores[index]! > 0 && scores[index]! >= floor) found.push(index);
    }
  }
  // Entries are sorted by id, so ties are too.
  return found.sort((a, b) => scores[b]! - scores[a]! || a - b);
}

/** Only this much of a description is read to see whether its tool is deprecated. */
const maxDeprecationChars = 2_000;

/** Descriptions of tools about deprecated things, such as packages, have the word in a sentence. */
const marks = [
  /^\W*(?:deprecated|obsolete)\b/i,
  /\bDEPRECATED\b|@deprecated\b/,
  /[([*]deprecated[)\]*:]/i,
  /\bdeprecated (?:alias|in favou?r of)\b/i,
  /\b(?:this|the) (?:tool|function|method|command|endpoint|action|operation)?\s*(?:is|was|has been) (?:now )?(?:deprecated|obsolete|superseded)\b/i,
];

const successor =
  /\b(?:use|using|favou?r of|(?:replaced|superseded) (?:by|with)|prefer|renamed to|moved to|alias (?:of|for))\s+(?:the\s+)?(?:new\s+)?[`"'*]*([\p{L}_][\p{L}\d_.-]*)/giu;

/** The words that may be the names of its successors; undefined if the tool is not deprecated. */
export function successorsOf({ title = "", description }: RegistryTool): string[] | undefined {
  const text = description.slice(0, maxDeprecationChars);
  if (!marks.some((mark) => mark.test(text) || mark.test(title))) return undefined;
  return Array.from(text.matchAll(successor), ([, name = ""]) => name.replace(/[.-]+$/, ""));
}

/** The properties that show whether a tool destroys or writes: its name and its annotations. */
type KindInput = Pick<RankableTool, "act" | "name"> & Pick<NumberedTool, "of" | "tool">;

/** Whether the tool destroys something: by its name, or by its annotation and a name that ends something. */
function isDestroyer({ act, name, tool }: KindInput): boolean {
  if (act === "delete") return true;
  return tool.annotations?.["destructiveHint"] === true && name.some(endsSomething);
}

/** Whether the tool writes, by the verbs in its name. `post_list` and `find_and_replace` may do either. */
export function isWriter({ name, of, tool }: KindInput): boolean {
  if (tool.annotations?.["readOnlyHint"] === true) return false;
  const acts = name.map(actOf);
  if (acts.includes("read")) return false;
  const ofServer = new Set(wordsOf(of.name).map(stemOf));
  const first = name.find((stem) => !ofServer.has(stem));
  return (
    acts.some((act) => act !== undefined && writingActs.has(act)) || (first !== undefined && changesSomething(first))
  );
}

const writingActs: ReadonlySet<string> = new Set(["create", "update", "delete", "send"]);
