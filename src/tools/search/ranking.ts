/** Scores tools for a query: the sum over its words, adjusted for names, servers and acts. */

import type { Posting, Postings } from "./postings.ts";
import { strengthOf } from "./postings.ts";
import type { Concept, Query } from "./query.ts";

/** The rarity of a word assumes this many more tools without it, because counts among few tools say little. */
const unseenTools = 10;

/** The weight of a word's rarity among servers, relative to its rarity among tools. A server with many tools repeats its words. */
const serverRarity = 0.6;

/** With this many servers, that share is half as large. */
const fewServers = 5;

/** The share that a second word for the same concept adds. */
const furtherShare = 0.5;

/** The bonus for a tool whose whole name is in the query. */
const nameBonus = 0.5;

/** The loss of a tool with another kind of act, such as delete instead of read. */
const otherActLoss = 0.2;

/** The share of the scores of the same server's other tools that is added to a tool's score. */
const serverShare = 0.15;

/** The share of the best clause, if there are several. */
const clauseShare = 0.1;

/** The properties of a tool that the ranking uses besides its terms. */
export interface RankableTool {
  server: number;
  /** The stems of the name. */
  name: readonly string[];
  act: string | undefined;
}

export class Ranking {
  readonly #tools: readonly RankableTool[];
  readonly #postings: Postings;
  /** Reused between queries; all zero in between. */
  readonly #concept: Float64Array;
  readonly #serverBest: Float64Array;
  readonly #rarities = new WeakMap<Posting, number>();

  constructor(tools: readonly RankableTool[], servers: number, postings: Postings) {
    this.#tools = tools;
    this.#postings = postings;
    this.#concept = new Float64Array(tools.length);
    this.#serverBest = new Float64Array(servers);
  }

  /** One score for each tool; 0 without any match. */
  scores(query: Query): Float64Array {
    const totals = new Float64Array(this.#tools.length);
    const best = new Float64Array(this.#tools.length);
    const servers = new Float64Array(this.#serverBest.length);
    const seen = new Set<string>();
    for (const clause of query.clauses) {
      const inClause = new Float64Array(query.clauses.length > 1 ? totals.length : 0);
      let wanted = 0;
      for (const concept of clause) {
        wanted += concept.weight * this.#rarity(this.#postings.of(concept.term));
        const first = !seen.has(concept.term);
        seen.add(concept.term);
        this.#each(concept, first ? servers : undefined, (tool, score) => {
          if (first) totals[tool]! += score;
          if (inClause.length > 0) inClause[tool]! += score;
        });
      }
      if (inClause.length === 0 || wanted === 0) continue;
      for (let tool = 0; tool < best.length; tool++) best[tool] = Math.max(best[tool]!, inClause[tool]! / wanted);
    }
    for (const topic of query.topics) {
      this.#each(topic, servers, (tool, score) => {
        totals[tool]! += score;
      });
    }
    return this.#adjusted(totals, best, servers, query);
  }

  #adjusted(totals: Float64Array, best: Float64Array, servers: Float64Array, query: Query): Float64Array {
    const asked = sharesOf(query);
    for (let tool = 0; tool < totals.length; tool++) {
      if (totals[tool] === 0) continue;
      const { name, act, server } = this.#tools[tool]!;
      totals[tool]! *= 1 + nameBonus * this.#coverage(name, asked);
      if (act !== undefined && query.acts.size > 0 && !query.acts.has(act)) totals[tool]! *= 1 - otherActLoss;
      totals[tool]! += serverShare * servers[server]!;
    }
    if (query.clauses.length < 2) return totals;
    const most = highest(totals);
    for (let tool = 0; tool < totals.length; tool++) totals[tool]! += clauseShare * most * best[tool]!;
    return totals;
  }

  /** Calls `add` once for each tool that has the concept, and adds the best score of each server to `servers`. */
  #each(concept: Concept, servers: Float64Array | undefined, add: (tool: number, score: number) => void): void {
    const scores = this.#concept;
    const touched: number[] = [];
    const own = this.#postings.of(concept.term);
    const rarity = this.#rarity(own);
    const meet = (posting: Posting, factor: number) => {
      for (let step = 0; step < posting.byStep.length; step++) {
        const tools = posting.byStep[step];
        if (!tools) continue;
        const score = factor * strengthOf(step);
        for (const tool of tools) {
          const before = scores[tool]!;
          if (before === 0) touched.push(tool);
          scores[tool] = Math.max(before, score) + Math.min(before, score) * furtherShare;
        }
      }
    };
    if (own) meet(own, concept.weight * rarity);
    for (const [term, share] of concept.others) {
      const posting = this.#postings.of(term);
      if (!posting) continue;
      // A rare synonym of a common word must not count more than the word.
      const limit = own ? rarity : Number.POSITIVE_INFINITY;
      meet(posting, concept.weight * share * Math.min(this.#rarity(posting), limit));
    }
    this.#report(touched, servers, add);
  }

  #report(touched: number[], servers: Float64Array | undefined, add: (tool: number, score: number) => void): void {
    const serverBest = this.#serverBest;
    const ofServers: number[] = [];
    for (const tool of touched) {
      const score = this.#concept[tool]!;
      this.#concept[tool] = 0;
      add(tool, score);
      if (!servers) continue;
      const { server } = this.#tools[tool]!;
      if (serverBest[server] === 0) ofServers.push(server);
      if (score > serverBest[server]!) serverBest[server] = score;
    }
    for (const server of ofServers) {
      servers![server]! += serverBest[server]!;
      serverBest[server] = 0;
    }
  }

  /** The share of a name that is in the query, from 0 to 1. Rare words count more. */
  #coverage(name: readonly string[], asked: ReadonlyMap<string, number>): number {
    if (!name.some((stem) => asked.has(stem))) return 0;
    let covered = 0;
    let all = 0;
    for (const stem of name) {
      const rarity = this.#rarity(this.#postings.of(stem));
      all += rarity;
      covered += rarity * (asked.get(stem) ?? 0);
    }
    return all > 0 ? covered / all : 0;
  }

  #rarity(posting: Posting | undefined): number {
    if (!posting) return 0;
    const known = this.#rarities.get(posting);
    if (known !== undefined) return known;
    const servers = new Set<number>();
    for (const tools of posting.byStep) for (const tool of tools ?? []) servers.add(this.#tools[tool]!.server);
    const allServers = this.#serverBest.length;
    const share = (serverRarity * allServers) / (allServers + fewServers);
    const amongTools = Math.log(1 + (this.#tools.length + unseenTools) / (posting.count + 0.5));
    const amongServers = Math.log(1 + (allServers + unseenTools) / (servers.size + 0.5));
    const rarity = (1 - share) * amongTools + share * amongServers;
    this.#rarities.set(posting, rarity);
    return rarity;
  }
}

export function highest(scores: Float64Array): number {
  let most = 0;
  for (const score of scores) if (score > most) most = score;
  return most;
}

/** All terms of the query and their alternatives, with their shares. */
function sharesOf({ clauses }: Query): Map<string, number> {
  const shares = new Map<string, number>();
  for (const { term, others } of clauses.flat()) {
    shares.set(term, 1);
    for (const [other, share] of others) shares.set(other, Math.max(shares.get(other) ?? 0, share));
  }
  return shares;
}
