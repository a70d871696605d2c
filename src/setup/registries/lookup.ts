/** Asks several registries at once. One that fails does not hide the answers of the others. */
import { type ClaudikinsError, toClaudikinsError } from "../../base/errors.ts";
import { RegistryClient } from "./ask.ts";
import type { PublishedServer, PublishedSummary } from "./published.ts";
import type { Registry } from "./registries.ts";

export interface Failed {
  registry: Registry;
  error: ClaudikinsError;
}

export interface RegistryMatch {
  server: PublishedSummary;
  registry: Registry;
}

export interface RegistrySearch {
  /** The servers of the first registry first, each with the best match first. */
  found: RegistryMatch[];
  failed: Failed[];
  /** Registries that have more servers than were read. */
  partial: Registry[];
}

/** Searches all registries. A server that several registries have is listed once for each. Throws CANCELLED. */
export async function searchRegistries(
  registries: readonly Registry[],
  words: readonly string[],
  signal: AbortSignal,
): Promise<RegistrySearch> {
  const answers = await asked(registries, signal, (client) => client.search(words));
  return {
    found: answers.flatMap(({ registry, answer }) =>
      (answer?.servers ?? [])
        .toSorted((one, other) => rank(one, words) - rank(other, words) || (one.name < other.name ? -1 : 1))
        .map((server) => ({ server, registry })),
    ),
    failed: answers.flatMap(({ registry, error }) => (error ? [{ registry, error }] : [])),
    partial: answers.flatMap(({ registry, answer }) => (answer?.isPartial ? [registry] : [])),
  };
}

export interface Lookup {
  /** The server of the first registry that has it. */
  server?: PublishedServer | undefined;
  registry?: Registry | undefined;
  failed: Failed[];
  /** Registries with precedence that could not be asked. They might have another server of this name. */
  unsure: Failed[];
  /** Other registries that have a server of this name. */
  also: Registry[];
}

/** Looks for one server in all registries. Their order decides. Throws CANCELLED. */
export async function findInRegistries(
  registries: readonly Registry[],
  { name, version }: { name: string; version?: string | undefined },
  signal: AbortSignal,
): Promise<Lookup> {
  const answers = await asked(registries, signal, (client) => client.find(name, version));
  const first = answers.findIndex(({ answer }) => answer !== undefined);
  const failed = answers.flatMap(({ registry, error }) => (error ? [{ registry, error }] : []));
  if (first === -1) return { failed, unsure: [], also: [] };
  const before = new Set(answers.slice(0, first).map(({ registry }) => registry));
  return {
    server: answers[first]!.answer,
    registry: answers[first]!.registry,
    failed,
    unsure: failed.filter(({ registry }) => before.has(registry)),
    also: answers.slice(first + 1).flatMap(({ registry, answer }) => (answer === undefined ? [] : [registry])),
  };
}

interface RegistryAnswer<T> {
  registry: Registry;
  answer?: T | undefined;
  error?: ClaudikinsError;
}

function asked<T>(
  registries: readonly Registry[],
  signal: AbortSignal,
  ask: (client: RegistryClient) => Promise<T>,
): Promise<RegistryAnswer<T>[]> {
  return Promise.all(
    registries.map(async (registry): Promise<RegistryAnswer<T>> => {
      try {
        return { registry, answer: await ask(new RegistryClient(registry, signal)) };
      } catch (thrown) {
        const error = toClaudikinsError(thrown);
        if (error.code === "CANCELLED") throw error;
        return { registry, error };
      }
    }),
  );
}

/** Servers with exactly this name come first, then servers with the words in their names. */
function rank({ name, title, status }: PublishedSummary, words: readonly string[]): number {
  const own = name.slice(name.indexOf("/") + 1).toLowerCase();
  const lower = words.map((word) => word.toLowerCase());
  const isNamed = [own, title?.toLowerCase()].includes(lower.join("-")) || own === lower.join("");
  const hasWords = lower.every((word) => own.includes(word));
  return (
    (isNamed ? 0 : hasWords ? 1 : lower.every((word) => name.toLowerCase().includes(word)) ? 2 : 3) +
    (status === "deprecated" ? 4 : 0)
  );
}
