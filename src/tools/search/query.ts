/** Reads a query: its filters, its clauses, the concepts in them, and the topics and acts that they name. */

import { maxPhraseWords } from "../limits.ts";
import { plainWords } from "./idioms.ts";
import { actOf, asksToDestroy, changesSomething, synonymsOf, topicsOf } from "./thesaurus.ts";
import { commonWords, stemOf, weakWords, withKnownCompounds, wordsOf } from "./tokenize.ts";

/** Only this much of a query is read. */
const maxQueryChars = 4_000;

/** Concepts of a query. Further words are not looked up. */
const maxConcepts = 60;

/** Clauses of a query. The rest counts as one. */
const maxClauses = 20;

/** The share of an alternative in a query of a few words. */
const synonymShare = 0.6;

/**
 * The words of a longer query match more often themselves, so each word after the first few lowers the share of alternatives by this much.
 */
const synonymLoss = 0.02;

/** Number of words before this loss begins. */
const fewQueryWords = 4;

/** The weight of a topic that a query names. */
const topicWeight = 1.2;

/** The share of a similar word, for a word that no tool has. */
const nearShare = 0.6;

/** The weight of two words that are written as one. */
const joinedWeight = 0.8;

/** The weight of two words that are consecutive in a tool's name too. */
const pairWeight = 0.3;

/** The share of a part of a compound word. */
const partShare = 0.55;

/** The share of a weak word's weight. */
const weakShare = 0.6;

/** Each later word counts less by this share. */
const laterLoss = 0.02;

/** A word of a query with its alternatives. A tool with the word itself counts a bit more. */
export interface Concept {
  term: string;
  weight: number;
  /** The alternatives with their share of the weight. */
  others: ReadonlyMap<string, number>;
}

export interface Query {
  /** The concepts of each clause, since a request may want several things. A concept may be in several clauses. */
  clauses: Concept[][];
  /** The topics of the whole query. */
  topics: Concept[];
  /** The kinds of act of the verbs. */
  acts: ReadonlySet<string>;
  /** Whether the request only wants to read. */
  reads: boolean;
  /** Whether it asks for something to be destroyed. */
  destroys: boolean;
}

/** The words of all tools. */
export interface Vocabulary {
  has(term: string): boolean;
  /** Stems of words that start with an unknown word, or that it misspells. */
  near(word: string): string[];
}

const weakStems = new Set(Array.from(weakWords, stemOf));

export function readQuery(text: string, vocabulary: Vocabulary): Query {
  const request = withKnownCompounds(kindsOfValues(text.slice(0, maxQueryChars)), vocabulary.has);
  const asks = question.test(request);
  const texts = clausesOf(request).map((clause) => plainWords(wordsOf(clause), vocabulary.has));
  const words = texts.flat();
  const onlyCommon = words.every((word) => commonWords.has(word));
  const telling = words.filter((word) => !commonWords.has(word)).length;
  const share = synonymShare / (1 + synonymLoss * Math.max(0, telling - fewQueryWords));
  const concepts = new Map<string, Concept>();
  const clauses = texts.map((clause) => {
    const inClause = new Map<string, Concept>();
    const meet = (term: string, make: () => Concept | undefined) => {
      const known = concepts.get(term) ?? (concepts.size < maxConcepts ? make() : undefined);
      if (!known) return;
      concepts.set(term, known);
      inClause.set(term, known);
    };
    const stems = clause.map(stemOf);
    for (const [index, word] of clause.entries()) {
      const stem = stems[index]!;
      if (onlyCommon || !commonWords.has(word)) {
        const full = onlyCommon ? 1 : 1 / (1 + laterLoss * concepts.size);
        const weight = weakStems.has(stem) ? weakShare * full : full;
        meet(stem, () => conceptOf(word, weight, share, vocabulary));
      }
      const next = clause[index + 1];
      if (next === undefined) continue;
      const joined = stemOf(word + next);
      if (vocabulary.has(joined)) meet(joined, () => ({ term: joined, weight: joinedWeight, others: new Map() }));
      for (let end = index + 2; end <= Math.min(index + maxPhraseWords, stems.length); end++) {
        const phrase = stems.slice(index, end).join(" ");
        const others = synonymShares(phrase, share);
        // The index has only pairs of words for longer phrases in names.
        const weight = others.size > 0 ? 1 : pairWeight;
        if (others.size > 0 || vocabulary.has(phrase)) meet(phrase, () => ({ term: phrase, weight, others }));
      }
    }
    return [...inClause.values()];
  });
  const reads = wantsToRead(texts, asks);
  const asked = words.filter((word) => !(reads && isPast(word))).map(stemOf);
  const acts = new Set(asked.flatMap((stem) => actOf(stem) ?? []));
  if (asks || reads) acts.add("read");
  return {
    clauses: clauses.filter((clause) => clause.length > 0),
    topics: topicConcepts(concepts),
    acts,
    reads,
    destroys: asksToDestroy(asked),
  };
}

function conceptOf(word: string, weight: number, share: number, vocabulary: Vocabulary): Concept {
  const term = stemOf(word);
  const others = synonymShares(term, share);
  if (vocabulary.has(term)) return { term, weight, others };
  for (const part of partsOf(word, vocabulary)) others.set(part, partShare);
  if (![...others.keys()].some((other) => vocabulary.has(other))) {
    for (const near of vocabulary.near(word)) {
      for (const other of synonymsOf(near)) others.set(other, nearShare * share);
      others.set(near, nearShare);
    }
  }
  return { term, weight, others };
}

function synonymShares(term: string, share: number): Map<string, number> {
  return new Map(Array.from(synonymsOf(term), (synonym) => [synonym, share]));
}

/** The parts of a compound, such as `filesystem` for tools that say `file system`. */
function partsOf(word: string, vocabulary: Vocabulary): string[] {
  for (let index = 3; index <= word.length - 3; index++) {
    const parts = [stemOf(word.slice(0, index)), stemOf(word.slice(index))];
    if (parts.every((part) => vocabulary.has(part))) return parts;
  }
  return [];
}

function topicConcepts(concepts: ReadonlyMap<string, Concept>): Concept[] {
  const weights = new Map<string, number>();
  for (const { term, weight } of concepts.values()) {
    const topics = topicsOf(term);
    for (const topic of topics) weights.set(topic, (weights.get(topic) ?? 0) + weight / topics.length);
  }
  return Array.from(weights, ([term, weight]) => ({ term, weight: topicWeight * weight, others: new Map() }));
}

/** The clauses of a request. After the maximum, the rest is one clause. */
function clausesOf(request: string): string[] {
  const clauses = request.split(/[,;+\n]|[.!?](?=\s|$)|\b(?:then|and|or)\b/).filter((clause) => clause.trim() !== "");
  return [...clauses.slice(0, maxClauses), clauses.slice(maxClauses).join(" ")];
}

/** Replaces paths, addresses and file names by their kind, because a tool takes such values in general. */
function kindsOfValues(text: string): string {
  return text
    .replace(/https?:\/\/([^\s"'<>]+)/g, (_, rest: string) => ` url ${hostWords(rest)} `)
    .replace(/[\w.+-]{1,64}@[\w-]{1,64}\.[\w.]+/g, " email ")
    .replace(/(?<=^|[\s"'(])(?:[A-Za-z]:\\|~?\.{0,2}\/)[^\s"',;)]*/g, (path) => {
      const extension = /\.([A-Za-z]\w{1,4})\.?$/.exec(path)?.[1];
      return extension ? ` file ${extension} ` : " directory ";
    })
    .replace(/(?<![\w.-])[\w-]{1,80}\.([a-z][a-z\d]{1,4})(?=[\s"',;).?!]|$)/g, (name, extension: string) =>
      domainEndings.has(extension) ? name : ` ${name.slice(0, -extension.length - 1)} file ${extension} `,
    );
}

const domainEndings = new Set(["com", "org", "net", "io", "ai", "dev", "co", "app", "gov", "edu"]);

/** The names in a host name, which may be the name of a server. */
function hostWords(address: string): string {
  const labels = (address.split(/[/?#]/)[0] ?? "").split(".").filter((label) => label !== "www");
  return labels.slice(0, -1).join(" ");
}

export interface Filters {
  /** A tool must match one of them; empty means all. In lower case. */
  servers: string[];
  categories: string[];
  /** The query without the filters. */
  rest: string;
}

/** Reads `server:github` and `category:ui` in a query. Quoted values may have spaces: `server:"my server"`. */
export function filtersOf(query: string): Filters {
  const filters: Filters = { servers: [], categories: [], rest: "" };
  filters.rest = query.replace(
    /(^|\s)(server|category):(?:"([^"]{1,200})"|'([^']{1,200})'|([^\s"']{1,200}))/giu,
    (_, before: string, kind: string, double?: string, single?: string, plain?: string) => {
      const value = (double ?? single ?? plain ?? "").toLowerCase();
      (kind.toLowerCase() === "server" ? filters.servers : filters.categories).push(value);
      return before;
    },
  );
  return filters;
}

/** A question wants to read, whatever its verbs. */
const question =
  /^\W*(?:what|which|who|whose|when|where|why|how (?:much|many|long|far|big|old|fast|large)|is|are|was|were|do|does|did|has|have|am)\b/i;

/** Words before the verb that a request is about: `show me how to create a page`. */
const wanting = new Set(["to", "can", "could", "should", "must", "please"]);

/** Forms of the past describe a thing, as in `list updated files`. */
const isPast = (word: string) => word.endsWith("ed") || word === "sent" || word === "made" || word === "written";

/** Before one of these, a word that may be a verb is one: `merge the branches`, but not `merge requests`. */
const determiners = new Set(["a", "an", "the", "my", "our", "your", "this", "that", "these", "those", "all"]);

const isOrder = (word: string, next = "") => determiners.has(next) && !isPast(word) && changesSomething(stemOf(word));

/** Nouns that a request reads: `status of the repository`. */
const aspects = new Set(
  `status state history contents content details progress version owner author age date location size amount balance number count
  name names list`.split(/\s+/),
);

/** Whether words without a verb describe what is to be read: `files changed in a commit`, `the status of a server`. */
function describes(words: readonly string[]): boolean {
  const [first = "", second = ""] = words.filter((word) => !commonWords.has(word));
  const changes = (word: string) => changesSomething(stemOf(word));
  const isDone = (word: string) => isPast(word) && (changes(word) || actOf(stemOf(word)) !== undefined);
  if (isDone(first) || (isDone(second) && !changes(first))) return true;
  return words.some((word, at) => aspects.has(word) && words[at + 1] === "of");
}

/**
 * Whether the first verb of each clause reads, and no other verb says what is wanted. A later verb may be a noun: `list change
 * requests`. A question reads if it has no verb that writes.
 */
function wantsToRead(clauses: readonly string[][], isQuestion: boolean): boolean {
  let reads = isQuestion;
  for (const words of clauses) {
    if (!isQuestion && words.some((word, at) => isOrder(word, words[at + 1]))) return false;
    const acts = words.map((word) => (isPast(word) ? undefined : actOf(stemOf(word))));
    const first = acts.find((act) => act !== undefined);
    if (first === undefined) {
      reads ||= describes(words);
      continue;
    }
    const writes = (act: string | undefined) => act !== undefined && act !== "read";
    if (isQuestion ? acts.some(writes) : writes(first)) return false;
    const isWanted = (at: number) => wanting.has(words[at - 1] ?? "") || words[at]!.endsWith("ing");
    if (acts.some((act, at) => writes(act) && isWanted(at))) return false;
    reads = true;
  }
  return reads;
}
