/** Scores tools for a query: the sum over its words, and what names, servers and acts add to it. */
import type { Posting, Postings } from "./postings.ts";
import { strengthOf } from "./postings.ts";
import type { Concept, Query } from "./query.ts";

/** What the ranking has to know of a tool besides its terms. */
export interface RankedTool {
  server: number;
  /** The stems of its name. */
  name: readonly string[];
  act: string | undefined;
}

/** A tool that has two words for one thing is a bit likelier than one that has one of them. */
const furtherShare = 0.5;
/** How much more a tool counts whose whole name is asked for. */
const nameBonus = 0.5;
/** What a tool that does another kind of thing (deletes, where one wants to read) loses. */
const otherActLoss = 0.2;
/** What it counts that the tools of the same server have the words. */
const serverShare = 0.15;
/** What it counts that one of several wishes is met well. */
const clauseShare = 0.2;

export class Ranking {
  readonly #tools: readonly RankedTool[];
  readonly #postings: Postings;
  /** Kept between queries, all zero. */
  readonly #concept: Float64Array;
  readonly #serverBest: Float64Array;

  constructor(tools: readonly RankedTool[], servers: number, postings: Postings) {
    this.#tools = tools;
    this.#postings = postings;
    this.#concept = new Float64Array(tools.length);
    this.#serverBest = new Float64Array(servers);
  }

  /** One score a tool; 0 for those that have nothing of the query. */
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
    let most = 0;
    for (const total of totals) if (total > most) most = total;
    for (let tool = 0; tool < totals.length; tool++) totals[tool]! += clauseShare * most * best[tool]!;
    return totals;
  }

  /** Calls `add` once a tool that has the concept; keeps in `servers` what the best tool of each server gives. */
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
          if (scores[tool] === 0) {
            touched.push(tool);
            scores[tool] = score;
          } else scores[tool]! += score * furtherShare;
        }
      }
    };
    if (own) meet(own, concept.weight * rarity);
    for (const [term, share] of concept.others) {
      const posting = this.#postings.of(term);
      if (!posting) continue;
      // A rare word for a common thing is not what makes a tool the right one.
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

  /** How much of a name the query asks for, from 0 to 1; rare words of it count more. */
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
    return Math.log(1 + this.#tools.length / (posting.count + 0.5));
  }
}

/** Every term that the query asks for in one way or another, with its share. */
function sharesOf({ clauses }: Query): Map<string, number> {
  const shares = new Map<string, number>();
  for (const { term, others } of clauses.flat()) {
    shares.set(term, 1);
    for (const [other, share] of others) shares.set(other, Math.max(shares.get(other) ?? 0, share));
  }
  return shares;
}
