/**
 * Names for the tools or prompts of many servers: valid for every agent, unique, and stable for the session. They depend only on
 * the original names, not on the order in which servers answer. Agents remember what their user has allowed by name, so a name that
 * begins with a server's prefix, or ends with a digest of ours, is never given to a tool that only happens to be called so.
 */

import { didYouMean } from "../../base/near-names.ts";
import { sha256 } from "../../base/sha256.ts";
import type { Prefix } from "../../config/defaults.ts";
import { invalidParams } from "./answers.ts";

/** Characters of the name of a tool or prompt: every host takes names of this length. Longer ones are cut and marked. */
const maxToolNameChars = 64;

/** Characters of the hash that tells such names apart, at least. */
const nameMarkChars = 8;

export interface Original {
  server: string;
  name: string;
}

const separator = "__";

export class ExposedNames {
  readonly #prefix: Prefix;
  readonly #names = new Map<string, string>();
  readonly #originals = new Map<string, Original>();
  readonly #servers: () => Iterable<string>;
  #prefixes: ReadonlyMap<string, string> = new Map();

  /** `servers` returns all configured servers, even if they have not answered. */
  constructor(prefix: Prefix, servers: () => Iterable<string> = () => []) {
    this.#prefix = prefix;
    this.#servers = servers;
  }

  /** Names new entries. A name stays with its entry even after the entry disappears. */
  assign(all: readonly Original[]): void {
    const fresh = all.filter((original) => !this.#names.has(keyOf(original)));
    if (fresh.length === 0) return;
    const servers = this.#serversOfPlainNames(all);
    this.#prefixes = prefixesOf(new Set([...this.#servers(), ...all.map(({ server }) => server)]));
    const wanting = Map.groupBy(
      fresh.map((original) => ({ original, wanted: this.#wanted(original, servers) })),
      ({ wanted }) => wanted.name,
    );
    const marked: Original[] = [];
    for (const [name, rivals] of wanting) {
      // An original name takes precedence over names that were changed into it.
      const [owner, ...others] = rivals.length === 1 ? rivals : rivals.filter(({ wanted }) => wanted.isOwn);
      const isFree = others.length === 0 && !this.#originals.has(name);
      const winner = isFree && !owner?.wanted.isForeign ? owner : undefined;
      for (const rival of rivals) {
        if (rival === winner) this.#give(name, rival.original);
        else marked.push(rival.original);
      }
    }
    for (const original of marked) this.#give(this.#marked(original, servers), original);
  }

  nameOf(original: Original): string | undefined {
    return this.#names.get(keyOf(original));
  }

  original(name: string): Original | undefined {
    return this.#originals.get(name);
  }

  /** Finds what the agent names. `learn` asks the servers for all names first. Throws the protocol's error for unknown names. */
  async find(kind: "tool" | "prompt", name: string, learn: () => Promise<unknown>): Promise<Original> {
    if (!this.#originals.has(name)) await learn();
    const found = this.#originals.get(name);
    if (found) return found;
    const hint = didYouMean(name, this.#originals.keys());
    throw invalidParams([`Unknown ${kind}: ${name}.`, hint].filter(Boolean).join(" "));
  }

  /** The servers of each name without prefix, including earlier ones. */
  #serversOfPlainNames(all: readonly Original[]): Map<string, Set<string>> {
    const byName = Map.groupBy([...this.#originals.values(), ...all], ({ name }) => fitting(name).name);
    return new Map([...byName].map(([name, each]) => [name, new Set(each.map(({ server }) => server))]));
  }

  #wanted({ server, name }: Original, servers: ReadonlyMap<string, ReadonlySet<string>>): WantedName {
    const plain = fitting(name);
    const isShared = (servers.get(plain.name)?.size ?? 0) > 1 || this.#isOfOther(server, plain.name);
    const isPrefixed = this.#prefix === "always" || (this.#prefix === "on-collision" && isShared);
    if (isPrefixed) return { ...fitting(`${this.#prefixes.get(server)}${separator}${name}`), isForeign: false };
    const isForeign = plain.isOwn && digestAtEnd.test(name);
    return { ...plain, isOwn: plain.isOwn && !isForeign, isForeign };
  }

  /** Whether a name without prefix looks like a name of another server with its prefix. */
  #isOfOther(server: string, name: string): boolean {
    if (!name.includes(separator)) return false;
    return [...this.#prefixes].some(([other, prefix]) => other !== server && name.startsWith(prefix + separator));
  }

  /** Adds a digest of the entry, as long as necessary to be unique. */
  #marked(original: Original, servers: ReadonlyMap<string, ReadonlySet<string>>): string {
    const { name } = this.#wanted(original, servers);
    const digest = sha256(keyOf(original));
    for (let chars = nameMarkChars; ; chars++) {
      const marked = withMark(name, digest.slice(0, chars));
      if (!this.#originals.has(marked)) return marked;
    }
  }

  #give(name: string, original: Original): void {
    this.#names.set(keyOf(original), name);
    this.#originals.set(name, original);
  }
}

interface Fitting {
  name: string;
  /** The original name. */
  isOwn: boolean;
}

interface WantedName extends Fitting {
  /** The name looks like one that we make for another tool. */
  isForeign: boolean;
}

const digestAtEnd = /_[0-9a-f]{8,}$/;

/** A prefix for each server. None is the beginning of another one, so a name with a prefix belongs to one server. */
function prefixesOf(servers: ReadonlySet<string>): Map<string, string> {
  const plain = new Map([...servers].map((server) => [server, cleaned(server)]));
  const isUnclear = (server: string, own: string) =>
    [...plain].some(([other, prefix]) => {
      if (other === server || !`${own}${separator}`.startsWith(`${prefix}${separator}`)) return false;
      // If prefixes are equal, the server with this name has precedence.
      return prefix !== own || own !== server;
    });
  const marked = (server: string, own: string) =>
    `${own.replace(/_+/g, "_").replace(/^_|_$/g, "")}_${sha256(server).slice(0, nameMarkChars)}`;
  return new Map([...plain].map(([server, own]) => [server, isUnclear(server, own) ? marked(server, own) : own]));
}

function cleaned(text: string): string {
  return text.replace(/[^A-Za-z0-9_-]+/g, "_");
}

/** At most 64 letters, digits, dashes and underscores. A longer name ends with a digest of the whole. */
function fitting(text: string): Fitting {
  const valid = cleaned(text);
  const name = valid.length <= maxToolNameChars ? valid : withMark(valid, sha256(text).slice(0, nameMarkChars));
  return { name, isOwn: name === text };
}

function withMark(name: string, mark: string): string {
  return `${name.slice(0, maxToolNameChars - mark.length - 1)}_${mark}`;
}

function keyOf({ server, name }: Original): string {
  return JSON.stringify([server, name]);
}
